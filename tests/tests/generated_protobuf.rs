//! Holds the committed protobuf code to the `.proto` files it comes from.
//!
//! It compiles the protos in memory, without `protoc` and without a build script, and compares.
//! `UPDATE_GENERATED=1` (or `UPDATE_EXPECT=1`) rewrites the committed file instead. It never leaves
//! a difference unsaid: a `.proto` without its code fails.

use std::fs;
use std::path::{Path, PathBuf};

/// Directory of `.proto` files and the one file made from them, both from the repository's root.
const PAIRS: &[(&str, &str)] = &[
    ("proxy/wire/proto", "proxy/wire/src/message/generated.rs"),
    ("proxy/machine/proto", "proxy/machine/src/tables/generated.rs"),
    ("proxy/server/proto", "proxy/server/src/bridge/a2a/grpc/generated.rs"),
];

#[test]
fn generated_protobuf_code_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the root");
    for (protos, code) in PAIRS {
        let protos = root.join(protos);
        if protos.is_dir() {
            check(&protos, &root.join(code));
        }
    }
}

fn check(protos: &Path, code: &Path) {
    let fresh = generate(protos);
    let committed = fs::read_to_string(code).unwrap_or_default();
    if fresh == committed {
        return;
    }
    if wants_update() {
        return fs::write(code, fresh).unwrap();
    }
    panic!(
        "{} is not what {} generates, first at line {}; run `UPDATE_GENERATED=1 cargo test \
         --profile quick -p tests --test generated_protobuf` and commit the result",
        code.display(),
        protos.display(),
        1 + fresh.lines().zip(committed.lines()).take_while(|(one, other)| one == other).count(),
    );
}

fn wants_update() -> bool {
    ["UPDATE_GENERATED", "UPDATE_EXPECT"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The Rust code of all packages in one directory, in the order of their names.
fn generate(protos: &Path) -> String {
    let files = proto_files(protos);
    let set = protox::compile(&files, [protos]).expect("the protos compile");
    let requests = set
        .file
        .into_iter()
        .map(|file| (prost_build::Module::from_protobuf_package_name(file.package()), file))
        .collect();
    let mut modules: Vec<_> = prost_build::Config::new()
        .bytes(["."])
        .generate(requests)
        .expect("prost generates the code")
        .into_iter()
        .collect();
    modules.sort_by_key(|(module, _)| module.to_string());
    let code: String = modules.into_iter().map(|(_, code)| code).collect();
    format!("{}{code}", banner(&files))
}

fn banner(files: &[PathBuf]) -> String {
    let names: Vec<_> = files
        .iter()
        .map(|file| format!("`{}`", file.file_name().unwrap().to_string_lossy()))
        .collect();
    format!(
        "// Generated from {} by `tests/tests/generated_protobuf.rs`; do not edit.\n\n",
        names.join(", ")
    )
}

fn proto_files(protos: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(protos)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "proto"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no .proto file", protos.display());
    files
}

//! Checks of the source itself, which need no tool but the Rust toolchain: format, floors, sizes,
//! words that must not land, error pages, dependencies and their licences. A complaint says which
//! file and what to do. Must never depend on git, on the network or on a file outside of the
//! repository.

#[path = "tidy/packages.rs"]
mod packages;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;

use source::Source;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn files_keep_the_rules() {
    nobody_complains(source::all().iter().flat_map(rules::complaints));
}

#[test]
fn rooms_use_lower_floors_only() {
    nobody_complains(source::all().iter().flat_map(rooms::complaints));
}

#[test]
fn the_machine_only_decides() {
    let machine: Vec<Source> = source::under("proxy/machine/src");
    let mut complaints: Vec<String> = machine.iter().flat_map(rules::machine_complaints).collect();
    complaints.extend(packages::machine_complaints());
    nobody_complains(complaints);
}

#[test]
fn every_error_code_has_its_page() {
    nobody_complains(pages::complaints());
}

#[test]
fn dependencies_are_few_explained_and_free() {
    nobody_complains(packages::complaints());
}

#[test]
fn source_is_formatted() {
    for manifest in ["Cargo.toml", "tests/foreign/Cargo.toml"] {
        let manifest = root().join(manifest);
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let output = Command::new(cargo)
            .args(["fmt", "--all", "--check", "--manifest-path"])
            .arg(&manifest)
            .output()
            .unwrap();
        let diff = String::from_utf8_lossy(&output.stdout);
        let path = manifest.display();
        assert!(output.status.success(), "run `cargo fmt --all --manifest-path {path}`:\n{diff}");
    }
}

fn nobody_complains(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

//! What those are told who write a definition wrongly: each file in `refused/` is compiled, and what
//! rustc says, places included, is held against the file beside it. `UPDATE_EXPECT=1` writes them.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[test]
fn definitions_that_are_wrong_are_told_what_to_write() {
    let (folder, sdk) = (Path::new("tests/refused"), Compiled::newest());
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".rs")).collect();
    names.sort();
    assert!(names.len() > 10, "the folder lacks files: {names:?}");
    for name in names {
        let said = sdk.refusal(&folder.join(&name));
        let expected = Path::new("refused").join(name).with_extension("stderr");
        let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(expected);
        expect_file![expected].assert_eq(&said);
    }
}

#[test]
fn a_definition_that_is_right_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let right = folder.path().join("right.rs");
    let definition = "use holdfast_sdk::prelude::*;\n\
                      pub struct Shop;\n\
                      #[service]\n\
                      impl Shop {\n    async fn buy(&self, _: &Context, thing: String) -> String { thing }\n}\n";
    std::fs::write(&right, definition).unwrap();
    let (accepted, said) = Compiled::newest().compile(&right);
    assert!(accepted, "{said}");
}

/// The SDK as it was compiled for this test.
struct Compiled {
    dependencies: PathBuf,
    library: PathBuf,
}

impl Compiled {
    /// Beside this test's program is the library that it is linked with: the newest, since cargo
    /// has brought it up to date just before.
    fn newest() -> Compiled {
        let program = std::env::current_exe().unwrap();
        let dependencies = program.parent().unwrap().to_owned();
        let made = |path: &Path| path.metadata().and_then(|it| it.modified()).unwrap();
        let limit: SystemTime = made(&program);
        let entries = std::fs::read_dir(&dependencies).unwrap().map(|entry| entry.unwrap().path());
        let libraries = entries.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let stem =
                name.strip_prefix("libholdfast_sdk-").and_then(|it| it.strip_suffix(".rlib"));
            stem.is_some() && made(path) <= limit
        });
        let library = libraries.max_by_key(|path| made(path)).expect("the SDK was compiled");
        Compiled { dependencies, library }
    }

    /// What is said about a file that must not compile.
    fn refusal(&self, file: &Path) -> String {
        let (accepted, said) = self.compile(file);
        assert!(!accepted, "{} compiles, and should not", file.display());
        let lines = said.lines().filter(|line| !line.starts_with("error: aborting due to"));
        let said: Vec<&str> = lines.collect();
        format!("{}\n", said.join("\n").trim())
    }

    /// Whether it compiles, and what is said.
    fn compile(&self, file: &Path) -> (bool, String) {
        let cargo = PathBuf::from(std::env::var_os("CARGO").expect("cargo runs this test"));
        let beside = cargo.with_file_name("rustc");
        let rustc = if beside.is_file() { beside } else { "rustc".into() };
        let out = tempfile::tempdir().unwrap();
        let output = Command::new(rustc)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"])
            .args(["--cap-lints", "allow", "--color", "never", "--diagnostic-width", "140"])
            .arg("-L")
            .arg(format!("dependency={}", self.dependencies.display()))
            .arg("--extern")
            .arg(format!("holdfast_sdk={}", self.library.display()))
            .arg("--out-dir")
            .arg(out.path())
            .arg(file)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }
}

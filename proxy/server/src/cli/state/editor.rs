//! A text in the person's own editor. The file stays where something went wrong, so that no edit is
//! lost.

use super::super::Failure;
use serde::de::DeserializeOwned;
use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// How many names are tried for the file.
const NAMES_MAX: u32 = 100;

/// A text that was edited.
pub struct Edit {
    file: PathBuf,
    text: String,
}

/// Opens `text` in $VISUAL, $EDITOR, or vi, and waits for its end.
pub fn edit(text: &str) -> Result<Edit, Failure> {
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(std::env::var_os);
    let editor = editor.filter(|editor| !editor.is_empty()).unwrap_or_else(|| "vi".into());
    let (path, mut file) = create()?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    drop(file);
    // The setting may have arguments of its own.
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{} \"$1\"", editor.to_string_lossy())).arg("sh").arg(&path);
    let ended = command.status().map_err(|error| format!("cannot start the editor: {error}"))?;
    if !ended.success() {
        let _ = std::fs::remove_file(&path);
        let editor = editor.to_string_lossy();
        return Err(format!("the editor `{editor}` failed; nothing was changed").into());
    }
    let text = read(&path)?;
    Ok(Edit { file: path, text })
}

/// A new file that only its owner can read.
fn create() -> Result<(PathBuf, File), Failure> {
    let directory = std::env::temp_dir();
    for number in 0..NAMES_MAX {
        let path = directory.join(format!("holdfast-{}-{number}.json", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("cannot make `{}`: {error}", path.display()).into()),
        }
    }
    Err(format!("cannot make a file in `{}`", directory.display()).into())
}

fn read(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path);
    text.map_err(|error| format!("cannot read `{}`: {error}", path.display()).into())
}

impl Edit {
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.text)
    }

    /// Where the edit is, for whoever needs it again.
    pub fn kept(&self) -> String {
        format!("your edit is in {}", self.file.display())
    }

    pub fn discard(self) {
        let _ = std::fs::remove_file(self.file);
    }
}

//! `holdfast identity …`: the key that requests to services are signed with. Talks to no sidecar.
//! Never prints the private key, and never leaves half of one behind.

use super::{Failure, args::Identity};
use crate::http::identity::{self, Signer};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// For its owner only.
const MODE: u32 = 0o600;

/// Why there is no key, or none to show.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// HF0009
    #[error("HF0009: {} exists; a key is never overwritten, name another file", .0.display())]
    Exists(PathBuf),
    /// HF0010
    #[error("HF0010: cannot write the identity key {}: {reason}", path.display())]
    Write { path: PathBuf, reason: String },
    /// HF0008
    #[error("HF0008: {0}")]
    Unusable(#[from] identity::Error),
}

pub fn run(command: Identity) -> Result<ExitCode, Failure> {
    match command {
        Identity::New { file } => new(&file)?,
        Identity::Show { file } => println!("{}", public_key(&file)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn public_key(path: &Path) -> Result<String, Error> {
    Ok(Signer::from_file(path)?.public_key().to_owned())
}

fn new(path: &Path) -> Result<(), Error> {
    let failed = |reason: String| Error::Write { path: path.to_owned(), reason };
    let pem = identity::new_key().map_err(|error| failed(error.to_string()))?;
    write_whole(path, &pem).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(path.to_owned()),
        _ => failed(error.to_string()),
    })?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    println!("{}", public_key(path)?);
    println!("identity_key_file = {}", toml::Value::String(absolute.display().to_string()));
    eprintln!(
        "give the first line to the services, and put the second into the sidecar's settings"
    );
    Ok(())
}

/// Afterwards `path` holds all of `text`, also after a loss of power; or it is as it was.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Err(io::ErrorKind::AlreadyExists.into()),
    };
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let part = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written = write_synced(&part, text).and_then(|()| {
        // A second name for the same file: unlike a renaming it fails where the name is taken.
        fs::hard_link(&part, path)
    });
    let removed = fs::remove_file(&part);
    written?;
    removed?;
    File::open(folder)?.sync_all()
}

fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_new_key_is_whole_private_and_readable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.pem");
        new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        assert!(public_key(&path).unwrap().starts_with("publickeyv1_"));
        assert_eq!(names(folder.path()), ["identity.pem"]);
    }

    #[test]
    fn what_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.pem");
        fs::write(&path, "the key of years").unwrap();
        let error = new(&path).unwrap_err().to_string();
        assert!(error.starts_with("HF0009: ") && error.contains("identity.pem"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "the key of years");
        assert_eq!(names(folder.path()), ["identity.pem"]);
        let directory = new(folder.path()).unwrap_err().to_string();
        assert!(directory.starts_with("HF0009: "), "{directory}");
    }

    #[test]
    fn nothing_is_left_of_what_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let error = new(&folder.path().join("missing/identity.pem")).unwrap_err().to_string();
        assert!(error.starts_with("HF0010: "), "{error}");
        assert!(names(folder.path()).is_empty());
    }
}

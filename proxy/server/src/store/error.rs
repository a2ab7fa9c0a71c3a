//! Why a data directory cannot be opened. Each has a page in `docs/errors`.

use std::path::{Path, PathBuf};

/// Why a data directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "data directory {} is in use by {by}; stop that process or choose another directory",
        directory.display()
    )]
    Locked { directory: PathBuf, by: String },
    #[error(
        "data directory {} is damaged: {what}; restore a copy, or read the page of this code",
        directory.display()
    )]
    Corrupt { directory: PathBuf, what: String },
    #[error(
        "{} holds `{found}`, which holdfast did not put there; choose an empty directory",
        directory.display()
    )]
    Foreign { directory: PathBuf, found: String },
    #[error("no permission to {doing} {}; give it to the user that runs holdfast", path.display())]
    Permission { doing: &'static str, path: PathBuf },
    #[error("the disk of data directory {} is full; free some space", directory.display())]
    Full { directory: PathBuf },
    #[error(
        "data directory {} has format {found}, and this program reads up to {known}; \
         use the newer program that wrote it",
        directory.display()
    )]
    Newer { directory: PathBuf, found: u32, known: u32 },
    #[error(
        "data directory {} has format {found}, and this program reads {known}; \
         let the program that wrote it finish its work, or start with another directory",
        directory.display()
    )]
    Older { directory: PathBuf, found: u32, known: u32 },
    #[error("cannot {doing} {}: {reason}", path.display())]
    Io { doing: &'static str, path: PathBuf, reason: String },
    #[error("{field} is {value}, expected {expected}")]
    Setting { field: &'static str, value: u64, expected: &'static str },
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Locked { .. } => "HF0020",
            Error::Corrupt { .. } => "HF0021",
            Error::Foreign { .. } => "HF0022",
            Error::Permission { .. } => "HF0023",
            Error::Full { .. } => "HF0024",
            Error::Newer { .. } => "HF0025",
            Error::Io { .. } => "HF0026",
            Error::Setting { .. } => "HF0027",
            Error::Older { .. } => "HF0038",
        }
    }

    /// An error of the file system while `doing` something with `path`.
    pub(super) fn io(doing: &'static str, path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{
            PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        let path = path.to_path_buf();
        match error.kind() {
            StorageFull | QuotaExceeded => Error::Full { directory: path },
            PermissionDenied | ReadOnlyFilesystem => Error::Permission { doing, path },
            _ => Error::Io { doing, path, reason: error.to_string() },
        }
    }

    /// An error of the embedded engine at opening.
    pub(super) fn engine(directory: &Path, error: &rocksdb::Error) -> Self {
        let directory = directory.to_path_buf();
        let text = error.as_ref();
        match error.kind() {
            _ if text.contains("No space left") => Error::Full { directory },
            _ if text.contains("Permission denied") || text.contains("Read-only file system") => {
                Error::Permission { doing: "write to", path: directory }
            }
            rocksdb::ErrorKind::IOError if text.contains("lock") => {
                Error::Locked { directory, by: "another process".to_owned() }
            }
            rocksdb::ErrorKind::IOError if !text.contains("No such file") => {
                Error::Io { doing: "open", path: directory, reason: text.to_owned() }
            }
            _ => Error::Corrupt { directory, what: text.to_owned() },
        }
    }
}

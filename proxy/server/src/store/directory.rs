//! The data directory: who is in it, and what was written there by which format. Never looks at
//! the engine's own files.
//!
//! ```text
//! DIR/LOCK            held by the running process, which writes its id there
//! DIR/holdfast.toml   format and number of partitions; written last when a directory is made
//! DIR/rocks/          the engine's files
//! ```

use super::Error;
use holdfast_machine::id::Partitions;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

/// The format this program writes: of the keys of rows, of what is in them, and of where they lie. 2:
/// ids in keys begin with their time, and large values are compressed. 3: tables that grow at their end
/// lie apart.
const FORMAT: u32 = 3;
/// The oldest format that this program makes one of its own.
const FORMAT_MIN: u32 = 2;
const LOCK: &str = "LOCK";
const LABEL: &str = "holdfast.toml";
const LABEL_NEW: &str = "holdfast.toml.new";
const ENGINE: &str = "rocks";
/// What the root of a file system has of itself.
const LOST_FOUND: &str = "lost+found";

/// A locked data directory.
pub(super) struct Directory {
    path: PathBuf,
    /// What an earlier process wrote; `None` in a directory that is being made.
    label: Option<Label>,
    _lock: File,
}

/// Contents of `holdfast.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Label {
    format: u32,
    partitions: u16,
}

/// The one field that every format has.
#[derive(Deserialize)]
struct AnyLabel {
    format: u32,
}

impl Directory {
    /// Locks `path`, which is made if need be, and reads what it is.
    pub(super) fn lock(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|error| Error::io("make", path, &error))?;
        let label_path = path.join(LABEL);
        if !exists(&label_path)? {
            refuse_foreign(path)?;
        }
        let lock = take_lock(path)?;
        // Read under the lock: another process may have made the directory in the meantime.
        let label = if exists(&label_path)? { Some(read_label(path, &label_path)?) } else { None };
        Ok(Directory { path: path.to_path_buf(), label, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the engine's files are.
    pub(super) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// Whether the engine's files have to be made.
    pub(super) fn is_new(&self) -> bool {
        self.label.is_none()
    }

    /// Whether its rows do not lie where they belong.
    pub(super) fn is_older(&self) -> bool {
        self.label.is_some_and(|label| label.format < FORMAT)
    }

    /// The number of partitions the directory was made with, or will be made with: `wanted`.
    pub(super) fn partitions(&self, wanted: Partitions) -> Partitions {
        self.label.map_or(wanted, |label| Partitions(label.partitions))
    }

    /// Makes a new directory one that holds data, and an older one of this format. The engine's files
    /// exist by now, so that a directory with a label and without them is known to be damaged.
    pub(super) fn finish(&self, partitions: Partitions) -> Result<(), Error> {
        if !self.is_new() && !self.is_older() {
            return Ok(());
        }
        let label = Label { format: FORMAT, partitions: partitions.0 };
        let path = self.path.join(LABEL);
        write_durably(&self.path, &label).map_err(|error| Error::io("write", &path, &error))
    }
}

fn exists(path: &Path) -> Result<bool, Error> {
    path.try_exists().map_err(|error| Error::io("read", path, &error))
}

/// A directory without a label has to be empty, but for what a broken-off start left behind.
fn refuse_foreign(path: &Path) -> Result<(), Error> {
    let read = |error: io::Error| Error::io("list", path, &error);
    for entry in fs::read_dir(path).map_err(read)? {
        let name = entry.map_err(read)?.file_name();
        if [LOCK, LABEL_NEW, ENGINE, LOST_FOUND].iter().all(|known| *known != name) {
            let (directory, found) = (path.to_path_buf(), name.to_string_lossy().into_owned());
            return Err(Error::Foreign { directory, found });
        }
    }
    Ok(())
}

/// Held until the file is closed, also by the end of the process however it comes.
fn take_lock(directory: &Path) -> Result<File, Error> {
    let path = directory.join(LOCK);
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| Error::io("write", &path, &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Error::Locked {
                directory: directory.to_path_buf(),
                by: holder(&mut file),
            });
        }
        Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path, &error)),
    }
    let id = format!("{}\n", std::process::id());
    file.set_len(0)
        .and_then(|()| file.write_all(id.as_bytes()))
        .map_err(|error| Error::io("write", &path, &error))?;
    Ok(file)
}

/// What the holder of a lock wrote into it, for the person who is in its way.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(20).read_to_string(&mut text));
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(id)) => format!("process {id}"),
        _ => "another process".to_owned(),
    }
}

fn read_label(directory: &Path, path: &Path) -> Result<Label, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let corrupt = |error: toml::de::Error| Error::Corrupt {
        directory: directory.to_path_buf(),
        what: format!("{LABEL} cannot be read: {}", error.message()),
    };
    let AnyLabel { format: found } = toml::from_str(&text).map_err(corrupt)?;
    let (directory_of, known) = (|| directory.to_path_buf(), FORMAT);
    match found {
        FORMAT_MIN..=FORMAT => {}
        ..FORMAT_MIN => {
            return Err(Error::Older { directory: directory_of(), found, known: FORMAT_MIN });
        }
        _ => return Err(Error::Newer { directory: directory_of(), found, known }),
    }
    let label: Label = toml::from_str(&text).map_err(corrupt)?;
    if label.partitions == 0 {
        let what = format!("{LABEL} says 0 partitions");
        return Err(Error::Corrupt { directory: directory.to_path_buf(), what });
    }
    Ok(label)
}

/// After it the label is there whole, also after a loss of power; before it, not at all.
fn write_durably(directory: &Path, label: &Label) -> io::Result<()> {
    let fields = toml::to_string(label).map_err(io::Error::other)?;
    let new = directory.join(LABEL_NEW);
    let mut file = File::create(&new)?;
    file.write_all(b"# Written once, when holdfast made this directory. Do not edit.\n")?;
    file.write_all(fields.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, directory.join(LABEL))?;
    File::open(directory)?.sync_all()?;
    // The directory's own name has to last too.
    match directory.canonicalize()?.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

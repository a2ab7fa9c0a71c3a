//! Files that the engine was writing when its process was killed, and that it never removes by
//! itself: a file of values without its end could be one that it still writes to. Never touches a
//! file that rows may refer to: the engine names a file of values to them once its end is written.
//!
//! ```text
//! NUMBER.blob             ends with a footer of 32 bytes, which begin with FOOTER
//! OPTIONS-NUMBER.dbtmp    settings, before they have their name
//! ```

use super::Error;
use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// A file without it can be read by no version of the engine.
const FOOTER: [u8; 4] = 2_395_959_u32.to_le_bytes();
const FOOTER_BYTES: u64 = 32;

/// To be called while no engine has `directory`, which need not exist.
pub(super) fn remove(directory: &Path) -> Result<(), Error> {
    let files = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        files => files.map_err(|error| Error::io("list", directory, &error))?,
    };
    for file in files {
        let path = file.map_err(|error| Error::io("list", directory, &error))?.path();
        if is_torn(&path).map_err(|error| Error::io("read", &path, &error))? {
            tracing::debug!(file = %path.display(), "removing what was never written to its end");
            fs::remove_file(&path).map_err(|error| Error::io("remove", &path, &error))?;
        }
    }
    Ok(())
}

fn is_torn(path: &Path) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("blob") => Ok(!has_footer(&mut File::open(path)?)?),
        Some("dbtmp") => Ok(name.starts_with("OPTIONS-")),
        _ => Ok(false),
    }
}

fn has_footer(file: &mut File) -> io::Result<bool> {
    let Some(at) = file.metadata()?.len().checked_sub(FOOTER_BYTES) else {
        return Ok(false);
    };
    let mut found = [0; FOOTER.len()];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut found)?;
    Ok(found == FOOTER)
}

//! The state directory: what an appliance keeps between two runs of the program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// A state directory that this program alone may use while it runs.
#[derive(Debug)]
pub struct StateDirectory {
    path: PathBuf,
    /// Holds the lock as long as it is open.
    _lock: File,
}

/// What can go wrong with a state directory.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another program has it.
    #[error("{0} is in use by another adxemu")]
    InUse(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is larger than any configuration.
    #[error("{0} is larger than {MOST_BYTES} bytes")]
    TooLarge(PathBuf),
}

/// The largest file that is read as a configuration.
pub const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// Name of the startup configuration in the directory.
const STARTUP: &str = "startup-config";

/// Name of the settings of the emulated world.
const WORLD: &str = "emulated-world";

impl StateDirectory {
    /// Opens a directory, making it if it is not there, and locks it.
    ///
    /// # Errors
    ///
    /// It cannot be made or another program has it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let fail = |source| StoreError::File { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(fail)?;
        let file = path.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&file)
            .map_err(|source| StoreError::File { path: file, source })?;
        match lock.try_lock() {
            Ok(()) => Ok(StateDirectory { path: path.to_owned(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse(path.to_owned())),
            Err(fs::TryLockError::Error(source)) => Err(fail(source)),
        }
    }

    /// The saved startup configuration, if there is one.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn startup(&self) -> Result<Option<String>, StoreError> {
        read_optional(&self.path.join(STARTUP))
    }

    /// The saved settings of the emulated world, if there are any.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn world(&self) -> Result<Option<String>, StoreError> {
        read_optional(&self.path.join(WORLD))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves the startup configuration alone.
    ///
    /// # Errors
    ///
    /// It cannot be written; then the old one is still there.
    pub fn save_startup(&self, startup: &str) -> Result<(), StoreError> {
        write_whole(&self.path, STARTUP, startup)
    }

    /// Saves both. Each file is whole at every moment: the old one or the new one.
    ///
    /// # Errors
    ///
    /// One of them cannot be written; then the old one is still there.
    pub fn save(&self, startup: &str, world: &str) -> Result<(), StoreError> {
        write_whole(&self.path, STARTUP, startup)?;
        write_whole(&self.path, WORLD, world)
    }
}

/// Reads a configuration file. Bytes that are no UTF-8 are taken as Latin-1.
///
/// # Errors
///
/// It cannot be read, or it is too large.
pub fn read_text(path: &Path) -> Result<String, StoreError> {
    let fail = |source| StoreError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(StoreError::TooLarge(path.to_owned()));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()))
}

fn read_optional(path: &Path) -> Result<Option<String>, StoreError> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(StoreError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Writes a file beside the old one, syncs it, and puts it in the old one's place.
pub(crate) fn write_whole(folder: &Path, name: &str, text: &str) -> Result<(), StoreError> {
    let path = folder.join(name);
    let fail = |source| StoreError::File { path: path.clone(), source };
    let mut file =
        tempfile::Builder::new().prefix(name).suffix(".new").tempfile_in(folder).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(&path).map_err(|error| fail(error.error))?;
    // The new name must be on the disk too.
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = StateDirectory::open(folder.path()).unwrap();
        assert!(store.startup().unwrap().is_none());
        store.save("hostname a\n", "emulate x\n").unwrap();
        store.save("hostname b\n", "").unwrap();
        assert_eq!(store.startup().unwrap().unwrap(), "hostname b\n");
        assert_eq!(store.world().unwrap().unwrap(), "");
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 3, "no temporary file is left");
    }

    #[test]
    fn a_second_program_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = StateDirectory::open(folder.path()).unwrap();
        assert!(matches!(StateDirectory::open(folder.path()), Err(StoreError::InUse(_))));
        drop(first);
        assert!(StateDirectory::open(folder.path()).is_ok());
    }

    #[test]
    fn latin_1_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"snmp-server location K\xf6ln\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "snmp-server location Köln\n");
    }
}

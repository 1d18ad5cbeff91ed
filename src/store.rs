//! The state directory: what an appliance keeps between two runs of the program.
//!
//! One file holds both the startup configuration and the settings of the emulated world, so that a
//! save is one rename: whatever ends the program or the machine, the next run finds the old pair
//! or the new one, never one half of each.

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

/// Name of the file in the directory.
const SAVED: &str = "startup-config";

/// The line between the startup configuration and the settings of the emulated world. No setting
/// is like it.
const WORLD_BEGINS: &str = "! The emulated world\n";

/// How the name of a file ends that is not whole yet.
const UNFINISHED: &str = ".new";

/// What is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The startup configuration.
    pub startup: String,
    /// The settings of the emulated world, one command a line.
    pub world: String,
}

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
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_owned())),
            Err(fs::TryLockError::Error(source)) => return Err(fail(source)),
        }
        let directory = StateDirectory { path: path.to_owned(), _lock: lock };
        directory.remove_unfinished();
        Ok(directory)
    }

    /// What is saved, if anything is.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn load(&self) -> Result<Option<Saved>, StoreError> {
        match read_text(&self.path.join(SAVED)) {
            Ok(text) => Ok(Some(Saved::from_text(&text))),
            Err(StoreError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Saves. At every moment the file is whole: the old one or the new one.
    ///
    /// # Errors
    ///
    /// It cannot be written; then the old one is still there.
    pub fn save(&self, saved: &Saved) -> Result<(), StoreError> {
        write_whole(&self.path, SAVED, saved.to_text().as_bytes())
    }

    /// Saves another startup configuration; the settings of the emulated world stay.
    ///
    /// # Errors
    ///
    /// It cannot be written; then the old one is still there.
    pub fn save_startup(&self, startup: &str) -> Result<(), StoreError> {
        let saved = self.load()?.unwrap_or_default();
        self.save(&Saved { startup: startup.to_owned(), ..saved })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what a program has left that was ended while it wrote.
    fn remove_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_ours = name
                .to_str()
                .is_some_and(|name| name.starts_with(SAVED) && name.ends_with(UNFINISHED));
            if is_ours {
                // A file that cannot be removed only takes room.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Saved {
    fn to_text(&self) -> String {
        format!("{}{WORLD_BEGINS}{}", self.startup, self.world)
    }

    fn from_text(text: &str) -> Self {
        let begins_a_line = |place: &usize| *place == 0 || text[..*place].ends_with('\n');
        // The last one: a text that a configuration holds verbatim may have such a line.
        let place = text.rmatch_indices(WORLD_BEGINS).map(|(place, _)| place).find(begins_a_line);
        match place {
            Some(place) => Saved {
                startup: text[..place].to_owned(),
                world: text[place + WORLD_BEGINS.len()..].to_owned(),
            },
            // A configuration that somebody has put there.
            None => Saved { startup: text.to_owned(), world: String::new() },
        }
    }
}

/// Reads a configuration file. Bytes that are no UTF-8 are taken as Latin-1.
///
/// # Errors
///
/// It cannot be read, or it is too large.
pub fn read_text(path: &Path) -> Result<String, StoreError> {
    read_bytes(path).map(text_of)
}

/// The text of a file. If it is no UTF-8, all of it is taken as Latin-1.
pub fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

/// Reads a file.
///
/// # Errors
///
/// It cannot be read, or it is too large.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    let fail = |source| StoreError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(fail)?;
    // A pipe has no length; a file whose length changes is read to its end all the same.
    let length = file.metadata().map_or(0, |data| data.len()).min(MOST_BYTES);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(StoreError::TooLarge(path.to_owned()));
    }
    Ok(bytes)
}

/// Writes a file beside the old one, syncs it, and puts it in the old one's place.
pub(crate) fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(name);
    let fail = |source| StoreError::File { path: path.clone(), source };
    let mut file = tempfile::Builder::new()
        .prefix(name)
        .suffix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(&path).map_err(|error| fail(error.error))?;
    // The new name must be on the disk too.
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(startup: &str, world: &str) -> Saved {
        Saved { startup: startup.to_owned(), world: world.to_owned() }
    }

    #[test]
    fn what_is_saved_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = StateDirectory::open(folder.path()).unwrap();
        assert_eq!(store.load().unwrap(), None);
        for pair in [
            saved("hostname a\n!\n", "emulate x\n"),
            saved("hostname \"! The emulated world\"\n!\n", "emulate x\nemulate y\n"),
            saved("text\n! The emulated world\nof a banner\n", "emulate x\n"),
            saved("hostname b\n", ""),
            saved("", "emulate x\n"),
            saved("", ""),
        ] {
            store.save(&pair).unwrap();
            assert_eq!(store.load().unwrap(), Some(pair));
        }
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 2, "the file and the lock, no temporary file");
    }

    #[test]
    fn a_configuration_put_there_by_hand_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(SAVED), "hostname a\n").unwrap();
        let store = StateDirectory::open(folder.path()).unwrap();
        assert_eq!(store.load().unwrap(), Some(saved("hostname a\n", "")));
    }

    #[test]
    fn unfinished_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (unfinished, other) =
            (folder.path().join("startup-configAbC123.new"), folder.path().join("mine.new"));
        fs::write(&unfinished, "half").unwrap();
        fs::write(&other, "mine").unwrap();
        let _store = StateDirectory::open(folder.path()).unwrap();
        assert!(!unfinished.exists() && other.exists());
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

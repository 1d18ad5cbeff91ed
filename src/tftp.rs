//! The folder that stands for every TFTP server (base-cli 3.2): nothing is sent anywhere.
//!
//! With a state directory it is the folder `tftp` in there, where a user can put files and find
//! them; without one the files live as long as the program.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::store::{self, StoreError};

/// Files that are there without a state directory, at most.
const MOST_FILES: usize = 64;

/// The longest name of a file, bytes.
const LONGEST_NAME: usize = 255;

/// The files of the TFTP server.
#[derive(Debug, Default)]
pub struct TftpServer {
    folder: Option<PathBuf>,
    files: Mutex<BTreeMap<String, Arc<[u8]>>>,
}

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TftpError {
    /// There is none of that name.
    #[error("File not found")]
    NotFound,
    /// The name could lead out of the folder.
    #[error("File name not allowed")]
    Name,
    /// There are too many.
    #[error("No room for more than {MOST_FILES} files without a state directory")]
    Full,
    /// The system says no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TftpServer {
    /// The server of a state directory; without one it keeps its files in memory.
    pub fn new(state: Option<&Path>) -> Self {
        TftpServer { folder: state.map(|path| path.join("tftp")), files: Mutex::default() }
    }

    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read.
    pub fn get_text(&self, name: &str) -> Result<String, TftpError> {
        self.get(name).map(store::text_of)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, TftpError> {
        check(name)?;
        let Some(folder) = &self.folder else {
            let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            return files.get(name).map(|file| file.to_vec()).ok_or(TftpError::NotFound);
        };
        let path = folder.join(name);
        // Anything else than a file, a pipe say, could keep the reader waiting.
        if !path.is_file() {
            return Err(TftpError::NotFound);
        }
        Ok(store::read_bytes(&path)?)
    }

    /// Writes a file, in the place of one of that name.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn put(&self, name: &str, contents: &[u8]) -> Result<(), TftpError> {
        check(name)?;
        let Some(folder) = &self.folder else {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            if files.len() >= MOST_FILES && !files.contains_key(name) {
                return Err(TftpError::Full);
            }
            files.insert(name.to_owned(), Arc::from(contents));
            return Ok(());
        };
        let fail = |source: io::Error| StoreError::File { path: folder.clone(), source };
        std::fs::create_dir_all(folder).map_err(fail)?;
        Ok(store::write_whole(folder, name, contents)?)
    }
}

/// A name without a way out of the folder, and none that a system hides or treats in its own way.
fn check(name: &str) -> Result<(), TftpError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_good = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with('.')
        && name.chars().all(is_plain);
    if is_good { Ok(()) } else { Err(TftpError::Name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(server: &TftpServer) {
        assert!(matches!(server.get("a.cfg"), Err(TftpError::NotFound)));
        server.put("a.cfg", b"one\n").unwrap();
        server.put("a.cfg", b"two\n").unwrap();
        assert_eq!(server.get_text("a.cfg").unwrap(), "two\n");
        for name in ["", ".", "..", "../a", "a/b", "/etc/x", ".hidden", "a b", "a\0", "ä"] {
            assert!(matches!(server.get(name), Err(TftpError::Name)), "{name}");
            assert!(matches!(server.put(name, b""), Err(TftpError::Name)), "{name}");
        }
    }

    #[test]
    fn files_in_memory() {
        let server = TftpServer::new(None);
        works(&server);
        for number in 0..MOST_FILES - 1 {
            server.put(&number.to_string(), b"").unwrap();
        }
        assert!(matches!(server.put("more", b""), Err(TftpError::Full)));
        server.put("a.cfg", b"three\n").unwrap();
    }

    #[test]
    fn files_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let server = TftpServer::new(Some(folder.path()));
        works(&server);
        std::fs::create_dir(folder.path().join("tftp/dir")).unwrap();
        assert!(matches!(server.get("dir"), Err(TftpError::NotFound)));
        let text = std::fs::read_to_string(folder.path().join("tftp/a.cfg")).unwrap();
        assert_eq!(text, "two\n");
    }
}

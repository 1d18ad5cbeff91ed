//! The keys by which SSH clients know the emulator again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use russh::keys::ssh_key::LineEnding;
use russh::keys::ssh_key::private::{KeypairData, RsaKeypair};
use russh::keys::{Algorithm, PrivateKey};

/// Bits of an RSA key. Clients refuse shorter ones; longer ones take seconds to make.
const RSA_BITS: usize = 2048;

/// The longest file that is read as a key.
const MOST_BYTES: u64 = 64 * 1024;

/// What can go wrong with a host key.
#[derive(Debug, thiserror::Error)]
pub enum HostKeyError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file holds no key.
    #[error("{path}: no host key: {source}")]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: russh::keys::ssh_key::Error,
    },
    /// A key cannot be made.
    #[error("no host key can be made: {0}")]
    Make(#[source] russh::keys::ssh_key::Error),
}

/// The host keys of a program: Ed25519, and RSA for clients that know nothing newer.
#[derive(Clone, Debug)]
pub struct HostKeys {
    keys: Vec<PrivateKey>,
}

/// A kind of key, with the name of its file.
#[derive(Clone, Copy)]
enum Kind {
    Ed25519,
    Rsa,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Kind::Ed25519 => "ssh_host_ed25519_key",
            Kind::Rsa => "ssh_host_rsa_key",
        }
    }

    fn make(self) -> Result<PrivateKey, HostKeyError> {
        let mut random = russh::keys::key::safe_rng();
        let key = match self {
            Kind::Ed25519 => PrivateKey::random(&mut random, Algorithm::Ed25519),
            Kind::Rsa => RsaKeypair::random(&mut random, RSA_BITS)
                .and_then(|pair| PrivateKey::new(KeypairData::from(pair), "")),
        };
        key.map_err(HostKeyError::Make)
    }
}

impl HostKeys {
    /// The keys that are kept in a folder; those that are not there are made and kept. Without a
    /// folder they last as long as the program.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or is no key.
    pub fn open(folder: Option<&Path>) -> Result<Self, HostKeyError> {
        let kinds = [Kind::Ed25519, Kind::Rsa];
        let keys = kinds.into_iter().map(|kind| match folder {
            None => kind.make(),
            Some(folder) => kept(folder, kind),
        });
        Ok(HostKeys { keys: keys.collect::<Result<_, _>>()? })
    }

    /// An Ed25519 key alone, which is made in no time; for tests.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn brief() -> Result<Self, HostKeyError> {
        Ok(HostKeys { keys: vec![Kind::Ed25519.make()?] })
    }

    pub(super) fn keys(&self) -> Vec<PrivateKey> {
        self.keys.clone()
    }
}

fn kept(folder: &Path, kind: Kind) -> Result<PrivateKey, HostKeyError> {
    let path = folder.join(kind.file());
    if let Some(key) = read(&path)? {
        return Ok(key);
    }
    let key = kind.make()?;
    match write(folder, &path, &key) {
        Ok(()) => Ok(key),
        // Another program was faster: its key counts.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(read(&path)?.unwrap_or(key))
        }
        Err(source) => Err(HostKeyError::File { path, source }),
    }
}

fn read(path: &Path) -> Result<Option<PrivateKey>, HostKeyError> {
    let fail = |source| HostKeyError::File { path: path.to_owned(), source };
    let length = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
        Ok(metadata) => metadata.len(),
    };
    if length > MOST_BYTES {
        return Err(fail(io::Error::other("larger than any key")));
    }
    let text = fs::read(path).map_err(fail)?;
    let key = PrivateKey::from_openssh(&text)
        .map_err(|source| HostKeyError::Key { path: path.to_owned(), source })?;
    Ok(Some(key))
}

/// The file is whole when it gets its name, and only its owner may read it.
fn write(folder: &Path, path: &Path, key: &PrivateKey) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let text = key.to_openssh(LineEnding::LF).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    // The name is on the disk too.
    if let Ok(folder) = OpenOptions::new().read(true).open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let public = |keys: &HostKeys| -> Vec<String> {
            keys.keys.iter().map(|key| key.public_key().to_openssh().unwrap()).collect()
        };
        let first = public(&HostKeys::open(Some(&path)).unwrap());
        assert!(first[0].starts_with("ssh-ed25519 ") && first[1].starts_with("ssh-rsa "));
        assert_eq!(public(&HostKeys::open(Some(&path)).unwrap()), first);
        assert_ne!(public(&HostKeys::brief().unwrap())[0], first[0]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(path.join("ssh_host_rsa_key")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(path.join("ssh_host_ed25519_key"), "no key\n").unwrap();
        let error = HostKeys::open(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("ssh_host_ed25519_key: no host key: "), "{error}");
    }
}

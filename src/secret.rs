//! Passwords: how they are kept and checked.
//!
//! A password is kept as a hash only, in the form of the device's own saved files: `8` and the
//! hash. What is typed in clear becomes an Argon2id hash; a hash that a file of a real device
//! brings (`8 $1$...`, MD5-crypt) stays as it is. No password is ever printed or logged.

mod md5_crypt;

use std::sync::{Mutex, MutexGuard, PoisonError};

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::{Output, PasswordHash};
use argon2::{Algorithm, Argon2, Block, Params, Version};

/// What says that a hash follows (base-cli 3.1).
const ENCODED: &str = "8 ";

/// How hashes of MD5-crypt begin.
const MD5_CRYPT: &str = "$1$";

/// The most memory that checking a hash may take, KiB; a file could ask for any amount.
const MOST_MEMORY: u32 = 64 * 1024;

/// The most passes that checking a hash may take.
const MOST_PASSES: u32 = 10;

/// Whether a secret is in the form in which it is kept, and not in clear.
pub fn is_stored(secret: &str) -> bool {
    secret.strip_prefix(ENCODED).is_some_and(|hash| {
        hash.len() > 1 && hash.starts_with('$') && !hash.contains(char::is_whitespace)
    })
}

/// The form in which a secret is kept; `None` if the system has no random numbers to salt it with.
pub fn stored(secret: &str) -> Option<String> {
    if is_stored(secret) {
        return Some(secret.to_owned());
    }
    let hash = Argon2::default().hash_password(secret.as_bytes()).ok()?;
    Some(format!("{ENCODED}{hash}"))
}

/// Whether a password is the one that was kept; `None` stands for a user who does not exist.
///
/// Whatever is asked for, the time of one Argon2 hash passes, so that an answer does not tell who
/// exists.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let hash = stored.and_then(|stored| stored.strip_prefix(ENCODED)).unwrap_or_default();
    if let Some(fits) = PasswordHash::new(hash).ok().and_then(|hash| check(password, &hash)) {
        return fits;
    }
    // It only fails for lengths of salt and output other than these.
    let _ = hashed(&Argon2::default(), password, &[0; 16], &mut [0; 32]);
    hash.starts_with(MD5_CRYPT) && md5_crypt::verify(password, hash)
}

/// Whether a password has that hash; `None` if the hash asks for more than a file may make the
/// program spend, or is none of Argon2.
fn check(password: &str, hash: &PasswordHash) -> Option<bool> {
    let parameters = Params::try_from(hash).ok().filter(is_affordable)?;
    let algorithm = Algorithm::try_from(hash.algorithm.as_str()).ok()?;
    let version = hash.version.map_or(Ok(Version::default()), Version::try_from).ok()?;
    let (salt, expected) = (hash.salt.as_ref()?, hash.hash.as_ref()?);
    let mut output = vec![0; expected.len()];
    let argon2 = Argon2::new(algorithm, version, parameters);
    hashed(&argon2, password, salt, &mut output).ok()?;
    // This comparison takes as long wherever the two differ.
    Some(Output::new(&output).is_ok_and(|output| output == *expected))
}

fn is_affordable(parameters: &Params) -> bool {
    parameters.m_cost() <= MOST_MEMORY
        && parameters.t_cost() <= MOST_PASSES
        && parameters.p_cost() <= 4
}

/// Memory of hashes that are done, for the next ones: a piece for each that was ever made at the
/// same time. Given back to the heap, pieces of this size would leave holes in it that stay.
static MEMORY: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

/// Hashes a password.
fn hashed(
    argon2: &Argon2<'_>,
    password: &str,
    salt: &[u8],
    output: &mut [u8],
) -> Result<(), argon2::Error> {
    let blocks = argon2.params().block_count();
    let mut memory = memory().pop().unwrap_or_default();
    if memory.len() < blocks {
        memory.resize(blocks, Block::default());
    }
    let result = argon2.hash_password_into_with_memory(
        password.as_bytes(),
        salt,
        output,
        &mut memory[..blocks],
    );
    self::memory().push(memory);
    result
}

fn memory() -> MutexGuard<'static, Vec<Vec<Block>>> {
    // Whoever holds the lock takes one piece or gives it back.
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_clear_is_hashed_and_found_again() {
        let kept = stored("let me in").unwrap();
        assert!(kept.starts_with("8 $argon2id$"), "{kept}");
        assert!(!kept.contains("let me"));
        assert!(is_stored(&kept));
        assert_eq!(stored(&kept).unwrap(), kept, "a kept form is kept as it is");
        assert!(verify("let me in", Some(&kept)));
        assert!(!verify("let me out", Some(&kept)));
        assert!(!verify("", Some(&kept)));
        assert_ne!(stored("let me in").unwrap(), kept, "each has a salt of its own");
    }

    #[test]
    fn a_hash_of_a_device_is_kept_and_checked() {
        let kept = "8 $1$abcdefgh$irWbblnpmw.5z7wgBnprh0";
        assert_eq!(stored(kept).unwrap(), kept);
        assert!(verify("test", Some(kept)));
        assert!(!verify("Test", Some(kept)));
    }

    #[test]
    fn what_is_no_hash_lets_nobody_in() {
        for kept in ["8 $1$", "8 $1$x", "8 $9$a$b", "8 ", "", "test", "8 $argon2id$v=19$m=1"] {
            assert!(!verify("test", Some(kept)), "{kept}");
            assert!(!verify("", Some(kept)), "{kept}");
        }
        assert!(!verify("test", None));
        // One that asks for 4 GiB is not even tried.
        let dear =
            "8 $argon2id$v=19$m=4194304,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA";
        assert!(!verify("test", Some(dear)));
    }

    #[test]
    fn eight_is_a_password_too() {
        for clear in ["8", "8 ", "8 x", "8 $", "8 $a b"] {
            assert!(!is_stored(clear), "{clear}");
        }
    }
}

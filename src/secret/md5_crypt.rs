//! MD5-crypt, the hash of passwords in configurations of real devices.
//!
//! `$1$SALT$HASH`, with a salt of at most eight characters. Only for checking: nothing new is
//! hashed this way.

use md5::{Digest as _, Md5};

/// Begins every hash.
const MAGIC: &str = "$1$";

/// The most characters of a salt.
const LONGEST_SALT: usize = 8;

/// How often the digest is stirred.
const ROUNDS: usize = 1000;

/// The digits in which the digest is written, six bits each.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The bytes of the digest in the order in which they are written, three to four digits.
const ORDER: [[usize; 3]; 5] = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]];

/// The byte that is written last, in two digits.
const LAST: usize = 11;

/// Whether a password has that hash.
pub(super) fn verify(password: &str, hash: &str) -> bool {
    let Some((salt, digits)) = hash.strip_prefix(MAGIC).and_then(|rest| rest.split_once('$'))
    else {
        return false;
    };
    if salt.len() > LONGEST_SALT {
        return false;
    }
    let right = written(&digest(password.as_bytes(), salt.as_bytes()));
    // All digits are looked at, so that the time does not tell how many are right.
    right.len() == digits.len()
        && right.bytes().zip(digits.bytes()).fold(0, |wrong, (one, other)| wrong | (one ^ other))
            == 0
}

fn digest(password: &[u8], salt: &[u8]) -> [u8; 16] {
    let inner: [u8; 16] = Md5::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(password)
        .finalize()
        .into();
    let mut outer = Md5::new().chain_update(password).chain_update(MAGIC).chain_update(salt);
    for piece in password.chunks(inner.len()) {
        outer.update(&inner[..piece.len()]);
    }
    let mut length = password.len();
    while length > 0 {
        // The original takes a zero for each bit that is set, and the first byte for the others.
        outer.update(if length & 1 == 1 { &[0] } else { &password[..1] });
        length >>= 1;
    }
    let mut result: [u8; 16] = outer.finalize().into();
    for round in 0..ROUNDS {
        let odd = round % 2 == 1;
        let mut stirred = Md5::new();
        stirred.update(if odd { password } else { &result });
        if round % 3 != 0 {
            stirred.update(salt);
        }
        if round % 7 != 0 {
            stirred.update(password);
        }
        stirred.update(if odd { &result } else { password });
        result = stirred.finalize().into();
    }
    result
}

fn written(digest: &[u8; 16]) -> String {
    let mut text = String::with_capacity(22);
    for [high, middle, low] in ORDER {
        let bytes = [digest[high], digest[middle], digest[low]];
        let value = bytes.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
        push(value, 4, &mut text);
    }
    push(u32::from(digest[LAST]), 2, &mut text);
    text
}

/// Writes so many digits, the lowest bits first.
fn push(mut value: u32, count: usize, text: &mut String) {
    for _ in 0..count {
        text.push(char::from(DIGITS[(value & 63) as usize]));
        value >>= 6;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl passwd -1 -salt SALT PASSWORD`.
    const KNOWN: &[(&str, &str)] = &[
        ("test", "$1$abcdefgh$irWbblnpmw.5z7wgBnprh0"),
        ("", "$1$salt$UsdFqFVB.FsuinRDK5eE.."),
        ("a", "$1$x$P8VObTrxaqT4VBmnH06P8."),
        ("correct horse battery staple", "$1$Cisco12$TZ0xXowNCLYa/FTvvS4dd0"),
        ("0123456789abcdef", "$1$12345678$QzvqVyjsfEisWRspy9tfx1"),
        ("exactly sixteen!x", "$1$a./Z$8Ht31xCJMK5go6ky1bOYw."),
    ];

    #[test]
    fn hashes_of_another_program_are_known() {
        for (password, hash) in KNOWN {
            assert!(verify(password, hash), "{password} {hash}");
            assert!(!verify(&format!("{password}x"), hash), "{password} {hash}");
        }
    }

    #[test]
    fn what_is_no_hash_is_nobodys() {
        for hash in ["", "$1$", "$1$$", "$1$abc", "$1$abcdefghi$irWbblnpmw.5z7wgBnprh0", "$5$a$b"] {
            assert!(!verify("test", hash), "{hash}");
        }
    }
}

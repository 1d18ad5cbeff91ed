//! The check of a directory server: an anonymous bind (RFC 4511 section 4.2).

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::words;

/// Message 1: bind, version 3, no name, no password.
const BIND: &[u8] = b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00";

/// Message 2: unbind, to take leave.
const UNBIND: &[u8] = b"\x30\x05\x02\x01\x02\x42\x00";

/// Tags of BER (RFC 4511 section 5.1).
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const ENUMERATED: u8 = 0x0a;
const BIND_RESPONSE: u8 = 0x61;

/// The most that is read of an answer, bytes.
const MOST: usize = 1024;

/// Binds, and takes leave.
pub(super) async fn bind(stream: &mut TcpStream) -> Result<(), String> {
    stream.write_all(BIND).await.map_err(|error| words(&error))?;
    let mut answer = Vec::new();
    let mut piece = [0; 256];
    let code = loop {
        match result_code(&answer) {
            Ok(Some(code)) => break code,
            Ok(None) if answer.len() < MOST => {}
            Ok(None) | Err(()) => return Err("does not speak LDAP".to_owned()),
        }
        let length = stream.read(&mut piece).await.map_err(|error| words(&error))?;
        if length == 0 {
            return Err("closed before it answered".to_owned());
        }
        answer.extend_from_slice(&piece[..length]);
    };
    let _ = stream.write_all(UNBIND).await;
    if code == 0 { Ok(()) } else { Err(format!("refused the bind with {code}")) }
}

/// The result code of a bind response; `None`: there must be more of it.
fn result_code(answer: &[u8]) -> Result<Option<u8>, ()> {
    let Some(message) = enter(answer, SEQUENCE)? else { return Ok(None) };
    let Some(behind_id) = pass(message, INTEGER)? else { return Ok(None) };
    let Some(response) = enter(behind_id, BIND_RESPONSE)? else { return Ok(None) };
    let Some(code) = enter(response, ENUMERATED)? else { return Ok(None) };
    Ok(code.first().copied())
}

/// What follows the tag and the length.
fn enter(bytes: &[u8], tag: u8) -> Result<Option<&[u8]>, ()> {
    Ok(head(bytes, tag)?.map(|(_, content)| content))
}

/// What follows the whole element.
fn pass(bytes: &[u8], tag: u8) -> Result<Option<&[u8]>, ()> {
    Ok(head(bytes, tag)?.and_then(|(length, content)| content.get(length..)))
}

fn head(bytes: &[u8], tag: u8) -> Result<Option<(usize, &[u8])>, ()> {
    let (first, rest) = match bytes {
        [] => return Ok(None),
        [first, rest @ ..] => (*first, rest),
    };
    if first != tag {
        return Err(());
    }
    Ok(match rest {
        [] => None,
        [short @ 0..=0x7f, content @ ..] => Some((usize::from(*short), content)),
        [count @ 0x81..=0x84, rest @ ..] => {
            rest.split_at_checked(usize::from(count & 0x7f)).map(|(length, content)| {
                let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                (length, content)
            })
        }
        [..] => return Err(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_code_is_found_in_both_forms_of_length() {
        let short = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
        let long = b"\x30\x84\x00\x00\x00\x10\x02\x01\x01\x61\x84\x00\x00\x00\x07\x0a\x01\x31\x04\x00\x04\x00";
        for (answer, code) in [(&short[..], 0), (long, 0x31)] {
            assert_eq!(result_code(answer), Ok(Some(code)));
            let end = answer.iter().position(|byte| *byte == ENUMERATED).unwrap() + 3;
            for length in 0..end - 1 {
                assert_eq!(result_code(&answer[..length]), Ok(None), "{length}");
            }
        }
        assert_eq!(result_code(b"SSH-2.0"), Err(()));
        assert_eq!(result_code(b"\x30\x80"), Err(()), "no indefinite lengths in LDAP");
        assert_eq!(result_code(b"\x30\x84\xff\xff\xff\xff\x02\x84\xff\xff\xff\xff"), Ok(None));
    }
}

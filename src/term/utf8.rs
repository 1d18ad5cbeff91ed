//! Bytes of a terminal to characters, however they are cut into pieces.

use std::collections::VecDeque;

/// Bytes that are no UTF-8 are taken as Latin-1, as in files: nothing is lost by them but, at worst,
/// the line that they stand in.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl Decoder {
    /// Takes bytes; the characters that are whole go to the end of `characters`.
    pub(super) fn take(&mut self, bytes: &[u8], characters: &mut VecDeque<char>) {
        self.partial.extend_from_slice(bytes);
        let mut rest = std::mem::take(&mut self.partial);
        loop {
            match std::str::from_utf8(&rest) {
                Ok(text) => {
                    characters.extend(text.chars());
                    return;
                }
                Err(error) => {
                    let (text, behind) = rest.split_at(error.valid_up_to());
                    characters.extend(String::from_utf8_lossy(text).chars());
                    let Some(length) = error.error_len() else {
                        behind.clone_into(&mut self.partial);
                        return;
                    };
                    characters.extend(behind[..length].iter().map(|byte| latin_1(*byte)));
                    rest = behind[length..].to_vec();
                }
            }
        }
    }
}

/// Control characters of Latin-1 have no place in a line, and some terminals obey them.
fn latin_1(byte: u8) -> char {
    let character = char::from(byte);
    if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut characters = VecDeque::new();
        for piece in pieces {
            decoder.take(piece, &mut characters);
        }
        characters.into_iter().collect()
    }

    #[test]
    fn characters_in_pieces() {
        let text = "K\u{f6}ln \u{20ac} \u{1f600}\r";
        assert_eq!(taken(&[text.as_bytes()]), text);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(taken(&bytes), text);
    }

    #[test]
    fn bytes_that_are_no_text() {
        assert_eq!(taken(&[b"K\xf6ln\r"]), "K\u{f6}ln\r");
        assert_eq!(taken(&[b"\xf6", b"x"]), "\u{f6}x");
        assert_eq!(taken(&[b"\xe2\x82", b"\xe2\x82\xac"]), "\u{e2}\u{fffd}\u{20ac}");
        assert_eq!(taken(&[b"\xff\xfe\x9bA"]), "\u{ff}\u{fe}\u{fffd}A");
        // What has begun waits for its end.
        assert_eq!(taken(&[b"a\xc3"]), "a");
    }
}

//! Bytes of a terminal to keys.
//!
//! Nothing is waited for: a sequence that is not whole yet stays here until its next byte comes, so
//! it does not matter how the bytes were cut into packets.

use std::collections::VecDeque;

/// A key of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character that can stand in a line.
    Char(char),
    /// A letter with the control key, in upper case.
    Control(char),
    /// The end of a line, whichever way it was sent.
    Enter,
    /// Completion.
    Tab,
    /// Backspace, which most terminals send as DEL.
    Backspace,
    /// The key that deletes the character at the cursor.
    Delete,
    /// One character back.
    Left,
    /// One character forward.
    Right,
    /// One line back in the history.
    Up,
    /// One line forward in the history.
    Down,
    /// To the beginning of the line.
    Home,
    /// To the end of the line.
    End,
    /// One word back.
    WordLeft,
    /// One word forward.
    WordRight,
    /// Deletes the word behind the cursor.
    DeleteWordRight,
    /// Deletes the word before the cursor.
    DeleteWordLeft,
    /// A byte that belongs to no character.
    Invalid,
}

impl Key {
    /// The character that the pager knows the key by; none for one that it has no use for.
    pub fn character(self) -> Option<char> {
        match self {
            Key::Char(character) => Some(character),
            Key::Enter => Some('\r'),
            Key::Backspace => Some('\u{8}'),
            Key::Control(letter) => char::from_u32(u32::from(letter) & 0x1f),
            _ => None,
        }
    }
}

/// Takes bytes one at a time.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// Bytes of a character that is not whole.
    partial: Vec<u8>,
    /// Parameters of a sequence; what is beyond the room for them does not count.
    parameters: Vec<u8>,
    /// Whether the last byte was a carriage return, which a line feed or NUL belongs to.
    after_return: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// Behind ESC.
    Escape,
    /// Behind ESC `[`.
    Sequence,
    /// Behind ESC `O`.
    Application,
}

/// The most bytes of parameters that are looked at.
const MOST_PARAMETERS: usize = 16;

const ESCAPE: u8 = 0x1b;

impl Decoder {
    /// Takes a byte; the keys that it completes go to the end of `keys`.
    pub fn push(&mut self, byte: u8, keys: &mut VecDeque<Key>) {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        if after_return && matches!(byte, b'\n' | 0) {
            return;
        }
        if !self.partial.is_empty() {
            self.partial.push(byte);
            match std::str::from_utf8(&self.partial) {
                Ok(text) => {
                    keys.extend(text.chars().filter(|one| !one.is_control()).map(Key::Char));
                    self.partial.clear();
                    return;
                }
                Err(error) if error.error_len().is_none() => return,
                Err(_) => {
                    // The byte is none of that character: it begins something else.
                    self.partial.clear();
                    keys.push_back(Key::Invalid);
                }
            }
        }
        match self.state {
            State::Ground => self.ground(byte, keys),
            State::Escape => self.escape(byte, keys),
            State::Sequence => self.sequence(byte, keys),
            State::Application => {
                self.state = State::Ground;
                match byte {
                    b'A'..=b'H' => keys.extend(cursor_key(byte, false)),
                    0..=0x1f => self.ground(byte, keys),
                    _ => {}
                }
            }
        }
    }

    fn ground(&mut self, byte: u8, keys: &mut VecDeque<Key>) {
        match byte {
            ESCAPE => self.state = State::Escape,
            b'\r' | b'\n' => keys.push_back(Key::Enter),
            b'\t' => keys.push_back(Key::Tab),
            0x08 | 0x7f => keys.push_back(Key::Backspace),
            // The letters of these are what they are typed with.
            1..=0x1a => keys.push_back(Key::Control(char::from(byte | 0x40))),
            0 | 0x1c..=0x1f => {}
            0x20..=0x7e => keys.push_back(Key::Char(char::from(byte))),
            0xc2..=0xf4 => self.partial.push(byte),
            0x80..=0xc1 | 0xf5..=0xff => keys.push_back(Key::Invalid),
        }
    }

    fn escape(&mut self, byte: u8, keys: &mut VecDeque<Key>) {
        self.state = State::Ground;
        match byte {
            b'[' => {
                self.parameters.clear();
                self.state = State::Sequence;
            }
            b'O' => self.state = State::Application,
            ESCAPE => self.state = State::Escape,
            b'b' | b'B' => keys.push_back(Key::WordLeft),
            b'f' | b'F' => keys.push_back(Key::WordRight),
            b'd' | b'D' => keys.push_back(Key::DeleteWordRight),
            0x08 | 0x7f => keys.push_back(Key::DeleteWordLeft),
            // A control key counts wherever it comes; other keys with ESC mean nothing.
            0..=0x1f => self.ground(byte, keys),
            _ => {}
        }
    }

    fn sequence(&mut self, byte: u8, keys: &mut VecDeque<Key>) {
        match byte {
            0x20..=0x3f => {
                if self.parameters.len() < MOST_PARAMETERS {
                    self.parameters.push(byte);
                }
            }
            0x40..=0x7e => {
                self.state = State::Ground;
                let parameters = self.parameters.as_slice();
                let key = match (byte, parameters) {
                    (b'~', b"1" | b"7") => Some(Key::Home),
                    (b'~', b"4" | b"8") => Some(Key::End),
                    (b'~', b"3") => Some(Key::Delete),
                    (b'~', _) => None,
                    _ => cursor_key(byte, matches!(parameters, b"1;3" | b"1;5" | b"5")),
                };
                keys.extend(key);
            }
            _ => {
                // What is no part of a sequence ends it.
                self.state = State::Ground;
                self.ground(byte, keys);
            }
        }
    }
}

/// The key of a sequence with that last byte; with the control key the cursor moves by words.
fn cursor_key(byte: u8, by_word: bool) -> Option<Key> {
    Some(match (byte, by_word) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'F', _) => Key::End,
        (b'H', _) => Key::Home,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = VecDeque::new();
        let mut decoder = Decoder::default();
        for byte in bytes {
            decoder.push(*byte, &mut keys);
        }
        keys.into()
    }

    #[test]
    fn each_way_to_end_a_line_ends_one() {
        for end in ["\r", "\n", "\r\n", "\r\0"] {
            let text = format!("a{end}b{end}");
            let expected = [Key::Char('a'), Key::Enter, Key::Char('b'), Key::Enter];
            assert_eq!(keys(text.as_bytes()), expected, "{end:?}");
        }
        assert_eq!(keys(b"\r\r\n\n"), [Key::Enter; 3]);
    }

    #[test]
    fn characters_and_bytes_that_are_none() {
        assert_eq!(keys("\u{f6}\u{20ac}".as_bytes()), ['\u{f6}', '\u{20ac}'].map(Key::Char));
        assert_eq!(keys(b"\xf6"), [Key::Invalid]);
        assert_eq!(keys(b"\xc3a"), [Key::Invalid, Key::Char('a')]);
        assert_eq!(keys(b"\xe2\x82\r"), [Key::Invalid, Key::Enter]);
        assert_eq!(keys(b"\xff\x80"), [Key::Invalid, Key::Invalid]);
        // A control character of the second row is no text.
        assert_eq!(keys("\u{85}".as_bytes()), []);
    }

    #[test]
    fn sequences() {
        for (bytes, key) in [
            ("\x1b[A", Key::Up),
            ("\x1bOB", Key::Down),
            ("\x1b[1;5C", Key::WordRight),
            ("\x1b[3~", Key::Delete),
            ("\x1b[1~", Key::Home),
            ("\x1bOF", Key::End),
            ("\x1bb", Key::WordLeft),
            ("\x1b\x7f", Key::DeleteWordLeft),
            ("\x01", Key::Control('A')),
            ("\x1a", Key::Control('Z')),
        ] {
            assert_eq!(keys(bytes.as_bytes()), [key], "{bytes:?}");
        }
        // What means nothing leaves nothing behind; what is broken off ends where it breaks.
        assert_eq!(keys(b"\x1b[200~x\x1b[15~"), [Key::Char('x')]);
        assert_eq!(keys(b"\x1b[12\rx"), [Key::Enter, Key::Char('x')]);
        assert_eq!(keys(b"\x1b\x03"), [Key::Control('C')]);
        let long = [b"\x1b[".as_slice(), &[b'1'; 10_000], b"~x"].concat();
        assert_eq!(keys(&long), [Key::Char('x')]);
    }
}

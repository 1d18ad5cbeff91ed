//! Bytes of a terminal to keys; bytes that are no text become what the console makes of them.
//!
//! Nothing is waited for: a sequence that is not whole yet stays here until its next byte comes, so
//! it does not matter how the bytes were cut into packets.

use std::collections::VecDeque;

use super::utf8;

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

/// Takes bytes, however they are cut into pieces.
#[derive(Debug, Default)]
pub struct Decoder {
    text: utf8::Decoder,
    /// Characters that were not looked at.
    characters: VecDeque<char>,
    state: State,
    /// Parameters of a sequence; what is beyond the room for them does not count.
    parameters: String,
    /// Whether the last character was a carriage return, which a line feed or NUL belongs to.
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

const ESCAPE: char = '\u{1b}';
const BACKSPACE: char = '\u{8}';
const DELETE: char = '\u{7f}';

impl Decoder {
    /// Takes bytes; the keys that they complete go to the end of `keys`.
    pub fn push(&mut self, bytes: &[u8], keys: &mut VecDeque<Key>) {
        self.text.take(bytes, &mut self.characters);
        while let Some(character) = self.characters.pop_front() {
            keys.extend(self.key(character));
        }
    }

    fn key(&mut self, character: char) -> Option<Key> {
        let after_return = std::mem::replace(&mut self.after_return, character == '\r');
        if after_return && matches!(character, '\n' | '\0') {
            return None;
        }
        match std::mem::take(&mut self.state) {
            State::Ground => self.ground(character),
            State::Escape => self.escape(character),
            State::Sequence => self.sequence(character),
            State::Application => match character {
                'A'..='H' => cursor_key(character, false),
                '\0'..='\x1f' => self.ground(character),
                _ => None,
            },
        }
    }

    fn ground(&mut self, character: char) -> Option<Key> {
        Some(match character {
            ESCAPE => {
                self.state = State::Escape;
                return None;
            }
            '\r' | '\n' => Key::Enter,
            '\t' => Key::Tab,
            BACKSPACE | DELETE => Key::Backspace,
            // The letters of these are what they are typed with.
            '\u{1}'..='\u{1a}' => {
                Key::Control(char::from_u32(u32::from(character) | 0x40).unwrap_or(character))
            }
            _ if character.is_control() => return None,
            _ => Key::Char(character),
        })
    }

    fn escape(&mut self, character: char) -> Option<Key> {
        Some(match character {
            '[' => {
                self.parameters.clear();
                self.state = State::Sequence;
                return None;
            }
            'O' => {
                self.state = State::Application;
                return None;
            }
            'b' | 'B' => Key::WordLeft,
            'f' | 'F' => Key::WordRight,
            'd' | 'D' => Key::DeleteWordRight,
            BACKSPACE | DELETE => Key::DeleteWordLeft,
            // A control key counts wherever it comes; other keys with ESC mean nothing.
            '\0'..='\x1f' => return self.ground(character),
            _ => return None,
        })
    }

    fn sequence(&mut self, character: char) -> Option<Key> {
        match character {
            ' '..='?' => {
                if self.parameters.len() < MOST_PARAMETERS {
                    self.parameters.push(character);
                }
                self.state = State::Sequence;
                None
            }
            '@'..='~' => match (character, self.parameters.as_str()) {
                ('~', "1" | "7") => Some(Key::Home),
                ('~', "4" | "8") => Some(Key::End),
                ('~', "3") => Some(Key::Delete),
                ('~', _) => None,
                (_, parameters) => cursor_key(character, matches!(parameters, "1;3" | "1;5" | "5")),
            },
            // What is no part of a sequence ends it.
            _ => self.ground(character),
        }
    }
}

/// The key of a sequence with that last character; with the control key the cursor moves by words.
fn cursor_key(last: char, by_word: bool) -> Option<Key> {
    Some(match (last, by_word) {
        ('A', _) => Key::Up,
        ('B', _) => Key::Down,
        ('C', false) => Key::Right,
        ('C', true) => Key::WordRight,
        ('D', false) => Key::Left,
        ('D', true) => Key::WordLeft,
        ('F', _) => Key::End,
        ('H', _) => Key::Home,
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
            decoder.push(&[*byte], &mut keys);
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
        let latin = |text: &str| text.chars().map(Key::Char).collect::<Vec<_>>();
        assert_eq!(keys(b"\xf6x"), latin("\u{f6}x"));
        assert_eq!(keys(b"\xc3a"), latin("\u{c3}a"));
        assert_eq!(keys(b"\xff\x80"), latin("\u{ff}\u{fffd}"));
        assert_eq!(keys(b"\xe2\x82\r").last(), Some(&Key::Enter));
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

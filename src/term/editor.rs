//! The line editor: keys in, a drawn line and what the user wants out.
//!
//! It knows no session and no terminal, so a test gives it keys and looks at what it draws. Its
//! keys are those of the console (base-cli 2.6).

use std::collections::VecDeque;

use super::drawing::Drawing;
use super::keys::Key;
use crate::cli::session::LONGEST_LINE;
use crate::cli::words;

/// Lines that the history holds.
const HISTORY: usize = 20;

/// What a key asks for that the editor cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To run this line.
    Run(String),
    /// The list of what may stand behind this text.
    Help(String),
    /// To complete the last word of this text.
    Complete(String),
    /// Out of the configuration.
    End,
    /// To give up the line.
    Interrupt,
    /// To leave, if this is a place to leave from.
    Leave,
}

/// A line that is being edited, and the ones before it.
#[derive(Debug, Default)]
pub struct Editor {
    /// What stands left of the line.
    prompt: String,
    line: String,
    /// The cursor, in bytes from the beginning of the line.
    place: usize,
    /// How the line is answered to.
    kind: Kind,
    drawing: Drawing,
    history: VecDeque<String>,
    /// The line of the history that is shown; its length for the new one.
    recalled: usize,
    /// The new line while one of the history is shown, and where the cursor was in it.
    left_behind: (String, usize),
    /// What was deleted last.
    deleted: String,
    /// Whether the last key deleted too, so that the next one adds to it.
    deletes: bool,
}

/// What a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A command.
    #[default]
    Command,
    /// The answer to a question, or a line of a text that is being typed.
    Answer,
    /// One that must not be seen.
    Secret,
}

impl Editor {
    /// The terminal has that many columns; 0 if it does not know them itself.
    pub fn set_width(&mut self, columns: usize) {
        self.drawing.set_width(columns);
    }

    /// Draws the line, which may be a new one, behind a prompt.
    pub fn show(&mut self, prompt: &str, kind: Kind, output: &mut String) {
        prompt.clone_into(&mut self.prompt);
        self.kind = kind;
        self.draw(output);
    }

    /// Leaves the line as it stands on the screen, to be [shown](Self::show) again below. It is a
    /// new line from then on, also if it came from the history.
    pub fn leave(&mut self, output: &mut String) {
        self.drawing.finish(output);
        self.recalled = self.history.len();
    }

    /// Leaves the line as it stands on the screen and begins a new one; what was remembered of it and
    /// before it is forgotten.
    pub fn give_up(&mut self, output: &mut String) {
        self.drawing.finish(output);
        let drawing = std::mem::take(&mut self.drawing);
        *self = Editor { drawing, ..Editor::default() };
    }

    /// Takes the line off the screen, to be [shown](Self::show) again.
    pub fn wipe(&mut self, output: &mut String) {
        self.drawing.wipe(output);
    }

    /// Inserts text at the cursor.
    pub fn insert(&mut self, text: &str, output: &mut String) {
        if self.line.len() + text.len() <= LONGEST_LINE {
            self.line.insert_str(self.place, text);
            self.place += text.len();
            self.draw(output);
        }
    }

    /// Takes a key. What it draws goes to the end of `output`; what it cannot do is given back.
    pub fn key(&mut self, key: Key, output: &mut String) -> Option<Wish> {
        let deleted = std::mem::take(&mut self.deletes);
        let before = self.line[..self.place].to_owned();
        match key {
            // Inside an open quote, in an answer and in a text it is an ordinary character (decisions 1.6).
            Key::Char('?') if self.kind == Kind::Command && !words::is_inside_quotes(&before) => {
                self.leave(output);
                return Some(Wish::Help(before));
            }
            Key::Char(character) => {
                self.insert(character.encode_utf8(&mut [0; 4]), output);
                return None;
            }
            Key::Enter | Key::Control('Z' | 'C') => {
                return Some(self.end_line(key, output));
            }
            Key::Tab => return (self.kind == Kind::Command).then_some(Wish::Complete(before)),
            Key::Control('D') if self.line.is_empty() => return Some(Wish::Leave),
            Key::Control('L' | 'R') => {
                self.leave(output);
                self.draw(output);
                return None;
            }
            Key::Left | Key::Control('B') => self.place = self.before(),
            Key::Right | Key::Control('F') => self.place = self.behind(),
            Key::Home | Key::Control('A') => self.place = 0,
            Key::End | Key::Control('E') => self.place = self.line.len(),
            Key::WordLeft => self.place = self.word_before(char::is_alphanumeric),
            Key::WordRight => self.place = self.word_behind(),
            Key::Backspace => self.remove(self.before(), self.place),
            Key::Delete | Key::Control('D') => self.remove(self.place, self.behind()),
            Key::Control('K') => self.delete(self.place, self.line.len(), deleted),
            Key::Control('U' | 'X') => self.delete(0, self.place, deleted),
            Key::Control('W') => {
                let start = self.word_before(|character| !character.is_whitespace());
                self.delete(start, self.place, deleted);
            }
            Key::DeleteWordLeft => {
                self.delete(self.word_before(char::is_alphanumeric), self.place, deleted);
            }
            Key::DeleteWordRight => self.delete(self.place, self.word_behind(), deleted),
            Key::Control('Y') => {
                let text = self.deleted.clone();
                self.insert(&text, output);
                return None;
            }
            Key::Control('T') => self.transpose(),
            Key::Up | Key::Control('P') => self.recall(self.recalled.checked_sub(1)),
            Key::Down | Key::Control('N') => self.recall(Some(self.recalled + 1)),
            Key::Control(_) => {}
        }
        self.draw(output);
        None
    }

    fn end_line(&mut self, key: Key, output: &mut String) -> Wish {
        self.drawing.finish(output);
        let line = std::mem::take(&mut self.line);
        self.place = 0;
        if key == Key::Enter && self.kind == Kind::Command {
            self.remember(&line);
        }
        self.recalled = self.history.len();
        match key {
            Key::Enter => Wish::Run(line),
            Key::Control('Z') => Wish::End,
            _ => Wish::Interrupt,
        }
    }

    fn draw(&mut self, output: &mut String) {
        if self.kind == Kind::Secret {
            self.drawing.draw(&self.prompt, self.prompt.len(), output);
        } else {
            let shown = format!("{}{}", self.prompt, self.line);
            self.drawing.draw(&shown, self.prompt.len() + self.place, output);
        }
    }

    /// The place one character before the cursor.
    fn before(&self) -> usize {
        let before = &self.line[..self.place];
        before.char_indices().next_back().map_or(0, |(place, _)| place)
    }

    /// The place one character behind the cursor.
    fn behind(&self) -> usize {
        self.line[self.place..].chars().next().map_or(self.place, |one| self.place + one.len_utf8())
    }

    /// The beginning of the word before the cursor; `is_part` tells what words are made of.
    fn word_before(&self, is_part: impl Fn(char) -> bool) -> usize {
        let before = &self.line[..self.place];
        let end = before.trim_end_matches(|one| !is_part(one));
        end.trim_end_matches(is_part).len()
    }

    /// The end of the word behind the cursor.
    fn word_behind(&self) -> usize {
        let behind = &self.line[self.place..];
        let start = behind.trim_start_matches(|one: char| !one.is_alphanumeric());
        self.line.len() - start.trim_start_matches(char::is_alphanumeric).len()
    }

    fn remove(&mut self, start: usize, end: usize) {
        self.line.replace_range(start..end, "");
        self.place = start;
    }

    /// Deletes a range, to be had again.
    fn delete(&mut self, start: usize, end: usize, adds: bool) {
        let text = &self.line[start..end];
        if !adds {
            text.clone_into(&mut self.deleted);
        } else if start < self.place {
            self.deleted.insert_str(0, text);
        } else {
            self.deleted.push_str(text);
        }
        // What is deleted again and again does not grow beyond what fits into a line.
        let mut most = self.deleted.len().min(LONGEST_LINE);
        while !self.deleted.is_char_boundary(most) {
            most -= 1;
        }
        self.deleted.truncate(most);
        self.remove(start, end);
        self.deletes = true;
    }

    /// Exchanges the two characters around the cursor; at the end of the line the last two.
    fn transpose(&mut self) {
        if self.place == self.line.len() {
            self.place = self.before();
        }
        let (start, end) = (self.before(), self.behind());
        if start < self.place && self.place < end {
            let first = self.line[start..self.place].to_owned();
            let second = self.line[self.place..end].to_owned();
            self.line.replace_range(start..end, &format!("{second}{first}"));
        }
        self.place = end;
    }

    fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || self.history.back().is_some_and(|last| last == line) {
            return;
        }
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(line.to_owned());
    }

    /// Shows that line of the history; the one behind the last is the line that was left.
    fn recall(&mut self, wanted: Option<usize>) {
        let Some(wanted) = wanted.filter(|wanted| *wanted <= self.history.len()) else { return };
        if self.kind == Kind::Secret {
            return;
        }
        if self.recalled == self.history.len() {
            self.left_behind = (self.line.clone(), self.place);
        }
        (self.line, self.place) = match self.history.get(wanted) {
            Some(line) => (line.clone(), line.len()),
            None => std::mem::take(&mut self.left_behind),
        };
        self.recalled = wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::keys::Decoder;

    /// What the editor says to these bytes, the last thing it wants last, and the line that stays.
    fn typed(bytes: &str) -> (Vec<Wish>, String) {
        let mut editor = Editor::default();
        let mut output = String::new();
        editor.show("#", Kind::Command, &mut output);
        let mut keys = VecDeque::new();
        let mut decoder = Decoder::default();
        decoder.push(bytes.as_bytes(), &mut keys);
        let mut wishes = Vec::new();
        for key in keys {
            if let Some(wish) = editor.key(key, &mut output) {
                if matches!(wish, Wish::Run(_)) {
                    editor.show("#", Kind::Command, &mut output);
                }
                wishes.push(wish);
            }
        }
        (wishes, editor.line)
    }

    fn line(bytes: &str) -> String {
        typed(bytes).1
    }

    #[test]
    fn keys_that_move_and_delete() {
        for (bytes, expected) in [
            ("abc\x7f", "ab"),
            ("abc\x01x", "xabc"),
            ("abc\x02\x02x\x05y", "axbcy"),
            ("abc\x01\x06x", "axbc"),
            ("abc\x1b[D\x1b[3~", "ab"),
            ("abc\x01\x04", "bc"),
            ("ab cd\x02\x02\x0b", "ab "),
            ("ab cd\x02\x15", "d"),
            ("ab cd\x18", ""),
            ("ab c-d\x17", "ab "),
            ("ab c-d\x1b\x7f", "ab c-"),
            ("ab cd\x1bb\x1bbx", "xab cd"),
            ("ab cd\x01\x1bfx", "abx cd"),
            ("ab cd\x01\x1bd", " cd"),
            ("ab cd\x17\x17\x19\x19", "ab cdab cd"),
            ("ab\x14", "ba"),
            ("abc\x02\x14", "acb"),
            ("\x14\x7f\x17\x19\x1b[D\x1b[C", ""),
            ("\u{f6}\u{20ac}\x02\x7fx", "x\u{20ac}"),
        ] {
            assert_eq!(line(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn history() {
        let (up, down) = ("\x1b[A", "\x1b[B");
        assert_eq!(line(&format!("one\rtwo\r{up}{up}{up}")), "one");
        assert_eq!(line(&format!("one\rone\r  \rtwo\r\x10\x10\x10{down}")), "two");
        assert_eq!(line(&format!("one\rhalf{up}{down}{down}")), "half");
        let many = (1..=25).fold(String::new(), |many, number| format!("{many}{number}\r"));
        assert_eq!(line(&format!("{many}{}", up.repeat(40))), "6");
    }

    #[test]
    fn wishes() {
        let (wishes, line) = typed("show ?");
        assert_eq!((wishes, line.as_str()), (vec![Wish::Help("show ".to_owned())], "show "));
        let (wishes, line) = typed("host \"a?\"?");
        assert_eq!(wishes, [Wish::Help("host \"a?\"".to_owned())]);
        assert_eq!(line, "host \"a?\"");
        assert_eq!(typed("sh\x02\t").0, [Wish::Complete("s".to_owned())]);
        assert_eq!(typed("\x04x\x04\x03\x1a").0, [Wish::Leave, Wish::Interrupt, Wish::End]);
    }

    #[test]
    fn a_secret_is_neither_shown_nor_remembered() {
        let mut editor = Editor::default();
        let mut output = String::new();
        editor.show("Password:", Kind::Secret, &mut output);
        for character in "let me?".chars() {
            assert_eq!(editor.key(Key::Char(character), &mut output), None);
        }
        assert_eq!(editor.key(Key::Enter, &mut output), Some(Wish::Run("let me?".to_owned())));
        assert_eq!(output, "Password:\r\n");
        editor.show("#", Kind::Command, &mut output);
        editor.key(Key::Up, &mut output);
        assert_eq!(editor.line, "");
    }

    #[test]
    fn a_line_does_not_grow_without_bound() {
        let long = line(&"x".repeat(LONGEST_LINE + 10));
        assert_eq!(long.len(), LONGEST_LINE);
        assert_eq!(line(&format!("{}\x15\x19\x19\x19", "x".repeat(3000))).len(), 3000);
    }
}

//! What an edited line looks like on a terminal that only its bytes are known of.
//!
//! Only what has changed is written, with backspaces and blanks as the device does it: programs
//! read what they typed back as it stands, and nothing is in it that only a terminal understands.
//! Where a line goes over several rows of a terminal whose width is known, the cursor moves between
//! them with control sequences; there is no other way.

use unicode_width::UnicodeWidthStr;

/// The narrowest terminal that rows are reckoned for; what claims to be narrower is not believed.
const NARROWEST: usize = 8;

/// A line on the screen.
#[derive(Debug, Default)]
pub struct Drawing {
    /// Columns of the terminal; `None` if it has not told them.
    width: Option<usize>,
    /// What stands there.
    shown: String,
    /// Where the cursor is, in cells from the beginning of the line.
    cursor: usize,
    /// Whether the cursor waits behind the last column: terminals go to the next row only when
    /// something is written there.
    waits: bool,
}

impl Drawing {
    /// The terminal has that many columns; 0 if it does not know them itself.
    pub fn set_width(&mut self, columns: usize) {
        self.width = (columns >= NARROWEST).then_some(columns);
    }

    /// Makes the line read `line` with the cursor before the byte `place`.
    pub fn draw(&mut self, line: &str, place: usize, output: &mut String) {
        let common = common_beginning(&self.shown, line);
        let (old, new) = (cells(&self.shown[common..]), &line[common..]);
        if !new.is_empty() || old > 0 {
            self.move_to(cells(&line[..common]), output);
            self.write(new, output);
            let surplus = old.saturating_sub(cells(new));
            self.write(&" ".repeat(surplus), output);
        }
        line.clone_into(&mut self.shown);
        self.move_to(cells(line.get(..place).unwrap_or(line)), output);
    }

    /// Leaves the line as it is and begins another one below it.
    pub fn finish(&mut self, output: &mut String) {
        let end = cells(&self.shown);
        if self.cursor != end {
            self.move_to(end, output);
        }
        output.push_str("\r\n");
        self.forget();
    }

    /// Takes the line off the screen; the cursor stands where it began.
    pub fn wipe(&mut self, output: &mut String) {
        let length = cells(&self.shown);
        if self.width.is_none_or(|width| length < width) {
            self.move_to(0, output);
            output.push_str(&" ".repeat(length));
            output.push_str(&"\u{8}".repeat(length));
        } else {
            self.move_to(0, output);
            output.push_str("\u{1b}[J");
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.shown.clear();
        self.cursor = 0;
        self.waits = false;
    }

    fn write(&mut self, text: &str, output: &mut String) {
        let written = cells(text);
        if written == 0 {
            output.push_str(text);
            return;
        }
        output.push_str(text);
        self.cursor += written;
        self.waits = self.width.is_some_and(|width| self.cursor.is_multiple_of(width));
    }

    fn move_to(&mut self, target: usize, output: &mut String) {
        if target == self.cursor {
            return;
        }
        if std::mem::take(&mut self.waits) {
            // Onto the next row, whichever way the terminal treats its last column.
            output.push_str(" \u{8}");
        }
        let (row, column) = self.place(self.cursor);
        let (target_row, target_column) = self.place(target);
        if row == target_row {
            if target < self.cursor {
                output.push_str(&"\u{8}".repeat(self.cursor - target));
            } else {
                // Forward over what stands there, by writing it again.
                output.push_str(between(&self.shown, self.cursor, target));
            }
        } else {
            let (rows, direction) =
                if target_row < row { (row - target_row, 'A') } else { (target_row - row, 'B') };
            if column > 0 {
                output.push('\r');
            }
            push_sequence(output, rows, direction);
            if target_column > 0 {
                push_sequence(output, target_column, 'C');
            }
        }
        self.cursor = target;
    }

    fn place(&self, cursor: usize) -> (usize, usize) {
        match self.width {
            None => (0, cursor),
            Some(width) => (cursor / width, cursor % width),
        }
    }
}

fn push_sequence(output: &mut String, count: usize, direction: char) {
    output.push_str("\u{1b}[");
    if count > 1 {
        output.push_str(&count.to_string());
    }
    output.push(direction);
}

/// The cells that a text takes.
fn cells(text: &str) -> usize {
    text.width()
}

/// The bytes with which both begin: whole characters, with all that combines with them.
fn common_beginning(one: &str, other: &str) -> usize {
    let pairs = one.char_indices().zip(other.chars());
    let mut common = pairs
        .take_while(|((_, a), b)| a == b)
        .last()
        .map_or(0, |((place, character), _)| place + character.len_utf8());
    let combines = |text: &str, place: usize| {
        let next = text[place..].chars().next();
        next.is_some_and(|next| next.len_utf8() > 1 && cells(next.encode_utf8(&mut [0; 4])) == 0)
    };
    while common > 0 && (combines(one, common) || combines(other, common)) {
        common -= one[..common].chars().next_back().map_or(1, char::len_utf8);
    }
    common
}

/// The characters in a range of cells.
fn between(text: &str, from: usize, to: usize) -> &str {
    let mut place = 0;
    let (mut start, mut end) = (text.len(), text.len());
    for (byte, character) in text.char_indices() {
        if place >= from && start == text.len() {
            start = byte;
        }
        if place >= to {
            end = byte;
            break;
        }
        place += cells(character.encode_utf8(&mut [0; 4]));
    }
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(drawing: &mut Drawing, line: &str, place: usize) -> String {
        let mut output = String::new();
        drawing.draw(line, place, &mut output);
        output
    }

    #[test]
    fn only_the_change_is_written() {
        let mut drawing = Drawing::default();
        assert_eq!(drawn(&mut drawing, "#", 1), "#");
        assert_eq!(drawn(&mut drawing, "#ab", 3), "ab");
        assert_eq!(drawn(&mut drawing, "#a", 2), "\u{8} \u{8}");
        assert_eq!(drawn(&mut drawing, "#abc", 2), "bc\u{8}\u{8}");
        assert_eq!(drawn(&mut drawing, "#axbc", 3), "xbc\u{8}\u{8}");
        assert_eq!(drawn(&mut drawing, "#axbc", 5), "bc");
        assert_eq!(drawn(&mut drawing, "#axbc", 5), "");
        let mut output = String::new();
        drawing.finish(&mut output);
        assert_eq!(output, "\r\n");
    }

    #[test]
    fn what_combines_stays_with_its_letter() {
        let mut drawing = Drawing::default();
        drawn(&mut drawing, "e", 1);
        assert_eq!(drawn(&mut drawing, "e\u{301}", 3), "\u{8}e\u{301}");
    }

    /// Whatever is drawn, a terminal shows the line, and its cursor stands where it should.
    #[test]
    fn a_terminal_shows_what_was_drawn() {
        let mut random = fastrand::Rng::with_seed(7);
        for width in [None, Some(8), Some(10), Some(17), Some(80)] {
            let columns = u16::try_from(width.unwrap_or(100)).unwrap();
            let size = |number| std::num::NonZeroU16::new(number).unwrap();
            let mut parser = vt100::Parser::new(size(60), size(columns), 0);
            let mut drawing = Drawing::default();
            drawing.set_width(width.unwrap_or(0));
            let mut line = String::from("#");
            for _ in 0..2_000 {
                let at = random.usize(1..=line.len());
                match random.u8(..3) {
                    0 if line.len() > 60 => line.truncate(1),
                    0 | 1 => line.insert(at, random.alphanumeric()),
                    _ if line.len() > 1 => drop(line.pop()),
                    _ => {}
                }
                let place = random.usize(1..=line.len());
                let output = drawn(&mut drawing, &line, place);
                parser.process(output.as_bytes());
                let screen = parser.screen();
                let (row, column) = screen.cursor_position();
                let rows: String = screen.rows(0, columns).collect();
                assert_eq!(rows.trim_end(), line, "{width:?}");
                // A cursor that waits behind the last column is told to stand there.
                let cell = usize::from(row) * usize::from(columns) + usize::from(column);
                assert_eq!(cell, place, "{width:?} {line}");
            }
            let mut output = String::new();
            drawing.wipe(&mut output);
            parser.process(output.as_bytes());
            assert_eq!(parser.screen().contents().trim(), "");
            assert_eq!(parser.screen().cursor_position(), (0, 0));
        }
    }
}

//! Texts over several lines between delimiters: banners (base-cli 1.5).
//!
//! Typed, a text begins with a character of the user's choice and ends where that comes again.
//! Saved, the delimiter is written `^C`, every line of the text ends with it, and one stands alone
//! on the last line. Both are read; the text is kept and printed in the saved form.

use crate::grammar::value::Value;

/// The delimiter of saved files: how Control-C is written.
const CARET: &str = "^C";

/// The most lines of one text; a device's banner is far shorter.
pub const MOST_LINES: usize = 200;

/// A text that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    delimiter: Box<str>,
    lines: Vec<String>,
    closed: bool,
    /// A delimiter stood alone: the end, or an empty line of the saved form if more follows.
    empty_line_waits: bool,
}

impl Text {
    /// Begins with what stands behind the words of the command.
    pub fn open(first: &str) -> Option<Self> {
        let delimiter = delimiter(first)?;
        let mut text = Text {
            delimiter: delimiter.into(),
            lines: Vec::new(),
            closed: false,
            empty_line_waits: false,
        };
        // A text may begin, and end, on the line of the command.
        let rest = &first[delimiter.len()..];
        let is_kept = rest.contains('\n');
        if is_kept {
            for line in rest.split('\n').skip(1) {
                text.add(line);
            }
        } else if !rest.trim().is_empty() {
            text.add(rest);
        }
        Some(text)
    }

    /// Takes the next line.
    pub fn add(&mut self, line: &str) {
        let line = line.trim_end();
        if std::mem::take(&mut self.empty_line_waits) {
            self.lines.push(String::new());
        }
        match self.text_before_delimiter(line) {
            Some("") => {
                self.closed = true;
                self.empty_line_waits = true;
            }
            Some(text) => {
                let text = text.to_owned();
                self.lines.push(text);
                self.closed = true;
            }
            None => self.lines.push(line.to_owned()),
        }
    }

    /// What ends it.
    pub fn delimiter(&self) -> &str {
        &self.delimiter
    }

    /// Whether the end has been read.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a line that follows the end belongs to the text all the same: in the saved form
    /// every line ends with the delimiter.
    pub fn goes_on_with(&self, line: &str) -> bool {
        *self.delimiter == *CARET
            && self.lines.len() < MOST_LINES
            && line.trim_end().ends_with(CARET)
    }

    /// The text in the saved form, from the first delimiter to the last.
    pub fn saved_form(&self) -> String {
        let mut out = format!("{CARET}\n");
        for line in &self.lines {
            out.push_str(line);
            out.push_str(CARET);
            out.push('\n');
        }
        out.push_str(CARET);
        out
    }

    fn text_before_delimiter<'a>(&self, line: &'a str) -> Option<&'a str> {
        let text = if *self.delimiter == *CARET {
            line.strip_suffix(CARET)
        } else {
            // What stands behind the delimiter is dropped, as when it is typed.
            line.find(&*self.delimiter).map(|end| &line[..end])
        };
        // No blank stays before the delimiter: so a line of a text never looks like the first line
        // of another.
        text.map(str::trim_end)
    }
}

/// The lines of a text in the saved form, each with a line break behind it.
pub fn plain(saved: &str) -> String {
    let lines = Text::open(saved).map(|text| text.lines).unwrap_or_default();
    lines.into_iter().fold(String::new(), |out, line| out + &line + "\n")
}

/// Whether a value is the first line of a text in the saved form.
pub fn opens_saved_form(first: &Value) -> bool {
    matches!(first, Value::Text(text) if **text == *CARET)
}

/// The delimiter that a text begins with: `^C`, or a character that is neither a letter nor a digit.
pub fn delimiter(first: &str) -> Option<&str> {
    if first.starts_with(CARET) {
        return Some(CARET);
    }
    let one = first.chars().next()?;
    let usable = !one.is_alphanumeric() && !one.is_whitespace() && !one.is_control();
    usable.then(|| &first[..one.len_utf8()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Text {
        let mut text = Text::open(lines[0]).unwrap();
        for line in &lines[1..] {
            assert!(!text.is_closed() || text.goes_on_with(line), "{line} is behind the end");
            text.add(line);
        }
        text
    }

    #[test]
    fn the_forms_in_which_a_text_comes() {
        let saved = "^C\nAuthorised users only^C\n^C\nno one else^C\n^C";
        for lines in [
            &["^C", "Authorised users only^C", "^C", "no one else^C", "^C"][..],
            &["$", "Authorised users only", "", "no one else", "$ dropped"],
            &["#Authorised users only", "", "no one else#"],
            &["^C", "Authorised users only", "", "no one else", "^C"],
        ] {
            let text = read(lines);
            assert!(text.is_closed());
            assert_eq!(text.saved_form(), saved, "{lines:?}");
        }
        assert_eq!(read(&["$one line$"]).saved_form(), "^C\none line^C\n^C");
        assert_eq!(read(&["$$"]).saved_form(), "^C\n^C");
    }

    #[test]
    fn the_saved_form_reads_back_to_itself() {
        for saved in ["^C\n^C", "^C\na^C\n^C\n^C", "^C\na^Cb^C\n^C"] {
            assert_eq!(Text::open(saved).unwrap().saved_form(), saved);
            let lines: Vec<&str> = saved.lines().collect();
            assert_eq!(read(&lines).saved_form(), saved);
        }
    }

    #[test]
    fn letters_are_no_delimiters() {
        assert_eq!(Text::open("require-enter-key"), None);
        assert_eq!(Text::open(""), None);
        assert!(Text::open("§ a §").unwrap().is_closed());
        assert!(!Text::open("^C").unwrap().is_closed());
        assert!(!Text::open("$").unwrap().goes_on_with("a$"));
    }
}

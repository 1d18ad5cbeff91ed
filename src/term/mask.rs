//! What is typed at a question for a password is not shown.

use std::borrow::Cow;
use std::cell::Cell;

use rustyline::highlight::{CmdKind, Highlighter};

/// Shows blanks in place of what is typed while it is on.
#[derive(Debug, Default)]
pub(super) struct Mask {
    /// Whether the line is hidden.
    pub(super) on: Cell<bool>,
}

impl Highlighter for Mask {
    fn highlight<'l>(&self, line: &'l str, _position: usize) -> Cow<'l, str> {
        if self.on.get() {
            Cow::Owned(" ".repeat(line.chars().count()))
        } else {
            Cow::Borrowed(line)
        }
    }

    fn highlight_char(&self, _line: &str, _position: usize, _kind: CmdKind) -> bool {
        self.on.get()
    }
}

//! The text of a report while it is written, line by line.

use super::table::Block;

/// A report in the making. Every line ends with `\n` and no line with a blank.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// Adds a line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    /// Adds a line behind `indent` blanks.
    pub(super) fn indented(&mut self, indent: usize, line: &str) {
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n(' ', indent));
        }
        self.line(line);
    }

    /// Adds all lines of a block behind `indent` blanks.
    pub(super) fn block(&mut self, indent: usize, block: &Block) {
        for line in block.lines() {
            self.indented(indent, line);
        }
    }

    /// Begins a new part: an empty line, unless nothing stands before it.
    pub(super) fn part(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// The finished text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_one_empty_line_between_and_no_line_ends_with_a_blank() {
        let mut page = Page::default();
        page.part();
        page.line("one ");
        page.part();
        page.indented(2, "two");
        page.indented(2, "");
        assert_eq!(page.finish(), "one\n\n  two\n\n");
    }
}

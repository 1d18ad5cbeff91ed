//! Output one page at a time: `--More--` and its keys (base-cli 2.4, 2.5).
//!
//! A pure machine: a text and keys in, what appears out. A console, a session file and a remote
//! login differ only in where the keys come from and in how they write a line break; here it is
//! `\n`.

use std::ops::Deref;

use crate::cli::filter::{Filter, OutputFilter};
use crate::grammar::Grammar;
use crate::grammar::link::Message;

/// The lines of a page if nothing else is said.
pub const DEFAULT_LENGTH: usize = 24;

/// The longest pattern that is typed at the prompt of the pager, in characters.
const LONGEST_PATTERN: usize = 256;

/// Control-C.
const INTERRUPT: char = '\u{3}';
/// Backspace.
const BACKSPACE: char = '\u{8}';
/// Delete, which most terminals send for the backspace key.
const DELETE: char = '\u{7f}';

/// A text that waits at `--More--`.
#[derive(Debug)]
pub struct Pager<G> {
    /// Borrowed, or shared by a session that waits on its own.
    grammar: G,
    /// What is not shown yet; every line of it ends with a line break.
    rest: String,
    /// The lines that one page adds: two less than the screen has, for the last line of the page
    /// before stays in sight and the prompt needs one.
    step: usize,
    state: State,
    /// Whether the last key was a carriage return, whose line feed counts as the same key.
    after_return: bool,
}

#[derive(Debug)]
enum State {
    /// The prompt stands there.
    Waiting,
    /// A pattern is being typed.
    Typing(Filter, String),
    /// Everything is shown, or the user has seen enough.
    Over,
}

impl<G: Deref<Target = Grammar>> Pager<G> {
    /// Begins to show a text on a screen of `length` lines. Gives what appears at once, and the
    /// pager if it stops there.
    pub fn start(grammar: G, text: &str, length: usize) -> (String, Option<Self>) {
        let first = length.saturating_sub(1).max(1);
        let (page, rest) = text.split_at(end_of_lines(text, first));
        if rest.is_empty() {
            return (text.to_owned(), None);
        }
        let mut rest = rest.to_owned();
        if !rest.ends_with('\n') {
            rest.push('\n');
        }
        let step = length.saturating_sub(2).max(1);
        let mut pager = Pager { grammar, rest, step, state: State::Waiting, after_return: false };
        let mut shown = page.to_owned();
        pager.ask(&mut shown);
        (shown, Some(pager))
    }

    /// Whether nothing more will appear.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Takes a key; gives what appears.
    pub fn key(&mut self, key: char) -> String {
        let after_return = std::mem::replace(&mut self.after_return, key == '\r');
        // Carriage return and line feed, or carriage return and NUL, are one key.
        if after_return && matches!(key, '\n' | '\0') {
            return String::new();
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting => self.answer(key),
            State::Typing(filter, pattern) => self.type_pattern(filter, pattern, key),
            State::Over => String::new(),
        }
    }

    fn answer(&mut self, key: char) -> String {
        let mut shown = String::new();
        match key {
            ' ' => {
                self.wipe(&mut shown);
                self.show(self.step, &mut shown);
            }
            '\r' | '\n' => {
                self.wipe(&mut shown);
                self.show(1, &mut shown);
            }
            INTERRUPT | 'q' | 'Q' => self.wipe(&mut shown),
            '/' | '+' | '-' => {
                let filter = match key {
                    '/' => Filter::Begin,
                    '+' => Filter::Include,
                    _ => Filter::Exclude,
                };
                self.wipe(&mut shown);
                shown.push(key);
                self.state = State::Typing(filter, String::new());
            }
            _ => self.state = State::Waiting,
        }
        shown
    }

    fn type_pattern(&mut self, filter: Filter, mut pattern: String, key: char) -> String {
        let mut shown = String::new();
        match key {
            '\r' | '\n' => {
                shown.push('\n');
                self.filter(filter, &pattern, &mut shown);
                return shown;
            }
            INTERRUPT => {
                shown.push('\n');
                return shown;
            }
            BACKSPACE | DELETE => {
                if pattern.pop().is_some() {
                    shown.push_str("\u{8} \u{8}");
                } else {
                    // Behind the first character there is nothing left of the search.
                    shown.push_str("\u{8} \u{8}");
                    self.ask(&mut shown);
                    return shown;
                }
            }
            key if key.is_control() => {}
            key => {
                if pattern.chars().count() < LONGEST_PATTERN {
                    pattern.push(key);
                    shown.push(key);
                }
            }
        }
        self.state = State::Typing(filter, pattern);
        shown
    }

    /// Goes on with those lines of the rest that pass.
    fn filter(&mut self, filter: Filter, pattern: &str, shown: &mut String) {
        if pattern.is_empty() {
            self.ask(shown);
            return;
        }
        let Some(output_filter) = OutputFilter::new(filter, pattern) else {
            shown.push_str(&self.grammar.message(Message::BadPattern, &[("pattern", pattern)]));
            self.ask(shown);
            return;
        };
        let word = match filter {
            Filter::Begin => Message::Searching,
            Filter::Include | Filter::Exclude => Message::Filtering,
        };
        shown.push_str(&self.grammar.message(word, &[]));
        self.rest = output_filter.apply(&self.rest);
        self.show(self.step, shown);
    }

    /// Shows that many lines more, and the prompt if there are others.
    fn show(&mut self, lines: usize, shown: &mut String) {
        let end = end_of_lines(&self.rest, lines);
        shown.push_str(&self.rest[..end]);
        self.rest.drain(..end);
        if !self.rest.is_empty() {
            self.ask(shown);
        }
    }

    fn ask(&mut self, shown: &mut String) {
        shown.push_str(self.grammar.phrase(Message::More));
        self.state = State::Waiting;
    }

    /// Takes the prompt off the screen as the device does, which client programs rely on.
    fn wipe(&self, shown: &mut String) {
        shown.push_str(&wipe_of(self.grammar.phrase(Message::More)));
    }
}

/// What takes a text off the line behind which the cursor stands: backspaces, blanks, backspaces.
pub fn wipe_of(text: &str) -> String {
    let width = text.chars().count();
    let back = "\u{8}".repeat(width);
    format!("{back}{}{back}", " ".repeat(width))
}

/// The place behind the first `count` lines.
fn end_of_lines(text: &str, count: usize) -> usize {
    let breaks = text.match_indices('\n');
    breaks.map(|(place, _)| place + 1).nth(count.saturating_sub(1)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MORE: &str = "--More--, next page: Space, next line: Return key, quit: Control-c";

    fn lines(from: usize, to: usize) -> String {
        (from..=to).fold(String::new(), |text, number| format!("{text}line {number}\n"))
    }

    /// A text of so many lines on a screen of 24, and the keys.
    fn played(count: usize, keys: &str) -> (String, bool) {
        let grammar = Grammar::built_in().unwrap();
        let (mut shown, pager) = Pager::start(&grammar, &lines(1, count), DEFAULT_LENGTH);
        let Some(mut pager) = pager else { return (shown, true) };
        for key in keys.chars() {
            shown.push_str(&pager.key(key));
        }
        (shown, pager.is_over())
    }

    #[test]
    fn what_fits_is_shown_at_once() {
        assert_eq!(played(23, ""), (lines(1, 23), true));
        assert_eq!(played(0, ""), (String::new(), true));
    }

    #[test]
    fn a_page_a_line_and_an_end() {
        let wipe = wipe_of(MORE);
        assert_eq!(played(24, ""), (format!("{}{MORE}", lines(1, 23)), false));
        let expected = format!(
            "{}{MORE}{wipe}{}{MORE}{wipe}line 46\n{MORE}{wipe}",
            lines(1, 23),
            lines(24, 45)
        );
        for quit in ["\u{3}", "q", "Q"] {
            assert_eq!(played(100, &format!(" \r{quit}")), (expected.clone(), true));
        }
        // Blank and Enter together, as some programs send them, and both halves of an Enter.
        assert_eq!(played(100, " \r\nxq"), (expected.clone(), true));
        assert_eq!(played(100, " \r\0q "), (expected, true));
        let all = format!("{}{MORE}{wipe}line 24\n", lines(1, 23));
        assert_eq!(played(24, " "), (all.clone(), true));
        assert_eq!(played(24, "\n"), (all, true));
    }

    #[test]
    fn the_rest_is_searched_and_filtered() {
        let wipe = wipe_of(MORE);
        let head = format!("{}{MORE}{wipe}", lines(1, 23));
        let tail = lines(38, 59);
        assert_eq!(
            played(100, "/e 38\r"),
            (format!("{head}/e 38\nsearching...\n{tail}{MORE}"), false)
        );
        assert_eq!(
            played(40, "+[0-9]1$\r"),
            (format!("{head}+[0-9]1$\nfiltering...\nline 31\n"), true)
        );
        let most = lines(30, 40);
        assert_eq!(played(40, "-line 2\r"), (format!("{head}-line 2\nfiltering...\n{most}"), true));
    }

    #[test]
    fn a_pattern_is_corrected_refused_and_given_up() {
        let wipe = wipe_of(MORE);
        let head = format!("{}{MORE}{wipe}", lines(1, 23));
        let erase = "\u{8} \u{8}";
        assert_eq!(
            played(30, "+x\u{7f}30\r"),
            (format!("{head}+x{erase}30\nfiltering...\nline 30\n"), true)
        );
        assert_eq!(played(30, "/\u{8}q"), (format!("{head}/{erase}{MORE}{wipe}"), true));
        assert_eq!(played(30, "/\rq"), (format!("{head}/\n{MORE}{wipe}"), true));
        assert_eq!(played(30, "/ab\u{3}"), (format!("{head}/ab\n"), true));
        let error = "Error - ( is no regular expression\n";
        assert_eq!(played(30, "/(\rq"), (format!("{head}/(\n{error}{MORE}{wipe}"), true));
        let long = "x".repeat(1000);
        let kept = "x".repeat(LONGEST_PATTERN);
        assert_eq!(
            played(30, &format!("+{long}\r")),
            (format!("{head}+{kept}\nfiltering...\n"), true)
        );
    }

    #[test]
    fn small_screens_go_on_too() {
        let grammar = Grammar::built_in().unwrap();
        for length in [0, 1, 2, 3] {
            let (mut shown, pager) = Pager::start(&grammar, "a\nb\nc\nd", length);
            let mut pager = pager.unwrap();
            for _ in 0..4 {
                shown.push_str(&pager.key(' '));
            }
            assert!(pager.is_over());
            assert!(shown.ends_with("d\n"), "the last line ends too");
        }
    }
}

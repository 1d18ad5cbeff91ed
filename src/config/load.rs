//! A file of lines to the statement tree.
//!
//! All or nothing for a line, never for a file: a bad value is put aside with its reason, a line
//! that no stanza knows is kept verbatim in its place, and the others count. A file begins at the
//! level of the root mode, and a line that begins with `!` returns to it (base-cli 1.4).

use crate::cli::matcher::{self, Hit, Stop, Why};
use crate::cli::words;
use crate::config::edit::{Editor, Outcome, Place, Refusal, Trees, password_in_clear};
use crate::config::tree::{Opaque, Statement, Values, key_of};
use crate::grammar::link::Message;
use crate::grammar::trie::NodeId;
use crate::grammar::{CommandId, Grammar, ModeId, Verb};

/// What became of a file.
#[derive(Debug, Default)]
pub struct Report {
    /// Lines that were put aside.
    pub rejected: Vec<Rejected>,
    /// Lines that the grammar does not know and that were kept as they are.
    pub opaque: Vec<usize>,
    /// Lines that became statements.
    pub accepted: usize,
    /// Statements of the emulated world that were kept or removed, in order.
    pub world: Vec<(bool, Statement)>,
    /// Lines that held a password in clear, with their numbers, as they are kept.
    pub sealed: Vec<(usize, String)>,
}

/// A line that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its number, from 1.
    pub line: usize,
    /// The line without its indent.
    pub text: String,
    /// Column of the first word that does not fit, in characters, from 1.
    pub column: usize,
    /// What the device would say.
    pub reason: String,
}

/// The most passwords in clear that one file may hold.
const MOST_PASSWORDS: usize = 64;

impl Report {
    /// The text of the file with every password in clear replaced by the form in which it is kept.
    pub fn without_passwords(&self, text: String) -> String {
        if self.sealed.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut sealed = self.sealed.iter().peekable();
        for (index, line) in text.lines().enumerate() {
            match sealed.next_if(|(number, _)| *number == index + 1) {
                Some((_, kept)) => {
                    let indent = line.len() - line.trim_start().len();
                    out.push_str(&line[..indent]);
                    out.push_str(kept);
                }
                None => out.push_str(line),
            }
            out.push('\n');
        }
        out
    }
}

/// Hears what becomes of every line while a file is read.
pub trait Listener {
    /// Hears of one line; lines come in order, each once.
    fn hear(&mut self, line: &Heard<'_>);
}

/// Nobody listens.
impl Listener for () {
    fn hear(&mut self, _line: &Heard<'_>) {}
}

/// Two listen.
impl<A: Listener, B: Listener> Listener for (A, B) {
    fn hear(&mut self, line: &Heard<'_>) {
        self.0.hear(line);
        self.1.hear(line);
    }
}

/// A line and what became of it.
#[derive(Debug)]
pub struct Heard<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The line without blanks at its end.
    pub text: &'a str,
    /// The block that the line was looked for in, or that took it.
    pub place: &'a Place,
    /// What became of it.
    pub fate: Fate<'a>,
}

/// What became of a line of a file.
#[derive(Debug)]
pub enum Fate<'a> {
    /// Nothing stands on it, or only a comment.
    Silent,
    /// It was taken.
    Accepted {
        /// The command that it is.
        command: CommandId,
        /// Whether it is its `no` form.
        negated: bool,
        /// The values of its arguments.
        values: &'a Values,
        /// Whether anything is another now than before.
        changed: bool,
    },
    /// It goes on with the line before.
    Continued {
        /// Whether that is an opaque block; else it is a text of several lines.
        opaque: bool,
    },
    /// The grammar does not know it; it is kept as it is.
    Opaque,
    /// It was put aside.
    Rejected {
        /// The command that it is, if the words are those of one.
        command: Option<CommandId>,
        /// Where and why.
        why: &'a Rejected,
    },
}

/// Reads a file into the trees.
pub fn load(grammar: &Grammar, trees: &mut Trees, text: &str) -> Report {
    load_heard(grammar, trees, text, &mut ())
}

/// Reads a file into the trees and tells of every line.
pub fn load_heard<L: Listener>(
    grammar: &Grammar,
    trees: &mut Trees,
    text: &str,
    listener: &mut L,
) -> Report {
    let Some(root) = grammar.modes.iter().position(|mode| mode.root).map(ModeId) else {
        return Report::default();
    };
    let mut loader = Loader {
        grammar,
        trees,
        listener,
        root,
        levels: Vec::new(),
        unknown_block: None,
        report: Report::default(),
    };
    for (number, line) in text.lines().enumerate() {
        loader.line(number + 1, line.trim_end());
    }
    loader.report
}

/// What to say of a line that is no command.
pub fn stop_message(
    grammar: &Grammar,
    stop: &Stop,
    words: &[words::Word<'_>],
    line: &str,
) -> String {
    let rest = words.get(stop.word).map_or("", |word| line[word.start..].trim_end());
    match &stop.why {
        Why::Unknown => grammar.message(Message::InvalidInput, &[("rest", rest)]),
        Why::Ambiguous(_) => grammar.message(Message::AmbiguousInput, &[("rest", rest)]),
        Why::Incomplete => grammar.message(Message::IncompleteCommand, &[]),
        Why::OutOfRange(low, high) => {
            let value = words.get(stop.word).map_or("", |word| word.text);
            let places = [("value", value), ("low", &low.to_string()), ("high", &high.to_string())];
            grammar.message(Message::OutOfRange, &places)
        }
    }
}

struct Loader<'a, L> {
    grammar: &'a Grammar,
    trees: &'a mut Trees,
    listener: &'a mut L,
    root: ModeId,
    /// The open blocks, outermost first.
    levels: Vec<Place>,
    /// Indent of the unknown line whose indented lines belong to it.
    unknown_block: Option<usize>,
    report: Report,
}

impl<L: Listener> Loader<'_, L> {
    fn place(&self) -> Place {
        self.levels.last().cloned().unwrap_or(Place { mode: self.root, path: Vec::new() })
    }

    fn line(&mut self, number: usize, line: &str) {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('!') {
            if !content.is_empty() {
                self.levels.clear();
                self.unknown_block = None;
            }
            let place = self.place();
            self.tell(number, line, &place, Fate::Silent);
            return;
        }
        let indent = line.len() - content.len();
        if let Some(outer) = self.unknown_block {
            if indent > outer {
                self.append_to_opaque(number, &line[outer..]);
                let place = self.place();
                self.tell(number, line, &place, Fate::Continued { opaque: true });
                return;
            }
            self.unknown_block = None;
        }
        let words = words::split(content);
        let place = self.place();
        match matcher::match_line(self.grammar, place.mode, &words, content) {
            Ok(hit) => self.hit(number, line, &words, &hit),
            Err(stop) if self.is_unknown_command(&place, &words, content, &stop) => {
                let place = if indent == 0 {
                    self.levels.clear();
                    self.place()
                } else {
                    place
                };
                self.keep_opaque(number, &place, content);
                self.unknown_block = Some(indent);
                self.tell(number, line, &place, Fate::Opaque);
            }
            Err(stop) => {
                let before = words.get(stop.word).map_or(content.len(), |word| word.start) + indent;
                let reason = stop_message(self.grammar, &stop, &words, content);
                self.reject(number, line, before, &place, None, reason);
            }
        }
    }

    fn hit(&mut self, number: usize, whole: &str, words: &[words::Word<'_>], hit: &Hit) {
        let line = whole.trim_start();
        let command = self.grammar.command(hit.command);
        // A command of a level above is taken there; only one that opens a block moves sideways.
        let level = self.levels.iter().rposition(|level| level.mode == hit.mode);
        let place = match level {
            Some(level) => self.levels[level].clone(),
            None => Place { mode: self.root, path: Vec::new() },
        };
        let behind_no = words.get(1).map_or("", |word| line[word.start..].trim_end());
        if !hit.negated && password_in_clear(command, &hit.values).is_some() {
            // Each takes time by design, so a file cannot ask for any number of them.
            if self.report.sealed.len() == MOST_PASSWORDS {
                let refusal = Refusal::new(Message::TooManyPasswords)
                    .with("limit", MOST_PASSWORDS.to_string());
                let reason = refusal.text(self.grammar);
                let indent = whole.len() - line.len();
                self.reject(number, whole, indent, &place, Some(hit.command), reason);
                return;
            }
        }
        let editor = Editor::new(self.grammar, self.trees, &place);
        let outcome = match &command.verb {
            Verb::Keep | Verb::Open(_) if hit.negated => {
                editor.remove(command, &hit.values, behind_no)
            }
            Verb::Keep => editor.keep(command, &hit.values),
            Verb::Open(mode) => {
                let outcome = editor.open(command, &hit.values);
                if outcome.is_ok() {
                    self.levels.truncate(level.map_or(0, |level| level + 1));
                    let mut path = place.path.clone();
                    path.push((command.id, key_of(command, &hit.values)));
                    self.levels.push(Place { mode: *mode, path });
                }
                outcome
            }
            Verb::Clear(targets) => editor.clear(command, targets, &hit.values, behind_no),
            Verb::Leave => {
                self.levels.pop();
                Ok(Outcome::default())
            }
            Verb::End => {
                self.levels.clear();
                Ok(Outcome::default())
            }
            Verb::Accept => Ok(Outcome::default()),
            Verb::Enter(_) | Verb::Show(_) | Verb::Do(_) => Err(Refusal::new(Message::NotInFile)),
        };
        match outcome {
            Ok(outcome) => {
                self.report.accepted += 1;
                self.report.world.extend(outcome.world);
                self.report.sealed.extend(outcome.sealed.map(|line| (number, line)));
                let fate = Fate::Accepted {
                    command: hit.command,
                    negated: hit.negated,
                    values: &hit.values,
                    changed: outcome.changed,
                };
                self.tell(number, whole, &place, fate);
            }
            Err(refusal) => {
                let reason = refusal.text(self.grammar);
                let indent = whole.len() - line.len();
                self.reject(number, whole, indent, &place, Some(hit.command), reason);
            }
        }
    }

    /// Whether the word that stops the line could have been the word of a command. Where only
    /// values can stand it is a bad value of a command that is known.
    fn is_unknown_command(
        &self,
        place: &Place,
        words: &[words::Word<'_>],
        line: &str,
        stop: &Stop,
    ) -> bool {
        if stop.why != Why::Unknown {
            return false;
        }
        if stop.word == 0 {
            return true;
        }
        let before = &words[..stop.word];
        self.grammar.search_path(place.mode).into_iter().all(|mode| {
            matcher::walk(self.grammar, mode, before, line).map_or(true, |walk| {
                let node = self.grammar.trie(mode).node(walk.place);
                walk.place == NodeId::ROOT || node.arguments.is_empty() || !node.words.is_empty()
            })
        })
    }

    fn keep_opaque(&mut self, number: usize, place: &Place, line: &str) {
        self.report.opaque.push(number);
        if let Some(block) = self.trees.configuration.block_mut(self.grammar, &place.path) {
            let after = block.slots();
            block.opaque.push(Opaque { after, lines: vec![line.to_owned()] });
        }
    }

    fn append_to_opaque(&mut self, number: usize, line: &str) {
        self.report.opaque.push(number);
        let place = self.place();
        let block = self.trees.configuration.block_mut(self.grammar, &place.path);
        if let Some(opaque) = block.and_then(|block| block.opaque.last_mut()) {
            opaque.lines.push(line.to_owned());
        }
    }

    fn reject(
        &mut self,
        number: usize,
        line: &str,
        before: usize,
        place: &Place,
        command: Option<CommandId>,
        reason: String,
    ) {
        let column = line[..before].chars().count() + 1;
        let text = line.trim_start().to_owned();
        let why = Rejected { line: number, text, column, reason };
        self.tell(number, line, place, Fate::Rejected { command, why: &why });
        self.report.rejected.push(why);
    }

    fn tell(&mut self, number: usize, text: &str, place: &Place, fate: Fate<'_>) {
        self.listener.hear(&Heard { number, text, place, fate });
    }
}

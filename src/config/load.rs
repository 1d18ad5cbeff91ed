//! A file of lines to the statement tree.
//!
//! All or nothing for a line, never for a file: a bad value is put aside with its reason, a line
//! that no stanza knows is kept verbatim in its place, and the others count. A file begins at the
//! level of the root mode, and a line that begins with `!` returns to it (base-cli 1.4).

use crate::cli::matcher::{self, Hit, Stop, Why};
use crate::cli::words;
use crate::config::edit::{Editor, Outcome, Place, Refusal, Trees};
use crate::config::tree::{Opaque, Statement, key_of};
use crate::grammar::link::Message;
use crate::grammar::trie::NodeId;
use crate::grammar::{Grammar, ModeId, Verb};

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
}

/// A line that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its number, from 1.
    pub line: usize,
    /// The line without its indent.
    pub text: String,
    /// Column of the first word that does not fit, from 1.
    pub column: usize,
    /// What the device would say.
    pub reason: String,
}

/// Reads a file into the trees.
pub fn load(grammar: &Grammar, trees: &mut Trees, text: &str) -> Report {
    let Some(root) = grammar.modes.iter().position(|mode| mode.root).map(ModeId) else {
        return Report::default();
    };
    let mut loader = Loader {
        grammar,
        trees,
        root: Place { mode: root, path: Vec::new() },
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

struct Loader<'a> {
    grammar: &'a Grammar,
    trees: &'a mut Trees,
    /// The block of the root mode.
    root: Place,
    /// The open blocks, outermost first.
    levels: Vec<Place>,
    /// Indent of the unknown line whose indented lines belong to it.
    unknown_block: Option<usize>,
    report: Report,
}

impl Loader<'_> {
    fn place(&self) -> &Place {
        self.levels.last().unwrap_or(&self.root)
    }

    fn line(&mut self, number: usize, line: &str) {
        let content = line.trim_start();
        if content.is_empty() {
            return;
        }
        if content.starts_with('!') {
            self.levels.clear();
            self.unknown_block = None;
            return;
        }
        let indent = line.len() - content.len();
        if let Some(outer) = self.unknown_block {
            if indent > outer {
                self.append_to_opaque(number, &line[outer..]);
                return;
            }
            self.unknown_block = None;
        }
        let words = words::split(content);
        let mode = self.place().mode;
        match matcher::match_line(self.grammar, mode, &words, content) {
            Ok(hit) => self.hit(number, content, &words, &hit),
            Err(stop) if self.is_unknown_command(mode, &words, content, &stop) => {
                if indent == 0 && !self.levels.is_empty() {
                    // It belongs to the root, where it may be more than unknown.
                    self.levels.clear();
                    self.line(number, line);
                    return;
                }
                self.keep_opaque(number, content);
                self.unknown_block = Some(indent);
            }
            Err(stop) => {
                let column = words.get(stop.word).map_or(content.len(), |word| word.start) + indent;
                let reason = stop_message(self.grammar, &stop, &words, content);
                self.reject(number, content, column + 1, reason);
            }
        }
    }

    fn hit(&mut self, number: usize, line: &str, words: &[words::Word<'_>], hit: &Hit) {
        let command = self.grammar.command(hit.command);
        // A command of a level above is taken there; only one that opens a block moves sideways.
        let level = self.levels.iter().rposition(|level| level.mode == hit.mode);
        let place = level.map_or(&self.root, |level| &self.levels[level]);
        let behind_no = words.get(1).map_or("", |word| line[word.start..].trim_end());
        let editor = Editor::new(self.grammar, self.trees, place);
        let outcome = match &command.verb {
            Verb::Keep | Verb::Open(_) if hit.negated => {
                editor.remove(command, &hit.values, behind_no)
            }
            Verb::Keep => editor.keep(command, &hit.values),
            Verb::Open(mode) => {
                let outcome = editor.open(command, &hit.values);
                if outcome.is_ok() {
                    let mut path = place.path.clone();
                    self.levels.truncate(level.map_or(0, |level| level + 1));
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
            }
            Err(refusal) => {
                let reason = refusal.text(self.grammar);
                self.reject(number, line, 1, reason);
            }
        }
    }

    /// Whether the word that stops the line could have been the word of a command. Where only
    /// values can stand it is a bad value of a command that is known.
    fn is_unknown_command(
        &self,
        mode: ModeId,
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
        self.grammar.search_path(mode).into_iter().all(|mode| {
            matcher::walk(self.grammar, mode, before, line).map_or(true, |walk| {
                let node = self.grammar.trie(mode).node(walk.place);
                walk.place == NodeId::ROOT || node.arguments.is_empty() || !node.words.is_empty()
            })
        })
    }

    fn keep_opaque(&mut self, number: usize, line: &str) {
        self.report.opaque.push(number);
        let path = &self.levels.last().unwrap_or(&self.root).path;
        if let Some(block) = self.trees.configuration.block_mut(self.grammar, path) {
            let after = block.slots();
            block.opaque.push(Opaque { after, lines: vec![line.to_owned()] });
        }
    }

    fn append_to_opaque(&mut self, number: usize, line: &str) {
        self.report.opaque.push(number);
        let path = &self.levels.last().unwrap_or(&self.root).path;
        let block = self.trees.configuration.block_mut(self.grammar, path);
        if let Some(opaque) = block.and_then(|block| block.opaque.last_mut()) {
            opaque.lines.push(line.to_owned());
        }
    }

    fn reject(&mut self, line: usize, text: &str, column: usize, reason: String) {
        self.report.rejected.push(Rejected { line, text: text.to_owned(), column, reason });
    }
}

//! A file of lines to the statement tree.
//!
//! All or nothing for a line, never for a file: a bad value is put aside with its reason, a line
//! that no stanza knows is kept verbatim in its place, and the others count. A file begins at the
//! level of the root mode, and a line that begins with `!` returns to it (base-cli 1.4).

use std::borrow::Cow;
use std::rc::Rc;

use crate::cli::matcher::{self, Hit, Stop, Why};
use crate::cli::words;
use crate::config::delimited::{self, Text};
use crate::config::edit::{Change, Editor, Outcome, Place, Refusal, Trees, password_in_clear};
use crate::config::tree::{Opaque, Values, key_of};
use crate::grammar::link::Message;
use crate::grammar::ports::taken_apart;
use crate::grammar::trie::NodeId;
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{CommandId, Grammar, ModeId, Verb};
use crate::health::learned::LearnedAddresses;

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
    pub world: Vec<Change>,
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
    pub fn without_passwords<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.sealed.is_empty() {
            return Cow::Borrowed(text);
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
        Cow::Owned(out)
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

/// Reads back what was printed: addresses that were learned in the meantime may have weights in it.
pub fn load_knowing(
    grammar: &Grammar,
    trees: &mut Trees,
    text: &str,
    learned: &LearnedAddresses,
) -> Report {
    load_with(grammar, trees, text, &mut (), Some(learned))
}

/// Reads a file into the trees and tells of every line.
pub fn load_heard<L: Listener>(
    grammar: &Grammar,
    trees: &mut Trees,
    text: &str,
    listener: &mut L,
) -> Report {
    load_with(grammar, trees, text, listener, None)
}

fn load_with<L: Listener>(
    grammar: &Grammar,
    trees: &mut Trees,
    text: &str,
    listener: &mut L,
    learned: Option<&LearnedAddresses>,
) -> Report {
    let Some(root) = grammar.modes.iter().position(|mode| mode.root).map(ModeId) else {
        return Report::default();
    };
    // Nothing waits that a restart begins with.
    let is_fresh = trees.configuration.root.slots() == 0;
    let mut loader = Loader {
        grammar,
        trees,
        listener,
        learned,
        root: Rc::new(Place { mode: root, path: Vec::new() }),
        levels: Vec::new(),
        unknown_block: None,
        refused: None,
        verbatim: None,
        report: Report::default(),
    };
    let mut rest = Rest { number: 0, lines: text.lines() };
    while let Some((number, line)) = rest.next() {
        loader.line(number, line, &mut rest);
    }
    loader.end_verbatim();
    let report = loader.report;
    if is_fresh {
        trees.configuration.root.apply();
    }
    report
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
        Why::NoPort => {
            let word = words.get(stop.word).map_or("", |word| word.text);
            let apart = taken_apart(word).and_then(|apart| Some(apart + rest.strip_prefix(word)?));
            grammar.message(Message::InvalidInput, &[("rest", apart.as_deref().unwrap_or(rest))])
        }
        Why::Ambiguous(_) => grammar.message(Message::AmbiguousInput, &[("rest", rest)]),
        Why::NoSuch(message) => {
            let value = words.get(stop.word).map_or("", |word| word.text);
            grammar.message(*message, &[("app", value)])
        }
        Why::Incomplete => grammar.message(Message::IncompleteCommand, &[]),
        Why::Outside(message, low, high) => {
            let value = words.get(stop.word).map_or("", |word| word.text);
            let places = [("value", value), ("low", &low.to_string()), ("high", &high.to_string())];
            grammar.message(*message, &places)
        }
        Why::OutOfRange(low, high) => {
            let value = words.get(stop.word).map_or("", |word| word.text);
            let places = [("value", value), ("low", &low.to_string()), ("high", &high.to_string())];
            grammar.message(Message::OutOfRange, &places)
        }
    }
}

/// The lines that were not looked at yet.
#[derive(Clone)]
struct Rest<'a> {
    /// How many were.
    number: usize,
    lines: std::str::Lines<'a>,
}

impl<'a> Iterator for Rest<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        self.number += 1;
        self.lines.next().map(|line| (self.number, line.trim_ascii_end()))
    }
}

/// How the lines begin that stand around certificates and keys (RFC 7468 section 2).
const ARMOR: [&str; 2] = ["-----BEGIN ", "-----END "];

/// The most lines of one certificate or key.
const MOST_ARMORED: usize = 1000;

struct Loader<'a, L> {
    grammar: &'a Grammar,
    trees: &'a mut Trees,
    listener: &'a mut L,
    /// What counts as learned: nothing while a configuration is read for the first time.
    learned: Option<&'a LearnedAddresses>,
    /// The block of the root mode. Places are shared: every line has one.
    root: Rc<Place>,
    /// The open blocks, outermost first.
    levels: Vec<Rc<Place>>,
    /// Indent of the unknown line whose indented lines belong to it.
    unknown_block: Option<usize>,
    /// The refused line whose indented lines belong to it, if it would have opened a block.
    refused: Option<Refused>,
    /// The block that takes all lines as they are, and the word that ends it.
    verbatim: Option<(Rc<Place>, String)>,
    report: Report,
}

/// A line that was refused, and may have been the beginning of a block.
#[derive(Clone, Copy)]
struct Refused {
    /// Its number.
    line: usize,
    indent: usize,
    /// Where it was looked for.
    mode: ModeId,
    /// Whether it would have opened a block, which is looked at when something is indented under
    /// it.
    opens: bool,
}

impl<L: Listener> Loader<'_, L> {
    fn place(&self) -> Rc<Place> {
        Rc::clone(self.levels.last().unwrap_or(&self.root))
    }

    fn line(&mut self, number: usize, line: &str, rest: &mut Rest<'_>) {
        let content = line.trim_ascii_start();
        if self.verbatim.is_some() && self.goes_on_verbatim(number, line, content) {
            return;
        }
        if content.is_empty() || content.starts_with('!') {
            if !content.is_empty() {
                self.levels.clear();
                self.unknown_block = None;
                self.refused = None;
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
        if let Some(refused) = self.refused.take().filter(|one| indent > one.indent)
            && (refused.opens || self.would_open(refused.mode))
        {
            let places = [("line", &*refused.line.to_string())];
            let reason = self.grammar.message(Message::BlockRefused, &places);
            let place = self.place();
            self.reject(number, line, indent, &place, None, reason);
            self.refused = Some(Refused { opens: true, ..refused });
            return;
        }
        if content.starts_with(ARMOR[0]) {
            self.armored(number, line, indent, rest);
            return;
        }
        let words = words::split(content);
        let place = self.place();
        match matcher::match_line(self.grammar, place.mode, &words, content) {
            Ok(mut hit) => {
                let mut ahead = rest.clone();
                if self.read_text(&mut hit, &mut ahead) {
                    self.hit(number, line, &words, &hit);
                    let place = self.place();
                    for (number, line) in rest.take(ahead.number - rest.number) {
                        self.tell(number, line, &place, Fate::Continued { opaque: false });
                    }
                    *rest = ahead;
                } else {
                    let reason = self.grammar.message(Message::TextWithoutEnd, &[]);
                    self.reject(number, line, indent, &place, Some(hit.command), reason);
                }
            }
            Err(stop) if self.is_unknown_command(&place, &words, content, &stop) => {
                if indent == 0 && !self.levels.is_empty() {
                    // It is none of the block, so it is what it is at the level of the file.
                    self.levels.clear();
                    return self.line(number, line, rest);
                }
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
        let line = whole.trim_ascii_start();
        let command = self.grammar.command(hit.command);
        // A command of a level above is taken there; only one that opens a block moves sideways.
        let level = self.levels.iter().rposition(|level| level.mode == hit.mode);
        let place = Rc::clone(level.map_or(&self.root, |level| &self.levels[level]));
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
        let mut editor = Editor::new(self.grammar, self.trees, &place).from_file();
        if let Some(learned) = self.learned {
            editor = editor.knowing(learned);
        }
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
                    self.levels.push(Rc::new(Place { mode: *mode, path }));
                    if command.storage.as_ref().is_some_and(|storage| storage.verbatim) {
                        let word = words.first().map_or("", |word| word.text).to_owned();
                        self.verbatim = Some((self.place(), word));
                    }
                }
                outcome
            }
            Verb::Clear(targets) => editor.clear(command, targets, &hit.values, behind_no),
            Verb::Apply(kept) => Ok(editor.apply(*kept)),
            Verb::Alter(_) => editor.alter(command, &hit.values),
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

    /// Reads the lines that a text between delimiters goes on with; `false` if it has no end.
    fn read_text(&self, hit: &mut Hit, rest: &mut Rest<'_>) -> bool {
        let command = self.grammar.command(hit.command);
        let is_text = |argument: &u8| {
            command.arguments[usize::from(*argument)].value_type == ValueType::Delimited
        };
        let value = hit.values.iter_mut().find(|(argument, _)| is_text(argument));
        let Some((_, Value::Text(value))) = value else { return true };
        let Some(mut text) = Text::open(value) else { return true };
        for _ in 0..delimited::MOST_LINES {
            let mut ahead = rest.clone();
            let Some((_, line)) = ahead.next() else { break };
            if text.is_closed() && (!text.goes_on_with(line) || self.opens_text(line)) {
                break;
            }
            text.add(line);
            *rest = ahead;
        }
        *value = text.saved_form().into();
        text.is_closed()
    }

    /// Whether a line is the beginning of another text.
    fn opens_text(&self, line: &str) -> bool {
        let line = line.trim_ascii_start();
        let words = words::split(line);
        matcher::match_in(self.grammar, self.root.mode, &words, line).is_ok_and(|hit| {
            let arguments = &self.grammar.command(hit.command).arguments;
            hit.values.iter().any(|(argument, value)| {
                arguments[usize::from(*argument)].value_type == ValueType::Delimited
                    && delimited::opens_saved_form(value)
            })
        })
    }

    /// Keeps a certificate or a key as it is. Its first line is put aside if it has no end.
    fn armored(&mut self, number: usize, line: &str, indent: usize, rest: &mut Rest<'_>) {
        let is_end = |line: &str| line.trim_ascii_start().starts_with(ARMOR[1]);
        let mut body = Vec::new();
        for (number, line) in rest.clone().take(MOST_ARMORED) {
            body.push((number, line));
            let content = line.trim_ascii_start();
            if is_end(line) || content.starts_with(ARMOR[0]) || content.starts_with('!') {
                break;
            }
        }
        let Some(end) = body.iter().position(|(_, line)| is_end(line)) else {
            let place = self.place();
            let reason = self.grammar.message(Message::TextWithoutEnd, &[]);
            self.reject(number, line, indent, &place, None, reason);
            return;
        };
        let place = self.place();
        self.keep_opaque(number, &place, line.trim_ascii_start());
        self.tell(number, line, &place, Fate::Opaque);
        for (number, line) in &body[..=end] {
            let blanks = line.len() - line.trim_ascii_start().len();
            self.append_to_opaque(*number, &line[blanks.min(indent)..]);
            self.tell(*number, line, &place, Fate::Continued { opaque: true });
        }
        rest.nth(end);
    }

    /// Keeps a line of a block that takes all as it is; `false` if the line ends the block.
    fn goes_on_verbatim(&mut self, number: usize, line: &str, content: &str) -> bool {
        let Some((place, word)) = &self.verbatim else { return false };
        let words = words::split(content);
        let first = words.first().map_or("", |word| word.text);
        let is_end = || {
            matcher::match_in(self.grammar, self.root.mode, &words, content)
                .is_ok_and(|hit| self.grammar.command(hit.command).verb == Verb::End)
        };
        let is_indented = content.len() < line.len();
        let ends = !is_indented && (first.eq_ignore_ascii_case(word) || is_end());
        if ends {
            self.end_verbatim();
            self.levels.clear();
            return false;
        }
        let place = place.clone();
        let block = self.trees.configuration.block_mut(self.grammar, &place.path);
        if let Some(block) = block.filter(|_| !content.is_empty()) {
            match block.opaque.last_mut() {
                Some(opaque) => opaque.lines.push(line.to_owned()),
                None => block.opaque.push(Opaque { after: 0, lines: vec![line.to_owned()] }),
            }
        }
        let is_silent = content.is_empty() || content.starts_with('!');
        let fate = if is_silent { Fate::Silent } else { Fate::Opaque };
        if !is_silent {
            self.report.opaque.push(number);
        }
        self.tell(number, line, &place, fate);
        true
    }

    /// Ends the block that takes all lines as they are. Comments at its end are those that stand
    /// behind every block.
    fn end_verbatim(&mut self) {
        let Some((place, _)) = self.verbatim.take() else { return };
        let block = self.trees.configuration.block_mut(self.grammar, &place.path);
        let Some(block) = block else { return };
        if let Some(opaque) = block.opaque.last_mut() {
            let is_comment = |line: &String| line.trim_ascii_start().starts_with('!');
            let kept = opaque.lines.iter().rposition(|line| !is_comment(line));
            opaque.lines.truncate(kept.map_or(0, |last| last + 1));
        }
        block.opaque.retain(|opaque| !opaque.lines.is_empty());
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
        let with = &words[..words.len().min(stop.word + 1)];
        self.grammar.search_path(place.mode).into_iter().all(|mode| {
            let is_unknown = matcher::walk(self.grammar, mode, before, line).map_or(true, |walk| {
                let node = self.grammar.trie(mode).node(walk.place);
                walk.place == NodeId::ROOT || node.arguments.is_empty() || !node.words.is_empty()
            });
            // A value that may occur once and occurs again fits by itself.
            is_unknown && matcher::walk(self.grammar, mode, with, line).is_err()
        })
    }

    /// Whether the last line that was refused is one that opens a block, or the beginning of one.
    /// What is indented under it would otherwise end up in the block before.
    fn would_open(&self, mode: ModeId) -> bool {
        let Some(line) = self.report.rejected.last().map(|refused| refused.text.as_str()) else {
            return false;
        };
        let words = words::split(line);
        let opens =
            |command: CommandId| matches!(self.grammar.command(command).verb, Verb::Open(_));
        match matcher::match_line(self.grammar, mode, &words, line) {
            Ok(hit) => opens(hit.command),
            Err(stop) => self.grammar.search_path(mode).into_iter().any(|mode| {
                let before = &words[..stop.word];
                matcher::walk(self.grammar, mode, before, line).is_ok_and(|walk| {
                    let mut behind =
                        self.grammar.trie(mode).commands_behind(walk.place).into_iter();
                    behind.any(opens)
                })
            }),
        }
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
        let text = line.trim_ascii_start().to_owned();
        let why = Rejected { line: number, text, column, reason };
        self.tell(number, line, place, Fate::Rejected { command, why: &why });
        let indent = line.len() - line.trim_ascii_start().len();
        self.refused = Some(Refused { line: number, indent, mode: place.mode, opens: false });
        self.report.rejected.push(why);
    }

    fn tell(&mut self, number: usize, text: &str, place: &Place, fate: Fate<'_>) {
        self.listener.hear(&Heard { number, text, place, fate });
    }
}

//! Line by line: what the loader made of each, and what is wrong with it by itself.

use crate::check::places::{Entry, Places, key_text};
use crate::check::rule::{
    EXCLUDED_LINE, Finding, KEPT_LINE, OPAQUE_LINE, REJECTED_LINE, REPEATED_LINE, REPLACED_LINE,
    Rule, WEIGHT_LOST,
};
use crate::config::load::{Fate, Heard, Listener, Rejected};
use crate::config::tree::Values;
use crate::grammar::link::Kept;
use crate::grammar::{Command, CommandId, Grammar, Level, Verb};
use crate::names::named_enum;

named_enum! {
    /// What a line is to the emulator.
    pub enum Standing {
        /// Nothing stands on it, or only a comment.
        Silent = "silent",
        /// It changes what the emulator does.
        Modelled = "modelled",
        /// It is stored, checked and printed, without effect.
        Kept = "kept",
        /// It is taken and forgotten.
        Accepted = "accepted",
        /// The emulator does not know it and keeps it as it is.
        Opaque = "opaque",
        /// It was put aside.
        Rejected = "rejected",
    }
}

/// What is said of a line that is only kept, before its syntax.
pub(super) const KEPT: &str = "stored and printed, without effect: ";

/// A line of a checked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub standing: Standing,
    /// The column that decides, in characters, from 1.
    pub column: usize,
    /// The syntax of the command that it is.
    pub command: Option<CommandId>,
    /// Why it is what it is, where its standing does not say so.
    pub reason: Option<String>,
}

/// Listens to the loader.
#[derive(Debug)]
pub struct Lines<'a> {
    grammar: &'a Grammar,
    /// Every line that was heard of, in order.
    pub lines: Vec<Line>,
    /// Where each statement stands.
    pub places: Places,
    /// What is wrong with single lines.
    pub findings: Vec<Finding>,
}

impl<'a> Lines<'a> {
    /// A listener that has heard nothing yet.
    pub fn new(grammar: &'a Grammar) -> Self {
        Lines { grammar, lines: Vec::new(), places: Places::default(), findings: Vec::new() }
    }

    fn find(&mut self, rule: &'static Rule, line: usize, column: usize, message: String) {
        self.findings.push(Finding { rule, line, column, message });
    }

    fn accepted(&mut self, line: &Heard<'_>, id: CommandId, negated: bool, values: &Values) {
        let command = self.grammar.command(id);
        if command.level == Level::Kept {
            let message = format!("{KEPT}{}", command.syntax);
            self.find(&KEPT_LINE, line.number, indent(line.text) + 1, message);
        }
        let Some(storage) = &command.storage else { return };
        let key = key_text(self.grammar, line.place, command, values);
        if negated && !storage.default_on && !storage.no_kept {
            self.places.remove(storage.kept, &key);
            return;
        }
        if let Fate::Accepted { changed, .. } = line.fate {
            self.compare(line, command, &key, negated, values, changed);
        }
        let entry = Entry { line: line.number, negated, values: values.clone() };
        // A block that is entered again stays where it was entered first.
        if !matches!(command.verb, Verb::Open(_)) || self.places.get(storage.kept, &key).is_none() {
            self.places.put(storage.kept, key, entry);
        }
    }

    /// Compares a statement with what was said of the same thing before.
    fn compare(
        &mut self,
        line: &Heard<'_>,
        command: &Command,
        key: &str,
        negated: bool,
        values: &Values,
        changed: bool,
    ) {
        let Some(storage) = &command.storage else { return };
        if matches!(command.verb, Verb::Open(_)) {
            return;
        }
        if let Some(old) = self.places.get(storage.kept, key).cloned() {
            let column = indent(line.text) + 1;
            if !changed && old.negated == negated && old.values == *values {
                let message = format!("line {} says the same", old.line);
                self.find(&REPEATED_LINE, line.number, column, message);
            } else if changed && !storage.merge {
                let message = format!("line {} says something else, and counts", line.number);
                self.find(&REPLACED_LINE, old.line, 1, message);
            }
        }
        if negated {
            return;
        }
        for other in &storage.excludes {
            if let Some(old) = self.places.get(*other, key).filter(|old| !old.negated).cloned() {
                let message = format!("line {} excludes this one, which is dropped", line.number);
                self.find(&EXCLUDED_LINE, old.line, 1, message);
                self.places.remove(*other, key);
            }
        }
    }

    fn rejected(&mut self, why: &Rejected, command: Option<CommandId>) {
        let kept = command
            .and_then(|command| self.grammar.command(command).storage.as_ref())
            .map(|storage| storage.kept);
        // The only rule that these stanzas have is that the address is in the list.
        let rule = match kept {
            Some(Kept::HostWeight | Kept::HostHashWeight) => &WEIGHT_LOST,
            _ => &REJECTED_LINE,
        };
        let reason = first_line(&why.reason).to_owned();
        self.find(rule, why.line, why.column, reason);
    }
}

impl Listener for Lines<'_> {
    fn hear(&mut self, line: &Heard<'_>) {
        let column = indent(line.text) + 1;
        let mut told = Line { standing: Standing::Silent, column, command: None, reason: None };
        match &line.fate {
            Fate::Silent => {}
            Fate::Accepted { command, negated, values, .. } => {
                told.standing = match self.grammar.command(*command).level {
                    Level::Modelled => Standing::Modelled,
                    Level::Kept => Standing::Kept,
                    Level::Accepted => Standing::Accepted,
                };
                told.command = Some(*command);
                self.accepted(line, *command, *negated, values);
            }
            Fate::Continued { .. } => {
                let before = self.lines.last();
                told.standing = before.map_or(Standing::Opaque, |before| before.standing);
                told.command = before.and_then(|before| before.command);
                told.reason = Some("goes on with the line above".to_owned());
            }
            Fate::Opaque => {
                told.standing = Standing::Opaque;
                let reason = "not known; kept as it is, and lost when it is pasted";
                told.reason = Some(reason.to_owned());
                // No more than the first word: what is not known may hold a secret.
                let mut words = line.text.split_whitespace();
                let first = words.next().unwrap_or_default();
                let more = if words.next().is_some() { " ..." } else { "" };
                let message = format!("{first}{more}: {reason}");
                self.find(&OPAQUE_LINE, line.number, column, message);
            }
            Fate::Rejected { command, why } => {
                told.standing = Standing::Rejected;
                told.column = why.column;
                told.command = *command;
                told.reason = Some(first_line(&why.reason).to_owned());
                self.rejected(why, *command);
            }
        }
        self.lines.push(told);
    }
}

/// Blanks before the first word, in characters.
fn indent(text: &str) -> usize {
    text.chars().take_while(|one| one.is_whitespace()).count()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

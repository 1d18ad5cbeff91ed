//! Commands that are stored in the configuration and run later: aliases and batch buffers.

use std::fmt::Write as _;

use crate::cli::session::{LONGEST_LINE, Session};
use crate::cli::words;
use crate::config::delimited;
use crate::config::edit::Refusal;
use crate::config::tree::{Reading, Values};
use crate::grammar::link::{Kept, Message};
use crate::grammar::trie::NodeId;
use crate::grammar::value::Value;
use crate::show;

/// What may stand between an alias and its command.
const EQUALS: char = '=';

/// The command of an alias.
fn command_of<'a>(reading: &Reading<'a>) -> &'a str {
    let text = reading.text("command").unwrap_or_default();
    text.strip_prefix(EQUALS).unwrap_or(text).trim_start()
}

impl Session {
    /// The line with the command in the place of the alias that it begins with; `None` if it begins with
    /// none. A word of the level that is spelt out comes before an alias of that name, an abbreviation
    /// behind it.
    pub(super) fn expanded(&self, line: &str) -> Option<String> {
        let grammar = &self.appliance.grammar;
        let words = words::split(line);
        let word = words.first().filter(|word| !word.quoted)?;
        let alias = grammar.keeping(grammar.root_mode()?, Kept::Alias)?;
        let argument = u8::try_from(*alias.storage.as_ref()?.key.first()?).ok()?;
        let key = Values::from_iter([(argument, Value::Text(word.text.into()))]);
        let configuration = self.appliance.configuration();
        let statement = configuration.trees.configuration.root.find(alias, &key)?;
        let is_command = grammar.search_path(self.level().mode).into_iter().any(|mode| {
            let spelt = |one: &arcstr::ArcStr| one.eq_ignore_ascii_case(word.text);
            let words = &grammar.trie(mode).node(NodeId::ROOT).words;
            words.iter().any(|edge| edge.spellings.iter().any(spelt))
        });
        let command = command_of(&Reading { grammar, statement });
        let line = format!("{command}{}", &line[word.end..]);
        (!is_command && line.len() <= LONGEST_LINE).then_some(line)
    }

    /// The aliases, as they are shown.
    pub(super) fn aliases(&self) -> String {
        let grammar = &self.appliance.grammar;
        let configuration = self.appliance.configuration();
        let statements = configuration.trees.configuration.of(grammar, Kept::Alias);
        show::aliases(statements.map(|statement| {
            let reading = Reading { grammar, statement };
            (reading.text("name").unwrap_or_default(), command_of(&reading))
        }))
    }

    /// Runs the lines of a batch buffer as if they were typed, each behind its prompt. Control-C, the end of
    /// the session and a restart end it.
    ///
    /// # Errors
    ///
    /// There is nothing in the buffer, or a batch runs already.
    pub(super) fn run_batch(&mut self, number: u64) -> Result<String, Refusal> {
        if self.runs_batch {
            return Err(Refusal::new(Message::BatchInBatch));
        }
        let lines = self
            .batch(number)
            .ok_or_else(|| Refusal::new(Message::NoSuchBatch).with("number", number.to_string()))?;
        self.runs_batch = true;
        let restarts = self.appliance.restarts();
        let mut out = String::new();
        for line in lines.lines().map(str::trim) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}{line}", self.prompt());
            out.push_str(&self.run_line(line));
            let is_over = self.is_over() || restarts != self.appliance.restarts();
            if is_over || self.interruption.is_wanted() {
                break;
            }
        }
        self.runs_batch = false;
        Ok(out)
    }

    /// The lines of a batch buffer.
    fn batch(&self, number: u64) -> Option<String> {
        let grammar = &self.appliance.grammar;
        let configuration = self.appliance.configuration();
        let buffers = configuration.trees.configuration.of(grammar, Kept::BatchBuffer);
        let mut buffers = buffers.map(|statement| Reading { grammar, statement });
        let buffer = buffers.find(|buffer| buffer.number("number") == Some(number))?;
        buffer.text("text").map(delimited::plain)
    }
}

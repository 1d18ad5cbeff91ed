//! Where each statement of a configuration stands in its file.

use std::fmt::Write as _;

use hashbrown::HashMap;

use crate::config::edit::Place;
use crate::config::tree::{Values, key_of};
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::grammar::{Command, Grammar};

/// The lines of the statements, by the name of the statement and the keys from the outermost block
/// down to it.
#[derive(Debug, Default)]
pub struct Places {
    entries: HashMap<(Kept, Box<str>), Entry>,
}

/// A statement and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The line, from 1.
    pub line: usize,
    /// Whether it is the `no` form.
    pub negated: bool,
    /// Its values.
    pub values: Values,
}

impl Places {
    /// The line of a statement, by its keys from the outermost block down. Keys are compared in
    /// any case.
    pub fn line(&self, kept: Kept, keys: &[&dyn std::fmt::Display]) -> Option<usize> {
        Some(self.find(kept, keys)?.line)
    }

    /// A statement, by its keys from the outermost block down.
    pub fn find(&self, kept: Kept, keys: &[&dyn std::fmt::Display]) -> Option<&Entry> {
        self.get(kept, &joined(keys))
    }

    /// The first line of all statements of that name whose keys begin with these. Looks at every
    /// statement, so it is for findings and not for every line.
    pub fn first_under(&self, kept: Kept, keys: &[&dyn std::fmt::Display]) -> Option<usize> {
        let mut beginning = joined(keys);
        let whole = beginning.clone();
        beginning.push(' ');
        let entries = self.entries.iter().filter(|((one, key), _)| {
            *one == kept && (key.starts_with(&beginning) || **key == *whole)
        });
        entries.map(|(_, entry)| entry.line).min()
    }

    /// The first line of all statements of that name whose keys begin with these and that have a
    /// value like that. Looks at every statement too.
    pub fn first_with(
        &self,
        kept: Kept,
        keys: &[&dyn std::fmt::Display],
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<usize> {
        let mut beginning = joined(keys);
        separate(&mut beginning);
        let entries = self.entries.iter().filter(|((one, key), entry)| {
            *one == kept
                && key.starts_with(&beginning)
                && entry.values.iter().any(|(_, value)| is_wanted(value))
        });
        entries.map(|(_, entry)| entry.line).min()
    }

    /// All statements of that name.
    pub fn all(&self, kept: Kept) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |((one, _), _)| *one == kept).map(|(_, entry)| entry)
    }

    pub(super) fn get(&self, kept: Kept, key: &str) -> Option<&Entry> {
        self.entries.get(&(kept, Box::from(key)))
    }

    pub(super) fn put(&mut self, kept: Kept, key: String, entry: Entry) {
        self.entries.insert((kept, key.into_boxed_str()), entry);
    }

    pub(super) fn remove(&mut self, kept: Kept, key: &str) {
        self.entries.remove(&(kept, Box::from(key)));
    }
}

/// The keys from the outermost block down to a statement, in lower case.
pub(super) fn key_text(
    grammar: &Grammar,
    place: &Place,
    command: &Command,
    values: &Values,
) -> String {
    let mut text = String::new();
    for (command, key) in &place.path {
        push_key(grammar, grammar.command(*command), key, &mut text);
    }
    push_key(grammar, command, &key_of(command, values), &mut text);
    text.make_ascii_lowercase();
    text
}

fn joined(keys: &[&dyn std::fmt::Display]) -> String {
    let mut name = String::new();
    for key in keys {
        separate(&mut name);
        // Writing to a String cannot fail.
        let _ = write!(name, "{key}");
    }
    name.make_ascii_lowercase();
    name
}

fn push_key(grammar: &Grammar, command: &Command, key: &Values, text: &mut String) {
    for (argument, value) in key {
        separate(text);
        command.arguments[usize::from(*argument)].value_type.print(&grammar.choices, value, text);
    }
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push(' ');
    }
}

//! Names that lead nowhere: whatever a line refers to must stand somewhere in the configuration.
//!
//! Which arguments refer to what is derived from the grammar, where an argument is a `ref` or a
//! stanza suggests names. Servers, health-check policies and ranges of ports have rules of their own, which
//! know more about them.

use hashbrown::HashSet;

use crate::check::places::{Places, key_text};
use crate::check::rule::{Finding, Found, Rule, Severity, Subject};
use crate::config::edit::Place;
use crate::config::references::{self, has_value};
use crate::config::tree::{Block, Statement, Tree, key_of};
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::grammar::{Command, Grammar, Verb};

/// A name that nothing has.
pub(in crate::check) static UNKNOWN_NAME: Rule = Rule {
    name: "unknown-name",
    severity: Severity::Warning,
    summary: "The line names something that the configuration has not, so it does nothing.",
    evidence: "decisions 3.6",
    look: None,
};

/// Lines that name what the configuration has not.
pub(in crate::check) fn unknown_names(
    grammar: &Grammar,
    tree: &Tree,
    places: &Places,
) -> Vec<Finding> {
    let Some(root) = grammar.root_mode() else { return Vec::new() };
    let mut found = Vec::new();
    let place = Place { mode: root, path: Vec::new() };
    let search = Search { grammar, tree, places };
    search.block(&tree.root, &place, &mut found);
    found
}

struct Search<'a> {
    grammar: &'a Grammar,
    tree: &'a Tree,
    places: &'a Places,
}

impl Search<'_> {
    fn block(&self, block: &Block, place: &Place, found: &mut Vec<Finding>) {
        for statement in block.statements() {
            let command = self.grammar.command(statement.command);
            if !statement.negated {
                self.statement(statement, command, place, found);
            }
            if let (Some(inner), Verb::Open(mode)) = (&statement.block, &command.verb) {
                let mut path = place.path.clone();
                path.push((command.id, key_of(command, &statement.values)));
                self.block(inner, &Place { mode: *mode, path }, found);
            }
        }
    }

    fn statement(
        &self,
        statement: &Statement,
        command: &Command,
        place: &Place,
        found: &mut Vec<Finding>,
    ) {
        let Some(kept) = command.storage.as_ref().map(|storage| storage.kept) else { return };
        let mut names: Vec<(String, Kept)> = Vec::new();
        for one in references::unresolved(self.grammar, self.tree, command, &statement.values) {
            if !one.targets.contains(&Kept::PortRange) {
                names.push((one.name(self.grammar), one.targets[0]));
            }
        }
        if !matches!(kept, Kept::VirtualBind | Kept::VirtualBindRange) {
            names.extend(self.suggested(statement, command));
        }
        for (name, target) in names {
            let key = key_text(self.grammar, place, command, &statement.values);
            let line = self.places.get(kept, &key).map(|entry| entry.line);
            let words = self.words_of(target);
            let message = format!("there is no {words} {name}");
            found.push(Found::new(line, message).of(&UNKNOWN_NAME));
        }
    }

    /// Names in free text for which the stanza suggests statements, and that none of them has.
    fn suggested(&self, statement: &Statement, command: &Command) -> Vec<(String, Kept)> {
        let mut names = Vec::new();
        for (argument, value) in &statement.values {
            let argument = usize::from(*argument);
            let targets = command.suggestions.iter().filter(|(one, _)| *one == argument);
            let mut targets = targets.map(|(_, kept)| *kept).peekable();
            let (Some(first), Value::Text(name)) = (targets.peek().copied(), value) else {
                continue;
            };
            let name_of_argument = &command.arguments[argument].name;
            let is_there = targets
                .any(|kept| has_value(self.grammar, &self.tree.root, kept, name_of_argument, name));
            if !is_there && !self.is_built_in(first, name) {
                names.push((name.to_string(), first));
            }
        }
        names
    }

    /// Whether a name has a command of its own: it is there from the start (`context default`).
    fn is_built_in(&self, kept: Kept, name: &str) -> bool {
        let words = format!("{} {name}", self.words_of(kept));
        self.grammar.commands.iter().any(|command| {
            command.storage.is_none() && command.fixed_words().eq_ignore_ascii_case(&words)
        })
    }

    /// The words of the command whose statements have that name.
    fn words_of(&self, kept: Kept) -> String {
        let mut commands = self.grammar.commands.iter();
        let known = commands
            .find(|command| command.storage.as_ref().is_some_and(|storage| storage.kept == kept));
        known.map_or_else(String::new, Command::fixed_words)
    }
}

/// An access list that has no entry.
pub(in crate::check) static UNKNOWN_ACCESS_LIST: Rule = Rule {
    name: "unknown-access-list",
    severity: Severity::Warning,
    summary: "An access list that is applied has no entry and is not defined.",
    evidence: "remembered",
    look: Some(unknown_access_list),
};

fn unknown_access_list(subject: &Subject<'_>) -> Vec<Found> {
    let mut known: HashSet<String> = HashSet::new();
    for entry in subject.places.all(Kept::AccessListEntry) {
        known.extend(first_word(entry.values.first()));
    }
    for entry in subject.places.all(Kept::AccessList) {
        known.extend(first_word(entry.values.last()));
    }
    let kinds = [Kept::InterfaceAccessGroup, Kept::Telnet];
    let mut found: Vec<Found> = Vec::new();
    for entry in kinds.into_iter().flat_map(|kept| subject.places.all(kept)) {
        if let Some(name) = first_word(entry.values.last()).filter(|name| !known.contains(name)) {
            let message = format!("there is no access list {name}");
            found.push(Found::new(Some(entry.line), message));
        }
    }
    found
}

/// The number or the name that a text begins with, in lower case.
fn first_word(value: Option<&(u8, Value)>) -> Option<String> {
    match value {
        Some((_, Value::Text(text))) => text.split_whitespace().next().map(str::to_ascii_lowercase),
        _ => None,
    }
}

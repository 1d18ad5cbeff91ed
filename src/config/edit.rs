//! The only code that changes a statement tree.
//!
//! A line is a transaction: every rule of its stanza is checked first, in constant time, and only
//! then is anything changed. So a refused line leaves no trace, and reading n lines costs O(n).

use crate::config::render::MASK;
use crate::config::tree::{
    Block, Path, Reading, Statement, Tree, Values, group_of, key_of, same_key, same_value,
};
use crate::grammar::expand::Token;
use crate::grammar::link::{Kept, Message};
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{Command, Grammar, ModeId, Storage, Target};

/// Everything that is kept of what was typed.
#[derive(Debug, Default)]
pub struct Trees {
    /// The configuration.
    pub configuration: Tree,
    /// The settings of the emulated world.
    pub world: Tree,
}

/// Where a line was typed: the mode that took it and the block of that mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The mode.
    pub mode: ModeId,
    /// Its block.
    pub path: Path,
}

/// A line that is a command, but not now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is said.
    pub message: Message,
    /// Values for the places of the message.
    pub places: Vec<(&'static str, String)>,
}

impl Refusal {
    /// A refusal without places.
    pub fn new(message: Message) -> Self {
        Refusal { message, places: Vec::new() }
    }

    /// Adds the value of a place.
    #[must_use]
    pub fn with(mut self, place: &'static str, value: impl Into<String>) -> Self {
        self.places.push((place, value.into()));
        self
    }

    /// The text.
    pub fn text(&self, grammar: &Grammar) -> String {
        let places: Vec<(&str, &str)> =
            self.places.iter().map(|(place, value)| (*place, value.as_str())).collect();
        grammar.message(self.message, &places)
    }
}

/// What an accepted line did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Whether the configuration or the emulated world is another one now.
    pub changed: bool,
    /// Statements of the emulated world that were kept (`true`) or removed.
    pub world: Vec<(bool, Statement)>,
}

/// Changes the trees by one line.
#[derive(Debug)]
pub struct Editor<'a> {
    grammar: &'a Grammar,
    trees: &'a mut Trees,
    place: &'a Place,
    outcome: Outcome,
}

impl<'a> Editor<'a> {
    /// An editor for a line typed at `place`.
    pub fn new(grammar: &'a Grammar, trees: &'a mut Trees, place: &'a Place) -> Self {
        Editor { grammar, trees, place, outcome: Outcome::default() }
    }

    /// Keeps a statement.
    ///
    /// # Errors
    ///
    /// The rule of its stanza that forbids it; then nothing has changed.
    pub fn keep(mut self, command: &Command, values: &Values) -> Result<Outcome, Refusal> {
        let Some(storage) = &command.storage else { return Ok(self.outcome) };
        Self::check_secrets(command, values)?;
        self.check_references(command, values)?;
        check_values(storage, values)?;
        if !storage.each {
            self.check_needs(storage, command, values)?;
            self.put(command, storage, values, false);
            return Ok(self.outcome);
        }
        let entries = split(storage, values);
        let new = entries.iter().filter(|entry| self.is_new(command, entry)).count();
        self.check_room(command, storage, new)?;
        for entry in &entries {
            self.check_needs(storage, command, entry)?;
        }
        for entry in entries {
            self.put(command, storage, &entry, false);
        }
        Ok(self.outcome)
    }

    /// Removes a statement, or keeps its `no` form where that is a statement. `words` is what was
    /// typed behind `no`, for the answer.
    ///
    /// # Errors
    ///
    /// There is none, or a reference forbids it; then nothing has changed.
    pub fn remove(
        mut self,
        command: &Command,
        values: &Values,
        words: &str,
    ) -> Result<Outcome, Refusal> {
        let Some(storage) = &command.storage else { return Ok(self.outcome) };
        if storage.default_on || storage.no_kept {
            self.check_needs(storage, command, values)?;
            self.put(command, storage, &key_of(command, values), true);
            return Ok(self.outcome);
        }
        let entries = if storage.each { split(storage, values) } else { vec![values.clone()] };
        for entry in &entries {
            let key = key_of(command, entry);
            if self.is_new(command, entry) {
                if key.is_empty() {
                    // `no` of a switch that is off says nothing (decisions 1.7).
                    return Ok(self.outcome);
                }
                return Err(Refusal::new(Message::NoSuchEntry).with("words", words));
            }
            self.check_unused(storage, entry)?;
        }
        for entry in &entries {
            self.take(command, storage, &key_of(command, entry));
        }
        Ok(self.outcome)
    }

    /// Removes the statements that a `clear` names.
    ///
    /// # Errors
    ///
    /// There is none in the group that it names.
    pub fn clear(
        mut self,
        command: &Command,
        targets: &[Target],
        values: &Values,
        words: &str,
    ) -> Result<Outcome, Refusal> {
        let grammar = self.grammar;
        for target in targets {
            let group = match target {
                Target::Group(argument) => self.group_named(command, *argument, values),
                Target::Name(_) | Target::Negated(_) => None,
            };
            let Some(block) = self.block() else { return Ok(self.outcome) };
            if let Some(group) = &group
                && !block.has_group(group)
            {
                return Err(Refusal::new(Message::NoSuchEntry).with("words", words));
            }
            let found: Vec<_> = block
                .statements()
                .filter(|statement| is_target(grammar, statement, *target, group.as_deref()))
                .map(|one| (one.command, key_of(grammar.command(one.command), &one.values)))
                .collect();
            for (command, key) in found {
                let command = grammar.command(command);
                if let Some(storage) = &command.storage {
                    self.take(command, storage, &key);
                }
            }
        }
        Ok(self.outcome)
    }

    /// Keeps a statement that has a block, with the values that the line adds to it.
    ///
    /// # Errors
    ///
    /// The rule of its stanza that forbids it.
    pub fn open(mut self, command: &Command, values: &Values) -> Result<Outcome, Refusal> {
        let Some(storage) = &command.storage else { return Ok(self.outcome) };
        self.check_references(command, values)?;
        check_values(storage, values)?;
        self.check_needs(storage, command, values)?;
        let key = key_of(command, values);
        let grammar = self.grammar;
        let Some(block) = self.block_mut() else { return Ok(self.outcome) };
        if let Some(statement) = block.find_mut(command, &key) {
            let mut merged = values.clone();
            for (argument, value) in &statement.values {
                if !merged.iter().any(|(position, _)| position == argument) {
                    merged.push((*argument, value.clone()));
                }
            }
            merged.sort_by_key(|(argument, _)| *argument);
            if merged != statement.values {
                // The key keeps the spelling of its first entry: prompts and displays show it.
                for (argument, value) in &mut merged {
                    if storage.key.contains(&usize::from(*argument))
                        && let Some(old) = statement.value_at(usize::from(*argument))
                    {
                        value.clone_from(old);
                    }
                }
                let changed = merged != statement.values;
                statement.values = merged;
                self.outcome.changed |= changed;
            }
        } else {
            let statement = Statement::opening(command.id, values.clone());
            self.trees.configuration.note(grammar, &statement, true);
            if let Some(block) = self.block_mut() {
                block.put(grammar, statement);
            }
            // An empty block that exists once is not printed, so nothing has changed yet.
            self.outcome.changed |= !key.is_empty();
        }
        Ok(self.outcome)
    }

    fn tree(&self, world: bool) -> &Tree {
        if world { &self.trees.world } else { &self.trees.configuration }
    }

    fn block(&self) -> Option<&Block> {
        self.trees.configuration.block(self.grammar, &self.place.path)
    }

    fn block_mut(&mut self) -> Option<&mut Block> {
        self.trees.configuration.block_mut(self.grammar, &self.place.path)
    }

    /// The block that statements of that storage stand in.
    fn home(&self, storage: &Storage) -> Option<&Block> {
        if storage.world { Some(&self.tree(true).root) } else { self.block() }
    }

    fn home_mut(&mut self, storage: &Storage) -> Option<&mut Block> {
        if storage.world { Some(&mut self.trees.world.root) } else { self.block_mut() }
    }

    fn is_new(&self, command: &Command, values: &Values) -> bool {
        let storage = command.storage.as_ref();
        let home = storage.and_then(|storage| self.home(storage));
        home.is_none_or(|block| block.find(command, values).is_none())
    }

    /// Five dots are what displays print for a secret; they cannot be one (decisions 1.8).
    fn check_secrets(command: &Command, values: &Values) -> Result<(), Refusal> {
        let is_masked = values.iter().any(|(argument, value)| {
            command.arguments[usize::from(*argument)].is_secret()
                && matches!(value, Value::Text(text)
                    if text.split_whitespace().any(|word| word == MASK))
        });
        if is_masked { Err(Refusal::new(Message::MaskedSecret)) } else { Ok(()) }
    }

    fn check_references(&self, command: &Command, values: &Values) -> Result<(), Refusal> {
        for (argument, value) in values {
            let argument = &command.arguments[usize::from(*argument)];
            if let ValueType::Reference(kept, _) = argument.value_type
                && !self.trees.configuration.has_target(kept, value)
            {
                let mut name = String::new();
                argument.value_type.print(&self.grammar.choices, value, &mut name);
                return Err(no_such_reference(kept, &name));
            }
        }
        Ok(())
    }

    fn check_needs(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        for need in &storage.needs {
            let there = match need.kept {
                None => group_of(self.grammar, command, values)
                    .is_none_or(|group| self.home(storage).is_some_and(|b| b.has_group(&group))),
                Some(kept) => self.related(storage, command, values, kept).is_some(),
            };
            if !there {
                let mut refusal = Refusal::new(need.message);
                for (argument, value) in values {
                    let argument = &command.arguments[usize::from(*argument)];
                    let mut text = String::new();
                    argument.value_type.print(&self.grammar.choices, value, &mut text);
                    if let Some(place) = PLACES.iter().find(|place| **place == argument.name) {
                        refusal = refusal.with(place, text);
                    }
                }
                return Err(refusal);
            }
        }
        if storage.at_most.is_some() && self.is_new(command, values) && !storage.each {
            self.check_room(command, storage, 1)?;
        }
        Ok(())
    }

    fn check_room(&self, command: &Command, storage: &Storage, new: usize) -> Result<(), Refusal> {
        let Some(most) = storage.at_most else { return Ok(()) };
        let held = self.home(storage).map_or(0, |block| {
            block.statements().filter(|statement| statement.command == command.id).count()
        });
        if (held + new) as u64 > most && new > 0 {
            return Err(Refusal::new(Message::AtMost)
                .with("limit", most.to_string())
                .with("words", fixed_words(command)));
        }
        Ok(())
    }

    fn check_unused(&self, storage: &Storage, values: &Values) -> Result<(), Refusal> {
        let Some(message) = storage.in_use else { return Ok(()) };
        let last = storage
            .key
            .last()
            .and_then(|key| values.iter().find(|(position, _)| usize::from(*position) == *key));
        match last {
            Some((_, value)) if self.trees.configuration.is_used(storage.kept, value) => {
                let mut name = String::new();
                ValueType::Line.print(&self.grammar.choices, value, &mut name);
                Err(Refusal::new(message).with("name", name))
            }
            _ => Ok(()),
        }
    }

    /// The statement named `kept` whose key has the values that this line gives to arguments of
    /// the same names.
    fn related(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
        kept: Kept,
    ) -> Option<(&'a Command, Values)> {
        let other = self.grammar.keeping(self.place.mode, kept)?;
        let key = key_for(other, command, values)?;
        self.home(storage)?.find(other, &key).map(|_| (other, key))
    }

    /// Puts a statement that passed all checks.
    fn put(&mut self, command: &Command, storage: &Storage, values: &Values, negated: bool) {
        let grammar = self.grammar;
        for kept in storage.excludes.iter().filter(|_| !negated) {
            let Some((other, key)) = self.related(storage, command, values, *kept) else {
                continue;
            };
            // A `no` form excludes nothing and stays.
            let is_on = self.home(storage).and_then(|block| block.find(other, &key));
            if let Some(other_storage) = &other.storage
                && is_on.is_some_and(|statement| !statement.negated)
            {
                self.take(other, other_storage, &key);
            }
        }
        let Some(block) = self.home(storage) else { return };
        let old = block.find(command, values);
        let mut new = values.clone();
        if storage.merge
            && !negated
            && let Some(old) = old.filter(|old| !old.negated)
        {
            for (argument, value) in &old.values {
                if !new.iter().any(|(position, _)| position == argument) {
                    new.push((*argument, value.clone()));
                }
            }
        }
        new.retain(|(argument, value)| {
            !storage.defaults.iter().any(|(defaulted, default)| {
                *defaulted == usize::from(*argument) && default == value
            })
        });
        new.sort_by_key(|(argument, _)| *argument);
        let says_nothing =
            !negated && (storage.default_on || (new.is_empty() && !storage.defaults.is_empty()));
        if says_nothing {
            if old.is_some() {
                self.take(command, storage, values);
            }
            return;
        }
        if let Some(old) = old
            && old.negated == negated
        {
            // The key keeps the spelling of its first entry.
            for (argument, value) in &mut new {
                if storage.key.contains(&usize::from(*argument))
                    && let Some(known) = old.value_at(usize::from(*argument))
                {
                    let ignores_case =
                        command.arguments[usize::from(*argument)].value_type.ignores_case();
                    if same_value(known, value, ignores_case) {
                        value.clone_from(known);
                    }
                }
            }
            if old.values == new {
                return;
            }
        }
        let statement = Statement { command: command.id, negated, values: new, block: None };
        self.outcome.changed = true;
        if storage.world {
            self.outcome.world.push((true, statement.without_block()));
        }
        let tree =
            if storage.world { &mut self.trees.world } else { &mut self.trees.configuration };
        tree.note(grammar, &statement, true);
        let added = storage.adds.is_some()
            && !negated
            && old_is_absent(self.home(storage), command, values);
        let replaced = self.home_mut(storage).and_then(|block| block.put(grammar, statement));
        if let Some(old) = replaced {
            let tree =
                if storage.world { &mut self.trees.world } else { &mut self.trees.configuration };
            tree.note(grammar, &old, false);
            if storage.world {
                self.outcome.world.insert(
                    self.outcome.world.len().saturating_sub(1),
                    (false, old.without_block()),
                );
            }
        }
        if added {
            self.add_line(storage, command, values);
        }
    }

    /// The line that the device adds by itself below a new statement.
    fn add_line(&mut self, storage: &Storage, command: &Command, values: &Values) {
        let Some(line) = &storage.adds else { return };
        let grammar = self.grammar;
        let mode = self.place.mode;
        let mut text = line.clone();
        for (argument, value) in values {
            let argument = &command.arguments[usize::from(*argument)];
            let mut printed = String::new();
            argument.value_type.print(&grammar.choices, value, &mut printed);
            text = text.replace(&format!("<{}>", argument.name), &printed);
        }
        let words = crate::cli::words::split(&text);
        let Ok(hit) = crate::cli::matcher::match_in(grammar, mode, &words, &text) else { return };
        let added = grammar.command(hit.command);
        if let Some(storage) = &added.storage
            && !hit.negated
            && self.is_new(added, &hit.values)
        {
            self.put(added, storage, &hit.values, false);
        }
    }

    fn take(&mut self, command: &Command, storage: &Storage, key: &Values) {
        let grammar = self.grammar;
        let taken = self.home_mut(storage).and_then(|block| block.take(grammar, command, key));
        if let Some(statement) = taken {
            self.after_removal(storage, command, &statement);
        }
    }

    fn after_removal(&mut self, storage: &Storage, command: &Command, statement: &Statement) {
        let grammar = self.grammar;
        self.outcome.changed = true;
        let tree =
            if storage.world { &mut self.trees.world } else { &mut self.trees.configuration };
        tree.note(grammar, statement, false);
        for dependent in grammar.dependents(self.place.mode, storage.kept) {
            let dependent = grammar.command(*dependent);
            let Some(dependent_storage) = &dependent.storage else { continue };
            if let Some(key) = self.depending(storage, command, statement, dependent) {
                self.take(dependent, dependent_storage, &key);
            }
        }
        if storage.world {
            self.outcome.world.push((false, statement.without_block()));
        }
    }

    /// The key of the statement of `dependent` that stood under `statement`.
    fn depending(
        &self,
        storage: &Storage,
        command: &Command,
        statement: &Statement,
        dependent: &Command,
    ) -> Option<Values> {
        let key = key_for(dependent, command, &statement.values)?;
        let found = self.home(storage)?.find(dependent, &key)?;
        // It may stand under another statement with which it shares a part of its key.
        let mine = key_for(command, dependent, &found.values)?;
        same_key(command, &statement.values, &mine).then_some(key)
    }

    /// The value of a group as blocks know it.
    fn group_named(&self, command: &Command, argument: usize, values: &Values) -> Option<String> {
        let value = values_of(values, argument).next()?;
        let mut text = String::new();
        command.arguments[argument].value_type.print(&self.grammar.choices, value, &mut text);
        text.make_ascii_lowercase();
        Some(text)
    }
}

/// Names of arguments that messages may mention.
const PLACES: &[&str] = &["host", "addr", "name", "zone", "app", "port", "real", "policy"];

/// What is said of a `ref` to something that is not there.
pub fn no_such_reference(kept: Kept, name: &str) -> Refusal {
    let message = match kept {
        Kept::Zone => Message::NoSuchZone,
        Kept::Site => Message::NoSuchSite,
        Kept::Si => Message::NoSuchSi,
        Kept::HostPolicy => Message::NoSuchHostPolicy,
        _ => return Refusal::new(Message::NoSuchEntry).with("words", name),
    };
    Refusal::new(message).with("name", name)
}

fn old_is_absent(block: Option<&Block>, command: &Command, key: &Values) -> bool {
    block.is_some_and(|block| block.find(command, key).is_none())
}

fn check_values(storage: &Storage, values: &Values) -> Result<(), Refusal> {
    for rejection in &storage.rejects {
        let holds = |wanted: &Value| values_of(values, rejection.argument).any(|one| one == wanted);
        if holds(&rejection.value) && holds(&rejection.with) {
            return Err(Refusal::new(rejection.message));
        }
    }
    Ok(())
}

/// The words that a command begins with.
fn fixed_words(command: &Command) -> String {
    let words = command.forms.first().into_iter().flatten().map_while(|token| match token {
        Token::Word(spellings) => Some(spellings[0].as_str()),
        Token::Argument { .. } => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn values_of(values: &Values, argument: usize) -> impl Iterator<Item = &Value> {
    values
        .iter()
        .filter(move |(position, _)| usize::from(*position) == argument)
        .map(|(_, value)| value)
}

/// One set of values for each value of the repeated key.
fn split(storage: &Storage, values: &Values) -> Vec<Values> {
    let repeated = storage.key.last().copied().unwrap_or_default();
    if values_of(values, repeated).count() == 1 {
        return vec![values.clone()];
    }
    let rest: Values =
        values.iter().filter(|(position, _)| usize::from(*position) != repeated).cloned().collect();
    values
        .iter()
        .filter(|(position, _)| usize::from(*position) == repeated)
        .map(|entry| {
            let mut one = rest.clone();
            one.push(entry.clone());
            one.sort_by_key(|(argument, _)| *argument);
            one
        })
        .collect()
}

/// The key of `other` made of values that `command` has under the same names; `None` if it lacks
/// one of them.
fn key_for(other: &Command, command: &Command, values: &Values) -> Option<Values> {
    let storage = other.storage.as_ref()?;
    let mut key = Values::new();
    for argument in &storage.key {
        let name = &other.arguments[*argument].name;
        let mine = command.argument(name)?;
        let value = values_of(values, mine).next()?;
        key.push((u8::try_from(*argument).ok()?, value.clone()));
    }
    Some(key)
}

fn is_target(
    grammar: &Grammar,
    statement: &Statement,
    target: Target,
    group: Option<&str>,
) -> bool {
    let command = grammar.command(statement.command);
    let Some(storage) = &command.storage else { return false };
    match target {
        Target::Name(kept) => storage.kept == kept,
        Target::Negated(kept) => storage.kept == kept && statement.negated,
        Target::Group(_) => {
            group.is_some() && group_of(grammar, command, &statement.values).as_deref() == group
        }
    }
}

impl Statement {
    /// The statement without what stands in its block.
    fn without_block(&self) -> Statement {
        Statement {
            command: self.command,
            negated: self.negated,
            values: self.values.clone(),
            block: None,
        }
    }
}

/// The statements of a block with their commands at hand.
pub fn readings<'a>(
    grammar: &'a Grammar,
    block: &'a Block,
) -> impl Iterator<Item = Reading<'a>> + 'a {
    block.statements().map(move |statement| Reading { grammar, statement })
}

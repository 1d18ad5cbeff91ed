//! The only code that changes a statement tree.
//!
//! A line is a transaction: every rule of its stanza is checked first, in constant time, and only
//! then is anything changed. So a refused line leaves no trace, and reading n lines costs O(n).

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::behind::master_file::MasterFile;
use crate::cli::{matcher, words};
pub use crate::config::check::{Refusal, no_such_reference, password_in_clear};
use crate::config::check::{check_values, read_file};
use crate::config::render;
use crate::config::tree::{
    Block, Path, Reading, Statement, Tree, Values, group_of, key_of, same_key, same_value,
};
use crate::grammar::expand::Token;
use crate::grammar::link::{Kept, Message};
use crate::grammar::value::Value;
use crate::grammar::{Argument, Command, Grammar, ModeId, Storage, Target};
use crate::health::learned::LearnedAddresses;
use crate::secret;

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

/// What an accepted line did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Whether the configuration or the emulated world is another one now.
    pub changed: bool,
    /// Statements of the emulated world that were kept or removed.
    pub world: Vec<Change>,
    /// The line as it is kept, if a password stood in it in clear.
    pub sealed: Option<String>,
}

/// A statement of the emulated world that was kept or removed.
#[derive(Debug)]
pub struct Change {
    /// Whether it was kept.
    pub kept: bool,
    /// The statement.
    pub statement: Statement,
    /// The file that it names, as it was when the line was taken.
    pub file: Option<Arc<MasterFile>>,
}

/// Changes the trees by one line.
#[derive(Debug)]
pub struct Editor<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) trees: &'a mut Trees,
    pub(super) place: &'a Place,
    /// Whether the line comes from a file.
    pub(super) is_stored: bool,
    /// What was learned from the DNS server behind, which nothing is while a file is read.
    pub(super) learned: Option<&'a LearnedAddresses>,
    /// The file that the line names.
    file: Option<Arc<MasterFile>>,
    outcome: Outcome,
}

impl<'a> Editor<'a> {
    /// An editor for a line typed at `place`.
    pub fn new(grammar: &'a Grammar, trees: &'a mut Trees, place: &'a Place) -> Self {
        Editor {
            grammar,
            trees,
            place,
            is_stored: false,
            learned: None,
            file: None,
            outcome: Outcome::default(),
        }
    }

    /// The line may also be about addresses that were learned.
    #[must_use]
    pub fn knowing(mut self, learned: &'a LearnedAddresses) -> Self {
        self.learned = Some(learned);
        self
    }

    /// The line comes from a file, where a `ref` may name what is gone, for it can be removed while
    /// the `ref` stands: such a line sleeps until the other comes back (decisions 3.6).
    #[must_use]
    pub fn from_file(mut self) -> Self {
        self.is_stored = true;
        self
    }

    /// Keeps a statement.
    ///
    /// # Errors
    ///
    /// The rule of its stanza that forbids it; then nothing has changed.
    pub fn keep(mut self, command: &Command, values: &Values) -> Result<Outcome, Refusal> {
        let Some(storage) = &command.storage else { return Ok(self.outcome) };
        Self::check_secrets(command, values)?;
        self.check_references(storage, command, values)?;
        check_values(storage, values)?;
        self.check_claim(command, values)?;
        self.check_differs(storage, command, values)?;
        self.check_numbers(storage, command, values)?;
        self.check_first(storage, command, values)?;
        self.check_device(storage, command, values)?;
        self.check_once(storage, command, values)?;
        self.file = read_file(command, values)?;
        if storage.each.is_empty() {
            self.check_needs(storage, command, values)?;
            let changed = match self.seal(command, values)? {
                None => self.gathered(storage, command, values),
                sealed => sealed,
            };
            self.put(command, storage, changed.unwrap_or_else(|| values.clone()), false);
            return Ok(self.outcome);
        }
        let entries = split(storage, values);
        if storage.at_most.is_some() {
            let new = entries.iter().filter(|entry| self.is_new(command, entry)).count();
            self.check_room(command, storage, new)?;
        }
        for entry in &entries {
            self.check_needs(storage, command, entry)?;
        }
        for entry in entries {
            self.put(command, storage, entry, false);
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
            self.put(command, storage, key_of(command, values), true);
            return Ok(self.outcome);
        }
        if let Some(left) = self.left_over(storage, command, values, words)? {
            self.put(command, storage, left, false);
            return Ok(self.outcome);
        }
        let entries = if storage.each.is_empty() {
            smallvec![values.clone()]
        } else {
            split(storage, values)
        };
        for entry in &entries {
            if self.is_new(command, entry) {
                if storage.key.is_empty() {
                    // `no` of a switch that is off says nothing (decisions 1.7).
                    return Ok(self.outcome);
                }
                return Err(self.not_there(storage, command, entry, words));
            }
            self.check_unused(storage, entry)?;
            self.check_primary(storage, command, entry)?;
        }
        for entry in &entries {
            self.take(command, storage, entry);
            self.add_again(command, storage, entry);
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
                Target::Name(_) | Target::Negated(_) | Target::With(..) => None,
            };
            let is_wanted = |statement: &Statement| match target {
                Target::With(kept, arguments) => {
                    let one = grammar.command(statement.command);
                    one.storage.as_ref().is_some_and(|storage| storage.kept == *kept)
                        && agree(command, values, arguments, one, &statement.values)
                }
                target => is_target(grammar, statement, target, group.as_deref()),
            };
            let Some(block) = self.block() else { return Ok(self.outcome) };
            if let Some(group) = &group
                && !block.has_group(group)
            {
                return Err(Refusal::new(Message::NoSuchEntry).with("words", words));
            }
            let found: Vec<_> = block
                .statements()
                .filter(|statement| is_wanted(statement))
                .map(|one| (one.command, key_of(grammar.command(one.command), &one.values)))
                .collect();
            if matches!(target, Target::With(..)) && found.is_empty() {
                return Err(Refusal::new(Message::NoSuchEntry).with("words", words));
            }
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
        Self::check_secrets(command, values)?;
        self.check_references(storage, command, values)?;
        check_values(storage, values)?;
        self.check_claim(command, values)?;
        self.check_differs(storage, command, values)?;
        self.check_needs(storage, command, values)?;
        self.check_device(storage, command, values)?;
        let grammar = self.grammar;
        let Some(block) = self.block_mut() else { return Ok(self.outcome) };
        if let Some(statement) = block.find_mut(command, values) {
            let mut new = values.clone();
            if storage.merge {
                merge(&statement.values, &mut new);
            }
            keep_spelling(command, storage, &statement.values, &mut new);
            if statement.values != new {
                statement.values = new;
                self.outcome.changed = true;
            }
        } else {
            let statement = Statement::opening(command.id, values.clone());
            self.trees.configuration.note(grammar, &statement, true);
            if let Some(block) = self.block_mut() {
                block.put(grammar, statement);
            }
            // An empty block that exists once is not printed, so nothing has changed yet.
            self.outcome.changed |= !storage.key.is_empty();
        }
        Ok(self.outcome)
    }

    /// Gives the statement that opened the block of the line the values of the line.
    ///
    /// # Errors
    ///
    /// A rule for values that forbids one.
    pub fn alter(mut self, command: &Command, values: &Values) -> Result<Outcome, Refusal> {
        Self::check_secrets(command, values)?;
        let grammar = self.grammar;
        let Some(((opener, key), outer)) = self.place.path.split_last() else {
            return Ok(self.outcome);
        };
        let opener = grammar.command(*opener);
        let block = self.trees.configuration.block_mut(grammar, &outer.to_vec());
        let Some(statement) = block.and_then(|block| block.find_mut(opener, key)) else {
            return Ok(self.outcome);
        };
        for (argument, value) in values {
            let name = &command.arguments[usize::from(*argument)].name;
            let place = opener.argument(name).and_then(|place| u8::try_from(place).ok());
            let Some(place) = place else { continue };
            let mut new: Values =
                statement.values.iter().filter(|(one, _)| *one != place).cloned().collect();
            new.push((place, value.clone()));
            new.sort_by_key(|(argument, _)| *argument);
            if new != statement.values {
                statement.values = new;
                self.outcome.changed = true;
            }
        }
        Ok(self.outcome)
    }

    fn tree(&self, world: bool) -> &Tree {
        if world { &self.trees.world } else { &self.trees.configuration }
    }

    fn tree_mut(&mut self, world: bool) -> &mut Tree {
        if world { &mut self.trees.world } else { &mut self.trees.configuration }
    }

    fn block(&self) -> Option<&Block> {
        self.trees.configuration.block(self.grammar, &self.place.path)
    }

    fn block_mut(&mut self) -> Option<&mut Block> {
        self.trees.configuration.block_mut(self.grammar, &self.place.path)
    }

    /// The block that statements of that storage stand in.
    pub(super) fn home(&self, storage: &Storage) -> Option<&Block> {
        if storage.world { Some(&self.tree(true).root) } else { self.block() }
    }

    fn home_mut(&mut self, storage: &Storage) -> Option<&mut Block> {
        if storage.world { Some(&mut self.trees.world.root) } else { self.block_mut() }
    }

    pub(super) fn is_new(&self, command: &Command, values: &Values) -> bool {
        let storage = command.storage.as_ref();
        let home = storage.and_then(|storage| self.home(storage));
        home.is_none_or(|block| block.find(command, values).is_none())
    }

    /// The values with a hash in place of a password in clear; `None` if there is none. The hash
    /// that is kept already stays if it is that of the same password.
    fn seal(&mut self, command: &Command, values: &Values) -> Result<Option<Values>, Refusal> {
        let Some((place, password)) = password_in_clear(command, values) else { return Ok(None) };
        let known = command.storage.as_ref().and_then(|storage| self.home(storage));
        let known = known.and_then(|block| block.find(command, values));
        let known = known.and_then(|one| one.value_at(usize::from(values[place].0)));
        let hash = match known {
            Some(Value::Text(known)) if secret::verify(password, Some(known)) => known.clone(),
            _ => secret::stored(password)
                .ok_or_else(|| Refusal::new(Message::PasswordNotKept))?
                .into(),
        };
        let mut sealed = values.clone();
        sealed[place].1 = Value::Text(hash);
        let statement =
            Statement { command: command.id, negated: false, values: sealed.clone(), block: None };
        self.outcome.sealed = Some(render::line(self.grammar, &statement));
        Ok(Some(sealed))
    }

    /// The statement named `kept` whose key has the values that this line gives to arguments of
    /// the same names.
    pub(super) fn related(
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
    fn put(&mut self, command: &Command, storage: &Storage, values: Values, negated: bool) {
        let grammar = self.grammar;
        if !negated {
            self.exclude(command, storage, &values);
        }
        let Some(block) = self.home(storage) else { return };
        let old = block.find(command, &values);
        let mut new = values;
        if storage.merge
            && !negated
            && let Some(old) = old.filter(|old| !old.negated)
        {
            merge(&old.values, &mut new);
        }
        if !storage.defaults.is_empty() {
            new.retain(|(argument, value)| {
                !storage.defaults.iter().any(|(defaulted, default)| {
                    *defaulted == usize::from(*argument) && default == value
                })
            });
        }
        let says_nothing = !negated
            && (storage.default_on
                || !storage.defaults.is_empty() && !says_something(command, &new));
        if says_nothing {
            if old.is_some() {
                self.take(command, storage, &new);
            }
            return;
        }
        if let Some(old) = old
            && old.negated == negated
        {
            keep_spelling(command, storage, &old.values, &mut new);
            if old.values == new {
                if storage.again {
                    let again = old.without_block();
                    self.note_change(true, again);
                }
                return;
            }
        }
        let former = old.map(Statement::without_block);
        let adds = storage.adds.is_some() && !negated && old.is_none();
        let added = if adds { self.added_line(storage, command, &new) } else { None };
        let statement = Statement { command: command.id, negated, values: new, block: None };
        self.outcome.changed = true;
        if storage.world {
            self.note_change(true, statement.without_block());
        }
        self.tree_mut(storage.world).note(grammar, &statement, true);
        let replaced = self.home_mut(storage).and_then(|block| block.put(grammar, statement));
        if let Some(old) = replaced {
            self.tree_mut(storage.world).note(grammar, &old, false);
            if storage.world && !storage.again {
                let place = self.outcome.world.len().saturating_sub(1);
                let removed = Change { kept: false, statement: old.without_block(), file: None };
                self.outcome.world.insert(place, removed);
            }
        }
        self.wait(command, storage, former);
        if let Some((added, values)) = added
            && let Some(storage) = &added.storage
            && self.is_new(added, &values)
        {
            self.put(added, storage, values, false);
        }
    }

    /// Lets what was there count until the change is applied, if the block is referred to.
    fn wait(&mut self, command: &Command, storage: &Storage, former: Option<Statement>) {
        let Some((opener, key)) = self.place.path.last().filter(|_| storage.waits) else { return };
        let outer = self.grammar.command(*opener).storage.as_ref();
        let is_used = outer
            .zip(key.last())
            .is_some_and(|(outer, (_, value))| self.trees.configuration.is_used(outer.kept, value));
        if let Some(block) = self.block_mut().filter(|block| is_used || !block.waiting().is_empty())
        {
            block.wait(command, former);
        }
    }

    /// Lets the changes count that wait in the blocks of statements of that name.
    pub fn apply(mut self, kept: Kept) -> Outcome {
        let root = self.grammar.root_mode();
        if let Some(opener) = root.and_then(|root| self.grammar.keeping(root, kept)) {
            let blocks = self.trees.configuration.root.blocks_of(opener.id);
            for block in blocks {
                self.outcome.changed |= block.apply();
            }
        }
        self.outcome
    }

    /// Removes what a statement excludes.
    fn exclude(&mut self, command: &Command, storage: &Storage, values: &Values) {
        for kept in &storage.excludes {
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
    }

    /// The line that the device adds by itself below a statement.
    fn added_line(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Option<(&'a Command, Values)> {
        let grammar = self.grammar;
        let mut text = storage.adds.clone()?;
        for (argument, value) in values {
            let argument = &command.arguments[usize::from(*argument)];
            let mut printed = String::new();
            grammar.print_value(argument, value, &mut printed);
            text = text.replace(&format!("<{}>", argument.name), &printed);
        }
        let hit = matcher::match_in(grammar, self.place.mode, &words::split(&text), &text).ok()?;
        (!hit.negated).then(|| (grammar.command(hit.command), hit.values))
    }

    /// A line that the device adds by itself comes back when it alone is removed, as long as the
    /// statement is there that it belongs to. So what is printed is what is read back.
    fn add_again(&mut self, removed: &Command, storage: &Storage, values: &Values) {
        let Some(block) = self.home(storage) else { return };
        let added = self.grammar.adding(self.place.mode, storage.kept).and_then(|adding| {
            let key = key_for(adding, removed, values)?;
            let statement = block.find(adding, &key).filter(|statement| !statement.negated)?;
            self.added_line(adding.storage.as_ref()?, adding, &statement.values)
        });
        if let Some((added, values)) = added
            && let Some(storage) = &added.storage
            && self.is_new(added, &values)
        {
            self.put(added, storage, values, false);
        }
    }

    fn take(&mut self, command: &Command, storage: &Storage, key: &Values) {
        let grammar = self.grammar;
        let taken = self.home_mut(storage).and_then(|block| block.take(grammar, command, key));
        if let Some(statement) = taken {
            self.wait(command, storage, Some(statement.without_block()));
            self.after_removal(storage, command, &statement);
        }
    }

    fn after_removal(&mut self, storage: &Storage, command: &Command, statement: &Statement) {
        let grammar = self.grammar;
        self.outcome.changed = true;
        self.tree_mut(storage.world).note(grammar, statement, false);
        for dependent in grammar.dependents(self.place.mode, storage.kept) {
            let dependent = grammar.command(*dependent);
            let Some(dependent_storage) = &dependent.storage else { continue };
            for key in self.depending(storage, command, statement, dependent) {
                self.take(dependent, dependent_storage, &key);
            }
        }
        self.remove_rest_of_group(command, storage, statement);
        if storage.world {
            self.note_change(false, statement.without_block());
        }
    }

    /// Takes note of a statement of the emulated world that was kept or removed.
    fn note_change(&mut self, kept: bool, statement: Statement) {
        let file = if kept { self.file.clone() } else { None };
        self.outcome.world.push(Change { kept, statement, file });
    }

    /// What needs another statement of its group goes with the last of those.
    fn remove_rest_of_group(
        &mut self,
        command: &Command,
        storage: &Storage,
        statement: &Statement,
    ) {
        let grammar = self.grammar;
        let dependents = grammar.group_dependents(self.place.mode);
        if dependents.is_empty() {
            return;
        }
        let Some(group) = group_of(grammar, command, &statement.values) else { return };
        if self.home(storage).is_none_or(|block| block.has_group(&group)) {
            return;
        }
        for dependent in dependents {
            let dependent = grammar.command(*dependent);
            if let Some(dependent_storage) = &dependent.storage
                && let Some(key) = key_for(dependent, command, &statement.values)
            {
                self.take(dependent, dependent_storage, &key);
            }
        }
    }

    /// The keys of the statements of `dependent` that stood under `statement`.
    fn depending(
        &self,
        storage: &Storage,
        command: &Command,
        statement: &Statement,
        dependent: &Command,
    ) -> Vec<Values> {
        let Some(home) = self.home(storage) else { return Vec::new() };
        // It may stand under another statement with which it shares a part of its key.
        let stood_under = |found: &&Statement| {
            let mine = key_for(command, dependent, &found.values);
            mine.is_some_and(|mine| same_key(command, &statement.values, &mine))
        };
        if let Some(key) = key_for(dependent, command, &statement.values) {
            return home
                .find(dependent, &key)
                .filter(stood_under)
                .map(|_| key)
                .into_iter()
                .collect();
        }
        // Its key says more than the statement: there may be several.
        home.statements()
            .filter(|found| found.command == dependent.id)
            .filter(stood_under)
            .map(|found| key_of(dependent, &found.values))
            .collect()
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

/// Whether a line could be written with just these values, and at least one.
fn says_something(command: &Command, values: &Values) -> bool {
    let has = |argument: usize| values_of(values, argument).next().is_some();
    !values.is_empty()
        && command.forms[..command.printed_forms].iter().any(|form| {
            form.iter().all(|token| match token {
                Token::Argument { argument, .. } => has(*argument),
                Token::Word(_) => true,
            })
        })
}

/// Adds the old values of arguments that the new ones leave out.
fn merge(old: &Values, new: &mut Values) {
    let given = new.len();
    for (argument, value) in old {
        if !new[..given].iter().any(|(position, _)| position == argument) {
            new.push((*argument, value.clone()));
        }
    }
    new.sort_by_key(|(argument, _)| *argument);
}

/// The key keeps the spelling of its first entry: prompts and displays show it.
fn keep_spelling(command: &Command, storage: &Storage, old: &Values, new: &mut Values) {
    for (argument, value) in new {
        let position = usize::from(*argument);
        let ignores_case = command.arguments[position].value_type.ignores_case();
        if ignores_case && storage.key.contains(&position) {
            let known = values_of(old, position).find(|known| same_value(known, value, true));
            if let Some(known) = known {
                value.clone_from(known);
            }
        }
    }
}

pub(super) fn values_of(values: &Values, argument: usize) -> impl Iterator<Item = &Value> {
    values
        .iter()
        .filter(move |(position, _)| usize::from(*position) == argument)
        .map(|(_, value)| value)
}

/// One set of values for each entry of the list.
fn split(storage: &Storage, values: &Values) -> SmallVec<[Values; 1]> {
    let is_listed = |(argument, _): &&(u8, Value)| storage.each.contains(&usize::from(*argument));
    if values.iter().filter(is_listed).count() == storage.each.len() {
        // One entry: most lines of a file.
        return smallvec![values.clone()];
    }
    let rest: Values = values.iter().filter(|value| !is_listed(value)).cloned().collect();
    let listed: Vec<&(u8, Value)> = values.iter().filter(is_listed).collect();
    // The values of one argument stand together, so the nth entry has the nth of each.
    let number = listed.len() / storage.each.len().max(1);
    (0..number)
        .map(|entry| {
            let mut one = rest.clone();
            one.extend(listed.iter().skip(entry).step_by(number).map(|value| (*value).clone()));
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

/// Whether the values of a statement are those that a line gives to arguments of the same names.
fn agree(
    command: &Command,
    values: &Values,
    arguments: &[usize],
    other: &Command,
    found: &Values,
) -> bool {
    arguments.iter().all(|argument| {
        let Argument { name, value_type, .. } = &command.arguments[*argument];
        let wanted = values_of(values, *argument).next();
        let held = other.argument(name).and_then(|place| values_of(found, place).next());
        wanted
            .zip(held)
            .is_some_and(|(one, other)| same_value(one, other, value_type.ignores_case()))
    })
}

fn is_target(
    grammar: &Grammar,
    statement: &Statement,
    target: &Target,
    group: Option<&str>,
) -> bool {
    let command = grammar.command(statement.command);
    let Some(storage) = &command.storage else { return false };
    match target {
        Target::Name(kept) => storage.kept == *kept,
        Target::Negated(kept) => storage.kept == *kept && statement.negated,
        Target::Group(_) | Target::With(..) => {
            group.is_some() && group_of(grammar, command, &statement.values).as_deref() == group
        }
    }
}

impl Statement {
    /// The statement without what stands in its block.
    pub(crate) fn without_block(&self) -> Statement {
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

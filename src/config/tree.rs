//! Blocks of accepted statements, each under its command and its key.
//!
//! Knows nothing of what statements mean. Looking a statement up, adding and replacing one cost
//! constant time, so a file of n lines is read in time proportional to n.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::net::IpAddr;

use arcstr::ArcStr;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use smallvec::{SmallVec, smallvec};

use crate::config::addresses::Addresses;
use crate::config::interfaces::address_and_mask;
use crate::grammar::link::Kept;
use crate::grammar::value::{Fit, Value, ValueType};
use crate::grammar::{Command, CommandId, Grammar};
use crate::revision::Revision;

/// Values of a statement with the positions of their arguments, in the order of the arguments.
/// A repeated argument stands here several times.
pub type Values = SmallVec<[(u8, Value); 2]>;

/// A configuration, or the settings of the emulated world.
#[derive(Debug, Default)]
pub struct Tree {
    /// The block of the root mode.
    pub root: Block,
    /// How many statements a `ref` may name, by name of the statement and last key.
    targets: HashMap<(Kept, String), u32>,
    /// How many statements hold a `ref` to that.
    uses: HashMap<(Kept, String), u32>,
    /// How many statements claim a domain name with everything below it.
    wide_claims: u32,
    /// The addresses of interfaces.
    addresses: Addresses,
}

/// The statements of one instance of a mode.
#[derive(Debug, Default)]
pub struct Block {
    /// Slots in order of entry; a removed statement leaves its slot empty.
    slots: Vec<Option<Statement>>,
    live: usize,
    /// Slots by the hash of command and key, once there are more than a few.
    index: HashTable<Indexed>,
    /// Its seed, so that no file can be written that makes the search slow.
    hasher: DefaultHashBuilder,
    /// Number of statements of the commands that limit it.
    counts: SmallVec<[(CommandId, u64); 1]>,
    /// Number of statements that make each group, by the group's value in lower case.
    groups: HashMap<ArcStr, u32>,
    /// Lines that the grammar does not know, each behind the slot that it followed.
    pub opaque: Vec<Opaque>,
    /// What counts instead of statements whose change waits to be applied.
    waiting: SmallVec<[Former; 0]>,
    revision: Revision,
}

/// What counts of a command until a change is applied.
#[derive(Debug)]
pub struct Former {
    /// The command, whose statement exists once in the block.
    pub command: CommandId,
    /// What was there; `None`: nothing.
    pub statement: Option<Statement>,
}

/// A slot with half the hash of what stands in it, so that the index grows without a look at the
/// statements.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    hash: u32,
    slot: u32,
}

impl Indexed {
    /// The hash by which the index knows it: both ends of it count there, for the place and for the mark
    /// of an entry.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }

    fn enter(self, index: &mut HashTable<Indexed>) {
        index.insert_unique(Self::spread(self.hash), self, |one| Self::spread(one.hash));
    }
}

/// A kept statement.
#[derive(Debug)]
pub struct Statement {
    /// Its command.
    pub command: CommandId,
    /// Whether it is the `no` form.
    pub negated: bool,
    /// Its values without those that say the default.
    pub values: Values,
    /// Its block, if its command opens one.
    pub block: Option<Box<Block>>,
}

/// A line that the grammar does not know, with the indented lines under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Slots that stood before it.
    pub after: usize,
    /// The lines as they stood in the file, without the indent of the block.
    pub lines: Vec<String>,
}

/// From the root to a block: opening commands and the values of their keys.
pub type Path = Vec<(CommandId, Values)>;

/// Blocks of up to so many slots are searched from end to end.
const SEARCHED: usize = 8;

impl Block {
    /// The statements in order of entry.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.numbered().map(|(_, statement)| statement)
    }

    /// The statements with their slots.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Statement)> {
        self.slots.iter().enumerate().filter_map(|(slot, one)| {
            #[cfg(test)]
            super::work::look();
            Some((slot, one.as_ref()?))
        })
    }

    /// Changes whenever a statement of this block may have changed; the blocks of its statements have
    /// their own.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Number of statements.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether nothing is kept here, not even an opaque line.
    pub fn is_empty(&self) -> bool {
        self.live == 0 && self.opaque.is_empty()
    }

    /// Number of slots, used and empty; an opaque line remembers it as its place.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many statements of a command there are, if its stanza limits their number.
    pub fn counted(&self, command: CommandId) -> u64 {
        self.counts.iter().find(|(known, _)| *known == command).map_or(0, |(_, number)| *number)
    }

    fn count(&mut self, command: &Command, up: bool) {
        if command.storage.as_ref().is_none_or(|storage| storage.at_most.is_none()) {
            return;
        }
        match self.counts.iter_mut().find(|(known, _)| *known == command.id) {
            Some((_, number)) if up => *number += 1,
            Some((_, number)) => *number = number.saturating_sub(1),
            None => self.counts.push((command.id, u64::from(up))),
        }
    }

    /// The statement of a command with that key. Values that are no part of the key may stand
    /// beside it.
    pub fn find(&self, command: &Command, key: &Values) -> Option<&Statement> {
        self.slot(command, key).and_then(|slot| self.slots[slot].as_ref())
    }

    /// Like [`Block::find`], to change it.
    pub fn find_mut(&mut self, command: &Command, key: &Values) -> Option<&mut Statement> {
        self.revision = Revision::next();
        self.slot(command, key).and_then(|slot| self.slots[slot].as_mut())
    }

    /// Whether some statement belongs to that group (its value in lower case).
    pub fn has_group(&self, value: &str) -> bool {
        self.groups.contains_key(value)
    }

    /// What counts instead of statements whose change waits to be applied.
    pub fn waiting(&self) -> &[Former] {
        &self.waiting
    }

    /// Lets a statement count, or its absence, until the changes are applied. Nothing waits if it is
    /// what stands there, and what waits already stays.
    pub(super) fn wait(&mut self, command: &Command, former: Option<Statement>) {
        if !self.waiting.iter().any(|one| one.command == command.id) {
            self.waiting.push(Former { command: command.id, statement: former });
        }
        let present = self.find(command, &Values::new()).map(|one| (one.negated, &one.values));
        let is_same = |former: &Former| {
            former.command == command.id
                && former.statement.as_ref().map(|one| (one.negated, &one.values)) == present
        };
        let same = self.waiting.iter().position(is_same);
        if let Some(same) = same {
            self.waiting.remove(same);
        }
        self.revision = Revision::next();
    }

    /// Lets all changes count, of this block and of those in it; whether any waited.
    pub(super) fn apply(&mut self) -> bool {
        let waited = !self.waiting.is_empty();
        self.waiting.clear();
        let blocks = self.slots.iter_mut().flatten().filter_map(|one| one.block.as_deref_mut());
        let waited = blocks.fold(waited, |waited, block| block.apply() || waited);
        if waited {
            self.revision = Revision::next();
        }
        waited
    }

    /// The blocks of the statements of a command.
    pub(super) fn blocks_of(&mut self, command: CommandId) -> impl Iterator<Item = &mut Block> {
        let statements = self.slots.iter_mut().flatten();
        let statements = statements.filter(move |statement| statement.command == command);
        statements.filter_map(|statement| statement.block.as_deref_mut())
    }

    /// Forgets the opaque lines of this block and of all blocks in it.
    pub fn forget_opaque(&mut self) {
        self.opaque.clear();
        for statement in self.slots.iter_mut().flatten() {
            if let Some(block) = &mut statement.block {
                block.forget_opaque();
            }
        }
    }

    fn slot(&self, command: &Command, key: &Values) -> Option<usize> {
        let is_it = |statement: &Statement| {
            statement.command == command.id && same_key(command, &statement.values, key)
        };
        if self.slots.len() <= SEARCHED {
            return self.slots.iter().position(|slot| slot.as_ref().is_some_and(is_it));
        }
        self.indexed(hash_key(&self.hasher, command, key), is_it)
    }

    fn indexed(&self, hash: u32, is_it: impl Fn(&Statement) -> bool) -> Option<usize> {
        let is_it = |one: &Indexed| {
            one.hash == hash && self.slots[one.slot as usize].as_ref().is_some_and(&is_it)
        };
        self.index.find(Indexed::spread(hash), is_it).map(|one| one.slot as usize)
    }

    /// Adds a statement whose key is not there, or puts it in the place of the one that is.
    /// Gives the statement that was there before.
    ///
    /// # Panics
    ///
    /// The block holds 2^32 statements, which no memory does.
    pub fn put(&mut self, grammar: &Grammar, mut statement: Statement) -> Option<Statement> {
        let command = grammar.command(statement.command);
        self.revision = Revision::next();
        statement.values.shrink_to_fit();
        let hash = hash_key(&self.hasher, command, &statement.values);
        let known = {
            let key = &statement.values;
            let is_it =
                |one: &Statement| one.command == command.id && same_key(command, &one.values, key);
            if self.slots.len() <= SEARCHED {
                self.slots.iter().position(|slot| slot.as_ref().is_some_and(is_it))
            } else {
                self.indexed(hash, is_it)
            }
        };
        if let Some(slot) = known {
            return self.slots[slot].replace(statement);
        }
        self.join_group(grammar, command, &mut statement.values);
        self.count(command, true);
        let slot = u32::try_from(self.slots.len()).expect("a block fits 32 bits");
        self.slots.push(Some(statement));
        self.live += 1;
        if self.slots.len() == SEARCHED + 1 {
            self.build_index(grammar);
        } else if self.slots.len() > SEARCHED {
            Indexed { hash, slot }.enter(&mut self.index);
        }
        None
    }

    /// Counts a new statement in its group. A block holds thousands of groups with a few statements
    /// each, so all of a group share the text of its name where they spell it in lower case.
    fn join_group(&mut self, grammar: &Grammar, command: &Command, values: &mut Values) {
        let Some(group) = group_of(grammar, command, values) else { return };
        let known = self.groups.get_key_value(&*group).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| ArcStr::from(&*group));
        let argument = command.storage.as_ref().and_then(|storage| storage.group);
        for (position, value) in values.iter_mut() {
            if Some(usize::from(*position)) == argument
                && let Value::Text(text) = value
                && **text == *name
            {
                *text = name.clone();
            }
        }
        if makes_group(command) {
            *self.groups.entry(name).or_insert(0) += 1;
        }
    }

    /// Removes the statement of a command with that key.
    pub fn take(
        &mut self,
        grammar: &Grammar,
        command: &Command,
        key: &Values,
    ) -> Option<Statement> {
        let slot = self.slot(command, key)?;
        self.take_slot(grammar, slot)
    }

    /// Removes the statement of a slot.
    pub fn take_slot(&mut self, grammar: &Grammar, slot: usize) -> Option<Statement> {
        let statement = self.slots.get_mut(slot)?.take()?;
        self.revision = Revision::next();
        self.live -= 1;
        let command = grammar.command(statement.command);
        self.count(command, false);
        if makes_group(command)
            && let Some(group) = group_of(grammar, command, &statement.values)
            && let Some(count) = self.groups.get_mut(&*group)
        {
            *count -= 1;
            if *count == 0 {
                self.groups.remove(&*group);
            }
        }
        if self.slots.len() > SEARCHED {
            let hash = hash_key(&self.hasher, command, &statement.values);
            if let Ok(entry) =
                self.index.find_entry(Indexed::spread(hash), |one| one.slot as usize == slot)
            {
                entry.remove();
            }
        }
        self.compact(grammar);
        Some(statement)
    }

    /// Closes the gaps once more than half of the slots are empty, so that a block which is
    /// changed again and again stays as large as what is in it.
    fn compact(&mut self, grammar: &Grammar) {
        if self.slots.len() < 32 || self.live * 2 > self.slots.len() {
            return;
        }
        let mut kept_before = Vec::with_capacity(self.slots.len() + 1);
        let mut kept = 0;
        for slot in &self.slots {
            kept_before.push(kept);
            kept += usize::from(slot.is_some());
        }
        kept_before.push(kept);
        for opaque in &mut self.opaque {
            opaque.after = kept_before.get(opaque.after).copied().unwrap_or(kept);
        }
        self.slots.retain(Option::is_some);
        #[cfg(test)]
        (0..kept).for_each(|_| super::work::look());
        self.build_index(grammar);
    }

    fn build_index(&mut self, grammar: &Grammar) {
        self.index.clear();
        if self.slots.len() <= SEARCHED {
            return;
        }
        for (slot, statement) in self.slots.iter().enumerate() {
            let Some(statement) = statement else { continue };
            let slot = u32::try_from(slot).expect("a block fits 32 bits");
            let hash =
                hash_key(&self.hasher, grammar.command(statement.command), &statement.values);
            Indexed { hash, slot }.enter(&mut self.index);
        }
    }

    /// Whether another block holds the same statements under the same keys, with the same blocks,
    /// whatever the order of entry, and the same opaque lines.
    pub fn holds_the_same(&self, grammar: &Grammar, other: &Block) -> bool {
        let lines = |block: &Block| -> Vec<Vec<String>> {
            let mut lines: Vec<_> = block.opaque.iter().map(|one| one.lines.clone()).collect();
            lines.sort_unstable();
            lines
        };
        // A block that exists once is there as soon as its mode was entered.
        let says_something = |statement: &&Statement| {
            statement.block.as_ref().is_none_or(|block| {
                !block.is_empty() || !key_of_command(grammar, statement.command).is_empty()
            })
        };
        let has = |statement: &Statement| {
            let found = other.find(grammar.command(statement.command), &statement.values);
            found.is_some_and(|found| {
                let blocks = match (&statement.block, &found.block) {
                    (Some(one), Some(other)) => one.holds_the_same(grammar, other),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                };
                blocks && statement.negated == found.negated && statement.values == found.values
            })
        };
        lines(self) == lines(other)
            && self.statements().filter(says_something).count()
                == other.statements().filter(says_something).count()
            && self.statements().filter(says_something).all(has)
    }
}

fn key_of_command(grammar: &Grammar, command: CommandId) -> &[usize] {
    grammar.command(command).storage.as_ref().map_or(&[], |storage| &storage.key)
}

impl Tree {
    /// The block at a path; `None` if one of its statements is gone.
    pub fn block(&self, grammar: &Grammar, path: &Path) -> Option<&Block> {
        let mut block = &self.root;
        for (command, key) in path {
            block = block.find(grammar.command(*command), key)?.block.as_deref()?;
        }
        Some(block)
    }

    /// Like [`Tree::block`], to change it. The statement of a block that exists once and has
    /// nothing in it yet is made on the way.
    pub fn block_mut(&mut self, grammar: &Grammar, path: &Path) -> Option<&mut Block> {
        let mut block = &mut self.root;
        for (command, key) in path {
            let command = grammar.command(*command);
            if key.is_empty() && block.find(command, key).is_none() {
                block.put(grammar, Statement::opening(command.id, Values::new()));
            }
            block = block.find_mut(command, key)?.block.as_deref_mut()?;
        }
        Some(block)
    }

    /// The statement of that name in the root block that exists once.
    pub fn global<'a>(&'a self, grammar: &'a Grammar, kept: Kept) -> Option<Reading<'a>> {
        let root = grammar.root_mode()?;
        let statement = self.root.find(grammar.keeping(root, kept)?, &Values::new())?;
        Some(Reading { grammar, statement })
    }

    /// The statement of that name in the root block whose only key is that word of a choice.
    pub fn keyed<'a>(
        &'a self,
        grammar: &'a Grammar,
        kept: Kept,
        word: &str,
    ) -> Option<Reading<'a>> {
        let command = grammar.keeping(grammar.root_mode()?, kept)?;
        let [argument] = command.storage.as_ref()?.key[..] else { return None };
        let fit = command.arguments[argument].value_type.fit(&grammar.choices, word, false);
        let Fit::Exact(value) = fit else { return None };
        let key = smallvec![(u8::try_from(argument).ok()?, value)];
        self.root.find(command, &key).map(|statement| Reading { grammar, statement })
    }

    /// The statements of that name in the root block, in order of entry.
    pub fn of<'a>(
        &'a self,
        grammar: &'a Grammar,
        kept: Kept,
    ) -> impl Iterator<Item = &'a Statement> {
        let command = grammar.root_mode().and_then(|root| grammar.keeping(root, kept));
        let command = command.map(|command| command.id);
        self.root.statements().filter(move |statement| Some(statement.command) == command)
    }

    /// Whether another tree holds the same, and what is referred to is counted alike.
    pub fn holds_the_same(&self, grammar: &Grammar, other: &Tree) -> bool {
        self.root.holds_the_same(grammar, &other.root)
            && self.targets == other.targets
            && self.uses == other.uses
            && self.wide_claims == other.wide_claims
            && self.addresses == other.addresses
    }

    /// Whether a statement of that name with that last key exists.
    pub fn has_target(&self, kept: Kept, value: &Value) -> bool {
        self.targets.contains_key(&(kept, reference_text(value)))
    }

    /// Whether some statement refers to it.
    pub fn is_used(&self, kept: Kept, value: &Value) -> bool {
        self.uses.contains_key(&(kept, reference_text(value)))
    }

    /// Whether some statement claims a domain name with everything below it.
    pub fn has_wide_claims(&self) -> bool {
        self.wide_claims > 0
    }

    /// The addresses of interfaces.
    pub(super) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Takes note of a statement that was kept (`true`) or removed, and of all in its block.
    pub fn note(&mut self, grammar: &Grammar, statement: &Statement, kept: bool) {
        let command = grammar.command(statement.command);
        let Some(storage) = &command.storage else { return };
        if storage.claim.as_ref().is_some_and(|claim| claim.below) {
            self.wide_claims =
                if kept { self.wide_claims + 1 } else { self.wide_claims.saturating_sub(1) };
        }
        if let Some((address, mask)) =
            storage.apart.and_then(|apart| address_and_mask(apart, &statement.values))
        {
            self.addresses.note(address, mask, kept);
        }
        if grammar.is_referenced(storage.kept)
            && let Some(last) = storage.key.last()
            && let Some(value) = statement.value_at(*last)
        {
            count(&mut self.targets, (storage.kept, reference_text(value)), kept);
        }
        for (argument, value) in &statement.values {
            let value_type = &command.arguments[usize::from(*argument)].value_type;
            if let ValueType::Reference(targets, _) = value_type {
                for target in targets {
                    count(&mut self.uses, (*target, reference_text(value)), kept);
                }
            }
        }
        if let Some(block) = &statement.block {
            for inner in block.statements() {
                self.note(grammar, inner, kept);
            }
        }
    }
}

fn count(counts: &mut HashMap<(Kept, String), u32>, key: (Kept, String), up: bool) {
    if up {
        *counts.entry(key).or_insert(0) += 1;
    } else if let Some(number) = counts.get_mut(&key) {
        *number -= 1;
        if *number == 0 {
            counts.remove(&key);
        }
    }
}

fn reference_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        Value::Choice(position) => position.to_string(),
        Value::Ipv4(address) => address.to_string(),
        Value::Ipv6(address) => address.to_string(),
        Value::Prefix(prefix) => format!("{}/{}", prefix.0, prefix.1),
    }
}

impl Statement {
    /// A statement with an empty block.
    pub fn opening(command: CommandId, values: Values) -> Self {
        Statement { command, negated: false, values, block: Some(Box::default()) }
    }

    /// The first value of an argument.
    pub fn value_at(&self, argument: usize) -> Option<&Value> {
        self.values
            .iter()
            .find(|(position, _)| usize::from(*position) == argument)
            .map(|(_, value)| value)
    }

    /// All values of an argument.
    pub fn values_at(&self, argument: usize) -> impl Iterator<Item = &Value> {
        self.values
            .iter()
            .filter(move |(position, _)| usize::from(*position) == argument)
            .map(|(_, value)| value)
    }
}

/// A statement together with its command, to read its values by name.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The grammar that it was accepted by.
    pub grammar: &'a Grammar,
    /// The statement.
    pub statement: &'a Statement,
}

impl<'a> Reading<'a> {
    /// The command of the statement.
    pub fn command(&self) -> &'a Command {
        self.grammar.command(self.statement.command)
    }

    /// The name of the statement.
    pub fn kept(&self) -> Option<Kept> {
        self.command().storage.as_ref().map(|storage| storage.kept)
    }

    /// The value of an argument.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.statement.value_at(self.command().argument(name)?)
    }

    /// A number of at most 64 bits that fits into `T`.
    pub fn number<T: TryFrom<u64>>(&self, name: &str) -> Option<T> {
        match self.value(name)? {
            Value::Number(number) => T::try_from(*number).ok(),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An address.
    pub fn address(&self, name: &str) -> Option<IpAddr> {
        self.value(name)?.address()
    }

    /// A prefix.
    pub fn prefix(&self, name: &str) -> Option<(IpAddr, u8)> {
        match self.value(name)? {
            Value::Prefix(prefix) => Some(**prefix),
            _ => None,
        }
    }

    /// The word of a choice.
    pub fn word(&self, name: &str) -> Option<&'a str> {
        self.words(name).next()
    }

    /// The words of a repeated choice.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let command = self.command();
        let argument = command.argument(name);
        let choice = argument.and_then(|argument| match command.arguments[argument].value_type {
            ValueType::Choice(id) => Some(&self.grammar.choices[id.0]),
            _ => None,
        });
        let statement = self.statement;
        argument
            .into_iter()
            .flat_map(move |argument| statement.values_at(argument))
            .filter_map(move |value| match value {
                Value::Choice(place) => choice?.words.get(usize::from(*place)),
                Value::Number(number) => {
                    choice?.words.iter().find(|word| word.number == Some(*number))
                }
                _ => None,
            })
            .map(|word| word.word.as_str())
    }

    /// The texts of a repeated argument.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let statement = self.statement;
        self.command()
            .argument(name)
            .into_iter()
            .flat_map(move |argument| statement.values_at(argument))
            .filter_map(|value| match value {
                Value::Text(text) => Some(&**text),
                _ => None,
            })
    }

    /// The addresses of a repeated argument.
    pub fn addresses(&self, name: &str) -> impl Iterator<Item = IpAddr> + use<'a> {
        let statement = self.statement;
        self.command()
            .argument(name)
            .into_iter()
            .flat_map(move |argument| statement.values_at(argument))
            .filter_map(Value::address)
    }

    /// The numbers of a repeated argument.
    pub fn numbers<T: TryFrom<u64>>(&self, name: &str) -> impl Iterator<Item = T> + use<'a, T> {
        let statement = self.statement;
        self.command()
            .argument(name)
            .into_iter()
            .flat_map(move |argument| statement.values_at(argument))
            .filter_map(|value| match value {
                Value::Number(number) => T::try_from(*number).ok(),
                _ => None,
            })
    }
}

/// The values of the key among the values of a statement.
pub fn key_of(command: &Command, values: &Values) -> Values {
    let key = command.storage.as_ref().map_or(&[][..], |storage| &storage.key);
    values.iter().filter(|(argument, _)| key.contains(&usize::from(*argument))).cloned().collect()
}

/// Whether statements of a command make their group: they do not need another one of it.
fn makes_group(command: &Command) -> bool {
    let needs = command.storage.as_ref().map_or(&[][..], |storage| &storage.needs);
    needs.iter().all(|need| need.kept.is_some())
}

/// The value that the statements of a group share, in lower case.
pub fn group_of<'v>(
    grammar: &Grammar,
    command: &Command,
    values: &'v Values,
) -> Option<Cow<'v, str>> {
    let group = command.storage.as_ref()?.group?;
    let (_, value) = values.iter().find(|(argument, _)| usize::from(*argument) == group)?;
    let value_type = &command.arguments[group].value_type;
    if let (ValueType::Domain(_) | ValueType::Label(_), Value::Text(text)) = (value_type, value)
        && !text.bytes().any(|byte| byte.is_ascii_uppercase())
    {
        // Names are printed as they are.
        return Some(Cow::Borrowed(text));
    }
    let mut text = String::new();
    value_type.print(&grammar.choices, value, &mut text);
    text.make_ascii_lowercase();
    Some(Cow::Owned(text))
}

/// Whether the keys among two sets of values of a command are the same.
pub fn same_key(command: &Command, values: &Values, key: &Values) -> bool {
    #[cfg(test)]
    super::work::look();
    let Some(storage) = &command.storage else { return true };
    storage.key.iter().all(|argument| {
        let value_in = |values: &Values| {
            values.iter().position(|(position, _)| usize::from(*position) == *argument)
        };
        match (value_in(values), value_in(key)) {
            (Some(one), Some(other)) => {
                let ignores_case = command.arguments[*argument].value_type.ignores_case();
                same_value(&values[one].1, &key[other].1, ignores_case)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    })
}

/// Whether two values are the same to a key.
pub fn same_value(one: &Value, other: &Value, ignores_case: bool) -> bool {
    match (one, other) {
        // Most spell it alike, which costs less to see.
        (Value::Text(one), Value::Text(other)) if ignores_case => {
            one == other || one.eq_ignore_ascii_case(other)
        }
        _ => one == other,
    }
}

fn hash_key(builder: &DefaultHashBuilder, command: &Command, key: &Values) -> u32 {
    let mut hasher = builder.build_hasher();
    command.id.0.hash(&mut hasher);
    for argument in command.storage.iter().flat_map(|storage| &storage.key) {
        let value = key.iter().find(|(position, _)| usize::from(*position) == *argument);
        match value {
            None => 0_u8.hash(&mut hasher),
            Some((_, Value::Text(text))) => {
                let mut lower: SmallVec<[u8; 64]> = SmallVec::from_slice(text.as_bytes());
                lower.make_ascii_lowercase();
                hasher.write(&lower);
            }
            Some((_, Value::Number(number))) => number.hash(&mut hasher),
            Some((_, Value::Choice(place))) => place.hash(&mut hasher),
            Some((_, Value::Ipv4(address))) => address.hash(&mut hasher),
            Some((_, Value::Ipv6(address))) => address.hash(&mut hasher),
            Some((_, Value::Prefix(prefix))) => prefix.hash(&mut hasher),
        }
    }
    // The upper half: the better one of hashes that multiply.
    (hasher.finish() >> 32) as u32
}

//! The rules of a stanza, as far as they can refuse a line.
//!
//! Nothing here changes anything; every rule is checked in constant time, but that a file which a
//! line names is read.

use std::borrow::Cow;
use std::sync::Arc;

use crate::behind::master_file::MasterFile;
use crate::config::claims;
use crate::config::edit::{Editor, values_of};
use crate::config::references;
use crate::config::render::MASK;
use crate::config::tree::{Values, group_of};
use crate::grammar::link::{Kept, Message};
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{Avoidance, Command, Grammar, Span, Storage};
use crate::secret;

/// A line that is a command, but not now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is said.
    pub message: Message,
    /// Values for the places of the message.
    pub places: Vec<(Cow<'static, str>, String)>,
}

impl Refusal {
    /// A refusal without places.
    pub fn new(message: Message) -> Self {
        Refusal { message, places: Vec::new() }
    }

    /// Adds the value of a place.
    #[must_use]
    pub fn with(mut self, place: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.places.push((place.into(), value.into()));
        self
    }

    /// The text.
    pub fn text(&self, grammar: &Grammar) -> String {
        let places: Vec<(&str, &str)> =
            self.places.iter().map(|(place, value)| (place.as_ref(), value.as_str())).collect();
        grammar.message(self.message, &places)
    }
}

/// The place among the values of a password that is to be kept as a hash, and is not one.
pub fn password_in_clear<'v>(command: &Command, values: &'v Values) -> Option<(usize, &'v str)> {
    if !command.storage.as_ref().is_some_and(|storage| storage.hashed) {
        return None;
    }
    values.iter().enumerate().find_map(|(place, (argument, value))| match value {
        Value::Text(text)
            if command.arguments[usize::from(*argument)].is_secret()
                && !secret::is_stored(text) =>
        {
            Some((place, &**text))
        }
        _ => None,
    })
}

impl Editor<'_> {
    /// Five dots are what displays print for a secret; they cannot be one (decisions 1.8).
    pub(super) fn check_secrets(command: &Command, values: &Values) -> Result<(), Refusal> {
        let is_masked = values.iter().any(|(argument, value)| {
            command.arguments[usize::from(*argument)].is_secret()
                && matches!(value, Value::Text(text)
                    if text.split_whitespace().any(|word| word == MASK))
        });
        if is_masked { Err(Refusal::new(Message::MaskedSecret)) } else { Ok(()) }
    }

    /// Whatever a `ref` names must be there.
    pub(super) fn check_references(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let tree = &self.trees.configuration;
        let may_sleep = |targets: &[Kept]| {
            storage.world || targets.iter().any(|kept| self.grammar.can_vanish(*kept))
        };
        let broken = references::unresolved(self.grammar, tree, command, values)
            .find(|one| !(self.is_stored && may_sleep(one.targets)));
        if let Some(broken) = broken {
            return Err(no_such_reference(broken.targets[0], &broken.name(self.grammar)));
        }
        Ok(())
    }

    /// The statements that this one needs must be there, and room for one more.
    pub(super) fn check_needs(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        for need in &storage.needs {
            let there = match need.kept {
                None => group_of(self.grammar, command, values)
                    .is_none_or(|group| self.home(storage).is_some_and(|b| b.has_group(&group))),
                Some(kept) => {
                    self.related(storage, command, values, kept).is_some()
                        || self.is_learned(storage, command, values)
                }
            };
            if !there {
                return Err(self.refusal(need.message, command, values));
            }
        }
        if storage.at_most.is_some() && self.is_new(command, values) && storage.each.is_empty() {
            self.check_room(command, storage, 1)?;
        }
        Ok(())
    }

    /// Whether the line is about an address that was learned from the DNS server behind.
    fn is_learned(&self, storage: &Storage, command: &Command, values: &Values) -> bool {
        let (Some(learned), Some(rule)) = (self.learned, &storage.learned) else { return false };
        let address = values_of(values, rule.address).next().and_then(Value::address);
        let Some(address) = address else { return false };
        let path = &self.place.path;
        let name = claims::name_of(self.grammar, path, &rule.name, command, values);
        learned.has(&name, address)
    }

    /// Numbers that may not exceed one another.
    pub(super) fn check_numbers(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let number = |argument| match values_of(values, argument).next() {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        let above = storage.above.iter().find(|rule| number(rule.argument) > number(rule.limit));
        let range = |first, last| Some(number(first)?..=number(last)?);
        let is_too_long = |rule: &&Span| {
            let range = range(rule.first, rule.last);
            range.is_some_and(|range| range.end().saturating_sub(*range.start()) >= rule.most)
        };
        let holds_one = |rule: &&Avoidance| {
            let range = range(rule.first, rule.last);
            range.is_some_and(|range| rule.numbers.iter().any(|one| range.contains(one)))
        };
        let broken = above.map(|rule| rule.message).or_else(|| {
            let span = storage.spans.iter().find(is_too_long).map(|rule| rule.message);
            span.or_else(|| storage.avoids.iter().find(holds_one).map(|rule| rule.message))
        });
        broken.map_or(Ok(()), |message| Err(self.refusal(message, command, values)))
    }

    /// The first of its kind may have to say something. A file may hold them in any order.
    pub(super) fn check_first(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(first) = storage.first.as_ref().filter(|_| !self.is_stored) else {
            return Ok(());
        };
        let mut given = values_of(values, first.argument).peekable();
        let default = storage.defaults.iter().find(|(argument, _)| *argument == first.argument);
        let unsaid = default.filter(|_| given.peek().is_none()).map(|(_, value)| value);
        if given.chain(unsaid).any(|value| *value == first.value) {
            return Ok(());
        }
        let others = storage.excludes.iter();
        let others = others.filter_map(|kept| self.grammar.keeping(self.place.mode, *kept));
        let mut kinds = others.chain(std::iter::once(command));
        let is_there =
            self.home(storage).is_some_and(|block| kinds.any(|kind| block.counted(kind.id) > 0));
        if is_there { Ok(()) } else { Err(Refusal::new(first.message)) }
    }

    /// Another statement of the block may have the key already, in a way that both cannot have it.
    pub(super) fn check_differs(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(difference) = &storage.differs else { return Ok(()) };
        if !self.is_new(command, values) {
            return Ok(());
        }
        let mut others =
            difference.from.iter().filter_map(|kept| self.related(storage, command, values, *kept));
        match others.next() {
            None => Ok(()),
            Some((other, _)) => Err(self
                .refusal(difference.message, command, values)
                .with("other", other.fixed_words())),
        }
    }

    /// A statement that is there already keeps the name that it claims.
    pub(super) fn check_claim(&self, command: &Command, values: &Values) -> Result<(), Refusal> {
        let tree = &self.trees.configuration;
        let claim = command.storage.as_ref().and_then(|storage| storage.claim.as_ref());
        let Some(claim) = claim.filter(|claim| claim.below || tree.has_wide_claims()) else {
            return Ok(());
        };
        if !self.is_new(command, values) {
            return Ok(());
        }
        claims::check(self.grammar, tree, &self.place.path, claim, command, values)
    }

    /// A refusal with the values of the line in its places.
    pub(super) fn refusal(&self, message: Message, command: &Command, values: &Values) -> Refusal {
        values.iter().fold(Refusal::new(message), |refusal, (argument, value)| {
            let argument = &command.arguments[usize::from(*argument)];
            let mut text = String::new();
            argument.value_type.print(&self.grammar.choices, value, &mut text);
            refusal.with(argument.name.clone(), text)
        })
    }

    /// There must be room for so many more statements.
    pub(super) fn check_room(
        &self,
        command: &Command,
        storage: &Storage,
        new: usize,
    ) -> Result<(), Refusal> {
        let Some(most) = storage.at_most else { return Ok(()) };
        let held = self.home(storage).map_or(0, |block| block.counted(command.id));
        if held + new as u64 > most && new > 0 {
            return Err(Refusal::new(Message::AtMost)
                .with("limit", most.to_string())
                .with("words", command.fixed_words()));
        }
        Ok(())
    }

    /// What is referred to may say that it cannot be removed.
    pub(super) fn check_unused(&self, storage: &Storage, values: &Values) -> Result<(), Refusal> {
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
}

/// Reads the file that a line names, if it names one.
pub(super) fn read_file(
    command: &Command,
    values: &Values,
) -> Result<Option<Arc<MasterFile>>, Refusal> {
    let path = values.iter().find_map(|(argument, value)| match value {
        Value::Text(path)
            if command.arguments[usize::from(*argument)].value_type == ValueType::MasterFile =>
        {
            Some(path)
        }
        _ => None,
    });
    let Some(path) = path else { return Ok(None) };
    let file = MasterFile::read(path)
        .map_err(|error| Refusal::new(Message::UnreadableFile).with("reason", error.to_string()))?;
    Ok(Some(Arc::new(file)))
}

/// What is said of a `ref` to something that is not there.
pub fn no_such_reference(kept: Kept, name: &str) -> Refusal {
    let message = match kept {
        Kept::Vrf => Message::NoSuchVrf,
        Kept::Zone => Message::NoSuchZone,
        Kept::Site => Message::NoSuchSite,
        Kept::Si => Message::NoSuchSi,
        Kept::HostPolicy => Message::NoSuchHostPolicy,
        Kept::SnaDomain => Message::NoSuchSnaDomain,
        Kept::SnaSystem => Message::NoSuchSystem,
        Kept::SnaLu => Message::NoSuchLu,
        _ => return Refusal::new(Message::NoSuchEntry).with("words", name),
    };
    Refusal::new(message).with("name", name).with("system", name)
}

/// Values of one list that exclude each other.
pub(super) fn check_values(storage: &Storage, values: &Values) -> Result<(), Refusal> {
    if let Some(most) = storage.most
        && values_of(values, most.argument).count() as u64 > most.most
    {
        return Err(Refusal::new(most.message).with("limit", most.most.to_string()));
    }
    for rejection in &storage.rejects {
        let holds = |wanted: &Value| values_of(values, rejection.argument).any(|one| one == wanted);
        if holds(&rejection.value) && holds(&rejection.with) {
            return Err(Refusal::new(rejection.message));
        }
    }
    Ok(())
}

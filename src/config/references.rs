//! What the `ref` arguments of a line name: whether it is there.
//!
//! A `ref` behind a `ref` to an opening statement names something of that block, if statements of
//! its name stand in such blocks: `system X` of the domain that the line names, not of any domain.

use crate::config::tree::{Block, Tree, Values};
use crate::grammar::link::Kept;
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{Argument, Command, Grammar, ModeId, Verb};

/// A value of a `ref` that names nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unresolved<'a> {
    /// The argument.
    pub argument: &'a Argument,
    /// The names of statements that it could have been the last key of; there is at least one.
    pub targets: &'a [Kept],
    /// The value.
    pub value: &'a Value,
}

impl Unresolved<'_> {
    /// The value as it is printed.
    pub fn name(&self, grammar: &Grammar) -> String {
        let mut name = String::new();
        self.argument.value_type.print(&grammar.choices, self.value, &mut name);
        name
    }
}

/// The values of a line that name nothing, in order. Each is looked up in constant time.
pub fn unresolved<'a>(
    grammar: &'a Grammar,
    tree: &'a Tree,
    command: &'a Command,
    values: &'a Values,
) -> impl Iterator<Item = Unresolved<'a>> {
    let mut named = Named { grammar, tree, blocks: Vec::new() };
    values.iter().filter_map(move |(argument, value)| {
        let argument = &command.arguments[usize::from(*argument)];
        let ValueType::Reference(targets, _) = &argument.value_type else { return None };
        let is_there = targets.iter().any(|kept| match named.owner(*kept) {
            Some((kind, block)) => holds(block, kind, value),
            None => tree.has_target(*kept, value),
        });
        named.add(targets, value);
        (!is_there).then_some(Unresolved { argument, targets, value })
    })
}

/// The blocks that the values of a line name, in order.
#[derive(Debug)]
pub struct Named<'a> {
    grammar: &'a Grammar,
    tree: &'a Tree,
    blocks: Vec<(ModeId, &'a Block)>,
}

impl<'a> Named<'a> {
    /// The blocks of the values that stand before a place of a line, each with the statements that
    /// its `ref` may name.
    pub fn before(grammar: &'a Grammar, tree: &'a Tree, values: &[(&[Kept], Value)]) -> Self {
        let mut named = Named { grammar, tree, blocks: Vec::new() };
        for (targets, value) in values {
            named.add(targets, value);
        }
        named
    }

    fn add(&mut self, targets: &[Kept], value: &Value) {
        let (grammar, tree) = (self.grammar, self.tree);
        self.blocks.extend(targets.iter().filter_map(|kept| opened(grammar, tree, *kept, value)));
    }

    /// The block in which a `ref` behind these values names a statement, and the command that the
    /// statement is of; `None` if it may stand anywhere.
    pub fn owner(&self, kept: Kept) -> Option<(&'a Command, &'a Block)> {
        self.holding(kept, |command| last_key(command).is_some())
    }

    /// The block behind these values whose statements of that name are suggested.
    pub fn suggesting(&self, kept: Kept) -> Option<(&'a Command, &'a Block)> {
        self.holding(kept, |_| true)
    }

    fn holding(
        &self,
        kept: Kept,
        fits: impl Fn(&Command) -> bool,
    ) -> Option<(&'a Command, &'a Block)> {
        self.blocks.iter().rev().find_map(|(mode, block)| {
            let kind = self.grammar.keeping(*mode, kept).filter(|one| fits(one))?;
            Some((kind, *block))
        })
    }
}

/// The argument that is the only key of a command.
fn last_key(command: &Command) -> Option<u8> {
    match command.storage.as_ref()?.key.as_slice() {
        [key] => u8::try_from(*key).ok(),
        _ => None,
    }
}

fn holds(block: &Block, command: &Command, value: &Value) -> bool {
    last_key(command).is_some_and(|key| {
        block.find(command, &Values::from_iter([(key, value.clone())])).is_some()
    })
}

/// The block of the opening statement of the whole configuration that a value names.
fn opened<'a>(
    grammar: &Grammar,
    tree: &'a Tree,
    kept: Kept,
    value: &Value,
) -> Option<(ModeId, &'a Block)> {
    let command = grammar.keeping(grammar.root_mode()?, kept)?;
    let Verb::Open(mode) = command.verb else { return None };
    let key = Values::from_iter([(last_key(command)?, value.clone())]);
    Some((mode, tree.root.find(command, &key)?.block.as_deref()?))
}

/// Whether a statement of that name has the text for its argument of that name, or else as its last
/// key, in any case. Looks at the whole tree.
pub fn has_value(grammar: &Grammar, block: &Block, kept: Kept, argument: &str, text: &str) -> bool {
    block.statements().any(|statement| {
        let command = grammar.command(statement.command);
        let is_it = command.storage.as_ref().is_some_and(|storage| {
            storage.kept == kept
                && command
                    .argument(argument)
                    .or_else(|| storage.key.last().copied())
                    .and_then(|place| statement.value_at(place))
                    .is_some_and(
                        |value| matches!(value, Value::Text(one) if one.eq_ignore_ascii_case(text)),
                    )
        });
        is_it
            || statement
                .block
                .as_deref()
                .is_some_and(|inner| has_value(grammar, inner, kept, argument, text))
    })
}

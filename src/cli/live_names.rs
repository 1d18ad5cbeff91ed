//! The names that are there now, for help and completion.

use crate::cli::help::Names;
use crate::cli::session::Session;
use crate::config::references::Named;
use crate::config::tree::{Block, Statement};
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::grammar::{Command, Grammar, ModeId};

impl Names for Session {
    fn names(&self, kept: Kept, before: &[(&[Kept], Value)]) -> Vec<String> {
        self.collect(before, |named| named.owner(kept), kept, last_key)
    }

    fn values_of(&self, kept: Kept, argument: &str, before: &[(&[Kept], Value)]) -> Vec<String> {
        let place = |command: &Command| command.argument(argument).or_else(|| last_key(command));
        self.collect(before, |named| named.suggesting(kept), kept, place)
    }

    fn values_in(&self, mode: ModeId, command: &Command, argument: usize) -> Vec<String> {
        let configuration = self.appliance.configuration();
        let grammar = &self.appliance.grammar;
        let tree = &configuration.trees.configuration;
        let block = tree.block(grammar, &self.place_of(mode).path);
        let statements = block.into_iter().flat_map(Block::statements);
        let statements = statements.filter(|statement| statement.command == command.id);
        statements.filter_map(|statement| value(grammar, statement, argument)).collect()
    }
}

impl Session {
    /// The values that the statements of a name have for an argument, in order of entry: those of
    /// the block that the line has named, if it has named one of them.
    fn collect(
        &self,
        before: &[(&[Kept], Value)],
        block: impl for<'a> Fn(&Named<'a>) -> Option<(&'a Command, &'a Block)>,
        kept: Kept,
        argument: impl Fn(&Command) -> Option<usize>,
    ) -> Vec<String> {
        let configuration = self.appliance.configuration();
        let grammar = &self.appliance.grammar;
        let tree = &configuration.trees.configuration;
        let found = block(&Named::before(grammar, tree, before));
        let mut names = Vec::new();
        collect(grammar, found.map_or(&tree.root, |(_, block)| block), kept, &argument, &mut names);
        names
    }
}

fn last_key(command: &Command) -> Option<usize> {
    command.storage.as_ref()?.key.last().copied()
}

fn collect(
    grammar: &Grammar,
    block: &Block,
    kept: Kept,
    argument: &impl Fn(&Command) -> Option<usize>,
    names: &mut Vec<String>,
) {
    for statement in block.statements() {
        let command = grammar.command(statement.command);
        if command.storage.as_ref().is_some_and(|storage| storage.kept == kept)
            && let Some(argument) = argument(command)
        {
            names.extend(value(grammar, statement, argument));
        }
        if let Some(inner) = &statement.block {
            collect(grammar, inner, kept, argument, names);
        }
    }
}

/// A value as it would be typed without quotes.
fn value(grammar: &Grammar, statement: &Statement, argument: usize) -> Option<String> {
    let value = statement.value_at(argument)?;
    let mut text = String::new();
    let command = grammar.command(statement.command);
    command.arguments[argument].value_type.print(&grammar.choices, value, &mut text);
    Some(text)
}

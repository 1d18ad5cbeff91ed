//! What a line does whose command is known and allowed: it moves the session, changes the
//! configuration, or prints.

use std::sync::Arc;

use crate::cli::matcher::Hit;
use crate::cli::session::Session;
use crate::cli::{actions, reports};
use crate::config::edit::{Editor, Place, Refusal, no_such_reference};
use crate::config::references;
use crate::config::tree::{Path, Reading, Statement, key_of};
use crate::grammar::link::{Action, Message};
use crate::grammar::{Command, Verb};

impl Session {
    pub(super) fn execute(
        &mut self,
        command: &Command,
        hit: &Hit,
        words: &str,
    ) -> Result<String, Refusal> {
        match &command.verb {
            Verb::Keep => {
                let place = self.place_of(hit.mode);
                let changed = self.appliance.edit(|grammar, trees| {
                    let editor = Editor::new(grammar, trees, &place);
                    let editor = editor.knowing(&self.appliance.states.learned);
                    if hit.negated {
                        editor.remove(command, &hit.values, words)
                    } else {
                        editor.keep(command, &hit.values)
                    }
                })?;
                self.has_changed |= changed && !command.is_of_world();
                Ok(if changed { self.confirmation(command, hit, &place) } else { String::new() })
            }
            Verb::Open(_) if hit.negated => {
                let place = self.place_of(hit.mode);
                let changed = self.appliance.edit(|grammar, trees| {
                    Editor::new(grammar, trees, &place).remove(command, &hit.values, words)
                })?;
                self.has_changed |= changed && !command.is_of_world();
                self.announce_deletion(command, hit);
                self.leave_vanished_levels();
                Ok(String::new())
            }
            Verb::Open(mode) => {
                let place = self.place_of(hit.mode);
                let changed = self.appliance.edit(|grammar, trees| {
                    Editor::new(grammar, trees, &place).open(command, &hit.values)
                })?;
                self.has_changed |= changed && !command.is_of_world();
                let mut path = place.path.clone();
                path.push((command.id, key_of(command, &hit.values)));
                while self.levels.len() > 1 && self.level().mode != hit.mode {
                    self.levels.pop();
                }
                self.levels.push(Place { mode: *mode, path });
                Ok(String::new())
            }
            Verb::Clear(targets) => {
                let place = self.place_of(hit.mode);
                let changed = self.appliance.edit(|grammar, trees| {
                    Editor::new(grammar, trees, &place).clear(command, targets, &hit.values, words)
                })?;
                self.has_changed |= changed && !command.is_of_world();
                Ok(String::new())
            }
            Verb::Alter(action) => {
                let place = self.place_of(hit.mode);
                let changed = self.appliance.edit(|grammar, trees| {
                    Editor::new(grammar, trees, &place).alter(command, &hit.values)
                })?;
                self.has_changed |= changed;
                action.map_or(Ok(String::new()), |action| self.act_on_opener(action, &place))
            }
            Verb::Apply(kept) => {
                let place = self.place_of(hit.mode);
                self.appliance.edit(|grammar, trees| {
                    Ok::<_, Refusal>(Editor::new(grammar, trees, &place).apply(*kept))
                })?;
                Ok(String::new())
            }
            Verb::Enter(mode) => {
                self.levels.push(Place { mode: *mode, path: Path::new() });
                let grammar = &self.appliance.grammar;
                let others = self.appliance.sessions.configuring();
                if others == 0 || !grammar.mode(*mode).root {
                    return Ok(String::new());
                }
                let number = others.to_string();
                Ok(grammar.message(Message::AlreadyConfiguring, &[("number", &number)]))
            }
            Verb::Leave => {
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                Ok(String::new())
            }
            Verb::End => {
                self.levels.truncate(2);
                Ok(String::new())
            }
            Verb::Show(report) => {
                self.appliance.record_status();
                let statement = self.arguments(command, hit)?;
                let grammar = Arc::clone(&self.appliance.grammar);
                let reading = Reading { grammar: &grammar, statement: &statement };
                reports::print(self, *report, &reading)
            }
            Verb::Do(action) => {
                // Before the clock may move on.
                self.appliance.record_status();
                let statement = self.arguments(command, hit)?;
                let grammar = Arc::clone(&self.appliance.grammar);
                let reading = Reading { grammar: &grammar, statement: &statement };
                actions::perform(self, *action, &reading)
            }
            Verb::Accept => Ok(String::new()),
        }
    }

    /// Does something to the statement that opened a block.
    fn act_on_opener(&mut self, action: Action, place: &Place) -> Result<String, Refusal> {
        let grammar = Arc::clone(&self.appliance.grammar);
        let Some((command, values)) = place.path.last().cloned() else {
            return Ok(String::new());
        };
        let statement = Statement { command, negated: false, values, block: None };
        actions::perform(self, action, &Reading { grammar: &grammar, statement: &statement })
    }

    /// The arguments of a command that keeps nothing, once what they refer to is found.
    fn arguments(&self, command: &Command, hit: &Hit) -> Result<Statement, Refusal> {
        let grammar = &self.appliance.grammar;
        let configuration = self.appliance.configuration();
        let tree = &configuration.trees.configuration;
        if let Some(broken) = references::unresolved(grammar, tree, command, &hit.values).next() {
            return Err(no_such_reference(broken.targets[0], &broken.name(grammar)));
        }
        let values = hit.values.clone();
        Ok(Statement { command: command.id, negated: false, values, block: None })
    }
}

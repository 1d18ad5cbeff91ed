//! The levels that a session is at: the prompt of each, and the ways into it and out of it.

use std::sync::Arc;

use crate::cli::session::{PRIVILEGED, Session, mode};
use crate::config::edit::Place;
use crate::config::tree::Path;
use crate::dns::Responder;
use crate::grammar::link::Message;
use crate::grammar::ports::is_in_slot;
use crate::grammar::value::ValueType;
use crate::grammar::{ModeId, Privilege, fill_places};
use crate::show::RttSimulation;

/// Names of the modes that the program itself enters.
const PROCESSOR: &str = "processor";
const CONFIG: &str = "config";
const RTT_SIMULATION: &str = "gslb-rtt-sim";

/// The place of the site's name in the prompt of the simulator.
const SITE_PLACE: &str = "site";

impl Session {
    /// What stands at the left of the next line: the prompt, or the question that waits.
    pub fn prompt(&self) -> String {
        let grammar = &self.appliance.grammar;
        if let Some(question) = &self.question {
            let (message, blank) = question.text();
            let text = grammar.message(message, &[]);
            return format!("{}{}", text.trim_end(), if blank { " " } else { "" });
        }
        let configuration = self.appliance.configuration();
        let tree = &configuration.trees.configuration;
        let level = self.level();
        let host = self.appliance.device_name(tree);
        let (slot, cpu) = self.processor;
        let mut values: Vec<(String, String)> = vec![
            ("host".to_owned(), host),
            ("slot".to_owned(), slot.to_string()),
            ("cpu".to_owned(), cpu.to_string()),
        ];
        if let Some(simulation) = &self.simulation {
            values.push((SITE_PLACE.to_owned(), simulation.site.clone()));
        }
        // The innermost level first: its names come before those above it.
        for (depth, (command, key)) in level.path.iter().enumerate().rev() {
            let outer: Path = level.path[..depth].to_vec();
            let command = grammar.command(*command);
            let block = tree.block(grammar, &outer);
            // The name is shown as it was typed when it was made (base-cli 1.2).
            let statement = block.and_then(|block| block.find(command, key));
            let shown = statement.map_or(key, |statement| &statement.values);
            for (argument, value) in shown {
                let argument = &command.arguments[usize::from(*argument)];
                let mut text = String::new();
                ValueType::Line.print(&grammar.choices, value, &mut text);
                if text.is_empty() {
                    argument.value_type.print(&grammar.choices, value, &mut text);
                }
                if argument.value_type == ValueType::Port && is_in_slot(&text) {
                    text = fill_places(grammar.phrase(Message::PortInSlot), &[("port", &text)]);
                }
                values.push((argument.name.to_string(), text));
            }
        }
        let places: Vec<(&str, &str)> =
            values.iter().map(|(place, value)| (place.as_str(), value.as_str())).collect();
        let prompt = fill_places(&grammar.mode(level.mode).prompt, &places);
        format!("{}{prompt}", self.line.prefix())
    }

    /// Whether the session is at the user level.
    pub(super) fn is_at_user_level(&self) -> bool {
        self.levels.len() == 1
    }

    /// Whether the session is at `>` or `#`.
    pub fn is_outside_configuration(&self) -> bool {
        self.levels.len() <= 2
    }

    /// The level that the session is at.
    ///
    /// # Panics
    ///
    /// Never: the outermost level is never left.
    pub fn level(&self) -> &Place {
        self.levels.last().expect("a session is always at some level")
    }

    /// The block that a command of that mode changes: the session's own or one above.
    pub fn place_of(&self, mode: ModeId) -> Place {
        let level = self.levels.iter().rev().find(|level| level.mode == mode);
        level.cloned().unwrap_or(Place { mode, path: Path::new() })
    }

    /// Goes to another appliance, at its privileged level.
    pub(super) fn move_to(&mut self, responder: &Arc<Responder>) {
        self.responder = Arc::clone(responder);
        self.appliance = Arc::clone(&responder.appliance);
        self.enter_privileged(self.privilege);
    }

    /// Leaves the configuration, or the privileged level: Control-Z (base-cli 2.6).
    pub fn end(&mut self) {
        self.question = None;
        let privileged = mode(&self.appliance.grammar, PRIVILEGED);
        if self.level().mode == privileged {
            self.leave_privileged();
        } else if self.levels.len() > 1 {
            self.levels.truncate(2);
        }
        self.note_change();
        self.update_ticket();
    }

    /// Enters the simulator of round-trip times, which stands below the configuration level.
    pub(super) fn enter_simulation(&mut self, simulation: RttSimulation) {
        let grammar = &self.appliance.grammar;
        let config = mode(grammar, CONFIG);
        let simulator = mode(grammar, RTT_SIMULATION);
        let place = self.levels.iter().position(|level| level.mode == config);
        self.levels.truncate(place.map_or(self.levels.len(), |place| place + 1));
        self.levels.push(Place { mode: simulator, path: Path::new() });
        self.simulation = Some(simulation);
    }

    pub(super) fn enter_privileged(&mut self, privilege: Privilege) {
        self.privilege = privilege;
        let privileged = mode(&self.appliance.grammar, PRIVILEGED);
        self.levels.truncate(1);
        self.levels.push(Place { mode: privileged, path: Path::new() });
    }

    /// Goes to the console of a processor (decisions 6).
    pub(super) fn enter_processor(&mut self, slot: u16, cpu: u16) {
        self.processor = (slot, cpu);
        let mode = mode(&self.appliance.grammar, PROCESSOR);
        self.levels.push(Place { mode, path: Path::new() });
    }

    /// Begins at the privileged level, which it then does not leave but by ending.
    pub(super) fn land_privileged(&mut self, privilege: Privilege) {
        self.enter_privileged(privilege);
        self.landed_privileged = true;
    }

    /// Goes to the user level.
    pub(super) fn leave_privileged(&mut self) {
        self.levels.truncate(1);
    }

    /// Leaves the privileged level by one step: a session that began there ends (base-cli 1.3).
    pub(super) fn exit_privileged(&mut self) {
        self.is_over |= self.landed_privileged;
        self.leave_privileged();
    }

    /// Another session, or a restart, may have removed the block that this one is in.
    pub(super) fn leave_vanished_levels(&mut self) {
        let configuration = self.appliance.configuration();
        let grammar = &self.appliance.grammar;
        let tree = &configuration.trees.configuration;
        let exists = |place: &Place| {
            place.path.iter().all(|(_, key)| key.is_empty())
                || tree.block(grammar, &place.path).is_some()
        };
        let vanished = self.levels.iter().position(|level| !exists(level));
        drop(configuration);
        if let Some(first) = vanished {
            self.levels.truncate(first.max(1));
        }
    }
}

//! The statement tree to what is logged.

use crate::config::tree::Tree;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::names::named_enum;

named_enum! {
    /// How much a message matters (GSLB guide p. 187).
    pub enum LogLevel {
        /// Something must be done at once.
        Alert = "alerts",
        /// Something is about to fail.
        Critical = "critical",
        /// Of use to find faults.
        Debugging = "debugging",
        /// The appliance cannot be used.
        Emergency = "emergencies",
        /// Something failed.
        Error = "errors",
        /// Something happened.
        Informational = "informational",
        /// Something happened that may matter.
        Notification = "notifications",
        /// Something may fail.
        Warning = "warnings",
    }
}

impl LogLevel {
    /// The letter that stands for it, in the order of the head of `show logging`.
    pub fn letter(self) -> char {
        match self {
            LogLevel::Alert => 'A',
            LogLevel::Critical => 'C',
            LogLevel::Debugging => 'D',
            LogLevel::Emergency => 'M',
            LogLevel::Error => 'E',
            LogLevel::Informational => 'I',
            LogLevel::Notification => 'N',
            LogLevel::Warning => 'W',
        }
    }
}

/// Messages that the buffer holds if nothing else is configured.
pub const DEFAULT_SIZE: usize = 50;

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Whether anything is.
    pub on: bool,
    /// The levels that are, by their place in [`LogLevel::ALL`].
    levels: [bool; LogLevel::ALL.len()],
    /// Messages that the buffer holds, at least 1.
    pub size: usize,
    /// Whether the console prints messages as they come.
    pub console: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        let levels = [true; LogLevel::ALL.len()];
        LogSettings { on: true, levels, size: DEFAULT_SIZE, console: false }
    }
}

impl LogSettings {
    /// Reads the settings.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let mut settings = LogSettings {
            // Absence means on, so the statement is its `no` form.
            on: tree.global(grammar, Kept::LoggingOn).is_none(),
            console: tree.global(grammar, Kept::LoggingConsole).is_some(),
            ..LogSettings::default()
        };
        let size = tree.global(grammar, Kept::LoggingSize).and_then(|one| one.number("entries"));
        settings.size = size.unwrap_or(DEFAULT_SIZE).max(1);
        // Level by level: the settings are read after every line, however many there are.
        for level in LogLevel::ALL {
            if let Some(reading) = tree.keyed(grammar, Kept::LoggingLevel, level.name()) {
                settings.set(*level, !reading.statement.negated);
            }
        }
        settings
    }

    /// Whether messages of a level are taken.
    pub fn takes(&self, level: LogLevel) -> bool {
        self.on && self.levels[level as usize]
    }

    /// Whether the buffer takes messages of a level while logging is on.
    pub fn has_level(&self, level: LogLevel) -> bool {
        self.levels[level as usize]
    }

    /// Switches a level.
    pub fn set(&mut self, level: LogLevel, on: bool) {
        self.levels[level as usize] = on;
    }
}

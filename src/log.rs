//! The log buffer of the appliance, and what the program has to say on the console.

pub mod status;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::model::logging::{LogLevel, LogSettings};

/// The last messages, the oldest first, and what no console has printed yet.
#[derive(Debug, Default)]
pub struct Log {
    entries: Mutex<Entries>,
    /// Rings when a message arrives, and when sessions should look again.
    bells: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Entries {
    said: Vec<&'static str>,
    waiting: VecDeque<String>,
    settings: LogSettings,
    buffer: VecDeque<Entry>,
    totals: Totals,
    /// The number of the next message.
    next: u64,
}

/// A message of the log buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, rising by one from 0.
    pub number: u64,
    /// When it came.
    pub stamp: Stamp,
    /// How much it matters.
    pub level: LogLevel,
    /// Its text.
    pub text: String,
}

/// When a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Seconds since the appliance was started.
    pub uptime: u64,
    /// Seconds since 1970-01-01 00:00:00 UTC, if the time of day is set.
    pub wall: Option<u64>,
}

/// The head of `show logging` in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Messages since the buffer was cleared.
    pub logged: u64,
    /// Messages that no level in force let in.
    pub dropped: u64,
    /// How often the buffer was cleared.
    pub flushes: u64,
    /// How often a message took the place of the oldest one.
    pub overruns: u64,
}

/// Messages that wait for a console; the oldest is dropped when another one comes.
const MOST_WAITING: usize = 50;

impl Log {
    /// Says something to the console.
    pub fn say(&self, text: String) {
        let mut entries = self.entries();
        if entries.waiting.len() == MOST_WAITING {
            entries.waiting.pop_front();
        }
        entries.waiting.push_back(text);
        self.wake();
    }

    /// Says something the first time only; `topic` tells whether it was said.
    pub fn say_once(&self, topic: &'static str, text: impl FnOnce() -> String) {
        {
            let mut entries = self.entries();
            if entries.said.contains(&topic) {
                return;
            }
            entries.said.push(topic);
        }
        self.say(text());
    }

    /// Takes what waits for the console.
    pub fn take(&self) -> Vec<String> {
        self.entries().waiting.drain(..).collect()
    }

    /// Lets every session look whether something has happened.
    pub fn wake(&self) {
        self.bells.send_replace(());
    }

    /// Begins anew, as a restart does: the buffer is empty, and what was said once may be said
    /// again.
    pub fn restart(&self) {
        let mut entries = self.entries();
        entries.said.clear();
        entries.buffer.clear();
        entries.totals = Totals::default();
    }

    /// Changes the settings. A smaller buffer forgets its oldest messages.
    pub fn set(&self, settings: LogSettings) {
        let mut entries = self.entries();
        let surplus = entries.buffer.len().saturating_sub(settings.size);
        entries.buffer.drain(..surplus);
        entries.settings = settings;
    }

    /// The settings in force.
    pub fn settings(&self) -> LogSettings {
        self.entries().settings
    }

    /// Puts a message into the buffer, if the settings let it in.
    pub fn record(&self, stamp: Stamp, level: LogLevel, text: String) {
        let mut entries = self.entries();
        if !entries.settings.takes(level) {
            entries.totals.dropped += 1;
            return;
        }
        if entries.buffer.len() >= entries.settings.size {
            entries.buffer.pop_front();
            entries.totals.overruns += 1;
        }
        let number = entries.next;
        entries.next += 1;
        entries.totals.logged += 1;
        entries.buffer.push_back(Entry { number, stamp, level, text });
        self.wake();
    }

    /// Empties the buffer.
    pub fn clear(&self) {
        let mut entries = self.entries();
        entries.buffer.clear();
        entries.totals = Totals { flushes: entries.totals.flushes + 1, ..Totals::default() };
    }

    /// The number that the next message will have.
    pub fn next_number(&self) -> u64 {
        self.entries().next
    }

    /// The messages of the buffer from that number on, the oldest first.
    pub fn since(&self, number: u64) -> Vec<Entry> {
        self.entries().buffer.iter().filter(|entry| entry.number >= number).cloned().collect()
    }

    /// The head of `show logging` in numbers.
    pub fn totals(&self) -> Totals {
        self.entries().totals
    }

    /// Rings whenever a message arrives, and when those that wait should look again.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.bells.subscribe()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { uptime: 1, wall: None };

    fn texts(log: &Log) -> Vec<String> {
        log.since(0).into_iter().map(|entry| entry.text).collect()
    }

    #[test]
    fn the_buffer_keeps_the_last_messages() {
        let log = Log::default();
        for number in 0..60 {
            log.record(STAMP, LogLevel::Notification, number.to_string());
        }
        let kept = texts(&log);
        assert_eq!((kept.len(), kept[0].as_str(), kept[49].as_str()), (50, "10", "59"));
        let totals = Totals { logged: 60, overruns: 10, ..Totals::default() };
        assert_eq!(log.totals(), totals);
        let mut settings = LogSettings::default();
        settings.size = 2;
        log.set(settings);
        assert_eq!(texts(&log), ["58", "59"]);
        log.clear();
        assert_eq!(log.totals(), Totals { flushes: 1, ..Totals::default() });
        assert_eq!(log.next_number(), 60, "numbers go on, so that nobody sees a message twice");
    }

    #[test]
    fn levels_that_are_off_are_dropped() {
        let log = Log::default();
        let mut settings = LogSettings::default();
        settings.set(LogLevel::Debugging, false);
        log.set(settings);
        log.record(STAMP, LogLevel::Debugging, "one".to_owned());
        log.record(STAMP, LogLevel::Error, "two".to_owned());
        assert_eq!(texts(&log), ["two"]);
        assert_eq!(log.totals().dropped, 1);
        settings.on = false;
        log.set(settings);
        log.record(STAMP, LogLevel::Error, "three".to_owned());
        assert_eq!(texts(&log), ["two"]);
    }

    #[test]
    fn the_oldest_message_is_dropped() {
        let log = Log::default();
        for number in 0..=MOST_WAITING {
            log.say(number.to_string());
        }
        let waiting = log.take();
        assert_eq!((waiting.len(), waiting[0].as_str()), (MOST_WAITING, "1"));
    }
}

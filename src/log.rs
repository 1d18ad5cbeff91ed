//! Messages of the appliance for its console and its log buffer.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The last messages, the oldest first, and those that no console has printed yet.
#[derive(Debug, Default)]
pub struct Log {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    said: Vec<&'static str>,
    waiting: VecDeque<String>,
}

/// Messages that wait for a console; the oldest is dropped when another one comes.
const MOST_WAITING: usize = 50;

impl Log {
    /// Says something to the console.
    pub fn say(&self, text: String) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.waiting.len() == MOST_WAITING {
            entries.waiting.pop_front();
        }
        entries.waiting.push_back(text);
    }

    /// Says something the first time only; `topic` tells whether it was said.
    pub fn say_once(&self, topic: &'static str, text: impl FnOnce() -> String) {
        {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.said.contains(&topic) {
                return;
            }
            entries.said.push(topic);
        }
        self.say(text());
    }

    /// Begins anew, as a restart does: what was said once may be said again.
    pub fn restart(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.said.clear();
    }

    /// Takes the messages that wait.
    pub fn take(&self) -> Vec<String> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.waiting.drain(..).collect()
    }
}

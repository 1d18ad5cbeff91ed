//! Messages of the appliance for its console and its log buffer.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// The last messages, the oldest first, and those that no console has printed yet.
#[derive(Debug, Default)]
pub struct Log {
    entries: Mutex<Entries>,
    /// Rings when a message arrives, and when a waiting console should look again.
    bell: Condvar,
}

/// What a waiting console does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// It takes it.
    Now,
    /// It leaves it there, and is woken when that changes.
    Later,
    /// It takes no more.
    Never,
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
        self.bell.notify_all();
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

    /// Waits for messages and takes them as soon as `taking` says so; `None` when it says never.
    pub fn take_when(&self, taking: impl Fn() -> Taking) -> Option<Vec<String>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match taking() {
                Taking::Never => return None,
                Taking::Now if !entries.waiting.is_empty() => {
                    return Some(entries.waiting.drain(..).collect());
                }
                Taking::Now | Taking::Later => {}
            }
            entries = self.bell.wait(entries).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes those that wait ask again whether they take messages.
    pub fn wake(&self) {
        // Under the lock: nobody is between asking and waiting.
        let _entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        self.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_waiting_console_takes_messages_when_it_may() {
        let log = Log::default();
        let (may_take, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let taking = || match (is_over.load(Ordering::SeqCst), may_take.load(Ordering::SeqCst)) {
            (true, _) => Taking::Never,
            (false, true) => Taking::Now,
            (false, false) => Taking::Later,
        };
        std::thread::scope(|scope| {
            let console = scope.spawn(|| (log.take_when(taking), log.take_when(taking)));
            log.say("one\n".to_owned());
            may_take.store(true, Ordering::SeqCst);
            log.wake();
            // The first call returns with the message, whichever thread was first.
            while !log.entries.lock().unwrap().waiting.is_empty() {
                std::thread::yield_now();
            }
            is_over.store(true, Ordering::SeqCst);
            log.wake();
            assert_eq!(console.join().unwrap(), (Some(vec!["one\n".to_owned()]), None));
        });
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

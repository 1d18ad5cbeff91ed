//! Control-C while a line runs (base-cli 2.6): who reads the keys asks, the line looks now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Control-C.
pub const KEY: u8 = 3;

/// The wish of a user that the line that runs may end. Its clones are one and the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    wanted: AtomicBool,
    heard: AtomicBool,
}

impl Interrupt {
    /// Forgets what was wished of the line before.
    pub fn clear(&self) {
        self.0.wanted.store(false, Ordering::Relaxed);
        self.0.heard.store(false, Ordering::Relaxed);
    }

    /// Takes bytes that are typed while the line runs: a Control-C asks it to end.
    pub fn take(&self, bytes: &[u8]) {
        if bytes.contains(&KEY) {
            self.0.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the line is to end. It must then do so.
    pub fn is_wanted(&self) -> bool {
        let is_wanted = self.0.wanted.load(Ordering::Relaxed);
        if is_wanted {
            self.0.heard.store(true, Ordering::Relaxed);
        }
        is_wanted
    }

    /// Whether the last line ended because it was asked to: then the key has done its work.
    pub fn was_heard(&self) -> bool {
        self.0.heard.load(Ordering::Relaxed)
    }
}

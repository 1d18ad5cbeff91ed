//! Modules of a chassis that somebody has disabled before removing them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The slots of disabled modules. A restart enables all of them.
#[derive(Debug, Default)]
pub struct Modules {
    disabled: Mutex<BTreeSet<u16>>,
}

impl Modules {
    /// Disables or enables the module of a slot.
    pub fn switch(&self, slot: u16, on: bool) {
        let mut disabled = self.disabled();
        if on {
            disabled.remove(&slot);
        } else {
            disabled.insert(slot);
        }
    }

    /// Enables all.
    pub fn restart(&self) {
        self.disabled().clear();
    }

    /// Whether the module of a slot is in use.
    pub fn is_on(&self, slot: u16) -> bool {
        !self.disabled().contains(&slot)
    }

    fn disabled(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.disabled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Modules;

    #[test]
    fn a_restart_enables_all() {
        let modules = Modules::default();
        modules.switch(2, false);
        modules.switch(3, false);
        modules.switch(3, true);
        assert!(!modules.is_on(2) && modules.is_on(3) && modules.is_on(4));
        modules.restart();
        assert!(modules.is_on(2));
    }
}

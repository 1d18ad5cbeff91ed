//! What a domain remembers of its answers: counts, and when each system was used last.
//!
//! [`super::choose()`] reads a [`DomainState`]; the caller applies the choice while it holds the
//! domain's lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::clock::Moment;
use crate::sna::choose::Pass;

/// Everything about a domain that a choice depends on and changes.
#[derive(Debug, Default)]
pub struct DomainState {
    /// One for each system of the newest snapshot, in its order.
    systems: Vec<SystemTally>,
    /// One for each user record, likewise.
    records: Vec<RecordTally>,
    /// Answers ever given, which gives each its number; never cleared.
    serial: u64,
}

/// How often and when a system was the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemTally {
    name: Box<str>,
    /// Answers that held its address.
    pub selections: u64,
    /// When it was the answer last; `None`: never. Clearing counters does not reset it.
    pub last_used: Option<Moment>,
    /// The number of that answer among all of the domain, which orders answers of one moment.
    pub used_at: u64,
}

/// How often a user record led to an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordTally {
    name: Box<str>,
    /// Answers by what chose them, by `Pass as usize`.
    pub selections: [u64; Pass::ALL.len()],
}

impl DomainState {
    /// The tally of a system by its position and name. `None` if a newer configuration has another
    /// system at that place, which a question that runs on the one before may meet.
    #[must_use]
    pub fn system(&self, position: usize, name: &str) -> Option<&SystemTally> {
        self.systems.get(position).filter(|tally| *tally.name == *name)
    }

    /// The tally of a user record, likewise.
    #[must_use]
    pub fn record(&self, position: usize, name: &str) -> Option<&RecordTally> {
        self.records.get(position).filter(|tally| *tally.name == *name)
    }

    /// Counts an answer; `record` is the position and name of the user record that led to it.
    pub fn count(
        &mut self,
        (system, name): (usize, &str),
        record: Option<(usize, &str)>,
        pass: Pass,
        now: Moment,
    ) {
        self.serial += 1;
        if let Some(tally) = self.systems.get_mut(system).filter(|tally| *tally.name == *name) {
            tally.selections += 1;
            tally.last_used = Some(now);
            tally.used_at = self.serial;
        }
        let tally = record.and_then(|(position, name)| {
            self.records.get_mut(position).filter(|tally| *tally.name == *name)
        });
        if let Some(tally) = tally {
            tally.selections[pass as usize] += 1;
        }
    }

    /// Sets all counts to zero. Who was used last stays known, as a rotation does elsewhere.
    pub fn clear_counts(&mut self) {
        for tally in &mut self.systems {
            tally.selections = 0;
        }
        for tally in &mut self.records {
            tally.selections = [0; Pass::ALL.len()];
        }
    }

    /// Forgets everything, as if nobody had ever asked.
    pub fn reset(&mut self) {
        self.clear_counts();
        for tally in &mut self.systems {
            tally.last_used = None;
            tally.used_at = 0;
        }
    }

    /// Makes room for the systems and user records of a new configuration, in their order. What is
    /// still there keeps its tally.
    pub fn arrange<'a>(
        &mut self,
        systems: impl Iterator<Item = &'a str>,
        records: impl Iterator<Item = &'a str>,
    ) {
        let mut old: HashMap<Box<str>, SystemTally> = std::mem::take(&mut self.systems)
            .into_iter()
            .map(|tally| (folded(&tally.name), tally))
            .collect();
        self.systems = systems
            .map(|name| SystemTally {
                name: name.into(),
                ..old.remove(&folded(name)).unwrap_or_default()
            })
            .collect();
        let mut old: HashMap<Box<str>, RecordTally> = std::mem::take(&mut self.records)
            .into_iter()
            .map(|tally| (folded(&tally.name), tally))
            .collect();
        self.records = records
            .map(|name| RecordTally {
                name: name.into(),
                ..old.remove(&folded(name)).unwrap_or_default()
            })
            .collect();
    }
}

fn folded(name: &str) -> Box<str> {
    name.to_ascii_lowercase().into()
}

/// The state of a domain behind its lock.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<DomainState>);

impl Tallies {
    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, DomainState> {
        // A panic while the lock is held cannot leave half a change: changes are plain additions.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_follow_a_name_through_a_change_of_the_list() {
        let mut state = DomainState::default();
        state.arrange(["gw1", "gw2"].into_iter(), ["SITE1"].into_iter());
        let now = Moment::from_millis(5000);
        state.count((1, "gw2"), Some((0, "SITE1")), Pass::Second, now);
        state.arrange(["gw3", "GW2"].into_iter(), ["other", "site1"].into_iter());
        assert_eq!(state.system(0, "gw3").unwrap().selections, 0);
        assert_eq!(state.system(1, "GW2").unwrap().selections, 1);
        assert_eq!(state.system(1, "GW2").unwrap().last_used, Some(now));
        assert_eq!(state.record(1, "site1").unwrap().selections, [0, 1, 0]);
    }

    #[test]
    fn a_question_on_the_snapshot_before_counts_for_nobody_else() {
        let mut state = DomainState::default();
        state.arrange(["gw1"].into_iter(), std::iter::empty());
        state.arrange(["gw2"].into_iter(), ["SITE1"].into_iter());
        state.count((0, "gw1"), Some((3, "SITE1")), Pass::First, Moment::ZERO);
        assert_eq!(state.system(0, "gw1"), None);
        assert_eq!(state.system(0, "gw2").unwrap().selections, 0);
        assert_eq!(state.record(0, "SITE1").unwrap().selections, [0; 3]);
    }

    #[test]
    fn cleared_counts_leave_the_order_of_use() {
        let mut state = DomainState::default();
        state.arrange(["gw1"].into_iter(), std::iter::empty());
        state.count((0, "gw1"), None, Pass::First, Moment::ZERO);
        state.clear_counts();
        let tally = state.system(0, "gw1").unwrap();
        assert_eq!((tally.selections, tally.used_at), (0, 1));
        assert_eq!(tally.last_used, Some(Moment::ZERO));
        state.reset();
        let tally = state.system(0, "gw1").unwrap();
        assert_eq!((tally.used_at, tally.last_used), (0, None));
    }
}

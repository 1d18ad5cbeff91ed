//! What a domain remembers of its answers: counts, and when each system was used last.
//!
//! [`super::choose()`] reads a [`DomainState`]; the caller applies the choice while it holds the
//! domain's lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::clock::Moment;
use crate::sna::choose::Pass;
use crate::sna::domain::{RecordId, SystemId};

/// Everything about a domain that a choice depends on and changes.
#[derive(Clone, Debug, Default)]
pub struct DomainState {
    /// One for each system of the newest snapshot, in its order.
    systems: Vec<SystemTally>,
    /// One for each user record, likewise.
    records: Vec<RecordTally>,
    /// What the two lists are arranged for.
    arrangement: Arrangement,
    /// Answers ever given, which gives each its number; never cleared.
    serial: u64,
}

/// Which lists of systems and user records the tallies stand for. A question that still runs on the
/// snapshot before finds another one, and counts nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrangement(u64);

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
    /// The tallies of the systems in the order of an arrangement; empty if there is a newer one.
    #[must_use]
    pub fn systems(&self, arrangement: Arrangement) -> &[SystemTally] {
        if arrangement == self.arrangement { &self.systems } else { &[] }
    }

    /// The tallies of the user records, likewise.
    #[must_use]
    pub fn records(&self, arrangement: Arrangement) -> &[RecordTally] {
        if arrangement == self.arrangement { &self.records } else { &[] }
    }

    /// Counts an answer; `record` is the user record that led to it.
    pub fn count(
        &mut self,
        arrangement: Arrangement,
        system: SystemId,
        record: Option<RecordId>,
        pass: Pass,
        now: Moment,
    ) {
        if arrangement != self.arrangement {
            return;
        }
        self.serial += 1;
        if let Some(tally) = self.systems.get_mut(system.index()) {
            tally.selections += 1;
            tally.last_used = Some(now);
            tally.used_at = self.serial;
        }
        if let Some(tally) = record.and_then(|record| self.records.get_mut(record.index())) {
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
    ) -> Arrangement {
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
        self.arrangement.0 += 1;
        self.arrangement
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

    const FIRST: SystemId = SystemId(0);

    #[test]
    fn tallies_follow_a_name_through_a_change_of_the_list() {
        let mut state = DomainState::default();
        let before = state.arrange(["gw1", "gw2"].into_iter(), ["SITE1"].into_iter());
        let now = Moment::from_millis(5000);
        state.count(before, SystemId(1), Some(RecordId(0)), Pass::Second, now);
        let after = state.arrange(["gw3", "GW2"].into_iter(), ["other", "site1"].into_iter());
        let [gw3, gw2] = state.systems(after) else { panic!("{state:?}") };
        assert_eq!((gw3.selections, gw2.selections), (0, 1));
        assert_eq!(gw2.last_used, Some(now));
        assert_eq!(state.records(after)[1].selections, [0, 1, 0]);
    }

    #[test]
    fn a_question_on_the_snapshot_before_counts_for_nobody_else() {
        let mut state = DomainState::default();
        let before = state.arrange(["gw1"].into_iter(), std::iter::empty());
        let after = state.arrange(["gw2"].into_iter(), ["SITE1"].into_iter());
        state.count(before, FIRST, Some(RecordId(0)), Pass::First, Moment::ZERO);
        assert_eq!((state.systems(before), state.records(before)), (&[][..], &[][..]));
        assert_eq!(state.systems(after)[0].selections, 0);
        assert_eq!(state.records(after)[0].selections, [0; 3]);
    }

    #[test]
    fn cleared_counts_leave_the_order_of_use() {
        let mut state = DomainState::default();
        let arrangement = state.arrange(["gw1"].into_iter(), std::iter::empty());
        state.count(arrangement, FIRST, None, Pass::First, Moment::ZERO);
        state.clear_counts();
        let tally = &state.systems(arrangement)[0];
        assert_eq!((tally.selections, tally.used_at), (0, 1));
        assert_eq!(tally.last_used, Some(Moment::ZERO));
        state.reset();
        let tally = &state.systems(arrangement)[0];
        assert_eq!((tally.used_at, tally.last_used), (0, None));
    }
}

//! Which questions skip round-trip time, so that other sites get a chance to be measured.
//!
//! For each prefix of clients the explore percentage is added up, question by question; at 100 the
//! metric is skipped once and 100 taken off: with 5 percent at questions 20, 40, 60 (decisions
//! 4.6). A prefix that has not asked for as long as its cache entry lives begins anew.

use hashbrown::HashMap;

use crate::clock::Moment;
use crate::health::prefix::Prefix;

/// Prefixes of which a domain keeps the sum; with more all begin anew.
const MOST_PREFIXES: usize = 1024;

/// The sums of one domain.
#[derive(Clone, Debug, Default)]
pub struct Explore {
    /// Not there before the first step, since most domains never take one.
    sums: Option<Box<HashMap<Prefix, (u8, Moment)>>>,
}

/// What one question adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploreStep {
    /// The prefix of the client.
    pub prefix: Prefix,
    /// The new sum, percent, below 100.
    pub sum: u8,
    /// When.
    pub now: Moment,
    /// Whether this question skips round-trip time.
    pub skips: bool,
}

impl Explore {
    /// What a question of this prefix adds; a sum older than `lifetime` seconds is forgotten.
    #[must_use]
    pub fn step(&self, prefix: Prefix, percentage: u8, lifetime: u32, now: Moment) -> ExploreStep {
        let kept = self
            .sums
            .as_ref()
            .and_then(|sums| sums.get(&prefix))
            .filter(|(_, used)| now.since(*used).as_secs() < u64::from(lifetime));
        let sum = kept.map_or(0, |(sum, _)| *sum) + percentage.min(100);
        ExploreStep { prefix, sum: sum % 100, now, skips: sum >= 100 }
    }

    /// Keeps what a question added.
    pub fn apply(&mut self, step: ExploreStep) {
        let sums = self.sums.get_or_insert_default();
        if sums.len() >= MOST_PREFIXES && !sums.contains_key(&step.prefix) {
            sums.clear();
        }
        sums.insert(step.prefix, (step.sum, step.now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;

    fn skipped(percentage: u8, questions: usize) -> Vec<usize> {
        let mut explore = Explore::default();
        let prefix = Prefix::new(ip("192.0.2.1"), 20);
        let mut ask = || {
            let step = explore.step(prefix, percentage, 120, Moment::ZERO);
            explore.apply(step);
            step.skips
        };
        (1..=questions).filter(|_| ask()).collect()
    }

    #[test]
    fn every_twentieth_question_at_five_percent() {
        assert_eq!(skipped(5, 60), [20, 40, 60]);
        assert_eq!(skipped(30, 10), [4, 7, 10]);
        assert_eq!(skipped(100, 3), [1, 2, 3]);
        assert_eq!(skipped(0, 200), [0; 0]);
    }

    #[test]
    fn a_prefix_that_was_quiet_begins_anew() {
        let mut explore = Explore::default();
        let prefix = Prefix::new(ip("192.0.2.1"), 20);
        explore.apply(explore.step(prefix, 90, 120, Moment::ZERO));
        assert!(explore.step(prefix, 90, 120, Moment::ZERO.plus_secs(119)).skips);
        assert!(!explore.step(prefix, 90, 120, Moment::ZERO.plus_secs(120)).skips);
    }

    #[test]
    fn memory_is_bounded() {
        let mut explore = Explore::default();
        for number in 0..3000_u32 {
            let prefix = Prefix::new(std::net::Ipv4Addr::from_bits(number << 8).into(), 24);
            explore.apply(explore.step(prefix, 5, 120, Moment::ZERO));
        }
        assert!(explore.sums.unwrap().len() <= MOST_PREFIXES);
    }
}

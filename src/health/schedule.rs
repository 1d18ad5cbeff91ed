//! What falls due as time passes: the reports of the site devices, and what grows old.
//!
//! One schedule for a clock. It knows when something is due and in which order; who sends the
//! reports and who forgets is up to the caller, so that several appliances can share it. On a
//! driven clock it is run when the clock is moved, on the real one once a second.

use crate::clock::Moment;

/// Something that falls due again and again, in the order within one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A second passed: the site devices count its new connections.
    Second,
    /// The site devices report sessions and CPU load (guide p. 30).
    Status,
    /// The site devices report the health of their VIPs (guide p. 75).
    Health,
    /// The DNS server behind is asked for the addresses of the hosts (guide p. 32).
    Check,
    /// What was not used for too long is forgotten.
    Ageing,
}

/// Seconds between two events of a kind, as far as they are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periods {
    /// Status reports (`protocol status-interval`, 1-300).
    pub status: u32,
    /// Questions to the DNS server behind (`dns check-interval`, 1-1000000000).
    pub check: u32,
    /// Samples of new connections (`connection-load intervals`, 5-60).
    pub sample: u8,
}

/// Period of the health reports, seconds; no command changes it (guide p. 75).
pub const HEALTH_PERIOD: u32 = 5;

/// Period of ageing, seconds (ours). What is too old does not count anyway; this frees its memory.
const AGEING_PERIOD: u64 = 60;

/// Seconds that are played at either end of a long stretch. Everything has settled by then: no
/// line names as many connection rates, and all samples take eight minutes at most.
const PLAYED: u64 = 3600;

/// Up to when everything has happened.
#[derive(Debug, Default)]
pub struct Schedule {
    done: Moment,
}

impl Schedule {
    /// Performs what has fallen due until `now`, in order, at the moment at which it was due.
    ///
    /// Of a stretch of more than two hours the middle is left out, a whole number of samples.
    pub fn advance(
        &mut self,
        now: Moment,
        periods: Periods,
        mut perform: impl FnMut(Moment, Event),
    ) {
        let mut second = self.done.as_secs();
        let last = now.as_secs();
        let sample = u64::from(periods.sample).max(1);
        let surplus = last.saturating_sub(second).saturating_sub(2 * PLAYED) / sample * sample;
        let pause = second + PLAYED;
        while second < last {
            if second == pause {
                second += surplus;
            }
            second += 1;
            let moment = Moment::ZERO.plus_secs(second);
            let is_due = |period: u64| second.is_multiple_of(period.max(1));
            perform(moment, Event::Second);
            if is_due(periods.status.into()) {
                perform(moment, Event::Status);
            }
            if is_due(HEALTH_PERIOD.into()) {
                perform(moment, Event::Health);
            }
            if is_due(periods.check.into()) {
                perform(moment, Event::Check);
            }
            if is_due(AGEING_PERIOD) {
                perform(moment, Event::Ageing);
            }
        }
        self.done = now.max(self.done);
    }

    /// Goes on from `now`, as after the clock was set back.
    pub fn restart(&mut self, now: Moment) {
        self.done = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIODS: Periods = Periods { status: 3, check: 4, sample: 7 };

    fn events(schedule: &mut Schedule, now: u64) -> Vec<(u64, Event)> {
        let mut events = Vec::new();
        schedule.advance(Moment::from_millis(now), PERIODS, |moment, event| {
            events.push((moment.as_secs(), event));
        });
        events
    }

    #[test]
    fn events_come_in_order_and_once() {
        use Event::{Check, Health, Second, Status};
        let mut schedule = Schedule::default();
        assert_eq!(events(&mut schedule, 999), []);
        assert_eq!(events(&mut schedule, 1000), [(1, Second)]);
        assert_eq!(events(&mut schedule, 1999), []);
        let expected = [
            (2, Second),
            (3, Second),
            (3, Status),
            (4, Second),
            (4, Check),
            (5, Second),
            (5, Health),
            (6, Second),
            (6, Status),
        ];
        assert_eq!(events(&mut schedule, 6500), expected);
        assert_eq!(events(&mut schedule, 2000), [], "the clock never goes back by itself");
        assert_eq!(events(&mut schedule, 7000), [(7, Second)]);
        schedule.restart(Moment::ZERO);
        assert_eq!(events(&mut schedule, 1000), [(1, Second)]);
    }

    #[test]
    fn a_long_stretch_is_played_at_its_ends() {
        let mut schedule = Schedule::default();
        let events = events(&mut schedule, u64::MAX);
        let seconds: Vec<u64> =
            events.iter().filter(|(_, event)| *event == Event::Second).map(|(at, _)| *at).collect();
        assert!(seconds.len() <= 7207);
        assert_eq!(seconds[..3600], (1..=3600).collect::<Vec<_>>()[..]);
        assert_eq!(seconds.last(), Some(&(u64::MAX / 1000)));
        let gap = seconds[3600] - seconds[3599] - 1;
        assert_eq!(gap % 7, 0, "samples stay whole");
    }
}

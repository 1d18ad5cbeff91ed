//! When which server is checked, and what the results make of its state.
//!
//! Pure: the time comes from the caller, who also makes the checks. The rules (SLB guide; GUI guide;
//! what they leave open is listed in `docs/differences.md`):
//!
//! - A check begins an interval after the one before it began, and not before that one has ended.
//! - A port that is up goes down when a check and all its retries have failed, one interval apart.
//! - A port that is down comes up with the first check that passes.
//! - The first result of a port counts at once. But a port that can be connected to is given its
//!   retries for the rest, unless fast bring-up is off for it.
//! - A port without keepalive is checked until it is up, and then no more.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;
use crate::model::check_rules::Check;
use crate::model::snapshot::Application;

/// An address and one of its ports.
pub type Target = (IpAddr, Application);

/// What is to be checked, and how.
pub type Plan = BTreeMap<Target, Arc<Check>>;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The server works.
    Passed {
        /// How long the connection took; `None` if there is none, as over UDP.
        connection: Option<Duration>,
        /// How long the application took to answer; `None` if it was not asked.
        application: Option<Duration>,
    },
    /// It does not.
    Failed {
        /// It could be connected to.
        connected: bool,
        /// Why, in words.
        reason: String,
    },
}

/// A check that is due: to be made, and its result to be given to [`Timetable::finish`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Who is checked.
    pub target: Target,
    /// How.
    pub check: Arc<Check>,
    number: u64,
}

/// What is known of one target.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How it is checked.
    pub check: Arc<Check>,
    /// Whether it is up; `None` before the first result that says so.
    pub is_up: Option<bool>,
    /// Checks that failed since the last one that passed.
    pub failures: u32,
    /// The result of the last check.
    pub last: Option<Finding>,
    /// When it is checked next.
    pub due: Option<Moment>,
    /// The check that is under way, and when it began.
    running: Option<(u64, Moment)>,
}

/// All targets.
#[derive(Debug, Default)]
pub struct Timetable {
    entries: BTreeMap<Target, Entry>,
    due: BTreeSet<(Moment, Target)>,
    started: u64,
}

impl Timetable {
    /// Follows a new plan; gives the targets that it has not any more. What stays keeps its state.
    pub fn follow(&mut self, plan: Plan, now: Moment) -> Vec<Target> {
        let gone: Vec<Target> =
            self.entries.keys().filter(|target| !plan.contains_key(*target)).copied().collect();
        for target in &gone {
            if let Some(entry) = self.entries.remove(target)
                && let Some(due) = entry.due
            {
                self.due.remove(&(due, *target));
            }
        }
        for (target, check) in plan {
            match self.entries.get_mut(&target) {
                Some(entry) if entry.check == check => {}
                Some(entry) => {
                    entry.check = check;
                    let is_running = entry.running.is_some();
                    if !is_running {
                        self.set_due(target, Some(now));
                    }
                }
                None => {
                    let entry = Entry {
                        check,
                        is_up: None,
                        failures: 0,
                        last: None,
                        due: None,
                        running: None,
                    };
                    self.entries.insert(target, entry);
                    self.set_due(target, Some(now));
                }
            }
        }
        gone
    }

    /// Begins a check that has fallen due, the one that has waited longest.
    pub fn start_next(&mut self, now: Moment) -> Option<Job> {
        let (due, target) = *self.due.first()?;
        if due > now {
            return None;
        }
        self.set_due(target, None);
        let entry = self.entries.get_mut(&target)?;
        self.started += 1;
        entry.running = Some((self.started, now));
        Some(Job { target, check: Arc::clone(&entry.check), number: self.started })
    }

    /// Ends a check without a result: nobody wants to know it now. It is due again an interval
    /// later, as if the target were new.
    pub fn skip(&mut self, job: &Job) {
        if let Some(began) = self.end(job)
            && let Some(entry) = self.entries.get_mut(&job.target)
        {
            (entry.is_up, entry.failures, entry.last) = (None, 0, None);
            self.set_due(job.target, Some(began.plus_secs(job.check.interval.into())));
        }
    }

    /// Ends a check. Gives whether the target is up, if the result says anything; nothing for a
    /// target that has left the plan meanwhile.
    pub fn finish(&mut self, job: &Job, finding: Finding) -> Option<bool> {
        let began = self.end(job)?;
        let entry = self.entries.get_mut(&job.target)?;
        let check = Arc::clone(&entry.check);
        match &finding {
            Finding::Passed { .. } => {
                entry.failures = 0;
                entry.is_up = Some(true);
            }
            Finding::Failed { connected, .. } => {
                entry.failures = entry.failures.saturating_add(1);
                let is_given_time = match entry.is_up {
                    Some(is_up) => is_up,
                    None => *connected && check.fast_bringup,
                };
                if !is_given_time || entry.failures > u32::from(check.retries) {
                    entry.is_up = Some(false);
                }
            }
        }
        entry.last = Some(finding);
        let is_up = entry.is_up;
        let is_done = is_up == Some(true) && entry.failures == 0 && !check.keepalive;
        let next = began.plus_secs(check.interval.into());
        self.set_due(job.target, (!is_done).then_some(next));
        is_up
    }

    /// All targets with what is known of them, in the order of their addresses.
    pub fn entries(&self) -> impl Iterator<Item = (&Target, &Entry)> {
        self.entries.iter()
    }

    /// When a check began that is still under way.
    fn end(&mut self, job: &Job) -> Option<Moment> {
        let entry = self.entries.get_mut(&job.target)?;
        let (_, began) = entry.running.take_if(|(number, _)| *number == job.number)?;
        Some(began)
    }

    fn set_due(&mut self, target: Target, due: Option<Moment>) {
        let Some(entry) = self.entries.get_mut(&target) else { return };
        if let Some(old) = entry.due {
            self.due.remove(&(old, target));
        }
        entry.due = due;
        if let Some(due) = due {
            self.due.insert((due, target));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check_rules::Protocol;

    const WEB: Target = (IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), Application(80));
    const OTHER: Target = (IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)), Application(80));

    fn check() -> Check {
        Check {
            protocol: Protocol::Tcp,
            interval: 5,
            retries: 3,
            keepalive: true,
            fast_bringup: true,
        }
    }

    fn plan(targets: &[(Target, Check)]) -> Plan {
        targets.iter().map(|(target, check)| (*target, Arc::new(check.clone()))).collect()
    }

    fn at(seconds: u64) -> Moment {
        Moment::ZERO.plus_secs(seconds)
    }

    fn passed() -> Finding {
        Finding::Passed { connection: Some(Duration::from_micros(120)), application: None }
    }

    fn failed(connected: bool) -> Finding {
        Finding::Failed { connected, reason: "it is a test".to_owned() }
    }

    /// Lets every check of a second have this result; gives the moments of the checks and what was
    /// then known.
    fn play(
        table: &mut Timetable,
        seconds: std::ops::Range<u64>,
        finding: &Finding,
    ) -> Vec<(u64, Option<bool>)> {
        let mut results = Vec::new();
        for second in seconds {
            while let Some(job) = table.start_next(at(second)) {
                results.push((second, table.finish(&job, finding.clone())));
            }
        }
        results
    }

    #[test]
    fn a_port_goes_down_after_its_retries_and_comes_up_at_once() {
        let mut table = Timetable::default();
        assert!(table.follow(plan(&[(WEB, check())]), at(0)).is_empty());
        assert_eq!(play(&mut table, 0..9, &passed()), [(0, Some(true)), (5, Some(true))]);
        assert_eq!(
            play(&mut table, 9..30, &failed(false)),
            [(10, Some(true)), (15, Some(true)), (20, Some(true)), (25, Some(false))]
        );
        assert_eq!(play(&mut table, 30..33, &passed()), [(30, Some(true))]);
        // One failure, and the count begins anew.
        assert_eq!(play(&mut table, 33..36, &failed(true)), [(35, Some(true))]);
        assert_eq!(play(&mut table, 36..41, &passed()), [(40, Some(true))]);
        assert_eq!(table.entries[&WEB].failures, 0);
    }

    #[test]
    fn the_first_result_counts_at_once() {
        let mut table = Timetable::default();
        table.follow(plan(&[(WEB, check())]), at(0));
        assert_eq!(play(&mut table, 0..1, &failed(false)), [(0, Some(false))]);
        assert_eq!(play(&mut table, 1..6, &passed()), [(5, Some(true))]);
    }

    #[test]
    fn fast_bringup_gives_the_application_its_retries() {
        let mut table = Timetable::default();
        let slow = Check { fast_bringup: false, ..check() };
        table.follow(plan(&[(WEB, check()), (OTHER, slow)]), at(0));
        let expected = [
            (0, None),
            (0, Some(false)),
            (5, None),
            (5, Some(false)),
            (10, None),
            (10, Some(false)),
            (15, Some(false)),
            (15, Some(false)),
        ];
        assert_eq!(play(&mut table, 0..16, &failed(true)), expected);
    }

    #[test]
    fn without_keepalive_a_port_is_checked_until_it_is_up() {
        let mut table = Timetable::default();
        table.follow(plan(&[(WEB, Check { keepalive: false, ..check() })]), at(0));
        assert_eq!(play(&mut table, 0..6, &failed(false)), [(0, Some(false)), (5, Some(false))]);
        assert_eq!(play(&mut table, 6..1000, &passed()), [(10, Some(true))]);
        // A changed check is made once more.
        table.follow(plan(&[(WEB, Check { keepalive: false, retries: 1, ..check() })]), at(1000));
        assert_eq!(play(&mut table, 1000..2000, &passed()), [(1000, Some(true))]);
    }

    #[test]
    fn a_check_is_never_made_twice_at_a_time() {
        let mut table = Timetable::default();
        table.follow(plan(&[(WEB, check())]), at(0));
        let job = table.start_next(at(0)).unwrap();
        assert_eq!(table.start_next(at(100)), None, "it is under way");
        table.follow(plan(&[(WEB, Check { interval: 2, ..check() })]), at(100));
        assert_eq!(table.start_next(at(100)), None, "also with another check");
        assert_eq!(table.finish(&job, passed()), Some(true));
        assert_eq!(table.finish(&job, failed(false)), None, "a result counts once");
        assert!(table.start_next(at(101)).is_some(), "it is overdue");
    }

    #[test]
    fn what_has_left_the_plan_has_no_result() {
        let mut table = Timetable::default();
        table.follow(plan(&[(WEB, check())]), at(0));
        let job = table.start_next(at(0)).unwrap();
        assert_eq!(table.follow(plan(&[(OTHER, check())]), at(1)), [WEB]);
        table.follow(plan(&[(WEB, check()), (OTHER, check())]), at(2));
        assert_eq!(table.finish(&job, failed(false)), None, "that was another one");
        assert_eq!(table.entries[&WEB].is_up, None);
        assert_eq!(play(&mut table, 2..3, &passed()).len(), 2);
    }

    #[test]
    fn what_nobody_wants_to_know_is_put_off() {
        let mut table = Timetable::default();
        table.follow(plan(&[(WEB, check())]), at(0));
        play(&mut table, 0..1, &passed());
        let job = table.start_next(at(5)).unwrap();
        table.skip(&job);
        assert_eq!(table.entries[&WEB].is_up, None);
        assert_eq!(play(&mut table, 6..11, &passed()), [(10, Some(true))]);
    }

    #[test]
    fn who_has_waited_longest_comes_first() {
        let mut table = Timetable::default();
        table.follow(plan(&[(OTHER, check())]), at(0));
        table.follow(plan(&[(WEB, check()), (OTHER, check())]), at(1));
        assert_eq!(table.start_next(at(3)).unwrap().target, OTHER);
        assert_eq!(table.start_next(at(3)).unwrap().target, WEB);
        assert_eq!(table.start_next(at(3)), None);
    }
}

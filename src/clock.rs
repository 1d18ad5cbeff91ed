//! Time: the only file that reads a clock of the system.
//!
//! One clock per process. Interactive and serving programs run on the real one; replay, simulation
//! and tests on a driven one that starts at zero and moves only when it is told to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in time: what has passed since the clock began, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The beginning of the clock.
    pub const ZERO: Moment = Moment(0);

    /// The moment `milliseconds` after the beginning.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Moment(milliseconds)
    }

    /// Milliseconds since the beginning.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the beginning.
    #[must_use]
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// What has passed since `earlier`; zero if that lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Moment) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment and `seconds` more, saturating at the end of time.
    #[must_use]
    pub const fn plus_secs(self, seconds: u64) -> Self {
        Moment(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Moment;
    /// The present time of day, as seconds since 1970-01-01 00:00:00 UTC.
    fn wall_seconds(&self) -> u64;
    /// Moves the clock forward.
    fn advance(&self, seconds: u64);
    /// Goes back to zero; a real clock cannot and returns `false`.
    fn reset(&self) -> bool;
    /// Whether time passes only by [`Clock::advance`].
    fn is_driven(&self) -> bool;
}

/// The system's monotonic clock, with what was added to it by hand.
#[derive(Debug)]
pub struct RealClock {
    start: Instant,
    offset: AtomicU64,
}

impl RealClock {
    /// A clock that begins now.
    #[must_use]
    pub fn new() -> Self {
        RealClock { start: Instant::now(), offset: AtomicU64::new(0) }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn now(&self) -> Moment {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Moment(elapsed.saturating_add(self.offset.load(Ordering::Relaxed)))
    }

    fn wall_seconds(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since_epoch.as_secs().saturating_add(self.offset.load(Ordering::Relaxed) / 1000)
    }

    fn advance(&self, seconds: u64) {
        add_seconds(&self.offset, seconds);
    }

    fn reset(&self) -> bool {
        false
    }

    fn is_driven(&self) -> bool {
        false
    }
}

/// A clock that stands still between two calls of [`Clock::advance`].
#[derive(Debug, Default)]
pub struct DrivenClock {
    milliseconds: AtomicU64,
}

impl DrivenClock {
    /// Where the driven time of day begins: 2012-01-31 00:00:00 UTC, the month of the guide.
    pub const WALL_START: u64 = 1_327_968_000;

    /// A clock that stands at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock that stands at `now`.
    #[must_use]
    pub const fn at(now: Moment) -> Self {
        DrivenClock { milliseconds: AtomicU64::new(now.as_millis()) }
    }
}

impl Clock for DrivenClock {
    fn now(&self) -> Moment {
        Moment(self.milliseconds.load(Ordering::Relaxed))
    }

    fn wall_seconds(&self) -> u64 {
        Self::WALL_START.saturating_add(self.now().as_secs())
    }

    fn advance(&self, seconds: u64) {
        add_seconds(&self.milliseconds, seconds);
    }

    fn reset(&self) -> bool {
        self.milliseconds.store(0, Ordering::Relaxed);
        true
    }

    fn is_driven(&self) -> bool {
        true
    }
}

/// Measures how long something real took, such as the answer of a server, whatever the clock of the
/// process says.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// What has passed since.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Calls `tick` once a second for as long as it is polled; seconds that were missed are left out.
pub async fn every_second(mut tick: impl FnMut()) {
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        interval.tick().await;
        tick();
    }
}

fn add_seconds(cell: &AtomicU64, seconds: u64) {
    let added = seconds.saturating_mul(1000);
    let _ = cell
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old.saturating_add(added)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driven_clock_moves_only_when_told() {
        let clock = DrivenClock::new();
        assert_eq!(clock.now(), Moment::ZERO);
        clock.advance(30);
        assert_eq!(clock.now().as_secs(), 30);
        clock.advance(u64::MAX);
        assert!(clock.now() > Moment::from_millis(30_000), "saturates instead of wrapping");
        assert!(clock.reset());
        assert_eq!(clock.now(), Moment::ZERO);
    }

    #[test]
    fn advancing_a_real_clock_adds_an_offset() {
        let clock = RealClock::new();
        clock.advance(3600);
        assert!(clock.now().as_secs() >= 3600);
        assert!(!clock.reset());
    }
}

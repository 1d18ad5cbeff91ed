//! The measured state of gateway hosts and LUs, by name. It outlives every change of the
//! configuration: a snapshot takes the cell of the same name again.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::names::named_enum;

/// Bandwidth of a host of which nothing is said, kbit/s.
pub const DEFAULT_BANDWIDTH: u64 = 10_000;

named_enum! {
    /// Whether a client can have an LU.
    pub enum LuStatus {
        /// It is available.
        Active = "active",
        /// It counts only when there is no active one (guide p. E-4).
        Inactive = "inactive",
        /// A client has it.
        InUse = "in-use",
    }
}

/// What is measured of one gateway host.
#[derive(Debug)]
pub struct SystemState {
    /// The bits of a number that is not negative.
    load: AtomicU64,
    bandwidth: AtomicU64,
}

impl Default for SystemState {
    fn default() -> Self {
        SystemState { load: AtomicU64::new(0), bandwidth: AtomicU64::new(DEFAULT_BANDWIDTH) }
    }
}

impl SystemState {
    /// The system load average (0 or more).
    #[must_use]
    pub fn load(&self) -> f64 {
        f64::from_bits(self.load.load(Ordering::Relaxed))
    }

    /// Sets the system load average; what is no number or below 0 counts as 0.
    pub fn set_load(&self, load: f64) {
        // `max` gives the other one of a number and of what is none.
        self.load.store(load.max(0.0).to_bits(), Ordering::Relaxed);
    }

    /// The bandwidth, kbit/s.
    #[must_use]
    pub fn bandwidth(&self) -> u64 {
        self.bandwidth.load(Ordering::Relaxed)
    }

    /// Sets the bandwidth, kbit/s.
    pub fn set_bandwidth(&self, bandwidth: u64) {
        self.bandwidth.store(bandwidth, Ordering::Relaxed);
    }

    fn reset(&self) {
        self.set_load(0.0);
        self.set_bandwidth(DEFAULT_BANDWIDTH);
    }
}

/// Whether one LU is available.
#[derive(Debug)]
pub struct LuState(AtomicU8);

impl Default for LuState {
    fn default() -> Self {
        LuState(AtomicU8::new(LuStatus::Active as u8))
    }
}

impl LuState {
    /// The status.
    #[must_use]
    pub fn status(&self) -> LuStatus {
        let status = usize::from(self.0.load(Ordering::Relaxed));
        LuStatus::ALL.get(status).copied().unwrap_or(LuStatus::Active)
    }

    /// Sets the status.
    pub fn set_status(&self, status: LuStatus) {
        self.0.store(status as u8, Ordering::Relaxed);
    }
}

/// All measured state of the gateways, by domain and name in lower case.
#[derive(Debug, Default)]
pub struct SnaStates {
    systems: Mutex<Cells<SystemState>>,
    lus: Mutex<Cells<LuState>>,
}

type Cells<T> = HashMap<Box<str>, HashMap<Box<str>, Arc<T>>>;

impl SnaStates {
    /// The cell of a host, made if it is not there.
    pub fn system(&self, domain: &str, name: &str) -> Arc<SystemState> {
        cell(&mut lock(&self.systems), domain, name)
    }

    /// The cell of an LU, made if it is not there.
    pub fn lu(&self, domain: &str, name: &str) -> Arc<LuState> {
        cell(&mut lock(&self.lus), domain, name)
    }

    /// Forgets what no snapshot uses and nobody has set.
    pub fn collect(&self) {
        retain(&mut lock(&self.systems), |state| {
            state.load() > 0.0 || state.bandwidth() != DEFAULT_BANDWIDTH
        });
        retain(&mut lock(&self.lus), |state| state.status() != LuStatus::Active);
    }

    /// Sets everything back to the default.
    pub fn reset(&self) {
        for state in lock(&self.systems).values().flat_map(HashMap::values) {
            state.reset();
        }
        for state in lock(&self.lus).values().flat_map(HashMap::values) {
            state.set_status(LuStatus::Active);
        }
    }
}

fn cell<T: Default>(cells: &mut Cells<T>, domain: &str, name: &str) -> Arc<T> {
    let domain = domain.to_ascii_lowercase().into_boxed_str();
    let name = name.to_ascii_lowercase().into_boxed_str();
    Arc::clone(cells.entry(domain).or_default().entry(name).or_default())
}

fn retain<T>(cells: &mut Cells<T>, is_set: impl Fn(&T) -> bool) {
    cells.retain(|_, names| {
        names.retain(|_, state| Arc::strong_count(state) > 1 || is_set(state));
        !names.is_empty()
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock is held cannot leave half a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_cell_in_any_case() {
        let states = SnaStates::default();
        states.lu("Sna.Example.Com", "lu01").set_status(LuStatus::InUse);
        assert_eq!(states.lu("sna.example.com", "LU01").status(), LuStatus::InUse);
        assert_eq!(states.lu("other.example.com", "LU01").status(), LuStatus::Active);
        states.reset();
        assert_eq!(states.lu("sna.example.com", "LU01").status(), LuStatus::Active);
    }

    #[test]
    fn what_nobody_uses_and_nobody_set_is_forgotten() {
        let states = SnaStates::default();
        let used = states.lu("a", "used");
        states.lu("a", "set").set_status(LuStatus::Inactive);
        states.lu("a", "unused");
        states.system("a", "unused");
        states.system("a", "set").set_load(0.5);
        states.collect();
        assert_eq!(lock(&states.lus).values().map(HashMap::len).sum::<usize>(), 2);
        assert_eq!(lock(&states.systems).values().map(HashMap::len).sum::<usize>(), 1);
        assert_eq!(used.status(), LuStatus::Active);
    }

    #[test]
    fn a_load_is_a_number_from_zero_on() {
        let state = SystemState::default();
        for (given, kept) in [(0.25, 0.25), (-1.0, 0.0), (f64::NAN, 0.0)] {
            state.set_load(given);
            assert!(state.load().total_cmp(&kept).is_eq(), "{given}");
        }
    }
}

//! The table of measured state, by identity: addresses and site devices.
//!
//! It outlives every change of the configuration: a snapshot takes the cell of the same address
//! or device again, so a server that flaps does not rebuild anything.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::behind::emulated::EmulatedServer;
use crate::clock::Moment;
use crate::health::learned::LearnedAddresses;
use crate::health::load::Load;
use crate::health::own::Own;
use crate::health::rtt::PrefixCache;
use crate::health::sessions::SessionTable;
use crate::health::vips::Vips;
use crate::model::snapshot::Application;
use crate::names::named_enum;
use crate::revision::Revision;
use crate::sna::SnaStates;

/// All measured state of one appliance.
#[derive(Debug, Default)]
pub struct States {
    /// In a lab all appliances look at the same servers.
    addresses: Arc<Mutex<HashMap<IpAddr, Arc<AddressState>>>>,
    servers: Mutex<HashMap<IpAddr, Arc<ServerState>>>,
    /// What this appliance tells its controllers of itself.
    own: Mutex<Own>,
    /// SNA gateways.
    pub sna: SnaStates,
    /// The emulated DNS server behind the appliance.
    pub dns_server: EmulatedServer,
    /// What was learned from the DNS server behind, emulated or real.
    pub learned: LearnedAddresses,
    /// Clients that asked lately, and how far the site devices are from them.
    pub prefixes: PrefixCache,
    /// Sessions of server load balancing.
    pub sessions: SessionTable,
    started: AtomicU64,
}

impl States {
    /// The state of an appliance that looks at the same addresses as another one.
    pub fn beside(other: &States) -> Self {
        States { addresses: Arc::clone(&other.addresses), ..States::default() }
    }

    /// The cell of an address, made if it is not there.
    pub fn address(&self, address: IpAddr) -> Arc<AddressState> {
        lock(&self.addresses).entry(address).or_default().clone()
    }

    /// The cell of a site device, made if it is not there.
    pub fn server(&self, address: IpAddr) -> Arc<ServerState> {
        lock(&self.servers).entry(address).or_default().clone()
    }

    /// What this appliance tells its controllers of itself.
    pub fn own(&self) -> Own {
        lock(&self.own).clone()
    }

    /// Changes what this appliance tells its controllers of itself.
    pub fn change_own(&self, change: impl FnOnce(&mut Own)) {
        change(&mut lock(&self.own));
    }

    /// Lets one second pass for the new connections of every site device; a sample takes
    /// `sampling_rate` seconds (global policy, guide p. 50).
    pub fn pass_second(&self, sampling_rate: u8) {
        for state in lock(&self.servers).values() {
            state.load().pass_second(sampling_rate);
        }
    }

    /// Lets every site device send its status report.
    pub fn report_status(&self) {
        for state in lock(&self.servers).values() {
            state.report_status();
        }
    }

    /// When the appliance was started.
    pub fn started(&self) -> Moment {
        Moment::from_millis(self.started.load(Ordering::Relaxed))
    }

    /// The appliance starts, or starts again.
    pub fn start(&self, now: Moment) {
        self.started.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Whether an address answers at all: nobody has said that it is down.
    pub fn is_reachable(&self, address: IpAddr) -> bool {
        let state = lock(&self.addresses).get(&address).cloned();
        state.is_none_or(|state| {
            lock(&state.results).as_deref().is_none_or(|results| !results.down.address)
        })
    }

    /// Forgets what no snapshot uses and nobody has set.
    pub fn collect(&self) {
        lock(&self.addresses)
            .retain(|_, state| Arc::strong_count(state) > 1 || !state.is_default());
        lock(&self.servers).retain(|_, state| Arc::strong_count(state) > 1 || !state.is_default());
        self.sna.collect();
    }

    /// Sets everything back to the default: reachable, healthy, idle.
    pub fn reset(&self) {
        for state in lock(&self.addresses).values() {
            state.reset();
        }
        for state in lock(&self.servers).values() {
            state.reset();
        }
        *lock(&self.own) = Own::default();
        self.prefixes.clear();
        self.sna.reset();
        self.sessions.reset();
        self.dns_server.clear();
        self.learned.clear();
    }
}

/// Results of the health checks of one address. Checks of which nobody knows a result count as
/// passed.
///
/// What is said (`emulate health`, or by a site device of a lab) wins over what checks over the
/// network have found (emulated-world 1).
#[derive(Debug, Default)]
pub struct AddressState {
    /// How many entries `down` of the results has, so that the usual case takes no lock.
    down_count: AtomicU32,
    /// Nothing is known of most addresses.
    results: Mutex<Option<Box<Results>>>,
    /// FlashBack delay of the TCP check, unit 100 microseconds.
    pub flashback_tcp: AtomicU32,
    /// FlashBack delay of the application check, unit 100 microseconds.
    pub flashback_application: AtomicU32,
}

/// How fast the health checks of an address were answered, unit 100 microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The check of the TCP port (Layer 4).
    pub tcp: u32,
    /// The check of the application (Layer 7).
    pub application: u32,
}

/// What is known of the checks of an address.
#[derive(Debug, Default, PartialEq, Eq)]
struct Results {
    /// What is said of the address as a whole.
    said: Option<bool>,
    /// What is said of single applications.
    said_of: Applications,
    /// What checks over the network have found.
    measured: Applications,
    said_delays: Option<Delays>,
    measured_delays: Delays,
    down: Down,
}

/// Whether applications are up.
type Applications = SmallVec<[(Application, bool); 2]>;

/// What follows from the results.
#[derive(Debug, Default, PartialEq, Eq)]
struct Down {
    /// The address as a whole.
    address: bool,
    /// Single applications.
    applications: SmallVec<[Application; 2]>,
}

impl Results {
    fn settle(&mut self) {
        self.down.address = self.said == Some(false);
        self.down.applications.clear();
        let said_of = self.said_of.iter();
        self.down.applications.extend(said_of.filter(|(_, up)| !up).map(|(one, _)| *one));
        if self.said.is_none() {
            let measured = self
                .measured
                .iter()
                .filter(|(one, up)| !up && !self.said_of.iter().any(|(said, _)| said == one));
            self.down.applications.extend(measured.map(|(one, _)| *one));
        }
    }
}

/// Enters whether an application is up; `None` forgets it. Says whether that is new.
fn enter(list: &mut Applications, application: Application, up: Option<bool>) -> bool {
    let place = list.iter().position(|(one, _)| *one == application);
    match (place, up) {
        (Some(place), Some(up)) => std::mem::replace(&mut list[place].1, up) != up,
        (Some(place), None) => {
            list.remove(place);
            true
        }
        (None, Some(up)) => {
            list.push((application, up));
            true
        }
        (None, None) => false,
    }
}

impl AddressState {
    /// Whether all of these applications pass their checks here.
    ///
    /// A host without applications has no checks and is healthy (decisions 3.1).
    #[inline]
    #[must_use]
    pub fn passes(&self, applications: &[Application]) -> bool {
        let all_are_up = self.down_count.load(Ordering::Relaxed) == 0;
        all_are_up || applications.is_empty() || self.pass_one_by_one(applications)
    }

    fn pass_one_by_one(&self, applications: &[Application]) -> bool {
        let results = lock(&self.results);
        let Some(Results { down, .. }) = results.as_deref() else { return true };
        !down.address && !applications.iter().any(|one| down.applications.contains(one))
    }

    /// Says the result for the whole address (`None`) or for one application.
    pub fn set_up(&self, application: Option<Application>, up: bool) {
        self.say(application, Some(up));
    }

    /// Takes back what was said for the whole address (`None`) or for one application.
    pub fn unsay(&self, application: Option<Application>) {
        self.say(application, None);
    }

    fn say(&self, application: Option<Application>, up: Option<bool>) {
        self.change(|results| match application {
            None => results.said = up,
            Some(application) => {
                enter(&mut results.said_of, application, up);
            }
        });
    }

    /// Whether somebody says whether this application is up, so that no check is needed.
    #[must_use]
    pub fn is_said(&self, application: Application) -> bool {
        lock(&self.results).as_deref().is_some_and(|results| {
            results.said.is_some() || results.said_of.iter().any(|(one, _)| *one == application)
        })
    }

    /// Enters what checks over the network have found; says whether that is new.
    pub fn set_measured(&self, application: Application, up: bool) -> bool {
        self.change(|results| enter(&mut results.measured, application, Some(up)))
    }

    /// Forgets what checks over the network have found, and how long the address took once nothing
    /// else is left of it.
    pub fn forget_measured(&self, application: Application) {
        if lock(&self.results).is_none() {
            return;
        }
        self.change(|results| {
            enter(&mut results.measured, application, None);
            if results.measured.is_empty() {
                results.measured_delays = Delays::default();
            }
        });
    }

    /// Enters how long checks over the network took.
    pub fn set_measured_delays(&self, delays: Delays) {
        self.change(|results| results.measured_delays = delays);
    }

    fn change<T>(&self, change: impl FnOnce(&mut Results) -> T) -> T {
        let mut slot = lock(&self.results);
        let results = slot.get_or_insert_default();
        let changed = change(results);
        results.settle();
        let count = results.down.applications.len() + usize::from(results.down.address);
        self.down_count.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Relaxed);
        let Delays { tcp, application } = results.said_delays.unwrap_or(results.measured_delays);
        self.flashback_tcp.store(tcp, Ordering::Relaxed);
        self.flashback_application.store(application, Ordering::Relaxed);
        if **results == Results::default() {
            *slot = None;
        }
        changed
    }

    /// Whether nobody has said that the address as a whole is down.
    #[must_use]
    pub fn is_up(&self) -> bool {
        lock(&self.results).as_deref().is_none_or(|results| !results.down.address)
    }

    /// FlashBack delays.
    #[must_use]
    pub fn delays(&self) -> Delays {
        Delays {
            tcp: self.flashback_tcp.load(Ordering::Relaxed),
            application: self.flashback_application.load(Ordering::Relaxed),
        }
    }

    /// Says the FlashBack delays.
    pub fn set_delays(&self, delays: Delays) {
        self.change(|results| results.said_delays = Some(delays));
    }

    /// Takes back what was said of the FlashBack delays.
    pub fn unsay_delays(&self) {
        self.change(|results| results.said_delays = None);
    }

    fn is_default(&self) -> bool {
        lock(&self.results).is_none()
            && self.flashback_tcp.load(Ordering::Relaxed) == 0
            && self.flashback_application.load(Ordering::Relaxed) == 0
    }

    /// Takes back what was said; what was measured stays.
    fn reset(&self) {
        self.change(|results| {
            results.said = None;
            results.said_of.clear();
            results.said_delays = None;
        });
    }
}

named_enum! {
    /// State of the GSLB protocol connection to a site device.
    pub enum Connection {
        /// Reports arrive.
        Established = "established",
        /// The device is gone; its VIPs stay known, its reports do not (decisions 3.6).
        Down = "down",
        /// It never answered.
        Attempting = "attempting",
    }
}

/// The session table of a site device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// Sessions in use.
    pub used: u64,
    /// Size of the table.
    pub maximum: u64,
}

impl Sessions {
    /// Sessions that are free.
    #[must_use]
    pub const fn available(self) -> u64 {
        self.maximum.saturating_sub(self.used)
    }
}

/// What a status report of a site device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its session table.
    pub sessions: Sessions,
    /// CPU load, percent (0-100).
    pub cpu: u8,
}

impl Default for Status {
    /// An idle device (decisions 3.8).
    fn default() -> Self {
        Status { sessions: Sessions { used: 0, maximum: DEFAULT_SESSIONS }, cpu: 0 }
    }
}

/// What one site device reports.
#[derive(Debug)]
pub struct ServerState {
    connection: AtomicU8,
    /// Sessions in use.
    pub sessions_used: AtomicU64,
    /// Size of the session table.
    pub sessions_maximum: AtomicU64,
    /// CPU load, percent (0-100).
    pub cpu: AtomicU8,
    /// Whether its agent reports health and bindings; an old one does not.
    new_agent: AtomicBool,
    /// What the device has now; it is known to the controller once a status report has arrived.
    present: Mutex<Status>,
    load: Mutex<Load>,
    vips: Mutex<Vips>,
}

/// A VIP that a site device reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedVip {
    /// The address.
    pub address: IpAddr,
    /// Its applications; empty means all.
    pub applications: Vec<Application>,
    /// Whether the device holds it in standby of a pair.
    pub standby: bool,
}

/// Sessions a device can hold when nobody said otherwise (decisions 3.8).
pub const DEFAULT_SESSIONS: u64 = 2_000_000;

impl Default for ServerState {
    fn default() -> Self {
        ServerState {
            connection: AtomicU8::new(Connection::Established as u8),
            sessions_used: AtomicU64::new(0),
            sessions_maximum: AtomicU64::new(DEFAULT_SESSIONS),
            cpu: AtomicU8::new(0),
            new_agent: AtomicBool::new(true),
            present: Mutex::default(),
            load: Mutex::default(),
            vips: Mutex::default(),
        }
    }
}

impl ServerState {
    /// State of the connection.
    #[must_use]
    pub fn connection(&self) -> Connection {
        let number = usize::from(self.connection.load(Ordering::Relaxed));
        Connection::ALL.get(number).copied().unwrap_or(Connection::Established)
    }

    /// Changes the state of the connection.
    pub fn set_connection(&self, connection: Connection) {
        self.connection.store(connection as u8, Ordering::Relaxed);
    }

    /// Its session table.
    #[must_use]
    pub fn sessions(&self) -> Sessions {
        Sessions {
            used: self.sessions_used.load(Ordering::Relaxed),
            maximum: self.sessions_maximum.load(Ordering::Relaxed),
        }
    }

    /// Changes its session table, and reports it at once.
    pub fn set_sessions(&self, sessions: Sessions) {
        self.change_status(|status| status.sessions = sessions);
        self.report_status();
    }

    /// Changes its CPU load, percent, and reports it at once.
    pub fn set_cpu(&self, cpu: u8) {
        self.change_status(|status| status.cpu = cpu);
        self.report_status();
    }

    /// Changes what the device has; the controller learns of it by the next status report.
    pub fn change_status(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.present));
    }

    /// Sends a status report, which arrives only while the connection stands.
    pub fn report_status(&self) {
        if self.connection() == Connection::Established {
            let Status { sessions, cpu } = *lock(&self.present);
            self.sessions_used.store(sessions.used, Ordering::Relaxed);
            self.sessions_maximum.store(sessions.maximum, Ordering::Relaxed);
            self.cpu.store(cpu, Ordering::Relaxed);
        }
    }

    /// Locks its new connections; hold it for one call.
    pub fn load(&self) -> MutexGuard<'_, Load> {
        lock(&self.load)
    }

    /// The VIPs that it reports, in the order of their reports.
    #[must_use]
    pub fn vips(&self) -> Vec<ReportedVip> {
        lock(&self.vips).iter().cloned().collect()
    }

    /// Changes whenever the list of its VIPs does.
    #[must_use]
    pub fn vips_revision(&self) -> Revision {
        lock(&self.vips).revision()
    }

    /// Whether it reports a VIP, and then whether it holds it in standby of a pair.
    #[must_use]
    pub fn holds_in_standby(&self, vip: IpAddr) -> Option<bool> {
        lock(&self.vips).find(vip).map(|reported| reported.standby)
    }

    /// Looks at each VIP in order, where a copy of all would cost too much.
    pub fn for_each_vip(&self, look: impl FnMut(&ReportedVip)) {
        lock(&self.vips).iter().for_each(look);
    }

    /// Adds a VIP, or replaces the report of the same address.
    pub fn report_vip(&self, vip: ReportedVip) {
        lock(&self.vips).report(vip);
    }

    /// Takes a VIP off the list; bindings that were set stay for when it comes back.
    pub fn withdraw_vip(&self, address: IpAddr) {
        lock(&self.vips).withdraw(address);
    }

    /// Whether its agent is new enough to report health and bindings.
    #[must_use]
    pub fn has_new_agent(&self) -> bool {
        self.new_agent.load(Ordering::Relaxed)
    }

    /// Changes whether its agent is new.
    pub fn set_new_agent(&self, new: bool) {
        self.new_agent.store(new, Ordering::Relaxed);
    }

    /// Active bindings of an application of a VIP: what was reported, 0 if the VIP is reported
    /// without this application, `None` if nobody said anything.
    #[must_use]
    pub fn active_bindings(&self, vip: IpAddr, application: Application) -> Option<u32> {
        lock(&self.vips).active_bindings(vip, application)
    }

    /// Changes the active bindings of an application of a VIP.
    pub fn set_active_bindings(&self, vip: IpAddr, application: Application, count: u32) {
        lock(&self.vips).set_active_bindings(vip, application, Some(count));
    }

    /// Forgets the active bindings of an application of a VIP, so that nobody said anything.
    pub fn forget_active_bindings(&self, vip: IpAddr, application: Application) {
        lock(&self.vips).set_active_bindings(vip, application, None);
    }

    fn is_default(&self) -> bool {
        self.connection() == Connection::Established
            && self.sessions_used.load(Ordering::Relaxed) == 0
            && self.sessions_maximum.load(Ordering::Relaxed) == DEFAULT_SESSIONS
            && self.cpu.load(Ordering::Relaxed) == 0
            && *lock(&self.present) == Status::default()
            && self.has_new_agent()
            && self.load().is_idle()
            && lock(&self.vips).is_empty()
    }

    fn reset(&self) {
        self.set_connection(Connection::Established);
        *lock(&self.present) = Status::default();
        self.report_status();
        self.set_new_agent(true);
        *self.load() = Load::default();
        *lock(&self.vips) = Vips::default();
    }
}

/// Locks a cell whose content is valid after every single statement, also after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP: Application = Application(80);
    const FTP: Application = Application(21);

    #[test]
    fn every_application_must_pass() {
        let state = AddressState::default();
        assert!(state.passes(&[HTTP, FTP]));
        state.set_up(Some(FTP), false);
        assert!(state.passes(&[HTTP]));
        assert!(!state.passes(&[HTTP, FTP]));
        state.set_up(Some(FTP), true);
        state.set_up(None, false);
        assert!(!state.passes(&[HTTP]));
        assert!(state.passes(&[]), "a host without applications has no checks");
    }

    #[test]
    fn what_is_said_wins_over_what_is_measured() {
        let state = AddressState::default();
        assert!(state.set_measured(HTTP, false));
        assert!(!state.set_measured(HTTP, false), "that is known");
        assert!(!state.passes(&[HTTP]) && state.passes(&[FTP]));
        assert!(!state.is_said(HTTP));
        state.set_up(Some(HTTP), true);
        assert!(state.passes(&[HTTP]) && state.is_said(HTTP) && !state.is_said(FTP));
        state.unsay(Some(HTTP));
        assert!(!state.passes(&[HTTP]));
        state.set_up(None, true);
        assert!(state.passes(&[HTTP]) && state.is_said(FTP));
        state.set_up(Some(FTP), false);
        assert!(!state.passes(&[FTP]) && state.passes(&[HTTP]));
        state.unsay(None);
        assert!(!state.passes(&[HTTP]));
        state.set_measured_delays(Delays { tcp: 3, application: 4 });
        state.set_delays(Delays { tcp: 7, application: 8 });
        assert_eq!(state.delays(), Delays { tcp: 7, application: 8 });
        state.reset();
        assert_eq!(state.delays(), Delays { tcp: 3, application: 4 });
        assert!(state.passes(&[FTP]) && !state.passes(&[HTTP]));
        state.forget_measured(HTTP);
        assert_eq!(state.delays(), Delays::default());
        assert!(state.passes(&[HTTP]) && state.is_default());
    }

    #[test]
    fn a_status_report_arrives_only_over_a_connection() {
        let server = ServerState::default();
        let busy = Sessions { used: 9, maximum: 10 };
        server.change_status(|status| status.sessions = busy);
        assert_eq!(server.sessions().used, 0, "not reported yet");
        server.set_connection(Connection::Down);
        server.report_status();
        assert_eq!(server.sessions().used, 0);
        server.set_connection(Connection::Established);
        server.report_status();
        assert_eq!(server.sessions(), busy);
    }

    #[test]
    fn unused_default_cells_are_forgotten() {
        let states = States::default();
        let address = IpAddr::from([192, 0, 2, 1]);
        states.address(address).set_up(None, false);
        states.collect();
        assert!(!states.address(address).passes(&[HTTP]), "what was set stays");
        states.reset();
        states.collect();
        assert!(lock(&states.addresses).is_empty());
    }
}

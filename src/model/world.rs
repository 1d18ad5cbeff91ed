//! The settings of the emulated world to the measured state that they stand for.
//!
//! A setting is a report of a site device, or the result of a check, and arrives at once. What a
//! device has while its connection is lost arrives with the first status report afterwards.

use std::net::IpAddr;
use std::sync::Arc;

use hickory_proto::rr::Name;

use crate::behind::emulated::{self, EmulatedServer, Typed};
use crate::behind::master_file::MasterFile;
use crate::clock::Moment;
use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::health::own::{Own, OwnSample, RttNews};
use crate::health::prefix::Prefix;
use crate::health::rtt::{Method, RttReport};
use crate::health::sessions::{BindingName, Said};
use crate::health::state::{
    Connection, DEFAULT_SESSIONS, Delays, ReportedVip, ServerState, Sessions, States,
};
use crate::live::gate::Gate;
use crate::model::snapshot::{Application, Snapshot};
use crate::sna::{DEFAULT_BANDWIDTH, LuStatus};

/// What else must happen after a change of the measured state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: a snapshot sees the change through its cells.
    State,
    /// What the appliance tells of itself: the controllers that have it as a site device are told.
    Itself,
    /// The owners of VIPs change: a new snapshot is due.
    Snapshot,
}

/// The appliance that learns of the emulated world.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// What is measured.
    pub states: &'a States,
    /// The configuration; whose VIP an address is may be older than the settings.
    pub snapshot: &'a Snapshot,
    /// The way to the live network.
    pub gate: &'a Gate,
    /// When.
    pub now: Moment,
}

/// Whether [`apply`] looks at the snapshot for this setting.
pub fn needs_snapshot(reading: &Reading<'_>) -> bool {
    matches!(
        reading.kept(),
        Some(Kept::EmulateRtt | Kept::EmulateActiveRtt | Kept::EmulateBindingSessions)
    )
}

/// Brings about (`kept`) or takes back a setting. `file` is what the file holds that it names.
pub fn apply(
    world: World<'_>,
    reading: &Reading<'_>,
    kept: bool,
    file: Option<&Arc<MasterFile>>,
) -> Effect {
    let states = world.states;
    #[allow(clippy::wildcard_enum_match_arm, reason = "only statements of the world come here")]
    match reading.kept() {
        Some(Kept::EmulateVip) => {
            report_vip(states, reading, kept);
            return Effect::Snapshot;
        }
        Some(Kept::EmulateConnection) => {
            let state = reading.word("state").and_then(Connection::from_name);
            let state = state.filter(|_| kept).unwrap_or(Connection::Established);
            with_server(states, reading, |server| server.set_connection(state));
        }
        Some(Kept::EmulateSessions) => {
            let used = reading.number("used").filter(|_| kept).unwrap_or(0);
            let maximum = reading.number("maximum").filter(|_| kept).unwrap_or(DEFAULT_SESSIONS);
            with_server(states, reading, |server| server.set_sessions(Sessions { used, maximum }));
        }
        Some(Kept::EmulateCpu) => {
            let percent = reading.number("percent").filter(|_| kept).unwrap_or(0);
            with_server(states, reading, |server| server.set_cpu(percent));
        }
        Some(Kept::EmulateConnectionRate) => {
            let rates: Vec<u32> = if kept { reading.numbers("rate").collect() } else { Vec::new() };
            with_server(states, reading, |server| server.load().set_rate(&rates));
        }
        Some(Kept::EmulateBindings) => set_bindings(states, reading, kept),
        Some(Kept::EmulateAgent) => {
            let old = kept && reading.word("age") == Some(OLD);
            with_server(states, reading, |server| server.set_new_agent(!old));
        }
        Some(Kept::EmulateOwnSessions) => {
            let used = reading.number("used").filter(|_| kept).unwrap_or(0);
            let maximum = reading.number("maximum").filter(|_| kept).unwrap_or(DEFAULT_SESSIONS);
            states.change_own(|own| own.status.sessions = Sessions { used, maximum });
            return Effect::Itself;
        }
        Some(Kept::EmulateOwnCpu) => {
            let percent = reading.number("percent").filter(|_| kept).unwrap_or(0);
            states.change_own(|own| own.status.cpu = percent);
            return Effect::Itself;
        }
        Some(Kept::EmulateOwnConnectionRate) => {
            let rates: Vec<u32> = if kept { reading.numbers("rate").collect() } else { Vec::new() };
            states.change_own(|own| own.set_rates(rates));
            return Effect::Itself;
        }
        Some(Kept::EmulateOwnRtt) => return measure_own(states, reading, Method::Passive, kept),
        Some(Kept::EmulateOwnActiveRtt) => {
            return measure_own(states, reading, probe(reading), kept);
        }
        Some(Kept::EmulateBindingSessions) => world.say_sessions(reading, kept),
        Some(Kept::EmulateHealth) => set_health(states, reading, None, kept),
        Some(Kept::EmulateApplicationHealth) => {
            set_health(states, reading, reading.number("app").map(Application), kept);
        }
        Some(Kept::EmulateFlashback | Kept::EmulateFlashbackApplication) => {
            let delay = |name| reading.number(name).unwrap_or(0);
            if let Some(state) = reading.address("ip").map(|ip| states.address(ip)) {
                if kept {
                    let delays = Delays { tcp: delay("tcp"), application: delay("app") };
                    state.set_delays(delays);
                } else {
                    state.unsay_delays();
                }
            }
        }
        Some(Kept::EmulateSnaSystem) => set_sna_system(states, reading, kept),
        Some(Kept::EmulateSnaLu) => {
            if let (Some(domain), Some(lu)) = (reading.text("domain"), reading.text("lu")) {
                let said = reading.word("status").and_then(LuStatus::from_name);
                let present = said.filter(|_| kept).unwrap_or(LuStatus::Active);
                states.sna.lu(domain, lu).set_status(present);
            }
        }
        Some(Kept::EmulateMap) => {
            world.map(reading, kept);
            // Where another DNS server can be asked, names are learned anew.
            return Effect::Snapshot;
        }
        Some(Kept::EmulateDnsAddresses | Kept::EmulateDnsAlias | Kept::EmulateDnsNothing) => {
            set_dns_name(&states.dns_server, reading, kept);
        }
        Some(Kept::EmulateDnsFile) => match (reading.text("path"), file) {
            (Some(path), Some(file)) if kept => states.dns_server.add_file(path, Arc::clone(file)),
            (Some(path), _) => states.dns_server.remove_file(path),
            (None, _) => {}
        },
        Some(Kept::EmulateRtt) => world.measure(reading, Method::Passive, kept),
        Some(Kept::EmulateActiveRtt) => {
            world.measure(reading, probe(reading), kept);
        }
        _ => {}
    }
    Effect::State
}

/// Names of choices in the grammar's types of the emulated world.
const DOWN: &str = "down";
const OLD: &str = "old";
const DNS: &str = "dns";
const STANDBY: &str = "standby";

impl World<'_> {
    /// Leads an address and port to another socket, or takes that back.
    fn map(self, reading: &Reading<'_>, kept: bool) {
        let (Some(address), Some(port)) = (reading.address("ip"), reading.number("port")) else {
            return;
        };
        match reading.text("socket").filter(|_| kept) {
            Some(socket) => {
                // The type of the argument lets no other text through.
                self.gate.map(address, port, socket);
            }
            None => self.gate.unmap(address, port),
        }
    }

    /// A binding has so many sessions at a time, or none any more.
    fn say_sessions(self, reading: &Reading<'_>, kept: bool) {
        let (Some(server), Some(real)) = (reading.text("virtual"), reading.text("real")) else {
            return;
        };
        let port = |name| Application(reading.number(name).unwrap_or_default());
        let name = BindingName::new(server, port("port"), real, port("real-port"));
        let count = reading.number("count").filter(|_| kept);
        let said = count.map(|count| Said { count, lasting: reading.number("seconds") });
        self.states.sessions.say(name, said, self.now);
    }

    /// A site device reports a sample of a round-trip time, or what it reported is forgotten.
    fn measure(self, reading: &Reading<'_>, method: Method, kept: bool) {
        let (Some((network, length)), Some(server)) =
            (reading.prefix("clients"), reading.address("si"))
        else {
            return;
        };
        let clients = Prefix::new(network, length);
        let reports = RttReports { states: self.states, snapshot: self.snapshot, server };
        if !kept {
            reports.withdraw(clients, method);
            return;
        }
        let rtt = reading.number("rtt").unwrap_or(0);
        let failed = reading.value("result").is_some();
        reports.take(&RttReport { clients, server, method, rtt, failed }, self.now);
    }
}

/// Reports of round-trip times from a site device to a controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttReports<'a> {
    /// What the controller has measured.
    pub(crate) states: &'a States,
    /// Its configuration.
    pub(crate) snapshot: &'a Snapshot,
    /// The device.
    pub(crate) server: IpAddr,
}

impl RttReports<'_> {
    /// Tells the controller what it does not know that was told `before`.
    pub(crate) fn tell(self, own: &Own, before: Option<&Own>, now: Moment) {
        for news in own.rtt_news(before) {
            match news {
                RttNews::Withdrawn(clients, method) => self.withdraw(clients, method),
                RttNews::Sample(OwnSample { clients, method, rtt, failed, .. }) => {
                    let server = self.server;
                    self.take(&RttReport { clients, server, method, rtt, failed }, now);
                }
            }
        }
    }

    /// Takes a sample.
    fn take(self, report: &RttReport, now: Moment) {
        let snapshot = self.snapshot;
        if report.method == Method::Passive && !self.takes_passive() {
            return;
        }
        let site = snapshot.server(self.server).map(|one| &snapshot.sites[one.site.index()]);
        let smoothing = site.map(|site| snapshot.smoothing_of(site)).unwrap_or_default();
        self.states.prefixes.report(report, smoothing, &snapshot.global_policy().rtt, now);
    }

    /// Forgets what was reported.
    fn withdraw(self, clients: Prefix, method: Method) {
        let parameters = &self.snapshot.global_policy().rtt;
        self.states.prefixes.withdraw(clients, self.server, method, parameters);
    }

    /// Whether round-trip times that this device saw in passing are measured and count.
    fn takes_passive(self) -> bool {
        let rules = &self.snapshot.rtt;
        let is_self = self.snapshot.server(self.server).is_some_and(|server| server.is_self);
        !(rules.discards_passive || is_self && rules.watches_nothing)
    }
}

/// The probe that a round-trip time was measured with.
fn probe(reading: &Reading<'_>) -> Method {
    let by_dns = reading.word("method") == Some(DNS);
    if by_dns { Method::ActiveDns } else { Method::ActiveIcmp }
}

/// The device itself has measured a round-trip time, or has not.
fn measure_own(states: &States, reading: &Reading<'_>, method: Method, kept: bool) -> Effect {
    if let Some((network, length)) = reading.prefix("clients") {
        let failed = reading.value("result").is_some();
        let sample = kept.then(|| (reading.number("rtt").unwrap_or(0), failed));
        states.change_own(|own| own.measure(Prefix::new(network, length), method, sample));
    }
    Effect::Itself
}

fn report_vip(states: &States, reading: &Reading<'_>, kept: bool) {
    let Some(address) = reading.address("vip") else { return };
    with_server(states, reading, |server| {
        if kept {
            let standby = reading.words("app").any(|word| word == STANDBY);
            let applications = reading.numbers("app").map(Application).collect();
            server.report_vip(ReportedVip { address, applications, standby });
        } else {
            server.withdraw_vip(address);
        }
    });
}

fn set_bindings(states: &States, reading: &Reading<'_>, kept: bool) {
    let (Some(vip), Some(port)) = (reading.address("vip"), reading.number("app")) else { return };
    let count = reading.number("count").filter(|_| kept);
    with_server(states, reading, |server| match count {
        Some(count) => server.set_active_bindings(vip, Application(port), count),
        None => server.forget_active_bindings(vip, Application(port)),
    });
}

fn set_health(
    states: &States,
    reading: &Reading<'_>,
    application: Option<Application>,
    kept: bool,
) {
    let Some(state) = reading.address("ip").map(|ip| states.address(ip)) else { return };
    if kept {
        state.set_up(application, reading.word("state") != Some(DOWN));
    } else {
        state.unsay(application);
    }
}

/// What a setting does not say has its default: one that stays with a new value is taken back
/// before it is made again.
fn set_sna_system(states: &States, reading: &Reading<'_>, kept: bool) {
    let (Some(domain), Some(system)) = (reading.text("domain"), reading.text("system")) else {
        return;
    };
    let load = reading.text("load").and_then(|load| load.parse().ok()).filter(|_| kept);
    let bandwidth = reading.number("bandwidth").filter(|_| kept);
    let state = states.sna.system(domain, system);
    state.set_load(load.unwrap_or(0.0));
    state.set_bandwidth(bandwidth.unwrap_or(DEFAULT_BANDWIDTH));
}

/// What the DNS server behind says of a name.
fn set_dns_name(server: &EmulatedServer, reading: &Reading<'_>, kept: bool) {
    let Some(name) = reading.text("fqdn") else { return };
    let ttl = reading.number("ttl").unwrap_or(emulated::DEFAULT_TTL);
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    let typed = match reading.kept() {
        Some(Kept::EmulateDnsAddresses) => {
            Some(Typed::Addresses(reading.addresses("ip").collect(), ttl))
        }
        Some(Kept::EmulateDnsAlias) => {
            let target = reading.text("target").and_then(|target| Name::from_ascii(target).ok());
            target.map(|mut target| {
                target.set_fqdn(true);
                Typed::Alias(target, ttl)
            })
        }
        _ => Some(Typed::Nothing),
    };
    server.set(name, typed.filter(|_| kept));
}

fn with_server(states: &States, reading: &Reading<'_>, change: impl FnOnce(&ServerState)) {
    if let Some(address) = reading.address("si") {
        change(&states.server(address));
    }
}

//! Sessions of server load balancing, and what waits for their end.
//!
//! No traffic passes, so it is said how many sessions a binding has at a time (`emulate sessions`). A
//! binding that is taken away, or whose port is disabled, gets no new ones; those that it has go on
//! until they end (Advanced SLB guide p. 60, 61). As long as they do, the port waits to be unbound
//! and the server waits to be deleted, though neither is configured any more.
//!
//! What waits is found by comparing the configuration with the one before, whatever line changed it.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};

use crate::clock::Moment;
use crate::health::state::States;
use crate::model::balancing::{
    Balancing, Binding, DEFAULT_PORT, Port, RealServer, ServerHealth, VirtualServer,
};
use crate::model::snapshot::Application;

/// Seconds after which `server force-delete` has ended all sessions (Advanced SLB guide p. 61).
const FORCED_AFTER: u64 = 120;

/// A port of a virtual server bound to a port of a real server. Names are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BindingName {
    server: String,
    port: Application,
    real: String,
    real_port: Application,
}

impl BindingName {
    /// The binding of those servers and ports, whatever the case of the names.
    pub fn new(server: &str, port: Application, real: &str, real_port: Application) -> Self {
        let (server, real) = (server.to_ascii_lowercase(), real.to_ascii_lowercase());
        BindingName { server, port, real, real_port }
    }

    fn of(server: &VirtualServer, binding: &Binding) -> Self {
        BindingName::new(&server.name, binding.port, &binding.name, binding.real_port)
    }
}

/// What is said of the sessions of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// How many there are at a time.
    pub count: u32,
    /// Seconds after which the last of them has ended if no new ones come; `None`: they go on.
    pub lasting: Option<u32>,
}

/// Why no new sessions come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The port is disabled.
    Disabled,
    /// The binding is gone, or the virtual server or its port.
    Unbound,
    /// The real server or its port is gone.
    Deleted,
}

/// A server that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Whether it was a virtual server.
    pub is_virtual: bool,
    /// Its name.
    pub name: String,
}

impl Deletion {
    /// Whether both are of the same server, whatever the case of the name.
    pub fn is_same(&self, other: &Deletion) -> bool {
        self.is_virtual == other.is_virtual && self.name.eq_ignore_ascii_case(&other.name)
    }
}

/// Numbers of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions at present.
    pub current: u32,
    /// Sessions since the start of the appliance.
    pub total: u64,
    /// The most at a time.
    pub peak: u32,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.current = self.current.saturating_add(other.current);
        self.total = self.total.saturating_add(other.total);
        self.peak = self.peak.saturating_add(other.peak);
    }
}

/// The sessions of an appliance.
#[derive(Debug, Default)]
pub struct SessionTable {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    said: HashMap<BindingName, Said>,
    tallies: HashMap<BindingName, Tally>,
    draining: Vec<Draining>,
    /// Servers that are not configured any more and still have sessions.
    real: Vec<RealServer>,
    virtual_: Vec<VirtualServer>,
    /// The same of ports of real servers that are, with the name of the server in lower case.
    ports: Vec<(String, Port)>,
    /// Since when sessions without new ones are ended by force.
    forced_since: Option<Moment>,
    /// How many were.
    forced: u64,
    /// How many have ended by themselves.
    ended: u64,
}

/// What has been counted of a binding.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    total: u64,
    peak: u32,
}

/// Sessions to which no new ones come.
#[derive(Clone, Debug)]
struct Draining {
    name: BindingName,
    /// The real server as it was called.
    real: String,
    address: Option<IpAddr>,
    said: Said,
    since: Moment,
    ending: Ending,
}

impl Draining {
    /// Sessions that are left: they end one after the other.
    fn left(&self, now: Moment, forced_since: Option<Moment>) -> u32 {
        if self.is_forced(now, forced_since) {
            return 0;
        }
        let Some(lasting) = self.said.lasting else { return self.said.count };
        let remaining = u64::from(lasting).saturating_sub(now.since(self.since).as_secs());
        let left = (u64::from(self.said.count) * remaining).div_ceil(u64::from(lasting.max(1)));
        u32::try_from(left).unwrap_or(self.said.count)
    }

    fn is_forced(&self, now: Moment, forced_since: Option<Moment>) -> bool {
        forced_since.is_some_and(|since| now >= since.max(self.since).plus_secs(FORCED_AFTER))
    }
}

/// What a binding is in a configuration.
struct Service {
    real: String,
    address: Option<IpAddr>,
    is_disabled: bool,
}

impl Table {
    fn is_idle(&self) -> bool {
        self.said.is_empty() && self.draining.is_empty()
    }

    /// The bindings of a configuration to ports that both servers have.
    fn services(balancing: &Balancing) -> HashMap<BindingName, Service> {
        let mut services = HashMap::new();
        for server in &balancing.virtual_ {
            for binding in &server.bindings {
                let Some(real) = binding.real.map(|real| &balancing.real[real]) else { continue };
                let is_there = |ports: &[Port], wanted| {
                    wanted == DEFAULT_PORT || ports.iter().any(|port| port.application == wanted)
                };
                let is_disabled = |ports: &[Port], wanted| {
                    ports.iter().any(|port| port.application == wanted && port.disabled)
                };
                if is_there(&server.ports, binding.port) && is_there(&real.ports, binding.real_port)
                {
                    let is_disabled = server.disabled
                        || is_disabled(&server.ports, binding.port)
                        || is_disabled(&real.ports, binding.real_port);
                    let (name, address) = (real.name.clone(), real.address);
                    let service = Service { real: name, address, is_disabled };
                    services.insert(BindingName::of(server, binding), service);
                }
            }
        }
        services
    }

    fn has_draining(&self, now: Moment, is_wanted: impl Fn(&Draining) -> bool) -> bool {
        let mut draining = self.draining.iter();
        draining.any(|one| is_wanted(one) && one.left(now, self.forced_since) > 0)
    }

    /// Forgets what has ended.
    fn settle(&mut self, now: Moment) {
        let forced_since = self.forced_since;
        let (mut forced, mut ended) = (0, 0);
        self.draining.retain(|one| {
            let is_over = one.left(now, forced_since) == 0;
            if is_over && one.is_forced(now, forced_since) {
                forced += u64::from(one.left(now, None));
            } else if is_over {
                ended += u64::from(one.said.count);
            }
            !is_over
        });
        self.forced += forced;
        self.ended += ended;
        let draining = &self.draining;
        self.real.retain(|real| draining.iter().any(|one| is_of_real(one, real)));
        self.virtual_.retain(|server| draining.iter().any(|one| is_of_virtual(one, &server.name)));
        self.ports.retain(|(real, port)| {
            draining.iter().any(|one| one.name.real == *real && is_at(one, port.application))
        });
    }
}

fn is_of_real(draining: &Draining, real: &RealServer) -> bool {
    draining.name.real.eq_ignore_ascii_case(&real.name) && draining.address == real.address
}

fn is_of_virtual(draining: &Draining, name: &str) -> bool {
    draining.name.server.eq_ignore_ascii_case(name)
}

fn is_at(draining: &Draining, real_port: Application) -> bool {
    draining.name.real_port == real_port
}

impl SessionTable {
    /// Says how many sessions a binding has at a time, also of one that waits for their end; `None`
    /// takes that back, and there are none.
    pub fn say(&self, name: BindingName, said: Option<Said>, now: Moment) {
        let mut table = self.lock();
        let count = said.map_or(0, |said| said.count);
        let before = table.said.get(&name).map_or(0, |said| said.count);
        let tally = table.tallies.entry(name.clone()).or_default();
        tally.total += u64::from(count.saturating_sub(before));
        tally.peak = tally.peak.max(count);
        for one in table.draining.iter_mut().filter(|one| one.name == name) {
            one.said = said.unwrap_or(Said { count: 0, lasting: None });
            one.since = now;
        }
        match said {
            Some(said) => drop(table.said.insert(name, said)),
            None => drop(table.said.remove(&name)),
        }
        table.settle(now);
    }

    /// Finds what another configuration leaves waiting. Gives the servers that waited and are
    /// configured again.
    pub fn follow(&self, before: &Balancing, after: &Balancing, now: Moment) -> Vec<Deletion> {
        let mut table = self.lock();
        table.forced_since = after.global.force_delete.then(|| table.forced_since.unwrap_or(now));
        if table.is_idle() {
            return Vec::new();
        }
        let present = Table::services(after);
        for (name, service) in Table::services(before) {
            let said = table.said.get(&name).copied().filter(|said| said.count > 0);
            let Some(said) = said.filter(|_| !service.is_disabled) else { continue };
            if let Some(ending) = ending(&present, after, &name, service.address) {
                let Service { real, address, .. } = service;
                table.draining.push(Draining { name, real, address, said, since: now, ending });
            }
        }
        table.draining.retain_mut(|one| {
            let found = ending(&present, after, &one.name, one.address);
            one.ending = found.unwrap_or(one.ending);
            found.is_some()
        });
        table.wait_for(before, after)
    }

    /// Ends the sessions of a real server. The clients of what serves come again at once.
    pub fn end(&self, real: &str, balancing: &Balancing, now: Moment) {
        self.end_draining(real, now);
        let present = Table::services(balancing);
        let mut table = self.lock();
        let Table { said, tallies, .. } = &mut *table;
        for (name, said) in said.iter().filter(|(name, _)| name.real.eq_ignore_ascii_case(real)) {
            if present.get(name).is_some_and(|service| !service.is_disabled) {
                tallies.entry(name.clone()).or_default().total += u64::from(said.count);
            }
        }
    }

    /// Ends those sessions of a real server to which no new ones come.
    pub fn end_draining(&self, real: &str, now: Moment) {
        let mut table = self.lock();
        table.draining.retain(|one| !one.name.real.eq_ignore_ascii_case(real));
        table.settle(now);
    }

    /// Forgets what has ended by now.
    pub fn settle(&self, now: Moment) {
        self.lock().settle(now);
    }

    /// Whether a deleted server still waits for the end of its sessions.
    pub fn is_waiting(&self, deletion: &Deletion, now: Moment) -> bool {
        let table = self.lock();
        let is_it = |name: &str| name.eq_ignore_ascii_case(&deletion.name);
        if deletion.is_virtual {
            table.virtual_.iter().any(|server| is_it(&server.name))
                && table.has_draining(now, |one| is_of_virtual(one, &deletion.name))
        } else {
            let waiting = table.real.iter().filter(|real| is_it(&real.name));
            waiting.into_iter().any(|real| table.has_draining(now, |one| is_of_real(one, real)))
        }
    }

    /// Forgets all sessions, as a restart of the appliance does; what is said stays.
    pub fn restart(&self) {
        let mut table = self.lock();
        let said = std::mem::take(&mut table.said);
        let begin = |(name, said): (&BindingName, &Said)| {
            (name.clone(), Tally { total: u64::from(said.count), peak: said.count })
        };
        let tallies = said.iter().map(begin).collect();
        *table = Table { said, tallies, ..Table::default() };
    }

    /// Forgets everything.
    pub fn reset(&self) {
        *self.lock() = Table::default();
    }

    /// The sessions at a moment.
    pub fn view(&self, balancing: &Balancing, states: &States, now: Moment) -> SessionView {
        let mut table = self.lock();
        table.settle(now);
        let mut view = SessionView {
            flows: Vec::new(),
            real: table.real.clone(),
            virtual_: table.virtual_.clone(),
            ports: table.ports.clone(),
            forced: table.forced,
            ended: table.ended,
            total: table.tallies.values().map(|tally| tally.total).sum(),
        };
        if table.is_idle() {
            return view;
        }
        let mut tallies = table.tallies.clone();
        let present = Table::services(balancing);
        for server in &balancing.virtual_ {
            for binding in &server.bindings {
                let name = BindingName::of(server, binding);
                let Some(service) = present.get(&name) else { continue };
                let serves = !service.is_disabled
                    && balancing.binding_health(states, binding) == ServerHealth::Active;
                let said = table.said.get(&name).map_or(0, |said| said.count);
                let Tally { total, peak } = tallies.remove(&name).unwrap_or_default();
                let counts = Counts { current: if serves { said } else { 0 }, total, peak };
                let (real, address) = (service.real.clone(), service.address);
                view.flows.push(Flow { name, real, address, ending: None, counts });
            }
        }
        for one in &table.draining {
            let current = one.left(now, table.forced_since);
            // Where another server has taken the name, what is left is all that is known.
            let all = Tally { total: one.said.count.into(), peak: one.said.count };
            let Tally { total, peak } = tallies.remove(&one.name).unwrap_or(all);
            let counts = Counts { current, total, peak };
            let (name, real) = (one.name.clone(), one.real.clone());
            let (address, ending) = (one.address, Some(one.ending));
            view.flows.push(Flow { name, real, address, ending, counts });
        }
        view
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A panic in between leaves numbers that are shown, and nothing that is relied on.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the sessions of a binding get no new ones; `None`: they do.
fn ending(
    present: &HashMap<BindingName, Service>,
    after: &Balancing,
    name: &BindingName,
    address: Option<IpAddr>,
) -> Option<Ending> {
    let service = present.get(name).filter(|service| service.address == address);
    if let Some(service) = service {
        return service.is_disabled.then_some(Ending::Disabled);
    }
    let real = after.real.iter().find(|real| name.real.eq_ignore_ascii_case(&real.name));
    let has_port = real.filter(|real| real.address == address).is_some_and(|real| {
        name.real_port == DEFAULT_PORT
            || real.ports.iter().any(|port| port.application == name.real_port)
    });
    Some(if has_port { Ending::Unbound } else { Ending::Deleted })
}

impl Table {
    /// Takes note of the servers and ports that are not configured any more and still have
    /// sessions, and forgets those that are again.
    fn wait_for(&mut self, before: &Balancing, after: &Balancing) -> Vec<Deletion> {
        let real: HashMap<String, &RealServer> =
            after.real.iter().map(|real| (real.name.to_ascii_lowercase(), real)).collect();
        let virtual_: HashSet<String> =
            after.virtual_.iter().map(|server| server.name.to_ascii_lowercase()).collect();
        let find = |wanted: &RealServer| {
            let found = real.get(&wanted.name.to_ascii_lowercase());
            found.filter(|one| one.address == wanted.address)
        };
        let has_virtual = |name: &str| virtual_.contains(&name.to_ascii_lowercase());
        let mut back = Vec::new();
        for one in self.real.extract_if(.., |one| find(one).is_some()) {
            back.push(Deletion { is_virtual: false, name: one.name });
        }
        for one in self.virtual_.extract_if(.., |one| has_virtual(&one.name)) {
            back.push(Deletion { is_virtual: true, name: one.name });
        }
        let has_port = |real: &RealServer, wanted: Application| {
            real.ports.iter().any(|port| port.application == wanted)
        };
        self.ports.retain(|(name, port)| {
            real.get(name).is_none_or(|real| !has_port(real, port.application))
        });
        let Table { draining, real: waiting, virtual_: waiting_virtual, ports, .. } = self;
        for before in &before.real {
            let Some(present) = find(before) else {
                let is_same = |one: &RealServer| {
                    one.name.eq_ignore_ascii_case(&before.name) && one.address == before.address
                };
                let has_sessions = draining.iter().any(|one| is_of_real(one, before));
                if has_sessions && !waiting.iter().any(is_same) {
                    waiting.push(before.clone());
                }
                continue;
            };
            for port in before.ports.iter().filter(|port| !has_port(present, port.application)) {
                let is_it =
                    |one: &Draining| is_of_real(one, before) && is_at(one, port.application);
                if draining.iter().any(is_it) {
                    ports.push((before.name.to_ascii_lowercase(), port.clone()));
                }
            }
        }
        for server in before.virtual_.iter().filter(|server| !has_virtual(&server.name)) {
            if draining.iter().any(|one| is_of_virtual(one, &server.name)) {
                waiting_virtual.push(server.clone());
            }
        }
        back
    }
}

/// The sessions at a moment.
#[derive(Debug)]
pub struct SessionView {
    flows: Vec<Flow>,
    /// Real servers that wait to be deleted.
    pub real: Vec<RealServer>,
    /// Virtual servers that wait to be deleted.
    pub virtual_: Vec<VirtualServer>,
    ports: Vec<(String, Port)>,
    /// Sessions that were ended by force.
    pub forced: u64,
    /// Sessions that have ended by themselves after no new ones came.
    pub ended: u64,
    /// Sessions since the start of the appliance, also of bindings that are gone.
    pub total: u64,
}

/// The sessions of a binding.
#[derive(Clone, Debug)]
pub struct Flow {
    name: BindingName,
    /// Name of the real server, as typed.
    pub real: String,
    /// Address of the real server.
    pub address: Option<IpAddr>,
    /// Why no new ones come; `None`: they do.
    pub ending: Option<Ending>,
    /// How many there are.
    pub counts: Counts,
}

impl Flow {
    /// Port of the virtual server.
    pub fn port(&self) -> Application {
        self.name.port
    }

    /// Port of the real server.
    pub fn real_port(&self) -> Application {
        self.name.real_port
    }
}

impl SessionView {
    /// State of a port of a real server whose checks say `health`: while there are sessions to which
    /// no new ones come, it waits.
    pub fn port_health(
        &self,
        real: &RealServer,
        port: Application,
        health: ServerHealth,
    ) -> ServerHealth {
        let flows = self.of_real(real, Some(port)).filter(|flow| flow.counts.current > 0);
        match (flows.filter_map(|flow| flow.ending).max(), health) {
            (Some(Ending::Deleted), _) => ServerHealth::AwaitDelete,
            (Some(Ending::Unbound), ServerHealth::Unbound) => ServerHealth::AwaitUnbind,
            (Some(Ending::Disabled), ServerHealth::Disabled) => ServerHealth::GraceDown,
            (_, health) => health,
        }
    }

    /// The sessions of a real server, or of one of its ports.
    pub fn of_real<'a>(
        &'a self,
        real: &'a RealServer,
        port: Option<Application>,
    ) -> impl Iterator<Item = &'a Flow> {
        self.flows.iter().filter(move |flow| {
            flow.name.real.eq_ignore_ascii_case(&real.name)
                && flow.address == real.address
                && port.is_none_or(|port| flow.name.real_port == port)
        })
    }

    /// The sessions of a virtual server, or of one of its ports.
    pub fn of_virtual<'a>(
        &'a self,
        server: &'a VirtualServer,
        port: Option<Application>,
    ) -> impl Iterator<Item = &'a Flow> {
        self.flows.iter().filter(move |flow| {
            flow.name.server.eq_ignore_ascii_case(&server.name)
                && port.is_none_or(|port| flow.name.port == port)
        })
    }

    /// Ports of a real server that wait to be deleted.
    pub fn ports_of<'a>(&'a self, real: &'a RealServer) -> impl Iterator<Item = &'a Port> {
        let ports = self.ports.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&real.name));
        ports.map(|(_, port)| port)
    }

    /// All sessions to which no new ones come.
    pub fn draining(&self) -> u32 {
        let draining = self.flows.iter().filter(|flow| flow.ending.is_some());
        sum(draining).current
    }

    /// All sessions at present.
    pub fn current(&self) -> u32 {
        sum(self.flows.iter()).current
    }
}

/// The sum of the sessions of several bindings; the peak is that of each of them.
pub fn sum<'a>(flows: impl Iterator<Item = &'a Flow>) -> Counts {
    flows.fold(Counts::default(), |mut sum, flow| {
        sum.add(flow.counts);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draining(count: u32, lasting: Option<u32>) -> Draining {
        Draining {
            name: BindingName::new("shop", Application(80), "web1", Application(80)),
            real: "web1".to_owned(),
            address: None,
            said: Said { count, lasting },
            since: Moment::ZERO.plus_secs(10),
            ending: Ending::Unbound,
        }
    }

    fn left(one: &Draining, seconds: u64, forced_since: Option<u64>) -> u32 {
        let forced = forced_since.map(|since| Moment::ZERO.plus_secs(since));
        one.left(Moment::ZERO.plus_secs(seconds), forced)
    }

    #[test]
    fn sessions_end_one_after_the_other() {
        let one = draining(10, Some(4));
        let numbers: Vec<u32> = (10..=15).map(|second| left(&one, second, None)).collect();
        assert_eq!(numbers, [10, 8, 5, 3, 0, 0]);
        assert_eq!(left(&draining(3, None), 1_000_000, None), 3);
    }

    #[test]
    fn force_ends_them_two_minutes_after_both_were_asked_for() {
        let one = draining(3, None);
        for (forced_since, last) in [(0, 129), (10, 129), (500, 619)] {
            assert_eq!(left(&one, last, Some(forced_since)), 3);
            assert_eq!(left(&one, last + 1, Some(forced_since)), 0);
        }
    }

    #[test]
    fn a_setting_counts_new_sessions_only() {
        let table = SessionTable::default();
        let name = || BindingName::new("Shop", Application(80), "WEB1", Application(80));
        for count in [5, 5, 2, 4] {
            table.say(name(), Some(Said { count, lasting: None }), Moment::ZERO);
        }
        let tally = table.lock().tallies[&name()];
        assert_eq!((tally.total, tally.peak), (7, 5));
        table.restart();
        let tally = table.lock().tallies[&name()];
        assert_eq!((tally.total, tally.peak), (4, 4), "those that are there begin anew");
    }
}

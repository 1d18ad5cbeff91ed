//! A small world for tests: sites, hosts and a policy without a configuration in front of them.
//!
//! ```text
//! let world = World::new()
//!     .site("SanJose", 50, &["1.1.1.1"])
//!     .site("NewYork", 30, &["1.1.1.2"])
//!     .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
//!     .host("www.gslb.com", &["1.1.1.1", "1.1.1.2"]);
//! world.down("1.1.1.2");
//! assert_eq!(world.ask("www.gslb.com"), Some("1.1.1.1".into()));
//! ```
//!
//! Order does not matter: an address becomes a VIP whether its site or its host comes first.

use std::net::IpAddr;
use std::sync::Arc;

use crate::clock::Moment;
use crate::gslb::choose::{Choice, View};
use crate::gslb::domain::{Decision, Domain, DomainState};
use crate::gslb::observe::Observer;
use crate::gslb::select::{explain, select};
use crate::health::state::{AddressState, ReportedVip, ServerState, Sessions, States};
use crate::model::hosts::wire_name;
use crate::model::policy::{Metric, Policy, TieBreaker};
use crate::model::snapshot::{
    Address, Application, Family, Host, HostId, NameEntry, PolicyId, ServerId, Site, SiteId,
    SiteServer, Snapshot, Source, Zone, ZoneId,
};

/// A snapshot that is built line by line, with its measured state, a client and a time.
#[derive(Debug)]
pub(crate) struct World {
    /// The configuration so far.
    pub(crate) snapshot: Snapshot,
    /// What is measured.
    pub(crate) states: States,
    /// Who asks.
    pub(crate) client: IpAddr,
    /// When.
    pub(crate) now: Moment,
}

/// Reads an address of a test.
pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("no address: {text}"))
}

impl World {
    /// Nothing but the built-in policy; the client is 127.0.0.1, the time 0.
    pub(crate) fn new() -> Self {
        World {
            snapshot: Snapshot::empty("ServerIronADX"),
            states: States::default(),
            client: ip("127.0.0.1"),
            now: Moment::ZERO,
        }
    }

    /// A site with one device, 10.255.`n`.1 for the n-th site, that reports these VIPs.
    pub(crate) fn site(mut self, name: &str, weight: u8, vips: &[&str]) -> Self {
        let site = SiteId::from_index(self.snapshot.sites.len());
        self.snapshot.sites.push(Site { weight, ..Site::named(name) });
        let device = format!("10.255.{}.1", site.index() + 1);
        self.push_device(site, &device);
        self.vips(&device, vips)
    }

    /// One more device at the site that was added last.
    pub(crate) fn device(mut self, address: &str, vips: &[&str]) -> Self {
        let site = SiteId::from_index(self.snapshot.sites.len() - 1);
        self.push_device(site, address);
        self.vips(address, vips)
    }

    fn push_device(&mut self, site: SiteId, address: &str) {
        let server = ServerId::from_index(self.snapshot.servers.len());
        self.snapshot.servers.push(SiteServer {
            name: None,
            address: ip(address),
            preference: 128,
            site,
            is_self: false,
            state: self.states.server(ip(address)),
        });
        self.snapshot.sites[site.index()].servers.push(server);
    }

    fn vips(mut self, device: &str, vips: &[&str]) -> Self {
        for vip in vips {
            let vip = ReportedVip { address: ip(vip), applications: Vec::new(), standby: false };
            self.states.server(ip(device)).report_vip(vip);
        }
        self.find_owners();
        self
    }

    /// A host, checked as http, under the global policy; the zone is what follows the first dot.
    pub(crate) fn host(mut self, domain_name: &str, addresses: &[&str]) -> Self {
        let (name, zone_name) = domain_name.split_once('.').unwrap_or((domain_name, ""));
        let known = self.snapshot.zones.iter().position(|zone| zone.name == zone_name);
        let zone = known.unwrap_or_else(|| {
            self.snapshot.zones.push(Zone::named(zone_name));
            self.snapshot.zones.len() - 1
        });
        let host = HostId::from_index(self.snapshot.hosts.len());
        self.snapshot.zones[zone].hosts.push(host);
        self.snapshot.hosts.push(Arc::new(Host {
            zone: ZoneId::from_index(zone),
            domain_name: domain_name.into(),
            name_length: u8::try_from(name.len()).unwrap(),
            applications: [Application(80)].into_iter().collect(),
            track_port: None,
            min_active_bindings: false,
            policy: PolicyId::GLOBAL,
            affinity_group: None,
            addresses: Vec::new(),
            learned_ttl: None,
            domain: Arc::new(Domain::default()),
        }));
        Arc::make_mut(&mut self.snapshot.names)
            .insert(wire_name(domain_name), NameEntry::Host(host));
        self.list(domain_name, addresses)
    }

    /// Replaces the address list of a host; counts and weights of addresses that stay are kept.
    pub(crate) fn list(mut self, domain_name: &str, addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| ip(text)).collect();
        let states = &self.states;
        let host = host_mut(&mut self.snapshot, domain_name);
        let slots = host.domain.lock().assign_slots(&addresses);
        let old = std::mem::take(&mut host.addresses);
        for (ip, slot) in addresses.into_iter().zip(slots) {
            let known = old.iter().find(|address| address.ip == ip);
            host.addresses.push(Address {
                ip,
                source: Source::Configured,
                is_candidate: true,
                weight: known.and_then(|address| address.weight),
                hash_weight: known.and_then(|address| address.hash_weight),
                owner: None,
                slot,
                state: states.address(ip),
            });
        }
        self.find_owners();
        self
    }

    /// A host whose addresses have weights.
    pub(crate) fn weighted_host(self, domain_name: &str, addresses: &[(&str, u8)]) -> Self {
        let list: Vec<&str> = addresses.iter().map(|(address, _)| *address).collect();
        let mut world = self.host(domain_name, &list);
        let host = host_mut(&mut world.snapshot, domain_name);
        for (address, (_, weight)) in host.addresses.iter_mut().zip(addresses) {
            address.weight = Some(*weight);
        }
        world
    }

    /// Changes the global policy.
    pub(crate) fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.snapshot.policies[PolicyId::GLOBAL.index()]);
        self
    }

    /// A policy of the host's own, begun as a copy of the global one.
    pub(crate) fn host_policy(
        mut self,
        domain_name: &str,
        change: impl FnOnce(&mut Policy),
    ) -> Self {
        let mut policy = self.snapshot.global_policy().clone();
        policy.name = Some(domain_name.to_owned());
        change(&mut policy);
        let id = PolicyId::from_index(self.snapshot.policies.len());
        self.snapshot.policies.push(policy);
        host_mut(&mut self.snapshot, domain_name).policy = id;
        self
    }

    /// The metrics of the global policy, in this order.
    pub(crate) fn metrics(self, metrics: &[Metric]) -> Self {
        self.policy(|policy| policy.metrics = metrics.to_vec())
    }

    /// The tie-breaker of the global policy.
    pub(crate) fn tie_breaker(self, tie_breaker: TieBreaker) -> Self {
        self.policy(|policy| policy.tie_breaker = tie_breaker)
    }

    /// Changes a host.
    pub(crate) fn change_host(mut self, domain_name: &str, change: impl FnOnce(&mut Host)) -> Self {
        change(host_mut(&mut self.snapshot, domain_name));
        self
    }

    /// Changes a site.
    pub(crate) fn change_site(mut self, name: &str, change: impl FnOnce(&mut Site)) -> Self {
        let site = self.snapshot.sites.iter_mut().find(|site| site.name == name);
        change(site.unwrap_or_else(|| panic!("no site {name}")));
        self
    }

    /// Changes the device of that address.
    pub(crate) fn change_device(
        mut self,
        address: &str,
        change: impl FnOnce(&mut SiteServer),
    ) -> Self {
        let mut servers = self.snapshot.servers.iter_mut();
        let server = servers.find(|server| server.address == ip(address));
        change(server.unwrap_or_else(|| panic!("no site device {address}")));
        self
    }

    /// The measured state of an address.
    pub(crate) fn state(&self, address: &str) -> Arc<AddressState> {
        self.states.address(ip(address))
    }

    /// The measured state of a site device.
    pub(crate) fn server(&self, address: &str) -> Arc<ServerState> {
        self.states.server(ip(address))
    }

    /// The session table of a site device.
    pub(crate) fn sessions(&self, device: &str, used: u64, maximum: u64) {
        self.server(device).set_sessions(Sessions { used, maximum });
    }

    /// The address fails its health checks from now on.
    pub(crate) fn down(&self, address: &str) {
        self.state(address).set_up(None, false);
    }

    /// The address passes its health checks from now on.
    pub(crate) fn up(&self, address: &str) {
        self.state(address).set_up(None, true);
    }

    /// The host of that name.
    pub(crate) fn host_named(&self, domain_name: &str) -> &Host {
        let mut hosts = self.snapshot.hosts.iter();
        let host = hosts.find(|host| *host.domain_name == *domain_name);
        host.unwrap_or_else(|| panic!("no host {domain_name}"))
    }

    /// Asks once, through the same call as the DNS side; the choice and the order of the reply.
    pub(crate) fn select(&self, domain_name: &str, family: Family) -> (Choice, Vec<String>) {
        let host = self.host_named(domain_name);
        let (choice, order) =
            select(&self.snapshot, &self.states, host, family, self.client, self.now);
        (choice, order.iter().map(|&place| host.addresses[place].ip.to_string()).collect())
    }

    /// Asks once for IPv4; the best address.
    pub(crate) fn ask(&self, domain_name: &str) -> Option<String> {
        let (choice, order) = self.select(domain_name, Family::V4);
        choice.best.map(|_| order[0].clone())
    }

    /// Asks once for IPv4; what decided.
    pub(crate) fn decision(&self, domain_name: &str) -> Option<Decision> {
        self.select(domain_name, Family::V4).0.decision
    }

    /// Asks `count` times for IPv4; each best address as its place in the list, from 1; 0: none.
    pub(crate) fn run(&self, domain_name: &str, count: usize) -> Vec<usize> {
        (0..count)
            .map(|_| self.select(domain_name, Family::V4).0.best.map_or(0, |best| best + 1))
            .collect()
    }

    /// Chooses without counting, for an observer; IPv4.
    pub(crate) fn explain(&self, domain_name: &str, observer: &mut impl Observer) -> Choice {
        let host = self.host_named(domain_name);
        let World { snapshot, states, client, now } = self;
        explain(snapshot, states, host, Family::V4, None, *client, *now, observer).0
    }

    /// Looks at what a choice for IPv4 may look at.
    pub(crate) fn view<T>(&self, domain_name: &str, look: impl FnOnce(&View<'_>) -> T) -> T {
        let host = self.host_named(domain_name);
        let World { snapshot, states, client, now } = self;
        let domain = host.domain.lock();
        look(&View::new(snapshot, states, host, &domain, Family::V4, *client, *now))
    }

    /// How often each address of the host was chosen, in the order of the list.
    pub(crate) fn counts(&self, domain_name: &str) -> Vec<u64> {
        let host = self.host_named(domain_name);
        let domain = host.domain.lock();
        host.addresses
            .iter()
            .map(|address| domain.tallies[address.slot.index()].selections)
            .collect()
    }

    /// Looks at the domain's own state.
    pub(crate) fn domain<T>(
        &self,
        domain_name: &str,
        look: impl FnOnce(&mut DomainState) -> T,
    ) -> T {
        look(&mut self.host_named(domain_name).domain.lock())
    }

    /// Gives each address the first configured device that reports it (decisions 3.6).
    fn find_owners(&mut self) {
        let servers = &self.snapshot.servers;
        let hosts = self.snapshot.hosts.iter_mut().map(Arc::make_mut);
        for address in hosts.flat_map(|host| &mut host.addresses) {
            let owner = servers
                .iter()
                .position(|server| server.state.vips().iter().any(|vip| vip.address == address.ip));
            address.owner = owner.map(ServerId::from_index);
        }
    }
}

fn host_mut<'a>(snapshot: &'a mut Snapshot, domain_name: &str) -> &'a mut Host {
    let mut hosts = snapshot.hosts.iter_mut().map(Arc::make_mut);
    let host = hosts.find(|host| *host.domain_name == *domain_name);
    host.unwrap_or_else(|| panic!("no host {domain_name}"))
}

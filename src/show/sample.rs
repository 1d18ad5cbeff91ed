//! Snapshots made by hand for the tests of the reports.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::gslb::domain::{Decision, Domain, Slot};
use crate::health::state::Delays;
use crate::health::state::{ReportedVip, States};
use crate::model::snapshot::{
    Address, Application, Host, HostId, PolicyId, ServerId, Site, SiteId, SiteServer, Snapshot,
    Source, Zone, ZoneId,
};

/// A snapshot in the making. Every method adds to what the one before it made: a device to the
/// last site, a VIP to the last device, a host to the last zone, an address to the last host.
pub(super) struct Sample {
    snapshot: Snapshot,
    states: States,
}

impl Sample {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Sample { snapshot: Snapshot::empty("ServerIronADX"), states: States::default() }
    }

    pub(super) fn site(&mut self, name: &str, weight: u8) -> &mut Self {
        self.snapshot.sites.push(Site { weight, ..Site::named(name) });
        self
    }

    pub(super) fn server(&mut self, name: Option<&str>, address: &str) -> &mut Self {
        let address = ip(address);
        let id = ServerId::from_index(self.snapshot.servers.len());
        let site = SiteId::from_index(self.snapshot.sites.len() - 1);
        self.snapshot.sites.last_mut().unwrap().servers.push(id);
        self.snapshot.servers.push(SiteServer {
            name: name.map(str::to_owned),
            address,
            preference: 128,
            site,
            is_self: false,
            state: self.states.server(address),
        });
        self
    }

    pub(super) fn vip(&mut self, address: &str) -> &mut Self {
        self.report(address, false)
    }

    pub(super) fn standby_vip(&mut self, address: &str) -> &mut Self {
        self.report(address, true)
    }

    fn report(&mut self, address: &str, standby: bool) -> &mut Self {
        let vip = ReportedVip { address: ip(address), applications: Vec::new(), standby };
        self.snapshot.servers.last().unwrap().state.report_vip(vip);
        self
    }

    pub(super) fn sessions(&mut self, used: u64, maximum: u64) -> &mut Self {
        let state = &self.snapshot.servers.last().unwrap().state;
        state.sessions_used.store(used, Ordering::Relaxed);
        state.sessions_maximum.store(maximum, Ordering::Relaxed);
        self
    }

    pub(super) fn cpu(&mut self, percent: u8) -> &mut Self {
        self.snapshot.servers.last().unwrap().state.cpu.store(percent, Ordering::Relaxed);
        self
    }

    pub(super) fn zone(&mut self, name: &str) -> &mut Self {
        self.snapshot.zones.push(Zone::named(name));
        self
    }

    pub(super) fn host(&mut self, name: &str, applications: &[Application]) -> &mut Self {
        let id = HostId::from_index(self.snapshot.hosts.len());
        let zone_id = ZoneId::from_index(self.snapshot.zones.len() - 1);
        let zone = self.snapshot.zones.last_mut().unwrap();
        zone.hosts.push(id);
        let domain_name = format!("{name}.{}", zone.name);
        self.snapshot.hosts.push(Arc::new(Host {
            zone: zone_id,
            domain_name: domain_name.into(),
            name_length: u8::try_from(name.len()).unwrap(),
            applications: applications.into(),
            track_port: None,
            min_active_bindings: false,
            policy: PolicyId::GLOBAL,
            affinity_group: None,
            addresses: Vec::new(),
            learned_ttl: None,
            domain: Arc::new(Domain::default()),
        }));
        self
    }

    /// A configured address; a VIP of the first device that reports it.
    pub(super) fn address(&mut self, address: &str) -> &mut Self {
        let ip = ip(address);
        let reports = |server: &SiteServer| server.state.vips().iter().any(|vip| vip.address == ip);
        let owner = self.snapshot.servers.iter().position(reports).map(ServerId::from_index);
        let state = self.states.address(ip);
        let host = self.last_host();
        host.addresses.push(Address {
            ip,
            source: Source::Configured,
            is_candidate: true,
            weight: None,
            hash_weight: None,
            owner,
            slot: Slot(0),
            state,
        });
        let list: Vec<IpAddr> = host.addresses.iter().map(|address| address.ip).collect();
        let slots = host.domain.lock().assign_slots(&list);
        for (address, slot) in host.addresses.iter_mut().zip(slots) {
            address.slot = slot;
        }
        self
    }

    /// `count` selections of the last address.
    pub(super) fn selected(&mut self, count: u64, decision: Decision) -> &mut Self {
        let host = self.last_host();
        let slot = host.addresses.last().unwrap().slot;
        let domain = Arc::clone(&host.domain);
        let tally = &mut domain.lock().tallies[slot.index()];
        tally.add(decision, count);
        self
    }

    /// Flashback delays of the last address.
    pub(super) fn flashback(&mut self, tcp: u32, application: u32) -> &mut Self {
        let state = &self.last_address().state;
        state.set_delays(Delays { tcp, application });
        self
    }

    pub(super) fn down(&mut self) -> &mut Self {
        self.last_address().state.set_up(None, false);
        self
    }

    pub(super) fn source(&mut self, source: Source) -> &mut Self {
        self.last_address().source = source;
        self
    }

    /// Questions for the last host.
    pub(super) fn requests(&mut self, count: u64) -> &mut Self {
        self.last_host().domain.lock().requests[0] = count;
        self
    }

    pub(super) fn last_host(&mut self) -> &mut Host {
        Arc::make_mut(self.snapshot.hosts.last_mut().unwrap())
    }

    fn last_address(&mut self) -> &mut Address {
        self.last_host().addresses.last_mut().unwrap()
    }

    /// The snapshot as it is now.
    pub(super) fn snapshot(self) -> Snapshot {
        self.snapshot
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Port 80.
pub(super) const HTTP: Application = Application(80);
/// Port 21.
pub(super) const FTP: Application = Application(21);

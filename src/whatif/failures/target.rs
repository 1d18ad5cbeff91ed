//! One name and one family: what its clients get when some of its addresses have failed.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use super::elements::Elements;
use super::{AddressShare, ClientGroup, GroupOutcome, NameOutcome, rounded};
use crate::gslb::regions::{built_in, built_in_entries};
use crate::health::prefix::Prefix;
use crate::health::state::Connection;
use crate::model::region::Region;
use crate::model::snapshot::{Family, Host, ServerId, Snapshot};
use crate::whatif::subject::Started;

/// Groups of clients beside the regions at most.
const MOST_GROUPS: usize = 64;

/// A name and a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    host: usize,
    family: Family,
}

/// All names and families, with everything that their outcomes depend on.
pub(super) struct Targets<'a> {
    started: &'a Started,
    snapshot: &'a Arc<Snapshot>,
    groups: Vec<ClientGroup>,
    /// Groups that were left out.
    left_out: usize,
    /// Names and families that have an address.
    pub(super) list: Vec<Target>,
    /// By target: the elements that take an address of it along.
    pub(super) touching: Vec<Vec<usize>>,
    /// The configuration as it is while devices have failed whose VIPs others hold with them.
    stand_ins: HashMap<Vec<ServerId>, Arc<Snapshot>>,
    /// What was found out already.
    known: HashMap<(usize, Vec<IpAddr>, Vec<ServerId>), Arc<Outcome>>,
}

/// What a name's clients get.
#[derive(Debug)]
pub(super) struct Outcome {
    /// As it is told.
    pub(super) told: NameOutcome,
    /// The mean over the groups of what gets a failed address, or none.
    pub(super) dead: f64,
    /// By group the shares of the addresses, to compare.
    shares: Vec<Vec<(IpAddr, f64)>>,
}

impl Outcome {
    /// The mean over the groups of what gets another address.
    pub(super) fn moved_from(&self, before: &Outcome) -> f64 {
        let of = |shares: &[(IpAddr, f64)], address: IpAddr| {
            shares.iter().find(|(known, _)| *known == address).map_or(0.0, |(_, share)| *share)
        };
        let moved: f64 = self
            .shares
            .iter()
            .zip(&before.shares)
            .map(|(now, before)| {
                let lost = before.iter().map(|&(one, share)| (share - of(now, one)).max(0.0));
                lost.sum::<f64>()
            })
            .sum();
        moved / number(self.shares.len().max(1))
    }
}

impl<'a> Targets<'a> {
    pub(super) fn new(
        started: &'a Started,
        snapshot: &'a Arc<Snapshot>,
        elements: &Elements,
    ) -> Self {
        let (groups, left_out) = groups(started, snapshot);
        let mut list = Vec::new();
        for (place, host) in snapshot.hosts.iter().enumerate() {
            for family in [Family::V4, Family::V6] {
                if host.positions(family).next().is_some() {
                    list.push(Target { host: place, family });
                }
            }
        }
        let mut by_address: HashMap<IpAddr, Vec<usize>> = HashMap::new();
        for (place, element) in elements.list.iter().enumerate() {
            for address in &element.addresses {
                by_address.entry(*address).or_default().push(place);
            }
        }
        // Both devices of a pair touch the VIP that they hold together.
        for (place, devices) in elements.devices.iter().enumerate() {
            for device in devices {
                for vip in snapshot.servers[device.index()].state.vips() {
                    by_address.entry(vip.address).or_default().push(place);
                }
            }
        }
        let touching = list
            .iter()
            .map(|target: &Target| {
                let host = &snapshot.hosts[target.host];
                let mut touching: Vec<usize> = host
                    .positions(target.family)
                    .filter_map(|position| by_address.get(&host.addresses[position].ip))
                    .flatten()
                    .copied()
                    .collect();
                touching.sort_unstable();
                touching.dedup();
                touching
            })
            .collect();
        Targets {
            started,
            snapshot,
            groups,
            left_out,
            list,
            touching,
            stand_ins: HashMap::new(),
            known: HashMap::new(),
        }
    }

    pub(super) fn groups(&self) -> &[ClientGroup] {
        &self.groups
    }

    /// What a reader should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let unchecked = self
            .snapshot
            .hosts
            .iter()
            .filter(|host| host.applications.is_empty() && !host.addresses.is_empty());
        let mut notes: Vec<String> = unchecked
            .map(|host| {
                format!(
                    "{}: no application is checked, so the appliance does not notice a failure",
                    host.domain_name
                )
            })
            .collect();
        if self.left_out > 0 {
            notes.push(format!("{} further prefixes of clients are left out", self.left_out));
        }
        notes
    }

    /// What everybody gets when nothing fails.
    pub(super) fn baseline(&mut self) -> Vec<NameOutcome> {
        let places = 0..self.list.len();
        let nothing = Elements::default();
        places.map(|target| self.outcome(&nothing, target, &[]).told.clone()).collect()
    }

    /// What a name's clients get while these elements have failed.
    pub(super) fn outcome(
        &mut self,
        elements: &Elements,
        target: usize,
        which: &[usize],
    ) -> Arc<Outcome> {
        let Target { host, family } = self.list[target];
        let host = &self.snapshot.hosts[host];
        let own = |position: &usize| host.addresses[*position].ip;
        let positions: Vec<usize> = host.positions(family).collect();
        let devices = elements.devices_of(which);
        let fails = |address: &IpAddr| elements.fails(*address, which, &devices);
        let mut gone: Vec<IpAddr> = positions.iter().map(own).filter(fails).collect();
        gone.sort_unstable();
        let concerned = |device: &&ServerId| {
            positions.iter().any(|position| host.addresses[*position].owner == Some(**device))
        };
        let devices: Vec<ServerId> = devices.iter().filter(concerned).copied().collect();
        let key = (target, gone, devices);
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let (_, gone, devices) = &key;
        let snapshot = self.snapshot_without(elements, devices);
        // The same configuration has the same hosts in the same places.
        let host = &snapshot.hosts[self.list[target].host];
        let broken = Broken::new(&snapshot, host, gone, devices);
        let outcome = Arc::new(self.look(&snapshot, host, family, gone));
        drop(broken);
        self.known.insert(key, Arc::clone(&outcome));
        outcome
    }

    /// The snapshot while devices have failed: of a VIP that a pair holds together the other device
    /// is the owner then, as it holds it active.
    fn snapshot_without(&mut self, elements: &Elements, devices: &[ServerId]) -> Arc<Snapshot> {
        if !elements.have_peers(devices) {
            return Arc::clone(self.snapshot);
        }
        if let Some(known) = self.stand_ins.get(devices) {
            return Arc::clone(known);
        }
        let appliance = self.started.appliance();
        let states = devices.iter().map(|device| &self.snapshot.servers[device.index()].state);
        let withdrawn: Vec<_> = states.map(|state| (state, state.vips())).collect();
        for (state, vips) in &withdrawn {
            for vip in vips {
                state.withdraw_vip(vip.address);
            }
        }
        appliance.owners_changed();
        let snapshot = Arc::clone(&appliance.own_current());
        for (state, vips) in withdrawn {
            for vip in vips {
                state.report_vip(vip);
            }
        }
        appliance.owners_changed();
        self.stand_ins.insert(devices.to_vec(), Arc::clone(&snapshot));
        snapshot
    }

    fn look(&self, snapshot: &Snapshot, host: &Host, family: Family, gone: &[IpAddr]) -> Outcome {
        let alive = |position: usize| {
            let address = &host.addresses[position];
            let up = self.started.appliance().states.is_reachable(address.ip);
            !gone.contains(&address.ip) && up && host.is_healthy(address)
        };
        let mut told: Vec<GroupOutcome> = Vec::new();
        let mut all_shares = Vec::new();
        let mut dead = 0.0;
        for group in &self.groups {
            let pool = self.started.pool(snapshot, host, family, group.address);
            // Without a best address the list goes out as it stands, and most take the first.
            let dealt: Vec<(usize, f64)> = if pool.is_empty() {
                host.positions(family).take(1).map(|position| (position, 1.0)).collect()
            } else {
                pool.shares().collect()
            };
            let lost: f64 =
                dealt.iter().filter(|(one, _)| !alive(*one)).map(|(_, share)| share).sum();
            dead += lost;
            let ip = |position: usize| host.addresses[position].ip;
            all_shares.push(dealt.iter().map(|&(one, share)| (ip(one), share)).collect());
            let shares: Vec<AddressShare> = dealt
                .iter()
                .map(|&(position, share)| AddressShare {
                    address: ip(position),
                    site: snapshot.site_of(&host.addresses[position]).map(|site| site.name.clone()),
                    share: rounded(share),
                    alive: alive(position),
                })
                .collect();
            let no_best = pool.is_empty();
            match told.iter_mut().find(|known| known.shares == shares && known.no_best == no_best) {
                Some(known) => known.groups.push(group.name.clone()),
                None => told.push(GroupOutcome {
                    groups: vec![group.name.clone()],
                    shares,
                    no_best,
                    dead_share: rounded(lost),
                }),
            }
        }
        if let [only] = &mut told[..] {
            only.groups = vec!["all clients".to_owned()];
        }
        let record_type = match family {
            Family::V4 => "A",
            Family::V6 => "AAAA",
        };
        let name = host.domain_name.to_string();
        Outcome {
            told: NameOutcome { name, record_type, clients: told },
            dead: dead / number(self.groups.len().max(1)),
            shares: all_shares,
        }
    }
}

/// Addresses and devices that are broken for as long as this lives.
struct Broken<'a> {
    snapshot: &'a Snapshot,
    host: &'a Host,
    /// The positions of those that were up before.
    addresses: Vec<usize>,
    /// With the state that they had.
    devices: Vec<(ServerId, Connection)>,
}

impl<'a> Broken<'a> {
    fn new(snapshot: &'a Snapshot, host: &'a Host, gone: &[IpAddr], devices: &[ServerId]) -> Self {
        let all = host.addresses.iter().enumerate();
        let positions: Vec<usize> =
            all.filter(|(_, one)| gone.contains(&one.ip)).map(|(position, _)| position).collect();
        let mut addresses = Vec::new();
        for position in positions {
            let state = &host.addresses[position].state;
            if state.is_up() {
                state.set_up(None, false);
                addresses.push(position);
            }
        }
        let devices = devices
            .iter()
            .map(|&device| {
                let state = &snapshot.servers[device.index()].state;
                let before = state.connection();
                state.set_connection(Connection::Down);
                (device, before)
            })
            .collect();
        Broken { snapshot, host, addresses, devices }
    }
}

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        for position in &self.addresses {
            self.host.addresses[*position].state.set_up(None, true);
        }
        for (device, connection) in &self.devices {
            self.snapshot.servers[device.index()].state.set_connection(*connection);
        }
    }
}

/// A client of each region, and one of each prefix that is treated in a way of its own; and how many
/// prefixes were left out.
fn groups(started: &Started, snapshot: &Snapshot) -> (Vec<ClientGroup>, usize) {
    let mut groups: Vec<ClientGroup> = Vec::new();
    for region in Region::ALL {
        let mut entries = built_in_entries().filter(|entry| entry.region == *region);
        let address = entries.find_map(|entry| {
            let address = inside(entry.prefix);
            built_in(address).filter(|one| one.region == *region).map(|_| address)
        });
        groups
            .extend(address.map(|address| ClientGroup { name: region.name().to_owned(), address }));
    }
    let rtt = &snapshot.global_policy().rtt;
    let mut prefixes: Vec<Prefix> = snapshot.affinities.iter().map(|one| one.clients).collect();
    prefixes
        .extend(rtt.geo_prefixes.iter().map(|(network, length, _)| Prefix::new(*network, *length)));
    prefixes
        .extend(rtt.static_prefixes.iter().map(|(network, length)| Prefix::new(*network, *length)));
    prefixes.extend(started.appliance().states.prefixes.measured());
    prefixes.sort_unstable();
    prefixes.dedup();
    prefixes.retain(|prefix| prefix.length() > 0);
    let left_out = prefixes.len().saturating_sub(MOST_GROUPS);
    groups.extend(
        prefixes
            .into_iter()
            .take(MOST_GROUPS)
            .map(|prefix| ClientGroup { name: prefix.to_string(), address: inside(prefix) }),
    );
    (groups, left_out)
}

/// An address of a prefix: the second, where there is one.
fn inside(prefix: Prefix) -> IpAddr {
    match prefix.network() {
        IpAddr::V4(network) if prefix.length() < 32 => {
            std::net::Ipv4Addr::from_bits(network.to_bits() | 1).into()
        }
        IpAddr::V6(network) if prefix.length() < 128 => {
            std::net::Ipv6Addr::from_bits(network.to_bits() | 1).into()
        }
        network => network,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a number of things that are in memory")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

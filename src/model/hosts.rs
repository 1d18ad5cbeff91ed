//! Zones and hosts of a snapshot, and the addresses, owners and names that belong to them.
//!
//! A configuration may hold a hundred thousand hosts, and a line changes one. So a host is shared with the
//! previous snapshot unless something that it is made from has changed: the block of its zone, the
//! list of policies, or the VIPs that the site devices report.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::config::tree::Block;
use crate::grammar::ModeId;
use crate::gslb::domain::Domain;
use crate::health::learned::Learned;
use crate::health::state::States;
use crate::model::snapshot::{
    Address, Application, Applications, Host, HostId, NameEntry, PolicyId, ServerId, SiteServer,
    Snapshot, Source, WireName, Zone, ZoneId,
};
use crate::revision::Revision;

/// A zone while its statements are read.
pub(super) struct ZoneDraft<'a> {
    name: String,
    hosts: Vec<HostDraft>,
    by_name: HashMap<String, usize>,
    revision: Revision,
    /// The block, with its mode, if it is the one that the previous snapshot was made from: it is not read
    /// unless something else asks for it.
    unread: Option<(ModeId, &'a Block)>,
}

/// A host while its statements are read.
#[derive(Default)]
pub(super) struct HostDraft {
    pub(super) name: String,
    pub(super) applications: Applications,
    pub(super) track_port: Option<Application>,
    pub(super) min_active_bindings: bool,
    /// Name of its policy in lower case.
    pub(super) policy: Option<String>,
    pub(super) affinity_group: Option<u8>,
    addresses: Vec<AddressDraft>,
    /// Places in `addresses`, once there are more than a few.
    by_address: HashMap<IpAddr, usize>,
    /// Weights of addresses that are not in the list, but may be learned.
    unlisted: Vec<AddressDraft>,
}

/// An address of a host while its statements are read.
#[derive(Clone, Copy)]
pub(super) struct AddressDraft {
    ip: IpAddr,
    pub(super) weight: Option<u8>,
    pub(super) hash_weight: Option<u8>,
}

/// Lists of up to so many addresses are searched from end to end.
const SEARCHED: usize = 8;

impl<'a> ZoneDraft<'a> {
    /// A zone without statements.
    pub(super) fn new(name: &str) -> Self {
        ZoneDraft {
            name: name.to_owned(),
            hosts: Vec::new(),
            by_name: HashMap::new(),
            revision: Revision::default(),
            unread: None,
        }
    }

    /// Says from which block the zone is to be read, and gives whether that must be done now.
    ///
    /// `known` is the zone that stood at the same place of the previous snapshot.
    pub(super) fn open(&mut self, mode: ModeId, block: &'a Block, known: Option<&Zone>) -> bool {
        self.revision = block.revision();
        let is_known = known.is_some_and(|zone| {
            zone.name == self.name && zone.revision == self.revision && !zone.hosts.is_empty()
        });
        self.unread = is_known.then_some((mode, block));
        !is_known
    }

    /// The block that was left unread and must be read after all.
    pub(super) fn take_unread(&mut self) -> Option<(ModeId, &'a Block)> {
        self.unread.take()
    }

    /// The host of that name, made if it is not there.
    pub(super) fn host(&mut self, name: &str) -> Option<&mut HostDraft> {
        let next = self.hosts.len();
        // The lines of a host usually stand together.
        let is_it = |host: &HostDraft| host.name == name || host.name.eq_ignore_ascii_case(name);
        if self.hosts.last().is_some_and(is_it) {
            return self.hosts.last_mut();
        }
        let place = *self.by_name.entry(name.to_ascii_lowercase()).or_insert(next);
        if place == next {
            self.hosts.push(HostDraft { name: name.to_owned(), ..HostDraft::default() });
        }
        self.hosts.get_mut(place)
    }
}

impl HostDraft {
    /// Where an address stands in its list.
    fn place(&self, ip: IpAddr) -> Option<usize> {
        if self.addresses.len() <= SEARCHED {
            self.addresses.iter().position(|address| address.ip == ip)
        } else {
            self.by_address.get(&ip).copied()
        }
    }

    /// An address of its list, or what is said of it although it is not in there.
    pub(super) fn address(&mut self, ip: IpAddr) -> &mut AddressDraft {
        if let Some(place) = self.place(ip) {
            return &mut self.addresses[place];
        }
        let known = self.unlisted.iter().position(|address| address.ip == ip);
        let place = known.unwrap_or_else(|| {
            self.unlisted.push(AddressDraft { ip, weight: None, hash_weight: None });
            self.unlisted.len() - 1
        });
        &mut self.unlisted[place]
    }

    /// Adds an address to its list.
    pub(super) fn add_address(&mut self, ip: IpAddr) {
        self.addresses.push(AddressDraft { ip, weight: None, hash_weight: None });
        if self.addresses.len() > SEARCHED {
            let from = if self.by_address.is_empty() { 0 } else { self.addresses.len() - 1 };
            let new = self.addresses.iter().enumerate().skip(from);
            self.by_address.extend(new.map(|(place, address)| (address.ip, place)));
        }
    }

    /// Its addresses: those of the list, then those that were only learned.
    fn all_addresses(&self, learned: &Learned) -> Vec<(AddressDraft, Source)> {
        let listed = self.addresses.iter().map(|address| {
            let both = learned.addresses.contains(&address.ip);
            (*address, if both { Source::Both } else { Source::Configured })
        });
        let further = learned.addresses.iter().filter(|ip| self.place(**ip).is_none());
        let further = further.map(|ip| {
            let known = self.unlisted.iter().find(|address| address.ip == *ip).copied();
            let nothing = AddressDraft { ip: *ip, weight: None, hash_weight: None };
            (known.unwrap_or(nothing), Source::Dns)
        });
        listed.chain(further).collect()
    }

    fn finish(
        self,
        domain_name: String,
        zone: ZoneId,
        domain: Arc<Domain>,
        policies: &HashMap<String, PolicyId>,
        owners: &Owners<'_>,
        sources: &Sources<'_>,
    ) -> Host {
        let states = sources.states;
        let learned = states.learned.of(&domain_name).unwrap_or_default();
        let only_listed = sources.overrides && !self.addresses.is_empty();
        let only_learned = !only_listed && !learned.addresses.is_empty();
        let all = self.all_addresses(&learned);
        let ips: Vec<IpAddr> = all.iter().map(|(address, _)| address.ip).collect();
        let slots = domain.lock().assign_slots(&ips);
        let addresses = all
            .into_iter()
            .zip(slots)
            .map(|((address, source), slot)| Address {
                ip: address.ip,
                source,
                is_candidate: match source {
                    Source::Configured => !only_learned,
                    Source::Dns => !only_listed,
                    Source::Both => true,
                },
                weight: address.weight,
                hash_weight: address.hash_weight,
                owner: owners.of(address.ip),
                slot,
                state: states.address(address.ip),
            })
            .collect();
        let policy = self.policy.and_then(|name| policies.get(&name).copied());
        Host {
            zone,
            // A host's own name has 63 characters at most; a longer one would be the whole name.
            name_length: u8::try_from(self.name.len()).unwrap_or(u8::MAX),
            domain_name: domain_name.into_boxed_str(),
            applications: self.applications,
            track_port: self.track_port,
            min_active_bindings: self.min_active_bindings,
            policy: policy.unwrap_or(PolicyId::GLOBAL),
            affinity_group: self.affinity_group,
            addresses,
            learned_ttl: (!learned.addresses.is_empty()).then_some(learned.ttl),
            domain,
        }
    }
}

/// Where the addresses of hosts come from, beside their lists.
struct Sources<'a> {
    states: &'a States,
    /// Where there is a list, only its addresses can be chosen.
    overrides: bool,
}

/// Enters all zones with their hosts. What was left unread is taken from `previous`.
pub(super) fn enter(
    snapshot: &mut Snapshot,
    zones: Vec<ZoneDraft<'_>>,
    policies: &HashMap<String, PolicyId>,
    states: &States,
    previous: &Snapshot,
) {
    // Before the lists are read: what changes in between is then found changed the next time.
    snapshot.vips = revisions(&snapshot.servers);
    let are_vips_known = snapshot.vips == previous.vips;
    let servers = std::mem::take(&mut snapshot.servers);
    let drafts = zones.iter().flat_map(|zone| &zone.hosts);
    let owners =
        Owners::find(&servers, are_vips_known, drafts.map(|host| host.addresses.len()).sum());
    let overrides = snapshot.global_policy().dns.override_;
    let sources = Sources { states, overrides };
    let mut are_names_known = zones.len() == previous.zones.len();
    let mut names = Vec::new();
    for (place, draft) in zones.into_iter().enumerate() {
        let known = previous.zones.get(place);
        let first = snapshot.hosts.len();
        if draft.unread.is_some() {
            let hosts = known.into_iter().flat_map(|zone| &zone.hosts);
            snapshot.hosts.extend(hosts.map(|host| {
                let mut host = Arc::clone(&previous.hosts[host.index()]);
                if !are_vips_known {
                    owners.correct(&mut host);
                }
                host
            }));
        } else {
            snapshot.hosts.reserve(draft.hosts.len());
            names.resize_with(first, || None);
            for host in draft.hosts {
                let domain_name = format!("{}.{}", host.name, draft.name);
                let name = wire_name(&domain_name);
                let domain = previous_domain(previous, &name, &draft.name);
                let zone = ZoneId::from_index(place);
                let host = host.finish(domain_name, zone, domain, policies, &owners, &sources);
                snapshot.hosts.push(Arc::new(host));
                names.push(Some(name));
            }
            let new = &snapshot.hosts[first..];
            are_names_known =
                are_names_known
                    && known.is_some_and(|zone| {
                        zone.name == draft.name
                            && zone.hosts.len() == new.len()
                            && zone.hosts.iter().zip(new).all(|(known, new)| {
                                previous.hosts[known.index()].name() == new.name()
                            })
                    });
        }
        let hosts = (first..snapshot.hosts.len()).map(HostId::from_index).collect();
        snapshot.zones.push(Zone { name: draft.name, hosts, revision: draft.revision });
    }
    drop(owners);
    snapshot.servers = servers;
    if are_names_known {
        snapshot.names = Arc::clone(&previous.names);
    } else {
        names.resize_with(snapshot.hosts.len(), || None);
        name_hosts(snapshot, names);
    }
}

/// The cell of the same domain name, in wire form, in the previous snapshot, or a new one.
fn previous_domain(previous: &Snapshot, name: &[u8], zone_name: &str) -> Arc<Domain> {
    match previous.lookup(name) {
        Some(NameEntry::Host(host)) => {
            let host = &previous.hosts[host.index()];
            let same_zone = previous.zones[host.zone.index()].name.eq_ignore_ascii_case(zone_name);
            if same_zone { Arc::clone(&host.domain) } else { Arc::default() }
        }
        Some(NameEntry::EmptyNonTerminal) | None => Arc::default(),
    }
}

/// Gives every address the site device whose VIP it is, as the devices report now.
pub fn assign_owners(snapshot: &mut Snapshot) {
    snapshot.vips = revisions(&snapshot.servers);
    let owners = Owners::Listed(listed(&snapshot.servers));
    for host in &mut snapshot.hosts {
        owners.correct(host);
    }
}

/// What the devices report, in a form that is compared in no time.
fn revisions(servers: &[SiteServer]) -> Vec<(IpAddr, Revision)> {
    servers.iter().map(|server| (server.address, server.state.vips_revision())).collect()
}

/// Whose VIP an address is. One that two devices report belongs to the first of them in configured
/// order (decisions 3.6), but of a pair to the one that holds it active (guide p. 157).
enum Owners<'a> {
    /// The devices, to be asked for each address.
    Asked(&'a [SiteServer]),
    /// All that they report.
    Listed(HashMap<IpAddr, ServerId>),
}

/// So many questions to devices cost less than a list of all that they report.
const FEW_QUESTIONS: usize = 4096;

impl<'a> Owners<'a> {
    /// `addresses` is how many will be asked for, besides all the others if `are_known` is false.
    fn find(servers: &'a [SiteServer], are_known: bool, addresses: usize) -> Self {
        if are_known && addresses.saturating_mul(servers.len()) <= FEW_QUESTIONS {
            Owners::Asked(servers)
        } else {
            Owners::Listed(listed(servers))
        }
    }

    fn of(&self, address: IpAddr) -> Option<ServerId> {
        match self {
            Owners::Listed(owners) => owners.get(&address).copied(),
            Owners::Asked(servers) => {
                let holds = |standby| {
                    let mut states = servers.iter().map(|server| &server.state);
                    states.position(|state| state.holds_in_standby(address) == Some(standby))
                };
                holds(false).or_else(|| holds(true)).map(ServerId::from_index)
            }
        }
    }

    /// Leaves a host shared if all its owners are right.
    fn correct(&self, host: &mut Arc<Host>) {
        let owners: Vec<_> = host.addresses.iter().map(|address| self.of(address.ip)).collect();
        if host.addresses.iter().zip(&owners).any(|(address, owner)| address.owner != *owner) {
            for (address, owner) in Arc::make_mut(host).addresses.iter_mut().zip(owners) {
                address.owner = owner;
            }
        }
    }
}

fn listed(servers: &[SiteServer]) -> HashMap<IpAddr, ServerId> {
    let mut owners = HashMap::new();
    for standby in [false, true] {
        for (place, server) in servers.iter().enumerate() {
            server.state.for_each_vip(|vip| {
                if vip.standby == standby {
                    owners.entry(vip.address).or_insert(ServerId::from_index(place));
                }
            });
        }
    }
    owners
}

/// Enters all hosts by their names in wire form, as far as those are made already, and the empty names
/// between a host and its zone. Where two zones could hold the same name, the longer one has it.
fn name_hosts(snapshot: &mut Snapshot, mut wire_names: Vec<Option<WireName>>) {
    let mut order: Vec<usize> = (0..snapshot.hosts.len()).collect();
    let length = |place: usize| snapshot.zones[snapshot.hosts[place].zone.index()].name.len();
    order.sort_by_key(|place| length(*place));
    let mut names = HashMap::with_capacity(snapshot.hosts.len());
    for place in order {
        let host = &snapshot.hosts[place];
        let name = wire_names[place].take().unwrap_or_else(|| wire_name(&host.domain_name));
        let labels = host.name().split('.').count();
        let mut rest = &name[..];
        for _ in 1..labels {
            rest = &rest[usize::from(rest[0]) + 1..];
            names.entry(rest.into()).or_insert(NameEntry::EmptyNonTerminal);
        }
        names.insert(name, NameEntry::Host(HostId::from_index(place)));
    }
    snapshot.names = Arc::new(names);
}

/// A domain name in lower-case wire form (RFC 1035 section 3.1), with the root label.
///
/// The grammar takes labels of 1 to 63 characters only.
pub fn wire_name(name: &str) -> WireName {
    let mut wire = WireName::with_capacity(name.len() + 2);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        wire.push(u8::try_from(label.len().min(63)).unwrap_or(63));
        wire.extend(label.bytes().take(63).map(|byte| byte.to_ascii_lowercase()));
    }
    wire.push(0);
    wire
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::appliance::Appliance;
    use crate::clock::DrivenClock;

    const CONFIGURATION: &str = "\
gslb site east
 si-name one 198.51.100.1
!
gslb host-policy spare
 round-robin
!
gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.10
 host-info www gslb-policy spare
!
gslb dns zone example.net
 host-info www http
 host-info www ip-list 192.0.2.20
 host-info ftp ftp
 host-info ftp ip-list 192.0.2.30
!
";

    /// Which of the three hosts, and whether the names, are shared after these lines were added.
    fn shared_after(lines: &str) -> ([bool; 3], bool) {
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.add_to_running(CONFIGURATION);
        let before = Arc::clone(&appliance.current());
        let rejected = appliance.add_to_running(lines);
        assert!(rejected.is_empty(), "{rejected:?}");
        let after = appliance.current();
        assert!(!Arc::ptr_eq(&before, &after), "a snapshot was made");
        let shared = |place: usize| Arc::ptr_eq(&before.hosts[place], &after.hosts[place]);
        ([shared(0), shared(1), shared(2)], Arc::ptr_eq(&before.names, &after.names))
    }

    #[test]
    fn what_a_line_does_not_touch_is_shared() {
        let weight = "gslb dns zone example.net\n host-info www ip-weight 192.0.2.20 7\n";
        assert_eq!(shared_after(weight), ([true, false, false], true));
        assert_eq!(shared_after("hostname box\n"), ([true; 3], true));
    }

    #[test]
    fn a_new_host_gets_its_name() {
        let host = "gslb dns zone example.net\n host-info new http\n";
        assert_eq!(shared_after(host), ([true, false, false], false));
    }

    #[test]
    fn another_list_of_policies_makes_all_hosts_anew() {
        let policy = "gslb host-policy another\n round-robin\n";
        assert_eq!(shared_after(policy), ([false; 3], true));
    }

    #[test]
    fn a_reported_vip_changes_the_host_that_has_it() {
        let vip = "emulate si 198.51.100.1 vip 192.0.2.20\n";
        assert_eq!(shared_after(vip), ([true, false, true], true));
    }
}

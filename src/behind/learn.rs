//! The appliance's own questions to the DNS server behind: the addresses of its hosts, and of the host
//! names in user records of SNA gateway domains (guide p. 32; IPv6 chapter p. 193: IPv4 only).

use std::net::IpAddr;

use hashbrown::HashSet;
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{RData, RecordType};

use crate::behind::reply::Reply;
use crate::dns::name;
use crate::dns::relay;
use crate::health::state::States;
use crate::model::balancing::DnsServer;
use crate::model::policy::Intercept;
use crate::model::snapshot::{HostId, Snapshot};
use crate::sna::Matcher;

/// Which names are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that nobody has asked for yet.
    New,
    /// All.
    All,
}

/// Asks the emulated server for the addresses of names; whether anything is other than before.
///
/// While the server does not answer, what was learned stays. Without a server nothing is known.
pub fn learn(snapshot: &Snapshot, states: &States, which: Which) -> bool {
    let server = snapshot.balancing.dns_server(states);
    let learned = &states.learned;
    let mut has_changed = false;
    // Where questions are redirected and replies left alone, nobody asks (guide p. 98).
    let asks = snapshot.global_policy().dns.transparent_intercept != Some(Intercept::Unchanged);
    let hosts = if asks { &snapshot.hosts[..] } else { &[] };
    if server == DnsServer::Up {
        for id in 0..hosts.len() {
            has_changed |= learn_host(snapshot, states, HostId::from_index(id), which);
        }
    }
    for name in host_names(snapshot) {
        if which == Which::All || !learned.knows(name) {
            has_changed |= learn_host_name(states, name);
        }
    }
    if which == Which::All || server == DnsServer::Missing {
        let known = if server == DnsServer::Missing { &[] } else { hosts };
        let names: HashSet<String> = known
            .iter()
            .map(|host| &*host.domain_name)
            .chain(host_names(snapshot))
            .map(str::to_ascii_lowercase)
            .collect();
        has_changed |= learned.retain(|name| names.contains(name));
    }
    has_changed
}

fn learn_host(snapshot: &Snapshot, states: &States, id: HostId, which: Which) -> bool {
    let name = &snapshot.hosts[id.index()].domain_name;
    if which == Which::New && states.learned.knows(name) {
        return false;
    }
    let Some(wire) = name::key_of_text(name) else { return false };
    let reply = states.dns_server.answer_with(snapshot, &wire, RecordType::A);
    take(snapshot, states, id, &wire, &reply)
}

/// Takes in what the server said of a host.
fn take(snapshot: &Snapshot, states: &States, id: HostId, wire: &[u8], reply: &Reply) -> bool {
    let name = &snapshot.hosts[id.index()].domain_name;
    let found = relay::balanced(snapshot, wire, RecordType::A, reply);
    // Behind an alias may stand another host's name: then this one has no addresses of its own.
    match (found.filter(|found| found.host == id), reply.code) {
        (Some(found), _) => states.learned.learn(name, &found.addresses, found.ttl),
        (None, ResponseCode::NoError | ResponseCode::NXDomain) => {
            states.learned.learn(name, &[], 0)
        }
        (None, _) => false,
    }
}

/// The host names that user records are matched by.
fn host_names(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let records = snapshot.sna_domains.iter().flat_map(|domain| &domain.records);
    records.flat_map(|record| &record.matchers).filter_map(|matcher| match matcher {
        Matcher::Hostname { name, .. } => Some(&**name),
        Matcher::Network(_) => None,
    })
}

/// Learns the addresses of a host name, of both families, as far as somebody said them.
fn learn_host_name(states: &States, name: &str) -> bool {
    let Some(wire) = name::key_of_text(name) else { return false };
    let mut addresses: Vec<IpAddr> = Vec::new();
    let mut ttl = u32::MAX;
    for wanted in [RecordType::A, RecordType::AAAA] {
        let reply = states.dns_server.answer(&wire, wanted);
        for record in reply.iter().flat_map(|reply| &reply.answers) {
            let address: IpAddr = match &record.data {
                RData::A(address) => address.0.into(),
                RData::AAAA(address) => address.0.into(),
                _ => continue,
            };
            addresses.push(address);
            ttl = ttl.min(record.ttl);
        }
    }
    states.learned.learn(name, &addresses, ttl)
}

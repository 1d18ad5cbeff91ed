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
use crate::model::snapshot::{HostId, NameEntry, Snapshot};
use crate::sna::Matcher;

/// Which names are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that nobody has asked for yet.
    New,
    /// All.
    All,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Whether anything is other than before.
    pub has_changed: bool,
    /// Names that a real server must be asked for, and the types of their addresses.
    pub to_ask: Vec<(String, &'static [RecordType])>,
}

/// What hosts are asked for: IPv4 only (IPv6 chapter p. 193).
const OF_HOSTS: &[RecordType] = &[RecordType::A];

/// What host names of user records are asked for.
const OF_HOST_NAMES: &[RecordType] = &[RecordType::A, RecordType::AAAA];

/// Asks the emulated server for the addresses of names. If a real one can be asked (`is_live`), it is
/// left the names of which nothing was said.
///
/// While the server does not answer, what was learned stays. Without a server nothing is known.
pub fn learn(snapshot: &Snapshot, states: &States, which: Which, is_live: bool) -> Learned {
    let server = snapshot.balancing.dns_server(states);
    let mut outcome = Learned::default();
    // Where questions are redirected and replies left alone, nobody asks (guide p. 98).
    let asks = snapshot.global_policy().dns.transparent_intercept != Some(Intercept::Unchanged);
    let known = if asks && server != DnsServer::Missing { &snapshot.hosts[..] } else { &[] };
    let is_due = |name: &str| which == Which::All || !states.learned.knows(name);
    if server == DnsServer::Up {
        for (place, host) in known.iter().enumerate() {
            if is_due(&host.domain_name) {
                learn_host(snapshot, states, HostId::from_index(place), is_live, &mut outcome);
            }
        }
    }
    for name in host_names(snapshot).filter(|name| is_due(name)) {
        let replies = emulated_replies(states, name);
        if replies.is_empty() && is_live {
            outcome.leave_to_real(states, name, OF_HOST_NAMES);
        } else {
            outcome.has_changed |= take_host_name(states, name, &replies);
        }
    }
    if which == Which::All || server == DnsServer::Missing {
        let names = known.iter().map(|host| &*host.domain_name).chain(host_names(snapshot));
        let names: HashSet<String> = names.map(str::to_ascii_lowercase).collect();
        outcome.has_changed |= states.learned.retain(|name| names.contains(name));
    }
    outcome
}

impl Learned {
    fn leave_to_real(&mut self, states: &States, name: &str, types: &'static [RecordType]) {
        if !states.learned.knows(name) {
            // Asked for, and not known yet.
            states.learned.learn(name, &[], 0);
        }
        self.to_ask.push((name.to_owned(), types));
    }
}

fn learn_host(
    snapshot: &Snapshot,
    states: &States,
    id: HostId,
    is_live: bool,
    outcome: &mut Learned,
) {
    let name = &snapshot.hosts[id.index()].domain_name;
    let Some(wire) = name::key_of_text(name) else { return };
    let reply = match states.dns_server.answer(&wire, RecordType::A) {
        None if is_live => return outcome.leave_to_real(states, name, OF_HOSTS),
        Some(reply) => reply,
        None => states.dns_server.answer_with(snapshot, &wire, RecordType::A),
    };
    outcome.has_changed |= take(snapshot, states, id, &wire, &reply);
}

/// Takes in what a real server said of a name to all that it was asked; whether anything is other
/// than before.
pub fn take_replies(snapshot: &Snapshot, states: &States, name: &str, replies: &[Reply]) -> bool {
    let Some(wire) = name::key_of_text(name) else { return false };
    match snapshot.lookup(&wire) {
        Some(NameEntry::Host(host)) => {
            replies.first().is_some_and(|reply| take(snapshot, states, host, &wire, reply))
        }
        _ => !replies.is_empty() && take_host_name(states, name, replies),
    }
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

/// What was said of a host name, for both families; empty: nothing.
fn emulated_replies(states: &States, name: &str) -> Vec<Reply> {
    let Some(wire) = name::key_of_text(name) else { return Vec::new() };
    OF_HOST_NAMES.iter().filter_map(|wanted| states.dns_server.answer(&wire, *wanted)).collect()
}

/// Takes in the addresses of a host name; a server that fails has said nothing of it.
fn take_host_name(states: &States, name: &str, replies: &[Reply]) -> bool {
    let is_said =
        |reply: &Reply| matches!(reply.code, ResponseCode::NoError | ResponseCode::NXDomain);
    if !replies.iter().all(is_said) {
        return false;
    }
    let mut addresses: Vec<IpAddr> = Vec::new();
    let mut ttl = u32::MAX;
    for record in replies.iter().flat_map(|reply| &reply.answers) {
        let address: IpAddr = match &record.data {
            RData::A(address) => address.0.into(),
            RData::AAAA(address) => address.0.into(),
            _ => continue,
        };
        addresses.push(address);
        ttl = ttl.min(record.ttl);
    }
    states.learned.learn(name, &addresses, ttl)
}

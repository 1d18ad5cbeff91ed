//! What becomes of a reply of the DNS server behind on its way to the client (guide p. 2, 5, 22, 31
//! to 34).
//!
//! The best address changes places with the one on top; all else stays as the server said it, but
//! for the TTL. Replies that no configured host has to do with are not touched.

use std::net::IpAddr;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{Name, RData, Record, RecordType};
use smallvec::SmallVec;

use crate::behind::reply::Reply;
use crate::dns::answer::{Answer, View};
use crate::dns::name::{self, Key};
use crate::gslb;
use crate::model::policy::Policy;
use crate::model::snapshot::{Family, Host, HostId, NameEntry, Snapshot};

/// The addresses of a reply that the policy of a host applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balanced {
    /// The host.
    pub host: HostId,
    /// The addresses, in the order of the reply.
    pub addresses: SmallVec<[IpAddr; 8]>,
    /// The least TTL of their records, seconds.
    pub ttl: u32,
    /// Where their records stand in the answer section.
    places: SmallVec<[usize; 8]>,
}

/// What the policy applies to in a reply to a question for `name`; `None`: nothing.
///
/// The records must stand at a configured name. With CNAME detection the last configured name on
/// the way from the question to them counts as well (guide p. 22).
#[must_use]
pub fn balanced(
    snapshot: &Snapshot,
    name: &[u8],
    wanted: RecordType,
    reply: &Reply,
) -> Option<Balanced> {
    if reply.code != ResponseCode::NoError || !matches!(wanted, RecordType::A | RecordType::ANY) {
        return None;
    }
    let mut owner = name::key(name);
    let mut host = host_at(snapshot, &owner);
    if snapshot.global_policy().dns.cname_detect {
        // Each record is followed once, so a loop ends.
        for _ in &reply.answers {
            let Some(target) = alias_at(&reply.answers, &owner) else { break };
            owner = name::key_of_name(target);
            host = host_at(snapshot, &owner).or(host);
        }
    }
    let mut found = Balanced {
        host: host?,
        addresses: SmallVec::new(),
        ttl: u32::MAX,
        places: SmallVec::new(),
    };
    for (place, record) in reply.answers.iter().enumerate() {
        if let RData::A(address) = &record.data
            && name::key_of_name(&record.name) == owner
        {
            found.places.push(place);
            found.addresses.push(address.0.into());
            found.ttl = found.ttl.min(record.ttl);
        }
    }
    (!found.places.is_empty()).then_some(found)
}

fn host_at(snapshot: &Snapshot, key: &Key) -> Option<HostId> {
    match snapshot.lookup(key)? {
        NameEntry::Host(host) => Some(host),
        NameEntry::EmptyNonTerminal => None,
    }
}

/// The name that another one is an alias of.
fn alias_at<'a>(records: &'a [Record], owner: &Key) -> Option<&'a Name> {
    records.iter().find_map(|record| match &record.data {
        RData::CNAME(target) if name::key_of_name(&record.name) == *owner => Some(&target.0),
        _ => None,
    })
}

/// Applies the policy of a host to a reply; the addresses have been learned before.
#[must_use]
pub fn apply(view: &View<'_>, balanced: &Balanced, mut reply: Reply) -> Answer {
    let host = &view.snapshot.hosts[balanced.host.index()];
    let best = if is_left_alone(view.snapshot, host) {
        None
    } else {
        let overrides = view.snapshot.global_policy().dns.override_;
        let offered = (!overrides).then_some(&balanced.addresses[..]);
        let View { snapshot, states, client, now, .. } = *view;
        gslb::select_for_reply(snapshot, states, host, offered, client, now).best
    };
    arrange(view.snapshot, balanced, best, &mut reply);
    Answer::relayed(reply)
}

/// Whether nothing may take the place of the addresses of a reply: with override a host needs a list
/// (guide p. 34).
#[must_use]
pub fn is_left_alone(snapshot: &Snapshot, host: &Host) -> bool {
    let has_list = || host.has_list() && host.positions(Family::V4).next().is_some();
    snapshot.global_policy().dns.override_ && !has_list()
}

/// Brings a reply into the form that the policy wants, with the best of the host's addresses.
pub fn arrange(snapshot: &Snapshot, balanced: &Balanced, best: Option<usize>, reply: &mut Reply) {
    let host = &snapshot.hosts[balanced.host.index()];
    let policy = snapshot.policy_of(host);
    if is_left_alone(snapshot, host) {
        // Only those that fail may go (guide p. 34).
        if policy.dns.active_only {
            keep_active(host, balanced, None, reply);
        }
        return;
    }
    let Some(best) = best else { return };
    let best = host.addresses[best].ip;
    if snapshot.global_policy().dns.override_ {
        put_alone(best, balanced, reply);
    } else {
        put_on_top(best, balanced, policy, host, reply);
    }
    if let Some(ttl) = policy.dns.ttl {
        for record in &mut reply.answers {
            record.ttl = ttl;
        }
    }
}

/// Override: the best address of the list in place of all that the server gave (guide p. 34).
fn put_alone(best: IpAddr, balanced: &Balanced, reply: &mut Reply) {
    let (Some(first), IpAddr::V4(best)) = (balanced.places.first(), best) else { return };
    reply.answers[*first].data = RData::A(A(best));
    retain(reply, |place| place == *first || !balanced.places.contains(&place));
}

/// The best changes places with the one on top (guide p. 2, 31).
fn put_on_top(best: IpAddr, balanced: &Balanced, policy: &Policy, host: &Host, reply: &mut Reply) {
    let (Some(first), Some(at)) =
        (balanced.places.first(), balanced.addresses.iter().position(|address| *address == best))
    else {
        return;
    };
    let other = balanced.places[at];
    if other != *first {
        let data = reply.answers[*first].data.clone();
        reply.answers[*first].data = std::mem::replace(&mut reply.answers[other].data, data);
    }
    if policy.dns.best_only {
        retain(reply, |place| place == *first || !balanced.places.contains(&place));
    } else if policy.dns.active_only {
        keep_active(host, balanced, Some(best), reply);
    }
}

/// Removes addresses that fail their checks, as long as one passes; the best always stays.
fn keep_active(host: &Host, balanced: &Balanced, best: Option<IpAddr>, reply: &mut Reply) {
    let passes = |data: &RData| {
        let RData::A(address) = data else { return true };
        let address = IpAddr::V4(address.0);
        let known = host.addresses.iter().find(|known| known.ip == address);
        known.is_none_or(|known| host.is_healthy(known))
    };
    let is_best = |data: &RData| match data {
        RData::A(address) => best == Some(IpAddr::V4(address.0)),
        _ => false,
    };
    if balanced.places.iter().any(|place| passes(&reply.answers[*place].data)) {
        let stays: Vec<bool> = reply
            .answers
            .iter()
            .enumerate()
            .map(|(place, record)| {
                !balanced.places.contains(&place) || is_best(&record.data) || passes(&record.data)
            })
            .collect();
        retain(reply, |place| stays[place]);
    }
}

fn retain(reply: &mut Reply, stays: impl Fn(usize) -> bool) {
    let mut place = 0;
    reply.answers.retain(|_| {
        place += 1;
        stays(place - 1)
    });
}

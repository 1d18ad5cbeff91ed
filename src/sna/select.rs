//! One question from beginning to end: find what stands at the name, choose a system, count it.

use std::net::IpAddr;

use crate::clock::Moment;
use crate::model::snapshot::Family;
use crate::sna::choose::choose;
use crate::sna::domain::{Named, RecordId, Resource, SnaDomain};

/// What a domain says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The address of the system that was chosen.
    Address(IpAddr),
    /// The name exists, but has nothing of the type asked for.
    NoData,
    /// There is no such name, or none for whoever asks.
    NoName,
}

/// Answers a question for a name of the domain.
///
/// `name` are the labels before the domain's name in lower-case wire form, `family` what the type
/// of the question asks for, if it asks for addresses, and `client` who asks: the DNS server of a
/// place (guide p. E-5).
///
/// Only an answer with an address counts and makes a system the last one used. A resolver that asks
/// for both families would else use up every second turn with an answer that holds nothing.
pub fn select(
    domain: &SnaDomain,
    name: &[u8],
    family: Option<Family>,
    client: IpAddr,
    now: Moment,
) -> Outcome {
    let Some((length, label)) = name.split_first() else { return Outcome::NoData };
    if usize::from(*length) != label.len() {
        // Nothing stands two labels below the domain.
        return Outcome::NoName;
    }
    let named = domain.find(label);
    let (record, resources) = match &named {
        Some(Named::Keyword) => of_record(domain, domain.record_for(client)),
        Some(Named::Record(record)) => of_record(domain, Some(*record)),
        Some(Named::Resource(resource)) => (None, std::slice::from_ref(resource)),
        None => (None, &[][..]),
    };
    let mut state = domain.tallies.lock();
    let Some(choice) = choose(domain, &state, resources) else { return Outcome::NoName };
    let system = &domain.systems[choice.system.index()];
    if family != Some(Family::of(system.address)) {
        return Outcome::NoData;
    }
    state.count(domain.arrangement, choice.system, record, choice.pass, now);
    Outcome::Address(system.address)
}

fn of_record(domain: &SnaDomain, record: Option<RecordId>) -> (Option<RecordId>, &[Resource]) {
    let resources = record.map(|record| &domain.records[record.index()].resources[..]);
    (record, resources.unwrap_or_default())
}

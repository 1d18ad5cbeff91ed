//! Commands about the choice: explaining it, clearing what persists, and the simulator of
//! round-trip times.

use std::net::Ipv4Addr;

use hickory_proto::rr::RecordType;

use crate::cli::session::Session;
use crate::config::edit::Refusal;
use crate::config::tree::Reading;
use crate::dns::answer;
use crate::grammar::link::Message;
use crate::health::prefix::Prefix;
use crate::model::hosts::wire_name;
use crate::model::snapshot::{Family, Host, NameEntry, Snapshot};
use crate::show::{self, Explained, RttSimulation};

/// Tells which address a question would get, and why.
pub(super) fn explain(session: &Session, arguments: &Reading<'_>) -> Result<String, Refusal> {
    let appliance = &session.appliance;
    let snapshot = appliance.current();
    let name = arguments.text("fqdn").unwrap_or_default();
    let Some(NameEntry::Host(host)) = snapshot.lookup(&wire_name(name)) else {
        return Err(Refusal::new(Message::NoSuchHost).with("host", name));
    };
    let host = &snapshot.hosts[host.index()];
    let record_type = arguments.number::<u16>("type").map_or(RecordType::A, RecordType::from);
    let family = match record_type {
        RecordType::A => Some(Family::V4),
        RecordType::AAAA => Some(Family::V6),
        other => answer::family(other, host),
    };
    let family = family.ok_or_else(|| {
        let reason = format!("type {record_type} is not balanced");
        Refusal::new(Message::InvalidQuestion).with("reason", reason)
    })?;
    Ok(show::explain(&Explained {
        snapshot: &snapshot,
        states: &appliance.states,
        host,
        family,
        client: arguments.address("client").unwrap_or(Ipv4Addr::LOCALHOST.into()),
        now: appliance.clock.now(),
    }))
}

/// The host that a zone and a name without the zone say.
///
/// # Errors
///
/// The zone has no such host.
pub(super) fn host_named<'a>(
    snapshot: &'a Snapshot,
    arguments: &Reading<'_>,
) -> Result<&'a Host, Refusal> {
    let name = arguments.text("host").unwrap_or_default();
    let zone = arguments.text("zone").and_then(|zone| snapshot.zone(zone));
    zone.into_iter()
        .flat_map(|zone| &zone.hosts)
        .map(|host| &*snapshot.hosts[host.index()])
        .find(|host| host.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| Refusal::new(Message::NoSuchHost).with("host", name))
}

/// Deals the buckets of a host anew (guide p. 75).
pub(super) fn clear_hash_table(
    session: &Session,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let snapshot = session.appliance.current();
    host_named(&snapshot, arguments)?.domain.lock().rehash();
    Ok(String::new())
}

/// Removes the sticky sessions of all clients, of a prefix or of one.
pub(super) fn clear_sticky_sessions(
    session: &Session,
    family: Family,
    arguments: &Reading<'_>,
) -> String {
    let client = arguments.address("client").map(|client| Prefix::new(client, u8::MAX));
    let prefix = arguments.prefix("clients").map(|(network, length)| Prefix::new(network, length));
    let clients = client.or(prefix);
    for host in &session.appliance.current().hosts {
        host.domain.lock().sticky.clear(family, clients);
    }
    String::new()
}

/// Takes a sample into the simulated round-trip time.
pub(super) fn simulate_sample(session: &mut Session, arguments: &Reading<'_>) -> String {
    let Some(simulation) = &mut session.simulation else { return String::new() };
    let snapshot = session.appliance.current();
    let parameters = snapshot.site(&simulation.site).map(|site| site.smoothing);
    let sample = arguments.number("rtt").unwrap_or(0);
    simulation.sample(sample, parameters.unwrap_or_default())
}

/// Switches the enhanced smoothing of the simulation.
pub(super) fn switch_simulated_smoothing(session: &mut Session, on: bool) -> String {
    if let Some(simulation) = &mut session.simulation {
        simulation.enhanced = on;
    }
    String::new()
}

/// Enters the simulator, whose state begins anew.
pub(super) fn simulate(session: &mut Session, arguments: &Reading<'_>) -> String {
    let site = arguments.text("site").unwrap_or_default();
    let rtt = arguments.number("rtt").unwrap_or(0);
    session.enter_simulation(RttSimulation::new(site, rtt));
    String::new()
}

//! The device itself: what it needs to answer, and what it can hold.

use crate::check::rule::{Found, Rule, Severity, Subject};
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::show::{Usage, usages};

/// The port of DNS, which a virtual server must have.
const DNS_PORT: u64 = 53;

/// A device that a resolver could not ask.
pub(in crate::check) static NO_DNS_VIP: Rule = Rule {
    name: "no-dns-vip",
    severity: Severity::Warning,
    summary: "No virtual server has a DNS port; the device itself needs one to be asked.",
    evidence: "decisions 5.1; GSLB guide p. 94",
    look: Some(no_dns_vip),
};

fn no_dns_vip(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let Some(zone) = snapshot.zones.first() else { return Vec::new() };
    let mut ports = subject.places.all(Kept::VirtualPort);
    let is_dns = |value: &Value| *value == Value::Number(DNS_PORT);
    if ports.any(|entry| entry.values.iter().any(|(_, value)| is_dns(value))) {
        return Vec::new();
    }
    let line = subject.places.line(Kept::Zone, &[&zone.name]);
    vec![Found::new(line, "zones are configured, but no virtual server for DNS")]
}

/// More than the device holds.
pub(in crate::check) static DEVICE_LIMIT: Rule = Rule {
    name: "device-limit",
    severity: Severity::Warning,
    summary: "The configuration holds more than the device can.",
    evidence: "decisions 3.7; GSLB guide p. 222",
    look: Some(device_limit),
};

fn device_limit(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let affinities = subject.places.all(Kept::AffinityPrefer).count();
    let usage = Usage { affinities, ..Usage::default() };
    let passed = usages(snapshot, &usage).into_iter().filter(|one| one.current > one.maximum);
    passed
        .map(|one| {
            let message =
                format!("{}: {}, the device holds {}", one.name, one.current, one.maximum);
            Found::new(None, message)
        })
        .collect()
}

//! Server load balancing: names that lead nowhere, and ports that nothing stands behind.

use hashbrown::HashSet;

use crate::check::rule::{Found, Rule, Severity, Subject};
use crate::config::render::port_name;
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::model::balancing::{Binding, VirtualServer};
use crate::model::snapshot::Application;

/// A binding to a server that is not there.
pub(in crate::check) static UNKNOWN_SERVER: Rule = Rule {
    name: "unknown-server",
    severity: Severity::Warning,
    summary: "A port is bound to a real server that the configuration has not.",
    evidence: "Virtual ADX SLB guide p. 49",
    look: Some(unknown_server),
};

fn unknown_server(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for server in &subject.snapshot.balancing.virtual_ {
        let mut told = HashSet::new();
        for binding in server.bindings.iter().filter(|binding| binding.real.is_none()) {
            if told.insert(&binding.name) {
                let line = binding_line(subject, server, binding);
                let message = format!("{}: there is no real server {}", server.name, binding.name);
                found.push(Found::new(line, message));
            }
        }
    }
    found
}

fn binding_line(subject: &Subject<'_>, server: &VirtualServer, binding: &Binding) -> Option<usize> {
    let is_name = |value: &Value| matches!(value, Value::Text(text) if **text == *binding.name);
    let kinds = [Kept::VirtualBind, Kept::VirtualBindRange];
    let lines = kinds
        .into_iter()
        .filter_map(|kept| subject.places.first_with(kept, &[&server.name], is_name));
    lines.min()
}

/// A health-check policy that is not there.
pub(in crate::check) static UNKNOWN_HEALTH_POLICY: Rule = Rule {
    name: "unknown-health-policy",
    severity: Severity::Warning,
    summary: "A health-check policy that is named does not exist or has no kind, so it never passes.",
    evidence: "Virtual ADX SLB guide p. 217",
    look: Some(unknown_health_policy),
};

fn unknown_health_policy(subject: &Subject<'_>) -> Vec<Found> {
    let balancing = &subject.snapshot.balancing;
    let policies = &balancing.policies;
    let mut found = Vec::new();
    for real in &balancing.real {
        for port in &real.ports {
            let Some(policy) = port.policy.as_deref().filter(|name| !policies.contains(name))
            else {
                continue;
            };
            let name = port_name(subject.grammar, port.application);
            let line = subject.places.line(Kept::RealPortHealthPolicy, &[&real.name, &name]);
            let line =
                line.or_else(|| subject.places.line(Kept::RealHttpHealthPolicy, &[&real.name]));
            let message = format!("port {name} of {}: there is no policy {policy}", real.name);
            found.push(Found::new(line, message));
        }
    }
    for policy in policies.iter() {
        if policy.kind.is_none() {
            let line = subject.places.line(Kept::HealthPolicy, &[&policy.name]);
            found.push(Found::new(line, format!("{} has no kind and never passes", policy.name)));
        }
        let names = policy.expression.iter().flat_map(|expression| &expression.names);
        for name in names.filter(|name| !policies.contains(name)) {
            let kinds = [Kept::HealthPolicyAnd, Kept::HealthPolicyOr, Kept::HealthPolicyNot];
            let mut lines =
                kinds.into_iter().filter_map(|kept| subject.places.line(kept, &[&policy.name]));
            let message = format!("{}: there is no policy {name}", policy.name);
            found.push(Found::new(lines.next(), message));
        }
    }
    found
}

/// A range of ports that is not there.
pub(in crate::check) static UNKNOWN_PORT_RANGE: Rule = Rule {
    name: "unknown-port-range",
    severity: Severity::Warning,
    summary: "A server uses a range of ports that does not exist or holds no port.",
    evidence: "Virtual ADX SLB guide p. 66",
    look: Some(unknown_port_range),
};

fn unknown_port_range(subject: &Subject<'_>) -> Vec<Found> {
    let ranges = &subject.snapshot.balancing.ranges;
    let known: HashSet<String> = ranges
        .iter()
        .filter(|range| range.ports.is_some())
        .map(|range| range.name.to_ascii_lowercase())
        .collect();
    let mut found = Vec::new();
    for kept in [Kept::RealPortRange, Kept::VirtualPortRange, Kept::VirtualBindRange] {
        for entry in subject.places.all(kept) {
            // The name of the real server stands between the two ranges of a binding.
            let names = entry.values.iter().enumerate().filter(|(place, _)| place % 2 == 0);
            for (_, (_, value)) in names {
                if let Value::Text(name) = value
                    && !known.contains(&name.to_ascii_lowercase())
                {
                    let message = format!("there are no ports in a range {name}");
                    found.push(Found::new(Some(entry.line), message));
                }
            }
        }
    }
    found
}

/// The port of DNS: a virtual server for it may stand for the device itself.
const DNS: Application = Application(53);

/// A port of a virtual server that nothing is bound to.
pub(in crate::check) static UNBOUND_PORT: Rule = Rule {
    name: "unbound-port",
    severity: Severity::Warning,
    summary: "Nothing is bound to a port of a virtual server, so a controller finds it down.",
    evidence: "decisions 8.6",
    look: Some(unbound_port),
};

fn unbound_port(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for server in &subject.snapshot.balancing.virtual_ {
        let bound: HashSet<Application> =
            server.bindings.iter().map(|binding| binding.port).collect();
        let ports = server.ports.iter().filter(|port| !port.disabled);
        let ports = ports.map(|port| port.application);
        for port in ports.filter(|port| *port != DNS && !bound.contains(port)) {
            let name = port_name(subject.grammar, port);
            let line = subject.places.line(Kept::VirtualPort, &[&server.name, &name]);
            let line = line
                .or_else(|| subject.places.first_under(Kept::VirtualPortRange, &[&server.name]));
            let message = format!("nothing is bound to port {name} of {}", server.name);
            found.push(Found::new(line, message));
        }
    }
    found
}

/// A tracked port that says nothing.
pub(in crate::check) static TRACKED_PORT_UNBOUND: Rule = Rule {
    name: "tracked-port-unbound",
    severity: Severity::Warning,
    summary: "A port of a track or track group is bound to nothing, so no other can follow it.",
    evidence: "Virtual ADX SLB guide p. 49",
    look: Some(tracked_port_unbound),
};

fn tracked_port_unbound(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for server in subject.snapshot.balancing.virtual_.iter().filter(|one| !one.tracks.is_empty()) {
        let bound: HashSet<Application> =
            server.bindings.iter().map(|binding| binding.port).collect();
        for track in &server.tracks {
            let ports = std::iter::once(&track.primary).chain(&track.ports);
            for port in ports.filter(|port| !bound.contains(*port)) {
                let kept =
                    if track.is_group { Kept::VirtualTrackGroup } else { Kept::VirtualTrack };
                let primary = port_name(subject.grammar, track.primary);
                let line = subject.places.line(kept, &[&server.name, &primary]);
                let name = port_name(subject.grammar, *port);
                let message = format!("nothing is bound to port {name} of {}", server.name);
                found.push(Found::new(line, message));
            }
        }
    }
    found
}

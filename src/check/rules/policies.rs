//! Policies: what is switched on and cannot do anything.

use crate::check::places::Places;
use crate::check::rule::{Found, Rule, Severity, Subject};
use crate::grammar::link::Kept;
use crate::model::policy::{Metric, Policy};
use crate::model::snapshot::{Host, PolicyId, Snapshot};

/// A metric that has nothing to decide on.
pub(in crate::check) static METRIC_WITHOUT_DATA: Rule = Rule {
    name: "metric-without-data",
    severity: Severity::Warning,
    summary: "A metric is switched on, but the configuration gives it nothing to decide on.",
    evidence: "GSLB guide p. 34 to 52, Table 2",
    look: Some(metric_without_data),
};

fn metric_without_data(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let mut found = Vec::new();
    for (id, policy) in policies(snapshot) {
        let hosts: Vec<&Host> =
            snapshot.hosts.iter().map(|host| &**host).filter(|host| host.policy == id).collect();
        if hosts.is_empty() {
            continue;
        }
        for metric in &policy.metrics {
            // What is on by default was not switched on by the author.
            if policy.default_order && metric.on_by_default() {
                continue;
            }
            if let Some(lack) = lack_of(*metric, snapshot, &hosts) {
                let line = metric_line(subject.places, policy, *metric);
                let name = policy_name(policy);
                found.push(Found::new(line, format!("{} of {name}: {lack}", metric.name())));
            }
        }
    }
    found
}

/// What a metric has not got, if anything.
fn lack_of(metric: Metric, snapshot: &Snapshot, hosts: &[&Host]) -> Option<&'static str> {
    let has_device = !snapshot.servers.is_empty();
    let addresses = || hosts.iter().flat_map(|host| &host.addresses);
    let (has_data, lack) = match metric {
        Metric::WeightedIp => (
            addresses().any(|address| address.weight.is_some_and(|weight| weight > 0)),
            "no address has a weight",
        ),
        Metric::WeightedSite => {
            (snapshot.sites.iter().any(|site| site.weight > 0), "no site has a weight")
        }
        Metric::Preference => {
            let first = snapshot.servers.first().map(|server| server.preference);
            let differ = snapshot.servers.iter().any(|server| Some(server.preference) != first);
            (differ, "all site devices have the same preference")
        }
        Metric::HealthCheck | Metric::Flashback => (
            hosts.iter().any(|host| !host.applications.is_empty()),
            "no host has an application that could be checked",
        ),
        Metric::Capacity
        | Metric::ActiveBindings
        | Metric::RoundTripTime
        | Metric::ConnectionLoad
        | Metric::NumSession => (has_device, "no site device is there to report"),
        // Regions come with the addresses themselves.
        Metric::Geographic => (true, ""),
    };
    (!has_data).then_some(lack)
}

/// A metric that is never asked.
pub(in crate::check) static UNREACHABLE_METRIC: Rule = Rule {
    name: "unreachable-metric",
    severity: Severity::Warning,
    summary: "The order of the metrics leaves the metric out, or one before it always decides.",
    evidence: "decisions 3.4; GSLB guide p. 38, 41",
    look: Some(unreachable_metric),
};

fn unreachable_metric(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let mut found = Vec::new();
    for (id, policy) in policies(snapshot).filter(|(_, policy)| !policy.default_order) {
        let name = policy_name(policy);
        for metric in Metric::ALL.iter().filter(|metric| !policy.metrics.contains(metric)) {
            // Only what somebody switched on: what is on by default is left out on purpose.
            let switch = switch_of(*metric, policy);
            let entry = switch.and_then(|kept| find_in(subject.places, policy, kept));
            if let Some(entry) = entry.filter(|entry| !entry.negated) {
                let message = format!("{} of {name} is not in its metric order", metric.name());
                found.push(Found::new(Some(entry.line), message));
            }
        }
        let weighs_all = snapshot.hosts.iter().filter(|host| host.policy == id).all(|host| {
            let weight = |address: &crate::model::snapshot::Address| address.weight.unwrap_or(0);
            host.addresses.iter().any(|address| weight(address) > 0)
        });
        let is_used = snapshot.hosts.iter().any(|host| host.policy == id);
        let decider = policy.metrics.iter().position(|one| *one == Metric::WeightedIp);
        if let Some(place) = decider.filter(|_| weighs_all && is_used) {
            for metric in &policy.metrics[place + 1..] {
                let line = metric_line(subject.places, policy, *metric);
                let message = format!(
                    "{} of {name} stands behind weighted-ip, which leaves more than one address \
                     only where their shares are equal",
                    metric.name()
                );
                found.push(Found::new(line, message));
            }
        }
    }
    found
}

/// Failed addresses leak.
pub(in crate::check) static ACTIVE_ONLY_WITHOUT_OVERRIDE: Rule = Rule {
    name: "active-only-without-override",
    severity: Severity::Warning,
    summary: "With an `ip-list`, `dns active-only` without `dns override` can leak a failed address.",
    evidence: "GSLB guide p. 31",
    look: Some(active_only_without_override),
};

fn active_only_without_override(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let leaks = policies(snapshot).filter(|(id, policy)| {
        policy.dns.active_only
            && !policy.dns.override_
            && snapshot.hosts.iter().any(|host| host.policy == *id && !host.addresses.is_empty())
    });
    leaks
        .map(|(_, policy)| {
            let own = match policy.name {
                Some(_) => find_in(subject.places, policy, Kept::HostDnsActiveOnly),
                None => None,
            };
            let entry = own.or_else(|| subject.places.find(Kept::DnsActiveOnly, &[]));
            let message = format!("{}: active-only without override", policy_name(policy));
            Found::new(entry.map(|entry| entry.line), message)
        })
        .collect()
}

/// A policy that no host has.
pub(in crate::check) static UNUSED_POLICY: Rule = Rule {
    name: "unused-policy",
    severity: Severity::Warning,
    summary: "No host uses the policy.",
    evidence: "GSLB guide p. 129",
    look: Some(unused_policy),
};

fn unused_policy(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let unused = policies(snapshot).filter(|(id, policy)| {
        policy.name.is_some() && !snapshot.hosts.iter().any(|host| host.policy == *id)
    });
    unused
        .map(|(_, policy)| {
            let name = policy.name.as_deref().unwrap_or_default();
            let line = subject.places.line(Kept::HostPolicy, &[&name]);
            Found::new(line, format!("no host uses the policy {name}"))
        })
        .collect()
}

fn policies(snapshot: &Snapshot) -> impl Iterator<Item = (PolicyId, &Policy)> {
    let numbered = snapshot.policies.iter().enumerate();
    numbered.map(|(place, policy)| (PolicyId::from_index(place), policy))
}

fn policy_name(policy: &Policy) -> String {
    match &policy.name {
        Some(name) => format!("the policy {name}"),
        None => "the global policy".to_owned(),
    }
}

/// A statement of the block of that policy.
fn find_in<'a>(
    places: &'a Places,
    policy: &Policy,
    kept: Kept,
) -> Option<&'a crate::check::places::Entry> {
    match &policy.name {
        Some(name) => places.find(kept, &[name]),
        None => places.find(kept, &[]),
    }
}

/// The line that puts a metric in force: its own switch, or the order that lists it.
fn metric_line(places: &Places, policy: &Policy, metric: Metric) -> Option<usize> {
    let order = if policy.name.is_some() { Kept::HostMetricOrder } else { Kept::MetricOrder };
    let own = switch_of(metric, policy).and_then(|kept| find_in(places, policy, kept));
    let order = find_in(places, policy, order);
    let inherited = || {
        let global = Policy::default();
        let switch = switch_of(metric, &global).and_then(|kept| places.find(kept, &[]));
        switch.or_else(|| places.find(Kept::MetricOrder, &[]))
    };
    let entry = if policy.default_order { own.or(order) } else { order.or(own) };
    entry.or_else(inherited).map(|entry| entry.line)
}

/// The statement that switches a metric on.
fn switch_of(metric: Metric, policy: &Policy) -> Option<Kept> {
    let host = policy.name.is_some();
    let pick = |global, own| Some(if host { own } else { global });
    match metric {
        Metric::HealthCheck => pick(Kept::HealthCheck, Kept::HostHealthCheck),
        Metric::WeightedIp => pick(Kept::WeightedIp, Kept::HostWeightedIp),
        Metric::WeightedSite => pick(Kept::WeightedSite, Kept::HostWeightedSite),
        Metric::Capacity => pick(Kept::Capacity, Kept::HostCapacity),
        Metric::ActiveBindings => pick(Kept::ActiveBindings, Kept::HostActiveBindings),
        Metric::RoundTripTime => pick(Kept::RoundTripTime, Kept::HostRoundTripTime),
        Metric::Geographic => pick(Kept::Geographic, Kept::HostGeographic),
        Metric::ConnectionLoad => pick(Kept::ConnectionLoadLimit, Kept::HostConnectionLoadLimit),
        Metric::NumSession => pick(Kept::NumSession, Kept::HostNumSession),
        Metric::Flashback => pick(Kept::Flashback, Kept::HostFlashback),
        Metric::Preference => pick(Kept::Preference, Kept::HostPreference),
    }
}

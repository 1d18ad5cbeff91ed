//! Addresses of hosts and their weights.

use crate::check::rule::{Found, Rule, Severity, Subject};
use crate::grammar::link::Kept;
use crate::model::policy::{Metric, TieBreaker};
use crate::model::snapshot::{Host, Snapshot};

/// An address that is the VIP of no site.
pub(in crate::check) static ADDRESS_IN_NO_SITE: Rule = Rule {
    name: "address-in-no-site",
    severity: Severity::Warning,
    summary: "No site device reports the address, so it has no weight, load, RTT or preference.",
    evidence: "decisions 1.10, 3.6",
    look: Some(address_in_no_site),
};

fn address_in_no_site(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let mut found = Vec::new();
    for host in &snapshot.hosts {
        for address in host.addresses.iter().filter(|address| address.owner.is_none()) {
            let zone = &snapshot.zones[host.zone.index()].name;
            let line = subject.places.line(Kept::HostAddress, &[zone, &host.name(), &address.ip]);
            let message = format!("{} of {} belongs to no site", address.ip, host.domain_name);
            found.push(Found::new(line, message));
        }
    }
    found
}

/// A host that cannot be answered.
pub(in crate::check) static HOST_WITHOUT_ADDRESSES: Rule = Rule {
    name: "host-without-addresses",
    severity: Severity::Warning,
    summary: "The host has no `ip-list`; without a DNS server behind it gets no answer.",
    evidence: "GSLB guide p. 34, 94",
    look: Some(host_without_addresses),
};

fn host_without_addresses(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let empty = snapshot.hosts.iter().filter(|host| host.addresses.is_empty());
    empty
        .map(|host| {
            let message = format!("{} has no addresses", host.domain_name);
            Found::new(host_line(subject, host), message)
        })
        .collect()
}

/// A weight that no policy looks at.
pub(in crate::check) static WEIGHT_WITHOUT_EFFECT: Rule = Rule {
    name: "weight-without-effect",
    severity: Severity::Warning,
    summary: "The weight counts only for a metric that is not in force.",
    evidence: "GSLB guide p. 40 to 44, 81",
    look: Some(weight_without_effect),
};

fn weight_without_effect(subject: &Subject<'_>) -> Vec<Found> {
    let snapshot = subject.snapshot;
    let mut found = Vec::new();
    let weighs_sites = snapshot.policies.iter().any(|policy| {
        policy.metrics.contains(&Metric::WeightedSite)
            || policy.tie_breaker == TieBreaker::WeightedRoundRobin
    });
    for site in snapshot.sites.iter().filter(|site| site.weight > 0 && !weighs_sites) {
        let line = subject.places.line(Kept::SiteWeight, &[&site.name]);
        let message = format!("weight {} of site {}: weighted-site is off", site.weight, site.name);
        found.push(Found::new(line, message));
    }
    for host in &snapshot.hosts {
        weights_of(subject, snapshot, host, &mut found);
    }
    found
}

fn weights_of(subject: &Subject<'_>, snapshot: &Snapshot, host: &Host, found: &mut Vec<Found>) {
    let policy = snapshot.policy_of(host);
    let zone = &snapshot.zones[host.zone.index()].name;
    let weighs_addresses = policy.metrics.contains(&Metric::WeightedIp);
    let weighs_hash = policy.hash.as_ref().is_some_and(|hash| hash.weighted);
    for address in &host.addresses {
        let kinds = [
            (address.weight, weighs_addresses, Kept::HostWeight, "weighted-ip is off"),
            (
                address.hash_weight,
                weighs_hash,
                Kept::HostHashWeight,
                "hash persistence is not weighted",
            ),
        ];
        for (weight, counts, kept, why) in kinds {
            if let Some(weight) = weight.filter(|_| !counts) {
                let line = subject.places.line(kept, &[zone, &host.name(), &address.ip]);
                let of = format!("weight {weight} of {}", address.ip);
                found.push(Found::new(line, format!("{of}: {why} for {}", host.domain_name)));
            }
        }
    }
}

/// The first line of a host.
fn host_line(subject: &Subject<'_>, host: &Host) -> Option<usize> {
    let zone = &subject.snapshot.zones[host.zone.index()].name;
    let keys: [&dyn std::fmt::Display; 2] = [zone, &host.name()];
    let kinds = [
        Kept::HostApplication,
        Kept::HostPolicyUse,
        Kept::HostAffinityGroup,
        Kept::HostMinActiveBindings,
    ];
    kinds.into_iter().filter_map(|kept| subject.places.first_under(kept, &keys)).min()
}

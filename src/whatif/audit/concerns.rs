//! What deserves a look.

use super::{Concern, Gravity};
use crate::health::state::Connection;
use crate::model::policy::{DEFAULT_TTL, Metric, Policy, TieBreaker};
use crate::model::snapshot::{ErrorCode, Family, Host, PolicyId, Snapshot};
use crate::whatif::subject::Started;
use crate::whatif::worker;

/// A TTL from which on a failure is felt for long, seconds.
const LONG_TTL: u32 = 300;

/// What deserves a look, by what it is about: the device, policies, hosts.
pub(super) fn concerns(started: &Started, snapshot: &Snapshot) -> Vec<Concern> {
    let mut concerns = Vec::new();
    of_device(started, snapshot, &mut concerns);
    for (place, policy) in snapshot.policies.iter().enumerate() {
        let id = PolicyId::from_index(place);
        if snapshot.hosts.iter().any(|host| host.policy == id) {
            of_policy(policy, &mut concerns);
        }
    }
    concerns
}

fn add(concerns: &mut Vec<Concern>, gravity: Gravity, about: &str, text: impl Into<String>) {
    concerns.push(Concern { gravity, about: about.to_owned(), text: text.into() });
}

fn of_device(started: &Started, snapshot: &Snapshot, concerns: &mut Vec<Concern>) {
    let about = &snapshot.device_name;
    if !snapshot.hosts.is_empty() && !worker::answers(snapshot, &started.appliance().states) {
        add(
            concerns,
            Gravity::High,
            about,
            "Hosts get no address: without cache-proxy and override a DNS server behind is needed, \
             and none is in service.",
        );
    }
    let rejected = started.appliance().configuration().rejected.len();
    if rejected > 0 {
        add(
            concerns,
            Gravity::High,
            about,
            format!("{rejected} lines of the configuration are refused and do not count."),
        );
    }
    let responder = snapshot.responder;
    if !snapshot.handles_errors() {
        add(
            concerns,
            Gravity::Medium,
            about,
            "Types that a host has no addresses of are not answered: clients that ask for both \
             families wait for a timeout.",
        );
    } else if responder.error_code == ErrorCode::NameError {
        add(
            concerns,
            Gravity::High,
            about,
            "Types that a host has no addresses of are answered NXDOMAIN, which says that the name \
             does not exist: resolvers and clients may give up its other addresses too.",
        );
    }
    for server in &snapshot.servers {
        if server.is_self || server.state.connection() == Connection::Established {
            continue;
        }
        let site = &snapshot.sites[server.site.index()].name;
        add(
            concerns,
            Gravity::High,
            about,
            format!("The site device {} of {site} does not report.", server.address),
        );
    }
    for site in snapshot.sites.iter().filter(|site| site.servers.is_empty()) {
        add(concerns, Gravity::Medium, about, format!("The site {} has no device.", site.name));
    }
}

fn of_policy(policy: &Policy, concerns: &mut Vec<Concern>) {
    let about = match &policy.name {
        Some(name) => format!("policy {name}"),
        None => "global policy".to_owned(),
    };
    match policy.metrics.iter().position(|metric| *metric == Metric::HealthCheck) {
        None => add(
            concerns,
            Gravity::High,
            &about,
            "Health checks do not take part: a failed address is chosen like any other.",
        ),
        Some(0) => {}
        Some(_) => add(
            concerns,
            Gravity::Medium,
            &about,
            "Metrics stand before the health check: they may settle on a failed address, and then \
             the list goes out as it stands although others work.",
        ),
    }
    let ttl = policy.dns.ttl.unwrap_or(DEFAULT_TTL);
    if ttl == 0 {
        add(
            concerns,
            Gravity::Medium,
            &about,
            "The TTL is 0: nothing is kept by resolvers, and every question of a client comes here.",
        );
    } else if ttl > LONG_TTL {
        add(
            concerns,
            Gravity::Medium,
            &about,
            format!(
                "The TTL is {ttl} s: for so long clients may go on using an address that failed."
            ),
        );
    }
    if !policy.dns.active_only && !policy.dns.best_only {
        add(
            concerns,
            Gravity::Low,
            &about,
            "Failed addresses stay in the reply behind the best one; a client or resolver that takes \
             another order uses them.",
        );
    }
    if policy.tie_breaker == TieBreaker::LeastResponse {
        add(
            concerns,
            Gravity::Low,
            &about,
            "Least response: an address that is added or has recovered gets every question until its \
             count has caught up with the others.",
        );
    }
}

/// What concerns one host.
pub(super) fn of_host(
    started: &Started,
    snapshot: &Snapshot,
    host: &Host,
    concerns: &mut Vec<Concern>,
) {
    let about = &host.domain_name;
    let policy = snapshot.policy_of(host);
    if host.addresses.is_empty() {
        add(concerns, Gravity::High, about, "It has no addresses: it is never answered with one.");
        return;
    }
    let down = host.addresses.iter().filter(|address| !host.is_healthy(address)).count();
    if down == host.addresses.len() {
        add(
            concerns,
            Gravity::High,
            about,
            "All addresses fail their checks: the list goes out as it stands.",
        );
    } else if down > 0 {
        let all = host.addresses.len();
        add(
            concerns,
            Gravity::Medium,
            about,
            format!("{down} of {all} addresses fail their checks."),
        );
    }
    if host.applications.is_empty() {
        add(
            concerns,
            Gravity::High,
            about,
            "No application is checked, so every address counts as healthy for ever.",
        );
    }
    for (family, name) in [(Family::V4, "IPv4"), (Family::V6, "IPv6")] {
        match host.positions(family).count() {
            1 => add(
                concerns,
                Gravity::Medium,
                about,
                format!(
                    "It has one {name} address: there is nothing to choose, and nothing is left if it fails."
                ),
            ),
            _ => starved(started, snapshot, host, family, concerns),
        }
    }
    let homeless = host.addresses.iter().filter(|address| address.owner.is_none()).count();
    if homeless > 0 && !snapshot.sites.is_empty() {
        add(
            concerns,
            Gravity::Medium,
            about,
            format!(
                "{homeless} of its addresses belong to no site: they have no weight of a site, no \
                 round-trip time, no load and no preference."
            ),
        );
    }
    if policy.name.is_some() && policy.dns.ttl == Some(DEFAULT_TTL) {
        let global = snapshot.global_policy().dns.ttl;
        if global != Some(DEFAULT_TTL) {
            add(
                concerns,
                Gravity::Low,
                about,
                format!(
                    "Its policy does not take over the global TTL: its answers have {DEFAULT_TTL} s."
                ),
            );
        }
    }
}

/// Healthy addresses that are never chosen by anybody, while others are.
fn starved(
    started: &Started,
    snapshot: &Snapshot,
    host: &Host,
    family: Family,
    concerns: &mut Vec<Concern>,
) {
    let policy = snapshot.policy_of(host);
    let is_weighed = [Metric::WeightedIp, Metric::WeightedSite]
        .iter()
        .any(|metric| policy.metrics.contains(metric));
    if !is_weighed {
        return;
    }
    let pool = started.pool(snapshot, host, family, std::net::Ipv4Addr::LOCALHOST.into());
    let chosen: Vec<usize> = pool.positions().collect();
    let weight = |position: usize| {
        let address = &host.addresses[position];
        if policy.metrics.contains(&Metric::WeightedIp) {
            address.weight.unwrap_or(0)
        } else {
            snapshot.site_of(address).map_or(0, |site| site.weight)
        }
    };
    let unweighted: Vec<String> = host
        .positions(family)
        .filter(|position| !chosen.contains(position) && weight(*position) == 0)
        .map(|position| host.addresses[position].ip.to_string())
        .collect();
    if !chosen.is_empty() && !unweighted.is_empty() {
        add(
            concerns,
            Gravity::Medium,
            &host.domain_name,
            format!(
                "{} never chosen: without a weight, while others have one.",
                match &unweighted[..] {
                    [one] => format!("{one} is"),
                    several => format!("{} are", several.join(", ")),
                }
            ),
        );
    }
}

//! Metrics in force that cannot decide anything for a host, because nothing feeds them or because
//! another one always decides before.

use std::net::IpAddr;

use super::Step;
use crate::gslb::metric;
use crate::gslb::regions::region_of_address;
use crate::health::state::{Connection, Delays, ServerState};
use crate::model::policy::{Metric, Policy};
use crate::model::snapshot::{Address, Family, Host, Snapshot};
use crate::whatif::subject::Started;

/// Metrics that cannot decide, each with the reason.
pub(super) fn idle(started: &Started, snapshot: &Snapshot, host: &Host) -> Vec<Step> {
    let policy = snapshot.policy_of(host);
    let mut idle = Vec::new();
    let mut decider: Option<Metric> = None;
    for &metric in &policy.metrics {
        let lack = if host.addresses.len() < 2 && metric != Metric::HealthCheck {
            Some("there is nothing to choose between".to_owned())
        } else if let Some(decider) = decider.filter(|_| metric != Metric::HealthCheck) {
            Some(format!("{} stands before it and leaves only equals", decider.name()))
        } else {
            lack_of(metric, started, snapshot, policy, host)
        };
        if let Some(words) = lack {
            idle.push(Step { rule: metric.name(), words });
        } else if deals(metric, policy) {
            decider = Some(metric);
        }
    }
    idle
}

/// Whether a metric deals questions out, so that what stands behind it sees only equals.
const fn deals(metric: Metric, policy: &Policy) -> bool {
    match metric {
        Metric::WeightedIp | Metric::WeightedSite => true,
        Metric::ActiveBindings => policy.weighted_selection,
        Metric::HealthCheck
        | Metric::Capacity
        | Metric::RoundTripTime
        | Metric::Geographic
        | Metric::ConnectionLoad
        | Metric::NumSession
        | Metric::Flashback
        | Metric::Preference => false,
    }
}

fn lack_of(
    metric: Metric,
    started: &Started,
    snapshot: &Snapshot,
    policy: &Policy,
    host: &Host,
) -> Option<String> {
    let addresses = &host.addresses;
    let reported: Vec<&ServerState> =
        addresses.iter().filter_map(|address| reporting(snapshot, address)).collect();
    let no_device = || reported.is_empty().then(|| "no site device reports any address".to_owned());
    let same = |what: &str| Some(format!("all addresses have {what}"));
    match metric {
        Metric::HealthCheck => {
            host.applications.is_empty().then(|| "no application of the host is checked".to_owned())
        }
        Metric::WeightedIp => {
            let weight = |address: &Address| address.weight.unwrap_or(0);
            if addresses.iter().all(|one| weight(one) == 0) { same("no weight") } else { None }
        }
        Metric::WeightedSite => {
            let weight = |one: &Address| snapshot.site_of(one).map_or(0, |site| site.weight);
            if addresses.iter().all(|one| weight(one) == 0) {
                same("no site with a weight")
            } else {
                None
            }
        }
        Metric::Capacity => no_device(),
        Metric::ActiveBindings => {
            let counts = addresses.iter().map(|one| metric::active_bindings(snapshot, host, one));
            if are_equal(counts) { same("the same active bindings now") } else { None }
        }
        Metric::RoundTripTime => {
            if host.positions(Family::V4).next().is_none() {
                return Some("it does not look at questions for IPv6".to_owned());
            }
            let devices: Vec<IpAddr> = addresses
                .iter()
                .filter_map(|one| snapshot.owner_of(one))
                .map(|device| device.address)
                .collect();
            let known = started.appliance().states.prefixes.knows_any(&devices);
            no_device().or_else(|| {
                (!known).then(|| "no round-trip time to any of its sites is known".to_owned())
            })
        }
        Metric::Geographic => {
            let region = |one: &Address| region_of_address(snapshot, one);
            if are_equal(addresses.iter().map(region)) {
                let name = addresses.first().map_or("", |one| region(one).display());
                same(&format!("the region {name}"))
            } else {
                None
            }
        }
        Metric::ConnectionLoad => match policy.connection_load.limit {
            None => Some("no limit is configured".to_owned()),
            Some(_) => no_device().or_else(|| {
                let average =
                    |state: &&ServerState| state.load().average(&policy.connection_load).is_some();
                (!reported.iter().any(average))
                    .then(|| "no site device has reported a complete sample".to_owned())
            }),
        },
        Metric::NumSession => no_device().or_else(|| {
            let free = reported.iter().map(|state| state.sessions().available());
            let all_report = reported.len() == addresses.len();
            if all_report && are_equal(free) { same("the same free sessions now") } else { None }
        }),
        Metric::Flashback => {
            let delays = addresses.iter().map(|one| one.state.delays());
            if delays.clone().all(|one| one == Delays::default()) {
                Some("no delay of a health check was measured".to_owned())
            } else if are_equal(delays) {
                same("the same delays now")
            } else {
                None
            }
        }
        Metric::Preference => {
            let preference = |one: &Address| snapshot.owner_of(one).map(|device| device.preference);
            if are_equal(addresses.iter().map(preference)) {
                same("the same preference")
            } else {
                None
            }
        }
    }
}

/// The state of the device that reports an address, while its reports arrive.
fn reporting<'a>(snapshot: &'a Snapshot, address: &Address) -> Option<&'a ServerState> {
    let device = snapshot.owner_of(address)?;
    (device.state.connection() == Connection::Established).then_some(&*device.state)
}

fn are_equal<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let Some(first) = values.next() else { return true };
    values.all(|value| value == first)
}

//! A policy in words: what each step does, and what becomes of replies.

use super::Step;
use crate::dns::answer::response_code;
use crate::dns::client::code_name;
use crate::gslb::domain::Decision;
use crate::health::state::States;
use crate::model::policy::{Metric, Policy, RttSource, TieBreaker};
use crate::model::snapshot::{Family, Host, Snapshot};
use crate::show::percentage;
use crate::whatif::subject::Started;
use crate::whatif::worker;

/// What decides, in order.
pub(super) fn steps(policy: &Policy) -> Vec<Step> {
    let metrics = policy
        .metrics
        .iter()
        .map(|metric| Step { rule: metric.name(), words: metric_words(policy, *metric) });
    let last = Step {
        rule: Decision::from(policy.tie_breaker).name(),
        words: tie_breaker_words(policy.tie_breaker).to_owned(),
    };
    metrics.chain([last]).collect()
}

fn metric_words(policy: &Policy, metric: Metric) -> String {
    match metric {
        Metric::HealthCheck => {
            "addresses that fail a health check drop out; if all fail, the list goes out as it stands"
                .to_owned()
        }
        Metric::WeightedIp => {
            "questions are dealt out in proportion to the weights of the addresses; an address \
             without a weight gets none while another one has one"
                .to_owned()
        }
        Metric::WeightedSite => {
            "questions are dealt out in proportion to the weights of the sites, each shared by the \
             addresses of the site; an address of no site gets none while a site has a weight"
                .to_owned()
        }
        Metric::Capacity => format!(
            "addresses drop out whose device uses {} % of its session table or more",
            policy.capacity_threshold
        ),
        Metric::ActiveBindings if policy.weighted_selection => {
            "questions are dealt out in proportion to the active bindings of the addresses".to_owned()
        }
        Metric::ActiveBindings => "the addresses with the most active bindings stay".to_owned(),
        Metric::RoundTripTime => format!(
            "the addresses whose device is nearest to the client stay, and those farther by at most \
             {} %; {} % of the questions of each client prefix skip this; {}",
            policy.rtt.tolerance,
            policy.rtt.explore_percentage,
            match policy.rtt.source {
                RttSource::PassiveOnly => "only times seen in passing count",
                RttSource::ActiveOnly => "only times that were probed count",
                RttSource::ActiveAndPassive => "times that were probed count before those seen in passing",
            }
        ),
        Metric::Geographic => "the addresses in the region of the client stay, if there are any".to_owned(),
        Metric::ConnectionLoad => match policy.connection_load.limit {
            Some(limit) => format!(
                "addresses drop out whose device has more than {limit} new connections a second, as \
                 the mean of {} samples of {} s",
                policy.connection_load.intervals, policy.connection_load.sampling_rate
            ),
            None => "nothing drops out, since no limit is configured".to_owned(),
        },
        Metric::NumSession => format!(
            "the addresses whose device has the most free sessions stay, and those with fewer by at \
             most {} %",
            policy.session_tolerance
        ),
        Metric::Flashback => format!(
            "the addresses that answer health checks fastest stay, and those slower by at most {} % \
             (application) and {} % (TCP)",
            policy.flashback_application_tolerance, policy.flashback_tcp_tolerance
        ),
        Metric::Preference => {
            "the addresses whose device has the highest preference stay; those of preference 0 never \
             do"
            .to_owned()
        }
    }
}

const fn tie_breaker_words(tie_breaker: TieBreaker) -> &'static str {
    match tie_breaker {
        TieBreaker::LeastResponse => {
            "of the addresses that are left, the one that was chosen least often; one that is new or \
             has recovered gets everything until it has caught up"
        }
        TieBreaker::RoundRobin => "the addresses that are left take turns",
        TieBreaker::WeightedRoundRobin => {
            "the sites of the addresses that are left take turns in proportion to their weights"
        }
    }
}

/// How replies are changed, and what binds clients.
pub(super) fn replies(policy: &Policy) -> Vec<String> {
    let dns = &policy.dns;
    let mut words = Vec::new();
    words.push(match (dns.best_only, dns.active_only) {
        (true, _) => "Only the best address is in the reply.".to_owned(),
        (false, true) => {
            "The best address comes first; addresses that fail a check are left out, as long as one \
             passes."
                .to_owned()
        }
        (false, false) => {
            "The best address comes first; all others follow, also those that fail a check.".to_owned()
        }
    });
    if dns.ttl.is_none() {
        words.push("TTLs are not rewritten.".to_owned());
    }
    if let Some(hash) = &policy.hash {
        words.push(format!(
            "Clients are bound by a hash of the first {} bits of their address{}.",
            hash.prefix_length,
            if hash.weighted { ", in proportion to the hash weights" } else { "" }
        ));
        words.push(match hash.rehash_disabled {
            Some(seconds) => format!(
                "A new or recovered address gets no clients until the table is dealt anew by hand; a \
                 failed one keeps its own for {seconds} s, in which the metrics decide for them."
            ),
            None => "A new or recovered address deals the table anew: clients move.".to_owned(),
        });
    }
    if let Some(sticky) = &policy.sticky {
        words.push(format!(
            "Clients of a /{} (IPv6: /{}) get the same address again until they have not asked for \
             {} minutes.",
            sticky.prefix_length, sticky.ipv6_prefix_length, sticky.age_minutes
        ));
    }
    words
}

/// Who gets what, in one sentence.
pub(super) fn summary(started: &Started, snapshot: &Snapshot, host: &Host) -> String {
    if host.addresses.is_empty() {
        return "It has no addresses, so it gets no answer.".to_owned();
    }
    if !worker::answers(snapshot, &started.appliance().states) {
        return "It gets no address: the appliance does not answer by itself, and no DNS server \
                behind is in service."
            .to_owned();
    }
    let mut parts = Vec::new();
    for (family, name) in [(Family::V4, "A"), (Family::V6, "AAAA")] {
        if host.positions(family).next().is_none() {
            continue;
        }
        let pool = started.pool(snapshot, host, family, std::net::Ipv4Addr::LOCALHOST.into());
        let shares: Vec<String> = pool
            .shares()
            .map(|(position, share)| {
                format!("{} {}", host.addresses[position].ip, percentage(share))
            })
            .collect();
        parts.push(if shares.is_empty() {
            format!("{name}: no best address, the whole list goes out as it stands")
        } else {
            format!("{name}: {}", shares.join(", "))
        });
    }
    format!("A client of which nothing is known gets, in the long run, {}.", parts.join("; "))
}

/// How the appliance answers what no policy decides.
pub(super) fn answers(snapshot: &Snapshot, states: &States) -> Vec<String> {
    let responder = snapshot.responder;
    let mut words = Vec::new();
    if !worker::answers(snapshot, states) {
        words.push(
            "Configured hosts: no address, because the appliance answers by itself only in cache-proxy \
             mode with override, and no DNS server behind is in service."
                .to_owned(),
        );
    }
    words.push(if snapshot.handles_errors() {
        format!(
            "A type that a host has no addresses of (AAAA of a host with IPv4 only, MX, TXT): {} \
             without records and without an SOA record. Resolvers do not keep such an answer, and \
             ask again every time.",
            code_name(response_code(responder.error_code))
        )
    } else {
        "A type that a host has no addresses of is not answered at all: clients wait for a timeout."
            .to_owned()
    });
    words.push(
        "ANY is answered as A, or as AAAA by a host that has IPv6 addresses only.".to_owned(),
    );
    words.push(
        "Names above a configured host: NOERROR without records. The zone's own name and all other \
         names: REFUSED."
            .to_owned(),
    );
    words.push(
        "All addresses of a host fail: the reply is the list as it stands (fail-open), and clients \
         get addresses that do not work."
            .to_owned(),
    );
    words.push(
        "A list holds addresses only: a CNAME of another name cannot be weighted or checked."
            .to_owned(),
    );
    words.push(
        "Shares are those of the answers. Resolvers keep an answer for its TTL and many clients share \
         a resolver, so traffic can look otherwise; `adxemu simulate --resolvers N --cache` shows both."
            .to_owned(),
    );
    words
}

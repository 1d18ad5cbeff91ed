//! `show gslb policy` and `show gslb default` (guide p. 75, 92, 175, 234): the policy in force and
//! the built-in one.

use super::page::Page;
use super::{PRODUCT_WORD, switch};
use crate::model::policy::{DEFAULT_TTL, Metric, Policy, RttSource, TieBreaker};
use crate::model::snapshot::Snapshot;

/// `show gslb policy` (guide p. 75): the global policy in force.
pub fn global_policy(snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    print_policy(&mut page, snapshot.global_policy());
    page.finish()
}

/// `show gslb default` (guide p. 175): a fixed text.
///
/// It lists FlashBack as the sixth metric, although FlashBack is off by default: it is the text of
/// an older software (decisions 1.9).
pub fn default_policy() -> String {
    format!(
        "\
Default metric order: ENABLE
Metric processing order:
1-Server health check
2-Remote {PRODUCT_WORD}'s session capacity threshold
3-Round trip time between remote {PRODUCT_WORD} and client
4-Geographic location
5-Remote {PRODUCT_WORD}'s available session capacity
6-Server flashback speed
7-Least response selection

DNS active-only: DISABLE  DNS best-only: DISABLE  DNS override: DISABLE
Modify DNS response TTL: ENABLE
DNS TTL: 10 (sec), DNS check interval: 30 (sec)
Remote {PRODUCT_WORD} status update period: 30 (sec)
Session capacity threshold: 90%, session capacity tolerance: 10%
Round trip time tolerance: 10%, round trip time explore percentage: 5%
Round trip time cache prefix: 20, round trip time cache interval: 120 (sec)
Flashback appl-level delay tolerance: 10%, TCP-level delay tolerance: 10%
"
    )
}

/// Prints a policy in its long form (guide p. 75), a host-level policy without the lines that only
/// the global policy has.
///
/// Punctuation and missing blanks and units are those of the page. The lines for FlashBack and for
/// the parameters of connection load are ours and stand only where they say something.
pub(super) fn print_policy(page: &mut Page, policy: &Policy) {
    print_order(page, policy);
    print_dns(page, policy);
    print_parameters(page, policy);
}

fn print_order(page: &mut Page, policy: &Policy) {
    page.line(format!("Default metric order: {}", switch(policy.default_order)));
    page.line("Metric processing order:");
    let metrics = policy.metrics.iter().map(|metric| metric_words(*metric));
    let words = metrics.chain([tie_breaker_words(policy.tie_breaker).to_owned()]);
    for (number, words) in (1..).zip(words) {
        page.line(format!("{number}-{words}"));
    }
}

fn print_dns(page: &mut Page, policy: &Policy) {
    let dns = &policy.dns;
    let active_only = format!("DNS active-only: {}", switch(dns.active_only));
    let best_only = format!("DNS best-only: {}", switch(dns.best_only));
    let modify = format!("Modify DNS response TTL: {}", switch(dns.ttl.is_some()));
    let ttl = format!("DNS TTL: {} (sec)", dns.ttl.unwrap_or(DEFAULT_TTL));
    if policy.name.is_some() {
        page.line(format!("{active_only}  {best_only}"));
        page.line(modify);
        page.line(ttl);
        return;
    }
    page.line(format!("{active_only}  {best_only}  DNS override: {}", switch(dns.override_)));
    page.line(format!(
        "DNS cache-proxy: {}  DNS transparent-intercept: {}",
        switch(dns.cache_proxy),
        switch(dns.transparent_intercept.is_some())
    ));
    page.line(format!("DNS cname-detect: {}  {modify}", switch(dns.cname_detect)));
    page.line(format!("{ttl}, DNS check interval: {} (sec)", dns.check_interval));
    page.line(format!(
        "Remote {PRODUCT_WORD} status update period: {} (sec)",
        policy.status_interval
    ));
    page.line(format!(
        "Remote {PRODUCT_WORD} health-status update period: {HEALTH_STATUS_INTERVAL} (sec)"
    ));
}

/// Period of the health reports of the sites, seconds (guide p. 75); no command changes it.
const HEALTH_STATUS_INTERVAL: u32 = 5;

fn print_parameters(page: &mut Page, policy: &Policy) {
    let uses = |metric: Metric| policy.metrics.contains(&metric);
    let rtt = &policy.rtt;
    page.line(format!(
        "Session capacity threshold: {}%  Session availability tolerance: {}%",
        policy.capacity_threshold, policy.session_tolerance
    ));
    page.line(format!(
        "Round trip time tolerance: {}%, round trip time explore percentage:{}%",
        rtt.tolerance, rtt.explore_percentage
    ));
    page.line(format!(
        "Round trip time cache prefix: {}, round trip time cache interval: {}",
        rtt.cache_prefix, rtt.cache_interval
    ));
    page.line("Round trip time cache age refresh: DISABLE");
    page.line(format!("Round trip time algorithm selection: {}", rtt_source_words(rtt.source)));
    if uses(Metric::Flashback) {
        page.line(format!(
            "Flashback appl-level delay tolerance: {}%, TCP-level delay tolerance: {}%",
            policy.flashback_application_tolerance, policy.flashback_tcp_tolerance
        ));
    }
    print_connection_load(page, policy);
    page.line(format!(
        "Weighted Site Metric: {}  Weighted IP Metric: {}",
        switch(uses(Metric::WeightedSite)),
        switch(uses(Metric::WeightedIp))
    ));
    page.line(format!("Active Bindings Metric: {}", switch(uses(Metric::ActiveBindings))));
    page.line(format!("persistent hashing: {}", switch(policy.hash.is_some())));
}

fn print_connection_load(page: &mut Page, policy: &Policy) {
    let load = &policy.connection_load;
    let used = policy.metrics.contains(&Metric::ConnectionLoad);
    page.line(format!("Connection load: {}", switch(used)));
    let Some(limit) = load.limit else { return };
    page.line(format!(
        "Connection load limit: {limit}, intervals: {}, sampling rate: {} (sec)",
        load.intervals, load.sampling_rate
    ));
    if !load.weights.is_empty() {
        let weights: Vec<String> = load.weights.iter().map(u8::to_string).collect();
        page.line(format!("Connection load weights: {}", weights.join(" ")));
    }
}

/// A metric in the list of the processing order. The guide shows the words for the metrics that are
/// on by default (p. 175); the others are ours.
fn metric_words(metric: Metric) -> String {
    match metric {
        Metric::HealthCheck => "Server health check".to_owned(),
        Metric::WeightedIp => "Weighted IP metric".to_owned(),
        Metric::WeightedSite => "Weighted site metric".to_owned(),
        Metric::Capacity => format!("Remote {PRODUCT_WORD}'s session capacity threshold"),
        Metric::ActiveBindings => "Active bindings metric".to_owned(),
        Metric::RoundTripTime => {
            format!("Round trip time between remote {PRODUCT_WORD} and client")
        }
        Metric::Geographic => "Geographic location".to_owned(),
        Metric::ConnectionLoad => format!("Remote {PRODUCT_WORD}'s connection load"),
        Metric::NumSession => format!("Remote {PRODUCT_WORD}'s available session capacity"),
        Metric::Flashback => "Server flashback speed".to_owned(),
        Metric::Preference => format!("Remote {PRODUCT_WORD}'s preference"),
    }
}

/// The last line of the list (guide p. 75, 175).
const fn tie_breaker_words(tie_breaker: TieBreaker) -> &'static str {
    match tie_breaker {
        TieBreaker::LeastResponse => "Least response selection",
        TieBreaker::RoundRobin => "Round-robin selection",
        TieBreaker::WeightedRoundRobin => "Weighted round-robin selection",
    }
}

/// The guide shows the first (p. 75); the others are ours.
const fn rtt_source_words(source: RttSource) -> &'static str {
    match source {
        RttSource::PassiveOnly => "USE PASSIVE ONLY",
        RttSource::ActiveOnly => "USE ACTIVE ONLY",
        RttSource::ActiveAndPassive => "USE ACTIVE AND PASSIVE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::policy::{ConnectionLoad, HashPersistence};

    fn shown(policy: Policy) -> String {
        let mut snapshot = Snapshot::empty("ServerIronADX");
        snapshot.policies[0] = policy;
        assert_eq!(global_policy(&snapshot), global_policy(&snapshot), "two reads are identical");
        global_policy(&snapshot)
    }

    #[test]
    fn the_sample_of_the_guide() {
        let policy = Policy {
            tie_breaker: TieBreaker::RoundRobin,
            hash: Some(HashPersistence::default()),
            ..Policy::default()
        };
        let expected = "\
Default metric order: ENABLE
Metric processing order:
1-Server health check
2-Remote ServerIronADX's session capacity threshold
3-Round trip time between remote ServerIronADX and client
4-Geographic location
5-Remote ServerIronADX's available session capacity
6-Round-robin selection
DNS active-only: DISABLE  DNS best-only: DISABLE  DNS override: DISABLE
DNS cache-proxy: DISABLE  DNS transparent-intercept: DISABLE
DNS cname-detect: DISABLE  Modify DNS response TTL: ENABLE
DNS TTL: 10 (sec), DNS check interval: 30 (sec)
Remote ServerIronADX status update period: 30 (sec)
Remote ServerIronADX health-status update period: 5 (sec)
Session capacity threshold: 90%  Session availability tolerance: 10%
Round trip time tolerance: 10%, round trip time explore percentage:5%
Round trip time cache prefix: 20, round trip time cache interval: 120
Round trip time cache age refresh: DISABLE
Round trip time algorithm selection: USE PASSIVE ONLY
Connection load: DISABLE
Weighted Site Metric: DISABLE  Weighted IP Metric: DISABLE
Active Bindings Metric: DISABLE
persistent hashing: ENABLE
";
        assert_eq!(shown(policy), expected);
    }

    #[test]
    fn the_order_in_force_with_every_metric() {
        let policy = Policy {
            metrics: Metric::ALL.to_vec(),
            default_order: false,
            tie_breaker: TieBreaker::WeightedRoundRobin,
            ..Policy::default()
        };
        let text = shown(policy);
        let expected = "\
Default metric order: DISABLE
Metric processing order:
1-Server health check
2-Weighted IP metric
3-Weighted site metric
4-Remote ServerIronADX's session capacity threshold
5-Active bindings metric
6-Round trip time between remote ServerIronADX and client
7-Geographic location
8-Remote ServerIronADX's connection load
9-Remote ServerIronADX's available session capacity
10-Server flashback speed
11-Remote ServerIronADX's preference
12-Weighted round-robin selection
DNS active-only: DISABLE";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("\nFlashback appl-level delay tolerance: 10%, TCP-level delay tol"));
        assert!(text.contains("\nWeighted Site Metric: ENABLE  Weighted IP Metric: ENABLE\n"));
        assert!(text.contains("\nActive Bindings Metric: ENABLE\n"));
        assert!(text.ends_with("\npersistent hashing: DISABLE\n"));
    }

    #[test]
    fn a_list_without_metrics_has_its_tie_breaker() {
        let policy = Policy { metrics: Vec::new(), ..Policy::default() };
        assert!(shown(policy).contains("order:\n1-Least response selection\nDNS active-only"));
    }

    #[test]
    fn changed_values_are_shown() {
        let mut policy = Policy::default();
        policy.dns.cache_proxy = true;
        policy.dns.override_ = true;
        policy.dns.ttl = Some(45);
        policy.dns.check_interval = 50;
        policy.status_interval = 10;
        policy.capacity_threshold = 99;
        policy.rtt.source = RttSource::ActiveAndPassive;
        policy.metrics.push(Metric::ConnectionLoad);
        policy.connection_load = ConnectionLoad {
            limit: Some(500),
            intervals: 6,
            weights: vec![1, 0, 3],
            ..ConnectionLoad::default()
        };
        let text = shown(policy.clone());
        for line in [
            "DNS active-only: DISABLE  DNS best-only: DISABLE  DNS override: ENABLE",
            "DNS cache-proxy: ENABLE  DNS transparent-intercept: DISABLE",
            "DNS TTL: 45 (sec), DNS check interval: 50 (sec)",
            "Remote ServerIronADX status update period: 10 (sec)",
            "Session capacity threshold: 99%  Session availability tolerance: 10%",
            "Round trip time algorithm selection: USE ACTIVE AND PASSIVE",
            "Connection load: ENABLE",
            "Connection load limit: 500, intervals: 6, sampling rate: 5 (sec)",
            "Connection load weights: 1 0 3",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }

        policy.dns.ttl = None;
        let text = shown(policy);
        assert!(text.contains("DNS cname-detect: DISABLE  Modify DNS response TTL: DISABLE\n"));
        assert!(text.contains("\nDNS TTL: 10 (sec), DNS check interval: 50 (sec)\n"));
    }

    #[test]
    fn the_fixed_text_agrees_with_the_built_in_policy() {
        let fixed = default_policy();
        let built_in = shown(Policy::default());
        let list = |text: &str| -> Vec<String> {
            let metrics = text.lines().skip(2).take_while(|line| line.as_bytes()[1] == b'-');
            metrics.map(|line| line[2..].to_owned()).collect()
        };
        assert_eq!(fixed.lines().nth(7), Some("6-Server flashback speed"));
        assert_eq!(fixed.lines().nth(9), Some(""));
        assert_eq!(fixed.lines().count(), 18);
        let mut without_flashback: Vec<String> =
            fixed.lines().take(9).skip(2).map(|line| line[2..].to_owned()).collect();
        without_flashback.retain(|words| words != "Server flashback speed");
        assert_eq!(list(&built_in), without_flashback);
    }
}

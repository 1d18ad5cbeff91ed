//! `show gslb dns detail` (guide p. 76, 91): the hosts with their addresses, and below each address
//! what its site device reports and what decided for it.

use super::dns_view::{AddressView, print_zones};
use super::page::Page;
use super::{DEVICE_WORD, facts};
use crate::gslb::domain::{Decision, Tally};
use crate::gslb::metric::active_bindings;
use crate::model::policy::Metric;
use crate::model::snapshot::{Host, SiteServer, Snapshot};

/// `show gslb dns detail [<zone>]` (guide p. 91); `None` if there is no zone of that name.
///
/// The lines of a site device stand below its VIPs only. Below every address stand its weight, if
/// the policy of the host uses the weights of addresses, and what decided for it, if anything did.
pub fn dns_detail(snapshot: &Snapshot, zone: Option<&str>) -> Option<String> {
    print_zones(snapshot, zone, |page, host, address| {
        print_details(page, snapshot, host, address);
    })
}

const INDENT: usize = 4;

fn print_details(page: &mut Page, snapshot: &Snapshot, host: &Host, view: &AddressView) {
    let mut line = |text: String| page.indented(INDENT, &text);
    let owner = snapshot.owner_of(view.address);
    if let Some(server) = owner {
        let site = &snapshot.sites[server.site.index()];
        line(format!("Active Bindings: {}", active_bindings(snapshot, host, view.address)));
        line(format!(
            "site: {}, weight: {}, {DEVICE_WORD}: {}",
            site.name, site.weight, server.address
        ));
        line(session_line(server));
        line(format!("preference: {}", server.preference));
    }
    if snapshot.policy_of(host).metrics.contains(&Metric::WeightedIp) {
        line(format!("IP weight: {}", view.address.weight.unwrap_or(0)));
    }
    let metrics = metric_counts(&view.tally);
    if owner.is_some() || !metrics.is_empty() {
        line("Metric counter (count [selection-metric]):".to_owned());
        let none = metrics.is_empty();
        line(if none { "No metric count yet".to_owned() } else { metrics.join(", ") });
    }
    for (decision, text) in OWN_LINES {
        let count = view.tally.by(decision);
        if count > 0 {
            line(format!("{text}{count}"));
        }
    }
}

/// The decisions that are no metrics and have a line of their own (guide p. 76, 91; the blanks
/// around the signs are those of the pages). The line for sticky persistence is ours.
const OWN_LINES: [(Decision, &str); 3] = [
    (Decision::Affinity, "Affinity selection count = "),
    (Decision::HashPersistence, "persistent hash selection count ="),
    (Decision::Sticky, "Sticky selection count = "),
];

/// The metrics that decided for an address, in metric order, as `count[metric]`.
fn metric_counts(tally: &Tally) -> Vec<String> {
    let is_metric = |decision: &Decision| OWN_LINES.iter().all(|(own, _)| own != decision);
    Decision::ALL
        .iter()
        .copied()
        .filter(is_metric)
        .filter(|decision| tally.by(*decision) > 0)
        .map(|decision| format!("{}[{}]", tally.by(decision), decision.name()))
        .collect()
}

/// The use of the session table, unless the device has stopped reporting it (decisions 3.6).
fn session_line(server: &SiteServer) -> String {
    match facts::sessions(server) {
        Some(sessions) => format!(
            "session util: {}%, avail. sessions: {}",
            sessions.utilisation(),
            sessions.available()
        ),
        None => "session util: --, avail. sessions: --".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::domain::Decision::{
        Affinity, HashPersistence, HealthCheck, LeastResponse, RoundRobin, Sticky,
        WeightedRoundRobin,
    };
    use crate::health::state::Connection;
    use crate::show::sample::{HTTP, Sample};

    /// The zone of the guide's page 91.
    fn guide() -> Sample {
        let mut sample = Sample::new();
        sample.site("local", 0).server(None, "1.1.1.102").vip("1.1.1.108").sessions(4, 2_000_000);
        sample.zone("foo.com").host("www", &[HTTP]);
        sample.address("1.1.1.16").flashback(5, 15);
        sample.address("1.1.1.108").selected(5, Affinity);
        sample.last_host().affinity_group = Some(7);
        sample
    }

    #[test]
    fn the_sample_of_the_guide() {
        let expected = "\
ZONE: foo.com
HOST: www:
(Global GSLB policy)
GSLB affinity group: 7
                                                Flashback   DNS resp.
                                                delay       selection
                                                (x100us)    counters
                                                TCP  APP    Count (%)
* 1.1.1.16:        cfg  real-ip  ACTIVE N-AM      5   15        0 (0%)
* 1.1.1.108:       cfg  v-ip     ACTIVE N-AM      0    0        5 (100%)
    Active Bindings: 1
    site: local, weight: 0, SI: 1.1.1.102
    session util: 0%, avail. sessions: 1999996
    preference: 128
    Metric counter (count [selection-metric]):
    No metric count yet
    Affinity selection count = 5
";
        let snapshot = guide().snapshot();
        assert_eq!(dns_detail(&snapshot, None).unwrap(), expected);
        assert_eq!(dns_detail(&snapshot, Some("foo.com")), dns_detail(&snapshot, None));
        assert_eq!(dns_detail(&snapshot, Some("www.foo.com")), None);
    }

    /// The lines below the row of the last address.
    fn details(snapshot: &Snapshot) -> Vec<String> {
        let text = dns_detail(snapshot, None).unwrap();
        let mut lines: Vec<String> = text
            .lines()
            .rev()
            .map_while(|line| line.strip_prefix("    "))
            .map(str::to_owned)
            .collect();
        lines.reverse();
        lines
    }

    #[test]
    fn metrics_stand_on_one_line_in_metric_order() {
        let mut sample = guide();
        sample.selected(12, LeastResponse).selected(3, HealthCheck).selected(1, RoundRobin);
        sample.selected(9, WeightedRoundRobin);
        let details = details(&sample.snapshot());
        let expected =
            "3[health-check], 12[least-response], 1[round-robin], 9[round-robin-weighted]";
        assert_eq!(details[5], expected);
        assert_eq!(details[6], "Affinity selection count = 5");
    }

    #[test]
    fn persistence_is_counted_on_lines_of_its_own() {
        let mut sample = guide();
        sample.selected(7, HashPersistence).selected(2, Sticky);
        let expected = [
            "No metric count yet",
            "Affinity selection count = 5",
            "persistent hash selection count =7",
            "Sticky selection count = 2",
        ];
        assert_eq!(details(&sample.snapshot())[5..], expected);
    }

    #[test]
    fn a_real_address_shows_only_what_decided_for_it() {
        let mut sample = guide();
        sample.address("192.0.2.1");
        assert_eq!(details(&sample.snapshot()), Vec::<String>::new());
        let mut sample = guide();
        sample.address("192.0.2.1").selected(2, HealthCheck);
        let expected = ["Metric counter (count [selection-metric]):", "2[health-check]"];
        assert_eq!(details(&sample.snapshot()), expected);
    }

    #[test]
    fn the_weight_of_an_address_is_shown_where_it_counts() {
        let mut sample = guide();
        sample.address("192.0.2.1");
        let mut snapshot = sample.snapshot();
        std::sync::Arc::make_mut(&mut snapshot.hosts[0]).addresses[2].weight = Some(40);
        assert_eq!(details(&snapshot), Vec::<String>::new());
        snapshot.policies[0].metrics.push(Metric::WeightedIp);
        assert_eq!(details(&snapshot), ["IP weight: 40"]);
    }

    #[test]
    fn a_device_without_connection_reports_nothing() {
        let snapshot = guide().snapshot();
        snapshot.servers[0].state.set_connection(Connection::Down);
        assert_eq!(details(&snapshot)[2], "session util: --, avail. sessions: --");
    }

    #[test]
    fn two_reads_are_identical() {
        let snapshot = guide().snapshot();
        assert_eq!(dns_detail(&snapshot, None), dns_detail(&snapshot, None));
    }
}

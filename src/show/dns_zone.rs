//! `show gslb dns zone` (guide p. 42, 90, 240): the hosts with their addresses.

use super::dns_view::print_zones;
use crate::model::snapshot::Snapshot;

/// `show gslb dns zone [<zone>]` (guide p. 42, 240); `None` if there is no zone of that name.
///
/// The star marks an address that can be chosen as best, healthy or not (decisions 4.10).
pub fn dns_zone(snapshot: &Snapshot, zone: Option<&str>) -> Option<String> {
    print_zones(snapshot, zone, |_, _, _| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::domain::Decision::{Affinity, LeastResponse};
    use crate::model::policy::Policy;
    use crate::model::region::Region;
    use crate::model::snapshot::{PolicyId, Source};
    use crate::show::sample::{HTTP, Sample};

    /// The zone of the guide's page 42.
    fn guide() -> Sample {
        let mut sample = Sample::new();
        sample.site("local", 0).server(None, "1.1.1.102").vip("10.10.10.200").vip("1.1.1.101");
        sample.zone("gslb1.com").host("www", &[HTTP]);
        sample.address("10.10.10.200").source(Source::Dns).flashback(9, 19);
        sample.address("1.1.1.101").source(Source::Dns).selected(4, LeastResponse);
        sample
    }

    const GUIDE: &str = "\
ZONE: gslb1.com
HOST: www:
(Global GSLB policy)
GSLB affinity group: global
                                                Flashback   DNS resp.
                                                delay       selection
                                                (x100us)    counters
                                                TCP  APP    Count (%)
* 10.10.10.200:    dns  v-ip     ACTIVE N-AM      9   19        0 (0%)
* 1.1.1.101:       dns  v-ip     ACTIVE N-AM      0    0        4 (100%)
";

    #[test]
    fn the_sample_of_the_guide() {
        let snapshot = guide().snapshot();
        assert_eq!(dns_zone(&snapshot, None).unwrap(), GUIDE);
        assert_eq!(dns_zone(&snapshot, Some("GSLB1.com")).unwrap(), GUIDE, "in any case");
    }

    #[test]
    fn two_reads_are_identical() {
        let snapshot = guide().snapshot();
        assert_eq!(dns_zone(&snapshot, None), dns_zone(&snapshot, None));
    }

    #[test]
    fn an_unknown_zone_is_none() {
        assert_eq!(dns_zone(&guide().snapshot(), Some("example.com")), None);
        assert_eq!(dns_zone(&Sample::new().snapshot(), None).as_deref(), Some(""));
    }

    #[test]
    fn the_ipv6_sample_of_the_guide() {
        let mut sample = Sample::new();
        sample.site("local", 0).server(None, "1.1.1.102");
        sample.vip("2001:db8::abc").vip("2001:db8::def").vip("2001:db8::1");
        sample.zone("brocade.com").host("www", &[HTTP]);
        for vip in ["2001:db8::abc", "2001:db8::def", "2001:db8::1"] {
            sample.address(vip).selected(1, LeastResponse);
        }
        sample.address("2001:db8::5").down();
        let expected = "\
ZONE: brocade.com
HOST: www:
(Global GSLB policy)
GSLB affinity group: global
                                                Flashback   DNS resp.
                                                delay       selection
                                                (x100us)    counters
                                                TCP  APP    Count (%)
* 2001:db8::abc:   cfg  v-ip     ACTIVE N-AM      0    0        1 (33%)
* 2001:db8::def:   cfg  v-ip     ACTIVE N-AM      0    0        1 (33%)
* 2001:db8::1:     cfg  v-ip     ACTIVE N-AM      0    0        1 (33%)
* 2001:db8::5:     cfg  real-ip  DOWN   N-AM     --   --        0 (0%)
";
        assert_eq!(dns_zone(&sample.snapshot(), Some("brocade.com")).unwrap(), expected);
    }

    #[test]
    fn wide_cells_move_the_whole_block() {
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[HTTP]);
        sample.address("2001:db8:1111:2222:3333:4444:5555:6666").flashback(u32::MAX, 10);
        sample.address("192.0.2.1").selected(10_000_000_000, Affinity);
        let expected = "\
ZONE: b.c
HOST: a:
(Global GSLB policy)
GSLB affinity group: global
                                                                             Flashback        DNS resp.
                                                                             delay            selection
                                                                             (x100us)         counters
                                                                             TCP  APP         Count (%)
* 2001:db8:1111:2222:3333:4444:5555:6666: cfg  real-ip  ACTIVE N-AM   4294967295   10             0 (0%)
* 192.0.2.1:                              cfg  real-ip  ACTIVE N-AM            0    0   10000000000 (100%)
";
        assert_eq!(dns_zone(&sample.snapshot(), None).unwrap(), expected);
    }

    #[test]
    fn one_empty_line_between_hosts_and_between_zones() {
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[]).host("b", &[]).zone("empty.com").zone("d.e");
        sample.host("a", &[]);
        let text = dns_zone(&sample.snapshot(), None).unwrap();
        let shown: Vec<&str> = text
            .lines()
            .filter(|line| line.is_empty() || line.contains("ZONE: ") || line.contains("HOST: "))
            .collect();
        let expected = [
            "ZONE: b.c",
            "HOST: a:",
            "",
            "HOST: b:",
            "",
            "ZONE: empty.com",
            "",
            "ZONE: d.e",
            "HOST: a:",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn no_star_for_a_learned_address_while_only_configured_ones_count() {
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[HTTP]);
        sample.address("192.0.2.1").source(Source::Dns);
        sample.address("192.0.2.2").source(Source::Both).down();
        sample.address("192.0.2.3").source(Source::Configured);
        let mut snapshot = sample.snapshot();
        let stars = |snapshot: &Snapshot| -> Vec<bool> {
            let text = dns_zone(snapshot, None).unwrap();
            text.lines().skip(8).map(|row| row.starts_with("* 192.")).collect()
        };
        assert_eq!(stars(&snapshot), [true, true, true]);
        snapshot.policies[0].dns.override_ = true;
        assert_eq!(stars(&snapshot), [false, true, true], "a server that is down is a candidate");
        let text = dns_zone(&snapshot, None).unwrap();
        assert!(text.contains("\n  192.0.2.1:       dns  real-ip  ACTIVE"), "{text}");
        assert!(text.contains("\n* 192.0.2.2:       d/c  real-ip  DOWN  "), "{text}");
    }

    #[test]
    fn policy_group_and_location_of_a_host() {
        let mut sample = guide();
        sample.last_host().policy = PolicyId(1);
        sample.last_host().affinity_group = Some(7);
        sample.address("192.0.2.1");
        let mut snapshot = sample.snapshot();
        snapshot.policies.push(Policy { name: Some("test".to_owned()), ..Policy::default() });
        snapshot.sites[0].location = Some(Region::Europe);
        snapshot.default_location = Region::Africa;
        let text = dns_zone(&snapshot, None).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2..4], ["(Host GSLB policy: test)", "GSLB affinity group: 7"]);
        assert!(lines[8].contains("v-ip     ACTIVE EUROPE    9"), "{text}");
        assert!(lines[10].contains("real-ip  ACTIVE AFRICA    0"), "{text}");
    }

    #[test]
    fn shares_are_rounded_down() {
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[]);
        sample.address("192.0.2.1").selected(11, LeastResponse);
        sample.address("192.0.2.2").selected(4, Affinity);
        let text = dns_zone(&sample.snapshot(), None).unwrap();
        assert!(text.contains("11 (73%)\n") && text.contains(" 4 (26%)\n"), "{text}");
    }
}

//! Failures against simulations of the same failure, and cases whose outcome is known.

use std::fmt::Write as _;

use adxemu::whatif::failures::{Case, Failures, NameOutcome, failures};
use proptest::prelude::*;

use crate::whatif::subjects::{draw, plan, run, subject, weighted_ip};

/// Two sites, one of them with a pair of devices that hold its VIP together.
const PAIR: &str = "\
gslb site a\n si-name 198.51.100.1\n si-name 198.51.100.2\n!\n\
gslb site b\n si-name 198.51.100.3\n!\n\
gslb dns zone example.com\n host-info www http\n host-info www ip-list 192.0.2.10\n \
host-info www ip-list 192.0.2.20\n host-info one http\n host-info one ip-list 192.0.2.10\n \
host-info blind ip-list 192.0.2.20\n host-info blind ip-list 192.0.2.10\n!\n\
gslb policy\n dns cache-proxy\n dns override\n!\n\
emulate si 198.51.100.1 vip 192.0.2.10\nemulate si 198.51.100.2 vip 192.0.2.10 standby\n\
emulate si 198.51.100.3 vip 192.0.2.20\n";

fn found(text: &str) -> Failures {
    failures(&subject(text), 1000)
}

fn case<'a>(cases: &'a [Case], failed: &[&str]) -> &'a Case {
    cases.iter().find(|case| case.failed == failed).unwrap_or_else(|| panic!("no {failed:?}"))
}

/// What a name's clients get, as `address share` with `!` behind what has failed.
fn gets(outcome: &NameOutcome) -> Vec<String> {
    let [all] = &outcome.clients[..] else { panic!("{outcome:?}") };
    assert_eq!(all.groups, ["all clients"]);
    let shares = all.shares.iter();
    shares
        .map(|one| format!("{} {}{}", one.address, one.share, if one.alive { "" } else { "!" }))
        .collect()
}

fn name<'a>(case: &'a Case, name: &str) -> &'a NameOutcome {
    case.names.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name}: {case:?}"))
}

#[test]
fn of_a_pair_both_devices_must_fail() {
    let found = found(PAIR);
    let single = &found.single.worst;
    assert_eq!(found.single.count, 2 + 3 + 2);
    let lonely = case(single, &["device 198.51.100.1"]);
    assert!(lonely.names.is_empty() && lonely.dead_share == 0.0, "{lonely:?}");
    let site = case(single, &["site a"]);
    assert_eq!(gets(name(site, "www.example.com")), ["192.0.2.20 1"]);
    assert_eq!(gets(name(site, "one.example.com")), ["192.0.2.10 1!"]);
    let both = case(&found.double.worst, &["device 198.51.100.1", "device 198.51.100.2"]);
    assert_eq!((both.dead_share, both.moved_share), (site.dead_share, site.moved_share));
    assert_eq!(both.names, site.names);
}

#[test]
fn the_worst_case_comes_first() {
    let found = found(PAIR);
    let shares: Vec<f64> = found.double.worst.iter().map(|case| case.dead_share).collect();
    assert!(shares.is_sorted_by(|one, other| one >= other), "{shares:?}");
    assert_eq!(found.double.worst[0].dead_share, 1.0);
    assert_eq!(case(&found.double.worst, &["site a", "site b"]).dead_share, 1.0);
    let nested =
        found.double.worst.iter().any(|case| case.failed == ["site a", "address 192.0.2.10"]);
    assert!(!nested, "the address fails with its site anyhow");
}

#[test]
fn what_is_not_checked_is_answered_although_it_failed() {
    let found = found(PAIR);
    let site = case(&found.single.worst, &["address 192.0.2.20"]);
    assert_eq!(gets(name(site, "blind.example.com")), ["192.0.2.20 0.5!", "192.0.2.10 0.5"]);
    assert!(found.notes.iter().any(|note| note.starts_with("blind.example.com: no application")));
    assert_eq!(gets(name(site, "www.example.com")), ["192.0.2.10 1"]);
}

#[test]
fn a_list_that_is_cut_keeps_the_worst() {
    let all = failures(&subject(PAIR), 1000);
    let few = failures(&subject(PAIR), 3);
    assert_eq!(few.single.worst, all.single.worst[..3]);
    assert_eq!(few.double.worst, all.double.worst[..3]);
    assert_eq!((few.double.count, few.double.dead), (all.double.count, all.double.dead));
}

#[test]
fn regions_get_what_is_near_them() {
    let text = PAIR
        .replace("gslb site a\n", "gslb site a\n geo-location europe\n")
        .replace("gslb site b\n", "gslb site b\n geo-location asia\n");
    let found = found(&text);
    let www = found.baseline.iter().find(|one| one.name == "www.example.com").unwrap();
    let of = |region: &str| {
        let groups = www.clients.iter();
        let group = groups.clone().find(|group| group.groups.iter().any(|one| one == region));
        group.unwrap().shares.iter().map(|one| one.address.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of("europe"), ["192.0.2.10"]);
    assert_eq!(of("asia"), ["192.0.2.20"]);
    assert_eq!(of("africa"), ["192.0.2.10", "192.0.2.20"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every double failure of addresses is what the ideal shares of a simulation say in which both
    /// are down.
    #[test]
    fn a_failure_is_what_a_simulation_of_it_says(
        weights in proptest::collection::vec(0_u8..=100, 3..6),
        first in 1_usize..4,
        second in 1_usize..4,
    ) {
        prop_assume!(first < second && second <= weights.len());
        let text = weighted_ip(&weights);
        let found = found(&text);
        let failed = [format!("address 192.0.2.{first}0"), format!("address 192.0.2.{second}0")];
        let case = case(&found.double.worst, &[&failed[0], &failed[1]]);
        let mut down = text;
        for place in [first, second] {
            write!(down, "!\nemulate health 192.0.2.{place}0 down\n").unwrap();
        }
        let simulated = run(&plan(&[&down]), draw(10));
        for row in &simulated.domains[0].addresses {
            let ideal = row.sides[0].unwrap().ideal_share.unwrap_or(0.0);
            let group = case.names.first().map(|name| &name.clients[0]);
            let Some(group) = group else { continue };
            let share = group.shares.iter().find(|one| Some(one.address) == row.answer);
            prop_assert!((share.map_or(0.0, |one| one.share) - ideal).abs() < 1e-5);
        }
    }
}

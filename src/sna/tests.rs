//! Who is sent where: the guide's example in every state of its gateways, and what names mean.

use crate::clock::Moment;
use crate::model::snapshot::Family;
use crate::sna::testing::{World, example, ip};
use crate::sna::{DEFAULT_BANDWIDTH, LuStatus, Matcher, Outcome, Pass};

const V4: Option<Family> = Some(Family::V4);

#[test]
fn each_site_has_its_own_pool() {
    assert_eq!(example().from("203.0.113.53").ask("glb"), Some("gw3"));
    assert_eq!(example().from("198.51.100.53").ask("glb"), Some("gw1"));
}

#[test]
fn the_lowest_load_is_taken_then_the_highest_bandwidth() {
    let world = example();
    world.system("gw1", 0.50, DEFAULT_BANDWIDTH);
    world.system("gw2", 0.20, DEFAULT_BANDWIDTH);
    assert_eq!(world.ask("glb"), Some("gw2"));
    world.system("gw1", 0.20, 10_000);
    world.system("gw2", 0.20, 1500);
    assert_eq!(world.ask("glb"), Some("gw1"));
    world.system("gw2", 0.199, 1500);
    assert_eq!(world.ask("glb"), Some("gw2"), "a load is not rounded");
}

#[test]
fn what_is_equal_takes_turns() {
    let world = example();
    let turns: Vec<_> = (0..4).map(|_| world.ask("glb")).collect();
    assert_eq!(turns, [Some("gw1"), Some("gw2"), Some("gw1"), Some("gw2")]);
}

#[test]
fn an_alternate_is_taken_before_inactive_lus_count() {
    let world = example();
    world.lus(&["LU01", "LU02"], LuStatus::InUse);
    assert_eq!(world.ask("glb"), Some("gw3"));
    world.lus(&["LU01", "LU02"], LuStatus::Inactive);
    assert_eq!(world.ask("glb"), Some("gw3"));
    assert_eq!(world.record_tally("SITE1").selections, [2, 0, 0]);
}

#[test]
fn inactive_lus_count_in_the_second_pass() {
    let world = example();
    world.lus(&["LU01", "LU02"], LuStatus::Inactive);
    world.lus(&["LU03"], LuStatus::InUse);
    world.system("gw1", 0.50, DEFAULT_BANDWIDTH);
    world.system("gw2", 0.20, DEFAULT_BANDWIDTH);
    assert_eq!(world.ask("glb"), Some("gw2"));
    world.system("gw1", 0.20, 20_000);
    assert_eq!(world.ask("glb"), Some("gw1"));
    assert_eq!(world.record_tally("SITE1").selections, [0, 2, 0]);
}

#[test]
fn the_least_recently_used_of_the_preferred_pool_is_the_last_resort() {
    let world = example();
    assert_eq!(world.ask("lu01"), Some("gw1"));
    world.lus(&["LU01", "LU02", "LU03"], LuStatus::InUse);
    // Neither load nor bandwidth count any more.
    world.system("gw2", 9.0, 1);
    assert_eq!(world.ask("glb"), Some("gw2"));
    assert_eq!(world.ask("glb"), Some("gw1"));
    assert_eq!(world.record_tally("SITE1").selections[Pass::LeastRecentlyUsed as usize], 2);
}

#[test]
fn one_free_lu_makes_a_system_available() {
    let world = example().change(|plan| {
        let lu = |name: &str| (name.to_owned(), "gw1".to_owned(), Some("pool-1".to_owned()));
        plan.lus.extend([lu("LU04"), lu("LU05")]);
    });
    world.lus(&["LU01", "LU02", "LU04"], LuStatus::InUse);
    assert_eq!(world.ask("glb"), Some("gw1"));
    world.lus(&["LU05"], LuStatus::InUse);
    assert_eq!(world.ask("glb"), Some("gw3"));
}

#[test]
fn names_lead_to_records_pools_and_lus_in_this_order() {
    let world = example().from("192.0.2.200");
    assert_eq!(world.ask("site2"), Some("gw3"));
    assert_eq!(world.ask("pool-2"), Some("gw3"));
    assert_eq!(world.ask("lu01"), Some("gw1"));
    assert_eq!(world.outcome("glb", V4), Outcome::NoName, "nobody matches");
    assert_eq!(world.outcome("gw1", V4), Outcome::NoName, "a system is no name");
    assert_eq!(world.outcome("x.lu01", V4), Outcome::NoName);
    assert_eq!(world.outcome("", V4), Outcome::NoData);

    let world = world.record("pool-2", &["LU01"], &[]).record("lu02", &["LU03"], &[]);
    assert_eq!(world.ask("pool-2"), Some("gw1"), "the record has the name");
    assert_eq!(world.ask("site2"), Some("gw3"), "as a resource it is the pool still");
    assert_eq!(world.ask("lu02"), Some("gw3"));
    let world = world.change(|plan| {
        plan.keyword = Some("LU03".to_owned());
        plan.lus.push(("POOL-1".to_owned(), "gw3".to_owned(), None));
    });
    assert_eq!(world.outcome("lu03", V4), Outcome::NoName, "the keyword has the name");
    assert_eq!(world.ask("pool-1"), Some("gw2"), "the pool has the name");
}

#[test]
fn resources_that_do_not_exist_are_passed_over() {
    let world = example()
        .record("none", &["POOL-9"], &["192.0.2.200/32"])
        .record("some", &["POOL-9", "LU03"], &[])
        .record("empty", &[], &[]);
    assert_eq!(world.outcome("none", V4), Outcome::NoName);
    assert_eq!(world.outcome("empty", None), Outcome::NoName, "for any type");
    assert_eq!(world.ask("some"), Some("gw3"));
    assert_eq!(world.from("192.0.2.200").outcome("glb", V4), Outcome::NoName);
}

#[test]
fn other_types_and_the_other_family_get_nothing_and_count_nowhere() {
    let world = example().change(|plan| {
        plan.systems[0].1 = ip("2001:db8::11");
    });
    assert_eq!(world.outcome("glb", None), Outcome::NoData);
    assert_eq!(world.outcome("glb", V4), Outcome::NoData, "gw1 has its turn still");
    assert_eq!(
        world.outcome("glb", Some(Family::V6)),
        Outcome::Address(ip("2001:db8::11")),
        "and gets it"
    );
    assert_eq!(world.ask("glb"), Some("gw2"));
    assert_eq!(world.record_tally("SITE1").selections, [2, 0, 0]);
}

#[test]
fn the_longest_prefix_says_who_asks() {
    let world = example()
        .record("ALL", &["LU03"], &["0.0.0.0/0", "::/0"])
        .record("WIDE", &["LU01"], &["198.51.100.0/24", "2001:db8::/32"])
        .record("LATE", &["LU03"], &["198.51.100.0/24"]);
    let who = |client: &str| {
        let record = world.domain.record_for(ip(client)).unwrap();
        world.domain.records[record.index()].name.as_str()
    };
    assert_eq!(who("198.51.100.53"), "SITE1");
    assert_eq!(who("198.51.100.54"), "WIDE", "the first of two that state the same");
    assert_eq!(who("198.51.101.1"), "ALL");
    assert_eq!(who("2001:db8:1::1"), "WIDE");
    assert_eq!(who("2001:db9::1"), "ALL");
    let world = example().change(|plan| {
        plan.records[0].2 =
            vec![Matcher::Hostname { name: "ns.example.com".to_owned(), addresses: Vec::new() }];
    });
    assert_eq!(world.domain.record_for(ip("198.51.100.53")), None, "names match nobody so far");
}

#[test]
fn answers_count_and_leave_their_moment() {
    let mut world = example();
    world.now = Moment::from_millis(7000);
    world.ask("glb");
    world.ask("pool-1");
    let [gw1, gw2] = ["gw1", "gw2"].map(|name| world.system_tally(name));
    assert_eq!((gw1.selections, gw2.selections), (1, 1));
    assert_eq!(gw1.last_used, Some(world.now));
    assert!(gw1.used_at < gw2.used_at);
    assert_eq!(world.record_tally("SITE1").selections, [1, 0, 0], "a pool is no record");
    let world = world.change(|plan| {
        plan.systems.remove(0);
    });
    assert_eq!(world.system_tally("gw2"), gw2);
    assert_eq!(world.outcome("lu01", V4), Outcome::NoName, "an LU of no system");
}

/// Choosing is the same again until it is counted.
#[test]
fn a_choice_changes_nothing() {
    let World { domain, .. } = example();
    let state = domain.tallies.lock();
    let resources = &domain.records[0].resources;
    let first = super::choose(&domain, &state, resources);
    assert_eq!(first, super::choose(&domain, &state, resources));
    assert_eq!(first.map(|choice| choice.pass), Some(Pass::First));
    assert_eq!(super::choose(&domain, &state, &[]), None);
}

//! The numbers of the guide (`gslb-config.md` 3.17).

use super::*;

fn weighted_ip(weights: &[(&str, u8)]) -> World {
    World::new().metrics(&[Metric::HealthCheck, Metric::WeightedIp]).weighted_host(WWW, weights)
}

fn three_sites() -> World {
    World::new()
        .site("SanJose", 50, &["1.1.1.1"])
        .site("NewYork", 30, &["1.1.1.2"])
        .site("London", 20, &["1.1.1.3"])
        .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
        .host(WWW, &ABC)
        .host("ftp.gslb.com", &["1.1.1.2", "1.1.1.3"])
}

#[test]
fn v1_shares_follow_the_weights() {
    let world = weighted_ip(&[("1.1.1.80", 50), ("1.1.2.80", 30), ("1.1.3.80", 20)]);
    assert_eq!(world.run(WWW, 10), [1, 2, 3, 1, 2, 1, 3, 1, 2, 1], "V1'");
    assert_eq!(world.counts(WWW), [5, 3, 2]);
    world.run(WWW, 990);
    assert_eq!(world.counts(WWW), [500, 300, 200]);
}

#[test]
fn v2_shares_round_down() {
    let world = weighted_ip(&[("1.1.1.80", 15), ("1.1.2.80", 20), ("1.1.3.80", 10)]);
    assert_eq!(world.run(WWW, 9), [1, 2, 3, 2, 1, 3, 2, 1, 2], "V2'");
    assert_eq!(world.counts(WWW), [3, 4, 2]);
    world.run(WWW, 36);
    let counts = world.counts(WWW);
    let percent: Vec<u64> = counts.iter().map(|count| count * 100 / 45).collect();
    assert_eq!(percent, [33, 44, 22]);
}

#[test]
fn v3_sites_share_by_weight() {
    let world = three_sites();
    assert_eq!(world.run(WWW, 10), [1, 2, 3, 1, 2, 1, 3, 1, 2, 1]);
    assert_eq!(world.counts(WWW), [5, 3, 2]);
}

#[test]
fn v4_another_domain_of_two_of_the_sites() {
    let world = three_sites();
    world.run(WWW, 10);
    assert_eq!(world.run("ftp.gslb.com", 5), [1, 2, 1, 2, 1], "V4'");
    assert_eq!(world.counts("ftp.gslb.com"), [3, 2]);
    assert_eq!(world.counts(WWW), [5, 3, 2], "counts are never summed over domains");
}

#[test]
fn v6_an_address_of_weight_zero_is_not_chosen() {
    let world = weighted_ip(&[("10.10.10.200", 0), ("1.1.1.101", 50)]);
    world.run(WWW, 4);
    assert_eq!(world.counts(WWW), [0, 4]);
    assert_eq!(world.decision(WWW), Some(Decision::WeightedIp));
}

#[test]
fn all_weights_zero_leave_it_to_least_response() {
    let world = weighted_ip(&[("1.1.1.80", 0), ("1.1.2.80", 0)]);
    assert_eq!(world.run(WWW, 4), [1, 2, 1, 2]);
    assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
}

#[test]
fn a_site_weight_is_shared_by_its_vips() {
    let world = World::new()
        .site("SanJose", 50, &["1.1.1.1", "1.1.1.2"])
        .site("NewYork", 50, &["1.1.1.3"])
        .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
        .host(WWW, &ABC);
    world.run(WWW, 36);
    assert_eq!(world.counts(WWW), [9, 9, 18]);
}

#[test]
fn a_vip_that_is_down_does_not_share() {
    let world = World::new()
        .site("SanJose", 50, &["1.1.1.1", "1.1.1.2"])
        .site("NewYork", 50, &["1.1.1.3"])
        .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
        .host(WWW, &ABC);
    world.down("1.1.1.2");
    world.run(WWW, 36);
    assert_eq!(world.counts(WWW), [18, 0, 18]);
}

#[test]
fn v19_least_response_takes_the_one_chosen_less() {
    let world = World::new().host(WWW, &["1.1.1.1", "1.1.1.2"]);
    world.down("1.1.1.1");
    world.run(WWW, 6);
    world.up("1.1.1.1");
    world.down("1.1.1.2");
    world.run(WWW, 4);
    world.up("1.1.1.2");
    assert_eq!(world.counts(WWW), [4, 6]);
    assert_eq!(world.ask(WWW).as_deref(), Some("1.1.1.1"));
}

//! Shares in closed form, changes, comparisons, caches, and that nothing depends on threads.

use std::ops::ControlFlow;

use adxemu::whatif::Problem;
use adxemu::whatif::run::{Plan, Questions, simulate};

use crate::whatif::subjects::{
    changed, draw, plan, received, reweighted, run, selected, weighted_ip,
};

/// Three sites with weights, two VIPs at the first, one at each of the others.
const SITES: &str = "\
gslb site a\n weight 60\n si-name 198.51.100.1\n!\n\
gslb site b\n weight 30\n si-name 198.51.100.2\n!\n\
gslb site c\n weight 10\n si-name 198.51.100.3\n!\n\
gslb dns zone example.com\n host-info www http\n host-info www ip-list 192.0.2.10\n \
host-info www ip-list 192.0.2.11\n host-info www ip-list 192.0.2.20\n \
host-info www ip-list 192.0.2.30\n host-info www ip-list 192.0.2.99\n!\n\
gslb policy\n dns cache-proxy\n dns override\n weighted-site\n!\n\
emulate si 198.51.100.1 vip 192.0.2.10 http\nemulate si 198.51.100.1 vip 192.0.2.11 http\n\
emulate si 198.51.100.2 vip 192.0.2.20 http\nemulate si 198.51.100.3 vip 192.0.2.30 http\n";

fn close(share: f64, expected: f64) -> bool {
    (share - expected).abs() < 1e-6
}

#[test]
fn weights_of_addresses() {
    let found = run(&plan(&[&weighted_ip(&[50, 30, 20])]), draw(1000));
    let domain = &found.domains[0];
    assert_eq!((domain.name.as_str(), domain.record_type), ("www.example.com", "A"));
    assert_eq!(selected(domain, 0), [500, 300, 200]);
    for (row, share) in domain.addresses.iter().zip([0.5, 0.3, 0.2]) {
        let figures = row.sides[0].unwrap();
        assert!(close(figures.ideal_share.unwrap(), share), "{figures:?}");
        assert!(close(figures.received_share, share), "{figures:?}");
        assert!(close(figures.difference.unwrap(), 0.0), "{figures:?}");
    }
    let decided: u64 = domain.sides[0].decided_by.iter().map(|one| one.count).sum();
    assert_eq!(decided, 1000);
}

#[test]
fn weights_of_sites_are_shared_by_their_addresses() {
    let found = run(&plan(&[SITES]), draw(1000));
    let domain = &found.domains[0];
    assert_eq!(selected(domain, 0), [300, 300, 300, 100, 0]);
    let ideal: Vec<f64> =
        domain.addresses.iter().map(|row| row.sides[0].unwrap().ideal_share.unwrap()).collect();
    for (share, expected) in ideal.iter().zip([0.3, 0.3, 0.3, 0.1, 0.0]) {
        assert!(close(*share, expected), "{ideal:?}");
    }
    let sites: Vec<(Option<&str>, u64)> = domain
        .sites
        .iter()
        .map(|row| (row.answer.as_deref(), row.sides[0].unwrap().selected))
        .collect();
    assert_eq!(sites, [(Some("a"), 600), (Some("b"), 300), (Some("c"), 100), (None, 0)]);
}

#[test]
fn without_weights_everybody_gets_the_same() {
    for tie_breaker in ["", " round-robin\n"] {
        let text = weighted_ip(&[0, 0, 0, 0]).replace(" weighted-ip\n", tie_breaker);
        let found = run(&plan(&[&text]), draw(1000));
        assert_eq!(selected(&found.domains[0], 0), [250; 4]);
        assert!(close(found.domains[0].addresses[0].sides[0].unwrap().ideal_share.unwrap(), 0.25));
    }
}

/// The case that a change board should see: counters remember, so a change of weights is caught up
/// with, and all of the next questions go to one address.
#[test]
fn a_change_of_weights_is_caught_up_with() {
    let (before, after) = (weighted_ip(&[90, 10]), reweighted(&[50, 50]));
    let found = run(&changed(&before, &after, 1000, false), draw(1900));
    let domain = &found.domains[0];
    assert_eq!(selected(domain, 0), [900, 100]);
    let run_of_one = domain.sides[1].first_run.as_ref().unwrap();
    assert_eq!(run_of_one.address, Some("192.0.2.20".parse().unwrap()));
    assert_eq!(run_of_one.length, 800);
    assert_eq!(selected(domain, 1), [50, 850], "800 to catch up, and 100 dealt evenly");
    assert!(found.notes.iter().any(|note| note.contains("the first 800 answers")));
    let change = found.change.unwrap();
    assert_eq!((change.questions, change.clears), (1000, false));

    let found = run(&changed(&before, &after, 1000, true), draw(1900));
    assert_eq!(selected(&found.domains[0], 1), [450, 450]);
    assert!(found.domains[0].sides[1].first_run.as_ref().unwrap().length <= 2);
    assert!(!found.notes.iter().any(|note| note.contains("the first")));
}

#[test]
fn a_change_can_be_made_at_a_moment() {
    let mut plan = changed(&weighted_ip(&[90, 10]), &reweighted(&[50, 50]), 0, false);
    plan.change.as_mut().unwrap().when = adxemu::whatif::change::When::Seconds(10);
    let found = run(&plan, draw(1800));
    assert_eq!(found.change.as_ref().unwrap().questions, 1000);
    assert_eq!(selected(&found.domains[0], 1), [0, 800]);
}

#[test]
fn a_change_that_is_refused_or_never_reached_is_told() {
    let refused =
        changed(&weighted_ip(&[1, 1]), "gslb policy\n capacity threshold 500\n", 5, false);
    let problem =
        simulate(&refused, Questions::Drawn(draw(10)), &mut |_| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(matches!(&problem, Problem::Change(lines) if lines.len() == 1), "{problem}");
    assert!(problem.to_string().contains("change.txt:2: "), "{problem}");
    let late = changed(&weighted_ip(&[1, 1]), "gslb policy\n", 50, false);
    let problem = simulate(&late, Questions::Drawn(draw(10)), &mut |_| ControlFlow::Continue(()))
        .unwrap_err();
    assert!(matches!(problem, Problem::NoChange(_)), "{problem}");
}

#[test]
fn two_configurations_get_the_same_questions() {
    let found = run(&plan(&[&weighted_ip(&[90, 10]), &weighted_ip(&[50, 50, 100])]), draw(1000));
    let domain = &found.domains[0];
    assert_eq!(selected(domain, 0), [900, 100, 0]);
    assert_eq!(selected(domain, 1), [250, 250, 500]);
    assert!(domain.addresses[2].sides[0].is_none(), "it is not there before");
    assert_eq!(domain.timelines.len(), 2);
    let names: Vec<&str> = found.sides.iter().map(|side| side.name).collect();
    assert_eq!(names, ["before", "after"]);
}

#[test]
fn clients_that_are_bound_move_when_weights_of_the_hash_do() {
    let text = weighted_ip(&[1, 1]).replace("gslb dns", "gslb policy\n hash-persist\n!\ngslb dns");
    let three =
        weighted_ip(&[1, 1, 1]).replace("gslb dns", "gslb policy\n hash-persist\n!\ngslb dns");
    let found = run(&plan(&[&text, &text]), draw(5000));
    let moved = found.domains[0].moved.unwrap();
    assert!(moved.clients > 900 && moved.moved == 0, "{moved:?}");
    let found = run(&plan(&[&text, &three]), draw(5000));
    let moved = found.domains[0].moved.unwrap();
    assert!(moved.moved > 0 && moved.moved < moved.clients, "{moved:?}");
    let unbound = run(&plan(&[&weighted_ip(&[1, 1]), &weighted_ip(&[1, 2])]), draw(100));
    assert_eq!(unbound.domains[0].moved, None);
}

/// U54: behind caches clients see something else than the appliance counts.
#[test]
fn caches_change_what_clients_get_and_not_what_is_counted() {
    let direct = run(&plan(&[&weighted_ip(&[80, 20])]), draw(1000));
    assert_eq!(received(&direct.domains[0], 0), selected(&direct.domains[0], 0));
    let cached = Plan { resolvers: 5, caches: true, ..plan(&[&weighted_ip(&[80, 20])]) };
    let found = run(&cached, draw(10_000));
    let domain = &found.domains[0];
    // 100 seconds, a TTL of 10: each resolver asks 10 times.
    assert_eq!(domain.sides[0].asked, 50);
    assert_eq!(domain.sides[0].questions, 10_000);
    assert_eq!(selected(domain, 0), [40, 10]);
    assert_eq!(received(domain, 0).iter().sum::<u64>(), 10_000);
    let without = Plan { resolvers: 5, ..plan(&[&weighted_ip(&[80, 20])]) };
    assert_eq!(run(&without, draw(1000)).domains[0].sides[0].asked, 1000);
}

#[test]
fn a_ttl_of_zero_is_never_kept() {
    let text = weighted_ip(&[80, 20]).replace("weighted-ip\n", "weighted-ip\n dns ttl 0\n");
    let plan = Plan { resolvers: 5, caches: true, ..plan(&[&text]) };
    assert_eq!(run(&plan, draw(1000)).domains[0].sides[0].asked, 1000);
}

/// Many names, round-trip times or not, with a change and with caches: one thread or several.
#[test]
fn the_result_does_not_depend_on_threads() {
    let mut text = SITES.to_owned() + "gslb dns zone example.org\n";
    for host in 0..9 {
        text += &format!(" host-info h{host} http\n");
        for last in [10, 20, 30] {
            text += &format!(" host-info h{host} ip-list 192.0.2.{last}\n");
        }
    }
    let with_rtt = format!(
        "{text}!\ngslb policy\n no weighted-site\n!\nemulate rtt 2.0.0.0/8 198.51.100.1 20\n\
         emulate rtt 2.0.0.0/8 198.51.100.2 5\n"
    );
    for text in [&text, &with_rtt] {
        let change = "gslb policy\n weighted-site\n dns ttl 3\n";
        let base = Plan { resolvers: 9, caches: true, ..changed(text, change, 3000, false) };
        let one = run(&Plan { threads: 1, ..base }, draw(10_000));
        let base = Plan { resolvers: 9, caches: true, ..changed(text, change, 3000, false) };
        let many = run(&Plan { threads: 4, ..base }, draw(10_000));
        assert_eq!(one, many);
        assert_eq!(one.domains.len(), 10);
    }
}

#[test]
fn what_is_down_gets_nothing_and_when_all_are_the_list_goes_out() {
    let down = |last: u8| format!("emulate health 192.0.2.{last}0 down\n");
    let text = weighted_ip(&[50, 30, 20]) + &down(1);
    let found = run(&plan(&[&text]), draw(1000));
    assert_eq!(selected(&found.domains[0], 0), [0, 600, 400]);
    assert_eq!(found.domains[0].sides[0].no_best, 0);
    let text = text + &down(2) + &down(3);
    let found = run(&plan(&[&text]), draw(1000));
    assert_eq!(found.domains[0].sides[0].no_best, 1000);
    assert_eq!(selected(&found.domains[0], 0), [1000, 0, 0]);
}

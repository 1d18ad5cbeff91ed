//! Generated configurations and states, from the typed line to the answer.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::Grammar;
use adxemu::gslb::domain::Decision;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Lines of the policy, each of which may be there or not.
const POLICY: &[&str] = &[
    "dns active-only",
    "dns best-only",
    "no health-check",
    "weighted-site",
    "weighted-ip",
    "no capacity",
    "active-bindings",
    "weighted-selection",
    "no round-trip-time",
    "no geographic",
    "no num-session",
    "flashback",
    "preference",
    "capacity threshold 50",
    "num-session tolerance 0",
    "round-trip-time tolerance 70",
    "round-trip-time explore-percentage 50",
    "round-trip-time cache-prefix 8",
    "round-trip-time active-rtt use-active-and-passive-rtts",
    "static-prefix 203.0.113.0/25",
    "geo-prefix 203.0.113.0/24 asia",
    "connection-load limit 100",
    "connection-load intervals 2 5",
    "sticky",
    "hash-persist",
    "hash-persist weighted",
    "hash-persist persist-rehash-disable",
    "metric-order set geographic health-check connection-load",
];

const TIE_BREAKERS: &[&str] = &["no round-robin", "round-robin", "round-robin weighted"];

/// What happens between questions; `{}` stands for a number from 1 to 4.
const EVENTS: &[&str] = &[
    "emulate health 192.0.2.{} down",
    "emulate health 192.0.2.{} up",
    "emulate si 198.51.100.{} connection down",
    "emulate si 198.51.100.{} connection established",
    "emulate si 198.51.100.{} sessions 95 100",
    "no emulate si 198.51.100.{} sessions",
    "emulate si 198.51.100.{} connection-rate 50 500",
    "emulate si 198.51.100.{} agent old",
    "emulate si 198.51.100.{} vip 192.0.2.1 standby",
    "emulate rtt 203.0.113.0/24 198.51.100.{} 70",
    "emulate rtt 203.0.113.0/24 198.51.100.{} 7 active icmp",
    "emulate clock advance {}",
    "emulate clock advance 400",
    "clear gslb sticky-session all",
    "clear gslb phash table zone-name gslb.com host-name www",
];

#[derive(Clone, Debug)]
struct Case {
    policy: Vec<&'static str>,
    tie_breaker: &'static str,
    host_policy: Option<Vec<&'static str>>,
    weights: [u8; 4],
    affinity: Option<u8>,
    steps: Vec<(usize, u8, u8)>,
}

fn case() -> impl Strategy<Value = Case> {
    let lines = || subsequence(POLICY, 0..POLICY.len());
    let host_lines = lines().prop_map(|lines| {
        let global_only = ["geo-prefix", "static-prefix", "cache-prefix", "explore", "threshold"];
        let is_global = |line: &&str| {
            global_only.iter().any(|word| line.contains(word))
                || line.starts_with("connection-load intervals")
                || line.starts_with("round-trip-time tolerance")
        };
        lines.into_iter().filter(|line| !is_global(line)).collect()
    });
    (
        lines(),
        select(TIE_BREAKERS),
        option::of(host_lines),
        [0_u8..=100, 0..=100, 0..=100, 0..=100],
        option::of(1_u8..=4),
        vec((0..EVENTS.len(), 1_u8..=4, 1_u8..20), 0..12),
    )
        .prop_map(|(policy, tie_breaker, host_policy, weights, affinity, steps)| Case {
            policy,
            tie_breaker,
            host_policy,
            weights,
            affinity,
            steps,
        })
}

/// Four sites with a VIP each, and an address that belongs to none.
fn configuration(case: &Case) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (number, weight) in (1..).zip(case.weights) {
        let _ = writeln!(text, "gslb site site{number}\n weight {weight}");
        let _ = writeln!(text, " si-name 198.51.100.{number} {}", weight.saturating_mul(2));
    }
    if let Some(number) = case.affinity {
        let _ = writeln!(text, "gslb affinity");
        let _ = writeln!(text, " prefer site{number} 198.51.100.{number} for 203.0.113.0/24");
    }
    if let Some(lines) = &case.host_policy {
        text.push_str("gslb-host-policy own\n");
        for line in lines {
            text.extend([" ", line, "\n"]);
        }
    }
    text.push_str("gslb dns zone gslb.com\n host-info www http\n");
    for number in [3, 1, 9, 2, 4] {
        let _ = writeln!(text, " host-info www ip-list 192.0.2.{number}");
    }
    for (number, weight) in (1..).zip(case.weights) {
        let _ = writeln!(text, " host-info www ip-weight 192.0.2.{number} {weight}");
        let _ = writeln!(text, " host-info www ip-hash-weight 192.0.2.{number} {weight}");
    }
    if case.host_policy.is_some() {
        text.push_str(" host-info www gslb-policy own\n");
    }
    text.push_str("gslb policy\n dns override\n dns cache-proxy\n");
    let lines = case.policy.iter().chain([&case.tie_breaker]);
    lines.for_each(|line| text.extend([" ", *line, "\n"]));
    for number in 1..=4 {
        let _ = writeln!(text, "emulate si 198.51.100.{number} vip 192.0.2.{number}");
    }
    text
}

/// Everything that is printed while the case is played.
fn play(case: &Case, appliance: &Arc<Appliance>) -> String {
    let settings = Settings::default();
    let responder = Arc::new(Responder { appliance: Arc::clone(appliance), settings });
    let mut session = Session::privileged(responder);
    let mut out = String::new();
    let mut ask = |session: &mut Session, count: u8| {
        let asked =
            format!("emulate query www.gslb.com count {} from 203.0.113.{count}", count + 1);
        let explained =
            session.run(&format!("emulate explain www.gslb.com from 203.0.113.{count}"));
        out += &explained;
        out += &session.run(&asked);
    };
    ask(&mut session, 7);
    for (event, number, count) in &case.steps {
        let line = EVENTS[*event].replace("{}", &number.to_string());
        let said = session.run(&line);
        assert!(!said.contains("Invalid") && !said.contains("Incomplete"), "{line}: {said}");
        ask(&mut session, *count);
    }
    let end = ["show gslb dns detail", "show gslb phash table all", "show session all"];
    out + &end.map(|line| session.run(line)).concat()
}

fn appliance(case: &Case) -> Arc<Appliance> {
    static GRAMMAR: LazyLock<Arc<Grammar>> =
        LazyLock::new(|| Arc::new(Grammar::built_in().expect("the built-in grammar loads")));
    let clock = Arc::new(DrivenClock::new());
    let appliance = Arc::new(Appliance::new(Arc::clone(&GRAMMAR), clock, None));
    appliance.start_with(&configuration(case));
    let rejected = appliance.configuration().rejected.clone();
    assert!(rejected.is_empty(), "{rejected:?}");
    appliance
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The second run has hash maps with other seeds, so no choice depends on their order.
    #[test]
    fn the_same_lines_give_the_same_run(case in case()) {
        prop_assert_eq!(play(&case, &appliance(&case)), play(&case, &appliance(&case)));
    }

    #[test]
    fn every_question_is_answered_and_counted(case in case()) {
        let appliance = appliance(&case);
        let text = play(&case, &appliance);
        let is_answer = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(|word| word.starts_with("192.0.2."))
                && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
                && words.next().is_some_and(|word| word.ends_with('%'))
        };
        let answered: u64 = text
            .lines()
            .filter(is_answer)
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum();
        let asked: u64 = 8 + case.steps.iter().map(|(_, _, count)| u64::from(*count) + 1).sum::<u64>();
        prop_assert_eq!(answered, asked, "{}", text);
        let snapshot = appliance.current();
        let domain = snapshot.hosts[0].domain.lock();
        prop_assert_eq!(domain.total_requests(), asked);
        let mut selected = 0;
        for tally in &domain.tallies {
            let decided: u64 = Decision::ALL.iter().map(|decision| tally.by(*decision)).sum();
            prop_assert_eq!(decided, tally.selections);
            selected += tally.selections;
        }
        prop_assert!(selected <= asked);
    }

    /// What `emulate explain` says is what the next question gets.
    #[test]
    fn explaining_foretells_the_answer(case in case()) {
        let text = play(&case, &appliance(&case));
        let mut foretold = None;
        for line in text.lines() {
            if let Some(best) = line.strip_prefix("Best: ") {
                let word = best.split([',', ' ']).next().unwrap_or_default();
                foretold = Some(word.to_owned()).filter(|word| word != "none");
            }
            // With the same address for every question there is one row.
            if let (Some(best), true) = (&foretold, line.ends_with("100%")) {
                prop_assert!(line.starts_with(&format!("{best} ")), "{best} before {line}");
            }
        }
    }
}

//! What an audit says of configurations that have one thing wrong, and of one that has not.

use adxemu::whatif::audit::{Audit, Gravity, audit};
use adxemu::whatif::report;

use crate::whatif::subjects::{subject, weighted_ip};

fn found(text: &str) -> Audit {
    audit(&subject(text))
}

/// Whether there is such a concern about something.
fn concern(found: &Audit, gravity: Gravity, about: &str, text: &str) -> bool {
    let mut concerns = found.concerns.iter();
    concerns.any(|one| one.gravity == gravity && one.about == about && one.text.contains(text))
}

#[test]
fn each_concern_has_a_configuration_and_a_clean_one_has_none() {
    let clean = weighted_ip(&[50, 30])
        .replace("weighted-ip\n", "weighted-ip\n dns best-only\n round-robin\n");
    assert_eq!(found(&clean).concerns, [], "clean");
    let www = "www.example.com";
    let cases: [(&str, String, Gravity, &str, &str); 13] = [
        (
            "no override",
            clean.replace(" dns override\n", ""),
            Gravity::High,
            "ServerIronADX",
            "and none is in service",
        ),
        (
            "a bad line",
            format!("{clean}!\ngslb policy\n capacity threshold 500\n"),
            Gravity::High,
            "ServerIronADX",
            "1 lines",
        ),
        (
            "no answer",
            format!("{clean}!\ngslb no-error-handling\n"),
            Gravity::Medium,
            "ServerIronADX",
            "timeout",
        ),
        (
            "nxdomain",
            format!("{clean}!\ngslb dns-rcode nxdomain\n"),
            Gravity::High,
            "ServerIronADX",
            "NXDOMAIN",
        ),
        (
            "no health check",
            clean.replace("weighted-ip\n", "weighted-ip\n no health-check\n"),
            Gravity::High,
            "global policy",
            "failed address is chosen",
        ),
        (
            "TTL 0",
            clean.replace("weighted-ip\n", "weighted-ip\n dns ttl 0\n"),
            Gravity::Medium,
            "global policy",
            "TTL is 0",
        ),
        (
            "long TTL",
            clean.replace("weighted-ip\n", "weighted-ip\n dns ttl 3600\n"),
            Gravity::Medium,
            "global policy",
            "3600 s",
        ),
        (
            "least response",
            clean.replace(" round-robin\n", ""),
            Gravity::Low,
            "global policy",
            "Least response",
        ),
        (
            "all in the reply",
            clean.replace(" dns best-only\n", ""),
            Gravity::Low,
            "global policy",
            "behind the best",
        ),
        (
            "nothing checked",
            clean.replace(" host-info www http\n", ""),
            Gravity::High,
            www,
            "No application",
        ),
        (
            "one down",
            format!("{clean}!\nemulate health 192.0.2.10 down\n"),
            Gravity::Medium,
            www,
            "1 of 2",
        ),
        (
            "all down",
            format!("{clean}!\nemulate health 192.0.2.10 down\nemulate health 192.0.2.20 down\n"),
            Gravity::High,
            www,
            "All addresses",
        ),
        (
            "no weight",
            clean.replace("192.0.2.20 30", "192.0.2.20 0"),
            Gravity::Medium,
            www,
            "192.0.2.20 is never chosen",
        ),
    ];
    for (name, text, gravity, about, words) in cases {
        let found = found(&text);
        assert!(concern(&found, gravity, about, words), "{name}: {:?}", found.concerns);
        assert!(found.concerns.is_sorted_by_key(|one| one.gravity), "{name}");
    }
}

#[test]
fn metrics_that_cannot_decide_are_named_with_the_reason() {
    let idle = |text: &str| -> Vec<(&'static str, String)> {
        let found = found(text);
        found.hosts[0].idle.iter().map(|one| (one.rule, one.words.clone())).collect()
    };
    let text = weighted_ip(&[0, 0]);
    let told = idle(&text);
    let names: Vec<&str> = told.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["weighted-ip", "capacity", "round-trip-time", "geographic", "num-session"]);
    assert_eq!(told[0].1, "all addresses have no weight");
    assert_eq!(told[3].1, "all addresses have the region N-AM");
    let told = idle(&weighted_ip(&[5, 5]));
    assert!(
        told.iter().all(|(name, words)| {
            *name != "weighted-ip" && words.starts_with("weighted-ip stands before it")
        }),
        "{told:?}"
    );
    let measured = "gslb site a\n si-name 198.51.100.1\n si-name 198.51.100.2\n!\n".to_owned()
        + &text.replace(" weighted-ip\n", " preference\n")
        + "!\nemulate si 198.51.100.1 vip 192.0.2.10\nemulate si 198.51.100.2 vip 192.0.2.20\n\
           emulate si 198.51.100.1 sessions 5 10\nemulate rtt 203.0.113.0/24 198.51.100.1 5\n";
    let names: Vec<&str> = idle(&measured).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["geographic", "preference"]);
}

#[test]
fn a_policy_is_told_in_words_with_its_figures() {
    let text = weighted_ip(&[1, 2]).replace(
        "weighted-ip\n",
        "weighted-ip\n dns ttl 42\n dns active-only\n capacity threshold 77\n hash-persist\n",
    );
    let found = found(&text);
    let policy = &found.policies[0];
    assert_eq!((policy.ttl, policy.hosts), (42, 1));
    let rules: Vec<&str> = policy.steps.iter().map(|step| step.rule).collect();
    assert_eq!(rules[..2], ["health-check", "weighted-ip"]);
    assert_eq!(rules.last(), Some(&"least-response"));
    assert!(policy.steps.iter().any(|step| step.words.contains("77 %")));
    assert!(policy.replies.iter().any(|reply| reply.contains("left out")));
    assert!(policy.replies.iter().any(|reply| reply.contains("hash")));
    assert!(found.reload.iter().any(|loss| loss.contains("hash tables of 1 hosts")));
    let markdown = report::audit::markdown(&found);
    assert!(markdown.starts_with("# Audit of ServerIronADX\n\n"), "{markdown}");
    assert!(!markdown.contains("\n\n\n"), "{markdown}");
    for heading in
        ["Concerns", "Policies", "Hosts", "What no policy decides", "What a reload loses"]
    {
        assert!(markdown.contains(&format!("\n## {heading}\n\n")), "{heading}");
    }
}

#[test]
fn lines_that_a_reload_refuses_are_told() {
    let text = weighted_ip(&[1, 2]) + " host-info www ip-weight 192.0.2.99 5\n";
    let found = found(&text);
    assert!(
        found.reload.iter().any(|loss| loss.contains("ip-weight 192.0.2.99 5")),
        "{:?}",
        found.reload
    );
    assert_eq!(found.files[0].findings.iter().filter(|one| one.severity == "error").count(), 1);
}

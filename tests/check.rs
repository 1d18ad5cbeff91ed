//! `adxemu check`: each rule has a configuration that it speaks up at and one at which it is silent.

use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use adxemu::check::{Checked, check as check_text, rule::RULES};
use adxemu::grammar::Grammar;

mod check {
    mod documents;
    mod lab;
}

fn grammar() -> &'static Arc<Grammar> {
    static GRAMMAR: OnceLock<Arc<Grammar>> = OnceLock::new();
    GRAMMAR.get_or_init(|| Arc::new(Grammar::built_in().expect("the built-in grammar loads")))
}

fn check(text: &str) -> Checked {
    check_text(grammar(), "test.cfg", text)
}

/// Lines at which a rule speaks up.
fn lines_of(rule: &str, text: &str) -> Vec<usize> {
    assert!(RULES.iter().any(|known| known.name == rule), "{rule} is a rule");
    let checked = check(text);
    checked.findings.iter().filter(|one| one.rule.name == rule).map(|one| one.line).collect()
}

#[test]
fn every_line_has_a_standing() {
    let text = "!\nver 12.4.00T403\ngslb site A\n weight 5\n weight 500\n frobnicate 7\n";
    let standings: Vec<&str> = check(text).lines.iter().map(|line| line.standing.name()).collect();
    assert_eq!(standings, ["silent", "kept", "modelled", "modelled", "rejected", "opaque"]);
    let checked = check(text);
    assert_eq!(checked.lines[4].column, 9, "the first bad word");
    assert_eq!(checked.lines[4].reason.as_deref(), Some("Error - 500 not between 0 and 100"));
    let summary = checked.summary();
    assert_eq!((summary.modelled, summary.kept, summary.opaque, summary.rejected), (2, 1, 1, 1));
    assert_eq!(summary.lines, 6);
}

#[test]
fn columns_count_characters() {
    let checked = check("server real rü 192.0.2.999\n");
    assert_eq!(checked.lines[0].column, 16, "{:?}", checked.lines[0]);
}

#[test]
fn repeated_replaced_and_excluded_lines() {
    let text = "gslb policy\n weighted-ip\n weighted-ip\n dns ttl 5\n dns ttl 6\n weighted-site\n";
    assert_eq!(lines_of("repeated-line", text), [3]);
    assert_eq!(lines_of("replaced-line", text), [4]);
    assert_eq!(lines_of("excluded-line", text), [3]);
    let clean = "gslb policy\n weighted-ip\n dns ttl 5\ngslb policy\n dns override\n";
    for rule in ["repeated-line", "replaced-line", "excluded-line"] {
        assert_eq!(lines_of(rule, clean), [0; 0], "{rule}");
    }
}

#[test]
fn a_weight_before_its_address_is_lost_at_a_reload() {
    let zone = "gslb dns zone b.c\n host-info a http\n";
    let weight = " host-info a ip-weight 192.0.2.1 5\n";
    let address = " host-info a ip-list 192.0.2.1\n";
    assert_eq!(lines_of("weight-lost-at-reload", &format!("{zone}{weight}{address}")), [3]);
    assert_eq!(lines_of("weight-lost-at-reload", &format!("{zone}{address}{weight}")), [0; 0]);
}

#[test]
fn addresses_weights_and_hosts() {
    let zone = "gslb dns zone b.c\n host-info a http\n";
    let address = " host-info a ip-list 192.0.2.1\n";
    assert_eq!(lines_of("host-without-addresses", zone), [2]);
    assert_eq!(lines_of("host-without-addresses", &format!("{zone}{address}")), [0; 0]);
    assert_eq!(lines_of("address-in-no-site", &format!("{zone}{address}")), [3]);
    let reported = "gslb site S\n si-name 192.0.2.9\nemulate si 192.0.2.9 vip 192.0.2.1\n";
    assert_eq!(lines_of("address-in-no-site", &format!("{zone}{address}!\n{reported}")), [0; 0]);
    let weights =
        format!("{zone}{address} host-info a ip-weight 192.0.2.1 5\n!\ngslb site S\n weight 9\n");
    assert_eq!(lines_of("weight-without-effect", &weights), [4, 7]);
    let by_address = format!("{weights}gslb policy\n weighted-ip\n");
    assert_eq!(lines_of("weight-without-effect", &by_address), [7]);
    let by_site = format!("{weights}gslb policy\n weighted-site\n");
    assert_eq!(lines_of("weight-without-effect", &by_site), [4]);
}

#[test]
fn affinities_need_their_device() {
    let site = "gslb site S\n si-name slb 192.0.2.9\n!\ngslb site T\n si-name 192.0.2.10\n!\n";
    let lines = " prefer S slb for 10.0.0.0/8\n prefer S other for 10.1.0.0/16\n \
                 prefer S 192.0.2.9 for 10.2.0.0/16\n prefer S 192.0.2.10 for 10.3.0.0/16\n";
    let global = format!("{site}gslb affinity\n{lines}");
    assert_eq!(lines_of("affinity-without-device", &global), [9, 11]);
    let group = format!("{site}gslb affinity-group 7\n{lines}");
    assert_eq!(lines_of("affinity-without-device", &group), [9, 11]);
}

#[test]
fn metrics_without_data_and_out_of_reach() {
    let zone = "gslb dns zone b.c\n host-info a http\n host-info a ip-list 192.0.2.1\n!\n";
    let policy = |lines: &str| format!("{zone}gslb policy\n{lines}");
    assert_eq!(lines_of("metric-without-data", &policy(" weighted-ip\n")), [6]);
    assert_eq!(lines_of("metric-without-data", &policy(" preference\n")), [6]);
    assert_eq!(lines_of("metric-without-data", &policy(" dns override\n")), [0; 0]);
    let weighed = zone.replace("!\n", " host-info a ip-weight 192.0.2.1 5\n!\n");
    let with_data = format!("{weighed}gslb policy\n weighted-ip\n");
    assert_eq!(lines_of("metric-without-data", &with_data), [0; 0]);

    let order = policy(" preference\n metric-order set health-check geographic\n");
    assert_eq!(lines_of("unreachable-metric", &order), [6]);
    let behind = format!("{weighed}gslb policy\n metric-order set weighted-ip geographic\n");
    assert_eq!(lines_of("unreachable-metric", &behind), [7]);
    let reachable = policy(" preference\n metric-order set health-check preference\n");
    assert_eq!(lines_of("unreachable-metric", &reachable), [0; 0]);
}

#[test]
fn policies_and_the_device() {
    let zone = "gslb dns zone b.c\n host-info a http\n host-info a ip-list 192.0.2.1\n!\n";
    let leaking = format!("{zone}gslb policy\n dns active-only\n");
    assert_eq!(lines_of("active-only-without-override", &leaking), [6]);
    assert_eq!(
        lines_of("active-only-without-override", &format!("{leaking} dns override\n")),
        [0; 0]
    );
    let policy = "gslb-host-policy p\n dns best-only\n!\n";
    assert_eq!(lines_of("unused-policy", policy), [1]);
    let used = format!("{policy}{}", zone.replace("!\n", " host-info a gslb-policy p\n!\n"));
    assert_eq!(lines_of("unused-policy", &used), [0; 0]);
    assert_eq!(lines_of("no-dns-vip", zone), [1]);
    let vip = format!("server virtual v 192.0.2.53\n port dns\n!\n{zone}");
    assert_eq!(lines_of("no-dns-vip", &vip), [0; 0]);
    let many: Vec<String> = (0..101).map(|number| format!("gslb site s{number}\n")).collect();
    let many = many.concat();
    assert_eq!(lines_of("device-limit", &many), [1]);
    assert_eq!(lines_of("device-limit", "gslb site s\n"), [0; 0]);
}

#[test]
fn servers_and_what_they_name() {
    let real = "server real web 192.0.2.31\n port http\n!\n";
    let vip = |lines: &str| format!("{real}server virtual v 198.51.100.1\n port http\n{lines}");
    assert_eq!(lines_of("unknown-server", &vip(" bind http web http Other http\n")), [6]);
    assert_eq!(lines_of("unknown-server", &vip(" bind http WEB http\n")), [0; 0]);
    assert_eq!(lines_of("unbound-port", &vip("")), [5]);
    assert_eq!(lines_of("unbound-port", &vip(" port http disable\n")), [0; 0]);
    assert_eq!(lines_of("unbound-port", "server virtual v 198.51.100.1\n port dns\n"), [0; 0]);
    let tracks = vip(" port ssl\n track-group http ssl\n bind http web http\n");
    assert_eq!(lines_of("tracked-port-unbound", &tracks), [7]);
    assert_eq!(lines_of("tracked-port-unbound", &format!("{tracks} bind ssl web ssl\n")), [0; 0]);

    let attached =
        real.replace(" port http\n", " port http\n port http healthck h\n port ssl healthck g\n");
    assert_eq!(lines_of("unknown-health-policy", &attached), [3, 4]);
    let policies = "healthck g icmp\nhealthck h boolean\n and g x\nhealthck x\n";
    assert_eq!(lines_of("unknown-health-policy", &format!("{policies}{attached}")), [4]);
    let known = policies.replace("healthck x\n", "healthck x tcp\n!\n");
    assert_eq!(lines_of("unknown-health-policy", &format!("{known}{attached}")), [0; 0]);
    assert_eq!(lines_of("unknown-health-policy", "healthck h boolean\n not y\n"), [2]);

    let ranges = "port-range r\n port 8000 to 8049\nport-range empty\n";
    let uses = format!(
        "{ranges}server real web 192.0.2.31\n port-range r\n port-range empty\n port-range gone\n"
    );
    assert_eq!(lines_of("unknown-port-range", &uses), [6, 7]);
    assert_eq!(lines_of("rejected-line", ranges), [0; 0]);
    assert_eq!(lines_of("rejected-line", &ranges.replace("8049", "8050")), [2]);
}

#[test]
fn names_that_lead_nowhere() {
    let real = "server real web 192.0.2.31\n port 8080\n port 8080 use-port-policy p\n port http\n \
                port http content-match m\n port http use-port-policy p\n!\n";
    assert_eq!(lines_of("unknown-name", real), [3, 5, 6]);
    let there = "server port-policy P\n protocol http\n!\nhttp match-list M\n default down\n!\n";
    assert_eq!(lines_of("unknown-name", &format!("{there}{real}")), [0; 0]);
    assert_eq!(lines_of("unknown-name", &format!("{real}{there}")), [0; 0], "in any order");
    let policy = "server port-policy p\n protocol http content-match m\n!\n";
    assert_eq!(lines_of("unknown-name", policy), [2]);
    let vip = "server virtual v 198.51.100.1\n port http\n port http use-port-policy p\n";
    assert_eq!(lines_of("unknown-name", vip), [3]);
    // These have rules of their own.
    let own = "server virtual v 198.51.100.1\n port http\n bind http web http\n port-range r\n";
    assert_eq!(lines_of("unknown-name", own), [0; 0]);

    let group = "server cache-group 1\n cache-name squid\n";
    assert_eq!(lines_of("unknown-name", group), [2]);
    let server = "server cache-name squid 192.0.2.40\n!\n";
    assert_eq!(lines_of("unknown-name", &format!("{server}{group}")), [0; 0]);
    let role = "role template t\n context finance manager\n context default viewer\n \
                default-context finance\n!\n";
    assert_eq!(lines_of("unknown-name", role), [2, 4]);
    assert_eq!(lines_of("unknown-name", &format!("{role}context finance\n")), [0; 0]);
    let affinity = "gslb affinity\n prefer Nowhere slb for 10.0.0.0/8\n";
    assert_eq!(lines_of("unknown-name", affinity), [2]);

    let applied = "interface ethernet 1\n ip access-group 101 in\n!\n\
                   interface ethernet 2\n ip access-group Office in\n!\ntelnet access-group 10\n";
    assert_eq!(lines_of("unknown-access-list", applied), [2, 5, 7]);
    let lists = "access-list 101 permit ip any any\nip access-list standard office\n \
                 permit any\n!\naccess-list 10 permit any\n";
    assert_eq!(lines_of("unknown-access-list", &format!("{applied}{lists}")), [0; 0]);
}

#[test]
fn a_name_belongs_to_one_server() {
    let kinds = ["real", "remote-name", "cache-name", "virtual"];
    for first in kinds {
        for second in kinds {
            let text = format!("server {first} s 192.0.2.1\n!\nserver {second} s 192.0.2.2\n");
            let expected: &[usize] = if first == second { &[] } else { &[3] };
            assert_eq!(lines_of("rejected-line", &text), expected, "{first} {second}");
        }
    }
}

#[test]
fn what_is_indented_below_a_refused_line_is_refused_with_it() {
    let text = "server virtual s 192.0.2.1\nserver real good 192.0.2.2\n port 8443\n\
                server real s 192.0.2.3\n port http\n weight 5\n!\nweight 7\n\
                gslb site a-name-of-more-than-16\n weight 5\nhostname x\n";
    let checked = check(text);
    assert_eq!(lines_of("rejected-line", text), [4, 5, 6, 9, 10]);
    let reason = checked.lines[5].reason.as_deref();
    assert_eq!(reason, Some("Error - belongs to line 4, which was refused"));
    assert_eq!(lines_of("opaque-line", text), [8], "`!` ends what was refused");
    assert_eq!(checked.lines[10].standing.name(), "modelled");
    // What opens nothing has nothing below it, however a file is indented.
    let ragged = "server real good 192.0.2.2\n weight 70000\n   port 8443\n";
    assert_eq!(lines_of("rejected-line", ragged), [2]);
}

#[test]
fn pasting_differs_where_a_comment_ends_a_block() {
    let weight = "gslb site A\n!\nweight 5\n";
    assert_eq!(lines_of("paste-differs", weight), [3], "`!` ends the block in a file only");
    assert_eq!(lines_of("paste-differs", "gslb site A\n weight 5\n!\ngslb site B\n"), [0; 0]);
    let help = "ip route 0.0.0.0 0.0.0.0 192.0.2.1 what?\n";
    assert_eq!(lines_of("paste-differs", help), [1], "the help key is lost");
    let nested = "frobnicate\n hostname lost\n";
    assert_eq!(lines_of("paste-differs", nested), [2], "a line of an unknown block is a command");
    assert_eq!(lines_of("paste-differs", "frobnicate\n"), [0; 0], "its own finding says so");
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adxemu"));
    command.arg("check").args(arguments).output().expect("the program runs")
}

#[test]
fn exit_status_and_formats() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let clean = write("clean.cfg", "hostname a\n");
    let kept = write("kept.cfg", "ver 12.4\n");
    let bad = write("bad one.cfg", "gslb site A\n weight 101\n");
    let missing = folder.path().join("missing.cfg");
    assert_eq!(run(&[&clean]).status.code(), Some(0));
    assert_eq!(run(&[&kept]).status.code(), Some(0));
    assert_eq!(run(&[&kept, "--fail-on", "note"]).status.code(), Some(1));
    assert_eq!(run(&[&clean, &bad]).status.code(), Some(1));
    let unreadable = run(&[missing.to_str().unwrap(), &bad]);
    assert_eq!(unreadable.status.code(), Some(2));
    assert!(String::from_utf8(unreadable.stdout).unwrap().contains("not between"));

    let text = String::from_utf8(run(&[&bad]).stdout).unwrap();
    let expected = format!("{bad}:2:9: error: Error - 101 not between 0 and 100 [rejected-line]");
    assert_eq!(text.lines().next(), Some(expected.as_str()), "no colour in a pipe");

    let json: serde_json::Value =
        serde_json::from_slice(&run(&["--format", "json", &bad]).stdout).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["files"][0]["lines"][1]["standing"], "rejected");
    assert_eq!(json["files"][0]["findings"][0]["column"], 9);
    assert_eq!(json["summary"]["errors"], 1);

    let sarif: serde_json::Value =
        serde_json::from_slice(&run(&["--format", "sarif", &bad]).stdout).unwrap();
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    let rule = result["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["region"]["startLine"], 2);
    assert!(location["artifactLocation"]["uri"].as_str().unwrap().ends_with("bad%20one.cfg"));
}

//! Generated configurations, whole and damaged, through capture, load, print, load and check.
//!
//! Whatever comes in: nothing panics, every line has exactly one fate, no line that the emulator
//! does not know is lost, and what is printed reads back to the same print.

use std::sync::{Arc, OnceLock};

use adxemu::appliance::Appliance;
use adxemu::check;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::config::capture;
use adxemu::config::edit::Trees;
use adxemu::config::load::{self, Fate, Heard, Listener, Report};
use adxemu::config::render::{self, Secrets};
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::Grammar;
use proptest::prelude::*;
use proptest::sample::select;

fn grammar() -> &'static Arc<Grammar> {
    static GRAMMAR: OnceLock<Arc<Grammar>> = OnceLock::new();
    GRAMMAR.get_or_init(|| Arc::new(Grammar::built_in().expect("the built-in grammar loads")))
}

/// Blocks as real files hold them, with every family in them.
const BLOCKS: &[&str] = &[
    "ver 12.4.00T403\n",
    "module 1 bi-0-port-m4-management-module\n",
    "server source-ip 192.0.2.5 255.255.255.0 192.0.2.1\n",
    "server port 80\n tcp keepalive\n no-fast-bringup\n",
    "server real rs1 192.0.2.31\n port http\n port http url \"GET /status.html\"\n weight 2\n",
    "server real rs2 192.0.2.32\n port http\n port http keepalive\n port 8443\n",
    "server remote-name rr1 203.0.113.31\n port dns\n port dns proxy\n",
    "server virtual vip1 198.51.100.50\n port default disable\n port http\n bind http rs1 http rs2 http\n",
    "server virtual-name-or-ip dnsvip 198.51.100.53\n port dns\n bind dns rr1 dns\n predictor round-robin\n",
    "healthck web1 tcp\n dest-ip 192.0.2.31\n port http\n protocol http url \"HEAD /\"\n",
    "gslb protocol\n",
    "gslb site SanJose\n weight 50\n si-name slb-1 192.0.2.209 200\n",
    "gslb site Sunnyvale\n si-name slb-2 192.0.2.210\n si-name 192.0.2.210 7\n",
    "gslb-host-policy fast\n dns best-only\n round-robin\n",
    "gslb dns zone gslb.example\n host-info www http\n host-info www ip-list 198.51.100.50\n \
     host-info www ip-weight 198.51.100.50 50\n host-info www gslb-policy fast\n",
    "gslb dns zone-name shop.example\n host a ftp\n host-info b ip-list 2001:db8::1\n no host-info a\n",
    "gslb policy\n dns ttl 45\n dns override\n no capacity\n weighted-site\n weighted-ip\n \
     metric-order set health-check weighted-ip num-session\n",
    "gslb policy\n no dns ttl\n static-prefix 198.51.100.0/24 203.0.113.0/24\n metric-order default\n",
    "port-range pr1\n port 8051 to 8100\nport-range pr2\n port 9051 to 9100\n",
    "healthck front tcp\n dest-ip 192.0.2.41\n port http\n interval 10\n l4-check\n",
    "healthck \"all of it\" boolean\n and front back\n or front back\nhealthck back icmp\n",
    "server port 8080\n tcp 5\n tcp keepalive 10 3\n tcp keepalive use-master-state\n disable real\n",
    "server real rs3 192.0.2.33\n port-range pr2\n port http healthck front\n port 8080 healthck all\n",
    "server virtual vip3 198.51.100.53\n port-range pr1\n port http\n port ssl\n track http ssl\n \
     track-group ssl http 8080\n bind port-range pr1 rs3 pr2\n sym-priority 200\n",
    "server port-policy pp1\n protocol http\n protocol http url \"GET /ready\"\n protocol http status-code 200 204\n",
    "server real rs4 192.0.2.34\n port http\n port http use-port-policy pp1\n ip-address 192.0.2.44\n \
     ip-address 192.0.2.45 force-shutdown\n",
    "port-range pr1\n port 8052 to 8060\napply port-range\nport-range pr1\n no port 8052 to 8060\n",
    "server force-delete\nemulate sessions vip1 http rs1 http 10 lasting 60\nemulate sessions vip1 http rs2 http 4\n",
    "emulate own rtt 198.51.100.0/24 50\nemulate own rtt 198.51.100.0/24 70 active dns failed\n",
    "server virtual vip1 198.51.100.50\n no bind http rs2 http\n",
    "sna-domain sna.example\n system gw1 192.0.2.11\n lu LU01 system gw1\nemulate sna sna.example system gw1 load-average 0.5\n",
    "emulate own sessions 5 10\nemulate own cpu 4\nemulate own connection-rate 1 2 3\n",
    "vlan 10 name WEB by port\n tagged ethe 1 to 4\n router-interface ve 10\n",
    "aaa authentication login default local\nhostname lab-1\nip address 192.0.2.10 255.255.255.0\n",
    "enable super-user-password 8 $1$abc\nusername admin password 8 $1$def\nusername admin nopassword\n",
    "snmp-server community 2 $x ro\nsnmp-server community public ro\nno snmp-server enable traps gslb\n",
    "banner motd ^C\nAuthorised users only^C\n^C\nbanner exec ^C\nWelcome^C\n^C\n^C\n",
    "banner incoming $\nhostname not-a-command\n\n$ dropped\n",
    "banner motd require-enter-key\n",
    "role template t1\n global all viewer\n context c1 manager\n default-context c1\n",
    "interface ethernet 1/3\n port-name uplink \"a b\"\n ip address 203.0.113.1 255.255.255.0\n disable\n",
    "access-list 101 permit tcp any any eq http\nip access-list extended web\n permit tcp any any\n",
    "ssl profile p1\n keypair-file k1\n certificate-file c1\n  chain yes\n",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUXno\nver=\n-----END CERTIFICATE-----\n",
    "context blue\nhostname other\nserver real x 192.0.2.99\n port http\n!\ncontext default\n",
    "emulate si 192.0.2.209 vip 198.51.100.50 http\nemulate health 198.51.100.50 down\n",
    "router ospf\n area 0\n  range 192.0.2.0/24\nfrobnicate \"quoted words\" | tail\n",
];

/// Lines that no configuration holds.
fn rubbish() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,60}",
        "[ \t]{0,5}[a-z-]{1,12}( [a-z0-9./-]{0,14}){0,4}",
        select(vec![
            "!",
            "! comment",
            "",
            "   ",
            "exit",
            "end",
            "quit",
            "show running-config",
            "no",
            "\"",
            "banner motd $",
            "banner exec ^C",
            "^C",
            "x^C",
            "-----BEGIN KEY-----",
            "context c",
            "context default",
            "gslb",
            "conf t",
            ".....",
            "username a password .....",
            "\u{3000}\u{3000}wide blanks",
            " \u{a0}x",
            "gslb site \"a b\"",
            "weight 99999999999999999999999",
            "host-info",
            "\tweight 5",
            "reload",
            "y",
            "write memory",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A configuration: blocks in any order, most of them closed by `!`.
fn valid() -> impl Strategy<Value = String> {
    prop::collection::vec((select(BLOCKS), prop::bool::weighted(0.8)), 1..20).prop_map(|blocks| {
        let parts = blocks.into_iter().map(|(block, ends)| {
            let mut part = block.to_owned();
            if ends {
                part.push_str("!\n");
            }
            part
        });
        parts.collect()
    })
}

/// The same with its lines shuffled, cut off, rubbish in between and other blanks.
fn damaged() -> impl Strategy<Value = String> {
    let dice = prop::collection::vec((any::<u16>(), rubbish()), 0..12);
    (valid(), dice, any::<bool>(), 0.5..1.5_f64, select(vec!["\n", "\r\n", "  \n"])).prop_map(
        |(text, dice, swaps, share, line_end)| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            for (place, junk) in dice {
                let place = usize::from(place) % (lines.len() + 1);
                if swaps && place < lines.len() {
                    lines.swap(place, (place * 7 + 3) % text.lines().count().max(1));
                }
                lines.insert(place, junk);
            }
            let text = lines.join(line_end);
            let length = text.chars().count();
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a short text"
            )]
            let end = (length as f64 * share) as usize;
            text.chars().take(end).collect()
        },
    )
}

/// Counts fates and remembers the lines that must not be lost.
#[derive(Default)]
struct Fates {
    lines: usize,
    opaque: Vec<String>,
}

impl Listener for Fates {
    fn hear(&mut self, line: &Heard<'_>) {
        self.lines += 1;
        assert_eq!(line.number, self.lines, "every line once, in order");
        if matches!(line.fate, Fate::Opaque | Fate::Continued { opaque: true }) {
            self.opaque.push(line.text.trim_ascii_start().to_owned());
        }
    }
}

fn read(text: &str) -> (Trees, Report, Fates) {
    let mut trees = Trees::default();
    let mut fates = Fates::default();
    let report = load::load_heard(grammar(), &mut trees, text, &mut fates);
    (trees, report, fates)
}

fn printed(trees: &Trees) -> (String, String) {
    let body = render::body(grammar(), &trees.configuration, Secrets::Stored);
    (body, render::world(grammar(), &trees.world))
}

fn round_trip(text: &str) -> Result<(), TestCaseError> {
    let (trees, _, fates) = read(text);
    prop_assert_eq!(fates.lines, text.lines().count());
    let (first, world) = printed(&trees);
    for line in &fates.opaque {
        prop_assert!(
            first.lines().any(|printed| printed.trim_ascii_start() == line),
            "lost: {:?} of\n{}\n---\n{}",
            line,
            text,
            first
        );
    }
    let (again, report, _) = read(&format!("{first}{world}"));
    prop_assert_eq!(&report.rejected, &[], "printed, but refused when read:\n{}", first);
    let (second, second_world) = printed(&again);
    prop_assert_eq!(&first, &second, "of\n{}", text);
    prop_assert_eq!(&world, &second_world);
    prop_assert_eq!(&*capture::clean(grammar(), &first), &first, "a print is no capture");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back(text in valid()) {
        round_trip(&text)?;
    }

    #[test]
    fn damaged_configurations_too(text in damaged()) {
        round_trip(&capture::clean(grammar(), &text))?;
        round_trip(&text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn check_tells_of_every_line(text in damaged()) {
        let checked = check::check(grammar(), "generated", &text);
        prop_assert_eq!(checked.lines.len(), text.lines().count());
        let last = text.lines().count().max(1);
        for finding in &checked.findings {
            prop_assert!((1..=last).contains(&finding.line), "{finding:?}");
        }
        let mut out = Vec::new();
        check::text::write(grammar(), std::slice::from_ref(&checked), &mut out).unwrap();
        check::json::write(grammar(), std::slice::from_ref(&checked), &mut out).unwrap();
        check::sarif::write(std::slice::from_ref(&checked), &mut out).unwrap();
    }

    #[test]
    fn a_capture_keeps_its_lines(bytes in prop::collection::vec(any::<u8>(), 0..400), text in damaged()) {
        let noise: String = bytes.iter().copied().map(char::from).collect();
        let text = format!("{noise}\n{text}\nlab-1#show running-config\n{text}\nlab-1#");
        let cleaned = capture::clean(grammar(), &text);
        prop_assert_eq!(cleaned.split('\n').count(), text.split('\n').count());
    }
}

/// An appliance on a clock that moves only when it is told to.
fn appliance() -> Arc<Appliance> {
    let clock = Arc::new(DrivenClock::new());
    Arc::new(Appliance::new(Arc::clone(grammar()), clock, None))
}

fn session(appliance: &Arc<Appliance>) -> Session {
    let appliance = Arc::clone(appliance);
    Session::privileged(Arc::new(Responder { appliance, settings: Settings::default() }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was loaded, the appliance runs: its displays come, time passes, and a restart from what
    /// it saves changes nothing.
    #[test]
    fn a_damaged_configuration_runs(text in damaged()) {
        let appliance = appliance();
        appliance.start_with(&text);
        let mut session = session(&appliance);
        for line in ["show server real", "show server bind", "show gslb dns zone", "show gslb site", "show port-range"] {
            let page = session.run(line);
            prop_assert!(!page.starts_with("Invalid input"), "{line}: {page}");
        }
        session.run("emulate clock advance 200");
        session.run("emulate query www.gslb.example count 3");
        let before = session.run("show running-config");
        session.run("write memory");
        session.run("reload-yes");
        let first = session.run("show running-config");
        prop_assert_eq!(before, first);
    }

    /// The same lines pasted at a prompt: each is answered, and what is then configured reads back.
    #[test]
    fn a_damaged_configuration_can_be_pasted(text in damaged()) {
        let appliance = appliance();
        let mut session = session(&appliance);
        session.run("configure terminal");
        for line in text.lines() {
            session.run(line);
            prop_assert!(!session.prompt().is_empty());
        }
        let configuration = appliance.configuration();
        let (first, world) = printed(&configuration.trees);
        drop(configuration);
        let (again, report, _) = read(&format!("{first}{world}"));
        prop_assert_eq!(&report.rejected, &[], "printed, but refused when read:\n{}", first);
        prop_assert_eq!(printed(&again), (first, world));
    }
}

/// Loads a text; gives the body that is printed for it, without its first and last lines.
fn body_of(text: &str) -> String {
    printed(&read(text).0).0
}

#[test]
fn certificates_stay_in_their_block() {
    let text = "server real a 192.0.2.1\n weight 2\n-----BEGIN KEY-----\nver=\n-----END KEY-----\n max-conn 5\n!\n";
    let body = body_of(text);
    let block = "server real a 192.0.2.1\n max-conn 5\n weight 2\n -----BEGIN KEY-----\n ver=\n -----END KEY-----\n!\n";
    assert!(body.contains(block), "{body}");
}

#[test]
fn the_lines_of_another_context_are_not_ours() {
    let text = "hostname mine\n!\ncontext blue\nhostname theirs\n!\nserver real a 192.0.2.1\n port http\n!\n\
                context default\nip default-gateway 192.0.2.254\nend\n";
    let body = body_of(text);
    assert!(body.contains("hostname mine\n") && body.contains("ip default-gateway 192.0.2.254\n"));
    let block = "context blue\nhostname theirs\n!\nserver real a 192.0.2.1\n port http\n!\nend\n";
    assert!(body.ends_with(block), "{body}");
}

#[test]
fn a_text_without_end_takes_one_line_only() {
    let (trees, report, _) = read("banner motd $\nhostname a\n");
    assert_eq!(report.rejected.len(), 1);
    assert!(printed(&trees).0.contains("hostname a\n"));
    let banners = "banner motd ^C\nA^C\n^C\n!\nbanner exec ^C\nB^C\n^C\n!\n";
    assert!(body_of(banners).contains(banners), "{}", body_of(banners));
}

/// Every row of docs/normalisation.md with a file that shows it: the beginning of the row, what is
/// given, and what of the print must be and must not be there.
type Normalisation = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const NORMALISATIONS: &[Normalisation] = &[
    (
        "comments, empty lines, the headings of displays",
        "! a comment\n\n!Current configuration : 5 bytes\nhostname a\n",
        &["hostname a\n"],
        &["comment", "bytes"],
    ),
    (
        "a line that repeats another",
        "ip route 0.0.0.0 0.0.0.0 192.0.2.1\nip route 0.0.0.0 0.0.0.0 192.0.2.1\n",
        &["ip route"],
        &["192.0.2.1\nip"],
    ),
    (
        "a line that a later one replaces",
        "gslb policy\n dns ttl 5\n dns ttl 6\n",
        &[" dns ttl 6\n"],
        &["dns ttl 5"],
    ),
    (
        "a line that a later one excludes",
        "gslb policy\n weighted-ip\n weighted-site\n",
        &[" weighted-site\n"],
        &["weighted-ip"],
    ),
    (
        "a line that says a default",
        "gslb site A\n weight 0\ngslb policy\n no flashback\n dns override\n",
        &["gslb site A\n!\n"],
        &["weight", "flashback"],
    ),
    (
        "`no ...` and what it removed",
        "hostname a\nno hostname\nip default-gateway 192.0.2.1\n",
        &["ip default-gateway"],
        &["hostname"],
    ),
    (
        "a block that exists once and is empty",
        "gslb policy\n!\nhostname a\n",
        &["hostname"],
        &["gslb policy"],
    ),
    (
        "`exit`, `end` within the file",
        "gslb site A\n exit\nend\nhostname a\n",
        &["hostname a"],
        &["exit"],
    ),
    (
        "a rejected line, and what is indented below",
        "gslb site a-name-of-more-than-16\n weight 5\n!\nhostname a\n",
        &["hostname a"],
        &["site", "weight"],
    ),
    (
        "`port http url \"HEAD /\"` below a new `port http`",
        "server real a 192.0.2.1\n port http\n",
        &[" port http\n port http url \"HEAD /\"\n"],
        &[],
    ),
    (
        "`!` after every block and every run of one-liners",
        "gslb site A\ngslb site B\nhostname a\n",
        &["gslb site A\n!\ngslb site B\n!\nhostname a\n!\n"],
        &[],
    ),
    (
        "abbreviations and old spellings are written out",
        "gslb dns zone-name b.c\n host www http\n",
        &["gslb dns zone b.c\n host-info www http\n"],
        &[],
    ),
    (
        "case of command words; one blank between words",
        "  GSLB   Site x\n",
        &["gslb site x\n"],
        &[],
    ),
    (
        "numbers that have a name",
        "server virtual v 198.51.100.1\n port 80\n",
        &[" port http\n"],
        &["80"],
    ),
    (
        "addresses and prefixes in their shortest form",
        "server real a 2001:DB8:0::1\n",
        &["server real a 2001:db8::1\n"],
        &[],
    ),
    (
        "the key keeps the spelling of its first line",
        "gslb dns zone Example.com\n host-info a http\n!\ngslb dns zone example.com\n host-info b http\n",
        &["gslb dns zone Example.com\n host-info a http\n host-info b http\n"],
        &["example.com"],
    ),
    (
        "arguments that merge stand on one line",
        "gslb site A\n si-name a 192.0.2.1\n si-name 192.0.2.1 200\n",
        &[" si-name a 192.0.2.1 200\n"],
        &[],
    ),
    (
        "lists are split or packed as the device prints them",
        "server virtual v 198.51.100.1\n port http\n bind http a http\n bind http b http c http\n bind http d http e http\n\
         gslb policy\n static-prefix 10.0.0.0/8 172.16.0.0/12\n",
        &[
            " bind http a http b http c http d http\n bind http e http\n",
            " static-prefix 10.0.0.0/8\n static-prefix 172.16.0.0/12\n",
        ],
        &[],
    ),
    (
        "the delimiter of a banner is `^C`",
        "banner motd $\nHello\n$\n",
        &["banner motd ^C\nHello^C\n^C\n"],
        &["$"],
    ),
    (
        "the order: decisions 2.1 and 2.2",
        "access-list 1 permit any\nhostname a\ngslb site A\n!\nserver virtual v 198.51.100.1\n!\nserver real r 192.0.2.1\n",
        &[
            "server real r 192.0.2.1\n!\nserver virtual v 198.51.100.1\n!\ngslb site A\n!\nhostname a\n!\naccess-list 1",
        ],
        &[],
    ),
];

#[test]
fn the_print_changes_what_the_document_says() {
    let document = include_str!("../docs/normalisation.md");
    let rows: Vec<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter(|row| !row.starts_with("change") && !row.starts_with("---"))
        .collect();
    for (row, given, there, gone) in NORMALISATIONS {
        assert!(rows.iter().any(|known| known.starts_with(row)), "no row begins with {row}");
        let body = body_of(given);
        for text in *there {
            assert!(body.contains(text), "{row}: {text:?} is not in\n{body}");
        }
        for text in *gone {
            assert!(!body.contains(text), "{row}: {text:?} is in\n{body}");
        }
        assert_eq!(body_of(&body), body, "{row}: it does not read back to itself");
    }
    // The frame of a whole file is no part of the body that these compare.
    let frame = "`!` and `ver` at the top";
    let unproved: Vec<&&str> = rows
        .iter()
        .filter(|row| !row.starts_with(frame))
        .filter(|row| !NORMALISATIONS.iter().any(|(known, ..)| row.starts_with(known)))
        .collect();
    assert!(unproved.is_empty(), "rows without a file that shows them: {unproved:?}");
}

//! What holds of any session: no line breaks it, answers fit their questions, and the same lines
//! at the same moments give the same text.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::IpAddr;
use std::process::{Command as Process, Stdio};
use std::sync::{Arc, LazyLock};

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::config::render::{self, Secrets};
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::link::Message;
use adxemu::grammar::{Grammar, ModeId, Verb};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::grammar::count::config;
use crate::grammar::lines::{Line, everywhere, keeping, root, way_into};
use crate::grammar::trees::{choice, reports, script};

static DEVICE: LazyLock<Arc<Grammar>> = LazyLock::new(|| Arc::new(Grammar::built_in().unwrap()));

/// A session at the privileged level of an appliance with that configuration.
fn session(text: &str) -> Session {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Arc::new(Appliance::new(Arc::clone(&DEVICE), clock, None));
    appliance.load_world(text);
    let settings = Settings::default();
    Session::privileged(Arc::new(Responder { appliance, settings }))
}

/// A session in a mode of the configuration.
fn session_in(mode: ModeId) -> Session {
    let mut session = session("");
    let root = root(&DEVICE);
    let (enter, outer) =
        everywhere(&DEVICE).find(|(command, _)| command.verb == Verb::Enter(root)).unwrap();
    let mut lines = vec![Line::new(&DEVICE, enter, outer, 0, 0).text()];
    lines.extend(way_into(&DEVICE, mode));
    for line in lines {
        assert_eq!(session.run(&line), "", "{line}");
    }
    session
}

/// The modes of the configuration.
fn modes() -> Vec<ModeId> {
    let mut modes: Vec<ModeId> = keeping(&DEVICE).map(|(_, mode)| mode).collect();
    modes.sort_unstable();
    modes.dedup();
    modes
}

fn running(session: &Session) -> String {
    let configuration = session.appliance().configuration();
    render::body(&DEVICE, &configuration.trees.configuration, Secrets::Stored)
}

/// Types a line, presses `?` and Tab behind it, and checks that nothing moves unsaid.
fn check_line(session: &mut Session, line: &str) {
    let prompt = session.prompt();
    let before = (running(session), session.help(""));
    // Help and Tab change nothing.
    let _ = session.help(line);
    let _ = session.complete(line);
    assert_eq!(session.prompt(), prompt);
    assert_eq!((running(session), session.help("")), before);

    let answer = session.run(line);
    assert!(answer.is_empty() || answer.ends_with('\n'), "{answer:?}");
    if session.is_over() || session.question().is_some() {
        return;
    }
    if session.prompt() == prompt {
        // The same prompt is the same level.
        assert_eq!(session.help(""), before.1, "{line:?}");
    }
    let refusals = [
        Message::InvalidInput,
        Message::AmbiguousInput,
        Message::IncompleteCommand,
        Message::OutOfRange,
    ];
    let is_refused = refusals.iter().any(|message| {
        let beginning = DEVICE.phrase(*message).split('{').next().unwrap_or_default();
        answer.starts_with(beginning) && !beginning.is_empty()
    });
    if is_refused && !answer.contains("not found") {
        assert_eq!(running(session), before.0, "{line:?}: {answer}");
        assert_eq!(session.prompt(), prompt, "{line:?}: {answer}");
    }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn any_bytes_are_a_line(
        mode in any::<Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..4096),
    ) {
        let mut session = session_in(*mode.get(&modes()));
        check_line(&mut session, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_is_a_line(mode in any::<Index>(), text in "(?s)[ \"|?!\\PC\\pC]{0,200}") {
        let mut session = session_in(*mode.get(&modes()));
        check_line(&mut session, &text);
    }
}

proptest! {
    #![proptest_config(config(192))]

    /// Lines of the grammar, damaged: these come further than arbitrary ones.
    #[test]
    fn any_damaged_line_is_a_line(
        mode in any::<Index>(),
        command in any::<Index>(),
        form in any::<Index>(),
        value in 0_usize..3,
        no in prop::bool::weighted(0.3),
        place in any::<Index>(),
        length in 0_usize..6,
        patch in prop_oneof![2 => Just(String::new()), 1 => "[ \"|?!a-z./:\u{e4}-]{0,4}"],
    ) {
        let modes = modes();
        let mode = *mode.get(&modes);
        let commands: Vec<_> =
            DEVICE.commands.iter().filter(|command| command.modes.contains(&mode)).collect();
        let command = *command.get(&commands);
        let form = form.index(command.forms.len());
        let mut line = Line::new(&DEVICE, command, mode, form, value).text();
        if no {
            line.insert_str(0, "no ");
        }
        let characters: Vec<char> = line.chars().collect();
        let from = place.index(characters.len());
        let to = (from + length).min(characters.len());
        let damaged: String = characters[..from]
            .iter()
            .copied()
            .chain(patch.chars())
            .chain(characters[to..].iter().copied())
            .collect();
        let mut session = session_in(mode);
        check_line(&mut session, &line);
        check_line(&mut session, &damaged);
    }
}

/// A zone with one host: its addresses with their weights, and which of them are down.
#[derive(Clone, Debug)]
struct World {
    addresses: Vec<(IpAddr, u8, bool)>,
    policy: Vec<crate::grammar::trees::Choice>,
    question: &'static str,
}

prop_compose! {
    fn world()(
        four in prop::collection::vec((1_u8..=100, any::<bool>()), 0..5),
        six in prop::collection::vec((1_u8..=100, any::<bool>()), 0..5),
        policy in prop::collection::vec(choice(), 0..12),
        question in prop::sample::select(vec!["a", "aaaa", "any", "mx", "txt"]),
    ) -> World {
        let four = four.into_iter().enumerate().map(|(n, (weight, down))| {
            (format!("192.0.2.{}", n + 1).parse().unwrap(), weight, down)
        });
        let six = six.into_iter().enumerate().map(|(n, (weight, down))| {
            (format!("2001:db8::{}", n + 1).parse().unwrap(), weight, down)
        });
        World { addresses: four.chain(six).collect(), policy, question }
    }
}

/// The configuration of a host `www.example.com`, and the states of its addresses.
fn host(addresses: &[(IpAddr, u8, bool)], policy: &str) -> String {
    let mut text = format!("gslb policy\n dns override\n dns cache-proxy\n{policy}!\n");
    text.push_str("gslb dns zone example.com\n host-info www http\n");
    for (address, weight, _) in addresses {
        let _ = writeln!(text, " host-info www ip-list {address}");
        let _ = writeln!(text, " host-info www ip-weight {address} {weight}");
    }
    text.push_str("!\n");
    for (address, _, down) in addresses.iter().filter(|(_, _, down)| *down) {
        let _ = writeln!(text, "emulate health {address} {}", if *down { "down" } else { "up" });
    }
    text
}

proptest! {
    #![proptest_config(config(64))]

    /// Records are given with NOERROR only, and each is of the family that was asked for.
    #[test]
    fn answers_fit_their_questions(world in world()) {
        let random = script(&DEVICE, &world.policy).text();
        let text = format!("{random}!\n{}", host(&world.addresses, ""));
        let mut session = session(&text);
        for client in ["127.0.0.1", "198.51.100.7", "2001:db8::99"] {
            let line = format!("emulate query www.example.com {} from {client}", world.question);
            let answer = session.run(&line);
            let mut lines = answer.lines();
            let first = lines.next().unwrap_or_default();
            if first == "no reply" {
                continue;
            }
            let records: Vec<&str> = lines.collect();
            prop_assert!(first.ends_with(&format!("answer {}", records.len())), "{}", answer);
            if !records.is_empty() {
                prop_assert!(first.starts_with("NOERROR "), "{}", answer);
            }
            for record in records {
                let fields: Vec<&str> = record.split_whitespace().collect();
                prop_assert_eq!(fields[0], "www.example.com.");
                let address: IpAddr = fields[4].parse().unwrap();
                let family = if address.is_ipv4() { "A" } else { "AAAA" };
                prop_assert_eq!(fields[3], family);
                let asked = world.question.to_ascii_uppercase();
                prop_assert!(asked == "ANY" || asked == family, "{}", answer);
                prop_assert!(world.addresses.iter().any(|(one, _, _)| *one == address));
            }
        }
    }

    /// Decisions 4.11: from an empty counter the shares follow the weights at every moment.
    #[test]
    fn shares_stay_close_to_the_weights(
        weights in prop::collection::vec(1_u8..=100, 2..7),
        questions in 2_u32..300,
    ) {
        let addresses: Vec<_> = weights
            .iter()
            .enumerate()
            .map(|(n, weight)| (format!("192.0.2.{}", n + 1).parse().unwrap(), *weight, false))
            .collect();
        let mut session = session(&host(&addresses, " weighted-ip\n"));
        let answer = session.run(&format!("emulate query www.example.com count {questions}"));
        let counts: HashMap<IpAddr, u32> = answer
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace();
                Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
            })
            .collect();
        prop_assert_eq!(counts.values().sum::<u32>(), questions, "{}", answer);
        let sum: u32 = weights.iter().copied().map(u32::from).sum();
        // The number of candidates less one, but at least one.
        let below = f64::from(u32::try_from(weights.len() - 1).unwrap());
        for (address, weight, _) in &addresses {
            let count = f64::from(counts.get(address).copied().unwrap_or(0));
            let ideal = f64::from(questions) * f64::from(*weight) / f64::from(sum);
            prop_assert!(count - ideal < 1.0, "{address}: {count} of {ideal}\n{answer}");
            prop_assert!(ideal - count < below, "{address}: {count} of {ideal}\n{answer}");
        }
    }

    /// The same lines at the same moments give the same text, whatever the seeds of hash tables.
    #[test]
    fn the_same_lines_give_the_same_text(
        choices in prop::collection::vec(choice(), 1..30),
        world in world(),
    ) {
        let random = script(&DEVICE, &choices).text();
        let text = format!("{random}!\n{}", host(&world.addresses, ""));
        let play = || {
            let mut session = session(&text);
            let mut out = String::new();
            for line in ["emulate query www.example.com count 20", "emulate clock advance 31",
                "emulate query www.example.com aaaa count 7"]
            {
                out.push_str(&session.run(line));
            }
            for report in reports(&DEVICE) {
                out.push_str(&session.run(&report));
            }
            out
        };
        prop_assert_eq!(play(), play());
    }
}

/// Two programs have other seeds for their hash tables and the same text.
#[test]
fn two_programs_print_the_same() {
    let mut input = String::from("enable\nconfigure terminal\ngslb dns zone example.com\n");
    for host in 0..40 {
        for address in 1..4 {
            let _ = writeln!(input, "host-info h{host} ip-list 192.0.2.{}", host * 4 + address);
        }
        let _ = writeln!(input, "host-info h{host} http");
    }
    input.push_str("gslb policy\ndns override\ndns cache-proxy\nend\n");
    for host in 0..40 {
        let _ = writeln!(input, "emulate query h{host}.example.com count 3");
    }
    for report in reports(&DEVICE) {
        let _ = writeln!(input, "{report}");
    }
    let print = || {
        let mut program = Process::new(env!("CARGO_BIN_EXE_adxemu"))
            .args(["--no-dns", "demo"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = program.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let first = print();
    assert!(first.len() > 10_000, "{first}");
    let second = print();
    // What says how late it is and how long it has run is another one.
    let tells_time = |line: &&str| line.contains("GMT") || line.contains("uptime");
    let mut pairs = first.lines().zip(second.lines());
    let different =
        pairs.find(|(one, other)| one != other && !(tells_time(one) && tells_time(other)));
    assert_eq!(different, None);
    assert_eq!(first.lines().count(), second.lines().count());
}

//! What is fuzzed: each target takes any bytes and may neither panic nor hang, and what it lets
//! through must hold what is asserted here. Shared by the targets of cargo-fuzz, by the driver on
//! stable and by the short runs of the tests.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use adxemu::appliance::Appliance;
use adxemu::behind::emulated::EmulatedServer;
use adxemu::behind::live::{self, Heard, Query};
use adxemu::behind::master_file::MasterFile;
use adxemu::cli::session::Session;
use adxemu::cli::sessions::Line;
use adxemu::clock::DrivenClock;
use adxemu::config::edit::Trees;
use adxemu::config::load;
use adxemu::config::render::{self, Secrets};
use adxemu::demo::Demo;
use adxemu::dns::answer::{Answer, View};
use adxemu::dns::cookie::Secret;
use adxemu::dns::question::{self, Verdict};
use adxemu::dns::{Responder, Settings, Transport, encode, relay};
use adxemu::grammar::Grammar;
use adxemu::remote::telnet::Protocol;
use adxemu::replay::SessionFile;
use adxemu::term::shell::Shell;
use hickory_proto::rr::RecordType;

/// A target: its name and what it does with an input.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets.
pub(crate) const TARGETS: &[Target] = &[
    ("grammar", grammar),
    ("session", session),
    ("question", question),
    ("reply", reply),
    ("master-file", master_file),
    ("configuration", configuration),
    ("line", line),
    ("terminal", terminal),
];

static GRAMMAR: LazyLock<Arc<Grammar>> =
    LazyLock::new(|| Arc::new(Grammar::built_in().expect("the built-in grammar loads")));

fn appliance() -> Arc<Appliance> {
    let appliance = Appliance::new(Arc::clone(&GRAMMAR), Arc::new(DrivenClock::default()), None);
    appliance.start_with(Demo::DEFAULT.text());
    Arc::new(appliance)
}

/// With everything that a message can ask for.
fn settings() -> Settings {
    let cookies = Some(Secret::new([3; 16]));
    Settings { client_subnet: true, strict_dns: true, cookies, ..Settings::default() }
}

/// A grammar file: loaded or refused with a place.
pub(crate) fn grammar(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    if let Err(error) = Grammar::load(&[("input.grammar", text)]) {
        assert!(!error.to_string().is_empty());
    }
}

/// A session file: read or refused with a place.
pub(crate) fn session(input: &[u8]) {
    match SessionFile::from_bytes(Path::new("input.session"), input.to_vec()) {
        Ok(file) => assert_eq!(file.text().as_bytes(), input, "the text is kept as it is"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A DNS message: no reply, or one that belongs to it and fits.
pub(crate) fn question(input: &[u8]) {
    static RESPONDER: LazyLock<Responder> =
        LazyLock::new(|| Responder { appliance: appliance(), settings: settings() });
    let client = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let mut reply = Vec::new();
    for (transport, most) in [(Transport::Udp, 4_096), (Transport::Tcp, 65_535)] {
        if RESPONDER.respond(input, client, transport, &mut reply) {
            assert!((12..=most).contains(&reply.len()), "{} bytes", reply.len());
            assert_eq!(reply[..2], input[..2], "the id");
            assert_eq!(reply[2] & 0x80, 0x80, "a response");
        }
    }
}

/// A reply of the DNS server behind: what is taken for one goes to the client, within its limits.
pub(crate) fn reply(input: &[u8]) {
    hear(input);
    // A server that was asked: the identifier and the question are right, the rest is anything.
    if let Some(([flags, further, counts @ ..], records)) = input.split_first_chunk::<8>() {
        let mut message = vec![0x12, 0x34, flags | 0x80, *further, 0, 1];
        message.extend(counts);
        message.extend(ASKED);
        message.extend([0, 1, 0, 1]);
        message.extend(records);
        hear(&message);
    }
}

/// The name that the server behind was asked for.
const ASKED: &[u8] = b"\x01a\x01b\x01c\x00";

/// What a server behind says becomes a reply.
fn hear(message: &[u8]) {
    static APPLIANCE: LazyLock<Arc<Appliance>> = LazyLock::new(|| {
        let appliance = appliance();
        let mut session = Session::privileged(Arc::new(Responder {
            appliance: Arc::clone(&appliance),
            settings: Settings::default(),
        }));
        for line in ["configure terminal", "gslb policy", "no dns override", "dns cname-detect"] {
            session.run(line);
        }
        appliance
    });
    let query = Query::own(ASKED, RecordType::A);
    let Heard::Answer(said) = live::read(message, 0x1234, &query) else { return };
    let answers = said.answers.len();
    let snapshot = APPLIANCE.current();
    let view = View {
        snapshot: &snapshot,
        states: &APPLIANCE.states,
        strict: false,
        takes_large_replies: false,
        client: IpAddr::V4(Ipv4Addr::LOCALHOST),
        now: APPLIANCE.clock.now(),
    };
    let answer = match relay::balanced(&snapshot, ASKED, RecordType::A, &said) {
        Some(found) => relay::apply(&view, &found, said),
        None => Answer::relayed(said),
    };
    let relayed = answer.relayed.as_ref().expect("what was relayed");
    assert!(relayed.answers.len() <= answers, "nothing is added");
    let mut question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
    question.extend(ASKED);
    question.extend([0, 1, 0, 1]);
    let Verdict::Ask(request, _) = question::read(&question, false) else { unreachable!() };
    for (transport, most) in [(Transport::Udp, 512), (Transport::Tcp, 65_535)] {
        let limit = encode::limit(&request, transport);
        let mut out = Vec::new();
        if encode::encode(&request, &answer, None, limit, &mut out).is_ok() {
            assert!((12..=most).contains(&out.len()), "{} bytes", out.len());
            assert_eq!(out[..2], question[..2], "the id");
        }
    }
}

/// A master file: what is read of it can be asked for.
pub(crate) fn master_file(input: &[u8]) {
    let Ok(file) = MasterFile::from_bytes("db", input) else { return };
    let server = EmulatedServer::default();
    server.add_file("db", Arc::new(file));
    for name in [&b"\x03www\x07example\x03com\x00"[..], b"\x07example\x03com\x00", b"\x00"] {
        for wanted in [RecordType::A, RecordType::ANY, RecordType::SOA] {
            let _ = server.answer(name, wanted);
        }
    }
}

/// A configuration: what is kept of it, printed and read again, is the same.
pub(crate) fn configuration(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let body = |text: &str| {
        let mut trees = Trees::default();
        load::load(&GRAMMAR, &mut trees, text);
        render::body(&GRAMMAR, &trees.configuration, Secrets::Stored)
    };
    let once = body(&text);
    assert_eq!(body(&once), once, "printed, read and printed again");
}

/// Lines at a prompt, each with its help and its completion.
pub(crate) fn line(input: &[u8]) {
    let appliance = appliance();
    let settings = Settings::default();
    let mut session = Session::privileged(Arc::new(Responder { appliance, settings }));
    session.run("configure terminal");
    for line in String::from_utf8_lossy(input).lines().take(20) {
        session.help(line);
        session.complete(line);
        let text = session.run(line);
        assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
        assert!(!session.prompt().is_empty());
        if session.is_over() {
            break;
        }
    }
    session.appliance().current();
}

/// Bytes from a Telnet client: keys at the editor, the pager and questions, in packets that end
/// anywhere.
pub(crate) fn terminal(input: &[u8]) {
    let appliance = appliance();
    let settings = Settings::default();
    let responder = Arc::new(Responder { appliance, settings });
    let client = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let mut protocol = Protocol::default();
    let mut shell = Shell::new(Session::remote(responder, Line::Telnet(client)));
    let packets = input.chunks(1 + usize::from(input.first().copied().unwrap_or(0)) % 64);
    for packet in [b"enable\rconf t\r".as_slice()].into_iter().chain(packets) {
        let arrived = protocol.receive(packet);
        assert!(arrived.typed.len() <= packet.len());
        assert!(arrived.answer.len() <= 5 * packet.len());
        if let Some(width) = arrived.width {
            shell.set_width(width);
        }
        shell.receive(&arrived.typed);
        while shell.can_go_on() {
            shell.go_on();
            let output = shell.take_output();
            let breaks = output.matches('\n').count();
            assert_eq!(output.matches("\r\n").count(), breaks, "{output:?}");
        }
        shell.show_notices();
    }
    assert!(shell.typed_ahead() == 0 || shell.is_over() || shell.is_resting());
}

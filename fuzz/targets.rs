//! What is fuzzed: each target takes any bytes and may neither panic nor hang, and what it lets
//! through must hold what is asserted here. Shared by the targets of cargo-fuzz, by the driver on
//! stable and by the short runs of the tests.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::config::edit::Trees;
use adxemu::config::load;
use adxemu::config::render::{self, Secrets};
use adxemu::demo::Demo;
use adxemu::dns::cookie::Secret;
use adxemu::dns::{Responder, Settings, Transport};
use adxemu::grammar::Grammar;
use adxemu::replay::SessionFile;

/// A target: its name and what it does with an input.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets.
pub(crate) const TARGETS: &[Target] = &[
    ("grammar", grammar),
    ("session", session),
    ("question", question),
    ("configuration", configuration),
    ("line", line),
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

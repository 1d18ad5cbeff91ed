//! Answers in memory: what a question costs without sockets.
//!
//! `cargo bench --bench answer -- [site|ip] [HOSTS] [QUESTIONS] [WORKERS]` prints nanoseconds an
//! answer, of the short way and of the general one. `benches/instructions.sh` runs it under
//! callgrind.

#![allow(
    clippy::cast_precision_loss,
    clippy::disallowed_macros,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use adxemu::appliance::Appliance;
use adxemu::clock::RealClock;
use adxemu::dns::fast::{Batch, Plain, ROOM};
use adxemu::dns::{Responder, Settings, Transport, name};

const SITES: [(&str, u8); 3] = [("192.0.2.1", 50), ("192.0.2.2", 30), ("192.0.2.3", 20)];

/// As `benches/peers/adxemu.sh` makes it.
fn configuration(form: &str, hosts: usize) -> String {
    let mut text = String::new();
    for (number, (_, weight)) in (1..).zip(SITES) {
        let _ =
            writeln!(text, "gslb site site{number}\n weight {weight}\n si-name 10.0.0.{number}");
    }
    text += "!\ngslb dns zone example.com\n";
    for host in 0..hosts {
        let _ = writeln!(text, " host-info h{host:06} http");
        for (vip, _) in SITES {
            let _ = writeln!(text, " host-info h{host:06} ip-list {vip}");
        }
        for (vip, weight) in SITES.iter().filter(|_| form == "ip") {
            let _ = writeln!(text, " host-info h{host:06} ip-weight {vip} {weight}");
        }
    }
    text += "!\ngslb policy\n dns cache-proxy\n dns override\n dns best-only\n";
    let _ = writeln!(text, " weighted-{form}\n metric-order set health-check weighted-{form}\n!");
    for (number, (vip, _)) in (1..).zip(SITES) {
        let _ = writeln!(text, "emulate si 10.0.0.{number} vip {vip} http");
    }
    text
}

/// Questions for hosts in an order without a pattern.
fn questions(hosts: usize) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(1);
    let question = |host: usize| {
        let mut message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
        message.extend(name::key_of_text(&format!("h{host:06}.example.com")).unwrap());
        message.extend([0, 1, 0, 1]);
        message
    };
    (0..20_000).map(|_| question(random.usize(0..hosts))).collect()
}

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Questions that are answered together, and the distance of their buffers.
const WIDTH: usize = 32;
const STRIDE: usize = ROOM + 64;

fn short(responder: &Responder, questions: &[Vec<u8>], count: usize) {
    let mut buffers = vec![0; STRIDE * WIDTH];
    let mut reply = Vec::new();
    let mut rest = questions.iter().cycle();
    let mut done = 0;
    while done < count {
        let questions: [&Vec<u8>; WIDTH] = std::array::from_fn(|_| rest.next().unwrap());
        for (buffer, question) in buffers.chunks_exact_mut(STRIDE).zip(questions) {
            buffer[..question.len()].copy_from_slice(question);
        }
        // As a worker does.
        let mut batch = Batch::begin(responder, &mut reply);
        let mut filled = buffers.chunks_exact(STRIDE).zip(questions);
        let plain: [Plain; WIDTH] = std::array::from_fn(|_| {
            let (buffer, question) = filled.next().unwrap();
            batch.recognise(buffer, question.len()).unwrap()
        });
        for one in plain {
            batch.fetch(one);
        }
        for (buffer, plain) in buffers.chunks_exact_mut(STRIDE).zip(plain) {
            assert!(black_box(batch.answer_plain(plain, buffer, CLIENT)).is_some());
        }
        batch.finish();
        done += WIDTH;
    }
}

fn general(responder: &Responder, questions: &[Vec<u8>], count: usize) {
    let mut reply = Vec::new();
    for question in questions.iter().cycle().take(count) {
        assert!(black_box(responder.respond(question, CLIENT, Transport::Udp, &mut reply)));
    }
}

type Way = fn(&Responder, &[Vec<u8>], usize);

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let form = arguments.next().unwrap_or_else(|| "site".to_owned());
    let mut number = |default| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (hosts, count, workers) = (number(1000), number(1_000_000), number(1));
    let start = Instant::now();
    let appliance = Appliance::in_memory(Arc::new(RealClock::new()));
    appliance.start_with(&configuration(&form, hosts));
    println!("{hosts} hosts read in {:?}", start.elapsed());
    let responder = Responder { appliance: Arc::new(appliance), settings: Settings::default() };
    let questions = questions(hosts);
    let time = |what: &str, way: Way| {
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| way(&responder, &questions, count));
            }
        });
        let each = start.elapsed().as_secs_f64() * 1e9 / count.max(1) as f64;
        println!("{what}: {each:.1} ns an answer and worker");
    };
    if std::env::var_os("ONLY_SHORT").is_none() {
        time("general way", general);
    }
    time("short way", short);
}

//! Damaged questions against [`respond`] and, as they come over UDP, against [`Batch`]: neither
//! must panic, and whatever they say must be sound.

use std::env;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use adxemu::dns::cookie::Secret;
use adxemu::dns::encode::MAX_PAYLOAD;
use adxemu::dns::fast::{Batch, ROOM};
use adxemu::dns::{Responder, Settings, Transport, respond};
use fastrand::Rng;
use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::RecordType;
use hickory_proto::serialize::binary::DecodeError;

use super::messages::{A, AAAA, ANY, HEADER, MX, option, question, with_opt};
use super::world::appliance;

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How many messages are tried; `ADXEMU_MUTATIONS` says another number.
fn rounds() -> u64 {
    let default = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    env::var("ADXEMU_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Sound questions of every kind, from which the others are made.
fn seeds() -> Vec<Vec<u8>> {
    let options = [
        option(8, b"\x00\x01\x18\x00\xcb\x00\x71"),
        option(8, b"\x00\x02\x38\x00\x20\x01\x0d\xb8\x00\x00\x01"),
        option(10, b"\x01\x02\x03\x04\x05\x06\x07\x08"),
        option(10, &[9; 40]),
        option(65001, b"unknown"),
    ];
    let names =
        ["www", "four", "six", "many", "empty", "other"].map(|name| format!("{name}.example.com"));
    let mut only_cookie = vec![0; HEADER];
    only_cookie = with_opt(only_cookie, 1232, 0, 0, &option(10, &[7; 24]));
    let mut seeds = vec![only_cookie];
    for name in names.iter().map(String::as_str).chain([""]) {
        for record_type in [A, AAAA, ANY, MX, 252] {
            let plain = question(0, name, record_type);
            seeds.push(with_opt(plain.clone(), 1232, 0, 0, b""));
            seeds.push(with_opt(plain.clone(), 512, 0, 0x8000, &options.concat()));
            seeds.extend(options.each_ref().map(|one| with_opt(plain.clone(), 4096, 0, 0, one)));
            seeds.push(plain);
        }
    }
    seeds
}

/// Makes one to four changes of a kind that damages messages on the way or by intent.
fn mutate(random: &mut Rng, message: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    for _ in 0..random.usize(1..=4) {
        let at = random.usize(0..=message.len());
        match random.u8(0..8) {
            0 if at < message.len() => message[at] ^= 1 << random.u8(0..8),
            1 if at < message.len() => message[at] = random.u8(..),
            // Bytes that mean something: pointers, ends, lengths.
            2 if at < message.len() => {
                message[at] = [0, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff][random.usize(0..7)];
            }
            3 => message.insert(at, random.u8(..)),
            4 if at < message.len() => drop(message.remove(at)),
            5 => message.truncate(at),
            6 => message.extend_from_within(at..),
            7 => {
                let other = &seeds[random.usize(0..seeds.len())];
                message.truncate(at);
                message.extend(&other[at.min(other.len())..]);
            }
            // In the header, where every bit counts.
            _ if message.len() >= HEADER => message[random.usize(2..HEADER)] = random.u8(0..4),
            _ => {}
        }
    }
}

/// What must hold of every reply.
fn check(message: &[u8], reply: &[u8], transport: Transport) {
    let parsed = match Message::from_vec(reply) {
        // A copied option of a client that says no address at all, which the library does not know.
        Err(DecodeError::UnknownAddressFamily(0)) => return,
        parsed => parsed.expect("a reply can be read"),
    };
    assert_eq!(reply[..2], message[..2], "id");
    assert_eq!(parsed.metadata.message_type, MessageType::Response);
    assert_eq!(reply[2] & 0x79, message[2] & 0x79, "opcode and RD");
    assert_eq!(reply[3] & 0xf0, 0, "RA, Z, AD and CD");
    if transport == Transport::Udp {
        assert!(reply.len() <= allowed(message, &parsed), "{} bytes", reply.len());
    }
    if let Some(question) = parsed.queries.first() {
        let wire = question.name().len() + 4;
        assert_eq!(reply[HEADER..HEADER + wire], message[HEADER..HEADER + wire]);
    }
    let Some(first) = parsed.answers.first() else { return };
    assert_eq!(parsed.metadata.response_code, ResponseCode::NoError);
    assert!(parsed.metadata.authoritative);
    let asked = parsed.queries[0].query_type();
    let given = first.record_type();
    assert!(asked == given || asked == RecordType::ANY);
    assert!(matches!(given, RecordType::A | RecordType::AAAA));
    for record in &parsed.answers {
        assert_eq!(record.record_type(), given, "one family");
        assert!(record.name.eq_case(parsed.queries[0].name()), "owner in the question's spelling");
    }
}

/// The longest reply over UDP, as an independent reader of the message sees it.
fn allowed(message: &[u8], reply: &Message) -> usize {
    if reply.edns.is_none() {
        return 512;
    }
    let payload = Message::from_vec(message).ok().and_then(|message| message.edns);
    payload.map_or(MAX_PAYLOAD, |edns| edns.max_payload().clamp(512, MAX_PAYLOAD)).into()
}

/// Report U84.
#[test]
fn whatever_comes_the_replies_are_sound() {
    let appliance = Arc::new(appliance());
    let settings = [(false, false), (true, false), (false, true), (true, true)].map(
        |(client_subnet, strict_dns)| {
            let cookies = strict_dns.then(|| Secret::new([9; 16]));
            Settings { client_subnet, strict_dns, cookies, ..Settings::default() }
        },
    );
    let responders = settings.map(|settings| Responder { appliance: appliance.clone(), settings });
    let seeds = seeds();
    let mut buffer = vec![0; 65536];
    let mut spare = Vec::new();
    let mut random = Rng::with_seed(0x5eed);
    let mut reply = Vec::new();
    let mut message = Vec::new();
    let mut replies = 0_u64;
    let mut with_answers = 0_u64;
    let rounds = rounds();
    for round in 0..rounds {
        message.clear();
        message.extend(&seeds[random.usize(0..seeds.len())]);
        message[..2].copy_from_slice(&random.u16(..).to_be_bytes());
        mutate(&mut random, &mut message, &seeds);
        message.truncate(65535);
        let transport = if round % 2 == 0 { Transport::Udp } else { Transport::Tcp };
        let responder = &responders[random.usize(0..responders.len())];
        let is_answered = if transport == Transport::Udp {
            buffer.truncate(message.len().max(ROOM));
            buffer.resize(message.len().max(ROOM), 0);
            buffer[..message.len()].copy_from_slice(&message);
            let mut batch = Batch::begin(responder, &mut spare);
            let length = batch.answer(&mut buffer, message.len(), CLIENT);
            batch.finish();
            reply.clear();
            reply.extend(&buffer[..length.unwrap_or(0)]);
            length.is_some()
        } else {
            let settings = responder.settings;
            respond(&appliance, settings, &message, CLIENT, transport, &mut reply)
        };
        if is_answered {
            check(&message, &reply, transport);
            replies += 1;
            with_answers += u64::from(reply[7] > 0);
        } else {
            let is_question = message.len() >= HEADER && message[2] & 0x80 == 0;
            assert!(!is_question, "no reply to {message:x?}");
        }
    }
    assert!(replies > rounds / 2, "most messages still have a readable header");
    assert!(with_answers > rounds / 50, "some are still good questions");
}

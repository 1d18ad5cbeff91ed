//! The rate limit, over real sockets with a driven clock, and what a forged question can gain.

use std::num::NonZeroU32;

use adxemu::dns::Settings;
use adxemu::dns::cookie::Secret;
use adxemu::dns::rate::RateLimit;
use adxemu::dns::serve::TcpLimits;
use hickory_proto::op::{Message, ResponseCode};

use super::messages::{A, AAAA, ANY, HEADER, option, question, with_opt};
use super::world::{Served, options_of, receive, served};

const COOKIE: u16 = 10;

fn limited(per_second: u32) -> Served {
    let per_second = NonZeroU32::new(per_second).unwrap();
    let settings = Settings {
        rate_limit: Some(RateLimit { per_second, slip: 2 }),
        cookies: Some(Secret::new([5; 16])),
        ..Settings::default()
    };
    served(settings, TcpLimits::default())
}

fn counted(served: &Served, name: &str) -> u64 {
    let counters = served.responder.appliance.counters.values();
    counters.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn a_flood_gets_its_share_and_some_hints_to_use_tcp() {
    let served = limited(5);
    let socket = served.udp();
    let message = with_opt(question(1, "wWw.example.com", A), 1232, 0, 0, b"");
    for _ in 0..20 {
        socket.send(&message).unwrap();
    }
    // 5 whole, and 7 of the 15 others cut.
    let (mut whole, mut cut) = (0, 0);
    for _ in 0..12 {
        let bytes = receive(&socket);
        let reply = Message::from_vec(&bytes).unwrap();
        assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
        assert!(reply.metadata.authoritative && reply.edns.is_some());
        assert_eq!(bytes[HEADER..HEADER + 21], message[HEADER..HEADER + 21]);
        if reply.metadata.truncation {
            assert!(reply.answers.is_empty());
            assert_eq!(bytes.len(), message.len(), "no more than was sent");
            cut += 1;
        } else {
            assert_eq!(reply.answers.len(), 3);
            whole += 1;
        }
    }
    assert_eq!((whole, cut), (5, 7));
    // A datagram that is answered after them: all before it have been counted.
    socket.send(&question(2, "four.example.com", A)).unwrap();
    assert_eq!(receive(&socket)[..2], [0, 2]);
    assert_eq!(counted(&served, "dropped by the rate limit"), 8);
    assert_eq!(counted(&served, "cut by the rate limit"), 7);
    assert_eq!(counted(&served, "questions"), 21, "every question counts as one");

    // Who comes again over TCP is not limited, nor is another name.
    for _ in 0..20 {
        let reply = Message::from_vec(&served.ask_tcp(&message)).unwrap();
        assert_eq!((reply.answers.len(), reply.metadata.truncation), (3, false));
    }
    served.responder.appliance.clock.advance(16);
    assert_eq!(Message::from_vec(&served.ask_udp(&message)).unwrap().answers.len(), 3);
}

#[test]
fn names_that_do_not_exist_share_one_account() {
    let served = limited(3);
    let socket = served.udp();
    for number in 0..10 {
        socket.send(&question(number, &format!("n{number}.example.net"), A)).unwrap();
    }
    let replies: Vec<Vec<u8>> = (0..6).map(|_| receive(&socket)).collect();
    let cut = replies.iter().filter(|reply| reply[2] & 0x02 != 0).count();
    assert_eq!(cut, 3, "three whole, and three of seven cut");
    assert!(replies.iter().all(|reply| reply[3] & 0x0f == 5), "REFUSED");
}

#[test]
fn a_client_with_a_cookie_is_not_limited() {
    let served = limited(2);
    let ask = |cookie: &[u8]| {
        with_opt(question(3, "www.example.com", A), 1232, 0, 0, &option(COOKIE, cookie))
    };
    let first = served.ask_udp(&ask(b"12345678"));
    let cookie = options_of(&first).into_iter().find(|(code, _)| *code == COOKIE).unwrap().1;
    for _ in 0..50 {
        let reply = Message::from_vec(&served.ask_udp(&ask(&cookie))).unwrap();
        assert_eq!((reply.answers.len(), reply.metadata.truncation), (3, false));
    }
    assert_eq!(counted(&served, "dropped by the rate limit"), 0);
}

/// Report U79: ANY is no larger than other types.
#[test]
fn a_forged_question_gains_little() {
    let settings = Settings { cookies: Some(Secret::new([5; 16])), ..Settings::default() };
    let served = served(settings, TcpLimits::default());
    for name in ["www.example.com", "many.example.com", "other.example.com", ""] {
        for record_type in [A, AAAA, ANY] {
            // Without EDNS never more than 512 bytes, with it never more than it was told nor 1232.
            let plain = question(1, name, record_type);
            assert!(served.ask_udp(&plain).len() <= 512);
            for payload in [0, 512, 1232, 4096, 65535] {
                let message = with_opt(plain.clone(), payload, 0, 0, b"");
                let most = usize::from(payload.clamp(512, 1232));
                assert!(served.ask_udp(&message).len() <= most, "{name} {record_type} {payload}");
            }
        }
    }
    // What is no question gets header, question and OPT record at most.
    let good =
        with_opt(question(1, "www.example.com", A), 4096, 0, 0, &option(COOKIE, b"12345678"));
    for at in 0..good.len() {
        for byte in [0x00, 0x7f, 0xc0, 0xff] {
            let mut damaged = good.clone();
            damaged[at] = byte;
            if damaged.len() < HEADER || damaged[2] & 0x80 != 0 {
                continue;
            }
            let reply = served.ask_udp(&damaged);
            let code = reply[3] & 0x0f;
            if code != 0 {
                // A reason of a refusal is the only thing that is added.
                let most = damaged.len() + 16 + if code == 5 { 40 } else { 0 };
                assert!(reply.len() <= most, "{at} {byte}: {} to {}", damaged.len(), reply.len());
            }
        }
    }
}

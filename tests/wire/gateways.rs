//! An SNA gateway domain over UDP: the address of the socket that asks decides who gets what.
//!
//! The same by hand, with the user records of the built-in example:
//!
//! ```text
//! adxemu serve demo sna --dns 127.0.0.1:5300
//! dig @127.0.0.1 -p 5300 -b 127.0.0.2 glb.sna.example.com
//! ```

use std::net::{Ipv4Addr, UdpSocket};

use adxemu::demo::Demo;
use adxemu::dns::Settings;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::RData;

use super::messages::{A, ANY, question};
use super::world::{PATIENCE, Served, receive, served_demo};

const SITE1: u8 = 1;
const SITE2: u8 = 2;
/// An address that no user record matches.
const STRANGER: u8 = 3;

/// Asks from 127.0.0.`last`, a port of the system's choice.
fn ask(served: &Served, last: u8, name: &str) -> Message {
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), 0)).unwrap();
    socket.connect(served.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send(&question(7, name, A)).unwrap();
    Message::from_vec(&receive(&socket)).unwrap()
}

/// The last part of the one address of an answer.
fn gateway(reply: &Message) -> u8 {
    let [record] = reply.answers.as_slice() else { panic!("{reply:?}") };
    let RData::A(address) = &record.data else { panic!("{record:?}") };
    assert!(reply.metadata.authoritative);
    assert_eq!(record.ttl, 10);
    address.0.octets()[3]
}

fn emulate(served: &Served, lines: &[&str]) {
    served.responder.appliance.load_world(&lines.join("\n"));
    assert!(served.responder.appliance.configuration().rejected.is_empty());
}

/// The states of section 5 of the example, one after the other, each asked for by both sites.
#[test]
fn each_site_is_sent_to_its_gateway_in_every_state() {
    let served = served_demo(Demo::Sna, Settings::default());
    let glb = "gLb.sna.example.com";
    let both = || [SITE1, SITE2].map(|last| gateway(&ask(&served, last, glb)));
    assert_eq!(both(), [12, 13], "gw2 has less to do than gw1");

    emulate(
        &served,
        &[
            "emulate sna sna.example.com system gw1 load-average 0.20",
            "emulate sna sna.example.com system gw2 bandwidth 1500",
        ],
    );
    assert_eq!(both(), [11, 13], "gw1 has the better line");

    let lus = |status: &str| {
        ["LU01", "LU02"].map(|lu| format!("emulate sna sna.example.com lu {lu} {status}"))
    };
    let set = |status: &str| {
        let lines = lus(status);
        emulate(&served, &[lines[0].as_str(), lines[1].as_str()]);
    };
    set("in-use");
    assert_eq!(both(), [13, 13], "the alternate of the first site");
    set("inactive");
    assert_eq!(both(), [13, 13], "inactive LUs do not count yet");
    emulate(&served, &["emulate sna sna.example.com lu LU03 in-use"]);
    assert_eq!(both(), [11, 11], "inactive LUs count");
    set("in-use");
    assert_eq!(both(), [12, 13], "the least recently used of the preferred pool");
    assert_eq!(both(), [11, 13]);
}

#[test]
fn names_are_for_anybody_and_the_keyword_is_not() {
    let served = served_demo(Demo::Sna, Settings::default());
    for last in [SITE1, SITE2, STRANGER] {
        assert_eq!(gateway(&ask(&served, last, "POOL-2.sna.example.com")), 13);
        assert_eq!(gateway(&ask(&served, last, "lu01.SNA.example.com")), 11);
        assert_eq!(gateway(&ask(&served, last, "foo.sna.example.com")), 12);
    }
    for name in ["glb.sna.example.com", "other.sna.example.com"] {
        let reply = ask(&served, STRANGER, name);
        assert_eq!(reply.metadata.response_code, ResponseCode::NXDomain);
        assert!(reply.metadata.authoritative && reply.answers.is_empty());
    }
}

#[test]
fn strict_negative_answers_name_the_domain() {
    let served = served_demo(Demo::Sna, Settings { strict_dns: true, ..Settings::default() });
    for (name, code) in [
        ("sna.example.com", ResponseCode::NoError),
        ("x.y.sna.example.com", ResponseCode::NXDomain),
    ] {
        let reply = ask(&served, SITE1, name);
        assert_eq!(reply.metadata.response_code, code, "{name}");
        let [soa] = reply.authorities.as_slice() else { panic!("{reply:?}") };
        assert_eq!((soa.name.to_ascii().as_str(), soa.ttl), ("sna.example.com.", 10));
    }
}

/// RFC 8482 section 4.2, since no rule of a device says what ANY gets here; RFC 8020: nothing stands
/// below a name that does not exist.
#[test]
fn any_gets_as_little_as_can_be_and_below_nothing_is_nothing() {
    let served = served_demo(Demo::Sna, Settings { strict_dns: true, ..Settings::default() });
    for name in ["lu01.sna.example.com", "sna.example.com"] {
        let reply = Message::from_vec(&served.ask_udp(&question(7, name, ANY))).unwrap();
        assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
        let [record] = reply.answers.as_slice() else { panic!("{reply:?}") };
        assert_eq!(
            format!("{} {} {}", record.name, record.ttl, record.data),
            format!("{name}. 10 RFC8482 ")
        );
        assert!(reply.authorities.is_empty(), "it is no negative answer");
    }
    for name in ["other.sna.example.com", "x.other.sna.example.com"] {
        for record_type in [A, ANY] {
            let reply =
                Message::from_vec(&served.ask_udp(&question(7, name, record_type))).unwrap();
            assert_eq!(reply.metadata.response_code, ResponseCode::NXDomain);
            assert!(reply.answers.is_empty());
        }
    }
}

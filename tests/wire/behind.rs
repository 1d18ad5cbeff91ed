//! A real DNS server behind: questions go out over UDP and TCP, and what comes back is taken only
//! from whom it was asked.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread;

use adxemu::appliance::Appliance;
use adxemu::clock::DrivenClock;
use adxemu::dns::Settings;
use adxemu::dns::serve::TcpLimits;
use adxemu::live::gate::Allowed;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::RData;

use super::messages::{A, MX, question, with_opt};
use super::scripted::answer;
use super::world::{Served, any_port, prefixed, read_reply, serve};

pub(crate) const CONFIGURATION: &str = "\
server real ns-1 192.0.2.53
 port dns
 port dns proxy
!
server virtual vip 198.51.100.53
 port dns
 bind dns ns-1 dns
!
gslb dns zone example.com
 host-info www http
!
";

/// Where the server behind is according to the configuration.
const SERVER: (&str, u16) = ("192.0.2.53", 53);

/// A DNS server with two addresses for every name. `many...` has forty and needs TCP; `other...` is
/// first answered with a wrong id, then with another question.
fn start_server() -> u16 {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind(any_port()).unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            break (udp, tcp);
        }
    };
    let port = udp.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, client)) = udp.recv_from(&mut buffer) {
            let asked = &buffer[..length];
            let mut reply = answer(asked, 2);
            if asked[13..].starts_with(b"many") {
                reply = answer(asked, 0);
                reply[2] |= 0x02;
            }
            if asked[13..].starts_with(b"other") {
                let mut wrong = reply.clone();
                wrong[0] ^= 0xff;
                udp.send_to(&wrong, client).unwrap();
                let mut wrong = reply.clone();
                wrong[13] = b'x';
                udp.send_to(&wrong, client).unwrap();
            }
            udp.send_to(&reply, client).unwrap();
        }
    });
    thread::spawn(move || {
        while let Ok((mut stream, _)) = tcp.accept() {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut asked = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut asked).unwrap();
            stream.write_all(&prefixed(&answer(&asked, 40))).unwrap();
        }
    });
    port
}

/// An appliance whose server behind is at this port of the loopback address.
fn served_before(port: u16) -> Served {
    served_with(CONFIGURATION, port)
}

/// The same with another configuration, whose server behind is [`SERVER`].
pub(crate) fn served_with(configuration: &str, port: u16) -> Served {
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    appliance.start_with(configuration);
    assert!(appliance.configuration().rejected.is_empty());
    appliance.gate.open(Allowed::Mapped);
    let address: IpAddr = SERVER.0.parse().unwrap();
    assert!(appliance.gate.map(address, SERVER.1, &format!("127.0.0.1:{port}")));
    let served = serve(appliance, Settings::default(), TcpLimits::default());
    served.responder.appliance.go_live(served.runtime.handle());
    served
}

fn addresses(reply: &[u8]) -> Vec<(String, u32)> {
    let reply = Message::from_vec(reply).unwrap();
    assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
    let address = |data: &RData| match data {
        RData::A(address) => address.to_string(),
        other => panic!("{other}"),
    };
    reply.answers.iter().map(|record| (address(&record.data), record.ttl)).collect()
}

fn pair(first: &str, second: &str, ttl: u32) -> Vec<(String, u32)> {
    vec![(first.to_owned(), ttl), (second.to_owned(), ttl)]
}

#[test]
fn the_policy_is_applied_to_what_a_real_server_says() {
    let served = served_before(start_server());
    let www = question(7, "www.example.com", A);
    assert_eq!(addresses(&served.ask_udp(&www)), pair("192.0.2.1", "192.0.2.2", 10));
    assert_eq!(addresses(&served.ask_tcp(&www)), pair("192.0.2.2", "192.0.2.1", 10));
    let reply = served.ask_udp(&with_opt(www.clone(), 1232, 0, 0, &[]));
    assert_eq!(reply[..2], www[..2], "the id of the client");
    assert_eq!(addresses(&reply).len(), 2);
    let snapshot = served.responder.appliance.current();
    let learned: Vec<String> =
        snapshot.hosts[0].addresses.iter().map(|address| address.ip.to_string()).collect();
    assert_eq!(learned, ["192.0.2.1", "192.0.2.2"]);
}

#[test]
fn other_names_and_types_come_back_as_they_are() {
    let served = served_before(start_server());
    let ftp = question(8, "ftp.example.com", A);
    assert_eq!(addresses(&served.ask_udp(&ftp)), pair("192.0.2.1", "192.0.2.2", 300));
    let mx = question(9, "www.example.com", MX);
    assert!(addresses(&served.ask_udp(&mx)).is_empty());
}

#[test]
fn what_does_not_fit_is_fetched_over_tcp() {
    let served = served_before(start_server());
    let many = question(10, "many.example.com", A);
    assert_eq!(addresses(&served.ask_tcp(&many)).len(), 40);
    let over_udp = served.ask_udp(&many);
    assert_eq!(over_udp[2] & 0x02, 0x02, "the client has no EDNS, so TC");
    assert!(over_udp.len() <= 512);
}

#[test]
fn answers_to_other_questions_are_passed_over() {
    let served = served_before(start_server());
    let other = question(11, "other.example.com", A);
    assert_eq!(addresses(&served.ask_udp(&other)), pair("192.0.2.1", "192.0.2.2", 300));
}

/// Nobody listens there: the system says so at once, and the client hears nothing.
#[test]
fn without_an_answer_there_is_no_reply() {
    let port = UdpSocket::bind(any_port()).unwrap().local_addr().unwrap().port();
    let served = served_before(port);
    let appliance = &served.responder.appliance;
    appliance.gate.map("192.0.2.54".parse().unwrap(), 53, &format!("127.0.0.1:{port}"));
    let mut stream = served.tcp();
    let lost = question(12, "www.example.com", A);
    // A question of no class of ours gets its reply without a server.
    let mut refused = question(13, "www.example.com", A);
    *refused.last_mut().unwrap() = 3;
    stream.write_all(&[prefixed(&lost), prefixed(&refused)].concat()).unwrap();
    let reply = read_reply(&mut stream);
    assert_eq!(reply[..2], refused[..2], "the first one has none");
    let counted = |name: &str| {
        let values = appliance.counters.values();
        values.iter().find(|(known, _)| *known == name).unwrap().1
    };
    assert_eq!(counted("not answered by the server"), 1);
    assert_eq!(counted("questions to the server behind"), 1);
    let said = appliance.log.take().concat();
    assert!(said.contains("no DNS server behind answers"), "{said}");
}

//! Both sockets: what comes back, what does not, and how connections begin and end.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use adxemu::dns::Settings;
use adxemu::dns::serve::{Server, TcpLimits};
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{RData, RecordType};

use super::messages::{A, AAAA, ANY, HEADER, MX, question, with_opt};
use super::world::{Served, any_port, prefixed, read_reply, receive, served, whole};

fn default_served() -> Served {
    served(Settings::default(), TcpLimits::default())
}

/// The code of a reply, after a look at what every reply has.
fn code(message: &[u8], reply: &[u8]) -> ResponseCode {
    let parsed = Message::from_vec(reply).unwrap();
    assert_eq!(reply[..2], message[..2], "id");
    assert_eq!(reply[2] & 0xf9, 0x80 | (message[2] & 0x79), "QR, opcode and RD");
    parsed.metadata.response_code
}

/// Reports U69 and U73.
#[test]
fn each_family_is_answered_in_the_spelling_of_the_question() {
    let served = default_served();
    for (record_type, count) in [(A, 3), (AAAA, 2), (ANY, 3)] {
        let message = question(1, "wWw.ExAmPlE.cOm", record_type);
        for reply in [served.ask_udp(&message), served.ask_tcp(&message)] {
            assert_eq!(reply[HEADER..message.len()], message[HEADER..]);
            let reply = Message::from_vec(&reply).unwrap();
            assert_eq!(reply.answers.len(), count);
            assert!(reply.metadata.authoritative && !reply.metadata.recursion_available);
            for record in &reply.answers {
                assert_eq!(record.name.to_ascii(), "wWw.ExAmPlE.cOm.");
                assert_eq!(record.ttl, 10);
                match &record.data {
                    RData::A(_) => assert_ne!(record_type, AAAA),
                    RData::AAAA(_) => assert_eq!(record_type, AAAA),
                    other => panic!("{other}"),
                }
            }
        }
    }
}

/// Reports U18, U23 and U68: nothing in the authority section either.
#[test]
fn names_and_types_get_the_code_that_is_theirs() {
    let served = default_served();
    for (name, record_type, expected, authoritative) in [
        ("www.example.com", MX, ResponseCode::NoError, true),
        ("four.example.com", AAAA, ResponseCode::NoError, true),
        ("six.example.com", A, ResponseCode::NoError, true),
        ("empty.example.com", A, ResponseCode::NoError, true),
        ("example.com", A, ResponseCode::Refused, false),
        ("other.example.com", A, ResponseCode::Refused, false),
        ("www.example.net", A, ResponseCode::Refused, false),
        ("", A, ResponseCode::Refused, false),
    ] {
        let message = question(2, name, record_type);
        let reply = served.ask_udp(&message);
        assert_eq!(code(&message, &reply), expected, "{name}");
        let reply = Message::from_vec(&reply).unwrap();
        assert_eq!(reply.metadata.authoritative, authoritative, "{name}");
        assert!(reply.answers.is_empty() && reply.authorities.is_empty(), "{name}");
    }
}

/// Report U80; without the switch there is none.
#[test]
fn strict_negative_answers_carry_an_soa() {
    let settings = Settings { strict_dns: true, ..Settings::default() };
    let served = served(settings, TcpLimits::default());
    for name in ["www.example.com", "empty.example.com"] {
        let reply = Message::from_vec(&served.ask_udp(&question(1, name, MX))).unwrap();
        assert_eq!(reply.authorities.len(), 1);
        assert_eq!(reply.authorities[0].record_type(), RecordType::SOA);
        assert_eq!(reply.authorities[0].name.to_ascii(), "example.com.");
        assert_eq!(reply.authorities[0].ttl, 10);
    }
}

/// Report U84.
#[test]
fn messages_that_are_no_question_get_a_code_with_their_id() {
    let served = default_served();
    let good = question(0xbeef, "www.example.com", A);
    let changed = |at: usize, byte: u8| {
        let mut message = good.clone();
        message[at] = byte;
        message
    };
    let end = good.len();
    for (what, message, expected) in [
        ("header only", good[..HEADER].to_vec(), ResponseCode::FormErr),
        ("cut", good[..end - 1].to_vec(), ResponseCode::FormErr),
        ("no question", changed(5, 0), ResponseCode::FormErr),
        ("two questions", [&changed(5, 2)[..], &good[HEADER..]].concat(), ResponseCode::FormErr),
        ("TC", changed(2, 0x03), ResponseCode::FormErr),
        ("label of 64", changed(HEADER, 64), ResponseCode::FormErr),
        (
            "pointer loop",
            [&good[..HEADER], b"\xc0\x0c\0\x01\0\x01"].concat(),
            ResponseCode::FormErr,
        ),
        ("missing record", changed(7, 1), ResponseCode::FormErr),
        ("NOTIFY", changed(2, 4 << 3), ResponseCode::NotImp),
        ("UPDATE", changed(2, 5 << 3), ResponseCode::NotImp),
        ("STATUS", changed(2, 2 << 3), ResponseCode::NotImp),
        ("class CH", changed(end - 1, 3), ResponseCode::Refused),
        ("class ANY", changed(end - 1, 255), ResponseCode::Refused),
        ("AXFR", question(0xbeef, "www.example.com", 252), ResponseCode::Refused),
        ("IXFR", question(0xbeef, "www.example.com", 251), ResponseCode::Refused),
        ("trailing bytes", [&good[..], b"behind"].concat(), ResponseCode::NoError),
    ] {
        assert_eq!(code(&message, &served.ask_udp(&message)), expected, "{what}");
        assert_eq!(code(&message, &served.ask_tcp(&message)), expected, "{what}");
    }
}

/// Report U84.
#[test]
fn fragments_and_replies_are_met_with_silence() {
    let served = default_served();
    let mut reply = question(1, "www.example.com", A);
    reply[2] |= 0x80;
    let good = question(2, "www.example.com", A);
    let silent = [b"".to_vec(), good[..11].to_vec(), reply];

    let socket = served.udp();
    for message in &silent {
        socket.send(message).unwrap();
    }
    socket.send(&good).unwrap();
    assert_eq!(receive(&socket)[..2], good[..2]);

    let mut stream = served.tcp();
    for message in &silent {
        stream.write_all(&prefixed(message)).unwrap();
    }
    stream.write_all(&prefixed(&good)).unwrap();
    assert_eq!(read_reply(&mut stream)[..2], good[..2]);
}

#[test]
fn what_does_not_fit_is_cut_and_comes_whole_over_tcp() {
    let served = default_served();
    let plain = question(3, "many.example.com", A);
    let large = with_opt(plain.clone(), 4096, 0, 0, b"");
    // 100 records of 16 bytes beside header, question and OPT record.
    let fixed = plain.len();
    for (message, limit, opt_length) in [(&plain, 512, 0), (&large, 1232, 11)] {
        let reply = served.ask_udp(message);
        assert!(reply.len() <= limit);
        let reply = whole(&reply);
        assert!(reply.metadata.truncation);
        assert_eq!(reply.answers.len(), (limit - fixed - opt_length) / 16);
        assert_eq!(reply.edns.is_some(), opt_length > 0);
        let reply = whole(&served.ask_tcp(message));
        assert!(!reply.metadata.truncation);
        assert_eq!(reply.answers.len(), 100);
    }
}

#[test]
fn questions_in_one_write_are_answered_in_order() {
    let served = default_served();
    let mut stream = served.tcp();
    let names = ["www.example.com", "many.example.com", "other.example.com"];
    let questions = (0..300_u16).map(|id| question(id, names[usize::from(id % 3)], A));
    let bytes: Vec<u8> = questions.flat_map(|message| prefixed(&message)).collect();
    stream.write_all(&bytes).unwrap();
    // The client says that it is done; what it asked is answered still.
    stream.shutdown(Shutdown::Write).unwrap();
    for id in 0..300_u16 {
        let reply = Message::from_vec(&read_reply(&mut stream)).unwrap();
        assert_eq!(reply.metadata.id, id);
        assert_eq!(reply.answers.len(), [3, 100, 0][usize::from(id % 3)]);
    }
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed behind the last reply");
}

#[test]
fn a_question_may_come_in_pieces() {
    let served = default_served();
    let mut stream = served.tcp();
    let message = prefixed(&question(4, "www.example.com", A));
    for _ in 0..2 {
        for (place, byte) in message.iter().enumerate() {
            stream.write_all(&[*byte]).unwrap();
            if place < 3 {
                // An answer on the other socket shows that the server has had its turn.
                served.ask_udp(&question(5, "www.example.com", A));
            }
        }
        assert_eq!(Message::from_vec(&read_reply(&mut stream)).unwrap().answers.len(), 3);
    }
}

#[test]
fn a_connection_closed_within_a_question_harms_nobody() {
    let served = default_served();
    let message = prefixed(&question(4, "www.example.com", A));
    for length in 0..message.len() {
        let mut stream = served.tcp();
        stream.write_all(&message[..length]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_is_closed(&mut stream);
    }
    served.ask_tcp(&question(6, "www.example.com", A));
}

/// Waits until the other side closes the connection without another byte.
fn assert_is_closed(stream: &mut TcpStream) {
    match stream.read(&mut [0; 16]) {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

#[test]
fn clients_that_do_nothing_are_let_go() {
    let idle_timeout = Duration::from_millis(50);
    let served = served(Settings::default(), TcpLimits { idle_timeout, ..TcpLimits::default() });
    let mut silent = served.tcp();
    let mut slow = served.tcp();
    slow.write_all(&[0]).unwrap();
    assert_is_closed(&mut silent);
    assert_is_closed(&mut slow);
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let limits = TcpLimits { connections_per_client: 2, ..TcpLimits::default() };
    let served = served(Settings::default(), limits);
    let message = prefixed(&question(4, "www.example.com", A));
    let mut open = [served.tcp(), served.tcp()];
    for stream in &mut open {
        stream.write_all(&message).unwrap();
        read_reply(stream);
    }
    assert_is_closed(&mut served.tcp());
    for stream in &mut open {
        stream.write_all(&message).unwrap();
        read_reply(stream);
    }
}

#[test]
fn several_clients_at_once_always_get_addresses() {
    let served = default_served();
    let message = question(8, "www.example.com", A);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let socket = served.udp();
                let mut stream = served.tcp();
                for _ in 0..300 {
                    socket.send(&message).unwrap();
                    assert_eq!(Message::from_vec(&receive(&socket)).unwrap().answers.len(), 3);
                    stream.write_all(&prefixed(&message)).unwrap();
                    assert_eq!(
                        Message::from_vec(&read_reply(&mut stream)).unwrap().answers.len(),
                        3
                    );
                }
            });
        }
    });
    let counters = served.responder.appliance.counters.values();
    let value = |wanted| counters.iter().find(|(name, _)| *name == wanted).unwrap().1;
    assert_eq!(value("questions"), 1800);
    assert_eq!(value("questions over TCP"), 900);
    assert_eq!(value("cache proxy direct responses"), 1800);
    assert_eq!(value("dropped"), 0);
}

#[test]
fn workers_share_an_address_and_one_count() {
    let first = default_served();
    let (runtime, responder) = (first.runtime.handle(), &first.responder);
    let workers = NonZeroUsize::new(4).unwrap();
    let limits = TcpLimits::default();
    let server = Server::start_with(runtime, responder, &[any_port()], limits, workers).unwrap();
    let [address] = server.addresses() else { panic!("{:?}", server.addresses()) };
    // So many clients that the system gives some to each worker.
    let clients = [(); 32].map(|()| {
        let socket = UdpSocket::bind(any_port()).unwrap();
        socket.connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket
    });
    for round in 0..9_u16 {
        for socket in &clients {
            socket.send(&question(round, "www.example.com", A)).unwrap();
        }
        for socket in &clients {
            assert_eq!(receive(socket)[..2], round.to_be_bytes());
        }
    }
    let snapshot = responder.appliance.current();
    let domain = snapshot.hosts[0].domain.lock();
    let selections: Vec<u64> = domain.tallies.iter().map(|tally| tally.selections).collect();
    // 288 questions, the least selected address each time.
    assert_eq!(selections[..3], [96, 96, 96]);
    assert_eq!(responder.appliance.drops.total().unwrap_or(0), 0);
    drop(domain);
    // Nobody else gets the address, whether or not he would share it.
    let error = Server::start_with(runtime, responder, &[*address], limits, workers).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn several_addresses_are_listened_on_each_with_a_port_for_both_transports() {
    let first = default_served();
    let responder = &first.responder;
    let addresses = [any_port(), any_port()];
    let server =
        Server::start(first.runtime.handle(), responder, &addresses, TcpLimits::default()).unwrap();
    let [one, two] = server.addresses() else { panic!("{:?}", server.addresses()) };
    assert!(one.port() != 0 && two.port() != 0 && one != two);
    for address in [one, two] {
        let socket = UdpSocket::bind(any_port()).unwrap();
        socket.connect(address).unwrap();
        socket.send(&question(1, "www.example.com", A)).unwrap();
        receive(&socket);
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&prefixed(&question(1, "www.example.com", A))).unwrap();
        read_reply(&mut stream);
    }
}

#[test]
fn an_address_that_is_taken_is_named_in_one_line() {
    let first = default_served();
    let start = |address| {
        Server::start(first.runtime.handle(), &first.responder, &[address], TcpLimits::default())
    };
    let error = start(first.address).unwrap_err();
    let address = first.address;
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {address} (UDP): the address is in use")
    );
    // The UDP port of the same number may be taken too, by another test.
    let taken = |_| {
        let taken = TcpListener::bind(any_port()).unwrap();
        let error = start(taken.local_addr().unwrap()).unwrap_err();
        (error.transport == "TCP").then_some(error)
    };
    let error = (0..100).find_map(taken).unwrap();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {} (TCP): the address is in use", error.address)
    );
}

#[test]
fn a_shutdown_closes_everything_and_frees_the_address() {
    let Served { responder, address, server, runtime } = default_served();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&prefixed(&question(1, "www.example.com", A))).unwrap();
    read_reply(&mut stream);
    runtime.block_on(server.shutdown());
    assert_is_closed(&mut stream);
    let again =
        Server::start(runtime.handle(), &responder, &[address], TcpLimits::default()).unwrap();
    assert_eq!(again.addresses(), [address]);
}

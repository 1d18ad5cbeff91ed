//! Workers over loopback sockets, both kinds of sockets alike.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};

use super::*;
use crate::appliance::Appliance;
use crate::clock::DrivenClock;
use crate::dns::Settings;
use crate::dns::name;
use crate::dns::plain_socket::PlainSocket;
use crate::gslb::testing::World;
use crate::model::policy::Metric;

/// Long enough that only a hanging program exceeds it; no test waits for it to pass.
const LIMIT: Duration = Duration::from_secs(20);

/// Three sites with the weights 50, 30 and 20.
fn responder() -> Arc<Responder> {
    let mut world = World::new()
        .site("one", 50, &["192.0.2.1"])
        .site("two", 30, &["192.0.2.2"])
        .site("three", 20, &["192.0.2.3"])
        .metrics(&[Metric::HealthCheck, Metric::WeightedSite])
        .host("www.example.com", &["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    world.snapshot.policies[0].dns.cache_proxy = true;
    world.snapshot.policies[0].dns.override_ = true;
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    appliance.publish(world.snapshot);
    Arc::new(Responder { appliance: Arc::new(appliance), settings: Settings::default() })
}

fn question(id: u16, name: &str) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend(b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00");
    message.extend(name::key_of_text(name).unwrap());
    message.extend([0, 1, 0, 1]);
    message
}

/// Without a rate limit.
fn worker(responder: &Arc<Responder>) -> Worker {
    Worker { responder: Arc::clone(responder), limiter: None, runtime: None }
}

fn counts(responder: &Responder) -> Vec<u64> {
    let snapshot = responder.appliance.current();
    let domain = snapshot.hosts[0].domain.lock();
    domain.tallies.iter().map(|tally| tally.selections).collect()
}

fn client(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect(address).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

/// Puts questions into the queue before there is a worker and stops it at once: all that arrived
/// are answered, each to the one who asked it, between messages that get no reply.
fn what_has_arrived_is_answered<Socket: DatagramSocket>() {
    let responder = responder();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let clients = [client(address), client(address)];
    for id in 0..100_u16 {
        let asker = &clients[usize::from(id % 2)];
        let name = if id % 5 == 0 { "other.example.org" } else { "www.example.com" };
        asker.send(&question(id, name)).unwrap();
        if id % 3 == 0 {
            asker.send(&[]).unwrap();
            asker.send(b"no message").unwrap();
        }
    }
    let mut workers = Workers::default();
    workers.start::<Socket>(socket, worker(&responder)).unwrap();
    drop(workers);
    let mut reply = [0; 512];
    for (remainder, asker) in (0..).zip(&clients) {
        let mut ids = HashSet::new();
        for _ in 0..50 {
            let length = asker.recv(&mut reply).unwrap();
            let id = u16::from_be_bytes([reply[0], reply[1]]);
            assert_eq!(id % 2, remainder);
            assert_eq!(reply[7], if id % 5 == 0 { 0 } else { 3 });
            assert!(length > 12 && ids.insert(id));
        }
    }
    assert_eq!(counts(&responder), [40, 24, 16]);
    let counters = responder.appliance.counters.values();
    let value = |wanted| counters.iter().find(|(name, _)| *name == wanted).unwrap().1;
    assert_eq!(value("questions"), 100);
    assert_eq!(value("refused"), 20);
    assert_eq!(value("dropped"), 68);
}

#[test]
fn what_has_arrived_is_answered_on_a_plain_socket() {
    what_has_arrived_is_answered::<PlainSocket>();
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_arrived_is_answered_in_batches() {
    what_has_arrived_is_answered::<
        super::super::batch_socket::BatchSocket<nix::sys::socket::SockaddrIn>,
    >();
}

#[cfg(target_os = "linux")]
#[test]
fn questions_are_answered_over_ipv6() {
    use super::super::batch_socket::BatchSocket;
    let responder = responder();
    // A machine without IPv6 has nothing to test.
    let Ok(socket) = UdpSocket::bind((std::net::Ipv6Addr::LOCALHOST, 0)) else { return };
    let asker = UdpSocket::bind((std::net::Ipv6Addr::LOCALHOST, 0)).unwrap();
    asker.connect(socket.local_addr().unwrap()).unwrap();
    asker.set_read_timeout(Some(LIMIT)).unwrap();
    let mut workers = Workers::default();
    workers
        .start::<BatchSocket<nix::sys::socket::SockaddrIn6>>(socket, worker(&responder))
        .unwrap();
    let mut reply = [0; 512];
    // So many that the last of them are taken alone.
    for id in 7..19 {
        asker.send(&question(id, "www.example.com")).unwrap();
        asker.recv(&mut reply).unwrap();
        assert_eq!((u16::from(reply[1]), reply[7]), (id, 3));
    }
}

/// Workers that nobody asks anything end at once when they are to, also those that share an address.
#[cfg(target_os = "linux")]
#[test]
fn idle_workers_end() {
    use super::super::batch_socket::{BatchSocket, bind};
    use std::num::NonZeroUsize;
    let responder = responder();
    let mut workers = Workers::default();
    let count = NonZeroUsize::new(4).unwrap();
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        for socket in bind(address.parse().unwrap(), count).unwrap() {
            workers
                .start::<BatchSocket<nix::sys::socket::SockaddrIn>>(socket, worker(&responder))
                .unwrap();
        }
    }
    assert_eq!(workers.stop(), 8);
    assert!(responder.appliance.counters.values().iter().all(|(_, count)| *count == 0));
}

/// Questions that come one by one, and then many at once, are all answered.
#[cfg(target_os = "linux")]
#[test]
fn lone_questions_and_bursts_are_answered() {
    use super::super::batch_socket::BatchSocket;
    let responder = responder();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let asker = client(socket.local_addr().unwrap());
    let mut workers = Workers::default();
    workers.start::<BatchSocket<nix::sys::socket::SockaddrIn>>(socket, worker(&responder)).unwrap();
    let mut reply = [0; 512];
    for burst in [1, 1, 1, 40, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 48] {
        for id in 0..burst {
            asker.send(&question(id, "www.example.com")).unwrap();
        }
        let mut ids = HashSet::new();
        for _ in 0..burst {
            asker.recv(&mut reply).unwrap();
            assert_eq!(reply[7], 3);
            assert!(ids.insert(reply[1]));
        }
    }
    assert_eq!(workers.stop(), 1);
    assert_eq!(counts(&responder).iter().sum::<u64>(), 103);
}

#[test]
fn workers_on_one_name_count_as_one_would() {
    let responder = responder();
    let message = question(1, "www.example.com");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut buffer = vec![0; crate::dns::fast::ROOM];
                let mut reply = Vec::new();
                for batch in 0..100 {
                    let mut batch_of_questions = Batch::begin(&responder, &mut reply);
                    for _ in 0..25 {
                        buffer[..message.len()].copy_from_slice(&message);
                        let client = IpAddr::from([198, 51, 100, batch]);
                        batch_of_questions.answer(&mut buffer, message.len(), client).unwrap();
                    }
                    batch_of_questions.finish();
                }
            });
        }
    });
    assert_eq!(counts(&responder), [5000, 3000, 2000]);
    let domain_requests = responder.appliance.current().hosts[0].domain.lock().total_requests();
    assert_eq!(domain_requests, 10_000);
    let counters = responder.appliance.counters.values();
    assert_eq!(counters[0], ("questions", 10_000));
}

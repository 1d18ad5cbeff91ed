//! A simulation and real questions over a socket count the same.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use adxemu::appliance::Appliance;
use adxemu::clock::DrivenClock;
use adxemu::dns::serve::{Server, TcpLimits};
use adxemu::dns::{Responder, Settings};
use proptest::prelude::*;

use crate::whatif::subjects::{draw, grammar, plan, run, selected, weighted_ip};

/// The first address of the answer to an A question for `www.example.com`.
fn first_address(socket: &UdpSocket) -> IpAddr {
    let question =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01";
    socket.send(question).unwrap();
    let mut reply = [0; 1232];
    let length = socket.recv(&mut reply).unwrap();
    let message = hickory_proto::op::Message::from_vec(&reply[..length]).unwrap();
    match message.answers[0].data {
        hickory_proto::rr::RData::A(address) => address.0.into(),
        ref other => panic!("{other:?}"),
    }
}

/// How often each of `count` answers over a socket began with each address.
fn asked_over_a_socket(text: &str, addresses: &[IpAddr], count: u64) -> Vec<u64> {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Appliance::new(Arc::clone(grammar()), clock, None);
    appliance.start_with(text);
    let responder =
        Arc::new(Responder { appliance: Arc::new(appliance), settings: Settings::default() });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let any = [SocketAddr::from(([127, 0, 0, 1], 0))];
    let server = Server::start(runtime.handle(), &responder, &any, TcpLimits::default()).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.connect(server.addresses()[0]).unwrap();
    let mut counts = vec![0; addresses.len()];
    for _ in 0..count {
        let address = first_address(&socket);
        counts[addresses.iter().position(|known| *known == address).unwrap()] += 1;
    }
    drop(socket);
    runtime.block_on(server.shutdown());
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_simulation_counts_what_a_socket_answers(
        weights in proptest::collection::vec(0_u8..=100, 2..6),
        down in 1_usize..8,
        count in 1_u64..400,
        round_robin: bool,
    ) {
        let mut text = weighted_ip(&weights);
        if round_robin {
            text += "!\ngslb policy\n round-robin\n";
        }
        if down <= weights.len() {
            text += &format!("!\nemulate health 192.0.2.{down}0 down\n");
        }
        let found = run(&plan(&[&text]), draw(count));
        let rows = &found.domains[0].addresses;
        let addresses: Vec<IpAddr> = rows.iter().filter_map(|row| row.answer).collect();
        let counts = asked_over_a_socket(&text, &addresses, count);
        prop_assert_eq!(selected(&found.domains[0], 0), counts);
    }
}

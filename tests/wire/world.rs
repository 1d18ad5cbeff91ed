//! The appliance that the tests ask, and the sockets through which they ask it.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use adxemu::appliance::Appliance;
use adxemu::clock::DrivenClock;
use adxemu::demo::Demo;
use adxemu::dns::name::key_of_text;
use adxemu::dns::serve::{Server, TcpLimits};
use adxemu::dns::{Responder, Settings};
use adxemu::gslb::domain::Domain;
use adxemu::model::snapshot::{
    Address, Application, Host, HostId, NameEntry, PolicyId, Snapshot, Source, Zone, ZoneId,
};
use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::serialize::binary::{BinDecodable as _, BinDecoder};
use tokio::runtime::{Builder, Runtime};

/// Long enough that only a hanging program exceeds it; no test waits for it to pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// An appliance that answers by itself for hosts of the zone `example.com`:
///
/// `www` has three IPv4 and two IPv6 addresses, `four` and `six` one of their family, `many` 100
/// of each; `below.empty` lies under an empty name.
pub(crate) fn appliance() -> Appliance {
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    let mut snapshot = Snapshot::empty("ServerIronADX");
    snapshot.policies[0].dns.cache_proxy = true;
    snapshot.policies[0].dns.override_ = true;
    snapshot.zones.push(Zone::named("example.com"));
    let mut add = |name: &str, four: u8, six: u8| {
        let four = (1..=four).map(|last| Ipv4Addr::new(192, 0, 2, last).into());
        let six = (1..=six)
            .map(|last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(last)).into());
        add_host(&appliance, &mut snapshot, name, &four.chain(six).collect::<Vec<_>>());
    };
    add("www", 3, 2);
    add("four", 1, 0);
    add("six", 0, 1);
    add("many", 100, 100);
    add("below.empty", 1, 1);
    let empty = key_of_text("empty.example.com").unwrap();
    Arc::make_mut(&mut snapshot.names).insert(empty.into_vec().into(), NameEntry::EmptyNonTerminal);
    appliance.publish(snapshot);
    appliance
}

fn add_host(appliance: &Appliance, snapshot: &mut Snapshot, name: &str, list: &[IpAddr]) {
    let host = HostId::from_index(snapshot.hosts.len());
    let domain_name = format!("{name}.example.com");
    let key = key_of_text(&domain_name).unwrap();
    let domain = Arc::new(Domain::default());
    let slots = domain.lock().assign_slots(list);
    let addresses = list.iter().zip(slots).map(|(ip, slot)| Address {
        ip: *ip,
        source: Source::Configured,
        is_candidate: true,
        weight: None,
        hash_weight: None,
        owner: None,
        slot,
        state: appliance.states.address(*ip),
    });
    Arc::make_mut(&mut snapshot.names).insert(key.into_vec().into(), NameEntry::Host(host));
    snapshot.zones[0].hosts.push(host);
    snapshot.hosts.push(Arc::new(Host {
        zone: ZoneId(0),
        domain_name: domain_name.into(),
        name_length: u8::try_from(name.len()).unwrap(),
        applications: vec![Application(80)].into(),
        track_port: None,
        min_active_bindings: false,
        policy: PolicyId::GLOBAL,
        affinity_group: None,
        addresses: addresses.collect(),
        learned_ttl: None,
        domain,
    }));
}

/// The appliance behind real sockets, closed when the value is dropped.
pub(crate) struct Served {
    pub(crate) responder: Arc<Responder>,
    pub(crate) address: SocketAddr,
    /// Before the runtime, so that it is dropped before it.
    pub(crate) server: Server,
    pub(crate) runtime: Runtime,
}

/// Port 0 of the loopback address.
pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

pub(crate) fn served(settings: Settings, limits: TcpLimits) -> Served {
    serve(appliance(), settings, limits)
}

/// A built-in example behind real sockets.
pub(crate) fn served_demo(demo: Demo, settings: Settings) -> Served {
    let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
    appliance.start_with(demo.text());
    assert!(appliance.configuration().rejected.is_empty());
    serve(appliance, settings, TcpLimits::default())
}

/// An appliance behind real sockets.
pub(crate) fn serve(appliance: Appliance, settings: Settings, limits: TcpLimits) -> Served {
    let responder = Arc::new(Responder { appliance: Arc::new(appliance), settings });
    let runtime = runtime();
    let server = Server::start(runtime.handle(), &responder, &[any_port()], limits).unwrap();
    let address = server.addresses()[0];
    Served { responder, address, server, runtime }
}

impl Served {
    /// A UDP client.
    pub(crate) fn udp(&self) -> UdpSocket {
        let socket = UdpSocket::bind(any_port()).unwrap();
        socket.connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// A TCP client.
    pub(crate) fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    pub(crate) fn ask_udp(&self, message: &[u8]) -> Vec<u8> {
        let socket = self.udp();
        socket.send(message).unwrap();
        receive(&socket)
    }

    pub(crate) fn ask_tcp(&self, message: &[u8]) -> Vec<u8> {
        let mut stream = self.tcp();
        stream.write_all(&prefixed(message)).unwrap();
        read_reply(&mut stream)
    }
}

/// The next datagram.
pub(crate) fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut reply = vec![0; 65535];
    let length = socket.recv(&mut reply).unwrap();
    reply.truncate(length);
    reply
}

/// A message behind its length.
pub(crate) fn prefixed(message: &[u8]) -> Vec<u8> {
    let mut bytes = u16::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(message);
    bytes
}

/// The next message of a connection.
pub(crate) fn read_reply(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).unwrap();
    let mut reply = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut reply).unwrap();
    reply
}

/// A reply, behind which no byte is left over.
pub(crate) fn whole(reply: &[u8]) -> Message {
    let mut decoder = BinDecoder::new(reply);
    let message = Message::read(&mut decoder).unwrap();
    assert!(decoder.is_empty(), "{} bytes too many: {reply:x?}", decoder.len());
    message
}

/// Codes and data of the EDNS options of a reply, in any order.
pub(crate) fn options_of(reply: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let message = Message::from_vec(reply).unwrap();
    let options = message.edns.iter().flat_map(|edns| edns.options().as_ref());
    let data = |option: &EdnsOption| Vec::<u8>::try_from(option).unwrap();
    options.map(|(code, option)| (u16::from(*code), data(option))).collect()
}

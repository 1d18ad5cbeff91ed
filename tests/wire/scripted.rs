//! DNS servers behind that follow a script, and the time that passes only when the script says so.
//!
//! The client runs on a paused clock. The script has a thread of its own, for as long as which the
//! clock stands still by itself (`tokio::time::pause`); so nothing here waits, and no test depends on
//! how fast the machine is.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use adxemu::behind::live::{self, Query};
use adxemu::behind::reply::Reply;
use adxemu::live::gate::{Allowed, Gate};
use tokio::sync::mpsc as of_tokio;
use tokio::time::{Instant, advance};

use super::world::{PATIENCE, any_port, prefixed, read_reply};

/// One server: a port for both transports.
pub(crate) struct Server {
    udp: UdpSocket,
    /// Taken away, connections to it are refused.
    pub(crate) tcp: Option<TcpListener>,
}

/// A question that came over UDP.
pub(crate) struct Asked {
    pub(crate) message: Vec<u8>,
    pub(crate) from: SocketAddr,
}

/// What a script works with.
pub(crate) struct Stage {
    pub(crate) servers: Vec<Server>,
    time: of_tokio::UnboundedSender<Duration>,
    passed: mpsc::Receiver<()>,
}

impl Server {
    /// A server on a port that the system picks.
    pub(crate) fn new() -> Self {
        loop {
            let udp = UdpSocket::bind(any_port()).unwrap();
            udp.set_read_timeout(Some(PATIENCE)).unwrap();
            // The TCP port of that number may be taken.
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
                return Server { udp, tcp: Some(tcp) };
            }
        }
    }

    /// A server that is not there: the port is taken, and the system says that nobody listens, as its
    /// socket hears somebody else only.
    pub(crate) fn absent() -> Self {
        let server = Server { tcp: None, ..Server::new() };
        server.udp.connect(server.udp.local_addr().unwrap()).unwrap();
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.udp.local_addr().unwrap().port()
    }

    /// The next question over UDP.
    pub(crate) fn asked(&self) -> Asked {
        let mut message = vec![0; 512];
        let (length, from) = self.udp.recv_from(&mut message).unwrap();
        message.truncate(length);
        Asked { message, from }
    }

    /// No question is waiting.
    pub(crate) fn is_not_asked(&self) {
        self.udp.set_nonblocking(true).unwrap();
        let error = self.udp.recv_from(&mut [0; 512]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.udp.set_nonblocking(false).unwrap();
    }

    pub(crate) fn send(&self, reply: &[u8], to: SocketAddr) {
        self.udp.send_to(reply, to).unwrap();
    }

    /// The next connection, and the question on it.
    pub(crate) fn asked_over_tcp(&self) -> (TcpStream, Vec<u8>) {
        let (mut stream, _) = self.tcp.as_ref().unwrap().accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let message = read_reply(&mut stream);
        (stream, message)
    }
}

impl Stage {
    /// Lets this much time pass for the client, and lets it do what it then has to do.
    pub(crate) fn wait(&self, duration: Duration) {
        self.time.send(duration).unwrap();
        self.passed.recv_timeout(PATIENCE).unwrap();
    }
}

/// Asks these servers while they follow the script: what the client got, and how long it took.
///
/// The script ends before the client does: then the servers are silent, and no time passes.
pub(crate) async fn play(
    servers: Vec<Server>,
    query: &Query,
    script: impl FnOnce(&mut Stage) + Send + 'static,
) -> (Option<Reply>, Duration) {
    let gate = Gate::default();
    gate.open(Allowed::Mapped);
    let mut addresses = Vec::new();
    for (server, last) in servers.iter().zip(53..) {
        let address: IpAddr = Ipv4Addr::new(192, 0, 2, last).into();
        assert!(gate.map(address, 53, &format!("127.0.0.1:{}", server.port())));
        addresses.push((address, 53));
    }
    let (time, mut times) = of_tokio::unbounded_channel();
    let (passing, passed) = mpsc::channel();
    tokio::spawn(async move {
        while let Some(duration) = times.recv().await {
            advance(duration).await;
            // The script may have failed.
            let _ = passing.send(());
        }
    });
    let (end, ended) = mpsc::channel::<()>();
    let scripted = tokio::task::spawn_blocking(move || {
        let mut stage = Stage { servers, time, passed };
        script(&mut stage);
        // The clock stands still until the client is done.
        ended.recv_timeout(PATIENCE).unwrap();
    });
    let started = Instant::now();
    let reply = live::ask(&gate, &addresses, query).await;
    let took = started.elapsed();
    end.send(()).unwrap();
    scripted.await.unwrap();
    (reply, took)
}

/// The answer to a question for A: so many addresses from 192.0.2.1 on; to others an empty one.
pub(crate) fn answer(asked: &[u8], count: u8) -> Vec<u8> {
    let count = if asked[length(asked) - 3] == 1 { count } else { 0 };
    let addresses = (1..=count).map(|last| Ipv4Addr::new(192, 0, 2, last).into());
    answer_with(asked, &addresses.collect::<Vec<_>>())
}

/// The answer to a question with these addresses, TTL 300.
pub(crate) fn answer_with(asked: &[u8], addresses: &[IpAddr]) -> Vec<u8> {
    let mut reply = asked[..length(asked)].to_vec();
    reply[2] |= 0x84;
    reply[6..12].copy_from_slice(&[0, u8::try_from(addresses.len()).unwrap(), 0, 0, 0, 0]);
    for address in addresses {
        let (record_type, data) = match address {
            IpAddr::V4(address) => (1, address.octets().to_vec()),
            IpAddr::V6(address) => (28, address.octets().to_vec()),
        };
        reply.extend([0xc0, 12, 0, record_type, 0, 1, 0, 0, 1, 0x2c, 0]);
        reply.push(u8::try_from(data.len()).unwrap());
        reply.extend(data);
    }
    reply
}

/// Length of header and question.
fn length(asked: &[u8]) -> usize {
    12 + asked[12..].iter().position(|byte| *byte == 0).unwrap() + 5
}

/// An answer of this code without a record.
pub(crate) fn code(asked: &[u8], code: u8) -> Vec<u8> {
    let mut reply = answer(asked, 0);
    reply[3] |= code;
    reply
}

/// An answer that says that it does not fit.
pub(crate) fn cut(asked: &[u8]) -> Vec<u8> {
    let mut reply = answer(asked, 0);
    reply[2] |= 0x02;
    reply
}

/// Writes a message to a connection.
pub(crate) fn write(stream: &mut TcpStream, message: &[u8]) {
    stream.write_all(&prefixed(message)).unwrap();
}

/// Waits until the client closes a connection.
pub(crate) fn is_closed(stream: &mut TcpStream) {
    match stream.read(&mut [0]) {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

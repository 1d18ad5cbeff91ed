//! The sockets of the responder: UDP and TCP on the same port, on several addresses.
//!
//! A socket bound to a wildcard address replies from whatever address the system picks; on a
//! machine with several addresses, listen on each.

use std::io;
use std::net::{self, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::dns::datagram::{Worker, Workers};
use crate::dns::rate::Limiter;
use crate::dns::respond::Responder;
use crate::dns::tcp::{self, Gate};

/// How often a pair of sockets is tried to be had when the system picks the port.
const BIND_ATTEMPTS: usize = 16;

/// What clients over TCP may take (RFC 7766 sections 6.2.2 and 6.2.3).
#[derive(Clone, Copy, Debug)]
pub struct TcpLimits {
    /// Connections at a time, on all addresses together; further ones are closed at once.
    pub connections: usize,
    /// Connections at a time from one address.
    pub connections_per_client: usize,
    /// How long a client may take to send a question, or to take a reply.
    pub idle_timeout: Duration,
}

impl Default for TcpLimits {
    fn default() -> Self {
        TcpLimits {
            connections: 256,
            connections_per_client: 100,
            idle_timeout: Duration::from_secs(10),
        }
    }
}

/// Why the responder cannot listen.
#[derive(Debug, Error)]
#[error("cannot listen on {address} ({transport}): {}", reason(source))]
pub struct ListenError {
    /// The address that was asked for.
    pub address: SocketAddr,
    /// UDP or TCP.
    pub transport: &'static str,
    /// What the system says.
    pub source: io::Error,
}

/// What a user can do something about, in words; anything else as the system says it.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "the address is in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "the port needs privileges".to_owned(),
        _ => error.to_string(),
    }
}

/// Sockets that answer until the value is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    /// The loops of TCP.
    loops: JoinSet<()>,
    /// The threads of UDP.
    workers: Workers,
}

impl Server {
    /// Listens on all of these addresses, with one worker for the datagrams of each.
    ///
    /// # Errors
    ///
    /// As [`Server::start_with`].
    pub fn start(
        runtime: &Handle,
        responder: &Arc<Responder>,
        addresses: &[SocketAddr],
        limits: TcpLimits,
    ) -> Result<Self, ListenError> {
        Server::start_with(runtime, responder, addresses, limits, NonZeroUsize::MIN)
    }

    /// Listens on all of these addresses. Datagrams are answered by as many workers for each
    /// address, each a thread with a socket of its own where the system can share an address among
    /// sockets; TCP is answered on `runtime`.
    ///
    /// With port 0 the system picks a port, another for each address. When this returns, every
    /// socket takes questions.
    ///
    /// # Errors
    ///
    /// If one of the addresses cannot be had; none is listened on then.
    pub fn start_with(
        runtime: &Handle,
        responder: &Arc<Responder>,
        addresses: &[SocketAddr],
        limits: TcpLimits,
        workers: NonZeroUsize,
    ) -> Result<Self, ListenError> {
        let _runtime = runtime.enter();
        let sockets = addresses.iter().map(|address| bind(*address, workers));
        let sockets = sockets.collect::<Result<Vec<_>, _>>()?;
        let (stop, stopped) = watch::channel(false);
        let mut server = Server {
            addresses: Vec::new(),
            stop,
            loops: JoinSet::new(),
            workers: Workers::default(),
        };
        let gate = Arc::new(Gate::new(&limits));
        // One for all sockets: a client counts once, wherever it asks.
        let limiter = responder.settings.rate_limit.map(|limit| {
            let key = std::array::from_fn(|_| fastrand::u8(..));
            Arc::new(Limiter::new(limit, key))
        });
        for Sockets { address, udp, tcp } in sockets {
            server.addresses.push(address);
            for socket in udp {
                let worker = Worker {
                    responder: Arc::clone(responder),
                    limiter: limiter.clone(),
                    runtime: Some(runtime.clone()),
                };
                answer_datagrams(&mut server.workers, socket, worker)
                    .map_err(fail(address, "UDP"))?;
            }
            let stopped = stopped.clone();
            let gate = Arc::clone(&gate);
            let connections = tcp::answer_connections(tcp, Arc::clone(responder), gate, stopped);
            server.loops.spawn(connections);
        }
        Ok(server)
    }

    /// The addresses that are listened on, with their real ports, in the order asked for.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Closes every socket and connection, and waits until that is done. Datagrams that have
    /// arrived are answered before.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        drop(self.workers);
        while self.loops.join_next().await.is_some() {}
    }
}

/// The sockets of one address.
struct Sockets {
    /// With the real port.
    address: SocketAddr,
    /// One for each worker.
    udp: Vec<UdpSocket>,
    tcp: TcpListener,
}

fn fail(address: SocketAddr, transport: &'static str) -> impl Fn(io::Error) -> ListenError {
    move |source| ListenError { address, transport, source }
}

fn bind(address: SocketAddr, workers: NonZeroUsize) -> Result<Sockets, ListenError> {
    // The port that the system picks for UDP may be taken for TCP: let it pick another one.
    let further_attempts = if address.port() == 0 { BIND_ATTEMPTS - 1 } else { 0 };
    for _ in 0..further_attempts {
        match bind_once(address, workers) {
            Err(error) if error.source.kind() == io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
    bind_once(address, workers)
}

fn bind_once(address: SocketAddr, workers: NonZeroUsize) -> Result<Sockets, ListenError> {
    let udp = bind_datagrams(address, workers).map_err(fail(address, "UDP"))?;
    let real = udp[0].local_addr().map_err(fail(address, "UDP"))?;
    let tcp = net::TcpListener::bind(real).map_err(fail(address, "TCP"))?;
    tcp.set_nonblocking(true).map_err(fail(address, "TCP"))?;
    let tcp = TcpListener::from_std(tcp).map_err(fail(address, "TCP"))?;
    Ok(Sockets { address: real, udp, tcp })
}

#[cfg(target_os = "linux")]
use crate::dns::batch_socket::bind as bind_datagrams;

/// One socket, whatever the number of workers: how several share an address, and whether they share
/// the datagrams as well, is another matter on each system.
#[cfg(not(target_os = "linux"))]
fn bind_datagrams(address: SocketAddr, _workers: NonZeroUsize) -> io::Result<Vec<UdpSocket>> {
    Ok(vec![UdpSocket::bind(address)?])
}

#[cfg(target_os = "linux")]
fn answer_datagrams(workers: &mut Workers, socket: UdpSocket, worker: Worker) -> io::Result<()> {
    use crate::dns::batch_socket::BatchSocket;
    use nix::sys::socket::{SockaddrIn, SockaddrIn6};
    worker.responder.appliance.drops.watch(&socket);
    match socket.local_addr()? {
        SocketAddr::V4(_) => workers.start::<BatchSocket<SockaddrIn>>(socket, worker),
        SocketAddr::V6(_) => workers.start::<BatchSocket<SockaddrIn6>>(socket, worker),
    }
}

#[cfg(not(target_os = "linux"))]
fn answer_datagrams(workers: &mut Workers, socket: UdpSocket, worker: Worker) -> io::Result<()> {
    workers.start::<crate::dns::plain_socket::PlainSocket>(socket, worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_clear_line() {
        let text = |kind| {
            let address = SocketAddr::from(([192, 0, 2, 1], 53));
            ListenError { address, transport: "UDP", source: io::Error::from(kind) }.to_string()
        };
        assert_eq!(
            text(io::ErrorKind::AddrInUse),
            "cannot listen on 192.0.2.1:53 (UDP): the address is in use"
        );
        assert_eq!(
            text(io::ErrorKind::PermissionDenied),
            "cannot listen on 192.0.2.1:53 (UDP): the port needs privileges"
        );
    }
}

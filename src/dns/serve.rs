//! The sockets of the responder: UDP and TCP on the same port, on several addresses.
//!
//! A socket bound to a wildcard address replies from whatever address the system picks; on a
//! machine with several addresses, listen on each.

use std::future::Future;
use std::io;
use std::net::{self, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, UdpSocket};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::dns::encode::{MAX_PAYLOAD, Transport};
use crate::dns::respond::Responder;
use crate::dns::tcp::{self, Gate};

/// How often a pair of sockets is tried to be had when the system picks the port.
const BIND_ATTEMPTS: usize = 16;

/// How long a loop rests after an error of its socket, so that a lasting one does not spin.
pub(super) const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);

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
    loops: JoinSet<()>,
}

impl Server {
    /// Listens on all of these addresses and answers on `runtime`.
    ///
    /// With port 0 the system picks a port, another for each address. When this returns, every
    /// socket takes questions.
    ///
    /// # Errors
    ///
    /// If one of the addresses cannot be had; none is listened on then.
    pub fn start(
        runtime: &Handle,
        responder: &Arc<Responder>,
        addresses: &[SocketAddr],
        limits: TcpLimits,
    ) -> Result<Self, ListenError> {
        let _runtime = runtime.enter();
        let sockets = addresses.iter().map(|address| bind(*address));
        let sockets = sockets.collect::<Result<Vec<_>, _>>()?;
        let (stop, stopped) = watch::channel(false);
        let mut server = Server { addresses: Vec::new(), stop, loops: JoinSet::new() };
        let gate = Arc::new(Gate::new(&limits));
        for (address, udp, tcp) in sockets {
            server.addresses.push(address);
            let datagrams = answer_datagrams(udp, Arc::clone(responder));
            server.loops.spawn(until_stopped(stopped.clone(), datagrams));
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

    /// Closes every socket and connection, and waits until that is done.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while self.loops.join_next().await.is_some() {}
    }
}

/// Runs until there is an end, or the server stops or is gone.
async fn until_stopped(mut stopped: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => {}
        () = work => {}
    }
}

/// A UDP and a TCP socket on the same port, and their address.
type Sockets = (SocketAddr, UdpSocket, TcpListener);

fn bind(address: SocketAddr) -> Result<Sockets, ListenError> {
    // The port that the system picks for UDP may be taken for TCP: let it pick another one.
    let further_attempts = if address.port() == 0 { BIND_ATTEMPTS - 1 } else { 0 };
    for _ in 0..further_attempts {
        match bind_once(address) {
            Err(error) if error.source.kind() == io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
    bind_once(address)
}

fn bind_once(address: SocketAddr) -> Result<Sockets, ListenError> {
    let fail = |transport| move |source| ListenError { address, transport, source };
    let udp = net::UdpSocket::bind(address).map_err(fail("UDP"))?;
    let real = udp.local_addr().map_err(fail("UDP"))?;
    let tcp = net::TcpListener::bind(real).map_err(fail("TCP"))?;
    udp.set_nonblocking(true).map_err(fail("UDP"))?;
    tcp.set_nonblocking(true).map_err(fail("TCP"))?;
    let udp = UdpSocket::from_std(udp).map_err(fail("UDP"))?;
    let tcp = TcpListener::from_std(tcp).map_err(fail("TCP"))?;
    Ok((real, udp, tcp))
}

/// Answers datagrams one after the other, without an end.
async fn answer_datagrams(socket: UdpSocket, responder: Arc<Responder>) {
    let mut message = vec![0; usize::from(u16::MAX)];
    let mut reply = Vec::with_capacity(usize::from(MAX_PAYLOAD));
    loop {
        match socket.recv_from(&mut message).await {
            Ok((length, client)) => {
                let message = &message[..length];
                if responder.respond(message, client.ip(), Transport::Udp, &mut reply) {
                    // A reply that cannot be sent is lost, as any datagram may be.
                    let _ = socket.send_to(&reply, client).await;
                }
            }
            // Some systems report here that an earlier reply did not arrive.
            Err(_) => tokio::time::sleep(PAUSE_AFTER_ERROR).await,
        }
    }
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

//! The one gate through which packets leave: who is asked, and whether at all.
//!
//! A configuration names the addresses of a deployment. Whoever wants to reach one asks the gate
//! for a [`Route`]; there is no other way to make one, and no other way to a socket of ours that
//! sends first. `emulate map` leads an address and port to another socket, so that a laptop can
//! play the deployment with servers of its own.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use thiserror::Error;
use tokio::net::{TcpStream, UdpSocket, lookup_host};

/// What the program may send (`--live`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowed {
    /// Nothing; `emulate map` is kept and waits.
    #[default]
    Nothing,
    /// To the sockets that `emulate map` names, for addresses that are mapped (`--live=mapped`).
    Mapped,
    /// To these, and to every address of the configuration that is not mapped (`--live`).
    All,
}

impl Allowed {
    const EACH: [Allowed; 3] = [Allowed::Nothing, Allowed::Mapped, Allowed::All];
}

/// Why nothing may be sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Closed {
    /// The program was started without `--live`.
    #[error("nothing is sent without --live")]
    NotLive,
    /// Only mapped addresses are reached, and this one is not mapped.
    #[error("the address is not mapped")]
    NotMapped,
    /// Nobody in particular is behind the address: it is unspecified, multicast or broadcast.
    #[error("no single device has this address")]
    Nobody,
}

/// The gate of a process: all appliances of a lab share one.
#[derive(Debug, Default)]
pub struct Gate {
    allowed: AtomicU8,
    /// Counts the changes.
    version: AtomicU64,
    targets: Mutex<HashMap<(IpAddr, u16), Target>>,
}

/// Where packets for an address go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Socket(SocketAddr),
    /// A name that the system looks up each time, and the port.
    Named(Arc<str>, u16),
}

/// Leave to reach one address and port. Only [`Gate::route`] gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    target: Target,
}

impl Gate {
    /// Says what may be sent from now on.
    pub fn open(&self, allowed: Allowed) {
        self.allowed.store(allowed as u8, Ordering::Relaxed);
        self.changed();
    }

    /// What may be sent.
    #[must_use]
    pub fn allowed(&self) -> Allowed {
        let number = usize::from(self.allowed.load(Ordering::Relaxed));
        Allowed::EACH.get(number).copied().unwrap_or_default()
    }

    /// Leads an address and port to a socket, written as [`is_host_port`] has it; whether it could
    /// be read.
    pub fn map(&self, address: IpAddr, port: u16, socket: &str) -> bool {
        let target = Target::read(socket);
        if let Some(target) = &target {
            self.targets().insert((address.to_canonical(), port), target.clone());
            self.changed();
        }
        target.is_some()
    }

    /// Takes back what [`Gate::map`] did.
    pub fn unmap(&self, address: IpAddr, port: u16) {
        self.targets().remove(&(address.to_canonical(), port));
        self.changed();
    }

    /// Takes back all of it.
    pub fn unmap_all(&self) {
        self.targets().clear();
        self.changed();
    }

    /// The way to an address and port of the configuration.
    ///
    /// # Errors
    ///
    /// Nothing may be sent there.
    pub fn route(&self, address: IpAddr, port: u16) -> Result<Route, Closed> {
        let allowed = self.allowed();
        if allowed == Allowed::Nothing {
            return Err(Closed::NotLive);
        }
        let address = address.to_canonical();
        let mapped = self.targets().get(&(address, port)).cloned();
        match mapped {
            Some(target) => Ok(Route { target }),
            None if allowed < Allowed::All => Err(Closed::NotMapped),
            None if is_nobody(address) => Err(Closed::Nobody),
            None => Ok(Route { target: Target::Socket(SocketAddr::new(address, port)) }),
        }
    }

    /// A number that is another one after every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    fn targets(&self) -> MutexGuard<'_, HashMap<(IpAddr, u16), Target>> {
        // Whoever holds the lock changes one entry in one step.
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Route {
    /// A connection. The caller sets a deadline.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub async fn connect(&self) -> io::Result<TcpStream> {
        match &self.target {
            Target::Socket(socket) => TcpStream::connect(socket).await,
            Target::Named(host, port) => TcpStream::connect((&**host, *port)).await,
        }
    }

    /// A socket for datagrams to and from there only, on a port that the system picks. The caller
    /// sets a deadline.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub async fn datagrams(&self) -> io::Result<UdpSocket> {
        let peer = match &self.target {
            Target::Socket(socket) => *socket,
            Target::Named(host, port) => lookup_host((&**host, *port))
                .await?
                .next()
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?,
        };
        let any = match peer {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let socket = UdpSocket::bind((any, 0)).await?;
        socket.connect(peer).await?;
        Ok(socket)
    }
}

impl fmt::Display for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Socket(socket) => write!(formatter, "{socket}"),
            Target::Named(host, port) => write!(formatter, "{host}:{port}"),
        }
    }
}

impl Target {
    fn read(text: &str) -> Option<Self> {
        if let Ok(socket) = text.parse::<SocketAddr>() {
            let is_one = socket.port() != 0 && !socket.ip().is_multicast();
            return is_one.then_some(Target::Socket(socket));
        }
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port != 0)?;
        let is_name = !host.is_empty()
            && host.len() <= 253
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        is_name.then(|| Target::Named(host.into(), port))
    }
}

/// Whether a text names a socket: `192.0.2.1:80`, `[2001:db8::1]:80` or `localhost:80`.
#[must_use]
pub fn is_host_port(text: &str) -> bool {
    Target::read(text).is_some()
}

fn is_nobody(address: IpAddr) -> bool {
    address.is_unspecified() || address.is_multicast() || address == Ipv4Addr::BROADCAST
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: u16 = 80;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn socket(route: Result<Route, Closed>) -> String {
        route.map_or_else(|closed| closed.to_string(), |route| route.to_string())
    }

    #[test]
    fn it_is_closed_unless_it_is_opened() {
        let gate = Gate::default();
        assert!(gate.map(ip("192.0.2.1"), WEB, "127.0.0.1:8080"));
        assert_eq!(gate.route(ip("192.0.2.1"), WEB), Err(Closed::NotLive));
        assert_eq!(gate.route(ip("192.0.2.2"), WEB), Err(Closed::NotLive));
    }

    #[test]
    fn a_mapped_address_is_another_socket() {
        let gate = Gate::default();
        gate.open(Allowed::Mapped);
        gate.map(ip("192.0.2.1"), WEB, "127.0.0.1:8080");
        gate.map(ip("2001:db8::1"), WEB, "[::1]:8081");
        gate.map(ip("192.0.2.3"), WEB, "localhost:8082");
        assert_eq!(socket(gate.route(ip("192.0.2.1"), WEB)), "127.0.0.1:8080");
        assert_eq!(socket(gate.route(ip("::ffff:192.0.2.1"), WEB)), "127.0.0.1:8080");
        assert_eq!(socket(gate.route(ip("2001:db8::1"), WEB)), "[::1]:8081");
        assert_eq!(socket(gate.route(ip("192.0.2.3"), WEB)), "localhost:8082");
        for (address, port) in [("192.0.2.1", 81), ("192.0.2.2", WEB)] {
            assert_eq!(gate.route(ip(address), port), Err(Closed::NotMapped));
        }
        gate.open(Allowed::All);
        assert_eq!(socket(gate.route(ip("192.0.2.1"), WEB)), "127.0.0.1:8080");
        assert_eq!(socket(gate.route(ip("192.0.2.1"), 81)), "192.0.2.1:81");
        gate.unmap(ip("192.0.2.1"), WEB);
        assert_eq!(socket(gate.route(ip("192.0.2.1"), WEB)), "192.0.2.1:80");
        gate.unmap_all();
        assert_eq!(socket(gate.route(ip("2001:db8::1"), WEB)), "[2001:db8::1]:80");
    }

    #[test]
    fn what_is_no_single_device_is_never_reached() {
        let gate = Gate::default();
        gate.open(Allowed::All);
        for address in ["0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "ff02::1"] {
            assert_eq!(gate.route(ip(address), WEB), Err(Closed::Nobody), "{address}");
        }
    }

    #[test]
    fn a_socket_is_written_with_its_port() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:80", "localhost:1", "web-1.example.com:65535"] {
            assert!(is_host_port(text), "{text}");
        }
        for text in ["", "80", ":80", "192.0.2.1", "192.0.2.1:0", "2001:db8::1:80", "a b:80"] {
            assert!(!is_host_port(text), "{text}");
        }
        for text in ["host:", "host:x", "host:65536", "host:-1", "224.0.0.1:53", "[::1]x:1"] {
            assert!(!is_host_port(text), "{text}");
        }
    }
}

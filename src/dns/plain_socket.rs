//! Datagrams one after the other, with what every system has.
//!
//! A wait ends after a while, for to be woken by a datagram of one's own needs a socket that can be
//! connected and still reply to everybody, which not every system has.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::datagram::{DatagramSocket, Datagrams, PATIENCE, Wait, WaitEnds};

/// A socket that takes one datagram after the other.
#[derive(Debug)]
pub(super) struct PlainSocket {
    socket: UdpSocket,
    wait: Wait,
}

impl DatagramSocket for PlainSocket {
    type Client = SocketAddr;

    fn prepare(socket: &UdpSocket) -> io::Result<WaitEnds> {
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(WaitEnds::ByItself)
    }

    fn new(socket: UdpSocket) -> Self {
        PlainSocket { socket, wait: Wait::ForOne }
    }

    fn receive(&mut self, datagrams: &mut Datagrams<SocketAddr>, wait: Wait) -> io::Result<()> {
        if wait != self.wait {
            self.socket.set_nonblocking(wait == Wait::No)?;
            self.wait = wait;
        }
        let (mut buffers, entries) = datagrams.empty();
        let Some(buffer) = buffers.next() else { return Ok(()) };
        match self.socket.recv_from(buffer) {
            Ok((length, client)) => entries.push((Some(length), client)),
            Err(error) if is_nothing_there(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn send(&mut self, datagrams: &Datagrams<SocketAddr>) {
        for (reply, client) in datagrams.replies() {
            let _ = self.socket.send_to(reply, client);
        }
    }

    fn ip(client: &SocketAddr) -> IpAddr {
        client.ip()
    }

    fn address(client: &SocketAddr) -> SocketAddr {
        *client
    }
}

/// What a wait without a datagram ends in; systems differ in the word for it.
fn is_nothing_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

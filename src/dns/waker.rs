//! How a worker is woken that waits for a datagram, without a timer for each wait.
//!
//! Some systems end a wait when the socket is shut down, but what the wait gives then cannot be told from
//! a datagram. So the worker gets one, from a socket of our own on the same machine.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

/// Ends the wait of a worker that is to stop, by a datagram.
#[derive(Debug)]
pub(super) struct Waker {
    /// The socket that the worker waits at.
    worker: Arc<UdpSocket>,
    /// At the same address, with a port that nobody else has.
    own: UdpSocket,
}

impl Waker {
    /// For the worker that waits at this socket.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn new(worker: &Arc<UdpSocket>) -> io::Result<Self> {
        // With the scope of a link-local address, if it is one.
        let mut address = worker.local_addr()?;
        address.set_port(0);
        Ok(Waker { worker: Arc::clone(worker), own: UdpSocket::bind(address)? })
    }

    /// Where the datagram will come from.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.own.local_addr()
    }

    /// Sends the datagram. From here on the worker's socket takes no others.
    ///
    /// # Errors
    ///
    /// Those of the system, as when the address is gone.
    pub(super) fn wake(&self) -> io::Result<()> {
        // Several sockets may share the address of the worker's: to be connected makes sure that it is
        // this one that gets the datagram.
        self.worker.connect(self.own.local_addr()?)?;
        self.own.send_to(&[], self.worker.local_addr()?)?;
        Ok(())
    }
}

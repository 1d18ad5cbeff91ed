//! Datagrams in batches on Linux: one call of the system receives all that wait, one sends all
//! replies. The calls are those of `nix`; nothing here is `unsafe`.
//!
//! A question that comes alone costs less if it is received and answered alone. So after some batches of
//! one the next ones are taken one at a time, by calls of `rustix`: it asks the system itself, without the C
//! library, which would look each time whether the thread is to be cancelled. Then a batch is asked for
//! again, which tells whether there is more to do. Questions that come a few together leave a batch of
//! more than one among every few, and are taken as batches.
//!
//! Several sockets share an address by `SO_REUSEPORT`, and the system gives each client's datagrams
//! to one of them. The first socket is bound without it, so that an address which another program
//! has is not shared with that by accident.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{
    ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, recvmmsg,
    sendmmsg,
};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_reuseport,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketFlags, SocketType, recvfrom, sendto,
    socket_with,
};

use super::datagram::{DatagramSocket, Datagrams, PATIENCE, WIDTH, Wait, WaitEnds};

/// Bytes of datagrams that the system is asked to keep for a worker that is busy: some 4,000
/// questions. Without privileges it may allow less (`net.core.rmem_max`).
const RECEIVE_BUFFER: usize = 4 << 20;

/// Datagrams that the smallest batch may have. Each buffer that is offered to the system costs
/// something, also if nothing comes for it, so twice as many are offered as came the last time, or all if
/// those were all that had been offered.
const LEAST_WIDTH: usize = 4;

/// Batches of one datagram in a row after which the next come alone, too.
const QUIET: u8 = 4;

/// Datagrams that are taken one at a time then. With more, a burst would be noticed later; with fewer,
/// quiet hours would cost more.
const LONE: u8 = 28;

/// Binds as many sockets to one address; with port 0 the system picks the port.
///
/// # Errors
///
/// Those of the system, as when somebody else has the address.
pub(super) fn bind(address: SocketAddr, count: NonZeroUsize) -> io::Result<Vec<UdpSocket>> {
    let first = UdpSocket::bind(address)?;
    configure(&first, address);
    let mut sockets = vec![first];
    if count.get() > 1 {
        let real = sockets[0].local_addr()?;
        set_socket_reuseport(&sockets[0], true)?;
        for _ in 1..count.get() {
            sockets.push(bind_another(real)?);
        }
    }
    Ok(sockets)
}

fn bind_another(address: SocketAddr) -> io::Result<UdpSocket> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseport(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    let socket = UdpSocket::from(socket);
    configure(&socket, address);
    Ok(socket)
}

/// Sets what is good to have and not needed.
fn configure(socket: &UdpSocket, address: SocketAddr) {
    enlarge(socket);
    forbid_fragments(socket, address);
}

/// Replies are not to be sent in fragments, which can be forged, whatever somebody says of the path to the
/// client (RFC 9715 section 3.1). Not more than [`MAX_PAYLOAD`](super::encode::MAX_PAYLOAD) bytes are
/// sent, which pass nearly everywhere.
///
/// Such datagrams do not need a number of their own either, by which the system would tell fragments
/// apart: that is a good two percent of what an answer costs.
fn forbid_fragments(socket: &UdpSocket, address: SocketAddr) {
    let _ = match address {
        SocketAddr::V4(_) => set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE),
        SocketAddr::V6(_) => set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE),
    };
}

/// Sets the receive buffer as large as it may be.
fn enlarge(socket: &UdpSocket) {
    // The default is what remains if neither is allowed.
    if set_socket_recv_buffer_size_force(socket, RECEIVE_BUFFER).is_err() {
        let _ = set_socket_recv_buffer_size(socket, RECEIVE_BUFFER);
    }
}

/// The address of a client, of the one family that a socket has.
pub(super) trait ClientAddress: SockaddrLike + Copy + Send + 'static {
    /// Without the port.
    fn ip(&self) -> IpAddr;
    /// As the standard library has it.
    fn address(&self) -> SocketAddr;
    /// From what the system says, if it is of this family.
    fn of(address: SocketAddrAny) -> Option<Self>;
}

impl ClientAddress for SockaddrIn {
    fn ip(&self) -> IpAddr {
        SockaddrIn::ip(self).into()
    }

    fn address(&self) -> SocketAddr {
        SocketAddrV4::from(*self).into()
    }

    fn of(address: SocketAddrAny) -> Option<Self> {
        Some(SocketAddrV4::try_from(address).ok()?.into())
    }
}

impl ClientAddress for SockaddrIn6 {
    fn ip(&self) -> IpAddr {
        SockaddrIn6::ip(self).into()
    }

    fn address(&self) -> SocketAddr {
        SocketAddrV6::from(*self).into()
    }

    fn of(address: SocketAddrAny) -> Option<Self> {
        Some(SocketAddrV6::try_from(address).ok()?.into())
    }
}

/// A socket that takes and sends many datagrams at a time.
pub(super) struct BatchSocket<Client> {
    socket: UdpSocket,
    received: MultiHeaders<Client>,
    sent: MultiHeaders<Client>,
    /// Datagrams that the next batch may have.
    width: usize,
    /// Batches of one so far, in a row.
    quiet: u8,
    /// Datagrams that are still to be taken one at a time.
    lone: u8,
}

impl<Client: ClientAddress> DatagramSocket for BatchSocket<Client> {
    type Client = Client;

    fn prepare(socket: &UdpSocket) -> io::Result<WaitEnds> {
        if socket.local_addr()?.ip().is_unspecified() {
            // To be woken it would be connected, and from then on reply from the address of that
            // connection, whatever address was asked.
            socket.set_read_timeout(Some(PATIENCE))?;
            return Ok(WaitEnds::ByItself);
        }
        Ok(WaitEnds::ByDatagram)
    }

    fn new(socket: UdpSocket) -> Self {
        let headers = || MultiHeaders::preallocate(WIDTH, None);
        BatchSocket {
            socket,
            received: headers(),
            sent: headers(),
            width: WIDTH,
            quiet: 0,
            lone: 0,
        }
    }

    fn receive(&mut self, datagrams: &mut Datagrams<Client>, wait: Wait) -> io::Result<()> {
        let (mut buffers, entries) = datagrams.empty();
        let flags = match wait {
            Wait::ForOne if self.lone > 0 => {
                self.lone -= 1;
                let Some(buffer) = buffers.next() else { return Ok(()) };
                return match recvfrom(&self.socket, buffer, RecvFlags::empty()) {
                    Ok((length, _, client)) => {
                        let client = client.and_then(Client::of);
                        entries.extend(client.map(|client| (Some(length), client)));
                        Ok(())
                    }
                    Err(Errno::AGAIN) => Ok(()),
                    Err(error) => Err(error.into()),
                };
            }
            Wait::ForOne => MsgFlags::MSG_WAITFORONE,
            Wait::No => MsgFlags::MSG_DONTWAIT,
        };
        let mut buffers = buffers.take(self.width);
        let mut slices: [[IoSliceMut<'_>; 1]; WIDTH] =
            std::array::from_fn(|_| [IoSliceMut::new(buffers.next().unwrap_or_default())]);
        let fd = self.socket.as_raw_fd();
        match recvmmsg(fd, &mut self.received, &mut slices[..self.width], flags, None) {
            Ok(messages) => {
                entries.extend(messages.filter_map(|one| Some((Some(one.bytes), one.address?))));
            }
            Err(nix::Error::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        let is_full = entries.len() == self.width;
        self.width = if is_full { WIDTH } else { (2 * entries.len()).clamp(LEAST_WIDTH, WIDTH) };
        self.quiet = if entries.len() == 1 { self.quiet + 1 } else { 0 };
        if self.quiet == QUIET {
            (self.quiet, self.lone) = (0, LONE);
        }
        Ok(())
    }

    fn send(&mut self, datagrams: &Datagrams<Client>) {
        let mut replies = datagrams.replies();
        let Some((first, client)) = replies.next() else { return };
        let Some(second) = replies.next() else {
            let client = client.address();
            let send = || sendto(&self.socket, first, SendFlags::empty(), &client);
            // One that cannot be sent is lost, as any datagram may be.
            while send() == Err(Errno::INTR) {}
            return;
        };
        let mut replies = [(first, client), second].into_iter().chain(replies);
        let mut clients = [None; WIDTH];
        let mut count = 0;
        let slices: [[IoSlice<'_>; 1]; WIDTH] = std::array::from_fn(|place| {
            let Some((reply, client)) = replies.next() else { return [IoSlice::new(&[])] };
            clients[place] = Some(client);
            count = place + 1;
            [IoSlice::new(reply)]
        });
        let mut next = 0;
        while next < count {
            let none: [ControlMessage<'_>; 0] = [];
            let (rest, to) = (&slices[next..count], &clients[next..count]);
            let fd = self.socket.as_raw_fd();
            next += match sendmmsg(fd, &mut self.sent, rest, to, none, MsgFlags::empty()) {
                Ok(sent) => sent.count().max(1),
                Err(nix::Error::EINTR) => 0,
                // The first of them cannot be sent.
                Err(_) => 1,
            };
        }
    }

    fn ip(client: &Client) -> IpAddr {
        client.ip()
    }

    fn address(client: &Client) -> SocketAddr {
        client.address()
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::sockopt::ip_mtu_discover;

    use super::*;

    #[test]
    fn replies_are_never_sent_in_fragments() {
        let two = NonZeroUsize::new(2).unwrap();
        for socket in bind(SocketAddr::from(([127, 0, 0, 1], 0)), two).unwrap() {
            assert_eq!(ip_mtu_discover(&socket).unwrap(), Ipv4PathMtuDiscovery::PROBE);
        }
    }
}

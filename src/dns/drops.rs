//! Datagrams that the system dropped because they came faster than they were answered.
//!
//! Linux counts them for each socket and shows the counts in `/proc/net/udp`, where a socket is
//! known by its inode. They are read only when somebody wants to see them. Other systems do not
//! tell.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(target_os = "linux")]
use std::net::UdpSocket;

/// The sockets whose drops count.
#[derive(Debug, Default)]
pub struct Drops {
    inodes: Mutex<Vec<u64>>,
}

impl Drops {
    /// Counts the drops of one more socket, as long as it is open.
    #[cfg(target_os = "linux")]
    pub(super) fn watch(&self, socket: &UdpSocket) {
        // Without an inode the socket is left out of the sum.
        if let Ok(status) = rustix::fs::fstat(socket) {
            self.lock().push(status.st_ino);
        }
    }

    /// What was dropped at the sockets that are open now; `None` if the system does not tell.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let inodes = self.lock();
        let count = |path| Some(drops_in(&std::fs::read_to_string(path).ok()?, &inodes));
        // Without IPv6 there is no second table.
        Some(count("/proc/net/udp")? + count("/proc/net/udp6").unwrap_or(0))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u64>> {
        // Whoever holds the lock adds one number.
        self.inodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sum of the last column over the lines of these inodes, which stand in the tenth.
fn drops_in(table: &str, inodes: &[u64]) -> u64 {
    let drops = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        let inode = columns.nth(9)?.parse().ok()?;
        if inodes.contains(&inode) { columns.last()?.parse().ok() } else { None }
    };
    table.lines().filter_map(drops).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drops_of_the_sockets_that_are_watched_add_up() {
        let table = "\
   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  100: 0100007F:14B4 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 4242 2 0000000000000000 17
  101: 0100007F:14B4 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 4243 2 0000000000000000 5
  102: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 99 2 0000000000000000 1000
";
        assert_eq!(drops_in(table, &[4242, 4243]), 22);
        assert_eq!(drops_in(table, &[]), 0);
        assert_eq!(drops_in("nonsense\n\n1 2 3", &[3]), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_queue_that_is_full_drops() {
        let drops = Drops::default();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        drops.watch(&socket);
        assert_eq!(drops.total(), Some(0));
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
        for _ in 0..200 {
            sender.send_to(&[0; 512], socket.local_addr().unwrap()).unwrap();
        }
        assert!(drops.total().is_some_and(|count| (100..200).contains(&count)));
    }
}

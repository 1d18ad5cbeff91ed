//! DNS over TCP (RFC 7766): connections with several questions each, in bounded number.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::dns::encode::Transport;
use crate::dns::respond::Responder;
use crate::dns::serve::TcpLimits;
use crate::listen;

/// Length of the length before each message (RFC 1035 section 4.2.2).
const PREFIX_LENGTH: usize = 2;

/// Takes connections until the server stops or is gone, then closes them all.
pub(super) async fn answer_connections(
    listener: TcpListener,
    responder: Arc<Responder>,
    gate: Arc<Gate>,
    stopped: watch::Receiver<bool>,
) {
    let open = |stream, client: SocketAddr| {
        let pass = Gate::admit(&gate, client.ip())?;
        Some(answer_connection(stream, client, responder.clone(), pass))
    };
    listen::accept(listener, stopped, open).await.shutdown().await;
}

async fn answer_connection(
    mut stream: TcpStream,
    client: SocketAddr,
    responder: Arc<Responder>,
    pass: Pass,
) {
    // A connection that breaks concerns its client only, and the client knows.
    let _ = converse(&mut stream, client.ip(), &responder, pass.gate.idle_timeout).await;
}

/// Answers the questions of one connection in their order, until the client closes it.
///
/// # Errors
///
/// If the connection breaks, or the client takes too long.
async fn converse(
    stream: &mut TcpStream,
    client: IpAddr,
    responder: &Responder,
    patience: Duration,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.split();
    let mut reader = BufReader::with_capacity(4096, reader);
    let mut writer = BufWriter::with_capacity(4096, writer);
    let mut message = Vec::new();
    let mut reply = Vec::new();
    loop {
        // Replies go out together as long as the next question is already here.
        if !holds_message(reader.buffer()) {
            timeout(patience, writer.flush()).await??;
        }
        if !timeout(patience, read_message(&mut reader, &mut message)).await?? {
            return timeout(patience, writer.shutdown()).await?;
        }
        if responder.answer(&message, client, Transport::Tcp, &mut reply).await {
            let length = u16::try_from(reply.len()).map_err(io::Error::other)?;
            let write = async {
                writer.write_all(&length.to_be_bytes()).await?;
                writer.write_all(&reply).await
            };
            timeout(patience, write).await??;
        }
    }
}

/// Whether the bytes begin with a whole message and its length.
fn holds_message(bytes: &[u8]) -> bool {
    bytes
        .split_first_chunk::<PREFIX_LENGTH>()
        .is_some_and(|(length, rest)| rest.len() >= usize::from(u16::from_be_bytes(*length)))
}

/// Reads one message over what `message` holds; `false` if the client has closed its side.
///
/// # Errors
///
/// If the connection breaks, or is closed within a message.
async fn read_message(
    reader: &mut (impl AsyncReadExt + Unpin),
    message: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut length = [0; PREFIX_LENGTH];
    if reader.read(&mut length[..1]).await? == 0 {
        return Ok(false);
    }
    reader.read_exact(&mut length[1..]).await?;
    message.resize(usize::from(u16::from_be_bytes(length)), 0);
    reader.read_exact(message).await?;
    Ok(true)
}

/// Counts the connections that are open, in all and by client.
#[derive(Debug)]
pub(crate) struct Gate {
    connections: usize,
    connections_per_client: usize,
    idle_timeout: Duration,
    /// Connections by client; an entry goes when its last connection does.
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// Leave to have a connection, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    client: IpAddr,
}

impl Gate {
    pub(crate) fn new(limits: &TcpLimits) -> Self {
        Gate {
            connections: limits.connections,
            connections_per_client: limits.connections_per_client,
            idle_timeout: limits.idle_timeout,
            open: Mutex::default(),
        }
    }

    /// Leave for one more connection of that client, unless there are too many.
    pub(crate) fn admit(gate: &Arc<Self>, client: IpAddr) -> Option<Pass> {
        let client = client.to_canonical();
        let mut open = gate.lock();
        let of_client = open.get(&client).copied().unwrap_or(0);
        // The sum runs over at most as many clients as there may be connections.
        if of_client >= gate.connections_per_client
            || open.values().sum::<usize>() >= gate.connections
        {
            return None;
        }
        open.insert(client, of_client + 1);
        drop(open);
        Some(Pass { gate: Arc::clone(gate), client })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Whoever holds the lock changes one entry in one step.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut open = self.gate.lock();
        match open.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                open.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_counts_in_all_and_by_client() {
        let limits =
            TcpLimits { connections: 3, connections_per_client: 2, ..TcpLimits::default() };
        let gate = Arc::new(Gate::new(&limits));
        let one = IpAddr::from([192, 0, 2, 1]);
        let other = IpAddr::from([192, 0, 2, 2]);
        let first = Gate::admit(&gate, one).unwrap();
        let second = Gate::admit(&gate, one).unwrap();
        assert!(Gate::admit(&gate, one).is_none(), "two for each client");
        let third = Gate::admit(&gate, other).unwrap();
        assert!(Gate::admit(&gate, other).is_none(), "three in all");
        drop(first);
        let fourth = Gate::admit(&gate, "::ffff:192.0.2.1".parse().unwrap()).unwrap();
        assert!(Gate::admit(&gate, one).is_none(), "a mapped address is the address");
        drop((second, third, fourth));
        assert!(gate.lock().is_empty());
    }

    #[test]
    fn a_whole_message_is_recognised() {
        assert!(!holds_message(b""));
        assert!(!holds_message(b"\x00"));
        assert!(holds_message(b"\x00\x00"));
        assert!(!holds_message(b"\x00\x02a"));
        assert!(holds_message(b"\x00\x02ab"));
    }
}

//! The threads that answer datagrams, and what they need of a socket.
//!
//! Each worker has a socket and a thread of its own. It waits for datagrams, takes as many as are
//! there, answers them as one [`Batch`] and sends the replies. The system spreads clients over the
//! sockets of one address. [`super::batch_socket`] moves a batch with one call of the system and is
//! there on Linux; [`super::plain_socket`] does with what every system has.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::counters::Counters;
use crate::dns::fast::{Batch, ROOM};
use crate::dns::rate::{Limiter, Verdict};
use crate::dns::respond::{Deferred, Responder, cut, is_known};
use crate::listen::PAUSE_AFTER_ERROR;

/// Datagrams that are received and answered together. Wider batches cost more than they save
/// (`docs/answer-path.md`).
pub(super) const WIDTH: usize = 32;

/// Longest datagram.
const LONGEST: usize = u16::MAX as usize;

/// Distance of two buffers: a datagram, and so much more that their beginnings do not all fall
/// into the same few lines of the processor's caches.
const STRIDE: usize = LONGEST + 1 + 320;

/// How long a worker waits for a datagram before it looks whether it is to stop.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// How many batches may be taken from the queue of a socket while it is closed. What came before
/// is answered; what keeps coming is not, so that closing ends.
const LAST_BATCHES: usize = 4096;

/// A socket for datagrams.
pub(super) trait DatagramSocket {
    /// The address of a client as the socket keeps it.
    type Client: Copy;

    /// Takes a socket of the system that is bound and waits for [`PATIENCE`] at most.
    fn new(socket: UdpSocket) -> Self;

    /// Takes what is there; waits for a datagram for [`PATIENCE`] at most, or not at all.
    ///
    /// # Errors
    ///
    /// Those of the system. Nothing was received.
    fn receive(&mut self, datagrams: &mut Datagrams<Self::Client>, wait: Wait) -> io::Result<()>;

    /// Sends the replies. One that cannot be sent is lost, as any datagram may be.
    fn send(&mut self, datagrams: &Datagrams<Self::Client>);

    /// Who sent a datagram.
    fn ip(client: &Self::Client) -> IpAddr;

    /// The same with the port.
    fn address(client: &Self::Client) -> SocketAddr;
}

/// Whether to wait for a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// For [`PATIENCE`] at most.
    Briefly,
    /// Not at all.
    No,
}

/// Datagrams in their buffers. A reply takes the place of its question.
pub(super) struct Datagrams<Client> {
    bytes: Vec<u8>,
    /// Length of the datagram or reply, and the other side, of the buffers in use.
    entries: Vec<(usize, Client)>,
}

impl<Client: Copy> Datagrams<Client> {
    fn new() -> Self {
        // Zeroed memory is not there before it is written to: usually one page a buffer.
        Datagrams { bytes: vec![0; STRIDE * WIDTH], entries: Vec::with_capacity(WIDTH) }
    }

    /// All buffers, to receive into, and the list in which to enter what came.
    pub(super) fn empty(&mut self) -> (impl Iterator<Item = &mut [u8]>, &mut Vec<(usize, Client)>) {
        let buffers = self.bytes.chunks_exact_mut(STRIDE).map(|buffer| &mut buffer[..=LONGEST]);
        self.entries.clear();
        (buffers, &mut self.entries)
    }

    /// The replies and where they go.
    pub(super) fn replies(&self) -> impl Iterator<Item = (&[u8], Client)> {
        self.bytes
            .chunks_exact(STRIDE)
            .zip(&self.entries)
            .filter(|(_, (length, _))| *length > 0)
            .map(|(buffer, (length, client))| (&buffer[..*length], *client))
    }

    /// Replaces every datagram by the reply to it; a length of 0 means that there is none. Gives the
    /// questions whose replies come later.
    fn answer(
        &mut self,
        worker: &Worker,
        reply: &mut Vec<u8>,
        ip: fn(&Client) -> IpAddr,
    ) -> Vec<(Box<Deferred>, Client)> {
        let mut later = Vec::new();
        let mut batch = Batch::begin(&worker.responder, reply);
        let mut plain = [None; WIDTH];
        let messages = self.bytes.chunks_exact(STRIDE).zip(&self.entries);
        for (plain, (buffer, (length, _))) in plain.iter_mut().zip(messages) {
            *plain = batch.recognise(&buffer[..*length]);
        }
        if self.entries.len() > 1 {
            plain.iter().flatten().for_each(|plain| batch.fetch(*plain));
        }
        let all = self.bytes.chunks_exact_mut(STRIDE).zip(&mut self.entries).zip(plain);
        match &worker.limiter {
            None => {
                for ((buffer, (length, client)), plain) in all {
                    let buffer = &mut buffer[..=LONGEST];
                    let answered = batch.answer_recognised(plain, buffer, *length, ip(client));
                    later.extend(batch.take_later().map(|deferred| (deferred, *client)));
                    *length = answered.unwrap_or(0);
                }
            }
            Some(limiter) => {
                for ((buffer, (length, client)), plain) in all {
                    let buffer = &mut buffer[..=LONGEST];
                    let message = buffer[..*length].to_vec();
                    let answered = batch.answer_recognised(plain, buffer, *length, ip(client));
                    let answered = answered.unwrap_or(0);
                    later.extend(batch.take_later().map(|deferred| (deferred, *client)));
                    *length = limit(worker, limiter, &message, ip(client), buffer, answered);
                }
            }
        }
        batch.finish();
        later
    }
}

/// What answers the datagrams of a socket.
pub(super) struct Worker {
    /// Who answers.
    pub(super) responder: Arc<Responder>,
    /// Who says how many replies a network of clients gets.
    pub(super) limiter: Option<Arc<Limiter>>,
    /// Where questions wait for a real DNS server behind; without it they are not asked.
    pub(super) runtime: Option<Handle>,
}

/// Waits for a real DNS server behind, beside the worker, and sends the reply.
fn relay(worker: &Arc<Worker>, deferred: Deferred, client: SocketAddr, socket: &Arc<UdpSocket>) {
    let Some(runtime) = &worker.runtime else { return };
    let (worker, socket) = (Arc::clone(worker), Arc::clone(socket));
    runtime.spawn(async move {
        let message = worker.limiter.is_some().then(|| deferred.message().to_vec());
        let mut reply = Vec::new();
        if !worker.responder.complete(deferred, &mut reply).await {
            return;
        }
        if let (Some(limiter), Some(message)) = (&worker.limiter, message) {
            let length = reply.len();
            reply.resize(length.max(ROOM), 0);
            let length = limit(&worker, limiter, &message, client.ip(), &mut reply, length);
            reply.truncate(length);
        }
        if !reply.is_empty() {
            // One that cannot be sent is lost, as any datagram may be.
            let _ = socket.send_to(&reply, client);
        }
    });
}

/// Lets the rate limit judge the reply of this length in `buffer`; gives its length then, 0 if it is
/// not sent.
fn limit(
    worker: &Worker,
    limiter: &Limiter,
    message: &[u8],
    client: IpAddr,
    buffer: &mut [u8],
    length: usize,
) -> usize {
    let responder = &worker.responder;
    if length == 0 || is_known(responder, message, client) {
        return length;
    }
    let counters = &responder.appliance.counters;
    let now = responder.appliance.clock.now();
    match limiter.judge(client, &buffer[..length], now) {
        Verdict::Send => length,
        Verdict::Drop => {
            Counters::count(&counters.rate_limited_dropped);
            0
        }
        Verdict::Cut => {
            let mut out = Vec::new();
            if !cut(responder, message, client, &buffer[..length], &mut out) {
                return 0;
            }
            Counters::count(&counters.rate_limited_cut);
            buffer[..out.len()].copy_from_slice(&out);
            out.len()
        }
    }
}

/// Workers that answer until the value is dropped.
#[derive(Debug, Default)]
pub(super) struct Workers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts a worker.
    ///
    /// # Errors
    ///
    /// The system has no thread left, or its socket no patience.
    pub(super) fn start<Socket: DatagramSocket>(
        &mut self,
        socket: UdpSocket,
        worker: Worker,
    ) -> io::Result<()> {
        socket.set_read_timeout(Some(PATIENCE))?;
        let stop = Arc::clone(&self.stop);
        let worker = Arc::new(worker);
        let sender = Arc::new(socket.try_clone()?);
        let thread = thread::Builder::new()
            .name(format!("dns-{}", self.threads.len()))
            .spawn(move || work(Socket::new(socket), &sender, &worker, &stop))?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for Workers {
    /// Lets the workers answer what has arrived, and waits for them.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

fn work<Socket: DatagramSocket>(
    mut socket: Socket,
    sender: &Arc<UdpSocket>,
    worker: &Arc<Worker>,
    stop: &AtomicBool,
) {
    let mut datagrams = Datagrams::new();
    let mut reply = Vec::new();
    let mut left = LAST_BATCHES;
    loop {
        let stopping = stop.load(Ordering::Acquire);
        if stopping {
            left -= 1;
        }
        let wait = if stopping { Wait::No } else { Wait::Briefly };
        match socket.receive(&mut datagrams, wait) {
            Ok(()) if datagrams.entries.is_empty() => {
                if stopping {
                    return;
                }
            }
            Ok(()) => {
                let later = datagrams.answer(worker, &mut reply, Socket::ip);
                socket.send(&datagrams);
                for (deferred, client) in later {
                    relay(worker, *deferred, Socket::address(&client), sender);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if stopping => return,
            // Some systems report here that an earlier reply did not arrive.
            Err(_) => thread::sleep(PAUSE_AFTER_ERROR),
        }
        if left == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests;

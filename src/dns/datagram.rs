//! The threads that answer datagrams, and what they need of a socket.
//!
//! Each worker has a socket and a thread of its own. It waits for datagrams, takes as many as are
//! there, answers them as one [`Batch`] and sends the replies. The system spreads clients over the
//! sockets of one address. [`super::batch_socket`] moves a batch with one call of the system and is
//! there on Linux; [`super::plain_socket`] does with what every system has.
//!
//! A worker that is to stop may wait for a datagram that never comes. Where a wait ends by itself it
//! looks then; where it does not, a datagram of our own ends it ([`Waker`]).

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::counters::Counters;
use crate::dns::fast::{Batch, Plain, ROOM};
use crate::dns::rate::{Limiter, Verdict};
use crate::dns::respond::{Deferred, Responder, cut, is_known};
use crate::dns::waker::Waker;
use crate::listen::PAUSE_AFTER_ERROR;

/// Datagrams that are received and answered together. Wider batches cost more than they save
/// (`docs/answer-path.md`).
pub(super) const WIDTH: usize = 32;

/// Longest datagram.
const LONGEST: usize = u16::MAX as usize;

/// Distance of two buffers: a datagram, and so much more that their beginnings do not all fall
/// into the same few lines of the processor's caches.
const STRIDE: usize = LONGEST + 1 + 320;

/// How long a wait lasts that ends by itself. The worker looks then whether it is to stop.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// How long a worker that is to stop may take to do so. One that takes longer is left to the end of
/// the program, so that nothing that the system does to datagrams of our own keeps it from ending.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// How many batches may be taken from the queue of a socket while it is closed. What came before
/// is answered; what keeps coming is not, so that closing ends.
const LAST_BATCHES: usize = 4096;

/// A socket for datagrams.
pub(super) trait DatagramSocket {
    /// The address of a client as the socket keeps it.
    type Client: Copy;

    /// Sets what [`DatagramSocket::new`] relies on, and says how its waits end.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn prepare(socket: &UdpSocket) -> io::Result<WaitEnds>;

    /// Takes a socket of the system that is bound and prepared.
    fn new(socket: UdpSocket) -> Self;

    /// Takes what is there.
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
    /// Until one is there, or for [`PATIENCE`] ([`WaitEnds`]).
    ForOne,
    /// Not at all.
    No,
}

/// What ends the wait for a datagram that does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitEnds {
    /// [`PATIENCE`].
    ByItself,
    /// A datagram of our own ([`Waker`]), so that no wait needs a timer.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only there it is safe"))]
    ByDatagram,
}

/// Datagrams in their buffers. A reply takes the place of its question.
pub(super) struct Datagrams<Client> {
    bytes: Vec<u8>,
    /// Length of the datagram or reply, and the other side, of the buffers in use; `None`: there is
    /// nothing to answer or to send.
    entries: Vec<(Option<usize>, Client)>,
}

impl<Client: Copy> Datagrams<Client> {
    fn new() -> Self {
        // Zeroed memory is not there before it is written to: usually one page a buffer.
        Datagrams { bytes: vec![0; STRIDE * WIDTH], entries: Vec::with_capacity(WIDTH) }
    }

    /// All buffers, to receive into, and the list in which to enter what came.
    pub(super) fn empty(
        &mut self,
    ) -> (impl Iterator<Item = &mut [u8]>, &mut Vec<(Option<usize>, Client)>) {
        let buffers = self.bytes.chunks_exact_mut(STRIDE).map(|buffer| &mut buffer[..=LONGEST]);
        self.entries.clear();
        (buffers, &mut self.entries)
    }

    /// The replies and where they go.
    pub(super) fn replies(&self) -> impl Iterator<Item = (&[u8], Client)> {
        self.bytes
            .chunks_exact(STRIDE)
            .zip(&self.entries)
            .filter_map(|(buffer, (length, client))| Some((&buffer[..(*length)?], *client)))
    }

    /// Leaves what this client sent unanswered.
    fn ignore(&mut self, is_meant: impl Fn(&Client) -> bool) {
        for (length, _) in self.entries.iter_mut().filter(|(_, client)| is_meant(client)) {
            *length = None;
        }
    }

    /// Replaces every datagram by the reply to it. Gives the questions whose replies come later.
    fn answer(
        &mut self,
        worker: &Worker,
        reply: &mut Vec<u8>,
        ip: fn(&Client) -> IpAddr,
    ) -> Vec<(Box<Deferred>, Client)> {
        let mut answers = Answers {
            worker,
            batch: Batch::begin(&worker.responder, reply),
            ip,
            later: Vec::new(),
        };
        let mut buffers = self.bytes.chunks_exact_mut(STRIDE);
        if let [entry] = self.entries.as_mut_slice() {
            // One question in quiet hours, for which nothing is at hand: as little as possible is
            // touched for it.
            if let Some(buffer) = buffers.next() {
                let plain = answers.recognise(buffer, entry);
                if let Some(plain) = plain {
                    answers.batch.fetch(plain);
                }
                answers.answer(plain, buffer, entry);
            }
            return answers.finish();
        }
        let mut plain = [None; WIDTH];
        for ((plain, buffer), entry) in plain.iter_mut().zip(buffers).zip(&self.entries) {
            *plain = answers.recognise(buffer, entry);
        }
        plain.iter().flatten().for_each(|plain| answers.batch.fetch(*plain));
        let buffers = self.bytes.chunks_exact_mut(STRIDE);
        for ((buffer, entry), plain) in buffers.zip(&mut self.entries).zip(plain) {
            answers.answer(plain, buffer, entry);
        }
        answers.finish()
    }
}

/// The answers to the datagrams of a batch.
struct Answers<'a, Client> {
    worker: &'a Worker,
    batch: Batch<'a>,
    ip: fn(&Client) -> IpAddr,
    /// Questions whose replies come later.
    later: Vec<(Box<Deferred>, Client)>,
}

impl<Client: Copy> Answers<'_, Client> {
    #[inline]
    fn recognise(&self, buffer: &[u8], (length, _): &(Option<usize>, Client)) -> Option<Plain> {
        length.and_then(|length| self.batch.recognise(buffer, length))
    }

    /// Replaces a datagram by the reply to it.
    #[inline]
    fn answer(
        &mut self,
        plain: Option<Plain>,
        buffer: &mut [u8],
        entry: &mut (Option<usize>, Client),
    ) {
        if let Some(plain) = plain
            && self.worker.limiter.is_none()
            && let Some(length) = self.batch.answer_plain(plain, buffer, (self.ip)(&entry.1))
        {
            entry.0 = Some(length);
        } else {
            self.answer_thoroughly(plain, buffer, entry);
        }
    }

    /// The same for a datagram that is no plain question, or whose reply may be limited.
    #[inline(never)]
    fn answer_thoroughly(
        &mut self,
        plain: Option<Plain>,
        buffer: &mut [u8],
        (length, client): &mut (Option<usize>, Client),
    ) {
        let Some(received) = length.take() else { return };
        let (worker, ip) = (self.worker, (self.ip)(client));
        let message = worker.limiter.is_some().then(|| buffer[..received].to_vec());
        *length = self.batch.answer_recognised(plain, buffer, received, ip);
        self.later.extend(self.batch.take_later().map(|deferred| (deferred, *client)));
        if let (Some(limiter), Some(message), Some(answered)) = (&worker.limiter, message, *length)
        {
            *length = limit(worker, limiter, &message, ip, buffer, answered);
        }
    }

    fn finish(self) -> Vec<(Box<Deferred>, Client)> {
        self.batch.finish();
        self.later
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
            reply.truncate(length.unwrap_or(0));
        }
        if !reply.is_empty() {
            // One that cannot be sent is lost, as any datagram may be.
            let _ = socket.send_to(&reply, client);
        }
    });
}

/// Lets the rate limit judge the reply of this length in `buffer`; gives its length then, `None` if it
/// is not sent.
fn limit(
    worker: &Worker,
    limiter: &Limiter,
    message: &[u8],
    client: IpAddr,
    buffer: &mut [u8],
    length: usize,
) -> Option<usize> {
    let responder = &worker.responder;
    if is_known(responder, message, client) {
        return Some(length);
    }
    let counters = &responder.appliance.counters;
    let now = responder.appliance.clock.now();
    match limiter.judge(client, &buffer[..length], now) {
        Verdict::Send => Some(length),
        Verdict::Drop => {
            Counters::count(&counters.rate_limited_dropped);
            None
        }
        Verdict::Cut => {
            let mut out = Vec::new();
            if !cut(responder, message, client, &buffer[..length], &mut out) {
                return None;
            }
            Counters::count(&counters.rate_limited_cut);
            buffer[..out.len()].copy_from_slice(&out);
            Some(out.len())
        }
    }
}

/// The thread of a worker.
#[derive(Debug)]
struct Thread {
    handle: JoinHandle<()>,
    /// Without one it looks by itself whether it is to stop.
    waker: Option<Waker>,
    /// Nothing ever comes; its other end goes with the thread. The lock makes it one that threads may
    /// share.
    ended: Mutex<Receiver<()>>,
}

/// Workers that answer until the value is dropped.
#[derive(Debug, Default)]
pub(super) struct Workers {
    stop: Arc<AtomicBool>,
    threads: Vec<Thread>,
}

impl Workers {
    /// Starts a worker.
    ///
    /// # Errors
    ///
    /// The system has no thread or no socket left.
    pub(super) fn start<Socket: DatagramSocket>(
        &mut self,
        socket: UdpSocket,
        worker: Worker,
    ) -> io::Result<()> {
        let wait_ends = Socket::prepare(&socket)?;
        let stop = Arc::clone(&self.stop);
        let worker = Arc::new(worker);
        let sender = Arc::new(socket.try_clone()?);
        let waker = match wait_ends {
            WaitEnds::ByItself => None,
            WaitEnds::ByDatagram => Some(Waker::new(&sender)?),
        };
        let waker_address = waker.as_ref().map(Waker::address).transpose()?;
        let (ends, ended) = channel();
        let begin = move || {
            work(Socket::new(socket), &sender, &worker, &stop, waker_address);
            drop::<Sender<()>>(ends);
        };
        let name = format!("dns-{}", self.threads.len());
        let handle = thread::Builder::new().name(name).spawn(begin)?;
        self.threads.push(Thread { handle, waker, ended: Mutex::new(ended) });
        Ok(())
    }

    /// Lets the workers answer what has arrived, and waits for them; says how many have ended.
    fn stop(&mut self) -> usize {
        self.stop.store(true, Ordering::Release);
        let mut ended = 0;
        // One that cannot be woken, because its address is gone, is left to the end of the program.
        let ends = |thread: &Thread| thread.waker.as_ref().is_none_or(|one| one.wake().is_ok());
        let ending: Vec<Thread> = self.threads.drain(..).filter(ends).collect();
        for Thread { handle, ended: end, .. } in ending {
            let end = end.into_inner().unwrap_or_else(PoisonError::into_inner);
            if end.recv_timeout(LAST_WAIT) == Err(RecvTimeoutError::Disconnected) {
                // A worker that panicked has said so already.
                let _ = handle.join();
                ended += 1;
            }
        }
        ended
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

fn work<Socket: DatagramSocket>(
    mut socket: Socket,
    sender: &Arc<UdpSocket>,
    worker: &Arc<Worker>,
    stop: &AtomicBool,
    waker: Option<SocketAddr>,
) {
    let mut datagrams = Datagrams::new();
    let mut reply = Vec::new();
    let mut left = LAST_BATCHES;
    loop {
        let stopping = stop.load(Ordering::Acquire);
        if stopping {
            left -= 1;
        }
        let wait = if stopping { Wait::No } else { Wait::ForOne };
        match socket.receive(&mut datagrams, wait) {
            Ok(()) if datagrams.entries.is_empty() => {
                if stopping {
                    return;
                }
            }
            Ok(()) => {
                if stop.load(Ordering::Acquire) {
                    datagrams.ignore(|client| Some(Socket::address(client)) == waker);
                }
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

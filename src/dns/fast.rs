//! The short way of a plain question over UDP, and the batch in which questions arrive.
//!
//! Nearly every question that a resolver asks is an A or AAAA question for one name, with or
//! without an empty OPT record, and nearly every answer is a handful of addresses. Such a question
//! is answered where it stands in its receive buffer: header and question are there already, so
//! only flags, counts and records are written. Nothing is allocated. The choice is the one that
//! every question gets, [`gslb::select_for`]. Everything else is left to [`respond`](crate::dns::respond()), which gives
//! the same bytes and counts for whatever this module takes (`fast/tests.rs`).
//!
//! What a batch shares is done once for it: one load of the snapshot, one look at the clock, one
//! change of the counters.

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::Guard;

use crate::clock::Moment;
use crate::dns::answer::IPV6_LIMIT;
use crate::dns::encode::{MAX_PAYLOAD, Transport};
use crate::dns::name;
use crate::dns::question::HEADER_LENGTH;
use crate::dns::respond::{Begun, Deferred, Responder, begin};
use crate::gslb;
use crate::model::snapshot::{Address, Family, Host, HostId, NameEntry, Snapshot};

/// Addresses that a host may have in all. So few of either family always fit into 512 bytes behind
/// the longest name, and stay below every other limit, so nothing is ever cut.
const MOST_ADDRESSES: usize = 8;

/// Type and class of a question for addresses of one family (RFC 1035 section 3.2, RFC 3596).
const A_IN: [u8; 4] = [0, 1, 0, 1];
const AAAA_IN: [u8; 4] = [0, 28, 0, 1];

/// Length of an OPT record without options.
const OPT_LENGTH: usize = 11;

/// The OPT record of a reply: the payload size that is taken, version 0, no flags, no options.
const OPT: [u8; OPT_LENGTH] = {
    let [high, low] = MAX_PAYLOAD.to_be_bytes();
    [0, 0, 41, high, low, 0, 0, 0, 0, 0, 0]
};

/// The largest answer: header, question of the longest name, records, OPT.
const MOST_BYTES: usize =
    HEADER_LENGTH + name::MAX_NAME + A_IN.len() + MOST_ADDRESSES * 28 + OPT_LENGTH;
const _: () = assert!(MOST_BYTES <= 512 && MOST_ADDRESSES <= IPV6_LIMIT);

/// The longest name that is folded in one piece. Length bytes are below `A`, so folding changes none.
const SHORT: usize = 64;

/// Room that a buffer must have for [`Batch::answer`], whatever the length of the message in it.
pub const ROOM: usize = MAX_PAYLOAD as usize;
const _: () = assert!(MOST_BYTES <= ROOM);

/// Questions that were received together.
///
/// All are answered by the configuration that was in force when the batch began, which must be
/// after the last of them arrived. Counts are entered by [`Batch::finish`], before the replies go
/// out.
#[derive(Debug)]
pub struct Batch<'a> {
    responder: &'a Responder,
    snapshot: Guard<Arc<Snapshot>>,
    now: Moment,
    /// The client whose entry in the prefix cache was renewed last. To renew it again at the same
    /// moment would change nothing.
    renewed: Option<IpAddr>,
    /// Questions that were answered here.
    answered: u64,
    /// A question that waits for a real DNS server behind.
    later: Option<Box<Deferred>>,
    /// Where the general way writes its reply.
    reply: &'a mut Vec<u8>,
}

impl<'a> Batch<'a> {
    /// Begins a batch. `reply` is memory that one batch may leave to the next.
    pub fn begin(responder: &'a Responder, reply: &'a mut Vec<u8>) -> Self {
        Batch {
            responder,
            snapshot: responder.appliance.current(),
            now: responder.appliance.clock.now(),
            renewed: None,
            answered: 0,
            later: None,
            reply,
        }
    }

    /// Answers the message in the first `length` bytes of `buffer`, and puts the reply in its
    /// place: its length, or `None` if there is none.
    ///
    /// The buffer has at least [`ROOM`].
    pub fn answer(&mut self, buffer: &mut [u8], length: usize, client: IpAddr) -> Option<usize> {
        let plain = self.recognise(buffer, length);
        self.answer_recognised(plain, buffer, length, client)
    }

    /// As [`Batch::answer`], with what [`Batch::recognise`] said of the message.
    pub fn answer_recognised(
        &mut self,
        plain: Option<Plain>,
        buffer: &mut [u8],
        length: usize,
        client: IpAddr,
    ) -> Option<usize> {
        if let Some(length) = plain.and_then(|plain| self.answer_plain(plain, buffer, client)) {
            return Some(length);
        }
        let Responder { appliance, settings } = self.responder;
        let message = buffer.get(..length)?;
        match begin(appliance, *settings, message, client, Transport::Udp, self.reply) {
            Begun::Done(true) => {}
            Begun::Done(false) => return None,
            Begun::Later(deferred) => {
                self.later = Some(deferred);
                return None;
            }
        }
        buffer.get_mut(..self.reply.len())?.copy_from_slice(self.reply);
        Some(self.reply.len())
    }

    /// The question of the last call, if it waits for a real DNS server behind.
    pub fn take_later(&mut self) -> Option<Box<Deferred>> {
        self.later.take()
    }

    /// Whether the message in the first `length` bytes of `buffer` is a plain question for an address
    /// of a host, and for which. Changes and counts nothing.
    #[inline]
    #[must_use]
    pub fn recognise(&self, buffer: &[u8], length: usize) -> Option<Plain> {
        Plain::read(buffer, length, |name| match self.snapshot.lookup(name) {
            Some(NameEntry::Host(host)) => Some(host),
            _ => None,
        })
    }

    /// Looks at what the answer will need, so that the processor has it at hand.
    ///
    /// An answer follows pointers to memory that may be far away, and waits for each. A walk over
    /// all questions of a batch, before the first is answered, waits for many of them at a time; for
    /// one question it waits once instead of twice, since a lock lets nothing pass.
    #[inline]
    pub fn fetch(&self, plain: Plain) {
        let host = &self.snapshot.hosts[plain.host.index()];
        black_box(Arc::strong_count(&host.domain));
        // Two addresses lie within some hundred bytes, which the processor takes together.
        host.addresses.iter().step_by(2).for_each(|address| {
            black_box(address.slot);
        });
    }

    /// Answers the plain question that stands in the buffer; `None`: the host is none for the short
    /// way, nothing was counted, and the buffer is unchanged.
    pub fn answer_plain(
        &mut self,
        plain: Plain,
        buffer: &mut [u8],
        client: IpAddr,
    ) -> Option<usize> {
        let snapshot = &*self.snapshot;
        let host = &snapshot.hosts[plain.host.index()];
        if !snapshot.answers_itself(host, plain.family)
            || host.addresses.len() > MOST_ADDRESSES
            || buffer.len() < MOST_BYTES
        {
            return None;
        }
        let client = client.to_canonical();
        let states = &self.responder.appliance.states;
        if self.renewed != Some(client) {
            gslb::renew_client(snapshot, states, client, self.now);
            self.renewed = Some(client);
        }
        let (_, order) = gslb::select_for(snapshot, states, host, plain.family, client, self.now);
        self.answered += 1;
        let ttl = snapshot.ttl_of(host);
        Some(plain.write_reply(buffer, host, ttl, &order))
    }

    /// Enters what was counted.
    pub fn finish(self) {
        if self.answered > 0 {
            let counters = &self.responder.appliance.counters;
            counters.questions.fetch_add(self.answered, Ordering::Relaxed);
            counters.no_errors.fetch_add(self.answered, Ordering::Relaxed);
            counters.cache_proxy_direct_responses.fetch_add(self.answered, Ordering::Relaxed);
        }
    }
}

/// A question of type A or AAAA and class IN for a host, with nothing about it that would need
/// thought.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    host: HostId,
    /// Length of the name.
    key_length: usize,
    family: Family,
    has_edns: bool,
}

impl Plain {
    /// Reads the message in the first `length` bytes of the buffer; `host_of` looks a name up, which is
    /// in lower case.
    fn read(
        buffer: &[u8],
        length: usize,
        host_of: impl FnOnce(&[u8]) -> Option<HostId>,
    ) -> Option<Self> {
        let message = buffer.get(..length)?;
        let (header, body) = message.split_first_chunk::<HEADER_LENGTH>()?;
        // No reply, opcode QUERY, not truncated; one question and no record but one OPT.
        let [_, _, flags, _, 0, 1, 0, 0, 0, 0, 0, additional @ (0 | 1)] = *header else {
            return None;
        };
        if flags & 0b1111_1010 != 0 {
            return None;
        }
        let key_length = name::uncompressed_length(body)?;
        let (wire_name, rest) = body.split_at_checked(key_length)?;
        let (class_and_type, rest) = rest.split_first_chunk::<4>()?;
        let family = match *class_and_type {
            A_IN => Family::V4,
            AAAA_IN => Family::V6,
            _ => return None,
        };
        let has_edns = additional == 1;
        if has_edns {
            // The payload size does not matter to so short a reply, nor do the flags.
            let [0, 0, 41, _, _, _, 0, _, _, 0, 0] = *rest.first_chunk::<OPT_LENGTH>()? else {
                return None;
            };
        }
        let host = match buffer.get(HEADER_LENGTH..).and_then(<[u8]>::first_chunk::<SHORT>) {
            Some(block) if key_length <= SHORT => {
                // With what lies behind the name, since a whole block is folded in a few steps.
                let mut key = *block;
                key.make_ascii_lowercase();
                host_of(&key[..key_length])?
            }
            _ => {
                let mut key = [0; name::MAX_NAME];
                let key = &mut key[..key_length];
                key.copy_from_slice(wire_name);
                key.make_ascii_lowercase();
                host_of(key)?
            }
        };
        Some(Plain { host, key_length, family, has_edns })
    }

    /// Makes the question in `buffer` the reply that gives these addresses, and says how long it is.
    fn write_reply(self, buffer: &mut [u8], host: &Host, ttl: u32, order: &[usize]) -> usize {
        // QR and AA, RD as it was asked; RA, Z, AD, CD and the return code are zero.
        buffer[2] = 0b1000_0100 | (buffer[2] & 1);
        buffer[3] = 0;
        buffer[6..12].copy_from_slice(&[0, 0, 0, 0, 0, u8::from(self.has_edns)]);
        buffer[7] = u8::try_from(order.len()).unwrap_or(0);
        let mut out = Writer { buffer, at: HEADER_LENGTH + self.key_length + A_IN.len() };
        for &position in order {
            out.record(&host.addresses[position], ttl);
        }
        if self.has_edns {
            out.put(OPT);
        }
        out.at
    }
}

/// Writes behind the question; the buffer has room for whatever is written.
struct Writer<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put<const LENGTH: usize>(&mut self, bytes: [u8; LENGTH]) {
        self.buffer[self.at..self.at + LENGTH].copy_from_slice(&bytes);
        self.at += LENGTH;
    }

    /// A record whose owner is a pointer to the question's name.
    fn record(&mut self, address: &Address, ttl: u32) {
        let ttl = ttl.to_be_bytes();
        match address.ip {
            IpAddr::V4(ip) => {
                let mut record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
                record[6..10].copy_from_slice(&ttl);
                record[12..].copy_from_slice(&ip.octets());
                self.put(record);
            }
            IpAddr::V6(ip) => {
                let mut record = [0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 0, 0, 16];
                record[6..10].copy_from_slice(&ttl);
                self.put(record);
                self.put(ip.octets());
            }
        }
    }
}

#[cfg(test)]
mod tests;

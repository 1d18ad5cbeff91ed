//! Query logs: questions that were really asked, from text, dnstap or a capture of packets.
//!
//! What a file is, and whether it is compressed, is told from its first bytes. It is read as a
//! stream, so that its size does not matter; what is wrong with it is told with its place.

mod capture;
mod dnstap;
mod text;
mod unpack;

use std::io::{BufRead, BufReader, Read};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dns::name::Key;
use crate::dns::question::{self, Verdict};
use crate::store::StoreError;
use crate::whatif::Problem;
use crate::whatif::asked::{Asked, Domains, Names};

/// A question of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Logged {
    /// When, in milliseconds of the log's own clock.
    at: u64,
    /// Who asked.
    client: IpAddr,
    /// The name in lower-case wire form.
    name: Key,
    /// The type.
    record_type: u16,
}

/// What reads one form of log.
trait Form {
    /// The next question; `None` at the end.
    fn next(&mut self) -> Result<Option<Logged>, Problem>;

    /// Records that are no question to a server, so far.
    fn skipped(&self) -> u64;
}

/// A query log, question by question.
pub struct QueryLog {
    form: Box<dyn Form>,
    name: String,
    /// The clock of the log at the first question.
    start: Option<u64>,
    /// Milliseconds since the first question; never goes back.
    now: u64,
    /// Questions that stand behind a later one.
    late: u64,
    resolvers: Resolvers,
    /// Bytes that were read, of all that there are.
    read: Arc<AtomicU64>,
    size: u64,
}

/// How a log is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The port of the servers whose questions a capture of packets holds.
    pub port: u16,
    /// Resolvers between clients and appliance; 0: none.
    pub resolvers: u32,
    /// Take the address of a client-subnet option for that of the client.
    pub client_subnet: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { port: 53, resolvers: 0, client_subnet: false }
    }
}

/// The longest time between the first and the last question, milliseconds: a year.
const LONGEST: u64 = 366 * 24 * 3600 * 1000;

impl QueryLog {
    /// Opens a log.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn open(path: &Path, options: Options) -> Result<Self, Problem> {
        let fail = |source| StoreError::File { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        let name = path.to_string_lossy().into_owned();
        Self::new(&name, Box::new(file), size, options)
    }

    /// Reads a log from anywhere; `size` is only what the progress is measured by.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn new(
        name: &str,
        source: Box<dyn Read + Send>,
        size: u64,
        options: Options,
    ) -> Result<Self, Problem> {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { source, read: Arc::clone(&read) };
        let fail = |source: std::io::Error| Problem::log(name, &source);
        let mut unpacked = unpack::unpack(BufReader::new(counted)).map_err(fail)?;
        let start = unpacked.fill_buf().map_err(fail)?;
        let form: Box<dyn Form> = if capture::is_capture(start) {
            Box::new(capture::Capture::new(name, unpacked, options)?)
        } else if dnstap::is_frames(start) {
            Box::new(dnstap::Dnstap::new(name, unpacked, options.client_subnet)?)
        } else {
            Box::new(text::Text::new(name, unpacked))
        };
        Ok(QueryLog {
            form,
            name: name.to_owned(),
            start: None,
            now: 0,
            late: 0,
            resolvers: Resolvers::new(options.resolvers),
            read,
            size,
        })
    }

    /// The next question; `None` at the end.
    ///
    /// # Errors
    ///
    /// What stands there cannot be read.
    pub fn ask(&mut self, domains: &Domains, names: &mut Names) -> Result<Option<Asked>, Problem> {
        let Some(logged) = self.form.next()? else { return Ok(None) };
        let start = *self.start.get_or_insert(logged.at);
        match logged.at.checked_sub(start) {
            Some(at) if at >= self.now => self.now = at,
            Some(_) | None => self.late += 1,
        }
        if self.now > LONGEST {
            let reason = "lies more than a year behind the first question";
            return Err(Problem::log(&self.name, &format!("a question {reason}")));
        }
        let resolver = self.resolvers.of(logged.client);
        Ok(Some(Asked {
            at: self.now,
            client: logged.client,
            asker: resolver.map_or(logged.client, |(_, address)| address),
            resolver: resolver.map(|(number, _)| number),
            name: names.number(domains, &logged.name, logged.record_type),
        }))
    }

    /// Questions that stood behind a later one, and counted at the time of that one.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Records that were no question to a server.
    pub fn skipped(&self) -> u64 {
        self.form.skipped()
    }

    /// Bytes that were read so far, and all of them; 0 if that is not known.
    pub fn progress(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.size)
    }
}

/// The name, type and client of a message that is a question.
fn read_message(message: &[u8], sender: IpAddr, client_subnet: bool) -> Option<(IpAddr, Key, u16)> {
    let Verdict::Ask(request, question) = question::read(message, client_subnet) else {
        return None;
    };
    let named = request.client_subnet().and_then(|subnet| subnet.network);
    let client = named.unwrap_or(sender).to_canonical();
    Some((client, crate::dns::name::key(question.name()), question.record_type.into()))
}

/// Resolvers of the clients of a log: each client always has the same, and a resolver has the
/// address of the first client that was seen to have it.
struct Resolvers {
    addresses: Vec<Option<IpAddr>>,
}

impl Resolvers {
    fn new(count: u32) -> Self {
        Resolvers { addresses: vec![None; count as usize] }
    }

    fn of(&mut self, client: IpAddr) -> Option<(u32, IpAddr)> {
        let count = u64::try_from(self.addresses.len()).unwrap_or(u64::MAX);
        let place = spread(client).checked_rem(count)?;
        let number = u32::try_from(place).unwrap_or(0);
        let address = self.addresses.get_mut(number as usize)?.get_or_insert(client);
        Some((number, *address))
    }
}

/// A number that depends on nothing but the address, and on every bit of it.
fn spread(address: IpAddr) -> u64 {
    // The finalizer of SplitMix64: good enough to deal clients out, and the same everywhere.
    let mix = |number: u64| {
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    };
    match address {
        IpAddr::V4(address) => mix(address.to_bits().into()),
        IpAddr::V6(address) => {
            let [high, low] = [address.to_bits() >> 64, address.to_bits()]
                .map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or(0));
            mix(mix(high) ^ low)
        }
    }
}

/// Counts what is read.
struct Counted {
    source: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.fetch_add(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
pub(in crate::whatif) mod tests;

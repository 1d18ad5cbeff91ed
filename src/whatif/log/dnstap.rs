//! Logs of DNS servers in the form of dnstap: messages of Protocol Buffers in the frames of Frame
//! Streams.
//!
//! Only the fields that matter are declared. Questions that a server got from its clients count;
//! everything else that a server logs is left out.

use std::io::{self, BufRead, Read as _};
use std::net::IpAddr;

use prost::Message as _;

use super::{Form, Logged, read_message};
use crate::whatif::Problem;

/// What the first control frame of such a file holds.
const CONTENT_TYPE: &[u8] = b"protobuf:dnstap.Dnstap";

/// The largest frame: a message has 65535 bytes at most, and there are two in it with a few others.
const MOST_BYTES: u32 = 1 << 20;

/// The largest control frame of the specification.
const MOST_CONTROL_BYTES: u32 = 512;

/// Kinds of control frames.
const START: u32 = 2;
const STOP: u32 = 3;

/// A `Dnstap` of `dnstap.proto`, as far as it matters.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Event {
    #[prost(message, optional, tag = "14")]
    pub(super) message: Option<Exchange>,
}

/// A `Message` of `dnstap.proto`, as far as it matters.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Exchange {
    #[prost(int32, optional, tag = "1")]
    pub(super) kind: Option<i32>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(super) query_address: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) query_time_sec: Option<u64>,
    #[prost(fixed32, optional, tag = "9")]
    pub(super) query_time_nsec: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "10")]
    pub(super) query_message: Option<Vec<u8>>,
}

/// The kinds of messages that are questions of clients: to an authoritative server, and to one that
/// resolves.
const AUTH_QUERY: i32 = 1;
const CLIENT_QUERY: i32 = 5;

/// Whether a file begins as Frame Streams do: with a control frame, whose length stands behind zeros.
pub(super) fn is_frames(start: &[u8]) -> bool {
    start.len() >= 12 && start.starts_with(&[0, 0, 0, 0]) && start[8..12] == START.to_be_bytes()
}

/// A log in the form of dnstap.
pub(super) struct Dnstap {
    name: String,
    source: Box<dyn BufRead + Send>,
    frame: u64,
    buffer: Vec<u8>,
    skipped: u64,
    client_subnet: bool,
}

impl Dnstap {
    pub(super) fn new(
        name: &str,
        source: Box<dyn BufRead + Send>,
        client_subnet: bool,
    ) -> Result<Self, Problem> {
        let mut log = Dnstap {
            name: name.to_owned(),
            source,
            frame: 0,
            buffer: Vec::new(),
            skipped: 0,
            client_subnet,
        };
        log.length()?;
        log.control()?;
        let found = log.buffer.windows(CONTENT_TYPE.len()).any(|part| part == CONTENT_TYPE);
        if found { Ok(log) } else { Err(log.fail("the frames do not hold dnstap")) }
    }

    fn fail(&self, reason: impl std::fmt::Display) -> Problem {
        Problem::log(&format!("{}: frame {}", self.name, self.frame), &reason)
    }

    /// The length of a frame; 0 stands before a control frame, and `None` is the end.
    fn length(&mut self) -> Result<Option<u32>, Problem> {
        self.frame += 1;
        let is_end = self.source.fill_buf().map(<[u8]>::is_empty);
        if is_end.map_err(|error| self.fail(error))? { Ok(None) } else { self.number().map(Some) }
    }

    fn number(&mut self) -> Result<u32, Problem> {
        let mut bytes = [0; 4];
        self.source.read_exact(&mut bytes).map_err(|error| self.cut(&error))?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn fill(&mut self, length: u32, most: u32) -> Result<(), Problem> {
        if length > most {
            return Err(self.fail(format!("it has {length} bytes, more than {most}")));
        }
        self.buffer.clear();
        let mut part = (&mut self.source).take(length.into());
        let read = part.read_to_end(&mut self.buffer);
        let count = read.map_err(|error| self.fail(error))?;
        if count == length as usize { Ok(()) } else { Err(self.fail("the file ends within it")) }
    }

    fn cut(&self, error: &io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.fail("the file ends within it"),
            _ => self.fail(error),
        }
    }

    /// Reads a control frame, and says what kind it is.
    fn control(&mut self) -> Result<u32, Problem> {
        let length = self.number()?;
        self.fill(length, MOST_CONTROL_BYTES)?;
        let kind = self.buffer.first_chunk::<4>().ok_or_else(|| self.fail("it is too short"))?;
        Ok(u32::from_be_bytes(*kind))
    }

    /// The question of the frame that was read, if it holds one.
    fn question(&self) -> Result<Option<Logged>, Problem> {
        let event = Event::decode(&*self.buffer).map_err(|error| self.fail(error))?;
        let Some(exchange) = event.message else { return Ok(None) };
        if !matches!(exchange.kind, Some(AUTH_QUERY | CLIENT_QUERY)) {
            return Ok(None);
        }
        let sender = exchange.query_address.as_deref().and_then(address);
        let message = exchange.query_message.as_deref();
        let Some((sender, message)) = sender.zip(message) else { return Ok(None) };
        let Some((client, name, record_type)) = read_message(message, sender, self.client_subnet)
        else {
            return Ok(None);
        };
        let seconds = exchange.query_time_sec.unwrap_or(0);
        let nanoseconds = exchange.query_time_nsec.unwrap_or(0);
        let at = seconds.saturating_mul(1000).saturating_add(u64::from(nanoseconds / 1_000_000));
        Ok(Some(Logged { at, client, name, record_type }))
    }
}

impl Form for Dnstap {
    fn next(&mut self) -> Result<Option<Logged>, Problem> {
        loop {
            match self.length()? {
                None => return Ok(None),
                Some(0) => {
                    if self.control()? == STOP {
                        return Ok(None);
                    }
                }
                Some(length) => {
                    self.fill(length, MOST_BYTES)?;
                    match self.question()? {
                        Some(logged) => return Ok(Some(logged)),
                        None => self.skipped += 1,
                    }
                }
            }
        }
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => bytes.first_chunk::<4>().map(|octets| IpAddr::from(*octets)),
        16 => bytes.first_chunk::<16>().map(|octets| IpAddr::from(*octets)),
        _ => None,
    }
}

//! Captures of packets: the questions over UDP to the port of a DNS server, from pcap and pcapng.
//!
//! What came in fragments or over TCP is left out and counted: a question is short, and a resolver
//! asks over TCP only what it asked over UDP before.

use std::io::BufRead;
use std::net::IpAddr;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError};

use super::{Form, Logged, Options, read_message};
use crate::whatif::Problem;

/// How such files begin: pcap in both byte orders, with micro- and nanoseconds, and pcapng.
const BEGINNINGS: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Room for the largest packet that is captured, twice.
const CAPACITY: usize = 1 << 19;

/// Whether a file is a capture of packets.
pub(super) fn is_capture(start: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| start.starts_with(beginning))
}

/// An interface of a capture.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Units of its timestamps in a second.
    resolution: u64,
    /// Seconds that are added to them.
    offset: u64,
}

/// A capture of packets.
pub(super) struct Capture {
    name: String,
    reader: Box<dyn PcapReaderIterator + Send>,
    interfaces: Vec<Interface>,
    packets: u64,
    skipped: u64,
    options: Options,
}

/// What comes next in the file.
enum Step {
    /// A block of that length.
    Block(usize, Content),
    /// Nothing.
    End,
    /// More than was read so far.
    More,
    /// Something that is no block.
    Wrong(String),
}

/// What a block of the file holds.
enum Content {
    /// A question.
    Question(Logged),
    /// A packet that is none.
    Other,
    /// An interface, from which the packets behind it come.
    Interface(Interface),
    /// A new part of the file with interfaces of its own.
    Section,
    /// Nothing that matters.
    Nothing,
}

/// What is said of a file that is cut.
const CUT: &str = "the file ends within a packet";

/// Interfaces of a file at most.
const MOST_INTERFACES: usize = 4096;

impl Capture {
    pub(super) fn new(
        name: &str,
        source: Box<dyn BufRead + Send>,
        options: Options,
    ) -> Result<Self, Problem> {
        let reader = pcap_parser::create_reader(CAPACITY, source)
            .map_err(|error| Problem::log(name, &format!("no capture: {error}")))?;
        let name = name.to_owned();
        Ok(Capture { name, reader, interfaces: Vec::new(), packets: 0, skipped: 0, options })
    }

    /// Reads on, which must bring something.
    fn refill(&mut self) -> Result<(), Problem> {
        if self.reader.reader_exhausted() {
            return Err(self.fail(CUT));
        }
        let before = self.reader.data().len();
        let failure = self.reader.refill().err().map(|error| error.to_string());
        if let Some(reason) = failure {
            return Err(self.fail(reason));
        }
        if self.reader.data().len() == before && !self.reader.reader_exhausted() {
            return Err(self.fail("a packet is larger than any"));
        }
        Ok(())
    }

    fn fail(&self, reason: impl std::fmt::Display) -> Problem {
        Problem::log(&format!("{}: behind packet {}", self.name, self.packets), &reason)
    }
}

impl Form for Capture {
    fn next(&mut self) -> Result<Option<Logged>, Problem> {
        loop {
            let step = match self.reader.next() {
                Ok((length, block)) => {
                    Step::Block(length, content_of(&block, &self.interfaces, self.options))
                }
                Err(PcapError::Eof) => Step::End,
                Err(PcapError::Incomplete(_)) => Step::More,
                Err(PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind)) => {
                    Step::Wrong(format!("no block of a capture ({kind:?})"))
                }
                Err(PcapError::UnexpectedEof) => Step::Wrong(CUT.to_owned()),
                Err(other) => Step::Wrong(other.to_string()),
            };
            let (length, content) = match step {
                Step::Block(length, content) => (length, content),
                Step::End => return Ok(None),
                Step::Wrong(reason) => return Err(self.fail(reason)),
                Step::More => {
                    self.refill()?;
                    continue;
                }
            };
            self.reader.consume(length);
            match content {
                Content::Nothing => {}
                Content::Section => self.interfaces.clear(),
                Content::Interface(_) if self.interfaces.len() >= MOST_INTERFACES => {
                    return Err(self.fail("too many interfaces"));
                }
                Content::Interface(interface) => self.interfaces.push(interface),
                Content::Other => {
                    self.packets += 1;
                    self.skipped += 1;
                }
                Content::Question(logged) => {
                    self.packets += 1;
                    return Ok(Some(logged));
                }
            }
        }
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn content_of(block: &PcapBlockOwned<'_>, interfaces: &[Interface], options: Options) -> Content {
    let question = |interface: &Interface, at: u64, data: &[u8]| {
        question_of(interface.link, data, options).map_or(Content::Other, |found| {
            let (client, name, record_type) = found;
            Content::Question(Logged { at, client, name, record_type })
        })
    };
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution =
                if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            Content::Interface(Interface { link: header.network, resolution, offset: 0 })
        }
        PcapBlockOwned::Legacy(packet) => {
            let Some(interface) = interfaces.first() else { return Content::Other };
            let parts = u64::from(packet.ts_usec) * 1000 / interface.resolution.max(1);
            let at = u64::from(packet.ts_sec) * 1000 + parts;
            question(interface, at, packet.data)
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => Content::Section,
        PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
            Content::Interface(Interface {
                link: description.linktype,
                resolution: description.ts_resolution().unwrap_or(1_000_000),
                offset: u64::try_from(description.ts_offset()).unwrap_or(0),
            })
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                return Content::Other;
            };
            let units = (u128::from(packet.ts_high) << 32) | u128::from(packet.ts_low);
            let milliseconds = units * 1000 / u128::from(interface.resolution.max(1))
                + u128::from(interface.offset) * 1000;
            let at = u64::try_from(milliseconds).unwrap_or(u64::MAX);
            question(interface, at, packet.packet_data())
        }
        // A packet without a time cannot be put in its place.
        PcapBlockOwned::NG(Block::SimplePacket(_)) => Content::Other,
        PcapBlockOwned::NG(_) => Content::Nothing,
    }
}

/// The question in a packet.
fn question_of(
    link: Linktype,
    data: &[u8],
    options: Options,
) -> Option<(IpAddr, crate::dns::name::Key, u16)> {
    /// Length of what stands before the packet on a loopback interface of BSD.
    const NULL: usize = 4;
    /// The same of the second form of Linux's own.
    const SLL2: usize = 20;
    let packet = match link {
        Linktype::ETHERNET => SlicedPacket::from_ethernet(data),
        Linktype::LINUX_SLL => SlicedPacket::from_linux_sll(data),
        Linktype::LINUX_SLL2 => SlicedPacket::from_ip(data.get(SLL2..)?),
        Linktype::NULL | Linktype::LOOP => SlicedPacket::from_ip(data.get(NULL..)?),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => SlicedPacket::from_ip(data),
        _ => return None,
    };
    let packet = packet.ok()?;
    let sender = match packet.net.as_ref()? {
        NetSlice::Ipv4(ip) => ip.header().source_addr().into(),
        NetSlice::Ipv6(ip) => ip.header().source_addr().into(),
        NetSlice::Arp(_) => return None,
    };
    let Some(TransportSlice::Udp(datagram)) = packet.transport else { return None };
    if datagram.destination_port() != options.port {
        return None;
    }
    read_message(datagram.payload(), sender, options.client_subnet)
}

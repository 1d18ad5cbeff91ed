//! An answer to bytes (RFC 1035 section 4.1), with truncation and the OPT record.
//!
//! Headers, OPT and the bounded buffer are those of `hickory-proto`. The question is repeated as
//! it came, and every name in the reply is a pointer into it. So the owner has the spelling of the
//! question, a record takes the same room whatever the name, and none of the library's limits on
//! compression applies (it writes names in full after the first 120).

use std::net::IpAddr;

use hickory_proto::ProtoError;
use hickory_proto::op::{Edns, Header, HeaderCounts, MessageType, Metadata, OpCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::{DNSClass, RecordType};
use hickory_proto::serialize::binary::{BinEncodable, BinEncoder};

use crate::dns::answer::{AddressRecord, Answer, MinimalAny, Soa};
use crate::dns::cookie::{COOKIE, REPLY_LENGTH};
use crate::dns::extended_error::{EXTENDED_ERROR, ExtendedError};
use crate::dns::question::{CLIENT_SUBNET, HEADER_LENGTH, MIN_PAYLOAD, Request};

/// Largest reply over UDP, and the payload size that the OPT record announces.
///
/// This much reaches every client in one piece, IPv6 included (<https://www.dnsflagday.net/2020/>).
pub const MAX_PAYLOAD: u16 = 1232;

/// Length of an OPT record without options (RFC 6891 section 6.1.2).
const OPT_LENGTH: usize = 11;

/// Length of code and length before the data of an option (RFC 6891 section 6.1.2).
const OPTION_HEAD: usize = 4;

/// How a question came, which says how long the reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// One datagram.
    Udp,
    /// A stream with a length before each message (RFC 7766).
    Tcp,
}

/// The largest reply to this message.
#[must_use]
pub fn limit(request: &Request<'_>, transport: Transport) -> u16 {
    match transport {
        Transport::Udp => request.edns.map_or(MIN_PAYLOAD, |edns| edns.payload.min(MAX_PAYLOAD)),
        Transport::Tcp => u16::MAX,
    }
}

/// Writes the reply over what `out` holds; says whether TC is set.
///
/// As many address records as fit are kept, and TC says that there are more (RFC 2181 section 9).
/// The OPT record always has its room (RFC 6891 section 7). `cookie` is the data of the cookie option.
///
/// # Errors
///
/// None for requests that [`crate::dns::question::read`] made and limits of [`limit`]: header,
/// question and OPT record fit into 512 bytes. `out` is of no use then.
pub fn encode(
    request: &Request<'_>,
    answer: &Answer,
    cookie: Option<[u8; REPLY_LENGTH]>,
    limit: u16,
    out: &mut Vec<u8>,
) -> Result<bool, ProtoError> {
    out.clear();
    let subnet = request.client_subnet();
    let extended_error = ExtendedError::of(answer);
    let opt_length = match request.edns {
        Some(_) => {
            OPT_LENGTH
                + subnet.map_or(0, |subnet| OPTION_HEAD + subnet.length())
                + cookie.map_or(0, |cookie| OPTION_HEAD + cookie.len())
                + extended_error.map_or(0, |error| OPTION_HEAD + error.length())
        }
        None => 0,
    };
    let room = usize::from(limit).saturating_sub(opt_length);
    let mut encoder = BinEncoder::new(out);
    encoder.set_max_size(u16::try_from(room).unwrap_or(u16::MAX));

    let place = encoder.place::<Header>()?;
    if let Some(question) = request.question {
        encoder.emit_vec(question.wire())?;
    }
    let relayed = answer.relayed.as_deref();
    let (answers, answers_cut) = match relayed {
        None => {
            let (addresses, are_cut) = emit_records(&mut encoder, &answer.records)?;
            let any = answer.minimal_any.as_slice();
            let (others, others_cut) = emit_records(&mut encoder, any)?;
            (addresses + others, are_cut || others_cut)
        }
        Some(reply) => emit_records(&mut encoder, &reply.answers)?,
    };
    let (authorities, authorities_cut) = match relayed {
        None => emit_records(&mut encoder, answer.soa.as_slice())?,
        Some(_) if answers_cut => (0, true),
        Some(reply) => emit_records(&mut encoder, &reply.authorities)?,
    };
    // What is left out here is no loss that the client must hear of (RFC 2181 section 9).
    let (additionals, _) = match relayed {
        Some(reply) if !answers_cut && !authorities_cut => {
            emit_records(&mut encoder, &reply.additionals)?
        }
        _ => (0, false),
    };
    encoder.set_max_size(limit);
    if request.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(MAX_PAYLOAD);
        edns.set_rcode_high(answer.code.high());
        if let Some(subnet) = subnet {
            edns.options_mut().insert(EdnsOption::Unknown(CLIENT_SUBNET, subnet.reply_data()));
        }
        if let Some(cookie) = cookie {
            edns.options_mut().insert(EdnsOption::Unknown(COOKIE, cookie.to_vec()));
        }
        if let Some(error) = extended_error {
            edns.options_mut().insert(EdnsOption::Unknown(EXTENDED_ERROR, error.data()));
        }
        edns.emit(&mut encoder)?;
    }
    // Of a record that did not fit the encoder leaves what it had written by then.
    encoder.trim();

    let opcode = OpCode::from_u8(request.opcode);
    let mut metadata = Metadata::new(request.id, MessageType::Response, opcode);
    metadata.authoritative = answer.authoritative;
    metadata.truncation = answers_cut || authorities_cut;
    metadata.recursion_desired = request.recursion_desired;
    metadata.recursion_available = relayed.is_some_and(|reply| reply.recursion_available);
    metadata.authentic_data = relayed.is_some_and(|reply| reply.authentic_data);
    metadata.response_code = answer.code;
    let counts = HeaderCounts {
        queries: request.question.is_some().into(),
        answers,
        authorities,
        additionals: additionals + u16::from(request.edns.is_some()),
    };
    place.replace(&mut encoder, Header { metadata, counts })?;
    Ok(answers_cut || authorities_cut)
}

/// Writes as many records as fit: how many, and whether some are missing.
fn emit_records<Record: BinEncodable>(
    encoder: &mut BinEncoder<'_>,
    records: &[Record],
) -> Result<(u16, bool), ProtoError> {
    let (count, is_cut) = match encoder.emit_all(records.iter()) {
        Ok(count) => (count, false),
        Err(ProtoError::NotAllRecordsWritten { count, .. }) => (count, true),
        Err(error) => return Err(error),
    };
    let count = u16::try_from(count).map_err(|_| ProtoError::from("more than 65535 records"))?;
    Ok((count, is_cut))
}

/// Writes a pointer to the name that begins at `offset` of the question's name (RFC 1035
/// section 4.1.4). Offsets are below 255, so the pointer is below its bound of 16383.
fn emit_pointer(encoder: &mut BinEncoder<'_>, offset: usize) -> Result<(), ProtoError> {
    let target = u16::try_from(HEADER_LENGTH + offset)
        .map_err(|_| ProtoError::from("a pointer beyond the question"))?;
    encoder.emit_u16(0xc000 | target)
}

/// Writes what stands between the owner and the data of a record.
fn emit_fixed_part(
    encoder: &mut BinEncoder<'_>,
    record_type: RecordType,
    ttl: u32,
) -> Result<(), ProtoError> {
    record_type.emit(encoder)?;
    DNSClass::IN.emit(encoder)?;
    encoder.emit_u32(ttl)
}

impl BinEncodable for AddressRecord {
    fn emit(&self, encoder: &mut BinEncoder<'_>) -> Result<(), ProtoError> {
        emit_pointer(encoder, 0)?;
        match self.address {
            IpAddr::V4(address) => {
                emit_fixed_part(encoder, RecordType::A, self.ttl)?;
                encoder.emit_u16(4)?;
                encoder.emit_vec(&address.octets())
            }
            IpAddr::V6(address) => {
                emit_fixed_part(encoder, RecordType::AAAA, self.ttl)?;
                encoder.emit_u16(16)?;
                encoder.emit_vec(&address.octets())
            }
        }
    }
}

/// What the record of a minimal answer to ANY says (RFC 8482 section 4.2).
const MINIMAL_ANY: &[u8] = b"RFC8482";

impl BinEncodable for MinimalAny {
    fn emit(&self, encoder: &mut BinEncoder<'_>) -> Result<(), ProtoError> {
        emit_pointer(encoder, 0)?;
        emit_fixed_part(encoder, RecordType::HINFO, self.ttl)?;
        let length = u16::try_from(MINIMAL_ANY.len() + 2)
            .map_err(|_| ProtoError::from("record data beyond 65535 bytes"))?;
        encoder.emit_u16(length)?;
        encoder.emit_character_data(MINIMAL_ANY)?;
        encoder.emit_character_data(b"")
    }
}

/// The mailbox of the SOA record, below the zone (RFC 2142 section 7).
const MAILBOX: &[u8] = b"hostmaster";

/// Serial, refresh, retry and expire of the SOA record. There is nothing to transfer, so the
/// serial never changes and the times are the least that RFC 1912 section 2.2 recommends.
const SOA_NUMBERS: [u32; 4] = [1, 1200, 180, 1_209_600];

impl BinEncodable for Soa {
    fn emit(&self, encoder: &mut BinEncoder<'_>) -> Result<(), ProtoError> {
        emit_pointer(encoder, self.zone_offset)?;
        emit_fixed_part(encoder, RecordType::SOA, self.ttl)?;
        let place = encoder.place::<u16>()?;
        // MNAME: the zone itself, since no server has a name.
        emit_pointer(encoder, self.zone_offset)?;
        encoder.emit_character_data(MAILBOX)?;
        emit_pointer(encoder, self.zone_offset)?;
        for number in SOA_NUMBERS {
            encoder.emit_u32(number)?;
        }
        // MINIMUM bounds how long the negative answer is kept (RFC 2308 section 4).
        encoder.emit_u32(self.ttl)?;
        let length = u16::try_from(encoder.len_since_place(&place))
            .map_err(|_| ProtoError::from("record data beyond 65535 bytes"))?;
        place.replace(encoder, length)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use hickory_proto::op::{Message, ResponseCode};
    use hickory_proto::rr::RData;

    use super::*;
    use crate::dns::answer::Origin;
    use crate::dns::question::{Verdict, read};

    /// A question of type A for `wWw.example.com` with this EDNS payload size and subnet option.
    fn question(payload: Option<u16>, subnet: &[u8]) -> Vec<u8> {
        let mut message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
        message.extend(b"\x03wWw\x07example\x03com\x00\x00\x01\x00\x01");
        if let Some(payload) = payload {
            message[11] = 1;
            message.extend(b"\x00\x00\x29");
            message.extend(payload.to_be_bytes());
            message.extend([0, 0, 0x80, 0]);
            message.extend(u16::try_from(subnet.len()).unwrap().to_be_bytes());
            message.extend(subnet);
        }
        message
    }

    fn encoded(message: &[u8], answer: &Answer, transport: Transport) -> Vec<u8> {
        let Verdict::Ask(request, _) = read(message, true) else { panic!("{message:?}") };
        let mut out = b"left over".to_vec();
        let limit = limit(&request, transport);
        let is_truncated = encode(&request, answer, None, limit, &mut out).unwrap();
        assert!(out.len() <= usize::from(limit));
        assert_eq!(Message::from_vec(&out).unwrap().metadata.truncation, is_truncated);
        out
    }

    fn answer_of(addresses: impl Iterator<Item = IpAddr>) -> Answer {
        Answer {
            authoritative: true,
            records: addresses.map(|address| AddressRecord { address, ttl: 10 }).collect(),
            ..Answer::of_code(ResponseCode::NoError, Origin::Policy)
        }
    }

    fn ipv4(count: u32) -> Answer {
        answer_of((1..=count).map(|last| Ipv4Addr::from(0xc000_0200 + last).into()))
    }

    fn ipv6(count: u128) -> Answer {
        let first = 0x2001_0db8 << 96;
        answer_of((1..=count).map(|last| Ipv6Addr::from(first + last).into()))
    }

    #[test]
    fn the_question_is_repeated_and_owners_have_its_spelling() {
        let message = question(None, b"");
        let out = encoded(&message, &ipv4(2), Transport::Udp);
        assert_eq!(out[HEADER_LENGTH..message.len()], message[HEADER_LENGTH..]);
        let reply = Message::from_vec(&out).unwrap();
        assert_eq!(reply.metadata.id, 0x1234);
        assert_eq!(reply.metadata.message_type, MessageType::Response);
        assert!(reply.metadata.authoritative && reply.metadata.recursion_desired);
        assert!(!reply.metadata.recursion_available);
        assert_eq!(reply.answers.len(), 2);
        for record in &reply.answers {
            assert_eq!(record.name.to_ascii(), "wWw.example.com.");
            assert_eq!((record.ttl, record.dns_class), (10, DNSClass::IN));
        }
        assert_eq!(reply.answers[0].data, RData::A(Ipv4Addr::new(192, 0, 2, 1).into()));
        assert!(reply.edns.is_none());
        // Header, question, and 16 bytes for each record.
        assert_eq!(out.len(), message.len() + 2 * 16);
    }

    #[test]
    fn truncation_keeps_what_fits_and_the_opt_record() {
        let fixed = question(None, b"").len();
        let cases = [
            // Payload size, subnet, limit, length of the OPT record.
            (None, &b""[..], 512, 0),
            (Some(0), b"", 512, 11),
            (Some(600), b"", 600, 11),
            (Some(600), b"\x00\x08\x00\x07\x00\x01\x18\x00\xcb\x00\x71", 600, 22),
            (Some(4096), b"", 1232, 11),
        ];
        for (payload, subnet, limit, opt_length) in cases {
            let message = question(payload, subnet);
            for (answer, record_length) in [(ipv4(200), 16), (ipv6(200), 28)] {
                let fitting = (limit - fixed - opt_length) / record_length;
                let reply = encoded(&message, &answer, Transport::Udp);
                let reply = Message::from_vec(&reply).unwrap();
                assert!(reply.metadata.truncation);
                assert_eq!(reply.answers.len(), fitting, "{payload:?}");
                assert_eq!(reply.edns.is_some(), payload.is_some());
            }
            let most = u32::try_from((limit - fixed - opt_length) / 16).unwrap();
            let reply = encoded(&message, &ipv4(most), Transport::Udp);
            assert!(!Message::from_vec(&reply).unwrap().metadata.truncation);
        }
    }

    #[test]
    fn a_reply_over_tcp_has_all_the_room_there_is() {
        let message = question(None, b"");
        let out = encoded(&message, &ipv4(1000), Transport::Tcp);
        let reply = Message::from_vec(&out).unwrap();
        assert!(!reply.metadata.truncation);
        assert_eq!(reply.answers.len(), 1000);
        assert_eq!(out.len(), message.len() + 1000 * 16, "every owner is a pointer");
        let out = encoded(&message, &ipv4(5000), Transport::Tcp);
        assert!(Message::from_vec(&out).unwrap().metadata.truncation);
    }

    #[test]
    fn the_opt_record_says_what_we_take_and_copies_the_subnet() {
        let message = question(Some(4096), b"\x00\x08\x00\x07\x00\x01\x18\x00\xcb\x00\x71");
        let out = encoded(&message, &ipv4(1), Transport::Udp);
        assert!(out.ends_with(b"\x00\x08\x00\x07\x00\x01\x18\x18\xcb\x00\x71"));
        let edns = Message::from_vec(&out).unwrap().edns.unwrap();
        assert_eq!(edns.max_payload(), MAX_PAYLOAD);
        assert_eq!(edns.version(), 0);
        assert!(!edns.flags().dnssec_ok);
    }

    #[test]
    fn extended_codes_are_split_over_header_and_opt() {
        let mut message = question(Some(1232), b"");
        let version = message.len() - 5;
        message[version] = 1;
        let Verdict::Reject(request, code) = read(&message, false) else { panic!() };
        let mut out = Vec::new();
        encode(&request, &Answer::of_code(code, Origin::Rejected), None, 512, &mut out).unwrap();
        let reply = Message::from_vec(&out).unwrap();
        // 16 is BADVERS in an OPT record and BADSIG in a TSIG record; the library reads the latter.
        assert_eq!(u16::from(reply.metadata.response_code), 16);
        assert_eq!(reply.edns.unwrap().version(), 0, "the version that is spoken here");
    }

    #[test]
    fn an_soa_is_that_of_the_zone_in_the_spelling_of_the_question() {
        let answer = Answer {
            soa: Some(Soa { zone_offset: 4, ttl: 45 }),
            ..Answer::of_code(ResponseCode::NoError, Origin::UnsupportedType)
        };
        let reply = encoded(&question(None, b""), &answer, Transport::Udp);
        let reply = Message::from_vec(&reply).unwrap();
        assert!(reply.answers.is_empty());
        let [soa] = reply.authorities.as_slice() else { panic!("{reply:?}") };
        assert_eq!(
            format!("{} {} {}", soa.name, soa.ttl, soa.data),
            "example.com. 45 example.com. hostmaster.example.com. 1 1200 180 1209600 45"
        );
    }
}

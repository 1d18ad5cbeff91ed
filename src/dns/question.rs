//! Bytes to a question, or to the verdict that there is none to answer.
//!
//! The header is read first and alone, so that whatever follows it can be refused with the right
//! id. The message is read here and not by `hickory-proto` because the reply repeats the question
//! byte by byte, because a broken option must not hide the rest, and because this needs no
//! allocation. What the protocol leaves open:
//!
//! - A compression pointer in the question could only point into the header or at itself: FORMERR.
//! - Records in the answer and authority sections are skipped if they are well-formed; so are
//!   records of the additional section other than OPT.
//! - Bytes behind the last record are ignored, as other servers do.
//! - A message without a question is one only with a cookie (RFC 7873 section 5.4); else it is
//!   refused, as one with several is (RFC 9619).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use crate::dns::cookie::{COOKIE, Cookie};
use crate::dns::name;

/// Length of the header (RFC 1035 section 4.1.1).
pub const HEADER_LENGTH: usize = 12;

/// Smallest UDP payload size; a smaller one counts as this (RFC 6891 section 6.2.3).
pub const MIN_PAYLOAD: u16 = 512;

/// The class of the Internet, the only one that is answered (RFC 1035 section 3.2.4).
const CLASS_IN: u16 = 1;

/// Code of the client-subnet option (RFC 7871 section 6).
pub const CLIENT_SUBNET: u16 = 8;

/// What is to be done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// No reply: there is no header to answer to, or the message is itself a reply.
    Drop,
    /// A reply that consists of a return code.
    Reject(Request<'a>, ResponseCode),
    /// A question of class IN.
    Ask(Request<'a>, Question<'a>),
    /// No question, but a cookie: the client wants to know whether it counts, or to have one.
    AskCookie(Request<'a>),
}

/// What a reply takes over from the message it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The id.
    pub id: u16,
    /// The opcode, 4 bits; 0 is QUERY.
    pub opcode: u8,
    /// RD (RFC 1035 section 4.1.1).
    pub recursion_desired: bool,
    /// The question, if it could be read; the reply repeats it.
    pub question: Option<Question<'a>>,
    /// The OPT record, if there was one; the reply then has one too (RFC 6891 section 7).
    pub edns: Option<Edns<'a>>,
}

/// One entry of the question section (RFC 1035 section 4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The entry as it was received: name, type and class.
    wire: &'a [u8],
    /// QTYPE.
    pub record_type: RecordType,
    /// QCLASS.
    pub class: u16,
}

/// What the OPT record of a message says (RFC 6891 section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edns<'a> {
    /// The largest UDP payload that the client takes, at least [`MIN_PAYLOAD`].
    pub payload: u16,
    /// Where the client stands, if it says so and the responder listens to it.
    pub client_subnet: Option<ClientSubnet<'a>>,
    /// The client's cookie (RFC 7873).
    pub cookie: Option<Cookie<'a>>,
}

/// A well-formed client-subnet option (RFC 7871 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSubnet<'a> {
    /// The data of the option: family, source and scope prefix length, address.
    wire: &'a [u8],
    /// The first address of the subnet.
    ///
    /// `None` for a source prefix length of 0, by which the client says that its address is
    /// nobody's business; the sender of the message then counts as the client.
    pub network: Option<IpAddr>,
}

/// Reads a message.
///
/// With `accept_client_subnet` a client-subnet option is handed on; it must be well-formed anyhow.
#[must_use]
pub fn read(message: &[u8], accept_client_subnet: bool) -> Verdict<'_> {
    let Some((header, body)) = message.split_first_chunk::<HEADER_LENGTH>() else {
        return Verdict::Drop;
    };
    let header = Header::read(header);
    if header.is_reply {
        return Verdict::Drop;
    }
    let mut request = Request {
        id: header.id,
        opcode: header.opcode,
        recursion_desired: header.recursion_desired,
        question: None,
        edns: None,
    };
    if header.opcode != 0 {
        return Verdict::Reject(request, ResponseCode::NotImp);
    }
    match request.read_body(&header, body, accept_client_subnet) {
        Ok(Some(question)) => Verdict::Ask(request, question),
        Ok(None) => Verdict::AskCookie(request),
        Err(code) => {
            // Nothing was made for that subnet, so the reply has no place to say so.
            if let Some(edns) = &mut request.edns {
                edns.client_subnet = None;
            }
            Verdict::Reject(request, code)
        }
    }
}

impl<'a> Request<'a> {
    /// Reads what follows the header, keeping what could be read even if the rest is refused.
    fn read_body(
        &mut self,
        header: &Header,
        body: &'a [u8],
        accept_client_subnet: bool,
    ) -> Result<Option<Question<'a>>, ResponseCode> {
        // RFC 9619 section 4: a QUERY has one question, or none and a cookie.
        if header.questions > 1 {
            return Err(ResponseCode::FormErr);
        }
        let mut reader = Reader { rest: body };
        if header.questions == 1 {
            self.question = Some(reader.question().ok_or(ResponseCode::FormErr)?);
        }
        if header.is_truncated {
            return Err(ResponseCode::FormErr);
        }
        for section in 0..3 {
            for _ in 0..header.records[section] {
                let record = reader.record().ok_or(ResponseCode::FormErr)?;
                if record.record_type != u16::from(RecordType::OPT) {
                    continue;
                }
                // RFC 6891 section 6.1.1: one OPT, in the additional section, at the root.
                if section != 2 || self.edns.is_some() || record.owner != [0] {
                    return Err(ResponseCode::FormErr);
                }
                self.read_edns(&record, accept_client_subnet)?;
            }
        }
        let Some(question) = self.question else {
            let has_cookie = self.edns.is_some_and(|edns| edns.cookie.is_some());
            return if has_cookie { Ok(None) } else { Err(ResponseCode::FormErr) };
        };
        if question.class != CLASS_IN
            || matches!(question.record_type, RecordType::AXFR | RecordType::IXFR)
        {
            return Err(ResponseCode::Refused);
        }
        Ok(Some(question))
    }

    fn read_edns(
        &mut self,
        opt: &ResourceRecord<'a>,
        accept_client_subnet: bool,
    ) -> Result<(), ResponseCode> {
        let payload = opt.class.max(MIN_PAYLOAD);
        let edns = self.edns.insert(Edns { payload, client_subnet: None, cookie: None });
        // The TTL holds extended return code, version and flags (RFC 6891 section 6.1.3). What
        // the data of another version means is not known.
        let [_, version, _, _] = opt.ttl;
        if version != 0 {
            return Err(ResponseCode::BADVERS);
        }
        let mut options = Reader { rest: opt.data };
        let (mut client_subnet, mut cookie) = (None, None);
        while !options.rest.is_empty() {
            let (code, data) = options.option().ok_or(ResponseCode::FormErr)?;
            if code == CLIENT_SUBNET {
                let subnet = ClientSubnet::read(data).ok_or(ResponseCode::FormErr)?;
                // The first one counts, as in other servers; RFC 7871 does not say.
                client_subnet = client_subnet.or(Some(subnet));
            } else if code == COOKIE && cookie.is_none() {
                // All but the first are ignored (RFC 7873 section 5.2).
                cookie = Some(Cookie::read(data).ok_or(ResponseCode::FormErr)?);
            }
        }
        edns.cookie = cookie;
        if accept_client_subnet {
            edns.client_subnet = client_subnet;
        }
        Ok(())
    }

    /// The cookie that the client sent.
    #[must_use]
    pub fn cookie(&self) -> Option<Cookie<'a>> {
        self.edns.and_then(|edns| edns.cookie)
    }

    /// The client-subnet option that takes part in the answer and is returned with it.
    #[must_use]
    pub fn client_subnet(&self) -> Option<ClientSubnet<'a>> {
        self.edns.and_then(|edns| edns.client_subnet)
    }
}

impl<'a> Question<'a> {
    /// Reads an entry of the question section by itself; `None` if it is none.
    #[must_use]
    pub fn from_wire(wire: &'a [u8]) -> Option<Self> {
        Reader { rest: wire }.question()
    }

    /// The name as it was spelt, in wire form.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        &self.wire[..self.wire.len() - 4]
    }

    /// Name, type and class as they were received.
    #[must_use]
    pub const fn wire(&self) -> &'a [u8] {
        self.wire
    }
}

impl<'a> ClientSubnet<'a> {
    /// Reads the data of an option; `None` if it is malformed (RFC 7871 section 6).
    fn read(data: &'a [u8]) -> Option<Self> {
        let ([family_high, family_low, source, scope], address) = data.split_first_chunk::<4>()?;
        if *scope != 0 || address.len() != usize::from(*source).div_ceil(8) {
            return None;
        }
        let bits_in_last = source % 8;
        if address.last().is_some_and(|last| bits_in_last != 0 && last << bits_in_last != 0) {
            return None;
        }
        let network = match (u16::from_be_bytes([*family_high, *family_low]), source) {
            // Family 0 is sent by clients that give no address at all (dig +subnet=0).
            (0..=2, 0) => None,
            (1, 1..=32) => Some(Ipv4Addr::from(padded::<4>(address)?).into()),
            (2, 1..=128) => Some(Ipv6Addr::from(padded::<16>(address)?).into()),
            _ => return None,
        };
        Some(ClientSubnet { wire: data, network })
    }

    /// The data of the option for the reply: the same with the scope set to the source length
    /// (RFC 7871 section 7.2.1).
    #[must_use]
    pub fn reply_data(&self) -> Vec<u8> {
        let mut data = self.wire.to_vec();
        data[3] = data[2];
        data
    }

    /// Length of the data.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.wire.len()
    }
}

/// The bytes and as many zeros as are missing.
fn padded<const LENGTH: usize>(bytes: &[u8]) -> Option<[u8; LENGTH]> {
    let mut padded = [0; LENGTH];
    padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(padded)
}

/// The fields of a header (RFC 1035 section 4.1.1) that matter in a question.
struct Header {
    id: u16,
    is_reply: bool,
    opcode: u8,
    is_truncated: bool,
    recursion_desired: bool,
    questions: u16,
    /// Records in the answer, authority and additional sections.
    records: [u16; 3],
}

impl Header {
    fn read(bytes: &[u8; HEADER_LENGTH]) -> Self {
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        Header {
            id: word(0),
            is_reply: bytes[2] & 0x80 != 0,
            opcode: (bytes[2] >> 3) & 0x0f,
            is_truncated: bytes[2] & 0x02 != 0,
            recursion_desired: bytes[2] & 0x01 != 0,
            questions: word(4),
            records: [word(6), word(8), word(10)],
        }
    }
}

/// A record of any section (RFC 1035 section 4.1.3).
struct ResourceRecord<'a> {
    owner: &'a [u8],
    record_type: u16,
    class: u16,
    ttl: [u8; 4],
    data: &'a [u8],
}

/// Takes parts off the front of what is left; `None` if too little is left.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (taken, rest) = self.rest.split_first_chunk::<LENGTH>()?;
        self.rest = rest;
        Some(*taken)
    }

    fn word(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn question(&mut self) -> Option<Question<'a>> {
        let wire = self.take(name::uncompressed_length(self.rest)? + 4)?;
        let [.., type_high, type_low, class_high, class_low] = wire else { return None };
        Some(Question {
            wire,
            record_type: RecordType::from(u16::from_be_bytes([*type_high, *type_low])),
            class: u16::from_be_bytes([*class_high, *class_low]),
        })
    }

    fn record(&mut self) -> Option<ResourceRecord<'a>> {
        let owner = self.take(name::compressed_length(self.rest)?)?;
        let record_type = self.word()?;
        let class = self.word()?;
        let ttl = self.array()?;
        let length = self.word()?;
        let data = self.take(usize::from(length))?;
        Some(ResourceRecord { owner, record_type, class, ttl, data })
    }

    /// An EDNS option: its code and its data (RFC 6891 section 6.1.2).
    fn option(&mut self) -> Option<(u16, &'a [u8])> {
        let code = self.word()?;
        let length = self.word()?;
        Some((code, self.take(usize::from(length))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question for `www.example.com`, RD set, followed by `tail`.
    fn message(flags: u16, counts: [u16; 4], tail: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x12, 0x34];
        bytes.extend(flags.to_be_bytes());
        for count in counts {
            bytes.extend(count.to_be_bytes());
        }
        bytes.extend(b"\x03wWw\x07example\x03com\x00\x00\x01\x00\x01");
        bytes.extend(tail);
        bytes
    }

    /// An OPT record with these options.
    fn opt(payload: u16, version: u8, options: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 41];
        bytes.extend(payload.to_be_bytes());
        bytes.extend([0, version, 0x80, 0]);
        bytes.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
        bytes.extend(options);
        bytes
    }

    fn option(code: u16, data: &[u8]) -> Vec<u8> {
        let mut bytes = code.to_be_bytes().to_vec();
        bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend(data);
        bytes
    }

    fn rejection(message: &[u8]) -> ResponseCode {
        match read(message, true) {
            Verdict::Reject(request, code) => {
                assert_eq!(request.id, 0x1234);
                code
            }
            other => panic!("{other:?}"),
        }
    }

    fn asked(message: &[u8]) -> (Request<'_>, Question<'_>) {
        match read(message, true) {
            Verdict::Ask(request, question) => (request, question),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_plain_question_is_read() {
        let bytes = message(0x0100, [1, 0, 0, 0], b"");
        let (request, question) = asked(&bytes);
        assert_eq!(question.name(), b"\x03wWw\x07example\x03com\x00");
        assert_eq!(question.wire(), &bytes[HEADER_LENGTH..]);
        assert_eq!(question.record_type, RecordType::A);
        assert!(request.recursion_desired);
        assert_eq!(request.edns, None);
        assert_eq!(request.question, Some(question));
    }

    #[test]
    fn fragments_and_replies_are_dropped() {
        let bytes = message(0x8000, [1, 0, 0, 0], b"");
        assert_eq!(read(&bytes, false), Verdict::Drop);
        for length in 0..HEADER_LENGTH {
            assert_eq!(read(&message(0, [1, 0, 0, 0], b"")[..length], false), Verdict::Drop);
        }
    }

    #[test]
    fn every_cut_behind_the_header_is_a_format_error() {
        let tail = opt(1232, 0, &option(10, b"12345678"));
        let bytes = message(0, [1, 0, 0, 1], &tail);
        asked(&bytes);
        for length in HEADER_LENGTH..bytes.len() {
            assert_eq!(rejection(&bytes[..length]), ResponseCode::FormErr, "{length}");
        }
    }

    #[test]
    fn other_opcodes_are_not_implemented() {
        for opcode in 1..16_u16 {
            let bytes = message(opcode << 11, [0, 0, 0, 0], b"");
            assert_eq!(rejection(&bytes), ResponseCode::NotImp);
        }
    }

    #[test]
    fn counts_and_flags_that_no_question_has() {
        for counts in [[0, 0, 0, 0], [2, 0, 0, 0], [65535, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1]] {
            assert_eq!(rejection(&message(0, counts, b"")), ResponseCode::FormErr, "{counts:?}");
        }
        assert_eq!(rejection(&message(0x0200, [1, 0, 0, 0], b"")), ResponseCode::FormErr);
    }

    #[test]
    fn a_pointer_in_the_question_is_a_format_error() {
        let mut bytes = message(0, [1, 0, 0, 0], b"");
        bytes[12..14].copy_from_slice(&[0xc0, 0x0c]);
        assert_eq!(rejection(&bytes), ResponseCode::FormErr);
    }

    #[test]
    fn trailing_bytes_are_ignored() {
        asked(&message(0, [1, 0, 0, 0], b"trailing"));
    }

    #[test]
    fn other_classes_and_transfers_are_refused() {
        for class in [0_u16, 2, 3, 4, 254, 255] {
            let mut bytes = message(0, [1, 0, 0, 0], b"");
            let end = bytes.len();
            bytes[end - 2..].copy_from_slice(&class.to_be_bytes());
            assert_eq!(rejection(&bytes), ResponseCode::Refused);
        }
        for record_type in [251_u16, 252] {
            let mut bytes = message(0, [1, 0, 0, 0], b"");
            let end = bytes.len();
            bytes[end - 4..end - 2].copy_from_slice(&record_type.to_be_bytes());
            assert_eq!(rejection(&bytes), ResponseCode::Refused);
        }
    }

    #[test]
    fn edns_is_read_whatever_stands_beside_it() {
        let tail = [option(10, b"12345678"), option(65001, b""), option(3, b"x")].concat();
        let bytes = message(0, [1, 0, 0, 1], &opt(4096, 0, &tail));
        assert_eq!(
            asked(&bytes).0.edns,
            Some(Edns { payload: 4096, client_subnet: None, cookie: Cookie::read(b"12345678") })
        );
        let bytes = message(0, [1, 0, 0, 1], &opt(0, 0, b""));
        assert_eq!(
            asked(&bytes).0.edns,
            Some(Edns { payload: 512, client_subnet: None, cookie: None })
        );
        let other = b"\xc0\x0c\x00\x10\x00\x01\x00\x00\x00\x00\x00\x02\x01a";
        let bytes = message(0, [1, 0, 0, 2], &[&other[..], &opt(1232, 0, b"")].concat());
        assert!(asked(&bytes).0.edns.is_some());
    }

    #[test]
    fn what_is_wrong_with_edns() {
        let good = opt(1232, 0, b"");
        let newer = message(0, [1, 0, 0, 1], &opt(1232, 1, b"not options at all"));
        assert_eq!(rejection(&newer), ResponseCode::BADVERS);
        let twice = message(0, [1, 0, 0, 2], &[good.clone(), good.clone()].concat());
        assert_eq!(rejection(&twice), ResponseCode::FormErr);
        let misplaced = message(0, [1, 0, 1, 0], &good);
        assert_eq!(rejection(&misplaced), ResponseCode::FormErr);
        let named = message(0, [1, 0, 0, 1], &[&b"\x01a"[..], &good].concat());
        assert_eq!(rejection(&named), ResponseCode::FormErr);
        let cut = message(0, [1, 0, 0, 1], &opt(1232, 0, b"\x00\x0a\x00\x09short"));
        assert_eq!(rejection(&cut), ResponseCode::FormErr);
    }

    #[test]
    fn the_client_subnet_is_checked_always_and_handed_on_if_wanted() {
        let cases: [(&[u8], Option<Option<&str>>); 16] = [
            (b"\x00\x01\x18\x00\xcb\x00\x71", Some(Some("203.0.113.0"))),
            (b"\x00\x01\x19\x00\xcb\x00\x71\x80", Some(Some("203.0.113.128"))),
            (b"\x00\x01\x20\x00\xcb\x00\x71\x01", Some(Some("203.0.113.1"))),
            (b"\x00\x02\x20\x00\x20\x01\x0d\xb8", Some(Some("2001:db8::"))),
            (b"\x00\x01\x00\x00", Some(None)),
            (b"\x00\x02\x00\x00", Some(None)),
            (b"\x00\x00\x00\x00", Some(None)),
            (b"\x00\x03\x00\x00", None),
            (b"\x00\x00\x08\x00\x01", None),
            (b"\x00\x01\x18\x18\xcb\x00\x71", None),
            (b"\x00\x01\x18\x00\xcb\x00", None),
            (b"\x00\x01\x18\x00\xcb\x00\x71\x00", None),
            (b"\x00\x01\x19\x00\xcb\x00\x71\x01", None),
            (b"\x00\x01\x21\x00\xcb\x00\x71\x01\x00", None),
            (b"\x00\x01\x18", None),
            (b"", None),
        ];
        for (data, expected) in cases {
            let bytes = message(0, [1, 0, 0, 1], &opt(1232, 0, &option(CLIENT_SUBNET, data)));
            let Some(network) = expected else {
                assert_eq!(rejection(&bytes), ResponseCode::FormErr, "{data:x?}");
                assert!(matches!(read(&bytes, false), Verdict::Reject(_, ResponseCode::FormErr)));
                continue;
            };
            let subnet = asked(&bytes).0.client_subnet().unwrap();
            assert_eq!(subnet.network, network.map(|text| text.parse().unwrap()), "{data:x?}");
            let mut reply = data.to_vec();
            reply[3] = reply[2];
            assert_eq!(subnet.reply_data(), reply);
            let Verdict::Ask(request, _) = read(&bytes, false) else { panic!("{data:x?}") };
            assert_eq!(request.client_subnet(), None);
        }
    }
}

//! A real DNS server behind (`--live`): a question goes out over UDP, over TCP if the answer does not
//! fit, to one server after the other until one answers.
//!
//! Every try has an id of its own and a port that the system picks, both unpredictable (RFC 5452
//! section 9). A socket hears its server only; what it hears counts if id and question are those of
//! the try, all else is passed over. Nothing leaves but through the gate.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::RecordType;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout, timeout_at};

use crate::behind::reply::Reply;
use crate::dns::encode::MAX_PAYLOAD;
use crate::dns::name;
use crate::live::gate::{Gate, Route};

/// How long a server may take over one try.
pub const PATIENCE: Duration = Duration::from_millis(1500);

/// How often a question is tried, over all servers together; each server is tried once at least.
pub const TRIES: usize = 3;

/// How long [`ask`] takes at most, however many servers there are: enough for three tries over UDP and
/// then over TCP.
pub const LONGEST: Duration = Duration::from_secs(10);

/// Length of a message header (RFC 1035 section 4.1.1).
const HEADER: usize = 12;

/// What a server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The name in wire form, as the client spelt it.
    pub name: Vec<u8>,
    /// The type.
    pub record_type: RecordType,
    /// RD, as the client set it.
    pub recursion_desired: bool,
    /// Whether the question has an OPT record, as the client's has.
    pub edns: bool,
}

impl Query {
    /// The appliance's own question for the addresses of a name.
    #[must_use]
    pub fn own(name: &[u8], record_type: RecordType) -> Self {
        Query { name: name.to_vec(), record_type, recursion_desired: true, edns: false }
    }

    /// The question on the wire, class IN.
    fn message(&self, id: u16, edns: bool) -> Vec<u8> {
        let mut message = Vec::with_capacity(HEADER + self.name.len() + 15);
        message.extend(id.to_be_bytes());
        message.extend([u8::from(self.recursion_desired), 0, 0, 1, 0, 0, 0, 0, 0, edns.into()]);
        message.extend(&self.name);
        message.extend(u16::from(self.record_type).to_be_bytes());
        message.extend([0, 1]);
        if edns {
            // OPT: at the root, the size that is taken, no options.
            message.extend([0, 0, 41]);
            message.extend(MAX_PAYLOAD.to_be_bytes());
            message.extend([0; 6]);
        }
        message
    }
}

/// What was heard of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The answer to the question.
    Answer(Reply),
    /// The answer did not fit into a datagram.
    Truncated,
    /// Something else, which concerns nobody.
    Other,
}

/// Reads what a server sent in answer to `query` under this id. Takes any bytes.
#[must_use]
pub fn read(bytes: &[u8], id: u16, query: &Query) -> Heard {
    // The id is looked at first: most of what a stranger sends costs nothing.
    if bytes.len() < HEADER || bytes[..2] != id.to_be_bytes() {
        return Heard::Other;
    }
    let Ok(message) = Message::from_vec(bytes) else { return Heard::Other };
    let metadata = &message.metadata;
    let [question] = &message.queries[..] else { return Heard::Other };
    let is_answer = metadata.message_type == MessageType::Response
        && metadata.op_code == OpCode::Query
        && question.query_type() == query.record_type
        && question.query_class() == hickory_proto::rr::DNSClass::IN
        && name::key_of_name(question.name()) == name::key(&query.name);
    if !is_answer {
        return Heard::Other;
    }
    if metadata.truncation {
        return Heard::Truncated;
    }
    Heard::Answer(Reply {
        code: metadata.response_code,
        authoritative: metadata.authoritative,
        recursion_available: metadata.recursion_available,
        authentic_data: metadata.authentic_data,
        answers: message.answers,
        authorities: message.authorities,
        additionals: message.additionals,
    })
}

/// Asks one server after the other; `None`: none of them answered.
pub async fn ask(gate: &Gate, servers: &[(IpAddr, u16)], query: &Query) -> Option<Reply> {
    let tries = async {
        for server in servers.iter().cycle().take(TRIES.max(servers.len())) {
            let Ok(route) = gate.route(server.0, server.1) else { continue };
            if let Some(reply) = ask_once(&route, query, query.edns).await {
                let refused_edns =
                    matches!(reply.code, ResponseCode::FormErr | ResponseCode::NotImp);
                if query.edns && refused_edns {
                    // A server from before EDNS (RFC 6891 section 7).
                    return ask_once(&route, query, false).await.or(Some(reply));
                }
                return Some(reply);
            }
        }
        None
    };
    timeout(LONGEST, tries).await.ok().flatten()
}

/// One try: over UDP, then over TCP if the answer did not fit.
async fn ask_once(route: &Route, query: &Query, edns: bool) -> Option<Reply> {
    let socket = timeout(PATIENCE, route.datagrams()).await.ok()?.ok()?;
    match over_udp(&socket, query, edns).await? {
        Heard::Answer(reply) => Some(reply),
        Heard::Truncated => timeout(PATIENCE, over_tcp(route, query, edns)).await.ok()?,
        Heard::Other => None,
    }
}

async fn over_udp(socket: &UdpSocket, query: &Query, edns: bool) -> Option<Heard> {
    let id = new_id()?;
    socket.send(&query.message(id, edns)).await.ok()?;
    let deadline = Instant::now() + PATIENCE;
    let mut buffer = vec![0; usize::from(u16::MAX)];
    loop {
        let length = timeout_at(deadline, socket.recv(&mut buffer)).await.ok()?.ok()?;
        match read(&buffer[..length], id, query) {
            Heard::Other => {}
            heard => return Some(heard),
        }
    }
}

async fn over_tcp(route: &Route, query: &Query, edns: bool) -> Option<Reply> {
    let id = new_id()?;
    let message = query.message(id, edns);
    let mut stream = route.connect().await.ok()?;
    let mut framed = u16::try_from(message.len()).ok()?.to_be_bytes().to_vec();
    framed.extend(message);
    stream.write_all(&framed).await.ok()?;
    loop {
        let length = stream.read_u16().await.ok()?;
        let mut answer = vec![0; usize::from(length)];
        stream.read_exact(&mut answer).await.ok()?;
        match read(&answer, id, query) {
            Heard::Answer(reply) => return Some(reply),
            // There is nothing beyond TCP.
            Heard::Truncated => return None,
            Heard::Other => {}
        }
    }
}

/// An id that nobody can guess; `None` if the system has no randomness.
fn new_id() -> Option<u16> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).ok()?;
    Some(u16::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> Query {
        Query::own(b"\x03wWw\x07example\x03com\x00", RecordType::A)
    }

    /// The question as a reply, with these flags and this tail of records.
    fn reply(flags: [u8; 2], answers: u8, tail: &[u8]) -> Vec<u8> {
        let mut bytes = query().message(0x1234, false);
        bytes[2..4].copy_from_slice(&flags);
        bytes[7] = answers;
        bytes.extend(tail);
        bytes
    }

    const RECORD: &[u8] = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x0a";

    #[test]
    fn an_answer_is_that_of_the_question_and_its_id() {
        let bytes = reply([0x84, 0x80], 1, RECORD);
        let Heard::Answer(answer) = read(&bytes, 0x1234, &query()) else { panic!() };
        assert!(answer.authoritative && answer.recursion_available);
        assert_eq!(answer.answers[0].to_string(), "wWw.example.com. 60 IN A 192.0.2.10");
        assert_eq!(read(&bytes, 0x1235, &query()), Heard::Other, "another id");
        for other in [
            Query { record_type: RecordType::AAAA, ..query() },
            Query { name: b"\x03ftp\x07example\x03com\x00".to_vec(), ..query() },
        ] {
            assert_eq!(read(&bytes, 0x1234, &other), Heard::Other);
        }
        let lower = Query { name: b"\x03www\x07example\x03com\x00".to_vec(), ..query() };
        assert!(matches!(read(&bytes, 0x1234, &lower), Heard::Answer(_)), "letter case is free");
    }

    #[test]
    fn what_is_no_answer_is_passed_over() {
        let own = query().message(0x1234, false);
        assert_eq!(read(&own, 0x1234, &query()), Heard::Other, "a question");
        assert_eq!(read(&reply([0xa0, 0], 0, b""), 0x1234, &query()), Heard::Other, "an opcode");
        assert_eq!(read(&reply([0x82, 0], 0, b""), 0x1234, &query()), Heard::Truncated);
        let whole = reply([0x84, 0], 1, RECORD);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length], 0x1234, &query()), Heard::Other, "{length}");
        }
        let mut two = reply([0x84, 0], 0, b"");
        two[5] = 0;
        assert_eq!(read(&two, 0x1234, &query()), Heard::Other, "without a question");
    }

    #[test]
    fn a_question_with_edns_says_what_is_taken() {
        let message = Message::from_vec(&query().message(7, true)).unwrap();
        assert_eq!(message.metadata.id, 7);
        assert!(message.metadata.recursion_desired);
        assert_eq!(message.edns.unwrap().max_payload(), MAX_PAYLOAD);
    }
}

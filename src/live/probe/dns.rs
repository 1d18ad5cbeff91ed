//! The check of a DNS server: a question.

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use super::words;
use crate::dns::client::code_name;
use crate::live::gate::Route;
use crate::model::check_rules::DnsQuestion;

/// The longest answer that is read, bytes.
const MOST: usize = 4096;

/// Asks over UDP. Datagrams that are no answer to this question are passed over.
pub(super) async fn ask(route: &Route, question: &DnsQuestion) -> Result<(), String> {
    let (name, record_type) = match question {
        DnsQuestion::Any => (Name::root(), RecordType::SOA),
        DnsQuestion::Address(name) => (read_name(name)?, RecordType::A),
        DnsQuestion::Zone(zone) => (read_name(zone)?, RecordType::SOA),
    };
    let id = fastrand::u16(..);
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.add_query(Query::query(name, record_type));
    let bytes = message.to_vec().map_err(|error| error.to_string())?;
    let socket = route.datagrams().await.map_err(|error| words(&error))?;
    socket.send(&bytes).await.map_err(|error| words(&error))?;
    let mut buffer = vec![0; MOST];
    loop {
        let length = socket.recv(&mut buffer).await.map_err(|error| words(&error))?;
        let Ok(answer) = Message::from_vec(&buffer[..length]) else { continue };
        if answer.metadata.id != id
            || answer.metadata.message_type != MessageType::Response
            || answer.queries != message.queries
        {
            continue;
        }
        return judge(&answer, question);
    }
}

fn judge(answer: &Message, question: &DnsQuestion) -> Result<(), String> {
    let code = answer.metadata.response_code;
    if *question == DnsQuestion::Any {
        return Ok(());
    }
    if code != ResponseCode::NoError {
        return Err(format!("answered {}", code_name(code)));
    }
    let has = |wanted: fn(&RData) -> bool| answer.answers.iter().any(|one| wanted(&one.data));
    let is_good = match question {
        DnsQuestion::Any => true,
        DnsQuestion::Address(_) => has(|data| matches!(data, RData::A(_) | RData::AAAA(_))),
        DnsQuestion::Zone(_) => has(|data| matches!(data, RData::SOA(_))),
    };
    if is_good { Ok(()) } else { Err("answered without the record".to_owned()) }
}

fn read_name(text: &str) -> Result<Name, String> {
    let mut name = Name::from_ascii(text).map_err(|_| format!("{text} is no domain name"))?;
    name.set_fqdn(true);
    Ok(name)
}

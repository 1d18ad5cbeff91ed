//! A DNS client in memory: the command `emulate query`.
//!
//! Its questions take the way of a UDP question without EDNS, from bytes to bytes, so that what is
//! printed is what a client of the socket would see and counts in the same way.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use hashbrown::HashMap;
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use thiserror::Error;

use crate::appliance::Appliance;
use crate::cli::interrupt::Interrupt;
use crate::dns::encode::Transport;
use crate::dns::name;
use crate::dns::respond::{Settings, respond};
use crate::model::snapshot::NameEntry;

/// A question that is asked once or several times.
#[derive(Clone, Debug)]
pub struct ClientQuery {
    name: Name,
    record_type: RecordType,
    /// How often it is asked; above 1 only a summary is printed.
    pub count: u32,
    /// Who asks.
    pub from: IpAddr,
    /// What ends a series before its end.
    pub interruption: Interrupt,
}

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// The name is no domain name: a label is empty or over 63 bytes, or all is over 255.
    #[error("{0} is not a domain name")]
    Name(String),
    /// There is no record type of that name.
    #[error("{0} is not a record type")]
    RecordType(String),
}

/// Types that `hickory-proto` has no name for.
const FURTHER_TYPES: [(&str, u16); 4] = [("LOC", 29), ("SPF", 99), ("IXFR", 251), ("URI", 256)];

impl ClientQuery {
    /// A question that 127.0.0.1 asks once.
    ///
    /// The name is absolute with or without its final dot. A type is written as in master files,
    /// in any case, or as TYPE and its number (RFC 3597 section 5); without one A is asked for.
    ///
    /// # Errors
    ///
    /// If the name is no domain name, or the type is unknown.
    pub fn new(name: &str, record_type: Option<&str>) -> Result<Self, QueryError> {
        Ok(ClientQuery {
            name: parse_name(name).ok_or_else(|| QueryError::Name(name.to_owned()))?,
            record_type: match record_type {
                None => RecordType::A,
                Some(word) => {
                    parse_type(word).ok_or_else(|| QueryError::RecordType(word.to_owned()))?
                }
            },
            count: 1,
            from: Ipv4Addr::LOCALHOST.into(),
            interruption: Interrupt::default(),
        })
    }

    /// The type that is asked for.
    #[must_use]
    pub const fn record_type(&self) -> RecordType {
        self.record_type
    }

    /// Asks, and gives what is to be printed, each line with its end. It asks no more once it is
    /// interrupted, and tells what it has.
    #[must_use]
    pub fn run(&self, appliance: &Appliance, settings: Settings) -> String {
        let question = self.message();
        let mut reply = Vec::new();
        let mut ask = || {
            let is_answered =
                respond(appliance, settings, &question, self.from, Transport::Udp, &mut reply);
            if is_answered { Message::from_vec(&reply).ok() } else { None }
        };
        if self.count <= 1 {
            return ask().map_or_else(|| "no reply\n".to_owned(), |reply| print_reply(&reply));
        }
        let mut counts: HashMap<Option<IpAddr>, u32> = HashMap::new();
        let mut asked = 0;
        while asked < self.count && !self.interruption.is_wanted() {
            asked += 1;
            let first = ask().and_then(|reply| reply.answers.first().and_then(address_of));
            *counts.entry(first).or_default() += 1;
        }
        self.print_shares(appliance, &counts, asked)
    }

    /// The question on the wire: QUERY, RD set as stub resolvers do, no EDNS.
    fn message(&self) -> Vec<u8> {
        let mut message = Message::new(1, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(self.name.clone(), self.record_type));
        message.to_vec().expect("one question always fits into a message")
    }

    /// A row for each first address, by falling count, then in the order of the host's list.
    fn print_shares(
        &self,
        appliance: &Appliance,
        counts: &HashMap<Option<IpAddr>, u32>,
        asked: u32,
    ) -> String {
        let places = self.places(appliance);
        let mut rows: Vec<_> = counts.iter().map(|(address, count)| (*address, *count)).collect();
        rows.sort_by_key(|(address, count)| {
            let place = address.and_then(|address| places.get(&address)).copied();
            (std::cmp::Reverse(*count), place.unwrap_or(usize::MAX))
        });
        let mut table = Table::new();
        table.load_style(NOTHING).add_row(["Answer", "Count", "Share"]);
        for (address, count) in rows {
            let answer = address.map_or_else(|| "-".to_owned(), |address| address.to_string());
            let share = u64::from(count) * 100 / u64::from(asked);
            table.add_row([answer, count.to_string(), format!("{share}%")]);
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if place == 0 { 0 } else { 2 }, 0));
            if place > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let all = self.count;
        let asked = if asked < all { format!("{asked} of {all}") } else { asked.to_string() };
        format!("{}\nQuestions: {asked}\n", table.trim_fmt())
    }

    /// Where each address stands in the list of the host that is asked for, or among the gateways.
    fn places(&self, appliance: &Appliance) -> HashMap<IpAddr, usize> {
        let snapshot = appliance.current();
        let key = name::key_of_labels(&self.name);
        let entry = key.as_ref().and_then(|key| snapshot.lookup(key));
        let addresses: Vec<IpAddr> = match (entry, &key) {
            (Some(NameEntry::Host(host)), _) => {
                snapshot.hosts[host.index()].addresses.iter().map(|address| address.ip).collect()
            }
            (_, Some(key)) => snapshot.sna_domain_of(key).map_or_else(Vec::new, |(domain, _)| {
                domain.systems.iter().map(|system| system.address).collect()
            }),
            (_, None) => Vec::new(),
        };
        addresses.into_iter().zip(0..).collect()
    }
}

fn parse_name(text: &str) -> Option<Name> {
    if text == "." {
        return Some(Name::root());
    }
    // Not by the rules of host names: a name on the wire may hold any byte (RFC 2181 section 11).
    let labels = text.strip_suffix('.').unwrap_or(text).split('.').map(str::as_bytes);
    let name = Name::from_labels(labels).ok()?;
    (name.len() <= name::MAX_NAME).then_some(name)
}

/// The type of that name; see [`ClientQuery::new`].
pub(crate) fn parse_type(word: &str) -> Option<RecordType> {
    let word = word.to_ascii_uppercase();
    if let Some(number) = word.strip_prefix("TYPE") {
        return number.parse::<u16>().ok().map(RecordType::from);
    }
    let further = FURTHER_TYPES.iter().find(|(name, _)| *name == word);
    match further {
        Some((_, number)) => Some(RecordType::from(*number)),
        None => word.parse().ok(),
    }
}

/// `RCODE [aa] [tc]  answer N`, then the answer section, a record a line.
fn print_reply(reply: &Message) -> String {
    let mut text = code_name(reply.metadata.response_code).to_owned();
    if reply.metadata.authoritative {
        text.push_str(" aa");
    }
    if reply.metadata.truncation {
        text.push_str(" tc");
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  answer {}", reply.answers.len());
    for record in &reply.answers {
        let owner = record.name.to_ascii();
        let Record { ttl, dns_class, data, .. } = record;
        let line = format!("{owner} {ttl} {dns_class} {} {data}", record.record_type());
        // Data may end in an empty text.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The mnemonic of a return code (IANA, DNS RCODEs).
pub(crate) const fn code_name(code: ResponseCode) -> &'static str {
    match code {
        ResponseCode::NoError => "NOERROR",
        ResponseCode::FormErr => "FORMERR",
        ResponseCode::ServFail => "SERVFAIL",
        ResponseCode::NXDomain => "NXDOMAIN",
        ResponseCode::NotImp => "NOTIMP",
        ResponseCode::Refused => "REFUSED",
        _ => "UNKNOWN", // the responder sends no other code to a question without EDNS
    }
}

fn address_of(record: &Record) -> Option<IpAddr> {
    match &record.data {
        RData::A(address) => Some(address.0.into()),
        RData::AAAA(address) => Some(address.0.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::DrivenClock;
    use crate::gslb::testing::World;
    use crate::model::policy::Policy;
    use crate::model::snapshot::Responder;

    fn appliance(change: impl FnOnce(&mut Policy), addresses: &[&str]) -> Appliance {
        let world = World::new().host("www.example.com", addresses);
        let mut snapshot = world.snapshot;
        let policy = &mut snapshot.policies[0];
        policy.dns.cache_proxy = true;
        policy.dns.override_ = true;
        change(policy);
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.publish(snapshot);
        appliance
    }

    fn run(appliance: &Appliance, name: &str, record_type: &str, count: u32) -> String {
        let query = ClientQuery { count, ..ClientQuery::new(name, Some(record_type)).unwrap() };
        query.run(appliance, Settings::default())
    }

    #[test]
    fn a_reply_is_printed_as_decided() {
        let appliance =
            appliance(|policy| policy.dns.ttl = Some(45), &["192.0.2.80", "2001:db8::1"]);
        assert_eq!(
            run(&appliance, "www.example.com", "a", 1),
            "NOERROR aa  answer 1\nwww.example.com. 45 IN A 192.0.2.80\n"
        );
        assert_eq!(
            run(&appliance, "WWW.example.com.", "AaAa", 1),
            "NOERROR aa  answer 1\nWWW.example.com. 45 IN AAAA 2001:db8::1\n"
        );
        assert_eq!(run(&appliance, "www.example.com", "mx", 1), "NOERROR aa  answer 0\n");
        assert_eq!(run(&appliance, "mail.example.com", "a", 1), "REFUSED  answer 0\n");
        assert_eq!(run(&appliance, ".", "TYPE65", 1), "REFUSED  answer 0\n");
    }

    #[test]
    fn a_reply_that_does_not_fit_shows_tc() {
        let addresses: Vec<String> = (1..=40).map(|last| format!("192.0.2.{last}")).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let text = run(&appliance(|_| {}, &addresses), "www.example.com", "a", 1);
        assert!(text.starts_with("NOERROR aa tc  answer 29\n"), "{text}");
    }

    #[test]
    fn no_reply_is_printed_as_such() {
        let world = World::new().host("www.example.com", &["192.0.2.1"]);
        let mut snapshot = world.snapshot;
        snapshot.policies[0].dns.cache_proxy = true;
        snapshot.policies[0].dns.override_ = true;
        snapshot.responder = Responder { error_handling: Some(false), ..Responder::default() };
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.publish(snapshot);
        assert_eq!(run(&appliance, "www.example.com", "TXT", 1), "no reply\n");
        assert_eq!(
            run(&appliance, "www.example.com", "TXT", 2),
            "Answer  Count  Share\n-           2   100%\nQuestions: 2\n"
        );
    }

    #[test]
    fn shares_are_floored_and_sorted() {
        let appliance = appliance(|_| {}, &["192.0.2.30", "192.0.2.20", "192.0.2.10"]);
        assert_eq!(
            run(&appliance, "wWw.example.com", "A", 7),
            "Answer      Count  Share\n\
             192.0.2.30      3    42%\n\
             192.0.2.20      2    28%\n\
             192.0.2.10      2    28%\n\
             Questions: 7\n"
        );
    }

    #[test]
    fn names_and_types_are_checked() {
        for name in ["", "..", "a..b", ".a", &"a".repeat(64), &["a"; 128].join(".")] {
            let error = ClientQuery::new(name, None).unwrap_err();
            assert_eq!(error.to_string(), format!("{name} is not a domain name"));
        }
        ClientQuery::new(&["a"; 127].join("."), None).unwrap().message();
        for word in ["", "B", "TYPE", "TYPE65536", "TYPE-1", "TYPE 1"] {
            let error = ClientQuery::new("www.example.com", Some(word)).unwrap_err();
            assert_eq!(error.to_string(), format!("{word} is not a record type"));
        }
        for (word, number) in
            [("a", 1), ("Any", 255), ("type65", 65), ("HTTPS", 65), ("ixfr", 251), ("TYPE0", 0)]
        {
            let query = ClientQuery::new("www.example.com", Some(word)).unwrap();
            assert_eq!(u16::from(query.record_type), number);
        }
    }
}

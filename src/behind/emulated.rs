//! The emulated DNS server behind: what was typed of it, what master files say, and what the
//! configuration makes of it if nothing was said (emulated-world 2).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use hickory_proto::serialize::binary::BinDecodable as _;

use crate::behind::master_file::{Found, MasterFile};
use crate::behind::reply::Reply;
use crate::dns::name::{self, Key};
use crate::model::snapshot::{NameEntry, Snapshot, Source};

/// TTL of records of which nobody said one, seconds (ours).
pub const DEFAULT_TTL: u32 = 3600;

/// How many aliases are followed; a longer chain, or a loop, ends there.
const MOST_ALIASES: usize = 8;

/// The data of the emulated server.
#[derive(Debug, Default)]
pub struct EmulatedServer {
    data: Mutex<Data>,
}

#[derive(Debug, Default)]
struct Data {
    /// What was typed, by name.
    typed: HashMap<Key, Typed>,
    /// How many names of `typed` lie below a name.
    below: HashMap<Key, usize>,
    /// Master files by their paths, the newest last.
    files: Vec<(String, Arc<MasterFile>)>,
    /// Counts the changes.
    generation: u64,
}

/// What was typed of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Its addresses.
    Addresses(Vec<IpAddr>, u32),
    /// The name that it stands for.
    Alias(Name, u32),
    /// That it does not exist.
    Nothing,
}

impl EmulatedServer {
    /// Says what a name is; `None` takes back what was said. The name is one of the grammar.
    pub fn set(&self, name: &str, typed: Option<Typed>) {
        let Some(key) = name::key_of_text(name) else { return };
        let mut data = self.lock();
        let is_new = !data.typed.contains_key(&key);
        match (typed, is_new) {
            (None, true) => return,
            (None, false) => {
                data.typed.remove(&key);
                data.count_above(&key, false);
            }
            (Some(typed), is_new) => {
                data.typed.insert(key.clone(), typed);
                if is_new {
                    data.count_above(&key, true);
                }
            }
        }
        data.generation += 1;
    }

    /// Takes in a master file, in place of what the same path held before.
    pub fn add_file(&self, path: &str, file: Arc<MasterFile>) {
        let mut data = self.lock();
        data.files.retain(|(known, _)| known != path);
        data.files.push((path.to_owned(), file));
        data.generation += 1;
    }

    /// Forgets a master file.
    pub fn remove_file(&self, path: &str) {
        let mut data = self.lock();
        data.files.retain(|(known, _)| known != path);
        data.generation += 1;
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut data = self.lock();
        let generation = data.generation + 1;
        *data = Data { generation, ..Data::default() };
    }

    /// A number that changes with the data.
    pub fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// What the server says, as far as somebody said it: `None` for a name of which nothing was
    /// said.
    #[must_use]
    pub fn answer(&self, name: &[u8], record_type: RecordType) -> Option<Reply> {
        let data = self.lock();
        data.says(&name::key(name)).then(|| data.answer(name, record_type, None))
    }

    /// What the server says, with the configured hosts where nothing was said.
    #[must_use]
    pub fn answer_with(&self, snapshot: &Snapshot, name: &[u8], record_type: RecordType) -> Reply {
        self.lock().answer(name, record_type, Some(snapshot))
    }

    fn lock(&self) -> MutexGuard<'_, Data> {
        // Whoever holds the lock changes one entry in one step.
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Data {
    fn count_above(&mut self, key: &Key, up: bool) {
        let mut rest = &key[..];
        while let Some(length) = rest.first().filter(|length| **length > 0) {
            rest = &rest[usize::from(*length) + 1..];
            let count = self.below.entry(Key::from_slice(rest)).or_insert(0);
            *count = if up { *count + 1 } else { count.saturating_sub(1) };
            if *count == 0 {
                self.below.remove(rest);
            }
        }
    }

    /// Whether something was said of a name, if only that it does not exist.
    fn says(&self, key: &Key) -> bool {
        self.typed.contains_key(key) || self.file_of(key).is_some()
    }

    /// The file that covers a name: the one whose zone is the innermost, of equals the newest.
    fn file_of(&self, key: &[u8]) -> Option<&MasterFile> {
        let covering = self.files.iter().map(|(_, file)| &**file).filter(|file| file.covers(key));
        covering.max_by_key(|file| file.apex_of(key).map_or(key.len(), <[u8]>::len))
    }

    fn answer(&self, name: &[u8], wanted: RecordType, defaults: Option<&Snapshot>) -> Reply {
        let mut reply = Reply::of_code(ResponseCode::NoError, true);
        let Ok(mut owner) = Name::from_bytes(name) else {
            return Reply::of_code(ResponseCode::FormErr, false);
        };
        for _ in 0..=MOST_ALIASES {
            match self.step(&owner, wanted, defaults, &mut reply) {
                Some(target) => owner = target,
                None => break,
            }
        }
        reply
    }

    /// Adds what stands at a name; gives the name that it is an alias of, if that is to be followed.
    fn step(
        &self,
        owner: &Name,
        wanted: RecordType,
        defaults: Option<&Snapshot>,
        reply: &mut Reply,
    ) -> Option<Name> {
        let key = name::key_of_name(owner);
        let records = match self.typed.get(&key) {
            Some(Typed::Nothing) => {
                reply.code = ResponseCode::NXDomain;
                return None;
            }
            Some(Typed::Addresses(addresses, ttl)) => {
                addresses.iter().map(|address| address_record(owner, *address, *ttl)).collect()
            }
            Some(Typed::Alias(target, ttl)) => {
                vec![Record::from_rdata(owner.clone(), *ttl, RData::CNAME(CNAME(target.clone())))]
            }
            None => {
                if let Some(file) = self.file_of(&key) {
                    return step_in_file(file, &key, owner, wanted, reply);
                }
                let Some(records) = self.default_records(&key, owner, defaults) else {
                    reply.code = ResponseCode::NXDomain;
                    return None;
                };
                records
            }
        };
        push_wanted(records.iter(), owner, wanted, reply)
    }

    /// The records of a name of which nothing was said; `None`: there is no such name.
    fn default_records(
        &self,
        key: &Key,
        owner: &Name,
        defaults: Option<&Snapshot>,
    ) -> Option<Vec<Record>> {
        let host = defaults.and_then(|snapshot| match snapshot.lookup(key)? {
            NameEntry::Host(host) => Some(&snapshot.hosts[host.index()]),
            NameEntry::EmptyNonTerminal => None,
        });
        let listed = host.map_or(&[][..], |host| &host.addresses);
        let records: Vec<Record> = listed
            .iter()
            .filter(|address| address.source != Source::Dns)
            .map(|address| address_record(owner, address.ip, DEFAULT_TTL))
            .collect();
        let is_above = || {
            let zone = |snapshot: &Snapshot| {
                let mut zones = snapshot.zones.iter().filter(|zone| !zone.hosts.is_empty());
                zones.any(|zone| name::key_of_text(&zone.name).as_ref() == Some(key))
            };
            let entry = defaults.and_then(|snapshot| snapshot.lookup(key));
            self.below.contains_key(key)
                || entry == Some(NameEntry::EmptyNonTerminal)
                || defaults.is_some_and(zone)
        };
        (!records.is_empty() || is_above()).then_some(records)
    }
}

fn step_in_file(
    file: &MasterFile,
    key: &Key,
    owner: &Name,
    wanted: RecordType,
    reply: &mut Reply,
) -> Option<Name> {
    let records = match file.find(key) {
        Found::Cut(records) => {
            // The server does not speak for the names below (RFC 1034 section 4.3.2).
            reply.authoritative &= !reply.answers.is_empty();
            for record in records.iter().filter(|one| one.record_type() == RecordType::NS) {
                reply.authorities.push(record.clone());
                if let RData::NS(server) = &record.data {
                    reply.additionals.extend(file.addresses(&server.0).cloned());
                }
            }
            return None;
        }
        Found::Records(records) | Found::Wildcard(records) => records,
        Found::Nothing => &[],
        Found::NoName => {
            reply.code = ResponseCode::NXDomain;
            reply.authorities.extend(negative_soa(file, key));
            return None;
        }
    };
    let before = reply.answers.len();
    let next = push_wanted(records.iter(), owner, wanted, reply);
    if reply.answers.len() == before {
        reply.authorities.extend(negative_soa(file, key));
    }
    next
}

/// The SOA record of a negative answer (RFC 2308 section 3): it lives as long as the answer may.
fn negative_soa(file: &MasterFile, key: &Key) -> Option<Record> {
    let mut record = file.soa(key)?.clone();
    if let RData::SOA(soa) = &record.data {
        record.ttl = record.ttl.min(soa.minimum);
    }
    Some(record)
}

/// Adds the records of the type that was asked for, under the name as it was asked for; gives the
/// target of an alias that stands in their place.
fn push_wanted<'a>(
    records: impl Iterator<Item = &'a Record> + Clone,
    owner: &Name,
    wanted: RecordType,
    reply: &mut Reply,
) -> Option<Name> {
    let fits = |record: &&Record| wanted == RecordType::ANY || record.record_type() == wanted;
    let alias = records.clone().find(|record| record.record_type() == RecordType::CNAME);
    let is_followed = wanted != RecordType::ANY && wanted != RecordType::CNAME;
    let under_owner = |record: &Record| {
        let mut record = record.clone();
        record.name = owner.clone();
        record
    };
    match alias {
        Some(alias) if is_followed => {
            reply.answers.push(under_owner(alias));
            match &alias.data {
                RData::CNAME(target) => Some(target.0.clone()),
                _ => None,
            }
        }
        _ => {
            reply.answers.extend(records.filter(fits).map(under_owner));
            None
        }
    }
}

fn address_record(owner: &Name, address: IpAddr, ttl: u32) -> Record {
    let data = match address {
        IpAddr::V4(address) => RData::A(A(address)),
        IpAddr::V6(address) => RData::AAAA(AAAA(address)),
    };
    Record::from_rdata(owner.clone(), ttl, data)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::gslb::testing::World;

    fn ask(server: &EmulatedServer, snapshot: &Snapshot, name: &str, wanted: RecordType) -> String {
        let wire = name::key_of_text(name).unwrap();
        let reply = server.answer_with(snapshot, &wire, wanted);
        let mut text = format!("{} {}", reply.code, reply.authoritative);
        for record in reply.answers.iter().chain(&reply.authorities) {
            let Record { name, ttl, data, .. } = record;
            write!(text, "\n{name} {ttl} {} {data}", record.record_type()).unwrap();
        }
        text
    }

    fn addresses(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn without_a_word_the_configured_hosts_are_known() {
        let world = World::new().host("www.example.com", &["192.0.2.1", "2001:db8::1"]);
        let server = EmulatedServer::default();
        let ask = |name, wanted| ask(&server, &world.snapshot, name, wanted);
        assert_eq!(
            ask("www.example.com", RecordType::A),
            "No Error true\nwww.example.com. 3600 A 192.0.2.1"
        );
        assert_eq!(
            ask("www.example.com", RecordType::AAAA),
            "No Error true\nwww.example.com. 3600 AAAA 2001:db8::1"
        );
        assert_eq!(ask("www.example.com", RecordType::MX), "No Error true");
        assert_eq!(ask("other.example.com", RecordType::A), "Non-Existent Domain true");
        assert_eq!(ask("example.com", RecordType::A), "No Error true");
        assert_eq!(
            server.answer(&name::key_of_text("www.example.com").unwrap(), RecordType::A),
            None
        );
    }

    #[test]
    fn what_was_typed_counts_and_can_be_taken_back() {
        let world = World::new().host("www.example.com", &["192.0.2.1"]);
        let server = EmulatedServer::default();
        let typed = Typed::Addresses(addresses(&["192.0.2.7", "192.0.2.8"]), 60);
        server.set("Web.Example.Net", Some(typed));
        let target = Name::from_ascii("web.example.net.").unwrap();
        server.set("www.example.com", Some(Typed::Alias(target, 30)));
        server.set("gone.example.com", Some(Typed::Nothing));
        let ask = |name, wanted| ask(&server, &world.snapshot, name, wanted);
        assert_eq!(
            ask("www.example.com", RecordType::A),
            "No Error true\nwww.example.com. 30 CNAME web.example.net.\n\
             web.example.net. 60 A 192.0.2.7\nweb.example.net. 60 A 192.0.2.8"
        );
        assert_eq!(
            ask("www.example.com", RecordType::CNAME),
            "No Error true\nwww.example.com. 30 CNAME web.example.net."
        );
        assert_eq!(ask("gone.example.com", RecordType::A), "Non-Existent Domain true");
        assert_eq!(ask("example.net", RecordType::A), "No Error true", "something lies below");
        let generation = server.generation();
        server.set("www.example.com", None);
        assert!(server.generation() > generation);
        assert_eq!(
            ask("www.example.com", RecordType::A),
            "No Error true\nwww.example.com. 3600 A 192.0.2.1"
        );
        server.set("web.example.net", None);
        assert_eq!(ask("example.net", RecordType::A), "Non-Existent Domain true");
    }

    #[test]
    fn a_loop_of_aliases_ends() {
        let server = EmulatedServer::default();
        for (name, target) in
            [("a.example.com", "b.example.com."), ("b.example.com", "a.example.com.")]
        {
            let target = Name::from_ascii(target).unwrap();
            server.set(name, Some(Typed::Alias(target, 1)));
        }
        let wire = name::key_of_text("a.example.com").unwrap();
        let reply = server.answer(&wire, RecordType::A).unwrap();
        assert_eq!(reply.answers.len(), MOST_ALIASES + 1);
    }

    #[test]
    fn a_master_file_speaks_for_its_zone() {
        let text = "$ORIGIN example.com.\n$TTL 300\n@ SOA ns hostmaster 1 2 3 4 60\n@ NS ns\n\
                    ns A 192.0.2.53\nalias CNAME www\nwww A 192.0.2.9\nmail MX 10 www\n\
                    sub NS ns.sub\nns.sub A 192.0.2.54\n";
        let file = MasterFile::from_bytes("db", text.as_bytes()).unwrap();
        let world = World::new().host("shop.example.com", &["192.0.2.1"]);
        let server = EmulatedServer::default();
        server.add_file("db", Arc::new(file));
        let ask = |name, wanted| ask(&server, &world.snapshot, name, wanted);
        assert_eq!(
            ask("alias.example.com", RecordType::A),
            "No Error true\nalias.example.com. 300 CNAME www.example.com.\n\
             www.example.com. 300 A 192.0.2.9"
        );
        let soa = "example.com. 60 SOA ns.example.com. hostmaster.example.com. 1 2 3 4 60";
        assert_eq!(
            ask("shop.example.com", RecordType::A),
            format!("Non-Existent Domain true\n{soa}")
        );
        assert_eq!(ask("www.example.com", RecordType::MX), format!("No Error true\n{soa}"));
        assert_eq!(
            ask("x.sub.example.com", RecordType::A),
            "No Error false\nsub.example.com. 300 NS ns.sub.example.com."
        );
        server.remove_file("db");
        assert!(ask("shop.example.com", RecordType::A).starts_with("No Error"));
    }
}

//! Master files (RFC 1035 section 5): text to the records of zones, and what they say of a name.
//!
//! `$ORIGIN` and `$TTL` are followed; `$INCLUDE` is refused, so that a line names every file that is
//! read. The records are read by the `domain` crate, which tells the place of a fault, and handed
//! on in wire form to `hickory-proto`, which the rest of the program speaks.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use domain::base::iana::Class;
use domain::zonefile::inplace::{Entry, Zonefile};
use hashbrown::{HashMap, HashSet};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use hickory_proto::serialize::binary::BinDecodable as _;
use thiserror::Error;

use crate::dns::name::{self, Key};

/// The largest file that is read.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The records of a file.
#[derive(Debug, Default)]
pub struct MasterFile {
    /// By owner, in the order of the file.
    records: HashMap<Key, Vec<Record>>,
    /// The owners and every name between one of them and the root that is at or below an apex; of
    /// a file without an apex only the owners.
    names: HashSet<Key>,
    /// Owners of SOA records.
    apexes: HashSet<Key>,
}

/// Why a file is refused.
#[derive(Debug, Error)]
pub enum MasterFileError {
    /// It cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{0} is no regular file")]
    NoFile(String),
    /// It is larger than [`MOST_BYTES`].
    #[error("{0} is larger than {MOST_BYTES} bytes")]
    TooLarge(String),
    /// A line of it is wrong.
    #[error("{path}:{line}: {fault}")]
    Fault {
        /// The file.
        path: String,
        /// The line, from 1; of an entry over several lines one of them.
        line: usize,
        /// What is wrong there.
        fault: String,
    },
    /// It holds no record.
    #[error("{0} holds no records")]
    Empty(String),
}

/// What a file says of a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// The records at the name.
    Records(&'a [Record]),
    /// The records of the wildcard that covers the name (RFC 4592 section 3.3.1).
    Wildcard(&'a [Record]),
    /// The name lies at or below a zone cut: the NS records there (RFC 1034 section 4.3.2).
    Cut(&'a [Record]),
    /// Only names below it hold something.
    Nothing,
    /// The zone has no such name.
    NoName,
}

impl MasterFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is too large, or one of its lines is wrong.
    pub fn read(path: &str) -> Result<Self, MasterFileError> {
        let fail = |source| MasterFileError::Unreadable { path: path.to_owned(), source };
        // A pipe or a device could keep a reader waiting for ever.
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(MasterFileError::NoFile(path.to_owned()));
        }
        let file = File::open(Path::new(path)).map_err(fail)?;
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(fail)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(MasterFileError::TooLarge(path.to_owned()));
        }
        Self::from_bytes(path, &text)
    }

    /// Reads the text of a file; `path` is for what is said of faults.
    ///
    /// # Errors
    ///
    /// As [`MasterFile::read`].
    pub fn from_bytes(path: &str, text: &[u8]) -> Result<Self, MasterFileError> {
        let fail = |line, fault| MasterFileError::Fault { path: path.to_owned(), line, fault };
        let mut source = Zonefile::from(text);
        source.set_default_class(Class::IN);
        let mut file = MasterFile::default();
        let mut wire = Vec::new();
        loop {
            let entry = source.next_entry().map_err(|error| {
                let (line, fault) = line_and_fault(&error.to_string());
                fail(line, fault)
            })?;
            let end = source.current_offset();
            let fail_here = |fault: &dyn Display| fail(line_before(text, end), fault.to_string());
            let record = match entry {
                None => break,
                Some(Entry::Record(record)) => record,
                Some(Entry::Include { .. }) => {
                    return Err(fail_here(&"$INCLUDE is not followed"));
                }
            };
            wire.clear();
            record.compose(&mut wire).map_err(|_| fail_here(&"the record is too long"))?;
            let record = Record::from_bytes(&wire).map_err(|error| fail_here(&error))?;
            file.add(record);
        }
        if file.records.is_empty() {
            return Err(MasterFileError::Empty(path.to_owned()));
        }
        file.enter_names();
        Ok(file)
    }

    fn add(&mut self, record: Record) {
        let owner = name::key_of_name(&record.name);
        if record.record_type() == RecordType::SOA {
            self.apexes.insert(owner.clone());
        }
        let records = self.records.entry(owner).or_default();
        if !records.contains(&record) {
            records.push(record);
        }
    }

    fn enter_names(&mut self) {
        for owner in self.records.keys() {
            let apex = self.apex_of(owner).map_or(owner.len(), <[u8]>::len);
            let mut rest = &owner[..];
            self.names.insert(Key::from_slice(rest));
            while rest.len() > apex {
                rest = &rest[usize::from(rest[0]) + 1..];
                self.names.insert(Key::from_slice(rest));
            }
        }
    }

    /// The innermost zone of the file that a name lies in.
    #[must_use]
    pub fn apex_of<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        ancestors(key).find(|name| self.apexes.contains(*name))
    }

    /// Whether the file says whether there is such a name.
    #[must_use]
    pub fn covers(&self, key: &[u8]) -> bool {
        self.names.contains(key) || self.apex_of(key).is_some()
    }

    /// What stands at a name that the file covers.
    #[must_use]
    pub fn find(&self, key: &[u8]) -> Found<'_> {
        if let Some(apex) = self.apex_of(key)
            && let Some(cut) = self.cut_above(key, apex)
        {
            return Found::Cut(cut);
        }
        if let Some(records) = self.records.get(key) {
            return Found::Records(records);
        }
        if self.names.contains(key) {
            return Found::Nothing;
        }
        // The closest name above that exists is the only one whose wildcard counts.
        let encloser = ancestors(key).find(|name| self.names.contains(*name));
        let wildcard = encloser.and_then(|encloser| {
            let mut wildcard = Key::from_slice(b"\x01*");
            wildcard.extend_from_slice(encloser);
            self.records.get(&wildcard)
        });
        wildcard.map_or(Found::NoName, |records| Found::Wildcard(records))
    }

    /// The NS records of the outermost zone cut at or above a name and below its apex.
    fn cut_above(&self, key: &[u8], apex: &[u8]) -> Option<&[Record]> {
        let between: Vec<&[u8]> =
            ancestors(key).take_while(|name| name.len() > apex.len()).collect();
        between.into_iter().rev().find_map(|name| {
            let records = self.records.get(name)?;
            records.iter().any(|one| one.record_type() == RecordType::NS).then_some(&records[..])
        })
    }

    /// The address records of a name, for the additional section.
    pub fn addresses(&self, name: &Name) -> impl Iterator<Item = &Record> {
        let records = self.records.get(&name::key_of_name(name)).map_or(&[][..], |records| records);
        records.iter().filter(|record| matches!(record.data, RData::A(_) | RData::AAAA(_)))
    }

    /// The SOA record of the zone that a name lies in.
    #[must_use]
    pub fn soa(&self, key: &[u8]) -> Option<&Record> {
        let records = self.records.get(self.apex_of(key)?)?;
        records.iter().find(|record| record.record_type() == RecordType::SOA)
    }
}

/// A name and every name above it, the root last.
fn ancestors(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors((!key.is_empty()).then_some(key), |name| {
        let length = usize::from(*name.first()?);
        if length == 0 { None } else { name.get(length + 1..) }
    })
}

/// The line and the fault of an error that reads `line:column: fault`. Its place is the end of what
/// could not be read, which at the end of a line is the beginning of the next one.
fn line_and_fault(error: &str) -> (usize, String) {
    let mut parts = error.splitn(3, ':');
    let line = parts.next().and_then(|line| line.parse::<usize>().ok()).unwrap_or(1);
    let is_past = parts.next() == Some("1") && line > 1;
    let fault = parts.next().unwrap_or(error).trim_start().to_owned();
    (if is_past { line - 1 } else { line }, fault)
}

/// Number of the line whose end an offset stands behind.
fn line_before(text: &[u8], offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text).trim_ascii_end();
    before.split(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: &str = "\
$ORIGIN example.com.
$TTL 3600
@   IN SOA ns1 hostmaster ( 2012013100 ; serial
        7200 3600 1209600 300 )
    NS  ns1
ns1 A   192.0.2.53
; a comment
www 60 IN A 192.0.2.10
    60 A 192.0.2.20
alias CNAME www
a.b.c   A 192.0.2.30
*.wild  A 192.0.2.40
sub     NS ns.sub
ns.sub  A 192.0.2.54
txt TXT \"one\" \"two; three\"
odd TYPE65280 \\# 2 abcd
";

    fn zone() -> MasterFile {
        MasterFile::from_bytes("db", ZONE.as_bytes()).unwrap()
    }

    fn key(text: &str) -> Key {
        name::key_of_text(text).unwrap()
    }

    fn texts(records: &[Record]) -> Vec<String> {
        records.iter().map(|one| format!("{} {} {}", one.name, one.ttl, one.data)).collect()
    }

    #[test]
    fn records_are_found_by_name() {
        let zone = zone();
        let Found::Records(records) = zone.find(&key("WWW.example.com")) else { panic!() };
        assert_eq!(
            texts(records),
            ["www.example.com. 60 192.0.2.10", "www.example.com. 60 192.0.2.20"]
        );
        assert_eq!(zone.find(&key("b.c.example.com")), Found::Nothing);
        assert_eq!(zone.find(&key("other.example.com")), Found::NoName);
        assert_eq!(zone.find(&key("below.www.example.com")), Found::NoName);
        let soa = zone.soa(&key("other.example.com")).unwrap();
        assert_eq!(soa.name.to_string(), "example.com.");
        assert!(zone.covers(&key("other.example.com")) && !zone.covers(&key("example.net")));
    }

    #[test]
    fn wildcards_and_cuts_are_those_of_the_protocol() {
        let zone = zone();
        assert!(matches!(zone.find(&key("x.y.wild.example.com")), Found::Wildcard(_)));
        assert_eq!(zone.find(&key("wild.example.com")), Found::Nothing);
        for name in ["sub.example.com", "x.y.sub.example.com", "ns.sub.example.com"] {
            assert!(matches!(zone.find(&key(name)), Found::Cut(_)), "{name}");
        }
        let Found::Records(records) = zone.find(&key("example.com")) else { panic!() };
        assert_eq!(records.len(), 2, "the NS records of the apex are no cut");
    }

    #[test]
    fn a_file_without_a_zone_covers_its_own_names() {
        let file = MasterFile::from_bytes("db", b"www.example.com. 60 A 192.0.2.1\n").unwrap();
        assert!(file.covers(&key("www.example.com")));
        assert!(!file.covers(&key("example.com")) && !file.covers(&key("x.www.example.com")));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, said) in [
            ("$ORIGIN example.com.\n\nwww A 192.0.2.256\n", "db:3: expected IPv4 address"),
            ("www A 192.0.2.1\n", "db:1:"),
            ("$ORIGIN example.com.\n; x\n$INCLUDE other.db\n", "db:3: $INCLUDE is not followed"),
            ("$ORIGIN example.com.\nwww NOTYPE 1\n", "db:2:"),
            ("www.example.com. CH A 192.0.2.1\n", "db:1: different class: CH != IN"),
            ("", "db holds no records"),
        ] {
            let error = MasterFile::from_bytes("db", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        let error = MasterFile::read("/nonexistent/db").unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/db: "), "{error}");
    }
}

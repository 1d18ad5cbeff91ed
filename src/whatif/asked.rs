//! Questions as a simulation hands them around, and the names that they are for.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use hickory_proto::rr::RecordType;

use crate::dns::name::{self, Key};
use crate::dns::question::Question;
use crate::model::snapshot::{NameEntry, Snapshot};

/// A question of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When: milliseconds since the first question.
    pub at: u64,
    /// Who wants to know.
    pub client: IpAddr,
    /// Who asks the appliance: the client, or its resolver.
    pub asker: IpAddr,
    /// The number of the resolver, if there is one.
    pub resolver: Option<u32>,
    /// The name and the type, as [`Names`] numbers them; `None`: a name that is no domain of ours.
    pub name: Option<NameId>,
}

/// A name and a type in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The position in the list of names.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A domain in [`Domains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DomainId(u32);

impl DomainId {
    /// The position in the list of domains.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name that is asked for, with a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Name, type and class as they stand in a message.
    wire: Box<[u8]>,
    /// The domain that it is, or in which it lies.
    pub domain: DomainId,
}

impl Name {
    /// The question for it.
    ///
    /// # Panics
    ///
    /// Never: only what can be read is kept.
    pub fn question(&self) -> Question<'_> {
        Question::from_wire(&self.wire).expect("only a question is kept")
    }
}

/// A domain of any of the configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// As it was typed.
    pub name: String,
    /// Whether it is an SNA gateway domain, below which all names belong to it.
    pub is_gateway: bool,
}

/// The domains of all configurations, those of the first one first.
#[derive(Debug, Default)]
pub struct Domains {
    list: Vec<Domain>,
    by_key: HashMap<Key, DomainId>,
}

impl Domains {
    /// Adds the domains of a configuration that are not there yet, in configured order.
    pub fn add(&mut self, snapshot: &Snapshot) {
        let hosts = snapshot.hosts.iter().map(|host| (&*host.domain_name, false));
        let gateways = snapshot.sna_domains.iter().map(|domain| (&*domain.name, true));
        for (text, is_gateway) in hosts.chain(gateways) {
            let Some(key) = name::key_of_text(text) else { continue };
            // Where two zones could hold the same name, the lookup says whose it is.
            let is_found = is_gateway
                || matches!(snapshot.lookup(&key), Some(NameEntry::Host(host))
                    if snapshot.hosts[host.index()].domain_name.as_ref() == text);
            if !is_found || self.by_key.contains_key(&key) {
                continue;
            }
            let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
            self.by_key.insert(key, DomainId(number));
            self.list.push(Domain { name: text.to_owned(), is_gateway });
        }
    }

    /// All of them.
    pub fn list(&self) -> &[Domain] {
        &self.list
    }

    /// The numbers of all of them.
    pub fn ids(&self) -> impl Iterator<Item = DomainId> + use<> {
        (0..u32::try_from(self.list.len()).unwrap_or(u32::MAX)).map(DomainId)
    }

    /// The domain of that number.
    pub fn get(&self, id: DomainId) -> &Domain {
        &self.list[id.index()]
    }

    /// The domain that a name is, or in which it lies.
    fn find(&self, key: &[u8]) -> Option<DomainId> {
        if let Some(id) = self.by_key.get(key) {
            return Some(*id);
        }
        let mut rest = key;
        loop {
            let length = usize::from(*rest.first()?);
            rest = rest.get(length + 1..).filter(|_| length > 0)?;
            if let Some(id) = self.by_key.get(rest).filter(|id| self.get(**id).is_gateway) {
                return Some(*id);
            }
        }
    }
}

/// Names and types with their numbers.
#[derive(Debug, Default)]
pub struct Names {
    list: Vec<Arc<Name>>,
    by_key: HashMap<(Key, u16), NameId>,
}

/// Names that are told apart at most. Below an SNA gateway domain a log can hold any number.
const MOST_NAMES: usize = 1 << 17;

impl Names {
    /// The number of a name and a type; `None`: no domain of ours, or too many are known already.
    ///
    /// `wire` is the name in wire form, in any case.
    pub fn number(&mut self, domains: &Domains, wire: &[u8], record_type: u16) -> Option<NameId> {
        let key = name::key(wire);
        let both = (key, record_type);
        if let Some(id) = self.by_key.get(&both) {
            return Some(*id);
        }
        let domain = domains.find(&both.0)?;
        if self.list.len() >= MOST_NAMES {
            return None;
        }
        let mut question = both.0.to_vec();
        question.extend(record_type.to_be_bytes());
        question.extend(CLASS_IN.to_be_bytes());
        Question::from_wire(&question)?;
        let id = NameId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(Arc::new(Name { wire: question.into(), domain }));
        self.by_key.insert(both, id);
        Some(id)
    }

    /// The number of an address question for a domain.
    pub fn of_domain(
        &mut self,
        domains: &Domains,
        domain: &str,
        record_type: RecordType,
    ) -> Option<NameId> {
        let key = name::key_of_text(domain)?;
        self.number(domains, &key, record_type.into())
    }

    /// The names from a number on.
    pub fn since(&self, first: usize) -> &[Arc<Name>] {
        self.list.get(first..).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// The class of the Internet (RFC 1035 section 3.2.4).
const CLASS_IN: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::World;

    #[test]
    fn names_are_numbered_once_whatever_their_case() {
        let world = World::new().host("www.example.com", &["192.0.2.1"]);
        let mut domains = Domains::default();
        domains.add(&world.snapshot);
        domains.add(&world.snapshot);
        assert_eq!(domains.list().len(), 1);
        let mut names = Names::default();
        let first = names.number(&domains, b"\x03wWw\x07example\x03com\x00", 1);
        assert!(first.is_some());
        assert_eq!(names.of_domain(&domains, "www.example.com.", RecordType::A), first);
        assert_ne!(names.of_domain(&domains, "www.example.com", RecordType::AAAA), first);
        assert_eq!(names.of_domain(&domains, "example.com", RecordType::A), None);
        assert_eq!(names.of_domain(&domains, "a.www.example.com", RecordType::A), None);
        assert_eq!(names.len(), 2);
        assert_eq!(names.since(1).len(), 1);
        assert_eq!(names.since(0)[0].question().record_type, RecordType::A);
    }
}

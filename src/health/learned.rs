//! Addresses that were learned from the DNS server behind, by domain name (guide p. 32).
//!
//! Nobody is asked here: who asks, hands over what was said. A list keeps its order as long as it
//! holds the same addresses, for a server may turn its records around at every question.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::clock::Moment;
use crate::revision::Revision;

/// The most addresses that are learned for one name; the rest of a longer list is left alone.
pub const MOST_ADDRESSES: usize = 256;

/// Seconds between two changes of a list by replies that pass through. A server that gives another
/// part of its list each time would else change the configuration at every question.
const SECONDS_BETWEEN: u64 = 1;

/// What was learned of all names.
#[derive(Debug, Default)]
pub struct LearnedAddresses {
    names: Mutex<Names>,
}

#[derive(Debug, Default)]
struct Names {
    /// By name in lower case.
    known: HashMap<Box<str>, Learned>,
    /// Changes with the addresses and their TTLs.
    revision: Revision,
}

/// What was learned of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Its addresses, in the order of the reply that named them first.
    pub addresses: Vec<IpAddr>,
    /// The least TTL of their records, seconds.
    pub ttl: u32,
    /// When a reply that passed through has changed the list.
    passed: Option<Moment>,
}

impl LearnedAddresses {
    /// What was learned of a name; `None`: nobody has asked for it yet.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<Learned> {
        self.lock().known.get(&*name.to_ascii_lowercase()).cloned()
    }

    /// Whether a name has been asked for.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.lock().known.contains_key(&*name.to_ascii_lowercase())
    }

    /// Whether an address was learned for a name.
    #[must_use]
    pub fn has(&self, name: &str, address: IpAddr) -> bool {
        let names = self.lock();
        let learned = names.known.get(&*name.to_ascii_lowercase());
        learned.is_some_and(|learned| learned.addresses.contains(&address))
    }

    /// A number that changes with the addresses and their TTLs.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.lock().revision
    }

    /// Takes in what the server said when it was asked; whether anything is other than before.
    pub fn learn(&self, name: &str, addresses: &[IpAddr], ttl: u32) -> bool {
        self.lock().change(name, |learned| learned.learn(addresses, ttl))
    }

    /// Takes in what a reply to a client said; whether anything is other than before.
    ///
    /// The TTL alone changes nothing: that of a reply may have run down on its way.
    pub fn learn_in_passing(
        &self,
        name: &str,
        addresses: &[IpAddr],
        ttl: u32,
        now: Moment,
    ) -> bool {
        self.lock().change(name, |learned| {
            let next = learned.passed.map(|passed| passed.plus_secs(SECONDS_BETWEEN));
            if next.is_some_and(|next| now < next) || same_addresses(&learned.addresses, addresses)
            {
                return false;
            }
            learned.passed = Some(now);
            learned.learn(addresses, ttl)
        })
    }

    /// Forgets the names that nobody wants to know any more; whether an address goes with them.
    pub fn retain(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        let mut has_changed = false;
        let mut names = self.lock();
        names.known.retain(|name, learned| {
            let stays = is_wanted(name);
            has_changed |= !stays && !learned.addresses.is_empty();
            stays
        });
        if has_changed {
            names.revision = Revision::next();
        }
        has_changed
    }

    /// Forgets everything; whether there was anything.
    pub fn clear(&self) -> bool {
        let mut names = self.lock();
        let was_there = !names.known.is_empty();
        *names = Names { known: HashMap::new(), revision: Revision::next() };
        was_there
    }

    fn lock(&self) -> MutexGuard<'_, Names> {
        // Whoever holds the lock changes one entry in one step.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    fn change(&mut self, name: &str, change: impl FnOnce(&mut Learned) -> bool) -> bool {
        let learned = self.known.entry(name.to_ascii_lowercase().into()).or_default();
        let has_changed = change(learned);
        if has_changed {
            self.revision = Revision::next();
        }
        has_changed
    }
}

impl Learned {
    fn learn(&mut self, addresses: &[IpAddr], ttl: u32) -> bool {
        let has_changed = !same_addresses(&self.addresses, addresses);
        if has_changed {
            self.addresses = addresses.iter().copied().take(MOST_ADDRESSES).collect();
        }
        let old = std::mem::replace(&mut self.ttl, ttl);
        has_changed || old != ttl && !addresses.is_empty()
    }
}

/// Whether a list holds the same addresses as another one, in whatever order.
fn same_addresses(known: &[IpAddr], found: &[IpAddr]) -> bool {
    let found = &found[..found.len().min(MOST_ADDRESSES)];
    known.len() == found.len() && found.iter().all(|address| known.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(last: &[u8]) -> Vec<IpAddr> {
        last.iter().map(|last| IpAddr::from([192, 0, 2, *last])).collect()
    }

    #[test]
    fn a_list_keeps_its_order_while_it_holds_the_same() {
        let learned = LearnedAddresses::default();
        assert_eq!(learned.of("www.a"), None);
        assert!(learned.learn("www.A", &list(&[1, 2, 3]), 60));
        assert!(!learned.learn("www.a", &list(&[3, 1, 2]), 60));
        assert_eq!(learned.of("WWW.a").unwrap().addresses, list(&[1, 2, 3]));
        assert!(learned.learn("www.a", &list(&[3, 1, 2]), 61), "another TTL");
        assert!(learned.learn("www.a", &list(&[3, 1]), 61));
        assert!(learned.has("www.a", list(&[3])[0]) && !learned.has("www.a", list(&[2])[0]));
        assert!(learned.learn("www.a", &[], 0));
        assert!(learned.knows("www.a"), "asked for, and there is nothing");
        assert!(learned.clear() && !learned.clear());
    }

    #[test]
    fn replies_that_pass_change_a_list_once_a_second() {
        let learned = LearnedAddresses::default();
        let at = Moment::from_millis;
        learned.learn("www.a", &list(&[1]), 60);
        assert!(!learned.learn_in_passing("www.a", &list(&[1]), 59, at(0)), "it has run down");
        assert_eq!(learned.of("www.a").unwrap().ttl, 60);
        assert!(learned.learn_in_passing("www.a", &list(&[2]), 60, at(0)));
        assert!(!learned.learn_in_passing("www.a", &list(&[3]), 60, at(999)));
        assert!(learned.learn_in_passing("www.a", &list(&[3]), 60, at(1000)));
    }

    #[test]
    fn a_long_list_is_cut() {
        let learned = LearnedAddresses::default();
        let many: Vec<IpAddr> = (0..1000_u32).map(|n| std::net::Ipv4Addr::from(n).into()).collect();
        assert!(learned.learn("www.a", &many, 60));
        assert_eq!(learned.of("www.a").unwrap().addresses.len(), MOST_ADDRESSES);
        assert!(!learned.learn("www.a", &many, 60));
    }
}

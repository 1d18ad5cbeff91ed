//! The prefix cache: which clients have asked lately, and how far the site devices are from them
//! (guide p. 53 to 56, 147 to 155).
//!
//! A client falls into the longest static prefix that holds it, else into the dynamic prefix of
//! `cache_prefix` bits. A question makes the dynamic entry and resets its age; unused for
//! `cache_interval` seconds it is gone. Static entries do not age. Only clients with an IPv4
//! address have entries. Time is passed in.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;
use indexmap::map::Entry as Place;
use smallvec::SmallVec;

use crate::clock::Moment;
pub use crate::health::measurement::{DnsProbe, Measurements, Method, Probe, RttReport};
use crate::health::prefix::Prefix;
use crate::health::smoothing::Smoothing;
use crate::model::policy::RttParameters;

/// Dynamic entries that the cache holds at most. The device's own limit of 10000 is shown and not
/// enforced (decisions 3.7); this one bounds the memory that clients can claim.
const MOST_ENTRIES: usize = 131_072;

/// How an entry of the cache came to be; several may be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// A client of the prefix asked.
    pub client_query: bool,
    /// A passive round-trip time was reported.
    pub rtt_update: bool,
    /// An active round-trip time was reported.
    pub active_rtt_update: bool,
}

/// An entry of the cache, as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// Its clients.
    pub prefix: Prefix,
    /// How it came to be.
    pub origin: Origin,
    /// Round-trip times by management address of the site device, in the order of their reports.
    pub measurements: Vec<(IpAddr, Measurements)>,
}

/// The prefix cache of one appliance.
#[derive(Debug)]
pub struct PrefixCache {
    entries: RwLock<Entries>,
    /// How many entries there are, so that a look for room takes no lock.
    count: AtomicUsize,
    most_entries: usize,
}

/// Entries lie side by side, and what a table finds is their place: of all that a question about a
/// client needs only the entry itself is in no cache of the processor.
#[derive(Debug)]
struct Entries {
    by_prefix: IndexMap<Key, Entry, DefaultHashBuilder>,
    /// How many entries there are of each length.
    lengths: [usize; 33],
    /// The lengths of which there are any, one bit each, so that only those are looked for.
    present: u64,
    /// When old entries were looked for last, to make room.
    swept: Option<Moment>,
}

/// A prefix of IPv4 in one number: the network, then the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(u64);

#[derive(Debug, Default)]
struct Entry {
    /// When it was used last, milliseconds of the clock.
    used: AtomicU64,
    origin: Origin,
    /// By the management address of the device; few devices measure one client.
    measurements: SmallVec<[(IpAddr, Measurements); 3]>,
}

impl Key {
    /// `None` for a prefix of IPv6.
    fn of(prefix: Prefix) -> Option<Self> {
        match prefix.network() {
            IpAddr::V4(network) => {
                Some(Key(u64::from(network.to_bits()) << 8 | u64::from(prefix.length())))
            }
            IpAddr::V6(_) => None,
        }
    }

    fn prefix(self) -> Prefix {
        let [_, _, _, network @ .., length] = self.0.to_be_bytes();
        Prefix::new(Ipv4Addr::from(network).into(), length)
    }
}

impl Default for Entries {
    fn default() -> Self {
        Entries { by_prefix: IndexMap::default(), lengths: [0; 33], present: 0, swept: None }
    }
}

impl Default for PrefixCache {
    fn default() -> Self {
        PrefixCache::with_room_for(MOST_ENTRIES)
    }
}

/// The prefix into which a client falls; `None` if it has no IPv4 address.
#[must_use]
pub fn prefix_of(client: IpAddr, parameters: &RttParameters) -> Option<Prefix> {
    client.is_ipv4().then(|| {
        static_prefix_of(Prefix::new(client, 32), parameters)
            .unwrap_or_else(|| Prefix::new(client, parameters.cache_prefix))
    })
}

/// The longest static prefix that covers these clients.
fn static_prefix_of(clients: Prefix, parameters: &RttParameters) -> Option<Prefix> {
    let all = parameters.static_prefixes.iter();
    all.map(|&(network, length)| Prefix::new(network, length))
        .filter(|prefix| prefix.covers(clients))
        .max_by_key(|prefix| prefix.length())
}

impl PrefixCache {
    /// A cache that holds at most so many dynamic entries.
    #[must_use]
    pub fn with_room_for(most_entries: usize) -> Self {
        PrefixCache { entries: RwLock::default(), count: AtomicUsize::new(0), most_entries }
    }

    /// A client asks: makes its entry, or resets the age of the one there is.
    ///
    /// If the cache is full, nothing is made.
    pub fn touch(&self, client: IpAddr, parameters: &RttParameters, now: Moment) {
        let Some(prefix) = prefix_of(client, parameters) else { return };
        {
            let entries = self.read();
            if let Some(entry) = entries.get(prefix)
                && entry.origin.client_query
                && entry.is_alive(prefix, parameters, now)
            {
                entry.used.store(now.as_millis(), Ordering::Relaxed);
                return;
            }
        }
        self.change(|entries| {
            if let Some(entry) = entries.enter(prefix, self.most_entries, parameters, now) {
                entry.origin.client_query = true;
            }
        });
    }

    /// A site device reports.
    ///
    /// The value is filed under the prefix into which the clients fall, or under their own prefix
    /// if that is shorter. With a full cache it is lost.
    pub fn report(
        &self,
        report: &RttReport,
        smoothing: Smoothing,
        parameters: &RttParameters,
        now: Moment,
    ) {
        let Some(prefix) = filed_under(report.clients, parameters) else { return };
        self.change(|entries| {
            if let Some(entry) = entries.enter(prefix, self.most_entries, parameters, now) {
                entry.take(report, smoothing);
            }
        });
    }

    /// Forgets what a site device reported of these clients, as far as it was measured so.
    pub fn withdraw(
        &self,
        clients: Prefix,
        server: IpAddr,
        method: Method,
        parameters: &RttParameters,
    ) {
        let Some(prefix) = filed_under(clients, parameters) else { return };
        self.change(|entries| {
            let Some(entry) = entries.get_mut(prefix) else { return };
            entry.forget(server, method);
            if entry.origin == Origin::default() {
                entries.remove(prefix);
            }
        });
    }

    /// Looks at what is measured between a client and the site devices, by management address of
    /// the device: the measurements of the longest prefix that holds the client and has any.
    ///
    /// The cache is locked while `look` runs.
    pub fn look<T>(
        &self,
        client: IpAddr,
        parameters: &RttParameters,
        now: Moment,
        look: impl FnOnce(&[(IpAddr, Measurements)]) -> T,
    ) -> T {
        let entries = self.read();
        let found = entries
            .matching(client, parameters, now)
            .find(|(_, entry)| !entry.measurements.is_empty());
        look(found.map_or(&[], |(_, entry)| &entry.measurements))
    }

    /// What is measured between a client and one site device; see [`PrefixCache::look`].
    #[must_use]
    pub fn measurements(
        &self,
        client: IpAddr,
        server: IpAddr,
        parameters: &RttParameters,
        now: Moment,
    ) -> Option<Measurements> {
        self.look(client, parameters, now, |all| {
            all.iter().find(|(known, _)| *known == server).map(|(_, measured)| *measured)
        })
    }

    /// Whether a client has no entry and cannot get one, because the cache is full.
    #[must_use]
    pub fn is_full_for(&self, client: IpAddr, parameters: &RttParameters, now: Moment) -> bool {
        client.is_ipv4()
            && self.count.load(Ordering::Relaxed) >= self.most_entries
            && self.read().matching(client, parameters, now).next().is_none()
    }

    /// The entries that hold an address, the shortest prefix first.
    #[must_use]
    pub fn entries_of(
        &self,
        address: IpAddr,
        parameters: &RttParameters,
        now: Moment,
    ) -> Vec<CacheEntry> {
        let entries = self.read();
        let mut found: Vec<CacheEntry> = entries
            .matching(address, parameters, now)
            .map(|(prefix, entry)| CacheEntry {
                prefix,
                origin: entry.origin,
                measurements: entry.measurements.to_vec(),
            })
            .collect();
        found.reverse();
        found
    }

    /// How many entries there are, and how many round-trip times (guide, `show gslb resources`).
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let entries = self.read();
        let measured = entries.by_prefix.values().map(|entry| entry.measurements.len()).sum();
        (entries.by_prefix.len(), measured)
    }

    /// The prefixes of which any round-trip time is known, in ascending order.
    #[must_use]
    pub fn measured(&self) -> Vec<Prefix> {
        let entries = self.read();
        let all = entries.by_prefix.iter().filter(|(_, entry)| !entry.measurements.is_empty());
        let mut prefixes: Vec<Prefix> = all.map(|(key, _)| key.prefix()).collect();
        prefixes.sort_unstable();
        prefixes
    }

    /// Whether any round-trip time of these site devices is known.
    #[must_use]
    pub fn knows_any(&self, servers: &[IpAddr]) -> bool {
        let entries = self.read();
        let mut known = entries.by_prefix.values().flat_map(|entry| &entry.measurements);
        known.any(|(server, _)| servers.contains(server))
    }

    /// Removes the entries that have not been used for too long.
    pub fn expire(&self, parameters: &RttParameters, now: Moment) {
        self.change(|entries| entries.expire(parameters, now));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.change(|entries| *entries = Entries::default());
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Entries) -> T) -> T {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut entries);
        self.count.store(entries.by_prefix.len(), Ordering::Relaxed);
        result
    }
}

/// The prefix under which a report about these clients is filed.
fn filed_under(clients: Prefix, parameters: &RttParameters) -> Option<Prefix> {
    clients.network().is_ipv4().then(|| {
        static_prefix_of(clients, parameters).unwrap_or_else(|| {
            Prefix::new(clients.network(), clients.length().min(parameters.cache_prefix))
        })
    })
}

impl Entries {
    fn get(&self, prefix: Prefix) -> Option<&Entry> {
        self.by_prefix.get(&Key::of(prefix)?)
    }

    fn get_mut(&mut self, prefix: Prefix) -> Option<&mut Entry> {
        self.by_prefix.get_mut(&Key::of(prefix)?)
    }

    /// The living entries that hold an address, the longest prefix first.
    fn matching<'a>(
        &'a self,
        address: IpAddr,
        parameters: &'a RttParameters,
        now: Moment,
    ) -> impl Iterator<Item = (Prefix, &'a Entry)> {
        let mut lengths = if address.is_ipv4() { self.present } else { 0 };
        std::iter::from_fn(move || {
            let length = lengths.checked_ilog2()?;
            lengths &= !(1 << length);
            u8::try_from(length).ok()
        })
        .filter_map(move |length| {
            let prefix = Prefix::new(address, length);
            self.get(prefix).map(|entry| (prefix, entry))
        })
        .filter(move |(prefix, entry)| entry.is_alive(*prefix, parameters, now))
    }

    /// The entry of a prefix, made anew if there is none alive; `None` if the cache is full.
    fn enter(
        &mut self,
        prefix: Prefix,
        most_entries: usize,
        parameters: &RttParameters,
        now: Moment,
    ) -> Option<&mut Entry> {
        let key = Key::of(prefix)?;
        if self.by_prefix.len() >= most_entries && !self.by_prefix.contains_key(&key) {
            self.make_room(parameters, now);
            if self.by_prefix.len() >= most_entries {
                return None;
            }
        }
        let entry = match self.by_prefix.entry(key) {
            Place::Occupied(place) => {
                let entry = place.into_mut();
                if !entry.is_alive(prefix, parameters, now) {
                    *entry = Entry::default();
                }
                entry
            }
            Place::Vacant(place) => {
                self.lengths[usize::from(prefix.length())] += 1;
                self.present |= 1 << prefix.length();
                place.insert(Entry::default())
            }
        };
        *entry.used.get_mut() = now.as_millis();
        Some(entry)
    }

    /// Looks for old entries, but not again within a second: a flood of new clients must not make
    /// each question a search of the whole cache.
    fn make_room(&mut self, parameters: &RttParameters, now: Moment) {
        if self.swept.is_none_or(|swept| now.since(swept).as_secs() >= 1) {
            self.swept = Some(now);
            self.expire(parameters, now);
        }
    }

    fn expire(&mut self, parameters: &RttParameters, now: Moment) {
        let lengths = &mut self.lengths;
        self.by_prefix.retain(|key, entry| {
            let prefix = key.prefix();
            let alive = entry.is_alive(prefix, parameters, now);
            lengths[usize::from(prefix.length())] -= usize::from(!alive);
            alive
        });
        self.note_lengths();
    }

    fn remove(&mut self, prefix: Prefix) {
        if Key::of(prefix).and_then(|key| self.by_prefix.swap_remove(&key)).is_some() {
            self.lengths[usize::from(prefix.length())] -= 1;
            self.note_lengths();
        }
    }

    fn note_lengths(&mut self) {
        let bits = self.lengths.iter().enumerate().filter(|(_, count)| **count > 0);
        self.present = bits.fold(0, |present, (length, _)| present | 1 << length);
    }
}

impl Entry {
    /// Takes in what a device reports.
    fn take(&mut self, report: &RttReport, smoothing: Smoothing) {
        match report.method {
            Method::Passive => self.origin.rtt_update = true,
            Method::ActiveIcmp | Method::ActiveDns => self.origin.active_rtt_update = true,
        }
        let known = self.measurements.iter().position(|(server, _)| *server == report.server);
        let place = known.unwrap_or_else(|| {
            self.measurements.push((report.server, Measurements::default()));
            self.measurements.len() - 1
        });
        self.measurements[place].1.take(report, smoothing);
    }

    /// Forgets what a device reported, as far as it was measured so.
    fn forget(&mut self, server: IpAddr, method: Method) {
        self.measurements.retain_mut(|(known, measured)| {
            if *known == server {
                measured.forget(method);
            }
            *measured != Measurements::default()
        });
        if self.measurements.is_empty() {
            self.origin = Origin { client_query: self.origin.client_query, ..Origin::default() };
        }
    }

    /// Whether it was used lately, or its prefix is static.
    fn is_alive(&self, prefix: Prefix, parameters: &RttParameters, now: Moment) -> bool {
        let used = Moment::from_millis(self.used.load(Ordering::Relaxed));
        now.since(used).as_secs() < u64::from(parameters.cache_interval)
            || static_prefix_of(prefix, parameters) == Some(prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;
    use crate::model::policy::RttSource;

    const SERVER: &str = "10.255.1.1";

    fn report(clients: &str, length: u8, rtt: u32) -> RttReport {
        RttReport {
            clients: Prefix::new(ip(clients), length),
            server: ip(SERVER),
            method: Method::Passive,
            rtt,
            failed: false,
        }
    }

    /// A cache and its parameters, with calls that are short to write.
    #[derive(Default)]
    struct Fixture {
        cache: PrefixCache,
        parameters: RttParameters,
        now: Moment,
    }

    impl Fixture {
        fn file(&self, clients: &str, length: u8, rtt: u32) {
            let report = report(clients, length, rtt);
            self.cache.report(&report, Smoothing::Standard, &self.parameters, self.now);
        }

        fn rtt(&self, client: &str) -> Option<u32> {
            self.cache
                .measurements(ip(client), ip(SERVER), &self.parameters, self.now)?
                .usable(RttSource::PassiveOnly, DnsProbe::Unused)
        }

        fn touch(&self, client: &str) {
            self.cache.touch(ip(client), &self.parameters, self.now);
        }

        fn prefixes(&self, address: &str) -> Vec<String> {
            let entries = self.cache.entries_of(ip(address), &self.parameters, self.now);
            entries.iter().map(|entry| entry.prefix.to_string()).collect()
        }
    }

    #[test]
    fn v11_clients_of_one_prefix_share_an_entry() {
        let mut fixture = Fixture::default();
        fixture.parameters.cache_prefix = 31;
        fixture.touch("192.21.4.69");
        fixture.touch("192.21.4.18");
        assert_eq!(fixture.cache.size(), (2, 0));
        let mut fixture = Fixture::default();
        fixture.parameters.cache_prefix = 16;
        fixture.touch("192.21.4.69");
        fixture.touch("192.21.4.18");
        assert_eq!(fixture.prefixes("192.21.4.18"), ["192.21.0.0/16"]);
        assert_eq!(fixture.cache.size(), (1, 0));
    }

    #[test]
    fn v12_a_static_prefix_takes_the_place_of_a_dynamic_one() {
        let mut fixture = Fixture::default();
        fixture.parameters.static_prefixes = vec![(ip("61.1.0.0"), 22)];
        fixture.file("61.1.1.77", 32, 7);
        fixture.touch("61.1.2.1");
        assert_eq!(fixture.prefixes("61.1.1.1"), ["61.1.0.0/22"]);
        fixture.now = Moment::ZERO.plus_secs(1_000_000);
        assert_eq!(fixture.rtt("61.1.3.3"), Some(7), "static entries do not age");
    }

    #[test]
    fn v13_the_longer_prefix_is_used() {
        let fixture = Fixture::default();
        fixture.file("198.51.0.0", 16, 50);
        fixture.file("198.51.100.0", 20, 10);
        assert_eq!(fixture.rtt("198.51.100.1"), Some(10));
        assert_eq!(fixture.rtt("198.51.1.1"), Some(50));
        assert_eq!(fixture.rtt("198.52.1.1"), None);
        assert_eq!(fixture.prefixes("198.51.100.1"), ["198.51.0.0/16", "198.51.96.0/20"]);
    }

    #[test]
    fn an_entry_without_measurements_does_not_hide_a_shorter_one() {
        let fixture = Fixture::default();
        fixture.file("198.51.0.0", 16, 50);
        fixture.touch("198.51.100.1");
        assert_eq!(fixture.rtt("198.51.100.1"), Some(50));
    }

    #[test]
    fn unused_entries_age_and_questions_keep_them() {
        let mut fixture = Fixture::default();
        fixture.file("198.51.100.1", 32, 10);
        for _ in 0..3 {
            fixture.now = fixture.now.plus_secs(119);
            fixture.touch("198.51.100.1");
        }
        assert_eq!(fixture.rtt("198.51.100.1"), Some(10));
        fixture.now = fixture.now.plus_secs(120);
        assert_eq!(fixture.rtt("198.51.100.1"), None);
        fixture.file("198.51.100.1", 32, 90);
        assert_eq!(fixture.rtt("198.51.100.1"), Some(90), "an entry that is gone smooths nothing");
        fixture.now = fixture.now.plus_secs(120);
        fixture.cache.expire(&fixture.parameters, fixture.now);
        assert_eq!(fixture.cache.size(), (0, 0));
    }

    #[test]
    fn samples_of_one_device_are_smoothed() {
        let fixture = Fixture::default();
        fixture.file("198.51.100.1", 32, 20);
        fixture.file("198.51.100.2", 32, 40);
        assert_eq!(fixture.rtt("198.51.100.3"), Some(22));
    }

    #[test]
    fn a_full_cache_makes_no_entry_until_old_ones_are_gone() {
        let mut fixture = Fixture { cache: PrefixCache::with_room_for(1), ..Fixture::default() };
        fixture.touch("10.0.0.1");
        fixture.touch("10.1.0.1");
        let full = |fixture: &Fixture, client| {
            fixture.cache.is_full_for(ip(client), &fixture.parameters, fixture.now)
        };
        assert!(full(&fixture, "10.1.0.1"));
        assert!(!full(&fixture, "10.0.0.1") && !full(&fixture, "::1"));
        fixture.now = fixture.now.plus_secs(120);
        fixture.touch("10.1.0.1");
        assert!(!full(&fixture, "10.1.0.1"));
        assert_eq!(fixture.cache.size(), (1, 0));
    }

    #[test]
    fn the_mode_says_which_values_count() {
        let mut measured = Measurements::default();
        let mut send = |method, rtt, failed| {
            let report = RttReport { method, failed, ..report("201.53.10.1", 32, rtt) };
            measured.take(&report, Smoothing::Off);
            measured
        };
        let icmp = |measured: Measurements| {
            RttSource::ALL.iter().map(|mode| measured.usable(*mode, DnsProbe::Unused)).collect()
        };
        let all: [Vec<Option<u32>>; 3] = [
            icmp(send(Method::Passive, 12, false)),
            icmp(send(Method::ActiveIcmp, 7, false)),
            icmp(send(Method::ActiveIcmp, 9, true)),
        ];
        // Passive only, active only, both.
        assert_eq!(all[0], [Some(12), None, Some(12)]);
        assert_eq!(all[1], [Some(12), Some(7), Some(7)]);
        assert_eq!(all[2], [Some(12), None, Some(12)], "the probe failed");
    }

    #[test]
    fn dns_probes_count_if_they_are_accepted() {
        let mut measured = Measurements::default();
        let mut send = |method, rtt, failed| {
            let report = RttReport { method, failed, ..report("201.53.10.1", 32, rtt) };
            measured.take(&report, Smoothing::Off);
            measured
        };
        let active = |measured: Measurements, probe| measured.usable(RttSource::ActiveOnly, probe);
        send(Method::ActiveIcmp, 16, false);
        let both = send(Method::ActiveDns, 20, false);
        assert_eq!(active(both, DnsProbe::Unused), Some(16));
        assert_eq!(active(both, DnsProbe::NoFallback), Some(16));
        assert_eq!(active(both, DnsProbe::Fallback), Some(20));
        let failed = send(Method::ActiveDns, 0, true);
        assert_eq!(active(failed, DnsProbe::Fallback), Some(16), "the backup");
    }

    #[test]
    fn what_a_device_reported_can_be_withdrawn() {
        let fixture = Fixture::default();
        fixture.file("198.51.100.1", 32, 10);
        let clients = Prefix::new(ip("198.51.100.1"), 32);
        fixture.cache.withdraw(clients, ip(SERVER), Method::Passive, &fixture.parameters);
        assert_eq!(fixture.cache.size(), (0, 0));
        let entries = fixture.cache.read();
        assert_eq!((entries.lengths, entries.present), ([0; 33], 0));
    }
}

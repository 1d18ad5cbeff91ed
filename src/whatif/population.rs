//! A population of clients, and the questions that they ask: all drawn from one seed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fastrand::Rng;
use hickory_proto::rr::RecordType;

use crate::gslb::regions::{built_in, built_in_entries};
use crate::health::prefix::Prefix;
use crate::model::region::Region;
use crate::model::snapshot::{Family, NameEntry, Snapshot};
use crate::whatif::Problem;
use crate::whatif::asked::{Asked, Domains, NameId, Names};

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Draw {
    /// How many questions.
    pub questions: u64,
    /// Questions a second, evenly spaced; at least 1.
    pub rate: u32,
    /// How many different clients; at least 1.
    pub clients: u32,
    /// Where the clients are, each with its part of them; empty: a fifth in each region.
    pub places: Vec<(Place, u32)>,
    /// What is asked for, each with its part of the questions; empty: every domain alike, in both
    /// families as far as it has addresses.
    pub names: Vec<(WantedName, u32)>,
    /// Where all randomness comes from.
    pub seed: u64,
}

impl Default for Draw {
    fn default() -> Self {
        Draw {
            questions: 100_000,
            rate: 100,
            clients: 1000,
            places: Vec::new(),
            names: Vec::new(),
            seed: 1,
        }
    }
}

/// Where clients are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere in a prefix.
    Prefix(Prefix),
    /// Anywhere in the prefixes that the device takes for a region.
    Region(Region),
}

/// A name that clients ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedName {
    /// The domain name.
    pub name: String,
    /// The type; `None`: the families in which it has addresses.
    pub record_type: Option<RecordType>,
}

/// Clients and names, drawn once, and the question that comes next.
#[derive(Debug)]
pub struct Population {
    /// The clients with the number of their place.
    clients: Vec<(IpAddr, usize)>,
    /// For each client its resolver, if there are any.
    resolvers: Vec<(u32, IpAddr)>,
    /// Names with the sum of the parts up to and with each.
    names: Vec<(u64, Option<NameId>)>,
    rng: Rng,
    rate: u64,
    questions: u64,
    next: u64,
}

/// How often an address is drawn until one lies where it should.
const TRIES: usize = 64;

impl Population {
    /// Draws the clients, and gives `resolvers` of them a resolver's task if it is above 0.
    ///
    /// # Errors
    ///
    /// There is nothing to ask for.
    pub fn new(
        draw: &Draw,
        resolvers: u32,
        domains: &Domains,
        snapshots: &[&Snapshot],
        names: &mut Names,
    ) -> Result<Self, Problem> {
        let mut rng = Rng::with_seed(draw.seed);
        let places: Vec<(Place, u32)> = if draw.places.is_empty() {
            Region::ALL.iter().map(|region| (Place::Region(*region), 1)).collect()
        } else {
            draw.places.clone()
        };
        let total: u64 = places.iter().map(|(_, part)| u64::from(*part)).sum();
        if total == 0 {
            return Err(Problem::NoClients);
        }
        let clients: Vec<(IpAddr, usize)> = (0..draw.clients.max(1))
            .map(|_| {
                let mut ticket = rng.u64(..total);
                let place = places.iter().position(|(_, part)| {
                    let part = u64::from(*part);
                    let hit = ticket < part;
                    ticket = ticket.saturating_sub(part);
                    hit
                });
                let place = place.unwrap_or(0);
                (places[place].0.draw(&mut rng), place)
            })
            .collect();
        let resolvers = deal_resolvers(&clients, resolvers);
        let names = wanted(draw, domains, snapshots, names)?;
        Ok(Population {
            clients,
            resolvers,
            names,
            rng,
            rate: draw.rate.max(1).into(),
            questions: draw.questions,
            next: 0,
        })
    }

    /// The next question; `None` after the last.
    pub fn ask(&mut self) -> Option<Asked> {
        if self.next >= self.questions {
            return None;
        }
        let at = u128::from(self.next) * 1000 / u128::from(self.rate);
        self.next += 1;
        let client = self.rng.usize(..self.clients.len());
        let total = self.names.last().map_or(0, |(sum, _)| *sum);
        let name = if self.names.len() == 1 {
            0
        } else {
            let ticket = self.rng.u64(..total);
            self.names.partition_point(|(sum, _)| *sum <= ticket)
        };
        let (address, _) = self.clients[client];
        let resolver = self.resolvers.get(client);
        Some(Asked {
            at: u64::try_from(at).unwrap_or(u64::MAX),
            client: address,
            asker: resolver.map_or(address, |(_, address)| *address),
            resolver: resolver.map(|(number, _)| *number),
            name: self.names[name].1,
        })
    }
}

/// Gives each client a resolver, in its own place if there is one: the first clients lend their
/// addresses. Empty if there are none.
fn deal_resolvers(clients: &[(IpAddr, usize)], count: u32) -> Vec<(u32, IpAddr)> {
    let all: Vec<(u32, IpAddr)> =
        (0..count).zip(clients).map(|(number, (address, _))| (number, *address)).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let places = clients.iter().map(|(_, place)| place + 1).max().unwrap_or(0);
    let mut near: Vec<Vec<(u32, IpAddr)>> = vec![Vec::new(); places];
    for (resolver, (_, place)) in all.iter().zip(clients) {
        near[*place].push(*resolver);
    }
    let mut turns = vec![0_usize; places];
    clients
        .iter()
        .map(|(_, place)| {
            let choice = if near[*place].is_empty() { &all } else { &near[*place] };
            let turn = turns[*place];
            turns[*place] += 1;
            choice[turn % choice.len()]
        })
        .collect()
}

/// The names with the sums of their parts.
fn wanted(
    draw: &Draw,
    domains: &Domains,
    snapshots: &[&Snapshot],
    names: &mut Names,
) -> Result<Vec<(u64, Option<NameId>)>, Problem> {
    let all = || {
        let hosts = domains.list().iter().filter(|domain| !domain.is_gateway);
        hosts.map(|domain| (WantedName { name: domain.name.clone(), record_type: None }, 1))
    };
    let wanted: Vec<(WantedName, u32)> =
        if draw.names.is_empty() { all().collect() } else { draw.names.clone() };
    let mut sums = Vec::new();
    let mut sum = 0;
    for (wanted, part) in wanted.iter().filter(|(_, part)| *part > 0) {
        let types = match wanted.record_type {
            Some(record_type) => vec![record_type],
            None => families(snapshots, &wanted.name),
        };
        for record_type in types {
            sum += u64::from(*part);
            sums.push((sum, names.of_domain(domains, &wanted.name, record_type)));
        }
    }
    if sums.is_empty() { Err(Problem::NothingToAsk) } else { Ok(sums) }
}

/// The types in which a name has addresses anywhere; A if it has none.
fn families(snapshots: &[&Snapshot], name: &str) -> Vec<RecordType> {
    let has = |family: Family| {
        let Some(key) = crate::dns::name::key_of_text(name) else { return false };
        snapshots.iter().any(|snapshot| match snapshot.lookup(&key) {
            Some(NameEntry::Host(host)) => {
                snapshot.hosts[host.index()].positions(family).next().is_some()
            }
            Some(NameEntry::EmptyNonTerminal) | None => false,
        })
    };
    match (has(Family::V4), has(Family::V6)) {
        (true, true) => vec![RecordType::A, RecordType::AAAA],
        (false, true) => vec![RecordType::AAAA],
        (_, false) => vec![RecordType::A],
    }
}

impl Place {
    /// Reads a prefix, an address or the name of a region.
    pub fn read(text: &str) -> Option<Self> {
        if let Some(region) = Region::from_name(text) {
            return Some(Place::Region(region));
        }
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u8>().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(longest);
        (length <= longest).then(|| Place::Prefix(Prefix::new(address, length)))
    }

    /// An address there.
    pub fn draw(self, rng: &mut Rng) -> IpAddr {
        match self {
            Place::Prefix(prefix) => draw_in(prefix, rng),
            Place::Region(region) => {
                let entries: Vec<Prefix> = built_in_entries()
                    .filter(|entry| entry.region == region && entry.prefix.network().is_ipv4())
                    .map(|entry| entry.prefix)
                    .collect();
                let mut address = IpAddr::V4(Ipv4Addr::LOCALHOST);
                for _ in 0..TRIES {
                    // A region that the device knows has prefixes.
                    let Some(prefix) = rng.choice(&entries) else { break };
                    address = draw_in(*prefix, rng);
                    // Private and documentation addresses lie in those prefixes too.
                    if built_in(address).is_some_and(|located| located.region == region) {
                        break;
                    }
                }
                address
            }
        }
    }
}

/// An address of a prefix, neither the first nor the last where there are others.
fn draw_in(prefix: Prefix, rng: &mut Rng) -> IpAddr {
    match prefix.network() {
        IpAddr::V4(network) => {
            let host_bits = 32 - u32::from(prefix.length());
            let last = 1_u64.checked_shl(host_bits).unwrap_or(0).saturating_sub(1);
            let offset = if host_bits >= 2 { rng.u64(1..last) } else { rng.u64(..=last) };
            let offset = u32::try_from(offset).unwrap_or(0);
            Ipv4Addr::from_bits(network.to_bits() | offset).into()
        }
        IpAddr::V6(network) => {
            let host_bits = 128 - u32::from(prefix.length());
            let all = if host_bits >= 128 { u128::MAX } else { (1_u128 << host_bits) - 1 };
            let offset = if host_bits >= 2 { rng.u128(1..all) } else { rng.u128(..=all) };
            Ipv6Addr::from_bits(network.to_bits() | offset).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};

    fn prefix(text: &str, length: u8) -> Place {
        Place::Prefix(Prefix::new(ip(text), length))
    }

    #[test]
    fn addresses_lie_where_they_should() {
        let mut rng = Rng::with_seed(7);
        for _ in 0..1000 {
            let IpAddr::V4(address) = prefix("198.51.100.0", 24).draw(&mut rng) else { panic!() };
            assert_eq!(address.octets()[..3], [198, 51, 100]);
            assert!(!matches!(address.octets()[3], 0 | 255));
            for region in Region::ALL {
                let address = Place::Region(*region).draw(&mut rng);
                assert_eq!(built_in(address).unwrap().region, *region, "{address}");
            }
        }
        assert_eq!(prefix("192.0.2.1", 32).draw(&mut rng), ip("192.0.2.1"));
        assert!(prefix("2001:db8::", 32).draw(&mut rng).to_string().starts_with("2001:db8:"));
        assert!(prefix("0.0.0.0", 0).draw(&mut rng).is_ipv4());
        assert!(prefix("::", 0).draw(&mut rng).is_ipv6());
    }

    #[test]
    fn places_are_read() {
        assert_eq!(Place::read("198.51.100.7/24"), Some(prefix("198.51.100.0", 24)));
        assert_eq!(Place::read("2001:db8::1"), Some(prefix("2001:db8::1", 128)));
        assert_eq!(Place::read("europe"), Some(Place::Region(Region::Europe)));
        for bad in ["", "198.51.100.0/33", "2001:db8::/129", "nowhere", "1.2.3/8", "1.2.3.4/-1"] {
            assert_eq!(Place::read(bad), None, "{bad}");
        }
    }

    fn population(draw: &Draw, resolvers: u32) -> Vec<Asked> {
        let world = World::new()
            .host("a.example.com", &["192.0.2.1", "2001:db8::1"])
            .host("b.example.com", &["192.0.2.2"]);
        let (mut domains, mut names) = (Domains::default(), Names::default());
        domains.add(&world.snapshot);
        let mut population =
            Population::new(draw, resolvers, &domains, &[&world.snapshot], &mut names).unwrap();
        std::iter::from_fn(|| population.ask()).collect()
    }

    #[test]
    fn the_seed_decides_everything() {
        let draw = Draw { questions: 500, ..Draw::default() };
        assert_eq!(population(&draw, 3), population(&draw, 3));
        let other = Draw { seed: 2, ..draw.clone() };
        assert_ne!(population(&draw, 0), population(&other, 0));
    }

    #[test]
    fn questions_are_evenly_spaced() {
        let draw = Draw { questions: 5, rate: 3, ..Draw::default() };
        let times: Vec<u64> = population(&draw, 0).iter().map(|asked| asked.at).collect();
        assert_eq!(times, [0, 333, 666, 1000, 1333]);
    }

    #[test]
    fn resolvers_stand_where_their_clients_are() {
        let draw = Draw {
            questions: 400,
            clients: 40,
            places: vec![(prefix("198.51.100.0", 24), 3), (prefix("203.0.113.0", 24), 1)],
            ..Draw::default()
        };
        let asked = population(&draw, 8);
        let network = |address: IpAddr| Prefix::new(address, 24);
        assert!(asked.iter().all(|one| network(one.client) == network(one.asker)));
        let mut resolvers: Vec<u32> = asked.iter().filter_map(|one| one.resolver).collect();
        resolvers.sort_unstable();
        resolvers.dedup();
        assert_eq!(resolvers, (0..8).collect::<Vec<u32>>(), "all have work");
        assert!(population(&draw, 0).iter().all(|one| one.asker == one.client));
    }

    #[test]
    fn parts_of_names_are_shares_of_questions() {
        let wanted =
            |name: &str| WantedName { name: name.to_owned(), record_type: Some(RecordType::A) };
        let draw = Draw {
            questions: 10_000,
            names: vec![
                (wanted("a.example.com"), 3),
                (wanted("b.example.com"), 1),
                (wanted("other.example.com"), 0),
            ],
            ..Draw::default()
        };
        let asked = population(&draw, 0);
        let first = asked.iter().filter(|one| one.name == asked[0].name).count();
        let share = first.min(10_000 - first);
        assert!((2300..2700).contains(&share), "{share}");
        assert!(asked.iter().all(|one| one.name.is_some()));
    }
}

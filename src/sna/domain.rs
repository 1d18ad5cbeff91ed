//! A domain as it is configured: typed data with indices instead of names.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use ipnet::IpNet;
use prefix_trie::joint::JointPrefixMap;
use smallvec::SmallVec;

use crate::model::snapshot::index;
use crate::sna::state::{LuState, SnaStates, SystemState};
use crate::sna::tally::{Arrangement, Tallies};

/// The keyword of geographical balancing unless another one is configured (guide p. E-5).
pub const DEFAULT_KEYWORD: &str = "glb";

/// The TTL of answers unless another one is configured, seconds.
pub const DEFAULT_TTL: u32 = 10;

index! {
    /// A system in [`SnaDomain::systems`].
    SystemId
}
index! {
    /// An LU in [`SnaDomain::lus`].
    LuId
}
index! {
    /// A pool in [`SnaDomain::pools`].
    PoolId
}
index! {
    /// A user record in [`SnaDomain::records`].
    RecordId
}

/// A domain whose names lead to gateways.
#[derive(Debug)]
pub struct SnaDomain {
    /// As typed, without a final dot.
    pub name: String,
    /// The name below the domain that is balanced by who asks.
    pub keyword: String,
    /// TTL of its answers, seconds.
    pub ttl: u32,
    /// Gateway hosts in configured order.
    pub systems: Vec<System>,
    /// LUs in configured order.
    pub lus: Vec<Lu>,
    /// Pools in the order in which LUs first name them.
    pub pools: Vec<Pool>,
    /// User records in the order in which lines first name them.
    pub records: Vec<UserRecord>,
    /// Counts and last uses; a new snapshot takes them over.
    pub tallies: Arc<Tallies>,
    /// The order in which the tallies stand for this snapshot.
    pub arrangement: Arrangement,
    record_names: HashMap<Box<[u8]>, RecordId>,
    resource_names: HashMap<Box<[u8]>, Resource>,
    matches: JointPrefixMap<IpNet, RecordId>,
}

/// A gateway host.
#[derive(Debug)]
pub struct System {
    /// As typed, at most 16 characters.
    pub name: String,
    /// Where clients are sent.
    pub address: IpAddr,
    /// Load and bandwidth.
    pub state: Arc<SystemState>,
    /// Its LUs.
    pub lus: Vec<LuId>,
}

/// An LU: what a client connects to (guide p. E-2).
#[derive(Debug)]
pub struct Lu {
    /// As typed, at most 8 characters.
    pub name: String,
    /// Whether it is available.
    pub state: Arc<LuState>,
    /// The system that has it, and itself.
    holding: Holding,
}

impl Lu {
    /// The system that has it.
    #[must_use]
    pub const fn system(&self) -> SystemId {
        self.holding.system
    }
}

/// LUs of one kind, on one or several systems.
#[derive(Debug)]
pub struct Pool {
    /// As first typed, at most 8 characters.
    pub name: String,
    holdings: Vec<Holding>,
}

/// The LUs of a resource that one system has.
#[derive(Debug)]
pub struct Holding {
    /// The system.
    pub system: SystemId,
    /// Whether each of its LUs is available; never empty.
    pub lus: SmallVec<[Arc<LuState>; 1]>,
}

/// What a user record gives its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Any LU of a pool.
    Pool(PoolId),
    /// That very LU.
    Lu(LuId),
}

/// Who gets what.
#[derive(Debug)]
pub struct UserRecord {
    /// As first typed.
    pub name: String,
    /// What it says of resources, as typed, the preferred one first.
    pub resource_names: Vec<String>,
    /// Those of them that exist.
    pub resources: SmallVec<[Resource; 8]>,
    /// How it says whom it is for, in configured order.
    pub matchers: Vec<Matcher>,
}

/// How a user record says whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Addresses of the DNS servers that ask.
    Network(IpNet),
    /// One by its name, with the addresses that it has according to the DNS server behind.
    Hostname {
        /// As typed.
        name: String,
        /// What was learned of it; empty: nothing yet, and it matches nobody.
        addresses: Vec<IpAddr>,
    },
}

/// What stands at a name of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The keyword: the user record depends on who asks.
    Keyword,
    /// A user record.
    Record(RecordId),
    /// A pool or an LU.
    Resource(Resource),
}

/// The statements of a domain, before names become indices.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Name of the domain.
    pub name: String,
    /// The keyword, if one is configured.
    pub keyword: Option<String>,
    /// TTL in seconds, if one is configured.
    pub ttl: Option<u32>,
    /// Name and address of each system.
    pub systems: Vec<(String, IpAddr)>,
    /// Name, system and pool of each LU.
    pub lus: Vec<(String, String, Option<String>)>,
    /// Name, resources and matchers of each user record.
    pub records: Vec<(String, Vec<String>, Vec<Matcher>)>,
}

impl SnaDomain {
    /// A domain from its statements. Cells of what was measured and counted are taken over.
    ///
    /// An LU of a system that is not there does not exist; nor does the second of two that share a
    /// name, or a match that an earlier user record has.
    #[must_use]
    pub fn new(plan: Plan, states: &SnaStates, tallies: Arc<Tallies>) -> Self {
        let mut domain = SnaDomain {
            keyword: plan.keyword.unwrap_or_else(|| DEFAULT_KEYWORD.to_owned()),
            ttl: plan.ttl.unwrap_or(DEFAULT_TTL),
            systems: Vec::with_capacity(plan.systems.len()),
            lus: Vec::with_capacity(plan.lus.len()),
            pools: Vec::new(),
            records: Vec::with_capacity(plan.records.len()),
            tallies,
            arrangement: Arrangement::default(),
            record_names: HashMap::with_capacity(plan.records.len()),
            resource_names: HashMap::with_capacity(plan.lus.len()),
            matches: JointPrefixMap::new(),
            name: plan.name,
        };
        domain.add_lus(plan.systems, plan.lus, states);
        for (name, resources, matchers) in plan.records {
            domain.add_record(name, resources, matchers);
        }
        domain.arrangement = domain.tallies.lock().arrange(
            domain.systems.iter().map(|system| system.name.as_str()),
            domain.records.iter().map(|record| record.name.as_str()),
        );
        domain
    }

    /// Systems, then LUs, then pools: a pool has the name before an LU of the same name.
    fn add_lus(
        &mut self,
        systems: Vec<(String, IpAddr)>,
        lus: Vec<(String, String, Option<String>)>,
        states: &SnaStates,
    ) {
        let mut by_name = HashMap::with_capacity(systems.len());
        for (name, address) in systems {
            by_name.insert(label(&name), SystemId::from_index(self.systems.len()));
            let state = states.system(&self.name, &name);
            self.systems.push(System { name, address, state, lus: Vec::new() });
        }
        let mut pools: HashMap<Box<[u8]>, PoolId> = HashMap::new();
        let mut places: HashMap<(PoolId, SystemId), usize> = HashMap::new();
        for (name, system, pool) in lus {
            let Some(&system) = by_name.get(&label(&system)) else { continue };
            let id = LuId::from_index(self.lus.len());
            let Entry::Vacant(entry) = self.resource_names.entry(label(&name)) else { continue };
            entry.insert(Resource::Lu(id));
            let state = states.lu(&self.name, &name);
            self.systems[system.index()].lus.push(id);
            if let Some(pool) = pool {
                let id = *pools.entry(label(&pool)).or_insert_with(|| {
                    self.pools.push(Pool { name: pool, holdings: Vec::new() });
                    PoolId::from_index(self.pools.len() - 1)
                });
                let holdings = &mut self.pools[id.index()].holdings;
                let place = *places.entry((id, system)).or_insert_with(|| {
                    holdings.push(Holding { system, lus: SmallVec::new() });
                    holdings.len() - 1
                });
                holdings[place].lus.push(Arc::clone(&state));
            }
            let lus = std::iter::once(Arc::clone(&state)).collect();
            self.lus.push(Lu { name, state, holding: Holding { system, lus } });
        }
        let pools = pools.into_iter().map(|(name, pool)| (name, Resource::Pool(pool)));
        self.resource_names.extend(pools);
    }

    fn add_record(&mut self, name: String, resource_names: Vec<String>, matchers: Vec<Matcher>) {
        let id = RecordId::from_index(self.records.len());
        self.record_names.entry(label(&name)).or_insert(id);
        for matcher in &matchers {
            let networks: SmallVec<[IpNet; 1]> = match matcher {
                Matcher::Network(network) => SmallVec::from_elem(*network, 1),
                Matcher::Hostname { addresses, .. } => {
                    addresses.iter().map(|address| IpNet::from(*address)).collect()
                }
            };
            for network in networks {
                if !self.matches.contains_key(&network) {
                    self.matches.insert(network, id);
                }
            }
        }
        let resources = resource_names
            .iter()
            .filter_map(|name| self.resource_names.get(&label(name)).copied())
            .collect();
        self.records.push(UserRecord { name, resource_names, resources, matchers });
    }

    /// What stands at a label below the domain (in lower case).
    #[must_use]
    pub fn find(&self, label: &[u8]) -> Option<Named> {
        if self.keyword.as_bytes().eq_ignore_ascii_case(label) {
            return Some(Named::Keyword);
        }
        if let Some(record) = self.record_names.get(label) {
            return Some(Named::Record(*record));
        }
        self.resource_names.get(label).map(|resource| Named::Resource(*resource))
    }

    /// The user record for who asks: the longest prefix that holds the address; of the records that
    /// state it, the first.
    #[must_use]
    pub fn record_for(&self, client: IpAddr) -> Option<RecordId> {
        self.matches.get_lpm(&IpNet::from(client)).map(|(_, record)| *record)
    }

    /// The systems that have LUs of a resource.
    #[must_use]
    pub fn holdings(&self, resource: Resource) -> &[Holding] {
        match resource {
            Resource::Pool(pool) => &self.pools[pool.index()].holdings,
            Resource::Lu(lu) => std::slice::from_ref(&self.lus[lu.index()].holding),
        }
    }
}

/// A name as it is looked up.
fn label(name: &str) -> Box<[u8]> {
    name.as_bytes().to_ascii_lowercase().into()
}

//! Domains made by hand, for tests.

use std::net::IpAddr;
use std::sync::Arc;

use crate::clock::Moment;
use crate::model::snapshot::Family;
use crate::sna::{
    LuStatus, Matcher, Outcome, Plan, RecordTally, SnaDomain, SnaStates, SystemTally, Tallies,
    select,
};

/// A domain with its measured state, and who asks when.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) states: SnaStates,
    pub(crate) domain: SnaDomain,
    pub(crate) client: IpAddr,
    pub(crate) now: Moment,
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("no address: {text}"))
}

/// The domain of the guide's example (p. E-6): two pools on three systems, two sites.
pub(crate) fn example() -> World {
    let owned = str::to_owned;
    let plan = Plan {
        name: owned("sna.example.com"),
        systems: vec![
            (owned("gw1"), ip("192.0.2.11")),
            (owned("gw2"), ip("192.0.2.12")),
            (owned("gw3"), ip("192.0.2.13")),
        ],
        lus: [("LU01", "gw1", "POOL-1"), ("LU02", "gw2", "POOL-1"), ("LU03", "gw3", "POOL-2")]
            .map(|(lu, system, pool)| (owned(lu), owned(system), Some(owned(pool))))
            .into(),
        ..Plan::default()
    };
    World::new(plan).record("SITE1", &["POOL-1", "POOL-2"], &["198.51.100.53/32"]).record(
        "SITE2",
        &["POOL-2", "POOL-1"],
        &["203.0.113.53/32"],
    )
}

impl World {
    pub(crate) fn new(plan: Plan) -> Self {
        let states = SnaStates::default();
        let domain = SnaDomain::new(plan.clone(), &states, Arc::default());
        World { plan, states, domain, client: ip("198.51.100.53"), now: Moment::ZERO }
    }

    /// Changes the statements; cells stay, as they do from one snapshot to the next.
    pub(crate) fn change(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        let tallies: Arc<Tallies> = Arc::clone(&self.domain.tallies);
        self.domain = SnaDomain::new(self.plan.clone(), &self.states, tallies);
        self
    }

    pub(crate) fn record(self, name: &str, resources: &[&str], networks: &[&str]) -> Self {
        let resources = resources.iter().map(|name| (*name).to_owned()).collect();
        let network = |text: &&str| Matcher::Network(text.parse().unwrap());
        let matchers = networks.iter().map(network).collect();
        self.change(|plan| plan.records.push((name.to_owned(), resources, matchers)))
    }

    pub(crate) fn system(&self, name: &str, load: f64, bandwidth: u64) {
        let state = self.states.system(&self.domain.name, name);
        state.set_load(load);
        state.set_bandwidth(bandwidth);
    }

    pub(crate) fn lus(&self, names: &[&str], status: LuStatus) {
        for name in names {
            self.states.lu(&self.domain.name, name).set_status(status);
        }
    }

    pub(crate) fn from(mut self, client: &str) -> Self {
        self.client = ip(client);
        self
    }

    /// Asks for a name below the domain, its labels in lower case.
    pub(crate) fn outcome(&self, name: &str, family: Option<Family>) -> Outcome {
        let mut wire = Vec::new();
        for label in name.split('.').filter(|label| !label.is_empty()) {
            wire.push(u8::try_from(label.len()).unwrap());
            wire.extend(label.bytes());
        }
        select(&self.domain, &wire, family, self.client, self.now)
    }

    /// Asks for IPv4; the system that was chosen.
    pub(crate) fn ask(&self, name: &str) -> Option<&str> {
        let Outcome::Address(address) = self.outcome(name, Some(Family::V4)) else { return None };
        let system = self.domain.systems.iter().find(|system| system.address == address);
        system.map(|system| system.name.as_str())
    }

    /// The tally of a system.
    pub(crate) fn system_tally(&self, name: &str) -> SystemTally {
        let place = self.domain.systems.iter().position(|system| system.name == name).unwrap();
        self.domain.tallies.lock().systems(self.domain.arrangement)[place].clone()
    }

    /// The tally of a user record.
    pub(crate) fn record_tally(&self, name: &str) -> RecordTally {
        let place = self.domain.records.iter().position(|record| record.name == name).unwrap();
        self.domain.tallies.lock().records(self.domain.arrangement)[place].clone()
    }
}

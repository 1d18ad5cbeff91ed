//! The statements of an SNA gateway domain, put together.

use hashbrown::HashMap;
use ipnet::IpNet;

use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::health::learned::LearnedAddresses;
use crate::sna::{Matcher, Plan};

/// A domain while its statements are read.
#[derive(Debug, Default)]
pub(super) struct SnaDraft {
    plan: Plan,
    /// Places in `plan.records` by name in lower case.
    records: HashMap<String, usize>,
}

impl SnaDraft {
    /// A domain without statements.
    pub(super) fn new(name: &str) -> Self {
        SnaDraft { plan: Plan { name: name.to_owned(), ..Plan::default() }, ..Self::default() }
    }

    /// Reads one statement of its block.
    pub(super) fn statement(
        &mut self,
        kept: Kept,
        reading: &Reading<'_>,
        learned: &LearnedAddresses,
    ) {
        let text = |name: &str| reading.text(name).map(str::to_owned);
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::SnaKeyword => self.plan.keyword = text("keyword"),
            Kept::SnaTtl => self.plan.ttl = reading.number("seconds"),
            Kept::SnaSystem => {
                self.plan.systems.extend(text("system").zip(reading.address("addr")));
            }
            Kept::SnaLu => {
                let lu = text("lu").zip(text("system"));
                self.plan.lus.extend(lu.map(|(lu, system)| (lu, system, text("pool"))));
            }
            Kept::SnaResources => {
                let resources = reading.texts("resource").map(str::to_owned).collect();
                if let Some((_, of_record, _)) = self.record(reading) {
                    *of_record = resources;
                }
            }
            Kept::SnaAddress => {
                let network = reading.address("addr").map(IpNet::from).or_else(|| {
                    let (address, length) = reading.prefix("prefix")?;
                    IpNet::new(address, length).ok()
                });
                if let Some((_, _, matchers)) = self.record(reading) {
                    matchers.extend(network.map(Matcher::Network));
                }
            }
            Kept::SnaHostname => {
                if let Some((_, _, matchers)) = self.record(reading) {
                    matchers.extend(text("fqdn").map(|name| Matcher::Hostname {
                        addresses: learned.of(&name).unwrap_or_default().addresses,
                        name,
                    }));
                }
            }
            _ => {}
        }
    }

    /// All that was read.
    pub(super) fn finish(self) -> Plan {
        self.plan
    }

    /// The user record that a statement belongs to; the first one makes it.
    fn record(
        &mut self,
        reading: &Reading<'_>,
    ) -> Option<&mut (String, Vec<String>, Vec<Matcher>)> {
        let name = reading.text("record")?;
        let next = self.plan.records.len();
        let place = *self.records.entry(name.to_ascii_lowercase()).or_insert(next);
        if place == next {
            self.plan.records.push((name.to_owned(), Vec::new(), Vec::new()));
        }
        self.plan.records.get_mut(place)
    }
}

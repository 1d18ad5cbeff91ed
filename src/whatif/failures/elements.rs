//! What can fail, and which addresses fail with it.

use std::net::IpAddr;

use hashbrown::{HashMap, HashSet};

use super::Element;
use crate::model::snapshot::{ServerId, Snapshot};

/// What can fail: sites, then site devices, then addresses of hosts.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// As they are told.
    pub(super) list: Vec<Element>,
    /// The devices that fail with each.
    pub(super) devices: Vec<Vec<ServerId>>,
    /// The addresses that fail with each.
    addresses: Vec<HashSet<IpAddr>>,
    /// The devices that report each VIP.
    reporters: HashMap<IpAddr, Vec<ServerId>>,
    /// Devices that hold a VIP together.
    pairs: Vec<Vec<ServerId>>,
}

impl Elements {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut elements = Elements::default();
        for (place, server) in snapshot.servers.iter().enumerate() {
            for vip in server.state.vips() {
                let reporters = elements.reporters.entry(vip.address).or_default();
                reporters.push(ServerId::from_index(place));
            }
        }
        elements.pairs = elements.reporters.values().filter(|all| all.len() > 1).cloned().collect();
        elements.pairs.sort_unstable();
        elements.pairs.dedup();
        let mut seen = HashSet::new();
        let listed = snapshot.hosts.iter().flat_map(|host| &host.addresses);
        let addresses: Vec<IpAddr> =
            listed.map(|address| address.ip).filter(|ip| seen.insert(*ip)).collect();
        for site in &snapshot.sites {
            elements.add("site", site.name.clone(), site.servers.clone(), &addresses);
        }
        for (place, server) in snapshot.servers.iter().enumerate() {
            let name = match &server.name {
                Some(name) => format!("{name} {}", server.address),
                None => server.address.to_string(),
            };
            elements.add("device", name, vec![ServerId::from_index(place)], &addresses);
        }
        for address in addresses {
            elements.list.push(Element {
                kind: "address",
                name: address.to_string(),
                addresses: vec![address],
            });
            elements.devices.push(Vec::new());
            elements.addresses.push(HashSet::from_iter([address]));
        }
        elements
    }

    fn add(
        &mut self,
        kind: &'static str,
        name: String,
        devices: Vec<ServerId>,
        addresses: &[IpAddr],
    ) {
        let fails = |address: &IpAddr| self.is_lost(*address, &devices);
        let addresses: Vec<IpAddr> = addresses.iter().copied().filter(fails).collect();
        self.addresses.push(addresses.iter().copied().collect());
        self.list.push(Element { kind, name, addresses });
        self.devices.push(devices);
    }

    /// Whether no other device is left that reports an address.
    fn is_lost(&self, address: IpAddr, devices: &[ServerId]) -> bool {
        let reporters = self.reporters.get(&address);
        reporters.is_some_and(|all| all.iter().all(|one| devices.contains(one)))
    }

    /// The devices that fail with these elements.
    pub(super) fn devices_of(&self, which: &[usize]) -> Vec<ServerId> {
        let mut devices: Vec<ServerId> =
            which.iter().flat_map(|&one| self.devices[one].iter().copied()).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// Whether an address fails with these elements, whose devices these are: of a pair of devices
    /// that hold a VIP together both must fail.
    pub(super) fn fails(&self, address: IpAddr, which: &[usize], devices: &[ServerId]) -> bool {
        which.iter().any(|&one| self.addresses[one].contains(&address))
            || self.is_lost(address, devices)
    }

    /// Whether one of these devices holds a VIP together with one that is none of them.
    pub(super) fn have_peers(&self, devices: &[ServerId]) -> bool {
        self.pairs.iter().any(|all| {
            let failed = all.iter().filter(|one| devices.contains(one)).count();
            failed > 0 && failed < all.len()
        })
    }

    /// How one of them is called.
    pub(super) fn name(&self, which: usize) -> String {
        format!("{} {}", self.list[which].kind, self.list[which].name)
    }

    /// Whether everything that fails with `inner` fails with `outer` anyhow, as a device does with
    /// its site.
    pub(super) fn contains(&self, outer: usize, inner: usize) -> bool {
        let is_nothing = self.devices[inner].is_empty() && self.addresses[inner].is_empty();
        !is_nothing
            && self.devices[inner].iter().all(|one| self.devices[outer].contains(one))
            && self.addresses[inner].is_subset(&self.addresses[outer])
    }
}

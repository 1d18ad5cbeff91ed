//! The statement tree to the device's own network: addresses, ports, VLANs, neighbours.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hashbrown::HashSet;

use crate::config::tree::{Block, Reading, Tree};
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::grammar::ports::PortSet;

/// The Ethernet ports of the device, numbered from 1: a model of ours.
pub const PORTS: u16 = 24;

/// The VLAN that every port belongs to at first.
pub const DEFAULT_VLAN: u16 = 1;

/// The device's own network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Management address and netmask of the device as a whole.
    pub address: Option<(IpAddr, IpAddr)>,
    /// Router to all other networks.
    pub gateway: Option<IpAddr>,
    /// Interfaces that have settings, in order of entry.
    pub interfaces: Vec<Interface>,
    /// VLANs by their numbers; the default VLAN is always there.
    pub vlans: BTreeMap<u16, Vlan>,
    /// Neighbours that the device must reach: the router, then real servers in order of entry.
    pub neighbours: Vec<IpAddr>,
    /// Neighbours whose hardware address was typed, in order of entry.
    pub static_neighbours: Vec<StaticNeighbour>,
}

/// A neighbour whose hardware address was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticNeighbour {
    /// Its address.
    pub address: IpAddr,
    /// Its hardware address.
    pub mac: String,
    /// The port that it is behind.
    pub port: String,
}

/// The kind of an interface, in the order in which displays list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterfaceKind {
    /// An Ethernet port.
    Ethernet,
    /// The management port.
    Management,
    /// A virtual Ethernet interface.
    Virtual,
    /// A loopback interface.
    Loopback,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its kind.
    pub kind: InterfaceKind,
    /// Its number, after slot and slash where there are slots.
    pub number: String,
    /// What describes it.
    pub name: Option<String>,
    /// Whether it is out of service.
    pub disabled: bool,
}

/// A VLAN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vlan {
    /// Its name.
    pub name: Option<String>,
    /// Ports that carry it with a tag.
    pub tagged: PortSet,
    /// Ports that carry it without a tag.
    pub untagged: PortSet,
    /// Whether the spanning tree runs.
    pub spanning_tree: bool,
}

impl Network {
    /// Reads the settings.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let mut network = Network::default();
        let name = Some("DEFAULT-VLAN".to_owned());
        network.vlans.insert(DEFAULT_VLAN, Vlan { name, spanning_tree: true, ..Vlan::default() });
        if let Some(gateway) = tree.global(grammar, Kept::IpDefaultGateway) {
            network.gateway = gateway.address("gateway");
            network.neighbours.extend(network.gateway);
        }
        for statement in tree.root.statements() {
            let block = statement.block.as_deref();
            network.statement(&Reading { grammar, statement }, block);
        }
        let mut seen = HashSet::new();
        network.neighbours.retain(|address| seen.insert(*address));
        network
    }

    /// Whether an address lies in the network of the device itself.
    pub fn is_near(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (Some((IpAddr::V4(own), IpAddr::V4(mask))), IpAddr::V4(address)) => {
                own.to_bits() & mask.to_bits() == address.to_bits() & mask.to_bits()
            }
            _ => false,
        }
    }

    fn statement(&mut self, reading: &Reading<'_>, block: Option<&Block>) {
        let text = |name: &str| reading.text(name).unwrap_or_default().to_owned();
        let number = || reading.number::<u64>("number").unwrap_or_default().to_string();
        match reading.kept() {
            Some(Kept::IpAddress) => {
                self.address = reading.address("ip").zip(reading.address("mask"));
            }
            Some(Kept::InterfaceEthernet) => {
                self.interface(reading, InterfaceKind::Ethernet, text("port"), block);
            }
            Some(Kept::InterfaceManagement) => {
                self.interface(reading, InterfaceKind::Management, number(), block);
            }
            Some(Kept::InterfaceVe) => {
                self.interface(reading, InterfaceKind::Virtual, number(), block);
            }
            Some(Kept::InterfaceLoopback) => {
                self.interface(reading, InterfaceKind::Loopback, number(), block);
            }
            Some(Kept::RealServer | Kept::CacheServer) => {
                self.neighbours.extend(reading.address("ip"));
            }
            Some(Kept::Arp) => {
                let (mac, port) = (text("mac"), text("port"));
                let found = reading.address("ip");
                let found = found.map(|address| StaticNeighbour { address, mac, port });
                self.static_neighbours.extend(found);
            }
            Some(Kept::Vlan) => self.vlan(reading, block),
            _ => {}
        }
    }

    fn interface(
        &mut self,
        reading: &Reading<'_>,
        kind: InterfaceKind,
        number: String,
        block: Option<&Block>,
    ) {
        let mut interface = Interface { kind, number, name: None, disabled: false };
        for statement in block.into_iter().flat_map(Block::statements) {
            let inner = Reading { grammar: reading.grammar, statement };
            match inner.kept() {
                Some(Kept::InterfaceName) => interface.name = inner.text("text").map(str::to_owned),
                Some(Kept::InterfaceDisable) => interface.disabled = true,
                _ => {}
            }
        }
        self.interfaces.push(interface);
    }

    fn vlan(&mut self, reading: &Reading<'_>, block: Option<&Block>) {
        let Some(id) = reading.number("id") else { return };
        let vlan = self.vlans.entry(id).or_default();
        if let Some(name) = reading.text("name") {
            vlan.name = Some(name.to_owned());
        }
        for statement in block.into_iter().flat_map(Block::statements) {
            let inner = Reading { grammar: reading.grammar, statement };
            let ports = || inner.text("ports").and_then(PortSet::parse).unwrap_or_default();
            match inner.kept() {
                Some(Kept::VlanTagged) => vlan.tagged = ports(),
                Some(Kept::VlanUntagged) => vlan.untagged = ports(),
                Some(Kept::VlanSpanningTree) => vlan.spanning_tree = !statement.negated,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    #[test]
    fn what_is_configured_is_found() {
        let grammar = Grammar::built_in().unwrap();
        let mut trees = Trees::default();
        let text = "\
server real rs1 192.0.2.31
!
server remote-name far 198.51.100.31
!
vlan 10 name WEB by port
 tagged ethe 1 to 4
 no spanning-tree
!
ip address 192.0.2.10 255.255.255.0
ip default-gateway 192.0.2.1
!
interface ethernet 3
 port-name uplink
 disable
!
interface ve 10
!
";
        let report = load::load(&grammar, &mut trees, text);
        assert!(report.rejected.is_empty(), "{:?}", report.rejected);
        let network = Network::read(&grammar, &trees.configuration);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(network.address, Some((ip("192.0.2.10"), ip("255.255.255.0"))));
        assert_eq!(network.neighbours, [ip("192.0.2.1"), ip("192.0.2.31")]);
        let uplink = &network.interfaces[0];
        assert_eq!((uplink.number.as_str(), uplink.disabled), ("3", true));
        assert_eq!(uplink.name.as_deref(), Some("uplink"));
        assert_eq!(network.interfaces[1].kind, InterfaceKind::Virtual);
        let vlan = &network.vlans[&10];
        assert_eq!(vlan.name.as_deref(), Some("WEB"));
        assert_eq!(vlan.tagged.to_string(), "ethe 1 to 4");
        assert!(!vlan.spanning_tree && network.vlans[&1].spanning_tree);
    }
}

//! `show arp`, `show ip`, `show interfaces brief`, `show vlan`: the device's own network.
//!
//! Words that client programs look for are those of the product line; columns are ours.

use std::net::IpAddr;

use hashbrown::HashSet;

use super::page::Page;
use super::table::{Block, Column};
use crate::grammar::ports::{Port, PortSet};
use crate::model::network::{DEFAULT_VLAN, Interface, InterfaceKind, Network, PORTS, Vlan};

/// Hardware addresses stand in the range that is set aside for documents (RFC 7042 section
/// 2.1.2). The last byte tells them apart: the device's own ones begin at 0.
fn hardware_address(last: u8) -> String {
    format!("0000.5e00.53{last:02x}")
}

/// The hardware address of a neighbour: the end of its own address, behind those of the device.
pub(super) fn neighbour(address: IpAddr) -> String {
    let last = match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    };
    hardware_address(last | 0x80)
}

const ARP: [Column; 6] = [
    Column::left(&["No."], 5),
    Column::left(&["IP Address"], 16),
    Column::left(&["MAC Address"], 14),
    Column::left(&["Type"], 8),
    Column::left(&["Age"], 4),
    Column::left(&["Port"], 4),
];

/// A neighbour as the device knows it.
struct Neighbour<'a> {
    address: IpAddr,
    /// Its hardware address; `None` as long as it does not answer.
    mac: Option<String>,
    port: &'a str,
    is_static: bool,
}

/// The port that the network of the device is behind.
const UPLINK: &str = "1";

/// The IPv4 neighbours: the router and the real servers, then those that were typed, which take the place
/// of others. `is_reachable` says whether one answers.
fn neighbours<'a>(
    network: &'a Network,
    is_reachable: &'a dyn Fn(IpAddr) -> bool,
) -> impl Iterator<Item = Neighbour<'a>> {
    let typed = &network.static_neighbours;
    let found = network.neighbours.iter().filter(move |address| {
        address.is_ipv4() && !typed.iter().any(|one| one.address == **address)
    });
    let found = found.map(move |address| Neighbour {
        address: *address,
        mac: is_reachable(*address).then(|| neighbour(*address)),
        port: UPLINK,
        is_static: false,
    });
    found.chain(typed.iter().map(|one| Neighbour {
        address: one.address,
        mac: Some(one.mac.clone()),
        port: &one.port,
        is_static: true,
    }))
}

/// `show arp`: the router, the real servers and static entries. What does not answer has no hardware
/// address.
pub fn arp(network: &Network, is_reachable: &dyn Fn(IpAddr) -> bool) -> String {
    let rows: Vec<[String; 6]> = neighbours(network, is_reachable)
        .enumerate()
        .map(|(index, found)| {
            let (kind, age) = if found.is_static { ("Static", "None") } else { ("Dynamic", "0") };
            [
                (index + 1).to_string(),
                found.address.to_string(),
                found.mac.unwrap_or_else(|| "None".to_owned()),
                kind.to_owned(),
                age.to_owned(),
                found.port.to_owned(),
            ]
        })
        .collect();
    let mut page = Page::default();
    page.line(format!("Total number of ARP entries: {}", rows.len()));
    page.block(0, &Block::new(&ARP, &rows));
    page.finish()
}

const MAC_ADDRESSES: [Column; 4] = [
    Column::left(&["MAC-Address"], 16),
    Column::left(&["Port"], 8),
    Column::left(&["Type"], 8),
    Column::left(&["VLAN"], 4),
];

/// `show mac-address`: the hardware addresses of the neighbours that answer.
pub fn mac_addresses(network: &Network, is_reachable: &dyn Fn(IpAddr) -> bool) -> String {
    let known = neighbours(network, is_reachable).filter_map(|found| {
        let kind = if found.is_static { "Static" } else { "Dynamic" };
        let port = Port::parse(found.port);
        let untagged = |vlan: &Vlan| port.is_some_and(|port| vlan.untagged.has(port));
        let vlan = network.vlans.iter().find(|(_, vlan)| untagged(vlan));
        let vlan = vlan.map_or(DEFAULT_VLAN, |(number, _)| *number);
        Some([found.mac?, found.port.to_owned(), kind.to_owned(), vlan.to_string()])
    });
    let mut rows: Vec<[String; 4]> = known.collect();
    // Several addresses may be those of one port.
    let mut seen = HashSet::new();
    rows.retain(|row| seen.insert(row[0].clone()));
    let mut page = Page::default();
    page.line(format!("Total active entries from all ports = {}", rows.len()));
    page.block(0, &Block::new(&MAC_ADDRESSES, &rows));
    page.finish()
}

const STATISTICS: [Column; 6] = [
    Column::left(&["Port"], 8),
    Column::right(&["In Packets"], 12),
    Column::right(&["Out Packets"], 12),
    Column::right(&["Trunk"], 6),
    Column::right(&["In Errors"], 10),
    Column::right(&["Out Errors"], 11),
];

/// `show statistics`: no packets pass, so every port has counted none.
pub fn statistics() -> String {
    let ports = (1..=PORTS).map(|port| port.to_string());
    let rows: Vec<[String; 6]> = ports
        .chain(std::iter::once("mgmt1".to_owned()))
        .map(|port| {
            let none = || "0".to_owned();
            [port, none(), none(), String::new(), none(), none()]
        })
        .collect();
    let mut page = Page::default();
    page.block(0, &Block::new(&STATISTICS, &rows));
    page.finish()
}

/// `show ip`, as a switch image prints it.
pub fn ip(network: &Network) -> String {
    let shown = |address: Option<IpAddr>| {
        address.map_or_else(|| "None".to_owned(), |address| address.to_string())
    };
    let mut page = Page::default();
    let mut line = |name: &str, value: String| page.line(format!("{name:<31}{value}"));
    line("Switch IP address:", shown(network.address.map(|(address, _)| address)));
    line("Subnet mask:", shown(network.address.map(|(_, mask)| mask)));
    line("Default router address:", shown(network.gateway));
    line("TFTP server address:", shown(None));
    line("Configuration filename:", shown(None));
    line("Image filename:", shown(None));
    page.finish()
}

const INTERFACES: [Column; 10] = [
    Column::left(&["Port"], 8),
    Column::left(&["Link"], 7),
    Column::left(&["State"], 7),
    Column::left(&["Dupl"], 4),
    Column::left(&["Speed"], 5),
    Column::left(&["Trunk"], 5),
    Column::left(&["Tag"], 3),
    Column::left(&["Priori"], 6),
    Column::left(&["MAC"], 14),
    Column::left(&["Name"], 0),
];

/// `show interfaces brief`. The ports of the device are up unless they are disabled.
pub fn interfaces_brief(network: &Network) -> String {
    let mut rows = Vec::new();
    for number in 1..=PORTS {
        let number = number.to_string();
        let set = network
            .interfaces
            .iter()
            .find(|one| one.kind == InterfaceKind::Ethernet && one.number == number);
        let plain =
            Interface { kind: InterfaceKind::Ethernet, number, name: None, disabled: false };
        rows.push(interface_row(set.unwrap_or(&plain), network, true));
    }
    let is_port = |interface: &Interface| {
        interface.kind == InterfaceKind::Ethernet
            && interface.number.parse().is_ok_and(|number| (1..=PORTS).contains(&number))
    };
    let mut others: Vec<&Interface> =
        network.interfaces.iter().filter(|interface| !is_port(interface)).collect();
    let management = Interface {
        kind: InterfaceKind::Management,
        number: "1".to_owned(),
        name: None,
        disabled: false,
    };
    if !others.iter().any(|interface| interface.kind == InterfaceKind::Management) {
        others.push(&management);
    }
    others.sort_by_key(|interface| interface.kind);
    for interface in others {
        // What the device has no port for is configured, but nothing is plugged in.
        let is_there = interface.kind != InterfaceKind::Ethernet;
        rows.push(interface_row(interface, network, is_there));
    }
    let mut page = Page::default();
    let block = Block::new(&INTERFACES, &rows);
    page.block(0, &block);
    page.finish()
}

fn interface_row(interface: &Interface, network: &Network, is_there: bool) -> [String; 10] {
    let prefix = match interface.kind {
        InterfaceKind::Ethernet => "",
        InterfaceKind::Management => "mgmt",
        InterfaceKind::Virtual => "ve",
        InterfaceKind::Loopback => "lb",
    };
    let is_physical = matches!(interface.kind, InterfaceKind::Ethernet | InterfaceKind::Management);
    let is_up = is_there && !interface.disabled;
    let (link, state) = match (interface.disabled, is_up) {
        (true, _) => ("Disable", "None"),
        (false, false) => ("Down", "None"),
        (false, true) => ("Up", "Forward"),
    };
    let (duplex, speed) = if is_physical && is_up { ("Full", "1G") } else { ("None", "None") };
    let is_tagged = interface.kind == InterfaceKind::Ethernet
        && Port::parse(&interface.number)
            .is_some_and(|port| network.vlans.values().any(|vlan| vlan.tagged.has(port)));
    let last = match interface.kind {
        InterfaceKind::Ethernet => interface.number.parse::<u8>().unwrap_or(0) & 0x7f,
        _ => 0,
    };
    [
        format!("{prefix}{}", interface.number),
        link.to_owned(),
        state.to_owned(),
        duplex.to_owned(),
        speed.to_owned(),
        "None".to_owned(),
        if is_tagged { "Yes" } else { "No" }.to_owned(),
        "level0".to_owned(),
        hardware_address(last),
        interface.name.clone().unwrap_or_default(),
    ]
}

/// `show vlan`, of one VLAN or of all; `None` if there is none of that number.
pub fn vlan(network: &Network, id: Option<u16>) -> Option<String> {
    let mut page = Page::default();
    if id.is_none() {
        page.line(format!("Total PORT-VLAN entries: {}", network.vlans.len()));
        page.line("Maximum PORT-VLAN entries: 4090");
    }
    let mut found = false;
    for (number, vlan) in &network.vlans {
        if id.is_none_or(|id| id == *number) {
            found = true;
            page.part();
            if *number == DEFAULT_VLAN {
                vlan_part(&mut page, *number, vlan, &left_over(network));
            } else {
                vlan_part(&mut page, *number, vlan, &vlan.untagged);
            }
        }
    }
    found.then(|| page.finish())
}

/// The ports of the default VLAN: those that no other one carries without a tag.
fn left_over(network: &Network) -> PortSet {
    let ports = Port::parse("1").zip(Port::parse(&PORTS.to_string()));
    let all = ports.map_or_else(PortSet::default, |(first, last)| PortSet::range(first, last));
    let others = network.vlans.iter().filter(|(number, _)| **number != DEFAULT_VLAN);
    others.fold(all, |left, (_, vlan)| left.without(&vlan.untagged))
}

fn vlan_part(page: &mut Page, number: u16, vlan: &Vlan, untagged: &PortSet) {
    let name = vlan.name.as_deref().unwrap_or("[None]");
    let tree = if vlan.spanning_tree { "On" } else { "Off" };
    page.line(format!("PORT-VLAN {number}, Name {name}, Priority level0, Spanning tree {tree}"));
    let ports = |ports: &PortSet| {
        if ports.is_empty() { "None".to_owned() } else { ports.to_string() }
    };
    page.line(format!(" Untagged Ports: {}", ports(untagged)));
    page.line(format!("   Tagged Ports: {}", ports(&vlan.tagged)));
    page.line("   Uplink Ports: None");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        let mut network = Network::default();
        network.vlans.insert(1, Vlan { spanning_tree: true, ..Vlan::default() });
        let ports = |text| PortSet::parse(text).unwrap();
        let (tagged, untagged) = (ports("ethe 1 to 4 ethe 7"), ports("ethe 5"));
        network.vlans.insert(
            10,
            Vlan { name: Some("WEB".to_owned()), tagged, untagged, spanning_tree: false },
        );
        network.neighbours =
            ["192.0.2.1", "192.0.2.31", "2001:db8::1"].map(|text| text.parse().unwrap()).to_vec();
        let port = |kind, number: &str, disabled| Interface {
            kind,
            number: number.to_owned(),
            name: Some("x".to_owned()),
            disabled,
        };
        network.interfaces = vec![
            port(InterfaceKind::Virtual, "10", false),
            port(InterfaceKind::Ethernet, "3", true),
            port(InterfaceKind::Ethernet, "2/1", false),
        ];
        network
    }

    #[test]
    fn neighbours_that_do_not_answer_have_no_hardware_address() {
        let down: IpAddr = "192.0.2.31".parse().unwrap();
        let expected = "\
Total number of ARP entries: 2
No.   IP Address       MAC Address    Type     Age  Port
1     192.0.2.1        0000.5e00.5381 Dynamic  0    1
2     192.0.2.31       None           Dynamic  0    1
";
        assert_eq!(arp(&network(), &|address| address != down), expected);
    }

    #[test]
    fn every_port_has_a_line() {
        let text = interfaces_brief(&network());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("Port     Link    State"), "{text}");
        assert_eq!(lines.len(), 1 + usize::from(PORTS) + 3);
        assert!(lines[3].starts_with("3        Disable None    None None"), "{text}");
        assert!(lines[3].ends_with("0000.5e00.5303 x") && lines[3].contains(" Yes "), "{text}");
        assert!(
            lines[5].starts_with("5        Up      Forward Full 1G") && lines[5].contains("No")
        );
        let names: Vec<&str> = lines[1 + usize::from(PORTS)..]
            .iter()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(names, ["2/1", "mgmt1", "ve10"]);
        assert!(lines[1 + usize::from(PORTS)].contains("Down"));
    }

    #[test]
    fn vlans_with_and_without_a_name() {
        let expected = "\
PORT-VLAN 10, Name WEB, Priority level0, Spanning tree Off
 Untagged Ports: ethe 5
   Tagged Ports: ethe 1 to 4 ethe 7
   Uplink Ports: None
";
        assert_eq!(vlan(&network(), Some(10)).unwrap(), expected);
        assert_eq!(vlan(&network(), Some(11)), None);
        let all = vlan(&network(), None).unwrap();
        assert!(all.starts_with("Total PORT-VLAN entries: 2\n"), "{all}");
        assert!(all.contains("\n\nPORT-VLAN 1, Name [None], Priority level0, Spanning tree On\n"));
        assert!(all.contains(" Untagged Ports: ethe 1 to 4 ethe 6 to 24\n"));
    }

    #[test]
    fn addresses_that_are_not_set() {
        let text = ip(&Network::default());
        assert!(text.starts_with("Switch IP address:             None\n"), "{text}");
    }
}

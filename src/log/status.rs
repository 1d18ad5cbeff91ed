//! Messages about addresses, site devices, real servers and ports that come up and go down.
//!
//! Nothing is watched while answers are made. When somebody looks, what the snapshot says now is
//! held against what it said then, which costs as much as making the snapshot did.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::health::state::{Connection, States};
use crate::model::balancing::{RealServer, ServerHealth};
use crate::model::logging::LogLevel;
use crate::model::network::{InterfaceKind, Network, PORTS};
use crate::model::snapshot::{Application, Snapshot};
use crate::show::PRODUCT_WORD;

/// What was known when somebody looked last.
#[derive(Debug, Default)]
pub struct StatusWatch {
    zones: HashMap<String, HashMap<IpAddr, AddressStatus>>,
    servers: HashMap<IpAddr, bool>,
    real_servers: HashMap<String, RealStatus>,
    /// Interfaces that are up; nothing before somebody has looked.
    interfaces: Option<BTreeSet<(InterfaceKind, InterfaceNumber)>>,
}

/// A message with its level.
pub type StatusMessage = (LogLevel, String);

/// Slot and number of an interface, so that 2 comes before 10.
type InterfaceNumber = SmallVec<[u16; 2]>;

/// Whether a real server answers, and its ports that pass their checks.
#[derive(Debug, Default, PartialEq, Eq)]
struct RealStatus {
    up: bool,
    ports: SmallVec<[Application; 4]>,
}

/// Well-known ports that are checked over UDP, as their services run there: DNS, TFTP, NTP, SNMP
/// and RADIUS with its old number (base-cli 5.4).
const UDP_PORTS: [u16; 6] = [53, 69, 123, 161, 1645, 1812];

/// Whether an address of a zone passes its checks. Several hosts may share it.
#[derive(Debug, Default, PartialEq, Eq)]
struct AddressStatus {
    up: bool,
    ports: SmallVec<[(Application, bool); 2]>,
}

impl StatusWatch {
    /// Takes note of the present state; gives what changed, as messages in the order of the
    /// configuration (GSLB guide p. 187), ports of the device first.
    pub fn look(
        &mut self,
        snapshot: &Snapshot,
        states: &States,
        network: &Network,
    ) -> Vec<StatusMessage> {
        let mut messages = self.look_at_interfaces(network);
        let mut balancing = self.look_at_real_servers(snapshot, states);
        balancing.append(&mut self.look_at_gslb(snapshot));
        messages.extend(balancing.into_iter().map(|text| (LogLevel::Notification, text)));
        messages
    }

    fn look_at_gslb(&mut self, snapshot: &Snapshot) -> Vec<String> {
        let mut messages = Vec::new();
        self.look_at_servers(snapshot, &mut messages);
        let mut zones = HashMap::with_capacity(snapshot.zones.len());
        for zone in &snapshot.zones {
            let mut addresses: HashMap<IpAddr, AddressStatus> = HashMap::new();
            let mut order = Vec::new();
            for host in zone.hosts.iter().map(|host| &snapshot.hosts[host.index()]) {
                for address in &host.addresses {
                    let status = addresses.entry(address.ip).or_insert_with(|| {
                        order.push(address.ip);
                        AddressStatus { up: true, ports: SmallVec::new() }
                    });
                    // An address is up only if all ports of all its applications are.
                    status.up &= host.is_healthy(address);
                    for application in &host.applications {
                        if !status.ports.iter().any(|(known, _)| known == application) {
                            let up = address.state.passes(&[*application]);
                            status.ports.push((*application, up));
                        }
                    }
                }
            }
            let before = self.zones.get(&zone.name);
            for ip in order {
                let old = before.and_then(|addresses| addresses.get(&ip));
                addresses[&ip].say(ip, &zone.name, old, &mut messages);
            }
            zones.insert(zone.name.clone(), addresses);
        }
        self.zones = zones;
        messages
    }

    /// Forgets everything, as a restart does.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Only changes are told: a device that starts does not list the ports that it has.
    fn look_at_interfaces(&mut self, network: &Network) -> Vec<StatusMessage> {
        let mut up: BTreeSet<(InterfaceKind, InterfaceNumber)> =
            (1..=PORTS).map(|port| (InterfaceKind::Ethernet, smallvec![port])).collect();
        up.insert((InterfaceKind::Management, smallvec![1]));
        for interface in &network.interfaces {
            let parts = interface.number.split('/').filter_map(|part| part.parse().ok());
            let place = (interface.kind, parts.collect());
            // A port that the device has not is never up, whatever is configured for it.
            let is_there = interface.kind != InterfaceKind::Ethernet || up.contains(&place);
            if interface.disabled || !is_there {
                up.remove(&place);
            } else {
                up.insert(place);
            }
        }
        let messages = self.interfaces.as_ref().map_or_else(Vec::new, |before| {
            let changed = before.symmetric_difference(&up);
            changed.map(|place| interface_message(place, up.contains(place))).collect()
        });
        self.interfaces = Some(up);
        messages
    }

    fn look_at_real_servers(&mut self, snapshot: &Snapshot, states: &States) -> Vec<String> {
        let mut messages = Vec::new();
        let mut servers = HashMap::with_capacity(snapshot.balancing.real.len());
        for (place, server) in snapshot.balancing.real.iter().enumerate() {
            let Some(address) = server.address else { continue };
            let passes = |port| {
                let health = snapshot.balancing.port_health(states, place, port);
                health == ServerHealth::Active
            };
            let ports = server.ports.iter().filter(|port| passes(port));
            let present = RealStatus {
                up: server.health(states, None) == ServerHealth::Active,
                ports: ports.map(|port| port.application).collect(),
            };
            let before = self.real_servers.get(&server.name);
            present.say(address, server, before, &mut messages);
            servers.insert(server.name.clone(), present);
        }
        self.real_servers = servers;
        messages
    }

    fn look_at_servers(&mut self, snapshot: &Snapshot, messages: &mut Vec<String>) {
        let mut servers = HashMap::with_capacity(snapshot.servers.len());
        for server in &snapshot.servers {
            let up = server.is_self || server.state.connection() == Connection::Established;
            servers.insert(server.address, up);
            // A device that has never been there has not gone down.
            if self.servers.get(&server.address).copied().unwrap_or(false) == up {
                continue;
            }
            let site = &snapshot.sites[server.site.index()].name;
            let name = server.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            let (address, word) = (server.address, word(up));
            messages.push(format!(
                "L4 gslb connection to site {site} {PRODUCT_WORD} {address}{name} is {word}"
            ));
        }
        self.servers = servers;
    }
}

impl AddressStatus {
    fn say(&self, ip: IpAddr, zone: &str, old: Option<&Self>, messages: &mut Vec<String>) {
        let about = || format!("L4 gslb health-check {ip} of {zone}");
        let known = |application| {
            let ports = old.into_iter().flat_map(|old| &old.ports);
            ports.into_iter().find(|(port, _)| *port == application).map(|(_, up)| *up)
        };
        for (application, up) in &self.ports {
            if known(*application) != Some(*up) {
                messages.push(format!("{} port {} is {}", about(), application.0, word(*up)));
            }
        }
        if old.map(|old| old.up) != Some(self.up) {
            messages.push(format!("{} status changed to {}", about(), word(self.up)));
        }
    }
}

impl RealStatus {
    fn say(
        &self,
        address: IpAddr,
        server: &RealServer,
        old: Option<&Self>,
        messages: &mut Vec<String>,
    ) {
        let about = format!("L4 server {address} {}", server.name);
        // A server that has never answered has not gone down.
        if old.is_some_and(|old| old.up) != self.up {
            messages.push(format!("{about} is {}", word(self.up)));
        }
        let had = |port: Application| old.is_some_and(|old| old.ports.contains(&port));
        for port in server.ports.iter().map(|port| port.application) {
            let up = self.ports.contains(&port);
            if had(port) != up {
                let protocol = if UDP_PORTS.contains(&port.0) { "UDP" } else { "TCP" };
                messages.push(format!("{about} {protocol} port {} is {}", port.0, word(up)));
            }
        }
    }
}

/// In the words of the family; a port of the management processor has a name of its own.
fn interface_message((kind, number): &(InterfaceKind, InterfaceNumber), up: bool) -> StatusMessage {
    let kind = match kind {
        InterfaceKind::Ethernet => "ethernet",
        InterfaceKind::Management => "management",
        InterfaceKind::Virtual => "ve",
        InterfaceKind::Loopback => "loopback",
    };
    let number: Vec<String> = number.iter().map(ToString::to_string).collect();
    let text = format!("System: Interface {kind} {}, state {}", number.join("/"), word(up));
    (LogLevel::Informational, text)
}

fn word(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::appliance::Appliance;
    use crate::clock::DrivenClock;

    const CONFIGURATION: &str = "\
gslb site one
 si-name slb-1 192.0.2.1
gslb dns zone b.c
 host-info a http
 host-info a ssl
 host-info a ip-list 192.0.2.10
 host-info a ip-list 192.0.2.11
 host-info d http
 host-info d ip-list 192.0.2.10
";

    fn texts(watch: &mut StatusWatch, appliance: &Appliance) -> Vec<String> {
        let network = {
            let configuration = appliance.configuration();
            Network::read(&appliance.grammar, &configuration.trees.configuration)
        };
        let messages = watch.look(&appliance.current(), &appliance.states, &network);
        messages.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn servers_and_interfaces_come_and_go() {
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        let servers = "\
server real kandrew 192.0.2.59
 port http
 port dns
 port ftp
server virtual vip1 192.0.2.100
 port http
 port dns
 bind http kandrew http
 bind dns kandrew dns
interface ethernet 2
 disable
";
        appliance.start_with(servers);
        let mut watch = StatusWatch::default();
        let about = "L4 server 192.0.2.59 kandrew";
        assert_eq!(
            texts(&mut watch, &appliance),
            [
                format!("{about} is up"),
                format!("{about} UDP port 53 is up"),
                format!("{about} TCP port 80 is up"),
            ],
            "a port that nothing is bound to is not checked"
        );
        let ip = "192.0.2.59".parse().unwrap();
        appliance.states.address(ip).set_up(Some(Application(80)), false);
        assert_eq!(texts(&mut watch, &appliance), [format!("{about} TCP port 80 is down")]);
        appliance.states.address(ip).set_up(None, false);
        assert_eq!(
            texts(&mut watch, &appliance),
            [format!("{about} is down"), format!("{about} UDP port 53 is down")]
        );
        let interfaces = "\
interface ethernet 2
 enable
interface ethernet 10
 disable
interface ethernet 40
interface ve 7
";
        assert!(appliance.add_to_running(interfaces).is_empty());
        assert_eq!(
            texts(&mut watch, &appliance),
            [
                "System: Interface ethernet 2, state up",
                "System: Interface ethernet 10, state down",
                "System: Interface ve 7, state up",
            ]
        );
    }

    #[test]
    fn what_changes_is_said_once() {
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.start_with(CONFIGURATION);
        let snapshot = appliance.current();
        let mut watch = StatusWatch::default();
        assert_eq!(
            texts(&mut watch, &appliance),
            [
                "L4 gslb connection to site one ServerIronADX 192.0.2.1 slb-1 is up",
                "L4 gslb health-check 192.0.2.10 of b.c port 80 is up",
                "L4 gslb health-check 192.0.2.10 of b.c port 443 is up",
                "L4 gslb health-check 192.0.2.10 of b.c status changed to up",
                "L4 gslb health-check 192.0.2.11 of b.c port 80 is up",
                "L4 gslb health-check 192.0.2.11 of b.c port 443 is up",
                "L4 gslb health-check 192.0.2.11 of b.c status changed to up",
            ]
        );
        assert!(texts(&mut watch, &appliance).is_empty());
        snapshot.hosts[0].addresses[0].state.set_up(Some(Application(443)), false);
        snapshot.servers[0].state.set_connection(Connection::Down);
        assert_eq!(
            texts(&mut watch, &appliance),
            [
                "L4 gslb connection to site one ServerIronADX 192.0.2.1 slb-1 is down",
                "L4 gslb health-check 192.0.2.10 of b.c port 443 is down",
                "L4 gslb health-check 192.0.2.10 of b.c status changed to down",
            ]
        );
        assert!(texts(&mut watch, &appliance).is_empty());
        watch.clear();
        assert_eq!(
            texts(&mut watch, &appliance).len(),
            6,
            "a device that is not there is not mentioned"
        );
    }
}

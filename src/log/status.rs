//! Messages about addresses and site devices that come up and go down.
//!
//! Nothing is watched while answers are made. When somebody looks, what the snapshot says now is
//! held against what it said then, which costs as much as making the snapshot did.

use std::net::IpAddr;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::health::state::Connection;
use crate::model::snapshot::{Application, Snapshot};
use crate::show::PRODUCT_WORD;

/// What was known when somebody looked last.
#[derive(Debug, Default)]
pub struct StatusWatch {
    zones: HashMap<String, HashMap<IpAddr, AddressStatus>>,
    servers: HashMap<IpAddr, bool>,
}

/// Whether an address of a zone passes its checks. Several hosts may share it.
#[derive(Debug, Default, PartialEq, Eq)]
struct AddressStatus {
    up: bool,
    ports: SmallVec<[(Application, bool); 2]>,
}

impl StatusWatch {
    /// Takes note of the present state; gives what changed, as messages in the order of the
    /// configuration (GSLB guide p. 187).
    pub fn look(&mut self, snapshot: &Snapshot) -> Vec<String> {
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

    #[test]
    fn what_changes_is_said_once() {
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.start_with(CONFIGURATION);
        let snapshot = appliance.current();
        let mut watch = StatusWatch::default();
        assert_eq!(
            watch.look(&snapshot),
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
        assert!(watch.look(&snapshot).is_empty());
        snapshot.hosts[0].addresses[0].state.set_up(Some(Application(443)), false);
        snapshot.servers[0].state.set_connection(Connection::Down);
        assert_eq!(
            watch.look(&snapshot),
            [
                "L4 gslb connection to site one ServerIronADX 192.0.2.1 slb-1 is down",
                "L4 gslb health-check 192.0.2.10 of b.c port 443 is down",
                "L4 gslb health-check 192.0.2.10 of b.c status changed to down",
            ]
        );
        assert!(watch.look(&snapshot).is_empty());
        watch.clear();
        assert_eq!(watch.look(&snapshot).len(), 6, "a device that is not there is not mentioned");
    }
}

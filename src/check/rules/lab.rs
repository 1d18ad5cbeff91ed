//! The appliances of a lab: what each would be alone, and does not fit the others.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::check::places::Places;
use crate::check::rule::{Found, Rule, Severity};
use crate::config::render::port_name;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::grammar::value::Value;
use crate::model::balancing::VirtualServer;
use crate::model::snapshot::{Application, SiteServer, Snapshot};

/// A configuration of a lab, with the reports of the others in it.
#[derive(Debug)]
pub(in crate::check) struct Member {
    /// Name of its file.
    pub(in crate::check) name: String,
    /// Its meaning.
    pub(in crate::check) snapshot: Arc<Snapshot>,
    /// Where each statement stands in the file.
    pub(in crate::check) places: Places,
}

/// What the rules about several files look at.
#[derive(Debug)]
pub(in crate::check) struct LabSubject<'a> {
    /// The grammar that read them.
    pub(in crate::check) grammar: &'a Grammar,
    /// The configurations in the order of their names.
    pub(in crate::check) members: &'a [Member],
}

/// Something in one of the files, by its place.
type Finds = Vec<(usize, &'static Rule, Found)>;

/// Looks for everything.
pub(in crate::check) fn look(subject: &LabSubject<'_>) -> Finds {
    let mut finds = Vec::new();
    no_controller(subject, &mut finds);
    site_devices(subject, &mut finds);
    unused_site_devices(subject, &mut finds);
    addresses(subject, &mut finds);
    vips(subject, &mut finds);
    applications(subject, &mut finds);
    host_names(subject, &mut finds);
    finds
}

/// Nobody chooses.
pub(in crate::check) static NO_CONTROLLER: Rule = Rule {
    name: "no-controller",
    severity: Severity::Warning,
    summary: "No appliance of the lab has sites, so none of them is a controller.",
    evidence: "decisions 8.1",
    look: None,
};

fn no_controller(subject: &LabSubject<'_>, finds: &mut Finds) {
    if subject.members.iter().all(|member| member.snapshot.sites.is_empty()) {
        finds.push((0, &NO_CONTROLLER, Found::new(None, "no file has a gslb site")));
    }
}

/// A site device that is nobody.
pub(in crate::check) static UNKNOWN_SITE_DEVICE: Rule = Rule {
    name: "unknown-site-device",
    severity: Severity::Warning,
    summary: "No appliance of the lab has the address of a site device, so it never connects.",
    evidence: "decisions 8.1",
    look: None,
};

/// A site device that does not answer.
pub(in crate::check) static PROTOCOL_OFF: Rule = Rule {
    name: "protocol-off",
    severity: Severity::Warning,
    summary: "The appliance is a site device and does not speak the GSLB protocol.",
    evidence: "decisions 8.1; GSLB guide p. 6",
    look: None,
};

/// A site device that listens elsewhere.
pub(in crate::check) static PROTOCOL_PORT_DIFFERS: Rule = Rule {
    name: "protocol-port-differs",
    severity: Severity::Warning,
    summary: "Controller and site device use different TCP ports for the GSLB protocol.",
    evidence: "GSLB guide p. 30",
    look: None,
};

fn site_devices(subject: &LabSubject<'_>, finds: &mut Finds) {
    let owners = owners(subject);
    for (place, member) in subject.members.iter().enumerate() {
        for server in &member.snapshot.servers {
            let line = device_line(member, server);
            let Some(owner) = owners.get(&server.address).map(|owners| owners[0]) else {
                if server.state.vips().is_empty() {
                    let message = format!("no appliance of the lab has {}", server.address);
                    finds.push((place, &UNKNOWN_SITE_DEVICE, Found::new(line, message)));
                }
                continue;
            };
            if owner == place {
                continue;
            }
            let device = &subject.members[owner];
            if !device.snapshot.speaks_protocol {
                let message = format!("a site device of {}, but no gslb protocol", member.name);
                finds.push((owner, &PROTOCOL_OFF, Found::new(None, message)));
            }
            let port = |member: &Member| member.snapshot.protocol_port.configured;
            let ports = (port(member), port(device));
            if ports.0 != ports.1 {
                let message = format!(
                    "{}: GSLB protocol on TCP port {}, here on {}",
                    device.name, ports.1, ports.0
                );
                finds.push((place, &PROTOCOL_PORT_DIFFERS, Found::new(line, message)));
            }
        }
    }
}

/// An appliance that nobody asks.
pub(in crate::check) static UNUSED_SITE_DEVICE: Rule = Rule {
    name: "unused-site-device",
    severity: Severity::Warning,
    summary: "The appliance speaks the GSLB protocol and no controller has it as a site device.",
    evidence: "decisions 8.1",
    look: None,
};

fn unused_site_devices(subject: &LabSubject<'_>, finds: &mut Finds) {
    let servers = subject.members.iter().flat_map(|member| &member.snapshot.servers);
    let used: HashSet<IpAddr> = servers.map(|server| server.address).collect();
    if used.is_empty() {
        return;
    }
    for (place, member) in subject.members.iter().enumerate() {
        let snapshot = &member.snapshot;
        let is_used = snapshot.own_addresses.iter().any(|address| used.contains(address));
        if snapshot.speaks_protocol && snapshot.sites.is_empty() && !is_used {
            let line = member.places.line(Kept::Protocol, &[]);
            let message = "no controller names one of its addresses";
            finds.push((place, &UNUSED_SITE_DEVICE, Found::new(line, message)));
        }
    }
}

/// An address that two appliances have.
pub(in crate::check) static ADDRESS_OF_TWO_DEVICES: Rule = Rule {
    name: "address-of-two-devices",
    severity: Severity::Warning,
    summary: "Two appliances have the same address; the first one by name counts.",
    evidence: "decisions 8.1",
    look: None,
};

fn addresses(subject: &LabSubject<'_>, finds: &mut Finds) {
    for (address, owners) in owners(subject) {
        for place in &owners[1..] {
            let member = &subject.members[*place];
            let is_address = |value: &Value| value.address() == Some(address);
            let kinds = [Kept::IpAddress, Kept::InterfaceAddress];
            let lines = kinds
                .into_iter()
                .filter_map(|kept| member.places.first_with(kept, &[], is_address));
            let message =
                format!("{address} is an address of {} too", subject.members[owners[0]].name);
            finds.push((*place, &ADDRESS_OF_TWO_DEVICES, Found::new(lines.min(), message)));
        }
    }
}

/// A VIP that two appliances hold.
pub(in crate::check) static VIP_OF_TWO_DEVICES: Rule = Rule {
    name: "vip-of-two-devices",
    severity: Severity::Warning,
    summary: "Appliances that are no pair hold one VIP: in two sites, or without a sym-priority.",
    evidence: "decisions 3.6; GSLB guide p. 157",
    look: None,
};

fn vips(subject: &LabSubject<'_>, finds: &mut Finds) {
    let mut first: HashMap<IpAddr, (usize, &VirtualServer)> = HashMap::new();
    for (place, member) in subject.members.iter().enumerate() {
        for server in &member.snapshot.balancing.virtual_ {
            let Some(address) = server.address else { continue };
            let Some((holder, other)) = first.get(&address).copied() else {
                first.insert(address, (place, server));
                continue;
            };
            let sites = (site_of(subject, holder), site_of(subject, place));
            let is_pair = |server: &VirtualServer| {
                server.symmetric_active || server.symmetric_priority.is_some()
            };
            let why = match sites {
                (Some(one), Some(two)) if one != two => format!("in sites {one} and {two}"),
                _ if !is_pair(server) || !is_pair(other) => "and no pair".to_owned(),
                _ => continue,
            };
            let name = &subject.members[holder].name;
            let line = member.places.line(Kept::VirtualServer, &[&server.name]);
            let message = format!("{address} is a VIP of {name} too, {why}");
            finds.push((place, &VIP_OF_TWO_DEVICES, Found::new(line, message)));
        }
    }
}

/// The site that the first controller gives an appliance.
fn site_of<'a>(subject: &LabSubject<'a>, place: usize) -> Option<&'a str> {
    let own = &subject.members[place].snapshot.own_addresses;
    let snapshots = subject.members.iter().map(|member| &member.snapshot);
    let found = snapshots.filter_map(|snapshot| {
        let server = snapshot.servers.iter().find(|server| own.contains(&server.address))?;
        Some(snapshot.sites[server.site.index()].name.as_str())
    });
    found.into_iter().next()
}

/// An application that nothing listens for.
pub(in crate::check) static APPLICATION_NOT_AT_VIP: Rule = Rule {
    name: "application-not-at-vip",
    severity: Severity::Warning,
    summary: "A host is checked for an application that its VIP has no port for, so it is down.",
    evidence: "decisions 8.6",
    look: None,
};

fn applications(subject: &LabSubject<'_>, finds: &mut Finds) {
    let mut ports: HashMap<IpAddr, (HashSet<Application>, bool)> = HashMap::new();
    for server in subject.members.iter().flat_map(|member| &member.snapshot.balancing.virtual_) {
        if let Some(address) = server.address {
            let (ports, serves_all) = ports.entry(address).or_default();
            ports.extend(server.ports.iter().map(|port| port.application));
            *serves_all |= server.serves_all;
        }
    }
    for (place, member) in subject.members.iter().enumerate() {
        for host in &member.snapshot.hosts {
            let zone = &member.snapshot.zones[host.zone.index()].name;
            for address in &host.addresses {
                let Some((ports, false)) = ports.get(&address.ip) else { continue };
                for application in host.applications.iter().filter(|one| !ports.contains(*one)) {
                    let line =
                        member.places.line(Kept::HostAddress, &[zone, &host.name(), &address.ip]);
                    let name = port_name(subject.grammar, *application);
                    let message = format!(
                        "{} of {}: the VIP has no port {name}",
                        address.ip, host.domain_name
                    );
                    finds.push((place, &APPLICATION_NOT_AT_VIP, Found::new(line, message)));
                }
            }
        }
    }
}

/// Two appliances of one name.
pub(in crate::check) static SAME_HOST_NAME: Rule = Rule {
    name: "same-host-name",
    severity: Severity::Warning,
    summary: "Two appliances have the same host name, so their prompts are the same.",
    evidence: "decisions 6.3",
    look: None,
};

fn host_names(subject: &LabSubject<'_>, finds: &mut Finds) {
    let mut known: HashMap<String, &str> = HashMap::new();
    for (place, member) in subject.members.iter().enumerate() {
        let name = member.snapshot.device_name.to_ascii_lowercase();
        if let Some(other) = known.get(&name) {
            let message = format!("{other} has the host name {name} too");
            let line = member.places.line(Kept::Hostname, &[]);
            finds.push((place, &SAME_HOST_NAME, Found::new(line, message)));
        } else {
            known.insert(name, &member.name);
        }
    }
}

/// The appliances that have each address, in the order of their names.
fn owners(subject: &LabSubject<'_>) -> HashMap<IpAddr, Vec<usize>> {
    let mut owners: HashMap<IpAddr, Vec<usize>> = HashMap::new();
    for (place, member) in subject.members.iter().enumerate() {
        for address in &member.snapshot.own_addresses {
            let known = owners.entry(*address).or_default();
            if known.last() != Some(&place) {
                known.push(place);
            }
        }
    }
    owners
}

fn device_line(member: &Member, server: &SiteServer) -> Option<usize> {
    let site = &member.snapshot.sites[server.site.index()].name;
    member.places.line(Kept::Si, &[site, &server.address])
}

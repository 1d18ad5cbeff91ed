//! VIPs of a lab: who holds each of them, and whether it would pass the checks of a controller.

use std::net::IpAddr;

use hashbrown::HashMap;

use crate::health::state::States;
use crate::model::snapshot::{Application, Snapshot};

/// An appliance of the lab as the others see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Device<'a> {
    /// What it is configured to be.
    pub(super) snapshot: &'a Snapshot,
    /// Whether it is on: nobody said that one of its own addresses is down.
    pub(super) is_on: bool,
}

impl<'a> Device<'a> {
    /// An appliance as its own addresses are.
    pub(super) fn of(snapshot: &'a Snapshot, states: &States) -> Self {
        let is_on = snapshot.own_addresses.iter().all(|address| states.is_reachable(*address));
        Device { snapshot, is_on }
    }
}

/// Which appliance of a pair holds each VIP, by its place.
pub(super) type Holders = HashMap<IpAddr, Holder>;

/// Who holds a VIP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    place: usize,
    priority: u8,
}

/// Who holds each VIP that has a priority (`sym-priority`): of the appliances that are on the one
/// with the highest, among equals the first.
pub(super) fn holders(devices: &[Device<'_>]) -> Holders {
    let mut holders = Holders::new();
    for (place, device) in devices.iter().enumerate().filter(|(_, device)| device.is_on) {
        for server in device
            .snapshot
            .balancing
            .virtual_
            .iter()
            .filter(|one| !one.disabled && !one.symmetric_active)
        {
            let (Some(address), Some(priority)) = (server.address, server.symmetric_priority)
            else {
                continue;
            };
            let holder = holders.entry(address).or_insert(Holder { place, priority });
            if priority > holder.priority {
                *holder = Holder { place, priority };
            }
        }
    }
    holders
}

/// Whether the appliance at a place leaves a VIP to its partner.
pub(super) fn is_standby(holders: &Holders, vip: IpAddr, place: usize) -> bool {
    holders.get(&vip).is_some_and(|holder| holder.place != place)
}

/// Whether each application of each VIP passes its checks.
pub(super) type VipHealth = HashMap<(IpAddr, Application), bool>;

/// Whether the applications of the VIPs of a lab pass their checks: the VIP and the port are in
/// service at an appliance that is on, and a real server behind is up. An application that hosts
/// are checked for and that no carrier of their VIP has a port for fails.
pub(super) fn health(devices: &[Device<'_>], states: &States) -> VipHealth {
    let mut health = VipHealth::new();
    let mut serves_all: HashMap<IpAddr, bool> = HashMap::new();
    for Device { snapshot, is_on } in devices {
        let balancing = &snapshot.balancing;
        for server in &balancing.virtual_ {
            let Some(address) = server.address else { continue };
            let serves = *is_on && !server.disabled;
            *serves_all.entry(address).or_default() |= serves && server.serves_all;
            for port in &server.ports {
                let is_up = serves
                    && !port.disabled
                    && balancing.active_bindings(states, server, port.application) > 0;
                *health.entry((address, port.application)).or_default() |= is_up;
            }
        }
    }
    for host in devices.iter().flat_map(|device| &device.snapshot.hosts) {
        for address in &host.addresses {
            if let Some(serves_all) = serves_all.get(&address.ip) {
                for application in &host.applications {
                    health.entry((address.ip, *application)).or_insert(*serves_all);
                }
            }
        }
    }
    health
}

/// Enters what is other than before. A VIP that nobody carries any more is an address like any other.
pub(super) fn tell(states: &States, told: &mut VipHealth, new: VipHealth) {
    for ((vip, application), _) in told.iter().filter(|(key, _)| !new.contains_key(*key)) {
        states.address(*vip).unsay(Some(*application));
    }
    for ((vip, application), is_up) in &new {
        let state = states.address(*vip);
        let is_new = match told.get(&(*vip, *application)) {
            Some(before) => before != is_up,
            // What was said before somebody carried the VIP stays until that is down.
            None => !is_up || !state.is_said(*application),
        };
        if is_new {
            state.set_up(Some(*application), *is_up);
        }
    }
    *told = new;
}

//! `show server bind` (gslb-show 16.3).

use super::page::Page;
use super::server_real::word;
use crate::health::state::States;
use crate::model::balancing::{Binding, VirtualServer};
use crate::model::snapshot::Snapshot;
use crate::show::PortNames;

/// Where the names of real servers stand.
const INDENT: usize = 8;

/// `show server bind`: each virtual server with what its ports are bound to.
pub fn server_bind(snapshot: &Snapshot, states: &States, names: PortNames<'_>) -> String {
    let mut page = Page::default();
    page.line("Bind info");
    for server in &snapshot.balancing.virtual_ {
        page.line("");
        let said = if server.disabled { "disabled" } else { "enabled" };
        let address =
            server.address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
        page.line(format!("Virtual server: {:<20}Status: {said}  IP: {address}", server.name));
        ports(&mut page, snapshot, states, names, server);
    }
    page.finish()
}

fn ports(
    page: &mut Page,
    snapshot: &Snapshot,
    states: &States,
    names: PortNames<'_>,
    server: &VirtualServer,
) {
    for port in &server.ports {
        let arrow = format!("{} -------> ", names(port.application));
        let bindings = server.bindings.iter().filter(|one| one.port == port.application);
        for (place, binding) in bindings.enumerate() {
            let blanks = " ".repeat(arrow.len());
            let begin = if place == 0 { &arrow } else { &blanks };
            page.indented(INDENT, &format!("{begin}{}", bound(snapshot, states, names, binding)));
        }
    }
}

fn bound(snapshot: &Snapshot, states: &States, names: PortNames<'_>, binding: &Binding) -> String {
    let balancing = &snapshot.balancing;
    let real = binding.real.map(|real| &balancing.real[real]);
    let address = real.and_then(|real| real.address);
    let address = address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
    let health = word(balancing.binding_health(states, binding));
    format!("{}: {address},  {} ({health})", binding.name, names(binding.real_port))
}

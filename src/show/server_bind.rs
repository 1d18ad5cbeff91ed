//! `show server bind` (gslb-show 16.3).

use std::net::IpAddr;

use super::page::Page;
use super::server_real::word;
use crate::health::sessions::{Ending, Flow, SessionView};
use crate::health::state::States;
use crate::model::balancing::{Binding, ServerHealth, VirtualServer};
use crate::model::snapshot::{Application, Snapshot};
use crate::show::PortNames;

/// Where the names of real servers stand.
const INDENT: usize = 8;

/// `show server bind`: each virtual server with what its ports are bound to, and what waits for the
/// end of its sessions.
pub fn server_bind(
    snapshot: &Snapshot,
    states: &States,
    sessions: &SessionView,
    names: PortNames<'_>,
) -> String {
    let mut page = Page::default();
    page.line("Bind info");
    let context = Bindings { snapshot, states, sessions, names };
    for server in &snapshot.balancing.virtual_ {
        let said = if server.disabled { "disabled" } else { "enabled" };
        context.server(&mut page, server, said, &server.bindings);
    }
    for server in &sessions.virtual_ {
        context.server(&mut page, server, ServerHealth::AwaitDelete.name(), &[]);
    }
    page.finish()
}

/// What the display is made of.
struct Bindings<'a> {
    snapshot: &'a Snapshot,
    states: &'a States,
    sessions: &'a SessionView,
    names: PortNames<'a>,
}

impl Bindings<'_> {
    fn server(&self, page: &mut Page, server: &VirtualServer, said: &str, bindings: &[Binding]) {
        page.line("");
        let address = written(server.address);
        page.line(format!("Virtual server: {:<20}Status: {said}  IP: {address}", server.name));
        let is_waiting = |flow: &&Flow| {
            flow.counts.current > 0
                && matches!(flow.ending, Some(Ending::Unbound | Ending::Deleted))
        };
        let waiting: Vec<&Flow> =
            self.sessions.of_virtual(server, None).filter(is_waiting).collect();
        let mut ports: Vec<Application> =
            server.ports.iter().map(|port| port.application).collect();
        for flow in &waiting {
            if !ports.contains(&flow.port()) {
                ports.push(flow.port());
            }
        }
        for port in ports {
            let arrow = format!("{} -------> ", (self.names)(port));
            // A server that is gone is shown as long as it waits, and then as one that is missing.
            let is_waiting = |one: &Binding| {
                waiting.iter().any(|flow| {
                    flow.port() == one.port
                        && flow.real_port() == one.real_port
                        && flow.real.eq_ignore_ascii_case(&one.name)
                })
            };
            let bound = bindings
                .iter()
                .filter(|one| one.port == port && (one.real.is_some() || !is_waiting(one)));
            let bound = bound.map(|binding| self.bound(server, binding));
            let waiting = waiting.iter().filter(|flow| flow.port() == port);
            for (place, text) in bound.chain(waiting.map(|flow| self.waiting(flow))).enumerate() {
                let blanks = " ".repeat(arrow.len());
                let begin = if place == 0 { &arrow } else { &blanks };
                page.indented(INDENT, &format!("{begin}{text}"));
            }
        }
    }

    fn bound(&self, server: &VirtualServer, binding: &Binding) -> String {
        let balancing = &self.snapshot.balancing;
        let real = binding.real.map(|real| &balancing.real[real]);
        let health = balancing.binding_health(self.states, binding);
        let goes_on = |flow: &Flow| {
            flow.ending == Some(Ending::Disabled)
                && flow.counts.current > 0
                && flow.real_port() == binding.real_port
                && flow.real.eq_ignore_ascii_case(&binding.name)
        };
        let mut flows = self.sessions.of_virtual(server, Some(binding.port));
        let health = match health {
            ServerHealth::Disabled if flows.any(goes_on) => ServerHealth::GraceDown,
            health => health,
        };
        let address = real.and_then(|real| real.address);
        self.line(&binding.name, address, binding.real_port, health)
    }

    fn waiting(&self, flow: &Flow) -> String {
        let health = match flow.ending {
            Some(Ending::Deleted) => ServerHealth::AwaitDelete,
            _ => ServerHealth::AwaitUnbind,
        };
        self.line(&flow.real, flow.address, flow.real_port(), health)
    }

    fn line(
        &self,
        name: &str,
        address: Option<IpAddr>,
        port: Application,
        health: ServerHealth,
    ) -> String {
        format!("{name}: {},  {} ({})", written(address), (self.names)(port), word(health))
    }
}

fn written(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string())
}

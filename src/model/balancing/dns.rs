//! The DNS servers behind: real servers whose DNS port says `proxy` and is bound to the DNS port of a
//! virtual server (guide p. 5, 64).

use crate::health::state::States;
use crate::model::balancing::{Balancing, Binding, RealServer, ServerHealth};
use crate::model::snapshot::Application;

/// Port of DNS.
const DNS: Application = Application(53);

/// Whether there is a DNS server behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsServer {
    /// None is configured.
    Missing,
    /// None of those that are configured is in service.
    Down,
    /// At least one is in service.
    Up,
}

impl Balancing {
    /// Whether there is a DNS server behind: a real server whose port says `proxy`, bound to the DNS
    /// port of a virtual server (guide p. 5, 64).
    #[must_use]
    pub fn dns_server(&self, states: &States) -> DnsServer {
        if self.dns_bindings.is_empty() {
            DnsServer::Missing
        } else if self.dns_servers(states).next().is_some() {
            DnsServer::Up
        } else {
            DnsServer::Down
        }
    }

    /// The DNS servers behind that are in service, with their ports, in the order of the bindings.
    pub fn dns_servers(&self, states: &States) -> impl Iterator<Item = (&RealServer, u16)> {
        self.dns_bindings.iter().filter_map(|&(server, binding)| {
            let server = &self.virtual_[server];
            let binding = &server.bindings[binding];
            let port_is_off =
                server.ports.iter().any(|port| port.application == DNS && port.disabled);
            let is_up = !server.disabled
                && !port_is_off
                && self.binding_health(states, binding) == ServerHealth::Active;
            let real = &self.real[binding.real.filter(|_| is_up)?];
            Some((real, binding.real_port.0))
        })
    }

    pub(super) fn find_dns_bindings(&mut self) {
        let leads_behind = |binding: &Binding| {
            let mut ports = binding.real.iter().flat_map(|real| &self.real[*real].ports);
            binding.port == DNS
                && ports.any(|port| port.application == binding.real_port && port.proxy)
        };
        let mut found = Vec::new();
        for (server, virtual_) in self.virtual_.iter().enumerate() {
            for (binding, one) in virtual_.bindings.iter().enumerate() {
                if leads_behind(one) {
                    found.push((server, binding));
                }
            }
        }
        self.dns_bindings = found;
    }
}

//! Server load balancing, as far as other devices learn of it: real servers, virtual servers, their
//! ports, and which are bound to which.

use std::net::IpAddr;

use hashbrown::{HashMap, HashSet};

use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::health::state::States;
use crate::model::snapshot::Application;
use crate::names::named_enum;

/// Real and virtual servers in configured order.
#[derive(Debug, Default)]
pub struct Balancing {
    /// Real servers, remote servers and cache servers.
    pub real: Vec<RealServer>,
    /// Virtual servers.
    pub virtual_: Vec<VirtualServer>,
    /// What is said for all servers.
    pub global: GlobalParameters,
    /// Ports of real servers that some virtual server is bound to.
    bound: HashSet<(usize, Application)>,
    /// Bindings that lead to a DNS server behind: places of the virtual server and of its binding.
    dns_bindings: Vec<(usize, usize)>,
}

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

/// What is said for all servers (Virtual ADX SLB guide p. 369).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalParameters {
    /// How a real server is chosen where the virtual server does not say it.
    pub predictor: String,
    /// Sessions of deleted servers are ended.
    pub force_delete: bool,
    /// Seconds between two pings; the guides give 2 and 5 as the default.
    pub ping_interval: u8,
    /// Unanswered pings until a server is down (2-10, default 4).
    pub ping_retries: u8,
}

impl Default for GlobalParameters {
    fn default() -> Self {
        GlobalParameters {
            predictor: DEFAULT_PREDICTOR.to_owned(),
            force_delete: false,
            ping_interval: 2,
            ping_retries: 4,
        }
    }
}

/// The predictor that the device uses when none is configured (Virtual ADX SLB guide p. 369).
pub const DEFAULT_PREDICTOR: &str = "least-conn";

/// The pseudo-port that stands for all ports without a line of their own (base-cli 5.4).
pub const DEFAULT_PORT: Application = Application(65535);

named_enum! {
    /// How a real server is reached.
    pub enum RealKind {
        /// In a network of the device.
        Local = "local",
        /// Behind a router.
        Remote = "remote",
        /// A cache.
        Cache = "cache",
    }
}

/// A real server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealServer {
    /// As typed, at most 32 characters.
    pub name: String,
    /// Its address, if one was given.
    pub address: Option<IpAddr>,
    /// How it is reached.
    pub kind: RealKind,
    /// Weight (0-65000, default 1).
    pub weight: u32,
    /// Most connections (default 2000000).
    pub max_connections: u32,
    /// Its ports in the order of their lines, without the default port.
    pub ports: Vec<Port>,
}

/// A virtual server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualServer {
    /// As typed, at most 32 characters.
    pub name: String,
    /// Its address, if one was given.
    pub address: Option<IpAddr>,
    /// Taken out of service.
    pub disabled: bool,
    /// How a real server is chosen, if it is said.
    pub predictor: Option<String>,
    /// Its ports in the order of their lines, without the default port.
    pub ports: Vec<Port>,
    /// Its bindings in the order of their lines.
    pub bindings: Vec<Binding>,
}

/// A port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number.
    pub application: Application,
    /// Taken out of service.
    pub disabled: bool,
    /// A client is sent to the same server again.
    pub sticky: bool,
    /// The server answers behind the device on this port (`port dns proxy`, guide p. 64).
    pub proxy: bool,
}

/// A port of a virtual server bound to a port of a real server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Port of the virtual server.
    pub port: Application,
    /// Name of the real server, as typed.
    pub name: String,
    /// The real server in [`Balancing::real`]; `None`: it is not configured.
    pub real: Option<usize>,
    /// Port of the real server.
    pub real_port: Application,
}

named_enum! {
    /// State of a real server or of one of its ports (Virtual ADX SLB guide Table 15).
    pub enum ServerHealth {
        /// All checks pass.
        Active = "active",
        /// A check fails.
        Failed = "failed",
        /// Taken out of service.
        Disabled = "disabled",
        /// No virtual server is bound to the port.
        Unbound = "unbound",
        /// There is no address to check.
        Enabled = "enabled",
    }
}

impl Balancing {
    /// State of a port of a real server.
    #[must_use]
    pub fn port_health(&self, states: &States, real: usize, port: &Port) -> ServerHealth {
        if port.disabled {
            ServerHealth::Disabled
        } else if !self.bound.contains(&(real, port.application)) {
            ServerHealth::Unbound
        } else {
            self.real[real].health(states, Some(port.application))
        }
    }

    /// State of the real server port of a binding.
    #[must_use]
    pub fn binding_health(&self, states: &States, binding: &Binding) -> ServerHealth {
        let Some(real) = binding.real.map(|real| &self.real[real]) else {
            return ServerHealth::Enabled;
        };
        let mut lines = real.ports.iter();
        if lines.any(|port| port.application == binding.real_port && port.disabled) {
            return ServerHealth::Disabled;
        }
        real.health(states, Some(binding.real_port))
    }

    /// Bindings of a port of a virtual server whose real server port is up: its active bindings.
    #[must_use]
    pub fn active_bindings(
        &self,
        states: &States,
        server: &VirtualServer,
        port: Application,
    ) -> u32 {
        let is_active = |binding: &&Binding| {
            binding.port == port && self.binding_health(states, binding) == ServerHealth::Active
        };
        u32::try_from(server.bindings.iter().filter(is_active).count()).unwrap_or(u32::MAX)
    }
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

    fn find_dns_bindings(&mut self) {
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

impl RealServer {
    /// Result of its checks: as a whole, or of one port.
    #[must_use]
    pub fn health(&self, states: &States, port: Option<Application>) -> ServerHealth {
        let Some(address) = self.address else { return ServerHealth::Enabled };
        // No application is checked together with the address itself.
        let probe = port.unwrap_or(DEFAULT_PORT);
        if states.address(address).passes(&[probe]) {
            ServerHealth::Active
        } else {
            ServerHealth::Failed
        }
    }
}

/// Real and virtual servers while their statements are read.
#[derive(Debug, Default)]
pub(super) struct BalancingDraft {
    balancing: Balancing,
    /// Ports that stand in no list: settings of the default port.
    places: HashMap<(Owner, Application), usize>,
}

/// The server whose block is read, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    /// A real server.
    Real(usize),
    /// A virtual server.
    Virtual(usize),
}

impl BalancingDraft {
    /// What was read, with the names of real servers looked up.
    pub(super) fn finish(self) -> Balancing {
        let mut balancing = self.balancing;
        let names: HashMap<String, usize> = balancing
            .real
            .iter()
            .enumerate()
            .map(|(place, real)| (real.name.to_ascii_lowercase(), place))
            .collect();
        for binding in balancing.virtual_.iter_mut().flat_map(|server| &mut server.bindings) {
            binding.real = names.get(&binding.name.to_ascii_lowercase()).copied();
            balancing.bound.extend(binding.real.map(|real| (real, binding.real_port)));
        }
        balancing.find_dns_bindings();
        balancing
    }

    /// Begins a server.
    pub(super) fn open(&mut self, kept: Kept, reading: &Reading<'_>) -> Owner {
        let name = reading.text("name").unwrap_or_default().to_owned();
        let address = reading.address("ip");
        let kind = if kept == Kept::RemoteServer {
            RealKind::Remote
        } else if kept == Kept::CacheServer {
            RealKind::Cache
        } else {
            RealKind::Local
        };
        if kept == Kept::VirtualServer {
            self.balancing.virtual_.push(VirtualServer {
                name,
                address,
                disabled: false,
                predictor: None,
                ports: Vec::new(),
                bindings: Vec::new(),
            });
            return Owner::Virtual(self.balancing.virtual_.len() - 1);
        }
        self.balancing.real.push(RealServer {
            name,
            address,
            kind,
            weight: 1,
            max_connections: 2_000_000,
            ports: Vec::new(),
        });
        Owner::Real(self.balancing.real.len() - 1)
    }

    /// Reads a statement for all servers.
    pub(super) fn global(&mut self, kept: Kept, reading: &Reading<'_>) {
        let global = &mut self.balancing.global;
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::ServerForceDelete => global.force_delete = true,
            Kept::ServerPingInterval => {
                global.ping_interval = reading.number("seconds").unwrap_or(global.ping_interval);
            }
            Kept::ServerPingRetries => {
                global.ping_retries = reading.number("count").unwrap_or(global.ping_retries);
            }
            Kept::ServerPredictor => {
                if let Some(word) = reading.word("predictor") {
                    word.clone_into(&mut global.predictor);
                }
            }
            _ => {}
        }
    }

    /// Reads a statement of the block of a server.
    pub(super) fn statement(&mut self, owner: Owner, kept: Kept, reading: &Reading<'_>) {
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match (owner, kept) {
            (_, Kept::RealPort | Kept::VirtualPort) => {
                self.port(owner, reading.number("port").map(Application));
            }
            (_, Kept::RealHttp) => {
                self.port(owner, Some(HTTP));
            }
            (_, Kept::RealHttpDisable) => {
                if let Some(port) = self.port(owner, Some(HTTP)) {
                    port.disabled = true;
                }
            }
            (_, Kept::RealPortDisable | Kept::VirtualPortDisable) => {
                if let Some(port) = self.port(owner, reading.number("port").map(Application)) {
                    port.disabled = true;
                }
            }
            (_, Kept::VirtualPortSticky) => {
                if let Some(port) = self.port(owner, reading.number("port").map(Application)) {
                    port.sticky = true;
                }
            }
            (Owner::Real(_), Kept::RealPortProxy) => {
                if let Some(port) = self.port(owner, reading.number("port").map(Application)) {
                    port.proxy = true;
                }
            }
            (Owner::Real(place), Kept::RealWeight) => {
                let real = &mut self.balancing.real[place];
                real.weight = reading.number("weight").unwrap_or(real.weight);
            }
            (Owner::Real(place), Kept::RealMaxConnections) => {
                let real = &mut self.balancing.real[place];
                real.max_connections = reading.number("count").unwrap_or(real.max_connections);
            }
            (Owner::Virtual(place), Kept::VirtualDisable) => {
                self.balancing.virtual_[place].disabled = true;
            }
            (Owner::Virtual(place), Kept::VirtualPredictor) => {
                self.balancing.virtual_[place].predictor =
                    reading.word("predictor").map(str::to_owned);
            }
            (Owner::Virtual(place), Kept::VirtualBind) => self.bind(place, reading),
            _ => {}
        }
    }

    /// The port of a server, entered if it is not there; `None` for the default port.
    fn port(&mut self, owner: Owner, port: Option<Application>) -> Option<&mut Port> {
        let application = port.filter(|port| *port != DEFAULT_PORT)?;
        let ports = match owner {
            Owner::Real(place) => &mut self.balancing.real[place].ports,
            Owner::Virtual(place) => &mut self.balancing.virtual_[place].ports,
        };
        let next = ports.len();
        let place = *self.places.entry((owner, application)).or_insert(next);
        if place == next {
            ports.push(Port { application, disabled: false, sticky: false, proxy: false });
        }
        ports.get_mut(place)
    }

    fn bind(&mut self, place: usize, reading: &Reading<'_>) {
        let Some(port) = reading.number("port").map(Application) else { return };
        let real_port = reading.number("real-port").map(Application);
        if let (Some(real), Some(real_port)) = (reading.text("real"), real_port) {
            let binding = Binding { port, name: real.to_owned(), real: None, real_port };
            self.balancing.virtual_[place].bindings.push(binding);
        }
    }
}

/// Port of DNS.
const DNS: Application = Application(53);

/// Port of the web, which real servers have a stanza of their own for.
const HTTP: Application = Application(80);

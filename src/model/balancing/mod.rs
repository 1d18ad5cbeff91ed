//! Server load balancing, as far as other devices learn of it: real servers, virtual servers, their
//! ports, and which are bound to which.

use std::net::IpAddr;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::health::state::States;
use crate::model::check_rules::CheckRules;
use crate::model::checks::{HealthPolicies, PortProfile};
use crate::model::snapshot::Application;
use crate::names::named_enum;

mod dns;
mod draft;

pub use dns::DnsServer;

pub(super) use draft::{BalancingDraft, Owner};

/// Real and virtual servers in configured order.
#[derive(Debug, Default)]
pub struct Balancing {
    /// Real servers, remote servers and cache servers.
    pub real: Vec<RealServer>,
    /// Virtual servers.
    pub virtual_: Vec<VirtualServer>,
    /// What is said for all servers.
    pub global: GlobalParameters,
    /// Ranges of ports in configured order.
    pub ranges: Vec<PortRange>,
    /// Health-check policies.
    pub policies: HealthPolicies,
    /// What holds for a port on all servers.
    profiles: HashMap<Application, PortProfile>,
    /// How servers are checked over the network.
    pub checks: CheckRules,
    /// Ports of real servers that some virtual server is bound to.
    bound: HashSet<(usize, Application)>,
    /// Bindings that lead to a DNS server behind: places of the virtual server and of its binding.
    dns_bindings: Vec<(usize, usize)>,
    /// Ports of real servers by number, as places in their lists.
    places: HashMap<(usize, Application), usize>,
    /// The port that a port of a real server was bound in place of.
    masters: HashMap<(usize, Application), Application>,
}

/// A range of ports (Virtual ADX SLB guide p. 66).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// As typed, at most 32 characters.
    pub name: String,
    /// First and last port that count, if they were given; at most 50.
    pub ports: Option<(u16, u16)>,
    /// A change waits to be applied.
    pub is_pending: bool,
}

impl PortRange {
    /// The ports that count, in order.
    pub fn applications(&self) -> impl Iterator<Item = Application> + use<> {
        let ports = self.ports.map(|(first, last)| first..=last);
        ports.into_iter().flatten().map(Application)
    }
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
    /// Unanswered connections until a server is taken for failed (6-4000, default 20).
    pub reassign_threshold: u16,
}

impl Default for GlobalParameters {
    fn default() -> Self {
        GlobalParameters {
            predictor: DEFAULT_PREDICTOR.to_owned(),
            force_delete: false,
            ping_interval: 2,
            ping_retries: 4,
            reassign_threshold: 20,
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
#[allow(clippy::struct_excessive_bools, reason = "each is a line of the configuration")]
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
    /// Ports that follow others.
    pub tracks: Vec<Track>,
    /// Both devices of a pair hold the VIP.
    pub symmetric_active: bool,
    /// Priority of this device in a pair that has the same VIP (0-255), if it is in one.
    pub symmetric_priority: Option<u8>,
    /// The default port is in service: it stands for all ports without a line of their own.
    pub serves_all: bool,
    /// Servers answer clients directly on the default port (`port default dsr`).
    pub default_dsr: bool,
}

/// Ports of a virtual server that follow others (Virtual ADX SLB guide p. 15, 49).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// The first port.
    pub primary: Application,
    /// The others.
    pub ports: SmallVec<[Application; 4]>,
    /// All of them follow one another; else the others follow the first one.
    pub is_group: bool,
}

/// A port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a line of the configuration")]
pub struct Port {
    /// Its number.
    pub application: Application,
    /// Taken out of service.
    pub disabled: bool,
    /// A client is sent to the same server again.
    pub sticky: bool,
    /// Servers answer clients directly (`dsr`).
    pub dsr: bool,
    /// The server answers behind the device on this port (`port dns proxy`, guide p. 64).
    pub proxy: bool,
    /// Name of the health-check policy whose result it takes.
    pub policy: Option<String>,
}

impl Port {
    /// A port without settings.
    pub fn new(application: Application) -> Self {
        Port { application, disabled: false, sticky: false, dsr: false, proxy: false, policy: None }
    }
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
    /// Other ports of that real server that must be up too (`track`, `track-group`).
    pub follows: SmallVec<[Application; 1]>,
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
        /// Disabled, with sessions that have not ended.
        GraceDown = "grace-dn",
        /// Not bound any more, with sessions that have not ended.
        AwaitUnbind = "await-unbind",
        /// Deleted, with sessions that have not ended.
        AwaitDelete = "await-delete",
    }
}

impl Balancing {
    /// Ports of real servers in service that some virtual server is bound to.
    pub fn bound_ports(&self) -> impl Iterator<Item = (IpAddr, Application)> {
        self.bound.iter().filter_map(|(place, application)| {
            let real = &self.real[*place];
            let mut ports = real.ports.iter();
            let is_disabled = ports.any(|port| port.application == *application && port.disabled);
            real.address
                .filter(|_| !is_disabled && *application != DEFAULT_PORT)
                .map(|address| (address, *application))
        })
    }

    /// State of a port of a real server.
    #[must_use]
    pub fn port_health(&self, states: &States, real: usize, port: &Port) -> ServerHealth {
        if port.disabled {
            ServerHealth::Disabled
        } else if !self.bound.contains(&(real, port.application)) {
            ServerHealth::Unbound
        } else {
            self.checked(states, real, port.application)
        }
    }

    /// State of the real server port of a binding. A port that follows others fails with them.
    #[must_use]
    pub fn binding_health(&self, states: &States, binding: &Binding) -> ServerHealth {
        let Some(real) = binding.real else { return ServerHealth::Enabled };
        if self.is_disabled(real, binding.real_port) {
            return ServerHealth::Disabled;
        }
        let health = self.checked(states, real, binding.real_port);
        let follows = || self.master_health(states, real, &binding.follows);
        if health == ServerHealth::Active
            && follows().is_some_and(|health| health != ServerHealth::Active)
        {
            return ServerHealth::Failed;
        }
        health
    }

    /// State of the ports that a port follows: of the first one that is not active, else active;
    /// `None` if it follows none.
    #[must_use]
    pub fn master_health(
        &self,
        states: &States,
        real: usize,
        follows: &[Application],
    ) -> Option<ServerHealth> {
        let mut healths = follows.iter().map(|port| {
            if self.is_disabled(real, *port) {
                ServerHealth::Disabled
            } else {
                self.checked(states, real, *port)
            }
        });
        let worst = healths.find(|health| *health != ServerHealth::Active);
        worst.or_else(|| (!follows.is_empty()).then_some(ServerHealth::Active))
    }

    /// The ports that each port of a real server follows, for any virtual server.
    #[must_use]
    pub fn follows(&self) -> HashMap<(usize, Application), SmallVec<[Application; 1]>> {
        let mut follows: HashMap<_, SmallVec<[Application; 1]>> = HashMap::new();
        for binding in self.virtual_.iter().flat_map(|server| &server.bindings) {
            if let Some(real) = binding.real.filter(|_| !binding.follows.is_empty()) {
                let entry = follows.entry((real, binding.real_port)).or_default();
                entry.extend(binding.follows.iter().copied());
            }
        }
        follows
    }

    /// Names of the policies that are attached to ports.
    pub fn attached_policies(&self) -> impl Iterator<Item = &str> {
        let ports = self.real.iter().flat_map(|real| &real.ports);
        ports.filter_map(|port| port.policy.as_deref())
    }

    fn port(&self, real: usize, application: Application) -> Option<&Port> {
        self.real[real].ports.get(*self.places.get(&(real, application))?)
    }

    fn is_disabled(&self, real: usize, application: Application) -> bool {
        self.port(real, application).is_some_and(|port| port.disabled)
    }

    /// Result of what is checked for a port of a real server: its own policy, else the port whose
    /// health its profile names, else the port itself.
    fn checked(&self, states: &States, real: usize, application: Application) -> ServerHealth {
        let has_policy = self.port(real, application).is_some_and(|port| port.policy.is_some());
        let source = match self.profiles.get(&application).filter(|_| !has_policy) {
            Some(profile) if profile.uses_master_state => {
                self.masters.get(&(real, application)).copied()
            }
            Some(profile) => profile.health_of,
            None => None,
        };
        self.checked_itself(states, real, source.unwrap_or(application))
    }

    /// Result of a port's own policy, else of the check of the port.
    fn checked_itself(
        &self,
        states: &States,
        real: usize,
        application: Application,
    ) -> ServerHealth {
        let server = &self.real[real];
        let policy = self.port(real, application).and_then(|port| port.policy.as_deref());
        let Some(policy) = policy else { return server.health(states, Some(application)) };
        // A server that does not answer at all serves no port, whatever a policy checks.
        let whole = server.health(states, None);
        if whole == ServerHealth::Active
            && !self.policies.passes(states, policy, server.address, Some(application))
        {
            return ServerHealth::Failed;
        }
        whole
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

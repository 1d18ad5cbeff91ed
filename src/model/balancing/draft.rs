//! Statements of server load balancing to [`Balancing`].

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{
    Balancing, Binding, DEFAULT_PORT, Port, PortRange, RealKind, RealServer, Track, VirtualServer,
};
use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::model::check_rules::ChecksDraft;
use crate::model::checks::{Expression, HealthPolicies, HealthPolicy, Operator, PolicyKind};
use crate::model::snapshot::Application;

/// Real and virtual servers while their statements are read.
#[derive(Debug, Default)]
pub(in crate::model) struct BalancingDraft {
    balancing: Balancing,
    policies: Vec<HealthPolicy>,
    checks: ChecksDraft,
    /// Places of the ports in the lists of their servers.
    places: HashMap<(Owner, Application), usize>,
    /// Uses of ranges by servers, in the order of their lines.
    range_uses: Vec<(Owner, String)>,
    /// Ranges of virtual servers that are bound.
    range_bindings: Vec<RangeBinding>,
}

/// A range of a virtual server that is bound to one of a real server.
#[derive(Debug)]
struct RangeBinding {
    server: usize,
    range: String,
    real: String,
    real_range: String,
}

/// Ports that one port follows at most: a group has no more (remembered).
const MOST_FOLLOWED: usize = 8;

/// Ports of a virtual server that one port is told to follow at most.
const MOST_LEADERS: usize = 32;

/// The owner of the block that is read, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::model) enum Owner {
    /// A real server.
    Real(usize),
    /// A virtual server.
    Virtual(usize),
    /// The profile of a port.
    Profile(Application),
    /// A health-check policy.
    Policy(usize),
    /// A range of ports.
    Range(usize),
    /// A list of texts that web servers answer with.
    MatchList(usize),
    /// How ports are checked that use it.
    PortPolicy(usize),
}

impl BalancingDraft {
    /// What was read, with ranges written out and the names of real servers looked up.
    pub(in crate::model) fn finish(mut self) -> Balancing {
        self.balancing.policies = HealthPolicies::of(std::mem::take(&mut self.policies));
        let checks = std::mem::take(&mut self.checks);
        let names: HashMap<String, usize> = self
            .balancing
            .real
            .iter()
            .enumerate()
            .map(|(place, real)| (real.name.to_ascii_lowercase(), place))
            .collect();
        self.write_ranges_out();
        let BalancingDraft { mut balancing, places, .. } = self;
        for real in &mut balancing.real {
            for port in &mut real.ports {
                let profile = balancing.profiles.get(&port.application);
                port.disabled |= profile.is_some_and(|profile| profile.disables_real);
            }
        }
        for server in &mut balancing.virtual_ {
            for port in &mut server.ports {
                let profile = balancing.profiles.get(&port.application);
                port.disabled |= profile.is_some_and(|profile| profile.disables_virtual);
            }
            for binding in &mut server.bindings {
                binding.real = names.get(&binding.name.to_ascii_lowercase()).copied();
                let Some(real) = binding.real else { continue };
                balancing.bound.insert((real, binding.real_port));
                if binding.real_port != binding.port {
                    let alias = (real, binding.real_port);
                    balancing.masters.entry(alias).or_insert(binding.port);
                }
            }
            follow(server);
        }
        let of_real = |((owner, application), place): ((Owner, Application), usize)| match owner {
            Owner::Real(real) => Some(((real, application), place)),
            Owner::Virtual(_)
            | Owner::Profile(_)
            | Owner::Policy(_)
            | Owner::Range(_)
            | Owner::MatchList(_)
            | Owner::PortPolicy(_) => None,
        };
        balancing.checks = checks.finish(&balancing.real, &balancing.virtual_);
        balancing.places = places.into_iter().filter_map(of_real).collect();
        balancing.find_dns_bindings();
        balancing
    }

    /// Enters the ports of the ranges that servers use, and binds those that are bound.
    fn write_ranges_out(&mut self) {
        let ranges: HashMap<String, PortRange> = self
            .balancing
            .ranges
            .iter()
            .map(|range| (range.name.to_ascii_lowercase(), range.clone()))
            .collect();
        let range = |name: &str| ranges.get(&name.to_ascii_lowercase());
        for (owner, name) in std::mem::take(&mut self.range_uses) {
            for application in range(&name).into_iter().flat_map(PortRange::applications) {
                self.port(owner, Some(application));
            }
        }
        for bound in std::mem::take(&mut self.range_bindings) {
            let (Some(ports), Some(real_ports)) = (range(&bound.range), range(&bound.real_range))
            else {
                continue;
            };
            let pairs = ports.applications().zip(real_ports.applications());
            let bindings = pairs.map(|(port, real_port)| binding(port, &bound.real, real_port));
            self.balancing.virtual_[bound.server].bindings.extend(bindings);
        }
    }

    /// Begins a block.
    pub(in crate::model) fn open(&mut self, kept: Kept, reading: &Reading<'_>) -> Owner {
        let name = reading.text("name").unwrap_or_default().to_owned();
        if kept == Kept::PortProfile {
            let port = Application(reading.number("port").unwrap_or_default());
            self.balancing.profiles.entry(port).or_default();
            return Owner::Profile(port);
        }
        if kept == Kept::HealthPolicy {
            let kind = reading.word("kind").and_then(PolicyKind::from_name);
            self.policies.push(HealthPolicy { name, kind, ..HealthPolicy::default() });
            return Owner::Policy(self.policies.len() - 1);
        }
        if kept == Kept::PortRange {
            let block = reading.statement.block.as_deref();
            let is_pending = block.is_some_and(|block| !block.waiting().is_empty());
            self.balancing.ranges.push(PortRange { name, ports: None, is_pending });
            return Owner::Range(self.balancing.ranges.len() - 1);
        }
        if kept == Kept::MatchList {
            return Owner::MatchList(self.checks.open_list(&name));
        }
        if kept == Kept::PortPolicy {
            return Owner::PortPolicy(self.checks.open_policy(&name));
        }
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
                tracks: Vec::new(),
                symmetric_active: false,
                symmetric_priority: None,
                serves_all: false,
                default_dsr: false,
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
    pub(in crate::model) fn global(&mut self, kept: Kept, reading: &Reading<'_>) {
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
            Kept::ServerReassignThreshold => {
                let count = reading.number("count");
                global.reassign_threshold = count.unwrap_or(global.reassign_threshold);
            }
            Kept::ServerPredictor => {
                if let Some(word) = reading.word("predictor") {
                    word.clone_into(&mut global.predictor);
                }
            }
            _ => {}
        }
    }

    /// Reads a statement of a block.
    pub(in crate::model) fn statement(&mut self, owner: Owner, kept: Kept, reading: &Reading<'_>) {
        match owner {
            Owner::Real(place) => self.real(place, kept, reading),
            Owner::Virtual(place) => self.virtual_(place, kept, reading),
            Owner::Profile(port) => {
                self.profile(port, kept, reading);
                self.checks.profile(port, kept, reading);
            }
            Owner::MatchList(place) => self.checks.list(place, kept, reading),
            Owner::PortPolicy(place) => self.checks.policy(place, kept, reading),
            Owner::Policy(place) => policy(&mut self.policies[place], kept, reading),
            Owner::Range(place) => {
                let ports = reading.number("first").zip(reading.number("last"));
                self.balancing.ranges[place].ports = ports;
            }
        }
    }

    fn real(&mut self, place: usize, kept: Kept, reading: &Reading<'_>) {
        let owner = Owner::Real(place);
        let port = reading.number("port").map(Application);
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::RealPort => {
                self.port(owner, port);
            }
            Kept::RealHttp => {
                self.port(owner, Some(HTTP));
            }
            Kept::RealHttpDisable => self.disable(owner, Some(HTTP)),
            Kept::RealPortDisable => self.disable(owner, port),
            Kept::RealPortProxy => {
                if let Some(port) = self.port(owner, port) {
                    port.proxy = true;
                }
            }
            Kept::RealHttpHealthPolicy => self.attach(owner, Some(HTTP), reading),
            Kept::RealPortHealthPolicy => self.attach(owner, port, reading),
            Kept::RealPortRange => self.use_range(owner, reading),
            Kept::RealPortAddressQuery
            | Kept::RealPortZone
            | Kept::RealPortKeepalive
            | Kept::RealPortL4CheckOnly
            | Kept::RealPortPolicy
            | Kept::RealHttpPortPolicy
            | Kept::RealHttpUrl
            | Kept::RealHttpStatusCode
            | Kept::RealHttpContentMatch
            | Kept::RealHttpKeepalive
            | Kept::RealHttpL4CheckOnly => {
                self.checks.port(place, port.unwrap_or(HTTP), kept, reading);
            }
            Kept::RealWeight => {
                let real = &mut self.balancing.real[place];
                real.weight = reading.number("weight").unwrap_or(real.weight);
            }
            Kept::RealMaxConnections => {
                let real = &mut self.balancing.real[place];
                real.max_connections = reading.number("count").unwrap_or(real.max_connections);
            }
            _ => {}
        }
    }

    fn virtual_(&mut self, place: usize, kept: Kept, reading: &Reading<'_>) {
        let owner = Owner::Virtual(place);
        let port = reading.number("port").map(Application);
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::VirtualPort => {
                self.balancing.virtual_[place].serves_all |= port == Some(DEFAULT_PORT);
                self.port(owner, port);
            }
            Kept::VirtualPortDisable => {
                self.balancing.virtual_[place].serves_all &= port != Some(DEFAULT_PORT);
                self.disable(owner, port);
            }
            Kept::VirtualSymmetricActive => {
                self.balancing.virtual_[place].symmetric_active = true;
            }
            Kept::VirtualSymmetricPriority => {
                self.balancing.virtual_[place].symmetric_priority = reading.number("priority");
            }
            Kept::VirtualPortSticky => {
                if let Some(port) = self.port(owner, port) {
                    port.sticky = true;
                }
            }
            Kept::VirtualPortDsr => {
                if port == Some(DEFAULT_PORT) {
                    self.balancing.virtual_[place].default_dsr = true;
                } else if let Some(port) = self.port(owner, port) {
                    port.dsr = true;
                }
            }
            Kept::VirtualPortPolicy => {
                if let Some(port) = port {
                    self.checks.virtual_policy(place, port, reading);
                }
            }
            Kept::VirtualPortRange => self.use_range(owner, reading),
            Kept::VirtualDisable => self.balancing.virtual_[place].disabled = true,
            Kept::VirtualPredictor => {
                self.balancing.virtual_[place].predictor =
                    reading.word("predictor").map(str::to_owned);
            }
            Kept::VirtualTrack | Kept::VirtualTrackGroup => {
                if let Some(primary) = reading.number("primary").map(Application) {
                    let ports = reading.numbers("port").map(Application).collect();
                    let is_group = kept == Kept::VirtualTrackGroup;
                    self.balancing.virtual_[place].tracks.push(Track { primary, ports, is_group });
                }
            }
            Kept::VirtualBind => {
                let real_port = reading.number("real-port").map(Application);
                if let (Some(port), Some(real), Some(real_port)) =
                    (port, reading.text("real"), real_port)
                {
                    self.balancing.virtual_[place].bindings.push(binding(port, real, real_port));
                }
            }
            Kept::VirtualBindRange => {
                let text = |name| reading.text(name).unwrap_or_default().to_owned();
                let (range, real, real_range) = (text("range"), text("real"), text("real-range"));
                self.range_bindings.push(RangeBinding { server: place, range, real, real_range });
            }
            _ => {}
        }
    }

    fn profile(&mut self, port: Application, kept: Kept, reading: &Reading<'_>) {
        let profile = self.balancing.profiles.entry(port).or_default();
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::PortProfileDisable => {
                profile.disables_real = true;
                profile.disables_virtual = true;
            }
            Kept::PortProfileDisableReal => profile.disables_real = true,
            Kept::PortProfileDisableVirtual => profile.disables_virtual = true,
            Kept::PortProfileTcpKeepalivePort | Kept::PortProfileUdpKeepalivePort => {
                profile.health_of = reading.number("port").map(Application);
            }
            Kept::PortProfileTcpUseMasterState | Kept::PortProfileUdpUseMasterState => {
                profile.uses_master_state = true;
            }
            _ => {}
        }
    }

    fn disable(&mut self, owner: Owner, port: Option<Application>) {
        if let Some(port) = self.port(owner, port) {
            port.disabled = true;
        }
    }

    fn attach(&mut self, owner: Owner, port: Option<Application>, reading: &Reading<'_>) {
        let policy = reading.text("policy").map(str::to_owned);
        if let Some(port) = self.port(owner, port) {
            port.policy = policy;
        }
    }

    fn use_range(&mut self, owner: Owner, reading: &Reading<'_>) {
        let range = reading.text("range").unwrap_or_default().to_owned();
        self.range_uses.push((owner, range));
    }

    /// The port of a server, entered if it is not there; `None` for the default port.
    fn port(&mut self, owner: Owner, port: Option<Application>) -> Option<&mut Port> {
        let application = port.filter(|port| *port != DEFAULT_PORT)?;
        let ports = match owner {
            Owner::Real(place) => &mut self.balancing.real[place].ports,
            Owner::Virtual(place) => &mut self.balancing.virtual_[place].ports,
            Owner::Profile(_)
            | Owner::Policy(_)
            | Owner::Range(_)
            | Owner::MatchList(_)
            | Owner::PortPolicy(_) => {
                return None;
            }
        };
        let next = ports.len();
        let place = *self.places.entry((owner, application)).or_insert(next);
        if place == next {
            ports.push(Port::new(application));
        }
        ports.get_mut(place)
    }
}

fn binding(port: Application, real: &str, real_port: Application) -> Binding {
    let follows = SmallVec::new();
    Binding { port, name: real.to_owned(), real: None, real_port, follows }
}

fn policy(policy: &mut HealthPolicy, kept: Kept, reading: &Reading<'_>) {
    let joins = |operator| {
        let names = ["first", "second"].into_iter().filter_map(|name| reading.text(name));
        Some(Expression { operator, names: names.map(str::to_owned).collect() })
    };
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::HealthPolicyAddress => policy.address = reading.address("ip"),
        Kept::HealthPolicyPort => policy.port = reading.number("port").map(Application),
        Kept::HealthPolicyL4Check => policy.layer4_only = true,
        Kept::HealthPolicyL7Check => policy.layer4_only = false,
        Kept::HealthPolicyAnd => policy.expression = joins(Operator::And),
        Kept::HealthPolicyOr => policy.expression = joins(Operator::Or),
        Kept::HealthPolicyNot => policy.expression = joins(Operator::Not),
        _ => {}
    }
}

/// Tells every binding which other ports of its real server must be up: those that are bound to the
/// ports that its port follows.
fn follow(server: &mut VirtualServer) {
    if server.tracks.is_empty() {
        return;
    }
    let mut leaders: Leaders = HashMap::new();
    for Track { primary, ports, is_group } in &server.tracks {
        for port in ports {
            lead(&mut leaders, *port, *primary);
            if *is_group {
                lead(&mut leaders, *primary, *port);
                for other in ports.iter().filter(|other| *other != port) {
                    lead(&mut leaders, *port, *other);
                }
            }
        }
    }
    let mut real_ports: HashMap<(usize, Application), Application> = HashMap::new();
    for binding in &server.bindings {
        if let Some(real) = binding.real {
            real_ports.entry((real, binding.port)).or_insert(binding.real_port);
        }
    }
    for binding in &mut server.bindings {
        let (Some(real), Some(leaders)) = (binding.real, leaders.get(&binding.port)) else {
            continue;
        };
        let bound = leaders.iter().filter_map(|leader| real_ports.get(&(real, *leader)));
        binding.follows = bound.copied().take(MOST_FOLLOWED).collect();
    }
}

/// For each port of a virtual server those that it follows.
type Leaders = HashMap<Application, SmallVec<[Application; 4]>>;

fn lead(leaders: &mut Leaders, port: Application, leader: Application) {
    let known = leaders.entry(port).or_default();
    // Whoever writes that many lines must not slow down every binding.
    if known.len() < MOST_LEADERS && !known.contains(&leader) {
        known.push(leader);
    }
}

/// Port of the web, which real servers have a stanza of their own for.
const HTTP: Application = Application(80);

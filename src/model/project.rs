//! The statement tree to a snapshot. Total: it cannot refuse, for every rule was checked when a
//! line was accepted.
//!
//! The only reader of the tree. Every statement is named in the one match below, so a new one does
//! not compile until it is read or said to be kept only.
#![deny(clippy::wildcard_enum_match_arm)]

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::config::render;
use crate::config::tree::{Block, Reading, Tree};
use crate::grammar::link::Kept;
use crate::grammar::{Grammar, ModeId, Verb};
use crate::gslb::domain::Domain;
use crate::health::state::States;
use crate::model::balancing::{BalancingDraft, Owner};
use crate::model::draft::{DEFAULT_REHASH_TIMEOUT, PolicyDraft};
use crate::model::policy::{Intercept, Metric, RttSource, TieBreaker};
use crate::model::region::Region;
use crate::model::site::{AffinityDraft, affinity, dns_probe, smoothing};
use crate::model::sna::SnaDraft;
use crate::model::snapshot::{
    Address, Application, ErrorCode, Host, HostId, NameEntry, PolicyId, ServerId, Site, SiteId,
    SiteServer, SnaDomainId, Snapshot, Source, Zone, ZoneId,
};
use crate::sna::SnaDomain;

/// Settings that count only after a restart, as they were when the appliance started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootSettings {
    /// Region of clients of which nothing is known.
    pub default_location: Option<Region>,
}

/// Name of the device when none is configured (base-cli 1.1).
pub const DEFAULT_DEVICE_NAME: &str = "ServerIronADX";

/// The settings of a configuration that count only after a restart.
pub fn boot_settings(grammar: &Grammar, tree: &Tree) -> BootSettings {
    let mut settings = BootSettings::default();
    for statement in tree.root.statements() {
        let reading = Reading { grammar, statement };
        if reading.kept() == Some(Kept::DefaultLocation) {
            settings.default_location = reading.word("region").and_then(Region::from_name);
        }
    }
    settings
}

/// Makes a snapshot. Cells of what was in `previous` already are taken over.
pub fn project(
    grammar: &Grammar,
    tree: &Tree,
    states: &States,
    boot: BootSettings,
    previous: &Snapshot,
) -> Snapshot {
    let mut projection = Projection {
        grammar,
        states,
        snapshot: Snapshot::empty(DEFAULT_DEVICE_NAME),
        global: PolicyDraft::default(),
        host_policies: Vec::new(),
        affinities: Vec::new(),
        zones: Vec::new(),
        sna_domains: Vec::new(),
        balancing: BalancingDraft::default(),
    };
    if let Some(location) = boot.default_location {
        projection.snapshot.default_location = location;
    }
    if let Some(root) = grammar.root_mode() {
        projection.block(root, &tree.root, &mut Context::Root);
    }
    projection.finish(previous)
}

/// The block that a statement stands in.
enum Context {
    Root,
    Site(SiteId),
    /// The global policy.
    Policy,
    /// A host-level policy, by its place in the list.
    HostPolicy(usize),
    /// The affinities of a group; `None`: the global set.
    Affinity(Option<u8>),
    Zone(usize),
    /// An SNA gateway domain, by its place in the list.
    SnaDomain(usize),
    /// A real or virtual server.
    Server(Owner),
    /// A block without meaning for the snapshot.
    Other,
}

struct Projection<'a> {
    grammar: &'a Grammar,
    states: &'a States,
    snapshot: Snapshot,
    global: PolicyDraft,
    host_policies: Vec<PolicyDraft>,
    affinities: Vec<AffinityDraft>,
    zones: Vec<ZoneDraft>,
    sna_domains: Vec<SnaDraft>,
    balancing: BalancingDraft,
}

/// A zone while its statements are read.
struct ZoneDraft {
    name: String,
    hosts: Vec<HostDraft>,
    by_name: HashMap<String, usize>,
}

/// A host while its statements are read.
#[derive(Default)]
struct HostDraft {
    name: String,
    applications: Vec<Application>,
    track_port: Option<Application>,
    min_active_bindings: bool,
    policy: Option<String>,
    affinity_group: Option<u8>,
    addresses: Vec<AddressDraft>,
    /// Places in `addresses`, once there are more than a few.
    by_address: HashMap<IpAddr, usize>,
    /// Weights of addresses that are not in the list, but may be learned.
    unlisted: Vec<AddressDraft>,
}

/// Lists of up to so many addresses are searched from end to end.
const SEARCHED: usize = 8;

#[derive(Clone, Copy)]
struct AddressDraft {
    ip: IpAddr,
    weight: Option<u8>,
    hash_weight: Option<u8>,
}

impl HostDraft {
    /// Where an address stands in the list.
    fn place(&self, ip: IpAddr) -> Option<usize> {
        if self.addresses.len() <= SEARCHED {
            self.addresses.iter().position(|address| address.ip == ip)
        } else {
            self.by_address.get(&ip).copied()
        }
    }

    /// The address, or what is said of it although it is not in the list.
    fn address_or_unlisted(&mut self, ip: IpAddr) -> &mut AddressDraft {
        if let Some(place) = self.place(ip) {
            return &mut self.addresses[place];
        }
        let known = self.unlisted.iter().position(|address| address.ip == ip);
        let place = known.unwrap_or_else(|| {
            self.unlisted.push(AddressDraft { ip, weight: None, hash_weight: None });
            self.unlisted.len() - 1
        });
        &mut self.unlisted[place]
    }

    fn add_address(&mut self, ip: IpAddr) {
        self.addresses.push(AddressDraft { ip, weight: None, hash_weight: None });
        if self.addresses.len() > SEARCHED {
            let from = if self.by_address.is_empty() { 0 } else { self.addresses.len() - 1 };
            let new = self.addresses.iter().enumerate().skip(from);
            self.by_address.extend(new.map(|(place, address)| (address.ip, place)));
        }
    }
}

impl Projection<'_> {
    /// Reads a block in the order of its print, so that a configuration means the same after it was
    /// saved and read.
    fn block(&mut self, mode: ModeId, block: &Block, context: &mut Context) {
        for statement in render::in_print_order(self.grammar, mode, block) {
            let reading = Reading { grammar: self.grammar, statement };
            let mut inner = self.statement(&reading, context);
            if let (Some(block), Verb::Open(mode)) = (&statement.block, &reading.command().verb) {
                self.block(*mode, block, &mut inner);
            }
        }
    }

    /// Reads one statement; gives the context of its block.
    #[allow(clippy::too_many_lines, reason = "one arm for each statement of the grammar")]
    fn statement(&mut self, reading: &Reading<'_>, context: &Context) -> Context {
        let Some(kept) = reading.kept() else { return Context::Other };
        let on = !reading.statement.negated;
        match kept {
            Kept::Hostname => {
                if let Some(name) = reading.text("name") {
                    name.clone_into(&mut self.snapshot.device_name);
                }
            }
            Kept::IpAddress | Kept::InterfaceAddress => {
                self.snapshot.own_addresses.extend(reading.address("ip"));
            }
            Kept::DnsRcode => {
                if let Some(code) = reading.word("rcode").and_then(ErrorCode::from_name) {
                    self.snapshot.responder.error_code = code;
                }
            }
            Kept::NoErrorHandling => self.snapshot.responder.error_handling = Some(!on),

            Kept::Protocol => self.snapshot.speaks_protocol = on,
            Kept::ServerForceDelete
            | Kept::ServerPingInterval
            | Kept::ServerPingRetries
            | Kept::ServerPredictor => self.balancing.global(kept, reading),
            Kept::RealServer | Kept::RemoteServer | Kept::CacheServer | Kept::VirtualServer => {
                return Context::Server(self.balancing.open(kept, reading));
            }
            Kept::RealMaxConnections
            | Kept::RealWeight
            | Kept::RealPort
            | Kept::RealPortDisable
            | Kept::RealPortProxy
            | Kept::RealHttp
            | Kept::RealHttpDisable
            | Kept::VirtualDisable
            | Kept::VirtualPredictor
            | Kept::VirtualPort
            | Kept::VirtualPortDisable
            | Kept::VirtualPortSticky
            | Kept::VirtualBind => {
                if let Context::Server(owner) = context {
                    self.balancing.statement(*owner, kept, reading);
                }
            }

            Kept::Site => return self.site(reading),
            Kept::SiteWeight => {
                if let (Some(site), Some(weight)) =
                    (self.site_of(context), reading.number("weight"))
                {
                    site.weight = weight;
                }
            }
            Kept::SiteLocation => {
                let location = reading.word("region").and_then(Region::from_name);
                if let Some(site) = self.site_of(context) {
                    site.location = location;
                }
            }
            Kept::Si => self.site_server(reading, context),
            Kept::EnableSiteRttSmoothing
            | Kept::DisableSiteRttSmoothing
            | Kept::MaxRttDeviation
            | Kept::MaxIgnoreCount
            | Kept::NormalRampFactor
            | Kept::RampUpFactor
            | Kept::RampDownFactor => {
                if let Some(site) = self.site_of(context) {
                    smoothing(site, kept, reading);
                }
            }
            Kept::DnsProbe => {
                self.snapshot.rtt.dns_probe = dns_probe(reading);
            }
            Kept::DiscardPassiveRtt => self.snapshot.rtt.discards_passive = true,
            Kept::NoPassiveRtt => self.snapshot.rtt.watches_nothing = true,
            Kept::EnableRttSmoothing => self.snapshot.rtt.enhanced_smoothing = true,

            Kept::Affinity => return Context::Affinity(None),
            Kept::AffinityGroup => return Context::Affinity(reading.number("group")),
            Kept::AffinityPrefer => {
                if let Context::Affinity(group) = context {
                    self.affinities.extend(affinity(reading, *group));
                }
            }

            Kept::Zone => {
                let name = reading.text("zone").unwrap_or_default().to_owned();
                self.zones.push(ZoneDraft { name, hosts: Vec::new(), by_name: HashMap::new() });
                return Context::Zone(self.zones.len() - 1);
            }
            Kept::HostApplication => {
                if let Some(host) = self.host_of(reading, context)
                    && let Some(port) = reading.number("app")
                {
                    host.applications.push(Application(port));
                }
            }
            Kept::HostAddress => {
                if let Some(host) = self.host_of(reading, context)
                    && let Some(ip) = reading.address("addr")
                {
                    host.add_address(ip);
                }
            }
            Kept::HostWeight => {
                if let Some(address) = self.address_of(reading, context) {
                    address.weight = reading.number("weight");
                }
            }
            Kept::HostHashWeight => {
                if let Some(address) = self.address_of(reading, context) {
                    address.hash_weight = reading.number("weight");
                }
            }
            Kept::HostTrackPort => {
                if let Some(host) = self.host_of(reading, context) {
                    host.track_port = reading.number("app").map(Application);
                }
            }
            Kept::HostMinActiveBindings => {
                if let Some(host) = self.host_of(reading, context) {
                    host.min_active_bindings = true;
                }
            }
            Kept::HostAffinityGroup => {
                if let Some(host) = self.host_of(reading, context) {
                    host.affinity_group = reading.number("group");
                }
            }
            Kept::HostPolicyUse => {
                if let Some(host) = self.host_of(reading, context) {
                    host.policy = reading.text("policy").map(str::to_ascii_lowercase);
                }
            }

            Kept::SnaDomain => {
                let name = reading.text("domain").unwrap_or_default();
                self.sna_domains.push(SnaDraft::new(name));
                return Context::SnaDomain(self.sna_domains.len() - 1);
            }
            Kept::SnaKeyword
            | Kept::SnaTtl
            | Kept::SnaSystem
            | Kept::SnaLu
            | Kept::SnaResources
            | Kept::SnaAddress
            | Kept::SnaHostname => {
                if let Context::SnaDomain(place) = context
                    && let Some(domain) = self.sna_domains.get_mut(*place)
                {
                    domain.statement(kept, reading, &self.states.learned);
                }
            }

            Kept::Policy => return Context::Policy,
            Kept::HostPolicy => {
                let name = reading.text("name").map(str::to_owned);
                self.host_policies.push(PolicyDraft { name, ..PolicyDraft::default() });
                return Context::HostPolicy(self.host_policies.len() - 1);
            }

            Kept::HealthCheck | Kept::HostHealthCheck => {
                self.switch(context, Metric::HealthCheck, on);
            }
            Kept::WeightedIp | Kept::HostWeightedIp => self.switch(context, Metric::WeightedIp, on),
            Kept::WeightedSite | Kept::HostWeightedSite => {
                self.switch(context, Metric::WeightedSite, on);
            }
            Kept::Capacity | Kept::HostCapacity => self.switch(context, Metric::Capacity, on),
            Kept::ActiveBindings | Kept::HostActiveBindings => {
                self.switch(context, Metric::ActiveBindings, on);
            }
            Kept::RoundTripTime | Kept::HostRoundTripTime => {
                self.switch(context, Metric::RoundTripTime, on);
            }
            Kept::Geographic | Kept::HostGeographic => self.switch(context, Metric::Geographic, on),
            Kept::NumSession | Kept::HostNumSession => self.switch(context, Metric::NumSession, on),
            Kept::Flashback | Kept::HostFlashback => self.switch(context, Metric::Flashback, on),
            Kept::Preference | Kept::HostPreference => self.switch(context, Metric::Preference, on),

            Kept::DnsActiveOnly
            | Kept::HostDnsActiveOnly
            | Kept::DnsBestOnly
            | Kept::HostDnsBestOnly
            | Kept::DnsTtl
            | Kept::HostDnsTtl
            | Kept::DnsOverride
            | Kept::DnsCacheProxy
            | Kept::DnsCnameDetect
            | Kept::DnsTransparentIntercept
            | Kept::DnsCheckInterval => {
                if let Some(policy) = self.policy_of(context) {
                    dns_behaviour(policy, kept, reading, on);
                }
            }
            Kept::RoundRobin
            | Kept::HostRoundRobin
            | Kept::WeightedSelection
            | Kept::HostWeightedSelection
            | Kept::UseDefaultLocation
            | Kept::HostUseDefaultLocation
            | Kept::MetricOrder
            | Kept::HostMetricOrder => {
                if let Some(policy) = self.policy_of(context) {
                    selection(policy, kept, reading, on);
                }
            }
            Kept::CapacityThreshold
            | Kept::NumSessionTolerance
            | Kept::HostNumSessionTolerance
            | Kept::FlashbackApplicationTolerance
            | Kept::HostFlashbackApplicationTolerance
            | Kept::FlashbackTcpTolerance
            | Kept::HostFlashbackTcpTolerance
            | Kept::RttCacheInterval
            | Kept::RttCachePrefix
            | Kept::RttTolerance
            | Kept::RttExplorePercentage
            | Kept::RttSource
            | Kept::HostRttSource
            | Kept::StaticPrefix
            | Kept::GeoPrefix
            | Kept::ConnectionLoadLimit
            | Kept::HostConnectionLoadLimit
            | Kept::ConnectionLoadIntervals
            | Kept::ConnectionLoadWeights
            | Kept::ProtocolStatusInterval => {
                if let Some(policy) = self.policy_of(context) {
                    metric_parameter(policy, kept, reading);
                }
            }
            Kept::Sticky
            | Kept::HostSticky
            | Kept::StickyPrefixLength
            | Kept::HostStickyPrefixLength
            | Kept::StickyIpv6PrefixLength
            | Kept::HostStickyIpv6PrefixLength
            | Kept::StickyAge
            | Kept::HostStickyAge
            | Kept::HashPersist
            | Kept::HostHashPersist
            | Kept::HashPrefixLength
            | Kept::HostHashPrefixLength
            | Kept::HashRehashDisable
            | Kept::HostHashRehashDisable
            | Kept::HashWeightRehashDisable
            | Kept::HostHashWeightRehashDisable
            | Kept::HashHoldDown => {
                if let Some(policy) = self.policy_of(context) {
                    persistence(policy, kept, reading, on);
                }
            }

            // Kept and printed, without effect on the snapshot. What counts only after a restart is
            // read by `boot_settings`.
            Kept::DefaultLocation
            | Kept::SoftwareVersion
            | Kept::Module
            | Kept::ServerSourceIp
            | Kept::ServerNoFastStateful
            | Kept::ServerNoRemoteL3Check
            | Kept::ServerSymmetricPort
            | Kept::CswRule
            | Kept::PortRange
            | Kept::PortRangePort
            | Kept::HealthPolicy
            | Kept::HealthPolicyAddress
            | Kept::HealthPolicyPort
            | Kept::HealthPolicyProtocol
            | Kept::HealthPolicyInterval
            | Kept::HealthPolicyRetries
            | Kept::PortProfile
            | Kept::PortProfileTcp
            | Kept::PortProfileTcpSetting
            | Kept::PortProfileUdp
            | Kept::PortProfileUdpSetting
            | Kept::PortProfileNoFastBringup
            | Kept::RealDescription
            | Kept::RealSourceNat
            | Kept::RealBackup
            | Kept::RealPortAddressQuery
            | Kept::RealPortZone
            | Kept::RealPortKeepalive
            | Kept::RealPortL4CheckOnly
            | Kept::RealPortSetting
            | Kept::RealHttpUrl
            | Kept::RealHttpSetting
            | Kept::VirtualDescription
            | Kept::VirtualStickyAge
            | Kept::VirtualSymmetricActive
            | Kept::VirtualSymmetricPriority
            | Kept::VirtualTcpAge
            | Kept::VirtualTrack
            | Kept::VirtualTrackGroup
            | Kept::VirtualUdpAge
            | Kept::VirtualPortSetting
            | Kept::Communication
            | Kept::ActiveRttGathering
            | Kept::ActiveRttQueryInterval
            | Kept::ActiveRttToPeerInterval
            | Kept::AgentActiveCacheInterval
            | Kept::AgentDnsProber
            | Kept::AgentFastAgeDnsFail
            | Kept::AgentFastAgeIcmpFail
            | Kept::AgentRttRefreshInterval
            | Kept::PeerPublicKeyExpire
            | Kept::SecureOnly
            | Kept::ProcessVipListOptimize
            | Kept::UdpProbePort
            | Kept::SiKeyInterval
            | Kept::Vlan
            | Kept::VlanTagged
            | Kept::VlanUntagged
            | Kept::VlanRouterInterface
            | Kept::VlanSpanningTree
            | Kept::AaaEnable
            | Kept::AaaLogin
            | Kept::AaaPrivilegeMode
            | Kept::AaaAuthentication
            | Kept::Aaa
            | Kept::Banner
            | Kept::BannerEnterKey
            | Kept::BannerOfKind
            | Kept::RoleTemplate
            | Kept::RoleContext
            | Kept::RoleDefaultContext
            | Kept::RoleGlobal
            | Kept::Context
            | Kept::Boot
            | Kept::Clock
            | Kept::ConsoleTimeout
            | Kept::EnableAaaConsole
            | Kept::EnablePasswordDisplay
            | Kept::EnablePortConfigPassword
            | Kept::EnableReadOnlyPassword
            | Kept::EnableSkipPageDisplay
            | Kept::EnableSuperUserPassword
            | Kept::EnableTelnetAuthentication
            | Kept::EnableTelnetPassword
            | Kept::EnableTelnet
            | Kept::IpDefaultGateway
            | Kept::IpDnsDomainName
            | Kept::IpDnsServerAddress
            | Kept::IpPolicy
            | Kept::IpRoute
            | Kept::IpSsh
            | Kept::LoggingOn
            | Kept::LoggingSize
            | Kept::LoggingLevel
            | Kept::LoggingConsole
            | Kept::LoggingHost
            | Kept::Logging
            | Kept::Privilege
            | Kept::PrivilegeSetting
            | Kept::RadiusKey
            | Kept::RadiusServer
            | Kept::Service
            | Kept::SnmpEncodedCommunity
            | Kept::SnmpCommunity
            | Kept::SnmpContact
            | Kept::SnmpTrap
            | Kept::SnmpHost
            | Kept::SnmpLocation
            | Kept::SntpPollInterval
            | Kept::SntpServer
            | Kept::Ssh
            | Kept::SystemMax
            | Kept::TacacsKey
            | Kept::TacacsServer
            | Kept::TelnetServer
            | Kept::Telnet
            | Kept::UserPassword
            | Kept::UserPrivilege
            | Kept::UserWithoutPassword
            | Kept::WebManagement
            | Kept::InterfaceEthernet
            | Kept::InterfaceLoopback
            | Kept::InterfaceManagement
            | Kept::InterfaceVe
            | Kept::InterfaceName
            | Kept::InterfaceDisable
            | Kept::InterfaceAccessGroup
            | Kept::InterfacePolicy
            | Kept::InterfaceSpeed
            | Kept::AccessListEntry
            | Kept::AccessList
            | Kept::AccessListRule
            | Kept::EmulateVip
            | Kept::EmulateConnection
            | Kept::EmulateSessions
            | Kept::EmulateCpu
            | Kept::EmulateConnectionRate
            | Kept::EmulateBindings
            | Kept::EmulateHealth
            | Kept::EmulateApplicationHealth
            | Kept::EmulateFlashback
            | Kept::EmulateFlashbackApplication
            | Kept::EmulateSnaSystem
            | Kept::EmulateSnaLu
            | Kept::EmulateAgent
            | Kept::EmulateDnsAddresses
            | Kept::EmulateDnsAlias
            | Kept::EmulateDnsNothing
            | Kept::EmulateDnsFile
            | Kept::EmulateRtt
            | Kept::EmulateActiveRtt => {}
        }
        Context::Other
    }

    fn site(&mut self, reading: &Reading<'_>) -> Context {
        self.snapshot.sites.push(Site::named(reading.text("name").unwrap_or_default()));
        Context::Site(SiteId::from_index(self.snapshot.sites.len() - 1))
    }

    fn site_of(&mut self, context: &Context) -> Option<&mut Site> {
        match context {
            Context::Site(site) => self.snapshot.sites.get_mut(site.index()),
            Context::Root
            | Context::Policy
            | Context::HostPolicy(_)
            | Context::Affinity(_)
            | Context::Zone(_)
            | Context::SnaDomain(_)
            | Context::Server(_)
            | Context::Other => None,
        }
    }

    fn site_server(&mut self, reading: &Reading<'_>, context: &Context) {
        let (Context::Site(site), Some(address)) = (context, reading.address("addr")) else {
            return;
        };
        let id = ServerId::from_index(self.snapshot.servers.len());
        self.snapshot.servers.push(SiteServer {
            name: reading.text("name").map(str::to_owned),
            address,
            preference: reading.number("preference").unwrap_or(128),
            site: *site,
            is_self: false,
            state: self.states.server(address),
        });
        self.snapshot.sites[site.index()].servers.push(id);
    }

    fn host_of(&mut self, reading: &Reading<'_>, context: &Context) -> Option<&mut HostDraft> {
        let Context::Zone(zone) = context else { return None };
        let zone = self.zones.get_mut(*zone)?;
        let name = reading.text("host")?;
        let next = zone.hosts.len();
        // The lines of a host usually stand together.
        if zone.hosts.last().is_some_and(|host| host.name.eq_ignore_ascii_case(name)) {
            return zone.hosts.last_mut();
        }
        let place = *zone.by_name.entry(name.to_ascii_lowercase()).or_insert(next);
        if place == next {
            zone.hosts.push(HostDraft { name: name.to_owned(), ..HostDraft::default() });
        }
        zone.hosts.get_mut(place)
    }

    fn address_of(
        &mut self,
        reading: &Reading<'_>,
        context: &Context,
    ) -> Option<&mut AddressDraft> {
        let ip = reading.address("addr")?;
        Some(self.host_of(reading, context)?.address_or_unlisted(ip))
    }

    fn policy_of(&mut self, context: &Context) -> Option<&mut PolicyDraft> {
        match context {
            Context::Policy => Some(&mut self.global),
            Context::HostPolicy(place) => self.host_policies.get_mut(*place),
            Context::Root
            | Context::Site(_)
            | Context::Affinity(_)
            | Context::Zone(_)
            | Context::SnaDomain(_)
            | Context::Server(_)
            | Context::Other => None,
        }
    }

    fn switch(&mut self, context: &Context, metric: Metric, on: bool) {
        if let Some(policy) = self.policy_of(context) {
            policy.switch(metric, on);
        }
    }

    /// Resolves what needs the whole: inherited values, owners of VIPs, names.
    fn finish(mut self, previous: &Snapshot) -> Snapshot {
        self.snapshot.balancing = std::mem::take(&mut self.balancing).finish();
        self.snapshot.policies = std::iter::once(self.global.global())
            .chain(self.host_policies.iter().map(|draft| draft.host(&self.global)))
            .collect();
        let policies: HashMap<String, PolicyId> = self
            .host_policies
            .iter()
            .enumerate()
            .filter_map(|(place, draft)| {
                let name = draft.name.as_ref()?.to_ascii_lowercase();
                Some((name, PolicyId::from_index(place + 1)))
            })
            .collect();
        for server in &mut self.snapshot.servers {
            server.is_self = self.snapshot.own_addresses.contains(&server.address);
        }
        self.snapshot.affinities = std::mem::take(&mut self.affinities)
            .into_iter()
            .filter_map(|draft| draft.resolve(&self.snapshot))
            .collect();
        let hosts = self.zones.iter().map(|zone| zone.hosts.len()).sum();
        self.snapshot.hosts.reserve_exact(hosts);
        let mut names = Vec::with_capacity(hosts);
        for zone in std::mem::take(&mut self.zones) {
            let zone_id = ZoneId::from_index(self.snapshot.zones.len());
            let mut hosts = Vec::with_capacity(zone.hosts.len());
            for draft in zone.hosts {
                hosts.push(HostId::from_index(self.snapshot.hosts.len()));
                let domain_name = format!("{}.{}", draft.name, zone.name);
                let name = wire_name(&domain_name);
                let domain = previous_domain(previous, &name, &zone.name);
                let host = self.host(draft, domain_name, zone_id, &policies, domain);
                self.snapshot.hosts.push(host);
                names.push(name);
            }
            self.snapshot.zones.push(Zone { name: zone.name, hosts });
        }
        assign_owners(&mut self.snapshot);
        name_hosts(&mut self.snapshot, names);
        for draft in std::mem::take(&mut self.sna_domains) {
            let plan = draft.finish();
            let known = previous.sna_domain(&plan.name);
            let tallies = known.map(|domain| Arc::clone(&domain.tallies)).unwrap_or_default();
            let id = SnaDomainId::from_index(self.snapshot.sna_domains.len());
            self.snapshot.sna_names.insert(wire_name(&plan.name), id);
            self.snapshot.sna_domains.push(SnaDomain::new(plan, &self.states.sna, tallies));
        }
        self.snapshot
    }

    fn host(
        &self,
        draft: HostDraft,
        domain_name: String,
        zone: ZoneId,
        policies: &HashMap<String, PolicyId>,
        domain: Arc<Domain>,
    ) -> Host {
        let learned = self.states.learned.of(&domain_name).unwrap_or_default();
        let is_learned = |ip: &IpAddr| learned.addresses.contains(ip);
        let has_list = !draft.addresses.is_empty();
        let only_listed =
            self.snapshot.policies[PolicyId::GLOBAL.index()].dns.override_ && has_list;
        let only_learned = !only_listed && !learned.addresses.is_empty();
        let further = learned.addresses.iter().filter(|ip| draft.place(**ip).is_none());
        let further = further.map(|ip| {
            let known = draft.unlisted.iter().find(|address| address.ip == *ip);
            let (weight, hash_weight) =
                known.map_or((None, None), |known| (known.weight, known.hash_weight));
            (AddressDraft { ip: *ip, weight, hash_weight }, Source::Dns)
        });
        let listed = draft.addresses.iter().map(|address| {
            let both = is_learned(&address.ip);
            (*address, if both { Source::Both } else { Source::Configured })
        });
        let all: Vec<(AddressDraft, Source)> = listed.chain(further).collect();
        let ips: Vec<IpAddr> = all.iter().map(|(address, _)| address.ip).collect();
        let slots = domain.lock().assign_slots(&ips);
        let addresses = all
            .into_iter()
            .zip(slots)
            .map(|((address, source), slot)| Address {
                ip: address.ip,
                source,
                is_candidate: match source {
                    Source::Configured => !only_learned,
                    Source::Dns => !only_listed,
                    Source::Both => true,
                },
                weight: address.weight,
                hash_weight: address.hash_weight,
                owner: None,
                slot,
                state: self.states.address(address.ip),
            })
            .collect();
        Host {
            zone,
            name: draft.name,
            domain_name,
            applications: draft.applications,
            track_port: draft.track_port,
            min_active_bindings: draft.min_active_bindings,
            policy: draft
                .policy
                .and_then(|name| policies.get(&name).copied())
                .unwrap_or(PolicyId::GLOBAL),
            affinity_group: draft.affinity_group,
            addresses,
            learned_ttl: (!learned.addresses.is_empty()).then_some(learned.ttl),
            domain,
        }
    }
}

/// The cell of the same domain name, in wire form, in the previous snapshot, or a new one.
fn previous_domain(previous: &Snapshot, name: &[u8], zone_name: &str) -> Arc<Domain> {
    match previous.lookup(name) {
        Some(NameEntry::Host(host)) => {
            let host = &previous.hosts[host.index()];
            let same_zone = previous.zones[host.zone.index()].name.eq_ignore_ascii_case(zone_name);
            if same_zone { Arc::clone(&host.domain) } else { Arc::default() }
        }
        Some(NameEntry::EmptyNonTerminal) | None => Arc::default(),
    }
}

/// Gives every address the site device whose VIP it is, as the devices report now.
pub fn assign_owners(snapshot: &mut Snapshot) {
    let owners = owners(snapshot);
    for host in &mut snapshot.hosts {
        for address in &mut host.addresses {
            address.owner = owners.get(&address.ip).copied();
        }
    }
}

/// Whose VIP each reported address is. One that two devices report belongs to the first of them in
/// configured order (decisions 3.6), but of a pair to the one that holds it active (guide p. 157).
fn owners(snapshot: &Snapshot) -> HashMap<IpAddr, ServerId> {
    let mut owners = HashMap::new();
    for standby in [false, true] {
        for (place, server) in snapshot.servers.iter().enumerate() {
            server.state.for_each_vip(|vip| {
                if vip.standby == standby {
                    owners.entry(vip.address).or_insert(ServerId::from_index(place));
                }
            });
        }
    }
    owners
}

/// Enters all hosts by their names in wire form, and the empty names between a host and its zone.
/// Where two zones could hold the same name, the longer one has it.
fn name_hosts(snapshot: &mut Snapshot, mut wire_names: Vec<Box<[u8]>>) {
    let mut order: Vec<usize> = (0..snapshot.hosts.len()).collect();
    let length = |place: usize| snapshot.zones[snapshot.hosts[place].zone.index()].name.len();
    order.sort_by_key(|place| length(*place));
    let mut names = HashMap::with_capacity(snapshot.hosts.len());
    for place in order {
        let host = &snapshot.hosts[place];
        let name = std::mem::take(&mut wire_names[place]);
        let labels = host.name.split('.').count();
        let mut rest = &name[..];
        for _ in 1..labels {
            rest = &rest[usize::from(rest[0]) + 1..];
            names.entry(rest.into()).or_insert(NameEntry::EmptyNonTerminal);
        }
        names.insert(name, NameEntry::Host(HostId::from_index(place)));
    }
    snapshot.names = names;
}

/// A domain name in lower-case wire form (RFC 1035 section 3.1), with the root label.
///
/// The grammar takes labels of 1 to 63 characters only.
pub fn wire_name(name: &str) -> Box<[u8]> {
    let mut wire = Vec::with_capacity(name.len() + 2);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        wire.push(u8::try_from(label.len().min(63)).unwrap_or(63));
        wire.extend(label.bytes().take(63).map(|byte| byte.to_ascii_lowercase()));
    }
    wire.push(0);
    wire.into_boxed_slice()
}

fn dns_behaviour(policy: &mut PolicyDraft, kept: Kept, reading: &Reading<'_>, on: bool) {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::DnsActiveOnly | Kept::HostDnsActiveOnly => policy.active_only = Some(on),
        Kept::DnsBestOnly | Kept::HostDnsBestOnly => policy.best_only = Some(on),
        Kept::DnsTtl | Kept::HostDnsTtl => {
            policy.ttl =
                Some(on.then(|| {
                    reading.number("seconds").unwrap_or(crate::model::policy::DEFAULT_TTL)
                }));
        }
        Kept::DnsOverride => policy.override_ = on,
        Kept::DnsCacheProxy => policy.cache_proxy = on,
        Kept::DnsCnameDetect => policy.cname_detect = on,
        Kept::DnsTransparentIntercept => {
            let only = reading.value("how").is_some();
            let how = if only { Intercept::Unchanged } else { Intercept::WithPolicy };
            policy.transparent_intercept = on.then_some(how);
        }
        Kept::DnsCheckInterval => policy.check_interval = reading.number("seconds"),
        _ => {}
    }
}

fn selection(policy: &mut PolicyDraft, kept: Kept, reading: &Reading<'_>, on: bool) {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::RoundRobin | Kept::HostRoundRobin => {
            policy.tie_breaker = Some(match (on, reading.value("how").is_some()) {
                (false, _) => TieBreaker::LeastResponse,
                (true, false) => TieBreaker::RoundRobin,
                (true, true) => TieBreaker::WeightedRoundRobin,
            });
        }
        Kept::WeightedSelection | Kept::HostWeightedSelection => {
            policy.weighted_selection = Some(on);
        }
        Kept::UseDefaultLocation | Kept::HostUseDefaultLocation => {
            policy.use_default_location = Some(on);
        }
        Kept::MetricOrder | Kept::HostMetricOrder => {
            policy.order = Some(reading.words("metric").filter_map(Metric::from_name).collect());
        }
        _ => {}
    }
}

fn metric_parameter(policy: &mut PolicyDraft, kept: Kept, reading: &Reading<'_>) {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::CapacityThreshold => policy.capacity_threshold = reading.number("percent"),
        Kept::NumSessionTolerance | Kept::HostNumSessionTolerance => {
            policy.session_tolerance = reading.number("percent");
        }
        Kept::FlashbackApplicationTolerance | Kept::HostFlashbackApplicationTolerance => {
            policy.flashback_application_tolerance = reading.number("percent");
        }
        Kept::FlashbackTcpTolerance | Kept::HostFlashbackTcpTolerance => {
            policy.flashback_tcp_tolerance = reading.number("percent");
        }
        Kept::RttCacheInterval => policy.rtt_cache_interval = reading.number("seconds"),
        Kept::RttCachePrefix => policy.rtt_cache_prefix = reading.number("length"),
        Kept::RttTolerance => policy.rtt_tolerance = reading.number("percent"),
        Kept::RttExplorePercentage => policy.rtt_explore_percentage = reading.number("percent"),
        Kept::RttSource | Kept::HostRttSource => {
            policy.rtt_source = reading.word("source").and_then(RttSource::from_name);
        }
        // A length of 0 is ignored (guide p. 55).
        Kept::StaticPrefix => {
            let prefix = reading.prefix("prefix").filter(|(_, length)| *length > 0);
            policy.static_prefixes.extend(prefix);
        }
        Kept::GeoPrefix => {
            let region = reading.word("region").and_then(Region::from_name);
            if let (Some((address, length)), Some(region)) = (reading.prefix("prefix"), region) {
                policy.geo_prefixes.push((address, length, region));
            }
        }
        Kept::ConnectionLoadLimit | Kept::HostConnectionLoadLimit => {
            policy.connection_load_limit = reading.number("limit");
        }
        Kept::ConnectionLoadIntervals => {
            policy.connection_load_intervals = reading.number("count").zip(reading.number("rate"));
        }
        Kept::ConnectionLoadWeights => {
            policy.connection_load_weights =
                (1..=8).map_while(|place| reading.number(&format!("weight-{place}"))).collect();
        }
        Kept::ProtocolStatusInterval => policy.status_interval = reading.number("seconds"),
        _ => {}
    }
}

fn persistence(policy: &mut PolicyDraft, kept: Kept, reading: &Reading<'_>, on: bool) {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::Sticky | Kept::HostSticky => policy.sticky = Some(on),
        Kept::StickyPrefixLength | Kept::HostStickyPrefixLength => {
            policy.sticky_prefix_length = reading.number("length");
        }
        Kept::StickyIpv6PrefixLength | Kept::HostStickyIpv6PrefixLength => {
            policy.sticky_ipv6_prefix_length = reading.number("length");
        }
        Kept::StickyAge | Kept::HostStickyAge => policy.sticky_age = reading.number("minutes"),
        Kept::HashPersist | Kept::HostHashPersist => {
            policy.hash = Some(on.then(|| reading.value("how").is_some()));
        }
        Kept::HashPrefixLength | Kept::HostHashPrefixLength => {
            policy.hash_prefix_length = reading.number("length");
        }
        Kept::HashRehashDisable | Kept::HostHashRehashDisable => {
            let seconds = reading.number("seconds").unwrap_or(DEFAULT_REHASH_TIMEOUT);
            policy.hash_rehash_disabled = Some(on.then_some(seconds));
        }
        Kept::HashWeightRehashDisable | Kept::HostHashWeightRehashDisable => {
            policy.hash_weight_rehash_disabled = Some(on);
        }
        Kept::HashHoldDown => policy.hash_hold_down = reading.number("minutes"),
        _ => {}
    }
}

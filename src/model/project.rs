//! The statement tree to a snapshot. Total: it cannot refuse, for every rule was checked when a
//! line was accepted.
//!
//! The only reader of the tree. Every statement is named in the one match below, so a new one does
//! not compile until it is read or said to be kept only.
#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use hashbrown::HashMap;

use crate::config::render;
use crate::config::tree::{Block, Reading, Statement, Tree};
use crate::grammar::link::Kept;
use crate::grammar::{Grammar, ModeId, Verb};
use crate::health::state::States;
use crate::model::balancing::{BalancingDraft, Owner};
use crate::model::draft::{DEFAULT_REHASH_TIMEOUT, PolicyDraft};
use crate::model::hosts::{self, AddressDraft, HostDraft, ZoneDraft};
use crate::model::policy::{Intercept, Metric, RttSource, TieBreaker};
use crate::model::region::Region;
use crate::model::site::{AffinityDraft, affinity, dns_probe, smoothing};
use crate::model::sna::SnaDraft;
use crate::model::snapshot::{
    Application, ErrorCode, PolicyId, ServerId, Site, SiteId, SiteServer, SnaDomainId, Snapshot,
};
use crate::sna::SnaDomain;

/// Settings that count only after a restart, as they were when the appliance started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootSettings {
    /// Region of clients of which nothing is known.
    pub default_location: Option<Region>,
    /// TCP port of the GSLB protocol.
    pub protocol_port: Option<u16>,
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
        } else if reading.kept() == Some(Kept::Communication) {
            settings.protocol_port = reading.number("port");
        }
    }
    settings
}

/// Makes a snapshot. Cells of what was in `previous` already are taken over, and hosts that stay as
/// they are.
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
        previous,
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
    if let Some(port) = boot.protocol_port {
        projection.snapshot.protocol_port.live = port;
    }
    if let Some(root) = grammar.root_mode() {
        projection.block(root, &tree.root, &Context::Root);
    }
    projection.finish()
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
    /// A block of server load balancing.
    Server(Owner),
    /// A block without meaning for the snapshot.
    Other,
}

struct Projection<'a> {
    grammar: &'a Grammar,
    states: &'a States,
    /// The snapshot before, whose cells and hosts are taken over.
    previous: &'a Snapshot,
    snapshot: Snapshot,
    global: PolicyDraft,
    host_policies: Vec<PolicyDraft>,
    affinities: Vec<AffinityDraft>,
    zones: Vec<ZoneDraft<'a>>,
    sna_domains: Vec<SnaDraft>,
    balancing: BalancingDraft,
}

impl<'a> Projection<'a> {
    /// Reads a block in the order of its print, so that a configuration means the same after it was
    /// saved and read.
    fn block(&mut self, mode: ModeId, block: &'a Block, context: &Context) {
        let waits = |statement: &Statement| {
            block.waiting().iter().any(|former| former.command == statement.command)
        };
        // What counts until a change is applied.
        for former in block.waiting().iter().filter_map(|former| former.statement.as_ref()) {
            self.statement(&Reading { grammar: self.grammar, statement: former }, context);
        }
        for statement in render::in_print_order(self.grammar, mode, block) {
            if waits(statement) {
                continue;
            }
            let reading = Reading { grammar: self.grammar, statement };
            let inner = self.statement(&reading, context);
            let (Some(block), Verb::Open(mode)) = (&statement.block, &reading.command().verb)
            else {
                continue;
            };
            if self.is_to_be_read(*mode, block, &inner) {
                self.block(*mode, block, &inner);
            }
        }
    }

    /// Whether a block must be read, for it is not the one of a zone that is known.
    fn is_to_be_read(&mut self, mode: ModeId, block: &'a Block, context: &Context) -> bool {
        let Context::Zone(place) = *context else { return true };
        self.zones[place].open(mode, block, self.previous.zones.get(place))
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
            Kept::Communication => {
                if let Some(port) = reading.number("port") {
                    self.snapshot.protocol_port.configured = port;
                }
            }
            Kept::ServerForceDelete
            | Kept::ServerPingInterval
            | Kept::ServerPingRetries
            | Kept::ServerPredictor => self.balancing.global(kept, reading),
            Kept::PortRange
            | Kept::HealthPolicy
            | Kept::MatchList
            | Kept::PortPolicy
            | Kept::PortProfile
            | Kept::RealServer
            | Kept::RemoteServer
            | Kept::CacheServer
            | Kept::VirtualServer => {
                return Context::Server(self.balancing.open(kept, reading));
            }
            Kept::PortRangePorts
            | Kept::PortProfileTcp
            | Kept::PortProfileTcpKeepalive
            | Kept::PortProfileTcpKeepaliveProtocol
            | Kept::PortProfileUdp
            | Kept::PortProfileUdpKeepalive
            | Kept::PortProfileUdpKeepaliveProtocol
            | Kept::PortProfileNoFastBringup
            | Kept::RealPortAddressQuery
            | Kept::RealPortZone
            | Kept::RealPortKeepalive
            | Kept::RealPortL4CheckOnly
            | Kept::RealHttpUrl
            | Kept::RealHttpStatusCode
            | Kept::RealHttpContentMatch
            | Kept::RealHttpKeepalive
            | Kept::RealHttpL4CheckOnly
            | Kept::PortPolicyProtocol
            | Kept::PortPolicyHttp
            | Kept::PortPolicyUrl
            | Kept::PortPolicyStatusCode
            | Kept::PortPolicyContentMatch
            | Kept::RealPortPolicy
            | Kept::RealHttpPortPolicy
            | Kept::VirtualPortDsr
            | Kept::VirtualPortPolicy
            | Kept::MatchListUp
            | Kept::MatchListUpCompound
            | Kept::MatchListDown
            | Kept::MatchListDownCompound
            | Kept::MatchListDefault
            | Kept::HealthPolicyAddress
            | Kept::HealthPolicyPort
            | Kept::HealthPolicyL4Check
            | Kept::HealthPolicyL7Check
            | Kept::HealthPolicyAnd
            | Kept::HealthPolicyOr
            | Kept::HealthPolicyNot
            | Kept::PortProfileDisable
            | Kept::PortProfileDisableReal
            | Kept::PortProfileDisableVirtual
            | Kept::PortProfileTcpKeepalivePort
            | Kept::PortProfileTcpUseMasterState
            | Kept::PortProfileUdpKeepalivePort
            | Kept::PortProfileUdpUseMasterState
            | Kept::RealMaxConnections
            | Kept::RealWeight
            | Kept::RealPortRange
            | Kept::RealPortHealthPolicy
            | Kept::RealHttpHealthPolicy
            | Kept::RealPort
            | Kept::RealPortDisable
            | Kept::RealPortProxy
            | Kept::RealHttp
            | Kept::RealHttpDisable
            | Kept::VirtualDisable
            | Kept::VirtualPredictor
            | Kept::VirtualSymmetricActive
            | Kept::VirtualSymmetricPriority
            | Kept::VirtualPort
            | Kept::VirtualPortDisable
            | Kept::VirtualPortSticky
            | Kept::VirtualPortRange
            | Kept::VirtualTrack
            | Kept::VirtualTrackGroup
            | Kept::VirtualBind
            | Kept::VirtualBindRange => {
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
                self.zones.push(ZoneDraft::new(reading.text("zone").unwrap_or_default()));
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
            | Kept::CacheGroup
            | Kept::CacheGroupMember
            | Kept::CacheGroupHashMask
            | Kept::HealthPolicyProtocol
            | Kept::HealthPolicyInterval
            | Kept::HealthPolicyRetries
            | Kept::PortProfileTcpSetting
            | Kept::PortProfileUdpSetting
            | Kept::RealDescription
            | Kept::RealSourceNat
            | Kept::RealBackup
            | Kept::RealPortSetting
            | Kept::RealHttpSetting
            | Kept::VirtualDescription
            | Kept::VirtualStickyAge
            | Kept::VirtualTcpAge
            | Kept::VirtualTrackSource
            | Kept::VirtualUdpAge
            | Kept::VirtualPortSetting
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
            | Kept::InterfaceHelper
            | Kept::InterfaceVrf
            | Kept::InterfaceVrid
            | Kept::InterfaceVeVrid
            | Kept::VridBackup
            | Kept::VridAddress
            | Kept::VridActivate
            | Kept::RouterVrrpExtended
            | Kept::Vrf
            | Kept::VrfRd
            | Kept::VrfFamily
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
            | Kept::ClockZoneGmt
            | Kept::ClockZoneUs
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
            | Kept::SshIdleTime
            | Kept::SshTimeout
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
            | Kept::Alias
            | Kept::Arp
            | Kept::BatchBuffer
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
            | Kept::TelnetTimeout
            | Kept::UserPassword
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
            | Kept::EmulateOwnSessions
            | Kept::EmulateOwnCpu
            | Kept::EmulateOwnConnectionRate
            | Kept::EmulateOwnRtt
            | Kept::EmulateOwnActiveRtt
            | Kept::EmulateBindingSessions
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
            | Kept::EmulateActiveRtt
            | Kept::EmulateMap => {}
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
        self.zones.get_mut(*zone)?.host(reading.text("host")?)
    }

    fn address_of(
        &mut self,
        reading: &Reading<'_>,
        context: &Context,
    ) -> Option<&mut AddressDraft> {
        let ip = reading.address("addr")?;
        Some(self.host_of(reading, context)?.address(ip))
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
    fn finish(mut self) -> Snapshot {
        let previous = self.previous;
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
        // Hosts refer to policies by their place.
        let names = |snapshot: &'a Snapshot| snapshot.policies.iter().map(|policy| &policy.name);
        let are_policies_known =
            names(previous).eq(self.snapshot.policies.iter().map(|policy| &policy.name));
        // Which addresses a host has, and which can be chosen, follows from these.
        let overrides = |snapshot: &Snapshot| snapshot.global_policy().dns.override_;
        self.snapshot.learned = self.states.learned.revision();
        if !are_policies_known
            || self.snapshot.learned != previous.learned
            || overrides(&self.snapshot) != overrides(previous)
        {
            self.read_known_zones();
        }
        let zones = std::mem::take(&mut self.zones);
        hosts::enter(&mut self.snapshot, zones, &policies, self.states, previous);
        for draft in std::mem::take(&mut self.sna_domains) {
            let plan = draft.finish();
            let known = previous.sna_domain(&plan.name);
            let tallies = known.map(|domain| Arc::clone(&domain.tallies)).unwrap_or_default();
            let id = SnaDomainId::from_index(self.snapshot.sna_domains.len());
            self.snapshot.sna_names.insert(hosts::wire_name(&plan.name), id);
            self.snapshot.sna_domains.push(SnaDomain::new(plan, &self.states.sna, tallies));
        }
        self.snapshot
    }

    fn read_known_zones(&mut self) {
        for place in 0..self.zones.len() {
            if let Some((mode, block)) = self.zones[place].take_unread() {
                self.block(mode, block, &Context::Zone(place));
            }
        }
    }
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

//! What the answers are made from: plain typed data with indices instead of names.
//!
//! A snapshot is never changed. [`crate::model::project`] makes a new one from the statement tree
//! and takes over the cells of what is still there: counters and rotation of a domain
//! ([`Domain`]), measured state of an address ([`AddressState`]) and of a site device
//! ([`ServerState`]).

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::value::Value;
use crate::gslb::affinity::Affinity;
use crate::gslb::choose::Candidates;
use crate::gslb::domain::{Domain, Slot};
use crate::health::rtt::DnsProbe;
use crate::health::smoothing::{Smoothing, SmoothingParameters};
use crate::health::state::{AddressState, ServerState};
use crate::model::balancing::Balancing;
use crate::model::policy::{DEFAULT_TTL, Policy};
use crate::model::region::Region;
use crate::names::named_enum;
use crate::revision::Revision;
use crate::sna::SnaDomain;

/// Declares an index into a list of the snapshot or of one of its parts.
macro_rules! index {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the list.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The index of a position; a list never holds more than `u32::MAX` entries.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("lists of a snapshot fit 32 bits"))
            }
        }
    };
}

pub(crate) use index;

index! {
    /// A site in [`Snapshot::sites`].
    SiteId
}
index! {
    /// A site device in [`Snapshot::servers`].
    ServerId
}
index! {
    /// A policy in [`Snapshot::policies`].
    PolicyId
}
index! {
    /// A zone in [`Snapshot::zones`].
    ZoneId
}
index! {
    /// A host in [`Snapshot::hosts`].
    HostId
}
index! {
    /// A domain in [`Snapshot::sna_domains`].
    SnaDomainId
}

impl PolicyId {
    /// The global policy.
    pub const GLOBAL: PolicyId = PolicyId(0);
}

/// An application of a host, by its TCP or UDP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Application(pub u16);

/// Applications of a host; a host rarely has more than a few.
pub type Applications = SmallVec<[Application; 8]>;

/// A domain name in lower-case wire form. Most of them are so short that they lie in the table that is
/// keyed by them, where a question finds them without another look into memory.
pub type WireName = SmallVec<[u8; 24]>;

/// The meaning of a whole configuration.
#[derive(Debug)]
pub struct Snapshot {
    /// The device's name, which begins every prompt.
    pub device_name: String,
    /// Addresses of the device itself; a site device with one of them is the controller.
    pub own_addresses: Vec<IpAddr>,
    /// Sites in configured order.
    pub sites: Vec<Site>,
    /// Site devices, site by site in configured order.
    pub servers: Vec<SiteServer>,
    /// The global policy first, then the host-level policies in configured order.
    pub policies: Vec<Policy>,
    /// Zones in configured order.
    pub zones: Vec<Zone>,
    /// Hosts, zone by zone in configured order. The next snapshot shares those that stay as they are.
    pub hosts: Vec<Arc<Host>>,
    /// Which site device the clients of a prefix prefer.
    pub affinities: Vec<Affinity>,
    /// What becomes of the round-trip times that site devices report.
    pub rtt: RttRules,
    /// Real and virtual servers.
    pub balancing: Balancing,
    /// Whether the device speaks the GSLB protocol (`gslb protocol`, guide p. 6).
    pub speaks_protocol: bool,
    /// TCP port of the GSLB protocol.
    pub protocol_port: ProtocolPort,
    /// How questions outside the policy are answered.
    pub responder: Responder,
    /// Region of clients and servers of which nothing is known.
    pub default_location: Region,
    /// Host names and the empty names above them, by lower-case wire form. The next snapshot shares
    /// them if no host comes or goes.
    pub names: Arc<HashMap<WireName, NameEntry>>,
    /// What had been learned when the addresses of the hosts were entered.
    pub learned: Revision,
    /// Which lists of VIPs, device by device, the owners of the addresses were taken from.
    pub vips: Vec<(IpAddr, Revision)>,
    /// SNA gateway domains in configured order.
    pub sna_domains: Vec<SnaDomain>,
    /// The same by lower-case wire form. No host stands at or below one of them.
    pub sna_names: HashMap<WireName, SnaDomainId>,
}

/// A site: a place with one or several site devices.
#[derive(Debug)]
pub struct Site {
    /// As typed, at most 16 characters.
    pub name: String,
    /// Weight of the site as a whole (0-100, default 0).
    pub weight: u8,
    /// Region that overrides what addresses say.
    pub location: Option<Region>,
    /// Enhanced smoothing of its round-trip times: on or off for this site; `None`: as for all.
    pub enhanced_smoothing: Option<bool>,
    /// Parameters of the enhanced smoothing.
    pub smoothing: SmoothingParameters,
    /// Its devices in [`Snapshot::servers`].
    pub servers: Vec<ServerId>,
}

/// A site device (a ServerIron ADX of a site).
#[derive(Debug)]
pub struct SiteServer {
    /// Name, if one is configured, at most 16 characters.
    pub name: Option<String>,
    /// Management address.
    pub address: IpAddr,
    /// Administrative preference (0-255, default 128); 0 removes its VIPs from the selection.
    pub preference: u8,
    /// The site it stands at.
    pub site: SiteId,
    /// Whether it is the controller itself.
    pub is_self: bool,
    /// What it reports, or is made to report.
    pub state: Arc<ServerState>,
}

/// A zone with its hosts.
#[derive(Debug)]
pub struct Zone {
    /// As typed, at most 32 characters.
    pub name: String,
    /// Its hosts in [`Snapshot::hosts`].
    pub hosts: Vec<HostId>,
    /// Revision of the block that it was read from.
    pub revision: Revision,
}

/// A host: one domain name that is balanced.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its zone.
    pub zone: ZoneId,
    /// Host and zone, as typed, without a final dot.
    pub domain_name: Box<str>,
    /// Length of the host's own name, which begins `domain_name`; at most 63.
    pub name_length: u8,
    /// What is checked, in configured order; empty: nothing, and the host is healthy.
    pub applications: Applications,
    /// The application whose bindings count, if `track-port` says one.
    pub track_port: Option<Application>,
    /// The smallest count of the applications is the count of active bindings.
    pub min_active_bindings: bool,
    /// The policy in force.
    pub policy: PolicyId,
    /// Affinity group; `None` is the global set.
    pub affinity_group: Option<u8>,
    /// Addresses in the order of the list, then those that were only learned.
    pub addresses: Vec<Address>,
    /// TTL of the records that were learned, seconds; `None`: no address was.
    pub learned_ttl: Option<u32>,
    /// Counters, rotation and persistence of this name.
    pub domain: Arc<Domain>,
}

/// An address of a host.
#[derive(Clone, Debug)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Where it was learned.
    pub source: Source,
    /// Whether it can be chosen: with override and a list only what is configured can, else only
    /// what was learned, if anything was (guide p. 34, 171).
    pub is_candidate: bool,
    /// Weight of the weighted-IP metric; `None`: no line. 0 and `None` weigh the same.
    pub weight: Option<u8>,
    /// Weight of weighted hash persistence; `None`: no line, which weighs 1.
    pub hash_weight: Option<u8>,
    /// The site device whose VIP it is; `None`: a real address.
    pub owner: Option<ServerId>,
    /// Its place in the tallies of the domain.
    pub slot: Slot,
    /// Results of the health checks.
    pub state: Arc<AddressState>,
}

named_enum! {
    /// Where an address of a host was learned (guide p. 171).
    pub enum Source {
        /// From the DNS server behind.
        Dns = "dns",
        /// From the `ip-list`.
        Configured = "cfg",
        /// From both.
        Both = "d/c",
    }
}

named_enum! {
    /// Return code of answers to unsupported types (guide p. 190).
    pub enum ErrorCode {
        /// FORMERR.
        FormatError = "former",
        /// NOERROR, the default.
        NoError = "noerror",
        /// NOTIMP.
        NotImplemented = "notimp",
        /// NXDOMAIN.
        NameError = "nxdomain",
        /// REFUSED.
        Refused = "refused",
        /// SERVFAIL.
        ServerFailure = "servfail",
    }
}

/// What becomes of the round-trip times that site devices report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the device's own")]
pub struct RttRules {
    /// Use of DNS probes (`gslb dns-probe`, guide p. 149).
    pub dns_probe: DnsProbe,
    /// Values seen in passing are discarded (`gslb discard-passive-rtt`, guide p. 145).
    pub discards_passive: bool,
    /// The appliance, as a site device, does not look at what passes (`gslb no-passive-rtt`).
    pub watches_nothing: bool,
    /// Enhanced smoothing at all sites that do not say otherwise (guide p. 135).
    pub enhanced_smoothing: bool,
}

/// TCP port of the GSLB protocol (`gslb communication`, guide p. 30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolPort {
    /// The port in use, which is that of the last start. Devices with different ones do not reach
    /// each other.
    pub live: u16,
    /// The port after a restart, if the configuration is saved.
    pub configured: u16,
}

impl ProtocolPort {
    /// The port unless another one is configured.
    pub const DEFAULT: u16 = 182;
}

impl Default for ProtocolPort {
    fn default() -> Self {
        ProtocolPort { live: Self::DEFAULT, configured: Self::DEFAULT }
    }
}

/// How questions outside the policy are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responder {
    /// Return code for unsupported types.
    pub error_code: ErrorCode,
    /// Answer unsupported types at all; off, they are dropped. `None`: nobody said it, and the
    /// mode decides (guide p. 188 to 190).
    pub error_handling: Option<bool>,
}

impl Default for Responder {
    fn default() -> Self {
        Responder { error_code: ErrorCode::NoError, error_handling: None }
    }
}

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameEntry {
    /// A configured host.
    Host(HostId),
    /// Nothing, but a configured host lies below and the name lies below a zone's apex.
    EmptyNonTerminal,
}

/// The two address families, as the type of a question says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A records.
    V4,
    /// AAAA records.
    V6,
}

impl Family {
    /// The family of an address.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }

    /// 0 for IPv4, 1 for IPv6.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Family::V4 => 0,
            Family::V6 => 1,
        }
    }
}

impl Application {
    /// The type of the grammar that names ports.
    const NAMES: &str = "port-name";

    /// Its name as configurations print it, or its port.
    #[must_use]
    pub fn name(self, grammar: &Grammar) -> String {
        match grammar.choice_type(Self::NAMES) {
            Some(names) => names.word_of(&Value::Number(self.0.into())),
            None => self.0.to_string(),
        }
    }
}

impl Snapshot {
    /// The snapshot of an empty configuration.
    #[must_use]
    pub fn empty(device_name: &str) -> Self {
        Snapshot {
            device_name: device_name.to_owned(),
            own_addresses: Vec::new(),
            sites: Vec::new(),
            servers: Vec::new(),
            policies: vec![Policy::default()],
            zones: Vec::new(),
            hosts: Vec::new(),
            affinities: Vec::new(),
            rtt: RttRules::default(),
            balancing: Balancing::default(),
            speaks_protocol: false,
            protocol_port: ProtocolPort::default(),
            responder: Responder::default(),
            default_location: Region::NorthAmerica,
            names: Arc::default(),
            learned: Revision::default(),
            vips: Vec::new(),
            sna_domains: Vec::new(),
            sna_names: HashMap::new(),
        }
    }

    /// The global policy.
    #[must_use]
    pub fn global_policy(&self) -> &Policy {
        &self.policies[PolicyId::GLOBAL.index()]
    }

    /// Whether questions that cannot be answered get an empty answer: in cache proxy unless somebody
    /// said otherwise, in transparent intercept if somebody said so, never in plain proxy (guide
    /// p. 188 to 190).
    #[must_use]
    pub fn handles_errors(&self) -> bool {
        let dns = &self.global_policy().dns;
        let is_possible = dns.cache_proxy || dns.transparent_intercept.is_some();
        is_possible && self.responder.error_handling.unwrap_or(dns.cache_proxy)
    }

    /// The policy in force for a host.
    #[inline]
    #[must_use]
    pub fn policy_of(&self, host: &Host) -> &Policy {
        &self.policies[host.policy.index()]
    }

    /// TTL of the records of a host that the appliance answers with, seconds: the one of its policy,
    /// else the one that was learned (decisions 5.2).
    #[must_use]
    pub fn ttl_of(&self, host: &Host) -> u32 {
        self.policy_of(host).dns.ttl.or(host.learned_ttl).unwrap_or(DEFAULT_TTL)
    }

    /// Whether the appliance knows by itself what to answer to a question for addresses of that
    /// family: from the list with override, else from what was learned, which is for IPv4 only
    /// (guide p. 91, 92; IPv6 chapter p. 193).
    #[inline]
    #[must_use]
    pub fn answers_itself(&self, host: &Host, family: Family) -> bool {
        let dns = &self.global_policy().dns;
        let from_list = dns.override_ && host.has_list();
        dns.cache_proxy
            && (from_list || host.learned_ttl.is_some() && family == Family::V4)
            && host.positions(family).next().is_some()
    }

    /// The site device whose VIP the address is.
    #[inline]
    #[must_use]
    pub fn owner_of(&self, address: &Address) -> Option<&SiteServer> {
        address.owner.map(|server| &self.servers[server.index()])
    }

    /// The site at which the address is a VIP.
    #[inline]
    #[must_use]
    pub fn site_of(&self, address: &Address) -> Option<&Site> {
        self.owner_of(address).map(|server| &self.sites[server.site.index()])
    }

    /// How samples of round-trip times of a site are smoothed (guide p. 133 to 137).
    #[must_use]
    pub fn smoothing_of(&self, site: &Site) -> Smoothing {
        if site.enhanced_smoothing.unwrap_or(self.rtt.enhanced_smoothing) {
            Smoothing::Enhanced(site.smoothing)
        } else {
            Smoothing::Standard
        }
    }

    /// The site device of that management address.
    #[must_use]
    pub fn server(&self, address: IpAddr) -> Option<&SiteServer> {
        self.servers.iter().find(|server| server.address == address)
    }

    /// The zone of that name, in any case.
    #[must_use]
    pub fn zone(&self, name: &str) -> Option<&Zone> {
        self.zones.iter().find(|zone| zone.name.eq_ignore_ascii_case(name))
    }

    /// The site of that name, in any case.
    #[must_use]
    pub fn site(&self, name: &str) -> Option<&Site> {
        self.sites.iter().find(|site| site.name.eq_ignore_ascii_case(name))
    }

    /// What stands at a name in lower-case wire form (RFC 1035 section 3.1, with the root label).
    #[inline]
    #[must_use]
    pub fn lookup(&self, wire_name: &[u8]) -> Option<NameEntry> {
        self.names.get(wire_name).copied()
    }

    /// The SNA gateway domain in which a name lies, and where the domain's own name begins within
    /// it. Of domains within each other it is the innermost.
    #[must_use]
    pub fn sna_domain_of(&self, wire_name: &[u8]) -> Option<(&SnaDomain, usize)> {
        if self.sna_names.is_empty() {
            return None;
        }
        let mut start = 0;
        loop {
            let rest = wire_name.get(start..)?;
            if let Some(domain) = self.sna_names.get(rest) {
                return Some((&self.sna_domains[domain.index()], start));
            }
            start += match rest.first() {
                None | Some(0) => return None,
                Some(length) => usize::from(*length) + 1,
            };
        }
    }

    /// The SNA gateway domain of that name, in any case.
    #[must_use]
    pub fn sna_domain(&self, name: &str) -> Option<&SnaDomain> {
        self.sna_domains.iter().find(|domain| domain.name.eq_ignore_ascii_case(name))
    }
}

impl Zone {
    /// A zone without hosts.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Zone { name: name.to_owned(), hosts: Vec::new(), revision: Revision::default() }
    }
}

impl Site {
    /// A site with nothing but a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Site {
            name: name.to_owned(),
            weight: 0,
            location: None,
            enhanced_smoothing: None,
            smoothing: SmoothingParameters::default(),
            servers: Vec::new(),
        }
    }
}

impl Host {
    /// As typed, without the zone.
    #[must_use]
    pub fn name(&self) -> &str {
        self.domain_name.get(..usize::from(self.name_length)).unwrap_or(&self.domain_name)
    }

    /// Whether all checks of the host's applications pass at this address.
    #[inline]
    #[must_use]
    pub fn is_healthy(&self, address: &Address) -> bool {
        address.state.passes(&self.applications)
    }

    /// Whether addresses are configured for it.
    #[must_use]
    pub fn has_list(&self) -> bool {
        self.addresses.iter().any(|address| address.source != Source::Dns)
    }

    /// The same as a list. Without an allocation unless the list is long.
    #[inline]
    #[must_use]
    pub fn candidates(&self, family: Family) -> Candidates {
        const FEW: usize = 8;
        if self.addresses.len() > FEW {
            return self.positions(family).collect();
        }
        let mut few = [0; FEW];
        let mut count = 0;
        for position in self.positions(family) {
            few[count] = position;
            count += 1;
        }
        Candidates::from_buf_and_len(few, count)
    }

    /// Positions of the addresses of one family that can be chosen, in the order of the list.
    pub fn positions(&self, family: Family) -> impl Iterator<Item = usize> + '_ {
        self.addresses
            .iter()
            .enumerate()
            .filter(move |(_, address)| address.is_candidate && Family::of(address.ip) == family)
            .map(|(position, _)| position)
    }
}

//! A GSLB policy: what decides, in which order, and how replies are changed.

use std::net::IpAddr;

use crate::model::region::Region;
use crate::names::named_enum;

named_enum! {
    /// A metric that can be listed in `metric-order set`, in the default order of the guide
    /// (Table 2, p. 34 to 36). The tie-breaker is not among them: see [`TieBreaker`].
    pub enum Metric {
        /// Server health.
        HealthCheck = "health-check",
        /// Weight of the address.
        WeightedIp = "weighted-ip",
        /// Weight of the site.
        WeightedSite = "weighted-site",
        /// Session capacity threshold of the site device.
        Capacity = "capacity",
        /// Active bindings of the VIP.
        ActiveBindings = "active-bindings",
        /// Round-trip time between site device and client.
        RoundTripTime = "round-trip-time",
        /// Location of the server.
        Geographic = "geographic",
        /// Average load of new connections.
        ConnectionLoad = "connection-load",
        /// Available session capacity.
        NumSession = "num-session",
        /// Speed of the health checks.
        Flashback = "flashback",
        /// Administrative preference.
        Preference = "preference",
    }
}

named_enum! {
    /// What decides when more than one address is left after all metrics.
    pub enum TieBreaker {
        /// The address that was chosen least often; the first in the list among equals.
        LeastResponse = "least-response",
        /// The next surviving address after the one chosen last.
        RoundRobin = "round-robin",
        /// Each site as often in a row as its weight says (an extension of ours).
        WeightedRoundRobin = "round-robin-weighted",
    }
}

named_enum! {
    /// Which round-trip times count (guide p. 148, 149).
    pub enum RttSource {
        /// Mode 1: only what the sites saw pass by.
        PassiveOnly = "use-passive-rtts-only",
        /// Mode 2: only what the sites measured by probes.
        ActiveOnly = "use-active-rtts-only",
        /// Mode 3: both.
        ActiveAndPassive = "use-active-and-passive-rtts",
    }
}

/// What becomes of questions that are intercepted (guide p. 95 to 98).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intercept {
    /// They are answered from the list with override, else redirected, and the policy is applied to
    /// the reply.
    WithPolicy,
    /// They are redirected, and the reply is left alone.
    Unchanged,
}

/// The global policy or a host-level policy, with everything inherited already filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The name of a host-level policy; `None` for the global policy.
    pub name: Option<String>,
    /// How DNS replies are changed.
    pub dns: DnsBehaviour,
    /// The metrics in force, in the order in which they are applied.
    pub metrics: Vec<Metric>,
    /// Whether the order is the built-in one (no `metric-order set`).
    pub default_order: bool,
    /// What follows the metrics.
    pub tie_breaker: TieBreaker,
    /// Distribute in proportion to the active bindings instead of preferring the highest.
    pub weighted_selection: bool,
    /// Session capacity threshold, percent of the session table (0-100, default 90).
    pub capacity_threshold: u8,
    /// Tolerance of the available session capacity, percent (0-100, default 10).
    pub session_tolerance: u8,
    /// Tolerance of the application-level FlashBack delay, percent (0-100, default 10).
    pub flashback_application_tolerance: u8,
    /// Tolerance of the TCP-level FlashBack delay, percent (0-100, default 10).
    pub flashback_tcp_tolerance: u8,
    /// Parameters of the round-trip time metric.
    pub rtt: RttParameters,
    /// Parameters of the connection load metric.
    pub connection_load: ConnectionLoad,
    /// Use the default location for a client when the prefix cache is full (guide p. 56).
    pub use_default_location: bool,
    /// Sticky persistence, if on.
    pub sticky: Option<Sticky>,
    /// Hash persistence, if on.
    pub hash: Option<HashPersistence>,
    /// Status interval of the GSLB protocol, seconds (1-300, default 30). Global only.
    pub status_interval: u32,
}

/// How the replies to questions for a configured host are changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the device's own")]
pub struct DnsBehaviour {
    /// Addresses that fail a health check are removed, as long as one passes.
    pub active_only: bool,
    /// Only the best address stays.
    pub best_only: bool,
    /// The configured `ip-list` takes the place of learned addresses. Global only.
    pub override_: bool,
    /// The appliance answers for configured hosts itself. Global only.
    pub cache_proxy: bool,
    /// Replies that reach a configured host through a CNAME are processed. Global only.
    pub cname_detect: bool,
    /// Questions to another DNS server are intercepted. Global only.
    pub transparent_intercept: Option<Intercept>,
    /// Period of the device's own questions, seconds (1-1000000000, default 30). Global only.
    pub check_interval: u32,
    /// TTL written into every record, seconds (0-1000000000, default 10); `None`: left alone.
    pub ttl: Option<u32>,
}

/// Parameters of the round-trip time metric (guide p. 53 to 55).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RttParameters {
    /// Length of dynamic prefix entries, bits (1-32, default 20).
    pub cache_prefix: u8,
    /// Life of an unused dynamic entry, seconds (10-1000000, default 120).
    pub cache_interval: u32,
    /// Percent (0-100, default 10).
    pub tolerance: u8,
    /// Share of the questions that skip the metric, percent (0-100, default 5).
    pub explore_percentage: u8,
    /// Which values count.
    pub source: RttSource,
    /// Static prefixes, host bits cleared, at most 250. Global only.
    pub static_prefixes: Vec<(IpAddr, u8)>,
    /// Regions of user-defined prefixes. Global only.
    pub geo_prefixes: Vec<(IpAddr, u8, Region)>,
}

/// Parameters of the connection load metric (guide p. 50, 51).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLoad {
    /// Highest average of new connections a second; `None`: the metric is off.
    pub limit: Option<u32>,
    /// Samples in a set (1-8, default 5).
    pub intervals: u8,
    /// Seconds between two samples (5-60, default 5).
    pub sampling_rate: u8,
    /// Weight of each sample, the oldest first; samples without a weight weigh 1.
    pub weights: Vec<u8>,
}

/// Parameters of sticky persistence (guide p. 65 to 67).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sticky {
    /// Bits of an IPv4 client address that form the key (1-32, default 32).
    pub prefix_length: u8,
    /// Bits of an IPv6 client address that form the key (1-128, default 128).
    pub ipv6_prefix_length: u8,
    /// Idle lifetime of an entry, minutes (default 5).
    pub age_minutes: u32,
}

/// Parameters of hash persistence (guide p. 70 to 82).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashPersistence {
    /// Buckets in proportion to the hash weights.
    pub weighted: bool,
    /// Bits of the client address that are hashed (default 32).
    pub prefix_length: u8,
    /// No rehash for new or recovered addresses; seconds until a down address loses its buckets.
    pub rehash_disabled: Option<u32>,
    /// No rehash when a hash weight changes.
    pub weight_rehash_disabled: bool,
    /// Minutes after boot in which rehashing stays allowed (1-255, default 5).
    pub hold_down_minutes: u8,
}

impl Metric {
    /// Whether the metric is used when nothing is configured (guide Table 2).
    #[must_use]
    pub const fn on_by_default(self) -> bool {
        match self {
            Metric::HealthCheck
            | Metric::Capacity
            | Metric::RoundTripTime
            | Metric::Geographic
            | Metric::NumSession => true,
            Metric::WeightedIp
            | Metric::WeightedSite
            | Metric::ActiveBindings
            | Metric::ConnectionLoad
            | Metric::Flashback
            | Metric::Preference => false,
        }
    }
}

impl Default for Policy {
    /// The built-in policy of `show gslb default`.
    fn default() -> Self {
        Policy {
            name: None,
            dns: DnsBehaviour::default(),
            metrics: Metric::ALL.iter().copied().filter(|metric| metric.on_by_default()).collect(),
            default_order: true,
            tie_breaker: TieBreaker::LeastResponse,
            weighted_selection: false,
            capacity_threshold: 90,
            session_tolerance: 10,
            flashback_application_tolerance: 10,
            flashback_tcp_tolerance: 10,
            rtt: RttParameters::default(),
            connection_load: ConnectionLoad::default(),
            use_default_location: false,
            sticky: None,
            hash: None,
            status_interval: 30,
        }
    }
}

impl Default for DnsBehaviour {
    fn default() -> Self {
        DnsBehaviour {
            active_only: false,
            best_only: false,
            override_: false,
            cache_proxy: false,
            cname_detect: false,
            transparent_intercept: None,
            check_interval: 30,
            ttl: Some(DEFAULT_TTL),
        }
    }
}

/// TTL of answers when nothing else says one, seconds.
pub const DEFAULT_TTL: u32 = 10;

impl Default for RttParameters {
    fn default() -> Self {
        RttParameters {
            cache_prefix: 20,
            cache_interval: 120,
            tolerance: 10,
            explore_percentage: 5,
            source: RttSource::PassiveOnly,
            static_prefixes: Vec::new(),
            geo_prefixes: Vec::new(),
        }
    }
}

impl Default for ConnectionLoad {
    fn default() -> Self {
        ConnectionLoad { limit: None, intervals: 5, sampling_rate: 5, weights: Vec::new() }
    }
}

impl Default for Sticky {
    fn default() -> Self {
        Sticky { prefix_length: 32, ipv6_prefix_length: 128, age_minutes: 5 }
    }
}

impl Default for HashPersistence {
    fn default() -> Self {
        HashPersistence {
            weighted: false,
            prefix_length: 32,
            rehash_disabled: None,
            weight_rehash_disabled: false,
            hold_down_minutes: 5,
        }
    }
}

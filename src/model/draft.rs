//! A policy as it is stated, before what it does not state is filled in.

use std::net::IpAddr;

use crate::model::policy::{
    ConnectionLoad, DEFAULT_TTL, HashPersistence, Intercept, Metric, Policy, RttParameters,
    RttSource, Sticky, TieBreaker,
};
use crate::model::region::Region;

/// What a `gslb policy` or a host-level policy states. `None` everywhere: not stated.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the device's own")]
pub struct PolicyDraft {
    /// Name of a host-level policy.
    pub name: Option<String>,
    /// Switches of the metrics, by `Metric as usize`.
    pub switches: [Option<bool>; Metric::ALL.len()],
    /// The list of `metric-order set`.
    pub order: Option<Vec<Metric>>,
    /// Round robin: off, plain, or weighted.
    pub tie_breaker: Option<TieBreaker>,
    /// TTL modification: off, or on with a value.
    pub ttl: Option<Option<u32>>,
    /// `dns active-only`.
    pub active_only: Option<bool>,
    /// `dns best-only`.
    pub best_only: Option<bool>,
    /// `dns override`.
    pub override_: bool,
    /// `dns cache-proxy`.
    pub cache_proxy: bool,
    /// `dns cname-detect`.
    pub cname_detect: bool,
    /// `dns transparent-intercept`.
    pub transparent_intercept: Option<Intercept>,
    /// `dns check-interval`.
    pub check_interval: Option<u32>,
    /// `weighted-selection`.
    pub weighted_selection: Option<bool>,
    /// `use-default-location`.
    pub use_default_location: Option<bool>,
    /// `capacity threshold`.
    pub capacity_threshold: Option<u8>,
    /// `num-session tolerance`.
    pub session_tolerance: Option<u8>,
    /// `flashback application tolerance`.
    pub flashback_application_tolerance: Option<u8>,
    /// `flashback tcp tolerance`.
    pub flashback_tcp_tolerance: Option<u8>,
    /// `round-trip-time cache-interval`.
    pub rtt_cache_interval: Option<u32>,
    /// `round-trip-time cache-prefix`.
    pub rtt_cache_prefix: Option<u8>,
    /// `round-trip-time tolerance`.
    pub rtt_tolerance: Option<u8>,
    /// `round-trip-time explore-percentage`.
    pub rtt_explore_percentage: Option<u8>,
    /// `round-trip-time active-rtt`.
    pub rtt_source: Option<RttSource>,
    /// Static prefixes.
    pub static_prefixes: Vec<(IpAddr, u8)>,
    /// Regions of prefixes.
    pub geo_prefixes: Vec<(IpAddr, u8, Region)>,
    /// `connection-load limit`.
    pub connection_load_limit: Option<u32>,
    /// `connection-load intervals`: number and seconds.
    pub connection_load_intervals: Option<(u8, u8)>,
    /// `connection-load weights`.
    pub connection_load_weights: Vec<u8>,
    /// `protocol status-interval`.
    pub status_interval: Option<u32>,
    /// `sticky`.
    pub sticky: Option<bool>,
    /// Length of the sticky key of an IPv4 client.
    pub sticky_prefix_length: Option<u8>,
    /// Length of the sticky key of an IPv6 client.
    pub sticky_ipv6_prefix_length: Option<u8>,
    /// `sticky age`.
    pub sticky_age: Option<u32>,
    /// Hash persistence: off, plain (`false`) or weighted.
    pub hash: Option<Option<bool>>,
    /// `prefix-len-hash-persist`.
    pub hash_prefix_length: Option<u8>,
    /// Rehash for new addresses: on (`None`), or off with its time-out.
    pub hash_rehash_disabled: Option<Option<u32>>,
    /// `hash-persist disable-weight-rehash`.
    pub hash_weight_rehash_disabled: Option<bool>,
    /// `hash-persist hold-down`.
    pub hash_hold_down: Option<u8>,
}

/// Seconds until a down address loses its buckets, if `persist-rehash-disable` says none.
pub const DEFAULT_REHASH_TIMEOUT: u32 = 5;

impl PolicyDraft {
    /// States the switch of a metric.
    pub fn switch(&mut self, metric: Metric, on: bool) {
        self.switches[metric as usize] = Some(on);
    }

    /// The global policy: what is not stated has its default.
    pub fn global(&self) -> Policy {
        self.resolve(&PolicyDraft::default(), true)
    }

    /// A host-level policy: what is not stated comes from the global one, except the TTL, which is
    /// its own, and the connection load, which it must switch on (decisions 3.5).
    pub fn host(&self, global: &PolicyDraft) -> Policy {
        self.resolve(global, false)
    }

    fn resolve(&self, base: &PolicyDraft, is_global: bool) -> Policy {
        let defaults = Policy::default();
        let order = self.order.as_ref().or(base.order.as_ref());
        let limit = base.connection_load_limit;
        let connection_load = ConnectionLoad {
            limit: if is_global {
                self.connection_load_limit
            } else {
                self.connection_load_limit.and(limit)
            },
            intervals: either(self.connection_load_intervals, base.connection_load_intervals)
                .map_or(5, |(intervals, _)| intervals),
            sampling_rate: either(self.connection_load_intervals, base.connection_load_intervals)
                .map_or(5, |(_, rate)| rate),
            weights: if is_global {
                self.connection_load_weights.clone()
            } else {
                base.connection_load_weights.clone()
            },
        };
        let mut metrics: Vec<Metric> = match order {
            // While a list is set, a metric is used if and only if it is listed (decisions 3.4).
            Some(list) => list.clone(),
            None => Metric::ALL
                .iter()
                .copied()
                .filter(|metric| self.is_on(*metric, base, &connection_load))
                .collect(),
        };
        if !is_global && connection_load.limit.is_none() {
            // Without a limit of its own a host policy does not use it, listed or not (guide p. 119).
            metrics.retain(|metric| *metric != Metric::ConnectionLoad);
        }
        Policy {
            name: self.name.clone(),
            dns: self.dns(base, is_global),
            metrics,
            default_order: order.is_none(),
            tie_breaker: either(self.tie_breaker, base.tie_breaker)
                .unwrap_or(TieBreaker::LeastResponse),
            weighted_selection: on(self.weighted_selection, base.weighted_selection),
            capacity_threshold: either(self.capacity_threshold, base.capacity_threshold)
                .unwrap_or(defaults.capacity_threshold),
            session_tolerance: either(self.session_tolerance, base.session_tolerance)
                .unwrap_or(defaults.session_tolerance),
            flashback_application_tolerance: either(
                self.flashback_application_tolerance,
                base.flashback_application_tolerance,
            )
            .unwrap_or(defaults.flashback_application_tolerance),
            flashback_tcp_tolerance: either(
                self.flashback_tcp_tolerance,
                base.flashback_tcp_tolerance,
            )
            .unwrap_or(defaults.flashback_tcp_tolerance),
            rtt: self.rtt(base),
            connection_load,
            use_default_location: on(self.use_default_location, base.use_default_location),
            sticky: on(self.sticky, base.sticky).then(|| self.sticky_parameters(base)),
            hash: either(self.hash, base.hash)
                .flatten()
                .map(|weighted| self.hash_parameters(base, weighted)),
            status_interval: either(self.status_interval, base.status_interval)
                .unwrap_or(defaults.status_interval),
        }
    }

    fn is_on(&self, metric: Metric, base: &PolicyDraft, load: &ConnectionLoad) -> bool {
        match metric {
            // Setting a limit is what switches it on (guide p. 50).
            Metric::ConnectionLoad => load.limit.is_some(),
            // The two exclude each other, also when the host policy states one of them only.
            Metric::WeightedIp if self.states(Metric::WeightedSite) => {
                self.switches[metric as usize] == Some(true)
            }
            Metric::WeightedSite if self.states(Metric::WeightedIp) => {
                self.switches[metric as usize] == Some(true)
            }
            _ => either(self.switches[metric as usize], base.switches[metric as usize])
                .unwrap_or(metric.on_by_default()),
        }
    }

    fn states(&self, metric: Metric) -> bool {
        self.switches[metric as usize] == Some(true)
    }

    fn dns(&self, base: &PolicyDraft, is_global: bool) -> crate::model::policy::DnsBehaviour {
        let shared = if is_global { self } else { base };
        crate::model::policy::DnsBehaviour {
            active_only: on(self.active_only, base.active_only),
            best_only: on(self.best_only, base.best_only),
            override_: shared.override_,
            cache_proxy: shared.cache_proxy,
            cname_detect: shared.cname_detect,
            transparent_intercept: shared.transparent_intercept,
            check_interval: shared.check_interval.unwrap_or(30),
            ttl: self.ttl.unwrap_or(Some(DEFAULT_TTL)),
        }
    }

    fn rtt(&self, base: &PolicyDraft) -> RttParameters {
        let defaults = RttParameters::default();
        let shared = if self.name.is_none() { self } else { base };
        RttParameters {
            cache_prefix: either(self.rtt_cache_prefix, base.rtt_cache_prefix)
                .unwrap_or(defaults.cache_prefix),
            cache_interval: either(self.rtt_cache_interval, base.rtt_cache_interval)
                .unwrap_or(defaults.cache_interval),
            tolerance: either(self.rtt_tolerance, base.rtt_tolerance).unwrap_or(defaults.tolerance),
            explore_percentage: either(self.rtt_explore_percentage, base.rtt_explore_percentage)
                .unwrap_or(defaults.explore_percentage),
            source: either(self.rtt_source, base.rtt_source).unwrap_or(defaults.source),
            static_prefixes: shared.static_prefixes.clone(),
            geo_prefixes: shared.geo_prefixes.clone(),
        }
    }

    fn sticky_parameters(&self, base: &PolicyDraft) -> Sticky {
        let defaults = Sticky::default();
        Sticky {
            prefix_length: either(self.sticky_prefix_length, base.sticky_prefix_length)
                .unwrap_or(defaults.prefix_length),
            ipv6_prefix_length: either(
                self.sticky_ipv6_prefix_length,
                base.sticky_ipv6_prefix_length,
            )
            .unwrap_or(defaults.ipv6_prefix_length),
            age_minutes: either(self.sticky_age, base.sticky_age).unwrap_or(defaults.age_minutes),
        }
    }

    fn hash_parameters(&self, base: &PolicyDraft, weighted: bool) -> HashPersistence {
        let defaults = HashPersistence::default();
        HashPersistence {
            weighted,
            prefix_length: either(self.hash_prefix_length, base.hash_prefix_length)
                .unwrap_or(defaults.prefix_length),
            rehash_disabled: either(self.hash_rehash_disabled, base.hash_rehash_disabled).flatten(),
            weight_rehash_disabled: on(
                self.hash_weight_rehash_disabled,
                base.hash_weight_rehash_disabled,
            ),
            hold_down_minutes: either(self.hash_hold_down, base.hash_hold_down)
                .unwrap_or(defaults.hold_down_minutes),
        }
    }
}

fn either<T>(own: Option<T>, base: Option<T>) -> Option<T> {
    own.or(base)
}

fn on(own: Option<bool>, base: Option<bool>) -> bool {
    own.or(base).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stated_is_the_built_in_policy() {
        assert_eq!(PolicyDraft::default().global(), Policy::default());
    }

    #[test]
    fn a_host_policy_inherits_all_but_ttl_and_connection_load() {
        let mut global = PolicyDraft::default();
        global.switch(Metric::WeightedSite, true);
        global.ttl = Some(Some(60));
        global.connection_load_limit = Some(500);
        let mut draft = PolicyDraft { name: Some("test".to_owned()), ..PolicyDraft::default() };
        let host = draft.host(&global);
        assert!(host.metrics.contains(&Metric::WeightedSite));
        assert_eq!(host.dns.ttl, Some(DEFAULT_TTL));
        assert!(!host.metrics.contains(&Metric::ConnectionLoad));
        draft.connection_load_limit = Some(1);
        assert_eq!(draft.host(&global).connection_load.limit, Some(500), "the global value counts");
        draft.connection_load_limit = None;
        draft.order = Some(vec![Metric::HealthCheck, Metric::ConnectionLoad]);
        assert_eq!(draft.host(&global).metrics, [Metric::HealthCheck]);
        draft.order = None;
        draft.switch(Metric::WeightedIp, true);
        assert!(!draft.host(&global).metrics.contains(&Metric::WeightedSite));
    }

    #[test]
    fn a_list_overrules_the_switches() {
        let mut draft = PolicyDraft::default();
        draft.switch(Metric::Preference, true);
        draft.order = Some(vec![Metric::Geographic, Metric::HealthCheck]);
        let policy = draft.global();
        assert_eq!(policy.metrics, [Metric::Geographic, Metric::HealthCheck]);
        assert!(!policy.default_order);
    }
}

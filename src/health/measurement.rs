//! Round-trip times between a site device and the clients of a prefix: how they are measured, what
//! is reported, and which value counts (guide p. 147 to 155).

use std::net::IpAddr;

use crate::health::prefix::Prefix;
use crate::health::smoothing::{SmoothedRtt, Smoothing};
use crate::model::policy::RttSource;

/// How a round-trip time was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Seen in passing, from SYN to ACK of a connection.
    Passive,
    /// Probed by ICMP.
    ActiveIcmp,
    /// Probed by DNS.
    ActiveDns,
}

/// What a site device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttReport {
    /// The clients it is about.
    pub clients: Prefix,
    /// Management address of the site device.
    pub server: IpAddr,
    /// How it was measured.
    pub method: Method,
    /// Round-trip time, unit 100 microseconds.
    pub rtt: u32,
    /// Whether the probe failed; the value then stays what it was.
    pub failed: bool,
}

/// The round-trip times between one site device and the clients of one prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measurements {
    /// What passed by.
    pub passive: Option<SmoothedRtt>,
    /// ICMP probes.
    pub icmp: Option<Probe>,
    /// DNS probes.
    pub dns: Option<Probe>,
}

/// Whether DNS probes count (`gslb dns-probe`, guide p. 149).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsProbe {
    /// Only ICMP probes count.
    #[default]
    Unused,
    /// DNS is primary, ICMP its backup if it failed or is missing.
    Fallback,
    /// DNS probes are accepted; ICMP is primary and has no backup.
    NoFallback,
}

/// The result of active probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Round-trip time, unit 100 microseconds; `None`: no probe ever succeeded.
    pub rtt: Option<SmoothedRtt>,
    /// Whether the latest probe succeeded.
    pub ok: bool,
}

impl Measurements {
    /// The value that counts, unit 100 microseconds.
    ///
    /// A failed probe has no value. If both kinds count, an active value comes before a passive
    /// one.
    #[must_use]
    pub fn usable(&self, source: RttSource, dns_probe: DnsProbe) -> Option<u32> {
        let passive = || self.passive.map(SmoothedRtt::value);
        let value = |probe: Option<Probe>| {
            probe.filter(|probe| probe.ok).and_then(|probe| probe.rtt).map(SmoothedRtt::value)
        };
        let active = || match dns_probe {
            DnsProbe::Unused | DnsProbe::NoFallback => value(self.icmp),
            DnsProbe::Fallback => value(self.dns).or_else(|| value(self.icmp)),
        };
        match source {
            RttSource::PassiveOnly => passive(),
            RttSource::ActiveOnly => active(),
            RttSource::ActiveAndPassive => active().or_else(passive),
        }
    }

    /// Forgets what was measured so.
    pub(super) fn forget(&mut self, method: Method) {
        match method {
            Method::Passive => self.passive = None,
            Method::ActiveIcmp => self.icmp = None,
            Method::ActiveDns => self.dns = None,
        }
    }

    /// Takes in a report.
    pub(super) fn take(&mut self, report: &RttReport, smoothing: Smoothing) {
        let sample = |rtt: &mut Option<SmoothedRtt>| match rtt {
            Some(known) => {
                known.sample(report.rtt, smoothing);
            }
            None => *rtt = Some(SmoothedRtt::new(report.rtt)),
        };
        let probe = |probe: &mut Option<Probe>| {
            let known = probe.get_or_insert(Probe { rtt: None, ok: false });
            known.ok = !report.failed;
            if known.ok {
                sample(&mut known.rtt);
            }
        };
        match report.method {
            Method::Passive => sample(&mut self.passive),
            Method::ActiveIcmp => probe(&mut self.icmp),
            Method::ActiveDns => probe(&mut self.dns),
        }
    }
}

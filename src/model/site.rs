//! Statements about sites that need more than a field: affinities, which name a site device, and
//! how round-trip times are taken.

use std::net::IpAddr;

use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::gslb::affinity::Affinity;
use crate::health::prefix::Prefix;
use crate::health::rtt::DnsProbe;
use crate::model::snapshot::{ServerId, Site, Snapshot};

/// An affinity before its device is looked up, since the site may stand below it.
pub(super) struct AffinityDraft {
    group: Option<u8>,
    clients: Prefix,
    site: String,
    device: Device,
}

/// How a line names a site device.
enum Device {
    Address(IpAddr),
    Name(String),
}

/// Reads an affinity of a group.
pub(super) fn affinity(reading: &Reading<'_>, group: Option<u8>) -> Option<AffinityDraft> {
    let (network, length) = reading.prefix("prefix")?;
    let named = || reading.text("si-name").map(|name| Device::Name(name.to_owned()));
    Some(AffinityDraft {
        group,
        clients: Prefix::new(network, length),
        site: reading.text("site")?.to_owned(),
        device: reading.address("addr").map(Device::Address).or_else(named)?,
    })
}

impl AffinityDraft {
    /// The affinity; none while the site has no such device.
    pub(super) fn resolve(self, snapshot: &Snapshot) -> Option<Affinity> {
        let site = snapshot.site(&self.site)?;
        let is_it = |id: &&ServerId| {
            let server = &snapshot.servers[id.index()];
            match &self.device {
                Device::Address(address) => server.address == *address,
                Device::Name(name) => server.name.as_ref() == Some(name),
            }
        };
        let server = *site.servers.iter().find(is_it)?;
        Some(Affinity { group: self.group, clients: self.clients, server })
    }
}

/// Reads a line about the smoothing of a site.
pub(super) fn smoothing(site: &mut Site, kept: Kept, reading: &Reading<'_>) {
    let parameters = &mut site.smoothing;
    #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
    match kept {
        Kept::EnableSiteRttSmoothing => site.enhanced_smoothing = Some(true),
        Kept::DisableSiteRttSmoothing => site.enhanced_smoothing = Some(false),
        Kept::MaxRttDeviation => {
            parameters.max_rtt_dev_allowed =
                reading.number("percent").unwrap_or(parameters.max_rtt_dev_allowed);
        }
        Kept::MaxIgnoreCount => {
            parameters.max_ignore_count =
                reading.number("count").unwrap_or(parameters.max_ignore_count);
        }
        Kept::NormalRampFactor => {
            parameters.normal_ramp_factor =
                reading.number("percent").unwrap_or(parameters.normal_ramp_factor);
        }
        Kept::RampUpFactor => {
            parameters.ramp_up_factor = reading.number("step").unwrap_or(parameters.ramp_up_factor);
        }
        Kept::RampDownFactor => {
            parameters.ramp_down_factor =
                reading.number("factor").unwrap_or(parameters.ramp_down_factor);
        }
        _ => {}
    }
}

/// Reads the use of DNS probes (guide p. 149, 150).
pub(super) fn dns_probe(reading: &Reading<'_>) -> DnsProbe {
    match reading.word("fallback") {
        Some(ENABLE_FALLBACK) => DnsProbe::Fallback,
        _ => DnsProbe::NoFallback,
    }
}

/// The choice of `gslb dns-probe` that lets ICMP stand in for DNS.
const ENABLE_FALLBACK: &str = "enable-fallback";

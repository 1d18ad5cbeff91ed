//! `show gslb cache` (guide p. 155, 179 to 186): what is known of the prefixes around an address.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::PRODUCT_WORD;
use super::page::Page;
use crate::clock::Moment;
use crate::gslb::prefixes::{KnownPrefix, known_prefixes};
use crate::health::rtt::{DnsProbe, Measurements, Probe};
use crate::health::smoothing::SmoothedRtt;
use crate::health::state::States;
use crate::model::snapshot::Snapshot;

/// `show gslb cache <ip>`: the prefixes of these lengths that hold the address, the shortest first.
///
/// A list of sources ends with a comma, a built-in region alone does not (guide p. 179, 186). The
/// forms of the lines with active values are ours; their parts are those of the guide (p. 155).
pub fn cache(
    snapshot: &Snapshot,
    states: &States,
    address: IpAddr,
    lengths: &RangeInclusive<u8>,
    now: Moment,
) -> String {
    let mut page = Page::default();
    let known = known_prefixes(snapshot, states, address, now);
    for known in known.iter().filter(|known| lengths.contains(&known.prefix.length())) {
        page.line(format!(
            "prefix length = {}, prefix = {}, region = {}",
            known.prefix.length(),
            known.prefix.network(),
            known.region.display()
        ));
        page.line(format!("prefix source = {}", sources(known)));
        for (device, measured) in &known.measurements {
            // What a device reported that is configured no longer counts nowhere.
            let Some(server) = snapshot.server(*device) else { continue };
            let site = &snapshot.sites[server.site.index()].name;
            for rtt in round_trip_times(measured, snapshot.rtt.dns_probe) {
                page.line(format!("site = {site}, {PRODUCT_WORD} = ({device}), {rtt}"));
            }
        }
    }
    page.finish()
}

fn sources(known: &KnownPrefix) -> String {
    let geographic = if known.geo_prefix { "geographic (user-configured)" } else { "geographic" };
    let all = [
        (known.built_in || known.geo_prefix, geographic),
        (known.is_static, "static"),
        (known.origin.client_query, "client query"),
        (known.origin.rtt_update, "rtt-update"),
        (known.origin.active_rtt_update, "active-rtt-update"),
    ];
    let words: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    match words[..] {
        ["geographic"] => "geographic".to_owned(),
        _ => words.iter().map(|word| format!("{word},")).collect::<Vec<_>>().join(" "),
    }
}

/// One line for what passed by, one for what was probed, with its backup if there may be one.
fn round_trip_times(measured: &Measurements, dns_probe: DnsProbe) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rtt) = measured.passive {
        lines.push(format!("rtt = {} (x100 usec)", rtt.value()));
    }
    let icmp = measured.icmp.map(|probe| active('I', probe));
    let dns = measured.dns.map(|probe| active('D', probe));
    let (primary, backup) = match dns_probe {
        DnsProbe::Fallback if dns.is_some() => (dns, icmp),
        DnsProbe::Fallback | DnsProbe::Unused => (icmp, None),
        DnsProbe::NoFallback => (icmp.or(dns), None),
    };
    if let Some(primary) = primary {
        let backup = backup.map(|backup| format!(", backup rtt = {backup}")).unwrap_or_default();
        lines.push(format!("rtt = {primary}{backup}"));
    }
    lines
}

/// A probed value in microseconds, with source, method and result.
fn active(method: char, probe: Probe) -> String {
    let value = u64::from(probe.rtt.map_or(0, SmoothedRtt::value)) * 100;
    format!("{value} (usec)*A>{method}({})", if probe.ok { "OK" } else { "FAL" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};
    use crate::health::prefix::Prefix;
    use crate::health::rtt::{Method, RttReport};
    use crate::health::smoothing::Smoothing;
    use crate::model::region::Region;

    fn report(world: &World, method: Method, rtt: u32, failed: bool) {
        let clients = Prefix::new(ip("1.1.1.1"), 32);
        let report = RttReport { clients, server: ip("10.255.1.1"), method, rtt, failed };
        let parameters = &world.snapshot.global_policy().rtt;
        world.states.prefixes.report(&report, Smoothing::Standard, parameters, world.now);
    }

    fn text(world: &World, address: &str, lengths: RangeInclusive<u8>) -> String {
        cache(&world.snapshot, &world.states, ip(address), &lengths, world.now)
    }

    #[test]
    fn a_built_in_region() {
        let expected = "\
prefix length = 7, prefix = 60.0.0.0, region = ASIA
prefix source = geographic
";
        assert_eq!(text(&World::new(), "61.1.1.1", 0..=128), expected);
        assert_eq!(text(&World::new(), "61.1.1.1", 8..=128), "");
        assert_eq!(text(&World::new(), "10.1.1.1", 0..=128), "");
    }

    #[test]
    fn the_list_of_the_guide() {
        let world = World::new().site("local", 0, &[]).policy(|policy| {
            policy.rtt.geo_prefixes = vec![(ip("1.1.0.0"), 20, Region::Asia)];
        });
        report(&world, Method::Passive, 7, false);
        let world = world.policy(|policy| policy.rtt.static_prefixes = vec![(ip("1.1.1.0"), 24)]);
        let expected = "\
prefix length = 20, prefix = 1.1.0.0, region = ASIA
prefix source = geographic (user-configured), rtt-update,
site = local, ServerIronADX = (10.255.1.1), rtt = 7 (x100 usec)
prefix length = 24, prefix = 1.1.1.0, region = ASIA
prefix source = static,
";
        assert_eq!(text(&world, "1.1.1.1", 2..=29), expected);
        assert!(text(&world, "1.1.1.1", 1..=20).ends_with("rtt = 7 (x100 usec)\n"));
    }

    #[test]
    fn active_values_with_source_method_and_result() {
        let mut world = World::new().site("local", 0, &[]);
        report(&world, Method::ActiveDns, 20, false);
        report(&world, Method::ActiveIcmp, 16, false);
        world.snapshot.rtt.dns_probe = DnsProbe::Fallback;
        let line =
            |world: &World| text(world, "1.1.1.1", 0..=32).lines().last().unwrap().to_owned();
        let expected = "site = local, ServerIronADX = (10.255.1.1), \
                        rtt = 2000 (usec)*A>D(OK), backup rtt = 1600 (usec)*A>I(OK)";
        assert_eq!(line(&world), expected);
        world.snapshot.rtt.dns_probe = DnsProbe::Unused;
        report(&world, Method::ActiveIcmp, 0, true);
        let expected = "site = local, ServerIronADX = (10.255.1.1), rtt = 1600 (usec)*A>I(FAL)";
        assert_eq!(line(&world), expected);
    }
}

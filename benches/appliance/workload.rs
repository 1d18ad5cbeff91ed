//! Configurations of any size, for benchmarks, for tests that count work, and for profilers.

use std::fmt::Write as _;

/// Lines of the configuration that belong to one host: its application, two addresses with a
/// weight each, and what the site devices report of them.
const LINES_OF_A_HOST: usize = 7;

/// Hosts of a zone.
const HOSTS_OF_A_ZONE: usize = 50;

/// Sites, with two devices each.
const SITES: usize = 10;

/// A configuration of `hosts` hosts.
pub(crate) fn configuration(hosts: usize) -> String {
    let mut text = String::new();
    for site in 0..SITES {
        put(&mut text, format_args!("gslb site site{site}"));
        put(&mut text, format_args!(" weight {}", site + 1));
        put(&mut text, format_args!(" si-name first 10.{site}.0.1"));
        put(&mut text, format_args!(" si-name second 10.{site}.0.2"));
        put(&mut text, format_args!("!"));
    }
    for zone in 0..hosts.div_ceil(HOSTS_OF_A_ZONE) {
        put(&mut text, format_args!("gslb dns zone zone{zone}.example.com"));
        for host in 0..HOSTS_OF_A_ZONE.min(hosts - zone * HOSTS_OF_A_ZONE) {
            put(&mut text, format_args!(" host-info h{host} http"));
            for which in 0..2 {
                let address = Address { zone, host, which };
                put(&mut text, format_args!(" host-info h{host} ip-list {address}"));
                put(&mut text, format_args!(" host-info h{host} ip-weight {address} 10"));
            }
        }
        put(&mut text, format_args!("!"));
    }
    put(&mut text, format_args!("gslb policy"));
    for line in ["dns override", "dns cache-proxy", "weighted-ip", "round-robin"] {
        put(&mut text, format_args!(" {line}"));
    }
    put(&mut text, format_args!("!"));
    for number in 0..hosts {
        let (zone, host) = (number / HOSTS_OF_A_ZONE, number % HOSTS_OF_A_ZONE);
        for which in 0..2 {
            let site = (number + which) % SITES;
            let address = Address { zone, host, which };
            put(&mut text, format_args!("emulate si 10.{site}.0.1 vip {address} http"));
        }
    }
    text
}

/// A configuration of about `lines` lines.
#[allow(dead_code, reason = "not every user of this file counts in lines")]
pub(crate) fn lines(lines: usize) -> String {
    configuration(lines / LINES_OF_A_HOST)
}

/// An address of a host.
struct Address {
    zone: usize,
    host: usize,
    which: usize,
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Address { zone, host, which } = self;
        write!(out, "172.{}.{}.{}", 16 + zone / 256, zone % 256, host * 2 + which + 1)
    }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{line}");
}

//! The displays: each report is a pure function from snapshot, measured state and counters to text.
//!
//! A report gathers a plain view first and prints it afterwards. It reads no clock, writes to no
//! terminal and knows nothing of the words that called it. Lines end with `\n`, never with a blank;
//! the session turns them into what its wire wants. Wherever the guide leaves the number of blanks
//! open, the layout is ours.
//!
//! A report about one thing of several takes its name and gives `None` if there is no such thing.

mod aliases;
mod cache;
mod clock;
mod date;
mod dns_counters;
mod dns_detail;
mod dns_view;
mod dns_zone;
mod explain;
mod facts;
mod failures;
mod global_stat;
mod hash_tables;
mod health_policies;
mod host_policy;
mod inventory;
mod live;
mod logging;
mod network;
mod page;
mod policy;
mod port_policies;
mod port_ranges;
mod resources;
mod rtt_simulation;
#[cfg(test)]
mod sample;
mod server_bind;
mod server_global;
mod server_real;
mod server_virtual;
mod sessions;
mod simulation;
mod site;
mod sna_domain;
mod snmp;
mod table;
mod traffic;
mod version;
mod who;

pub use aliases::aliases;
pub use cache::cache;
pub use clock::clock;
pub use date::midnight;
pub use dns_counters::dns_counters;
pub use dns_detail::dns_detail;
pub use dns_zone::dns_zone;
pub use explain::{Explained, explain};
pub use failures::{extent as failures_extent, failures};
pub use global_stat::global_stat;
pub use hash_tables::hash_tables;
pub use health_policies::health_policies;
pub use host_policy::{host_policies, host_policy};
pub use inventory::{chassis, flash, media, memory, module, reload};
pub use live::live;
pub use logging::{log_line, logging};
pub use network::{arp, interfaces_brief, ip, mac_addresses, statistics, vlan};
pub use policy::{default_policy, global_policy};
pub use port_policies::port_policies;
pub use port_ranges::port_ranges;
pub use resources::{Limit, Usage, resources, usages};
pub use rtt_simulation::RttSimulation;
pub use server_bind::server_bind;
pub use server_global::{server_global, server_session, server_traffic};
pub use server_real::server_real;
pub use server_virtual::server_virtual;
pub use sessions::{session_detail, sessions};
pub use simulation::{percentage, points, simulation};
pub use site::sites;
pub use sna_domain::sna_domains;
pub use snmp::snmp;
pub use traffic::traffic_site;
pub use version::version;
pub use who::{telnet, users, who};

/// How the ports are called that have a name.
pub type PortNames<'a> = &'a dyn Fn(crate::model::snapshot::Application) -> String;

/// The product's name as the guide prints it: in metric lists, status periods, the heading of the
/// table of `show gslb traffic site`, cache lines and log lines.
///
/// The guide's authors put it in the place of [`DEVICE_WORD`] in most samples; users compare with
/// the guide (decisions 1.9).
pub const PRODUCT_WORD: &str = "ServerIronADX";

/// The short name of a site device, where the guide's samples kept it: `SI:`, `SIs`, `SI's VIPs`.
pub const DEVICE_WORD: &str = "SI";

/// The share of `count` in `total` in whole percent, rounded down, and 0 of nothing (guide p. 44:
/// 4 of 15 are 26 %).
fn percent(count: u64, total: u64) -> u64 {
    let share = (u128::from(count) * 100).checked_div(u128::from(total)).unwrap_or(0);
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// A number of things in words: `1 site`, `2 sites`.
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The word for a switch (guide p. 75, 175).
const fn switch(on: bool) -> &'static str {
    if on { "ENABLE" } else { "DISABLE" }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages_are_rounded_down() {
        let shares = [5, 6, 4].map(|count| percent(count, 15));
        assert_eq!(shares, [33, 40, 26], "guide p. 44");
        assert_eq!([15, 20, 10].map(|weight| percent(weight, 45)), [33, 44, 22], "guide p. 43");
    }

    #[test]
    fn percentages_of_nothing_and_of_very_much() {
        assert_eq!(percent(0, 0), 0);
        assert_eq!(percent(3, 0), 0);
        assert_eq!(percent(u64::MAX, u64::MAX), 100);
        assert_eq!(percent(u64::MAX - 1, u64::MAX), 99);
    }
}

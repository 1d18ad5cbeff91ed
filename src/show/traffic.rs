//! `show gslb traffic site` (guide p. 44 to 46): how often each VIP of each site was chosen.

use std::net::IpAddr;

use hashbrown::HashSet;

use super::page::Page;
use super::table::{Block, Column};
use super::{PRODUCT_WORD, percent};
use crate::model::snapshot::{Host, Site, Snapshot};

/// The rulers are as wide as the words that the device has above them, and that is `SI` in the
/// first column.
const COLUMNS: [Column; 3] = [
    Column::left(&[PRODUCT_WORD, "=="], 17),
    Column::left(&["VIP", "==="], 17).gap(2),
    Column::left(&["Selection (%)", "============="], 0).gap(2),
];

/// `show gslb traffic site` (guide p. 44 to 46).
///
/// Ends with the number of addresses that belong to no site, if there are any: they are the most
/// common mistake of a newcomer, and without that line they are seen nowhere in this report.
pub fn traffic_site(snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    let view = View::gather(snapshot);
    for site in &view.sites {
        page.part();
        page.line(format!("SITE: {:<20} Weight: {}", site.site.name, site.site.weight));
        for domain in &site.domains {
            page.part();
            domain.print(&mut page);
        }
    }
    if view.addresses_without_site != 0 {
        page.part();
        page.line(format!("({} addresses belong to no site)", view.addresses_without_site));
    }
    page.finish()
}

struct View<'a> {
    sites: Vec<SiteView<'a>>,
    /// Different addresses that are no VIP of any site device.
    addresses_without_site: usize,
}

struct SiteView<'a> {
    site: &'a Site,
    /// The domains that have an address here, in configured order.
    domains: Vec<DomainView<'a>>,
}

/// What one site adds to one domain.
struct DomainView<'a> {
    host: &'a Host,
    /// Questions for the domain, over all sites.
    requests: u64,
    vips: Vec<VipView>,
}

struct VipView {
    /// The management address of the site device.
    server: IpAddr,
    address: IpAddr,
    selections: u64,
}

impl<'a> View<'a> {
    /// Goes over the hosts once and puts each address where it belongs.
    fn gather(snapshot: &'a Snapshot) -> Self {
        let sites = snapshot.sites.iter().map(|site| SiteView { site, domains: Vec::new() });
        let mut sites: Vec<SiteView> = sites.collect();
        let mut without_site = HashSet::new();
        let ids = snapshot.zones.iter().flat_map(|zone| &zone.hosts);
        for host in ids.map(|id| &snapshot.hosts[id.index()]) {
            // One lock for all sites of the domain, so that their shares belong together.
            let state = host.domain.lock();
            for address in &host.addresses {
                let Some(server) = snapshot.owner_of(address) else {
                    without_site.insert(address.ip);
                    continue;
                };
                let tally = state.tallies.get(address.slot.index());
                let domain = sites[server.site.index()].domain(host, state.total_requests());
                domain.vips.push(VipView {
                    server: server.address,
                    address: address.ip,
                    selections: tally.map_or(0, |tally| tally.selections),
                });
            }
        }
        View { sites, addresses_without_site: without_site.len() }
    }
}

impl<'a> SiteView<'a> {
    /// The part of `host`, made if this is its first address here. Hosts come one after another,
    /// so only the last part can be the one.
    fn domain(&mut self, host: &'a Host, requests: u64) -> &mut DomainView<'a> {
        if self.domains.last().is_none_or(|last| !std::ptr::eq(last.host, host)) {
            self.domains.push(DomainView { host, requests, vips: Vec::new() });
        }
        self.domains.last_mut().expect("one was pushed if there was none")
    }
}

impl DomainView<'_> {
    fn print(&self, page: &mut Page) {
        let share = |count: u64| format!("{count} ({} %)", percent(count, self.requests));
        let rows: Vec<[String; 3]> = self
            .vips
            .iter()
            .map(|vip| [vip.server.to_string(), vip.address.to_string(), share(vip.selections)])
            .collect();
        let total = self.vips.iter().map(|vip| vip.selections).sum();
        page.line(format!("* {}", self.host.domain_name));
        page.line(format!("  DNS Requests: {}", self.requests));
        page.part();
        page.block(2, &Block::new(&COLUMNS, &rows));
        page.part();
        page.line(format!("  Site Selection for Domain: {}", share(total)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::domain::Decision::WeightedSite;
    use crate::show::sample::{FTP, HTTP, Sample};

    /// The set-up of the guide's sample (p. 44 to 46), after 36 questions for a.b.c.
    fn guide() -> Sample {
        let mut sample = Sample::new();
        sample.site("local", 50).server(None, "10.1.1.1");
        sample.vip("10.1.1.181").vip("10.1.1.180").vip("10.1.1.121");
        sample.site("TWO", 50).server(None, "10.1.1.2").vip("10.1.1.182").vip("10.1.1.122");
        sample.site("THREE", 0).server(None, "10.1.1.3").vip("10.1.1.183").vip("10.1.1.123");
        sample.zone("b.c").host("a", &[HTTP]).requests(36);
        sample.address("10.1.1.181").selected(9, WeightedSite);
        sample.address("10.1.1.180").selected(9, WeightedSite);
        sample.address("10.1.1.182").selected(18, WeightedSite);
        sample.host("b", &[FTP]).address("10.1.1.121").address("10.1.1.122");
        sample
    }

    const GUIDE: &str = "\
SITE: local                Weight: 50

* a.b.c
  DNS Requests: 36

  ServerIronADX      VIP                Selection (%)
  ==                 ===                =============
  10.1.1.1           10.1.1.181         9 (25 %)
  10.1.1.1           10.1.1.180         9 (25 %)

  Site Selection for Domain: 18 (50 %)

* b.b.c
  DNS Requests: 0

  ServerIronADX      VIP                Selection (%)
  ==                 ===                =============
  10.1.1.1           10.1.1.121         0 (0 %)

  Site Selection for Domain: 0 (0 %)

SITE: TWO                  Weight: 50

* a.b.c
  DNS Requests: 36

  ServerIronADX      VIP                Selection (%)
  ==                 ===                =============
  10.1.1.2           10.1.1.182         18 (50 %)

  Site Selection for Domain: 18 (50 %)

* b.b.c
  DNS Requests: 0

  ServerIronADX      VIP                Selection (%)
  ==                 ===                =============
  10.1.1.2           10.1.1.122         0 (0 %)

  Site Selection for Domain: 0 (0 %)

SITE: THREE                Weight: 0
";

    #[test]
    fn the_sample_of_the_guide() {
        assert_eq!(traffic_site(&guide().snapshot()), GUIDE);
    }

    #[test]
    fn two_reads_are_identical() {
        let snapshot = guide().snapshot();
        assert_eq!(traffic_site(&snapshot), traffic_site(&snapshot));
    }

    #[test]
    fn addresses_without_a_site_are_counted_once_at_the_end() {
        let mut sample = guide();
        sample.address("192.0.2.1").host("c", &[]).address("192.0.2.1").address("192.0.2.2");
        let expected = format!("{GUIDE}\n(2 addresses belong to no site)\n");
        assert_eq!(traffic_site(&sample.snapshot()), expected);
    }

    #[test]
    fn nothing_is_configured() {
        assert_eq!(traffic_site(&Sample::new().snapshot()), "");
    }

    #[test]
    fn addresses_without_any_site() {
        let mut sample = Sample::new();
        sample.zone("b.c").host("a", &[]).address("192.0.2.1").address("192.0.2.2");
        assert_eq!(traffic_site(&sample.snapshot()), "(2 addresses belong to no site)\n");
    }

    #[test]
    fn long_names_and_ipv6_addresses_fit_and_shares_are_rounded_down() {
        let mut sample = Sample::new();
        sample.site("sixteen-letters1", 100);
        sample.server(None, "2001:db8:1111:2222:3333:4444:5555:1");
        sample.vip("2001:db8:1111:2222:3333:4444:5555:6666").vip("192.0.2.181");
        sample.zone("a-zone-of-thirty-two-letters.com").host("www", &[HTTP]).requests(15);
        sample.address("2001:db8:1111:2222:3333:4444:5555:6666").selected(4, WeightedSite);
        sample.address("192.0.2.181").selected(5, WeightedSite);
        let expected = "\
SITE: sixteen-letters1     Weight: 100

* www.a-zone-of-thirty-two-letters.com
  DNS Requests: 15

  ServerIronADX                        VIP                                     Selection (%)
  ==                                   ===                                     =============
  2001:db8:1111:2222:3333:4444:5555:1  2001:db8:1111:2222:3333:4444:5555:6666  4 (26 %)
  2001:db8:1111:2222:3333:4444:5555:1  192.0.2.181                             5 (33 %)

  Site Selection for Domain: 9 (60 %)
";
        assert_eq!(traffic_site(&sample.snapshot()), expected);
    }

    #[test]
    fn addresses_of_two_sites_in_turn_stay_together() {
        let mut sample = Sample::new();
        sample.site("one", 1).server(None, "192.0.2.1").vip("192.0.2.11").vip("192.0.2.12");
        sample.site("two", 1).server(None, "192.0.2.2").vip("192.0.2.21");
        sample.zone("b.c").host("a", &[]);
        sample.address("192.0.2.11").address("192.0.2.21").address("192.0.2.12");
        let text = traffic_site(&sample.snapshot());
        assert_eq!(text.matches("* a.b.c").count(), 2, "once at each site:\n{text}");
        assert!(text.find("192.0.2.11") < text.find("192.0.2.12"));
        assert!(text.find("192.0.2.12") < text.find("SITE: two"));
    }

    #[test]
    fn a_report_over_many_hosts_and_sites_is_complete() {
        let mut sample = Sample::new();
        for site in 0..50 {
            sample.site(&format!("site{site}"), 1).server(None, &format!("10.0.0.{site}"));
            sample.vip(&format!("10.1.0.{site}"));
        }
        sample.zone("b.c");
        for host in 0..200 {
            sample.host(&format!("h{host}"), &[]);
            sample.address(&format!("10.1.0.{}", host % 50));
            sample.address(&format!("10.1.0.{}", (host + 1) % 50));
        }
        let text = traffic_site(&sample.snapshot());
        assert_eq!(text.lines().filter(|line| line.starts_with("SITE: ")).count(), 50);
        assert_eq!(text.lines().filter(|line| line.starts_with("* ")).count(), 400);
    }
}

//! `show sna-domain`: gateways and user records of SNA gateway domains. The layout is ours.

use std::fmt::Write as _;

use super::date::Civil;
use super::page::Page;
use super::percent;
use super::table::{Block, Column};
use crate::clock::Moment;
use crate::sna::{DomainState, LuStatus, Matcher, Pass, SnaDomain, System, UserRecord};

const SYSTEMS: [Column; 10] = [
    Column::left(&["System", "------"], 6),
    Column::left(&["Address", "-------"], 11).gap(2),
    Column::right(&["Load", "----"], 5).gap(2),
    Column::right(&["Bandwidth", "---------"], 0).gap(2),
    Column::right(&["LUs", "---"], 4).gap(2),
    Column::right(&["Active", "------"], 0).gap(2),
    Column::right(&["Inactive", "--------"], 0).gap(2),
    Column::right(&["In use", "------"], 0).gap(2),
    Column::right(&["Selections", "----------"], 0).gap(2),
    Column::left(&["Last used", "---------"], 0).gap(2),
];

const RECORDS: [Column; 6] = [
    Column::left(&["User record", "-----------"], 0),
    Column::left(&["Matches", "-------"], 15).gap(2),
    Column::left(&["Default resources", "-----------------"], 0).gap(2),
    Column::right(&["Pass 1", "------"], 0).gap(2),
    Column::right(&["Pass 2", "------"], 0).gap(2),
    Column::right(&["Least recently used", "-------------------"], 0).gap(2),
];

/// `show sna-domain` for these domains at this moment; `wall_seconds` are seconds since 1970-01-01
/// 00:00:00 UTC.
pub fn sna_domains(domains: &[&SnaDomain], now: Moment, wall_seconds: u64) -> String {
    let mut page = Page::default();
    for domain in domains {
        page.part();
        page.line(format!("SNA DOMAIN: {}", domain.name));
        page.line(format!("Keyword: {}   TTL: {} seconds", domain.keyword, domain.ttl));
        let state = domain.tallies.lock();
        page.part();
        page.block(0, &systems(domain, &state, now, wall_seconds));
        page.part();
        page.block(0, &records(domain, &state));
    }
    page.finish()
}

fn systems(domain: &SnaDomain, state: &DomainState, now: Moment, wall_seconds: u64) -> Block {
    let tallies = state.systems(domain.arrangement);
    let total = tallies.iter().map(|tally| tally.selections).sum();
    let row = |system: &System, selections: u64, last_used: Option<Moment>| {
        let count = |status| {
            let statuses = system.lus.iter().map(|lu| domain.lus[lu.index()].state.status());
            statuses.filter(|one| *one == status).count().to_string()
        };
        [
            system.name.clone(),
            system.address.to_string(),
            format!("{:.2}", system.state.load()),
            system.state.bandwidth().to_string(),
            system.lus.len().to_string(),
            count(LuStatus::Active),
            count(LuStatus::Inactive),
            count(LuStatus::InUse),
            format!("{selections} ({}%)", percent(selections, total)),
            last_used.map_or_else(|| "never".to_owned(), |used| moment(used, now, wall_seconds)),
        ]
    };
    let rows: Vec<_> = domain
        .systems
        .iter()
        .enumerate()
        .map(|(place, system)| match tallies.get(place) {
            Some(tally) => row(system, tally.selections, tally.last_used),
            // A newer configuration is on its way.
            None => row(system, 0, None),
        })
        .collect();
    Block::new(&SYSTEMS, &rows)
}

/// A moment as a time of day and a day.
fn moment(used: Moment, now: Moment, wall_seconds: u64) -> String {
    let then = Civil::from_unix(wall_seconds.saturating_sub(now.since(used).as_secs()));
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{} {}", then.time(), then.date());
    text
}

/// A row for each way in which a record matches; the first one holds the rest.
fn records(domain: &SnaDomain, state: &DomainState) -> Block {
    let tallies = state.records(domain.arrangement);
    let mut rows = Vec::new();
    for (place, record) in domain.records.iter().enumerate() {
        let selections = tallies.get(place).map(|tally| tally.selections).unwrap_or_default();
        let by = |pass: Pass| selections[pass as usize].to_string();
        let mut matchers = record.matchers.iter().map(matcher);
        rows.push([
            record.name.clone(),
            matchers.next().unwrap_or_else(|| "-".to_owned()),
            resources(record),
            by(Pass::First),
            by(Pass::Second),
            by(Pass::LeastRecentlyUsed),
        ]);
        rows.extend(matchers.map(|matcher| {
            let mut row = [const { String::new() }; 6];
            row[1] = matcher;
            row
        }));
    }
    Block::new(&RECORDS, &rows)
}

fn resources(record: &UserRecord) -> String {
    if record.resource_names.is_empty() { "-".to_owned() } else { record.resource_names.join(" ") }
}

/// An address without the length that covers it alone.
fn matcher(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Network(network) if network.prefix_len() == network.max_prefix_len() => {
            network.addr().to_string()
        }
        Matcher::Network(network) => network.to_string(),
        Matcher::Hostname { name, .. } => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DrivenClock;
    use crate::sna::testing::example;

    #[test]
    fn gateways_and_records() {
        let mut world = example()
            .record("EVERYWHERE", &[], &["2001:db8:1111:2222::/64", "192.0.2.0/24"])
            .record("foo", &["POOL-2"], &[]);
        world.now = Moment::from_millis(60_000);
        world.system("gw2", 12.5, 4_294_967_295);
        world.lus(&["LU02"], LuStatus::Inactive);
        for _ in 0..3 {
            world.ask("glb");
        }
        world.lus(&["LU01", "LU03"], LuStatus::InUse);
        world.ask("glb");
        let later = Moment::from_millis(3_660_000);
        let text = sna_domains(&[&world.domain], later, DrivenClock::WALL_START + 3660);
        let expected = "
SNA DOMAIN: sna.example.com
Keyword: glb   TTL: 10 seconds

System  Address       Load   Bandwidth   LUs  Active  Inactive  In use  Selections  Last used
------  -------       ----   ---------   ---  ------  --------  ------  ----------  ---------
gw1     192.0.2.11    0.00       10000     1       0         0       1     3 (75%)  00:01:00 Tue Jan 31 2012
gw2     192.0.2.12   12.50  4294967295     1       0         1       0     1 (25%)  00:01:00 Tue Jan 31 2012
gw3     192.0.2.13    0.00       10000     1       0         0       1      0 (0%)  never

User record  Matches                  Default resources  Pass 1  Pass 2  Least recently used
-----------  -------                  -----------------  ------  ------  -------------------
SITE1        198.51.100.53            POOL-1 POOL-2           3       1                    0
SITE2        203.0.113.53             POOL-2 POOL-1           0       0                    0
EVERYWHERE   2001:db8:1111:2222::/64  -                       0       0                    0
             192.0.2.0/24
foo          -                        POOL-2                  0       0                    0
";
        assert_eq!(text, expected[1..]);
        assert_eq!(
            text,
            sna_domains(&[&world.domain], later, DrivenClock::WALL_START + 3660),
            "a second look is the same"
        );
    }

    #[test]
    fn domains_are_parted_by_an_empty_line() {
        let world = example();
        let text = sna_domains(&[&world.domain, &world.domain], Moment::ZERO, 0);
        assert_eq!(text.matches("\n\nSNA DOMAIN: ").count(), 1);
        assert_eq!(sna_domains(&[], Moment::ZERO, 0), "");
    }
}

//! The VIPs that a site device reports, in order of their first report.
//!
//! Adding, finding and taking one off do not depend on how many there are: a device of a large
//! configuration has thousands, and every question may look one up.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::health::state::ReportedVip;

/// The VIPs of one device.
#[derive(Debug, Default)]
pub(super) struct Vips {
    in_order: BTreeMap<u64, ReportedVip>,
    numbers: HashMap<IpAddr, u64>,
    /// The number of the next VIP; they are never used again.
    next: u64,
}

impl Vips {
    /// All of them in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ReportedVip> {
        self.in_order.values()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// The report of an address.
    pub(super) fn find(&self, address: IpAddr) -> Option<&ReportedVip> {
        self.in_order.get(self.numbers.get(&address)?)
    }

    /// Adds a VIP, or replaces the report of the same address in its place.
    pub(super) fn report(&mut self, vip: ReportedVip) {
        let number = *self.numbers.entry(vip.address).or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.in_order.insert(number, vip);
    }

    /// Takes an address off.
    pub(super) fn withdraw(&mut self, address: IpAddr) {
        if let Some(number) = self.numbers.remove(&address) {
            self.in_order.remove(&number);
        }
    }

    /// Takes all off.
    pub(super) fn clear(&mut self) {
        self.in_order.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vip(last: u8, standby: bool) -> ReportedVip {
        let address = IpAddr::from([192, 0, 2, last]);
        ReportedVip { address, applications: Vec::new(), standby }
    }

    #[test]
    fn a_second_report_keeps_the_place_and_a_new_one_comes_last() {
        let mut vips = Vips::default();
        for last in [3, 1, 2] {
            vips.report(vip(last, false));
        }
        vips.report(vip(1, true));
        vips.withdraw(vip(3, false).address);
        vips.report(vip(3, false));
        let listed: Vec<ReportedVip> = vips.iter().cloned().collect();
        assert_eq!(listed, [vip(1, true), vip(2, false), vip(3, false)]);
        assert_eq!(vips.find(vip(1, true).address), Some(&vip(1, true)));
        vips.clear();
        assert!(vips.is_empty() && vips.find(vip(1, true).address).is_none());
    }
}

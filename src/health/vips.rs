//! The VIPs that a site device reports, in order of their first report, with their active bindings.
//!
//! Adding, finding and taking one off do not depend on how many there are: a device of a large
//! configuration has thousands, and every question may look one up.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hashbrown::HashMap;

use crate::health::state::ReportedVip;
use crate::model::snapshot::Application;
use crate::revision::Revision;

/// The VIPs of one device.
#[derive(Debug, Default)]
pub(super) struct Vips {
    /// Each with its number.
    by_address: HashMap<IpAddr, (u64, ReportedVip)>,
    /// Addresses by number.
    in_order: BTreeMap<u64, IpAddr>,
    /// The number of the next VIP; they are never used again.
    next: u64,
    revision: Revision,
    /// What was said of the bindings of an application of a VIP, reported or not.
    bindings: HashMap<(IpAddr, Application), u32>,
}

impl Vips {
    /// All of them in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ReportedVip> {
        self.in_order.values().filter_map(|address| self.find(*address))
    }

    /// Changes whenever a VIP is added, replaced or taken off.
    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether nothing was said, neither of VIPs nor of bindings.
    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.bindings.is_empty()
    }

    /// The report of an address.
    pub(super) fn find(&self, address: IpAddr) -> Option<&ReportedVip> {
        self.by_address.get(&address).map(|(_, vip)| vip)
    }

    /// Adds a VIP, or replaces the report of the same address in its place.
    pub(super) fn report(&mut self, vip: ReportedVip) {
        self.revision = Revision::next();
        if let Some((_, known)) = self.by_address.get_mut(&vip.address) {
            *known = vip;
            return;
        }
        self.in_order.insert(self.next, vip.address);
        self.by_address.insert(vip.address, (self.next, vip));
        self.next += 1;
    }

    /// Takes an address off; what was said of its bindings stays.
    pub(super) fn withdraw(&mut self, address: IpAddr) {
        if let Some((number, _)) = self.by_address.remove(&address) {
            self.revision = Revision::next();
            self.in_order.remove(&number);
        }
    }

    /// Active bindings of an application of a VIP: what was said, 0 if the VIP is reported without
    /// this application, `None` if nobody said anything.
    pub(super) fn active_bindings(&self, vip: IpAddr, application: Application) -> Option<u32> {
        self.bindings.get(&(vip, application)).copied().or_else(|| {
            let known = &self.find(vip)?.applications;
            (!known.is_empty() && !known.contains(&application)).then_some(0)
        })
    }

    /// Changes what was said of the bindings of an application of a VIP; `None`: nothing was.
    pub(super) fn set_active_bindings(
        &mut self,
        vip: IpAddr,
        application: Application,
        count: Option<u32>,
    ) {
        match count {
            Some(count) => self.bindings.insert((vip, application), count),
            None => self.bindings.remove(&(vip, application)),
        };
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
        vips.withdraw(vip(1, true).address);
        vips.withdraw(vip(2, true).address);
        assert_eq!(vips.find(vip(1, true).address), None);
        assert!(!vips.is_empty());
        vips.withdraw(vip(3, true).address);
        assert!(vips.is_empty());
    }
}

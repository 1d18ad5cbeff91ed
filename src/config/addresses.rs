//! The addresses of all interfaces with their networks, so that the rules about them (base-cli 2.1) are
//! checked without a look at every interface.

use std::collections::{BTreeMap, BTreeSet};

/// A network by its first and its last address.
pub(super) type Network = (u32, u32);

/// The network that an address lies in.
pub(super) fn network_of(address: u32, mask: u32) -> Network {
    (address & mask, address | !mask)
}

/// Addresses of interfaces by their networks, no two of which have an address in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Addresses {
    /// The last address of each network and the addresses that interfaces have of it, by its first.
    networks: BTreeMap<u32, (u32, BTreeSet<u32>)>,
}

impl Addresses {
    /// Takes note of an address that was kept (`true`) or removed.
    pub(super) fn note(&mut self, address: u32, mask: u32, kept: bool) {
        let (first, last) = network_of(address, mask);
        if kept {
            let network = self.networks.entry(first).or_insert((last, BTreeSet::new()));
            network.1.insert(address);
        } else if let Some((_, addresses)) = self.networks.get_mut(&first) {
            addresses.remove(&address);
            if addresses.is_empty() {
                self.networks.remove(&first);
            }
        }
    }

    /// Whether an interface has the address.
    pub(super) fn has(&self, address: u32) -> bool {
        let network = self.overlapping((address, address));
        network.is_some_and(|(first, _)| {
            self.networks.get(&first).is_some_and(|(_, addresses)| addresses.contains(&address))
        })
    }

    /// A network that has an address in common with this one.
    pub(super) fn overlapping(&self, (first, last): Network) -> Option<Network> {
        let before = self.networks.range(..=last).next_back();
        before
            .map(|(first, (last, _))| (*first, *last))
            .filter(|(_, known_last)| *known_last >= first)
    }

    /// The addresses that interfaces have of a network, in order.
    pub(super) fn of(&self, network: Network) -> impl Iterator<Item = u32> {
        let known = self.networks.get(&network.0).filter(|known| known.0 == network.1);
        known.into_iter().flat_map(|(_, addresses)| addresses.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: u32 = 0xffff_ff00;

    #[test]
    fn networks_overlap_where_they_share_an_address() {
        let mut addresses = Addresses::default();
        addresses.note(0x0a00_0101, MASK, true);
        addresses.note(0x0a00_0301, MASK, true);
        let net = (0x0a00_0100, 0x0a00_01ff);
        assert_eq!(network_of(0x0a00_0101, MASK), net);
        assert_eq!(addresses.overlapping(network_of(0x0a00_01fe, MASK)), Some(net));
        // Wider, narrower, between, below and above.
        assert!(addresses.overlapping(network_of(0x0a00_0000, 0xff00_0000)).is_some());
        assert_eq!(addresses.overlapping(network_of(0x0a00_0120, 0xffff_fff0)), Some(net));
        assert_eq!(addresses.overlapping(network_of(0x0a00_0200, MASK)), None);
        assert_eq!(addresses.overlapping(network_of(0x0a00_0000, MASK)), None);
        assert_eq!(addresses.overlapping(network_of(0xffff_ffff, MASK)), None);
        assert!(addresses.overlapping(network_of(0, 0)).is_some());
    }

    #[test]
    fn what_is_removed_is_forgotten() {
        let mut addresses = Addresses::default();
        addresses.note(0x0a00_0101, MASK, true);
        addresses.note(0x0a00_0102, MASK, true);
        addresses.note(0x0a00_0101, MASK, false);
        assert!(!addresses.has(0x0a00_0101) && addresses.has(0x0a00_0102));
        let net = network_of(0x0a00_0101, MASK);
        assert_eq!(addresses.of(net).collect::<Vec<_>>(), [0x0a00_0102]);
        assert_eq!(addresses.of((net.0, net.0)).count(), 0);
        assert!(addresses.overlapping(network_of(0x0a00_0101, MASK)).is_some());
        addresses.note(0x0a00_0102, MASK, false);
        assert_eq!(addresses, Addresses::default());
    }
}

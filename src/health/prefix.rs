//! Prefixes of addresses, both families.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    network: IpAddr,
    length: u8,
}

impl Prefix {
    /// The prefix of `length` bits in which `address` lies. A length beyond the address is its
    /// full length.
    #[must_use]
    pub fn new(address: IpAddr, length: u8) -> Self {
        match address {
            IpAddr::V4(address) => {
                let length = length.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                let network = std::net::Ipv4Addr::from_bits(address.to_bits() & mask);
                Prefix { network: network.into(), length }
            }
            IpAddr::V6(address) => {
                let length = length.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                let network = std::net::Ipv6Addr::from_bits(address.to_bits() & mask);
                Prefix { network: network.into(), length }
            }
        }
    }

    /// The lowest address.
    #[must_use]
    pub const fn network(self) -> IpAddr {
        self.network
    }

    /// Bits that are the same.
    #[must_use]
    pub const fn length(self) -> u8 {
        self.length
    }

    /// Whether the address is of the same family and begins with these bits.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.network.is_ipv4()
            && Prefix::new(address, self.length).network == self.network
    }

    /// Whether every address of `other` is in this prefix.
    #[must_use]
    pub fn covers(self, other: Prefix) -> bool {
        self.length <= other.length && self.contains(other.network)
    }
}

/// A prefix of IPv4 is hashed as one number: every question looks up several.
impl Hash for Prefix {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.network {
            IpAddr::V4(network) => {
                state.write_u64(u64::from(network.to_bits()) << 8 | u64::from(self.length));
            }
            IpAddr::V6(network) => {
                state.write_u128(network.to_bits());
                state.write_u8(self.length);
            }
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;

    #[test]
    fn host_bits_are_cleared() {
        assert_eq!(Prefix::new(ip("61.1.1.1"), 20).to_string(), "61.1.0.0/20");
        assert_eq!(Prefix::new(ip("61.1.1.1"), 0).to_string(), "0.0.0.0/0");
        assert_eq!(Prefix::new(ip("61.1.1.1"), 99).to_string(), "61.1.1.1/32");
        assert_eq!(Prefix::new(ip("2001:db8::56"), 32).to_string(), "2001:db8::/32");
        assert_eq!(Prefix::new(ip("2001:db8::56"), 0).to_string(), "::/0");
    }

    #[test]
    fn containment_minds_the_family() {
        let all = Prefix::new(ip("0.0.0.0"), 0);
        assert!(all.contains(ip("255.1.1.1")));
        assert!(!all.contains(ip("::1")));
        assert!(all.covers(Prefix::new(ip("10.0.0.0"), 8)));
        assert!(!Prefix::new(ip("10.0.0.0"), 8).covers(all));
    }
}

//! Regions of the geographic metric.

use crate::names::named_enum;

named_enum! {
    /// A continent as the device knows it; the name is the word of the configuration.
    pub enum Region {
        /// North America.
        NorthAmerica = "n-america",
        /// South America.
        SouthAmerica = "s-america",
        /// Europe.
        Europe = "europe",
        /// Asia.
        Asia = "asia",
        /// Africa.
        Africa = "africa",
    }
}

impl Default for Region {
    /// Where a client or server is of which nothing is known and nothing is configured (decisions
    /// 3.9).
    fn default() -> Self {
        Region::NorthAmerica
    }
}

impl Region {
    /// The word of the displays (guide p. 179).
    #[must_use]
    pub const fn display(self) -> &'static str {
        match self {
            Region::NorthAmerica => "N-AM",
            Region::SouthAmerica => "S-AM",
            Region::Europe => "EUROPE",
            Region::Asia => "ASIA",
            Region::Africa => "AFRICA",
        }
    }
}

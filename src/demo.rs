//! Built-in examples: a configuration with the emulated world that belongs to it.

use crate::names::named_enum;

named_enum! {
    /// An example.
    pub enum Demo {
        /// Three sites, one zone and weights of the sites (guide p. 45, 46).
        TrafficSite = "traffic-site",
    }
}

impl Demo {
    /// The example that is loaded when no name is given.
    pub const DEFAULT: Demo = Demo::TrafficSite;

    /// Its configuration, with `emulate` commands in it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Demo::TrafficSite => include_str!("../demos/traffic-site.cfg"),
        }
    }

    /// A name that can be asked for in it.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Demo::TrafficSite => "a.b.c",
        }
    }
}

//! Built-in examples: a configuration with the emulated world that belongs to it.

use crate::grammar::link::Message;
use crate::names::named_enum;

named_enum! {
    /// An example.
    pub enum Demo {
        /// Two sites and the last four steps of a policy.
        FourSteps = "four-steps",
        /// SNA gateways, chosen by the name or by who asks (SNA guide p. E-2 to E-7).
        Sna = "sna",
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
            Demo::FourSteps => include_str!("../demos/four-steps.cfg"),
            Demo::Sna => include_str!("../demos/sna.cfg"),
            Demo::TrafficSite => include_str!("../demos/traffic-site.cfg"),
        }
    }

    /// What is said of it at the start: a question to ask and a display to look at.
    #[must_use]
    pub const fn hint(self) -> Message {
        match self {
            Demo::Sna => Message::StartTrySna,
            Demo::FourSteps | Demo::TrafficSite => Message::StartTry,
        }
    }

    /// A name that can be asked for in it.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Demo::FourSteps => "www.example.com",
            Demo::Sna => "glb.sna.example.com",
            Demo::TrafficSite => "a.b.c",
        }
    }
}

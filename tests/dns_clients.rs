//! The real program from outside: asked by dig, kdig and drill, with real servers of other makes
//! behind it and a resolver before it.
//!
//! Without one of these programs the tests say so and pass, unless `ADXEMU_REQUIRE_DIG` is set, as
//! `.ci/run` does.

#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod dns_clients {
    pub(crate) mod program;
    pub(crate) mod server;

    mod book;
    mod compliance;
    mod demos;
    mod emulated_server;
    mod real_servers;
    mod resolver;
    mod web_server;
}

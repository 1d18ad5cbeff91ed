//! The DNS server behind the appliance: the real server that the DNS VIP leads to (guide p. 2, 5).
//!
//! ```text
//!  question ─► dns::answer ─► is the server needed? ─► emulated ─► Reply ─► rewrite ─► reply
//!                                                  └─► live     ─►   ┘
//!  check interval ─► learn ─► the addresses of hosts (health::learned)
//! ```
//!
//! [`emulated`] answers from what was typed, from master files ([`master_file`]) or, if nothing was
//! said, from the configuration. With `--live` a real server is asked for names of which nothing was
//! typed ([`live`], [`upstream`]). Knows nothing of policies.

pub mod emulated;
pub mod learn;
pub mod live;
pub mod master_file;
pub mod reply;
pub mod upstream;

//! adxemu emulates the Brocade ServerIron ADX, an appliance that spreads DNS answers over sites.
//!
//! ```text
//!  keys ─ term ─► line ─► cli::words ─► cli::matcher ──(grammar trie of the mode)──► Hit
//!                                           │                                         │
//!                                    Stop ──┘─► messages ─► writer                    ▼
//!                                                            ┌─ enter/leave ─ mode stack of the session
//!                                                            ├─ show/do ───── show::*, actions
//!                                                            └─ keep/open ─── config::edit ─► tree
//!                                                                                              │
//!                                                                     model::project (total) ◄─┘
//!                                                                              │ Snapshot
//!                                                                              ▼
//!   UDP/TCP ─► dns::question ─► dns::answer ◄── one load for each question ── ArcSwap
//!                                   │  ◄── measured state, clock, the domain's own state
//!                                   ▼
//!                              dns::encode ─► UDP/TCP
//! ```
//!
//! The grammar is the truth about what may be typed, the statement tree the truth about what was
//! typed. Everything else is derived from them, in one direction.

pub mod appliance;
pub mod behind;
pub mod check;
pub mod cli;
pub mod clock;
pub mod config;
pub mod counters;
pub mod demo;
pub mod dns;
pub mod flash;
pub mod grammar;
pub mod gslb;
pub mod health;
pub mod lab;
mod listen;
pub mod live;
pub mod log;
pub mod metrics;
pub mod model;
pub mod modules;
mod names;
pub mod remote;
pub mod replay;
pub mod revision;
pub mod secret;
pub mod show;
pub mod sna;
pub mod store;
pub mod term;
pub mod tftp;
pub mod whatif;

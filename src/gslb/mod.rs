//! The selection of the best address.
//!
//! [`fn@select`] is the whole of it for one question: it locks the domain, lets [`choose`] decide,
//! applies what changes and puts the addresses into the order of the reply.

pub mod affinity;
mod by_weight;
pub mod choose;
pub mod domain;
pub mod explore;
pub mod hash_persistence;
pub mod hash_table;
pub mod metric;
pub mod observe;
pub mod pool;
pub mod prefixes;
pub mod regions;
pub mod reply;
pub mod select;
pub mod sticky;
#[cfg(test)]
#[allow(dead_code, reason = "offers what the tests of any module may need")]
pub(crate) mod testing;

pub use self::select::{explain, renew_client, select, select_for, select_for_reply};

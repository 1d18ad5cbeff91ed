//! The selection of the best address.

pub mod choose;
pub mod domain;

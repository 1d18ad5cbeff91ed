//! The rules that look at a whole configuration, or at those of a lab, by what they are about.

pub(super) mod addresses;
pub(super) mod affinities;
pub(super) mod device;
pub(super) mod lab;
pub(super) mod policies;
pub(super) mod references;
pub(super) mod servers;

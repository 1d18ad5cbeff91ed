//! The rules that look at a whole configuration, by what they are about.

pub(super) mod addresses;
pub(super) mod affinities;
pub(super) mod device;
pub(super) mod policies;

//! Measured state: what health checks and site devices report.

pub mod learned;
pub mod load;
pub mod measurement;
pub mod own;
pub mod prefix;
pub mod rtt;
pub mod schedule;
pub mod sessions;
pub mod smoothing;
pub mod state;
mod vips;

//! `adxemu serve` as a service: signals, readiness, metrics, and the files of `dist`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "everything in this crate is part of a test")]

mod service {
    mod distributed;
    mod ports;
    pub(crate) mod program;
    mod signals;
}

//! Who may connect, and for how long a client may stay without having said who it is.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;
use crate::dns::serve::TcpLimits;
use crate::dns::{Gate, Pass};
use crate::term::connection::Guest;

/// What remote clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Connections at a time of clients that have not said who they are.
    pub newcomers: usize,
    /// The same from one address.
    pub newcomers_per_client: usize,
    /// How long a client may take to say who it is.
    pub login_time: Duration,
    /// How long SSH takes at least to say that a password is wrong.
    pub refusal_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 2048,
            newcomers: 128,
            newcomers_per_client: 64,
            login_time: Duration::from_mins(2),
            refusal_time: Duration::from_secs(1),
        }
    }
}

/// Admits clients to all servers of a program.
#[derive(Debug)]
pub(super) struct Admission {
    connections: Arc<Gate>,
    newcomers: Arc<Gate>,
    limits: Limits,
}

/// Leave to be connected.
#[derive(Debug)]
pub(super) struct Connected {
    _pass: Pass,
}

/// Leave to be connected without having said who it is.
#[derive(Debug)]
pub(super) struct Newcomer {
    _pass: Pass,
    /// When that ends.
    until: Moment,
}

impl Guest for Newcomer {
    fn is_late(&self, now: Moment) -> bool {
        now >= self.until
    }
}

impl Admission {
    pub(super) fn new(limits: Limits) -> Self {
        let gate = |connections, connections_per_client| {
            let idle_timeout = limits.login_time;
            Arc::new(Gate::new(&TcpLimits { connections, connections_per_client, idle_timeout }))
        };
        Admission {
            connections: gate(limits.connections, limits.connections),
            newcomers: gate(limits.newcomers, limits.newcomers_per_client),
            limits,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Admits a client, unless there are too many. It may take that long to say who it is, if
    /// something is said of that.
    pub(super) fn admit(
        &self,
        client: IpAddr,
        now: Moment,
        login_time: Option<Duration>,
    ) -> Option<(Connected, Newcomer)> {
        let connected = Connected { _pass: Gate::admit(&self.connections, client)? };
        let pass = Gate::admit(&self.newcomers, client)?;
        let until = now.plus_secs(login_time.unwrap_or(self.limits.login_time).as_secs());
        Some((connected, Newcomer { _pass: pass, until }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_said_who_it_is_makes_room_for_others() {
        let limits = Limits { connections: 3, newcomers: 2, ..Limits::default() };
        let admission = Admission::new(limits);
        let client = IpAddr::from([192, 0, 2, 1]);
        let admit = || admission.admit(client, Moment::ZERO, None);
        let (one, known) = admit().unwrap();
        let two = admit().unwrap();
        assert!(admit().is_none(), "two may stand at the door");
        drop(known);
        let three = admit().unwrap();
        drop(three.1);
        assert!(admit().is_none(), "three are in all that there may be");
        drop((one, two.0, three.0));
        assert!(admit().is_some());
    }

    #[test]
    fn time_runs_out() {
        let admission = Admission::new(Limits::default());
        let admit = |login_time| admission.admit([192, 0, 2, 1].into(), Moment::ZERO, login_time);
        let (_, newcomer) = admit(None).unwrap();
        assert!(!newcomer.is_late(Moment::from_millis(119_999)));
        assert!(newcomer.is_late(Moment::from_millis(120_000)));
        let (_, newcomer) = admit(Some(Duration::from_secs(30))).unwrap();
        assert!(newcomer.is_late(Moment::from_millis(30_000)));
    }
}

//! What a device tells its controllers of itself: its session table, its load, its new connections.
//!
//! On the device these are counters. Here they are set (`emulate own`), for no traffic passes.

use crate::health::state::{Connection, ServerState, Status};

/// What a device has itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Session table and load, which status reports carry.
    pub status: Status,
    /// New connections a second: one value for each second from now on, the last stays.
    rates: Vec<u32>,
    /// How often they were set, for the same values again begin anew.
    settings: u64,
}

impl Own {
    /// Sets the new connections a second; none without a value.
    pub fn set_rates(&mut self, rates: Vec<u32>) {
        self.rates = rates;
        self.settings += 1;
    }

    /// Tells a controller what is other than what it was told before. Session table and load arrive
    /// with the next status report; with the first one at once, as with the device itself.
    pub fn tell(&self, server: &ServerState, before: Option<&Own>) {
        if before.is_none_or(|before| before.status != self.status) {
            server.change_status(|status| *status = self.status);
        }
        if before
            .is_none_or(|before| (before.settings, &before.rates) != (self.settings, &self.rates))
        {
            server.load().set_rate(&self.rates);
        }
        if before.is_none() && server.connection() == Connection::Established {
            server.report_status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::state::Sessions;

    #[test]
    fn a_status_waits_for_its_report_and_a_first_one_does_not() {
        let server = ServerState::default();
        let busy = |used| Own {
            status: Status { sessions: Sessions { used, maximum: 10 }, cpu: 5 },
            ..Own::default()
        };
        busy(1).tell(&server, None);
        assert_eq!(server.sessions().used, 1);
        busy(2).tell(&server, Some(&busy(1)));
        assert_eq!(server.sessions().used, 1);
        server.report_status();
        assert_eq!(server.sessions().used, 2);
        server.change_status(|status| status.cpu = 99);
        busy(2).tell(&server, Some(&busy(2)));
        server.report_status();
        assert_eq!(server.cpu.load(std::sync::atomic::Ordering::Relaxed), 99, "nothing new");
    }

    #[test]
    fn rates_that_are_set_again_begin_anew() {
        let server = ServerState::default();
        let mut own = Own::default();
        own.set_rates(vec![7, 9]);
        own.tell(&server, None);
        for rate in [7, 9, 9] {
            server.load().pass_second(5);
            assert_eq!(server.load().rate(), rate);
        }
        let before = own.clone();
        own.tell(&server, Some(&before));
        server.load().pass_second(5);
        assert_eq!(server.load().rate(), 9);
        own.set_rates(vec![7, 9]);
        own.tell(&server, Some(&before));
        server.load().pass_second(5);
        assert_eq!(server.load().rate(), 7);
    }
}

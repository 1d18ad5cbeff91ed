//! What a device tells its controllers of itself: its session table, its load, its new connections,
//! and how far its clients are.
//!
//! On the device these are counters. Here they are set (`emulate own`), for no traffic passes.

use crate::health::prefix::Prefix;
use crate::health::rtt::Method;
use crate::health::state::{Connection, ServerState, Status};

/// What a device has itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Session table and load, which status reports carry.
    pub status: Status,
    /// New connections a second: one value for each second from now on, the last stays.
    rates: Vec<u32>,
    /// How often something was set.
    settings: u64,
    /// The number of the setting of the new connections.
    rate_setting: u64,
    /// The latest sample of each round-trip time.
    samples: Vec<OwnSample>,
}

/// A round-trip time that the device has measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnSample {
    /// The clients that it is about.
    pub clients: Prefix,
    /// How it was measured.
    pub method: Method,
    /// Round-trip time, unit 100 microseconds.
    pub rtt: u32,
    /// Whether the probe failed.
    pub failed: bool,
    /// The number of the setting; the same sample again is another one.
    setting: u64,
}

/// What a controller is told of round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttNews {
    /// A sample.
    Sample(OwnSample),
    /// What was reported is taken back.
    Withdrawn(Prefix, Method),
}

impl Own {
    /// Sets the new connections a second; none without a value.
    pub fn set_rates(&mut self, rates: Vec<u32>) {
        self.rates = rates;
        self.settings += 1;
        self.rate_setting = self.settings;
    }

    /// Takes a sample of a round-trip time and whether its probe failed; `None` takes back what was
    /// measured.
    pub fn measure(&mut self, clients: Prefix, method: Method, sample: Option<(u32, bool)>) {
        self.settings += 1;
        self.samples.retain(|one| (one.clients, one.method) != (clients, method));
        self.samples.extend(sample.map(|(rtt, failed)| OwnSample {
            clients,
            method,
            rtt,
            failed,
            setting: self.settings,
        }));
    }

    /// The round-trip times that a controller does not know which was told `before`, in the order in
    /// which they were measured.
    pub fn rtt_news<'a>(&'a self, before: Option<&'a Own>) -> impl Iterator<Item = RttNews> + 'a {
        let known = before.map_or(&[][..], |before| &before.samples);
        let is_there = |one: &OwnSample| {
            self.samples
                .iter()
                .any(|other| (other.clients, other.method) == (one.clients, one.method))
        };
        let gone = known.iter().filter(move |one| !is_there(one));
        let gone = gone.map(|one| RttNews::Withdrawn(one.clients, one.method));
        let new = self.samples.iter().filter(|one| !known.contains(one));
        gone.chain(new.map(|one| RttNews::Sample(*one)))
    }

    /// Tells a controller what is other than what it was told before. Session table and load arrive
    /// with the next status report; with the first one at once, as with the device itself.
    pub fn tell(&self, server: &ServerState, before: Option<&Own>) {
        if before.is_none_or(|before| before.status != self.status) {
            server.change_status(|status| *status = self.status);
        }
        if before.is_none_or(|before| {
            (before.rate_setting, &before.rates) != (self.rate_setting, &self.rates)
        }) {
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

    #[test]
    fn a_controller_is_told_each_sample_once() {
        let clients = Prefix::new([198, 51, 100, 0].into(), 24);
        let mut own = Own::default();
        let nothing = own.clone();
        own.measure(clients, Method::Passive, Some((7, false)));
        let first = own.clone();
        let news = |own: &Own, before: &Own| own.rtt_news(Some(before)).collect::<Vec<_>>();
        let [RttNews::Sample(sample)] = news(&own, &nothing)[..] else { panic!("one sample") };
        assert_eq!((sample.rtt, sample.failed), (7, false));
        assert_eq!(news(&own, &first), []);
        own.measure(clients, Method::Passive, Some((7, false)));
        assert!(
            matches!(news(&own, &first)[..], [RttNews::Sample(_)]),
            "the same again is another"
        );
        own.set_rates(vec![1]);
        own.measure(clients, Method::Passive, None);
        assert_eq!(news(&own, &first), [RttNews::Withdrawn(clients, Method::Passive)]);
        assert_eq!(news(&own, &nothing), []);
    }
}

//! Sticky persistence: a client, or all clients of its prefix, get the address again that they got
//! last, as long as it belongs to the host and is healthy (guide p. 65 to 70).
//!
//! A session that was idle for `age` minutes is gone. The sessions of a domain are its own.

use std::net::IpAddr;

use hashbrown::HashMap;

use crate::clock::Moment;
use crate::gslb::choose::View;
use crate::gslb::domain::Decision;
use crate::gslb::observe::{Figure, Observer};
use crate::health::prefix::Prefix;
use crate::model::policy::Sticky;
use crate::model::snapshot::Family;

/// Sessions that a domain keeps at most for each family; with more the longest idle eighth goes.
const MOST_SESSIONS: usize = 4096;

/// The sessions of one domain.
#[derive(Clone, Debug, Default)]
pub struct StickySessions {
    /// By `Family::index` of the question; not there before the first session, since most domains
    /// never have one.
    sessions: Option<Box<[HashMap<Prefix, StickySession>; 2]>>,
}

/// The address that clients of a prefix get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StickySession {
    /// The clients.
    pub clients: Prefix,
    /// Their address.
    pub address: IpAddr,
    /// When they asked last.
    pub used: Moment,
}

impl StickySessions {
    /// The session of these clients, if it was not idle for too long.
    #[must_use]
    pub fn session(
        &self,
        family: Family,
        clients: Prefix,
        parameters: &Sticky,
        now: Moment,
    ) -> Option<StickySession> {
        let session = self.sessions.as_ref()?[family.index()].get(&clients)?;
        session.is_alive(parameters, now).then_some(*session)
    }

    /// The living sessions, the one idle for the longest time first.
    #[must_use]
    pub fn list(&self, parameters: &Sticky, now: Moment) -> Vec<StickySession> {
        let all = self.sessions.iter().flat_map(|both| both.iter()).flat_map(HashMap::values);
        let mut list: Vec<StickySession> =
            all.filter(|session| session.is_alive(parameters, now)).copied().collect();
        list.sort_by_key(|session| (session.used, session.clients));
        list
    }

    /// Removes the sessions of clients of this family that lie in a prefix, or of all clients of
    /// the family; returns how many. What they asked for does not matter.
    pub fn clear(&mut self, clients_of: Family, clients: Option<Prefix>) -> usize {
        let mut cleared = 0;
        for sessions in self.sessions.iter_mut().flat_map(|both| both.iter_mut()) {
            let before = sessions.len();
            sessions.retain(|known, _| {
                let is_meant =
                    clients.is_none_or(|clients| clients.covers(*known) || known.covers(clients));
                Family::of(known.network()) != clients_of || !is_meant
            });
            cleared += before - sessions.len();
        }
        cleared
    }

    /// Removes the sessions that were idle for too long.
    pub fn expire(&mut self, parameters: &Sticky, now: Moment) {
        for sessions in self.sessions.iter_mut().flat_map(|both| both.iter_mut()) {
            sessions.retain(|_, session| session.is_alive(parameters, now));
        }
    }

    /// Keeps a session, new or used again.
    pub(super) fn keep(&mut self, family: Family, session: StickySession) {
        let sessions = &mut self.sessions.get_or_insert_default()[family.index()];
        if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(&session.clients) {
            let mut idle: Vec<_> =
                sessions.values().map(|known| (known.used, known.clients)).collect();
            let (longest, _, _) = idle.select_nth_unstable(MOST_SESSIONS / 8);
            for (_, clients) in longest {
                sessions.remove(clients);
            }
        }
        sessions.insert(session.clients, session);
    }
}

impl StickySession {
    /// Seconds for which it lives on if nobody asks.
    #[must_use]
    pub fn remaining(&self, parameters: &Sticky, now: Moment) -> u64 {
        (u64::from(parameters.age_minutes) * 60).saturating_sub(now.since(self.used).as_secs())
    }

    fn is_alive(&self, parameters: &Sticky, now: Moment) -> bool {
        self.remaining(parameters, now) > 0
    }
}

/// The prefix whose clients share a session.
fn clients_of(client: IpAddr, parameters: &Sticky) -> Prefix {
    let length = match Family::of(client) {
        Family::V4 => parameters.prefix_length,
        Family::V6 => parameters.ipv6_prefix_length,
    };
    Prefix::new(client, length)
}

/// The address of the client's session, if it may be used again.
#[inline]
pub(super) fn pick(view: &View<'_>, observer: &mut impl Observer) -> Option<usize> {
    pick_by(view, view.policy().sticky.as_ref()?, observer)
}

fn pick_by(view: &View<'_>, parameters: &Sticky, observer: &mut impl Observer) -> Option<usize> {
    let clients = clients_of(view.client, parameters);
    let session = view.domain.sticky.session(view.family, clients, parameters, view.now)?;
    let position = view
        .host
        .positions(view.family)
        .find(|&position| view.address(position).ip == session.address)?;
    let healthy = view.host.is_healthy(view.address(position));
    let remaining = session.remaining(parameters, view.now);
    let figure = Figure::Session { remaining, healthy };
    observer.judged(Decision::Sticky, position, figure, healthy);
    healthy.then_some(position)
}

/// The session that a choice makes or uses again; none if another kind of persistence decided.
#[inline]
pub(super) fn session_of(
    view: &View<'_>,
    best: usize,
    decision: Decision,
) -> Option<StickySession> {
    let parameters = view.policy().sticky.as_ref()?;
    if matches!(decision, Decision::Affinity | Decision::HashPersistence) {
        return None;
    }
    let clients = clients_of(view.client, parameters);
    Some(StickySession { clients, address: view.address(best).ip, used: view.now })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::{World, ip};

    const WWW: &str = "www.a.com";

    fn sticky(prefix_length: u8) -> World {
        let mut world = World::new()
            .host(WWW, &["1.1.1.1", "1.1.1.2", "1.1.1.3", "2001:db8::1", "2001:db8::2"])
            .policy(|policy| policy.sticky = Some(Sticky { prefix_length, ..Sticky::default() }));
        world.client = ip("100.1.1.7");
        world
    }

    #[test]
    fn a_client_gets_its_address_again() {
        let mut world = sticky(32);
        assert_eq!(world.run(WWW, 3), [1, 1, 1]);
        assert_eq!(world.decision(WWW), Some(Decision::Sticky));
        world.client = ip("100.1.1.8");
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
        assert_eq!(world.run(WWW, 2), [2, 2]);
        world.client = ip("100.1.1.7");
        assert_eq!(world.run(WWW, 1), [1]);
    }

    #[test]
    fn clients_of_a_prefix_share_a_session() {
        let mut world = sticky(24);
        assert_eq!(world.run(WWW, 1), [1]);
        world.client = ip("100.1.1.200");
        assert_eq!(world.run(WWW, 1), [1]);
        world.client = ip("100.1.2.7");
        assert_eq!(world.run(WWW, 1), [2]);
        let sessions =
            world.domain(WWW, |domain| domain.sticky.list(&Sticky::default(), Moment::ZERO));
        assert_eq!(sessions[0].clients.to_string(), "100.1.1.0/24");
    }

    #[test]
    fn an_address_that_failed_or_left_is_not_used_again() {
        let world = sticky(32);
        assert_eq!(world.run(WWW, 1), [1]);
        world.down("1.1.1.1");
        assert_eq!(world.run(WWW, 2), [2, 2]);
        world.up("1.1.1.1");
        assert_eq!(world.run(WWW, 1), [2], "the new session stays");
        let world = world.list(WWW, &["1.1.1.1", "1.1.1.3"]);
        assert_eq!(world.run(WWW, 2), [2, 2]);
    }

    #[test]
    fn idle_sessions_expire_and_questions_keep_them() {
        let mut world = sticky(32);
        world.run(WWW, 1);
        for _ in 0..3 {
            world.now = world.now.plus_secs(299);
            assert_eq!(world.decision(WWW), Some(Decision::Sticky));
        }
        world.now = world.now.plus_secs(300);
        assert_eq!(world.decision(WWW), Some(Decision::LeastResponse));
    }

    #[test]
    fn the_families_have_sessions_of_their_own() {
        let world = sticky(32);
        assert_eq!(world.run(WWW, 1), [1]);
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(3));
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(3));
        let clear = |family| world.domain(WWW, |domain| domain.sticky.clear(family, None));
        assert_eq!(clear(Family::V6), 0, "the client has an IPv4 address");
        assert_eq!(clear(Family::V4), 2);
        assert_eq!(world.select(WWW, Family::V6).0.best, Some(4));
        assert_eq!(world.run(WWW, 1), [2]);
    }

    #[test]
    fn sessions_are_cleared_by_client() {
        let mut world = sticky(32);
        world.run(WWW, 1);
        world.client = ip("100.1.1.8");
        world.run(WWW, 1);
        let client = Prefix::new(ip("100.1.1.8"), 32);
        let clear = |domain: &mut crate::gslb::domain::DomainState| {
            domain.sticky.clear(Family::V4, Some(client))
        };
        assert_eq!(world.domain(WWW, clear), 1);
        assert_eq!(world.domain(WWW, clear), 0);
    }

    #[test]
    fn memory_is_bounded() {
        let mut sessions = StickySessions::default();
        for number in 0..=u16::try_from(MOST_SESSIONS).unwrap() {
            let [high, low] = number.to_be_bytes();
            let clients = Prefix::new(IpAddr::from([10, 0, high, low]), 32);
            let used = Moment::from_millis(number.into());
            let session = StickySession { clients, address: ip("1.1.1.1"), used };
            sessions.keep(Family::V4, session);
        }
        let list = sessions.list(&Sticky::default(), Moment::ZERO);
        let gone = MOST_SESSIONS / 8;
        assert_eq!(list.len(), MOST_SESSIONS - gone + 1);
        assert_eq!(list[0].used, Moment::from_millis(u64::try_from(gone).unwrap()));
    }
}

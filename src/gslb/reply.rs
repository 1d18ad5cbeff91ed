//! The order of the addresses in a reply.

use crate::gslb::choose::{Candidates, Choice};
use crate::model::policy::Policy;
use crate::model::snapshot::{Family, Host};

/// The addresses of a reply as positions in `host.addresses`, in the order of the reply.
///
/// The best address changes places with the one on top; the others stay where they are (guide
/// p. 2, 31). With active-only, addresses that fail a check are then removed, as long as one
/// passes; the best itself never is. With best-only the best stays alone. Without a best the reply
/// is the list unchanged (decisions 4.8).
#[inline]
#[must_use]
pub fn arrange(policy: &Policy, host: &Host, family: Family, choice: Choice) -> Candidates {
    if policy.dns.best_only
        && let Some(best) = choice.best
    {
        let mut reply = Candidates::new();
        reply.push(best);
        return reply;
    }
    arrange_all(policy, host, family, choice)
}

fn arrange_all(policy: &Policy, host: &Host, family: Family, choice: Choice) -> Candidates {
    let mut reply = host.candidates(family);
    let Some(best) = choice.best else { return reply };
    if let Some(place) = reply.iter().position(|&position| position == best) {
        reply.swap(0, place);
    }
    if policy.dns.active_only {
        let passes = |position: usize| host.is_healthy(&host.addresses[position]);
        if reply.iter().any(|&position| passes(position)) {
            reply.retain(|position| *position == best || passes(*position));
        }
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::World;

    fn list() -> World {
        World::new().host("www.a.com", &["192.0.2.1", "2001:db8::1", "192.0.2.2", "192.0.2.3"])
    }

    fn reply(world: &World, best: Option<usize>) -> Vec<String> {
        let choice = Choice { best, ..Choice::NONE };
        let host = world.host_named("www.a.com");
        let policy = world.snapshot.policy_of(host);
        let order = arrange(policy, host, Family::V4, choice);
        order.iter().map(|&position| host.addresses[position].ip.to_string()).collect()
    }

    #[test]
    fn the_best_changes_places_with_the_one_on_top() {
        assert_eq!(reply(&list(), Some(3)), ["192.0.2.3", "192.0.2.2", "192.0.2.1"]);
        assert_eq!(reply(&list(), Some(0)), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    }

    #[test]
    fn without_a_best_the_list_is_unchanged() {
        let world = list().policy(|policy| {
            policy.dns.best_only = true;
            policy.dns.active_only = true;
        });
        world.down("192.0.2.2");
        assert_eq!(reply(&world, None), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    }

    #[test]
    fn active_only_strips_after_the_exchange() {
        let world = list().policy(|policy| policy.dns.active_only = true);
        world.down("192.0.2.1");
        assert_eq!(reply(&world, Some(3)), ["192.0.2.3", "192.0.2.2"]);
    }

    #[test]
    fn active_only_never_strips_the_best_nor_everything() {
        let world = list().policy(|policy| policy.dns.active_only = true);
        world.down("192.0.2.1");
        world.down("192.0.2.3");
        assert_eq!(reply(&world, Some(3)), ["192.0.2.3", "192.0.2.2"]);
        world.down("192.0.2.2");
        assert_eq!(reply(&world, Some(3)), ["192.0.2.3", "192.0.2.2", "192.0.2.1"]);
    }

    #[test]
    fn best_only_keeps_the_best_alone() {
        let world = list().policy(|policy| policy.dns.best_only = true);
        assert_eq!(reply(&world, Some(2)), ["192.0.2.2"]);
    }
}

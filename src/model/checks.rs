//! What decides whether a port of a real server is up, beside the check of the port itself: profiles
//! of ports and health-check policies.

use std::net::IpAddr;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::health::state::States;
use crate::model::balancing::DEFAULT_PORT;
use crate::model::snapshot::Application;
use crate::names::named_enum;

/// What holds for a port on all servers (Virtual ADX SLB guide p. 190).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortProfile {
    /// The port of all real servers is out of service.
    pub disables_real: bool,
    /// The port of all virtual servers is out of service.
    pub disables_virtual: bool,
    /// The port whose health it takes (p. 220).
    pub health_of: Option<Application>,
    /// Where it is bound in place of another port, it takes the health of that one (p. 219).
    pub uses_master_state: bool,
}

named_enum! {
    /// What a health-check policy is made of (Virtual ADX SLB guide p. 198, 217).
    pub enum PolicyKind {
        /// Other policies, joined.
        Boolean = "boolean",
        /// A ping.
        Icmp = "icmp",
        /// A TCP port.
        Tcp = "tcp",
        /// A UDP port.
        Udp = "udp",
    }
}

/// How a policy joins others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Both pass.
    And,
    /// One of them passes.
    Or,
    /// The only one fails.
    Not,
}

/// What a boolean policy says of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// How they are joined.
    pub operator: Operator,
    /// Their names as typed: two, behind `Not` one.
    pub names: Vec<String>,
}

/// A health-check policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HealthPolicy {
    /// As typed, at most 20 characters.
    pub name: String,
    /// What it is made of; without a kind it never passes.
    pub kind: Option<PolicyKind>,
    /// The address that is checked; `None`: that of the server that it is attached to.
    pub address: Option<IpAddr>,
    /// The port that is checked; `None`: the one that it is attached to.
    pub port: Option<Application>,
    /// Only the port is checked, not its application.
    pub layer4_only: bool,
    /// What it says of others.
    pub expression: Option<Expression>,
}

/// All health-check policies, in configured order.
#[derive(Debug, Default)]
pub struct HealthPolicies {
    policies: Vec<HealthPolicy>,
    /// Places by name in lower case.
    places: HashMap<String, usize>,
}

/// Policies inside policies that are looked at. The device has at most 128 of them (remembered).
const DEEPEST: usize = 128;

/// What a policy is attached to.
#[derive(Clone, Copy, Debug)]
struct Target {
    address: Option<IpAddr>,
    port: Option<Application>,
}

impl HealthPolicies {
    /// Policies in configured order.
    pub fn of(policies: Vec<HealthPolicy>) -> Self {
        let named = policies.iter().enumerate();
        let places = named.map(|(place, policy)| (policy.name.to_ascii_lowercase(), place));
        HealthPolicies { places: places.collect(), policies }
    }

    /// The policies in configured order.
    pub fn iter(&self) -> impl Iterator<Item = &HealthPolicy> {
        self.policies.iter()
    }

    /// Whether there is a policy of that name, in any case.
    pub fn contains(&self, name: &str) -> bool {
        self.places.contains_key(&name.to_ascii_lowercase())
    }

    /// Whether a policy passes that is attached to `port` of a server with that address. What does
    /// not exist, contains itself or has nothing to check does not pass.
    pub fn passes(
        &self,
        states: &States,
        name: &str,
        address: Option<IpAddr>,
        port: Option<Application>,
    ) -> bool {
        let target = Target { address, port };
        self.result(states, name, target, &mut HashMap::new(), 0) == Some(true)
    }

    /// The result of a policy by itself; `None` if it depends on what it is attached to, or if
    /// there is none.
    pub fn value(&self, states: &States, name: &str) -> Option<bool> {
        let target = Target { address: None, port: None };
        self.result(states, name, target, &mut HashMap::new(), 0)
    }

    /// The policies that are at work, in lower case, if these are attached: they themselves and
    /// what they are made of.
    pub fn at_work<'a>(&self, attached: impl Iterator<Item = &'a str>) -> HashSet<String> {
        let mut waiting: Vec<String> = attached.map(str::to_ascii_lowercase).collect();
        let mut found = HashSet::new();
        while let Some(name) = waiting.pop() {
            let policy = self.places.get(&name).map(|place| &self.policies[*place]);
            if found.insert(name) {
                let expression = policy.and_then(|policy| policy.expression.as_ref());
                let names = expression.into_iter().flat_map(|expression| &expression.names);
                waiting.extend(names.map(|name| name.to_ascii_lowercase()));
            }
        }
        found
    }

    /// The result of a policy; `None` if there is none. Every policy is looked at once.
    fn result(
        &self,
        states: &States,
        name: &str,
        target: Target,
        known: &mut HashMap<usize, Option<bool>>,
        depth: usize,
    ) -> Option<bool> {
        let place = *self.places.get(&name.to_ascii_lowercase())?;
        if let Some(result) = known.get(&place) {
            return *result;
        }
        // Until it is known: who meets it again below stands in a circle.
        known.insert(place, None);
        let policy = &self.policies[place];
        let result = match policy.kind? {
            PolicyKind::Boolean if depth < DEEPEST => {
                let expression = policy.expression.as_ref()?;
                let mut results = SmallVec::<[Option<bool>; 2]>::new();
                for name in &expression.names {
                    results.push(self.result(states, name, target, known, depth + 1));
                }
                join(expression.operator, &results)
            }
            PolicyKind::Boolean => None,
            PolicyKind::Icmp => {
                let address = policy.address.or(target.address)?;
                // No application is checked together with the address itself.
                Some(states.address(address).passes(&[DEFAULT_PORT]))
            }
            PolicyKind::Tcp | PolicyKind::Udp => {
                let address = policy.address.or(target.address)?;
                Some(states.address(address).passes(&[policy.port.or(target.port)?]))
            }
        };
        known.insert(place, result);
        result
    }
}

/// What is said of results of which some are not known.
fn join(operator: Operator, results: &[Option<bool>]) -> Option<bool> {
    let (settles, else_) = match operator {
        Operator::And => (false, true),
        Operator::Or => (true, false),
        Operator::Not => return results.first().copied().flatten().map(|result| !result),
    };
    if results.contains(&Some(settles)) {
        return Some(settles);
    }
    (!results.contains(&None)).then_some(else_)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP: Application = Application(80);
    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 31));

    fn element(name: &str, port: Option<Application>) -> HealthPolicy {
        let name = name.to_owned();
        HealthPolicy { name, kind: Some(PolicyKind::Tcp), port, ..HealthPolicy::default() }
    }

    fn joined(name: &str, operator: Operator, names: &[&str]) -> HealthPolicy {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let expression = Some(Expression { operator, names });
        let kind = Some(PolicyKind::Boolean);
        HealthPolicy { name: name.to_owned(), kind, expression, ..HealthPolicy::default() }
    }

    fn passes(policies: &HealthPolicies, states: &States, name: &str) -> bool {
        policies.passes(states, name, Some(SERVER), Some(HTTP))
    }

    #[test]
    fn expressions_follow_their_elements() {
        let policies = HealthPolicies::of(vec![
            element("own", None),
            element("ssl", Some(Application(443))),
            joined("both", Operator::And, &["own", "SSL"]),
            joined("one", Operator::Or, &["own", "ssl"]),
            joined("down", Operator::Not, &["both"]),
        ]);
        let states = States::default();
        let results = |states: &States| {
            ["own", "ssl", "both", "one", "down"].map(|name| passes(&policies, states, name))
        };
        assert_eq!(results(&states), [true, true, true, true, false]);
        states.address(SERVER).set_up(Some(Application(443)), false);
        assert_eq!(results(&states), [true, false, false, true, true]);
        states.address(SERVER).set_up(Some(HTTP), false);
        assert_eq!(results(&states), [false, false, false, false, true]);
    }

    #[test]
    fn what_is_missing_or_circular_does_not_pass() {
        let policies = HealthPolicies::of(vec![
            HealthPolicy { name: "bare".to_owned(), ..HealthPolicy::default() },
            joined("gone", Operator::Or, &["nowhere", "bare"]),
            joined("not", Operator::Not, &["nowhere"]),
            joined("self", Operator::Not, &["self"]),
            joined("a", Operator::And, &["b", "b"]),
            joined("b", Operator::And, &["a", "a"]),
        ]);
        let states = States::default();
        for name in ["bare", "gone", "not", "self", "a", "b", "unknown"] {
            assert!(!passes(&policies, &states, name), "{name}");
        }
    }

    #[test]
    fn policies_that_share_others_are_cheap_and_nesting_ends() {
        let mut policies = vec![element("p0", None)];
        for number in 1..=10_000 {
            let inner = format!("p{}", number - 1);
            policies.push(joined(&format!("p{number}"), Operator::And, &[&inner, &inner]));
        }
        let policies = HealthPolicies::of(policies);
        let states = States::default();
        assert!(passes(&policies, &states, "p127"));
        assert!(!passes(&policies, &states, "p10000"), "deeper than the device goes");
    }
}

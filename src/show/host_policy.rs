//! `show gslb policy host-policy-all` and `host-policy-name` (guide p. 75, 121): the host-level
//! policies, with what they inherit filled in.
//!
//! No page shows a sample; the layout is ours and follows the global policy.

use super::page::Page;
use super::policy::print_policy;
use crate::model::policy::Policy;
use crate::model::snapshot::Snapshot;

/// `show gslb policy host-policy-all`: all host-level policies in configured order.
pub fn host_policies(snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    for (name, policy) in named(snapshot) {
        print_named(&mut page, name, policy);
    }
    page.finish()
}

/// `show gslb policy host-policy-name <name>`; `None` if there is no host-level policy of that name.
pub fn host_policy(snapshot: &Snapshot, name: &str) -> Option<String> {
    let (name, policy) = named(snapshot).find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let mut page = Page::default();
    print_named(&mut page, name, policy);
    Some(page.finish())
}

/// The host-level policies with their names.
fn named(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &Policy)> {
    snapshot.policies.iter().filter_map(|policy| Some((policy.name.as_deref()?, policy)))
}

fn print_named(page: &mut Page, name: &str, policy: &Policy) {
    page.part();
    page.line(format!("Host policy: {name}"));
    print_policy(page, policy);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Snapshot {
        let mut snapshot = Snapshot::empty("ServerIronADX");
        for name in ["abc", "test"] {
            snapshot.policies.push(Policy { name: Some(name.to_owned()), ..Policy::default() });
        }
        snapshot.policies[2].dns.ttl = None;
        snapshot
    }

    const ABC: &str = "\
Host policy: abc
Default metric order: ENABLE
Metric processing order:
1-Server health check
2-Remote ServerIronADX's session capacity threshold
3-Round trip time between remote ServerIronADX and client
4-Geographic location
5-Remote ServerIronADX's available session capacity
6-Least response selection
DNS active-only: DISABLE  DNS best-only: DISABLE
Modify DNS response TTL: ENABLE
DNS TTL: 10 (sec)
Session capacity threshold: 90%  Session availability tolerance: 10%
Round trip time tolerance: 10%, round trip time explore percentage:5%
Round trip time cache prefix: 20, round trip time cache interval: 120
Round trip time cache age refresh: DISABLE
Round trip time algorithm selection: USE PASSIVE ONLY
Connection load: DISABLE
Weighted Site Metric: DISABLE  Weighted IP Metric: DISABLE
Active Bindings Metric: DISABLE
persistent hashing: DISABLE
";

    #[test]
    fn one_policy_by_its_name() {
        assert_eq!(host_policy(&sample(), "abc").unwrap(), ABC);
        assert_eq!(host_policy(&sample(), "ABC").unwrap(), ABC);
        assert_eq!(host_policy(&sample(), "ab"), None);
        assert_eq!(host_policy(&Snapshot::empty("ServerIronADX"), "abc"), None);
    }

    #[test]
    fn all_policies_with_one_empty_line_between() {
        let text = host_policies(&sample());
        assert!(text.starts_with(&format!("{ABC}\nHost policy: test\n")), "{text}");
        assert!(text.contains("\nModify DNS response TTL: DISABLE\n"), "{text}");
        assert_eq!(text, host_policies(&sample()), "two reads are identical");
        assert_eq!(host_policies(&Snapshot::empty("ServerIronADX")), "");
    }
}

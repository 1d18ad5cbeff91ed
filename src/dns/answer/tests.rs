//! What is answered, for every kind of name, type and switch.

use std::net::IpAddr;
use std::sync::Arc;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use super::{Answer, IPV6_LIMIT, IPV6_LIMIT_LARGE, Origin, Plan, Soa, View, answer};
use crate::dns::name;
use crate::dns::question::{HEADER_LENGTH, Verdict, read};
use crate::gslb::testing::{World, ip};
use crate::model::policy::Policy;
use crate::model::snapshot::{ErrorCode, Family, NameEntry, PolicyId};

/// Cache proxy and override on; `www` has both families, `four` and `six` one.
fn world() -> World {
    let mut world = World::new()
        .host("www.example.com", &["192.0.2.10", "2001:db8::10", "192.0.2.20", "2001:db8::20"])
        .host("four.example.com", &["192.0.2.1"])
        .host("six.example.com", &["2001:db8::1"])
        .host("none.example.com", &[]);
    let dns = &mut world.snapshot.policies[0].dns;
    dns.cache_proxy = true;
    dns.override_ = true;
    let below = name::key_of_text("empty.example.com").unwrap();
    Arc::make_mut(&mut world.snapshot.names)
        .insert(below.into_vec().into(), NameEntry::EmptyNonTerminal);
    world
}

/// A client that takes large replies.
fn view(world: &World) -> View<'_> {
    View {
        snapshot: &world.snapshot,
        states: &world.states,
        strict: false,
        takes_large_replies: true,
        client: world.client,
        now: world.now,
    }
}

fn ask_in(view: View<'_>, name: &str, record_type: RecordType) -> Option<Answer> {
    let mut message = vec![0; HEADER_LENGTH];
    message[5] = 1;
    message.extend(name::key_of_text(name).unwrap());
    message.extend(u16::from(record_type).to_be_bytes());
    message.extend([0, 1]);
    let Verdict::Ask(_, question) = read(&message, false) else { panic!("{message:?}") };
    match answer(&view, &question) {
        Plan::Answer(answer) => Some(answer),
        Plan::Drop | Plan::NobodyThere => None,
        Plan::Relay(errand) => panic!("{errand:?}"),
    }
}

fn ask(world: &World, name: &str, record_type: RecordType) -> Answer {
    ask_in(view(world), name, record_type).unwrap()
}

fn addresses(answer: &Answer) -> Vec<IpAddr> {
    answer.records.iter().map(|record| record.address).collect()
}

#[test]
fn a_host_gives_the_addresses_of_the_family_asked_for() {
    let world = world();
    let answer = ask(&world, "www.example.com", RecordType::A);
    assert_eq!(addresses(&answer), [ip("192.0.2.10"), ip("192.0.2.20")]);
    assert_eq!(answer.code, ResponseCode::NoError);
    assert!(answer.authoritative);
    assert_eq!(answer.origin, Origin::Policy);
    let answer = ask(&world, "WWW.Example.COM", RecordType::AAAA);
    assert_eq!(addresses(&answer), [ip("2001:db8::10"), ip("2001:db8::20")]);
}

#[test]
fn any_is_a_where_there_is_ipv4_and_aaaa_elsewhere() {
    let world = world();
    let any = |name| addresses(&ask(&world, name, RecordType::ANY));
    assert!(any("www.example.com").iter().all(IpAddr::is_ipv4));
    assert_eq!(any("six.example.com"), [ip("2001:db8::1")]);
    let requests = world.snapshot.hosts[0].domain.lock().requests;
    assert_eq!(requests[Family::V4.index()], 1, "counts as a question of type A");
    let answer = ask(&world, "none.example.com", RecordType::ANY);
    assert_eq!(answer.origin, Origin::UnsupportedType);
}

#[test]
fn the_ttl_is_that_of_the_hosts_policy() {
    let mut world = world();
    let mut policy = Policy { name: Some("long".to_owned()), ..world.snapshot.policies[0].clone() };
    policy.dns.ttl = Some(60);
    world.snapshot.policies[0].dns.ttl = Some(5);
    world.snapshot.policies.push(policy);
    Arc::make_mut(&mut world.snapshot.hosts[1]).policy = PolicyId(1);
    let ttl = |world: &World, name| ask(world, name, RecordType::A).records[0].ttl;
    assert_eq!(ttl(&world, "www.example.com"), 5);
    assert_eq!(ttl(&world, "four.example.com"), 60);
    world.snapshot.policies[0].dns.ttl = Some(0);
    assert_eq!(ttl(&world, "www.example.com"), 0);
    world.snapshot.policies[0].dns.ttl = None;
    assert_eq!(ttl(&world, "www.example.com"), 10, "nothing learned that could be left alone");
}

#[test]
fn unsupported_types_get_an_empty_answer() {
    let mut world = world();
    let cases = [
        ("www.example.com", RecordType::MX),
        ("www.example.com", RecordType::SOA),
        ("www.example.com", RecordType::HTTPS),
        ("four.example.com", RecordType::AAAA),
        ("six.example.com", RecordType::A),
    ];
    for code in [ErrorCode::NoError, ErrorCode::NameError, ErrorCode::Refused] {
        world.snapshot.responder.error_code = code;
        for (name, record_type) in cases {
            let answer = ask(&world, name, record_type);
            assert_eq!(answer.code, super::response_code(code));
            assert!(answer.authoritative && answer.records.is_empty());
            assert_eq!(answer.soa, None);
            assert_eq!(answer.origin, Origin::UnsupportedType);
        }
    }
    for host in &world.snapshot.hosts {
        assert_eq!(host.domain.lock().total_requests(), 0, "no policy ran (decisions 4.9)");
    }
    assert_eq!(ask(&world, "www.example.com", RecordType::A).code, ResponseCode::NoError);
}

#[test]
fn without_error_handling_unsupported_types_are_dropped() {
    let mut world = world();
    world.snapshot.responder.error_handling = Some(false);
    assert_eq!(ask_in(view(&world), "www.example.com", RecordType::TXT), None);
    assert_eq!(ask_in(view(&world), "four.example.com", RecordType::AAAA), None);
    assert!(ask_in(view(&world), "www.example.com", RecordType::A).is_some());
}

#[test]
fn names_that_are_no_host_are_refused() {
    let world = world();
    for name in ["example.com", "other.example.com", "www.example.net", "a.www.example.com", "."] {
        let answer = ask(&world, name, RecordType::A);
        assert_eq!(answer, Answer::of_code(ResponseCode::Refused, Origin::UnknownName), "{name}");
    }
}

#[test]
fn a_name_above_a_host_exists_and_is_empty() {
    let world = world();
    let answer = ask(&world, "empty.example.com", RecordType::A);
    assert!(answer.authoritative && answer.records.is_empty() && answer.soa.is_none());
    assert_eq!(answer.code, ResponseCode::NoError);
}

#[test]
fn without_cache_proxy_and_override_a_server_is_missing() {
    for (cache_proxy, override_) in [(false, false), (true, false), (false, true)] {
        let mut world = world();
        world.snapshot.policies[0].dns.cache_proxy = cache_proxy;
        world.snapshot.policies[0].dns.override_ = override_;
        for record_type in [RecordType::A, RecordType::MX] {
            let answer = ask(&world, "www.example.com", record_type);
            if cache_proxy && record_type == RecordType::MX {
                assert_eq!(answer.origin, Origin::UnsupportedType, "error handling is on there");
                continue;
            }
            assert_eq!(answer.code, ResponseCode::ServFail);
            assert!(!answer.authoritative);
            assert_eq!(answer.origin, Origin::NoServerBehind);
        }
    }
}

#[test]
fn strict_negative_answers_carry_an_soa() {
    let mut world = world();
    world.snapshot.policies[0].dns.ttl = Some(45);
    // A zone above must not take over.
    world.snapshot.zones.push(crate::model::snapshot::Zone::named("com"));
    let soa = |world: &World, name, record_type| {
        ask_in(View { strict: true, ..view(world) }, name, record_type).unwrap().soa
    };
    let expected = Some(Soa { zone_offset: 4, ttl: 45 });
    assert_eq!(soa(&world, "www.example.com", RecordType::MX), expected);
    assert_eq!(
        soa(&world, "empty.example.com", RecordType::A),
        Some(Soa { zone_offset: 6, ttl: 45 })
    );
    assert_eq!(soa(&world, "www.example.com", RecordType::A), None);
    assert_eq!(soa(&world, "other.example.com", RecordType::A), None);
    world.snapshot.responder.error_code = ErrorCode::NameError;
    assert_eq!(soa(&world, "www.example.com", RecordType::MX), expected);
    world.snapshot.responder.error_code = ErrorCode::ServerFailure;
    assert_eq!(soa(&world, "www.example.com", RecordType::MX), None);
}

#[test]
fn ipv6_addresses_are_limited_and_ipv4_addresses_are_not() {
    let six: Vec<String> = (1..=50).map(|last| format!("2001:db8::{last}")).collect();
    let four: Vec<String> = (1..=50).map(|last| format!("192.0.2.{last}")).collect();
    let list: Vec<&str> = six.iter().chain(&four).map(String::as_str).collect();
    let world = world().host("many.example.com", &list);
    let count = |takes_large_replies, record_type| {
        let view = View { takes_large_replies, ..view(&world) };
        ask_in(view, "many.example.com", record_type).unwrap().records.len()
    };
    assert_eq!(count(false, RecordType::AAAA), IPV6_LIMIT);
    assert_eq!(count(true, RecordType::AAAA), IPV6_LIMIT_LARGE);
    assert_eq!(count(false, RecordType::A), 50);
}

#[test]
fn everything_down_leaves_the_list_unchanged() {
    let mut world = world();
    world.snapshot.policies[0].dns.active_only = true;
    for address in ["192.0.2.10", "192.0.2.20"] {
        world.down(address);
    }
    let answer = ask(&world, "www.example.com", RecordType::A);
    assert_eq!(addresses(&answer), [ip("192.0.2.10"), ip("192.0.2.20")]);
    assert_eq!(answer.code, ResponseCode::NoError);
}

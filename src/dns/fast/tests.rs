//! Whatever the short way takes, the general way would have answered and counted in the same way.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::appliance::Appliance;
use crate::clock::{Clock as _, DrivenClock};
use crate::dns::Settings;
use crate::grammar::Grammar;
use crate::gslb::testing::World;
use crate::model::policy::{HashPersistence, Metric, Sticky, TieBreaker};
use crate::model::snapshot::Responder as Unsupported;

/// Names of hosts with their numbers of IPv4 and IPv6 addresses; the last two are not short.
const HOSTS: [(&str, u8, u8); 7] = [
    ("www.example.com", 3, 2),
    ("four.example.com", 1, 0),
    ("six.example.com", 0, 8),
    ("both.example.net", 4, 4),
    ("none.example.com", 0, 0),
    ("nine.example.com", 5, 4),
    ("many.example.com", 60, 60),
];

/// Names that are none of ours, or nothing.
const OTHERS: [&str; 3] = ["example.com", "other.example.org", ""];

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch")]
struct Setup {
    metrics: Vec<Metric>,
    tie_breaker: TieBreaker,
    weights: Vec<u8>,
    sites: [u8; 3],
    down: Vec<bool>,
    best_only: bool,
    active_only: bool,
    ttl: Option<u32>,
    /// TTL of a policy of the host's own, if it has one.
    own_ttl: (bool, Option<u32>),
    answers_itself: bool,
    persistence: u8,
    error_handling: bool,
    settings: (bool, bool),
}

fn setup() -> impl Strategy<Value = Setup> {
    let metrics = (Just(Metric::ALL.to_vec()).prop_shuffle(), 0..=Metric::ALL.len())
        .prop_map(|(metrics, kept)| metrics[..kept].to_vec());
    let lists = (vec(0_u8..=100, 8), [0_u8..=100, 0_u8..=100, 0_u8..=100], vec(any::<bool>(), 8));
    let switches = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.9), any::<bool>());
    let ttls = (option::of(any::<u32>()), (any::<bool>(), option::of(any::<u32>())));
    let rest = (0_u8..4, any::<(bool, bool)>());
    (metrics, select(TieBreaker::ALL), lists, switches, ttls, rest).prop_map(
        |(
            metrics,
            tie_breaker,
            (weights, sites, down),
            (best_only, active_only, answers_itself, error_handling),
            (ttl, own_ttl),
            (persistence, settings),
        )| Setup {
            metrics,
            tie_breaker,
            weights,
            sites,
            down,
            best_only,
            active_only,
            ttl,
            own_ttl,
            answers_itself,
            persistence,
            error_handling,
            settings,
        },
    )
}

fn address(family: Family, last: u8) -> String {
    match family {
        Family::V4 => format!("192.0.2.{last}"),
        Family::V6 => format!("2001:db8::{last}"),
    }
}

/// An appliance that answers from this world.
fn appliance(clock: &Arc<DrivenClock>, world: World) -> Appliance {
    static GRAMMAR: LazyLock<Arc<Grammar>> =
        LazyLock::new(|| Arc::new(Grammar::built_in().unwrap()));
    let appliance = Appliance::new(Arc::clone(&GRAMMAR), Arc::clone(clock) as _, None);
    appliance.publish(world.snapshot);
    appliance
}

/// An appliance in that state; two made from one setup are alike.
fn responder(setup: &Setup, clock: &Arc<DrivenClock>) -> Responder {
    let mut world = World::new().metrics(&setup.metrics).tie_breaker(setup.tie_breaker);
    for (site, weight) in (0..).zip(setup.sites) {
        let vips = [address(Family::V4, site + 1), address(Family::V6, site + 1)];
        world = world.site(&format!("site{site}"), weight, &vips.each_ref().map(String::as_str));
    }
    for (name, four, six) in HOSTS {
        let four = (1..=four).map(|last| address(Family::V4, last));
        let list: Vec<String> =
            four.chain((1..=six).map(|last| address(Family::V6, last))).collect();
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        world = world.host(name, &list).change_host(name, |host| {
            for (address, weight) in host.addresses.iter_mut().zip(&setup.weights) {
                address.weight = Some(*weight);
            }
        });
    }
    for (last, down) in (1..).zip(&setup.down) {
        if *down {
            world.down(&address(Family::V4, last));
            world.down(&address(Family::V6, last));
        }
    }
    world = world.policy(|policy| {
        policy.dns.best_only = setup.best_only;
        policy.dns.active_only = setup.active_only;
        policy.dns.ttl = setup.ttl;
        policy.dns.cache_proxy = setup.answers_itself;
        policy.dns.override_ = true;
        policy.hash = (setup.persistence == 1).then(HashPersistence::default);
        policy.sticky = (setup.persistence == 2).then(Sticky::default);
    });
    if let (true, ttl) = setup.own_ttl {
        world = world.host_policy("www.example.com", |policy| policy.dns.ttl = ttl);
    }
    world.snapshot.responder =
        Unsupported { error_handling: Some(setup.error_handling), ..Unsupported::default() };
    let appliance = appliance(clock, world);
    let (client_subnet, strict_dns) = setup.settings;
    Responder {
        appliance: Arc::new(appliance),
        settings: Settings { client_subnet, strict_dns, ..Settings::default() },
    }
}

/// A message, who sends it, whether a batch ends behind it, and seconds that pass then.
#[derive(Clone, Debug)]
struct Asked {
    message: Vec<u8>,
    client: IpAddr,
    passes: Option<u16>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let names: Vec<&str> = HOSTS.iter().map(|(name, ..)| *name).chain(OTHERS).collect();
    let name = (select(names), any::<u64>());
    let kind = select(&[1_u16, 1, 1, 28, 28, 255, 15][..]);
    let flags = prop_oneof![4 => Just(0_u16), 4 => Just(0x0100), 1 => any::<u16>()];
    let opt = prop_oneof![
        4 => Just(None),
        4 => (any::<u16>(), any::<u16>()).prop_map(|(size, flags)| Some((size, 0, flags, vec![]))),
        1 => any::<(u16, u8, u16)>()
            .prop_map(|(size, version, flags)| Some((size, version & 1, flags, vec![]))),
        1 => any::<u16>()
            .prop_map(|size| Some((size, 0, 0, b"\x00\x08\x00\x07\x00\x01\x18\x00\xcb\x00\x71".to_vec()))),
    ];
    let client = select(&["127.0.0.1", "198.51.100.7", "::ffff:198.51.100.7", "2001:db8:1::1"][..]);
    let tail = prop_oneof![8 => Just(vec![]), 1 => vec(any::<u8>(), 1..9)];
    let passes = option::weighted(0.3, select(&[0_u16, 1, 200][..]));
    (any::<u16>(), name, kind, flags, opt, client, tail, passes).prop_map(
        |(id, (name, case), kind, flags, opt, client, tail, passes)| {
            let mut message = id.to_be_bytes().to_vec();
            message.extend(flags.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 0, 0, u8::from(opt.is_some())]);
            let mut wire = name::key_of_text(name).unwrap();
            for (place, byte) in wire.iter_mut().enumerate() {
                if case >> (place % 64) & 1 == 1 {
                    byte.make_ascii_uppercase();
                }
            }
            message.extend(wire);
            message.extend(kind.to_be_bytes());
            message.extend([0, 1]);
            if let Some((size, version, flags, options)) = opt {
                message.extend([0, 0, 41]);
                message.extend(size.to_be_bytes());
                message.extend([0, version]);
                message.extend(flags.to_be_bytes());
                message.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
                message.extend(options);
            }
            message.extend(tail);
            Asked { message, client: client.parse().unwrap(), passes }
        },
    )
}

/// Everything that questions change, in words.
fn state(responder: &Responder) -> String {
    let appliance = &responder.appliance;
    let snapshot = appliance.current();
    let domains: Vec<String> = snapshot
        .hosts
        .iter()
        .map(|host| {
            let domain = host.domain.lock();
            format!("{:?} {:?} {:?}", domain.requests, domain.tallies, domain.rotation)
        })
        .collect();
    let cache = appliance.states.prefixes.size();
    format!("{:?}\n{cache:?}\n{}", appliance.counters.values(), domains.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_give_the_same_bytes_and_counts(setup in setup(), asked in vec(asked(), 1..60)) {
        let clock = Arc::new(DrivenClock::new());
        let (short, general) = (responder(&setup, &clock), responder(&setup, &clock));
        let mut buffer = vec![0xaa; 65536];
        let (mut reply, mut expected) = (Vec::new(), Vec::new());
        let mut batch = Batch::begin(&short, &mut reply);
        for Asked { message, client, passes } in &asked {
            buffer[..message.len()].copy_from_slice(message);
            let length = batch.answer(&mut buffer, message.len(), *client);
            let is_answered = general.respond(message, *client, Transport::Udp, &mut expected);
            let wanted = is_answered.then_some(&expected[..]);
            prop_assert_eq!(length.map(|length| &buffer[..length]), wanted);
            if let Some(seconds) = passes {
                batch.finish();
                prop_assert_eq!(state(&short), state(&general));
                clock.advance(u64::from(*seconds));
                batch = Batch::begin(&short, &mut reply);
            }
        }
        batch.finish();
        prop_assert_eq!(state(&short), state(&general));
    }
}

fn plain_setup() -> Setup {
    Setup {
        metrics: vec![Metric::HealthCheck, Metric::WeightedSite],
        tie_breaker: TieBreaker::LeastResponse,
        weights: vec![0; 8],
        sites: [50, 30, 20],
        down: vec![false; 8],
        best_only: false,
        active_only: false,
        ttl: Some(10),
        own_ttl: (false, None),
        answers_itself: true,
        persistence: 0,
        error_handling: true,
        settings: (false, false),
    }
}

/// Whether the short way takes this message.
fn is_taken(responder: &Responder, message: &[u8]) -> bool {
    let mut buffer = vec![b'x'; ROOM];
    buffer[..message.len()].copy_from_slice(message);
    let before = buffer.clone();
    let mut reply = Vec::new();
    let mut batch = Batch::begin(responder, &mut reply);
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let plain = batch.recognise(&buffer, message.len());
    let taken = plain.and_then(|plain| batch.answer_plain(plain, &mut buffer, client)).is_some();
    batch.finish();
    assert!(taken || buffer == before, "a message that is not taken is not touched");
    taken
}

fn question(name: &str, kind: u8) -> Vec<u8> {
    let mut message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
    message.extend(name::key_of_text(name).unwrap());
    message.extend([0, kind, 0, 1]);
    message
}

#[test]
fn plain_questions_for_short_lists_are_taken_and_no_others() {
    let responder = responder(&plain_setup(), &Arc::new(DrivenClock::new()));
    for (name, four, six) in HOSTS {
        let is_short = usize::from(four + six) <= MOST_ADDRESSES;
        assert_eq!(is_taken(&responder, &question(name, 1)), is_short && four > 0, "{name}");
        assert_eq!(is_taken(&responder, &question(name, 28)), is_short && six > 0, "{name}");
        assert!(!is_taken(&responder, &question(name, 255)), "{name}");
    }
    for name in OTHERS {
        assert!(!is_taken(&responder, &question(name, 1)), "{name}");
    }
    let mut with_opt = question("wWw.example.com", 1);
    with_opt[11] = 1;
    with_opt.extend(b"\x00\x00\x29\x10\x00\x00\x00\x80\x00\x00\x00");
    assert!(is_taken(&responder, &with_opt));
    for length in 0..with_opt.len() {
        assert!(!is_taken(&responder, &with_opt[..length]), "{length}");
    }
}

#[test]
fn the_longest_name_with_the_longest_answer_fits() {
    let label = "a".repeat(63);
    let name = format!("{label}.{label}.{label}.{}", "b".repeat(61));
    let list: Vec<String> = (1..=8).map(|last| address(Family::V6, last)).collect();
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    let mut world = World::new().host(&name, &list);
    world.snapshot.policies[0].dns.cache_proxy = true;
    world.snapshot.policies[0].dns.override_ = true;
    let appliance = appliance(&Arc::new(DrivenClock::new()), world);
    let responder = Responder { appliance: Arc::new(appliance), settings: Settings::default() };
    let mut message = question(&name, 28);
    message[11] = 1;
    message.extend(b"\x00\x00\x29\x02\x00\x00\x00\x00\x00\x00\x00");
    let mut buffer = vec![0; MOST_BYTES];
    buffer[..message.len()].copy_from_slice(&message);
    let mut reply = Vec::new();
    let mut batch = Batch::begin(&responder, &mut reply);
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let plain = batch.recognise(&buffer, message.len()).unwrap();
    assert_eq!(batch.answer_plain(plain, &mut buffer, client), Some(MOST_BYTES));
    batch.finish();
}

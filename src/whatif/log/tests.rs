//! Every form of log holds the same two questions and something that is none.

use std::io::{Cursor, Write as _};

use etherparse::PacketBuilder;
use prost::Message as _;

use super::dnstap::{Event, Exchange};
use super::*;
use crate::gslb::testing::{World, ip};

/// An A question for `www.example.com`.
const QUESTION: &[u8] =
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01";

fn domains() -> Domains {
    let world = World::new().host("www.example.com", &["192.0.2.1"]);
    let mut domains = Domains::default();
    domains.add(&world.snapshot);
    domains
}

fn open(bytes: Vec<u8>, options: Options) -> Result<QueryLog, Problem> {
    let size = u64::try_from(bytes.len()).unwrap();
    QueryLog::new("log", Box::new(Cursor::new(bytes)), size, options)
}

/// All questions of a log, or what is wrong with it.
fn read_with(bytes: Vec<u8>, options: Options) -> Result<(Vec<Asked>, u64), String> {
    let tell = |problem: Problem| problem.to_string();
    let (domains, mut names) = (domains(), Names::default());
    let mut log = open(bytes, options).map_err(tell)?;
    let mut asked = Vec::new();
    while let Some(one) = log.ask(&domains, &mut names).map_err(tell)? {
        asked.push(one);
    }
    Ok((asked, log.skipped()))
}

fn read(bytes: &[u8]) -> Result<(Vec<Asked>, u64), String> {
    read_with(bytes.to_vec(), Options::default())
}

/// What every log here holds: the clients, the times, and whether the name is a host's.
fn seen(read: Result<(Vec<Asked>, u64), String>) -> Vec<(String, u64, bool)> {
    let (asked, _) = read.unwrap();
    asked.iter().map(|one| (one.client.to_string(), one.at, one.name.is_some())).collect()
}

fn expected() -> Vec<(String, u64, bool)> {
    vec![("198.51.100.1".to_owned(), 0, true), ("2001:db8::1".to_owned(), 1500, true)]
}

const TEXT: &str = "# time client name type\n\n100 198.51.100.1 www.example.com A\n\
                    101.5 2001:db8::1 WWW.Example.COM. A\r\n";

fn frame(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()
}

fn control(kind: u32, content_type: &[u8]) -> Vec<u8> {
    let mut body = kind.to_be_bytes().to_vec();
    if !content_type.is_empty() {
        body.extend(1_u32.to_be_bytes());
        body.extend(frame(content_type));
    }
    [&[0; 4][..], &frame(&body)].concat()
}

fn event(kind: i32, client: &str, seconds: u64, nanoseconds: u32, message: &[u8]) -> Vec<u8> {
    let address = match ip(client) {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let message = Exchange {
        kind: Some(kind),
        query_address: Some(address),
        query_time_sec: Some(seconds),
        query_time_nsec: Some(nanoseconds),
        query_message: Some(message.to_vec()),
    };
    frame(&Event { message: Some(message) }.encode_to_vec())
}

fn dnstap() -> Vec<u8> {
    [
        control(2, b"protobuf:dnstap.Dnstap"),
        event(1, "198.51.100.1", 100, 0, QUESTION),
        event(2, "198.51.100.1", 100, 0, QUESTION),
        event(5, "2001:db8::1", 101, 500_000_000, QUESTION),
        event(5, "2001:db8::1", 101, 500_000_000, b"no question"),
        control(3, b""),
    ]
    .concat()
}

fn packets() -> [Vec<u8>; 3] {
    let build = |from: &str, port: u16| {
        let mut packet = Vec::new();
        let ethernet = PacketBuilder::ethernet2([1; 6], [2; 6]);
        let ip = match from.parse().unwrap() {
            IpAddr::V4(from) => ethernet.ipv4(from.octets(), [192, 0, 2, 53], 64),
            IpAddr::V6(from) => ethernet.ipv6(from.octets(), [9; 16], 64),
        };
        ip.udp(4000, port).write(&mut packet, QUESTION).unwrap();
        packet
    };
    [build("198.51.100.1", 53), build("198.51.100.2", 80), build("2001:db8::1", 53)]
}

const TIMES: [(u32, u32); 3] = [(100, 0), (100, 7), (101, 500_000)];

fn pcap() -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0]);
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    for ((seconds, micros), packet) in TIMES.iter().zip(packets()) {
        let length = u32::try_from(packet.len()).unwrap();
        for number in [*seconds, *micros, length, length] {
            file.extend(number.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

fn pcapng() -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap();
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), body, &length.to_le_bytes()].concat()
    };
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [&[1, 0, 0, 0][..], &65_535_u32.to_le_bytes()].concat();
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    for ((seconds, micros), mut packet) in TIMES.iter().zip(packets()) {
        let units = u64::from(*seconds) * 1_000_000 + u64::from(*micros);
        let length = u32::try_from(packet.len()).unwrap();
        let [high, low] =
            [units >> 32, units & 0xffff_ffff].map(|half| u32::try_from(half).unwrap());
        packet.resize(packet.len().next_multiple_of(4), 0);
        let mut body = Vec::new();
        for number in [0, high, low, length, length] {
            body.extend(number.to_le_bytes());
        }
        body.extend(packet);
        file.extend(block(6, &body));
    }
    file
}

#[test]
fn every_form_holds_the_same_questions() {
    assert_eq!(seen(read(TEXT.as_bytes())), expected());
    assert_eq!(seen(read(&dnstap())), expected());
    assert_eq!(seen(read(&pcap())), expected());
    assert_eq!(seen(read(&pcapng())), expected());
    assert_eq!(read(&dnstap()).unwrap().1, 2);
    assert_eq!(read(&pcap()).unwrap().1, 1);
}

#[test]
fn other_ports_are_asked_for() {
    let options = Options { port: 80, ..Options::default() };
    let (asked, skipped) = read_with(pcap(), options).unwrap();
    assert_eq!((asked.len(), skipped), (1, 2));
    assert_eq!(asked[0].client, ip("198.51.100.2"));
}

#[test]
fn compressed_files_are_unpacked() {
    for plain in [TEXT.as_bytes().to_vec(), dnstap(), pcap()] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&plain).unwrap();
        assert_eq!(seen(read(&gzip.finish().unwrap())), expected());
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let zstd = |part: &[u8]| ruzstd::encoding::compress_to_vec(part, level);
        assert_eq!(seen(read(&zstd(&plain))), expected());
        let (first, second) = plain.split_at(plain.len() / 2);
        assert_eq!(seen(read(&[zstd(first), zstd(second)].concat())), expected());
    }
}

/// Nothing that a file holds makes the reader panic or go on for ever, and a file that is cut is
/// told so or read up to there.
#[test]
fn damaged_files_are_told() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TEXT.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(
        TEXT.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let mut rng = fastrand::Rng::with_seed(11);
    for whole in [dnstap(), pcap(), pcapng(), gzip, zstd, TEXT.as_bytes().to_vec()] {
        for length in 0..whole.len() {
            if let Ok((asked, _)) = read(&whole[..length]) {
                assert!(asked.len() <= 2);
            }
        }
        for _ in 0..200 {
            let mut damaged = whole.clone();
            for _ in 0..=rng.usize(..3) {
                let place = rng.usize(..damaged.len());
                damaged[place] = rng.u8(..);
            }
            let _ = read(&damaged);
        }
    }
    assert!(read(&pcap()[..60]).unwrap_err().contains("ends within a packet"));
    assert!(read(&dnstap()[..60]).unwrap_err().contains("frame 2: the file ends within it"));
}

#[test]
fn a_bad_line_is_told_with_its_place() {
    let bad = format!("{TEXT}102 198.51.100.1 www.example.com\n");
    assert_eq!(
        read(bad.as_bytes()).unwrap_err(),
        "log:5: 3 words instead of four: time client name type"
    );
    let long = "x".repeat(1 << 16);
    assert_eq!(read(long.as_bytes()).unwrap_err(), "log:1: the line is longer than 4096 bytes");
    assert_eq!(read(b"\xff\n").unwrap_err(), "log:1: the line is no text (UTF-8)");
    let huge = [control(2, b"protobuf:dnstap.Dnstap"), u32::MAX.to_be_bytes().to_vec()].concat();
    assert!(read(&huge).unwrap_err().starts_with("log: frame 2: it has 4294967295 bytes"));
    let other = control(2, b"protobuf:other");
    assert_eq!(read(&other).unwrap_err(), "log: frame 1: the frames do not hold dnstap");
    assert_eq!(read(b"").unwrap(), (Vec::new(), 0));
}

#[test]
fn time_never_goes_back_and_ends() {
    let line = |time: &str| format!("{time} 198.51.100.1 www.example.com A\n");
    let (domains, mut names) = (domains(), Names::default());
    let text = [line("100"), line("102"), line("99"), line("101")].concat();
    let mut log = open(text.into_bytes(), Options::default()).unwrap();
    let mut times = Vec::new();
    while let Some(asked) = log.ask(&domains, &mut names).unwrap() {
        times.push(asked.at);
    }
    assert_eq!(times, [0, 2000, 2000, 2000]);
    assert_eq!(log.late(), 2);
    let text = [line("0"), line("99999999999")].concat();
    assert!(read(text.as_bytes()).unwrap_err().contains("more than a year behind"));
}

#[test]
fn a_client_always_has_the_same_resolver() {
    let line = |number: u8| format!("1 198.51.100.{number} www.example.com A\n");
    let text: String = (1..=200).chain(1..=200).map(line).collect();
    let options = Options { resolvers: 7, ..Options::default() };
    let (asked, _) = read_with(text.into_bytes(), options).unwrap();
    for (one, again) in asked[..200].iter().zip(&asked[200..]) {
        assert_eq!((one.resolver, one.asker), (again.resolver, again.asker));
    }
    let mut resolvers: Vec<_> = asked.iter().map(|one| (one.resolver, one.asker)).collect();
    resolvers.sort_unstable();
    resolvers.dedup();
    assert_eq!(resolvers.len(), 7);
}

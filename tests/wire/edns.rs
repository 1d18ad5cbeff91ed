//! The list by which implementations of EDNS are judged, over UDP and over TCP; `docs/dns-compliance.md`
//! is written from it, and asked with dig by `tests/dns_clients/compliance.rs`.

use std::fmt::Write as _;
use std::{env, fs};

use adxemu::dns::Settings;
use adxemu::dns::cookie::Secret;
use adxemu::dns::encode::MAX_PAYLOAD;
use adxemu::dns::serve::TcpLimits;
use hickory_proto::op::Message;

use super::messages::{A, AAAA, HEADER, option, question, with_opt};
use super::world::{options_of, served, whole};

const FORMERR: u16 = 1;

/// Types and flags that nobody has given a meaning.
const UNKNOWN_TYPE: u16 = 1000;
const UNKNOWN_FLAG: u16 = 0x0040;
const DNSSEC_OK: u16 = 0x8000;

/// The second flag byte of a header (RFC 1035 section 4.1.1, RFC 4035 section 3).
const Z: u8 = 0x40;
const AD: u8 = 0x20;
const CD: u8 = 0x10;

/// Opcode 15, which is not assigned, in the first flag byte.
const UNKNOWN_OPCODE: u8 = 15 << 3;

const DOCUMENT: &str = "docs/dns-compliance.md";
/// What stands around the list in the document.
const MARKS: (&str, &str) = ("<!-- list begins -->\n", "<!-- list ends -->\n");
const BLESS: &str = "ADXEMU_BLESS";

/// One question of the list.
struct Case {
    what: &'static str,
    /// The same question by dig.
    dig: &'static str,
    message: Vec<u8>,
    /// What comes back: code, flags but QR, answers, and the OPT record with the names of its options.
    over_udp: &'static str,
    over_tcp: &'static str,
}

/// A question for the addresses of `www.example.com`, RD clear.
fn plain() -> Vec<u8> {
    asked("www.example.com", A)
}

fn asked(name: &str, record_type: u16) -> Vec<u8> {
    let mut message = question(0x1234, name, record_type);
    message[2] = 0;
    message
}

/// The plain question with these bits in a byte of its header.
fn with_bits(at: usize, bits: u8) -> Vec<u8> {
    let mut message = plain();
    message[at] |= bits;
    message
}

/// The plain question with an OPT record.
fn edns(version: u8, flags: u16, options: &[u8]) -> Vec<u8> {
    with_opt(plain(), 1232, version, flags, options)
}

const ADDRESSES: &str = "NOERROR aa, 3 answers, no OPT";
const EDNS: &str = "NOERROR aa, 3 answers, OPT";
const WITH_COOKIE: &str = "NOERROR aa, 3 answers, OPT with COOKIE";
const VERSION: &str = "BADVERS, 0 answers, OPT";
const MALFORMED: &str = "FORMERR, 0 answers, OPT";

/// A case in which both transports are answered in the same way.
fn case(what: &'static str, dig: &'static str, message: Vec<u8>, reply: &'static str) -> Case {
    Case { what, dig, message, over_udp: reply, over_tcp: reply }
}

fn cases() -> impl Iterator<Item = Case> {
    without_edns().into_iter().chain(edns_alone()).chain(options())
}

/// Questions without an OPT record.
fn without_edns() -> Vec<Case> {
    let unknown_opcode = {
        let mut header = with_bits(2, UNKNOWN_OPCODE);
        header.truncate(HEADER);
        header[5] = 0;
        header
    };
    let many = asked("many.example.com", A);
    let unknown_type = asked("www.example.com", UNKNOWN_TYPE);
    vec![
        case("plain", "+noedns", plain(), ADDRESSES),
        case("RD", "+noedns +rec", with_bits(2, 1), "NOERROR aa rd, 3 answers, no OPT"),
        case("CD", "+noedns +cd", with_bits(3, CD), ADDRESSES),
        case("AD", "+noedns +ad", with_bits(3, AD), ADDRESSES),
        case("the reserved flag", "+noedns +zflag", with_bits(3, Z), ADDRESSES),
        case("unknown type", "TYPE1000 +noedns", unknown_type, "NOERROR aa, 0 answers, no OPT"),
        case(
            "unknown opcode, header only",
            "+noedns +opcode=15 +header-only",
            unknown_opcode,
            "NOTIMP, 0 answers, no OPT",
        ),
        Case {
            what: "a hundred addresses",
            dig: "many.example.com +noedns",
            message: many,
            over_udp: "NOERROR aa tc, 29 answers, no OPT",
            over_tcp: "NOERROR aa, 100 answers, no OPT",
        },
    ]
}

/// Versions, sizes and flags, and an option that nobody knows.
fn edns_alone() -> Vec<Case> {
    let unknown = option(100, b"");
    let many = asked("many.example.com", A);
    let sized = |message: &[u8], payload, flags| with_opt(message.to_vec(), payload, 0, flags, b"");
    vec![
        case("edns=0", "+edns=0", edns(0, 0, b""), EDNS),
        case("edns=1", "+edns=1", edns(1, 0, b""), VERSION),
        case("edns=255", "+edns=255", edns(255, 0, b""), VERSION),
        case("bufsize=512", "+bufsize=512", sized(&plain(), 512, 0), EDNS),
        case("bufsize=0", "+edns=0 +bufsize=0", sized(&plain(), 0, 0), EDNS),
        case("bufsize=65535", "+bufsize=65535", sized(&plain(), 65535, 0), EDNS),
        Case {
            what: "bufsize=512, a hundred addresses",
            dig: "many.example.com +bufsize=512",
            message: sized(&many, 512, 0),
            over_udp: "NOERROR aa tc, 29 answers, OPT",
            over_tcp: "NOERROR aa, 100 answers, OPT",
        },
        Case {
            what: "bufsize=65535, a hundred addresses",
            dig: "many.example.com +bufsize=65535",
            message: sized(&many, 65535, 0),
            over_udp: "NOERROR aa tc, 74 answers, OPT",
            over_tcp: "NOERROR aa, 100 answers, OPT",
        },
        case("unknown option", "+ednsopt=100", edns(0, 0, &unknown), EDNS),
        case("edns=1, unknown option", "+edns=1 +ednsopt=100", edns(1, 0, &unknown), VERSION),
        case("unknown flag", "+ednsflags=0x40", edns(0, UNKNOWN_FLAG, b""), EDNS),
        case(
            "edns=1, unknown flag",
            "+edns=1 +ednsflags=0x40",
            edns(1, UNKNOWN_FLAG, b""),
            VERSION,
        ),
        case("dnssec", "+dnssec", edns(0, DNSSEC_OK, b""), EDNS),
        case("edns=1, dnssec", "+edns=1 +dnssec", edns(1, DNSSEC_OK, b""), VERSION),
        case("bufsize=512, dnssec", "+bufsize=512 +dnssec", sized(&plain(), 512, DNSSEC_OK), EDNS),
    ]
}

/// Options that have a meaning, and all of it together.
fn options() -> Vec<Case> {
    let unknown = option(100, b"");
    let cookie = option(10, b"\x01\x02\x03\x04\x05\x06\x07\x08");
    let name_server_id = option(3, b"");
    let expire = option(9, b"");
    let no_subnet = option(8, b"\x00\x01\x00\x00");
    let subnet = option(8, b"\x00\x01\x18\x00\xcb\x00\x71");
    let long_prefix = option(8, b"\x00\x01\x21\x00\xcb\x00\x71\x00\x00");
    let several = [&name_server_id[..], &no_subnet, &expire, &cookie].concat();
    let everything = [&several[..], &unknown].concat();
    vec![
        case("cookie", "+cookie=0102030405060708", edns(0, 0, &cookie), WITH_COOKIE),
        case(
            "cookie, dnssec",
            "+cookie=0102030405060708 +dnssec",
            edns(0, DNSSEC_OK, &cookie),
            WITH_COOKIE,
        ),
        case("edns=1, cookie", "+edns=1 +cookie=0102030405060708", edns(1, 0, &cookie), VERSION),
        case(
            "malformed cookie",
            "+ednsopt=10:0102",
            edns(0, 0, &option(10, b"\x01\x02")),
            MALFORMED,
        ),
        case("nsid", "+nsid", edns(0, 0, &name_server_id), EDNS),
        case("expire", "+expire", edns(0, 0, &expire), EDNS),
        case("keepalive", "+keepalive", edns(0, 0, &option(11, b"")), EDNS),
        case("padding", "+ednsopt=12:00000000", edns(0, 0, &option(12, &[0; 4])), EDNS),
        case("subnet", "+subnet=203.0.113.0/24", edns(0, 0, &subnet), EDNS),
        case(
            "malformed subnet",
            "+ednsopt=8:00012100cb00710000",
            edns(0, 0, &long_prefix),
            MALFORMED,
        ),
        case(
            "edns=1, malformed subnet",
            "+edns=1 +ednsopt=8:00012100cb00710000",
            edns(1, 0, &long_prefix),
            VERSION,
        ),
        case(
            "cookie, nsid, expire, subnet",
            "+cookie=0102030405060708 +nsid +expire +subnet=0.0.0.0/0",
            edns(0, 0, &several),
            WITH_COOKIE,
        ),
        case(
            "all of them, dnssec, unknown option and flag",
            "+cookie=0102030405060708 +nsid +expire +subnet=0.0.0.0/0 +ednsopt=100 +dnssec +ednsflags=0x40",
            edns(0, DNSSEC_OK | UNKNOWN_FLAG, &everything),
            WITH_COOKIE,
        ),
    ]
}

/// A reply in the words of the list.
fn in_words(reply: &[u8]) -> String {
    let message = whole(reply);
    let metadata = &message.metadata;
    let code = match u16::from(metadata.response_code) {
        0 => "NOERROR",
        1 => "FORMERR",
        4 => "NOTIMP",
        16 => "BADVERS",
        other => panic!("code {other}"),
    };
    let mut text = code.to_owned();
    for (name, is_set) in [
        ("aa", metadata.authoritative),
        ("tc", metadata.truncation),
        ("rd", metadata.recursion_desired),
        ("ra", metadata.recursion_available),
        ("ad", metadata.authentic_data),
        ("cd", metadata.checking_disabled),
        ("z", reply[3] & Z != 0),
    ] {
        if is_set {
            write!(text, " {name}").unwrap();
        }
    }
    write!(text, ", {} answers, ", message.answers.len()).unwrap();
    let Some(edns) = &message.edns else { return text + "no OPT" };
    assert_eq!((edns.version(), edns.max_payload()), (0, MAX_PAYLOAD));
    text += "OPT";
    if edns.flags().dnssec_ok || edns.flags().z != 0 {
        text += " with flags";
    }
    for (code, data) in options_of(reply) {
        assert_eq!((code, data.len()), (10, 24), "an option that nobody asked for");
        text += " with COOKIE";
    }
    text
}

#[test]
fn every_combination_is_answered_over_both_transports() {
    let cookies = Some(Secret::new(*b"it is no secret!"));
    let served = served(Settings { cookies, ..Settings::default() }, TcpLimits::default());
    let mut wrong = String::new();
    for case in cases() {
        let Case { what, message, .. } = &case;
        let replies = [
            ("UDP", case.over_udp, served.ask_udp(message)),
            ("TCP", case.over_tcp, served.ask_tcp(message)),
        ];
        for (transport, expected, bytes) in replies {
            let words = in_words(&bytes);
            if words != expected {
                writeln!(wrong, "{what} over {transport}: {words}, not {expected}").unwrap();
            }
            // What every reply has: the id, the opcode, the question as it was asked, and no more.
            assert_eq!(bytes[..2], message[..2], "{what}");
            assert_eq!(bytes[2] & 0xf8, 0x80 | (message[2] & 0x78), "{what}");
            let end = if message[5] == 0 { HEADER } else { asked_length(message) };
            assert_eq!(bytes[4..6], message[4..6], "{what}");
            assert_eq!(bytes[HEADER..end], message[HEADER..end], "{what}");
            let reply = Message::from_vec(&bytes).unwrap();
            assert!(reply.authorities.is_empty() && reply.additionals.is_empty(), "{what}");
            assert!(transport == "TCP" || bytes.len() <= MAX_PAYLOAD.into(), "{what}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Where the question of a message ends.
fn asked_length(message: &[u8]) -> usize {
    HEADER + message[HEADER..].iter().position(|byte| *byte == 0).unwrap() + 5
}

/// With `ADXEMU_BLESS=1` the list is written anew, and the run fails, so that a second look accepts it.
#[test]
fn the_document_shows_the_list() {
    let mut list =
        String::from("| asked | by dig | over UDP | over TCP |\n| --- | --- | --- | --- |\n");
    for Case { what, dig, over_udp, over_tcp, .. } in cases() {
        let over_tcp = if over_tcp == over_udp { "the same" } else { over_tcp };
        writeln!(list, "| {what} | `{dig}` | {over_udp} | {over_tcp} |").unwrap();
    }
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let (before, rest) = document.split_once(MARKS.0).unwrap();
    let (_, after) = rest.split_once(MARKS.1).unwrap();
    let expected = [before, MARKS.0, &list, MARKS.1, after].concat();
    if document != expected && env::var_os(BLESS).is_some_and(|value| value == "1") {
        fs::write(DOCUMENT, &expected).unwrap();
    }
    assert!(document == expected, "{DOCUMENT} is not up to date; {BLESS}=1 writes it anew");
}

#[test]
fn a_second_opt_record_is_a_format_error() {
    let served = served(Settings::default(), TcpLimits::default());
    let message = with_opt(question(7, "www.example.com", A), 1232, 0, 0, b"");
    let reply = Message::from_vec(&served.ask_udp(&with_opt(message, 1232, 0, 0, b""))).unwrap();
    assert_eq!(u16::from(reply.metadata.response_code), FORMERR);
    assert_eq!(reply.metadata.id, 7);
}

/// Report U76; a malformed one is in the list above.
#[test]
fn a_client_subnet_comes_back_only_if_it_is_listened_to() {
    let off = served(Settings::default(), TcpLimits::default());
    let on = served(Settings { client_subnet: true, ..Settings::default() }, TcpLimits::default());
    for data in [
        &b"\x00\x01\x18\x00\xcb\x00\x71"[..],
        b"\x00\x01\x15\x00\xcb\x00\x70",
        b"\x00\x02\x38\x00\x20\x01\x0d\xb8\x00\x00\x01",
        b"\x00\x01\x00\x00",
        b"\x00\x00\x00\x00",
    ] {
        let message = question(1, "www.example.com", A);
        let message = with_opt(message, 1232, 0, 0, &option(8, data));
        let mut expected = data.to_vec();
        expected[3] = expected[2];
        let reply = on.ask_udp(&message);
        assert!(reply.ends_with(&option(8, &expected)), "{data:x?}");
        assert_eq!(reply[7], 3, "answers; the library does not read family 0");
        let reply = Message::from_vec(&off.ask_udp(&message)).unwrap();
        assert!(reply.edns.unwrap().options().as_ref().is_empty());
        assert_eq!(reply.answers.len(), 3);
    }
}

#[test]
fn ipv6_lists_are_cut_to_what_the_device_sends() {
    let served = served(Settings::default(), TcpLimits::default());
    let plain = question(1, "many.example.com", AAAA);
    let edns = |payload| with_opt(plain.clone(), payload, 0, 0, b"");
    for (message, count) in
        [(plain.clone(), 8), (edns(512), 8), (edns(1232), 40), (edns(65535), 40)]
    {
        let reply = Message::from_vec(&served.ask_udp(&message)).unwrap();
        assert_eq!(reply.answers.len(), count);
        assert!(!reply.metadata.truncation);
    }
    let reply = Message::from_vec(&served.ask_tcp(&plain)).unwrap();
    assert_eq!(reply.answers.len(), 40);
}

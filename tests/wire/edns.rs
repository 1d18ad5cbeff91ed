//! The list by which implementations of EDNS are judged, over UDP and over TCP.

use adxemu::dns::Settings;
use adxemu::dns::encode::MAX_PAYLOAD;
use adxemu::dns::serve::TcpLimits;
use hickory_proto::op::Message;

use super::messages::{A, AAAA, HEADER, option, question, with_opt};
use super::world::{Served, served};

const NOERROR: u16 = 0;
const FORMERR: u16 = 1;
const BADVERS: u16 = 16;

const DNSSEC_OK: u16 = 0x8000;
const UNKNOWN_FLAG: u16 = 0x0040;

struct Case {
    what: &'static str,
    /// Payload size, version, flags and options; `None`: no OPT record.
    opt: Option<(u16, u8, u16, Vec<u8>)>,
    code: u16,
}

fn cases() -> Vec<Case> {
    let unknown = option(100, b"");
    let long_unknown = option(65001, &[0xff; 300]);
    let cookie = option(10, b"\x01\x02\x03\x04\x05\x06\x07\x08");
    let name_server_id = option(3, b"");
    let subnet = option(8, b"\x00\x01\x18\x00\xcb\x00\x71");
    let bad_subnet = option(8, b"\x00\x01\x21\x00\xcb\x00\x71\x00\x00");
    let everything = [&unknown[..], &cookie, &name_server_id, &long_unknown, &subnet].concat();
    let case = |what, payload, version, flags, options: &[u8], code| Case {
        what,
        opt: Some((payload, version, flags, options.to_vec())),
        code,
    };
    vec![
        Case { what: "plain", opt: None, code: NOERROR },
        case("edns=0", 1232, 0, 0, b"", NOERROR),
        case("edns=1", 1232, 1, 0, b"", BADVERS),
        case("edns=255", 1232, 255, 0, b"", BADVERS),
        case("bufsize=512", 512, 0, 0, b"", NOERROR),
        case("bufsize=0", 0, 0, 0, b"", NOERROR),
        case("bufsize=65535", 65535, 0, 0, b"", NOERROR),
        case("unknown option", 1232, 0, 0, &unknown, NOERROR),
        case("unknown long option", 1232, 0, 0, &long_unknown, NOERROR),
        case("unknown flag", 1232, 0, UNKNOWN_FLAG, b"", NOERROR),
        case("dnssec", 1232, 0, DNSSEC_OK, b"", NOERROR),
        case("cookie", 1232, 0, 0, &cookie, NOERROR),
        case("nsid", 1232, 0, 0, &name_server_id, NOERROR),
        case("subnet", 1232, 0, 0, &subnet, NOERROR),
        case("malformed subnet", 1232, 0, 0, &bad_subnet, FORMERR),
        case("edns=1, unknown option", 1232, 1, 0, &unknown, BADVERS),
        case("edns=1, unknown flag", 1232, 1, UNKNOWN_FLAG, b"", BADVERS),
        case("edns=1, dnssec, malformed options", 1232, 1, DNSSEC_OK, b"\x00", BADVERS),
        case("dnssec, cookie", 1232, 0, DNSSEC_OK, &cookie, NOERROR),
        case("bufsize=512, dnssec", 512, 0, DNSSEC_OK, b"", NOERROR),
        case("everything", 4096, 0, DNSSEC_OK | UNKNOWN_FLAG, &everything, NOERROR),
    ]
}

#[test]
fn every_combination_is_answered_over_both_transports() {
    let served = served(Settings::default(), TcpLimits::default());
    for (case, id) in cases().into_iter().zip(0x1000..) {
        let mut message = question(id, "wWw.ExAmPlE.cOm", A);
        let end_of_question = message.len();
        if let Some((payload, version, flags, options)) = &case.opt {
            message = with_opt(message, *payload, *version, *flags, options);
        }
        for (transport, ask) in
            [("UDP", Served::ask_udp as fn(&_, &_) -> _), ("TCP", Served::ask_tcp)]
        {
            let what = format!("{} over {transport}", case.what);
            let bytes = ask(&served, &message);
            let reply = Message::from_vec(&bytes).unwrap();
            assert_eq!(reply.metadata.id, id, "{what}");
            assert_eq!(u16::from(reply.metadata.response_code), case.code, "{what}");
            assert_eq!(reply.metadata.authoritative, case.code == NOERROR, "{what}");
            assert_eq!(bytes[HEADER..end_of_question], message[HEADER..end_of_question], "{what}");
            assert_eq!(reply.answers.len(), if case.code == NOERROR { 3 } else { 0 }, "{what}");
            assert!(reply.authorities.is_empty() && reply.additionals.is_empty(), "{what}");
            assert_eq!(reply.edns.is_some(), case.opt.is_some(), "{what}");
            if let Some(edns) = reply.edns {
                assert_eq!(edns.version(), 0, "{what}");
                assert_eq!(edns.max_payload(), MAX_PAYLOAD, "{what}");
                assert!(edns.options().as_ref().is_empty(), "{what}");
                assert!(!edns.flags().dnssec_ok && edns.flags().z == 0, "{what}");
            }
        }
    }
}

#[test]
fn a_second_opt_record_is_a_format_error() {
    let served = served(Settings::default(), TcpLimits::default());
    let message = with_opt(question(7, "www.example.com", A), 1232, 0, 0, b"");
    let reply = Message::from_vec(&served.ask_udp(&with_opt(message, 1232, 0, 0, b""))).unwrap();
    assert_eq!(u16::from(reply.metadata.response_code), FORMERR);
    assert_eq!(reply.metadata.id, 7);
}

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

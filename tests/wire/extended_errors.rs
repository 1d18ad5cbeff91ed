//! Extended DNS errors (RFC 8914): said where they help, to clients that speak EDNS.

use adxemu::dns::Settings;
use adxemu::dns::serve::TcpLimits;

use super::messages::{A, AAAA, MX, option, question, with_opt};
use super::world::{Served, options_of, served};

const EXTENDED_ERROR: u16 = 15;

/// The extended error of the reply to this question, whose type is said to be that of class IN.
fn error_of(served: &Served, message: &[u8]) -> Option<(u16, String)> {
    let bytes = served.ask_udp(message);
    assert_eq!(options_of(&bytes), options_of(&served.ask_tcp(message)));
    let error = options_of(&bytes).into_iter().find(|(code, _)| *code == EXTENDED_ERROR)?.1;
    let (code, text) = error.split_first_chunk::<2>().unwrap();
    Some((u16::from_be_bytes(*code), String::from_utf8(text.to_vec()).unwrap()))
}

fn with_edns(name: &str, record_type: u16) -> Vec<u8> {
    with_opt(question(1, name, record_type), 1232, 0, 0, b"")
}

#[test]
fn a_refusal_has_a_reason() {
    let served = served(Settings::default(), TcpLimits::default());
    for name in ["other.example.com", "example.com", "www.example.net", ""] {
        let (code, text) = error_of(&served, &with_edns(name, A)).unwrap();
        assert_eq!((code, text.as_str()), (20, "no host of this name is configured"));
        assert_eq!(error_of(&served, &question(1, name, A)), None, "no EDNS, no reason");
    }
    for record_type in [251, 252] {
        assert_eq!(error_of(&served, &with_edns("www.example.com", record_type)).unwrap().0, 21);
    }
    let mut chaos = with_edns("www.example.com", A);
    let end_of_question = question(1, "www.example.com", A).len();
    chaos[end_of_question - 1] = 3;
    assert_eq!(error_of(&served, &chaos).unwrap().0, 21);
}

#[test]
fn what_is_answered_needs_no_reason() {
    let served = served(Settings::default(), TcpLimits::default());
    for (name, record_type) in [
        ("www.example.com", A),
        ("www.example.com", MX),
        ("four.example.com", AAAA),
        ("empty.example.com", A),
    ] {
        assert_eq!(error_of(&served, &with_edns(name, record_type)), None, "{name}");
    }
    let malformed = with_opt(question(1, "www.example.com", A), 1232, 0, 0, &option(8, b"?"));
    assert_eq!(error_of(&served, &malformed), None);
    let version = with_opt(question(1, "www.example.com", A), 1232, 1, 0, b"");
    assert_eq!(error_of(&served, &version), None);
}

//! DNS cookies (RFC 7873, RFC 9018) and the message without a question (RFC 9619), over UDP and TCP.

use adxemu::dns::Settings;
use adxemu::dns::cookie::Secret;
use adxemu::dns::serve::TcpLimits;
use hickory_proto::op::{Message, ResponseCode};

use super::messages::{A, HEADER, option, question, with_opt};
use super::world::{Served, options_of, served};

const COOKIE: u16 = 10;
const CLIENT: &[u8; 8] = b"a client";

/// With a secret that is known; the clock is driven, so that cookies are always the same.
fn with_cookies() -> Served {
    let cookies = Some(Secret::new(*b"it is no secret!"));
    served(Settings { cookies, ..Settings::default() }, TcpLimits::default())
}

/// A question with this cookie.
fn asked(data: &[u8]) -> Vec<u8> {
    with_opt(question(7, "www.example.com", A), 1232, 0, 0, &option(COOKIE, data))
}

/// No question, but this cookie.
fn cookie_only(data: &[u8]) -> Vec<u8> {
    let mut message = vec![0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    message = with_opt(message, 1232, 0, 0, &option(COOKIE, data));
    assert_eq!(message[5], 0);
    message
}

/// Code, answers, and the cookie of a reply, the same over both transports.
fn outcome(served: &Served, message: &[u8]) -> (ResponseCode, usize, Option<Vec<u8>>) {
    let look = |bytes: &[u8]| {
        assert_eq!(bytes[..2], message[..2], "id");
        assert_eq!(bytes[5], message[5] % 2, "the one question, if there is one");
        let reply = Message::from_vec(bytes).unwrap();
        let cookie = options_of(bytes).into_iter().find(|(code, _)| *code == COOKIE);
        (reply.metadata.response_code, reply.answers.len(), cookie.map(|(_, data)| data))
    };
    let over_udp = look(&served.ask_udp(message));
    assert_eq!(look(&served.ask_tcp(message)), over_udp);
    over_udp
}

#[test]
fn a_client_gets_a_server_cookie_and_keeps_it() {
    let served = with_cookies();
    let (code, answers, cookie) = outcome(&served, &asked(CLIENT));
    assert_eq!((code, answers), (ResponseCode::NoError, 3));
    let cookie = cookie.unwrap();
    assert_eq!((cookie.len(), &cookie[..8]), (24, &CLIENT[..]));
    assert_eq!(cookie[8..12], [1, 0, 0, 0], "the version of RFC 9018");
    assert_eq!(outcome(&served, &asked(&cookie)).2, Some(cookie.clone()));

    // A cookie that does not count is replaced; it is never demanded.
    let mut forged = cookie.clone();
    forged[23] ^= 1;
    for stranger in [forged, [&CLIENT[..], &[7; 8]].concat(), [&CLIENT[..], &[7; 32]].concat()] {
        assert_eq!(
            outcome(&served, &asked(&stranger)),
            (ResponseCode::NoError, 3, Some(cookie.clone()))
        );
    }
    // Another client has another one.
    assert_ne!(outcome(&served, &asked(b"another!")).2.unwrap()[8..], cookie[8..]);
}

#[test]
fn a_cookie_grows_old() {
    let served = with_cookies();
    let clock = &served.responder.appliance.clock;
    let first = outcome(&served, &asked(CLIENT)).2.unwrap();
    clock.advance(1799);
    assert_eq!(outcome(&served, &asked(&first)).2.unwrap(), first);
    clock.advance(1);
    let second = outcome(&served, &asked(&first)).2.unwrap();
    assert_ne!(second, first);
    assert_eq!(outcome(&served, &cookie_only(&first)).0, ResponseCode::NoError, "half an hour");
    clock.advance(1801);
    assert_eq!(outcome(&served, &cookie_only(&first)).0, ResponseCode::BADCOOKIE);
    assert_eq!(outcome(&served, &cookie_only(&second)).0, ResponseCode::NoError);
}

#[test]
fn a_malformed_cookie_is_a_format_error() {
    let served = with_cookies();
    for length in [0, 1, 7, 9, 15, 41, 64] {
        let (code, answers, cookie) = outcome(&served, &asked(&vec![7; length]));
        assert_eq!((code, answers, cookie), (ResponseCode::FormErr, 0, None), "{length}");
    }
}

#[test]
fn only_the_first_cookie_counts() {
    let served = with_cookies();
    let options = [option(COOKIE, CLIENT), option(COOKIE, b"another!")].concat();
    let message = with_opt(question(7, "www.example.com", A), 1232, 0, 0, &options);
    assert_eq!(outcome(&served, &message).2, outcome(&served, &asked(CLIENT)).2);
}

#[test]
fn a_message_without_a_question_is_answered_only_with_a_cookie() {
    let served = with_cookies();
    let (code, answers, cookie) = outcome(&served, &cookie_only(CLIENT));
    assert_eq!((code, answers), (ResponseCode::NoError, 0));
    let cookie = cookie.unwrap();
    assert_eq!(
        outcome(&served, &cookie_only(&cookie)),
        (ResponseCode::NoError, 0, Some(cookie.clone()))
    );
    let mut forged = cookie.clone();
    forged[20] ^= 1;
    assert_eq!(outcome(&served, &cookie_only(&forged)), (ResponseCode::BADCOOKIE, 0, Some(cookie)));
    let mut nothing = question(7, "www.example.com", A)[..HEADER].to_vec();
    nothing[5] = 0;
    assert_eq!(outcome(&served, &nothing).0, ResponseCode::FormErr);
    let no_cookie = with_opt(nothing, 1232, 0, 0, b"");
    assert_eq!(outcome(&served, &no_cookie).0, ResponseCode::FormErr);
    // RFC 9619: several questions are none, with a cookie or without.
    let mut two = asked(CLIENT);
    two[5] = 2;
    let entry = two[HEADER..HEADER + 21].to_vec();
    two.splice(HEADER..HEADER, entry);
    assert_eq!(outcome(&served, &two).0, ResponseCode::FormErr);
}

#[test]
fn without_a_secret_cookies_are_an_unknown_option() {
    let served = served(Settings::default(), TcpLimits::default());
    assert_eq!(outcome(&served, &asked(CLIENT)), (ResponseCode::NoError, 3, None));
    assert_eq!(outcome(&served, &cookie_only(CLIENT)), (ResponseCode::FormErr, 0, None));
}

#[test]
fn another_version_of_edns_has_no_cookies() {
    let served = with_cookies();
    let message = with_opt(question(7, "www.example.com", A), 1232, 1, 0, &option(COOKIE, CLIENT));
    let bytes = served.ask_udp(&message);
    assert!(options_of(&bytes).is_empty());
}

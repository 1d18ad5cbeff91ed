//! TCP as RFC 7766 has it: however the bytes of a stream are cut, every question in it is answered,
//! in order; and no bytes at all harm the server.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use adxemu::dns::Settings;
use adxemu::dns::serve::TcpLimits;
use fastrand::Rng;

use super::messages::{A, AAAA, ANY, MX, option, question, with_opt};
use super::world::{prefixed, read_reply, served};

/// Streams that are tried with any bytes.
const STREAMS: usize = 300;

/// Ten questions, of which each has its number as its id.
fn questions() -> Vec<Vec<u8>> {
    let names = ["www", "four", "six", "empty", "other"];
    (0..10_u16)
        .map(|number| {
            let name = format!("{}.example.com", names[usize::from(number) % names.len()]);
            let plain = question(number, &name, [A, AAAA, ANY, MX][usize::from(number) % 4]);
            if number % 3 == 0 {
                with_opt(plain, 1232, 0, 0, &option(10, b"12345678"))
            } else {
                plain
            }
        })
        .collect()
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let served = served(Settings::default(), TcpLimits::default());
    let stream: Vec<u8> = questions().iter().flat_map(|one| prefixed(one)).collect();
    // At every place, the two bytes of a length included.
    for cut in 0..=stream.len() {
        let mut client = served.tcp();
        client.write_all(&stream[..cut]).unwrap();
        // What is whole is answered before the rest comes: the server does not wait for it.
        let whole = whole_questions(&stream[..cut]);
        for number in 0..whole {
            assert_eq!(read_reply(&mut client)[..2], number.to_be_bytes(), "cut at {cut}");
        }
        client.write_all(&stream[cut..]).unwrap();
        for number in whole..10 {
            assert_eq!(read_reply(&mut client)[..2], number.to_be_bytes(), "cut at {cut}");
        }
    }
}

fn whole_questions(mut bytes: &[u8]) -> u16 {
    let mut count = 0;
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let Some(rest) = rest.get(usize::from(u16::from_be_bytes(*length))..) else { break };
        (bytes, count) = (rest, count + 1);
    }
    count
}

#[test]
fn a_stream_may_come_byte_by_byte() {
    let served = served(Settings::default(), TcpLimits::default());
    let mut client = served.tcp();
    for message in questions() {
        for byte in prefixed(&message) {
            client.write_all(&[byte]).unwrap();
        }
        assert_eq!(read_reply(&mut client)[..2], message[..2]);
    }
}

#[test]
fn any_bytes_end_a_stream_at_worst() {
    let served = served(Settings::default(), TcpLimits::default());
    let good: Vec<u8> = questions().iter().flat_map(|one| prefixed(one)).collect();
    let mut random = Rng::with_seed(7766);
    for _ in 0..STREAMS {
        let mut stream = good.clone();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..stream.len());
            match random.u8(..4) {
                0 => stream[at] = random.u8(..),
                1 => drop(stream.remove(at)),
                2 => stream.insert(at, random.u8(..)),
                _ => stream.truncate(at.max(1)),
            }
        }
        let mut client = served.tcp();
        // It may have been closed already.
        let _ = client.write_all(&stream);
        let _ = client.shutdown(Shutdown::Write);
        let mut replies = Vec::new();
        let _ = client.read_to_end(&mut replies);
        assert!(replies.len() <= 11 * 1024);
    }
    assert_eq!(served.ask_tcp(&question(1, "www.example.com", A))[7], 3, "it answers as before");
}

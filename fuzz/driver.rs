//! A driver for the targets on stable Rust: seeds, mutated at random from a given number on. It
//! knows nothing of coverage; cargo-fuzz does, where a nightly compiler is at hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fastrand::Rng;

use crate::targets::Target;

/// The longest input, bytes.
const LONGEST: usize = 4_096;

/// An input that a target did not survive.
pub(crate) struct Failure {
    /// The input, made as short as could be.
    pub(crate) input: Vec<u8>,
    /// Which of the inputs it was, from 0.
    pub(crate) number: u64,
}

/// Runs a target on `count` inputs.
pub(crate) fn run(target: Target, seeds: &[Vec<u8>], count: u64, seed: u64) -> Result<(), Failure> {
    let mut random = Rng::with_seed(seed);
    for number in 0..count {
        let input = input(seeds, &mut random);
        if fails(target, &input) {
            return Err(Failure { input: shorten(target, input), number });
        }
    }
    Ok(())
}

/// The seeds of a target: pieces of the files that the repository has for it.
pub(crate) fn seeds(name: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = match name {
        "grammar" => files(&root.join("grammar"), "grammar"),
        "session" => files(&root.join("transcripts"), "session"),
        "question" => questions(),
        "reply" => replies(),
        "master-file" => files(&root.join("transcripts"), "zone"),
        "configuration" => files(&root.join("demos"), "cfg"),
        // What stands behind the prompts of session files.
        _ => files(&root.join("transcripts"), "session")
            .iter()
            .map(|text| {
                let text = String::from_utf8_lossy(text);
                let lines = text.lines().filter_map(|line| line.split_once(['#', '>']));
                lines.map(|(_, typed)| typed).collect::<Vec<_>>().join("\n").into_bytes()
            })
            .filter(|lines| !lines.is_empty())
            .collect(),
    };
    if name == "configuration" {
        seeds.extend(files(&root.join("transcripts"), "cfg"));
    }
    seeds
}

fn files(folder: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|one| one.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|one| one == extension)
            && let Ok(bytes) = std::fs::read(&path)
        {
            found.push(bytes);
        }
    }
    found
}

/// Replies to a question for that host: two addresses, and an alias with its address and an SOA.
fn replies() -> Vec<Vec<u8>> {
    let head = |answers, authorities| {
        let mut head = b"\x12\x34\x84\x00\x00\x01\x00".to_vec();
        head.extend([answers, 0, authorities, 0, 0]);
        head.extend(b"\x01a\x01b\x01c\x00\x00\x01\x00\x01");
        head
    };
    let mut plain = head(2, 0);
    for last in [181, 180] {
        plain.extend(b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x01\x01");
        plain.push(last);
    }
    let mut alias = head(2, 1);
    alias.extend(b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x04\x01x\xc0\x0e");
    alias.extend(b"\xc0\x23\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x01\x01\xb4");
    alias.extend(b"\xc0\x0e\x00\x06\x00\x01\x00\x00\x00\x3c\x00\x18\xc0\x0e\xc0\x0e");
    alias.extend([0; 20]);
    vec![plain, alias]
}

/// Questions for a host of the example: plain, with an OPT record, with client subnet.
fn questions() -> Vec<Vec<u8>> {
    let plain =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x01b\x01c\x00\x00\x01\x00\x01";
    let mut with_opt = plain.to_vec();
    with_opt[11] = 1;
    let mut with_subnet = with_opt.clone();
    with_opt.extend_from_slice(b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00");
    with_subnet.extend_from_slice(
        b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x0b\x00\x08\x00\x07\x00\x01\x18\x00\xcb\x00\x71",
    );
    let mut with_cookie = with_opt.clone();
    let end = with_cookie.len();
    with_cookie[end - 1] = 12;
    with_cookie.extend_from_slice(b"\x00\x0a\x00\x08a client");
    let mut only_cookie = with_cookie.clone();
    only_cookie[5] = 0;
    only_cookie.drain(12..plain.len());
    vec![plain.to_vec(), with_opt, with_subnet, with_cookie, only_cookie]
}

fn input(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut input = piece(seeds, random);
    for _ in 0..random.usize(1..6) {
        mutate(&mut input, seeds, random);
    }
    input.truncate(LONGEST);
    input
}

/// A piece of a seed; of a text its whole lines.
fn piece(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let Some(seed) = random.choice(seeds) else { return Vec::new() };
    if seed.len() <= 128 {
        return seed.clone();
    }
    let start = random.usize(..seed.len());
    let start = seed[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let length = random.usize(..LONGEST.min(seed.len() - start + 1));
    seed[start..start + length].to_vec()
}

fn mutate(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Rng) {
    let place = random.usize(..=input.len());
    let end = (place + random.usize(..16)).min(input.len());
    match random.u8(..8) {
        0 => input.insert(place, random.u8(..)),
        1 if place < input.len() => input[place] ^= 1 << random.u8(..8),
        2 if place < input.len() => input[place] = random.u8(..),
        3 => drop(input.drain(place..end)),
        4 => {
            let again = input[place..end].to_vec();
            input.splice(place..place, again);
        }
        5 => input.truncate(place),
        6 => {
            let mut other = piece(seeds, random);
            other.truncate(64);
            input.splice(place..end, other);
        }
        _ => {
            let token = random.choice(TOKENS).copied().unwrap_or_default();
            input.splice(place..place, token.iter().copied());
        }
    }
}

/// What tends to be special to a reader.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"!",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"\0",
    b"?",
    b"|",
    b" | include ",
    b"no ",
    b"exit\n",
    b"end\n",
    b"0",
    b"-1",
    b"4294967296",
    b"18446744073709551616",
    b"255.255.255.255",
    b"::",
    b"::ffff:192.0.2.1",
    b"/33",
    b"\xff\xff",
    b"\xc0\x0c",
    b"\xc0\x00",
    b"\x3f",
    b"\x40",
    b"[",
    b"]",
    b"{",
    b"}",
    b"<",
    b">",
    b"= keep one\n",
    b"@",
    b"#",
    b"\xf0\x9f\x92\xa9",
    b"\xc3",
    b"in any\n",
    b"\x1b[A",
    b"\x1b[",
    b"\x03",
    b"\x1a",
    b"\xff\xfb\x1f",
    b"\xff\xfa\x1f\x00\x08\x00\x18\xff\xf0",
    b"terminal length 3\rshow version\r",
    b"enable super-user-password x\rend\rexit\renable\r",
];

fn fails((_, target): Target, input: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| target(input))).is_err()
}

/// Leaves pieces out as long as the input still fails.
fn shorten(target: Target, mut input: Vec<u8>) -> Vec<u8> {
    let mut length = input.len() / 2;
    while length > 0 {
        let mut start = 0;
        while start < input.len() {
            let mut shorter = input.clone();
            shorter.drain(start..(start + length).min(input.len()));
            if fails(target, &shorter) {
                input = shorter;
            } else {
                start += length;
            }
        }
        length /= 2;
    }
    input
}

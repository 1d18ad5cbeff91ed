//! A kill at any moment leaves the old state or the new one, whole.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use adxemu::store::{Saved, StateDirectory};

use super::program::{give, play, program};

/// How often the program is killed.
const KILLS: usize = 200;

/// Lines that make one of two states and save it. The states differ in the configuration and in
/// the emulated world, so a half of each would be seen.
fn lines(name: &str) -> String {
    format!("configure terminal\nhostname {name}\nend\nemulate rename {name}\nwrite memory\n")
        .replace("emulate rename one", "emulate health 192.0.2.1 down")
        .replace("emulate rename two", "no emulate health 192.0.2.1")
}

/// A configuration large enough that it is not written in one breath.
fn bulk() -> String {
    let mut text = "enable\nconfigure terminal\ngslb dns zone example.com\n".to_owned();
    for host in 0..300 {
        writeln!(text, "host-info h{host} ip-list 192.0.2.{}", host % 250 + 1).unwrap();
    }
    text + "end\n"
}

fn state(folder: &std::path::Path) -> Saved {
    StateDirectory::open(folder).unwrap().load().unwrap().unwrap()
}

#[test]
fn two_hundred_kills() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--no-dns", "--state", folder.path().to_str().unwrap()];
    let play_whole = |lines: String| {
        let output = play(program(&arguments), &lines);
        assert!(output.status.success());
        state(folder.path())
    };
    let one = play_whole(bulk() + &lines("one"));
    let two = play_whole("enable\n".to_owned() + &lines("two"));
    assert!(one.startup != two.startup && one.world != two.world);

    // More saves than will be reached.
    let saves = "enable\n".to_owned() + &(lines("one") + &lines("two")).repeat(20);
    let mut random = fastrand::Rng::with_seed(6);
    let mut seen = [0, 0];
    for kill in 0..KILLS {
        let mut child = program(&arguments).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let writer = {
            let mut input = child.stdin.take().unwrap();
            let saves = saves.clone();
            std::thread::spawn(move || {
                // The program is killed while it reads.
                let _ = input.write_all(saves.as_bytes());
            })
        };
        // The moment: so much of its output, and so many turns of a loop behind it.
        let mut read = vec![0; random.usize(1..1_000)];
        output.read_exact(&mut read).unwrap();
        for turn in 0..random.u32(0..200_000) {
            std::hint::black_box(turn);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(output);
        writer.join().unwrap();
        let found = state(folder.path());
        match (found == one, found == two) {
            (true, _) => seen[0] += 1,
            (_, true) => seen[1] += 1,
            _ => {
                panic!("kill {kill} left a third state:\n{:.2000}\n{}", found.startup, found.world)
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "the kills came while it saved: {seen:?}");
}

#[test]
fn what_was_saved_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--no-dns", "--state", folder.path().to_str().unwrap()];
    let mut child = program(&arguments).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    give(&mut child, &("enable\n".to_owned() + &lines("one")));
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(text.contains(".Write startup-config done."));
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().unwrap();
    let output = play(program(&arguments), "enable\nshow running-config\nshow emulate\n");
    let text = super::program::text(&output.stdout);
    assert!(text.contains("\nhostname one\n"), "{text}");
    assert!(text.contains("emulate health 192.0.2.1 down"), "{text}");
}

//! The main job: the built-in examples asked by dig.

use std::collections::BTreeMap;

use super::program::{Program, are_here};

/// How often the sample of the guide asks for `a.b.c` (GSLB guide p. 45).
const QUESTIONS: usize = 36;

fn dig_is_here() -> bool {
    are_here(&["dig"], "-v")
}

#[test]
fn a_serving_demo_answers_dig() {
    if !dig_is_here() {
        return;
    }
    let program = Program::start(&["serve", "demo"]);
    let mut first_addresses = BTreeMap::new();
    for _ in 0..QUESTIONS {
        let answer = program.ask("dig", &["a.b.c", "+short"]);
        let addresses: Vec<&str> = answer.lines().collect();
        assert_eq!(addresses.len(), 3, "{answer}");
        *first_addresses.entry(addresses[0].to_owned()).or_insert(0) += 1;
    }
    let expected =
        [("10.1.1.180", 9), ("10.1.1.181", 9), ("10.1.1.182", 18)].map(|(a, n)| (a.to_owned(), n));
    assert_eq!(first_addresses, BTreeMap::from(expected));

    let other = program.ask("dig", &["nowhere.example", "+tcp"]);
    assert!(other.contains("status: REFUSED"), "{other}");
    let unsupported = program.ask("dig", &["a.b.c", "mx"]);
    assert!(unsupported.contains("status: NOERROR"), "{unsupported}");
    assert!(unsupported.contains("ANSWER: 0, AUTHORITY: 0"), "{unsupported}");
    program.terminate();
}

#[test]
fn questions_of_dig_count_at_the_prompt() {
    if !dig_is_here() {
        return;
    }
    let program = Program::start(&["demo"]);
    for question in 0..QUESTIONS {
        let transport = if question % 2 == 0 { "+notcp" } else { "+tcp" };
        let answer = program.ask("dig", &["A.b.C", transport]);
        assert!(answer.contains("status: NOERROR"), "{answer}");
        assert!(answer.contains("flags: qr aa rd;"), "{answer}");
        assert!(answer.contains("A.b.C.\t\t\t10\tIN\tA\t10.1.1.18"), "{answer}");
    }
    let log = program.type_to_the_end(
        "show gslb traffic site\nenable\nclear gslb dns zone\nshow gslb traffic site\n",
    );

    let (counted, cleared) = log.split_once("clear gslb dns zone").unwrap();
    for row in [
        "DNS Requests: 36",
        "  10.1.1.1           10.1.1.181         9 (25 %)",
        "  10.1.1.1           10.1.1.180         9 (25 %)",
        "  10.1.1.2           10.1.1.182         18 (50 %)",
    ] {
        assert!(counted.contains(row), "no `{row}` in\n{counted}");
    }
    assert!(cleared.contains("10.1.1.182         0 (0 %)"), "{cleared}");
    assert!(!cleared.contains("DNS Requests: 36"), "{cleared}");
}

/// From which address which name is asked for, and the last part of the address of the answer.
type Asked<'a> = (&'a str, &'a str, &'a str);

/// The states of the example of gateways, asked from other addresses: SITE1 is
/// 127.0.0.1, SITE2 127.0.0.2. Each state has a program of its own.
#[test]
fn gateways_are_told_by_the_address_that_asks() {
    const SITE1: &str = "127.0.0.1";
    const SITE2: &str = "127.0.0.2";
    const STRANGER: &str = "127.0.0.3";
    const GLB: &str = "glb.sna.example.com";
    if !dig_is_here() {
        return;
    }
    let system =
        |name: &str, what: &str| format!("emulate sna sna.example.com system {name} {what}");
    let lus = |names: &[&str], status: &str| -> Vec<String> {
        let line = |name: &&str| format!("emulate sna sna.example.com lu {name} {status}");
        names.iter().map(line).collect()
    };
    let equal = [system("gw1", "load-average 0.20"), system("gw2", "load-average 0.20")];
    let pool_1 = ["LU01", "LU02"];
    let all = ["LU01", "LU02", "LU03"];
    // What is set, and what is asked then.
    let states: [(Vec<String>, &[Asked<'_>]); 7] = [
        (
            Vec::new(),
            &[
                (SITE1, GLB, "12"),
                (SITE2, "gLb.SNA.example.com", "13"),
                (STRANGER, "POOL-2.sna.example.com", "13"),
                (STRANGER, "LU01.sna.example.com", "11"),
            ],
        ),
        ([&equal[..], &[system("gw2", "bandwidth 1500")]].concat(), &[(SITE1, GLB, "11")]),
        (lus(&pool_1, "in-use"), &[(SITE1, GLB, "13")]),
        (lus(&pool_1, "inactive"), &[(SITE1, GLB, "13")]),
        (
            [lus(&pool_1, "inactive"), lus(&["LU03"], "in-use")].concat(),
            &[(SITE1, GLB, "12"), (SITE2, GLB, "12")],
        ),
        (lus(&all, "in-use"), &[(SITE1, GLB, "11"), (SITE1, GLB, "12"), (SITE1, GLB, "11")]),
        (lus(&all, "active"), &[(SITE2, GLB, "13")]),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (place, (lines, questions)) in states.iter().enumerate() {
        let file = folder.path().join(format!("state-{place}.cfg"));
        let text = format!("{}{}\n", adxemu::demo::Demo::Sna.text(), lines.join("\n"));
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let program = Program::start(&["serve", "--config", file]);
        for (from, name, last) in *questions {
            let answer = program.ask("dig", &["-b", from, name, "+short"]);
            assert_eq!(answer.trim_end(), format!("192.0.2.{last}"), "{from} {name}: {lines:?}");
        }
        let nobody = program.ask("dig", &["-b", STRANGER, GLB]);
        assert!(nobody.contains("status: NXDOMAIN"), "{nobody}");
        program.terminate();
    }
}

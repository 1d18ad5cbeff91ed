//! The list of `docs/dns-compliance.md`, asked with dig.

use std::fmt::Write as _;
use std::fs;

use super::program::{Program, clients_are_here};

#[test]
fn the_compliance_list_passes() {
    if !clients_are_here() {
        return;
    }
    let addresses = |host: &str, count: u8| -> String {
        let line = |last| format!(" host-info {host} ip-list 192.0.2.{last}\n");
        (1..=count).map(line).collect()
    };
    let configuration = [
        "gslb dns zone example.com\n host-info www http\n host-info many http\n",
        &addresses("www", 3),
        &addresses("many", 100),
        "gslb policy\n dns cache-proxy\n dns override\n",
    ];
    let program = Program::serve("compliance", &configuration.concat(), &[]);
    let document = fs::read_to_string("docs/dns-compliance.md").unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut asked = 0;
    let mut wrong = String::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [what, dig, over_udp, over_tcp] = cells[..] else { panic!("{row}") };
        let mut options: Vec<&str> = dig.trim_matches('`').split(' ').collect();
        let has_name = options[0].contains(".example.") || options.contains(&"+header-only");
        if !has_name {
            options.insert(0, "www.example.com");
        }
        for (transport, expected) in [("+notcp", over_udp), ("+tcp", over_tcp)] {
            let expected = if expected == "the same" { over_udp } else { expected };
            let common = ["+norec", "+noad", "+nocookie", "+noednsneg", "+ignore", transport];
            let arguments: Vec<&str> = common.into_iter().chain(options.iter().copied()).collect();
            let words = in_words(&program.ask("dig", &arguments));
            if words != expected {
                writeln!(wrong, "{what}, {transport}: {words}, not {expected}").unwrap();
            }
            asked += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(asked > 60, "only {asked} questions");
}

/// What dig prints in the words of the list.
fn in_words(text: &str) -> String {
    let behind = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
    let code = behind("status: ").unwrap().split(',').next().unwrap();
    let flags = behind(";; flags: qr").unwrap().split(';').next().unwrap();
    let answers = behind("ANSWER: ").unwrap().split(',').next().unwrap();
    let mut words = format!("{code}{flags}, {answers} answers, ");
    if text.contains("MBZ: 0x") {
        words.insert_str(0, "a reserved flag is set: ");
    }
    let Some(opt) = behind("; EDNS: version: ") else { return words + "no OPT" };
    words += "OPT";
    let mut lines = opt.lines();
    let first = lines.next().unwrap();
    if first != "0, flags:; udp: 1232" {
        write!(words, " saying {first}").unwrap();
    }
    for option in lines.take_while(|line| line.starts_with("; ")) {
        let name = option[2..].split(':').next().unwrap();
        write!(words, " with {name}").unwrap();
    }
    words
}

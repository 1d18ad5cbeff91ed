//! The words that base-cli 2.2 lists for each level: every one is taken there, with help, and leads to a
//! command.

use adxemu::cli::{help, matcher, words};
use adxemu::grammar::link::Kept;
use adxemu::grammar::trie::NodeId;
use adxemu::grammar::value::Value;
use adxemu::grammar::{Command, Grammar, ModeId};

use crate::grammar::lines::{Line, everywhere};

/// A device on which nothing has a name.
struct Nobody;

impl help::Names for Nobody {
    fn names(&self, _: Kept, _: &[(&[Kept], Value)]) -> Vec<String> {
        Vec::new()
    }

    fn values_of(&self, _: Kept, _: &str, _: &[(&[Kept], Value)]) -> Vec<String> {
        Vec::new()
    }

    fn values_in(&self, _: ModeId, _: &Command, _: usize) -> Vec<String> {
        Vec::new()
    }
}

/// The lists by level, each with the words that stand before what it lists.
const LISTS: &[(&str, &str, &[&str])] = &[
    ("user", "", &["enable", "exit", "ping", "show", "stop-traceroute", "traceroute"]),
    (
        "privileged",
        "",
        &[
            "alias",
            "asm",
            "boot",
            "clear",
            "clock",
            "configure",
            "copy",
            "debug",
            "disable",
            "enable",
            "erase",
            "execute",
            "exit",
            "kill",
            "ncopy",
            "page-display",
            "ping",
            "quit",
            "rconsole",
            "reload",
            "reload-yes",
            "show",
            "skip-page-display",
            "sntp",
            "stop-traceroute",
            "telnet",
            "terminal",
            "traceroute",
            "undebug",
            "verify",
            "whois",
            "write",
        ],
    ),
    ("privileged", "kill", &["console", "ssh", "telnet"]),
    (
        "config",
        "",
        &[
            "arp",
            "banner",
            "boot",
            "clock",
            "console",
            "enable",
            "end",
            "exit",
            "hostname",
            "interface",
            "ip",
            "logging",
            "no",
            "privilege",
            "quit",
            "service",
            "show",
            "ssh",
            "telnet",
            "username",
            "write",
        ],
    ),
    (
        "privileged",
        "show",
        &[
            "arp",
            "chassis",
            "clock",
            "configuration",
            "flash",
            "interfaces",
            "ip",
            "logging",
            "mac-address",
            "memory",
            "module",
            "reload",
            "running-config",
            "snmp",
            "statistics",
            "tech-support",
            "telnet",
            "users",
            "version",
            "vlan",
            "who",
        ],
    ),
];

/// Texts that the lists give and that are taken over as they are.
const TEXTS: &[(&str, &str, &str)] = &[
    ("user", "enable", "Enter Privileged mode"),
    ("user", "exit", "Exit from EXEC mode"),
    ("user", "ping", "Ping IP node"),
    ("user", "show", "Display system information"),
    ("user", "stop-traceroute", "Stop current TraceRoute"),
    ("user", "traceroute", "TraceRoute to IP Node"),
    ("privileged", "alias", "Display configured aliases"),
    ("privileged", "boot", "Boot system from bootp/tftp server/flash image"),
    ("privileged", "clear", "Clear table/statistics/keys"),
    ("privileged", "clock", "Set clock"),
    ("privileged", "configure", "Enter configuration mode"),
    ("privileged", "copy", "Copy between flash, tftp, config/code"),
    ("privileged", "debug", "Enable debugging functions (see also 'undebug')"),
    ("privileged", "disable", "Disable a module before removing it"),
    ("privileged", "enable", "Enable a disabled module"),
    ("privileged", "erase", "Erase image/configuration from flash"),
    ("privileged", "execute", "Execute commands in batch"),
    ("privileged", "exit", "Exit Privileged mode"),
    ("privileged", "kill", "Kill active CLI session"),
    ("privileged", "ncopy", "Copy a file"),
    ("privileged", "page-display", "Display data one page at a time"),
    ("privileged", "ping", "Ping IP node"),
    ("privileged", "quit", "Exit to User level"),
    ("privileged", "reload", "Halt and perform a warm restart"),
    ("privileged", "show", "Display system information"),
    ("privileged", "skip-page-display", "Enable continuous display"),
    ("privileged", "sntp", "Simple Network Time Protocol commands"),
    ("privileged", "stop-traceroute", "Stop TraceRoute operation"),
    ("privileged", "telnet", "Telnet by name or IP address"),
    ("privileged", "traceroute", "TraceRoute to IP node"),
    ("privileged", "undebug", "Disable debugging functions (see also 'debug')"),
    ("privileged", "verify", "Verify object contents"),
    ("privileged", "whois", "WHOIS lookup"),
    ("privileged", "write", "Write running configuration to flash or terminal"),
    ("config", "arp", "Enter a static IP ARP entry"),
    ("config", "banner", "Define a login banner"),
    ("config", "boot", "Set system boot options"),
    ("config", "clock", "Set system time and date"),
    ("config", "console", "Configure console port"),
    ("config", "enable", "Password, page-mode and other options"),
    ("config", "end", "End Configuration level and go to Privileged level"),
    ("config", "exit", "Exit current level"),
    ("config", "hostname", "Rename this switching router"),
    ("config", "interface", "Port commands"),
    ("config", "ip", "IP settings"),
    ("config", "logging", "Event logging settings"),
    ("config", "no", "Undo/disable commands"),
    ("config", "privilege", "Augment default privilege profile"),
    ("config", "quit", "Exit to User level"),
    ("config", "service", "Set services such as password encryption"),
    ("config", "ssh", "Restrict ssh access by ACL"),
    ("config", "telnet", "Set telnet access and timeout"),
    ("config", "username", "Create or update user account"),
    ("config", "write", "Write running configuration to flash or terminal"),
];

fn mode(grammar: &Grammar, name: &str) -> ModeId {
    grammar.mode_named(name).unwrap_or_else(|| panic!("no level {name}"))
}

/// Help for a word of a level.
fn text_of(grammar: &Grammar, level: &str, before: &str, word: &str) -> String {
    let typed = if before.is_empty() { String::new() } else { format!("{before} ") };
    let listing = help::list(grammar, mode(grammar, level), &typed, &Nobody);
    let listing = listing.unwrap_or_else(|stop| panic!("{level} {typed}?: {stop:?}"));
    let mut candidates = listing.candidates.iter();
    let found = candidates.find(|candidate| candidate.word == word && candidate.literal);
    found.unwrap_or_else(|| panic!("{level}: no help for {before} {word}")).help.clone()
}

#[test]
fn every_listed_word_is_taken_and_has_help() {
    let grammar = Grammar::built_in().unwrap();
    let mut lines = 0;
    for (level, before, listed) in LISTS {
        let mode = mode(&grammar, level);
        for word in *listed {
            assert!(!text_of(&grammar, level, before, word).is_empty(), "{level} {before} {word}");
            let typed = [*before, *word].join(" ");
            let typed = typed.trim();
            let split = words::split(typed);
            let walk = matcher::walk(&grammar, mode, &split, typed).unwrap();
            assert_ne!(walk.place, NodeId::ROOT, "{level} {typed}");
            // Some command begins with it, and a line of it is one.
            let begins = |line: &Line<'_>| {
                let text = line.text();
                text == typed || text.starts_with(&format!("{typed} "))
            };
            let line = everywhere(&grammar)
                .filter(|(_, of)| *of == mode)
                .flat_map(|(command, mode)| {
                    let grammar = &grammar;
                    let forms = 0..command.forms.len();
                    forms.map(move |form| Line::new(grammar, command, mode, form, 0))
                })
                .find(begins);
            if *word != "no" {
                let text = line.unwrap_or_else(|| panic!("no command {level} {typed}")).text();
                let hit = matcher::match_in(&grammar, mode, &words::split(&text), &text);
                assert!(hit.is_ok(), "{level} {text}: {hit:?}");
                lines += 1;
            }
        }
    }
    assert!(lines > 75, "{lines}");
}

#[test]
fn texts_of_the_lists_are_taken_over() {
    let grammar = Grammar::built_in().unwrap();
    for (level, word, text) in TEXTS {
        assert_eq!(text_of(&grammar, level, "", word), *text, "{level} {word}");
    }
}

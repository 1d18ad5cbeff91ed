//! A folder of configurations: every rule about several files speaks up where it should, and the
//! folders that are there as examples are clean.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use adxemu::check::{self, Checked, rule::Severity};

use super::super::grammar;

/// The findings of a lab: file, line, rule.
fn findings(files: &[(&str, &str)]) -> Vec<(String, usize, &'static str)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let checked = check::check_lab(grammar(), folder.path()).unwrap();
    let of_file = |file: &Checked| {
        let name = Path::new(&file.name).file_name().unwrap().to_str().unwrap().to_owned();
        let grave = file.findings.iter().filter(|one| one.rule.severity > Severity::Note);
        grave.map(move |one| (name.clone(), one.line, one.rule.name)).collect::<Vec<_>>()
    };
    checked.iter().flat_map(of_file).collect()
}

const CONTROLLER: &str = "hostname c\nip address 192.0.2.1 255.255.255.0\ngslb site one\n si-name a 192.0.2.11\n!\n\
    gslb site two\n si-name b 192.0.2.12\n!\ngslb dns zone b.c\n host-info a http\n \
    host-info a ip-list 198.51.100.1\n host-info a ip-list 198.51.100.2\n!\n\
    server virtual dns 192.0.2.53\n port dns\n!\n";

fn device(name: &str, last: u8) -> String {
    format!(
        "hostname {name}\nip address 192.0.2.1{last} 255.255.255.0\ngslb protocol\n\
         server real web 203.0.113.{last}\n port http\n!\n\
         server virtual vip 198.51.100.{last}\n port http\n bind http web http\n!\n"
    )
}

/// The lab of a controller and two devices, one of them another.
fn with(controller: &str, b: &str) -> Vec<(String, usize, &'static str)> {
    findings(&[("a.cfg", &device("a", 1)), ("b.cfg", b), ("c.cfg", controller)])
}

fn found(file: &str, line: usize, rule: &'static str) -> (String, usize, &'static str) {
    (file.to_owned(), line, rule)
}

#[test]
fn a_lab_that_fits_together_is_clean() {
    assert_eq!(with(CONTROLLER, &device("b", 2)), []);
    let alone = check::check(grammar(), "c.cfg", CONTROLLER);
    let rules: Vec<&str> = alone.findings.iter().map(|one| one.rule.name).collect();
    assert_eq!(rules, ["address-in-no-site"; 2], "alone nobody reports the addresses");
}

#[test]
fn site_devices_that_do_not_answer() {
    let unknown = CONTROLLER.replace("192.0.2.12", "192.0.2.99");
    let expected = [
        found("b.cfg", 3, "unused-site-device"),
        found("c.cfg", 7, "unknown-site-device"),
        found("c.cfg", 12, "address-in-no-site"),
    ];
    assert_eq!(with(&unknown, &device("b", 2)), expected);
    let silent = device("b", 2).replace("gslb protocol\n", "");
    let expected = [found("b.cfg", 1, "protocol-off"), found("c.cfg", 12, "address-in-no-site")];
    assert_eq!(with(CONTROLLER, &silent), expected);
    let elsewhere = format!("gslb communication 1820\n{}", device("b", 2));
    let expected =
        [found("c.cfg", 7, "protocol-port-differs"), found("c.cfg", 12, "address-in-no-site")];
    assert_eq!(with(CONTROLLER, &elsewhere), expected);
    let described = findings(&[
        ("a.cfg", &device("a", 1)),
        ("c.cfg", CONTROLLER),
        ("x.emu", "emulate si 192.0.2.12 vip 198.51.100.2 http\n! remark\nemulate frob\n"),
    ]);
    assert_eq!(described, [found("x.emu", 3, "rejected-line")], "a scenario tells of the other");
}

#[test]
fn addresses_and_vips_of_two_devices() {
    let same = device("b", 2).replace("192.0.2.12", "192.0.2.11");
    let expected = [
        found("b.cfg", 2, "address-of-two-devices"),
        found("c.cfg", 7, "unknown-site-device"),
        found("c.cfg", 12, "address-in-no-site"),
    ];
    assert_eq!(with(CONTROLLER, &same), expected);
    let two_sites = device("b", 2).replace("198.51.100.2", "198.51.100.1");
    let expected =
        [found("b.cfg", 7, "vip-of-two-devices"), found("c.cfg", 12, "address-in-no-site")];
    assert_eq!(with(CONTROLLER, &two_sites), expected);
    let one_site = CONTROLLER.replace("!\ngslb site two\n", "");
    let expected =
        [found("b.cfg", 7, "vip-of-two-devices"), found("c.cfg", 10, "address-in-no-site")];
    assert_eq!(with(&one_site, &two_sites), expected, "and no pair");
    let pair = |text: &str| text.replace(" port http\n bind", " sym-priority 9\n port http\n bind");
    let paired = findings(&[
        ("a.cfg", &pair(&device("a", 1))),
        ("b.cfg", &pair(&two_sites)),
        ("c.cfg", &one_site.replace(" host-info a ip-list 198.51.100.2\n", "")),
    ]);
    assert_eq!(paired, []);
}

#[test]
fn applications_names_and_controllers() {
    let more = CONTROLLER.replace(" host-info a http\n", " host-info a http\n host-info a ssl\n");
    let expected = [
        found("c.cfg", 12, "application-not-at-vip"),
        found("c.cfg", 13, "application-not-at-vip"),
    ];
    assert_eq!(with(&more, &device("b", 2)), expected);
    assert_eq!(with(CONTROLLER, &device("A", 2)), [found("b.cfg", 1, "same-host-name")]);
    let nobody = findings(&[("a.cfg", &device("a", 1)), ("b.cfg", &device("b", 2))]);
    assert_eq!(nobody, [found("a.cfg", 1, "no-controller")]);
}

#[test]
fn the_labs_that_are_there_fit_together() {
    let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/labs");
    let mut count = 0;
    for folder in std::fs::read_dir(labs).unwrap() {
        let checked = check::check_lab(grammar(), &folder.unwrap().path()).unwrap();
        for file in &checked {
            let grave = file.findings.iter().filter(|one| {
                // A sample of a real file holds a line that nobody knows.
                one.rule.severity > Severity::Note && one.rule.name != "opaque-line"
            });
            let lines: Vec<_> = grave.map(|one| (one.line, one.rule.name, &one.message)).collect();
            assert!(lines.is_empty(), "{}: {lines:?}", file.name);
        }
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn a_folder_without_configurations_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(check::check_lab(grammar(), folder.path()).is_err());
    assert!(check::check_lab(grammar(), &folder.path().join("missing")).is_err());
}

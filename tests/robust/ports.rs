//! Ports that cannot be had: the shell goes on without DNS, `serve` ends (decisions 1).

use std::net::UdpSocket;

use super::program::{play, program, refused, text};

#[test]
fn a_port_in_use() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = play(program(&["--ephemeral", "--dns", &address]), "enable\n");
    assert!(output.status.success());
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("DNS not answering: "), "{said}");
    assert!(lines[0].contains(&address) && lines[0].contains("in use"), "{said}");
    assert_eq!(lines.len(), 2, "that and how to begin: {said}");
    assert!(text(&output.stdout).ends_with("No password has been assigned yet...\n"));

    let line = refused(&play(program(&["serve", "--ephemeral", "--dns", &address]), ""));
    assert!(line.contains(&address) && line.contains("in use"), "{line}");
}

/// As a user without privileges: who runs the tests may be one who has them.
#[cfg(target_os = "linux")]
#[test]
fn a_port_that_needs_privileges() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    // Nobody, on every distribution.
    const NOBODY: u32 = 65_534;

    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap();
    let first: u16 = first.trim().parse().unwrap();
    assert!(first > 1, "every user may listen on every port here, so this cannot be tested");
    let address = format!("127.0.0.1:{}", first - 1);

    // The program stands where nobody may read it, perhaps.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("adxemu");
    std::fs::copy(env!("CARGO_BIN_EXE_adxemu"), &copy).unwrap();
    for path in [folder.path(), &copy] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(&copy);
        command.args(arguments).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    let output = play(as_nobody(&["--ephemeral", "--dns", &address]), "enable\n");
    assert!(output.status.success());
    let said = text(&output.stderr);
    let expected =
        format!("DNS not answering: cannot listen on {address} (UDP): the port needs privileges");
    assert_eq!(said.lines().next(), Some(expected.as_str()), "{said}");
    assert!(text(&output.stdout).ends_with("No password has been assigned yet...\n"));

    let line = refused(&play(as_nobody(&["serve", "--ephemeral", "--dns", &address]), ""));
    assert!(line.contains(&address) && line.contains("the port needs privileges"), "{line}");
}

#[test]
fn an_address_of_another_machine() {
    // A documentation address.
    let arguments = ["--ephemeral", "--dns", "192.0.2.53:5353"];
    let output = play(program(&arguments), "");
    assert!(output.status.success());
    assert!(text(&output.stderr).starts_with("DNS not answering: "), "{}", text(&output.stderr));
    let line = refused(&play(program(&[&["serve"], &arguments[..]].concat()), ""));
    assert!(line.contains("no such address"), "{line}");
}

//! What clients rely on, typed at the machine.

use std::fmt::Write as _;

use adxemu::clock::Clock as _;

use super::at_home::{ACCOUNTS, Typist};

const MORE: &str = "--More--, next page: Space, next line: Return key, quit: Control-c";

/// A session at `#`.
fn privileged() -> Typist {
    let mut typist = Typist::telnet("");
    typist.types("");
    typist.types("enable\r");
    typist
}

#[test]
fn r1_prompts() {
    let mut typist = Typist::telnet("");
    assert_eq!(typist.types(""), "telnet@ServerIronADX>");
    assert!(typist.types("enable\r").ends_with("\r\ntelnet@ServerIronADX#"));
    assert!(typist.types("conf t\r").ends_with("\r\ntelnet@ServerIronADX(config)#"));
    let shown = typist.types("hostname \"Head Office\"\r");
    assert!(shown.ends_with("\r\ntelnet@Head Office(config)#"));
}

#[test]
fn r2_what_is_typed_is_echoed_and_passwords_are_not() {
    let mut typist = Typist::telnet(ACCOUNTS);
    typist.types("");
    for character in "admin".chars() {
        let key = character.to_string();
        assert_eq!(typist.types(&key), key);
    }
    assert_eq!(typist.types("\r"), "\r\nPlease Enter Password: ");
    assert_eq!(typist.types("on\x7fne"), "");
    assert!(typist.types("\r").starts_with("\r\n\r\nUser login successful.\r\n"));
}

#[test]
fn r3_each_way_to_end_a_line() {
    for end in ["\r", "\n", "\r\n", "\r\0"] {
        let mut typist = privileged();
        let shown = typist.types(format!("conf t{end}hostname x{end}end{end}"));
        assert_eq!(
            shown,
            "conf t\r\ntelnet@ServerIronADX(config)#hostname x\r\ntelnet@x(config)#end\r\n\
             telnet@x#",
            "{end:?}"
        );
    }
}

#[test]
fn r4_what_is_sent_ahead_is_kept() {
    let mut typist = Typist::telnet(ACCOUNTS);
    // As Oxidized sends it: the answers before the questions.
    let shown = typist.types("admin\r\none\r\nenable\r\nadmin\r\none\r\nshow clock\r\n");
    assert!(!shown.contains("one"), "{shown}");
    assert!(shown.contains("telnet@ServerIronADX>enable\r\nUser Name:admin\r\nPassword:\r\n"));
    assert!(shown.contains("telnet@ServerIronADX#show clock\r\n"), "{shown}");
}

#[test]
fn r5_an_empty_line_repeats_the_prompt() {
    let mut typist = privileged();
    assert_eq!(typist.types("\r\r"), "\r\ntelnet@ServerIronADX#\r\ntelnet@ServerIronADX#");
}

#[test]
fn r6_pages_can_be_turned_off() {
    let mut typist = privileged();
    let shown = typist.types("skip-page-display\r");
    assert_eq!(shown, "skip-page-display\r\nDisable page display mode\r\ntelnet@ServerIronADX#");
    assert!(!typist.types("show running-config\r").contains("--More--"));
    let shown = typist.types("terminal length 0\r");
    assert_eq!(shown, "terminal length 0\r\ntelnet@ServerIronADX#");
}

/// A client that does not go to the privileged level first finds the pager on, as with the device.
#[test]
fn r7_pages_stay_on_in_user_mode() {
    let mut configuration = ACCOUNTS.replacen("aaa authentication login default local\n", "", 1);
    for number in 11..20 {
        writeln!(configuration, "vlan {number}").unwrap();
    }
    let mut typist = Typist::telnet(&configuration);
    typist.types("");
    for command in ["skip-page-display", "terminal length 0"] {
        let shown = typist.types(format!("{command}\r"));
        let refused = format!("Invalid input -> {command}\r\nType ? for a list\r\n");
        assert_eq!(shown, format!("{command}\r\n{refused}telnet@ServerIronADX>"));
    }
    let shown = typist.types("show vlan\r");
    assert!(shown.ends_with(MORE), "{shown}");
    assert!(typist.types("q").ends_with("telnet@ServerIronADX>"));
    // A user of privilege 5 has it only if it was granted (base-cli 2.4).
    let shown = typist.types("enable\roper\rtwo\rskip-page-display\r");
    assert!(shown.contains("\r\nError - not allowed at privilege level 5\r\n"), "{shown}");
    assert!(typist.types("show vlan\r").ends_with(MORE));
    let grant = "privilege exec level 5 skip-page-display\r";
    typist.types(format!("q\rexit\renable\radmin\rone\rconf t\r{grant}quit\r"));
    let shown = typist.types("enable\roper\rtwo\rskip-page-display\r");
    assert!(shown.contains("\r\nDisable page display mode\r\n"), "{shown}");
    assert!(!typist.types("show vlan\r").contains(MORE));
}

#[test]
fn r8_and_r9_the_pager() {
    let mut typist = privileged();
    typist.types("terminal length 3\r");
    let first = typist.types("show version\r");
    assert!(first.ends_with(MORE), "{first}");
    assert_eq!(first.lines().count(), 4, "the command, two lines, the prompt: {first}");
    let wipe = format!(
        "{}{}{}",
        "\u{8}".repeat(MORE.len()),
        " ".repeat(MORE.len()),
        "\u{8}".repeat(MORE.len())
    );
    for key in [" ", "\r", " \r\n"] {
        let shown = typist.types(key);
        assert!(shown.starts_with(&wipe) && shown.ends_with(MORE), "{key:?} {shown}");
    }
    assert_eq!(typist.types("x\x1b[A\t"), "", "other keys are ignored");
    for key in ["q", "\x03"] {
        assert_eq!(typist.types(key), format!("{wipe}telnet@ServerIronADX#"), "{key:?}");
        typist.types("show version\r");
    }
}

#[test]
fn r10_and_r11_errors() {
    let mut typist = Typist::telnet("enable super-user-password secret\n");
    typist.types("");
    let shown = typist.types("foo bar\r");
    assert!(shown.contains("\r\nInvalid input -> foo bar\r\nType ? for a list\r\n"), "{shown}");
    let shown = typist.types("enable\rwrong\r");
    assert!(shown.contains("Password:\r\nError - Incorrect username or password.\r\n"), "{shown}");
    assert!(shown.ends_with("telnet@ServerIronADX>"));
}

#[test]
fn r12_and_r13_enable() {
    let mut typist = Typist::telnet("");
    typist.types("");
    let shown = typist.types("enable\r");
    assert!(shown.contains("\r\nNo password has been assigned yet...\r\n"), "{shown}");
    let accounts = ACCOUNTS.replacen("aaa authentication login default local\n", "", 1);
    let mut typist = Typist::telnet(&accounts);
    typist.types("");
    assert!(typist.types("enable\r").ends_with("\r\nUser Name:"));
    assert!(typist.types("admin\r").ends_with("\r\nPassword:"));
    assert!(typist.types("one\r").ends_with("\r\ntelnet@ServerIronADX#"));
}

#[test]
fn r14_the_login() {
    let mut typist = Typist::telnet(ACCOUNTS);
    let shown = typist.types("");
    assert_eq!(shown, "\r\nUser Access Verification\r\n\r\nPlease Enter Login Name: ");
    assert_eq!(typist.types("admin\r"), "admin\r\nPlease Enter Password: ");
    let shown = typist.types("one\r");
    assert_eq!(shown, "\r\n\r\nUser login successful.\r\n\r\ntelnet@ServerIronADX>");
}

#[test]
fn r15_exit() {
    let mut typist = privileged();
    assert!(typist.types("exit\r").ends_with("telnet@ServerIronADX>"));
    typist.types("exit\r");
    assert!(typist.shell.is_over());
    let mut typist = privileged();
    typist.types("conf t\rlogout\rexit\rexit\r");
    assert!(typist.shell.is_over());
}

#[test]
fn r17_to_r19_the_configuration() {
    let mut typist = Typist::telnet("gslb site x\n si-name y 192.0.2.1\n");
    typist.types("");
    typist.types("enable\r");
    typist.types("skip-page-display\r");
    let shown = typist.types("show running-config\r");
    let lines: Vec<&str> = shown.split("\r\n").skip(1).collect();
    assert_eq!(lines[0], "!Building configuration...");
    assert!(lines[1].starts_with("!Current configuration : ") && lines[1].ends_with(" bytes"));
    assert_eq!(lines[2], "!");
    assert!(lines[3].starts_with("ver "));
    assert!(lines.contains(&"gslb site x") && lines.contains(&" si-name y 192.0.2.1"));
    let end = lines.iter().position(|line| *line == "end").unwrap();
    assert_eq!(lines[end + 1..].concat(), "telnet@ServerIronADX#");
    assert_eq!(typist.types("write terminal\r").split("\r\n").skip(1).collect::<Vec<_>>(), lines);
    for command in ["version", "chassis", "module", "media", "flash"] {
        let shown = typist.types(format!("show {command}\r"));
        assert!(shown.lines().count() > 2, "{shown}");
    }
}

#[test]
fn r21_sessions_see_each_other() {
    let mut one = privileged();
    one.types("conf t\r");
    let mut other = Typist::beside(one.responder.clone(), one.clock.clone());
    other.types("");
    other.types("enable\r");
    one.types("gslb site from-the-other\r");
    assert!(
        other.types("show running-config | include site\r").contains("gslb site from-the-other")
    );
    one.types("hostname renamed\r");
    assert!(other.types("\r").ends_with("telnet@renamed#"));
    let who = other.types("show who\r");
    assert!(who.contains(" 1      established, client ip address 192.0.2.77, in config mode"));
    assert!(who.contains(" 2      established, client ip address 192.0.2.77\r\n"), "{who}");
    // The block that another session has removed is left.
    other.types("conf t\rno gslb site from-the-other\r");
    assert!(one.types("\r").ends_with("telnet@renamed(config)#"));
    other.types("end\rkill telnet 1\r");
    assert!(one.shell.is_over() && !other.shell.is_over());
}

#[test]
fn no_key_means_help_in_a_text_over_several_lines() {
    let mut typist = privileged();
    typist.types("conf t\rbanner motd #\r");
    assert_eq!(typist.types("Who are you?"), "Who are you?");
    assert_eq!(typist.types("\t"), "");
    typist.types("\r#\rend\rskip-page-display\r");
    let shown = typist.types("show running-config | begin banner\r");
    assert!(shown.contains("\r\nbanner motd ^C\r\nWho are you?^C\r\n^C\r\n"), "{shown}");
    // Its lines are not lines to be had again; behind its end a key is a key again.
    assert!(typist.types("sh?").contains("\r\n  show "));
    let shown = typist.types("\x15\x10\x10\x10\x10\r");
    assert!(shown.contains("\r\nInvalid input -> banner motd #\r\n"), "{shown}");
}

#[test]
fn r22_two_reads_are_equal() {
    let mut typist = privileged();
    typist.types("skip-page-display\r");
    for command in ["show running-config\r", "show version\r", "show chassis\r", "show flash\r"] {
        let first = typist.types(command);
        assert_eq!(typist.types(command), first);
    }
}

#[test]
fn wrong_passwords_are_slowed_down_and_logged() {
    let mut typist = Typist::telnet(ACCOUNTS);
    typist.types("");
    let error = "Error - Incorrect username or password.\r\n";
    // Whoever guesses ahead gets answers one after the other.
    let shown = typist.types("admin\rtwo\rnobody\rtwo\radmin\rone\r");
    assert_eq!(shown.matches(error).count(), 1, "{shown}");
    assert_eq!(typist.types(""), "");
    assert_eq!(typist.waits(1).matches(error).count(), 1);
    assert_eq!(typist.waits(1), "", "twice as long behind the second one");
    assert!(typist.waits(1).contains("User login successful."));
    let log = typist.responder.appliance.log.since(0);
    let refused = log.iter().filter(|one| one.text.contains("rejected")).count();
    assert_eq!(refused, 2);
}

#[test]
fn a_paste_of_2000_lines() {
    let mut typist = privileged();
    typist.types("conf t\r");
    let mut paste = String::new();
    for number in 0..1000 {
        writeln!(paste, "gslb site s{number}\n weight {}", number % 100).unwrap();
    }
    let shown = typist.types(paste.as_bytes());
    assert!(!shown.contains("Invalid input"));
    typist.types("end\rskip-page-display\r");
    let running = typist.types("show running-config\r");
    assert_eq!(running.matches("\r\ngslb site s").count(), 1000);
    assert!(running.contains("gslb site s999\r\n weight 99\r\n"), "{running}");
}

#[test]
fn messages_stand_above_the_line() {
    let mut typist = privileged();
    typist.types("terminal monitor\r");
    typist.types("half");
    typist.clock.advance(1);
    let (responder, client) = (typist.responder.clone(), [192, 0, 2, 78].into());
    adxemu::cli::session::Session::record_refusal(
        &responder.appliance,
        adxemu::cli::sessions::Line::Ssh(client),
        "admin",
        1,
    );
    typist.shell.show_notices();
    let mut parser = vt100::Parser::default();
    parser.process(b"telnet@ServerIronADX#half");
    parser.process(typist.shell.take_output().as_bytes());
    let rows: Vec<String> = parser.screen().rows(0, 80).collect();
    assert!(rows[0].contains("Security: SSH access by user admin"), "{rows:?}");
    assert_eq!(rows[2].trim_end(), "telnet@ServerIronADX#half", "{rows:?}");
}

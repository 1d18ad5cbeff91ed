//! Control keys, history, and what is no key at all (base-cli 2.6, decisions 1.1).

use super::terminal::Terminal;

#[test]
fn control_z_leaves_the_configuration_and_then_the_privileged_level() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("gslb site x\r");
    terminal.wait_for_line("ServerIronADX(config-gslb-site-x)#");
    terminal.type_keys("half a line\x1a");
    terminal.wait_for_line("ServerIronADX#");
    terminal.type_keys("\x1a");
    terminal.wait_for_line("ServerIronADX>");
}

/// The table of base-cli 2.6 but for the keys that have tests of their own, and the keys that stand
/// on keyboards for them.
#[test]
fn every_key_that_edits() {
    let (left, right, home, end, delete) = ("\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x1b[3~");
    let cases = [
        // To both ends, and by one character.
        ("bc\x01a", "abc"),
        ("ac\x02b", "abc"),
        ("bc\x01\x05d", "bcd"),
        ("bd\x01\x06c", "bcd"),
        (&format!("bc{home}a"), "abc"),
        (&format!("bc{home}{end}d"), "bcd"),
        (&format!("ac{left}b"), "abc"),
        (&format!("bd{home}{right}c"), "bcd"),
        // What is deleted: at the cursor, before it, to either end, a word.
        ("abc\x02\x04", "ab"),
        (&format!("abc{left}{delete}"), "ab"),
        ("abc\x7f", "ab"),
        ("abc\x08", "ab"),
        ("abcd\x02\x02\x0b", "ab"),
        ("abcd\x02\x02\x15", "cd"),
        ("abcd\x02\x02\x18", "cd"),
        ("ab cd\x17", "ab"),
        // Nothing is taken as it stands.
        ("a\x16\x11b", "ab"),
    ];
    let mut terminal = Terminal::configuring();
    for (keys, expected) in cases {
        terminal.type_keys(keys);
        terminal.wait_for_line(&format!("ServerIronADX(config)#{expected}"));
        terminal.type_keys("\x01\x0b");
        terminal.wait_for_line("ServerIronADX(config)#");
    }
    // Two lines back and one forward again.
    terminal.type_keys("gslb site one\rgslb site two\r\x10\x10\x0e");
    terminal.wait_for_line("ServerIronADX(config-gslb-site-two)#gslb site two");
}

#[test]
fn control_c_gives_a_fresh_prompt() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("hostname half");
    terminal.wait_for_line("ServerIronADX(config)#hostname half");
    terminal.type_keys("\x03");
    terminal.wait_for_lines(&["ServerIronADX(config)#hostname half", "ServerIronADX(config)#"]);
}

#[test]
fn control_c_ends_a_line_that_runs() {
    let mut terminal = Terminal::start(&["demo", "--no-dns"]);
    terminal.type_keys("enable\remulate query a.b.c count 1000000\r");
    let row = "ServerIronADX#emulate query a.b.c count 1000000";
    terminal.wait_until("the line alone", |terminal| {
        terminal.screen().ends_with(&[row.to_owned(), String::new()])
    });
    terminal.type_keys("\x03");
    terminal.wait_until("what was counted", |terminal| {
        let screen = terminal.screen();
        let [.., counted, prompt] = screen.as_slice() else { return false };
        counted.starts_with("Questions: ")
            && counted.ends_with(" of 1000000")
            && prompt == "ServerIronADX#"
    });
}

#[test]
fn control_c_takes_a_question_back() {
    let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
    terminal.type_keys("enable\rreload\r");
    terminal.wait_for_line("Are you sure? (enter 'y' or 'n'):");
    // Neither help nor the end of input belongs here.
    terminal.type_keys("\x04?\t");
    terminal.wait_for_line("Are you sure? (enter 'y' or 'n'): ?");
    terminal.type_keys("\x03");
    terminal.wait_for_line("ServerIronADX#");
}

#[test]
fn control_d_leaves_outside_the_configuration_only() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("\x04hostname x");
    terminal.wait_for_line("ServerIronADX(config)#hostname x");
    // On a character it deletes it.
    terminal.type_keys("\x01\x04");
    terminal.wait_for_line("ServerIronADX(config)#ostname x");
    terminal.type_keys("\x0b\x1a\x04");
    assert!(terminal.wait_for_end().success());
}

#[test]
fn control_l_and_control_r_repeat_the_line() {
    let mut terminal = Terminal::configuring();
    let line = "ServerIronADX(config)#hostname x";
    terminal.type_keys("hostname x\x0c");
    terminal.wait_for_lines(&[line, line]);
    terminal.type_keys("\x12");
    terminal.wait_for_lines(&[line, line, line]);
    // Control-X deletes to the start.
    terminal.type_keys("\x18");
    terminal.wait_for_line("ServerIronADX(config)#");
}

#[test]
fn the_last_twenty_lines_are_remembered() {
    let mut terminal = Terminal::configuring();
    for number in 1..=25 {
        terminal.type_keys(format!("hostname h{number}\r"));
        terminal.wait_for_line(&format!("h{number}(config)#"));
    }
    let (up, down) = ("\x1b[A", "\x1b[B");
    terminal.type_keys(up);
    terminal.wait_for_line("h25(config)#hostname h25");
    terminal.type_keys(up.repeat(30));
    terminal.wait_for_line("h25(config)#hostname h6");
    terminal.type_keys(down);
    terminal.wait_for_line("h25(config)#hostname h7");
}

#[test]
fn carriage_return_and_line_feed_end_one_line() {
    let mut terminal = Terminal::configuring();
    let row = terminal.row();
    terminal.type_keys("hostname a\r\nhostname b\r\nhostname c\r\0hostname d\n");
    terminal.wait_for_line("d(config)#");
    assert_eq!(terminal.row(), row + 4, "{:?}", terminal.screen());
}

#[test]
fn bytes_that_are_no_utf_8_are_latin_1_and_cost_nothing() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys(b"hostname a\rhostname K\xf6ln\rgslb site x\r");
    terminal.wait_for_line("K\u{f6}ln(config-gslb-site-x)#");
    terminal.type_keys("hostname K\u{f6}ln2\r");
    terminal.wait_for_line("K\u{f6}ln2(config-gslb-site-x)#");
    // Whatever comes, the lines behind it are whole.
    let every_byte: Vec<u8> = (0x80..=0xff).collect();
    terminal.type_keys([&every_byte[..], b"\x15", &every_byte[..], b"\x15hostname b\r"].concat());
    terminal.wait_for_line("b(config-gslb-site-x)#");
}

#[test]
fn what_stands_behind_control_c_is_not_lost() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("hostname half\x03hostname whole\r\x03gslb site x\r");
    terminal.wait_for_line("whole(config-gslb-site-x)#");
    // Nor behind a question.
    terminal.type_keys("end\rreload\r\x03configure terminal\rhostname a\r");
    terminal.wait_for_line("a(config)#");
}

#[test]
fn sequences_with_a_key_that_ends_lines_in_them() {
    let mut terminal = Terminal::configuring();
    // Keys that nobody has, whole and cut off, and Enter behind Escape.
    terminal.type_keys("\x1b[?1;2c\x1b[99~\x1b\x1b[A\x1b\r\x1b\t\x1b[\r\x1bO\r\x1b[1;\r");
    terminal.type_keys("\x15hostname a\rhostname b\r");
    terminal.wait_until("the next prompt", |terminal| {
        terminal.line().starts_with("b(config)#") || terminal.line().starts_with("a(config)#")
    });
    terminal.type_keys("\x15hostname c\r");
    terminal.wait_for_line("c(config)#");
}

#[test]
fn a_line_does_not_grow_without_bound() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("x".repeat(100_000));
    terminal.type_keys("\rhostname after\r");
    terminal.wait_for_line("after(config)#");
    let longest = terminal.written().split(|one: char| one != 'x').map(str::len).max();
    assert_eq!(longest, Some(4096));
}

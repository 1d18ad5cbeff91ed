//! Keys that are typed ahead reach the pager, and what is behind them the next line.

use super::terminal::Terminal;

const MORE: &str = "--More--, next page: Space, next line: Return key, quit: Control-c";

/// How often the pager has asked.
fn questions(terminal: &Terminal) -> usize {
    terminal.written().matches(MORE).count()
}

#[test]
fn keys_typed_ahead_in_one_write() {
    let mut terminal = Terminal::configuring();
    // 80 lines: one page of 23, one of 22, one line, no more.
    for number in 0..80 {
        terminal.type_keys(format!("csw-rule r{number} x\r"));
    }
    terminal.type_keys("show running-config\r \rqhostname after\rhostname last\r");
    terminal.wait_for_line("last(config)#");
    assert_eq!(questions(&terminal), 3, "{:?}", terminal.screen());
    let written = terminal.written();
    assert!(written.contains("csw-rule r18 x\r\n") && !written.contains("\ncsw-rule r60 x\r\n"));
    assert!(written.contains("after(config)#"), "the line is whole");
}

#[test]
fn two_texts_and_their_keys_in_one_write() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("show gslb default | include .\rterminal length\rend\r");
    terminal.wait_for_line("ServerIronADX#");
    terminal.type_keys("terminal length 5\rshow gslb default\r\x03show gslb default\r qconf t\r");
    terminal.wait_for_line("ServerIronADX(config)#");
    assert_eq!(questions(&terminal), 3, "{:?}", terminal.screen());
}

#[test]
fn keys_one_by_one() {
    let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
    terminal.type_keys("enable\rterminal length 5\rshow gslb default\r");
    terminal.wait_for_line(MORE);
    terminal.type_keys("x\r");
    terminal.wait_until("a second question", |terminal| questions(terminal) == 2);
    terminal.type_keys("/flashback\r");
    terminal.wait_until("what was searched", |terminal| {
        terminal.written().contains("searching...\r\n")
    });
    terminal.type_keys("q");
    terminal.wait_for_line("ServerIronADX#");
    // Help is divided too, and the line goes on behind it.
    terminal.type_keys("show ?\x03 clock\r");
    terminal.wait_until("the time", |terminal| terminal.written().contains("GMT"));
    terminal.wait_for_line("ServerIronADX#");
}

#[test]
fn the_end_of_the_terminal_ends_the_pager() {
    let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
    terminal.type_keys("enable\rterminal length 5\rshow gslb default\rq\x04");
    assert!(terminal.wait_for_end().success());
}

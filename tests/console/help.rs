//! `?` acts at once, and the line comes back with the cursor where it was (base-cli 2.2).

use super::terminal::Terminal;

#[test]
fn at_the_end_of_a_line() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("hostn?");
    terminal.wait_for_lines(&[
        "ServerIronADX(config)#hostn",
        "  hostname   Rename this switching router",
        "ServerIronADX(config)#hostn",
    ]);
    terminal.type_keys("ame San-Jose\r");
    terminal.wait_for_line("San-Jose(config)#");
}

#[test]
fn in_the_middle_of_a_line() {
    let mut terminal = Terminal::configuring();
    // Six steps back from the end: behind `hostname `.
    terminal.type_keys("hostname abcdef\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D");
    terminal.wait_for_line("ServerIronADX(config)#hostname abcdef");
    let prompt = "ServerIronADX(config)#".len();
    let behind = prompt + "hostname ".len();
    terminal.wait_until("the cursor", |terminal| terminal.column() == behind);
    terminal.type_keys("?");
    terminal.wait_until("help and the line", |terminal| {
        let screen = terminal.screen();
        let [.., line, help, again] = screen.as_slice() else { return false };
        let typed = "ServerIronADX(config)#hostname abcdef";
        line == typed
            && help.starts_with("  ASCII string ")
            && again == typed
            && terminal.column() == behind
    });
    terminal.type_keys("x\r");
    terminal.wait_for_line("xabcdef(config)#");
}

#[test]
fn help_is_not_remembered_as_a_line() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("hostname one\rhostn?");
    terminal.wait_for_lines(&["  hostname   Rename this switching router", "one(config)#hostn"]);
    // Control-U, Up.
    terminal.type_keys("\x15\x1b[A");
    terminal.wait_for_line("one(config)#hostname one");
}

#[test]
fn inside_an_open_quote_it_is_an_ordinary_character() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("gslb site \"Where?\"\r");
    terminal.wait_for_line("ServerIronADX(config-gslb-site-Where?)#");
}

#[test]
fn in_a_line_that_wraps() {
    let mut terminal = Terminal::sized(24, 40, "xterm", &["--ephemeral", "--no-dns"]);
    terminal.wait_for_line("ServerIronADX>");
    terminal.type_keys("enable\rconfigure terminal\r");
    terminal.wait_for_line("ServerIronADX(config)#");
    let name = "a-name-that-is-wider-than-half";
    // Control-A, then nine steps forward.
    terminal.type_keys(format!("hostname {name}\x01{}?", "\x06".repeat(9)));
    terminal.wait_until("help and the wrapped line", |terminal| {
        let screen = terminal.screen();
        // The cursor is in the first row of the two.
        let [.., first, second, help, _] = screen.as_slice() else { return false };
        first == "ServerIronADX(config)#hostname a-name-th"
            && second == "at-is-wider-than-half"
            && help.starts_with("  ASCII string ")
            && terminal.column() == "ServerIronADX(config)#hostname ".len()
    });
    let row = terminal.row();
    // Control-E goes to the row below, where the text ends.
    terminal.type_keys("\x05");
    terminal.wait_until("the end of the text", |terminal| {
        terminal.row() == row + 1 && terminal.line() == "at-is-wider-than-half"
    });
    terminal.type_keys("?");
    terminal.wait_until("the line again", |terminal| {
        terminal.row() > row + 1 && terminal.line() == "at-is-wider-than-half"
    });
    terminal.type_keys("\x15hostname x\r");
    terminal.wait_for_line("x(config)#");
}

#[test]
fn on_a_terminal_that_cannot_move_its_cursor() {
    let mut terminal = Terminal::sized(24, 80, "dumb", &["--ephemeral", "--no-dns"]);
    terminal.wait_for_line("ServerIronADX>");
    terminal.type_keys("enx\x7f?");
    terminal.wait_for_lines(&["  enable   Enter Privileged mode", "ServerIronADX>en"]);
    terminal.type_keys("able\n");
    terminal.wait_for_line("ServerIronADX#");
    // Whatever is typed, nothing is written that only a terminal understands.
    terminal.type_keys(format!("{}\x01y\x15\x10\r", "x".repeat(200)));
    terminal.wait_for_lines(&["Incomplete command.", "ServerIronADX#"]);
    assert!(!terminal.written().contains('\x1b'), "{:?}", terminal.written());
}

#[test]
fn a_long_list_is_divided_into_pages() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("gslb ?");
    terminal.wait_until("the pager", |terminal| terminal.line().starts_with("--More--"));
    terminal.type_keys("\x03");
    terminal.wait_for_line("ServerIronADX(config)#gslb");
    terminal.type_keys("site x\r");
    terminal.wait_for_line("ServerIronADX(config-gslb-site-x)#");
}

#[test]
fn no_help_in_a_text_over_several_lines() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("banner motd #\r");
    terminal.wait_for_lines(&[
        "Enter TEXT message, End with the character '#'.",
        "ServerIronADX(config)#",
    ]);
    terminal.type_keys("Who are you?\t\rend\r#\rshow running-config | begin motd\r");
    terminal.wait_for_lines(&[
        "banner motd ^C",
        "Who are you?^C",
        "end^C",
        "^C",
        "!",
        "end",
        "",
        "ServerIronADX(config)#",
    ]);
    // Behind its end a key is a key again, and Control-C gives a text up.
    terminal.type_keys("banner exec $\rhalf\r\x03hostn?");
    terminal.wait_for_lines(&[
        "ServerIronADX(config)#hostn",
        "  hostname   Rename this switching router",
        "ServerIronADX(config)#hostn",
    ]);
}

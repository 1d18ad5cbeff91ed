//! Tab completes a word that can only be one, and lists the words that it can be (base-cli 2.3).

use super::terminal::Terminal;

#[test]
fn a_unique_word_is_completed_where_it_stands() {
    let mut terminal = Terminal::configuring();
    let row = terminal.row();
    terminal.type_keys("hostn\t");
    terminal.wait_for_line("ServerIronADX(config)#hostname");
    terminal.type_keys("x");
    terminal.wait_for_line("ServerIronADX(config)#hostname x");
    assert_eq!(terminal.row(), row, "nothing is printed");
}

#[test]
fn in_the_middle_of_a_line() {
    let mut terminal = Terminal::configuring();
    // Control-A, five steps forward.
    terminal.type_keys(format!("hostn x\x01{}\t", "\x06".repeat(5)));
    terminal.wait_for_line("ServerIronADX(config)#hostname  x");
    let behind = "ServerIronADX(config)#hostname ".len();
    terminal.wait_until("the cursor", |terminal| terminal.column() == behind);
}

#[test]
fn the_very_word_is_complete_though_it_begins_another() {
    let mut terminal = Terminal::configuring();
    let row = terminal.row();
    terminal.type_keys("gslb affinity\t");
    let behind = "ServerIronADX(config)#gslb affinity ".len();
    terminal.wait_until("the blank", |terminal| terminal.column() == behind);
    terminal.wait_for_line("ServerIronADX(config)#gslb affinity");
    assert_eq!(terminal.row(), row);
}

#[test]
fn several_words_are_listed_and_the_text_stays() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("gslb dns-\t");
    terminal.wait_until("the list", |terminal| {
        let screen = terminal.screen();
        let [.., typed, probe, code, again] = screen.as_slice() else { return false };
        typed.ends_with("#gslb dns-")
            && probe.starts_with("  dns-probe ")
            && code.starts_with("  dns-rcode ")
            && again == typed
    });
    terminal.type_keys("r\t");
    terminal.wait_for_line("ServerIronADX(config)#gslb dns-rcode");
}

#[test]
fn names_are_completed() {
    let mut terminal = Terminal::configuring();
    terminal.type_keys("gslb dns zone example.com\rend\rshow gslb dns zone ex\t");
    terminal.wait_for_line("ServerIronADX#show gslb dns zone example.com");
}

#[test]
fn where_nothing_fits_nothing_happens() {
    let mut terminal = Terminal::configuring();
    let row = terminal.row();
    terminal.type_keys("xyz\tx");
    terminal.wait_for_line("ServerIronADX(config)#xyzx");
    assert_eq!(terminal.row(), row);
}

//! The terminal is as it was when the program is gone, however it went.

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use super::terminal::Terminal;

const MODES: LocalModes = LocalModes::ECHO.union(LocalModes::ICANON).union(LocalModes::ISIG);

fn modes(terminal: &Terminal) -> LocalModes {
    tcgetattr(terminal.device()).unwrap().local_modes & MODES
}

#[test]
fn after_exit() {
    let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
    assert!(modes(&terminal).is_empty(), "the program reads keys");
    terminal.type_keys("exit\r");
    assert!(terminal.wait_for_end().success());
    assert_eq!(modes(&terminal), MODES);
}

#[test]
fn after_a_signal() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
        let process = Pid::from_raw(i32::try_from(terminal.process()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
        assert_eq!(terminal.wait_for_end().code(), Some(status));
        assert_eq!(modes(&terminal), MODES);
    }
}

#[test]
fn the_terminal_is_quiet_again_after_a_stop() {
    use rustix::termios::{OptionalActions, tcsetattr};
    let mut terminal = Terminal::start(&["--ephemeral", "--no-dns"]);
    terminal.type_keys("enable\rshow clo");
    terminal.wait_for_line("ServerIronADX#show clo");
    let process = Pid::from_raw(i32::try_from(terminal.process()).unwrap()).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    // As a shell does that takes the terminal meanwhile.
    let mut changed = tcgetattr(terminal.device()).unwrap();
    changed.local_modes |= MODES;
    tcsetattr(terminal.device(), OptionalActions::Now, &changed).unwrap();
    kill_process(process, Signal::CONT).unwrap();
    terminal.wait_for_lines(&["ServerIronADX#show clo", "ServerIronADX#show clo"]);
    assert!(modes(&terminal).is_empty());
    terminal.type_keys("ck\r");
    terminal.wait_for_line("ServerIronADX#");
}

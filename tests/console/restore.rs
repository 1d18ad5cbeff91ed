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

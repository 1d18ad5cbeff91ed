//! The statement tree to what holds for the lines that sessions come in on.

use std::time::Duration;

use crate::config::tree::Tree;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;

/// What holds for Telnet and SSH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSettings {
    /// Whether Telnet sessions are accepted.
    pub telnet: bool,
    /// How long nothing need be typed in a Telnet session; `None` for ever.
    pub telnet_idle: Option<Duration>,
    /// The same for SSH.
    pub ssh_idle: Option<Duration>,
    /// The same for the console, whose session then goes back to its beginning.
    pub console_idle: Option<Duration>,
    /// How long a client of SSH may take to say who it is; `None` if nothing is said of that.
    pub ssh_login: Option<Duration>,
}

impl LineSettings {
    /// Reads the settings.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let minutes = |kept| {
            let minutes: u64 = tree.global(grammar, kept)?.number("minutes")?;
            (minutes > 0).then(|| Duration::from_mins(minutes))
        };
        LineSettings {
            telnet: tree
                .global(grammar, Kept::TelnetServer)
                .is_none_or(|one| !one.statement.negated),
            telnet_idle: minutes(Kept::TelnetTimeout),
            ssh_idle: minutes(Kept::SshIdleTime),
            console_idle: minutes(Kept::ConsoleTimeout),
            ssh_login: tree
                .global(grammar, Kept::SshTimeout)
                .and_then(|one| one.number("seconds"))
                .map(Duration::from_secs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    #[test]
    fn settings_are_read() {
        let grammar = Grammar::built_in().unwrap();
        let settings = |text: &str| {
            let mut trees = Trees::default();
            let report = load::load(&grammar, &mut trees, text);
            assert!(report.rejected.is_empty(), "{:?}", report.rejected);
            LineSettings::read(&grammar, &trees.configuration)
        };
        let minutes = |count| Some(Duration::from_mins(count));
        let nothing = LineSettings {
            telnet: true,
            telnet_idle: None,
            ssh_idle: None,
            console_idle: None,
            ssh_login: None,
        };
        assert_eq!(settings(""), nothing);
        assert_eq!(settings("telnet timeout 0\nip ssh idle-time 0\nconsole timeout 0\n"), nothing);
        assert_eq!(settings("telnet server\n"), nothing);
        assert_eq!(
            settings(
                "no telnet server\ntelnet timeout 5\nip ssh idle-time 240\nconsole timeout 10\n\
                 ip ssh timeout 30\n"
            ),
            LineSettings {
                telnet: false,
                telnet_idle: minutes(5),
                ssh_idle: minutes(240),
                console_idle: minutes(10),
                ssh_login: Some(Duration::from_secs(30)),
            }
        );
    }
}

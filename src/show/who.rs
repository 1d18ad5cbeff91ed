//! `show who` and `show users`: who is there, and who may be.

use super::page::Page;
use super::table::{Block, Column};
use crate::cli::sessions::{LineKind, OpenSession};
use crate::clock::Moment;
use crate::config::render::MASK;
use crate::model::access::User;

/// Sessions of a kind that the device takes (base-cli 3.4; SSH remembered).
const LINES: usize = 5;

/// `show who`.
pub fn who(sessions: &[OpenSession], now: Moment) -> String {
    let mut page = Page::default();
    page.line("Console connections:");
    for session in sessions.iter().filter(|one| one.line.kind() == LineKind::Console) {
        page.line(format!("        {}", state(session)));
        page.line(format!("        {}", idle(session, now)));
    }
    if !sessions.iter().any(|one| one.line.kind() == LineKind::Console) {
        page.line("        closed");
    }
    telnet_lines(&mut page, sessions, now);
    page.line("SSH connections:");
    lines(&mut page, sessions, LineKind::Ssh, now);
    page.finish()
}

/// `show telnet`: the lines of Telnet alone.
pub fn telnet(sessions: &[OpenSession], now: Moment) -> String {
    let mut page = Page::default();
    telnet_lines(&mut page, sessions, now);
    page.finish()
}

fn telnet_lines(page: &mut Page, sessions: &[OpenSession], now: Moment) {
    page.line("Telnet connections (inbound):");
    let next = lines(page, sessions, LineKind::Telnet, now);
    page.line("Telnet connection (outbound):");
    page.line(format!("{next:>2}      closed"));
}

/// One line for each place of a kind, from 1; gives the number behind the last one.
fn lines(page: &mut Page, sessions: &[OpenSession], kind: LineKind, now: Moment) -> usize {
    let mut open: Vec<_> = sessions.iter().filter(|one| one.line.kind() == kind).collect();
    open.sort_by_key(|session| session.number);
    let most = open.last().map_or(LINES, |last| last.number.max(LINES));
    for number in 1..=most {
        match open.iter().find(|session| session.number == number) {
            None => page.line(format!("{number:>2}      closed")),
            Some(session) => {
                page.line(format!("{number:>2}      {}", state(session)));
                page.line(format!("        {}", idle(session, now)));
            }
        }
    }
    most + 1
}

fn state(session: &OpenSession) -> String {
    let client = session.line.client().map(|client| format!("client ip address {client}"));
    let user = session.user.as_ref().map(|user| format!("user is {user}"));
    let monitor = session.monitor.then(|| "monitor enabled".to_owned());
    let configures = session.configures.then(|| "in config mode".to_owned());
    let parts = [Some("established".to_owned()), client, user, monitor, configures];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn idle(session: &OpenSession, now: Moment) -> String {
    format!("{} in idle", span(now.since(session.last_input).as_secs()))
}

/// `1 days 2 hours 3 minutes 4 seconds`, without leading parts that are zero.
pub(super) fn span(seconds: u64) -> String {
    let parts = [
        (seconds / 86_400, "days"),
        (seconds / 3600 % 24, "hours"),
        (seconds / 60 % 60, "minutes"),
        (seconds % 60, "seconds"),
    ];
    let first = parts.iter().position(|(number, _)| *number > 0).unwrap_or(parts.len() - 1);
    let words: Vec<String> =
        parts[first..].iter().map(|(number, unit)| format!("{number} {unit}")).collect();
    words.join(" ")
}

const USERS: [Column; 6] = [
    Column::left(&["Username"], 16),
    Column::left(&["Password"], 34),
    Column::left(&["Encrypt"], 8),
    Column::left(&["Priv"], 4),
    Column::left(&["Status"], 8),
    Column::left(&["Expire Time"], 11),
];

/// Width of the rule below the headings.
const RULE: usize = 86;

/// `show users`; `shows_hashes` is `enable password-display`.
pub fn users(users: &[User], shows_hashes: bool) -> String {
    let rows: Vec<[String; 6]> = users
        .iter()
        .map(|user| {
            // The number before a hash says how it is encoded, which is a column of its own.
            let hash = user.password.as_deref().map(|stored| {
                if shows_hashes { stored.split_once(' ').map_or(stored, |two| two.1) } else { MASK }
            });
            [
                user.name.clone(),
                hash.unwrap_or_default().to_owned(),
                if hash.is_some() { "enabled" } else { "disabled" }.to_owned(),
                user.privilege.number().to_string(),
                "enabled".to_owned(),
                "Never".to_owned(),
            ]
        })
        .collect();
    let block = Block::new(&USERS, &rows);
    let mut page = Page::default();
    for heading in &block.headings {
        page.line(heading);
    }
    page.line("=".repeat(RULE));
    for row in &block.rows {
        page.line(row);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::cli::sessions::{Line, Sessions};
    use crate::grammar::Privilege;

    #[test]
    fn open_and_closed_lines() {
        let sessions = Sessions::default();
        let console = sessions.enter(Line::Console, Moment::ZERO);
        console.update(|session| session.monitor = true);
        let telnet = sessions.enter(Line::Telnet(IpAddr::from([192, 0, 2, 77])), Moment::ZERO);
        telnet.update(|session| session.user = Some("admin".to_owned()));
        let expected = "\
Console connections:
        established, monitor enabled
        1 days 2 hours 3 minutes 4 seconds in idle
Telnet connections (inbound):
 1      established, client ip address 192.0.2.77, user is admin
        1 days 2 hours 3 minutes 4 seconds in idle
 2      closed
 3      closed
 4      closed
 5      closed
Telnet connection (outbound):
 6      closed
SSH connections:
 1      closed
 2      closed
 3      closed
 4      closed
 5      closed
";
        assert_eq!(who(&sessions.list(), Moment::from_millis(93_784_000)), expected);
        let shown = telnet_of(&sessions);
        assert!(expected.contains(&shown) && shown.starts_with("Telnet connections"), "{shown}");
        drop(console);
        assert!(who(&sessions.list(), Moment::ZERO).contains("connections:\n        closed\n"));
    }

    fn telnet_of(sessions: &Sessions) -> String {
        super::telnet(&sessions.list(), Moment::from_millis(93_784_000))
    }

    #[test]
    fn spans() {
        assert_eq!(span(0), "0 seconds");
        assert_eq!(span(3600), "1 hours 0 minutes 0 seconds");
    }

    #[test]
    fn passwords_are_masked() {
        let user = |name: &str, password: Option<&str>| User {
            name: name.to_owned(),
            privilege: Privilege::Read,
            password: password.map(str::to_owned),
        };
        let list = [user("oper", Some("8 $1$a$b")), user("visitor", None)];
        let text = users(&list, false);
        assert!(text.contains(".....") && !text.contains("$1$"), "{text}");
        assert!(users(&list, true).contains(" $1$a$b "));
        assert!(text.contains("visitor") && text.contains("disabled"));
    }
}

//! The sessions that are open, whatever line they came in on.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Moment;

/// Where a session came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The console, or lines of a file.
    Console,
    /// Telnet from that address.
    Telnet(IpAddr),
    /// SSH from that address.
    Ssh(IpAddr),
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The console.
    Console,
    /// Telnet.
    Telnet,
    /// SSH.
    Ssh,
}

impl Line {
    /// What stands before the name of the device in prompts (base-cli 1.1).
    pub fn prefix(self) -> &'static str {
        match self {
            Line::Console => "",
            Line::Telnet(_) => "telnet@",
            Line::Ssh(_) => "SSH@",
        }
    }

    /// Its kind.
    pub fn kind(self) -> LineKind {
        match self {
            Line::Console => LineKind::Console,
            Line::Telnet(_) => LineKind::Telnet,
            Line::Ssh(_) => LineKind::Ssh,
        }
    }

    /// Where the other end is; none for the console.
    pub fn client(self) -> Option<IpAddr> {
        match self {
            Line::Console => None,
            Line::Telnet(client) | Line::Ssh(client) => Some(client),
        }
    }
}

/// An open session as others see it.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// Its number among those of its kind, from 1.
    pub number: usize,
    /// Where it came in.
    pub line: Line,
    /// Its user, if it had to name one.
    pub user: Option<String>,
    /// When something was typed last.
    pub last_input: Moment,
    /// Whether it shows log messages as they come.
    pub monitor: bool,
    /// Whether it is in the configuration.
    pub configures: bool,
    /// Whether somebody wants it to end.
    pub killed: bool,
    id: u64,
}

/// The open sessions of an appliance.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    open: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: Vec<OpenSession>,
    next: u64,
}

/// A place among the open sessions; given back when it is dropped.
#[derive(Debug)]
pub struct Ticket {
    sessions: Sessions,
    id: u64,
}

impl Sessions {
    /// Takes the lowest free place of its kind.
    pub fn enter(&self, line: Line, now: Moment) -> Ticket {
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        let taken = |number| {
            table.sessions.iter().any(|one| one.line.kind() == line.kind() && one.number == number)
        };
        // One more than there are sessions is free for sure.
        let most = table.sessions.len() + 1;
        let number = (1..most).find(|number| !taken(*number)).unwrap_or(most);
        table.sessions.push(OpenSession {
            number,
            line,
            user: None,
            last_input: now,
            monitor: false,
            configures: false,
            killed: false,
            id,
        });
        Ticket { sessions: self.clone(), id }
    }

    /// The open sessions, in the order in which they began.
    pub fn list(&self) -> Vec<OpenSession> {
        self.table().sessions.clone()
    }

    /// How many sessions are in the configuration.
    pub fn configuring(&self) -> usize {
        self.table().sessions.iter().filter(|session| session.configures).count()
    }

    /// Ends the sessions of a kind, or the one of that number; gives whether there is one.
    pub fn kill(&self, kind: LineKind, number: Option<usize>) -> bool {
        let mut found = false;
        for session in &mut self.table().sessions {
            if session.line.kind() == kind && number.is_none_or(|one| one == session.number) {
                session.killed = true;
                found = true;
            }
        }
        found
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Changes what others see of the session.
    pub fn update(&self, change: impl FnOnce(&mut OpenSession)) {
        if let Some(session) = self.sessions.table().sessions.iter_mut().find(|s| s.id == self.id) {
            change(session);
        }
    }

    /// Whether somebody wants the session to end.
    pub fn is_killed(&self) -> bool {
        self.sessions.table().sessions.iter().any(|one| one.id == self.id && one.killed)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.sessions.table().sessions.retain(|one| one.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        let sessions = Sessions::default();
        let client = IpAddr::from([192, 0, 2, 77]);
        let first = sessions.enter(Line::Telnet(client), Moment::ZERO);
        let second = sessions.enter(Line::Telnet(client), Moment::ZERO);
        let other = sessions.enter(Line::Ssh(client), Moment::ZERO);
        drop(first);
        let third = sessions.enter(Line::Telnet(client), Moment::ZERO);
        let numbers: Vec<usize> = sessions.list().iter().map(|one| one.number).collect();
        assert_eq!(numbers, [2, 1, 1]);
        assert!(sessions.kill(LineKind::Telnet, Some(1)));
        assert!(!sessions.kill(LineKind::Console, None));
        assert!(third.is_killed());
        assert!(!second.is_killed() && !other.is_killed());
    }
}

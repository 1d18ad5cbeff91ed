//! The real appliance as the subject of a session file.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::appliance::Appliance;
use crate::cli::complete::Completion as Tab;
use crate::cli::pager::{self, Pager};
use crate::cli::session::Session;
use crate::clock::{Clock, DrivenClock};
use crate::config::capture;
use crate::config::edit::Trees;
use crate::config::load;
use crate::config::render::{self, Secrets};
use crate::dns::{Responder, Settings};
use crate::grammar::Grammar;
use crate::grammar::link::Message;
use crate::lab::Lab;
use crate::replay::{Completion, Key, Subject};
use crate::show;
use crate::store;

/// An appliance of its own, on a driven clock, with one session at the privileged prompt.
#[derive(Debug)]
pub struct Played {
    session: Session,
    /// The lab that the session stands in.
    lab: Option<Arc<Lab>>,
    /// What stands on the line.
    line: String,
    /// The counters when they were last shown.
    counted: Vec<(String, u64)>,
}

impl Played {
    /// An appliance as it leaves the factory.
    pub fn fresh(grammar: Arc<Grammar>) -> Self {
        let appliance = Arc::new(Appliance::new(grammar, Arc::new(DrivenClock::new()), None));
        let responder = Arc::new(Responder { appliance, settings: Settings::default() });
        Played {
            session: Session::privileged(responder),
            lab: None,
            line: String::new(),
            counted: Vec::new(),
        }
    }

    fn appliance(&self) -> &Appliance {
        self.session.appliance()
    }

    /// What appears after something was done: its text, messages for the console, and all but the
    /// last line of a question, which stands where a prompt would.
    fn screen(&mut self, text: String) -> String {
        let mut out = text;
        for message in self.session.notices() {
            out.push_str(&message);
        }
        if let Some((above, _)) = self.session.prompt().rsplit_once('\n') {
            out.push_str(above);
            out.push('\n');
        }
        out
    }

    fn counters_now(&self) -> Vec<(String, u64)> {
        let appliance = self.appliance();
        let mut counters: Vec<(String, u64)> = appliance
            .counters
            .values()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        for host in &appliance.current().hosts {
            let state = host.domain.lock();
            counters.push((format!("{}: requests", host.domain_name), state.total_requests()));
            for address in &host.addresses {
                let count = state.tallies[address.slot.index()].selections;
                counters.push((format!("{}: {}", host.domain_name, address.ip), count));
            }
        }
        for domain in &appliance.current().sna_domains {
            let state = domain.tallies.lock();
            for (system, tally) in domain.systems.iter().zip(state.systems(domain.arrangement)) {
                counters.push((format!("{}: {}", domain.name, system.name), tally.selections));
            }
        }
        counters
    }
}

impl Subject for Played {
    fn prompt(&mut self) -> String {
        let prompt = self.session.prompt();
        prompt.rsplit_once('\n').map_or(prompt.clone(), |(_, last)| last.to_owned())
    }

    fn line(&mut self, typed: &str) -> String {
        let line = std::mem::take(&mut self.line) + typed;
        let text = self.session.run(&line);
        self.screen(text)
    }

    fn help(&mut self, typed: &str) -> String {
        self.line.push_str(typed);
        self.session.help(&self.line)
    }

    fn complete(&mut self, typed: &str) -> Completion {
        self.line.push_str(typed);
        let list = match self.session.complete(&self.line) {
            Tab::Insert(text) => {
                self.line.push_str(&text);
                String::new()
            }
            Tab::List(list) => list,
            Tab::Nothing => String::new(),
        };
        Completion { line: self.line.clone(), list }
    }

    fn interrupt(&mut self) -> String {
        self.line.clear();
        self.session.interrupt();
        String::new()
    }

    fn end(&mut self) -> String {
        self.line.clear();
        self.session.end();
        String::new()
    }

    fn emulate(&mut self, command: &str) -> String {
        let text = self.session.emulate(command);
        self.screen(text)
    }

    fn knows(&self, word: &str) -> bool {
        self.session.knows_emulation(word)
    }

    fn load(&mut self, path: &Path) -> Result<String, String> {
        let text = store::read_text(path).map_err(|error| error.to_string())?;
        let text = capture::clean(&self.appliance().grammar, &text);
        self.appliance().start_with(&text);
        self.session.restart();
        let rejected = self.appliance().configuration().rejected.len();
        Ok(match rejected {
            0 => String::new(),
            count => format!("{count} lines rejected\n"),
        })
    }

    fn lab(&mut self, path: &Path) -> Result<String, String> {
        let grammar = Arc::clone(&self.appliance().grammar);
        let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());
        let lab = Lab::start(&grammar, &clock, Settings::default(), path)
            .map_err(|error| error.to_string())?;
        self.session = Session::privileged(Arc::clone(&lab.controller().responder));
        self.line.clear();
        self.counted.clear();
        let mut out = String::new();
        for complaint in lab.complaints() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{complaint}");
        }
        let rejected: usize = lab.members().iter().map(crate::lab::Member::rejected).sum();
        if rejected > 0 {
            let _ = writeln!(out, "{rejected} lines rejected");
        }
        self.lab = Some(lab);
        Ok(out)
    }

    fn counters(&mut self) -> String {
        let now = self.counters_now();
        let before = std::mem::replace(&mut self.counted, now.clone());
        let mut out = String::new();
        for (name, value) in now {
            let old = before.iter().find(|(known, _)| *known == name).map_or(0, |(_, old)| *old);
            if value != old {
                // Writing to a String cannot fail.
                let _ = writeln!(out, "{name}: {value}");
            }
        }
        out
    }

    fn page(&mut self, length: usize, keys: &[Key], typed: &str) -> String {
        let length_before = std::mem::replace(&mut self.session.page.length, length);
        let text = self.line(typed);
        let length = self.session.page_length();
        self.session.page.length = length_before;
        let Some(length) = length else { return text };
        let grammar = Arc::clone(&self.appliance().grammar);
        let (mut shown, pager) = Pager::start(&grammar, &text, length);
        let Some(mut pager) = pager else { return shown };
        // In a session file the prompt of the pager stands on a line of its own, which a person
        // sees before it is wiped.
        let wipe = pager::wipe_of(grammar.phrase(Message::More));
        let mut keys = keys.iter();
        while !pager.is_over() {
            let answer = pager.key(match keys.next() {
                Some(Key::Space) => ' ',
                Some(Key::Return) => '\r',
                Some(Key::Interrupt) | None => '\u{3}',
            });
            shown.push('\n');
            shown.push_str(answer.strip_prefix(&wipe).unwrap_or(&answer));
        }
        shown
    }

    fn invariants(&mut self) -> Vec<String> {
        let mut broken = Vec::new();
        let appliance = self.appliance();
        {
            let configuration = appliance.configuration();
            let grammar = &appliance.grammar;
            let trees = &configuration.trees;
            let printed = render::body(grammar, &trees.configuration, Secrets::Stored);
            let world = render::world(grammar, &trees.world);
            let mut read_back = Trees::default();
            let learned = &appliance.states.learned;
            let report = load::load_knowing(grammar, &mut read_back, &printed, learned);
            load::load(grammar, &mut read_back, &world);
            for rejected in report.rejected {
                broken.push(format!("printed, but refused when read: {}", rejected.text));
            }
            if render::body(grammar, &read_back.configuration, Secrets::Stored) != printed {
                broken.push("the printed configuration reads back to another one".to_owned());
            }
            if render::world(grammar, &read_back.world) != world {
                broken.push("the printed emulated world reads back to another one".to_owned());
            }
        }
        match &self.lab {
            None => broken.extend(counts_that_do_not_add_up(appliance)),
            Some(lab) => {
                for member in lab.members() {
                    broken.extend(counts_that_do_not_add_up(&member.responder.appliance));
                }
            }
        }
        broken
    }
}

/// What does not add up in `show gslb dns detail`: below each address the metric counters and the
/// counts of affinity and persistence are as many as its selections.
///
/// The text is read, so that a count which is kept and not shown is found too.
fn counts_that_do_not_add_up(appliance: &Appliance) -> Vec<String> {
    let snapshot = appliance.current();
    let text = show::dns_detail(&snapshot, None).unwrap_or_default();
    let mut broken = Vec::new();
    let mut rows = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((row, selections)) = selections_of(line) else { continue };
        let mut counts = 0;
        while let Some(detail) = lines.next_if(|below| below.starts_with("    ")) {
            counts += counts_of(detail.trim_start());
        }
        rows += 1;
        if selections != counts {
            broken.push(format!("{}: {row}, but counts of {counts}", snapshot.device_name));
        }
    }
    let addresses: usize = snapshot.hosts.iter().map(|host| host.addresses.len()).sum();
    if rows != addresses {
        let name = &snapshot.device_name;
        broken.push(format!("{name}: {rows} rows were found for {addresses} addresses"));
    }
    broken
}

/// The row of an address without its share, which stands in brackets at its end, and the count
/// before that.
fn selections_of(line: &str) -> Option<(&str, u64)> {
    let (row, share) = line.strip_suffix("%)")?.rsplit_once(" (")?;
    share.parse::<u64>().ok()?;
    let count = row.rsplit(' ').next()?.parse().ok()?;
    Some((row, count))
}

/// The counts in a line below an address: `3[health-check], 12[least-response]`, or a line of its
/// own as `Affinity selection count = 5`.
fn counts_of(detail: &str) -> u64 {
    if let Some((_, count)) = detail.split_once("selection count =") {
        return count.trim().parse().unwrap_or_default();
    }
    let counters = detail.split(", ").filter_map(|counter| counter.split_once('['));
    counters.filter_map(|(count, _)| count.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(lines: &[&str]) -> Played {
        let grammar = Grammar::built_in().expect("the built-in grammar loads");
        let mut played = Played::fresh(Arc::new(grammar));
        for line in lines {
            played.line(line);
        }
        played
    }

    #[test]
    fn counts_that_are_not_shown_are_found() {
        let mut played = played(&[
            "configure terminal",
            "gslb dns zone example.com",
            "host-info www ip-list 192.0.2.1",
            "host-info www ip-list 2001:db8::1",
            "gslb policy",
            "dns cache-proxy",
            "dns override",
            "emulate query www.example.com a count 3",
        ]);
        assert_eq!(played.invariants(), Vec::<String>::new());
        played.appliance().current().hosts[0].domain.lock().tallies[0].selections += 1;
        let broken = played.invariants();
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(broken[0].ends_with("       4, but counts of 3"), "{broken:?}");
    }

    #[test]
    fn counts_are_read_from_the_lines_below_an_address() {
        assert_eq!(counts_of("3[health-check], 12[least-response]"), 15);
        assert_eq!(counts_of("persistent hash selection count =7"), 7);
        assert_eq!(counts_of("Affinity selection count = 5"), 5);
        assert_eq!(counts_of("site: local, weight: 50, SI: 1.1.1.102"), 0);
        assert_eq!(counts_of("No metric count yet"), 0);
        assert_eq!(selections_of("      TCP  APP    Count (%)"), None);
        assert_eq!(
            selections_of("* 1.1.1.1:  cfg  v-ip  4 (26%)"),
            Some(("* 1.1.1.1:  cfg  v-ip  4", 4))
        );
    }
}

//! A tiny appliance to test the player against.
//!
//! It has an EXEC and a CONFIG level and, below that, sites. Its state is one weight for each site.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Completion, Key, Subject};

/// The commands, for help and completion.
const COMMANDS: [&str; 7] = ["configure", "end", "exit", "gslb", "hostname", "show", "weight"];

/// The appliance.
#[derive(Debug)]
pub(super) struct Fake {
    host: String,
    site: Option<String>,
    in_config: bool,
    weights: BTreeMap<String, u32>,
    standing: String,
    lines: usize,
    counted: usize,
    /// The greatest weight that is taken. Another one stands for another release.
    pub(super) greatest: u32,
    /// What is said about the end of the session.
    pub(super) broken: Vec<String>,
    /// Every call, for the tests to see.
    pub(super) calls: Vec<String>,
}

impl Fake {
    pub(super) fn new() -> Self {
        Fake {
            host: "ServerIronADX".into(),
            site: None,
            in_config: false,
            weights: BTreeMap::new(),
            standing: String::new(),
            lines: 0,
            counted: 0,
            greatest: 100,
            broken: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn leave(&mut self, whole: bool) {
        if self.site.take().is_none() || whole {
            self.in_config = false;
        }
    }

    fn run(&mut self, line: &str) -> String {
        let words: Vec<_> = line.split_whitespace().collect();
        match (&words[..], &self.site) {
            ([], _) => {}
            (["configure", "terminal"] | ["conf", "t"], _) => self.in_config = true,
            (["gslb", "site", name], _) if self.in_config => {
                self.site = Some((*name).to_owned());
                self.weights.entry((*name).to_owned()).or_default();
            }
            (["weight", weight], Some(site)) => match weight.parse() {
                Ok(weight) if weight <= self.greatest => {
                    self.weights.insert(site.clone(), weight);
                }
                _ => return format!("Error - {weight} not between 0 and {}\n", self.greatest),
            },
            (["hostname", name], _) if self.in_config => self.host = (*name).to_owned(),
            (["end"], _) => self.leave(true),
            (["exit"], _) => self.leave(false),
            (["show", "sites"], _) => {
                let site = |(site, weight)| format!("  {site:<10} weight {weight}");
                let sites: Vec<_> = self.weights.iter().map(site).collect();
                return format!(
                    "Sites:\n\n{}\n!\nSystem uptime is 3 days 4 hours\n",
                    sites.join("\n")
                );
            }
            (["say", said @ ..], _) => return said.join(" ").replace("\\n", "\n") + "\n",
            _ => return format!("Invalid input -> {line}\nType ? for a list\n"),
        }
        String::new()
    }
}

impl Subject for Fake {
    fn prompt(&mut self) -> String {
        match (&self.site, self.in_config) {
            (Some(site), _) => format!("{}(config-gslb-site-{site})#", self.host),
            (None, true) => format!("{}(config)#", self.host),
            (None, false) => format!("{}#", self.host),
        }
    }

    fn line(&mut self, typed: &str) -> String {
        self.calls.push(format!("line {typed}"));
        let line = std::mem::take(&mut self.standing) + typed;
        self.lines += 1;
        self.run(&line)
    }

    fn help(&mut self, typed: &str) -> String {
        self.calls.push(format!("help {typed}"));
        self.standing += typed;
        match self.standing.as_str() {
            "gslb " => "  dns    Configure DNS zones\n  site   Configure a site\n".into(),
            start => list(&commands(start)),
        }
    }

    fn complete(&mut self, typed: &str) -> Completion {
        self.calls.push(format!("complete {typed}"));
        self.standing += typed;
        let found = commands(&self.standing);
        let list = match found[..] {
            [only] => {
                self.standing = format!("{only} ");
                String::new()
            }
            _ => list(&found),
        };
        Completion { line: self.standing.clone(), list }
    }

    fn interrupt(&mut self) -> String {
        self.calls.push("interrupt".into());
        self.standing.clear();
        String::new()
    }

    fn end(&mut self) -> String {
        self.calls.push("end".into());
        self.standing.clear();
        self.leave(true);
        String::new()
    }

    fn emulate(&mut self, command: &str) -> String {
        self.calls.push(format!("emulate {command}"));
        match command.split_once(' ') {
            Some(("query", name)) => format!("NOERROR aa  answer 1\n{name}. 10 IN A 1.1.1.80\n"),
            _ => String::new(),
        }
    }

    fn knows(&self, word: &str) -> bool {
        matches!(word, "query" | "clock")
    }

    fn load(&mut self, path: &Path) -> Result<String, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        *self = Fake { calls: std::mem::take(&mut self.calls), ..Fake::new() };
        self.host = text.trim().to_owned();
        Ok(String::new())
    }

    fn lab(&mut self, path: &Path) -> Result<String, String> {
        self.calls.push(format!("lab {}", path.file_name().unwrap().display()));
        Ok("two appliances\n".into())
    }

    fn counters(&mut self) -> String {
        let moved = self.lines - self.counted;
        self.counted = self.lines;
        if moved == 0 { String::new() } else { format!("lines typed: {moved}\n") }
    }

    fn page(&mut self, length: usize, keys: &[Key], typed: &str) -> String {
        let output = self.line(typed);
        let mut keys = keys.iter();
        let mut room = length - 1;
        let mut shown = String::new();
        for line in output.lines() {
            if room == 0 {
                shown += "--More--\n";
                room = match keys.next() {
                    Some(Key::Space) => length - 2,
                    Some(Key::Return) => 1,
                    Some(Key::Interrupt) | None => return shown,
                };
            }
            room -= 1;
            shown += line;
            shown.push('\n');
        }
        shown
    }

    fn invariants(&mut self) -> Vec<String> {
        self.broken.clone()
    }
}

/// The commands that begin with some text.
fn commands(start: &str) -> Vec<&'static str> {
    COMMANDS.into_iter().filter(|command| command.starts_with(start)).collect()
}

/// A list as help shows it.
fn list(commands: &[&str]) -> String {
    commands.iter().flat_map(|command| ["  ", command, "\n"]).collect()
}

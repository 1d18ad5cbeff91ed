//! The examples of the specification, played against a subject that does what they say.
//!
//! This proves that the player types what a reader would type, and takes for output what a reader
//! would take for it.

use std::collections::VecDeque;
use std::path::Path;

use super::compare::{CHARACTERS, LINES};
use super::tests::shown;
use super::*;

/// Does what a session file says, and checks what is typed against it.
///
/// It reads the file in its own way: names of devices begin with `ServerIronADX`.
struct Mirror {
    /// What is typed or directed, at which prompt, and what appears.
    steps: VecDeque<(String, String, String)>,
    standing: String,
    prompt: String,
}

impl Mirror {
    fn new(text: &str) -> Self {
        let mut steps: VecDeque<(String, String, String)> = VecDeque::new();
        for line in text.lines() {
            let prompt_end = line.find(['#', '>']).filter(|_| line.starts_with("ServerIronADX"));
            if let Some(end) = prompt_end {
                let (prompt, typed) = line.split_at(end + 1);
                steps.push_back((prompt.to_owned(), typed.to_owned(), String::new()));
            } else if let Some(directive) =
                line.strip_prefix('@').filter(|_| !line.starts_with("@@"))
            {
                let word = directive.split(' ').next().unwrap_or_default();
                if !["", "from", "pin", "broken", "page"].contains(&word) {
                    steps.push_back((String::new(), directive.to_owned(), String::new()));
                }
            } else if let Some((.., output)) = steps.back_mut() {
                let line = if line == LINES { "hidden\nhidden" } else { line };
                let line = if line.starts_with("@@") { &line[1..] } else { line };
                let line = line
                    .replace(CHARACTERS, "any thing")
                    .replace("[UPTIME]", "1 day 2 hours")
                    .replace("[TIME]", "14:07:08")
                    .replace("[PORT]", "5300");
                *output += &(line + "\n");
            }
        }
        Mirror { steps, standing: String::new(), prompt: String::new() }
    }

    /// Takes the next step, which must be this text and key, in addition to what stands there.
    fn step(&mut self, typed: &str, key: &str) -> String {
        let (_, written, output) = self.steps.pop_front().expect("another step");
        assert_eq!(format!("{}{typed}{key}", self.standing), written);
        self.standing.clear();
        output
    }
}

impl Subject for Mirror {
    fn prompt(&mut self) -> String {
        if let Some((prompt, ..)) = self.steps.iter().find(|(prompt, ..)| !prompt.is_empty()) {
            self.prompt.clone_from(prompt);
        }
        self.prompt.clone()
    }
    fn line(&mut self, typed: &str) -> String {
        self.step(typed, "")
    }
    fn help(&mut self, typed: &str) -> String {
        let standing = format!("{}{typed}", self.standing);
        let output = self.step(typed, "?");
        self.standing = standing;
        output
    }
    fn complete(&mut self, typed: &str) -> Completion {
        let list = self.step(typed, "<TAB>");
        let next = &self.steps.front().expect("a line after Tab").1;
        let end = next.find(' ').map_or(next.len(), |blank| blank + 1);
        self.standing = next[..end].to_owned();
        Completion { line: self.standing.clone(), list }
    }
    fn interrupt(&mut self) -> String {
        self.standing.clear();
        self.steps.pop_front().expect("another step").2
    }
    fn end(&mut self) -> String {
        self.step("", "<^Z>")
    }
    fn emulate(&mut self, command: &str) -> String {
        self.step(command, "")
    }
    fn load(&mut self, path: &Path) -> Result<String, String> {
        Err(format!("{}: a mirror has no files", path.display()))
    }
    fn lab(&mut self, path: &Path) -> Result<String, String> {
        self.load(path)
    }
    fn counters(&mut self) -> String {
        self.step("counters", "")
    }
    fn page(&mut self, _: usize, _: &[Key], typed: &str) -> String {
        self.step(typed, "")
    }
    fn invariants(&mut self) -> Vec<String> {
        self.steps.iter().map(|step| format!("not played: {step:?}")).collect()
    }
}

/// The blocks of a document that are marked as sessions.
fn examples(document: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let mut inside: Option<String> = None;
    for line in document.lines() {
        match (&mut inside, line) {
            (None, "```session") => inside = Some(String::new()),
            (Some(_), "```") => examples.extend(inside.take()),
            (Some(text), line) => text.extend([line, "\n"]),
            (None, _) => {}
        }
    }
    examples
}

#[test]
fn the_examples_of_the_specification_are_sessions() {
    let examples = examples(include_str!("../../transcripts/README.md"));
    assert_eq!(examples.len(), 5);
    for example in examples {
        // What differs on purpose is said by `@broken`; a mirror cannot differ.
        let example = example.replace("@broken", "@ broken");
        let (outcome, _) = shown(&example, &mut Mirror::new(&example), Comparison::Strict);
        assert!(outcome.agrees(), "{example}\n{outcome:#?}");
    }
}

/// A long session with most of what the notation has.
const TOUR: &str = r#"@ Two sites and one zone: configure, look, ask.
@from "GSLB guide p. 41 and 44 (commands); output ours"
ServerIronADX#conf t
ServerIronADX(config)#gslb ?
  dns        Configure DNS zones
...
  site       Configure a site
ServerIronADX(config)#gslb site SanJose
ServerIronADX(config-gslb-site-SanJose)#wei 50
ServerIronADX(config-gslb-site-SanJose)#weight 101
Error - 101 not between 0 and 100
ServerIronADX(config-gslb-site-SanJose)#si slb-1 209.157.22.209 200
ServerIronADX(config-gslb-site-SanJose)#si-name 209.157.22.209 128
ServerIronADX(config-gslb-site-SanJose)#gslb policy
@ A command of the level above is taken without exit.
ServerIronADX(config-gslb-policy)#dns cache-proxy
ServerIronADX(config-gslb-policy)#dns override
ServerIronADX(config-gslb-policy)#dns ttl 45
ServerIronADX(config-gslb-policy)#no capacity
ServerIronADX(config-gslb-policy)#weighted-site
ServerIronADX(config-gslb-policy)#metric-order set health weighted-site num
ServerIronADX(config-gslb-policy)#metric-order set health h
Invalid input -> h
Type ? for a list
ServerIronADX(config-gslb-policy)#gslb dns zone-name gslb.com
ServerIronADX(config-gslb-dns-gslb.com)#host www http
ServerIronADX(config-gslb-dns-gslb.com)#host-info www ip-list 1.1.1.80
ServerIronADX(config-gslb-dns-gslb.com)#host-info www ip-weight 4.4.4.4 80
IP-address not found for host-name
ServerIronADX(config-gslb-dns-gslb.com)#host-info www ip-weight 1.1.1.80 50
ServerIronADX(config-gslb-dns-gslb.com)#end
@query www.gslb.com a
NOERROR aa  answer 1
www.gslb.com. 45 IN A 1.1.1.80
@query mail.gslb.com a
REFUSED  answer 0
ServerIronADX#show run
...
gslb site SanJose
 weight 50
 si-name slb-1 209.157.22.209
!
gslb dns zone gslb.com
 host-info www http
 host-info www ip-list 1.1.1.80
 host-info www ip-weight 1.1.1.80 50
!
gslb policy
 dns ttl 45
 dns override
 dns cache-proxy
 weighted-site
 no capacity
 metric-order set health-check weighted-site num-session
!
...
ServerIronADX#conf t
ServerIronADX(config)#gslb policy
ServerIronADX(config-gslb-policy)#no dns ttl
ServerIronADX(config-gslb-policy)#weighted-ip
ServerIronADX(config-gslb-policy)#metric-order default
ServerIronADX(config-gslb-policy)#exit
@clock advance 30
@query www.gslb.com a
NOERROR aa  answer 1
www.gslb.com. [..] IN A 1.1.1.80
ServerIronADX(config)#show run
...
gslb policy
 no dns ttl
 dns override
 dns cache-proxy
 weighted-ip
!
...
ServerIronADX(config)#gslb p x
Ambiguous input -> p x
Type ? for a list
"#;

#[test]
fn a_long_session_is_played_step_by_step() {
    let mut mirror = Mirror::new(TOUR);
    let (outcome, screen) = shown(TOUR, &mut mirror, Comparison::Strict);
    assert!(outcome.agrees(), "{outcome:#?}");
    assert_eq!(
        outcome.steps,
        TOUR.matches("\nServerIronADX").count()
            + TOUR.matches("\n@query").count()
            + TOUR.matches("\n@clock").count()
    );
    assert!(screen.contains("\nhidden\nhidden\n  site       Configure a site\n"));
}

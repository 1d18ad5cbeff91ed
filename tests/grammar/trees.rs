//! What holds of any sequence of lines: it prints and reads back as the same, a refused line leaves
//! no trace, and its print means what the lines meant.

use std::sync::{Arc, LazyLock};

use adxemu::appliance::Appliance;
use adxemu::cli::session::Session;
use adxemu::clock::DrivenClock;
use adxemu::config::tree::{Path, Values, key_of};
use adxemu::dns::{Responder, Settings};
use adxemu::grammar::link::Report;
use adxemu::grammar::{Command, Grammar, ModeId, Verb};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::grammar::count::config;
use crate::grammar::desk::Desk;
use crate::grammar::lines::{Line, Script, everywhere, keeping, root};
use crate::grammar::small::small;
use crate::grammar::values;

/// A grammar, shared by all cases.
type Shared = LazyLock<Arc<Grammar>>;

static DEVICE: Shared = LazyLock::new(|| Arc::new(Grammar::built_in().unwrap()));
static SMALL: Shared = LazyLock::new(|| Arc::new(small()));

/// How one line of a script is made.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    command: Index,
    form: Index,
    /// The values of the arguments are chosen by turns, beginning with this one.
    value: usize,
    step: usize,
    /// Which of the `no` forms, if any.
    negation: Option<Index>,
    /// Whether everything that it needs stands before it.
    with_needs: bool,
}

prop_compose! {
    pub(crate) fn choice()(
        command in any::<Index>(),
        form in any::<Index>(),
        value in 0_usize..3,
        step in 0_usize..2,
        negation in prop::option::weighted(0.25, any::<Index>()),
        with_needs in prop::bool::weighted(0.7),
    ) -> Choice {
        Choice { command, form, value, step, negation, with_needs }
    }
}

/// The commands that change a configuration.
fn changing(grammar: &Grammar) -> Vec<(&Command, ModeId)> {
    let root = root(grammar);
    let clearing = everywhere(grammar).filter(|(command, mode)| {
        matches!(command.verb, Verb::Clear(_)) && grammar.is_within(*mode, root)
    });
    keeping(grammar).chain(clearing).collect()
}

/// The script that the choices make.
pub(crate) fn script<'a>(grammar: &'a Grammar, choices: &[Choice]) -> Script<'a> {
    let commands = changing(grammar);
    let mut script = Script::new(grammar);
    for choice in choices {
        let (command, mode) = *choice.command.get(&commands);
        let form = choice.form.index(command.forms.len());
        let line = Line::with(grammar, command, mode, form, &|argument| {
            let value_type = &command.arguments[argument].value_type;
            values::value(grammar, value_type, choice.value + choice.step * argument)
        });
        if choice.with_needs {
            script.add_all(&line.needed());
        }
        let negations = line.negations();
        match choice.negation.filter(|_| !negations.is_empty()) {
            Some(which) => script.add_text(mode, &negations[which.index(negations.len())]),
            None => script.add(&line),
        };
    }
    script
}

/// A text without the lines that were refused.
fn accepted_lines(desk: &Desk<'_>, text: &str) -> String {
    let refused: Vec<usize> = desk.report.rejected.iter().map(|one| one.line).collect();
    let lines = text.lines().enumerate().filter(|(index, _)| !refused.contains(&(index + 1)));
    lines.map(|(_, line)| format!("{line}\n")).collect::<Vec<_>>().concat()
}

/// Checks a script; gives the lines of it that were accepted, and their print.
fn check(grammar: &Grammar, choices: &[Choice]) -> (String, String) {
    let text = script(grammar, choices).text();
    // Behind a refused line that would have opened a block, lines mean nothing: they are dropped.
    let report = Desk::read(grammar, &text).report;
    assert!(report.opaque.is_empty() || !report.rejected.is_empty(), "{text}");
    let known = text.lines().enumerate();
    let known = known.filter(|(index, _)| !report.opaque.contains(&(index + 1)));
    let text = known.map(|(_, line)| format!("{line}\n")).collect::<Vec<_>>().concat();
    let desk = Desk::read(grammar, &text);
    desk.require_round_trip();
    let accepted = accepted_lines(&desk, &text);
    let again = Desk::read(grammar, &accepted);
    again.require_accepted(&accepted);
    again.require_same(&desk);
    let printed = desk.text();
    (accepted, printed)
}

/// What a session sees of a configuration: everything that can be shown without an argument.
fn shown(grammar: &Arc<Grammar>, text: &str) -> String {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Arc::new(Appliance::new(Arc::clone(grammar), clock, None));
    appliance.load_world(text);
    let settings = Settings::default();
    let responder = Arc::new(Responder { appliance: Arc::clone(&appliance), settings });
    let mut session = Session::privileged(responder);
    let mut out = String::new();
    for line in reports(grammar) {
        out.push_str(&session.run(&line));
    }
    out + &meaning(&appliance)
}

/// The snapshot in the order of its lines, for a hash table may print in any order.
fn meaning(appliance: &Appliance) -> String {
    let snapshot = format!("{:#?}", **appliance.current());
    let mut lines: Vec<&str> = snapshot.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// An appliance after lines were typed, and the configuration looked at after each of them.
fn typed(grammar: &Arc<Grammar>, text: &str) -> Arc<Appliance> {
    let clock = Arc::new(DrivenClock::new());
    let appliance = Arc::new(Appliance::new(Arc::clone(grammar), clock, None));
    let settings = Settings::default();
    let responder = Arc::new(Responder { appliance: Arc::clone(&appliance), settings });
    let mut session = Session::configuring(responder);
    for line in text.lines() {
        session.run(line);
        appliance.current();
    }
    appliance
}

/// Makes every block look changed, so that the next snapshot shares no host with the one before.
fn touch_all_blocks(appliance: &Appliance) {
    let grammar = &appliance.grammar;
    let trees = &mut appliance.configuration().trees.configuration;
    let openers = trees.root.statements().filter(|statement| statement.block.is_some());
    let paths: Vec<Path> = openers
        .map(|opener| {
            vec![(opener.command, key_of(grammar.command(opener.command), &opener.values))]
        })
        .collect();
    for path in paths {
        let block = trees.block_mut(grammar, &path).unwrap();
        let before = block.revision();
        block.find_mut(grammar.command(path[0].0), &Values::new());
        assert_ne!(block.revision(), before);
    }
}

/// The lines that show something and need no argument.
pub(crate) fn reports(grammar: &Grammar) -> Vec<String> {
    let privileged = grammar.mode_named("privileged").unwrap();
    everywhere(grammar)
        .filter(|(command, mode)| {
            matches!(&command.verb, Verb::Show(report)
                if *mode == privileged && !matches!(report, Report::Clock | Report::Version))
        })
        .filter_map(|(command, mode)| {
            let form = command.forms.iter().position(|form| {
                let mut tokens = form.iter();
                tokens.all(|token| matches!(token, adxemu::grammar::expand::Token::Word(_)))
            })?;
            Some(Line::new(grammar, command, mode, form, 0).text())
        })
        .collect()
}

#[test]
fn there_are_reports() {
    assert!(reports(&DEVICE).len() > 8, "{:?}", reports(&DEVICE));
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn any_lines_of_the_device_print_and_read_back(
        choices in prop::collection::vec(choice(), 1..60),
    ) {
        check(&DEVICE, &choices);
    }

    #[test]
    fn any_lines_of_the_small_grammar_print_and_read_back(
        choices in prop::collection::vec(choice(), 1..60),
    ) {
        check(&SMALL, &choices);
    }
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn lines_mean_what_their_print_means(choices in prop::collection::vec(choice(), 1..60)) {
        let (accepted, printed) = check(&DEVICE, &choices);
        // A status report is lost while the connection is: there the order of the lines counts, which
        // a print does not keep.
        let connected = |text: &str| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.retain(|line| !(line.contains("emulate si") && line.contains(" connection ")));
            lines.join("\n")
        };
        let (typed, read) =
            (shown(&DEVICE, &connected(&accepted)), shown(&DEVICE, &connected(&printed)));
        let mut pairs = typed.lines().zip(read.lines());
        prop_assert_eq!(pairs.find(|(one, other)| one != other), None, "{}", accepted);
        prop_assert_eq!(typed.lines().count(), read.lines().count(), "{}", accepted);
    }
    #[test]
    fn a_snapshot_made_line_by_line_is_the_one_of_all_lines(
        choices in prop::collection::vec(choice(), 1..60),
    ) {
        let text = script(&DEVICE, &choices).text();
        let appliance = typed(&DEVICE, &text);
        let grown = meaning(&appliance);
        touch_all_blocks(&appliance);
        appliance.load_world("");
        let made = meaning(&appliance);
        let mut pairs = grown.lines().zip(made.lines());
        prop_assert_eq!(pairs.find(|(one, other)| one != other), None, "{}", text);
        prop_assert_eq!(grown.lines().count(), made.lines().count(), "{}", text);
    }
}

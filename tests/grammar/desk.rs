//! What a script of lines leaves behind: the trees, and what was refused.

use adxemu::config::edit::Trees;
use adxemu::config::load::{self, Report};
use adxemu::config::render::{self, Secrets};
use adxemu::config::tree::{Block, Statement};
use adxemu::grammar::link::Kept;
use adxemu::grammar::{CommandId, Grammar};

use crate::grammar::lines::Script;

/// The trees that a file of lines made.
pub(crate) struct Desk<'a> {
    grammar: &'a Grammar,
    pub(crate) trees: Trees,
    pub(crate) report: Report,
}

impl<'a> Desk<'a> {
    /// Reads a text into empty trees.
    pub(crate) fn read(grammar: &'a Grammar, text: &str) -> Self {
        let mut trees = Trees::default();
        // What is printed of an empty configuration, so that what is read back has nothing more.
        let nothing = render::body(grammar, &trees.configuration, Secrets::Stored);
        load::load(grammar, &mut trees, &nothing);
        let report = load::load(grammar, &mut trees, text);
        Desk { grammar, trees, report }
    }

    /// Reads a script of which every line must be accepted.
    pub(crate) fn accepted(grammar: &'a Grammar, script: &Script<'_>) -> Self {
        let text = script.text();
        let desk = Self::read(grammar, &text);
        desk.require_accepted(&text);
        desk
    }

    /// Reads a script of which the last line alone is refused; gives the answer to it.
    pub(crate) fn refused(grammar: &'a Grammar, script: &Script<'_>) -> String {
        let text = script.text();
        let desk = Self::read(grammar, &text);
        let last = text.lines().count();
        let [rejected] = desk.report.rejected.as_slice() else {
            panic!("not one line refused: {:?}\n{text}", desk.report.rejected)
        };
        assert_eq!(rejected.line, last, "{rejected:?}\n{text}");
        assert_eq!(desk.report.opaque, Vec::<usize>::new(), "{text}");
        rejected.reason.clone()
    }

    pub(crate) fn require_accepted(&self, text: &str) {
        assert!(self.report.rejected.is_empty(), "{:?}\n{text}", self.report.rejected);
        assert!(self.report.opaque.is_empty(), "unknown: {:?}\n{text}", self.report.opaque);
    }

    /// The configuration and the emulated world, printed.
    pub(crate) fn text(&self) -> String {
        let body = render::body(self.grammar, &self.trees.configuration, Secrets::Stored);
        body + &render::world(self.grammar, &self.trees.world)
    }

    /// The lines of the configuration and of the emulated world, without their indent.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.text().lines().map(|line| line.trim_start().to_owned()).collect()
    }

    /// Requires that the print reads back as the same trees.
    pub(crate) fn require_round_trip(&self) {
        let text = self.text();
        let again = Desk::read(self.grammar, &text);
        again.require_accepted(&text);
        self.require_same(&again);
    }

    /// Requires that another desk holds the same and prints the same.
    pub(crate) fn require_same(&self, other: &Desk<'_>) {
        assert_eq!(self.text(), other.text());
        for (one, other) in [
            (&self.trees.configuration, &other.trees.configuration),
            (&self.trees.world, &other.trees.world),
        ] {
            assert!(one.holds_the_same(self.grammar, other), "{one:?}\n{other:?}\n{}", self.text());
        }
    }

    /// Whether the trees hold the same.
    pub(crate) fn is_same(&self, other: &Desk<'_>) -> bool {
        self.trees.configuration.holds_the_same(self.grammar, &other.trees.configuration)
            && self.trees.world.holds_the_same(self.grammar, &other.trees.world)
    }

    /// How many statements of a command there are.
    pub(crate) fn number_of(&self, command: CommandId) -> usize {
        self.statements(&|statement| statement.command == command)
    }

    /// How many statements of that name there are, with or without their `no` forms.
    pub(crate) fn number_kept(&self, kept: Kept, negated: Option<bool>) -> usize {
        self.statements(&|statement| {
            let storage = self.grammar.command(statement.command).storage.as_ref();
            storage.is_some_and(|storage| storage.kept == kept)
                && negated.is_none_or(|negated| negated == statement.negated)
        })
    }

    fn statements(&self, is_wanted: &dyn Fn(&Statement) -> bool) -> usize {
        count(&self.trees.configuration.root, is_wanted) + count(&self.trees.world.root, is_wanted)
    }
}

fn count(block: &Block, is_wanted: &dyn Fn(&Statement) -> bool) -> usize {
    block
        .statements()
        .map(|statement| {
            let inner = statement.block.as_deref().map_or(0, |block| count(block, is_wanted));
            usize::from(is_wanted(statement)) + inner
        })
        .sum()
}

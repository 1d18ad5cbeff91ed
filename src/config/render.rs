//! A statement tree as text: the running configuration.
//!
//! The order is that of the stanzas, instances in order of entry, and the statements of a group
//! together (decisions 2). Reading the text back gives a tree that prints the same.

use std::fmt::Write as _;

use hashbrown::HashMap;

use crate::config::tree::{Block, Statement, Tree};
use crate::grammar::expand::Token;
use crate::grammar::link::Kept;
use crate::grammar::{Command, CommandId, Grammar, ModeId, Verb};

/// Version of the software that a configuration without a `ver` line is printed with.
pub const SOFTWARE_VERSION: &str = "12.4.00T403";

/// How secrets are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// As they are stored: for the saved file.
    Stored,
    /// As five dots: for displays (decisions 1.8).
    Masked,
}

/// What stands for a secret in displays.
pub const MASK: &str = ".....";

/// The running configuration, as the device prints it: header, body, `end`.
pub fn running_configuration(grammar: &Grammar, tree: &Tree, secrets: Secrets) -> String {
    let body = body(grammar, tree, secrets);
    let mut text = String::with_capacity(body.len() + 80);
    text.push_str("!Building configuration...\n");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "!Current configuration : {} bytes", body.len());
    text.push_str(&body);
    text
}

/// What follows the header: the text that is saved.
pub fn body(grammar: &Grammar, tree: &Tree, secrets: Secrets) -> String {
    let mut out = String::from("!\n");
    let Some(root) = grammar.root_mode() else { return out };
    let is_version = |command: CommandId| {
        let storage = grammar.command(command).storage.as_ref();
        storage.is_some_and(|storage| storage.kept == Kept::SoftwareVersion)
    };
    let says_version = tree.root.statements().any(|statement| is_version(statement.command));
    let mut before = None;
    if !says_version && let Some(version) = grammar.keeping(root, Kept::SoftwareVersion) {
        let _ = writeln!(out, "ver {SOFTWARE_VERSION}");
        // What follows is printed as it will be when this line has been read back.
        before = Some(section_of(grammar, version.id));
    }
    let printer = Printer { grammar, secrets };
    printer.root_block(root, &tree.root, before, &mut out);
    out.push_str("end\n");
    out
}

/// The settings of the emulated world, one command a line.
pub fn world(grammar: &Grammar, tree: &Tree) -> String {
    let mut out = String::new();
    let mut statements: Vec<&Statement> = tree.root.statements().collect();
    statements.sort_by_key(|statement| statement.command);
    for statement in statements {
        out.push_str(&line(grammar, statement));
        out.push('\n');
    }
    out
}

/// Prints statements of a grammar.
#[derive(Clone, Copy)]
struct Printer<'a> {
    grammar: &'a Grammar,
    secrets: Secrets,
}

impl Printer<'_> {
    /// The outermost block: `!` after every block and after each run of one-liners. `before` is
    /// the section of a one-liner that is printed already.
    fn root_block(&self, mode: ModeId, block: &Block, before: Option<CommandId>, out: &mut String) {
        let grammar = self.grammar;
        let mut in_run = before.is_some();
        let mut last_kind = before;
        for piece in pieces(grammar, mode, block) {
            match piece {
                Piece::Opaque(lines) => {
                    for line in lines {
                        out.push_str(line);
                        out.push('\n');
                    }
                    // A line with others indented under it is a block of its own.
                    if lines.len() > 1 {
                        out.push_str("!\n");
                        in_run = false;
                    } else {
                        in_run = true;
                    }
                }
                Piece::Statement(statement) => {
                    let opens = statement.block.is_some();
                    if opens && is_silent(grammar, statement) {
                        continue;
                    }
                    let section = section_of(grammar, statement.command);
                    let new_run = last_kind.is_some_and(|known| known != section);
                    if in_run && (opens || new_run) {
                        out.push_str("!\n");
                        in_run = false;
                    }
                    last_kind = Some(section);
                    self.statement_lines(statement, 0, out);
                    if opens {
                        out.push_str("!\n");
                    } else {
                        in_run = true;
                    }
                }
            }
        }
        if in_run {
            out.push_str("!\n");
        }
    }

    fn statement_lines(&self, statement: &Statement, indent: usize, out: &mut String) {
        let grammar = self.grammar;
        let command = grammar.command(statement.command);
        push_line(indent, &self.line(statement), out);
        let (Some(block), Verb::Open(mode)) = (&statement.block, &command.verb) else { return };
        let mut packed: Option<Pack<'_>> = None;
        for piece in pieces(grammar, *mode, block) {
            match piece {
                Piece::Statement(inner) => {
                    let inner_command = grammar.command(inner.command);
                    let pack = inner_command.storage.as_ref().and_then(|storage| storage.pack);
                    if let Some(most) = pack {
                        let fits = packed.as_mut().is_some_and(|pack| pack.add(inner, most));
                        if !fits {
                            self.flush(packed.replace(Pack::new(inner)), indent + 1, out);
                        }
                        continue;
                    }
                    self.flush(packed.take(), indent + 1, out);
                    if inner.block.is_some() && is_silent(grammar, inner) {
                        continue;
                    }
                    self.statement_lines(inner, indent + 1, out);
                }
                Piece::Opaque(lines) => {
                    self.flush(packed.take(), indent + 1, out);
                    for line in lines {
                        push_line(indent + 1, line, out);
                    }
                }
            }
        }
        self.flush(packed, indent + 1, out);
    }

    fn flush(&self, pack: Option<Pack<'_>>, indent: usize, out: &mut String) {
        let grammar = self.grammar;
        let Some(pack) = pack else { return };
        let first = pack.entries[0];
        let command = grammar.command(first.command);
        let mut text = self.line(first);
        for entry in &pack.entries[1..] {
            for (argument, value) in &entry.values {
                text.push(' ');
                let value_type = &command.arguments[usize::from(*argument)].value_type;
                value_type.print(&grammar.choices, value, &mut text);
            }
        }
        push_line(indent, &text, out);
    }

    /// A statement as a command line.
    fn line(&self, statement: &Statement) -> String {
        let grammar = self.grammar;
        let command = grammar.command(statement.command);
        let mut out = String::new();
        if statement.negated {
            out.push_str("no ");
        }
        let form = form_of(command, statement);
        let mut first = true;
        for token in form {
            match token {
                Token::Word(spellings) => {
                    separate(&mut first, &mut out);
                    out.push_str(&spellings[0]);
                }
                Token::Argument { argument, .. } => {
                    for value in statement.values_at(*argument) {
                        separate(&mut first, &mut out);
                        let argument = &command.arguments[*argument];
                        if self.secrets == Secrets::Masked && argument.is_secret() {
                            out.push_str(MASK);
                        } else {
                            argument.value_type.print(&grammar.choices, value, &mut out);
                        }
                    }
                }
            }
        }
        out
    }
}

/// One-liners of one grammar file form one run, so that `ver` stands apart from `module` and the
/// server lines from the others.
fn section_of(grammar: &Grammar, command: CommandId) -> CommandId {
    let file = &grammar.command(command).position.file;
    let first = grammar.commands.iter().find(|one| one.position.file == *file);
    first.map_or(command, |first| first.id)
}

/// A block that exists once is printed only when something is in it.
fn is_silent(grammar: &Grammar, statement: &Statement) -> bool {
    let command = grammar.command(statement.command);
    let exists_once = command.storage.as_ref().is_some_and(|storage| storage.key.is_empty());
    exists_once && statement.block.as_ref().is_some_and(|block| block.is_empty())
}

/// Where a statement is printed: section, group, stanza, slot.
type PrintPlace = (CommandId, usize, CommandId, usize);

enum Piece<'a> {
    Statement(&'a Statement),
    Opaque(&'a [String]),
}

/// The parts of a block in the order in which they are printed.
fn pieces<'a>(grammar: &Grammar, mode: ModeId, block: &'a Block) -> Vec<Piece<'a>> {
    let group_section = grammar.group_section(mode);
    let mut groups: HashMap<String, usize> = HashMap::new();
    let mut ordered: Vec<(PrintPlace, &Statement)> = Vec::new();
    for (slot, statement) in block.numbered() {
        let command = grammar.command(statement.command);
        let group = command.storage.as_ref().and_then(|storage| storage.group);
        let place = match (group, group_section) {
            (Some(argument), Some(section)) => {
                let value = statement.value_at(argument);
                let mut name = String::new();
                if let Some(value) = value {
                    let value_type = &command.arguments[argument].value_type;
                    value_type.print(&grammar.choices, value, &mut name);
                }
                name.make_ascii_lowercase();
                let next = groups.len();
                (section, *groups.entry(name).or_insert(next), command.id, slot)
            }
            _ => (command.id, 0, command.id, slot),
        };
        ordered.push((place, statement));
    }
    ordered.sort_by_key(|(place, _)| *place);
    if block.opaque.is_empty() {
        return ordered.into_iter().map(|(_, statement)| Piece::Statement(statement)).collect();
    }
    // An opaque line stays behind the statement that it followed in the file.
    let mut followers: HashMap<usize, Vec<&[String]>> = HashMap::new();
    let mut first: Vec<&[String]> = Vec::new();
    let live: Vec<usize> = block.numbered().map(|(slot, _)| slot).collect();
    for opaque in &block.opaque {
        let before = live.partition_point(|slot| *slot < opaque.after);
        match before.checked_sub(1).map(|place| live[place]) {
            Some(slot) => followers.entry(slot).or_default().push(&opaque.lines),
            None => first.push(&opaque.lines),
        }
    }
    let mut pieces: Vec<Piece<'a>> = first.into_iter().map(Piece::Opaque).collect();
    for (place, statement) in ordered {
        pieces.push(Piece::Statement(statement));
        for lines in followers.remove(&place.3).unwrap_or_default() {
            pieces.push(Piece::Opaque(lines));
        }
    }
    pieces
}

fn push_line(indent: usize, line: &str, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(line);
    out.push('\n');
}

/// Statements of a list that stand on one line.
struct Pack<'a> {
    entries: Vec<&'a Statement>,
}

impl<'a> Pack<'a> {
    fn new(first: &'a Statement) -> Self {
        Pack { entries: vec![first] }
    }

    /// Takes a statement of the same command with the same values before its key, if there is room.
    fn add(&mut self, statement: &'a Statement, most: usize) -> bool {
        let first = self.entries[0];
        let fits = first.command == statement.command && self.entries.len() < most;
        if fits {
            self.entries.push(statement);
        }
        fits
    }
}

/// A statement as a command line, with its secrets.
pub fn line(grammar: &Grammar, statement: &Statement) -> String {
    Printer { grammar, secrets: Secrets::Stored }.line(statement)
}

fn separate(first: &mut bool, out: &mut String) {
    if !*first {
        out.push(' ');
    }
    *first = false;
}

/// The form whose arguments are those that the statement has values for: the loader makes sure
/// that there is only one. A `no` form is cut off behind the last word or key.
fn form_of<'a>(command: &'a Command, statement: &Statement) -> &'a [Token] {
    let has = |argument: usize| statement.value_at(argument).is_some();
    let of_form = |form: &[Token]| {
        form.iter()
            .filter_map(|token| match token {
                Token::Argument { argument, .. } => Some(*argument),
                Token::Word(_) => None,
            })
            .collect::<Vec<_>>()
    };
    let fits = |form: &&Vec<Token>| {
        let arguments = of_form(form);
        let all_there = arguments.iter().all(|argument| has(*argument));
        let no_more = statement
            .values
            .iter()
            .all(|(argument, _)| arguments.contains(&usize::from(*argument)));
        all_there && no_more
    };
    if let Some(form) = command.forms[..command.printed_forms].iter().find(fits) {
        return form;
    }
    // Values that say the default, or that `no` leaves out, are at the end.
    let longest = command.forms[..command.printed_forms].iter().max_by_key(|form| {
        let wanted = of_form(form).into_iter().take_while(|argument| has(*argument)).count();
        (wanted, std::cmp::Reverse(form.len()))
    });
    let Some(form) = longest else { return &[] };
    let end = form
        .iter()
        .rposition(|token| match token {
            Token::Word(_) => true,
            Token::Argument { argument, .. } => has(*argument),
        })
        .map_or(0, |place| place + 1);
    &form[..end]
}

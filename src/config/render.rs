//! A statement tree as text: the running configuration.
//!
//! The order is that of the stanzas, instances in order of entry, and the statements of a group
//! together (decisions 2). Reading the text back gives a tree that prints the same.

use std::borrow::Cow;
use std::fmt::Write as _;

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::cli::{matcher, words};
use crate::config::tree::{Block, Reading, Statement, Tree, Values};
use crate::grammar::expand::Token;
use crate::grammar::link::Kept;
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{Command, CommandId, Grammar, ModeId, Verb};
use crate::model::snapshot::Application;

/// Version of the software that a configuration without a `ver` line is printed with.
pub const SOFTWARE_VERSION: &str = "12.4.00T403";

/// How secrets are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// As they are stored: for the saved file.
    Stored,
    /// As five dots: for displays (decisions 1.8).
    Masked,
    /// Hashes as they are stored, all others as five dots: for displays that are told so.
    Hashed,
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
    let version = grammar.keeping(root, Kept::SoftwareVersion);
    let is_missing = version.filter(|version| tree.root.find(version, &Values::new()).is_none());
    // A configuration without the line gets one, and goes on as if it had been there.
    let begun = is_missing.map(|version| {
        let values = smallvec![(0, Value::Text(SOFTWARE_VERSION.into()))];
        let statement = Statement { command: version.id, negated: false, values, block: None };
        out.push_str(&line(grammar, &statement));
        out.push('\n');
        section_of(grammar, version.id)
    });
    let printer = Printer { grammar, secrets };
    printer.root_block(root, &tree.root, begun, &mut out);
    out.push_str("end\n");
    out
}

/// The lines of the outermost level that begin with a word, each with its block.
pub fn beginning_with(grammar: &Grammar, tree: &Tree, secrets: Secrets, word: &str) -> String {
    part(grammar, tree, secrets, |piece| {
        let first = match piece {
            Piece::Opaque(lines) => lines.first().map_or("", String::as_str),
            Piece::Statements(statements) => grammar.command(statements[0].command).syntax.as_str(),
        };
        let first = first.strip_prefix("[no] ").unwrap_or(first);
        first.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case(word))
    })
}

/// The lines of the context of that name; `None`: those of no context.
pub fn of_context(grammar: &Grammar, tree: &Tree, secrets: Secrets, name: Option<&str>) -> String {
    part(grammar, tree, secrets, |piece| {
        let Piece::Statements(statements) = piece else { return name.is_none() };
        let reading = Reading { grammar, statement: statements[0] };
        let context = (reading.kept() == Some(Kept::Context)).then(|| reading.text("name"));
        match (context.flatten(), name) {
            (Some(context), Some(name)) => context.eq_ignore_ascii_case(name),
            (context, name) => context.is_none() && name.is_none(),
        }
    })
}

fn part(
    grammar: &Grammar,
    tree: &Tree,
    secrets: Secrets,
    is_wanted: impl Fn(&Piece<'_>) -> bool,
) -> String {
    let mut out = String::new();
    if let Some(root) = grammar.root_mode() {
        let pieces = pieces(grammar, root, &tree.root).into_iter().filter(is_wanted);
        Printer { grammar, secrets }.root_pieces(pieces, None, &mut out);
    }
    out
}

/// The settings of the emulated world, one command a line.
pub fn world(grammar: &Grammar, tree: &Tree) -> String {
    let mut out = String::new();
    for statement in in_order(tree) {
        out.push_str(&line(grammar, statement));
        out.push('\n');
    }
    out
}

/// The statements of the emulated world, in the order in which they are printed.
pub fn in_order(tree: &Tree) -> Vec<&Statement> {
    let mut statements: Vec<&Statement> = tree.root.statements().collect();
    statements.sort_by_key(|statement| statement.command);
    statements
}

/// Prints statements of a grammar.
#[derive(Clone, Copy)]
struct Printer<'a> {
    grammar: &'a Grammar,
    secrets: Secrets,
}

impl Printer<'_> {
    /// The outermost block: `!` after every block and after each run of one-liners. `begun` is the
    /// section of a run that was begun already.
    fn root_block(&self, mode: ModeId, block: &Block, begun: Option<CommandId>, out: &mut String) {
        let pieces = pieces(self.grammar, mode, block).into_iter();
        self.root_pieces(pieces, begun, out);
    }

    /// The same for some of its pieces.
    fn root_pieces<'b>(
        &self,
        pieces: impl Iterator<Item = Piece<'b>>,
        begun: Option<CommandId>,
        out: &mut String,
    ) {
        let grammar = self.grammar;
        let mut in_run = begun.is_some();
        let mut last_kind: Option<CommandId> = begun;
        // What follows a verbatim block in a file is taken as a part of it, so these come last.
        let is_verbatim = |piece: &Piece<'_>| match piece {
            Piece::Statements(statements) => {
                let storage = grammar.command(statements[0].command).storage.as_ref();
                storage.is_some_and(|storage| storage.verbatim)
            }
            Piece::Opaque(_) => false,
        };
        let (last, first): (Vec<_>, Vec<_>) = pieces.partition(is_verbatim);
        for piece in first.into_iter().chain(last) {
            match piece {
                Piece::Opaque(lines) => {
                    // A line with others indented under it is a block of its own.
                    if lines.len() > 1 && in_run {
                        out.push_str("!\n");
                    }
                    for line in lines {
                        push_line(0, line, out);
                    }
                    in_run = lines.len() == 1;
                    if !in_run {
                        out.push_str("!\n");
                    }
                }
                Piece::Statements(statements) => {
                    let statement = statements[0];
                    let opens = statement.block.is_some();
                    let section = section_of(grammar, statement.command);
                    let new_run = last_kind.is_some_and(|known| known != section);
                    if in_run && (opens || new_run) {
                        out.push_str("!\n");
                    }
                    last_kind = Some(section);
                    self.statement_lines(&statements, 0, out);
                    // A text between delimiters is closed too: a line behind it could be its own.
                    let arguments = &grammar.command(statement.command).arguments;
                    let is_text = statement.values.iter().any(|(argument, _)| {
                        arguments[usize::from(*argument)].value_type == ValueType::Delimited
                    });
                    in_run = !opens && !is_text;
                    if !in_run {
                        out.push_str("!\n");
                    }
                }
            }
        }
        if in_run {
            out.push_str("!\n");
        }
    }

    /// Whether the secret of a command must not be shown.
    fn masks(&self, command: &Command) -> bool {
        let is_hashed = command.storage.as_ref().is_some_and(|storage| storage.hashed);
        match self.secrets {
            Secrets::Stored => false,
            Secrets::Masked => true,
            Secrets::Hashed => !is_hashed,
        }
    }

    /// The line of one statement or of several that stand on one line, and the block below it.
    fn statement_lines(&self, statements: &[&Statement], indent: usize, out: &mut String) {
        let grammar = self.grammar;
        let statement = statements[0];
        let command = grammar.command(statement.command);
        let mut line = self.line(statement);
        let each = command.storage.as_ref().map_or(&[][..], |storage| &storage.each);
        for entry in &statements[1..] {
            for argument in each {
                for value in entry.values_at(*argument) {
                    line.push(' ');
                    grammar.print_value(&command.arguments[*argument], value, &mut line);
                }
            }
        }
        push_line(indent, &line, out);
        let (Some(block), Verb::Open(mode)) = (&statement.block, &command.verb) else { return };
        for piece in pieces(grammar, *mode, block) {
            match piece {
                Piece::Statements(inner) => self.statement_lines(&inner, indent + 1, out),
                Piece::Opaque(lines) => {
                    let verbatim = command.storage.as_ref().is_some_and(|one| one.verbatim);
                    for line in lines {
                        push_line(if verbatim { 0 } else { indent + 1 }, line, out);
                    }
                }
            }
        }
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
                        if argument.is_secret() && self.masks(command) {
                            out.push_str(MASK);
                        } else {
                            grammar.print_value(argument, value, &mut out);
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
    /// One statement, or entries of a list that stand on one line.
    Statements(SmallVec<[&'a Statement; 1]>),
    Opaque(&'a [String]),
}

/// The statements of a block in the order in which they are printed, which is the order that they
/// have when the print is read back.
pub fn in_print_order<'a>(grammar: &Grammar, mode: ModeId, block: &'a Block) -> Vec<&'a Statement> {
    placed(grammar, mode, block).into_iter().map(|(_, statement)| statement).collect()
}

/// The statements of a block with their places, in that order.
fn placed<'a>(
    grammar: &Grammar,
    mode: ModeId,
    block: &'a Block,
) -> Vec<(PrintPlace, &'a Statement)> {
    let group_section = grammar.group_section(mode);
    let mut groups: HashMap<Cow<'a, str>, usize> = HashMap::new();
    let mut placed: Vec<(PrintPlace, &Statement)> = Vec::with_capacity(block.len());
    for (slot, statement) in block.numbered() {
        let command = grammar.command(statement.command);
        let group = command.storage.as_ref().and_then(|storage| storage.group);
        let place = match (group, group_section) {
            (Some(argument), Some(section)) => {
                let name = group_name(grammar, command, argument, statement);
                let next = groups.len();
                (section, *groups.entry(name).or_insert(next), command.id, slot)
            }
            _ => (command.id, 0, command.id, slot),
        };
        placed.push((place, statement));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed
}

/// The value that the statements of a group share, in lower case.
fn group_name<'a>(
    grammar: &Grammar,
    command: &Command,
    argument: usize,
    statement: &'a Statement,
) -> Cow<'a, str> {
    match statement.value_at(argument) {
        Some(Value::Text(text)) if !text.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Cow::Borrowed(text)
        }
        Some(value) => {
            let mut name = String::new();
            command.arguments[argument].value_type.print(&grammar.choices, value, &mut name);
            name.make_ascii_lowercase();
            Cow::Owned(name)
        }
        None => Cow::Borrowed(""),
    }
}

/// The parts of a block in the order in which they are printed.
fn pieces<'a>(grammar: &Grammar, mode: ModeId, block: &'a Block) -> Vec<Piece<'a>> {
    let ordered = placed(grammar, mode, block);
    // An opaque line stays behind the statement that it followed in the file.
    let mut followers: HashMap<usize, Vec<&[String]>> = HashMap::new();
    let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(ordered.len());
    if !block.opaque.is_empty() {
        let live: Vec<usize> = block.numbered().map(|(slot, _)| slot).collect();
        for opaque in &block.opaque {
            let before = live.partition_point(|slot| *slot < opaque.after);
            match before.checked_sub(1).map(|place| live[place]) {
                Some(slot) => {
                    let slot = added_slot(grammar, mode, block, slot).unwrap_or(slot);
                    followers.entry(slot).or_default().push(&opaque.lines);
                }
                None => pieces.push(Piece::Opaque(&opaque.lines)),
            }
        }
    }
    for (place, statement) in ordered {
        if !is_silent(grammar, statement) {
            match pieces.last_mut() {
                Some(Piece::Statements(line)) if shares_line(grammar, line, statement) => {
                    line.push(statement);
                }
                _ => pieces.push(Piece::Statements(smallvec![statement])),
            }
        }
        let behind = followers.remove(&place.3).unwrap_or_default();
        pieces.extend(behind.into_iter().map(Piece::Opaque));
    }
    pieces
}

/// The slot of the line that the device adds below the statement of a slot: nothing comes between
/// the two when the print is read back.
fn added_slot(grammar: &Grammar, mode: ModeId, block: &Block, slot: usize) -> Option<usize> {
    let (_, statement) = block.numbered().find(|(one, _)| *one == slot)?;
    let line = grammar.command(statement.command).storage.as_ref()?.adds.as_ref()?;
    let hit = matcher::match_in(grammar, mode, &words::split(line), line).ok()?;
    let added = block.find(grammar.command(hit.command), &hit.values)?;
    block.numbered().find(|(_, one)| std::ptr::eq(*one, added)).map(|(slot, _)| slot)
}

/// Whether a statement stands on the line of others: of the same list, with the same values before
/// the entry, and with room left.
fn shares_line(grammar: &Grammar, line: &[&Statement], statement: &Statement) -> bool {
    let first = line[0];
    let storage = grammar.command(statement.command).storage.as_ref();
    let Some(storage) = storage.filter(|_| first.command == statement.command) else {
        return false;
    };
    storage.pack.is_some_and(|most| line.len() < most)
        && storage
            .key
            .iter()
            .filter(|argument| !storage.each.contains(argument))
            .all(|argument| first.value_at(*argument) == statement.value_at(*argument))
}

fn push_line(indent: usize, line: &str, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(line);
    out.push('\n');
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

/// The name of a port, as configurations print it.
pub fn port_name(grammar: &Grammar, port: Application) -> String {
    let value = Value::Number(port.0.into());
    match grammar.choice_type(PORT_NAMES) {
        Some(names) => names.word_of(&value),
        None => port.0.to_string(),
    }
}

/// The type of the grammar that names ports.
const PORT_NAMES: &str = "port-name";

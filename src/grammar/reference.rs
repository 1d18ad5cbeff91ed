//! The command reference, made from the grammar: `grammar/REFERENCE.md` and `adxemu commands`.

use std::fmt::Write as _;

use crate::grammar::expand::Token;
use crate::grammar::link::Kept;
use crate::grammar::{Command, Grammar, Level, ModeId, Verb};

/// The reference as Markdown: counts by level of support, then a table for each level of the
/// command line, then the values that several commands share.
pub fn markdown(grammar: &Grammar) -> String {
    let mut out = String::from(HEAD);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "| level of support | commands | meaning |");
    let _ = writeln!(out, "| --- | --- | --- |");
    for level in LEVELS {
        let _ = writeln!(out, "| {level} | {} | {} |", count(grammar, level), meaning(level));
    }
    let _ = writeln!(out, "| all | {} | |", grammar.commands.len());
    let sections = sections(grammar);
    let _ = writeln!(out, "\n| commands of | prompt | modelled | kept | accepted |");
    let _ = writeln!(out, "| --- | --- | --- | --- | --- |");
    for section in &sections {
        let of = |level| section.commands.iter().filter(|one| one.level == level).count();
        let numbers = LEVELS.map(|level| of(level).to_string()).join(" | ");
        let _ = writeln!(out, "| {} | {} | {numbers} |", section.title, section.prompt);
    }
    for section in &sections {
        let _ = writeln!(out, "\n## {}\n", section.title);
        if !section.prompt.is_empty() {
            let _ = writeln!(out, "Prompt: {}\n", section.prompt);
        }
        let _ = writeln!(out, "| command | what it is | level | notes | evidence |");
        let _ = writeln!(out, "| --- | --- | --- | --- | --- |");
        for command in &section.commands {
            markdown_command(grammar, command, &mut out);
        }
    }
    out.push_str("\n## Values\n\n| type | values |\n| --- | --- |\n");
    for choice in &grammar.choices {
        let words = choice.words.iter().map(|word| match word.number {
            Some(number) => format!("`{}` ({number})", word.word),
            None => format!("`{}`", word.word),
        });
        let ranges = choice.ranges.iter().map(|(low, high, _)| {
            if low == high { low.to_string() } else { format!("{low} to {high}") }
        });
        let values = words.chain(ranges).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "| `{}` | {values} |", choice.name);
    }
    out
}

/// What stands at the top of the file.
const HEAD: &str = "# Commands

Made from the files of this folder; do not edit. `[x]` may be left out, `{a | b}` is a choice, `a/b` are two spellings,
`<name:type>` stands for a value: a range, a type of `README.md`, or one of the types under [Values](#values).
`[no]` in front: the command can be taken back.

";

const LEVELS: [Level; 3] = [Level::Modelled, Level::Kept, Level::Accepted];

/// The reference as plain text: a line for each command, with its level where it is not modelled.
pub fn text(grammar: &Grammar) -> String {
    let mut out = String::new();
    for level in LEVELS {
        let _ = writeln!(out, "{:>5} {level}: {}", count(grammar, level), meaning(level));
    }
    for section in sections(grammar) {
        let _ = writeln!(out, "\n{}", section.title);
        for command in section.commands {
            let level = match command.level {
                Level::Modelled => String::new(),
                other => format!("  ({other})"),
            };
            let _ = writeln!(out, "  {}{level}", command.syntax);
        }
    }
    out
}

/// How many commands have that level.
pub fn count(grammar: &Grammar, level: Level) -> usize {
    grammar.commands.iter().filter(|command| command.level == level).count()
}

fn meaning(level: Level) -> &'static str {
    match level {
        Level::Modelled => "changes what the emulator does or shows",
        Level::Kept => "stored, checked and printed, without effect so far",
        Level::Accepted => "swallowed",
    }
}

/// The commands that the same levels have.
struct Section<'a> {
    modes: Vec<ModeId>,
    title: String,
    /// The prompt, where it is that of one level.
    prompt: String,
    commands: Vec<&'a Command>,
}

/// Commands by the modes that have them, in the order of the stanzas.
fn sections(grammar: &Grammar) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for command in &grammar.commands {
        match sections.iter_mut().find(|section| section.modes == command.modes) {
            Some(section) => section.commands.push(command),
            None => sections.push(Section {
                modes: command.modes.clone(),
                title: title(grammar, &command.modes),
                prompt: match command.modes.as_slice() {
                    [mode] => prompt(grammar, *mode),
                    _ => String::new(),
                },
                commands: vec![command],
            }),
        }
    }
    sections
}

fn title(grammar: &Grammar, modes: &[ModeId]) -> String {
    if modes.len() == grammar.modes.len() {
        return "Every level".to_owned();
    }
    // A mode with everything below it is named once.
    let mut names = Vec::new();
    for mode in modes {
        let has_above = grammar.mode(*mode).parent.is_some_and(|above| modes.contains(&above));
        if has_above {
            continue;
        }
        let name = &grammar.mode(*mode).name;
        let below: Vec<usize> = (0..grammar.modes.len())
            .filter(|other| *other != mode.0 && grammar.is_within(ModeId(*other), *mode))
            .collect();
        let all_below = !below.is_empty() && below.iter().all(|one| modes.contains(&ModeId(*one)));
        names.push(if all_below { format!("{name} and below") } else { name.clone() });
    }
    names.join(", ")
}

fn markdown_command(grammar: &Grammar, command: &Command, out: &mut String) {
    let cells = [
        format!("`{}`", command.syntax),
        purpose(grammar, command),
        command.level.to_string(),
        notes(grammar, command).join("; "),
        command.evidence.clone().unwrap_or_default(),
    ];
    let row = cells.map(|cell| cell.replace('|', "\\|")).join(" | ");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "| {row} |");
}

/// The help text of the last word of a command, as `?` gives it; of the last value if it has no
/// word.
fn purpose(grammar: &Grammar, command: &Command) -> String {
    let form = &command.forms[0];
    let last = form.iter().rposition(|token| matches!(token, Token::Word(_)));
    let last = last.unwrap_or_else(|| form.len().saturating_sub(1));
    let places = grammar.trie(command.modes[0]).places_of(form, &command.arguments);
    let Some(place) = places.get(last) else { return String::new() };
    let node = grammar.trie(command.modes[0]).node(*place);
    let help = match &form[last] {
        Token::Word(spellings) => {
            let edge = node.words.iter().find(|edge| edge.spellings[0] == spellings[0]);
            edge.map(|edge| edge.help.as_str())
        }
        Token::Argument { argument, .. } => {
            let name = &command.arguments[*argument].name;
            node.arguments.iter().find(|edge| edge.name == *name).map(|edge| edge.help.as_str())
        }
    };
    help.unwrap_or_default().to_owned()
}

/// What the clauses of a command say of its use.
fn notes(grammar: &Grammar, command: &Command) -> Vec<String> {
    let mut notes = Vec::new();
    if let Verb::Open(mode) | Verb::Enter(mode) = &command.verb {
        notes.push(format!("leads to {}", prompt(grammar, *mode)));
    }
    let Some(storage) = &command.storage else { return notes };
    for (argument, value) in &storage.defaults {
        let argument = &command.arguments[*argument];
        let mut text = String::new();
        argument.value_type.print(&grammar.choices, value, &mut text);
        notes.push(format!("default of `<{}>`: {text}", argument.name));
    }
    if storage.default_on {
        notes.push("on by default".to_owned());
    }
    if storage.no_kept {
        notes.push("its `no` form is kept too".to_owned());
    }
    if storage.merge {
        notes.push("what is left out keeps its value".to_owned());
    }
    if !storage.each.is_empty() {
        notes.push("a list that grows".to_owned());
    }
    if let Some(most) = storage.at_most {
        notes.push(format!("at most {most}"));
    }
    if let Some(first) = &storage.first {
        let argument = &command.arguments[first.argument];
        let mut value = String::new();
        argument.value_type.print(&grammar.choices, &first.value, &mut value);
        notes.push(format!("the first one with `<{}>` {value}", argument.name));
    }
    let own_name = format!("`{}`", command.fixed_words());
    for kept in &storage.excludes {
        let name = name_of(grammar, command, *kept);
        let note = if name == own_name {
            "takes the place of its other forms".to_owned()
        } else {
            format!("excludes {name}")
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for need in &storage.needs {
        let name = need.kept.map(|kept| name_of(grammar, command, kept));
        notes.push(format!("needs {}", name.as_deref().unwrap_or("another line of its group")));
    }
    if let Some(line) = &storage.adds {
        notes.push(format!("brings `{line}`"));
    }
    if storage.world {
        notes.push("emulated world".to_owned());
    }
    notes
}

/// The words that a statement of the same level begins with.
fn name_of(grammar: &Grammar, command: &Command, kept: Kept) -> String {
    let other = command.modes.first().and_then(|mode| grammar.keeping(*mode, kept));
    other.map_or_else(String::new, |other| format!("`{}`", other.fixed_words()))
}

/// The prompt of a level, without the name of the device.
fn prompt(grammar: &Grammar, mode: ModeId) -> String {
    let prompt = &grammar.mode(mode).prompt;
    format!("`{}`", prompt.strip_prefix("{host}").unwrap_or(prompt))
}

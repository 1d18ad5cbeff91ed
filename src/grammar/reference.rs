//! The command reference, made from the grammar: `grammar/REFERENCE.md` and `adxemu commands`.

use std::fmt::Write as _;

use crate::grammar::value::ValueType;
use crate::grammar::{Command, Grammar, Level, ModeId};

/// The reference as Markdown.
pub fn markdown(grammar: &Grammar) -> String {
    let mut out =
        String::from("# Commands\n\nMade from the files of this folder; do not edit.\n\n");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "| level of support | commands | meaning |");
    let _ = writeln!(out, "| --- | --- | --- |");
    for level in [Level::Modelled, Level::Kept, Level::Accepted] {
        let _ = writeln!(out, "| {level} | {} | {} |", count(grammar, level), meaning(level));
    }
    let _ = writeln!(out, "| all | {} | |", grammar.commands.len());
    for (title, commands) in sections(grammar) {
        let _ = writeln!(out, "\n## {title}");
        for command in commands {
            markdown_command(grammar, command, &mut out);
        }
    }
    out
}

/// The reference as plain text: a line for each command, with its level where it is not modelled.
pub fn text(grammar: &Grammar) -> String {
    let mut out = String::new();
    for level in [Level::Modelled, Level::Kept, Level::Accepted] {
        let _ = writeln!(out, "{:>5} {level}: {}", count(grammar, level), meaning(level));
    }
    for (title, commands) in sections(grammar) {
        let _ = writeln!(out, "\n{title}");
        for command in commands {
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

/// Commands by the modes that have them, in the order of the stanzas.
fn sections(grammar: &Grammar) -> Vec<(String, Vec<&Command>)> {
    let mut sections: Vec<(Vec<ModeId>, Vec<&Command>)> = Vec::new();
    for command in &grammar.commands {
        match sections.iter_mut().find(|(modes, _)| *modes == command.modes) {
            Some((_, commands)) => commands.push(command),
            None => sections.push((command.modes.clone(), vec![command])),
        }
    }
    sections.into_iter().map(|(modes, commands)| (title(grammar, &modes), commands)).collect()
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
    let _ = writeln!(out, "\n### `{}`\n", command.syntax);
    let mut facts = vec![format!("level: {}", command.level)];
    if let Some(evidence) = &command.evidence {
        facts.push(format!("evidence: {evidence}"));
    }
    if let Some(storage) = &command.storage {
        for (argument, value) in &storage.defaults {
            let argument = &command.arguments[*argument];
            let mut text = String::new();
            argument.value_type.print(&grammar.choices, value, &mut text);
            facts.push(format!("default of `<{}>`: {text}", argument.name));
        }
        if storage.default_on {
            facts.push("on by default".to_owned());
        }
        if let Some(most) = storage.at_most {
            facts.push(format!("at most {most}"));
        }
        if storage.world {
            facts.push("emulated world".to_owned());
        }
    }
    let _ = writeln!(out, "{}", facts.join("; "));
    let rows = help_rows(grammar, command);
    if !rows.is_empty() {
        let _ = writeln!(out, "\n| word | meaning |\n| --- | --- |");
        for (token, help) in rows {
            let _ = writeln!(out, "| `{token}` | {help} |");
        }
    }
}

/// The words and values of a command with their help, as `?` gives it, ranges included.
fn help_rows(grammar: &Grammar, command: &Command) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = command.help.clone();
    for argument in &command.arguments {
        let token = format!("<{}>", argument.name);
        let text = rows.iter_mut().find(|(known, _)| *known == token);
        match (&argument.value_type, text) {
            (ValueType::Range(low, high), Some((_, help))) => {
                let _ = write!(help, " ({low} to {high})");
            }
            (ValueType::Choice(id), text) => {
                let choice = &grammar.choices[id.0];
                let words = choice.words.iter().map(|word| format!("`{}`", word.word));
                let ranges = choice.ranges.iter().map(|(low, high, _)| format!("{low} to {high}"));
                let values = words.chain(ranges).collect::<Vec<_>>().join(", ");
                match text {
                    Some((_, help)) => {
                        let _ = write!(help, ": {values}");
                    }
                    None => rows.push((token, values)),
                }
            }
            _ => {}
        }
    }
    rows
}

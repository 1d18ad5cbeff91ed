//! What only the whole grammar can show: whether its parts fit together.

use hashbrown::HashMap;

use crate::cli::words;
use crate::grammar::expand::Token;
use crate::grammar::link::Kept;
use crate::grammar::load::Result;
use crate::grammar::trie::{Draft, NodeId, Step};
use crate::grammar::value::ValueType;
use crate::grammar::{Argument, Claim, Command, CommandId, Grammar, Mode, ModeId, Storage, Verb};

/// Notes for each argument of free text where something else can stand in its place.
pub(super) fn find_rivals(grammar: &mut Grammar) {
    for command in &mut grammar.commands {
        for mode in &command.modes {
            let trie = &grammar.tries[mode.0];
            for form in &command.forms {
                let places = trie.places_of(form, &command.arguments);
                for (place, token) in places.into_iter().zip(form) {
                    let Token::Argument { argument, .. } = token else { continue };
                    let argument = &mut command.arguments[*argument];
                    let node = trie.node(place);
                    let is_alone = node.words.is_empty() && node.arguments.len() == 1;
                    let is_free = argument.value_type.is_free();
                    if is_free && !is_alone && !argument.value_type.takes_the_rest() {
                        argument.rivals.push((*mode, place));
                    }
                }
            }
        }
        for argument in &mut command.arguments {
            argument.rivals.dedup();
        }
    }
}

/// Which command adds lines of a name by itself. The added line must be one of a command that
/// keeps, in every mode of the command that adds it.
pub(super) fn adding(grammar: &Grammar) -> Result<HashMap<(ModeId, Kept), CommandId>> {
    let mut adding = HashMap::new();
    for command in &grammar.commands {
        let Some(line) = command.storage.as_ref().and_then(|storage| storage.adds.as_ref()) else {
            continue;
        };
        for mode in &command.modes {
            let kept = kept_by_added(grammar, command, line, *mode).ok_or_else(|| {
                let text =
                    format!("«{line}» is no line that is kept in {}", grammar.mode(*mode).name);
                command.position.fault(text)
            })?;
            // Otherwise the order of the added lines would depend on who typed them.
            let groups = |command: &Command| {
                command
                    .storage
                    .as_ref()
                    .is_some_and(|one| one.key.is_empty() || one.group.is_some())
            };
            if !groups(command) || !grammar.keeping(*mode, kept).is_some_and(groups) {
                let text = "`adds` is for `keep one` or for statements of one `group`";
                return Err(command.position.fault(text));
            }
            adding.insert((*mode, kept), command.id);
        }
    }
    Ok(adding)
}

/// The name of the statement that an added line is. What stands for an argument of the adding
/// command must be an argument of the same name and type there.
fn kept_by_added(grammar: &Grammar, command: &Command, line: &str, mode: ModeId) -> Option<Kept> {
    let words = words::split(line);
    let argument = |word: &str| {
        let name = word.strip_prefix('<')?.strip_suffix('>')?;
        command.arguments.iter().find(|argument| argument.name == name)
    };
    let mut place = NodeId::ROOT;
    for word in &words {
        let node = grammar.trie(mode).node(place);
        let is_place = word.text.starts_with('<') && word.text.ends_with('>');
        place = match argument(word.text) {
            None if is_place => return None,
            Some(argument) => {
                let edge = node.arguments.iter().find(|edge| {
                    edge.name == argument.name && edge.value_type == argument.value_type
                });
                edge?.target
            }
            None => {
                match grammar.trie(mode).step(place, word.text, word.quoted, &grammar.choices) {
                    Step::Word(target) | Step::Value(target, _) => target,
                    Step::Ambiguous(_) | Step::OutOfRange(..) | Step::Unknown => return None,
                }
            }
        };
    }
    let leaf = grammar.trie(mode).node(place).leaf?;
    let storage = grammar.command(leaf.command).storage.as_ref()?;
    (!leaf.negated).then_some(storage.kept)
}

/// What a statement needs or excludes must be kept in every mode that has its command.
pub(super) fn check_needs(
    command: &Command,
    by_kept: &HashMap<(ModeId, Kept), CommandId>,
) -> Result<()> {
    let Some(storage) = &command.storage else { return Ok(()) };
    if storage.needs.iter().any(|need| need.kept.is_none())
        && storage.group.is_none_or(|group| storage.key != [group])
    {
        // So that it is found by its key when the group goes.
        let text = "`needs group` is for a statement whose only key is its `group`";
        return Err(command.position.fault(text));
    }
    let needed = storage.needs.iter().filter_map(|need| need.kept);
    let apart = storage.differs.iter().flat_map(|one| one.from.iter().copied());
    for kept in needed.chain(storage.excludes.iter().copied()).chain(apart) {
        let missing = command.modes.iter().any(|mode| !by_kept.contains_key(&(*mode, kept)));
        if missing {
            let text = format!("{} is not kept in the modes of this command", kept.name());
            return Err(command.position.fault(text));
        }
    }
    Ok(())
}

/// The keys of statements that differ are made of the same arguments, and each says so of the
/// other, so that it does not matter who comes first.
pub(super) fn check_differs(
    command: &Command,
    commands: &[Command],
    by_kept: &HashMap<(ModeId, Kept), CommandId>,
) -> Result<()> {
    let Some(storage) = &command.storage else { return Ok(()) };
    let Some(difference) = &storage.differs else { return Ok(()) };
    let key_of = |command: &Command, storage: &Storage| -> Vec<(arcstr::ArcStr, ValueType)> {
        let arguments = storage.key.iter().map(|key| &command.arguments[*key]);
        arguments.map(|one| (one.name.clone(), one.value_type.clone())).collect()
    };
    for (mode, kept) in
        command.modes.iter().flat_map(|mode| difference.from.iter().map(move |kept| (*mode, *kept)))
    {
        let Some(other) = by_kept.get(&(mode, kept)).map(|other| &commands[other.index()]) else {
            continue;
        };
        let Some(theirs) = &other.storage else { continue };
        let says_so =
            theirs.differs.as_ref().is_some_and(|differs| differs.from.contains(&storage.kept));
        if !says_so || key_of(command, storage) != key_of(other, theirs) {
            let text = format!("{} has another key, or does not differ from this", kept.name());
            return Err(command.position.fault(text));
        }
    }
    Ok(())
}

/// Those that one may be the first of are counted.
pub(super) fn check_first(
    command: &Command,
    commands: &[Command],
    by_kept: &HashMap<(ModeId, Kept), CommandId>,
) -> Result<()> {
    let Some(storage) = command.storage.as_ref().filter(|one| one.first.is_some()) else {
        return Ok(());
    };
    let others = command
        .modes
        .iter()
        .flat_map(|mode| storage.excludes.iter().filter_map(|kept| by_kept.get(&(*mode, *kept))));
    let mut kinds = others.map(|other| &commands[other.index()]).chain(std::iter::once(command));
    let is_counted =
        |kind: &Command| kind.storage.as_ref().is_some_and(|storage| storage.at_most.is_some());
    if kinds.all(is_counted) {
        Ok(())
    } else {
        Err(command.position.fault("`first` needs `at-most` here and at all that it excludes"))
    }
}

/// The places of a message that a need says are filled with the arguments of the command.
pub(super) fn check_places(command: &Command, messages: &[Vec<String>]) -> Result<()> {
    for need in command.storage.iter().flat_map(|storage| &storage.needs) {
        for line in &messages[need.message as usize] {
            let places = line.split('{').skip(1).filter_map(|part| part.split_once('}'));
            for (place, _) in places {
                if command.argument(place).is_none() {
                    let name = need.message.name();
                    let text = format!(
                        "the message {name} has a place {{{place}}}, the syntax line no <{place}>"
                    );
                    return Err(command.position.fault(text));
                }
            }
        }
    }
    Ok(())
}

/// The places of a prompt are filled with the device's name, the keys of the statement, and what the
/// prompt above is filled with.
pub(super) fn check_prompt(command: &Command, modes: &[Mode]) -> Result<()> {
    let (mode, storage) = match (&command.verb, &command.storage) {
        (Verb::Open(mode), Some(storage)) => (&modes[mode.0], storage),
        _ => return Ok(()),
    };
    for (place, _) in mode.prompt.split('{').skip(1).filter_map(|part| part.split_once('}')) {
        let is_key = storage.key.iter().any(|key| command.arguments[*key].name == place);
        let is_outer = mode
            .parent
            .is_some_and(|parent| modes[parent.0].prompt.contains(&format!("{{{place}}}")));
        if place != "host" && !is_key && !is_outer {
            let text = format!(
                "the prompt of {} has a place {{{place}}}, the key no <{place}>",
                mode.name
            );
            return Err(command.position.fault(text));
        }
    }
    Ok(())
}

/// The domain name that statements of a command claim.
pub(super) fn claim_of(command: &Command) -> Option<&Claim> {
    command.storage.as_ref()?.claim.as_ref()
}

/// What a claimed name is made of stands in the line or in the line above its block.
pub(super) fn check_claim(command: &Command, all: &[Command], modes: &[Mode]) -> Result<()> {
    let Some(claim) = claim_of(command) else { return Ok(()) };
    if claim.below {
        // So that it is found by its key.
        let is_key = command.storage.as_ref().is_some_and(|storage| {
            let key: Vec<&str> =
                storage.key.iter().map(|key| command.arguments[*key].name.as_str()).collect();
            key == claim.parts
        });
        let is_at_root = command.modes.iter().all(|mode| modes[mode.0].root);
        if !is_key || !is_at_root || claim.parts.len() != 1 {
            let text = "`claims below` takes the only key of a command of the root mode";
            return Err(command.position.fault(text));
        }
    }
    let openers = |mode: ModeId| all.iter().filter(move |one| one.verb == Verb::Open(mode));
    for part in &claim.parts {
        let in_opener = command.modes.iter().all(|mode| {
            let mut openers = openers(*mode).peekable();
            openers.peek().is_some() && openers.all(|opener| opener.argument(part).is_some())
        });
        if command.argument(part).is_none() && !in_opener {
            let text = format!("neither the syntax line nor the one above has <{part}>");
            return Err(command.position.fault(text));
        }
    }
    Ok(())
}

/// What a command gives to the statement that opened its block is an argument of that, and no key.
pub(super) fn check_alter(command: &Command, all: &[Command]) -> Result<()> {
    if !matches!(command.verb, Verb::Alter(_)) {
        return Ok(());
    }
    for mode in &command.modes {
        let mut openers = all.iter().filter(|one| one.verb == Verb::Open(*mode)).peekable();
        if openers.peek().is_none() {
            return Err(command.position.fault("no statement opens the block of `alter`"));
        }
        for opener in openers {
            let is_key =
                |place| opener.storage.as_ref().is_some_and(|storage| storage.key.contains(&place));
            let altered = |argument: &&Argument| {
                let place = opener.argument(&argument.name).filter(|place| !is_key(*place));
                place.is_some_and(|one| opener.arguments[one].value_type == argument.value_type)
            };
            if command.arguments.iter().filter(altered).count() != command.arguments.len() {
                let text = format!("`{}` has no such argument, or it is a key", opener.syntax);
                return Err(command.position.fault(text));
            }
        }
    }
    Ok(())
}

pub(super) fn check_help(draft: &Draft, commands: &[Command]) -> Result<()> {
    for node in draft.nodes() {
        for edge in &node.words {
            if edge.help.is_empty() {
                let position = &commands[edge.command.index()].position;
                return Err(position.fault(format!("no help text for {}", edge.spellings[0])));
            }
        }
        for edge in &node.arguments {
            let needs_text = !matches!(edge.value_type, ValueType::Choice(_));
            if needs_text && edge.help.is_empty() {
                let position = &commands[edge.command.index()].position;
                return Err(position.fault(format!("no help text for <{}>", edge.name)));
            }
        }
    }
    Ok(())
}

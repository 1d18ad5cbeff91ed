//! Stanzas to a grammar: names resolved, rules checked, tries built.

use hashbrown::HashMap;

use crate::grammar::expand::{self, Token};
use crate::grammar::link::{self, Action, Kept, Message, Report};
use crate::grammar::notation::{
    self, ChoiceValue, Clause, ClearTarget, CommandStanza, Entry, Item, ModeStanza, Position,
    SectionMode, TypeName, TypeStanza,
};
use crate::grammar::trie::{Conflict, Trie};
use crate::grammar::value::{ChoiceType, ChoiceWord, Fit, TypeId, Value, ValueType};
use crate::grammar::{
    Above, Argument, Claim, Command, CommandId, FormId, Grammar, GrammarError, Level, Mode, ModeId,
    Most, Need, Privilege, Rejection, Storage, Target, Verb,
};

type Result<T> = std::result::Result<T, GrammarError>;

/// Loads a grammar; see [`Grammar::load`].
pub(super) fn load<N: AsRef<str>, T: AsRef<str>>(files: &[(N, T)]) -> Result<Grammar> {
    let mut loader = Loader::default();
    let mut stanzas: Vec<(CommandStanza, Vec<ModeId>)> = Vec::new();
    let mut entries = Vec::new();
    for (name, text) in files {
        entries.push(notation::parse(name.as_ref(), text.as_ref())?);
    }
    for entry in entries.iter().flatten() {
        match entry {
            Entry::Type(stanza) => loader.add_type(stanza)?,
            Entry::Mode(stanza) => loader.add_mode(stanza)?,
            Entry::Message(stanza) => {
                let known = Message::from_name(&stanza.name).ok_or_else(|| {
                    stanza.position.error(9, format!("no message is called {}", stanza.name))
                })?;
                if loader.messages.insert(known, stanza.lines.clone()).is_some() {
                    let text = format!("a second message {}", stanza.name);
                    return Err(stanza.position.error(9, text));
                }
            }
            Entry::Section(_) | Entry::Command(_) => {}
        }
    }
    loader.link_parents(&entries)?;
    for file in &entries {
        let mut section: Option<Vec<ModeId>> = None;
        for entry in file {
            match entry {
                Entry::Section(modes) => section = Some(loader.section(modes)?),
                Entry::Command(stanza) => {
                    let modes = section.clone().ok_or_else(|| {
                        stanza.position.error(1, "a command before the first `in` line")
                    })?;
                    stanzas.push((stanza.clone(), modes));
                }
                Entry::Type(_) | Entry::Mode(_) | Entry::Message(_) => {}
            }
        }
    }
    loader.commands(&stanzas)?;
    loader.finish()
}

#[derive(Default)]
struct Loader {
    choices: Vec<ChoiceType>,
    modes: Vec<Mode>,
    commands: Vec<Command>,
    messages: HashMap<Message, Vec<String>>,
    references: Vec<Kept>,
}

impl Loader {
    fn add_type(&mut self, stanza: &TypeStanza) -> Result<()> {
        if self.choices.iter().any(|known| known.name == stanza.name) {
            return Err(stanza.position.error(6, format!("a second type {}", stanza.name)));
        }
        if stanza.values.is_empty() {
            return Err(stanza.position.error(6, "a type without values"));
        }
        let mut words: Vec<ChoiceWord> = Vec::new();
        let mut ranges = Vec::new();
        for line in &stanza.values {
            match &line.value {
                ChoiceValue::Word(word, number) => {
                    if words.iter().any(|known| known.word == *word) {
                        return Err(line.position.error(5, format!("{word} stands here twice")));
                    }
                    words.push(ChoiceWord {
                        word: word.clone(),
                        number: *number,
                        help: line.help.clone(),
                    });
                }
                ChoiceValue::Range(low, high) => {
                    ranges.push((*low, *high, line.help.clone()));
                }
            }
        }
        if let Some(linked) = &stanza.linked {
            let names = link::linked_enum(linked)
                .ok_or_else(|| stanza.position.error(6, format!("no enum is called {linked}")))?;
            let unknown = words.iter().find(|word| !names.contains(&word.word.as_str()));
            if let Some(word) = unknown {
                let text = format!("{linked} has no {}", word.word);
                return Err(stanza.position.error(6, text));
            }
            let missing = names.iter().find(|name| !words.iter().any(|word| word.word == **name));
            if let Some(name) = missing {
                return Err(stanza
                    .position
                    .error(6, format!("{linked} has {name}, the type has not")));
            }
        }
        self.choices.push(ChoiceType { name: stanza.name.clone(), words, ranges });
        Ok(())
    }

    fn add_mode(&mut self, stanza: &ModeStanza) -> Result<()> {
        if self.modes.iter().any(|known| known.name == stanza.name) {
            return Err(stanza.position.error(6, format!("a second mode {}", stanza.name)));
        }
        self.modes.push(Mode {
            name: stanza.name.clone(),
            prompt: stanza.prompt.clone(),
            parent: None,
            root: stanza.root,
        });
        Ok(())
    }

    /// Parents may be named before they are declared, so they are linked after all modes are known.
    fn link_parents(&mut self, entries: &[Vec<Entry>]) -> Result<()> {
        for entry in entries.iter().flatten() {
            let Entry::Mode(stanza) = entry else { continue };
            let Some(parent) = &stanza.parent else { continue };
            let parent_id = self.mode(parent, &stanza.position)?;
            let id = self.mode(&stanza.name, &stanza.position)?;
            let mut above = Some(parent_id);
            while let Some(mode) = above {
                if mode == id {
                    return Err(stanza.position.error(6, "a mode cannot lie in itself"));
                }
                above = self.modes[mode.0].parent;
            }
            self.modes[id.0].parent = Some(parent_id);
        }
        Ok(())
    }

    fn mode(&self, name: &str, position: &Position) -> Result<ModeId> {
        self.modes
            .iter()
            .position(|mode| mode.name == name)
            .map(ModeId)
            .ok_or_else(|| position.error(1, format!("no mode is called {name}")))
    }

    fn section(&self, modes: &[SectionMode]) -> Result<Vec<ModeId>> {
        let mut section = Vec::new();
        for mode in modes {
            if mode.name.is_empty() {
                section.extend((0..self.modes.len()).map(ModeId));
                continue;
            }
            let id = self.mode(&mode.name, &mode.position)?;
            section.push(id);
            if mode.below {
                let below = (0..self.modes.len()).map(ModeId).filter(|one| self.lies_in(*one, id));
                section.extend(below);
            }
        }
        section.sort_unstable();
        section.dedup();
        Ok(section)
    }

    fn lies_in(&self, mode: ModeId, ancestor: ModeId) -> bool {
        let mut place = self.modes[mode.0].parent;
        while let Some(mode) = place {
            if mode == ancestor {
                return true;
            }
            place = self.modes[mode.0].parent;
        }
        false
    }

    fn commands(&mut self, stanzas: &[(CommandStanza, Vec<ModeId>)]) -> Result<()> {
        // Two passes: the type of a `ref` is the type of a key of another command.
        let mut keys: HashMap<Kept, (String, TypeName, Position)> = HashMap::new();
        for (stanza, _) in stanzas {
            if let Some((kept, name)) = last_key(stanza)?
                && let Some(kind) = kind_of(&stanza.items, &name)
            {
                keys.entry(kept).or_insert((name, kind, stanza.position.clone()));
            }
        }
        for (index, (stanza, modes)) in stanzas.iter().enumerate() {
            let command = self.command(CommandId(index), stanza, modes, &keys)?;
            self.commands.push(command);
        }
        Ok(())
    }

    fn command(
        &mut self,
        id: CommandId,
        stanza: &CommandStanza,
        modes: &[ModeId],
        keys: &HashMap<Kept, (String, TypeName, Position)>,
    ) -> Result<Command> {
        let mut arguments: Vec<Argument> = Vec::new();
        self.collect_arguments(&stanza.items, stanza, keys, &mut arguments)?;
        let place = |name: &str| {
            arguments.iter().position(|argument| argument.name == name).unwrap_or_default()
        };
        let mut forms = expand::forms(stanza, &stanza.items, &place)?;
        let printed_forms = forms.len();
        for (clause, position) in &stanza.clauses {
            let Clause::Also(syntax, items) = clause else { continue };
            let mut more = arguments.clone();
            self.collect_arguments(items, stanza, keys, &mut more)?;
            if more.len() > arguments.len() {
                return Err(position.error(1, format!("«{syntax}» has other arguments")));
            }
            forms.extend(expand::forms(stanza, items, &place)?);
        }
        check_help_tokens(stanza, &forms, &arguments)?;
        let help = stanza.help.iter().map(|line| (line.token.clone(), line.text.clone())).collect();
        let clauses = Clauses { stanza, arguments: &arguments, loader: self };
        let verb = clauses.verb()?;
        let storage = clauses.storage(&verb)?;
        let level = clauses.level()?;
        let privilege = clauses.privilege(&verb)?;
        let evidence = stanza.clauses.iter().find_map(|(clause, _)| match clause {
            Clause::From(text) => Some(text.clone()),
            _ => None,
        });
        let hidden = stanza.clauses.iter().any(|(clause, _)| *clause == Clause::Hidden);
        if storage.is_some() && matches!(verb, Verb::Keep | Verb::Open(_)) {
            check_forms_differ(stanza, &forms[..printed_forms])?;
        } else if stanza.negatable {
            return Err(stanza.position.error(1, "only a command that keeps can have `[no]`"));
        }
        Ok(Command {
            id,
            syntax: stanza.text.clone(),
            position: stanza.position.clone(),
            modes: modes.to_vec(),
            negatable: stanza.negatable,
            arguments,
            forms,
            printed_forms,
            verb,
            storage,
            level,
            privilege,
            evidence,
            hidden,
            help,
        })
    }

    fn collect_arguments(
        &mut self,
        items: &[Item],
        stanza: &CommandStanza,
        keys: &HashMap<Kept, (String, TypeName, Position)>,
        arguments: &mut Vec<Argument>,
    ) -> Result<()> {
        for item in items {
            match item {
                Item::Word(_) => {}
                Item::Argument { name, kind, repeated } => {
                    let value_type = self.value_type(kind, stanza, keys, 0)?;
                    match arguments.iter_mut().find(|known| known.name == *name) {
                        Some(known) if known.value_type == value_type => known.repeated |= repeated,
                        Some(_) => {
                            let text = format!("<{name}> stands here with two types");
                            return Err(stanza.position.error(1, text));
                        }
                        None => arguments.push(Argument {
                            name: name.clone(),
                            value_type,
                            repeated: *repeated,
                        }),
                    }
                }
                Item::Optional(branches) | Item::Choice(branches) => {
                    for branch in branches {
                        self.collect_arguments(branch, stanza, keys, arguments)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn value_type(
        &mut self,
        kind: &TypeName,
        stanza: &CommandStanza,
        keys: &HashMap<Kept, (String, TypeName, Position)>,
        depth: usize,
    ) -> Result<ValueType> {
        let wrong = |text: String| stanza.position.error(1, text);
        Ok(match kind {
            TypeName::Range(low, high) if low > high => {
                return Err(wrong(format!("{low} is above {high}")));
            }
            TypeName::Range(low, high) => ValueType::Range(*low, *high),
            TypeName::Sized(name, size) => {
                let size = usize::try_from(*size).unwrap_or(usize::MAX);
                match name.as_str() {
                    "word" => ValueType::Word(size),
                    "name" => ValueType::Name(size),
                    "domain" => ValueType::Domain(size),
                    "label" => ValueType::Label(size),
                    "ipv4-prefix" if size <= 32 => {
                        ValueType::Ipv4Prefix(u8::try_from(size).unwrap_or(32))
                    }
                    other => return Err(wrong(format!("{other} takes no size"))),
                }
            }
            TypeName::Reference(name) => {
                let kept = Kept::from_name(name)
                    .ok_or_else(|| wrong(format!("no statement is called {name}")))?;
                let (_, kind, _) = keys
                    .get(&kept)
                    .ok_or_else(|| wrong(format!("{name} has no key that could be referred to")))?;
                if depth > 4 {
                    return Err(wrong(format!("`ref {name}` refers to itself")));
                }
                let base = self.value_type(&kind.clone(), stanza, keys, depth + 1)?;
                if !self.references.contains(&kept) {
                    self.references.push(kept);
                }
                ValueType::Reference(kept, Box::new(base))
            }
            TypeName::Named(name) => match name.as_str() {
                "ip" => ValueType::Address,
                "ipv4" => ValueType::Ipv4,
                "ipv6" => ValueType::Ipv6,
                "prefix" => ValueType::Prefix,
                "mask" => ValueType::Mask,
                "decimal" => ValueType::Decimal,
                "quoted" => ValueType::Quoted,
                "line" => ValueType::Line,
                "delimited" => ValueType::Delimited,
                "host-port" => ValueType::HostPort,
                other => {
                    let id = self.choices.iter().position(|choice| choice.name == other);
                    let id = id.ok_or_else(|| wrong(format!("no type is called {other}")))?;
                    ValueType::Choice(TypeId(id))
                }
            },
        })
    }

    /// Builds the tries and checks what only the whole can show.
    fn finish(self) -> Result<Grammar> {
        let beginning = Position { file: "messages".to_owned(), line: 1 };
        let mut messages = Vec::new();
        for message in Message::ALL {
            let lines = self.messages.get(message);
            let text = || format!("the message {} is missing", message.name());
            messages.push(lines.ok_or_else(|| beginning.error(1, text()))?.clone());
        }
        let no_help = messages[Message::HelpNo as usize].join(" ");
        let mut tries: Vec<Trie> = self.modes.iter().map(|_| Trie::new()).collect();
        for command in &self.commands {
            for mode in &command.modes {
                insert(&mut tries[mode.0], command, &no_help, &self.commands)?;
            }
        }
        for trie in &tries {
            check_help(trie, &self.commands)?;
        }
        for kept in Kept::ALL {
            let known = self
                .commands
                .iter()
                .any(|command| command.storage.as_ref().is_some_and(|one| one.kept == *kept));
            if !known && self.commands.len() > COMMANDS_OF_A_WHOLE_GRAMMAR {
                let text = format!("no command keeps {}", kept.name());
                return Err(beginning.error(1, text));
            }
        }
        let mut by_kept = HashMap::new();
        let mut dependents: HashMap<(ModeId, Kept), Vec<CommandId>> = HashMap::new();
        let mut group_section = HashMap::new();
        for command in &self.commands {
            let Some(storage) = &command.storage else { continue };
            for mode in &command.modes {
                if let Some(other) = by_kept.insert((*mode, storage.kept), command.id) {
                    let other = &self.commands[other.0].position;
                    let name = storage.kept.name();
                    let text =
                        format!("{}:{} keeps {name} in the same mode", other.file, other.line);
                    return Err(command.position.error(1, text));
                }
                for need in storage.needs.iter().filter(|need| need.under) {
                    if let Some(kept) = need.kept {
                        dependents.entry((*mode, kept)).or_default().push(command.id);
                    }
                }
                if storage.group.is_some() {
                    group_section.entry(*mode).or_insert(command.id);
                }
            }
        }
        for command in &self.commands {
            check_needs(command, &by_kept)?;
            check_claim(command, &self.commands, &self.modes)?;
        }
        let wide_claims =
            self.commands.iter().filter(|one| claim_of(one).is_some_and(|one| one.below));
        let wide_claims = wide_claims.map(|command| command.id).collect();
        Ok(Grammar {
            choices: self.choices,
            modes: self.modes,
            commands: self.commands,
            tries,
            messages,
            references: self.references,
            by_kept,
            dependents,
            group_section,
            wide_claims,
        })
    }
}

/// What a statement needs or excludes must be kept in every mode that has its command.
fn check_needs(command: &Command, by_kept: &HashMap<(ModeId, Kept), CommandId>) -> Result<()> {
    let Some(storage) = &command.storage else { return Ok(()) };
    let needed = storage.needs.iter().filter_map(|need| need.kept);
    for kept in needed.chain(storage.excludes.iter().copied()) {
        let missing = command.modes.iter().any(|mode| !by_kept.contains_key(&(*mode, kept)));
        if missing {
            let text = format!("{} is not kept in the modes of this command", kept.name());
            return Err(command.position.error(1, text));
        }
    }
    Ok(())
}

fn claim_of(command: &Command) -> Option<&Claim> {
    command.storage.as_ref()?.claim.as_ref()
}

/// What a claimed name is made of stands in the line or in the line above its block.
fn check_claim(command: &Command, all: &[Command], modes: &[Mode]) -> Result<()> {
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
            return Err(command.position.error(1, text));
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
            return Err(command.position.error(1, text));
        }
    }
    Ok(())
}

/// A grammar of so few commands is a test's, which need not have every statement.
const COMMANDS_OF_A_WHOLE_GRAMMAR: usize = 50;

fn insert(trie: &mut Trie, command: &Command, no_help: &str, all: &[Command]) -> Result<()> {
    let say = |conflict: Conflict| {
        let text = match conflict {
            Conflict::Same(other) => {
                let other = &all[other.0];
                format!(
                    "written like {} ({}:{})",
                    other.syntax, other.position.file, other.position.line
                )
            }
            Conflict::Arguments(one, other) => {
                format!("<{one}> and <{other}> stand at one place and cannot be told apart")
            }
            Conflict::Help(token, one, other) => {
                format!("two help texts for {token}: «{one}» and «{other}»")
            }
        };
        command.position.error(1, text)
    };
    for (index, form) in command.forms.iter().enumerate() {
        trie.insert(command, FormId(index), form, None).map_err(say)?;
        if !command.negatable {
            continue;
        }
        let key = command.storage.as_ref().map_or(&[][..], |storage| storage.key.as_slice());
        let last = form.iter().rposition(|token| match token {
            Token::Word(_) => true,
            Token::Argument { argument, .. } => key.contains(argument),
        });
        for length in last.map_or(1, |place| place + 1)..=form.len() {
            trie.insert(command, FormId(index), &form[..length], Some(no_help)).map_err(say)?;
        }
    }
    Ok(())
}

fn check_help(trie: &Trie, commands: &[Command]) -> Result<()> {
    for node in trie.nodes() {
        for edge in &node.words {
            if edge.help.is_empty() {
                let position = &commands[edge.command.0].position;
                return Err(position.error(1, format!("no help text for {}", edge.spellings[0])));
            }
        }
        for edge in &node.arguments {
            let needs_text = !matches!(edge.value_type, ValueType::Choice(_));
            if needs_text && edge.help.is_empty() {
                let position = &commands[edge.command.0].position;
                return Err(position.error(1, format!("no help text for <{}>", edge.name)));
            }
        }
    }
    Ok(())
}

fn check_help_tokens(
    stanza: &CommandStanza,
    forms: &[expand::Form],
    arguments: &[Argument],
) -> Result<()> {
    for line in &stanza.help {
        let known = forms.iter().flatten().any(|token| match token {
            Token::Word(spellings) => spellings[0] == line.token,
            Token::Argument { argument, .. } => {
                line.token == format!("<{}>", arguments[*argument].name)
            }
        });
        if !known {
            let text = format!("the syntax line has no {}", line.token);
            return Err(line.position.error(5, text));
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for line in &stanza.help {
        if seen.contains(&line.token.as_str()) {
            return Err(line.position.error(5, format!("a second help text for {}", line.token)));
        }
        seen.push(&line.token);
    }
    Ok(())
}

/// Only values are kept, so two forms with the same values would print alike.
fn check_forms_differ(stanza: &CommandStanza, forms: &[expand::Form]) -> Result<()> {
    let mut seen: Vec<Vec<usize>> = Vec::new();
    for form in forms {
        let mut values: Vec<usize> = form
            .iter()
            .filter_map(|token| match token {
                Token::Argument { argument, .. } => Some(*argument),
                Token::Word(_) => None,
            })
            .collect();
        values.sort_unstable();
        if seen.contains(&values) {
            let text = "two forms hold the same values; make the word a value of a choice type";
            return Err(stanza.position.error(1, text));
        }
        seen.push(values);
    }
    Ok(())
}

fn kind_of(items: &[Item], wanted: &str) -> Option<TypeName> {
    items.iter().find_map(|item| match item {
        Item::Word(_) => None,
        Item::Argument { name, kind, .. } => (name == wanted).then(|| kind.clone()),
        Item::Optional(branches) | Item::Choice(branches) => {
            branches.iter().find_map(|branch| kind_of(branch, wanted))
        }
    })
}

/// Name of the statement and of its last key argument, for a stanza that has both.
fn last_key(stanza: &CommandStanza) -> Result<Option<(Kept, String)>> {
    let mut kept = None;
    let mut key = None;
    for (clause, position) in &stanza.clauses {
        match clause {
            Clause::As(name) => kept = Some(kept_named(name, position)?),
            Clause::KeepPer(keys) | Clause::Open { key: keys, .. } => key = keys.last().cloned(),
            Clause::KeepEach(name) => key = Some(name.clone()),
            _ => {}
        }
    }
    Ok(kept.zip(key))
}

fn kept_named(name: &str, position: &Position) -> Result<Kept> {
    Kept::from_name(name).ok_or_else(|| position.error(1, format!("no statement is called {name}")))
}

fn message_named(name: &str, position: &Position) -> Result<Message> {
    Message::from_name(name)
        .ok_or_else(|| position.error(1, format!("no message is called {name}")))
}

/// The clauses of one stanza.
struct Clauses<'a> {
    stanza: &'a CommandStanza,
    arguments: &'a [Argument],
    loader: &'a Loader,
}

impl Clauses<'_> {
    fn argument(&self, name: &str, position: &Position) -> Result<usize> {
        self.arguments
            .iter()
            .position(|argument| argument.name == name)
            .ok_or_else(|| position.error(1, format!("the syntax line has no <{name}>")))
    }

    fn arguments(&self, names: &[String], position: &Position) -> Result<Vec<usize>> {
        names.iter().map(|name| self.argument(name, position)).collect()
    }

    fn value(&self, argument: usize, text: &str, position: &Position) -> Result<Value> {
        match self.arguments[argument].value_type.fit(&self.loader.choices, text, false) {
            Fit::Exact(value) | Fit::Typed(value) | Fit::Free(value) => Ok(value),
            Fit::Beginnings(_) | Fit::OutOfRange(..) | Fit::No => {
                let name = &self.arguments[argument].name;
                Err(position.error(1, format!("{text} is no value of <{name}>")))
            }
        }
    }

    fn verb(&self) -> Result<Verb> {
        let mut verb = None;
        for (clause, position) in &self.stanza.clauses {
            let found = match clause {
                Clause::KeepOne | Clause::KeepPer(_) | Clause::KeepEach(_) => Verb::Keep,
                Clause::Open { mode, .. } => Verb::Open(self.loader.mode(mode, position)?),
                Clause::Enter(mode) => Verb::Enter(self.loader.mode(mode, position)?),
                Clause::Leave => Verb::Leave,
                Clause::End => Verb::End,
                Clause::Show(name) => Verb::Show(
                    Report::from_name(name)
                        .ok_or_else(|| position.error(1, format!("no report is called {name}")))?,
                ),
                Clause::Do(name) => Verb::Do(
                    Action::from_name(name)
                        .ok_or_else(|| position.error(1, format!("no action is called {name}")))?,
                ),
                Clause::Clear(targets) => Verb::Clear(self.targets(targets, position)?),
                _ => continue,
            };
            if verb.replace(found).is_some() {
                return Err(position.error(1, "a second verb"));
            }
        }
        // What is only swallowed does nothing.
        let swallowed = self.level()? == Level::Accepted;
        verb.or(swallowed.then_some(Verb::Accept))
            .ok_or_else(|| self.stanza.position.error(1, "a command without a verb"))
    }

    fn targets(&self, targets: &[ClearTarget], position: &Position) -> Result<Vec<Target>> {
        targets
            .iter()
            .map(|target| {
                Ok(match target {
                    ClearTarget::Name(name) => Target::Name(kept_named(name, position)?),
                    ClearTarget::Negated(name) => Target::Negated(kept_named(name, position)?),
                    ClearTarget::Group(name) => Target::Group(self.argument(name, position)?),
                    ClearTarget::With(name, with) => {
                        Target::With(kept_named(name, position)?, self.arguments(with, position)?)
                    }
                })
            })
            .collect()
    }

    fn level(&self) -> Result<Level> {
        for (clause, position) in &self.stanza.clauses {
            if let Clause::Level(name) = clause {
                return match name.as_str() {
                    "modelled" => Ok(Level::Modelled),
                    "kept" => Ok(Level::Kept),
                    "accepted" => Ok(Level::Accepted),
                    other => Err(position.error(1, format!("no level is called {other}"))),
                };
            }
        }
        Ok(Level::Modelled)
    }

    /// Who may use the command: everybody what only looks and moves, else super-users.
    fn privilege(&self, verb: &Verb) -> Result<Privilege> {
        for (clause, position) in &self.stanza.clauses {
            if let Clause::Privilege(number) = clause {
                return Privilege::from_number(*number)
                    .ok_or_else(|| position.error(1, format!("no privilege {number}")));
            }
        }
        Ok(match verb {
            Verb::Show(_) | Verb::Enter(_) | Verb::Leave | Verb::End => Privilege::Read,
            _ => Privilege::Full,
        })
    }

    fn storage(&self, verb: &Verb) -> Result<Option<Storage>> {
        let keeps = matches!(verb, Verb::Keep | Verb::Open(_));
        let name = self.stanza.clauses.iter().find_map(|(clause, position)| match clause {
            Clause::As(name) => Some((name, position)),
            _ => None,
        });
        let Some((name, position)) = name else {
            return if keeps {
                Err(self.stanza.position.error(1, "a command that keeps needs `as NAME`"))
            } else {
                self.no_attributes()
            };
        };
        if !keeps {
            return Err(position.error(1, "`as` is for commands that keep"));
        }
        let mut storage = Storage {
            kept: kept_named(name, position)?,
            key: Vec::new(),
            each: false,
            world: false,
            group: None,
            defaults: Vec::new(),
            default_on: false,
            no_kept: false,
            merge: false,
            at_most: None,
            unique: None,
            most: None,
            claim: None,
            excludes: Vec::new(),
            needs: Vec::new(),
            rejects: Vec::new(),
            above: Vec::new(),
            again: false,
            in_use: None,
            pack: None,
            adds: None,
            verbatim: false,
            hashed: false,
        };
        for (clause, position) in &self.stanza.clauses {
            self.attribute(&mut storage, clause, position)?;
        }
        if storage.each && !storage.key.last().is_some_and(|key| self.arguments[*key].repeated) {
            return Err(self.stanza.position.error(1, "`keep each` needs an argument with `...`"));
        }
        Ok(Some(storage))
    }

    fn attribute(&self, storage: &mut Storage, clause: &Clause, position: &Position) -> Result<()> {
        match clause {
            Clause::KeepPer(names) | Clause::Open { key: names, .. } => {
                storage.key = self.arguments(names, position)?;
            }
            Clause::KeepEach(name) => {
                storage.key = vec![self.argument(name, position)?];
                storage.each = true;
            }
            Clause::World => storage.world = true,
            Clause::Group(name) => storage.group = Some(self.argument(name, position)?),
            Clause::Default(name, text) => {
                let argument = self.argument(name, position)?;
                storage.defaults.push((argument, self.value(argument, text, position)?));
            }
            Clause::DefaultOn => storage.default_on = true,
            Clause::NoKept => storage.no_kept = true,
            Clause::Merge => storage.merge = true,
            Clause::Hashed => storage.hashed = true,
            Clause::AtMost(most) => storage.at_most = Some(*most),
            Clause::Unique(name) => storage.unique = Some(self.argument(name, position)?),
            Clause::Most { argument, most, message } => {
                storage.most = Some(Most {
                    argument: self.argument(argument, position)?,
                    most: *most,
                    message: message_named(message, position)?,
                });
            }
            Clause::Claims { below, parts, message } => {
                storage.claim = Some(Claim {
                    below: *below,
                    parts: parts.clone(),
                    message: message_named(message, position)?,
                });
            }
            Clause::Excludes(names) => {
                for name in names {
                    storage.excludes.push(kept_named(name, position)?);
                }
            }
            Clause::Needs { name, message } => storage.needs.push(Need {
                kept: if name == "group" { None } else { Some(kept_named(name, position)?) },
                under: false,
                message: message_named(message, position)?,
            }),
            Clause::Under { name, message } => storage.needs.push(Need {
                kept: Some(kept_named(name, position)?),
                under: true,
                message: message_named(message, position)?,
            }),
            Clause::Rejects { argument, value, with, message } => {
                let argument = self.argument(argument, position)?;
                storage.rejects.push(Rejection {
                    argument,
                    value: self.value(argument, value, position)?,
                    with: self.value(argument, with, position)?,
                    message: message_named(message, position)?,
                });
            }
            Clause::RejectsAbove { argument, limit, message } => storage.above.push(Above {
                argument: self.argument(argument, position)?,
                limit: self.argument(limit, position)?,
                message: message_named(message, position)?,
            }),
            Clause::Again => storage.again = true,
            Clause::InUse(message) => storage.in_use = Some(message_named(message, position)?),
            Clause::Pack(number) => {
                storage.pack = Some(usize::try_from(*number).unwrap_or(usize::MAX).max(1));
            }
            Clause::Adds(line) => storage.adds = Some(line.clone()),
            Clause::Verbatim => storage.verbatim = true,
            Clause::KeepOne
            | Clause::Enter(_)
            | Clause::Leave
            | Clause::End
            | Clause::Show(_)
            | Clause::Do(_)
            | Clause::Clear(_)
            | Clause::As(_)
            | Clause::Also(..)
            | Clause::From(_)
            | Clause::Level(_)
            | Clause::Privilege(_)
            | Clause::Hidden => {}
        }
        Ok(())
    }

    /// A command that keeps nothing cannot say how it keeps.
    fn no_attributes(&self) -> Result<Option<Storage>> {
        for (clause, position) in &self.stanza.clauses {
            match clause {
                Clause::Enter(_)
                | Clause::Leave
                | Clause::End
                | Clause::Show(_)
                | Clause::Do(_)
                | Clause::Clear(_)
                | Clause::Also(..)
                | Clause::From(_)
                | Clause::Level(_)
                | Clause::Privilege(_)
                | Clause::Hidden => {}
                _ => return Err(position.error(1, "this command keeps nothing")),
            }
        }
        Ok(None)
    }
}

//! Stanzas to a grammar: names resolved, rules checked, tries built.

use std::sync::Arc;

use arcstr::ArcStr;
use hashbrown::{HashMap, HashSet};

use crate::grammar::clauses::{Clauses, kept_named, message_named};
use crate::grammar::expand::{self, Token};
use crate::grammar::link::{self, Kept, Message};
use crate::grammar::notation::{
    self, ChoiceValue, Clause, CommandStanza, Entry, Item, ModeStanza, Position, SectionMode,
    Spellings, TypeName, TypeStanza,
};
use crate::grammar::shared::SharedNodes;
use crate::grammar::trie::{Conflict, Draft, Trie};
use crate::grammar::value::{ChoiceType, ChoiceWord, TypeId, ValueType};
use crate::grammar::whole::{
    adding, check_alter, check_claim, check_differs, check_first, check_help, check_needs,
    check_places, check_prompt, claim_of, find_rivals,
};
use crate::grammar::{
    Argument, Command, CommandId, FormId, Grammar, GrammarError, Mode, ModeId, Verb,
};

pub(super) type Result<T> = std::result::Result<T, GrammarError>;

/// Loads a grammar; see [`Grammar::load`].
pub(super) fn load<N: AsRef<str>, T: AsRef<str>>(files: &[(N, T)]) -> Result<Grammar> {
    let mut loader = Loader::default();
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
    let mut stanzas: Vec<(CommandStanza, Vec<ModeId>)> = Vec::new();
    for file in entries {
        let mut section: Option<Vec<ModeId>> = None;
        for entry in file {
            match entry {
                Entry::Section(modes) => section = Some(loader.section(&modes)?),
                Entry::Command(stanza) => {
                    let modes = section.clone().ok_or_else(|| {
                        stanza.position.fault("a command before the first `in` line")
                    })?;
                    stanzas.push((stanza, modes));
                }
                Entry::Type(_) | Entry::Mode(_) | Entry::Message(_) => {}
            }
        }
    }
    loader.commands(stanzas)?;
    loader.finish()
}

#[derive(Default)]
pub(super) struct Loader {
    pub(super) choices: Vec<ChoiceType>,
    modes: Vec<Mode>,
    commands: Vec<Command>,
    messages: HashMap<Message, Vec<String>>,
    references: Vec<Kept>,
    texts: Texts,
}

/// Texts of which the grammar holds one copy each, however often they are written.
#[derive(Default)]
struct Texts {
    texts: HashSet<ArcStr>,
    words: HashSet<Spellings>,
}

impl Texts {
    /// The copy of a text.
    fn text(&mut self, text: &str) -> ArcStr {
        self.texts.get_or_insert_with(text, |text| ArcStr::from(text)).clone()
    }

    /// The copy of a word with its spellings.
    fn word(&mut self, spellings: &Spellings) -> Spellings {
        if let Some(known) = self.words.get(spellings) {
            return Arc::clone(known);
        }
        let spellings: Spellings = spellings.iter().map(|one| self.text(one)).collect();
        self.words.insert(Arc::clone(&spellings));
        spellings
    }
}

impl Loader {
    fn add_type(&mut self, stanza: &TypeStanza) -> Result<()> {
        if self.choices.iter().any(|known| known.name == stanza.name) {
            return Err(stanza.position.error(6, format!("a second type {}", stanza.name)));
        }
        if stanza.values.is_empty() && stanza.like.is_none() {
            return Err(stanza.position.error(6, "a type without values"));
        }
        let mut words: Vec<ChoiceWord> = Vec::new();
        let mut ranges = Vec::new();
        if let Some(like) = &stanza.like {
            let known = self.choices.iter().find(|choice| choice.name == *like);
            let known = known.ok_or_else(|| {
                stanza.position.error(6, format!("no type before it is called {like}"))
            })?;
            words.clone_from(&known.words);
            ranges.clone_from(&known.ranges);
        }
        let otherwise = stanza.otherwise.as_ref();
        let otherwise = otherwise.map(|name| message_named(name, &stanza.position)).transpose()?;
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
        self.choices.push(ChoiceType { name: stanza.name.clone(), words, ranges, otherwise });
        Ok(())
    }

    fn add_mode(&mut self, stanza: &ModeStanza) -> Result<()> {
        if self.modes.iter().any(|known| known.name == stanza.name) {
            return Err(stanza.position.error(6, format!("a second mode {}", stanza.name)));
        }
        if stanza.root && self.modes.iter().any(|known| known.root) {
            return Err(stanza.position.error(6, "a second root mode"));
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

    pub(super) fn mode(&self, name: &str, position: &Position) -> Result<ModeId> {
        self.modes
            .iter()
            .position(|mode| mode.name == name)
            .map(ModeId)
            .ok_or_else(|| position.fault(format!("no mode is called {name}")))
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

    fn commands(&mut self, stanzas: Vec<(CommandStanza, Vec<ModeId>)>) -> Result<()> {
        // Two passes: the type of a `ref` is the type of a key of another command.
        let mut keys: HashMap<Kept, (String, TypeName, Position)> = HashMap::new();
        for (stanza, _) in &stanzas {
            if let Some((kept, name)) = last_key(stanza)?
                && let Some(kind) = kind_of(&stanza.items, &name)
            {
                keys.entry(kept).or_insert((name, kind, stanza.position.clone()));
            }
        }
        self.commands.reserve_exact(stanzas.len());
        for (index, (stanza, modes)) in stanzas.into_iter().enumerate() {
            let id = CommandId(u32::try_from(index).unwrap_or(u32::MAX));
            let command = self.command(id, &stanza, modes, &keys)?;
            self.commands.push(command);
        }
        Ok(())
    }

    fn command(
        &mut self,
        id: CommandId,
        stanza: &CommandStanza,
        modes: Vec<ModeId>,
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
                return Err(position.fault(format!("«{syntax}» has other arguments")));
            }
            forms.extend(expand::forms(stanza, items, &place)?);
        }
        if arguments.len() > MOST_ARGUMENTS {
            return Err(stanza.position.fault(format!("more than {MOST_ARGUMENTS} arguments")));
        }
        check_help_tokens(stanza, &forms, &arguments)?;
        check_said_once(stanza)?;
        let clauses = Clauses { stanza, arguments: &arguments, loader: self };
        let verb = clauses.verb()?;
        let storage = clauses.storage(&verb)?;
        let level = clauses.level()?;
        let privilege = clauses.privilege(&verb)?;
        let suggestions = clauses.suggestions()?;
        let evidence = stanza.clauses.iter().find_map(|(clause, _)| match clause {
            Clause::From(text) => Some(text.clone()),
            _ => None,
        });
        let hidden = stanza.clauses.iter().any(|(clause, _)| *clause == Clause::Hidden);
        if storage.is_some() && matches!(verb, Verb::Keep | Verb::Open(_)) {
            check_forms_differ(stanza, &forms[..printed_forms])?;
        } else if stanza.negatable {
            return Err(stanza.position.fault("only a command that keeps can have `[no]`"));
        }
        for token in forms.iter_mut().flatten() {
            if let Token::Word(spellings) = token {
                *spellings = self.texts.word(spellings);
            }
        }
        forms.shrink_to_fit();
        let texts = &mut self.texts;
        let help = stanza.help.iter();
        let help = help.map(|line| (texts.text(&line.token), texts.text(&line.text))).collect();
        Ok(Command {
            id,
            syntax: stanza.text.clone(),
            position: stanza.position.clone(),
            modes,
            negatable: stanza.negatable,
            arguments,
            forms,
            printed_forms,
            verb,
            storage: storage.map(Box::new),
            level,
            privilege,
            suggestions,
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
                    let value_type = self.value_type(name, kind, stanza, keys, 0)?;
                    match arguments.iter_mut().find(|known| known.name == *name) {
                        Some(known) if known.value_type == value_type => known.repeated |= repeated,
                        Some(_) => {
                            let text = format!("<{name}> stands here with two types");
                            return Err(stanza.fault_at(name, text));
                        }
                        None => arguments.push(Argument {
                            name: self.texts.text(name),
                            value_type,
                            repeated: *repeated,
                            rivals: Vec::new(),
                        }),
                    }
                }
                Item::Optional(branches) | Item::Choice(branches) => {
                    for branch in branches {
                        self.collect_arguments(branch, stanza, keys, arguments)?;
                    }
                }
                Item::Repeated(entry) => {
                    let first = arguments.len();
                    self.collect_arguments(entry, stanza, keys, arguments)?;
                    for argument in &mut arguments[first..] {
                        argument.repeated = true;
                    }
                }
            }
        }
        Ok(())
    }

    fn value_type(
        &mut self,
        name: &str,
        kind: &TypeName,
        stanza: &CommandStanza,
        keys: &HashMap<Kept, (String, TypeName, Position)>,
        depth: usize,
    ) -> Result<ValueType> {
        let wrong = |text: String| stanza.fault_at(name, text);
        Ok(match kind {
            TypeName::Range(low, high) if low > high => {
                return Err(wrong(format!("{low} is above {high}")));
            }
            TypeName::Range(low, high) => ValueType::Range(*low, *high),
            TypeName::Sized(base, size) => {
                let size = usize::try_from(*size).unwrap_or(usize::MAX);
                match base.as_str() {
                    "word" => ValueType::Word(size),
                    "name" => ValueType::Name(size),
                    "domain" => ValueType::Domain(size),
                    "label" => ValueType::Label(size),
                    "query-name" => ValueType::QueryName(size),
                    "ipv4-prefix" if size <= 32 => {
                        ValueType::Ipv4Prefix(u8::try_from(size).unwrap_or(32))
                    }
                    other => return Err(wrong(format!("{other} takes no size"))),
                }
            }
            TypeName::Reference(names) => {
                let mut targets = Vec::new();
                let mut base: Option<ValueType> = None;
                for target in names {
                    let kept = Kept::from_name(target)
                        .ok_or_else(|| wrong(format!("no statement is called {target}")))?;
                    let (_, kind, _) = keys.get(&kept).ok_or_else(|| {
                        wrong(format!("{target} has no key that could be referred to"))
                    })?;
                    if depth > 4 {
                        return Err(wrong(format!("`ref {target}` refers to itself")));
                    }
                    let key = self.value_type(name, &kind.clone(), stanza, keys, depth + 1)?;
                    if base.as_ref().is_some_and(|base| *base != key) {
                        return Err(wrong(format!("the key of {target} is of another type")));
                    }
                    base = Some(key);
                    if !self.references.contains(&kept) {
                        self.references.push(kept);
                    }
                    targets.push(kept);
                }
                let base = base.ok_or_else(|| wrong("`ref` without a name".to_owned()))?;
                ValueType::Reference(targets.into(), Box::new(base))
            }
            TypeName::Named(name) => match name.as_str() {
                "ip" => ValueType::Address,
                "ipv4" => ValueType::Ipv4,
                "ipv6" => ValueType::Ipv6,
                "prefix" => ValueType::Prefix,
                "mask" => ValueType::Mask,
                "mac" => ValueType::Mac,
                "decimal" => ValueType::Decimal,
                "quoted" => ValueType::Quoted,
                "port" => ValueType::Port,
                "port-list" => ValueType::PortList,
                "line" => ValueType::Line,
                "delimited" => ValueType::Delimited,
                "host-port" => ValueType::HostPort,
                "master-file" => ValueType::MasterFile,
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
        let beginning = Position { file: arcstr::literal!("messages"), line: 1, column: 1 };
        let mut messages = Vec::new();
        for message in Message::ALL {
            let lines = self.messages.get(message);
            let text = || format!("the message {} is missing", message.name());
            messages.push(lines.ok_or_else(|| beginning.error(1, text()))?.clone());
        }
        let no: Spellings = [arcstr::literal!("no")].into();
        let no_help = ArcStr::from(messages[Message::HelpNo as usize].join(" "));
        let mut shared = SharedNodes::default();
        let mut roots = Vec::with_capacity(self.modes.len());
        for mode in (0..self.modes.len()).map(ModeId) {
            let mut draft = Draft::new();
            for command in self.commands.iter().filter(|one| one.modes.contains(&mode)) {
                insert(&mut draft, command, (&no, &no_help), &self.commands)?;
            }
            check_help(&draft, &self.commands)?;
            roots.push(shared.share(draft));
        }
        let behind = shared.finish();
        let tries = roots.into_iter().map(|root| Trie::new(root, Arc::clone(&behind))).collect();
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
        let mut group_dependents: HashMap<ModeId, Vec<CommandId>> = HashMap::new();
        let mut group_section = HashMap::new();
        for command in &self.commands {
            let Some(storage) = &command.storage else { continue };
            for mode in &command.modes {
                if let Some(other) = by_kept.insert((*mode, storage.kept), command.id) {
                    let other = &self.commands[other.index()].position;
                    let name = storage.kept.name();
                    let text =
                        format!("{}:{} keeps {name} in the same mode", other.file, other.line);
                    return Err(command.position.fault(text));
                }
                for need in &storage.needs {
                    match need.kept {
                        Some(kept) => dependents.entry((*mode, kept)).or_default(),
                        None => group_dependents.entry(*mode).or_default(),
                    }
                    .push(command.id);
                }
                if storage.group.is_some() {
                    group_section.entry(*mode).or_insert(command.id);
                }
            }
        }
        for command in &self.commands {
            check_needs(command, &by_kept)?;
            check_differs(command, &self.commands, &by_kept)?;
            check_first(command, &self.commands, &by_kept)?;
            check_places(command, &messages)?;
            check_prompt(command, &self.modes)?;
            check_claim(command, &self.commands, &self.modes)?;
            check_alter(command, &self.commands)?;
        }
        let wide_claims =
            self.commands.iter().filter(|one| claim_of(one).is_some_and(|one| one.below));
        let wide_claims = wide_claims.map(|command| command.id).collect();
        let mut grammar = Grammar {
            choices: self.choices,
            modes: self.modes,
            commands: self.commands,
            tries,
            messages,
            references: self.references,
            by_kept,
            dependents,
            group_dependents,
            adding: HashMap::new(),
            group_section,
            wide_claims,
        };
        grammar.adding = adding(&grammar)?;
        find_rivals(&mut grammar);
        Ok(grammar)
    }
}

/// Statements keep the positions of their arguments in a byte.
const MOST_ARGUMENTS: usize = 255;

/// A grammar of so few commands is a test's, which need not have every statement.
const COMMANDS_OF_A_WHOLE_GRAMMAR: usize = 50;

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

/// What a stanza can say once only.
fn check_said_once(stanza: &CommandStanza) -> Result<()> {
    for (index, (clause, position)) in stanza.clauses.iter().enumerate() {
        let several = matches!(
            clause,
            Clause::Default(..)
                | Clause::Excludes(_)
                | Clause::Needs { .. }
                | Clause::Under { .. }
                | Clause::Rejects { .. }
                | Clause::RejectsAbove { .. }
                | Clause::Spans { .. }
                | Clause::Bounds { .. }
                | Clause::Wants { .. }
                | Clause::Avoids { .. }
                | Clause::Also(..)
                | Clause::Suggests(..)
        );
        let is_same = |(other, _): &(Clause, Position)| {
            std::mem::discriminant(other) == std::mem::discriminant(clause)
        };
        if !several && stanza.clauses[..index].iter().any(is_same) {
            return Err(position.fault("said twice"));
        }
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
            return Err(stanza.position.fault(text));
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
        Item::Repeated(entry) => kind_of(entry, wanted),
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
            Clause::KeepEach { entry, .. } => key = entry.last().cloned(),
            _ => {}
        }
    }
    Ok(kept.zip(key))
}

/// `no` is the word of derived forms with its help text.
fn insert(
    draft: &mut Draft,
    command: &Command,
    no: (&Spellings, &ArcStr),
    all: &[Command],
) -> Result<()> {
    let say = |conflict: Conflict| {
        let text = match conflict {
            Conflict::Same(other) => {
                let other = &all[other.index()];
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
        command.position.fault(text)
    };
    for (index, form) in command.forms.iter().enumerate() {
        // A command has fewer forms (`expand::MOST_FORMS`).
        let id = FormId(u16::try_from(index).unwrap_or(u16::MAX));
        draft.insert(command, id, form, None).map_err(say)?;
        if !command.negatable {
            continue;
        }
        let key = command.storage.as_ref().map_or(&[][..], |storage| storage.key.as_slice());
        let last = form.iter().rposition(|token| match token {
            Token::Word(_) => true,
            Token::Argument { argument, .. } => key.contains(argument),
        });
        for length in last.map_or(1, |place| place + 1)..=form.len() {
            draft.insert(command, id, &form[..length], Some(no)).map_err(say)?;
        }
    }
    Ok(())
}

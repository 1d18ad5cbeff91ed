//! The clauses of one stanza: what its command does and how it keeps.

use crate::grammar::link::{Action, Kept, Message, Report};
use crate::grammar::load::{Loader, Result};
use crate::grammar::notation::{Clause, ClearTarget, CommandStanza, Position};
use crate::grammar::value::{Fit, Value};
use crate::grammar::{
    Above, Apart, Argument, Avoidance, Bounds, Claim, Difference, First, Fitted, LearnedAddress,
    Level, Most, Need, Privilege, Rejection, Span, Storage, Target, Verb, Whole,
};

/// The clauses of one stanza.
pub(super) struct Clauses<'a> {
    pub(super) stanza: &'a CommandStanza,
    pub(super) arguments: &'a [Argument],
    pub(super) loader: &'a Loader,
}

impl Clauses<'_> {
    fn argument(&self, name: &str, position: &Position) -> Result<usize> {
        self.arguments
            .iter()
            .position(|argument| argument.name == name)
            .ok_or_else(|| position.fault(format!("the syntax line has no <{name}>")))
    }

    /// An argument that takes several values.
    fn repeated(&self, name: &str, position: &Position) -> Result<usize> {
        let argument = self.argument(name, position)?;
        if !self.arguments[argument].repeated {
            return Err(position.fault(format!("<{name}> takes one value only")));
        }
        Ok(argument)
    }

    fn arguments(&self, names: &[String], position: &Position) -> Result<Vec<usize>> {
        names.iter().map(|name| self.argument(name, position)).collect()
    }

    fn value(&self, argument: usize, text: &str, position: &Position) -> Result<Value> {
        match self.arguments[argument].value_type.fit(&self.loader.choices, text, false) {
            Fit::Exact(value) | Fit::Typed(value) | Fit::Free(value) => Ok(value),
            Fit::Beginnings(_) | Fit::OutOfRange(..) | Fit::No => {
                let name = &self.arguments[argument].name;
                Err(position.fault(format!("{text} is no value of <{name}>")))
            }
        }
    }

    pub(super) fn verb(&self) -> Result<Verb> {
        let mut verb = None;
        for (clause, position) in &self.stanza.clauses {
            let found = match clause {
                Clause::KeepOne | Clause::KeepPer(_) | Clause::KeepEach { .. } => Verb::Keep,
                Clause::Open { mode, .. } => Verb::Open(self.loader.mode(mode, position)?),
                Clause::Enter(mode) => Verb::Enter(self.loader.mode(mode, position)?),
                Clause::Leave => Verb::Leave,
                Clause::End => Verb::End,
                Clause::Show(name) => Verb::Show(
                    Report::from_name(name)
                        .ok_or_else(|| position.fault(format!("no report is called {name}")))?,
                ),
                Clause::Do(name) => Verb::Do(action_named(name, position)?),
                Clause::Alter(action) => Verb::Alter(
                    action.as_ref().map(|name| action_named(name, position)).transpose()?,
                ),
                Clause::Apply(name) => Verb::Apply(kept_named(name, position)?),
                Clause::Clear(targets) => Verb::Clear(self.targets(targets, position)?),
                _ => continue,
            };
            if verb.replace(found).is_some() {
                return Err(position.fault("a second verb"));
            }
        }
        // What is only swallowed does nothing.
        let swallowed = self.level()? == Level::Accepted;
        verb.or(swallowed.then_some(Verb::Accept))
            .ok_or_else(|| self.stanza.position.fault("a command without a verb"))
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

    pub(super) fn level(&self) -> Result<Level> {
        for (clause, position) in &self.stanza.clauses {
            if let Clause::Level(name) = clause {
                return match name.as_str() {
                    "modelled" => Ok(Level::Modelled),
                    "kept" => Ok(Level::Kept),
                    "accepted" => Ok(Level::Accepted),
                    other => Err(position.fault(format!("no level is called {other}"))),
                };
            }
        }
        Ok(Level::Modelled)
    }

    /// Whose names are completed at which argument.
    pub(super) fn suggestions(&self) -> Result<Vec<(usize, Kept)>> {
        let mut suggestions = Vec::new();
        for (clause, position) in &self.stanza.clauses {
            let Clause::Suggests(argument, names) = clause else { continue };
            let argument = self.argument(argument, position)?;
            for name in names {
                suggestions.push((argument, kept_named(name, position)?));
            }
        }
        Ok(suggestions)
    }

    /// Who may use the command: everybody what only looks and moves, else super-users.
    pub(super) fn privilege(&self, verb: &Verb) -> Result<Privilege> {
        for (clause, position) in &self.stanza.clauses {
            if let Clause::Privilege(number) = clause {
                return Privilege::from_number(*number)
                    .ok_or_else(|| position.fault(format!("no privilege {number}")));
            }
        }
        Ok(match verb {
            Verb::Show(_) | Verb::Enter(_) | Verb::Leave | Verb::End => Privilege::Read,
            _ => Privilege::Full,
        })
    }

    pub(super) fn storage(&self, verb: &Verb) -> Result<Option<Storage>> {
        let keeps = matches!(verb, Verb::Keep | Verb::Open(_));
        let name = self.stanza.clauses.iter().find_map(|(clause, position)| match clause {
            Clause::As(name) => Some((name, position)),
            _ => None,
        });
        let Some((name, position)) = name else {
            return if keeps {
                Err(self.stanza.position.fault("a command that keeps needs `as NAME`"))
            } else {
                self.no_attributes()
            };
        };
        if !keeps {
            return Err(position.fault("`as` is for commands that keep"));
        }
        let mut storage = Storage {
            kept: kept_named(name, position)?,
            key: Vec::new(),
            each: Vec::new(),
            world: false,
            group: None,
            defaults: Vec::new(),
            default_on: false,
            no_kept: false,
            merge: false,
            at_most: None,
            unique: None,
            excludes: Vec::new(),
            differs: None,
            needs: Vec::new(),
            learned: None,
            rejects: Vec::new(),
            in_use: None,
            pack: None,
            adds: None,
            most: None,
            first: None,
            claim: None,
            above: Vec::new(),
            spans: Vec::new(),
            avoids: Vec::new(),
            bounds: Vec::new(),
            absent: None,
            once: None,
            gathers: None,
            fitted: None,
            apart: None,
            wants: Vec::new(),
            whole: None,
            waits: false,
            again: false,
            hashed: false,
            verbatim: false,
        };
        for (clause, position) in &self.stanza.clauses {
            self.attribute(&mut storage, clause, position)?;
        }
        Ok(Some(storage))
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each clause of the notation")]
    fn attribute(&self, storage: &mut Storage, clause: &Clause, position: &Position) -> Result<()> {
        match clause {
            Clause::KeepPer(names) | Clause::Open { key: names, .. } => {
                storage.key = self.arguments(names, position)?;
            }
            Clause::KeepEach { entry, key } => {
                storage.each = self.arguments(entry, position)?;
                storage.key = self.arguments(key, position)?;
                storage.key.extend(&storage.each);
                let is_entry = |argument: &usize| storage.each.contains(argument);
                let repeats = |argument: &usize| self.arguments[*argument].repeated;
                if !(0..self.arguments.len()).all(|one| is_entry(&one) == repeats(&one)) {
                    let text = "`keep each` needs all arguments with `...` and no other";
                    return Err(position.fault(text));
                }
            }
            Clause::World => storage.world = true,
            Clause::Group(name) => storage.group = Some(self.argument(name, position)?),
            Clause::Default(name, text) => {
                let argument = self.argument(name, position)?;
                storage.defaults.push((argument, self.value(argument, text, position)?));
            }
            Clause::DefaultOn | Clause::NoKept if !self.stanza.negatable => {
                return Err(position.fault("a command without `[no]` has no `no` form to keep"));
            }
            Clause::DefaultOn => storage.default_on = true,
            Clause::NoKept => storage.no_kept = true,
            Clause::Merge => storage.merge = true,
            Clause::Hashed => storage.hashed = true,
            Clause::Again => storage.again = true,
            Clause::Verbatim => storage.verbatim = true,
            Clause::Most { argument, most, message } => {
                storage.most = Some(Most {
                    argument: self.repeated(argument, position)?,
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
            Clause::RejectsAbove { argument, limit, message } => storage.above.push(Above {
                argument: self.argument(argument, position)?,
                limit: self.argument(limit, position)?,
                message: message_named(message, position)?,
            }),
            Clause::Spans { first, last, most, message } => storage.spans.push(Span {
                first: self.argument(first, position)?,
                last: self.argument(last, position)?,
                most: *most,
                message: message_named(message, position)?,
            }),
            Clause::Avoids { first, last, choices, message } => {
                let choices = self.loader.choices.iter().find(|one| one.name == *choices);
                let choices = choices.ok_or_else(|| position.fault("no type is called that"))?;
                storage.avoids.push(Avoidance {
                    first: self.argument(first, position)?,
                    last: self.argument(last, position)?,
                    numbers: choices.words.iter().filter_map(|word| word.number).collect(),
                    message: message_named(message, position)?,
                });
            }
            Clause::Waits => storage.waits = true,
            Clause::Bounds { argument, low, high } => storage.bounds.push(Bounds {
                argument: self.argument(argument, position)?,
                low: message_named(low, position)?,
                high: message_named(high, position)?,
            }),
            Clause::Absent(message) => storage.absent = Some(message_named(message, position)?),
            Clause::Once(message) => storage.once = Some(message_named(message, position)?),
            Clause::Gathers(argument) => storage.gathers = Some(self.argument(argument, position)?),
            Clause::Fitted { argument, modules, port, slot } => {
                storage.fitted = Some(Fitted {
                    argument: self.argument(argument, position)?,
                    modules: kept_named(modules, position)?,
                    no_port: message_named(port, position)?,
                    no_slot: message_named(slot, position)?,
                });
            }
            Clause::Apart { address, mask, kind } => {
                storage.apart = Some(Apart {
                    address: self.argument(address, position)?,
                    mask: self.argument(mask, position)?,
                    secondary: self.argument(kind, position)?,
                });
            }
            Clause::Wants { name, message } => {
                let message = message_named(message, position)?;
                storage.wants.push((kept_named(name, position)?, message));
            }
            Clause::Whole { argument, names, message } => {
                storage.whole = Some(Whole {
                    argument: self.argument(argument, position)?,
                    parts: names
                        .iter()
                        .map(|name| kept_named(name, position))
                        .collect::<Result<_>>()?,
                    message: message_named(message, position)?,
                });
            }
            Clause::AtMost(0) | Clause::Pack(0) => {
                return Err(position.fault("a number of at least 1 expected"));
            }
            Clause::First { argument, value, message } => {
                let argument = self.argument(argument, position)?;
                storage.first = Some(First {
                    argument,
                    value: self.value(argument, value, position)?,
                    message: message_named(message, position)?,
                });
            }
            Clause::AtMost(most) => storage.at_most = Some(*most),
            Clause::Unique(name) => storage.unique = Some(self.repeated(name, position)?),
            Clause::Excludes(names) => {
                for name in names {
                    storage.excludes.push(kept_named(name, position)?);
                }
            }
            Clause::Differs { from, message } => {
                let from: Result<Vec<Kept>> =
                    from.iter().map(|name| kept_named(name, position)).collect();
                storage.differs =
                    Some(Difference { from: from?, message: message_named(message, position)? });
            }
            Clause::Needs { name, message } => {
                if name != "group" {
                    let text =
                        "`needs` is for `group`; a statement that needs another says `under`";
                    return Err(position.fault(text));
                }
                storage.needs.push(Need { kept: None, message: message_named(message, position)? });
            }
            Clause::Under { name, message } => storage.needs.push(Need {
                kept: Some(kept_named(name, position)?),
                message: message_named(message, position)?,
            }),
            Clause::Learned { address, name } => {
                storage.learned = Some(LearnedAddress {
                    address: self.argument(address, position)?,
                    name: name.clone(),
                });
            }
            Clause::Rejects { argument, value, with, message } => {
                let argument = self.repeated(argument, position)?;
                storage.rejects.push(Rejection {
                    argument,
                    value: self.value(argument, value, position)?,
                    with: self.value(argument, with, position)?,
                    message: message_named(message, position)?,
                });
            }
            Clause::InUse(message) => storage.in_use = Some(message_named(message, position)?),
            Clause::Pack(number) => {
                let is_list =
                    |(clause, _): &(Clause, Position)| matches!(clause, Clause::KeepEach { .. });
                if !self.stanza.clauses.iter().any(is_list) {
                    return Err(position.fault("`pack` is for `keep each`"));
                }
                storage.pack = Some(usize::try_from(*number).unwrap_or(usize::MAX));
            }
            Clause::Adds(line) => storage.adds = Some(line.clone()),
            Clause::KeepOne
            | Clause::Enter(_)
            | Clause::Leave
            | Clause::End
            | Clause::Show(_)
            | Clause::Do(_)
            | Clause::Clear(_)
            | Clause::Alter(_)
            | Clause::Apply(_)
            | Clause::As(_)
            | Clause::Also(..)
            | Clause::From(_)
            | Clause::Level(_)
            | Clause::Privilege(_)
            | Clause::Suggests(..)
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
                | Clause::Alter(_)
                | Clause::Apply(_)
                | Clause::Also(..)
                | Clause::From(_)
                | Clause::Level(_)
                | Clause::Privilege(_)
                | Clause::Suggests(..)
                | Clause::Hidden => {}
                _ => return Err(position.fault("this command keeps nothing")),
            }
        }
        Ok(None)
    }
}

fn action_named(name: &str, position: &Position) -> Result<Action> {
    Action::from_name(name).ok_or_else(|| position.fault(format!("no action is called {name}")))
}

pub(super) fn kept_named(name: &str, position: &Position) -> Result<Kept> {
    Kept::from_name(name).ok_or_else(|| position.fault(format!("no statement is called {name}")))
}

pub(super) fn message_named(name: &str, position: &Position) -> Result<Message> {
    Message::from_name(name).ok_or_else(|| position.fault(format!("no message is called {name}")))
}

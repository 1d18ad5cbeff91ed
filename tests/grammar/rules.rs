//! Every rule of every stanza holds in both directions: what it forbids is refused or gone, and
//! what it does not forbid is left alone.

use adxemu::cli::{matcher, words};
use adxemu::config::edit::{Editor, Place, Refusal};
use adxemu::grammar::expand::Token;
use adxemu::grammar::link::Kept;
use adxemu::grammar::value::ValueType;
use adxemu::grammar::{Argument, Command, Grammar, ModeId, Storage, Target, Verb};

use crate::grammar::count::Count;
use crate::grammar::desk::Desk;
use crate::grammar::lines::{Line, Script, everywhere, keeping, path_into, root};
use crate::grammar::small::small;
use crate::grammar::values;

#[test]
fn the_rules_of_the_device_hold() {
    let count = check(&Grammar::built_in().unwrap());
    count.require(
        "device",
        &[
            ("excludes", 4),
            ("differs", 12),
            ("merge", 3),
            ("no merge", 3),
            ("needs", 1),
            ("under", 3),
            ("at-most", 2),
            ("unique", 2),
            ("rejects", 2),
            ("rejects above", 1),
            ("spans", 1),
            ("avoids", 10),
            ("waits", 1),
            ("most", 1),
            ("first", 1),
            ("once", 2),
            ("whole", 2),
            ("clear with", 1),
            ("in-use", 1),
            ("default", 20),
            ("default on", 5),
            ("no kept", 10),
            ("clear", 10),
            ("clear group", 3),
            ("group", 10),
            ("keep each", 2),
            ("pack", 1),
            ("adds", 1),
            ("references", 5),
            ("references of a block", 3),
            ("alter", 6),
        ],
    );
}

#[test]
fn the_rules_of_the_small_grammar_hold() {
    let count = check(&small());
    count.require(
        "small",
        &[
            ("excludes", 1),
            ("differs", 2),
            ("merge", 1),
            ("no merge", 1),
            ("needs", 1),
            ("under", 1),
            ("at-most", 2),
            ("unique", 1),
            ("rejects", 1),
            ("in-use", 1),
            ("default", 1),
            ("default on", 1),
            ("no kept", 1),
            ("clear", 2),
            ("clear group", 1),
            ("group", 2),
            ("keep each", 2),
            ("pack", 2),
            ("adds", 1),
            ("references", 1),
        ],
    );
}

fn check(grammar: &Grammar) -> Count {
    let mut count = Count::default();
    for (command, mode) in keeping(grammar) {
        let rule = Rule { grammar, command, mode, storage: command.storage.as_ref().unwrap() };
        rule.excludes(&mut count);
        rule.differs(&mut count);
        rule.merge(&mut count);
        rule.needs(&mut count);
        rule.at_most(&mut count);
        rule.unique(&mut count);
        rule.rejects(&mut count);
        rule.most(&mut count);
        rule.above(&mut count);
        rule.ranges(&mut count);
        rule.waits(&mut count);
        rule.first(&mut count);
        rule.defaults(&mut count);
        rule.default_on(&mut count);
        rule.no_kept(&mut count);
        rule.group(&mut count);
        rule.each(&mut count);
        rule.adds(&mut count);
        rule.references(&mut count);
    }
    let root = root(grammar);
    for (command, mode) in everywhere(grammar) {
        if matches!(command.verb, Verb::Alter(_)) {
            alter(grammar, command, mode, &mut count);
        }
        if let Verb::Clear(targets) = &command.verb
            && grammar.is_within(mode, root)
        {
            for target in targets {
                clear(grammar, command, mode, target, &mut count);
            }
        }
    }
    count
}

/// A command that keeps, in one of its modes.
struct Rule<'a> {
    grammar: &'a Grammar,
    command: &'a Command,
    mode: ModeId,
    storage: &'a Storage,
}

impl<'a> Rule<'a> {
    /// A line of the first form with the `n`th values.
    fn line(&self, n: usize) -> Line<'a> {
        Line::new(self.grammar, self.command, self.mode, 0, n)
    }

    fn desk(&self, script: &Script<'a>) -> Desk<'a> {
        Desk::accepted(self.grammar, script)
    }

    fn refused(&self, script: &Script<'a>) -> String {
        Desk::refused(self.grammar, script)
    }

    fn number(&self, desk: &Desk<'_>) -> usize {
        desk.number_of(self.command.id)
    }

    fn argument(&self, argument: usize) -> &'a Argument {
        &self.command.arguments[argument]
    }

    /// The text of a message up to its first place.
    fn beginning(&self, message: adxemu::grammar::link::Message) -> String {
        let text = self.grammar.phrase(message);
        text.split('{').next().unwrap().to_owned()
    }

    /// The first form that has an argument.
    fn form_with(&self, argument: usize) -> usize {
        (0..self.command.printed_forms)
            .find(|form| self.arguments_of(*form).contains(&argument))
            .unwrap()
    }

    fn arguments_of(&self, form: usize) -> Vec<usize> {
        let line = Line::new(self.grammar, self.command, self.mode, form, 0);
        line.pieces.iter().filter_map(|piece| piece.argument).collect()
    }

    fn excludes(&self, count: &mut Count) {
        for excluded in &self.storage.excludes {
            let line = self.line(0);
            let other = line.related(*excluded);
            let mut script = Script::of(&other);
            script.add_all(&line.needed());
            assert_eq!(self.desk(&script).number_of(other.command.id), 1, "{}", other.text());
            let after = self.desk(&script.and(self.mode, &line.text()));
            assert_eq!(after.number_of(other.command.id), 0, "{}", line.text());
            assert_eq!(self.number(&after), 1, "{}", line.text());

            // The other way round it depends on what the other statement says of this one.
            let mut script = Script::of(&line);
            script.add_all(&other.needed());
            let after = self.desk(&script.and(self.mode, &other.text()));
            let is_mutual =
                other.command.storage.as_ref().unwrap().excludes.contains(&self.storage.kept);
            assert_eq!(after.number_of(other.command.id), 1, "{}", other.text());
            assert_eq!(self.number(&after), usize::from(!is_mutual), "{}", other.text());

            // What says that it is off excludes nothing and stays.
            let negated = line.negations();
            if let Some(no) = negated.first().filter(|_| self.storage.no_kept) {
                let mut script = Script::of(&other);
                script.add_text(self.mode, no);
                let after = self.desk(&script);
                assert_eq!(after.number_of(other.command.id), 1, "{no}");
            }
            count.one("excludes");
        }
    }

    /// No two statements of these names have one key, and one that is there is typed again.
    fn differs(&self, count: &mut Count) {
        let Some(difference) = &self.storage.differs else { return };
        for kept in &difference.from {
            let line = self.line(0);
            let other = line.related(*kept);
            let mut script = Script::of(&other);
            script.add_all(&line.needed());
            let answer = self.refused(&script.and(self.mode, &line.text()));
            assert!(answer.starts_with(&self.beginning(difference.message)), "{answer}");
            assert!(!answer.contains('{'), "a place of the message is not filled: {answer}");
            self.desk(&script.and(self.mode, &other.text()));
            let mut apart = Script::of(&other);
            apart.add_with_needs(&self.line(1));
            assert_eq!(self.number(&self.desk(&apart)), 1, "{}", line.text());
            let Some(no) = other.negations().into_iter().next() else { continue };
            let mut freed = Script::of(&other);
            freed.add_text(self.mode, &no).add_with_needs(&line);
            assert_eq!(self.number(&self.desk(&freed)), 1, "{no}");
            count.one("differs");
        }
    }

    /// An argument that is left out keeps its old value, or loses it.
    fn merge(&self, count: &mut Count) {
        for form in 0..self.command.printed_forms {
            let long = self.arguments_of(form);
            for shorter in 0..self.command.printed_forms {
                let short = self.arguments_of(shorter);
                let is_part = short.iter().all(|one| long.contains(one));
                let left_out: Vec<usize> =
                    long.iter().copied().filter(|one| !short.contains(one)).collect();
                if !is_part || left_out.is_empty() {
                    continue;
                }
                // Values that are no defaults.
                let line = Line::with(self.grammar, self.command, self.mode, form, &|argument| {
                    self.other_than_default(argument, usize::from(left_out.contains(&argument)))
                });
                let second = Line::with(self.grammar, self.command, self.mode, shorter, &|one| {
                    self.other_than_default(one, 0)
                });
                let first = self.desk(&Script::of(&line));
                let mut script = Script::of(&line);
                script.add_all(&second.needed()).add(&second);
                if self.storage.once.is_some() || self.storage.apart.is_some() {
                    let answer = Desk::refused(self.grammar, &script);
                    assert!(!answer.contains('{'), "{answer}");
                    count.one("once");
                    continue;
                }
                let after = self.desk(&script);
                if self.storage.merge {
                    after.require_same(&first);
                    count.one("merge");
                } else {
                    let mut alone = line.needed();
                    alone.add_all(&second.needed()).add(&second);
                    after.require_same(&self.desk(&alone));
                    count.one("no merge");
                }
            }
        }
    }

    /// The `n`th value of an argument, or the one after it if that is its default and there is
    /// another one.
    fn other_than_default(&self, argument: usize, n: usize) -> String {
        let value_type = &self.argument(argument).value_type;
        let default = self.default_of(argument);
        let mut all = (n..n + 3).map(|n| values::value(self.grammar, value_type, n));
        let found = all.find(|text| Some(text) != default.as_ref());
        found.unwrap_or_else(|| values::value(self.grammar, value_type, n))
    }

    fn default_of(&self, argument: usize) -> Option<String> {
        let (_, value) = self.storage.defaults.iter().find(|(one, _)| *one == argument)?;
        let mut text = String::new();
        self.argument(argument).value_type.print(&self.grammar.choices, value, &mut text);
        Some(text)
    }

    fn needs(&self, count: &mut Count) {
        for need in &self.storage.needs {
            let line = self.line(0);
            let needed = line.need(*need);
            let without = line.needed_but(Some(*need));
            let answer = self.refused(&without.and(self.mode, &line.text()));
            assert!(answer.starts_with(&self.beginning(need.message)), "{answer}");
            assert!(!answer.contains('{'), "a place of the message is not filled: {answer}");
            // Another one of the same name is not enough.
            let other = self.line(1).need(*need);
            if other.text() != needed.text() {
                let mut script = without.clone();
                script.add_with_needs(&other).add_text(self.mode, &line.text());
                self.refused(&script);
            }
            let with = self.desk(&Script::of(&line));
            assert_eq!(self.number(&with), 1, "{}", line.text());

            let removal = needed.negations();
            let Some(no) = removal.first() else { continue };
            let after = self.desk(&Script::of(&line).and(self.mode, no));
            assert_eq!(after.number_of(needed.command.id), 0, "{no}");
            assert_eq!(self.number(&after), 0, "{no} leaves {}", line.text());
            count.one(if need.kept.is_some() { "under" } else { "needs" });
        }
    }

    fn at_most(&self, count: &mut Count) {
        let Some(most) = self.storage.at_most else { return };
        let most = usize::try_from(most).unwrap();
        let lines: Vec<Line<'_>> = (0..=most).map(|n| self.line(n)).collect();
        let mut script = Script::new(self.grammar);
        for line in &lines {
            script.add_all(&line.needed());
        }
        for line in &lines[..most] {
            script.add(line);
        }
        assert_eq!(self.number(&self.desk(&script)), most);
        let answer = self.refused(&script.and(self.mode, &lines[most].text()));
        assert!(answer.contains(&most.to_string()), "{answer}");
        // One that is there may come again, and a place that is free may be taken.
        let again = self.desk(&script.and(self.mode, &lines[0].text()));
        assert_eq!(self.number(&again), most);
        for no in lines[0].negations() {
            let script = script.and(self.mode, &no).and(self.mode, &lines[most].text());
            assert_eq!(self.number(&self.desk(&script)), most);
        }
        count.one("at-most");
    }

    fn unique(&self, count: &mut Count) {
        let Some(argument) = self.storage.unique else { return };
        let value_type = &self.argument(argument).value_type;
        let form = self.form_with(argument);
        let line = Line::new(self.grammar, self.command, self.mode, form, 0);
        let second = values::value(self.grammar, value_type, 1);
        let first = line.value_of(argument).unwrap();
        let different = format!("{} {second}", line.text());
        assert_eq!(self.number(&self.desk(&line.needed().and(self.mode, &different))), 1);
        let answer = self.refused(&line.needed().and(self.mode, &format!("{different} {first}")));
        assert!(answer.lines().next().unwrap().ends_with(first), "{answer}");
        count.one("unique");
    }

    fn rejects(&self, count: &mut Count) {
        for rejection in &self.storage.rejects {
            let print = |value| {
                let mut text = String::new();
                let value_type = &self.argument(rejection.argument).value_type;
                value_type.print(&self.grammar.choices, value, &mut text);
                text
            };
            let (one, other) = (print(&rejection.value), print(&rejection.with));
            let line = |list: &str| {
                Line::with(self.grammar, self.command, self.mode, 0, &|argument| {
                    if argument == rejection.argument {
                        list.to_owned()
                    } else {
                        values::value(self.grammar, &self.argument(argument).value_type, 0)
                    }
                })
            };
            for alone in [&one, &other] {
                assert_eq!(self.number(&self.desk(&Script::of(&line(alone)))), 1);
            }
            for both in [format!("{one} {other}"), format!("{other} {one}")] {
                let answer = self.refused(&Script::of(&line(&both)));
                assert!(answer.starts_with(&self.beginning(rejection.message)), "{answer}");
            }
            count.one("rejects");
        }
    }

    /// A repeated argument may take so many values and no more.
    fn most(&self, count: &mut Count) {
        let Some(most) = self.storage.most else { return };
        let form = self.form_with(most.argument);
        let value_type = &self.argument(most.argument).value_type;
        let line = Line::new(self.grammar, self.command, self.mode, form, 0);
        let with = |number: u64| {
            let more = (1..usize::try_from(number).unwrap())
                .map(|n| format!(" {}", values::value(self.grammar, value_type, n)));
            format!("{}{}", line.text(), more.collect::<String>())
        };
        let needed = line.needed();
        assert_eq!(self.number(&self.desk(&needed.and(self.mode, &with(most.most)))), 1);
        let answer = self.refused(&needed.and(self.mode, &with(most.most + 1)));
        assert!(answer.starts_with(&self.beginning(most.message)), "{answer}");
        count.one("most");
    }

    /// A number may be as large as another one, and not larger.
    fn above(&self, count: &mut Count) {
        for rule in &self.storage.above {
            let with = |number: u64, limit: u64| {
                Line::with(self.grammar, self.command, self.mode, 0, &|argument| {
                    if argument == rule.argument {
                        number.to_string()
                    } else if argument == rule.limit {
                        limit.to_string()
                    } else {
                        values::value(self.grammar, &self.argument(argument).value_type, 0)
                    }
                })
            };
            assert_eq!(self.number(&self.desk(&Script::of(&with(5, 5)))), 1);
            let answer = self.refused(&Script::of(&with(6, 5)));
            assert!(answer.starts_with(&self.beginning(rule.message)), "{answer}");
            count.one("rejects above");
        }
    }

    /// From one number to another there are at most so many, and some do not lie there.
    fn ranges(&self, count: &mut Count) {
        let with = |first: (usize, u64), last: (usize, u64)| {
            Line::with(self.grammar, self.command, self.mode, 0, &|argument| {
                let given = [first, last].into_iter().find(|(one, _)| *one == argument);
                given.map_or_else(
                    || values::value(self.grammar, &self.argument(argument).value_type, 0),
                    |(_, number)| number.to_string(),
                )
            })
        };
        let avoided: Vec<u64> =
            self.storage.avoids.iter().flat_map(|rule| rule.numbers.iter().copied()).collect();
        for rule in &self.storage.spans {
            let is_free =
                |first: &u64| avoided.iter().all(|one| !(*first..=first + rule.most).contains(one));
            let first = (1..=u64::from(u16::MAX)).find(is_free).unwrap();
            let line = |last| with((rule.first, first), (rule.last, last));
            assert_eq!(self.number(&self.desk(&Script::of(&line(first + rule.most - 1)))), 1);
            let answer = self.refused(&Script::of(&line(first + rule.most)));
            assert!(answer.starts_with(&self.beginning(rule.message)), "{answer}");
            count.one("spans");
        }
        for rule in &self.storage.avoids {
            for number in &rule.numbers {
                let in_range = |argument: usize| {
                    matches!(self.argument(argument).value_type,
                        ValueType::Range(low, high) if (low..=high).contains(number))
                };
                if !in_range(rule.first) || !in_range(rule.last) {
                    continue;
                }
                let line = with((rule.first, *number), (rule.last, *number));
                let answer = self.refused(&Script::of(&line));
                assert!(answer.starts_with(&self.beginning(rule.message)), "{answer}");
                count.one("avoids");
            }
        }
    }

    /// Where the block is referred to, a change waits until it is applied, and what was there counts.
    fn waits(&self, count: &mut Count) {
        if !self.storage.waits {
            return;
        }
        let grammar = self.grammar;
        let opener = keeping(grammar).find(|(one, _)| one.verb == Verb::Open(self.mode)).unwrap().0;
        let kept = opener.storage.as_ref().unwrap().kept;
        let names_it = |value_type: &ValueType| matches!(value_type, ValueType::Reference(targets, _) if targets.contains(&kept));
        let (referring, mode) = keeping(grammar)
            .find(|(one, _)| one.arguments.iter().any(|argument| names_it(&argument.value_type)))
            .unwrap();
        let [old, new] = [0, 1].map(|n| Line::new(grammar, self.command, self.mode, 0, n));
        let of_nobody = Script::of(&old);
        let used = of_nobody.and(mode, &Line::new(grammar, referring, mode, 0, 0).text());
        let path = path_into(grammar, self.mode);
        let place = Place { mode: self.mode, path: path.clone() };
        for (script, waits) in [(&of_nobody, false), (&used, true)] {
            let mut desk = Desk::accepted(grammar, script);
            let mut type_line = |line: &Line<'a>| {
                let text = line.text();
                let hit = matcher::match_in(grammar, line.mode, &words::split(&text), &text);
                let editor = Editor::new(grammar, &mut desk.trees, &place);
                editor.keep(line.command, &hit.unwrap().values).unwrap();
                let block = desk.trees.configuration.block(grammar, &path).unwrap();
                block.waiting().iter().map(|former| former.statement.is_some()).collect::<Vec<_>>()
            };
            let expected: &[bool] = if waits { &[true] } else { &[] };
            assert_eq!(type_line(&new), expected);
            assert_eq!(type_line(&old), [false; 0], "what counts stands there again");
            assert_eq!(type_line(&new), expected);
            Editor::new(grammar, &mut desk.trees, &place).apply(kept);
            let block = desk.trees.configuration.block(grammar, &path).unwrap();
            assert!(block.waiting().is_empty());
            desk.require_round_trip();
        }
        count.one("waits");
    }

    /// The first of its kind must say something, the others need not.
    fn first(&self, count: &mut Count) {
        let Some(first) = &self.storage.first else { return };
        let value_type = &self.argument(first.argument).value_type;
        let print = |value| {
            let mut text = String::new();
            value_type.print(&self.grammar.choices, value, &mut text);
            text
        };
        let allowed = print(&first.value);
        let other = (0..).map(|n| values::value(self.grammar, value_type, n));
        let other = other.take(100).find(|one| *one != allowed).unwrap();
        let says = |token: &Token| matches!(token, Token::Argument { argument, .. } if *argument == first.argument);
        let form = self.command.forms.iter().position(|form| form.iter().any(says)).unwrap();
        let with = |text: &str, n| {
            Line::with(self.grammar, self.command, self.mode, form, &|argument| {
                if argument == first.argument {
                    text.to_owned()
                } else if self.argument(argument).is_secret() {
                    self.line(0).value_of(argument).unwrap().to_owned()
                } else {
                    values::value(self.grammar, &self.argument(argument).value_type, n)
                }
            })
        };
        let (wrong, right) = (with(&other, 0), with(&allowed, 0));
        assert_eq!(typed(&wrong.needed(), &wrong), Err(Refusal::new(first.message)));
        assert_eq!(typed(&right.needed(), &right), Ok(()));
        assert_eq!(typed(&Script::of(&right), &with(&other, 1)), Ok(()));
        // A file may hold them in any order.
        self.desk(&Script::of(&wrong));
        for kept in &self.storage.excludes {
            let kind = self.grammar.keeping(self.mode, *kept).unwrap();
            let before = Line::new(self.grammar, kind, self.mode, 0, 0);
            assert_eq!(typed(&Script::of(&before), &with(&other, 1)), Ok(()), "{}", before.text());
        }
        count.one("first");
    }

    fn defaults(&self, count: &mut Count) {
        for (argument, _) in &self.storage.defaults {
            let default = self.default_of(*argument).unwrap();
            let form = self.form_with(*argument);
            let with = |text: &str| {
                Line::with(self.grammar, self.command, self.mode, form, &|one| {
                    if one == *argument {
                        text.to_owned()
                    } else {
                        values::value(self.grammar, &self.argument(one).value_type, 0)
                    }
                })
            };
            let (line, other) = (with(&default), with(&self.other_than_default(*argument, 0)));
            let desk = self.desk(&Script::of(&line));
            // It is kept if what is left is a line that says something.
            let mut left = self.arguments_of(form);
            left.retain(|one| one != argument);
            let is_line = (0..self.command.printed_forms)
                .any(|form| self.arguments_of(form).iter().all(|one| left.contains(one)));
            let kept = usize::from(!left.is_empty() && is_line);
            assert_eq!(self.number(&desk), kept, "{}", line.text());
            assert!(!desk.lines().contains(&line.text()), "{} is printed", line.text());
            if other.text() == line.text() {
                continue;
            }
            let changed = self.desk(&Script::of(&other));
            assert!(changed.lines().contains(&other.text()), "{} is lost", other.text());
            let back = self.desk(&Script::of(&other).and(self.mode, &line.text()));
            back.require_same(&desk);
            count.one("default");
        }
    }

    fn default_on(&self, count: &mut Count) {
        if !self.storage.default_on {
            return;
        }
        let line = self.line(0);
        let nothing = self.desk(&line.needed());
        self.desk(&Script::of(&line)).require_same(&nothing);
        for no in line.negations() {
            let off = self.desk(&line.needed().and(self.mode, &no));
            assert!(off.lines().contains(&no) || line.negations()[0] != no, "{no} is not printed");
            assert!(!off.is_same(&nothing));
            let on = self.desk(&line.needed().and(self.mode, &no).and(self.mode, &line.text()));
            on.require_same(&nothing);
            count.one("default on");
        }
    }

    fn no_kept(&self, count: &mut Count) {
        if !self.storage.no_kept {
            return;
        }
        let line = Line::with(self.grammar, self.command, self.mode, 0, &|one| {
            self.other_than_default(one, 0)
        });
        let nothing = self.desk(&line.needed());
        for no in line.negations() {
            let off = self.desk(&line.needed().and(self.mode, &no));
            let on = self.desk(&Script::of(&line));
            assert!(!off.is_same(&nothing), "{no}");
            assert!(!off.is_same(&on), "{no}");
            // Each replaces the other.
            self.desk(&Script::of(&line).and(self.mode, &no)).require_same(&off);
            let again = line.needed().and(self.mode, &no).and(self.mode, &line.text());
            if self.storage.defaults.is_empty() {
                assert!(!on.is_same(&nothing), "{}", line.text());
                self.desk(&again).require_same(&on);
            } else {
                // What says the default alone is the third state.
                self.desk(&again).require_same(&on);
                self.desk(&Script::of(&line)).require_same(&on);
            }
            count.one("no kept");
        }
    }

    /// The statements of a group stand together, in the order in which the groups began.
    fn group(&self, count: &mut Count) {
        let Some(group) = self.storage.group else { return };
        let others: Vec<&Command> = self
            .grammar
            .commands
            .iter()
            .filter(|other| {
                other.modes.contains(&self.mode)
                    && other.id != self.command.id
                    && other.storage.as_ref().is_some_and(|storage| {
                        storage.group.is_some()
                            && storage.excludes.is_empty()
                            && storage.needs.is_empty()
                    })
            })
            .collect();
        let Some(other) = others.first() else { return };
        if !self.storage.excludes.is_empty() {
            return;
        }
        let name = self.argument(group).name.as_str();
        let value = |n| values::value(self.grammar, &self.argument(group).value_type, n);
        let line = |command, n: usize| {
            Line::first_with(self.grammar, command, self.mode, 0, &[(name, value(n))])
        };
        let mut script = Script::new(self.grammar);
        // The second value begins; both commands then take turns.
        script.add_with_needs(&line(self.command, 1));
        script.add_with_needs(&line(self.command, 0));
        script.add_with_needs(&line(other, 1));
        script.add_with_needs(&line(other, 0));
        let lines = self.desk(&script).lines();
        let place = |line: Line<'_>| {
            let text = line.text();
            lines
                .iter()
                .position(|one| *one == text)
                .unwrap_or_else(|| panic!("{text}: {lines:#?}"))
        };
        let second = [place(line(self.command, 1)), place(line(other, 1))];
        let first = [place(line(self.command, 0)), place(line(other, 0))];
        assert!(second.iter().max() < first.iter().min(), "{lines:#?}");
        let in_order = self.command.id < other.id;
        assert_eq!(second[0] < second[1], in_order, "{lines:#?}");
        count.one("group");
    }

    /// A list grows value by value, and each can be removed alone.
    fn each(&self, count: &mut Count) {
        if self.storage.each.is_empty() {
            return;
        }
        let repeated: Vec<usize> = (0..self.command.arguments.len())
            .filter(|argument| self.argument(*argument).repeated)
            .collect();
        let entry = |n: usize| {
            let texts = repeated.iter().map(|argument| {
                values::value(self.grammar, &self.argument(*argument).value_type, n)
            });
            texts.collect::<Vec<_>>().join(" ")
        };
        let line = self.line(0);
        let head = line.text();
        let head = head.strip_suffix(&entry(0)).unwrap();
        let number = 2 * self.storage.pack.unwrap_or(1) + 1;
        let list = |from: usize, to: usize| {
            format!("{head}{}", (from..to).map(entry).collect::<Vec<_>>().join(" "))
        };
        let mut needed = Script::new(self.grammar);
        for n in 0..number {
            needed.add_all(&self.line(n).needed());
        }
        // At once, one by one, and twice: all the same.
        let at_once = self.desk(&needed.and(self.mode, &list(0, number)));
        assert_eq!(self.number(&at_once), number);
        let mut script = needed.clone();
        for n in 0..number {
            script.add_text(self.mode, &list(n, n + 1));
        }
        self.desk(&script).require_same(&at_once);
        self.desk(&script.and(self.mode, &list(1, 3))).require_same(&at_once);
        at_once.require_round_trip();

        let printed: Vec<String> =
            at_once.lines().into_iter().filter(|line| line.starts_with(head)).collect();
        let pack = self.storage.pack.unwrap_or(1);
        let expected: Vec<String> =
            (0..number).step_by(pack).map(|from| list(from, number.min(from + pack))).collect();
        assert_eq!(printed, expected);
        if self.storage.pack.is_some() {
            count.one("pack");
        }

        let removed = self.desk(&script.and(self.mode, &format!("no {}", list(1, 2))));
        assert_eq!(self.number(&removed), number - 1);
        removed.require_round_trip();
        let put_back = script
            .and(self.mode, &format!("no {}", list(0, number - 1)))
            .and(self.mode, &list(0, 1));
        assert_eq!(self.number(&self.desk(&put_back)), 2);
        // One that is not there: the line is refused as a whole.
        let absent = format!("no {} {}", list(0, 1), entry(number));
        let text = script.and(self.mode, &absent).text();
        let desk = Desk::read(self.grammar, &text);
        assert_eq!(desk.report.rejected.len(), 1, "{absent}");
        desk.require_same(&at_once);
        count.one("keep each");
    }

    /// The line that the device adds by itself comes with its statement, and comes back.
    fn adds(&self, count: &mut Count) {
        let Some(adds) = &self.storage.adds else { return };
        let line = self.line(0);
        let mut added = adds.clone();
        for argument in 0..self.command.arguments.len() {
            let place = format!("<{}>", self.argument(argument).name);
            added = added.replace(&place, line.value_of(argument).unwrap_or_default());
        }
        let script = Script::of(&line);
        let desk = self.desk(&script);
        assert!(desk.lines().contains(&added), "{added} is not added");
        desk.require_round_trip();
        // Removing it alone does not last: the device adds it again.
        self.desk(&script.and(self.mode, &format!("no {added}"))).require_same(&desk);
        count.one("adds");
    }

    /// What is referred to must exist; what is referred to and says so cannot be removed.
    fn references(&self, count: &mut Count) {
        for form in 0..self.command.printed_forms {
            let line = Line::new(self.grammar, self.command, self.mode, form, 0);
            for piece in &line.pieces {
                let Some(argument) = piece.argument else { continue };
                let ValueType::Reference(targets, _) = &self.argument(argument).value_type else {
                    continue;
                };
                let needed = self.with_parts(&line, count);
                let unknown = values::value(self.grammar, &self.argument(argument).value_type, 7);
                let mut wrong = line.clone();
                for piece in wrong.pieces.iter_mut().filter(|one| one.argument == Some(argument)) {
                    piece.text.clone_from(&unknown);
                }
                let script = needed.and(self.mode, &wrong.text());
                let can_vanish = targets.iter().any(|kept| self.grammar.can_vanish(*kept));
                let answer = if self.storage.world || can_vanish {
                    // In a file the line sleeps; typed, it is refused.
                    self.desk(&script).require_round_trip();
                    typed(&needed, &line).unwrap();
                    typed(&needed, &wrong).unwrap_err().text(self.grammar)
                } else {
                    self.refused(&script)
                };
                assert!(answer.contains(unknown.trim_matches('"')), "{answer}");
                count.one("references");
                for kept in targets {
                    self.in_use(&line, *kept, count);
                    self.scope(&line, *kept, &piece.text, count);
                }
            }
        }
    }

    /// What a line needs, with all that must be in the block that it refers to.
    fn with_parts(&self, line: &Line<'a>, count: &mut Count) -> Script<'a> {
        let mut needed = line.needed();
        for part in self.storage.whole.iter().flat_map(|whole| &whole.parts) {
            let answer = typed(&needed, line).unwrap_err();
            assert_eq!(answer.message, self.storage.whole.as_ref().unwrap().message);
            let (part, mode) = keeping(self.grammar)
                .find(|(one, _)| one.storage.as_ref().unwrap().kept == *part)
                .unwrap();
            needed.add(&Line::new(self.grammar, part, mode, 0, 0));
            count.one("whole");
        }
        needed
    }

    /// Behind a `ref` to an opening statement, what stands in another block of its kind is not there.
    fn scope(&self, line: &Line<'a>, kept: Kept, name: &str, count: &mut Count) {
        for outer in &line.pieces {
            let Some(argument) = outer.argument else { continue };
            let ValueType::Reference(openers, _) = &self.argument(argument).value_type else {
                continue;
            };
            let (opener, mode) = keeping(self.grammar)
                .find(|(one, _)| one.storage.as_ref().unwrap().kept == openers[0])
                .unwrap();
            let Verb::Open(block) = opener.verb else { continue };
            let Some(target) = self.grammar.keeping(block, kept) else { continue };
            let key = &opener.arguments[opener.storage.as_ref().unwrap().key[0]];
            let other = values::value(self.grammar, &key.value_type, 7);
            let given = [(key.name.as_str(), other.clone())];
            let opening = Line::first_with(self.grammar, opener, mode, 0, &given);
            let mut wrong = line.clone();
            for piece in wrong.pieces.iter_mut().filter(|one| one.argument == Some(argument)) {
                piece.text.clone_from(&other);
            }
            let needed = line.needed().and(mode, &opening.text());
            typed(&needed, line).unwrap();
            let answer = typed(&needed, &wrong).unwrap_err().text(self.grammar);
            let is_named = answer.contains(name.trim_matches('"'));
            assert!(is_named, "{answer} ({})", target.syntax);
            count.one("references of a block");
        }
    }

    fn in_use(&self, line: &Line<'a>, kept: Kept, count: &mut Count) {
        let (target, mode) = keeping(self.grammar)
            .find(|(command, _)| command.storage.as_ref().unwrap().kept == kept)
            .unwrap();
        let Some(message) = target.storage.as_ref().unwrap().in_use else { return };
        let target = Line::new(self.grammar, target, mode, 0, 0);
        let script = Script::of(line);
        for no in target.negations() {
            let answer = self.refused(&script.and(mode, &no));
            assert!(answer.starts_with(&self.beginning(message)), "{answer}");
            for free in line.negations() {
                let script = script.and(self.mode, &free).and(mode, &no);
                assert_eq!(self.desk(&script).number_of(target.command.id), 0);
            }
            count.one("in-use");
        }
    }
}

/// Types a line behind a script.
fn typed(script: &Script<'_>, line: &Line<'_>) -> Result<(), Refusal> {
    let mut desk = Desk::accepted(line.grammar, script);
    let text = line.text();
    let hit = matcher::match_in(line.grammar, line.mode, &words::split(&text), &text).unwrap();
    let place = Place { mode: line.mode, path: path_into(line.grammar, line.mode) };
    let editor = Editor::new(line.grammar, &mut desk.trees, &place);
    editor.keep(line.command, &hit.values).map(drop)
}

/// What alters the line that opened the block leaves what that line says itself.
fn alter<'a>(grammar: &'a Grammar, command: &'a Command, mode: ModeId, count: &mut Count) {
    for (opener, outer) in keeping(grammar).filter(|(one, _)| one.verb == Verb::Open(mode)) {
        let altering = Line::new(grammar, command, mode, 0, 3);
        let first = Line::new(grammar, opener, outer, 0, 0);
        let given: Vec<(&str, String)> = opener
            .arguments
            .iter()
            .enumerate()
            .filter_map(|(place, argument)| {
                let altered = command.argument(&argument.name);
                let value = altered.and_then(|altered| altering.value_of(altered));
                let value = value.or_else(|| first.value_of(place))?;
                Some((argument.name.as_str(), value.to_owned()))
            })
            .collect();
        let wanted = Line::first_with(grammar, opener, outer, 0, &given);
        // The second line stands in the block that the first one opens.
        let text = format!("{}\n{}", first.text(), altering.text());
        let altered = Desk::accepted(grammar, &first.needed().and(outer, &text));
        altered.require_same(&Desk::accepted(grammar, &Script::of(&wanted)));
        altered.require_round_trip();
        count.one("alter");
    }
}

/// A `clear` removes what it names and nothing else.
fn clear<'a>(
    grammar: &'a Grammar,
    command: &'a Command,
    mode: ModeId,
    target: &Target,
    count: &mut Count,
) {
    let line = Line::new(grammar, command, mode, 0, 0);
    let (kept, negated) = match target {
        Target::Name(kept) => (*kept, None),
        Target::Negated(kept) => (*kept, Some(true)),
        Target::Group(argument) => {
            clear_group(grammar, &line, *argument, count);
            return;
        }
        Target::With(kept, arguments) => {
            clear_with(grammar, &line, *kept, arguments, count);
            return;
        }
    };
    let other = grammar.keeping(mode, kept).unwrap();
    let statement = Line::new(grammar, other, mode, 0, 1);
    let mut script = Script::of(&statement);
    let mut needed = statement.needed();
    needed.add_all(&line.needed());
    script.add_all(&line.needed());
    if negated.is_some() {
        // The statement that is on stays.
        let on = Desk::accepted(grammar, &script);
        Desk::accepted(grammar, &script.and(mode, &line.text())).require_same(&on);
        script.add_text(mode, &statement.negations()[0]);
    }
    let before = Desk::accepted(grammar, &script);
    assert_eq!(before.number_kept(kept, negated), 1, "{}", statement.text());
    let after = Desk::accepted(grammar, &script.and(mode, &line.text()));
    assert_eq!(after.number_kept(kept, negated), 0, "{}", line.text());

    // A statement that is not named stays.
    let Verb::Clear(targets) = &command.verb else { unreachable!() };
    let is_named = |other: &Storage| {
        targets.iter().any(|target| match target {
            Target::Name(kept) | Target::Negated(kept) | Target::With(kept, _) => {
                *kept == other.kept
            }
            Target::Group(_) => other.group.is_some(),
        })
    };
    let bystander = grammar.commands.iter().find(|other| {
        let is_free = other.storage.as_ref().is_some_and(|storage| {
            !is_named(storage)
                && storage.defaults.is_empty()
                && !storage.default_on
                && storage.needs.is_empty()
        });
        is_free && other.modes.contains(&mode) && other.verb == Verb::Keep
    });
    if let Some(bystander) = bystander {
        let bystander = Line::new(grammar, bystander, mode, 0, 0);
        let mut script = script.clone();
        script.add_with_needs(&bystander).add_text(mode, &line.text());
        let after = Desk::accepted(grammar, &script);
        assert_eq!(after.number_of(bystander.command.id), 1, "{}", bystander.text());
    }
    count.one("clear");
}

/// The statements with the values of the line go, those with others stay.
fn clear_with(
    grammar: &Grammar,
    line: &Line<'_>,
    kept: Kept,
    arguments: &[usize],
    count: &mut Count,
) {
    let other = grammar.keeping(line.mode, kept).unwrap();
    let given: Vec<(&str, String)> = arguments
        .iter()
        .map(|argument| {
            let name = line.command.arguments[*argument].name.as_str();
            (name, line.value_of(*argument).unwrap().to_owned())
        })
        .collect();
    let meant = Line::first_with(grammar, other, line.mode, 0, &given);
    let spared = Line::first_with(grammar, other, line.mode, 1, &[]);
    let mut script = Script::of(&meant);
    script.add_with_needs(&spared);
    assert_eq!(Desk::accepted(grammar, &script).number_of(other.id), 2);
    let after = Desk::accepted(grammar, &script.and(line.mode, &line.text()));
    assert_eq!(after.number_of(other.id), 1, "{}", line.text());
    assert!(after.lines().contains(&spared.text()), "{}", line.text());
    Desk::refused(grammar, &Script::of(&spared).and(line.mode, &line.text()));
    count.one("clear with");
}

fn clear_group(grammar: &Grammar, line: &Line<'_>, argument: usize, count: &mut Count) {
    let name = line.command.arguments[argument].name.as_str();
    let value_type = &line.command.arguments[argument].value_type;
    let value = |n| values::value(grammar, value_type, n);
    let members: Vec<&Command> = grammar
        .commands
        .iter()
        .filter(|other| {
            other.modes.contains(&line.mode)
                && other.storage.as_ref().is_some_and(|storage| {
                    storage.group.is_some_and(|group| other.arguments[group].name == name)
                })
        })
        .collect();
    assert!(!members.is_empty(), "{}", line.text());
    for member in members {
        let of = |n: usize| Line::first_with(grammar, member, line.mode, 0, &[(name, value(n))]);
        let mut script = Script::of(&of(0));
        script.add_with_needs(&of(1));
        let remaining = Desk::accepted(grammar, &Script::of(&of(1)));
        let after = Desk::accepted(grammar, &script.and(line.mode, &line.text()));
        assert_eq!(after.number_of(member.id), 1, "{}", line.text());
        assert_eq!(
            after.lines().iter().filter(|one| **one == of(1).text()).count(),
            remaining.lines().iter().filter(|one| **one == of(1).text()).count(),
        );
        let text = of(0).text();
        assert!(!after.lines().contains(&text), "{} leaves {text}", line.text());
    }
    let mut script = Script::new(grammar);
    script.add_text(line.mode, &line.text());
    Desk::refused(grammar, &script);
    count.one("clear group");
}

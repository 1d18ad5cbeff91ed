//! Sample values of every type, made from the type alone: distinct ones, those at both ends, and
//! those just outside.

use adxemu::grammar::Grammar;
use adxemu::grammar::link::Kept;
use adxemu::grammar::trie::Node;
use adxemu::grammar::value::{ChoiceType, Fit, ValueType, starts_with_ignoring_case};

/// The `n`th value of a type: another one for each `n`, until the type has no more.
pub(crate) fn value(grammar: &Grammar, value_type: &ValueType, n: usize) -> String {
    match value_type {
        ValueType::Range(low, high) => {
            let size = (high - low).saturating_add(1);
            (low + n as u64 % size).to_string()
        }
        // A name may hold blanks.
        ValueType::Name(most) if n % 2 == 1 && *most > 6 => format!("\"zq {n}\""),
        ValueType::Word(most)
        | ValueType::Domain(most)
        | ValueType::Label(most)
        | ValueType::QueryName(most)
        | ValueType::Name(most) => cut(format!("zq{n}"), *most),
        ValueType::Address if n % 2 == 1 => format!("2001:db8::{n}"),
        ValueType::Address | ValueType::Ipv4 => format!("192.0.{}.{}", 2 + n / 250, 1 + n % 250),
        ValueType::Ipv6 => format!("2001:db8::{}", n + 1),
        ValueType::Prefix => format!("10.{}.{}.0/24", n / 256, n % 256),
        ValueType::Ipv4Prefix(most) => {
            let length = 16 + n / 256;
            format!("{}.{}.0.0/{}", 10 + n / 256, n % 256, length.min(usize::from(*most)))
        }
        ValueType::Mask => ["255.255.255.0", "255.255.0.0", "255.0.0.0", "0.0.0.0"][n % 4].into(),
        ValueType::Mac => format!("0000.5e00.{:04x}", 0x5300 + n),
        ValueType::Decimal => format!("{n}.5"),
        ValueType::Quoted => format!("\"zq {n}\""),
        // Ports of the device, with and without their slot.
        ValueType::Port if n % 32 < 16 => (1 + n % 16).to_string(),
        ValueType::Port => format!("1/{}", 1 + n % 16),
        ValueType::PortList => format!("ethe {} to {} ethe 1/1", 1 + n % 15, 2 + n % 15),
        ValueType::Line => format!("zq {n} \"of  a\" line"),
        ValueType::Delimited => format!("#zq {n}#"),
        ValueType::HostPort => format!("zq{n}:80"),
        ValueType::MasterFile => format!("{}tests/grammar/small.zone", "./".repeat(n)),
        ValueType::Reference(targets, base) => value(grammar, base, n + apart(grammar, targets[0])),
        ValueType::Choice(id) => {
            let all = choices(&grammar.choices[id.0]);
            all[n % all.len()].clone()
        }
    }
}

/// Statements that must differ are given names that do: one line may refer to several.
fn apart(grammar: &Grammar, kept: Kept) -> usize {
    let storage = grammar.commands.iter().find_map(|command| {
        command.storage.as_ref().filter(|storage| storage.kept == kept)?.differs.as_ref()
    });
    storage.map_or(0, |difference| {
        1000 * difference.from.iter().filter(|other| **other < kept).count()
    })
}

/// The words of a choice type and the ends of its ranges, each meaning something else.
fn choices(choice_type: &ChoiceType) -> Vec<String> {
    let mut all: Vec<String> = choice_type.words.iter().map(|word| word.word.clone()).collect();
    for (low, high, _) in &choice_type.ranges {
        for number in [*low, *high] {
            // A number that has a name is that name.
            if !choice_type.words.iter().any(|word| word.number == Some(number)) {
                all.push(number.to_string());
            }
        }
    }
    all.dedup();
    all
}

/// The smallest and the largest values of a type, where they can stand at that node.
pub(crate) fn ends(grammar: &Grammar, value_type: &ValueType, node: &Node) -> Vec<String> {
    let mut ends = ends_alone(grammar, value_type, node);
    // Free text in quotes may look like anything else that can stand here.
    let rivals = if value_type.is_free() && !value_type.takes_the_rest() {
        let words =
            node.words.iter().flat_map(|edge| edge.spellings.iter().map(ToString::to_string));
        let values = node
            .arguments
            .iter()
            .filter(|edge| !edge.value_type.is_free())
            .flat_map(|edge| ends_alone(grammar, &edge.value_type, node));
        words.chain(values).collect()
    } else {
        Vec::new()
    };
    let fits = |text: &String| matches!(value_type.fit(&grammar.choices, text, true), Fit::Free(_));
    ends.extend(rivals.into_iter().filter(fits).map(|text| format!("\"{text}\"")));
    ends
}

fn ends_alone(grammar: &Grammar, value_type: &ValueType, node: &Node) -> Vec<String> {
    let letter = free_letter(grammar, node);
    let of_length = |length: usize| letter.to_string().repeat(length);
    match value_type {
        ValueType::Range(low, high) => vec![low.to_string(), high.to_string()],
        ValueType::Word(most) => vec![of_length(1), of_length(*most), "\"\"".to_owned()],
        ValueType::Name(most) => {
            vec![of_length(1), of_length(*most), format!("\"{}\"", of_length(*most))]
        }
        ValueType::Label(most) => {
            vec![of_length(1), of_length(*most.min(&63)), format!("{letter}-_$#@")]
        }
        ValueType::Domain(most) | ValueType::QueryName(most) => {
            let labels: Vec<String> = (0..most.div_ceil(64)).map(|_| of_length(63)).collect();
            let mut longest = labels.join(".");
            longest.truncate(*most);
            if longest.ends_with('.') {
                longest.pop();
            }
            vec![of_length(1), longest, format!("{letter}.{letter}-_9"), format!("{letter}.")]
        }
        ValueType::Address => {
            ["0.0.0.0", "255.255.255.255", "::", "2001:db8::ffff"].map(str::to_owned).to_vec()
        }
        ValueType::Ipv4 | ValueType::Mask => {
            ["0.0.0.0", "255.255.255.255"].map(str::to_owned).to_vec()
        }
        ValueType::Ipv6 => ["::", "2001:db8:0:1:2:3:4:5"].map(str::to_owned).to_vec(),
        ValueType::Prefix => {
            ["0.0.0.0/0", "203.0.113.77/32", "::/0", "2001:db8::1/128"].map(str::to_owned).to_vec()
        }
        ValueType::Mac => ["0000.0000.0000", "ffff.ffff.ffff"].map(str::to_owned).to_vec(),
        ValueType::Decimal => ["0", "99999999999.99999999"].map(str::to_owned).to_vec(),
        ValueType::Quoted => ["\"\"", "\"a | b ? c\"", "word"].map(str::to_owned).to_vec(),
        ValueType::Port => ["1", "16", "1/1/16"].map(str::to_owned).to_vec(),
        ValueType::PortList => {
            ["ethe 1", "ethe 1/1 to 1/16 ethe 1/1/1"].map(str::to_owned).to_vec()
        }
        ValueType::Line => vec![of_length(1), format!("{letter} \"x  y\" ! ? z")],
        ValueType::Ipv4Prefix(most) => {
            vec!["0.0.0.0/0".to_owned(), format!("203.0.113.77/{most}")]
        }
        ValueType::Delimited => ["##", "$ one $", "^Ctwo^C"].map(str::to_owned).to_vec(),
        ValueType::HostPort => ["a:1", "a.example:65535"].map(str::to_owned).to_vec(),
        // Only files that are there are kept.
        ValueType::MasterFile => ["tests/grammar/small.zone", "\"./tests/grammar/small.zone\""]
            .map(str::to_owned)
            .to_vec(),
        ValueType::Reference(_, base) => ends(grammar, base, node),
        ValueType::Choice(id) => choices(&grammar.choices[id.0]),
    }
}

/// Words just outside a type.
pub(crate) fn outside(grammar: &Grammar, value_type: &ValueType) -> Vec<String> {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    match value_type {
        ValueType::Range(low, high) => beside(*low, *high),
        ValueType::Word(most) => vec!["z".repeat(most + 1), "z\"z".to_owned()],
        ValueType::Name(most) => {
            vec!["z".repeat(most + 1), format!("\"{}\"", "z".repeat(most + 1)), "\" \"".to_owned()]
        }
        ValueType::Domain(most) => {
            let long = ["z"; 200].join(".")[..(most + 1).min(399)].to_owned();
            let mut list = texts(&["*", "zz..zz", ".", "zz/zz", "\"\""]);
            list.extend(["z".repeat(64), long.trim_end_matches('.').to_owned() + "z"]);
            list
        }
        ValueType::QueryName(most) => {
            let mut list = texts(&["zz..zz", ".zz", "..", "\"\"", "\"z z\"", "z\u{e9}"]);
            list.extend([
                "z".repeat(64),
                ["z"; 200].join(".")[..=(*most).min(397)].to_owned() + "z",
            ]);
            list
        }
        ValueType::Address => texts(&["256.0.0.1", "192.0.2", "2001:db8::g", "192.0.2.1/24"]),
        ValueType::Ipv4 => texts(&["256.0.0.1", "192.0.2", "192.0.2.1.1", "2001:db8::1"]),
        ValueType::Ipv6 => texts(&["2001:db8::g", "1:2:3:4:5:6:7", "192.0.2.1"]),
        ValueType::Prefix => {
            texts(&["192.0.2.0/33", "2001:db8::/129", "192.0.2.0/", "192.0.2.0/-1", "192.0.2/24"])
        }
        ValueType::Label(most) => {
            let mut list = texts(&["*", "zz.zz", ".", "\"\"", "\"z z\""]);
            list.push("z".repeat(most + 1));
            list
        }
        ValueType::Ipv4Prefix(most) => {
            let mut list = texts(&["192.0.2.0/33", "2001:db8::/16", "192.0.2.0/", "192.0.2/24"]);
            list.push(format!("192.0.2.0/{}", most + 1));
            list
        }
        ValueType::Delimited => texts(&["zq", "\"zq\""]),
        ValueType::Mask => texts(&["255.0.255.0", "0.0.0.255", "255.255.255"]),
        ValueType::Mac => {
            texts(&["0000.5e00", "0000.5e00.530", "0000.5e00.530g", "00:00:5e:00:53:01"])
        }
        ValueType::Decimal => texts(&["1.", ".5", "1.2.3", "-1.5", "1e5", "999999999999999999999"]),
        ValueType::Quoted => texts(&["z\"z"]),
        ValueType::Port => texts(&["zq", "1/", "1/2/3/4", "65", "0", "1/65", "-1"]),
        // What is wrong behind the first word: `grammar::ports`.
        ValueType::PortList => texts(&["zq", "1", "ve"]),
        ValueType::Line => Vec::new(),
        ValueType::HostPort => texts(&["zq", ":80", "zq:0", "zq:65536", "zq:"]),
        ValueType::MasterFile => texts(&["\"\""]),
        ValueType::Reference(_, base) => outside(grammar, base),
        ValueType::Choice(id) => {
            let choice_type = &grammar.choices[id.0];
            let mut list = texts(&["zq", "-1", "\"zq\""]);
            if let (Some(low), Some(high)) = (
                choice_type.ranges.iter().map(|range| range.0).min(),
                choice_type.ranges.iter().map(|range| range.1).max(),
            ) {
                list.extend(beside(low, high));
            }
            list
        }
    }
}

/// What lies beside a range: numbers, and words that are no numbers.
fn beside(low: u64, high: u64) -> Vec<String> {
    let mut list = vec![
        high.saturating_add(1).to_string(),
        "99999999999999999999999".to_owned(),
        "-1".to_owned(),
        format!("{low}x"),
        format!("\"{low}\""),
    ];
    list.extend(low.checked_sub(1).map(|below| below.to_string()));
    list
}

/// A letter that nothing at a node begins with.
fn free_letter(grammar: &Grammar, node: &Node) -> char {
    let taken = |letter: &char| {
        let letter = letter.to_string();
        let words =
            node.words.iter().flat_map(|edge| edge.spellings.iter()).map(arcstr::ArcStr::as_str);
        let choices = node.arguments.iter().filter_map(|edge| match edge.value_type {
            ValueType::Choice(id) => Some(&grammar.choices[id.0].words),
            _ => None,
        });
        words
            .chain(choices.flatten().map(|word| word.word.as_str()))
            .any(|word| starts_with_ignoring_case(word, &letter))
    };
    ['z', 'q', 'j', 'x', 'k', 'y', 'w', 'v'].into_iter().find(|letter| !taken(letter)).unwrap()
}

fn cut(mut text: String, most: usize) -> String {
    text.truncate(most.max(1));
    text
}

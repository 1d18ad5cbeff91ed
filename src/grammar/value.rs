//! Types of arguments and the values that are typed for them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use arcstr::ArcStr;

use crate::config::delimited;
use crate::grammar::link::{Kept, Message};
use crate::grammar::ports::{self, Port, PortSet};
use crate::live::gate;

/// A value as it is kept. There may be millions of them, so what is rare lies in a box: a value is two words wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number, or a choice that stands for one.
    Number(u64),
    /// Position of a choice in its type.
    Choice(u16),
    /// An IPv4 address, or a netmask.
    Ipv4(Ipv4Addr),
    /// An IPv6 address.
    Ipv6(Box<Ipv6Addr>),
    /// A prefix with its host bits cleared.
    Prefix(Box<(IpAddr, u8)>),
    /// Text, as typed. Statements that stand together because of it share it.
    Text(ArcStr),
}

impl Value {
    /// The address that it is, if it is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Value::Ipv4(address) => Some(IpAddr::V4(*address)),
            Value::Ipv6(address) => Some(IpAddr::V6(**address)),
            Value::Number(_) | Value::Choice(_) | Value::Prefix(_) | Value::Text(_) => None,
        }
    }
}

impl From<IpAddr> for Value {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Value::Ipv4(address),
            IpAddr::V6(address) => Value::Ipv6(Box::new(address)),
        }
    }
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A whole number between these, both included.
    Range(u64, u64),
    /// A word of at most so many characters.
    Word(usize),
    /// A name of at most so many characters; it may hold blanks if it is quoted.
    Name(usize),
    /// A domain name of at most so many characters (RFC 1035 section 2.3.4), in any case.
    Domain(usize),
    /// A label of a domain name of at most so many characters, in any case; `$`, `#` and `@` may
    /// be in it, as in the names of SNA.
    Label(usize),
    /// A name that a client may ask for, of at most so many characters: unlike the names of a
    /// configuration it may hold any visible character (RFC 2181 section 11), or be the root.
    QueryName(usize),
    /// An IPv4 or IPv6 address.
    Address,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// Address and length.
    Prefix,
    /// IPv4 address and length of at most so many bits.
    Ipv4Prefix(u8),
    /// An IPv4 netmask.
    Mask,
    /// A hardware address of an Ethernet port, as the device writes it: `0000.5e00.5301`.
    Mac,
    /// A number with a fraction.
    Decimal,
    /// Text that is printed in quotes.
    Quoted,
    /// An Ethernet port, with slot and slash where there are slots.
    Port,
    /// The rest of the line, a list of Ethernet ports.
    PortList,
    /// The rest of the line.
    Line,
    /// A text over several lines, from its delimiter on.
    Delimited,
    /// Host and port.
    HostPort,
    /// Path of a DNS master file (RFC 1035 section 5), which is read when the line is.
    MasterFile,
    /// The last key of a statement that must exist, of one of these names.
    Reference(Box<[Kept]>, Box<ValueType>),
    /// A choice.
    Choice(TypeId),
}

/// Index of a choice type in the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

/// A choice type.
#[derive(Clone, Debug)]
pub struct ChoiceType {
    /// Its name.
    pub name: String,
    /// Its words, in the order of the file.
    pub words: Vec<ChoiceWord>,
    /// Ranges of numbers that it takes besides, with their help texts.
    pub ranges: Vec<(u64, u64, String)>,
    /// What is said of a word that is none of them; `None`: what is said of any unknown word.
    pub otherwise: Option<Message>,
}

/// A word of a choice type.
#[derive(Clone, Debug)]
pub struct ChoiceWord {
    /// The word.
    pub word: String,
    /// The number that it stands for.
    pub number: Option<u64>,
    /// Help text.
    pub help: String,
}

/// How well a word fits a type, in falling order of strength.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The very word of a choice.
    Exact(Value),
    /// A value of a type that takes only such words: number, address, prefix, mask.
    Typed(Value),
    /// A word that any text fits.
    Free(Value),
    /// Beginnings of these choices.
    Beginnings(Vec<usize>),
    /// A number outside this range.
    OutOfRange(u64, u64),
    /// It does not fit.
    No,
}

impl ChoiceType {
    /// The value of the choice at a position.
    pub fn value(&self, position: usize) -> Value {
        match self.words[position].number {
            Some(number) => Value::Number(number),
            None => Value::Choice(u16::try_from(position).unwrap_or(u16::MAX)),
        }
    }

    /// The word that a value is printed as.
    pub fn word_of(&self, value: &Value) -> String {
        match value {
            Value::Choice(position) => {
                self.words.get(usize::from(*position)).map_or_else(String::new, |w| w.word.clone())
            }
            Value::Number(number) => self
                .words
                .iter()
                .find(|word| word.number == Some(*number))
                .map_or_else(|| number.to_string(), |word| word.word.clone()),
            _ => String::new(),
        }
    }
}

impl ValueType {
    /// The types that any word fits; only one of them can stand at one place.
    pub fn is_free(&self) -> bool {
        match self {
            ValueType::Word(_)
            | ValueType::Name(_)
            | ValueType::Domain(_)
            | ValueType::Label(_)
            | ValueType::QueryName(_)
            | ValueType::Quoted
            | ValueType::Line
            | ValueType::PortList
            | ValueType::Delimited
            | ValueType::HostPort
            | ValueType::MasterFile => true,
            ValueType::Reference(_, base) => base.is_free(),
            ValueType::Range(..)
            | ValueType::Address
            | ValueType::Ipv4
            | ValueType::Ipv6
            | ValueType::Prefix
            | ValueType::Ipv4Prefix(_)
            | ValueType::Mask
            | ValueType::Mac
            | ValueType::Decimal
            | ValueType::Port
            | ValueType::Choice(_) => false,
        }
    }

    /// Whether a value of the type takes all that is left of a line.
    pub fn takes_the_rest(&self) -> bool {
        matches!(self, ValueType::Line | ValueType::Delimited | ValueType::PortList)
    }

    /// The value of all that is left of a line, of a type that takes it; `None` if it is none.
    pub fn rest(&self, text: &str) -> Option<Value> {
        match self {
            ValueType::PortList => {
                PortSet::parse(text).map(|list| Value::Text(list.to_string().into()))
            }
            _ => Some(Value::Text(text.into())),
        }
    }

    /// Whether two texts of this type that differ in case are the same.
    pub fn ignores_case(&self) -> bool {
        match self {
            ValueType::Domain(_) | ValueType::Label(_) | ValueType::QueryName(_) => true,
            ValueType::Reference(_, base) => base.ignores_case(),
            _ => false,
        }
    }

    /// Fits a word to the type.
    ///
    /// `quoted` says that the word stood in quotes: then it is text and nothing else.
    pub fn fit(&self, choices: &[ChoiceType], word: &str, quoted: bool) -> Fit {
        if quoted && !self.is_free() {
            return Fit::No;
        }
        match self {
            ValueType::Range(low, high) => fit_range(word, *low, *high),
            ValueType::Word(most) => free(word, *most, |text| !text.is_empty() || quoted),
            ValueType::Name(most) => free(word, *most, |text| !text.trim().is_empty()),
            // Ours: tools write names with the dot of the root; it is dropped.
            ValueType::Domain(most) => {
                free(word.strip_suffix('.').unwrap_or(word), *most, is_domain)
            }
            ValueType::Label(most) => free(word, *most, is_label),
            ValueType::QueryName(most) => free(word, *most, is_query_name),
            ValueType::Address => typed(word.parse::<IpAddr>().ok().map(Value::from)),
            ValueType::Ipv4 => typed(word.parse().ok().map(Value::Ipv4)),
            ValueType::Ipv6 => {
                typed(word.parse().ok().map(|address| Value::Ipv6(Box::new(address))))
            }
            ValueType::Prefix => typed(parse_prefix(word)),
            ValueType::Ipv4Prefix(most) => typed(parse_prefix(word).filter(
                |value| matches!(value, Value::Prefix(prefix) if prefix.0.is_ipv4() && prefix.1 <= *most),
            )),
            ValueType::Mask => typed(parse_mask(word)),
            ValueType::Mac => {
                typed(is_mac(word).then(|| Value::Text(word.to_ascii_lowercase().into())))
            }
            ValueType::Decimal => typed(is_decimal(word).then(|| Value::Text(word.into()))),
            ValueType::Port => {
                typed(Port::parse(word).map(|port| Value::Text(port.to_string().into())))
            }
            ValueType::PortList => free(word, usize::MAX, ports::begins_list),
            ValueType::Quoted => free(word, usize::MAX, |_| true),
            ValueType::Line => Fit::Free(Value::Text(word.into())),
            ValueType::Delimited => match delimited::delimiter(word) {
                Some(_) if !quoted => Fit::Free(Value::Text(word.into())),
                Some(_) | None => Fit::No,
            },
            ValueType::HostPort => free(word, usize::MAX, gate::is_host_port),
            ValueType::MasterFile => free(word, usize::MAX, |text| !text.is_empty()),
            ValueType::Reference(_, base) => base.fit(choices, word, quoted),
            ValueType::Choice(id) => fit_choice(&choices[id.0], word),
        }
    }

    /// What stands for the argument in a list of help.
    pub fn placeholder(&self) -> &'static str {
        match self {
            ValueType::Range(..) | ValueType::Decimal | ValueType::Choice(_) => "DECIMAL",
            ValueType::Word(_)
            | ValueType::Name(_)
            | ValueType::Domain(_)
            | ValueType::Label(_)
            | ValueType::QueryName(_)
            | ValueType::Quoted => "ASCII string",
            ValueType::Address => "A.B.C.D or X:X::X:X",
            ValueType::Ipv4 | ValueType::Mask => "A.B.C.D",
            ValueType::Mac => "HHHH.HHHH.HHHH",
            ValueType::Ipv6 => "X:X::X:X",
            ValueType::Prefix => "A.B.C.D/L or X:X::X:X/L",
            ValueType::Ipv4Prefix(_) => "A.B.C.D/L",
            ValueType::Port => "PORT or SLOT/PORT",
            ValueType::PortList => "ethe PORT [to PORT] ...",
            ValueType::Line => "LINE",
            ValueType::Delimited => "c TEXT c",
            ValueType::HostPort => "HOST:PORT",
            ValueType::MasterFile => "FILE",
            ValueType::Reference(_, base) => base.placeholder(),
        }
    }

    /// Prints a value so that it is read back as the same.
    pub fn print(&self, choices: &[ChoiceType], value: &Value, out: &mut String) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        match (self, value) {
            (ValueType::Reference(_, base), value) => base.print(choices, value, out),
            (ValueType::Choice(id), value) => out.push_str(&choices[id.0].word_of(value)),
            (ValueType::Quoted, Value::Text(text)) => print_quoted(text, out),
            (ValueType::Line | ValueType::Delimited | ValueType::PortList, Value::Text(text)) => {
                out.push_str(text);
            }
            (_, Value::Text(text)) => {
                if text.is_empty() || text.contains(char::is_whitespace) || text.contains('|') {
                    print_quoted(text, out);
                } else {
                    out.push_str(text);
                }
            }
            (_, Value::Number(number)) => {
                let _ = write!(out, "{number}");
            }
            (_, Value::Ipv4(address)) => {
                let _ = write!(out, "{address}");
            }
            (_, Value::Ipv6(address)) => {
                let _ = write!(out, "{address}");
            }
            (_, Value::Prefix(prefix)) => {
                let _ = write!(out, "{}/{}", prefix.0, prefix.1);
            }
            (_, Value::Choice(_)) => {}
        }
    }
}

/// Prints a text in double quotes, which it holds none of.
pub(super) fn print_quoted(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

fn typed(value: Option<Value>) -> Fit {
    value.map_or(Fit::No, Fit::Typed)
}

fn free(word: &str, most: usize, accepts: impl Fn(&str) -> bool) -> Fit {
    if accepts(word) && word.chars().count() <= most && !word.contains('"') {
        Fit::Free(Value::Text(word.into()))
    } else {
        Fit::No
    }
}

fn fit_range(word: &str, low: u64, high: u64) -> Fit {
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Fit::No;
    }
    match word.parse::<u64>() {
        Ok(number) if (low..=high).contains(&number) => Fit::Typed(Value::Number(number)),
        // A number of any length is still a number, so it gets the answer of the range.
        Ok(_) | Err(_) => Fit::OutOfRange(low, high),
    }
}

fn fit_choice(choices: &ChoiceType, word: &str) -> Fit {
    let mut beginnings = Vec::new();
    for (position, choice) in choices.words.iter().enumerate() {
        if choice.word.eq_ignore_ascii_case(word) {
            return Fit::Exact(choices.value(position));
        }
        if starts_with_ignoring_case(&choice.word, word) {
            beginnings.push(position);
        }
    }
    let mut outside = Fit::No;
    for (low, high, _) in &choices.ranges {
        match fit_range(word, *low, *high) {
            Fit::No => {}
            Fit::OutOfRange(low, high) => {
                outside = match outside {
                    Fit::OutOfRange(lowest, highest) => {
                        Fit::OutOfRange(low.min(lowest), high.max(highest))
                    }
                    _ => Fit::OutOfRange(low, high),
                };
            }
            fit => return fit,
        }
    }
    if beginnings.is_empty() { outside } else { Fit::Beginnings(beginnings) }
}

/// Whether `word` begins with `beginning`, which is not empty, in any case.
pub fn starts_with_ignoring_case(word: &str, beginning: &str) -> bool {
    !beginning.is_empty()
        && word
            .as_bytes()
            .get(..beginning.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
}

/// Labels of letters, digits, `-` and `_`, of 1 to 63 characters (RFC 1035 section 2.3.4).
fn is_domain(text: &str) -> bool {
    let label_is_valid = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    !text.is_empty() && text.split('.').all(label_is_valid)
}

/// One label; a domain name on the wire may hold any character (RFC 2181 section 11).
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_$#@".contains(&byte))
}

/// The root, or labels of visible characters, with or without the dot of the root.
fn is_query_name(text: &str) -> bool {
    let label_is_valid = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_graphic())
    };
    text == "." || text.strip_suffix('.').unwrap_or(text).split('.').all(label_is_valid)
}

/// Three groups of four hexadecimal digits.
fn is_mac(word: &str) -> bool {
    let is_group = |group: &str| group.len() == 4 && group.bytes().all(|b| b.is_ascii_hexdigit());
    word.split('.').count() == 3 && word.split('.').all(is_group)
}

fn is_decimal(word: &str) -> bool {
    let mut parts = word.splitn(2, '.');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.len() <= 20 && parts.next().is_some_and(digits) && parts.next().is_none_or(digits)
}

fn parse_prefix(word: &str) -> Option<Value> {
    let (address, length) = word.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let digits = length.bytes().all(|byte| byte.is_ascii_digit());
    let length: u8 = length.parse().ok().filter(|length| digits && *length <= bits)?;
    Some(Value::Prefix(Box::new((mask_address(address, length), length))))
}

/// The address with all bits behind the first `length` cleared.
pub fn mask_address(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

fn parse_mask(word: &str) -> Option<Value> {
    let mask: Ipv4Addr = word.parse().ok()?;
    let bits = u32::from(mask);
    (bits.count_ones() == bits.leading_ones()).then_some(Value::Ipv4(mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_tells_numbers_outside_from_other_words() {
        let weight = ValueType::Range(0, 100);
        assert_eq!(weight.fit(&[], "100", false), Fit::Typed(Value::Number(100)));
        assert_eq!(weight.fit(&[], "101", false), Fit::OutOfRange(0, 100));
        assert_eq!(weight.fit(&[], "99999999999999999999999", false), Fit::OutOfRange(0, 100));
        assert_eq!(weight.fit(&[], "-1", false), Fit::No);
        assert_eq!(weight.fit(&[], "5", true), Fit::No, "a quoted number is text");
    }

    #[test]
    fn a_value_is_two_words_wide() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn host_bits_of_a_prefix_are_cleared() {
        let Fit::Typed(value) = ValueType::Prefix.fit(&[], "203.0.113.77/20", false) else {
            panic!("not a prefix")
        };
        let prefix =
            |address: &str, length| Value::Prefix(Box::new((address.parse().unwrap(), length)));
        assert_eq!(value, prefix("203.0.112.0", 20));
        assert_eq!(ValueType::Prefix.fit(&[], "192.0.2.1/33", false), Fit::No);
        assert_eq!(ValueType::Prefix.fit(&[], "192.0.2.1/+4", false), Fit::No);
        let clients = ValueType::Ipv4Prefix(31);
        assert!(matches!(clients.fit(&[], "192.0.2.1/31", false), Fit::Typed(_)));
        assert_eq!(clients.fit(&[], "192.0.2.1/32", false), Fit::No);
        assert_eq!(clients.fit(&[], "2001:db8::/16", false), Fit::No);
        assert_eq!(parse_prefix("2001:db8::1/0").unwrap(), prefix("::", 0));
    }

    #[test]
    fn domains_hold_no_wildcard() {
        assert!(is_domain("a.b-c_d"));
        assert!(!is_domain("*"));
        assert!(!is_domain("a..b"));
        assert!(!is_domain(&"x".repeat(64)));
    }

    #[test]
    fn the_dot_of_the_root_is_dropped() {
        let fit = |word| ValueType::Domain(255).fit(&[], word, false);
        assert_eq!(fit("www.example.com."), Fit::Free(Value::Text("www.example.com".into())));
        assert_eq!(fit("."), Fit::No);
        assert_eq!(fit("www.."), Fit::No);
    }

    #[test]
    fn a_label_is_one_label_in_any_case() {
        let label = ValueType::Label(8);
        let free = |text: &str| Fit::Free(Value::Text(text.into()));
        assert_eq!(label.fit(&[], "LU#01$@", false), free("LU#01$@"));
        assert_eq!(label.fit(&[], "POOL-1", true), free("POOL-1"));
        for word in ["a.b", "", "LU 1", "ninechars", "*"] {
            assert_eq!(label.fit(&[], word, false), Fit::No, "{word}");
        }
        assert!(label.ignores_case());
    }

    #[test]
    fn masks_are_contiguous() {
        assert!(parse_mask("255.255.254.0").is_some());
        assert!(parse_mask("255.0.255.0").is_none());
        assert!(parse_mask("0.0.0.0").is_some());
    }
}

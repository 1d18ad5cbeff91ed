//! Ethernet ports in words: one (`6`, `1/3`), and lists (`ethe 1 to 4 ethe 7`), which the device
//! prints with the short word whatever was typed (base-cli 2.3).

use std::fmt;

/// The word before a port in a list as it is printed, and the word that it is a beginning of.
const PRINTED: &str = "ethe";
const WHOLE: &str = "ethernet";
/// The word between the ends of a range.
const TO: &str = "to";

/// The highest number of a port in its slot: no model of the product line has more (base-cli 2.1
/// takes 65 for no port at all).
pub const MOST_IN_SLOT: u16 = 64;
/// The highest number of a slot, and of the unit before it.
const MOST_SLOTS: u16 = 32;

/// An Ethernet port: its number, with the slot (and the unit) before it where there are some.
/// Ports of one kind are in order; the next one behind the last of a slot is the first of the
/// next slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port {
    /// Numbers before the port's own: none, the slot, or unit and slot.
    outer: u8,
    /// The place among the ports with as many numbers.
    place: u32,
}

impl Port {
    /// The port of that name; `None` if it is none.
    pub fn parse(word: &str) -> Option<Port> {
        let numbers = word.split('/').map(|text| {
            let is_number =
                (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| is_number && *number > 0)
        });
        let numbers: Vec<u16> = numbers.collect::<Option<_>>()?;
        let (port, outer) = numbers.split_last()?;
        if *port > MOST_IN_SLOT || outer.len() > 2 || outer.iter().any(|one| *one > MOST_SLOTS) {
            return None;
        }
        let slots =
            outer.iter().fold(0, |all, one| all * u32::from(MOST_SLOTS) + u32::from(one - 1));
        let place = slots * u32::from(MOST_IN_SLOT) + u32::from(port - 1);
        Some(Port { outer: u8::try_from(outer.len()).ok()?, place })
    }

    /// Its number in its slot.
    pub fn number(self) -> u16 {
        u16::try_from(self.place % u32::from(MOST_IN_SLOT)).unwrap_or(0) + 1
    }

    /// Its slot, if that is named.
    pub fn slot(self) -> Option<u16> {
        let slot = self.place / u32::from(MOST_IN_SLOT) % u32::from(MOST_SLOTS);
        (self.outer > 0).then(|| u16::try_from(slot).unwrap_or(0) + 1)
    }

    /// Its unit, if that is named.
    pub fn unit(self) -> Option<u16> {
        let unit = self.place / u32::from(MOST_IN_SLOT) / u32::from(MOST_SLOTS);
        (self.outer > 1).then(|| u16::try_from(unit).unwrap_or(0) + 1)
    }

    fn next(self) -> Port {
        Port { place: self.place + 1, ..self }
    }

    fn previous(self) -> Port {
        Port { place: self.place.saturating_sub(1), ..self }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outer in [self.unit(), self.slot()].into_iter().flatten() {
            write!(formatter, "{outer}/")?;
        }
        write!(formatter, "{}", self.number())
    }
}

/// A set of Ethernet ports: ranges in order, with something between any two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortSet(Vec<(Port, Port)>);

impl PortSet {
    /// The ports from one to another one.
    pub fn range(first: Port, last: Port) -> Self {
        PortSet(vec![(first, last)])
    }

    /// The set that a list names; `None` if it is no list.
    pub fn parse(text: &str) -> Option<Self> {
        let mut ranges = Vec::new();
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let first = words.next().filter(|_| begins_list(word)).and_then(Port::parse)?;
            let mut last = first;
            if words.next_if(|word| word.eq_ignore_ascii_case(TO)).is_some() {
                // A range goes upward, and not from a port with a slot to one without.
                let is_range = |last: &Port| last.outer == first.outer && *last >= first;
                last = words.next().and_then(Port::parse).filter(is_range)?;
            }
            ranges.push((first, last));
        }
        (!ranges.is_empty()).then(|| Self::of(ranges))
    }

    fn of(mut ranges: Vec<(Port, Port)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(Port, Port)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.next() && first.outer == before.1.outer => {
                    before.1 = before.1.max(last);
                }
                _ => joined.push((first, last)),
            }
        }
        PortSet(joined)
    }

    /// Whether there is no port in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges in order, each by its ends.
    pub fn ranges(&self) -> &[(Port, Port)] {
        &self.0
    }

    /// The ports of both.
    #[must_use]
    pub fn with(&self, other: &PortSet) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied().collect())
    }

    /// The ports of this one that are not in the other.
    #[must_use]
    pub fn without(&self, other: &PortSet) -> Self {
        let mut left = Vec::with_capacity(self.0.len());
        for (first, last) in &self.0 {
            let mut first = *first;
            let mut is_used_up = false;
            for (out_first, out_last) in &other.0 {
                if *out_last < first || out_first > last || out_first.outer != first.outer {
                    continue;
                }
                if *out_first > first {
                    left.push((first, out_first.previous()));
                }
                is_used_up = out_last >= last;
                first = out_last.next();
                if is_used_up {
                    break;
                }
            }
            if !is_used_up {
                left.push((first, *last));
            }
        }
        PortSet(left)
    }

    /// Whether it has all ports of another one.
    pub fn has_all(&self, other: &PortSet) -> bool {
        other.without(self).is_empty()
    }

    /// Whether it has a port.
    pub fn has(&self, port: Port) -> bool {
        self.has_all(&PortSet::range(port, port))
    }
}

/// As the device prints it, with the short word whatever was typed (base-cli 2.3).
impl fmt::Display for PortSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (first, last)) in self.0.iter().enumerate() {
            let blank = if place > 0 { " " } else { "" };
            write!(formatter, "{blank}{PRINTED} {first}")?;
            if first != last {
                write!(formatter, " {TO} {last}")?;
            }
        }
        Ok(())
    }
}

/// Whether a port is one of a chassis: its slot is named.
pub fn is_in_slot(port: &str) -> bool {
    port.contains('/')
}

/// Whether a word may begin a list of ports.
pub(super) fn begins_list(word: &str) -> bool {
    !word.is_empty()
        && WHOLE.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// A word that stands where a port should, as the device tells it: it takes a word and a number that
/// stand together apart, for they may be a kind of port and its number (base-cli 2.1).
pub fn taken_apart(word: &str) -> Option<String> {
    let digits = word.find(|one: char| !one.is_ascii_alphabetic()).filter(|place| *place > 0)?;
    let (kind, number) = word.split_at(digits);
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{kind}  {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports() {
        for port in ["1", "64", "1/3", "32/64", "1/1/24", "32/32/64"] {
            let parsed = Port::parse(port).unwrap_or_else(|| panic!("{port}"));
            assert_eq!(parsed.to_string(), port);
        }
        for word in [
            "", "x", "0", "65", "1/", "/1", "1/x", "0/1", "1/65", "33/1", "1/2/3/4", "12345", "-1",
            "+1", "1-3",
        ] {
            assert_eq!(Port::parse(word), None, "{word}");
        }
        assert_eq!(Port::parse("007").unwrap().to_string(), "7");
        assert!(is_in_slot("1/3") && !is_in_slot("3"));
        let port = Port::parse("2/3/4").unwrap();
        assert_eq!((port.unit(), port.slot(), port.number()), (Some(2), Some(3), 4));
        let port = Port::parse("4").unwrap();
        assert_eq!((port.unit(), port.slot(), port.number()), (None, None, 4));
    }

    fn set(text: &str) -> PortSet {
        PortSet::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn lists_are_printed_in_order_with_the_short_word() {
        for (typed, printed) in [
            ("ethe 1", "ethe 1"),
            ("ethernet 1 TO 4", "ethe 1 to 4"),
            ("e 1/1  Eth 1/5 to 1/8", "ethe 1/1 ethe 1/5 to 1/8"),
            ("ethe 7 ethe 1 ethe 2 to 3 ethe 3", "ethe 1 to 3 ethe 7"),
            ("ethe 2/1 ethe 64 ethe 1/64 ethe 1/1/1", "ethe 64 ethe 1/64 to 2/1 ethe 1/1/1"),
        ] {
            assert_eq!(set(typed).to_string(), printed);
        }
        for text in ["", "1", "ethe", "ethe x", "ethe 1 to", "ethe 1 2", "ethe 1 to 4 to 5", "ve 1"]
        {
            assert_eq!(PortSet::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_go_upward() {
        for text in ["ethe 9 to 10", "ethe 1/9 to 1/10", "ethe 1/24 to 2/1"] {
            assert_eq!(set(text).to_string(), text);
        }
        assert_eq!(set("ethe 5 to 5").to_string(), "ethe 5");
        for text in ["ethe 5 to 2", "ethe 10 to 9", "ethe 1/8 to 1/1", "ethe 1 to 1/4"] {
            assert_eq!(PortSet::parse(text), None, "{text}");
        }
    }

    /// Every set of up to five ports, against a plain list of them.
    #[test]
    fn sets_are_what_lists_of_ports_are() {
        let ports: Vec<Port> =
            ["1", "2", "3", "1/63", "1/64", "2/1"].map(|port| Port::parse(port).unwrap()).to_vec();
        let chosen = |mask: usize| -> Vec<Port> {
            let all = ports.iter().enumerate();
            all.filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, port)| *port).collect()
        };
        let of = |ports: &[Port]| PortSet::of(ports.iter().map(|port| (*port, *port)).collect());
        for one in 0..64 {
            for other in 0..64 {
                let (a, b) = (of(&chosen(one)), of(&chosen(other)));
                assert_eq!(a.with(&b), of(&chosen(one | other)), "{a} with {b}");
                assert_eq!(a.without(&b), of(&chosen(one & !other)), "{a} without {b}");
                assert_eq!(a.has_all(&b), one & other == other, "{a} has {b}");
            }
        }
        assert!(set("ethe 1 to 4 ethe 7").has(ports[2]) && !set("ethe 1 to 2").has(ports[2]));
        assert!(!set("ethe 1/1 to 1/4").has(ports[2]));
    }

    #[test]
    fn words_and_numbers_are_taken_apart() {
        assert_eq!(taken_apart("nonexistent99").as_deref(), Some("nonexistent  99"));
        for word in ["99", "nonexistent", "1/65", "x1/65", "1x", "", "\u{e4}9"] {
            assert_eq!(taken_apart(word), None, "{word}");
        }
    }
}

//! Ethernet ports in words: one (`6`, `1/3`), and lists (`ethe 1 to 4 ethe 7`), which the device
//! prints with the short word whatever was typed (base-cli 2.3).

/// The most numbers between slashes.
const MOST_NUMBERS: usize = 3;

/// The word before a port in a list as it is printed, and the word that it is a beginning of.
const PRINTED: &str = "ethe";
const WHOLE: &str = "ethernet";
/// The word between the ends of a range.
const TO: &str = "to";

/// Whether a word is a port: a number, with slot (and unit) before it where there are some.
pub(super) fn is_port(word: &str) -> bool {
    let mut numbers = word.split('/');
    let is_number = |number: &str| {
        (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    word.split('/').count() <= MOST_NUMBERS && numbers.all(is_number)
}

/// Whether a port is one of a chassis: its slot is named.
pub fn is_in_slot(port: &str) -> bool {
    port.contains('/')
}

/// Whether a range of ports may go from one to another: upward, and not from a port with a slot to one
/// without.
fn is_range(first: &str, last: &str) -> bool {
    let numbers = |port: &str| -> Vec<u32> {
        port.split('/').filter_map(|number| number.parse().ok()).collect()
    };
    let (first, last) = (numbers(first), numbers(last));
    first.len() == last.len() && first <= last
}

/// Whether a word may begin a list of ports.
pub(super) fn begins_list(word: &str) -> bool {
    !word.is_empty()
        && WHOLE.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// A list of ports as it is printed; `None` if it is none.
pub(super) fn list(text: &str) -> Option<String> {
    let mut printed: Vec<&str> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let first = words.next().filter(|port| begins_list(word) && is_port(port))?;
        printed.extend([PRINTED, first]);
        if words.next_if(|word| word.eq_ignore_ascii_case(TO)).is_some() {
            let last = words.next().filter(|port| is_port(port) && is_range(first, port))?;
            printed.extend([TO, last]);
        }
    }
    (!printed.is_empty()).then(|| printed.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports() {
        for port in ["1", "16", "1/3", "1/1/24"] {
            assert!(is_port(port), "{port}");
        }
        for word in ["", "x", "1/", "/1", "1/x", "1/2/3/4", "12345", "-1", "1-3"] {
            assert!(!is_port(word), "{word}");
        }
        assert!(is_in_slot("1/3") && !is_in_slot("3"));
    }

    #[test]
    fn lists_are_printed_with_the_short_word() {
        for (typed, printed) in [
            ("ethe 1", "ethe 1"),
            ("ethernet 1 TO 4", "ethe 1 to 4"),
            ("e 1/1  Eth 1/5 to 1/8", "ethe 1/1 ethe 1/5 to 1/8"),
        ] {
            assert_eq!(list(typed).as_deref(), Some(printed));
        }
        for text in ["", "1", "ethe", "ethe x", "ethe 1 to", "ethe 1 2", "ethe 1 to 4 to 5", "ve 1"]
        {
            assert_eq!(list(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_go_upward() {
        for text in ["ethe 5 to 5", "ethe 9 to 10", "ethe 1/9 to 1/10", "ethe 1/24 to 2/1"] {
            assert_eq!(list(text).as_deref(), Some(text));
        }
        for text in ["ethe 5 to 2", "ethe 10 to 9", "ethe 1/8 to 1/1", "ethe 1 to 1/4"] {
            assert_eq!(list(text), None, "{text}");
        }
    }
}

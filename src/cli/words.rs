//! A line to its words, with the place of each.

use smallvec::SmallVec;

/// A word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word without its quotes.
    pub text: &'a str,
    /// Where it begins in the line, its quote included.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether it stood in double quotes.
    pub quoted: bool,
}

/// The words of a line.
pub type Words<'a> = SmallVec<[Word<'a>; 8]>;

/// Splits a line at blanks. A word that begins with a double quote reaches to the next one, or to
/// the end of the line.
pub fn split(line: &str) -> Words<'_> {
    let bytes = line.as_bytes();
    let mut words = Words::new();
    let mut place = 0;
    while place < bytes.len() {
        if bytes[place].is_ascii_whitespace() {
            place += 1;
            continue;
        }
        let start = place;
        if bytes[place] == b'"' {
            let text_start = place + 1;
            let length = line[text_start..].find('"');
            let text_end = length.map_or(bytes.len(), |length| text_start + length);
            place = length.map_or(bytes.len(), |_| text_end + 1);
            let text = &line[text_start..text_end];
            words.push(Word { text, start, end: place, quoted: true });
        } else {
            let length = bytes[start..].iter().position(u8::is_ascii_whitespace);
            place = length.map_or(bytes.len(), |length| start + length);
            words.push(Word { text: &line[start..place], start, end: place, quoted: false });
        }
    }
    words
}

/// Whether the text ends inside an open double quote, where `?` is an ordinary character.
pub fn is_inside_quotes(text: &str) -> bool {
    split(text).last().is_some_and(|word| {
        word.quoted && word.end == text.len() && (word.end - word.start < 2 || !text.ends_with('"'))
    })
}

/// The place of the first `|` that stands as a word of its own.
pub fn pipe(words: &[Word<'_>]) -> Option<usize> {
    words.iter().position(|word| !word.quoted && word.text == "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places() {
        let words = split("  gslb  site \"San Jose\" x");
        let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
        assert_eq!(texts, ["gslb", "site", "San Jose", "x"]);
        assert_eq!((words[2].start, words[2].end, words[2].quoted), (13, 23, true));
    }

    #[test]
    fn an_open_quote_reaches_to_the_end() {
        assert_eq!(split("a \"b c")[1].text, "b c");
        assert!(is_inside_quotes("gslb site \"San "));
        assert!(is_inside_quotes("gslb site \""));
        assert!(!is_inside_quotes("gslb site \"San Jose\""));
        assert!(!is_inside_quotes("gslb site \"San Jose\" "));
        assert!(!is_inside_quotes(""));
    }

    #[test]
    fn other_characters_than_ascii_are_kept() {
        assert_eq!(split("désc ü\u{a0}x")[1].text, "ü\u{a0}x");
    }
}

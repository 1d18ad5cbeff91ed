//! What stands behind the `|` of a display: `include`, `exclude`, `begin` (base-cli 2.5).

use regex::Regex;

use crate::names::named_enum;

named_enum! {
    /// How the lines of a display are filtered.
    pub enum Filter {
        /// From the first line that matches.
        Begin = "begin",
        /// Lines that do not match.
        Exclude = "exclude",
        /// Lines that match.
        Include = "include",
    }
}

/// A filter with its pattern.
#[derive(Clone, Debug)]
pub struct OutputFilter {
    filter: Filter,
    pattern: Regex,
}

/// The largest compiled pattern, bytes.
const MOST_BYTES: usize = 1 << 20;

impl OutputFilter {
    /// A filter by a regular expression; `None` if it is none.
    pub fn new(filter: Filter, pattern: &str) -> Option<Self> {
        let pattern = regex::RegexBuilder::new(pattern).size_limit(MOST_BYTES).build().ok()?;
        Some(OutputFilter { filter, pattern })
    }

    /// The lines of a text that pass.
    pub fn apply(&self, text: &str) -> String {
        let mut begun = false;
        let mut out = String::new();
        for line in text.lines() {
            let matches = self.pattern.is_match(line);
            let passes = match self.filter {
                Filter::Include => matches,
                Filter::Exclude => !matches,
                Filter::Begin => {
                    begun |= matches;
                    begun
                }
            };
            if passes {
                out.push_str(line);
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(filter: Filter, pattern: &str) -> String {
        OutputFilter::new(filter, pattern).unwrap().apply("one\ntwo\nthree\n")
    }

    #[test]
    fn lines_are_filtered() {
        assert_eq!(filter(Filter::Include, "^t"), "two\nthree\n");
        assert_eq!(filter(Filter::Exclude, "t.o"), "one\nthree\n");
        assert_eq!(filter(Filter::Begin, "two"), "two\nthree\n");
    }

    #[test]
    fn a_bad_or_huge_pattern_is_none() {
        assert!(OutputFilter::new(Filter::Include, "(").is_none());
        assert!(OutputFilter::new(Filter::Include, "(a{1000}){1000}").is_none());
    }
}

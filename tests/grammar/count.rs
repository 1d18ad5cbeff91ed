//! How much was tested, by kind: printed, and required to be something.

use std::collections::BTreeMap;
use std::fmt;

/// Numbers of checked things by kind.
#[derive(Debug, Default)]
pub(crate) struct Count(BTreeMap<&'static str, usize>);

impl Count {
    /// One more of that kind.
    pub(crate) fn one(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// How many of that kind.
    pub(crate) fn of(&self, kind: &str) -> usize {
        self.0.get(kind).copied().unwrap_or_default()
    }

    /// Requires so many of each kind at least, and prints all.
    #[allow(clippy::disallowed_macros, clippy::print_stdout, reason = "the numbers of a test")]
    pub(crate) fn require(&self, title: &str, kinds: &[(&'static str, usize)]) {
        println!("{title}: {self}");
        for (kind, least) in kinds {
            let found = self.of(kind);
            assert!(found >= *least, "{title}: only {found} of «{kind}» were tested");
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        formatter.write_str(&parts.join(", "))
    }
}

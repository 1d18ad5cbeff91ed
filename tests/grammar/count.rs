//! How much was tested, by kind: printed, and required to be something.

use std::collections::BTreeMap;
use std::fmt;

use proptest::prelude::ProptestConfig;

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

/// So many cases of a property, or as many as `PROPTEST_CASES` says. Nothing is written: a failure
/// prints the smallest case, which then becomes a test of its own.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let defaults = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { defaults.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..defaults }
}

//! The small grammar of the tests' own.

use adxemu::grammar::{FILES, Grammar};

/// Every type and every clause of the notation, in a few commands.
pub(crate) fn small() -> Grammar {
    let messages = FILES.iter().find(|(name, _)| *name == "messages").unwrap();
    let files = [("small.grammar", include_str!("small.grammar")), *messages];
    match Grammar::load(&files) {
        Ok(grammar) => grammar,
        Err(error) => panic!("{error}"),
    }
}

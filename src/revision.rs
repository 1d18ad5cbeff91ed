//! Numbers that tell whether something is still what it was.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that changes whenever what carries it changes, and that nothing else in the process
/// has ever had: equal revisions mean equal content. What was never changed since it was made empty
/// has the default.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Revision(u64);

impl Revision {
    /// One that nothing has had yet.
    pub fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Revision(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// The number says nothing, so two things that differ in it alone look the same.
impl fmt::Debug for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Revision(..)")
    }
}

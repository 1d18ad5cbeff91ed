//! `show emulate dns` (ours): what the DNS responder has counted since the start.

use super::page::Page;
use crate::counters::Counters;
use crate::dns::drops::Drops;

/// `show emulate dns`: a line for each counter, and what the system dropped before it was read.
pub fn dns_counters(counters: &Counters, drops: &Drops) -> String {
    let mut page = Page::default();
    for (name, value) in counters.values() {
        page.line(format!("{name:<30} = {value:>10}"));
    }
    let dropped = drops.total().map_or_else(|| "unknown".to_owned(), |total| total.to_string());
    page.line(format!("{:<30} = {dropped:>10}", "dropped by the system"));
    page.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn every_counter_has_its_line() {
        let counters = Counters::default();
        counters.questions.store(12, Ordering::Relaxed);
        let text = dns_counters(&counters, &Drops::default());
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("questions                      =         12"));
        assert_eq!(text.lines().count(), counters.values().len() + 1);
        assert!(text.contains("\ndropped by the system          = "));
    }
}

//! `show gslb global-stat` (guide p. 191): counters of the answers that the appliance makes itself.

use std::sync::atomic::{AtomicU64, Ordering};

use super::page::Page;
use crate::counters::Counters;

/// `show gslb global-stat` (guide p. 191).
pub fn global_stat(counters: &Counters) -> String {
    let direct = pair("Direct response", &counters.cache_proxy_direct_responses);
    let redirected = pair("Redirect", &counters.intercept_redirects);
    let intercepted = pair("Direct response", &counters.intercept_direct_responses);
    let errors = pair("Error handling cnt", &counters.error_handling_responses);
    let mut page = Page::default();
    page.line("DNS cache proxy stat:");
    page.line(format!("  {direct}"));
    page.line("DNS query intercept stat:");
    page.line(format!("  {redirected}    {intercepted}"));
    page.line("Unsupported query types stat:");
    page.line(format!("  {errors}"));
    page.finish()
}

fn pair(label: &str, counter: &AtomicU64) -> String {
    format!("{label:<18} = {:>10}", counter.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_of_the_guide() {
        let counters = Counters::default();
        counters.cache_proxy_direct_responses.store(1, Ordering::Relaxed);
        counters.error_handling_responses.store(3, Ordering::Relaxed);
        let expected = "\
DNS cache proxy stat:
  Direct response    =          1
DNS query intercept stat:
  Redirect           =          0    Direct response    =          0
Unsupported query types stat:
  Error handling cnt =          3
";
        assert_eq!(global_stat(&counters), expected);
        assert_eq!(global_stat(&counters), expected, "reading counts nothing");
    }

    #[test]
    fn the_two_counters_of_intercepted_questions() {
        let counters = Counters::default();
        counters.intercept_redirects.store(20, Ordering::Relaxed);
        counters.intercept_direct_responses.store(u64::MAX, Ordering::Relaxed);
        let expected =
            "  Redirect           =         20    Direct response    = 18446744073709551615";
        assert_eq!(global_stat(&counters).lines().nth(3), Some(expected));
    }
}

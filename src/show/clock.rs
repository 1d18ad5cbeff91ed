//! `show clock`: the time of day.

use super::date::Civil;
use super::page::Page;

/// `show clock`; `local_seconds` are seconds since midnight of 1970-01-01 in that zone.
///
/// The clock of the emulator gives whole seconds, so the thousandths are always zero.
pub fn clock(local_seconds: u64, zone: &str) -> String {
    let now = Civil::from_unix(local_seconds);
    let mut page = Page::default();
    page.line(format!("{}.000 {zone} {}", now.time(), now.date()));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DrivenClock;

    #[test]
    fn the_driven_clock_begins_in_the_month_of_the_guide() {
        assert_eq!(
            clock(DrivenClock::WALL_START, "GMT+00"),
            "00:00:00.000 GMT+00 Tue Jan 31 2012\n"
        );
        assert_eq!(
            clock(DrivenClock::WALL_START + 3661, "Pacific"),
            "01:01:01.000 Pacific Tue Jan 31 2012\n"
        );
    }
}

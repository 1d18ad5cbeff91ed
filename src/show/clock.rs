//! `show clock`: the time of day.

use super::date::Civil;
use super::page::Page;

/// The device's zone: times are shown in UTC.
pub(super) const ZONE: &str = "GMT+00";

/// `show clock`; `wall_seconds` are seconds since 1970-01-01 00:00:00 UTC.
///
/// The clock of the emulator gives whole seconds, so the thousandths are always zero.
pub fn clock(wall_seconds: u64) -> String {
    let now = Civil::from_unix(wall_seconds);
    let mut page = Page::default();
    page.line(format!("{}.000 {ZONE} {}", now.time(), now.date()));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DrivenClock;

    #[test]
    fn the_driven_clock_begins_in_the_month_of_the_guide() {
        assert_eq!(clock(DrivenClock::WALL_START), "00:00:00.000 GMT+00 Tue Jan 31 2012\n");
        assert_eq!(clock(DrivenClock::WALL_START + 3661), "01:01:01.000 GMT+00 Tue Jan 31 2012\n");
    }
}

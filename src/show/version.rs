//! `show version`: the software that the appliance claims to run, and for how long.

use super::date::Civil;
use super::page::Page;

/// What does not change while the appliance runs. The words are those that programs which read
/// this display look for; numbers and labels are ours.
const FIXED: &str = "\
Copyright (c) 1996-2012 Brocade Communications Systems, Inc.
Boot Version 12.00.00 Jan 31 2012 14:07:08 PST label: dobv12000
Monitor Version 12.00.00 Jan 31 2012 14:07:08 PST label: dobv12000
System Version 12.4.00T403 Jan 31 2012 14:07:08 PST label: ASR12400
AXP Version: 12.4.00
PAX Version: 12.4.00
MBRIDGE Version: 12.4.00
Type: ServerIron ADX 1000
Backplane Serial #: EMULATED0001
Emulated by adxemu";

/// `show version`; `uptime` in seconds, `local_seconds` are seconds since midnight of 1970-01-01 in that
/// zone.
pub fn version(uptime: u64, local_seconds: u64, zone: &str) -> String {
    let started = Civil::from_unix(local_seconds.saturating_sub(uptime));
    let (days, hours) = (uptime / 86_400, uptime / 3600 % 24);
    let (minutes, seconds) = (uptime / 60 % 60, uptime % 60);
    let mut page = Page::default();
    page.line(FIXED);
    page.line(format!(
        "System uptime is {days} days {hours} hours {minutes} minutes {seconds} seconds"
    ));
    page.line(format!("The system started at {}, {zone}, {}", started.time(), started.date()));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_and_start() {
        let started = 1_325_505_600;
        let uptime = 3 * 86_400 + 4 * 3600 + 5 * 60 + 6;
        let text = version(uptime, started + uptime, "GMT+00");
        let expected = "
System uptime is 3 days 4 hours 5 minutes 6 seconds
The system started at 12:00:00, GMT+00, Mon Jan 02 2012
";
        assert!(text.ends_with(expected), "{text}");
        assert_eq!(text, version(uptime, started + uptime, "GMT+00"));
    }

    #[test]
    fn programs_find_their_words() {
        let text = version(0, 0, "GMT+00");
        let system = text.find("System Version 12.4.00T403 ").unwrap();
        let kind = text.find("\nType: ").unwrap();
        let serial = text.find("\nBackplane Serial").unwrap();
        assert!(system < kind && kind < serial);
    }
}

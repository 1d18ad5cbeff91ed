//! `show logging`: the head and the log buffer, newest message first (GSLB guide p. 187).

use super::date::Civil;
use super::page::Page;
use crate::log::{Entry, Stamp, Totals};
use crate::model::logging::{LogLevel, LogSettings};

/// `show logging`; `entries` oldest first.
pub fn logging(settings: &LogSettings, totals: &Totals, entries: &[Entry]) -> String {
    let switch = if settings.on { "enabled" } else { "disabled" };
    let levels: String = LogLevel::ALL
        .iter()
        .filter(|level| settings.has_level(**level))
        .map(|level| level.letter())
        .collect();
    let mut page = Page::default();
    page.line(format!(
        "Syslog logging: {switch} ({} messages dropped, {} flushes, {} overruns)",
        totals.dropped, totals.flushes, totals.overruns
    ));
    page.line(format!("    Buffer logging: level {levels}, {} messages logged", totals.logged));
    page.line("    level code: A=alert C=critical D=debugging M=emergency E=error");
    page.line("                I=informational N=notification W=warning");
    page.part();
    page.line(format!("Dynamic Log Buffer ({} entries):", settings.size));
    for entry in entries.iter().rev() {
        page.line(log_line(entry));
    }
    page.finish()
}

/// A message as the buffer and a monitoring session show it: time, level, text.
pub fn log_line(entry: &Entry) -> String {
    format!("{}:{}:{}", stamp(entry.stamp), entry.level.letter(), entry.text)
}

/// The time since the start, or the time of day once it is set.
fn stamp(stamp: Stamp) -> String {
    if let Some(wall) = stamp.wall {
        let civil = Civil::from_unix(wall);
        return format!("{} {}", civil.month_and_day(), civil.time());
    }
    let uptime = stamp.uptime;
    let (days, hours) = (uptime / 86_400, uptime / 3600 % 24);
    format!("{days:02}d{hours:02}h{:02}m{:02}s", uptime / 60 % 60, uptime % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(uptime: u64, wall: Option<u64>, level: LogLevel, text: &str) -> Entry {
        Entry { number: 0, stamp: Stamp { uptime, wall }, level, text: text.to_owned() }
    }

    #[test]
    fn the_layout_of_the_guide() {
        let entries = [
            entry(0, None, LogLevel::Informational, "Warm start"),
            entry(88, None, LogLevel::Notification, "L4 server 192.0.2.1 rs1 is up"),
            entry(99, Some(1_325_505_600), LogLevel::Warning, "Later"),
        ];
        let totals = Totals { logged: 16, ..Totals::default() };
        let mut settings = LogSettings::default();
        let expected = "\
Syslog logging: enabled (0 messages dropped, 0 flushes, 0 overruns)
    Buffer logging: level ACDMEINW, 16 messages logged
    level code: A=alert C=critical D=debugging M=emergency E=error
                I=informational N=notification W=warning

Dynamic Log Buffer (50 entries):
Jan 02 12:00:00:W:Later
00d00h01m28s:N:L4 server 192.0.2.1 rs1 is up
00d00h00m00s:I:Warm start
";
        assert_eq!(logging(&settings, &totals, &entries), expected);
        settings.set(LogLevel::Debugging, false);
        settings.on = false;
        let text = logging(&settings, &totals, &[]);
        assert!(text.contains("logging: disabled") && text.contains("level ACMEINW,"), "{text}");
    }

    #[test]
    fn long_times() {
        let line = log_line(&entry(123 * 86_400 + 3661, None, LogLevel::Alert, "x"));
        assert_eq!(line, "123d01h01m01s:A:x");
    }
}

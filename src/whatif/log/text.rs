//! Logs as text: one question a line, `time client name type`.
//!
//! The time is in seconds, with a fraction if wanted, or a date of RFC 3339 in UTC. Empty lines and
//! those that begin with `#` are left out.

use std::io::{BufRead, Read as _};
use std::time::UNIX_EPOCH;

use hickory_proto::rr::RecordType;

use super::{Form, Logged};
use crate::dns::client;
use crate::dns::name;
use crate::whatif::Problem;

/// The longest line, bytes: the longest name takes 1004 with every byte escaped.
const LONGEST_LINE: usize = 4096;

/// A log as text.
pub(super) struct Text {
    name: String,
    source: Box<dyn BufRead + Send>,
    line: u64,
    buffer: Vec<u8>,
}

impl Text {
    pub(super) fn new(name: &str, source: Box<dyn BufRead + Send>) -> Self {
        Text { name: name.to_owned(), source, line: 0, buffer: Vec::new() }
    }

    fn fail(&self, reason: impl std::fmt::Display) -> Problem {
        Problem::log(&format!("{}:{}", self.name, self.line), &reason)
    }
}

impl Form for Text {
    fn next(&mut self) -> Result<Option<Logged>, Problem> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
            let mut source = (&mut self.source).take(most);
            let read = source.read_until(b'\n', &mut self.buffer);
            let count = read.map_err(|error| self.fail(error))?;
            if count == 0 {
                return Ok(None);
            }
            if count == LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
                return Err(self.fail(format!("the line is longer than {LONGEST_LINE} bytes")));
            }
            let Ok(line) = str::from_utf8(&self.buffer) else {
                return Err(self.fail("the line is no text (UTF-8)"));
            };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            return read_line(line).map(Some).map_err(|reason| self.fail(reason));
        }
    }

    fn skipped(&self) -> u64 {
        0
    }
}

fn read_line(line: &str) -> Result<Logged, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [time, address, domain, record_type] = words[..] else {
        return Err(format!("{} words instead of four: time client name type", words.len()));
    };
    let at = read_time(time).ok_or_else(|| {
        format!("{time} is no time: seconds, or a date like 2026-01-31T12:00:00.5Z")
    })?;
    let client = address.parse().map_err(|_| format!("{address} is no address"))?;
    let name = name::key_of_text(domain).ok_or_else(|| format!("{domain} is no domain name"))?;
    let record_type: RecordType = client::parse_type(record_type)
        .ok_or_else(|| format!("{record_type} is no record type"))?;
    Ok(Logged { at, client, name, record_type: record_type.into() })
}

/// Milliseconds of the log's clock.
fn read_time(text: &str) -> Option<u64> {
    if text.contains('T') || text.contains('t') {
        let time = humantime::parse_rfc3339(text).ok()?;
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        return u64::try_from(since.as_millis()).ok();
    }
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let milliseconds = format!("{fraction:0<3}");
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1000)?.checked_add(milliseconds.get(..3)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_dates() {
        assert_eq!(read_time("0"), Some(0));
        assert_eq!(read_time("12.5"), Some(12_500));
        assert_eq!(read_time("1767225600.123456"), Some(1_767_225_600_123));
        assert_eq!(read_time("2026-01-01T00:00:00.123Z"), Some(1_767_225_600_123));
        for bad in ["", "-1", "1,5", "1e3", "+1", "yesterday", "1.", ".5", "99999999999999999999"] {
            assert_eq!(read_time(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told() {
        let reason = |line: &str| read_line(line).unwrap_err();
        assert_eq!(
            reason("1 192.0.2.1 www.example.com"),
            "3 words instead of four: time client name type"
        );
        assert!(reason("x 192.0.2.1 www.example.com A").starts_with("x is no time"));
        assert_eq!(reason("1 192.0.2 www.example.com A"), "192.0.2 is no address");
        assert_eq!(reason("1 192.0.2.1 www..com A"), "www..com is no domain name");
        assert_eq!(reason("1 192.0.2.1 www.example.com NONE"), "NONE is no record type");
        assert!(read_line("1 2001:db8::1 WWW.example.com. aaaa").is_ok());
    }
}

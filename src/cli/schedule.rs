//! The time of day, and restarts at a moment (base-cli 3.3, 3.4).

use crate::appliance::Appliance;
use crate::config::edit::Refusal;
use crate::config::tree::Reading;
use crate::grammar::link::Message;
use crate::show;

/// `clock set`.
pub(super) fn set_clock(appliance: &Appliance, arguments: &Reading<'_>) -> Result<String, Refusal> {
    appliance.set_local_seconds(moment(arguments)?);
    Ok(String::new())
}

/// `reload at`.
pub(super) fn restart_at(
    appliance: &Appliance,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let now = appliance.local_seconds();
    let left = moment(arguments)?.checked_sub(now).filter(|left| *left > 0).ok_or_else(|| {
        Refusal::new(Message::TimePast).with("value", arguments.text("time").unwrap_or_default())
    })?;
    Ok(restart_in(appliance, left))
}

/// `reload after`.
pub(super) fn restart_after(
    appliance: &Appliance,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let text = arguments.text("time").unwrap_or_default();
    let [days, hours, minutes] = numbers(text, [99, 23, 59]).ok_or_else(|| no_time(text))?;
    let left = days * 86_400 + hours * 3600 + minutes * 60;
    if left == 0 {
        return Err(no_time(text));
    }
    Ok(restart_in(appliance, left))
}

fn restart_in(appliance: &Appliance, left: u64) -> String {
    appliance.schedule_restart(Some(left));
    show::reload(Some(left), appliance.restart_local_seconds(), &appliance.time_zone().name)
}

/// The moment that `<time>` and `<date>` name.
fn moment(arguments: &Reading<'_>) -> Result<u64, Refusal> {
    let time = arguments.text("time").unwrap_or_default();
    let date = arguments.text("date").unwrap_or_default();
    let [hours, minutes, seconds] = numbers(time, [23, 59, 59]).ok_or_else(|| no_time(time))?;
    let parts: Vec<&str> = date.split('-').collect();
    let day = match parts[..] {
        [month, day, year] => midnight(year, month, day),
        _ => None,
    };
    let day = day.ok_or_else(|| no_time(date))?;
    Ok(day + hours * 3600 + minutes * 60 + seconds)
}

/// Midnight of a day. A year of two digits lies in this century.
fn midnight(year: &str, month: &str, day: &str) -> Option<u64> {
    let digits = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    let year = match year.len() {
        2 => 2000 + digits(year)?,
        4 => digits(year)?,
        _ => return None,
    };
    show::midnight(year, digits(month)?, digits(day)?)
}

/// Three numbers with colons between them, none above its limit.
fn numbers(text: &str, limits: [u64; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(':');
    let mut numbers = [0; 3];
    for (number, limit) in numbers.iter_mut().zip(limits) {
        let part = parts.next()?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|number| is_number && *number <= limit)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn no_time(text: &str) -> Refusal {
    Refusal::new(Message::NoTime).with("value", text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::clock::{Clock, Moment};
    use crate::grammar::Grammar;

    /// A clock whose seconds of the day begin in the middle of those since the start.
    #[derive(Debug, Default)]
    struct Skewed(AtomicU64);

    impl Clock for Skewed {
        fn now(&self) -> Moment {
            Moment::from_millis(self.0.load(Ordering::Relaxed))
        }

        fn wall_seconds(&self) -> u64 {
            (self.0.load(Ordering::Relaxed) + 500) / 1000
        }

        fn advance(&self, seconds: u64) {
            self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
        }

        fn reset(&self) -> bool {
            false
        }

        fn is_driven(&self) -> bool {
            true
        }
    }

    #[test]
    fn the_time_of_a_restart_does_not_move() {
        let clock = Arc::new(Skewed::default());
        let grammar = Arc::new(Grammar::built_in().unwrap());
        let appliance = Appliance::new(grammar, Arc::clone(&clock) as Arc<dyn Clock>, None);
        restart_in(&appliance, 10);
        for _ in 0..20 {
            assert_eq!(appliance.restart_local_seconds(), 10);
            clock.0.fetch_add(400, Ordering::Relaxed);
        }
    }

    #[test]
    fn numbers_with_colons() {
        assert_eq!(numbers("01:02:03", [99, 23, 59]), Some([1, 2, 3]));
        for text in ["", "1:2", "1:2:3:4", "1:24:0", "a:b:c", "+1:2:3", "1::3", "-1:0:0"] {
            assert_eq!(numbers(text, [99, 23, 59]), None, "{text}");
        }
    }

    #[test]
    fn days() {
        assert_eq!(midnight("12", "01", "31"), Some(1_327_968_000));
        assert_eq!(midnight("2012", "1", "31"), Some(1_327_968_000));
        for (year, month, day) in [
            ("12", "2", "30"),
            ("12", "13", "1"),
            ("12", "0", "1"),
            ("1", "1", "1"),
            ("1969", "1", "1"),
        ] {
            assert_eq!(midnight(year, month, day), None, "{year}-{month}-{day}");
        }
    }
}

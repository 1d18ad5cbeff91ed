//! Days and times of day in the civil calendar, from seconds since 1970, in UTC.

use std::fmt;

/// A moment of the civil calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Civil {
    year: u64,
    /// 1 to 12.
    month: u64,
    /// 1 to 31.
    day: u64,
    /// 0 to 6, from Sunday on.
    weekday: u64,
    /// Seconds since midnight.
    second: u64,
}

const DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar repeats itself.
const ERA: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: u64 = 719_468;

impl Civil {
    /// The moment `seconds` after 1970-01-01 00:00:00 UTC.
    pub(super) const fn from_unix(seconds: u64) -> Self {
        let days = seconds / DAY;
        // Years are counted from March, so that the leap day is the last day of its year.
        let shifted = days + EPOCH;
        let (era, day_of_era) = (shifted / ERA, shifted % ERA);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months from March on have 31, 30, 31, 30, 31 days, again and again: 153 in five months.
        let month_from_march = (5 * day_of_year + 2) / 153;
        let after_december = month_from_march >= 10;
        Civil {
            year: era * 400 + year_of_era + after_december as u64,
            month: if after_december { month_from_march - 9 } else { month_from_march + 3 },
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            weekday: (days + 4) % 7,
            second: seconds % DAY,
        }
    }

    /// The time of day, `12:00:00`.
    pub(super) fn time(self) -> impl fmt::Display {
        let second = self.second;
        fmt::from_fn(move |out| {
            write!(out, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
        })
    }

    /// The day without its year, `Jan 02`.
    pub(super) fn month_and_day(self) -> impl fmt::Display {
        fmt::from_fn(move |out| write!(out, "{} {:02}", name(&MONTHS, self.month - 1), self.day))
    }

    /// The day, `Mon Jan 02 2012`.
    pub(super) fn date(self) -> impl fmt::Display {
        fmt::from_fn(move |out| {
            let weekday = name(&WEEKDAYS, self.weekday);
            let month = name(&MONTHS, self.month - 1);
            write!(out, "{weekday} {month} {:02} {}", self.day, self.year)
        })
    }
}

/// Seconds from 1970-01-01 to midnight of a day; `None` if there is no such day, or before 1970.
pub fn midnight(year: u64, month: u64, day: u64) -> Option<u64> {
    let year_from_march = if month > 2 { year } else { year.checked_sub(1)? };
    let month_from_march = (month + 9) % 12;
    let (era, year_of_era) = (year_from_march / 400, year_from_march % 400);
    let day_of_year = (153 * month_from_march + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let seconds = (era.checked_mul(ERA)? + day_of_era).checked_sub(EPOCH)?.checked_mul(DAY)?;
    // What does not come back out was no day of that month.
    let civil = Civil::from_unix(seconds);
    ((civil.year, civil.month, civil.day) == (year, month, day)).then_some(seconds)
}

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn name(names: &[&'static str], number: u64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number).copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: u64) -> String {
        let civil = Civil::from_unix(seconds);
        format!("{} {}", civil.time(), civil.date())
    }

    #[test]
    fn known_moments() {
        assert_eq!(text(0), "00:00:00 Thu Jan 01 1970");
        assert_eq!(text(951_782_399), "23:59:59 Mon Feb 28 2000");
        assert_eq!(text(951_782_400), "00:00:00 Tue Feb 29 2000");
        assert_eq!(text(1_234_567_890), "23:31:30 Fri Feb 13 2009");
        assert_eq!(text(1_325_505_600), "12:00:00 Mon Jan 02 2012");
        assert_eq!(text(1_327_968_000), "00:00:00 Tue Jan 31 2012");
        assert_eq!(text(4_107_542_400), "00:00:00 Mon Mar 01 2100");
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_day_before() {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for number in 0..800 * 366 {
            let civil = Civil::from_unix(number * DAY + 1);
            assert_eq!((civil.year, civil.month, civil.day), (year, month, day));
            assert_eq!(civil.weekday, (number + 4) % 7);
            assert_eq!(midnight(year, month, day), Some(number * DAY));
            let last = match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn days_that_are_none() {
        for (year, month, day) in [
            (2012, 2, 30),
            (2011, 2, 29),
            (2012, 0, 1),
            (2012, 13, 1),
            (2012, 1, 0),
            (1969, 12, 31),
        ] {
            assert_eq!(midnight(year, month, day), None, "{year}-{month}-{day}");
        }
        assert_eq!(midnight(u64::MAX, 1, 1), None);
    }

    #[test]
    fn the_end_of_time_is_still_a_date() {
        assert!(text(u64::MAX).starts_with("07:00:15 "));
    }
}

//! The statement tree to the time zone in which the device tells the time (base-cli 3.4).

use crate::config::tree::Tree;
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::names::named_enum;

/// The zone of a device that was told none.
const DEFAULT_NAME: &str = "GMT+00";

const HOUR: i64 = 3600;

named_enum! {
    /// A time zone of the United States.
    #[allow(missing_docs, reason = "the names say it")]
    pub enum UsZone {
        Alaska = "Alaska",
        Aleutian = "Aleutian",
        Arizona = "Arizona",
        Central = "Central",
        EastIndiana = "East-Indiana",
        Eastern = "Eastern",
        Hawaii = "Hawaii",
        Michigan = "Michigan",
        Mountain = "Mountain",
        Pacific = "Pacific",
        Samoa = "Samoa",
    }
}

impl UsZone {
    /// Hours that its standard time is ahead of UTC.
    fn hours(self) -> i64 {
        match self {
            UsZone::EastIndiana | UsZone::Eastern | UsZone::Michigan => -5,
            UsZone::Central => -6,
            UsZone::Arizona | UsZone::Mountain => -7,
            UsZone::Pacific => -8,
            UsZone::Alaska => -9,
            UsZone::Aleutian | UsZone::Hawaii => -10,
            UsZone::Samoa => -11,
        }
    }
}

/// A time zone. Summer time is kept in the configuration and not reckoned with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone {
    /// As displays print it.
    pub name: String,
    /// Seconds that it is ahead of UTC.
    pub ahead: i64,
}

impl Default for TimeZone {
    fn default() -> Self {
        TimeZone { name: DEFAULT_NAME.to_owned(), ahead: 0 }
    }
}

impl TimeZone {
    /// Reads it.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let word = |kept, name| tree.global(grammar, kept).and_then(|one| one.word(name));
        let of_the_us = || {
            let zone = UsZone::from_name(word(Kept::ClockZoneUs, "name")?)?;
            Some(TimeZone { name: zone.name().to_owned(), ahead: zone.hours() * HOUR })
        };
        let numbered = || {
            let word = word(Kept::ClockZoneGmt, "zone")?;
            // A sign and two digits stand behind the name of the zone.
            let hours: i64 = word.get(word.len().checked_sub(3)?..)?.parse().ok()?;
            Some(TimeZone { name: word.to_ascii_uppercase(), ahead: hours * HOUR })
        };
        numbered().or_else(of_the_us).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    #[test]
    fn zones_by_number_and_by_name() {
        let grammar = Grammar::built_in().unwrap();
        let zone = |text: &str| {
            let mut trees = Trees::default();
            let report = load::load(&grammar, &mut trees, text);
            assert!(report.rejected.is_empty() && report.opaque.is_empty(), "{text}");
            let zone = TimeZone::read(&grammar, &trees.configuration);
            (zone.name, zone.ahead / HOUR)
        };
        let is = |name: &str, hours| (name.to_owned(), hours);
        assert_eq!(zone(""), is("GMT+00", 0));
        assert_eq!(zone("clock timezone gmt gmt+10\n"), is("GMT+10", 10));
        assert_eq!(zone("clock timezone gmt GMT-03\n"), is("GMT-03", -3));
        assert_eq!(zone("clock timezone us Pacific\n"), is("Pacific", -8));
        assert_eq!(zone("clock timezone us east-indiana\n"), is("East-Indiana", -5));
        // The later one counts.
        let both = "clock timezone us Pacific\nclock timezone gmt gmt+01\n";
        assert_eq!(zone(both), is("GMT+01", 1));
    }
}

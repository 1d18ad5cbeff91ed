//! What the folder of a session file says about it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::compare::Comparison;

/// The folder that holds the session files of the project.
const TRANSCRIPTS: &str = "transcripts";
/// The folder of sessions that were taken over from the vendor's documents.
const MANUAL: &str = "manual";
/// The folder of sessions whose output is ours to the last character.
const OURS: &str = "ours";

/// Where a session file stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Under a folder `manual`: evidence, which no tool rewrites.
    pub manual: bool,
    /// Under a folder `ours`: every character is compared.
    pub ours: bool,
}

impl Place {
    /// The place of a file, by its path as given and by where that leads to.
    ///
    /// Folders above the innermost `transcripts` say nothing, since their names are not ours.
    pub fn of(path: &Path) -> Self {
        let given = Self::in_path(path);
        let real = fs::canonicalize(path).map(|path| Self::in_path(&path)).unwrap_or_default();
        Place { manual: given.manual || real.manual, ours: given.ours || real.ours }
    }

    fn in_path(path: &Path) -> Self {
        let mut place = Place::default();
        for folder in path.parent().into_iter().flat_map(Path::iter) {
            if folder == OsStr::new(TRANSCRIPTS) {
                place = Place::default();
            }
            place.manual |= folder == OsStr::new(MANUAL);
            place.ours |= folder == OsStr::new(OURS);
        }
        place
    }

    /// How a file of this place is compared.
    pub fn comparison(self, strict: bool) -> Comparison {
        if strict || self.ours { Comparison::Strict } else { Comparison::Lenient }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_how_a_file_is_treated() {
        let place = |path: &str| {
            let place = Place::of(Path::new(path));
            (place.manual, place.ours)
        };
        assert_eq!(place("transcripts/manual/a.session"), (true, false));
        assert_eq!(place("transcripts/ours/sna/a.session"), (false, true));
        assert_eq!(place("transcripts/regress/ours.session"), (false, false));
        assert_eq!(place("/nowhere/manual/ours/transcripts/regress/a.session"), (false, false));
        assert_eq!(place("/nowhere/ours/a.session"), (false, true));
        assert_eq!(Place::of(Path::new("x/ours/a")).comparison(false), Comparison::Strict);
        assert_eq!(Place::of(Path::new("x/a")).comparison(true), Comparison::Strict);
        assert_eq!(Place::of(Path::new("x/a")).comparison(false), Comparison::Lenient);
    }
}

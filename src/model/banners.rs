//! The statement tree to the banners (base-cli 1.5).

use crate::config::delimited;
use crate::config::tree::{Reading, Tree};
use crate::grammar::Grammar;
use crate::grammar::link::Kept;
use crate::names::named_enum;

named_enum! {
    /// When a banner is shown.
    pub enum BannerKind {
        /// When a user enters the privileged level.
        Exec = "exec",
        /// On the console, when somebody comes in over Telnet.
        Incoming = "incoming",
        /// When a session begins over Telnet or SSH.
        Motd = "motd",
    }
}

/// The banners, each with a line break behind every line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banners {
    /// At the privileged level.
    pub exec: Option<String>,
    /// On the console.
    pub incoming: Option<String>,
    /// At the beginning of a session.
    pub motd: Option<String>,
    /// The user must press the Enter key behind the one at the beginning.
    pub waits: bool,
}

impl Banners {
    /// Reads them.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let mut banners = Banners::default();
        for statement in tree.root.statements() {
            let reading = Reading { grammar, statement };
            let kind = || reading.word("kind").and_then(BannerKind::from_name);
            let text = || reading.text("text").map(delimited::plain);
            match reading.kept() {
                // Without a kind it is the one at the beginning, if that is not said otherwise.
                Some(Kept::Banner) => banners.motd = banners.motd.take().or_else(text),
                Some(Kept::BannerOfKind) => match kind() {
                    Some(BannerKind::Exec) => banners.exec = text(),
                    Some(BannerKind::Incoming) => banners.incoming = text(),
                    Some(BannerKind::Motd) => banners.motd = text(),
                    None => {}
                },
                Some(Kept::BannerEnterKey) => {
                    banners.waits |= kind() == Some(BannerKind::Motd);
                }
                _ => {}
            }
        }
        banners
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    fn banners(text: &str) -> Banners {
        let grammar = Grammar::built_in().unwrap();
        let mut trees = Trees::default();
        let report = load::load(&grammar, &mut trees, text);
        assert!(report.rejected.is_empty(), "{:?}", report.rejected);
        Banners::read(&grammar, &trees.configuration)
    }

    #[test]
    fn each_kind_has_its_text() {
        let text = "banner motd ^C\nAuthorised users only^C\n^C\nSecond part^C\n^C\n\
                    banner exec $ Take care $\nbanner incoming # Somebody\ncame # x\n\
                    banner motd require-enter-key\n";
        let expected = Banners {
            exec: Some(" Take care\n".to_owned()),
            incoming: Some(" Somebody\ncame\n".to_owned()),
            motd: Some("Authorised users only\n\nSecond part\n".to_owned()),
            waits: true,
        };
        assert_eq!(banners(text), expected);
    }

    #[test]
    fn a_banner_without_a_kind_is_that_of_the_beginning() {
        assert_eq!(banners("banner $one$\n").motd.as_deref(), Some("one\n"));
        let both = "banner motd $two$\nbanner $one$\n";
        assert_eq!(banners(both).motd.as_deref(), Some("two\n"));
    }
}

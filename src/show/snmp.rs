//! `show snmp`: what is configured of the SNMP agent, and what it has counted.

use super::page::Page;
use super::table::{Block, Column};
use crate::config::render::MASK;
use crate::config::tree::{Reading, Tree};
use crate::grammar::Grammar;
use crate::grammar::link::Kept;

/// What is configured.
#[derive(Debug, Default)]
struct View {
    contact: Option<String>,
    location: Option<String>,
    /// What a community may do, or with which access list.
    communities: Vec<String>,
    hosts: Vec<String>,
    /// Traps that are not sent.
    disabled: Vec<String>,
}

impl View {
    fn gather(grammar: &Grammar, tree: &Tree) -> Self {
        let mut view = View::default();
        for statement in tree.root.statements() {
            let reading = Reading { grammar, statement };
            let text = |name: &str| reading.text(name).map(str::to_owned);
            match reading.kept() {
                Some(Kept::SnmpContact) => view.contact = text("text"),
                Some(Kept::SnmpLocation) => view.location = text("text"),
                Some(Kept::SnmpCommunity | Kept::SnmpEncodedCommunity) => {
                    view.communities.push(text("access").unwrap_or_default());
                }
                Some(Kept::SnmpHost) => view.hosts.extend(text("setting")),
                Some(Kept::SnmpTrap) if statement.negated => view.disabled.extend(text("trap")),
                _ => {}
            }
        }
        view
    }
}

const COMMUNITIES: [Column; 3] =
    [Column::left(&["Index"], 7), Column::left(&["Community"], 11), Column::left(&["Access"], 6)];

/// The counters of the agent: there is none that could be asked.
const COUNTERS: [&str; 4] =
    ["packets received", "packets sent", "bad community names", "traps sent"];

/// `show snmp`.
pub fn snmp(grammar: &Grammar, tree: &Tree) -> String {
    let view = View::gather(grammar, tree);
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "None".to_owned());
    let list = |texts: &[String]| match texts {
        [] => "None".to_owned(),
        texts => texts.join(", "),
    };
    let mut page = Page::default();
    page.line(format!("Contact:        {}", or_none(&view.contact)));
    page.line(format!("Location:       {}", or_none(&view.location)));
    page.line(format!("Trap receivers: {}", list(&view.hosts)));
    page.line(format!("Disabled traps: {}", list(&view.disabled)));
    page.part();
    let communities = view.communities.iter().enumerate();
    let rows: Vec<[String; 3]> = communities
        .map(|(index, access)| [(index + 1).to_string(), MASK.to_owned(), access.clone()])
        .collect();
    page.line(format!("Communities: {}", rows.len()));
    if !rows.is_empty() {
        page.block(1, &Block::new(&COMMUNITIES, &rows));
    }
    page.part();
    for counter in COUNTERS {
        page.line(format!("{:>8} {counter}", 0));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    #[test]
    fn settings_are_shown_and_communities_are_not() {
        let grammar = Grammar::built_in().unwrap();
        let mut trees = Trees::default();
        let text = "snmp-server community hidden ro\nsnmp-server community 1 $abc rw\n\
                    snmp-server contact Somebody\nsnmp-server host 192.0.2.9\n\
                    no snmp-server enable traps link-up\n";
        let report = load::load(&grammar, &mut trees, text);
        assert!(report.rejected.is_empty(), "{:?}", report.rejected);
        let shown = snmp(&grammar, &trees.configuration);
        for part in
            ["Somebody", "192.0.2.9", "link-up", "Communities: 2\n", "Location:       None\n"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("hidden") && !shown.contains("$abc"), "{shown}");
        assert!(snmp(&grammar, &Tree::default()).contains("Communities: 0\n"));
    }
}

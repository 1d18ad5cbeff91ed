//! `show server port-policy`: how ports are checked that use a policy. The layout is ours.

use super::PortNames;
use super::page::Page;
use super::table::{Block, Column};
use crate::model::snapshot::Snapshot;

const COLUMNS: [Column; 6] = [
    Column::left(&["Name", "===="], 16),
    Column::left(&["Protocol", "========"], 8).gap(2),
    Column::right(&["Ports", "====="], 5).gap(2),
    Column::left(&["Status codes", "============"], 12).gap(2),
    Column::left(&["Match list", "=========="], 10).gap(2),
    Column::left(&["Request", "======="], 7).gap(2),
];

/// `show server port-policy`: each policy with the number of real server ports that are checked so;
/// `-` where it leaves the device its default.
pub fn port_policies(snapshot: &Snapshot, names: PortNames<'_>) -> String {
    let rows: Vec<[String; 6]> = snapshot
        .balancing
        .checks
        .policies
        .iter()
        .map(|policy| {
            let codes: Vec<String> =
                policy.status_codes.iter().map(|(low, high)| format!("{low}-{high}")).collect();
            let or_none = |text: Option<String>| {
                text.filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned())
            };
            [
                policy.name.clone(),
                or_none(policy.protocol.map(names)),
                policy.users.to_string(),
                or_none(Some(codes.join(" "))),
                or_none(policy.list.clone()),
                or_none(policy.request.as_deref().map(str::to_owned)),
            ]
        })
        .collect();
    let mut page = Page::default();
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

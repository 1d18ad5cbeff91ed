//! `show healthck`: health-check policies. The words are remembered, the layout is ours.

use super::PortNames;
use super::page::Page;
use super::table::{Block, Column};
use crate::health::state::States;
use crate::model::checks::{Expression, HealthPolicy, Operator, PolicyKind};
use crate::model::snapshot::Snapshot;

const COLUMNS: [Column; 8] = [
    Column::left(&["Name", "----"], 12),
    Column::left(&["Value", "-----"], 5).gap(2),
    Column::left(&["Enable", "------"], 6).gap(2),
    Column::left(&["Type", "----"], 7).gap(2),
    Column::left(&["Dest-IP", "-------"], 15).gap(2),
    Column::left(&["Port", "----"], 5).gap(2),
    Column::left(&["Layer", "-----"], 6).gap(2),
    Column::left(&["Elements", "--------"], 0).gap(2),
];

/// Policies that the device holds (remembered).
const MOST: usize = 128;

/// `show healthck`: each policy with its result. One that is attached to no port is not at work,
/// and one whose address is that of its server has no result of its own: both print `--`.
pub fn health_policies(snapshot: &Snapshot, states: &States, names: PortNames<'_>) -> String {
    let balancing = &snapshot.balancing;
    let policies = &balancing.policies;
    let at_work = policies.at_work(balancing.attached_policies());
    let rows: Vec<[String; 8]> = policies
        .iter()
        .map(|policy| {
            let is_at_work = at_work.contains(&policy.name.to_ascii_lowercase());
            let value = policies.value(states, &policy.name).filter(|_| is_at_work);
            let value = value.map_or("--", |value| if value { "TRUE" } else { "FALSE" });
            row(policy, value, is_at_work, names)
        })
        .collect();
    let mut page = Page::default();
    page.line(format!("Total nodes: {}; Max nodes: {MOST}", rows.len()));
    page.block(0, &Block::new(&COLUMNS, &rows));
    page.finish()
}

fn row(policy: &HealthPolicy, value: &str, is_at_work: bool, names: PortNames<'_>) -> [String; 8] {
    let checks_port = matches!(policy.kind, Some(PolicyKind::Tcp | PolicyKind::Udp));
    let layer = match policy.kind {
        Some(PolicyKind::Icmp) => "l3-chk",
        Some(PolicyKind::Tcp | PolicyKind::Udp) if policy.layer4_only => "l4-chk",
        Some(PolicyKind::Tcp | PolicyKind::Udp) => "l7-chk",
        Some(PolicyKind::Boolean) | None => "",
    };
    let port = policy.port.filter(|_| checks_port);
    [
        policy.name.clone(),
        value.to_owned(),
        if is_at_work { "YES" } else { "NO" }.to_owned(),
        policy.kind.map_or("", PolicyKind::name).to_owned(),
        policy.address.map(|address| address.to_string()).unwrap_or_default(),
        port.map(names).unwrap_or_default(),
        layer.to_owned(),
        policy.expression.as_ref().map(elements).unwrap_or_default(),
    ]
}

fn elements(expression: &Expression) -> String {
    let operator = match expression.operator {
        Operator::And => "and",
        Operator::Or => "or",
        Operator::Not => return format!("not {}", expression.names.join(" ")),
    };
    expression.names.join(&format!(" {operator} "))
}

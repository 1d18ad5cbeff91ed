//! What the device says of a line that it has taken: seldom anything (base-cli 2.1).

use crate::cli::matcher::Hit;
use crate::cli::session::Session;
use crate::config::edit::Place;
use crate::config::tree::Values;
use crate::grammar::Command;
use crate::grammar::link::{Kept, Message};
use crate::grammar::value::Value;
use crate::health::sessions::Deletion;

impl Session {
    /// What appears at once behind a line that has changed something at a place.
    pub(super) fn confirmation(&self, command: &Command, hit: &Hit, place: &Place) -> String {
        let message = match command.storage.as_ref().map(|storage| storage.kept) {
            Some(Kept::VlanTagged) if !hit.negated => Message::AddedTaggedPorts,
            Some(Kept::VlanUntagged) if !hit.negated => Message::AddedUntaggedPorts,
            _ => return String::new(),
        };
        let vlan = place.path.last().map_or(0, |(_, key)| number(key));
        let ports = hit.values.iter().find_map(|(_, value)| match value {
            Value::Text(ports) => Some(ports.as_str()),
            _ => None,
        });
        let places = [("ports", ports.unwrap_or_default()), ("vlan", &vlan.to_string())];
        self.appliance.grammar.message(message, &places)
    }

    /// The end of a real or virtual server is told some time after the line.
    pub(super) fn announce_deletion(&self, command: &Command, hit: &Hit) {
        let kept = command.storage.as_ref().map(|storage| storage.kept);
        let is_virtual = kept == Some(Kept::VirtualServer);
        let is_real =
            matches!(kept, Some(Kept::RealServer | Kept::RemoteServer | Kept::CacheServer));
        if let Some((_, Value::Text(name))) = hit.values.first().filter(|_| is_real || is_virtual) {
            let name = name.to_string();
            self.appliance.announce_deletion(Deletion { is_virtual, name });
        }
    }
}

/// The number that a block goes by.
fn number(key: &Values) -> u64 {
    match key.first() {
        Some((_, Value::Number(number))) => *number,
        _ => 0,
    }
}

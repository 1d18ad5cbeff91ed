//! What operators do beside looking and copying: modules, digests of images, other servers.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use crate::cli::session::Session;
use crate::config::edit::Refusal;
use crate::config::tree::{Reading, Tree};
use crate::flash::Slot;
use crate::grammar::Grammar;
use crate::grammar::link::{Kept, Message};

/// The slot of the module that runs the command line.
pub(super) const MANAGEMENT_SLOT: u16 = 1;

/// The modules that the configuration names: slots and types, in order of the slots.
pub(super) fn modules(grammar: &Grammar, tree: &Tree) -> Vec<(u16, String)> {
    let readings = tree.of(grammar, Kept::Module).map(|statement| Reading { grammar, statement });
    let mut modules: Vec<(u16, String)> = readings
        .filter_map(|module| Some((module.number("slot")?, module.text("kind")?.to_owned())))
        .collect();
    modules.sort_unstable();
    modules
}

/// Disables a module, or enables it.
///
/// # Errors
///
/// It is the one that runs the command line, or there is none in that slot.
pub(super) fn switch_module(
    session: &Session,
    arguments: &Reading<'_>,
    on: bool,
) -> Result<String, Refusal> {
    let slot = arguments.number("slot").unwrap_or(MANAGEMENT_SLOT);
    let refused = |message| Err(Refusal::new(message).with("slot", slot.to_string()));
    if slot == MANAGEMENT_SLOT {
        // It is enabled as it is.
        return if on { Ok(String::new()) } else { refused(Message::ManagementModule) };
    }
    let appliance = &session.appliance;
    let configuration = appliance.configuration();
    let modules = modules(&appliance.grammar, &configuration.trees.configuration);
    if !modules.iter().any(|(known, _)| *known == slot) {
        return refused(Message::NoSuchModule);
    }
    appliance.modules.switch(slot, on);
    Ok(String::new())
}

/// The MD5 digest of an image.
///
/// # Errors
///
/// There is none, or nobody has what is in it.
pub(super) fn verify_image(session: &Session, slot: Slot) -> Result<String, Refusal> {
    let contents =
        session.appliance.flash.contents(slot).map_err(|error| {
            Refusal::new(Message::FlashFailed).with("reason", error.to_string())
        })?;
    let digest = Md5::digest(&contents).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    let size = contents.len().to_string();
    let grammar = &session.appliance.grammar;
    Ok(grammar.message(Message::ImageDigest, &[("size", &size), ("digest", &digest)]))
}

/// `sntp sync`: no server of the emulated world tells the time.
pub(super) fn ask_time(session: &Session) -> Refusal {
    let grammar = &session.appliance.grammar;
    let configuration = session.appliance.configuration();
    let tree = &configuration.trees.configuration;
    let mut servers = tree.of(grammar, Kept::SntpServer);
    match servers.next().and_then(|statement| Reading { grammar, statement }.text("server")) {
        Some(server) => Refusal::new(Message::SntpSilent).with("server", server),
        None => Refusal::new(Message::NoSntpServer),
    }
}

/// `whois`: no server of the emulated world tells who somebody is.
pub(super) fn ask_whois(arguments: &Reading<'_>) -> Refusal {
    let address = arguments.address("target").map(|address| address.to_string());
    let target = address.or_else(|| arguments.text("name").map(str::to_owned));
    Refusal::new(Message::WhoisSilent).with("target", target.unwrap_or_default())
}

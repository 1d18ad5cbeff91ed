//! Copying and erasing configurations and images (base-cli 3.2).

use std::fmt::Write as _;

use crate::cli::session::Session;
use crate::config::load::Rejected;
use crate::config::render::{self, Secrets};
use crate::flash::Slot;
use crate::grammar::link::Message;
use crate::model::logging::LogLevel;
use crate::tftp::TftpError;

/// Lines that were put aside are listed up to this number.
const MOST_LISTED: usize = 20;

/// Which configuration is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The running one.
    Running,
    /// The saved one.
    Startup,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Running => "running-config",
            Which::Startup => "startup-config",
        }
    }
}

/// Copies a configuration to the TFTP server.
pub(super) fn upload(session: &Session, which: Which, file: &str) -> String {
    let appliance = &session.appliance;
    let text = {
        let configuration = appliance.configuration();
        match which {
            Which::Startup => configuration.startup.text().into_owned(),
            Which::Running => {
                let tree = &configuration.trees.configuration;
                render::running_configuration(&appliance.grammar, tree, Secrets::Stored)
            }
        }
    };
    let places = [("what", which.name())];
    match appliance.tftp.put(file, text.as_bytes()) {
        Ok(()) => appliance.grammar.message(Message::UploadDone, &places),
        Err(error) => failed(session, Message::UploadFailed, which, &error),
    }
}

/// Copies a configuration from the TFTP server. To the running configuration lines are added; the
/// saved one is replaced.
pub(super) fn download(session: &mut Session, which: Which, file: &str) -> String {
    let appliance = &session.appliance;
    let text = match appliance.tftp.get_text(file) {
        Ok(text) => text,
        Err(error) => return failed(session, Message::DownloadFailed, which, &error),
    };
    let rejected = match which {
        Which::Running => appliance.add_to_running(&text),
        Which::Startup => match appliance.replace_startup(&text) {
            Ok(rejected) => rejected,
            Err(error) => {
                let error = TftpError::Store(error);
                return failed(session, Message::DownloadFailed, which, &error);
            }
        },
    };
    let mut out = listed(&rejected);
    out.push_str(&appliance.grammar.message(Message::DownloadDone, &[("what", which.name())]));
    session.record_change(which);
    out
}

/// Erases the saved configuration: the next restart begins as the device left the factory.
pub(super) fn erase(session: &Session) -> String {
    let grammar = &session.appliance.grammar;
    match session.appliance.replace_startup("") {
        Ok(_) => grammar.message(Message::EraseStartup, &[]),
        Err(error) => {
            grammar.message(Message::WriteMemoryFailed, &[("reason", &error.to_string())])
        }
    }
}

/// Copies an image from the TFTP server into flash memory. It is written while the session goes on.
pub(super) fn download_image(session: &Session, slot: Slot, file: &str) -> String {
    let appliance = &session.appliance;
    let written = appliance.tftp.get(file).map_err(|error| error.to_string()).and_then(|image| {
        appliance.flash.write(slot, file, image).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => appliance.grammar.message(Message::FlashWrite, &[]),
        Err(reason) => image_failed(session, Message::DownloadFailed, &reason),
    }
}

/// Copies an image from flash memory to the TFTP server.
pub(super) fn upload_image(session: &Session, slot: Slot, file: &str) -> String {
    let appliance = &session.appliance;
    let sent = appliance
        .flash
        .contents(slot)
        .map_err(|error| error.to_string())
        .and_then(|image| appliance.tftp.put(file, &image).map_err(|error| error.to_string()));
    match sent {
        Ok(()) => appliance.grammar.message(Message::UploadDone, &[("what", FLASH)]),
        Err(reason) => image_failed(session, Message::UploadFailed, &reason),
    }
}

/// Copies the image of the other place.
pub(super) fn copy_image(session: &Session, slot: Slot) -> String {
    let appliance = &session.appliance;
    match appliance.flash.copy_to(slot) {
        Ok(()) => appliance.grammar.message(Message::FlashWrite, &[]),
        Err(error) => {
            appliance.grammar.message(Message::FlashFailed, &[("reason", &error.to_string())])
        }
    }
}

/// Erases an image.
pub(super) fn erase_image(session: &Session, slot: Slot) -> String {
    let appliance = &session.appliance;
    match appliance.flash.erase(slot) {
        Ok(()) => appliance.grammar.message(Message::FlashErased, &[]),
        Err(error) => {
            appliance.grammar.message(Message::FlashFailed, &[("reason", &error.to_string())])
        }
    }
}

/// How messages call what is copied.
const FLASH: &str = "flash";

fn image_failed(session: &Session, message: Message, reason: &str) -> String {
    session.appliance.grammar.message(message, &[("what", FLASH), ("reason", reason)])
}

fn failed(session: &Session, message: Message, which: Which, error: &TftpError) -> String {
    let reason = error.to_string();
    session.appliance.grammar.message(message, &[("what", which.name()), ("reason", &reason)])
}

/// The lines that were put aside, with what is wrong with them.
fn listed(rejected: &[Rejected]) -> String {
    let mut out = String::new();
    for line in rejected.iter().take(MOST_LISTED) {
        let reason = line.reason.lines().next().unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "line {}: {}\n    {reason}", line.line, line.text);
    }
    let more = rejected.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        let _ = writeln!(out, "and {more} lines more");
    }
    out
}

impl Session {
    /// Puts a message about a changed configuration into the log (base-cli 3.2).
    pub(super) fn record_change(&self, which: Which) {
        let name = match which {
            Which::Running => "Running-config",
            Which::Startup => "Startup-config",
        };
        let text = format!("System: {name} was changed {}", self.origin());
        self.appliance.record(LogLevel::Informational, text);
    }
}

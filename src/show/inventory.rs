//! `show chassis`, `show flash`, `show media`, `show memory`, `show module`, `show reload`: the
//! device as a box.
//!
//! Nothing of it changes by itself while the appliance runs. The words are those that programs which read
//! these displays look for; numbers and labels are ours.

use super::date::Civil;
use super::page::Page;
use super::who::span;
use crate::flash::{Flash, Image, Slot};
use crate::model::network::PORTS;

/// The boot image, bytes.
const BOOT_IMAGE: usize = 524_288;

/// Memory, bytes.
const MEMORY: usize = 4_294_967_296;
const MEMORY_FREE: usize = 3_006_477_107;

/// `show chassis`.
pub fn chassis() -> String {
    let mut page = Page::default();
    page.line("Power supply 1 - STATUS: OK");
    page.line("Power supply 2 - STATUS: not present");
    for fan in 1..=2 {
        page.line(format!("Fan {fan} - STATUS: OK, speed: NORMAL"));
    }
    page.line("Exhaust temperature: 40 deg C");
    page.line("Intake temperature: 25 deg C");
    page.line("Boot PROM MAC: 0000.5e00.5300");
    page.finish()
}

/// `show flash`; `configuration` is the size of the startup configuration in bytes.
pub fn flash(flash: &Flash, configuration: usize) -> String {
    let mut page = Page::default();
    page.line("Code Flash:");
    for slot in Slot::ALL {
        let name = match slot {
            Slot::Primary => "Primary",
            Slot::Secondary => "Secondary",
        };
        page.line(match flash.image(*slot) {
            None => format!("  {name} Code size = 0 bytes, empty"),
            Some(Image { size, label, .. }) => {
                let version = version_of(&label).unwrap_or_else(|| "unknown".to_owned());
                format!("  {name} Code size = {size} bytes, Version {version} ({label})")
            }
        });
    }
    page.line(format!("  Boot Code size = {BOOT_IMAGE} bytes, Version 12.00.00 (dobv12000)"));
    page.line(format!("  Free space = {} bytes", flash.free()));
    page.line("Config Flash:");
    page.line(format!("  startup-config size = {configuration} bytes"));
    page.finish()
}

/// The version that the name of an image tells: `ASR12501g.bin` is `12.5.01gT403`. `ASM` names a
/// switch image, `ASR` a router image (base-cli 0).
fn version_of(label: &str) -> Option<String> {
    let name = label.strip_suffix(".bin")?;
    let build = match name.get(..3)? {
        "ASM" => "T401",
        "ASR" => "T403",
        _ => return None,
    };
    let number = &name[3..];
    let digits = number.find(|one: char| !one.is_ascii_digit()).unwrap_or(number.len());
    if digits != 5 || !number[digits..].chars().all(|one| one.is_ascii_lowercase()) {
        return None;
    }
    Some(format!("{}.{}.{}{build}", &number[..2], &number[2..3], &number[3..]))
}

/// `show media`, of one port or of all: every port of the device is made for copper.
pub fn media(port: Option<u16>) -> String {
    let mut page = Page::default();
    for number in (1..=PORTS).filter(|number| port.is_none_or(|port| port == *number)) {
        page.line(format!("Port {number:>4}: Type  : 1G M-C (Gig-Copper)"));
    }
    page.finish()
}

/// `show memory`.
pub fn memory() -> String {
    let used = (MEMORY - MEMORY_FREE) * 100 / MEMORY;
    let mut page = Page::default();
    page.line(format!("Total DRAM: {MEMORY} bytes"));
    page.line(format!(
        "  Dynamic memory: {MEMORY} bytes total, {MEMORY_FREE} bytes free, {used}% used"
    ));
    page.finish()
}

/// `show module`: the module that runs the command line, then those that the configuration names, by
/// slot, type and whether they are in use. Nothing is known of their ports.
pub fn module(others: &[(u16, &str, bool)]) -> String {
    let mut page = Page::default();
    page.line(format!("{:<46}{:<10}{:<7}Starting MAC", "Module", "Status", "Ports"));
    page.line(format!(
        "{:<46}{:<10}{PORTS:<7}0000.5e00.5300",
        "S1: ServerIron ADX 1000 management module", "OK"
    ));
    for (slot, kind, is_on) in others {
        let status = if *is_on { "OK" } else { "DISABLED" };
        page.line(format!("{:<46}{status:<10}{:<7}-", format!("S{slot}: {kind}"), "-"));
    }
    page.finish()
}

/// `show reload`; `left` are the seconds until the restart, `due` the time of day at which it comes, in that
/// zone.
pub fn reload(left: Option<u64>, due: u64, zone: &str) -> String {
    let mut page = Page::default();
    match left {
        None => page.line("No scheduled reload"),
        Some(left) => {
            let due = Civil::from_unix(due);
            page.line(format!("Scheduled reload in {}", span(left)));
            page.line(format!("  at {}, {zone}, {}", due.time(), due.date()));
        }
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::render::SOFTWARE_VERSION;

    #[test]
    fn programs_find_their_words() {
        let text = chassis();
        assert!(text.contains("Fan 1 - STATUS: OK") && text.contains(" 40 deg C\n"), "{text}");
        assert!(flash(&Flash::default(), 24).ends_with("startup-config size = 24 bytes\n"));
        assert!(memory().contains("30% used") || memory().contains("29% used"), "{}", memory());
        assert!(module(&[(2, "x", false)]).contains("\nS2: x  "));
        assert!(module(&[]).contains("management module     OK        24     0000.5e00.5300\n"));
    }

    #[test]
    fn names_of_images_tell_their_version() {
        assert_eq!(version_of("ASR12400.bin").as_deref(), Some(SOFTWARE_VERSION));
        assert_eq!(version_of("ASM12501g.bin").as_deref(), Some("12.5.01gT401"));
        for label in ["ASR1240.bin", "ASR12400", "ASX12400.bin", "ASR12400-x.bin", "ä.bin", ""] {
            assert_eq!(version_of(label), None, "{label}");
        }
    }

    #[test]
    fn a_restart_that_is_scheduled() {
        assert_eq!(reload(None, 0, "GMT+00"), "No scheduled reload\n");
        assert_eq!(
            reload(Some(3600), 1_325_509_200, "GMT+00"),
            "Scheduled reload in 1 hours 0 minutes 0 seconds\n  at 13:00:00, GMT+00, Mon Jan 02 2012\n"
        );
    }
}

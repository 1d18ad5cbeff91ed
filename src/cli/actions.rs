//! What the commands do that neither keep nor print.

use std::fmt::Write as _;

use crate::cli::files::{self, Which};
use crate::cli::gslb;
use crate::cli::reports::sna_domains;
use crate::cli::session::{Question, Session};
use crate::cli::sessions::LineKind;
use crate::cli::{access, operator, pager, reach, schedule};
use crate::config::edit::{Refusal, no_such_reference};
use crate::config::tree::Reading;
use crate::demo::Demo;
use crate::dns::client::ClientQuery;
use crate::flash::{FlashError, Slot};
use crate::grammar::link::{Action, Kept, Message};
use crate::health::sessions::Deletion;
use crate::model::snapshot::Family;

/// Performs an action; gives what it prints.
///
/// # Errors
///
/// It cannot be done now.
#[allow(clippy::too_many_lines, reason = "one arm for each action")]
pub(super) fn perform(
    session: &mut Session,
    action: Action,
    arguments: &Reading<'_>,
) -> Result<String, Refusal> {
    let grammar = arguments.grammar;
    match action {
        Action::Enable => Ok(access::enable(session, arguments.text("secret"))),
        Action::ExitPrivileged => {
            session.exit_privileged();
            Ok(String::new())
        }
        Action::Disable => {
            session.leave_privileged();
            Ok(String::new())
        }
        Action::ExitSession => {
            session.is_over = true;
            Ok(String::new())
        }
        Action::PageDisplay => {
            session.page.on = Some(true);
            if session.page.length == 0 {
                session.page.length = pager::DEFAULT_LENGTH;
            }
            Ok(grammar.message(Message::PageDisplay, &[]))
        }
        Action::SkipPageDisplay => {
            session.page.on = Some(false);
            Ok(grammar.message(Message::SkipPageDisplay, &[]))
        }
        Action::TerminalLength => {
            session.page.length = arguments.number("lines").unwrap_or(0);
            session.page.on = Some(session.page.length > 0);
            Ok(String::new())
        }
        Action::TerminalMonitor => {
            let on = !session.log.monitor;
            session.log.monitor = on;
            let message = if on { Message::MonitorOn } else { Message::MonitorOff };
            Ok(grammar.message(message, &[]))
        }
        Action::ClearLogging => {
            session.appliance.log.clear();
            Ok(String::new())
        }
        Action::UploadRunning => Ok(files::upload(session, Which::Running, file(arguments))),
        Action::UploadStartup => Ok(files::upload(session, Which::Startup, file(arguments))),
        Action::DownloadRunning => Ok(files::download(session, Which::Running, file(arguments))),
        Action::DownloadStartup => Ok(files::download(session, Which::Startup, file(arguments))),
        Action::DownloadImage => {
            Ok(files::download_image(session, slot(arguments), file(arguments)))
        }
        Action::UploadImage => Ok(files::upload_image(session, slot(arguments), file(arguments))),
        Action::CopyImage => Ok(files::copy_image(session, slot(arguments))),
        Action::EraseImage => Ok(files::erase_image(session, slot(arguments))),
        Action::BootImage => {
            if session.appliance.flash.image(slot(arguments)).is_none() {
                let reason = FlashError::NoImage.to_string();
                return Err(Refusal::new(Message::FlashFailed).with("reason", reason));
            }
            session.question = Some(Question::Reload);
            Ok(String::new())
        }
        Action::EraseStartup => Ok(files::erase(session)),
        Action::ClockSet => schedule::set_clock(&session.appliance, arguments),
        Action::ReloadAfter => schedule::restart_after(&session.appliance, arguments),
        Action::ReloadAt => schedule::restart_at(&session.appliance, arguments),
        Action::ReloadCancel => {
            session.appliance.schedule_restart(None);
            Ok(String::new())
        }
        Action::ReloadYes => {
            session.appliance.restart();
            session.restart();
            Ok(String::new())
        }
        Action::Rconsole => {
            let number = |name| arguments.number(name).unwrap_or(1);
            session.enter_processor(number("slot"), number("cpu"));
            Ok(String::new())
        }
        Action::KillConsole => kill(session, LineKind::Console, arguments),
        Action::KillSsh => kill(session, LineKind::Ssh, arguments),
        Action::KillTelnet => kill(session, LineKind::Telnet, arguments),
        Action::Ping => {
            let target = reach::target(session, arguments)?;
            Ok(reach::ping(session, target, arguments.number("count").unwrap_or(1)))
        }
        Action::Traceroute => {
            let target = reach::target(session, arguments)?;
            Ok(reach::traceroute(session, target))
        }
        Action::DisableModule => operator::switch_module(session, arguments, false),
        Action::EnableModule => operator::switch_module(session, arguments, true),
        Action::ExecuteBatch => session.run_batch(arguments.number("number").unwrap_or(0)),
        Action::SntpSync => Err(operator::ask_time(session)),
        Action::VerifyImage => operator::verify_image(session, slot(arguments)),
        Action::Whois => Err(operator::ask_whois(arguments)),
        Action::Telnet => Err(reach::telnet(session, reach::target(session, arguments)?)),
        Action::StopTraceroute => Ok(grammar.message(Message::NoTraceRoute, &[])),
        Action::WriteMemory => Ok(match session.appliance.save() {
            Ok(()) => {
                session.record_change(Which::Startup);
                grammar.message(Message::WriteMemory, &[])
            }
            Err(error) => {
                let reason = error.to_string();
                grammar.message(Message::WriteMemoryFailed, &[("reason", &reason)])
            }
        }),
        Action::Reload => {
            session.question = Some(Question::Reload);
            Ok(String::new())
        }
        Action::ClearDnsZone => clear_dns_zone(session, arguments),
        Action::ClearUnsupportedResponseCount => {
            let counters = &session.appliance.counters;
            let counter = &counters.error_handling_responses;
            counter.store(0, std::sync::atomic::Ordering::Relaxed);
            Ok(String::new())
        }
        Action::ClearSnaDomain => {
            for domain in sna_domains(&session.appliance.current(), arguments.text("domain"))? {
                domain.tallies.lock().clear_counts();
            }
            Ok(String::new())
        }
        Action::EndDrainingSessions => {
            let appliance = &session.appliance;
            // So that those of the old address are among them.
            drop(appliance.current());
            let name = arguments.text("name").unwrap_or_default();
            appliance.states.sessions.end_draining(name, appliance.clock.now());
            Ok(String::new())
        }
        Action::ClearServerSession => {
            let name = arguments.text("name").unwrap_or_default();
            let appliance = &session.appliance;
            let snapshot = appliance.current();
            let deleted = Deletion { is_virtual: false, name: name.to_owned() };
            let now = appliance.clock.now();
            let mut real = snapshot.balancing.real.iter();
            let sessions = &appliance.states.sessions;
            if !real.any(|real| real.name.eq_ignore_ascii_case(name))
                && !sessions.is_waiting(&deleted, now)
            {
                return Err(no_such_reference(Kept::RealServer, name));
            }
            sessions.end(name, &snapshot.balancing, now);
            Ok(String::new())
        }
        Action::EmulateClockAdvance => {
            // What was typed so far was typed before.
            drop(session.appliance.current());
            session.appliance.clock.advance(arguments.number("seconds").unwrap_or(0));
            match session.appliance.lab() {
                Some(lab) => lab.pass_time(),
                None => session.appliance.pass_time(),
            }
            Ok(String::new())
        }
        Action::EmulateConsole => {
            let name = arguments.text("name").unwrap_or_default();
            let lab = session.appliance.lab();
            let member = lab
                .as_ref()
                .and_then(|lab| lab.member(name))
                .ok_or_else(|| Refusal::new(Message::NoSuchAppliance).with("name", name))?;
            session.move_to(&member.responder);
            Ok(String::new())
        }
        Action::ClearHashTable => gslb::clear_hash_table(session, arguments),
        Action::ClearIpv6StickySessions => {
            Ok(gslb::clear_sticky_sessions(session, Family::V6, arguments))
        }
        Action::ClearStickySessions => {
            Ok(gslb::clear_sticky_sessions(session, Family::V4, arguments))
        }
        Action::DisableSimulatedSmoothing => Ok(gslb::switch_simulated_smoothing(session, false)),
        Action::EnableSimulatedSmoothing => Ok(gslb::switch_simulated_smoothing(session, true)),
        Action::SimulateRttSample => Ok(gslb::simulate_sample(session, arguments)),
        Action::SimulateRttSmoothing => Ok(gslb::simulate(session, arguments)),
        Action::EmulateDemo => Ok(demo(session, arguments)),
        Action::EmulateQuery => query(session, arguments),
        Action::EmulateReset => {
            session.appliance.reset_world();
            Ok(String::new())
        }
    }
}

/// Takes the answer to a question; anything but a yes is a no.
pub(super) fn answer(session: &mut Session, question: Question, answer: &str) -> String {
    let yes = answer.trim().eq_ignore_ascii_case("y");
    match question {
        Question::Reload | Question::ReloadUnsaved if !yes => {}
        Question::Reload if session.appliance.is_unsaved() => {
            session.question = Some(Question::ReloadUnsaved);
        }
        Question::Reload | Question::ReloadUnsaved => {
            session.appliance.restart();
            session.restart();
        }
        question => return access::answer(session, question, answer),
    }
    String::new()
}

/// The name of the file that is copied.
fn file<'a>(arguments: &Reading<'a>) -> &'a str {
    arguments.text("file").unwrap_or_default()
}

/// The place of the image that is copied.
fn slot(arguments: &Reading<'_>) -> Slot {
    arguments.word("slot").and_then(Slot::from_name).unwrap_or(Slot::Primary)
}

/// Ends other sessions of a kind, all or the one of that number.
fn kill(session: &Session, kind: LineKind, arguments: &Reading<'_>) -> Result<String, Refusal> {
    if session.appliance.sessions.kill(kind, arguments.number("number")) {
        // Those that wait for a key see it now.
        session.appliance.log.wake();
        Ok(String::new())
    } else {
        Err(Refusal::new(Message::NoSuchSession))
    }
}

/// Zeroes the selection counters of all zones, of one zone or of one host.
fn clear_dns_zone(session: &Session, arguments: &Reading<'_>) -> Result<String, Refusal> {
    let snapshot = session.appliance.current();
    let zone = arguments.text("zone");
    let name = arguments.text("host");
    let mut found = false;
    for host in &snapshot.hosts {
        let host_zone = &snapshot.zones[host.zone.index()].name;
        let in_zone = zone.is_none_or(|zone| zone.eq_ignore_ascii_case(host_zone));
        if in_zone && name.is_none_or(|name| name.eq_ignore_ascii_case(host.name())) {
            host.domain.lock().clear_counts();
            found = true;
        }
    }
    match name {
        Some(name) if !found => Err(Refusal::new(Message::NoSuchHost).with("host", name)),
        _ => Ok(String::new()),
    }
}

/// Loads an example, or lists the examples.
fn demo(session: &mut Session, arguments: &Reading<'_>) -> String {
    let Some(demo) = arguments.word("demo").and_then(Demo::from_name) else {
        let mut out = String::new();
        for choice in arguments.grammar.choice_type("demo").into_iter().flat_map(|one| &one.words) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  {:<14}{}", choice.word, choice.help);
        }
        return out;
    };
    session.appliance.reset_world();
    session.appliance.start_with(demo.text());
    session.restart();
    String::new()
}

/// Sends DNS questions as a client would.
fn query(session: &Session, arguments: &Reading<'_>) -> Result<String, Refusal> {
    let name = arguments.text("fqdn").unwrap_or_default();
    let record_type = arguments
        .word("type")
        .map(str::to_owned)
        .or_else(|| arguments.number::<u16>("type").map(|number| format!("TYPE{number}")));
    let mut query = ClientQuery::new(name, record_type.as_deref()).map_err(|error| {
        Refusal::new(Message::InvalidQuestion).with("reason", error.to_string())
    })?;
    query.interruption = session.interruption.clone();
    if let Some(count) = arguments.number("count") {
        query.count = count;
    }
    if let Some(client) = arguments.address("client") {
        query.from = client;
    }
    Ok(query.run(&session.appliance, session.responder.settings))
}

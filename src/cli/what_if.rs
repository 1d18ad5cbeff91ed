//! What if, asked at a console: about a copy of the appliance as it runs.

use std::ops::ControlFlow;

use crate::cli::session::Session;
use crate::config::edit::Refusal;
use crate::config::tree::Reading;
use crate::grammar::link::Message;
use crate::health::prefix::Prefix;
use crate::show;
use crate::whatif::population::{Draw, Place, WantedName};
use crate::whatif::run::{Plan, Questions};
use crate::whatif::subject::Subject;
use crate::whatif::{self, report};

/// Failures of each kind that are told unless said otherwise.
const WORST: usize = 10;

fn subject(session: &Session) -> Subject {
    Subject::of_running(&session.responder)
}

/// What the appliance does today.
pub(super) fn audit(session: &Session) -> String {
    let stops = || session.interruption().is_wanted();
    report::audit::markdown(&whatif::audit::audit_until(&subject(session), &stops))
}

/// What is left when something fails.
pub(super) fn failures(session: &Session, arguments: &Reading<'_>) -> String {
    let worst = arguments.number("count").unwrap_or(WORST);
    let stops = || session.interruption().is_wanted();
    show::failures(&whatif::failures::failures_until(&subject(session), worst, &stops))
}

/// Who gets what of so many questions.
///
/// # Errors
///
/// There is nothing to ask for.
pub(super) fn simulate(session: &Session, arguments: &Reading<'_>) -> Result<String, Refusal> {
    let defaults = Draw::default();
    let name = arguments.text("fqdn").map(|name| {
        let name = name.trim_end_matches('.').to_owned();
        (WantedName { name, record_type: None }, 1)
    });
    let place = arguments
        .prefix("place")
        .map(|(network, length)| (Place::Prefix(Prefix::new(network, length)), 1));
    let draw = Draw {
        questions: arguments.number("count").unwrap_or(defaults.questions),
        rate: arguments.number("rate").unwrap_or(defaults.rate),
        clients: arguments.number("clients").unwrap_or(defaults.clients),
        places: place.into_iter().collect(),
        names: name.into_iter().collect(),
        seed: arguments.number("seed").unwrap_or(defaults.seed),
    };
    let plan = Plan {
        subjects: vec![subject(session)],
        change: None,
        resolvers: 0,
        caches: false,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut goes_on = |_| {
        let is_wanted = session.interruption().is_wanted();
        if is_wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    whatif::run::simulate(&plan, Questions::Drawn(draw), &mut goes_on)
        .map(|found| show::simulation(&found))
        .map_err(|problem| {
            Refusal::new(Message::InvalidQuestion).with("reason", problem.to_string())
        })
}

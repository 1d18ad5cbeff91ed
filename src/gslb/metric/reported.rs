//! What the site devices report, as the metrics see it, and what becomes of candidates without a
//! report (`gslb-config.md` 3.16).
//!
//! A real address belongs to no device; a device whose connection is lost reports nothing
//! (decisions 3.6). Such a candidate passes a limit (session capacity threshold, connection load)
//! and stays in a comparison (round-trip time, available sessions) only if no candidate has data.

use crate::gslb::choose::View;
use crate::health::state::{Connection, ServerState};

/// The state of the device whose VIP the candidate is, if its reports arrive.
pub(super) fn by_device<'a>(view: &View<'a>, position: usize) -> Option<&'a ServerState> {
    let server = view.snapshot.owner_of(view.address(position))?;
    (server.state.connection() == Connection::Established).then_some(&*server.state)
}

/// A test for a limit: without data a candidate passes.
pub(super) fn within<T>(passes: impl Fn(T) -> bool) -> impl Fn(Option<T>) -> bool {
    move |figure| figure.is_none_or(&passes)
}

/// A test for a comparison with the `best` of those that have data: without data a candidate stays
/// only if there is no best.
pub(super) fn compared<T, B: Copy>(
    best: Option<B>,
    passes: impl Fn(T, B) -> bool,
) -> impl Fn(Option<T>) -> bool {
    move |figure| match (figure, best) {
        (Some(figure), Some(best)) => passes(figure, best),
        (None, best) => best.is_none(),
        (Some(_), None) => true,
    }
}

//! What a simulation counts of one name and one type.

use std::net::IpAddr;

use hashbrown::HashMap;
use hickory_proto::op::ResponseCode;
use smallvec::SmallVec;

use crate::gslb::pool::Pool;
use crate::model::snapshot::Host;

/// The parts of a run: before a change, and after it. Without a change there is only the first.
pub(super) const PHASES: usize = 2;

/// Pieces into which time is divided at most.
const MOST_PIECES: usize = 128;

/// Clients whose addresses are remembered for one name at most.
const MOST_CLIENTS: usize = 1 << 20;

/// What is counted of one name and one type.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// What was answered first, in the order of the first such answer; `None`: no address.
    pub(super) answers: Vec<Option<IpAddr>>,
    /// What was counted in each part.
    pub(super) phases: [Phase; PHASES],
    /// What clients got, over time.
    pub(super) timeline: Timeline,
    /// What each client got, if that is of interest.
    pub(super) clients: Option<Clients>,
}

/// What is counted in one part of a run.
#[derive(Debug, Default)]
pub(super) struct Phase {
    /// Questions of clients.
    pub(super) questions: u64,
    /// Questions that reached the appliance.
    pub(super) asked: u64,
    /// Questions without a best address, whose answer is the list as it stands.
    pub(super) no_best: u64,
    /// By the place in [`Tally::answers`]: times that the appliance answered so, and that clients
    /// got it.
    pub(super) counts: Vec<Counts>,
    /// The sum of the shares of each address, by the place in [`Tally::answers`].
    pub(super) shares: Vec<f64>,
    /// The pool of the last questions in a row, with the address of each position, and how many
    /// they were. Their shares are added together.
    pool: Pool,
    pool_count: u64,
    /// Return codes; `None`: no reply.
    pub(super) codes: SmallVec<[(Option<ResponseCode>, u64); 2]>,
    /// How many of the first answers of the appliance in a row were the same one.
    pub(super) first_run: Option<FirstRun>,
}

/// How often something was the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Of the appliance.
    pub(super) selected: u64,
    /// To a client, from the appliance or from the cache of its resolver.
    pub(super) received: u64,
}

/// The first answers in a row that were the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstRun {
    /// The place in [`Tally::answers`].
    pub(super) answer: usize,
    /// How many.
    pub(super) length: u64,
    is_over: bool,
}

/// What each client got.
#[derive(Debug, Default)]
pub(super) struct Clients {
    /// The last answer before the change, and the first one after it, by the place in
    /// [`Tally::answers`].
    pub(super) got: HashMap<IpAddr, [Option<u32>; PHASES]>,
    /// Whether there were more clients than are remembered.
    pub(super) is_full: bool,
}

impl Tally {
    /// A tally that remembers clients if they are of interest.
    pub(super) fn new(remembers_clients: bool) -> Self {
        Tally { clients: remembers_clients.then(Clients::default), ..Tally::default() }
    }

    /// The place of an answer in the list.
    fn place(&mut self, answer: Option<IpAddr>) -> usize {
        self.answers.iter().position(|known| *known == answer).unwrap_or_else(|| {
            self.answers.push(answer);
            self.answers.len() - 1
        })
    }

    /// Counts the answer of the appliance to one question.
    pub(super) fn selected(
        &mut self,
        phase: usize,
        answer: Option<IpAddr>,
        code: Option<ResponseCode>,
    ) {
        let place = self.place(answer);
        let phase = &mut self.phases[phase];
        phase.asked += 1;
        phase.count(place).selected += 1;
        match phase.codes.iter_mut().find(|(known, _)| *known == code) {
            Some((_, count)) => *count += 1,
            None => phase.codes.push((code, 1)),
        }
        let run =
            phase.first_run.get_or_insert(FirstRun { answer: place, length: 0, is_over: false });
        run.is_over |= run.answer != place;
        run.length += u64::from(!run.is_over);
    }

    /// Counts what a client got.
    pub(super) fn received(
        &mut self,
        phase: usize,
        at: u64,
        client: IpAddr,
        answer: Option<IpAddr>,
    ) {
        let place = self.place(answer);
        let counted = &mut self.phases[phase];
        counted.questions += 1;
        counted.count(place).received += 1;
        self.timeline.count(at, place);
        if let Some(clients) = &mut self.clients {
            clients.got(phase, client, place);
        }
    }

    /// Counts among which addresses a question was dealt.
    pub(super) fn pool(&mut self, phase: usize, host: &Host, pool: Pool) {
        if pool.is_empty() {
            self.phases[phase].no_best += 1;
        }
        if self.phases[phase].pool != pool {
            self.settle(phase, host);
            self.phases[phase].pool = pool;
        }
        self.phases[phase].pool_count += 1;
    }

    /// Adds the shares of the last questions; to be called before the list of the host changes.
    pub(super) fn settle(&mut self, phase: usize, host: &Host) {
        let pool = std::mem::take(&mut self.phases[phase].pool);
        let count = std::mem::take(&mut self.phases[phase].pool_count);
        if count == 0 {
            return;
        }
        for (position, share) in pool.shares() {
            let place = self.place(host.addresses.get(position).map(|address| address.ip));
            let shares = &mut self.phases[phase].shares;
            if shares.len() <= place {
                shares.resize(place + 1, 0.0);
            }
            #[allow(clippy::cast_precision_loss, reason = "exact up to 2^53 questions")]
            let count = count as f64;
            shares[place] += share * count;
        }
    }
}

impl Phase {
    fn count(&mut self, place: usize) -> &mut Counts {
        if self.counts.len() <= place {
            self.counts.resize(place + 1, Counts::default());
        }
        &mut self.counts[place]
    }
}

impl Clients {
    fn got(&mut self, phase: usize, client: IpAddr, place: usize) {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        if self.got.len() >= MOST_CLIENTS && !self.got.contains_key(&client) {
            self.is_full = true;
            return;
        }
        let got = &mut self.got.entry(client).or_default()[phase];
        if phase == 0 || got.is_none() {
            *got = Some(place);
        }
    }
}

/// Counts over time, in pieces of the same length. The pieces grow with the run, by doubling, so
/// that there are never many, and those of two runs can be brought to one length.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// Length of a piece, milliseconds; a power of two.
    pub(super) width: u64,
    /// For each piece the counts by the place of the answer.
    pub(super) pieces: Vec<Vec<u64>>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline { width: 1, pieces: Vec::new() }
    }
}

impl Timeline {
    fn count(&mut self, at: u64, place: usize) {
        let most = u64::try_from(MOST_PIECES).unwrap_or(u64::MAX);
        while at / self.width >= most {
            self.widen();
        }
        let piece = usize::try_from(at / self.width).unwrap_or(0);
        if self.pieces.len() <= piece {
            self.pieces.resize(piece + 1, Vec::new());
        }
        let counts = &mut self.pieces[piece];
        if counts.len() <= place {
            counts.resize(place + 1, 0);
        }
        counts[place] += 1;
    }

    /// Doubles the length of the pieces.
    fn widen(&mut self) {
        self.width = self.width.saturating_mul(2);
        let pieces = std::mem::take(&mut self.pieces);
        self.pieces = pieces
            .chunks(2)
            .map(|pair| {
                let length = pair.iter().map(Vec::len).max().unwrap_or(0);
                let count = |place| pair.iter().filter_map(|counts| counts.get(place)).sum();
                (0..length).map(count).collect()
            })
            .collect();
    }

    /// Brings the pieces to a length that is a greater power of two.
    pub(super) fn widen_to(&mut self, width: u64) {
        while self.width < width {
            self.widen();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gslb::testing::ip;

    #[test]
    fn pieces_of_time_double_and_lose_nothing() {
        let mut timeline = Timeline::default();
        for at in 0..1000 {
            timeline.count(at, usize::from(at >= 500));
        }
        assert_eq!(timeline.width, 8);
        assert_eq!(timeline.pieces.len(), 125);
        assert_eq!(timeline.pieces[0], [8]);
        assert_eq!(timeline.pieces[62], [4, 4]);
        let sum: u64 = timeline.pieces.iter().flatten().sum();
        assert_eq!(sum, 1000);
        timeline.widen_to(64);
        assert_eq!((timeline.width, timeline.pieces.len()), (64, 16));
        assert_eq!(timeline.pieces.iter().flatten().sum::<u64>(), 1000);
    }

    #[test]
    fn the_first_run_ends_with_another_answer() {
        let (a, b) = (Some(ip("192.0.2.1")), Some(ip("192.0.2.2")));
        let mut tally = Tally::new(false);
        for answer in [a, a, b, a] {
            tally.selected(0, answer, Some(ResponseCode::NoError));
        }
        let run = tally.phases[0].first_run.unwrap();
        assert_eq!((run.answer, run.length), (0, 2));
        assert_eq!(tally.phases[0].codes[0], (Some(ResponseCode::NoError), 4));
    }

    #[test]
    fn of_clients_the_last_answer_before_and_the_first_one_after_count() {
        let client = ip("198.51.100.1");
        let mut tally = Tally::new(true);
        for (phase, answer) in [(0, "1.1.1.1"), (0, "1.1.1.2"), (1, "1.1.1.3"), (1, "1.1.1.1")] {
            tally.received(phase, 0, client, Some(ip(answer)));
        }
        assert_eq!(tally.clients.unwrap().got[&client], [Some(1), Some(2)]);
    }
}

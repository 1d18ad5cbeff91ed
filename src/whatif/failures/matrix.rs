//! All failures, and the worst of them.
//!
//! What a failure costs is the sum over the names that it touches. Two failures that touch no name
//! in common cost what each costs; where they do, their common names are looked at again.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::elements::Elements;
use super::target::{Targets, number};
use super::{Case, Cases, MOST_NAMES, NameOutcome, rounded};

/// What a failure costs, summed over names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    dead: f64,
    moved: f64,
}

/// Less than this comes from calculating with fractions.
const NOTHING: f64 = 1e-9;

/// What every single failure costs, and every double one that costs something else than the sum.
pub(super) struct Matrix {
    single: Vec<Cost>,
    /// What is to be added to the sum.
    together: HashMap<(usize, usize), Cost>,
    /// Names and families in all.
    targets: usize,
}

/// A failure on the way to the list of the worst.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    cost: Cost,
    first: usize,
    second: Option<usize>,
}

impl Eq for Ranked {}

impl Ord for Ranked {
    /// The worst is the greatest; among equals the one that was configured first.
    fn cmp(&self, other: &Self) -> Ordering {
        let this = (rounded(self.cost.dead), rounded(self.cost.moved));
        let that = (rounded(other.cost.dead), rounded(other.cost.moved));
        let by_cost = this.0.total_cmp(&that.0).then(this.1.total_cmp(&that.1));
        by_cost.then_with(|| (other.first, other.second).cmp(&(self.first, self.second)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Matrix {
    /// Looks at one name after the other, until there is none or somebody wants it to stop; those that were
    /// not looked at leave the list.
    pub(super) fn new(
        elements: &Elements,
        targets: &mut Targets<'_>,
        stops: &dyn Fn() -> bool,
    ) -> Self {
        let mut matrix = Matrix {
            single: vec![Cost::default(); elements.list.len()],
            together: HashMap::new(),
            targets: 0,
        };
        for target in 0..targets.list.len() {
            if target > 0 && stops() {
                targets.list.truncate(target);
                break;
            }
            let touching = targets.touching[target].clone();
            let costs: Vec<Cost> =
                touching.iter().map(|&one| cost(elements, targets, target, &[one])).collect();
            for (&one, cost) in touching.iter().zip(&costs) {
                matrix.single[one].dead += cost.dead;
                matrix.single[one].moved += cost.moved;
            }
            for (place, (&first, alone)) in touching.iter().zip(&costs).enumerate() {
                for (&second, also) in touching[place + 1..].iter().zip(&costs[place + 1..]) {
                    let both = cost(elements, targets, target, &[first, second]);
                    let further = matrix.together.entry((first, second)).or_default();
                    further.dead += both.dead - alone.dead - also.dead;
                    further.moved += both.moved - alone.moved - also.moved;
                }
            }
        }
        matrix.targets = targets.list.len();
        matrix
    }

    /// Every single failure.
    pub(super) fn single(
        &self,
        elements: &Elements,
        targets: &mut Targets<'_>,
        most: usize,
    ) -> Cases {
        let all = self.single.iter().enumerate();
        let ranked = all.map(|(first, &cost)| Ranked { cost, first, second: None });
        self.cases(ranked, elements, targets, most)
    }

    /// Every double failure of which none contains the other.
    pub(super) fn double(
        &self,
        elements: &Elements,
        targets: &mut Targets<'_>,
        most: usize,
    ) -> Cases {
        let count = self.single.len();
        let pairs =
            (0..count).flat_map(|first| (first + 1..count).map(move |other| (first, other)));
        let apart = pairs.filter(|&(first, second)| {
            !elements.contains(first, second) && !elements.contains(second, first)
        });
        let ranked = apart.map(|(first, second)| {
            let further = self.together.get(&(first, second)).copied().unwrap_or_default();
            let (one, other) = (self.single[first], self.single[second]);
            let cost = Cost {
                dead: one.dead + other.dead + further.dead,
                moved: one.moved + other.moved + further.moved,
            };
            Ranked { cost, first, second: Some(second) }
        });
        self.cases(ranked, elements, targets, most)
    }

    fn cases(
        &self,
        ranked: impl Iterator<Item = Ranked>,
        elements: &Elements,
        targets: &mut Targets<'_>,
        most: usize,
    ) -> Cases {
        let mut cases = Cases::default();
        // The least of the worst is on top, to be thrown out.
        let mut worst: BinaryHeap<std::cmp::Reverse<Ranked>> = BinaryHeap::new();
        for one in ranked {
            cases.count += 1;
            cases.dead += u64::from(one.cost.dead > NOTHING);
            cases.moved += u64::from(one.cost.dead <= NOTHING && one.cost.moved > NOTHING);
            worst.push(std::cmp::Reverse(one));
            if worst.len() > most {
                worst.pop();
            }
        }
        let sorted = worst.into_sorted_vec();
        cases.worst = sorted.into_iter().map(|one| self.case(one.0, elements, targets)).collect();
        cases
    }

    fn case(&self, one: Ranked, elements: &Elements, targets: &mut Targets<'_>) -> Case {
        let which: Vec<usize> = std::iter::once(one.first).chain(one.second).collect();
        let mut touched: Vec<(Cost, NameOutcome)> = Vec::new();
        for target in 0..targets.list.len() {
            if which.iter().any(|one| targets.touching[target].contains(one)) {
                let cost = cost(elements, targets, target, &which);
                if cost.dead > NOTHING || cost.moved > NOTHING {
                    touched.push((cost, targets.outcome(elements, target, &which).told.clone()));
                }
            }
        }
        touched.sort_by(|(one, _), (other, _)| {
            other.dead.total_cmp(&one.dead).then(other.moved.total_cmp(&one.moved))
        });
        let further = touched.len().saturating_sub(MOST_NAMES);
        let all = number(self.targets.max(1));
        Case {
            failed: which.iter().map(|&one| elements.name(one)).collect(),
            dead_share: rounded(one.cost.dead / all),
            moved_share: rounded(one.cost.moved / all),
            names: touched.into_iter().take(MOST_NAMES).map(|(_, outcome)| outcome).collect(),
            further_names: u64::try_from(further).unwrap_or(u64::MAX),
        }
    }
}

/// What a failure costs one name, beyond what it has without one.
fn cost(elements: &Elements, targets: &mut Targets<'_>, target: usize, which: &[usize]) -> Cost {
    let before = targets.outcome(elements, target, &[]);
    let after = targets.outcome(elements, target, which);
    Cost { dead: after.dead, moved: after.moved_from(&before) }
}

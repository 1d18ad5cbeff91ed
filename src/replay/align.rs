//! What a block that no longer fits is replaced with.
//!
//! The smallest change that makes the block fit again: lines that still say what is shown stay as
//! they are written, `[..]` and names of shapes included, and `...` stays where it hides what it
//! hid before. Where that cannot be told, because a stretch between two elisions has kept no line,
//! the whole output takes the place of the block.

use super::compare::{Block, Comparison, Item};

/// The largest table of costs, in cells; larger blocks are replaced as a whole.
const CELLS: usize = 1 << 20;

/// One step of the cheapest way through block and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The line of the block says the line of the output, or begins to elide.
    Keep,
    /// The elision hides the line of the output.
    Hide,
    /// The line of the output takes the place of the line of the block.
    Replace,
    /// The line of the block is gone.
    Remove,
    /// The line of the output is new.
    Add,
}

/// The lines of the block changed so that they fit the output.
///
/// `written` gives a line of the output as it must be written in a session file.
pub(super) fn mended(
    block: &Block<'_>,
    output: &[&str],
    comparison: Comparison,
    written: impl Fn(&str) -> String,
) -> Vec<String> {
    let steps = cheapest(block.items(), output, comparison);
    steps
        .and_then(|steps| follow(&steps, block.items(), output, &written))
        .unwrap_or_else(|| output.iter().map(|line| written(line)).collect())
}

/// The cheapest way, if the table that it is read from is not too large.
fn cheapest(items: &[Item<'_>], output: &[&str], comparison: Comparison) -> Option<Vec<Step>> {
    let width = output.len() + 1;
    if (items.len() + 1).checked_mul(width)? > CELLS {
        return None;
    }
    let output: Vec<_> = output.iter().map(|line| comparison.normal(line)).collect();
    let keeps = |item: usize, line: usize| {
        items[item].pattern.as_ref().is_some_and(|pattern| pattern.matches(&output[line]))
    };

    // Filled from the end: what the rest of the block and the rest of the output cost, and the
    // first step. Of equally cheap steps the first one listed is taken.
    let mut table = vec![(0_u32, Step::Keep); (items.len() + 1) * width];
    for item in (0..=items.len()).rev() {
        for line in (0..width).rev() {
            let cost = |item: usize, line: usize| table[item * width + line].0;
            let more_items = item < items.len();
            let more_lines = line < output.len();
            let elision = more_items && items[item].pattern.is_none();
            let steps = [
                (elision, Step::Keep, 0, 1, 0),
                (elision && more_lines, Step::Hide, 0, 0, 1),
                (more_items && more_lines && !elision && keeps(item, line), Step::Keep, 0, 1, 1),
                (more_items && more_lines && !elision, Step::Replace, 1, 1, 1),
                (more_items && !elision, Step::Remove, 1, 1, 0),
                (more_lines, Step::Add, 1, 0, 1),
            ];
            let best = steps
                .into_iter()
                .filter(|&(possible, ..)| possible)
                .map(|(_, step, price, items, lines)| {
                    (price + cost(item + items, line + lines), step)
                })
                .min_by_key(|&(cost, _)| cost);
            if let Some(best) = best {
                table[item * width + line] = best;
            }
        }
    }

    let (mut item, mut line) = (0, 0);
    let mut way = Vec::new();
    while item < items.len() || line < output.len() {
        let step = table[item * width + line].1;
        way.push(step);
        let elision = items.get(item).is_some_and(|item| item.pattern.is_none());
        item += usize::from(!matches!(step, Step::Hide | Step::Add));
        line += usize::from(match step {
            Step::Keep => !elision,
            Step::Hide | Step::Replace | Step::Add => true,
            Step::Remove => false,
        });
    }
    Some(way)
}

/// The lines that a way leads to; `None` if a stretch between elisions kept no line.
fn follow(
    steps: &[Step],
    items: &[Item<'_>],
    output: &[&str],
    written: impl Fn(&str) -> String,
) -> Option<Vec<String>> {
    let mut items = items.iter();
    let mut output = output.iter();
    let mut lines = Vec::new();
    // Of the stretch: whether a line was changed, and whether one that says something was kept.
    let (mut changed, mut kept) = (false, false);
    for step in steps {
        match step {
            Step::Keep => {
                let item = items.next()?;
                lines.push(item.written.to_owned());
                match &item.pattern {
                    None if changed && !kept => return None,
                    None => (changed, kept) = (false, false),
                    Some(pattern) => {
                        kept |= !pattern.is_blank();
                        output.next();
                    }
                }
            }
            Step::Hide => {
                output.next();
            }
            Step::Replace => {
                items.next();
                lines.push(written(output.next()?));
                changed = true;
            }
            Step::Remove => {
                items.next();
                changed = true;
            }
            Step::Add => {
                lines.push(written(output.next()?));
                changed = true;
            }
        }
    }
    (!changed || kept).then_some(lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::compare::LINES;

    fn mend(block: &str, output: &str) -> String {
        let lines: Vec<_> = block.lines().collect();
        let output: Vec<_> = output.lines().collect();
        let block = Block::new(&lines, Comparison::Strict);
        mended(&block, &output, Comparison::Strict, str::to_owned).join("\n")
    }

    #[test]
    fn what_still_fits_stays() {
        assert_eq!(mend("a\nb\nc", "a\nx\nc"), "a\nx\nc");
        assert_eq!(mend("a [..]\nb", "a 1\nx"), "a [..]\nx");
        let block = "...\nsite a\n weight 50\n!\n...";
        assert_eq!(
            mend(block, "1\n2\n!\nsite a\n weight 60\n!\n3\n4"),
            "...\nsite a\n weight 60\n!\n..."
        );
        assert_eq!(mend("a\n...\nz", "a\n1\n2\ny\nx\nz\n9"), "a\n...\nz\n9");
    }

    #[test]
    fn where_nothing_stays_all_is_replaced() {
        assert_eq!(mend("...\na\n...", "b\nc"), "b\nc");
        assert_eq!(mend("...\n!\na\n...\nz", "y\nb\nz"), "y\nb\nz");
        assert_eq!(mend("", "a\nb"), "a\nb");
        assert_eq!(mend("a\nb", ""), "");
        let long = "a\n".repeat(2000);
        assert_eq!(mend(&format!("...\n{long}b"), &long), long.trim_end());
    }

    proptest! {
        #[test]
        fn a_mended_block_fits(
            block in prop::collection::vec("[ab!]|\\.\\.\\.|\\[\\.\\.\\]a|", 0..8),
            output in prop::collection::vec("[abc!]|", 0..10),
            strict: bool,
        ) {
            let comparison = if strict { Comparison::Strict } else { Comparison::Lenient };
            let block: Vec<_> = block.iter().map(String::as_str).collect();
            let output: Vec<_> = output.iter().map(String::as_str).collect();
            let block = Block::new(&block, comparison);
            let mended = mended(&block, &output, comparison, str::to_owned);
            let lines: Vec<_> = mended.iter().map(String::as_str).collect();
            prop_assert!(Block::new(&lines, comparison).fits(&output), "{mended:?}");
            if !lines.contains(&LINES) && strict {
                prop_assert_eq!(lines.len(), output.len());
            }
        }
    }
}

//! Column blocks of the displays: headings, rulers and rows in columns that line up.
//!
//! The widths that a report states are minima: the widest cell sets a column for its whole block,
//! so that an IPv6 address moves the columns of its block and nothing is ever cut or wrapped.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, Width};

/// A column of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// The words above the cells, one for each heading line; a ruler is the last of them.
    headings: &'static [&'static str],
    /// Lines above the headings that may reach over the columns to the right. They begin where the
    /// first word of `headings` begins.
    above: &'static [&'static str],
    /// The least width.
    minimum: usize,
    /// Blanks between this column and the one before it.
    gap: usize,
    /// The side on which the cells end.
    alignment: CellAlignment,
}

impl Column {
    /// A column of words.
    pub(super) const fn left(headings: &'static [&'static str], minimum: usize) -> Self {
        Column { headings, above: &[], minimum, gap: 1, alignment: CellAlignment::Left }
    }

    /// A column of numbers.
    pub(super) const fn right(headings: &'static [&'static str], minimum: usize) -> Self {
        Column { headings, above: &[], minimum, gap: 1, alignment: CellAlignment::Right }
    }

    /// Sets the blanks before the column; one if not stated.
    pub(super) const fn gap(mut self, gap: usize) -> Self {
        self.gap = gap;
        self
    }

    /// Adds lines above the headings.
    pub(super) const fn above(mut self, above: &'static [&'static str]) -> Self {
        self.above = above;
        self
    }

    /// The width that headings and minimum ask for.
    fn least_width(&self) -> usize {
        self.headings.iter().map(|word| word.len()).fold(self.minimum, usize::max)
    }

    /// Where the first heading begins within the column.
    fn heading_start(&self, width: usize) -> usize {
        match self.alignment {
            CellAlignment::Right => width - self.headings.first().map_or(width, |word| word.len()),
            CellAlignment::Left | CellAlignment::Center => 0,
        }
    }
}

/// The lines of a block, without line ends and without blanks before them.
#[derive(Debug)]
pub(super) struct Block {
    /// The headings with their rulers.
    pub(super) headings: Vec<String>,
    /// One line for each row.
    pub(super) rows: Vec<String>,
}

impl Block {
    /// Lays out `rows`, whose cells stand in the order of `columns`.
    pub(super) fn new<const N: usize>(columns: &[Column; N], rows: &[[String; N]]) -> Self {
        Self::of(columns, rows)
    }

    /// As [`Block::new`], for columns that are put together while the program runs.
    pub(super) fn of(columns: &[Column], rows: &[impl AsRef<[String]>]) -> Self {
        let mut widths: Vec<usize> = columns.iter().map(Column::least_width).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
                *width = (*width).max(cell.chars().count());
            }
        }

        let heading_count = columns.iter().map(|column| column.headings.len()).max().unwrap_or(0);
        let mut table = Table::new();
        table.load_style(NOTHING);
        for line in 0..heading_count {
            let word = |column: &Column| column.headings.get(line).copied().unwrap_or_default();
            table.add_row(columns.iter().map(|column| Cell::new(word(column))));
        }
        for row in rows {
            table.add_row(row.as_ref().iter().map(Cell::new));
        }
        for ((column, &width), place) in columns.iter().zip(&widths).zip(0..) {
            if let Some(cells) = table.column_mut(place) {
                let gap = if place == 0 { 0 } else { column.gap };
                cells.set_padding((narrow(gap), 0));
                // The library counts the padding as a part of the width.
                cells.set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrow(gap + width))));
                cells.set_cell_alignment(column.alignment);
            }
        }

        let mut headings = lines_above(columns, &widths);
        let mut lines = table.lines().map(|line| line.trim_end().to_owned());
        headings.extend(lines.by_ref().take(heading_count));
        Block { headings, rows: lines.collect() }
    }

    /// All lines, from the first heading to the last row.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.headings.iter().chain(&self.rows).map(String::as_str)
    }
}

/// The lines above the headings, each text where the heading below it begins.
fn lines_above(columns: &[Column], widths: &[usize]) -> Vec<String> {
    let count = columns.iter().map(|column| column.above.len()).max().unwrap_or(0);
    let mut lines = vec![String::new(); count];
    let mut start = 0;
    for (place, (column, width)) in columns.iter().zip(widths.iter().copied()).enumerate() {
        if place > 0 {
            start += column.gap;
        }
        let word_start = start + column.heading_start(width);
        for (line, text) in lines.iter_mut().zip(column.above) {
            line.extend(std::iter::repeat_n(' ', word_start.saturating_sub(line.len())));
            line.push_str(text);
        }
        start += width;
    }
    lines
}

/// A width as the table library takes it.
fn narrow(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::page::Page;

    const COLUMNS: [Column; 3] = [
        Column::left(&["NAME", "===="], 6),
        Column::right(&["Count"], 6).gap(2).above(&["DNS responses", "all"]),
        Column::left(&["(%)"], 0),
    ];

    fn text(columns: &[Column; 3], rows: &[[String; 3]]) -> String {
        let mut page = Page::default();
        page.block(0, &Block::new(columns, rows));
        page.finish()
    }

    fn row(name: &str, count: &str, share: &str) -> [String; 3] {
        [name.to_owned(), count.to_owned(), share.to_owned()]
    }

    #[test]
    fn minimum_widths_hold_where_the_cells_are_short() {
        let expected = "
         DNS responses
         all
NAME     Count (%)
====
a            1 (50%)
b           20 (0%)
";
        assert_eq!(
            text(&COLUMNS, &[row("a", "1", "(50%)"), row("b", "20", "(0%)")]),
            expected[1..]
        );
    }

    #[test]
    fn the_widest_cell_moves_the_whole_block() {
        let expected = "
               DNS responses
               all
NAME           Count (%)
====
2001:db8::1 12345678 (50%)
b                  1
";
        let columns = COLUMNS.map(|column| column.gap(1));
        let rows = [row("2001:db8::1", "12345678", "(50%)"), row("b", "1", "")];
        assert_eq!(text(&columns, &rows), expected[1..]);
    }

    #[test]
    fn a_block_without_rows_has_its_headings() {
        assert_eq!(Block::new(&COLUMNS, &[]).rows, Vec::<String>::new());
        assert_eq!(Block::new(&COLUMNS, &[]).headings.len(), 4);
    }
}

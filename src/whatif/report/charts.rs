//! Charts as inline SVG: bars for shares, and areas for what happened over time. Every chart has a
//! text that says what it shows, and stands beside a table with the same figures.

use maud::{Markup, html};

/// Colours that differ for everybody, also for those who see few of them, and stand out from white
/// (after Okabe and Ito; the lighter ones darkened).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#007f5f", "#b0447f", "#8a6d00", "#3a7fb0", "#5c5c5c", "#7a3fb0"];

/// Colours of sides, unlike those of the rows.
const SIDES: [&str; 2] = ["#8a94a0", "#31435a"];

/// The colour of a row.
pub(super) fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

/// A bar of a chart.
pub(super) struct Bar {
    /// What it is called.
    pub(super) name: String,
    /// For each side its share and the ideal one, parts of 1.
    pub(super) sides: Vec<(f64, Option<f64>)>,
}

/// Widths and heights, in pixels of the drawing.
const NAME_WIDTH: f64 = 210.0;
const BARS_WIDTH: f64 = 560.0;
const BAR_HEIGHT: f64 = 16.0;
const GAP: f64 = 10.0;
const VALUE_WIDTH: f64 = 70.0;

/// Horizontal bars: for each row one bar a side, and a mark where the ideal share is.
pub(super) fn bars(id: &str, title: &str, side_names: &[&str], rows: &[Bar]) -> Markup {
    let sides = number(side_names.len().max(1));
    let row_height = sides * BAR_HEIGHT + GAP;
    let height = number(rows.len()) * row_height + GAP;
    let width = NAME_WIDTH + BARS_WIDTH + VALUE_WIDTH;
    let title_id = format!("{id}-title");
    html! {
        figure {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height)
                role="img" aria-labelledby=(title_id) {
                title id=(title_id) { (title) }
                line x1=(NAME_WIDTH) y1="0" x2=(NAME_WIDTH) y2=(height) stroke="#57606a" {}
                @for (place, row) in rows.iter().enumerate() {
                    @let top = GAP + number(place) * row_height;
                    text x=(NAME_WIDTH - 8.0) y=(top + sides * BAR_HEIGHT / 2.0 + 4.0) text-anchor="end" { (row.name) }
                    @for (side, (share, ideal)) in row.sides.iter().enumerate() {
                        @let y = top + number(side) * BAR_HEIGHT;
                        @let length = round(share * BARS_WIDTH);
                        rect x=(NAME_WIDTH) y=(y + 1.0) width=(length) height=(BAR_HEIGHT - 2.0) fill=(SIDES[side % SIDES.len()]) {}
                        @if let Some(ideal) = ideal {
                            @let x = round(NAME_WIDTH + ideal * BARS_WIDTH);
                            line x1=(x) y1=(y - 1.0) x2=(x) y2=(y + BAR_HEIGHT + 1.0) stroke="#1b1f24" stroke-width="2" {}
                        }
                        text x=(round(NAME_WIDTH + length.max(ideal.unwrap_or(0.0) * BARS_WIDTH) + 6.0)) y=(y + 12.0) {
                            (format!("{:.1}%", share * 100.0))
                        }
                    }
                }
            }
            figcaption { (title) }
            ul.legend {
                @for (side, name) in side_names.iter().enumerate() {
                    li { (swatch(SIDES[side % SIDES.len()])) (name) }
                }
                li { (swatch("#1b1f24")) "mark: ideal share" }
            }
        }
    }
}

/// What clients got over time: in each piece the parts of the answers, one above the other.
pub(super) struct Areas<'a> {
    /// What the rows are called.
    pub(super) names: &'a [String],
    /// For each row its counts by piece.
    pub(super) counts: &'a [Vec<u64>],
    /// Length of a piece, seconds.
    pub(super) piece_seconds: f64,
    /// Where a change was made, seconds.
    pub(super) change: Option<f64>,
}

const TIME_WIDTH: f64 = 780.0;
const TIME_HEIGHT: f64 = 160.0;
const AXIS: f64 = 40.0;

/// Draws what clients got over time.
pub(super) fn areas(id: &str, title: &str, areas: &Areas<'_>) -> Markup {
    let pieces = areas.counts.iter().map(Vec::len).max().unwrap_or(0);
    let piece_width = TIME_WIDTH / number(pieces.max(1));
    let title_id = format!("{id}-title");
    let (width, height) = (TIME_WIDTH + AXIS + 20.0, TIME_HEIGHT + 30.0);
    let end = areas.piece_seconds * number(pieces);
    html! {
        figure {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height)
                role="img" aria-labelledby=(title_id) shape-rendering="crispEdges" {
                title id=(title_id) { (title) }
                @for piece in 0..pieces {
                    @for bar in stacked(areas.counts, piece) {
                        rect x=(round(AXIS + number(piece) * piece_width)) y=(round(bar.top * TIME_HEIGHT))
                            width=(round(piece_width + 0.3)) height=(round(bar.height * TIME_HEIGHT))
                            fill=(colour(bar.row)) {}
                    }
                }
                line x1=(AXIS) y1="0" x2=(AXIS) y2=(TIME_HEIGHT) stroke="#57606a" {}
                line x1=(AXIS) y1=(TIME_HEIGHT) x2=(AXIS + TIME_WIDTH) y2=(TIME_HEIGHT) stroke="#57606a" {}
                text x=(AXIS - 6.0) y="10" text-anchor="end" { "100%" }
                text x=(AXIS - 6.0) y=(TIME_HEIGHT) text-anchor="end" { "0" }
                text x=(AXIS) y=(TIME_HEIGHT + 18.0) { "0 s" }
                text x=(AXIS + TIME_WIDTH) y=(TIME_HEIGHT + 18.0) text-anchor="end" { (format!("{end:.1} s")) }
                @if let Some(change) = areas.change {
                    @let x = round(AXIS + change / end.max(f64::MIN_POSITIVE) * TIME_WIDTH);
                    line x1=(x) y1="0" x2=(x) y2=(TIME_HEIGHT + 6.0) stroke="#1b1f24" stroke-width="2" stroke-dasharray="5 3" {}
                    text x=(x) y=(TIME_HEIGHT + 18.0) text-anchor="middle" { "change" }
                }
            }
            figcaption { (title) }
            ul.legend {
                @for (place, name) in areas.names.iter().enumerate() {
                    li { (swatch(colour(place))) (name) }
                }
            }
        }
    }
}

/// A part of one piece of time; heights are parts of 1 from the top.
struct Part {
    row: usize,
    top: f64,
    height: f64,
}

fn stacked(counts: &[Vec<u64>], piece: usize) -> Vec<Part> {
    let of = |row: &Vec<u64>| row.get(piece).copied().unwrap_or(0);
    let total: u64 = counts.iter().map(of).sum();
    let mut top = 0.0;
    let mut parts = Vec::new();
    for (row, counted) in counts.iter().enumerate().filter(|(_, row)| of(row) > 0) {
        let height = count(of(counted)) / count(total);
        parts.push(Part { row, top, height });
        top += height;
    }
    parts
}

/// A small square of a colour.
pub(super) fn swatch(fill: &str) -> Markup {
    html! {
        svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true" {
            rect width="11" height="11" fill=(fill) {}
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a count of things that are drawn")]
fn number(count: usize) -> f64 {
    count as f64
}

#[allow(clippy::cast_precision_loss, reason = "a share that is drawn")]
fn count(count: u64) -> f64 {
    count as f64
}

/// To a hundredth of a pixel.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

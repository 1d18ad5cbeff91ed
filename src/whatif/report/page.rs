//! The page in which an HTML report stands: one file, readable without a network, on paper and by
//! a screen reader.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

/// Everything about the looks of a report.
const STYLE: &str = "\
:root { color-scheme: light; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --ground: #ffffff; --shade: #f6f8fa; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 78rem; color: var(--ink); background: var(--ground);
  font: 15px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .4rem; }
p, ul, ol { margin: .4rem 0; }
.lead { color: var(--soft); }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: .2rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { background: var(--shade); }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.sum td, tr.sum th { background: var(--shade); }
tbody th { font-weight: 600; }
code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: .92em; }
ul.notes { padding-left: 1.2rem; }
figure { margin: .8rem 0; }
figcaption { color: var(--soft); }
svg { max-width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, 'DejaVu Sans', sans-serif; fill: #1b1f24; }
.bad { color: #a40e26; font-weight: 600; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
.legend svg { display: inline-block; vertical-align: -1px; margin-right: .4rem; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; } figure, table { break-inside: avoid; } }
";

/// A whole page. `data` is what the report was made from; it stands in the page as JSON.
pub(super) fn page(title: &str, data: &impl Serialize, body: &Markup) -> String {
    // Within a script element only its own end could be misunderstood.
    let json = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    (body)
                }
                footer {
                    p.lead { "Made by adxemu " (env!("CARGO_PKG_VERSION")) ", an emulator of the ServerIron ADX." }
                }
                script type="application/json" id="data" { (PreEscaped(json)) }
            }
        }
    };
    markup.into_string()
}

/// A table that can be moved sideways where it is too wide, also from the keyboard.
pub(super) fn scrolled(label: &str, table: &Markup) -> Markup {
    html! { div.scroll role="region" tabindex="0" aria-label=(label) { (table) } }
}

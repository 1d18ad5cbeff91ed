//! The forms of a report say the same.

use adxemu::show;
use adxemu::whatif::failures::failures;
use adxemu::whatif::report;
use adxemu::whatif::run::Plan;
use adxemu::whatif::simulation::Simulation;

use crate::whatif::subjects::{changed, draw, plan, reweighted, run, subject, weighted_ip};

fn simulations() -> Vec<Simulation> {
    let (text, change) = (weighted_ip(&[90, 10]), reweighted(&[50, 50]));
    let cached = Plan { resolvers: 3, caches: true, ..plan(&[&text, &weighted_ip(&[10, 90, 1])]) };
    vec![
        run(&plan(&[&text]), draw(777)),
        run(&changed(&text, &change, 500, false), draw(777)),
        run(&cached, draw(777)),
    ]
}

fn json(found: &Simulation) -> serde_json::Value {
    let mut out = Vec::new();
    report::simulation::json(found, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The cells of the rows of all tables of a page, without tags.
fn cells(html: &str) -> Vec<Vec<String>> {
    let body = |row: &str| row.split("</tr>").next().unwrap_or_default().to_owned();
    let text = |cell: &str| {
        let end = cell.find("</t").unwrap_or(cell.len());
        cell[..end].split_once('>').unwrap().1.to_owned()
    };
    let rows = html.split("<tr").skip(1).map(body);
    rows.map(|row| row.split("<t").skip(1).map(text).collect()).collect()
}

#[test]
fn the_page_shows_the_numbers_of_the_json_document() {
    for found in simulations() {
        let data = json(&found);
        let html = report::simulation::html(&found);
        let rows = cells(&html);
        let mut compared = 0;
        for domain in data["domains"].as_array().unwrap() {
            for row in domain["addresses"].as_array().unwrap() {
                let shown = rows.iter().find(|cells| cells[0] == row["answer"].as_str().unwrap());
                let shown = shown.unwrap_or_else(|| panic!("no row for {row}"));
                let mut place = 2;
                for side in row["sides"].as_array().unwrap() {
                    let width = if found.input.caches { 6 } else { 4 };
                    if !side.is_null() {
                        assert_eq!(shown[place], side["selected"].to_string(), "{row} {shown:?}");
                        let share = side["selected_share"].as_f64().unwrap();
                        assert_eq!(shown[place + 1], format!("{:.1}%", share * 100.0));
                        if found.input.caches {
                            assert_eq!(shown[place + 2], side["received"].to_string());
                        }
                        compared += 1;
                    }
                    place += width;
                }
            }
        }
        assert!(compared >= 2);
        assert!(!html.contains("http://") && !html.contains("https://"), "nothing is fetched");
    }
}

#[test]
fn the_csv_shows_the_numbers_of_the_json_document() {
    for found in simulations() {
        let data = json(&found);
        let mut out = Vec::new();
        report::simulation::csv(&found, &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(&*out);
        let headers = reader.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|one| one == name).unwrap();
        let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let mut compared = 0;
        for domain in data["domains"].as_array().unwrap() {
            for row in domain["addresses"].as_array().unwrap() {
                for (side, named) in row["sides"].as_array().unwrap().iter().zip(&found.sides) {
                    let line = lines.iter().find(|line| {
                        Some(&line[column("address")]) == row["answer"].as_str()
                            && line[column("side")] == *named.name
                    });
                    assert_eq!(line.is_none(), side.is_null(), "{row}");
                    let Some(line) = line else { continue };
                    for name in ["selected", "received", "selected_share", "received_share"] {
                        let number: f64 = line[column(name)].parse().unwrap();
                        assert!((number - side[name].as_f64().unwrap()).abs() < 1e-9, "{name}");
                    }
                    compared += 1;
                }
            }
        }
        assert!(compared >= 2);
    }
}

#[test]
fn the_terminal_shows_the_case_that_a_change_board_should_see() {
    let (text, change) = (weighted_ip(&[90, 10]), reweighted(&[50, 50]));
    let shown = show::simulation(&run(&changed(&text, &change, 1000, false), draw(1800)));
    let expected = "\
1800 questions in 18.0 s from 1000 clients, seed 1
before: test.cfg: 1000 questions
after: test.cfg and change.txt, counters kept: 800 questions

www.example.com A
                               before                          after
  Address          Site        Answers  Share  Ideal   Diff    Answers  Share  Ideal   Diff
  =======          ====        =======  =====  =====   ====    =======  =====  =====   ====
  192.0.2.10       -               900  90.0%  90.0%    0.0          0   0.0%  50.0%  -50.0
  192.0.2.20       -               100  10.0%  10.0%    0.0        800 100.0%  50.0%  +50.0
  Decided before by: weighted-ip 900, least-response 100
  Decided after by: weighted-ip 800

Note: www.example.com A: the first 800 answers after the change were all 192.0.2.20, whose share is 50.0%: counters from before it are caught up with
";
    assert_eq!(shown, expected);
}

#[test]
fn names_cannot_break_out_of_a_page() {
    let text = weighted_ip(&[1, 1]);
    let mut found = run(&plan(&[&text]), draw(10));
    found.sides[0].subject = "</script><script>alert(1)</script>".to_owned();
    let html = report::simulation::html(&found);
    assert_eq!(html.matches("<script").count(), 1, "only that of the data");
    assert_eq!(html.matches("</script").count(), 1);
}

#[test]
fn the_forms_of_a_failure_matrix_say_the_same() {
    let found = failures(&subject(&weighted_ip(&[50, 30, 20])), 10);
    let mut out = Vec::new();
    report::failures::json(&found, &mut out).unwrap();
    let data: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(data["single"]["count"], 3);
    assert_eq!(data["double"]["worst"].as_array().unwrap().len(), 3);
    let rows = cells(&report::failures::html(&found));
    let shown = show::failures(&found);
    for case in found.single.worst.iter().chain(&found.double.worst) {
        let moved = format!("{:.1}%", case.moved_share * 100.0);
        let head = case.failed.join("<br>and ");
        assert!(rows.iter().any(|cells| cells[0] == head && cells[2] == moved), "{head} {moved}");
        assert!(case.failed.iter().all(|failed| shown.contains(failed)), "{shown}");
    }
    out.clear();
    report::failures::csv(&found, &mut out).unwrap();
    let lines = csv::Reader::from_reader(&*out).into_records().count();
    // Three shares without a failure, two after each single one, one after each double one.
    assert_eq!(lines, 3 + 3 * 2 + 3);
}

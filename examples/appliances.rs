//! What a lab costs: `appliances COUNT [LINES]` starts a controller and COUNT site devices, each with a VIP
//! and its real server and about LINES lines of switching and routing around them, and says how long that
//! took and how much memory it needs. `docs/labs.md` holds figures.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use adxemu::cli::session::Session;
use adxemu::clock::{Clock, DrivenClock};
use adxemu::dns::Settings;
use adxemu::grammar::Grammar;
use adxemu::lab::Lab;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default: usize| arguments.next().map_or(Ok(default), |argument| argument.parse::<usize>());
    let (count, lines) = (number(200)?, number(100)?);
    let grammar = Arc::new(Grammar::built_in()?);
    let files = configurations(count, lines)?;
    let size: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
    let clock: Arc<dyn Clock> = Arc::new(DrivenClock::new());

    let before = resident_bytes();
    let start = Instant::now();
    let lab = Lab::of(&grammar, &clock, Settings::default(), files);
    let started = start.elapsed();
    let after = resident_bytes();

    let start = Instant::now();
    let controller = Arc::clone(&lab.controller().responder);
    let answer = Session::privileged(controller).run("emulate query a.b.c");
    let answered = start.elapsed();

    let mut out = std::io::stdout().lock();
    let members = lab.members().len();
    writeln!(out, "{members} appliances, {size} lines: started in {started:.2?}")?;
    writeln!(
        out,
        "first question answered in {answered:.2?}: {}",
        answer.lines().next().unwrap_or("")
    )?;
    if let (Some(before), Some(after)) = (before, after) {
        let each = after.saturating_sub(before) / members as u64 / 1024;
        writeln!(
            out,
            "{each} KiB of memory for each appliance, {} KiB for the program",
            before / 1024
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn configurations(count: usize, lines: usize) -> Result<Vec<(String, String)>, std::fmt::Error> {
    let mut controller =
        String::from("hostname controller\ngslb policy\n dns override\n dns cache-proxy\n!\n");
    let mut zone = String::from("gslb dns zone b.c\n host-info a http\n");
    let mut files = Vec::with_capacity(count + 1);
    for number in 1..=count {
        let network = format!("10.{}.{}", number / 250, number % 250);
        writeln!(controller, "gslb site s{number}\n si-name {network}.1\n!")?;
        writeln!(zone, " host-info a ip-list {network}.80")?;
        let mut site = format!(
            "hostname slb{number}\nip address {network}.1 255.255.255.0\ngslb protocol\n\
             server real web {network}.31\n port http\n!\n\
             server virtual vip {network}.80\n port http\n bind http web http\n!\n"
        );
        for line in 0..lines {
            match line % 4 {
                0 => writeln!(site, "vlan {} by port\n tagged ethe 1 to 4\n!", line % 4000 + 2)?,
                1 => writeln!(
                    site,
                    "ip route 10.{}.{}.0 255.255.255.0 {network}.254",
                    line / 250 % 250,
                    line % 250
                )?,
                2 => writeln!(
                    site,
                    "access-list 101 permit tcp any host 10.0.0.{} eq {line}",
                    line % 250
                )?,
                _ => writeln!(site, "interface ve {}\n port-name p{line}\n!", line % 4000 + 1)?,
            }
        }
        files.push((format!("slb{number}"), site));
    }
    files.insert(0, ("controller".to_owned(), controller + &zone));
    Ok(files)
}

/// Memory of the process that is in use now, where the system says it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

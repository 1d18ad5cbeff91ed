//! Runs a fuzz target on stable Rust: `cargo run --release --example fuzz -- TARGET COUNT [SEED]`.

#[path = "../fuzz/driver.rs"]
mod driver;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let seed = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut output = std::io::stdout().lock();
    let Some(target) = targets::TARGETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
        writeln!(output, "fuzz TARGET COUNT [SEED]; targets: {}", known.join(", "))?;
        return Ok(ExitCode::from(2));
    };
    match driver::run(*target, &driver::seeds(&name), count, seed) {
        Ok(()) => {
            writeln!(output, "{name}: {count} inputs, seed {seed}")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            writeln!(output, "{name}: input {} fails, seed {seed}:", failure.number)?;
            writeln!(output, "{}", failure.input.escape_ascii())?;
            Ok(ExitCode::FAILURE)
        }
    }
}

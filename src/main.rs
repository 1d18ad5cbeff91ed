//! The program: arguments, wiring, exit code. No logic.

mod arguments;
mod remote_sessions;
mod run;
mod what_if;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    match run::run(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            use std::io::Write as _;
            // Nothing is left to tell it to if standard error is gone.
            let _ = writeln!(std::io::stderr(), "adxemu: {failure}");
            ExitCode::from(2)
        }
    }
}

//! Has the linker put the functions together that a start of the server runs through.
//!
//! The system reads a program in pieces of 64 KiB or more. Of 10 MiB of code a start runs a tenth, which lay scattered
//! over half of them: all of that was resident (docs/answer-path.md, "Where the memory goes").

use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// The names, a line each, without the parts that differ from build to build.
const FUNCTIONS: &str = "dist/functions.txt";

fn main() -> io::Result<()> {
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo::rerun-if-changed={FUNCTIONS}")?;
    let variable = |name: &str| env::var(name).unwrap_or_default();
    // The script is for the linkers of Linux. Whoever chooses one by a flag may have chosen one that reads no scripts.
    let chosen = variable("CARGO_ENCODED_RUSTFLAGS").contains("-fuse-ld");
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("OPT_LEVEL") == "0" || chosen {
        return Ok(());
    }
    let path = Path::new(&variable("OUT_DIR")).join("functions.ld");
    fs::write(&path, script(&fs::read_to_string(FUNCTIONS)?))?;
    writeln!(cargo, "cargo::rustc-link-arg-bin=adxemu=-T{}", path.display())
}

/// Adds to what the linker does by itself: the code in this order, then the rest.
fn script(functions: &str) -> String {
    let names = functions.lines().filter(|line| !line.starts_with('#'));
    let inputs = names.map(|name| format!("*(.text.{name}* .text.unlikely.{name}*)\n"));
    format!(
        "SECTIONS {{ .text : {{\n{}*(.text .text.*)\n}} }} INSERT BEFORE .init;\n",
        inputs.collect::<String>()
    )
}

//! Manual pages and completions, made from the arguments of the program.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Failure, print};
use crate::arguments::Arguments;

/// Prints the completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    print(&text)
}

/// Prints the page of the program, or writes it and those of its commands into a folder.
pub(super) fn pages(folder: Option<&Path>) -> Result<ExitCode, Failure> {
    let command = Arguments::command();
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(command, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    print(&text)
}

//! The command line of the program (design section 0).

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Emulates the Brocade ServerIron ADX: its command line, its global server load balancing, its
/// DNS answers.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One appliance at an interactive prompt, DNS answering beside it (the default)
    Shell,
    /// The same with a built-in example loaded
    Demo {
        /// Name of the example
        name: Option<String>,
    },
    /// Several appliances from the *.cfg files of a folder, with its *.emu scenarios played
    Lab {
        /// The folder
        folder: PathBuf,
    },
    /// Any of these without a prompt, until SIGTERM or SIGINT
    Serve {
        #[command(subcommand)]
        what: Option<Served>,
    },
    /// Plays session files: exit 0 if all agree, 1 with a unified diff if not, 2 if one is unreadable
    Replay {
        /// Session files, and folders that are searched for them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Compare every character
        #[arg(long)]
        strict: bool,
        /// Show each session as it appears on a terminal
        #[arg(long)]
        show: bool,
    },
    /// Reads configurations and reports every line that is not fully modelled: exit 0 if clean,
    /// 1 with findings, 2 if a file is unreadable
    Check {
        /// Configuration files; a folder is checked as a lab
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// How findings are written
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// The least severity that makes the exit status 1
        #[arg(long, value_enum, default_value_t = FailOn::Warning, value_name = "SEVERITY")]
        fail_on: FailOn,
    },
    /// Completions of this program's arguments for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// The manual page of this program; with a folder, a page for each command into it
    Man {
        /// Where the pages go
        folder: Option<PathBuf>,
    },
    /// Sends a population of questions, or those of a log, through a configuration or a lab, and
    /// shows who gets what: as it is, beside another one, or before and after a change
    Simulate(Box<crate::what_if::SimulateArguments>),
    /// What every client region gets after every single and every double failure of sites, site
    /// devices and addresses, the worst first
    Failures(Box<crate::what_if::FailuresArguments>),
    /// What an appliance does today, in words, for those who decide about a change: policies in
    /// force, metrics that cannot decide, negative answers, TTLs, what a reload loses
    Audit(Box<crate::what_if::AuditArguments>),
    /// The command reference, derived from the grammar
    Commands {
        /// As Markdown
        #[arg(long)]
        markdown: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Served {
    /// One appliance
    Shell,
    /// A built-in example
    Demo {
        /// Name of the example
        name: Option<String>,
    },
    /// Several appliances; the controller answers DNS
    Lab {
        /// The folder
        folder: PathBuf,
    },
}

/// Options that may stand before or after the command.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the program")]
pub(crate) struct Options {
    /// Startup configuration; it is never written to
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Where saved configurations are kept
    #[arg(long, value_name = "DIR", global = true, conflicts_with = "ephemeral")]
    pub(crate) state: Option<PathBuf>,
    /// Keep nothing between two runs
    #[arg(long, global = true)]
    pub(crate) ephemeral: bool,
    /// Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]
    #[arg(long, value_name = "ADDR:PORT", global = true, conflicts_with = "no_dns")]
    pub(crate) dns: Vec<SocketAddr>,
    /// Do not answer DNS
    #[arg(long, global = true)]
    pub(crate) no_dns: bool,
    /// Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) workers: Option<u8>,
    /// Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance.
    /// Without an address: on 127.0.0.1
    #[arg(long, value_name = "[ADDR:]PORT", global = true, value_parser = endpoint)]
    pub(crate) ssh: Option<SocketAddr>,
    /// Also offer SSH algorithms that only old clients need and that are no longer safe
    #[arg(long, global = true)]
    pub(crate) ssh_legacy: bool,
    /// Where Telnet sessions are accepted; as --ssh
    #[arg(long, value_name = "[ADDR:]PORT", global = true, value_parser = endpoint)]
    pub(crate) telnet: Option<SocketAddr>,
    /// Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1
    #[arg(long, value_name = "[ADDR:]PORT", global = true, value_parser = endpoint)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Take the address of an EDNS client-subnet option for that of the client
    #[arg(long, global = true)]
    pub(crate) client_subnet: bool,
    /// Add the SOA record that the device leaves out of negative answers
    #[arg(long, global = true)]
    pub(crate) strict_dns: bool,
    /// Check servers over the network, at the addresses that the configuration names or where
    /// `emulate map` leads; `--live=mapped`: only at those that are mapped
    #[arg(
        long,
        value_name = "WHAT",
        global = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub(crate) live: Option<Live>,
    /// Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are
    /// dropped or cut [default: no limit]
    #[arg(long, value_name = "N", global = true)]
    pub(crate) rate_limit: Option<NonZeroU32>,
    /// Of the replies over the limit every so many is sent without records, so that clients come
    /// again over TCP; 0: none, 1: all
    #[arg(long, value_name = "N", global = true, default_value_t = 2, requires = "rate_limit")]
    pub(crate) rate_limit_slip: u8,
    /// Read the grammar from a folder instead of the one that is built in
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) grammar: Option<PathBuf>,
}

/// Whom the program may reach over the network.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Live {
    /// Every address that the configuration names
    All,
    /// Only where `emulate map` leads
    Mapped,
}

/// How the findings of `check` are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs; docs/check.md specifies it
    Json,
    /// SARIF 2.1.0, for code review and CI
    Sarif,
}

/// The least severity that counts as a finding for the exit status.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FailOn {
    /// Also lines that are only kept
    Note,
    /// Lines that the emulator does not know, and what hardly works as meant
    Warning,
    /// Lines that are lost
    Error,
}

/// An address with its port, or a port of the loopback address.
fn endpoint(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| "neither ADDR:PORT nor PORT".to_owned()),
    }
}

//! The `scission` command: flags, wiring, progress and exit codes.
//!
//! Exit codes: 0 no findings that count (`--fail-on`), 1 findings, 2 error, 130 interrupted before
//! anything was found; `run` keeps the exit code of the program. One sentence on standard error explains an
//! error.

mod agent_flags;
mod assemble;
mod atomic_spec_file;
mod attended_work;
mod baseline_file;
mod budget;
mod cancel;
mod check;
mod child;
mod config;
mod explain;
mod flags;
mod graphs;
mod init;
mod inspect;
mod java_command;
mod jvm_results;
mod launch;
mod manual;
mod model_files;
mod output;
mod progress;
mod report_files;
mod run;
mod run_report;
mod settings;
mod shared_fields_file;
mod show_models;
mod suspicions;
mod terminal_text;
mod trace;
mod trace_checkers;
mod triage;
mod urgent_notes;
mod watch_auto;
mod watch_list_file;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::flags::{Command, Flags};

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    NothingFound,
    Findings,
    /// Cut short before there was a finding that counts.
    InterruptedWithoutFindings,
    /// The program that was run ended with this code, and nothing was found that changes it.
    Program(u8),
}

/// The work could not be done.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    // `clap` keeps texts for as long as the process runs.
    let version: &'static str = launch::long_version().leak();
    let matches = Flags::command().long_version(version).get_matches();
    let flags = Flags::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // Work on other threads refers to it, and may go on until this process ends.
    let flags: &'static Flags = Box::leak(Box::new(flags));
    // A panic is a defect of ours, and must still not look like "findings" to a script.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| dispatch(flags)));
    match outcome {
        Ok(Ok(Outcome::NothingFound)) => ExitCode::SUCCESS,
        Ok(Ok(Outcome::Findings)) => ExitCode::from(1),
        Ok(Ok(Outcome::InterruptedWithoutFindings)) => ExitCode::from(130),
        Ok(Ok(Outcome::Program(code))) => ExitCode::from(code),
        Ok(Err(error)) => {
            terminal_text::say(format_args!("error: {error:#}"));
            ExitCode::from(FAILED)
        }
        Err(_) => {
            anstream::eprintln!(
                "error: scission itself failed; this is a defect, please report it"
            );
            ExitCode::from(FAILED)
        }
    }
}

fn dispatch(flags: &'static Flags) -> anyhow::Result<Outcome> {
    match &flags.command {
        Command::Check(flags) => check::run(flags),
        Command::Run(flags) => run::run(flags),
        Command::Inspect(flags) => inspect::run(flags),
        Command::Trace(flags) => trace::run(flags),
        Command::Report(flags) => report_files::run(flags),
        Command::Init(flags) => init::run(flags),
        Command::Models(flags) => show_models::run(flags),
        Command::Explain(flags) => explain::run(flags),
        Command::Man(flags) => manual::print_page(flags),
        Command::Completions(flags) => manual::print_completions(flags),
    }
}

//! `scission run`: start a program with an agent in its JVMs, wait for it, report what they found.
//!
//! The program has priority: it inherits our input and output, its exit code is kept, and it runs even
//! if it cannot be watched, unless the user requires the agent.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agent_protocol::Options;
use anyhow::{anyhow, bail};
use findings::Results;
use report::Format;

use crate::child::{self, Ended};
use crate::flags::RunFlags;
use crate::jvm_results::{JvmResults, name_for_each_process, read_jvm_results};
use crate::launch::{self, Agent};
use crate::output::{self, Screen, Style};
use crate::run_report::{ObservedReport, OutputPaths, Verdict};
use crate::settings::RunSettings;
use crate::{FAILED, Outcome};

pub(crate) fn run(flags: &RunFlags) -> anyhow::Result<Outcome> {
    // Errors in the command line are reported before the program runs.
    let mut settings = RunSettings::new(flags)?;
    let observed = ObservedReport::prepare(
        &settings.report,
        &flags.presentation,
        OutputPaths {
            report: flags.output.as_deref(),
            learned: flags.learn_spec.as_deref(),
            graphs: flags.graphs.as_deref(),
        },
    )?;
    let learned = observed.learned_exclusions().into_iter().map(|pattern| pattern.to_string());
    settings.options.atomic_exclude.extend(learned);
    let report = Report { flags, requires_agent: settings.options.require_agent, observed };
    let agent = Agent::find(flags.agent.as_deref());
    if flags.print_options {
        return print_options(flags, &settings, agent);
    }
    if flags.command.is_empty() {
        let Some(directory) = &flags.results else {
            bail!(
                "there is nothing to run: give a COMMAND after `--`, or `--results DIR` to report \
                 what JVMs left there"
            );
        };
        return report.deliver(read_jvm_results(directory, None, None)?, 0);
    }
    let agent = agent.and_then(|agent| agent.is_for_this_machine(&flags.command).map(|()| agent));
    let results = match &flags.results {
        Some(directory) => ResultsDirectory::Kept(directory.clone()),
        None => {
            ResultsDirectory::Temporary(tempfile::Builder::new().prefix("scission-").tempdir()?)
        }
    };
    let options = options(flags, &settings, Some(results.path()))?;
    output::make_directory(results.path())?;
    let watched = match &agent {
        Ok(agent) => Some((agent, &options)),
        Err(why) if settings.options.require_agent => bail!("{why}"),
        Err(why) => {
            anstream::eprintln!("warning: {why}: the program runs unwatched");
            None
        }
    };
    let Some(mut command) = launch::command(&flags.command, watched) else {
        bail!("there is nothing to run");
    };
    let ended = child::run(&mut command).map_err(|error| not_started(&flags.command[0], &error))?;
    match agent {
        Ok(_) => report.with_agent(results.path(), ended),
        Err(why) => report.without_agent(why, ended),
    }
}

/// Where JVMs leave what they found.
enum ResultsDirectory {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl ResultsDirectory {
    fn path(&self) -> &Path {
        match self {
            ResultsDirectory::Kept(path) => path,
            ResultsDirectory::Temporary(directory) => directory.path(),
        }
    }
}

/// The options for the agents.
fn options(
    flags: &RunFlags,
    settings: &RunSettings,
    results: Option<&Path>,
) -> anyhow::Result<Options> {
    let options = settings.options.clone();
    if options.monitors.is_empty() && flags.record.is_none() && !options.hooks_only {
        bail!("nothing would be checked or recorded: `--monitor none` needs `--record FILE`");
    }
    if let Some(list) = &options.watch_list
        && !list.is_file()
    {
        bail!("there is no watch list `{}`", list.display());
    }
    if let Some(record) = &flags.record
        && let Err(error) = output_file::check(record)
    {
        bail!("cannot record to `{}`: {}", record.display(), output_file::reason(&error, record));
    }
    // Programs change their directory; agents find these files wherever they are.
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| anyhow!("`{}`: {error}", path.display()))
    };
    let as_text = |path: &Path| {
        let path = absolute(path)?.into_os_string().into_string();
        path.map_err(|path| anyhow!("the path of the models `{}` is no text", path.display()))
    };
    let record = flags.record.as_deref().map(|record| name_for_each_process(record, results));
    Ok(Options {
        record: record.as_deref().map(absolute).transpose()?,
        results: results.map(absolute).transpose()?,
        models: settings.models.iter().map(|path| as_text(path)).collect::<anyhow::Result<_>>()?,
        watch_list: options.watch_list.as_deref().map(absolute).transpose()?,
        ..options
    })
}

/// Prints the line that does by hand what this command would do.
fn print_options(
    flags: &RunFlags,
    settings: &RunSettings,
    agent: Result<Agent, String>,
) -> anyhow::Result<Outcome> {
    if flags.results.is_none() && flags.record.is_none() {
        bail!("give `--results DIR` or `--record FILE`: JVMs need a place for their results");
    }
    let agent = agent.map_err(|why| anyhow!("{why}"))?;
    let options = options(flags, settings, flags.results.as_deref())?;
    if let Some(directory) = &options.results {
        output::make_directory(directory)?;
    }
    output::print(&format!("{}\n", launch::line_by_hand(&agent, &options)))?;
    Ok(Outcome::NothingFound)
}

fn not_started(program: &std::ffi::OsStr, error: &std::io::Error) -> anyhow::Error {
    let program = program.to_string_lossy();
    match error.kind() {
        ErrorKind::NotFound => anyhow!("cannot run `{program}`: there is no such command"),
        ErrorKind::PermissionDenied => anyhow!("cannot run `{program}`: no permission"),
        _ => anyhow!("cannot run `{program}`: {error}"),
    }
}

/// Everything a report needs.
struct Report<'a> {
    flags: &'a RunFlags,
    /// Whether a run in which nobody could look is a failure.
    requires_agent: bool,
    observed: ObservedReport<'a>,
}

impl Report<'_> {
    fn with_agent(self, directory: &Path, ended: Ended) -> anyhow::Result<Outcome> {
        let jvm_results =
            read_jvm_results(directory, Some(ended.process), self.flags.record.as_deref());
        let mut jvm_results = match jvm_results {
            Ok(jvm_results) => jvm_results,
            Err(error) => return Ok(failed(&error, ended.code)),
        };
        if jvm_results.jvms == 0 {
            let nobody = "no JVM was watched: the command started no JVM that accepts an agent";
            if self.requires_agent {
                return Ok(failed(&anyhow!("{nobody}"), ended.code));
            }
            jvm_results.results.remarks.push(nobody.to_string());
        }
        self.deliver(jvm_results, ended.code)
    }

    /// Reports to a file that the program ran without the agent. On the screen a warning has said so.
    fn without_agent(self, why: String, ended: Ended) -> anyhow::Result<Outcome> {
        let is_file = self.flags.output.is_some();
        if !is_file && Style::new(&self.flags.presentation).format == Format::Text {
            return Ok(Outcome::Program(ended.code));
        }
        let remarks = vec![format!("{why}: the program ran unwatched")];
        let results = Results { remarks, ..Results::default() };
        self.deliver(
            JvmResults { findings: Vec::new(), results, jvms: 0, not_recorded: None },
            ended.code,
        )
    }

    /// Reports, and decides on the exit code. That of the program is kept unless it is 0.
    fn deliver(self, jvm_results: JvmResults, code: u8) -> anyhow::Result<Outcome> {
        let JvmResults { findings, results, not_recorded, .. } = jvm_results;
        let flags = self.flags;
        let screen = if flags.output.as_deref() == Some(Path::new("-")) {
            Screen::standard_output(flags.presentation.color)
        } else {
            Screen::standard_error(flags.presentation.color)
        };
        // The findings come first: no file may cost the user the others.
        let delivered = self.observed.deliver(findings, results, screen);
        let delivered = match (delivered, not_recorded) {
            (Ok(_), Some(why)) => Err(anyhow!(why)),
            (delivered, _) => delivered,
        };
        Ok(match (delivered, code) {
            (Err(error), code) => failed(&error, code),
            (Ok(Verdict::Findings), 0) => Outcome::Findings,
            (Ok(Verdict::Findings | Verdict::NoFindings), code) => Outcome::Program(code),
        })
    }
}

/// Reports an error of Scission; an exit code of the program that is not 0 takes precedence.
fn failed(error: &anyhow::Error, code: u8) -> Outcome {
    anstream::eprintln!("error: {error:#}");
    Outcome::Program(if code == 0 { FAILED } else { code })
}

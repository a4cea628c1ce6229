//! `scission run`: start a program with an agent in its JVMs, wait for it, report what they found.
//!
//! The program has priority: it inherits our input and output, its exit code is kept, and it runs even
//! if it cannot be watched, unless the user requires the agent.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agent_protocol::Options;
use agent_protocol::layout::DEADLOCK_EXIT_CODE;
use anyhow::{anyhow, bail};
use checkers::NeededAccesses;
use findings::{Results, merge_and_rank};
use report::Format;

use crate::child::{self, CaughtSignals, Ended};
use crate::flags::{OnDeadlock, RunFlags, Watch, WatchListFor};
use crate::jvm_results::{JvmResults, name_for_each_process, read_jvm_results};
use crate::launch::{self, Agent};
use crate::output::{self, Screen, Style};
use crate::run_report::{ObservedReport, OutputPaths, Verdict};
use crate::settings::RunSettings;
use crate::shared_fields_file::{self, SharedFieldsFile};
use crate::suspicions::Suspicions;
use crate::terminal_text::say;
use crate::urgent_notes::UrgentNotes;
use crate::watch_auto;
use crate::{FAILED, Outcome};

pub(crate) fn run(flags: &RunFlags) -> anyhow::Result<Outcome> {
    // Errors in the command line are reported before the program runs.
    let mut settings = RunSettings::new(flags)?;
    if flags.learn_spec.is_some() && settings.options.whole_libraries {
        bail!(
            "`--learn-spec` lists methods of your own code: leave out `--libraries full`, which reports those of libraries too"
        );
    }
    let observed = ObservedReport::prepare(
        &settings.report,
        &flags.presentation,
        OutputPaths {
            report: flags.output.as_deref(),
            learned: flags.learn_spec.as_deref(),
            learned_after: flags.learn_runs,
            graphs: flags.graphs.as_deref(),
        },
    )?;
    let suspicions = flags.suspicions.as_deref().map(Suspicions::read).transpose()?;
    let shared_fields = settings.options.shared_fields.take();
    let shared_fields = shared_fields.as_deref().map(SharedFieldsFile::prepare).transpose()?;
    let learned = observed.learned_exclusions().into_iter().map(|pattern| pattern.to_string());
    settings.options.atomic_exclude.extend(learned);
    match &shared_fields {
        Some(SharedFieldsFile::Read { path, .. }) => {
            settings.options.shared_fields = Some(path.clone());
        }
        Some(SharedFieldsFile::Write(_)) => settings.options.lists_shared_fields = true,
        None => {}
    }
    if flags.watch == Watch::Auto {
        if settings.options.watch_list.is_some() {
            bail!("`--watch auto` makes a watch list of its own: leave `--watch-list` out");
        }
        if flags.command.is_empty() {
            bail!("`--watch auto` needs a COMMAND after `--`, whose class path it analyses");
        }
    }
    let agent = Agent::find(flags.agent.as_deref());
    if flags.print_options {
        return print_options(flags, &settings, suspicions.as_ref(), agent);
    }
    let requires_agent = settings.options.require_agent;
    if flags.command.is_empty() {
        let Some(directory) = &flags.results else {
            bail!(
                "there is nothing to run: give a COMMAND after `--`, or `--results DIR` to report \
                 what JVMs left there"
            );
        };
        let report =
            Report { flags, requires_agent, observed, suspicions, shared_fields, watch: None };
        return report.deliver(read_jvm_results(directory, None, None)?, 0);
    }
    let agent = agent.and_then(|agent| {
        agent.is_for_this_machine(&flags.command)?;
        agent.is_of_this_release().map(|()| agent)
    });
    let results = match &flags.results {
        Some(directory) => ResultsDirectory::Kept(directory.clone()),
        None => {
            ResultsDirectory::Temporary(tempfile::Builder::new().prefix("scission-").tempdir()?)
        }
    };
    let mut options = options(flags, &settings, Some(results.path()))?;
    output::make_private_directory(results.path())?;
    write_suspects(suspicions.as_ref(), &mut options)?;
    let mut report =
        Report { flags, requires_agent, observed, suspicions, shared_fields, watch: None };
    let mut signals = CaughtSignals::begin()?;
    if flags.watch == Watch::Auto && agent.is_ok() {
        let request = watch_request(flags, &settings);
        let prepared =
            watch_auto::prepare(&request, results.path(), &mut || signals.any_received());
        let Some(prepared) = prepared else { return Ok(Outcome::InterruptedWithoutFindings) };
        options.watch_list = prepared.list.as_deref().map(std::path::absolute).transpose()?;
        report.watch = Some(prepared.remark);
    }
    let watched = match &agent {
        Ok(agent) => Some((agent, &options)),
        Err(why) if settings.options.require_agent => bail!("{why}"),
        Err(why) => {
            say(format_args!("warning: {why}: the program runs unwatched"));
            None
        }
    };
    let Some(mut command) = launch::command(&flags.command, watched) else {
        bail!("there is nothing to run");
    };
    let notes = UrgentNotes::begin(results.path(), flags.presentation.quiet);
    let ended =
        child::run(&mut command, signals).map_err(|error| not_started(&flags.command[0], &error));
    notes.end();
    let ended = ended?;
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

/// What `--watch auto` analyses.
fn watch_request<'a>(flags: &'a RunFlags, settings: &'a RunSettings) -> watch_auto::Request<'a> {
    // Who delays threads asks for locks as well.
    let asks_for_locks = settings.options.adversarial
        || settings.options.monitors.iter().filter_map(|name| checkers::named(name)).any(
            |checker| match checker.needs.accesses {
                NeededAccesses::InOrder => false,
                NeededAccesses::SinceWritten | NeededAccesses::All => true,
            },
        );
    watch_auto::Request {
        command: &flags.command,
        reader: if asks_for_locks { WatchListFor::Locksets } else { WatchListFor::Order },
        models: &settings.models,
        entry_points: &settings.entry_points,
        budget: flags.budget,
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
        path.map_err(|path| anyhow!("the path `{}` is no text", path.display()))
    };
    let record = flags.record.as_deref().map(|record| name_for_each_process(record, results));
    Ok(Options {
        record: record.as_deref().map(absolute).transpose()?,
        results: results.map(absolute).transpose()?,
        own_code: (options.own_code.iter().map(|path| as_text(Path::new(path))))
            .collect::<anyhow::Result<_>>()?,
        models: settings.models.iter().map(|path| as_text(path)).collect::<anyhow::Result<_>>()?,
        watch_list: options.watch_list.as_deref().map(absolute).transpose()?,
        shared_fields: options.shared_fields.as_deref().map(absolute).transpose()?,
        ..options
    })
}

/// Leaves a list of where threads are to be held back beside the results, for the agents.
fn write_suspects(suspicions: Option<&Suspicions>, options: &mut Options) -> anyhow::Result<()> {
    let Some(suspicions) = suspicions.filter(|_| options.adversarial) else { return Ok(()) };
    let Some(directory) = &options.results else {
        bail!(
            "`--suspicions` needs `--results DIR`, where the agents find the places to delay threads at"
        );
    };
    options.suspects = Some(suspicions.write_places(directory)?);
    Ok(())
}

/// Prints the line that does by hand what this command would do.
fn print_options(
    flags: &RunFlags,
    settings: &RunSettings,
    suspicions: Option<&Suspicions>,
    agent: Result<Agent, String>,
) -> anyhow::Result<Outcome> {
    if flags.results.is_none() && flags.record.is_none() {
        bail!("give `--results DIR` or `--record FILE`: JVMs need a place for their results");
    }
    let agent = agent.map_err(|why| anyhow!("{why}"))?;
    let mut options = options(flags, settings, flags.results.as_deref())?;
    if let Some(directory) = &options.results {
        output::make_private_directory(directory)?;
    }
    write_suspects(suspicions, &mut options)?;
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
    /// What this run was to observe.
    suspicions: Option<Suspicions>,
    /// Which fields were watched, or where those go that threads share.
    shared_fields: Option<SharedFieldsFile>,
    /// What came of `--watch auto`, in one sentence.
    watch: Option<String>,
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
            let nobody = "no JVM was watched: the command started none that accepts an agent, or ended before one had begun";
            if self.requires_agent {
                return Ok(failed(&anyhow!("{nobody}"), ended.code));
            }
            jvm_results.results.remarks.push(nobody.to_string());
        }
        let is_unwatched = jvm_results.results.stats.contains(&("classes", 0));
        if jvm_results.jvms > 0 && is_unwatched && !jvm_results.is_unfinished {
            let nothing = "no class of the program was watched: it ended before it had loaded one, or `--include` and \
                           `--exclude` leave none";
            jvm_results.results.remarks.push(nothing.to_string());
        }
        self.deliver(jvm_results, ended.code)
    }

    /// Reports to a file that the program ran without the agent. On the screen a warning has said so.
    fn without_agent(self, why: String, ended: Ended) -> anyhow::Result<Outcome> {
        let is_file = self.flags.output.is_some() || self.flags.presentation.html.is_some();
        if !is_file && Style::new(&self.flags.presentation).format == Format::Text {
            return Ok(unwatched(Outcome::Program(ended.code)));
        }
        let remarks = vec![format!("{why}: the program ran unwatched")];
        let results = Results { remarks, ..Results::default() };
        let nothing = JvmResults {
            findings: Vec::new(),
            results,
            shared_fields: None,
            jvms: 0,
            is_unfinished: false,
            is_trustworthy: false,
            not_recorded: None,
        };
        self.deliver(nothing, ended.code)
    }

    /// Reports, and decides on the exit code. That of the program is kept unless it is 0.
    fn deliver(self, jvm_results: JvmResults, code: u8) -> anyhow::Result<Outcome> {
        let listed = self.shared_fields.as_ref().map_or(Ok(None), |file| list(file, &jvm_results));
        let JvmResults { mut findings, mut results, not_recorded, is_trustworthy, .. } =
            jvm_results;
        let flags = self.flags;
        results.remarks.extend(self.shared_fields.as_ref().and_then(SharedFieldsFile::remark));
        results.remarks.extend(self.watch);
        if let Some(suspicions) = self.suspicions {
            findings = merge_and_rank(findings);
            results.remarks.push(suspicions.compare(&mut findings));
        }
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
        let delivered = match (delivered, listed) {
            (Ok(_), Err(error)) => Err(error),
            (delivered, Ok(Some(note))) if !flags.presentation.quiet => {
                say(format_args!("note: {note}"));
                delivered
            }
            (delivered, _) => delivered,
        };
        // A program that the agent has ended did not choose its exit code.
        let is_ended =
            flags.on_deadlock == OnDeadlock::Exit && usize::from(code) == DEADLOCK_EXIT_CODE;
        let code = if is_ended { 0 } else { code };
        let outcome = match (delivered, code) {
            (Err(error), code) => failed(&error, code),
            (Ok(Verdict::Findings), 0) => Outcome::Findings,
            (Ok(Verdict::Findings | Verdict::NoFindings), code) => Outcome::Program(code),
        };
        let outcome = match (is_trustworthy, unwatched(outcome)) {
            (true, _) => outcome,
            (false, failure) if failure == outcome => outcome,
            // The report may be in a file, or without remarks.
            (false, failure) => {
                say(format_args!("error: nothing was found, and not all of the run was watched"));
                failure
            }
        };
        Ok(outcome)
    }
}

/// Writes the fields that threads share. A list that misses the fields of some JVM would hide accesses from the next run.
fn list(file: &SharedFieldsFile, jvm_results: &JvmResults) -> anyhow::Result<Option<String>> {
    let SharedFieldsFile::Write(path) = file else { return Ok(None) };
    let why = match (jvm_results.jvms, &jvm_results.shared_fields) {
        (0, _) => "no JVM was watched",
        (_, None) => "a JVM left no list of them",
        (_, Some(fields)) => return shared_fields_file::write(path, fields).map(Some),
    };
    bail!("the shared fields were not written to `{}`: {why}", path.display());
}

/// A run in which nobody looked is not a success, whatever the program says.
fn unwatched(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::NothingFound | Outcome::Program(0) => Outcome::Program(FAILED),
        other => other,
    }
}

/// Reports an error of Scission; an exit code of the program that is not 0 takes precedence.
fn failed(error: &anyhow::Error, code: u8) -> Outcome {
    say(format_args!("error: {error:#}"));
    Outcome::Program(if code == 0 { FAILED } else { code })
}

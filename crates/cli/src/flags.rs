//! Every flag of every command; `--help` is generated from this file. Flags of `run` that only pass a value on to the
//! agent are rows of the table of the agent's options, see `agent_flags.rs`.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::agent_flags::AgentFlags;
use crate::budget::Budget;
use analyses::WatchListReader;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use findings::{Rule, Severity, rules};
use models::Pattern;

/// Finds synchronization defects in JVM programs: atomicity violations, data races, deadlocks
#[derive(Debug, Parser)]
#[command(name = "scission", version, disable_help_subcommand = true)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckFlags),
    Run(RunFlags),
    Inspect(InspectFlags),
    Trace(TraceFlags),
    Report(ReportFlags),
    Init(InitFlags),
    Models(ModelsFlags),
    Explain(ExplainFlags),
    Man(ManFlags),
    Completions(CompletionsFlags),
}

/// Find synchronization defects in a program without running it
///
/// Flags override the project's `scission.toml`.
///
/// Exit status: 0 if there are no findings, 1 if there are, 2 on an error.
#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// Jars, directories of classes, and class files to analyse (default: `paths` of scission.toml)
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Report this rule only; may be repeated, or several with commas (default: see `scission explain`)
    #[arg(long = "rule", value_name = "RULE", value_parser = static_rule(), value_delimiter = ',')]
    pub(crate) rules: Vec<&'static Rule>,

    /// Report this rule besides the others; may be repeated, or several with commas
    #[arg(long = "extend-rule", value_name = "RULE", value_parser = static_rule(), value_delimiter = ',')]
    pub(crate) extend_rules: Vec<&'static Rule>,

    /// Report only on classes and methods that match, such as `com.acme.*`; a pattern that matches
    /// a library class also enables findings about its locks, which are off by default; may be
    /// repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, value_delimiter = ',')]
    pub(crate) include: Vec<Pattern>,

    /// Report nothing on classes and methods that match, in addition to those that scission.toml
    /// excludes; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, value_delimiter = ',')]
    pub(crate) exclude: Vec<Pattern>,

    /// For `inconsistent-method`: only methods that match are meant to be atomic, private ones too, instead of
    /// those that scission.toml includes; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, value_delimiter = ',')]
    pub(crate) atomic: Vec<Pattern>,

    /// For `inconsistent-method`: methods that match are not meant to be atomic, in addition to those that
    /// scission.toml excludes; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, value_delimiter = ',')]
    pub(crate) not_atomic: Vec<Pattern>,

    /// Also report what a recognised idiom makes harmless: values whose ownership is transferred, or that
    /// are checked again before use
    #[arg(long)]
    pub(crate) strict: bool,

    /// Exit with status 1 if anything could not be analysed, findings or not
    #[arg(long)]
    pub(crate) fail_on_gaps: bool,

    /// Override `strict` in scission.toml
    #[arg(long, conflicts_with = "strict")]
    pub(crate) no_strict: bool,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) program: ProgramFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Time or memory that the analyses may use, such as `20s` or `3GiB`; may be repeated. From three quarters of it on the
    /// whole-program analysis continues with less context; when it is used up, what is known is reported
    #[arg(long, value_name = "BUDGET")]
    pub(crate) budget: Vec<Budget>,

    /// Write the accesses that could not be proven safe to this file; `scission run --watch-list FILE`
    /// watches only these
    #[arg(long, value_name = "FILE")]
    pub(crate) watch_list: Option<PathBuf>,

    /// What reads the watch list; PATHS are then the entries of a class path. How `run --watch auto` asks for a list
    #[arg(long, value_name = "READER", value_enum, hide = true, requires = "watch_list")]
    pub(crate) watch_list_for: Option<WatchListFor>,

    /// Do not show progress, even on a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// Read only some of the classes, `1/4` for every fourth, to measure how the cost grows
    #[arg(long, value_name = "N/D", hide = true)]
    pub(crate) bench_fraction: Option<Fraction>,
}

/// Which checkers read a watch list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchListFor {
    /// Those that look at the order of events.
    Order,
    /// Those that ask which locks are held, or at least one of them.
    Locksets,
}

impl WatchListFor {
    /// The word for it on the command line of `check`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            WatchListFor::Order => "order",
            WatchListFor::Locksets => "locksets",
        }
    }

    /// The same, as the analysis knows it.
    pub(crate) fn reader(self) -> WatchListReader {
        match self {
            WatchListFor::Order => WatchListReader::Order,
            WatchListFor::Locksets => WatchListReader::Locksets,
        }
    }
}

/// What of a program is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Watch {
    /// All accesses
    #[default]
    All,
    /// Of the classes on the class path, only the accesses that an analysis cannot prove safe
    Auto,
}

/// Find synchronization defects in a program while it runs
///
/// Starts the program unchanged, with its own input and output; an agent in each of its JVMs watches
/// what its threads do. When the program has ended, the findings are reported on standard error.
///
/// Without COMMAND, reports the results that JVMs left in `--results DIR`.
///
/// Flags override the project's `scission.toml`.
///
/// Exit status: that of the program, or 128 plus the number of the signal that killed it; 1 if the
/// program exited with 0 and there are findings; 2 on an error.
#[derive(Debug, Args)]
#[command(override_usage = "scission run [OPTIONS] -- COMMAND...")]
pub(crate) struct RunFlags {
    /// The program and its arguments: `java -jar app.jar`, or whatever starts JVMs, such as `mvn test`
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,

    /// Run these checkers, separated by commas, instead of the default ones; may be repeated
    #[arg(long = "monitor", value_name = "CHECKER", value_delimiter = ',')]
    #[arg(value_parser = checker_choice())]
    pub(crate) checkers: Vec<CheckerChoice>,

    /// With `--monitor object-race`: what makes an object race
    #[arg(long, value_name = "CRITERION", value_enum, default_value_t)]
    pub(crate) object_race: ObjectRace,

    /// Treat the methods that this file lists as not atomic, and add those that several runs found not to be;
    /// creates the file if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) learn_spec: Option<PathBuf>,

    /// With `--learn-spec`: how many runs must find a method not to be atomic before it is excluded
    #[arg(long, value_name = "NUMBER", default_value_t = 3, requires = "learn_spec")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) learn_runs: u32,

    /// Findings of an earlier `check` or `run`, as a report in JSON: what this run observes of them is one finding with
    /// them; with `--adversarial`, threads are delayed where they could complete them
    #[arg(long, value_name = "REPORT")]
    pub(crate) suspicions: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) agent_options: AgentFlags,

    /// What methods and classes do that Scission does not know: a file in the format of
    /// docs/models.md; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,

    /// What is watched in libraries: the order that they make for your threads, or everything, as in your own code
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) libraries: Option<Libraries>,

    /// Turn off a filter that drops redundant accesses; slower, with the same findings; may be repeated
    #[arg(long = "no-filter", value_name = "FILTER", value_enum)]
    pub(crate) no_filters: Vec<Filter>,

    /// What a JVM does once a deadlock has happened and is reported
    #[arg(long, value_name = "ACTION", value_enum, default_value_t = OnDeadlock::Wait)]
    pub(crate) on_deadlock: OnDeadlock,

    /// Record the run to this file. If several JVMs record, the first uses this name and the others
    /// insert their process id, or replace `%p` by it
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// What to watch of the classes on the class path of a `java` command: `all` accesses, or with `auto` only those that
    /// an analysis before the start cannot prove safe; its result is kept for the next run
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) watch: Watch,

    /// Time that the analysis of `--watch auto` may take, such as `20s`; after that, everything is watched
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s")]
    pub(crate) budget: Duration,

    /// Keep the results of each JVM in this directory, and report those of earlier runs as well
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,

    /// Write each reported cycle to a file in this directory, as a graph for `dot`
    #[arg(long, value_name = "DIR")]
    pub(crate) graphs: Option<PathBuf>,

    /// The agent library (default: SCISSION_AGENT, else the one beside the scission command)
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,

    /// Print the environment variable that loads the agent, and start nothing; needs `--results` or
    /// `--record`
    #[arg(long, conflicts_with = "command")]
    pub(crate) print_options: bool,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write the report to this file instead of standard error; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which findings are shown, and which of them count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct TriageFlags {
    /// Lowest severity to show, for all rules (default: the level of each rule)
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) level: Option<Level>,

    /// Lowest severity of a shown finding that makes the exit status 1 (default: low)
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) fail_on: Option<FailOn>,

    /// Show only findings that are not in this file; `check` also reports which are no longer found
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Ignore the baseline that scission.toml names
    #[arg(long, conflicts_with = "baseline")]
    pub(crate) no_baseline: bool,

    /// Write the findings of this run to a file for `--baseline`; may be the same file. `check` exits with status 0 then: what
    /// is found is known from now on
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Read this configuration (default: the nearest scission.toml, from here upwards)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

/// How a report is presented.
#[derive(Clone, Debug, Args)]
pub(crate) struct PresentationFlags {
    /// Directory or archive with sources, such as `src.zip`, for excerpts in the report; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Vec<PathBuf>,

    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Also write everything to this file as a page for browsers, with pictures of what threads do; needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Print at most so many findings as text, best first, and count the others; 0 prints all (default: 50, all with `--verbose`)
    #[arg(long, value_name = "N")]
    pub(crate) max_findings: Option<usize>,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,

    /// Print only the findings: no gaps, no summary, no progress
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print all gaps, all held locks and all counters
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// A part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) kept: usize,
    pub(crate) of: usize,
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Fraction, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(kept, of)| {
                Some(Fraction { kept: kept.parse().ok()?, of: of.parse().ok()? })
            })
            .filter(|fraction| fraction.of > 0);
        parsed.ok_or_else(|| "expected a fraction such as 1/4".to_string())
    }
}

/// How the program is put together before anything is analysed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramFlags {
    /// Libraries the program needs, separated as in `java -cp`; read, but not reported on
    #[arg(long, value_name = "PATHS", value_parser = class_path)]
    pub(crate) class_path: Option<ClassPath>,

    /// The JDK that the program uses, or `none` (default: JAVA_HOME, else the `java` on the path, else
    /// none)
    #[arg(long, value_name = "DIR|none", default_value = "", hide_default_value = true)]
    pub(crate) jdk: JdkChoice,

    /// How to resolve virtual calls, from fast and imprecise to slow and precise
    #[arg(long, value_enum, default_value_t = CallGraph::Vta)]
    pub(crate) call_graph: CallGraph,

    /// How to treat calls into the JDK: by models and summaries of its code, or analysed in full
    #[arg(long, value_enum, default_value_t = Library::Model)]
    pub(crate) library: Library,

    /// What methods and classes do that Scission does not know: a file in the format of
    /// docs/models.md; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,

    /// Methods that several threads may call, such as `com.acme.Server.handle*`; may be repeated
    #[arg(long = "entry-point", value_name = "PATTERN", value_parser = pattern, value_delimiter = ',')]
    pub(crate) entry_points: Vec<Pattern>,
}

/// Print the program model: the IR, control flow, callers and callees of a method, threads, heap, locks
#[derive(Debug, Args)]
pub(crate) struct InspectFlags {
    /// Jar, directory of classes, or class file
    #[arg(value_name = "APP")]
    pub(crate) app: PathBuf,

    /// The method, as `pkg.Class.method`; all overloads unless a descriptor follows
    #[arg(value_name = "METHOD", required_unless_present_any = ["threads", "heap", "object_use", "lock_order", "library_methods"])]
    pub(crate) method: Option<String>,

    /// Print the abstract threads, where they begin, and where they are started
    #[arg(long)]
    pub(crate) threads: bool,

    /// Print the heap shape graph: the objects that threads may share, their properties, and the threads
    /// that access them
    #[arg(long)]
    pub(crate) heap: bool,

    /// Print the accesses to objects of matching classes, and why they are safe or not
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) object_use: Option<Pattern>,

    /// Print which locks are acquired while others are held
    #[arg(long)]
    pub(crate) lock_order: bool,

    /// Print the effects of matching library methods that the program calls, such as
    /// `java.util.Properties.*`, and whether they come from models or from their code
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) library_methods: Option<Pattern>,

    /// Print the control flow as a graph for `dot`
    #[arg(long)]
    pub(crate) dot: bool,

    /// Print the methods that call it
    #[arg(long)]
    pub(crate) callers: bool,

    /// Print the methods it calls
    #[arg(long)]
    pub(crate) callees: bool,

    #[command(flatten)]
    pub(crate) program: ProgramFlags,
}

/// Find synchronization defects in a recorded run, count its events, or convert it
///
/// Reads traces in all three formats and detects the format from the content. A damaged trace is read as
/// far as possible; the report says what is missing.
///
/// Exit status: 0 if there are no findings, 1 if there are, 2 on an error.
#[derive(Debug, Args)]
pub(crate) struct TraceFlags {
    /// The trace; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Run these checkers on the trace, separated by commas; may be repeated (default: velodrome, happens-before and
    /// deadlock, unless `--stats` or `--to` is given)
    #[arg(long = "monitor", value_name = "CHECKER", value_delimiter = ',')]
    #[arg(value_parser = recorded_run_checker(), conflicts_with_all = ["stats", "to"])]
    pub(crate) checkers: Vec<CheckerChoice>,

    /// Treat the methods that this file lists as not atomic, and add those that several runs found not to be;
    /// creates the file if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) learn_spec: Option<PathBuf>,

    /// With `--learn-spec`: how many runs must find a method not to be atomic before it is excluded
    #[arg(long, value_name = "NUMBER", default_value_t = 3, requires = "learn_spec")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) learn_runs: u32,

    /// With `--monitor object-race`: what makes an object race
    #[arg(long, value_name = "CRITERION", value_enum, default_value_t)]
    pub(crate) object_race: ObjectRace,

    /// Do not consider what would have happened on sides of branches that were not taken
    #[arg(long, requires = "checkers")]
    pub(crate) no_speculation: bool,

    /// Write each reported cycle to a file in this directory, as a graph for `dot`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["stats", "to"])]
    pub(crate) graphs: Option<PathBuf>,

    /// Count events, threads, objects, locks, variables, sites and blocks
    #[arg(long)]
    pub(crate) stats: bool,

    /// Convert the trace to this format
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) to: Option<TraceForm>,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write to this file instead of standard output; with both `--stats` and `--to`, only the trace
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not show progress, even on a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// Put the reports of several commands together
///
/// Reads reports that `check`, `run` and `trace` wrote with `--format json`. A finding that several of them have is one,
/// with the best evidence.
///
/// Exit status: 0 if there are no findings, 1 if there are, 2 on an error.
#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// Reports in JSON
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Write a scission.toml that fits the project, and a baseline of what is found in it now
///
/// Knows projects of Maven and Gradle with their modules; elsewhere it looks for classes in the usual places.
#[derive(Debug, Args)]
pub(crate) struct InitFlags {
    /// The project (default: the current directory)
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Write scission.toml anew if it is there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// List or show what is known of library code
///
/// What Scission knows of locks, threads and memory order in libraries are text files, one a library.
/// `--models FILE` of the other commands adds files of the same format, which docs/models.md describes.
#[derive(Debug, Args)]
pub(crate) struct ModelsFlags {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    List(ModelsListFlags),
    Show(ModelsShowFlags),
}

/// Print the files, the classes that each is about, and how much it says of them
#[derive(Debug, Default, Args)]
pub(crate) struct ModelsListFlags {
    /// A file of one's own, beside those that come with Scission; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,
}

/// Print what is said of matching classes and methods, and who says so
///
/// Without PATH, that is what comes with Scission and what `--models` adds. With PATH, what the code of
/// library methods says that the program calls is shown too.
#[derive(Debug, Args)]
pub(crate) struct ModelsShowFlags {
    /// The classes and methods, such as `com.acme.MyLock.*`
    #[arg(value_name = "PATTERN", value_parser = pattern)]
    pub(crate) pattern: Pattern,

    /// Jars, directories of classes, and class files of a program
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) program: ProgramFlags,
}

/// Explain a rule, with an example and the fix; without RULE, list all rules
#[derive(Debug, Args)]
pub(crate) struct ExplainFlags {
    /// Name of a rule
    #[arg(value_name = "RULE", value_parser = known_rule())]
    pub(crate) rule: Option<&'static Rule>,

    /// Print the keys of scission.toml instead
    #[arg(long, conflicts_with = "rule")]
    pub(crate) configuration: bool,

    /// Print the format of files of models instead
    #[arg(long, conflicts_with_all = ["rule", "configuration"])]
    pub(crate) models: bool,
}

/// Print the manual page of a command, for `man -l -`; without COMMAND, that of scission
#[derive(Debug, Args)]
pub(crate) struct ManFlags {
    /// Name of a command
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// Name of the shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// A checker by its name, or none at all.
pub(crate) type CheckerChoice = Option<&'static str>;

/// Stands for no checker.
pub(crate) const NO_CHECKER: &str = "none";

/// Every name that `--monitor` takes, with what it means.
pub(crate) fn checker_names() -> Vec<(&'static str, String)> {
    let summary = |checker: &checkers::Registration| {
        let rules = checker.rules.iter().filter_map(|rule| rules::named(rule));
        rules.map(|rule| format!("{}: {}", rule.name, rule.summary)).collect::<Vec<_>>().join("; ")
    };
    let named = checkers::ALL.iter().map(|checker| (checker.name, summary(checker)));
    named.chain([(NO_CHECKER, "no checker: the run is only recorded".to_string())]).collect()
}

/// The checker that a name stands for.
pub(crate) fn checker_named(name: &str) -> CheckerChoice {
    checkers::named(name).map(|checker| checker.name)
}

/// Accepts the names of checkers, and the one that stands for none.
fn checker_choice() -> impl TypedValueParser<Value = CheckerChoice> {
    checker_among(checker_names().into_iter())
}

/// Accepts the names of checkers.
fn recorded_run_checker() -> impl TypedValueParser<Value = CheckerChoice> {
    checker_among(checker_names().into_iter().filter(|(name, _)| *name != NO_CHECKER))
}

fn checker_among(
    names: impl Iterator<Item = (&'static str, String)>,
) -> impl TypedValueParser<Value = CheckerChoice> {
    PossibleValuesParser::new(names.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| checker_named(&name))
}

/// What makes an object race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectRace {
    /// No lock was held at every access
    Lockset,
    /// No lock was held at every access, and nothing else orders two of them
    #[default]
    Hybrid,
}

/// What is watched in libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Libraries {
    /// The order that they make (the default)
    Order,
    /// Everything; findings that lie in libraries alone are reported
    Full,
}

/// A filter that drops accesses which no checker needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Filter {
    /// Accesses to what only one thread has touched
    Ownership,
    /// Accesses that repeat one of the same stretch of a thread
    Epoch,
    /// Every filter
    All,
}

/// What a JVM does when threads wait for each other for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDeadlock {
    /// It goes on with the threads that can
    Wait,
    /// It ends at once, with exit code 86, without running shutdown hooks
    Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceForm {
    /// Compact and complete; the format of recordings
    Binary,
    /// One event per line, for people; complete
    Text,
    /// `T0|acq(L3)|12`, for other tools; leaves out what the format cannot express
    Std,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Everything
    Low,
    /// Likely defects under load, and worse
    Medium,
    /// Almost certain defects
    High,
}

impl Level {
    pub(crate) fn severity(self) -> Severity {
        match self {
            Level::Low => Severity::Low,
            Level::Medium => Severity::Medium,
            Level::High => Severity::High,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Any finding that is shown
    #[default]
    Low,
    /// Findings of medium or high severity
    Medium,
    /// Findings of high severity
    High,
    /// None
    Never,
}

impl FailOn {
    pub(crate) fn includes(self, severity: Severity) -> bool {
        match self {
            FailOn::Low => true,
            FailOn::Medium => severity >= Severity::Medium,
            FailOn::High => severity >= Severity::High,
            FailOn::Never => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people, as rustc writes diagnostics
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code-scanning services and editors
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that supports them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallGraph {
    /// Class hierarchy analysis
    Cha,
    /// Rapid type analysis
    Rta,
    /// Variable type analysis
    Vta,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    /// By models, and summaries of its code
    Model,
    /// Analysed like the program's own code
    Full,
}

/// Which JDK completes the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JdkChoice {
    /// JAVA_HOME, else the `java` on the path, else none.
    Found,
    /// The one in this directory.
    Directory(PathBuf),
    /// None, even where there is one.
    None,
}

impl FromStr for JdkChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<JdkChoice, Infallible> {
        Ok(match text {
            "" => JdkChoice::Found,
            "none" => JdkChoice::None,
            directory => JdkChoice::Directory(directory.into()),
        })
    }
}

/// The parts of a class path, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassPath(pub(crate) Vec<PathBuf>);

fn class_path(text: &str) -> Result<ClassPath, Infallible> {
    let parts = std::env::split_paths(text).filter(|part| !part.as_os_str().is_empty());
    Ok(ClassPath(parts.collect()))
}

/// A budget that is a time.
fn time(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Budget::Time(time)) => Ok(time),
        Ok(Budget::Memory(_)) | Err(_) => Err("expected a time such as `20s`".to_string()),
    }
}

/// A pattern for classes and methods, unless it cannot match any: names have no spaces, and methods
/// are named without their parameters.
pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err("it is empty".to_string());
    }
    let misplaced = |character: char| character.is_whitespace() || "(),;\\".contains(character);
    match text.chars().find(|character| misplaced(*character)) {
        Some(character) => Err(format!(
            "`{character}` is no part of a name; write `pkg.Class`, `pkg.Class.method`, or `*` and \
             `**` in places"
        )),
        None => Ok(Pattern::new(text)),
    }
}

/// A pattern that goes to the agent as it was written.
pub(crate) fn pattern_text(text: &str) -> Result<String, String> {
    pattern(text).map(|_| text.to_string())
}

/// Accepts the names of rules that `check` can find; an unknown one is refused with the nearest one.
fn static_rule() -> impl TypedValueParser<Value = &'static Rule> {
    rule_among(rules::ALL.iter().copied().filter(|rule| analyses::reports(rule.name)))
}

/// Accepts the names of rules; an unknown one is refused with the nearest known one.
fn known_rule() -> impl TypedValueParser<Value = &'static Rule> {
    rule_among(rules::ALL.iter().copied())
}

fn rule_among(
    rules: impl Iterator<Item = &'static Rule>,
) -> impl TypedValueParser<Value = &'static Rule> {
    let names = rules.map(|rule| PossibleValue::new(rule.name).help(rule.summary));
    PossibleValuesParser::new(names)
        .map(|name| rules::named(&name).expect("only names of rules are accepted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(arguments: &[&str]) -> CheckFlags {
        let line = ["scission", "check"].iter().chain(arguments);
        match Flags::try_parse_from(line).unwrap().command {
            Command::Check(flags) => flags,
            other => panic!("{other:?} is not check"),
        }
    }

    #[test]
    fn the_table_of_flags_is_consistent() {
        Flags::command().debug_assert();
    }

    #[test]
    fn a_jdk_is_looked_for_unless_given_or_refused() {
        assert_eq!(check(&["a.jar"]).program.jdk, JdkChoice::Found);
        assert_eq!(check(&["a.jar", "--jdk", "none"]).program.jdk, JdkChoice::None);
        let given = check(&["a.jar", "--jdk", "/opt/jdk"]).program.jdk;
        assert_eq!(given, JdkChoice::Directory("/opt/jdk".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_class_path_is_split_as_java_does() {
        let path = check(&["a.jar", "--class-path", "b.jar::lib/c.jar"]).program.class_path;
        assert_eq!(path, Some(ClassPath(vec!["b.jar".into(), "lib/c.jar".into()])));
    }
}

//! Every flag of every command, and nothing else: this file is the table that `--help` is made of.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use crate::budget::Budget;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, value_parser};
use findings::{Rule, Severity, rules};
use models::Pattern;

/// Finds where code that must be atomic can be split, in any JVM program.
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
    Models(ModelsFlags),
    Explain(ExplainFlags),
    Man(ManFlags),
    Completions(CompletionsFlags),
}

/// Report what could go wrong in a program, without running it
///
/// What a project always wants is written in its `scission.toml`; what is given here wins over it.
///
/// Exit status: 0 when nothing was found, 1 when something was, 2 when the work could not be done.
#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// Jars, directories of classes, and class files to analyse (default: `paths` of scission.toml)
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Report this rule only; may be repeated (default: see `scission explain`)
    #[arg(long = "rule", value_name = "RULE", value_parser = static_rule())]
    pub(crate) rules: Vec<&'static Rule>,

    /// Report only on classes and methods that match, such as `com.acme.*`; a pattern that matches
    /// a library class brings back findings about its locks that are left out by default; may be
    /// repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) include: Vec<Pattern>,

    /// Report nothing on classes and methods that match, nor on those that scission.toml excludes; may
    /// be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) exclude: Vec<Pattern>,

    /// Report suspicions that a recognised idiom makes harmless too: values that are handed over, or
    /// checked again before they are relied upon
    #[arg(long)]
    pub(crate) strict: bool,

    /// Leave these out, whatever scission.toml says
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

    /// Time or memory that the whole-program analysis may use, such as `20s` or `3GiB`, before it goes on
    /// with less context; may be repeated
    #[arg(long, value_name = "BUDGET")]
    pub(crate) budget: Vec<Budget>,

    /// Write the accesses that could not be proven safe to this file; `scission run --watch-list FILE`
    /// watches these and no others
    #[arg(long, value_name = "FILE")]
    pub(crate) watch_list: Option<PathBuf>,

    /// Do not show progress, even on a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// Read only some of the classes, `1/4` for every fourth, to measure how the cost grows
    #[arg(long, value_name = "N/D", hide = true)]
    pub(crate) bench_fraction: Option<Fraction>,
}

/// Report what went wrong, or nearly did, while a program runs
///
/// The program is started as it is given, with its own input and output, and an agent in each of its
/// JVMs watches what its threads do. When it has ended, what was found is reported to standard error.
///
/// Without COMMAND, what JVMs left in `--results DIR` is reported.
///
/// What a project always wants is written in its `scission.toml`; what is given here wins over it.
///
/// Exit status: that of the program, 128 and the number of the signal when one killed it; 1 when the
/// program ended well and something was found; 2 when the work could not be done.
#[derive(Debug, Args)]
#[command(override_usage = "scission run [OPTIONS] -- COMMAND...")]
pub(crate) struct RunFlags {
    /// The program and its arguments: `java -jar app.jar`, or whatever starts JVMs, such as `mvn test`
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,

    /// What looks at the run, one or more with commas between them; may be repeated (default: all that
    /// are on by default)
    #[arg(long = "monitor", value_name = "CHECKER", value_delimiter = ',')]
    #[arg(value_parser = checker_choice())]
    pub(crate) checkers: Vec<CheckerChoice>,

    /// Take methods that this file lists for not atomic, and add to it those that are found not to be;
    /// it need not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) learn_spec: Option<PathBuf>,

    /// Watch only classes and methods that match, such as `com.acme.*` (default: all that are not of
    /// the platform); may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern_text)]
    pub(crate) include: Vec<String>,

    /// Do not watch classes and methods that match, nor those that scission.toml leaves out; what
    /// they synchronise is not seen either; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern_text)]
    pub(crate) exclude: Vec<String>,

    /// Watch the elements of arrays too
    #[arg(long)]
    pub(crate) arrays: bool,

    /// Watch what is in unsynchronised collections too, such as ArrayList and HashMap
    #[arg(long)]
    pub(crate) collections: bool,

    /// What methods and classes do that Scission does not know: a file in the format of
    /// docs/models.md; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,

    /// Watch only the places that this file lists
    #[arg(long, value_name = "FILE")]
    pub(crate) watch_list: Option<PathBuf>,

    /// Report every access as it happens, without this filter; slower, and finds the same; may be
    /// repeated
    #[arg(long = "no-filter", value_name = "FILTER", value_enum)]
    pub(crate) no_filters: Vec<Filter>,

    /// Hold threads back where they could complete a violation, so that another thread can come in
    /// between; finds more, takes longer, and reports only what then happened
    #[arg(long)]
    pub(crate) adversarial: bool,

    /// Choose who is held back, and how long, as the run did that named this seed (default: another
    /// one for each run)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// How long a thread is held back at most, in milliseconds (default: 100)
    #[arg(long, value_name = "MS", value_parser = value_parser!(u32).range(1..=60_000))]
    pub(crate) hold_for: Option<u32>,

    /// How often threads are held back at one place (default: 10)
    #[arg(long, value_name = "N", value_parser = value_parser!(i8).range(1..))]
    pub(crate) holds_per_site: Option<i8>,

    /// How long threads are held back in each JVM, in seconds, all holds added up (default: 30)
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u32).range(..=86_400))]
    pub(crate) hold_budget: Option<u32>,

    /// Record what happens to this file. When more than one JVM records, the first has this name and
    /// each other one its process id in it, or where `%p` stands
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Keep what each JVM leaves in this directory, and report what others left there before
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,

    /// Write each cycle that is reported to a file in this directory, as a graph for `dot`
    #[arg(long, value_name = "DIR")]
    pub(crate) graphs: Option<PathBuf>,

    /// Do not watch the JVMs that a watched JVM starts
    #[arg(long)]
    pub(crate) no_children: bool,

    /// The agent library (default: SCISSION_AGENT, else the one beside the scission command)
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,

    /// Do not run the program when it cannot be watched
    #[arg(long)]
    pub(crate) require_agent: bool,

    /// Start nothing; print the line that does the same by hand. Needs `--results` or `--record`
    #[arg(long, conflicts_with = "command")]
    pub(crate) print_options: bool,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write the report to this file instead of standard error; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Throw away every event, to measure what the hooks cost
    #[arg(long, hide = true)]
    pub(crate) hooks_only: bool,

    /// Take a lock out of the program, `pkg.Class.method(I)V` or `pkg.Class.method(I)V@OFFSET`, to see
    /// whether its loss is noticed
    #[arg(long, value_name = "LOCK", hide = true)]
    pub(crate) drop_lock: Option<String>,
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

    /// Show only findings that are not in this file; `check` says what has gone since
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Show all findings, whatever baseline scission.toml names
    #[arg(long, conflicts_with = "baseline")]
    pub(crate) no_baseline: bool,

    /// Write the findings of this run to a file for `--baseline`, which may be the same one
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Read this configuration (default: the nearest scission.toml, from here upwards)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

/// How a report looks.
#[derive(Clone, Debug, Args)]
pub(crate) struct PresentationFlags {
    /// Where to find sources for excerpts: a directory, or an archive such as `src.zip`; may be
    /// repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Vec<PathBuf>,

    /// How to write the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,

    /// Print the findings alone: no gaps, no summary, no progress
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print every gap, every held lock and all counters
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

    /// The JDK whose classes complete the program, or `none` (default: JAVA_HOME, else the `java`
    /// on the path, else none)
    #[arg(long, value_name = "DIR|none", default_value = "", hide_default_value = true)]
    pub(crate) jdk: JdkChoice,

    /// How the targets of virtual calls are found, from fast and coarse to slow and fine
    #[arg(long, value_enum, default_value_t = CallGraph::Vta)]
    pub(crate) call_graph: CallGraph,

    /// What calls into the JDK do: taken from the table of models and from summaries of its code, or analysed in full
    #[arg(long, value_enum, default_value_t = Library::Model)]
    pub(crate) library: Library,

    /// What methods and classes do that Scission does not know: a file in the format of
    /// docs/models.md; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,

    /// Methods where threads may enter, such as `com.acme.Server.handle*`; may be repeated
    #[arg(long = "entry-point", value_name = "PATTERN", value_parser = pattern)]
    pub(crate) entry_points: Vec<Pattern>,
}

/// Print how the program model sees a method: its IR, control flow, callers and callees
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

    /// Print the heap shape graph: the objects that threads may share, what is known of them, and who
    /// touches them
    #[arg(long)]
    pub(crate) heap: bool,

    /// Print what happens to the objects of matching classes, and why it is safe or not
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) object_use: Option<Pattern>,

    /// Print which locks are taken while which others are held
    #[arg(long)]
    pub(crate) lock_order: bool,

    /// Print what matching library methods are taken to do, such as `java.util.Properties.*`, among those that the
    /// program calls, and whether the models or their own code say so
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

/// Report what went wrong in a recorded run, count what is in it, or write it in another form
///
/// Reads traces in all three forms, and sees from the content which one it is. A damaged trace is read as far
/// as it goes; what is missing is said.
///
/// Exit status: 0 when it was done and nothing was found, 1 when something was, 2 when it could not be
/// done.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("work").args(["stats", "to", "checkers"]).required(true).multiple(true))]
pub(crate) struct TraceFlags {
    /// The trace; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Report what this finds, as `run` does; one or more, with commas between them; may be repeated
    #[arg(long = "monitor", value_name = "CHECKER", value_delimiter = ',')]
    #[arg(value_parser = recorded_run_checker(), conflicts_with_all = ["stats", "to"])]
    pub(crate) checkers: Vec<CheckerChoice>,

    /// Take blocks of methods that this file lists for not atomic, and add to it those that are found
    /// not to be; it need not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) learn_spec: Option<PathBuf>,

    /// Write each cycle that is reported to a file in this directory, as a graph for `dot`
    #[arg(long, value_name = "DIR", requires = "checkers")]
    pub(crate) graphs: Option<PathBuf>,

    /// Count its events, and the threads, objects, variables, sites and blocks they are about
    #[arg(long)]
    pub(crate) stats: bool,

    /// Write it in this form
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) to: Option<TraceForm>,

    #[command(flatten)]
    pub(crate) triage: TriageFlags,

    #[command(flatten)]
    pub(crate) presentation: PresentationFlags,

    /// Write to this file instead of standard output; with both `--stats` and `--to`, the trace
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Do not show progress, even on a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,
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

/// Print what a rule means, with an example and the fix; without RULE, list the rules
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

/// Print the manual page of a command, for `man -l -`; without COMMAND, of scission itself
#[derive(Debug, Args)]
pub(crate) struct ManFlags {
    /// Name of a command
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

/// Print a script that makes a shell complete commands and options
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
    named.chain([(NO_CHECKER, "nothing looks: the run is only recorded".to_string())]).collect()
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

/// What keeps accesses back that a checker need not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Filter {
    /// Accesses to what only one thread has touched
    Ownership,
    /// Accesses that repeat one of the same stretch of a thread
    Epoch,
    /// Every filter
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceForm {
    /// Compact, with everything in it: what recording writes
    Binary,
    /// One event a line, for people, with everything in it
    Text,
    /// `T0|acq(L3)|12`, for other tools, with as much in it as that form can say
    Std,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Everything
    Low,
    /// What is likely to be a defect under load, and what is worse
    Medium,
    /// What is almost surely a defect
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
    /// On a terminal that wants them
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
    /// Library calls do what the table of models says
    Model,
    /// Library code is analysed like the program's own
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
fn pattern_text(text: &str) -> Result<String, String> {
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

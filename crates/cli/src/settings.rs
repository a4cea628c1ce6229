//! What a command does: its flags and `scission.toml` put together.
//!
//! The command line wins. Its lists replace those of the file, with one exception: what `--exclude` and `--not-atomic`
//! name is excluded besides what the file excludes, since that was excluded for good.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use agent_protocol::Options;
use analyses::WatchListReader;
use anyhow::bail;
use checkers::Registration;
use findings::{Rule, Severity, rules};
use models::{Models, Pattern};

use crate::config::{self, ConfigFile, Suppression};
use crate::flags::{
    CheckFlags, CheckerChoice, ClassPath, FailOn, Filter, Libraries, ObjectRace, OnDeadlock,
    PresentationFlags, ProgramFlags, RunFlags, TraceFlags, TriageFlags, WatchListFor,
};
use crate::model_files;
use crate::terminal_text::say;

/// Which findings are shown, and which of them count.
#[derive(Debug)]
pub(crate) struct TriageSettings {
    pub(crate) source: Vec<PathBuf>,
    pub(crate) levels: Levels,
    pub(crate) fail_on: FailOn,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) write_baseline: Option<PathBuf>,
    pub(crate) suppressions: Vec<Suppression>,
}

impl TriageSettings {
    /// Finds and reads the configuration, and puts the flags over it.
    pub(crate) fn new(
        triage: &TriageFlags,
        presentation: &PresentationFlags,
    ) -> anyhow::Result<TriageSettings> {
        let (_, mut file) = configuration(triage, presentation)?;
        Ok(TriageSettings::merged(triage, presentation, &mut file))
    }

    fn merged(
        triage: &TriageFlags,
        presentation: &PresentationFlags,
        file: &mut ConfigFile,
    ) -> TriageSettings {
        TriageSettings {
            source: either(&presentation.source, file.source.take()),
            levels: match triage.level {
                Some(level) => Levels { default: Some(level.severity()), by_rule: BTreeMap::new() },
                None => std::mem::take(&mut file.levels),
            },
            fail_on: triage.fail_on.or(file.fail_on).unwrap_or_default(),
            baseline: if triage.no_baseline {
                None
            } else {
                triage.baseline.clone().or(file.baseline.take())
            },
            write_baseline: triage.write_baseline.clone(),
            suppressions: std::mem::take(&mut file.suppressions),
        }
    }
}

/// Everything that was decided before `scission check` begins its work.
#[derive(Debug)]
pub(crate) struct CheckSettings {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) program: ProgramFlags,
    pub(crate) models: Models,
    pub(crate) analysis: analyses::Config,
    pub(crate) triage: TriageSettings,
    /// Whether the command line names other paths than the configuration: what is not found
    /// may then not have been checked.
    pub(crate) has_other_paths: bool,
    /// Whether the command line narrows what the configuration checks.
    pub(crate) is_narrowed: bool,
}

impl CheckSettings {
    /// Finds and reads the configuration, and puts the flags over it.
    pub(crate) fn new(flags: &CheckFlags) -> anyhow::Result<CheckSettings> {
        let (config_file, file) = configuration(&flags.triage, &flags.presentation)?;
        let models = model_files::read(&either(&flags.program.models, file.models.clone()))?;
        let settings = CheckSettings::merged(flags, models, file);
        if settings.paths.is_empty() {
            match config_file {
                Some(path) => bail!(
                    "there is nothing to check: give a PATH, or name `paths` in {}",
                    path.display()
                ),
                None => bail!(
                    "there is nothing to check: give a PATH, or name `paths` in a scission.toml"
                ),
            }
        }
        Ok(settings)
    }

    fn merged(flags: &CheckFlags, models: Models, mut file: ConfigFile) -> CheckSettings {
        let chosen = chosen_rules(&flags.rules, file.rules.as_deref(), analyses::reports);
        let is_wanted = |rule: &&'static Rule| {
            let is_it = |other: &&'static Rule| other.name == rule.name;
            chosen.iter().any(is_it) || flags.extend_rules.iter().any(is_it)
        };
        let rules: Vec<&'static Rule> = rules::ALL.iter().copied().filter(is_wanted).collect();
        let has_other_paths = !flags.paths.is_empty() && file.paths.is_some();
        let is_narrowed = has_other_paths
            || !flags.rules.is_empty()
            || !flags.include.is_empty()
            || !flags.exclude.is_empty()
            || !flags.atomic.is_empty()
            || !flags.not_atomic.is_empty();
        let class_path = flags.program.class_path.clone();
        let triage = TriageSettings::merged(&flags.triage, &flags.presentation, &mut file);
        let mut exclude = file.exclude;
        exclude.extend(flags.exclude.iter().cloned());
        let entry_points = either(&flags.program.entry_points, file.entry_points);
        let mut atomic = file.atomic;
        atomic.include = either(&flags.atomic, Some(atomic.include));
        atomic.exclude.extend(flags.not_atomic.iter().cloned());
        CheckSettings {
            paths: either(&flags.paths, file.paths),
            program: ProgramFlags {
                class_path: class_path.or_else(|| file.class_path.map(ClassPath)),
                entry_points: entry_points.clone(),
                ..flags.program.clone()
            },
            models,
            analysis: analyses::Config {
                rules: rules.iter().map(|rule| rule.name.to_string()).collect(),
                include: either(&flags.include, Some(file.include)),
                exclude,
                strict: !flags.no_strict && (flags.strict || file.strict.unwrap_or(false)),
                atomic,
                entry_points: entry_points.clone(),
                watch_list: flags.watch_list.is_some().then(|| {
                    flags.watch_list_for.map_or(WatchListReader::Order, WatchListFor::reader)
                }),
            },
            triage,
            has_other_paths,
            is_narrowed,
        }
    }
}

/// Everything that was decided before `scission run` starts a program.
#[derive(Debug)]
pub(crate) struct RunSettings {
    /// How the agents are told to watch, but for where they leave what they found.
    pub(crate) options: Options,
    /// The files of users about library code.
    pub(crate) models: Vec<PathBuf>,
    /// Methods that several threads may call, for the analysis of `--watch auto`.
    pub(crate) entry_points: Vec<Pattern>,
    pub(crate) report: ReportSettings,
}

/// The settings of `scission trace --monitor`.
#[derive(Debug)]
pub(crate) struct TraceSettings {
    pub(crate) checkers: Vec<&'static str>,
    /// Methods whose blocks are not meant to be atomic, although they were recorded as blocks.
    pub(crate) atomic_exclude: Vec<Pattern>,
    pub(crate) report: ReportSettings,
}

impl TraceSettings {
    /// Finds and reads the configuration, and puts the flags over it.
    pub(crate) fn new(flags: &TraceFlags) -> anyhow::Result<TraceSettings> {
        let (_, mut file) = configuration(&flags.triage, &flags.presentation)?;
        let atomic_exclude = std::mem::take(&mut file.atomic.exclude);
        Ok(TraceSettings {
            checkers: chosen_checkers(&flags.checkers),
            atomic_exclude,
            report: ReportSettings::merged(&flags.triage, &flags.presentation, file),
        })
    }
}

/// What of the findings of a run is reported.
#[derive(Debug)]
pub(crate) struct ReportSettings {
    /// Names of the rules to report.
    pub(crate) rules: Vec<&'static str>,
    /// Findings elsewhere are not reported, unless this is empty.
    pub(crate) include: Vec<Pattern>,
    /// Findings here are not reported.
    pub(crate) exclude: Vec<Pattern>,
    /// Where the classes of the program lie, if the configuration knows.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) triage: TriageSettings,
}

/// A random seed, short enough to be typed.
fn any_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % 1_000_000
}

impl ReportSettings {
    fn merged(
        triage: &TriageFlags,
        presentation: &PresentationFlags,
        mut file: ConfigFile,
    ) -> ReportSettings {
        let is_found_by_running =
            |rule: &str| checkers::ALL.iter().any(|checker| checker.rules.contains(&rule));
        let rules = chosen_rules(&[], file.rules.as_deref(), is_found_by_running);
        ReportSettings {
            rules: rules.iter().map(|rule| rule.name).collect(),
            triage: TriageSettings::merged(triage, presentation, &mut file),
            include: file.include,
            exclude: file.exclude,
            paths: file.paths.unwrap_or_default(),
        }
    }

    /// Whether findings of this rule, blamed on this class and method, are to be reported.
    pub(crate) fn covers(&self, rule: &str, name: &str) -> bool {
        let matches = |pattern: &Pattern| pattern.matches(name);
        self.rules.contains(&rule)
            && (self.include.is_empty() || self.include.iter().any(matches))
            && !self.exclude.iter().any(matches)
    }
}

impl RunSettings {
    /// Finds and reads the configuration, and puts the flags over it.
    pub(crate) fn new(flags: &RunFlags) -> anyhow::Result<RunSettings> {
        let (_, file) = configuration(&flags.triage, &flags.presentation)?;
        let settings = RunSettings::merged(flags, file);
        // What is wrong in a file is said before a program starts that cannot be watched with it.
        model_files::read(&settings.models)?;
        Ok(settings)
    }

    fn merged(flags: &RunFlags, mut file: ConfigFile) -> RunSettings {
        let is_off =
            |filter| flags.no_filters.contains(&filter) || flags.no_filters.contains(&Filter::All);
        let checkers = chosen_checkers(&either(&flags.checkers, file.run.checkers.take()));
        let mut options = Options {
            monitors: checkers.into_iter().map(str::to_string).collect(),
            object_race_by_locks: flags.object_race == ObjectRace::Lockset,
            ownership_filter: !is_off(Filter::Ownership),
            exits_on_deadlock: flags.on_deadlock == OnDeadlock::Exit,
            epoch_filter: !is_off(Filter::Epoch),
            atomic_include: written(&file.atomic.include),
            atomic_exclude: written(&file.atomic.exclude),
            ..Options::default()
        };
        for (row, value) in std::mem::take(&mut file.run.options) {
            let fits = row.set(&mut options, value);
            fits.expect("a key of the configuration makes values of the kind that its row names");
        }
        flags.agent_options.put_over(&mut options);
        if let Some(libraries) = flags.libraries {
            options.whole_libraries = libraries == Libraries::Full;
        }
        if options.adversarial && !flags.agent_options.give("seed") {
            options.seed = any_seed();
        }
        RunSettings {
            options,
            models: either(&flags.models, file.models.take()),
            entry_points: file.entry_points.take().unwrap_or_default(),
            report: ReportSettings::merged(&flags.triage, &flags.presentation, file),
        }
    }
}

/// Reads the configuration; with `--verbose`, prints its path.
fn configuration(
    triage: &TriageFlags,
    presentation: &PresentationFlags,
) -> anyhow::Result<(Option<PathBuf>, ConfigFile)> {
    let path = match (&triage.config, triage.no_config) {
        (_, true) => None,
        (Some(path), false) => Some(path.clone()),
        (None, false) => config::find()?,
    };
    let file = match &path {
        Some(path) => config::read(path)?,
        None => ConfigFile::default(),
    };
    if let Some(path) = path.as_ref().filter(|_| presentation.verbose) {
        say(format_args!("configuration: {}", path.display()));
    }
    Ok((path, file))
}

/// The selected checkers, else the default ones, each once.
fn chosen_checkers(asked_for: &[CheckerChoice]) -> Vec<&'static str> {
    let is_chosen = |checker: &&Registration| {
        if asked_for.is_empty() {
            checker.on_by_default
        } else {
            asked_for.contains(&Some(checker.name))
        }
    };
    checkers::ALL.iter().filter(is_chosen).map(|checker| checker.name).collect()
}

fn written(patterns: &[Pattern]) -> Vec<String> {
    patterns.iter().map(Pattern::to_string).collect()
}

/// What the command line gives; else what the file does.
fn either<T: Clone>(flags: &[T], file: Option<Vec<T>>) -> Vec<T> {
    if flags.is_empty() { file.unwrap_or_default() } else { flags.to_vec() }
}

/// The selected rules, else the default ones, in the order of the list of rules. Only those
/// that this command can find count; a list in the file that names none of them is ignored.
fn chosen_rules(
    flags: &[&'static Rule],
    file: Option<&[&'static Rule]>,
    can_be_found: impl Fn(&str) -> bool,
) -> Vec<&'static Rule> {
    let asked_for = match file {
        Some(file) if flags.is_empty() => file,
        _ => flags,
    };
    let asked_for: Vec<&str> =
        asked_for.iter().map(|rule| rule.name).filter(|name| can_be_found(name)).collect();
    let is_chosen = |rule: &Rule| {
        if asked_for.is_empty() { rule.on_by_default } else { asked_for.contains(&rule.name) }
    };
    let can_be_found = |rule: &&Rule| can_be_found(rule.name);
    rules::ALL.iter().copied().filter(can_be_found).filter(|rule| is_chosen(rule)).collect()
}

/// The lowest severity that is shown, by rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// For rules without a level of their own; absent for the default level of each rule.
    pub(crate) default: Option<Severity>,
    /// By the name of the rule.
    pub(crate) by_rule: BTreeMap<String, Severity>,
}

impl Levels {
    /// The lowest severity at which findings of a rule are shown.
    pub(crate) fn of(&self, rule: &str) -> Severity {
        let chosen = self.by_rule.get(rule).copied().or(self.default);
        chosen
            .unwrap_or_else(|| rules::named(rule).map_or(Severity::Low, |rule| rule.default_level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{Command, Flags};
    use clap::Parser;

    fn settings(arguments: &[&str], file: ConfigFile) -> CheckSettings {
        let line = ["scission", "check"].iter().chain(arguments);
        match Flags::try_parse_from(line).unwrap().command {
            Command::Check(flags) => CheckSettings::merged(&flags, Models::built_in(), file),
            other => panic!("{other:?} is not check"),
        }
    }

    fn run_settings(arguments: &str, file: ConfigFile) -> RunSettings {
        let line = ["scission", "run"].into_iter().chain(arguments.split_whitespace());
        match Flags::try_parse_from(line).unwrap().command {
            Command::Run(flags) => RunSettings::merged(&flags, file),
            other => panic!("{other:?} is not run"),
        }
    }

    fn run_table(text: &str) -> config::RunTable {
        config::parse(text, std::path::Path::new("scission.toml")).unwrap().run
    }

    fn file() -> ConfigFile {
        ConfigFile {
            paths: Some(vec!["build".into()]),
            class_path: Some(vec!["lib.jar".into()]),
            source: Some(vec!["src".into()]),
            rules: Some(vec![rules::named("reacquired-lock-pair").unwrap()]),
            levels: Levels {
                default: Some(Severity::High),
                by_rule: BTreeMap::from([("stale-value".to_string(), Severity::Low)]),
            },
            include: vec![Pattern::new("a")],
            exclude: vec![Pattern::new("b")],
            strict: Some(true),
            fail_on: Some(FailOn::High),
            baseline: Some("known.json".into()),
            entry_points: Some(vec![Pattern::new("c")]),
            ..ConfigFile::default()
        }
    }

    #[test]
    fn rules_default_to_those_that_are_on() {
        let names = |arguments: &[&str]| settings(arguments, ConfigFile::default()).analysis.rules;
        let by_default = names(&["a.jar"]);
        let is_on = |rule: &str| by_default.iter().any(|name| name == rule);
        assert!(is_on("reacquired-lock") && is_on("stale-value") && is_on("data-race"));
        assert!(!is_on("reacquired-lock-pair") && !is_on("unsafe-publication"));
        let pair = ["a.jar", "--rule", "reacquired-lock-pair"];
        assert_eq!(names(&pair), ["reacquired-lock-pair"]);
        let both = ["--rule", "reacquired-lock-pair", "--rule=reacquired-lock", "a.jar"];
        assert_eq!(names(&both), ["reacquired-lock", "reacquired-lock-pair"]);
        let more = names(&["a.jar", "--extend-rule", "reacquired-lock-pair,unsafe-publication"]);
        assert_eq!(more.len(), by_default.len() + 2);
        assert!(by_default.iter().all(|rule| more.contains(rule)));
    }

    #[test]
    fn the_file_counts_where_the_command_line_is_silent() {
        let settings = settings(&[], file());
        assert_eq!(settings.paths, [PathBuf::from("build")]);
        assert_eq!(settings.program.class_path, Some(ClassPath(vec!["lib.jar".into()])));
        assert_eq!(settings.triage.source, [PathBuf::from("src")]);
        assert_eq!(settings.analysis.rules, ["reacquired-lock-pair"]);
        assert_eq!(settings.analysis.include, [Pattern::new("a")]);
        assert!(settings.analysis.strict);
        assert_eq!(settings.triage.levels.of("reacquired-lock"), Severity::High);
        assert_eq!(settings.triage.levels.of("stale-value"), Severity::Low);
        assert_eq!(settings.triage.fail_on, FailOn::High);
        assert_eq!(settings.triage.baseline, Some("known.json".into()));
        assert_eq!(settings.program.entry_points, [Pattern::new("c")]);
        assert!(!settings.has_other_paths && !settings.is_narrowed);
    }

    #[test]
    fn the_command_line_wins_and_excludes_add_up() {
        let line = "a.jar --class-path x.jar --source s --rule stale-value --include d --exclude e \
                    --no-strict --level medium --fail-on never --baseline new.json --entry-point f";
        let settings = settings(&line.split_whitespace().collect::<Vec<_>>(), file());
        assert_eq!(settings.paths, [PathBuf::from("a.jar")]);
        assert_eq!(settings.program.class_path, Some(ClassPath(vec!["x.jar".into()])));
        assert_eq!(settings.triage.source, [PathBuf::from("s")]);
        assert_eq!(settings.analysis.rules, ["stale-value"]);
        assert_eq!(settings.analysis.include, [Pattern::new("d")]);
        assert_eq!(settings.analysis.exclude, [Pattern::new("b"), Pattern::new("e")]);
        assert!(!settings.analysis.strict);
        assert_eq!(settings.triage.levels.of("stale-value"), Severity::Medium);
        assert_eq!(settings.triage.fail_on, FailOn::Never);
        assert_eq!(settings.triage.baseline, Some("new.json".into()));
        assert_eq!(settings.program.entry_points, [Pattern::new("f")]);
        assert!(settings.has_other_paths && settings.is_narrowed);
        assert_eq!(super::tests::settings(&["--no-baseline"], file()).triage.baseline, None);
    }

    #[test]
    fn a_run_watches_what_it_is_told_to_and_reports_what_the_project_wants() {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(text)).collect();
        let file = || ConfigFile {
            run: run_table(
                "[run]\ninclude = [\"w\"]\nexclude = [\"x\"]\narrays = true\nmonitors = [\"velodrome\"]",
            ),
            ..file()
        };
        let settings = run_settings("", file());
        let report = &settings.report;
        assert_eq!((&report.include, &report.exclude), (&patterns(&["a"]), &patterns(&["b"])));
        let options = settings.options;
        assert_eq!((options.include, options.exclude), (vec!["w".into()], vec!["x".into()]));
        assert!(options.arrays && options.collections);
        assert_eq!(options.monitors, ["velodrome"]);
        assert!(options.ownership_filter && options.epoch_filter);

        let line =
            "--include y --exclude z --no-collections --monitor happens-before --no-filter epoch";
        let options = run_settings(line, file()).options;
        assert_eq!(options.include, ["y"]);
        assert_eq!(options.exclude, ["x", "z"]);
        assert!(options.arrays && !options.collections);
        assert_eq!(options.monitors, ["happens-before"]);
        assert!(options.ownership_filter && !options.epoch_filter);

        let options = run_settings("--monitor none --no-filter all", ConfigFile::default()).options;
        assert!(options.monitors.is_empty());
        assert!(!options.ownership_filter && !options.epoch_filter);
        assert!(!run_settings("--no-children", ConfigFile::default()).options.children);
    }

    #[test]
    fn threads_are_held_back_as_the_command_line_says_and_then_the_file() {
        let file = || ConfigFile {
            run: run_table("[run]\nadversarial = true\nhold-for = 20\nhold-budget = 5"),
            ..ConfigFile::default()
        };
        assert!(!run_settings("", ConfigFile::default()).options.adversarial);
        let options = run_settings("--adversarial --seed 7 --hold-for 50", file()).options;
        assert_eq!((options.seed, options.hold_for), (7, 50));
        assert_eq!((options.holds_per_site, options.hold_budget), (10, 5));
        let options = run_settings("--holds-per-site 3", file()).options;
        assert_eq!((options.hold_for, options.holds_per_site), (20, 3));
    }

    #[test]
    fn a_list_of_rules_speaks_only_to_the_command_that_finds_them() {
        let rules = |names: &[&str]| -> Vec<_> {
            names.iter().map(|name| rules::named(name).unwrap()).collect()
        };
        let only = |name: &str| name == "stale-value";
        let names = |file: &[&str]| -> Vec<_> {
            chosen_rules(&[], Some(&rules(file)), only).iter().map(|rule| rule.name).collect()
        };
        assert_eq!(names(&["reacquired-lock", "stale-value"]), ["stale-value"]);
        assert_eq!(names(&["reacquired-lock"]), ["stale-value"]);
    }

    #[test]
    fn a_rule_has_a_level_of_its_own() {
        let levels = Levels::default();
        for rule in rules::ALL {
            assert_eq!(levels.of(rule.name), rule.default_level);
        }
    }
}

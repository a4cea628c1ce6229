//! What a run of `scission check` does: the command line and `scission.toml` put together.
//!
//! The command line wins. Its lists replace those of the file, with one exception: what `--exclude`
//! names is excluded besides what the file excludes, since that was excluded for good.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use findings::{Rule, Severity, rules};

use crate::config::{self, ConfigFile, Suppression};
use crate::flags::{CheckFlags, ClassPath, FailOn, ProgramFlags};

/// Everything that was decided before the work begins.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The configuration that was read.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) program: ProgramFlags,
    pub(crate) source: Vec<PathBuf>,
    pub(crate) analysis: analyses::Config,
    pub(crate) levels: Levels,
    pub(crate) fail_on: FailOn,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) suppressions: Vec<Suppression>,
    /// Whether the command line names other paths than the configuration does: what is not found
    /// may then only not have been looked at.
    pub(crate) has_other_paths: bool,
    /// Whether the command line narrows in any way what the configuration wants checked.
    pub(crate) is_narrowed: bool,
}

impl Settings {
    /// Finds and reads the configuration, and puts the flags over it.
    pub(crate) fn new(flags: &CheckFlags) -> anyhow::Result<Settings> {
        let config_file = match (&flags.config, flags.no_config) {
            (_, true) => None,
            (Some(path), false) => Some(path.clone()),
            (None, false) => config::find()?,
        };
        let file = match &config_file {
            Some(path) => config::read(path)?,
            None => ConfigFile::default(),
        };
        let settings = Settings { config_file, ..Settings::merged(flags, file) };
        if settings.paths.is_empty() {
            match &settings.config_file {
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

    fn merged(flags: &CheckFlags, file: ConfigFile) -> Settings {
        let rules = chosen_rules(&flags.rules, file.rules.as_deref());
        let has_other_paths = !flags.paths.is_empty() && file.paths.is_some();
        let is_narrowed = has_other_paths
            || !flags.rules.is_empty()
            || !flags.include.is_empty()
            || !flags.exclude.is_empty();
        let class_path = flags.program.class_path.clone();
        let mut exclude = file.exclude;
        exclude.extend(flags.exclude.iter().cloned());
        Settings {
            config_file: None,
            paths: either(&flags.paths, file.paths),
            program: ProgramFlags {
                class_path: class_path.or_else(|| file.class_path.map(ClassPath)),
                entry_points: either(&flags.program.entry_points, file.entry_points),
                ..flags.program.clone()
            },
            source: either(&flags.source, file.source),
            analysis: analyses::Config {
                rules: rules.iter().map(|rule| rule.name.to_string()).collect(),
                include: either(&flags.include, Some(file.include)),
                exclude,
                strict: !flags.no_strict && (flags.strict || file.strict.unwrap_or(false)),
                atomic: file.atomic,
            },
            levels: match flags.level {
                Some(level) => Levels { default: Some(level.severity()), by_rule: BTreeMap::new() },
                None => file.levels,
            },
            fail_on: flags.fail_on.or(file.fail_on).unwrap_or_default(),
            baseline: if flags.no_baseline {
                None
            } else {
                flags.baseline.clone().or(file.baseline)
            },
            suppressions: file.suppressions,
            has_other_paths,
            is_narrowed,
        }
    }
}

/// What the command line gives; else what the file does.
fn either<T: Clone>(flags: &[T], file: Option<Vec<T>>) -> Vec<T> {
    if flags.is_empty() { file.unwrap_or_default() } else { flags.to_vec() }
}

/// The rules asked for, else those that are on by default, in the order of the list of rules.
fn chosen_rules(flags: &[&'static Rule], file: Option<&[&'static Rule]>) -> Vec<&'static Rule> {
    let asked_for = match file {
        Some(file) if flags.is_empty() => file,
        _ => flags,
    };
    let is_chosen = |rule: &Rule| {
        if asked_for.is_empty() {
            rule.on_by_default
        } else {
            asked_for.iter().any(|asked| asked.name == rule.name)
        }
    };
    rules::ALL.iter().copied().filter(|rule| is_chosen(rule)).collect()
}

/// The lowest severity that is shown, by rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// For rules without a level of their own; absent for what each rule says itself.
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
    use program::pattern::Pattern;

    fn settings(arguments: &[&str], file: ConfigFile) -> Settings {
        let line = ["scission", "check"].iter().chain(arguments);
        match Flags::try_parse_from(line).unwrap().command {
            Command::Check(flags) => Settings::merged(&flags, file),
            other => panic!("{other:?} is not check"),
        }
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
        assert_eq!(names(&["a.jar"]), ["reacquired-lock", "stale-value"]);
        let pair = ["a.jar", "--rule", "reacquired-lock-pair"];
        assert_eq!(names(&pair), ["reacquired-lock-pair"]);
        let both = ["--rule", "reacquired-lock-pair", "--rule=reacquired-lock", "a.jar"];
        assert_eq!(names(&both), ["reacquired-lock", "reacquired-lock-pair"]);
    }

    #[test]
    fn the_file_counts_where_the_command_line_is_silent() {
        let settings = settings(&[], file());
        assert_eq!(settings.paths, [PathBuf::from("build")]);
        assert_eq!(settings.program.class_path, Some(ClassPath(vec!["lib.jar".into()])));
        assert_eq!(settings.source, [PathBuf::from("src")]);
        assert_eq!(settings.analysis.rules, ["reacquired-lock-pair"]);
        assert_eq!(settings.analysis.include, [Pattern::new("a")]);
        assert!(settings.analysis.strict);
        assert_eq!(settings.levels.of("reacquired-lock"), Severity::High);
        assert_eq!(settings.levels.of("stale-value"), Severity::Low);
        assert_eq!(settings.fail_on, FailOn::High);
        assert_eq!(settings.baseline, Some("known.json".into()));
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
        assert_eq!(settings.source, [PathBuf::from("s")]);
        assert_eq!(settings.analysis.rules, ["stale-value"]);
        assert_eq!(settings.analysis.include, [Pattern::new("d")]);
        assert_eq!(settings.analysis.exclude, [Pattern::new("b"), Pattern::new("e")]);
        assert!(!settings.analysis.strict);
        assert_eq!(settings.levels.of("stale-value"), Severity::Medium);
        assert_eq!(settings.fail_on, FailOn::Never);
        assert_eq!(settings.baseline, Some("new.json".into()));
        assert_eq!(settings.program.entry_points, [Pattern::new("f")]);
        assert!(settings.has_other_paths && settings.is_narrowed);
        assert_eq!(super::tests::settings(&["--no-baseline"], file()).baseline, None);
    }

    #[test]
    fn a_rule_has_a_level_of_its_own() {
        let levels = Levels::default();
        for rule in rules::ALL {
            assert_eq!(levels.of(rule.name), rule.default_level);
        }
    }
}

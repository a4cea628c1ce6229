//! `scission.toml`: the settings and suppressions of a project.
//!
//! The tables of keys below are the only description of the file: they parse it, reject unknown keys, and
//! generate the reference in `docs/configuration.md`. An error is one sentence with the line that it is
//! about.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use agent_protocol::{OptionRow, OptionValue, Options, ValueKind};
use anyhow::{anyhow, bail};
use clap::ValueEnum;
use findings::{Rule, Severity, nearest_name, rules};
use models::AtomicSpec;
use models::Pattern;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::flags::{CheckerChoice, FailOn, Level, checker_named, checker_names, pattern};
use crate::settings::Levels;

/// The name of the file.
const FILE_NAME: &str = "scission.toml";

/// Stands for the name of a rule among the keys.
const RULE: &str = "RULE";

/// The contents of a `scission.toml`. Paths are relative to the working directory, wherever the file is.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigFile {
    pub(crate) paths: Option<Vec<PathBuf>>,
    pub(crate) class_path: Option<Vec<PathBuf>>,
    pub(crate) source: Option<Vec<PathBuf>>,
    pub(crate) rules: Option<Vec<&'static Rule>>,
    pub(crate) levels: Levels,
    pub(crate) include: Vec<Pattern>,
    pub(crate) exclude: Vec<Pattern>,
    pub(crate) strict: Option<bool>,
    pub(crate) fail_on: Option<FailOn>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) models: Option<Vec<PathBuf>>,
    pub(crate) entry_points: Option<Vec<Pattern>>,
    pub(crate) atomic: AtomicSpec,
    pub(crate) run: RunTable,
    pub(crate) suppressions: Vec<Suppression>,
}

/// How `scission run` watches programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTable {
    pub(crate) checkers: Option<Vec<CheckerChoice>>,
    /// Options of the agent, each with its value.
    pub(crate) options: Vec<(&'static OptionRow, OptionValue)>,
}

/// Findings that the project suppresses.
#[derive(Clone, Debug)]
pub(crate) struct Suppression {
    /// The classes and methods; all when absent.
    pub(crate) pattern: Option<Pattern>,
    /// The variables that findings are about; all when absent.
    pub(crate) field: Option<Pattern>,
    /// The locks that findings are about; all when absent.
    pub(crate) lock: Option<Pattern>,
    /// The patterns as they were written.
    pub(crate) text: String,
    /// All rules when absent.
    pub(crate) rule: Option<&'static Rule>,
    pub(crate) reason: String,
    /// `scission.toml:12`, without the directories of this machine: reports name it.
    pub(crate) place: String,
}

/// A `[[suppress]]` while it is read.
#[derive(Default)]
struct SuppressionDraft {
    pattern: Option<(Pattern, String)>,
    field: Option<(Pattern, String)>,
    lock: Option<(Pattern, String)>,
    rule: Option<&'static Rule>,
    reason: Option<String>,
}

/// A key: its name, what it holds and where that goes, and what it means.
struct Key<T: 'static> {
    name: &'static str,
    key_kind: KeyKind<T>,
    meaning: &'static str,
}

enum KeyKind<T> {
    Flag(fn(&mut T, bool)),
    Reason(fn(&mut T, String)),
    Path(fn(&mut T, PathBuf)),
    Paths(fn(&mut T, Vec<PathBuf>)),
    /// A pattern, together with how it was written.
    Pattern(fn(&mut T, Pattern, &str)),
    Patterns(fn(&mut T, Vec<Pattern>)),
    Rule(fn(&mut T, &'static Rule)),
    Rules(fn(&mut T, Vec<&'static Rule>)),
    /// A severity, together with the key it was given for.
    Level(fn(&mut T, &str, Severity)),
    FailOn(fn(&mut T, FailOn)),
    Checkers(fn(&mut T, Vec<CheckerChoice>)),
    /// A value for an option of the agent.
    AgentOption(&'static OptionRow, fn(&mut T, &'static OptionRow, OptionValue)),
    Table(fn(&mut T, &Reader<'_>, &DeTable<'_>) -> anyhow::Result<()>),
    /// A table of an array of tables, and its position.
    Tables(fn(&mut T, &Reader<'_>, &DeTable<'_>, Range<usize>) -> anyhow::Result<()>),
}

static TOP: &[Key<ConfigFile>] = &[
    Key {
        name: "paths",
        key_kind: KeyKind::Paths(|file, paths| file.paths = Some(paths)),
        meaning: "what to check when the command line names no PATH",
    },
    Key {
        name: "class-path",
        key_kind: KeyKind::Paths(|file, paths| file.class_path = Some(paths)),
        meaning: "libraries the program needs: read, but not reported on",
    },
    Key {
        name: "source",
        key_kind: KeyKind::Paths(|file, paths| file.source = Some(paths)),
        meaning: "where to find sources for excerpts: directories, or archives such as `src.zip`",
    },
    Key {
        name: "rules",
        key_kind: KeyKind::Rules(|file, rules| file.rules = Some(rules)),
        meaning: "the rules to report, instead of the default ones; a command that can find none of them ignores the list",
    },
    Key {
        name: "include",
        key_kind: KeyKind::Patterns(|file, patterns| file.include = patterns),
        meaning: "report only on classes and methods that match",
    },
    Key {
        name: "exclude",
        key_kind: KeyKind::Patterns(|file, patterns| file.exclude = patterns),
        meaning: "report nothing on classes and methods that match",
    },
    Key {
        name: "strict",
        key_kind: KeyKind::Flag(|file, strict| file.strict = Some(strict)),
        meaning: "also report what a recognised idiom makes harmless",
    },
    Key {
        name: "fail-on",
        key_kind: KeyKind::FailOn(|file, fail_on| file.fail_on = Some(fail_on)),
        meaning: "the lowest severity of a shown finding that makes the exit code 1; `low` unless set",
    },
    Key {
        name: "baseline",
        key_kind: KeyKind::Path(|file, path| file.baseline = Some(path)),
        meaning: "show only findings that are not in this file, which `--write-baseline` writes",
    },
    Key {
        name: "models",
        key_kind: KeyKind::Paths(|file, paths| file.models = Some(paths)),
        meaning: "files that say what methods and classes do that Scission does not know, see [models](models.md)",
    },
    Key {
        name: "entry-points",
        key_kind: KeyKind::Patterns(|file, patterns| file.entry_points = Some(patterns)),
        meaning: "methods that several threads may call",
    },
    Key {
        name: "levels",
        key_kind: KeyKind::Table(|file, reader, table| {
            reader.fill(LEVELS, table, &mut file.levels)
        }),
        meaning: "the lowest severity to show, by rule",
    },
    Key {
        name: "atomic",
        key_kind: KeyKind::Table(|file, reader, table| {
            reader.fill(ATOMIC, table, &mut file.atomic)
        }),
        meaning: "which code is meant to be atomic; used by the run-time checkers and `inconsistent-method`",
    },
    Key {
        name: "run",
        key_kind: KeyKind::Table(|file, reader, table| reader.fill(&RUN, table, &mut file.run)),
        meaning: "how `scission run` watches programs",
    },
    Key {
        name: "suppress",
        key_kind: KeyKind::Tables(|file, reader, table, span| {
            file.suppressions.push(reader.suppression(table, span)?);
            Ok(())
        }),
        meaning: "findings to suppress; may be repeated",
    },
];

static LEVELS: &[Key<Levels>] = &[
    Key {
        name: "default",
        key_kind: KeyKind::Level(|levels, _, severity| levels.default = Some(severity)),
        meaning: "for every rule that has no level of its own here",
    },
    Key {
        name: RULE,
        key_kind: KeyKind::Level(|levels, rule, severity| {
            levels.by_rule.insert(rule.to_string(), severity);
        }),
        meaning: "for the rule of that name",
    },
];

static ATOMIC: &[Key<AtomicSpec>] = &[
    Key {
        name: "include",
        key_kind: KeyKind::Patterns(|atomic, patterns| atomic.include = patterns),
        meaning: "methods that are meant to be atomic",
    },
    Key {
        name: "exclude",
        key_kind: KeyKind::Patterns(|atomic, patterns| atomic.exclude = patterns),
        meaning: "methods that are not; takes precedence over `include`",
    },
];

/// The keys of `[run]`: the checkers, and every option of the agent whose row says what its key means.
static RUN: LazyLock<Vec<Key<RunTable>>> = LazyLock::new(|| {
    let checkers = Key {
        name: "monitors",
        key_kind: KeyKind::Checkers(|run: &mut RunTable, checkers| run.checkers = Some(checkers)),
        meaning: "the checkers to run, instead of the default ones; `none` only records",
    };
    let options = Options::ALL.iter().filter_map(|row| {
        Some(Key {
            name: row.name,
            key_kind: KeyKind::AgentOption(row, |run: &mut RunTable, row, value| {
                run.options.push((row, value))
            }),
            meaning: row.key?,
        })
    });
    [checkers].into_iter().chain(options).collect()
});

static SUPPRESS: &[Key<SuppressionDraft>] = &[
    Key {
        name: "pattern",
        key_kind: KeyKind::Pattern(|draft, pattern, text| {
            draft.pattern = Some((pattern, text.to_string()))
        }),
        meaning: "the classes and methods whose findings are suppressed; required unless `field` or `lock` is there",
    },
    Key {
        name: "field",
        key_kind: KeyKind::Pattern(|draft, pattern, text| {
            draft.field = Some((pattern, text.to_string()))
        }),
        meaning: "only findings about this field, such as `Account.balance`",
    },
    Key {
        name: "lock",
        key_kind: KeyKind::Pattern(|draft, pattern, text| {
            draft.lock = Some((pattern, text.to_string()))
        }),
        meaning: "only findings about this lock, as the report names it, or with its class: `bank.Account.lock`",
    },
    Key {
        name: "rule",
        key_kind: KeyKind::Rule(|draft, rule| draft.rule = Some(rule)),
        meaning: "only findings of this rule",
    },
    Key {
        name: "reason",
        key_kind: KeyKind::Reason(|draft, reason| draft.reason = Some(reason)),
        meaning: "the reason; required",
    },
];

/// The reference of all keys, as Markdown.
pub(crate) fn reference() -> String {
    let mut rows = vec!["| key | type | meaning |".to_string(), "|---|---|---|".to_string()];
    rows.extend(reference_rows("", TOP));
    rows.extend(reference_rows("levels.", LEVELS));
    rows.extend(reference_rows("atomic.", ATOMIC));
    rows.extend(reference_rows("run.", &RUN));
    rows.extend(reference_rows("suppress.", SUPPRESS));
    rows.iter().flat_map(|row| [row, "\n"]).collect()
}

fn reference_rows<T>(table: &'static str, keys: &'static [Key<T>]) -> impl Iterator<Item = String> {
    keys.iter().map(move |key| {
        format!("| `{table}{}` | {} | {} |", key.name, key.key_kind.description(), key.meaning)
    })
}

/// The `scission.toml` of the working directory or the nearest one above it.
pub(crate) fn find() -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir()
        .map_err(|error| anyhow!("the working directory cannot be read: {error}"))?;
    let mut relative = PathBuf::new();
    for directory in here.ancestors() {
        // Whatever has the name counts, a dangling link too: to pass over it would be a surprise.
        if fs::symlink_metadata(directory.join(FILE_NAME)).is_ok() {
            return Ok(Some(relative.join(FILE_NAME)));
        }
        relative.push("..");
    }
    Ok(None)
}

/// Reads a configuration.
pub(crate) fn read(path: &Path) -> anyhow::Result<ConfigFile> {
    let text = fs::read_to_string(path).map_err(|error| {
        let why = why_unreadable(&error);
        anyhow!("cannot read the configuration `{}`: {why}", path.display())
    })?;
    parse(&text, path)
}

/// Why a text file could not be read, in one clause.
pub(crate) fn why_unreadable(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_string(),
        ErrorKind::IsADirectory => "it is a directory".to_string(),
        ErrorKind::PermissionDenied => "no permission".to_string(),
        ErrorKind::InvalidData => "it is not UTF-8 text".to_string(),
        _ => error.to_string(),
    }
}

/// Reads the text of a configuration.
pub(crate) fn parse(text: &str, path: &Path) -> anyhow::Result<ConfigFile> {
    let mut file = ConfigFile::default();
    fill(text, path, TOP, &mut file)?;
    Ok(file)
}

/// What a file excludes from the atomicity specification, if it has nothing else.
pub(crate) fn parse_exclusions(text: &str, path: &Path) -> anyhow::Result<Vec<Pattern>> {
    let mut excluded = Vec::new();
    fill(text, path, EXCLUSIONS, &mut excluded)?;
    Ok(excluded)
}

fn fill<T>(text: &str, path: &Path, keys: &[Key<T>], target: &mut T) -> anyhow::Result<()> {
    let reader = Reader { text, path };
    let table = DeTable::parse(text).map_err(|error| {
        let place = reader.place(&error.span().unwrap_or_default());
        let what = error.message().replace('\n', ", ");
        anyhow!("{place} is not TOML: {what}")
    })?;
    reader.fill(keys, table.get_ref(), target)
}

/// The keys of a learned specification, which are keys of the configuration as well.
static EXCLUSIONS: &[Key<Vec<Pattern>>] = &[Key {
    name: "atomic",
    key_kind: KeyKind::Table(|excluded, reader, table| {
        let exclude = Key {
            name: "exclude",
            key_kind: KeyKind::Patterns(|excluded: &mut Vec<Pattern>, patterns| {
                *excluded = patterns
            }),
            meaning: "methods that were found not to be atomic",
        };
        reader.fill(&[exclude], table, excluded)
    }),
    meaning: "which code is meant to be atomic",
}];

/// A configuration that is being read.
struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Reader<'_> {
    /// `scission.toml:3`.
    fn place(&self, span: &Range<usize>) -> String {
        format!("{}:{}", self.path.display(), self.line(span))
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    /// Stores the values of a table in its target, in the order of the file, so that the
    /// first error is reported.
    fn fill<T>(&self, keys: &[Key<T>], table: &DeTable<'_>, target: &mut T) -> anyhow::Result<()> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (name, value) in entries {
            let span = name.span();
            let name = name.get_ref();
            let known = keys.iter().find(|key| key.is_named(name));
            let Some(known) = known else {
                let names: Vec<String> = keys.iter().flat_map(Key::names).collect();
                return Err(self.unknown("key", name, &span, &names));
            };
            known.key_kind.take(self, name, value, target)?;
        }
        Ok(())
    }

    fn suppression(&self, table: &DeTable<'_>, span: Range<usize>) -> anyhow::Result<Suppression> {
        let mut draft = SuppressionDraft::default();
        self.fill(SUPPRESS, table, &mut draft)?;
        let missing = |key: &str| {
            anyhow!("the `[[suppress]]` at {} has no `{key}`, and needs one", self.place(&span))
        };
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let given = [&draft.pattern, &draft.field, &draft.lock];
        let texts: Vec<&str> =
            given.iter().copied().flatten().map(|(_, text)| text.as_str()).collect();
        if texts.is_empty() {
            return Err(missing("pattern"));
        }
        let text = texts.join("`, `");
        let pattern = |given: Option<(Pattern, String)>| given.map(|(pattern, _)| pattern);
        Ok(Suppression {
            pattern: pattern(draft.pattern),
            field: pattern(draft.field),
            lock: pattern(draft.lock),
            text,
            rule: draft.rule,
            reason: draft.reason.ok_or_else(|| missing("reason"))?,
            place: format!("{name}:{}", self.line(&span)),
        })
    }

    /// "unknown key `exlude` at scission.toml:3; did you mean `exclude`?"
    fn unknown(
        &self,
        what: &str,
        name: &str,
        span: &Range<usize>,
        known: &[String],
    ) -> anyhow::Error {
        let place = self.place(span);
        // A quoted key may hold anything, line breaks included.
        let name = name.escape_debug();
        match nearest_name(&name.to_string(), known.iter().map(String::as_str)) {
            Some(near) => anyhow!("unknown {what} `{name}` at {place}; did you mean `{near}`?"),
            None => {
                let known = known.join("`, `");
                anyhow!("unknown {what} `{name}` at {place}; known are `{known}`")
            }
        }
    }

    /// A path is relative to the file; a module of the JDK has no path.
    fn path(&self, text: &str) -> PathBuf {
        if text.starts_with("jrt:") {
            return text.into();
        }
        self.path.parent().unwrap_or(Path::new("")).join(text)
    }

    fn pattern(&self, text: &str, span: &Range<usize>) -> anyhow::Result<Pattern> {
        pattern(text)
            .map_err(|why| anyhow!("`{text}` at {} is not a pattern: {why}", self.place(span)))
    }

    fn rule(&self, name: &str, span: &Range<usize>) -> anyhow::Result<&'static Rule> {
        rules::named(name).ok_or_else(|| self.unknown("rule", name, span, &rule_names()))
    }

    fn checker(&self, name: &str, span: &Range<usize>) -> anyhow::Result<CheckerChoice> {
        let known: Vec<String> =
            checker_names().into_iter().map(|(name, _)| name.to_string()).collect();
        if known.iter().any(|known| known == name) {
            Ok(checker_named(name))
        } else {
            Err(self.unknown("checker", name, span, &known))
        }
    }

    /// One of the values that a flag of the command line accepts.
    fn choice<T: ValueEnum>(
        &self,
        what: &str,
        text: &str,
        span: &Range<usize>,
    ) -> anyhow::Result<T> {
        T::from_str(text, false).map_err(|_| {
            let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = values.map(|value| value.get_name().to_string()).collect();
            self.unknown(what, text, span, &names)
        })
    }
}

impl<T> Key<T> {
    fn is_named(&self, name: &str) -> bool {
        if self.name == RULE { rules::named(name).is_some() } else { self.name == name }
    }

    /// The names a user may write for it.
    fn names(&self) -> Vec<String> {
        if self.name == RULE { rule_names() } else { vec![self.name.to_string()] }
    }
}

impl<T> KeyKind<T> {
    /// The expected value, for error messages.
    fn description(&self) -> &'static str {
        match self {
            KeyKind::Flag(_) => "`true` or `false`",
            KeyKind::Reason(_) => "text",
            KeyKind::Path(_) => "path",
            KeyKind::Paths(_) => "list of paths",
            KeyKind::Pattern(_) => "pattern",
            KeyKind::Patterns(_) => "list of patterns",
            KeyKind::Rule(_) => "name of a rule",
            KeyKind::Rules(_) => "list of rules",
            KeyKind::Level(_) => "`\"low\"`, `\"medium\"` or `\"high\"`",
            KeyKind::FailOn(_) => "`\"low\"`, `\"medium\"`, `\"high\"` or `\"never\"`",
            KeyKind::Checkers(_) => "list of checkers",
            KeyKind::AgentOption(row, _) => match &row.kind {
                ValueKind::Switch => "`true` or `false`",
                ValueKind::Number(_) => "number",
                ValueKind::Path => "path",
                ValueKind::Text => "text",
                ValueKind::Texts => "list of texts",
                ValueKind::Patterns => "list of patterns",
            },
            KeyKind::Table(_) => "table",
            KeyKind::Tables(_) => "array of tables, `[[…]]`",
        }
    }

    /// Stores a value, or returns what is wrong with it.
    fn take(
        &self,
        reader: &Reader<'_>,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        target: &mut T,
    ) -> anyhow::Result<()> {
        let span = value.span();
        let expected =
            || format!("`{name}` at {}: expected {}", reader.place(&span), self.description());
        let wrong_type = || anyhow!("{}, found {}", expected(), value.get_ref().type_str());
        let text = || value.get_ref().as_str().ok_or_else(wrong_type);
        let texts = || -> anyhow::Result<Vec<(&str, Range<usize>)>> {
            let items = value.get_ref().as_array().ok_or_else(wrong_type)?.iter();
            let texts = items.map(|item| match item.get_ref().as_str() {
                Some(text) => Ok((text, item.span())),
                None => Err(anyhow!("{}, found {} in it", expected(), item.get_ref().type_str())),
            });
            texts.collect()
        };
        match self {
            KeyKind::Flag(set) => set(target, value.get_ref().as_bool().ok_or_else(wrong_type)?),
            KeyKind::Reason(set) => match text()?.trim() {
                "" => bail!("`{name}` at {} is empty, and must say why", reader.place(&span)),
                reason => set(target, reason.to_string()),
            },
            KeyKind::Path(set) => set(target, reader.path(text()?)),
            KeyKind::Paths(set) => {
                set(target, texts()?.iter().map(|(text, _)| reader.path(text)).collect());
            }
            KeyKind::Pattern(set) => {
                let text = text()?;
                set(target, reader.pattern(text, &span)?, text);
            }
            KeyKind::Patterns(set) => {
                let patterns = texts()?.into_iter();
                let patterns = patterns.map(|(text, span)| reader.pattern(text, &span));
                set(target, patterns.collect::<anyhow::Result<_>>()?);
            }
            KeyKind::Rule(set) => set(target, reader.rule(text()?, &span)?),
            KeyKind::Rules(set) => {
                let names = texts()?;
                if names.is_empty() {
                    bail!("`{name}` at {} is empty: nothing would be found", reader.place(&span));
                }
                let rules = names.into_iter().map(|(text, span)| reader.rule(text, &span));
                set(target, rules.collect::<anyhow::Result<_>>()?);
            }
            KeyKind::Level(set) => {
                let level: Level = reader.choice("level", text()?, &span)?;
                set(target, name, level.severity());
            }
            KeyKind::FailOn(set) => set(target, reader.choice("level", text()?, &span)?),
            KeyKind::Checkers(set) => {
                let names = texts()?;
                if names.is_empty() {
                    bail!("`{name}` at {} is empty: write `none`", reader.place(&span));
                }
                let checkers = names.into_iter().map(|(text, span)| reader.checker(text, &span));
                set(target, checkers.collect::<anyhow::Result<_>>()?);
            }
            KeyKind::AgentOption(row, set) => {
                let value = match &row.kind {
                    ValueKind::Switch => {
                        OptionValue::Switch(value.get_ref().as_bool().ok_or_else(wrong_type)?)
                    }
                    ValueKind::Number(range) => {
                        let number = value.get_ref().as_integer().ok_or_else(wrong_type)?;
                        let number = u64::from_str_radix(number.as_str(), number.radix());
                        match number.ok().filter(|number| range.contains(number)) {
                            Some(number) => OptionValue::Number(number),
                            None => {
                                bail!("{} from {} to {}", expected(), range.start(), range.end())
                            }
                        }
                    }
                    ValueKind::Path => OptionValue::Path(reader.path(text()?)),
                    ValueKind::Text => OptionValue::Text(text()?.to_string()),
                    ValueKind::Texts => OptionValue::Texts(
                        texts()?.into_iter().map(|(text, _)| text.to_string()).collect(),
                    ),
                    ValueKind::Patterns => {
                        let patterns = texts()?.into_iter().map(|(text, span)| {
                            reader.pattern(text, &span).map(|pattern| pattern.to_string())
                        });
                        OptionValue::Texts(patterns.collect::<anyhow::Result<_>>()?)
                    }
                };
                set(target, row, value);
            }
            KeyKind::Table(fill) => {
                fill(target, reader, value.get_ref().as_table().ok_or_else(wrong_type)?)?;
            }
            KeyKind::Tables(fill) => {
                for item in value.get_ref().as_array().ok_or_else(wrong_type)? {
                    let table = item.get_ref().as_table().ok_or_else(wrong_type)?;
                    fill(target, reader, table, item.span())?;
                }
            }
        }
        Ok(())
    }
}

fn rule_names() -> Vec<String> {
    rules::ALL.iter().map(|rule| rule.name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> ConfigFile {
        parse(text, Path::new("../conf/scission.toml")).unwrap()
    }

    fn refused(text: &str) -> String {
        let error = parse(text, Path::new("scission.toml")).unwrap_err().to_string();
        assert!(!error.contains('\n'), "one sentence: {error}");
        error
    }

    #[test]
    fn every_key_is_read() {
        let file = parsed(
            r#"
            paths = ["build/classes", "jrt:java.base"]
            class-path = ["lib/a.jar"]
            source = ["src"]
            rules = ["stale-value"]
            include = ["com.acme.*"]
            exclude = ["com.acme.gen.**"]
            strict = true
            fail-on = "never"
            baseline = "known.json"
            models = ["acme.models"]
            entry-points = ["com.acme.Server.handle*"]

            [levels]
            default = "medium"
            reacquired-lock = "high"

            [atomic]
            include = ["com.acme.**.update*"]
            exclude = ["com.acme.Cache"]

            [[suppress]]
            pattern = "com.acme.Legacy"
            rule = "reacquired-lock"
            reason = "goes away with 2.0"

            [[suppress]]
            pattern = "com.acme.Old.run"
            reason = "one thread"
            "#,
        );
        let path = |text: &str| PathBuf::from("../conf").join(text);
        assert_eq!(file.paths, Some(vec![path("build/classes"), "jrt:java.base".into()]));
        assert_eq!(file.class_path, Some(vec![path("lib/a.jar")]));
        assert_eq!(file.source, Some(vec![path("src")]));
        assert_eq!(file.models, Some(vec![path("acme.models")]));
        assert_eq!(file.baseline, Some(path("known.json")));
        assert_eq!(file.rules.unwrap()[0].name, "stale-value");
        assert_eq!(file.include, [Pattern::new("com.acme.*")]);
        assert_eq!(file.exclude, [Pattern::new("com.acme.gen.**")]);
        assert_eq!(file.strict, Some(true));
        assert_eq!(file.fail_on, Some(FailOn::Never));
        assert_eq!(file.entry_points, Some(vec![Pattern::new("com.acme.Server.handle*")]));
        assert_eq!(file.levels.of("stale-value"), Severity::Medium);
        assert_eq!(file.levels.of("reacquired-lock"), Severity::High);
        assert_eq!(file.atomic.include, [Pattern::new("com.acme.**.update*")]);
        assert_eq!(file.atomic.exclude, [Pattern::new("com.acme.Cache")]);
        let [first, second] = &file.suppressions[..] else { panic!("two suppressions") };
        assert_eq!(first.rule.unwrap().name, "reacquired-lock");
        assert_eq!(
            (first.reason.as_str(), first.place.as_str()),
            ("goes away with 2.0", "scission.toml:22")
        );
        assert!(second.rule.is_none());
    }

    #[test]
    fn an_empty_file_says_nothing() {
        let file = parsed("# later\n");
        assert!(file.paths.is_none() && file.strict.is_none() && file.suppressions.is_empty());
    }

    #[test]
    fn what_is_unknown_is_refused_with_its_line_and_the_nearest_name() {
        for (text, said) in [
            (
                "strict = true\n\nexlude = []",
                "unknown key `exlude` at scission.toml:3; did you mean `exclude`?",
            ),
            (
                "[levels]\ndefualt = \"low\"",
                "unknown key `defualt` at scission.toml:2; did you mean `default`?",
            ),
            (
                "[levels]\nstale-valeu = \"low\"",
                "unknown key `stale-valeu` at scission.toml:2; did you mean `stale-value`?",
            ),
            (
                "[atomic]\ninclud = []",
                "unknown key `includ` at scission.toml:2; did you mean `include`?",
            ),
            (
                "[[suppress]]\npattern = \"a\"\nreasons = \"b\"",
                "unknown key `reasons` at scission.toml:3; did you mean `reason`?",
            ),
            (
                "rules = [\n  \"stale-value\",\n  \"reaquired-lock\",\n]",
                "unknown rule `reaquired-lock` at scission.toml:3; did you mean `reacquired-lock`?",
            ),
            (
                "[levels]\ndefault = \"hgih\"",
                "unknown level `hgih` at scission.toml:2; did you mean `high`?",
            ),
            (
                "fail-on = \"nevr\"",
                "unknown level `nevr` at scission.toml:1; did you mean `never`?",
            ),
            (
                "[run]\narays = true",
                "unknown key `arays` at scission.toml:2; did you mean `arrays`?",
            ),
            (
                "[run]\nmonitors = [\"velodrom\"]",
                "unknown checker `velodrom` at scission.toml:2; did you mean `velodrome`?",
            ),
            (
                "[atomic]\nzebra = 1",
                "unknown key `zebra` at scission.toml:2; known are `include`, `exclude`",
            ),
        ] {
            assert_eq!(refused(text), said);
        }
        let rules: Vec<String> = rules::ALL.iter().map(|rule| format!("`{}`", rule.name)).collect();
        assert_eq!(
            refused("[levels]\nRULE = \"low\""),
            format!(
                "unknown key `RULE` at scission.toml:2; known are `default`, {}",
                rules.join(", ")
            )
        );
    }

    #[test]
    fn the_first_mistake_of_the_file_is_told() {
        assert!(refused("zebra = 1\napple = 1").contains("`zebra`"));
    }

    #[test]
    fn wrong_types_and_empty_values_are_refused() {
        for (text, said) in [
            ("paths = \"a\"", "`paths` at scission.toml:1: expected list of paths, found string"),
            (
                "\npaths = [1]",
                "`paths` at scission.toml:2: expected list of paths, found integer in it",
            ),
            ("strict = \"yes\"", "`strict` at scission.toml:1: expected `true` or `false`"),
            ("levels = 3", "`levels` at scission.toml:1: expected table"),
            ("baseline = []", "`baseline` at scission.toml:1: expected path"),
            ("suppress = [1]", "`suppress` at scission.toml:1: expected array of tables"),
            ("rules = []", "`rules` at scission.toml:1 is empty"),
            ("[run]\nmonitors = []", "`monitors` at scission.toml:2 is empty"),
            ("[run]\nhold-for = true", "`hold-for` at scission.toml:2: expected number, found"),
            (
                "[run]\nholds-per-site = 128",
                "`holds-per-site` at scission.toml:2: expected number from 1 to 127",
            ),
            ("[run]\narrays = 1", "`arrays` at scission.toml:2: expected `true` or `false`"),
            ("include = [\"\"]", "`` at scission.toml:1 is not a pattern: it is empty"),
            ("exclude = [\"a.b()\"]", "`a.b()` at scission.toml:1 is not a pattern"),
            ("[atomic]\ninclude = [\"a b\"]", "`a b` at scission.toml:2 is not a pattern"),
            ("[[suppress]]\npattern = \"a\"", "`[[suppress]]` at scission.toml:1 has no `reason`"),
            (
                "\n[[suppress]]\nreason = \"a\"",
                "`[[suppress]]` at scission.toml:2 has no `pattern`",
            ),
            (
                "[[suppress]]\npattern = \"a\"\nreason = \" \"",
                "`reason` at scission.toml:3 is empty",
            ),
            ("strict = true\nstrict = false", "scission.toml:2 is not TOML: duplicate key"),
            ("paths = [\n\"a\"", "scission.toml:2 is not TOML"),
        ] {
            let error = refused(text);
            assert!(error.contains(said), "{error}\ndoes not say\n{said}");
        }
    }

    #[test]
    fn every_key_is_documented() {
        let page = include_str!("../../../docs/configuration.md");
        for row in reference().lines() {
            assert!(
                page.contains(row),
                "docs/configuration.md lacks {row}; `cargo xtask docs` writes it"
            );
        }
    }
}

//! `cargo xtask bench warnings`: Table 2 of the Velodrome paper for the programs of this tree. See `bench/README.md`.
//!
//! Each program is watched five times by Atomizer and Velodrome together, so that both judge the same runs, and their
//! warnings are counted by method. What is true stands in `bench/programs/warnings.txt`, which people have written who
//! read the programs. A warning about a method that is not judged there is a failure, so that no figure rests on a guess.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::agent::Agent;
use crate::builds::{self, Profile};
use crate::{agent_bench, jdk, progress, root, target_directory, timed_run};

const JUDGED: &str = "bench/programs/warnings.txt";
const RUNS: u32 = 5;
const MOST_TIME: Duration = Duration::from_secs(240);

const ATOMIZER: &str = "irreducible-block";
const VELODROME: &str = "not-serializable";

/// A program, and what is true of its methods.
#[derive(Debug, Default, PartialEq, Eq)]
struct Subject {
    /// Its class below `programs`, and its arguments.
    command: Vec<String>,
    /// The lock that is taken out of it, as `--drop-lock` wants it.
    without: Option<String>,
    /// Methods that some run can split.
    not_atomic: BTreeSet<String>,
    /// Methods that no run can split, whatever a checker says.
    atomic: BTreeSet<String>,
}

/// Reads what people have judged.
fn parse(text: &str) -> Result<Vec<Subject>> {
    let mut subjects: Vec<Subject> = Vec::new();
    // Methods that are atomic in every program.
    let mut everywhere = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = || format!("{JUDGED}, line {}", number + 1);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (word, rest) = line.split_once(' ').with_context(wrong)?;
        let rest = rest.trim().to_owned();
        match word {
            "program" => {
                let command = rest.split(' ').map(str::to_owned).collect();
                subjects.push(Subject { command, ..Subject::default() });
                continue;
            }
            "everywhere-atomic" => {
                everywhere.insert(rest);
                continue;
            }
            _ => {}
        }
        let subject = subjects.last_mut().with_context(wrong)?;
        match word {
            "without" => subject.without = Some(rest),
            "not-atomic" => _ = subject.not_atomic.insert(rest),
            "atomic" => _ = subject.atomic.insert(rest),
            other => bail!("{}: `{other}` means nothing", wrong()),
        }
    }
    for subject in &mut subjects {
        subject.atomic.extend(everywhere.iter().cloned());
    }
    Ok(subjects)
}

/// What both checkers said of one program in all its runs.
#[derive(Debug, Default)]
struct Warnings {
    /// Methods, by rule.
    methods: BTreeMap<String, BTreeSet<String>>,
    /// Cycles, and those with a block to blame.
    cycles: usize,
    blamed: usize,
}

impl Warnings {
    fn add(&mut self, report: &Value) {
        let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
        for finding in findings {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let class = text(&finding["blame"]["class"]);
            let class = class.strip_prefix("programs.").unwrap_or(&class);
            let method = format!("{class}.{}", text(&finding["blame"]["method"]));
            let rule = text(&finding["rule"]);
            if rule == VELODROME {
                let transactions = finding["cycle"]["transactions"].as_array();
                let is_blamed = transactions
                    .is_some_and(|all| all.iter().any(|one| one["is_blamed"] == Value::Bool(true)));
                self.cycles += 1;
                self.blamed += usize::from(is_blamed);
            }
            self.methods.entry(rule).or_default().insert(method);
        }
    }

    fn of(&self, rule: &str) -> BTreeSet<String> {
        self.methods.get(rule).cloned().unwrap_or_default()
    }
}

/// A row of the table.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    /// True and false warnings of Atomizer.
    atomizer: (usize, usize),
    /// True and false warnings of Velodrome.
    velodrome: (usize, usize),
    /// Methods that are not atomic, of which Velodrome did not warn: what Atomizer found, and all.
    missed: (usize, usize),
    cycles: usize,
    blamed: usize,
}

impl Row {
    fn of(subject: &Subject, warnings: &Warnings) -> Result<Row> {
        let (atomizer, velodrome) = (warnings.of(ATOMIZER), warnings.of(VELODROME));
        let unjudged: Vec<&String> = atomizer
            .union(&velodrome)
            .filter(|it| !subject.not_atomic.contains(*it) && !subject.atomic.contains(*it))
            .collect();
        if !unjudged.is_empty() {
            bail!("{}: nobody has judged {unjudged:?}; {JUDGED} must say", subject.command[0]);
        }
        let split = |found: &BTreeSet<String>| {
            let is_true = found.intersection(&subject.not_atomic).count();
            (is_true, found.len() - is_true)
        };
        let missed = |wanted: &dyn Fn(&String) -> bool| {
            subject.not_atomic.difference(&velodrome).filter(|it| wanted(it)).count()
        };
        Ok(Row {
            atomizer: split(&atomizer),
            velodrome: split(&velodrome),
            missed: (missed(&|it| atomizer.contains(it)), missed(&|_| true)),
            cycles: warnings.cycles,
            blamed: warnings.blamed,
        })
    }

    fn add(&mut self, other: &Row) {
        for (mine, more) in [
            (&mut self.atomizer, other.atomizer),
            (&mut self.velodrome, other.velodrome),
            (&mut self.missed, other.missed),
        ] {
            *mine = (mine.0 + more.0, mine.1 + more.1);
        }
        self.cycles += other.cycles;
        self.blamed += other.blamed;
    }

    fn print(&self, name: &str) {
        println!(
            "{name:52}{:>8}{:>8}{:>12}{:>8}{:>16}{:>8}{:>9}{:>9}",
            self.atomizer.0,
            self.atomizer.1,
            self.velodrome.0,
            self.velodrome.1,
            self.missed.0,
            self.missed.1,
            self.cycles,
            self.blamed
        );
    }
}

/// Watches the programs of these names, or all, and prints the table.
pub(crate) fn count(names: &[&str]) -> Result<()> {
    let subjects = parse(&fs::read_to_string(root().join(JUDGED))?)?;
    let home = jdk::ensure()?;
    let scission = builds::command(Profile::Release)?;
    Agent::build()?;
    let folder = target_directory()?.join("bench").join("warnings");
    progress("compile bench/programs/");
    agent_bench::compile_programs(&home, &folder.join("classes"))?;
    let directory = WarningsDirectory { scission, java: home.join("bin/java"), folder };
    let mut rows = Vec::new();
    for subject in &subjects {
        let class = subject.command[0].as_str();
        if !names.is_empty() && !names.contains(&class) {
            continue;
        }
        let mut warnings = Warnings::default();
        for run in 1..=RUNS {
            progress(&format!("{class}, run {run} of {RUNS}"));
            warnings.add(&directory.watch(subject)?);
        }
        let name = match &subject.without {
            Some(lock) => {
                let lock = lock.split('(').next().unwrap_or_default();
                format!("{class} without {}", lock.rsplit(['$', '/']).next().unwrap_or_default())
            }
            None => class.to_owned(),
        };
        rows.push((name, Row::of(subject, &warnings)?));
    }
    println!(
        "{:52}{:>16}{:>20}{:>24}{:>18}",
        "", "Atomizer", "Velodrome", "missed by Velodrome", ""
    );
    println!(
        "{:52}{:>8}{:>8}{:>12}{:>8}{:>16}{:>8}{:>9}{:>9}",
        "program", "true", "false", "true", "false", "of Atomizer's", "of all", "cycles", "blamed"
    );
    let mut total = Row::default();
    for (name, row) in &rows {
        row.print(name);
        total.add(row);
    }
    total.print("all");
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "\n{:.0} % of the cycles have a block to blame; {:.0} % of Atomizer's warnings and {:.0} % of Velodrome's are false.",
        percent(total.blamed, total.cycles),
        percent(total.atomizer.1, total.atomizer.0 + total.atomizer.1),
        percent(total.velodrome.1, total.velodrome.0 + total.velodrome.1),
    );
    Ok(())
}

struct WarningsDirectory {
    scission: PathBuf,
    java: PathBuf,
    folder: PathBuf,
}

impl WarningsDirectory {
    /// The report of one run.
    fn watch(&self, subject: &Subject) -> Result<Value> {
        let file = self.folder.join("report.json");
        // The report of an earlier run must not be read as this one's.
        fs::write(&file, "")?;
        let mut command = Command::new(&self.scission);
        command
            .args(["run", "--no-config", "--require-agent", "--format", "json", "--output"])
            .arg(&file)
            .args(["--monitor", "atomizer", "--monitor", "velodrome"]);
        if let Some(lock) = &subject.without {
            command.args(["--drop-lock", lock]);
        }
        command
            .arg("--")
            .arg(&self.java)
            .arg("-cp")
            .arg(self.folder.join("classes"))
            .arg(format!("programs.{}", subject.command[0]))
            .args(&subject.command[1..]);
        let what = || subject.command.join(" ");
        timed_run::finish(&mut command, MOST_TIME).with_context(what)?;
        serde_json::from_str(&fs::read_to_string(&file)?)
            .with_context(|| format!("{} left no report", what()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_is_counted_and_what_is_not_is_an_error() {
        let text = "# a comment\nprogram Sor 300 4\n  not-atomic Sor.sweep   # reads what others write\n  atomic Sor.sum\n";
        let subjects = parse(text).unwrap();
        assert_eq!(subjects[0].command, ["Sor", "300", "4"]);
        let report = |methods: &[(&str, &str)]| {
            let finding = |(rule, method): &(&str, &str)| {
                serde_json::json!({
                    "rule": rule,
                    "blame": { "class": "programs.Sor", "method": method },
                    "cycle": { "transactions": [{ "is_blamed": *rule == VELODROME }] },
                })
            };
            serde_json::json!({ "findings": methods.iter().map(finding).collect::<Vec<_>>() })
        };
        let mut warnings = Warnings::default();
        warnings.add(&report(&[(ATOMIZER, "sweep"), (ATOMIZER, "sum")]));
        let row = Row::of(&subjects[0], &warnings).unwrap();
        assert_eq!((row.atomizer, row.velodrome, row.missed), ((1, 1), (0, 0), (1, 1)));
        warnings.add(&report(&[(VELODROME, "sweep")]));
        let row = Row::of(&subjects[0], &warnings).unwrap();
        assert_eq!((row.velodrome, row.missed, row.blamed), ((1, 0), (0, 0), 1));
        warnings.add(&report(&[(VELODROME, "other")]));
        let problem = Row::of(&subjects[0], &warnings).unwrap_err().to_string();
        assert!(problem.contains("Sor.other"), "{problem}");
        assert!(parse("not-atomic Sor.sweep").is_err());
        assert!(parse("program Sor\nperhaps Sor.sweep").is_err());
    }
}

//! `cargo xtask bench order`: the programs in `bench/order/`. Each good version rests on an order that the Java platform
//! promises, and nothing may be found in it; each bad version lacks that order, and its race must be found within
//! [`MOST_RUNS`] runs. The two halves are counted apart, and of the blind half nothing but counts is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::agent::Agent;
use crate::builds::{self, Profile};
use crate::{jdk, jvms, progress, root, run, target_directory, timed_run};

const RULE: &str = "happens-before-race";
const CHECKER: &str = "happens-before";
/// The checker that predicts.
const HYBRID: &str = "hybrid";
/// A bad version is run until its race is found, and not more often than this.
const MOST_RUNS: u32 = 20;
/// Programs end themselves long before.
const MOST_TIME: Duration = Duration::from_secs(60);
/// The limit, in per cent of the bad versions of a half. Of the good versions every one must be silent.
const LEAST_FOUND: f64 = 95.0;

/// The JVMs that the programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jvms {
    /// The JDK that compiles them.
    Own,
    /// One of each release that the agent is tried on.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    Tuned,
    Blind,
}

impl Half {
    const ALL: [Half; 2] = [Half::Tuned, Half::Blind];

    /// The folder in `bench/order/`.
    fn name(self) -> &'static str {
        match self {
            Half::Tuned => "tuned",
            Half::Blind => "blind",
        }
    }
}

/// A file of the suite: a program in two versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    half: Half,
    area: String,
    name: String,
}

/// What came of the good version.
#[derive(Debug)]
enum Good {
    Silent,
    /// These were reported, and are no races.
    Reported(BTreeSet<String>),
    /// It did not give what its order promises, or did not end.
    Failed(String),
    /// It needs a newer Java.
    Skipped,
}

/// What came of the bad version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bad {
    /// In this run, counted from 1.
    Found(u32),
    Missed,
    /// It needs a newer Java.
    Skipped,
}

struct Outcome<'p> {
    program: &'p Program,
    good: Good,
    bad: Bad,
}

/// Runs these programs, or a half that is named, or all; a false report or too many misses are a failure.
pub(crate) fn measure(jvms: Jvms, names: &[&str]) -> Result<()> {
    let programs = chosen(all_programs()?, names)?;
    let workshop = Workshop::set_up()?;
    let mut failures = Vec::new();
    let mut table = Vec::new();
    for (title, java) in java_programs(jvms, &workshop.home)? {
        let mut outcomes = Vec::new();
        for (index, program) in programs.iter().enumerate() {
            let outcome = workshop.try_both(&java, program)?;
            tell(&title, index + 1, programs.len(), &outcome);
            outcomes.push(outcome);
        }
        for half in Half::ALL {
            let count = Count::of(outcomes.iter().filter(|it| it.program.half == half));
            if count != Count::default() {
                failures
                    .extend(count.failure().map(|why| format!("{title}, {}: {why}", half.name())));
                table.push((title.clone(), half, count));
            }
        }
    }
    print(&table);
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    Ok(())
}

/// What the checker `hybrid` predicts in correct programs, by severity: a finding of severity high is a failure. Those of
/// severity medium are judged by hand, by cause, in `bench/README.md`.
pub(crate) fn predict(names: &[&str]) -> Result<()> {
    let programs = chosen(all_programs()?, names)?;
    let workshop = Workshop::set_up()?;
    let java = workshop.home.join("bin/java");
    let mut counts: BTreeMap<(Half, String), usize> = BTreeMap::new();
    for (index, program) in programs.iter().enumerate() {
        progress(&format!("hybrid, {} of {}", index + 1, programs.len()));
        let (_, report) = workshop.watch(&java, &program.name, "good", HYBRID)?;
        let findings = report["findings"].as_array().context("the report has no findings")?;
        for finding in findings {
            let severity = finding["severity"].as_str().context("a finding has no severity")?;
            if program.half == Half::Tuned && severity != "low" {
                println!("{severity}: {}: {}", program.name, finding["message"]);
            }
            *counts.entry((program.half, severity.to_owned())).or_default() += 1;
        }
        if findings.is_empty() {
            *counts.entry((program.half, "silent programs".to_owned())).or_default() += 1;
        }
    }
    for ((half, what), count) in &counts {
        println!("{:<5}  {what:<15}  {count:>4}", half.name());
    }
    if counts.keys().any(|(_, severity)| severity == "high") {
        bail!("a correct program has a finding of severity high");
    }
    Ok(())
}

/// Every file of the suite, tuned ones first.
fn all_programs() -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for half in Half::ALL {
        for area in entries(&root().join("bench/order").join(half.name()))? {
            for file in entries(&area)? {
                programs.push(Program { half, area: file_stem(&area), name: file_stem(&file) });
            }
        }
    }
    programs.sort();
    Ok(programs)
}

/// The programs that the words on the command line mean. Blind ones are not run one by one: that would tell how each does.
fn chosen(programs: Vec<Program>, names: &[&str]) -> Result<Vec<Program>> {
    if names.is_empty() {
        return Ok(programs);
    }
    for name in names {
        let is_half = Half::ALL.iter().any(|half| half.name() == *name);
        match programs.iter().find(|program| program.name == *name) {
            Some(program) if program.half == Half::Blind => {
                bail!("{name} is in the blind half, which is only run as a whole")
            }
            Some(_) => {}
            None if is_half => {}
            None => bail!("there is no program {name} in bench/order/, and no such half"),
        }
    }
    let is_meant = |program: &Program| {
        names.contains(&program.half.name()) || names.contains(&program.name.as_str())
    };
    Ok(programs.into_iter().filter(is_meant).collect())
}

/// The `java` of each JVM, with what it is called in the table.
fn java_programs(jvms: Jvms, own_home: &Path) -> Result<Vec<(String, PathBuf)>> {
    match jvms {
        Jvms::Own => Ok(vec![("JDK".to_owned(), own_home.join("bin/java"))]),
        Jvms::All => {
            jvms::ensure_all()?;
            let java =
                |release| Ok((format!("Java {release}"), jvms::home(release)?.join("bin/java")));
            jvms::releases().map(java).collect()
        }
    }
}

/// Where programs are compiled to and run.
struct Workshop {
    scission: PathBuf,
    /// The JDK that compiles.
    home: PathBuf,
    folder: PathBuf,
}

impl Workshop {
    fn set_up() -> Result<Workshop> {
        let home = jdk::ensure()?;
        let scission = builds::command(Profile::Release)?;
        Agent::build()?;
        let folder = target_directory()?.join("order");
        let classes = folder.join("classes");
        progress("compile bench/order/");
        fs::create_dir_all(&classes)
            .with_context(|| format!("{} cannot be made", classes.display()))?;
        let suite = root().join("bench/order");
        let mut sources = entries(&suite.join("support"))?;
        for program in all_programs()? {
            let file = format!("{}.java", program.name);
            sources.push(suite.join(program.half.name()).join(program.area).join(file));
        }
        run(jdk::javac(&home).args(["-g", "--release", "11", "-d"]).arg(&classes).args(sources))?;
        Ok(Workshop { scission, home, folder })
    }

    fn try_both<'p>(&self, java: &Path, program: &'p Program) -> Result<Outcome<'p>> {
        let good = self.try_good(java, &program.name)?;
        let bad = match good {
            Good::Skipped => Bad::Skipped,
            Good::Silent | Good::Reported(_) | Good::Failed(_) => {
                self.try_bad(java, &program.name)?
            }
        };
        Ok(Outcome { program, good, bad })
    }

    fn try_good(&self, java: &Path, name: &str) -> Result<Good> {
        let (output, report) = match self.watch(java, name, "good", CHECKER) {
            Ok(watched) => watched,
            Err(error) => return Ok(Good::Failed(format!("{error:#}"))),
        };
        if output.starts_with("skipped") {
            return Ok(Good::Skipped);
        }
        if output != "good 42\n" {
            return Ok(Good::Failed(format!("it said {output:?}")));
        }
        let reported = variables(&report)?;
        Ok(if reported.is_empty() { Good::Silent } else { Good::Reported(reported) })
    }

    fn try_bad(&self, java: &Path, name: &str) -> Result<Bad> {
        for run in 1..=MOST_RUNS {
            // A run that fails has found nothing; the next one may.
            let Ok((_, report)) = self.watch(java, name, "bad", CHECKER) else { continue };
            if variables(&report)?.iter().any(|variable| is_the_cell(variable)) {
                return Ok(Bad::Found(run));
            }
        }
        Ok(Bad::Missed)
    }

    /// Runs a version watched, and returns its own output and the report.
    fn watch(
        &self,
        java: &Path,
        name: &str,
        version: &str,
        checker: &str,
    ) -> Result<(String, Value)> {
        let file = self.folder.join("report.json");
        let errors = self.folder.join("standard-error");
        // A report of the run before must not be taken for one of this.
        fs::write(&file, "")?;
        let mut command = Command::new(&self.scission);
        command
            .args(["run", "--no-config", "--require-agent", "--monitor", checker])
            .args(["--format", "json", "--output"])
            .arg(&file)
            .arg("--")
            .arg(java)
            .arg("-cp")
            .arg(self.folder.join("classes"))
            .args([name, version])
            .stderr(File::create(&errors)?);
        let finished = timed_run::finish(&mut command, MOST_TIME)?;
        let report = serde_json::from_str(&fs::read_to_string(&file)?).with_context(|| {
            format!("there is no report:\n{}", fs::read_to_string(&errors).unwrap_or_default())
        })?;
        Ok((finished.output, report))
    }
}

/// The variables that races were found on. Only the checker for them runs: a finding of another rule is an error.
fn variables(report: &Value) -> Result<BTreeSet<String>> {
    let findings = report["findings"].as_array().context("the report has no findings")?;
    let variable = |finding: &Value| {
        if finding["rule"] != RULE {
            bail!("{} was found, although only {CHECKER} looks", finding["rule"]);
        }
        let variable = finding["subjects"]["variable"].as_str();
        variable.map(str::to_owned).context("a race names no variable")
    };
    findings.iter().map(variable).collect()
}

/// Whether a variable, such as `Name$Cell#3.value`, is the one that every bad version races on.
fn is_the_cell(variable: &str) -> bool {
    let Some((object, "value")) = variable.rsplit_once('.') else { return false };
    let class = object.split('#').next().unwrap_or_default();
    class.rsplit(['.', '$']).next() == Some("Cell")
}

/// Says what came of a program. Of a blind one only that it was run.
fn tell(title: &str, number: usize, of: usize, outcome: &Outcome<'_>) {
    let program = outcome.program;
    let place = format!("{title}, {number} of {of}");
    match program.half {
        Half::Blind => progress(&format!("{place}: blind")),
        Half::Tuned => {
            let good = match &outcome.good {
                Good::Silent => "silent".to_owned(),
                Good::Reported(variables) => {
                    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
                    format!("FALSE REPORT on {}", variables.join(", "))
                }
                Good::Failed(why) => format!("FAILED: {why}"),
                Good::Skipped => "skipped".to_owned(),
            };
            let bad = match outcome.bad {
                Bad::Found(run) => format!("found in run {run}"),
                Bad::Missed => "MISSED".to_owned(),
                Bad::Skipped => "skipped".to_owned(),
            };
            progress(&format!(
                "{place}: {}/{}: good {good}, bad {bad}",
                program.area, program.name
            ));
        }
    }
}

/// The figures of one half on one JVM.
#[derive(Debug, Default, PartialEq)]
struct Count {
    good: usize,
    silent: usize,
    bad: usize,
    found: usize,
    found_in_first_run: usize,
    skipped: usize,
}

impl Count {
    fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome<'o>>) -> Count {
        let mut count = Count::default();
        for outcome in outcomes {
            match outcome.good {
                Good::Silent => {
                    count.good += 1;
                    count.silent += 1;
                }
                Good::Reported(_) | Good::Failed(_) => count.good += 1,
                Good::Skipped => count.skipped += 1,
            }
            match outcome.bad {
                Bad::Found(run) => {
                    count.bad += 1;
                    count.found += 1;
                    count.found_in_first_run += usize::from(run == 1);
                }
                Bad::Missed => count.bad += 1,
                Bad::Skipped => {}
            }
        }
        count
    }

    /// Why the figures are not good enough.
    fn failure(&self) -> Option<String> {
        let found = 100.0 * self.found as f64 / self.bad.max(1) as f64;
        if self.good + self.bad == 0 {
            None
        } else if self.silent < self.good {
            Some(format!(
                "{} of {} correct programs are not silent",
                self.good - self.silent,
                self.good
            ))
        } else if found < LEAST_FOUND {
            Some(format!("{found:.1} % of the races are found, and not {LEAST_FOUND:.0} %"))
        } else {
            None
        }
    }
}

fn print(table: &[(String, Half, Count)]) {
    println!("JVM      half    good  silent   bad   found  in the first run  skipped");
    for (title, half, count) in table {
        println!(
            "{title:<7}  {:<5}  {:>5}  {:>6}  {:>4}  {:>6}  {:>16}  {:>7}",
            half.name(),
            count.good,
            count.silent,
            count.bad,
            count.found,
            count.found_in_first_run,
            count.skipped
        );
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect())
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(half: Half, name: &str) -> Program {
        Program { half, area: "area".to_owned(), name: name.to_owned() }
    }

    #[test]
    fn only_the_field_of_the_cell_counts() {
        for variable in ["Cell#1.value", "MonitorBlock$Cell#12.value", "MonitorBlock.Cell.value"] {
            assert!(is_the_cell(variable), "{variable}");
        }
        for variable in ["FinalCell#1.value", "Cell#1.other", "Holder#2.Cell", "value"] {
            assert!(!is_the_cell(variable), "{variable}");
        }
    }

    #[test]
    fn blind_programs_are_only_run_together() {
        let all =
            vec![program(Half::Tuned, "A"), program(Half::Tuned, "B"), program(Half::Blind, "C")];
        let names = |words: &[&str]| -> Vec<String> {
            let programs = chosen(all.clone(), words).unwrap();
            programs.into_iter().map(|program| program.name).collect()
        };
        assert_eq!(names(&[]), ["A", "B", "C"]);
        assert_eq!(names(&["B"]), ["B"]);
        assert_eq!(names(&["blind"]), ["C"]);
        assert!(chosen(all.clone(), &["C"]).is_err());
        assert!(chosen(all.clone(), &["D"]).is_err());
    }

    #[test]
    fn false_reports_and_misses_are_failures() {
        let program = program(Half::Tuned, "A");
        let count = |good, bad| Count::of([Outcome { program: &program, good, bad }].iter());
        assert_eq!(count(Good::Silent, Bad::Found(3)).failure(), None);
        assert_eq!(count(Good::Skipped, Bad::Skipped).failure(), None);
        assert!(count(Good::Silent, Bad::Missed).failure().is_some());
        let reported = Good::Reported(BTreeSet::from(["A$Cell#1.value".to_owned()]));
        assert!(count(reported, Bad::Found(1)).failure().is_some());
        assert!(count(Good::Failed("it hangs".to_owned()), Bad::Found(1)).failure().is_some());
    }

    #[test]
    fn names_are_unique_and_halves_are_balanced() {
        let programs = all_programs().unwrap();
        let names: BTreeSet<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names.len(), programs.len());
        let areas: BTreeSet<&str> = programs.iter().map(|program| program.area.as_str()).collect();
        for area in areas {
            let count = |half| {
                let is_there = |it: &&Program| it.half == half && it.area == area;
                programs.iter().filter(is_there).count()
            };
            assert!(count(Half::Tuned).abs_diff(count(Half::Blind)) <= 1, "{area}");
        }
    }
}

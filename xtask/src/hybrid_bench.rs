//! `cargo xtask bench hybrid`: Figure 6 of the HAVE paper for the programs of this tree. See `bench/README.md`.
//!
//! Each program is run plain, with hooks alone, with the checker `hybrid` looking at what happened only, and with it looking
//! at the sides of branches that were not taken as well. Which of the blamed methods are defects stands in
//! `bench/hybrid.txt`, which people have written who read the programs. A method that is not judged there is a failure, so
//! that no figure rests on a guess.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::agent::Agent;
use crate::agent_bench::{self, KERNELS, Rounds, geometric_mean};
use crate::bench::median;
use crate::builds::{self, Profile};
use crate::judged_methods::{JudgedProgram, Judgement};
use crate::{debian, jdk, judged_methods, progress, root, run, target_directory, timed_run};

const JUDGED: &str = "bench/hybrid.txt";
const RULE: &str = "breakable-block";
const ROUNDS: usize = 3;
/// A program that takes longer in any way of running is a failure.
const MOST_TIME: Duration = Duration::from_secs(60);

/// The limits: geometric means over the kernels of `bench agent`.
const MOST_OVER_BASE: f64 = 6.0;
const MOST_OVER_DYNAMIC: f64 = 2.0;

/// The driver that is compiled against Tomcat's jars.
const TOMCAT_DRIVER: &str = "Requests";
const TOMCAT_PACKAGE: &str = "libtomcat10-java";

/// Reads what the coverage agent has recorded, with these jars.
const COVERAGE_PACKAGE: &str = "libjacoco-java";
const COVERAGE_READER: &str = "bench/LineCoverage.java";
const COVERAGE_JARS: [&str; 4] =
    ["org.jacoco.core.jar", "asm.jar", "asm-commons.jar", "asm-tree.jar"];
/// What measures programs and starts their threads is none of them.
const NOT_COVERED: &str = "programs.Measurement*:programs.Alternation*";

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// Without the agent.
    Base,
    /// Classes are rewritten, hooks and filters run, and events are discarded.
    Hooks,
    /// The checker considers what happened.
    Dynamic,
    /// It considers the other sides of branches as well.
    Hybrid,
}

impl Way {
    const ALL: [Way; 4] = [Way::Base, Way::Hooks, Way::Dynamic, Way::Hybrid];

    fn name(self) -> &'static str {
        match self {
            Way::Base => "base",
            Way::Hooks => "hooks",
            Way::Dynamic => "dynamic",
            Way::Hybrid => "hybrid",
        }
    }

    /// The flags of `scission run`; none for a run without it.
    fn flags(self) -> Option<&'static [&'static str]> {
        match self {
            Way::Base => None,
            Way::Hooks => Some(&["--hooks-only"]),
            Way::Dynamic => Some(&["--monitor", "hybrid", "--no-speculation"]),
            Way::Hybrid => Some(&["--monitor", "hybrid"]),
        }
    }
}

/// What the checker said of a program, in all rounds of one way.
#[derive(Debug, Default, PartialEq, Eq)]
struct Violations {
    /// The places of the operations that take part, as sets: a violation at the same places counts once.
    places: BTreeSet<BTreeSet<String>>,
    methods: BTreeSet<String>,
}

impl Violations {
    fn add(&mut self, report: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let method = |site: &Value| {
            let class = text(&site["class"]);
            let class = class.strip_prefix("programs.").unwrap_or(&class);
            format!("{class}.{}", text(&site["method"]))
        };
        let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
        for finding in findings.iter().filter(|finding| finding["rule"] == RULE) {
            let steps = finding["witness"].as_array().map_or(&[][..], Vec::as_slice);
            let is_operation = |step: &&Value| {
                matches!(step["role"].as_str(), Some("first" | "second" | "interferes"))
            };
            let place = |step: &Value| format!("{}:{}", method(step), step["line"]);
            self.places.insert(steps.iter().filter(is_operation).map(place).collect());
            self.methods.insert(method(&finding["blame"]));
        }
    }
}

/// The number of methods that were blamed: defects, benign and false ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Verdicts {
    bugs: usize,
    benign: usize,
    wrong: usize,
    unjudged: usize,
}

impl Verdicts {
    fn of(program: &JudgedProgram, methods: &BTreeSet<String>) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for method in methods {
            match program.judgement(method) {
                Some(Judgement::Bug) => verdicts.bugs += 1,
                Some(Judgement::Benign) => verdicts.benign += 1,
                Some(Judgement::False) => verdicts.wrong += 1,
                None => verdicts.unjudged += 1,
            }
        }
        verdicts
    }

    fn text(self) -> String {
        let Verdicts { bugs, benign, wrong, unjudged } = self;
        let judged = format!("{bugs}-{benign}-{wrong}");
        if unjudged == 0 { judged } else { format!("{judged} +{unjudged}?") }
    }
}

/// How long the runs of one way took.
#[derive(Debug, Default)]
struct Times {
    micros: Vec<u64>,
    /// A run that was ended because it took too long. No other is made.
    is_too_long: bool,
}

/// All runs of one program.
#[derive(Debug, Default)]
struct Row {
    name: String,
    times: BTreeMap<Way, Times>,
    violations: BTreeMap<Way, Violations>,
    /// The result that the program prints, which no way of running may change.
    checksum: Option<String>,
    /// Lines that the run executed, and lines of the classes that it used.
    coverage: Option<(u64, u64)>,
}

impl Row {
    fn seconds(&self, way: Way) -> Option<f64> {
        let times = self.times.get(&way).filter(|times| !times.is_too_long)?;
        let micros = median(times.micros.iter().copied());
        (micros > 0).then_some(micros as f64 / 1e6)
    }

    fn ratio(&self, way: Way, to: Way) -> Option<f64> {
        Some(self.seconds(way)? / self.seconds(to)?)
    }

    fn is_too_long(&self, way: Way) -> bool {
        self.times.get(&way).is_some_and(|times| times.is_too_long)
    }

    /// A time relative to the plain run, or that it was too long.
    fn factor_text(&self, way: Way) -> String {
        if self.is_too_long(way) {
            return format!("> {} s", MOST_TIME.as_secs());
        }
        self.ratio(way, Way::Base).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
    }

    /// Whatever the way, the program computes the same.
    fn agree(&mut self, way: Way, checksum: &str) -> Result<()> {
        let expected = self.checksum.get_or_insert_with(|| checksum.to_owned());
        if expected != checksum {
            let (name, way) = (&self.name, way.name());
            bail!("{name}, {way}: the checksum is `{checksum}`, not `{expected}`");
        }
        Ok(())
    }

    fn is_kernel(&self) -> bool {
        KERNELS.contains(&self.name.as_str())
    }

    fn print(&self, judged: Option<&JudgedProgram>) {
        let base = match self.seconds(Way::Base) {
            Some(seconds) => format!("{seconds:.2}"),
            None => self.factor_text(Way::Base),
        };
        let ratio = self.ratio(Way::Hybrid, Way::Dynamic);
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let said = |way: Way| {
            let violations = self.violations.get(&way).filter(|_| !self.is_too_long(way));
            let (Some(judged), Some(violations)) = (judged, violations) else {
                return ["-".to_owned(), "-".to_owned()];
            };
            let verdicts = Verdicts::of(judged, &violations.methods);
            [violations.places.len().to_string(), verdicts.text()]
        };
        let [dynamic, dynamic_methods] = said(Way::Dynamic);
        let [hybrid, hybrid_methods] = said(Way::Hybrid);
        let coverage = self.coverage.map_or_else(
            || "-".to_owned(),
            |(covered, all)| format!("{:.1} %", 100.0 * covered as f64 / all.max(1) as f64),
        );
        println!(
            "{:16}{base:>8}{:>8}{:>10}{:>9}{ratio:>10}{dynamic:>9}{dynamic_methods:>10}{hybrid:>8}{hybrid_methods:>10}{coverage:>10}",
            self.name,
            self.factor_text(Way::Hooks),
            self.factor_text(Way::Dynamic),
            self.factor_text(Way::Hybrid),
        );
    }
}

/// Measures the programs of these names, or all, and prints the table; what is over a limit, takes too long or is not judged
/// is a failure.
pub(crate) fn measure(rounds: Rounds, names: &[&str]) -> Result<()> {
    let rounds = match rounds {
        Rounds::Full => ROUNDS,
        Rounds::Quick => 1,
    };
    let judged = judged_methods::parse(&fs::read_to_string(root().join(JUDGED))?, JUDGED)?;
    let mut rows: Vec<Row> = all_programs(&judged);
    for name in names {
        if !rows.iter().any(|row| row.name == *name) {
            let known: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
            bail!("there is no program {name}, only {}", known.join(", "));
        }
    }
    rows.retain(|row| names.is_empty() || names.contains(&row.name.as_str()));
    let directory = HybridDirectory::set_up(rows.iter().any(|row| row.name == TOMCAT_DRIVER))?;
    for round in 1..=rounds {
        for row in &mut rows {
            progress(&format!("round {round} of {rounds}: {}", row.name));
            for way in Way::ALL {
                directory.add_run(row, way)?;
            }
        }
    }
    for row in rows.iter_mut().filter(|row| judged.contains_key(&row.name)) {
        progress(&format!("coverage: {}", row.name));
        row.coverage = directory.coverage(&row.name)?;
    }
    print_table(&rows, &judged);
    let problems = problems(&rows, &judged);
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

/// The programs that are judged, and then the other kernels, of which only the time counts.
fn all_programs(judged: &BTreeMap<String, JudgedProgram>) -> Vec<Row> {
    let mut judged: Vec<&JudgedProgram> = judged.values().collect();
    judged.sort_by_key(|program| program.line);
    let names = judged.into_iter().map(|program| program.name.as_str());
    let mut rows: Vec<Row> = Vec::new();
    for name in names.chain(KERNELS) {
        if !rows.iter().any(|row| row.name == name) {
            rows.push(Row { name: name.to_owned(), ..Row::default() });
        }
    }
    rows
}

fn print_table(rows: &[Row], judged: &BTreeMap<String, JudgedProgram>) {
    println!("{:61}{:>19}{:>18}", "", "dynamic", "hybrid");
    println!(
        "{:16}{:>8}{:>8}{:>10}{:>9}{:>10}{:>9}{:>10}{:>8}{:>10}{:>10}",
        "program",
        "base s",
        "hooks x",
        "dynamic x",
        "hybrid x",
        "h/d",
        "places",
        "methods",
        "places",
        "methods",
        "lines"
    );
    for row in rows {
        row.print(judged.get(&row.name));
    }
    println!(
        "{:42}{:>9.2}{:>10.2}",
        "geometric mean of the kernels",
        mean(rows, Way::Base),
        mean(rows, Way::Dynamic)
    );
    println!("(methods: bug - benign - false; `+n?` are not judged)");
    for row in rows {
        let Some(program) = judged.get(&row.name) else { continue };
        for method in unjudged(row, program) {
            println!("not judged: {method} of {}", row.name);
        }
    }
}

/// The mean of hybrid runs relative to others, over the kernels that were measured in both ways.
fn mean(rows: &[Row], to: Way) -> f64 {
    let kernels = rows.iter().filter(|row| row.is_kernel());
    geometric_mean(kernels.filter_map(|row| row.ratio(Way::Hybrid, to)))
}

fn unjudged<'a>(row: &'a Row, program: &JudgedProgram) -> BTreeSet<&'a String> {
    let methods = row.violations.values().flat_map(|violations| &violations.methods);
    methods.filter(|method| program.judgement(method).is_none()).collect()
}

fn problems(rows: &[Row], judged: &BTreeMap<String, JudgedProgram>) -> Vec<String> {
    let mut problems = Vec::new();
    for row in rows {
        for way in Way::ALL {
            if row.is_too_long(way) {
                let most = MOST_TIME.as_secs();
                problems.push(format!("{}, {}: over {most} s", row.name, way.name()));
            }
        }
        let unjudged = judged.get(&row.name).map(|program| unjudged(row, program));
        if let Some(unjudged) = unjudged.filter(|methods| !methods.is_empty()) {
            problems.push(format!("{}: {JUDGED} must judge {unjudged:?}", row.name));
        }
    }
    let limits = [(Way::Base, MOST_OVER_BASE), (Way::Dynamic, MOST_OVER_DYNAMIC)];
    for (to, most) in limits {
        let mean = mean(rows, to);
        // Somebody may want to measure no kernel.
        if rows.iter().any(Row::is_kernel) && mean > most {
            let to = to.name();
            problems.push(format!("hybrid takes {mean:.2}x of {to} on the kernels, over {most}x"));
        }
    }
    problems
}

/// Where programs are compiled to and run.
struct HybridDirectory {
    scission: PathBuf,
    home: PathBuf,
    folder: PathBuf,
    /// The jars that the driver for Tomcat needs.
    tomcat: Vec<PathBuf>,
}

impl HybridDirectory {
    fn set_up(needs_tomcat: bool) -> Result<HybridDirectory> {
        let home = jdk::ensure()?;
        let scission = builds::command(Profile::Release)?;
        // Beside the command, which looks for it there.
        Agent::build()?;
        debian::ensure(&[COVERAGE_PACKAGE])?;
        let folder = target_directory()?.join("bench").join("hybrid");
        let classes = folder.join("classes");
        progress("compile bench/programs/");
        agent_bench::compile_programs(&home, &classes)?;
        let mut tomcat = Vec::new();
        if needs_tomcat {
            debian::ensure(&[TOMCAT_PACKAGE])?;
            tomcat = debian::jars_of(TOMCAT_PACKAGE)?;
            let mut class_path = tomcat.clone();
            class_path.push(classes.clone());
            let source = root().join(format!("bench/tomcat/{TOMCAT_DRIVER}.java"));
            let mut compile = jdk::javac(&home);
            compile.args(["-g", "--release", "11", "-d"]).arg(folder.join("tomcat"));
            run(compile.arg("-cp").arg(std::env::join_paths(class_path)?).arg(source))?;
        }
        Ok(HybridDirectory { scission, home, folder, tomcat })
    }

    /// The classes of a program, and the jars that it needs.
    fn class_path(&self, program: &str) -> Vec<PathBuf> {
        let mut class_path = vec![self.folder.join("classes")];
        if program == TOMCAT_DRIVER {
            class_path.push(self.folder.join("tomcat"));
            class_path.extend(self.tomcat.iter().cloned());
        }
        class_path
    }

    /// The launcher and its arguments.
    fn java(&self, program: &str, flags: &[String]) -> Result<Vec<std::ffi::OsString>> {
        let class_path = std::env::join_paths(self.class_path(program))?;
        let mut words = vec![self.home.join("bin/java").into_os_string()];
        words.extend(flags.iter().map(Into::into));
        words.extend(["-cp".into(), class_path, format!("programs.{program}").into()]);
        Ok(words)
    }

    /// Runs a program once more, unless it took too long before.
    fn add_run(&self, row: &mut Row, way: Way) -> Result<()> {
        if row.is_too_long(way) || row.is_too_long(Way::Base) {
            return Ok(());
        }
        let what = || format!("{}, {}", row.name, way.name());
        let report = self.folder.join("report.json");
        // The report of an earlier run must not be read as this one's.
        fs::write(&report, "")?;
        let words = self.java(&row.name, &[])?;
        let mut command = match way.flags() {
            None => Command::new(&words[0]),
            Some(flags) => {
                let mut command = Command::new(&self.scission);
                command.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
                command.args(["--format", "json", "--output"]).arg(&report);
                command.args(flags).args(["--libraries", "full", "--"]).arg(&words[0]);
                command
            }
        };
        command.args(&words[1..]);
        let finished = timed_run::finish_within(&mut command, MOST_TIME).with_context(what)?;
        let Some(finished) = finished else {
            row.times.entry(way).or_default().is_too_long = true;
            return Ok(());
        };
        if !finished.status.success() {
            bail!("{}: ended with {}", what(), finished.status);
        }
        let checksum = finished.output.lines().find_map(|line| line.strip_prefix("checksum "));
        row.agree(way, checksum.unwrap_or_default())?;
        row.times.entry(way).or_default().micros.push(u64::try_from(finished.wall.as_micros())?);
        if matches!(way, Way::Dynamic | Way::Hybrid) {
            let report = serde_json::from_str(&fs::read_to_string(&report)?)
                .with_context(|| format!("{}, {} left no report", row.name, way.name()))?;
            row.violations.entry(way).or_default().add(&report);
        }
        Ok(())
    }

    /// Lines that a run executes, and lines of the classes that it uses; nothing when it takes too long.
    fn coverage(&self, program: &str) -> Result<Option<(u64, u64)>> {
        let recorded = self.folder.join("coverage.exec");
        if recorded.exists() {
            fs::remove_file(&recorded)?;
        }
        let agent = target_directory()?.join("test-programs").join("jacocoagent.jar");
        if !agent.is_file() {
            bail!("there is no {} (`cargo xtask prepare`)", agent.display());
        }
        let included = if program == TOMCAT_DRIVER { "org.apache.*" } else { "programs.*" };
        let flag = format!(
            "-javaagent:{}=destfile={},includes={included},excludes={NOT_COVERED}",
            agent.display(),
            recorded.display()
        );
        let words = self.java(program, &[flag])?;
        let mut command = Command::new(&words[0]);
        if timed_run::finish_within(command.args(&words[1..]), MOST_TIME)?.is_none() {
            return Ok(None);
        }
        let jars = COVERAGE_JARS.map(|jar| Path::new("/usr/share/java").join(jar));
        let mut reader = Command::new(self.home.join("bin/java"));
        reader.arg("-cp").arg(std::env::join_paths(jars)?).arg(root().join(COVERAGE_READER));
        reader.arg(&recorded).args(self.class_path(program));
        let read = timed_run::finish(&mut reader, MOST_TIME)?;
        let lines: Vec<u64> =
            read.output.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match lines.as_slice() {
            [covered, all] => Ok(Some((*covered, *all))),
            _ => bail!("{program}: {COVERAGE_READER} said `{}`", read.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged() -> BTreeMap<String, JudgedProgram> {
        let text = "program Sor\n  bug Sor.sweep: reads what others write\n  false Sor.sum: all threads have ended\n";
        judged_methods::parse(text, JUDGED).unwrap()
    }

    fn row(base: u64, dynamic: u64, hybrid: u64) -> Row {
        let mut row = Row { name: "Sor".to_owned(), ..Row::default() };
        let seconds = [(Way::Base, base), (Way::Dynamic, dynamic), (Way::Hybrid, hybrid)];
        for (way, seconds) in seconds {
            row.times.insert(way, Times { micros: vec![seconds * 1_000_000], is_too_long: false });
        }
        row
    }

    fn report(methods: &[&str]) -> Value {
        let finding = |method: &&str| {
            let step = |role: &str, line: u32| {
                serde_json::json!({
                    "role": role, "class": "programs.Sor", "method": method, "line": line,
                })
            };
            serde_json::json!({
                "rule": RULE,
                "blame": { "class": "programs.Sor", "method": method },
                "witness": [step("block", 1), step("first", 2), step("interferes", 3), step("second", 4)],
            })
        };
        serde_json::json!({ "findings": methods.iter().map(finding).collect::<Vec<_>>() })
    }

    #[test]
    fn violations_are_counted_by_place_and_methods_by_judgement() {
        let mut violations = Violations::default();
        violations.add(&report(&["sweep", "sum", "sweep"]));
        assert_eq!(violations.places.len(), 2);
        let judged = judged();
        assert_eq!(Verdicts::of(&judged["Sor"], &violations.methods).text(), "1-0-1");
        violations.add(&report(&["other"]));
        assert_eq!(Verdicts::of(&judged["Sor"], &violations.methods).text(), "1-0-1 +1?");
        let mut row = row(1, 2, 3);
        row.violations.insert(Way::Hybrid, violations);
        let problems = problems(&[row], &judged).join("; ");
        assert!(problems.contains("Sor.other"), "{problems}");
    }

    #[test]
    fn each_limit_is_kept() {
        let judged = judged();
        let said = |row: Row| problems(&[row], &judged).join("; ");
        assert_eq!(said(row(1, 4, 6)), "");
        assert!(said(row(1, 4, 7)).contains("7.00x of base"));
        assert!(said(row(2, 2, 5)).contains("2.50x of dynamic"));
        let mut endless = row(1, 1, 1);
        endless.times.entry(Way::Hybrid).or_default().is_too_long = true;
        assert_eq!(endless.factor_text(Way::Hybrid), "> 60 s");
        assert!(said(endless).contains("Sor, hybrid: over 60 s"));
    }

    #[test]
    fn different_results_are_an_error() {
        let mut row = row(1, 1, 1);
        assert!(row.agree(Way::Base, "a").is_ok());
        assert!(row.agree(Way::Hybrid, "a").is_ok());
        assert!(row.agree(Way::Hybrid, "b").is_err());
    }

    #[test]
    fn judged_programs_come_first_and_kernels_once() {
        let rows = all_programs(&judged());
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names[0], "Sor");
        assert_eq!(names.iter().filter(|name| **name == "Sor").count(), 1);
        assert_eq!(names.len(), KERNELS.len());
    }

    #[test]
    fn the_judgements_of_this_tree_can_be_read() {
        let text = fs::read_to_string(root().join(JUDGED)).unwrap();
        assert!(judged_methods::parse(&text, JUDGED).unwrap().len() >= 8);
    }
}

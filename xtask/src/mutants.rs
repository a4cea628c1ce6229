//! `cargo xtask bench mutants`: defect injection, as in section 6 of the paper on Velodrome. Each contended
//! lock is removed from a correct program, one at a time, and one run without it is watched, plain and with
//! delayed threads: is the defect detected? See `bench/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use events::{Action, ObjectId, SiteId, ThreadId, TraceReader};
use serde_json::Value;

use crate::agent::Agent;
use crate::builds::{self, Profile};
use crate::{agent_bench, jdk, progress, target_directory, timed_run};

/// The programs in `bench/programs/mutants/`.
const PROGRAMS: [&str; 3] = ["ElevatorSimulation", "ConnectionPool", "Collections"];
const PACKAGE: &str = "programs.mutants";

/// How often each program is watched as it is, in each mode: it must be silent every time.
const RUNS_AS_IT_IS: u64 = 3;
/// Programs end themselves long before.
const MOST_TIME: Duration = Duration::from_secs(240);

/// The limits, in per cent of the mutants.
const LEAST_PLAIN: f64 = 50.0;
const LEAST_ADVERSARIAL: f64 = 85.0;

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Plain,
    /// Threads are delayed, with this seed.
    Adversarial(u64),
}

/// What came of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// Velodrome reports a split block.
    Split,
    /// Only happens-before has found something.
    RaceOnly,
    Nothing,
    /// A thread waited or notified without the lock, and the JVM threw an exception.
    Died,
}

impl fmt::Display for Detection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Detection::Split => "yes",
            Detection::RaceOnly => "race only",
            Detection::Nothing => "no",
            Detection::Died => "dies",
        })
    }
}

/// A `synchronized` of a program.
struct Lock {
    /// As `--drop-lock` wants it.
    name: String,
    /// For people: the method and the line.
    title: String,
    /// Whether two threads acquired its lock.
    is_contended: bool,
}

/// A program without one of its locks.
struct Mutant {
    program: &'static str,
    title: String,
    plain: Detection,
    adversarial: Detection,
}

/// Removes every contended lock of these programs, or of all; fails if too few are detected.
pub(crate) fn measure(names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !PROGRAMS.contains(name)) {
        bail!("there is no program {unknown}, only {}", PROGRAMS.join(", "));
    }
    let directory = MutantDirectory::set_up()?;
    let mut mutants = Vec::new();
    let mut left_out = Vec::new();
    for program in PROGRAMS {
        if !names.is_empty() && !names.contains(&program) {
            continue;
        }
        directory.must_be_silent(program)?;
        let (contended, others): (Vec<Lock>, Vec<Lock>) =
            directory.locks(program)?.into_iter().partition(|lock| lock.is_contended);
        left_out.extend(others.into_iter().map(|lock| (program, lock.title)));
        for (index, lock) in contended.iter().enumerate() {
            let mutant = Mutant {
                program,
                title: lock.title.clone(),
                plain: directory.without(program, lock, Mode::Plain)?,
                adversarial: directory.without(program, lock, Mode::Adversarial(1))?,
            };
            progress(&format!(
                "{} of {}: {program}, {}: {}, {}",
                index + 1,
                contended.len(),
                mutant.title,
                mutant.plain,
                mutant.adversarial
            ));
            mutants.push(mutant);
        }
    }
    print(&mutants, &left_out);
    judge(&mutants)
}

/// Where programs are compiled to and run.
struct MutantDirectory {
    scission: PathBuf,
    java: PathBuf,
    folder: PathBuf,
}

impl MutantDirectory {
    fn set_up() -> Result<MutantDirectory> {
        let home = jdk::ensure()?;
        let scission = builds::command(Profile::Release)?;
        Agent::build()?;
        let folder = target_directory()?.join("bench").join("mutants");
        progress("compile bench/programs/");
        agent_bench::compile_programs(&home, &folder.join("classes"))?;
        Ok(MutantDirectory { scission, java: home.join("bin/java"), folder })
    }

    /// Runs a program with the agent. Its standard output is discarded; its standard error is kept in a
    /// file beside the report.
    fn run_with_agent(&self, program: &str, flags: &[&str]) -> Result<String> {
        let errors = self.folder.join("standard-error");
        let mut command = Command::new(&self.scission);
        command
            .args(["run", "--no-config", "--require-agent"])
            .args(flags)
            .arg("--")
            .arg(&self.java)
            .arg("-cp")
            .arg(self.folder.join("classes"))
            .arg(format!("{PACKAGE}.{program}"))
            .stderr(File::create(&errors)?);
        timed_run::finish(&mut command, MOST_TIME).with_context(|| program.to_owned())?;
        Ok(String::from_utf8_lossy(&fs::read(&errors)?).into_owned())
    }

    /// The report of a run, and the standard error of the program.
    fn report(&self, program: &str, mode: Mode, flags: &[&str]) -> Result<(Value, String)> {
        let file = self.folder.join("report.json");
        let path = file.display().to_string();
        let mut all = vec!["--format", "json", "--output", &path];
        let seed = match mode {
            Mode::Plain => None,
            Mode::Adversarial(seed) => Some(seed.to_string()),
        };
        if let Some(seed) = &seed {
            all.extend(["--adversarial", "--seed", seed]);
        }
        all.extend(flags);
        // The report of an earlier run must not be read as this one's.
        fs::write(&file, "")?;
        let errors = self.run_with_agent(program, &all)?;
        let report = serde_json::from_str(&fs::read_to_string(&file)?)
            .with_context(|| format!("{program} left no report:\n{errors}"))?;
        Ok((report, errors))
    }

    /// A program that has all its locks is correct, and nothing may be found in it.
    fn must_be_silent(&self, program: &str) -> Result<()> {
        for run in 1..=RUNS_AS_IT_IS {
            for mode in [Mode::Plain, Mode::Adversarial(run)] {
                progress(&format!("{program} as it is, {mode:?}, {run} of {RUNS_AS_IT_IS}"));
                let (report, errors) = self.report(program, mode, &[])?;
                let rules = rules(&report);
                if !rules.is_empty() || !errors.is_empty() {
                    let rules: Vec<&str> = rules.into_iter().collect();
                    bail!("{program} has all its locks, and yet: {}\n{errors}", rules.join(", "));
                }
            }
        }
        Ok(())
    }

    /// The locks that a recorded run acquired, in the order of their names.
    fn locks(&self, program: &str) -> Result<Vec<Lock>> {
        let trace = self.folder.join("recorded.trace");
        let path = trace.display().to_string();
        let errors = self.run_with_agent(program, &["--monitor", "none", "--record", &path])?;
        let locks = locks_in(&trace).with_context(|| format!("{program}: {errors}"))?;
        fs::remove_file(&trace)?;
        Ok(locks)
    }

    /// Whether one run without a lock shows that it is missing.
    fn without(&self, program: &str, lock: &Lock, mode: Mode) -> Result<Detection> {
        let (report, errors) = self.report(program, mode, &["--drop-lock", &lock.name])?;
        let is_dropped = report["remarks"].as_array().is_some_and(|remarks| {
            remarks.iter().filter_map(Value::as_str).any(|remark| remark.contains(&lock.name))
        });
        if !is_dropped {
            bail!("{program} ran with the lock {}, which was to be taken out", lock.name);
        }
        let rules = rules(&report);
        Ok(if errors.contains("IllegalMonitorStateException") {
            Detection::Died
        } else if rules.contains("not-serializable") {
            Detection::Split
        } else if rules.contains("happens-before-race") {
            Detection::RaceOnly
        } else {
            Detection::Nothing
        })
    }
}

/// The rules that a report has findings of.
fn rules(report: &Value) -> BTreeSet<&str> {
    let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
    findings.iter().filter_map(|finding| finding["rule"].as_str()).collect()
}

/// Every `synchronized` of the program whose lock was acquired in a recorded run. Locks of the library have
/// other sites, those of calls, and are no monitors that could be dropped.
fn locks_in(trace: &Path) -> Result<Vec<Lock>> {
    let mut reader = TraceReader::new(BufReader::new(File::open(trace)?))?;
    let mut threads_of: BTreeMap<ObjectId, BTreeSet<ThreadId>> = BTreeMap::new();
    let mut locks_of: BTreeMap<SiteId, BTreeSet<ObjectId>> = BTreeMap::new();
    while let Some(event) = reader.next_event()? {
        if let Action::Acquire(lock) | Action::AcquireShared(lock) = event.action {
            threads_of.entry(lock).or_default().insert(event.thread);
            locks_of.entry(event.site).or_default().insert(lock);
        }
    }
    let mut locks = Vec::new();
    for (site, taken) in &locks_of {
        let entry = reader.tables().sites.get(site.0 as usize);
        let Some(site) = entry.map(|entry| &entry.site).filter(|it| it.class.starts_with(PACKAGE))
        else {
            continue;
        };
        let offset = site.offset.map(|offset| format!("@{offset}")).unwrap_or_default();
        let class = site.class.rsplit(['.', '$']).next().unwrap_or_default();
        let line = site.line.unwrap_or_default();
        locks.push(Lock {
            name: format!("{}.{}{}{offset}", site.class, site.method, site.descriptor),
            title: format!("{class}.{}, line {line}", site.method),
            is_contended: taken.iter().any(|lock| threads_of[lock].len() > 1),
        });
    }
    locks.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(locks)
}

fn print(mutants: &[Mutant], left_out: &[(&str, String)]) {
    println!("{:<20} {:<34} {:<12} adversarial", "program", "without the lock of", "plain");
    for Mutant { program, title, plain, adversarial } in mutants {
        println!("{program:<20} {title:<34} {plain:<12} {adversarial}");
    }
    for (program, title) in left_out {
        println!("{program:<20} {title:<34} left out: one thread alone takes this lock");
    }
    let died = mutants.iter().filter(|mutant| !mutant.counts()).count();
    println!("\n{died} die because they wait or notify without their lock, and do not count.");
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.program).collect();
    for program in names {
        let of_program = || mutants.iter().filter(|mutant| mutant.program == program);
        print_share(program, Share::of(of_program()));
    }
    print_share("all", Share::of(mutants.iter()));
}

fn print_share(name: &str, share: Share) {
    println!(
        "{name:<20} {:>3} mutants: {:>3.0} % noticed plain, {:>3.0} % adversarial; with races {:.0} % and \
         {:.0} %",
        share.mutants,
        share.plain,
        share.adversarial,
        share.plain_or_race,
        share.adversarial_or_race
    );
}

impl Mutant {
    /// Whether it ran to its end.
    fn counts(&self) -> bool {
        self.plain != Detection::Died && self.adversarial != Detection::Died
    }
}

/// The share of detected mutants, in per cent.
struct Share {
    mutants: usize,
    plain: f64,
    adversarial: f64,
    plain_or_race: f64,
    adversarial_or_race: f64,
}

impl Share {
    fn of<'a>(mutants: impl Iterator<Item = &'a Mutant>) -> Share {
        let counted: Vec<&Mutant> = mutants.filter(|mutant| mutant.counts()).collect();
        let share = |is_noticed: fn(&Mutant) -> bool| {
            let noticed = counted.iter().filter(|mutant| is_noticed(mutant)).count();
            100.0 * noticed as f64 / counted.len().max(1) as f64
        };
        Share {
            mutants: counted.len(),
            plain: share(|it| it.plain == Detection::Split),
            adversarial: share(|it| it.adversarial == Detection::Split),
            plain_or_race: share(|it| it.plain != Detection::Nothing),
            adversarial_or_race: share(|it| it.adversarial != Detection::Nothing),
        }
    }
}

fn judge(mutants: &[Mutant]) -> Result<()> {
    let share = Share::of(mutants.iter());
    if share.plain < LEAST_PLAIN {
        bail!("{:.0} % are noticed in plain runs, and not {LEAST_PLAIN:.0} %", share.plain);
    }
    if share.adversarial < LEAST_ADVERSARIAL {
        bail!(
            "{:.0} % are noticed when threads are held back, and not {LEAST_ADVERSARIAL:.0} %",
            share.adversarial
        );
    }
    Ok(())
}

//! `cargo xtask bench agent`: what the agent costs. See `bench/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::agent::{Agent, Mode};
use crate::bench::median;
use crate::builds::{self, Profile};
use crate::timed_run::Finished;
use crate::{debian, jdk, progress, root, run, target_directory, test_programs, timed_run};

/// The compute-bound programs in `bench/programs/`; the geometric mean is theirs.
pub(crate) const KERNELS: [&str; 11] = [
    "Crypt",
    "LuFact",
    "MolDyn",
    "MonteCarlo",
    "RayTracer",
    "Series",
    "Sor",
    "SparseMatMult",
    "Elevator",
    "Tsp",
    "Philosophers",
];
const COMPILER: &str = "Compilation";
const DATABASE: &str = "Database";
const DATABASE_PACKAGE: &str = "libh2-java";
const DATABASE_CLASSES: &str = "org.h2";

const ROUNDS: usize = 3;
const START_ROUNDS: usize = 11;
/// No run takes this long, not even with every event recorded on a slow machine.
const MOST_TIME: Duration = Duration::from_secs(600);
/// What is there for comparison is killed after this time, and counts as having taken it.
const MOST_TIME_OF_COMPARISON: Duration = Duration::from_secs(60);

/// The limits, as factors over the plain run in the same rounds.
const MOST_MEAN: f64 = 2.5;
const MOST_EACH: f64 = 6.0;
const MOST_COMPILER: f64 = 2.0;
const MOST_START_MILLIS: f64 = 150.0;
const MOST_HEAP: f64 = 2.0;
const MOST_MEAN_OF_VELODROME: f64 = 6.0;
const MOST_COMPILER_OF_VELODROME: f64 = 3.0;

/// How thorough a measurement is.
#[derive(Clone, Copy)]
pub(crate) enum Rounds {
    /// The median of three, as the limits mean it.
    Full,
    /// One round, to see whether something is far off.
    Quick,
}

impl Rounds {
    fn of_programs(self) -> usize {
        match self {
            Rounds::Full => ROUNDS,
            Rounds::Quick => 1,
        }
    }

    fn of_starts(self) -> usize {
        match self {
            Rounds::Full => START_ROUNDS,
            Rounds::Quick => 3,
        }
    }
}

/// Measures the programs of these names, or all, and prints the table; over a limit is a failure.
pub(crate) fn measure(rounds: Rounds, names: &[&str]) -> Result<()> {
    let directory = BenchDirectory::set_up()?;
    let mut programs = directory.programs();
    for name in names {
        if !programs.iter().any(|program| program.class == *name) {
            let known: Vec<&str> = programs.iter().map(|program| program.class).collect();
            bail!("there is no program {name}, only {}", known.join(", "));
        }
    }
    programs.retain(|program| names.is_empty() || names.contains(&program.class));
    let hello = Program { class: "Hello", class_path: vec![], arguments: vec![], include: &[] };
    let mut listed = BTreeSet::new();
    for program in programs.iter().chain([&hello]) {
        if listed.insert(directory.watch_list(program)) {
            directory.write_watch_list(program)?;
        }
    }
    let mut rows: Vec<Row> = programs.iter().map(|program| Row::new(program.class)).collect();
    for round in 1..=rounds.of_programs() {
        for (program, row) in programs.iter().zip(&mut rows) {
            progress(&format!("round {round} of {}: {}", rounds.of_programs(), program.class));
            for mode in Mode::ALL.into_iter().filter(|mode| !mode.is_for_comparison()) {
                let output = directory.run(program, mode, &[])?;
                row.add_time(mode, &output)?;
            }
        }
    }
    if matches!(rounds, Rounds::Full) {
        for (program, row) in programs.iter().zip(&mut rows) {
            progress(&format!("comparison: {}", program.class));
            for mode in Mode::ALL.into_iter().filter(|mode| mode.is_for_comparison()) {
                directory.compare(program, mode, row)?;
            }
        }
    }
    for (program, row) in programs.iter().zip(&mut rows) {
        progress(&format!("heap: {}", program.class));
        for mode in [Mode::Plain, Mode::HooksOnly] {
            let output = directory.run(program, mode, &["-XX:+UseSerialGC", "-Dheap=true"])?;
            row.add_heap(mode, &output)?;
        }
    }
    let mut starts: [Vec<u64>; Mode::ALL.len()] = Default::default();
    for round in 1..=rounds.of_starts() {
        progress(&format!("start {round} of {}", rounds.of_starts()));
        for (mode, starts) in Mode::ALL.into_iter().zip(&mut starts) {
            starts.push(directory.run(&hello, mode, &[])?.wall_micros);
        }
    }
    let starts = starts.map(|micros| median(micros.into_iter()) as f64 / 1000.0);
    let measured = Measured { rows, starts };
    measured.print();
    measured.judge()
}

/// Where programs are compiled to and run.
pub(crate) struct BenchDirectory {
    agent: Agent,
    home: PathBuf,
    folder: PathBuf,
    source: PathBuf,
    database: Vec<PathBuf>,
}

/// One program of `bench/programs/` and what it needs.
pub(crate) struct Program {
    pub(crate) class: &'static str,
    class_path: Vec<PathBuf>,
    pub(crate) arguments: Vec<String>,
    /// What is watched beyond what the agent watches by itself.
    include: &'static [&'static str],
}

/// The output of one run.
struct ProgramOutput {
    checksum: String,
    wall_micros: u64,
    inner_millis: u64,
    heap: Option<u64>,
    trace_bytes: u64,
}

impl BenchDirectory {
    pub(crate) fn set_up() -> Result<BenchDirectory> {
        let home = jdk::ensure()?;
        debian::ensure(&[DATABASE_PACKAGE])?;
        let agent = Agent::build()?;
        let folder = target_directory()?.join("bench").join("agent");
        progress("compile bench/programs/");
        compile_programs(&home, &folder.join("classes"))?;
        let source = test_programs::jdk_source(&home)?;
        let mut files = java_files(&source.join(test_programs::JDK_PART))?;
        files.sort();
        let list: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        fs::write(folder.join("sources.txt"), list.join("\n"))?;
        let database = debian::jars_of(DATABASE_PACKAGE)?;
        Ok(BenchDirectory { agent, home, folder, source, database })
    }

    pub(crate) fn programs(&self) -> Vec<Program> {
        let mut programs: Vec<Program> = KERNELS
            .into_iter()
            .map(|class| Program { class, class_path: vec![], arguments: vec![], include: &[] })
            .collect();
        let source = self.source.join("java.base");
        let arguments = vec![
            "-proc:none".to_string(),
            "-nowarn".to_string(),
            "-XDignore.symbol.file".to_string(),
            "--patch-module".to_string(),
            format!("java.base={}", source.display()),
            "-d".to_string(),
            self.folder.join("compiled").display().to_string(),
            format!("@{}", self.folder.join("sources.txt").display()),
        ];
        programs.push(Program {
            class: COMPILER,
            class_path: vec![],
            arguments,
            include: &["com.sun.tools.javac"],
        });
        let class_path = self.database.clone();
        programs.push(Program { class: DATABASE, class_path, arguments: vec![], include: &[] });
        programs
    }

    /// Where a run that is recorded leaves its trace.
    fn trace(&self) -> PathBuf {
        self.folder.join("recorded.trace")
    }

    /// Runs a program and records it. The trace is there until the next run.
    pub(crate) fn record(&self, program: &Program) -> Result<PathBuf> {
        self.finish(program, Mode::Recording, &[])?;
        Ok(self.trace())
    }

    /// Runs a program in a mode that is there for comparison, for a limited time.
    fn compare(&self, program: &Program, mode: Mode, row: &mut Row) -> Result<()> {
        let what = || format!("{}, {}", program.class, mode.name());
        let mut command = self.command(program, mode, &[])?;
        let most = MOST_TIME_OF_COMPARISON;
        match timed_run::finish_within(&mut command, most).with_context(what)? {
            Some(finished) if finished.status.success() => {
                row.add_time(mode, &ProgramOutput::read(&finished, 0)?)
            }
            Some(finished) => bail!("{}: ended with {}", what(), finished.status),
            None => {
                println!("{}: did not end within {} s, and counts as that", what(), most.as_secs());
                row.micros.insert(mode.name(), vec![u64::try_from(most.as_micros())?]);
                Ok(())
            }
        }
    }

    /// The list of the accesses that could not be proven safe on the class path of a program. The kernels have one class
    /// path, and one list.
    fn watch_list(&self, program: &Program) -> PathBuf {
        let name = if program.class_path.is_empty() { "kernels" } else { program.class };
        self.folder.join(format!("watch-{name}.txt"))
    }

    /// Writes the list of a program as `scission run --watch auto` does, and says how long that takes.
    fn write_watch_list(&self, program: &Program) -> Result<()> {
        let list = self.watch_list(program);
        let mut check = Command::new(builds::command(Profile::Release)?);
        check.args(["check", "--no-config", "--no-progress", "--quiet", "--fail-on", "never"]);
        check.args(["--rule", "data-race", "--watch-list-for", "order", "--jdk"]).arg(&self.home);
        check.arg("--watch-list").arg(&list).arg(self.folder.join("classes"));
        let finished = timed_run::finish(check.args(&program.class_path), MOST_TIME)?;
        if !finished.status.success() {
            bail!("the analysis for {} ended with {}", program.class, finished.status);
        }
        println!(
            "analysis for `--watch auto`, {}: {:.1} s",
            list.display(),
            finished.wall.as_secs_f64()
        );
        Ok(())
    }

    fn command(&self, program: &Program, mode: Mode, flags: &[&str]) -> Result<Command> {
        let (trace, list) = (self.trace(), self.watch_list(program));
        self.java(program, flags, self.agent.arguments(mode, program.include, &trace, &list))
    }

    /// The program with these arguments for the agent, where nothing is left of the run before.
    fn java(&self, program: &Program, flags: &[&str], agent: Vec<OsString>) -> Result<Command> {
        let trace = self.trace();
        let compiled = self.folder.join("compiled");
        for left_over in [&trace, &compiled] {
            remove(left_over)?;
        }
        let class_path =
            std::iter::once(self.folder.join("classes")).chain(program.class_path.iter().cloned());
        let mut command = Command::new(self.home.join("bin/java"));
        command
            .args(flags)
            .args(agent)
            .arg("-cp")
            .arg(std::env::join_paths(class_path)?)
            .arg(format!("programs.{}", program.class))
            .args(&program.arguments);
        Ok(command)
    }

    /// The agent of this tree, or the one that the environment names.
    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// How long a program takes with an agent of whatever commit.
    pub(crate) fn micros(&self, program: &Program, mode: Mode, agent: &Agent) -> Result<u64> {
        let mut include = program.include.to_vec();
        if program.class == DATABASE {
            include.push(DATABASE_CLASSES);
        }
        let mut command = self.java(program, &[], agent.lasting_arguments(mode, &include))?;
        let what = || format!("{}, {}", program.class, mode.name());
        let finished = timed_run::finish(&mut command, MOST_TIME).with_context(what)?;
        if !finished.status.success() {
            bail!("{}: ended with {}", what(), finished.status);
        }
        let output = ProgramOutput::read(&finished, 0)?;
        Ok(counted_micros(program.class, &output))
    }

    fn finish(&self, program: &Program, mode: Mode, flags: &[&str]) -> Result<Finished> {
        let mut command = self.command(program, mode, flags)?;
        let what = || format!("{}, {}", program.class, mode.name());
        let finished = timed_run::finish(&mut command, MOST_TIME).with_context(what)?;
        if !finished.status.success() {
            bail!("{}: ended with {}", what(), finished.status);
        }
        Ok(finished)
    }

    fn run(&self, program: &Program, mode: Mode, flags: &[&str]) -> Result<ProgramOutput> {
        let trace = self.trace();
        let finished = self.finish(program, mode, flags)?;
        let trace_bytes = fs::metadata(&trace).map_or(0, |metadata| metadata.len());
        remove(&trace)?;
        ProgramOutput::read(&finished, trace_bytes)
    }
}

impl ProgramOutput {
    fn read(finished: &Finished, trace_bytes: u64) -> Result<ProgramOutput> {
        let value = |key: &str| {
            finished.output.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
        };
        Ok(ProgramOutput {
            checksum: value("checksum").unwrap_or_default().to_string(),
            wall_micros: u64::try_from(finished.wall.as_micros())?,
            inner_millis: value("millis").map_or(Ok(0), str::parse)?,
            heap: value("heap").map(str::parse).transpose()?,
            trace_bytes,
        })
    }
}

/// Compiles everything in `bench/programs/` for the oldest JVM that is tried.
pub(crate) fn compile_programs(home: &Path, classes: &Path) -> Result<()> {
    fs::create_dir_all(classes).with_context(|| format!("{} cannot be made", classes.display()))?;
    let mut sources = java_files(&root().join("bench/programs"))?;
    sources.sort();
    run(jdk::javac(home).args(["-g", "--release", "11", "-d"]).arg(classes).args(sources))
}

fn java_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn remove(path: &Path) -> Result<()> {
    let outcome = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match outcome {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// The time of a run that counts. A kernel measures itself, and start-up is a row of its own. Of the others the whole run
/// counts, because loading and rewriting a thousand classes is part of what they do.
fn counted_micros(class: &str, output: &ProgramOutput) -> u64 {
    if KERNELS.contains(&class) { output.inner_millis * 1000 } else { output.wall_micros }
}

/// All runs of one program.
struct Row {
    class: &'static str,
    checksum: Option<String>,
    micros: BTreeMap<&'static str, Vec<u64>>,
    heap: BTreeMap<&'static str, u64>,
    trace_bytes: u64,
}

impl Row {
    fn new(class: &'static str) -> Row {
        Row {
            class,
            checksum: None,
            micros: BTreeMap::new(),
            heap: BTreeMap::new(),
            trace_bytes: 0,
        }
    }

    fn add_time(&mut self, mode: Mode, output: &ProgramOutput) -> Result<()> {
        self.agree(mode, output)?;
        self.micros.entry(mode.name()).or_default().push(counted_micros(self.class, output));
        self.trace_bytes = self.trace_bytes.max(output.trace_bytes);
        Ok(())
    }

    fn add_heap(&mut self, mode: Mode, output: &ProgramOutput) -> Result<()> {
        self.agree(mode, output)?;
        let Some(heap) = output.heap else { bail!("{} does not say its heap", self.class) };
        self.heap.insert(mode.name(), heap);
        Ok(())
    }

    /// Whatever the mode, the program computes the same.
    fn agree(&mut self, mode: Mode, output: &ProgramOutput) -> Result<()> {
        let expected = self.checksum.get_or_insert_with(|| output.checksum.clone());
        if output.checksum.is_empty() || *expected != output.checksum {
            let (class, mode) = (self.class, mode.name());
            bail!("{class}, {mode}: the checksum is `{}`, not `{expected}`", output.checksum);
        }
        Ok(())
    }

    fn seconds(&self, mode: Mode) -> f64 {
        let micros = self.micros.get(mode.name()).cloned().unwrap_or_default();
        median(micros.into_iter()) as f64 / 1e6
    }

    fn slowdown(&self, mode: Mode) -> f64 {
        self.seconds(mode) / self.seconds(Mode::Plain).max(1e-6)
    }

    fn heap_mib(&self, mode: Mode) -> f64 {
        self.heap.get(mode.name()).map_or(0.0, |bytes| *bytes as f64 / 1_048_576.0)
    }

    fn heap_growth(&self) -> f64 {
        self.heap_mib(Mode::HooksOnly) / self.heap_mib(Mode::Plain).max(1e-6)
    }
}

/// Everything that was measured.
struct Measured {
    rows: Vec<Row>,
    /// Milliseconds of the smallest program, by mode.
    starts: [f64; Mode::ALL.len()],
}

impl Measured {
    fn kernels(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| KERNELS.contains(&row.class))
    }

    fn mean_slowdown(&self, mode: Mode) -> f64 {
        geometric_mean(self.kernels().map(|row| row.slowdown(mode)))
    }

    fn mean_heap_growth(&self) -> f64 {
        geometric_mean(self.rows.iter().map(Row::heap_growth))
    }

    fn print(&self) {
        println!(
            "{:15}{:>9}{:>9}{:>10}{:>12}{:>11}{:>16}{:>19}{:>10}{:>11}{:>11}{:>10}{:>8}",
            "program",
            "plain s",
            "hooks x",
            "record x",
            "velodrome x",
            "checkers x",
            "sparse hooks x",
            "sparse checkers x",
            "eraser x",
            "atomizer x",
            "trace MiB",
            "heap MiB",
            "heap x"
        );
        for row in &self.rows {
            println!(
                "{:15}{:>9.2}{:>9.2}{:>10.2}{:>12.2}{:>11.2}{:>16.2}{:>19.2}{:>10.2}{:>11.2}{:>11.1}{:>10.1}{:>8.2}",
                row.class,
                row.seconds(Mode::Plain),
                row.slowdown(Mode::HooksOnly),
                row.slowdown(Mode::Recording),
                row.slowdown(Mode::Velodrome),
                row.slowdown(Mode::Checkers),
                row.slowdown(Mode::SparseHooks),
                row.slowdown(Mode::SparseCheckers),
                row.slowdown(Mode::Eraser),
                row.slowdown(Mode::Atomizer),
                row.trace_bytes as f64 / 1_048_576.0,
                row.heap_mib(Mode::Plain),
                row.heap_growth(),
            );
        }
        println!(
            "{:24}{:>9.2}{:>10.2}{:>12.2}{:>11.2}{:>16.2}{:>19.2}{:>10.2}{:>11.2}{:>29.2}",
            "geometric mean",
            self.mean_slowdown(Mode::HooksOnly),
            self.mean_slowdown(Mode::Recording),
            self.mean_slowdown(Mode::Velodrome),
            self.mean_slowdown(Mode::Checkers),
            self.mean_slowdown(Mode::SparseHooks),
            self.mean_slowdown(Mode::SparseCheckers),
            self.mean_slowdown(Mode::Eraser),
            self.mean_slowdown(Mode::Atomizer),
            self.mean_heap_growth(),
        );
        println!("(the mean is of the kernels, that of the heap of all programs)");
        let [plain, others @ ..] = self.starts;
        let more: Vec<String> = Mode::ALL[1..]
            .iter()
            .zip(others)
            .map(|(mode, millis)| format!("{} {:+.0} ms", mode.name(), millis - plain))
            .collect();
        println!("start-up: {plain:.0} ms; {}", more.join(", "));
    }

    fn judge(&self) -> Result<()> {
        let mut problems = Vec::new();
        let mean = self.mean_slowdown(Mode::HooksOnly);
        // Somebody may want to measure nothing but javac; nothing at all is an error.
        let has_mean = self.kernels().next().is_some() || self.rows.is_empty();
        if has_mean && over(mean, MOST_MEAN) {
            problems.push(format!("hooks slow the kernels down {mean:.2}x, over {MOST_MEAN}x"));
        }
        for row in self.kernels() {
            let slowdown = row.slowdown(Mode::HooksOnly);
            if over(slowdown, MOST_EACH) {
                problems.push(format!(
                    "hooks slow {} down {slowdown:.2}x, over {MOST_EACH}x",
                    row.class
                ));
            }
        }
        let of_velodrome = self.mean_slowdown(Mode::Velodrome);
        if has_mean && over(of_velodrome, MOST_MEAN_OF_VELODROME) {
            problems.push(format!(
                "Velodrome slows the kernels down {of_velodrome:.2}x, over {MOST_MEAN_OF_VELODROME}x"
            ));
        }
        for row in self.rows.iter().filter(|row| row.class == COMPILER) {
            let limits = [
                ("hooks slow", Mode::HooksOnly, MOST_COMPILER),
                ("Velodrome slows", Mode::Velodrome, MOST_COMPILER_OF_VELODROME),
            ];
            for (who, mode, most) in limits {
                let slowdown = row.slowdown(mode);
                if over(slowdown, most) {
                    problems.push(format!("{who} javac down {slowdown:.2}x, over {most}x"));
                }
            }
        }
        let [plain, hooks, ..] = self.starts;
        if over(hooks - plain, MOST_START_MILLIS) {
            let more = hooks - plain;
            problems.push(format!("starting takes {more:.0} ms more, over {MOST_START_MILLIS} ms"));
        }
        let heap = self.mean_heap_growth();
        if over(heap, MOST_HEAP) {
            problems.push(format!("the heap grows {heap:.2}x, over {MOST_HEAP}x"));
        }
        if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
    }
}

/// Whether a figure is over its limit; one that is no number is.
fn over(figure: f64, most: f64) -> bool {
    !figure.is_finite() || figure > most
}

/// The mean of factors; of none it is no number, so that nothing measured never passes.
pub(crate) fn geometric_mean(factors: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = factors.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(class: &'static str, plain: u64, hooks: u64, heap: u64) -> Row {
        let mut row = Row::new(class);
        for mode in Mode::ALL {
            let millis = if mode == Mode::Plain { plain } else { hooks };
            row.micros.insert(mode.name(), vec![millis * 1000]);
        }
        row.heap.insert(Mode::Plain.name(), 1 << 20);
        row.heap.insert(Mode::HooksOnly.name(), heap);
        row
    }

    fn problems(rows: Vec<Row>, [plain, hooks]: [f64; 2]) -> String {
        let mut starts = [hooks; Mode::ALL.len()];
        starts[0] = plain;
        Measured { rows, starts }.judge().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_within_the_limits_passes() {
        let rows = vec![row("Crypt", 1000, 5900, 1 << 20), row("Sor", 1000, 1000, 1 << 20)];
        assert_eq!(problems(rows, [40.0, 190.0]), "");
    }

    #[test]
    fn each_limit_is_kept() {
        let ok = || row("Crypt", 1000, 1000, 1 << 20);
        assert!(problems(vec![row("Crypt", 1000, 2600, 1)], [0.0; 2]).contains("2.60x, over 2.5x"));
        let one = vec![ok(), ok(), ok(), row("Sor", 1000, 6100, 1)];
        assert!(problems(one, [0.0; 2]).contains("Sor down 6.10x"));
        let compiler = vec![ok(), row(COMPILER, 1000, 2100, 1)];
        assert!(problems(compiler, [0.0; 2]).contains("javac down 2.10x"));
        assert!(problems(vec![ok()], [40.0, 191.0]).contains("151 ms more"));
        let heap = vec![row("Crypt", 1000, 1000, 5 << 20)];
        assert!(problems(heap, [0.0; 2]).contains("heap grows 5.00x"));
        let mut checked = ok();
        checked.micros.insert(Mode::Velodrome.name(), vec![6_100_000]);
        let found = problems(vec![checked], [0.0; 2]);
        assert!(found.contains("Velodrome slows the kernels down 6.10x"));
        let mut compiler = row(COMPILER, 1000, 1000, 1 << 20);
        compiler.micros.insert(Mode::Velodrome.name(), vec![3_100_000]);
        assert!(problems(vec![ok(), compiler], [0.0; 2]).contains("javac down 3.10x"));
        assert!(!problems(vec![], [0.0; 2]).is_empty(), "nothing measured must not pass");
    }

    #[test]
    fn different_results_are_an_error() {
        let output = |checksum: &str| ProgramOutput {
            checksum: checksum.to_string(),
            wall_micros: 1,
            inner_millis: 1,
            heap: None,
            trace_bytes: 0,
        };
        let mut row = Row::new("Crypt");
        assert!(row.add_time(Mode::Plain, &output("a")).is_ok());
        assert!(row.add_time(Mode::HooksOnly, &output("a")).is_ok());
        assert!(row.add_time(Mode::HooksOnly, &output("b")).is_err());
    }
}

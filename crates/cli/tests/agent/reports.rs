//! Reports that people read: programs with a known number of defects, each of which is one finding.
//!
//! A program is a folder of `fixtures/reports`. A comment `DEFECT(label): name …` stands where each defect is; a finding is
//! about it if it blames a method or is about a variable of that name. What a run did not meet it need not report; whatever
//! it reports is a defect, and none twice. A program in which nothing is found is run again. `cargo xtask bench reports` has
//! each run ten times, in one of which at least each defect must be found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::defects::scission;
use crate::jvm::javac;
use crate::setup::{Requirement, Setup};

/// The programs that one `javac` makes, with their main classes.
const PROGRAMS: &[(&str, &str)] = &[
    ("batch", "batch.Main"),
    ("chat", "chat.Main"),
    ("crawler", "crawl.Main"),
    ("inventory", "inv.Main"),
    ("jobs", "jobs.Main"),
    ("logging", "log.Main"),
    ("orderbook", "book.Main"),
    ("service", "shop.Main"),
    ("simulation", "sim.Main"),
    ("twojvms", "bank.Main"),
];

/// The programs that are test suites, which Maven builds and runs: with JUnit 4, and with JUnit 5 in three modules.
const TEST_SUITES: &[&str] = &["junit4", "modules"];

/// How large the JSON of a run may be, in bytes.
const MOST_JSON: usize = 200_000;

/// Where Maven finds everything that the builds need.
const MAVEN_REPOSITORY: &str = "maven-repository";

/// How long the text of the small service may be, in lines.
const MOST_LINES: usize = 150;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = PROGRAMS
        .iter()
        .map(|(program, main)| {
            Case::new(format!("reports/{program}"), [], move |setup: &Setup| {
                one_finding_a_defect(setup, program, main)
            })
        })
        .collect();
    for name in TEST_SUITES {
        let needs = [Requirement::Command("mvn"), Requirement::Prepared(MAVEN_REPOSITORY)];
        cases.push(Case::new(format!("reports/{name}"), needs, move |setup: &Setup| {
            tests_of_a_build(setup, name)
        }));
    }
    cases.push(Case::new("reports/demo", [], demo));
    cases.push(Case::new("reports/text", [], text_of_the_service));
    cases.push(Case::new("reports/sarif", [], sarif));
    cases.push(Case::new("reports/baseline", [], baseline_converges));
    cases
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Java files below a folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "java") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Compiles what is in a folder.
fn compile(folder: &Path, name: &str) -> Result<PathBuf, Failed> {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports").join(name);
    fs::create_dir_all(&classes)?;
    javac(&sources(folder)?, &classes, None)?;
    Ok(classes)
}

fn program(name: &str) -> PathBuf {
    root().join("fixtures/reports").join(name)
}

/// The names of each defect of a program, by label.
fn defects(folder: &Path) -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let mut defects = BTreeMap::new();
    for source in sources(folder)? {
        let text = fs::read_to_string(&source)?;
        let marked = text.lines().filter_map(|line| line.trim().strip_prefix("// DEFECT("));
        for (label, names) in marked.filter_map(|line| line.split_once("): ")) {
            let names = names.split_whitespace().map(str::to_string).collect();
            defects.insert(label.to_string(), names);
        }
    }
    Ok(defects)
}

/// A command that runs a program.
fn run(setup: &Setup, classes: &Path, main: &str) -> Command {
    let mut command = scission(&[]);
    command.arg("--").arg(setup.jdk_program("java")).arg("-cp").arg(classes).arg(main);
    command
}

fn output(mut command: Command) -> Result<Vec<u8>, Failed> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it ended with {}: {said}", output.status).into());
    }
    Ok(output.stdout)
}

/// The report on standard output, which the program shares.
fn report_in(output: &[u8]) -> Result<Value, Failed> {
    let start = output.windows(2).position(|it| it == b"{\n").ok_or("there is no report")?;
    Ok(serde_json::from_slice(&output[start..])?)
}

fn messages(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().into_iter().flatten();
    findings.map(|finding| without_numbers(finding["message"].as_str().unwrap_or(""))).collect()
}

/// What a report says of one finding.
struct Said {
    message: String,
    /// The blamed method and the variables, what the finding is about first, without packages and numbers of objects.
    names: Vec<String>,
}

impl Said {
    /// A finding of a report in JSON.
    fn in_json(finding: &Value) -> Said {
        let text = |value: &Value| without_numbers(value.as_str().unwrap_or_default());
        let blame = &finding["blame"];
        let method = format!("{}.{}", text(&blame["class"]), text(&blame["method"]));
        let of_block = ["first", "second", "object", "fields", "locks"];
        let subject = |name: &str| text(&finding["subjects"][name]);
        let texts = [subject("variable"), method].into_iter().chain(of_block.map(subject));
        let texts: Vec<String> = texts.collect();
        let quoted = texts.iter().flat_map(|text| text.split(['`', ',']));
        let names = quoted.map(short).filter(|name| !name.is_empty());
        Said { message: text(&finding["message"]), names: names.collect() }
    }

    /// A result of a report in SARIF, which names its subjects in its sentence alone.
    fn in_sarif(result: &Value) -> Said {
        let text = result["message"]["text"].as_str().unwrap_or_default();
        let message = without_numbers(text);
        let quoted = message.split('`').skip(1).step_by(2);
        Said { names: quoted.map(short).collect(), message: message.clone() }
    }
}

/// `Stock.items` for `shop.Stock.items[3]`.
fn short(name: &str) -> String {
    let name = name.trim().split(['[', '(', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = name.rsplitn(3, '.').take(2).collect();
    let is_class = parts[0].starts_with(|it: char| it.is_uppercase())
        && parts[0].contains(|it: char| it.is_lowercase());
    let parts = if is_class { &parts[..1] } else { &parts[..] };
    parts
        .iter()
        .rev()
        .map(|part| part.rsplit('$').next().unwrap_or(part))
        .collect::<Vec<_>>()
        .join(".")
}

/// `Account.balance` for `Account#3.balance`.
fn without_numbers(message: &str) -> String {
    let mut parts = message.split('#');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.trim_start_matches(|it: char| it.is_ascii_digit()))
}

/// Each finding is about one defect, and no two are about the same. Returns the defects that were found.
fn judge(folder: &Path, findings: &[Said]) -> Result<BTreeSet<String>, Failed> {
    let defects = defects(folder)?;
    let mut seen = BTreeSet::new();
    for finding in findings {
        let with_name = |name: &String| defects.iter().find(|(_, names)| names.contains(name));
        let Some((label, _)) = finding.names.iter().find_map(with_name) else {
            return Err(format!("this is no defect: {}", finding.message).into());
        };
        if !seen.insert(label.clone()) {
            let all: Vec<&String> = findings.iter().map(|finding| &finding.message).collect();
            return Err(format!("{label} is found twice: {all:#?}").into());
        }
    }
    Ok(seen)
}

/// How often each program is run.
fn runs() -> Result<usize, Failed> {
    match std::env::var("SCISSION_REPORT_RUNS") {
        Ok(runs) => Ok(runs.parse()?),
        Err(_) => Ok(1),
    }
}

/// How often a program in which nothing was found is run again.
const MORE_RUNS: usize = 4;

/// Runs a program as often as it is asked for, and again while nothing was found; each report is right, and all together have
/// every defect if there are ten. The program has so many JVMs.
fn judge_runs(name: &str, jvms: Option<u64>, run: impl Fn() -> Command) -> Result<(), Failed> {
    let folder = program(name);
    let asked = runs()?;
    let mut found: BTreeMap<String, usize> =
        defects(&folder)?.into_keys().map(|label| (label, 0)).collect();
    let mut runs = 0;
    while runs < asked || (runs < asked + MORE_RUNS && found.values().all(|times| *times == 0)) {
        runs += 1;
        let output = output(run())?;
        let report = report_in(&output)?;
        let findings = report["findings"].as_array().ok_or("there are no findings")?;
        let seen = judge(&folder, &findings.iter().map(Said::in_json).collect::<Vec<_>>())
            .map_err(|failed| format!("run {runs}: {}", failed.message().unwrap_or("")))?;
        for label in seen {
            *found.entry(label).or_default() += 1;
        }
        let watched = &report["stats"]["jvms"];
        if jvms.is_some_and(|jvms| *watched != jvms) {
            return Err(format!("run {runs}: {watched} JVMs were watched, not {jvms:?}").into());
        }
        let bytes = serde_json::to_vec_pretty(&report)?.len();
        if bytes > MOST_JSON {
            return Err(format!("run {runs}: the report has {bytes} bytes").into());
        }
    }
    if asked > 1 {
        println!("{name}: {runs} runs, each right; defects found in so many of them: {found:?}");
    }
    if found.values().all(|times| *times == 0) {
        return Err(format!("nothing was found in {runs} runs").into());
    }
    match found.iter().find(|(_, times)| runs >= 10 && **times == 0) {
        Some((label, _)) => Err(format!("{label} is never found").into()),
        None => Ok(()),
    }
}

fn one_finding_a_defect(setup: &Setup, name: &str, main: &str) -> Result<(), Failed> {
    let classes = compile(&program(name), name)?;
    let jvms = if name == "twojvms" { 2 } else { 1 };
    judge_runs(name, Some(jvms), || run(setup, &classes, main))
}

/// The tests of a build, with every JVM that it starts watched: nothing is said about threads of Maven, Surefire or JUnit.
fn tests_of_a_build(setup: &Setup, name: &str) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    copy(&program(name), directory.path())?;
    judge_runs(name, None, || {
        let mut command = scission(&[]);
        command.args(["--", "mvn", "--offline", "--batch-mode", "test"]);
        let repository = setup.prepared(MAVEN_REPOSITORY);
        command.arg(format!("-Dmaven.repo.local={}", repository.display()));
        command.current_dir(directory.path());
        command
    })
}

fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, target)?;
        }
    }
    Ok(())
}

/// Its three defects are three findings, and what shows how to mend them is none. On a busy machine its threads may run one
/// after the other, so that a defect does not happen; then it is run again.
fn demo(setup: &Setup) -> Result<(), Failed> {
    const RUNS: usize = 5;
    let classes = compile(&root().join("demo"), "demo")?;
    let blamed = ["`bank.Branch.open` is", "`bank.Teller.audit` is", "`bank.Teller.transfer` is"];
    let mut seen = BTreeSet::new();
    for number in 1..=RUNS {
        let output = output(run(setup, &classes, "bank.Main"))?;
        let found = messages(&report_in(&output)?);
        let of_run: BTreeSet<&str> = blamed
            .into_iter()
            .filter(|blamed| found.iter().any(|message| message.starts_with(blamed)))
            .collect();
        if of_run.len() != found.len() {
            return Err(format!("run {number}: not one finding a defect: {found:#?}").into());
        }
        seen.extend(of_run);
        if seen.len() == blamed.len() {
            return Ok(());
        }
    }
    Err(format!("in {RUNS} runs nothing but {seen:?} was found").into())
}

/// The text of a service of some hundred lines fits on three screens, and has no frame of a library.
fn text_of_the_service(setup: &Setup) -> Result<(), Failed> {
    let folder = program("service");
    let classes = compile(&folder, "service-text")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
    command.args(["run", "--no-config", "--require-agent", "--fail-on", "never", "--agent"]);
    command.arg(setup.agent()).arg("--source").arg(&folder).arg("--");
    command.arg(setup.jdk_program("java")).arg("-cp").arg(&classes).arg("shop.Main");
    let text = String::from_utf8(command.output()?.stderr)?;
    let is_summed_up = text.lines().any(|line| line.contains(" high; "));
    let of_libraries = text.lines().find(|line| line.contains("httpserver"));
    match (text.lines().count(), is_summed_up, of_libraries) {
        (0..=MOST_LINES, true, None) => Ok(()),
        (lines, _, of_libraries) => Err(format!("{lines} lines, {of_libraries:?}:\n{text}").into()),
    }
}

/// One result a defect, each with the flows of its threads.
fn sarif(setup: &Setup) -> Result<(), Failed> {
    let folder = program("logging");
    let classes = compile(&folder, "logging-sarif")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
    command.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
    command.args(["--format", "sarif", "--output", "-", "--agent"]).arg(setup.agent()).arg("--");
    command.arg(setup.jdk_program("java")).arg("-cp").arg(&classes).arg("log.Main");
    let report = report_in(&output(command)?)?;
    let results = report["runs"][0]["results"].as_array().ok_or("there are no results")?;
    judge(&folder, &results.iter().map(Said::in_sarif).collect::<Vec<_>>())?;
    let threads =
        |result: &Value| result["codeFlows"][0]["threadFlows"].as_array().map_or(0, Vec::len);
    match results.iter().find(|result| threads(result) < 2) {
        Some(result) => Err(format!("the threads are missing: {result:#}").into()),
        None if results.is_empty() => Err("nothing was found".into()),
        None => Ok(()),
    }
}

/// Each run writes what it found to its baseline, and after some nothing is new any more: not even when the program was
/// compiled again, with other lines and lambdas.
fn baseline_converges(setup: &Setup) -> Result<(), Failed> {
    let folder = program("logging");
    let classes = compile(&folder, "logging-baseline")?;
    let directory = tempfile::tempdir()?;
    let baseline = directory.path().join("baseline.json");
    let new_in_run = |classes: &Path| -> Result<Vec<String>, Failed> {
        let mut command = scission(&[]);
        command.arg("--write-baseline").arg(&baseline);
        if baseline.exists() {
            command.arg("--baseline").arg(&baseline);
        }
        command.arg("--").arg(setup.jdk_program("java")).arg("-cp").arg(classes).arg("log.Main");
        Ok(messages(&report_in(&output(command)?)?))
    };
    for number in 1..=16 {
        let new = new_in_run(&classes)?;
        if number > 3 && !new.is_empty() {
            return Err(format!("run {number} has something new: {new:#?}").into());
        }
    }
    let changed = directory.path().join("changed/log");
    fs::create_dir_all(&changed)?;
    for source in sources(&folder)? {
        let text = fs::read_to_string(&source)?;
        let text = text.replacen(
            "final class ",
            "class Unrelated {\n    Runnable nothing = () -> { };\n}\n\nfinal class ",
            usize::from(source.ends_with("Log.java")),
        );
        let text = text.replace(
            "    public static void main(",
            "    static Runnable other = () -> System.out.println();\n\n    public static void main(",
        );
        fs::write(changed.join(source.file_name().unwrap_or_default()), text)?;
    }
    let classes = compile(&changed, "logging-changed")?;
    let new = new_in_run(&classes)?;
    if new.is_empty() { Ok(()) } else { Err(format!("compiled again: {new:#?}").into()) }
}

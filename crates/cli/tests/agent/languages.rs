//! Programs in Kotlin, Scala, Groovy and Clojure: nothing is found in correct ones, and the defect of each bad twin is.
//!
//! Their class files are in `fixtures/languages`, made by `cargo xtask languages`. The programs with odd numbers were looked at
//! while the models of the languages were written; those with even numbers were only counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;

use crate::Case;
use crate::defects::{Found, findings_in};
use crate::setup::{Requirement, Setup};

/// A defect that depends on the schedule must be found in one of so many runs.
const MOST_RUNS: u32 = 20;

/// Correct programs in which a block is still reported as split, and why. A race is no part of that.
const SPLIT_BLOCKS: &[(&str, u32, &str)] = &[(
    "kotlin",
    10,
    "the inlined loop of `MutableStateFlow.update` reads again after a failed exchange, which is graded low",
)];

/// The programs of one compiler.
struct Suite {
    /// Its folder, and the name of its class path.
    name: &'static str,
    extension: &'static str,
    numbers: std::ops::RangeInclusive<u32>,
    /// The main class of a program, from its name in small letters and with a capital one.
    main_class: fn(&str, &str) -> String,
}

const SUITES: [Suite; 5] = [
    Suite {
        name: "kotlin",
        extension: "kt",
        numbers: 1..=10,
        main_class: |package, file| format!("{package}.{file}Kt"),
    },
    Suite {
        name: "scala2",
        extension: "scala",
        numbers: 1..=6,
        main_class: |package, file| format!("{package}.{file}"),
    },
    Suite {
        name: "scala3",
        extension: "scala",
        numbers: 7..=10,
        main_class: |package, _| format!("{package}.{package}"),
    },
    Suite {
        name: "groovy",
        extension: "groovy",
        numbers: 1..=5,
        main_class: |package, file| format!("{package}.{file}"),
    },
    Suite {
        name: "clojure",
        extension: "clj",
        numbers: 1..=5,
        main_class: |package, _| package.to_owned(),
    },
];

pub(crate) fn cases() -> Vec<Case> {
    let case = |suite: &'static Suite, number: u32| {
        let needs = [Requirement::Program(suite.name), Requirement::Jvm(17)];
        let good = Case::new(
            format!("languages/{}/good{number:02}", suite.name),
            needs,
            move |setup: &Setup| nothing_is_found(setup, suite, number),
        );
        let bad = Case::new(
            format!("languages/{}/bad{number:02}", suite.name),
            needs,
            move |setup: &Setup| defect_is_found(setup, suite, number),
        );
        [good, bad]
    };
    let suites = SUITES.iter();
    suites.flat_map(|suite| suite.numbers.clone().flat_map(move |it| case(suite, it))).collect()
}

fn nothing_is_found(setup: &Setup, suite: &Suite, number: u32) -> Result<(), Failed> {
    let mut found = observe(setup, suite, &format!("good{number:02}"))?;
    if SPLIT_BLOCKS.iter().any(|it| (it.0, it.1) == (suite.name, number)) {
        found.retain(|finding| finding.rule != "not-serializable");
    }
    if found.is_empty() { Ok(()) } else { Err(list(&found).into()) }
}

fn defect_is_found(setup: &Setup, suite: &Suite, number: u32) -> Result<(), Failed> {
    let program = format!("bad{number:02}");
    let wanted = expectation(&source(suite, &program))?;
    let mut last = Vec::new();
    for _ in 0..MOST_RUNS {
        last = observe(setup, suite, &program)?;
        if last.iter().any(|finding| is_about(finding, &wanted)) {
            return Ok(());
        }
    }
    Err(format!("`{wanted}` is not found; in the last run there was:\n{}", list(&last)).into())
}

/// Whether a finding is about a variable, or blames a method or a class of this name.
fn is_about(finding: &Found, wanted: &str) -> bool {
    let is_named =
        |name: &str| name.rsplit(['.', '$']).next() == Some(wanted.trim_start_matches('$'));
    let (class, _) = finding.blame.rsplit_once('.').unwrap_or_default();
    finding.subjects.iter().any(|it| is_named(it)) || is_named(&finding.blame) || is_named(class)
}

fn list(found: &[Found]) -> String {
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    all.join("\n")
}

fn folder(suite: &Suite) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/languages").join(suite.name)
}

/// The name of the file of a program, without its extension, begins with a capital letter.
fn capitalised(program: &str) -> String {
    let (first, rest) = program.split_at(1);
    first.to_uppercase() + rest
}

fn source(suite: &Suite, program: &str) -> PathBuf {
    let names = [capitalised(program), program.to_owned()];
    let files = names.map(|name| folder(suite).join(format!("{name}.{}", suite.extension)));
    files.iter().find(|file| file.is_file()).unwrap_or(&files[0]).clone()
}

/// What a bad program says that is to be found in it.
fn expectation(source: &Path) -> Result<String, Failed> {
    let text = fs::read_to_string(source)?;
    let wanted = text.lines().find_map(|line| line.split_once("@ finds: "));
    let (_, wanted) = wanted.ok_or_else(|| format!("{} expects nothing", source.display()))?;
    Ok(wanted.trim().to_owned())
}

/// Runs a program as users do, and returns what was found. A program that did not come to its end would show
/// nothing.
fn observe(setup: &Setup, suite: &Suite, program: &str) -> Result<Vec<Found>, Failed> {
    let classes = folder(suite).join("classes.jar");
    let class_path = format!("{}:{}", classes.display(), setup.class_path(suite.name)?);
    let temporary = tempfile::tempdir()?;
    let report = temporary.path().join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
    command.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
    command.args(["--format", "json", "--output"]).arg(&report);
    command.arg("--agent").arg(setup.agent()).arg("--");
    command.arg(setup.jvm(17).join("bin/java")).arg("-cp").arg(class_path);
    let output = command.arg((suite.main_class)(program, &capitalised(program))).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !said.lines().any(|line| line.starts_with("done ")) {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(
            format!("it did not come to its end ({}):\n{said}\n{error}", output.status).into()
        );
    }
    findings_in(&fs::read(&report)?)
}

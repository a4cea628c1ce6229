//! What `scission check` finds in the programs in Kotlin, Scala, Groovy and Clojure of `fixtures/languages`, from their class
//! files alone: the runtimes of the languages are not there. A correct program has no finding that is shown by default, and the
//! defect of its bad twin is found, but for the lists here, which must not say more than is so.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The bad programs whose defect is not found, and why.
const MISSED: &[(&str, &[&str], &str)] = &[
    (
        "kotlin",
        &["bad02", "bad05", "bad08", "bad10"],
        "what `coroutineScope` and a dispatcher run is not followed; a `MutableStateFlow` is got and set",
    ),
    (
        "scala2",
        &["bad06"],
        "the operations of a `TrieMap` are not known to be keyed without its jar",
    ),
    (
        "scala3",
        &["bad07", "bad10"],
        "the locked steps are passed by name; an atomic is read and set in two steps",
    ),
    ("groovy", &["bad01", "bad02", "bad03", "bad04"], "calls are dynamic"),
    ("clojure", &["bad01", "bad02", "bad03", "bad04", "bad05"], "calls are dynamic"),
];

/// The correct programs with findings, and why.
const FALSE_ALARMS: &[(&str, &[&str], &str)] = &[(
    "scala2",
    &["good03"],
    "a lazy value is written under a lock and read again without it, which its flag makes safe",
)];

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/languages").join(language)
}

fn check(language: &str) -> Value {
    let mut scission = Command::new(env!("CARGO_BIN_EXE_scission"));
    scission.args(["check", "--no-config", "--format", "json"]);
    let output = scission.arg(folder(language).join("classes.jar")).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The programs of a language, each with what its defect is about; none in correct ones.
fn programs(language: &str) -> Vec<(String, Option<String>)> {
    let files = fs::read_dir(folder(language)).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension != "jar"))
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let wanted = text.lines().find_map(|line| line.split_once("@ finds: "));
            let name = file.file_stem().unwrap().to_str().unwrap().to_lowercase();
            (name, wanted.map(|(_, wanted)| wanted.trim().trim_start_matches('$').to_owned()))
        })
        .collect();
    programs.sort();
    programs
}

/// Whether a finding is in a program: each is a package.
fn is_in(finding: &Value, program: &str) -> bool {
    let class = finding["blame"]["class"].as_str().unwrap().to_lowercase();
    class.split('.').next() == Some(program)
}

/// Whether a finding is about a variable, or blames a method or a class of this name.
fn is_about(finding: &Value, wanted: &str) -> bool {
    let is_named = |text: &str| text.rsplit(['.', '$']).next() == Some(wanted);
    let subjects = finding["subjects"].as_object().unwrap().values();
    subjects.filter_map(Value::as_str).any(is_named)
        || is_named(finding["blame"]["class"].as_str().unwrap())
        || is_named(finding["blame"]["method"].as_str().unwrap())
}

fn listed(list: &[(&str, &[&str], &str)], language: &str) -> BTreeSet<String> {
    let of_language = list.iter().filter(|(name, ..)| *name == language);
    of_language.flat_map(|(_, programs, _)| programs.iter().map(ToString::to_string)).collect()
}

#[test]
fn defects_are_found_and_correct_programs_are_silent() {
    for (language, ..) in MISSED {
        let report = check(language);
        let findings = report["findings"].as_array().unwrap();
        let (mut missed, mut false_alarms) = (BTreeSet::new(), BTreeSet::new());
        for (program, wanted) in programs(language) {
            let mut of_program = findings.iter().filter(|finding| is_in(finding, &program));
            match wanted {
                Some(wanted) if !of_program.any(|finding| is_about(finding, &wanted)) => {
                    missed.insert(program);
                }
                None if of_program.next().is_some() => {
                    false_alarms.insert(program);
                }
                _ => {}
            }
        }
        assert_eq!(missed, listed(MISSED, language), "missed in {language}");
        assert_eq!(false_alarms, listed(FALSE_ALARMS, language), "false alarms in {language}");
    }
}

/// Where calls are dynamic, one gap says so.
#[test]
fn dynamic_calls_are_a_gap() {
    for language in ["groovy", "clojure"] {
        let report = check(language);
        let gaps = report["gaps"].as_array().unwrap();
        let is_dynamic =
            |gap: &&Value| gap["kind"] == "dynamic-call" || gap["kind"] == "reflection";
        assert!(gaps.iter().any(|gap| is_dynamic(&gap)), "{language}: {gaps:#?}");
    }
}

//! `scission check` on the programs of the benchmarks: those that are correct have no finding of severity `high`, and those that are
//! wrong on purpose have some, so that silence means something.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Programs of the benchmarks that are made to be wrong: collections whose methods use two locks or one lock twice, and a search
/// that forgets its locks on paths that it does not take.
const WRONG_ON_PURPOSE: [&str; 4] = ["Crawler", "SharedHashtable", "SharedStack", "SharedVector"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The source files below a folder, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut found: Vec<PathBuf> = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry can be read").path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "java") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn compile(files: &[PathBuf], to: &Path) {
    let status = Command::new("javac")
        .args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-nowarn", "-g"])
        .args(["--release", "11", "-d"])
        .arg(to)
        .args(files)
        .status()
        .unwrap_or_else(|error| panic!("javac of a JDK is needed on the path: {error}"));
    assert!(status.success(), "the programs can be compiled");
}

/// The findings about some class files or folders, from a severity on.
fn findings(inputs: &[PathBuf], level: &str) -> Vec<Value> {
    let inputs = std::env::join_paths(inputs).expect("no path has a separator in it");
    let output = Command::new(env!("CARGO_BIN_EXE_scission"))
        .args(["check", "--format", "json", "--level", level])
        .arg(inputs)
        .output()
        .expect("the binary runs");
    assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    report["findings"].as_array().expect("a report has findings").clone()
}

fn is_high(finding: &Value) -> bool {
    finding["severity"] == "high"
}

#[test]
fn programs_of_the_benchmarks_have_no_high_findings_but_those_that_are_wrong_on_purpose() {
    let classes = tempfile::tempdir().expect("a temporary directory can be made");
    let programs = repository().join("bench/programs");
    let in_folder = |file: &PathBuf| file.parent() == Some(programs.as_path());
    let files: Vec<PathBuf> = sources(&programs).into_iter().filter(in_folder).collect();
    compile(&files, classes.path());
    let found = findings(&[classes.path().to_path_buf()], "high");
    let blamed: BTreeSet<String> = found
        .iter()
        .filter(|finding| is_high(finding))
        .map(|finding| {
            let class = finding["blame"]["class"].as_str().expect("a class is blamed");
            let simple = class.rsplit('.').next().unwrap_or(class);
            simple.split('$').next().unwrap_or(simple).to_owned()
        })
        .collect();
    assert_eq!(blamed, WRONG_ON_PURPOSE.map(str::to_owned).into(), "{found:#?}");
}

/// The programs of `bench/order/tuned` with one of their versions taken out, compiled.
struct OneVersion {
    directory: tempfile::TempDir,
    names: Vec<String>,
}

impl OneVersion {
    fn without(version: &str) -> OneVersion {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let order = repository().join("bench/order");
        let (mut files, mut names) = (sources(&order.join("support")), Vec::new());
        for source in sources(&order.join("tuned")) {
            let text = fs::read_to_string(&source).expect("a program can be read");
            let name =
                source.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let file = directory.path().join(format!("{name}.java"));
            fs::write(&file, without_body(&text, version)).expect("a program can be written");
            files.push(file);
            names.push(name);
        }
        files.retain(|file| file.file_stem().is_some_and(|stem| stem != "RunAll"));
        compile(&files, &directory.path().join("classes"));
        OneVersion { directory, names }
    }

    /// The class files of a program, with what all of them use.
    fn class_files(&self, name: &str) -> Vec<PathBuf> {
        let folder =
            fs::read_dir(self.directory.path().join("classes")).expect("classes are there");
        let mut files: Vec<PathBuf> = folder
            .map(|entry| entry.expect("an entry can be read").path())
            .filter(|file| {
                let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let class = file.trim_end_matches(".class");
                let outermost = class.split('$').next().unwrap_or(class);
                [name, "Pair", "VirtualThreads"].contains(&outermost)
            })
            .collect();
        files.sort();
        files
    }
}

/// A program whose version does nothing.
fn without_body(text: &str, version: &str) -> String {
    let head = format!("static int {version}()");
    let start = text.find(&head).unwrap_or_else(|| panic!("`{head}` is in {text}"));
    let open = start + text[start..].find('{').expect("a method has a body");
    let mut depth = 0;
    let is_end = |(at, character): (usize, char)| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    };
    let close = text[open..].char_indices().find_map(is_end).expect("a body ends");
    format!("{}{head} {{ return 42; {}", &text[..start], &text[open + close..])
}

/// Of the versions without the order so many have a finding about the variable.
const REPORTED: usize = 100;

#[test]
fn what_lacks_the_order_is_reported() {
    let bad = OneVersion::without("good");
    let is_about_cell = |finding: &Value| finding.to_string().contains("Cell.value");
    let reported = bad
        .names
        .iter()
        .filter(|name| findings(&bad.class_files(name), "low").iter().any(is_about_cell));
    let reported = reported.count();
    assert!(reported >= REPORTED, "{reported} of {} are reported", bad.names.len());
}

//! Compiling and running Java.

use std::path::Path;
use std::process::{Command, Stdio};

use classes::Jdk;

/// Compiles sources, given with their file names, into a directory.
pub(crate) fn compile(jdk: &Jdk, sources: &[(&str, &str)], into: &Path, options: &[&str]) {
    let source_directory = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in sources {
        let path = source_directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        paths.push(path);
    }
    std::fs::create_dir_all(into).unwrap();
    let output = Command::new(jdk.home.join("bin/javac"))
        .args(["-nowarn", "-Xlint:none", "-proc:none", "-d"])
        .arg(into)
        .arg("-cp")
        .arg(into)
        .args(options)
        .args(paths)
        .output()
        .expect("javac starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "javac: {errors}");
}

/// What a run of Java wrote.
pub(crate) struct Run {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) succeeded: bool,
}

/// Runs Java and waits for its end.
pub(crate) fn java(jdk: &Jdk, arguments: &[&str]) -> Run {
    let output = Command::new(jdk.home.join("bin/java"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("java starts");
    Run {
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        succeeded: output.status.success(),
    }
}

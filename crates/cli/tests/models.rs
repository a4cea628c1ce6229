//! `--models` and `scission models` from outside.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn scission(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scission"))
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .args(arguments)
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A directory with a class of one's own in it: the smallest class file there is.
fn project() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("Tiny.class"), tiny_class()).unwrap();
    directory
}

/// `class Tiny {}` without any member.
fn tiny_class() -> Vec<u8> {
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5];
    for (index, name) in [(2_u8, "Tiny"), (4, "java/lang/Object")] {
        bytes.extend([7, 0, index, 1, 0, name.len() as u8]);
        bytes.extend(name.as_bytes());
    }
    bytes.extend([0, 0x20, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_nearest_word() {
    let project = project();
    let text = "class a.Lock\n  lock: aquire this exclusive\n  f: blocks\n  f: nothing\n";
    fs::write(project.path().join("a.models"), text).unwrap();
    for arguments in [
        &["check", "--models", "a.models", "Tiny.class"][..],
        &["run", "--models", "a.models", "--", "true"],
        &["models", "show", "a.*", "--models", "a.models"],
        &["inspect", "Tiny.class", "--threads", "--models", "a.models"],
    ] {
        let output = scission(project.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(
            said(&output),
            "error: a.models:2: `aquire` is no effect; did you mean `acquire`?\n\
             error: a.models:4: this method of `a.Lock` has a row in line 3 already\n",
            "{arguments:?}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let project = project();
    let output = scission(project.path(), &["check", "--models", "none.models", "Tiny.class"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot read the models in `none.models`"), "{output:?}");
}

#[test]
fn what_matches_nothing_is_named() {
    let project = project();
    let text = "class Tiny is immutable\n  gone: blocks\nclass Other\n  run is entry pool many\n";
    fs::write(project.path().join("a.models"), text).unwrap();
    fs::write(project.path().join("scission.toml"), "models = [\"a.models\"]\n").unwrap();
    let output = scission(project.path(), &["check", "--jdk", "none", "Tiny.class"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = printed(&output);
    assert!(
        text.contains("`gone: blocks` of `Tiny` at a.models:2 matches nothing in the program"),
        "{text}"
    );
    assert!(
        text.contains("`run is entry pool many` of `Other` at a.models:4 matches nothing"),
        "{text}"
    );
    assert!(!text.contains("immutable"), "{text}");
}

#[test]
fn rows_are_shown_with_who_says_so() {
    let project = project();
    let text = "class a.Lock is thread-safe\n  lock: acquire this exclusive\n";
    fs::write(project.path().join("a.models"), text).unwrap();
    let output = scission(project.path(), &["models", "show", "a.Lock.*", "--models", "a.models"]);
    assert_eq!(
        printed(&output),
        "class a.Lock is thread-safe  # a.models:1\n\
         class a.Lock\n  lock: acquire this exclusive  # a.models:2\n"
    );
    let show = ["models", "show", "java.util.concurrent.locks.Lock.*"];
    let output = printed(&scission(project.path(), &show));
    assert!(
        output.contains(
            "  tryLock() boolean: acquire this exclusive if true  # built in, java-base/locks.models:"
        ),
        "{output}"
    );
    // What is shown can be read again.
    fs::write(project.path().join("b.models"), &output).unwrap();
    let again = scission(project.path(), &["models", "show", "a.*", "--models", "b.models"]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
}

#[test]
fn the_list_has_every_file() {
    let project = project();
    let output = printed(&scission(project.path(), &["models"]));
    for file in ["guava.models", "java-base/locks.models", "kotlin.models", "spring.models"] {
        assert!(output.contains(&format!("{file} (built in): ")), "{output}");
    }
    assert!(output.contains("\n  java.util.concurrent.locks.ReentrantLock "), "{output}");
}

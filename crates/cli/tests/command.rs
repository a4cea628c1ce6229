//! End-to-end tests of the command: exit codes, messages, broken pipes.

use std::io::pipe;
use std::process::{Command, Output};

fn scission(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary runs")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.args(arguments);
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn wrong_options_are_exit_code_2() {
    let wrong: [&[&str]; 8] = [
        &[],
        &["frobnicate"],
        &["check"],
        &["check", "--frobnicate", "app.jar"],
        &["check", "--format", "yaml", "app.jar"],
        &["check", "--quiet", "--verbose", "app.jar"],
        &["check", "--call-graph", "xta", "app.jar"],
        &["inspect", "app.jar"],
    ];
    for arguments in wrong {
        let output = scission(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_no_failures() {
    for arguments in [&["--help"][..], &["--version"], &["check", "--help"]] {
        let output = scission(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(stdout(&output).contains("scission"), "{arguments:?}");
    }
}

#[test]
fn an_unknown_rule_is_answered_with_the_nearest_one() {
    for arguments in
        [&["explain", "reaquired-lock"][..], &["check", "--rule", "reaquired-lock", "a"]]
    {
        let output = scission(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = stderr(&output);
        assert!(said.contains("tip: a similar value exists: 'reacquired-lock'"), "{said}");
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let list = scission(&["explain"]);
    assert_eq!(list.status.code(), Some(0));
    for rule in findings::rules::ALL {
        assert!(stdout(&list).contains(rule.name));
        let page = scission(&["explain", rule.name]);
        assert_eq!(page.status.code(), Some(0));
        assert!(stdout(&page).starts_with(&format!("# {}\n\n", rule.name)));
        assert!(stdout(&page).contains("## Fix\n"));
    }
}

#[test]
fn a_broken_pipe_is_no_failure() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = command(&["explain", "reacquired-lock"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_is_not_there_is_said_in_one_sentence() {
    let missing: [(&[&str], &str); 2] = [
        (&["check", "no-such.jar"], "no-such.jar"),
        (&["check", "no-such.jar", "--source", "no/such/dir"], "no/such/dir"),
    ];
    for (arguments, name) in missing {
        let output = scission(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
        let said = stderr(&output);
        assert!(said.starts_with("error: ") && said.contains(name), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

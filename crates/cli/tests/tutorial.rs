//! The tutorial does what it says: its program is written, its commands are typed, and what it shows comes out.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Stands for any text.
const ELLIPSIS: &str = "[…]";
const PROMPT: &str = "$ ";

/// A command with what must come of it.
struct Step<'t> {
    command: &'t str,
    shown: Vec<&'t str>,
    code: i32,
}

/// The text of a tutorial without its listings, and the first listing.
fn program(text: &str) -> &str {
    text.split("```java\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program")
}

/// What is indented by four blanks outside of listings.
fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_listing = false;
    for line in text.lines() {
        is_listing ^= line.starts_with("```");
        let Some(line) = line.strip_prefix("    ").filter(|_| !is_listing) else { continue };
        if let Some(command) = line.strip_prefix(PROMPT) {
            steps.push(Step { command, shown: Vec::new(), code: 0 });
        } else if let Some(code) = line.strip_prefix("[exit code ") {
            let step = steps.last_mut().expect("a command");
            step.code = code.trim_end_matches(']').parse().unwrap();
        } else {
            steps.last_mut().expect("a command").shown.push(line);
        }
    }
    steps
}

/// Whether the lines are there in this order, with anything where there are dots.
fn position_after(output: &str, shown: &[&str]) -> Result<(), String> {
    let mut rest = output;
    for part in shown.iter().flat_map(|line| line.split(ELLIPSIS)).filter(|part| !part.is_empty()) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return Err(format!("`{part}` is not shown, or not in this order")),
        }
    }
    Ok(())
}

#[test]
fn the_commands_of_the_tutorial_do_what_it_says() {
    let binary = Path::new(env!("CARGO_BIN_EXE_scission"));
    if !binary.with_file_name("libscission_agent.so").is_file() {
        assert!(std::env::var_os("SCISSION_TEST_ALL").is_none(), "the agent is not built");
        eprintln!(
            "skipped: the agent library is not built; `cargo build -p scission-agent` builds it"
        );
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let text = fs::read_to_string(page).unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("Tickets.java"), program(&text)).unwrap();
    // No configuration above the directory counts.
    fs::write(directory.path().join("scission.toml"), "").unwrap();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::iter::once(binary.parent().unwrap().to_path_buf()).chain(std::env::split_paths(&old));
    let path = std::env::join_paths(folders).unwrap();
    let steps = steps(&text);
    assert!(steps.len() >= 8, "{} commands", steps.len());
    for step in steps {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{} 2>&1", step.command)]).current_dir(directory.path());
        shell.env("PATH", &path).env_remove("JAVA_TOOL_OPTIONS");
        let output = shell.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(step.code), "`{}` printed\n{said}", step.command);
        if let Err(why) = position_after(&said, &step.shown) {
            panic!("`{}`: {why} in\n{said}", step.command);
        }
    }
    assert!(directory.path().join("page.html").is_file());
}

//! Ctrl-C and budgets: every command ends soon, whatever it is doing, and prints what it knows.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The promise is two seconds, on a machine that has nothing else to do.
const MOST: Duration = Duration::from_secs(10);

/// A run in which two threads write to a variable that nothing guards.
const RACE: &str = "t1 fork t2\nt1 wr x\nt2 wr x\n";

fn start(arguments: &[&str], directory: &Path) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_scission"))
        .args(arguments)
        .current_dir(directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    while !catches_interrupts(&child) {
        thread::yield_now();
    }
    child
}

/// Whether the process has installed a handler, as the system shows it; one that has ended has not.
fn catches_interrupts(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let Some(caught) = caught else { panic!("it ended before it could be interrupted") };
    u64::from_str_radix(caught.trim(), 16).expect("a mask of signals") & 0b10 != 0
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("there is `kill`").success());
}

/// Waits for a process that was interrupted, without closing its input before.
fn ended(mut child: Child, asked: Instant) -> Output {
    let _input = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    let took = asked.elapsed();
    assert!(took < MOST, "it took {took:?} to end: {}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory can be read").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn code(status: ExitStatus) -> i32 {
    status.code().expect("it ends by itself")
}

#[test]
fn check_reports_what_it_knows_in_every_phase() {
    // While it reads, links, reads the library, makes bodies, the call graph, the heap, and in the analyses.
    for milliseconds in [0, 300, 1_000, 2_000, 4_000, 8_000] {
        let directory = tempfile::tempdir().unwrap();
        let outputs = ["--html", "page.html", "--write-baseline", "baseline.json"];
        let arguments = [&["check", "jrt:java.base", "--library", "full"], &outputs[..]].concat();
        let child = start(&arguments, directory.path());
        thread::sleep(Duration::from_millis(milliseconds));
        let asked = Instant::now();
        interrupt(&child);
        let output = ended(child, asked);
        let (report, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(report.contains("interrupted"), "after {milliseconds} ms: {report}{errors}");
        // The baseline of a part would take all of it for known.
        assert_eq!(code(output.status), 2, "after {milliseconds} ms: {errors}");
        assert!(errors.contains("the baseline `baseline.json` was not written"), "{errors}");
        assert_eq!(names(directory.path()), ["page.html"]);
    }
}

#[test]
fn an_interrupt_has_an_exit_code_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let child = start(&["check", "jrt:java.base", "--library", "full"], directory.path());
    let asked = Instant::now();
    interrupt(&child);
    assert_eq!(code(ended(child, asked).status), 130);
}

#[test]
fn a_budget_ends_every_phase_and_leaves_a_gap() {
    for budget in ["0ms", "1s", "4s", "150MiB"] {
        let directory = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let flags =
            ["check", "jrt:java.base", "--library", "full", "--verbose", "--budget", budget];
        let mut child = Command::new(env!("CARGO_BIN_EXE_scission"));
        child.args(flags).current_dir(directory.path());
        let output = child.output().expect("the binary runs");
        let took = began.elapsed();
        let (report, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(took < MOST * 2, "{budget}: {took:?}");
        assert!(report.contains("the budget was used up"), "{budget}: {report}{errors}");
        let nothing = "the budget was used up before anything was analysed";
        assert_eq!(code(output.status) == 2, errors.contains(nothing), "{budget}: {errors}");
        assert!(budget != "0ms" || code(output.status) == 2, "{report}");
    }
}

#[test]
fn a_description_is_whole_or_not_printed() {
    for milliseconds in [0, 3_000] {
        let directory = tempfile::tempdir().unwrap();
        let flags = ["inspect", "jrt:java.base", "--library", "full", "--heap"];
        let child = start(&flags, directory.path());
        thread::sleep(Duration::from_millis(milliseconds));
        let asked = Instant::now();
        interrupt(&child);
        let output = ended(child, asked);
        assert_eq!((code(output.status), text(&output.stdout).as_str()), (130, ""));
    }
}

#[test]
fn a_trace_that_does_not_end_is_checked_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let mut child =
        start(&["trace", "-", "--no-config", "--monitor", "happens-before"], directory.path());
    child.stdin.as_mut().unwrap().write_all(RACE.as_bytes()).unwrap();
    // The command may not have read it yet, and says so then: it is read to its end here or on the way.
    thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    interrupt(&child);
    let output = ended(child, asked);
    let report = text(&output.stdout);
    assert_eq!(code(output.status), 1, "{report}{}", text(&output.stderr));
    assert!(report.contains("happens-before-race") && report.contains("interrupted"), "{report}");
}

#[test]
fn a_conversion_that_is_interrupted_leaves_nothing() {
    for form in ["text", "binary", "std"] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("out"), "older").unwrap();
        let mut child = start(&["trace", "-", "--to", form, "--output", "out"], directory.path());
        child.stdin.as_mut().unwrap().write_all(RACE.as_bytes()).unwrap();
        let asked = Instant::now();
        interrupt(&child);
        let output = ended(child, asked);
        assert_eq!(code(output.status), 130, "{form}: {}", text(&output.stderr));
        assert_eq!(names(directory.path()), ["out"], "{form}");
        assert_eq!(fs::read_to_string(directory.path().join("out")).unwrap(), "older");
    }
}

#[test]
fn a_program_that_does_not_listen_is_killed_in_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let program = "trap '' INT; echo deaf; while :; do sleep 0.1; done";
    let mut child = start(&["run", "--no-config", "--", "sh", "-c", program], directory.path());
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    // One request is the program's own affair.
    interrupt(&child);
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        thread::sleep(Duration::from_millis(50));
        assert!(asked.elapsed() < MOST, "it goes on");
    }
    let output = ended(child, asked);
    assert_eq!(code(output.status), 137, "{}", text(&output.stderr));
}

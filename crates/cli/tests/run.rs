//! End-to-end tests of `scission run`: the environment of the program, messages, exit codes.
//!
//! Most tests need no JVM: a script that is called `java` stands for one, and leaves the results that an
//! agent would. The tests at the end need the agent itself and are passed over where it is not built.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agent_protocol::{Ending, Recording, Results};
use findings::{Evidence, Finding, Gap, GapKind, Severity, Site, Step, Witness};

/// What a script that stands for `java` begins with: the directory that its options name, and where it
/// leaves its results.
const FAKE_JAVA: &str = r#"#!/bin/sh
results=$(printf '%s' "$1" | sed -n 's/.*results=\([^,]*\).*/\1/p')
leave() { sed "s/4711/$$/g" "$here/$1" > "$results/$$.json"; }
"#;

/// A directory with a fake agent library, and without a configuration above it.
struct TestDirectory(tempfile::TempDir);

impl TestDirectory {
    fn new() -> TestDirectory {
        let directory = TestDirectory(tempfile::tempdir().unwrap());
        fs::write(directory.path("agent.so"), "").unwrap();
        fs::write(directory.path("scission.toml"), "").unwrap();
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a script that stands for `java`.
    fn fake_java(&self, script: &str) {
        let file = self.path("java");
        let head = FAKE_JAVA.replace("$here", &self.0.path().display().to_string());
        fs::write(&file, format!("{head}{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Keeps results for `leave NAME`.
    fn results(&self, name: &str, results: &Results) {
        let results = Results { process: 4711, ..results.clone() };
        results.write(self.0.path()).unwrap();
        fs::rename(self.path("4711.json"), self.path(name)).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        command.arg("run").args(arguments).current_dir(self.0.path());
        command.env_remove("JAVA_TOOL_OPTIONS").env("SCISSION_AGENT", self.path("agent.so"));
        command
    }

    fn run(&self, arguments: &[&str]) -> RunOutput {
        RunOutput::of(self.command(arguments).output().unwrap())
    }
}

/// What a run left.
#[derive(Debug)]
struct RunOutput {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl RunOutput {
    fn of(output: Output) -> RunOutput {
        RunOutput {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn complete() -> Results {
    Results {
        ending: Ending::Complete,
        java_version: "17.0.1".into(),
        command: "p.Main".into(),
        classes_watched: 3,
        threads: 2,
        ..Results::default()
    }
}

fn finding(method: &str) -> Finding {
    let site = |offset| Site {
        class: "p.A".into(),
        method: method.into(),
        descriptor: "()V".into(),
        offset: Some(offset),
        file: Some("p/A.java".into()),
        line: Some(offset),
    };
    let step = |role, offset| Step::at(role, site(offset));
    Finding {
        rule: "happens-before-race",
        evidence: Evidence::Observed,
        severity: Severity::High,
        blame: site(2),
        subjects: BTreeMap::from([("variable", format!("p.A.{method}Count"))]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![Witness::new("happens-before", vec![step("first", 1), step("second", 2)])],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}

#[test]
fn without_the_agent_the_program_runs_all_the_same() {
    let directory = TestDirectory::new();
    let run_output = directory.run(&[
        "--agent",
        "no/agent.so",
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2; exit 3",
    ]);
    assert_eq!(run_output.code, Some(3));
    assert_eq!(run_output.stdout, "out\n");
    let said =
        "warning: there is no agent library `no/agent.so`: the program runs unwatched\nerr\n";
    assert_eq!(run_output.stderr, said);

    let output =
        directory.command(&["--", "true"]).env("SCISSION_AGENT", "no.so").output().unwrap();
    assert!(RunOutput::of(output).stderr.contains("`no.so`"));
    let arguments = ["--agent", "no.so", "--output", "r.json", "--format", "json", "--", "true"];
    assert_eq!(directory.run(&arguments).code, Some(2), "a run that was not watched is not green");
    let report = fs::read_to_string(directory.path("r.json")).unwrap();
    assert!(report.contains("the program ran unwatched"), "{report}");
}

#[test]
fn a_required_agent_that_is_missing_is_exit_code_2() {
    let directory = TestDirectory::new();
    let run_output =
        directory.run(&["--agent", "no.so", "--require-agent", "--", "sh", "-c", "echo out"]);
    assert_eq!(run_output.code, Some(2));
    assert_eq!(run_output.stdout, "");
    assert_eq!(run_output.stderr, "error: there is no agent library `no.so`\n");
}

#[test]
fn an_agent_of_another_machine_is_not_given_to_java() {
    let directory = TestDirectory::new();
    let elf = |machine: u8| [b"\x7fELF\x02".as_slice(), &[0; 13], &[machine, 0]].concat();
    fs::write(directory.path("java"), elf(62)).unwrap();
    fs::write(directory.path("agent.so"), elf(183)).unwrap();
    let run_output = directory.run(&["--require-agent", "--", "./java", "-version"]);
    assert_eq!(run_output.code, Some(2));
    assert!(
        run_output.stderr.contains("made for another kind of machine than `./java`"),
        "{run_output:?}"
    );
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let directory = TestDirectory::new();
    // Nobody looks at these programs, so that a success is none.
    for (script, code) in
        [("exit 0", 2), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
    {
        for agent in ["agent.so", "no.so"] {
            let run_output = directory.run(&["--agent", agent, "--", "sh", "-c", script]);
            assert_eq!(run_output.code, Some(code), "{script}: {run_output:?}");
        }
    }
    for (command, said) in [
        ("no-such-command", "error: cannot run `no-such-command`: there is no such command\n"),
        ("./agent.so", "error: cannot run `./agent.so`: no permission\n"),
    ] {
        let run_output = directory.run(&["--", command]);
        assert_eq!((run_output.code, run_output.stderr.as_str()), (Some(2), said));
    }
}

#[test]
fn input_and_output_belong_to_the_program() {
    let directory = TestDirectory::new();
    let mut child = directory
        .command(&["--agent", "no.so", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"\xffany bytes\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"\xffany bytes\n");
}

#[test]
fn java_gets_the_agent_as_its_first_argument() {
    let directory = TestDirectory::new();
    directory.fake_java("printf '%s\\n' \"$@\"; echo \"tool options: $JAVA_TOOL_OPTIONS\"");
    let line = "--arrays --exclude a.B --monitor velodrome --no-filter epoch --no-children \
                --results r -- ./java -cp x Main -h";
    let run_output = directory.run(&line.split_whitespace().collect::<Vec<_>>());
    let lines: Vec<&str> = run_output.stdout.lines().collect();
    assert_eq!(lines[1..], ["-cp", "x", "Main", "-h", "tool options: "]);
    let agent = directory.path("agent.so").display().to_string();
    let options = lines[0].strip_prefix(&format!("-agentpath:{agent}=")).unwrap();
    let options: agent_protocol::Options = options.parse().unwrap();
    let expected = agent_protocol::Options {
        results: Some(directory.path("r")),
        exclude: vec!["a.B".into()],
        arrays: true,
        epoch_filter: false,
        monitors: vec!["velodrome".into()],
        children: false,
        ..agent_protocol::Options::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn other_launchers_get_the_agent_through_the_environment() {
    let directory = TestDirectory::new();
    let output = directory
        .command(&["--", "sh", "-c", "printf %s \"$JAVA_TOOL_OPTIONS\""])
        .env("JAVA_TOOL_OPTIONS", "-Xmx1g")
        .output()
        .unwrap();
    let agent = directory.path("agent.so").display().to_string();
    let said = RunOutput::of(output).stdout;
    assert!(said.starts_with(&format!("-Xmx1g -agentpath:{agent}=results=")), "{said}");
    assert!(said.contains("monitor=velodrome,monitor=happens-before"), "{said}");
}

#[test]
fn the_configuration_says_what_is_watched_and_what_is_atomic() {
    let directory = TestDirectory::new();
    let text = "exclude = ['reported.not']\n[run]\ninclude = ['w']\nexclude = ['x']\narrays = true\n\
                [atomic]\nexclude = ['p.A.m']\n";
    fs::write(directory.path("scission.toml"), text).unwrap();
    directory.fake_java("echo \"$1\"");
    let run_output = directory.run(&["--exclude", "y", "--", "./java"]);
    let options: agent_protocol::Options =
        run_output.stdout.trim().split_once('=').unwrap().1.parse().unwrap();
    assert_eq!(
        (options.include, options.exclude),
        (vec!["w".into()], vec!["x".into(), "y".into()])
    );
    assert_eq!(options.atomic_exclude, ["p.A.m"]);
    assert!(options.arrays);
}

#[test]
fn the_line_for_doing_it_by_hand_is_printed() {
    let directory = TestDirectory::new();
    let run_output =
        directory.run(&["--print-options", "--results", "r", "--monitor", "velodrome"]);
    let here = directory.0.path().display();
    let line = format!(
        "JAVA_TOOL_OPTIONS=-agentpath:{here}/agent.so=results={here}/r,monitor=velodrome\n"
    );
    assert_eq!((run_output.code, run_output.stdout), (Some(0), line));
    assert!(directory.path("r").is_dir(), "the directory must be there when a JVM needs it");
    let run_output = directory.run(&["--print-options"]);
    assert_eq!(run_output.code, Some(2));
    assert!(
        run_output.stderr.contains("give `--results DIR` or `--record FILE`"),
        "{run_output:?}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_before_the_program_runs() {
    let directory = TestDirectory::new();
    for (arguments, said) in [
        (&["--results", "no/such"][..], "cannot read the results in `no/such`"),
        (&[], "there is nothing to run"),
        (&["--monitor", "none", "--", "echo", "ran"], "`--monitor none` needs `--record FILE`"),
        (&["--watch-list", "no.txt", "--", "echo", "ran"], "there is no watch list `no.txt`"),
        (
            &["--shared-fields", "no/such", "--", "echo", "ran"],
            "cannot write the shared fields to `no/such`: the directory `no` does not exist",
        ),
        (
            &["--suspicions", "no.json", "--", "echo", "ran"],
            "cannot use the suspicions in `no.json`: there is no such file",
        ),
        (
            &["--monitor", "velodrom", "--", "echo", "ran"],
            "tip: a similar value exists: 'velodrome'",
        ),
        (&["--no-filter", "x", "--", "echo", "ran"], "[possible values: ownership, epoch, all]"),
        (&["--exclude", "a b", "--", "echo", "ran"], "is no part of a name"),
        (&["--baseline", "no.json", "--", "echo", "ran"], "cannot use the baseline `no.json`"),
        (
            &["--learn-spec", "s.toml", "--libraries", "full", "--", "echo", "ran"],
            "lists methods of your own code",
        ),
        (&["echo", "ran"], "unexpected argument"),
    ] {
        let run_output = directory.run(arguments);
        assert_eq!((run_output.code, run_output.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run_output.stderr.contains(said), "{}\ndoes not say\n{said}", run_output.stderr);
    }
}

/// Starts a program that waits for a signal, sends it to `scission` alone, and returns how that ended.
fn signalled(signal: &str) -> RunOutput {
    let directory = TestDirectory::new();
    let script = format!(
        "trap 'echo got {signal}; exit 5' {signal}; echo ready; while :; do sleep 0.05; done"
    );
    let mut child = directory
        .command(&["--agent", "no.so", "--", "sh", "-c", &script])
        // A group of its own: what is sent to it was not typed at a terminal.
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    line.clear();
    stdout.read_line(&mut line).unwrap();
    RunOutput { code: child.wait().unwrap().code(), stdout: line, stderr: String::new() }
}

#[test]
fn signals_reach_the_program_and_it_decides() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let run_output = signalled(signal);
        assert_eq!((run_output.code, run_output.stdout), (Some(5), format!("got {signal}\n")));
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let directory = TestDirectory::new();
    let scission = env!("CARGO_BIN_EXE_scission");
    let script = format!(
        "trap '' HUP; exec {scission} run --agent no.so -- sh -c 'kill -HUP $$; echo alive'"
    );
    let output = Command::new("sh").args(["-c", &script]).current_dir(directory.0.path()).output();
    let run_output = RunOutput::of(output.unwrap());
    assert_eq!((run_output.code, run_output.stdout.as_str()), (Some(2), "alive\n"));
}

#[test]
fn the_report_stands_beside_the_output_of_the_program() {
    let directory = TestDirectory::new();
    directory.results("r", &complete());
    directory.fake_java("echo out; leave r");
    let run_output = directory.run(&["--", "./java", "Main"]);
    assert_eq!((run_output.code, run_output.stdout.as_str()), (Some(0), "out\n"));
    assert_eq!(run_output.stderr, "nothing found, 0 gaps in 3 classes, 2 threads\n");
    let run_output = directory.run(&["--output", "-", "--", "./java", "Main"]);
    assert_eq!(run_output.stdout, "out\nnothing found, 0 gaps in 3 classes, 2 threads\n");
    let run_output = directory.run(&["--output", "r.txt", "--", "./java", "Main"]);
    assert_eq!((run_output.stdout.as_str(), run_output.stderr.as_str()), ("out\n", ""));
    let report = fs::read_to_string(directory.path("r.txt")).unwrap();
    assert_eq!(report, "nothing found, 0 gaps in 3 classes, 2 threads\n");
    assert_eq!(directory.run(&["--quiet", "--", "./java", "Main"]).stderr, "");
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure_unless_the_program_failed_first() {
    let directory = TestDirectory::new();
    directory.results("r", &complete());
    for (code, expected) in [(0, 2), (3, 3)] {
        directory.fake_java(&format!("leave r; exit {code}"));
        let run_output = directory.run(&["--output", "no/such/file", "--", "./java", "Main"]);
        assert_eq!(run_output.code, Some(expected));
        assert!(run_output.stderr.contains("nothing found"), "{run_output:?}");
        assert!(run_output.stderr.contains("printed to standard error instead"), "{run_output:?}");
    }
}

#[test]
fn findings_turn_success_into_1_and_keep_a_failure() {
    let directory = TestDirectory::new();
    directory.results("r", &Results { findings: vec![finding("m")], ..complete() });
    let run = |script: &str, arguments: &[&str]| {
        directory.fake_java(script);
        directory.run(&[arguments, &["--", "./java", "Main"]].concat())
    };
    let run_output = run("leave r", &[]);
    assert_eq!(run_output.code, Some(1));
    assert!(run_output.stderr.contains("error[happens-before-race]"), "{}", run_output.stderr);
    assert!(run_output.stderr.contains("1 finding (1 high; 1 observed)"), "{}", run_output.stderr);
    assert_eq!(run("leave r; exit 3", &[]).code, Some(3));
    assert_eq!(run("leave r", &["--fail-on", "never"]).code, Some(0));
}

#[test]
fn what_several_jvms_found_is_merged() {
    let directory = TestDirectory::new();
    let gap = Gap::new(GapKind::Limit, "p.A.huge()V", "too large");
    let results = |methods: &[&str]| Results {
        findings: methods.iter().map(|method| finding(method)).collect(),
        gaps: vec![gap.clone()],
        notes: vec!["something to know".into()],
        ..complete()
    };
    directory.results("one", &results(&["a", "b"]));
    directory.results("two", &results(&["b", "c"]));
    directory
        .fake_java("leave one; sh -c \"sed s/4711/$$0/g $(dirname $0)/two > $results/${$}0.json\"");
    let run_output = directory.run(&["--format", "json", "--output", "-", "--", "./java", "Main"]);
    let report: serde_json::Value = serde_json::from_str(&run_output.stdout).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 3);
    assert_eq!(report["gaps"][0]["count"], 2);
    assert_eq!(report["remarks"], serde_json::json!(["something to know"]));
    assert_eq!(report["stats"]["jvms"], 2);
    assert_eq!(report["stats"]["classes"], 6);
}

#[test]
fn levels_suppressions_and_the_baseline_are_those_of_the_project() {
    let directory = TestDirectory::new();
    let findings = vec![finding("a"), finding("b"), finding("generated")];
    directory.results("all", &Results { findings, ..complete() });
    directory.results("one", &Results { findings: vec![finding("a")], ..complete() });
    directory.fake_java("leave \"$2\"");
    let text = "exclude = ['p.A.generated']\n[[suppress]]\npattern = 'p.A.b'\nreason = 'known'\n\
                [[suppress]]\npattern = 'p.Elsewhere'\nreason = 'not run today'\n";
    fs::write(directory.path("scission.toml"), text).unwrap();
    let run_output = directory.run(&["--", "./java", "all"]);
    let summary = "1 finding (1 high; 1 observed), 1 suppressed, 0 gaps in 3 classes, 2 threads\n";
    assert!(run_output.stderr.ends_with(summary), "{}", run_output.stderr);
    assert!(
        !run_output.stderr.contains("Elsewhere"),
        "one run says nothing of what did not happen"
    );

    // A run that sees less keeps in the baseline what others saw.
    fs::write(directory.path("scission.toml"), "").unwrap();
    let both = ["--baseline", "b.json", "--write-baseline", "b.json", "--", "./java"];
    for (results, code) in [("all", 1), ("one", 0), ("all", 0)] {
        let run_output = directory.run(&[&both[..], &[results]].concat());
        assert_eq!(run_output.code, Some(code), "{results}: {}", run_output.stderr);
        assert!(!run_output.stderr.contains("gone"), "{}", run_output.stderr);
    }
}

#[test]
fn a_jvm_that_left_nothing_is_mentioned() {
    let directory = TestDirectory::new();
    let run_output = directory.run(&["--", "sh", "-c", "exit 0"]);
    assert_eq!(run_output.code, Some(2));
    assert!(run_output.stderr.contains("warning: no JVM was watched"), "{}", run_output.stderr);
    assert!(run_output.stderr.contains("nothing was watched, 0 gaps"), "{}", run_output.stderr);
    directory.results("nothing", &Results { classes_watched: 0, ..complete() });
    directory.fake_java("leave nothing");
    let run_output = directory.run(&["--", "./java", "NoSuchMain"]);
    assert_eq!(run_output.code, Some(2));
    let said = "warning: no class of the program was watched";
    assert!(run_output.stderr.contains(said), "{}", run_output.stderr);
    let run_output = directory.run(&["--require-agent", "--", "sh", "-c", "exit 0"]);
    assert_eq!(run_output.code, Some(2));
    assert!(run_output.stderr.starts_with("error: no JVM was watched"), "{}", run_output.stderr);

    directory.results("begun", &Results { ending: Ending::Running, ..complete() });
    directory.fake_java("leave begun; kill -9 $$");
    let run_output = directory.run(&["--", "./java", "Main"]);
    assert_eq!(run_output.code, Some(137));
    let said = "warning: `p.Main` (Java 17.0.1) left no results, or incomplete ones: it was \
                killed or is still running\n";
    assert!(run_output.stderr.contains(said), "{}", run_output.stderr);

    directory.fake_java("echo '{}' > \"$results/1.json\"");
    let run_output = directory.run(&["--", "./java", "Main"]);
    assert!(run_output.stderr.contains("must be of the same release"), "{}", run_output.stderr);
}

#[test]
fn names_of_a_run_do_not_control_a_terminal() {
    let directory = TestDirectory::new();
    let hostile = "m\u{1b}]0;title\u{7}\u{9b}2J\u{1b}[2J\r";
    let results = Results {
        command: hostile.into(),
        java_version: hostile.into(),
        notes: vec![hostile.into()],
        gaps: vec![Gap::new(GapKind::Limit, hostile, hostile)],
        watched_places: BTreeMap::from([(hostile.into(), 3)]),
        findings: vec![finding(hostile)],
        lost_events: 1,
        ending: Ending::Running,
        ..complete()
    };
    directory.results("hostile", &results);
    directory.fake_java("leave hostile");
    for flags in [&[][..], &["--verbose"], &["--color", "always"]] {
        let run_output = directory.run(&[flags, &["--", "./java"]].concat());
        assert_eq!(run_output.code, Some(1), "{}", run_output.stderr);
        let text = run_output.stderr;
        assert!(text.contains("\u{fffd}"), "{text:?}");
        let controls = ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\r"];
        let passed = controls.iter().find(|control| text.contains(**control));
        assert_eq!(passed, None, "{text:?}");
    }
}

#[test]
fn the_program_records_to_the_file_that_was_named_and_others_beside_it() {
    let directory = TestDirectory::new();
    let here = directory.0.path().display().to_string();
    let recording = |process: &str| {
        let file = directory.path(&format!("app.{process}.trace"));
        Some(Recording { file, events: 5, ..Recording::default() })
    };
    directory.results("main", &Results { recording: recording("4711"), ..complete() });
    let child = Results { process: 1, recording: recording("1"), ..complete() };
    child.write(directory.0.path()).unwrap();
    directory.fake_java(&format!(
        "leave main; cp {here}/1.json $results; echo main > app.$$.trace; echo child > app.1.trace; echo $1"
    ));
    let run_output = directory.run(&["--record", "app.trace", "--monitor", "none", "--", "./java"]);
    assert!(
        run_output.stdout.contains(&format!(",record={here}/app.%25p.trace")),
        "{}",
        run_output.stdout
    );
    assert_eq!(fs::read_to_string(directory.path("app.trace")).unwrap(), "main\n");
    assert_eq!(fs::read_to_string(directory.path("app.1.trace")).unwrap(), "child\n");
}

#[test]
fn results_that_are_kept_can_be_reported_later() {
    let directory = TestDirectory::new();
    directory.results("r", &Results { findings: vec![finding("m")], ..complete() });
    directory.fake_java("leave r");
    assert_eq!(directory.run(&["--results", "kept", "--", "./java"]).code, Some(1));
    let run_output = directory.run(&["--results", "kept"]);
    assert_eq!(run_output.code, Some(1));
    assert!(run_output.stderr.contains("1 finding"), "{}", run_output.stderr);
}

/// What runs under the real agent: a class path with the programs below.
struct AgentProject {
    directory: TestDirectory,
    agent: PathBuf,
}

const JAVA: &str = "
    public class Main {
        static int count;
        public static void main(String[] arguments) throws Exception {
            Thread other = new Thread(() -> count++);
            other.start();
            count++;
            other.join();
            System.out.println(\"args \" + String.join(\",\", arguments));
            System.err.println(\"err\");
            if (arguments.length > 0 && arguments[0].equals(\"child\")) {
                String java = ProcessHandle.current().info().command().get();
                new ProcessBuilder(java, \"-cp\", \"classes\", \"Main\").inheritIO().start().waitFor();
            }
            if (arguments.length > 0 && arguments[0].equals(\"wait\")) {
                System.out.println(\"ready\");
                Thread.sleep(60_000);
            }
            System.exit(arguments.length);
        }
    }
";

impl AgentProject {
    /// `None` where the agent is not built, which is said.
    fn new() -> Option<AgentProject> {
        let agent =
            Path::new(env!("CARGO_BIN_EXE_scission")).with_file_name("libscission_agent.so");
        if !agent.is_file() {
            eprintln!(
                "skipped: the agent library is not built; `cargo build -p scission-agent` builds it"
            );
            return None;
        }
        let directory = TestDirectory::new();
        fs::write(directory.path("Main.java"), JAVA).unwrap();
        let compiled = Command::new("javac")
            .args(["-g", "-d", "classes", "Main.java"])
            .current_dir(directory.0.path())
            .status();
        assert!(compiled.expect("javac of a JDK is needed on the path").success());
        Some(AgentProject { directory, agent })
    }

    fn command(&self, flags: &[&str], program: &[&str]) -> Command {
        let java = [&["--", "java", "-cp", "classes", "Main"], program].concat();
        let mut command = self.directory.command(&[flags, &java].concat());
        command.env("SCISSION_AGENT", &self.agent);
        command
    }

    fn run(&self, flags: &[&str], program: &[&str]) -> RunOutput {
        RunOutput::of(self.command(flags, program).output().unwrap())
    }

    fn report(&self) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.directory.path("r.json")).unwrap()).unwrap()
    }
}

const TO_FILE: [&str; 4] = ["--format", "json", "--output", "r.json"];

#[test]
fn with_the_agent_a_program_prints_the_same_and_a_race_is_found() {
    let Some(project) = AgentProject::new() else { return };
    let run_output = project.run(&TO_FILE, &[]);
    assert_eq!((run_output.stdout.as_str(), run_output.stderr.as_str()), ("args \n", "err\n"));
    assert_eq!(run_output.code, Some(1), "there is a finding");
    assert_eq!(project.run(&TO_FILE, &["a", "b", "c"]).code, Some(3));
    let report = project.report();
    let rules = report["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]);
    assert!(rules.into_iter().any(|rule| rule == "happens-before-race"), "{report:#}");
    assert_eq!(report["stats"]["jvms"], 1);
    assert_eq!(report["remarks"], serde_json::json!([]));
}

#[test]
fn with_the_agent_child_jvms_are_watched_unless_told_otherwise() {
    let Some(project) = AgentProject::new() else { return };
    project.run(&TO_FILE, &["child"]);
    assert_eq!(project.report()["stats"]["jvms"], 2);
    project.run(&[&TO_FILE[..], &["--no-children"]].concat(), &["child"]);
    assert_eq!(project.report()["stats"]["jvms"], 1);
}

/// What is left out of what the sides of branches would do, each for another reason.
const LEFT_OUT: &str = r#"
    class LeftOut {
        static final boolean DEBUG = Boolean.getBoolean("no.such.property");
        int value;
        LeftOut next;

        native void unknownCode();
        Object lock(int key) { return key > 3 ? this : ""; }
        void deep(int depth) { value = 2; deep(depth - 1); }
        void four(int n) { for (int i = 0; i < n; i++) { for (int k = 0; k < n; k++) { value = i; value = k; } } }
        void many(int n) { for (int i = 0; i < n; i++) { for (int k = 0; k < n; k++) { four(n); four(n); } } }

        void ruledOut() { if (DEBUG) { value = 1; } }
        void contradicted(boolean wanted) { if (wanted) { value = 1; if (!wanted) { value = 2; } } }
        void ofNull(boolean wanted) { if (wanted) { next.value = 1; } }
        void underUnknownLock(boolean wanted) { if (wanted) { synchronized (lock(value)) { value = 1; } } }
        void callsUnknown(boolean wanted) { if (wanted) { unknownCode(); } }
        void callsDeeply(boolean wanted) { if (wanted) { deep(3); } }
        void isLong(boolean wanted) { if (wanted) { many(9); many(9); many(9); } }
        void isTooOften(boolean wanted) { if (wanted) { value = 3; } value++; value++; }

        static void run() {
            LeftOut it = new LeftOut();
            it.ruledOut();
            it.contradicted(false);
            it.ofNull(false);
            it.underUnknownLock(false);
            it.callsUnknown(false);
            it.callsDeeply(false);
            it.isLong(false);
            for (int round = 0; round < 40_000; round++) { it.isTooOften(false); }
        }

        public static void main(String[] arguments) throws Exception {
            Thread thread = new Thread(LeftOut::run);
            thread.start();
            thread.join();
        }
    }
"#;

#[test]
fn with_the_agent_what_sides_of_branches_lack_is_counted() {
    let Some(project) = AgentProject::new() else { return };
    let directory = &project.directory;
    fs::write(directory.path("LeftOut.java"), LEFT_OUT).unwrap();
    let mut javac = Command::new("javac");
    javac.args(["-g", "-d", "classes", "LeftOut.java"]).current_dir(directory.0.path());
    assert!(javac.status().unwrap().success());
    let run = |flags: &[&str]| {
        let program = ["--monitor", "hybrid", "--", "java", "-cp", "classes", "LeftOut"];
        let mut command = directory.command(&[&TO_FILE[..], flags, &program].concat());
        let run_output = command.env("SCISSION_AGENT", &project.agent).output().unwrap();
        assert_eq!(run_output.status.code(), Some(0), "{run_output:?}");
        project.report()
    };
    let gaps = |report: &serde_json::Value| -> BTreeMap<String, u64> {
        let gaps = report["gaps"].as_array().unwrap().iter().map(|gap| {
            (gap["place"].as_str().unwrap().to_string(), gap["count"].as_u64().unwrap())
        });
        gaps.filter(|(place, _)| place.contains("sides") || place == "branches").collect()
    };
    let expected = BTreeMap::from(
        [
            ("branches", 1),
            ("calls on sides that were not taken", 2),
            ("sides that were not taken", 1),
            ("steps of sides that were not taken", 1),
        ]
        .map(|(place, count)| (place.to_string(), count)),
    );
    let report = run(&[]);
    assert_eq!(gaps(&report), expected);
    assert_eq!(report["stats"]["infeasible_sides"], 2);
    assert_eq!(report["stats"]["impossible_steps"], 1);
    let report = run(&["--all-branches"]);
    assert_eq!(gaps(&report), expected);
    assert_eq!(report["stats"]["infeasible_sides"], 0);
    assert_eq!(report["stats"]["impossible_steps"], 1);
}

#[test]
fn with_the_agent_other_launchers_work_through_the_environment() {
    let Some(project) = AgentProject::new() else { return };
    let script = ["--", "sh", "-c", "java -cp classes Main && java -cp classes Main"];
    let mut command = project.directory.command(&[&TO_FILE[..], &script].concat());
    let run_output = RunOutput::of(command.env("SCISSION_AGENT", &project.agent).output().unwrap());
    assert_eq!(run_output.stdout, "args \nargs \n");
    assert!(
        run_output.stderr.contains("Picked up JAVA_TOOL_OPTIONS: -agentpath:"),
        "{}",
        run_output.stderr
    );
    assert_eq!(project.report()["stats"]["jvms"], 2);
}

#[test]
fn with_the_agent_an_interrupted_program_is_still_reported() {
    let Some(project) = AgentProject::new() else { return };
    for (signal, code) in [("TERM", 143), ("KILL", 137)] {
        let mut child = project
            .command(&TO_FILE, &["wait"])
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        // KILL cannot be passed on, so the JVM itself gets it: the one other process of the group.
        let sent = match signal {
            "KILL" => Command::new("pkill").args(["-KILL", "-P", &child.id().to_string()]).status(),
            _ => Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status(),
        };
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let report = project.report();
        assert_eq!(report["stats"]["jvms"], 1, "{report:#}");
        let was_killed = report["remarks"].to_string().contains("it was killed");
        assert_eq!(was_killed, signal == "KILL", "{report:#}");
    }
}

#[test]
fn with_the_agent_a_device_is_recorded_to_and_stays() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let Some(project) = AgentProject::new() else { return };
    let device = project.directory.path("null");
    if !Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().unwrap().success() {
        symlink("/dev/null", &device).unwrap();
    }
    let ran = project.run(&["--record", "null", "--monitor", "none"], &["child"]);
    // The program ends with the number of its arguments.
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
    let names = fs::read_dir(project.directory.0.path()).unwrap().flatten();
    let beside = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("null"));
    assert_eq!(beside.count(), 1, "nothing is recorded beside it");
}

#[test]
fn with_the_agent_a_run_is_recorded() {
    let Some(project) = AgentProject::new() else { return };
    project.run(&["--record", "app.trace", "--monitor", "none"], &["child"]);
    assert!(fs::metadata(project.directory.path("app.trace")).unwrap().len() > 0);
    let others = fs::read_dir(project.directory.0.path()).unwrap().flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("app.") && name != "app.trace"
    });
    assert_eq!(others.count(), 1, "the child has a recording of its own");
}

//! `scission run` as a user or a script meets it: what the program gets, what is said where, exit codes.
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

/// A directory with an agent library that nobody loads, and no configuration above it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path("agent.so"), "").unwrap();
        fs::write(place.path("scission.toml"), "").unwrap();
        place
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

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }
}

/// What a run left.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
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
        classes_rewritten: 3,
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
        subjects: BTreeMap::from([("variable", "p.A.count".to_string())]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![Witness::new("happens-before", vec![step("first", 1), step("second", 2)])],
        distance: 0,
        fingerprint: None,
    }
}

#[test]
fn without_the_agent_the_program_runs_all_the_same() {
    let place = Place::new();
    let ran =
        place.run(&["--agent", "no/agent.so", "--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.stdout, "out\n");
    let said =
        "warning: there is no agent library `no/agent.so`: the program runs unwatched\nerr\n";
    assert_eq!(ran.stderr, said);

    let output = place.command(&["--", "true"]).env("SCISSION_AGENT", "no.so").output().unwrap();
    assert!(Ran::of(output).stderr.contains("`no.so`"));
    let arguments = ["--agent", "no.so", "--output", "r.json", "--format", "json", "--", "true"];
    assert_eq!(place.run(&arguments).code, Some(0));
    let report = fs::read_to_string(place.path("r.json")).unwrap();
    assert!(report.contains("the program ran unwatched"), "{report}");
}

#[test]
fn a_required_agent_that_is_missing_is_exit_code_2() {
    let place = Place::new();
    let ran = place.run(&["--agent", "no.so", "--require-agent", "--", "sh", "-c", "echo out"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, "error: there is no agent library `no.so`\n");
}

#[test]
fn an_agent_of_another_machine_is_not_given_to_java() {
    let place = Place::new();
    let elf = |machine: u8| [b"\x7fELF\x02".as_slice(), &[0; 13], &[machine, 0]].concat();
    fs::write(place.path("java"), elf(62)).unwrap();
    fs::write(place.path("agent.so"), elf(183)).unwrap();
    let ran = place.run(&["--require-agent", "--", "./java", "-version"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("made for another kind of machine than `./java`"), "{ran:?}");
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let place = Place::new();
    for (script, code) in
        [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
    {
        for agent in ["agent.so", "no.so"] {
            let ran = place.run(&["--agent", agent, "--", "sh", "-c", script]);
            assert_eq!(ran.code, Some(code), "{script}: {ran:?}");
        }
    }
    for (command, said) in [
        ("no-such-command", "error: cannot run `no-such-command`: there is no such command\n"),
        ("./agent.so", "error: cannot run `./agent.so`: no permission\n"),
    ] {
        let ran = place.run(&["--", command]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), said));
    }
}

#[test]
fn input_and_output_belong_to_the_program() {
    let place = Place::new();
    let mut child = place
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
    let place = Place::new();
    place.fake_java("printf '%s\\n' \"$@\"; echo \"tool options: $JAVA_TOOL_OPTIONS\"");
    let line = "--arrays --exclude a.B --monitor velodrome --no-filter epoch --no-children \
                --results r -- ./java -cp x Main -h";
    let ran = place.run(&line.split_whitespace().collect::<Vec<_>>());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[1..], ["-cp", "x", "Main", "-h", "tool options: "]);
    let agent = place.path("agent.so").display().to_string();
    let options = lines[0].strip_prefix(&format!("-agentpath:{agent}=")).unwrap();
    let options: agent_protocol::Options = options.parse().unwrap();
    let expected = agent_protocol::Options {
        results: Some(place.path("r")),
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
    let place = Place::new();
    let output = place
        .command(&["--", "sh", "-c", "printf %s \"$JAVA_TOOL_OPTIONS\""])
        .env("JAVA_TOOL_OPTIONS", "-Xmx1g")
        .output()
        .unwrap();
    let agent = place.path("agent.so").display().to_string();
    let said = Ran::of(output).stdout;
    assert!(said.starts_with(&format!("-Xmx1g -agentpath:{agent}=results=")), "{said}");
    assert!(said.contains("monitor=velodrome,monitor=happens-before"), "{said}");
}

#[test]
fn the_configuration_says_what_is_watched_and_what_is_atomic() {
    let place = Place::new();
    let text = "exclude = ['reported.not']\n[run]\ninclude = ['w']\nexclude = ['x']\narrays = true\n\
                [atomic]\nexclude = ['p.A.m']\n";
    fs::write(place.path("scission.toml"), text).unwrap();
    place.fake_java("echo \"$1\"");
    let ran = place.run(&["--exclude", "y", "--", "./java"]);
    let options: agent_protocol::Options =
        ran.stdout.trim().split_once('=').unwrap().1.parse().unwrap();
    assert_eq!(
        (options.include, options.exclude),
        (vec!["w".into()], vec!["x".into(), "y".into()])
    );
    assert_eq!(options.atomic_exclude, ["p.A.m"]);
    assert!(options.arrays);
}

#[test]
fn the_line_for_doing_it_by_hand_is_printed() {
    let place = Place::new();
    let ran = place.run(&["--print-options", "--results", "r", "--monitor", "velodrome"]);
    let here = place.0.path().display();
    let line = format!(
        "JAVA_TOOL_OPTIONS=-agentpath:{here}/agent.so=results={here}/r,monitor=velodrome\n"
    );
    assert_eq!((ran.code, ran.stdout), (Some(0), line));
    assert!(place.path("r").is_dir(), "the directory must be there when a JVM needs it");
    let ran = place.run(&["--print-options"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("give `--results DIR` or `--record FILE`"), "{ran:?}");
}

#[test]
fn what_makes_no_sense_is_refused_before_the_program_runs() {
    let place = Place::new();
    for (arguments, said) in [
        (&["--results", "no/such"][..], "cannot read the results in `no/such`"),
        (&[], "there is nothing to run"),
        (&["--monitor", "none", "--", "echo", "ran"], "`--monitor none` is for `--record FILE`"),
        (&["--watch-list", "no.txt", "--", "echo", "ran"], "there is no watch list `no.txt`"),
        (
            &["--monitor", "velodrom", "--", "echo", "ran"],
            "tip: a similar value exists: 'velodrome'",
        ),
        (&["--no-filter", "x", "--", "echo", "ran"], "[possible values: ownership, epoch, all]"),
        (&["--exclude", "a b", "--", "echo", "ran"], "is no part of a name"),
        (&["--baseline", "no.json", "--", "echo", "ran"], "cannot use the baseline `no.json`"),
        (&["echo", "ran"], "unexpected argument"),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{}\ndoes not say\n{said}", ran.stderr);
    }
}

/// Starts a program that waits for a signal, sends it to `scission` alone, and returns how that ended.
fn signalled(signal: &str) -> Ran {
    let place = Place::new();
    let script = format!(
        "trap 'echo got {signal}; exit 5' {signal}; echo ready; while :; do sleep 0.05; done"
    );
    let mut child = place
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
    Ran { code: child.wait().unwrap().code(), stdout: line, stderr: String::new() }
}

#[test]
fn signals_reach_the_program_and_it_decides() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let ran = signalled(signal);
        assert_eq!((ran.code, ran.stdout), (Some(5), format!("got {signal}\n")));
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let place = Place::new();
    let scission = env!("CARGO_BIN_EXE_scission");
    let script = format!(
        "trap '' HUP; exec {scission} run --agent no.so -- sh -c 'kill -HUP $$; echo alive'"
    );
    let output = Command::new("sh").args(["-c", &script]).current_dir(place.0.path()).output();
    let ran = Ran::of(output.unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "alive\n"));
}

#[test]
fn the_report_stands_beside_the_output_of_the_program() {
    let place = Place::new();
    place.results("r", &complete());
    place.fake_java("echo out; leave r");
    let ran = place.run(&["--", "./java", "Main"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "out\n"));
    assert_eq!(ran.stderr, "nothing found, 0 gaps in 3 classes, 2 threads\n");
    let ran = place.run(&["--output", "-", "--", "./java", "Main"]);
    assert_eq!(ran.stdout, "out\nnothing found, 0 gaps in 3 classes, 2 threads\n");
    let ran = place.run(&["--output", "r.txt", "--", "./java", "Main"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\n", ""));
    let report = fs::read_to_string(place.path("r.txt")).unwrap();
    assert_eq!(report, "nothing found, 0 gaps in 3 classes, 2 threads\n");
    assert_eq!(place.run(&["--quiet", "--", "./java", "Main"]).stderr, "");
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure_unless_the_program_failed_first() {
    let place = Place::new();
    place.results("r", &complete());
    for (code, expected) in [(0, 2), (3, 3)] {
        place.fake_java(&format!("leave r; exit {code}"));
        let ran = place.run(&["--output", "no/such/file", "--", "./java", "Main"]);
        assert_eq!(ran.code, Some(expected));
        assert!(ran.stderr.contains("nothing found"), "{ran:?}");
        assert!(ran.stderr.contains("printed to standard error instead"), "{ran:?}");
    }
}

#[test]
fn findings_turn_success_into_1_and_keep_a_failure() {
    let place = Place::new();
    place.results("r", &Results { findings: vec![finding("m")], ..complete() });
    let run = |script: &str, arguments: &[&str]| {
        place.fake_java(script);
        place.run(&[arguments, &["--", "./java", "Main"]].concat())
    };
    let ran = run("leave r", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("error[happens-before-race]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 finding (1 high; 1 observed)"), "{}", ran.stderr);
    assert_eq!(run("leave r; exit 3", &[]).code, Some(3));
    assert_eq!(run("leave r", &["--fail-on", "never"]).code, Some(0));
}

#[test]
fn what_several_jvms_found_is_merged() {
    let place = Place::new();
    let gap = Gap::new(GapKind::Limit, "p.A.huge()V", "too large");
    let results = |methods: &[&str]| Results {
        findings: methods.iter().map(|method| finding(method)).collect(),
        gaps: vec![gap.clone()],
        notes: vec!["something to know".into()],
        ..complete()
    };
    place.results("one", &results(&["a", "b"]));
    place.results("two", &results(&["b", "c"]));
    place
        .fake_java("leave one; sh -c \"sed s/4711/$$0/g $(dirname $0)/two > $results/${$}0.json\"");
    let ran = place.run(&["--format", "json", "--output", "-", "--", "./java", "Main"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 3);
    assert_eq!(report["gaps"][0]["count"], 2);
    assert_eq!(report["remarks"], serde_json::json!(["something to know"]));
    assert_eq!(report["stats"]["jvms"], 2);
    assert_eq!(report["stats"]["classes"], 6);
}

#[test]
fn levels_suppressions_and_the_baseline_are_those_of_the_project() {
    let place = Place::new();
    let findings = vec![finding("a"), finding("b"), finding("generated")];
    place.results("all", &Results { findings, ..complete() });
    place.results("one", &Results { findings: vec![finding("a")], ..complete() });
    place.fake_java("leave \"$2\"");
    let text = "exclude = ['p.A.generated']\n[[suppress]]\npattern = 'p.A.b'\nreason = 'known'\n\
                [[suppress]]\npattern = 'p.Elsewhere'\nreason = 'not run today'\n";
    fs::write(place.path("scission.toml"), text).unwrap();
    let ran = place.run(&["--", "./java", "all"]);
    let summary = "1 finding (1 high; 1 observed), 1 suppressed, 0 gaps in 3 classes, 2 threads\n";
    assert!(ran.stderr.ends_with(summary), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Elsewhere"), "one run says nothing of what did not happen");

    // A run that sees less keeps in the baseline what others saw.
    fs::write(place.path("scission.toml"), "").unwrap();
    let both = ["--baseline", "b.json", "--write-baseline", "b.json", "--", "./java"];
    for (results, code) in [("all", 1), ("one", 0), ("all", 0)] {
        let ran = place.run(&[&both[..], &[results]].concat());
        assert_eq!(ran.code, Some(code), "{results}: {}", ran.stderr);
        assert!(!ran.stderr.contains("gone"), "{}", ran.stderr);
    }
}

#[test]
fn a_jvm_that_left_nothing_is_mentioned() {
    let place = Place::new();
    let ran = place.run(&["--", "sh", "-c", "exit 0"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("warning: no JVM was watched"), "{}", ran.stderr);
    let ran = place.run(&["--require-agent", "--", "sh", "-c", "exit 0"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: no JVM was watched"), "{}", ran.stderr);

    place.results("begun", &Results { ending: Ending::Running, ..complete() });
    place.fake_java("leave begun; kill -9 $$");
    let ran = place.run(&["--", "./java", "Main"]);
    assert_eq!(ran.code, Some(137));
    let said = "warning: `p.Main` (Java 17.0.1) left nothing, or not all that it found: it was \
                killed, or is still running\n";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);

    place.fake_java("echo '{}' > \"$results/1.json\"");
    let ran = place.run(&["--", "./java", "Main"]);
    assert!(ran.stderr.contains("must be of the same release"), "{}", ran.stderr);
}

#[test]
fn the_program_records_to_the_file_that_was_named_and_others_beside_it() {
    let place = Place::new();
    let here = place.0.path().display().to_string();
    let recording = |process: &str| {
        let file = place.path(&format!("app.{process}.trace"));
        Some(Recording { file, events: 5, ..Recording::default() })
    };
    place.results("main", &Results { recording: recording("4711"), ..complete() });
    let child = Results { process: 1, recording: recording("1"), ..complete() };
    child.write(place.0.path()).unwrap();
    place.fake_java(&format!(
        "leave main; cp {here}/1.json $results; echo main > app.$$.trace; echo child > app.1.trace; echo $1"
    ));
    let ran = place.run(&["--record", "app.trace", "--monitor", "none", "--", "./java"]);
    assert!(ran.stdout.contains(&format!(",record={here}/app.%25p.trace")), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(place.path("app.trace")).unwrap(), "main\n");
    assert_eq!(fs::read_to_string(place.path("app.1.trace")).unwrap(), "child\n");
}

#[test]
fn results_that_are_kept_can_be_reported_later() {
    let place = Place::new();
    place.results("r", &Results { findings: vec![finding("m")], ..complete() });
    place.fake_java("leave r");
    assert_eq!(place.run(&["--results", "kept", "--", "./java"]).code, Some(1));
    let ran = place.run(&["--results", "kept"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("1 finding"), "{}", ran.stderr);
}

/// What runs under the real agent: a class path with the programs below.
struct Watched {
    place: Place,
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

impl Watched {
    /// `None` where the agent is not built, which is said.
    fn new() -> Option<Watched> {
        let agent =
            Path::new(env!("CARGO_BIN_EXE_scission")).with_file_name("libscission_agent.so");
        if !agent.is_file() {
            eprintln!(
                "skipped: the agent library is not built; `cargo build -p scission-agent` builds it"
            );
            return None;
        }
        let place = Place::new();
        fs::write(place.path("Main.java"), JAVA).unwrap();
        let compiled = Command::new("javac")
            .args(["-g", "-d", "classes", "Main.java"])
            .current_dir(place.0.path())
            .status();
        assert!(compiled.expect("javac of a JDK is needed on the path").success());
        Some(Watched { place, agent })
    }

    fn command(&self, flags: &[&str], program: &[&str]) -> Command {
        let java = [&["--", "java", "-cp", "classes", "Main"], program].concat();
        let mut command = self.place.command(&[flags, &java].concat());
        command.env("SCISSION_AGENT", &self.agent);
        command
    }

    fn run(&self, flags: &[&str], program: &[&str]) -> Ran {
        Ran::of(self.command(flags, program).output().unwrap())
    }

    fn report(&self) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.place.path("r.json")).unwrap()).unwrap()
    }
}

const TO_FILE: [&str; 4] = ["--format", "json", "--output", "r.json"];

#[test]
fn with_the_agent_a_program_prints_the_same_and_a_race_is_found() {
    let Some(watched) = Watched::new() else { return };
    let ran = watched.run(&TO_FILE, &[]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("args \n", "err\n"));
    assert_eq!(ran.code, Some(1), "there is a finding");
    assert_eq!(watched.run(&TO_FILE, &["a", "b", "c"]).code, Some(3));
    let report = watched.report();
    let rules = report["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]);
    assert!(rules.into_iter().any(|rule| rule == "happens-before-race"), "{report:#}");
    assert_eq!(report["stats"]["jvms"], 1);
    assert_eq!(report["remarks"], serde_json::json!([]));
}

#[test]
fn with_the_agent_child_jvms_are_watched_unless_told_otherwise() {
    let Some(watched) = Watched::new() else { return };
    watched.run(&TO_FILE, &["child"]);
    assert_eq!(watched.report()["stats"]["jvms"], 2);
    watched.run(&[&TO_FILE[..], &["--no-children"]].concat(), &["child"]);
    assert_eq!(watched.report()["stats"]["jvms"], 1);
}

#[test]
fn with_the_agent_other_launchers_work_through_the_environment() {
    let Some(watched) = Watched::new() else { return };
    let script = ["--", "sh", "-c", "java -cp classes Main && java -cp classes Main"];
    let mut command = watched.place.command(&[&TO_FILE[..], &script].concat());
    let ran = Ran::of(command.env("SCISSION_AGENT", &watched.agent).output().unwrap());
    assert_eq!(ran.stdout, "args \nargs \n");
    assert!(ran.stderr.contains("Picked up JAVA_TOOL_OPTIONS: -agentpath:"), "{}", ran.stderr);
    assert_eq!(watched.report()["stats"]["jvms"], 2);
}

#[test]
fn with_the_agent_an_interrupted_program_is_still_reported() {
    let Some(watched) = Watched::new() else { return };
    for (signal, code) in [("TERM", 143), ("KILL", 137)] {
        let mut child = watched
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
        let report = watched.report();
        assert_eq!(report["stats"]["jvms"], 1, "{report:#}");
        let was_killed = report["remarks"].to_string().contains("it was killed");
        assert_eq!(was_killed, signal == "KILL", "{report:#}");
    }
}

#[test]
fn with_the_agent_a_run_is_recorded() {
    let Some(watched) = Watched::new() else { return };
    watched.run(&["--record", "app.trace", "--monitor", "none"], &["child"]);
    assert!(fs::metadata(watched.place.path("app.trace")).unwrap().len() > 0);
    let others = fs::read_dir(watched.place.0.path()).unwrap().flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("app.") && name != "app.trace"
    });
    assert_eq!(others.count(), 1, "the child has a recording of its own");
}

//! What a user may name as an output, for every command that has one: devices, pipes, sockets, descriptors and
//! symbolic links are written to and stay what they are; regular files are replaced and keep their permissions;
//! what cannot be written is said in one sentence, and costs nothing that was found.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::thread;

use agent_protocol::{Ending, Recording, Results};
use tempfile::TempDir;

/// A finding of `scission check`.
const SHOP: &str = "
    class Stock {
        private int amount;
        synchronized int amount() { return 7; }
        synchronized void take(int n) { amount -= n; }
    }
    class Shop {
        synchronized boolean sell(Stock stock, int n) {
            if (stock.amount() < n) {
                return false;
            }
            stock.take(n);
            return true;
        }
    }
";

/// A finding of `scission trace`.
const DEPOSITS: &str = "\
t1 begin deposit
t1 rd acc.balance @ Account.java:7
t2 wr acc.balance @ Account.java:8
t1 wr acc.balance @ Account.java:8
t1 end
";

/// Stands for `java` with the agent: records, and leaves results that say so.
const FAKE_JAVA: &str = r#"#!/bin/sh
option() { printf '%s' "$1" | sed -n "s/.*[=,]$2=\([^,]*\).*/\1/p" | sed "s/%25p/$$/"; }
results=$(option "$1" results)
record=$(option "$1" record)
left=nothing
if [ -n "$record" ]; then
    left=recorded
    (echo a recording > "$record") 2> /dev/null || left=stopped
fi
sed "s/4711/$$/g; s#RECORDED#$record#" "$left.json" > "$results/$$.json"
"#;

/// One output of one command.
struct Written {
    /// The arguments, with `OUT` for the output.
    arguments: &'static [&'static str],
    /// What it begins with.
    beginning: &'static str,
    /// What the command prints when the output cannot be written: what it found.
    rescued: &'static str,
}

const CHECK: &str = "[reacquired-lock]";
const TRACE: &str = "[not-serializable]";

#[rustfmt::skip]
const OUTPUTS: &[Written] = &[
    Written { arguments: &["check", "--output", "OUT"], beginning: "warning[", rescued: CHECK },
    Written { arguments: &["check", "--format", "json", "--output", "OUT"], beginning: "{\n", rescued: CHECK },
    Written { arguments: &["check", "--format", "sarif", "--output", "OUT"], beginning: "{\n", rescued: CHECK },
    Written { arguments: &["check", "--html", "OUT"], beginning: "<!doctype html>", rescued: CHECK },
    Written { arguments: &["check", "--write-baseline", "OUT"], beginning: "{\n", rescued: CHECK },
    Written { arguments: &["check", "--watch-list", "OUT"], beginning: "# The accesses", rescued: CHECK },
    Written { arguments: &["trace", "--to", "text", "--output", "OUT"], beginning: ".thread", rescued: "" },
    Written { arguments: &["trace", "--to", "std", "--output", "OUT"], beginning: "T", rescued: "" },
    Written { arguments: &["trace", "--stats", "--output", "OUT"], beginning: "form ", rescued: "" },
    Written { arguments: &["trace", "--monitor=velodrome", "--output", "OUT"], beginning: "error[", rescued: TRACE },
    Written { arguments: &["trace", "--monitor=velodrome", "--write-baseline", "OUT"], beginning: "{\n", rescued: TRACE },
    Written { arguments: &["trace", "--monitor=velodrome", "--baseline", "OUT", "--write-baseline", "OUT"], beginning: "{\n", rescued: "" },
    Written { arguments: &["trace", "--monitor=velodrome", "--learn-spec", "OUT"], beginning: "# Methods that", rescued: "" },
    Written { arguments: &["run", "--output", "OUT"], beginning: "nothing found", rescued: "nothing found" },
    Written { arguments: &["run", "--write-baseline", "OUT"], beginning: "{\n", rescued: "nothing found" },
    Written { arguments: &["run", "--learn-spec", "OUT"], beginning: "# Methods that", rescued: "" },
    Written { arguments: &["run", "--shared-fields", "OUT"], beginning: "# Fields that", rescued: "" },
    Written { arguments: &["run", "--monitor=none", "--record", "OUT"], beginning: "a recording\n", rescued: "" },
];

/// A directory with something to work on for every command.
struct TestDirectory(TempDir);

impl TestDirectory {
    fn new() -> TestDirectory {
        let directory = TestDirectory(tempfile::tempdir().unwrap());
        fs::write(directory.path("scission.toml"), "").unwrap();
        fs::write(directory.path("agent.so"), "").unwrap();
        fs::write(directory.path("run.txt"), DEPOSITS).unwrap();
        fs::write(directory.path("java"), FAKE_JAVA).unwrap();
        fs::set_permissions(directory.path("java"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink(classes(), directory.path("classes")).unwrap();
        let recording = |stopped| {
            let stopped = Option::map(stopped, str::to_string);
            Some(Recording { file: "RECORDED".into(), stopped, ..Recording::default() })
        };
        let variants = [
            ("nothing", None),
            ("recorded", recording(None)),
            ("stopped", recording(Some("the disk is full"))),
        ];
        for (name, recording) in variants {
            let complete = Results {
                process: 4711,
                ending: Ending::Complete,
                classes_watched: 1,
                ..Results::default()
            };
            let shared_fields = Some(BTreeSet::new());
            Results { recording, shared_fields, ..complete }.write(directory.0.path()).unwrap();
            let file = directory.path(&format!("{name}.json"));
            fs::rename(directory.path("4711.json"), &file).unwrap();
            // Results are private; whoever the tests run as reads these.
            fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
        }
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command that writes an output to a path.
    fn command(&self, written: &Written, output: &str) -> Command {
        let words = written.arguments.iter().map(|word| if *word == "OUT" { output } else { word });
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        command.args(words).current_dir(self.0.path());
        command.env_remove("JAVA_TOOL_OPTIONS").env("SCISSION_AGENT", self.path("agent.so"));
        match written.arguments[0] {
            "check" => command.args(["--jdk", "none", "--fail-on", "never", "classes"]),
            "run" => command.args(["--", "./java"]),
            _ if written.arguments.contains(&"--monitor=velodrome") => {
                command.args(["--fail-on", "never", "run.txt"])
            }
            _ => command.arg("run.txt"),
        };
        command
    }

    /// Writes, and expects that to succeed.
    fn write(&self, written: &Written, output: &str) {
        let ran = self.command(written, output).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{:?} to {output}: {ran:?}", written.arguments);
        assert_no_temporary_file(self.0.path());
    }

    /// Writes, and expects one sentence, exit code 2 and that nothing is lost.
    fn fail(&self, written: &Written, output: &str, why: &str) {
        self.assert_fails(self.command(written, output), written, why);
    }

    fn assert_fails(&self, mut command: Command, written: &Written, why: &str) {
        let ran = command.output().unwrap();
        let (stdout, stderr) = texts(&ran);
        let what = format!("{command:?}: {stdout}{stderr}");
        assert_eq!(ran.status.code(), Some(2), "{what}");
        let sentences: Vec<&str> =
            stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(sentences.len(), 1, "{what}");
        assert!(sentences[0].contains(why), "{what}");
        // What is refused before the work is done has found nothing yet.
        let is_refused_at_once = written.arguments[0] == "check" && stderr.lines().count() == 1;
        let is_rescued = format!("{stdout}{stderr}").contains(written.rescued);
        assert!(is_refused_at_once || is_rescued, "{what}");
        assert_no_temporary_file(self.0.path());
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().mode() & 0o7777
    }
}

/// Compiled once for all tests.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("Shop.java");
        fs::write(&source, SHOP).unwrap();
        let mut javac = Command::new("javac");
        javac.arg("-g").arg("-d").arg(folder.path().join("classes")).arg(&source);
        assert!(javac.status().expect("javac of a JDK is needed on the path").success());
        folder
    });
    Box::leak(folder.path().join("classes").into_boxed_path())
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn assert_no_temporary_file(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.starts_with(".scission-"), "{name} was left behind");
    }
}

#[track_caller]
fn assert_begins(text: &str, written: &Written) {
    assert!(text.starts_with(written.beginning), "{:?} wrote:\n{text}", written.arguments);
}

/// Makes a special file, and says whether that was allowed.
fn made(program: &str, path: &Path, arguments: &[&str]) -> bool {
    let made = Command::new(program).arg(path).args(arguments).output();
    made.is_ok_and(|output| output.status.success())
}

/// A device of this number: a node of its own where the user may make one, otherwise the system's.
fn device(path: &Path, minor: &str, of_system: &str) {
    if !made("mknod", path, &["c", "1", minor]) {
        symlink(of_system, path).unwrap();
    }
}

#[test]
fn a_regular_file_is_replaced_and_keeps_its_permissions() {
    let directory = TestDirectory::new();
    for written in OUTPUTS {
        directory.write(written, "new");
        let text = fs::read_to_string(directory.path("new")).unwrap();
        assert_begins(&text, written);
        fs::remove_file(directory.path("new")).unwrap();
        // What reads its own output must find something that it can read.
        let is_read = ["--learn-spec", "--baseline", "--shared-fields"]
            .iter()
            .any(|flag| written.arguments.contains(flag));
        let long = format!("{text}{}", "\n".repeat(if is_read { 0 } else { 9000 }));
        fs::write(directory.path("old"), long).unwrap();
        fs::set_permissions(directory.path("old"), PermissionsExt::from_mode(0o640)).unwrap();
        directory.write(written, "old");
        assert_eq!(fs::read_to_string(directory.path("old")).unwrap().len(), text.len());
        assert_eq!(directory.mode("old"), 0o640, "{:?}", written.arguments);
        fs::remove_file(directory.path("old")).unwrap();
    }
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_written() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("elsewhere")).unwrap();
    symlink("elsewhere/real", directory.path("direct")).unwrap();
    symlink("direct", directory.path("link")).unwrap();
    for written in OUTPUTS {
        // First the links lead nowhere, then to a file.
        for _ in 0..2 {
            directory.write(written, "link");
            for link in ["link", "direct"] {
                assert!(fs::symlink_metadata(directory.path(link)).unwrap().is_symlink());
            }
            let real = directory.path("elsewhere/real");
            assert!(fs::symlink_metadata(&real).unwrap().is_file());
            assert_begins(&fs::read_to_string(&real).unwrap(), written);
            assert_no_temporary_file(&directory.path("elsewhere"));
            fs::set_permissions(&real, PermissionsExt::from_mode(0o600)).unwrap();
        }
        assert_eq!(directory.mode("elsewhere/real"), 0o600, "{:?}", written.arguments);
        fs::remove_file(directory.path("elsewhere/real")).unwrap();
    }
}

#[test]
fn a_device_is_written_to_and_stays_a_device() {
    let directory = TestDirectory::new();
    device(&directory.path("null"), "3", "/dev/null");
    symlink("null", directory.path("link")).unwrap();
    for written in OUTPUTS {
        for output in ["null", "link"] {
            directory.write(written, output);
            let metadata = fs::metadata(directory.path("null")).unwrap();
            assert!(metadata.file_type().is_char_device(), "{:?}", written.arguments);
            assert!(fs::symlink_metadata(directory.path("link")).unwrap().is_symlink());
        }
        let names: Vec<_> = fs::read_dir(directory.0.path()).unwrap().flatten().collect();
        let beside =
            names.iter().filter(|entry| entry.file_name().to_string_lossy().starts_with("null"));
        // No recording lies beside it.
        assert_eq!(beside.count(), 1, "{:?}", written.arguments);
    }
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let directory = TestDirectory::new();
    assert!(made("mkfifo", &directory.path("pipe"), &[]));
    for written in OUTPUTS {
        let pipe = directory.path("pipe");
        let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
        // Fails before anybody waits for a reader of a pipe that was not written to.
        directory.write(written, "pipe");
        assert_begins(&reader.join().unwrap(), written);
        assert!(fs::symlink_metadata(directory.path("pipe")).unwrap().file_type().is_fifo());
    }
    // A reader that has seen enough is no failure.
    let pipe = directory.path("pipe");
    let reader = thread::spawn(move || File::open(pipe).map(drop).unwrap());
    directory.write(&OUTPUTS[2], "pipe");
    reader.join().unwrap();
}

#[test]
fn a_socket_is_connected_to_and_stays_a_socket() {
    let directory = TestDirectory::new();
    let listener = UnixListener::bind(directory.path("socket")).unwrap();
    for written in OUTPUTS {
        let listener = listener.try_clone().unwrap();
        let reader = thread::spawn(move || {
            let mut text = String::new();
            listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
            text
        });
        directory.write(written, "socket");
        assert_begins(&reader.join().unwrap(), written);
    }
    drop(listener);
    for written in OUTPUTS {
        directory.fail(written, "socket", "nobody listens at this socket");
        assert!(fs::symlink_metadata(directory.path("socket")).unwrap().file_type().is_socket());
    }
}

#[test]
fn a_descriptor_is_written_to_where_it_stands() {
    let directory = TestDirectory::new();
    for written in OUTPUTS {
        // Standard output shares its position with whoever writes there before and afterwards, and a file that
        // another descriptor leads to is appended to.
        for (name, redirection) in [
            ("/dev/stdout", ">"),
            ("/dev/fd/1", ">>"),
            ("/proc/self/fd/1", ">"),
            ("/dev/fd/7", "7>>"),
        ] {
            let command = directory.command(written, name);
            let script = format!(
                "echo before >> file; {{ echo then >&1; \"$0\" \"$@\"; }} {redirection} file; echo after >> file"
            );
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(script).arg(command.get_program()).args(command.get_args());
            shell.current_dir(directory.0.path()).env("SCISSION_AGENT", directory.path("agent.so"));
            let ran = shell.output().unwrap();
            let text = fs::read_to_string(directory.path("file")).unwrap();
            let before = match redirection {
                ">" => "then\n",
                ">>" => "before\nthen\n",
                _ => "before\n",
            };
            let rest = text.strip_prefix(before).unwrap_or_else(|| panic!("{name}: {text}{ran:?}"));
            // A report may come first, where it goes to standard output as well.
            assert!(rest.contains(written.beginning), "{name}: {text}");
            assert!(text.ends_with("after\n"), "{name}: {text}");
            fs::remove_file(directory.path("file")).unwrap();
        }
    }
}

#[test]
fn a_full_disk_is_said_and_findings_are_printed() {
    let directory = TestDirectory::new();
    device(&directory.path("full"), "7", "/dev/full");
    for written in OUTPUTS {
        let why = match written.arguments.contains(&"--record") {
            true => "the recording is not whole",
            false => "the disk is full",
        };
        directory.fail(written, "full", why);
        assert!(fs::metadata(directory.path("full")).unwrap().file_type().is_char_device());
    }
}

#[test]
fn what_takes_no_output_is_said() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.path("folder")).unwrap();
    symlink("missing/file", directory.path("dangling")).unwrap();
    symlink("loop", directory.path("loop")).unwrap();
    for written in OUTPUTS {
        // `check` asks before it works.
        let is_asked = written.arguments[0] == "check";
        let rescued = if is_asked { "" } else { written.rescued };
        let written = &Written { rescued, ..*written };
        directory.fail(written, "folder", "it is a directory");
        directory.fail(written, "missing/file", "`missing` does not exist");
        directory.fail(written, "dangling", "missing` does not exist");
        directory.fail(written, "loop", "symbolic link");
        assert_eq!(fs::read_dir(directory.path("folder")).unwrap().count(), 0);
        assert!(!directory.path("missing").exists());
    }
}

/// Nothing is forbidden to root, so that the command runs as somebody else.
fn as_nobody(command: &Command, program: &Path) -> Command {
    let mut other = Command::new(program);
    other.args(command.get_args()).current_dir(command.get_current_dir().unwrap()).uid(65534);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

#[test]
fn what_may_not_be_written_is_said_and_left_alone() {
    let directory = TestDirectory::new();
    let program = directory.path("scission");
    let is_root = fs::metadata(directory.0.path()).unwrap().uid() == 0;
    if is_root {
        fs::copy(env!("CARGO_BIN_EXE_scission"), &program).unwrap();
        fs::set_permissions(directory.0.path(), PermissionsExt::from_mode(0o777)).unwrap();
        fs::set_permissions(classes().parent().unwrap(), PermissionsExt::from_mode(0o755)).unwrap();
    }
    fs::create_dir(directory.path("closed")).unwrap();
    for written in OUTPUTS {
        let refused = |output: &str| {
            let command = directory.command(written, output);
            let command = if is_root { as_nobody(&command, &program) } else { command };
            directory.assert_fails(command, written, "no permission");
        };
        directory.write(written, "protected");
        // What is unchanged need not be written.
        let text = fs::read_to_string(directory.path("protected")).unwrap() + "\n";
        fs::write(directory.path("protected"), &text).unwrap();
        fs::set_permissions(directory.path("protected"), PermissionsExt::from_mode(0o444)).unwrap();
        // A list of shared fields that is there is read, and not written.
        if !written.arguments.contains(&"--shared-fields") {
            refused("protected");
        }
        assert_eq!(directory.mode("protected"), 0o444);
        assert_eq!(fs::read_to_string(directory.path("protected")).unwrap(), text);
        fs::remove_file(directory.path("protected")).unwrap();
        fs::set_permissions(directory.path("closed"), PermissionsExt::from_mode(0o555)).unwrap();
        refused("closed/new");
        fs::set_permissions(directory.path("closed"), PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn graphs_are_written_to_what_has_their_name() {
    let directory = TestDirectory::new();
    let written = Written {
        arguments: &["trace", "--monitor=velodrome", "--graphs", "OUT"],
        beginning: "digraph",
        rescued: TRACE,
    };
    directory.write(&written, "graphs");
    let names: Vec<_> = fs::read_dir(directory.path("graphs")).unwrap().flatten().collect();
    let [graph] = &names[..] else { panic!("{names:?}") };
    let text = fs::read_to_string(graph.path()).unwrap();
    assert_begins(&text, &written);
    fs::rename(graph.path(), directory.path("graphs/real")).unwrap();
    symlink("real", graph.path()).unwrap();
    fs::write(directory.path("graphs/real"), "").unwrap();
    directory.write(&written, "graphs");
    assert!(fs::symlink_metadata(graph.path()).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(directory.path("graphs/real")).unwrap(), text);
    fs::remove_file(graph.path()).unwrap();
    device(&graph.path(), "3", "/dev/null");
    directory.write(&written, "graphs");
    assert!(fs::metadata(graph.path()).unwrap().file_type().is_char_device());
    fs::remove_file(graph.path()).unwrap();
    device(&graph.path(), "7", "/dev/full");
    directory.fail(&written, "graphs", "the disk is full");
    directory.fail(&written, "run.txt", "there is something else of this name");
    assert_eq!(fs::read_to_string(directory.path("run.txt")).unwrap(), DEPOSITS);
    let results = Written { arguments: &["run", "--results", "OUT"], ..written };
    let results = Written { rescued: "", ..results };
    directory.fail(&results, "run.txt", "there is something else of this name");
}

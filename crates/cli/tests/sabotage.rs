//! What comes of a run when something goes wrong around it: the program, its launcher or the machine. Each ends with what
//! was found, or with a sentence and an exit code that is not 0; never green without having watched.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A race, and then what the first argument says.
const MAIN: &str = r#"
import java.nio.file.*;
import java.util.*;

public class Main {
    static int count;
    static Object kept;

    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(() -> count++);
        other.start();
        count++;
        other.join();
        switch (arguments.length == 0 ? "" : arguments[0]) {
            case "halt": Runtime.getRuntime().halt(0); break;
            case "kill":
                // Until what was found is on the disk.
                String results = arguments[1] + "/" + ProcessHandle.current().pid() + ".json";
                while (!Files.readString(Path.of(results)).contains("happens-before-race")) {
                    count++;
                    Thread.sleep(20);
                }
                new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start();
                Thread.sleep(600_000);
                break;
            case "memory":
                List<long[]> all = new ArrayList<>();
                kept = all;
                while (true) all.add(new long[1 << 20]);
            case "remove":
                try (var files = Files.walk(Path.of(arguments[1]))) {
                    files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
                }
                break;
            case "wait":
                // Until the file is there.
                while (!Files.exists(Path.of(arguments[1]))) Thread.sleep(20);
                break;
            case "fail": throw new IllegalStateException("as it should");
            default:
        }
    }
}

/// Without a race.
class Calm {
    public static void main(String[] arguments) throws Exception {
        while (arguments.length > 0 && !Files.exists(Path.of(arguments[0]))) Thread.sleep(20);
    }
}
"#;

const UNWATCHED: &str = "error: nothing was found, and not all of the run was watched";

const RACE: &str = "[happens-before-race]";

struct Sabotage {
    directory: tempfile::TempDir,
    agent: PathBuf,
}

struct Outcome {
    code: Option<i32>,
    stderr: String,
}

impl Outcome {
    fn of(output: &Output) -> Outcome {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Outcome { code: output.status.code(), stderr }
    }

    /// The race was found all the same.
    fn found(&self, code: i32) -> &Outcome {
        self.says(code, RACE)
    }

    fn says(&self, code: i32, sentence: &str) -> &Outcome {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert!(self.stderr.contains(sentence), "{} does not say {sentence}", self.stderr);
        self
    }
}

impl Sabotage {
    /// `None` where the agent is not built, which is said.
    fn new() -> Option<Sabotage> {
        let agent =
            Path::new(env!("CARGO_BIN_EXE_scission")).with_file_name("libscission_agent.so");
        if !agent.is_file() {
            assert!(std::env::var_os("SCISSION_TEST_ALL").is_none(), "the agent is not built");
            eprintln!(
                "skipped: the agent library is not built; `cargo build -p scission-agent` builds it"
            );
            return None;
        }
        let sabotage = Sabotage { directory: tempfile::tempdir().unwrap(), agent };
        fs::write(sabotage.path("Main.java"), MAIN).unwrap();
        fs::write(sabotage.path("scission.toml"), "").unwrap();
        sabotage.compile();
        Some(sabotage)
    }

    fn compile(&self) {
        let mut javac = Command::new("javac");
        javac.args(["-g", "-d", "classes", "Main.java"]).current_dir(self.directory.path());
        assert!(javac.status().expect("javac of a JDK is needed on the path").success());
    }

    /// Compiles C with the compiler that Rust links with.
    fn compile_c(&self, name: &str, source: &str, flags: &[&str]) {
        fs::write(self.path("source.c"), source).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-w", "-o", name, "source.c", "-Wl,--no-as-needed"]).args(flags);
        assert!(cc.current_dir(self.directory.path()).status().expect("cc is needed").success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, flags: &[&str], program: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        command.arg("run").args(flags).arg("--").args(program);
        command.current_dir(self.directory.path()).env("SCISSION_AGENT", &self.agent);
        command.env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null());
        command
    }

    fn run(&self, flags: &[&str], program: &[&str]) -> Outcome {
        Outcome::of(&self.command(flags, program).output().unwrap())
    }

    fn java(&self, flags: &[&str], arguments: &[&str]) -> Outcome {
        self.run(flags, &[&["java", "-cp", "classes", "Main"], arguments].concat())
    }

    fn shell(&self, flags: &[&str], script: &str) -> Outcome {
        self.run(flags, &["sh", "-c", script])
    }

    /// What is reported of the results in a directory, after the run.
    fn report(&self, directory: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        command.args(["run", "--results", directory]).current_dir(self.directory.path());
        Outcome::of(&command.output().unwrap())
    }

    /// What JVMs have left in a directory until now.
    fn results(&self, directory: &str) -> Vec<String> {
        let files = fs::read_dir(self.path(directory)).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect()
    }
}

#[test]
fn a_program_that_halts() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.java(&[], &["halt"]).found(1);
}

#[test]
fn a_program_that_fails() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.java(&[], &["fail"]).found(1).says(1, "as it should");
}

#[test]
fn a_program_without_memory() {
    let Some(sabotage) = Sabotage::new() else { return };
    let program = ["java", "-Xmx64m", "-cp", "classes", "Main", "memory"];
    sabotage.run(&[], &program).found(1).says(1, "OutOfMemoryError");
}

#[test]
fn a_jvm_that_is_killed_leaves_what_was_found() {
    let Some(sabotage) = Sabotage::new() else { return };
    let outcome = sabotage.java(&["--results", "kept"], &["kill", "kept"]);
    outcome.found(137).says(137, "it was killed or is still running");
    assert!(!outcome.stderr.contains("no class of the program"), "{}", outcome.stderr);
}

#[test]
fn a_launcher_that_is_killed_and_a_jvm_that_goes_on() {
    let Some(sabotage) = Sabotage::new() else { return };
    // The launcher kills itself once the JVM has left what it found.
    let script = "java -cp classes Main wait go > /dev/null 2>&1 & \
                  until grep -qs happens-before-race kept/*.json; do sleep 0.05; done; kill -9 $$";
    let outcome = sabotage.shell(&["--results", "kept"], script);
    fs::write(sabotage.path("go"), "").unwrap();
    outcome.found(137).says(137, "it was killed or is still running");
}

#[test]
fn a_launcher_and_a_jvm_that_are_killed() {
    let Some(sabotage) = Sabotage::new() else { return };
    let script = "java -cp classes Main wait go > /dev/null 2>&1 & jvm=$!; \
                  until grep -qs happens-before-race kept/*.json; do sleep 0.05; done; kill -9 $jvm; kill -9 $$";
    let outcome = sabotage.shell(&["--results", "kept"], script);
    outcome.found(137).says(137, "it was killed or is still running");
}

#[test]
fn the_command_itself_is_killed() {
    let Some(sabotage) = Sabotage::new() else { return };
    let program = ["java", "-cp", "classes", "Main", "wait", "go"];
    let mut command = sabotage.command(&["--results", "kept"], &program);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !sabotage.results("kept").iter().any(|it| it.contains("happens-before-race")) {
        std::thread::yield_now();
    }
    // As `kill -9` does.
    run.kill().unwrap();
    run.wait().unwrap();
    sabotage.report("kept").found(1).says(1, "it was killed or is still running");
    // The program goes on, and so does the watching.
    fs::write(sabotage.path("go"), "").unwrap();
    while !sabotage.results("kept").iter().any(|it| it.contains("\"complete\"")) {
        std::thread::yield_now();
    }
    let outcome = sabotage.report("kept");
    outcome.found(1);
    assert!(!outcome.stderr.contains("still running"), "{}", outcome.stderr);
}

#[test]
fn one_of_two_jvms_is_killed() {
    let Some(sabotage) = Sabotage::new() else { return };
    // The launcher itself and the other JVM succeed.
    let script = "java -cp classes Calm never & jvm=$!; \
                  until ls kept/*.json > /dev/null 2>&1; do sleep 0.05; done; kill -9 $jvm; \
                  java -cp classes Calm";
    let outcome = sabotage.shell(&["--results", "kept"], script);
    outcome.says(2, "it was killed or is still running").says(2, UNWATCHED);
    assert_eq!(fs::read_dir(sabotage.path("kept")).unwrap().count(), 2);
    // With what the other found, that is what counts.
    let script = script.replace("kept", "second");
    let outcome =
        sabotage.shell(&["--results", "second"], &format!("{script}; java -cp classes Main"));
    outcome.found(1).says(1, "it was killed or is still running");
}

#[test]
fn a_daemon_that_outlives_the_run() {
    let Some(sabotage) = Sabotage::new() else { return };
    let script = "java -cp classes Main wait go > /dev/null 2>&1 & \
                  until ls kept/*.json > /dev/null 2>&1; do sleep 0.05; done";
    let outcome = sabotage.shell(&["--results", "kept"], script);
    assert!(outcome.code == Some(2) || outcome.code == Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("it was killed or is still running"), "{}", outcome.stderr);
    // Another JVM that was watched to its end is no excuse.
    let beside = "java -cp classes Calm go > /dev/null 2>&1 & \
                  until ls beside/*.json > /dev/null 2>&1; do sleep 0.05; done; java -cp classes Calm";
    sabotage.shell(&["--results", "beside"], beside).says(2, UNWATCHED);
    // What it finds later can be reported later.
    fs::write(sabotage.path("go"), "").unwrap();
    while !sabotage.results("kept").iter().any(|it| it.contains("\"complete\"")) {
        std::thread::yield_now();
    }
    sabotage.report("kept").found(1);
}

#[test]
fn a_launcher_that_ends_before_its_jvm_begins() {
    let Some(sabotage) = Sabotage::new() else { return };
    let script = "(sleep 1; java -cp classes Main) > /dev/null 2>&1 &";
    sabotage.shell(&[], script).says(2, "no JVM was watched");
}

#[test]
fn a_launcher_that_becomes_another_program() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.shell(&[], "java -cp classes Main; exec true").found(1);
    sabotage.shell(&[], "exec java -cp classes Main").found(1);
}

#[test]
fn results_that_are_removed_while_the_program_runs() {
    let Some(sabotage) = Sabotage::new() else { return };
    let outcome = sabotage.java(&["--results", "kept"], &["remove", "kept"]);
    outcome.says(2, "cannot read the results in `kept`");
}

#[test]
fn a_place_for_results_that_cannot_be_written() {
    let Some(sabotage) = Sabotage::new() else { return };
    fs::write(sabotage.path("kept"), "a file").unwrap();
    sabotage.java(&["--results", "kept"], &[]).says(2, "there is something else of this name");
    assert_eq!(fs::read_to_string(sabotage.path("kept")).unwrap(), "a file");
    sabotage.java(&["--results", "/proc/kept"], &[]).says(2, "cannot make the directory");
    // It is there, and nobody can make files in it, not even root.
    let outcome = sabotage.java(&["--results", "/proc/sys"], &[]);
    outcome.says(2, "the results of this run cannot be written").says(2, "no JVM was watched");
}

#[test]
fn a_disk_that_is_full_for_a_recording() {
    let Some(sabotage) = Sabotage::new() else { return };
    let outcome = sabotage.java(&["--record", "/dev/full"], &[]);
    outcome.found(1).says(1, "cannot be recorded to: No space left on device");
}

#[test]
fn a_disk_that_is_full_for_results() {
    let Some(sabotage) = Sabotage::new() else { return };
    // No file may grow; JVMs take the signal that comes with it.
    let script = "ulimit -f 0; java -XX:-UsePerfData -cp classes Main";
    let outcome = sabotage.shell(&[], script);
    outcome.says(2, "the results of this run cannot be written: File too large (os error 27)\n");
}

#[test]
fn few_file_descriptors() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.shell(&[], "ulimit -n 24; java -cp classes Main").found(1);
}

#[test]
fn a_class_path_that_is_gone() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.java(&[], &["remove", "classes"]).found(1);
    sabotage.compile();
}

#[test]
fn a_security_manager() {
    let Some(sabotage) = Sabotage::new() else { return };
    // JVMs that have none any more refuse it and start nothing.
    let program = ["java", "-Djava.security.manager", "-cp", "classes", "Main"];
    let outcome = sabotage.run(&[], &program);
    if outcome.stderr.contains("not supported") {
        outcome.says(1, "no JVM was watched");
    } else {
        outcome.found(1);
    }
}

#[test]
fn what_is_no_agent() {
    let Some(sabotage) = Sabotage::new() else { return };
    fs::write(sabotage.path("agent.so"), "nonsense").unwrap();
    for agent in ["agent.so", "/lib/x86_64-linux-gnu/libz.so.1", "/lib64/ld-linux-x86-64.so.2"] {
        let outcome = sabotage.java(&["--agent", agent], &[]);
        assert_ne!(outcome.code, Some(0), "{agent}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("no JVM was watched") || outcome.stderr.contains("agent"));
    }
    let outcome = sabotage.java(&["--agent", "no/such/agent.so"], &[]);
    outcome.says(2, "the program runs unwatched");
}

#[test]
fn a_jvm_that_refuses_agents() {
    let Some(sabotage) = Sabotage::new() else { return };
    // As a JVM that was linked without the tool interface does.
    let script = "#!/bin/sh\ncase \"$*\" in *agentpath*) echo 'agents are not supported' >&2; exit 1;; esac\n";
    fs::write(sabotage.path("java"), script).unwrap();
    fs::set_permissions(sabotage.path("java"), fs::Permissions::from_mode(0o755)).unwrap();
    let outcome = sabotage.run(&[], &["./java", "-cp", "classes", "Main"]);
    outcome.says(1, "no JVM was watched");
    // One that ignores them is not watched either, and that is no success.
    fs::write(sabotage.path("java"), "#!/bin/sh\nexit 0\n").unwrap();
    sabotage.run(&[], &["./java", "-cp", "classes", "Main"]).says(2, "no JVM was watched");
}

/// Only what it needs of `jni.h`: a JVM that loads the agent, and whose tool interface is that of another release.
const OLD_JVM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct functions { void *reserved[3]; void *unused[3]; int (*get_env)(void *, void **, int); void *last; };
static int get_env(void *vm, void **env, int version) { *env = 0; return -3; }
static struct functions functions = { .get_env = get_env };
static struct functions *vm = &functions;

int main(int count, char **words) {
    for (int index = 1; index < count; index++) {
        if (strncmp(words[index], "-agentpath:", 11) != 0) continue;
        char *path = words[index] + 11;
        char *options = strchr(path, '=');
        if (options) *options++ = 0;
        void *library = dlopen(path, RTLD_NOW);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        int (*load)(void *, char *, void *) = (int (*)(void *, char *, void *)) dlsym(library, "Agent_OnLoad");
        if (load(&vm, options, 0) != 0) return 1;
    }
    puts("the program ran");
    return 0;
}
"#;

#[test]
fn a_jvm_that_is_too_old() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.compile_c("java", OLD_JVM, &["-ldl"]);
    let outcome = sabotage.run(&[], &["./java", "-cp", "classes", "Main"]);
    assert_ne!(outcome.code, Some(0), "{}", outcome.stderr);
    for sentence in ["this JVM does not offer the tool interface of Java 11", "no JVM was watched"]
    {
        assert!(outcome.stderr.contains(sentence), "{}", outcome.stderr);
    }
}

#[test]
fn an_agent_for_another_libc() {
    let Some(sabotage) = Sabotage::new() else { return };
    // What it was linked with is not on this machine.
    sabotage.compile_c("libc.of-another-system.so.1", "int started;", &["-shared", "-fPIC"]);
    let agent = "extern int started; int *use = &started; const char version[] = \"scission-agent-version:VERSION\\n\";";
    let agent = agent.replace("VERSION", env!("CARGO_PKG_VERSION"));
    sabotage.compile_c("agent.so", &agent, &["-shared", "-fPIC", "libc.of-another-system.so.1"]);
    fs::remove_file(sabotage.path("libc.of-another-system.so.1")).unwrap();
    let outcome = sabotage.java(&["--agent", "agent.so"], &[]);
    // The JVM itself says which library is missing.
    outcome.says(1, "no JVM was watched");
}

#[test]
fn two_runs_into_one_directory() {
    let Some(sabotage) = Sabotage::new() else { return };
    let start = || {
        let mut command =
            sabotage.command(&["--results", "kept"], &["java", "-cp", "classes", "Main"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()];
    for run in both {
        Outcome::of(&run.wait_with_output().unwrap()).found(1);
    }
    assert_eq!(fs::read_dir(sabotage.path("kept")).unwrap().count(), 2);
}

#[test]
fn a_result_that_is_cut_off() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.java(&["--results", "kept"], &[]).found(1);
    let file = fs::read_dir(sabotage.path("kept")).unwrap().flatten().next().unwrap().path();
    let whole = fs::read(&file).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 2] {
        fs::write(&file, &whole[..length]).unwrap();
        let outcome = sabotage.report("kept");
        assert!(outcome.stderr.contains("damaged"), "{length}: {}", outcome.stderr);
        assert_eq!(outcome.code, Some(2), "{length}: {}", outcome.stderr);
    }
}

#[test]
fn a_clock_that_goes_back() {
    let Some(sabotage) = Sabotage::new() else { return };
    // Files of the future are as good as others: nothing is decided by their times.
    sabotage.java(&["--results", "kept"], &[]).found(1);
    let file = fs::read_dir(sabotage.path("kept")).unwrap().flatten().next().unwrap().path();
    assert!(
        Command::new("touch").args(["-d", "2100-01-01"]).arg(&file).status().unwrap().success()
    );
    sabotage.java(&["--results", "kept"], &[]).found(1);
}

/// Each time that somebody asks, it is an hour earlier.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static long asked;
    int code = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec -= 3600 * ++asked;
    return code;
}
"#;

#[test]
fn a_clock_that_goes_back_while_the_program_runs() {
    let Some(sabotage) = Sabotage::new() else { return };
    sabotage.compile_c("clock.so", CLOCK, &["-shared", "-fPIC"]);
    sabotage.shell(&[], "LD_PRELOAD=./clock.so java -cp classes Main").found(1);
}

#[test]
fn results_are_private_and_links_are_not_followed() {
    let Some(sabotage) = Sabotage::new() else { return };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    sabotage.java(&["--results", "new/kept"], &[]).found(1);
    assert_eq!(mode(&sabotage.path("new/kept")), 0o700);
    let file = fs::read_dir(sabotage.path("new/kept")).unwrap().flatten().next().unwrap().path();
    assert_eq!(mode(&file), 0o600);
    // A directory that was there stays as it was, and what is left in it is private all the same.
    for (name, permissions, is_open) in [("shared", 0o755, false), ("open", 0o1777, true)] {
        fs::create_dir(sabotage.path(name)).unwrap();
        fs::set_permissions(sabotage.path(name), PermissionsExt::from_mode(permissions)).unwrap();
        let outcome = sabotage.java(&["--results", name], &[]);
        outcome.found(1);
        let said = "warning: everybody may write to `open`, so that results in it may be of others";
        assert_eq!(outcome.stderr.contains(said), is_open, "{}", outcome.stderr);
        assert_eq!(mode(&sabotage.path(name)), permissions & 0o777);
        let file = fs::read_dir(sabotage.path(name)).unwrap().flatten().next().unwrap().path();
        assert_eq!(mode(&file), 0o600);
    }
    // Somebody has guessed the process: `exec` keeps it.
    fs::write(sabotage.path("precious"), "precious").unwrap();
    fs::create_dir(sabotage.path("kept")).unwrap();
    symlink("../precious", sabotage.path("kept/placeholder")).unwrap();
    let script = "mv kept/placeholder kept/$$.json; exec java -cp classes Main";
    sabotage.shell(&["--results", "kept"], script).found(1);
    assert_eq!(fs::read_to_string(sabotage.path("precious")).unwrap(), "precious");
}

#[test]
fn an_agent_of_another_release() {
    let Some(sabotage) = Sabotage::new() else { return };
    let version = |agent: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        let output = command.arg("--version").env("SCISSION_AGENT", agent).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(version(&sabotage.agent), format!("scission {own}\nagent {own}\n"));
    assert!(version(Path::new("no/such/agent.so")).contains("no agent: there is no agent library"));
    let other = sabotage.path("other.so");
    fs::write(&other, "scission-agent-version:99.1.0\n").unwrap();
    let said = "agent 99.1.0, which must be of the same release";
    assert!(version(&other).contains(said), "{}", version(&other));
    let outcome = sabotage.java(&["--agent", "other.so"], &[]);
    outcome.says(2, "is of scission 99.1.0, and this command is scission");
    let outcome = sabotage.java(&["--agent", "other.so", "--require-agent"], &[]);
    outcome.says(2, "error: the agent library");
}

//! `scission run --watch auto`: what is analysed before the start, what is kept of it, and that nothing is missed where
//! nothing could be analysed. Passed over where the agent is not built, which is said.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Two threads that race on a field of a `Box`, and many accesses that are safe.
const RACING: &str = "
    class Box { int count; }
    class Racing {
        private static int sum(int[] numbers) {
            Total total = new Total();
            for (int number : numbers) { total.value += number; }
            return total.value;
        }
        static class Total { int value; }
        public static void main(String[] arguments) throws Exception {
            Box box = new Box();
            Thread other = new Thread(() -> { box.count++; sum(new int[] {1, 2}); });
            other.start();
            box.count++;
            other.join();
        }
    }
";

/// Runs a class that is not on the class path, or another version of one that is.
const LOADING: &str = "
    class Loading {
        public static void main(String[] arguments) throws Exception {
            java.net.URL[] urls = {new java.io.File(arguments[0]).toURI().toURL()};
            ClassLoader loader = new java.net.URLClassLoader(urls, null);
            Runnable task = (Runnable) loader.loadClass(\"Task\").getDeclaredConstructor().newInstance();
            Thread other = new Thread(task);
            other.start();
            task.run();
            other.join();
        }
    }
";

const RACING_TASK: &str = "
    public class Task implements Runnable {
        int count;
        public void run() { count++; }
    }
";

const SAFE_TASK: &str = "
    public class Task implements Runnable {
        public void run() { int count = 0; count++; }
    }
";

struct Project(tempfile::TempDir);

impl Project {
    fn new(sources: &[(&str, &str)]) -> Option<Project> {
        let agent =
            Path::new(env!("CARGO_BIN_EXE_scission")).with_file_name("libscission_agent.so");
        if !agent.is_file() {
            eprintln!(
                "skipped: the agent library is not built; `cargo build -p scission-agent` builds it"
            );
            return None;
        }
        let project = Project(tempfile::tempdir().unwrap());
        fs::write(project.path("scission.toml"), "").unwrap();
        for (directory, source) in sources {
            project.compile(directory, source);
        }
        Some(project)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn compile(&self, directory: &str, source: &str) {
        let name = source.split("public class ").nth(1).and_then(|it| it.split(' ').next());
        let file = format!("{}.java", name.unwrap_or("Source"));
        fs::write(self.path(&file), source).unwrap();
        let mut javac = Command::new("javac");
        javac.args(["-g", "-d", directory, &file]).current_dir(self.0.path());
        assert!(javac.status().expect("javac of a JDK is needed on the path").success());
    }

    /// Runs a command; the report.
    fn run(&self, flags: &[&str], command: &[&str]) -> Value {
        let mut scission = Command::new(env!("CARGO_BIN_EXE_scission"));
        scission.current_dir(self.0.path()).env_remove("JAVA_TOOL_OPTIONS").env_remove("CLASSPATH");
        scission.env_remove("SCISSION_AGENT").env("XDG_CACHE_HOME", self.path("cache"));
        scission.args(["run", "--format", "json", "--output", "r.json", "--fail-on", "never"]);
        let output = scission.args(flags).arg("--").args(command).output().unwrap();
        let report = fs::read_to_string(self.path("r.json"));
        let report = report.unwrap_or_else(|error| panic!("{error}: {output:?}"));
        serde_json::from_str(&report).unwrap()
    }

    fn auto(&self, command: &[&str]) -> Value {
        self.run(&["--watch", "auto"], command)
    }

    /// The only list that was kept.
    fn kept(&self) -> PathBuf {
        let mut files = fs::read_dir(self.path("cache/scission/watch-lists")).unwrap();
        files.next().unwrap().unwrap().path()
    }
}

fn remarks(report: &Value) -> String {
    let remarks = report["remarks"].as_array().unwrap().iter();
    remarks.map(|it| it.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Whether the race was found; it is one finding.
fn has_race(report: &Value) -> bool {
    let mut findings = report["findings"].as_array().unwrap().iter();
    findings.any(|finding| finding["rule"] == "happens-before-race")
}

fn assert_watched(report: &Value, how: &str) {
    let remarks = remarks(report);
    assert!(remarks.contains(how), "not `{how}`: {remarks}");
    assert!(has_race(report), "{report:#}");
}

const RACING_COMMAND: [&str; 4] = ["java", "-cp", "classes", "Racing"];
const ANALYSED: &str = "that may conflict had hooks; the analysis took";
const KEPT: &str = "that may conflict had hooks; kept from an earlier analysis";

#[test]
fn what_is_safe_has_no_hooks_and_the_rest_is_found() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    let everything = project.run(&[], &RACING_COMMAND);
    assert!(has_race(&everything));
    let sparse = project.auto(&RACING_COMMAND);
    assert_watched(&sparse, ANALYSED);
    // Which of two accesses that race comes first differs from run to run, and with it how many pairs of them race.
    let rules = |report: &Value| -> BTreeSet<String> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["rule"].to_string()).collect()
    };
    assert_eq!(rules(&sparse), rules(&everything));
    let hooks = |report: &Value| report["stats"]["hooks"].as_u64().unwrap();
    assert!(hooks(&sparse) < hooks(&everything), "{sparse:#}{everything:#}");
}

/// A class with locks that the program has on its class path and never calls, as every program with libraries has.
const UNUSED: &str = "
    class Unused {
        private int count;
        synchronized void add() { count++; }
    }
";

#[test]
fn code_that_nobody_calls_does_not_cost_the_list() {
    let sources = [("classes", RACING), ("library", UNUSED)];
    let Some(project) = Project::new(&sources) else { return };
    let report = project.auto(&["java", "-cp", "classes:library", "Racing"]);
    assert_watched(&report, ANALYSED);
}

#[test]
fn an_analysis_is_kept_as_long_as_nothing_changes() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    assert_watched(&project.auto(&RACING_COMMAND), ANALYSED);
    assert_watched(&project.auto(&RACING_COMMAND), KEPT);
    // Another kind of checker needs another list.
    let eraser = project.run(&["--watch", "auto", "--monitor", "eraser"], &RACING_COMMAND);
    assert!(remarks(&eraser).contains(ANALYSED), "{eraser:#}");
    project.compile("classes", &RACING.replace("{1, 2}", "{1, 2, 3}"));
    assert_watched(&project.auto(&RACING_COMMAND), ANALYSED);
}

#[test]
fn a_damaged_list_is_made_again() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    project.auto(&RACING_COMMAND);
    let kept = project.kept();
    let whole = fs::read_to_string(&kept).unwrap();
    let damaged: Vec<&str> = whole.lines().filter(|line| !line.starts_with("Racing")).collect();
    fs::write(&kept, damaged.join("\n")).unwrap();
    assert_watched(&project.auto(&RACING_COMMAND), ANALYSED);
    assert_eq!(fs::read_to_string(&kept).unwrap(), whole);
    assert_watched(&project.auto(&RACING_COMMAND), KEPT);
}

#[test]
fn where_nothing_can_be_kept_it_is_said() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    fs::write(project.path("cache"), "").unwrap();
    let report = project.auto(&RACING_COMMAND);
    assert_watched(&report, ANALYSED);
    assert_watched(&report, "its result was not kept: its directory is a file");
}

#[test]
fn classes_that_were_not_there_are_watched_whole() {
    let sources = [("classes", LOADING), ("plugins", RACING_TASK)];
    let Some(project) = Project::new(&sources) else { return };
    let command = ["java", "-cp", "classes", "Loading", "plugins"];
    let report = project.auto(&command);
    assert_watched(&report, "watched whole: 1 class that was not there to be analysed");
    // A list that knows no classes is taken to know all, and has no access of this one.
    fs::write(project.path("list"), "Loading main ([Ljava/lang/String;)V 0\n").unwrap();
    assert!(!has_race(&project.run(&["--watch-list", "list"], &command)));
}

#[test]
fn a_class_that_is_another_than_the_analysed_one_is_watched_whole() {
    let sources = [("classes", LOADING), ("classes", SAFE_TASK), ("plugins", RACING_TASK)];
    let Some(project) = Project::new(&sources) else { return };
    let command = |place| ["java", "-cp", "classes", "Loading", place];
    let report = project.auto(&command("plugins"));
    assert_watched(&report, "watched whole: 1 class that has changed since it was analysed");
    assert!(!remarks(&project.auto(&command("classes"))).contains("watched whole"));
}

#[test]
fn a_jar_that_changed_after_its_list_was_written_is_watched_whole() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    let jar = || {
        let mut jar = Command::new("jar");
        jar.args(["cf", "app.jar", "-C", "classes", "."]).current_dir(project.0.path());
        assert!(jar.status().unwrap().success());
    };
    let command = ["java", "-cp", "app.jar", "Racing"];
    project.compile("classes", &RACING.replace("box.count++; sum", "sum"));
    jar();
    let mut check = Command::new(env!("CARGO_BIN_EXE_scission"));
    check.args(["check", "--quiet", "--fail-on", "never", "--watch-list", "list", "app.jar"]);
    assert!(check.current_dir(project.0.path()).status().unwrap().success());
    let listed = ["--watch-list", "list"];
    assert!(!has_race(&project.run(&listed, &command)));
    project.compile("classes", RACING);
    jar();
    assert_watched(&project.run(&listed, &command), "1 class that has changed");
}

#[test]
fn without_an_analysis_everything_is_watched() {
    let Some(project) = Project::new(&[("classes", RACING)]) else { return };
    let late = project.run(&["--watch", "auto", "--budget", "0s"], &RACING_COMMAND);
    assert_watched(&late, "everything was watched: the analysis was not done after 0 s");
    fs::write(project.path("broken.jar"), "PK and nothing else").unwrap();
    let broken = project.auto(&["java", "-cp", "classes:broken.jar", "Racing"]);
    assert_watched(
        &broken,
        "everything was watched: the analysis failed: cannot read `broken.jar`",
    );
    let script = "#!/bin/sh\nexec java -cp classes Racing\n";
    fs::write(project.path("start"), script).unwrap();
    let by_script = project.auto(&["sh", "./start"]);
    assert_watched(&by_script, "the class path of `sh` is not known before it starts");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (flags, message) in [
        (&["--watch-list", "list", "--", "java", "Main"][..], "makes a watch list of its own"),
        (&["--results", "results"][..], "needs a COMMAND"),
    ] {
        let mut scission = Command::new(env!("CARGO_BIN_EXE_scission"));
        let output = scission.args(["run", "--no-config", "--watch", "auto"]).args(flags).output();
        let errors = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(errors.contains(message), "{errors}");
    }
}

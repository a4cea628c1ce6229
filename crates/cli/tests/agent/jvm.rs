//! One run of a JVM, with or without the agent, and the comparison of two.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::setup::Setup;

/// No program here takes this long, not even on a machine that is busy with other things.
const MOST_TIME: Duration = Duration::from_secs(240);

/// What is visible of a run from outside.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProcessOutput {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) error: String,
}

/// A run to be started, in a folder of its own.
pub(crate) struct Run {
    pub(crate) folder: TempDir,
    java: PathBuf,
    arguments: Vec<OsString>,
}

impl Run {
    /// A run of this `java`, or of another program that starts a JVM.
    pub(crate) fn new(java: PathBuf) -> Result<Run, Failed> {
        Ok(Run { folder: tempfile::tempdir()?, java, arguments: Vec::new() })
    }

    pub(crate) fn argument(mut self, argument: impl Into<OsString>) -> Run {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn arguments<T: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = T>,
    ) -> Run {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// With the agent; `prefix` is what launchers such as `javac` want before an argument of the JVM.
    pub(crate) fn watched(self, prefix: &str, options: &str) -> Run {
        let mut argument = OsString::from(format!("{prefix}-agentpath:"));
        argument.push(Setup::get().agent());
        // Programs that are jars have as many hooks as those that are directories.
        argument.push(format!("={options},whole-libraries=true"));
        self.argument(argument)
    }

    /// The options that record to a file in the folder of the run.
    pub(crate) fn recording(&self) -> String {
        format!("record={}", self.trace().display())
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.path().join("recorded.trace")
    }

    /// The command, with its output going to files.
    pub(crate) fn command(&self) -> Result<Command, Failed> {
        let mut command = Command::new(&self.java);
        self.prepare(&mut command)?;
        command.args(&self.arguments);
        Ok(command)
    }

    /// The same through a shell that first sets a limit, or something else that only shells do.
    pub(crate) fn command_after(&self, shell: &str) -> Result<Command, Failed> {
        let mut command = Command::new("sh");
        self.prepare(&mut command)?;
        command.arg("-c").arg(format!("{shell}; exec \"$0\" \"$@\""));
        command.arg(&self.java).args(&self.arguments);
        Ok(command)
    }

    fn prepare(&self, command: &mut Command) -> Result<(), Failed> {
        command
            .current_dir(self.folder.path())
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS")
            .stdin(Stdio::null())
            .stdout(File::create(self.folder.path().join("standard-output"))?)
            .stderr(File::create(self.folder.path().join("standard-error"))?);
        Ok(())
    }

    pub(crate) fn output(&self) -> Result<String, Failed> {
        read(&self.folder.path().join("standard-output"))
    }

    /// Runs to the end.
    pub(crate) fn finish(&self) -> Result<ProcessOutput, Failed> {
        let child = self.command()?.spawn()?;
        self.wait_for(child)
    }

    /// Waits for the end of the process, and returns its output.
    pub(crate) fn wait_for(&self, mut child: Child) -> Result<ProcessOutput, Failed> {
        let deadline = Instant::now() + MOST_TIME;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                let said = self.output()?;
                return Err(format!("it did not end; it said so far:\n{said}").into());
            }
            thread::sleep(Duration::from_millis(5));
        };
        let error = read(&self.folder.path().join("standard-error"))?;
        Ok(ProcessOutput { code: status.code(), output: self.output()?, error })
    }
}

fn read(file: &Path) -> Result<String, Failed> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}

/// Compares a run with the agent to the plain one.
pub(crate) fn assert_same(plain: &ProcessOutput, watched: &ProcessOutput) -> Result<(), Failed> {
    let mut problems = Vec::new();
    if plain.code != watched.code {
        problems.push(format!("exit code {:?} became {:?}", plain.code, watched.code));
    }
    problems.extend(difference("standard output", &plain.output, &watched.output));
    problems.extend(difference("standard error", &plain.error, &watched.error));
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The first line that is not the same, with a few of those after it.
fn difference(what: &str, plain: &str, watched: &str) -> Option<String> {
    if plain == watched {
        return None;
    }
    let same = plain.lines().zip(watched.lines()).take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(same).take(5).collect();
        lines.join("\n    ")
    };
    Some(format!(
        "{what} differs from line {} on\n  plain:\n    {}\n  with the agent:\n    {}",
        same + 1,
        excerpt(plain),
        excerpt(watched)
    ))
}

/// An agent that does nothing would pass the other checks: the recording must exist.
pub(crate) fn assert_recorded(run: &Run) -> Result<(), Failed> {
    match fs::metadata(run.trace()) {
        Ok(metadata) if metadata.len() > 0 => Ok(()),
        Ok(_) => Err("the trace is empty".into()),
        Err(error) => Err(format!("there is no trace: {error}").into()),
    }
}

/// The classes of all programs in `programs/`, compiled once.
pub(crate) fn torture_classes() -> Result<PathBuf, Failed> {
    static CLASSES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let compile = || -> Result<PathBuf, Failed> {
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("torture");
        fs::create_dir_all(&classes)?;
        let huge = classes.join("Huge.java");
        fs::write(&huge, huge_class())?;
        let mut sources = sources("programs")?;
        sources.push(huge);
        javac(&sources, &classes, None)?;
        Ok(classes)
    };
    let message = |failed: Failed| failed.message().unwrap_or("it failed").to_string();
    CLASSES.get_or_init(|| compile().map_err(message)).clone().map_err(Failed::from)
}

/// The sources in a folder beside this file.
fn sources(folder: &str) -> Result<Vec<PathBuf>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agent").join(folder);
    let mut sources: Vec<PathBuf> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    sources.retain(|file| file.extension().is_some_and(|extension| extension == "java"));
    sources.sort();
    Ok(sources)
}

/// A file beside this one.
pub(crate) fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agent").join(name)
}

/// Compiles for the oldest JVM that is tried.
pub(crate) fn javac(
    sources: &[PathBuf],
    classes: &Path,
    class_path: Option<&str>,
) -> Result<(), Failed> {
    let mut command = Command::new(Setup::get().jdk_program("javac"));
    command.args(["-g", "-nowarn", "-Xlint:none", "--release", "11", "-d"]).arg(classes);
    if let Some(class_path) = class_path {
        command.args(["-cp", class_path]);
    }
    let output = command.args(sources).output()?;
    if !output.status.success() {
        return Err(format!("javac: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}

/// A class with a method that is almost as long as a method may be, so that no hook fits in any more, and one
/// whose branches are almost as wide as they may be.
fn huge_class() -> String {
    let additions = "total += step;\n".repeat(4_900);
    let branches = "total += step; other ^= total;\n".repeat(1_150);
    format!(
        "package torture;
         public class Huge {{
             int total;
             int step = 3;
             long other;
             void longest() {{ {additions} }}
             synchronized void widest(int rounds) {{
                 for (int i = 0; i < rounds; i++) {{
                     if (i % 2 == 0) {{ {branches} }} else {{ other++; }}
                 }}
             }}
             public static void main(String[] arguments) throws Exception {{
                 Huge huge = new Huge();
                 Thread other = new Thread(() -> huge.widest(7));
                 other.start();
                 other.join();
                 for (int i = 0; i < 10; i++) huge.longest();
                 System.out.println(huge.total + \" \" + huge.other);
                 try {{
                     ((Huge) null).longest();
                 }} catch (NullPointerException exception) {{
                     System.out.println(exception.getStackTrace()[0]);
                 }}
             }}
         }}"
    )
}

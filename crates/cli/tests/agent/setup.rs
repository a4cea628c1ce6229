//! Where everything is, and what is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Failed;

/// What a test needs beyond this tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// The library of the agent.
    Agent,
    /// A JDK with a compiler.
    Jdk,
    /// The runtime of this release of Java.
    Jvm(u32),
    /// A program of this name from Debian.
    Program(&'static str),
    /// A file that `cargo xtask prepare` makes.
    Prepared(&'static str),
    /// A command on the path.
    Command(&'static str),
    /// A command of `scission` itself.
    Subcommand(&'static str),
}

/// The places of all things.
pub(crate) struct Setup {
    agent: PathBuf,
    jdk: Option<PathBuf>,
    target: PathBuf,
}

impl Setup {
    /// The one there is.
    pub(crate) fn get() -> &'static Setup {
        static SETUP: OnceLock<Setup> = OnceLock::new();
        SETUP.get_or_init(Setup::find)
    }

    fn find() -> Setup {
        let binary = Path::new(env!("CARGO_BIN_EXE_scission"));
        let agent = std::env::var_os("SCISSION_AGENT")
            .map_or_else(|| binary.with_file_name("libscission_agent.so"), PathBuf::from);
        let target = binary.parent().and_then(Path::parent).unwrap_or(binary).to_path_buf();
        Setup { agent, jdk: find_jdk(), target }
    }

    /// Whether a test that cannot be run has failed.
    pub(crate) fn wants_all(&self) -> bool {
        std::env::var_os("SCISSION_TEST_ALL").is_some()
    }

    /// What is missing of a need, as the end of a sentence.
    pub(crate) fn missing(&self, need: Requirement) -> Option<String> {
        let (is_there, what) = match need {
            Requirement::Agent => (
                self.agent.is_file(),
                format!(
                    "there is no {} (`cargo build --package scission-agent`)",
                    self.agent.display()
                ),
            ),
            Requirement::Jdk => (self.jdk.is_some(), "there is no JDK with a compiler".to_string()),
            Requirement::Jvm(release) => (
                self.jvm(release).join("bin/java").is_file(),
                format!("there is no JVM of Java {release} (`cargo xtask prepare`)"),
            ),
            Requirement::Program(name) => (
                self.class_path_file(name).is_file(),
                format!("the program {name} is missing (`cargo xtask prepare`)"),
            ),
            Requirement::Prepared(name) => {
                (self.prepared(name).exists(), format!("{name} is missing (`cargo xtask prepare`)"))
            }
            Requirement::Command(name) => {
                (on_path(name).is_some(), format!("there is no {name} (`cargo xtask prepare`)"))
            }
            Requirement::Subcommand(name) => {
                (has_subcommand(name), format!("`scission {name}` does not exist"))
            }
        };
        (!is_there).then_some(what)
    }

    pub(crate) fn agent(&self) -> &Path {
        &self.agent
    }

    /// A program of the JDK that compiles.
    pub(crate) fn jdk_program(&self, name: &str) -> PathBuf {
        self.jdk.as_ref().map_or_else(|| name.into(), |home| home.join("bin").join(name))
    }

    /// The home of a runtime.
    pub(crate) fn jvm(&self, release: u32) -> PathBuf {
        self.target.join("jvms").join(release.to_string())
    }

    pub(crate) fn prepared(&self, name: &str) -> PathBuf {
        self.target.join("test-programs").join(name)
    }

    fn class_path_file(&self, program: &str) -> PathBuf {
        self.prepared(&format!("{program}.classpath"))
    }

    /// The jars of a program.
    pub(crate) fn class_path(&self, program: &str) -> Result<String, Failed> {
        Ok(fs::read_to_string(self.class_path_file(program))?)
    }
}

fn find_jdk() -> Option<PathBuf> {
    let from_environment = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let from_path = || {
        let compiler = on_path("javac")?.canonicalize().ok()?;
        Some(compiler.parent()?.parent()?.to_path_buf())
    };
    from_environment.filter(|home| home.join("bin/javac").is_file()).or_else(from_path)
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn has_subcommand(name: &str) -> bool {
    Command::new(env!("CARGO_BIN_EXE_scission"))
        .args([name, "--help"])
        .output()
        .is_ok_and(|output| output.status.success())
}

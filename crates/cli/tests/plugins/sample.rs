//! Copies of the sample projects, and builds of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Builds take both cores of a small machine; one after the other they are as fast, and their times mean something.
static ONE_BUILD: Mutex<()> = Mutex::new(());

/// What a build came to.
pub(crate) struct Build {
    pub(crate) is_success: bool,
    pub(crate) text: String,
}

impl Build {
    /// Its text, if it has failed.
    pub(crate) fn failure(&self) -> &str {
        assert!(!self.is_success, "the build should have failed:\n{}", self.text);
        &self.text
    }

    /// Its text, if it has not.
    pub(crate) fn success(&self) -> &str {
        assert!(self.is_success, "the build should not have failed:\n{}", self.text);
        &self.text
    }
}

/// A copy of a sample project.
pub(crate) struct Sample {
    folder: tempfile::TempDir,
    pub(crate) repository: PathBuf,
}

pub(crate) fn command() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_scission"))
}

impl Sample {
    /// Nothing if the plugins are not built, which is a failure where everything is to be tested.
    pub(crate) fn new(name: &str) -> Option<Sample> {
        let target = command().parent().and_then(Path::parent).unwrap();
        let repository = target.join("test-programs/maven-repository");
        let agent = command().with_file_name("libscission_agent.so");
        let is_prepared = target.join("test-programs/plugins/state").is_file() && agent.is_file();
        if !is_prepared {
            let is_required = std::env::var_os("SCISSION_TEST_ALL").is_some();
            assert!(!is_required, "the plugins or the agent are not built (`cargo xtask prepare`)");
            eprintln!("skipped: the plugins or the agent are not built (`cargo xtask prepare`)");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name);
        // Blanks in paths are nothing special.
        let folder = tempfile::Builder::new().prefix("sample project ").tempdir().unwrap();
        copy(&source, folder.path());
        Some(Sample { folder, repository })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Of the folder, which tools take for the name of the project.
    pub(crate) fn name(&self) -> String {
        self.folder.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs Maven with the command that is tested.
    pub(crate) fn maven(&self, arguments: &[&str]) -> Build {
        let named = format!("-Dscission.command={}", command().display());
        self.bare_maven(&[&[named.as_str()], arguments].concat())
    }

    /// Runs Maven, which has to find the command.
    pub(crate) fn bare_maven(&self, arguments: &[&str]) -> Build {
        self.maven_in(self.folder.path(), arguments)
    }

    pub(crate) fn maven_in(&self, folder: &Path, arguments: &[&str]) -> Build {
        let mut maven = Command::new("mvn");
        maven.args(["--offline", "--batch-mode"]).current_dir(folder);
        maven.arg(format!("-Dmaven.repo.local={}", self.repository.display())).args(arguments);
        self.build(&mut maven)
    }

    /// Runs a build tool.
    pub(crate) fn build(&self, tool: &mut Command) -> Build {
        let _turn = ONE_BUILD.lock().unwrap_or_else(PoisonError::into_inner);
        tool.env("XDG_CACHE_HOME", self.path("cache")).env_remove("JAVA_TOOL_OPTIONS");
        let output = tool.output().expect("the build tool is needed on the path");
        let text = [output.stdout, output.stderr].concat();
        Build {
            is_success: output.status.success(),
            text: String::from_utf8_lossy(&text).into_owned(),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !path.is_dir() {
            fs::copy(&path, target).unwrap();
        } else if !path.ends_with("target") {
            copy(&path, &target);
        }
    }
}

#[track_caller]
pub(crate) fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

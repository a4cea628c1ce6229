//! The agent as developers start it: built from this tree, and loaded into a JVM in one of several ways.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::builds::{self, Profile};

/// Names another library than the one of this tree, for instance an older one to compare with.
const OTHER_LIBRARY: &str = "SCISSION_AGENT";

/// How much of the agent is at work in a JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No agent at all.
    Plain,
    /// Classes are rewritten, hooks and filters run, and events are discarded.
    HooksOnly,
    /// Every event goes to a file.
    Recording,
    /// Every event goes to Velodrome.
    Velodrome,
    /// Every event goes to the checkers that run unless others are chosen.
    Checkers,
    /// As `HooksOnly`, with hooks only where `--watch auto` puts them.
    SparseHooks,
    /// As `Checkers`, with hooks only where `--watch auto` puts them.
    SparseCheckers,
    /// Every event goes to Eraser, and accesses are filtered less.
    Eraser,
    /// Every event goes to Atomizer, and accesses are filtered less.
    Atomizer,
}

impl Mode {
    pub(crate) const ALL: [Mode; 9] = [
        Mode::Plain,
        Mode::HooksOnly,
        Mode::Recording,
        Mode::Velodrome,
        Mode::Checkers,
        Mode::SparseHooks,
        Mode::SparseCheckers,
        Mode::Eraser,
        Mode::Atomizer,
    ];

    /// Whether only accesses are watched that could not be proven safe.
    pub(crate) fn is_sparse(self) -> bool {
        matches!(self, Mode::SparseHooks | Mode::SparseCheckers)
    }

    /// Whether it only shows what older algorithms cost: no limit is about it, and it is slow.
    pub(crate) fn is_for_comparison(self) -> bool {
        matches!(self, Mode::Eraser | Mode::Atomizer)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::HooksOnly => "hooks only",
            Mode::Recording => "recording",
            Mode::Velodrome => "velodrome",
            Mode::Checkers => "checkers",
            Mode::SparseHooks => "sparse hooks",
            Mode::SparseCheckers => "sparse checkers",
            Mode::Eraser => "eraser",
            Mode::Atomizer => "atomizer",
        }
    }

    /// The options of the agent that say what happens to events; without an agent there are none.
    fn options(self, trace: &Path) -> Option<String> {
        Some(match self {
            Mode::Plain => return None,
            Mode::HooksOnly | Mode::SparseHooks => "hooks-only=true".to_string(),
            Mode::Recording => format!("record={}", trace.display()),
            Mode::Velodrome => "monitor=velodrome".to_string(),
            Mode::Checkers | Mode::SparseCheckers => {
                "monitor=velodrome,monitor=happens-before".to_string()
            }
            Mode::Eraser => "monitor=eraser".to_string(),
            Mode::Atomizer => "monitor=atomizer".to_string(),
        })
    }
}

fn included(mut options: String, patterns: &[&str]) -> String {
    for pattern in patterns {
        options.push_str(",include=");
        options.push_str(pattern);
    }
    options
}

/// The library that a JVM loads.
pub(crate) struct Agent {
    library: PathBuf,
}

impl Agent {
    /// Builds the library as users get it, or takes the one that the environment names.
    pub(crate) fn build() -> Result<Agent> {
        if let Some(other) = std::env::var_os(OTHER_LIBRARY) {
            return Agent::of_library(Path::new(&other)).context(OTHER_LIBRARY);
        }
        Ok(Agent { library: builds::library(Profile::Release)?.canonicalize()? })
    }

    /// Another library than that of this tree.
    pub(crate) fn of_library(library: &Path) -> Result<Agent> {
        if !library.is_file() {
            bail!("{} is no file", library.display());
        }
        Ok(Agent { library: library.canonicalize()? })
    }

    /// The arguments of `java` that start it. A trace is written to the file, and only when recording.
    /// The list is for modes that are sparse.
    pub(crate) fn arguments(
        &self,
        mode: Mode,
        include: &[&str],
        trace: &Path,
        list: &Path,
    ) -> Vec<OsString> {
        let Some(mut options) = mode.options(trace) else { return Vec::new() };
        if mode.is_sparse() {
            options.push_str(&format!(",watch-list={}", list.display()));
        }
        options.push_str(",whole-libraries=true");
        self.arguments_with(&included(options, include))
    }

    /// The same in options that libraries of older commits know, too. What is in archives must be included by name.
    pub(crate) fn lasting_arguments(&self, mode: Mode, include: &[&str]) -> Vec<OsString> {
        let options = mode.options(Path::new("/dev/null"));
        options.map_or_else(Vec::new, |options| self.arguments_with(&included(options, include)))
    }

    /// The arguments of `java` that start it with these options.
    pub(crate) fn arguments_with(&self, options: &str) -> Vec<OsString> {
        let mut argument = OsString::from("-agentpath:");
        argument.push(&self.library);
        argument.push("=");
        argument.push(options);
        vec![argument]
    }
}

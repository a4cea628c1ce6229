//! The two things that are built, the command and the library that a JVM loads, and with which profile.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::{cargo, progress, run, target_directory};

pub(crate) const COMMAND: &str = "scission";
pub(crate) const LIBRARY: &str = "libscission_agent.so";

/// The profiles of Cargo.toml that this program builds with. Each has a folder of its own below the target directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For tests, documents and the demo: built in the shortest time.
    Checked,
    /// For benchmarks: what users get.
    Release,
    /// What users get, with its debug symbols.
    Dist,
}

impl Profile {
    /// What Cargo.toml calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Checked => "checked",
            Profile::Release => "release",
            Profile::Dist => "dist",
        }
    }
}

/// Builds the command, and returns where it is.
pub(crate) fn command(profile: Profile) -> Result<PathBuf> {
    build(profile, "scission", COMMAND)
}

/// Builds the library, and returns where it is: beside the command, which looks for it there.
pub(crate) fn library(profile: Profile) -> Result<PathBuf> {
    build(profile, "scission-agent", LIBRARY)
}

fn build(profile: Profile, package: &str, file: &str) -> Result<PathBuf> {
    progress(&format!("build {file}"));
    run(cargo().args(["build", "--quiet", "--profile", profile.name(), "--package", package]))?;
    let built = target_directory()?.join(profile.name()).join(file);
    if !built.is_file() {
        bail!("cargo built no {}", built.display());
    }
    Ok(built)
}

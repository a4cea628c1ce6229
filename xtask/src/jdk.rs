//! Finds a JDK, or gets one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{debian, on_path};

const PACKAGE: &str = "openjdk-17-jdk-headless";
const SOURCE_PACKAGE: &str = "openjdk-17-source";

/// The home of a JDK that has a compiler. Installs one where that is possible.
pub(crate) fn ensure() -> Result<PathBuf> {
    if let Some(home) = find() {
        return Ok(home);
    }
    debian::install(&[PACKAGE])
        .with_context(|| format!("no JDK was found: install {PACKAGE}, or set JAVA_HOME"))?;
    find().with_context(|| format!("{PACKAGE} is installed, but there is no javac on the path"))
}

/// The compiler of a JDK.
pub(crate) fn javac(home: &Path) -> Command {
    Command::new(home.join("bin/javac"))
}

/// The archive with the source of a JDK's library. Installs it where that is possible.
pub(crate) fn sources(home: &Path) -> Result<PathBuf> {
    let archive = home.join("lib/src.zip");
    if archive.is_file() {
        return Ok(archive);
    }
    let missing = || format!("{} is missing: install {SOURCE_PACKAGE}", archive.display());
    debian::install(&[SOURCE_PACKAGE]).with_context(missing)?;
    if !archive.is_file() {
        bail!("{}, or use the JDK that it belongs to", missing());
    }
    Ok(archive)
}

fn find() -> Option<PathBuf> {
    let from_environment = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let from_path = || {
        let compiler = on_path("javac")?.canonicalize().ok()?;
        Some(compiler.parent()?.parent()?.to_path_buf())
    };
    from_environment.filter(|home| home.join("bin/javac").is_file()).or_else(from_path)
}

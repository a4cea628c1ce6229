//! Debian packages: what is installed, and installing what is not.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{on_path, progress, run};

/// Whether a package is installed.
pub(crate) fn is_installed(package: &str) -> bool {
    Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status}", package])
        .output()
        .is_ok_and(|output| output.stdout == b"installed")
}

/// Installs those of the packages that are missing.
pub(crate) fn ensure(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> =
        packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing).with_context(|| format!("install {}", missing.join(" ")))
}

/// Installs packages, when this is Debian and we may.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("there is no apt-get here");
    }
    let id = Command::new("id").arg("-u").output().context("`id` could not be started")?;
    if id.stdout.trim_ascii() != b"0" {
        bail!("only root may install packages");
    }
    progress(&format!("install {}", packages.join(" ")));
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
        command
    };
    run(apt_get().arg("update"))?;
    run(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages))
}

/// The jars of a package. Debian gives most of them several names by symbolic links: only the files
/// themselves count, or every class would be there twice. Translations hold no code.
pub(crate) fn jars_of(package: &str) -> Result<Vec<PathBuf>> {
    let output = Command::new("dpkg")
        .args(["--listfiles", package])
        .output()
        .context("`dpkg` could not be started")?;
    let mut jars: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(PathBuf::from)
        .filter(|file| file.extension().is_some_and(|extension| extension == "jar"))
        .filter(|file| file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()))
        .filter(|file| !is_translation(file))
        .collect();
    jars.sort();
    if jars.is_empty() {
        bail!("{package} has no jars");
    }
    Ok(jars)
}

fn is_translation(jar: &Path) -> bool {
    let name = jar.file_name().unwrap_or_default().to_string_lossy();
    name.contains("-i18n-") || name.contains("Locale_")
}

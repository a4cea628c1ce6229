//! Debian packages: what is installed, and installing what is not.

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

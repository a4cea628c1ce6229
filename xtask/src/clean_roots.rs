//! Machines on which nothing was ever installed: roots that `debootstrap` makes. Each package is installed on one of its own
//! in the way that users are told, and finds a defect there; what is missing on them, users miss.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::packages::{Packages, WatchedDemo};
use crate::{debian, progress, root, run, target_directory};

/// What roots are made of.
const RELEASE: &str = "bookworm";
const MAKER: &str = "debootstrap";
/// Where the demo's classes are on a root.
const CLASSES: &str = "opt/demo";
const CONTAINERFILE: &str = "packaging/Containerfile";

/// Installs and uses the tarball, the wheel, and the package by the steps of the container file.
pub(crate) fn try_out(packages: &Packages) -> Result<()> {
    let roots = target_directory()?.join("clean-roots");
    let base = base(&roots)?;
    let classes = roots.join("classes");
    WatchedDemo::compile(&classes)?;
    for (name, install) in [
        ("container", container as fn(&CleanRoot, &Packages) -> Result<()>),
        ("tarball", tarball),
        ("wheel", wheel),
    ] {
        progress(&format!("install the {name} on a clean root"));
        let root = CleanRoot::copy_of(&base, &roots.join(name))?;
        run(Command::new("cp").arg("-a").arg(&classes).arg(root.0.join(CLASSES)))?;
        install(&root, packages).with_context(|| format!("the {name} on a clean root"))?;
        fs::remove_dir_all(&root.0)?;
    }
    progress(
        "the container file, the tarball and the wheel find the defects of the demo on clean roots",
    );
    Ok(())
}

/// A root with the smallest system, which is made once.
fn base(roots: &Path) -> Result<PathBuf> {
    let base = roots.join("base");
    let made = roots.join("base.made");
    if fs::read_to_string(&made).is_ok_and(|release| release == RELEASE) {
        return Ok(base);
    }
    debian::ensure(&[MAKER])?;
    if base.exists() {
        fs::remove_dir_all(&base)?;
    }
    fs::create_dir_all(roots)?;
    progress(&format!("make a clean root of {RELEASE}"));
    run(Command::new(MAKER).args(["--variant=minbase", RELEASE]).arg(&base))?;
    // The name server of this machine.
    fs::copy("/etc/resolv.conf", base.join("etc/resolv.conf"))?;
    fs::write(made, RELEASE)?;
    Ok(base)
}

/// The steps of the container file.
fn container(clean: &CleanRoot, packages: &Packages) -> Result<()> {
    let text = fs::read_to_string(root().join(CONTAINERFILE))?;
    let text = text.replace("\\\n", " ");
    let mut entry = None;
    let mut directory = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (step, rest) = line.split_once(' ').with_context(|| line.to_string())?;
        match step {
            "FROM" if rest == format!("debian:{RELEASE}") => {}
            "COPY" => {
                let (pattern, target) = rest.split_once(' ').context("COPY FROM TO")?;
                let deb = &packages.deb;
                let name = deb.file_name().unwrap_or_default();
                let start = pattern.split('*').next().unwrap_or_default();
                if !name.to_string_lossy().starts_with(start) {
                    bail!("nothing that is built fits `{pattern}`");
                }
                fs::copy(deb, clean.0.join(target.trim_start_matches('/')).join(name))?;
            }
            "RUN" => clean.run(rest)?,
            "WORKDIR" => {
                directory = rest.to_string();
                fs::create_dir_all(clean.0.join(rest.trim_start_matches('/')))?;
            }
            "ENTRYPOINT" => entry = serde_json::from_str::<Vec<String>>(rest)?.pop(),
            "CMD" => {}
            _ => bail!("this step is unknown here: {line}"),
        }
    }
    run(Command::new("cp").arg("-a").arg(clean.0.join(CLASSES)).arg(clean.0.join("work/demo")))?;
    let entry = entry.context("there is no ENTRYPOINT")?;
    clean.finds_the_defects(&entry, &format!("{directory}/demo"))
}

fn tarball(clean: &CleanRoot, packages: &Packages) -> Result<()> {
    run(Command::new("tar")
        .arg("--extract")
        .arg("--strip-components=1")
        .arg("--directory")
        .arg(clean.0.join("usr/local"))
        .arg("--file")
        .arg(&packages.tarball))?;
    clean.install("openjdk-17-jre-headless")?;
    clean.finds_the_defects("scission", &format!("/{CLASSES}"))
}

fn wheel(clean: &CleanRoot, packages: &Packages) -> Result<()> {
    fs::copy(
        &packages.wheel,
        clean.0.join("opt").join(packages.wheel.file_name().context("a file has a name")?),
    )?;
    clean.install("openjdk-17-jre-headless python3-venv")?;
    clean.run(
        "python3 -m venv /opt/venv && /opt/venv/bin/pip install --quiet --no-index /opt/*.whl",
    )?;
    clean.finds_the_defects("/opt/venv/bin/scission", &format!("/{CLASSES}"))
}

/// A root that nothing but the package is installed on.
struct CleanRoot(PathBuf);

impl CleanRoot {
    fn copy_of(base: &Path, folder: &Path) -> Result<CleanRoot> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        run(Command::new("cp").arg("-a").arg(base).arg(folder))?;
        Ok(CleanRoot(folder.to_path_buf()))
    }

    /// A shell command on the root, with processes of its own.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--mount-proc"]);
        command.arg(format!("--root={}", self.0.display())).args(["/bin/sh", "-c", script]);
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    fn run(&self, script: &str) -> Result<()> {
        let output = self.shell(script).output()?;
        if !output.status.success() {
            bail!(
                "`{script}` failed: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    fn install(&self, packages: &str) -> Result<()> {
        self.run(&format!(
            "apt-get -qq update && apt-get -qq install --no-install-recommends {packages}"
        ))
    }

    fn finds_the_defects(&self, scission: &str, classes: &str) -> Result<()> {
        WatchedDemo::assert_found(|arguments| {
            self.shell(&format!("cd {classes} && exec {scission} {}", arguments.join(" ")))
        })
    }
}

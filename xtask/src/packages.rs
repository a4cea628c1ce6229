//! What users install: a tarball, a Debian package and a Python wheel, each with the command, the agent library beside
//! it, and, where there is a place for them, manual pages and completions. And whether each of them works where it was
//! installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::builds::{COMMAND, LIBRARY};
use crate::{debian, jdk, progress, root, run, target_directory};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Puts wheels together; a release of theirs must not change what is built of ours.
const WHEEL_PACKAGE: &str = "wheel==0.45.1";
/// The commands that have a manual page of their own, besides the one of `scission` itself.
const COMMANDS: [&str; 10] = [
    "check",
    "run",
    "report",
    "init",
    "inspect",
    "trace",
    "models",
    "explain",
    "man",
    "completions",
];

/// Makes all packages from the command and the library in this folder, and returns them.
pub(crate) fn make(built: &Path, output: &Path) -> Result<Packages> {
    fs::create_dir_all(output)?;
    let staged = output.join("staged");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    let packages = Packages {
        tarball: tarball(built, &staged, output)?,
        deb: deb(built, &staged, output)?,
        wheel: wheel(built, &staged, output)?,
    };
    fs::remove_dir_all(&staged)?;
    for package in [&packages.tarball, &packages.deb, &packages.wheel] {
        progress(&format!("{}: {} bytes", package.display(), fs::metadata(package)?.len()));
    }
    Ok(packages)
}

/// Where they are.
pub(crate) struct Packages {
    pub(crate) tarball: PathBuf,
    pub(crate) deb: PathBuf,
    pub(crate) wheel: PathBuf,
}

/// Copies the command and the library to a folder.
fn put_programs(built: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (name, mode) in [(COMMAND, 0o755), (LIBRARY, 0o644)] {
        fs::copy(built.join(name), folder.join(name)).with_context(|| name.to_string())?;
        fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode))?;
    }
    Ok(())
}

/// What the command prints with these arguments.
fn printed(built: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(built.join(COMMAND)).args(arguments).output()?;
    if !output.status.success() {
        bail!("`scission {}` failed: {}", arguments.join(" "), output.status);
    }
    Ok(output.stdout)
}

/// Manual pages and completions, in the places that Debian has for them below `share`.
fn put_documentation(built: &Path, share: &Path) -> Result<()> {
    let manual = share.join("man/man1");
    fs::create_dir_all(&manual)?;
    fs::write(manual.join("scission.1"), printed(built, &["man"])?)?;
    for command in COMMANDS {
        let page = printed(built, &["man", command])?;
        fs::write(manual.join(format!("scission-{command}.1")), page)?;
    }
    for (shell, place) in [
        ("bash", "bash-completion/completions/scission"),
        ("zsh", "zsh/vendor-completions/_scission"),
        ("fish", "fish/vendor_completions.d/scission.fish"),
    ] {
        let file = share.join(place);
        fs::create_dir_all(file.parent().context("a file has a folder")?)?;
        fs::write(file, printed(built, &["completions", shell])?)?;
    }
    let texts = share.join("doc/scission");
    fs::create_dir_all(&texts)?;
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(name), texts.join(name)).with_context(|| name.to_string())?;
    }
    Ok(())
}

fn tarball(built: &Path, staged: &Path, output: &Path) -> Result<PathBuf> {
    let name = format!("scission-{VERSION}-{}-linux", std::env::consts::ARCH);
    let folder = staged.join(&name);
    put_programs(built, &folder.join("bin"))?;
    put_documentation(built, &folder.join("share"))?;
    let file = output.join(format!("{name}.tar.gz"));
    // The same files give the same bytes.
    let fixed = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    let mut tar = Command::new("tar");
    tar.args(fixed).arg("--directory").arg(staged).args(["--use-compress-program", "gzip -n"]);
    run(tar.arg("--create").arg("--file").arg(&file).arg(&name))?;
    Ok(file)
}

fn deb(built: &Path, staged: &Path, output: &Path) -> Result<PathBuf> {
    let folder = staged.join("deb");
    // The command finds the library beside the file that the link leads to.
    put_programs(built, &folder.join("usr/lib/scission"))?;
    fs::create_dir_all(folder.join("usr/bin"))?;
    symlink("../lib/scission/scission", folder.join("usr/bin/scission"))?;
    put_documentation(built, &folder.join("usr/share"))?;
    let architecture = Command::new("dpkg").arg("--print-architecture").output()?.stdout;
    let architecture = String::from_utf8(architecture)?.trim().to_string();
    fs::create_dir_all(folder.join("DEBIAN"))?;
    fs::write(
        folder.join("DEBIAN/control"),
        format!(
            "Package: scission\nVersion: {VERSION}\nArchitecture: {architecture}\nSection: devel\nPriority: optional\n\
             Maintainer: The Scission authors <scission@invalid>\nDepends: libc6 (>= 2.34), libgcc-s1\n\
             Suggests: default-jre-headless\n\
             Description: finds synchronization defects in JVM programs\n \
             Atomicity violations, data races and deadlocks, in the bytecode of a program and while it runs.\n"
        ),
    )?;
    let file = output.join(format!("scission_{VERSION}_{architecture}.deb"));
    run(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&folder).arg(&file))?;
    Ok(file)
}

fn wheel(built: &Path, staged: &Path, output: &Path) -> Result<PathBuf> {
    let folder = staged.join("wheel");
    // Scripts are put beside each other on the path of the environment, which is where the command looks.
    put_programs(built, &folder.join(format!("scission-{VERSION}.data/scripts")))?;
    let information = folder.join(format!("scission-{VERSION}.dist-info"));
    fs::create_dir_all(information.join("licenses"))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(name), information.join("licenses").join(name))?;
    }
    let readme = fs::read_to_string(root().join("README.md"))?;
    fs::write(
        information.join("METADATA"),
        format!(
            "Metadata-Version: 2.1\nName: scission\nVersion: {VERSION}\n\
             Summary: Finds synchronization defects in JVM programs\nLicense: MIT OR Apache-2.0\n\
             Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
        ),
    )?;
    let tag = format!("py3-none-linux_{}", std::env::consts::ARCH);
    fs::write(
        information.join("WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: scission\nRoot-Is-Purelib: false\nTag: {tag}\n"),
    )?;
    let python = environment("wheel-tools", WHEEL_PACKAGE)?;
    run(Command::new(python).args(["-m", "wheel", "pack", "--dest-dir"]).arg(output).arg(&folder))?;
    Ok(output.join(format!("scission-{VERSION}-{tag}.whl")))
}

/// The Python of a virtual environment below the target directory that has a package.
fn environment(name: &str, package: &str) -> Result<PathBuf> {
    let folder = target_directory()?.join(name);
    let python = folder.join("bin/python");
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == package) {
        return Ok(python);
    }
    debian::ensure(&["python3-venv"])?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(quiet).arg(package))?;
    fs::write(stamp, package)?;
    Ok(python)
}

impl Packages {
    /// Installs each into a folder that has nothing else, and uses it there.
    pub(crate) fn try_out(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let classes = folder.join("classes");
        WatchedDemo::compile(&classes)?;

        let unpacked = folder.join("tarball");
        fs::create_dir_all(&unpacked)?;
        let mut tar = Command::new("tar");
        run(tar
            .arg("--extract")
            .arg("--strip-components=1")
            .arg("--directory")
            .arg(&unpacked)
            .arg("--file")
            .arg(&self.tarball))?;
        works(&unpacked.join("bin"), &classes).context("the tarball")?;

        let installed = folder.join("deb");
        fs::create_dir_all(installed.join("var/lib/dpkg/updates"))?;
        for file in ["status", "available"] {
            fs::write(installed.join("var/lib/dpkg").join(file), "")?;
        }
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", installed.display()));
        // What the package depends on is on this machine, and not in the folder.
        run(dpkg
            .args(["--force-depends", "--force-not-root", "--log=/dev/null", "--install"])
            .arg(&self.deb))?;
        works(&installed.join("usr/bin"), &classes).context("the Debian package")?;
        let page = installed.join("usr/share/man/man1/scission-check.1");
        run(Command::new("man")
            .env("MANROFFOPT", "-ww")
            .arg("--warnings")
            .arg("-l")
            .arg(page)
            .stdout(std::process::Stdio::null()))?;

        let environment = folder.join("environment");
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        let quiet =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
        run(Command::new(environment.join("bin/python")).args(quiet).arg(&self.wheel))?;
        works(&environment.join("bin"), &classes).context("the wheel")?;
        progress(
            "the tarball, the Debian package and the wheel find the defects of the demo where they are installed",
        );
        Ok(())
    }
}

fn works(folder: &Path, classes: &Path) -> Result<()> {
    WatchedDemo::assert_found(|arguments| {
        let mut command = Command::new(folder.join(COMMAND));
        command.current_dir(classes).env_remove("SCISSION_AGENT").env_remove("JAVA_TOOL_OPTIONS");
        command.args(arguments);
        command
    })
}

/// The demo, as the program in which an installed command has to find something.
pub(crate) struct WatchedDemo;

impl WatchedDemo {
    pub(crate) fn compile(classes: &Path) -> Result<()> {
        fs::create_dir_all(classes)?;
        let home = jdk::ensure()?;
        let sources = fs::read_dir(root().join("demo/bank"))?.flatten().map(|entry| entry.path());
        run(jdk::javac(&home).args(["--release", "17", "-g", "-d"]).arg(classes).args(sources))
    }

    /// Whether the command, in the directory of the classes, knows its agent, finds the defects, and watches the demo.
    pub(crate) fn assert_found(scission: impl Fn(&[&str]) -> Command) -> Result<()> {
        let version = String::from_utf8(scission(&["--version"]).output()?.stdout)?;
        if version != format!("scission {VERSION}\nagent {VERSION}\n") {
            bail!("`--version` prints {version}");
        }
        let checked = scission(&["check", ".", "--no-config"]).output()?;
        let text = String::from_utf8_lossy(&checked.stdout).into_owned();
        if checked.status.code() != Some(1) || !text.contains("bank.Teller.transfer") {
            bail!("`check` ended with {} and printed {text}", checked.status);
        }
        let program =
            ["run", "--require-agent", "--no-config", "--", "java", "-cp", ".", "bank.Main"];
        let watched = scission(&program).output()?;
        let text = String::from_utf8_lossy(&watched.stderr).into_owned();
        if !matches!(watched.status.code(), Some(0 | 1)) || !text.contains("in 5 classes") {
            bail!("`run` ended with {} and printed {text}", watched.status);
        }
        Ok(())
    }
}

//! `cargo xtask prepare`: everything that the tests of the agent need and that is not in this tree. It is put where
//! they look for it, below the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{debian, jdk, jvms, languages, plugins, run, target_directory};

/// A program from Debian that the agent must not change, or one with a defect that it must find.
struct Program {
    name: &'static str,
    packages: &'static [&'static str],
    /// What the names of the jars begin with; all of the packages when empty.
    jars: &'static [&'static str],
}

const PROGRAMS: [Program; 5] = [
    Program { name: "h2", packages: &["libh2-java"], jars: &[] },
    Program {
        name: "lucene",
        packages: &["liblucene4.10-java"],
        jars: &["lucene-core-", "lucene-analyzers-common-", "lucene-queryparser-"],
    },
    Program { name: "tomcat", packages: &["libtomcat10-java"], jars: &[] },
    Program { name: "log4j", packages: &["liblog4j1.2-java"], jars: &[] },
    Program {
        name: "dbcp",
        packages: &["libcommons-dbcp-java", "libcommons-pool-java"],
        jars: &["commons-dbcp", "commons-pool"],
    },
];

/// Old releases with defects that were mended later, from Maven's central repository.
const OLD_RELEASES: [(&str, &[&str]); 2] = [
    ("dbcp-1.2.1", &["commons-dbcp:commons-dbcp:1.2.1", "commons-pool:commons-pool:1.2"]),
    ("dbcp-1.2.2", &["commons-dbcp:commons-dbcp:1.2.2", "commons-pool:commons-pool:1.3"]),
];

/// Another agent for JVMs, to be used together with ours.
const COVERAGE_PACKAGE: &str = "libjacoco-java";
/// A client that puts a web server under load.
const LOAD_PACKAGE: &str = "wrk";
/// Checks models in all interleavings; what it makes of a model is C.
const MODEL_CHECKER_PACKAGES: [&str; 2] = ["spin", "gcc"];
/// A browser for the tests of pages, and what drives it.
const BROWSER_PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
/// Sees every access to memory that was not allocated.
pub(crate) const MEMORY_CHECKER: &str = "valgrind";

/// The part of the JDK's source that is compiled in tests and benchmarks: some 350 files.
pub(crate) const JDK_PART: &str = "java.base/java/util";

/// Gets everything that is missing.
pub(crate) fn prepare() -> Result<()> {
    let home = jdk::ensure()?;
    let mut packages: Vec<&str> =
        PROGRAMS.iter().flat_map(|program| program.packages).copied().collect();
    packages.extend([COVERAGE_PACKAGE, LOAD_PACKAGE, MEMORY_CHECKER]);
    packages.extend(BROWSER_PACKAGES);
    packages.extend(MODEL_CHECKER_PACKAGES);
    debian::ensure(&packages)?;
    jvms::ensure_all()?;
    let folder = folder()?;
    for program in &PROGRAMS {
        let class_path = class_path(program)?;
        fs::write(folder.join(format!("{}.classpath", program.name)), class_path)?;
    }
    for (name, artifacts) in OLD_RELEASES {
        let jars = languages::class_path(&languages::fetch(name, artifacts)?)?;
        fs::write(folder.join(format!("{name}.classpath")), jars)?;
    }
    languages::ensure_libraries(&folder)?;
    plugins::ensure(&folder)?;
    unpack_coverage_agent(&home, &folder)?;
    jdk_source(&home)?;
    Ok(())
}

fn folder() -> Result<PathBuf> {
    let folder = target_directory()?.join("test-programs");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

/// Unpacks [`JDK_PART`], and returns the folder that it is in.
pub(crate) fn jdk_source(home: &Path) -> Result<PathBuf> {
    let folder = folder()?.join("jdk-source");
    if !folder.join(JDK_PART).is_dir() {
        let archive = jdk::sources(home)?;
        fs::create_dir_all(&folder)?;
        let mut unpack = Command::new(home.join("bin/jar"));
        run(unpack.current_dir(&folder).arg("xf").arg(archive).arg(JDK_PART))?;
    }
    Ok(folder)
}

fn class_path(program: &Program) -> Result<String> {
    let mut jars = Vec::new();
    for package in program.packages {
        jars.extend(debian::jars_of(package)?);
    }
    jars.retain(|jar| {
        let name = jar.file_name().unwrap_or_default().to_string_lossy();
        program.jars.is_empty() || program.jars.iter().any(|start| name.starts_with(start))
    });
    if jars.len() < program.jars.len() {
        bail!("{} has not all of {}", program.packages.join(", "), program.jars.join(", "));
    }
    let joined = std::env::join_paths(jars)?;
    joined.into_string().ok().context("a path is no Unicode")
}

/// The agent is a jar inside a jar.
fn unpack_coverage_agent(home: &Path, folder: &Path) -> Result<()> {
    let name = "jacocoagent.jar";
    if folder.join(name).is_file() {
        return Ok(());
    }
    for jar in debian::jars_of(COVERAGE_PACKAGE)? {
        let mut unpack = Command::new(home.join("bin/jar"));
        run(unpack.current_dir(folder).arg("xf").arg(jar).arg(name))?;
    }
    if !folder.join(name).is_file() {
        bail!("{COVERAGE_PACKAGE} has no {name}");
    }
    Ok(())
}

//! `cargo xtask real-programs`: `scission check` on programs that nobody here wrote, from Debian,
//! and on the JDK. The reports stay in `target/real-programs/` to be read; what was learnt from
//! reading them is written down in `docs/real-programs.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{debian, jdk, program_run, progress, release_binary, target_directory};

/// Name and Debian package of each program.
const PROGRAMS: &[(&str, &str)] = &[
    ("tomcat10", "libtomcat10-java"),
    ("h2", "libh2-java"),
    ("hsqldb", "libhsqldb-java"),
    ("derby", "libderby-java"),
    ("lucene4.10", "liblucene4.10-java"),
    ("jfreechart", "libjfreechart-java"),
    ("tuxguitar", "tuxguitar"),
    ("log4j1.2", "liblog4j1.2-java"),
    ("commons-dbcp", "libcommons-dbcp-java"),
    ("commons-pool", "libcommons-pool-java"),
    ("colt", "libcolt-free-java"),
];

pub(crate) fn check_all() -> Result<()> {
    let home = jdk::ensure()?.display().to_string();
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .map(|(_, package)| *package)
        .filter(|package| !debian::is_installed(package))
        .collect();
    if !missing.is_empty() {
        debian::install(&missing).with_context(|| format!("install {}", missing.join(" ")))?;
    }
    let binary = release_binary()?;
    let reports = target_directory()?.join("real-programs");
    let mut failures = Vec::new();
    println!(
        "{:14} {:>8} {:>8} {:>8} {:>6} {:>8}",
        "program", "classes", "methods", "findings", "gaps", "seconds"
    );
    let mut check = |name: &str, inputs: &[String]| {
        progress(name);
        let mut arguments: Vec<&str> = inputs.iter().map(String::as_str).collect();
        arguments.extend(["--jdk", &home]);
        match program_run::check(&binary, &arguments, &reports.join(format!("{name}.json"))) {
            Ok(measured) => println!(
                "{name:14} {:>8} {:>8} {:>8} {:>6} {:>8.2}",
                measured.stat("classes").unwrap_or(0),
                measured.stat("methods").unwrap_or(0),
                measured.count("findings"),
                measured.count("gaps"),
                measured.wall.as_secs_f64()
            ),
            Err(error) => failures.push(format!("{name}: {error:#}")),
        }
    };
    for (name, package) in PROGRAMS {
        check(name, &jars_of(package)?);
    }
    check("java.base", &["jrt:java.base".to_string()]);
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    progress(&format!("the reports are in {}", reports.display()));
    Ok(())
}

/// The jars of a package. Debian gives most of them several names by symbolic links: only the files
/// themselves count, or every class would be there twice. Translations hold no code.
fn jars_of(package: &str) -> Result<Vec<String>> {
    let output = Command::new("dpkg")
        .args(["--listfiles", package])
        .output()
        .context("`dpkg` could not be started")?;
    let mut jars: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(PathBuf::from)
        .filter(|file| file.extension().is_some_and(|extension| extension == "jar"))
        .filter(|file| file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()))
        .filter(|file| !is_translation(file))
        .map(|file| file.display().to_string())
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

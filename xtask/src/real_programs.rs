//! `cargo xtask real-programs`: `scission check` on programs from Debian,
//! and on the JDK. The reports stay in `target/real-programs/` to be read; what was learnt from
//! reading them is written down in `docs/real-programs.md`.

use anyhow::{Result, bail};

use crate::builds::{self, Profile};
use crate::{debian, jdk, program_run, progress, target_directory};

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
    let packages: Vec<&str> = PROGRAMS.iter().map(|(_, package)| *package).collect();
    debian::ensure(&packages)?;
    let binary = builds::command(Profile::Release)?;
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
        let jars = debian::jars_of(package)?;
        check(name, &jars.iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>());
    }
    check("java.base", &["jrt:java.base".to_string()]);
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    progress(&format!("the reports are in {}", reports.display()));
    Ok(())
}

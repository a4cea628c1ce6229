//! The same input gives the same bytes, on large programs and whatever the number of threads; and nothing in them
//! names the machine. The programs are those that `cargo xtask prepare` gets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs, and what the name of the jar to look at begins with.
const PROGRAMS: [(&str, &str); 3] =
    [("h2", "h2-"), ("lucene", "lucene-core-"), ("tomcat", "tomcat10-catalina-1")];

/// The jar of a program; nothing where it was not prepared.
fn jar(program: &str, beginning: &str) -> Option<PathBuf> {
    let profile = Path::new(env!("CARGO_BIN_EXE_scission")).parent()?;
    let prepared = profile.parent()?.join("test-programs").join(format!("{program}.classpath"));
    let class_path = fs::read_to_string(prepared).ok()?;
    std::env::split_paths(class_path.trim()).find(|jar| {
        let name = jar.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && jar.is_file()
    })
}

/// The report on a jar, made by so many threads.
fn report(jar: &Path, format: &str, threads: &str, folder: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_scission"))
        .args(["check", "--no-config", "--level", "low", "--fail-on", "never", "--format", format])
        .arg(jar)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a report is text")
}

#[test]
fn the_same_jar_gives_the_same_bytes_whatever_the_number_of_threads() {
    for (program, beginning) in PROGRAMS {
        let Some(jar) = jar(program, beginning) else {
            let is_required = std::env::var_os("SCISSION_TEST_ALL").is_some();
            assert!(!is_required, "{program} is missing: `cargo xtask prepare` gets it");
            eprintln!("skipped: {program} is missing; `cargo xtask prepare` gets it");
            continue;
        };
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        let one = report(&jar, "json", "1", folder.path());
        let three = report(&jar, "json", "3", folder.path());
        let differing = one.lines().zip(three.lines()).position(|(one, three)| one != three);
        assert!(one == three, "{program}: the reports differ in line {differing:?}");
        assert!(one.contains("\"fingerprint\""), "{program}: nothing was found to compare");
        for place in [jar.parent().unwrap(), folder.path()] {
            let place = place.display().to_string();
            assert!(!one.contains(&place), "{program}: the report names `{place}`");
        }
    }
}

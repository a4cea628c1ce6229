//! `cargo xtask fuzz`: runs the fuzz targets in `fuzz/`, which needs a nightly compiler and `cargo install cargo-fuzz`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{on_path, progress, root, run, target_directory};

/// A target, and what its corpus begins with.
struct Target {
    name: &'static str,
    /// Folders of this tree, with the end of the names of files that are good seeds.
    seeds: &'static [(&'static str, &'static str)],
}

const TARGETS: [Target; 8] = [
    Target::new("class_file", &[("fixtures/languages", ".class")]),
    Target::new("jar", &[("fixtures/languages", ".class"), ("fixtures/languages", ".jar")]),
    Target::new("binary_trace", &[]),
    Target::new("std_trace", &[]),
    Target::new("text_trace", &[("fixtures/traces", ".trace"), ("fixtures/traces", ".txt")]),
    Target::new("models", &[("crates/models/data", "")]),
    Target::new("baseline", &[("docs", ".json"), ("fixtures", ".json")]),
    Target::new("results", &[("docs", ".json"), ("fixtures", ".json")]),
];

impl Target {
    const fn new(name: &'static str, seeds: &'static [(&'static str, &'static str)]) -> Target {
        Target { name, seeds }
    }
}

/// Whether everything is installed that fuzzing needs.
pub(crate) fn is_possible() -> bool {
    let nightly = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    on_path("cargo-fuzz").is_some() && nightly.is_ok_and(|output| output.status.success())
}

/// Runs each target for this many seconds, or those that are named. What a target fails on is kept, and is a failure.
pub(crate) fn fuzz(seconds: u32, names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| TARGETS.iter().all(|it| it.name != **name)) {
        bail!("there is no fuzz target `{unknown}`");
    }
    if !is_possible() {
        bail!(
            "fuzzing needs a nightly compiler (`rustup toolchain install nightly`) and `cargo install cargo-fuzz`"
        );
    }
    let folder = target_directory()?.join("fuzz");
    for target in TARGETS.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        progress(&format!("fuzz {}", target.name));
        let corpus = folder.join("corpus").join(target.name);
        fs::create_dir_all(&corpus)?;
        let mut fuzz = Command::new("cargo");
        // What is checked is panics and memory without bounds: nothing in these readers is unsafe, and without a
        // sanitizer they run several times as often.
        fuzz.args(["+nightly", "fuzz", "run", "--sanitizer", "none", "--target-dir"]).arg(&folder);
        fuzz.arg(target.name).arg(&corpus);
        if let Some(seeds) = seeds(target)? {
            fuzz.arg(seeds);
        }
        fuzz.args(["--", "-rss_limit_mb=4096", "-timeout=10", "-print_final_stats=1"]);
        fuzz.arg(format!("-max_total_time={seconds}"));
        run(fuzz.current_dir(root()))
            .with_context(|| format!("the fuzz target {}", target.name))?;
    }
    Ok(())
}

/// Folders with nothing but seeds for a target.
fn seeds(target: &Target) -> Result<Option<PathBuf>> {
    let folder = target_directory()?.join("fuzz/seeds").join(target.name);
    fs::create_dir_all(&folder)?;
    let mut count = 0;
    for (source, end) in target.seeds {
        copy_seeds(&root().join(source), end, &folder, &mut count)?;
    }
    Ok((count > 0).then_some(folder))
}

fn copy_seeds(source: &Path, end: &str, folder: &Path, count: &mut u32) -> Result<()> {
    for entry in fs::read_dir(source).with_context(|| source.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            copy_seeds(&path, end, folder, count)?;
        } else if path.to_string_lossy().ends_with(end) {
            fs::copy(&path, folder.join(format!("{count}")))?;
            *count += 1;
        }
    }
    Ok(())
}

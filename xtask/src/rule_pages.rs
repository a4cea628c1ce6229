//! `docs/rules/`: the user page of each rule, as `scission explain` prints it. The page is the doc
//! comment of the rule; do not edit these files by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{progress, root};

/// Writes the pages.
pub(crate) fn write(binary: &Path) -> Result<()> {
    fs::create_dir_all(folder()).context("docs/rules cannot be made")?;
    let pages = pages(binary)?;
    for stale in existing()?.keys().filter(|file| !pages.contains_key(*file)) {
        fs::remove_file(stale).with_context(|| stale.display().to_string())?;
    }
    for (file, page) in &pages {
        fs::write(file, page).with_context(|| file.display().to_string())?;
    }
    progress(&format!("{} pages in docs/rules/", pages.len()));
    Ok(())
}

/// Fails if a page is missing, left over, or out of date.
pub(crate) fn check(binary: &Path) -> Result<()> {
    progress("rule pages");
    if pages(binary)? != existing()? {
        bail!("docs/rules/ is not what the rules say: `cargo xtask docs` writes it anew");
    }
    Ok(())
}

fn folder() -> PathBuf {
    root().join("docs/rules")
}

/// The pages as they should be, by file.
fn pages(binary: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let list = explain(binary, None)?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names
        .map(|name| Ok((folder().join(format!("{name}.md")), explain(binary, Some(name))?)))
        .collect()
}

/// The pages as they are, by file.
fn existing() -> Result<BTreeMap<PathBuf, String>> {
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(folder()).into_iter().flatten().flatten() {
        pages.insert(entry.path(), fs::read_to_string(entry.path())?);
    }
    Ok(pages)
}

fn explain(binary: &Path, rule: Option<&str>) -> Result<String> {
    let output = Command::new(binary).arg("explain").args(rule).output();
    let output = output.context("scission could not be started")?;
    if !output.status.success() {
        bail!("`scission explain` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("`scission explain` printed no text")
}

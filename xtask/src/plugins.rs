//! The plugins for build tools and JUnit: built, with their own tests, into a repository of their own below the target directory, so
//! that the tests that use them on sample projects need no network and nothing of ours gets into the user's repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{debian, on_path, progress, root, run};

/// The plugins, in the order in which they are built: each may use those before it.
const PLUGINS: [&str; 4] = ["native", "maven", "gradle", "junit"];
/// Those whose samples are built by Maven. What the others need is the same.
const WITH_SAMPLES_OF_MAVEN: [&str; 2] = ["maven", "junit"];
/// The plugin for Gradle is compiled against a newer version first: what was removed since is not used.
const NEWER_GRADLE: &str = "-DgradleVersion=8.10";

/// Builds the plugins and gets what they and their samples need, unless nothing has changed since it was done.
pub(crate) fn ensure(folder: &Path) -> Result<()> {
    let sources = root().join("plugins");
    let mut files = Vec::new();
    list(&sources, &mut files)?;
    files.sort();
    let mut state = String::new();
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        state.push_str(&format!("{}\n{text}\n", file.strip_prefix(&sources)?.display()));
    }
    let built = folder.join("plugins");
    let marker = built.join("state");
    if fs::read_to_string(&marker).is_ok_and(|old| old == state) {
        return Ok(());
    }
    if on_path("mvn").is_none() {
        debian::install(&["maven"]).context("there is no `mvn`: install maven")?;
    }
    if built.exists() {
        fs::remove_dir_all(&built)?;
    }
    for file in &files {
        let copy = built.join(file.strip_prefix(&sources)?);
        fs::create_dir_all(copy.parent().context("a file has a folder")?)?;
        fs::copy(file, copy)?;
    }
    let repository = folder.join("maven-repository");
    for plugin in PLUGINS {
        progress(&format!("build the plugin for {plugin}"));
        let project = built.join(plugin);
        if plugin == "gradle" {
            run(maven(&repository, &project).args([NEWER_GRADLE, "clean", "compile", "clean"]))?;
        }
        let mut maven = maven(&repository, &project);
        // An archive without the command: what is in it does not matter here, but Maven gets what makes it.
        maven.arg(format!("-Dscission.built={}", project.join("src").display()));
        run(maven.arg("install"))?;
    }
    for plugin in WITH_SAMPLES_OF_MAVEN {
        for sample in folders(&built.join(plugin).join("samples"))? {
            progress(&format!("fetch what {} needs", sample.display()));
            let mut maven = maven(&repository, &sample);
            maven.args(["-Dscission.skip", "-DargLine=-Dscission.unwatched=skip", "verify"]);
            run(&mut maven)?;
        }
    }
    fs::write(marker, state)?;
    Ok(())
}

fn maven(repository: &Path, project: &Path) -> Command {
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode"]).current_dir(project);
    maven.arg(format!("-Dmaven.repo.local={}", repository.display()));
    maven
}

/// All files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        if !path.is_dir() {
            files.push(path);
        } else if path.file_name().is_none_or(|name| name != "target") {
            list(&path, files)?;
        }
    }
    Ok(())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

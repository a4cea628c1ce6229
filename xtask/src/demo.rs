//! `cargo xtask demo`: the main job on the small program in `demo/`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::builds::{self, Profile};
use crate::{jdk, program_run, progress, root, run, target_directory};

/// The methods of the demo that are wrong; their neighbours named `…Fixed` are not.
const WRONG_METHODS: &[&str] = &["bank.Branch.open", "bank.Teller.audit", "bank.Teller.transfer"];

pub(crate) fn demonstrate() -> Result<()> {
    let home = jdk::ensure()?;
    let binary = builds::command(Profile::Checked)?;
    let output = target_directory()?.join("demo");
    let classes = output.join("classes");
    progress("compile demo/");
    fs::create_dir_all(&classes)
        .with_context(|| format!("{} cannot be made", classes.display()))?;
    let mut sources: Vec<_> =
        fs::read_dir(root().join("demo/bank"))?.flatten().map(|entry| entry.path()).collect();
    sources.sort();
    run(jdk::javac(&home).args(["-g", "-d"]).arg(&classes).args(&sources))?;

    // The JDK goes in through the environment, so that the line below is what a user would type.
    let shown = classes.strip_prefix(root()).unwrap_or(&classes).display().to_string();
    let page = output.join("page.html");
    let shown_page = page.strip_prefix(root()).unwrap_or(&page).display().to_string();
    let arguments = [shown.as_str(), "--source", "demo", "--html", &shown_page];
    println!("$ scission check {}", arguments.join(" "));
    let status = Command::new(&binary)
        .current_dir(root())
        .env("JAVA_HOME", &home)
        .arg("check")
        .args(arguments)
        .status()
        .context("scission could not be started")?;
    if status.code() != Some(1) {
        bail!("the demo has findings, so the exit code should be 1, and is {status}");
    }
    let (classes, home) = (classes.display().to_string(), home.display().to_string());
    let measured = program_run::check(
        &binary,
        &[classes.as_str(), "--jdk", &home],
        &output.join("report.json"),
    )?;
    let findings = measured.report["findings"].as_array().cloned().unwrap_or_default();
    let blamed: BTreeSet<String> = findings
        .iter()
        .map(|finding| {
            let part = |key: &str| finding["blame"][key].as_str().unwrap_or_default().to_string();
            format!("{}.{}", part("class"), part("method"))
        })
        .collect();
    let wrong: BTreeSet<String> = WRONG_METHODS.iter().map(|name| (*name).to_string()).collect();
    if blamed != wrong {
        bail!("the demo should blame {wrong:?}, and blames {blamed:?}");
    }
    progress(&format!("the demo found what it should; with pictures: {}", page.display()));
    Ok(())
}

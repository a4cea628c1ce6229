//! How places were reached, in recordings of every JVM.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

use crate::Case;
use crate::defects::scission;
use crate::learning::nested_classes;
use crate::setup::{Requirement, Setup};

pub(crate) fn cases() -> Vec<Case> {
    let case = |release: u32| {
        Case::new(format!("stacks/{release}"), [Requirement::Jvm(release)], move |setup: &Setup| {
            recorded(&setup.jvm(release).join("bin/java"), release)
        })
    };
    [11, 17, 21, 25].map(case).into()
}

/// The innermost method was reached through the two around it, in its own block and in theirs.
fn recorded(java: &Path, release: u32) -> Result<(), Failed> {
    let classes = nested_classes(&format!("stacks-{release}"))?;
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("recorded.trace");
    let mut command = scission(&["--monitor", "velodrome", "--unobserved", "learning.Turn"]);
    command.arg("--record").arg(&trace).arg("--").arg(java);
    let output = command.arg("-cp").arg(classes).arg("learning.Nested").output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    let output = command.arg("trace").arg(&trace).args(["--to", "text"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let stacks: Vec<&str> = text.lines().filter(|line| line.starts_with(".stack ")).collect();
    let methods = ["inner", "middle", "outer", "main"];
    let is_expected = |stack: &&str| {
        let frames: Vec<&str> = stack.split(" frame ").skip(1).collect();
        let is_named = |(frame, method): (&&str, &str)| {
            frame.starts_with(&format!("\"learning.Nested\" \"{method}\" "))
                && frame.contains(" file \"learning/Nested.java\" line ")
        };
        stack.contains(" in Nested.inner Nested.middle Nested.outer frame ")
            && frames.len() == methods.len()
            && frames.iter().zip(methods).all(is_named)
    };
    if !stacks.iter().any(is_expected) {
        return Err(format!("there is no stack as expected:\n{}", stacks.join("\n")).into());
    }
    match stacks.iter().find(|stack| stack.contains("java.lang.Scission")) {
        Some(stack) => Err(format!("a frame is the agent's own: {stack}").into()),
        None => Ok(()),
    }
}

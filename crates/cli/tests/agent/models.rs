//! Users' models of a lock, a queue and an event bus, on all JVMs: without them what they guard or order is reported,
//! with them only the defects are.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::jvm::{beside, javac};
use crate::setup::{Requirement, Setup};

const RELEASES: [u32; 4] = [11, 17, 21, 25];

pub(crate) fn cases() -> Vec<Case> {
    let case = |release: u32| {
        Case::new(
            format!("java{release}/users-models"),
            [Requirement::Jvm(release)],
            move |setup| judge(setup, release),
        )
    };
    RELEASES.into_iter().map(case).collect()
}

/// A program with synchronisation of its own.
struct Program {
    name: &'static str,
    checker: &'static str,
    models: &'static str,
    /// The fields that may be named.
    fields: &'static [&'static str],
    /// A field that is guarded or ordered in a way that only the models describe.
    described: &'static str,
    /// The field that is not.
    defect: &'static str,
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "Own",
        checker: "eraser",
        models: "models/own.models",
        fields: &["guarded", "forgotten", "input", "output", "next", "handed", "done"],
        described: "guarded",
        defect: "forgotten",
    },
    Program {
        name: "Bus",
        checker: "happens-before",
        models: "models/bus.models",
        fields: &["posted", "changed", "event"],
        described: "posted",
        defect: "changed",
    },
];

fn judge(setup: &Setup, release: u32) -> Result<(), Failed> {
    for program in &PROGRAMS {
        let classes = tempfile::tempdir()?;
        javac(&[beside(&format!("models/{}.java", program.name))], classes.path(), None)?;
        let models = beside(program.models);
        let models = models.to_string_lossy();
        let without = program.raced(setup, release, classes.path(), &[])?;
        if !without.contains(&program.described) {
            return Err(format!("without models only {without:?} is reported").into());
        }
        let with = program.raced(setup, release, classes.path(), &["--models", &models])?;
        if with != [program.defect] {
            return Err(format!("with models {with:?} is reported").into());
        }
    }
    Ok(())
}

impl Program {
    /// The fields that the checker names.
    fn raced(
        &self,
        setup: &Setup,
        release: u32,
        classes: &Path,
        flags: &[&str],
    ) -> Result<Vec<&'static str>, Failed> {
        let output = Command::new(env!("CARGO_BIN_EXE_scission"))
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS")
            .args(["run", "--no-config", "--require-agent", "--fail-on", "never", "--output", "-"])
            .args(["--format", "json", "--monitor", self.checker, "--level", "low"])
            .args(flags)
            .arg("--agent")
            .arg(setup.agent())
            .arg("--")
            .arg(setup.jvm(release).join("bin/java"))
            .arg("-Xverify:all")
            .arg("-cp")
            .arg(classes)
            .arg(format!("own.{}", self.name))
            .output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("it ended with {}: {said}", output.status).into());
        }
        let json = printed.find('{').map(|at| &printed[at..]).unwrap_or_default();
        let report: Value =
            serde_json::from_str(json).map_err(|error| format!("{error}: {printed}"))?;
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let is_named = |field: &&&str| {
            findings.iter().any(|finding| finding.to_string().contains(&format!(".{field}")))
        };
        Ok(self.fields.iter().filter(is_named).copied().collect())
    }
}

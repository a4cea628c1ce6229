//! The agent from outside: programs behave with it as they do without it, on every JVM, and traces survive
//! whatever ends the program.
//!
//! What is needed beyond this tree is put in place by `cargo xtask prepare`. A test that misses something says
//! so in one sentence and is ignored, unless the environment variable `SCISSION_TEST_ALL` is set: then, as on the
//! build machine, it fails.

mod adversary;
mod defects;
mod elements;
mod endings;
mod jvm;
mod languages;
mod learning;
mod models;
mod real;
mod report_output;
mod reports;
mod setup;
mod sharing;
mod splits;
mod stacks;
mod standstills;
mod suspended;
mod torture;

use std::collections::BTreeMap;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use setup::{Requirement, Setup};

/// What a test does.
type Body = dyn FnOnce(&Setup) -> Result<(), Failed> + Send;

/// One test before it is known whether it can be run.
pub(crate) struct Case {
    name: String,
    needs: Vec<Requirement>,
    body: Box<Body>,
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        needs: impl IntoIterator<Item = Requirement>,
        body: impl FnOnce(&Setup) -> Result<(), Failed> + Send + 'static,
    ) -> Case {
        let needs = [Requirement::Agent, Requirement::Jdk].into_iter().chain(needs).collect();
        Case { name: name.into(), needs, body: Box::new(body) }
    }

    /// What is missing to run it.
    fn missing(&self) -> Option<String> {
        self.needs.iter().find_map(|need| Setup::get().missing(*need))
    }

    fn into_trial(self, missing: Option<String>) -> Trial {
        let body = self.body;
        match missing {
            None => Trial::test(self.name, move || body(Setup::get())),
            Some(missing) if Setup::get().wants_all() => {
                Trial::test(self.name, move || Err(Failed::from(missing)))
            }
            Some(_) => Trial::test(self.name, || Ok(())).with_ignored_flag(true),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut ignored: BTreeMap<String, usize> = BTreeMap::new();
    let mut trials = Vec::new();
    let all = [
        torture::cases(),
        models::cases(),
        real::cases(),
        defects::cases(),
        languages::cases(),
        learning::cases(),
        stacks::cases(),
        reports::cases(),
        report_output::cases(),
        endings::cases(),
        adversary::cases(),
        sharing::cases(),
        elements::cases(),
        suspended::cases(),
        splits::cases(),
        standstills::cases(),
    ];
    for case in all.into_iter().flatten() {
        let missing = case.missing();
        if let Some(missing) = &missing {
            *ignored.entry(missing.clone()).or_default() += 1;
        }
        trials.push(case.into_trial(missing));
    }
    for (missing, count) in ignored {
        eprintln!("{count} tests cannot be run, because {missing}.");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

//! Small programs that show whatever of a JVM can be seen from inside, on all JVMs, plain and with the agent.

use std::fs;

use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{Run, assert_recorded, assert_same, torture_classes};
use crate::setup::{Requirement, Setup};

const RELEASES: [u32; 4] = [11, 17, 21, 25];
/// The first release that has virtual threads.
const FIRST_VIRTUAL: u32 = 21;

const PROGRAMS: [&str; 5] = ["Language", "Threads", "Reflections", "Limits", "Huge"];

/// The arguments of the program `Endings`.
const ENDINGS: [&str; 15] = [
    "return",
    "return-while-daemons-work",
    "last-thread",
    "exit",
    "exit-while-others-work",
    "exit-holding-locks",
    "exit-from-thread",
    "exit-with-hook",
    "halt",
    "halt-in-hook",
    "uncaught",
    "uncaught-while-others-live",
    "uncaught-in-initialiser",
    "stack-overflow",
    "out-of-memory",
];

/// Everything that can be watched beyond what is usual.
const ALL_OPTIONS: &str = "arrays=true,branches=true,collections=true";
/// Every access is reported at once.
const NO_FILTERS: &str = "ownership-filter=false,epoch-filter=false";

/// Threads are held back wherever something looks suspicious, for a short time.
const ADVERSARIAL: &str = "monitor=velodrome,adversarial=true,seed=1,hold-for=8,holds-per-site=3";

/// Everybody looks at the events, which takes longer than to make them.
const CHECKERS: &str = "monitor=velodrome,monitor=happens-before,monitor=eraser,monitor=atomizer";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for release in RELEASES {
        let mut add =
            |name: String, program: &'static str, arguments: &'static [&'static str], options| {
                cases.push(Case::new(name, [Requirement::Jvm(release)], move |setup: &Setup| {
                    compare(setup, release, program, arguments, options)
                }));
            };
        for program in PROGRAMS {
            add(format!("java{release}/{program}"), program, &[], "");
        }
        if release >= FIRST_VIRTUAL {
            add(format!("java{release}/VirtualThreads"), "VirtualThreads", &[], "");
        }
        for ending in &ENDINGS {
            let arguments = std::slice::from_ref(ending);
            add(format!("java{release}/ending/{ending}"), "Endings", arguments, "");
        }
        for ending in [&["exit-while-others-work"], &["exit-while-others-report"]] {
            let name = format!("java{release}/ending/{}/monitors", ending[0]);
            add(name, "Endings", ending, CHECKERS);
        }
        for program in ["Language", "Threads"] {
            add(format!("java{release}/{program}/all-options"), program, &[], ALL_OPTIONS);
            add(format!("java{release}/{program}/no-filters"), program, &[], NO_FILTERS);
            add(format!("java{release}/{program}/adversarial"), program, &[], ADVERSARIAL);
        }
    }
    for program in ["Language", "Threads", "Reflections"] {
        let needs = [Requirement::Jvm(11), Requirement::Prepared("jacocoagent.jar")];
        for order in [Order::First, Order::Second] {
            let name = format!("coverage-agent/{order:?}/{program}").to_lowercase();
            cases.push(Case::new(name, needs, move |setup: &Setup| {
                beside_coverage(setup, program, order)
            }));
        }
    }
    cases
}

fn plain(setup: &Setup, release: u32) -> Result<Run, Failed> {
    let run = Run::new(setup.jvm(release).join("bin/java"))?;
    Ok(run.arguments(["-Xverify:all", "-Xmx64m", "-Xss512k"]))
}

fn with_program(run: Run, program: &str, arguments: &[&str]) -> Result<Run, Failed> {
    let classes = torture_classes()?;
    Ok(run
        .argument("-cp")
        .argument(classes)
        .argument(format!("torture.{program}"))
        .arguments(arguments))
}

fn compare(
    setup: &Setup,
    release: u32,
    program: &str,
    arguments: &[&str],
    options: &str,
) -> Result<(), Failed> {
    let expected = with_program(plain(setup, release)?, program, arguments)?.finish()?;
    let run = plain(setup, release)?;
    let mut all_options = run.recording();
    if !options.is_empty() {
        all_options.push(',');
        all_options.push_str(options);
    }
    let run = with_program(run.watched("", &all_options), program, arguments)?;
    assert_same(&expected, &run.finish()?)?;
    assert_recorded(&run)
}

/// Which of two agents is named first on the command line.
#[derive(Clone, Copy, Debug)]
enum Order {
    First,
    Second,
}

/// A coverage tool rewrites the classes as well. What the program says may differ from a run without that tool,
/// which adds members of its own, but not from a run with it; and the tool must still see the classes.
fn beside_coverage(setup: &Setup, program: &str, order: Order) -> Result<(), Failed> {
    let release = 11;
    let coverage = |run: Run| {
        let data = run.folder.path().join("coverage");
        let agent = setup.prepared("jacocoagent.jar");
        run.argument(format!("-javaagent:{}=destfile={}", agent.display(), data.display()))
    };
    let expected = coverage(plain(setup, release)?);
    let expected = with_program(expected, program, &[])?;
    let process_output = expected.finish()?;
    let run = plain(setup, release)?;
    let options = run.recording();
    let run = match order {
        Order::First => coverage(run.watched("", &options)),
        Order::Second => coverage(run).watched("", &options),
    };
    let run = with_program(run, program, &[])?;
    assert_same(&process_output, &run.finish()?)?;
    assert_recorded(&run)?;
    let data = fs::read(run.folder.path().join("coverage"))?;
    let name = format!("torture/{program}");
    if !data.windows(name.len()).any(|window| window == name.as_bytes()) {
        return Err("the coverage tool has seen nothing of the program".into());
    }
    Ok(())
}

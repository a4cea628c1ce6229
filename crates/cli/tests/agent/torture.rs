//! Small programs that show whatever of a JVM can be seen from inside, on all JVMs, plain and with the agent.

use std::fs;

use agent_protocol::{Ending, Hook};
use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{ProcessOutput, Run, assert_recorded, assert_same, torture_classes};
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

/// Threads are delayed wherever something is suspicious, for a short time.
const ADVERSARIAL: &str = "monitor=velodrome,adversarial=true,seed=1,hold-for=8,holds-per-site=3";

/// What hooks are called with hostile operands under.
const HOSTILE_OPTIONS: [(&str, &str); 3] = [
    ("filters", "arrays=true,branches=true,collections=true"),
    ("no-filters", "arrays=true,branches=true,ownership-filter=false,epoch-filter=false"),
    (
        "checkers",
        "arrays=true,collections=true,monitor=velodrome,monitor=happens-before,monitor=eraser,\
         monitor=hybrid,adversarial=true,seed=1,hold-for=2,holds-per-site=2,hold-budget=2",
    ),
];

/// All checkers run, which takes longer than producing the events.
const CHECKERS: &str =
    "monitor=velodrome,monitor=happens-before,monitor=eraser,monitor=atomizer,monitor=hybrid";

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for release in RELEASES {
        for (name, options) in HOSTILE_OPTIONS {
            let name = format!("java{release}/hostile-hooks/{name}");
            cases.push(Case::new(name, [Requirement::Jvm(release)], move |setup: &Setup| {
                hostile_hooks(setup, release, options)
            }));
        }
        let name = format!("java{release}/huge-array");
        cases.push(Case::new(name, [Requirement::Jvm(release)], move |setup: &Setup| {
            huge_array(setup, release)
        }));
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

/// Calls every hook with operands that no compiler makes: nothing is thrown, no method of the operands is called, and the
/// results are there in the end.
fn hostile_hooks(setup: &Setup, release: u32, options: &str) -> Result<(), Failed> {
    let row = |hook: &Hook| {
        let kinds: Vec<String> =
            hook.parameters().iter().map(|(_, what)| format!("{what:?}")).collect();
        format!("{}:{}", hook.name(), kinds.join(","))
    };
    let table: Vec<String> = Hook::ALL.iter().map(row).collect();
    let run = Run::new(setup.jvm(release).join("bin/java"))?;
    let results = run.folder.path().join("results");
    fs::create_dir(&results)?;
    let options = format!("{},results={},{options}", run.recording(), results.display());
    let run = run
        .watched("", &options)
        .arguments(["-Xverify:all", "-Xmx256m", "-Xss512k"])
        .argument("--add-opens=java.base/java.lang=ALL-UNNAMED");
    let run = with_program(run, "HostileHooks", &[&table.join(";")])?;
    let seen = run.finish()?;
    let calls = Hook::ALL.len() * 600 * 5;
    let expected = ProcessOutput {
        code: Some(0),
        output: format!("{} hooks, {calls} calls, called: null\n", Hook::ALL.len()),
        error: String::new(),
    };
    assert_same(&expected, &seen)?;
    assert_recorded(&run)?;
    let (left, _) = agent_protocol::read_directory(&results)?;
    if left.iter().any(|jvm| jvm.ending != Ending::Complete) || left.is_empty() {
        return Err("the agent has left no results, or none that are complete".into());
    }
    Ok(())
}

/// An array whose words would take many times the memory there is.
fn huge_array(setup: &Setup, release: u32) -> Result<(), Failed> {
    let plain = || -> Result<Run, Failed> {
        Ok(Run::new(setup.jvm(release).join("bin/java"))?.argument("-Xmx1g"))
    };
    let arguments = ["200000000"];
    let expected = with_program(plain()?, "HugeArray", &arguments)?.finish()?;
    let run = plain()?;
    let options = format!("{},arrays=true", run.recording());
    let run = with_program(run.watched("", &options), "HugeArray", &arguments)?;
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

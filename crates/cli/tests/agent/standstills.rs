//! Programs that stop: what threads wait for is reported on every JVM, and is on disk whatever ends the program then. Programs that
//! only wait for long are not reported.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent_protocol::layout::DEADLOCK_EXIT_CODE;
use agent_protocol::read_directory;
use findings::Finding;
use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{Run, torture_classes};
use crate::setup::{Requirement, Setup};

/// What is reported of a program: the rule, and a part of what it says is the cause. Nothing for those that only wait.
struct Expected {
    program: &'static str,
    releases: &'static [u32],
    report: Option<(&'static str, &'static str)>,
}

const ALL: &[u32] = &[11, 17, 21, 25];
const WITH_VIRTUAL_THREADS: &[u32] = &[21, 25];

const fn expected(
    program: &'static str,
    releases: &'static [u32],
    report: Option<(&'static str, &'static str)>,
) -> Expected {
    Expected { program, releases, report }
}

const PROGRAMS: &[Expected] = &[
    expected("hang", ALL, Some(("hang", "13 threads wait without a limit"))),
    expected(
        "lockout",
        ALL,
        Some(("hang", "`waiter` waits while it holds `Object#1`, and `main` needs")),
    ),
    expected(
        "pool",
        ALL,
        Some(("deadlock", "all two threads of `ThreadPoolExecutor#1` wait for tasks")),
    ),
    expected(
        "pool-of-futures",
        ALL,
        Some(("deadlock", "the only thread of `ThreadPoolExecutor#1`")),
    ),
    expected("initialisers", ALL, Some(("deadlock", "two threads wait for each other"))),
    expected("superclass", ALL, Some(("deadlock", "two threads wait for each other"))),
    expected("stamped", ALL, Some(("deadlock", "the thread waits for what it holds itself"))),
    expected("join", ALL, Some(("deadlock", "two threads wait for each other"))),
    expected(
        "virtual-join",
        WITH_VIRTUAL_THREADS,
        Some(("deadlock", "two threads wait for each other")),
    ),
    // Later releases do not keep the carrier while they wait in `synchronized`.
    expected("pinned", &[21], Some(("hang", "threads wait without a limit"))),
    expected("pinned", &[25], None),
    expected("long", ALL, None),
    expected("server", ALL, None),
    expected("scheduled", ALL, None),
];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = ALL
        .iter()
        .map(|release| {
            let name = format!("standstills/{release}");
            Case::new(name, [Requirement::Jvm(*release)], |setup: &Setup| {
                all_kinds(setup, *release)
            })
        })
        .collect();
    for release in ALL {
        let jvm = Requirement::Jvm(*release);
        let name = |what: &str| format!("standstills/{what}/{release}");
        cases.push(Case::new(name("twins"), [jvm], |setup: &Setup| twins(setup, *release)));
        cases.push(Case::new(name("cycles"), [jvm], |setup: &Setup| cycles(setup, *release)));
        cases.push(Case::new(name("each"), [jvm], |setup: &Setup| each(setup, *release)));
    }
    cases.push(Case::new("standstills/killed", [], |setup: &Setup| {
        survives(setup, |child| Ok(child.kill()?))
    }));
    cases
        .push(Case::new("standstills/interrupted", [], |setup: &Setup| survives(setup, interrupt)));
    cases.push(Case::new("standstills/full-pipe", [], full_pipe));
    cases.push(Case::new("standstills/random-locks", [], random_locks));
    cases
}

/// A run with the checker, its results going to a folder of its own.
fn watched(setup: &Setup, release: Option<u32>, options: &str) -> Result<Run, Failed> {
    let java = match release {
        Some(release) => setup.jvm(release).join("bin/java"),
        None => setup.jdk_program("java"),
    };
    let run = Run::new(java)?;
    let results = run.folder.path().join("results");
    std::fs::create_dir(&results)?;
    let options = format!("results={},monitor=deadlock,{options}", results.display());
    Ok(run.watched("", &options).argument("-cp").argument(torture_classes()?))
}

pub(crate) fn findings_of(run: &Run) -> Result<Vec<Finding>, Failed> {
    let (all, _) = read_directory(&run.folder.path().join("results"))?;
    Ok(all.into_iter().flat_map(|jvm| jvm.findings).collect())
}

fn all_kinds(setup: &Setup, release: u32) -> Result<(), Failed> {
    torture_classes()?;
    let programs = PROGRAMS.iter().filter(|it| it.releases.contains(&release));
    // They wait most of the time.
    let problems: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> = programs
            .map(|expected| scope.spawn(|| judge(setup, release, expected).err()))
            .collect();
        let ended = running.into_iter().filter_map(|it| it.join().ok().flatten());
        ended.map(|failed| failed.message().unwrap_or("it failed").to_string()).collect()
    });
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn judge(setup: &Setup, release: u32, expected: &Expected) -> Result<(), Failed> {
    let run = watched(setup, Some(release), "hang-after=1,exit-on-deadlock=true")?;
    let run = run.argument("torture.Standstills").argument(expected.program);
    let seen = run.finish()?;
    let found = findings_of(&run)?;
    let wanted_code = if expected.report.is_some() { DEADLOCK_EXIT_CODE } else { 0 };
    let is_reported = |finding: &Finding| match expected.report {
        Some((rule, cause)) => finding.rule == rule && finding.subjects["cause"].contains(cause),
        None => false,
    };
    if seen.code != i32::try_from(wanted_code).ok()
        || found.len() != usize::from(expected.report.is_some())
        || !found.iter().all(is_reported)
    {
        let said: Vec<_> = found.iter().map(|it| (it.rule, &it.subjects["cause"])).collect();
        return Err(format!("{}: {said:?}, {seen:?}", expected.program).into());
    }
    Ok(())
}

/// The good twins of all kinds, which wait for long, end in silence.
fn twins(setup: &Setup, release: u32) -> Result<(), Failed> {
    let run = watched(setup, Some(release), "hang-after=1,exit-on-deadlock=true")?;
    let run = run.argument("torture.Kinds").argument("good");
    let seen = run.finish()?;
    let found = findings_of(&run)?;
    if seen.code == Some(0) && seen.output.ends_with("ended\n") && found.is_empty() {
        return Ok(());
    }
    let said: Vec<_> = found.iter().map(|it| (it.rule, &it.subjects["cause"])).collect();
    Err(format!("{said:?}, {seen:?}").into())
}

/// Threads that wait for each other in all kinds of cycles at the same time: each cycle is reported, and nothing else.
fn cycles(setup: &Setup, release: u32) -> Result<(), Failed> {
    let run = watched(setup, Some(release), "")?.argument("torture.Kinds").argument("bad");
    let seen = run.finish()?;
    let kinds = seen.output.lines().find_map(|line| line.strip_prefix("kinds ")).unwrap_or("");
    let mut expected: Vec<String> = kinds.split(' ').map(str::to_string).collect();
    let found = findings_of(&run)?;
    let observed = found.iter().filter(|it| it.evidence == findings::Evidence::Observed);
    let mut reported: Vec<String> = observed.map(kind).collect();
    expected.sort();
    reported.sort();
    if release == 25 {
        // There the JVM does not say which thread a join waits for, and of so many threads not all are asked.
        expected.retain(|kind| kind != "join");
        reported.retain(|kind| kind != "join");
    }
    if kinds.is_empty() || expected != reported {
        return Err(format!("expected {expected:?}, reported {reported:?}, {seen:?}").into());
    }
    Ok(())
}

/// The kind of the threads that a finding is about: what their names have in common.
fn kind(finding: &Finding) -> String {
    // Threads of one name are told apart by a number.
    let name = |thread: &str| thread.split(" #").next().unwrap_or(thread).to_string();
    let kind = |thread: &str| match name(thread).rsplit_once('-') {
        Some((kind, number)) if number.parse::<u32>().is_ok() => kind.to_string(),
        _ => name(thread),
    };
    let steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
    let kinds: BTreeSet<String> =
        steps.filter_map(|step| step.thread.as_deref()).map(kind).collect();
    let kinds: Vec<String> = kinds.into_iter().collect();
    format!("{}{}", if finding.rule == "deadlock" { "" } else { finding.rule }, kinds.join("+"))
}

/// The kinds that a JVM can have only one of, as long as no thread goes on; with `SCISSION_EACH_KIND` all kinds, each in a JVM of its
/// own, with the time from the beginning of the program to its end, which the report causes.
fn each(setup: &Setup, release: u32) -> Result<(), Failed> {
    const CYCLES: &[&str] = &[
        "monitors",
        "locks",
        "mixed",
        "three",
        "upgrade",
        "readers",
        "stamped",
        "join",
        "get",
        "get-under-lock",
        "initialisers",
        "pool",
        "pool-of-three",
        "pool-of-stages",
        "two-pools",
        "pool-and-lock",
        "thousands",
    ];
    const ENDS: &[&str] = &["stages", "lockout-of-condition", "abandoned", "parallel-initialiser"];
    const NOBODY_LEFT: &[&str] = &[
        "latch",
        "barrier",
        "phaser",
        "semaphore",
        "exchanger",
        "take",
        "put",
        "lockout",
        "notification",
        "signal",
        "park",
    ];
    const VIRTUAL: &[&str] = &["virtual-locks", "virtual-monitor", "virtual-join"];
    let mut kinds: Vec<(&str, &str)> = ENDS.iter().map(|kind| (*kind, "hang")).collect();
    if release == 21 {
        kinds.push(("pinned", "hang"));
    }
    // What no time must pass for is reported without a time.
    let mut options = "exit-on-deadlock=true";
    if std::env::var_os("SCISSION_EACH_KIND").is_some() {
        options = "hang-after=1,exit-on-deadlock=true";
        kinds.extend(CYCLES.iter().map(|kind| (*kind, "deadlock")));
        kinds.extend(NOBODY_LEFT.iter().map(|kind| (*kind, "hang")));
        kinds.extend(VIRTUAL.iter().filter(|_| release >= 21).map(|kind| (*kind, "deadlock")));
    }
    for (kind, rule) in kinds {
        let run = watched(setup, Some(release), options)?;
        let run = run.argument("torture.Kinds").argument("bad").argument(kind);
        let seen = run.finish()?;
        let ended = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        let begun = seen.output.lines().find_map(|line| line.strip_prefix("begins "));
        let found = findings_of(&run)?;
        let rules: Vec<&str> = found.iter().map(|it| it.rule).collect();
        if seen.code != i32::try_from(DEADLOCK_EXIT_CODE).ok() || rules != [rule] {
            return Err(format!("{kind}: {rules:?}, {seen:?}").into());
        }
        let begun: u128 = begun.unwrap_or("0").parse()?;
        println!("Java {release}: {kind}, {rule}, {} ms", ended.saturating_sub(begun));
    }
    Ok(())
}

/// Waits until a deadlock is on disk.
fn await_report(run: &Run) -> Result<(), Failed> {
    let begun = Instant::now();
    while !findings_of(run)?.iter().any(|finding| finding.rule == "deadlock") {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err("nothing was reported".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A report is there while the program hangs, and after it was ended.
fn survives(setup: &Setup, end: impl Fn(&mut Child) -> Result<(), Failed>) -> Result<(), Failed> {
    let run = watched(setup, None, "")?.argument("torture.Standstills").argument("stamped");
    let mut child = run.command()?.spawn()?;
    let reported = await_report(&run);
    end(&mut child)?;
    run.wait_for(child)?;
    reported?;
    match findings_of(&run)?.as_slice() {
        [only] if only.rule == "deadlock" => Ok(()),
        others => Err(format!("{} findings were left", others.len()).into()),
    }
}

fn interrupt(child: &mut Child) -> Result<(), Failed> {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    if sent.success() { Ok(()) } else { Err("kill".into()) }
}

/// A thread that writes to a pipe which nobody reads keeps nothing from being reported.
fn full_pipe(setup: &Setup) -> Result<(), Failed> {
    let run = watched(setup, None, "")?.argument("torture.FullPipe");
    let mut command = run.command()?;
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let reported = await_report(&run);
    child.kill()?;
    run.wait_for(child)?;
    reported
}

/// The threads that random programs say wait for each other are those that are reported, and no others.
fn random_locks(setup: &Setup) -> Result<(), Failed> {
    let seed = std::env::var("SCISSION_SEED").unwrap_or_else(|_| "1".to_string());
    let run = watched(setup, None, "")?.argument("torture.RandomLocks").argument(&seed);
    let seen = run.finish()?;
    let names = |line: &str| line.split(' ').map(str::to_string).collect::<BTreeSet<_>>();
    let expected: BTreeSet<BTreeSet<String>> = seen.output.lines().map(names).collect();
    let found = findings_of(&run)?;
    let observed = found.iter().filter(|it| it.evidence == findings::Evidence::Observed);
    let threads = |finding: &Finding| {
        let steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
        steps.filter_map(|step| step.thread.clone()).collect::<BTreeSet<_>>()
    };
    let reported: BTreeSet<BTreeSet<String>> = observed.map(threads).collect();
    println!("{} programs of RandomLocks deadlocked", expected.len());
    if seen.code != Some(0) || expected.len() < 3 || reported != expected {
        return Err(
            format!("seed {seed}: expected {expected:?}, reported {reported:?}, {seen:?}").into()
        );
    }
    Ok(())
}

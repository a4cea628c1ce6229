//! Programs that stop: what threads wait for is reported on every JVM, and is on disk whatever ends the program then. Programs that
//! only wait for long are not reported.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent_protocol::layout::DEADLOCK_EXIT_CODE;
use agent_protocol::read_directory;
use findings::Finding;
use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{Run, javac, torture_classes};
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
        "housekeeper",
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
    expected("kept-alive-by-daemon", ALL, None),
    expected("daemon-holds", ALL, None),
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
    cases.push(Case::new("standstills/hooks", [], hooks));
    cases.push(Case::new("standstills/exits", [], exits));
    cases.push(Case::new("standstills/exit-code", [], exit_code));
    cases.push(Case::new("standstills/suspected", [], suspected));
    cases.push(Case::new("standstills/interrupted-command", [], interrupted_command));
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

/// How long a report may take from when the threads are stuck, where nothing has to be waited for.
const PROMISE: Duration = Duration::from_secs(2);
/// How long the threads of a kind take to get stuck, and the JVM to end after the report.
const AROUND: Duration = Duration::from_millis(500);
/// How often the time is taken: a machine may be busy with other things.
const ATTEMPTS: u32 = 4;

/// The kinds that a JVM can have only one of, as long as no thread goes on; with `SCISSION_EACH_KIND` all kinds, each in a JVM of its
/// own, which ends with the report: within the time that users are promised.
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
    let with_virtual: &[&str] = if release >= 21 { VIRTUAL } else { &[] };
    let pinned: &[&str] = if release == 21 { &["pinned"] } else { &[] };
    let of = |kinds: &[&'static str], rule, options| {
        kinds.iter().map(|kind| (*kind, rule, options)).collect::<Vec<_>>()
    };
    let mut kinds = of(ENDS, "hang", PROMPT_HANG);
    kinds.extend(of(pinned, "hang", PROMPT_HANG));
    if std::env::var_os("SCISSION_EACH_KIND").is_some() {
        kinds.extend(of(with_virtual, "deadlock", PROMPT));
        kinds.extend(of(CYCLES, "deadlock", PROMPT));
        kinds.extend(of(NOBODY_LEFT, "hang", AFTER_A_SECOND));
    }
    for kind in kinds {
        within_time(setup, release, kind)?;
    }
    Ok(())
}

/// A kind, the rule that reports it, what the agent is told, and how much longer a report may take then.
type Timed = (&'static str, &'static str, (&'static str, Duration));

const PROMPT: (&str, Duration) = ("exit-on-deadlock=true", Duration::ZERO);
const PROMPT_HANG: (&str, Duration) = ("exit-on-deadlock=true", Duration::from_secs(1));
const AFTER_A_SECOND: (&str, Duration) =
    ("hang-after=1,exit-on-deadlock=true", Duration::from_secs(1));

fn within_time(
    setup: &Setup,
    release: u32,
    (kind, rule, (options, longer)): Timed,
) -> Result<(), Failed> {
    let mut least = Duration::MAX;
    for _ in 0..ATTEMPTS {
        let run = watched(setup, Some(release), options)?;
        let run = run.argument("torture.Kinds").argument("bad").argument(kind);
        let seen = run.finish()?;
        let ended = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let begun = seen.output.lines().find_map(|line| line.strip_prefix("begins "));
        let found = findings_of(&run)?;
        let rules: Vec<&str> = found.iter().map(|it| it.rule).collect();
        if seen.code != i32::try_from(DEADLOCK_EXIT_CODE).ok() || rules != [rule] {
            return Err(format!("{kind}: {rules:?}, {seen:?}").into());
        }
        let begun = Duration::from_millis(begun.unwrap_or("0").parse()?);
        least = least.min(ended.saturating_sub(begun));
        println!("Java {release}: {kind}, {rule}, {} ms", least.as_millis());
        if least <= PROMISE + AROUND + longer {
            return Ok(());
        }
    }
    Err(format!("{kind}: it took {} ms at least", least.as_millis()).into())
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

/// What shutdown hooks could do keeps nothing from being reported after the time that is usual, but for a program that waits for its
/// end alone.
fn hooks(setup: &Setup) -> Result<(), Failed> {
    const USUAL: Duration = Duration::from_secs(30);
    let program = |name: &str| -> Result<_, Failed> {
        let run = watched(setup, None, "")?.argument("torture.Standstills").argument(name);
        let child = run.command()?.spawn()?;
        Ok((run, child))
    };
    let (hung, mut hung_child) = program("hook")?;
    let (served, mut served_child) = program("kept-alive")?;
    let begun = Instant::now();
    let is_reported = || -> Result<bool, Failed> {
        Ok(findings_of(&hung)?.iter().any(|finding| finding.rule == "hang"))
    };
    while !is_reported()? && begun.elapsed() < 6 * USUAL {
        thread::sleep(Duration::from_millis(100));
    }
    let reported = is_reported()?;
    thread::sleep(USUAL / 3);
    let served_findings = findings_of(&served)?.len();
    hung_child.kill()?;
    hung.wait_for(hung_child)?;
    let sent = Command::new("kill").args(["-TERM", &served_child.id().to_string()]).status()?;
    if !sent.success() {
        served_child.kill()?;
    }
    served.wait_for(served_child)?;
    if reported && begun.elapsed() > USUAL && served_findings == 0 {
        return Ok(());
    }
    Err(format!("it was reported: {reported}; {served_findings} findings of a server").into())
}

/// A deadlock is reported although another thread ends the program, with the code that it chooses.
fn exits(setup: &Setup) -> Result<(), Failed> {
    let run = watched(setup, None, "")?.argument("torture.Standstills").argument("exits");
    let seen = run.finish()?;
    let rules: Vec<&str> = findings_of(&run)?.iter().map(|it| it.rule).collect();
    if seen.code == Some(3) && rules == ["deadlock"] {
        return Ok(());
    }
    Err(format!("{rules:?}, {seen:?}").into())
}

/// `scission run` of a program, as users type it.
fn command(setup: &Setup, flags: &[&str], program: &str) -> Result<Command, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
    command.args(["run", "--no-config", "--require-agent"]).args(flags);
    command.arg("--agent").arg(setup.agent()).arg("--").arg(setup.jdk_program("java"));
    command.arg("-cp").arg(torture_classes()?).arg("torture.Standstills").arg(program);
    Ok(command)
}

/// With `--on-deadlock exit` the command ends with the code for findings, not with that of the JVM.
fn exit_code(setup: &Setup) -> Result<(), Failed> {
    let output = command(setup, &["--on-deadlock", "exit"], "join")?.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(1) && said.contains("two threads wait for each other") {
        return Ok(());
    }
    Err(format!("{}: {said}", output.status).into())
}

/// What `check` suspects and a run observes is one finding.
fn suspected(setup: &Setup) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (name, suspected, observed) = ("Accounts", "lock-order-cycle", "deadlock");
    let classes = folder.path().join(name);
    let source = fixtures.join(format!("dynamic/deadlock/{name}.java"));
    std::fs::create_dir_all(&classes)?;
    javac(&[source, fixtures.join("support/Turn.java")], &classes, None)?;
    let report = folder.path().join(format!("{name}.json"));
    let scission = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
        command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
        command
    };
    let mut check = scission();
    check.args(["check", "--no-config", "--fail-on", "never", "--format", "json", "--output"]);
    check.arg(&report).arg(&classes).output()?;
    let mut run = scission();
    run.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
    run.args(["--monitor", "deadlock", "--format", "json", "--output", "-"]);
    run.args(["--on-deadlock", "exit"])
        .arg("--suspicions")
        .arg(&report)
        .arg("--agent")
        .arg(setup.agent())
        .arg("--");
    run.arg(setup.jdk_program("java")).arg("-cp").arg(&classes).arg(name);
    let output = run.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let findings = report::read_findings(&said)?;
    // A suspicion that is not under a finding is not in the report.
    let rules: Vec<&str> = findings.iter().map(|it| it.rule).collect();
    if rules != [observed, suspected] {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name}: {rules:?}, {error}").into());
    }
    Ok(())
}

/// Who runs a program that hangs is told so, and why once it is ended with Ctrl-C.
fn interrupted_command(setup: &Setup) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let results = folder.path().join("said");
    let mut command = command(setup, &[], "stamped")?;
    command.stderr(std::fs::File::create(&results)?).stdout(Stdio::null());
    let mut child = command.spawn()?;
    let note = "the thread waits for what it holds itself; the report follows";
    let begun = Instant::now();
    while !std::fs::read_to_string(&results)?.contains(note)
        && begun.elapsed() < Duration::from_secs(60)
    {
        thread::sleep(Duration::from_millis(20));
    }
    let noted = std::fs::read_to_string(&results)?.len();
    interrupt(&mut child)?;
    let status = child.wait()?;
    let said = std::fs::read_to_string(&results)?;
    let has_report = said[noted..].contains("the thread waits for what it holds itself");
    if status.code() == Some(130) && said.contains(note) && has_report {
        return Ok(());
    }
    Err(format!("{status}: {said}").into())
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

//! Known defects in published programs: a driver triggers them, and a run with the agent must report them.
//! `docs/real-programs.md` describes each.

use std::fmt;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::real::driver;
use crate::setup::{Requirement, Setup};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("defects/log4j-54325", [Requirement::Program("log4j")], appender_list),
        Case::new("defects/dbcp-369", [Requirement::Program("dbcp")], data_sources),
        Case::new("defects/tomcat-strings", [Requirement::Program("tomcat")], string_cache),
        Case::new("defects/log4j-warning", [Requirement::Program("log4j")], appender_warning),
        Case::new(
            "defects/log4j-54325/check",
            [Requirement::Program("log4j")],
            appender_list_in_code,
        ),
        Case::new(
            "defects/log4j-41214/check",
            [Requirement::Program("log4j")],
            appender_deadlock_in_code,
        ),
        Case::new("defects/log4j-41214", [Requirement::Program("log4j")], appender_deadlock),
        Case::new("defects/dbcp-369/check", [Requirement::Program("dbcp")], data_sources_in_code),
        Case::new("defects/dbcp-65", [Requirement::Program("dbcp-1.2.1")], statement_lockout),
        Case::new("defects/dbcp-270", [Requirement::Program("dbcp-1.2.2")], evictor_deadlock),
        Case::new("defects/pool-125", [Requirement::Program("dbcp-1.2.2")], factory_deadlock),
    ]
}

/// The same in the plain jar, without running it: clients enter `Category` with many threads.
fn appender_list_in_code(setup: &Setup) -> Result<(), Failed> {
    let class_path = setup.class_path("log4j")?;
    let found = check(&class_path, &["--entry-point", "org.apache.log4j.Category.*"])?;
    require_any(&found, "data-race", |finding| {
        let is_meant = |subject: &String| {
            subject.ends_with("Category.aai") || subject.ends_with("appenderList")
        };
        finding.subjects.iter().any(is_meant)
    })
}

/// `Category.callAppenders` locks the category and then the appender; a message that logs while the appender
/// turns it into text takes them the other way round.
fn appender_deadlock_in_code(setup: &Setup) -> Result<(), Failed> {
    let class_path = driver(setup, "log4j", "Greeting")?;
    let found = check(&class_path, &[])?;
    require_any(&found, "lock-order-cycle", |finding| {
        let takes_part = |class: &str, method: &str| {
            let place = format!("org.apache.log4j.{class}.{method}");
            finding.steps.iter().any(|(_, at)| *at == place)
        };
        takes_part("Category", "callAppenders") && takes_part("AppenderSkeleton", "doAppend")
    })
}

/// The same in a run in which the threads meet.
fn appender_deadlock(setup: &Setup) -> Result<(), Failed> {
    let flags = ["--monitor", "deadlock", "--on-deadlock", "exit"];
    let found = observe(setup, "log4j", "SharedAppender", "1", &flags)?;
    require_any(&found, "deadlock", |finding| {
        let takes_part = |class: &str, method: &str| {
            let place = format!("org.apache.log4j.{class}.{method}");
            finding.steps.iter().any(|(_, at)| *at == place)
        };
        takes_part("Category", "callAppenders") && takes_part("AppenderSkeleton", "doAppend")
    })
}

/// `PoolingConnection.prepareStatement` waits for a statement under the lock that whoever gives one back needs.
fn statement_lockout(setup: &Setup) -> Result<(), Failed> {
    let flags = ["--monitor", "deadlock", "--on-deadlock", "exit"];
    let found = observe(setup, "dbcp-1.2.1", "PoolDeadlocks", "DBCP-65", &flags)?;
    let is_lockout = |subject: &String| subject.contains("`second` waits while it holds");
    require_any(&found, "hang", |finding| {
        let holder = step("holds", "org.apache.commons.dbcp.PoolingConnection", "prepareStatement");
        finding.steps.contains(&holder) && finding.subjects.iter().any(is_lockout)
    })
}

/// The evictor holds the pool and wants a connection; `PoolableConnection.close` takes both the other way round.
fn evictor_deadlock(setup: &Setup) -> Result<(), Failed> {
    let flags = ["--monitor", "deadlock", "--on-deadlock", "exit"];
    let found = observe(setup, "dbcp-1.2.2", "PoolDeadlocks", "DBCP-270", &flags)?;
    require_any(&found, "deadlock", |finding| {
        let closer = step("holds", "org.apache.commons.dbcp.PoolableConnection", "close");
        let evictor = step("holds", "org.apache.commons.pool.impl.GenericObjectPool", "evict");
        finding.steps.contains(&closer) && finding.steps.contains(&evictor)
    })
}

/// A pool calls its factory under its lock, and the factory calls the pool under its own.
fn factory_deadlock(setup: &Setup) -> Result<(), Failed> {
    let flags = ["--monitor", "deadlock", "--on-deadlock", "exit"];
    let found = observe(setup, "dbcp-1.2.2", "PoolDeadlocks", "POOL-125", &flags)?;
    let pool = "org.apache.commons.pool.impl.GenericObjectPool";
    require_any(&found, "deadlock", |finding| {
        finding.steps.contains(&step("holds", pool, "borrowObject"))
            && finding.steps.contains(&step("wants", pool, "returnObject"))
    })
}

/// The map of data sources in the plain jar: clients enter the factory with many threads.
fn data_sources_in_code(setup: &Setup) -> Result<(), Failed> {
    let class_path = setup.class_path("dbcp")?;
    let factory = "org.apache.commons.dbcp.datasources.InstanceKeyObjectFactory";
    let found = check(&class_path, &["--entry-point", &format!("{factory}.*")])?;
    require_any(&found, "data-race", |finding| {
        finding.subjects.iter().any(|subject| subject.ends_with("instanceMap"))
            && finding.steps.iter().any(|(_, at)| *at == format!("{factory}.getObjectInstance"))
    })
}

/// Checks everything on a class path.
fn check(class_path: &str, flags: &[&str]) -> Result<Vec<Found>, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.args(["check", "--no-config", "--fail-on", "never", "--format", "json"]);
    command.args(flags).args(class_path.split(':'));
    findings(command)
}

/// `Category.isAttached` holds no lock when it looks at its appenders: whether there is a list, how long it is,
/// what is in it. `Category.removeAllAppenders` holds one, and takes all of that away in between.
fn appender_list(setup: &Setup) -> Result<(), Failed> {
    let found = observe(setup, "log4j", "AppenderList", "2000000", &[])?;
    let list = "org.apache.log4j.helpers.AppenderAttachableImpl";
    // Which block is split, the one of the list or the one of the logger that calls it, is up to the schedule.
    require_any(&found, "not-serializable", |finding| {
        finding.steps.contains(&step("first", list, "isAttached"))
            && finding.steps.contains(&step("interferes", list, "removeAllAppenders"))
            && finding.steps.contains(&step("second", list, "isAttached"))
    })?;
    let category = "org.apache.log4j.Category";
    let is_expected = |finding: &Found| {
        let takes_part = |method: &str| {
            finding.steps.iter().any(|(_, at)| *at == format!("{category}.{method}"))
        };
        takes_part("isAttached")
            && (takes_part("removeAllAppenders") || takes_part("addAppender"))
            && finding.subjects.iter().all(|subject| subject.ends_with(".aai"))
    };
    require_any(&found, "happens-before-race", is_expected)
}

/// `InstanceKeyObjectFactory.getObjectInstance` looks for a data source in a map and adds one
/// when there is none, without a lock.
fn data_sources(setup: &Setup) -> Result<(), Failed> {
    let found = observe(setup, "dbcp", "DataSources", "20000", &[])?;
    let factory = "org.apache.commons.dbcp.datasources.InstanceKeyObjectFactory";
    let method = format!("{factory}.getObjectInstance");
    require(&found, "not-serializable", &method, |finding| {
        ["first", "interferes", "second"]
            .iter()
            .all(|role| finding.steps.contains(&step(role, factory, "getObjectInstance")))
    })?;
    let race = |finding: &Found| {
        finding.steps.len() == 2 && finding.steps.iter().all(|(_, place)| *place == method)
    };
    require_any(&found, "happens-before-race", race)
}

/// `StringCache.toString` counts accesses and hits without a lock, once it has a cache. In the run it has none, so that nobody
/// counts anything: what is found lies on the side that no thread took.
fn string_cache(setup: &Setup) -> Result<(), Failed> {
    let cache = "org.apache.tomcat.util.buf.StringCache";
    let counts = |found: &[Found], field: &str| {
        let name = format!("StringCache.{field}");
        let is_it = |finding: &Found| {
            finding.rule == "breakable-block"
                && finding.subjects.iter().filter(|it| **it == name).count() == 2
                && finding.steps.contains(&step("branch", cache, "toString"))
        };
        found.iter().any(is_it)
    };
    let found = observe(setup, "tomcat", "Strings", "3", &["--monitor", "hybrid"])?;
    let without = ["--monitor", "hybrid", "--no-speculation"];
    let happened = observe(setup, "tomcat", "Strings", "3", &without)?;
    for field in ["accessCount", "hitCount"] {
        if !counts(&found, field) {
            return Err(format!("`{field}` is not found:\n{found:#?}").into());
        }
        if counts(&happened, field) {
            return Err(format!("`{field}` is found without speculation:\n{happened:#?}").into());
        }
    }
    Ok(())
}

/// `Category.callAppenders` warns when there are no appenders: once, says a flag that is checked and set without a lock. In the
/// run there are appenders, and nobody is warned.
fn appender_warning(setup: &Setup) -> Result<(), Failed> {
    let warns = |finding: &Found| {
        let is_flag = |subject: &&String| subject.ends_with(".emittedNoAppenderWarning");
        finding.subjects.iter().filter(is_flag).count() == 2
            && finding.steps.contains(&step("branch", "org.apache.log4j.Category", "callAppenders"))
    };
    let found = observe(setup, "log4j", "Warnings", "3", &["--monitor", "hybrid"])?;
    require_any(&found, "breakable-block", warns)?;
    let without = ["--monitor", "hybrid", "--no-speculation"];
    let happened = observe(setup, "log4j", "Warnings", "3", &without)?;
    if happened.iter().any(warns) {
        return Err(format!("it is found without speculation:\n{happened:#?}").into());
    }
    Ok(())
}

fn step(role: &str, class: &str, method: &str) -> (String, String) {
    (role.to_string(), format!("{class}.{method}"))
}

/// The parts of a finding that tests check.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) rule: String,
    pub(crate) blame: String,
    /// The role of each step of the first witness, and its method.
    pub(crate) steps: Vec<(String, String)>,
    pub(crate) subjects: Vec<String>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}: {:?} of {:?}", self.rule, self.blame, self.steps, self.subjects)
    }
}

/// Runs a driver under `scission run`, and returns what was found.
fn observe(
    setup: &Setup,
    program: &str,
    class: &str,
    rounds: &str,
    flags: &[&str],
) -> Result<Vec<Found>, Failed> {
    let class_path = driver(setup, program, class)?;
    // The defects are in the libraries.
    let mut command = scission(flags);
    command.args(["--libraries", "full", "--"]).arg(setup.jdk_program("java"));
    command.arg("-cp").arg(class_path).arg(format!("real.{class}")).arg(rounds);
    findings(command)
}

/// `scission run` without a configuration, with its report as JSON on standard output.
pub(crate) fn scission(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
    command.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
    command.args(["--format", "json", "--output", "-"]).args(flags);
    command.arg("--agent").arg(Setup::get().agent());
    command
}

/// The findings that a command reports.
pub(crate) fn findings(mut command: Command) -> Result<Vec<Found>, Failed> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it ended with {}: {said}", output.status).into());
    }
    findings_in(&output.stdout)
}

/// The findings in a report.
pub(crate) fn findings_in(report: &[u8]) -> Result<Vec<Found>, Failed> {
    let report: Value = serde_json::from_slice(report)?;
    let all = report["findings"].as_array().ok_or("the report has no findings")?;
    let mut shown = Vec::new();
    all.iter().for_each(|finding| add_shown(finding, &mut shown));
    Ok(shown)
}

/// A finding once for each of its witnesses, and those that stand under it.
fn add_shown(finding: &Value, shown: &mut Vec<Found>) {
    shown.push(found(finding));
    for other in finding["other_witnesses"].as_array().into_iter().flatten() {
        let one = Value::Object(serde_json::Map::from_iter([
            ("rule".to_string(), finding["rule"].clone()),
            ("blame".to_string(), finding["blame"].clone()),
            ("subjects".to_string(), finding["subjects"].clone()),
            ("witness".to_string(), other["witness"].clone()),
        ]));
        shown.push(found(&one));
    }
    finding["also"].as_array().into_iter().flatten().for_each(|also| add_shown(also, shown));
}

fn found(finding: &Value) -> Found {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let method = |site: &Value| format!("{}.{}", text(&site["class"]), text(&site["method"]));
    let steps = finding["witness"].as_array().into_iter().flatten();
    let subjects = finding["subjects"].as_object().into_iter().flatten();
    Found {
        rule: text(&finding["rule"]),
        blame: method(&finding["blame"]),
        steps: steps.map(|step| (text(&step["role"]), method(step))).collect(),
        subjects: subjects.map(|(_, subject)| text(subject)).collect(),
    }
}

/// There is a finding of a rule that blames a method and is as expected.
fn require(
    found: &[Found],
    rule: &str,
    blame: &str,
    is_expected: impl Fn(&Found) -> bool,
) -> Result<(), Failed> {
    require_any(found, rule, |finding| finding.blame == blame && is_expected(finding))
}

fn require_any(
    found: &[Found],
    rule: &str,
    is_expected: impl Fn(&Found) -> bool,
) -> Result<(), Failed> {
    if found.iter().any(|finding| finding.rule == rule && is_expected(finding)) {
        return Ok(());
    }
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    Err(format!("no {rule} is as expected among these:\n{}", all.join("\n")).into())
}

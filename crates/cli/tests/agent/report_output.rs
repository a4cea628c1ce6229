//! What users are shown of a finding, in every format: threads, objects, stacks, the whole cycle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;
use tempfile::TempDir;

use crate::Case;
use crate::jvm::{beside, javac};
use crate::setup::Setup;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("shown/text-and-graph", [], text_and_graph),
        Case::new("shown/json", [], json),
        Case::new("shown/sarif", [], sarif),
    ]
}

/// A run of the program of two tellers, in a folder of its own.
struct ReportedRun {
    folder: TempDir,
    report: String,
}

fn run(setup: &Setup, flags: &[&str]) -> Result<ReportedRun, Failed> {
    let folder = tempfile::tempdir()?;
    let classes: PathBuf = folder.path().join("classes");
    fs::create_dir(&classes)?;
    javac(&[beside("shown/Bank.java")], &classes, None)?;
    let output = Command::new(env!("CARGO_BIN_EXE_scission"))
        .current_dir(folder.path())
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS")
        .args(["run", "--no-config", "--require-agent", "--fail-on", "never"])
        .args(["--unobserved", "shown.Turn", "--output", "-"])
        .args(flags)
        .arg("--source")
        .arg(beside(""))
        .arg("--agent")
        .arg(setup.agent())
        .arg("--")
        .arg(setup.jdk_program("java"))
        .args(["-cp", "classes", "shown.Bank"])
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it ended with {}: {said}", output.status).into());
    }
    Ok(ReportedRun { folder, report: String::from_utf8_lossy(&output.stdout).into_owned() })
}

fn require(text: &str, said: &[&str]) -> Result<(), Failed> {
    for said in said {
        if !text.contains(said) {
            return Err(format!("{said:?} is missing from\n{text}").into());
        }
    }
    Ok(())
}

fn text_and_graph(setup: &Setup) -> Result<(), Failed> {
    let race = run(setup, &[])?.report;
    require(
        &race,
        &[
            "data race on `Account#1.balance` in `shown.Bank$Account.deposit`: `teller-",
            ", and nothing orders the two\n",
            "note: this also splits `shown.Bank$Account.deposit` (`not-serializable`)\n",
            "1 finding (1 high; 1 observed)",
        ],
    )?;
    let report_output = run(setup, &["--monitor", "velodrome", "--graphs", "graphs"])?;
    require(
        &report_output.report,
        &[
            "`shown.Bank$Account.deposit` is not atomic: between its read of `Account#1.balance` (Bank.java:9) and its write of `Account#1.balance` (Bank.java:11) in `teller-1`, `teller-2` wrote it (Bank.java:11)\n",
            "first, `teller-1` reads `Account#1.balance` here",
            "then `teller-2` writes `Account#1.balance` here",
            "last, `teller-1` writes `Account#1.balance` here",
            "T1 \"teller-1\" in `shown.Bank.payday` comes before T2 \"teller-2\" in `shown.Bank.payday`:\n",
            " at shown.Bank$Account.deposit (shown/Bank.java:9)\n             called by Bank.payday (Bank.java:18)",
            ", which closes the cycle:\n",
            "enclosing blocks were split too: `shown.Bank.payday` (shown/Bank.java:18)",
        ],
    )?;
    let graphs = files(&report_output.folder.path().join("graphs"))?;
    let [graph] = &graphs[..] else { return Err(format!("the graphs are {graphs:?}").into()) };
    let name = graph.file_name().unwrap_or_default().to_string_lossy().into_owned();
    require(&report_output.report, &[&format!("graph: graphs/{name}\n")])?;
    require(
        &fs::read_to_string(graph)?,
        &[
            "digraph \"`shown.Bank$Account.deposit` is not atomic",
            "  T1 [label=\"T1 \\\"teller-1\\\"\\lshown.Bank.payday\\l",
            "peripheries=2",
            "  T1 -> T2 [label=\"T1 reads Account#1.balance (shown/Bank.java:9)\\l",
            "  T2 -> T1 [label=\"T2 writes Account#1.balance (shown/Bank.java:11)\\lT1 writes Account#1.balance (shown/Bank.java:11)\\l\", style=dashed];",
        ],
    )
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

fn json(setup: &Setup) -> Result<(), Failed> {
    let report_output = run(setup, &["--format", "json"])?;
    let report: Value = serde_json::from_str(&report_output.report)?;
    let findings = report["findings"].as_array().ok_or("the report has no findings")?;
    let [race] = &findings[..] else { return Err(format!("{findings:#?}").into()) };
    let also = race["also"].as_array().into_iter().flatten();
    let cyclic: Vec<&Value> = also.filter(|it| !it["cycle"].is_null()).collect();
    let [finding] = cyclic[..] else { return Err(format!("{findings:#?}").into()) };
    let cycle = &finding["cycle"];
    let threads: Vec<&Value> =
        cycle["transactions"].as_array().into_iter().flatten().map(|it| &it["thread"]).collect();
    let edge = &cycle["edges"][0];
    let is_right = threads == ["teller-1", "teller-2"]
        && cycle["transactions"][0]["is_blamed"] == true
        && cycle["transactions"][0]["block"]["method"] == "payday"
        && cycle["outer_blocks"][0]["method"] == "payday"
        && edge["subject"] == "Account#1.balance"
        && edge["from"]["verb"] == "reads"
        && edge["from"]["site"]["line"] == 9
        && edge["from"]["stack"]["frames"][1]["method"] == "payday"
        && edge["to"]["verb"] == "writes"
        && edge["to"]["stack"]["is_same_context"] == true
        && edge["is_race"] == true;
    if is_right { Ok(()) } else { Err(format!("{finding:#}").into()) }
}

fn sarif(setup: &Setup) -> Result<(), Failed> {
    let report_output = run(setup, &["--monitor", "velodrome", "--format", "sarif"])?;
    let log: Value = serde_json::from_str(&report_output.report)?;
    let results = log["runs"][0]["results"].as_array().ok_or("there are no results")?;
    let result = results
        .iter()
        .find(|result| result["ruleId"] == "not-serializable")
        .ok_or_else(|| format!("{log:#}"))?;
    let flows = result["codeFlows"][0]["threadFlows"].as_array().ok_or("there are no flows")?;
    let orders: Vec<(&Value, Vec<&Value>)> = flows
        .iter()
        .map(|flow| {
            let places = flow["locations"].as_array().into_iter().flatten();
            (&flow["id"], places.map(|place| &place["executionOrder"]).collect())
        })
        .collect();
    let [(first, first_orders), (second, second_orders)] = &orders[..] else {
        return Err(format!("{flows:#?}").into());
    };
    let has_stacks = flows[0]["locations"][0]["stack"]["frames"].as_array().is_some();
    let is_right = **first == "teller-1"
        && **second == "teller-2"
        && *first_orders == [1, 4]
        && *second_orders == [2, 3]
        && has_stacks;
    if is_right { Ok(()) } else { Err(format!("{result:#}").into()) }
}

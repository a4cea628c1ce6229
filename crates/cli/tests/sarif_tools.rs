//! SARIF must be accepted by independent consumers: PyPI's `sarif-tools`, and
//! PyPI's `jsonschema` for the JSON format. Both are installed once, below the target directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use findings::{
    BaselineEntry, Comparison, Evidence, Finding, Fingerprint, Gap, GapKind, HeldLock, Results,
    Severity, Site, Step, Suppressed, Suppressor, Witness, merge_and_rank,
};
use report::{Format, Options, Sources};

/// Pinned, so that a release of theirs cannot fail a build of ours.
const PACKAGES: [&str; 2] = ["sarif-tools==3.0.5", "jsonschema==4.26.0"];

#[test]
fn other_tools_accept_the_reports() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports");
    fs::create_dir_all(&directory).unwrap();
    let sarif = directory.join("results.sarif");
    let json = directory.join("results.json");
    let triaged_sarif = directory.join("triaged.sarif");
    let triaged_json = directory.join("triaged.json");
    write(Format::Sarif, &results(), &sarif);
    write(Format::Json, &results(), &json);
    write(Format::Sarif, &triaged(), &triaged_sarif);
    write(Format::Json, &triaged(), &triaged_json);
    let tools = install_tools();

    let summary = run(Command::new(tools.join("sarif")).arg("summary").arg(&sarif));
    assert!(summary.contains("warning: 1") && summary.contains("error: 1"), "{summary}");
    let summary = run(Command::new(tools.join("sarif")).arg("summary").arg(&triaged_sarif));
    assert!(summary.contains("error: 1") && summary.contains("note: 1"), "{summary}");
    let listing = run(Command::new(tools.join("sarif")).arg("ls").arg(&sarif));
    assert!(listing.contains("results.sarif"), "{listing}");

    let table = directory.join("results.csv");
    run(Command::new(tools.join("sarif")).arg("csv").arg("--output").arg(&table).arg(&sarif));
    let table = fs::read_to_string(&table).unwrap();
    for row in ["warning,reacquired-lock,", ",geometry/Line.java,8", ",java/util/Vector.java,903"] {
        assert!(table.contains(row), "{row} is missing from\n{table}");
    }

    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.schema.json");
    let check = "import json, sys, jsonschema\n\
        schema, value = (json.load(open(path)) for path in sys.argv[1:])\n\
        jsonschema.Draft202012Validator.check_schema(schema)\n\
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)";
    for json in [&json, &triaged_json] {
        run(Command::new(tools.join("python")).arg("-c").arg(check).arg(&schema).arg(json));
    }
}

/// The directory with the installed commands.
fn install_tools() -> PathBuf {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-readers");
    let commands = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let stamp = environment.join("installed.txt");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return commands;
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment));
    run(Command::new(commands.join("python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(PACKAGES));
    fs::write(&stamp, wanted).unwrap();
    commands
}

/// What a command prints; a failure names the command and what it needs.
fn run(command: &mut Command) -> String {
    let needs = "this test needs python3 with venv (Debian: apt-get install python3-venv) and, \
                 the first time, a network that reaches PyPI";
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("cannot run {command:?}: {error}; {needs}"),
    };
    assert!(
        output.status.success(),
        "{command:?} failed; {needs}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn write(format: Format, results: &Results, path: &Path) {
    let sources = Sources::default();
    let mut bytes = Vec::new();
    report::render(format, results, &Options::new(&sources), &mut bytes).unwrap();
    fs::write(path, bytes).unwrap();
}

fn results() -> Results {
    let line = finding(Severity::Medium, "geometry.Line", "contains", "geometry/Line.java", 6);
    let vector =
        finding(Severity::High, "java.util.Vector", "addAll", "java/util/Vector.java", 901);
    Results {
        findings: merge_and_rank(vec![line, vector]),
        gaps: vec![Gap::new(GapKind::MissingClass, "org.lib.Missing", "not found")],
        stats: vec![("classes", 2)],
        ..Results::default()
    }
}

/// The same findings, one of them suppressed and one in a baseline of which another has gone.
fn triaged() -> Results {
    let mut findings = results().findings;
    let suppressed = Suppressed {
        finding: findings.pop().unwrap(),
        by: Suppressor::Configuration,
        reason: "one thread".into(),
        is_known: false,
    };
    let gone = BaselineEntry {
        blame: "p.Old.gone()".into(),
        rule: "reacquired-lock".into(),
        message: "`p.Old.gone` releases `lock` too early".into(),
        fingerprint: Fingerprint::try_from("0123456789abcdef".to_string()).unwrap(),
    };
    Results {
        suppressed: vec![suppressed],
        baseline: Some(Comparison { known: findings, gone: vec![gone] }),
        below_level: BTreeMap::from([(Severity::Low, 3)]),
        remarks: vec!["the suppression of `p.Dead` at scission.toml:3 matches nothing".into()],
        ..Results::default()
    }
}

fn finding(severity: Severity, class: &str, method: &str, file: &str, line: u32) -> Finding {
    let site = |offset: u32| Site {
        class: class.into(),
        method: method.into(),
        descriptor: "(Ljava/lang/Object;)Z".into(),
        offset: Some(offset),
        file: Some(file.into()),
        line: Some(line + offset),
    };
    let step = |role, offset| Step {
        call_chain: vec![site(9)],
        held_locks: vec![HeldLock { lock: "this".into(), taken_at: site(0) }],
        ..Step::at(role, site(offset))
    };
    Finding {
        rule: "reacquired-lock",
        evidence: Evidence::Possible,
        severity,
        blame: Site { offset: None, ..site(0) },
        subjects: BTreeMap::from([("context", "this".into()), ("witness", "other".into())]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![Witness::new(
            "lock-pattern",
            vec![step("context", 0), step("first", 1), step("second", 2)],
        )],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}

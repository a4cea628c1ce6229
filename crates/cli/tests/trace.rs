//! `scission trace` as a user or a script meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const DEPOSITS: &str = "\
# Two deposits that overlap.
t1 begin deposit
t1 rd acc.balance @ Account.java:7
t2 begin deposit
t2 acq m
t2 wr acc.balance @ Account.java:8
t2 rel m
t2 end
t1 wr acc.balance @ Account.java:8
t1 notify m
t1 end
";

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary directory can be made"));
        folder.write("run.txt", DEPOSITS.as_bytes());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("the file can be written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file is there")
    }

    fn trace(&self, arguments: &[&str]) -> Output {
        command(self.0.path(), arguments).output().expect("the binary runs")
    }

    /// What a command that succeeds prints.
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.trace(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).expect("what is printed is text")
    }

    /// The error message of a command that fails.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.trace(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        stderr(&output)
    }
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.arg("trace").args(arguments).current_dir(directory);
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("what is said is text")
}

#[test]
fn counts_for_people() {
    let folder = Folder::new();
    let expected = "\
form                  text
events                10
threads               2
objects               2
locks                 1
variables             1
sites                 3
blocks                1

reads                 1
writes                2
acquisitions          1
releases              1
notifications of one  1
begins of blocks      2
ends of blocks        2
";
    assert_eq!(folder.printed(&["run.txt", "--stats"]), expected);
    folder.printed(&["run.txt", "--stats", "--output", "counts.txt"]);
    assert_eq!(folder.read("counts.txt"), expected.as_bytes());
}

#[test]
fn counts_for_programs() {
    let folder = Folder::new();
    folder.printed(&["run.txt", "--to", "binary", "--output", "run.trace"]);
    let printed = folder.printed(&["run.trace", "--stats", "--format", "json"]);
    let counts: Value = serde_json::from_str(&printed).expect("it is JSON");
    assert_eq!(counts["version"], 1);
    assert_eq!(counts["form"], "binary");
    assert_eq!(counts["header"]["tool"], concat!("scission ", env!("CARGO_PKG_VERSION")));
    assert_eq!(counts["events"], 10);
    assert_eq!(counts["threads"], 2);
    assert_eq!(counts["kinds"]["wr"], 2);
    assert_eq!(counts["kinds"]["volatile-rd"], Value::Null);
    assert_eq!(counts["kinds"]["vrd"], 0);
    assert_eq!(counts["notes"], Value::Array(Vec::new()));
}

#[test]
fn every_form_becomes_every_other() {
    let folder = Folder::new();
    folder.printed(&["run.txt", "--to", "binary", "--output", "run.trace"]);
    folder.printed(&["run.trace", "--to", "text", "--output", "full.txt"]);
    folder.printed(&["full.txt", "--to", "binary", "--output", "again.trace"]);
    assert_eq!(folder.read("run.trace"), folder.read("again.trace"));
    folder.printed(&["run.trace", "--to", "binary", "--output", "again.trace"]);
    assert_eq!(folder.read("run.trace"), folder.read("again.trace"));
    let output = folder.trace(&["run.trace", "--to", "std"]);
    assert_eq!(
        stderr(&output),
        "note: 1 event cannot be written in this format and was left out\n"
    );
    let expected = "\
T0|begin(B1)|1
T0|r(V0)|2
T1|begin(B1)|1
T1|acq(L0)|0
T1|w(V0)|3
T1|rel(L0)|0
T1|end(B0)|0
T0|w(V0)|3
T0|end(B0)|0
";
    let std = String::from_utf8(output.stdout).unwrap();
    assert_eq!(std, expected);
    folder.write("run.std", std.as_bytes());
    assert_eq!(folder.printed(&["run.std", "--to", "std"]), std);
    let counts = folder.printed(&["run.std", "--stats"]);
    assert!(counts.contains("begins of blocks  2\n"), "{counts}");
}

#[test]
fn late_reports_are_put_into_their_place_for_other_tools() {
    let folder = Folder::new();
    folder.write(
        "late.txt",
        b"t1 acq m epoch 1\nt1 rel m epoch 1\nt2 acq m epoch 2\nt1 earlier-wr x epoch 1\nt2 rd x epoch 2\n",
    );
    let std = folder.printed(&["late.txt", "--to", "std"]);
    assert_eq!(std, "T0|acq(L0)|0\nT0|w(V0)|0\nT0|rel(L0)|0\nT1|acq(L0)|0\nT1|r(V0)|0\n");
    // The other forms can say it.
    assert!(folder.printed(&["late.txt", "--to", "text"]).contains("t1 earlier-wr x epoch 1\n"));
}

#[test]
fn both_at_once_need_a_file() {
    let folder = Folder::new();
    let said = folder.refused(&["run.txt", "--stats", "--to", "text"]);
    assert!(said.contains("`--output FILE`"), "{said}");
    let counts = folder.printed(&["run.txt", "--stats", "--to", "text", "--output", "copy.txt"]);
    assert_eq!(counts, folder.printed(&["copy.txt", "--stats"]));
}

#[test]
fn a_damaged_trace_is_read_as_far_as_it_goes() {
    let folder = Folder::new();
    folder.printed(&["run.txt", "--to", "binary", "--output", "run.trace"]);
    let whole = folder.read("run.trace");
    folder.write("cut.trace", &whole[..whole.len() - 1]);
    let output = folder.trace(&["cut.trace", "--stats", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    assert!(said.starts_with("note: the trace is not complete: it breaks off after"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let counts: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(counts["events"], 10);
    assert_eq!(counts["notes"][0], said["note: ".len()..].trim_end());

    // The last payload before the end block is that of the events.
    let mut flipped = whole.clone();
    flipped[whole.len() - 33] ^= 1;
    folder.write("flipped.trace", &flipped);
    let output = folder.trace(&["flipped.trace", "--to", "text"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("were left out, and 10 events with them"));

    folder.write("begun.trace", &whole[..5]);
    let output = folder.trace(&["begun.trace", "--stats"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("not complete"));
}

#[test]
fn what_cannot_be_read_is_one_sentence() {
    let folder = Folder::new();
    folder.write("wrong.txt", b"t1 acq m\nt1 raed x\n");
    folder.write("app.jar", b"PK\x03\x04\0\0\0\0");
    folder.printed(&["run.txt", "--to", "binary", "--output", "later.trace"]);
    let mut later = folder.read("later.trace");
    later[8] = 9;
    folder.write("later.trace", &later);
    for (file, why) in [
        ("wrong.txt", "line 2, column 4: `raed` is not a known word; did you mean `rd`?"),
        ("app.jar", "it is no trace: neither a binary one of scission, nor text"),
        ("later.trace", "it is a trace in version 9 of the format"),
        ("missing.trace", "there is no such file"),
        (".", "it is a directory"),
    ] {
        let said = folder.refused(&[file, "--stats"]);
        assert!(
            said.starts_with(&format!("error: cannot read the trace `{file}`: {why}")),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        folder.refused(&[file, "--to", "text", "--output", "out.txt"]);
        assert!(!folder.path("out.txt").exists());
    }
    let said = folder.refused(&["run.txt", "--to", "text", "--output", "missing/out.txt"]);
    assert!(said.contains("cannot write `missing/out.txt`"), "{said}");
    folder.refused(&["run.txt", "--to", "xml"]);
    folder.refused(&["run.txt", "--to", "text", "--format", "json"]);
}

#[test]
fn standard_input_is_read_and_a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    let input = fs::File::open(folder.path("run.txt")).unwrap();
    let output =
        command(folder.0.path(), &["-", "--stats"]).stdin(input).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), folder.printed(&["run.txt", "--stats"]));

    folder.write("long.txt", DEPOSITS.repeat(5000).as_bytes());
    let mut child = command(folder.0.path(), &["long.txt", "--to", "text"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// The JSON report of checkers on a trace, and the exit code.
fn checked(folder: &Folder, arguments: &[&str]) -> (Value, Option<i32>) {
    let arguments: Vec<&str> =
        arguments.iter().copied().chain(["--no-config", "--format", "json"]).collect();
    let output = folder.trace(&arguments);
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (report, output.status.code())
}

#[test]
fn without_a_choice_the_default_checkers_look() {
    let folder = Folder::new();
    let (report, code) = checked(&folder, &["run.txt"]);
    assert_eq!(code, Some(1));
    let chosen = checked(&folder, &["run.txt", "--monitor", "velodrome,happens-before"]);
    assert_eq!((report, code), chosen);
}

/// The rule, the blamed method and the line of each step of the findings, of what stands under them, and of each witness.
fn outline(report: &Value) -> Vec<String> {
    let step = |step: &Value| format!("{} {}", step["role"].as_str().unwrap(), step["line"]);
    let of_witness = |finding: &Value, witness: &Value| {
        let steps: Vec<String> = witness["witness"].as_array().unwrap().iter().map(step).collect();
        let rule = finding["rule"].as_str().unwrap();
        format!("{rule} {}: {}", finding["blame"]["method"].as_str().unwrap(), steps.join(", "))
    };
    let mut lines = Vec::new();
    for leading in report["findings"].as_array().unwrap() {
        let also = leading["also"].as_array().unwrap();
        for finding in [leading].into_iter().chain(also) {
            lines.push(of_witness(finding, finding));
            let others = finding["other_witnesses"].as_array().unwrap();
            lines.extend(others.iter().map(|other| of_witness(finding, other)));
        }
    }
    lines
}

#[test]
fn checkers_find_in_a_trace_what_they_find_in_a_run() {
    let folder = Folder::new();
    let (report, code) = checked(&folder, &["run.txt", "--monitor", "velodrome,happens-before"]);
    assert_eq!(code, Some(1));
    let expected = [
        "not-serializable deposit: block 2, first 7, interferes 8, second 8",
        "happens-before-race : first 7, second 8",
        "happens-before-race : first 8, second 8",
    ];
    let mut found = outline(&report);
    found.sort_by_key(|finding| !finding.starts_with("not"));
    assert_eq!(found, expected);
    assert_eq!(report["stats"]["events"], 10);
    // In every form of the trace.
    folder.printed(&["run.txt", "--to", "binary", "--output", "run.trace"]);
    let (binary, _) = checked(&folder, &["run.trace", "--monitor", "velodrome"]);
    assert_eq!(outline(&binary).len(), 1);
    assert!(outline(&binary)[0].ends_with("first 7, interferes 8, second 8"));
    // As text for people, and to a file for services.
    let output = folder.trace(&["run.txt", "--monitor=velodrome", "--no-config"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("[not-serializable]"), "{text}");
    let sarif = ["run.txt", "--monitor=velodrome", "--no-config", "--format", "sarif"];
    let output = folder.trace(&[&sarif[..], &["--output", "run.sarif"]].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let sarif: Value = serde_json::from_slice(&folder.read("run.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    // What does not count is shown and does not make the exit code.
    let (report, code) =
        checked(&folder, &["run.txt", "--monitor", "velodrome", "--fail-on", "never"]);
    assert_eq!((outline(&report).len(), code), (1, Some(0)));
    let written = ["--no-config", "--write-baseline", "b", "--fail-on", "never"];
    folder.printed(&[&["run.txt", "--monitor", "velodrome"], &written[..]].concat());
    let (report, code) =
        checked(&folder, &["run.txt", "--monitor", "velodrome", "--baseline", "b"]);
    assert_eq!((outline(&report).len(), code), (0, Some(0)));
}

#[test]
fn traces_of_other_tools_are_judged() {
    let folder = Folder::new();
    // The introduction's example: A reads and writes x, and B' and C' come in between.
    let split = "\
T1|begin(B1)|10
T1|r(V1)|11
T2|w(V1)|21
T1|w(V1)|12
T1|end(B1)|13
";
    folder.write("split.std", split.as_bytes());
    let (report, code) = checked(&folder, &["split.std", "--monitor", "velodrome"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        outline(&report),
        ["not-serializable : block 10, first 11, interferes 21, second 12"]
    );
    let ordered = "\
T1|acq(L1)|1
T1|w(V1)|2
T1|rel(L1)|3
T2|acq(L1)|4
T2|w(V1)|5
T2|rel(L1)|6
";
    folder.write("ordered.std", ordered.as_bytes());
    let (report, code) = checked(&folder, &["ordered.std", "--monitor", "happens-before"]);
    assert_eq!((outline(&report).len(), code), (0, Some(0)));
    let unordered = ordered.replace("T2|acq(L1)|4\n", "").replace("T2|rel(L1)|6\n", "");
    folder.write("unordered.std", unordered.as_bytes());
    let (report, code) = checked(&folder, &["unordered.std", "--monitor", "happens-before"]);
    assert_eq!(outline(&report), ["happens-before-race : first 2, second 5"]);
    assert_eq!(code, Some(1));
}

#[test]
fn what_stands_before_the_damage_is_reported() {
    let folder = Folder::new();
    folder.printed(&["run.txt", "--to", "binary", "--output", "run.trace"]);
    let whole = folder.read("run.trace");
    folder.write("cut.trace", &whole[..whole.len() - 1]);
    let (report, code) = checked(&folder, &["cut.trace", "--monitor", "velodrome"]);
    assert_eq!((outline(&report).len(), code), (1, Some(1)));
    let remark = report["remarks"][0].as_str().unwrap();
    assert!(remark.starts_with("the trace is not complete"), "{remark}");
    // Without the last byte of its block, all events of the block are lost.
    folder.write("cut.trace", &whole[..whole.len() - 33]);
    let (report, code) = checked(&folder, &["cut.trace", "--monitor", "velodrome"]);
    assert_eq!((outline(&report).len(), code), (0, Some(2)));
    assert_eq!(report["remarks"].as_array().unwrap().len(), 1);
    let output = folder.trace(&["cut.trace", "--monitor", "velodrome", "--no-config"]);
    let said =
        "error: the trace `cut.trace` is damaged, and nothing was found in what is left of it\n";
    assert!(stderr(&output).ends_with(said), "{}", stderr(&output));
    // Bytes in the middle that are something else.
    let mut changed = whole.clone();
    changed[whole.len() - 40] ^= 0xff;
    folder.write("changed.trace", &changed);
    let (report, code) = checked(&folder, &["changed.trace", "--monitor", "velodrome"]);
    assert_eq!((outline(&report).len(), code), (0, Some(2)), "{report:#}");

    // Text that is not understood: the events before it are checked, and the exit code is 2 without findings.
    folder.write("wrong.txt", format!("{DEPOSITS}t1 raed x\n").as_bytes());
    let (report, code) = checked(&folder, &["wrong.txt", "--monitor", "velodrome"]);
    assert_eq!((outline(&report).len(), code), (1, Some(1)));
    assert!(report["remarks"][0].as_str().unwrap().contains("line 12, column 4: `raed`"));
    folder.write("wrong.txt", format!("t1 raed x\n{DEPOSITS}").as_bytes());
    let output = folder.trace(&["wrong.txt", "--monitor", "velodrome", "--no-config"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read the trace `wrong.txt`: line 1"));
}

#[test]
fn names_in_a_trace_do_not_control_a_terminal() {
    let folder = Folder::new();
    let hostile = "\u{1b}]0;title\u{7}\u{9b}2J";
    let text = format!("t1{hostile} fork t2\nt1{hostile} wr x{hostile}\nt2 wr x{hostile}\n");
    folder.write("hostile.txt", text.as_bytes());
    folder.write("wrong.txt", format!("t1 {hostile} x\n").as_bytes());
    for trace in ["hostile.txt", "wrong.txt"] {
        let output = folder.trace(&[trace, "--monitor", "happens-before", "--no-config"]);
        let said = [stderr(&output), String::from_utf8(output.stdout).unwrap()].concat();
        assert!(
            said.contains('\u{fffd}') && !said.contains(['\u{1b}', '\u{7}', '\u{9b}']),
            "{said:?}"
        );
    }
}

#[test]
fn what_hooks_could_not_report_is_a_gap() {
    let folder = Folder::new();
    folder.write("missed.txt", b"t1 rd x\nt1 missed\nt2 missed\nt2 rd x\n");
    let (report, code) = checked(&folder, &["missed.txt", "--monitor", "velodrome"]);
    assert_eq!(code, Some(0), "{report:#}");
    let gap = &report["gaps"][0];
    assert_eq!((&gap["kind"], &gap["count"]), (&"lost-events".into(), &2.into()), "{report:#}");
    assert!(
        folder.printed(&["missed.txt", "--stats"]).contains("reports that hooks could not make")
    );
}

#[test]
fn findings_need_a_checker_and_checkers_a_trace() {
    let folder = Folder::new();
    for (arguments, why) in [
        (&["--stats", "--level", "high"][..], "apply to findings: give `--monitor`"),
        (&["--stats", "--format", "sarif"], "`--format sarif` is for findings"),
        (&["--to", "text", "--baseline", "b"], "apply to findings"),
        (&["--stats", "--learn-spec", "s.toml"], "apply to findings"),
        (&["--monitor", "none"], "invalid value 'none'"),
        (&["--monitor", "velodrom"], "'velodrome'"),
        (&["--monitor", "velodrome", "--stats"], "cannot be used with"),
        (&["--monitor", "velodrome", "--config", "missing.toml"], "missing.toml"),
        (&["--monitor", "velodrome", "--no-config", "--learn-spec", "."], "it is a directory"),
    ] {
        let said = folder.refused(&[&["run.txt"], arguments].concat());
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn a_trace_teaches_which_methods_are_not_atomic() {
    let folder = Folder::new();
    // Two methods that are split, one inside the other, and one that is not.
    let nested = "\
t1 begin Bank.transfer @ Bank.java:10
t1 begin Account.withdraw @ Account.java:20
t1 rd acc.balance @ Account.java:21
t2 begin Account.audit @ Account.java:30
t2 wr acc.balance @ Account.java:31
t2 end
t1 wr acc.balance @ Account.java:22
t1 end
t1 end
t3 begin Bank.count @ Bank.java:40
t3 rd total.sum @ Bank.java:41
t3 end
";
    folder.write("run.txt", nested.as_bytes());
    folder.write("scission.toml", b"[[suppress]]\npattern = \"Never\"\nreason = \"not here\"\n");
    let learn =
        ["run.txt", "--monitor", "velodrome", "--learn-spec", "learned.toml", "--learn-runs", "1"];
    let output = folder.trace(&learn);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("note: runs with `learned.toml` exclude `").count(), 2);
    let learned = String::from_utf8(folder.read("learned.toml")).unwrap();
    for entry in ["Account.withdraw", "Bank.transfer"] {
        assert!(learned.contains(&format!("\n    \"{entry}\",\n")), "{learned}");
    }
    let evidence = "    # not-serializable: Account.java:21, then Account.java:22\n    # hides: `Account.withdraw` is not atomic";
    assert_eq!(learned.matches(evidence).count(), 2, "{learned}");
    // With the learned specification, the same trace has no findings and adds nothing.
    let output = folder.trace(&learn);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert_eq!(String::from_utf8(folder.read("learned.toml")).unwrap(), learned);
    // The configuration excludes as well.
    folder.write("scission.toml", b"[atomic]\nexclude = [\"Account.withdraw\", \"Bank\"]\n");
    let output = folder.trace(&["run.txt", "--monitor", "velodrome"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // A file that is more than that is neither used nor touched.
    folder.write("learned.toml", b"paths = [\"build\"]\n");
    let said = folder.refused(&learn);
    assert!(said.contains("cannot use the learned specification `learned.toml`"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(folder.read("learned.toml"), b"paths = [\"build\"]\n");
}

//! `scission check` as a user meets it: good programs and bad input.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Two classes, one with a defect.
const SOURCE: &str = "
    package shop;
    class Stock {
        private int amount;
        synchronized int amount() { return amount; }
        synchronized void take(int n) { amount -= n; }
    }
    public class Shop {
        public synchronized boolean sell(Stock stock, int n) {
            if (stock.amount() < n) {
                return false;
            }
            stock.take(n);
            return true;
        }
    }
";

fn scission(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scission"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory with the compiled program in `classes` and in `shop.jar`.
fn program() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let source = directory.path().join("Shop.java");
    fs::write(&source, SOURCE).expect("the source can be written");
    run("javac", &["-g", "-d", "classes", "Shop.java"], directory.path());
    run("jar", &["cf", "shop.jar", "-C", "classes", "."], directory.path());
    directory
}

fn run(command: &str, arguments: &[&str], directory: &Path) {
    let status = Command::new(command)
        .args(arguments)
        .current_dir(directory)
        .status()
        .unwrap_or_else(|error| panic!("{command} of a JDK is needed on the path: {error}"));
    assert!(status.success(), "{command} {arguments:?}");
}

/// One sentence: one line that names what is wrong and where.
fn assert_one_sentence(output: &Output, about: &str) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.contains(about), "{error}");
}

#[test]
fn without_debug_information_parameters_are_named_by_position_and_type() {
    let directory = program();
    run("javac", &["-g:none", "-d", "stripped", "Shop.java"], directory.path());
    let report = text(&scission(&["check", "stripped"], directory.path()).stdout);
    let lock = "`the first parameter (of type Stock)`";
    assert!(report.contains(&format!("`shop.Shop.sell` releases {lock} too early")), "{report}");
    let value = "`Stock.amount of the first parameter (of type Stock)`";
    assert!(report.contains(&format!("{value} is read under {lock}")), "{report}");
    assert!(!report.contains("parameter 1") && !report.contains("local variable"), "{report}");
}

#[test]
fn a_defect_is_exit_code_one_with_and_without_a_jdk() {
    let directory = program();
    for jdk in [&[][..], &["--jdk", "none"]] {
        for input in ["classes", "shop.jar", "classes/shop/Shop.class:classes/shop/Stock.class"] {
            let arguments = [&["check", input][..], jdk].concat();
            let output = scission(&arguments, directory.path());
            let report = text(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stderr));
            assert!(report.contains("`shop.Shop.sell` releases `stock` too early"), "{report}");
            assert!(report.contains("`shop.Shop.sell` relies on a stale value"), "{report}");
            assert!(report.contains("2 findings"), "{report}");
        }
    }
}

#[test]
fn exclude_and_include_choose_what_is_reported() {
    let directory = program();
    let code = |arguments: &[&str]| scission(arguments, directory.path()).status.code();
    assert_eq!(code(&["check", "classes", "--exclude", "shop.Shop"]), Some(0));
    assert_eq!(code(&["check", "classes", "--exclude", "shop.**.buy"]), Some(1));
    assert_eq!(code(&["check", "classes", "--include", "shop.Stock"]), Some(0));
    assert_eq!(code(&["check", "classes", "--include", "shop.Shop.sell"]), Some(1));
    assert_eq!(code(&["check", "classes", "--rule", "reacquired-lock-pair"]), Some(0));
    // An entry point loses no finding, and one that matches nothing is an error.
    assert_eq!(code(&["check", "classes", "--entry-point", "shop.Stock.*"]), Some(1));
    assert_eq!(code(&["check", "classes", "--entry-point", "shop.Shop.*"]), Some(1));
    assert_eq!(code(&["check", "classes", "--entry-point", "shop.Shp.sell"]), Some(2));
    for algorithm in ["cha", "rta", "vta"] {
        assert_eq!(code(&["check", "classes", "--call-graph", algorithm]), Some(1));
    }
}

/// A method that a class inherits, and one that callers cannot call.
const INHERITED: &str = "
    package shop;
    class Counted {
        private int uses;
        public void use() { uses++; check(); }
        private void check() { }
    }
    class Till extends Counted { }
";

#[test]
fn a_report_says_which_methods_are_entry_points() {
    let directory = program();
    fs::write(directory.path().join("Till.java"), INHERITED).expect("the source can be written");
    run("javac", &["-g", "-d", "till", "Till.java"], directory.path());
    let check = |entry: &str| {
        let output = scission(&["check", "till", "--entry-point", entry], directory.path());
        (output.status.code(), text(&output.stdout))
    };
    let (code, report) = check("shop.Till.use");
    assert_eq!(code, Some(1), "{report}");
    assert!(
        report.starts_with("threads: `shop.Counted.use` named by `shop.Till.use`\n"),
        "{report}"
    );
    assert!(report.contains("`Counted.uses`"), "{report}");
    let (code, report) = check("shop.Counted.check");
    assert_eq!(code, Some(2), "{report}");
}

#[test]
fn the_same_run_twice_gives_the_same_bytes() {
    let directory = program();
    for format in ["text", "json", "sarif"] {
        let report = || {
            let output = scission(&["check", "shop.jar", "--format", format], directory.path());
            text(&output.stdout)
        };
        assert_eq!(report(), report());
        let here = directory.path().to_string_lossy().into_owned();
        assert!(!report().contains(&here), "no absolute path in {format}");
    }
}

#[test]
fn fingerprints_survive_moved_lines() {
    let directory = program();
    let fingerprint = || {
        let output = scission(&["check", "classes", "--format", "json"], directory.path());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["findings"][0]["fingerprint"].clone()
    };
    let before = fingerprint();
    let moved = SOURCE.replace("boolean sell", "void more() { }\n\n\n synchronized boolean sell");
    fs::write(directory.path().join("Shop.java"), moved).expect("the source can be written");
    run("javac", &["-g", "-d", "classes", "Shop.java"], directory.path());
    assert_eq!(before, fingerprint());
}

#[test]
fn bad_input_is_one_sentence_and_exit_code_two() {
    let directory = program();
    let path = directory.path();
    assert_one_sentence(&scission(&["check", "missing.jar"], path), "missing.jar");
    fs::write(path.join("empty.jar"), b"").expect("the file can be written");
    assert_one_sentence(&scission(&["check", "empty.jar"], path), "empty.jar");
    fs::write(path.join("notes.txt"), b"hello").expect("the file can be written");
    assert_one_sentence(&scission(&["check", "notes.txt"], path), "notes.txt");
    assert_one_sentence(&scission(&["check", "classes", "--jdk", "classes"], path), "JDK");
    assert_one_sentence(&scission(&["check", "jrt:java.none"], path), "java.none");
    assert_one_sentence(&scission(&["inspect", "classes", "shop.Shop.buy"], path), "shop.Shop.buy");
}

#[test]
fn a_broken_class_is_a_gap_and_the_rest_is_analysed() {
    let directory = program();
    let path = directory.path();
    let good = fs::read(path.join("classes/shop/Stock.class")).expect("it was compiled");
    fs::write(path.join("classes/shop/Cut.class"), &good[..good.len() / 2]).expect("writable");
    let mut future = good.clone();
    future[6..8].copy_from_slice(&99_u16.to_be_bytes());
    // Another name of the same length, so that it is no duplicate.
    let at = future.windows(10).position(|bytes| bytes == b"shop/Stock").expect("its own name");
    future[at..at + 10].copy_from_slice(b"shop/Later");
    fs::write(path.join("classes/shop/Later.class"), &future).expect("writable");
    let output = scission(&["check", "classes", "--verbose"], path);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("releases `stock` too early"), "{report}");
    assert!(report.contains("Cut.class") && report.contains("byte"), "{report}");
    assert!(report.contains("Later.class") && report.contains("99"), "{report}");
}

#[test]
fn a_truncated_jar_gives_what_can_be_read() {
    let directory = program();
    let path = directory.path();
    let whole = fs::read(path.join("shop.jar")).expect("it was made");
    // Without the central directory at its end.
    let end = whole.windows(4).position(|bytes| bytes == b"PK\x01\x02").expect("a directory");
    fs::write(path.join("cut.jar"), &whole[..end]).expect("writable");
    let output = scission(&["check", "cut.jar"], path);
    let report = text(&output.stdout);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{report}{said}");
    assert!(report.contains("releases `stock` too early"), "{report}");
    assert!(report.contains("cut.jar"), "the loss is listed: {report}");
    assert!(said.contains("error: `cut.jar` is damaged, so not all of it was analysed"), "{said}");
}

#[test]
fn without_classes_nothing_is_checked_and_that_is_no_success() {
    let directory = program();
    let path = directory.path();
    let whole = fs::read(path.join("shop.jar")).expect("it was made");
    fs::write(path.join("cut.jar"), &whole[..100]).expect("writable");
    fs::create_dir_all(path.join("src")).expect("a directory can be made");
    fs::write(path.join("src/Shop.java"), SOURCE).expect("writable");
    for (input, why) in [
        ("cut.jar", "error: cannot read `cut.jar`: "),
        ("src", "error: there are no class files in `src`: name a jar, or a directory of compiled"),
    ] {
        let output = scission(&["check", input], path);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(why) && said.lines().count() == 1, "{said}");
        assert_eq!(text(&output.stdout), "");
    }
}

/// An interpreter: each instruction reads a shared register under the lock and mixes it with what others have read.
fn interpreter(instructions: usize, registers: usize) -> String {
    let mut source = String::from("package vm;\npublic class Interpreter {\n");
    for register in 0..registers {
        source += &format!("    private int f{register};\n");
    }
    source += "    public int execute(int[] code, int pc) {\n";
    for register in 0..registers {
        source += &format!("        int r{register} = 0;\n");
    }
    source += "        while (pc < code.length) {\n            switch (code[pc++]) {\n";
    for instruction in 0..instructions {
        let (to, from) = (instruction % registers, instruction * 7 % registers);
        source += &format!(
            "                case {instruction}: synchronized (this) {{ r{to} = f{to} + r{from}; f{from} = r{from}; }} \
             break;\n"
        );
    }
    source
        + "                default: return r0;\n            }\n        }\n        return r1;\n    }\n}\n"
}

#[test]
fn a_method_with_very_many_paths_is_a_gap_and_the_analysis_ends() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let source = directory.path().join("Interpreter.java");
    fs::write(&source, interpreter(300, 40)).expect("the source can be written");
    run("javac", &["-g", "-d", "classes", "Interpreter.java"], directory.path());
    let output = scission(&["check", "classes", "--verbose"], directory.path());
    let report = text(&output.stdout);
    let said = "vm.Interpreter.execute([II)I: has too many paths between its locks";
    assert!(report.contains(said), "{report}{}", text(&output.stderr));
}

#[test]
fn sources_make_excerpts() {
    let directory = program();
    fs::create_dir_all(directory.path().join("src/shop")).expect("a directory can be made");
    let source = directory.path().join("src/shop/Shop.java");
    fs::write(source, SOURCE).expect("the source can be written");
    let output = scission(&["check", "shop.jar", "--source", "src"], directory.path());
    let report = text(&output.stdout);
    assert!(report.contains("if (stock.amount() < n)"), "{report}");
    assert!(report.contains("^^^"), "{report}");
}

#[test]
fn inspect_shows_a_method_in_every_form() {
    let directory = program();
    let show = |arguments: &[&str]| {
        let all = [&["inspect", "classes"][..], arguments].concat();
        let output = scission(&all, directory.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let body = show(&["shop.Shop.sell"]);
    assert!(
        body.contains("synchronized") && body.contains("call virtual shop.Stock.take"),
        "{body}"
    );
    assert!(body.contains("callees of shop.Shop.sell") && body.contains("shop.Stock.amount"));
    assert!(show(&["shop.Stock.take", "--callers"]).contains("shop.Shop.sell"));
    assert!(show(&["shop.Shop.sell", "--dot"]).starts_with("digraph"));
    assert!(show(&["--threads"]).contains("<PUBLIC, many, {shop.Shop}>"));
    let named = show(&["--threads", "--entry-point", "shop.Shop.sell"]);
    assert!(
        named.contains("<CLIENT, many") && named.contains("begins at shop.Shop.sell"),
        "{named}"
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let directory = program();
    let mut child = Command::new(env!("CARGO_BIN_EXE_scission"))
        .args(["check", "shop.jar"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stderr), "");
    std::io::stdout().flush().expect("our own output is open");
}

//! `scission check` in a project that has decided things: its configuration, what it suppresses, the
//! levels it wants and the baseline it keeps.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A finding of medium severity in `Shop.sell`, and a low one in `Shop.guess`, which needs a guess at
/// what a supplier is.
const SHOP: &str = "
    package shop;
    import java.util.function.Supplier;
    class Stock {
        private int amount;
        synchronized int amount() { return 7; }
        synchronized void take(int n) { amount -= n; }
    }
    interface Shelf { int left(); }
    class LockedShelf implements Shelf {
        public synchronized int left() { return 1; }
    }
    class OpenShelf implements Shelf {
        public int left() { return 2; }
    }
    public class Shop {
        public synchronized boolean sell(Stock stock, int n) {
            if (stock.amount() < n) {
                return false;
            }
            stock.take(n);
            return true;
        }
        public synchronized int guess(Shelf shelf) {
            int before = shelf.left();
            int after = shelf.left();
            return after - before;
        }
        static Shelf[] all() { return new Shelf[] { new LockedShelf(), new OpenShelf() }; }
    }
";

const SELL: &str = "`shop.Shop.sell` releases `stock` too early";
const GUESS: &str = "`shop.Shop.guess` releases";

/// A directory with a compiled program and what a test puts beside it.
struct Project(TempDir);

impl Project {
    fn new(source: &str) -> Project {
        let project = Project(tempfile::tempdir().expect("a temporary directory can be made"));
        project.compile(source);
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).expect("a directory can be made");
        fs::write(file, text).expect("the file can be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("the file is there")
    }

    /// Replaces the program.
    fn compile(&self, source: &str) {
        let _ = fs::remove_dir_all(self.path().join("classes"));
        self.write("Source.java", &source.replace("public class", "class"));
        let status = Command::new("javac")
            .args(["-g", "-d", "classes", "Source.java"])
            .current_dir(self.path())
            .status()
            .expect("javac of a JDK is needed on the path");
        assert!(status.success(), "javac");
    }

    /// Runs `scission check`, in a directory of the project. Without a JDK it is fast, and that is the
    /// one gap of each report.
    fn check_in(&self, directory: &str, arguments: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_scission"))
            .args(["check", "--jdk", "none"])
            .args(arguments)
            .current_dir(self.path().join(directory))
            .output()
            .expect("the binary runs");
        Run(output)
    }

    /// The same at its root, with everything shown unless somebody says otherwise.
    fn check(&self, arguments: &[&str]) -> Run {
        let configuration = fs::read_to_string(self.path().join("scission.toml"));
        let is_said = arguments.contains(&"--level")
            || configuration.is_ok_and(|text| text.contains("level"));
        let shown = if is_said { &[][..] } else { &["--level", "low"] };
        self.check_in(".", &[arguments, shown].concat())
    }

    /// The JSON report.
    fn json(&self, arguments: &[&str]) -> Value {
        let run = self.check(&[arguments, &["--format", "json"]].concat());
        serde_json::from_slice(&run.0.stdout).expect("the report is JSON")
    }

    /// Refused in one sentence, before anything was reported.
    fn assert_refused(&self, arguments: &[&str], said: &str) {
        let run = self.check(arguments);
        assert_eq!(run.code(), 2, "{arguments:?}: {}", run.stderr());
        assert_eq!(run.stderr().trim_end().lines().count(), 1, "{}", run.stderr());
        assert!(run.stderr().contains(said), "{}\ndoes not say\n{said}", run.stderr());
        assert_eq!(run.stdout(), "");
    }
}

struct Run(Output);

impl Run {
    fn code(&self) -> i32 {
        self.0.status.code().expect("it ended by itself")
    }

    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    fn assert(&self, code: i32, said: &[&str], not_said: &[&str]) {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        assert_eq!(self.code(), code, "{stdout}{stderr}");
        for text in said {
            assert!(stdout.contains(text), "`{text}` is missing from\n{stdout}{stderr}");
        }
        for text in not_said {
            assert!(!stdout.contains(text), "`{text}` should not be in\n{stdout}");
        }
    }
}

#[test]
fn the_nearest_configuration_is_found_from_below() {
    let project = Project::new(SHOP);
    project.write("scission.toml", "paths = [\"classes\"]\nsource = [\"src\"]\n");
    project.write("src/shop/Source.java", &project.read("Source.java"));
    project.write("sub/deeper/empty", "");
    project.check(&[]).assert(1, &[SELL, "if (stock.amount() < n)"], &[]);
    project.check_in("sub/deeper", &[]).assert(1, &[SELL, "if (stock.amount() < n)"], &[]);
    let verbose = project.check_in("sub/deeper", &["--verbose"]);
    assert!(
        verbose.stderr().contains("configuration: ../../scission.toml"),
        "{}",
        verbose.stderr()
    );

    project.write("sub/scission.toml", "paths = [\"../classes\"]\nexclude = [\"shop.Shop\"]\n");
    project.check_in("sub/deeper", &[]).assert(0, &["nothing found"], &[]);
    project.check_in("sub/deeper", &["--config", "../../scission.toml"]).assert(1, &[SELL], &[]);
    project.check_in("sub", &["../classes", "--no-config"]).assert(1, &[SELL], &[]);
}

#[test]
fn the_command_line_wins_over_the_file() {
    let project = Project::new(SHOP);
    project.write(
        "scission.toml",
        "paths = [\"nowhere\"]\nrules = [\"reacquired-lock-pair\"]\nfail-on = \"never\"\n\
         include = [\"shop.Stock\"]\nexclude = [\"shop.Shop.guess\"]\nlevels.default = \"high\"\n",
    );
    project.assert_refused(&[], "nowhere");
    let line = ["classes", "--rule", "reacquired-lock", "--level", "low", "--include", "shop.Shop"];
    project.check(&line).assert(0, &[SELL], &[GUESS]);
    let line = [&line[..], &["--exclude", "shop.Shop.sell", "--fail-on", "low"]].concat();
    project.check(&line).assert(0, &["nothing found"], &[SELL, GUESS]);
}

#[test]
fn a_wrong_configuration_is_one_sentence() {
    let project = Project::new(SHOP);
    for (text, said) in [
        (
            "paths = [\"classes\"]\n\nexlude = [\"a\"]\n",
            "error: unknown key `exlude` at scission.toml:3; did you mean `exclude`?",
        ),
        ("paths = \"classes\"", "`paths` at scission.toml:1: expected list of paths, found string"),
        ("rules = [\"reaquired-lock\"]", "did you mean `reacquired-lock`?"),
        ("[levels]\nstale-value = \"hgih\"", "`hgih` at scission.toml:2; did you mean `high`?"),
        ("[[suppress]]\npattern = \"shop\"\n", "`[[suppress]]` at scission.toml:1 has no `reason`"),
        ("paths = [", "scission.toml:1 is not TOML"),
        ("strict = true", "name `paths` in scission.toml"),
    ] {
        project.write("scission.toml", text);
        project.assert_refused(&[], said);
    }
    fs::write(project.path().join("scission.toml"), b"paths = [\"\xff\"]").unwrap();
    project.assert_refused(&["classes"], "it is not UTF-8 text");
    fs::remove_file(project.path().join("scission.toml")).unwrap();
    project.assert_refused(&[], "give a PATH");
    project.assert_refused(&["classes", "--config", "other.toml"], "there is no such file");
    project.assert_refused(&["classes", "--config", "classes"], "it is a directory");
    project.write("scission.toml/in", "");
    project.assert_refused(&["classes"], "`scission.toml`: it is a directory");
    project.check(&["classes", "--no-config"]).assert(1, &[SELL], &[]);
    let bad_pattern = project.check(&["classes", "--exclude", "shop.Shop.sell()"]);
    assert_eq!(bad_pattern.code(), 2);
}

#[test]
fn code_scanning_services_find_the_files() {
    let project = Project::new(SHOP);
    project.write("module/src/shop/Source.java", &project.read("Source.java"));
    let sarif = project.check(&["classes", "--source", "module/src", "--format", "sarif"]);
    let log: Value = serde_json::from_slice(&sarif.0.stdout).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = &location["artifactLocation"]["uri"];
    assert_eq!(*uri, "module/src/shop/Source.java", "{location:#}");
    let base = location["artifactLocation"]["uriBaseId"].as_str().unwrap();
    assert!(log["runs"][0]["originalUriBaseIds"][base].is_object(), "{base}");
    // Where nobody knows where the sources lie, and where they lie outside, it is the path below the package's root.
    let outside = project.path().join("module/src").display().to_string();
    for flags in [&[][..], &["--source", &outside]] {
        let sarif = project.check(&[&["classes", "--format", "sarif"], flags].concat());
        let log: Value = serde_json::from_slice(&sarif.0.stdout).unwrap();
        let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "shop/Source.java", "{location:#}");
    }
}

#[test]
fn a_level_hides_and_counts_what_matters_less() {
    let project = Project::new(SHOP);
    project.check(&["classes"]).assert(
        1,
        &[
            "warning[reacquired-lock]",
            "note[reacquired-lock]",
            "2 findings (1 medium, 1 low), 5 gaps",
        ],
        &["not shown"],
    );
    let medium = project.check(&["classes", "--level", "medium"]);
    let counted = "1 finding (1 medium), 1 of low severity not shown, 5 gaps";
    medium.assert(1, &[SELL, counted, "`--level low` shows everything"], &[GUESS]);
    project.check(&["classes", "--level", "high"]).assert(
        0,
        &["nothing found, 1 of medium severity not shown, 1 of low severity not shown"],
        &[SELL, GUESS],
    );
    let report = project.json(&["classes", "--level", "medium"]);
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["below_level"]["low"], 1);
    let sarif = project.check(&["classes", "--level", "high", "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&sarif.0.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 0);

    project.write("scission.toml", "[levels]\ndefault = \"low\"\nreacquired-lock = \"medium\"\n");
    project.check(&["classes"]).assert(1, &[counted], &[GUESS]);
    project.check(&["classes", "--level", "low"]).assert(1, &[GUESS], &[]);
}

#[test]
fn fail_on_decides_what_fails() {
    let project = Project::new(SHOP);
    let code = |arguments: &[&str]| project.check(&[&["classes"], arguments].concat()).code();
    assert_eq!(code(&["--fail-on", "low"]), 1);
    assert_eq!(code(&["--fail-on", "medium"]), 1);
    assert_eq!(code(&["--fail-on", "high"]), 0);
    assert_eq!(code(&["--fail-on", "never"]), 0);
    assert_eq!(code(&["--fail-on", "medium", "--exclude", "shop.Shop.sell"]), 0);
    assert_eq!(code(&["--fail-on", "low", "--exclude", "shop.Shop.sell"]), 1);
    project.check(&["classes", "--fail-on", "never"]).assert(0, &[SELL, GUESS, "2 findings"], &[]);
}

#[test]
fn suppressed_findings_are_counted_and_listed_with_their_reason() {
    let project = Project::new(SHOP);
    project.write(
        "scission.toml",
        "paths = [\"classes\"]\n\
         [[suppress]]\npattern = \"shop.Shop.sell\"\nrule = \"reacquired-lock\"\nreason = \"one till\"\n\
         [[suppress]]\npattern = \"shop.Shop.guess\"\nreason = \"only a guess\"\n\
         [[suppress]]\npattern = \"shop.Gone\"\nreason = \"was needed once\"\n",
    );
    let dead =
        "warning: the suppression of `shop.Gone` at scission.toml:9 matches nothing: remove it";
    project.check(&[]).assert(0, &["nothing found, 2 suppressed, 5 gaps", dead], &[SELL, GUESS]);
    project.check(&["--verbose"]).assert(
        0,
        &[
            "note: 2 findings suppressed",
            SELL,
            "; reason: one till\n",
            GUESS,
            "; reason: only a guess\n",
            dead,
        ],
        &["warning[", "note["],
    );
    let quiet = project.check(&["--quiet"]);
    assert_eq!((quiet.code(), quiet.stdout(), quiet.stderr()), (0, String::new(), String::new()));

    let report = project.json(&[]);
    let reasons: Vec<&Value> =
        report["suppressed"].as_array().unwrap().iter().map(|entry| &entry["reason"]).collect();
    assert_eq!(reasons, ["one till", "only a guess"]);
    assert!(report["remarks"][0].as_str().unwrap().contains("shop.Gone"));
    let sarif = project.check(&["--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&sarif.0.stdout).unwrap();
    let suppression = &sarif["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!(
        (&suppression["kind"], &suppression["justification"]),
        (&"external".into(), &"one till".into())
    );

    // A check of less than the whole project cannot tell which suppressions are unused.
    project.check(&["classes/shop/Stock.class"]).assert(0, &["nothing found"], &[dead]);
    project.check(&["--exclude", "shop.Stock"]).assert(0, &["2 suppressed"], &[dead]);
    project.check(&["--rule", "reacquired-lock-pair"]).assert(0, &["nothing found"], &[dead]);
}

#[test]
fn a_suppression_of_another_rule_or_class_leaves_the_finding() {
    let project = Project::new(SHOP);
    project.write(
        "scission.toml",
        "[[suppress]]\npattern = \"shop.Shop\"\nrule = \"stale-value\"\nreason = \"r\"\n\
         [[suppress]]\npattern = \"shop.Sho\"\nreason = \"r\"\n",
    );
    project.check(&["classes"]).assert(
        1,
        &[SELL, GUESS, "scission.toml:1", "scission.toml:5"],
        &["suppressed"],
    );
}

/// The defect in many places, annotated in all the ways that are understood.
const ANNOTATED: &str = "
    package notes;
    import java.lang.annotation.*;
    @Retention(RetentionPolicy.RUNTIME) @interface NotThreadSafe { }
    @Retention(RetentionPolicy.CLASS) @interface ThreadConfined { }
    @Retention(RetentionPolicy.CLASS) @interface ThreadSafe { }
    @Retention(RetentionPolicy.CLASS) @interface SuppressFindings {
        String[] value() default { };
        String reason() default \"\";
    }
    class Stock {
        synchronized int amount() { return 1; }
        synchronized void take() { }
    }
    class Plain {
        synchronized void plain(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        @ThreadConfined synchronized void confined(Stock stock) {
            if (stock.amount() > 0) { stock.take(); }
        }
        @SuppressFindings(value = \"reacquired-lock\", reason = \"the lock is ours\")
        synchronized void named(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        @SuppressFindings(reason = \"the field says so\") private final Stock ours = new Stock();
        synchronized void field() { if (ours.amount() > 0) { ours.take(); } }
        @SuppressFindings(\"stale-value\")
        synchronized void otherRule(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        @SuppressFindings(\"reaquired-lock\")
        synchronized void misspelled(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        @ThreadConfined void lambda(Stock stock) {
            Runnable task = () -> { synchronized (this) { if (stock.amount() > 0) { stock.take(); } } };
            task.run();
        }
        @ThreadConfined void anonymous(Stock stock) {
            new Object() {
                synchronized void inside() { if (stock.amount() > 0) { stock.take(); } }
            }.inside();
        }
    }
    @NotThreadSafe class Outer {
        static class Inner {
            synchronized void inner(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        }
    }
    @ThreadSafe class Promise {
        synchronized void promised(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        static class Inside {
            synchronized void unpromised(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
        }
    }
    @SuppressFindings class Everything {
        synchronized void everything(Stock stock) { if (stock.amount() > 0) { stock.take(); } }
    }
";

#[test]
fn annotations_silence_and_raise() {
    let project = Project::new(ANNOTATED);
    let report = project.json(&["classes"]);
    let found = |finding: &Value| {
        let part = |name: &str| finding["blame"][name].as_str().unwrap().to_string();
        let severity = finding["severity"].as_str().unwrap();
        format!("{}.{} {severity}", part("class"), part("method"))
    };
    let mut shown: Vec<String> = report["findings"].as_array().unwrap().iter().map(found).collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "notes.Plain.misspelled medium",
            "notes.Plain.otherRule medium",
            "notes.Plain.plain medium",
            "notes.Promise$Inside.unpromised medium",
            "notes.Promise.promised high",
        ]
    );
    let mut suppressed: Vec<String> = report["suppressed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            assert_eq!(entry["by"], "annotation");
            let method = &entry["finding"]["blame"]["method"];
            format!("{}: {}", method.as_str().unwrap(), entry["reason"].as_str().unwrap())
        })
        .collect();
    suppressed.sort();
    assert_eq!(
        suppressed,
        [
            "confined: `@ThreadConfined` on `notes.Plain.confined`",
            "everything: `@SuppressFindings` on `notes.Everything`",
            "field: the field says so",
            "inner: `@NotThreadSafe` on `notes.Outer`",
            "inside: `@ThreadConfined` on `notes.Plain.anonymous`",
            "lambda$lambda$0: `@ThreadConfined` on `notes.Plain.lambda`",
            "named: the lock is ours",
        ]
    );
    assert_eq!(
        report["remarks"][0],
        "`@SuppressFindings` on `notes.Plain.misspelled` names `reaquired-lock`, which is no rule"
    );
    let text = project.check(&["classes"]);
    text.assert(1, &["error[reacquired-lock]: `notes.Promise.promised`", "7 suppressed"], &[]);
    let sarif = project.check(&["classes", "--format", "sarif"]);
    assert!(sarif.stdout().contains("\"kind\": \"inSource\""));
}

#[test]
fn a_baseline_survives_everything_but_a_new_defect() {
    let project = Project::new(SHOP);
    let written = project.check(&["classes", "--write-baseline", "known.json"]);
    // What is written down is known from now on, and is no reason to fail.
    written.assert(0, &[SELL, GUESS, "2 findings"], &[]);
    let nothing_new = |why: &str| {
        let run = project.check(&["classes", "--baseline", "known.json"]);
        assert_eq!(run.code(), 0, "{why}: {}{}", run.stdout(), run.stderr());
        run.assert(0, &["nothing new, 2 in the baseline, 5 gaps"], &[SELL, GUESS, "gone"]);
    };
    nothing_new("the same program");

    project.compile(&SHOP.replace(
        "public synchronized boolean sell",
        "// a comment\n\n\n void more() { Runnable r = () -> { }; r.run(); }\n\n\
         public synchronized boolean sell",
    ));
    nothing_new("moved lines, and a new method above");

    let renamed = SHOP
        .replace("(Stock stock, int n)", "(Stock shelves, int wanted)")
        .replace("stock.amount() < n", "shelves.amount() < wanted")
        .replace("stock.take(n)", "shelves.take(wanted)")
        .replace("Shelf shelf", "Shelf board")
        .replace("shelf.left()", "board.left()")
        .replace("int before", "int earlier")
        .replace("after - before", "after - earlier");
    project.compile(&renamed);
    nothing_new("renamed locals and parameters");

    let start = SHOP.find("        public synchronized int guess").unwrap();
    let end = SHOP.find("        static Shelf[] all()").unwrap();
    let guess = &SHOP[start..end];
    let sell = "        public synchronized boolean sell";
    project.compile(&SHOP.replace(guess, "").replace(sell, &format!("{guess}{sell}")));
    nothing_new("methods in another order");

    let second = "public synchronized void clear(Stock stock) {\n\
                  if (stock.amount() > 0) {\n stock.take(stock.amount());\n }\n }\n";
    let worse = SHOP.replace("static Shelf[] all()", &format!("{second} static Shelf[] all()"));
    project.compile(&worse);
    let run = project.check(&["classes", "--baseline", "known.json"]);
    let new = "`shop.Shop.clear` releases `stock` too early";
    run.assert(1, &[new, "2 in the baseline"], &[SELL, GUESS, "gone"]);
    project.check(&["classes", "--baseline", "known.json", "--fail-on", "high"]).assert(
        0,
        &[new],
        &[],
    );

    let fixed = SHOP.replace("stock.take(n);", "");
    project.compile(&fixed);
    let run = project.check(&["classes", "--baseline", "known.json"]);
    run.assert(0, &["nothing new, 1 in the baseline, 1 no longer found"], &[SELL]);
    project.check(&["classes", "--baseline", "known.json", "--verbose"]).assert(
        0,
        &["note: 1 finding of the baseline no longer found\n  shop.Shop.sell(shop.Stock, int): [reacquired-lock] `shop.Shop.sell` releases"],
        &[],
    );
    // It was not searched for: it may still exist.
    let others = ["classes", "--baseline", "known.json", "--rule", "reacquired-lock-pair"];
    project.check(&others).assert(0, &["nothing new, 0 in the baseline, 1 gap"], &["gone"]);
    let others = ["classes", "--baseline", "known.json", "--exclude", "shop.Shop"];
    project.check(&others).assert(0, &["nothing new, 0 in the baseline, 5 gaps"], &["gone"]);
}

/// Locks that are known by a local variable, a captured one, or a field of one.
const LOCALS: &str = "
    class Stock {
        Stock other;
        synchronized int amount() { return 1; }
        synchronized void take() { }
        static Stock find() { return new Stock(); }
    }
    class Locals {
        private Stock kept;
        synchronized void field() { if (kept.amount() > 0) { kept.take(); } }
        synchronized void called() {
            Stock found = Stock.find();
            if (found.amount() > 0) { found.take(); }
        }
        synchronized void below(Stock first) {
            if (first.other.amount() > 0) { first.other.take(); }
        }
        synchronized void element(Stock[] all, int at) {
            if (all[at].amount() > 0) { all[at].take(); }
        }
        void captured(Stock taken) {
            Runnable task = new Runnable() {
                public synchronized void run() { if (taken.amount() > 0) { taken.take(); } }
            };
            task.run();
        }
        void inLambda(Stock handed) {
            Runnable task = () -> {
                synchronized (this) { if (handed.amount() > 0) { handed.take(); } }
            };
            task.run();
        }
    }
";

#[test]
fn fingerprints_do_not_depend_on_the_names_of_locals() {
    let project = Project::new(LOCALS);
    let fingerprints = || {
        let report = project.json(&["classes"]);
        let findings = report["findings"].as_array().unwrap().iter();
        let mut all: Vec<String> =
            findings.map(|finding| finding["fingerprint"].as_str().unwrap().to_string()).collect();
        all.sort();
        all
    };
    let before = fingerprints();
    assert_eq!(before.len(), 6);
    let mut renamed = LOCALS.to_string();
    for name in ["found", "first", "all", "at", "taken", "handed", "task"] {
        for before in [" ", "(", "["] {
            for after in [".", ")", "]", ",", " =", "["] {
                let (old, new) =
                    (format!("{before}{name}{after}"), format!("{before}{name}2{after}"));
                renamed = renamed.replace(&old, &new);
            }
        }
    }
    assert_ne!(renamed, LOCALS);
    project.compile(&renamed);
    assert_eq!(fingerprints(), before, "{renamed}");

    // A field is no local: it is what the finding is about.
    project.compile(&LOCALS.replace("kept", "stored"));
    let other = fingerprints();
    let changed = other.iter().filter(|fingerprint| !before.contains(fingerprint)).count();
    assert_eq!(changed, 1);

    // An anonymous class and a lambda above take over the numbers of those below.
    project.compile(&LOCALS.replace(
        "void captured",
        "Object above = new Object() { }; Runnable alsoAbove = () -> { };\n void captured",
    ));
    assert_eq!(fingerprints(), before);
}

#[test]
fn lists_take_commas_and_patterns_that_match_nothing_are_said() {
    let project = Project::new(SHOP);
    let both =
        ["classes", "--rule", "reacquired-lock,stale-value", "--include", "shop.*,shop.Shop.sell"];
    project.check(&both).assert(1, &[SELL], &["matches no class"]);
    let misspelled =
        project.check(&["classes", "--include", "nope", "--exclude", "shop.Shop.sell"]);
    misspelled.assert(1, &["`--include nope` matches no class and no method"], &["--exclude"]);
}

#[test]
fn gaps_can_make_the_exit_status() {
    let project = Project::new(SHOP);
    let quiet = ["classes", "--exclude", "shop.**"];
    project.check(&quiet).assert(0, &["5 gaps"], &[]);
    project.check(&[&quiet[..], &["--fail-on-gaps"]].concat()).assert(1, &["5 gaps"], &[]);
}

#[test]
fn a_baseline_is_updated_in_place_and_is_the_same_every_time() {
    let project = Project::new(SHOP);
    let update = ["classes", "--baseline", "known.json", "--write-baseline", "known.json"];
    // The first time there is nothing to compare with, and all is new.
    project.check(&update).assert(
        0,
        &[SELL, GUESS, "2 findings (1 medium, 1 low), 0 in the baseline"],
        &[],
    );
    let first = project.read("known.json");
    assert_eq!(first.lines().filter(|line| line.contains("\"fingerprint\"")).count(), 2);
    project.check(&update).assert(0, &["nothing new, 2 in the baseline"], &[]);
    assert_eq!(project.read("known.json"), first);
    project.compile(&SHOP.replace("stock.take(n);", ""));
    project.check(&update).assert(0, &["1 no longer found"], &[]);
    assert_eq!(project.read("known.json").lines().count(), first.lines().count() - 1);
    // With the configuration naming it, the same workflow needs one flag.
    project.write("scission.toml", "paths = [\"classes\"]\nbaseline = \"known.json\"\n");
    project.check(&[]).assert(0, &["nothing new, 1 in the baseline"], &[]);
    project.check(&["--no-baseline"]).assert(1, &[GUESS], &["baseline"]);
}

#[test]
fn what_only_a_run_can_find_is_neither_gone_nor_dead_to_check() {
    let project = Project::new(SHOP);
    let raced = "{\"blame\":\"shop.Shop.race()\",\"rule\":\"happens-before-race\",\
                 \"message\":\"m\",\"fingerprint\":\"00000000000000aa\"}";
    let text = format!("{{\"format\":\"scission-baseline\",\"version\":2,\"findings\":[{raced}]}}");
    project.write("known.json", &text);
    let configuration = "rules = ['reacquired-lock', 'happens-before-race']\n[[suppress]]\n\
                         pattern = 'shop.Shop.race'\nrule = 'happens-before-race'\nreason = 'r'\n";
    project.write("scission.toml", configuration);
    let update = ["classes", "--baseline", "known.json", "--write-baseline", "known.json"];
    project.check(&update).assert(0, &[SELL, "0 in the baseline"], &["gone", "matches nothing"]);
    let kept = project.read("known.json");
    assert!(kept.contains("shop.Shop.race()") && kept.contains("shop.Shop.sell"), "{kept}");
    project.write("scission.toml", "rules = ['happens-before-race']");
    project.check(&["classes"]).assert(1, &[SELL], &[]);
    project.write("scission.toml", "");
    let run = project.check(&["classes", "--rule", "happens-before-race"]);
    assert_eq!(run.code(), 2, "{}", run.stderr());
}

#[test]
fn sarif_and_json_tell_new_from_known() {
    let project = Project::new(SHOP);
    project.check(&["classes", "--write-baseline", "known.json", "--exclude", "shop.Shop.guess"]);
    let fixed = SHOP.replace("stock.take(n);", "");
    let states = || {
        let run = project.check(&["classes", "--baseline", "known.json", "--format", "sarif"]);
        let log: Value = serde_json::from_slice(&run.0.stdout).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        results
            .map(|result| result["baselineState"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(states(), ["new", "unchanged"]);
    let report = project.json(&["classes", "--baseline", "known.json"]);
    assert_eq!(report["findings"][0]["blame"]["method"], "guess");
    assert_eq!(report["baseline"]["known"][0]["blame"]["method"], "sell");
    project.compile(&fixed);
    assert_eq!(states(), ["new", "absent"]);
    let report = project.json(&["classes", "--baseline", "known.json"]);
    assert_eq!(report["baseline"]["gone"][0]["blame"], "shop.Shop.sell(shop.Stock, int)");
    assert!(project.json(&["classes"])["baseline"].is_null());
}

#[test]
fn a_baseline_that_cannot_be_used_is_one_sentence() {
    let project = Project::new(SHOP);
    let refused = |file: &str, said: &str| {
        project.assert_refused(&["classes", "--baseline", file], said);
    };
    refused("missing.json", "there is no such file; `--write-baseline` makes it");
    refused("classes", "it is a directory");
    project.check(&["classes", "--write-baseline", "known.json"]);
    let good = project.read("known.json");
    project.write("cut.json", &good[..good.len() / 2]);
    refused("cut.json", "it is damaged");
    project.write("list.json", "[1]");
    refused("list.json", "it is not a baseline");
    project.write("next.json", &good.replace("\"version\": 2", "\"version\": 3"));
    refused("next.json", "format version 3");
    fs::write(project.path().join("bytes.json"), b"\xff").unwrap();
    refused("bytes.json", "it is not UTF-8 text");
}

#[test]
fn a_baseline_that_cannot_be_written_is_refused_before_the_work() {
    let project = Project::new(SHOP);
    for (file, said) in [
        (
            "missing/known.json",
            "cannot write `missing/known.json`: the directory `missing` does not exist",
        ),
        ("classes", "cannot write `classes`: it is a directory"),
    ] {
        let run = project.check(&["classes", "--write-baseline", file]);
        run.assert(2, &[], &[SELL, GUESS, "2 findings"]);
        assert!(run.stderr().contains(said), "{}", run.stderr());
        assert_eq!(run.stderr().trim_end().lines().count(), 1, "{}", run.stderr());
    }
}

#[test]
fn findings_are_suppressed_by_the_lock_or_the_field_that_they_are_about() {
    let project = Project::new(SHOP);
    let suppress = |what: &str| format!("[[suppress]]\n{what}\nreason = \"r\"\n");
    project.write("scission.toml", &suppress("lock = \"stock\""));
    project.check(&["classes"]).assert(1, &[GUESS, "1 suppressed"], &[SELL]);
    project.write("scission.toml", &suppress("lock = \"shelf\"\npattern = \"shop.Shop.sell\""));
    project.check(&["classes"]).assert(1, &[SELL, GUESS, "scission.toml:1"], &["suppressed,"]);
    project.compile(COUNTER);
    let stale = "relies on a stale value";
    project.write("scission.toml", &suppress("field = \"Counter.other\""));
    project.check(&["classes"]).assert(1, &[stale], &["suppressed,"]);
    project.write("scission.toml", &suppress("field = \"shop.Counter.count\""));
    project.check(&["classes"]).assert(0, &["1 suppressed"], &[stale]);
}

/// The whole of the other rule in one method.
const COUNTER: &str = "
    package shop;
    class Counter {
        private int count;
        private final Object lock = new Object();
        void raise(Counter other, int by) {
            int seen;
            synchronized (other.lock) { seen = other.count; }
            int next = seen + by;
            synchronized (other.lock) { other.count = next; }
        }
    }
";

#[test]
fn a_stale_value_stays_known_when_locals_are_renamed_and_lines_move() {
    let project = Project::new(COUNTER);
    let write = ["classes", "--write-baseline", "known.json"];
    project.check_in(".", &write).assert(0, &["`shop.Counter.raise` relies on a stale value"], &[]);
    let renamed = COUNTER
        .replace("seen", "before")
        .replace("next", "after")
        .replace("other", "peer")
        .replace("void raise", "void more() { }\n\n void raise");
    project.compile(&renamed);
    let known = ["classes", "--baseline", "known.json"];
    project.check_in(".", &known).assert(0, &["nothing new", "1 in the baseline"], &["stale"]);
    project.compile(&COUNTER.replace("count = next", "count = by"));
    project.check_in(".", &known).assert(0, &["1 no longer found"], &["relies on"]);
}

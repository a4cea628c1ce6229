//! Output on a terminal that a pipe does not get: colours, progress and the time; and the manual and
//! completions that are made of the table of flags.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SOURCE: &str = "
    class Stock {
        synchronized int amount() { return 1; }
        synchronized void take() { }
    }
    class Shop {
        synchronized void sell(Stock stock) {
            if (stock.amount() > 0) {
                stock.take();
            }
        }
    }
";

const ESCAPE: char = '\u{1b}';
const COMMANDS: [&str; 9] =
    ["check", "run", "report", "init", "inspect", "trace", "explain", "man", "completions"];

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_scission")
}

/// A directory with a program that has one finding.
fn program() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    fs::write(directory.path().join("Shop.java"), SOURCE).expect("the source can be written");
    let status = Command::new("javac")
        .args(["-g", "-d", "classes", "Shop.java"])
        .current_dir(directory.path())
        .status()
        .expect("javac of a JDK is needed on the path");
    assert!(status.success());
    directory
}

/// `scission check` with what the environment says about colours, and nothing else of it.
fn check(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(binary());
    command.args(["check", "classes", "--jdk", "none"]).args(arguments).current_dir(directory);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().expect("the binary runs")
}

/// Runs a command line with a terminal as its standard output and error; `None` where the `script` of
/// util-linux, which makes one, is not there.
fn on_a_terminal(directory: &Path, line: &str, environment: &[(&str, &str)]) -> Option<String> {
    let version = Command::new("script").arg("--version").output().ok()?;
    if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
        return None;
    }
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", line, "/dev/null"]).current_dir(directory);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(environment.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("script runs");
    assert_eq!(output.status.code(), Some(1), "{line}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same, whatever comes of it.
fn on_a_terminal_with(directory: &Path, line: &str) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["--quiet", "--command", line, "/dev/null"]).current_dir(directory);
    let output = command.env("TERM", "xterm-256color").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_pipe_gets_no_colours_unless_they_are_forced() {
    let directory = program();
    let is_colored = |arguments: &[&str], environment: &[(&str, &str)]| {
        let output = check(directory.path(), arguments, environment);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stderr), "", "no progress and no time in a pipe");
        text(&output.stdout).contains(ESCAPE)
    };
    assert!(!is_colored(&[], &[]));
    assert!(!is_colored(&["--color", "auto"], &[("TERM", "xterm-256color")]));
    assert!(is_colored(&["--color", "always"], &[]));
    assert!(is_colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(is_colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    for format in ["json", "sarif"] {
        assert!(!is_colored(&["--format", format], &[("CLICOLOR_FORCE", "1")]));
    }
}

#[test]
fn a_terminal_gets_colours_progress_and_the_time() {
    let directory = program();
    let line = format!("{} check classes --jdk none", binary());
    let Some(shown) = on_a_terminal(directory.path(), &line, &[]) else { return };
    assert!(shown.contains(ESCAPE) && shown.contains("1 finding"), "{shown}");
    assert!(shown.contains("took "), "{shown}");

    let plain = on_a_terminal(directory.path(), &line, &[("NO_COLOR", "1")]).unwrap();
    assert!(!plain.contains("\u{1b}[1m") && plain.contains("1 finding"), "{plain}");
    let never = format!("{line} --color never --no-progress");
    let never = on_a_terminal(directory.path(), &never, &[]).unwrap();
    assert!(!never.contains(ESCAPE) && never.contains("took "), "{never:?}");

    let quiet = on_a_terminal(directory.path(), &format!("{line} --quiet"), &[]).unwrap();
    assert!(quiet.contains("Shop.sell"), "{quiet}");
    for silent in ["took", "finding (", "gap"] {
        assert!(!quiet.contains(silent), "{silent} in {quiet}");
    }
}

/// Reading the classes of a JDK takes long enough for the progress to be drawn.
/// Replaces a name in a class file by one of the same length.
fn rename(class: &Path, name: &str, other: &str) {
    assert_eq!(name.len(), other.len());
    let mut bytes = fs::read(class).unwrap();
    let at = bytes.windows(name.len()).position(|it| it == name.as_bytes()).unwrap();
    bytes[at..at + name.len()].copy_from_slice(other.as_bytes());
    fs::write(class, bytes).unwrap();
}

#[test]
fn names_do_not_control_a_terminal() {
    let directory = program();
    let class = directory.path().join("classes/Shop.class");
    // The title of the window, and a character that begins a control sequence by itself; a screen that is erased.
    rename(&class, "Shop.java", "\u{1b}]0;!\u{7}\u{9b}J");
    rename(&class, "sell", "\u{1b}[2J");
    let scission = binary();
    let json = format!("{scission} check classes --jdk none --format json --output r.json");
    for line in [
        format!("{scission} check classes --jdk none --color always --verbose"),
        format!("{scission} check classes --jdk none --format json"),
        format!("{scission} check classes --jdk none --format sarif"),
        format!("{scission} inspect classes --jdk none --lock-order; false"),
        format!("{json}; {scission} report r.json --verbose"),
        format!("{scission} check \"$(printf 'a\\033]0;b\\007.jar')\" --jdk none || false"),
    ] {
        let line = format!("sh -c '{}'", line.replace('\'', "'\\''"));
        let Some(shown) = on_a_terminal_with(directory.path(), &line) else { return };
        for control in ["\u{1b}]0;", "\u{1b}[2J", "\u{7}", "\u{9b}"] {
            assert!(!shown.contains(control), "{line}: {shown:?}");
        }
        assert!(shown.len() > 20, "{line}: {shown:?}");
    }
}

#[test]
fn progress_is_drawn_on_a_terminal() {
    let directory = program();
    let line = format!("{} check jrt:java.base --fail-on low", binary());
    let Some(shown) = on_a_terminal(directory.path(), &line, &[]) else { return };
    assert!(shown.contains("building method bodies"), "{}", &shown[..shown.len().min(400)]);
    let hidden = on_a_terminal(directory.path(), &format!("{line} --no-progress"), &[]).unwrap();
    assert!(!hidden.contains("building method bodies"));
}

#[test]
fn quiet_and_verbose_say_less_and_more() {
    let directory = program();
    let said = |arguments: &[&str]| text(&check(directory.path(), arguments, &[]).stdout);
    let (quiet, normal, verbose) = (said(&["--quiet"]), said(&[]), said(&["--verbose"]));
    assert!(quiet.contains("releases `stock` too early") && !quiet.contains("1 finding"));
    assert!(normal.contains("1 finding (1 medium)") && !normal.contains("fingerprint: "));
    assert!(verbose.contains("fingerprint: ") && verbose.contains("call_edges: "));
}

#[test]
fn every_command_has_a_page_with_all_its_flags() {
    for command in COMMANDS {
        let help = Command::new(binary()).args([command, "--help"]).output().expect("it runs");
        let help = text(&help.stdout);
        let flags = help.split_whitespace().filter(|word| word.starts_with("--"));
        let flags: Vec<&str> =
            flags.map(|flag| flag.trim_end_matches(|c: char| !c.is_alphabetic())).collect();
        assert!(!flags.is_empty());
        let page = Command::new(binary()).args(["man", command]).output().expect("it runs");
        assert_eq!(page.status.code(), Some(0));
        let page = text(&page.stdout);
        assert!(page.contains(&format!(".TH scission-{command} 1")), "{page}");
        for flag in flags.iter().filter(|flag| flag.len() > 2) {
            let escaped = flag.replace('-', "\\-");
            assert!(page.contains(&escaped), "{flag} is missing from\n{page}");
        }
    }
    let all = Command::new(binary()).arg("man").output().expect("it runs");
    for command in COMMANDS {
        assert!(text(&all.stdout).contains(&format!("scission\\-{command}(1)")));
    }
    let unknown = Command::new(binary()).args(["man", "frobnicate"]).output().expect("it runs");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("there is no command `frobnicate`"));
}

#[test]
fn groff_understands_the_pages() {
    for command in COMMANDS {
        let page = Command::new(binary()).args(["man", command]).output().expect("it runs").stdout;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("page.1");
        fs::write(&file, page).unwrap();
        let rendered =
            Command::new("groff").args(["-man", "-Tascii", "-P-cbou", "-ww"]).arg(&file).output();
        // Without groff, the test above is what there is.
        let Ok(rendered) = rendered else { return };
        assert!(rendered.status.success());
        assert_eq!(text(&rendered.stderr), "", "{command}");
        assert!(text(&rendered.stdout).contains("SYNOPSIS"));
    }
}

#[test]
fn bash_completes_flags_and_values() {
    let completions = |words: &str, count: usize| {
        let script = format!(
            "source <({} completions bash) && COMP_WORDS=({words}) && COMP_CWORD={count} && \
             _scission scission \"${{COMP_WORDS[{count}]}}\" \"${{COMP_WORDS[{count}-1]}}\" && \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            binary()
        );
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout)
    };
    let offered = completions("scission check --b", 2);
    assert!(offered.lines().any(|flag| flag == "--baseline"), "{offered}");
    assert!(offered.lines().all(|flag| flag.starts_with("--b")), "{offered}");
    assert!(completions("scission ch", 1).contains("check"));
    let rules = completions("scission check --rule re", 3);
    assert_eq!(rules.lines().collect::<Vec<_>>(), ["reacquired-lock", "reacquired-lock-pair"]);
}

#[test]
fn other_shells_get_completions_too() {
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let output = Command::new(binary()).args(["completions", shell]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("write-baseline"), "{shell}");
    }
    let unknown = Command::new(binary()).args(["completions", "tcsh"]).output().expect("it runs");
    assert_eq!(unknown.status.code(), Some(2));
}

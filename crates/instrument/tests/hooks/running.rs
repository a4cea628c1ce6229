//! Compiles, instruments and runs Java programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use agent_protocol::{Hook, Op, Parameter, constant_name};
use events::SiteId;
use instrument::{Config, Coverage, NewSite, Outcome, SiteTable, instrument};
use tempfile::TempDir;

/// A table that only grows.
#[derive(Default)]
pub(crate) struct Sites {
    pub(crate) rows: Vec<NewSite>,
}

impl SiteTable for Sites {
    fn add(&mut self, site: NewSite) -> Option<SiteId> {
        self.rows.push(site);
        Some(SiteId(self.rows.len() as u32))
    }
}

/// The folder with the compiled runtime.
pub(crate) fn stub() -> &'static Path {
    static STUB: OnceLock<TempDir> = OnceLock::new();
    static STUB_CLASSES: OnceLock<PathBuf> = OnceLock::new();
    let folder = STUB.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("sources");
        let patch = format!("java.base={}", sources.display());
        let source = sources.join("java/lang/Scission.java");
        fs::create_dir_all(sources.join("java/lang")).unwrap();
        fs::write(&source, stub_source()).unwrap();
        let mut javac = Command::new("javac");
        javac.args(["--patch-module", &patch, "-nowarn", "-d"]).arg(folder.path().join("classes"));
        succeed(javac.arg(source));
        folder
    });
    STUB_CLASSES.get_or_init(|| folder.path().join("classes"))
}

/// A runtime that only says which hooks are called: thread, hook, operands, and last the site. Keys of lambdas, and
/// results that only decide whether a hook does something, are left out.
fn stub_source() -> String {
    let mut source = include_str!("stub/Scission.java.head").to_owned();
    for hook in Hook::ALL {
        let mut operands = String::new();
        let mut condition = String::new();
        for (name, what) in hook.parameters() {
            match what {
                Parameter::Key | Parameter::Ticket => {}
                Parameter::UnlessZero => condition = format!("if ({name} != 0) "),
                Parameter::IfZero => condition = format!("if ({name} == 0) "),
                Parameter::UnlessNull => condition = format!("if ({name} != null) "),
                Parameter::IfNull => condition = format!("if ({name} == null) "),
                Parameter::Object
                | Parameter::Class
                | Parameter::Site
                | Parameter::Value
                | Parameter::Operation
                | Parameter::Opcode => operands.push_str(&format!(", {name}")),
            }
        }
        let has_site = hook.parameters().iter().any(|(_, what)| *what == Parameter::Site);
        if !has_site {
            operands.push_str(", 0");
        }
        let (declaration, name) = (hook.java_declaration(), hook.name());
        let result = if hook.result().is_some() { " return 0;" } else { "" };
        source.push_str(&format!(
            "    {declaration} {{ {condition}say(\"{name}\"{operands});{result} }}\n"
        ));
    }
    source.push_str("}\n");
    source
}

/// A program in a folder of its own.
pub(crate) struct Program {
    folder: TempDir,
}

impl Program {
    /// Compiles a program of `programs/`.
    pub(crate) fn compile(name: &str, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/hooks/programs")
            .join(format!("{name}.java"));
        let mut javac = Command::new("javac");
        javac.args(["-g", "-nowarn", "-Xlint:none"]).args(flags).arg("-d");
        succeed(javac.arg(folder.path().join("plain")).arg(source));
        Program { folder }
    }

    /// Changes the compiled classes before they are used.
    pub(crate) fn patch(&self, mut change: impl FnMut(&mut Vec<u8>)) {
        for path in class_files(&self.folder.path().join("plain")) {
            let mut bytes = fs::read(&path).unwrap();
            change(&mut bytes);
            fs::write(&path, bytes).unwrap();
        }
    }

    /// The compiled classes.
    pub(crate) fn classes(&self) -> Vec<Vec<u8>> {
        let paths = class_files(&self.folder.path().join("plain"));
        paths.iter().map(|path| fs::read(path).unwrap()).collect()
    }

    /// Instruments all classes of the program.
    pub(crate) fn instrument(&self, config: &Config) -> Sites {
        let mut sites = Sites::default();
        let plain = self.folder.path().join("plain");
        let hooked = self.folder.path().join("hooked");
        for path in class_files(&plain) {
            let bytes = fs::read(&path).unwrap();
            let changed =
                match instrument(&bytes, config, Coverage::Everything, &mut sites).unwrap() {
                    Outcome::Unchanged => bytes,
                    Outcome::Rewritten(rewritten) => {
                        assert_eq!(rewritten.left_alone, []);
                        rewritten.bytes
                    }
                };
            let target = hooked.join(path.strip_prefix(&plain).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(target, changed).unwrap();
        }
        sites
    }

    /// Runs the program as it was compiled.
    pub(crate) fn run_plain(&self, main: &str, flags: &[&str]) -> Output {
        self.run("plain", main, flags)
    }

    /// Runs the instrumented program.
    pub(crate) fn run_hooked(&self, main: &str, flags: &[&str]) -> Output {
        self.run("hooked", main, flags)
    }

    fn run(&self, classes: &str, main: &str, flags: &[&str]) -> Output {
        let patch = format!("java.base={}", stub().display());
        let path = self.folder.path().join(classes);
        Command::new("java")
            .args(flags)
            .args(["-Xverify:all", "--patch-module", &patch, "-cp"])
            .arg(path)
            .arg(main)
            .output()
            .expect("java of a JDK is needed on the path")
    }
}

/// What an instrumented run said.
pub(crate) struct CalledHooks {
    /// For each call of a hook: the thread, and the hook with its operands and line.
    pub(crate) hooks: Vec<(String, String)>,
    /// The output of the program.
    pub(crate) output: String,
}

impl CalledHooks {
    /// The threads that called hooks, by name.
    pub(crate) fn threads(&self) -> BTreeSet<&str> {
        self.hooks.iter().map(|(thread, _)| thread.as_str()).collect()
    }

    /// The hooks that one thread called.
    pub(crate) fn of(&self, thread: &str) -> Vec<&str> {
        let called = self.hooks.iter().filter(|(by, _)| by == thread);
        called.map(|(_, hook)| hook.as_str()).collect()
    }
}

/// Runs a program with and without hooks, checks that it does the same, and says which hooks were called.
pub(crate) fn compare(program: &Program, main: &str, config: &Config) -> CalledHooks {
    let sites = program.instrument(config);
    let plain = program.run_plain(main, &[]);
    let hooked = program.run_hooked(main, &[]);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let errors = text(&hooked.stderr);
    let mut hooks = Vec::new();
    let mut other = String::new();
    for line in errors.lines() {
        let Some(said) = line.strip_prefix("#\t") else {
            other.push_str(line);
            other.push('\n');
            continue;
        };
        let mut parts: Vec<String> = said.split('\t').map(str::to_owned).collect();
        let thread = parts.remove(0);
        let has_operands = parts.len() > 1;
        let site: usize = if has_operands { parts.pop().unwrap().parse().unwrap() } else { 0 };
        if parts.len() > 1 && names_an_operation(&parts[0]) {
            let number: i32 = parts.pop().unwrap().parse().unwrap();
            let op = Op::ALL.iter().find(|op| op.number() == number).unwrap();
            parts.insert(1, constant_name(op.name()));
        }
        if site > 0 {
            let entry = &sites.rows[site - 1].entry;
            parts.push(format!("@{}", entry.site.line.unwrap_or(0)));
        }
        hooks.push((thread, parts.join(" ")));
    }
    assert_eq!(other, text(&plain.stderr), "{errors}");
    assert_eq!(text(&hooked.stdout), text(&plain.stdout));
    assert_eq!(hooked.status, plain.status);
    CalledHooks { hooks, output: text(&plain.stdout) }
}

/// Whether the first operand of a hook, after those of the program, is the number of an operation.
pub(crate) fn names_an_operation(hook: &str) -> bool {
    hook.starts_with("call") || hook.starts_with("concurrent")
}

/// All class files in a folder, in order.
pub(crate) fn class_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("a JDK is needed on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

//! Generated Java, compiled and read into a program.

#![allow(dead_code, reason = "each test uses the part it needs")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use analyses::{Config, Context};
use classes::LoadConfig;
use program::callgraph::{self, CallGraph, CallGraphConfig};
use program::{BuildConfig, Program};

/// A program that is ready to be analysed.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) graph: CallGraph,
}

impl Compiled {
    /// Compiles classes of the unnamed package, given with their names, and reads them as one program.
    pub(crate) fn new(sources: &[(String, String)]) -> Compiled {
        Compiled::read(vec![compile(sources).path().join("classes")])
    }

    /// Compiles classes of the unnamed package, given with their names, and reads each of them, with the
    /// classes that are nested in it, as a program of its own.
    pub(crate) fn each(sources: &[(String, String)]) -> Vec<Compiled> {
        let folder = compile(sources);
        let files = fs::read_dir(folder.path().join("classes")).expect("the classes are there");
        let mut files: Vec<PathBuf> =
            files.map(|file| file.expect("the classes are listed").path()).collect();
        files.sort();
        let is_of = |file: &&PathBuf, class: &str| {
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            name == class || name.starts_with(&format!("{class}$"))
        };
        let of = |class: &str| files.iter().filter(|file| is_of(file, class)).cloned().collect();
        sources.iter().map(|(class, _)| Compiled::read(of(class))).collect()
    }

    fn read(inputs: Vec<PathBuf>) -> Compiled {
        let loaded =
            classes::load(&inputs, &LoadConfig::default(), &()).expect("the classes are read");
        let mut program = program::build(loaded, None, &BuildConfig::default());
        program.lower_bodies(&|| false);
        let graph = callgraph::build(&program, &CallGraphConfig::default());
        Compiled { program, graph }
    }

    /// What an analysis is given.
    pub(crate) fn context<'a>(&'a self, config: &'a Config) -> Context<'a> {
        Context {
            program: &self.program,
            graph: &self.graph,
            config,
            cancelled: &|| false,
            exhausted: &|| false,
        }
    }
}

/// A folder with the folder `classes` in it: one compiler for all sources, since starting it is what takes the
/// time.
fn compile(sources: &[(String, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let source_folder = folder.path().join("sources");
    fs::create_dir_all(&source_folder).expect("a folder for the sources");
    let mut files = Vec::new();
    for (class, text) in sources {
        let file = source_folder.join(format!("{class}.java"));
        fs::write(&file, text).expect("a source is written");
        files.push(file.display().to_string());
    }
    // Too many for a command line.
    let arguments = folder.path().join("arguments");
    fs::write(&arguments, files.join("\n")).expect("the arguments are written");
    let compiled = Command::new("javac")
        .args(["-g", "-nowarn", "-proc:none", "-d"])
        .arg(folder.path().join("classes"))
        .arg(format!("@{}", arguments.display()))
        .output()
        .expect("javac runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    folder
}

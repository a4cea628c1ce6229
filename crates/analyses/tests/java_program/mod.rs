//! Generated Java, compiled and read into a program.

use std::fs;
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
    /// Compiles classes of the unnamed package, given with their names: one compiler for all of
    /// them, since starting it is what takes the time.
    pub(crate) fn new(sources: &[(String, String)]) -> Compiled {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let source_folder = folder.path().join("sources");
        let classes = folder.path().join("classes");
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
            .arg(&classes)
            .arg(format!("@{}", arguments.display()))
            .output()
            .expect("javac runs");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

        let loaded =
            classes::load(&[classes], &LoadConfig::default(), &()).expect("the classes are read");
        let mut program = program::build(loaded, None, &BuildConfig::default());
        program.lower_bodies(&|| false);
        let graph = callgraph::build(&program, &CallGraphConfig::default());
        Compiled { program, graph }
    }

    /// What an analysis is given.
    pub(crate) fn context<'a>(&'a self, config: &'a Config) -> Context<'a> {
        Context { program: &self.program, graph: &self.graph, config, cancelled: &|| false }
    }
}

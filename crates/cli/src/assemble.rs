//! From paths on the command line to a program with its call graph.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use classes::{Jdk, LoadConfig, LoadError, Loaded};
use models::Models;
use program::callgraph::{self, Algorithm, CallGraphConfig};
use program::{BuildConfig, Program};

use crate::flags::{CallGraph, Fraction, JdkChoice, Library, ProgramFlags};
use crate::progress::Progress;

/// A program, who calls whom in it, and what it took.
pub(crate) struct Assembled {
    pub(crate) program: Program,
    pub(crate) graph: callgraph::CallGraph,
    pub(crate) stats: Vec<(&'static str, u64)>,
}

/// How paths are taken, where not as users mean them on the command line of `check`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputForm {
    /// Only some of the classes.
    pub(crate) fraction: Option<Fraction>,
    /// The paths are the entries of a class path, as a JVM reads them.
    pub(crate) is_class_path: bool,
}

/// Milliseconds by phase, in the order of the phases.
pub(crate) struct Stopwatch {
    started: RefCell<Instant>,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { started: RefCell::new(Instant::now()) }
    }

    /// Milliseconds since the start or the last call.
    pub(crate) fn lap(&self) -> u64 {
        let before = self.started.replace(Instant::now());
        before.elapsed().as_millis() as u64
    }
}

/// Reads and links everything the paths name; `None` when it should stop before there was anything to analyse.
pub(crate) fn assemble(
    paths: &[PathBuf],
    flags: &ProgramFlags,
    models: Models,
    form: InputForm,
    should_stop: &(dyn Fn() -> bool + Sync),
    progress: &Progress,
) -> anyhow::Result<Option<Assembled>> {
    let stopwatch = Stopwatch::start();
    let jdk = match &flags.jdk {
        JdkChoice::None => None,
        JdkChoice::Found => Jdk::find(None)?,
        JdkChoice::Directory(home) => Jdk::find(Some(home))?,
    };
    progress.phase("reading classes");
    let defaults = LoadConfig::default();
    let config = LoadConfig {
        release: jdk.as_ref().map_or(defaults.release, |jdk| jdk.release),
        libraries: flags.class_path.iter().flat_map(|path| path.0.iter().cloned()).collect(),
        jdk: jdk.clone(),
        is_class_path: form.is_class_path,
        ..defaults
    };
    let reading = Reading { progress, should_stop };
    let mut loaded = match classes::load(paths, &config, &reading) {
        Err(LoadError::Cancelled) => return Ok(None),
        loaded => loaded?,
    };
    keep_fraction(&mut loaded, form.fraction);
    let image = match &jdk {
        Some(jdk) => Some(jdk.open().context("cannot read the classes of the JDK")?),
        None => None,
    };
    let mut stats = vec![("classes", loaded.classes.len() as u64)];
    let mut timings = vec![("read_ms", stopwatch.lap())];
    if should_stop() {
        return Ok(None);
    }

    progress.phase("linking");
    let library = match flags.library {
        Library::Model => program::Library::Model,
        Library::Full => program::Library::Full,
    };
    let mut program = program::build(loaded, image.as_ref(), &BuildConfig { library, models });
    timings.push(("link_ms", stopwatch.lap()));
    if should_stop() {
        return Ok(None);
    }

    if library == program::Library::Model {
        progress.phase("reading the library");
        program.summarise_library(image.as_ref(), should_stop);
        timings.push(("library_ms", stopwatch.lap()));
        if should_stop() {
            return Ok(None);
        }
    }

    progress.phase("building method bodies");
    program.lower_bodies(should_stop);
    timings.push(("ir_ms", stopwatch.lap()));
    if should_stop() {
        return Ok(None);
    }

    progress.phase("building the call graph");
    let config = CallGraphConfig {
        algorithm: match flags.call_graph {
            CallGraph::Cha => Algorithm::ClassHierarchy,
            CallGraph::Rta => Algorithm::RapidType,
            CallGraph::Vta => Algorithm::VariableType,
        },
        // Entry points add threads; what other code does is looked at as before.
        entry_points: Vec::new(),
    };
    let graph = callgraph::build(&program, &config);
    timings.push(("call_graph_ms", stopwatch.lap()));

    let bodies = program.methods_with_bodies().count() as u64;
    stats.push(("methods", bodies));
    stats.push(("call_edges", graph.edge_count() as u64));
    stats.extend(timings);
    Ok(Some(Assembled { program, graph, stats }))
}

/// Keeps every n-th class, for measuring how the cost grows.
fn keep_fraction(loaded: &mut Loaded, fraction: Option<Fraction>) {
    let Some(Fraction { kept, of }) = fraction else { return };
    let mut number = 0;
    loaded.classes.retain(|_| {
        number += 1;
        number % of < kept
    });
}

/// Passes the reader's progress on to the terminal, and to the reader whether it should stop.
struct Reading<'a> {
    progress: &'a Progress,
    should_stop: &'a (dyn Fn() -> bool + Sync),
}

impl classes::Progress for Reading<'_> {
    fn classes_read(&self, total: usize) {
        self.progress.count(format!("reading classes: {total}"));
    }

    fn cancelled(&self) -> bool {
        (self.should_stop)()
    }
}

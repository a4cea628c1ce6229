//! The agent as a whole: what it was asked to do, what it has seen, and the parts that do the work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agent_protocol::{Ending, Options, Results};
use checkers::NeededAccesses;
use events::{Context, SiteId, StackEntry, ThreadId};
use findings::{Gap, GapKind, Site};
use instrument::library_order::{self, LibraryOrder};
use instrument::{
    ClassHierarchy, Config, Coverage, DroppedLock, FieldList, InstrumentError, ListedAs, NotALock,
    Outcome, UnfollowedReason, WatchList,
};
use jvmti_bindings::sys::jni::jobject;
use models::{AtomicSpec, ClassProperty, Models, Pattern, language};

use crate::consumer::{Consumed, Consumer, EndedBy};
use crate::jvm::{Jni, Jvmti};
use crate::library_facts::LibraryFacts;
use crate::memory::Memory;
use crate::names::{Names, Sites};
use crate::natives;
use crate::own_code::OwnCode;
use crate::running_library::RunningLibrary;
use crate::stacks::Stacks;
use crate::suspects::Suspects;

static AGENT_STATE: OnceLock<AgentState> = OnceLock::new();

/// The agent of this process, once it is loaded.
pub(crate) fn current() -> Option<&'static AgentState> {
    AGENT_STATE.get()
}

/// Makes this the agent of the process.
pub(crate) fn set(agent: AgentState) -> Result<(), String> {
    AGENT_STATE.set(agent).map_err(|_| "the agent is loaded twice".to_owned())
}

/// The checker that says where threads are to be held back.
const SUSPECTING: &str = "atomizer";

/// The checker that hears of threads that are blocked for good.
const DEADLOCKS: &str = "deadlock";

/// How many methods and classes that were left alone are listed by name; the rest is counted.
const LISTED_GAPS: usize = 200;

/// Everything that the callbacks of the JVM share. There is one, and it lives as long as the process.
#[derive(Debug)]
pub(crate) struct AgentState {
    pub(crate) jvmti: Jvmti,
    pub(crate) options: Options,
    pub(crate) memory: Memory,
    pub(crate) names: Names,
    pub(crate) stacks: Stacks,
    config: Config,
    own_code: OwnCode,
    /// Where threads are held back from the start.
    suspects: Suspects,
    library_order: LibraryOrder,
    /// The classes of the library that is running, once somebody asks for one.
    running_library: OnceLock<RunningLibrary>,
    /// Set once library classes are rewritten to show the order that they make.
    observes_order: AtomicBool,
    /// Computed when the Java half first asks.
    library_facts: OnceLock<LibraryFacts>,
    /// Set once hooks may run: the Java half is there.
    is_ready: AtomicBool,
    /// Set once findings that cannot wait are on the disk.
    has_reported_urgently: AtomicBool,
    consumer: Mutex<Option<Consumer>>,
    counters: Counters,
    gaps: Mutex<Vec<Gap>>,
    notes: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct Counters {
    classes_seen: AtomicU64,
    classes_watched: AtomicU64,
    unlisted_classes: AtomicU64,
    changed_classes: AtomicU64,
    classes_for_order: AtomicU64,
    methods_left_alone: AtomicU64,
    infeasible_sides: AtomicU64,
    impossible_steps: AtomicU64,
    hooks: AtomicU64,
    /// Branches whose sides are not followed.
    unfollowed_branches: Mutex<BTreeMap<UnfollowedReason, u32>>,
}

/// How long somebody who asks for the findings so far waits for the consumer.
const LONGEST_QUESTION: Duration = Duration::from_secs(30);

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What these locks guard is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The results with what came of the events.
fn with_consumed(results: Results, consumed: Consumed) -> Results {
    let Consumed {
        events,
        lost_events,
        ran,
        waited,
        recording,
        findings,
        uncertain_violations,
        shared_fields,
    } = consumed;
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Results {
        events,
        lost_events,
        milliseconds: milliseconds(ran),
        milliseconds_waited: milliseconds(waited),
        recording,
        findings,
        uncertain_violations,
        shared_fields,
        ..results
    }
}

/// Whether somebody wants to know the order that library code makes.
fn wants_order(options: &Options) -> bool {
    let mut running = options.monitors.iter().filter_map(|name| checkers::named(name));
    let is_wanted = options.record.is_some() || running.any(|checker| checker.needs.order);
    is_wanted && options.library_order && !options.hooks_only
}

/// Whether a checker wants to know what the sides of branches would do that are not taken.
fn speculates(options: &Options) -> bool {
    let mut running = options.monitors.iter().filter_map(|name| checkers::named(name));
    running.any(|checker| checker.needs.speculation) && options.speculation && !options.hooks_only
}

/// What comes with Scission, and over it files of the user.
fn read_models(paths: &[String]) -> Result<Models, String> {
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the models in `{path}`: {error}"))?;
        let file = models::parse(path, &text, true)
            .map_err(|problems| problems.first().map_or_else(String::new, ToString::to_string))?;
        files.push(file);
    }
    Ok(Models::with(&files))
}

impl AgentState {
    pub(crate) fn new(jvmti: Jvmti, options: Options) -> Result<AgentState, String> {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect::<Vec<_>>();
        let watch = options.watch_list.as_deref().map(read_watch_list).transpose()?;
        let shared_fields = options.shared_fields.as_deref().map(read_shared_fields).transpose()?;
        let suspects = options.suspects.as_deref().map(Suspects::read).transpose()?;
        let config = Config {
            include: patterns(&options.include),
            exclude: patterns(&options.exclude),
            unobserved: patterns(&options.unobserved),
            whole_libraries: options.whole_libraries,
            arrays: options.arrays,
            branches: options.branches,
            speculation: speculates(&options),
            blocks: options.blocks,
            collections: options.collections,
            library_order: wants_order(&options),
            atomic: AtomicSpec {
                include: patterns(&options.atomic_include),
                exclude: patterns(&options.atomic_exclude),
            },
            models: read_models(&options.models)?,
            hierarchy: ClassHierarchy::default(),
            watch,
            shared_fields,
            adversarial: options.adversarial,
            dropped_lock: options.drop_lock.as_deref().map(dropped_lock).transpose()?,
        };
        let own_code = OwnCode::new(&options.own_code);
        Ok(AgentState {
            jvmti,
            options,
            memory: Memory::new(),
            names: Names::default(),
            stacks: Stacks::default(),
            config,
            own_code,
            suspects: suspects.unwrap_or_default(),
            library_order: LibraryOrder::default(),
            running_library: OnceLock::new(),
            observes_order: AtomicBool::new(false),
            library_facts: OnceLock::new(),
            is_ready: AtomicBool::new(false),
            has_reported_urgently: AtomicBool::new(false),
            consumer: Mutex::new(None),
            counters: Counters::default(),
            gaps: Mutex::new(Vec::new()),
            notes: Mutex::new(Vec::new()),
        })
    }

    /// What is known of library code.
    pub(crate) fn models(&self) -> &Models {
        &self.config.models
    }

    /// What is true of the objects of a class, by its name in internal form, as bits of `ClassFact`.
    pub(crate) fn library_facts(&self, class: &str) -> i32 {
        let models = self.models();
        self.library_facts.get_or_init(|| LibraryFacts::new(models)).of(models, class)
    }

    /// Whether anybody wants events; otherwise hooks only cost what they cost.
    pub(crate) fn emits(&self) -> bool {
        !self.options.hooks_only
            && (self.options.record.is_some() || !self.options.monitors.is_empty())
    }

    /// Whether threads are held back where checkers suspect something.
    pub(crate) fn is_adversarial(&self) -> bool {
        self.options.adversarial && self.emits()
    }

    /// The names of the checkers to run: those that were asked for, and the one that suspects.
    pub(crate) fn checkers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.options.monitors.iter().map(String::as_str).collect();
        if self.is_adversarial() && !names.contains(&SUSPECTING) {
            names.push(SUSPECTING);
        }
        names
    }

    /// Whether threads that wait for each other are looked for: a checker or whoever reads the recording wants to know.
    pub(crate) fn looks_for_deadlocks(&self) -> bool {
        let is_asked_for = self.checkers().contains(&DEADLOCKS) || self.options.record.is_some();
        self.emits() && is_asked_for
    }

    /// The place in the program where a thread is, with how it got there; the unknown one if there is none.
    pub(crate) fn current_site(&self, thread: jobject, number: ThreadId) -> SiteId {
        let mut frames = self.stacks.take_of(self.jvmti, thread);
        let is_of_program = |frame: &Arc<Site>| self.config.watches(&frame.class.replace('.', "/"));
        let at = frames.iter().position(is_of_program).unwrap_or(0);
        let Some(place) = frames.get(at).map(|frame| Site::clone(frame)) else {
            return SiteId(0);
        };
        let Some(site) = self.names.add_place(place) else { return SiteId(0) };
        frames.drain(..at);
        let context = Context::default();
        self.names.add_stack(StackEntry { site, thread: number, context, frames });
        site
    }

    /// The methods that a thread is in, innermost first, separated by blanks; those that are watched have a `+` before them.
    pub(crate) fn calls(&self, thread: jobject) -> String {
        let frames = self.stacks.take_of(self.jvmti, thread);
        let names = frames.iter().map(|frame| {
            let mark = if self.config.watches(&frame.class.replace('.', "/")) { "+" } else { "" };
            format!("{mark}{}.{}", frame.class, frame.method)
        });
        names.collect::<Vec<_>>().join(" ")
    }

    /// Whether what must be seen at once has been brought to the disk.
    pub(crate) fn has_reported_urgently(&self) -> bool {
        self.has_reported_urgently.load(Ordering::Acquire)
    }

    /// Leaves what was found so far, because the run may never end.
    pub(crate) fn report_urgently(&self, consumed: Consumed, sentences: &[String]) {
        self.leave(with_consumed(Results { ending: Ending::Running, ..self.results() }, consumed));
        if let Some(directory) = &self.options.results {
            // Only a convenience: what was found is in the results.
            let _ = agent_protocol::write_urgent(directory, std::process::id(), sentences);
        }
        self.has_reported_urgently.store(true, Ordering::Release);
    }

    /// Leaves what was found so far, in case the JVM is killed. If that fails, the end of the JVM says so.
    pub(crate) fn leave_so_far(&self, consumed: Consumed) {
        if let Some(directory) = &self.options.results {
            let results = Results { ending: Ending::Running, ..self.results() };
            let _ = with_consumed(results, consumed).write(directory);
        }
    }

    /// Brings what was found so far to the disk, of all that threads have reported until now. Returns how many violations
    /// were seen, this library, and the file with the results, each on a line; nothing if nobody checks.
    pub(crate) fn findings_so_far(&self) -> Option<String> {
        let directory = self.options.results.as_ref()?;
        // Not under the lock: the end of the JVM takes it.
        let answer = lock(&self.consumer).as_ref().and_then(Consumer::ask);
        let violations = answer?.recv_timeout(LONGEST_QUESTION).ok()?;
        let file = directory
            .join(Results { process: std::process::id(), ..Results::default() }.file_name());
        Some(format!("{violations}\n{}\n{}", own_library()?.display(), file.display()))
    }

    /// Which accesses to shared variables the checkers need.
    pub(crate) fn accesses(&self) -> NeededAccesses {
        let running = self.checkers().into_iter().filter_map(checkers::named);
        running.map(|checker| checker.needs.accesses).max().unwrap_or_default()
    }

    /// Whether blocks inside other blocks matter: to a checker, or to whoever reads the recording.
    pub(crate) fn looks_at_nested_blocks(&self) -> bool {
        let mut running = self.checkers().into_iter().filter_map(checkers::named);
        self.options.record.is_some() || running.any(|checker| checker.needs.nested_blocks)
    }

    /// Has the library classes that are loaded already rewritten, and those that will be.
    pub(crate) fn observe_order(&self, jni: Jni) {
        if !self.is_ready() || !self.config.library_order {
            return;
        }
        self.observes_order.store(true, Ordering::Release);
        let is_wanted = |name: &str| {
            name == language::THREAD || library_order::is_observed(self.models(), name)
        };
        for name in self.jvmti.retransform(is_wanted) {
            let detail =
                "the JVM did not take its code with hooks, so order that it makes may be missed";
            self.gap(GapKind::Limit, name.replace('/', "."), detail.to_owned());
        }
        natives::observe_order(jni);
    }

    /// A library class that shows the order that it makes; nothing when it has none to show.
    fn rewrite_library(
        &self,
        bytes: &[u8],
        added_field: Option<(&str, &str)>,
    ) -> Result<Outcome, InstrumentError> {
        self.library_order.rewrite(bytes, self.models(), self.running_library(), added_field)
    }

    /// The classes of the library that is running.
    pub(crate) fn running_library(&self) -> &RunningLibrary {
        self.running_library.get_or_init(|| {
            let home = self.jvmti.property(c"java.home").unwrap_or_default();
            RunningLibrary::new(Path::new(&home))
        })
    }

    /// Gives numbers to the sites of a class.
    fn sites(&self) -> Sites<'_> {
        Sites {
            names: &self.names,
            suspects: &self.suspects,
            memory: &self.memory,
            holds_per_site: self.options.holds_per_site,
        }
    }

    /// A library class with hooks for what it orders, and for the calls that it reports.
    fn rewrite_observed(&self, name: &str, bytes: &[u8]) -> Result<Outcome, InstrumentError> {
        let sites = &mut self.sites();
        match instrument::report_from_library(bytes, name, &self.config, sites)? {
            Outcome::Unchanged => self.rewrite_library(bytes, None),
            Outcome::Rewritten(reporting) => match self.rewrite_library(&reporting.bytes, None)? {
                Outcome::Unchanged => Ok(Outcome::Rewritten(reporting)),
                rewritten @ Outcome::Rewritten(_) => Ok(rewritten),
            },
        }
    }

    /// `Thread`, with the field that holds the state of the hooks.
    pub(crate) fn rewrite_thread(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let field = ("$scission", "Ljava/lang/ScissionThread;");
        if !self.observes_order.load(Ordering::Acquire) {
            return instrument::add_field(bytes, 0x1080, field.0, field.1).ok();
        }
        match self.rewrite_library(bytes, Some(field)) {
            Ok(Outcome::Rewritten(rewritten)) => Some(rewritten.bytes),
            Ok(Outcome::Unchanged) | Err(_) => None,
        }
    }

    /// From now on classes get hooks.
    pub(crate) fn set_ready(&self) {
        self.is_ready.store(true, Ordering::Release);
    }

    /// Whether the Java half is there.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Lets the program run unwatched, or ends it when the options require the agent.
    pub(crate) fn give_up(&self, sentence: String) {
        if self.options.require_agent {
            say(&format!("{sentence}; the program is not started"));
            std::process::exit(2);
        }
        self.note(format!("{sentence}; the program runs unwatched"));
    }

    /// Starts to take events.
    pub(crate) fn start(&'static self) {
        if self.emits() {
            match Consumer::start(self) {
                Ok(consumer) => *lock(&self.consumer) = Some(consumer),
                Err(error) => {
                    // Hooks are not to wait for somebody who will not come.
                    self.memory.ring().end();
                    self.note(format!("there is no thread for the events: {error}"));
                }
            }
        }
        self.leave(Results { ending: Ending::Running, ..self.results() });
    }

    /// Takes the last events, and leaves the results behind.
    pub(crate) fn finish(&self) {
        // Signals are handled by threads with names such as `SIGTERM handler`, and those that end the JVM do so there.
        let name = self.jvmti.name_of_current_thread().unwrap_or_default();
        let is_signal = name.starts_with("SIG") && name.ends_with(" handler");
        let by = if is_signal { EndedBy::Signal } else { EndedBy::Itself };
        let consumed = lock(&self.consumer).take().map(|consumer| consumer.finish(self, by));
        let mut results = Results { ending: Ending::Complete, ..self.results() };
        if let Some(consumed) = consumed {
            results = with_consumed(results, consumed);
        }
        (results.holds, results.hold_slices) = self.memory.holds();
        self.leave(results);
    }

    fn results(&self) -> Results {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let command = self.command();
        Results {
            process: std::process::id(),
            java_version: self.java_version(),
            command: command.rsplit('/').next().unwrap_or_default().to_owned(),
            classes_seen: count(&self.counters.classes_seen),
            classes_watched: count(&self.counters.classes_watched),
            unlisted_classes: count(&self.counters.unlisted_classes),
            changed_classes: count(&self.counters.changed_classes),
            classes_for_order: count(&self.counters.classes_for_order),
            watched_places: self.own_code.watched(),
            methods_left_alone: count(&self.counters.methods_left_alone),
            infeasible_sides: count(&self.counters.infeasible_sides),
            impossible_steps: count(&self.counters.impossible_steps),
            hooks: count(&self.counters.hooks),
            seed: self.is_adversarial().then_some(self.options.seed),
            threads: self.names.threads().into(),
            notes: lock(&self.notes).clone(),
            gaps: findings::merge_gaps(lock(&self.gaps).clone()),
            ..Results::default()
        }
    }

    /// The main class or the archive that the JVM was started with, without arguments.
    fn command(&self) -> String {
        let command = self.jvmti.property(c"sun.java.command").unwrap_or_default();
        command.split(' ').next().unwrap_or_default().to_owned()
    }

    /// The version that the JVM says it has.
    pub(crate) fn java_version(&self) -> String {
        self.jvmti.property(c"java.vm.version").unwrap_or_default()
    }

    fn leave(&self, results: Results) {
        let Some(directory) = &self.options.results else { return };
        if let Err(error) = results.write(directory) {
            say(&format!("the results of this run cannot be written: {error}"));
        }
    }

    /// Something the user should know. Without results to write it to, it is said at once.
    pub(crate) fn note(&self, sentence: String) {
        if self.options.results.is_none() {
            say(&sentence);
        }
        lock(&self.notes).push(sentence);
    }

    /// The class with hooks, if it is to have any. `location` says where it comes from.
    pub(crate) fn rewrite(
        &self,
        name: &str,
        bytes: &[u8],
        location: impl FnOnce() -> String,
    ) -> Option<Vec<u8>> {
        self.counters.classes_seen.fetch_add(1, Ordering::Relaxed);
        let with_words = self.with_words(name, bytes);
        let bytes = with_words.as_deref().unwrap_or(bytes);
        self.rewrite_ready(name, bytes, location).or(with_words)
    }

    /// A library class with room for the words of its contents, which it must have from the start.
    fn with_words(&self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let may_have_words = self.options.collections && !self.config.watches(name);
        may_have_words
            .then(|| instrument::add_words_of_contents(self.models(), name, bytes))
            .flatten()
    }

    fn rewrite_ready(
        &self,
        name: &str,
        bytes: &[u8],
        location: impl FnOnce() -> String,
    ) -> Option<Vec<u8>> {
        if !self.is_ready.load(Ordering::Acquire) {
            return None;
        }
        let place = || name.replace('/', ".");
        let outcome = if self.config.watches(name) {
            let location = location();
            let is_launcher = |class: &str| self.models().is(class, ClassProperty::TestRunner);
            let command = || self.command();
            let origin = self.own_code.origin(name, &location, command, is_launcher);
            let coverage = self.config.coverage(name, origin);
            let outcome = instrument::instrument(bytes, &self.config, coverage, &mut self.sites());
            if outcome.is_ok() {
                self.count(coverage, &location);
            }
            outcome
        } else if self.observes_order.load(Ordering::Acquire)
            && library_order::is_observed(self.models(), name)
        {
            self.rewrite_observed(name, bytes)
        } else {
            return None;
        };
        match outcome {
            Ok(Outcome::Unchanged) => None,
            Ok(Outcome::Rewritten(rewritten)) => {
                self.counters.hooks.fetch_add(rewritten.hooks.into(), Ordering::Relaxed);
                match rewritten.listed_as {
                    Some(ListedAs::Unknown) => {
                        self.counters.unlisted_classes.fetch_add(1, Ordering::Relaxed);
                    }
                    Some(ListedAs::Changed) => {
                        self.counters.changed_classes.fetch_add(1, Ordering::Relaxed);
                    }
                    Some(ListedAs::Analysed) | None => {}
                }
                for (reason, branches) in &rewritten.unfollowed_branches {
                    let mut all = lock(&self.counters.unfollowed_branches);
                    let count = all.entry(*reason).or_default();
                    *count = count.saturating_add(*branches);
                }
                let left_alone = rewritten.left_alone.len() as u64;
                self.counters.methods_left_alone.fetch_add(left_alone, Ordering::Relaxed);
                for method in &rewritten.left_alone {
                    let method_place = format!("{}.{}", place(), method.method);
                    self.gap(GapKind::Limit, method_place, method.reason.to_string());
                }
                if let (true, Some(lock)) = (rewritten.has_dropped_lock, &self.config.dropped_lock)
                {
                    self.note(format!("the lock `{lock}` was taken out of the program"));
                }
                if rewritten.hooks_left_out > 0 {
                    let detail = "the program has more places to watch than there are numbers for";
                    self.gap(GapKind::Limit, place(), detail.to_owned());
                }
                Some(rewritten.bytes)
            }
            Err(error) => {
                self.gap(GapKind::MalformedClass, place(), error.to_string());
                None
            }
        }
    }

    fn count(&self, coverage: Coverage, location: &str) {
        let counter = match coverage {
            Coverage::Everything => {
                self.own_code.count_watched(location);
                &self.counters.classes_watched
            }
            Coverage::OrderOnly => &self.counters.classes_for_order,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// A class could not be rewritten because of a defect of ours.
    pub(crate) fn panicked(&self, name: &str) {
        let detail = "the agent has a defect that this class shows; it runs unwatched";
        self.gap(GapKind::Limit, name.replace('/', "."), detail.to_owned());
    }

    /// Something could not be watched, so many times.
    pub(crate) fn missed(&self, what: &str, why: &str, count: u32) {
        if count > 0 {
            let gap = Gap { count, ..Gap::new(GapKind::Limit, what, why) };
            lock(&self.gaps).push(gap);
        }
    }

    /// Says what was left out of what the sides of branches would have done: gaps, and what could not have happened.
    pub(crate) fn say_what_sides_lack(&self, jni: Jni) {
        if !speculates(&self.options) {
            return;
        }
        let left_out = natives::left_out_of_sides(jni);
        let unknown = "an object, index or lock that they would use is not known";
        self.missed("steps of sides that were not taken", unknown, left_out.unknown_steps);
        let long = "they are too long to be followed to their end";
        self.missed("sides that were not taken", long, left_out.ended_walks);
        let ignored =
            "the code that they would execute is not known, or they are nested too deeply";
        self.missed("calls on sides that were not taken", ignored, left_out.ignored_calls);
        let silent = "they were decided so often that their other sides were no longer followed";
        self.missed("branches", silent, left_out.silent_branches);
        for (reason, branches) in lock(&self.counters.unfollowed_branches).iter() {
            let why = format!("what their sides would do is not followed: {reason}");
            self.missed("branches", &why, *branches);
        }
        let counters = &self.counters;
        counters.infeasible_sides.store(left_out.infeasible_sides.into(), Ordering::Relaxed);
        counters.impossible_steps.store(left_out.impossible_steps.into(), Ordering::Relaxed);
    }

    fn gap(&self, kind: GapKind, place: String, detail: String) {
        let mut gaps = lock(&self.gaps);
        if gaps.len() < LISTED_GAPS {
            gaps.push(Gap::new(kind, place, detail));
        } else if let Some(last) = gaps.last_mut() {
            // One row for all the rest.
            last.place = "further classes and methods".to_owned();
            last.count = last.count.saturating_add(1);
        }
    }

    /// Makes JVMs that this one starts be watched as this one is.
    pub(crate) fn pass_on(&self) {
        const VARIABLE: &str = "JAVA_TOOL_OPTIONS";
        let present = std::env::var(VARIABLE).unwrap_or_default();
        if !self.options.children || present.contains("-agentpath:") {
            return;
        }
        let Some(library) = own_library() else { return };
        let mut options = self.options.clone();
        options.record = options.record.as_deref().and_then(recording_of_child);
        let mut value = format!("-agentpath:{}={options}", library.display());
        if !present.is_empty() {
            value = format!("{present} {value}");
        }
        // SAFETY: the JVM loads its agents before it starts threads that read the environment.
        unsafe { std::env::set_var(VARIABLE, value) };
    }
}

/// Where a JVM that this one starts records to: a file name that differs from process to process. A device
/// takes them all; a pipe or a socket is left to this process.
fn recording_of_child(path: &Path) -> Option<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("%p") || output_file::is_device(path) {
        return Some(path.to_path_buf());
    }
    if !output_file::is_regular_or_new(path) {
        return None;
    }
    let name = match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}-%p.{extension}"),
        None => format!("{name}-%p"),
    };
    Some(path.with_file_name(name))
}

/// The file that this code was loaded from.
fn own_library() -> Option<PathBuf> {
    let here = own_library as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let path = &rest[rest.find('/')?..];
        (number(start)? <= here && here < number(end)?).then(|| PathBuf::from(path))
    })
}

/// Reads a list of sites to watch.
fn read_watch_list(path: &Path) -> Result<WatchList, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the watch list cannot be read: {error}"))?;
    agent_protocol::read_watch_list(&text)
        .map(WatchList::from)
        .map_err(|error| format!("the watch list cannot be read: {error}"))
}

/// Reads a list of fields to watch.
fn read_shared_fields(path: &Path) -> Result<FieldList, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the list of shared fields cannot be read: {error}"))?;
    agent_protocol::read_shared_fields(&text)
        .map(|fields| fields.iter().collect())
        .map_err(|error| format!("the list of shared fields cannot be read: {error}"))
}

fn dropped_lock(text: &str) -> Result<DroppedLock, String> {
    text.parse().map_err(|error: NotALock| error.to_string())
}

/// One sentence for the user, where only standard error is left to say it.
pub(crate) fn say(sentence: &str) {
    eprintln!("scission: {}", output_file::harmless(sentence));
}

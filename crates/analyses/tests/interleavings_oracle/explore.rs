//! All interleavings of a program, and what they show.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use program::ir::{Body, Constant, Operation};
use program::{ClassId, FieldId, MethodId, Program, ValueId};
use rustc_hash::FxHashSet;

use crate::history::Violation;
use crate::machine::{Access, CodeLocation, Machine, Section, State, Step};

/// A place as people see it: `Store.m0`, line 12.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceLocation {
    pub(crate) method: String,
    pub(crate) line: u32,
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} line {}", self.method, self.line)
    }
}

/// Two threads were about to access one variable at the same time, at least one of them to write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Race {
    /// `Store.x`.
    pub(crate) variable: String,
    /// The two accesses, sorted.
    pub(crate) accesses: [SourceLocation; 2],
}

/// Threads that can never go on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deadlock {
    /// Each wants a lock that the next one holds. The locks are named by how the code names them.
    Locks { locks: BTreeSet<String>, wants: BTreeSet<SourceLocation> },
    /// Such a circle in which a thread waits for the end of another.
    Join { wants: BTreeSet<SourceLocation> },
    /// A thread is never woken, and nobody else can do anything.
    Waiting {
        wait: SourceLocation,
        /// Whether it holds a lock that another thread wants.
        blocks_others: bool,
        /// Whether some code notifies who waits on such an object, in whatever interleaving.
        is_notified: bool,
        /// Whether others know the object at all.
        is_known: bool,
    },
}

/// A section of code that is executed under a lock: the lock as the code names it, and where it is taken
/// or, after a wait, given back to whoever waited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedCode {
    pub(crate) lock: String,
    pub(crate) begins: SourceLocation,
}

/// An access of a call that was not atomic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    /// `Store.x`.
    pub(crate) variable: String,
    pub(crate) is_volatile: bool,
    pub(crate) location: SourceLocation,
}

/// A call of a method was not atomic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NotAtomic {
    /// `Store.m0`.
    pub(crate) method: String,
    /// The number of the thread.
    pub(crate) thread: usize,
    /// The two accesses that others came between.
    pub(crate) first: End,
    pub(crate) second: End,
    /// For each lock that was held at both: where it was held the first time, and the second.
    pub(crate) common: BTreeSet<(LockedCode, LockedCode)>,
}

/// What happens to variables under a lock: whether they are written, or only read.
pub(crate) type Accesses = BTreeMap<String, bool>;

/// What happens in a section of code under a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// All that happens.
    pub(crate) all: Accesses,
    /// The threads that had begun and not ended at the time.
    pub(crate) beside: BTreeSet<usize>,
}

/// What the interleavings of a program show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) races: BTreeSet<Race>,
    pub(crate) deadlocks: BTreeSet<Deadlock>,
    pub(crate) not_atomic: BTreeSet<NotAtomic>,
    /// What each thread does under locks, all interleavings together.
    pub(crate) views: BTreeMap<(LockedCode, usize), View>,
    /// How many states there are.
    pub(crate) states: usize,
}

/// What is known while the interleavings are gone through.
#[derive(Default)]
struct Findings {
    verdict: Verdict,
    /// Who is never woken: where, and whether others are blocked, and know the lock.
    waiting: BTreeSet<(CodeLocation, bool, bool)>,
}

/// A program has more states than are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyStates;

/// Names of methods, fields and places.
pub(crate) struct Names<'a>(pub(crate) &'a Program);

impl Names<'_> {
    /// The class without what it is nested in.
    fn class(&self, class: ClassId) -> String {
        let name = self.0.classes[class].dotted_name();
        name.rsplit(['.', '$']).next().unwrap_or(&name).to_string()
    }

    fn member(&self, class: ClassId, member: &str) -> String {
        format!("{}.{member}", self.class(class))
    }

    pub(crate) fn method(&self, method: MethodId) -> String {
        let declared = &self.0.methods[method];
        self.member(declared.class, &declared.name)
    }

    pub(crate) fn field(&self, field: FieldId) -> String {
        let declared = &self.0.fields[field];
        self.member(declared.class, &declared.name)
    }

    pub(crate) fn location(&self, place: CodeLocation) -> SourceLocation {
        let line = self.0.site(place.method, place.offset).line;
        SourceLocation { method: self.method(place.method), line: line.unwrap_or_default() }
    }

    /// The field that is accessed at a place.
    pub(crate) fn accessed(&self, place: CodeLocation) -> Option<FieldId> {
        let body = self.0.body(place.method)?;
        let mut instructions = body.instructions().filter(|it| it.offset == place.offset);
        instructions.find_map(|instruction| match &instruction.operation {
            Operation::GetField { field, .. }
            | Operation::PutField { field, .. }
            | Operation::GetStatic(field)
            | Operation::PutStatic { field, .. } => Some(*field),
            _ => None,
        })
    }

    fn locked_code(&self, section: Section) -> LockedCode {
        let lock = self.lock(section.taken_at).unwrap_or_default();
        LockedCode { lock, begins: self.location(section.woken_at.unwrap_or(section.taken_at)) }
    }

    pub(crate) fn is_volatile(&self, field: FieldId) -> bool {
        self.0.fields[field].access & classes::access::VOLATILE != 0
    }

    /// How the code names the lock that is taken at a place: by its class if that is one of the
    /// program's own, else by the field that it is read from.
    pub(crate) fn lock(&self, place: CodeLocation) -> Option<String> {
        let body = self.0.body(place.method)?;
        let mut here = body.instructions().filter(|it| it.offset == place.offset);
        let by_instruction = here.find_map(|instruction| match &instruction.operation {
            Operation::MonitorEnter(value) => self.value(body, *value),
            Operation::Call(call) => {
                let called = &self.0.methods[call.method];
                match (&*called.name, called.is_synchronized()) {
                    (_, true) => Some(self.method_lock(call.method)),
                    ("lock" | "tryLock", false) => self.value(body, *call.arguments.first()?),
                    _ => None,
                }
            }
            _ => None,
        });
        let is_entry = place.offset == 0 && self.0.methods[place.method].is_synchronized();
        by_instruction.or_else(|| is_entry.then(|| self.method_lock(place.method)))
    }

    /// Whether some code notifies who waits at a place, as far as the names of the objects show.
    fn is_notified(&self, wait: CodeLocation) -> bool {
        let signals = |method: MethodId, is_wanted: &dyn Fn(u32, &str) -> bool| -> Vec<String> {
            let Some(body) = self.0.body(method) else { return Vec::new() };
            let calls = body.instructions().filter_map(|it| match &it.operation {
                Operation::Call(call) => Some((it.offset, &**call)),
                _ => None,
            });
            let wanted = calls
                .filter(|(offset, call)| is_wanted(*offset, &self.0.methods[call.method].name));
            wanted.filter_map(|(_, call)| self.value(body, *call.arguments.first()?)).collect()
        };
        let awaited = signals(wait.method, &|offset, _| offset == wait.offset);
        self.0.methods_with_bodies().any(|method| {
            let notified = signals(method, &|_, name| matches!(name, "notify" | "notifyAll"));
            notified.iter().any(|object| awaited.contains(object))
        })
    }

    /// The lock of a synchronized method.
    fn method_lock(&self, method: MethodId) -> String {
        let declared = &self.0.methods[method];
        let class = self.class(declared.class);
        if declared.is_static() { format!("{class}.class") } else { class }
    }

    fn value(&self, body: &Body, value: ValueId) -> Option<String> {
        if let program::ir::DeclaredType::Class(class) = body.declared_type(self.0, value)
            && self.0.classes[class].origin == program::Origin::Application
        {
            return Some(self.class(class));
        }
        match &body.defining_instruction(value)?.operation {
            Operation::GetField { field, .. } | Operation::GetStatic(field) => {
                Some(self.field(*field))
            }
            Operation::Constant(Constant::Class(class)) => {
                Some(format!("{}.class", self.class(*class)))
            }
            _ => None,
        }
    }
}

/// Executes a program in all interleavings, as long as there are not too many states.
pub(crate) fn explore(
    program: &Program,
    main: MethodId,
    most_states: usize,
) -> Result<Verdict, TooManyStates> {
    let machine = Machine { program };
    let mut findings = Findings::default();
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut waiting = vec![machine.start(main)];
    while let Some(state) = waiting.pop() {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        if seen.len() > most_states {
            return Err(TooManyStates);
        }
        let steps: Vec<Step> =
            (0..state.thread_count()).map(|it| machine.next_step(&state, it)).collect();
        look_for_races(program, &steps, &mut findings.verdict);
        look_for_deadlocks(program, &state, &steps, &mut findings);
        for (thread, step) in steps.iter().enumerate() {
            if !state.is_enabled(thread, *step) {
                continue;
            }
            if let Step::Access(access) = step {
                add_to_views(program, &state, thread, *access, &mut findings.verdict);
            }
            let outcome = machine.perform(&state, thread);
            if let Some(violation) = &outcome.violation {
                findings.verdict.not_atomic.insert(not_atomic(program, thread, violation));
            }
            waiting.extend(outcome.states);
        }
    }
    let Findings { mut verdict, waiting } = findings;
    let names = Names(program);
    for (place, blocks_others, is_known) in waiting {
        let is_notified = names.is_notified(place);
        let wait = names.location(place);
        verdict.deadlocks.insert(Deadlock::Waiting { wait, blocks_others, is_notified, is_known });
    }
    verdict.states = seen.len();
    Ok(verdict)
}

fn add_to_views(
    program: &Program,
    state: &State,
    thread: usize,
    access: Access,
    verdict: &mut Verdict,
) {
    let names = Names(program);
    for section in state.sections(thread) {
        let view = verdict.views.entry((names.locked_code(section), thread)).or_default();
        let variable = names.field(access.variable.field);
        *view.all.entry(variable).or_default() |= access.is_write;
        view.beside.extend((0..state.thread_count()).filter(|other| !state.is_finished(*other)));
    }
}

fn not_atomic(program: &Program, thread: usize, violation: &Violation) -> NotAtomic {
    let names = Names(program);
    let end = |access: Access| End {
        variable: names.field(access.variable.field),
        is_volatile: names.is_volatile(access.variable.field),
        location: names.location(access.place),
    };
    let Violation { method, first, second } = violation;
    let mut common = BTreeSet::new();
    for one in &first.sections {
        for other in second.sections.iter().filter(|other| other.lock == one.lock) {
            common.insert((names.locked_code(*one), names.locked_code(*other)));
        }
    }
    let method = names.method(*method);
    let (first, second) = (end(first.access), end(second.access));
    NotAtomic { method, thread, first, second, common }
}

/// Two threads whose next steps are accesses to one variable race, unless both only read.
fn look_for_races(program: &Program, steps: &[Step], verdict: &mut Verdict) {
    let names = Names(program);
    for (number, step) in steps.iter().enumerate() {
        let Step::Access(one) = step else { continue };
        for other in &steps[..number] {
            let Step::Access(other) = other else { continue };
            if one.variable == other.variable
                && (one.is_write || other.is_write)
                && !names.is_volatile(one.variable.field)
            {
                let mut accesses = [names.location(one.place), names.location(other.place)];
                accesses.sort();
                let variable = names.field(one.variable.field);
                verdict.races.insert(Race { variable, accesses });
            }
        }
    }
}

fn look_for_deadlocks(program: &Program, state: &State, steps: &[Step], findings: &mut Findings) {
    let names = Names(program);
    // Whom each thread waits for.
    let awaited: Vec<Option<usize>> = steps
        .iter()
        .enumerate()
        .map(|(thread, step)| match step {
            _ if state.is_enabled(thread, *step) => None,
            Step::Acquire(lock, _) | Step::Wake(lock, _) => state.owner(*lock),
            Step::Join(other) => *other,
            Step::Access(_)
            | Step::TryAcquire(..)
            | Step::Wait(..)
            | Step::Notify { .. }
            | Step::Waiting(_)
            | Step::Finished => None,
        })
        .collect();
    for start in 0..steps.len() {
        let mut circle = vec![start];
        while let Some(next) = awaited[circle[circle.len() - 1]]
            && !circle.contains(&next)
        {
            circle.push(next);
        }
        // Each circle once, from its first thread.
        let is_closed = awaited[circle[circle.len() - 1]] == Some(start);
        if !is_closed || circle.iter().any(|thread| *thread < start) {
            continue;
        }
        let wanted: Vec<CodeLocation> = circle
            .iter()
            .filter_map(|thread| match steps[*thread] {
                Step::Acquire(_, place) | Step::Wake(_, place) => Some(place),
                _ => None,
            })
            .collect();
        let wants = wanted.iter().map(|place| names.location(*place)).collect();
        findings.verdict.deadlocks.insert(if wanted.len() == circle.len() {
            let name = |place| names.lock(place).unwrap_or_else(|| "wait".to_string());
            Deadlock::Locks { locks: wanted.into_iter().map(name).collect(), wants }
        } else {
            Deadlock::Join { wants }
        });
    }
    let is_over = steps.iter().enumerate().all(|(thread, step)| !state.is_enabled(thread, *step));
    for (thread, step) in steps.iter().enumerate() {
        match step {
            Step::Waiting(place) if is_over => {
                let lock = state.awaited(thread).expect("who sleeps gave a lock back");
                let blocks_others = steps.iter().any(|step| match step {
                    Step::Acquire(lock, _) | Step::Wake(lock, _) => {
                        state.owner(*lock) == Some(thread)
                    }
                    _ => false,
                });
                let is_known = state.is_known_to_others(lock, thread);
                findings.waiting.insert((*place, blocks_others, is_known));
            }
            Step::Access(_)
            | Step::Acquire(..)
            | Step::TryAcquire(..)
            | Step::Wait(..)
            | Step::Notify { .. }
            | Step::Join(_)
            | Step::Waiting(_)
            | Step::Wake(..)
            | Step::Finished => {}
        }
    }
}

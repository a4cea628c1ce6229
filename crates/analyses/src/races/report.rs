//! From conflicts to findings: one for each variable, with the pair of accesses that shows it best.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use classes::access;
use findings::{
    Evidence, Finding, Gap, GapKind, GradeRule, HeldLock, Severity, Stack, Step, ThreadAction,
    Witness,
};
use program::ir::Operation;
use program::{Components, FieldId};

use super::category::{self, Category};
use super::conflict::AcceptedReasons;
use super::elements;
use super::idiom::{Idiom, at};
use super::sharing::Sharing;
use super::variable::{Conflicts, Event, Pair, RaceFacts, Variable};
use super::{CLIENT, DATA_RACE};
use crate::Scope;
use crate::execution::AccessKind;
use crate::heap::{ObjectId, Place, Slot, ThreadId};
use crate::source_names::field_name;
use crate::stale_value::domain::contents_access;

/// What a finding is about. Several abstract objects have the same fields; a fix of one fixes all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReportedVariable {
    Field(FieldId),
    /// What is in the object that a field refers to.
    Behind(FieldId, Slot),
    /// What is in an object that no field refers to.
    Object(ObjectId, Slot),
}

/// A variable with its conflicts, graded.
pub(super) struct GradedVariable<'a> {
    pub(super) variable: &'a Variable,
    pub(super) conflicts: Conflicts,
    pub(super) category: Category,
    pub(super) grade: GradeRule,
    /// For each pair of the conflicts whether it is one that the grade is about.
    at_worst: Vec<bool>,
}

impl GradedVariable<'_> {
    pub(super) fn severity(&self) -> Severity {
        self.grade.at_most
    }
}

/// Two accesses that conflict, the better ones of their kind.
#[derive(Clone, Copy)]
pub(super) struct ShownPair<'a> {
    pub(super) first: &'a Event,
    pub(super) second: &'a Event,
    pub(super) threads: (ThreadId, ThreadId),
}

/// All variables that have conflicts to report, and what had to be left out.
pub(super) fn graded<'a>(
    race_facts: &RaceFacts<'_>,
    variables: &'a [Variable],
) -> (Vec<GradedVariable<'a>>, Vec<Gap>) {
    let config = race_facts.execution.context.config;
    let (mut graded, mut gaps) = (Vec::new(), Vec::new());
    let sharing = Sharing::of(race_facts.execution, variables);
    for variable in variables {
        if (race_facts.execution.context.cancelled)() {
            break;
        }
        if is_made_by_compiler(race_facts, variable.slot) || is_per_use(race_facts, variable) {
            continue;
        }
        let conflicts = race_facts.conflicts(variable, AcceptedReasons::all(config.strict));
        if conflicts.was_cut {
            let detail = "is accessed in too many ways to compare all of them";
            gaps.push(Gap::new(GapKind::Limit, name_of(race_facts, variable), detail));
        }
        if conflicts.pairs.is_empty() {
            continue;
        }
        let conflicting: Vec<&Event> =
            conflicts.events().into_iter().map(|at| &variable.events[at]).collect();
        let category = Category::of(race_facts, variable.slot, &conflicting);
        let idiom = (!config.strict)
            .then(|| Idiom::of(race_facts.execution.context.program, variable.slot, &conflicting))
            .flatten();
        let grade = category::grade(race_facts, variable, &conflicting, category, idiom);
        let of_pair = |pair: &Pair| match config.strict {
            true => grade,
            false => grade.or_lower(sharing.at_most(race_facts, variable, &conflicts, pair)),
        };
        // What is shown is a pair that shows it at its worst.
        let by_pair: Vec<GradeRule> = conflicts.pairs.iter().map(of_pair).collect();
        let worst = by_pair.iter().map(|grade| grade.at_most).max().unwrap_or(Severity::Low);
        let grade = by_pair.iter().find(|grade| grade.at_most == worst).copied().unwrap_or(grade);
        let at_worst = by_pair.iter().map(|grade| grade.at_most == worst).collect();
        graded.push(GradedVariable { variable, conflicts, category, grade, at_worst });
    }
    (graded, gaps)
}

/// Variables of objects that a container makes for whoever asks: what stands in a field of others is not the object. What
/// is static is there once.
fn is_per_use(race_facts: &RaceFacts<'_>, variable: &Variable) -> bool {
    let field = match variable.slot {
        Slot::Field(field) => Some(field),
        Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => {
            race_facts.holder(variable.object)
        }
    };
    let program = race_facts.execution.context.program;
    field.is_some_and(|field| {
        !program.fields[field].is_static()
            && Components::is_per_use(program, program.fields[field].class)
    })
}

/// Variables that compilers add, such as the switch for assertions or the state of a coroutine.
fn is_made_by_compiler(race_facts: &RaceFacts<'_>, slot: Slot) -> bool {
    let Slot::Field(field) = slot else { return false };
    let program = race_facts.execution.context.program;
    program.fields[field].access & access::SYNTHETIC != 0
        || category::is_compiler_made(program, slot)
}

/// The findings of rule `data-race`.
pub(super) fn findings(race_facts: &RaceFacts<'_>, graded: &[GradedVariable<'_>]) -> Vec<Finding> {
    let context = race_facts.execution.context;
    let scope = Scope::of(context);
    let mut best: BTreeMap<ReportedVariable, (Rank, Finding)> = BTreeMap::new();
    for one in graded {
        let told = category::is_reported(one.variable.slot, context.config.strict);
        let shown =
            shown(race_facts, one, |pair| told || is_same_element(race_facts, one.variable, pair));
        let Some((rank, shown)) = shown else { continue };
        let Some(finding) = finding(race_facts, one, &shown) else { continue };
        if !scope.covers(&finding.blame.method_name()) {
            continue;
        }
        let rank = Rank { severity: Reverse(one.severity()), pair: rank };
        let subject = subject(race_facts, one.variable);
        match best.get(&subject) {
            Some((known, _)) if *known <= rank => {}
            _ => {
                best.insert(subject, (rank, finding));
            }
        }
    }
    best.into_values().map(|(_, finding)| finding).collect()
}

/// How well a finding shows that there is a race; the best sorts first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    severity: Reverse<Severity>,
    pair: PairRank,
}

/// How well a pair of accesses shows that there is a race; the best sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairRank {
    /// Accesses in code that is not the user's.
    elsewhere: usize,
    /// Locks at the access that holds fewer, and at the other: the less there are, the clearer.
    locks: (usize, usize),
    /// A write and a read show more than two writes.
    is_two_writes: bool,
    /// Calls from the beginnings of the threads.
    calls: u32,
    /// What is done to one element of a collection shows more than going through all of them.
    goes_through: bool,
    places: (Place, Place),
}

/// The pair of accesses that shows best that a variable is in conflict.
pub(super) fn shown<'a>(
    race_facts: &RaceFacts<'_>,
    graded: &GradedVariable<'a>,
    is_wanted: impl Fn(&ShownPair<'a>) -> bool,
) -> Option<(PairRank, ShownPair<'a>)> {
    let GradedVariable { variable, conflicts, at_worst, .. } = graded;
    let pairs = conflicts
        .pairs
        .iter()
        .zip(at_worst)
        .filter_map(|(pair, at_worst)| at_worst.then_some(pair))
        .flat_map(|pair| representatives(race_facts, variable, conflicts, pair));
    pairs
        .map(|shown| in_order(race_facts, shown))
        .filter(is_wanted)
        .map(|shown| (rank(race_facts, &shown), shown))
        .min_by_key(|(rank, _)| *rank)
}

/// Of the accesses of two ways, those worth looking at: for each way the best ones, in and outside of the application.
fn representatives<'a>(
    race_facts: &RaceFacts<'_>,
    variable: &'a Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> Vec<ShownPair<'a>> {
    let best = |group: usize| {
        let mut events: Vec<&Event> =
            conflicts.groups[group].iter().map(|at| &variable.events[*at]).collect();
        events.sort_by_key(|event| {
            (!is_application(race_facts, event), race_facts.depth(event), event.place)
        });
        events.truncate(MOST_REPRESENTATIVES);
        events
    };
    let (firsts, seconds) = (best(pair.first), best(pair.second));
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (*first, *second)));
    pairs.map(|(first, second)| ShownPair { first, second, threads: pair.threads }).collect()
}

/// Accesses of one way that are tried as examples.
const MOST_REPRESENTATIVES: usize = 4;

fn is_application(race_facts: &RaceFacts<'_>, event: &Event) -> bool {
    race_facts.execution.context.program.is_application(event.place.method)
}

/// The write comes first; of two writes, the less protected one, and then the one that stands first.
fn in_order<'a>(race_facts: &RaceFacts<'_>, shown: ShownPair<'a>) -> ShownPair<'a> {
    let key = |event: &Event| {
        (event.kind == AccessKind::Read, race_facts.guards(event).len(), event.place)
    };
    if key(shown.first) <= key(shown.second) {
        shown
    } else {
        let ShownPair { first, second, threads } = shown;
        ShownPair { first: second, second: first, threads: (threads.1, threads.0) }
    }
}

fn rank(race_facts: &RaceFacts<'_>, shown: &ShownPair<'_>) -> PairRank {
    let events = [shown.first, shown.second];
    let locks = events.map(|event| race_facts.guards(event).len());
    PairRank {
        elsewhere: events.iter().filter(|event| !is_application(race_facts, event)).count(),
        locks: (locks[0].min(locks[1]), locks[0].max(locks[1])),
        is_two_writes: shown.second.kind == AccessKind::Write,
        calls: race_facts.depth(shown.first) + race_facts.depth(shown.second),
        goes_through: goes_through(race_facts, shown.second),
        places: (shown.first.place, shown.second.place),
    }
}

/// Whether an access makes or moves an iterator, or a stream.
fn goes_through(race_facts: &RaceFacts<'_>, event: &Event) -> bool {
    let program = race_facts.execution.context.program;
    at(program, event.place).is_some_and(|(_, instruction)| match &instruction.operation {
        Operation::Call(call) => contents_access(program, call.method).is_none(),
        _ => false,
    })
}

/// Whether both accesses name one element of an array by the same constant, or one of those that any thread comes to: these
/// are one variable.
fn is_same_element(race_facts: &RaceFacts<'_>, variable: &Variable, shown: &ShownPair<'_>) -> bool {
    variable.slot == Slot::Element
        && (constant_index(race_facts, shown.first.place)
            .is_some_and(|index| constant_index(race_facts, shown.second.place) == Some(index))
            || [shown.first, shown.second].iter().all(|event| {
                let body = race_facts.execution.context.program.body(event.place.method);
                body.is_some_and(|body| elements::are_the_same_for_all(body, event.place.offset))
            }))
}

fn constant_index(race_facts: &RaceFacts<'_>, place: Place) -> Option<i32> {
    use classes::bytecode::Literal;
    use program::ir::Constant;
    let body = race_facts.execution.context.program.body(place.method)?;
    let access = body.instructions().find(|instruction| instruction.offset == place.offset)?;
    let index = match &access.operation {
        Operation::ArrayLoad { index, .. } | Operation::ArrayStore { index, .. } => *index,
        _ => return None,
    };
    match &body.defining_instruction(index)?.operation {
        Operation::Constant(Constant::Literal(Literal::Int(index))) => Some(*index),
        _ => None,
    }
}

fn finding(
    race_facts: &RaceFacts<'_>,
    graded: &GradedVariable<'_>,
    shown: &ShownPair<'_>,
) -> Option<Finding> {
    let program = race_facts.execution.context.program;
    let GradedVariable { variable, category, grade, .. } = graded;
    // The less protected access must change; of two that are alike, the write.
    let mut candidates = [shown.first, shown.second];
    candidates.sort_by_key(|event| race_facts.guards(event).len());
    let blamed = candidates.into_iter().find(|event| is_application(race_facts, event))?;
    let name = name_of(race_facts, variable);
    let threads = [shown.threads.0, shown.threads.1].map(|it| race_facts.execution.thread_name(it));
    let steps = vec![
        step(race_facts, "first", shown.first, shown.threads.0, &name),
        step(race_facts, "second", shown.second, shown.threads.1, &name),
    ];
    let mut subjects = BTreeMap::from([
        ("variable", name),
        ("threads", threads.join(" and ")),
        ("category", category.name().to_string()),
        ("why", category.why().to_string()),
    ]);
    grade.note_in(&mut subjects);
    // It is the same race when another pair of threads shows it, or shows it in another way.
    let unstable = ["threads", "category", "why"];
    Some(Finding {
        rule: DATA_RACE,
        evidence: Evidence::Possible,
        severity: grade.at_most,
        blame: program.site(written_at(race_facts, blamed).0.method, 0),
        subjects,
        stable_subjects: unstable.into_iter().map(|name| (name, String::new())).collect(),
        witnesses: vec![Witness::new(CLIENT.name, steps)],
        distance: race_facts.depth(shown.first) + race_facts.depth(shown.second),
        fingerprint: None,
        also: Vec::new(),
    })
}

/// Where the source makes an access, and the calls from there to the access itself: older compilers let inner classes
/// use private fields through methods that nobody wrote.
pub(super) fn written_at(race_facts: &RaceFacts<'_>, event: &Event) -> (Place, Vec<Place>) {
    let execution = race_facts.execution;
    let (mut place, mut context, mut below) = (event.place, event.context, Vec::new());
    while execution.context.program.methods[place.method].name.starts_with("access$")
        && let Some((caller, from)) = execution.called_from[context]
    {
        below.insert(0, place);
        (place, context) = (from, caller);
    }
    (place, below)
}

/// An access as a step of a witness: who makes it, how the thread gets there, and what it holds.
pub(super) fn step(
    race_facts: &RaceFacts<'_>,
    role: &'static str,
    event: &Event,
    thread: ThreadId,
    subject: &str,
) -> Step {
    let execution = race_facts.execution;
    let program = execution.context.program;
    let site = |place: Place| program.site(place.method, place.offset);
    let (place, below) = written_at(race_facts, event);
    let mut callers = execution.call_chain(event.context);
    callers.truncate(callers.len() - below.len());
    let at = site(place);
    let callers = callers.into_iter().rev().map(site);
    let verb = match event.kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
    };
    let held_locks = race_facts.records.locks[event.locks].iter().map(|(held, _)| HeldLock {
        lock: held.object.map_or("a lock of its own".to_string(), |lock| execution.describe(lock)),
        taken_at: site(held.taken_at),
    });
    Step {
        thread: Some(execution.thread_name(thread)),
        action: Some(ThreadAction { verb: verb.to_string(), subject: subject.to_string() }),
        stack: Some(Stack {
            frames: std::iter::once(at.clone()).chain(callers).collect(),
            is_same_context: true,
        }),
        held_locks: held_locks.collect(),
        call_chain: below.into_iter().map(site).collect(),
        ..Step::at(role, at)
    }
}

fn subject(race_facts: &RaceFacts<'_>, variable: &Variable) -> ReportedVariable {
    match variable.slot {
        Slot::Field(field) => ReportedVariable::Field(field),
        slot => match race_facts.holder(variable.object) {
            Some(field) => ReportedVariable::Behind(field, slot),
            None => ReportedVariable::Object(variable.object, slot),
        },
    }
}

/// A variable as the source would write it: `Account.balance`.
pub(super) fn name_of(race_facts: &RaceFacts<'_>, variable: &Variable) -> String {
    let place = || match race_facts.holder(variable.object) {
        Some(field) => field_name(race_facts.execution.context.program, field),
        None => race_facts.execution.describe(variable.object),
    };
    match variable.slot {
        Slot::Field(field) => field_name(race_facts.execution.context.program, field),
        Slot::Element => format!("{}[]", place()),
        Slot::Contents => format!("the contents of {}", place()),
        Slot::Task => format!("the task of {}", place()),
        Slot::Captured(number) => format!("what {} captured, number {number}", place()),
    }
}

//! From conflicts to findings: one for each variable, with the pair of accesses that shows it best.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use classes::access;
use findings::{Does, Evidence, Finding, Gap, GapKind, HeldLock, Severity, Stack, Step, Witness};
use program::FieldId;

use super::category::{self, Category};
use super::conflict::Trust;
use super::idiom::Idiom;
use super::sharing::Sharing;
use super::variable::{Conflicts, Event, Pair, Uses, Variable};
use super::{CLIENT, DATA_RACE};
use crate::Scope;
use crate::execution::AccessKind;
use crate::heap::{ObjectId, Place, Slot, ThreadId};

/// What a finding is about. Several abstract objects have the same fields; whoever mends one mends all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Field(FieldId),
    /// What is in the object that a field refers to.
    Behind(FieldId, Slot),
    /// What is in an object that no field refers to.
    Object(ObjectId, Slot),
}

/// A variable with its conflicts, graded.
pub(super) struct Graded<'a> {
    pub(super) variable: &'a Variable,
    pub(super) conflicts: Conflicts,
    pub(super) category: Category,
    pub(super) severity: Severity,
}

/// Two accesses that conflict, the better ones of their kind.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) first: &'a Event,
    pub(super) second: &'a Event,
    pub(super) threads: (ThreadId, ThreadId),
}

/// All variables that have conflicts worth a thought, and what had to be left out.
pub(super) fn graded<'a>(
    uses: &Uses<'_>,
    variables: &'a [Variable],
) -> (Vec<Graded<'a>>, Vec<Gap>) {
    let config = uses.world.context.config;
    let (mut graded, mut gaps) = (Vec::new(), Vec::new());
    let sharing = Sharing::of(uses.world.context.program, uses.world.heap, variables);
    for variable in variables {
        if (uses.world.context.cancelled)() {
            break;
        }
        if is_made_by_compiler(uses, variable.slot) {
            continue;
        }
        let conflicts = uses.conflicts(variable, Trust::all(config.strict));
        if conflicts.was_cut {
            let detail = "is accessed in too many ways to compare all of them";
            gaps.push(Gap::new(GapKind::Limit, name_of(uses, variable), detail));
        }
        if conflicts.pairs.is_empty() {
            continue;
        }
        let conflicting: Vec<&Event> =
            conflicts.events().into_iter().map(|at| &variable.events[at]).collect();
        let category = Category::of(uses, variable.slot, &conflicting);
        let idiom = (!config.strict)
            .then(|| Idiom::of(uses.world.context.program, variable.slot, &conflicting))
            .flatten();
        let severity = category::severity(uses, variable, &conflicting, category, idiom);
        let severity = match config.strict {
            true => severity,
            false => {
                let pairs = conflicts.pairs.iter();
                let worst = pairs.map(|pair| sharing.at_most(uses, variable, &conflicts, pair));
                let worst = worst.max();
                severity.min(worst.unwrap_or(Severity::Low))
            }
        };
        graded.push(Graded { variable, conflicts, category, severity });
    }
    (graded, gaps)
}

/// Variables that compilers add, such as the switch for assertions.
fn is_made_by_compiler(uses: &Uses<'_>, slot: Slot) -> bool {
    let Slot::Field(field) = slot else { return false };
    uses.world.context.program.fields[field].access & access::SYNTHETIC != 0
}

/// The findings of rule `data-race`.
pub(super) fn findings(uses: &Uses<'_>, graded: &[Graded<'_>]) -> Vec<Finding> {
    let context = uses.world.context;
    let scope = Scope::of(context);
    let mut best: BTreeMap<Subject, (Rank, Finding)> = BTreeMap::new();
    for one in graded {
        let told = category::is_told(one.variable.slot, context.config.strict);
        let shown = shown(uses, one, |pair| told || is_same_element(uses, one.variable, pair));
        let Some((rank, shown)) = shown else { continue };
        let Some(finding) = finding(uses, one, &shown) else { continue };
        if !scope.covers(&finding.blame.method_name()) {
            continue;
        }
        let rank = Rank { severity: Reverse(one.severity), pair: rank };
        let subject = subject(uses, one.variable);
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
    /// A write and a read tell more than two writes.
    is_two_writes: bool,
    /// Calls from the beginnings of the threads.
    calls: u32,
    places: (Place, Place),
}

/// The pair of accesses that shows best that a variable is in conflict.
pub(super) fn shown<'a>(
    uses: &Uses<'_>,
    graded: &Graded<'a>,
    is_wanted: impl Fn(&Shown<'a>) -> bool,
) -> Option<(PairRank, Shown<'a>)> {
    let Graded { variable, conflicts, .. } = graded;
    let pairs =
        conflicts.pairs.iter().flat_map(|pair| representatives(uses, variable, conflicts, pair));
    pairs
        .map(|shown| in_order(uses, shown))
        .filter(is_wanted)
        .map(|shown| (rank(uses, &shown), shown))
        .min_by_key(|(rank, _)| *rank)
}

/// Of the accesses of two ways, those worth looking at: for each way the best ones, in and outside of the application.
fn representatives<'a>(
    uses: &Uses<'_>,
    variable: &'a Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> Vec<Shown<'a>> {
    let best = |way: usize| {
        let mut events: Vec<&Event> =
            conflicts.ways[way].iter().map(|at| &variable.events[*at]).collect();
        events.sort_by_key(|event| (!is_application(uses, event), uses.depth(event), event.place));
        events.truncate(MOST_REPRESENTATIVES);
        events
    };
    let (firsts, seconds) = (best(pair.first), best(pair.second));
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (*first, *second)));
    pairs.map(|(first, second)| Shown { first, second, threads: pair.threads }).collect()
}

/// Accesses of one way that are tried as examples.
const MOST_REPRESENTATIVES: usize = 4;

fn is_application(uses: &Uses<'_>, event: &Event) -> bool {
    uses.world.context.program.is_application(event.place.method)
}

/// The write comes first; of two writes, the less protected one, and then the one that stands first.
fn in_order<'a>(uses: &Uses<'_>, shown: Shown<'a>) -> Shown<'a> {
    let key =
        |event: &Event| (event.kind == AccessKind::Read, uses.guards(event).len(), event.place);
    if key(shown.first) <= key(shown.second) {
        shown
    } else {
        let Shown { first, second, threads } = shown;
        Shown { first: second, second: first, threads: (threads.1, threads.0) }
    }
}

fn rank(uses: &Uses<'_>, shown: &Shown<'_>) -> PairRank {
    let events = [shown.first, shown.second];
    let locks = events.map(|event| uses.guards(event).len());
    PairRank {
        elsewhere: events.iter().filter(|event| !is_application(uses, event)).count(),
        locks: (locks[0].min(locks[1]), locks[0].max(locks[1])),
        is_two_writes: shown.second.kind == AccessKind::Write,
        calls: uses.depth(shown.first) + uses.depth(shown.second),
        places: (shown.first.place, shown.second.place),
    }
}

/// Whether both accesses name one element of an array by the same constant: these are one variable.
fn is_same_element(uses: &Uses<'_>, variable: &Variable, shown: &Shown<'_>) -> bool {
    variable.slot == Slot::Element
        && constant_index(uses, shown.first.place)
            .is_some_and(|index| constant_index(uses, shown.second.place) == Some(index))
}

fn constant_index(uses: &Uses<'_>, place: Place) -> Option<i32> {
    use classes::bytecode::Literal;
    use program::ir::{Constant, Operation};
    let body = uses.world.context.program.body(place.method)?;
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

fn finding(uses: &Uses<'_>, graded: &Graded<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let program = uses.world.context.program;
    let Graded { variable, category, severity, .. } = graded;
    // The less protected access must change; of two that are alike, the write.
    let mut candidates = [shown.first, shown.second];
    candidates.sort_by_key(|event| uses.guards(event).len());
    let blamed = candidates.into_iter().find(|event| is_application(uses, event))?;
    let name = name_of(uses, variable);
    let threads = [shown.threads.0, shown.threads.1].map(|it| uses.world.thread_name(it));
    let steps = vec![
        step(uses, "first", shown.first, shown.threads.0, &name),
        step(uses, "second", shown.second, shown.threads.1, &name),
    ];
    let subjects = BTreeMap::from([
        ("variable", name),
        ("threads", threads.join(" and ")),
        ("category", category.name().to_string()),
        ("why", category.why().to_string()),
    ]);
    // It is the same race when another pair of threads shows it, or shows it in another way.
    let unstable = ["threads", "category", "why"];
    Some(Finding {
        rule: DATA_RACE,
        evidence: Evidence::Possible,
        severity: *severity,
        blame: program.site(written_at(uses, blamed).0.method, 0),
        subjects,
        stable_subjects: unstable.into_iter().map(|name| (name, String::new())).collect(),
        witnesses: vec![Witness::new(CLIENT.name, steps)],
        distance: uses.depth(shown.first) + uses.depth(shown.second),
        fingerprint: None,
    })
}

/// Where the source makes an access, and the calls from there to the access itself: older compilers let inner classes
/// use private fields through methods that nobody wrote.
pub(super) fn written_at(uses: &Uses<'_>, event: &Event) -> (Place, Vec<Place>) {
    let world = uses.world;
    let (mut place, mut context, mut below) = (event.place, event.context, Vec::new());
    while world.context.program.methods[place.method].name.starts_with("access$")
        && let Some((caller, from)) = world.called_from[context]
    {
        below.insert(0, place);
        (place, context) = (from, caller);
    }
    (place, below)
}

/// An access as a step of a witness: who makes it, how the thread gets there, and what it holds.
pub(super) fn step(
    uses: &Uses<'_>,
    role: &'static str,
    event: &Event,
    thread: ThreadId,
    subject: &str,
) -> Step {
    let world = uses.world;
    let program = world.context.program;
    let site = |place: Place| program.site(place.method, place.offset);
    let (place, below) = written_at(uses, event);
    let mut callers = world.call_chain(event.context);
    callers.truncate(callers.len() - below.len());
    let at = site(place);
    let callers = callers.into_iter().rev().map(site);
    let verb = match event.kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
    };
    let held_locks = uses.records.locks.get(event.locks).iter().map(|(held, _)| HeldLock {
        lock: held.object.map_or("a lock of its own".to_string(), |lock| world.describe(lock)),
        taken_at: site(held.taken_at),
    });
    Step {
        thread: Some(world.thread_name(thread)),
        does: Some(Does { verb: verb.to_string(), subject: subject.to_string() }),
        stack: Some(Stack {
            frames: std::iter::once(at.clone()).chain(callers).collect(),
            is_same_context: true,
        }),
        held_locks: held_locks.collect(),
        call_chain: below.into_iter().map(site).collect(),
        ..Step::at(role, at)
    }
}

fn subject(uses: &Uses<'_>, variable: &Variable) -> Subject {
    match variable.slot {
        Slot::Field(field) => Subject::Field(field),
        slot => match uses.holder(variable.object) {
            Some(field) => Subject::Behind(field, slot),
            None => Subject::Object(variable.object, slot),
        },
    }
}

/// A variable as the source would write it: `Account.balance`.
pub(super) fn name_of(uses: &Uses<'_>, variable: &Variable) -> String {
    let place = || match uses.holder(variable.object) {
        Some(field) => field_name(uses, field),
        None => uses.world.describe(variable.object),
    };
    match variable.slot {
        Slot::Field(field) => field_name(uses, field),
        Slot::Element => format!("{}[]", place()),
        Slot::Contents => format!("the contents of {}", place()),
        Slot::Task => format!("the task of {}", place()),
        Slot::Captured(number) => format!("what {} captured, number {number}", place()),
    }
}

fn field_name(uses: &Uses<'_>, field: FieldId) -> String {
    let program = uses.world.context.program;
    let declared = &program.fields[field];
    let class = program.classes[declared.class].dotted_name();
    let simple = class.rsplit(['.', '$']).next().unwrap_or(&class);
    format!("{simple}.{}", declared.name)
}

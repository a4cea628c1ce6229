//! From threads that nobody can wake to findings.

use std::collections::BTreeMap;

use events::{ClassId, Context, ObjectId, SiteId, Tables, ThreadId};
use findings::{Evidence, Finding, Severity, Step, ThreadAction, Witness};

use super::blocked::{Stalled, Standstill};
use super::report::{enumerated, lock_names, number, still_open};
use super::{CHECKER, HANG_RULE, RULE};
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};

/// How many threads are shown of those that wait in the same method at the same place.
const MOST_ALIKE: usize = 3;
/// How many threads are shown in all.
const MOST_THREADS: usize = 32;

pub(super) fn findings(standstills: &[Standstill], tables: &Tables) -> Vec<Finding> {
    let stacks = Stacks::new(tables);
    standstills.iter().map(|it| finding(it, tables, &stacks)).collect()
}

/// What threads wait for. What comes first is more likely to be what must change: the others may only wait for its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Carrier,
    Initialiser,
    Notification,
    Condition,
    Permit,
    Latch,
    Barrier,
    Phaser,
    Exchange,
    Transfer,
    Element,
    Room,
    Lock,
    Other,
    Park,
    Result,
    Termination,
    End,
    Monitor,
}

impl Reason {
    fn of(call: &str) -> Reason {
        let (class, method) = call.rsplit_once('.').unwrap_or(("", call));
        let is_queue = class.contains("Queue") || class.contains("Deque");
        match (class.rsplit('.').next().unwrap_or(class), method) {
            ("", "synchronized") => Reason::Monitor,
            ("", "carrier") => Reason::Carrier,
            ("", "initialiser") => Reason::Initialiser,
            ("Object", _) => Reason::Notification,
            ("Thread" | "VirtualThread", "join") => Reason::End,
            ("LockSupport", _) => Reason::Park,
            ("Semaphore", _) => Reason::Permit,
            ("CountDownLatch", _) => Reason::Latch,
            ("CyclicBarrier", _) => Reason::Barrier,
            ("Phaser", _) => Reason::Phaser,
            ("Exchanger", _) => Reason::Exchange,
            (
                "FutureTask" | "CompletableFuture" | "ForkJoinTask" | "ExecutorCompletionService",
                _,
            )
            | (_, "invokeAll" | "invokeAny" | "get" | "join" | "invoke") => Reason::Result,
            (_, "awaitTermination" | "awaitQuiescence" | "close") => Reason::Termination,
            (_, "transfer") if is_queue => Reason::Transfer,
            (_, "put" | "putFirst" | "putLast") if is_queue => Reason::Room,
            _ if is_queue => Reason::Element,
            (class, "await" | "awaitUninterruptibly") if class.ends_with("ConditionObject") => {
                Reason::Condition
            }
            (_, "lock" | "lockInterruptibly" | "writeLock" | "readLock") => Reason::Lock,
            (_, "writeLockInterruptibly" | "readLockInterruptibly") => Reason::Lock,
            _ => Reason::Other,
        }
    }

    /// What to do about it.
    fn remedy(self) -> &'static str {
        match self {
            Reason::Carrier => {
                "do not block in `synchronized` or native code on virtual threads, which keeps the thread that carries them: use a \
                 `java.util.concurrent` lock there"
            }
            Reason::Initialiser => {
                "let no static initialiser wait for other threads: these cannot use its class before it has ended"
            }
            Reason::Notification => {
                "wait in a loop that checks a condition under the lock, and notify whenever that changes: a notification that \
                 comes before the wait, or that nobody sends, is lost"
            }
            Reason::Condition => {
                "await in a loop that checks a condition under the lock, and signal whenever that changes: a signal that \
                 comes before the wait, or that nobody sends, is lost"
            }
            Reason::Permit => "release permits in a `finally` block, as many as were acquired",
            Reason::Latch => {
                "count the latch down in a `finally` block, as often as its count says, in threads that really run"
            }
            Reason::Barrier => {
                "let as many threads come to the barrier as it was made for; one that gives up must break it"
            }
            Reason::Phaser => {
                "let every registered party arrive or deregister, in a `finally` block"
            }
            Reason::Exchange => "let an even number of threads exchange, or wait with a limit",
            Reason::Transfer => "let a consumer run that takes what is transferred",
            Reason::Element => {
                "let producers put an element that says that no more will come, or wait with a limit"
            }
            Reason::Room => {
                "let a consumer run as long as producers do, or offer with a limit: the queue is full"
            }
            Reason::Lock => {
                "release the lock in a `finally` block, and do not acquire it again before: it is not reentrant, or its holder is gone"
            }
            Reason::Park => {
                "park in a loop that checks a condition, and unpark whenever that changes"
            }
            Reason::Result => {
                "complete the future in every case, also when something fails, and do not wait for tasks that wait themselves"
            }
            Reason::Termination => "call `shutdown` before waiting for the end of an executor",
            Reason::End => "let the awaited thread end",
            Reason::Monitor | Reason::Other => {
                "let what the threads wait for happen in every case, or wait with a limit"
            }
        }
    }
}

fn finding(standstill: &Standstill, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
    let stalled = &standstill.stalled;
    let threads = ThreadNames::new(tables, stalled.iter().map(|it| it.thread));
    let site = |it: &Stalled| site_of(tables, it.site);
    let reason = |it: &Stalled| Reason::of(call_name(tables, it.call));
    // The threads in an order that does not depend on the run: what is likely to be the cause comes first.
    let mut sorted: Vec<&Stalled> = stalled.iter().collect();
    sorted.sort_by_cached_key(|it| {
        let held = held_by(standstill, it.thread).count();
        let is_nowhere = it.site == SiteId(0);
        (is_nowhere, reason(it), usize::MAX - held, site(it), threads.name(it.thread))
    });
    let mut shown: Vec<&Stalled> = Vec::new();
    for it in &sorted {
        let alike = shown.iter().filter(|other| (other.call, site(other)) == (it.call, site(it)));
        if alike.count() < MOST_ALIKE && shown.len() < MOST_THREADS {
            shown.push(it);
        }
    }
    let held = standstill.held.iter().map(|(_, lock, site)| (*lock, *site));
    let wanted = stalled.iter().filter_map(|it| Some((it.object?, it.site)));
    let names = lock_names(held.chain(wanted), tables);
    let is_of_pool = !standstill.pools.is_empty();
    let rule = if is_of_pool { RULE } else { HANG_RULE };
    let role = if is_of_pool { "wants" } else { "waits" };
    // What is blamed comes last, as with deadlocks.
    let steps: Vec<Step> = shown
        .iter()
        .rev()
        .flat_map(|it| steps_of(it, role, standstill, tables, (stacks, &threads, &names)))
        .collect();
    let lockout = lockout(standstill, &sorted, tables, (&threads, &names));
    let (blamed, (cause, remedy)) = match lockout {
        _ if is_of_pool => (sorted[0], starvation(standstill, tables)),
        Some(lockout) => lockout,
        None => {
            let (_, what) = waits(sorted[0], tables, &names);
            let cause = match stalled.len() {
                1 => format!(
                    "`{}` waits in `{what}`, and no thread is left that could wake it",
                    threads.name(sorted[0].thread)
                ),
                count => format!(
                    "{} threads wait without a limit, and none is left that could wake one of them",
                    number(count)
                ),
            };
            // What comes first of these says most, wherever the thread is.
            let said = stalled.iter().map(reason).filter(|it| *it <= Reason::Initialiser);
            let first = said.min().unwrap_or_else(|| reason(sorted[0]));
            (sorted[0], (cause, first.remedy().to_string()))
        }
    };
    Finding {
        rule,
        evidence: Evidence::Observed,
        severity: Severity::High,
        blame: site(blamed),
        subjects: BTreeMap::from([("cause", cause), ("remedy", remedy), ("locks", String::new())]),
        stable_subjects: BTreeMap::from([
            ("cause", String::new()),
            ("remedy", String::new()),
            ("locks", String::new()),
        ]),
        witnesses: vec![Witness::new(CHECKER.name, steps)],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}

fn held_by(
    standstill: &Standstill,
    thread: ThreadId,
) -> impl Iterator<Item = (ObjectId, SiteId)> + '_ {
    let held = standstill.held.iter().filter(move |(holder, ..)| *holder == thread);
    held.map(|(_, lock, site)| (*lock, *site))
}

/// A thread that waits for others while it holds a lock that one of these wants: the cause of it, and what to do.
fn lockout<'s>(
    standstill: &Standstill,
    stalled: &[&'s Stalled],
    tables: &Tables,
    known: (&ThreadNames<'_>, &BTreeMap<ObjectId, String>),
) -> Option<(&'s Stalled, (String, String))> {
    stalled.iter().find_map(|waiting| {
        let is_lock =
            matches!(Reason::of(call_name(tables, waiting.call)), Reason::Monitor | Reason::Lock);
        let kept = || keeps_from_others(standstill, waiting, stalled, tables, known);
        if is_lock { None } else { kept().map(|kept| (*waiting, kept)) }
    })
}

/// The same for one thread.
fn keeps_from_others(
    standstill: &Standstill,
    waiting: &Stalled,
    stalled: &[&Stalled],
    tables: &Tables,
    (threads, names): (&ThreadNames<'_>, &BTreeMap<ObjectId, String>),
) -> Option<(String, String)> {
    let wanted = |lock: ObjectId| {
        let mut others = stalled.iter().filter(|other| other.thread != waiting.thread);
        others.find(|other| {
            other.object == Some(lock)
                && matches!(
                    Reason::of(call_name(tables, other.call)),
                    Reason::Monitor | Reason::Lock
                )
        })
    };
    held_by(standstill, waiting.thread).find_map(|(lock, _)| {
        let other = wanted(lock)?;
        let lock = enumerated(&[name_of(names, lock)]);
        let (holder, other) = (threads.name(waiting.thread), threads.name(other.thread));
        let remedy = match Reason::of(call_name(tables, waiting.call)) {
            Reason::Notification | Reason::Condition => format!(
                "release {lock} before waiting, or wait on {lock} itself: a wait gives back no other lock"
            ),
            _ => format!("release {lock} before waiting: waiting gives back no lock"),
        };
        let cause =
            format!("`{holder}` waits while it holds {lock}, and `{other}` needs that to go on");
        Some((cause, remedy))
    })
}

fn starvation(standstill: &Standstill, tables: &Tables) -> (String, String) {
    let stalled = &standstill.stalled;
    let name = |pool: &ObjectId| Subject::Object(*pool).name(tables, stalled[0].site);
    let pools = enumerated(&standstill.pools.iter().map(name).collect::<Vec<_>>());
    let cause = match (stalled.len(), standstill.has_others) {
        (count, true) => format!(
            "{} threads wait for each other, among them all of {pools}: tasks that they wait for are queued there",
            number(count)
        ),
        (1, false) => {
            format!("the only thread of {pools} waits for a task that is queued in it")
        }
        (count, false) => {
            format!("all {} threads of {pools} wait for tasks that are queued in it", number(count))
        }
    };
    let remedy = "do not wait in a task for a task of the same pool: combine the results without waiting, execute the inner task \
                  directly, or give it to another pool";
    (cause, remedy.to_string())
}

fn steps_of(
    it: &Stalled,
    role: &'static str,
    standstill: &Standstill,
    tables: &Tables,
    (stacks, threads, names): (&Stacks<'_>, &ThreadNames<'_>, &BTreeMap<ObjectId, String>),
) -> Vec<Step> {
    let current = stacks.find(it.site, it.thread, Some(Context::default()), None);
    let step = |role: &'static str, site: SiteId, verb: &str, subject: String| Step {
        thread: Some(threads.name(it.thread)),
        action: Some(ThreadAction { verb: verb.to_string(), subject }),
        ..Step::at(role, site_of(tables, site))
    };
    let mut steps = Vec::new();
    for (lock, held_at) in held_by(standstill, it.thread) {
        let mut held = step("holds", held_at, "holds", name_of(names, lock));
        let open = current.clone().and_then(|stack| still_open(&held.site, stack));
        held.stack = open.or_else(|| stacks.find(held_at, it.thread, None, None));
        steps.push(held);
    }
    let (verb, subject) = waits(it, tables, names);
    steps.push(Step { stack: current, ..step(role, it.site, verb, subject) });
    steps
}

/// What a thread does: the verb, and what it does that to.
fn waits(
    it: &Stalled,
    tables: &Tables,
    names: &BTreeMap<ObjectId, String>,
) -> (&'static str, String) {
    let call = call_name(tables, it.call);
    let object = it.object.map(|object| name_of(names, object));
    match (Reason::of(call), object) {
        (Reason::Monitor, object) => {
            ("waits to enter", object.unwrap_or_else(|| "a monitor".to_string()))
        }
        (Reason::Lock, Some(object)) => ("waits for", object),
        (Reason::Notification, Some(object)) => ("waits for a notification of", object),
        (Reason::Condition, Some(object)) => ("waits for a signal of a condition of", object),
        (Reason::Initialiser, _) => ("waits for the", "initialiser of a class".to_string()),
        (Reason::Carrier, _) => ("is ready to run and has no", "carrier".to_string()),
        _ => ("waits in", short(call)),
    }
}

/// `java.util.concurrent.Semaphore.acquire` without its package, and `Condition.await` as people know it.
fn short(call: &str) -> String {
    let (class, method) = call.rsplit_once('.').unwrap_or(("", call));
    let class = class.rsplit(['.', '$']).next().unwrap_or(class);
    let class = if class == "ConditionObject" { "Condition" } else { class };
    format!("{class}.{method}")
}

fn name_of(names: &BTreeMap<ObjectId, String>, object: ObjectId) -> String {
    names.get(&object).cloned().unwrap_or_default()
}

fn call_name(tables: &Tables, call: ClassId) -> &str {
    tables.classes.get(call.0 as usize).map_or("", |entry| entry.name.as_str())
}

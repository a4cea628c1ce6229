//! From deadlocks to findings.

use std::collections::BTreeMap;

use events::{Context, ObjectId, SiteId, Tables, ThreadId};
use findings::{Evidence, Finding, Severity, Site, Stack, Step, ThreadAction, Witness};

use super::{Deadlock, Grade, RULE, Waiter, Wanted};
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};

/// The findings, observed ones first.
pub(super) fn findings<'a>(
    deadlocks: impl Iterator<Item = &'a Deadlock>,
    tables: &Tables,
) -> Vec<Finding> {
    let stacks = Stacks::new(tables);
    deadlocks.map(|deadlock| finding(deadlock, tables, &stacks)).collect()
}

fn finding(deadlock: &Deadlock, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
    let waiters = &deadlock.waiters;
    let threads = ThreadNames::new(tables, waiters.iter().map(|waiter| waiter.thread));
    let held = waiters.iter().filter_map(|waiter| waiter.held);
    let wanted = waiters.iter().filter_map(|waiter| match waiter.wanted {
        Wanted::Lock(lock) => Some((lock, waiter.wanted_at)),
        Wanted::End(_) => None,
    });
    let names = lock_names(held.chain(wanted), tables);
    let mut steps: Vec<Vec<Step>> = waiters
        .iter()
        .map(|waiter| steps_of(waiter, deadlock.evidence, tables, stacks, &threads, &names))
        .collect();
    // Which thread came first depends on the run; where they are does not.
    let place = |steps: &Vec<Step>| {
        let sites = steps.iter().map(|step| (step.role, step.site.clone()));
        (sites.collect::<Vec<_>>(), steps.first().and_then(|step| step.thread.clone()))
    };
    let first = (0..steps.len())
        .min_by_key(|at| steps[*at..].iter().chain(&steps[..*at]).map(place).collect::<Vec<_>>());
    // What is blamed comes last: readers are sent there.
    let first = first.map_or(0, |first| (first + 1) % steps.len());
    steps.rotate_left(first);
    let steps = steps.concat();
    let blame = steps.iter().rfind(|step| step.role == WANTS).map(|step| step.site.clone());
    let locks: Vec<String> = distinct(steps.iter().filter(|step| step.role == WANTS));
    let classes: Vec<String> =
        locks.iter().map(|lock| lock.split('#').next().unwrap_or(lock).to_string()).collect();
    let has_happened = deadlock.evidence == Evidence::Observed;
    let is_proven = deadlock.grade == Grade::Proven;
    let cause = match (waiters.len(), has_happened, is_proven) {
        (1, ..) => "the thread waits for what it holds itself".to_string(),
        (count, true, _) => format!("{} threads wait for each other", number(count)),
        (count, false, true) => {
            format!("{} threads can come to wait for each other", number(count))
        }
        (count, false, false) => format!(
            "{} threads acquire locks in different orders; that they can wait for each other is not proven",
            number(count)
        ),
    };
    Finding {
        rule: RULE,
        evidence: deadlock.evidence,
        severity: match deadlock.grade {
            Grade::Proven => Severity::High,
            Grade::Unordered => Severity::Medium,
            Grade::SeenInOrder => Severity::Low,
        },
        blame: blame.unwrap_or_else(|| site_of(tables, SiteId(0))),
        subjects: BTreeMap::from([
            ("cause", cause),
            ("remedy", remedy(waiters, &locks)),
            ("locks", enumerated(&locks)),
        ]),
        // What was predicted in one run and observed in the next is the same.
        stable_subjects: BTreeMap::from([
            ("cause", String::new()),
            ("remedy", String::new()),
            ("locks", enumerated(&classes)),
        ]),
        witnesses: vec![Witness::new(super::CHECKER.name, steps)],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}

const HOLDS: &str = "holds";
/// What the agent calls a task that a thread executes and another one waits for.
const TASK: &str = "FutureTask";
const WANTS: &str = "wants";

/// One name for each lock, wherever it is met: by the field that it was read from, if a place knows that, and not by the number of
/// the object.
pub(super) fn lock_names(
    met: impl Iterator<Item = (ObjectId, SiteId)>,
    tables: &Tables,
) -> BTreeMap<ObjectId, String> {
    let mut names: BTreeMap<ObjectId, String> = BTreeMap::new();
    for (lock, site) in met {
        let name = Subject::Lock(lock).name(tables, site);
        let known = names.entry(lock).or_insert_with(|| name.clone());
        if known.contains('#') && !name.contains('#') {
            *known = name;
        }
    }
    // The same field of two objects.
    let all: Vec<String> = names.values().cloned().collect();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.values_mut() {
        if all.iter().filter(|other| *other == name).count() > 1 {
            let number = numbers.entry(name.clone()).or_default();
            *number += 1;
            *name = format!("{name}#{number}");
        }
    }
    names
}

fn steps_of(
    waiter: &Waiter,
    evidence: Evidence,
    tables: &Tables,
    stacks: &Stacks<'_>,
    threads: &ThreadNames<'_>,
    names: &BTreeMap<ObjectId, String>,
) -> Vec<Step> {
    let name = |lock: ObjectId| names.get(&lock).cloned().unwrap_or_default();
    // The agent records the stack of a blocked thread outside of all blocks.
    let find = |site: SiteId| stacks.find(site, waiter.thread, Some(Context::default()), None);
    let step = |role: &'static str, site: SiteId, verb: &str, subject: String| Step {
        thread: Some(threads.name(waiter.thread)),
        action: Some(ThreadAction { verb: verb.to_string(), subject }),
        stack: find(site),
        ..Step::at(role, site_of(tables, site))
    };
    let mut steps = Vec::new();
    let site = waiter.wanted_at;
    if let Some((lock, held_at)) = waiter.held {
        let mut held = step(HOLDS, held_at, "holds", name(lock));
        // The method that has acquired the lock is still open, as a rule, and so its stack is known.
        let current = if evidence == Evidence::Observed { find(site) } else { None };
        held.stack = current.and_then(|stack| still_open(&held.site, stack)).or(held.stack);
        steps.push(held);
    }
    let (verb, subject) = match waiter.wanted {
        Wanted::Lock(lock) => ("waits for", name(lock)),
        Wanted::End(thread) => ("waits for the end of", thread_name(tables, thread)),
    };
    steps.push(step(WANTS, site, verb, subject));
    steps
}

/// The part of a blocked thread's stack from the method of a site outwards, if that is open.
pub(super) fn still_open(site: &Site, stack: Stack) -> Option<Stack> {
    let is_method = |frame: &Site| (&frame.class, &frame.method) == (&site.class, &site.method);
    let at = stack.frames.iter().position(is_method)?;
    let mut frames = stack.frames[at..].to_vec();
    frames[0].line = site.line;
    Some(Stack { frames, ..stack })
}

fn thread_name(tables: &Tables, thread: ThreadId) -> String {
    ThreadNames::new(tables, [thread].into_iter()).name(thread)
}

/// What the steps are about, each once, in their order.
fn distinct<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in steps.filter_map(|step| step.action.as_ref()).map(|action| &action.subject) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// What to do about it.
fn remedy(waiters: &[Waiter], locks: &[String]) -> String {
    let waits_for_end = waiters.iter().any(|waiter| matches!(waiter.wanted, Wanted::End(_)));
    if locks.iter().any(|lock| lock.starts_with("initialiser of ")) {
        return "let no static initialiser use a class whose initialiser, or that of a subclass, uses its own class: move that code to a method \
                or a class of its own"
            .to_string();
    }
    if locks.iter().any(|lock| lock.starts_with(TASK)) {
        return "wait for no task while holding what it needs, and let no tasks wait for each other"
            .to_string();
    }
    match waiters.len() {
        1 => format!(
            "release {} before acquiring it again: it cannot be acquired while the thread itself holds it in this mode",
            enumerated(locks)
        ),
        _ if waits_for_end => {
            "release the lock that the awaited thread needs before waiting for its end".to_string()
        }
        _ => format!(
            "acquire {} in one order everywhere, or release the first before acquiring the second",
            enumerated(locks)
        ),
    }
}

/// "`A`, `B` and `C`".
pub(super) fn enumerated(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

pub(super) fn number(count: usize) -> String {
    match count {
        2 => "two".to_string(),
        3 => "three".to_string(),
        4 => "four".to_string(),
        count => count.to_string(),
    }
}

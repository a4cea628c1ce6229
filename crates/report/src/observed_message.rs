//! The sentence that heads what was observed: who did what to which variable of which object, and where.

use findings::{Evidence, Finding, Step, ThreadAction};

use crate::words;

/// How many of the threads that wait are named.
const WAITING_SHOWN: usize = 3;

/// The sentence; nothing if the finding does not say who did it.
pub(crate) fn of(finding: &Finding) -> Option<String> {
    let steps = &finding.witnesses.first()?.steps;
    match finding.rule {
        "happens-before-race" => race(finding, steps),
        "lockset-race" => unguarded_variable(finding, steps),
        "object-race" => unguarded_object(finding, steps),
        "not-serializable" => split(finding, steps),
        "breakable-block" => breakable(finding, steps),
        "irreducible-block" => irreducible(finding, steps),
        "object-inconsistency" => inconsistent(finding, steps),
        "deadlock" | "hang" => standstill(finding, steps),
        _ => None,
    }
}

/// `` `Thread-0` writes it (Table.java:25)``: what a thread does to a variable that was named before.
fn does_to_it(step: &Step) -> Option<String> {
    let (thread, action) = (step.thread.as_ref()?, step.action.as_ref()?);
    Some(format!("`{thread}` {} it ({})", action.verb, words::short_place(&step.site)))
}

/// `` `Thread-0` writes `Table#1.hits` (Table.java:25)``.
fn does(step: &Step) -> Option<String> {
    let (thread, action) = (step.thread.as_ref()?, step.action.as_ref()?);
    let place = words::short_place(&step.site);
    Some(format!("`{thread}` {} `{}` ({place})", action.verb, action.subject))
}

fn unguarded_variable(finding: &Finding, steps: &[Step]) -> Option<String> {
    let variable = finding.subjects.get("variable")?;
    let accesses: Option<Vec<String>> = steps.iter().map(does_to_it).collect();
    let accesses = accesses.filter(|it| !it.is_empty())?.join(" and ");
    let blame = finding.blame.method_name();
    Some(format!(
        "no lock guards `{variable}` in `{blame}`: {accesses}, and no lock was held at every access so far"
    ))
}

fn unguarded_object(finding: &Finding, steps: &[Step]) -> Option<String> {
    let object = finding.subjects.get("object")?;
    let accesses: Option<Vec<String>> = steps.iter().map(does).collect();
    let accesses = accesses.filter(|it| !it.is_empty())?.join(" and ");
    let blame = finding.blame.method_name();
    Some(format!(
        "no lock guards `{object}` in `{blame}`: {accesses}, and no lock was held at every access to it so far"
    ))
}

fn race(finding: &Finding, steps: &[Step]) -> Option<String> {
    let [first, second] = steps else { return None };
    let (first, second) = (does_to_it(first)?, does_to_it(second)?);
    let variable = finding.subjects.get("variable")?;
    let blame = finding.blame.method_name();
    Some(format!(
        "data race on `{variable}` in `{blame}`: {first} and {second}, and nothing orders the two"
    ))
}

fn split(finding: &Finding, steps: &[Step]) -> Option<String> {
    let of_role = |role: &str| steps.iter().find(|step| step.role == role);
    let (first, second) = (of_role("first")?, of_role("second")?);
    let thread = first.thread.as_ref()?;
    let is_of_other =
        |step: &&Step| step.role == "interferes" && step.thread.as_ref() != Some(thread);
    // What comes right before the second use is what splits the block; a release says less than what was done before it.
    let others: Vec<&Step> = steps.iter().filter(is_of_other).collect();
    let other = others.last()?;
    let (other_thread, action) = (other.thread.as_ref()?, other.action.as_ref()?);
    let did = past_tense(&action.verb);
    let place = words::short_place(&other.site);
    let what = object_of(other, first, second)?;
    let between = between(finding, first, second)?;
    Some(format!(
        "`{}` is not atomic: between {between} in `{thread}`, `{other_thread}` {did} {what} ({place})",
        finding.blame.method_name()
    ))
}

fn breakable(finding: &Finding, steps: &[Step]) -> Option<String> {
    let of_role = |role: &str| steps.iter().find(|step| step.role == role);
    let (first, second) = (of_role("first")?, of_role("second")?);
    let thread = first.thread.as_ref()?;
    let is_of_other =
        |step: &&Step| step.role == "interferes" && step.thread.as_ref() != Some(thread);
    let others: Vec<&Step> = steps.iter().filter(is_of_other).collect();
    let other = others.last()?;
    let (other_thread, action) = (other.thread.as_ref()?, other.action.as_ref()?);
    let can = match action.verb.trim_start_matches("would ") {
        "reads" | "read" => "read",
        "writes" | "write" => "write",
        "updates" => "update",
        _ => "use",
    };
    let place = words::short_place(&other.site);
    let what = object_of(other, first, second)?;
    let between = between(finding, first, second)?;
    Some(format!(
        "`{}` can be split: between {between} in `{thread}`, `{other_thread}` can {can} {what} ({place})",
        finding.blame.method_name()
    ))
}

fn irreducible(finding: &Finding, steps: &[Step]) -> Option<String> {
    let of_role = |role: &str| steps.iter().find(|step| step.role == role);
    let (first, second) = (of_role("first")?, of_role("second")?);
    let thread = first.thread.as_ref()?;
    let between = match (named_use(finding, first)?, named_use(finding, second)?) {
        (one, other) if one == other => two_uses(finding, first)?,
        (one, other) => format!("its {one} and its {other}"),
    };
    Some(format!(
        "`{}` may not be atomic: between {between} in `{thread}`, other threads can run",
        finding.blame.method_name()
    ))
}

fn inconsistent(finding: &Finding, steps: &[Step]) -> Option<String> {
    let of_role = |role: &str| steps.iter().find(|step| step.role == role);
    let (first, other, second) = (of_role("first")?, of_role("interferes")?, of_role("second")?);
    let (thread, other_thread) = (first.thread.as_ref()?, other.thread.as_ref()?);
    let did = past_tense(&other.action.as_ref()?.verb);
    let place = words::short_place(&other.site);
    let what = object_of(other, first, second)?;
    let between = between(finding, first, second)?;
    Some(format!(
        "`{}` was at work on `{}` when another thread used it: between {between} in `{thread}`, `{other_thread}` {did} {what} ({place})",
        finding.blame.method_name(),
        finding.subjects.get("object")?
    ))
}

/// The cause, and what each thread holds and waits for.
fn standstill(finding: &Finding, steps: &[Step]) -> Option<String> {
    let has_happened = finding.evidence == Evidence::Observed;
    let mut waiting: Vec<String> = Vec::new();
    let mut held: Option<&Step> = None;
    for step in steps {
        if step.role == "holds" {
            held = Some(step);
            continue;
        }
        let (thread, action) = (step.thread.as_ref()?, step.action.as_ref()?);
        let place = words::short_place(&step.site);
        let held = held
            .take()
            .filter(|held| held.thread == step.thread)
            .and_then(|held| Some(&held.action.as_ref()?.subject));
        let ThreadAction { verb, subject } = action;
        waiting.push(match held {
            Some(held) if has_happened => {
                format!("`{thread}` holds `{held}` and {verb} `{subject}` ({place})")
            }
            Some(held) => {
                format!("`{thread}` acquires `{subject}` while it holds `{held}` ({place})")
            }
            None => format!("`{thread}` {verb} `{subject}` ({place})"),
        });
    }
    // What is blamed comes last where threads do not wait in a cycle.
    if finding.rule == "hang" {
        waiting.reverse();
    }
    let left_out = waiting.len().saturating_sub(WAITING_SHOWN);
    waiting.truncate(WAITING_SHOWN);
    let more = if left_out > 0 { format!("; and {left_out} more") } else { String::new() };
    (!waiting.is_empty()).then(|| {
        let (rule, blame) = (finding.rule, finding.blame.method_name());
        let cause = finding.subjects.get("cause").map_or("", String::as_str);
        format!("{rule} in `{blame}`: {cause}: {}{more}", waiting.join("; "))
    })
}

/// What another thread does it to: "it", if the block did nothing else to that.
fn object_of(other: &Step, first: &Step, second: &Step) -> Option<String> {
    let subject = &other.action.as_ref()?.subject;
    let is_same = |step: &Step| {
        step.action.as_ref().is_some_and(|it| it.subject == *subject && !is_lock(&it.verb))
    };
    Some(if is_same(first) && is_same(second) { "it".to_string() } else { format!("`{subject}`") })
}

/// "its read of `x` (A.java:3) and its write of `x` (A.java:5)".
fn between(finding: &Finding, first: &Step, second: &Step) -> Option<String> {
    Some(match (use_of(finding, first)?, use_of(finding, second)?) {
        (one, other) if one == other => two_uses(finding, first)?,
        (one, other) => format!("its {one} and its {other}"),
    })
}

fn past_tense(verb: &str) -> &str {
    match verb {
        verb if is_lock(verb) => "held",
        "reads" => "read",
        "writes" => "wrote",
        "updates" => "updated",
        "starts" => "started",
        "begins" => "began",
        "ends" => "ended",
        "joins" | "waits for the end of" => "waited for the end of",
        "publishes to" => "published to",
        "receives from" => "received from",
        _ => "used",
    }
}

/// What an operation is called, alone and if there are two of it.
fn nouns(verb: &str) -> (&'static str, &'static str) {
    match verb.trim_start_matches("would ") {
        "reads" | "read" => ("read", "reads"),
        "writes" | "write" => ("write", "writes"),
        "updates" => ("update", "updates"),
        "starts" => ("start", "starts"),
        verb if verb.starts_with("acquire") => ("acquisition", "acquisitions"),
        verb if verb.starts_with("release") => ("release", "releases"),
        _ => ("use", "uses"),
    }
}

fn is_lock(verb: &str) -> bool {
    ["acquires", "releases"].iter().any(|word| verb.starts_with(word))
}

/// `read of `Account#1.cents` (Account.java:18)`, `call of `Account.balance` (Teller.java:10)`.
fn use_of(finding: &Finding, step: &Step) -> Option<String> {
    let noun = nouns(&step.action.as_ref()?.verb).0;
    match called_in_block(finding, step) {
        Some((method, place)) if matches!(noun, "acquisition" | "release") => {
            Some(format!("call of `{method}` ({place})"))
        }
        _ => named_use(finding, step),
    }
}

/// The same, with the lock of a method that is called.
fn named_use(finding: &Finding, step: &Step) -> Option<String> {
    let action = step.action.as_ref()?;
    let (noun, subject) = (nouns(&action.verb).0, &action.subject);
    Some(match called_in_block(finding, step) {
        Some((method, place)) => format!("{noun} of `{subject}` in `{method}` ({place})"),
        None => {
            let place = words::short_place(words::shown_site(finding, step));
            format!("{noun} of `{subject}` ({place})")
        }
    })
}

/// The method that the block calls to get to a step, and where it does.
fn called_in_block(finding: &Finding, step: &Step) -> Option<(String, String)> {
    let (depth, shown) = words::frame_in_block(finding, step)?;
    let frames = &step.stack.as_ref()?.frames;
    let called = frames.get(depth.checked_sub(1)?)?;
    Some((words::short_method(called), words::short_place(shown)))
}

/// Two uses that were recorded with the same stack: `two reads of `Account#1` in `Account.balance` (from Teller.java:37)`.
fn two_uses(finding: &Finding, step: &Step) -> Option<String> {
    let action = step.action.as_ref()?;
    let (nouns, subject) = (nouns(&action.verb).1, &action.subject);
    let method = words::short_method(&step.site);
    let place = words::short_place(words::shown_site(finding, step));
    Some(format!("two {nouns} of `{subject}` in `{method}` (from {place})"))
}

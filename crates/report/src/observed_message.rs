//! The sentence that heads what was observed: who did what to which variable of which object, and where.

use findings::{Finding, Step};

use crate::words;

/// The sentence; nothing if the finding does not say who did it.
pub(crate) fn of(finding: &Finding) -> Option<String> {
    let steps = &finding.witnesses.first()?.steps;
    match finding.rule {
        "happens-before-race" => race(finding, steps),
        "not-serializable" => split(finding, steps),
        _ => None,
    }
}

fn race(finding: &Finding, steps: &[Step]) -> Option<String> {
    let [first, second] = steps else { return None };
    let did = |step: &Step| {
        let (thread, action) = (step.thread.as_ref()?, step.action.as_ref()?);
        Some(format!("`{thread}` {} it ({})", action.verb, words::short_place(&step.site)))
    };
    let (first, second) = (did(first)?, did(second)?);
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
    let did = match action.verb.as_str() {
        verb if is_lock(verb) => "held",
        "reads" => "read",
        "writes" => "wrote",
        "updates" => "updated",
        _ => "used",
    };
    let place = words::short_place(&other.site);
    let is_same = |step: &Step| {
        step.action.as_ref().is_some_and(|it| it.subject == action.subject && !is_lock(&it.verb))
    };
    let what = if is_same(first) && is_same(second) {
        "it".to_string()
    } else {
        format!("`{}`", action.subject)
    };
    let between = match (use_of(finding, first)?, use_of(finding, second)?) {
        (one, other) if one == other => two_uses(finding, first)?,
        (one, other) => format!("its {one} and its {other}"),
    };
    Some(format!(
        "`{}` is not atomic: between {between} in `{thread}`, `{other_thread}` {did} {what} ({place})",
        finding.blame.method_name()
    ))
}

fn is_lock(verb: &str) -> bool {
    ["acquires", "releases"].iter().any(|word| verb.starts_with(word))
}

/// `read of `Account#1.cents` (Account.java:18)`, `call of `Account.balance` (Teller.java:10)`.
fn use_of(finding: &Finding, step: &Step) -> Option<String> {
    let action = step.action.as_ref()?;
    let in_block = words::frame_in_block(finding, step);
    let shown = in_block.map_or(&step.site, |(_, frame)| frame);
    let place = words::short_place(shown);
    let called = in_block.filter(|(depth, _)| *depth > 0).and_then(|(depth, _)| {
        let frames = &step.stack.as_ref()?.frames;
        Some(words::short_method(frames.get(depth - 1)?))
    });
    let subject = &action.subject;
    let noun = match action.verb.as_str() {
        "reads" => "read",
        "writes" => "write",
        "updates" => "update",
        verb if verb.starts_with("acquires") => "acquisition",
        verb if verb.starts_with("releases") => "release",
        _ => "use",
    };
    Some(match called {
        Some(method) if matches!(noun, "acquisition" | "release") => {
            format!("call of `{method}` ({place})")
        }
        Some(method) => format!("{noun} of `{subject}` in `{method}` ({place})"),
        None => format!("{noun} of `{subject}` ({place})"),
    })
}

/// Two uses that were recorded with the same stack: `two uses of `Account#1` in `Account.balance` (from Teller.java:37)`.
fn two_uses(finding: &Finding, step: &Step) -> Option<String> {
    let subject = &step.action.as_ref()?.subject;
    let method = words::short_method(&step.site);
    let place = words::short_place(words::shown_site(finding, step));
    Some(format!("two uses of `{subject}` in `{method}` (from {place})"))
}

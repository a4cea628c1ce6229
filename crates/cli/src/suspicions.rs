//! The file of `--suspicions`: the findings of an earlier `check` or `run`, which this run is to observe.
//!
//! With `--adversarial`, threads are held back from the start where they could complete what is suspected, between the
//! two uses of the block: before the lock under which the second use is made is acquired, or else before the use. A
//! use on a side of a branch that the earlier run did not take is a place like any other: if this run takes the side,
//! the thread is held there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agent_protocol::SuspectPlace;
use anyhow::anyhow;
use findings::{Finding, Site, Step, put_under};

use crate::config::why_unreadable;
use crate::output;

/// The name of the list of places among the results of a run.
const PLACES: &str = "suspicious-places.txt";

/// Where the second use of what can be split is, by rule: the role of the step after which nothing can be mended.
const COMPLETED_BY: &[(&str, &str)] = &[
    ("breakable-block", "second"),
    ("irreducible-block", "second"),
    ("not-serializable", "second"),
    ("inconsistent-method", "second"),
    ("reacquired-lock", "second"),
    ("reacquired-lock-pair", "second"),
    ("stale-value", "used"),
    ("stale-value", "written"),
];

/// Findings about threads that wait, which a run observes as a deadlock or a hang. Where locks are acquired in a cycle, threads are
/// held back before they want the second one.
const WAITS: &[&str] = &["deadlock", "lock-order-cycle", "critical-wait", "indefinite-wait"];

/// What a run is to observe.
#[derive(Debug)]
pub(crate) struct Suspicions {
    path: PathBuf,
    findings: Vec<Finding>,
}

impl Suspicions {
    /// Reads a report in JSON.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Suspicions> {
        let refused =
            |why: String| anyhow!("cannot use the suspicions in `{}`: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|error| refused(why_unreadable(&error)))?;
        let mut findings =
            report::read_findings(&text).map_err(|error| refused(error.to_string()))?;
        findings.retain(|finding| {
            COMPLETED_BY.iter().any(|(rule, _)| *rule == finding.rule)
                || WAITS.contains(&finding.rule)
        });
        Ok(Suspicions { path: path.to_path_buf(), findings })
    }

    /// Writes the places where threads are to be held back into the directory of the results.
    pub(crate) fn write_places(&self, directory: &Path) -> anyhow::Result<PathBuf> {
        let path = directory.join(PLACES);
        let places: BTreeSet<SuspectPlace> = self.findings.iter().flat_map(places).collect();
        output::write_file(&path, |writer| {
            writeln!(
                writer,
                "# Where `scission run --adversarial --suspicions` holds threads back."
            )?;
            let mut writable = places.iter().filter(|place| place.can_be_written());
            writable.try_for_each(|place| writeln!(writer, "{place}"))
        })?;
        Ok(path)
    }

    /// Puts the suspicions under the findings of the run that are about the same; what came of them, in one sentence.
    pub(crate) fn compare(self, findings: &mut [Finding]) -> String {
        // Reports do not say where files are.
        let path = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let all = self.findings.len();
        let observed = put_under(findings, self.findings);
        match (all, observed) {
            (0, _) => format!("`{path}` has no finding that a run can observe"),
            (1, 0) => {
                format!(
                    "the suspicion in `{path}` was not observed in this run, which does not refute it"
                )
            }
            (1, _) => format!("the suspicion in `{path}` was observed in this run"),
            (all, 0) => format!(
                "none of the {all} suspicions in `{path}` was observed in this run, which does not refute them"
            ),
            (all, observed) => {
                format!("{observed} of the {all} suspicions in `{path}` were observed in this run")
            }
        }
    }
}

/// Where threads are to be held back so that a finding can happen.
fn places(finding: &Finding) -> Vec<SuspectPlace> {
    let roles = COMPLETED_BY.iter().filter(|(rule, _)| *rule == finding.rule);
    let roles: Vec<&str> = roles.map(|(_, role)| *role).collect();
    let mut places = Vec::new();
    let all_steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
    for step in all_steps.filter(|_| WAITS.contains(&finding.rule)) {
        let site = step.call_chain.last().unwrap_or(&step.site);
        // Where a thread was found waiting, and no hook was, nobody can be held back.
        if step.role.starts_with("wants") && site.offset.is_some() {
            places.push(SuspectPlace::at(site));
        }
    }
    for witness in &finding.witnesses {
        let first = witness.steps.iter().find(|step| ["first", "read"].contains(&step.role));
        for step in witness.steps.iter().filter(|step| roles.contains(&step.role)) {
            places.extend(before(step, first));
        }
        // Two blocks that split each other only are both to be held back.
        if witness.steps.iter().any(|step| step.role == "together")
            && let Some(last) = witness.steps.iter().rfind(|step| step.role == "interferes")
        {
            let first = witness.steps.iter().find(|step| step.role == "interferes");
            places.extend(before(last, first));
        }
    }
    places
}

/// The places before a use: where the outermost lock is acquired that is held at it, and not since the first use; and
/// where that acquisition is a synchronized method, which has its lock before anybody can be held there, its call.
fn before(step: &Step, first: Option<&Step>) -> Vec<SuspectPlace> {
    let is_held_before = |lock| first.is_some_and(|first| first.held_locks.contains(lock));
    let acquired = step.held_locks.iter().find(|lock| !is_held_before(*lock));
    let Some(acquired) = acquired else { return vec![SuspectPlace::at(&step.site)] };
    let mut places = vec![SuspectPlace::at(&acquired.taken_at)];
    if !step.call_chain.is_empty() {
        // The step is the call that leads there.
        places.push(SuspectPlace::at(&step.site));
    }
    let frames = step.stack.as_ref().map_or(&[][..], |stack| &stack.frames[..]);
    let is_method = |frame: &Site| {
        (&frame.class, &frame.method, &frame.descriptor)
            == (&acquired.taken_at.class, &acquired.taken_at.method, &acquired.taken_at.descriptor)
    };
    if acquired.taken_at.offset.is_none()
        && let Some(at) = frames.iter().rposition(is_method)
        && let Some(caller) = frames.get(at + 1)
    {
        places.extend(SuspectPlace::calls_at(caller, &acquired.taken_at.method));
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use findings::{Evidence, HeldLock, Severity, Stack, Witness};

    use super::*;

    fn site(method: &str, offset: Option<u32>, line: u32) -> Site {
        let (class, descriptor) = ("p.A".into(), "()V".into());
        Site { class, method: method.into(), descriptor, offset, file: None, line: Some(line) }
    }

    fn finding(steps: Vec<Step>) -> Finding {
        Finding {
            rule: "breakable-block",
            evidence: Evidence::Predicted,
            severity: Severity::Medium,
            blame: site("m", None, 1),
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness::new("hybrid", steps)],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    fn lines(steps: Vec<Step>) -> Vec<String> {
        places(&finding(steps)).iter().map(ToString::to_string).collect()
    }

    fn held(taken_at: Site) -> Vec<HeldLock> {
        vec![HeldLock { lock: "A#1".into(), taken_at }]
    }

    #[test]
    fn threads_are_held_before_the_second_use() {
        let first = Step::at("first", site("m", Some(4), 2));
        let second = Step::at("second", site("m", Some(9), 3));
        assert_eq!(lines(vec![first.clone(), second.clone()]), ["p.A m ()V 9"]);
        let locked = Step { held_locks: held(site("m", Some(7), 3)), ..second.clone() };
        assert_eq!(lines(vec![first.clone(), locked.clone()]), ["p.A m ()V 7"]);
        // A lock that is held since the first use keeps nobody out that could come in between.
        let all_the_time = Step { held_locks: locked.held_locks.clone(), ..first };
        assert_eq!(lines(vec![all_the_time, locked]), ["p.A m ()V 9"]);
    }

    #[test]
    fn the_lock_of_a_method_is_acquired_by_its_call() {
        let frames = vec![site("set", None, 20), site("m", None, 3), site("run", None, 40)];
        let second = Step {
            held_locks: held(site("set", None, 20)),
            stack: Some(Stack { frames, is_same_context: true }),
            ..Step::at("second", site("set", Some(2), 20))
        };
        let first = Step::at("first", site("get", Some(1), 10));
        assert_eq!(lines(vec![first, second]), ["p.A set ()V -", "p.A m ()V 3:set"]);
    }

    #[test]
    fn both_of_two_blocks_that_split_each_other_are_held() {
        let steps = vec![
            Step::at("together", site("n", None, 1)),
            Step::at("first", site("m", Some(1), 1)),
            Step::at("interferes", site("n", Some(2), 1)),
            Step::at("interferes", site("n", Some(3), 1)),
            Step::at("second", site("m", Some(4), 1)),
        ];
        assert_eq!(lines(steps), ["p.A m ()V 4", "p.A n ()V 3"]);
    }
}

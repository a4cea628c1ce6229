//! Findings, and how they are merged and ranked.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, GRADE, Gap, Site, observed_defect, rules, same_defect};

/// How sure we are of a finding; the order is from weakest to strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Found in the code, by static analysis.
    Possible,
    /// Another order of a run that was observed.
    Predicted,
    /// It happened in a run.
    Observed,
}

/// How much a finding matters if it is real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look when time allows.
    Low,
    /// Likely to be a defect under load.
    Medium,
    /// Almost surely a defect.
    High,
}

impl Severity {
    /// One step higher; the highest stays what it is.
    #[must_use]
    pub fn raised(self) -> Severity {
        match self {
            Severity::Low => Severity::Medium,
            Severity::Medium | Severity::High => Severity::High,
        }
    }
}

/// A lock held at a step, with the site where it was acquired.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HeldLock {
    /// The lock as the source would write it: `this`, `point`, `Config.class`.
    pub lock: String,
    /// Where it was acquired.
    pub taken_at: Site,
}

/// One step of a witness: something that happens at a site and plays a role in the rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Step {
    /// One of the roles that the rule declares.
    pub role: &'static str,
    /// Where it happens, in the blamed code: the line the user reads first.
    pub site: Site,
    /// The calls from `site` down to where the lock or variable itself is touched; empty when that
    /// is `site`.
    pub call_chain: Vec<Site>,
    /// Locks held at this step.
    pub held_locks: Vec<HeldLock>,
    /// Who did it, in a run that was observed; or who may do it, in the example that an analysis gives.
    pub thread: Option<String>,
    /// What is done there.
    pub action: Option<ThreadAction>,
    /// How the thread got there, or gets there in the example.
    pub stack: Option<Stack>,
}

impl Step {
    /// A step of which only the place is known.
    #[must_use]
    pub fn at(role: &'static str, site: Site) -> Step {
        let (call_chain, held_locks) = (Vec::new(), Vec::new());
        Step { role, site, call_chain, held_locks, thread: None, action: None, stack: None }
    }
}

/// What a thread does: it `reads` `Account#3.balance`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadAction {
    /// What it does: `reads`, `writes`, `acquires`, `starts`; the words are chosen from a list by the
    /// checker, so that all reports use the same ones.
    pub verb: String,
    /// What it does this to.
    pub subject: String,
}

/// How a thread got to a place: the calls that were open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stack {
    /// Innermost first: the place itself, then where it was called from.
    pub frames: Vec<Site>,
    /// Whether the stack was recorded in the same thread and the same blocks; otherwise it is one that was
    /// seen at the same place another time.
    pub is_same_context: bool,
}

/// A cycle of transactions: why no order of whole blocks explains a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cycle {
    /// The transactions, in the order of the cycle; the one that closed it comes first.
    pub transactions: Vec<Transaction>,
    /// What orders each of them before the next; the last edge leads back to the first transaction and
    /// closed the cycle.
    pub edges: Vec<CycleEdge>,
    /// The blocks around the blamed one that were split with it, outermost first.
    pub outer_blocks: Vec<Site>,
    /// How many violations of this shape there were.
    pub count: u64,
    /// Why it does no harm, if its operations show that each time.
    pub benign: Option<BenignCycle>,
}

/// An idiom whose cycles do no harm: the block does not rely on what it read before another thread came in between, or
/// that thread has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenignCycle {
    /// The block reads a variable again and again at the same place, until another thread has changed it.
    Polling,
    /// The block read a variable and tried to update it in one step, which failed because another thread had changed it.
    FailedUpdate,
    /// The block changed a variable twice, and all that came in between is that another thread failed to update it in one
    /// step: a lock that a program makes of an atomic variable.
    OthersFailed,
    /// The block read a variable, acquired a lock and read it again: another thread had initialised it in the meantime.
    DoubleChecked,
    /// The block acquired a lock again that another thread had held meanwhile, and came upon nothing that this thread had done.
    NothingChanged,
    /// The block acquired a lock again and only updated what it had updated before, by what it found there.
    UpdatedAgain,
    /// The block acquired a lock again and looked for the same once more before it changed anything.
    LookedAgain,
    /// Threads used a class that another one had initialised.
    ClassInitialised,
}

/// One execution of an atomic block, or what a thread did outside of any.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Transaction {
    /// Who.
    pub thread: String,
    /// The outermost block that was executed; none outside of blocks, and where it is not known.
    pub block: Option<Site>,
    /// Whether the block to blame is this one or one inside it.
    pub is_blamed: bool,
}

/// What kind of reason there is for one transaction to come before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// Two operations that conflict, or of which one waits for the other.
    Operations,
    /// Both are of one thread.
    Order,
    /// Operations of other transactions in between, which the checker did not keep.
    Omitted,
}

/// Why one transaction comes before another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CycleEdge {
    /// What kind of reason it is.
    pub kind: EdgeKind,
    /// What the two operations have to do with each other: `Account#3.balance`.
    pub subject: String,
    /// The operation that comes before.
    pub from: Operation,
    /// The operation that comes after.
    pub to: Operation,
    /// Whether nothing but the observation orders the two: they race, and may have happened the other way
    /// round. Set by [`merge_and_rank`].
    pub is_race: bool,
}

/// One end of an edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Operation {
    /// What is done, in the words of [`ThreadAction::verb`].
    pub verb: String,
    /// Where.
    pub site: Option<Site>,
    /// How the thread got there.
    pub stack: Option<Stack>,
}

/// What proves a finding: the steps, in the order in which they happen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Witness {
    /// The analysis or checker that produced it: `lock-pattern`, `velodrome`.
    pub analysis: &'static str,
    /// The steps.
    pub steps: Vec<Step>,
    /// The whole cycle, where the witness is one.
    pub cycle: Option<Cycle>,
}

impl Witness {
    /// A witness that is no cycle.
    #[must_use]
    pub fn new(analysis: &'static str, steps: Vec<Step>) -> Witness {
        Witness { analysis, steps, cycle: None }
    }

    fn is_observed(&self) -> bool {
        self.steps.iter().any(|step| step.thread.is_some())
    }

    fn has_blame(&self) -> bool {
        let mut transactions = self.cycle.iter().flat_map(|cycle| &cycle.transactions);
        transactions.any(|transaction| transaction.is_blamed)
    }

    fn places(&self) -> impl Iterator<Item = (&'static str, &Site)> {
        self.steps.iter().map(|step| (step.role, &step.site))
    }
}

/// One reported problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the rule, one of [`crate::rules::ALL`].
    pub rule: &'static str,
    /// How sure we are.
    pub evidence: Evidence,
    /// How much it matters.
    pub severity: Severity,
    /// The one method or atomic block that must change.
    pub blame: Site,
    /// The names in the rule's message, by placeholder: `witness` → `point`.
    pub subjects: BTreeMap<&'static str, String>,
    /// For each subject whose name depends on what local variables and parameters are called: a name
    /// that does not. The fingerprint takes it instead, so that renaming them keeps the fingerprint.
    pub stable_subjects: BTreeMap<&'static str, String>,
    /// What proves it; at least one.
    pub witnesses: Vec<Witness>,
    /// Calls between the blamed code and what it touches, added up: the fewer, the easier to see and
    /// the less likely to rest on a path that cannot happen.
    pub distance: u32,
    /// Identity across runs; set by [`merge_and_rank`], unless it is known.
    pub fingerprint: Option<Fingerprint>,
    /// Findings of other rules about the same defect, best evidence first; set by [`merge_and_rank`].
    pub also: Vec<Finding>,
}

/// The subjects that name variables, and those that name locks.
const VARIABLE_SUBJECTS: [&str; 3] = ["variable", "value", "fields"];
const LOCK_SUBJECTS: [&str; 6] = ["lock", "context", "witness", "object", "first", "second"];

impl Finding {
    /// The variables that it is about, as `Account.balance`, or as the blamed method names them.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        names_among(&self.subjects, &VARIABLE_SUBJECTS)
    }

    /// The locks that it is about, as the blamed method names them.
    pub fn lock_names(&self) -> impl Iterator<Item = &str> {
        names_among(&self.subjects, &LOCK_SUBJECTS)
    }

    /// The finding, and those of other rules that stand under it.
    pub fn with_also(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(self).chain(&self.also)
    }

    /// How often it was seen, as far as that is counted: at least once for each of its proofs.
    #[must_use]
    pub fn violations(&self) -> u64 {
        let count = |witness: &Witness| witness.cycle.as_ref().map_or(1, |cycle| cycle.count);
        self.witnesses.iter().map(count).fold(0, u64::saturating_add)
    }

    /// Adds what proves the finding too. What was observed again at the same places is only counted: other threads
    /// and objects make no other proof.
    /// A cycle with a block to blame takes the place of one without.
    pub(crate) fn add_witness(&mut self, mut witness: Witness) {
        let is_known = |known: &&mut Witness| {
            **known == witness
                || (known.analysis == witness.analysis
                    && known.is_observed()
                    && witness.is_observed()
                    && known.places().eq(witness.places()))
        };
        match self.witnesses.iter_mut().find(is_known) {
            Some(known) => {
                if witness.has_blame() && !known.has_blame() {
                    std::mem::swap(known, &mut witness);
                }
                if let (Some(known), Some(again)) = (&mut known.cycle, &witness.cycle) {
                    known.count += again.count;
                }
            }
            None => self.witnesses.push(witness),
        }
    }
}

/// The names in some subjects, without the words around them: what is in an object is named after the object.
fn names_among<'a>(
    subjects: &'a BTreeMap<&'static str, String>,
    wanted: &'static [&'static str],
) -> impl Iterator<Item = &'a str> {
    let texts = subjects.iter().filter(move |(name, _)| wanted.contains(name));
    texts.flat_map(|(_, text)| text.split(" and ")).map(|name| {
        let around = ["the contents of ", "the elements of "];
        let inner = around.iter().find_map(|words| name.strip_prefix(words)).unwrap_or(name);
        inner.trim_matches('`').trim_end_matches("[]")
    })
}

/// What suppresses a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suppressor {
    /// A `[[suppress]]` table of the configuration.
    Configuration,
    /// An annotation in the code.
    Annotation,
}

/// A finding that is suppressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// The finding.
    pub finding: Finding,
    /// Where the decision is written down.
    pub by: Suppressor,
    /// Why.
    pub reason: String,
    /// Whether the baseline, if there is one, has it too.
    pub is_known: bool,
}

/// A finding of an earlier run, as a baseline records it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BaselineEntry {
    /// The blamed method, with its parameter types.
    pub blame: String,
    /// Name of the rule, which may be one that this version does not know.
    pub rule: String,
    /// The sentence that headed it.
    pub message: String,
    /// Its identity.
    pub fingerprint: Fingerprint,
}

/// The comparison of a run with a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Findings that the baseline has too, in the order of findings.
    pub known: Vec<Finding>,
    /// What the baseline has and this run did not find any more.
    pub gone: Vec<BaselineEntry>,
}

/// What of a program was watched in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchedCode {
    /// How many classes of the user's own code were watched, by the name of the directory or archive; empty for classes that
    /// were made while the program ran.
    pub places: BTreeMap<String, u64>,
    /// How many classes gave order only: those of libraries, and those that the user excludes.
    pub order_only: u64,
}

/// Everything one invocation found out.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The findings to show, best evidence first; those that are not in the baseline if there is one.
    pub findings: Vec<Finding>,
    /// Suppressed findings, in the order of findings.
    pub suppressed: Vec<Suppressed>,
    /// How many findings are not shown because they matter less than the user asked for.
    pub below_level: BTreeMap<Severity, usize>,
    /// What the baseline says, when the run was compared with one.
    pub baseline: Option<Comparison>,
    /// Sentences about the configuration that the user should know, such as a suppression that
    /// suppresses nothing.
    pub remarks: Vec<String>,
    /// What was taken as entry points and threads, in a few words each.
    pub threads: Vec<String>,
    /// What could not be analysed.
    pub gaps: Vec<Gap>,
    /// What was watched, where that was a run.
    pub watched: Option<WatchedCode>,
    /// Counters, by name, in the order in which they are to be shown.
    pub stats: Vec<(&'static str, u64)>,
    /// Set when the work was cut short (Ctrl-C) and the findings are those made until then.
    pub interrupted: bool,
}

/// Gives every finding its fingerprint, merges findings that describe the same defect (same rule, same blame, same steps;
/// of what was observed, the same variable or block), puts those of other rules about the same block and variables under the one with the best
/// evidence, and sorts: strongest evidence first, then severity, then distance, then place.
#[must_use]
pub fn merge_and_rank(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| position_key(a).cmp(&position_key(b)));
    let mut merged: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match merged.last_mut() {
            Some(previous) if position_key(previous) == position_key(&finding) => {
                previous.evidence = previous.evidence.max(finding.evidence);
                previous.severity = previous.severity.max(finding.severity);
                for witness in finding.witnesses {
                    previous.add_witness(witness);
                }
            }
            _ => merged.push(finding),
        }
    }
    mark_races(&mut merged);
    let mut merged = observed_defect::merge(merged);
    let mut seen: BTreeMap<Fingerprint, u32> = BTreeMap::new();
    for finding in &mut merged {
        if finding.fingerprint.is_some() {
            continue;
        }
        let ordinal = seen.entry(Fingerprint::of(finding, 0)).or_insert(0);
        finding.fingerprint = Some(Fingerprint::of(finding, *ordinal));
        *ordinal += 1;
    }
    rank(&mut merged);
    let mut united = same_defect::unite(merged);
    // What stands under a finding may have made it matter more.
    rank(&mut united);
    united
}

fn rank(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (b.evidence, b.severity)
            .cmp(&(a.evidence, a.severity))
            .then_with(|| a.distance.cmp(&b.distance))
            .then_with(|| position_key(a).cmp(&position_key(b)))
    });
}

/// Marks the edges of cycles that are about two accesses of which another finding says that they race.
fn mark_races(findings: &mut [Finding]) {
    let mut races: BTreeSet<(Site, Site)> = BTreeSet::new();
    for finding in findings.iter().filter(|finding| rules::is_about_races(finding.rule)) {
        for witness in &finding.witnesses {
            if let [first, second] = &witness.steps[..] {
                races.insert((first.site.clone(), second.site.clone()));
                races.insert((second.site.clone(), first.site.clone()));
            }
        }
    }
    if races.is_empty() {
        return;
    }
    let witnesses = findings.iter_mut().flat_map(|finding| &mut finding.witnesses);
    for edge in witnesses.filter_map(|witness| witness.cycle.as_mut()).flat_map(|it| &mut it.edges)
    {
        if let (Some(from), Some(to)) = (&edge.from.site, &edge.to.site) {
            edge.is_race |= races.contains(&(from.clone(), to.clone()));
        }
    }
}

type PositionKey<'a> = (&'a Site, &'static str, Vec<(&'static str, &'a Site)>, Vec<&'a String>);

/// Where a finding is: two findings with the same key are the same defect.
fn position_key(finding: &Finding) -> PositionKey<'_> {
    let steps = finding.witnesses.first().map_or(&[][..], |witness| &witness.steps);
    (
        &finding.blame,
        finding.rule,
        steps.iter().map(|step| (step.role, &step.site)).collect(),
        finding
            .subjects
            .iter()
            .filter(|(name, _)| **name != GRADE)
            .map(|(name, subject)| finding.stable_subjects.get(name).unwrap_or(subject))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(method: &str, offset: u32, line: u32) -> Site {
        Site {
            class: "p.A".into(),
            method: method.into(),
            descriptor: "()V".into(),
            offset: Some(offset),
            file: Some("p/A.java".into()),
            line: Some(line),
        }
    }

    fn finding(method: &str, offset: u32, line: u32) -> Finding {
        let step = |role| Step::at(role, site(method, offset, line));
        Finding {
            rule: "reacquired-lock",
            evidence: Evidence::Possible,
            severity: Severity::Medium,
            blame: site(method, 0, 1),
            subjects: BTreeMap::from([("witness", "point".to_string())]),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness::new("lock-pattern", vec![step("first"), step("second")])],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    #[test]
    fn moving_lines_keeps_the_fingerprint() {
        let before = merge_and_rank(vec![finding("m", 10, 5)]);
        let after = merge_and_rank(vec![finding("m", 12, 50)]);
        assert_eq!(before[0].fingerprint, after[0].fingerprint);
    }

    #[test]
    fn renaming_a_local_keeps_the_fingerprint() {
        let named = |name: &str, stable: &str| {
            let mut finding = finding("m", 10, 5);
            finding.subjects.insert("witness", name.to_string());
            finding.stable_subjects.insert("witness", stable.to_string());
            Fingerprint::of(&finding, 0)
        };
        assert_eq!(named("point", "parameter 1"), named("place", "parameter 1"));
        assert_ne!(named("point", "parameter 1"), named("point", "parameter 2"));
    }

    #[test]
    fn the_numbers_that_compilers_give_do_not_count() {
        let blamed = |class: &str, method: &str| {
            let mut finding = finding(method, 10, 5);
            finding.blame.class = class.to_string();
            finding.witnesses.clear();
            Fingerprint::of(&finding, 0)
        };
        assert_eq!(blamed("p.A", "lambda$sell$0"), blamed("p.A", "lambda$sell$12"));
        assert_eq!(blamed("p.A$1", "run"), blamed("p.A$2", "run"));
        assert_eq!(blamed("p.A$1Local", "run"), blamed("p.A$2Local", "run"));
        assert_ne!(blamed("p.A", "lambda$sell$0"), blamed("p.A", "lambda$buy$0"));
        assert_ne!(blamed("p.A$B2", "run"), blamed("p.A$B1", "run"));
    }

    #[test]
    fn another_method_changes_the_fingerprint() {
        let one = merge_and_rank(vec![finding("m", 10, 5)]);
        let other = merge_and_rank(vec![finding("n", 10, 5)]);
        assert_ne!(one[0].fingerprint, other[0].fingerprint);
    }

    #[test]
    fn two_places_of_one_method_are_told_apart_in_order() {
        let both = merge_and_rank(vec![finding("m", 20, 9), finding("m", 10, 5)]);
        assert_eq!(both.len(), 2);
        assert_ne!(both[0].fingerprint, both[1].fingerprint);
        let first_alone = merge_and_rank(vec![finding("m", 10, 5)]);
        assert_eq!(both[0].fingerprint, first_alone[0].fingerprint);
    }

    #[test]
    fn accesses_that_race_are_marked_in_cycles() {
        let operation = |line| Operation {
            verb: "writes".into(),
            site: Some(site("m", line, line)),
            stack: None,
        };
        let edge = |from, to| CycleEdge {
            kind: EdgeKind::Operations,
            subject: "x".into(),
            from: operation(from),
            to: operation(to),
            is_race: false,
        };
        let mut cyclic = finding("m", 1, 1);
        cyclic.witnesses[0].cycle = Some(Cycle {
            transactions: vec![],
            edges: vec![edge(10, 20), edge(20, 10), edge(20, 30)],
            outer_blocks: vec![],
            count: 1,
            benign: None,
        });
        let mut race = finding("m", 20, 20);
        race.rule = "happens-before-race";
        race.witnesses[0].steps[0].site = site("m", 10, 10);
        let merged = merge_and_rank(vec![race, cyclic]);
        let cycle = merged.iter().find_map(|finding| finding.witnesses[0].cycle.as_ref());
        let marks: Vec<bool> = cycle.unwrap().edges.iter().map(|edge| edge.is_race).collect();
        assert_eq!(marks, [true, true, false]);
    }

    #[test]
    fn what_is_observed_again_is_counted() {
        let observed = |thread: &str, count| {
            let mut finding = finding("m", 10, 5);
            let witness = &mut finding.witnesses[0];
            witness.steps[0].thread = Some(thread.to_string());
            witness.cycle = Some(Cycle {
                transactions: vec![],
                edges: vec![],
                outer_blocks: vec![],
                count,
                benign: None,
            });
            finding
        };
        let merged = merge_and_rank(vec![observed("a", 3), observed("b", 4), finding("m", 10, 5)]);
        assert_eq!(merged.len(), 1);
        let counts: Vec<_> = merged[0].witnesses.iter().map(|one| &one.cycle).collect();
        assert!(matches!(counts[..], [Some(Cycle { count: 7, .. }), None]), "{counts:?}");
        assert_eq!(merged[0].witnesses[0].steps[0].thread.as_deref(), Some("a"));
    }

    #[test]
    fn the_same_defect_from_two_analyses_is_one_finding() {
        let mut other = finding("m", 10, 5);
        other.witnesses[0].analysis = "velodrome";
        other.evidence = Evidence::Observed;
        let merged = merge_and_rank(vec![finding("m", 10, 5), other]);
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].evidence, Evidence::Observed);
        assert_eq!(merged[0].witnesses.len(), 2);
    }
}

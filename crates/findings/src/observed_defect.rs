//! What a run shows of one defect, as one finding.
//!
//! A run meets a defect again and again: with other threads and objects, at other pairs of accesses, in other
//! interleavings. A variable that races is one defect, wherever it is accessed, and a block that is not atomic is one,
//! whatever it used when it was split. The witnesses stand in one finding, and the one that says most leads.
//!
//! A race and the blocks that it splits are one defect too: a block stands under the race if one of the two orders that
//! split it is that of accesses to the variable that races. A cycle in which no single block is to blame stands under the
//! finding of a block that takes part in it and is to blame elsewhere.

use std::collections::BTreeMap;

use crate::same_defect::without_numbers;
use crate::{EdgeKind, Finding, Fingerprint, Site, Step, Witness};

/// What a finding is about, whatever its witnesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// A variable: the subject `variable`.
    Variable,
    /// The blamed block.
    Block,
}

/// The rules whose findings are one for each variable or block.
const RULES: &[(&str, About)] = &[
    ("happens-before-race", About::Variable),
    ("lockset-race", About::Variable),
    ("object-race", About::Variable),
    ("not-serializable", About::Block),
    ("irreducible-block", About::Block),
];

/// The rule whose findings say that a variable races.
const RACE: &str = "happens-before-race";
/// The rule whose findings say that no lock guards a variable.
const UNGUARDED: &str = "lockset-race";

/// Rules whose findings in a run stand under a race on the variable that they are about.
const CAUSED_BY_RACES: &[&str] = &[
    "not-serializable",
    "irreducible-block",
    "breakable-block",
    "object-race",
    "object-inconsistency",
    UNGUARDED,
];

/// Rules that find in the code that a variable may race. Their findings stand under what a run shows of it.
const SAID_OF_CODE: &[&str] =
    &["data-race", "inconsistent-synchronization", "shared-formatter", "double-checked-locking"];

/// The rules that lead, and those of a run whose findings about the same variable stand under them.
const LEADERS: &[(&str, &[&str])] = &[(RACE, CAUSED_BY_RACES), (UNGUARDED, &[])];

/// How many witnesses a finding keeps; each is at other places than the others.
const MOST_WITNESSES: usize = 32;

fn about(finding: &Finding) -> Option<About> {
    RULES.iter().find(|(rule, _)| *rule == finding.rule).map(|(_, about)| *about)
}

/// What identifies the variable or block of a finding across runs and builds; nothing for findings that are told apart
/// by their steps.
pub(crate) fn identity(finding: &Finding) -> Option<String> {
    match about(finding)? {
        About::Variable => Some(variable(finding)),
        About::Block => Some(String::new()),
    }
}

/// Merges findings of a run that are about one variable or block, and puts blocks under the race that splits them, and what
/// the code says of a variable under what a run says of it. The findings under a race get their fingerprints here.
pub(crate) fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut rest = findings;
    let mut caused_by: Vec<(&'static str, BTreeMap<String, Vec<Finding>>)> = Vec::new();
    for (leader, rules) in LEADERS {
        let led = variables_of(leader, &rest);
        let mut caused: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        let mut others = Vec::with_capacity(rest.len());
        for finding in rest {
            match cause(&finding, rules, &led) {
                Some(variable) => caused.entry(variable).or_default().push(finding),
                None => others.push(finding),
            }
        }
        caused_by.push((leader, caused));
        rest = others;
    }
    let mut merged: Vec<Finding> = Vec::with_capacity(rest.len());
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    for finding in rest {
        add(&mut merged, &mut known, finding);
    }
    let merged = put_unblamed_under(merged);
    let mut merged: Vec<Finding> = merged.into_iter().map(with_best_first).collect();
    for finding in &mut merged {
        let Some((_, caused)) = caused_by.iter_mut().find(|(rule, _)| *rule == finding.rule) else {
            continue;
        };
        let Some(caused) = caused.remove(&variable(finding)) else { continue };
        let (mut also, mut known) = (Vec::new(), BTreeMap::new());
        for one in caused {
            add(&mut also, &mut known, one);
        }
        let name = variable(finding);
        finding.also = also.into_iter().map(with_best_first).collect();
        finding.also.sort_by_key(|one| std::cmp::Reverse(one.evidence));
        for one in &mut finding.also {
            let own = if SAID_OF_CODE.contains(&one.rule) {
                Fingerprint::of(one, 0)
            } else {
                Fingerprint::of_use(one, &name)
            };
            one.fingerprint.get_or_insert(own);
        }
    }
    merged
}

/// Other fingerprints by which a baseline knows a finding: those that its block has under a race on one of its variables,
/// which another run may observe; and of a variable without a name, those by the other methods that use it, which another run
/// may have seen alone.
pub(crate) fn other_fingerprints(finding: &Finding) -> Vec<Fingerprint> {
    match about(finding) {
        None => return Vec::new(),
        Some(About::Variable) => return by_other_methods(finding),
        Some(About::Block) => {}
    }
    let uses = finding.witnesses.iter().flat_map(|witness| &witness.steps).filter_map(accessed);
    let mut names: Vec<String> = uses.map(without_numbers).collect();
    names.sort();
    names.dedup();
    names.iter().map(|name| Fingerprint::of_use(finding, name)).collect()
}

fn by_other_methods(finding: &Finding) -> Vec<Fingerprint> {
    let variable = variable(finding);
    let Some((object, method)) = variable.split_once(IN_METHOD) else { return Vec::new() };
    let steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
    let mut methods: Vec<String> = steps.map(|step| step.site.method_name()).collect();
    methods.sort();
    methods.dedup();
    let others = methods.iter().filter(|other| *other != method);
    others
        .map(|other| Fingerprint::of_variable(finding.rule, &format!("{object}{IN_METHOD}{other}")))
        .collect()
}

type Key = (&'static str, String, Option<Site>);

fn add(merged: &mut Vec<Finding>, known: &mut BTreeMap<Key, usize>, finding: Finding) {
    let key = match about(&finding) {
        Some(About::Variable) => (finding.rule, variable(&finding), None),
        Some(About::Block) => (finding.rule, String::new(), Some(block(&finding.blame))),
        None => return merged.push(finding),
    };
    match known.get(&key) {
        Some(at) => {
            let one = &mut merged[*at];
            one.evidence = one.evidence.max(finding.evidence);
            one.severity = one.severity.max(finding.severity);
            one.distance = one.distance.min(finding.distance);
            unite_witnesses(one, finding);
        }
        None => {
            known.insert(key, merged.len());
            merged.push(finding);
        }
    }
}

/// The finding whose witness leads gives its names and its blame to both.
fn unite_witnesses(one: &mut Finding, mut other: Finding) {
    if lead(&other) < lead(one) {
        std::mem::swap(&mut one.witnesses, &mut other.witnesses);
        std::mem::swap(&mut one.blame, &mut other.blame);
        std::mem::swap(&mut one.subjects, &mut other.subjects);
        std::mem::swap(&mut one.stable_subjects, &mut other.stable_subjects);
    }
    for witness in other.witnesses {
        one.add_witness(witness);
    }
}

fn lead(finding: &Finding) -> Option<(Rank, Vec<(&str, &Site)>)> {
    finding.witnesses.first().map(|witness| (rank(witness), places(witness)))
}

fn with_best_first(mut finding: Finding) -> Finding {
    if about(&finding).is_some()
        && let [_, others @ ..] = &mut finding.witnesses[..]
    {
        others.sort_by_cached_key(|witness| (rank(witness), format!("{:?}", places(witness))));
        finding.witnesses.truncate(MOST_WITNESSES);
    }
    finding
}

type Rank = (bool, bool, bool, usize, bool, usize);

/// How much a witness says; the least says most. A cycle with a block to blame says more than one without, one that did
/// harm more than one that did none, one about a single variable more than one about two, a short one more than a long one,
/// and what has the stacks of the threads themselves more than what has not.
fn rank(witness: &Witness) -> Rank {
    let has_blame = witness
        .cycle
        .as_ref()
        .is_none_or(|cycle| cycle.transactions.iter().any(|transaction| transaction.is_blamed));
    let is_benign = witness.cycle.as_ref().is_some_and(|cycle| cycle.benign.is_some());
    let subject = |role: &str| {
        let step = witness.steps.iter().find(|step| step.role == role)?;
        Some(&step.action.as_ref()?.subject)
    };
    let is_of_two = subject("first") != subject("second");
    let is_read_last = witness.steps.last().is_some_and(|step| !is_write(step));
    let foreign = witness
        .steps
        .iter()
        .filter(|step| step.stack.as_ref().is_none_or(|stack| !stack.is_same_context));
    let length = witness.cycle.as_ref().map_or(0, |cycle| cycle.edges.len());
    (!has_blame, is_benign, is_of_two, length, is_read_last, foreign.count())
}

fn is_write(step: &Step) -> bool {
    step.action
        .as_ref()
        .is_some_and(|action| ["writes", "updates", "acquires"].contains(&action.verb.as_str()))
}

fn places(witness: &Witness) -> Vec<(&str, &Site)> {
    witness.steps.iter().map(|step| (step.role, &step.site)).collect()
}

/// A block, whatever file and line it is in.
fn block(site: &Site) -> Site {
    let offset = site.offset.filter(|offset| *offset != 0);
    Site { offset, file: None, line: None, ..site.clone() }
}

/// A cycle without blame goes to the finding of a block that takes part in it and is to blame for another cycle.
fn put_unblamed_under(findings: Vec<Finding>) -> Vec<Finding> {
    let is_unblamed = |finding: &Finding| {
        let mut cycles = finding.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
        about(finding) == Some(About::Block)
            && cycles.clone().next().is_some()
            && !cycles.any(|cycle| cycle.transactions.iter().any(|it| it.is_blamed))
    };
    let (unblamed, mut blamed): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(is_unblamed);
    for finding in unblamed {
        let cycles = finding.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
        let blocks: Vec<Site> = cycles
            .flat_map(|cycle| &cycle.transactions)
            .filter_map(|transaction| transaction.block.as_ref().map(block))
            .collect();
        let takes_part = |known: &&mut Finding| {
            let is_of = |site: &Site| blocks.contains(&block(site));
            let mut cycles = known.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
            known.rule == finding.rule
                && (is_of(&known.blame) || cycles.any(|it| it.outer_blocks.iter().any(is_of)))
        };
        match blamed.iter_mut().find(takes_part) {
            Some(known) => {
                for witness in finding.witnesses {
                    known.add_witness(witness);
                }
            }
            None => blamed.push(finding),
        }
    }
    blamed
}

/// The names of the variables that the findings of a rule are about, each with its identity.
fn variables_of(rule: &str, findings: &[Finding]) -> BTreeMap<String, String> {
    let races = findings.iter().filter(|finding| finding.rule == rule);
    let mut names = BTreeMap::new();
    for race in races {
        let steps = race.witnesses.iter().flat_map(|witness| &witness.steps);
        for name in
            steps.filter_map(accessed).chain(race.subjects.get("variable").map(String::as_str))
        {
            names.insert(name_in_any_run(name), variable(race));
        }
    }
    names
}

/// The identity of the variable under whose finding one of these rules stands.
fn cause(finding: &Finding, rules: &[&str], led: &BTreeMap<String, String>) -> Option<String> {
    let of_name = |name: &str| led.get(&name_in_any_run(name)).cloned();
    if SAID_OF_CODE.contains(&finding.rule) {
        let mut names = finding.variable_names();
        return names.next().filter(|name| is_field(name)).and_then(of_name);
    }
    if !rules.contains(&finding.rule) {
        return None;
    }
    if about(finding) == Some(About::Variable) {
        return finding.subjects.get("variable").and_then(|name| of_name(name));
    }
    let witness = finding.witnesses.first()?;
    match &witness.cycle {
        Some(cycle) => cycle
            .edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::Operations && is_access(&edge.from.verb))
            .find_map(|edge| of_name(&edge.subject)),
        None => witness.steps.iter().filter_map(accessed).find_map(of_name),
    }
}

/// The variable that is accessed at a step; nothing where a lock is acquired or released.
fn accessed(step: &Step) -> Option<&str> {
    let action = step.action.as_ref()?;
    is_access(&action.verb).then_some(action.subject.as_str())
}

fn is_access(verb: &str) -> bool {
    ["read", "write", "update"].iter().any(|word| verb.contains(word))
}

/// Objects that are known by their class alone are told apart by their numbers.
fn name_in_any_run(name: &str) -> String {
    if name.contains('.') { without_numbers(name) } else { name.to_string() }
}

/// What stands between the class of an object that no field names and a method that uses it.
const IN_METHOD: &str = " in ";

/// The identity of the variable of a finding: the field, or the class of the object and a method that accesses it.
fn variable(finding: &Finding) -> String {
    let name = finding.subjects.get("variable").map_or("", String::as_str);
    match finding.stable_subjects.get("variable") {
        Some(stable) if is_field(stable) => stable.clone(),
        None if is_field(name) => without_numbers(name),
        Some(_) | None => {
            format!("{}{IN_METHOD}{}", without_numbers(name), finding.blame.method_name())
        }
    }
}

/// Whether a name is that of a field, and not what a call or an access without a name says.
fn is_field(name: &str) -> bool {
    name.contains('.') && !name.ends_with("()")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        Cycle, CycleEdge, Evidence, Operation, Severity, ThreadAction, Transaction, merge_and_rank,
    };

    fn site(method: &str, offset: u32) -> Site {
        let (class, descriptor) = ("shop.Stock".into(), "()V".into());
        Site {
            class,
            method: method.into(),
            descriptor,
            offset: Some(offset),
            file: None,
            line: None,
        }
    }

    fn step(role: &'static str, at: Site, verb: &str, subject: &str) -> Step {
        Step {
            thread: Some("a".into()),
            action: Some(ThreadAction { verb: verb.into(), subject: subject.into() }),
            ..Step::at(role, at)
        }
    }

    fn finding(rule: &'static str, method: &str, witness: Witness) -> Finding {
        Finding {
            rule,
            evidence: Evidence::Observed,
            severity: Severity::High,
            blame: Site { offset: None, ..site(method, 0) },
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![witness],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    fn race(method: &str, offset: u32, variable: &str, stable: &str) -> Finding {
        let steps = vec![
            step("first", site("write", 1), "writes", variable),
            step("second", site(method, offset), "reads", variable),
        ];
        let mut race = finding(RACE, method, Witness::new("happens-before", steps));
        race.subjects.insert("variable", variable.into());
        race.stable_subjects.insert("variable", stable.into());
        race
    }

    fn split(method: &str, first: (&str, u32), second: (&str, u32), is_blamed: bool) -> Finding {
        let verb = |name: &str| if name.ends_with("lock") { "acquires" } else { "writes" };
        let operation = |name: &str, at| Operation {
            verb: verb(name).into(),
            site: Some(site(method, at)),
            stack: None,
        };
        let edge = |(name, at): (&str, u32)| CycleEdge {
            kind: EdgeKind::Operations,
            subject: name.into(),
            from: operation(name, at),
            to: operation(name, at),
            is_race: false,
        };
        let transaction = |is_blamed, block: &str| Transaction {
            thread: "a".into(),
            block: Some(Site { offset: None, ..site(block, 0) }),
            is_blamed,
        };
        let steps = vec![
            step("first", site(method, first.1), verb(first.0), first.0),
            step("second", site(method, second.1), verb(second.0), second.0),
        ];
        let cycle = Cycle {
            transactions: vec![transaction(is_blamed, method), transaction(false, "other")],
            edges: vec![edge(first), edge(second)],
            outer_blocks: Vec::new(),
            count: 1,
            benign: None,
        };
        let witness = Witness { analysis: "velodrome", steps, cycle: Some(cycle) };
        let severity = if is_blamed { Severity::High } else { Severity::Medium };
        Finding { severity, ..finding("not-serializable", method, witness) }
    }

    /// The rule and blamed method of each finding, with the number of its witnesses and of what stands under it.
    fn shown(findings: &[Finding]) -> Vec<(&str, &str, usize, usize)> {
        let show = |it: &Finding| (it.rule, it.witnesses.len(), it.also.len());
        findings
            .iter()
            .map(|it| (show(it).0, it.blame.method.as_str(), show(it).1, show(it).2))
            .collect()
    }

    #[test]
    fn a_variable_races_once_wherever_it_is_accessed() {
        let merged = merge_and_rank(vec![
            race("read", 3, "Stock#1.size", "shop.Stock.size"),
            race("look", 4, "Stock#2.size", "shop.Stock.size"),
            race("look", 5, "Stock#2.other", "shop.Stock.other"),
        ]);
        assert_eq!(shown(&merged), [(RACE, "look", 2, 0), (RACE, "look", 1, 0)]);
        let alone = merge_and_rank(vec![race("read", 9, "Stock#7.size", "shop.Stock.size")]);
        assert_eq!(alone[0].fingerprint, merged[0].fingerprint);
        // Of a collection that has no name, a method that uses it says which.
        let stable = "java.util.HashMap in shop.Stock.look";
        let merged = merge_and_rank(vec![
            race("read", 3, "HashMap#1", stable),
            race("look", 4, "HashMap#1", stable),
        ]);
        assert_eq!(shown(&merged), [(RACE, "look", 2, 0)]);
        let alone = |method| {
            let stable = format!("java.util.HashMap in shop.Stock.{method}");
            merge_and_rank(vec![race(method, 3, "HashMap#4", &stable)]).remove(0)
        };
        let known = Fingerprint::all_of(&merged[0]);
        for (method, is_known) in [("look", true), ("read", true), ("write", true), ("sell", false)]
        {
            assert_eq!(known.contains(&alone(method).fingerprint.unwrap()), is_known, "{method}");
        }
        let merged = merge_and_rank(vec![
            race("read", 3, "HashMap#1", "java.util.Map.get()"),
            race("look", 4, "HashMap#2", "java.util.Map.put()"),
        ]);
        assert_eq!(merged.len(), 2);
    }

    #[test]
    fn what_checkers_of_objects_say_of_a_variable_that_races_stands_under_the_race() {
        let use_of = |rule, method, at, name: &str, stable: &str| {
            let mut finding = race(method, at, name, stable);
            finding.rule = rule;
            finding.evidence = Evidence::Predicted;
            finding
        };
        let size =
            |method, at| use_of("object-race", method, at, "Stock#1.size", "shop.Stock.size");
        let merged = merge_and_rank(vec![size("read", 3), size("look", 4), size("look", 9)]);
        assert_eq!(shown(&merged), [("object-race", "look", 3, 0)]);
        let other = use_of("object-race", "look", 5, "Stock#1.other", "shop.Stock.other");
        let steps = vec![
            step("first", site("order", 1), "reads", "Stock#1.size"),
            step("interferes", site("look", 4), "writes", "Stock#1.size"),
            step("second", site("order", 7), "writes", "Stock#1.size"),
        ];
        let witness = Witness::new("object-consistency", steps);
        let overlap = finding("object-inconsistency", "order", witness);
        let race = race("read", 3, "Stock#1.size", "shop.Stock.size");
        let merged = merge_and_rank(vec![race, size("read", 3), size("look", 4), other, overlap]);
        assert_eq!(shown(&merged), [(RACE, "read", 1, 2), ("object-race", "look", 1, 0)]);
        let also: Vec<&str> = merged[0].also.iter().map(|it| it.rule).collect();
        assert_eq!(also, ["object-inconsistency", "object-race"]);
    }

    #[test]
    fn a_block_is_split_once_and_the_single_variable_leads() {
        let merged = merge_and_rank(vec![
            split("order", ("A#1.x", 1), ("B#1.lock", 2), true),
            split("order", ("B#1.lock", 1), ("B#1.lock", 3), true),
            split("other", ("B#1.lock", 1), ("B#1.lock", 3), true),
        ]);
        let rule = "not-serializable";
        assert_eq!(shown(&merged), [(rule, "order", 2, 0), (rule, "other", 1, 0)]);
        assert_eq!(merged[0].witnesses[0].steps[1].site.offset, Some(3));
        let alone = merge_and_rank(vec![split("order", ("C#1.z", 7), ("D#1.y", 8), true)]);
        assert_eq!(alone[0].fingerprint, merged[0].fingerprint);
    }

    #[test]
    fn a_cycle_without_blame_takes_none_from_another() {
        let unblamed = split("other", ("A#1.y", 1), ("A#1.y", 2), false);
        let blamed = split("order", ("A#1.x", 1), ("A#1.x", 2), true);
        for findings in [vec![unblamed.clone(), blamed.clone()], vec![blamed, unblamed.clone()]] {
            let merged = merge_and_rank(findings);
            // It closes in another block and takes part in none that is to blame.
            assert_eq!(merged.len(), 2);
            assert_eq!(merged[0].severity, Severity::High);
        }
        let same = split("order", ("A#1.x", 1), ("A#1.x", 2), false);
        let blamed = split("order", ("A#1.x", 1), ("A#1.x", 2), true);
        for findings in [vec![same.clone(), blamed.clone()], vec![blamed, same]] {
            let merged = merge_and_rank(findings);
            assert_eq!((merged.len(), merged[0].severity), (1, Severity::High));
            let cycle = merged[0].witnesses[0].cycle.as_ref().unwrap();
            assert!(cycle.transactions[0].is_blamed && cycle.count == 2);
        }
        // The blamed block takes part in the cycle of another.
        let blamed = split("other", ("A#1.x", 1), ("A#1.x", 2), true);
        let unblamed = split("order", ("A#1.y", 1), ("A#1.y", 2), false);
        assert_eq!(
            shown(&merge_and_rank(vec![unblamed, blamed])),
            [("not-serializable", "other", 2, 0)]
        );
    }

    #[test]
    fn what_the_code_says_of_a_variable_stands_under_what_a_run_shows_of_it() {
        const POSSIBLE: &str = "data-race";
        let possible = |method, variable: &str| {
            let steps =
                vec![Step::at("first", site("write", 1)), Step::at("second", site(method, 2))];
            let mut possible = finding(POSSIBLE, method, Witness::new("races", steps));
            possible.evidence = Evidence::Possible;
            possible.subjects.insert("variable", variable.into());
            possible
        };
        let seen = || race("read", 3, "Stock.items#2", "shop.Stock.items");
        let unguarded = || Finding { rule: UNGUARDED, evidence: Evidence::Predicted, ..seen() };
        let shown = |findings: Vec<Finding>| -> Vec<Vec<&str>> {
            let rules = |it: &Finding| it.with_also().map(|it| it.rule).collect();
            merge_and_rank(findings).iter().map(rules).collect()
        };
        let named = seen();
        let contents = "the contents of Stock.items";
        assert_eq!(
            shown(vec![possible("look", contents), named.clone(), possible("sell", "Stock.size")]),
            [vec![RACE, POSSIBLE], vec![POSSIBLE]]
        );
        let suspected = unguarded();
        assert_eq!(
            shown(vec![possible("look", contents), suspected.clone()]),
            [vec![UNGUARDED, POSSIBLE]]
        );
        assert_eq!(
            shown(vec![possible("look", contents), suspected, named]),
            [vec![RACE, UNGUARDED, POSSIBLE]]
        );
        let alone = merge_and_rank(vec![possible("look", contents)]);
        let merged = merge_and_rank(vec![possible("look", contents), seen()]);
        assert_eq!(merged[0].also[0].fingerprint, alone[0].fingerprint);
    }

    #[test]
    fn a_race_and_the_blocks_that_it_splits_are_one() {
        let findings = vec![
            split("order", ("Stock#1.size", 1), ("Stock#1.size", 2), true),
            split("order", ("Stock#1.lock", 4), ("Stock#1.lock", 5), true),
            race("read", 3, "Stock#1.size", "shop.Stock.size"),
        ];
        let merged = merge_and_rank(findings.clone());
        assert_eq!(merged.len(), 2);
        let race = merged.iter().find(|finding| finding.rule == RACE).unwrap();
        let block = merged.iter().find(|finding| finding.rule != RACE).unwrap();
        assert_eq!((race.also.len(), block.witnesses.len()), (1, 1));
        // What is known of the block says nothing about the race, but the race explains the block without it.
        assert_ne!(race.also[0].fingerprint, block.fingerprint);
        let alone = merge_and_rank(findings[..1].to_vec());
        assert!(Fingerprint::all_of(&alone[0]).contains(&race.also[0].fingerprint.unwrap()));
    }
}

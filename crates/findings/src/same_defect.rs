//! Findings of different rules that are about one defect: the same block, and the same variables.
//!
//! The best evidence leads, and the others stand under it. Which rules can be about the same is one table. What a block
//! uses is compared by name, without the numbers of objects, because rules know different things of it: a cycle that was
//! observed may consist of the acquisitions of a lock, while a prediction names the variables that are used under that
//! lock, and an analysis of the code the fields.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Evidence, Finding, Site, Step, Witness};

/// Where findings of a rule say what their block uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// The steps `first` and `second`, with the locks that are held there.
    Steps,
    /// A subject with the names of fields between backquotes.
    Fields(&'static str),
    /// A subject that is an expression of the source; its last name is that of the field.
    Expression(&'static str),
    /// The steps that acquire a lock while another one is held, whose roles begin like that.
    Acquisitions(&'static str),
    /// The steps that wait for others, of this role.
    Waits(&'static str),
    /// The steps `first` and `second`, each of which acquires a lock.
    Sections,
}

/// The rules that report blocks that are split, those that report a use of a variable, those that report acquisitions
/// that wait for each other, and those that report waits that nobody ends.
const RULES: &[(&str, Naming)] = &[
    ("not-serializable", Naming::Steps),
    ("breakable-block", Naming::Steps),
    ("object-inconsistency", Naming::Steps),
    ("irreducible-block", Naming::Steps),
    ("reacquired-lock", Naming::Sections),
    ("inconsistent-method", Naming::Fields("fields")),
    ("stale-value", Naming::Expression("value")),
    ("collection-check-then-act", Naming::Expression("collection")),
    ("map-check-then-act", Naming::Expression("map")),
    ("shared-formatter", Naming::Expression("variable")),
    ("double-checked-locking", Naming::Expression("variable")),
    ("inconsistent-synchronization", Naming::Expression("variable")),
    ("lockset-race", Naming::Expression("variable")),
    ("object-race", Naming::Expression("variable")),
    ("data-race", Naming::Expression("variable")),
    ("deadlock", Naming::Acquisitions("wants")),
    ("lock-order-cycle", Naming::Acquisitions("wants")),
    ("hang", Naming::Waits("waits")),
    ("critical-wait", Naming::Waits("waits")),
    ("indefinite-wait", Naming::Waits("waits")),
];

/// The pairs of rules whose findings can be about one defect: the one that leads, and the one that stands under it. Where both
/// know the code alone, or both the run, the more severe one leads; of two that are as severe, the one that says more about what is wrong.
const PAIRS: &[(&str, &str)] = &[
    ("not-serializable", "object-inconsistency"),
    ("not-serializable", "breakable-block"),
    ("not-serializable", "irreducible-block"),
    ("not-serializable", "reacquired-lock"),
    ("breakable-block", "irreducible-block"),
    ("breakable-block", "reacquired-lock"),
    ("irreducible-block", "reacquired-lock"),
    ("not-serializable", "inconsistent-method"),
    ("not-serializable", "stale-value"),
    ("object-inconsistency", "not-serializable"),
    ("object-inconsistency", "breakable-block"),
    ("object-inconsistency", "inconsistent-method"),
    ("object-inconsistency", "stale-value"),
    ("breakable-block", "inconsistent-method"),
    ("breakable-block", "stale-value"),
    ("inconsistent-method", "stale-value"),
    ("stale-value", "inconsistent-method"),
    ("collection-check-then-act", "inconsistent-method"),
    ("inconsistent-method", "collection-check-then-act"),
    ("map-check-then-act", "inconsistent-method"),
    ("inconsistent-method", "map-check-then-act"),
    ("shared-formatter", "data-race"),
    ("data-race", "shared-formatter"),
    ("double-checked-locking", "data-race"),
    ("data-race", "double-checked-locking"),
    ("inconsistent-synchronization", "data-race"),
    ("data-race", "inconsistent-synchronization"),
    ("deadlock", "deadlock"),
    ("object-race", "lockset-race"),
    ("lockset-race", "object-race"),
    ("deadlock", "lock-order-cycle"),
    ("hang", "critical-wait"),
    ("hang", "indefinite-wait"),
];

/// Whether findings of the one can lead those of the other. Of one rule an observation leads what was predicted.
fn can_lead(leader: &Finding, finding: &Finding) -> bool {
    let is_other = leader.rule != finding.rule
        || (leader.evidence == Evidence::Observed && finding.evidence == Evidence::Predicted);
    is_other && PAIRS.contains(&(leader.rule, finding.rule))
}

/// Puts findings under those that are about the same defect with better evidence. The findings must be ranked.
pub(crate) fn unite(findings: Vec<Finding>) -> Vec<Finding> {
    let mut united: Vec<Finding> = Vec::with_capacity(findings.len());
    // The findings that others can stand under, by block.
    let mut leaders: BTreeMap<BlockKey, Vec<usize>> = BTreeMap::new();
    for finding in findings {
        let uses = Uses::of(&finding);
        let block = block_key(&finding, uses.as_ref());
        let leads = |leader: &Finding| {
            can_lead(leader, &finding)
                && uses.as_ref().is_some_and(|uses| uses.are_those_of(leader))
        };
        let mut of_block = leaders.get(&block).into_iter().flatten();
        match of_block.find(|leader| leads(&united[**leader])) {
            Some(leader) => {
                let leader = &mut united[*leader];
                leader.severity = leader.severity.max(finding.severity);
                leader.also.push(finding);
            }
            None => {
                if PAIRS.iter().any(|(leader, _)| *leader == finding.rule) {
                    leaders.entry(block).or_default().push(united.len());
                }
                united.push(finding);
            }
        }
    }
    united
}

/// Puts what was suspected before a run under the findings of the run that are about the same defect; the rest is
/// dropped. How many of the suspicions were observed.
pub fn put_under(findings: &mut [Finding], mut suspicions: Vec<Finding>) -> usize {
    let mut observed = 0;
    // What rules know more of leads to what others know less of.
    suspicions.sort_by_key(|it| RULES.iter().position(|(rule, _)| *rule == it.rule));
    for suspicion in suspicions {
        let Some(uses) = Uses::of(&suspicion) else { continue };
        let block = block_key(&suspicion, Some(&uses));
        let is_it = |finding: &&mut Finding| {
            can_lead(finding, &suspicion)
                && block_key(finding, Uses::of(finding).as_ref()) == block
                && uses.are_those_of(finding)
        };
        let Some(finding) = findings.iter_mut().find(is_it) else { continue };
        observed += usize::from(finding.evidence == Evidence::Observed);
        // The run may have predicted the same again.
        let is_known = |known: &Finding| {
            (known.rule, known.fingerprint) == (suspicion.rule, suspicion.fingerprint)
        };
        if !finding.also.iter().any(is_known) {
            finding.severity = finding.severity.max(suspicion.severity);
            finding.also.push(suspicion);
        }
    }
    observed
}

type BlockKey = (String, String, String, Option<u32>);

/// A block is a method or begins at a place in it. The code of the whole method is offset 0 for some, and no
/// offset for others. Of acquisitions that wait for each other any may be blamed: the least stands for all.
fn block_key(finding: &Finding, uses: Option<&Uses>) -> BlockKey {
    if let Some(Uses::Acquisitions(methods)) = uses
        && let Some((class, method, descriptor)) = methods.first()
    {
        return (class.clone(), method.clone(), descriptor.clone(), None);
    }
    let blame = &finding.blame;
    // Where a thread waits is known to the line only.
    let is_wait = matches!(uses, Some(Uses::Waits(_)));
    let place = blame.offset.filter(|offset| *offset != 0 && !is_wait);
    (blame.class.clone(), blame.method.clone(), blame.descriptor.clone(), place)
}

/// What a block uses.
#[derive(Debug)]
enum Uses {
    /// Before and after it is split: what each use can be called.
    Pair([BTreeSet<String>; 2]),
    /// Fields, whichever comes first, and the synchronized methods under whose locks they are used, before and after.
    Fields(BTreeSet<String>, [BTreeSet<String>; 2]),
    /// A field of whatever class.
    Field(String),
    /// The methods that acquire a lock while another one is held: class, name and descriptor.
    Acquisitions(BTreeSet<(String, String, String)>),
    /// The methods that wait, likewise.
    Waits(BTreeSet<(String, String, String)>),
}

impl Uses {
    /// Nothing for findings of other rules, and where it is not known.
    fn of(finding: &Finding) -> Option<Uses> {
        Uses::shown_by(finding, finding.witnesses.first())
    }

    /// What each witness of a finding shows.
    fn all_of(finding: &Finding) -> impl Iterator<Item = Uses> {
        let first = Uses::of(finding);
        let others = finding.witnesses.iter().skip(1);
        first.into_iter().chain(others.filter_map(|it| Uses::shown_by(finding, Some(it))))
    }

    fn shown_by(finding: &Finding, witness: Option<&Witness>) -> Option<Uses> {
        let (_, naming) = RULES.iter().find(|(rule, _)| *rule == finding.rule)?;
        match naming {
            Naming::Steps => {
                let steps = &witness?.steps;
                let step = |role| steps.iter().find(|step| step.role == role);
                let (first, second) = (step("first")?, step("second")?);
                Some(Uses::Pair([names(first, second)?, names(second, first)?]))
            }
            Naming::Fields(subject) => {
                let quoted = finding.subjects.get(subject)?.split('`').skip(1).step_by(2);
                let steps = witness.map_or(&[][..], |witness| &witness.steps);
                let locks = ["first", "second"].map(|role| {
                    let steps = steps.iter().filter(|step| step.role == role);
                    let held = steps.flat_map(|step| &step.held_locks);
                    held.filter_map(|held| lock_of_method(&held.taken_at)).collect()
                });
                Some(Uses::Fields(quoted.map(str::to_string).collect(), locks))
            }
            Naming::Expression(subject) => {
                Some(Uses::Field(last_name(finding.subjects.get(subject)?).to_string()))
            }
            Naming::Sections => {
                let steps = &witness?.steps;
                let section = |role| {
                    let step = steps.iter().find(|step| step.role == role)?;
                    Some(BTreeSet::from([section(step.call_chain.last().unwrap_or(&step.site))]))
                };
                Some(Uses::Pair([section("first")?, section("second")?]))
            }
            Naming::Acquisitions(role) => {
                let steps = &witness?.steps;
                let method = |step: &Step| {
                    // What calls the method that acquires the lock is known to the analysis of the code only.
                    let site = step.call_chain.last().unwrap_or(&step.site);
                    (site.class.clone(), site.method.clone(), site.descriptor.clone())
                };
                let acquiring = steps.iter().filter(|step| step.role.starts_with(role));
                Some(Uses::Acquisitions(acquiring.map(method).collect()))
            }
            Naming::Waits(role) => {
                let waiting = witness?.steps.iter().filter(|step| step.role == *role);
                let methods = waiting.map(|step| {
                    let site = &step.site;
                    (site.class.clone(), site.method.clone(), site.descriptor.clone())
                });
                Some(Uses::Waits(methods.collect()))
            }
        }
    }

    /// Whether a finding is about them, or one that stands under it.
    fn are_those_of(&self, finding: &Finding) -> bool {
        finding.with_also().flat_map(Uses::all_of).any(|known| known.are_same(self))
    }

    fn are_same(&self, other: &Uses) -> bool {
        let meet = |one: &BTreeSet<String>, other: &BTreeSet<String>| !one.is_disjoint(other);
        match (self, other) {
            (Uses::Pair([first, second]), Uses::Pair([other_first, other_second])) => {
                (meet(first, other_first) && meet(second, other_second))
                    || (meet(first, other_second) && meet(second, other_first))
            }
            (Uses::Pair(pair), Uses::Fields(fields, locks))
            | (Uses::Fields(fields, locks), Uses::Pair(pair)) => {
                let are_fields = pair.iter().all(|names| meet(names, fields))
                    && fields.iter().all(|field| pair.iter().any(|names| names.contains(field)));
                are_fields || (meet(&pair[0], &locks[0]) && meet(&pair[1], &locks[1]))
            }
            (Uses::Pair(pair), Uses::Field(field)) | (Uses::Field(field), Uses::Pair(pair)) => {
                pair.iter().all(|names| names.iter().any(|name| last_name(name) == field))
            }
            (Uses::Fields(fields, _), Uses::Field(field))
            | (Uses::Field(field), Uses::Fields(fields, _)) => {
                fields.iter().all(|name| last_name(name) == field)
            }
            (Uses::Field(field), Uses::Field(other)) => field == other,
            (Uses::Acquisitions(methods), Uses::Acquisitions(others)) => methods == others,
            (Uses::Fields(..), Uses::Fields(..))
            | (Uses::Acquisitions(_), _)
            | (_, Uses::Acquisitions(_)) => false,
            // All threads of a program that hangs wait; the analysis of the code knows one place.
            (Uses::Waits(one), Uses::Waits(other)) => !one.is_disjoint(other),
            (Uses::Waits(_), _) | (_, Uses::Waits(_)) => false,
        }
    }
}

/// What is used at a step: the variable, and each lock under which it is used, with the method that acquires it. A lock that
/// is held from one use to the other says nothing. A step may itself be the acquisition or release of a lock.
fn names(step: &Step, other: &Step) -> Option<BTreeSet<String>> {
    let used = without_numbers(&step.action.as_ref()?.subject);
    let as_lock =
        |name: &str, site: &Site| format!("{name} in {}{}", site.method_name(), site.descriptor);
    let mut names = BTreeSet::new();
    for held in step.held_locks.iter().filter(|held| !other.held_locks.contains(held)) {
        let lock = without_numbers(&held.lock);
        // On a side that was not taken, the lock of a synchronized method is acquired where it would be called.
        names.extend([&held.taken_at, &step.site].map(|at| as_lock(&lock, at)));
        names.insert(section(&held.taken_at));
    }
    names.extend(lock_of_method(&step.site));
    if ["acquires", "releases"]
        .iter()
        .any(|word| step.action.as_ref().is_some_and(|it| it.verb.starts_with(word)))
    {
        names.insert(section(&step.site));
    }
    names.insert(as_lock(&used, &step.site));
    names.insert(used);
    Some(names)
}

/// What is done under the lock that is acquired at a site.
fn section(site: &Site) -> String {
    lock_of_method(site).unwrap_or_else(|| {
        let offset = site.offset.unwrap_or_default();
        format!("the section at {offset} of {}{}", site.method_name(), site.descriptor)
    })
}

/// What the lock of a synchronized method is called, where a site is the method as a whole.
fn lock_of_method(site: &Site) -> Option<String> {
    let is_method = site.offset.is_none_or(|offset| offset == 0);
    is_method.then(|| format!("the lock of {}{}", site.method_name(), site.descriptor))
}

/// `Account.balance` for `Account#3.balance`, `int[]` for `int[]#2[7]`.
#[must_use]
pub fn without_numbers(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['#', '[']) {
        let (before, marked) = rest.split_at(at);
        kept.push_str(before);
        let digits = marked[1..].bytes().take_while(u8::is_ascii_digit).count();
        let is_index = marked.starts_with('[');
        let is_closed = marked[1 + digits..].starts_with(']');
        let length = match (is_index, digits) {
            (_, 0) => 0,
            (false, _) => 1 + digits,
            (true, _) if is_closed => 2 + digits,
            (true, _) => 0,
        };
        if length == 0 {
            kept.push_str(&marked[..1]);
            rest = &marked[1..];
        } else {
            rest = &marked[length..];
        }
    }
    kept.push_str(rest);
    kept
}

/// `balance` for `this.account.balance`.
fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeldLock, Severity, ThreadAction, merge_and_rank};

    fn site(method: &str, offset: Option<u32>) -> Site {
        let (class, descriptor) = ("bank.Account".into(), "(I)V".into());
        Site { class, method: method.into(), descriptor, offset, file: None, line: None }
    }

    fn using(role: &'static str, subject: &str, locks: &[&str]) -> Step {
        let held =
            |lock: &&str| HeldLock { lock: lock.to_string(), taken_at: site("section", None) };
        Step {
            action: Some(ThreadAction { verb: "reads".into(), subject: subject.into() }),
            held_locks: locks.iter().map(held).collect(),
            ..Step::at(role, site("section", Some(4)))
        }
    }

    #[test]
    fn a_method_that_others_were_seen_in_the_middle_of_and_its_cycle_are_one() {
        let pair = || {
            vec![
                using("first", "Account#1.balance", &[]),
                using("second", "Account#1.balance", &[]),
            ]
        };
        let of = |rule, evidence, severity| Finding { severity, ..finding(rule, evidence, pair()) };
        for (split, overlap) in
            [(Severity::High, Severity::Medium), (Severity::Medium, Severity::High)]
        {
            let united = merge_and_rank(vec![
                of("not-serializable", Evidence::Observed, split),
                of("object-inconsistency", Evidence::Observed, overlap),
                of("breakable-block", Evidence::Predicted, Severity::Medium),
            ]);
            assert_eq!((united.len(), united[0].also.len()), (1, 2), "{united:#?}");
            assert_eq!(united[0].severity, Severity::High);
        }
        let race = |rule| {
            let mut race = finding(rule, Evidence::Predicted, pair());
            race.subjects.insert("variable", "Account#1.balance".into());
            race
        };
        let united = merge_and_rank(vec![race("object-race"), race("lockset-race")]);
        assert_eq!((united.len(), united[0].also.len()), (1, 1), "{united:#?}");
    }

    #[test]
    fn a_deadlock_leads_the_cycle_of_the_same_acquisitions() {
        let wants = |role, method, chain: &[&str]| Step {
            call_chain: chain.iter().map(|method| site(method, Some(3))).collect(),
            ..Step::at(role, site(method, Some(9)))
        };
        let cycle = |second| {
            let steps =
                vec![wants("wants.1", "transfer", &["deposit"]), wants("wants.2", second, &[])];
            finding("lock-order-cycle", Evidence::Possible, steps)
        };
        let observed = vec![wants("wants", "audit", &[]), wants("wants", "deposit", &[])];
        let deadlock = Finding {
            blame: site("audit", None),
            ..finding("deadlock", Evidence::Observed, observed)
        };
        let united = merge_and_rank(vec![cycle("audit"), deadlock, cycle("close")]);
        let rules: Vec<(&str, usize)> =
            united.iter().map(|finding| (finding.rule, finding.also.len())).collect();
        assert_eq!(rules, [("deadlock", 1), ("lock-order-cycle", 0)]);
    }

    fn finding(rule: &'static str, evidence: Evidence, steps: Vec<Step>) -> Finding {
        Finding {
            rule,
            evidence,
            severity: Severity::Medium,
            blame: site("deposit", None),
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness::new("a", steps)],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    fn observed(first: &str, second: &str) -> Finding {
        let steps = vec![using("first", first, &[]), using("second", second, &[])];
        finding("not-serializable", Evidence::Observed, steps)
    }

    fn predicted(first: Step, second: Step) -> Finding {
        finding("breakable-block", Evidence::Predicted, vec![first, second])
    }

    /// The rules that are shown, each with those that stand under it.
    fn united(findings: Vec<Finding>) -> Vec<Vec<&'static str>> {
        let rules = |finding: &Finding| {
            [finding.rule].into_iter().chain(finding.also.iter().map(|it| it.rule)).collect()
        };
        merge_and_rank(findings).iter().map(rules).collect()
    }

    const ONE: [&str; 2] = ["not-serializable", "breakable-block"];

    #[test]
    fn a_prediction_that_was_observed_stands_under_the_observation() {
        let balance = || using("first", "Account#7.balance", &[]);
        let again = || using("second", "Account#7.balance", &[]);
        let seen = observed("Account#1.balance", "Account#1.balance");
        assert_eq!(united(vec![predicted(balance(), again()), seen.clone()]), [ONE]);
        let other = using("second", "Account#7.limit", &[]);
        assert_eq!(united(vec![predicted(balance(), other), seen.clone()]).len(), 2);
        let mut elsewhere = predicted(balance(), again());
        elsewhere.blame = site("withdraw", None);
        assert_eq!(united(vec![elsewhere, seen.clone()]).len(), 2);
        let mut inner = predicted(balance(), again());
        inner.blame.offset = Some(12);
        assert_eq!(united(vec![inner, seen]).len(), 2);
    }

    #[test]
    fn what_is_used_under_a_lock_is_observed_as_the_lock() {
        let seen = observed("Account#1", "Account#1");
        let first = using("first", "Account#1.balance", &["Account#1"]);
        let second = using("second", "Account#1.balance", &["Account#1"]);
        // The lock is held all the time: it is not what the block was split at.
        assert_eq!(united(vec![predicted(first.clone(), second.clone()), seen.clone()]).len(), 2);
        let mut later = second;
        later.held_locks[0].taken_at = site("setBalance", None);
        later.site = site("setBalance", Some(2));
        let mut seen = seen;
        seen.witnesses[0].steps[1].site = site("setBalance", None);
        assert_eq!(united(vec![predicted(first.clone(), later.clone()), seen.clone()]), [ONE]);
        let mut untaken = later;
        untaken.held_locks[0].taken_at = site("deposit", Some(14));
        assert_eq!(united(vec![predicted(first.clone(), untaken.clone()), seen.clone()]), [ONE]);
        untaken.site = site("other", Some(2));
        assert_eq!(united(vec![predicted(first, untaken), seen]).len(), 2);
    }

    #[test]
    fn findings_in_the_code_stand_under_what_a_run_shows() {
        let in_code = |rule, subject, name: &str| {
            let mut finding = finding(rule, Evidence::Possible, Vec::new());
            finding.blame.offset = Some(0);
            finding.subjects.insert(subject, name.to_string());
            finding
        };
        let method = |fields| in_code("inconsistent-method", "fields", fields);
        let stale = |value| in_code("stale-value", "value", value);
        let predicted = || {
            let first = using("first", "Account#1.checking", &[]);
            predicted(first, using("second", "Account#1.saving", &[]))
        };
        let both = "`Account.checking` and `Account.saving`";
        assert_eq!(
            united(vec![method(both), predicted()]),
            [["breakable-block", "inconsistent-method"]]
        );
        assert_eq!(united(vec![method("`Account.checking`"), predicted()]).len(), 2);
        assert_eq!(united(vec![stale("this.checking"), predicted()]).len(), 2);
        let seen = observed("Account#1.checking", "Account#1.checking");
        assert_eq!(
            united(vec![stale("this.checking"), seen]),
            [["not-serializable", "stale-value"]]
        );
        assert_eq!(united(vec![stale("this.checking"), method(both)]).len(), 2);
        assert_eq!(
            united(vec![stale("this.checking"), method("`Account.checking`")]),
            [["inconsistent-method", "stale-value"]]
        );
        // Of a method that calls two synchronized ones, the locks were observed; their fields are known from the code.
        let held = |role, section: &str, offset| {
            let taken_at = site(section, offset);
            Step {
                held_locks: vec![HeldLock { lock: "bank.Account".into(), taken_at }],
                ..Step::at(role, site("deposit", Some(9)))
            }
        };
        let mut locked = method("`Account.checking`");
        locked.witnesses[0].steps =
            vec![held("first", "checking", Some(0)), held("second", "setChecking", Some(0))];
        let mut seen = observed("Account#1", "Account#1");
        seen.witnesses[0].steps[0].site = site("checking", None);
        seen.witnesses[0].steps[1].site = site("setChecking", None);
        let mut found = vec![seen];
        assert_eq!(put_under(&mut found, vec![stale("this.checking"), locked.clone()]), 2);
        let rules: Vec<_> = found[0].with_also().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["not-serializable", "inconsistent-method", "stale-value"]);
        found[0].also.clear();
        found[0].witnesses[0].steps[1].site = site("setSaving", None);
        assert_eq!(put_under(&mut found, vec![stale("this.checking"), locked]), 0);
    }

    #[test]
    fn a_lock_that_is_given_back_too_early_stands_under_the_block_that_is_split_there() {
        let at = |role, method: &str, offset| Step::at(role, site(method, offset));
        let reacquired = |second: Step| {
            let mut first = at("first", "deposit", Some(3));
            first.call_chain = vec![site("balance", Some(0))];
            let steps = vec![at("context", "deposit", Some(0)), first, second];
            finding("reacquired-lock", Evidence::Possible, steps)
        };
        let acquires = |role, method: &str, offset| Step {
            action: Some(ThreadAction { verb: "acquires".into(), subject: "Account#1".into() }),
            ..at(role, method, offset)
        };
        let seen = || {
            let steps =
                vec![acquires("first", "balance", None), acquires("second", "deposit", Some(7))];
            finding("not-serializable", Evidence::Observed, steps)
        };
        let under = reacquired(at("second", "deposit", Some(7)));
        assert_eq!(united(vec![under.clone(), seen()]), [["not-serializable", "reacquired-lock"]]);
        assert_eq!(united(vec![reacquired(at("second", "deposit", Some(9))), seen()]).len(), 2);
        let predicted =
            Finding { rule: "irreducible-block", evidence: Evidence::Predicted, ..seen() };
        assert_eq!(
            united(vec![predicted, under, seen()]),
            [["not-serializable", "irreducible-block", "reacquired-lock"]]
        );
    }

    #[test]
    fn rules_that_name_the_same_variable_in_the_same_method_are_about_one_defect() {
        let in_code = |rule, subject, name: &str| {
            let mut finding = finding(rule, Evidence::Possible, Vec::new());
            finding.subjects.insert(subject, name.to_string());
            finding
        };
        let formatter = || in_code("shared-formatter", "variable", "Account.FORMAT");
        let race = |name| in_code("data-race", "variable", name);
        let one = united(vec![race("the contents of Account.FORMAT"), formatter()]);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].len(), 2);
        assert_eq!(united(vec![race("the contents of Account.OTHER"), formatter()]).len(), 2);
        let mut elsewhere = race("the contents of Account.FORMAT");
        elsewhere.blame = site("withdraw", None);
        assert_eq!(united(vec![elsewhere, formatter()]).len(), 2);
        // What a list is used for in several calls, and the lock of which is taken twice for that.
        let calls = in_code("collection-check-then-act", "collection", "stock");
        let method = in_code("inconsistent-method", "fields", "the contents of `Inventory.stock`");
        let one = united(vec![calls, method]);
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn a_deadlock_that_happened_leads_the_same_that_was_predicted() {
        let wants = |method, offset| Step::at("wants", site(method, offset));
        let deadlock = |evidence, offset, second| {
            let steps = vec![wants("transfer", offset), wants(second, offset)];
            Finding { blame: site("transfer", offset), ..finding("deadlock", evidence, steps) }
        };
        let observed = || deadlock(Evidence::Observed, None, "audit");
        let predicted = |second| deadlock(Evidence::Predicted, Some(9), second);
        let united = merge_and_rank(vec![predicted("audit"), observed(), predicted("close")]);
        let seen: Vec<(Evidence, usize)> =
            united.iter().map(|finding| (finding.evidence, finding.also.len())).collect();
        assert_eq!(seen, [(Evidence::Observed, 1), (Evidence::Predicted, 0)]);
        // In the next run it is a suspicion.
        let mut found = vec![observed()];
        assert_eq!(put_under(&mut found, vec![predicted("audit"), predicted("close")]), 1);
        assert_eq!(found[0].also.len(), 1);
    }

    #[test]
    fn a_hang_leads_the_wait_that_the_code_shows() {
        let waits = |rule, evidence, methods: &[&str], offset| {
            let steps = methods.iter().map(|it| Step::at("waits", site(it, offset))).collect();
            Finding { blame: site(methods[0], offset), ..finding(rule, evidence, steps) }
        };
        let hang = waits("hang", Evidence::Observed, &["take", "main"], None);
        let in_code = |method| waits("indefinite-wait", Evidence::Possible, &[method], Some(7));
        let critical = waits("critical-wait", Evidence::Possible, &["take"], Some(7));
        let united = merge_and_rank(vec![in_code("take"), hang, critical, in_code("other")]);
        let rules: Vec<(&str, usize)> =
            united.iter().map(|finding| (finding.rule, finding.also.len())).collect();
        assert_eq!(rules, [("hang", 2), ("indefinite-wait", 0)]);
    }

    #[test]
    fn the_worst_severity_and_every_fingerprint_are_kept() {
        let mut seen = observed("A#1.x", "A#1.x");
        seen.severity = Severity::Low;
        let high = Finding {
            severity: Severity::High,
            ..predicted(using("first", "A#1.x", &[]), using("second", "A#1.x", &[]))
        };
        let alone = merge_and_rank(vec![high.clone()]);
        let merged = merge_and_rank(vec![seen, high]);
        assert_eq!((merged[0].rule, merged[0].severity), ("not-serializable", Severity::High));
        assert_eq!(merged[0].also[0].fingerprint, alone[0].fingerprint);
    }

    #[test]
    fn suspicions_stand_under_what_a_run_shows_or_are_dropped() {
        let earlier = |name: &str| {
            let steps = (using("first", name, &[]), using("second", name, &[]));
            merge_and_rank(vec![predicted(steps.0, steps.1)]).remove(0)
        };
        let mut found = merge_and_rank(vec![observed("A#1.x", "A#1.x")]);
        assert_eq!(put_under(&mut found, vec![earlier("A#4.x"), earlier("A#4.y")]), 1);
        assert_eq!(found[0].also.len(), 1);
        // Known already: it counts, and is not said twice.
        assert_eq!(put_under(&mut found, vec![earlier("A#4.x")]), 1);
        assert_eq!(found[0].also.len(), 1);
    }

    #[test]
    fn numbers_of_objects_and_elements_do_not_count() {
        for (name, expected) in [
            ("Account#3.balance", "Account.balance"),
            ("int[]#2[17]", "int[]"),
            ("Vector#12", "Vector"),
            ("x", "x"),
            ("a#b[c", "a#b[c"),
            ("a[3", "a[3"),
        ] {
            assert_eq!(without_numbers(name), expected);
        }
    }
}

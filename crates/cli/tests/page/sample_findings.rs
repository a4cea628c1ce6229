//! Findings of all shapes, for pages.

use std::collections::BTreeMap;

use findings::{
    Comparison, Cycle, CycleEdge, EdgeKind, Evidence, Finding, HeldLock, Operation, Results,
    Severity, Site, Stack, Step, Suppressed, Suppressor, ThreadAction, Transaction, Witness,
    merge_and_rank,
};

pub(crate) const ACCOUNT_JAVA: &str = "\
package bank;

class Account {
    private int balance;            // cents

    synchronized int balance() {
        return balance;
    }

    void deposit(int amount) {
        int before = balance();
        set(before + amount);
    }

    synchronized void set(int amount) {
        if (amount < 0) {
            throw new IllegalArgumentException(\"not \" + amount);
        }
        balance = amount;
    }
}
";

pub(crate) fn site(class: &str, method: &str, line: u32) -> Site {
    Site {
        class: class.into(),
        method: method.into(),
        descriptor: "()V".into(),
        offset: Some(line),
        file: Some(format!("{}.java", class.replace('.', "/"))),
        line: Some(line),
    }
}

fn finding(
    rule: &'static str,
    evidence: Evidence,
    severity: Severity,
    witness: Witness,
) -> Finding {
    Finding {
        rule,
        evidence,
        severity,
        blame: Site { offset: None, ..witness.steps[0].site.clone() },
        subjects: BTreeMap::new(),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![witness],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}

fn stack(place: &Site) -> Stack {
    let frames = vec![place.clone(), site("bank.Teller", "work", 30), site("bank.Main", "run", 7)];
    Stack { frames, is_same_context: true }
}

fn step(role: &'static str, thread: &str, verb: &str, subject: &str, site: Site) -> Step {
    Step {
        thread: Some(thread.into()),
        action: Some(ThreadAction { verb: verb.into(), subject: subject.into() }),
        stack: Some(stack(&site)),
        ..Step::at(role, site)
    }
}

/// A block that was split, or that would be split by a side of a branch that was not taken.
pub(crate) fn split_block(evidence: Evidence) -> Finding {
    let balance = "Account#3.balance";
    let lock = |line| {
        let taken_at = site("bank.Account", if line == 6 { "balance" } else { "set" }, line);
        vec![HeldLock { lock: "Account#3".into(), taken_at }]
    };
    let is_observed = evidence == Evidence::Observed;
    let verb = if is_observed { "writes" } else { "would write" };
    let block = Site { offset: None, ..site("bank.Account", "deposit", 10) };
    let mut steps = vec![
        Step { thread: Some("worker-1".into()), ..Step::at("block", block.clone()) },
        Step {
            held_locks: lock(6),
            ..step("first", "worker-1", "reads", balance, site("bank.Account", "balance", 7))
        },
        Step {
            held_locks: lock(15),
            ..step("interferes", "worker-2", verb, balance, site("bank.Account", "set", 19))
        },
        Step {
            held_locks: lock(15),
            ..step("second", "worker-1", "writes", balance, site("bank.Account", "set", 19))
        },
    ];
    if !is_observed {
        let way = "went the other way";
        steps.insert(2, step("branch", "worker-2", way, balance, site("bank.Account", "set", 16)));
    }
    let operation = |step: &Step| Operation {
        verb: step.action.as_ref().unwrap().verb.clone(),
        site: Some(step.site.clone()),
        stack: step.stack.clone(),
    };
    let edge = |from: &Step, to: &Step| CycleEdge {
        kind: EdgeKind::Operations,
        subject: balance.into(),
        from: operation(from),
        to: operation(to),
        is_race: false,
    };
    let [first, interferes, second] = ["first", "interferes", "second"]
        .map(|role| steps.iter().find(|step| step.role == role).unwrap());
    let edges = vec![edge(first, interferes), edge(interferes, second)];
    let transaction = |thread: &str, is_blamed| Transaction {
        thread: thread.into(),
        block: Some(block.clone()),
        is_blamed,
    };
    let cycle = Cycle {
        transactions: vec![transaction("worker-1", true), transaction("worker-2", false)],
        edges,
        outer_blocks: vec![],
        count: 12,
        benign: None,
    };
    let (rule, analysis) =
        if is_observed { ("not-serializable", "velodrome") } else { ("breakable-block", "hybrid") };
    let witness = Witness { analysis, steps, cycle: Some(cycle) };
    let mut finding = finding(rule, evidence, Severity::High, witness);
    for name in ["first", "second"] {
        finding.subjects.insert(name, balance.into());
    }
    finding.subjects.insert("guard", "`Account#3`".into());
    finding
}

pub(crate) fn deadlock() -> Finding {
    let at = |line| site("bank.pool.Pool", "move", line);
    let steps = vec![
        step("holds", "first", "holds", "Pool#1", at(8)),
        step("wants", "first", "waits for", "Pool#2", at(12)),
        step("holds", "second", "holds", "Pool#2", at(8)),
        step("wants", "second", "waits for", "Pool#1", at(12)),
    ];
    let mut finding =
        finding("deadlock", Evidence::Observed, Severity::High, Witness::new("deadlock", steps));
    finding.subjects.insert("remedy", "acquire them in one order everywhere".into());
    finding
}

/// A finding of `check`, in a package and method of its own.
pub(crate) fn possible(package: &str, number: usize) -> Finding {
    let class = format!("{package}.Line{number}");
    let lock = HeldLock { lock: "this".into(), taken_at: site(&class, "contains", 6) };
    let step = |role, line| Step {
        call_chain: vec![site("geometry.Location", "distanceTo", 12)],
        held_locks: vec![lock.clone()],
        ..Step::at(role, site(&class, "contains", line))
    };
    let context = Step::at("context", site(&class, "contains", 6));
    let witness = Witness::new("lock-pattern", vec![context, step("first", 7), step("second", 8)]);
    let severity = if number.is_multiple_of(2) { Severity::Medium } else { Severity::Low };
    let mut finding = finding("reacquired-lock", Evidence::Possible, severity, witness);
    finding.subjects.insert("witness", "point".into());
    finding.subjects.insert("context", "this".into());
    finding
}

/// Findings of all kinds: new ones, known ones and a suppressed one.
pub(crate) fn results() -> Results {
    let found = vec![
        possible("geometry", 0),
        possible("geometry", 1),
        possible("geometry.plane", 2),
        split_block(Evidence::Observed),
        split_block(Evidence::Predicted),
        deadlock(),
    ];
    let known = merge_and_rank(vec![possible("geometry", 10)]);
    let suppressed = merge_and_rank(vec![possible("geometry", 12)]).remove(0);
    Results {
        findings: merge_and_rank(found),
        baseline: Some(Comparison { known, gone: vec![] }),
        suppressed: vec![Suppressed {
            finding: suppressed,
            by: Suppressor::Configuration,
            reason: "callers hold the lock".into(),
            is_known: false,
        }],
        remarks: vec!["the suppression of `p.Dead` matches nothing".into()],
        ..Results::default()
    }
}

//! Findings that the formats' tests share.

use std::collections::BTreeMap;

use findings::{
    BaselineEntry, Comparison, Cycle, CycleEdge, EdgeKind, Evidence, Finding, Fingerprint, Gap,
    GapKind, HeldLock, Operation, Results, Severity, Site, Stack, Step, Suppressed, Suppressor,
    ThreadAction, Transaction, Witness, merge_and_rank,
};

pub(crate) const LINE_JAVA: &str = "\
package geometry;

class Line {
    private final Location start, end;

    synchronized boolean contains(Location point) {
        double toStart = point.distanceTo(start);   // locks point, and gives it back
        double toEnd = point.distanceTo(end);
        return toStart + toEnd <= start.distanceTo(end) * 1.001;
    }
}
";

pub(crate) fn site(
    class: &str,
    method: &str,
    descriptor: &str,
    offset: u32,
    file: &str,
    line: u32,
) -> Site {
    Site {
        class: class.into(),
        method: method.into(),
        descriptor: descriptor.into(),
        offset: Some(offset),
        file: Some(file.into()),
        line: Some(line),
    }
}

/// Figure 1 of the lock-pattern paper.
pub(crate) fn line_contains() -> Finding {
    let here = |offset, line| {
        let descriptor = "(Lgeometry/Location;)Z";
        site("geometry.Line", "contains", descriptor, offset, "geometry/Line.java", line)
    };
    let callee = || {
        let descriptor = "(Lgeometry/Location;)D";
        site("geometry.Location", "distanceTo", descriptor, 0, "geometry/Location.java", 12)
    };
    let held = || vec![HeldLock { lock: "this".into(), taken_at: here(0, 6) }];
    let finding = Finding {
        rule: "reacquired-lock",
        evidence: Evidence::Possible,
        severity: Severity::Medium,
        blame: Site { offset: None, ..here(0, 6) },
        subjects: BTreeMap::from([
            ("witness", "point".to_string()),
            ("context", "this".to_string()),
        ]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![Witness {
            analysis: "lock-pattern",
            steps: vec![
                Step::at("context", here(0, 6)),
                Step {
                    call_chain: vec![callee()],
                    held_locks: held(),
                    ..Step::at("first", here(5, 7))
                },
                Step {
                    call_chain: vec![callee()],
                    held_locks: held(),
                    ..Step::at("second", here(14, 8))
                },
            ],
            cycle: None,
        }],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    };
    merge_and_rank(vec![finding]).remove(0)
}

/// A finding in library code, with longer chains, an outer lock, and a second witness.
pub(crate) fn vector_add_all() -> Finding {
    let here = |offset, line| {
        let descriptor = "(Ljava/util/Collection;)Z";
        site("java.util.Vector", "addAll", descriptor, offset, "java/util/Vector.java", line)
    };
    let chain = |line| {
        vec![
            site(
                "java.util.Vector",
                "toArray",
                "()[Ljava/lang/Object;",
                3,
                "java/util/Vector.java",
                line,
            ),
            site(
                "java.util.Arrays",
                "copyOf",
                "([Ljava/lang/Object;I)[Ljava/lang/Object;",
                7,
                "java/util/Arrays.java",
                3480,
            ),
        ]
    };
    let outer = HeldLock {
        lock: "Config.class".into(),
        taken_at: site("p.Config", "load", "()V", 1, "p/Config.java", 40),
    };
    let witness = |analysis| Witness {
        analysis,
        steps: vec![
            Step { held_locks: vec![outer.clone()], ..Step::at("context", here(0, 900)) },
            Step {
                call_chain: chain(700),
                held_locks: vec![outer.clone()],
                ..Step::at("first", here(5, 901))
            },
            Step {
                call_chain: chain(710),
                held_locks: vec![outer.clone()],
                ..Step::at("second", here(14, 903))
            },
        ],
        cycle: None,
    };
    let finding = Finding {
        rule: "reacquired-lock",
        evidence: Evidence::Observed,
        severity: Severity::High,
        blame: Site { offset: None, ..here(0, 900) },
        subjects: BTreeMap::from([("witness", "c".to_string()), ("context", "this".to_string())]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![witness("lock-pattern"), witness("velodrome")],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    };
    merge_and_rank(vec![finding]).remove(0)
}

pub(crate) const ACCOUNT_JAVA: &str = "\
package bank;

class Account {
    private int balance;

    Account(int balance) {
        this.balance = balance;
    }
    void deposit(int amount) {
        int before = balance;
        balance = before + amount;
    }
    void close() {
        balance = 0;
    }
}
";

/// A cycle as Velodrome reports it.
pub(crate) fn account_deposit() -> Finding {
    let here = |method, descriptor, offset, line| {
        site("bank.Account", method, descriptor, offset, "bank/Account.java", line)
    };
    let block = Site { offset: None, ..here("deposit", "(I)V", 0, 9) };
    let bank = |line| site("bank.Bank", "run", "()V", 4, "bank/Bank.java", line);
    let stack = |place: &Site, callers: u32, is_same_context| Stack {
        frames: [place.clone()]
            .into_iter()
            .chain((0..callers).map(|at| bank(30 + at)))
            .chain([site("java.lang.Thread", "run", "()V", 11, "java/lang/Thread.java", 840)])
            .collect(),
        is_same_context,
    };
    let balance = || "Account#3.balance".to_string();
    let reads = here("deposit", "(I)V", 1, 10);
    let closes = here("close", "()V", 2, 14);
    let writes = here("deposit", "(I)V", 9, 11);
    let ends = [
        ("first", "worker-1", "reads", stack(&reads, 2, true), reads),
        ("interferes", "main", "writes", stack(&closes, 12, false), closes),
        ("second", "worker-1", "writes", stack(&writes, 2, true), writes),
    ];
    let step = |role, thread: &str, verb: &str, stack: Stack, site| Step {
        thread: Some(thread.into()),
        action: Some(ThreadAction { verb: verb.into(), subject: balance() }),
        stack: Some(stack),
        ..Step::at(role, site)
    };
    let mut steps =
        vec![Step { thread: Some("worker-1".into()), ..Step::at("block", block.clone()) }];
    steps.extend(
        ends.map(|(role, thread, verb, stack, site)| step(role, thread, verb, stack, site)),
    );
    let operation = |step: &Step| Operation {
        verb: step.action.as_ref().unwrap().verb.clone(),
        site: Some(step.site.clone()),
        stack: step.stack.clone(),
    };
    let edge = |from: &Step, to: &Step| CycleEdge {
        kind: EdgeKind::Operations,
        subject: balance(),
        from: operation(from),
        to: operation(to),
        is_race: false,
    };
    let transaction = |thread: &str, block: Option<&Site>| Transaction {
        thread: thread.into(),
        block: block.cloned(),
        is_blamed: block.is_some(),
    };
    let cycle = Cycle {
        transactions: vec![transaction("worker-1", Some(&block)), transaction("main", None)],
        edges: vec![edge(&steps[1], &steps[2]), edge(&steps[2], &steps[3])],
        outer_blocks: vec![Site { offset: None, ..bank(28) }],
        count: 1200,
        benign: None,
    };
    let names =
        |name: &str| BTreeMap::from([("first", name.to_string()), ("second", name.to_string())]);
    let finding = Finding {
        rule: "not-serializable",
        evidence: Evidence::Observed,
        severity: Severity::High,
        blame: block,
        subjects: names("Account#3.balance"),
        stable_subjects: names("bank.Account.balance"),
        witnesses: vec![Witness { analysis: "velodrome", steps, cycle: Some(cycle) }],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    };
    merge_and_rank(vec![finding]).remove(0)
}

/// What was observed of [`account_deposit`] was also predicted.
pub(crate) fn predicted_deposit() -> Finding {
    let mut finding = account_deposit();
    finding.rule = "breakable-block";
    finding.evidence = Evidence::Predicted;
    finding.severity = Severity::Medium;
    finding.subjects.insert("guard", "one lock".to_string());
    finding.witnesses[0].analysis = "hybrid";
    finding.fingerprint = None;
    finding
}

pub(crate) fn results() -> Results {
    let mut gaps: Vec<Gap> = (0..12)
        .map(|number| {
            Gap::new(
                GapKind::MissingClass,
                format!("org.lib.C{number:02}"),
                "not found on the class path",
            )
        })
        .collect();
    gaps[3].count = 41;
    gaps.push(Gap::new(
        GapKind::MalformedClass,
        "/home/ada/app.jar!/p/Broken.class",
        "constant #17 at byte 96 has unknown tag 99",
    ));
    Results {
        findings: merge_and_rank(vec![line_contains(), vector_add_all()]),
        gaps: findings::merge_gaps(gaps),
        stats: vec![("classes", 6412), ("methods", 54321), ("call_edges", 200_000)],
        ..Results::default()
    }
}

/// A run of which nothing is left to show: one finding is suppressed, one is in the baseline, twelve
/// are below the level.
pub(crate) fn triaged() -> Results {
    let gone = BaselineEntry {
        blame: "p.Old.gone()".into(),
        rule: "reacquired-lock".into(),
        message: "`p.Old.gone` releases `lock` too early".into(),
        fingerprint: Fingerprint::try_from("0123456789abcdef".to_string()).unwrap(),
    };
    Results {
        suppressed: vec![Suppressed {
            finding: line_contains(),
            by: Suppressor::Configuration,
            reason: "callers hold the lock".into(),
            is_known: false,
        }],
        baseline: Some(Comparison { known: vec![vector_add_all()], gone: vec![gone] }),
        below_level: BTreeMap::from([(Severity::Low, 12)]),
        remarks: vec!["the suppression of `p.Dead` at scission.toml:3 matches nothing".into()],
        stats: vec![("classes", 1), ("methods", 1034)],
        ..Results::default()
    }
}

//! Findings that the formats' tests share.

use std::collections::BTreeMap;

use findings::{
    Comparison, Evidence, Finding, Fingerprint, Gap, GapKind, HeldLock, Recorded, Results,
    Severity, Site, Step, Suppressed, Suppressor, Witness, merge_and_rank,
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
                Step { role: "context", site: here(0, 6), call_chain: vec![], held_locks: vec![] },
                Step {
                    role: "first",
                    site: here(5, 7),
                    call_chain: vec![callee()],
                    held_locks: held(),
                },
                Step {
                    role: "second",
                    site: here(14, 8),
                    call_chain: vec![callee()],
                    held_locks: held(),
                },
            ],
        }],
        distance: 0,
        fingerprint: None,
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
            Step {
                role: "context",
                site: here(0, 900),
                call_chain: vec![],
                held_locks: vec![outer.clone()],
            },
            Step {
                role: "first",
                site: here(5, 901),
                call_chain: chain(700),
                held_locks: vec![outer.clone()],
            },
            Step {
                role: "second",
                site: here(14, 903),
                call_chain: chain(710),
                held_locks: vec![outer.clone()],
            },
        ],
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
    };
    merge_and_rank(vec![finding]).remove(0)
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
    let gone = Recorded {
        blame: "p.Old.gone()".into(),
        rule: "reacquired-lock".into(),
        message: "`p.Old.gone` gives `lock` back too early".into(),
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

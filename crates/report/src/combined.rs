//! Several reports put together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use findings::{Comparison, Finding, Fingerprint, Results, merge_gaps};

use crate::words;

/// What several commands found, as one result: a finding that several have found is one, with the best evidence and
/// what proves it in each. The findings are not ranked. One that any of them knows from a baseline or suppresses counts
/// as known or suppressed.
#[must_use]
pub fn combined(all: Vec<Results>) -> Results {
    let mut results = Results::default();
    let (mut found, mut known, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_baseline = false;
    let mut stats: BTreeMap<&'static str, u64> = BTreeMap::new();
    for part in all {
        found.extend(part.findings);
        results.suppressed.extend(part.suppressed);
        if let Some(Comparison { known: also_known, gone: also_gone }) = part.baseline {
            has_baseline = true;
            known.extend(also_known);
            gone.extend(also_gone);
        }
        for (severity, number) in part.below_level {
            *results.below_level.entry(severity).or_insert(0) += number;
        }
        results.remarks.extend(part.remarks);
        results.gaps.extend(part.gaps);
        for (name, number) in part.stats {
            let sum = stats.entry(name).or_insert(0);
            *sum = sum.saturating_add(number);
        }
        results.interrupted |= part.interrupted;
    }
    let mut seen = BTreeSet::new();
    results.suppressed.retain(|it| seen.insert(words::fingerprint(&it.finding)));
    let known = once(known);
    let decided: BTreeSet<Fingerprint> =
        seen.into_iter().chain(known.iter().map(words::fingerprint)).collect();
    results.findings = once(found);
    results.findings.retain(|finding| !decided.contains(&words::fingerprint(finding)));
    let still_found: BTreeSet<Fingerprint> =
        results.findings.iter().map(words::fingerprint).chain(decided).collect();
    gone.sort();
    gone.dedup();
    gone.retain(|entry| !still_found.contains(&entry.fingerprint));
    results.baseline = has_baseline.then_some(Comparison { known, gone });
    results.remarks.sort();
    results.remarks.dedup();
    results.gaps = merge_gaps(results.gaps);
    results.stats = stats.into_iter().collect();
    results
}

/// Each finding once, by its identity. What is said of it is what the best evidence says.
fn once(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| Reverse(finding.evidence));
    let mut positions: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        let at = *positions.entry(words::fingerprint(&finding)).or_insert(kept.len());
        let Some(known) = kept.get_mut(at) else {
            kept.push(finding);
            continue;
        };
        known.severity = known.severity.max(finding.severity);
        for witness in finding.witnesses {
            if !known.witnesses.contains(&witness) {
                known.witnesses.push(witness);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use findings::Evidence;

    use super::*;
    use crate::samples;

    fn of(findings: Vec<Finding>) -> Results {
        Results { findings, ..Results::default() }
    }

    #[test]
    fn what_two_reports_have_is_one_finding_with_the_best_evidence() {
        let mut observed = samples::line_contains();
        observed.evidence = Evidence::Observed;
        observed.witnesses[0].analysis = "velodrome";
        let parts = vec![of(vec![samples::line_contains()]), of(vec![observed.clone()])];
        let results = combined(parts);
        assert_eq!(results.findings.len(), 1);
        assert_eq!(results.findings[0].evidence, Evidence::Observed);
        let analyses: Vec<_> =
            results.findings[0].witnesses.iter().map(|witness| witness.analysis).collect();
        assert_eq!(analyses, ["velodrome", "lock-pattern"]);
        assert!(results.baseline.is_none());
    }

    #[test]
    fn decisions_of_one_report_hold_for_all() {
        let parts = vec![
            of(vec![
                samples::line_contains(),
                samples::vector_add_all(),
                samples::account_deposit(),
            ]),
            samples::triaged(),
        ];
        let results = combined(parts);
        let rules: Vec<_> = results.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["not-serializable"]);
        assert_eq!(results.suppressed.len(), 1);
        assert_eq!(results.baseline.unwrap().known.len(), 1);
        assert_eq!(results.stats, [("classes", 1), ("methods", 1034)]);
    }
}

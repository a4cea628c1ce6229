//! From everything that was found to what is shown: annotations in the code, suppressions of the
//! configuration, levels, and the baseline, in this order.

use anyhow::Context;
use findings::{
    BaselineEntry, Comparison, Finding, Results, Suppressed, Suppressor, gather_alike,
    merge_and_rank,
};
use models::Pattern;
use program::Program;
use report::{Baseline, Sources};

use crate::config::Suppression;
use crate::settings::{CheckSettings, TriageSettings};

/// Opens the sources for excerpts.
pub(crate) fn open_sources(settings: &TriageSettings) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    for path in &settings.source {
        sources.add(path).with_context(|| {
            let path = path.display();
            format!("cannot read sources from `{path}`, which must be a directory or a zip archive")
        })?;
    }
    Ok(sources)
}

/// Sorts the findings into the results. `program` has the annotations of the code, if it is known.
/// `looked` is set if the analysis was complete; otherwise nothing can be said about findings of the
/// baseline that were not found.
pub(crate) fn triage(
    mut found: Vec<Finding>,
    program: Option<&Program>,
    settings: &TriageSettings,
    baseline: Option<&Baseline>,
    looked: Option<&CheckSettings>,
    results: &mut Results,
) {
    if let Some(program) = program {
        analyses::annotations::raise(program, &mut found);
    }
    let found = merge_and_rank(found);
    results.baseline = baseline.map(|baseline| {
        let mut gone = baseline.missing_from(&found);
        gone.retain(|recorded| looked.is_some_and(|looked| was_looked_for(recorded, looked)));
        Comparison { known: Vec::new(), gone }
    });
    let mut has_matched = vec![false; settings.suppressions.len()];
    for finding in found {
        if let Some(program) = program {
            results.remarks.extend(analyses::annotations::misspelled(program, &finding));
        }
        let is_known = baseline.is_some_and(|baseline| baseline.contains(&finding));
        let decision = suppressed(&finding, program, &settings.suppressions, &mut has_matched);
        if let Some((by, reason)) = decision {
            results.suppressed.push(Suppressed { finding, by, reason, is_known });
        } else if finding.severity < settings.levels.of(finding.rule) {
            *results.below_level.entry(finding.severity).or_insert(0) += 1;
        } else {
            match &mut results.baseline {
                Some(comparison) if is_known => comparison.known.push(finding),
                _ => results.findings.push(finding),
            }
        }
    }
    results.findings = gather_alike(std::mem::take(&mut results.findings));
    if let Some(comparison) = &mut results.baseline {
        comparison.known = gather_alike(std::mem::take(&mut comparison.known));
    }
    results.remarks.sort();
    results.remarks.dedup();
    if let Some(looked) = looked.filter(|looked| !looked.is_narrowed) {
        for (suppression, has_matched) in settings.suppressions.iter().zip(has_matched) {
            let Suppression { text, rule, place, .. } = suppression;
            if !has_matched && rule.is_none_or(|rule| looked.analysis.wants(rule.name)) {
                let remark =
                    format!("the suppression of `{text}` at {place} matches nothing: remove it");
                results.remarks.push(remark);
            }
        }
    }
}

/// What suppresses a finding, and the reason. Every suppression that matches counts as used, and so does one of a
/// finding that stands under it; but only those of the finding itself suppress it, which has the best evidence.
fn suppressed(
    finding: &Finding,
    program: Option<&Program>,
    suppressions: &[Suppression],
    has_matched: &mut [bool],
) -> Option<(Suppressor, String)> {
    let name = finding.blame.method_name();
    let mut first = None;
    for (suppression, has_matched) in suppressions.iter().zip(has_matched) {
        if !covers(suppression, finding, &name) {
            continue;
        }
        let is_of =
            |finding: &Finding| suppression.rule.is_none_or(|rule| rule.name == finding.rule);
        *has_matched |= finding.with_also().any(is_of);
        if is_of(finding) {
            first = first.or(Some(&suppression.reason));
        }
    }
    match first {
        Some(reason) => Some((Suppressor::Configuration, reason.clone())),
        None => {
            let reason = analyses::annotations::suppression_reason(program?, finding)?;
            Some((Suppressor::Annotation, reason))
        }
    }
}

/// Whether a suppression is about what a finding is about: where it is, and which variables and locks it names.
fn covers(suppression: &Suppression, finding: &Finding, method: &str) -> bool {
    let Suppression { pattern, field, lock, .. } = suppression;
    let class = &finding.blame.class;
    let (package, simple) = class.rsplit_once('.').unwrap_or(("", class.as_str()));
    // Reports name a field with its class or as the method does, and so a lock; those of runs with the number of the object.
    let names_one = |pattern: &Pattern, name: &str| {
        let name = findings::without_numbers(name);
        let name = name.as_str();
        let last = name.rsplit('.').next().unwrap_or(name);
        [
            name.to_string(),
            format!("{class}.{name}"),
            format!("{package}.{name}"),
            format!("{class}.{last}"),
            format!("{simple}.{last}"),
        ]
        .iter()
        .any(|name| pattern.matches(name))
    };
    pattern.as_ref().is_none_or(|pattern| pattern.matches(method))
        && field
            .as_ref()
            .is_none_or(|field| finding.variable_names().any(|name| names_one(field, name)))
        && lock.as_ref().is_none_or(|lock| finding.lock_names().any(|name| names_one(lock, name)))
}

/// Whether this run would have found a finding of the baseline, if it were still there.
fn was_looked_for(recorded: &BaselineEntry, settings: &CheckSettings) -> bool {
    let config = &settings.analysis;
    let name = recorded.blame.split('(').next().unwrap_or(&recorded.blame);
    let is_included =
        config.include.is_empty() || config.include.iter().any(|pattern| pattern.matches(name));
    let is_excluded = config.exclude.iter().any(|pattern| pattern.matches(name));
    !settings.has_other_paths && config.wants(&recorded.rule) && is_included && !is_excluded
}

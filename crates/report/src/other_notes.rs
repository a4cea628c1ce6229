//! What the text says of the other places, ways, variables and rules that show the defect of a finding.

use std::collections::BTreeSet;

use findings::{Finding, Site, Witness};

use crate::Detail;
use crate::words::{self, with_separators};

/// How many of the places that a finding shares its locks with are listed.
const SIMILAR_SHOWN: usize = 5;

/// How many of the other ways in which a run met a defect are listed.
const OTHER_WAYS_SHOWN: usize = 2;

/// Where else the same happens in the same block, or how often at the same place.
pub(crate) fn similar_findings_note(primary: &Site, alike: &[&Finding]) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for finding in alike {
        let place = words::place(words::primary_site(finding));
        if place != words::place(primary) && !places.contains(&place) {
            places.push(place);
        }
    }
    let left_out = places.len().saturating_sub(SIMILAR_SHOWN);
    places.truncate(SIMILAR_SHOWN);
    match (alike.len(), places.len(), left_out) {
        (0, ..) => None,
        (1, 0, _) => Some("1 similar finding at the same place".to_string()),
        (more, 0, _) => Some(format!("{more} similar findings at the same place")),
        (_, _, 0) => Some(format!("also at {}", places.join(", "))),
        (_, _, more) => Some(format!("also at {} and {more} more places", places.join(", "))),
    }
}

/// How else the run met the defect: where, about what, and how often.
pub(crate) fn other_ways_note(finding: &Finding, detail: Detail) -> Option<String> {
    let (first, others) = finding.witnesses.split_first()?;
    let others: Vec<&Witness> = others.iter().filter(|it| it.analysis == first.analysis).collect();
    let shown = match detail {
        Detail::Verbose => others.len(),
        Detail::Normal | Detail::Quiet => others.len().min(OTHER_WAYS_SHOWN),
    };
    let mut ways: Vec<String> = Vec::new();
    for other in &others[..shown] {
        let steps = other.steps.iter().filter(|step| ["first", "second"].contains(&step.role));
        let uses: Vec<String> = steps
            .map(|step| {
                let place = words::short_place(&step.site);
                match &step.action {
                    Some(action) if words::splits_block(finding) => {
                        format!("`{}` ({place})", action.subject)
                    }
                    Some(action) => format!("{} ({place})", action.verb),
                    None => place,
                }
            })
            .collect();
        let times = match other.cycle.as_ref().map_or(1, |cycle| cycle.count) {
            1 => String::new(),
            count => format!(", {} times", with_separators(count)),
        };
        ways.push(format!("{}{times}", uses.join(" and ")));
    }
    let more = match others.len() - shown {
        0 => String::new(),
        1 => "; and once more".to_string(),
        more => format!("; and in {more} more ways"),
    };
    let also = if words::splits_block(finding) { "also split between" } else { "another pair:" };
    (!ways.is_empty()).then(|| format!("{also} {}{more}", ways.join("; ")))
}

/// Findings of other rules about the same defect.
pub(crate) fn also_notes(finding: &Finding, detail: Detail) -> Vec<String> {
    let is_split = |also: &&Finding| also.rule == "not-serializable" && finding.rule != also.rule;
    let splits: Vec<String> =
        finding.also.iter().filter(is_split).map(|also| also.blame.method_name()).collect();
    let mut notes = Vec::new();
    if detail != Detail::Verbose && !splits.is_empty() {
        let shown: Vec<String> =
            splits.iter().take(SIMILAR_SHOWN).map(|method| format!("`{method}`")).collect();
        let more = splits.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more blocks") } else { String::new() };
        notes.push(format!("this also splits {}{more} (`not-serializable`)", shown.join(", ")));
    }
    let is_similar = |also: &&Finding| also.rule == finding.rule;
    let others = finding
        .also
        .iter()
        .filter(|also| detail == Detail::Verbose || !is_split(also) && !is_similar(also));
    notes.extend(others.map(|also| also_note(also, detail)));
    notes
}

/// The other variables that similar findings are about.
pub(crate) fn similar_variables_note(finding: &Finding, similar: &[&Finding]) -> Option<String> {
    let own = finding.subjects.get("variable")?;
    let names: BTreeSet<&String> = similar
        .iter()
        .filter_map(|it| it.subjects.get("variable"))
        .filter(|it| *it != own)
        .collect();
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("the same for {}", names.join(", ")))
}

/// What another analysis found of the same.
pub(crate) fn other_witness_note(witness: &Witness) -> String {
    let places: Vec<String> = witness
        .steps
        .iter()
        .map(|step| format!("{} at {}", step.role, words::place(&step.site)))
        .collect();
    format!("also found by {}: {}", witness.analysis, places.join(", "))
}

/// A finding of another rule about the same defect.
fn also_note(also: &Finding, detail: Detail) -> String {
    let rule = also.rule;
    let evidence = words::name(also.evidence);
    let witness = also.witnesses.first();
    let by = witness.map_or(String::new(), |witness| format!(" by {}", witness.analysis));
    let steps = witness.map_or(&[][..], |witness| &witness.steps);
    let places: Vec<String> =
        steps.iter().map(|step| format!("{} at {}", step.role, words::place(&step.site))).collect();
    let fingerprint = match detail {
        Detail::Verbose => format!(", fingerprint {}", words::fingerprint(also)),
        Detail::Normal | Detail::Quiet => String::new(),
    };
    format!("also `{rule}`, {evidence}{by}{fingerprint}: {}", places.join(", "))
}

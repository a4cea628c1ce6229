//! Findings of one rule that one change mends: they are shown as one.

use std::collections::BTreeMap;

use crate::{Evidence, Finding, GRADE, Site, Witness};

/// Puts findings of static analyses under the first one that the same change mends: uses of the same lock in one
/// block, uses of one value in one method, races on several fields of one class between the same methods. The findings
/// must be ranked, and stay so.
#[must_use]
pub fn gather_alike(findings: Vec<Finding>) -> Vec<Finding> {
    let mut gathered: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut leaders: BTreeMap<DefectKey, usize> = BTreeMap::new();
    for mut finding in findings {
        let key = (finding.evidence == Evidence::Possible).then(|| DefectKey::of(&finding));
        match key.as_ref().and_then(|key| leaders.get(key)) {
            Some(leader) => {
                let below = std::mem::take(&mut finding.also);
                let leader = &mut gathered[*leader];
                leader.also.push(finding);
                leader.also.extend(below);
            }
            None => {
                leaders.extend(key.map(|key| (key, gathered.len())));
                gathered.push(finding);
            }
        }
    }
    gathered
}

/// What the findings of one defect have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DefectKey {
    rule: &'static str,
    blame: Site,
    subjects: Vec<String>,
    /// The methods of the steps, where they distinguish defects.
    methods: Vec<(String, String)>,
}

/// Names of what belongs to objects: the class is what findings have in common.
const VARIABLE: &str = "variable";

impl DefectKey {
    fn of(finding: &Finding) -> DefectKey {
        let of_fields = finding.subjects.contains_key(VARIABLE);
        let subject = |(name, subject): (&&'static str, &String)| match *name {
            GRADE => None,
            VARIABLE => {
                let class = subject.rsplit_once('.').map_or(subject.as_str(), |(class, _)| class);
                Some(class.to_string())
            }
            // How often, and by which threads, says nothing about what must change.
            _ if of_fields => None,
            _ => Some(subject.clone()),
        };
        let methods = |witness: &Witness| {
            let site = |site: &Site| (site.class.clone(), site.method.clone());
            witness.steps.iter().map(|step| site(&step.site)).collect()
        };
        let witness = finding.witnesses.first().filter(|_| of_fields);
        DefectKey {
            rule: finding.rule,
            blame: finding.blame.clone(),
            subjects: finding.subjects.iter().filter_map(subject).collect(),
            methods: witness.map_or(Vec::new(), methods),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Severity, Step};

    fn finding(rule: &'static str, subject: (&'static str, &str), second: (&str, u32)) -> Finding {
        let site = |method: &str, offset| Site {
            class: "p.A".into(),
            method: method.into(),
            descriptor: "()V".into(),
            offset: Some(offset),
            file: None,
            line: None,
        };
        let steps =
            vec![Step::at("first", site("m", 1)), Step::at("second", site(second.0, second.1))];
        Finding {
            rule,
            evidence: Evidence::Possible,
            severity: Severity::Medium,
            blame: site("m", 0),
            subjects: BTreeMap::from([(subject.0, subject.1.to_string())]),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness::new("test", steps)],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    #[test]
    fn one_lock_in_one_block_is_one_defect() {
        let lock = |name, offset| finding("reacquired-lock", ("witness", name), ("m", offset));
        let gathered = gather_alike(vec![lock("a", 1), lock("b", 2), lock("a", 3)]);
        assert_eq!(gathered.iter().map(|it| it.also.len()).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn fields_of_one_class_that_race_between_the_same_methods_are_one_defect() {
        let race = |name, method| finding("data-race", (VARIABLE, name), (method, 7));
        let gathered = gather_alike(vec![
            race("Point.x", "move"),
            race("Point.y", "move"),
            race("Point.y", "draw"),
            race("Line.x", "move"),
        ]);
        assert_eq!(gathered.iter().map(|it| it.also.len()).collect::<Vec<_>>(), [1, 0, 0]);
    }
}

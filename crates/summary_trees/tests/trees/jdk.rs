//! All methods of the JDK's largest module.

use std::collections::BTreeMap;

use classes::ClassFile;
use rayon::prelude::*;
use summary_trees::{
    BranchSummaries, Config, FieldFacts, FieldRef, Fields, GapReason, Step, StepKind,
    summarize_branches, summarize_method,
};

use crate::java::this_jdk;

/// The fields of all classes, by class.
struct AllFields(BTreeMap<String, ClassFile>);

impl Fields for AllFields {
    fn facts(&self, field: &FieldRef) -> Option<FieldFacts> {
        self.0.get(&*field.owner)?.facts(field)
    }
}

#[derive(Default)]
struct Counts {
    methods: usize,
    method_gaps: BTreeMap<GapReason, usize>,
    summarized: usize,
    without_effect: usize,
    gaps: BTreeMap<GapReason, usize>,
    steps: usize,
    dropped: usize,
    roots: usize,
}

impl Counts {
    fn add(mut self, other: Counts) -> Counts {
        self.methods += other.methods;
        self.summarized += other.summarized;
        self.without_effect += other.without_effect;
        self.steps += other.steps;
        self.dropped += other.dropped;
        self.roots += other.roots;
        for (reason, count) in other.gaps {
            *self.gaps.entry(reason).or_default() += count;
        }
        for (reason, count) in other.method_gaps {
            *self.method_gaps.entry(reason).or_default() += count;
        }
        self
    }

    fn of_branches(&mut self, found: &BranchSummaries) {
        self.summarized += found.branches.len();
        self.without_effect += found.without_effect;
        for gap in &found.gaps {
            *self.gaps.entry(gap.reason).or_default() += 1;
        }
        for branch in &found.branches {
            self.roots += branch.roots.len();
            self.dropped += branch.dropped.len();
            self.steps += branch.sides.iter().map(|side| count_steps(&side.steps)).sum::<usize>();
        }
    }

    fn share_without_gap(&self) -> f64 {
        let good = self.summarized + self.without_effect;
        good as f64 / (good + self.gaps.values().sum::<usize>()) as f64
    }
}

fn count_steps(steps: &[Step]) -> usize {
    let nested = |step: &Step| match &step.kind {
        StepKind::Choice { sides } => sides.iter().map(|side| count_steps(&side.steps)).sum(),
        StepKind::Twice { body } => count_steps(body),
        _ => 0,
    };
    steps.iter().map(|step| 1 + nested(step)).sum()
}

#[test]
fn branches_of_java_base_are_summarized() {
    let image = this_jdk().open().unwrap();
    let names: Vec<String> =
        image.class_names(Some("java.base")).map(|(_, name)| name.to_owned()).collect();
    let classes: BTreeMap<String, ClassFile> = names
        .par_iter()
        .filter_map(|name| {
            let bytes = image.read(name).ok()??;
            Some((name.clone(), ClassFile::parse(bytes).ok()?))
        })
        .collect();
    let fields = AllFields(classes);
    let config = Config::default();
    let count = |prefix: &str| {
        fields
            .0
            .par_iter()
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(_, class)| {
                let mut counts = Counts::default();
                for method in &class.methods {
                    counts.methods += usize::from(method.code.is_some());
                    counts.of_branches(&summarize_branches(class, method, &fields, &config));
                    if let Err(reason) = summarize_method(class, method, &fields, &config) {
                        *counts.method_gaps.entry(reason).or_default() += 1;
                    }
                }
                counts
            })
            .reduce(Counts::default, Counts::add)
    };
    for prefix in ["java/util/", ""] {
        let counts = count(prefix);
        println!(
            "{prefix}*: {} methods, not summarized {:?}; {} branches summarized, {} without effect, gaps {:?} \
             ({:.2} % without gap); {} steps, {} dropped, {} roots",
            counts.methods,
            counts.method_gaps,
            counts.summarized,
            counts.without_effect,
            counts.gaps,
            100.0 * counts.share_without_gap(),
            counts.steps,
            counts.dropped,
            counts.roots,
        );
        assert!(counts.summarized > 1000);
        assert!(counts.share_without_gap() > 0.9, "{prefix}");
    }
}

//! What the code itself says of its thread safety, in annotations.
//!
//! Every finding passes through here, whichever analysis made it. Annotations are recognised by their
//! simple name, whatever library they come from: `@ThreadSafe` raises the severity of what is found in
//! a class; `@NotThreadSafe`, `@ThreadConfined` and `@SuppressFindings` on a method, its class or a
//! class around that silence it, and so do they on a field that is the variable or the lock of a finding.

use classes::{Annotation, AnnotationValue};
use findings::{Finding, Site, rules};
use program::{ClassId, Program};

const THREAD_SAFE: &str = "ThreadSafe";
const SUPPRESS_FINDINGS: &str = "SuppressFindings";
/// Code that says of itself that one thread at a time uses it.
const CONFINED: [&str; 2] = ["NotThreadSafe", "ThreadConfined"];

/// Raises the severity of findings blamed on a class that promises to be thread-safe.
pub fn raise(program: &Program, findings: &mut [Finding]) {
    for finding in findings {
        let class = program.class_named(&classes::internal_name(&finding.blame.class));
        let promises = class.is_some_and(|class| {
            let annotations = program.annotations_of_class(class);
            annotations.iter().any(|annotation| annotation.simple_name() == THREAD_SAFE)
        });
        if promises {
            finding.severity = finding.severity.raised();
        }
    }
}

/// Why the code wants a finding not to be shown, if it does.
#[must_use]
pub fn suppression_reason(program: &Program, finding: &Finding) -> Option<String> {
    let mut elements = annotated_elements(program, &finding.blame);
    elements.extend(annotated_fields(program, finding));
    elements.iter().find_map(|place| {
        place.annotations.iter().find_map(|annotation| {
            let name = annotation.simple_name();
            let applies = CONFINED.contains(&name)
                || (name == SUPPRESS_FINDINGS && suppresses(annotation, finding.rule));
            applies.then(|| match annotation.element("reason") {
                Some(AnnotationValue::String(reason)) if name == SUPPRESS_FINDINGS => {
                    reason.to_string()
                }
                _ => format!("`@{name}` on `{}`", place.name),
            })
        })
    })
}

/// Names in the `@SuppressFindings` around a finding that are not names of rules, each as a sentence:
/// a misspelled name suppresses nothing.
#[must_use]
pub fn misspelled(program: &Program, finding: &Finding) -> Vec<String> {
    let mut sentences = Vec::new();
    for place in annotated_elements(program, &finding.blame) {
        let suppressions = place.annotations.iter();
        for annotation in suppressions.filter(|it| it.simple_name() == SUPPRESS_FINDINGS) {
            for name in named_rules(annotation).into_iter().flatten() {
                if rules::named(name).is_none() {
                    let place = &place.name;
                    sentences.push(format!(
                        "`@{SUPPRESS_FINDINGS}` on `{place}` names `{name}`, which is no rule"
                    ));
                }
            }
        }
    }
    sentences
}

/// Something that can be annotated, around or at a finding.
struct AnnotatedElement<'a> {
    name: String,
    annotations: &'a [Annotation],
}

/// The blamed method, its class, and the methods and classes around that, from the inside out.
fn annotated_elements<'a>(program: &'a Program, blame: &Site) -> Vec<AnnotatedElement<'a>> {
    let mut annotated_elements = Vec::new();
    let internal = classes::internal_name(&blame.class);
    if let Some(class) = program.class_named(&internal) {
        let is_blamed = |name: &str, descriptor: &str| {
            *name == *blame.method && *descriptor == *blame.descriptor
        };
        annotated_elements.extend(methods(program, class, is_blamed));
        // A lambda only knows the name of the method it was written in.
        let lambda = blame.method.strip_prefix("lambda$").and_then(|rest| rest.rsplit_once('$'));
        if let Some((written_in, _)) = lambda {
            annotated_elements.extend(methods(program, class, |name, _| name == written_in));
        }
    }
    let ends = internal.match_indices('$').map(|(at, _)| at).chain([internal.len()]);
    let around: Vec<ClassId> =
        ends.filter_map(|end| program.class_named(&internal[..end])).collect();
    for class in around.into_iter().rev() {
        let declared = &program.classes[class];
        let annotations = program.annotations_of_class(class);
        annotated_elements.push(AnnotatedElement { name: declared.dotted_name(), annotations });
        // A local or anonymous class is part of the method it was written in.
        let written_in = declared.file.as_ref().and_then(|file| file.enclosing_method.as_ref());
        if let Some(written_in) = written_in
            && let Some(class) = program.class_named(&written_in.class)
            && let Some((name, descriptor)) = &written_in.method
        {
            annotated_elements.extend(methods(program, class, |method, of| {
                *method == **name && *of == **descriptor
            }));
        }
    }
    annotated_elements
}

/// The fields that a finding is about, as variables or as locks: those of the blamed class and the classes around it, and
/// of the classes beside it that the finding names.
fn annotated_fields<'a>(program: &'a Program, finding: &Finding) -> Vec<AnnotatedElement<'a>> {
    let internal = classes::internal_name(&finding.blame.class);
    let outermost = internal.split('$').next().unwrap_or(&internal).to_string();
    let package = outermost.rsplit_once('/').map_or("", |(package, _)| package);
    let mut found = Vec::new();
    for name in finding.variable_names().chain(finding.lock_names()) {
        let (owner, field) = name.rsplit_once('.').unwrap_or(("", name));
        let owner = owner.rsplit('.').next().unwrap_or(owner);
        let candidates = [
            internal.to_string(),
            outermost.clone(),
            format!("{internal}${owner}"),
            format!("{outermost}${owner}"),
            format!("{package}/{owner}"),
            owner.to_string(),
        ];
        let is_named = |candidate: &&String| {
            let simple = candidate.rsplit(['/', '$']).next().unwrap_or(candidate);
            owner.is_empty() || owner == simple || owner == "this"
        };
        let classes = candidates.iter().filter(is_named);
        for class in classes.filter_map(|candidate| program.class_named(candidate)) {
            let declared = &program.classes[class];
            let mut fields = declared.fields.iter().copied();
            if let Some(id) = fields.find(|id| *program.fields[*id].name == *field) {
                let name = format!("{}.{field}", declared.dotted_name());
                let annotations = program.annotations_of_field(id);
                found.push(AnnotatedElement { name, annotations });
            }
        }
    }
    found
}

/// The methods of a class whose name and descriptor are wanted.
fn methods<'a>(
    program: &'a Program,
    class: ClassId,
    is_wanted: impl Fn(&str, &str) -> bool,
) -> Vec<AnnotatedElement<'a>> {
    let declared = &program.classes[class];
    let wanted = declared.methods.iter().copied().filter(|method| {
        let method = &program.methods[*method];
        is_wanted(&method.name, &method.descriptor)
    });
    let place = |method| AnnotatedElement {
        name: format!("{}.{}", declared.dotted_name(), program.methods[method].name),
        annotations: program.annotations_of_method(method),
    };
    wanted.map(place).collect()
}

fn suppresses(annotation: &Annotation, rule: &str) -> bool {
    named_rules(annotation).is_none_or(|names| names.contains(&rule))
}

/// The rules a `@SuppressFindings` names; `None` when it names none and so means all.
fn named_rules(annotation: &Annotation) -> Option<Vec<&str>> {
    let names: Vec<&str> = match annotation.element("value")? {
        AnnotationValue::String(name) => vec![name],
        AnnotationValue::Array(names) => names
            .iter()
            .filter_map(|name| match name {
                AnnotationValue::String(name) => Some(&**name),
                _ => None,
            })
            .collect(),
        _ => return None,
    };
    (!names.is_empty()).then_some(names)
}

//! Summaries of library code against the models of the same methods, which were written by hand from the documentation.

use std::sync::Arc;

use classes::Jdk;

use super::{DerivedSummary, summarise};
use crate::build;
use crate::ids::MethodId;
use crate::symbols::{Origin, Program};
use models::{Effect, Models, Operand, Sharing};

/// The modelled classes of the JDK.
fn modelled_classes(jdk: &classes::JdkImage) -> Program {
    let mut names: Vec<Arc<str>> =
        Models::built_in().rows().map(|row| Arc::from(row.class)).collect();
    let mut files: Vec<(Arc<classes::ClassFile>, Origin)> = Vec::new();
    while let Some(name) = names.pop() {
        if files.iter().any(|(file, _)| file.name == name) {
            continue;
        }
        if let Some(file) = build::read_library_class(Some(jdk), &name).ok().flatten() {
            names.extend(file.super_name.iter().chain(&file.interfaces).cloned());
            files.push((Arc::new(file), Origin::Library));
        }
    }
    files.sort_by(|one, other| one.0.name.cmp(&other.0.name));
    build::link(files, Vec::new(), Vec::new(), Models::built_in(), &|_| false)
}

/// Whether a summary says what a model says; none for effects that summaries do not have.
fn says(derived: &DerivedSummary, effect: Effect) -> Option<bool> {
    let has = |effect: Effect| derived.effects.contains(&effect);
    let is_named =
        |operand| matches!(operand, Operand::Receiver | Operand::Argument(_) | Operand::Result);
    let is_shared = |operand| has(Effect::Escapes { operand });
    // What refers to the same things is as good as a view.
    let shows = |of: Operand| {
        let value = match of {
            Operand::Argument(number) => Operand::Elements(number),
            _ => Operand::Contents,
        };
        has(Effect::Store { value, into: Operand::Result })
    };
    match effect {
        Effect::Store { value, into } if is_named(value) && is_named(into) => Some(
            has(effect) || is_shared(value) && is_shared(into) || has(Effect::View { of: value }),
        ),
        Effect::Load { from } if is_named(from) => Some(
            has(effect)
                || has(Effect::View { of: from })
                || shows(from)
                || is_shared(from) && is_shared(Operand::Result),
        ),
        Effect::View { of } if is_named(of) => Some(
            has(effect)
                || has(Effect::Load { from: of })
                || shows(of)
                || has(Effect::Store { value: of, into: Operand::Result }),
        ),
        Effect::Escapes { operand } if is_named(operand) => Some(has(effect)),
        _ => None,
    }
}

/// Whether a value of this type is followed at all.
fn is_followed(descriptor: &str) -> bool {
    match descriptor.as_bytes().first() {
        Some(b'[') => true,
        Some(b'L') => {
            let class = &descriptor[1..descriptor.len() - 1];
            Models::built_in().sharing(class) != Some(Sharing::Immutable)
        }
        _ => false,
    }
}

#[test]
fn summaries_say_what_the_models_say() {
    let jdk = Jdk::find(None).unwrap().expect("this test needs a JDK: set JAVA_HOME");
    let image = jdk.open().unwrap();
    let program = modelled_classes(&image);
    let row_of = |method: MethodId| {
        let declared = &program.methods[method];
        Models::built_in().lookup(
            &program.class_of(method).name,
            &declared.name,
            &declared.descriptor,
        )
    };
    let wanted: Vec<MethodId> = program
        .methods
        .ids()
        .filter(|method| {
            let declared = &program.methods[*method];
            !declared.is_abstract() && !declared.is_native() && row_of(*method).is_some()
        })
        .collect();
    let derived = summarise(&program, Some(&image), &wanted, &|| false);
    let (mut agreed, mut missed) = (0, Vec::new());
    for method in &wanted {
        let (Some(derived), Some(row)) = (derived.get(method), row_of(*method)) else { continue };
        let descriptor = &program.methods[*method].descriptor;
        let result = descriptor.rfind(')').map_or("", |at| &descriptor[at + 1..]);
        let parameters: Vec<&str> =
            classes::descriptor::parameter_descriptors(descriptor).collect();
        let is_followed = |operand: Operand| match operand {
            Operand::Argument(number) => {
                parameters.get(usize::from(number)).is_some_and(|it| is_followed(it))
            }
            Operand::Result => is_followed(result),
            _ => true,
        };
        for effect in row.effects {
            let applies = match *effect {
                Effect::Store { value, into } => is_followed(value) && is_followed(into),
                Effect::Load { .. } | Effect::View { .. } => is_followed(Operand::Result),
                Effect::Escapes { operand } => is_followed(operand),
                _ => true,
            };
            match says(derived, *effect).filter(|_| applies) {
                Some(true) => agreed += 1,
                Some(false) => {
                    missed.push(format!("{}: {effect:?}", program.method_label(*method)))
                }
                None => {}
            }
        }
    }
    println!("{agreed} effects of models are in the summaries, {} are not", missed.len());
    for missed in &missed {
        println!("  {missed}");
    }
    assert!(agreed > 300, "only {agreed} effects were compared");
    assert!(
        missed.len() * 20 < agreed,
        "{} of {} effects are not told:\n{}",
        missed.len(),
        agreed + missed.len(),
        missed.join("\n")
    );
}

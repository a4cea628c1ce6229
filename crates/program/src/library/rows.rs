//! Summaries of library methods in the words of the models.

use classes::descriptor::parameter_descriptors;

use super::collect::MOST_TARGETS;
use super::flow::Summary;
use super::{CallBack, Called, DerivedSummary};
use crate::ids::{MethodId, TypedVec};
use crate::symbols::{Method, Program};
use models::{Effect, Operand, Runner, Times};

/// What a call of a method does, by whatever implements it; none where that is not known.
pub(super) fn row(
    program: &Program,
    summaries: &TypedVec<MethodId, Summary>,
    method: MethodId,
) -> Option<DerivedSummary> {
    let declared = &program.methods[method];
    let mut implementing = vec![method];
    if !declared.is_static() && !declared.is_private() && !declared.is_initializer() {
        let below = program.hierarchy.concrete_subtypes(declared.class);
        implementing
            .extend(below.filter_map(|class| program.hierarchy.dispatch(class, declared.selector)));
        implementing.sort_unstable();
        implementing.dedup();
    }
    let is_read = |method: &MethodId| program.body(*method).is_some();
    if !is_read(&method) {
        return None;
    }
    let mut derived = DerivedSummary::default();
    if implementing.len() > MOST_TARGETS + 1 || !implementing.iter().all(is_read) {
        add(&mut derived, program, &summaries[method], declared);
        add_unknown(&mut derived, program, &summaries[method], declared);
    } else {
        for implementation in implementing {
            add(&mut derived, program, &summaries[implementation], declared);
        }
    }
    derived.effects.sort_unstable();
    derived.effects.dedup();
    derived.calls.sort_unstable();
    derived.calls.dedup();
    if !derived.effects.iter().all(|effect| agrees_with_new(*effect)) {
        derived.effects.retain(|effect| *effect != Effect::ReturnsFresh);
    }
    Some(derived)
}

/// Whether a result with this effect can be one that nobody else knows.
fn agrees_with_new(effect: Effect) -> bool {
    !matches!(
        effect,
        Effect::View { .. } | Effect::Load { .. } | Effect::Escapes { operand: Operand::Result }
    )
}

/// The parameters of a method that are followed, and their sets.
fn operands<'a>(
    summary: &'a Summary,
    declared: &Method,
) -> impl Iterator<Item = (Operand, usize)> + use<'a> {
    let receivers = u8::from(!declared.is_static());
    summary.parameters.iter().enumerate().filter_map(move |(number, node)| {
        let number = u8::try_from(number).ok()?;
        let operand = match number.checked_sub(receivers) {
            Some(number) => Operand::Argument(number),
            None => Operand::Receiver,
        };
        Some((operand, (*node)?))
    })
}

/// Some of the methods that override this one are not known: what any call may do.
fn add_unknown(
    derived: &mut DerivedSummary,
    program: &Program,
    summary: &Summary,
    declared: &Method,
) {
    for (value, _) in operands(summary, declared).filter(|(it, _)| *it != Operand::Receiver) {
        derived.effects.push(Effect::Store { value, into: Operand::Receiver });
    }
    if summary.result.is_some() {
        derived.effects.push(Effect::Load { from: Operand::Receiver });
    }
    for (number, parameter) in (0..=u8::MAX).zip(parameter_descriptors(&declared.descriptor)) {
        derived.calls.extend(program.class_of_descriptor(parameter).map(|class| CallBack {
            on: Operand::Argument(number),
            is_kept: false,
            called: Called::Any(class),
        }));
    }
}

fn add(derived: &mut DerivedSummary, program: &Program, summary: &Summary, declared: &Method) {
    // Only what is declared to be a task is taken to be run: the shapes of windows are too coarse for more.
    let tasks = program.models().task_arguments(&declared.descriptor);
    let is_task = |operand: Operand| tasks.iter().any(|(it, _)| operand == Operand::Argument(*it));
    let operands = || operands(summary, declared);
    let effects = &mut derived.effects;
    for (operand, node) in operands() {
        let known = &summary.nodes[node];
        let kept = summary.kept_by(node);
        if known.is_shared {
            effects.push(Effect::Escapes { operand });
        }
        if known.is_started && is_task(operand) {
            effects.push(Effect::Submit {
                task: operand,
                to: Runner::System,
                times: Times::Repeatedly,
            });
        }
        for (value, other) in operands().filter(|(value, _)| *value != operand) {
            if kept.contains(&other) {
                effects.push(Effect::Store { value, into: operand });
            } else if value < operand
                && !summary.kept_by(other).contains(&node)
                && keeps_the_same(summary, node, other)
            {
                effects.push(Effect::Store { value: kept_operand(value), into: operand });
            }
        }
        let calls = |node: usize, is_kept: bool| {
            let called = summary.nodes[node].called.iter();
            called.map(move |called| CallBack { on: operand, is_kept, called: *called })
        };
        derived.calls.extend(calls(node, false));
        derived.calls.extend(kept.iter().flat_map(|kept| calls(*kept, true)));
        let Some(result) = summary.result else { continue };
        if result == node {
            effects.push(Effect::View { of: operand });
        } else if kept.contains(&result) {
            effects.push(Effect::Load { from: operand });
        } else if summary.kept_by(result).contains(&node) {
            effects.push(Effect::Store { value: operand, into: Operand::Result });
        } else if keeps_the_same(summary, node, result) {
            effects.push(Effect::Store { value: kept_operand(operand), into: Operand::Result });
        }
    }
    if let Some(result) = summary.result.map(|result| &summary.nodes[result]) {
        if result.is_shared || result.is_found {
            effects.push(Effect::Escapes { operand: Operand::Result });
        } else if result.is_fresh {
            effects.push(Effect::ReturnsFresh);
        }
    }
}

/// Whether one object keeps what another keeps.
fn keeps_the_same(summary: &Summary, one: usize, other: usize) -> bool {
    let kept = summary.kept_by(other);
    summary.kept_by(one).iter().any(|node| kept.contains(node))
}

/// What an operand keeps.
fn kept_operand(operand: Operand) -> Operand {
    match operand {
        Operand::Argument(number) => Operand::Elements(number),
        _ => Operand::Contents,
    }
}

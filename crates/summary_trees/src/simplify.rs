//! Leaves out of a tree what no walker needs, and numbers its registers.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::summary::Root;
use crate::tree::{Guard, Index, Operand, Register, Side, Step, StepKind, Term, has_visible};

/// Leaves out choices and loops that do nothing, and registers that nothing needs, in sides that share their
/// registers. Numbers the roots that are left, and the other registers behind them; gives how many there are.
pub(crate) fn simplify_branch(sides: &mut [Side], roots: &mut Vec<Root>) -> u32 {
    drop_all_unneeded(sides, None);
    let mut used = FxHashSet::default();
    for_sides(sides, &mut |register| {
        used.insert(register.0);
    });
    let mut numbers = FxHashMap::default();
    let mut position = 0;
    roots.retain(|_| {
        let is_used = used.contains(&position);
        if is_used {
            numbers.insert(position, numbers.len() as u32);
        }
        position += 1;
        is_used
    });
    number(sides, &mut numbers);
    numbers.len() as u32
}

/// The same for a method, all of whose parameters keep their registers.
pub(crate) fn simplify_method(
    steps: &mut Vec<Step>,
    result: &mut Operand,
    parameter_count: usize,
) -> u32 {
    let side = Side { ways: Vec::new(), guard: None, steps: std::mem::take(steps) };
    let mut sides = [side];
    let parameters = 0..parameter_count as u32;
    let computed = match result {
        Operand::Register(register) if !parameters.contains(&register.0) => Some(*register),
        _ => None,
    };
    drop_all_unneeded(&mut sides, computed);
    let mut numbers = parameters.map(|register| (register, register)).collect();
    number(&mut sides, &mut numbers);
    if let Operand::Register(register) = result {
        register.0 = numbers.get(&register.0).copied().unwrap_or(register.0);
    }
    let [side] = sides;
    *steps = side.steps;
    numbers.len() as u32
}

/// The result is a register that is needed behind the steps.
fn drop_all_unneeded(sides: &mut [Side], result: Option<Register>) {
    for side in sides.iter_mut() {
        drop_invisible(&mut side.steps, result.is_some());
    }
    let mut needed: FxHashSet<Register> = result.into_iter().collect();
    loop {
        let before = needed.len();
        sides.iter().for_each(|side| find_needed(&side.steps, &mut needed));
        if needed.len() == before {
            break;
        }
    }
    for side in sides.iter_mut() {
        drop_unneeded(&mut side.steps, &needed);
    }
}

fn number(sides: &mut [Side], numbers: &mut FxHashMap<u32, u32>) {
    for_sides(sides, &mut |register| {
        let next = numbers.len() as u32;
        register.0 = *numbers.entry(register.0).or_insert(next);
    });
}

fn for_sides(sides: &mut [Side], visit: &mut dyn FnMut(&mut Register)) {
    for side in sides {
        if let Some(guard) = &mut side.guard {
            registers_of_guard(guard, visit);
        }
        for_all_registers(&mut side.steps, visit);
    }
}

/// Leaves out what nobody can see, unless it decides what is executed of that which can be seen.
fn drop_invisible(steps: &mut Vec<Step>, visible_behind: bool) {
    let mut visible_behind = visible_behind;
    let mut kept = Vec::with_capacity(steps.len());
    for mut step in std::mem::take(steps).into_iter().rev() {
        let keep = match &mut step.kind {
            StepKind::Choice { sides } => {
                for side in sides.iter_mut() {
                    drop_invisible(&mut side.steps, visible_behind);
                }
                sides.iter().any(|side| !side.steps.is_empty())
            }
            StepKind::Twice { body } => {
                let again = has_visible(body);
                drop_invisible(body, visible_behind || again);
                !body.is_empty()
            }
            StepKind::Leave { .. } => visible_behind,
            _ => visible_behind || step.kind.is_visible(),
        };
        if keep {
            visible_behind |= step.kind.is_visible();
            kept.push(step);
        }
    }
    kept.reverse();
    *steps = kept;
}

fn find_needed(steps: &[Step], needed: &mut FxHashSet<Register>) {
    for step in steps {
        if assigned(&step.kind).is_some_and(|into| !needed.contains(&into)) {
            continue;
        }
        for_used(&step.kind, &mut |register| {
            needed.insert(register);
        });
        match &step.kind {
            StepKind::Choice { sides } => {
                sides.iter().for_each(|side| find_needed(&side.steps, needed));
            }
            StepKind::Twice { body } => find_needed(body, needed),
            _ => {}
        }
    }
}

fn drop_unneeded(steps: &mut Vec<Step>, needed: &FxHashSet<Register>) {
    steps.retain_mut(|step| {
        if assigned(&step.kind).is_some_and(|into| !needed.contains(&into)) {
            return false;
        }
        match &mut step.kind {
            StepKind::Choice { sides } => {
                sides.iter_mut().for_each(|side| drop_unneeded(&mut side.steps, needed));
            }
            StepKind::Twice { body } => drop_unneeded(body, needed),
            StepKind::Call { result, .. } => {
                *result = result.filter(|into| needed.contains(into));
            }
            _ => {}
        }
        true
    });
}

/// The register that a step assigns and does nothing else.
fn assigned(kind: &StepKind) -> Option<Register> {
    match kind {
        StepKind::Load { into, .. }
        | StepKind::LoadStatic { into, .. }
        | StepKind::LoadElement { into, .. }
        | StepKind::Fresh { into }
        | StepKind::ClassObject { into, .. }
        | StepKind::Set { into, .. } => Some(*into),
        StepKind::Read { .. }
        | StepKind::Write { .. }
        | StepKind::ReadStatic { .. }
        | StepKind::WriteStatic { .. }
        | StepKind::ReadElement { .. }
        | StepKind::WriteElement { .. }
        | StepKind::Store { .. }
        | StepKind::StoreStatic { .. }
        | StepKind::StoreElement { .. }
        | StepKind::Enter { .. }
        | StepKind::Exit { .. }
        | StepKind::Call { .. }
        | StepKind::Choice { .. }
        | StepKind::Twice { .. }
        | StepKind::Leave { .. } => None,
    }
}

/// The registers that a step itself reads; those of nested lists are not among them.
fn for_used(kind: &StepKind, visit: &mut dyn FnMut(Register)) {
    // A copy, so that the one list of what a step holds is the one for changing it.
    let mut copy = match kind {
        StepKind::Choice { sides } => {
            let guards = sides.iter().map(|side| Side {
                ways: Vec::new(),
                guard: side.guard.clone(),
                steps: Vec::new(),
            });
            StepKind::Choice { sides: guards.collect() }
        }
        StepKind::Twice { .. } => return,
        other => other.clone(),
    };
    let into = assigned(kind);
    let result = match kind {
        StepKind::Call { result, .. } => *result,
        _ => None,
    };
    let mut skip_result = result.is_some();
    for_registers(&mut copy, &mut |register| {
        // Steps name what they assign first.
        if std::mem::take(&mut skip_result) && Some(*register) == result {
            return;
        }
        if Some(*register) != into {
            visit(*register);
        }
    });
}

fn for_all_registers(steps: &mut [Step], visit: &mut dyn FnMut(&mut Register)) {
    for step in steps {
        for_registers(&mut step.kind, visit);
        match &mut step.kind {
            StepKind::Choice { sides } => {
                sides.iter_mut().for_each(|side| for_all_registers(&mut side.steps, visit));
            }
            StepKind::Twice { body } => for_all_registers(body, visit),
            _ => {}
        }
    }
}

/// The registers of a step, what it assigns first; those of nested lists are not among them.
fn for_registers(kind: &mut StepKind, visit: &mut dyn FnMut(&mut Register)) {
    fn operand(operand: &mut Operand, visit: &mut dyn FnMut(&mut Register)) {
        if let Operand::Register(register) = operand {
            visit(register);
        }
    }
    fn index(index: &mut Index, visit: &mut dyn FnMut(&mut Register)) {
        if let Index::Root(register) = index {
            visit(register);
        }
    }
    match kind {
        StepKind::Read { base, .. } | StepKind::Write { base, .. } => visit(base),
        StepKind::ReadStatic { .. } | StepKind::WriteStatic { .. } => {}
        StepKind::ReadElement { array, index: at }
        | StepKind::WriteElement { array, index: at } => {
            visit(array);
            index(at, visit);
        }
        StepKind::Load { into, base, .. } => {
            visit(into);
            visit(base);
        }
        StepKind::LoadStatic { into, .. }
        | StepKind::Fresh { into }
        | StepKind::ClassObject { into, .. } => visit(into),
        StepKind::LoadElement { into, array, index: at } => {
            visit(into);
            visit(array);
            index(at, visit);
        }
        StepKind::Store { base, value, .. } => {
            visit(base);
            operand(value, visit);
        }
        StepKind::StoreStatic { value, .. } => operand(value, visit),
        StepKind::StoreElement { array, index: at, value } => {
            visit(array);
            index(at, visit);
            operand(value, visit);
        }
        StepKind::Set { into, value } => {
            visit(into);
            operand(value, visit);
        }
        StepKind::Enter { lock } | StepKind::Exit { lock } => operand(lock, visit),
        StepKind::Call { arguments, result, .. } => {
            if let Some(result) = result {
                visit(result);
            }
            arguments.iter_mut().for_each(|argument| operand(argument, visit));
        }
        StepKind::Choice { sides } => {
            for side in sides {
                if let Some(guard) = &mut side.guard {
                    registers_of_guard(guard, visit);
                }
            }
        }
        StepKind::Twice { .. } | StepKind::Leave { .. } => {}
    }
}

fn registers_of_guard(guard: &mut Guard, visit: &mut dyn FnMut(&mut Register)) {
    fn term(term: &mut Term, visit: &mut dyn FnMut(&mut Register)) {
        match term {
            Term::Register(register) | Term::Path { base: Some(register), .. } => visit(register),
            Term::Constant(_) | Term::Path { base: None, .. } => {}
        }
    }
    match guard {
        Guard::IsNull(one)
        | Guard::NotNull(one)
        | Guard::InstanceOf(one, _)
        | Guard::NotInstanceOf(one, _)
        | Guard::OneOf(one, _)
        | Guard::NoneOf(one, _) => term(one, visit),
        Guard::Same(one, other) | Guard::NotSame(one, other) | Guard::Compare(one, _, other) => {
            term(one, visit);
            term(other, visit);
        }
    }
}

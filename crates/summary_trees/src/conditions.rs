//! What branches decide by: values that never change, and values that other branches decide by, too.
//!
//! The instructions in front of a branch that compute its operands, from local variables, constants and fields, are its
//! *expression*. Two branches with the same expression decide alike as long as none of its locals is assigned between
//! them. Which of them are executed one after the other, and whether there is an assignment on the way, is found by
//! following the code from each of them up to the next, exceptions included. So it holds in loops as well: a branch that
//! an assignment may come before *renews* the condition, the others decide as the last one did, whichever that was.
//!
//! Misses: conditions that imply each other without being the same (`x > 0` and `x > 1`), switches, comparisons of
//! floating-point numbers (whose opposite is not the other comparison), and values that two locals share.

use classes::bytecode::{Against, Condition, Instruction, Kind};
use classes::{ClassFile, MethodInfo};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Ending, Flow};
use crate::summary::Fields;
use crate::tree::FieldRef;

/// The condition of a branch by which another branch of the method may decide, too, or the same one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedCondition {
    /// Branches of a method that have the same number have the same condition; counted from 1.
    pub number: u32,
    /// Whether its value may have changed since the last branch that has it.
    pub is_renewed: bool,
    /// Whether the condition is false where the branch jumps.
    pub is_negated: bool,
}

/// The conditions that are repeated among these branches, by the offsets of the branches.
#[must_use]
pub fn repeated_conditions(
    class: &ClassFile,
    method: &MethodInfo,
    fields: &dyn Fields,
    branches: &[u32],
) -> FxHashMap<u32, RepeatedCondition> {
    let mut repeated = FxHashMap::default();
    let Some(code) = &method.code else { return repeated };
    let Ok(flow) = Flow::of(class, code) else { return repeated };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (block, found) in flow.blocks.iter().enumerate() {
        let (offset, instruction) = flow.last_instruction(block);
        let Instruction::Branch { condition, against, .. } = instruction else { continue };
        if found.ending != Ending::Decision || !found.is_reachable || !branches.contains(&offset) {
            continue;
        }
        let Some(expression) = expression(&flow, block) else { continue };
        if !expression.iter().all(|(_, it)| is_constant_field(class, fields, it)) {
            continue;
        }
        let (condition, is_negated) = without_negation(*condition);
        let is_same = |group: &&mut Group<'_>| {
            let instructions = group.expression.iter().map(|(_, it)| it);
            (group.condition, group.against) == (condition, *against)
                && instructions.eq(expression.iter().map(|(_, it)| it))
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.members.push((block, is_negated)),
            None => groups.push(Group {
                condition,
                against: *against,
                expression,
                members: vec![(block, is_negated)],
            }),
        }
    }
    let mut number = 0;
    for group in &groups {
        let (reached, renewed) = group.follow(&flow);
        if !reached.iter().any(|block| !renewed.contains(block)) {
            continue;
        }
        number += 1;
        for (block, is_negated) in group.members.iter().copied() {
            let is_renewed = renewed.contains(&block);
            let offset = flow.last_instruction(block).0;
            repeated.insert(offset, RepeatedCondition { number, is_renewed, is_negated });
        }
    }
    repeated
}

/// If a branch or switch decides by constants and final fields alone: the offsets of the reads of those fields of which
/// it is not known here whether they are final.
pub(crate) fn fixed_condition(
    class: &ClassFile,
    fields: &dyn Fields,
    flow: &Flow,
    block: usize,
) -> Option<Vec<u32>> {
    let expression = expression(flow, block)?;
    let mut unknown = Vec::new();
    for (at, (offset, instruction)) in expression.iter().enumerate() {
        match instruction {
            // What a local holds may be something else next time; the fields of what it refers to now are not.
            Instruction::Load { .. } => {
                let mut rest = expression[at + 1..].iter().map(|(_, it)| it);
                let user = rest.find(|it| !matches!(it, Instruction::CheckCast(_)));
                if !matches!(user, Some(Instruction::GetField(_))) {
                    return None;
                }
            }
            Instruction::GetField(_) | Instruction::GetStatic(_) => {
                let field = field_of(class, instruction)?;
                match fields.facts(&field) {
                    Some(facts) if !facts.is_final => return None,
                    Some(_) => {}
                    None => unknown.push(*offset),
                }
            }
            _ => {}
        }
    }
    Some(unknown)
}

/// Branches that decide by the same expression.
struct Group<'a> {
    condition: Condition,
    against: Against,
    expression: &'a [(u32, Instruction)],
    /// The blocks that end with them, and whether each is negated.
    members: Vec<(usize, bool)>,
}

impl Group<'_> {
    /// The members that are executed after others or themselves, and those that an assignment may come before then.
    fn follow(&self, flow: &Flow) -> (FxHashSet<usize>, FxHashSet<usize>) {
        let assigns = |block: usize| {
            let block = &flow.blocks[block];
            flow.instructions[block.first..=block.last].iter().any(|(_, it)| self.is_assigned(it))
        };
        let is_member = |block: usize| self.members.iter().any(|(member, _)| *member == block);
        let (mut reached, mut renewed) = (FxHashSet::default(), FxHashSet::default());
        let mut seen: FxHashSet<(usize, bool)> = FxHashSet::default();
        let starts = self.members.iter().flat_map(|(member, _)| &flow.blocks[*member].exits);
        let mut open: Vec<(usize, bool)> = starts.map(|exit| (exit.target, false)).collect();
        while let Some((block, is_assigned)) = open.pop() {
            if !seen.insert((block, is_assigned)) {
                continue;
            }
            let is_assigned = is_assigned || assigns(block);
            let next = &flow.blocks[block];
            // A block that throws does not come to its branch.
            open.extend(next.handlers.iter().map(|handler| (*handler, is_assigned)));
            if is_member(block) {
                reached.insert(block);
                if is_assigned {
                    renewed.insert(block);
                }
            } else {
                open.extend(next.exits.iter().map(|exit| (exit.target, is_assigned)));
            }
        }
        (reached, renewed)
    }

    /// Whether an instruction assigns a local of the expression.
    fn is_assigned(&self, instruction: &Instruction) -> bool {
        let (slot, words) = match instruction {
            Instruction::Store { kind, slot } => (*slot, kind.words()),
            Instruction::Increment { slot, .. } => (*slot, 1),
            _ => return false,
        };
        let assigned = usize::from(slot)..usize::from(slot) + words;
        self.expression.iter().any(|(_, it)| match it {
            Instruction::Load { kind, slot } => {
                let mut loaded = usize::from(*slot)..usize::from(*slot) + kind.words();
                loaded.any(|slot| assigned.contains(&slot))
            }
            _ => false,
        })
    }
}

/// The instructions of a block that compute what the branch or switch at its end decides by, and do nothing else; if these
/// are all that is needed.
fn expression(flow: &Flow, block: usize) -> Option<&[(u32, Instruction)]> {
    let found = &flow.blocks[block];
    let mut needed = match &flow.instructions[found.last].1 {
        Instruction::Branch { against: Against::Zero | Against::Null, .. }
        | Instruction::Switch { .. } => 1,
        Instruction::Branch { against: Against::Int | Against::Ref, .. } => 2,
        _ => return None,
    };
    let mut first = found.last;
    while needed > 0 {
        if first == found.first {
            return None;
        }
        first -= 1;
        needed = needed - 1 + operands(&flow.instructions[first].1)?;
    }
    Some(&flow.instructions[first..found.last])
}

/// How many operands an instruction takes that gives one value and does nothing else.
fn operands(instruction: &Instruction) -> Option<usize> {
    match instruction {
        Instruction::Push(_)
        | Instruction::LoadConstant(_)
        | Instruction::Load { .. }
        | Instruction::GetStatic(_) => Some(0),
        Instruction::GetField(_)
        | Instruction::InstanceOf(_)
        | Instruction::CheckCast(_)
        | Instruction::ArrayLength
        | Instruction::Negate(_) => Some(1),
        // Of conversions from `int` to `int` it is not known which they are.
        Instruction::Convert { from, to } if from != to => Some(1),
        Instruction::Binary { .. } | Instruction::Compare(Kind::Long) => Some(2),
        _ => None,
    }
}

fn field_of(class: &ClassFile, instruction: &Instruction) -> Option<FieldRef> {
    let (Instruction::GetField(index) | Instruction::GetStatic(index)) = instruction else {
        return None;
    };
    class.pool.member_ref(*index).ok().map(|member| FieldRef {
        owner: member.class.clone(),
        name: member.name.clone(),
        descriptor: member.descriptor.clone(),
    })
}

/// Whether an instruction reads no field that may change.
fn is_constant_field(class: &ClassFile, fields: &dyn Fields, instruction: &Instruction) -> bool {
    match instruction {
        Instruction::GetField(_) | Instruction::GetStatic(_) => field_of(class, instruction)
            .and_then(|field| fields.facts(&field))
            .is_some_and(|facts| facts.is_final),
        _ => true,
    }
}

/// The condition, or its opposite if that is the one that stands for both.
fn without_negation(condition: Condition) -> (Condition, bool) {
    match condition {
        Condition::Eq | Condition::Lt | Condition::Gt => (condition, false),
        Condition::Ne => (Condition::Eq, true),
        Condition::Ge => (Condition::Lt, true),
        Condition::Le => (Condition::Gt, true),
    }
}

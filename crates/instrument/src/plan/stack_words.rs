//! What instructions do to the words of the operand stack, for those who follow single values through a method.

use classes::bytecode::{Against, Instruction, InvokeKind, Kind, Literal, StackOp};
use classes::descriptor::{parse_field, parse_method};
use classes::{ClassFile, Constant, PoolIndex};

/// How many words the value of a field takes.
pub(super) fn field_words(file: &ClassFile, field: PoolIndex) -> Option<usize> {
    let field = file.pool.member_ref(field).ok()?;
    parse_field(field.descriptor).ok().map(|kind| usize::from(kind.slots()))
}

/// How many words an instruction takes from the stack and how many it leaves there.
pub(super) fn words(file: &ClassFile, instruction: &Instruction) -> Option<(usize, usize)> {
    Some(match instruction {
        Instruction::Nop | Instruction::Increment { .. } | Instruction::Goto(_) => (0, 0),
        Instruction::Push(literal) => match literal {
            Literal::Null | Literal::Int(_) | Literal::Float(_) => (0, 1),
            Literal::Long(_) | Literal::Double(_) => (0, 2),
        },
        Instruction::LoadConstant(index) => (0, constant_words(file, *index)?),
        Instruction::Load { kind, .. } => (0, kind.words()),
        Instruction::ArrayLoad(kind) => (2, kind.words()),
        Instruction::ArrayStore(kind) => (2 + kind.words(), 0),
        Instruction::Binary { op, kind } => {
            use classes::bytecode::BinaryOp::{Shl, Shr, Ushr};
            let second = if matches!(op, Shl | Shr | Ushr) { 1 } else { kind.words() };
            (kind.words() + second, kind.words())
        }
        Instruction::Negate(kind) => (kind.words(), kind.words()),
        Instruction::Convert { from, to } => (from.words(), to.words()),
        Instruction::Compare(kind) => (2 * kind.words(), 1),
        Instruction::Branch { against, .. } => match against {
            Against::Zero | Against::Null => (1, 0),
            Against::Int | Against::Ref => (2, 0),
        },
        Instruction::Switch { .. } => (1, 0),
        Instruction::Return(kind) => (kind.map_or(0, Kind::words), 0),
        Instruction::GetStatic(field) => (0, field_words(file, *field)?),
        Instruction::PutStatic(field) => (field_words(file, *field)?, 0),
        Instruction::GetField(field) => (1, field_words(file, *field)?),
        Instruction::PutField(field) => (1 + field_words(file, *field)?, 0),
        Instruction::Invoke { kind, method } => {
            let method = file.pool.member_ref(*method).ok()?;
            let (pops, pushes) = call_words(method.descriptor)?;
            (pops + usize::from(*kind != InvokeKind::Static), pushes)
        }
        Instruction::InvokeDynamic(call) => call_words(file.pool.dynamic(*call).ok()?.descriptor)?,
        Instruction::New(_) => (0, 1),
        Instruction::NewPrimitiveArray { .. }
        | Instruction::NewReferenceArray(_)
        | Instruction::ArrayLength
        | Instruction::CheckCast(_)
        | Instruction::InstanceOf(_) => (1, 1),
        Instruction::NewMultiArray { dimensions, .. } => (usize::from(*dimensions), 1),
        Instruction::Throw | Instruction::MonitorEnter | Instruction::MonitorExit => (1, 0),
        Instruction::Jsr(_)
        | Instruction::Ret { .. }
        | Instruction::Store { .. }
        | Instruction::Stack(_) => return None,
    })
}

fn constant_words(file: &ClassFile, index: PoolIndex) -> Option<usize> {
    Some(match file.pool.get(index).ok()? {
        Constant::Long(_) | Constant::Double(_) => 2,
        Constant::Dynamic(constant) => usize::from(parse_field(constant.descriptor).ok()?.slots()),
        _ => 1,
    })
}

fn call_words(descriptor: &str) -> Option<(usize, usize)> {
    let parsed = parse_method(descriptor).ok()?;
    let pushes = parsed.ret.map_or(0, |result| usize::from(result.slots()));
    Some((parsed.param_slots() as usize, pushes))
}

/// Does with the words of a stack what an instruction does with those of the JVM.
pub(super) fn shuffle<T: Copy>(operation: StackOp, stack: &mut Vec<T>) -> Option<()> {
    // How many words are copied, and below how many they go.
    let (count, below) = match operation {
        StackOp::Pop | StackOp::Pop2 => {
            let count = if operation == StackOp::Pop { 1 } else { 2 };
            stack.truncate(stack.len().checked_sub(count)?);
            return Some(());
        }
        StackOp::Swap => {
            let top = stack.len().checked_sub(1)?;
            stack.swap(top, top.checked_sub(1)?);
            return Some(());
        }
        StackOp::Dup => (1, 0),
        StackOp::DupX1 => (1, 1),
        StackOp::DupX2 => (1, 2),
        StackOp::Dup2 => (2, 0),
        StackOp::Dup2X1 => (2, 1),
        StackOp::Dup2X2 => (2, 2),
    };
    let start = stack.len().checked_sub(count)?;
    let place = start.checked_sub(below)?;
    let copies = stack[start..].to_vec();
    stack.splice(place..place, copies);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shuffled_as_the_jvm_does() {
        let shuffled = |operation, words: &[bool]| {
            let mut stack = words.to_vec();
            shuffle(operation, &mut stack).map(|()| stack)
        };
        assert_eq!(shuffled(StackOp::Dup, &[true]), Some(vec![true, true]));
        assert_eq!(shuffled(StackOp::DupX1, &[false, true]), Some(vec![true, false, true]));
        assert_eq!(
            shuffled(StackOp::Dup2X1, &[true, false, false]),
            Some(vec![false, false, true, false, false])
        );
        assert_eq!(shuffled(StackOp::Swap, &[true, false]), Some(vec![false, true]));
        assert_eq!(shuffled(StackOp::Pop2, &[true]), None);
        assert_eq!(shuffled(StackOp::Swap, &[true]), None);
    }
}

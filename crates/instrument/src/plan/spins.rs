//! Loops in which a thread waits for another by looking again and again.
//!
//! Such a loop is a wait as any other, and cuts the blocks that are open where it begins: what comes before it and what
//! comes after are meant to be apart. It is known by what it does not do: from its head to the jump back there is
//! nothing but reads, comparisons and calls that let time pass. Of what it looks at, something must be made for that: a
//! volatile field, an atomic, or any field if the loop pauses. A loop that walks along references or
//! elements stores what it has come to, and is none.

use classes::bytecode::{Instruction, InvokeKind, Kind, decode_all};
use classes::descriptor::parse_method;
use classes::{MemberRef, PoolIndex, access};
use models::{Effect, language};

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::surgery::Snippet;
use agent_protocol::Hook;

/// What an instruction of a loop has to do with waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// It works on what was read.
    Neutral,
    /// It reads a field that may be an ordinary one.
    Looks,
    /// It reads what other threads are meant to change.
    LooksForChange,
    /// It lets time pass.
    Pauses,
    /// It does more than waiting.
    Acts,
}

impl MethodPlan<'_, '_> {
    /// Cuts the blocks that are open at the heads of loops that wait.
    pub(super) fn cut_at_spins(&mut self) -> Result<(), InstrumentError> {
        if !self.planner.config.blocks {
            return Ok(());
        }
        let mut heads = Vec::new();
        for (at, (offset, instruction)) in self.instructions.iter().enumerate() {
            let (Instruction::Branch { target, .. } | Instruction::Goto(target)) = instruction
            else {
                continue;
            };
            let Ok(head) = self.instructions.binary_search_by_key(target, |(offset, _)| *offset)
            else {
                continue;
            };
            if target <= offset && self.waits(&self.instructions[head..=at]) {
                heads.push(*target);
            }
        }
        heads.dedup();
        for head in heads {
            let mut cut = Snippet::new();
            self.call(&mut cut, Hook::Cut, &[])?;
            self.before(head, &cut);
        }
        Ok(())
    }

    /// Whether a loop does nothing but wait.
    fn waits(&self, body: &[(u32, Instruction)]) -> bool {
        let parts = || body.iter().map(|(_, instruction)| self.part(instruction));
        let has = |wanted: Part| parts().any(|part| part == wanted);
        !has(Part::Acts) && (has(Part::LooksForChange) || has(Part::Looks) && has(Part::Pauses))
    }

    fn part(&self, instruction: &Instruction) -> Part {
        let file = self.planner.file;
        match instruction {
            Instruction::Nop
            | Instruction::Push(_)
            | Instruction::LoadConstant(_)
            | Instruction::Load { .. }
            | Instruction::Increment { .. }
            | Instruction::Stack(_)
            | Instruction::Binary { .. }
            | Instruction::Negate(_)
            | Instruction::Convert { .. }
            | Instruction::Compare(_)
            | Instruction::Branch { .. }
            | Instruction::Goto(_)
            | Instruction::CheckCast(_)
            | Instruction::InstanceOf(_) => Part::Neutral,
            // A deadline, or what the time is.
            Instruction::Store {
                kind: Kind::Int | Kind::Long | Kind::Float | Kind::Double,
                ..
            } => Part::Neutral,
            Instruction::GetField(field) | Instruction::GetStatic(field) => self.look(*field),
            Instruction::Invoke { kind, method } => match file.pool.member_ref(*method) {
                Ok(method) => self.part_of_call(*kind, &method),
                Err(_) => Part::Acts,
            },
            Instruction::Store { .. }
            | Instruction::PutField(_)
            | Instruction::PutStatic(_)
            | Instruction::ArrayLoad(_)
            | Instruction::ArrayStore(_)
            | Instruction::ArrayLength
            | Instruction::MonitorEnter
            | Instruction::MonitorExit
            | Instruction::InvokeDynamic(_)
            | Instruction::Switch { .. }
            | Instruction::Jsr(_)
            | Instruction::Ret { .. }
            | Instruction::Return(_)
            | Instruction::New(_)
            | Instruction::NewPrimitiveArray { .. }
            | Instruction::NewReferenceArray(_)
            | Instruction::NewMultiArray { .. }
            | Instruction::Throw => Part::Acts,
        }
    }

    /// A read of a field. Only of the fields of this class it is known whether they are volatile.
    fn look(&self, field: PoolIndex) -> Part {
        let file = self.planner.file;
        let Ok(field) = file.pool.member_ref(field) else { return Part::Acts };
        let is_volatile = *field.class == file.name
            && file.fields.iter().any(|own| {
                own.name == *field.name
                    && own.descriptor == *field.descriptor
                    && own.has_access(access::VOLATILE)
            });
        if is_volatile { Part::LooksForChange } else { Part::Looks }
    }

    fn part_of_call(&self, kind: InvokeKind, method: &MemberRef<'_>) -> Part {
        let models = &self.planner.config.models;
        let (class, name, descriptor) = (method.class, method.name, method.descriptor);
        let Ok(types) = parse_method(descriptor) else { return Part::Acts };
        if let Some(model) = models.find(class, name, descriptor) {
            let part = |effect: &Effect| match effect {
                Effect::AtomicRead { .. } => Part::LooksForChange,
                Effect::Sleeps => Part::Pauses,
                Effect::Receive { .. } | Effect::ObservesInterrupt { .. } => Part::Neutral,
                _ => Part::Acts,
            };
            let parts = || model.effects.iter().map(part);
            let nothing = match &**class == language::THREAD && types.ret.is_none() {
                true => Part::Pauses,
                false => Part::Neutral,
            };
            // In the order of the declaration: what it does at most.
            return parts().max().unwrap_or(nothing);
        }
        // A method of this class that gives a field and does nothing else.
        let file = self.planner.file;
        if **class != *file.name || kind == InvokeKind::Interface {
            return Part::Acts;
        }
        let getter =
            file.methods.iter().find(|own| own.name == *name && own.descriptor == *descriptor);
        let Some(code) = getter.and_then(|getter| getter.code.as_ref()) else { return Part::Acts };
        let Ok(body) = decode_all(file.code_bytes(code)) else { return Part::Acts };
        let body: Vec<&Instruction> = body.iter().map(|(_, instruction)| instruction).collect();
        match body[..] {
            [Instruction::Load { .. }, Instruction::GetField(field), Instruction::Return(_)]
            | [Instruction::GetStatic(field), Instruction::Return(_)] => self.look(*field),
            _ => Part::Acts,
        }
    }
}

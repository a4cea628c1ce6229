//! The effects of single instructions: what they do to a frame, and the steps they stand for.

use std::sync::Arc;

use classes::bytecode::{Against, Condition, Instruction, InvokeKind, Kind, Literal};
use classes::{ClassFile, Constant, PoolIndex, descriptor};
use rustc_hash::FxHashMap;

use crate::flow::Flow;
use crate::frame::{Frame, HeldMonitor, Value};
use crate::gap::GapReason;
use crate::structure::Structure;
use crate::summary::{Config, Fields, Root, RootKind};
use crate::tree::{
    FieldRef, Guard, Index, MethodRef, Operand, Register, Step, StepKind, Term, Way,
};

/// Registers at and above this number are assigned by steps; those below are roots.
const FIRST_ASSIGNED: u32 = 1 << 16;

/// Why the path that is followed ends within a block.
pub(crate) enum Stop {
    Gap(GapReason),
    /// It would do something visible behind a monitor of an enclosing list.
    Outside,
}

impl From<GapReason> for Stop {
    fn from(reason: GapReason) -> Stop {
        Stop::Gap(reason)
    }
}

/// Builds one summary.
pub(crate) struct Builder<'a> {
    pub(crate) class: &'a ClassFile,
    pub(crate) flow: &'a Flow,
    pub(crate) structure: &'a Structure,
    pub(crate) fields: &'a dyn Fields,
    pub(crate) config: &'a Config,
    /// The locals that the summary starts from, in the order of their registers.
    pub(crate) roots: Vec<Root>,
    next_register: u32,
    /// The base and the field that a register was loaded from, when the field is final.
    final_registers: FxHashMap<u32, (Option<Value>, FieldRef)>,
    /// The same for the numbers of [`Value::Final`].
    final_numbers: Vec<(Option<Value>, FieldRef)>,
    tests: Vec<(Value, Arc<str>)>,
    /// Offsets of accesses that were left out because the object or index has no name.
    pub(crate) dropped: Vec<u32>,
    emitted: usize,
    visited: usize,
    /// Which level of the lists is the outermost one of the summary.
    pub(crate) root_level: usize,
    /// Whether the summary is of a method, in which no monitor is held at the start.
    pub(crate) is_method: bool,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        class: &'a ClassFile,
        flow: &'a Flow,
        structure: &'a Structure,
        fields: &'a dyn Fields,
        config: &'a Config,
    ) -> Builder<'a> {
        Builder {
            class,
            flow,
            structure,
            fields,
            config,
            roots: Vec::new(),
            next_register: FIRST_ASSIGNED,
            final_registers: FxHashMap::default(),
            final_numbers: Vec::new(),
            tests: Vec::new(),
            dropped: Vec::new(),
            emitted: 0,
            visited: 0,
            root_level: 0,
            is_method: false,
        }
    }

    /// Starts another side: each has the whole budget.
    pub(crate) fn start_side(&mut self) {
        self.emitted = 0;
        self.visited = 0;
    }

    /// Counts a block that is followed; one that is shared by two sides is followed twice.
    pub(crate) fn visit(&mut self) -> Result<(), GapReason> {
        self.visited += 1;
        if self.visited > self.config.max_steps * 4 {
            return Err(GapReason::TooManySteps);
        }
        Ok(())
    }

    /// Counts a step that is not thrown away later.
    pub(crate) fn count_step(&mut self) -> Result<(), GapReason> {
        self.emitted += 1;
        if self.emitted > self.config.max_steps {
            return Err(GapReason::TooManySteps);
        }
        Ok(())
    }

    /// A register that nothing is in yet.
    pub(crate) fn new_register(&mut self) -> u32 {
        self.next_register += 1;
        self.next_register - 1
    }

    /// The number that the next register will get.
    pub(crate) fn next_register(&self) -> u32 {
        self.next_register
    }

    fn root(&mut self, slot: u16, kind: RootKind) -> Register {
        let position = match self.roots.iter().position(|root| root.slot == slot) {
            Some(position) => position,
            None => {
                self.roots.push(Root { slot, kind });
                self.roots.len() - 1
            }
        };
        Register(position as u32)
    }

    /// The register of a reference, if it has one.
    fn reference(&mut self, value: Value) -> Option<Register> {
        match value {
            Value::Slot(slot) => Some(self.root(slot, RootKind::Reference)),
            Value::Register(register) => Some(Register(register)),
            Value::Wide
            | Value::Unknown
            | Value::Null
            | Value::Int(_)
            | Value::Final(_)
            | Value::Test(_) => None,
        }
    }

    /// A reference as an operand.
    pub(crate) fn operand(&mut self, value: Value) -> Operand {
        match value {
            Value::Null => Operand::Null,
            Value::Int(number) => Operand::Int(number),
            _ => self.reference(value).map_or(Operand::Unknown, Operand::Register),
        }
    }

    /// An argument of a call, of a type.
    fn argument(&mut self, value: Value, parameter: descriptor::Type<'_>) -> Operand {
        if parameter.is_reference() {
            return self.operand(value);
        }
        match value {
            Value::Int(number) => Operand::Int(number),
            Value::Slot(slot) if parameter == descriptor::Type::Int => {
                Operand::Register(self.root(slot, RootKind::Int))
            }
            _ => Operand::Unknown,
        }
    }

    fn index(&mut self, value: Value) -> Option<Index> {
        match value {
            Value::Int(number) => Some(Index::Constant(number)),
            Value::Slot(slot) => Some(Index::Root(self.root(slot, RootKind::Int))),
            Value::Wide
            | Value::Unknown
            | Value::Null
            | Value::Register(_)
            | Value::Final(_)
            | Value::Test(_) => None,
        }
    }

    fn visible(
        &mut self,
        frame: &Frame,
        steps: &mut Vec<Step>,
        offset: u32,
        kind: StepKind,
    ) -> Result<(), Stop> {
        if frame.is_outside() {
            return Err(Stop::Outside);
        }
        self.count_step()?;
        steps.push(Step { offset, kind });
        Ok(())
    }

    /// An access to something that has no name. Like an access that has one, it may not happen outside.
    fn drop_access(&mut self, frame: &Frame, offset: u32) -> Result<(), Stop> {
        if frame.is_outside() {
            return Err(Stop::Outside);
        }
        self.dropped.push(offset);
        Ok(())
    }

    fn field(&self, index: PoolIndex) -> Result<FieldRef, GapReason> {
        let member = self.class.pool.member_ref(index).map_err(|_| GapReason::Malformed)?;
        Ok(FieldRef {
            owner: Arc::clone(member.class),
            name: Arc::clone(member.name),
            descriptor: Arc::clone(member.descriptor),
        })
    }

    fn class_name(&self, index: PoolIndex) -> Result<Arc<str>, GapReason> {
        self.class.pool.class_name(index).map(Arc::clone).map_err(|_| GapReason::Malformed)
    }

    fn is_final(&self, field: &FieldRef) -> bool {
        self.fields.facts(field).is_some_and(|facts| facts.is_final)
    }

    /// Executes a block. The instruction that decides where it goes only takes its operands off the stack;
    /// these are returned, the lowest first.
    pub(crate) fn block(
        &mut self,
        block: usize,
        frame: &mut Frame,
        steps: &mut Vec<Step>,
        levels: usize,
    ) -> Result<Vec<Value>, Stop> {
        let flow = self.flow;
        let found = &flow.blocks[block];
        for (offset, instruction) in &flow.instructions[found.first..=found.last] {
            self.execute(*offset, instruction, frame, steps, levels)?;
        }
        Ok(decision_operands(flow.last_instruction(block).1, frame)?)
    }

    /// Executes a block for what it does to the locals and the stack alone.
    pub(crate) fn values_of_block(
        &mut self,
        block: usize,
        frame: &mut Frame,
    ) -> Result<Vec<Value>, GapReason> {
        let flow = self.flow;
        let found = &flow.blocks[block];
        let mut steps = Vec::new();
        for (offset, instruction) in &flow.instructions[found.first..=found.last] {
            frame.forget_monitors();
            self.start_side();
            match self.execute(*offset, instruction, frame, &mut steps, 0) {
                Ok(()) => steps.clear(),
                Err(Stop::Gap(reason)) => return Err(reason),
                Err(Stop::Outside) => return Err(GapReason::Malformed),
            }
        }
        frame.forget_monitors();
        self.dropped.clear();
        decision_operands(flow.last_instruction(block).1, frame)
    }

    fn execute(
        &mut self,
        offset: u32,
        instruction: &Instruction,
        frame: &mut Frame,
        steps: &mut Vec<Step>,
        levels: usize,
    ) -> Result<(), Stop> {
        match instruction {
            Instruction::Nop
            | Instruction::Goto(_)
            | Instruction::Jsr(_)
            | Instruction::Ret { .. } => {}
            Instruction::Push(literal) => frame.push(match literal {
                Literal::Null => Value::Null,
                Literal::Int(number) => Value::Int(*number),
                Literal::Long(_) | Literal::Double(_) => Value::Wide,
                Literal::Float(_) => Value::Unknown,
            }),
            Instruction::LoadConstant(index) => {
                let value = self.constant(offset, *index, steps)?;
                frame.push(value);
            }
            Instruction::Load { kind, slot } => frame.push(frame.load(*kind, *slot)?),
            Instruction::Store { kind, slot } => {
                let value = frame.pop()?;
                let wide = kind.words() == 2;
                frame.store(*slot, if wide { Value::Wide } else { value })?;
            }
            Instruction::Increment { slot, by } => {
                let value = match frame.load(Kind::Int, *slot)? {
                    Value::Int(number) => Value::Int(number.wrapping_add(i32::from(*by))),
                    _ => Value::Unknown,
                };
                frame.store(*slot, value)?;
            }
            Instruction::ArrayLoad(kind) => {
                let (index, array) = (frame.pop()?, frame.pop()?);
                let value = self.array_load(offset, *kind, array, index, frame, steps)?;
                frame.push(value);
            }
            Instruction::ArrayStore(kind) => {
                let (value, index, array) = (frame.pop()?, frame.pop()?, frame.pop()?);
                let place = (self.reference(array), self.index(index));
                let (Some(array), Some(index)) = place else {
                    return self.drop_access(frame, offset);
                };
                self.visible(frame, steps, offset, StepKind::WriteElement { array, index })?;
                if *kind == Kind::Ref {
                    let value = self.operand(value);
                    let kind = StepKind::StoreElement { array, index, value };
                    steps.push(Step { offset, kind });
                }
            }
            Instruction::Stack(operation) => frame.shuffle(*operation)?,
            Instruction::Binary { kind, .. } => {
                frame.pop()?;
                frame.pop()?;
                frame.push(Value::unknown_of(*kind));
            }
            Instruction::Negate(kind) => {
                frame.pop()?;
                frame.push(Value::unknown_of(*kind));
            }
            Instruction::Convert { to, .. } => {
                frame.pop()?;
                frame.push(Value::unknown_of(*to));
            }
            Instruction::Compare(_) => {
                frame.pop()?;
                frame.pop()?;
                frame.push(Value::Unknown);
            }
            Instruction::Branch { .. } | Instruction::Switch { .. } | Instruction::Return(_) => {}
            Instruction::GetStatic(index) => {
                let field = self.field(*index)?;
                let value = self.get(offset, None, field, frame, steps)?;
                frame.push(value);
            }
            Instruction::GetField(index) => {
                let field = self.field(*index)?;
                let base = frame.pop()?;
                let value = self.get(offset, Some(base), field, frame, steps)?;
                frame.push(value);
            }
            Instruction::PutStatic(index) => {
                let field = self.field(*index)?;
                let value = frame.pop()?;
                if !self.is_final(&field) {
                    let kind = StepKind::WriteStatic { field: field.clone() };
                    self.visible(frame, steps, offset, kind)?;
                }
                if is_reference(&field.descriptor) {
                    let value = self.operand(value);
                    steps.push(Step { offset, kind: StepKind::StoreStatic { field, value } });
                }
            }
            Instruction::PutField(index) => {
                let field = self.field(*index)?;
                let (value, base) = (frame.pop()?, frame.pop()?);
                self.put_field(offset, base, field, value, frame, steps)?;
            }
            Instruction::Invoke { kind, method } => {
                self.call(offset, *kind, *method, frame, steps)?;
            }
            Instruction::InvokeDynamic(index) => {
                let call = match self.class.pool.get(*index) {
                    Ok(Constant::InvokeDynamic(call)) => call,
                    _ => return Err(GapReason::Malformed.into()),
                };
                let types =
                    descriptor::parse_method(call.descriptor).map_err(|_| GapReason::Malformed)?;
                for _ in &types.params {
                    frame.pop()?;
                }
                if let Some(result) = types.ret {
                    frame.push(unknown_of_type(result));
                }
            }
            Instruction::New(_) => {
                let into = self.new_register();
                steps.push(Step { offset, kind: StepKind::Fresh { into: Register(into) } });
                frame.push(Value::Register(into));
            }
            Instruction::NewPrimitiveArray { .. } | Instruction::NewReferenceArray(_) => {
                frame.pop()?;
                let into = self.new_register();
                steps.push(Step { offset, kind: StepKind::Fresh { into: Register(into) } });
                frame.push(Value::Register(into));
            }
            Instruction::NewMultiArray { dimensions, .. } => {
                for _ in 0..*dimensions {
                    frame.pop()?;
                }
                let into = self.new_register();
                steps.push(Step { offset, kind: StepKind::Fresh { into: Register(into) } });
                frame.push(Value::Register(into));
            }
            Instruction::ArrayLength => {
                frame.pop()?;
                frame.push(Value::Unknown);
            }
            Instruction::Throw => {
                frame.pop()?;
            }
            Instruction::CheckCast(_) => {}
            Instruction::InstanceOf(index) => {
                let value = frame.pop()?;
                self.tests.push((value, self.class_name(*index)?));
                frame.push(Value::Test(self.tests.len() as u32 - 1));
            }
            Instruction::MonitorEnter => {
                let value = frame.pop()?;
                let lock = self.operand(value);
                self.visible(frame, steps, offset, StepKind::Enter { lock })?;
                frame.held.push(HeldMonitor { lock, level: levels });
            }
            Instruction::MonitorExit => {
                let value = frame.pop()?;
                let lock = self.operand(value);
                self.exit_monitor(offset, lock, frame, steps, levels)?;
            }
        }
        Ok(())
    }

    fn exit_monitor(
        &mut self,
        offset: u32,
        lock: Operand,
        frame: &mut Frame,
        steps: &mut Vec<Step>,
        levels: usize,
    ) -> Result<(), Stop> {
        let Some(held) = frame.held.pop() else {
            if self.is_method {
                return Err(GapReason::UnbalancedMonitors.into());
            }
            frame.left_before_start += 1;
            return Ok(());
        };
        let is_known = |operand| operand != Operand::Unknown;
        if is_known(lock) && is_known(held.lock) && lock != held.lock {
            return Err(GapReason::UnbalancedMonitors.into());
        }
        if held.level == levels && !frame.is_outside() {
            self.count_step()?;
            steps.push(Step { offset, kind: StepKind::Exit { lock: held.lock } });
        } else {
            frame.left.push((held, offset));
        }
        Ok(())
    }

    fn constant(
        &mut self,
        offset: u32,
        index: PoolIndex,
        steps: &mut Vec<Step>,
    ) -> Result<Value, GapReason> {
        let constant = self.class.pool.get(index).map_err(|_| GapReason::Malformed)?;
        Ok(match constant {
            Constant::Integer(number) => Value::Int(number),
            Constant::Long(_) | Constant::Double(_) => Value::Wide,
            Constant::Dynamic(dynamic) => match dynamic.descriptor.as_bytes() {
                b"J" | b"D" => Value::Wide,
                _ => Value::Unknown,
            },
            Constant::Class(name) => {
                let class = Arc::clone(name);
                let into = self.new_register();
                let kind = StepKind::ClassObject { into: Register(into), class };
                steps.push(Step { offset, kind });
                Value::Register(into)
            }
            Constant::Utf8(_)
            | Constant::Float(_)
            | Constant::String(_)
            | Constant::Member(_)
            | Constant::NameAndType { .. }
            | Constant::MethodHandle { .. }
            | Constant::MethodType(_)
            | Constant::InvokeDynamic(_)
            | Constant::Module(_)
            | Constant::Package(_) => Value::Unknown,
        })
    }

    fn array_load(
        &mut self,
        offset: u32,
        kind: Kind,
        array: Value,
        index: Value,
        frame: &Frame,
        steps: &mut Vec<Step>,
    ) -> Result<Value, Stop> {
        let (Some(array), Some(index)) = (self.reference(array), self.index(index)) else {
            self.drop_access(frame, offset)?;
            return Ok(Value::unknown_of(kind));
        };
        self.visible(frame, steps, offset, StepKind::ReadElement { array, index })?;
        if kind != Kind::Ref {
            return Ok(Value::unknown_of(kind));
        }
        let into = self.new_register();
        let kind = StepKind::LoadElement { into: Register(into), array, index };
        steps.push(Step { offset, kind });
        Ok(Value::Register(into))
    }

    /// Reads a field: of an object, or a static one.
    fn get(
        &mut self,
        offset: u32,
        base: Option<Value>,
        field: FieldRef,
        frame: &Frame,
        steps: &mut Vec<Step>,
    ) -> Result<Value, Stop> {
        let is_final = self.is_final(&field);
        let unknown = match field.descriptor.as_bytes() {
            b"J" | b"D" => Value::Wide,
            _ => Value::Unknown,
        };
        let object = match base {
            Some(value) => match self.reference(value) {
                Some(register) => Some(register),
                None => {
                    if !is_final {
                        self.drop_access(frame, offset)?;
                    }
                    return Ok(unknown);
                }
            },
            None => None,
        };
        if !is_final {
            let field = field.clone();
            let kind = match object {
                Some(base) => StepKind::Read { base, field },
                None => StepKind::ReadStatic { field },
            };
            self.visible(frame, steps, offset, kind)?;
        }
        if !is_reference(&field.descriptor) {
            let is_int = matches!(field.descriptor.as_bytes(), b"I" | b"Z" | b"B" | b"C" | b"S");
            if !is_final || !is_int {
                return Ok(unknown);
            }
            self.final_numbers.push((base, field));
            return Ok(Value::Final(self.final_numbers.len() as u32 - 1));
        }
        let into = self.new_register();
        if is_final {
            self.final_registers.insert(into, (base, field.clone()));
        }
        let kind = match object {
            Some(base) => StepKind::Load { into: Register(into), base, field },
            None => StepKind::LoadStatic { into: Register(into), field },
        };
        steps.push(Step { offset, kind });
        Ok(Value::Register(into))
    }

    fn put_field(
        &mut self,
        offset: u32,
        base: Value,
        field: FieldRef,
        value: Value,
        frame: &Frame,
        steps: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let is_final = self.is_final(&field);
        let Some(base) = self.reference(base) else {
            return if is_final { Ok(()) } else { self.drop_access(frame, offset) };
        };
        if !is_final {
            let kind = StepKind::Write { base, field: field.clone() };
            self.visible(frame, steps, offset, kind)?;
        }
        if is_reference(&field.descriptor) {
            let value = self.operand(value);
            steps.push(Step { offset, kind: StepKind::Store { base, field, value } });
        }
        Ok(())
    }

    fn call(
        &mut self,
        offset: u32,
        kind: InvokeKind,
        method: PoolIndex,
        frame: &mut Frame,
        steps: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let class = self.class;
        let member = class.pool.member_ref(method).map_err(|_| GapReason::Malformed)?;
        let types =
            descriptor::parse_method(member.descriptor).map_err(|_| GapReason::Malformed)?;
        let mut arguments = Vec::with_capacity(types.params.len() + 1);
        for parameter in types.params.iter().rev() {
            let value = frame.pop()?;
            arguments.push(self.argument(value, *parameter));
        }
        if kind != InvokeKind::Static {
            let receiver = frame.pop()?;
            arguments.push(self.operand(receiver));
        }
        arguments.reverse();
        let result = match types.ret {
            Some(result) if result.is_reference() => Some(self.new_register()),
            _ => None,
        };
        let method = MethodRef {
            owner: Arc::clone(member.class),
            name: Arc::clone(member.name),
            descriptor: Arc::clone(member.descriptor),
            is_interface: member.is_interface,
        };
        let call = StepKind::Call { kind, method, arguments, result: result.map(Register) };
        self.visible(frame, steps, offset, call)?;
        match (result, types.ret) {
            (Some(register), _) => frame.push(Value::Register(register)),
            (None, Some(result)) => frame.push(unknown_of_type(result)),
            (None, None) => {}
        }
        Ok(())
    }

    /// What the condition at the end of a block says about the values it looks at, for one of the exits.
    /// Values are turned into terms by `term`.
    pub(crate) fn guard(
        &mut self,
        instruction: &Instruction,
        operands: &[Value],
        ways: &[Way],
        term: &mut dyn FnMut(&mut Builder<'a>, Value) -> Option<Term>,
    ) -> Option<Guard> {
        match (instruction, operands) {
            (Instruction::Branch { condition, against, .. }, _) => {
                let holds = match ways {
                    [Way::Taken] => *condition,
                    [Way::NotTaken] => negated(*condition),
                    _ => return None,
                };
                match (against, operands) {
                    (Against::Null, [value]) => {
                        let term = term(self, *value)?;
                        let is_null = holds == Condition::Eq;
                        Some(if is_null { Guard::IsNull(term) } else { Guard::NotNull(term) })
                    }
                    (Against::Ref, [left, right]) => {
                        let (left, right) = (term(self, *left)?, term(self, *right)?);
                        Some(match holds {
                            Condition::Eq => Guard::Same(left, right),
                            _ => Guard::NotSame(left, right),
                        })
                    }
                    (Against::Zero, [Value::Test(test)]) => {
                        let (value, class) = self.tests[*test as usize].clone();
                        let term = term(self, value)?;
                        Some(match holds {
                            Condition::Ne => Guard::InstanceOf(term, class),
                            Condition::Eq => Guard::NotInstanceOf(term, class),
                            _ => return None,
                        })
                    }
                    (Against::Zero, [value]) if self.is_known_number(*value) => {
                        Some(Guard::Compare(term(self, *value)?, holds, Term::Constant(0)))
                    }
                    (Against::Int, [left, right])
                        if self.is_known_number(*left) && self.is_known_number(*right) =>
                    {
                        let left = term(self, *left)?;
                        Some(Guard::Compare(left, holds, term(self, *right)?))
                    }
                    _ => None,
                }
            }
            (Instruction::Switch { cases, .. }, [value]) if self.is_known_number(*value) => {
                let term = term(self, *value)?;
                if !ways.contains(&Way::Default) {
                    let numbers = ways.iter().filter_map(|way| match way {
                        Way::Case(number) => Some(*number),
                        _ => None,
                    });
                    return Some(Guard::OneOf(term, numbers.collect()));
                }
                let elsewhere = cases.iter().map(|(number, _)| *number);
                let excluded = elsewhere.filter(|number| !ways.contains(&Way::Case(*number)));
                Some(Guard::NoneOf(term, excluded.collect()))
            }
            _ => None,
        }
    }

    /// Whether a number may be known to whoever walks the summary: of parameters it is when the call gives a constant.
    fn is_known_number(&self, value: Value) -> bool {
        match value {
            Value::Final(_) | Value::Int(_) => true,
            Value::Slot(_) => self.is_method,
            Value::Wide | Value::Unknown | Value::Null | Value::Register(_) | Value::Test(_) => {
                false
            }
        }
    }

    /// A value as a term of a condition within the summary.
    pub(crate) fn term(&mut self, value: Value) -> Option<Term> {
        match value {
            Value::Int(number) => Some(Term::Constant(number)),
            Value::Final(position) => {
                let (base, field) = self.final_numbers[position as usize].clone();
                let base = match base {
                    Some(base) => Some(self.reference(base)?),
                    None => None,
                };
                Some(Term::Path { base, fields: vec![field] })
            }
            Value::Register(register) if self.final_registers.contains_key(&register) => {
                let (base, field) = self.final_registers[&register].clone();
                let base = match base {
                    Some(base) => Some(self.reference(base)?),
                    None => None,
                };
                Some(Term::Path { base, fields: vec![field] })
            }
            _ => self.reference(value).map(Term::Register),
        }
    }

    /// A value as a term of the condition that the summary is about, which can only name what the locals
    /// hold at the branch and the final fields that lead on from there.
    pub(crate) fn term_at_branch(&mut self, value: Value, locals: &[Value]) -> Option<Term> {
        if let Value::Int(number) = value {
            return Some(Term::Constant(number));
        }
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut at = value;
        loop {
            if matches!(at, Value::Slot(_) | Value::Register(_))
                && let Some(slot) = locals.iter().position(|local| *local == at)
            {
                let register = self.root(u16::try_from(slot).ok()?, RootKind::Reference);
                fields.reverse();
                return Some(if fields.is_empty() {
                    Term::Register(register)
                } else {
                    Term::Path { base: Some(register), fields }
                });
            }
            let (base, field) = match at {
                Value::Register(register) => self.final_registers.get(&register)?.clone(),
                Value::Final(position) => self.final_numbers[position as usize].clone(),
                _ => return None,
            };
            fields.push(field);
            match base {
                Some(base) => at = base,
                None => {
                    fields.reverse();
                    return Some(Term::Path { base: None, fields });
                }
            }
        }
    }
}

/// Takes off the stack what a branch or switch decides by.
fn decision_operands(
    instruction: &Instruction,
    frame: &mut Frame,
) -> Result<Vec<Value>, GapReason> {
    Ok(match instruction {
        Instruction::Branch { against: Against::Zero | Against::Null, .. }
        | Instruction::Switch { .. } => vec![frame.pop()?],
        Instruction::Branch { against: Against::Int | Against::Ref, .. } => {
            let right = frame.pop()?;
            vec![frame.pop()?, right]
        }
        _ => Vec::new(),
    })
}

fn is_reference(descriptor: &str) -> bool {
    descriptor.starts_with(['L', '['])
}

fn unknown_of_type(found: descriptor::Type<'_>) -> Value {
    if found.slots() == 2 { Value::Wide } else { Value::Unknown }
}

fn negated(condition: Condition) -> Condition {
    match condition {
        Condition::Eq => Condition::Ne,
        Condition::Ne => Condition::Eq,
        Condition::Lt => Condition::Ge,
        Condition::Ge => Condition::Lt,
        Condition::Gt => Condition::Le,
        Condition::Le => Condition::Gt,
    }
}

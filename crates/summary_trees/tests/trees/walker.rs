//! Walks a tree along the path that an execution took, with the objects of the moment at which it began.

use std::collections::{HashMap, HashSet};

use summary_trees::{Index, LeaveReason, Operand, Register, Step, StepKind};

use crate::interpreter::{Event, Heap, ObjectId, Value, Variable, Visible};

/// What a register holds; nothing, when that is not known.
type Known = Option<Value>;

/// Why a walk ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// The execution ended before the path did.
    NoMoreEvents,
    /// The path goes on outside of a monitor, and the tree does not.
    Monitor,
}

pub(crate) struct Walker<'a> {
    heap: &'a Heap,
    /// What was assigned on the way.
    copies: HashMap<Variable, Known>,
    pub(crate) registers: Vec<Known>,
    events: &'a [Event],
    /// The next event that may be looked at.
    at: usize,
    /// With the offsets of the steps; a monitor that is left with its list has none.
    pub(crate) visible: Vec<(Option<u32>, Visible)>,
    /// Offsets of accesses whose object turned out not to be known.
    pub(crate) dropped: HashSet<u32>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(heap: &'a Heap, registers: Vec<Known>, events: &'a [Event]) -> Walker<'a> {
        Walker {
            heap,
            copies: HashMap::new(),
            registers,
            events,
            at: 0,
            visible: Vec::new(),
            dropped: HashSet::new(),
        }
    }

    fn next_event<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> Result<T, WalkEnd> {
        while let Some(event) = self.events.get(self.at) {
            self.at += 1;
            if let Some(found) = wanted(event) {
                return Ok(found);
            }
        }
        Err(WalkEnd::NoMoreEvents)
    }

    pub(crate) fn operand(&self, operand: Operand) -> Known {
        match operand {
            Operand::Register(register) => self.registers[register.0 as usize],
            Operand::Null => Some(Value::Null),
            Operand::Int(number) => Some(Value::Int(number)),
            Operand::Unknown => None,
        }
    }

    /// The object in a register; the execution must have failed when there is none.
    fn object(&mut self, register: Register, offset: u32) -> Result<Option<ObjectId>, WalkEnd> {
        match self.registers[register.0 as usize] {
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(WalkEnd::NoMoreEvents),
            None => {
                self.dropped.insert(offset);
                Ok(None)
            }
        }
    }

    fn element(
        &mut self,
        array: Register,
        index: Index,
        offset: u32,
    ) -> Result<Option<Variable>, WalkEnd> {
        let index = match index {
            Index::Constant(number) => number,
            Index::Root(register) => match self.registers[register.0 as usize] {
                Some(Value::Int(number)) => number,
                other => panic!("{other:?} is no index"),
            },
        };
        Ok(self.object(array, offset)?.map(|object| Variable::Element(object, index)))
    }

    fn field(
        &mut self,
        base: Register,
        name: &str,
        offset: u32,
    ) -> Result<Option<Variable>, WalkEnd> {
        Ok(self.object(base, offset)?.map(|object| Variable::Field(object, name.to_owned())))
    }

    fn value_of(&self, variable: Option<Variable>) -> Known {
        let variable = variable?;
        match self.copies.get(&variable) {
            Some(known) => *known,
            None => Some(self.heap.values.get(&variable).copied().unwrap_or(Value::Null)),
        }
    }

    fn set(&mut self, register: Register, value: Known) {
        self.registers[register.0 as usize] = value;
    }

    fn lock(&self, operand: Operand) -> Option<ObjectId> {
        match self.operand(operand) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Walks a list. When a path leaves it, gives how many more levels it leaves, and why.
    pub(crate) fn list(&mut self, steps: &[Step]) -> Result<Option<(u32, LeaveReason)>, WalkEnd> {
        let mut entered: Vec<Option<ObjectId>> = Vec::new();
        for step in steps {
            let left = self.step(step, &mut entered)?;
            if let Some((levels, reason)) = left {
                if reason != LeaveReason::Throw {
                    while let Some(lock) = entered.pop() {
                        self.visible.push((None, Visible::Exit(lock)));
                    }
                }
                if reason == LeaveReason::Monitor {
                    return Err(WalkEnd::Monitor);
                }
                return Ok(Some((levels - 1, reason)));
            }
        }
        assert!(entered.is_empty(), "a list that ends has left its monitors");
        Ok(None)
    }

    fn step(
        &mut self,
        step: &Step,
        entered: &mut Vec<Option<ObjectId>>,
    ) -> Result<Option<(u32, LeaveReason)>, WalkEnd> {
        let offset = step.offset;
        let at = Some(offset);
        match &step.kind {
            StepKind::Read { base, field } => {
                let variable = self.field(*base, &field.name, offset)?;
                self.visible.extend(variable.map(|it| (at, Visible::Read(it))));
            }
            StepKind::Write { base, field } => {
                let variable = self.field(*base, &field.name, offset)?;
                self.visible.extend(variable.map(|it| (at, Visible::Write(it))));
            }
            StepKind::ReadStatic { field } => {
                let variable = Variable::Static(field.name.to_string());
                self.visible.push((at, Visible::Read(variable)));
            }
            StepKind::WriteStatic { field } => {
                let variable = Variable::Static(field.name.to_string());
                self.visible.push((at, Visible::Write(variable)));
            }
            StepKind::ReadElement { array, index } => {
                let variable = self.element(*array, *index, offset)?;
                self.visible.extend(variable.map(|it| (at, Visible::Read(it))));
            }
            StepKind::WriteElement { array, index } => {
                let variable = self.element(*array, *index, offset)?;
                self.visible.extend(variable.map(|it| (at, Visible::Write(it))));
            }
            StepKind::Load { into, base, field } => {
                let variable = self.field(*base, &field.name, offset)?;
                self.set(*into, self.value_of(variable));
            }
            StepKind::LoadStatic { into, field } => {
                let variable = Variable::Static(field.name.to_string());
                self.set(*into, self.value_of(Some(variable)));
            }
            StepKind::LoadElement { into, array, index } => {
                let variable = self.element(*array, *index, offset)?;
                self.set(*into, self.value_of(variable));
            }
            StepKind::Store { base, field, value } => {
                if let Some(variable) = self.field(*base, &field.name, offset)? {
                    self.copies.insert(variable, self.operand(*value));
                }
            }
            StepKind::StoreStatic { field, value } => {
                let variable = Variable::Static(field.name.to_string());
                self.copies.insert(variable, self.operand(*value));
            }
            StepKind::StoreElement { array, index, value } => {
                if let Some(variable) = self.element(*array, *index, offset)? {
                    self.copies.insert(variable, self.operand(*value));
                }
            }
            StepKind::Fresh { into } => {
                let object = self.next_event(|event| match event {
                    Event::New(at, object) if *at == offset => Some(*object),
                    _ => None,
                })?;
                self.set(*into, Some(Value::Object(object)));
            }
            StepKind::ClassObject { into, .. } => self.set(*into, None),
            StepKind::Set { into, value } => self.set(*into, self.operand(*value)),
            StepKind::Enter { lock } => {
                if self.operand(*lock) == Some(Value::Null) {
                    return Err(WalkEnd::NoMoreEvents);
                }
                let lock = self.lock(*lock);
                entered.push(lock);
                self.visible.push((at, Visible::Enter(lock)));
            }
            StepKind::Exit { .. } => {
                let lock = entered.pop().expect("a list leaves what it has entered");
                self.visible.push((at, Visible::Exit(lock)));
            }
            StepKind::Call { method, result, .. } => {
                self.visible.push((at, Visible::Call(method.name.to_string())));
                if let Some(into) = result {
                    self.set(*into, None);
                }
            }
            StepKind::Choice { sides } => {
                let way = self.next_event(|event| match event {
                    Event::Decision(at, way) if *at == offset => Some(*way),
                    _ => None,
                })?;
                let side = sides.iter().find(|side| side.ways.contains(&way)).unwrap();
                match self.list(&side.steps)? {
                    None | Some((0, _)) => {}
                    left => return Ok(left),
                }
            }
            StepKind::Twice { body } => loop {
                match self.list(body)? {
                    None | Some((0, _)) => {}
                    Some((1, _)) => break,
                    Some((levels, reason)) => return Ok(Some((levels - 1, reason))),
                }
            },
            StepKind::Leave { levels, reason } => return Ok(Some((*levels, *reason))),
        }
        Ok(None)
    }
}

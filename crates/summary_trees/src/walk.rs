//! From blocks to nested lists of steps.
//!
//! A path is followed from block to block. At a branch each side is followed until the place where the sides
//! meet, and the path goes on from there with what is known on all of them. A block that two sides share, as
//! the conditions `&&` and `||` make them, is followed on each of them. A path that comes to the end of an
//! enclosing list instead leaves the lists between. Since every path ends at a place that one of the lists
//! around it ends at, the steps on a path are those of its blocks, in order, whatever the shape of the code.
//!
//! A loop becomes its body, executed twice (section 4.3 of the paper). Reference variables that the body
//! assigns live in registers of their own, which are set at the end of an iteration; behind the loop they are
//! unknown, as their values depend on how often it was executed.

use classes::bytecode::{Instruction, Kind};

use crate::builder::{Builder, Stop};
use crate::flow::Ending;
use crate::frame::{Frame, Value};
use crate::gap::GapReason;
use crate::structure::Node;
use crate::tree::{LeaveReason, Operand, Register, Side, Step, StepKind};

/// A level of the nested lists.
pub(crate) struct Level {
    /// Where paths come to the end of the level.
    stop: Node,
    /// How many monitors are held where it begins.
    held: usize,
    /// What is known on the paths that came to its end.
    arrivals: Vec<Frame>,
    /// For an iteration: the slots that live in registers.
    variables: Vec<(usize, u32)>,
}

impl Level {
    pub(crate) fn new(stop: Node, held: usize) -> Level {
        Level { stop, held, arrivals: Vec::new(), variables: Vec::new() }
    }

    /// What is known where the level ends, if anything comes there and the paths agree on the monitors.
    pub(crate) fn at_end(self) -> Option<Frame> {
        Frame::merge(self.arrivals.into_iter().map(Frame::without_locals).collect()).ok().flatten()
    }
}

impl Builder<'_> {
    /// Follows the paths from a place until they come to the end of a level.
    pub(crate) fn list(
        &mut self,
        start: Node,
        mut frame: Frame,
        levels: &mut Vec<Level>,
    ) -> Result<Vec<Step>, GapReason> {
        let mut steps = Vec::new();
        let mut at = start;
        // Where the last instruction was, for steps that belong to none.
        let mut offset = self.structure.block_of(start).map_or(0, |it| self.flow.blocks[it].offset);
        loop {
            if let Some(level) = levels.iter().rposition(|level| level.stop == at) {
                self.arrive(level, frame, offset, levels, &mut steps)?;
                return Ok(steps);
            }
            if !self.structure.is_block(at) {
                return Err(GapReason::Irreducible);
            }
            self.visit()?;
            let block = &self.flow.blocks[at];
            if block.is_handler {
                return Err(GapReason::HandlerInFlow);
            }
            if let Some(number) = self.structure.loop_at(at)
                && !levels.iter().any(|level| level.stop == self.structure.iteration_end(number))
            {
                match self.loop_of(number, frame, levels, &mut steps)? {
                    Some(behind) => frame = behind,
                    None => return Ok(steps),
                }
                at = self.structure.loops[number].after;
                continue;
            }
            let operands = match self.block(at, &mut frame, &mut steps, levels.len()) {
                Ok(operands) => operands,
                Err(Stop::Gap(reason)) => return Err(reason),
                Err(Stop::Outside) => {
                    let kind = self.leave_all(levels, LeaveReason::Monitor);
                    steps.push(Step { offset: block.offset, kind });
                    return Ok(steps);
                }
            };
            offset = self.flow.last_instruction(at).0;
            match block.ending {
                Ending::Return => at = self.structure.end(),
                Ending::Throw => {
                    let kind = self.leave_all(levels, LeaveReason::Throw);
                    steps.push(Step { offset, kind });
                    return Ok(steps);
                }
                Ending::Next => {
                    let exit = block.exits.first().ok_or(GapReason::Malformed)?;
                    at = self.structure.target(at, exit.target);
                }
                Ending::Decision => match self.choice(at, &operands, frame, levels, &mut steps)? {
                    Some(behind) => {
                        frame = behind;
                        at = self.structure.join(at);
                    }
                    None => return Ok(steps),
                },
            }
        }
    }

    /// The sides of a branch; gives what is known where they meet, if any does not go elsewhere.
    fn choice(
        &mut self,
        block: usize,
        operands: &[Value],
        frame: Frame,
        levels: &mut Vec<Level>,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Frame>, GapReason> {
        self.count_step()?;
        let flow = self.flow;
        let (offset, instruction) = flow.last_instruction(block);
        self.open_level(Level::new(self.structure.join(block), frame.held.len()), levels)?;
        let mut sides = Vec::new();
        for exit in &flow.blocks[block].exits {
            let guard = self.guard(instruction, operands, &exit.ways, &mut |builder, value| {
                builder.term(value)
            });
            let target = self.structure.target(block, exit.target);
            let steps = self.list(target, frame.clone(), levels)?;
            sides.push(Side { ways: exit.ways.clone(), guard, steps });
        }
        steps.push(Step { offset, kind: StepKind::Choice { sides } });
        let arrivals = levels.pop().map(|level| level.arrivals).unwrap_or_default();
        self.behind(arrivals, levels, steps)
    }

    /// A loop that is entered; gives what is known behind it.
    fn loop_of(
        &mut self,
        number: usize,
        mut frame: Frame,
        levels: &mut Vec<Level>,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Frame>, GapReason> {
        self.count_step()?;
        let structure = self.structure;
        let header = structure.loops[number].header;
        let offset = self.flow.blocks[header].offset;
        let first_register = self.next_register();
        let mut variables = Vec::new();
        for (slot, is_reference) in self.assigned_slots(number) {
            let Some(value) = frame.locals.get(slot).copied() else { continue };
            let is_named = matches!(value, Value::Slot(_) | Value::Register(_) | Value::Null);
            if !is_reference || !is_named {
                frame.locals[slot] = Value::Unknown;
                continue;
            }
            let register = self.new_register();
            let kind = StepKind::Set { into: Register(register), value: self.operand(value) };
            steps.push(Step { offset, kind });
            frame.locals[slot] = Value::Register(register);
            variables.push((slot, register));
        }
        for value in frame.stack.iter_mut().filter(|value| **value != Value::Wide) {
            *value = Value::Unknown;
        }
        let held = frame.held.len();
        self.open_level(Level::new(structure.loops[number].after, held), levels)?;
        let mut iteration = Level::new(structure.iteration_end(number), held);
        iteration.variables.clone_from(&variables);
        self.open_level(iteration, levels)?;
        let mut body = self.list(header, frame, levels)?;
        let again = levels.pop().map(|level| level.arrivals).unwrap_or_default();
        let arrivals = levels.pop().map(|level| level.arrivals).unwrap_or_default();
        for (slot, register) in variables {
            let mut values = again.iter().map(|frame| frame.locals[slot]);
            let first = values.next();
            if values.any(|value| Some(value) != first) {
                forget(&mut body, Register(register));
            }
        }
        Frame::merge(again)?;
        steps.push(Step { offset, kind: StepKind::Twice { body } });
        let mut behind = self.behind(arrivals, levels, steps)?;
        if let Some(frame) = &mut behind {
            for value in frame.locals.iter_mut().chain(&mut frame.stack) {
                if matches!(value, Value::Register(register) if *register >= first_register) {
                    *value = Value::Unknown;
                }
            }
        }
        Ok(behind)
    }

    fn open_level(&self, level: Level, levels: &mut Vec<Level>) -> Result<(), GapReason> {
        levels.push(level);
        if levels.len() - self.root_level > self.config.max_levels {
            return Err(GapReason::TooDeep);
        }
        Ok(())
    }

    /// Goes on in the enclosing list, whose own monitors the sides may have left.
    fn behind(
        &mut self,
        arrivals: Vec<Frame>,
        levels: &[Level],
        steps: &mut Vec<Step>,
    ) -> Result<Option<Frame>, GapReason> {
        let Some(mut frame) = Frame::merge(arrivals)? else { return Ok(None) };
        while let Some((monitor, offset)) = frame.left.first().copied() {
            if monitor.level != levels.len() {
                break;
            }
            frame.left.remove(0);
            self.count_step()?;
            steps.push(Step { offset, kind: StepKind::Exit { lock: monitor.lock } });
        }
        Ok(Some(frame))
    }

    /// A path has come to the end of a level.
    fn arrive(
        &mut self,
        level: usize,
        mut frame: Frame,
        offset: u32,
        levels: &mut [Level],
        steps: &mut Vec<Step>,
    ) -> Result<(), GapReason> {
        let is_end = level <= self.root_level;
        let allowed = if is_end { 0 } else { levels[level].held };
        if frame.held.len() > allowed {
            return Err(GapReason::UnbalancedMonitors);
        }
        // The monitors of the lists that end here are left with them.
        frame.left.retain(|(monitor, _)| monitor.level <= level);
        let variables = levels[level].variables.clone();
        let is_variable = |value: Value| {
            variables.iter().any(|(_, register)| value == Value::Register(*register))
        };
        let mut sets = Vec::new();
        for (slot, register) in &variables {
            let value = frame.locals[*slot];
            if value == Value::Register(*register) {
                continue;
            }
            let mut operand = self.operand(value);
            if is_variable(value) {
                // Another variable, which may be set before this one is.
                let copy = Register(self.new_register());
                steps.push(Step { offset, kind: StepKind::Set { into: copy, value: operand } });
                operand = Operand::Register(copy);
            }
            sets.push(StepKind::Set { into: Register(*register), value: operand });
        }
        steps.extend(sets.into_iter().map(|kind| Step { offset, kind }));
        let left = levels.len() - level.max(self.root_level);
        if left > 1 || level < self.root_level {
            let is_return = levels[level].stop == self.structure.end();
            let reason = if is_return { LeaveReason::Return } else { LeaveReason::Jump };
            let kind = StepKind::Leave { levels: left as u32, reason };
            steps.push(Step { offset, kind });
        }
        levels[level].arrivals.push(frame);
        Ok(())
    }

    fn leave_all(&self, levels: &[Level], reason: LeaveReason) -> StepKind {
        StepKind::Leave { levels: (levels.len() - self.root_level) as u32, reason }
    }

    /// The slots that a loop assigns, and whether only references are put into them.
    fn assigned_slots(&self, number: usize) -> Vec<(usize, bool)> {
        let mut slots: Vec<(usize, bool)> = Vec::new();
        let mut assign = |slot: usize, is_reference: bool| match slots
            .iter_mut()
            .find(|(known, _)| *known == slot)
        {
            Some((_, all)) => *all &= is_reference,
            None => slots.push((slot, is_reference)),
        };
        let members = &self.structure.loops[number].members;
        for (block, _) in members.iter().enumerate().filter(|(_, member)| **member) {
            let block = &self.flow.blocks[block];
            for (_, instruction) in &self.flow.instructions[block.first..=block.last] {
                match instruction {
                    Instruction::Store { kind, slot } => {
                        assign(usize::from(*slot), *kind == Kind::Ref);
                        if kind.words() == 2 {
                            assign(usize::from(*slot) + 1, false);
                        }
                    }
                    Instruction::Increment { slot, .. } => assign(usize::from(*slot), false),
                    _ => {}
                }
            }
        }
        slots.sort_unstable();
        slots
    }
}

/// Makes a variable unknown in the next iteration: paths do not agree on its value.
fn forget(steps: &mut [Step], variable: Register) {
    for step in steps {
        match &mut step.kind {
            StepKind::Set { into, value } if *into == variable => *value = Operand::Unknown,
            StepKind::Choice { sides } => {
                sides.iter_mut().for_each(|side| forget(&mut side.steps, variable));
            }
            StepKind::Twice { body } => forget(body, variable),
            _ => {}
        }
    }
}

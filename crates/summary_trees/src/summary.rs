//! Summaries of methods and of their branches.

use classes::bytecode::{Instruction, decode_all};
use classes::{ClassFile, Code, MethodInfo, access, descriptor};
use rustc_hash::FxHashSet;

use crate::builder::Builder;
use crate::conditions::fixed_condition;
use crate::flow::{BlockExit, Ending, Flow};
use crate::frame::{Frame, Value};
use crate::gap::GapReason;
use crate::simplify::{simplify_branch, simplify_method};
use crate::structure::{Node, Structure};
use crate::tree::{FieldRef, Guard, Operand, Side, Step, has_visible};
use crate::walk::Level;

/// What is known of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFacts {
    /// It is assigned once: reading it is no access, but leads on to what it holds.
    pub is_final: bool,
    /// Every read sees the latest write; accesses to it are accesses all the same.
    pub is_volatile: bool,
}

/// Answers for fields of any class.
pub trait Fields {
    /// What is known of a field; of one that is not known it is assumed that it may change.
    fn facts(&self, field: &FieldRef) -> Option<FieldFacts>;
}

/// The fields of one class, as far as it declares them itself.
impl Fields for ClassFile {
    fn facts(&self, field: &FieldRef) -> Option<FieldFacts> {
        if field.owner != self.name {
            return None;
        }
        let found = self
            .fields
            .iter()
            .find(|it| it.name == field.name && it.descriptor == field.descriptor)?;
        Some(FieldFacts {
            is_final: found.has_access(access::FINAL),
            is_volatile: found.has_access(access::VOLATILE),
        })
    }
}

/// How far code is followed.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The most accesses, monitor operations, calls, choices and loops in one side or method.
    pub max_steps: usize,
    /// The deepest that lists may nest; a loop takes two levels.
    pub max_levels: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { max_steps: 256, max_levels: 32 }
    }
}

/// What a root holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// A reference.
    Reference,
    /// An `int`, used as an index or handed to a call.
    Int,
}

/// A local variable that a summary starts from. The first registers hold the roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// The slot of the local variable.
    pub slot: u16,
    /// What is in it.
    pub kind: RootKind,
}

/// What a method does.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodSummary {
    /// Whether it holds the monitor of its receiver or class, for which there are no steps.
    pub is_synchronized: bool,
    /// How many parameters it has, the receiver included. The first registers hold them, in their order;
    /// those of numbers other than `int` are never read.
    pub parameter_count: usize,
    /// What it does, with the parameters in the first registers.
    pub steps: Vec<Step>,
    /// The reference that it returns, if that is the same on all paths and has a name.
    pub result: Operand,
    /// How many registers a walker needs.
    pub register_count: u32,
    /// Offsets of accesses that are left out, because the object or the index has no name.
    pub dropped: Vec<u32>,
}

/// How a branch can leave a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBranch {
    /// The bytecode offset of the loop's header, which is executed once for each iteration.
    pub header: u32,
    /// Where it goes on behind the loop, unless every way out ends the method or an enclosing iteration.
    pub after: Option<u32>,
    /// The side, by its position, that goes on with the loop: up to the header again.
    pub iterates: usize,
    /// Whether that side is a whole iteration, apart from conditions of the loop. It is not for a `break` in
    /// the middle of the body.
    pub is_whole_iteration: bool,
}

/// What the sides of a branch or switch do.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchSummary {
    /// The bytecode offset of the branch.
    pub offset: u32,
    /// The locals to hand to the hook, in the order of their registers.
    pub roots: Vec<Root>,
    /// The sides, in the order in which the instruction names them. A side without steps does nothing that
    /// anybody could see.
    pub sides: Vec<Side>,
    /// How many registers a walker needs for all sides.
    pub register_count: u32,
    /// Where the sides meet; absent when that is the end of the method.
    pub join: Option<u32>,
    /// The nesting depth within the sides. A choice ends where control comes to a [`Landing`] of smaller
    /// depth.
    pub depth: u32,
    /// How it can leave a loop, if it can.
    pub loop_branch: Option<LoopBranch>,
    /// Whether it decides by constants and final fields alone, and so goes the same way whenever the objects are the same:
    /// if certain fields are final of which that is not known here. These are the offsets where they are read.
    pub fixed_if_final: Option<Vec<u32>>,
    /// Offsets of accesses that are left out, because the object or the index has no name.
    pub dropped: Vec<u32>,
}

/// Why a landing is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LandingKind {
    /// Sides of a branch meet, or paths that have left such sides.
    Join,
    /// An iteration begins.
    LoopHeader,
    /// An exception is caught.
    Handler,
}

/// A place where choices end: those that are open in the same frame with a greater depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Landing {
    /// The bytecode offset.
    pub offset: u32,
    /// The nesting depth there.
    pub depth: u32,
    /// Why it is a landing.
    pub kind: LandingKind,
}

/// A branch that could not be summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchGap {
    /// The bytecode offset of the branch.
    pub offset: u32,
    /// Why not.
    pub reason: GapReason,
}

/// What the branches of a method do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchSummaries {
    /// The branches with something to see on at least one side, in the order of the code.
    pub branches: Vec<BranchSummary>,
    /// How many branches have nothing to see on any side.
    pub without_effect: usize,
    /// The branches that could not be summarised, in the order of the code.
    pub gaps: Vec<BranchGap>,
    /// Where choices end, in the order of the code; at most one for an offset.
    pub landings: Vec<Landing>,
}

/// What a method does; absent when it has no body.
///
/// # Errors
/// Why it could not be summarised.
pub fn summarize_method(
    class: &ClassFile,
    method: &MethodInfo,
    fields: &dyn Fields,
    config: &Config,
) -> Result<Option<MethodSummary>, GapReason> {
    let Some(code) = &method.code else { return Ok(None) };
    let flow = Flow::of(class, code)?;
    let structure = Structure::of(&flow)?;
    let mut builder = Builder::new(class, &flow, &structure, fields, config);
    builder.is_method = true;
    let mut locals = vec![Value::Unknown; usize::from(code.max_locals)];
    let parameters = parameters_of(method)?;
    for root in &parameters {
        let local = locals.get_mut(usize::from(root.slot)).ok_or(GapReason::Malformed)?;
        *local = Value::Slot(root.slot);
    }
    builder.roots.clone_from(&parameters);
    let mut levels = vec![Level::new(structure.end(), 0)];
    let mut steps = builder.list(0, Frame::new(locals, Vec::new()), &mut levels)?;
    let mut result = match levels.pop().and_then(Level::at_end) {
        Some(frame) if returns_reference(method) => {
            frame.stack.last().map_or(Operand::Unknown, |value| builder.operand(*value))
        }
        _ => Operand::Unknown,
    };
    let register_count = simplify_method(&mut steps, &mut result, parameters.len());
    Ok(Some(MethodSummary {
        is_synchronized: method.has_access(access::SYNCHRONIZED),
        parameter_count: parameters.len(),
        steps,
        result,
        register_count,
        dropped: sorted(builder.dropped),
    }))
}

/// What the branches of a method do.
#[must_use]
pub fn summarize_branches(
    class: &ClassFile,
    method: &MethodInfo,
    fields: &dyn Fields,
    config: &Config,
) -> BranchSummaries {
    summarize_some_branches(class, method, fields, config, &mut |_| true)
}

/// What those branches of a method do that are wanted. Choices of others do not begin, so that nothing has to end them.
pub fn summarize_some_branches(
    class: &ClassFile,
    method: &MethodInfo,
    fields: &dyn Fields,
    config: &Config,
    is_wanted: &mut dyn FnMut(&mut BranchSummary) -> bool,
) -> BranchSummaries {
    let Some(code) = &method.code else { return BranchSummaries::default() };
    let everything = |reason: GapReason| BranchSummaries {
        gaps: gaps_everywhere(class, code, reason),
        ..BranchSummaries::default()
    };
    let flow = match Flow::of(class, code) {
        Ok(flow) => flow,
        Err(reason) => return everything(reason),
    };
    if !flow.blocks.iter().any(|block| block.ending == Ending::Decision && block.is_reachable) {
        return BranchSummaries::default();
    }
    let structure = match Structure::of(&flow) {
        Ok(structure) => structure,
        Err(reason) => return everything(reason),
    };
    let method = MethodContext { class, code, flow: &flow, structure: &structure, fields, config };
    let stacks = match method.stacks() {
        Ok(stacks) => stacks,
        Err(reason) => return everything(reason),
    };
    let mut summaries = BranchSummaries::default();
    let mut summarized = Vec::new();
    for (block, found) in flow.blocks.iter().enumerate() {
        if found.ending != Ending::Decision || !found.is_reachable {
            continue;
        }
        match method.branch(block, &stacks[block]) {
            Ok(mut branch) if branch.sides.iter().any(|side| has_visible(&side.steps)) => {
                if is_wanted(&mut branch) {
                    summarized.push(block);
                    summaries.branches.push(branch);
                }
            }
            Ok(_) => summaries.without_effect += 1,
            Err(reason) => {
                let offset = flow.last_instruction(block).0;
                summaries.gaps.push(BranchGap { offset, reason });
            }
        }
    }
    summaries.landings = method.landings(&summarized);
    summaries
}

/// The parameters, the receiver first.
fn parameters_of(method: &MethodInfo) -> Result<Vec<Root>, GapReason> {
    let types = descriptor::parse_method(&method.descriptor).map_err(|_| GapReason::Malformed)?;
    let mut roots = Vec::with_capacity(types.params.len() + 1);
    let mut slot = 0;
    if !method.has_access(access::STATIC) {
        roots.push(Root { slot, kind: RootKind::Reference });
        slot += 1;
    }
    for parameter in types.params {
        let is_reference = parameter.is_reference();
        let kind = if is_reference { RootKind::Reference } else { RootKind::Int };
        roots.push(Root { slot, kind });
        slot += parameter.slots();
    }
    Ok(roots)
}

fn returns_reference(method: &MethodInfo) -> bool {
    let types = descriptor::parse_method(&method.descriptor);
    types.is_ok_and(|types| types.ret.is_some_and(|result| result.is_reference()))
}

fn sorted(mut offsets: Vec<u32>) -> Vec<u32> {
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

fn changes_something(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::PutField(_)
            | Instruction::PutStatic(_)
            | Instruction::ArrayStore(_)
            | Instruction::Invoke { .. }
            | Instruction::InvokeDynamic(_)
            | Instruction::MonitorEnter
            | Instruction::MonitorExit
    )
}

/// One gap for each branch of a method whose structure is not known.
fn gaps_everywhere(class: &ClassFile, code: &Code, reason: GapReason) -> Vec<BranchGap> {
    let Ok(instructions) = decode_all(class.code_bytes(code)) else {
        return vec![BranchGap { offset: 0, reason }];
    };
    let decides = |instruction: &Instruction| {
        matches!(instruction, Instruction::Branch { .. } | Instruction::Switch { .. })
    };
    let branches = instructions.iter().filter(|(_, instruction)| decides(instruction));
    branches.map(|(offset, _)| BranchGap { offset: *offset, reason }).collect()
}

/// What summaries of the branches of one method are made from.
struct MethodContext<'a> {
    class: &'a ClassFile,
    code: &'a Code,
    flow: &'a Flow,
    structure: &'a Structure,
    fields: &'a dyn Fields,
    config: &'a Config,
}

impl<'a> MethodContext<'a> {
    fn builder(&self) -> Builder<'a> {
        Builder::new(self.class, self.flow, self.structure, self.fields, self.config)
    }

    /// Every local holds what it holds.
    fn locals(&self) -> Vec<Value> {
        (0..self.code.max_locals).map(Value::Slot).collect()
    }

    /// The operand stack where each block begins: which values take two words.
    fn stacks(&self) -> Result<Vec<Vec<Value>>, GapReason> {
        let mut builder = self.builder();
        let mut stacks: Vec<Option<Vec<Value>>> = vec![None; self.flow.blocks.len()];
        stacks[0] = Some(Vec::new());
        for block in self.flow.reverse_post_order() {
            let found = &self.flow.blocks[block];
            if found.is_handler {
                stacks[block] = Some(vec![Value::Unknown]);
            }
            let stack = stacks[block].clone().ok_or(GapReason::Malformed)?;
            let mut frame = Frame::new(self.locals(), stack);
            builder.values_of_block(block, &mut frame)?;
            for value in frame.stack.iter_mut().filter(|value| **value != Value::Wide) {
                *value = Value::Unknown;
            }
            for exit in &found.exits {
                stacks[exit.target].get_or_insert_with(|| frame.stack.clone());
            }
        }
        Ok(stacks.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn branch(&self, block: usize, stack: &[Value]) -> Result<BranchSummary, GapReason> {
        let (flow, structure) = (self.flow, self.structure);
        let join = structure.join(block);
        if !structure.has_clear_nesting(join) {
            return Err(GapReason::UnclearNesting);
        }
        let mut builder = self.builder();
        let mut frame = Frame::new(self.locals(), stack.to_vec());
        let operands = builder.values_of_block(block, &mut frame)?;
        let (offset, instruction) = flow.last_instruction(block);
        let stops = self.stops(block);
        let at_branch = frame.locals;
        let mut start = Frame::new(self.locals(), frame.stack);
        for value in start.stack.iter_mut().filter(|value| **value != Value::Wide) {
            *value = Value::Unknown;
        }
        let loop_branch = self.loop_branch(block);
        let mut sides = Vec::new();
        for exit in &flow.blocks[block].exits {
            let guard = builder.guard(instruction, &operands, &exit.ways, &mut |builder, value| {
                builder.term_at_branch(value, &at_branch)
            });
            sides.push(self.side(&mut builder, block, exit, guard, &start, &stops)?);
        }
        let register_count = simplify_branch(&mut sides, &mut builder.roots);
        Ok(BranchSummary {
            offset,
            roots: builder.roots,
            sides,
            register_count,
            join: structure.block_of(join).map(|block| flow.blocks[block].offset),
            depth: structure.depth_of_sides(block),
            loop_branch,
            fixed_if_final: fixed_condition(self.class, self.fields, flow, block),
            dropped: sorted(builder.dropped),
        })
    }

    fn side(
        &self,
        builder: &mut Builder<'_>,
        block: usize,
        exit: &BlockExit,
        guard: Option<Guard>,
        start: &Frame,
        stops: &[Node],
    ) -> Result<Side, GapReason> {
        builder.start_side();
        let mut stops = stops.to_vec();
        let mut first = self.structure.target(block, exit.target);
        if self.structure.is_jump_back(block, exit.target)
            && let Some(number) = self.structure.loop_at(exit.target)
            && self.leaves_loop(block, number)
        {
            // The next iteration, which ends where the header comes again, and with the loop.
            first = exit.target;
            stops.insert(0, self.structure.loops[number].after);
        }
        builder.root_level = stops.len() - 1;
        let mut levels: Vec<Level> = stops.iter().map(|stop| Level::new(*stop, 0)).collect();
        let steps = builder.list(first, start.clone(), &mut levels)?;
        Ok(Side { ways: exit.ways.clone(), guard, steps })
    }

    fn leaves_loop(&self, block: usize, number: usize) -> bool {
        let members = &self.structure.loops[number].members;
        self.flow.blocks[block].exits.iter().any(|exit| !members[exit.target])
    }

    /// Where a side of the branch ends at the latest, the place where the sides meet last: at the places
    /// where enclosing choices end, and at the headers of the loops around it.
    fn stops(&self, block: usize) -> Vec<Node> {
        let structure = self.structure;
        let depth = structure.depth_of_sides(block);
        let mut stops = vec![structure.end()];
        stops.extend(
            structure.loops_around(block).into_iter().map(|it| structure.iteration_end(it)),
        );
        stops.extend(structure.pending_at(block));
        stops.extend(structure.forced.iter().filter(|it| structure.depth_at(**it) < depth));
        stops.push(structure.join(block));
        stops
    }

    fn loop_branch(&self, block: usize) -> Option<LoopBranch> {
        let exits = &self.flow.blocks[block].exits;
        for number in self.structure.loops_around(block).into_iter().rev() {
            let found = &self.structure.loops[number];
            let leaves = exits
                .iter()
                .any(|exit| !found.members[exit.target] && self.structure.goes_on(exit.target));
            let iterates = exits.iter().position(|exit| found.members[exit.target])?;
            if leaves {
                let is_jump_back = self.structure.is_jump_back(block, exits[iterates].target);
                let after = self.structure.is_block(found.after).then_some(found.after);
                return Some(LoopBranch {
                    header: self.flow.blocks[found.header].offset,
                    after: after.map(|block| self.flow.blocks[block].offset),
                    iterates,
                    is_whole_iteration: is_jump_back || self.is_condition(block, number),
                });
            }
        }
        None
    }

    /// Whether a block only looks whether the loop goes on, and so do the blocks between its header and it.
    fn is_condition(&self, block: usize, number: usize) -> bool {
        let found = &self.structure.loops[number];
        let mut at = block;
        while at != found.header {
            let block = &self.flow.blocks[at];
            let instructions = &self.flow.instructions[block.first..=block.last];
            if instructions.iter().any(|(_, instruction)| changes_something(instruction)) {
                return false;
            }
            let leads_here = |from: &usize| {
                let exits = &self.flow.blocks[*from].exits;
                found.members[*from] && exits.iter().any(|exit| exit.target == at)
            };
            let before: Vec<usize> = (0..self.flow.blocks.len()).filter(leads_here).collect();
            let [one] = before[..] else { return false };
            let exits = &self.flow.blocks[one].exits;
            if !exits.iter().any(|exit| !found.members[exit.target]) {
                return false;
            }
            at = one;
        }
        true
    }

    /// Where the choices of these branches can end.
    fn landings(&self, branches: &[usize]) -> Vec<Landing> {
        let structure = self.structure;
        let mut found: FxHashSet<(usize, LandingKind)> = FxHashSet::default();
        let deepest = branches.iter().map(|block| structure.depth_of_sides(*block)).max();
        let Some(deepest) = deepest else { return Vec::new() };
        for block in branches.iter().copied() {
            let pending = structure.pending_at(block);
            for place in pending.chain([structure.join(block)]) {
                if structure.is_block(place) {
                    found.insert((place, LandingKind::Join));
                }
            }
            for number in structure.loops_around(block) {
                found.insert((structure.loops[number].header, LandingKind::LoopHeader));
            }
        }
        found.extend(structure.forced.iter().map(|block| (*block, LandingKind::Join)));
        for (block, it) in self.flow.blocks.iter().enumerate() {
            if it.is_handler && it.is_reachable {
                found.insert((block, LandingKind::Handler));
            }
        }
        let mut landings: Vec<Landing> = found
            .into_iter()
            .map(|(block, kind)| Landing {
                offset: self.flow.blocks[block].offset,
                depth: structure.depth_at(block),
                kind,
            })
            .filter(|landing| landing.depth < deepest)
            .collect();
        landings.sort_unstable();
        landings.dedup_by_key(|landing| landing.offset);
        landings
    }
}

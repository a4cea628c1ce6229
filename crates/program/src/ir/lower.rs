//! From bytecode to register code in SSA form.
//!
//! Blocks are visited in reverse post-order, the operand stack and the local variables being
//! tracked as values. Where control flow merges, a phi is made for every slot whose values differ,
//! and at loop heads for every slot; phis that turn out to be trivial or dead are removed. For
//! reducible code, and compilers emit nothing else, the result is minimal and pruned SSA.
//!
//! Exceptions: inside a covered range a block ends after every write of a local variable, so that
//! at every instruction that may throw the locals are those at the start of its block. That is what
//! a handler sees.
//!
//! Subroutines (`jsr`/`ret`, before Java 6) are expanded: a block is identified by its offset and
//! the stack of return addresses, so every call of a subroutine gets its own copy.

use std::sync::Arc;

use classes::bytecode::{self, Instruction as Bytecode, InvokeKind, Kind, Literal, StackOp};
use classes::descriptor::{self, Type};
use classes::{ClassFile, Code, Constant as PoolConstant, PoolIndex, ReadError};
use models::language;
use rustc_hash::FxHashMap;

use super::{
    Block, Body, Call, Constant, Definition, DynamicCall, DynamicTarget, HandlerEdge, Instruction,
    Operation, Phi, Terminator,
};
use crate::ids::{BlockId, ClassId, FieldId, Id, MethodId, TypedVec, ValueId};
use crate::symbols::{Link, Program};

/// More blocks than this means subroutines that multiply without end.
const MOST_BLOCKS: usize = 200_000;

/// Why a method has no body.
#[derive(Debug)]
pub enum LowerError {
    /// The bytes are not code.
    Read(ReadError),
    /// The code is not what a verifier would accept: offset and what is wrong.
    Malformed(u32, &'static str),
}

impl From<ReadError> for LowerError {
    fn from(error: ReadError) -> LowerError {
        LowerError::Read(error)
    }
}

impl std::fmt::Display for LowerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LowerError::Read(error) => error.fmt(f),
            LowerError::Malformed(offset, what) => {
                write!(f, "malformed code: {what}, at bytecode offset {offset}")
            }
        }
    }
}

impl std::error::Error for LowerError {}

/// The body of a method; `None` if it has no code.
///
/// # Errors
///
/// Code that cannot be decoded, or that no verifier would accept.
pub fn lower(program: &Program, method: MethodId) -> Result<Option<Body>, LowerError> {
    let class = program.class_of(method);
    let declared = &program.methods[method];
    let Some((file, position)) = class.file.as_deref().zip(declared.position) else {
        return Ok(None);
    };
    let Some(code) = &file.methods[position as usize].code else { return Ok(None) };
    let instructions = bytecode::decode_all(file.code_bytes(code))?;
    let raises = RaisedExceptions { program, links: &class.links };
    let graph = FlowGraph::new(code, &instructions, &raises)?;
    let mut lowering = Lowering {
        program,
        file,
        links: &class.links,
        code,
        instructions: &instructions,
        definitions: TypedVec::new(),
        names: FxHashMap::default(),
        parameters: Vec::new(),
    };
    let entry = lowering.entry_frame(method)?;
    let blocks = lowering.lower_blocks(&graph, entry)?;
    Ok(Some(lowering.finish(method, &graph, blocks)))
}

/// Knows which exceptions instructions can raise.
///
/// A checked exception is raised only by a call that declares it, as `javac` enforces; code of other
/// languages and classes that are missing may raise anything. Java code that smuggles a checked
/// exception past its compiler (`sneakyThrow`) is taken at its word.
struct RaisedExceptions<'a> {
    program: &'a Program,
    links: &'a [Link],
}

impl RaisedExceptions<'_> {
    /// Whether some instruction can raise what a handler catches.
    fn any(&self, instructions: &[(u32, Bytecode)], catches: Option<&str>) -> bool {
        let Some(class) = catches.and_then(|name| self.program.class_named(name)) else {
            return true;
        };
        !self.is_checked(class)
            || instructions.iter().any(|(_, instruction)| self.raises(instruction, class))
    }

    /// Whether a class is a checked exception for certain: below `Exception`, all its superclasses
    /// known, and no `RuntimeException`.
    fn is_checked(&self, class: ClassId) -> bool {
        let names: Vec<&str> = self
            .program
            .hierarchy
            .superclasses(class)
            .map(|class| &*self.program.classes[class].name)
            .collect();
        names.len() > 1
            && names[1..].contains(&language::EXCEPTION)
            && names.contains(&language::THROWABLE)
            && !names.contains(&language::RUNTIME_EXCEPTION)
    }

    fn raises(&self, instruction: &Bytecode, class: ClassId) -> bool {
        let method = match instruction {
            Bytecode::Throw => return true,
            Bytecode::Invoke { method, .. } => method,
            _ => return false,
        };
        let Some(Link::Method(_, method)) = self.links.get(usize::from(method.0)) else {
            return true;
        };
        let owner = self.program.class_of(*method);
        let declared = owner.file.as_ref().zip(self.program.methods[*method].position);
        let Some((file, position)) = declared else { return true };
        let is_java = file.source_file.as_ref().is_some_and(|source| source.ends_with(".java"));
        let hierarchy = &self.program.hierarchy;
        !is_java
            || file.methods[position as usize].exceptions.iter().any(|name| {
                self.program.class_named(name).is_none_or(|declared| {
                    hierarchy.is_subtype(declared, class) || hierarchy.is_subtype(class, declared)
                })
            })
    }
}

/// A block before its instructions are lowered.
struct ProtoBlock {
    /// Positions of its instructions in the decoded code; empty for the added entry block.
    range: std::ops::Range<usize>,
    offset: u32,
    /// Where control goes, in the order the terminator names it.
    successors: Vec<BlockId>,
    handlers: Vec<(BlockId, Option<Arc<str>>)>,
    /// Edges into this block; the second part says whether an exception takes it.
    predecessors: Vec<(BlockId, bool)>,
}

/// The blocks of a method in reverse post-order, with their edges.
struct FlowGraph {
    blocks: TypedVec<BlockId, ProtoBlock>,
}

/// A block while the graph is discovered: a leader, in a context of subroutine calls.
type BlockKey = (u32, u32);

/// A subroutine that is being executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Context {
    /// The context it was called in.
    outer: u32,
    /// Where it starts.
    subroutine: u32,
    /// Where its `ret` goes.
    returns_to: u32,
}

struct Discovery<'a> {
    code: &'a Code,
    instructions: &'a [(u32, Bytecode)],
    raises: &'a RaisedExceptions<'a>,
    leaders: Vec<bool>,
    /// Subroutine contexts; the first one stands for being in none.
    contexts: Vec<Context>,
    known_contexts: FxHashMap<Context, u32>,
    keys: FxHashMap<BlockKey, usize>,
    found: Vec<ProtoBlock>,
    /// Edges by position in `found`; handler edges follow.
    edges: Edges,
}

impl Discovery<'_> {
    fn position_of(&self, offset: u32) -> Result<usize, LowerError> {
        self.instructions
            .binary_search_by_key(&offset, |(at, _)| *at)
            .map_err(|_| LowerError::Malformed(offset, "a jump into the middle of an instruction"))
    }

    fn block(&mut self, key: BlockKey, todo: &mut Vec<BlockKey>) -> Result<usize, LowerError> {
        if let Some(found) = self.keys.get(&key) {
            return Ok(*found);
        }
        if self.found.len() >= MOST_BLOCKS {
            return Err(LowerError::Malformed(key.0, "subroutines that never end"));
        }
        let start = self.position_of(key.0)?;
        let index = self.found.len();
        self.keys.insert(key, index);
        self.found.push(ProtoBlock {
            range: start..start,
            offset: key.0,
            successors: Vec::new(),
            handlers: Vec::new(),
            predecessors: Vec::new(),
        });
        self.edges.push((Vec::new(), Vec::new()));
        todo.push(key);
        Ok(index)
    }

    /// The context of a subroutine that is called from another context. No subroutine calls itself: if
    /// it is being executed already, it was left without returning, by a jump or an exception, and so
    /// was everything it had called.
    fn enter(&mut self, called_in: u32, subroutine: u32, returns_to: u32) -> u32 {
        let mut outer = called_in;
        let mut active = called_in;
        while active != 0 {
            let context = self.contexts[active as usize];
            if context.subroutine == subroutine {
                outer = context.outer;
            }
            active = context.outer;
        }
        let context = Context { outer, subroutine, returns_to };
        let next = self.contexts.len() as u32;
        let found = *self.known_contexts.entry(context).or_insert(next);
        if found == next {
            self.contexts.push(context);
        }
        found
    }

    fn discover(&mut self, key: BlockKey, todo: &mut Vec<BlockKey>) -> Result<(), LowerError> {
        let (start, context) = key;
        let index = self.keys[&key];
        let first = self.found[index].range.start;
        let mut position = first;
        let mut may_throw = false;
        let (last_offset, last) = loop {
            let (offset, instruction) = &self.instructions[position];
            may_throw |= instruction.may_throw();
            position += 1;
            let next = self.instructions.get(position);
            let ends = !instruction.falls_through()
                || matches!(instruction, Bytecode::Branch { .. })
                || next.is_some_and(|(next, _)| self.leaders[*next as usize]);
            if ends {
                break (*offset, instruction.clone());
            }
            if next.is_none() {
                return Err(LowerError::Malformed(*offset, "control runs off the end"));
            }
        };
        self.found[index].range = first..position;
        let after = self.instructions.get(position).map(|(offset, _)| *offset);
        let fall_through =
            || after.ok_or(LowerError::Malformed(last_offset, "control runs off the end"));
        let targets: Vec<BlockKey> = match last {
            Bytecode::Branch { target, .. } => {
                vec![(target, context), (fall_through()?, context)]
            }
            Bytecode::Goto(target) => vec![(target, context)],
            Bytecode::Jsr(target) => {
                let inner = self.enter(context, target, fall_through()?);
                vec![(target, inner)]
            }
            Bytecode::Ret { .. } => {
                if context == 0 {
                    return Err(LowerError::Malformed(last_offset, "`ret` outside a subroutine"));
                }
                let Context { outer, returns_to, .. } = self.contexts[context as usize];
                vec![(returns_to, outer)]
            }
            Bytecode::Switch { default, cases } => std::iter::once(default)
                .chain(cases.into_iter().map(|(_, target)| target))
                .map(|target| (target, context))
                .collect(),
            Bytecode::Return(_) | Bytecode::Throw => Vec::new(),
            _ => vec![(fall_through()?, context)],
        };
        let mut successors = Vec::with_capacity(targets.len());
        for target in targets {
            successors.push(self.block(target, todo)?);
        }
        let mut handlers = Vec::new();
        if may_throw {
            let code = self.code;
            for handler in &code.handlers {
                let covers = handler.start <= start && start < handler.end;
                let instructions = &self.instructions[first..position];
                if covers && self.raises.any(instructions, handler.catch_type.as_deref()) {
                    let target = self.block((handler.target, context), todo)?;
                    // One handler may catch several classes: `catch (A | B e)`.
                    let handler_edge = (target, handler.catch_type.clone());
                    if !handlers.contains(&handler_edge) {
                        handlers.push(handler_edge);
                    }
                    if handler.catch_type.is_none() {
                        break;
                    }
                }
            }
        }
        self.edges[index] = (successors, handlers);
        Ok(())
    }
}

impl FlowGraph {
    fn new(
        code: &Code,
        instructions: &[(u32, Bytecode)],
        raises: &RaisedExceptions<'_>,
    ) -> Result<FlowGraph, LowerError> {
        if instructions.is_empty() {
            return Err(LowerError::Malformed(0, "no code at all"));
        }
        let mut discovery = Discovery {
            code,
            instructions,
            raises,
            leaders: leaders(code, instructions),
            contexts: vec![Context { outer: 0, subroutine: 0, returns_to: 0 }],
            known_contexts: FxHashMap::default(),
            keys: FxHashMap::default(),
            found: Vec::new(),
            edges: Vec::new(),
        };
        let mut todo = Vec::new();
        discovery.block((0, 0), &mut todo)?;
        while let Some(key) = todo.pop() {
            discovery.discover(key, &mut todo)?;
        }
        Ok(FlowGraph::ordered(discovery.found, discovery.edges))
    }

    /// Puts the blocks in reverse post-order and adds an empty entry block where the first block is
    /// itself jumped to.
    fn ordered(mut found: Vec<ProtoBlock>, mut edges: Edges) -> FlowGraph {
        let jumped_to = edges.iter().any(|(successors, handlers)| {
            successors.contains(&0) || handlers.iter().any(|(target, _)| *target == 0)
        });
        let mut root = 0;
        if jumped_to {
            root = found.len();
            found.push(ProtoBlock {
                range: 0..0,
                offset: 0,
                successors: Vec::new(),
                handlers: Vec::new(),
                predecessors: Vec::new(),
            });
            edges.push((vec![0], Vec::new()));
        }
        separate_handlers(&mut found, &mut edges);
        let order = reverse_post_order(&edges, root);
        let mut position = vec![None; found.len()];
        for (new, old) in order.iter().enumerate() {
            position[*old] = Some(BlockId::new(new));
        }
        // Only blocks that can be reached were discovered, so every edge leads to a position.
        let id = |old: usize| position[old].unwrap_or(BlockId::new(0));
        let mut slots: Vec<Option<ProtoBlock>> = found.into_iter().map(Some).collect();
        let mut blocks: TypedVec<BlockId, ProtoBlock> =
            order.iter().filter_map(|old| slots[*old].take()).collect();
        for (new, old) in order.iter().enumerate() {
            let (successors, handlers) = std::mem::take(&mut edges[*old]);
            let new = BlockId::new(new);
            blocks[new].successors = successors.into_iter().map(id).collect();
            blocks[new].handlers =
                handlers.into_iter().map(|(target, class)| (id(target), class)).collect();
        }
        for from in blocks.ids() {
            let mut targets = blocks[from].successors.clone();
            targets.sort_unstable();
            targets.dedup();
            for to in targets {
                blocks[to].predecessors.push((from, false));
            }
            let mut targets: Vec<BlockId> =
                blocks[from].handlers.iter().map(|(target, _)| *target).collect();
            targets.sort_unstable();
            targets.dedup();
            for to in targets {
                blocks[to].predecessors.push((from, true));
            }
        }
        FlowGraph { blocks }
    }
}

/// Edges of each block: where it goes, and its handlers.
type Edges = Vec<(Vec<usize>, Vec<(usize, Option<Arc<str>>)>)>;

/// Gives a handler that is also jumped to a block of its own that only goes on there: a block is
/// entered either by exceptions or by jumps, never by both.
fn separate_handlers(found: &mut Vec<ProtoBlock>, edges: &mut Edges) {
    let mut jumped_to = vec![false; found.len()];
    for (successors, _) in edges.iter() {
        successors.iter().for_each(|target| jumped_to[*target] = true);
    }
    let mut landing: FxHashMap<usize, usize> = FxHashMap::default();
    for block in 0..edges.len() {
        for at in 0..edges[block].1.len() {
            let target = edges[block].1[at].0;
            if !jumped_to[target] {
                continue;
            }
            let landed = *landing.entry(target).or_insert_with(|| {
                found.push(ProtoBlock {
                    range: 0..0,
                    offset: found[target].offset,
                    successors: Vec::new(),
                    handlers: Vec::new(),
                    predecessors: Vec::new(),
                });
                found.len() - 1
            });
            edges[block].1[at].0 = landed;
            if landed == edges.len() {
                edges.push((vec![target], Vec::new()));
            }
        }
    }
}

/// Offsets at which a block must start.
fn leaders(code: &Code, instructions: &[(u32, Bytecode)]) -> Vec<bool> {
    let length = code.range.len() + 1;
    let mut leaders = vec![false; length];
    let mut mark = |offset: u32| {
        if let Some(leader) = leaders.get_mut(offset as usize) {
            *leader = true;
        }
    };
    mark(0);
    for handler in &code.handlers {
        mark(handler.start);
        mark(handler.end);
        mark(handler.target);
    }
    let mut covered = vec![false; length];
    for handler in &code.handlers {
        let end = (handler.end as usize).min(length);
        if let Some(range) = covered.get_mut(handler.start as usize..end) {
            range.fill(true);
        }
    }
    for (position, (offset, instruction)) in instructions.iter().enumerate() {
        let mut ends_block = false;
        match instruction {
            Bytecode::Branch { target, .. } | Bytecode::Goto(target) | Bytecode::Jsr(target) => {
                mark(*target);
                ends_block = true;
            }
            Bytecode::Switch { default, cases } => {
                mark(*default);
                cases.iter().for_each(|(_, target)| mark(*target));
                ends_block = true;
            }
            Bytecode::Ret { .. } | Bytecode::Return(_) | Bytecode::Throw => ends_block = true,
            Bytecode::Store { .. } | Bytecode::Increment { .. } => {
                ends_block = covered[*offset as usize];
            }
            _ => {}
        }
        if ends_block && let Some((next, _)) = instructions.get(position + 1) {
            mark(*next);
        }
    }
    leaders
}

fn reverse_post_order(edges: &Edges, root: usize) -> Vec<usize> {
    let mut visited = vec![false; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    let mut stack = vec![(root, 0_usize)];
    visited[root] = true;
    while let Some((block, next)) = stack.last_mut() {
        let (successors, handlers) = &edges[*block];
        // Handlers first: they then come last in the reversed order, and the usual path stays
        // together.
        let target = match next.checked_sub(handlers.len()) {
            None => Some(handlers[*next].0),
            Some(at) => successors.len().checked_sub(at + 1).map(|at| successors[at]),
        };
        *next += 1;
        match target {
            Some(target) if !visited[target] => {
                visited[target] = true;
                stack.push((target, 0));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// What the local variables and the operand stack hold at one point.
#[derive(Clone, Default)]
struct Frame {
    locals: Vec<Option<ValueId>>,
    stack: Vec<(ValueId, Kind)>,
}

/// The slot of a frame that a phi stands for.
#[derive(Clone, Copy)]
enum FramePosition {
    Local(usize),
    Stack(usize),
}

/// A block whose instructions are lowered, and whose phis still lack their inputs.
struct LoweredBlock {
    phis: Vec<(ValueId, FramePosition)>,
    caught: Option<ValueId>,
    instructions: Vec<Instruction>,
    terminator: Terminator,
    end_offset: u32,
    entry: Frame,
    exit: Frame,
}

struct Lowering<'a> {
    program: &'a Program,
    file: &'a ClassFile,
    links: &'a [Link],
    code: &'a Code,
    instructions: &'a [(u32, Bytecode)],
    definitions: TypedVec<ValueId, Definition>,
    names: FxHashMap<ValueId, Arc<str>>,
    parameters: Vec<ValueId>,
}

/// The block that is being lowered.
struct Cursor<'a> {
    id: BlockId,
    frame: &'a mut Frame,
    instructions: &'a mut Vec<Instruction>,
    offset: u32,
}

impl Cursor<'_> {
    fn malformed(&self, what: &'static str) -> LowerError {
        LowerError::Malformed(self.offset, what)
    }

    fn push(&mut self, value: ValueId, kind: Kind) {
        self.frame.stack.push((value, kind));
    }

    fn pop(&mut self) -> Result<ValueId, LowerError> {
        self.pop_with_kind().map(|(value, _)| value)
    }

    fn pop_with_kind(&mut self) -> Result<(ValueId, Kind), LowerError> {
        self.frame.stack.pop().ok_or_else(|| self.malformed("the operand stack is empty"))
    }

    /// Takes values from the stack until they make up a number of words.
    fn pop_words(&mut self, words: usize) -> Result<Vec<(ValueId, Kind)>, LowerError> {
        let mut taken = Vec::with_capacity(2);
        let mut left = words;
        while left > 0 {
            let (value, kind) = self.pop_with_kind()?;
            left = left
                .checked_sub(kind.words())
                .ok_or_else(|| self.malformed("half of a two-word value is used"))?;
            taken.push((value, kind));
        }
        taken.reverse();
        Ok(taken)
    }

    fn push_all(&mut self, values: &[(ValueId, Kind)]) {
        self.frame.stack.extend_from_slice(values);
    }
}

impl Lowering<'_> {
    fn kind_of(value_type: &Type<'_>) -> Kind {
        match value_type {
            Type::Long => Kind::Long,
            Type::Float => Kind::Float,
            Type::Double => Kind::Double,
            Type::Object(_) | Type::Array { .. } => Kind::Ref,
            _ => Kind::Int,
        }
    }

    fn entry_frame(&mut self, method: MethodId) -> Result<Frame, LowerError> {
        let declared = &self.program.methods[method];
        let parsed = descriptor::parse_method(&declared.descriptor)?;
        let receiver = (!declared.is_static()).then_some(Kind::Ref);
        let kinds: Vec<Kind> =
            receiver.into_iter().chain(parsed.params.iter().map(Self::kind_of)).collect();
        let mut locals = vec![None; usize::from(self.code.max_locals)];
        let mut slot = 0;
        for (number, kind) in kinds.iter().enumerate() {
            let value = self.definitions.push(Definition::Parameter(number as u16));
            self.parameters.push(value);
            *locals.get_mut(slot).ok_or(LowerError::Malformed(0, "too few local variables"))? =
                Some(value);
            let name = self
                .code
                .locals
                .iter()
                .find(|local| local.start == 0 && usize::from(local.slot) == slot);
            if let Some(local) = name {
                self.names.insert(value, local.name.clone());
            }
            slot += kind.words();
        }
        Ok(Frame { locals, stack: Vec::new() })
    }

    fn lower_blocks(
        &mut self,
        graph: &FlowGraph,
        entry: Frame,
    ) -> Result<TypedVec<BlockId, LoweredBlock>, LowerError> {
        let mut lowered: TypedVec<BlockId, LoweredBlock> = TypedVec::new();
        for (id, proto) in graph.blocks.iter_with_ids() {
            let (frame, phis, caught) = if id.index() == 0 {
                (entry.clone(), Vec::new(), None)
            } else {
                self.merge(id, proto, &lowered)?
            };
            let block = self.lower_block(id, proto, frame, phis, caught)?;
            lowered.push(block);
        }
        Ok(lowered)
    }

    /// The frame at the start of a block, with the phis that it needs.
    #[allow(clippy::type_complexity, reason = "the three parts of a block's start")]
    fn merge(
        &mut self,
        id: BlockId,
        proto: &ProtoBlock,
        lowered: &TypedVec<BlockId, LoweredBlock>,
    ) -> Result<(Frame, Vec<(ValueId, FramePosition)>, Option<ValueId>), LowerError> {
        let malformed = |what| LowerError::Malformed(proto.offset, what);
        let is_loop_head = proto.predecessors.iter().any(|(from, _)| from.index() >= id.index());
        let mut by_exception = false;
        let mut incoming: Vec<&Frame> = Vec::with_capacity(proto.predecessors.len());
        for (from, exceptional) in &proto.predecessors {
            by_exception |= exceptional;
            if from.index() < id.index() {
                let block = &lowered[*from];
                incoming.push(if *exceptional { &block.entry } else { &block.exit });
            }
        }
        if incoming.is_empty() {
            return Err(malformed("a block without a predecessor"));
        }
        let mut phis = Vec::new();
        let mut phi = |definitions: &mut TypedVec<ValueId, Definition>, slot| {
            let value = definitions.push(Definition::Phi(id));
            phis.push((value, slot));
            value
        };
        let mut locals = Vec::with_capacity(incoming[0].locals.len());
        for slot in 0..incoming[0].locals.len() {
            let first = incoming[0].locals[slot];
            let merged = if incoming.iter().any(|frame| frame.locals[slot].is_none()) {
                None
            } else if is_loop_head || incoming.iter().any(|frame| frame.locals[slot] != first) {
                Some(phi(&mut self.definitions, FramePosition::Local(slot)))
            } else {
                first
            };
            locals.push(merged);
        }
        let mut stack = Vec::new();
        let mut caught = None;
        if by_exception {
            let value = self.definitions.push(Definition::Caught(id));
            stack.push((value, Kind::Ref));
            caught = Some(value);
        } else {
            for slot in 0..incoming[0].stack.len() {
                let (first, kind) = incoming[0].stack[slot];
                let mut differs = is_loop_head;
                for frame in &incoming {
                    let (value, _) = frame
                        .stack
                        .get(slot)
                        .ok_or_else(|| malformed("stacks of different depth meet"))?;
                    differs |= *value != first;
                }
                let value = if differs {
                    phi(&mut self.definitions, FramePosition::Stack(slot))
                } else {
                    first
                };
                stack.push((value, kind));
            }
        }
        Ok((Frame { locals, stack }, phis, caught))
    }

    fn lower_block(
        &mut self,
        id: BlockId,
        proto: &ProtoBlock,
        entry: Frame,
        phis: Vec<(ValueId, FramePosition)>,
        caught: Option<ValueId>,
    ) -> Result<LoweredBlock, LowerError> {
        let mut frame = entry.clone();
        let mut instructions = Vec::with_capacity(proto.range.len() / 2);
        let mut cursor =
            Cursor { id, frame: &mut frame, instructions: &mut instructions, offset: proto.offset };
        let mut terminator = None;
        let decoded = self.instructions;
        for (offset, instruction) in &decoded[proto.range.clone()] {
            cursor.offset = *offset;
            terminator = self.lower_instruction(&mut cursor, instruction, &proto.successors)?;
        }
        let end_offset = cursor.offset;
        let terminator = match (terminator, proto.successors.first()) {
            (Some(terminator), _) => terminator,
            (None, Some(next)) => Terminator::Goto(*next),
            (None, None) => return Err(cursor.malformed("control runs off the end")),
        };
        Ok(LoweredBlock { phis, caught, instructions, terminator, end_offset, entry, exit: frame })
    }

    /// Appends an operation that defines a value of a kind, and pushes the value.
    fn compute(&mut self, cursor: &mut Cursor<'_>, operation: Operation, kind: Kind) {
        let value = self.define(cursor, operation);
        cursor.push(value, kind);
    }

    fn define(&mut self, cursor: &mut Cursor<'_>, operation: Operation) -> ValueId {
        let position = cursor.instructions.len() as u32;
        let result = self.definitions.push(Definition::Instruction(cursor.id, position));
        cursor.instructions.push(Instruction {
            offset: cursor.offset,
            result: Some(result),
            operation,
        });
        result
    }

    fn perform(cursor: &mut Cursor<'_>, operation: Operation) {
        cursor.instructions.push(Instruction { offset: cursor.offset, result: None, operation });
    }

    fn link(&self, index: PoolIndex) -> Link {
        self.links.get(usize::from(index.0)).copied().unwrap_or(Link::None)
    }

    fn class_link(&self, index: PoolIndex) -> Option<ClassId> {
        match self.link(index) {
            Link::Class(class) => Some(class),
            Link::None | Link::Field(_) | Link::Method(..) | Link::Lambda(_) => None,
        }
    }

    fn field(&self, cursor: &Cursor<'_>, index: PoolIndex) -> Result<(FieldId, Kind), LowerError> {
        let Link::Field(field) = self.link(index) else {
            return Err(cursor.malformed("a field instruction that names no field"));
        };
        let value_type = descriptor::parse_field(&self.program.fields[field].descriptor)?;
        Ok((field, Self::kind_of(&value_type)))
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each kind of instruction")]
    fn lower_instruction(
        &mut self,
        cursor: &mut Cursor<'_>,
        instruction: &Bytecode,
        successors: &[BlockId],
    ) -> Result<Option<Terminator>, LowerError> {
        match instruction {
            Bytecode::Nop => {}
            Bytecode::Push(literal) => {
                let kind = match literal {
                    Literal::Null => Kind::Ref,
                    Literal::Int(_) => Kind::Int,
                    Literal::Long(_) => Kind::Long,
                    Literal::Float(_) => Kind::Float,
                    Literal::Double(_) => Kind::Double,
                };
                let constant = Operation::Constant(Constant::Literal(*literal));
                self.compute(cursor, constant, kind);
            }
            Bytecode::LoadConstant(index) => {
                let (constant, kind) = self.pool_constant(*index)?;
                self.compute(cursor, Operation::Constant(constant), kind);
            }
            Bytecode::Load { kind, slot } => {
                let value =
                    cursor.frame.locals.get(usize::from(*slot)).copied().flatten().ok_or_else(
                        || cursor.malformed("a local variable is read before it is set"),
                    )?;
                if *kind == Kind::Ref {
                    self.name_value(value, *slot, cursor.offset);
                }
                cursor.push(value, *kind);
            }
            Bytecode::Store { kind, slot } => {
                let value = cursor.pop()?;
                Self::store(cursor, *slot, *kind, value)?;
            }
            Bytecode::Increment { slot, by } => {
                let old =
                    cursor.frame.locals.get(usize::from(*slot)).copied().flatten().ok_or_else(
                        || cursor.malformed("a local variable is read before it is set"),
                    )?;
                let step = Constant::Literal(Literal::Int(i32::from(*by)));
                let step = self.define(cursor, Operation::Constant(step));
                let sum = Operation::Binary { op: bytecode::BinaryOp::Add, left: old, right: step };
                let new = self.define(cursor, sum);
                Self::store(cursor, *slot, Kind::Int, new)?;
            }
            Bytecode::ArrayLoad(kind) => {
                let index = cursor.pop()?;
                let array = cursor.pop()?;
                // An element is called as the source writes it.
                let is_index = |local: &Option<ValueId>| *local == Some(index);
                if *kind == Kind::Ref
                    && let Some(slot) = cursor.frame.locals.iter().position(is_index)
                {
                    self.name_value(index, slot as u16, cursor.offset);
                }
                self.compute(cursor, Operation::ArrayLoad { array, index, kind: *kind }, *kind);
            }
            Bytecode::ArrayStore(_) => {
                let value = cursor.pop()?;
                let index = cursor.pop()?;
                let array = cursor.pop()?;
                Self::perform(cursor, Operation::ArrayStore { array, index, value });
            }
            Bytecode::Stack(op) => Self::shuffle(cursor, *op)?,
            Bytecode::Binary { op, kind } => {
                let right = cursor.pop()?;
                let left = cursor.pop()?;
                self.compute(cursor, Operation::Binary { op: *op, left, right }, *kind);
            }
            Bytecode::Negate(kind) | Bytecode::Convert { to: kind, .. } => {
                let value = cursor.pop()?;
                self.compute(cursor, Operation::Unary(value), *kind);
            }
            Bytecode::Compare(_) => {
                let right = cursor.pop()?;
                let left = cursor.pop()?;
                self.compute(cursor, Operation::Compare(left, right), Kind::Int);
            }
            Bytecode::Branch { condition, against, .. } => {
                let right = match against {
                    bytecode::Against::Zero | bytecode::Against::Null => None,
                    bytecode::Against::Int | bytecode::Against::Ref => Some(cursor.pop()?),
                };
                let left = cursor.pop()?;
                let [then, otherwise] = successors else {
                    return Err(cursor.malformed("a branch without two targets"));
                };
                return Ok(Some(Terminator::Branch {
                    condition: *condition,
                    against: *against,
                    left,
                    right,
                    then: *then,
                    otherwise: *otherwise,
                }));
            }
            Bytecode::Goto(_) => {}
            Bytecode::Jsr(_) => {
                // The return address; the copy of the subroutine knows where it returns to.
                self.compute(cursor, Operation::Constant(Constant::Other), Kind::Ref);
            }
            Bytecode::Ret { .. } => {}
            Bytecode::Switch { cases, .. } => {
                let value = cursor.pop()?;
                let Some((default, targets)) = successors.split_first() else {
                    return Err(cursor.malformed("a switch without a default"));
                };
                let cases = cases.iter().map(|(case, _)| *case).zip(targets.iter().copied());
                let cases = cases.collect();
                return Ok(Some(Terminator::Switch { value, cases, default: *default }));
            }
            Bytecode::Return(kind) => {
                let value = if kind.is_some() { Some(cursor.pop()?) } else { None };
                return Ok(Some(Terminator::Return(value)));
            }
            Bytecode::GetStatic(index) => {
                let (field, kind) = self.field(cursor, *index)?;
                self.compute(cursor, Operation::GetStatic(field), kind);
            }
            Bytecode::PutStatic(index) => {
                let (field, _) = self.field(cursor, *index)?;
                let value = cursor.pop()?;
                Self::perform(cursor, Operation::PutStatic { field, value });
            }
            Bytecode::GetField(index) => {
                let (field, kind) = self.field(cursor, *index)?;
                let object = cursor.pop()?;
                self.compute(cursor, Operation::GetField { object, field }, kind);
            }
            Bytecode::PutField(index) => {
                let (field, _) = self.field(cursor, *index)?;
                let value = cursor.pop()?;
                let object = cursor.pop()?;
                Self::perform(cursor, Operation::PutField { object, field, value });
            }
            Bytecode::Invoke { kind, method } => self.call(cursor, *kind, *method)?,
            Bytecode::InvokeDynamic(index) => self.dynamic_call(cursor, *index)?,
            Bytecode::New(index) => {
                let class = self
                    .class_link(*index)
                    .ok_or_else(|| cursor.malformed("`new` of something that is no class"))?;
                self.compute(cursor, Operation::New(class), Kind::Ref);
            }
            Bytecode::NewPrimitiveArray { .. } => {
                let lengths = vec![cursor.pop()?];
                self.compute(cursor, Operation::NewArray { element: None, lengths }, Kind::Ref);
            }
            Bytecode::NewReferenceArray(index) => {
                let element = self.class_link(*index);
                let lengths = vec![cursor.pop()?];
                self.compute(cursor, Operation::NewArray { element, lengths }, Kind::Ref);
            }
            Bytecode::NewMultiArray { dimensions, .. } => {
                let mut lengths = Vec::new();
                for _ in 0..*dimensions {
                    lengths.push(cursor.pop()?);
                }
                lengths.reverse();
                self.compute(cursor, Operation::NewArray { element: None, lengths }, Kind::Ref);
            }
            Bytecode::ArrayLength => {
                let array = cursor.pop()?;
                self.compute(cursor, Operation::ArrayLength(array), Kind::Int);
            }
            Bytecode::Throw => return Ok(Some(Terminator::Throw(cursor.pop()?))),
            Bytecode::CheckCast(index) => {
                let value = cursor.pop()?;
                let class = self.class_link(*index);
                self.compute(cursor, Operation::Cast { value, class }, Kind::Ref);
            }
            Bytecode::InstanceOf(index) => {
                let value = cursor.pop()?;
                let class = self.class_link(*index);
                self.compute(cursor, Operation::InstanceOf { value, class }, Kind::Int);
            }
            Bytecode::MonitorEnter => {
                let object = cursor.pop()?;
                Self::perform(cursor, Operation::MonitorEnter(object));
            }
            Bytecode::MonitorExit => {
                let object = cursor.pop()?;
                Self::perform(cursor, Operation::MonitorExit(object));
            }
        }
        Ok(None)
    }

    fn store(
        cursor: &mut Cursor<'_>,
        slot: u16,
        kind: Kind,
        value: ValueId,
    ) -> Result<(), LowerError> {
        let slot = usize::from(slot);
        if slot + kind.words() > cursor.frame.locals.len() {
            return Err(cursor.malformed("a local variable out of range"));
        }
        cursor.frame.locals[slot] = Some(value);
        if kind.words() == 2 {
            cursor.frame.locals[slot + 1] = None;
        }
        Ok(())
    }

    fn name_value(&mut self, value: ValueId, slot: u16, offset: u32) {
        if self.code.locals.is_empty() || self.names.contains_key(&value) {
            return;
        }
        if let Some(local) = self.code.local_at(slot, offset) {
            self.names.insert(value, local.name.clone());
        }
    }

    fn shuffle(cursor: &mut Cursor<'_>, op: StackOp) -> Result<(), LowerError> {
        match op {
            StackOp::Pop => {
                cursor.pop_words(1)?;
            }
            StackOp::Pop2 => {
                cursor.pop_words(2)?;
            }
            StackOp::Swap => {
                let right = cursor.pop_words(1)?;
                let left = cursor.pop_words(1)?;
                cursor.push_all(&right);
                cursor.push_all(&left);
            }
            StackOp::Dup | StackOp::DupX1 | StackOp::DupX2 => {
                Self::duplicate(cursor, 1, [StackOp::Dup, StackOp::DupX1, StackOp::DupX2], op)?;
            }
            StackOp::Dup2 | StackOp::Dup2X1 | StackOp::Dup2X2 => {
                Self::duplicate(cursor, 2, [StackOp::Dup2, StackOp::Dup2X1, StackOp::Dup2X2], op)?;
            }
        }
        Ok(())
    }

    /// Copies the top words below as many words as the position of `op` among its variants says.
    fn duplicate(
        cursor: &mut Cursor<'_>,
        words: usize,
        variants: [StackOp; 3],
        op: StackOp,
    ) -> Result<(), LowerError> {
        let below = variants.iter().position(|variant| *variant == op).unwrap_or(0);
        let copied = cursor.pop_words(words)?;
        let skipped = cursor.pop_words(below)?;
        cursor.push_all(&copied);
        cursor.push_all(&skipped);
        cursor.push_all(&copied);
        Ok(())
    }

    fn pool_constant(&self, index: PoolIndex) -> Result<(Constant, Kind), LowerError> {
        Ok(match self.file.pool.get(index)? {
            PoolConstant::Integer(value) => (Constant::Literal(Literal::Int(value)), Kind::Int),
            PoolConstant::Float(value) => (Constant::Literal(Literal::Float(value)), Kind::Float),
            PoolConstant::Long(value) => (Constant::Literal(Literal::Long(value)), Kind::Long),
            PoolConstant::Double(value) => {
                (Constant::Literal(Literal::Double(value)), Kind::Double)
            }
            PoolConstant::String(text) => (Constant::String(text.clone()), Kind::Ref),
            PoolConstant::Class(_) => match self.class_link(index) {
                Some(class) => (Constant::Class(class), Kind::Ref),
                None => (Constant::Other, Kind::Ref),
            },
            PoolConstant::Dynamic(dynamic) => {
                let value_type = descriptor::parse_field(dynamic.descriptor)?;
                (Constant::Other, Self::kind_of(&value_type))
            }
            _ => (Constant::Other, Kind::Ref),
        })
    }

    fn take_arguments(
        cursor: &mut Cursor<'_>,
        count: usize,
        has_receiver: bool,
    ) -> Result<Vec<ValueId>, LowerError> {
        let total = count + usize::from(has_receiver);
        let mut arguments = Vec::with_capacity(total);
        for _ in 0..total {
            arguments.push(cursor.pop()?);
        }
        arguments.reverse();
        Ok(arguments)
    }

    fn call(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: InvokeKind,
        index: PoolIndex,
    ) -> Result<(), LowerError> {
        let Link::Method(class, method) = self.link(index) else {
            return Err(cursor.malformed("a call that names no method"));
        };
        // The descriptor of the reference, not of the method found: they differ for the
        // signature-polymorphic methods of `MethodHandle`.
        let member = self.file.pool.member_ref(index)?;
        let parsed = descriptor::parse_method(member.descriptor)?;
        let has_receiver = kind != InvokeKind::Static;
        let arguments = Self::take_arguments(cursor, parsed.params.len(), has_receiver)?;
        let call = Operation::Call(Box::new(Call { kind, class, method, arguments }));
        match &parsed.ret {
            Some(value_type) => self.compute(cursor, call, Self::kind_of(value_type)),
            None => Self::perform(cursor, call),
        }
        Ok(())
    }

    fn dynamic_call(
        &mut self,
        cursor: &mut Cursor<'_>,
        index: PoolIndex,
    ) -> Result<(), LowerError> {
        let dynamic = self.file.pool.dynamic(index)?;
        let parsed = descriptor::parse_method(dynamic.descriptor)?;
        let arguments = Self::take_arguments(cursor, parsed.params.len(), false)?;
        let target = match self.link(index) {
            Link::Lambda(lambda) => DynamicTarget::Lambda(lambda),
            Link::None | Link::Class(_) | Link::Field(_) | Link::Method(..) => {
                dynamic_target(self.file, dynamic.bootstrap)
            }
        };
        let call = Operation::DynamicCall(Box::new(DynamicCall { target, arguments }));
        match &parsed.ret {
            Some(value_type) => self.compute(cursor, call, Self::kind_of(value_type)),
            None => Self::perform(cursor, call),
        }
        Ok(())
    }

    /// Fills in the inputs of the phis, removes those that are trivial or dead, and renames.
    fn finish(
        self,
        method: MethodId,
        graph: &FlowGraph,
        lowered: TypedVec<BlockId, LoweredBlock>,
    ) -> Body {
        let mut phis: TypedVec<BlockId, Vec<Phi>> = TypedVec::new();
        for (id, proto) in graph.blocks.iter_with_ids() {
            let inputs_of = |slot: FramePosition| {
                let incoming = proto.predecessors.iter().map(|(from, exceptional)| {
                    let block = &lowered[*from];
                    let frame = if *exceptional { &block.entry } else { &block.exit };
                    match slot {
                        FramePosition::Local(at) => frame.locals.get(at).copied().flatten(),
                        FramePosition::Stack(at) => frame.stack.get(at).map(|(value, _)| *value),
                    }
                });
                incoming.collect()
            };
            let of_block = lowered[id]
                .phis
                .iter()
                .map(|(result, slot)| Phi { result: *result, inputs: inputs_of(*slot) });
            phis.push(of_block.collect());
        }
        let same_as = remove_trivial_phis(&mut phis, self.definitions.len());
        let rename = |mut value: ValueId| {
            while same_as[value] != value {
                value = same_as[value];
            }
            value
        };
        let mut definitions = self.definitions;
        let mut blocks: TypedVec<BlockId, Block> = TypedVec::new();
        for ((id, proto), block) in graph.blocks.iter_with_ids().zip(lowered.into_items()) {
            let mut instructions = block.instructions;
            for instruction in &mut instructions {
                instruction.operation.rename_operands(rename);
            }
            let mut terminator = block.terminator;
            match &mut terminator {
                Terminator::Goto(_) | Terminator::Return(None) => {}
                Terminator::Branch { left, right, .. } => {
                    *left = rename(*left);
                    *right = right.map(rename);
                }
                Terminator::Switch { value, .. }
                | Terminator::Throw(value)
                | Terminator::Return(Some(value)) => *value = rename(*value),
            }
            let handlers = proto.handlers.iter().map(|(target, class)| HandlerEdge {
                target: *target,
                catches: class.as_deref().and_then(|name| self.program.class_named(name)),
            });
            blocks.push(Block {
                offset: proto.offset,
                end_offset: block.end_offset,
                phis: std::mem::take(&mut phis[id]),
                caught: block.caught,
                instructions,
                terminator,
                handlers: handlers.collect(),
                predecessors: proto.predecessors.iter().map(|(from, _)| *from).collect(),
            });
        }
        remove_dead_phis(&mut blocks, &mut definitions, rename);
        let mut names = FxHashMap::default();
        let mut named: Vec<_> = self.names.into_iter().collect();
        named.sort_unstable_by_key(|(value, _)| *value);
        for (value, name) in named {
            names.entry(rename(value)).or_insert(name);
        }
        Body { method, blocks, parameters: self.parameters, definitions, names }
    }
}

/// What a bootstrap method that makes no lambda is known to do.
fn dynamic_target(file: &ClassFile, bootstrap: u16) -> DynamicTarget {
    let name = file
        .bootstrap_methods
        .get(usize::from(bootstrap))
        .and_then(|bootstrap| file.pool.get(bootstrap.method).ok());
    let Some(PoolConstant::MethodHandle { member, .. }) = name else {
        return DynamicTarget::Unknown(Arc::from("a bootstrap method that cannot be read"));
    };
    match &**member.class {
        language::STRING_CONCAT_FACTORY => DynamicTarget::StringConcatenation,
        language::OBJECT_METHODS => DynamicTarget::RecordMethod,
        language::SWITCH_BOOTSTRAPS => DynamicTarget::PatternSwitch,
        class => {
            let label = format!("{}.{}", class.replace('/', "."), member.name);
            DynamicTarget::Unknown(Arc::from(label))
        }
    }
}

/// Finds the phis all of whose inputs are one value (or the phi itself) and removes them; returns
/// what each value is the same as.
fn remove_trivial_phis(
    phis: &mut TypedVec<BlockId, Vec<Phi>>,
    values: usize,
) -> TypedVec<ValueId, ValueId> {
    let mut same_as: TypedVec<ValueId, ValueId> = (0..values).map(ValueId::new).collect();
    loop {
        let mut changed = false;
        for block in phis.iter_mut() {
            block.retain(|phi| {
                let mut only = None;
                for input in phi.inputs.iter().flatten() {
                    let mut input = *input;
                    while same_as[input] != input {
                        input = same_as[input];
                    }
                    if input != phi.result && only.is_none_or(|only| only == input) {
                        only = Some(input);
                    } else if input != phi.result {
                        return true;
                    }
                }
                match only {
                    Some(only) => {
                        same_as[phi.result] = only;
                        changed = true;
                        false
                    }
                    None => true,
                }
            });
        }
        if !changed {
            return same_as;
        }
    }
}

/// Removes the phis that nothing reads but other such phis.
fn remove_dead_phis(
    blocks: &mut TypedVec<BlockId, Block>,
    definitions: &mut TypedVec<ValueId, Definition>,
    rename: impl Fn(ValueId) -> ValueId,
) {
    let mut live = TypedVec::filled(false, definitions.len());
    let mut todo = Vec::new();
    let mut inputs: FxHashMap<ValueId, (BlockId, usize)> = FxHashMap::default();
    for (id, block) in blocks.iter_with_ids() {
        for (position, phi) in block.phis.iter().enumerate() {
            inputs.insert(phi.result, (id, position));
        }
        for instruction in &block.instructions {
            instruction.operation.for_each_operand(|value| todo.push(value));
        }
        todo.extend(block.terminator.operands());
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut live[value], true) {
            continue;
        }
        if let Some((block, position)) = inputs.get(&value) {
            todo.extend(
                blocks[*block].phis[*position].inputs.iter().flatten().copied().map(&rename),
            );
        }
    }
    for block in blocks.iter_mut() {
        block.phis.retain(|phi| live[phi.result]);
        for phi in &mut block.phis {
            for input in phi.inputs.iter_mut().flatten() {
                *input = rename(*input);
            }
        }
    }
    let mut kept = TypedVec::filled(false, definitions.len());
    for phi in blocks.iter().flat_map(|block| &block.phis) {
        kept[phi.result] = true;
    }
    for value in kept.ids() {
        if matches!(definitions[value], Definition::Phi(_)) && !kept[value] {
            definitions[value] = Definition::Removed;
        }
    }
}

//! The structure of a method: its loops, where the sides of its branches meet, and how deep it nests there.
//!
//! Exceptions are left out when it is decided where sides meet: nearly every instruction may throw. A `throw`
//! ends a side, and so does a way out of a loop or of synchronized code from which the usual continuation of
//! the loop, the usual end of that code cannot be reached (a `return` in it, a jump to an enclosing loop):
//! otherwise one such statement would make everything behind it part of one side. The other side of such a
//! branch goes on until the iteration or the synchronized code ends. Loops are cut at the jump back to their header, which makes the
//! graph of what follows what free of cycles; the end of an iteration is a place of its own.
//!
//! *Nesting depth.* Every branch puts the place where its sides meet on a list of pending places, unless that
//! place is the last one there, put there by a branch of the same loop; reaching a place takes it off, with all behind it. The depth is the length of
//! the list. It counts the two branches of `a && b` once, which share the place and often one side.

use classes::bytecode::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Ending, Flow};
use crate::gap::GapReason;

/// A block, the end of an iteration of a loop, or the end of the method, in this order.
pub(crate) type Node = usize;

/// Pairs of blocks, the first of which can be followed by the second.
type Edges = FxHashSet<(usize, usize)>;

/// A loop with one entry.
pub(crate) struct Loop {
    pub(crate) header: usize,
    /// Which blocks belong to it.
    pub(crate) members: Vec<bool>,
    /// Where it goes on behind the loop.
    pub(crate) after: Node,
}

/// Synchronized code: what is between entering a monitor and leaving it.
struct MonitorRegion {
    /// Which blocks are executed with the monitor held, those that leave it included.
    members: Vec<bool>,
    /// The block that leaves it at its end.
    end: usize,
}

/// Where choices end that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingPlace {
    pub(crate) place: Node,
    /// The innermost loop around the branches. Those outside of it are still open in the next iteration.
    around: Option<usize>,
}

/// See the module.
pub(crate) struct Structure {
    block_count: usize,
    pub(crate) loops: Vec<Loop>,
    /// The loop that a block is the header of.
    loop_of_header: Vec<Option<usize>>,
    back_edges: Edges,
    /// Whether the method can go on from a block without throwing.
    goes_on: Vec<bool>,
    /// The place that every way from a node comes to first.
    immediate: Vec<Node>,
    /// Where the sides of the branch at the end of a block meet, unless that is [`Structure::immediate`]:
    /// for those that can leave a loop or synchronized code unusually.
    meeting: FxHashMap<usize, Node>,
    /// The innermost loop around a block.
    innermost: Vec<Option<usize>>,
    /// The pending places where a block begins.
    pending: Vec<Vec<PendingPlace>>,
    /// Places that are pending on one path to a block and not on another.
    unclear: FxHashSet<Node>,
    /// Blocks where pending places are dropped because paths meet that do not agree on them.
    pub(crate) forced: Vec<usize>,
}

const UNKNOWN: usize = usize::MAX;

impl Structure {
    pub(crate) fn of(flow: &Flow) -> Result<Structure, GapReason> {
        let block_count = flow.blocks.len();
        let order = flow.reverse_post_order();
        let (loops, back_edges) = find_loops(flow, &order)?;
        let mut loop_of_header = vec![None; block_count];
        for (number, found) in loops.iter().enumerate() {
            loop_of_header[found.header] = Some(number);
        }
        let mut structure = Structure {
            block_count,
            loops,
            loop_of_header,
            back_edges,
            goes_on: Vec::new(),
            immediate: Vec::new(),
            meeting: FxHashMap::default(),
            innermost: Vec::new(),
            pending: vec![Vec::new(); block_count],
            unclear: FxHashSet::default(),
            forced: Vec::new(),
        };
        structure.innermost =
            (0..block_count).map(|block| structure.loops_around(block).pop()).collect();
        structure.goes_on = structure.blocks_that_go_on(flow);
        structure.find_meeting_places(flow)?;
        structure.find_depths(flow, &order);
        Ok(structure)
    }

    /// The end of the method.
    pub(crate) fn end(&self) -> Node {
        self.block_count + self.loops.len()
    }

    /// The end of an iteration of a loop.
    pub(crate) fn iteration_end(&self, number: usize) -> Node {
        self.block_count + number
    }

    /// Where an exit of a block leads: a jump back to the header of its loop ends the iteration.
    pub(crate) fn target(&self, from: usize, to: usize) -> Node {
        match self.loop_of_header[to] {
            Some(number) if self.back_edges.contains(&(from, to)) => self.iteration_end(number),
            _ => to,
        }
    }

    /// The loop that begins with a block.
    pub(crate) fn loop_at(&self, block: usize) -> Option<usize> {
        self.loop_of_header[block]
    }

    /// Whether the node is a block.
    pub(crate) fn is_block(&self, node: Node) -> bool {
        node < self.block_count
    }

    /// The block at which a node is in the code: the header, for the end of an iteration.
    pub(crate) fn block_of(&self, node: Node) -> Option<usize> {
        if node < self.block_count {
            return Some(node);
        }
        self.loops.get(node - self.block_count).map(|found| found.header)
    }

    /// The loops that a block belongs to, the outermost first.
    pub(crate) fn loops_around(&self, block: usize) -> Vec<usize> {
        let mut around: Vec<usize> =
            (0..self.loops.len()).filter(|number| self.loops[*number].members[block]).collect();
        around.sort_by_key(|number| {
            let found = &self.loops[*number];
            std::cmp::Reverse(found.members.iter().filter(|member| **member).count())
        });
        around
    }

    /// Where the sides of the branch at the end of a block meet.
    pub(crate) fn join(&self, block: usize) -> Node {
        self.meeting.get(&block).copied().unwrap_or(self.immediate[block])
    }

    /// Whether it is clear everywhere if a choice that ends at this place is still open.
    pub(crate) fn has_clear_nesting(&self, join: Node) -> bool {
        !self.unclear.contains(&join)
    }

    /// The places where the choices end that are open where a block begins.
    pub(crate) fn pending_at(&self, block: usize) -> impl Iterator<Item = Node> + '_ {
        self.pending[block].iter().map(|pending| pending.place)
    }

    /// What the branch at the end of a block puts on the list of pending places.
    fn pending_of(&self, block: usize) -> PendingPlace {
        PendingPlace { place: self.join(block), around: self.innermost[block] }
    }

    /// Whether the method can go on from a block without throwing.
    pub(crate) fn goes_on(&self, block: usize) -> bool {
        self.goes_on[block]
    }

    /// Whether a jump leads back to the header of a loop.
    pub(crate) fn is_jump_back(&self, from: usize, to: usize) -> bool {
        self.back_edges.contains(&(from, to))
    }

    /// How many places are pending where a block begins.
    pub(crate) fn depth_at(&self, block: usize) -> u32 {
        self.pending[block].len() as u32
    }

    /// How many places are pending within the sides of the branch at the end of a block.
    pub(crate) fn depth_of_sides(&self, block: usize) -> u32 {
        let pending = &self.pending[block];
        let is_pending = pending.last() == Some(&self.pending_of(block));
        pending.len() as u32 + u32::from(!is_pending)
    }

    fn find_meeting_places(&mut self, flow: &Flow) -> Result<(), GapReason> {
        let end = self.end();
        let goes_on = &self.goes_on;
        let mut successors: Vec<Vec<Node>> = vec![Vec::new(); end + 1];
        for (block, found) in flow.blocks.iter().enumerate().filter(|(_, it)| it.is_reachable) {
            match found.ending {
                Ending::Return => successors[block].push(end),
                Ending::Throw => {
                    if !goes_on[block] {
                        successors[block].push(end);
                    }
                }
                Ending::Next | Ending::Decision => {
                    for exit in &found.exits {
                        if goes_on[exit.target] || !goes_on[block] {
                            successors[block].push(self.target(block, exit.target));
                        }
                    }
                }
            }
        }
        let mut unusual: Vec<usize> = Vec::new();
        let mut continuations = vec![None; self.loops.len()];
        for (number, found) in self.loops.iter().enumerate() {
            let mut exits: Vec<(usize, Node)> = Vec::new();
            for block in (0..self.block_count).filter(|block| found.members[*block]) {
                for target in successors[block].iter().copied() {
                    let is_inside = match self.block_of(target) {
                        Some(at) => found.members[at],
                        None => false,
                    };
                    if !is_inside {
                        exits.push((block, target));
                    }
                }
            }
            continuations[number] = self.continuation(flow, found, &exits, &successors);
            let again = self.iteration_end(number);
            match continuations[number] {
                Some(after) => {
                    successors[again].push(after);
                    let reaching = nodes_that_reach(after, &successors);
                    for (from, to) in exits {
                        // Code that belongs to the loop because of a handler may have no other way.
                        if to != after && !reaching[to] && successors[from].len() > 1 {
                            successors[from].retain(|target| *target != to);
                            unusual.push(from);
                        }
                    }
                }
                None => {
                    let mut targets: Vec<Node> = exits.iter().map(|(_, target)| *target).collect();
                    targets.sort_unstable();
                    targets.dedup();
                    if targets.is_empty() {
                        targets.push(end);
                    }
                    successors[again] = targets;
                }
            }
        }
        let regions = monitor_regions(flow);
        for region in &regions {
            let reaching = nodes_that_reach(region.end, &successors);
            for block in (0..self.block_count).filter(|it| region.members[*it] && reaching[*it]) {
                let before = successors[block].len();
                if block != region.end {
                    successors[block].retain(|target| reaching[*target]);
                }
                if successors[block].len() < before {
                    unusual.push(block);
                }
            }
        }
        self.immediate = post_dominators(&successors);
        self.find_unusual_meeting_places(&unusual, &regions);
        for number in 0..self.loops.len() {
            let again = self.immediate[self.iteration_end(number)];
            self.loops[number].after = continuations[number].unwrap_or(again);
        }
        let is_incomplete = flow
            .blocks
            .iter()
            .enumerate()
            .any(|(block, found)| found.is_reachable && self.immediate[block] == UNKNOWN);
        if is_incomplete { Err(GapReason::Irreducible) } else { Ok(()) }
    }

    /// A branch that can leave a loop or synchronized code unusually: its sides are compared until the
    /// iteration or that code ends, whichever is the inner one.
    fn find_unusual_meeting_places(&mut self, unusual: &[usize], regions: &[MonitorRegion]) {
        for block in unusual.iter().copied() {
            let innermost = self.innermost[block];
            let around = regions.iter().filter(|region| region.members[block]);
            let region =
                around.min_by_key(|it| it.members.iter().filter(|member| **member).count());
            let place = match (innermost, region) {
                (Some(number), Some(region)) => {
                    if region.members[self.loops[number].header] {
                        self.iteration_end(number)
                    } else {
                        region.end
                    }
                }
                (Some(number), None) => self.iteration_end(number),
                (None, Some(region)) => region.end,
                (None, None) => continue,
            };
            self.meeting.insert(block, place);
        }
    }

    /// The blocks from which the method can go on without throwing: to a `return`, or for ever.
    fn blocks_that_go_on(&self, flow: &Flow) -> Vec<bool> {
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.block_count];
        for (block, found) in flow.blocks.iter().enumerate().filter(|(_, it)| it.is_reachable) {
            found.exits.iter().for_each(|exit| predecessors[exit.target].push(block));
        }
        let mut goes_on = vec![false; self.block_count];
        let spread = |from: usize, goes_on: &mut Vec<bool>| {
            let mut todo = vec![from];
            while let Some(block) = todo.pop() {
                if !std::mem::replace(&mut goes_on[block], true) {
                    todo.extend(&predecessors[block]);
                }
            }
        };
        for (block, found) in flow.blocks.iter().enumerate() {
            if found.is_reachable && found.ending == Ending::Return {
                spread(block, &mut goes_on);
            }
        }
        for found in &self.loops {
            if !goes_on[found.header] {
                spread(found.header, &mut goes_on);
            }
        }
        goes_on
    }

    /// Where a loop usually goes on: the place that most ways out of it lead to, one that it is left to
    /// directly unless its header does not leave it; when each leads elsewhere the first place behind its
    /// code, which is where compilers put it, else where its header leaves it.
    fn continuation(
        &self,
        flow: &Flow,
        found: &Loop,
        exits: &[(usize, Node)],
        successors: &[Vec<Node>],
    ) -> Option<Node> {
        let mut targets: Vec<usize> = exits.iter().map(|(_, target)| *target).collect();
        targets.retain(|node| self.is_block(*node));
        targets.sort_unstable();
        targets.dedup();
        let mut reached = vec![0_usize; self.block_count];
        for target in targets.iter().copied() {
            let mut seen = vec![false; successors.len()];
            let mut todo = vec![target];
            while let Some(node) = todo.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    todo.extend(&successors[node]);
                    reached.get_mut(node).into_iter().for_each(|count| *count += 1);
                }
            }
        }
        let of_header = exits.iter().find(|(from, _)| *from == found.header);
        let candidates = (0..self.block_count)
            .filter(|it| !found.members[*it] && (of_header.is_none() || targets.contains(it)));
        // Blocks are in the order of the code; of several the first one is meant.
        let most = candidates.rev().max_by_key(|block| reached[*block])?;
        if reached[most] > 1 {
            return Some(most);
        }
        let last = (0..self.block_count).rev().find(|block| found.members[*block])?;
        let behind =
            targets.into_iter().find(|block| flow.blocks[*block].offset > flow.blocks[last].offset);
        behind.or_else(|| of_header.map(|(_, target)| *target))
    }

    fn find_depths(&mut self, flow: &Flow, order: &[usize]) {
        let mut position = vec![UNKNOWN; self.block_count];
        order.iter().enumerate().for_each(|(at, block)| position[*block] = at);
        let mut incoming: Vec<Option<Vec<PendingPlace>>> = vec![None; self.block_count];
        incoming[0] = Some(Vec::new());
        for block in order.iter().copied() {
            let here = incoming[block].take().unwrap_or_default();
            for handler in flow.blocks[block].guarded_by.iter().copied() {
                if position[handler] > position[block] {
                    // What was open in the guarded code ends with the exception.
                    let shared = match &incoming[handler] {
                        Some(known) => common_prefix(known, &here),
                        None => here.len(),
                    };
                    incoming[handler] = Some(here[..shared].to_vec());
                }
            }
            let mut inside = here.clone();
            if flow.blocks[block].ending == Ending::Decision {
                let pending = self.pending_of(block);
                if inside.last() != Some(&pending) {
                    inside.push(pending);
                }
            }
            self.pending[block] = here;
            for exit in &flow.blocks[block].exits {
                let to = exit.target;
                if position[to] <= position[block] {
                    continue;
                }
                let reached = inside.iter().position(|pending| pending.place == to);
                let arriving = &inside[..reached.unwrap_or(inside.len())];
                let Some(known) = &incoming[to] else {
                    incoming[to] = Some(arriving.to_vec());
                    continue;
                };
                let shared = common_prefix(known, arriving);
                let longer = if known.len() > arriving.len() { known } else { arriving };
                let more: Vec<Node> = longer[shared..].iter().map(|it| it.place).collect();
                if shared == known.len().min(arriving.len())
                    && more.iter().all(|place| self.comes_after(*place, to))
                {
                    // All of these will be reached. That a path without the choices comes here too, as from
                    // a handler, does no harm: there is nothing to end.
                    incoming[to] = Some(longer.to_vec());
                    continue;
                }
                let other = if known.len() > arriving.len() { arriving } else { known };
                let other: Vec<Node> = other[shared..].iter().map(|it| it.place).collect();
                for place in more.into_iter().chain(other) {
                    if self.comes_after(place, to) {
                        self.unclear.insert(place);
                    }
                }
                self.forced.push(to);
                incoming[to] = Some(arriving[..shared].to_vec());
            }
        }
        self.forced.sort_unstable();
        self.forced.dedup();
    }

    /// Whether every way from a block to the end comes to a place.
    fn comes_after(&self, place: Node, block: usize) -> bool {
        let mut at = block;
        while at != self.end() {
            at = self.immediate[at];
            if at == place {
                return true;
            }
            if at == UNKNOWN {
                return false;
            }
        }
        false
    }
}

/// The synchronized code of a method, as far as its monitors nest the same way on all paths.
fn monitor_regions(flow: &Flow) -> Vec<MonitorRegion> {
    let last = |block: usize| &flow.instructions[flow.blocks[block].last].1;
    let first = |block: usize| &flow.instructions[flow.blocks[block].first].1;
    let enters = |block: usize| matches!(last(block), Instruction::MonitorEnter);
    if !(0..flow.blocks.len()).any(enters) {
        return Vec::new();
    }
    // The monitors that are held where a block begins, each by the block that enters it. What a handler
    // finds is left to the code that it guards.
    let mut held: Vec<Option<Vec<usize>>> = vec![None; flow.blocks.len()];
    let mut todo = vec![0];
    todo.extend((0..flow.blocks.len()).filter(|block| flow.blocks[*block].is_handler));
    todo.iter().for_each(|block| held[*block] = Some(Vec::new()));
    while let Some(block) = todo.pop() {
        let mut now = held[block].clone().unwrap_or_default();
        if matches!(first(block), Instruction::MonitorExit) {
            now.pop();
        }
        if enters(block) {
            now.push(block);
        }
        for exit in &flow.blocks[block].exits {
            if held[exit.target].is_none() {
                held[exit.target] = Some(now.clone());
                todo.push(exit.target);
            }
        }
    }
    let mut regions = Vec::new();
    for enter in (0..flow.blocks.len()).filter(|block| enters(*block)) {
        let holds = |block: usize| held[block].as_ref().is_some_and(|it| it.contains(&enter));
        let leaves = |block: &usize| {
            matches!(first(*block), Instruction::MonitorExit)
                && held[*block].as_ref().and_then(|it| it.last()) == Some(&enter)
        };
        // Compilers put the usual end last.
        if let Some(end) = (0..flow.blocks.len()).rev().find(leaves) {
            let members = (0..flow.blocks.len()).map(holds).collect();
            regions.push(MonitorRegion { members, end });
        }
    }
    regions
}

fn common_prefix(one: &[PendingPlace], other: &[PendingPlace]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn nodes_that_reach(goal: Node, successors: &[Vec<Node>]) -> Vec<bool> {
    let mut predecessors: Vec<Vec<Node>> = vec![Vec::new(); successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        targets.iter().for_each(|target| predecessors[*target].push(node));
    }
    let mut reaching = vec![false; successors.len()];
    let mut todo = vec![goal];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut reaching[node], true) {
            todo.extend(&predecessors[node]);
        }
    }
    reaching
}

/// The loops, and the jumps back to their headers.
fn find_loops(flow: &Flow, order: &[usize]) -> Result<(Vec<Loop>, Edges), GapReason> {
    let count = flow.blocks.len();
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for block in order.iter().copied() {
        flow.successors(block).for_each(|target| predecessors[target].push(block));
    }
    let mut position = vec![UNKNOWN; count];
    order.iter().enumerate().for_each(|(at, block)| position[*block] = at);
    let dominators = immediate_dominators(order, &position, &predecessors);
    let dominates = |above: usize, below: usize| {
        let mut at = below;
        while position[at] > position[above] {
            at = dominators[at];
        }
        at == above
    };
    let mut back_edges = Edges::default();
    let mut headers: Vec<usize> = Vec::new();
    for block in order.iter().copied() {
        for exit in &flow.blocks[block].exits {
            if position[exit.target] > position[block] {
                continue;
            }
            if !dominates(exit.target, block) {
                return Err(GapReason::Irreducible);
            }
            back_edges.insert((block, exit.target));
            headers.push(exit.target);
        }
    }
    headers.sort_unstable();
    headers.dedup();
    let mut loops = Vec::with_capacity(headers.len());
    for header in headers {
        let mut members = vec![false; count];
        members[header] = true;
        let mut todo: Vec<usize> = Vec::new();
        for (from, _) in back_edges.iter().filter(|(_, to)| *to == header) {
            todo.push(*from);
        }
        while let Some(block) = todo.pop() {
            if !std::mem::replace(&mut members[block], true) {
                todo.extend(&predecessors[block]);
            }
        }
        loops.push(Loop { header, members, after: UNKNOWN });
    }
    Ok((loops, back_edges))
}

/// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm".
fn immediate_dominators(
    order: &[usize],
    position: &[usize],
    predecessors: &[Vec<usize>],
) -> Vec<usize> {
    let mut immediate = vec![UNKNOWN; position.len()];
    let Some(root) = order.first().copied() else { return immediate };
    immediate[root] = root;
    let mut changed = true;
    while changed {
        changed = false;
        for node in order[1..].iter().copied() {
            let mut new = UNKNOWN;
            for before in &predecessors[node] {
                if immediate[*before] == UNKNOWN {
                    continue;
                }
                new = if new == UNKNOWN {
                    *before
                } else {
                    let (mut one, mut other) = (new, *before);
                    while one != other {
                        while position[one] > position[other] {
                            one = immediate[one];
                        }
                        while position[other] > position[one] {
                            other = immediate[other];
                        }
                    }
                    one
                };
            }
            if immediate[node] != new {
                immediate[node] = new;
                changed = true;
            }
        }
    }
    immediate
}

/// The dominators of the reversed graph, whose root is its last node.
fn post_dominators(successors: &[Vec<Node>]) -> Vec<Node> {
    let mut predecessors: Vec<Vec<Node>> = vec![Vec::new(); successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        targets.iter().for_each(|target| predecessors[*target].push(node));
    }
    let end = successors.len() - 1;
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    seen[end] = true;
    let mut open = vec![(end, 0)];
    while let Some((node, next)) = open.last_mut() {
        match predecessors[*node].get(*next) {
            Some(before) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*before], true) {
                    open.push((*before, 0));
                }
            }
            None => {
                order.push(*node);
                open.pop();
            }
        }
    }
    order.reverse();
    let mut position = vec![UNKNOWN; successors.len()];
    order.iter().enumerate().for_each(|(at, node)| position[*node] = at);
    immediate_dominators(&order, &position, successors)
}

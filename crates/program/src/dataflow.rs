//! A forward data-flow engine over one body.
//!
//! An analysis says what its facts are, how they join, and what each instruction does to them; the
//! engine finds the least solution, visiting blocks in reverse post-order until nothing changes.
//!
//! Exceptions: a handler receives the join of the states *before* every instruction of the block
//! that may throw. An instruction that throws has had no effect, unless the analysis says otherwise
//! for calls. This is what keeps a monitor that is being released in a handler's own range held
//! until the release has happened.

use std::collections::BTreeSet;

use crate::ids::{BlockId, Id, TypedVec};
use crate::ir::{Block, Body, Instruction, Terminator};

/// How control passes from a block to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The comparison at the end of the block held.
    Taken,
    /// The comparison at the end of the block did not hold.
    NotTaken,
    /// Without a comparison: a jump, or a case of a switch.
    Jump,
    /// An exception was thrown inside the block.
    Exception,
}

/// The transition from one block to the next.
#[derive(Clone, Copy, Debug)]
pub struct BlockTransition<'a> {
    /// The block that control leaves.
    pub block: &'a Block,
    /// Its id.
    pub from: BlockId,
    /// The block that control enters.
    pub to: BlockId,
    /// How.
    pub edge: Edge,
}

/// A forward analysis. The methods that see code take `&mut self`, so that an analysis can record
/// what it meets; since states only grow, what was recorded on the way holds at the end.
pub trait Forward {
    /// The facts at one point; joining must reach a bound in finitely many steps.
    type State: Clone;

    /// The facts at the start of the method.
    fn entry(&mut self, body: &Body) -> Self::State;

    /// Joins the facts of another path into `into`; says whether they grew.
    fn join(&mut self, into: &mut Self::State, from: &Self::State) -> bool;

    /// The effect of entering a block: its phis and its caught exception are defined anew.
    fn enter_block(&mut self, state: &mut Self::State, block: &Block);

    /// The effect of one instruction.
    fn instruction(&mut self, state: &mut Self::State, instruction: &Instruction);

    /// The facts when an instruction throws, given those before it.
    fn thrown(&mut self, state: &Self::State, _instruction: &Instruction) -> Self::State {
        state.clone()
    }

    /// What is learnt from passing from a block to the next, and which values its phis get.
    fn leave_by(&mut self, _state: &mut Self::State, _passage: &BlockTransition<'_>) {}
}

/// Solves an analysis and returns the facts at the start of each block, before
/// [`Forward::enter_block`]; `None` where control never gets.
pub fn solve<A: Forward>(body: &Body, analysis: &mut A) -> TypedVec<BlockId, Option<A::State>> {
    let mut states: TypedVec<BlockId, Option<A::State>> =
        body.blocks.iter().map(|_| None).collect();
    if body.blocks.is_empty() {
        return states;
    }
    let start = BlockId::new(0);
    states[start] = Some(analysis.entry(body));
    let mut todo = BTreeSet::from([start]);
    while let Some(id) = todo.pop_first() {
        let block = &body.blocks[id];
        let Some(mut state) = states[id].clone() else { continue };
        let mut flow = |analysis: &mut A, mut state: A::State, to: BlockId, edge: Edge| {
            analysis.leave_by(&mut state, &BlockTransition { block, from: id, to, edge });
            let grew = match &mut states[to] {
                Some(known) => analysis.join(known, &state),
                unset => {
                    *unset = Some(state);
                    true
                }
            };
            if grew {
                todo.insert(to);
            }
        };
        analysis.enter_block(&mut state, block);
        let mut thrown: Option<A::State> = None;
        let mut throws = |analysis: &mut A, state: A::State| match &mut thrown {
            Some(known) => {
                analysis.join(known, &state);
            }
            unset => *unset = Some(state),
        };
        for instruction in &block.instructions {
            if !block.handlers.is_empty() && instruction.operation.may_throw() {
                let state = analysis.thrown(&state, instruction);
                throws(analysis, state);
            }
            analysis.instruction(&mut state, instruction);
        }
        if !block.handlers.is_empty() && matches!(block.terminator, Terminator::Throw(_)) {
            throws(analysis, state.clone());
        }
        if let Some(thrown) = thrown {
            for handler in &block.handlers {
                flow(analysis, thrown.clone(), handler.target, Edge::Exception);
            }
        }
        match &block.terminator {
            Terminator::Branch { then, otherwise, .. } => {
                flow(analysis, state.clone(), *then, Edge::Taken);
                flow(analysis, state, *otherwise, Edge::NotTaken);
            }
            terminator => {
                for to in terminator.successors() {
                    flow(analysis, state.clone(), to, Edge::Jump);
                }
            }
        }
    }
    states
}

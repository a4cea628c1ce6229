//! The data-flow engine against following every path.
//!
//! Random control flow with handlers; facts are bits that instructions and edges set and clear. Such an
//! analysis is distributive, so the least solution is exactly what the paths together say: the union
//! of their states for facts that may hold, the intersection for facts that must.

use std::collections::BTreeSet;

use classes::bytecode::{Against, Condition, Literal};
use program::dataflow::{BlockTransition, Edge, Forward, solve};
use program::ids::{Id, TypedVec};
use program::ir::{
    Block, Body, Constant, Definition, HandlerEdge, Instruction, Operation, Terminator,
};
use program::{BlockId, FieldId, MethodId, ValueId};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

/// An instruction of the random programs.
#[derive(Clone, Debug)]
struct Step {
    may_throw: bool,
    sets: u8,
    clears: u8,
    /// What an exception leaves behind, beside the facts before the instruction.
    sets_when_thrown: u8,
}

#[derive(Clone, Debug)]
enum End {
    Goto(usize),
    Branch(usize, usize),
    Switch(usize, Vec<usize>),
    Return,
    Throw,
}

#[derive(Clone, Debug)]
struct RandomBlock {
    steps: Vec<Step>,
    end: End,
    handlers: Vec<usize>,
    /// What entering the block sets and clears.
    entering: (u8, u8),
    /// What the edges out of it set, by kind.
    leaving: [u8; 4],
}

fn random_blocks() -> impl Strategy<Value = Vec<RandomBlock>> {
    let step = (any::<bool>(), sparse(), sparse(), sparse()).prop_map(
        |(may_throw, sets, clears, sets_when_thrown)| Step {
            may_throw,
            sets,
            clears,
            sets_when_thrown,
        },
    );
    // Targets are any number, taken modulo the number of blocks.
    let target = 0_usize..64;
    let end = prop_oneof![
        3 => target.clone().prop_map(End::Goto),
        4 => (target.clone(), target.clone()).prop_map(|(one, other)| End::Branch(one, other)),
        1 => (target.clone(), prop::collection::vec(target.clone(), 0..4))
            .prop_map(|(default, cases)| End::Switch(default, cases)),
        1 => Just(End::Return),
        1 => Just(End::Throw),
    ];
    let block = (
        prop::collection::vec(step, 0..4),
        end,
        prop::collection::vec(target, 0..3),
        (sparse(), sparse()),
        [sparse(), sparse(), sparse(), sparse()],
    )
        .prop_map(|(steps, end, handlers, entering, leaving)| RandomBlock {
            steps,
            end,
            handlers,
            entering,
            leaving,
        });
    prop::collection::vec(block, 1..9)
}

/// Few bits, so that facts do not all hold everywhere at once.
fn sparse() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0_u8), 2 => (0_u8..8).prop_map(|bit| 1 << bit)]
}

/// The body of a random program. Offsets tell the analysis which block and which step it sees.
fn body_of(random: &[RandomBlock]) -> Body {
    let at = |target: &usize| BlockId::new(target % random.len());
    let mut definitions = TypedVec::new();
    let value: ValueId = definitions.push(Definition::Parameter(0));
    let mut blocks: TypedVec<BlockId, Block> = TypedVec::new();
    for (number, block) in random.iter().enumerate() {
        let offset = offset_of(number, 0);
        let instructions: Vec<Instruction> = block
            .steps
            .iter()
            .enumerate()
            .map(|(position, step)| {
                let operation = if step.may_throw {
                    Operation::PutStatic { field: FieldId::new(0), value }
                } else {
                    Operation::Constant(Constant::Literal(Literal::Null))
                };
                let result = (!step.may_throw).then(|| {
                    definitions.push(Definition::Instruction(BlockId::new(number), position as u32))
                });
                Instruction { offset: offset_of(number, position), result, operation }
            })
            .collect();
        let terminator = match &block.end {
            End::Goto(to) => Terminator::Goto(at(to)),
            End::Branch(then, otherwise) => Terminator::Branch {
                condition: Condition::Eq,
                against: Against::Zero,
                left: value,
                right: None,
                then: at(then),
                otherwise: at(otherwise),
            },
            End::Switch(default, cases) => Terminator::Switch {
                value,
                cases: cases.iter().enumerate().map(|(case, to)| (case as i32, at(to))).collect(),
                default: at(default),
            },
            End::Return => Terminator::Return(None),
            End::Throw => Terminator::Throw(value),
        };
        let handlers = block
            .handlers
            .iter()
            .map(|target| HandlerEdge { target: at(target), catches: None })
            .collect();
        blocks.push(Block {
            offset,
            end_offset: offset_of(number, block.steps.len()),
            phis: Vec::new(),
            caught: None,
            instructions,
            terminator,
            handlers,
            predecessors: Vec::new(),
        });
    }
    Body {
        method: MethodId::new(0),
        blocks,
        parameters: vec![value],
        definitions,
        names: FxHashMap::default(),
    }
}

fn offset_of(block: usize, step: usize) -> u32 {
    (block * 100 + step) as u32
}

/// What happens to the bits along the way; both the engine and the walk over paths ask here.
struct Effects<'a> {
    random: &'a [RandomBlock],
}

impl Effects<'_> {
    fn step(&self, offset: u32) -> &Step {
        &self.random[offset as usize / 100].steps[offset as usize % 100]
    }

    fn enter(&self, block: usize, state: u8) -> u8 {
        let (sets, clears) = self.random[block].entering;
        (state & !clears) | sets
    }

    fn leave(&self, block: usize, edge: Edge, state: u8) -> u8 {
        let sets = self.random[block].leaving;
        state
            | match edge {
                Edge::Taken => sets[0],
                Edge::NotTaken => sets[1],
                Edge::Jump => sets[2],
                Edge::Exception => sets[3],
            }
    }
}

/// Facts that may hold, or must hold.
struct Bits<'a> {
    effects: Effects<'a>,
    must: bool,
}

impl Forward for Bits<'_> {
    type State = u8;

    fn entry(&mut self, _body: &Body) -> u8 {
        0b101
    }

    fn join(&mut self, into: &mut u8, from: &u8) -> bool {
        let joined = if self.must { *into & from } else { *into | from };
        std::mem::replace(into, joined) != joined
    }

    fn enter_block(&mut self, state: &mut u8, block: &Block) {
        *state = self.effects.enter(block.offset as usize / 100, *state);
    }

    fn instruction(&mut self, state: &mut u8, instruction: &Instruction) {
        let step = self.effects.step(instruction.offset);
        *state = (*state & !step.clears) | step.sets;
    }

    fn thrown(&mut self, state: &u8, instruction: &Instruction) -> u8 {
        *state | self.effects.step(instruction.offset).sets_when_thrown
    }

    fn leave_by(&mut self, state: &mut u8, transition: &BlockTransition<'_>) {
        assert!(
            transition.block.terminator.successors().any(|to| to == transition.to)
                || transition.block.handlers.iter().any(|handler| handler.target == transition.to)
        );
        *state =
            self.effects.leave(transition.block.offset as usize / 100, transition.edge, *state);
    }
}

/// Every state in which some path arrives at each block. There are finitely many states, so following
/// each pair of block and state once follows all paths.
fn states_by_paths(random: &[RandomBlock]) -> Vec<BTreeSet<u8>> {
    let effects = Effects { random };
    let mut arrived: Vec<BTreeSet<u8>> = vec![BTreeSet::new(); random.len()];
    let mut todo = vec![(0, 0b101)];
    while let Some((at, state)) = todo.pop() {
        if !arrived[at].insert(state) {
            continue;
        }
        let block = &random[at];
        let mut go = |target: usize, edge: Edge, state: u8| {
            todo.push((target % random.len(), effects.leave(at, edge, state)));
        };
        let mut state = effects.enter(at, state);
        for step in &block.steps {
            if step.may_throw {
                for handler in &block.handlers {
                    go(*handler, Edge::Exception, state | step.sets_when_thrown);
                }
            }
            state = (state & !step.clears) | step.sets;
        }
        match &block.end {
            End::Goto(to) => go(*to, Edge::Jump, state),
            End::Branch(then, otherwise) => {
                go(*then, Edge::Taken, state);
                go(*otherwise, Edge::NotTaken, state);
            }
            End::Switch(default, cases) => {
                for to in std::iter::once(default).chain(cases) {
                    go(*to, Edge::Jump, state);
                }
            }
            End::Return => {}
            End::Throw => {
                for handler in &block.handlers {
                    go(*handler, Edge::Exception, state);
                }
            }
        }
    }
    arrived
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_solution_is_what_all_paths_say(random in random_blocks()) {
        let body = body_of(&random);
        let arrived = states_by_paths(&random);
        for must in [false, true] {
            let mut analysis = Bits { effects: Effects { random: &random }, must };
            let solved = solve(&body, &mut analysis);
            for (id, state) in solved.iter_with_ids() {
                let paths = arrived[id.index()].iter().copied();
                let expected = paths.reduce(|one, other| if must { one & other } else { one | other });
                prop_assert_eq!(*state, expected, "must: {}, {}", must, id);
            }
        }
    }
}

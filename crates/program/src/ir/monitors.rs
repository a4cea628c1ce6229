//! Which monitors are held where: `monitorenter` and `monitorexit` matched into regions.
//!
//! Compilers duplicate the exit of a block: once for every way out, and once more in a handler that
//! covers even itself. A data flow over the stack of entered monitors sorts this out. An exit
//! belongs to the innermost entry of the same object; where two paths with different monitors meet,
//! only those held on both count, and the region is marked as unstructured.

use crate::dataflow::{self, Forward};
use crate::ids::{BlockId, TypedVec, ValueId};
use crate::ir::{Block, Body, Instruction, Operation};

/// A monitor that is held: the object, and the offset of the instruction that entered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMonitor {
    /// The object whose monitor it is.
    pub object: ValueId,
    /// Bytecode offset of the `monitorenter`.
    pub entered_at: u32,
}

/// The monitors a body enters by itself; the one of a synchronized method is not among them.
#[derive(Clone, Debug)]
pub struct MonitorRegions {
    /// Monitors held at the start of each block, outermost first; `None` where control never gets.
    pub held_at_start: TypedVec<BlockId, Option<Vec<HeldMonitor>>>,
    /// Offset of the first place where the nesting does not work out, if any.
    pub unstructured_at: Option<u32>,
}

impl MonitorRegions {
    /// The monitors held just before an instruction of a block.
    #[must_use]
    pub fn held_before(&self, body: &Body, block: BlockId, position: usize) -> Vec<HeldMonitor> {
        let mut held = self.held_at_start[block].clone().unwrap_or_default();
        let mut matching = Matching { unstructured_at: None, offset: 0 };
        for instruction in &body.blocks[block].instructions[..position] {
            matching.instruction(&mut held, instruction);
        }
        held
    }
}

/// Matches the monitor instructions of a body; cheap when there are none.
#[must_use]
pub fn monitor_regions(body: &Body) -> MonitorRegions {
    let mut matching = Matching { unstructured_at: None, offset: 0 };
    let held_at_start = dataflow::solve(body, &mut matching);
    MonitorRegions { held_at_start, unstructured_at: matching.unstructured_at }
}

struct Matching {
    unstructured_at: Option<u32>,
    /// Offset of the block that is being entered, to place what goes wrong.
    offset: u32,
}

impl Matching {
    fn unstructured(&mut self, offset: u32) {
        self.unstructured_at = Some(self.unstructured_at.map_or(offset, |at| at.min(offset)));
    }
}

impl Forward for Matching {
    type State = Vec<HeldMonitor>;

    fn entry(&mut self, _body: &Body) -> Self::State {
        Vec::new()
    }

    fn join(&mut self, into: &mut Self::State, from: &Self::State) -> bool {
        if into == from {
            return false;
        }
        let before = into.len();
        into.retain(|held| from.contains(held));
        if into.len() != before || into.len() != from.len() {
            self.unstructured(self.offset);
        }
        into.len() != before
    }

    fn enter_block(&mut self, _state: &mut Self::State, block: &Block) {
        self.offset = block.offset;
    }

    fn instruction(&mut self, state: &mut Self::State, instruction: &Instruction) {
        match instruction.operation {
            Operation::MonitorEnter(object) => {
                state.push(HeldMonitor { object, entered_at: instruction.offset });
            }
            Operation::MonitorExit(object) => {
                match state.iter().rposition(|held| held.object == object) {
                    Some(position) => {
                        state.remove(position);
                    }
                    None => {
                        state.pop();
                        self.unstructured(instruction.offset);
                    }
                }
            }
            _ => {}
        }
    }
}

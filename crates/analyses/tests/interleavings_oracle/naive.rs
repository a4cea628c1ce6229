//! A second opinion on the explorer: every interleaving on its own, judged by comparing every pair of
//! accesses.
//!
//! Nothing is taken for the same that was reached in different ways, and no clocks are kept; only programs
//! with few interleavings can be judged like this.

use std::collections::BTreeSet;

use program::{MethodId, Program};

use crate::explore::TooManyStates;
use crate::machine::{Access, Call, CodeLocation, Machine, State, Step, is_meant_to_be_atomic};

/// An access of one interleaving.
#[derive(Clone)]
struct Event {
    thread: usize,
    access: Access,
    /// Which step of the interleaving it is, all kinds of them counted.
    number: usize,
    /// The calls that were open, outermost first.
    calls: Vec<Call>,
}

/// What the interleavings of a program show.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Accesses of two threads to one variable, one of them a write, side by side. It is a race if they are
    /// so in both orders: a thread may begin right after what came before its start.
    side_by_side: BTreeSet<[(usize, CodeLocation); 2]>,
    /// The methods whose calls are not atomic.
    pub(crate) not_atomic: BTreeSet<MethodId>,
    /// Whether some interleaving ends although a thread has not.
    pub(crate) is_stuck: bool,
}

impl Shown {
    /// The places of accesses that race.
    pub(crate) fn races(&self) -> impl Iterator<Item = [CodeLocation; 2]> {
        let pairs = self.side_by_side.iter();
        pairs
            .filter(|[first, second]| self.side_by_side.contains(&[*second, *first]))
            .map(|pair| pair.map(|(_, place)| place))
    }
}

/// Goes through all interleavings, as long as there are not too many.
pub(crate) fn judge(
    program: &Program,
    main: MethodId,
    most: usize,
) -> Result<Shown, TooManyStates> {
    let machine = Machine { program };
    let mut shown = Shown::default();
    let mut left = most;
    let mut trace = Vec::new();
    walk(&machine, &machine.start(main), 0, &mut trace, &mut shown, &mut left)?;
    Ok(shown)
}

fn walk(
    machine: &Machine<'_>,
    state: &State,
    number: usize,
    trace: &mut Vec<Event>,
    shown: &mut Shown,
    left: &mut usize,
) -> Result<(), TooManyStates> {
    let mut is_over = true;
    for thread in 0..state.thread_count() {
        let step = machine.next_step(state, thread);
        if !state.is_enabled(thread, step) {
            continue;
        }
        is_over = false;
        let length = trace.len();
        if let Step::Access(access) = step {
            trace.push(Event { thread, access, number, calls: state.calls(thread) });
        }
        for next in machine.perform(state, thread).states {
            walk(machine, &next, number + 1, trace, shown, left)?;
        }
        trace.truncate(length);
    }
    if is_over {
        *left = left.checked_sub(1).ok_or(TooManyStates)?;
        shown.is_stuck |= (0..state.thread_count()).any(|thread| !state.is_finished(thread));
        judge_trace(machine.program, trace, shown);
    }
    Ok(())
}

fn judge_trace(program: &Program, trace: &[Event], shown: &mut Shown) {
    let conflict = |one: &Event, other: &Event| {
        one.access.variable == other.access.variable
            && (one.access.is_write || other.access.is_write)
    };
    // What comes before what: the order of each thread, and conflicts. Ways through several accesses follow.
    let count = trace.len();
    let mut before = vec![vec![false; count]; count];
    for last in 0..count {
        for first in (0..last).rev() {
            let (one, other) = (&trace[first], &trace[last]);
            before[first][last] = one.thread == other.thread
                || conflict(one, other)
                || (first + 1..last).any(|middle| before[first][middle] && before[middle][last]);
        }
    }
    let is_split = |first: usize, last: usize| {
        trace[first].thread == trace[last].thread
            && (first + 1..last).any(|middle| {
                let is_other = trace[middle].thread != trace[first].thread;
                is_other && before[first][middle] && before[middle][last]
            })
    };
    for first in 0..count {
        for last in first + 1..count {
            let (one, other) = (&trace[first], &trace[last]);
            if one.thread != other.thread && other.number == one.number + 1 && conflict(one, other)
            {
                let pair = [one, other].map(|event| (event.thread, event.access.place));
                shown.side_by_side.insert(pair);
            }
            if !is_split(first, last) {
                continue;
            }
            let is_tightest = !(first..=last).any(|start| {
                (start..=last).any(|end| {
                    (start, end) != (first, last)
                        && trace[start].thread == one.thread
                        && is_split(start, end)
                })
            });
            if is_tightest {
                let calls = one.calls.iter().zip(&other.calls);
                let common = calls.take_while(|(one, other)| one == other);
                let methods = common.map(|(call, _)| call.method);
                let atomic = methods.filter(|method| is_meant_to_be_atomic(program, *method));
                shown.not_atomic.extend(atomic.last());
            }
        }
    }
}

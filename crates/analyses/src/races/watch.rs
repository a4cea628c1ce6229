//! The accesses that could not be proven safe: those that the run-time monitors have to watch.
//!
//! Locks do not make an access uninteresting: it cannot race, but it can be part of a violation of atomicity. So the
//! list has all accesses to variables of which two can alternate, one of them writing, unless all are ordered by
//! creation, start, end, or belong to one thread; for checkers that ask for locks, only if they belong to one thread. A variable is listed whole or not at all: monitors that see half of
//! what happens to a variable say wrong things about the other half.

use std::collections::BTreeSet;

use classes::access;
use program::ir::{Instruction, Operation};
use program::{FieldId, MethodId, Program};

use super::conflict::AcceptedReasons;
use super::variable::{RaceFacts, Variable};
use crate::heap::{ObjectId, Place};
use crate::{Context, WatchListReader};

/// The places to watch, sorted. `unsafely_published` are the objects whose creation is not ordered before their use.
pub(super) fn places(
    race_facts: &RaceFacts<'_>,
    variables: &[Variable],
    unsafely_published: &BTreeSet<ObjectId>,
    reader: WatchListReader,
) -> Vec<Place> {
    let order_counts = match reader {
        WatchListReader::Order => true,
        WatchListReader::Locksets => false,
    };
    let program = race_facts.execution.context.program;
    let mut places: BTreeSet<Place> = BTreeSet::new();
    for variable in variables {
        let accepted = AcceptedReasons {
            new: order_counts && !unsafely_published.contains(&variable.object),
            constructors: false,
            start_and_end: order_counts,
            synchronisation: false,
        };
        let conflicts = race_facts.conflicts(variable, accepted);
        if conflicts.was_cut || !conflicts.pairs.is_empty() {
            places.extend(variable.events.iter().map(|event| event.place));
        }
    }
    // What threads may get to and the execution does not go into touches nothing that threads share; of other methods
    // nothing is known.
    let unfollowed = Unfollowed::of(race_facts);
    let is_seen = |method: MethodId| {
        race_facts.execution.heap.is_reached[method]
            && race_facts.execution.lost_context.binary_search(&method).is_err()
    };
    for method in program.methods_with_bodies().filter(|method| program.is_application(*method)) {
        let Some(body) = program.body(method) else { continue };
        let wanted = body.instructions().filter(|instruction| match is_seen(method) {
            true => orders_threads(program, instruction) || unfollowed.touch(instruction),
            false => touched_field(instruction).is_some() || touches_array(instruction),
        });
        places.extend(wanted.map(|instruction| Place { method, offset: instruction.offset }));
    }
    places.retain(|place| program.is_application(place.method));
    places.into_iter().collect()
}

/// What methods touch that are called where so many could be meant that the heap does not follow what the arguments
/// lead to: it does not know who shares that.
#[derive(Default)]
struct Unfollowed {
    fields: BTreeSet<FieldId>,
    has_arrays: bool,
}

impl Unfollowed {
    fn of(race_facts: &RaceFacts<'_>) -> Unfollowed {
        let heap = race_facts.execution.heap;
        let Context { program, graph, .. } = *race_facts.execution.context;
        let mut open: Vec<MethodId> = Vec::new();
        for method in program.methods_with_bodies().filter(|method| heap.is_reached[*method]) {
            let sites = graph.sites(method).iter().map(|site| graph.targets(method, site.offset));
            let wide = sites.filter(|targets| targets.len() > heap.most_followed_targets);
            open.extend(wide.flatten().map(|target| target.method));
        }
        let mut seen: BTreeSet<MethodId> = BTreeSet::new();
        let mut unfollowed = Unfollowed::default();
        while let Some(method) = open.pop() {
            if !seen.insert(method) {
                continue;
            }
            open.extend(graph.callees(method));
            for instruction in program.body(method).into_iter().flat_map(|body| body.instructions())
            {
                unfollowed.fields.extend(touched_field(instruction));
                unfollowed.has_arrays |= touches_array(instruction);
            }
        }
        unfollowed
    }

    /// Whether an instruction touches the same, wherever it is: a variable is listed whole or not at all.
    fn touch(&self, instruction: &Instruction) -> bool {
        touched_field(instruction).is_some_and(|field| self.fields.contains(&field))
            || (self.has_arrays && touches_array(instruction))
    }
}

fn touched_field(instruction: &Instruction) -> Option<FieldId> {
    match &instruction.operation {
        Operation::GetField { field, .. }
        | Operation::PutField { field, .. }
        | Operation::GetStatic(field)
        | Operation::PutStatic { field, .. } => Some(*field),
        _ => None,
    }
}

fn touches_array(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::ArrayLoad { .. } | Operation::ArrayStore { .. })
}

/// Whether an access orders threads: it is to a volatile field, or reads a reference of a class, which comes after the
/// initialisation of the class. Monitors that do not see these would miss an order that is there.
fn orders_threads(program: &Program, instruction: &Instruction) -> bool {
    let Some(field) = touched_field(instruction).map(|field| &program.fields[field]) else {
        return false;
    };
    let is_reference = field.descriptor.starts_with(['L', '[']);
    let reads_class = matches!(instruction.operation, Operation::GetStatic(_));
    field.access & access::VOLATILE != 0 || (reads_class && is_reference)
}

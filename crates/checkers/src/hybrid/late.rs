//! Accesses that are reported late.
//!
//! What a thread does to variables that only it has used is not reported, until another thread uses them. It is put into the
//! tree of its unit then, by its epoch, and the unit is looked at again.

use events::{Epoch, Event, ThreadId, Variable};

use super::Hybrid;
use super::builder::with_accesses;
use super::forest::UnitId;
use super::tree::AccessToken;

/// How many accesses that were reported late wait at most until they are put into the trees of their units.
const MOST_LATE: usize = 64;

/// An access that was reported late, and the unit in which it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateAccess {
    unit: Option<UnitId>,
    thread: ThreadId,
    /// The number of the unit in its thread.
    number: u64,
    position: u32,
    access: AccessToken,
}

impl Hybrid {
    /// An access that is reported late belongs to the unit in which its epoch was.
    pub(super) fn earlier(&mut self, event: &Event, variable: Variable, is_write: bool) {
        let access = AccessToken { variable, is_write, is_volatile: false, site: event.site };
        let thread = self.threads.entry(event.thread).or_default();
        if event.epoch == Epoch(0) {
            self.access(event, variable, is_write, false);
            return;
        }
        if let Some(builder) = &mut thread.builder
            && let Some(position) = builder.position_of(event.epoch)
        {
            builder.late_access(position, access);
            return;
        }
        let after = thread.epochs.partition_point(|it| it.epoch <= event.epoch);
        let known = after.checked_sub(1).map(|at| thread.epochs[at]);
        let stored = known.and_then(|at| Some((at, self.forest.get(at.unit?)?)));
        let Some((at, unit)) = stored else {
            self.limits.late_accesses += 1;
            return;
        };
        // The same code may have done it in another epoch, and may do it on a side that was not taken.
        let next = thread.epochs.get(after).filter(|it| it.number == at.number);
        let end = next.map_or(u32::MAX, |it| it.position);
        let leaves = &unit.tree.leaves;
        let first = leaves.partition_point(|leaf| leaf.position < at.position);
        let is_known = leaves[first..]
            .iter()
            .take_while(|leaf| leaf.position < end)
            .any(|leaf| leaf.access == access && leaf.untaken.is_none());
        if is_known {
            return;
        }
        let late = LateAccess {
            unit: at.unit,
            thread: event.thread,
            number: at.number,
            position: at.position,
            access,
        };
        if !self.late.contains(&late) {
            self.late.push(late);
            if self.late.len() >= MOST_LATE {
                self.insert_late_accesses();
            }
        }
    }

    /// Puts the accesses that were reported late into the trees of their units, and looks at these again.
    pub(super) fn insert_late_accesses(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let mut late = std::mem::take(&mut self.late);
        // Of those in one epoch it is not known which came first; mostly it is the one that comes first in the code.
        late.sort_by_key(|it| (it.thread, it.number, it.position, it.access.site));
        for of_unit in
            late.chunk_by(|one, other| (one.thread, one.number) == (other.thread, other.number))
        {
            self.insert_into_unit(of_unit);
        }
    }

    /// Puts accesses of one unit, in the order of their positions, into its tree.
    fn insert_into_unit(&mut self, late: &[LateAccess]) {
        let Some(&LateAccess { unit: id, thread, number, .. }) = late.first() else { return };
        let Some(unit) = id.and_then(|id| self.forest.get(id)) else {
            self.limits.late_accesses += late.len() as u64;
            return;
        };
        let accesses: Vec<_> = late.iter().map(|it| (it.position as usize, it.access)).collect();
        let tokens = with_accesses(&unit.tree.tokens, &accesses);
        let (block, places) = (unit.tree.block, unit.places.clone());
        if unit.first == unit.last
            && let Some(old) = id
        {
            self.forest.remove(old);
        }
        let added = self.forest.add(block, tokens.into(), number, places);
        if let Some(thread) = self.threads.get_mut(&thread) {
            for it in thread.epochs.iter_mut().filter(|it| it.number == number) {
                it.unit = added.map(|added| added.unit);
                it.position +=
                    late.iter().filter(|late| late.position < it.position).count() as u32;
            }
        }
        self.analyse(added);
    }
}

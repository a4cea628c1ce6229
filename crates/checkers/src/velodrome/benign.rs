//! Cycles that do no harm, as far as their operations and the rest of the block show.
//!
//! Each idiom but one begins with a read of a variable that another thread then changes. That is harmless if the block does not
//! rely on what it read: it looks again, or its change of the variable depends on the value being the same. What
//! the block does after the cycle decides, so that a violation is in doubt until the block ends. Whoever writes the
//! variable after all, otherwise than by an update in one step, may have lost the change of the other thread: such a
//! violation is never graded down, and no more is one that fits no idiom, or whose block has not ended.
//!
//! The other idiom is a lock that a program makes of an atomic variable: all that came in between two changes of it is
//! that another thread failed to update it in one step, and so has changed nothing.
//!
//! May be wrong: that a value is looked at again does not show that the first look decided nothing.

use events::{Action, Kind, ObjectId, SiteId, Tables, Variable};
use findings::{BenignCycle, Site};
use rustc_hash::FxHashSet;

use super::graph::Label;
use super::report::Shape;
use crate::subject::{Subject, site_of};
use crate::verb::Verb;

/// A violation whose block has not ended.
#[derive(Debug)]
pub(super) struct DoubtfulViolation {
    pub(super) shape: Shape,
    /// The violation is settled when fewer blocks are open.
    pub(super) depth: usize,
    /// Where another thread then did the first thing of the cycle.
    interferes: SiteId,
    /// What the block read first.
    variable: Variable,
    /// Whether that read was an update that failed.
    has_failed: bool,
    rest: RestOfBlock,
}

/// Whether a block has read a variable again since a read of it, which it did not rely on then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadSince {
    /// It has not, as far as is known.
    No,
    /// It has.
    Somewhere,
    /// It has, at the same place or where an update failed, and has not changed the variable in between: a loop has begun
    /// anew.
    InLoop,
}

/// The last look of a running transaction at an atomic or volatile variable, and its last change of it, as times of the
/// thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) read: u64,
    pub(super) read_at: SiteId,
    pub(super) written: u64,
}

/// What makes the violation harmless, if the block does not write the variable.
#[derive(Clone, Copy, Debug)]
enum RestOfBlock {
    /// Nothing more: it has read the variable again, or has tried to update it.
    ReadAgain,
    /// Nothing more: it had begun anew before, with another read at the same place.
    BegunAnew,
    /// It must read the variable again under this lock.
    MustReadUnder(ObjectId),
    /// It has, at this place.
    ReadUnderLock(SiteId),
    /// Nothing more: all that came in between is an update that failed.
    OthersFailed,
    /// Nothing more: it began with an update that failed, and tried until one was done. What it writes then, as a lock that is
    /// given back, comes after what it knows by that.
    Retried,
    /// Nothing can: it has written the variable.
    Overwrites,
    /// Nothing can.
    Harmful,
}

/// Why a violation did no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harmless {
    /// The variable was read again, by the second operation.
    ReadAgain {
        /// Where another thread did the first thing of the cycle.
        interferes: SiteId,
    },
    /// The variable had been read again before, where a loop begins anew.
    BegunAnew,
    /// Another thread did nothing but fail to update the variable.
    OthersFailed,
    /// An update that had failed was tried again until it was done.
    Retried,
    /// The variable was read again, under the lock that the second operation acquired.
    ReadUnderLock {
        /// Where.
        again: SiteId,
        /// Where another thread did the first thing of the cycle.
        interferes: SiteId,
    },
}

impl DoubtfulViolation {
    /// A violation that may turn out to do no harm: the first edge of its cycle, the one that closed it, and how the
    /// block had read the variable of the first one again by then. `updates` are the places where variables were updated
    /// in one step that fails if their value has changed.
    pub(super) fn new(
        shape: &Shape,
        depth: usize,
        interferes: SiteId,
        root: &Label,
        closing: &Label,
        read_again: ReadSince,
        updates: &FxHashSet<SiteId>,
    ) -> Option<Self> {
        let Subject::Variable(variable) = root.subject else { return None };
        let is = |verb: Verb, kinds: &[Kind]| kinds.iter().any(|kind| verb == Verb::of_kind(*kind));
        let reads = [Kind::Read, Kind::EarlierRead, Kind::VolatileRead];
        if !is(root.from.operation_at.verb(), &reads) {
            let (came, went) = (root.to.operation_at, closing.from.operation_at);
            let is_failure = came.verb() == Verb::of_kind(Kind::VolatileRead)
                && updates.contains(&came.site)
                && came == went
                && root.to.thread == closing.from.thread
                && root.subject == closing.subject;
            let rest = RestOfBlock::OthersFailed;
            return is_failure.then_some(DoubtfulViolation {
                shape: *shape,
                depth,
                interferes,
                variable,
                has_failed: false,
                rest,
            });
        }
        let verb = closing.to.operation_at.verb();
        let has_failed = updates.contains(&root.from.operation_at.site);
        let rest = match closing.subject {
            Subject::Variable(updated)
                if has_failed && updated == variable && is(verb, &[Kind::AtomicSwap]) =>
            {
                RestOfBlock::Retried
            }
            _ if read_again == ReadSince::InLoop => RestOfBlock::BegunAnew,
            Subject::Variable(read) if read == variable && is(verb, &reads) => {
                RestOfBlock::ReadAgain
            }
            // What it read first was still there, or there again.
            Subject::Variable(updated) if updated == variable && is(verb, &[Kind::AtomicSwap]) => {
                RestOfBlock::ReadAgain
            }
            // It did not change what it read first, but what it read after that.
            Subject::Variable(updated)
                if updated == variable
                    && is(verb, &[Kind::AtomicUpdate])
                    && read_again != ReadSince::No =>
            {
                RestOfBlock::ReadAgain
            }
            Subject::Lock(lock) if is(verb, &[Kind::Acquire]) => RestOfBlock::MustReadUnder(lock),
            Subject::Variable(_)
            | Subject::Lock(_)
            | Subject::Thread(_)
            | Subject::Object(_)
            | Subject::Class(_)
            | Subject::Order
            | Subject::Omitted => return None,
        };
        Some(DoubtfulViolation { shape: *shape, depth, interferes, variable, has_failed, rest })
    }

    /// The block goes on.
    pub(super) fn note(&mut self, action: Action, site: SiteId) {
        if let RestOfBlock::OthersFailed | RestOfBlock::Retried = self.rest {
            return;
        }
        if let (RestOfBlock::ReadAgain | RestOfBlock::BegunAnew, Action::AtomicSwap(variable)) =
            (self.rest, action)
            && self.has_failed
            && variable == self.variable
        {
            self.rest = RestOfBlock::Retried;
        }
        if let Some((variable, is_write)) = access(action) {
            if variable == self.variable && is_write {
                self.rest = RestOfBlock::Overwrites;
            } else if variable == self.variable
                && matches!(self.rest, RestOfBlock::MustReadUnder(_))
            {
                self.rest = RestOfBlock::ReadUnderLock(site);
            }
        }
        if let (Some(released), RestOfBlock::MustReadUnder(lock)) = (released(action), self.rest)
            && released == lock
        {
            self.rest = RestOfBlock::Harmful;
        }
    }

    /// The block has ended.
    pub(super) fn settled(&self) -> Option<Harmless> {
        match self.rest {
            RestOfBlock::ReadAgain => Some(Harmless::ReadAgain { interferes: self.interferes }),
            RestOfBlock::BegunAnew => Some(Harmless::BegunAnew),
            RestOfBlock::OthersFailed => Some(Harmless::OthersFailed),
            RestOfBlock::Retried => Some(Harmless::Retried),
            RestOfBlock::ReadUnderLock(again) => {
                Some(Harmless::ReadUnderLock { again, interferes: self.interferes })
            }
            RestOfBlock::MustReadUnder(_) | RestOfBlock::Overwrites | RestOfBlock::Harmful => None,
        }
    }

    /// Whether the block has written what it read first, and what another thread had written meanwhile is lost.
    pub(super) fn loses_update(&self) -> bool {
        matches!(self.rest, RestOfBlock::Overwrites)
    }
}

/// The variable of an ordinary or volatile access, and whether it is written.
fn access(action: Action) -> Option<(Variable, bool)> {
    if let Action::Read(variable) | Action::VolatileRead(variable) = action {
        Some((variable, false))
    } else if let Action::Write(variable) | Action::VolatileWrite(variable) = action {
        Some((variable, true))
    } else {
        None
    }
}

/// The lock that is given back, if one is.
fn released(action: Action) -> Option<ObjectId> {
    if let Action::Release(lock) = action { Some(lock) } else { None }
}

/// Which idiom all violations of a shape are, if all of them were harmless, for these reasons. `updates` are the places where
/// variables were updated in one step that fails if their value has changed.
pub(super) fn idiom(
    tables: &Tables,
    shape: &Shape,
    reasons: &[Harmless],
    updates: &FxHashSet<SiteId>,
) -> Option<BenignCycle> {
    let idioms = reasons.iter().map(|reason| idiom_of(tables, shape, *reason, updates));
    // The first says enough, if there is none among the others that is no idiom.
    idioms.reduce(|known, other| other.and(known)).flatten()
}

fn idiom_of(
    tables: &Tables,
    shape: &Shape,
    harmless: Harmless,
    updates: &FxHashSet<SiteId>,
) -> Option<BenignCycle> {
    let blamed = site_of(tables, shape.block);
    let first = site_of(tables, shape.first);
    let is_of = |one: &Site, other: &Site| {
        (&one.class, &one.method, &one.descriptor)
            == (&other.class, &other.method, &other.descriptor)
    };
    // Another thread ran the same method, and wrote the variable where this one would have done so.
    let is_double_check = |again: SiteId, interferes: SiteId| {
        let (again, written) = (site_of(tables, again), site_of(tables, interferes));
        let is_in_order = first.offset < again.offset && again.offset < written.offset;
        is_of(&first, &again) && is_of(&first, &written) && is_in_order
    };
    match harmless {
        // The same place twice in one method is a loop; in another method it may be two calls.
        Harmless::ReadAgain { .. } if shape.first == shape.second => {
            is_of(&first, &blamed).then_some(BenignCycle::Polling)
        }
        // An update that fails, or looks again because one has failed.
        Harmless::ReadAgain { .. }
            if [shape.first, shape.second].iter().any(|site| updates.contains(site)) =>
        {
            Some(BenignCycle::FailedUpdate)
        }
        Harmless::ReadAgain { interferes } => {
            is_double_check(shape.second, interferes).then_some(BenignCycle::DoubleChecked)
        }
        // A loop that updates, or one that only waits.
        Harmless::BegunAnew => {
            let is_update = updates.iter().any(|update| is_of(&site_of(tables, *update), &first));
            Some(if is_update { BenignCycle::FailedUpdate } else { BenignCycle::Polling })
        }
        Harmless::OthersFailed => Some(BenignCycle::OthersFailed),
        Harmless::Retried => Some(BenignCycle::FailedUpdate),
        Harmless::ReadUnderLock { again, interferes } => {
            is_double_check(again, interferes).then_some(BenignCycle::DoubleChecked)
        }
    }
}

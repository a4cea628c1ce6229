//! Cycles that do no harm, as far as their operations and the rest of the block show.
//!
//! Each idiom but one begins with a read of a variable that another thread then changes. That is harmless if the block does not
//! rely on what it read: it looks again, or its change of the variable depends on the value being the same. What
//! the block does after the cycle decides, so that a violation is in doubt until the block ends. Whoever writes the
//! variable after all, otherwise than by an update in one step, may have lost the change of the other thread: such a
//! violation is never graded down, and no more is one that fits no idiom, or whose block has not ended.
//!
//! Another idiom is a lock that a program makes of an atomic variable: all that came in between two changes of it is
//! that another thread failed to update it in one step, and so has changed nothing.
//!
//! And there are cycles in which only the lock shows that somebody came in between: the block acquired it again, and till its
//! end comes upon nothing that others have done meanwhile, neither a change of what it uses nor a look at what it changes.
//! Without the lock, there would be no cycle: the block might as well have been executed at once, as when two threads look things
//! up in one table. That says something only where all that is done under the lock is seen ([`events::Seen`]).
//!
//! Likewise a block that acquired the lock again and only updates what it had updated before, by what it finds there: a counter
//! goes up and down again, a connection is taken out of a pool and given back, or what a first look did not find in a table is
//! put there after a second one. What others did meanwhile is neither lost nor overlooked, but they have seen what was in
//! between; who updates a variable twice by the same code, or what the block had only looked at before, or two
//! variables one after the other, may have meant that nobody does.
//!
//! The last is the initialisation of a class: it happens once, whoever comes first.
//!
//! May be wrong: that a value is looked at again does not show that the first look decided nothing.

use events::{Action, Kind, ObjectId, Seen, SiteId, Tables, Variable};
use findings::{BenignCycle, Site};
use rustc_hash::FxHashSet;

use super::graph::Label;
use super::report::Shape;
use crate::subject::{Subject, site_of};
use crate::verb::Verb;

/// Violations that are alike and whose block has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoubtfulViolation {
    pub(super) shape: Shape,
    /// How many there are.
    pub(super) count: u64,
    /// The violation is settled when fewer blocks are open.
    pub(super) depth: usize,
    /// Where another thread then did the first thing of the cycle.
    interferes: SiteId,
    /// What the block read first, if it did.
    variable: Option<Variable>,
    /// Whether that read was an update that failed.
    has_failed: bool,
    /// Whether the block came after what others did only because it acquired a lock.
    is_by_lock_alone: bool,
    updates: Updates,
    rest: RestOfBlock,
}

/// What is known of a violation when its cycle is closed.
pub(super) struct NewViolation<'a> {
    pub(super) shape: &'a Shape,
    /// The violation is settled when fewer blocks are open.
    pub(super) depth: usize,
    /// Where another thread then did the first thing of the cycle.
    pub(super) interferes: SiteId,
    /// The first edge of the cycle.
    pub(super) root: &'a Label,
    /// The edge that closed it.
    pub(super) closing: &'a Label,
    /// How the block has read the variable of the first edge again since.
    pub(super) read_again: ReadSince,
    /// What the transaction has read and written.
    pub(super) touched: &'a Touched,
    /// The lock that guarded the first operation of the cycle, if the block has given it back since.
    pub(super) guarded_by: Option<ObjectId>,
}

/// What a transaction has read and written so far of what is shared, in the order in which that became known.
#[derive(Debug, Default)]
pub(super) struct Touched {
    accesses: Vec<TouchedAt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TouchedAt {
    variable: Variable,
    is_write: bool,
    site: SiteId,
}

/// Beyond this many accesses in one transaction, it is not known what it has updated before.
const MOST_TOUCHED: usize = 256;

impl Touched {
    pub(super) fn note(&mut self, variable: Variable, is_write: bool, site: SiteId) {
        let access = TouchedAt { variable, is_write, site };
        if self.accesses.len() < MOST_TOUCHED && self.accesses.last() != Some(&access) {
            self.accesses.push(access);
        }
    }

    pub(super) fn clear(&mut self) {
        self.accesses.clear();
    }

    /// What was done to a variable last among the first accesses: where it was written, or else where it was read.
    fn last(&self, first: usize, variable: Variable) -> Option<TouchedAt> {
        let of_variable =
            || self.accesses[..first].iter().rev().filter(|it| it.variable == variable);
        of_variable().find(|it| it.is_write).or_else(|| of_variable().next()).copied()
    }
}

/// Whether a block that acquired a lock again only updates under it what it had updated before.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Updates {
    /// As far as it has come: it still holds the lock.
    SoFar {
        lock: ObjectId,
        /// How much the transaction had touched when it acquired the lock again.
        touched: usize,
        /// What it has read since.
        read: Vec<Variable>,
        /// Whether others have used something that it had used before.
        has_met: bool,
        /// What it only looked at before and looks at again.
        looked: Option<(Variable, SecondLook)>,
        reasons: Reasons,
    },
    /// It does, and has released the lock.
    Only(Reasons),
    /// It does something else.
    NotOnly,
}

/// What must be so of calls of collections for their updates to do no harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons {
    exchange: Option<Exchange>,
    second_look: Option<SecondLook>,
}

/// Calls of one collection, under a lock each: the first must take something out, and the second put it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    taken: SiteId,
    given: SiteId,
}

/// Looks at one variable, under a lock each: the second must look for what the first had looked for, before a collection is
/// changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SecondLook {
    first: SiteId,
    second: SiteId,
}

/// An access to something that others have used since the block did.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeetingAccess {
    pub(super) variable: Variable,
    pub(super) verb: Verb,
    pub(super) site: SiteId,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Nothing that the block used later had to do with what others did meanwhile.
    NothingChanged,
    /// What the block had updated before it updated again, by what it found there.
    UpdatedAgain(Reasons),
    /// The variable was read again, under the lock that the second operation acquired.
    ReadUnderLock {
        /// Where.
        again: SiteId,
        /// Where another thread did the first thing of the cycle.
        interferes: SiteId,
    },
}

impl DoubtfulViolation {
    /// A violation that may turn out to do no harm. `updates` are the places where variables were updated in one step that
    /// fails if their value has changed.
    pub(super) fn new(violation: &NewViolation<'_>, updates: &FxHashSet<SiteId>) -> Option<Self> {
        let NewViolation { depth, interferes, root, closing, .. } = *violation;
        let is_by_lock_alone = matches!(closing.subject, Subject::Lock(_));
        let idiom = Self::idiom(root, closing, violation.read_again, updates);
        if idiom.is_none() && !is_by_lock_alone {
            return None;
        }
        let (rest, has_failed) = idiom.unwrap_or((RestOfBlock::Harmful, false));
        let variable = match root.subject {
            Subject::Variable(variable) if idiom.is_some() => Some(variable),
            _ => None,
        };
        Some(DoubtfulViolation {
            shape: *violation.shape,
            count: 1,
            depth,
            interferes,
            variable,
            has_failed,
            is_by_lock_alone,
            updates: Updates::begun(violation),
            rest,
        })
    }

    /// What must be so for the violation to be an idiom that begins with a variable, and whether the first use of that was an
    /// update that failed.
    fn idiom(
        root: &Label,
        closing: &Label,
        read_again: ReadSince,
        updates: &FxHashSet<SiteId>,
    ) -> Option<(RestOfBlock, bool)> {
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
            return is_failure.then_some((RestOfBlock::OthersFailed, false));
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
        Some((rest, has_failed))
    }

    /// Whether this and another one can only be settled alike.
    pub(super) fn is_like(&self, other: &DoubtfulViolation) -> bool {
        DoubtfulViolation { count: other.count, ..self.clone() } == *other
    }

    /// The block comes upon something that others did meanwhile.
    pub(super) fn note_change(&mut self, access: MeetingAccess, touched: &Touched) {
        self.is_by_lock_alone = false;
        self.updates.note(access, touched);
    }

    /// The block goes on.
    pub(super) fn note(&mut self, action: Action, site: SiteId) {
        if let RestOfBlock::OthersFailed | RestOfBlock::Retried = self.rest {
            return;
        }
        if let (RestOfBlock::ReadAgain | RestOfBlock::BegunAnew, Action::AtomicSwap(variable)) =
            (self.rest, action)
            && self.has_failed
            && Some(variable) == self.variable
        {
            self.rest = RestOfBlock::Retried;
        }
        if let Some((variable, is_write)) = access(action) {
            if Some(variable) == self.variable && is_write {
                self.rest = RestOfBlock::Overwrites;
            } else if Some(variable) == self.variable
                && matches!(self.rest, RestOfBlock::MustReadUnder(_))
            {
                self.rest = RestOfBlock::ReadUnderLock(site);
            }
        }
        self.updates.go_on(action);
        if let (Some(released), RestOfBlock::MustReadUnder(lock)) = (released(action), self.rest)
            && released == lock
        {
            self.rest = RestOfBlock::Harmful;
        }
    }

    /// The block has ended.
    pub(super) fn settled(&self) -> Option<Harmless> {
        let idiom = match self.rest {
            RestOfBlock::ReadAgain => Some(Harmless::ReadAgain { interferes: self.interferes }),
            RestOfBlock::BegunAnew => Some(Harmless::BegunAnew),
            RestOfBlock::OthersFailed => Some(Harmless::OthersFailed),
            RestOfBlock::Retried => Some(Harmless::Retried),
            RestOfBlock::ReadUnderLock(again) => {
                Some(Harmless::ReadUnderLock { again, interferes: self.interferes })
            }
            RestOfBlock::MustReadUnder(_) | RestOfBlock::Overwrites | RestOfBlock::Harmful => None,
        };
        let updated = match self.updates {
            Updates::Only(reasons) => Some(Harmless::UpdatedAgain(reasons)),
            Updates::SoFar { .. } | Updates::NotOnly => None,
        };
        idiom.or(self.is_by_lock_alone.then_some(Harmless::NothingChanged)).or(updated)
    }

    /// Whether the block has written what it read first, and what another thread had written meanwhile is lost.
    pub(super) fn loses_update(&self) -> bool {
        matches!(self.rest, RestOfBlock::Overwrites)
    }
}

impl Updates {
    /// The block acquires a lock again, or something else.
    fn begun(violation: &NewViolation<'_>) -> Updates {
        let left = match violation.root.subject {
            Subject::Lock(lock) => Some(lock),
            Subject::Variable(_) => violation.guarded_by,
            _ => None,
        };
        let touched = violation.touched.accesses.len();
        match violation.closing.subject {
            Subject::Lock(lock) if left == Some(lock) && touched < MOST_TOUCHED => Updates::SoFar {
                lock,
                touched,
                read: Vec::new(),
                has_met: false,
                looked: None,
                reasons: Reasons::default(),
            },
            _ => Updates::NotOnly,
        }
    }

    /// The block goes on. What it only reads counts as read whether or not others have used it.
    fn go_on(&mut self, action: Action) {
        let Updates::SoFar { lock, read, has_met, reasons, .. } = self else { return };
        if let Action::Read(variable) = action
            && !read.contains(&variable)
        {
            read.push(variable);
        } else if released(action) == Some(*lock) {
            *self = match *has_met {
                true => Updates::Only(*reasons),
                false => Updates::NotOnly,
            };
        }
    }

    /// The block comes upon something that others did meanwhile.
    fn note(&mut self, access: MeetingAccess, all: &Touched) {
        let Updates::SoFar { touched, read, has_met, looked, reasons, .. } = self else { return };
        let MeetingAccess { variable, verb, site } = access;
        let is_write = verb == Verb::of_kind(Kind::Write);
        let is_collection = matches!(variable, Variable::Contents(_));
        let before = all.last(*touched, variable);
        *has_met |= before.is_some();
        let is_update = match before {
            _ if !is_write && verb != Verb::of_kind(Kind::Read) => false,
            None => !is_write || read.contains(&variable),
            Some(before) if before.is_write && is_write => {
                // A collection is changed by what it finds there in one call.
                let is_exchange = is_collection && reasons.exchange.is_none();
                if is_exchange {
                    reasons.exchange = Some(Exchange { taken: before.site, given: site });
                }
                before.site != site && (is_exchange || read.contains(&variable))
            }
            Some(before) if before.is_write => true,
            // It had only looked: it may look for the same again, and then change a collection.
            Some(before) if !is_write && looked.is_none() => {
                let second_look = SecondLook { first: before.site, second: site };
                *looked = Some((variable, second_look));
                reasons.second_look = Some(second_look);
                true
            }
            Some(_) => looked.is_some_and(|it| it.0 == variable) && (is_collection || !is_write),
        };
        if !is_update {
            *self = Updates::NotOnly;
        }
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
        Harmless::NothingChanged => Some(BenignCycle::NothingChanged),
        Harmless::UpdatedAgain(reasons) => {
            let is_exchange = reasons.exchange.is_none_or(|exchange| {
                gives_away(tables, exchange.taken) && !gives_away(tables, exchange.given)
            });
            let is_second_look = reasons.second_look.is_none_or(|look| {
                let subject =
                    |site: SiteId| tables.sites.get(site.0 as usize).map(|it| &it.subject);
                look.first != look.second
                    && is_of(&site_of(tables, look.first), &site_of(tables, look.second))
                    && subject(look.first) == subject(look.second)
            });
            let idiom = match reasons.second_look {
                Some(_) => BenignCycle::LookedAgain,
                None => BenignCycle::UpdatedAgain,
            };
            (is_exchange && is_second_look).then_some(idiom)
        }
        Harmless::ReadUnderLock { again, interferes } => {
            is_double_check(again, interferes).then_some(BenignCycle::DoubleChecked)
        }
    }
}

/// Whether a call at a place takes something out of a collection.
fn gives_away(tables: &Tables, site: SiteId) -> bool {
    tables.sites.get(site.0 as usize).is_some_and(|entry| entry.gives_away)
}

/// Whether all that is done under the locks at some places would have been seen.
pub(super) fn is_all_seen(tables: &Tables, mut sites: impl Iterator<Item = SiteId>) -> bool {
    sites.all(|site| {
        tables.sites.get(site.0 as usize).is_some_and(|entry| entry.seen == Seen::Everything)
    })
}

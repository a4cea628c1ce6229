//! Whether a block that was split can be expected to rely on nothing having come in between.
//!
//! What it uses twice under one lock, or without any, it does; and so it does if it reads something and then uses it again,
//! or writes something else. Where it uses two things that each guard themselves, such as two counters, a queue and a flag,
//! or objects with a lock each, the order in which others see its two steps may be of no concern to anybody: a
//! request that asks a cache and then adds to a session does so, and another request may overtake it in between.
//!
//! An ordinary access in a critical section that was over before the second operation, or has begun after the first, stands
//! for the lock of that section: whether the edge of the cycle is that of the lock or of what it guards
//! depends on who came in between.
//!
//! May be wrong: two objects with a lock each may have to agree. Objects of one class are expected to, as accounts are.

use events::{Kind, ObjectId, SiteId, Tables, Variable};

use super::graph::{Endpoint, Label};
use crate::subject::Subject;
use crate::verb::Verb;

/// How far a block relies on what it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reliance {
    /// It uses two things that have nothing to do with each other, as far as is known.
    Hardly,
    /// It uses two things of one kind.
    Perhaps,
    /// It uses one thing twice, or something unguarded.
    Certainly,
}

/// A lock that guards an operation, and where it was acquired.
pub(super) type Guard = (ObjectId, SiteId);

/// The critical sections of the two operations at the ends of a cycle, if nobody held them in between.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guards {
    pub(super) first: Option<Guard>,
    pub(super) second: Option<Guard>,
}

/// A lock that is held, or was.
#[derive(Clone, Copy, Debug)]
struct Section {
    guard: Guard,
    acquired: u64,
    /// None while it is held.
    released: Option<u64>,
}

/// The critical sections of a running transaction, in the order in which they began. The latest are kept.
#[derive(Debug, Default)]
pub(super) struct Sections {
    sections: Vec<Section>,
}

/// Beyond this many, the older half is forgotten: what was done there counts as unguarded.
const MOST_SECTIONS: usize = 256;

impl Sections {
    /// The thread acquires a lock that it did not have.
    pub(super) fn acquire(&mut self, guard: Guard, time: u64) {
        if self.sections.len() == MOST_SECTIONS {
            self.sections.drain(..MOST_SECTIONS / 2);
        }
        self.sections.push(Section { guard, acquired: time, released: None });
    }

    /// The thread gives a lock back.
    pub(super) fn release(&mut self, lock: ObjectId, time: u64) {
        let mut open = self.sections.iter_mut().rev().filter(|section| section.released.is_none());
        if let Some(section) = open.find(|section| section.guard.0 == lock) {
            section.released = Some(time);
        }
    }

    /// The transaction is over: sections that have ended are of no concern to the next.
    pub(super) fn end_transaction(&mut self) {
        self.sections.retain(|section| section.released.is_none());
    }

    /// What guards an operation at this time, and one that is done now.
    pub(super) fn guards(&self, first: u64) -> Guards {
        // The innermost section, and the outermost that has begun since.
        let contains = |section: &&Section| {
            section.acquired <= first && section.released.is_some_and(|end| first <= end)
        };
        let is_new = |section: &&Section| section.acquired > first && section.released.is_none();
        Guards {
            first: self.sections.iter().rev().find(contains).map(|section| section.guard),
            second: self.sections.iter().find(is_new).map(|section| section.guard),
        }
    }
}

/// How far the block of a cycle relies on what it saw, by the first edge of the cycle and the last one.
pub(super) fn reliance(tables: &Tables, edges: &[Label], guards: Guards) -> Reliance {
    let (Some(root), Some(closing)) = (edges.first(), edges.last()) else {
        return Reliance::Certainly;
    };
    let is_same = root.subject == closing.subject;
    // What it uses twice under two locks is guarded by neither.
    let guards = if is_same { Guards::default() } else { guards };
    let first = Use::new(root.subject, root.from, guards.first);
    let second = Use::new(closing.subject, closing.to, guards.second);
    match (first.subject, second.subject) {
        (Subject::Lock(one), Subject::Lock(other)) if one == other => {
            // A look under a shared lock that is followed by a second one under the exclusive lock.
            let is_upgraded = first.is(&[Kind::ReleaseShared, Kind::AcquireShared])
                && second.is(&[Kind::Acquire]);
            if is_upgraded { Reliance::Perhaps } else { Reliance::Certainly }
        }
        (Subject::Lock(_), Subject::Lock(_)) => {
            let kinds = [&first, &second].map(|it| it.kind_of_lock(tables));
            if kinds[0] == kinds[1] { Reliance::Perhaps } else { Reliance::Hardly }
        }
        (Subject::Lock(_) | Subject::Variable(_), Subject::Lock(_) | Subject::Variable(_)) => {
            let reads_first = first.is(&[Kind::VolatileRead]);
            if first.is(&ORDINARY)
                || second.is(&ORDINARY)
                || reads_first && (is_same || second.is(&[Kind::VolatileWrite]))
            {
                Reliance::Certainly
            } else if first.guards_itself()
                && second.guards_itself()
                // What is taken out of a queue and put back, and counted up and down.
                && (!is_same || [&first, &second].iter().all(|it| it.is(&[Kind::AtomicUpdate])))
            {
                Reliance::Hardly
            } else {
                // Volatile fields, often of one object.
                Reliance::Perhaps
            }
        }
        _ => Reliance::Certainly,
    }
}

const ORDINARY: [Kind; 4] = [Kind::Read, Kind::Write, Kind::EarlierRead, Kind::EarlierWrite];

/// An operation at the end of a cycle.
struct Use {
    /// What it is about: its lock, if it is an ordinary access that one guards.
    subject: Subject,
    verb: Verb,
    /// Where it is done, or where the lock was acquired.
    site: SiteId,
    is_guarded: bool,
}

impl Use {
    fn new(subject: Subject, end: Endpoint, guard: Option<Guard>) -> Use {
        let (verb, site) = (end.operation_at.verb(), end.operation_at.site);
        let is_ordinary = ORDINARY.iter().any(|kind| verb == Verb::of_kind(*kind));
        match (subject, guard) {
            (Subject::Variable(_), Some((lock, acquired_at))) if is_ordinary => {
                Use { subject: Subject::Lock(lock), verb, site: acquired_at, is_guarded: true }
            }
            _ => Use { subject, verb, site, is_guarded: false },
        }
    }

    fn is(&self, kinds: &[Kind]) -> bool {
        !self.is_guarded && kinds.iter().any(|kind| self.verb == Verb::of_kind(*kind))
    }

    /// Whether it is about an object that is made for several threads, or one with a lock of its own.
    fn guards_itself(&self) -> bool {
        matches!(self.subject, Subject::Lock(_) | Subject::Variable(Variable::Contents(_)))
    }

    /// What locks of one kind have in common: the field that they are read from, or else the class.
    fn kind_of_lock(&self, tables: &Tables) -> Option<String> {
        let Subject::Lock(lock) = self.subject else { return None };
        let field = tables.sites.get(self.site.0 as usize).and_then(|site| site.origin());
        let class = || {
            let entry = tables.objects.get(lock)?;
            Some(tables.classes.get(entry.class.0 as usize)?.name.clone())
        };
        field.map(str::to_string).or_else(class)
    }
}

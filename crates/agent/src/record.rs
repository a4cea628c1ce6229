//! One slot of the ring, as the hooks write it, and the event it means.
//!
//! The first word has the kind in its top byte, the site in the next three and the thread in the low half.
//! The numbers of the kinds are those of `Scission.java`; a test compares them.

use events::{
    Access, Action, Branch, ClassId, Epoch, Event, FieldId, Mode, ObjectId, SiteId, ThreadId,
    Variable,
};

/// The four words of a slot. The first has the kind in its highest byte, which is positive, so that it can be told
/// from what `event_ring` keeps there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) head: u64,
    pub(crate) epoch: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
}

impl From<event_ring::Record> for Record {
    fn from(words: event_ring::Record) -> Record {
        let [head, epoch, first, second] = words.map(i64::cast_unsigned);
        Record { head, epoch, first, second }
    }
}

impl Record {
    /// The event that this record means; none when no hook can have written it.
    pub(crate) fn event(&self) -> Option<Event> {
        let object = ObjectId(self.first);
        let mode = if self.second == 0 { Mode::Exclusive } else { Mode::Shared };
        let class = ClassId(self.first as u32);
        let action = match self.head >> 56 {
            1 => Action::Read(self.variable()?),
            2 => Action::Write(self.variable()?),
            3 => Action::Earlier(Access::Read, self.variable()?),
            4 => Action::Earlier(Access::Write, self.variable()?),
            5 => Action::VolatileRead(self.variable()?),
            6 => Action::VolatileWrite(self.variable()?),
            7 => Action::AtomicUpdate(self.variable()?),
            8 => Action::Acquire(object, mode),
            9 => Action::Release(object, mode),
            10 => Action::Wait(object),
            11 => Action::Woken(object),
            12 => Action::Notify(object),
            13 => Action::NotifyAll(object),
            14 => Action::ThreadBegin,
            15 => Action::ThreadEnd,
            16 => Action::Fork(ThreadId(self.first as u32)),
            17 => Action::Join(ThreadId(self.first as u32)),
            18 => Action::Submit(object),
            19 => Action::TaskBegin(object),
            20 => Action::TaskEnd(object),
            21 => Action::TaskJoin(object),
            22 => Action::Publish(object),
            23 => Action::Receive(object),
            24 => Action::BarrierArrive(object),
            25 => Action::BarrierPass(object),
            26 => Action::LatchDown(object),
            27 => Action::LatchPass(object),
            28 => Action::Begin,
            29 => Action::End,
            30 => Action::Escape(object, ClassId(self.second as u32)),
            31 => Action::ClassInitialised(class),
            32 => Action::ClassUsed(class),
            33 => Action::Branch(match self.first {
                0 => Branch::NotTaken,
                1 => Branch::Taken,
                _ => Branch::Case(self.second as i32),
            }),
            _ => return None,
        };
        Some(Event {
            thread: ThreadId(self.head as u32),
            site: SiteId((self.head >> 32) as u32 & 0xff_ffff),
            epoch: Epoch(self.epoch),
            action,
        })
    }

    fn variable(&self) -> Option<Variable> {
        let number = self.second as u32;
        match self.second >> 32 {
            0 => Some(Variable::Field(ObjectId(self.first), FieldId(number))),
            1 => Some(Variable::Static(FieldId(number))),
            2 => Some(Variable::Element(ObjectId(self.first), number)),
            3 => Some(Variable::Contents(ObjectId(self.first))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of records, by their number in the Java half.
    const KINDS: &[&str] = &[
        "",
        "READ",
        "WRITE",
        "EARLIER_READ",
        "EARLIER_WRITE",
        "VOLATILE_READ",
        "VOLATILE_WRITE",
        "ATOMIC_UPDATE",
        "ACQUIRE",
        "RELEASE",
        "WAIT",
        "WOKEN",
        "NOTIFY",
        "NOTIFY_ALL",
        "THREAD_BEGIN",
        "THREAD_END",
        "FORK",
        "JOIN",
        "SUBMIT",
        "TASK_BEGIN",
        "TASK_END",
        "TASK_JOIN",
        "PUBLISH",
        "RECEIVE",
        "BARRIER_ARRIVE",
        "BARRIER_PASS",
        "LATCH_DOWN",
        "LATCH_PASS",
        "BEGIN",
        "END",
        "ESCAPE",
        "CLASS_INITIALISED",
        "CLASS_USED",
        "BRANCH",
    ];

    #[test]
    fn the_java_half_has_the_same_kinds() {
        let source = include_str!("../../../runtime/java/lang/Scission.java");
        for (number, kind) in KINDS.iter().enumerate().skip(1) {
            let declaration = format!("private static final int {kind} = {number};");
            assert!(source.contains(&declaration), "{declaration}");
            let record = Record { head: (number as u64) << 56, epoch: 0, first: 0, second: 0 };
            assert!(record.event().is_some(), "{kind}");
            assert!(record.head.cast_signed() >= event_ring::FIRST_WORDS, "{kind}");
        }
        let beyond = Record { head: (KINDS.len() as u64) << 56, epoch: 0, first: 0, second: 0 };
        assert_eq!(beyond.event(), None);
    }
}

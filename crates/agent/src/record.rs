//! One slot of the ring, as the hooks write it, and the event it means.

use agent_protocol::VariableForm;
use agent_protocol::layout::{
    FORM_BITS, FORM_SHIFT, HEAD_KIND_SHIFT, HEAD_SITE_SHIFT, OVERLAPS_SHIFT, SITES,
};
use events::{
    Action, Branch, ClassId, Condition, Epoch, Event, FieldId, Kind, ObjectId, Operand,
    OperandKind, SiteId, ThreadId, Variable,
};

/// The four words of a slot. The first has the kind in its highest byte, which is positive, so that it can be told
/// from what `event_ring` keeps there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The kind of the event, the site and the thread; see [`agent_protocol::layout`].
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
        // The number 0 is that of no event.
        let kind = Kind::numbered(((self.head >> HEAD_KIND_SHIFT) as usize).wrapping_sub(1))?;
        let object = ObjectId(self.first);
        let class = |word: u64| ClassId(word as u32);
        let operand = match kind.operand() {
            OperandKind::None => Operand::None,
            OperandKind::Variable => Operand::Variable(self.variable()?),
            OperandKind::Object => Operand::Object(object),
            OperandKind::Thread => Operand::Thread(ThreadId(self.first as u32)),
            OperandKind::Class => Operand::Class(class(self.first)),
            OperandKind::ObjectOfClass => Operand::ObjectOfClass(object, class(self.second)),
            OperandKind::Branch => Operand::Branch(match self.first {
                0 => Branch::NotTaken,
                1 => Branch::Taken,
                _ => Branch::Case(self.second as i32),
            }),
            OperandKind::Condition => {
                Operand::Condition(Condition { number: self.first as u32, holds: self.second != 0 })
            }
        };
        Some(Event {
            thread: ThreadId(self.head as u32),
            site: SiteId((self.head >> HEAD_SITE_SHIFT) as u32 & (SITES as u32 - 1)),
            epoch: Epoch(self.epoch),
            action: Action::of_kind(kind, operand)?,
            overlaps: match kind.operand() {
                OperandKind::Variable => self.overlaps(),
                OperandKind::None
                | OperandKind::Object
                | OperandKind::Thread
                | OperandKind::Class
                | OperandKind::ObjectOfClass
                | OperandKind::Branch
                | OperandKind::Condition => 0,
            },
        })
    }

    /// A ticket is one event, or none where a hook was cut short: what is said of tickets holds for events.
    fn overlaps(&self) -> u32 {
        const ALL: u64 = u64::MAX >> OVERLAPS_SHIFT;
        match self.second >> OVERLAPS_SHIFT {
            ALL => Event::OVERLAPS_ALL,
            tickets => tickets as u32,
        }
    }

    fn variable(&self) -> Option<Variable> {
        let (object, number) = (ObjectId(self.first), self.second as u32);
        Some(
            match VariableForm::numbered(
                (self.second >> FORM_SHIFT) as usize & ((1 << FORM_BITS) - 1),
            )? {
                VariableForm::Field => Variable::Field(object, FieldId(number)),
                VariableForm::Static => Variable::Static(FieldId(number)),
                VariableForm::Element => Variable::Element(object, number),
                VariableForm::Contents => Variable::Contents(object),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u8) -> Record {
        Record { head: u64::from(number) << HEAD_KIND_SHIFT, epoch: 0, first: 0, second: 0 }
    }

    #[test]
    fn every_number_of_a_kind_is_an_event_of_that_kind() {
        for kind in Kind::ALL {
            let event = record(kind.record_number()).event();
            assert_eq!(event.map(|event| event.action.kind()), Some(*kind));
            assert!(record(kind.record_number()).head.cast_signed() >= event_ring::FIRST_WORDS);
        }
        let mut interval = record(Kind::VolatileRead.record_number());
        interval.second = 5 << OVERLAPS_SHIFT;
        assert_eq!(interval.event().map(|event| event.overlaps), Some(5));
        interval.second = u64::MAX << OVERLAPS_SHIFT;
        assert_eq!(interval.event().map(|event| event.overlaps), Some(Event::OVERLAPS_ALL));
        assert_eq!(record(0).event(), None);
        assert_eq!(record(Kind::ALL.len() as u8 + 1).event(), None);
    }
}

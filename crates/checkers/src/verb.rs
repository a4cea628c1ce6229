//! The words for operations in findings, from the table of events.

use events::{Action, Kind};

/// An operation, in the words of a report: `reads`, `acquires`. The number of a kind of event, or one
/// beyond them for an operation of which only the order is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Verb(u8);

impl Verb {
    /// Something that comes before another operation.
    pub(crate) const PRECEDES: Verb = Verb(u8::MAX - 1);
    /// Something that comes after another operation.
    pub(crate) const FOLLOWS: Verb = Verb(u8::MAX);

    /// What an action is called.
    #[inline]
    pub(crate) fn of(action: Action) -> Verb {
        Verb::of_kind(action.kind())
    }

    /// What actions of a kind are called.
    #[inline]
    pub(crate) const fn of_kind(kind: Kind) -> Verb {
        Verb(kind as u8)
    }

    /// The words, to be followed by the name of what it is done to.
    pub(crate) fn words(self) -> &'static str {
        match Kind::numbered(usize::from(self.0)) {
            Some(kind) => kind.verb(),
            None if self == Verb::PRECEDES => "comes before",
            None => "comes after",
        }
    }

    /// Its number, for [`Verb::numbered`].
    #[inline]
    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// The verb with this number.
    pub(crate) fn numbered(number: u8) -> Verb {
        Verb(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_which_only_the_order_is_known_are_no_kind_of_event() {
        assert!(Kind::ALL.len() <= usize::from(Verb::PRECEDES.0));
        assert_eq!(Verb::PRECEDES.words(), "comes before");
        assert_eq!(Verb::FOLLOWS.words(), "comes after");
        assert_eq!(Verb::of_kind(Kind::EarlierRead).words(), "reads");
    }
}

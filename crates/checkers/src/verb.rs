//! What operations are called in findings.

use events::{Access, Action, Mode};

macro_rules! verbs {
    ($($name:ident $words:literal;)*) => {
        /// What a thread does to something, as a report says it: `reads`, `acquires`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub(crate) enum Verb {
            $(#[doc = $words] $name,)*
        }

        impl Verb {
            const ALL: &[Verb] = &[$(Verb::$name),*];

            /// The words, to be followed by the name of what it is done to.
            pub(crate) fn words(self) -> &'static str {
                match self { $(Verb::$name => $words,)* }
            }
        }
    };
}

verbs! {
    Precedes "comes before";
    Follows "comes after";
    Reads "reads";
    Writes "writes";
    Updates "updates";
    Acquires "acquires";
    Shares "acquires in shared mode";
    Releases "releases";
    Unshares "releases in shared mode";
    Waits "waits on";
    WakesUp "reacquires after waiting on";
    Notifies "notifies";
    Starts "starts";
    Joins "joins";
    Begins "begins";
    Ends "ends";
    Submits "submits";
    Awaits "awaits";
    Publishes "publishes to";
    Receives "receives from";
    ArrivesAt "arrives at";
    Passes "passes";
    CountsDown "counts down";
    Initialises "initialises";
    Uses "uses";
    Decides "decides";
}

impl Verb {
    /// What an action is called.
    #[inline]
    pub(crate) fn of(action: Action) -> Verb {
        match action {
            Action::Read(_) | Action::Earlier(Access::Read, _) | Action::VolatileRead(_) => {
                Verb::Reads
            }
            Action::Write(_) | Action::Earlier(Access::Write, _) | Action::VolatileWrite(_) => {
                Verb::Writes
            }
            Action::AtomicUpdate(_) => Verb::Updates,
            Action::Acquire(_, Mode::Exclusive) => Verb::Acquires,
            Action::Acquire(_, Mode::Shared) => Verb::Shares,
            Action::Release(_, Mode::Exclusive) => Verb::Releases,
            Action::Release(_, Mode::Shared) => Verb::Unshares,
            Action::Wait(_) => Verb::Waits,
            Action::Woken(_) => Verb::WakesUp,
            Action::Notify(_) | Action::NotifyAll(_) => Verb::Notifies,
            Action::Fork(_) => Verb::Starts,
            Action::Join(_) => Verb::Joins,
            Action::ThreadBegin | Action::TaskBegin(_) | Action::Begin => Verb::Begins,
            Action::ThreadEnd | Action::TaskEnd(_) | Action::End => Verb::Ends,
            Action::Submit(_) => Verb::Submits,
            Action::TaskJoin(_) => Verb::Awaits,
            Action::Publish(_) => Verb::Publishes,
            Action::Receive(_) => Verb::Receives,
            Action::BarrierArrive(_) => Verb::ArrivesAt,
            Action::BarrierPass(_) | Action::LatchPass(_) => Verb::Passes,
            Action::LatchDown(_) => Verb::CountsDown,
            Action::ClassInitialised(_) => Verb::Initialises,
            Action::Escape(..) | Action::ClassUsed(_) => Verb::Uses,
            Action::Branch(_) => Verb::Decides,
        }
    }

    /// The verb with this number.
    pub(crate) fn numbered(number: u8) -> Verb {
        Verb::ALL[usize::from(number)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_table() {
        for (number, verb) in Verb::ALL.iter().enumerate() {
            assert_eq!(*verb as usize, number);
            assert_eq!(Verb::numbered(number as u8), *verb);
        }
    }
}

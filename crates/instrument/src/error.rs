//! Why a class could not be rewritten, and why a method of a rewritten class was left as it was.

use std::fmt;

use classes::ReadError;
use summary_trees::GapReason;

/// Why a class could not be rewritten at all. The class is then loaded as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstrumentError {
    /// The bytes are not a class file that a JVM would load.
    #[error("the class cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The class has as many constants as a class can have.
    #[error("the constant pool is full: a class can have no more than 65534 constants")]
    PoolFull,
    /// A name or descriptor is longer than a class file can say.
    #[error("a name of {0} bytes is too long for a class file")]
    NameTooLong(usize),
    /// The class has as many fields as a class can have.
    #[error("a class can have no more than 65535 fields")]
    TooManyFields,
    /// The class already has a field of this name and type.
    #[error("the class already has a field `{0}`")]
    FieldExists(String),
}

/// A method whose code stays as it was, although something was to be inserted into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    /// Name and descriptor of the method.
    pub method: String,
    /// Why its code stays as it was.
    pub reason: LeftAloneReason,
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is left as it is: {}", self.method, self.reason)
    }
}

impl std::error::Error for LeftAlone {}

/// Why it is not followed what the sides of a branch would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum UnfollowedReason {
    /// The shape of the code, or its size.
    #[error(transparent)]
    Summary(#[from] GapReason),
    /// What the code works on is nobody else's yet, for the most part.
    #[error("a constructor or a class initialiser")]
    Initialisation,
}

/// Why the code of a method cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeftAloneReason {
    /// The class has no method of this number.
    #[error("there is no such method")]
    NoSuchMethod,
    /// The method is abstract or native.
    #[error("it has no code")]
    NoCode,
    /// The rewritten code would be longer than a JVM allows.
    #[error("its code would take {0} bytes, and 65535 are allowed")]
    CodeTooLarge(usize),
    /// A branch would have to reach farther than its operand can say.
    #[error("the branch at bytecode offset {0} would have to reach too far")]
    BranchTooFar(u32),
    /// The operand stack would be deeper than a JVM allows.
    #[error("its operand stack would be too deep")]
    StackTooDeep,
    /// There would be more local variables than a JVM allows.
    #[error("it would have too many local variables")]
    TooManyLocals,
    /// A table of the method would have more rows than a class file can say.
    #[error("its {0} would have too many rows")]
    TableTooLong(&'static str),
    /// What was to be inserted does not fit the code.
    #[error("at bytecode offset {offset}, {what}")]
    BadEdit {
        /// The bytecode offset, in the original code.
        offset: u32,
        /// What does not fit.
        what: &'static str,
    },
    /// A handler that would begin before `super()` has returned.
    #[error("a constructor cannot have a handler around its whole body")]
    ExitOfConstructor,
    /// The constant pool is full, or a name does not fit into it.
    #[error("{0}")]
    Pool(#[from] InstrumentError),
    /// The code or one of its tables makes no sense.
    #[error("its code cannot be read: {0}")]
    Unreadable(#[from] ReadError),
}

//! Places in code, in the form that survives outside the program model.

use serde::{Deserialize, Serialize};

/// A place in code: a method and a bytecode offset in it, with the source line where known.
///
/// The pair (method, offset) is the identity; file and line only help the reader. Static and
/// run-time work name the same place with the same `Site`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// Binary name of the class, with dots: `java.util.Vector`.
    pub class: String,
    /// Method name as in the class file, `<init>` and `<clinit>` included.
    pub method: String,
    /// Method descriptor as in the class file: `(Ljava/lang/Object;)Z`.
    pub descriptor: String,
    /// Bytecode offset in the method; absent for the method as a whole.
    pub offset: Option<u32>,
    /// Source path relative to a source root, `java/util/Vector.java`, where the class names one.
    pub file: Option<String>,
    /// Source line, where the class has line numbers.
    pub line: Option<u32>,
}

impl Site {
    /// `java.util.Vector.add`, the short name of the method this place is in.
    #[must_use]
    pub fn method_name(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }
}

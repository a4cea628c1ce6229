//! Class files in, class files with hooks out.
//!
//! [`instrument`] takes the bytes of a class and what is to be watched, and gives back the same class
//! with calls of `java.lang.Scission` inserted: before or after accesses to fields and array elements,
//! around monitors, around calls of the library that synchronise, and at the beginning and end of
//! atomic blocks and tasks. It is pure: no file is read, and the same input gives the same bytes.
//!
//! `plan/` decides what stands where; [`surgery`] inserts it, and knows nothing of hooks. The hooks
//! are those of the table in `agent_protocol`.
//!
//! A rewritten class has the same methods, flags, superclass and interfaces. Its only new members are
//! synthetic transient fields, which the runtime hides from reflection.

use std::collections::BTreeMap;

mod class_hierarchy;
mod config;
mod dropped_lock;
mod error;
pub mod library_order;
mod library_words;
mod plan;
mod regions;
mod sites;
pub mod surgery;

pub use class_hierarchy::ClassHierarchy;
pub use config::{Config, Coverage, FieldList, ListedAs, Origin, WatchList};
pub use dropped_lock::{DroppedLock, NotALock};
pub use error::{InstrumentError, LeftAlone, LeftAloneReason, UnfollowedReason};
pub use library_words::add_words_of_contents;
pub use plan::{instrument, report_from_library};
pub use sites::{NewSite, Relation, SiteTable, SiteTarget, TreeMethod};

/// What became of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing to insert.
    Unchanged,
    /// The class has hooks now, or could have none although it should.
    Rewritten(Rewritten),
}

/// A class with hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The class file.
    pub bytes: Vec<u8>,
    /// How many hooks were inserted.
    pub hooks: u32,
    /// How many hooks were left out because the table of sites was full.
    pub hooks_left_out: u32,
    /// The methods that should have hooks and have none.
    pub left_alone: Vec<LeftAlone>,
    /// How many branches there are whose sides are not followed, although somebody wants to know what they would do.
    pub unfollowed_branches: BTreeMap<UnfollowedReason, u32>,
    /// Whether the lock that was to be taken out of the program was in this class.
    pub has_dropped_lock: bool,
    /// What the watch list says of the class, if there is one.
    pub listed_as: Option<ListedAs>,
}

/// Adds a field to a class, and changes nothing else.
///
/// # Errors
/// When the bytes are not a class file, the class already has the field, or there is no room for it.
pub fn add_field(
    bytes: &[u8],
    access: u16,
    name: &str,
    descriptor: &str,
) -> Result<Vec<u8>, InstrumentError> {
    let mut editor = surgery::ClassEditor::new(bytes)?;
    editor.add_field(access, name, descriptor)?;
    editor.finish()
}

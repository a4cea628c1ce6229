//! The engine: inserts straight-line code into class files, and knows nothing of what it inserts.
//!
//! A [`ClassEditor`] stands over the bytes of a class. What an insertion does not move is copied
//! byte for byte; a class that nothing is inserted into comes out as it went in. What an insertion
//! does move is relocated: branches, switches, exception tables, stack maps, line numbers, the names
//! of local variables, and annotations that name places in code.
//!
//! The module is public so that tests can drive it without hooks.

mod code;
mod cursor;
mod editor;
mod frames;
mod handler_copies;
mod handlers;
mod layout;
mod pool;
mod snippet;
mod tables;

pub use editor::ClassEditor;
pub use pool::PoolEditor;
pub use snippet::{Around, MethodEdits, Snippet};

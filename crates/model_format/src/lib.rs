//! The text format in which it is written what library code does to locks, threads, memory order and
//! sharing.
//!
//! A file says something about classes, packages, annotations and methods, one statement a line:
//!
//! ```text
//! class com.acme.SpinLock is thread-safe
//!   lock: acquire this exclusive; blocks
//!   tryLock(): acquire this exclusive if true
//! ```
//!
//! The words are tables ([`effect_forms`], [`Mode::WORDS`] and the like). The parser, the advice in its
//! messages, the printer and the description for users are all made from them. The files that come
//! with Scission are read by a build script; those of users are read with the same parser when the
//! program starts.

mod descriptor;
mod effect;
mod facts;
mod grammar;
mod parse;
mod print;
mod rust_source;
mod vocabulary;
mod words;

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

pub use descriptor::{method_text, type_text};
pub use effect::{Effect, EffectForm, effect_forms};
pub use facts::{
    ClassFact, ClassScope, ComponentFact, ComponentRole, EntryPoint, FieldFact, Matcher,
    MethodFact, Model, ModelFile, Source, Supertypes,
};
pub use grammar::{FORMS, Form, reference};
pub use parse::{FileProblem, parse};
pub use print::{Statement, effects_text, print_statements, statements};
pub use rust_source::rust_source;
pub use vocabulary::{
    ClassProperty, EntryThread, FieldProperty, MethodProperty, Mode, Multiplicity, OPERANDS,
    Operand, Ordering, Outcome, RUNNERS, ReceiverSharing, Runner, Times, WaitKind,
};
pub use words::{InRust, Phrase, Problem, Word, Words};

/// The hash of a class and a method by which rows are found. The build script lays the table out with it.
#[must_use]
pub fn row_hash(class: &str, method: &str) -> u32 {
    const MULTIPLIER: u64 = 0x51_7c_c1_b7_27_22_0a_95;
    let mut hash = 0_u64;
    for text in [class, method] {
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hash = (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(MULTIPLIER);
        }
        hash = hash.rotate_left(17);
    }
    (hash >> 32) as u32
}

/// Keeps a text until the process ends. Rows of users and rows that come with Scission are the same
/// type, so what a file of a user names must live as long as what the tables name. Each distinct text
/// is kept once, and a process reads each file once.
#[must_use]
pub fn keep(text: &str) -> &'static str {
    static KEPT: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let mut kept = KEPT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    match kept.get(text) {
        Some(text) => text,
        None => {
            let text: &'static str = Box::leak(text.into());
            kept.insert(text);
            text
        }
    }
}

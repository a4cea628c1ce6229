//! Names that are read from files, as long as the process lives.
//!
//! In a program, the names that a finding is made of are constants of the part that made it. What is
//! read from a file has no constants, so each name is kept once for the life of the process. They are few:
//! roles, subjects and analyses.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The one copy of a name that lives as long as the process.
#[must_use]
pub fn kept_name(name: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    all.insert(name);
    name
}

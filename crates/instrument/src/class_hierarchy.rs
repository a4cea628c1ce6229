//! The supertypes of the classes that were seen so far.
//!
//! What a user says of a method counts for the methods that override or implement it. A class is
//! rewritten when it is loaded, which may be before its own superclass is: of its supertypes those are
//! known that its class file names, and those of classes that were seen before it.

use std::sync::{Arc, Mutex, PoisonError};

use classes::ClassFile;
use rustc_hash::FxHashMap;

/// The direct supertypes of classes, by name.
type DirectSupertypes = FxHashMap<Arc<str>, Vec<Arc<str>>>;

/// The supertypes of the classes that were seen so far. Shared by all threads that load classes.
#[derive(Clone, Debug, Default)]
pub struct ClassHierarchy {
    supertypes: Arc<Mutex<DirectSupertypes>>,
}

impl ClassHierarchy {
    /// Notes the direct supertypes of a class.
    pub(crate) fn add(&self, file: &ClassFile) {
        let direct = file.super_name.iter().chain(&file.interfaces).cloned().collect();
        let mut known = self.supertypes.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(Arc::clone(&file.name), direct);
    }

    /// A class and its known supertypes, breadth first, each once.
    pub(crate) fn with_supertypes(&self, class: &Arc<str>) -> Vec<Arc<str>> {
        let known = self.supertypes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = vec![Arc::clone(class)];
        let mut next = 0;
        while let Some(class) = found.get(next) {
            for above in known.get(class).cloned().unwrap_or_default() {
                if !found.contains(&above) {
                    found.push(above);
                }
            }
            next += 1;
        }
        found
    }
}

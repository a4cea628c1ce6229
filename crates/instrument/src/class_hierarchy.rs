//! The classes that were seen so far: their supertypes, the fields they declare, and what is known of their methods.
//!
//! What a user says of a method counts for the methods that override or implement it. A class is
//! rewritten when it is loaded, which may be before its own superclass is: of its supertypes those are
//! known that its class file names, and those of classes that were seen before it.
//!
//! Of the fields of another class it matters whether they are final or volatile. Class loaders may have different classes of
//! one name: then a field is final only if all say so, and volatile if one does; and of a method holds what holds for all.

use std::sync::{Arc, Mutex, PoisonError};

use classes::{ClassFile, FieldInfo, access};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
struct SeenClass {
    superclass: Option<Arc<str>>,
    interfaces: Vec<Arc<str>>,
    fields: Vec<SeenField>,
    /// Whether it has an initialiser.
    has_initialiser: bool,
    /// The methods of which something is known; nothing if nobody has looked.
    methods: Option<Vec<SeenMethod>>,
}

#[derive(Debug)]
struct SeenField {
    name: Arc<str>,
    descriptor: Arc<str>,
    flags: FieldFlags,
}

/// A method that a call can mean without any other being meant.
#[derive(Debug)]
pub(crate) struct SeenMethod {
    pub(crate) name: Arc<str>,
    pub(crate) descriptor: Arc<str>,
    pub(crate) facts: MethodFacts,
}

/// Parameters of a method, one bit each; the receiver is the first, if there is one.
pub(crate) type Parameters = u32;
pub(crate) const ALL_PARAMETERS: Parameters = Parameters::MAX;

/// What a method may report, and what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReportedBy {
    /// Nothing.
    Nothing,
    /// Accesses to objects that no other thread can know yet.
    NewObjects,
    /// Anything.
    Anything,
}

/// What callers know of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodFacts {
    /// The parameters that others may know after a call because of it.
    pub(crate) kept: Parameters,
    pub(crate) reports: ReportedBy,
}

impl MethodFacts {
    /// A method that does nothing that matters.
    pub(crate) const HARMLESS: MethodFacts = MethodFacts { kept: 0, reports: ReportedBy::Nothing };
    /// A method of which nothing is known.
    pub(crate) const UNKNOWN: MethodFacts =
        MethodFacts { kept: ALL_PARAMETERS, reports: ReportedBy::Anything };
}

/// What matters of a field that another class declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldFlags {
    pub(crate) is_final: bool,
    pub(crate) is_volatile: bool,
}

impl FieldFlags {
    pub(crate) fn of(field: &FieldInfo) -> FieldFlags {
        FieldFlags {
            is_final: field.has_access(access::FINAL),
            is_volatile: field.has_access(access::VOLATILE),
        }
    }
}

/// The classes that were seen so far. Shared by all threads that load classes.
#[derive(Clone, Debug, Default)]
pub struct ClassHierarchy {
    classes: Arc<Mutex<FxHashMap<Arc<str>, SeenClass>>>,
}

impl ClassHierarchy {
    /// Notes the direct supertypes of a class, and its fields.
    pub(crate) fn add(&self, file: &ClassFile) {
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = classes.entry(Arc::clone(&file.name)).or_default();
        seen.superclass.clone_from(&file.super_name);
        seen.interfaces.clone_from(&file.interfaces);
        seen.has_initialiser |= file.methods.iter().any(|method| &*method.name == "<clinit>");
        for field in &file.fields {
            let flags = FieldFlags::of(field);
            let (name, descriptor) = (&field.name, &field.descriptor);
            match seen.fields.iter_mut().find(|it| it.name == *name && it.descriptor == *descriptor)
            {
                Some(other) => {
                    other.flags.is_final &= flags.is_final;
                    other.flags.is_volatile |= flags.is_volatile;
                }
                None => seen.fields.push(SeenField {
                    name: Arc::clone(name),
                    descriptor: Arc::clone(descriptor),
                    flags,
                }),
            }
        }
    }

    /// Notes what is known of the methods of a class that was added.
    pub(crate) fn add_methods(&self, class: &Arc<str>, methods: Vec<SeenMethod>) {
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = classes.entry(Arc::clone(class)).or_default();
        let Some(known) = &mut seen.methods else {
            seen.methods = Some(methods);
            return;
        };
        known.retain_mut(|one| {
            let is_same = |it: &&SeenMethod| it.name == one.name && it.descriptor == one.descriptor;
            methods.iter().find(is_same).is_some_and(|other| {
                one.facts.kept |= other.facts.kept;
                one.facts.reports = one.facts.reports.max(other.facts.reports);
                true
            })
        });
    }

    /// What is known of a method that a class declares.
    pub(crate) fn method(&self, class: &str, name: &str, descriptor: &str) -> Option<MethodFacts> {
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let methods = classes.get(class)?.methods.as_ref()?;
        let is_meant = |it: &&SeenMethod| *it.name == *name && *it.descriptor == *descriptor;
        methods.iter().find(is_meant).map(|method| method.facts)
    }

    /// Whether the first use of a class may run an initialiser that is watched: its own, or one of a supertype.
    pub(crate) fn may_initialise(
        &self,
        class: &Arc<str>,
        watches: impl Fn(&Arc<str>) -> bool,
    ) -> bool {
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut above = vec![class];
        // No class is above itself; whoever says so is refused by the JVM.
        for _ in 0..=classes.len() {
            let Some(class) = above.pop() else { return false };
            if !watches(class) {
                continue;
            }
            let Some(seen) = classes.get(class).filter(|seen| !seen.has_initialiser) else {
                return true;
            };
            above.extend(seen.superclass.iter().chain(&seen.interfaces));
        }
        !above.is_empty()
    }

    /// A class and its known supertypes, breadth first, each once.
    pub(crate) fn with_supertypes(&self, class: &Arc<str>) -> Vec<Arc<str>> {
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = vec![Arc::clone(class)];
        let mut next = 0;
        while let Some(class) = found.get(next) {
            if let Some(seen) = classes.get(class) {
                for above in seen.superclass.iter().chain(&seen.interfaces) {
                    if !found.contains(above) {
                        found.push(Arc::clone(above));
                    }
                }
            }
            next += 1;
        }
        found
    }

    /// A field that code names by a class, if it is known which class declares it: the first one that does, going up from
    /// the one that is named.
    pub(crate) fn field(&self, class: &str, name: &str, descriptor: &str) -> Option<FieldFlags> {
        let classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = classes.get(class)?;
        // No class is above itself; whoever says so is refused by the JVM.
        for _ in 0..classes.len() {
            let is_meant = |it: &&SeenField| *it.name == *name && *it.descriptor == *descriptor;
            if let Some(field) = seen.fields.iter().find(is_meant) {
                return Some(field.flags);
            }
            seen = classes.get(seen.superclass.as_ref()?)?;
        }
        None
    }
}

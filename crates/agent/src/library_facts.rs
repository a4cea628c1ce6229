//! What the Java half asks of a class by its name: the one place where the agent asks the models of the library.

use std::collections::{HashMap, HashSet};

use agent_protocol::ClassFact;
use models::{Effect, Mode, Models, Operand, Sharing};

/// Library classes that a model does not describe and that matter to the hooks, with what is true of their objects.
///
/// A class that holds its elements itself answers `toArray` without calling any object but itself: no code of the
/// program runs when a hook asks it. Views and wrappers of other collections are not among them.
const CLASSES: &[(&str, ClassFact)] = &[
    ("java/util/concurrent/locks/StampedLock$ReadLockView", ClassFact::Lock),
    ("java/util/concurrent/locks/StampedLock$ReadLockView", ClassFact::SharedLock),
    ("java/util/stream/BaseStream", ClassFact::Stream),
    ("java/util/concurrent/ForkJoinWorkerThread", ClassFact::StreamWorker),
    ("java/util/ArrayDeque", ClassFact::HoldsElements),
    ("java/util/ArrayList", ClassFact::HoldsElements),
    ("java/util/Arrays$ArrayList", ClassFact::HoldsElements),
    ("java/util/Collections$EmptyList", ClassFact::HoldsElements),
    ("java/util/Collections$EmptySet", ClassFact::HoldsElements),
    ("java/util/Collections$SingletonList", ClassFact::HoldsElements),
    ("java/util/Collections$SingletonSet", ClassFact::HoldsElements),
    ("java/util/HashMap$KeySet", ClassFact::HoldsElements),
    ("java/util/HashMap$Values", ClassFact::HoldsElements),
    ("java/util/HashSet", ClassFact::HoldsElements),
    ("java/util/ImmutableCollections$List12", ClassFact::HoldsElements),
    ("java/util/ImmutableCollections$ListN", ClassFact::HoldsElements),
    ("java/util/ImmutableCollections$Set12", ClassFact::HoldsElements),
    ("java/util/ImmutableCollections$SetN", ClassFact::HoldsElements),
    ("java/util/LinkedHashMap$LinkedKeySet", ClassFact::HoldsElements),
    ("java/util/LinkedHashMap$LinkedValues", ClassFact::HoldsElements),
    ("java/util/LinkedHashSet", ClassFact::HoldsElements),
    ("java/util/LinkedList", ClassFact::HoldsElements),
    ("java/util/PriorityQueue", ClassFact::HoldsElements),
    ("java/util/Stack", ClassFact::HoldsElements),
    ("java/util/TreeSet", ClassFact::HoldsElements),
    ("java/util/Vector", ClassFact::HoldsElements),
    ("java/util/concurrent/ConcurrentHashMap$KeySetView", ClassFact::HoldsElements),
    ("java/util/concurrent/ConcurrentHashMap$ValuesView", ClassFact::HoldsElements),
    ("java/util/concurrent/ConcurrentLinkedDeque", ClassFact::HoldsElements),
    ("java/util/concurrent/ConcurrentLinkedQueue", ClassFact::HoldsElements),
    ("java/util/concurrent/CopyOnWriteArrayList", ClassFact::HoldsElements),
    ("java/util/concurrent/CopyOnWriteArraySet", ClassFact::HoldsElements),
    ("java/util/concurrent/LinkedBlockingDeque", ClassFact::HoldsElements),
    ("java/util/concurrent/LinkedBlockingQueue", ClassFact::HoldsElements),
];

/// Library classes whose objects are views of a collection, with the field that holds it.
const VIEWS: &[(&str, &str)] = &[
    ("java/util/Collections$CheckedCollection", "c"),
    ("java/util/Collections$SynchronizedCollection", "c"),
    ("java/util/Collections$UnmodifiableCollection", "c"),
];

/// The field in which objects of a class have the collection that they are a view of.
pub(crate) fn wrapped_field(class: &str) -> Option<&'static str> {
    VIEWS.iter().find(|(name, _)| *name == class).map(|(_, field)| *field)
}

/// What is true of the objects of library classes.
#[derive(Debug)]
pub(crate) struct LibraryFacts {
    /// The facts that follow from single rows, as bits of [`ClassFact`], by the name of the class in internal form.
    from_rows: HashMap<&'static str, i32>,
}

impl LibraryFacts {
    /// Everything that the rows of the models say.
    pub(crate) fn new(models: &Models) -> LibraryFacts {
        let mut facts: HashMap<&str, i32> = HashMap::new();
        let mut exclusive_locks: HashSet<&str> = HashSet::new();
        for model in models.rows() {
            for effect in model.effects {
                let Effect::Acquire { lock: Operand::Receiver, mode, .. } = effect else {
                    continue;
                };
                match mode {
                    Mode::Exclusive | Mode::Any => {
                        exclusive_locks.insert(model.class);
                    }
                    Mode::Shared => {}
                    Mode::Optimistic | Mode::Permit => continue,
                }
                *facts.entry(model.class).or_default() |= ClassFact::Lock.bit();
            }
        }
        for (class, facts) in &mut facts {
            if !exclusive_locks.contains(class) {
                *facts |= ClassFact::SharedLock.bit();
            }
        }
        for (class, fact) in CLASSES {
            *facts.entry(class).or_default() |= fact.bit();
        }
        LibraryFacts { from_rows: facts }
    }

    /// What is true of the objects of a class, by its name in internal form, as bits of [`ClassFact`]. What follows
    /// from its supertypes is not among it.
    pub(crate) fn of(&self, models: &Models, class: &str) -> i32 {
        let facts = self.from_rows.get(class).copied().unwrap_or_default();
        let is_unordered = models.sharing(class) == Some(Sharing::NotThreadSafe);
        facts | if is_unordered { ClassFact::Unordered.bit() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(class: &str, fact: ClassFact) -> bool {
        let models = Models::built_in();
        LibraryFacts::new(&models).of(&models, class) & fact.bit() != 0
    }

    #[test]
    fn locks_are_what_the_models_acquire() {
        for class in ["Lock", "ReentrantLock", "StampedLock", "ReentrantReadWriteLock$ReadLock"] {
            assert!(
                has(&format!("java/util/concurrent/locks/{class}"), ClassFact::Lock),
                "{class}"
            );
        }
        assert!(!has("java/util/ArrayList", ClassFact::Lock));
        assert!(!has("com/acme/Lock", ClassFact::Lock));
    }

    #[test]
    fn read_locks_are_held_shared() {
        for class in ["ReentrantReadWriteLock$ReadLock", "StampedLock$ReadLockView"] {
            let class = format!("java/util/concurrent/locks/{class}");
            assert!(has(&class, ClassFact::SharedLock) && has(&class, ClassFact::Lock), "{class}");
        }
        assert!(!has("java/util/concurrent/locks/StampedLock", ClassFact::SharedLock));
        assert!(!has("java/util/concurrent/locks/Lock", ClassFact::SharedLock));
    }

    #[test]
    fn wrappers_do_not_hold_their_elements_themselves() {
        assert!(has("java/util/ArrayList", ClassFact::HoldsElements));
        assert!(has("java/util/ArrayList", ClassFact::Unordered));
        assert!(!has("java/util/Collections$UnmodifiableCollection", ClassFact::HoldsElements));
    }
}

//! What the Java half asks of a class by its name: the one place where the agent asks the models of the library.

use std::collections::{HashMap, HashSet};

use agent_protocol::ClassFact;
use models::{ClassProperty, Effect, Mode, Models, Operand, Sharing};

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
        for model in models.rows() {
            let is_ordered = model.effects.iter().any(|effect| {
                matches!(
                    effect,
                    Effect::AtomicRead { of: Operand::Receiver, .. }
                        | Effect::AtomicUpdate { of: Operand::Receiver, .. }
                        | Effect::Synchronized { lock: Operand::Receiver | Operand::Field(_) }
                )
            });
            // By its name alone: an atomic is no collection.
            if is_ordered && models.contents_access(model.class, model.method, &[]).is_some() {
                *facts.entry(model.class).or_default() |= ClassFact::Concurrent.bit();
            }
        }
        for (property, fact) in [
            (ClassProperty::HoldsElements, ClassFact::HoldsElements),
            (ClassProperty::ParallelStream, ClassFact::Stream),
            (ClassProperty::StreamWorker, ClassFact::StreamWorker),
        ] {
            for class in models.classes_that_are(property) {
                *facts.entry(class).or_default() |= fact.bit();
            }
        }
        LibraryFacts { from_rows: facts }
    }

    /// What is true of the objects of a class, by its name in internal form, as bits of [`ClassFact`]. What follows
    /// from its supertypes is not among it.
    pub(crate) fn of(&self, models: &Models, class: &str) -> i32 {
        let facts = self.from_rows.get(class).copied().unwrap_or_default();
        let order = match models.sharing(class) {
            Some(Sharing::NotThreadSafe) => ClassFact::Unordered.bit(),
            Some(Sharing::ThreadSafe | Sharing::Immutable | Sharing::ThreadConfined) => {
                ClassFact::Ordered.bit()
            }
            None => 0,
        };
        facts | order
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
    fn concurrent_collections_order_their_calls() {
        for class in [
            "concurrent/ConcurrentHashMap",
            "concurrent/LinkedBlockingQueue",
            "Vector",
            "Collections$SynchronizedMap",
        ] {
            assert!(has(&format!("java/util/{class}"), ClassFact::Concurrent), "{class}");
        }
        for class in ["HashMap", "ArrayList", "concurrent/atomic/AtomicInteger"] {
            assert!(!has(&format!("java/util/{class}"), ClassFact::Concurrent), "{class}");
        }
    }

    #[test]
    fn wrappers_do_not_hold_their_elements_themselves() {
        assert!(has("java/util/ArrayList", ClassFact::HoldsElements));
        assert!(has("java/util/ArrayList", ClassFact::Unordered));
        assert!(!has("java/util/Collections$UnmodifiableCollection", ClassFact::HoldsElements));
    }
}

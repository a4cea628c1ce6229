//! What a call does to the contents of the collection it is made on.

use model_format::{ClassProperty, Effect, MethodProperty, Operand};

use crate::Models;

/// What a call does to the contents of its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentsAccess {
    /// The result tells something about them.
    Looks,
    /// They change.
    Changes,
    /// They change, and the result is what was in there before.
    Takes,
}

/// What a call does to the contents of its receiver in a run, as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryAccess {
    /// They are read.
    Reads,
    /// They are written.
    Writes,
    /// They are written if the result is null or true, and read otherwise.
    WritesIfNew,
}

/// How a method takes something out of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Removal {
    /// If it is there; if not, nothing happens.
    Tolerant,
    /// What must be there.
    Demanding,
}

impl Models {
    /// What a call of this library method does to the contents of its receiver, if anything: as its
    /// effects say, else as is said of the method in the class or in a supertype of it.
    #[must_use]
    pub fn contents_access(
        &self,
        class: &str,
        method: &str,
        effects: &[Effect],
    ) -> Option<ContentsAccess> {
        // What was written to a stream is gone.
        if self.is(class, ClassProperty::Stream) {
            return None;
        }
        let on_receiver = |of: &Operand| *of == Operand::Receiver;
        let changes = effects.iter().any(|effect| match effect {
            Effect::Write { of } | Effect::AtomicUpdate { of, .. } => on_receiver(of),
            _ => false,
        });
        let looks = effects.iter().any(|effect| match effect {
            Effect::Read { of } | Effect::AtomicRead { of, .. } => on_receiver(of),
            _ => false,
        });
        let gives = effects.contains(&Effect::Load { from: Operand::Receiver });
        let is_fresh = effects.contains(&Effect::ReturnsFresh);
        match (changes, looks, gives) {
            (true, _, true) => Some(ContentsAccess::Takes),
            (true, _, false) => Some(ContentsAccess::Changes),
            // A copy is a value of its own.
            (false, true, _) if !is_fresh => Some(ContentsAccess::Looks),
            (false, true, _) => None,
            (false, false, _) => self.contents_access_by_name(class, method),
        }
    }

    fn contents_access_by_name(&self, class: &str, method: &str) -> Option<ContentsAccess> {
        const ACCESSES: [(MethodProperty, ContentsAccess); 3] = [
            (MethodProperty::Looks, ContentsAccess::Looks),
            (MethodProperty::Changes, ContentsAccess::Changes),
            (MethodProperty::Takes, ContentsAccess::Takes),
        ];
        let access = |property| ACCESSES.iter().find(|it| it.0 == property).map(|it| it.1);
        [class].iter().chain(self.supertypes(class)).find_map(|class| {
            self.methods_of(class)
                .filter(|fact| fact.method == method)
                .find_map(|fact| access(fact.property))
        })
    }

    /// Whether a call of this method is about one entry of its receiver alone, the one that its first argument is the
    /// key or element of.
    #[must_use]
    pub fn is_keyed(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::Keyed)
    }

    /// Whether a call of this method changes its receiver only if what it adds is not there yet.
    #[must_use]
    pub fn adds_if_absent(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::AddsIfAbsent)
    }

    /// Whether the atomic updates that calls of this method make commute with each other.
    #[must_use]
    pub fn commutes(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::Commutes)
    }

    /// Whether an atomic update by this method succeeds only if the variable has the value that the caller expects.
    #[must_use]
    pub fn compares(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::Compares)
    }

    /// Whether this method tells whether what was read since an optimistic acquisition of its object was consistent.
    #[must_use]
    pub fn validates(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::Validates)
    }

    /// Whether what this method returns is an object that its receiver no longer has.
    #[must_use]
    pub fn gives_away(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.has_inherited(class, method, descriptor, MethodProperty::GivesAway)
    }

    /// Whether a class or one above it says this of a method.
    fn has_inherited(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
        property: MethodProperty,
    ) -> bool {
        [class].iter().chain(self.supertypes(class)).any(|class| {
            self.methods_of(class).any(|fact| {
                fact.method == method
                    && fact.property == property
                    && descriptor_fits(fact.descriptor, descriptor)
            })
        })
    }

    /// What a call of this library method does to the contents of its receiver in a run. What the documentation allows
    /// several threads to do at once is a read, whatever an analysis that cannot see the object must assume: to replace
    /// the value of a key that is there, or one element by another.
    #[must_use]
    pub fn memory_access(
        &self,
        class: &str,
        method: &str,
        effects: &[Effect],
    ) -> Option<MemoryAccess> {
        const ACCESSES: [(MethodProperty, MemoryAccess); 3] = [
            (MethodProperty::ReadsContents, MemoryAccess::Reads),
            (MethodProperty::WritesContents, MemoryAccess::Writes),
            (MethodProperty::WritesNewContents, MemoryAccess::WritesIfNew),
        ];
        if self.is(class, ClassProperty::Stream) {
            return None;
        }
        let said = |property| ACCESSES.iter().find(|it| it.0 == property).map(|it| it.1);
        let by_name = [class].iter().chain(self.supertypes(class)).find_map(|class| {
            self.methods_of(class)
                .filter(|fact| fact.method == method)
                .find_map(|fact| said(fact.property))
        });
        let of_receiver = |wanted: Effect| effects.contains(&wanted);
        by_name.or_else(|| match self.contents_access_by_name(class, method) {
            Some(ContentsAccess::Looks) => Some(MemoryAccess::Reads),
            Some(ContentsAccess::Changes | ContentsAccess::Takes) => Some(MemoryAccess::Writes),
            None if of_receiver(Effect::Write { of: Operand::Receiver }) => {
                Some(MemoryAccess::Writes)
            }
            None if of_receiver(Effect::Read { of: Operand::Receiver }) => {
                Some(MemoryAccess::Reads)
            }
            None => None,
        })
    }

    /// How a collection method of this name and descriptor takes something out, if it does, whoever
    /// declares it.
    #[must_use]
    pub fn removal(&self, method: &str, descriptor: &str) -> Option<Removal> {
        const REMOVALS: [(MethodProperty, Removal); 2] = [
            (MethodProperty::TolerantRemoval, Removal::Tolerant),
            (MethodProperty::DemandingRemoval, Removal::Demanding),
        ];
        let with = |wanted: &dyn Fn(&str) -> bool| {
            self.all_methods()
                .filter(|fact| fact.method == method && wanted(fact.descriptor))
                .find_map(|fact| REMOVALS.iter().find(|it| it.0 == fact.property).map(|it| it.1))
        };
        let parameters = &descriptor[..descriptor.rfind(')').map_or(0, |end| end + 1)];
        with(&|pattern| pattern != "*" && pattern.strip_suffix('*') == Some(parameters))
            .or_else(|| with(&|pattern| pattern == "*"))
    }

    /// Whether a look by this method is a change only in a map that keeps its entries in the order of
    /// access.
    #[must_use]
    pub fn writes_in_access_order(&self, class: &str, method: &str) -> bool {
        self.methods_of(class).any(|fact| {
            fact.method == method && fact.property == MethodProperty::WritesInAccessOrder
        })
    }

    /// Whether a constructor with this descriptor can make a map that keeps its entries in the order of
    /// access.
    #[must_use]
    pub fn has_access_order(&self, class: &str, descriptor: &str) -> bool {
        self.methods_of(class).any(|fact| {
            fact.property == MethodProperty::MakesAccessOrder
                && descriptor_fits(fact.descriptor, descriptor)
        })
    }
}

/// Whether a descriptor is what a pattern of a row stands for.
pub(crate) fn descriptor_fits(pattern: &str, descriptor: &str) -> bool {
    pattern == "*"
        || pattern == descriptor
        || pattern.strip_suffix('*').is_some_and(|parameters| {
            descriptor.strip_prefix(parameters).is_some_and(|result| !result.contains(')'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(class: &str, method: &str, descriptor: &str) -> Option<ContentsAccess> {
        let models = Models::built_in();
        let effects = models.find(class, method, descriptor).map_or(&[][..], |row| row.effects);
        models.contents_access(class, method, effects)
    }

    #[test]
    fn classes_and_interfaces_agree() {
        for class in ["java/util/ArrayList", "java/util/List", "java/util/Vector"] {
            assert_eq!(access(class, "size", "()I"), Some(ContentsAccess::Looks), "{class}");
            let remove = access(class, "remove", "(I)Ljava/lang/Object;");
            assert_eq!(remove, Some(ContentsAccess::Takes), "{class}");
            let add = access(class, "add", "(Ljava/lang/Object;)Z");
            assert_eq!(add, Some(ContentsAccess::Changes), "{class}");
        }
        assert_eq!(access("java/util/Map", "iterator", "()V"), None);
        assert_eq!(access("java/lang/String", "contains", "(Ljava/lang/CharSequence;)Z"), None);
    }

    #[test]
    fn what_must_be_there_is_demanded() {
        let removal = |method, descriptor| Models::built_in().removal(method, descriptor);
        assert_eq!(removal("remove", "(I)Ljava/lang/Object;"), Some(Removal::Demanding));
        assert_eq!(removal("remove", "()Ljava/lang/Object;"), Some(Removal::Demanding));
        assert_eq!(removal("remove", "(Ljava/lang/Object;)Z"), Some(Removal::Tolerant));
        assert_eq!(removal("poll", "()Ljava/lang/Object;"), Some(Removal::Tolerant));
        assert_eq!(removal("add", "(Ljava/lang/Object;)Z"), None);
    }

    #[test]
    fn one_entry_is_known_by_its_key() {
        let models = Models::built_in();
        let is_keyed = |class, method, descriptor| models.is_keyed(class, method, descriptor);
        let object = "(Ljava/lang/Object;)Ljava/lang/Object;";
        for class in
            ["java/util/Map", "java/util/concurrent/ConcurrentHashMap", "java/util/Hashtable"]
        {
            assert!(is_keyed(class, "get", object) && !is_keyed(class, "size", "()I"), "{class}");
            assert!(!is_keyed(class, "containsValue", "(Ljava/lang/Object;)Z"), "{class}");
        }
        let set = "java/util/concurrent/ConcurrentSkipListSet";
        assert!(is_keyed(set, "add", "(Ljava/lang/Object;)Z"));
        assert!(!is_keyed("java/util/Vector", "add", "(Ljava/lang/Object;)Z"));
        assert!(!is_keyed("java/util/concurrent/BlockingQueue", "remove", "(Ljava/lang/Object;)Z"));
    }

    #[test]
    fn a_copy_is_not_a_look() {
        assert_eq!(access("java/util/Vector", "toArray", "()[Ljava/lang/Object;"), None);
    }

    #[test]
    fn what_several_threads_may_do_at_once_is_a_read() {
        let access = |class, method, descriptor| {
            let models = Models::built_in();
            let effects = models.find(class, method, descriptor).map_or(&[][..], |row| row.effects);
            models.memory_access(class, method, effects)
        };
        let object = "(Ljava/lang/Object;)Ljava/lang/Object;";
        let put = "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";
        let set = "(ILjava/lang/Object;)Ljava/lang/Object;";
        for (class, method, descriptor, expected) in [
            ("java/util/HashMap", "put", put, MemoryAccess::WritesIfNew),
            ("java/util/Map", "put", put, MemoryAccess::WritesIfNew),
            ("java/util/LinkedHashMap", "get", object, MemoryAccess::Reads),
            ("java/util/ArrayList", "set", set, MemoryAccess::Reads),
            ("java/util/List", "clear", "()V", MemoryAccess::Writes),
            ("java/util/Iterator", "next", "()Ljava/lang/Object;", MemoryAccess::Reads),
            ("java/util/Iterator", "remove", "()V", MemoryAccess::Writes),
            ("java/util/Calendar", "get", "(I)I", MemoryAccess::Reads),
            ("java/util/Calendar", "set", "(II)V", MemoryAccess::Writes),
            (
                "java/text/SimpleDateFormat",
                "format",
                "(Ljava/util/Date;)Ljava/lang/String;",
                MemoryAccess::Writes,
            ),
        ] {
            assert_eq!(access(class, method, descriptor), Some(expected), "{class}.{method}");
        }
        assert_eq!(access("java/util/Iterator", "hasNext", "()Z"), None);
    }

    #[test]
    fn the_order_of_access_is_chosen_by_one_constructor() {
        let models = Models::built_in();
        assert!(models.has_access_order("java/util/LinkedHashMap", "(IFZ)V"));
        assert!(!models.has_access_order("java/util/LinkedHashMap", "(IF)V"));
        assert!(models.writes_in_access_order("java/util/LinkedHashMap", "get"));
        assert!(!models.writes_in_access_order("java/util/HashMap", "get"));
    }
}

//! What a call does to the contents of the collection it is made on.
//!
//! The tables say this of classes whose own accesses can race. Here it is also said of the interfaces,
//! for callers that guard a collection with a lock of their own: whoever implements it, `add`
//! changes it.

use super::{Effect, Operand, is_stream, supertypes};

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

/// What a call of this library method does to the contents of its receiver, if anything.
#[must_use]
pub fn contents_access(class: &str, method: &str, effects: &[Effect]) -> Option<ContentsAccess> {
    // What was written to a stream is gone.
    if is_stream(class) {
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
        (false, false, _) => by_interface(class, method),
    }
}

/// How a method takes something out of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Removal {
    /// If it is there; if not, nothing happens.
    Tolerant,
    /// What must be there.
    Demanding,
}

/// Whether a look by this method is a change only in a map that keeps its entries in the order of access.
#[must_use]
pub fn writes_in_access_order(class: &str, method: &str) -> bool {
    class == "java/util/LinkedHashMap" && method.starts_with("get")
}

/// Whether a constructor with this descriptor can make a map that keeps its entries in the order of access.
#[must_use]
pub fn has_access_order(class: &str, descriptor: &str) -> bool {
    class == "java/util/LinkedHashMap" && descriptor == "(IFZ)V"
}

/// How a collection method of this name and descriptor takes something out, if it does.
#[must_use]
pub fn removal(method: &str, descriptor: &str) -> Option<Removal> {
    match method {
        "clear" | "removeAll" | "removeIf" | "retainAll" | "poll" | "pollFirst" | "pollLast"
        | "pollFirstEntry" | "pollLastEntry" | "removeElement" | "removeAllElements" => {
            Some(Removal::Tolerant)
        }
        // By index, or whatever comes first; else by what is to be removed.
        "remove" if descriptor.starts_with("()") || descriptor.starts_with("(I)") => {
            Some(Removal::Demanding)
        }
        "remove" => Some(Removal::Tolerant),
        "removeFirst" | "removeLast" | "removeElementAt" | "pop" => Some(Removal::Demanding),
        _ => None,
    }
}

/// The interfaces have no rows about accesses, since an unknown implementation may be a concurrent
/// one.
fn by_interface(class: &str, method: &str) -> Option<ContentsAccess> {
    let is_or_extends =
        |interface: &str| class == interface || supertypes(class).contains(&interface);
    if !is_or_extends("java/util/Collection") && !is_or_extends("java/util/Map") {
        return None;
    }
    match method {
        "size" | "isEmpty" | "contains" | "containsAll" | "containsKey" | "containsValue"
        | "get" | "getOrDefault" | "indexOf" | "lastIndexOf" | "peek" | "element" | "getFirst"
        | "getLast" | "peekFirst" | "peekLast" | "first" | "last" | "firstKey" | "lastKey"
        | "lower" | "floor" | "ceiling" | "higher" | "lowerEntry" | "lowerKey" | "floorEntry"
        | "floorKey" | "ceilingEntry" | "ceilingKey" | "higherEntry" | "higherKey"
        | "firstEntry" | "lastEntry" => Some(ContentsAccess::Looks),
        "add"
        | "addAll"
        | "addFirst"
        | "addLast"
        | "offer"
        | "offerFirst"
        | "offerLast"
        | "push"
        | "putAll"
        | "putIfAbsent"
        | "clear"
        | "removeAll"
        | "retainAll"
        | "removeIf"
        | "replaceAll"
        | "sort"
        | "computeIfAbsent"
        | "computeIfPresent"
        | "compute"
        | "merge"
        | "removeFirstOccurrence"
        | "removeLastOccurrence" => Some(ContentsAccess::Changes),
        "remove" | "poll" | "pollFirst" | "pollLast" | "pop" | "removeFirst" | "removeLast"
        | "pollFirstEntry" | "pollLastEntry" | "put" | "set" | "replace" => {
            Some(ContentsAccess::Takes)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;

    fn access(class: &str, method: &str, descriptor: &str) -> Option<ContentsAccess> {
        let effects = models::find(class, method, descriptor).map_or(&[][..], |row| row.effects);
        contents_access(class, method, effects)
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
        assert_eq!(removal("remove", "(I)Ljava/lang/Object;"), Some(Removal::Demanding));
        assert_eq!(removal("remove", "(Ljava/lang/Object;)Z"), Some(Removal::Tolerant));
        assert_eq!(removal("poll", "()Ljava/lang/Object;"), Some(Removal::Tolerant));
        assert_eq!(removal("add", "(Ljava/lang/Object;)Z"), None);
    }

    #[test]
    fn a_copy_is_not_a_look() {
        assert_eq!(access("java/util/Vector", "toArray", "()[Ljava/lang/Object;"), None);
    }
}

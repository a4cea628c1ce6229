//! Who extends whom, and what a virtual call can reach.
//!
//! Missing classes are tolerated: a class whose superclass was not found is treated as if it
//! extended `java/lang/Object` directly, and a call into a missing class has no known target.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ClassId, MethodId, SelectorId, TypedVec};
use crate::ir::DeclaredType;
use crate::symbols::{Class, Method};

/// Sub- and supertype relations, with the methods each class declares.
#[derive(Debug, Default)]
pub struct Hierarchy {
    /// Superclass of each class.
    superclass: TypedVec<ClassId, Option<ClassId>>,
    /// Direct superinterfaces of each class.
    interfaces: TypedVec<ClassId, Vec<ClassId>>,
    /// Classes that name this one as superclass or superinterface.
    direct_subtypes: TypedVec<ClassId, Vec<ClassId>>,
    concrete: TypedVec<ClassId, bool>,
    /// The method a class declares for a selector, private and static ones included.
    declared: FxHashMap<(ClassId, SelectorId), Declared>,
    /// Every subtype of a class, the class itself included, computed when first asked for.
    cones: TypedVec<ClassId, OnceLock<Box<[ClassId]>>>,
}

#[derive(Clone, Copy, Debug)]
struct Declared {
    method: MethodId,
    /// Can be the target of dispatch: neither abstract nor static.
    implements: bool,
    is_private: bool,
}

impl Hierarchy {
    pub(crate) fn new(
        classes: &TypedVec<ClassId, Class>,
        methods: &TypedVec<MethodId, Method>,
    ) -> Hierarchy {
        let mut direct_subtypes: TypedVec<ClassId, Vec<ClassId>> =
            TypedVec::filled(Vec::new(), classes.len());
        for (id, class) in classes.iter_with_ids() {
            for parent in class.superclass.iter().chain(&class.interfaces) {
                direct_subtypes[*parent].push(id);
            }
        }
        let mut declared = FxHashMap::default();
        declared.reserve(methods.len());
        for (id, method) in methods.iter_with_ids() {
            declared.entry((method.class, method.selector)).or_insert(Declared {
                method: id,
                implements: !method.is_abstract() && !method.is_static(),
                is_private: method.is_private(),
            });
        }
        Hierarchy {
            superclass: classes.iter().map(|class| class.superclass).collect(),
            interfaces: classes.iter().map(|class| class.interfaces.clone()).collect(),
            direct_subtypes,
            concrete: classes.iter().map(Class::is_concrete).collect(),
            declared,
            cones: classes.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The superclass.
    #[must_use]
    pub fn superclass(&self, class: ClassId) -> Option<ClassId> {
        self.superclass[class]
    }

    /// The class and its superclasses, from the bottom up. Bounded, so that a cyclic hierarchy in
    /// malformed input ends.
    pub fn superclasses(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        std::iter::successors(Some(class), |class| self.superclass[*class]).take(1_000)
    }

    /// Every supertype, the class itself first, superclasses before interfaces.
    #[must_use]
    pub fn supertypes(&self, class: ClassId) -> Vec<ClassId> {
        let mut found: Vec<ClassId> = self.superclasses(class).collect();
        let mut seen: FxHashSet<ClassId> = found.iter().copied().collect();
        let mut next = 0;
        while next < found.len() {
            for interface in &self.interfaces[found[next]] {
                if seen.insert(*interface) {
                    found.push(*interface);
                }
            }
            if let Some(superclass) = self.superclass[found[next]]
                && seen.insert(superclass)
            {
                found.push(superclass);
            }
            next += 1;
        }
        found
    }

    /// Whether every `sub` is a `sup`.
    #[must_use]
    pub fn is_subtype(&self, sub: ClassId, sup: ClassId) -> bool {
        sub == sup || self.cone(sup).binary_search(&sub).is_ok()
    }

    /// Whether one object can be both: one is a subtype of the other, or some class is both.
    #[must_use]
    pub fn can_be_both(&self, one: ClassId, other: ClassId) -> bool {
        if self.is_subtype(one, other) || self.is_subtype(other, one) {
            return true;
        }
        let (small, large) =
            if self.cone(one).len() < self.cone(other).len() { (one, other) } else { (other, one) };
        self.cone(small).iter().any(|class| self.is_subtype(*class, large))
    }

    /// Whether values that are declared like this can be the same object.
    #[must_use]
    pub fn can_be_one(&self, one: DeclaredType, other: DeclaredType) -> bool {
        match (one, other) {
            (DeclaredType::Class(one), DeclaredType::Class(other)) => {
                self.is_subtype(one, other) || self.is_subtype(other, one)
            }
            (DeclaredType::Array, DeclaredType::Class(_))
            | (DeclaredType::Class(_), DeclaredType::Array) => false,
            (DeclaredType::Array, DeclaredType::Array)
            | (DeclaredType::Unknown, _)
            | (_, DeclaredType::Unknown) => true,
        }
    }

    /// Every subtype of a class, the class itself included, sorted by id.
    #[must_use]
    pub fn cone(&self, class: ClassId) -> &[ClassId] {
        self.cones[class].get_or_init(|| {
            let mut seen = FxHashSet::default();
            let mut todo = vec![class];
            while let Some(class) = todo.pop() {
                if seen.insert(class) {
                    todo.extend(&self.direct_subtypes[class]);
                }
            }
            let mut cone: Vec<ClassId> = seen.into_iter().collect();
            cone.sort_unstable();
            cone.into_boxed_slice()
        })
    }

    /// Subtypes of a class that can have objects.
    pub fn concrete_subtypes(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        self.cone(class).iter().copied().filter(|class| self.concrete[*class])
    }

    /// The method a class itself declares for a selector.
    #[must_use]
    pub fn declared(&self, class: ClassId, selector: SelectorId) -> Option<MethodId> {
        self.declared.get(&(class, selector)).map(|declared| declared.method)
    }

    /// What a reference to `class.selector` resolves to (JVMS 5.4.3.3): superclasses first, then
    /// superinterfaces, an implementation before an abstract declaration.
    #[must_use]
    pub fn resolve(&self, class: ClassId, selector: SelectorId) -> Option<MethodId> {
        if let Some(found) =
            self.superclasses(class).find_map(|class| self.declared(class, selector))
        {
            return Some(found);
        }
        let candidates: Vec<Declared> = self
            .supertypes(class)
            .into_iter()
            .filter_map(|class| self.declared.get(&(class, selector)).copied())
            .collect();
        let best = candidates.iter().find(|declared| declared.implements).or(candidates.first());
        best.map(|declared| declared.method)
    }

    /// The method that runs when `selector` is called on an object of exactly `class` (JVMS 5.4.6):
    /// the lowest superclass that implements it, else the most specific default method.
    #[must_use]
    pub fn dispatch(&self, class: ClassId, selector: SelectorId) -> Option<MethodId> {
        for class in self.superclasses(class) {
            if let Some(declared) = self.declared.get(&(class, selector))
                && !declared.is_private
            {
                return declared.implements.then_some(declared.method);
            }
        }
        let mut best: Option<(ClassId, MethodId)> = None;
        for class in self.supertypes(class) {
            let Some(declared) = self.declared.get(&(class, selector)) else { continue };
            if declared.implements
                && !declared.is_private
                && best.is_none_or(|(current, _)| self.is_subtype(class, current))
            {
                best = Some((class, declared.method));
            }
        }
        best.map(|(_, method)| method)
    }
}

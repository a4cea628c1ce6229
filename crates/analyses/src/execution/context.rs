//! Contexts: a method, and what its caller knows about objects, locks and order (dissertation, 3.4.2: site
//! contexts).
//!
//! Two calls that agree in all of this are one context; what happens in it is looked at once (call caching).
//!
//! Deviations. 1. The thread is no part of a context: what a method does depends on the thread only through
//! what it is given. Which threads get to a context is found afterwards, along calls. 2. Beyond the abstract
//! objects that are locked, a context knows how the callee would name each lock, so that locks of many
//! instances can be distinguished where the code does so; and it says what may have happened before. 3. Where a
//! lock was taken does not make contexts differ: the first place stands for all.

use std::hash::{Hash, Hasher};

use program::ids::MethodId;
use program::interner::Interner;

use super::binding::slot_of;
use super::event::ContextId;
use super::{HeldLock, LockMode, Order, Relation};
use crate::heap::{ObjectId, Slot};
use crate::locks::expression::{ElementIndex, ExpressionRoot, LockExpression, PathElement};

program::typed_ids! {
    /// What the alias sets of a method are.
    BindingId "binding";
    /// A list of held locks.
    LocksId "locks";
    /// What has happened before.
    OrderId "order";
}

/// The longest way from a lock to an object that is remembered across calls.
const LONGEST_WAY: usize = 4;

/// A lock that is held when a method is called. Two that differ only in where they were taken are equal.
#[derive(Clone, Debug)]
pub(super) struct ContextLock {
    /// The lock.
    pub(super) lock: HeldLock,
    /// How the method names it.
    pub(super) expression: Option<LockExpression>,
    /// Parameters that are what these slots of the locked object lead to.
    pub(super) around: Vec<(u16, Vec<Slot>)>,
    /// Parameters that are known by names which do not begin at the locked object.
    pub(super) apart: Vec<u16>,
}

impl ContextLock {
    /// A lock that has no name here.
    pub(super) fn unnamed(lock: HeldLock) -> ContextLock {
        ContextLock { lock, expression: None, around: Vec::new(), apart: Vec::new() }
    }

    /// What makes a lock differ from another, for a context.
    #[allow(clippy::type_complexity, reason = "all fields but one")]
    fn identity(
        &self,
    ) -> (Option<ObjectId>, LockMode, &Option<LockExpression>, &[(u16, Vec<Slot>)], &[u16]) {
        (self.lock.object, self.lock.mode, &self.expression, &self.around, &self.apart)
    }

    /// The relation of the lock to an object that this expression names.
    pub(super) fn relation(
        &self,
        class_of_static: &dyn Fn(program::ids::FieldId) -> program::ids::ClassId,
        object: Option<&LockExpression>,
    ) -> Relation {
        let Some(object) = object else { return Relation::Unknown };
        if let Some(lock) = &self.expression {
            let (lock_root, object_root) =
                (path_root(class_of_static, lock), path_root(class_of_static, object));
            if lock_root == object_root {
                if let Some(path_suffix) = path_suffix(lock, object) {
                    return Relation::Inside(path_suffix);
                }
                if let Some(path_suffix) = path_suffix(object, lock) {
                    return Relation::Around(path_suffix);
                }
            }
        }
        if let ExpressionRoot::Parameter(number) = object.root
            && let Some((_, slots)) = self.around.iter().find(|(of, _)| *of == number)
        {
            let mut slots = slots.clone();
            slots.extend(steps(object).filter_map(|step| slot_of(&step)));
            return Relation::Around(slots);
        }
        // What a loop or a call has yielded may come from anywhere.
        match object.root {
            ExpressionRoot::Parameter(number)
                if self.expression.is_some() || self.apart.contains(&number) =>
            {
                Relation::Apart
            }
            _ => Relation::Unknown,
        }
    }

    /// The lock as a callee sees it, whose parameters the caller names like this.
    pub(super) fn in_callee(
        &self,
        class_of_static: &dyn Fn(program::ids::FieldId) -> program::ids::ClassId,
        arguments: &[Option<LockExpression>],
    ) -> ContextLock {
        let (mut around, mut apart) = (Vec::new(), Vec::new());
        for (number, argument) in arguments.iter().enumerate() {
            match self.relation(class_of_static, argument.as_ref()) {
                Relation::Around(slots) if slots.len() <= LONGEST_WAY && !slots.is_empty() => {
                    around.push((number as u16, slots));
                }
                Relation::Apart => apart.push(number as u16),
                Relation::Around(_) | Relation::Inside(_) | Relation::Unknown => {}
            }
        }
        let expression = self.expression.and_then(|lock| name_in_callee(&lock, arguments));
        ContextLock { lock: self.lock.clone(), expression, around, apart }
    }
}

impl PartialEq for ContextLock {
    fn eq(&self, other: &ContextLock) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for ContextLock {}

impl Hash for ContextLock {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// Where an expression begins; a static field is a variable of its class.
fn path_root(
    class_of_static: &dyn Fn(program::ids::FieldId) -> program::ids::ClassId,
    expression: &LockExpression,
) -> ExpressionRoot {
    match expression.root {
        ExpressionRoot::Static(field) => ExpressionRoot::Class(class_of_static(field)),
        root @ (ExpressionRoot::Parameter(_)
        | ExpressionRoot::Class(_)
        | ExpressionRoot::Local(_)) => root,
    }
}

/// How an expression goes on; views are left out, for they are what they show.
fn steps(expression: &LockExpression) -> impl Iterator<Item = PathElement> + '_ {
    let first = match expression.root {
        ExpressionRoot::Static(field) => Some(PathElement::Field(field)),
        ExpressionRoot::Parameter(_) | ExpressionRoot::Class(_) | ExpressionRoot::Local(_) => None,
    };
    let others = expression.steps().iter().copied().filter(|step| *step != PathElement::View);
    first.into_iter().chain(others)
}

/// The way from what the shorter expression names to what the longer one names, if it goes on from there.
fn path_suffix(longer: &LockExpression, shorter: &LockExpression) -> Option<Vec<Slot>> {
    let mut way = steps(longer);
    for step in steps(shorter) {
        if way.next() != Some(step) {
            return None;
        }
    }
    Some(way.filter_map(|step| slot_of(&step)).collect())
}

/// How a callee names a lock of its caller: through the parameter that is nearest, or because the name means
/// the same everywhere.
fn name_in_callee(
    lock: &LockExpression,
    arguments: &[Option<LockExpression>],
) -> Option<LockExpression> {
    let is_fixed = |step: &PathElement| match step {
        PathElement::Element(ElementIndex::Local(_) | ElementIndex::Parameter(_)) => false,
        PathElement::Element(ElementIndex::Constant(_))
        | PathElement::Field(_)
        | PathElement::View
        | PathElement::Captured(..)
        | PathElement::None => true,
    };
    let through = arguments.iter().enumerate().filter_map(|(number, argument)| {
        let argument = argument.as_ref()?;
        let path_suffix = lock.steps().strip_prefix(argument.steps())?;
        if argument.root != lock.root || !path_suffix.iter().all(is_fixed) {
            return None;
        }
        let start = LockExpression::new(ExpressionRoot::Parameter(number as u16));
        path_suffix.iter().try_fold(start, |expression, step| expression.then(*step))
    });
    let nearest = through.min_by_key(|expression| (expression.steps().len(), *expression));
    match lock.root {
        ExpressionRoot::Static(_) | ExpressionRoot::Class(_)
            if lock.steps().iter().all(is_fixed) =>
        {
            // Through a parameter it can be distinguished from what is accessed through that parameter.
            Some(nearest.unwrap_or(*lock))
        }
        ExpressionRoot::Static(_)
        | ExpressionRoot::Class(_)
        | ExpressionRoot::Parameter(_)
        | ExpressionRoot::Local(_) => nearest,
    }
}

/// What is known of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct ParameterFacts {
    /// It is new, and no other thread knows it.
    pub(super) is_fresh: bool,
    /// It was taken out of a collection, and not given back.
    pub(super) is_taken_out: bool,
    /// It is the object that the thread was started with, and no other thread runs it.
    pub(super) is_own_root: bool,
    /// It is the object that the thread was started with; whether others run it is not known.
    pub(super) is_perhaps_own_root: bool,
    /// Its end was waited for.
    pub(super) is_joined: bool,
}

/// A method in a context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ContextKey {
    pub(super) method: MethodId,
    pub(super) binding: BindingId,
    /// By parameter; nothing is known of those that are left out.
    pub(super) facts: Box<[ParameterFacts]>,
    pub(super) locks: LocksId,
    pub(super) order: OrderId,
    /// Whether the receiver is under construction.
    pub(super) is_constructing: bool,
}

/// All contexts, and what they are made of.
#[derive(Default)]
pub(super) struct Contexts {
    pub(super) keys: Interner<ContextId, ContextKey>,
    pub(super) locks: Interner<LocksId, Vec<ContextLock>>,
    pub(super) orders: Interner<OrderId, Order>,
}

#[cfg(test)]
mod tests {
    use program::ids::{ClassId, FieldId, Id};

    use super::*;
    use crate::heap::Place;

    fn field(number: usize) -> PathElement {
        PathElement::Field(FieldId::new(number))
    }

    fn named(root: ExpressionRoot, steps: &[PathElement]) -> LockExpression {
        steps.iter().fold(LockExpression::new(root), |name, step| name.then(*step).unwrap())
    }

    fn lock(expression: Option<LockExpression>) -> ContextLock {
        let taken_at = Place { method: MethodId::new(0), offset: 0 };
        let lock = HeldLock { object: Some(ObjectId::new(0)), mode: LockMode::Exclusive, taken_at };
        ContextLock { lock, expression, around: Vec::new(), apart: Vec::new() }
    }

    fn class_of_static(_: FieldId) -> ClassId {
        ClassId::new(7)
    }

    #[test]
    fn a_host_lock_stays_around_its_part_in_callees() {
        let host = named(ExpressionRoot::Local(program::ids::ValueId::new(3)), &[]);
        let part = host.then(field(1)).unwrap();
        let held = lock(Some(host));
        let slot = Slot::Field(FieldId::new(1));
        assert_eq!(held.relation(&class_of_static, Some(&part)), Relation::Around(vec![slot]));
        let in_part = held.in_callee(&class_of_static, &[Some(part)]);
        assert_eq!(in_part.expression, None);
        let this = named(ExpressionRoot::Parameter(0), &[]);
        assert_eq!(in_part.relation(&class_of_static, Some(&this)), Relation::Around(vec![slot]));
        let deeper = this.then(field(2)).unwrap();
        let in_deeper = in_part.in_callee(&class_of_static, &[None, Some(deeper)]);
        let second = named(ExpressionRoot::Parameter(1), &[]);
        assert_eq!(
            in_deeper.relation(&class_of_static, Some(&second)),
            Relation::Around(vec![slot, Slot::Field(FieldId::new(2))])
        );
    }

    #[test]
    fn a_lock_in_a_field_of_the_object_is_inside() {
        let this = named(ExpressionRoot::Parameter(0), &[]);
        let mutex = this.then(field(1)).unwrap();
        let held = lock(Some(mutex));
        assert_eq!(
            held.relation(&class_of_static, Some(&this)),
            Relation::Inside(vec![Slot::Field(FieldId::new(1))])
        );
        assert_eq!(
            lock(Some(this)).relation(&class_of_static, Some(&this)),
            Relation::Inside(vec![])
        );
    }

    #[test]
    fn a_static_lock_is_inside_its_class() {
        let held = lock(Some(named(ExpressionRoot::Static(FieldId::new(4)), &[])));
        let class = named(ExpressionRoot::Class(ClassId::new(7)), &[]);
        assert_eq!(
            held.relation(&class_of_static, Some(&class)),
            Relation::Inside(vec![Slot::Field(FieldId::new(4))])
        );
    }

    #[test]
    fn an_index_of_the_caller_means_nothing_to_the_callee() {
        let this = named(ExpressionRoot::Parameter(0), &[]);
        let stripe = named(
            ExpressionRoot::Parameter(0),
            &[field(1), PathElement::Element(ElementIndex::Parameter(1))],
        );
        assert_eq!(name_in_callee(&stripe, &[Some(this)]), None);
    }
}

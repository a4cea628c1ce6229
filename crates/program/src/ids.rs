//! Typed indices, and vectors that only the right index opens: a class cannot index a method.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index that belongs to one kind of thing.
pub trait Id: Copy + Eq + Ord + std::hash::Hash {
    /// The id of the thing at this position.
    fn new(index: usize) -> Self;
    /// The position of the thing.
    fn index(self) -> usize;
}

/// Declares kinds of typed indices: `typed_ids! { /// A thing. ThingId "thing"; }`.
#[macro_export]
macro_rules! typed_ids {
    ($($(#[$doc:meta])+ $name:ident $prefix:literal;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::ids::Id for $name {
            fn new(index: usize) -> $name {
                $name(u32::try_from(index).expect("no program has four billion of anything"))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, f)
            }
        }
    )+};
}

typed_ids! {
    /// A class or interface of the program, present or missing.
    ClassId "class";
    /// A method declared by a class.
    MethodId "method";
    /// A field declared by a class.
    FieldId "field";
    /// A method name with its descriptor: what virtual dispatch looks up.
    SelectorId "selector";
    /// A lambda or method reference: the place where it is created.
    LambdaId "lambda";
    /// A basic block of one body.
    BlockId "b";
    /// An SSA value of one body.
    ValueId "v";
}

/// A vector indexed by one kind of id.
#[derive(Clone, Debug)]
pub struct TypedVec<I, T> {
    items: Vec<T>,
    marker: PhantomData<fn(I)>,
}

impl<I: Id, T> TypedVec<I, T> {
    /// An empty vector.
    #[must_use]
    pub fn new() -> TypedVec<I, T> {
        TypedVec { items: Vec::new(), marker: PhantomData }
    }

    /// A vector of `len` copies.
    #[must_use]
    pub fn filled(item: T, len: usize) -> TypedVec<I, T>
    where
        T: Clone,
    {
        TypedVec { items: vec![item; len], marker: PhantomData }
    }

    /// Appends an item and returns its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// The id that the next `push` will return.
    #[must_use]
    pub fn next_id(&self) -> I {
        I::new(self.items.len())
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items, changeable, in the order of their ids.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items with their ids.
    pub fn iter_with_ids(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// All ids.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// The items themselves, in the order of their ids.
    pub fn into_items(self) -> std::vec::IntoIter<T> {
        self.items.into_iter()
    }

    /// The items as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> Default for TypedVec<I, T> {
    fn default() -> Self {
        TypedVec::new()
    }
}

impl<I: Id, T> From<Vec<T>> for TypedVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        TypedVec { items, marker: PhantomData }
    }
}

impl<I: Id, T> FromIterator<T> for TypedVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        TypedVec::from(items.into_iter().collect::<Vec<T>>())
    }
}

impl<I: Id, T> Index<I> for TypedVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for TypedVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

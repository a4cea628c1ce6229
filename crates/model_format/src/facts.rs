//! What a file says, statement by statement.

use crate::effect::Effect;
use crate::vocabulary::{
    ClassProperty, EntryThread, FieldProperty, MethodProperty, Multiplicity, ReceiverSharing,
};

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The file: a path below the directory of data for what comes with Scission, else the path as the
    /// user gave it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// Whether a user wrote it.
    pub is_user: bool,
}

/// The model of one library method, or of all its overloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Internal name of the class, as in `java/util/concurrent/locks/Lock`.
    pub class: &'static str,
    /// Name of the method; `<init>` for constructors.
    pub method: &'static str,
    /// An exact descriptor; or parameters with `*` for the result, as in `(I)*`, which also stands
    /// for the bridge methods of covariant results; or `*` for every overload that has no row of
    /// its own.
    pub descriptor: &'static str,
    /// What a call does; empty when it does nothing that matters here.
    pub effects: &'static [Effect],
    /// The oldest Java release whose library has the method, counting from 17; 0 for libraries that
    /// do not come with Java.
    pub since: u8,
    /// Who says so.
    pub source: Source,
}

impl Model {
    /// Whether the call starts a thread or a task, or waits for another thread: what comes before and what comes after
    /// are not meant to be one step. Acquiring a lock or a permit is no such wait, nor is sleeping, or looking
    /// whether a task has ended.
    #[must_use]
    pub fn cuts_blocks(&self) -> bool {
        let has = |wanted: fn(&Effect) -> bool| self.effects.iter().any(wanted);
        let blocks = has(|effect| matches!(effect, Effect::Blocks { .. }));
        let receives = has(|effect| matches!(effect, Effect::Receive { .. }));
        let acquires = has(|effect| matches!(effect, Effect::Acquire { .. }));
        has(|effect| matches!(effect, Effect::Fork { .. } | Effect::Submit { .. }))
            || has(|effect| matches!(effect, Effect::Wait { .. }))
            || has(|effect| matches!(effect, Effect::Join { timed: false, .. }))
            || (blocks && has(|effect| matches!(effect, Effect::Join { .. })))
            || (blocks && receives && !acquires)
    }
}

/// Which classes a [`ClassFact`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassScope {
    /// The class of this internal name.
    Class(&'static str),
    /// Every class whose internal name begins so.
    Package(&'static str),
}

/// A property of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassFact {
    /// Which classes have it.
    pub scope: ClassScope,
    /// The property.
    pub property: ClassProperty,
    /// Who says so.
    pub source: Source,
}

/// A property of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodFact {
    /// Internal name of the class.
    pub class: &'static str,
    /// Name of the method; `<init>` for constructors.
    pub method: &'static str,
    /// As [`Model::descriptor`].
    pub descriptor: &'static str,
    /// The property.
    pub property: MethodProperty,
    /// Who says so.
    pub source: Source,
}

/// A property of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldFact {
    /// Internal name of the class.
    pub class: &'static str,
    /// Name of the field.
    pub field: &'static str,
    /// The property.
    pub property: FieldProperty,
    /// Who says so.
    pub source: Source,
}

/// One kind of entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Which classes or methods it is about.
    pub matcher: Matcher,
    /// The method's name; a star at its end stands for any characters.
    pub method: &'static str,
    /// The method's descriptor; `*` for any.
    pub descriptor: &'static str,
    /// The thread that calls it.
    pub thread: EntryThread,
    /// Whether two calls can overlap.
    pub multiplicity: Multiplicity,
    /// Whether overlapping calls, or calls one after the other, are made on the same object.
    pub receiver: ReceiverSharing,
    /// True for methods that are normally reached through a modelled call, and are entry points
    /// only when no such call is found.
    pub only_without_caller: bool,
    /// Who says so.
    pub source: Source,
}

impl EntryPoint {
    /// Whether it is about methods of this name. A star at the end stands for any characters.
    #[must_use]
    pub fn names(&self, method: &str) -> bool {
        match self.method.strip_suffix('*') {
            Some(beginning) => method.starts_with(beginning),
            None => self.method == method,
        }
    }
}

/// How an entry point is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Matcher {
    /// Any class; the method's name and descriptor decide, and the method is static.
    AnyStatic,
    /// A class that extends or implements the named one.
    Subtype(&'static str),
    /// A class that extends or implements anything whose internal name begins so.
    SubtypeOfPackage(&'static str),
    /// A method with an annotation of this simple name.
    MethodAnnotation(&'static str),
    /// Any public method of a class with an annotation of this simple name.
    ClassAnnotation(&'static str),
}

/// What an annotation of this simple name, or of this full name, says of the objects that a container makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentFact {
    /// The name of the annotation; a full one has dots.
    pub annotation: &'static str,
    /// What carries the annotation, and what that means.
    pub role: ComponentRole,
    /// Who says so.
    pub source: Source,
}

/// What a container does with what carries an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentRole {
    /// It makes one object of the class, for everybody.
    SharedClass,
    /// It makes an object of the class for whoever asks.
    ClassPerUse,
    /// What the method returns is one object for everybody.
    Produced,
    /// It writes the object of the declared type into the field.
    Injected,
}

impl ComponentRole {
    /// Every role.
    pub const ALL: [ComponentRole; 4] = [
        ComponentRole::SharedClass,
        ComponentRole::ClassPerUse,
        ComponentRole::Produced,
        ComponentRole::Injected,
    ];

    /// The word that a statement begins with.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            ComponentRole::SharedClass | ComponentRole::ClassPerUse => "class-annotation",
            ComponentRole::Produced => "annotation",
            ComponentRole::Injected => "field-annotation",
        }
    }

    /// The word after `is`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ComponentRole::SharedClass | ComponentRole::Produced => "component",
            ComponentRole::ClassPerUse => "component-per-use",
            ComponentRole::Injected => "injected",
        }
    }
}

/// The supertypes of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supertypes {
    /// Internal name of the class.
    pub class: &'static str,
    /// Its supertypes that have rows, in the order of lookup.
    pub supertypes: &'static [&'static str],
    /// Who says so.
    pub source: Source,
}

/// Everything that one file says, or several files together.
#[derive(Clone, Debug, Default)]
pub struct ModelFile {
    /// What methods do.
    pub rows: Vec<Model>,
    /// Properties of classes.
    pub classes: Vec<ClassFact>,
    /// Properties of methods.
    pub methods: Vec<MethodFact>,
    /// Properties of fields.
    pub fields: Vec<FieldFact>,
    /// Entry points, in the order of the file.
    pub entry_points: Vec<EntryPoint>,
    /// What annotations say of the objects that containers make.
    pub components: Vec<ComponentFact>,
    /// The supertypes of classes.
    pub supertypes: Vec<Supertypes>,
}

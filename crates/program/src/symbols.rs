//! Classes, methods and fields of the whole program, and how to find them.

use std::sync::{Arc, OnceLock};

use classes::bytecode::InvokeKind;
use classes::{ClassFile, access};
use findings::{Gap, Site};
use models::{Effect, Model, Models, Operand, Sharing};
use rustc_hash::FxHashMap;

use crate::hierarchy::Hierarchy;
use crate::ids::{ClassId, FieldId, LambdaId, MethodId, SelectorId, TypedVec, ValueId};
use crate::ir::{Body, Call};
use crate::library::{CallBack, DerivedSummary};

/// Where a class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Given by the user: analysed fully, and findings are reported in it.
    Application,
    /// From the class path or the JDK: known, but not reported on.
    Library,
    /// Named by some class but not found.
    Missing,
}

/// A class or interface.
#[derive(Debug)]
pub struct Class {
    /// Internal name: `java/util/Vector`.
    pub name: Arc<str>,
    /// Where it comes from.
    pub origin: Origin,
    /// Access flags.
    pub access: u16,
    /// The superclass; `None` for `java/lang/Object` and for missing classes.
    pub superclass: Option<ClassId>,
    /// The interfaces it names itself.
    pub interfaces: Vec<ClassId>,
    /// The methods it declares.
    pub methods: Vec<MethodId>,
    /// The fields it declares.
    pub fields: Vec<FieldId>,
    /// The class file, unless the class is missing.
    pub file: Option<Arc<ClassFile>>,
    /// What each constant of the pool refers to; empty when the bodies are not analysed.
    pub(crate) links: Vec<Link>,
}

/// What a constant pool entry refers to in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// Nothing that needs resolving, or nothing that could be resolved.
    None,
    Class(ClassId),
    Field(FieldId),
    /// A method reference: the class it names and the method found there.
    Method(ClassId, MethodId),
    Lambda(LambdaId),
}

impl Class {
    /// Binary name with dots: `java.util.Vector`.
    #[must_use]
    pub fn dotted_name(&self) -> String {
        classes::binary_name(&self.name)
    }

    /// Whether it is an interface.
    #[must_use]
    pub fn is_interface(&self) -> bool {
        self.access & access::INTERFACE != 0
    }

    /// Whether objects of exactly this class can exist.
    #[must_use]
    pub fn is_concrete(&self) -> bool {
        self.access & (access::INTERFACE | access::ABSTRACT) == 0 && self.origin != Origin::Missing
    }
}

/// A method declared by a class, or assumed to exist in a missing class.
#[derive(Debug)]
pub struct Method {
    /// The class that declares it.
    pub class: ClassId,
    /// Name and descriptor, as dispatch sees them.
    pub selector: SelectorId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Access flags.
    pub access: u16,
    /// Position among the methods of the class file; `None` for an assumed method.
    pub(crate) position: Option<u32>,
}

impl Method {
    /// Whether it has no receiver.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    /// Whether calling it takes the monitor of the receiver, or of the class when static.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.access & access::SYNCHRONIZED != 0
    }

    /// Whether it has no code of its own.
    #[must_use]
    pub fn is_abstract(&self) -> bool {
        self.access & access::ABSTRACT != 0
    }

    /// Whether its code is native.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.access & access::NATIVE != 0
    }

    /// Whether it is private.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.access & access::PRIVATE != 0
    }

    /// Whether it is a constructor or class initialiser.
    #[must_use]
    pub fn is_initializer(&self) -> bool {
        self.name.starts_with('<')
    }
}

/// A field declared by a class, or assumed to exist in a missing class.
#[derive(Debug)]
pub struct Field {
    /// The class that declares it.
    pub class: ClassId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Access flags.
    pub access: u16,
}

impl Field {
    /// Whether it is static.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    /// Whether it is set once, in the constructor.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.access & access::FINAL != 0
    }

    /// Whether only its own class can name it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.access & access::PRIVATE != 0
    }
}

/// A lambda or method reference: what is known of it where it is created.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// The class whose code creates it.
    pub host: ClassId,
    /// The functional interface it implements.
    pub interface: ClassId,
    /// The method of that interface.
    pub selector: SelectorId,
    /// The method that runs when it is called.
    pub implementation: MethodId,
    /// The class the method handle names; dispatch starts there when the handle is virtual.
    pub receiver_class: ClassId,
    /// How the implementation is called.
    pub kind: LambdaKind,
    /// How many values it captures; they come before the arguments of the call.
    pub captured: usize,
}

/// How the implementation of a lambda is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LambdaKind {
    /// A static method: lambdas without `this`, references to static methods.
    Static,
    /// An instance method, dispatched on its first argument: `String::length`.
    Virtual,
    /// An instance method, not dispatched: lambdas that use `this`, `super::m`.
    Special,
    /// A constructor: `ArrayList::new`.
    Constructor,
}

/// The program: every class that is known, and how they relate.
#[derive(Debug)]
pub struct Program {
    /// All classes; application classes first, in the order they were read.
    pub classes: TypedVec<ClassId, Class>,
    /// All methods.
    pub methods: TypedVec<MethodId, Method>,
    /// All fields.
    pub fields: TypedVec<FieldId, Field>,
    /// All lambdas and method references.
    pub lambdas: TypedVec<LambdaId, Lambda>,
    /// Sub- and supertypes, and dispatch.
    pub hierarchy: Hierarchy,
    /// What could not be read or resolved.
    pub gaps: Vec<Gap>,
    pub(crate) models: Models,
    pub(crate) class_ids: FxHashMap<Arc<str>, ClassId>,
    pub(crate) selectors: FxHashMap<(Arc<str>, Arc<str>), SelectorId>,
    pub(crate) bodies: TypedVec<MethodId, OnceLock<Body>>,
    /// What the models say of each method; none where they say nothing.
    pub(crate) rows: TypedVec<MethodId, Option<&'static Model>>,
    /// What the code of library methods without a model says that they do.
    pub(crate) derived: FxHashMap<MethodId, DerivedSummary>,
}

impl Program {
    /// What is known of library code, and what users say of theirs.
    #[must_use]
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The class with this internal name, present or missing.
    #[must_use]
    pub fn class_named(&self, internal_name: &str) -> Option<ClassId> {
        self.class_ids.get(internal_name).copied()
    }

    /// The class that a field is declared to refer to; none for numbers and arrays.
    #[must_use]
    pub fn class_of_field(&self, field: FieldId) -> Option<ClassId> {
        self.class_of_descriptor(&self.fields[field].descriptor)
    }

    /// The class that a type descriptor names; none for numbers and arrays.
    #[must_use]
    pub fn class_of_descriptor(&self, descriptor: &str) -> Option<ClassId> {
        self.class_named(descriptor.strip_prefix('L')?.strip_suffix(';')?)
    }

    /// The selector for a name and descriptor, if any class uses it.
    #[must_use]
    pub fn selector(&self, name: &str, descriptor: &str) -> Option<SelectorId> {
        self.selectors.get(&(Arc::from(name), Arc::from(descriptor))).copied()
    }

    /// The method declared by exactly this class, by internal name.
    #[must_use]
    pub fn method_named(&self, class: &str, name: &str, descriptor: &str) -> Option<MethodId> {
        let class = self.class_named(class)?;
        self.classes[class].methods.iter().copied().find(|method| {
            *self.methods[*method].name == *name && *self.methods[*method].descriptor == *descriptor
        })
    }

    /// The body of a method, if it has code and the code could be read.
    #[must_use]
    pub fn body(&self, method: MethodId) -> Option<&Body> {
        self.bodies[method].get()
    }

    /// What a call of this method does: as the models say or, for library methods that they do not know, as its code
    /// says. Empty for methods of which nothing is known.
    #[must_use]
    pub fn effects_of(&self, method: MethodId) -> &[Effect] {
        match self.rows[method] {
            Some(row) => row.effects,
            None => self.derived.get(&method).map_or(&[], |derived| &derived.effects),
        }
    }

    /// Whether it is known what a call of this method does, even if that is nothing of interest.
    #[must_use]
    pub fn is_known(&self, method: MethodId) -> bool {
        self.rows[method].is_some() || self.derived.contains_key(&method)
    }

    /// The row that says what a call of this method does, if there is one.
    #[must_use]
    pub fn row_of(&self, method: MethodId) -> Option<&'static Model> {
        self.rows[method]
    }

    /// Whether a user has said what a call of this method does: then it has no body here, whatever its
    /// class file says.
    #[must_use]
    pub fn is_described_by_user(&self, method: MethodId) -> bool {
        self.rows[method].is_some_and(|row| row.source.is_user)
    }

    /// Whether a user has said that threads may share objects of this class, or never do.
    #[must_use]
    pub fn is_safe_by_user(&self, class: ClassId) -> bool {
        self.models.user_sharing(&self.classes[class].name).is_some_and(|sharing| match sharing {
            Sharing::Immutable | Sharing::ThreadSafe | Sharing::ThreadConfined => true,
            Sharing::NotThreadSafe => false,
        })
    }

    /// What of the application a library method without a model calls, as far as its code was read.
    pub(crate) fn calls_back(&self, method: MethodId) -> &[CallBack] {
        self.derived.get(&method).map_or(&[], |derived| &derived.calls)
    }

    /// The values among the arguments of a call that an operand of its model stands for; none for operands that are
    /// no arguments.
    #[must_use]
    pub fn operand_values(&self, call: &Call, operand: Operand) -> Vec<ValueId> {
        let has_receiver = call.kind != InvokeKind::Static;
        let argument = |number: u8| {
            call.arguments.get(usize::from(number) + usize::from(has_receiver)).copied()
        };
        match operand {
            Operand::Receiver => {
                call.arguments.first().copied().filter(|_| has_receiver).into_iter().collect()
            }
            Operand::Argument(number) => argument(number).into_iter().collect(),
            Operand::Callbacks => self
                .models
                .task_arguments(&self.methods[call.method].descriptor)
                .into_iter()
                .filter_map(|(number, _)| argument(number))
                .collect(),
            Operand::Elements(_)
            | Operand::Contents
            | Operand::Wrapped
            | Operand::CallbackResult
            | Operand::Result
            | Operand::Class
            | Operand::Field(_)
            | Operand::Designated
            | Operand::CurrentThread => Vec::new(),
        }
    }

    /// Methods that have a body, in the order of their ids.
    pub fn methods_with_bodies(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.methods.ids().filter(|method| self.bodies[*method].get().is_some())
    }

    /// The class that declares a method.
    #[must_use]
    pub fn class_of(&self, method: MethodId) -> &Class {
        &self.classes[self.methods[method].class]
    }

    /// Whether findings may be reported in this method.
    #[must_use]
    pub fn is_application(&self, method: MethodId) -> bool {
        self.class_of(method).origin == Origin::Application
    }

    /// `java.util.Vector.add(Ljava/lang/Object;)Z`: the full name of a method.
    #[must_use]
    pub fn method_label(&self, method: MethodId) -> String {
        let Method { name, descriptor, .. } = &self.methods[method];
        format!("{}.{name}{descriptor}", self.class_of(method).dotted_name())
    }

    /// A place in a method, in the form findings carry.
    #[must_use]
    pub fn site(&self, method: MethodId, offset: u32) -> Site {
        let class = self.class_of(method);
        let Method { name, descriptor, position, .. } = &self.methods[method];
        let file = class.file.as_ref();
        let line = file
            .zip(*position)
            .and_then(|(file, position)| file.methods[position as usize].code.as_ref())
            .and_then(|code| code.line_at(offset));
        let source = file.and_then(|file| file.source_file.as_ref());
        Site {
            class: class.dotted_name(),
            method: name.to_string(),
            descriptor: descriptor.to_string(),
            offset: Some(offset),
            file: source.map(|source| classes::source_path(&class.name, source)),
            line,
        }
    }
}

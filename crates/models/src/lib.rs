//! What library methods do to locks, threads, memory order and sharing: one table, one row a method.
//!
//! Every analysis reads this table instead of guessing, and the run-time instrumentation reads the
//! same rows, so that both sides agree on what `ReentrantLock.lock` or `BlockingQueue.take` means.
//! The rows that come with Scission are the files in `data`, one a library; the build script checks
//! and packs them. Files of users are laid over them ([`Models::with`]).
//!
//! **How to find the row of a call.** [`Models::lookup`] knows exact classes only. A caller that has
//! the class hierarchy walks it: the receiver's class, its superclasses from near to far, then its
//! interfaces breadth first, `Object` last; the first row wins. [`Models::find`] does that walk with
//! the hierarchy of the modelled library classes, which is stored beside the rows, so that it works
//! where no JDK can be read. A method that the program itself overrides is analysed by its body; the
//! row of a library supertype stands for a method only where there is no body to look at. A row that
//! a user wrote stands instead of the body.
//!
//! **How to read a row.** The effects of a row happen in one call, in no order that an analysis may
//! rely on, with two exceptions: whatever releases or publishes happens before the callee returns
//! and after everything the caller did before, and [`Effect::Synchronized`] encloses all other
//! effects of its row, callbacks included. A row without effects says that the method was looked at
//! and does nothing that concerns us; a method without a row was not looked at.
//!
//! **What is approximate.** Rows describe contracts, not implementations, except where the
//! implementation's lock can be named and taken by clients (`Vector`, `Hashtable`, `PrintStream`).
//! Happens-before edges of collections are kept for a whole collection, not for one element. What a
//! method does only when it throws is not described. Each file names its own approximations at its
//! head.

mod atomic;
mod compiled;
mod contents;
pub mod language;
mod pattern;
mod tables;
mod user;

use std::sync::Arc;

use classes::descriptor::parameter_descriptors;

pub use atomic::AtomicSpec;
pub use compiled::{ClassContext, is_made_lazily};
pub use contents::{ContentsAccess, MemoryAccess, Removal};
pub use model_format::{
    ClassFact, ClassProperty, ClassScope, ComponentFact, ComponentRole, Effect, EntryPoint,
    EntryThread, FieldFact, FieldProperty, FileProblem, Matcher, MethodFact, MethodProperty, Mode,
    Model, ModelFile, Multiplicity, Operand, Ordering, Outcome, Phrase, ReceiverSharing, Runner,
    Source, Supertypes, Times, WaitKind,
};
pub use model_format::{
    Statement, effects_text, method_text, parse, print_statements, reference, statements,
};
pub use pattern::Pattern;
use user::UserModels;

/// What a class promises about the sharing of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// Objects never change after construction and may be shared in any way.
    Immutable,
    /// Every call may be made by any thread at any time.
    ThreadSafe,
    /// Calls must be ordered by the clients.
    NotThreadSafe,
    /// Each thread has its own object, or its own state behind the object.
    ThreadConfined,
}

/// What a class coordinates threads by, where that is more than publishing and receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coordinator {
    /// Threads that arrive wait for each other: its rows publish on arrival and receive on leaving.
    Barrier,
    /// Threads wait for a count to reach zero: its rows publish on counting and receive on passing.
    Latch,
}

/// What is known about library code: the statements that come with Scission, and those of users, which
/// win.
#[derive(Clone, Debug, Default)]
pub struct Models {
    user: Option<Arc<UserModels>>,
}

impl Models {
    /// The statements that come with Scission, and no others.
    #[must_use]
    pub const fn built_in() -> Models {
        Models { user: None }
    }

    /// The statements that come with Scission, and over them those of users' files: of two that speak
    /// about the same thing the later one counts.
    #[must_use]
    pub fn with(files: &[ModelFile]) -> Models {
        Models { user: (!files.is_empty()).then(|| Arc::new(UserModels::new(files))) }
    }

    /// The files that come with Scission, by their path below the directory of data.
    #[must_use]
    pub fn built_in_files() -> &'static [&'static str] {
        tables::FILES
    }

    /// Whether users said anything.
    #[must_use]
    pub fn has_users(&self) -> bool {
        self.user.is_some()
    }

    /// The rows of users, sorted by class, method and descriptor.
    #[must_use]
    pub fn user_rows(&self) -> &[&'static Model] {
        self.user.as_deref().map_or(&[], |user| &user.rows)
    }

    /// Everything that users say, the later file first.
    #[must_use]
    pub fn said_by_users(&self) -> ModelFile {
        self.user.as_deref().map_or_else(ModelFile::default, UserModels::all)
    }

    /// Everything that counts: what users say, and what comes with Scission and no user says otherwise.
    #[must_use]
    pub fn everything(&self) -> ModelFile {
        let mut all = self.said_by_users();
        all.rows = self.rows().copied().collect();
        all.classes.extend(tables::CLASSES);
        all.methods.extend(tables::METHODS);
        all.fields.extend(tables::FIELDS);
        all.entry_points.extend(tables::ENTRY_POINTS);
        all.components.extend(tables::COMPONENTS);
        all.supertypes.extend(
            tables::SUPERTYPES
                .iter()
                .filter(|row| self.supertypes(row.class) == row.supertypes)
                .copied(),
        );
        all
    }

    /// Every row that counts, sorted by class, method and descriptor; those of users first.
    pub fn rows(&self) -> impl Iterator<Item = &'static Model> + '_ {
        let is_said_by_user = |row: &Model| {
            self.user.as_deref().is_some_and(|user| user.row(row.class, row.method, row.descriptor))
        };
        self.user_rows()
            .iter()
            .copied()
            .chain(tables::ROWS.iter().filter(move |row| !is_said_by_user(row)))
    }

    /// The row of a method of exactly this class: the one for this descriptor, else the one for these
    /// parameters with any result, else the one for every overload. Any of a user's rows comes before
    /// those that come with Scission.
    #[must_use]
    pub fn lookup(&self, class: &str, method: &str, descriptor: &str) -> Option<&'static Model> {
        self.user_row(class, method, descriptor)
            .or_else(|| best(tables::rows_of(class, method).iter(), descriptor))
    }

    /// The row that a user wrote for a method of exactly this class.
    #[must_use]
    pub fn user_row(&self, class: &str, method: &str, descriptor: &str) -> Option<&'static Model> {
        best(self.user.as_deref()?.rows_of(class, method), descriptor)
    }

    /// The row that a call resolves to: of the class itself, of its superclasses from near to far, or
    /// of its interfaces breadth first, as far as [`Models::supertypes`] knows them.
    #[must_use]
    pub fn find(&self, class: &str, method: &str, descriptor: &str) -> Option<&'static Model> {
        self.lookup(class, method, descriptor).or_else(|| {
            // A constructor is not inherited.
            let inherited: &[_] = if method == "<init>" { &[] } else { self.supertypes(class) };
            inherited.iter().find_map(|ancestor| self.lookup(ancestor, method, descriptor))
        })
    }

    /// The modelled supertypes of a library class in the order of lookup, `java/lang/Object` last;
    /// empty when the class is not known here.
    #[must_use]
    pub fn supertypes(&self, class: &str) -> &'static [&'static str] {
        if let Some(supertypes) = self.user.as_deref().and_then(|user| user.supertypes(class)) {
            return supertypes;
        }
        match tables::SUPERTYPES.binary_search_by_key(&class, |row| row.class) {
            Ok(index) => tables::SUPERTYPES[index].supertypes,
            Err(_) => &[],
        }
    }

    /// The supertypes of every class, as they come with Scission, sorted by class.
    #[must_use]
    pub fn built_in_supertypes() -> &'static [Supertypes] {
        tables::SUPERTYPES
    }

    /// Whether a class, or its package, has a property.
    #[must_use]
    pub fn is(&self, class: &str, property: ClassProperty) -> bool {
        self.class_facts(class).any(|fact| fact.property == property)
    }

    /// What is said of a class and of the packages that it is in; of a user's statements and those that
    /// come with Scission the user's come first.
    pub fn class_facts<'a>(
        &'a self,
        class: &'a str,
    ) -> impl Iterator<Item = &'static ClassFact> + 'a {
        let applies = move |fact: &&'static ClassFact| match fact.scope {
            ClassScope::Class(name) => name == class,
            ClassScope::Package(prefix) => class.starts_with(prefix),
        };
        let users = self.user.as_deref().map_or(&[][..], |user| &user.classes);
        let built_in = tables::facts_of(class).iter();
        users.iter().copied().chain(built_in).chain(tables::facts_of_packages()).filter(applies)
    }

    /// Every statement about classes and packages, those of users first.
    pub fn all_class_facts(&self) -> impl Iterator<Item = &'static ClassFact> + '_ {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.classes);
        users.iter().copied().chain(tables::CLASSES)
    }

    /// Whether the order that the code of a class makes is observed at run time. What is said of the class itself
    /// counts before what is said of its package, and the longer name of two packages before the shorter.
    #[must_use]
    pub fn is_observed(&self, class: &str) -> bool {
        let length = |fact: &&ClassFact| match fact.scope {
            ClassScope::Class(_) => usize::MAX,
            ClassScope::Package(prefix) => prefix.len(),
        };
        self.class_facts(class)
            .filter(|fact| {
                matches!(fact.property, ClassProperty::Observed | ClassProperty::Unobserved)
            })
            .max_by_key(length)
            .is_some_and(|fact| fact.property == ClassProperty::Observed)
    }

    /// What exactly this class promises, if it is known.
    #[must_use]
    pub fn sharing(&self, class: &str) -> Option<Sharing> {
        self.class_facts(class).find_map(promise)
    }

    /// What a user says that this class promises.
    #[must_use]
    pub fn user_sharing(&self, class: &str) -> Option<Sharing> {
        self.has_users()
            .then(|| self.class_facts(class).filter(|fact| fact.source.is_user).find_map(promise))?
    }
    /// What exactly this class coordinates threads by.
    #[must_use]
    pub fn coordinator(&self, class: &str) -> Option<Coordinator> {
        self.class_facts(class).find_map(|fact| match fact.property {
            ClassProperty::Barrier => Some(Coordinator::Barrier),
            ClassProperty::Latch => Some(Coordinator::Latch),
            ClassProperty::Immutable
            | ClassProperty::ThreadSafe
            | ClassProperty::NotThreadSafe
            | ClassProperty::ThreadConfined
            | ClassProperty::HoldsOthers
            | ClassProperty::ComputesValues
            | ClassProperty::OftenConfined
            | ClassProperty::Commonplace
            | ClassProperty::UserInterface
            | ClassProperty::Pipeline
            | ClassProperty::Stream
            | ClassProperty::Executor
            | ClassProperty::Cursor
            | ClassProperty::Semaphore
            | ClassProperty::HoldsElements
            | ClassProperty::ParallelStream
            | ClassProperty::StreamWorker
            | ClassProperty::TestRunner
            | ClassProperty::Observed
            | ClassProperty::Unobserved
            | ClassProperty::Library
            | ClassProperty::HoldsVariables
            | ClassProperty::SharedByValue
            | ClassProperty::ChangesWhenUsed
            | ClassProperty::MeantForThreads => None,
        })
    }

    /// The classes, not packages, with a property.
    pub fn classes_that_are(
        &self,
        property: ClassProperty,
    ) -> impl Iterator<Item = &'static str> + '_ {
        self.all_class_facts().filter(move |fact| fact.property == property).filter_map(|fact| {
            match fact.scope {
                ClassScope::Class(name) => Some(name),
                ClassScope::Package(_) => None,
            }
        })
    }

    /// Whether this field of a synchronized wrapper holds its lock, which is the wrapper itself unless
    /// the wrapper is a view of another one.
    #[must_use]
    pub fn is_own_mutex(&self, class: &str, field: &str) -> bool {
        self.fields_of(class)
            .any(|fact| fact.property == FieldProperty::OwnLock && fact.field == field)
    }

    /// The field in which objects of this class have the collection that they are a view of.
    #[must_use]
    pub fn viewed_field(&self, class: &str) -> Option<&'static str> {
        let viewed = self.fields_of(class).find(|fact| fact.property == FieldProperty::Viewed);
        viewed.map(|fact| fact.field)
    }

    /// Whether an ordinary field of a library class orders as a volatile one.
    #[must_use]
    pub fn is_ordering_field(&self, class: &str, field: &str) -> bool {
        self.fields_of(class)
            .any(|fact| fact.property == FieldProperty::Ordering && fact.field == field)
    }

    /// What is said of the fields of exactly this class.
    fn fields_of<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'static FieldFact> + 'a {
        self.all_fields().filter(move |fact| fact.class == class)
    }

    /// Everything that is said of fields.
    fn all_fields(&self) -> impl Iterator<Item = &'static FieldFact> + '_ {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.fields);
        users.iter().copied().chain(tables::FIELDS)
    }

    /// What is said of the methods of exactly this class, besides their rows.
    pub fn methods_of<'a>(
        &'a self,
        class: &'a str,
    ) -> impl Iterator<Item = &'static MethodFact> + 'a {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.methods);
        users
            .iter()
            .copied()
            .filter(move |fact| fact.class == class)
            .chain(tables::methods_of(class))
    }

    /// What is said of one method of exactly this class, besides its row.
    pub fn method_properties<'a>(
        &'a self,
        class: &'a str,
        method: &'a str,
        descriptor: &'a str,
    ) -> impl Iterator<Item = MethodProperty> + 'a {
        self.methods_of(class)
            .filter(move |fact| {
                fact.method == method && contents::descriptor_fits(fact.descriptor, descriptor)
            })
            .map(|fact| fact.property)
    }

    /// Everything that is said of methods, besides their rows.
    pub fn all_methods(&self) -> impl Iterator<Item = &'static MethodFact> + '_ {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.methods);
        users.iter().copied().chain(tables::METHODS)
    }

    /// The methods through which a task of this declared type is run; none when the type is not known
    /// to be a task.
    pub fn task_methods<'a>(
        &'a self,
        class: &'a str,
    ) -> impl Iterator<Item = &'static MethodFact> + 'a {
        self.methods_of(class).filter(|fact| is_task(fact.property))
    }

    /// Every method through which tasks are run.
    pub fn all_task_methods(&self) -> impl Iterator<Item = &'static MethodFact> + '_ {
        self.all_methods().filter(|fact| is_task(fact.property))
    }

    /// Whether tasks of this declared type are handed to other threads. The others are only ever run by
    /// whoever was given them, in the midst of other work: comparators and arithmetic.
    #[must_use]
    pub fn is_run_elsewhere(&self, class: &str) -> bool {
        self.methods_of(class).any(|fact| fact.property == MethodProperty::Task)
    }

    /// The parameters of a method that are tasks, by index and declared type: what
    /// [`Operand::Callbacks`] stands for. A malformed descriptor has none.
    #[must_use]
    pub fn task_arguments<'d>(&self, descriptor: &'d str) -> Vec<(u8, &'d str)> {
        (0..=u8::MAX)
            .zip(parameter_descriptors(descriptor))
            .filter_map(|(index, parameter)| {
                Some((index, parameter.strip_prefix('L')?.strip_suffix(';')?))
            })
            .filter(|(_, class)| self.task_methods(class).next().is_some())
            .collect()
    }

    /// The methods with a property.
    pub fn methods_that_are(
        &self,
        property: MethodProperty,
    ) -> impl Iterator<Item = &'static MethodFact> + '_ {
        self.all_methods().filter(move |fact| fact.property == property)
    }

    /// The row of the method with this property that has this name, whichever class declares it.
    #[must_use]
    pub fn row_by_name(
        &self,
        property: MethodProperty,
        method: &str,
        descriptor: &str,
    ) -> Option<&'static Model> {
        self.methods_that_are(property)
            .filter(|fact| fact.method == method)
            .find_map(|fact| self.lookup(fact.class, method, descriptor))
    }

    /// Every kind of entry point, those of users first.
    pub fn entry_points(&self) -> impl Iterator<Item = &'static EntryPoint> + '_ {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.entry_points);
        users.iter().copied().chain(tables::ENTRY_POINTS)
    }

    /// What annotations say of the objects that containers make, those of users first.
    pub fn components(&self) -> impl Iterator<Item = &'static ComponentFact> + '_ {
        let users = self.user.as_deref().map_or(&[][..], |user| &user.components);
        users.iter().copied().chain(tables::COMPONENTS)
    }
}

/// What a statement about a class promises of its objects.
fn promise(fact: &ClassFact) -> Option<Sharing> {
    match fact.property {
        ClassProperty::Immutable => Some(Sharing::Immutable),
        ClassProperty::ThreadSafe => Some(Sharing::ThreadSafe),
        ClassProperty::NotThreadSafe => Some(Sharing::NotThreadSafe),
        ClassProperty::ThreadConfined => Some(Sharing::ThreadConfined),
        ClassProperty::HoldsOthers
        | ClassProperty::ComputesValues
        | ClassProperty::OftenConfined
        | ClassProperty::Commonplace
        | ClassProperty::Barrier
        | ClassProperty::Latch
        | ClassProperty::UserInterface
        | ClassProperty::Pipeline
        | ClassProperty::Stream
        | ClassProperty::Executor
        | ClassProperty::Cursor
        | ClassProperty::Semaphore
        | ClassProperty::HoldsElements
        | ClassProperty::ParallelStream
        | ClassProperty::StreamWorker
        | ClassProperty::TestRunner
        | ClassProperty::Observed
        | ClassProperty::Unobserved
        | ClassProperty::Library
        | ClassProperty::HoldsVariables
        | ClassProperty::SharedByValue
        | ClassProperty::ChangesWhenUsed
        | ClassProperty::MeantForThreads => None,
    }
}

fn is_task(property: MethodProperty) -> bool {
    matches!(property, MethodProperty::Task | MethodProperty::Callback)
}

/// The row among those of one method that says most about a descriptor.
fn best(
    rows: impl Iterator<Item = &'static Model> + Clone,
    descriptor: &str,
) -> Option<&'static Model> {
    let with = |wanted: &dyn Fn(&str) -> bool| rows.clone().find(|row| wanted(row.descriptor));
    with(&|pattern| pattern == descriptor)
        .or_else(|| {
            let parameters = &descriptor[..=descriptor.rfind(')')?];
            with(&|pattern| pattern.strip_suffix('*') == Some(parameters))
        })
        .or_else(|| with(&|pattern| pattern == "*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    static MODELS: Models = Models::built_in();

    fn user(text: &str) -> Models {
        Models::with(&[model_format::parse("x.models", text, true).unwrap()])
    }

    #[test]
    fn an_exact_row_wins_over_parameters_and_parameters_over_any() {
        let descriptor = |descriptor| {
            MODELS
                .lookup("java/util/concurrent/ConcurrentMap", "remove", descriptor)
                .map(|model| model.descriptor)
        };
        assert_eq!(
            descriptor("(Ljava/lang/Object;)Ljava/lang/Object;"),
            Some("(Ljava/lang/Object;)*")
        );
        assert_eq!(descriptor("(Ljava/lang/Object;Ljava/lang/Object;)Z"), {
            Some("(Ljava/lang/Object;Ljava/lang/Object;)*")
        });
        assert_eq!(descriptor("()V"), None);
        assert!(MODELS.lookup("java/lang/Object", "wait", "(J)V").is_some());
        assert_eq!(MODELS.lookup("java/lang/Object", "wait", "not a descriptor"), None);
    }

    #[test]
    fn every_row_is_found_by_what_it_names() {
        for row in MODELS.rows() {
            let descriptor = row.descriptor.replace(")*", ")V");
            let found = MODELS.lookup(row.class, row.method, &descriptor).unwrap();
            assert_eq!((found.class, found.method), (row.class, row.method));
        }
        assert_eq!(MODELS.lookup("java/lang/Object", "wai", "()V"), None);
        assert_eq!(MODELS.lookup("", "", ""), None);
    }

    #[test]
    fn a_reentrant_lock_is_locked_through_its_interface() {
        let model = MODELS.find("java/util/concurrent/locks/ReentrantLock", "lock", "()V").unwrap();
        assert!(model.effects.contains(&Effect::Acquire {
            lock: Operand::Receiver,
            mode: Mode::Exclusive,
            outcome: Outcome::Always
        }));
    }

    #[test]
    fn constructors_are_not_inherited() {
        assert_eq!(MODELS.find("java/lang/Thread$Builder$OfVirtual", "<init>", "()V"), None);
        assert_eq!(MODELS.find("java/util/concurrent/ConcurrentMap", "<init>", "()V"), None);
    }

    #[test]
    fn rows_of_wrappers_name_their_mutex() {
        let model = MODELS
            .find(
                "java/util/Collections$SynchronizedRandomAccessList",
                "get",
                "(I)Ljava/lang/Object;",
            )
            .unwrap();
        assert_eq!(model.effects[0], Effect::Synchronized { lock: Operand::Field("mutex") });
    }

    #[test]
    fn a_failed_try_lock_receives_nothing() {
        let model = MODELS.find("java/util/concurrent/locks/Lock", "tryLock", "()Z").unwrap();
        let received: Vec<_> =
            model.effects.iter().filter_map(|effect| effect.receives_from()).collect();
        assert_eq!(received, [(Operand::Receiver, Outcome::IfTrue)]);
        assert!(model.effects.iter().all(|effect| effect.publishes_to().is_none()));
    }

    #[test]
    fn supertypes_end_with_object() {
        for row in Models::built_in_supertypes() {
            assert_eq!(row.supertypes.last(), Some(&language::OBJECT), "{}", row.class);
        }
    }

    #[test]
    fn a_class_makes_one_promise() {
        for class in MODELS.all_class_facts() {
            let ClassScope::Class(name) = class.scope else { continue };
            let promises = MODELS.class_facts(name).filter(|fact| {
                matches!(
                    fact.property,
                    ClassProperty::Immutable
                        | ClassProperty::ThreadSafe
                        | ClassProperty::NotThreadSafe
                        | ClassProperty::ThreadConfined
                )
            });
            assert!(promises.count() <= 1, "{name}");
        }
    }

    #[test]
    fn a_subscriber_has_several_methods_and_a_string_none() {
        assert_eq!(MODELS.task_methods("java/util/concurrent/Flow$Subscriber").count(), 4);
        assert_eq!(MODELS.task_methods("java/lang/Runnable").next().unwrap().method, "run");
        assert_eq!(MODELS.task_methods("java/lang/String").count(), 0);
        assert!(MODELS.is_run_elsewhere("java/lang/Runnable"));
        assert!(!MODELS.is_run_elsewhere("java/util/Comparator"));
        assert!(!MODELS.is_run_elsewhere("java/util/function/IntPredicate"));
        assert!(!MODELS.is_run_elsewhere("java/lang/String"));
    }

    #[test]
    fn tasks_are_found_among_the_arguments() {
        assert_eq!(
            MODELS.task_arguments(
                "(J[[ILjava/util/function/BiFunction;[Ljava/lang/Runnable;Ljava/lang/Runnable;)V"
            ),
            [(2, "java/util/function/BiFunction"), (4, "java/lang/Runnable")]
        );
        assert!(MODELS.task_arguments("(Ljava/lang/Runnable").is_empty());
        assert!(MODELS.task_arguments("").is_empty());
        assert!(MODELS.task_arguments("([").is_empty());
    }

    #[test]
    fn the_main_method_runs_once_on_the_main_thread() {
        let main = MODELS.entry_points().find(|row| row.method == "main").unwrap();
        assert_eq!((main.thread, main.multiplicity), (EntryThread::Main, Multiplicity::One));
        assert!(!main.only_without_caller);
    }

    #[test]
    fn what_a_user_says_wins() {
        let models = user(
            "class java.util.concurrent.locks.Lock\n  lock: nothing\n\
             class java.util.HashMap is thread-safe\n\
             class a.Task\n  go() void is task\n",
        );
        let row = models.lookup("java/util/concurrent/locks/Lock", "lock", "()V").unwrap();
        assert!(row.effects.is_empty() && row.source.is_user && row.source.line == 2);
        assert!(models.lookup("java/util/concurrent/locks/Lock", "unlock", "()V").is_some());
        assert_eq!(models.sharing("java/util/HashMap"), Some(Sharing::ThreadSafe));
        assert_eq!(models.task_arguments("(La/Task;)V"), [(0, "a/Task")]);
        assert_eq!(models.rows().count(), MODELS.rows().count() + 1);
    }

    #[test]
    fn of_two_files_the_later_counts() {
        let parse = |text| model_format::parse("x.models", text, true).unwrap();
        let models = Models::with(&[
            parse("class a.B is thread-safe\n  f: blocks"),
            parse("class a.B is immutable\n  f: nothing"),
        ]);
        assert!(models.lookup("a/B", "f", "()V").unwrap().effects.is_empty());
        assert_eq!(models.sharing("a/B"), Some(Sharing::Immutable));
    }
}

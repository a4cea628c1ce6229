//! Calls of the library: what its models say of a method becomes hooks around the call.
//!
//! Library classes are not rewritten, so that what a call does to locks, threads and memory order is
//! reported where it is made. Whatever gives something away (a release, a publication, the start of a
//! thread) is reported before the call, whatever receives something after it.
//!
//! Operands that lie below others are reached by putting those into local variables above the ones of
//! the method, and back. The variables are cleared after the call, so that they keep nothing alive.
//!
//! Not reported: what only happens when a call throws, and what a call does to objects that are not at
//! hand (an element of an atomic array, the field behind a `VarHandle`).

use classes::bytecode::{Instruction, InvokeKind, Kind};
use classes::descriptor::{MethodType, Type, parse_method};
use classes::{MemberRef, PoolIndex, access};
use models::language::{self, OBJECT, THREAD};
use models::{
    ClassProperty, ContentsAccess, Coordinator, Effect, MemoryAccess, MethodProperty, Mode, Model,
    Models, Operand, Ordering, Outcome, Sharing, Source as RowSource, WaitKind,
};

use crate::config::Config;
use crate::error::InstrumentError;
use crate::plan::{MethodPlan, Planner};
use crate::sites::{Relation, SiteTarget};
use crate::surgery::{MethodEdits, Snippet};
use agent_protocol::{Hook, Op};

/// Where an object that takes part in a call can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Among the operands of the call, counted from the bottom.
    Position(usize),
    /// The result of the call.
    Result,
    /// The class that the call names.
    Class,
    /// The running thread.
    CurrentThread,
}

/// How the result of a call tells whether something has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    NotZero,
    Zero,
    NotZeroLong,
    Some,
    None,
}

/// What is to be reported of a call.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reports {
    before: Vec<(Op, Source)>,
    after: Vec<(Op, Source, When)>,
    /// The first is a view of the second.
    aliases: Vec<(Source, Source, Relation)>,
    /// The key of the only entry of the receiver that the call is about.
    key: Option<Source>,
    /// Whether the call cuts the blocks that are open.
    cuts: bool,
}

impl Reports {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.aliases.is_empty() && !self.cuts
    }

    /// Whether a lock may be held after the call.
    fn acquires(&self) -> bool {
        self.after
            .iter()
            .any(|(op, ..)| matches!(op, Op::Acquire | Op::AcquireShared | Op::AcquireModelled))
    }

    /// Leaves out what only says that threads are ordered.
    fn leave_out_order(&mut self) {
        self.before.retain(|(op, _)| *op != Op::Publish);
        self.after.retain(|(op, ..)| *op != Op::Receive);
    }

    fn before(&mut self, op: Op, source: Source) {
        // What a call returns is not there before.
        if source != Source::Result && !self.before.contains(&(op, source)) {
            self.before.push((op, source));
        }
    }

    /// How the operations that the reports after the call are about get an interval: nothing if they need none.
    fn since(&self) -> Option<Hook> {
        let by_class = |op: Op| matches!(op, Op::ConcurrentRead | Op::ConcurrentUpdate);
        let is_interval =
            |op: Op| matches!(op, Op::AtomicRead | Op::AtomicWrite | Op::AtomicUpdate);
        if self.after.iter().any(|(op, ..)| is_interval(*op)) {
            Some(Hook::Since)
        } else {
            self.after.iter().any(|(op, ..)| by_class(*op)).then_some(Hook::SinceByClass)
        }
    }

    fn after(&mut self, op: Op, source: Source, when: When) {
        if !self.after.contains(&(op, source, when)) {
            self.after.push((op, source, when));
        }
    }
}

/// One call, as far as the models can be applied to it.
struct Call<'a> {
    models: &'a Models,
    method: MemberRef<'a>,
    types: MethodType<'a>,
    has_receiver: bool,
    is_constructor: bool,
    /// Whether it is known which method is called: that of the class that the call names.
    is_exact: bool,
}

impl Call<'_> {
    /// The kinds of the operands, from the bottom.
    fn kinds(&self) -> Vec<Kind> {
        let receiver = self.has_receiver.then_some(Kind::Ref);
        receiver.into_iter().chain(self.types.params.iter().map(|param| kind(*param))).collect()
    }

    /// Where an operand is; nothing when it is not at hand, or is no object.
    fn source(&self, operand: Operand) -> Option<Source> {
        let first = usize::from(self.has_receiver);
        match operand {
            Operand::Receiver => self.has_receiver.then_some(Source::Position(0)),
            Operand::Argument(number) => {
                let number = usize::from(number);
                let is_object = self.types.params.get(number)?.is_reference();
                is_object.then_some(Source::Position(first + number))
            }
            Operand::Result => self.types.ret?.is_reference().then_some(Source::Result),
            Operand::Class => Some(Source::Class),
            Operand::CurrentThread => Some(Source::CurrentThread),
            Operand::Elements(_)
            | Operand::Contents
            | Operand::Callbacks
            | Operand::Wrapped
            | Operand::CallbackResult
            | Operand::Field(_)
            | Operand::Designated => None,
        }
    }

    /// Where the tasks are that an operand stands for: several for the callbacks of a call.
    fn tasks(&self, operand: Operand) -> Vec<Source> {
        match operand {
            Operand::Callbacks => self
                .models
                .task_arguments(self.method.descriptor)
                .iter()
                .filter_map(|(number, _)| self.source(Operand::Argument(*number)))
                .collect(),
            other => self.source(other).into_iter().collect(),
        }
    }

    /// How the result tells an outcome; nothing when it does not.
    fn when(&self, outcome: Outcome) -> Option<When> {
        let result = self.types.ret;
        let is_int = result.is_some_and(|result| kind(result) == Kind::Int);
        match outcome {
            Outcome::Always => Some(When::Always),
            Outcome::IfTrue => is_int.then_some(When::NotZero),
            Outcome::IfFalse => is_int.then_some(When::Zero),
            Outcome::IfNonZero if result == Some(Type::Long) => Some(When::NotZeroLong),
            Outcome::IfNonZero => is_int.then_some(When::NotZero),
            Outcome::IfNonNull => result.is_some_and(Type::is_reference).then_some(When::Some),
            Outcome::Unknown => None,
        }
    }
}

fn kind(of: Type<'_>) -> Kind {
    match of {
        Type::Boolean | Type::Byte | Type::Char | Type::Short | Type::Int => Kind::Int,
        Type::Long => Kind::Long,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Object(_) | Type::Array { .. } => Kind::Ref,
    }
}

/// Whether the order that a call makes is reported by the code that is called.
fn library_shows_order(config: &Config, model: &Model) -> bool {
    config.library_order && !model.source.is_user && config.models.is_observed(model.class)
}

/// What a model says of a call, in terms of hooks.
fn reports(call: &Call<'_>, model: &Model, config: &Config) -> Reports {
    let models = call.models;
    let collections = config.collections;
    let cuts = config.blocks && model.cuts_blocks();
    let mut reports = Reports { cuts, ..Reports::default() };
    let coordinator = models.coordinator(model.class);
    // A row of the class that the call names says itself that its objects are locks. A row of the
    // platform may have been found by the name of the method alone; then the object decides.
    let is_named_by_row = !language::is_platform(model.class);
    let is_synchronized = model.effects.iter().any(|effect| {
        matches!(effect, Effect::Synchronized { lock: Operand::Receiver | Operand::Field(_) })
    });
    for effect in model.effects {
        match *effect {
            // That is reported once, with the monitor.
            effect
                if is_synchronized && (looks_at_receiver(effect) || changes_receiver(effect)) => {}
            Effect::Acquire { lock, mode, outcome } => {
                let op = match mode {
                    Mode::Exclusive | Mode::Any if is_named_by_row => Op::AcquireModelled,
                    Mode::Exclusive | Mode::Any => Op::Acquire,
                    Mode::Shared => Op::AcquireShared,
                    Mode::Optimistic | Mode::Permit => Op::Receive,
                };
                if let (Some(source), Some(when)) = (call.source(lock), call.when(outcome)) {
                    reports.after(op, source, when);
                }
            }
            Effect::Release { lock, mode, outcome } => {
                let op = match mode {
                    Mode::Exclusive | Mode::Any if is_named_by_row => Op::ReleaseModelled,
                    Mode::Exclusive | Mode::Any => Op::Release,
                    Mode::Shared => Op::ReleaseShared,
                    Mode::Optimistic | Mode::Permit => Op::Publish,
                };
                match (call.source(lock), call.when(outcome)) {
                    (Some(source), Some(When::Always)) => reports.before(op, source),
                    // Only the result tells; a report that comes late is better than a wrong one.
                    (Some(source), Some(when)) => reports.after(op, source, when),
                    (None, _) | (_, None) => {}
                }
            }
            Effect::Synchronized { lock } => {
                // The mutex in a field guards the object itself.
                let guarded = match lock {
                    Operand::Field(_) => Operand::Receiver,
                    other => other,
                };
                let touches = |wanted: Effect| model.effects.contains(&wanted);
                let is_receiver = guarded == Operand::Receiver;
                let op = if touches(Effect::Write { of: guarded })
                    || is_receiver && model.effects.iter().any(|it| changes_receiver(*it))
                {
                    Op::AtomicUpdate
                } else if touches(Effect::Read { of: guarded })
                    || is_receiver && model.effects.iter().any(|it| looks_at_receiver(*it))
                {
                    Op::AtomicRead
                } else {
                    Op::Receive
                };
                // The class of a constant must be the one that the call names.
                let is_at_hand = lock != Operand::Class || model.class == &**call.method.class;
                if let (Some(source), true) = (call.source(guarded), is_at_hand) {
                    // The monitor is given back before anybody who takes it later is heard of.
                    reports.before(Op::Publish, source);
                    reports.after(op, source, When::Always);
                }
            }
            Effect::LockView { of, mode } => {
                let relation = match mode {
                    Mode::Exclusive => Relation::ExclusiveView,
                    Mode::Shared => Relation::SharedView,
                    Mode::Optimistic | Mode::Permit | Mode::Any => Relation::LockView,
                };
                alias(&mut reports, call, Operand::Result, of, relation);
            }
            Effect::ConditionOf { lock } => {
                alias(&mut reports, call, Operand::Result, lock, Relation::Condition);
            }
            Effect::Handle { of: Operand::Elements(number) } => {
                // Tasks that are submitted here get handles of their own.
                let is_given = |effect: &Effect| {
                    !matches!(effect, Effect::Submit { .. } | Effect::Join { .. })
                };
                if let Some(source) = call.source(Operand::Argument(number))
                    && model.effects.iter().all(is_given)
                {
                    reports.before(Op::Gather, source);
                    reports.after(Op::Gathered, Source::Result, When::Always);
                }
            }
            Effect::After { stage, .. } => {
                if let Some(source) = call.source(stage) {
                    reports.before(Op::SubmittedAfter, source);
                }
            }
            Effect::Handle { of } => {
                alias(&mut reports, call, Operand::Result, of, Relation::Handle);
            }
            Effect::Wraps { task, by } => {
                alias(&mut reports, call, by, task, Relation::Wraps);
            }
            Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, .. } => {
                if let Some(source) = call.source(on) {
                    reports.before(Op::Wait, source);
                    reports.after(Op::Woken, source, When::Always);
                }
            }
            // The permit of a parked thread is no lock, and orders nothing.
            Effect::Notify { on: Operand::Receiver, all } => {
                let op = if all { Op::NotifyAll } else { Op::Notify };
                if let Some(source) = call.source(Operand::Receiver) {
                    reports.before(op, source);
                }
            }
            Effect::Fork { task } => {
                if let Some(source) = call.source(task) {
                    reports.before(Op::Fork, source);
                }
            }
            Effect::Join { task: Operand::Elements(number), outcome, .. } => {
                let source = call.source(Operand::Argument(number));
                if let (Some(source), Some(when)) = (source, call.when(outcome)) {
                    reports.after(Op::TaskJoin, source, when);
                }
            }
            Effect::Join { task, outcome, .. } => {
                let is_thread = is_thread(models, model.class);
                // Whether a thread has ended can be asked, whatever the result says.
                let unknown = is_thread.then_some(When::Always);
                let op = match is_thread {
                    true => Op::Join,
                    false if model.source.is_user => Op::TaskJoinModelled,
                    false => Op::TaskJoin,
                };
                for source in call.tasks(task) {
                    if let Some(when) = call.when(outcome).or(unknown) {
                        reports.after(op, source, when);
                    }
                }
            }
            Effect::Submit { task, to, .. } => {
                let (op, tasks) = match task {
                    Operand::Elements(number) => {
                        (Op::SubmitAll, call.tasks(Operand::Argument(number)))
                    }
                    other if model.source.is_user => (Op::SubmitModelled, call.tasks(other)),
                    other => (Op::Submit, call.tasks(other)),
                };
                let executor = to.operand().and_then(|operand| call.source(operand));
                for source in tasks {
                    reports.before(op, source);
                    if let Some(executor) = executor {
                        reports.before(Op::SubmittedTo, executor);
                    }
                }
            }
            Effect::Interrupt { thread } => {
                if let Some(source) = call.source(thread) {
                    reports.before(Op::Publish, source);
                }
            }
            Effect::ObservesInterrupt { thread, outcome } => {
                if let (Some(source), Some(when)) = (call.source(thread), call.when(outcome)) {
                    reports.after(Op::Receive, source, when);
                }
            }
            Effect::Publish { to } => {
                let op = match coordinator {
                    Some(Coordinator::Barrier) => Op::Arrive,
                    Some(Coordinator::Latch) => Op::CountDown,
                    None => Op::Publish,
                };
                if let Some(source) = call.source(to) {
                    reports.before(op, source);
                }
            }
            Effect::Receive { from, outcome } => {
                let op = match coordinator {
                    Some(Coordinator::Barrier) => Op::Pass,
                    Some(Coordinator::Latch) => Op::LatchPass,
                    None => Op::Receive,
                };
                if let (Some(source), Some(when)) = (call.source(from), call.when(outcome)) {
                    reports.after(op, source, when);
                }
            }
            Effect::AtomicRead { of, ordering } => {
                if let Some(source) = call.source(of) {
                    let op = match ordering {
                        Ordering::Plain => Op::ContentsRead,
                        Ordering::Opaque
                        | Ordering::Acquire
                        | Ordering::Release
                        | Ordering::Volatile => Op::AtomicRead,
                    };
                    reports.after(op, source, When::Always);
                }
            }
            Effect::AtomicWrite { of, ordering } => {
                if let Some(source) = call.source(of) {
                    match ordering {
                        Ordering::Plain => {
                            reports.after(Op::ContentsWrite, source, When::Always);
                        }
                        Ordering::Opaque
                        | Ordering::Acquire
                        | Ordering::Release
                        | Ordering::Volatile => {
                            reports.before(Op::Publish, source);
                            reports.after(Op::AtomicWrite, source, When::Always);
                        }
                    }
                }
            }
            Effect::AtomicUpdate { of, ordering, outcome } => {
                if let Some(source) = call.source(of) {
                    if matches!(ordering, Ordering::Release | Ordering::Volatile) {
                        reports.before(Op::Publish, source);
                    }
                    atomic_update(&mut reports, source, call.when(outcome));
                }
            }
            // What the platform does to its receiver depends on the object.
            Effect::Read { of } if collections && (is_named_by_row || of != Operand::Receiver) => {
                if let Some(source) = call.source(of) {
                    match is_named_by_row {
                        true => reports.after(Op::ContentsRead, source, When::Always),
                        false => reports.before(Op::CollectionRead, source),
                    }
                }
            }
            Effect::Write { of } if collections && (is_named_by_row || of != Operand::Receiver) => {
                if let Some(source) = call.source(of) {
                    match is_named_by_row {
                        true => reports.after(Op::ContentsWrite, source, When::Always),
                        false => reports.before(Op::CollectionWrite, source),
                    }
                }
            }
            Effect::Read { .. }
            | Effect::Write { .. }
            | Effect::Wait { kind: WaitKind::Park, .. }
            | Effect::Notify { .. }
            | Effect::View { .. }
            | Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Feeds { .. }
            | Effect::RunsTask { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Fence { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::ReturnsFresh
            | Effect::ReturnsType { .. }
            | Effect::SingleWorker
            | Effect::Parallel
            | Effect::Sequential
            | Effect::Escapes { .. } => {}
        }
    }
    if let Some(source) = call.source(Operand::Receiver) {
        by_interface(&mut reports, call, model, source);
        if collections {
            contents(&mut reports, call, model, source);
        }
    }
    reports.key = key(call, model);
    if models.is(model.class, ClassProperty::Pipeline) {
        pipeline(&mut reports, call);
    }
    reports
}

fn looks_at_receiver(effect: Effect) -> bool {
    matches!(effect, Effect::AtomicRead { of: Operand::Receiver, .. })
}

fn changes_receiver(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::AtomicWrite { of: Operand::Receiver, .. }
            | Effect::AtomicUpdate { of: Operand::Receiver, .. }
    )
}

/// Callbacks of a stream run when it is worked off, by a call that gives no stream.
fn pipeline(reports: &mut Reports, call: &Call<'_>) {
    for task in call.tasks(Operand::Callbacks) {
        reports.before(Op::StreamStep, task);
    }
    let is_step = matches!(
        call.types.ret,
        Some(Type::Object(class)) if call.models.is(class, ClassProperty::Pipeline)
    );
    if let Some(receiver) = call.source(Operand::Receiver)
        && !is_step
    {
        reports.before(Op::StreamBegin, receiver);
        reports.after(Op::StreamEnd, receiver, When::Always);
    }
}

/// The key of the only entry of the receiver that a call is about, where the models know it.
fn key(call: &Call<'_>, model: &Model) -> Option<Source> {
    let class = if model.class.is_empty() { call.method.class } else { model.class };
    let is_keyed = call.models.is_keyed(class, call.method.name, call.method.descriptor);
    is_keyed.then(|| call.source(Operand::Argument(0))).flatten()
}

/// What a call does to a concurrent collection of which only the interface is known. The class that it has at run time
/// decides whether it is one.
fn by_interface(reports: &mut Reports, call: &Call<'_>, model: &Model, receiver: Source) {
    let (class, method) = (&**call.method.class, &**call.method.name);
    let says_nothing = |effect: &Effect| {
        !matches!(
            effect,
            Effect::Read { of: Operand::Receiver }
                | Effect::Write { of: Operand::Receiver }
                | Effect::AtomicRead { of: Operand::Receiver, .. }
                | Effect::AtomicWrite { of: Operand::Receiver, .. }
                | Effect::AtomicUpdate { of: Operand::Receiver, .. }
                | Effect::Synchronized { .. }
        )
    };
    if call.models.sharing(class).is_some() || !model.effects.iter().all(says_nothing) {
        return;
    }
    match call.models.contents_access(class, method, model.effects) {
        Some(ContentsAccess::Looks) => reports.after(Op::ConcurrentRead, receiver, When::Always),
        Some(ContentsAccess::Changes | ContentsAccess::Takes) => {
            reports.after(Op::ConcurrentUpdate, receiver, When::Always);
        }
        None => {}
    }
}

/// What a call does to the contents of a collection or the like. The class that the object has at run time decides
/// whether that is an access to memory: a concurrent collection orders its calls by itself.
fn contents(reports: &mut Reports, call: &Call<'_>, model: &Model, receiver: Source) {
    let (class, method) = (&**call.method.class, &**call.method.name);
    let says_nothing = |effect: &Effect| {
        !matches!(
            effect,
            Effect::AtomicRead { of: Operand::Receiver, .. }
                | Effect::AtomicWrite { of: Operand::Receiver, .. }
                | Effect::AtomicUpdate { of: Operand::Receiver, .. }
                | Effect::Synchronized { .. }
        )
    };
    let is_ordered = match call.models.sharing(class) {
        Some(Sharing::NotThreadSafe) | None => false,
        Some(_) => true,
    };
    let is_of_user = !model.class.is_empty() && !language::is_platform(model.class);
    if call.is_constructor || is_ordered || is_of_user || !model.effects.iter().all(says_nothing) {
        return;
    }
    // A call by `super` is one of the library, whatever the class of the object overrides.
    let (read, write) = match call.is_exact {
        true => (Op::SuperRead, Op::SuperWrite),
        false => (Op::CollectionRead, Op::CollectionWrite),
    };
    // Reported before, because a call that fails has looked at least: that is how iterators notice a race.
    match call.models.memory_access(class, method, model.effects) {
        Some(MemoryAccess::Reads) => reports.before(read, receiver),
        Some(MemoryAccess::Writes) => reports.before(write, receiver),
        Some(MemoryAccess::WritesIfNew) => {
            let (if_new, otherwise) = match call.types.ret {
                Some(result) if result.is_reference() => (When::None, Some(When::Some)),
                Some(Type::Boolean) => (When::NotZero, Some(When::Zero)),
                _ => (When::Always, None),
            };
            reports.after(write, receiver, if_new);
            if let Some(otherwise) = otherwise {
                reports.after(read, receiver, otherwise);
            }
        }
        None => {}
    }
}

/// Stands for what is said of a method of a collection that no row is about.
static NOTHING_SAID: Model = Model {
    class: "",
    method: "",
    descriptor: "",
    effects: &[],
    since: 0,
    source: RowSource { file: "", line: 0, is_user: false },
};

/// An update that fails is only a read.
fn atomic_update(reports: &mut Reports, source: Source, when: Option<When>) {
    match when {
        None | Some(When::Always) => reports.after(Op::AtomicUpdate, source, When::Always),
        Some(When::NotZero) => {
            reports.after(Op::AtomicUpdate, source, When::NotZero);
            reports.after(Op::AtomicRead, source, When::Zero);
        }
        Some(When::Zero) => {
            reports.after(Op::AtomicUpdate, source, When::Zero);
            reports.after(Op::AtomicRead, source, When::NotZero);
        }
        Some(other @ (When::NotZeroLong | When::Some | When::None)) => {
            reports.after(Op::AtomicRead, source, When::Always);
            reports.after(Op::AtomicUpdate, source, other);
        }
    }
}

fn alias(reports: &mut Reports, call: &Call<'_>, view: Operand, of: Operand, relation: Relation) {
    for of in call.tasks(of) {
        if let Some(view) = call.source(view)
            && of != Source::Result
        {
            reports.aliases.push((view, of, relation));
        }
    }
}

fn is_thread(models: &Models, class: &str) -> bool {
    class == THREAD || models.supertypes(class).contains(&THREAD)
}

/// What the runtime must know of a call.
pub(super) fn call_target(
    method: &MemberRef<'_>,
    relation: Option<Relation>,
    begins_block: bool,
) -> SiteTarget {
    SiteTarget::Call {
        owner: method.class.to_string(),
        name: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        relation,
        begins_block,
    }
}

impl Planner<'_> {
    /// The model of a call, as far as it can be told from here what is called.
    fn model(&self, method: &MemberRef<'_>) -> Option<&'static Model> {
        let (name, descriptor) = (&**method.name, &**method.descriptor);
        let models = &self.config.models;
        // Waiting and notifying are final, whichever class the code names.
        if let Some(model) = models.row_by_name(MethodProperty::Final, name, descriptor) {
            return Some(model);
        }
        if let Some(model) = self.user_row(method.class, name, descriptor) {
            // A method that is watched reports itself what its row says, whichever class a call names.
            return if self.watches(method.class) { None } else { Some(model) };
        }
        if !self.is_application(method.class) {
            return models.find(method.class, name, descriptor);
        }
        if name == "<init>" {
            return None;
        }
        if method.class == &self.file.name {
            let declared = self
                .file
                .methods
                .iter()
                .any(|own| own.name == *method.name && own.descriptor == *method.descriptor);
            if declared {
                return None;
            }
            // What this class inherits from the library, it inherits with its model.
            let supertypes = self.file.super_name.iter().chain(&self.file.interfaces);
            let inherited = supertypes
                .filter(|name| !self.is_application(name) && &***name != OBJECT)
                .find_map(|supertype| models.find(supertype, name, descriptor));
            if inherited.is_some() {
                return inherited;
            }
        }
        // A library that is not part of the platform may have models of its own.
        let modelled = models.find(method.class, name, descriptor);
        modelled.or_else(|| models.row_by_name(MethodProperty::KnownByName, name, descriptor))
    }
}

/// Whether a call runs nothing but code of the library that depends on its arguments alone.
pub(super) fn is_pure(models: &Models, method: &MemberRef<'_>, types: &MethodType<'_>) -> bool {
    let is_value = |of: &Type<'_>| match of {
        Type::Object(class) => *class == language::STRING,
        Type::Array { .. } => false,
        _ => true,
    };
    (models.is(method.class, ClassProperty::ComputesValues)
        || models.sharing(method.class) == Some(Sharing::Immutable))
        && types.params.iter().all(is_value)
}

impl MethodPlan<'_, '_> {
    pub(super) fn invoke(
        &mut self,
        offset: u32,
        kind: InvokeKind,
        index: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let file = self.planner.file;
        let Ok(method) = file.pool.member_ref(index) else { return Ok(()) };
        let Ok(types) = parse_method(method.descriptor) else { return Ok(()) };
        self.clone_call(offset, kind, &method)?;
        let models = &self.planner.config.models;
        let is_pure = is_pure(models, &method, &types);
        self.may_synchronise = self.may_synchronise || !is_pure;
        // The method that a bridge leads to is called by whoever calls the bridge.
        let is_call_of_program =
            self.planner.config.blocks && !self.method.has_access(access::BRIDGE);
        if is_call_of_program && self.planner.calls_task(kind, &method, &types) {
            let mut before = Snippet::new();
            self.call(&mut before, Hook::CallsTask, &[])?;
            self.before(offset, &before);
        }
        let collections = self.planner.config.collections;
        let is_of_collection = || {
            models.contents_access(method.class, method.name, &[]).is_some()
                || collections && models.memory_access(method.class, method.name, &[]).is_some()
        };
        let model = self.planner.model(&method);
        let Some(model) = model.or_else(|| is_of_collection().then_some(&NOTHING_SAID)) else {
            return if is_pure { Ok(()) } else { self.approach_call(offset, &method) };
        };
        let call = Call {
            models,
            has_receiver: kind != InvokeKind::Static,
            is_constructor: &**method.name == "<init>",
            is_exact: kind == InvokeKind::Special,
            method,
            types,
        };
        // The lock and the buffer of a stream order what is written to it, which nobody means.
        if models.is(model.class, ClassProperty::Stream) {
            return self.approach_call(offset, &method);
        }
        let mut reports = reports(&call, model, self.planner.config);
        if library_shows_order(self.planner.config, model) {
            reports.leave_out_order();
        }
        if !self.planner.has_class_constants() {
            reports.before.retain(|(_, source)| *source != Source::Class);
            reports.after.retain(|(_, source, _)| *source != Source::Class);
        }
        if call.is_constructor {
            reports.key = None;
            // Only what the new object wraps is reported: before the call it is no object yet.
            reports.before.retain(|(_, source)| *source != Source::Position(0));
            reports.after.clear();
            reports.aliases.retain(|(view, ..)| *view == Source::Position(0));
            reports.aliases.truncate(1);
            reports.cuts = false;
        }
        if reports.is_empty() {
            return self.approach_call(offset, &method);
        }
        let relation = reports.aliases.first().map(|(_, _, relation)| *relation);
        let begins_block = reports.acquires() && self.has_regions();
        let target = call_target(&method, relation, begins_block);
        let Some(site) = self.call_site(offset, &method, target) else { return Ok(()) };
        self.approach_call_at(offset, site)?;
        self.surround(offset, &call, &reports, site)
    }

    /// A number for a call.
    pub(super) fn call_site(
        &mut self,
        offset: u32,
        method: &MemberRef<'_>,
        target: SiteTarget,
    ) -> Option<i32> {
        let subject = format!("{}.{}", classes::binary_name(method.class), method.name);
        self.site(Some(offset), subject, target)
    }

    /// Where threads may be held back, the hook in front of a call that is not reported otherwise: it may
    /// run a synchronized method, which takes its lock before any hook of its own can run.
    fn approach_call(
        &mut self,
        offset: u32,
        method: &MemberRef<'_>,
    ) -> Result<(), InstrumentError> {
        if !self.planner.config.adversarial || method.name.starts_with('<') {
            return Ok(());
        }
        let target = call_target(method, None, false);
        let Some(site) = self.call_site(offset, method, target) else { return Ok(()) };
        self.approach_call_at(offset, site)
    }

    fn approach_call_at(&mut self, offset: u32, site: i32) -> Result<(), InstrumentError> {
        if self.planner.config.adversarial {
            let mut before = Snippet::new();
            self.call(&mut before, Hook::ApproachCall, &[site])?;
            self.before(offset, &before);
        }
        Ok(())
    }

    /// Puts the reports around a call.
    fn surround(
        &mut self,
        offset: u32,
        call: &Call<'_>,
        reports: &Reports,
        site: i32,
    ) -> Result<(), InstrumentError> {
        let kinds = call.kinds();
        let position = |source: Source| match source {
            Source::Position(position) => Some(position),
            Source::Result | Source::Class | Source::CurrentThread => None,
        };
        let needed_before = reports.before.iter().filter_map(|(_, source)| position(*source));
        let needed_after = reports
            .after
            .iter()
            .map(|(_, source, _)| *source)
            .chain(reports.aliases.iter().flat_map(|(view, of, _)| [*view, *of]))
            .chain(reports.key)
            .filter_map(position);
        let deepest_after = needed_after.min();
        let deepest = needed_before.chain(deepest_after).min();

        let mut before = Snippet::new();
        let mut after = Snippet::new();
        let mut slots = vec![None; kinds.len()];
        let mut used = 0;
        match deepest {
            // What is on top can be copied where it is.
            Some(top) if top + 1 == kinds.len() && deepest_after.is_none() => {
                for (op, source) in &reports.before {
                    match position(*source) {
                        Some(_) => {
                            before.dup();
                        }
                        None => self.push(&mut before, call, *source, &slots)?,
                    }
                    self.report_before(&mut before, *op, site)?;
                }
            }
            Some(deepest) => {
                let mut next = self.code.max_locals;
                // A new object stays on the stack in two copies, because it must not be in a local
                // variable before it is complete.
                let is_unfinished = call.is_constructor && deepest == 0;
                let first = if is_unfinished { 1 } else { deepest };
                for position in first..kinds.len() {
                    slots[position] = Some(next);
                    next = next.saturating_add(kinds[position].words() as u16);
                }
                used = next - self.code.max_locals;
                let spilled = || {
                    (deepest + 1..kinds.len())
                        .filter_map(|position| slots[position].map(|slot| (kinds[position], slot)))
                };
                for (kind, slot) in spilled().rev() {
                    before.store(kind, slot);
                }
                // The operand itself stays where it is: if it is null, the JVM says where it came
                // from.
                before.dup();
                if let Some(slot) = slots[deepest] {
                    before.store(Kind::Ref, slot);
                }
                for (op, source) in &reports.before {
                    self.push(&mut before, call, *source, &slots)?;
                    self.report_before(&mut before, *op, site)?;
                }
                for (kind, slot) in spilled() {
                    before.load(kind, slot);
                }
            }
            None => {
                for (op, source) in &reports.before {
                    self.push(&mut before, call, *source, &slots)?;
                    self.report_before(&mut before, *op, site)?;
                }
            }
        }
        if let Some(hook) = reports.since() {
            let slot = self.code.max_locals.saturating_add(used);
            used = used.saturating_add(Kind::Long.words() as u16);
            if hook == Hook::SinceByClass {
                self.push(&mut before, call, Source::Position(0), &slots)?;
            }
            self.call(&mut before, hook, &[site])?;
            before.store(Kind::Long, slot);
            after.load(Kind::Long, slot);
            self.call(&mut after, Hook::Interval, &[])?;
        }
        self.edits.extra_locals = self.edits.extra_locals.max(used);
        if reports.cuts {
            self.call(&mut before, Hook::Cut, &[])?;
        }
        for (view, of, _) in &reports.aliases {
            // A new object is on the stack already.
            if !(call.is_constructor && *view == Source::Position(0)) {
                self.push(&mut after, call, *view, &slots)?;
            }
            self.push(&mut after, call, *of, &slots)?;
            self.call(&mut after, Hook::Alias, &[site])?;
        }
        self.report_after(&mut after, call, reports, &slots, site)?;
        for (kind, slot) in kinds.iter().zip(&slots) {
            if let (Kind::Ref, Some(slot)) = (kind, slot) {
                // `aconst_null`.
                after.raw(0x01, 0, 1).store(Kind::Ref, *slot);
            }
        }
        self.before(offset, &before);
        self.after(offset, &after);
        Ok(())
    }

    /// The report of an object that is on top of the stack, before a call.
    fn report_before(
        &mut self,
        before: &mut Snippet,
        op: Op,
        site: i32,
    ) -> Result<(), InstrumentError> {
        if op == Op::CollectionRead {
            self.call(before, Hook::ReadContents, &[site])
        } else if op == Op::CollectionWrite {
            self.call(before, Hook::WriteContents, &[site])
        } else {
            self.call(before, Hook::Call, &[op.number(), site])
        }
    }

    /// The reports that follow a call, or stand before the end of a method that a user describes: its
    /// result, if it has one, is on top of the stack.
    fn report_after(
        &mut self,
        after: &mut Snippet,
        call: &Call<'_>,
        reports: &Reports,
        slots: &[Option<u16>],
        site: i32,
    ) -> Result<(), InstrumentError> {
        for (op, source, when) in &reports.after {
            let is_keyed = match op {
                Op::AtomicRead
                | Op::AtomicWrite
                | Op::AtomicUpdate
                | Op::ConcurrentRead
                | Op::ConcurrentUpdate => *source == Source::Position(0),
                _ => false,
            };
            if let Some(key) = reports.key.filter(|_| is_keyed) {
                self.push(after, call, key, slots)?;
                self.call(after, Hook::Call, &[Op::Key.number(), site])?;
            }
            let hook = match when {
                When::Always => Hook::Call,
                When::NotZero => {
                    after.dup();
                    Hook::CallIf
                }
                When::Zero => {
                    after.dup();
                    Hook::CallIfNot
                }
                When::NotZeroLong => {
                    // `lconst_0`, `lcmp`.
                    after.dup2().raw(0x09, 0, 2).raw(0x94, 4, 1);
                    Hook::CallIf
                }
                When::Some => {
                    after.dup();
                    Hook::CallIfSome
                }
                When::None => {
                    after.dup();
                    Hook::CallIfNone
                }
            };
            self.push(after, call, *source, slots)?;
            self.call(after, hook, &[op.number(), site])?;
        }
        Ok(())
    }

    /// A method that a user describes: what its row says is reported where it begins and where it
    /// returns, and nothing else of it is watched.
    pub(super) fn make_described(
        mut self,
        row: &'static Model,
    ) -> Result<(MethodEdits, u32), InstrumentError> {
        let (file, config, info) = (self.planner.file, self.planner.config, self.method);
        let Ok(types) = parse_method(&info.descriptor) else { return Ok((self.edits, 0)) };
        let call = Call {
            models: &config.models,
            method: MemberRef {
                class: &file.name,
                name: &info.name,
                descriptor: &info.descriptor,
                is_interface: false,
            },
            types,
            has_receiver: !info.has_access(access::STATIC),
            is_constructor: &*info.name == "<init>",
            is_exact: false,
        };
        let slots = self.parameter_slots(&call);
        let mut reports = reports(&call, row, config);
        let is_at_hand = |source: &Source| match source {
            Source::Position(position) => slots.get(*position).is_some_and(Option::is_some),
            Source::Class => self.planner.has_class_constants(),
            Source::Result | Source::CurrentThread => true,
        };
        // Before it is constructed, an object must not be handed to a hook.
        reports.before.retain(|(_, source)| is_at_hand(source) && !call.is_constructor);
        reports.after.retain(|(_, source, _)| is_at_hand(source));
        reports.aliases.retain(|(face, of, _)| is_at_hand(face) && is_at_hand(of));
        reports.key = reports.key.filter(|key| is_at_hand(key));
        if reports.is_empty() {
            return Ok((self.edits, 0));
        }
        let relation = reports.aliases.first().map(|(_, _, relation)| *relation);
        let begins_block = reports.acquires() && self.has_regions();
        let target = call_target(&call.method, relation, begins_block);
        let Some(site) = self.call_site(0, &call.method, target) else {
            return Ok((self.edits, 0));
        };
        let mut entry = Snippet::new();
        for (op, source) in &reports.before {
            self.push(&mut entry, &call, *source, &slots)?;
            self.report_before(&mut entry, *op, site)?;
        }
        if reports.cuts {
            self.call(&mut entry, Hook::Cut, &[])?;
        }
        self.edits.entry.append(&entry);
        for (offset, instruction) in self.instructions {
            if matches!(instruction, Instruction::Return(_)) {
                let mut end = Snippet::new();
                for (face, of, _) in &reports.aliases {
                    self.push(&mut end, &call, *face, &slots)?;
                    self.push(&mut end, &call, *of, &slots)?;
                    self.call(&mut end, Hook::Alias, &[site])?;
                }
                self.report_after(&mut end, &call, &reports, &slots, site)?;
                self.before(*offset, &end);
            }
        }
        Ok((self.edits, self.hooks))
    }

    /// The local variables of the receiver and the parameters of this method; none for one that the
    /// method writes itself.
    fn parameter_slots(&self, call: &Call<'_>) -> Vec<Option<u16>> {
        let is_written = |slot: u16| {
            self.instructions.iter().any(|(_, instruction)| {
                matches!(instruction, Instruction::Store { slot: written, .. } if *written == slot)
            })
        };
        let mut next = 0_u16;
        let slots = call.kinds().into_iter().map(|kind| {
            let slot = next;
            next = next.saturating_add(kind.words() as u16);
            (!is_written(slot)).then_some(slot)
        });
        slots.collect()
    }

    /// Pushes an object that takes part in a call.
    fn push(
        &mut self,
        snippet: &mut Snippet,
        call: &Call<'_>,
        source: Source,
        slots: &[Option<u16>],
    ) -> Result<(), InstrumentError> {
        match source {
            Source::Position(position) => {
                if let Some(slot) = slots.get(position).copied().flatten() {
                    snippet.load(Kind::Ref, slot);
                }
            }
            // Pushed after the call only, when the result is on top.
            Source::Result => {
                snippet.dup();
            }
            Source::Class => self.push_class(snippet, call.method.class)?,
            Source::CurrentThread => {
                let current = "()Ljava/lang/Thread;";
                let method =
                    self.planner.editor.pool().method_ref(THREAD, "currentThread", current)?;
                snippet.invokestatic(method, 0, 1);
            }
        }
        Ok(())
    }
}

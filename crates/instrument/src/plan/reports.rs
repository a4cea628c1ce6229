//! What a model says of a call of the library, in terms of hooks: what is reported before it and after it, and of which
//! object.

use agent_protocol::{Hook, Op};
use classes::MemberRef;
use classes::bytecode::Kind;
use classes::descriptor::{MethodType, Type};
use models::language::{self, THREAD};
use models::{
    ClassProperty, ContentsAccess, Coordinator, Effect, MemoryAccess, Mode, Model, Models, Operand,
    Ordering, Outcome, Sharing, Source as RowSource, WaitKind,
};

use crate::config::Config;
use crate::sites::Relation;

/// Where an object that takes part in a call can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
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
pub(super) enum When {
    Always,
    NotZero,
    Zero,
    NotZeroLong,
    Some,
    None,
}

/// What is to be reported of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reports {
    pub(super) before: Vec<(Op, Source)>,
    pub(super) after: Vec<(Op, Source, When)>,
    /// The first is a view of the second.
    pub(super) aliases: Vec<(Source, Source, Relation)>,
    /// The key of the only entry of the receiver that the call is about.
    pub(super) key: Option<Source>,
    /// Whether the call cuts the blocks that are open.
    pub(super) cuts: bool,
}

impl Reports {
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.aliases.is_empty() && !self.cuts
    }

    /// Whether a lock may be held after the call.
    pub(super) fn acquires(&self) -> bool {
        self.after
            .iter()
            .any(|(op, ..)| matches!(op, Op::Acquire | Op::AcquireShared | Op::AcquireModelled))
    }

    /// Leaves out what only says that threads are ordered.
    pub(super) fn leave_out_order(&mut self) {
        self.before.retain(|(op, _)| *op != Op::Publish);
        self.after.retain(|(op, ..)| *op != Op::Receive);
    }

    /// Leaves out accesses to the contents of objects that lock nothing.
    pub(super) fn leave_out_contents(&mut self) {
        let is_kept = |op: Op| {
            !matches!(
                op,
                Op::CollectionRead
                    | Op::CollectionWrite
                    | Op::SuperRead
                    | Op::SuperWrite
                    | Op::ContentsRead
                    | Op::ContentsWrite
            )
        };
        self.before.retain(|(op, _)| is_kept(*op));
        self.after.retain(|(op, ..)| is_kept(*op));
    }

    /// Leaves out accesses to objects that order the calls to them, which are variables to those who ask what is atomic.
    pub(super) fn leave_out_variables(&mut self) {
        self.after.retain(|(op, ..)| !op.is_of_concurrent() && !is_interval(*op));
        self.key = None;
    }

    pub(super) fn before(&mut self, op: Op, source: Source) {
        // What a call returns is not there before.
        if source != Source::Result && !self.before.contains(&(op, source)) {
            self.before.push((op, source));
        }
    }

    /// Joins what asks for the class of the receiver right before the call: whether its contents are accessed, and whether
    /// it is a concurrent collection. Gives the hook that does both, without the report of the first.
    pub(super) fn join_by_class(&mut self) -> Option<Hook> {
        let since = self.since()?;
        let joined = match self.before.last() {
            Some((Op::CollectionRead, Source::Position(0))) => Hook::ReadContentsSince,
            Some((Op::CollectionWrite, Source::Position(0))) => Hook::WriteContentsSince,
            _ => return Some(since),
        };
        if since != Hook::SinceByClass {
            return Some(since);
        }
        self.before.pop();
        Some(joined)
    }

    /// Takes the report after the call that only concurrent collections need, if there is no other: one hook can then ask
    /// whether the receiver is one, and do the rest.
    pub(super) fn take_concurrent(&mut self) -> Option<Op> {
        match self.after.as_slice() {
            [(op, Source::Position(0), When::Always)] if op.is_of_concurrent() => {
                let op = *op;
                self.after.clear();
                Some(op)
            }
            _ => None,
        }
    }

    /// How the operations that the reports after the call are about get an interval: nothing if they need none.
    fn since(&self) -> Option<Hook> {
        if self.after.iter().any(|(op, ..)| is_interval(*op)) {
            Some(Hook::Since)
        } else {
            self.after.iter().any(|(op, ..)| op.is_of_concurrent()).then_some(Hook::SinceByClass)
        }
    }

    /// What is known of the atomic updates of the call, besides that they are some.
    pub(super) fn specialise_updates(&mut self, update: Op) {
        for (op, ..) in &mut self.after {
            if *op == Op::AtomicUpdate {
                *op = update;
            }
        }
    }

    pub(super) fn after(&mut self, op: Op, source: Source, when: When) {
        if !self.after.contains(&(op, source, when)) {
            self.after.push((op, source, when));
        }
    }
}

/// Whether an operation takes effect at some moment between two others of its thread.
fn is_interval(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicRead | Op::AtomicWrite | Op::AtomicUpdate | Op::AtomicAdd | Op::AtomicSwap
    )
}

/// One call, as far as the models can be applied to it.
pub(super) struct Call<'a> {
    pub(super) models: &'a Models,
    pub(super) method: MemberRef<'a>,
    pub(super) types: MethodType<'a>,
    pub(super) has_receiver: bool,
    pub(super) is_constructor: bool,
    /// Whether it is known which method is called: that of the class that the call names.
    pub(super) is_exact: bool,
}

impl Call<'_> {
    /// The kinds of the operands, from the bottom.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let receiver = self.has_receiver.then_some(Kind::Ref);
        receiver.into_iter().chain(self.types.params.iter().map(|param| kind(*param))).collect()
    }

    /// Where an operand is; nothing when it is not at hand, or is no object.
    pub(super) fn source(&self, operand: Operand) -> Option<Source> {
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
    pub(super) fn tasks(&self, operand: Operand) -> Vec<Source> {
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
    pub(super) fn when(&self, outcome: Outcome) -> Option<When> {
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

pub(super) fn kind(of: Type<'_>) -> Kind {
    match of {
        Type::Boolean | Type::Byte | Type::Char | Type::Short | Type::Int => Kind::Int,
        Type::Long => Kind::Long,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Object(_) | Type::Array { .. } => Kind::Ref,
    }
}

/// Whether the order that a call makes is reported by the code that is called.
pub(super) fn library_shows_order(config: &Config, model: &Model) -> bool {
    config.library_order && !model.source.is_user && config.models.is_observed(model.class)
}

/// What a model says of a call, in terms of hooks.
pub(super) fn reports(call: &Call<'_>, model: &Model, config: &Config) -> Reports {
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
                    if mode == Mode::Optimistic {
                        // Code reads also if somebody writes just now, and finds out when it asks. But where a lock was
                        // to be given back, it is still held then.
                        let gives_back =
                            model.effects.iter().any(|it| matches!(it, Effect::Release { .. }));
                        let when = if gives_back { when } else { When::Always };
                        reports.after(Op::BeginOptimistic, source, when);
                    }
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
                    match if_absent(call, model).filter(|_| of == Operand::Receiver) {
                        Some(added) => added.report(&mut reports, source, UPDATES),
                        None => atomic_update(&mut reports, source, call.when(outcome)),
                    }
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
    if collections {
        copied_contents(&mut reports, call, model);
    }
    reports.key = key(call, model);
    if models.is(model.class, ClassProperty::Pipeline) {
        pipeline(&mut reports, call);
    }
    reports
}

pub(super) fn looks_at_receiver(effect: Effect) -> bool {
    matches!(effect, Effect::AtomicRead { of: Operand::Receiver, .. })
}

pub(super) fn changes_receiver(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::AtomicWrite { of: Operand::Receiver, .. }
            | Effect::AtomicUpdate { of: Operand::Receiver, .. }
    )
}

/// Callbacks of a stream run when it is worked off, by a call that gives no stream.
pub(super) fn pipeline(reports: &mut Reports, call: &Call<'_>) {
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
pub(super) fn key(call: &Call<'_>, model: &Model) -> Option<Source> {
    let class = if model.class.is_empty() { call.method.class } else { model.class };
    let is_keyed = call.models.is_keyed(class, call.method.name, call.method.descriptor);
    is_keyed.then(|| call.source(Operand::Argument(0))).flatten()
}

/// How the result tells that a call added something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    /// It is this.
    When(When),
    /// It does not: the callback decides. Then the call has looked at the least.
    Perhaps,
}

/// The operation of a call that changes something, and of one that does not.
type Operations = (Op, Op);
const UPDATES: Operations = (Op::AtomicUpdate, Op::AtomicRead);
const CONCURRENT_UPDATES: Operations = (Op::ConcurrentUpdate, Op::ConcurrentRead);

impl Added {
    fn report(self, reports: &mut Reports, source: Source, (changes, looks): Operations) {
        match self {
            Added::When(added) => {
                let otherwise = match added {
                    When::NotZero => When::Zero,
                    _ => When::Some,
                };
                reports.after(changes, source, added);
                reports.after(looks, source, otherwise);
            }
            Added::Perhaps => reports.after(looks, source, When::Always),
        }
    }
}

/// Whether a call leaves its receiver as it is if what it adds is there already, and how to tell.
fn if_absent(call: &Call<'_>, model: &Model) -> Option<Added> {
    let class = if model.class.is_empty() { call.method.class } else { model.class };
    let (name, descriptor) = (&**call.method.name, &**call.method.descriptor);
    if !call.models.adds_if_absent(class, name, descriptor) {
        return None;
    }
    let is_value = |of: &Type<'_>| *of == Type::Object(language::OBJECT);
    Some(match call.types.ret {
        Some(Type::Boolean) => Added::When(When::NotZero),
        // What was there before: neither a callback nor an object of its own decides.
        Some(before) if is_value(&before) && call.types.params.iter().all(is_value) => {
            Added::When(When::None)
        }
        _ => Added::Perhaps,
    })
}

/// What a call does to a concurrent collection of which only the interface is known. The class that it has at run time
/// decides whether it is one.
pub(super) fn by_interface(
    reports: &mut Reports,
    call: &Call<'_>,
    model: &Model,
    receiver: Source,
) {
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
        Some(ContentsAccess::Changes | ContentsAccess::Takes) => match if_absent(call, model) {
            Some(added) => added.report(reports, receiver, CONCURRENT_UPDATES),
            None => reports.after(Op::ConcurrentUpdate, receiver, When::Always),
        },
        None => {}
    }
}

/// What a call does to the contents of a collection or the like. The class that the object has at run time decides
/// whether that is an access to memory: a concurrent collection orders its calls by itself.
pub(super) fn contents(reports: &mut Reports, call: &Call<'_>, model: &Model, receiver: Source) {
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

/// A call that keeps the elements of a collection has read that: a copy, or the addition of all elements.
fn copied_contents(reports: &mut Reports, call: &Call<'_>, model: &Model) {
    for effect in model.effects {
        let Effect::Store { value: Operand::Elements(number), .. } = *effect else { continue };
        let is_array = call
            .types
            .params
            .get(usize::from(number))
            .is_none_or(|param| matches!(param, Type::Array { .. }));
        if let (false, Some(copied)) = (is_array, call.source(Operand::Argument(number))) {
            // First, so that what is done to the receiver comes right before the call.
            reports.before.insert(0, (Op::CollectionRead, copied));
        }
    }
}

/// Stands for what is said of a method of a collection that no row is about.
pub(super) static NOTHING_SAID: Model = Model {
    class: "",
    method: "",
    descriptor: "",
    effects: &[],
    since: 0,
    source: RowSource { file: "", line: 0, is_user: false },
};

/// An update that fails is only a read.
pub(super) fn atomic_update(reports: &mut Reports, source: Source, when: Option<When>) {
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

pub(super) fn alias(
    reports: &mut Reports,
    call: &Call<'_>,
    view: Operand,
    of: Operand,
    relation: Relation,
) {
    for of in call.tasks(of) {
        if let Some(view) = call.source(view)
            && of != Source::Result
        {
            reports.aliases.push((view, of, relation));
        }
    }
}

pub(super) fn is_thread(models: &Models, class: &str) -> bool {
    class == THREAD || models.supertypes(class).contains(&THREAD)
}

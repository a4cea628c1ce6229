//! The locks that a call of a method acquires and releases (the paper's LOCKSHELD), with the
//! shortest way to each.

use program::callgraph::{CallKind, Target};
use program::ids::{BlockId, ClassId, Id, MethodId};
use program::ir::{Body, Operation, Terminator};
use program::models::Effect;
use program::{Program, TypedVec};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::config::{DEEPEST_CHAIN, FEW_TARGETS, MANY_TARGETS, MOST_ACQUIRED, MOST_GUESSES};
use crate::Context;
use crate::locks::expression::{CallTerms, ExpressionRoot, Expressions, LockExpression};
use crate::locks::{implicit_lock, touches_lock};

/// A lock, with what its object must be for the lock to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock {
    /// How the code names it.
    pub expression: LockExpression,
    /// The class that declares the method that takes it; the lock is only taken if the object is of
    /// this class. `None` where the lock is taken whatever the object.
    pub guard: Option<ClassId>,
}

impl Lock {
    /// Whether one object can be meant by both; then what it must be.
    #[must_use]
    pub fn meet(&self, other: &Lock, program: &Program) -> Option<Lock> {
        if self.expression != other.expression {
            return None;
        }
        let guard = match (self.guard, other.guard) {
            (None, guard) | (guard, None) => guard,
            (Some(one), Some(other)) => Some(lower_class(program, one, other)?),
        };
        Some(Lock { expression: self.expression, guard })
    }
}

/// Of two classes on one line of inheritance, the lower.
fn lower_class(program: &Program, one: ClassId, other: ClassId) -> Option<ClassId> {
    if program.hierarchy.is_subtype(one, other) {
        Some(one)
    } else if program.hierarchy.is_subtype(other, one) {
        Some(other)
    } else {
        None
    }
}

/// How a lock comes to be acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AcquiredAt {
    /// By an instruction of the method itself.
    Here(u32),
    /// Inside a call: its offset, the method called, and the lock as that method names it.
    Call(u32, MethodId, Lock),
}

/// The way to one acquired lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Acquired {
    /// Calls on the way.
    pub depth: u16,
    /// Calls on the way whose target is a guess.
    pub guesses: u8,
    /// The first step of the way.
    pub way: AcquiredAt,
}

/// The locks that a method acquires and releases, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    /// Each lock with the shortest way to it.
    pub acquired: Vec<(Lock, Acquired)>,
}

impl Summary {
    /// The way to a lock.
    #[must_use]
    pub(super) fn acquisition_of(&self, lock: &Lock) -> Option<&Acquired> {
        let found = self.acquired.binary_search_by_key(lock, |(lock, _)| *lock).ok()?;
        Some(&self.acquired[found].1)
    }
}

/// What a method does by itself: the locks it takes, and its calls in terms of its own locks.
#[derive(Debug, Default)]
pub(super) struct LocalFacts {
    own: Vec<(Lock, u32)>,
    /// The calls that can lead to a lock, sorted by offset.
    pub calls: Vec<CallTerms>,
}

impl LocalFacts {
    /// The terms of the call at an offset, if it can lead to a lock.
    #[must_use]
    pub(super) fn call_at(&self, offset: u32) -> Option<&CallTerms> {
        let found = self.calls.binary_search_by_key(&offset, |call| call.offset).ok()?;
        Some(&self.calls[found])
    }
}

/// Which methods take a lock, themselves or through calls. The others need not be looked at.
#[must_use]
pub(super) fn may_lock(context: &Context<'_>) -> TypedVec<MethodId, bool> {
    let program = context.program;
    let own: Vec<bool> = (0..program.methods.len())
        .into_par_iter()
        .map(|method| {
            let method = MethodId::new(method);
            let locks = |instruction: &program::ir::Instruction| match &instruction.operation {
                Operation::MonitorEnter(_) => true,
                Operation::Call(call) => touches_lock(program.effects_of(call.method)),
                _ => false,
            };
            implicit_lock(program, method).is_some()
                || program.body(method).is_some_and(|body| body.instructions().any(locks))
        })
        .collect();
    let mut may_lock = TypedVec::filled(false, own.len());
    let mut todo: Vec<MethodId> =
        may_lock.ids().filter(|method: &MethodId| own[method.index()]).collect();
    while let Some(method) = todo.pop() {
        if !std::mem::replace(&mut may_lock[method], true) {
            todo.extend(context.graph.callers(method));
        }
    }
    may_lock
}

/// Collects what a method does by itself.
#[must_use]
pub(super) fn local_facts(
    context: &Context<'_>,
    method: MethodId,
    may_lock: &TypedVec<MethodId, bool>,
    returned: &(dyn Fn(MethodId) -> Option<LockExpression> + Sync),
) -> LocalFacts {
    let program = context.program;
    let mut facts = LocalFacts::default();
    if !may_lock[method] {
        return facts;
    }
    if let Some(expression) = implicit_lock(program, method) {
        facts.own.push((Lock { expression, guard: None }, 0));
    }
    let Some(body) = program.body(method) else { return facts };
    let expressions = Expressions::new(program, context.graph, body, returned);
    let mut taken = Vec::new();
    let mut given_back = Vec::new();
    let returns = blocks_that_return(body);
    let in_order = body.blocks.iter_with_ids().flat_map(|(id, block)| {
        let returns = returns[id];
        block.instructions.iter().map(move |instruction| (instruction, returns))
    });
    for (instruction, returns) in in_order {
        match &instruction.operation {
            Operation::MonitorEnter(object) => {
                if let Some(expression) = expressions.of(*object)
                    && !expression.is_local()
                    && returns
                {
                    facts.own.push((Lock { expression, guard: None }, instruction.offset));
                }
            }
            Operation::Call(call) => {
                let effects = program.effects_of(call.method);
                let targets = context.graph.targets(method, instruction.offset);
                if !touches_lock(effects) && !targets.iter().any(|target| may_lock[target.method]) {
                    continue;
                }
                let terms = expressions.terms(call, instruction.offset, returns);
                let is_static = program.methods[call.method].is_static();
                for effect in effects {
                    match effect {
                        Effect::Acquire { lock, .. } => taken.extend(
                            terms
                                .operand(lock, is_static)
                                .map(|expression| (expression, instruction.offset)),
                        ),
                        Effect::Release { lock, .. } => {
                            given_back.extend(terms.operand(lock, is_static));
                        }
                        _ => {}
                    }
                }
                facts.calls.push(terms);
            }
            _ => {}
        }
    }
    for (expression, offset) in taken {
        if given_back.contains(&expression) && !expression.is_local() {
            facts.own.push((Lock { expression, guard: None }, offset));
        }
    }
    facts.calls.sort_by_key(|call| call.offset);
    facts.calls.dedup_by_key(|call| call.offset);
    facts
}

/// Whether control can get from a block to the end of the method, exceptions that are caught
/// included.
fn blocks_that_return(body: &Body) -> TypedVec<BlockId, bool> {
    let mut returns = TypedVec::filled(false, body.blocks.len());
    let mut todo: Vec<BlockId> = body
        .blocks
        .iter_with_ids()
        .filter(|(_, block)| matches!(block.terminator, Terminator::Return(_)))
        .map(|(id, _)| id)
        .collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut returns[block], true) {
            todo.extend(&body.blocks[block].predecessors);
        }
    }
    returns
}

/// The summaries of all methods (the paper's LOCKSHELD).
///
/// A lock that is `n` calls away is found in round `n`, from the locks that the callees found in the
/// round before. Rounds end where chains are too long to count, so that recursion needs no care and
/// every lock is looked at once for every call that leads to it.
#[must_use]
pub(super) fn acquired(
    context: &Context<'_>,
    locals: &TypedVec<MethodId, LocalFacts>,
) -> TypedVec<MethodId, Summary> {
    let mut known: TypedVec<MethodId, Summary> = locals
        .iter()
        .map(|facts| {
            let mut found: FxHashMap<Lock, Acquired> = FxHashMap::default();
            for (lock, offset) in &facts.own {
                let way = AcquiredAt::Here(*offset);
                keep_shorter(&mut found, *lock, Acquired { depth: 0, guesses: 0, way });
            }
            Summary::default().with(found)
        })
        .collect();
    for depth in 0..DEEPEST_CHAIN {
        if (context.cancelled)() {
            break;
        }
        let callees = CalleeSummaries::new(context, locals, &known, Some(depth));
        let round: Vec<Summary> = (0..locals.len())
            .into_par_iter()
            .map(|method| {
                let method = MethodId::new(method);
                let summary = &known[method];
                let mut found: FxHashMap<Lock, Acquired> = FxHashMap::default();
                let is_nameable = |argument: &LockExpression| !argument.is_local();
                for terms in locals[method].calls.iter().filter(|call| call.returns) {
                    let inside = callees.of_call(context, method, terms, |_| true, is_nameable);
                    for (lock, acquired) in inside {
                        if !lock.expression.is_local() && summary.acquisition_of(&lock).is_none() {
                            keep_shorter(&mut found, lock, acquired);
                        }
                    }
                }
                summary.clone().with(found)
            })
            .collect();
        known = TypedVec::from(round);
    }
    known
}

impl Summary {
    /// Whether there may be more locks than it has.
    pub(super) fn is_full(&self) -> bool {
        self.acquired.len() >= MOST_ACQUIRED
    }

    /// With locks that were not known before; the closest ones are kept.
    fn with(mut self, found: FxHashMap<Lock, Acquired>) -> Summary {
        if found.is_empty() {
            return self;
        }
        self.acquired.extend(found);
        if self.acquired.len() > MOST_ACQUIRED {
            self.acquired.sort_unstable_by_key(|(lock, acquired)| (acquired.depth, *lock));
            self.acquired.truncate(MOST_ACQUIRED);
        }
        self.acquired.sort_unstable_by_key(|(lock, _)| *lock);
        self
    }
}

fn keep_shorter(found: &mut FxHashMap<Lock, Acquired>, lock: Lock, way: Acquired) {
    let shortest = found.entry(lock).or_insert(way);
    *shortest = (*shortest).min(way);
}

/// The summaries as calls see them. Many call sites share one long list of targets; what is in there
/// is looked up once for all of them.
pub(super) struct CalleeSummaries<'a> {
    summaries: &'a TypedVec<MethodId, Summary>,
    /// Only locks this many calls away count; all of them when absent.
    depth: Option<u16>,
    /// By the address of a shared list of targets: the locks inside that may count.
    shared: FxHashMap<usize, Vec<CallAcquisition>>,
}

/// A lock inside a call, before it is put into the terms of the caller.
#[derive(Clone, Copy)]
struct CallAcquisition {
    target: Target,
    lock: Lock,
    acquired: Acquired,
}

impl<'a> CalleeSummaries<'a> {
    pub(super) fn new(
        context: &Context<'_>,
        locals: &TypedVec<MethodId, LocalFacts>,
        summaries: &'a TypedVec<MethodId, Summary>,
        depth: Option<u16>,
    ) -> CalleeSummaries<'a> {
        let mut known = CalleeSummaries { summaries, depth, shared: FxHashMap::default() };
        let mut lists: FxHashMap<usize, &[Target]> = FxHashMap::default();
        for (method, facts) in locals.iter_with_ids() {
            for terms in &facts.calls {
                let targets = context.graph.targets(method, terms.offset);
                if targets.len() > FEW_TARGETS {
                    lists.insert(targets.as_ptr().addr(), targets);
                }
            }
        }
        let lists: Vec<(usize, &[Target])> = lists.into_iter().collect();
        known.shared = lists
            .into_par_iter()
            .map(|(address, targets)| (address, known.inside(context.program, targets)))
            .collect();
        known
    }

    /// The locks inside a call of these targets that may count for a caller.
    fn inside(&self, program: &Program, targets: &[Target]) -> Vec<CallAcquisition> {
        let mut found = Vec::new();
        for target in targets {
            for (lock, acquired) in &self.summaries[target.method].acquired {
                let counts = self.depth.is_none_or(|depth| acquired.depth == depth);
                let guesses = acquired.guesses + u8::from(is_guess(program, target, targets, lock));
                if counts
                    && acquired.depth < DEEPEST_CHAIN
                    && guesses <= MOST_GUESSES
                    && !is_implausible(lock, targets)
                {
                    let acquired = Acquired { guesses, ..*acquired };
                    found.push(CallAcquisition { target: *target, lock: *lock, acquired });
                }
            }
        }
        found
    }

    /// The locks that a call acquires and releases, in the terms of the caller, each once; of the
    /// targets only those that count, of the locks only those of arguments that are worth it.
    pub(super) fn of_call(
        &self,
        context: &Context<'_>,
        caller: MethodId,
        terms: &CallTerms,
        counts: impl Fn(CallKind) -> bool,
        is_worth_it: impl Fn(&LockExpression) -> bool,
    ) -> Vec<(Lock, Acquired)> {
        let program = context.program;
        let targets = context.graph.targets(caller, terms.offset);
        let few;
        let inside = match self.shared.get(&targets.as_ptr().addr()) {
            Some(inside) => inside,
            None => {
                few = self.inside(program, targets);
                &few
            }
        };
        let mut found: Vec<(Lock, Acquired)> = inside
            .iter()
            .filter(|inside| counts(inside.target.call_kind))
            .filter(|inside| match (inside.target.call_kind, inside.lock.expression.root) {
                (CallKind::Direct, ExpressionRoot::Parameter(number)) => {
                    terms.argument(number).is_some_and(&is_worth_it)
                }
                _ => true,
            })
            .filter_map(|CallAcquisition { target, lock, acquired }| {
                let translated = translate(program, terms, target, lock)?;
                let way = AcquiredAt::Call(terms.offset, target.method, *lock);
                Some((translated, Acquired { depth: acquired.depth + 1, way, ..*acquired }))
            })
            .collect();
        // The shortest way to each lock comes first and stays.
        found.sort_unstable();
        found.dedup_by_key(|(lock, _)| *lock);
        found
    }
}

/// Whether it is a guess that this target runs and takes this lock. What a lambda captured names the
/// lambda, so that two such locks stand or fall together.
pub(super) fn is_guess(
    program: &Program,
    target: &Target,
    targets: &[Target],
    lock: &Lock,
) -> bool {
    let names_lambda = match (target.call_kind, lock.expression.root) {
        (CallKind::Lambda(lambda), ExpressionRoot::Parameter(number)) => {
            usize::from(number) < program.lambdas[lambda].captured
        }
        (CallKind::Callback { .. } | CallKind::CalledBack { .. }, _) => true,
        _ => false,
    };
    targets.len() > MANY_TARGETS && !names_lambda
}

/// Whether a lock is one of the global ones that some target among many happens to take.
#[must_use]
pub(super) fn is_implausible(lock: &Lock, targets: &[Target]) -> bool {
    targets.len() > MANY_TARGETS
        && matches!(lock.expression.root, ExpressionRoot::Static(_) | ExpressionRoot::Class(_))
}

/// A lock of a call's target in the terms of the caller; what the object must be comes along.
#[must_use]
pub(super) fn translate(
    program: &Program,
    terms: &CallTerms,
    target: &Target,
    lock: &Lock,
) -> Option<Lock> {
    // Which object it is that the library calls is a guess.
    let is_called_back = matches!(target.call_kind, CallKind::CalledBack { .. });
    if is_called_back && matches!(lock.expression.root, ExpressionRoot::Parameter(_)) {
        return None;
    }
    let translated = terms.translate(program, lock.expression, target)?;
    let declared = &program.methods[target.method];
    let is_receiver = lock.expression == LockExpression::new(ExpressionRoot::Parameter(0))
        && !declared.is_static()
        && match target.call_kind {
            CallKind::Direct => true,
            // `Vector::size` used as a function: the object is the first argument.
            CallKind::Lambda(lambda) => program.lambdas[lambda].captured == 0,
            CallKind::Callback { .. } | CallKind::CalledBack { .. } => false,
        };
    let guard = match (is_receiver, lock.guard) {
        (true, Some(guard)) => Some(lower_class(program, guard, declared.class)?),
        (true, None) => Some(declared.class),
        (false, guard) => guard.or(translated.outer),
    };
    if let (ExpressionRoot::Parameter(number), [], Some(class)) =
        (lock.expression.root, lock.expression.steps(), guard)
        && !terms.can_be(program, number, target, class)
    {
        return None;
    }
    Some(Lock { expression: translated.expression, guard })
}

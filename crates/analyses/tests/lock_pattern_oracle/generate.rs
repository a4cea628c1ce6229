//! Random programs, and how a program that shows a disagreement is made smaller.

use crate::java::{
    Block, Call, Expression, Global, InstanceField, JavaProgram, Kind, Method, Start, Statement,
    Value,
};
use crate::random::{Compound, Random, all_statements, smaller_blocks};
use crate::run::{Verdict, verdicts};

/// What programs may do that the analysis is known to judge differently. There is a small program
/// for each among the tests, which fails once the analysis gets it right.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// A lock in a field is replaced while the method holds it.
    pub(crate) replaces_held_locks: bool,
    /// A lock in a field is replaced by a method that others call.
    pub(crate) callees_replace: bool,
    /// A local variable keeps what a field held, and the field is replaced.
    pub(crate) keeps_replaced_locks: bool,
}

/// Calls in a row. The analysis follows no longer chains (`DEEPEST_CHAIN`).
const LONGEST_CHAIN: usize = 3;

/// Potential witnesses of a method that the analysis remembers (`MOST_TWICE`).
const MOST_WITNESSES: usize = 32;

/// How often a finally block is compiled: at the end of the try block, for an exception, and for a
/// return statement or two.
const COPIES_OF_FINALLY: usize = 4;

/// A program that is small enough to be run on all its paths, with what these show.
pub(crate) fn program(seed: u64, features: Features) -> (JavaProgram, Vec<Verdict>) {
    let mut random = Random::new(seed);
    loop {
        let mut program = Generator::new(&mut random, features).program();
        // The lines are part of the verdicts.
        program.write("P");
        let mut methods = 0..program.methods.len();
        if methods.all(|method| program.longest_chain(method) <= LONGEST_CHAIN)
            && let Ok(verdicts) = verdicts(&program)
            && verdicts.iter().all(|verdict| has_few_witnesses(&program, verdict))
        {
            return (program, verdicts);
        }
    }
}

/// Whether no method has more potential witnesses than the analysis remembers (`MOST_TWICE`). It
/// counts by instruction, and a finally block is compiled once for each way into it.
fn has_few_witnesses(program: &JavaProgram, verdict: &Verdict) -> bool {
    let is_finally = |statement: &&Statement| matches!(statement.kind, Kind::TryFinally(..));
    let has_copies =
        |place: usize| all_statements(&program.methods[place].body).iter().any(is_finally);
    let copies = |place| if has_copies(place) { COPIES_OF_FINALLY } else { 1 };
    verdict.twice.iter().map(|(place, _, _)| copies(*place)).sum::<usize>() <= MOST_WITNESSES
}

struct Generator<'a> {
    random: &'a mut Random,
    features: Features,
    /// The locks that this program is about; with few of them they meet more often.
    locks: Vec<Expression>,
    methods: Vec<Method>,
    locals: u8,
}

/// Where a statement is generated.
#[derive(Clone)]
struct StatementContext {
    method: usize,
    is_static: bool,
    depth: usize,
    /// The variables in scope.
    locals: Vec<u8>,
    held: Vec<Expression>,
    may_replace: bool,
    /// Inside overlapping locks nothing leaves early, so that what was locked is unlocked.
    may_leave: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, features: Features) -> Generator<'a> {
        let fields = |start| {
            [InstanceField::Fixed, InstanceField::Changing]
                .map(|field| Expression { start, field: Some(field) })
        };
        let mut all: Vec<Expression> = [Global::A, Global::B, Global::C, Global::Replaced]
            .map(Expression::global)
            .into_iter()
            .chain([Start::Class, Start::This, Start::Lock, Start::Other].map(Expression::new))
            .chain(fields(Start::This))
            .chain(fields(Start::Other))
            .collect();
        let mut locks = Vec::new();
        for _ in 0..3 + random.below(3) {
            locks.push(all.swap_remove(random.below(all.len())));
        }
        // Static methods need a lock as well.
        locks.push(Expression::global(Global::A));
        Generator { random, features, locks, methods: Vec::new(), locals: 0 }
    }

    fn program(mut self) -> JavaProgram {
        let count = 2 + self.random.below(4);
        for _ in 0..count {
            let is_static = self.random.percent(50);
            let is_synchronized = self.random.percent(15);
            self.methods.push(Method { is_static, is_synchronized, body: Block::new() });
        }
        // Callees first, because who calls a method decides what it may do.
        let mut called = vec![false; count];
        for number in 0..count {
            let is_static = self.methods[number].is_static;
            let is_synchronized = self.methods[number].is_synchronized;
            let implicit = Expression::new(if is_static { Start::Class } else { Start::This });
            let place = StatementContext {
                method: number,
                is_static,
                depth: 0,
                locals: Vec::new(),
                held: if is_synchronized { vec![implicit] } else { Vec::new() },
                may_replace: !called[number] || self.features.callees_replace,
                may_leave: true,
            };
            let body = self.block(&place);
            self.methods[number].body = body;
            for call in self.methods[number].calls() {
                called[call.callee] = true;
            }
        }
        JavaProgram { methods: self.methods }
    }

    fn block(&mut self, place: &StatementContext) -> Block {
        let most = if place.depth == 0 { 3 } else { 4 - place.depth.min(3) };
        let count = 1 + self.random.below(most);
        (0..count).map(|_| Statement::new(self.kind(place))).collect()
    }

    fn inner(&mut self, place: &StatementContext) -> Block {
        self.block(&StatementContext { depth: place.depth + 1, ..place.clone() })
    }

    fn holding(&mut self, place: &StatementContext, locks: &[Expression]) -> Block {
        let mut inner = place.clone();
        inner.held.extend(locks);
        self.inner(&inner)
    }

    fn kind(&mut self, place: &StatementContext) -> Kind {
        if place.depth >= 4 {
            return self.leaf(place);
        }
        match self.random.below(100) {
            0..32 => {
                let lock = self.lock(place);
                Kind::Synchronized(lock, self.holding(place, &[lock]))
            }
            32..38 => {
                let lock = self.random.pick(&[Global::L, Global::M]);
                let block = self.holding(place, &[Expression::global(lock)]);
                if self.random.percent(60) {
                    Kind::Locked(lock, block)
                } else {
                    Kind::TryLocked(lock, block)
                }
            }
            38..40 => {
                let mut inner = place.clone();
                inner.may_leave = false;
                let blocks = [(); 3].map(|()| self.inner(&inner));
                if self.random.percent(50) {
                    Kind::HandOver(Global::L, Global::M, blocks)
                } else {
                    Kind::HandOver(Global::M, Global::L, blocks)
                }
            }
            40..46 => Kind::If(self.inner(place), self.inner(place)),
            46..53 => Kind::While(self.inner(place)),
            53..56 => Kind::TryFinally(self.inner(place), self.inner(place)),
            56..59 => Kind::TryCatch(self.inner(place), self.inner(place)),
            59..66 => {
                let local = self.locals;
                self.locals += 1;
                let value = self.value(place);
                let mut inner = place.clone();
                inner.locals.push(local);
                Kind::Let(local, value, self.inner(&inner))
            }
            _ => self.leaf(place),
        }
    }

    fn leaf(&mut self, place: &StatementContext) -> Kind {
        loop {
            let found = match self.random.below(100) {
                0..35 => {
                    let lock = self.lock(place);
                    Some(Kind::Synchronized(lock, Block::new()))
                }
                35..65 => self.call(place).map(Kind::Call),
                65..80 => self.replaceable(place).map(Kind::Replace),
                80..90 => (!place.locals.is_empty()).then(|| {
                    let local = self.random.pick(&place.locals);
                    Kind::SetLocal(local, self.value(place))
                }),
                90..95 => place.may_leave.then_some(Kind::Return),
                _ => place.may_leave.then_some(Kind::Throw),
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Something to lock that can be named here.
    fn lock(&mut self, place: &StatementContext) -> Expression {
        if !place.locals.is_empty() && self.random.percent(40) {
            return Expression::new(Start::Local(self.random.pick(&place.locals)));
        }
        loop {
            let lock = self.random.pick(&self.locks);
            if !(place.is_static && lock.start == Start::This) {
                return lock;
            }
        }
    }

    fn value(&mut self, place: &StatementContext) -> Value {
        match self.random.below(10) {
            0..5 => Value::Obtained,
            5..6 => Value::New,
            _ => {
                let copied = self.lock(place);
                // A variable may have been set to the object of a field.
                let is_known = matches!(copied.start, Start::Local(_)) || copied.is_replaceable();
                if is_known && !self.features.keeps_replaced_locks {
                    Value::Obtained
                } else {
                    Value::Copy(copied)
                }
            }
        }
    }

    fn replaceable(&mut self, place: &StatementContext) -> Option<Expression> {
        let field = self.lock(place);
        // Of another object perhaps, but that the names do not show.
        let is_held =
            place.held.iter().any(|held| held.is_replaceable() && held.field == field.field);
        let may_replace = place.may_replace && (!is_held || self.features.replaces_held_locks);
        (field.is_replaceable() && may_replace).then_some(field)
    }

    fn call(&mut self, place: &StatementContext) -> Option<Call> {
        let later = self.methods.len() - place.method - 1;
        if later == 0 || !place.may_leave {
            return None;
        }
        let mut object = || {
            if place.is_static || self.random.percent(40) { Start::Other } else { Start::This }
        };
        let (receiver, other) = (object(), object());
        let callee = place.method + 1 + self.random.below(later);
        Some(Call { callee, receiver, lock: self.lock(place), other })
    }
}

/// Programs that are one step smaller.
pub(crate) fn smaller(program: &JavaProgram) -> Vec<JavaProgram> {
    let mut found = Vec::new();
    for number in 0..program.methods.len() {
        let method = &program.methods[number];
        let mut with = |method: Method| {
            let mut smaller = program.clone();
            smaller.methods[number] = method;
            found.push(smaller);
        };
        if method.is_synchronized {
            with(Method { is_synchronized: false, ..method.clone() });
        }
        for body in smaller_blocks(&method.body) {
            with(Method { body, ..method.clone() });
        }
    }
    let in_scope = |method: &Method| is_in_scope(&method.body, &[]);
    found.retain(|program| program.methods.iter().all(in_scope));
    found
}

/// Whether a block uses only variables that are there.
fn is_in_scope(block: &Block, locals: &[u8]) -> bool {
    let is_known = |expression: &Expression| match expression.start {
        Start::Local(local) => locals.contains(&local),
        _ => true,
    };
    let is_value_known = |value: &Value| match value {
        Value::Copy(expression) => is_known(expression),
        Value::Obtained | Value::New => true,
    };
    block.iter().all(|statement| {
        let is_used_well = match &statement.kind {
            Kind::Synchronized(lock, _) => is_known(lock),
            Kind::Let(_, value, _) => is_value_known(value),
            Kind::SetLocal(local, value) => locals.contains(local) && is_value_known(value),
            Kind::Call(call) => is_known(&call.lock),
            _ => true,
        };
        let mut inner = locals.to_vec();
        if let Kind::Let(local, _, _) = statement.kind {
            inner.push(local);
        }
        is_used_well && statement.blocks().into_iter().all(|block| is_in_scope(block, &inner))
    })
}

//! Random methods, and how a method that shows a disagreement is made smaller.

use crate::java::{
    Block, End, Fixed, Helper, Kind, Local, Lock, Method, Operand, Operator, Statement, Test,
    Value, Variable, method_name,
};
use crate::random::{Compound, Random, smaller_blocks};
use crate::walk::{TooMany, stale_values};
use crate::{Verdict, walk::Exceptions};

/// What methods may do. Each can be switched off here while the analysis is known to judge it
/// differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// `try` and `catch`.
    pub(crate) catches: bool,
    /// `wait()` on a lock that is not the innermost: what was read under the inner one is not stale
    /// by that.
    pub(crate) waits_on_outer_locks: bool,
    /// `await()` on the condition of an explicit lock.
    pub(crate) awaits_conditions: bool,
    /// A callee waits, and by that ends a block of its caller.
    pub(crate) waits_in_callees: bool,
    /// Array elements at an index that was computed.
    pub(crate) computed_indices: bool,
}

impl Default for Features {
    fn default() -> Features {
        Features {
            catches: true,
            waits_on_outer_locks: true,
            awaits_conditions: true,
            waits_in_callees: true,
            computed_indices: true,
        }
    }
}

/// A method that is small enough to be walked on all its paths, with what these show.
pub(crate) fn method(seed: u64, features: Features) -> (Method, Verdict) {
    let mut random = Random::new(seed);
    loop {
        let mut method = Generator::new(&mut random, features).method();
        if let Ok(verdict) = verdict(&mut method) {
            return (method, verdict);
        }
    }
}

/// What the paths of a method show.
pub(crate) fn verdict(method: &mut Method) -> Result<Verdict, TooMany> {
    // The lines are part of it.
    method.write(&method_name(0), "P");
    let certain = stale_values(method, Exceptions::Explicit)?;
    Ok(Verdict {
        possible: stale_values(method, Exceptions::Anywhere)?,
        demanded: certain.iter().map(|stale| stale.read).collect(),
    })
}

struct Generator<'a> {
    random: &'a mut Random,
    features: Features,
    /// The monitors and variables that this method is about; with few of them they meet more often.
    monitors: Vec<Lock>,
    locals: Vec<Local>,
}

/// Where a statement is generated.
#[derive(Clone, Default)]
struct StatementContext {
    depth: usize,
    /// Innermost last.
    held: Vec<Lock>,
    is_in_try: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, features: Features) -> Generator<'a> {
        let mut all = Lock::MONITORS.to_vec();
        let monitors =
            (0..2 + random.below(2)).map(|_| all.swap_remove(random.below(all.len()))).collect();
        let locals = Local::ALL[..2 + random.below(3)].to_vec();
        Generator { random, features, monitors, locals }
    }

    fn method(mut self) -> Method {
        let is_synchronized = self.random.percent(15);
        let held = if is_synchronized { vec![Lock::This] } else { Vec::new() };
        let body = self.block(&StatementContext { held, ..StatementContext::default() });
        let end =
            if self.random.percent(35) { End::Returns(self.local()) } else { End::ReturnsZero };
        Method { is_synchronized, ..Method::judged(body, end) }
    }

    fn local(&mut self) -> Local {
        self.random.pick(&self.locals)
    }

    fn test(&mut self) -> Test {
        Test { local: self.local(), bound: self.random.below(9) as u8 }
    }

    fn block(&mut self, place: &StatementContext) -> Block {
        let count = match place.depth {
            0 => 3 + self.random.below(4),
            1 => 1 + self.random.below(4),
            _ => 1 + self.random.below(2),
        };
        (0..count).map(|_| Statement::new(self.kind(place))).collect()
    }

    fn inner(&mut self, place: &StatementContext) -> Block {
        self.block(&StatementContext { depth: place.depth + 1, ..place.clone() })
    }

    fn holding(&mut self, place: &StatementContext, lock: Lock) -> Block {
        let mut inner = place.clone();
        if !inner.held.contains(&lock) {
            inner.held.push(lock);
        }
        self.inner(&inner)
    }

    fn kind(&mut self, place: &StatementContext) -> Kind {
        if place.depth >= 4 {
            return self.leaf(place);
        }
        match self.random.below(100) {
            0..24 => {
                let lock = self.random.pick(&self.monitors);
                Kind::Synchronized(lock, self.holding(place, lock))
            }
            24..29 => Kind::Locked(self.holding(place, Lock::Explicit)),
            29..32 => Kind::TryLocked(self.holding(place, Lock::Explicit)),
            32..38 => Kind::If(self.test(), self.inner(place), self.inner(place)),
            38..44 => Kind::While(self.test(), self.inner(place)),
            44..47 if self.features.catches => {
                let tried = self.inner(&StatementContext { is_in_try: true, ..place.clone() });
                Kind::TryCatch(tried, self.inner(place))
            }
            _ => self.leaf(place),
        }
    }

    fn leaf(&mut self, place: &StatementContext) -> Kind {
        loop {
            let found = match self.random.below(100) {
                0..50 => Some(Kind::Set(self.local(), self.value(place))),
                50..66 => Some(Kind::Use(self.local())),
                66..76 => Some(Kind::Write(self.variable(), self.local())),
                76..83 => {
                    let (helper, arguments) = self.call(false);
                    Some(Kind::Call(helper, arguments))
                }
                83..89 => self.awaited(place).map(Kind::Wait),
                89..93 => Some(Kind::ReturnIf(self.test(), self.local())),
                _ => {
                    let is_wanted = place.is_in_try || self.random.percent(30);
                    is_wanted.then(|| Kind::ThrowIf(self.test()))
                }
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    fn variable(&mut self) -> Variable {
        match self.random.below(8) {
            0..2 => Variable::X,
            2 => Variable::Y,
            3 => Variable::SharedP,
            4 => Variable::SharedQ,
            5 => Variable::Total,
            6 if self.features.computed_indices => Variable::Cell(self.local()),
            _ => Variable::FirstCell,
        }
    }

    fn value(&mut self, place: &StatementContext) -> Value {
        let reads = if place.held.is_empty() { 8 } else { 45 };
        match self.random.below(reads + 55) {
            0..15 => Value::Copy(self.local()),
            15..33 => {
                let operator = self.random.pick(&[Operator::Plus, Operator::Times, Operator::And]);
                let right = if self.random.percent(50) {
                    Operand::Local(self.local())
                } else {
                    Operand::Constant(self.random.below(9) as u8)
                };
                Value::Arithmetic(self.local(), operator, right)
            }
            33..47 => {
                let (helper, arguments) = self.call(true);
                Value::Call(helper, arguments)
            }
            47..55 => {
                let constant = Fixed::Constant(self.random.below(9) as u8);
                let fields =
                    [Fixed::FinalField, Fixed::StaticFinalField, Fixed::WrittenByConstructor];
                let field = self.random.pick(&fields);
                Value::Fixed(if self.random.percent(50) { constant } else { field })
            }
            _ => Value::Read(self.variable()),
        }
    }

    /// A helper with or without a result, and arguments for it.
    fn call(&mut self, has_result: bool) -> (Helper, Vec<Local>) {
        loop {
            let helper = self.random.pick(&Helper::ALL);
            let (parameters, returns) = helper.signature();
            let is_there = helper != Helper::Pause || self.features.waits_in_callees;
            if returns == has_result && is_there {
                return (helper, (0..parameters).map(|_| self.local()).collect());
            }
        }
    }

    /// A lock to wait for; one must hold it.
    fn awaited(&mut self, place: &StatementContext) -> Option<Lock> {
        let innermost = *place.held.last()?;
        let is_outer = self.features.waits_on_outer_locks && self.random.percent(30);
        let lock = if is_outer { self.random.pick(&place.held) } else { innermost };
        (lock != Lock::Explicit || self.features.awaits_conditions).then_some(lock)
    }
}

/// Methods that are one step smaller.
pub(crate) fn smaller(method: &Method) -> Vec<Method> {
    let mut found: Vec<Method> = smaller_blocks(&method.body)
        .into_iter()
        .map(|body| Method { body, ..method.clone() })
        .collect();
    if method.is_synchronized {
        found.push(Method { is_synchronized: false, ..method.clone() });
    }
    if method.end != End::ReturnsZero {
        found.push(Method { end: End::ReturnsZero, ..method.clone() });
    }
    found.retain(|method| {
        let held: Vec<Lock> = method.own_lock().into_iter().collect();
        waits_for_held_locks(&method.body, &held)
    });
    found
}

fn waits_for_held_locks(block: &Block, held: &[Lock]) -> bool {
    block.iter().all(|statement| {
        let mut inner = held.to_vec();
        match &statement.kind {
            Kind::Wait(lock) => return held.contains(lock),
            Kind::Synchronized(lock, _) => inner.push(*lock),
            Kind::Locked(_) | Kind::TryLocked(_) => inner.push(Lock::Explicit),
            _ => {}
        }
        statement.blocks().into_iter().all(|block| waits_for_held_locks(block, &inner))
    })
}

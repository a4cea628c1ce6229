//! What happens on one path, and the pattern searched in it by its definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::java::{Call, Expression, InstanceField, JavaProgram, Kind, Start, Value};
use crate::paths::{Enumeration, Exceptions, Operation, TooMany};
use crate::random::all_statements;

/// An object.
type Object = u32;

/// A name that a method has for a lock, and which of the objects that this name has stood for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    expression: Expression,
    epoch: u32,
    /// What the object was called before control flow met. The analysis need not forget it there:
    /// the compiler writes a finally block down once for each way into it, and nothing meets.
    before: Expression,
}

impl Name {
    fn new(expression: Expression, epoch: u32) -> Name {
        Name { expression, epoch, before: expression }
    }

    fn expressions(self) -> [Expression; 2] {
        [self.expression, self.before]
    }
}

/// A lock is held from one time to another.
#[derive(Debug)]
struct Holding {
    object: Object,
    acquired: usize,
    released: usize,
    /// Held already, by this method or a caller: nothing happens then.
    is_reentrant: bool,
    /// The methods that run, the outermost first.
    frames: Vec<HoldingInFrame>,
}

/// A holding as one of the methods that run sees it.
#[derive(Clone, Copy, Debug)]
struct HoldingInFrame {
    /// Tells two runs of one method apart.
    run: u32,
    method: usize,
    /// Where in the method: the statement that acquires, or the call that leads there.
    line: u32,
    /// What the method calls the lock; `None` if it cannot, because it is a local variable of a
    /// method that it calls.
    name: Option<Name>,
}

/// An instance of the pattern, as the method that takes the context lock sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    pub(crate) context: Expression,
    pub(crate) context_line: u32,
    pub(crate) witness: Expression,
    /// The method that both acquisitions are in, or are called from.
    pub(crate) place: usize,
    pub(crate) first_line: u32,
    pub(crate) second_line: u32,
}

/// Methods that may report a witness, each with its name for it; one of them must.
pub(crate) type Demand = BTreeSet<(usize, Expression)>;

/// What the paths through a method show.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// All instances of the pattern, exceptions being thrown anywhere.
    pub(crate) possible: BTreeSet<Instance>,
    /// What must be reported, exceptions being thrown only where the program says so.
    pub(crate) demanded: BTreeSet<Demand>,
    /// What is acquired twice, with a context or without: the method, the line of the second
    /// acquisition, and the witness.
    pub(crate) twice: BTreeSet<(usize, u32, Expression)>,
}

/// Runs each method on all its paths, with no lock held and with parameters that are unlike
/// everything else.
pub(crate) fn verdicts(program: &JavaProgram) -> Result<Vec<Verdict>, TooMany> {
    let mut anywhere = Enumeration::new(program, Exceptions::Anywhere);
    let mut explicit = Enumeration::new(program, Exceptions::Explicit);
    // Callees first: that there are too many paths shows sooner.
    let methods = (0..program.methods.len()).rev();
    let mut verdicts = methods
        .map(|method| {
            let (possible, certain) = (anywhere.of_method(method)?, explicit.of_method(method)?);
            Ok(verdict(program, method, &possible, &certain))
        })
        .collect::<Result<Vec<Verdict>, TooMany>>()?;
    verdicts.reverse();
    Ok(verdicts)
}

fn verdict(
    program: &JavaProgram,
    method: usize,
    possible: &[Vec<Operation>],
    certain: &[Vec<Operation>],
) -> Verdict {
    let mut verdict = Verdict::default();
    for path in possible {
        let run = Run::of(program, method, path);
        run.each_instance(|context, first, second| {
            let (Some(seen), Some(name)) = (context.frames.first(), context.frames[0].name) else {
                return;
            };
            // The method at hand takes the context lock itself.
            if context.frames.len() > 1 {
                return;
            }
            if run.confined.get(&first.object) == Some(&true) {
                return;
            }
            for first in run.standing_for(first) {
                for second in run.standing_for(second) {
                    let meeting = meeting_frame(first, second);
                    let names = [first, second].map(|witness| witness.frames[0].name);
                    let witnesses = names.into_iter().flatten().flat_map(Name::expressions);
                    for (witness, context) in
                        witnesses.flat_map(|witness| name.expressions().map(|it| (witness, it)))
                    {
                        verdict.possible.insert(Instance {
                            context,
                            context_line: seen.line,
                            witness,
                            place: first.frames[meeting].method,
                            first_line: first.frames[meeting].line,
                            second_line: second.frames[meeting].line,
                        });
                    }
                }
            }
        });
    }
    for path in certain {
        let run = Run::of(program, method, path);
        run.each_pair(|first, second| {
            let meeting = second.frames[meeting_frame(first, second)];
            let witness = second.frames[0].name.map(|name| name.expression);
            verdict.twice.extend(witness.map(|it| (meeting.method, meeting.line, it)));
        });
        run.each_instance(|context, first, second| {
            if !run.confined.contains_key(&first.object) {
                verdict.demanded.extend(demand(context, first, second));
            }
        });
    }
    verdict
}

/// The innermost run of a method in which both happen.
fn meeting_frame(first: &Holding, second: &Holding) -> usize {
    let common = first.frames.iter().zip(&second.frames);
    common.take_while(|(one, other)| one.run == other.run).count() - 1
}

/// Who must report an instance, if anybody must.
///
/// A witness finds the nearest context on the way from the method where the two acquisitions meet
/// up to the one that holds the lock; the nearest is enough, so any of these methods may be the one
/// that reports. Nobody need report
/// - a lock that has two names in the method where the acquisitions meet: locks are compared by
///   name, and a local variable has another name after every merge of control flow that may have
///   set it, and every object's field has another name once the field of some object was set;
/// - a lock that one of these methods cannot name: a local variable of a callee.
fn demand(context: &Holding, first: &Holding, second: &Holding) -> Option<Demand> {
    let meeting = meeting_frame(first, second);
    if first.frames[meeting].name != second.frames[meeting].name {
        return None;
    }
    let outermost = context.frames.len() - 1;
    second.frames[outermost..=meeting]
        .iter()
        .map(|seen| Some((seen.method, seen.name?.expression)))
        .collect()
}

/// The run of one path.
struct Run<'a> {
    program: &'a JavaProgram,
    holdings: Vec<Holding>,
    /// Objects that only the current thread can know, and whether that is plain to see: not if the
    /// variable is set again, because then its object has another name.
    confined: BTreeMap<Object, bool>,
    objects: u32,
    runs: u32,
    epochs: u32,
    replaced: BTreeMap<Expression, u32>,
    globals: BTreeMap<Start, Object>,
    fields: BTreeMap<(Object, InstanceField), Object>,
    frames: Vec<Frame>,
}

/// A method that runs.
struct Frame {
    run: u32,
    method: usize,
    parameters: BTreeMap<Start, Object>,
    /// What the caller calls the parameters.
    given: BTreeMap<Start, Name>,
    /// The line of the call that is being made.
    calling: u32,
    locals: BTreeMap<u8, (Object, Name)>,
}

impl<'a> Run<'a> {
    fn of(program: &'a JavaProgram, method: usize, path: &[Operation]) -> Run<'a> {
        let mut run = Run {
            program,
            holdings: Vec::new(),
            confined: BTreeMap::new(),
            objects: 0,
            runs: 0,
            epochs: 0,
            replaced: BTreeMap::new(),
            globals: BTreeMap::new(),
            fields: BTreeMap::new(),
            frames: Vec::new(),
        };
        let parameters =
            [Start::This, Start::Lock, Start::Other].map(|start| (start, run.new_object()));
        run.enter(method, BTreeMap::from(parameters), BTreeMap::new());
        for (time, operation) in path.iter().enumerate() {
            match operation {
                Operation::Acquire(lock, line) => run.acquire(*lock, *line, time),
                Operation::Release(line) => run.release(*line, time),
                Operation::Set(local, value) => run.set(*local, *value),
                Operation::Merge(local) => {
                    let name = run.new_name(Expression::new(Start::Local(*local)));
                    if let Some(known) = run.frame_mut().locals.get_mut(local) {
                        known.1 = Name { before: known.1.before, ..name };
                    }
                }
                Operation::Replace(field) => run.replace(*field),
                Operation::Enter(call, line) => run.call(*call, *line),
                Operation::Leave => {
                    run.frames.pop();
                }
            }
        }
        run
    }

    /// Two times that a lock is acquired without being held, and released, one after the other.
    fn each_pair(&self, mut found: impl FnMut(&Holding, &Holding)) {
        for first in self.holdings.iter().filter(|first| !first.is_reentrant) {
            for second in self.holdings.iter().filter(|second| !second.is_reentrant) {
                if second.object == first.object && first.released < second.acquired {
                    found(first, second);
                }
            }
        }
    }

    /// The pattern: that happens while another lock is held.
    fn each_instance(&self, mut found: impl FnMut(&Holding, &Holding, &Holding)) {
        self.each_pair(|first, second| {
            for context in self.holdings.iter().filter(|context| !context.is_reentrant) {
                if context.acquired < first.acquired && second.released < context.released {
                    found(context, first, second);
                }
            }
        });
    }

    /// A holding, and those inside it that are re-entrant but for their name. Where a method locks
    /// `A` and inside it a parameter that is `A` in this run, the analysis takes the parameter for
    /// another lock, and may say that the witness is acquired there. The witness is right.
    fn standing_for<'b>(&'b self, real: &'b Holding) -> Vec<&'b Holding> {
        let is_inside = |holding: &&Holding| {
            let meeting = meeting_frame(real, holding);
            holding.object == real.object
                && real.acquired < holding.acquired
                && holding.released < real.released
                && holding.frames[meeting].name != real.frames[meeting].name
        };
        std::iter::once(real).chain(self.holdings.iter().filter(is_inside)).collect()
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("a method runs")
    }

    fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a method runs")
    }

    fn new_object(&mut self) -> Object {
        self.objects += 1;
        self.objects
    }

    fn new_name(&mut self, expression: Expression) -> Name {
        self.epochs += 1;
        Name::new(expression, self.epochs)
    }

    fn enter(
        &mut self,
        method: usize,
        parameters: BTreeMap<Start, Object>,
        given: BTreeMap<Start, Name>,
    ) {
        self.runs += 1;
        let run = self.runs;
        let locals = BTreeMap::new();
        self.frames.push(Frame { run, method, parameters, given, calling: 0, locals });
    }

    /// The object that an expression stands for now, and its name.
    fn evaluate(&mut self, expression: Expression) -> (Object, Name) {
        let start = match expression.start {
            Start::Global(_) | Start::Class => match self.globals.get(&expression.start) {
                Some(known) => *known,
                None => {
                    let object = self.new_object();
                    self.globals.insert(expression.start, object);
                    object
                }
            },
            Start::This | Start::Lock | Start::Other => self.frame().parameters[&expression.start],
            Start::Local(local) => return self.frame().locals[&local],
        };
        let object = match expression.field {
            None => start,
            Some(field) => match self.fields.get(&(start, field)) {
                Some(known) => *known,
                None => {
                    let object = self.new_object();
                    self.fields.insert((start, field), object);
                    object
                }
            },
        };
        (object, Name::new(expression, self.epoch(expression)))
    }

    /// What a name stands for changes when the field is replaced, in whichever object.
    fn epoch(&self, expression: Expression) -> u32 {
        let any = anybodys(expression);
        self.replaced.get(&any).copied().unwrap_or(0)
    }

    fn acquire(&mut self, lock: Expression, line: u32, time: usize) {
        let (object, name) = self.evaluate(lock);
        let is_held =
            |holding: &Holding| holding.object == object && holding.released == usize::MAX;
        let is_reentrant = self.holdings.iter().any(is_held);
        let mut frames = Vec::new();
        let mut name = Some(name);
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let is_innermost = depth + 1 == self.frames.len();
            let line = if is_innermost { line } else { frame.calling };
            frames.push(HoldingInFrame { run: frame.run, method: frame.method, line, name });
            name = name.and_then(|name| callers_name(name, &frame.given));
        }
        frames.reverse();
        self.holdings.push(Holding {
            object,
            acquired: time,
            released: usize::MAX,
            is_reentrant,
            frames,
        });
    }

    fn release(&mut self, line: u32, time: usize) {
        let running = self.frame().run;
        let holding = self.holdings.iter_mut().rev().find(|holding| {
            let taken = holding.frames.last().expect("a method took it");
            holding.released == usize::MAX && (taken.run, taken.line) == (running, line)
        });
        holding.expect("what is released was acquired").released = time;
    }

    fn set(&mut self, local: u8, value: Value) {
        let own_name = Expression::new(Start::Local(local));
        let set = match value {
            Value::Copy(expression) => self.evaluate(expression),
            Value::Obtained => (self.new_object(), self.new_name(own_name)),
            Value::New => {
                let object = self.new_object();
                if !self.escapes(local) {
                    self.confined.insert(object, !self.is_set_again(local));
                }
                (object, self.new_name(own_name))
            }
        };
        self.frame_mut().locals.insert(local, set);
    }

    /// Whether the method at hand passes a local variable to another method.
    fn escapes(&self, local: u8) -> bool {
        let passed = Expression::new(Start::Local(local));
        self.program.methods[self.frame().method].calls().any(|call| call.lock == passed)
    }

    fn is_set_again(&self, local: u8) -> bool {
        all_statements(&self.program.methods[self.frame().method].body)
            .iter()
            .any(|statement| matches!(statement.kind, Kind::SetLocal(set, _) if set == local))
    }

    fn replace(&mut self, target: Expression) {
        let object = self.new_object();
        self.epochs += 1;
        self.replaced.insert(anybodys(target), self.epochs);
        match target.field {
            None => {
                self.globals.insert(target.start, object);
            }
            Some(field) => {
                let (owner, _) = self.evaluate(Expression::new(target.start));
                self.fields.insert((owner, field), object);
            }
        }
    }

    fn call(&mut self, call: Call, line: u32) {
        let mut arguments =
            vec![(Start::Lock, call.lock), (Start::Other, Expression::new(call.other))];
        if !self.program.methods[call.callee].is_static {
            arguments.push((Start::This, Expression::new(call.receiver)));
        }
        let mut parameters = BTreeMap::new();
        let mut given = BTreeMap::new();
        for (parameter, argument) in arguments {
            let (object, name) = self.evaluate(argument);
            parameters.insert(parameter, object);
            given.insert(parameter, name);
        }
        self.frame_mut().calling = line;
        self.enter(call.callee, parameters, given);
    }
}

/// The field of no object in particular.
fn anybodys(field: Expression) -> Expression {
    match field.field {
        Some(_) => Expression { start: Start::This, ..field },
        None => field,
    }
}

/// What a caller calls a lock that a method it calls has this name for.
fn callers_name(name: Name, given: &BTreeMap<Start, Name>) -> Option<Name> {
    match (name.expression.start, name.expression.field) {
        (Start::Local(_), _) => None,
        (Start::Global(_) | Start::Class, _) => Some(name),
        (parameter, None) => given.get(&parameter).copied(),
        (parameter, field) => {
            let owner = given.get(&parameter)?.expression;
            Some(Name::new(Expression { start: owner.start, field }, name.epoch))
        }
    }
}

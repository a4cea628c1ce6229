//! The little language of the generated methods, and how it is written down as Java.
//!
//! Every statement stands on a line of its own and reads shared state at most once, so that a line
//! says which read is meant. Lines are counted from the header of the method, which is line 1:
//! what is known of a method does not depend on the class it is written into.

use std::fmt::Write;

use crate::random::Compound;

/// A local variable of type `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Local {
    A,
    B,
    C,
    D,
}

impl Local {
    pub(crate) const ALL: [Local; 4] = [Local::A, Local::B, Local::C, Local::D];

    fn name(self) -> &'static str {
        ["a", "b", "c", "d"][self as usize]
    }
}

/// A lock. No two of them are the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lock {
    This,
    One,
    Two,
    /// The object that holds some of the fields.
    Shared,
    Class,
    /// A `ReentrantLock`; the others are monitors.
    Explicit,
}

impl Lock {
    pub(crate) const MONITORS: [Lock; 5] =
        [Lock::This, Lock::One, Lock::Two, Lock::Shared, Lock::Class];

    fn text(self, class: &str) -> String {
        match self {
            Lock::This => "this".to_string(),
            Lock::One => "lock1".to_string(),
            Lock::Two => "lock2".to_string(),
            Lock::Shared => "shared".to_string(),
            Lock::Class => format!("{class}.class"),
            Lock::Explicit => "explicit".to_string(),
        }
    }
}

/// State that other threads change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    X,
    Y,
    /// A field of another object.
    SharedP,
    SharedQ,
    /// A static field.
    Total,
    /// An element of an array, at a fixed index.
    FirstCell,
    /// The element at the index that a local variable holds.
    Cell(Local),
}

impl Variable {
    fn text(self) -> String {
        match self {
            Variable::X => "x".to_string(),
            Variable::Y => "y".to_string(),
            Variable::SharedP => "shared.p".to_string(),
            Variable::SharedQ => "shared.q".to_string(),
            Variable::Total => "total".to_string(),
            Variable::FirstCell => "cells[0]".to_string(),
            Variable::Cell(index) => format!("cells[{}]", index.name()),
        }
    }
}

/// What nobody changes once it can be seen: never shared, whatever lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fixed {
    Constant(u8),
    FinalField,
    StaticFinalField,
    /// A field that only the constructor writes, without being final.
    WrittenByConstructor,
}

impl Fixed {
    fn text(self) -> String {
        match self {
            Fixed::Constant(number) => number.to_string(),
            Fixed::FinalField => "limit".to_string(),
            Fixed::StaticFinalField => "BOUND".to_string(),
            Fixed::WrittenByConstructor => "initial".to_string(),
        }
    }
}

/// The second operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operand {
    Local(Local),
    Constant(u8),
}

/// An arithmetic operation. None of these throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operator {
    Plus,
    Times,
    And,
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Operator::Plus => "+",
            Operator::Times => "*",
            Operator::And => "&",
        }
    }
}

/// What a local variable is set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Read(Variable),
    Fixed(Fixed),
    /// Another local variable: a copy and no use.
    Copy(Local),
    Arithmetic(Local, Operator, Operand),
    /// The result of a [`Helper`] that has one.
    Call(Helper, Vec<Local>),
}

/// `local > bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Test {
    pub(crate) local: Local,
    pub(crate) bound: u8,
}

impl Test {
    fn text(self) -> String {
        format!("{} > {}", self.local.name(), self.bound)
    }
}

pub(crate) type Block = Vec<Statement>;

/// A statement and the lines it was written on, once it has been.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    /// Where a lock that the statement takes is given back when control reaches the end: the
    /// closing brace of a `synchronized` block, or the line of the `unlock()`.
    pub(crate) release_line: u32,
    pub(crate) kind: Kind,
}

/// What a statement does. A test may hold or not, whatever is tested.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Set(Local, Value),
    Write(Variable, Local),
    /// Handed to a method that does nothing with it.
    Use(Local),
    /// A call of a [`Helper`] whose result, if it has one, is not wanted.
    Call(Helper, Vec<Local>),
    If(Test, Block, Block),
    While(Test, Block),
    /// A `synchronized` block.
    Synchronized(Lock, Block),
    /// `explicit.lock()`, the block, and `unlock()` in a finally.
    Locked(Block),
    /// The same with `tryLock()`; nothing happens when it fails.
    TryLocked(Block),
    /// `wait()` on a monitor, `await()` on the condition of the explicit lock.
    Wait(Lock),
    /// Catches `RuntimeException`.
    TryCatch(Block, Block),
    ReturnIf(Test, Local),
    ThrowIf(Test),
    /// The end of a block after which nothing comes; only helpers have it.
    Return(Local),
}

impl Statement {
    pub(crate) fn new(kind: Kind) -> Statement {
        Statement { line: 0, release_line: 0, kind }
    }
}

impl Compound for Statement {
    fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            Kind::While(_, block)
            | Kind::Synchronized(_, block)
            | Kind::Locked(block)
            | Kind::TryLocked(block) => vec![block],
            Kind::If(_, one, other) | Kind::TryCatch(one, other) => vec![one, other],
            Kind::Set(..)
            | Kind::Write(..)
            | Kind::Use(_)
            | Kind::Call(..)
            | Kind::Wait(_)
            | Kind::ReturnIf(..)
            | Kind::ThrowIf(_)
            | Kind::Return(_) => Vec::new(),
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            Kind::While(_, block)
            | Kind::Synchronized(_, block)
            | Kind::Locked(block)
            | Kind::TryLocked(block) => vec![block],
            Kind::If(_, one, other) | Kind::TryCatch(one, other) => vec![one, other],
            Kind::Set(..)
            | Kind::Write(..)
            | Kind::Use(_)
            | Kind::Call(..)
            | Kind::Wait(_)
            | Kind::ReturnIf(..)
            | Kind::ThrowIf(_)
            | Kind::Return(_) => Vec::new(),
        }
    }
}

/// How a method ends when control reaches the end of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It returns a variable.
    Returns(Local),
    /// It returns a constant.
    ReturnsZero,
    /// Control does not get there.
    Never,
    /// It has no result.
    Void,
}

/// A method with parameters of type `int`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Method {
    pub(crate) is_static: bool,
    pub(crate) is_synchronized: bool,
    pub(crate) parameters: Vec<Local>,
    /// Other variables, which start as zero.
    pub(crate) variables: Vec<Local>,
    pub(crate) body: Block,
    pub(crate) end: End,
    /// The line of the last `return`.
    pub(crate) end_line: u32,
}

impl Method {
    /// A method as the oracle judges it. That the variables are parameters keeps the lines of the
    /// body together; nobody calls it.
    pub(crate) fn judged(body: Block, end: End) -> Method {
        Method {
            is_static: false,
            is_synchronized: false,
            parameters: Local::ALL.to_vec(),
            variables: Vec::new(),
            body,
            end,
            end_line: 0,
        }
    }

    /// The lock that a synchronized method holds.
    pub(crate) fn own_lock(&self) -> Option<Lock> {
        let lock = if self.is_static { Lock::Class } else { Lock::This };
        self.is_synchronized.then_some(lock)
    }

    /// Writes the method down, and remembers in each statement on which line it stands.
    pub(crate) fn write(&mut self, name: &str, class: &str) -> String {
        let mut writer = Writer { text: String::new(), line: 1, depth: 1, class };
        let is_static = if self.is_static { "static " } else { "" };
        let is_synchronized = if self.is_synchronized { "synchronized " } else { "" };
        let result = if self.end == End::Void { "void" } else { "int" };
        let parameters: Vec<String> =
            self.parameters.iter().map(|local| format!("int {}", local.name())).collect();
        writer.put(&format!(
            "public {is_static}{is_synchronized}{result} {name}({}) throws InterruptedException {{",
            parameters.join(", ")
        ));
        writer.depth += 1;
        for local in &self.variables {
            writer.put(&format!("int {} = 0;", local.name()));
        }
        writer.depth -= 1;
        writer.block(&mut self.body);
        writer.depth += 1;
        self.end_line = writer.line;
        match self.end {
            End::Returns(local) => writer.put(&format!("return {};", local.name())),
            End::ReturnsZero => writer.put("return 0;"),
            End::Never | End::Void => {}
        }
        writer.depth -= 1;
        writer.put("}");
        writer.text
    }
}

/// The methods that others call. What they do is written in the same language, so that nobody needs
/// to know them one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    PlainGet,
    SynchronizedGet,
    /// Has a block on [`Lock::One`].
    LockedGet,
    /// Takes the explicit lock.
    ExplicitGet,
    /// A static synchronized method.
    StaticGet,
    /// Gets the value from another synchronized method.
    ChainedGet,
    /// What it returns is read under a lock, or is its argument.
    MaybeGet,
    PlainSet,
    SynchronizedSet,
    LockedSet,
    Identity,
    Add,
    /// Waits for the monitor of `this`.
    Pause,
}

impl Helper {
    pub(crate) const ALL: [Helper; 13] = [
        Helper::PlainGet,
        Helper::SynchronizedGet,
        Helper::LockedGet,
        Helper::ExplicitGet,
        Helper::StaticGet,
        Helper::ChainedGet,
        Helper::MaybeGet,
        Helper::PlainSet,
        Helper::SynchronizedSet,
        Helper::LockedSet,
        Helper::Identity,
        Helper::Add,
        Helper::Pause,
    ];

    fn name(self) -> &'static str {
        match self {
            Helper::PlainGet => "plainGet",
            Helper::SynchronizedGet => "synchronizedGet",
            Helper::LockedGet => "lockedGet",
            Helper::ExplicitGet => "explicitGet",
            Helper::StaticGet => "staticGet",
            Helper::ChainedGet => "chainedGet",
            Helper::MaybeGet => "maybeGet",
            Helper::PlainSet => "plainSet",
            Helper::SynchronizedSet => "synchronizedSet",
            Helper::LockedSet => "lockedSet",
            Helper::Identity => "identity",
            Helper::Add => "add",
            Helper::Pause => "pause",
        }
    }

    /// The number of parameters, and whether there is a result.
    pub(crate) fn signature(self) -> (usize, bool) {
        let method = self.method();
        (method.parameters.len(), method.end != End::Void)
    }

    pub(crate) fn method(self) -> Method {
        use Local::{A, B};
        let read = |variable| Kind::Set(A, Value::Read(variable));
        let block = |kinds: Vec<Kind>| kinds.into_iter().map(Statement::new).collect::<Block>();
        let method = |parameters: &[Local], kinds, end| {
            let is_variable = parameters.is_empty() && end != End::Void;
            Method {
                parameters: parameters.to_vec(),
                variables: if is_variable { vec![A] } else { Vec::new() },
                ..Method::judged(block(kinds), end)
            }
        };
        let is_synchronized = true;
        let is_static = true;
        match self {
            Helper::PlainGet => method(&[], vec![read(Variable::X)], End::Returns(A)),
            Helper::SynchronizedGet => {
                Method { is_synchronized, ..method(&[], vec![read(Variable::X)], End::Returns(A)) }
            }
            Helper::LockedGet => {
                let inside = block(vec![read(Variable::Y), Kind::Return(A)]);
                method(&[], vec![Kind::Synchronized(Lock::One, inside)], End::Never)
            }
            Helper::ExplicitGet => {
                let inside = block(vec![read(Variable::SharedP), Kind::Return(A)]);
                method(&[], vec![Kind::Locked(inside)], End::Never)
            }
            Helper::StaticGet => Method {
                is_static,
                is_synchronized,
                ..method(&[], vec![read(Variable::Total)], End::Returns(A))
            },
            Helper::ChainedGet => {
                let get = Kind::Set(A, Value::Call(Helper::SynchronizedGet, Vec::new()));
                let next = Value::Arithmetic(A, Operator::Plus, Operand::Constant(1));
                method(&[], vec![get, Kind::Set(A, next)], End::Returns(A))
            }
            Helper::MaybeGet => {
                let inside = block(vec![read(Variable::X), Kind::Return(A)]);
                let locked = block(vec![Kind::Synchronized(Lock::One, inside)]);
                let kind = Kind::If(Test { local: A, bound: 0 }, locked, Block::new());
                method(&[A], vec![kind], End::Returns(A))
            }
            Helper::PlainSet => method(&[A], vec![Kind::Write(Variable::X, A)], End::Void),
            Helper::SynchronizedSet => Method {
                is_synchronized,
                ..method(&[A], vec![Kind::Write(Variable::X, A)], End::Void)
            },
            Helper::LockedSet => {
                let inside = block(vec![Kind::Write(Variable::Y, A)]);
                method(&[A], vec![Kind::Synchronized(Lock::One, inside)], End::Void)
            }
            Helper::Identity => Method { is_static, ..method(&[A], vec![], End::Returns(A)) },
            Helper::Add => {
                let sum = Value::Arithmetic(A, Operator::Plus, Operand::Local(B));
                Method { is_static, ..method(&[A, B], vec![Kind::Set(A, sum)], End::Returns(A)) }
            }
            Helper::Pause => {
                Method { is_synchronized, ..method(&[], vec![Kind::Wait(Lock::This)], End::Void) }
            }
        }
    }
}

/// The name of the n-th judged method of a class.
pub(crate) fn method_name(number: usize) -> String {
    format!("m{number}")
}

/// Classes that all others use.
pub(crate) fn shared_classes() -> Vec<(String, String)> {
    vec![
        ("Sink".to_string(), "final class Sink { static void use(int value) { } }\n".to_string()),
        ("Shared".to_string(), "final class Shared { int p; int q; }\n".to_string()),
    ]
}

/// Writes down a class with these methods, the helpers, and a method that writes every variable
/// under every lock: the state is shared, and guarded by whatever lock one likes. Returns for each
/// method how many lines stand before it.
pub(crate) fn write_class(methods: &mut [Method], class: &str) -> (String, Vec<u32>) {
    let mut writer = Writer { text: String::new(), line: 1, depth: 0, class };
    writer.put("import java.util.concurrent.locks.Condition;");
    writer.put("import java.util.concurrent.locks.ReentrantLock;");
    writer.put(&format!("public final class {class} {{"));
    writer.depth += 1;
    writer.put("static final int BOUND = Integer.getInteger(\"bound\", 3);");
    writer.put("static int total;");
    writer.put("final Object lock1 = new Object();");
    writer.put("final Object lock2 = new Object();");
    writer.put("final ReentrantLock explicit = new ReentrantLock();");
    writer.put("final Condition condition = explicit.newCondition();");
    writer.put("final Shared shared = new Shared();");
    writer.put("final int[] cells = new int[4];");
    writer.put("final int limit;");
    writer.put("int initial;");
    writer.put("int x;");
    writer.put("int y;");
    writer.put(&format!("public {class}(int value) {{"));
    writer.put("    limit = value;");
    writer.put("    initial = value;");
    writer.put("}");
    let all = [
        Variable::X,
        Variable::Y,
        Variable::SharedP,
        Variable::SharedQ,
        Variable::Total,
        Variable::FirstCell,
    ];
    let writes = || -> Block {
        all.iter().map(|variable| Statement::new(Kind::Write(*variable, Local::A))).collect()
    };
    let mut body: Block = Lock::MONITORS
        .iter()
        .map(|lock| Statement::new(Kind::Synchronized(*lock, writes())))
        .collect();
    body.push(Statement::new(Kind::Locked(writes())));
    let write_all = Method { parameters: vec![Local::A], ..Method::judged(body, End::Void) };
    let mut named = vec![("writeAll".to_string(), write_all)];
    for helper in Helper::ALL {
        named.push((helper.name().to_string(), helper.method()));
    }
    for (name, method) in &mut named {
        let text = method.write(name, class);
        writer.put_lines(&text);
    }
    let mut lines_before = Vec::new();
    for (number, method) in methods.iter_mut().enumerate() {
        let text = method.write(&method_name(number), class);
        lines_before.push(writer.line - 1);
        writer.put_lines(&text);
    }
    writer.depth = 0;
    writer.put("}");
    (writer.text, lines_before)
}

struct Writer<'a> {
    text: String,
    line: u32,
    depth: usize,
    class: &'a str,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        writeln!(self.text, "{:indent$}{text}", "", indent = self.depth * 4)
            .expect("a string takes everything");
        self.line += 1;
    }

    /// Lines that are indented already.
    fn put_lines(&mut self, text: &str) {
        self.text.push_str(text);
        self.line += text.lines().count() as u32;
    }

    fn block(&mut self, block: &mut Block) {
        self.depth += 1;
        for statement in block {
            self.statement(statement);
        }
        self.depth -= 1;
    }

    fn call(helper: Helper, arguments: &[Local]) -> String {
        let arguments: Vec<&str> = arguments.iter().map(|local| local.name()).collect();
        format!("{}({})", helper.name(), arguments.join(", "))
    }

    fn value(value: &Value) -> String {
        match value {
            Value::Read(variable) => variable.text(),
            Value::Fixed(fixed) => fixed.text(),
            Value::Copy(local) => local.name().to_string(),
            Value::Arithmetic(left, operator, right) => {
                let right = match right {
                    Operand::Local(local) => local.name().to_string(),
                    Operand::Constant(number) => number.to_string(),
                };
                format!("{} {} {right}", left.name(), operator.text())
            }
            Value::Call(helper, arguments) => Self::call(*helper, arguments),
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        statement.line = self.line;
        match &mut statement.kind {
            Kind::Set(local, value) => {
                self.put(&format!("{} = {};", local.name(), Self::value(value)));
            }
            Kind::Write(variable, local) => {
                self.put(&format!("{} = {};", variable.text(), local.name()));
            }
            Kind::Use(local) => self.put(&format!("Sink.use({});", local.name())),
            Kind::Call(helper, arguments) => {
                self.put(&format!("{};", Self::call(*helper, arguments)));
            }
            Kind::If(test, then, otherwise) => {
                self.put(&format!("if ({}) {{", test.text()));
                self.block(then);
                self.put("} else {");
                self.block(otherwise);
                self.put("}");
            }
            Kind::While(test, block) => {
                self.put(&format!("while ({}) {{", test.text()));
                self.block(block);
                self.put("}");
            }
            Kind::Synchronized(lock, block) => {
                self.put(&format!("synchronized ({}) {{", lock.text(self.class)));
                self.block(block);
                statement.release_line = self.line;
                self.put("}");
            }
            Kind::Locked(block) => {
                self.put("explicit.lock();");
                statement.release_line = self.unlocked_finally(block);
            }
            Kind::TryLocked(block) => {
                self.put("if (explicit.tryLock()) {");
                self.depth += 1;
                statement.release_line = self.unlocked_finally(block);
                self.depth -= 1;
                self.put("}");
            }
            Kind::Wait(Lock::Explicit) => self.put("condition.await();"),
            Kind::Wait(lock) => self.put(&format!("{}.wait();", lock.text(self.class))),
            Kind::TryCatch(block, handler) => {
                self.put("try {");
                self.block(block);
                // Java lets no variable hide another, a caught exception included.
                self.put(&format!("}} catch (RuntimeException caught{}) {{", self.line));
                self.block(handler);
                self.put("}");
            }
            Kind::ReturnIf(test, local) => {
                self.put(&format!("if ({}) return {};", test.text(), local.name()));
            }
            Kind::ThrowIf(test) => {
                self.put(&format!("if ({}) throw new RuntimeException();", test.text()));
            }
            Kind::Return(local) => self.put(&format!("return {};", local.name())),
        }
    }

    /// Returns the line of the `unlock()`.
    fn unlocked_finally(&mut self, block: &mut Block) -> u32 {
        self.put("try {");
        self.block(block);
        self.put("} finally {");
        self.depth += 1;
        let line = self.line;
        self.put("explicit.unlock();");
        self.depth -= 1;
        self.put("}");
        line
    }
}

//! The little language of the generated programs, and how it is written down as Java.

use std::fmt::Write;

use crate::random::{Compound, all_statements};

/// A static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Global {
    A,
    B,
    C,
    /// The one that programs assign to.
    Replaced,
    /// A `ReentrantLock`.
    L,
    /// Another one.
    M,
}

impl Global {
    pub(crate) const ALL: [Global; 6] =
        [Global::A, Global::B, Global::C, Global::Replaced, Global::L, Global::M];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Global::A => "A",
            Global::B => "B",
            Global::C => "C",
            Global::Replaced => "replaced",
            Global::L => "L",
            Global::M => "M",
        }
    }
}

/// An instance field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InstanceField {
    /// Set once.
    Fixed,
    /// Assigned to.
    Changing,
}

impl InstanceField {
    pub(crate) fn name(self) -> &'static str {
        match self {
            InstanceField::Fixed => "fixed",
            InstanceField::Changing => "changing",
        }
    }
}

/// Where an expression starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    Global(Global),
    Class,
    This,
    /// The parameter `Object lock`.
    Lock,
    /// The parameter `other`, an object of the same class.
    Other,
    Local(u8),
}

/// What can be locked: a start, and a field of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Expression {
    pub(crate) start: Start,
    pub(crate) field: Option<InstanceField>,
}

impl Expression {
    pub(crate) fn new(start: Start) -> Expression {
        Expression { start, field: None }
    }

    pub(crate) fn global(global: Global) -> Expression {
        Expression::new(Start::Global(global))
    }

    /// Whether some statement may make it another object.
    pub(crate) fn is_replaceable(self) -> bool {
        self.field == Some(InstanceField::Changing) || self.start == Start::Global(Global::Replaced)
    }

    pub(crate) fn text(self, class: &str) -> String {
        let start = match self.start {
            Start::Global(global) => global.name().to_string(),
            Start::Class => format!("{class}.class"),
            Start::This => "this".to_string(),
            Start::Lock => "lock".to_string(),
            Start::Other => "other".to_string(),
            Start::Local(number) => local_name(number),
        };
        match self.field {
            Some(field) => format!("{start}.{}", field.name()),
            None => start,
        }
    }
}

/// The name of a local variable.
pub(crate) fn local_name(number: u8) -> String {
    format!("local{number}")
}

/// What a variable is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// The result of a call that returns another object each time.
    Obtained,
    /// A new object.
    New,
    /// What another expression stands for now.
    Copy(Expression),
}

pub(crate) type Block = Vec<Statement>;

/// A statement and the line it was written on, once it has been.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    /// Where the second lock of a [`Kind::HandOver`] is taken.
    pub(crate) second_line: u32,
    pub(crate) kind: Kind,
}

/// What a statement does. Conditions are opaque: each may hold or not, whatever happened before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Synchronized(Expression, Block),
    /// `lock()`, the block, and `unlock()` in a finally.
    Locked(Global, Block),
    /// The same with `tryLock()`; nothing happens when it fails.
    TryLocked(Global, Block),
    /// Two locks that overlap without nesting: lock, block, lock, block, unlock the first, block,
    /// unlock the second.
    HandOver(Global, Global, [Block; 3]),
    If(Block, Block),
    While(Block),
    TryFinally(Block, Block),
    TryCatch(Block, Block),
    /// A new local variable, and the statements that see it.
    Let(u8, Value, Block),
    SetLocal(u8, Value),
    /// A lock in a field is replaced by another object.
    Replace(Expression),
    Call(Call),
    /// Returns under an opaque condition.
    Return,
    /// Throws under an opaque condition.
    Throw,
}

/// A call of a method of the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    pub(crate) callee: usize,
    /// [`Start::This`] or [`Start::Other`]; not used for a static method.
    pub(crate) receiver: Start,
    pub(crate) lock: Expression,
    /// [`Start::This`] or [`Start::Other`].
    pub(crate) other: Start,
}

impl Statement {
    pub(crate) fn new(kind: Kind) -> Statement {
        Statement { line: 0, second_line: 0, kind }
    }
}

impl Compound for Statement {
    fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            Kind::Synchronized(_, block)
            | Kind::Locked(_, block)
            | Kind::TryLocked(_, block)
            | Kind::While(block)
            | Kind::Let(_, _, block) => vec![block],
            Kind::HandOver(_, _, blocks) => blocks.iter().collect(),
            Kind::If(one, other) | Kind::TryFinally(one, other) | Kind::TryCatch(one, other) => {
                vec![one, other]
            }
            Kind::SetLocal(..) | Kind::Replace(_) | Kind::Call(_) | Kind::Return | Kind::Throw => {
                Vec::new()
            }
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            Kind::Synchronized(_, block)
            | Kind::Locked(_, block)
            | Kind::TryLocked(_, block)
            | Kind::While(block)
            | Kind::Let(_, _, block) => vec![block],
            Kind::HandOver(_, _, blocks) => blocks.iter_mut().collect(),
            Kind::If(one, other) | Kind::TryFinally(one, other) | Kind::TryCatch(one, other) => {
                vec![one, other]
            }
            Kind::SetLocal(..) | Kind::Replace(_) | Kind::Call(_) | Kind::Return | Kind::Throw => {
                Vec::new()
            }
        }
    }
}

/// A method. All have the same parameters, `Object lock` and `other`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Method {
    pub(crate) is_static: bool,
    pub(crate) is_synchronized: bool,
    pub(crate) body: Block,
}

impl Method {
    pub(crate) fn calls(&self) -> impl Iterator<Item = Call> + '_ {
        all_statements(&self.body).into_iter().filter_map(|statement| match statement.kind {
            Kind::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// A program: one class. A method only calls methods that come after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JavaProgram {
    pub(crate) methods: Vec<Method>,
}

impl JavaProgram {
    /// Calls in a row, from a method on.
    pub(crate) fn longest_chain(&self, method: usize) -> usize {
        let calls = self.methods[method].calls();
        calls.map(|call| 1 + self.longest_chain(call.callee)).max().unwrap_or(0)
    }

    /// Writes the class down, and remembers in each statement on which line it stands.
    pub(crate) fn write(&mut self, class: &str) -> String {
        let signatures: Vec<bool> = self.methods.iter().map(|method| method.is_static).collect();
        let mut writer =
            Writer { text: String::new(), line: 1, depth: 0, class, is_static: &signatures };
        writer.put("import java.util.concurrent.locks.ReentrantLock;");
        writer.put(&format!("final class {class} {{"));
        writer.depth += 1;
        writer.put("static final Object A = new Object(), B = new Object(), C = new Object();");
        writer.put("static final ReentrantLock L = new ReentrantLock(), M = new ReentrantLock();");
        writer.put("static Object replaced = new Object();");
        writer.put("final Object fixed = new Object();");
        writer.put("Object changing = new Object();");
        for (number, method) in self.methods.iter_mut().enumerate() {
            let is_static = if method.is_static { "static " } else { "" };
            let is_synchronized = if method.is_synchronized { "synchronized " } else { "" };
            writer.put(&format!(
                "{is_static}{is_synchronized}void m{number}(Object lock, {class} other) {{"
            ));
            writer.block(&mut method.body);
            writer.put("}");
        }
        writer.depth = 0;
        writer.put("}");
        writer.text
    }
}

/// The class that the conditions and the obtained objects come from.
pub(crate) const OPAQUE: &str = "final class Opaque {
    static volatile int count;
    static boolean holds() { return count++ % 3 == 0; }
    static Object obtain() { return new Object(); }
}
";

struct Writer<'a> {
    text: String,
    line: u32,
    depth: usize,
    class: &'a str,
    is_static: &'a [bool],
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        writeln!(self.text, "{:indent$}{text}", "", indent = self.depth * 4)
            .expect("a string takes everything");
        self.line += 1;
    }

    fn block(&mut self, block: &mut Block) {
        self.depth += 1;
        for statement in block {
            self.statement(statement);
        }
        self.depth -= 1;
    }

    fn value(&self, value: Value) -> String {
        match value {
            Value::Obtained => "Opaque.obtain()".to_string(),
            Value::New => "new Object()".to_string(),
            Value::Copy(expression) => expression.text(self.class),
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        statement.line = self.line;
        match &mut statement.kind {
            Kind::Synchronized(lock, block) => {
                self.put(&format!("synchronized ({}) {{", lock.text(self.class)));
                self.block(block);
                self.put("}");
            }
            Kind::Locked(lock, block) => {
                self.put(&format!("{}.lock();", lock.name()));
                self.unlocked_finally(*lock, block);
            }
            Kind::TryLocked(lock, block) => {
                self.put(&format!("if ({}.tryLock()) {{", lock.name()));
                self.depth += 1;
                self.unlocked_finally(*lock, block);
                self.depth -= 1;
                self.put("}");
            }
            Kind::HandOver(first, second, blocks) => {
                let [alone, both, rest] = blocks;
                self.put(&format!("{}.lock();", first.name()));
                self.block(alone);
                statement.second_line = self.line;
                self.put(&format!("{}.lock();", second.name()));
                self.block(both);
                self.put(&format!("{}.unlock();", first.name()));
                self.block(rest);
                self.put(&format!("{}.unlock();", second.name()));
            }
            Kind::If(then, otherwise) => {
                self.put("if (Opaque.holds()) {");
                self.block(then);
                self.put("} else {");
                self.block(otherwise);
                self.put("}");
            }
            Kind::While(block) => {
                self.put("while (Opaque.holds()) {");
                self.block(block);
                self.put("}");
            }
            Kind::TryFinally(block, last) => {
                self.put("try {");
                self.block(block);
                self.put("} finally {");
                self.block(last);
                self.put("}");
            }
            Kind::TryCatch(block, handler) => {
                self.put("try {");
                self.block(block);
                // Java lets no variable hide another, a caught exception included.
                self.put(&format!("}} catch (RuntimeException caught{}) {{", self.line));
                self.block(handler);
                self.put("}");
            }
            Kind::Let(local, value, block) => {
                self.put("{");
                self.depth += 1;
                let value = self.value(*value);
                self.put(&format!("Object {} = {value};", local_name(*local)));
                self.depth -= 1;
                self.block(block);
                self.put("}");
            }
            Kind::SetLocal(local, value) => {
                let value = self.value(*value);
                self.put(&format!("{} = {value};", local_name(*local)));
            }
            Kind::Replace(field) => {
                self.put(&format!("{} = new Object();", field.text(self.class)));
            }
            Kind::Call(call) => {
                let text = |start| Expression::new(start).text(self.class);
                let receiver = if self.is_static[call.callee] {
                    String::new()
                } else {
                    format!("{}.", text(call.receiver))
                };
                let (lock, other) = (call.lock.text(self.class), text(call.other));
                self.put(&format!("{receiver}m{}({lock}, {other});", call.callee));
            }
            Kind::Return => self.put("if (Opaque.holds()) return;"),
            Kind::Throw => self.put("if (Opaque.holds()) throw new RuntimeException();"),
        }
    }

    fn unlocked_finally(&mut self, lock: Global, block: &mut Block) {
        self.put("try {");
        self.block(block);
        self.put("} finally {");
        self.depth += 1;
        self.put(&format!("{}.unlock();", lock.name()));
        self.depth -= 1;
        self.put("}");
    }
}

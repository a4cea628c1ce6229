//! Random Java programs mean the same to the virtual machine and to the IR.
//!
//! Static methods over numbers, arrays, objects, exceptions and monitors are generated, compiled once,
//! run once, and interpreted from their bodies in SSA form; every result must be equal, and so must a
//! number that every step on the way is mixed into. `SCISSION_RANDOM_PROGRAMS` says how many classes
//! are generated and `SCISSION_SEED` which.

mod interpreter;
mod java_program;
mod random;
mod verifier;

use std::collections::BTreeMap;
use std::fmt::Write;

use interpreter::{Interpreter, Value};
use java_program::JavaProgram;
use program::{FieldId, Program};
use random::{Random, count_from_environment};
use rayon::prelude::*;

/// What all generated classes use. Loops and calls cost fuel, so that everything ends.
const SHARED: &str = r"
final class Shared {
    static int trace;
    static int fuel;
    static int counter;
    static long total;
    static boolean flag;

    static class Box {
        int a; long b; double c; Box next;
        Box(int a) { this.a = a; }
        int weigh(int k) { return a * 3 + k; }
        int spread(int k) { return weigh(k) ^ weigh(a); }
    }

    static class Crate extends Box {
        int extra;
        Crate(int a, int extra) { super(a + 1); this.extra = extra; }
        @Override int weigh(int k) { return super.weigh(k) / extra; }
    }

    static class Failure extends RuntimeException {
        final int code;
        Failure(int code) { this.code = code; }
    }

    static class DeepFailure extends Failure {
        DeepFailure(int code) { super(code + 1); }
    }

    static class OutOfFuel extends Error { }

    static boolean tick() {
        if (--fuel < 0) throw new OutOfFuel();
        return true;
    }

    static void note(int x) { trace = trace * 31 + x; }

    static void reset() { trace = 0; fuel = 400; counter = 0; total = 0; flag = false; }

    static int code(double d) { long bits = Double.doubleToLongBits(d); return (int) (bits ^ (bits >>> 32)); }
}
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Long,
    Double,
    Boolean,
    Ints,
    Longs,
    Bytes,
    Box,
}

impl Type {
    fn java(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Long => "long",
            Type::Double => "double",
            Type::Boolean => "boolean",
            Type::Ints => "int[]",
            Type::Longs => "long[]",
            Type::Bytes => "byte[]",
            Type::Box => "Shared.Box",
        }
    }
}

const PRIMITIVES: [Type; 4] = [Type::Int, Type::Long, Type::Double, Type::Boolean];
const ALL_TYPES: [Type; 8] = [
    Type::Int,
    Type::Int,
    Type::Long,
    Type::Double,
    Type::Boolean,
    Type::Ints,
    Type::Longs,
    Type::Box,
];
/// Exceptions that can be caught, subclasses first: the order in which Java wants them.
const CATCHABLE: [&str; 8] = [
    "Shared.DeepFailure",
    "Shared.Failure",
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "NullPointerException",
    "ClassCastException",
    "NegativeArraySizeException",
    "RuntimeException",
];

struct Variable {
    name: String,
    of: Type,
    /// Loop counters are only read.
    assignable: bool,
}

/// A method that can be called: its name and what it takes and gives.
struct Signature {
    name: String,
    parameters: Vec<Type>,
    result: Type,
}

struct Generator {
    random: Random,
    text: String,
    variables: Vec<Variable>,
    /// Methods generated before: calling only these keeps programs from recursing.
    callable: Vec<Signature>,
    next_name: usize,
    result: Type,
    loops: usize,
    /// Statements that may still be made in this method.
    budget: usize,
}

impl Generator {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}{}", self.next_name)
    }

    fn readable(&mut self, of: Type) -> Option<String> {
        let known: Vec<&Variable> =
            self.variables.iter().filter(|variable| variable.of == of).collect();
        if known.is_empty() { None } else { Some(self.random.choose(&known).name.clone()) }
    }

    /// Something of this type that can be assigned to.
    fn place(&mut self, of: Type, depth: usize) -> String {
        let known: Vec<&Variable> = self
            .variables
            .iter()
            .filter(|variable| variable.of == of && variable.assignable)
            .collect();
        if !known.is_empty() && self.random.below(3) > 0 {
            return self.random.choose(&known).name.clone();
        }
        match of {
            Type::Int => match self.random.below(3) {
                0 => "Shared.counter".to_string(),
                1 => format!("{}.a", self.expression(Type::Box, depth)),
                _ => {
                    let array = self.expression(Type::Ints, depth);
                    format!("{array}[{}]", self.index(depth))
                }
            },
            Type::Long => match self.random.below(3) {
                0 => "Shared.total".to_string(),
                1 => format!("{}.b", self.expression(Type::Box, depth)),
                _ => {
                    let array = self.expression(Type::Longs, depth);
                    format!("{array}[{}]", self.index(depth))
                }
            },
            Type::Double => format!("{}.c", self.expression(Type::Box, depth)),
            Type::Boolean => "Shared.flag".to_string(),
            Type::Box => format!("{}.next", self.expression(Type::Box, depth)),
            Type::Ints | Type::Longs | Type::Bytes => match known.first() {
                Some(variable) => variable.name.clone(),
                None => unreachable!("every method has an array of each kind"),
            },
        }
    }

    /// An index that is mostly within an array of four.
    fn index(&mut self, depth: usize) -> String {
        let index = self.expression(Type::Int, depth);
        if self.random.one_in(4) { index } else { format!("({index}) & 3") }
    }

    fn expression(&mut self, of: Type, depth: usize) -> String {
        if depth == 0 || self.random.one_in(4) {
            return match self.readable(of) {
                Some(name) if self.random.below(4) > 0 => name,
                _ => self.literal(of),
            };
        }
        let depth = depth - 1;
        match self.random.below(12) {
            0 => {
                let condition = self.expression(Type::Boolean, depth);
                let (one, other) = (self.expression(of, depth), self.expression(of, depth));
                return format!("({condition} ? {one} : {other})");
            }
            1 => {
                let value = self.expression(of, depth);
                let place = self.place(of, depth);
                return format!("({place} = {value})");
            }
            2 => return self.place(of, depth),
            3 => {
                let fitting: Vec<usize> =
                    (0..self.callable.len()).filter(|at| self.callable[*at].result == of).collect();
                if !fitting.is_empty() {
                    let at = *self.random.choose(&fitting);
                    return self.call_of(at, depth);
                }
            }
            4 if of != Type::Boolean && PRIMITIVES.contains(&of) => {
                let selector = self.expression(Type::Int, depth);
                let cases = self.random.below(3) + 1;
                let mut text = format!("(switch (({selector}) % 5) {{ ");
                for case in 0..cases {
                    let value = self.expression(of, depth);
                    let _ = write!(text, "case {} -> {value}; ", case * (case + 1));
                }
                let value = self.expression(of, depth);
                let _ = write!(text, "default -> {value}; }})");
                return text;
            }
            _ => {}
        }
        match of {
            Type::Int => self.int_expression(depth),
            Type::Long => self.long_expression(depth),
            Type::Double => self.double_expression(depth),
            Type::Boolean => self.boolean_expression(depth),
            Type::Ints => match self.random.below(3) {
                0 => format!("(new int[({}) & 7])", self.expression(Type::Int, depth)),
                1 => {
                    let (one, other) =
                        (self.expression(Type::Int, depth), self.expression(Type::Int, depth));
                    format!("(new int[] {{{one}, {other}, 3, 4}})")
                }
                _ => format!("(new int[2][({}) % 6])[1]", self.expression(Type::Int, depth)),
            },
            Type::Longs => format!("(new long[({}) % 7])", self.expression(Type::Int, depth)),
            Type::Bytes => format!("(new byte[({}) & 7])", self.expression(Type::Int, depth)),
            Type::Box => match self.random.below(12) {
                4.. if self.random.one_in(2) => "new Shared.Crate(7, 3)".to_string(),
                0 | 4.. => format!("new Shared.Box({})", self.expression(Type::Int, depth)),
                1 => {
                    let (one, other) =
                        (self.expression(Type::Int, depth), self.expression(Type::Int, depth));
                    format!("new Shared.Crate({one}, {other})")
                }
                2 => format!("((Shared.Crate) {})", self.expression(Type::Box, depth)),
                _ => format!("{}.next", self.expression(Type::Box, depth)),
            },
        }
    }

    fn int_expression(&mut self, depth: usize) -> String {
        match self.random.below(12) {
            0 => format!("(int) ({})", self.expression(Type::Long, depth)),
            1 => format!("(int) ({})", self.expression(Type::Double, depth)),
            2 => {
                let to = *self.random.choose(&["byte", "short", "char"]);
                format!("({to}) ({})", self.expression(Type::Int, depth))
            }
            3 => {
                let op = *self.random.choose(&["++", "--"]);
                let place = self.place(Type::Int, depth);
                if self.random.one_in(2) {
                    format!("({place}{op})")
                } else {
                    format!("({op}{place})")
                }
            }
            4 => {
                let op = *self.random.choose(&["+=", "-=", "*=", "/=", "<<=", ">>>=", "^="]);
                let value = self.expression(Type::Int, depth);
                format!("({} {op} {value})", self.place(Type::Int, depth))
            }
            5 => {
                let method = *self.random.choose(&["weigh", "spread"]);
                let value = self.expression(Type::Int, depth);
                format!("{}.{method}({value})", self.expression(Type::Box, depth))
            }
            6 => format!("{}.length", self.expression(Type::Ints, depth)),
            7 => {
                let array = self.readable(Type::Bytes).unwrap_or("(new byte[2])".to_string());
                format!("{array}[{}]", self.index(depth))
            }
            8 => format!("-({})", self.expression(Type::Int, depth)),
            9 => format!("((Shared.Crate) {}).extra", self.expression(Type::Box, depth)),
            _ => {
                let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>"];
                let op = *self.random.choose(&operators);
                let (left, right) =
                    (self.expression(Type::Int, depth), self.expression(Type::Int, depth));
                format!("(({left}) {op} ({right}))")
            }
        }
    }

    fn long_expression(&mut self, depth: usize) -> String {
        match self.random.below(7) {
            0 => format!("(long) ({})", self.expression(Type::Int, depth)),
            1 => format!("(long) ({})", self.expression(Type::Double, depth)),
            2 => {
                let op = *self.random.choose(&["++", "--"]);
                format!("({}{op})", self.place(Type::Long, depth))
            }
            3 => {
                let op = *self.random.choose(&["+=", "*=", "/=", "&=", ">>="]);
                let value = self.expression(Type::Long, depth);
                format!("({} {op} {value})", self.place(Type::Long, depth))
            }
            4 => {
                let op = *self.random.choose(&["<<", ">>", ">>>"]);
                let (left, right) =
                    (self.expression(Type::Long, depth), self.expression(Type::Int, depth));
                format!("(({left}) {op} ({right}))")
            }
            _ => {
                let op = *self.random.choose(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                let (left, right) =
                    (self.expression(Type::Long, depth), self.expression(Type::Long, depth));
                format!("(({left}) {op} ({right}))")
            }
        }
    }

    fn double_expression(&mut self, depth: usize) -> String {
        match self.random.below(6) {
            0 => format!("(double) ({})", self.expression(Type::Int, depth)),
            1 => format!("(double) (float) ({})", self.expression(Type::Double, depth)),
            2 => format!("(float) ({}) * 1.5f", self.expression(Type::Long, depth)),
            3 => format!("({}++)", self.place(Type::Double, depth)),
            _ => {
                let op = *self.random.choose(&["+", "-", "*", "/", "%"]);
                let (left, right) =
                    (self.expression(Type::Double, depth), self.expression(Type::Double, depth));
                format!("(({left}) {op} ({right}))")
            }
        }
    }

    fn boolean_expression(&mut self, depth: usize) -> String {
        match self.random.below(7) {
            0 => format!("!({})", self.expression(Type::Boolean, depth)),
            1 => {
                let op = *self.random.choose(&["&&", "||", "&", "|", "^", "=="]);
                let (left, right) =
                    (self.expression(Type::Boolean, depth), self.expression(Type::Boolean, depth));
                format!("(({left}) {op} ({right}))")
            }
            2 => {
                let op = *self.random.choose(&["==", "!="]);
                let right = if self.random.one_in(2) {
                    "null".to_string()
                } else {
                    self.expression(Type::Box, depth)
                };
                format!("({} {op} {right})", self.expression(Type::Box, depth))
            }
            3 => format!("({} instanceof Shared.Crate)", self.expression(Type::Box, depth)),
            _ => {
                let of = *self.random.choose(&[Type::Int, Type::Int, Type::Long, Type::Double]);
                let op = *self.random.choose(&["<", "<=", ">", ">=", "==", "!="]);
                let (left, right) = (self.expression(of, depth), self.expression(of, depth));
                format!("(({left}) {op} ({right}))")
            }
        }
    }

    fn literal(&mut self, of: Type) -> String {
        let choices: &[&str] = match of {
            Type::Int => {
                &["0", "1", "2", "-1", "7", "31", "1000", "Integer.MAX_VALUE", "Integer.MIN_VALUE"]
            }
            Type::Long => &["0L", "1L", "-1L", "63L", "100000000000L", "Long.MIN_VALUE"],
            Type::Double => {
                &["0.0", "-0.0", "1.0", "0.5", "-2.25", "1e300", "Double.NaN", "(1.0 / 0.0)"]
            }
            Type::Boolean => &["Shared.flag", "(Shared.counter > 0)", "true", "false"],
            Type::Ints => &["(new int[4])", "(new int[] {1, 2, 3, 4})"],
            Type::Longs => &["(new long[4])", "(new long[] {5L, 6L, 7L, 8L})"],
            Type::Bytes => &["(new byte[4])"],
            // Null is rare, or most methods would end early.
            Type::Box if self.random.one_in(8) => &["((Shared.Box) null)"],
            Type::Box => &["new Shared.Box(5)", "new Shared.Crate(6, 2)"],
        };
        (*self.random.choose(choices)).to_string()
    }

    fn call_of(&mut self, at: usize, depth: usize) -> String {
        let parameters = self.callable[at].parameters.clone();
        let arguments: Vec<String> =
            parameters.iter().map(|of| self.expression(*of, depth)).collect();
        format!("{}({})", self.callable[at].name, arguments.join(", "))
    }

    /// A block of statements; what is declared inside is forgotten after it.
    fn block(&mut self, depth: usize, most: usize) {
        let known = self.variables.len();
        for _ in 0..self.random.below(most) + 1 {
            self.statement(depth);
        }
        self.variables.truncate(known);
    }

    fn declare(&mut self, of: Type, name: String, assignable: bool) {
        self.variables.push(Variable { name, of, assignable });
    }

    fn note(&mut self) {
        let line = match self.random.below(3) {
            0 => format!("Shared.note({});", self.expression(Type::Int, 1)),
            1 => format!("Shared.note((int) ({}));", self.expression(Type::Long, 1)),
            _ => format!("Shared.note({} ? 1 : 2);", self.expression(Type::Boolean, 1)),
        };
        self.line(&line);
    }

    fn statement(&mut self, depth: usize) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        if depth == 0 {
            return self.simple_statement();
        }
        let depth = depth - 1;
        match self.random.below(20) {
            0 | 1 => {
                let condition = self.expression(Type::Boolean, 2);
                self.line(&format!("if ({condition}) {{"));
                self.block(depth, 3);
                if self.random.one_in(2) {
                    self.line("} else {");
                    self.block(depth, 3);
                }
                self.line("}");
            }
            2 | 3 => self.loop_statement(depth),
            4..=7 => self.try_statement(depth),
            8 | 9 => {
                let lock = if self.random.one_in(3) {
                    (*self.random.choose(&["Shared.class", "Shared.Box.class"])).to_string()
                } else {
                    self.expression(Type::Box, 1)
                };
                self.line(&format!("synchronized ({lock}) {{"));
                self.block(depth, 3);
                self.line("}");
            }
            10 => self.switch_statement(depth),
            11 => {
                // A variable that is set on either way, but not where it is declared.
                let of = *self.random.choose(&PRIMITIVES);
                let name = self.fresh("v");
                let condition = self.expression(Type::Boolean, 2);
                let (one, other) = (self.expression(of, 2), self.expression(of, 2));
                self.line(&format!("{} {name};", of.java()));
                self.line(&format!("if ({condition}) {name} = {one}; else {name} = {other};"));
                self.declare(of, name, true);
            }
            _ => self.simple_statement(),
        }
    }

    fn simple_statement(&mut self) {
        match self.random.below(10) {
            0..=2 => {
                let of = *self.random.choose(&ALL_TYPES);
                let value = self.expression(of, 3);
                let name = self.fresh("v");
                self.line(&format!("{} {name} = {value};", of.java()));
                self.declare(of, name, true);
            }
            3 => self.note(),
            4 => {
                let condition = self.expression(Type::Boolean, 2);
                let failure = *self.random.choose(&["Failure", "DeepFailure"]);
                let code = self.expression(Type::Int, 1);
                self.line(&format!("if ({condition}) throw new Shared.{failure}({code});"));
            }
            5 if self.loops > 0 => {
                let condition = self.expression(Type::Boolean, 2);
                let jump = *self.random.choose(&["break", "continue"]);
                let outer = self.random.below(self.loops) + 1;
                self.line(&format!("if ({condition}) {jump} loop{outer};"));
            }
            6 if self.random.one_in(2) => {
                let condition = self.expression(Type::Boolean, 2);
                let value = self.expression(self.result, 2);
                self.line(&format!("if ({condition}) return {value};"));
            }
            7 => {
                let array = self.readable(Type::Bytes).unwrap_or("(new byte[3])".to_string());
                let index = self.index(1);
                let value = self.expression(Type::Int, 2);
                self.line(&format!("{array}[{index}] += {value};"));
            }
            _ => {
                let of = *self.random.choose(&ALL_TYPES);
                let place = self.place(of, 2);
                let value = self.expression(of, 3);
                self.line(&format!("{place} = {value};"));
            }
        }
    }

    fn loop_statement(&mut self, depth: usize) {
        self.loops += 1;
        let label = format!("loop{}", self.loops);
        let known = self.variables.len();
        match self.random.below(4) {
            0 => {
                let name = self.fresh("i");
                let bound = self.random.below(6);
                self.line(&format!(
                    "{label}: for (int {name} = 0; Shared.tick() && {name} < {bound}; {name}++) {{"
                ));
                self.declare(Type::Int, name, false);
                self.block(depth, 4);
                self.line("}");
            }
            1 => {
                let condition = self.expression(Type::Boolean, 2);
                self.line(&format!("{label}: while (Shared.tick() && {condition}) {{"));
                self.block(depth, 4);
                self.line("}");
            }
            2 => {
                let condition = self.expression(Type::Boolean, 2);
                self.line(&format!("{label}: do {{"));
                self.block(depth, 4);
                self.line(&format!("}} while (Shared.tick() && {condition});"));
            }
            _ => {
                let name = self.fresh("x");
                let array = self.expression(Type::Ints, 1);
                self.line(&format!("{label}: for (int {name} : {array}) {{ Shared.tick();"));
                self.declare(Type::Int, name, true);
                self.block(depth, 4);
                self.line("}");
            }
        }
        self.variables.truncate(known);
        self.loops -= 1;
    }

    fn try_statement(&mut self, depth: usize) {
        self.line("try {");
        self.block(depth, 4);
        let mut caught = 0;
        let mut first = self.random.below(CATCHABLE.len());
        while first < CATCHABLE.len() && caught < 3 {
            let name = self.fresh("e");
            let mut classes = CATCHABLE[first].to_string();
            // Alternatives must not be subclasses of each other.
            if (2..CATCHABLE.len() - 2).contains(&first) && self.random.one_in(2) {
                first += 1;
                let _ = write!(classes, " | {}", CATCHABLE[first]);
            }
            self.line(&format!("}} catch ({classes} {name}) {{"));
            if classes.starts_with("Shared") {
                self.line(&format!("Shared.note({name}.code);"));
            }
            if self.random.one_in(4) {
                let condition = self.expression(Type::Boolean, 1);
                self.line(&format!("if ({condition}) throw {name};"));
            }
            self.block(depth, 2);
            caught += 1;
            first += 1 + self.random.below(4);
        }
        if caught == 0 || self.random.one_in(2) {
            self.line("} finally {");
            self.block(depth, 3);
        }
        self.line("}");
    }

    fn switch_statement(&mut self, depth: usize) {
        let selector = self.expression(Type::Int, 2);
        self.line(&format!("switch (({selector}) % 8) {{"));
        let stride = *self.random.choose(&[1, 1, 3, 1000]);
        for case in 0..self.random.below(4) {
            self.line(&format!("case {}: {{", case * stride));
            self.block(depth, 2);
            self.line("}");
            if self.random.one_in(2) {
                self.line("break;");
            }
        }
        if self.random.one_in(2) {
            self.line("default: {");
            self.block(depth, 2);
            self.line("}");
        }
        self.line("}");
    }

    fn method(&mut self, name: &str, parameters: &[Type], result: Type) {
        self.variables.clear();
        self.result = result;
        self.loops = 0;
        self.budget = 26;
        let mut declared = Vec::new();
        for (number, of) in parameters.iter().enumerate() {
            let parameter = format!("p{number}");
            declared.push(format!("{} {parameter}", of.java()));
            self.declare(*of, parameter, true);
        }
        self.line(&format!("static {} {name}({}) {{", result.java(), declared.join(", ")));
        self.line("Shared.tick();");
        for (of, value) in [
            (Type::Ints, "{1, 2, 3, 4}"),
            (Type::Longs, "{5, 6, 7, 8}"),
            (Type::Bytes, "{9, -10, 11, -12}"),
        ] {
            let array = self.fresh("a");
            self.line(&format!("{} {array} = {value};", of.java()));
            self.declare(of, array, true);
        }
        let known = self.variables.len();
        for _ in 0..6 {
            self.statement(3);
        }
        self.note();
        let value = self.expression(result, 2);
        self.line(&format!("return {value};"));
        self.line("}");
        self.variables.truncate(known);
        self.callable.push(Signature {
            name: name.to_string(),
            parameters: parameters.to_vec(),
            result,
        });
    }
}

const METHODS: usize = 6;
const INTERNAL_METHODS: usize = 2;

/// The numbers that the methods of a class are called with, as Java and as values.
const ARGUMENTS: [(i32, i64, f64); 4] =
    [(0, 0, 0.0), (5, -3, 1.5), (-1, 10_000_000_000, -0.0), (123_456, 7, 1e18)];

/// One generated class: methods that others call, and methods that the test calls.
fn class(name: &str, seed: u64) -> (String, Vec<Type>) {
    let mut generator = Generator {
        random: Random::new(seed),
        text: String::new(),
        variables: Vec::new(),
        callable: Vec::new(),
        next_name: 0,
        result: Type::Int,
        loops: 0,
        budget: 0,
    };
    generator.line(&format!("final class {name} {{"));
    for number in 0..INTERNAL_METHODS {
        let result = *generator.random.choose(&[Type::Int, Type::Box, Type::Long]);
        generator.method(
            &format!("internal{number}"),
            &[Type::Ints, Type::Box, Type::Int, Type::Double],
            result,
        );
    }
    let mut results = Vec::new();
    for number in 0..METHODS {
        let result = *generator.random.choose(&PRIMITIVES);
        results.push(result);
        generator.method(
            &format!("method{number}"),
            &[Type::Int, Type::Long, Type::Double],
            result,
        );
    }
    generator.line("static void drive(StringBuilder out) {");
    for (number, result) in results.iter().enumerate() {
        for (row, (one, two, three)) in ARGUMENTS.iter().enumerate() {
            let call = format!("method{number}({one}, {two}L, {three:?})");
            let shown = match result {
                Type::Double => format!("Double.doubleToLongBits({call})"),
                _ => call,
            };
            generator.line(&format!(
                "Shared.reset(); out.append(\"{name}.method{number}#{row} \");\n\
                 try {{ out.append({shown}); }} catch (Throwable t) {{ \
                 out.append(t.getClass().getName()); }}\n\
                 out.append(' ').append(Shared.trace).append('\\n');"
            ));
        }
    }
    generator.line("}\n}");
    (generator.text, results)
}

/// What one call gives, in the words of the Java side.
fn interpreted(
    program: &Program,
    class: &str,
    number: usize,
    result: Type,
    arguments: (i32, i64, f64),
) -> (String, usize) {
    let mut interpreter = Interpreter::new(program);
    let shared = |name: &str| field(program, "Shared", name);
    interpreter.set_static(shared("fuel"), Value::Int(400));
    let descriptor = match result {
        Type::Int => "(IJD)I",
        Type::Long => "(IJD)J",
        Type::Double => "(IJD)D",
        _ => "(IJD)Z",
    };
    let method = program
        .method_named(class, &format!("method{number}"), descriptor)
        .expect("the generated method is there");
    let (one, two, three) = arguments;
    let arguments = [Value::Int(one), Value::Long(two), Value::Double(three)];
    let shown = match interpreter.call(method, &arguments) {
        Ok(Some(Value::Int(number))) if result == Type::Boolean => (number != 0).to_string(),
        Ok(Some(Value::Int(number))) => number.to_string(),
        Ok(Some(Value::Long(number))) => number.to_string(),
        Ok(Some(Value::Double(number))) if number.is_nan() => 0x7ff8_0000_0000_0000_i64.to_string(),
        Ok(Some(Value::Double(number))) => (number.to_bits() as i64).to_string(),
        Ok(other) => panic!("{class}.method{number} returned {other:?}"),
        Err(thrown) => interpreter.class_of_thrown(thrown),
    };
    let Value::Int(trace) = interpreter.static_field(shared("trace")) else {
        panic!("the trace is an int")
    };
    (format!("{shown} {trace}"), interpreter.monitors_entered)
}

fn field(program: &Program, class: &str, name: &str) -> FieldId {
    let class = program.class_named(class).unwrap();
    let fields = &program.classes[class].fields;
    *fields.iter().find(|field| &*program.fields[**field].name == name).unwrap()
}

#[test]
fn random_programs_mean_the_same() {
    let count = count_from_environment("SCISSION_RANDOM_PROGRAMS", 80);
    let seed = count_from_environment("SCISSION_SEED", 1) as u64;
    let generated: Vec<(String, String, Vec<Type>)> = (0..count)
        .map(|number| {
            let name = format!("Random{number}");
            let (text, results) = class(&name, seed.wrapping_mul(1_000_003) + number as u64);
            (name, text, results)
        })
        .collect();
    let drives: String =
        generated.iter().map(|(name, ..)| format!("{name}.drive(out);\n")).collect();
    let main = format!(
        "final class Main {{ public static void main(String[] arguments) {{\n\
         StringBuilder out = new StringBuilder();\n{drives}System.out.print(out); }} }}"
    );
    let files: Vec<(String, &str)> =
        generated.iter().map(|(name, text, _)| (format!("{name}.java"), text.as_str())).collect();
    let mut sources: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    sources.push(("Shared.java", SHARED));
    sources.push(("Main.java", &main));
    let java = JavaProgram::compile(&sources);
    let printed = java.run("Main");
    let expected: BTreeMap<&str, &str> =
        printed.lines().map(|line| line.split_once(' ').unwrap()).collect();
    assert_eq!(expected.len(), count * METHODS * ARGUMENTS.len());

    let program = java.read();
    for method in program.methods_with_bodies() {
        let flaw = verifier::flaw(program.body(method).unwrap());
        assert_eq!(flaw, None, "{}", program.method_label(method));
    }
    let checked: Vec<(bool, usize)> = generated
        .par_iter()
        .flat_map_iter(|(name, _, results)| {
            let (program, expected) = (&program, &expected);
            results.iter().enumerate().flat_map(move |(number, result)| {
                ARGUMENTS.iter().enumerate().map(move |(row, arguments)| {
                    let key = format!("{name}.method{number}#{row}");
                    let expected = expected[key.as_str()];
                    let (found, monitors) = interpreted(program, name, number, *result, *arguments);
                    assert_eq!(found, expected, "{key}, with SCISSION_SEED={seed}");
                    (expected.contains("Exception") || expected.contains("Failure"), monitors)
                })
            })
        })
        .collect();
    // Programs that all fail at once, or never, would test little.
    let failed = checked.iter().filter(|(failed, _)| *failed).count();
    let locked = checked.iter().filter(|(_, monitors)| *monitors > 0).count();
    println!("{} calls, {failed} end with an exception, {locked} lock", checked.len());
    assert!(failed * 10 > checked.len() && failed * 10 < 9 * checked.len());
    assert!(locked * 10 > checked.len());
}

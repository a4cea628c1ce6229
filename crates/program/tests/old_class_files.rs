//! Code that no compiler of today writes: subroutines, wide indices, handlers that are jumped to, and
//! other liberties that class files without stack maps take.
//!
//! The classes are assembled here, run by the virtual machine, which still verifies and executes them,
//! and interpreted from their bodies.

mod interpreter;
mod java_program;
mod verifier;

use std::collections::HashMap;
use std::sync::OnceLock;

use interpreter::{Interpreter, Value};
use java_program::JavaProgram;
use program::ir::{Operation, monitor_regions, print_body};
use program::{MethodId, Program};

/// Opcodes, by their names in the specification.
mod op {
    pub(crate) const ACONST_NULL: u8 = 0x01;
    pub(crate) const ICONST_0: u8 = 0x03;
    pub(crate) const ICONST_1: u8 = 0x04;
    pub(crate) const ICONST_2: u8 = 0x05;
    pub(crate) const BIPUSH: u8 = 0x10;
    pub(crate) const ILOAD: u8 = 0x15;
    pub(crate) const LLOAD: u8 = 0x16;
    pub(crate) const ILOAD_0: u8 = 0x1a;
    pub(crate) const ILOAD_1: u8 = 0x1b;
    pub(crate) const ILOAD_3: u8 = 0x1d;
    pub(crate) const ALOAD: u8 = 0x19;
    pub(crate) const ALOAD_0: u8 = 0x2a;
    pub(crate) const ALOAD_2: u8 = 0x2c;
    pub(crate) const ISTORE: u8 = 0x36;
    pub(crate) const LSTORE: u8 = 0x37;
    pub(crate) const ASTORE: u8 = 0x3a;
    pub(crate) const ISTORE_1: u8 = 0x3c;
    pub(crate) const ISTORE_3: u8 = 0x3e;
    pub(crate) const ASTORE_2: u8 = 0x4d;
    pub(crate) const ASTORE_3: u8 = 0x4e;
    pub(crate) const POP: u8 = 0x57;
    pub(crate) const IADD: u8 = 0x60;
    pub(crate) const IMUL: u8 = 0x68;
    pub(crate) const IDIV: u8 = 0x6c;
    pub(crate) const IINC: u8 = 0x84;
    pub(crate) const I2L: u8 = 0x85;
    pub(crate) const L2I: u8 = 0x88;
    pub(crate) const IFEQ: u8 = 0x99;
    pub(crate) const IFNE: u8 = 0x9a;
    pub(crate) const IFLE: u8 = 0x9e;
    pub(crate) const IF_ICMPNE: u8 = 0xa0;
    pub(crate) const GOTO: u8 = 0xa7;
    pub(crate) const JSR: u8 = 0xa8;
    pub(crate) const RET: u8 = 0xa9;
    pub(crate) const IRETURN: u8 = 0xac;
    pub(crate) const GETSTATIC: u8 = 0xb2;
    pub(crate) const PUTSTATIC: u8 = 0xb3;
    pub(crate) const ATHROW: u8 = 0xbf;
    pub(crate) const MONITORENTER: u8 = 0xc2;
    pub(crate) const MONITOREXIT: u8 = 0xc3;
    pub(crate) const WIDE: u8 = 0xc4;
    pub(crate) const IFNULL: u8 = 0xc6;
    pub(crate) const GOTO_W: u8 = 0xc8;
    pub(crate) const JSR_W: u8 = 0xc9;
}

/// A class under construction: static methods over one static `int`, the field `count`.
struct Assembler {
    constants: Vec<u8>,
    constant_count: u16,
    methods: Vec<Vec<u8>>,
    count: u16,
}

impl Assembler {
    fn new(class: &str) -> Assembler {
        let mut assembler =
            Assembler { constants: Vec::new(), constant_count: 1, methods: Vec::new(), count: 0 };
        let class = assembler.class(class);
        let (name, descriptor) = (assembler.text("count"), assembler.text("I"));
        let pair = assembler.constant(12, &[name, descriptor]);
        assembler.count = assembler.constant(9, &[class, pair]);
        assembler
    }

    fn constant(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        self.constants.push(tag);
        numbers.iter().for_each(|number| self.constants.extend(number.to_be_bytes()));
        self.constant_count += 1;
        self.constant_count - 1
    }

    fn text(&mut self, text: &str) -> u16 {
        let index = self.constant(1, &[u16::try_from(text.len()).unwrap()]);
        self.constants.extend(text.as_bytes());
        index
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant(7, &[name])
    }

    /// Adds a public static method without a stack map.
    fn method(&mut self, name: &str, descriptor: &str, locals: u16, code: Assembly) {
        let (bytes, handlers) = code.finish();
        let mut handler_table = Vec::new();
        for (start, end, target, class) in &handlers {
            let class = class.map_or(0, |class| self.class(class));
            for number in [*start, *end, *target, class] {
                handler_table.extend(number.to_be_bytes());
            }
        }
        let mut content = Vec::new();
        content.extend(8_u16.to_be_bytes());
        content.extend(locals.to_be_bytes());
        content.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
        content.extend(bytes);
        content.extend(u16::try_from(handlers.len()).unwrap().to_be_bytes());
        content.extend(handler_table);
        content.extend(0_u16.to_be_bytes());
        let mut method = Vec::new();
        let (name, descriptor) = (self.text(name), self.text(descriptor));
        let attribute = self.text("Code");
        for number in [0x0009, name, descriptor, 1, attribute] {
            method.extend(number.to_be_bytes());
        }
        method.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
        method.extend(content);
        self.methods.push(method);
    }

    fn finish(mut self, class: &str) -> Vec<u8> {
        let this = self.class(class);
        let parent = self.class("java/lang/Object");
        let (name, descriptor) = (self.text("count"), self.text("I"));
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        // Version 45.3, the first there was.
        for number in [3, 45, self.constant_count] {
            bytes.extend(u16::to_be_bytes(number));
        }
        bytes.extend(self.constants);
        for number in [0x0021, this, parent, 0, 1, 0x0009, name, descriptor, 0] {
            bytes.extend(u16::to_be_bytes(number));
        }
        bytes.extend(u16::try_from(self.methods.len()).unwrap().to_be_bytes());
        self.methods.iter().for_each(|method| bytes.extend(method));
        bytes.extend(0_u16.to_be_bytes());
        bytes
    }
}

/// Code with labels.
#[derive(Default)]
struct Assembly {
    bytes: Vec<u8>,
    labels: HashMap<&'static str, usize>,
    /// Where the offset of a jump stands, where the jump stands, its label, and how wide it is.
    jumps: Vec<(usize, usize, &'static str, usize)>,
    handlers: Vec<(&'static str, &'static str, &'static str, Option<&'static str>)>,
}

type AssembledHandler = (u16, u16, u16, Option<&'static str>);

impl Assembly {
    fn new() -> Assembly {
        Assembly::default()
    }

    fn code(mut self, bytes: &[u8]) -> Assembly {
        self.bytes.extend(bytes);
        self
    }

    fn label(mut self, name: &'static str) -> Assembly {
        assert!(self.labels.insert(name, self.bytes.len()).is_none(), "{name} is there twice");
        self
    }

    fn jump(mut self, opcode: u8, label: &'static str) -> Assembly {
        let width = if matches!(opcode, op::GOTO_W | op::JSR_W) { 4 } else { 2 };
        let at = self.bytes.len();
        self.bytes.push(opcode);
        self.jumps.push((self.bytes.len(), at, label, width));
        self.bytes.extend(vec![0; width]);
        self
    }

    /// Adds one to the static field.
    fn counts(self, assembler: &Assembler) -> Assembly {
        let [high, low] = assembler.count.to_be_bytes();
        self.code(&[op::GETSTATIC, high, low, op::ICONST_1, op::IADD, op::PUTSTATIC, high, low])
    }

    fn handler(
        mut self,
        start: &'static str,
        end: &'static str,
        target: &'static str,
        class: Option<&'static str>,
    ) -> Assembly {
        self.handlers.push((start, end, target, class));
        self
    }

    fn finish(mut self) -> (Vec<u8>, Vec<AssembledHandler>) {
        for (at, jump, label, width) in &self.jumps {
            let offset = self.labels[label] as i32 - *jump as i32;
            let bytes = offset.to_be_bytes();
            self.bytes[*at..at + width].copy_from_slice(&bytes[4 - width..]);
        }
        let place = |label: &str| u16::try_from(self.labels[label]).unwrap();
        let handlers = self
            .handlers
            .iter()
            .map(|(start, end, target, class)| (place(start), place(end), place(target), *class));
        (self.bytes.clone(), handlers.collect())
    }
}

/// The methods of class `Old`; each takes an `int`, and some an object before it.
#[allow(clippy::too_many_lines, reason = "one block for each method")]
fn old_class() -> Vec<u8> {
    let mut old = Assembler::new("Old");

    // try { return 10 / x; } finally { count++; }
    let code = Assembly::new()
        .label("try")
        .code(&[op::BIPUSH, 10, op::ILOAD_0, op::IDIV, op::ISTORE_1])
        .label("end")
        .jump(op::JSR, "finally")
        .code(&[op::ILOAD_1, op::IRETURN])
        .label("handler")
        .code(&[op::ASTORE_2])
        .jump(op::JSR, "finally")
        .code(&[op::ALOAD_2, op::ATHROW])
        .label("finally")
        .code(&[op::ASTORE_3])
        .counts(&old)
        .code(&[op::RET, 3])
        .handler("try", "end", "handler", None);
    old.method("finallyTwice", "(I)I", 4, code);

    // A subroutine that calls another, called from two places.
    let code = Assembly::new()
        .code(&[op::ICONST_0, op::ISTORE_1])
        .jump(op::JSR, "outer")
        .code(&[op::ILOAD_0])
        .jump(op::IFEQ, "done")
        .jump(op::JSR_W, "outer")
        .label("done")
        .code(&[op::ILOAD_1, op::IRETURN])
        .label("outer")
        .code(&[op::ASTORE_2, op::IINC, 1, 10])
        .jump(op::JSR, "inner")
        .code(&[op::IINC, 1, 100])
        .jump(op::JSR, "inner")
        .code(&[op::RET, 2])
        .label("inner")
        .code(&[op::ASTORE_3, op::IINC, 1, 1])
        .counts(&old)
        .code(&[op::RET, 3]);
    old.method("nested", "(I)I", 4, code);

    // synchronized (lock) { return 10 / x; }, with one exit that both ways out call.
    let code = Assembly::new()
        .code(&[op::ALOAD_0, op::ASTORE_2, op::ALOAD_2, op::MONITORENTER])
        .label("try")
        .code(&[op::BIPUSH, 10, op::ILOAD_1, op::IDIV, op::ISTORE_3])
        .label("end")
        .jump(op::JSR, "unlock")
        .code(&[op::ILOAD_3, op::IRETURN])
        .label("handler")
        .code(&[op::ASTORE, 4])
        .jump(op::JSR, "unlock")
        .code(&[op::ALOAD, 4, op::ATHROW])
        .label("unlock")
        .code(&[op::ASTORE, 5, op::ALOAD_2, op::MONITOREXIT, op::RET, 5])
        .handler("try", "end", "handler", None);
    old.method("locked", "(Ljava/lang/Object;I)I", 6, code);

    // Local variables beyond 255, and a subroutine that returns by one.
    let code = Assembly::new()
        .code(&[op::ILOAD_0, op::WIDE, op::ISTORE, 1, 44])
        .code(&[op::WIDE, op::IINC, 1, 44, 0x03, 0xe8])
        .jump(op::JSR, "subroutine")
        .code(&[op::WIDE, op::LLOAD, 1, 45, op::L2I, op::IRETURN])
        .label("subroutine")
        .code(&[op::WIDE, op::ASTORE, 1, 50, op::WIDE, op::ILOAD, 1, 44, op::I2L])
        .code(&[op::WIDE, op::LSTORE, 1, 45, op::WIDE, op::RET, 1, 50]);
    old.method("wide", "(I)I", 400, code);

    // The handler is also jumped to, with nothing in the place of the exception.
    let code = Assembly::new()
        .code(&[op::ILOAD_0])
        .jump(op::IFLE, "try")
        .code(&[op::ACONST_NULL])
        .jump(op::GOTO, "handler")
        .label("try")
        .code(&[op::BIPUSH, 10, op::ILOAD_0, op::IDIV])
        .label("end")
        .code(&[op::IRETURN])
        .label("handler")
        .jump(op::IFNULL, "null")
        .code(&[op::ICONST_1, op::IRETURN])
        .label("null")
        .code(&[op::ICONST_2, op::IRETURN])
        .handler("try", "end", "handler", Some("java/lang/ArithmeticException"));
    old.method("jumpToHandler", "(I)I", 1, code);

    // The very first instruction is a loop head.
    let code = Assembly::new()
        .label("head")
        .code(&[op::ILOAD_0])
        .jump(op::IFLE, "done")
        .code(&[op::IINC, 0, 0xfe])
        .counts(&old)
        .jump(op::GOTO_W, "head")
        .label("done")
        .code(&[op::ILOAD_0, op::IRETURN]);
    old.method("loopAtEntry", "(I)I", 1, code);

    // Code that nothing leads to, and that would be wrong if something did.
    let code = Assembly::new()
        .jump(op::GOTO, "live")
        .label("dead")
        .code(&[op::IADD, op::POP, op::POP])
        .jump(op::GOTO, "dead")
        .label("live")
        .code(&[op::ILOAD_0, op::IRETURN]);
    old.method("dead", "(I)I", 1, code);

    // A subroutine in a loop, with a loop of its own and a way out that does not return.
    let code = Assembly::new()
        .code(&[op::ICONST_1, op::ISTORE_1])
        .label("head")
        .jump(op::JSR, "subroutine")
        .code(&[op::IINC, 0, 0xff, op::ILOAD_0])
        .jump(op::IFNE, "head")
        .code(&[op::ILOAD_1, op::IRETURN])
        .label("subroutine")
        .code(&[op::ASTORE_2, op::ILOAD_0])
        .jump(op::IFLE, "out")
        .code(&[op::ICONST_2, op::ISTORE_3])
        .label("inner")
        .code(&[op::ILOAD_1, op::ILOAD_0, op::IMUL, op::ISTORE_1, op::IINC, 3, 0xff, op::ILOAD_3])
        .jump(op::IFNE, "inner")
        .code(&[op::RET, 2])
        .label("out")
        .code(&[op::BIPUSH, 77, op::IRETURN]);
    old.method("loopInSubroutine", "(I)I", 4, code);

    // while (x > 0) { try { } finally { x--; count++; if (x != 2) continue; } x -= 2; }: the
    // subroutine is left without returning, and called again.
    let code = Assembly::new()
        .label("head")
        .code(&[op::ILOAD_0])
        .jump(op::IFLE, "done")
        .jump(op::JSR, "subroutine")
        .code(&[op::IINC, 0, 0xfe])
        .jump(op::GOTO, "head")
        .label("subroutine")
        .code(&[op::ASTORE_2, op::IINC, 0, 0xff])
        .counts(&old)
        .code(&[op::ILOAD_0, op::ICONST_2])
        .jump(op::IF_ICMPNE, "head")
        .code(&[op::RET, 2])
        .label("done")
        .code(&[op::ILOAD_0, op::IRETURN]);
    old.method("continueInFinally", "(I)I", 3, code);

    // The variable that the subroutine does not touch differs between its two callers.
    let code = Assembly::new()
        .code(&[op::ILOAD_0])
        .jump(op::IFEQ, "other")
        .code(&[op::BIPUSH, 5, op::ISTORE_1])
        .jump(op::JSR, "subroutine")
        .code(&[op::ILOAD_1, op::IRETURN])
        .label("other")
        .code(&[op::ACONST_NULL, op::ASTORE, 1])
        .jump(op::JSR, "subroutine")
        .code(&[op::ALOAD, 1])
        .jump(op::IFNULL, "null")
        .code(&[op::ICONST_1, op::IRETURN])
        .label("null")
        .code(&[op::ICONST_2, op::IRETURN])
        .label("subroutine")
        .code(&[op::ASTORE_2])
        .counts(&old)
        .code(&[op::RET, 2]);
    old.method("differentCallers", "(I)I", 3, code);

    old.finish("Old")
}

const METHODS: [&str; 10] = [
    "finallyTwice",
    "nested",
    "locked",
    "wide",
    "jumpToHandler",
    "loopAtEntry",
    "dead",
    "loopInSubroutine",
    "continueInFinally",
    "differentCallers",
];
const ARGUMENTS: [i32; 4] = [0, 1, 5, -3];

/// The assembled class, and a program that calls all its methods and prints what comes of it.
fn old_program() -> &'static (JavaProgram, Program) {
    static PROGRAM: OnceLock<(JavaProgram, Program)> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let java = JavaProgram::of_classes(&[("Old", old_class())]);
        let mut driver = String::from("class Driver { public static void main(String[] a) {\n");
        for name in METHODS {
            for argument in ARGUMENTS {
                let object = if name == "locked" { "new Object(), " } else { "" };
                driver.push_str(&format!(
                    "Old.count = 0; System.out.print(\"{name} {argument} \");\n\
                     try {{ System.out.print(Old.{name}({object}{argument})); }}\n\
                     catch (ArithmeticException e) {{ System.out.print(\"failed\"); }}\n\
                     System.out.println(\" \" + Old.count);\n"
                ));
            }
        }
        driver.push_str("} }");
        java.add(&[("Driver.java", &driver)], &["-Xlint:none"]);
        let program = java.read();
        (java, program)
    })
}

fn old_method(program: &Program, name: &str) -> MethodId {
    let class = program.class_named("Old").unwrap();
    let methods = &program.classes[class].methods;
    *methods.iter().find(|method| &*program.methods[**method].name == name).unwrap()
}

#[test]
fn old_code_means_what_the_virtual_machine_says() {
    let (java, program) = old_program();
    let class = program.class_named("Old").unwrap();
    let object = program.class_named("java/lang/Object").unwrap();
    let count = program.classes[class].fields[0];
    let mut found = String::new();
    for name in METHODS {
        for argument in ARGUMENTS {
            let mut interpreter = Interpreter::new(program);
            let mut arguments = vec![Value::Int(argument)];
            if name == "locked" {
                arguments.insert(0, interpreter.allocate(object));
            }
            let result = match interpreter.call(old_method(program, name), &arguments) {
                Ok(Some(Value::Int(number))) => number.to_string(),
                Ok(other) => panic!("{name}({argument}) returned {other:?}"),
                Err(thrown) => {
                    let class = interpreter.class_of_thrown(thrown);
                    assert_eq!(class, "java.lang.ArithmeticException");
                    "failed".to_string()
                }
            };
            let Value::Int(count) = interpreter.static_field(count) else { panic!("an int") };
            found.push_str(&format!("{name} {argument} {result} {count}\n"));
        }
    }
    assert_eq!(found, java.run("Driver"));
}

#[test]
fn old_code_is_well_formed() {
    let (_, program) = old_program();
    for name in METHODS {
        let body = program.body(old_method(program, name)).unwrap();
        assert_eq!(verifier::flaw(body), None, "{}", print_body(program, body));
        assert_eq!(monitor_regions(body).unstructured_at, None, "{}", print_body(program, body));
    }
}

#[test]
fn every_call_of_a_subroutine_has_its_own_copy() {
    let (_, program) = old_program();
    let count = |name: &str, wanted: fn(&Operation) -> bool| {
        let body = program.body(old_method(program, name)).unwrap();
        body.instructions().filter(|instruction| wanted(&instruction.operation)).count()
    };
    let writes = |operation: &Operation| matches!(operation, Operation::PutStatic { .. });
    let exits = |operation: &Operation| matches!(operation, Operation::MonitorExit(_));
    assert_eq!(count("finallyTwice", writes), 2);
    assert_eq!(count("nested", writes), 4, "two calls of a subroutine with two calls");
    assert_eq!(count("locked", exits), 2);
    assert_eq!(count("dead", |_| true), 0, "dead code is left out");
}

#[test]
fn a_handler_that_is_jumped_to_has_a_block_of_its_own() {
    let (_, program) = old_program();
    let body = program.body(old_method(program, "jumpToHandler")).unwrap();
    let landing: Vec<_> = body.blocks.iter().filter(|block| block.caught.is_some()).collect();
    assert_eq!(landing.len(), 1, "{}", print_body(program, body));
    assert!(landing[0].instructions.is_empty());
    let entry = program.body(old_method(program, "loopAtEntry")).unwrap();
    let first = entry.blocks.iter().next().unwrap();
    assert!(first.predecessors.is_empty() && first.instructions.is_empty());
}

/// No verifier accepts a subroutine that calls itself, through a handler or directly. We only have to
/// end, and soon.
#[test]
fn subroutines_that_call_themselves_end() {
    let mut endless = Assembler::new("Endless");
    let code = Assembly::new()
        .label("start")
        .jump(op::JSR, "subroutine")
        .code(&[op::ICONST_0, op::IRETURN])
        .label("subroutine")
        .code(&[op::ASTORE_2])
        .counts(&endless)
        .code(&[op::RET, 2])
        .label("end")
        .label("handler")
        .code(&[op::POP])
        .jump(op::JSR, "subroutine")
        .jump(op::JSR, "subroutine")
        .code(&[op::ICONST_1, op::IRETURN])
        .handler("start", "end", "handler", None);
    endless.method("handler", "(I)I", 4, code);
    let code = Assembly::new()
        .label("subroutine")
        .jump(op::JSR, "subroutine")
        .code(&[op::ICONST_0, op::IRETURN]);
    endless.method("itself", "(I)I", 4, code);
    let bytes = endless.finish("Endless");
    let load_config = classes::LoadConfig::default();
    let loaded = classes::load_bytes("Endless.class", bytes.into(), &load_config, &());
    let config = program::BuildConfig::default();
    let mut program = program::build(loaded.unwrap(), None, &config);
    program.lower_bodies(&|| false);
    for name in ["handler", "itself"] {
        let method = program.method_named("Endless", name, "(I)I").unwrap();
        let body = program.body(method).expect("a few copies of the subroutine are enough");
        assert!(body.blocks.len() < 30, "{name} has {} blocks", body.blocks.len());
        assert_eq!(verifier::flaw(body), None, "{name}");
    }
}

/// What the compiler of today still writes for Java 7: inlined `finally`, no `invokedynamic`.
#[test]
fn code_for_java_7_means_the_same() {
    let source = r#"
        class Seven {
            static int count;
            static int run(int x) {
                int total = 0;
                outer:
                for (int i = 0; i < 5; i++) {
                    try {
                        synchronized (Seven.class) {
                            if (i == x) continue outer;
                            total += 12 / (x - 1 - i);
                        }
                    } catch (ArithmeticException e) {
                        total += 1000;
                        if (x == 4) return total;
                    } finally {
                        count++;
                        try { total += 100 / (x - 3); } finally { total++; }
                    }
                }
                return total;
            }
            public static void main(String[] arguments) {
                for (int x = 0; x < 7; x++) {
                    count = 0;
                    String result;
                    try { result = "" + run(x); } catch (ArithmeticException e) { result = "failed"; }
                    System.out.println(x + " " + result + " " + count);
                }
            }
        }"#;
    let java = JavaProgram::compile_with(
        &[("Seven.java", source)],
        &["--release", "7", "-Xlint:-options"],
    );
    let program = java.read();
    let run = program.method_named("Seven", "run", "(I)I").unwrap();
    let count = program.classes[program.class_named("Seven").unwrap()].fields[0];
    let mut found = String::new();
    for x in 0..7 {
        let mut interpreter = Interpreter::new(&program);
        let result = match interpreter.call(run, &[Value::Int(x)]) {
            Ok(Some(Value::Int(number))) => number.to_string(),
            Ok(other) => panic!("{other:?}"),
            Err(_) => "failed".to_string(),
        };
        let Value::Int(count) = interpreter.static_field(count) else { panic!("an int") };
        found.push_str(&format!("{x} {result} {count}\n"));
    }
    assert_eq!(found, java.run("Seven"));
}

//! Random methods, executed: what is said of their objects must hold for every one of them.

use std::sync::Arc;

use classes::bytecode::{Against, Condition, Instruction, InvokeKind, Kind, Literal, StackOp};
use classes::{ClassFile, Code, Handler, MemberRef, PoolIndex};
use proptest::prelude::*;

use crate::class_hierarchy::{ALL_PARAMETERS, Parameters};
use crate::plan::new_objects::{Entry, Known, ObjectFlow, Surroundings};

const SAMPLE: PoolIndex = PoolIndex(2);
const FIELD: PoolIndex = PoolIndex(8);
const CONSTRUCTOR: PoolIndex = PoolIndex(12);
const KEEP: PoolIndex = PoolIndex(16);
const USE: PoolIndex = PoolIndex(19);

/// The class `Sample`, with a field and methods that its pool names and that it does not declare.
fn sample() -> ClassFile {
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 20];
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend([1, 0, text.len() as u8]);
        bytes.extend(text.as_bytes());
    };
    text(&mut bytes, "Sample");
    bytes.extend([7, 0, 1]);
    text(&mut bytes, "java/lang/Object");
    bytes.extend([7, 0, 3]);
    text(&mut bytes, "field");
    text(&mut bytes, "LSample;");
    bytes.extend([12, 0, 5, 0, 6]);
    bytes.extend([9, 0, 2, 0, 7]);
    text(&mut bytes, "<init>");
    text(&mut bytes, "()V");
    bytes.extend([12, 0, 9, 0, 10]);
    bytes.extend([10, 0, 2, 0, 11]);
    text(&mut bytes, "keep");
    text(&mut bytes, "(LSample;)V");
    bytes.extend([12, 0, 13, 0, 14]);
    bytes.extend([10, 0, 2, 0, 15]);
    text(&mut bytes, "use");
    bytes.extend([12, 0, 17, 0, 14]);
    bytes.extend([10, 0, 2, 0, 18]);
    // Public, this class and the one above it; no interfaces, fields, methods and attributes.
    bytes.extend([0, 1, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    ClassFile::parse(Arc::from(bytes)).unwrap()
}

struct Outside;

impl Surroundings for Outside {
    fn kept(&self, _: &Instruction, method: &MemberRef<'_>) -> Parameters {
        if &**method.name == "keep" { ALL_PARAMETERS } else { 0 }
    }

    fn follows(&self, _: &Arc<str>) -> bool {
        true
    }
}

/// A method with four local variables: the parameter is in the first one.
struct Method {
    instructions: Vec<(u32, Instruction)>,
    code: Code,
}

const LOCALS: u16 = 4;

impl Method {
    /// Statements, each as three numbers; whatever they are, they mean something.
    fn of(statements: &[(u8, u8, u8)]) -> Method {
        let mut code = Vec::new();
        let mut begins = Vec::new();
        let mut jumps = Vec::new();
        let mut rows = Vec::new();
        let load = |slot: u8| Instruction::Load { kind: Kind::Ref, slot: u16::from(slot) % LOCALS };
        let store =
            |slot: u8| Instruction::Store { kind: Kind::Ref, slot: u16::from(slot) % LOCALS };
        let call = |kind, method| Instruction::Invoke { kind, method };
        for (statement, one, other) in statements {
            begins.push(code.len());
            match statement % 14 {
                0 | 1 => code.extend([
                    Instruction::New(SAMPLE),
                    Instruction::Stack(StackOp::Dup),
                    call(InvokeKind::Special, CONSTRUCTOR),
                    store(*one),
                ]),
                2 => code.extend([load(*one), store(*other)]),
                3 | 4 => code.extend([
                    load(*one),
                    Instruction::GetField(FIELD),
                    Instruction::Stack(StackOp::Pop),
                ]),
                5 => code.extend([load(*one), load(*other), Instruction::PutField(FIELD)]),
                6 => code.extend([
                    load(*one),
                    Instruction::Push(Literal::Null),
                    Instruction::PutField(FIELD),
                ]),
                7 => code.extend([load(*one), Instruction::PutStatic(FIELD)]),
                8 => code.extend([load(*one), call(InvokeKind::Static, KEEP)]),
                9 => code.extend([load(*one), call(InvokeKind::Static, USE)]),
                10 => code.extend([load(*one), Instruction::MonitorEnter]),
                11 => {
                    code.push(load(*one));
                    jumps.push((code.len(), usize::from(*other)));
                    code.push(Instruction::Nop);
                }
                12 => code.extend([load(*one), Instruction::CheckCast(SAMPLE), store(*other)]),
                _ => {
                    // What was thrown in statements before is caught here.
                    code.push(Instruction::Goto(code.len() as u32 + 2));
                    rows.push((usize::from(*one), usize::from(*other), code.len()));
                    code.push(Instruction::Stack(StackOp::Pop));
                }
            }
        }
        begins.push(code.len());
        code.push(Instruction::Return(None));
        for (at, statement) in jumps {
            code[at] = Instruction::Branch {
                condition: Condition::Eq,
                against: Against::Null,
                target: begins[statement % begins.len()] as u32,
            };
        }
        let handlers = rows.into_iter().map(|(from, to, target)| {
            let (from, to) = (from % begins.len(), to % begins.len());
            Handler {
                start: begins[from.min(to)] as u32,
                end: begins[from.max(to)] as u32,
                target: target as u32,
                catch_type: None,
            }
        });
        let code_of = Code {
            max_stack: 4,
            max_locals: LOCALS,
            range: 0..1,
            handlers: handlers.collect(),
            lines: Vec::new(),
            locals: Vec::new(),
        };
        let instructions = code.into_iter().enumerate().map(|(at, it)| (at as u32, it)).collect();
        Method { instructions, code: code_of }
    }

    fn objects(&self, is_constructor: bool) -> ObjectFlow {
        let descriptor = if is_constructor { "()V" } else { "(LSample;)V" };
        let entry = Entry::new(descriptor, !is_constructor, is_constructor).unwrap();
        ObjectFlow::of(&sample(), &self.code, &self.instructions, &entry, &Outside).unwrap()
    }
}

/// An execution, in which the numbers decide where it goes and what fails.
struct Execution<'a> {
    method: &'a Method,
    decisions: &'a [bool],
    decided: usize,
    /// Whether others know each object, which is a number; the first one is the parameter.
    escaped: Vec<bool>,
    /// The accesses that were made: where, to which object, and whether others knew it.
    accesses: Vec<(u32, usize, bool)>,
}

impl Execution<'_> {
    fn decide(&mut self) -> bool {
        self.decided += 1;
        self.decisions.get(self.decided - 1).copied().unwrap_or(false)
    }

    fn escape(&mut self, object: Option<usize>) {
        if let Some(object) = object {
            self.escaped[object] = true;
        }
    }

    fn run(&mut self) {
        let mut locals = vec![None; usize::from(LOCALS)];
        locals[0] = Some(0);
        let mut stack: Vec<Option<usize>> = Vec::new();
        let mut at = 0;
        for _ in 0..200 {
            let (offset, instruction) = &self.method.instructions[at];
            at += 1;
            let mut fails = instruction.may_throw() && self.decide() && self.decide();
            match instruction {
                Instruction::New(_) => {
                    self.escaped.push(false);
                    stack.push(Some(self.escaped.len() - 1));
                }
                Instruction::Stack(StackOp::Dup) => stack.push(*stack.last().unwrap()),
                Instruction::Stack(_) => drop(stack.pop().unwrap()),
                Instruction::Load { slot, .. } => stack.push(locals[usize::from(*slot)]),
                Instruction::Store { slot, .. } => {
                    locals[usize::from(*slot)] = stack.pop().unwrap();
                }
                Instruction::Push(_) => stack.push(None),
                Instruction::GetField(_) | Instruction::PutField(_) => {
                    let value = match instruction {
                        Instruction::PutField(_) => stack.pop().unwrap(),
                        _ => None,
                    };
                    match stack.pop().unwrap() {
                        Some(object) => {
                            self.accesses.push((*offset, object, self.escaped[object]));
                            self.escape(value);
                        }
                        None => fails = true,
                    }
                    if matches!(instruction, Instruction::GetField(_)) {
                        // Whatever it is, somebody has put it there.
                        stack.push(None);
                    }
                }
                Instruction::PutStatic(_) | Instruction::MonitorEnter => {
                    let object = stack.pop().unwrap();
                    self.escape(object);
                }
                Instruction::Invoke { method, .. } => {
                    let object = stack.pop().unwrap();
                    if *method == KEEP {
                        self.escape(object);
                    }
                }
                Instruction::CheckCast(_) => {}
                Instruction::Goto(target) => at = *target as usize,
                Instruction::Branch { target, .. } => {
                    stack.pop();
                    if self.decide() {
                        at = *target as usize;
                    }
                }
                Instruction::Return(_) => return,
                other => unreachable!("{other:?}"),
            }
            if fails {
                let handlers = &self.method.code.handlers;
                let covers = |row: &&Handler| (row.start..row.end).contains(offset);
                let Some(handler) = handlers.iter().find(covers) else { return };
                stack.clear();
                stack.push(None);
                at = handler.target as usize;
            }
        }
    }
}

fn executed<'a>(method: &'a Method, decisions: &'a [bool]) -> Execution<'a> {
    let mut execution =
        Execution { method, decisions, decided: 0, escaped: vec![false], accesses: Vec::new() };
    execution.run();
    execution
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_objects_holds_for_all_executions(
        statements in prop::collection::vec(any::<(u8, u8, u8)>(), 1..24),
        runs in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..80), 12),
        is_constructor in any::<bool>(),
    ) {
        let method = Method::of(&statements);
        let objects = method.objects(is_constructor);
        for decisions in &runs {
            let execution = executed(&method, decisions);
            if execution.escaped[0] {
                prop_assert!(objects.kept() & 1 != 0, "{:?}", method.instructions);
            }
            for (offset, object, was_known) in &execution.accesses {
                match objects.known(*offset) {
                    Some(Known::ToMethod) => {
                        prop_assert!(*object != 0 && !execution.escaped[*object], "{offset}: {:?}", method.instructions);
                    }
                    Some(Known::ToThread) => {
                        prop_assert!((*object != 0 || is_constructor) && !was_known, "{offset}: {:?}", method.instructions);
                    }
                    None => {}
                }
            }
        }
    }
}

/// What is known of the accesses of a method that are executed, one after the other.
fn known(statements: &[(u8, u8, u8)], is_constructor: bool) -> Vec<Option<Known>> {
    let method = Method::of(statements);
    let objects = method.objects(is_constructor);
    let accesses = executed(&method, &[]).accesses;
    accesses.into_iter().map(|(offset, ..)| objects.known(offset)).collect()
}

const NEW: u8 = 0;
const MOVE: u8 = 2;
const GET: u8 = 3;
const PUT: u8 = 5;
const PUBLISH: u8 = 7;
const CALL_THAT_KEEPS: u8 = 8;
const CALL: u8 = 9;
const JUMP: u8 = 11;

#[test]
fn an_object_that_is_never_let_go_is_known_to_the_method() {
    let method = [(NEW, 1, 0), (GET, 1, 0), (CALL, 1, 0), (MOVE, 1, 2), (GET, 2, 0)];
    assert_eq!(known(&method, false), [Some(Known::ToMethod); 2]);
}

#[test]
fn an_object_that_is_let_go_is_known_to_the_thread_before() {
    let method = [(NEW, 1, 0), (GET, 1, 0), (PUBLISH, 1, 0), (GET, 1, 0)];
    assert_eq!(known(&method, false), [Some(Known::ToThread), None]);
    let method = [(NEW, 1, 0), (GET, 1, 0), (CALL_THAT_KEEPS, 1, 0), (GET, 1, 0)];
    assert_eq!(known(&method, false), [Some(Known::ToThread), None]);
    let method = [(NEW, 1, 0), (PUT, 0, 1), (GET, 1, 0)];
    assert_eq!(known(&method, false), [None, None]);
}

#[test]
fn a_parameter_is_known_to_others_and_an_object_under_construction_is_not() {
    assert_eq!(known(&[(GET, 0, 0)], false), [None]);
    let constructor = [(GET, 0, 0), (PUBLISH, 0, 0), (GET, 0, 0)];
    assert_eq!(known(&constructor, true), [Some(Known::ToThread), None]);
}

#[test]
fn the_object_of_an_earlier_iteration_is_another() {
    let method =
        [(NEW, 1, 0), (GET, 2, 0), (GET, 1, 0), (MOVE, 1, 2), (JUMP, 0, 0), (PUBLISH, 2, 0)];
    let instructions = Method::of(&method);
    let objects = instructions.objects(false);
    let gets =
        instructions.instructions.iter().filter(|(_, it)| matches!(it, Instruction::GetField(_)));
    let known: Vec<_> = gets.map(|(offset, _)| objects.known(*offset)).collect();
    // The first is an older object, and objects of this place are published; the second is not yet.
    assert_eq!(known, [None, Some(Known::ToThread)]);
}

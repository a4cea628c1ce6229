//! Trees as numbers, for a walker in Java that reads them from an `int[]`.
//!
//! [`TreeWord`] is the one table of what the numbers mean. A *list* is the count of the numbers that follow,
//! and then its steps. A step is its opcode, its site, and what the meaning of the opcode names, in that
//! order; a walker skips a list by its count. Two numbers stand for an operand, for an index and for a way:
//! what it is, and a value.

use classes::bytecode::{Condition, InvokeKind};

use crate::conditions::RepeatedCondition;
use crate::tree::{
    FieldRef, Guard, Index, LeaveReason, MethodRef, Operand, Register, Side, Step, StepKind, Term,
    Way,
};

macro_rules! tree_words {
    ($($(#[doc = $meaning:literal])+ $word:ident = $number:literal,)+) => {
        /// A number in an encoded tree. The first part of the name says where it may stand; numbers differ
        /// within such a group.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum TreeWord {
            $($(#[doc = $meaning])+ $word,)+
        }

        impl TreeWord {
            /// Every word, in the order of the table.
            pub const ALL: &'static [TreeWord] = &[$(TreeWord::$word,)+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(TreeWord::$word => stringify!($word),)+
                }
            }

            /// The number that stands for it.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(TreeWord::$word => $number,)+
                }
            }

            /// What follows it.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(TreeWord::$word => concat!($($meaning),+),)+
                }
            }
        }
    };
}

tree_words! {
    /// A field is read: register of the object, field.
    StepRead = 1,
    /// A field is written: register of the object, field.
    StepWrite = 2,
    /// A static field is read: field.
    StepReadStatic = 3,
    /// A static field is written: field.
    StepWriteStatic = 4,
    /// An element is read: register of the array, index.
    StepReadElement = 5,
    /// An element is written: register of the array, index.
    StepWriteElement = 6,
    /// No access: register to assign, register of the object, field.
    StepLoad = 7,
    /// No access: register to assign, field.
    StepLoadStatic = 8,
    /// No access: register to assign, register of the array, index.
    StepLoadElement = 9,
    /// A reference is assigned in a copy: register of the object, field, operand.
    StepStore = 10,
    /// A reference is assigned in a copy: field, operand.
    StepStoreStatic = 11,
    /// A reference is assigned in a copy: register of the array, index, operand.
    StepStoreElement = 12,
    /// A new object: register to assign.
    StepFresh = 13,
    /// The object of a class: register to assign, class.
    StepClassObject = 14,
    /// A variable of a loop: register to assign, operand.
    StepSet = 15,
    /// A monitor is entered: operand.
    StepEnter = 16,
    /// A monitor is left: operand.
    StepExit = 17,
    /// A call: kind, method, register to assign or -1, count of operands, operands.
    StepCall = 18,
    /// A choice: number of its condition, 0 if no other choice has it; flags of the condition; count of sides; for each its ways as a count and that many ways, its guard as a list, which is empty when nothing is known, and its steps as a list.
    StepChoice = 19,
    /// A loop: its body as a list.
    StepTwice = 20,
    /// The path leaves lists: how many levels, reason.
    StepLeave = 21,
    /// What a register holds: register.
    OperandRegister = 0,
    /// `null`: 0.
    OperandNull = 1,
    /// A number: the number.
    OperandInt = 2,
    /// Not known: 0.
    OperandUnknown = 3,
    /// The branch jumps: 0.
    WayTaken = 0,
    /// The branch does not jump: 0.
    WayNotTaken = 1,
    /// A number of a switch: the number.
    WayCase = 2,
    /// The default of a switch: 0.
    WayDefault = 3,
    /// The reference is null: term.
    GuardIsNull = 1,
    /// The reference is not null: term.
    GuardNotNull = 2,
    /// The reference is an instance: class, term.
    GuardInstanceOf = 3,
    /// The reference is no instance: class, term.
    GuardNotInstanceOf = 4,
    /// Both references are the same: term, term.
    GuardSame = 5,
    /// The references differ: term, term.
    GuardNotSame = 6,
    /// The numbers compare so: condition, term, term.
    GuardCompare = 7,
    /// The number is one of these: term, count, numbers.
    GuardOneOf = 8,
    /// The number is none of these: term, count, numbers.
    GuardNoneOf = 9,
    /// What a register holds: register.
    TermRegister = 0,
    /// A number: the number.
    TermConstant = 1,
    /// What final fields lead to: register or -1, count, sites that name the fields.
    TermPath = 2,
    /// The method holds the monitor of its receiver or class.
    MethodIsSynchronized = 1,
    /// The method is private: it overrides none, and none overrides it.
    MethodIsPrivate = 2,
    /// The method is static.
    MethodIsStatic = 4,
    /// The value of the condition may have changed since the last choice that has it.
    FlagRenewed = 1,
    /// The condition is false where the branch jumps.
    FlagNegated = 2,
    /// `==`.
    ConditionEq = 0,
    /// `!=`.
    ConditionNe = 1,
    /// `<`.
    ConditionLt = 2,
    /// `>=`.
    ConditionGe = 3,
    /// `>`.
    ConditionGt = 4,
    /// `<=`.
    ConditionLe = 5,
    /// `invokestatic`.
    CallStatic = 0,
    /// `invokespecial`.
    CallSpecial = 1,
    /// `invokevirtual`.
    CallVirtual = 2,
    /// `invokeinterface`.
    CallInterface = 3,
    /// It goes on behind an enclosing choice or loop, or with the next iteration.
    LeaveJump = 0,
    /// It returns, or goes where the summary does not go on.
    LeaveReturn = 1,
    /// It throws.
    LeaveThrow = 2,
    /// It leaves a monitor that was entered outside of the list, and does more that is left out.
    LeaveMonitor = 3,
}

/// The numbers of what trees name.
pub trait Names {
    /// The number of a field.
    fn field(&mut self, field: &FieldRef) -> i32;
    /// The number of a method.
    fn method(&mut self, method: &MethodRef) -> i32;
    /// The number of a class, given in internal form.
    fn class(&mut self, class: &str) -> i32;
    /// The number of a place in the method that the tree is of.
    fn site(&mut self, offset: u32) -> i32;
    /// The number of a place in the method that reads a field.
    fn site_of_field(&mut self, field: &FieldRef) -> i32;
    /// The condition of a branch, if another one may have it, too.
    fn condition(&self, offset: u32) -> Option<RepeatedCondition>;
}

/// A list of steps as numbers, without the count in front.
pub fn encode(steps: &[Step], names: &mut dyn Names) -> Vec<i32> {
    let mut encoder = Encoder { words: Vec::new(), names };
    steps.iter().for_each(|step| encoder.step(step));
    encoder.words
}

/// The two numbers that stand for an operand.
#[must_use]
pub fn encode_operand(operand: Operand) -> [i32; 2] {
    let (word, value) = match operand {
        Operand::Register(register) => (TreeWord::OperandRegister, register.0.cast_signed()),
        Operand::Null => (TreeWord::OperandNull, 0),
        Operand::Int(number) => (TreeWord::OperandInt, number),
        Operand::Unknown => (TreeWord::OperandUnknown, 0),
    };
    [word.number(), value]
}

struct Encoder<'a> {
    words: Vec<i32>,
    names: &'a mut dyn Names,
}

impl Encoder<'_> {
    fn word(&mut self, word: TreeWord) {
        self.words.push(word.number());
    }

    fn number(&mut self, number: i32) {
        self.words.push(number);
    }

    fn count(&mut self, count: usize) {
        // Lists are bounded by the size of a method.
        self.words.push(i32::try_from(count).unwrap_or(i32::MAX));
    }

    fn register(&mut self, register: Register) {
        self.words.push(register.0.cast_signed());
    }

    fn field(&mut self, field: &FieldRef) {
        let number = self.names.field(field);
        self.words.push(number);
    }

    fn class(&mut self, class: &str) {
        let number = self.names.class(class);
        self.words.push(number);
    }

    /// Writes a list, and the count of its numbers in front of it.
    fn list(&mut self, write: impl FnOnce(&mut Self)) {
        let at = self.words.len();
        self.words.push(0);
        write(self);
        let count = self.words.len() - at - 1;
        self.words[at] = i32::try_from(count).unwrap_or(i32::MAX);
    }

    fn operand(&mut self, operand: Operand) {
        self.words.extend(encode_operand(operand));
    }

    fn index(&mut self, index: Index) {
        self.operand(match index {
            Index::Constant(number) => Operand::Int(number),
            Index::Root(register) => Operand::Register(register),
        });
    }

    fn step(&mut self, step: &Step) {
        let opcode = match &step.kind {
            StepKind::Read { .. } => TreeWord::StepRead,
            StepKind::Write { .. } => TreeWord::StepWrite,
            StepKind::ReadStatic { .. } => TreeWord::StepReadStatic,
            StepKind::WriteStatic { .. } => TreeWord::StepWriteStatic,
            StepKind::ReadElement { .. } => TreeWord::StepReadElement,
            StepKind::WriteElement { .. } => TreeWord::StepWriteElement,
            StepKind::Load { .. } => TreeWord::StepLoad,
            StepKind::LoadStatic { .. } => TreeWord::StepLoadStatic,
            StepKind::LoadElement { .. } => TreeWord::StepLoadElement,
            StepKind::Store { .. } => TreeWord::StepStore,
            StepKind::StoreStatic { .. } => TreeWord::StepStoreStatic,
            StepKind::StoreElement { .. } => TreeWord::StepStoreElement,
            StepKind::Fresh { .. } => TreeWord::StepFresh,
            StepKind::ClassObject { .. } => TreeWord::StepClassObject,
            StepKind::Set { .. } => TreeWord::StepSet,
            StepKind::Enter { .. } => TreeWord::StepEnter,
            StepKind::Exit { .. } => TreeWord::StepExit,
            StepKind::Call { .. } => TreeWord::StepCall,
            StepKind::Choice { .. } => TreeWord::StepChoice,
            StepKind::Twice { .. } => TreeWord::StepTwice,
            StepKind::Leave { .. } => TreeWord::StepLeave,
        };
        self.word(opcode);
        let site = self.names.site(step.offset);
        self.number(site);
        match &step.kind {
            StepKind::Read { base, field } | StepKind::Write { base, field } => {
                self.register(*base);
                self.field(field);
            }
            StepKind::ReadStatic { field } | StepKind::WriteStatic { field } => self.field(field),
            StepKind::ReadElement { array, index } | StepKind::WriteElement { array, index } => {
                self.register(*array);
                self.index(*index);
            }
            StepKind::Load { into, base, field } => {
                self.register(*into);
                self.register(*base);
                self.field(field);
            }
            StepKind::LoadStatic { into, field } => {
                self.register(*into);
                self.field(field);
            }
            StepKind::LoadElement { into, array, index } => {
                self.register(*into);
                self.register(*array);
                self.index(*index);
            }
            StepKind::Store { base, field, value } => {
                self.register(*base);
                self.field(field);
                self.operand(*value);
            }
            StepKind::StoreStatic { field, value } => {
                self.field(field);
                self.operand(*value);
            }
            StepKind::StoreElement { array, index, value } => {
                self.register(*array);
                self.index(*index);
                self.operand(*value);
            }
            StepKind::Fresh { into } => self.register(*into),
            StepKind::ClassObject { into, class } => {
                self.register(*into);
                self.class(class);
            }
            StepKind::Set { into, value } => {
                self.register(*into);
                self.operand(*value);
            }
            StepKind::Enter { lock } | StepKind::Exit { lock } => self.operand(*lock),
            StepKind::Call { kind, method, arguments, result } => {
                self.word(match kind {
                    InvokeKind::Static => TreeWord::CallStatic,
                    InvokeKind::Special => TreeWord::CallSpecial,
                    InvokeKind::Virtual => TreeWord::CallVirtual,
                    InvokeKind::Interface => TreeWord::CallInterface,
                });
                let method = self.names.method(method);
                self.number(method);
                self.optional_register(*result);
                self.count(arguments.len());
                arguments.iter().for_each(|argument| self.operand(*argument));
            }
            StepKind::Choice { sides } => {
                self.condition(step.offset);
                self.count(sides.len());
                sides.iter().for_each(|side| self.side(side));
            }
            StepKind::Twice { body } => {
                self.list(|encoder| body.iter().for_each(|step| encoder.step(step)));
            }
            StepKind::Leave { levels, reason } => {
                self.number(levels.cast_signed());
                self.word(match reason {
                    LeaveReason::Jump => TreeWord::LeaveJump,
                    LeaveReason::Return => TreeWord::LeaveReturn,
                    LeaveReason::Throw => TreeWord::LeaveThrow,
                    LeaveReason::Monitor => TreeWord::LeaveMonitor,
                });
            }
        }
    }

    fn condition(&mut self, offset: u32) {
        let (mut number, mut flags) = (0, 0);
        if let Some(condition) = self.names.condition(offset) {
            number = condition.number.cast_signed();
            if condition.is_renewed {
                flags |= TreeWord::FlagRenewed.number();
            }
            if condition.is_negated {
                flags |= TreeWord::FlagNegated.number();
            }
        }
        self.number(number);
        self.number(flags);
    }

    fn optional_register(&mut self, register: Option<Register>) {
        self.number(register.map_or(-1, |register| register.0.cast_signed()));
    }

    fn side(&mut self, side: &Side) {
        self.count(side.ways.len());
        for way in &side.ways {
            let (word, value) = match way {
                Way::Taken => (TreeWord::WayTaken, 0),
                Way::NotTaken => (TreeWord::WayNotTaken, 0),
                Way::Case(number) => (TreeWord::WayCase, *number),
                Way::Default => (TreeWord::WayDefault, 0),
            };
            self.word(word);
            self.number(value);
        }
        self.list(|encoder| {
            if let Some(guard) = &side.guard {
                encoder.guard(guard);
            }
        });
        self.list(|encoder| side.steps.iter().for_each(|step| encoder.step(step)));
    }

    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::IsNull(term) => {
                self.word(TreeWord::GuardIsNull);
                self.term(term);
            }
            Guard::NotNull(term) => {
                self.word(TreeWord::GuardNotNull);
                self.term(term);
            }
            Guard::InstanceOf(term, class) => {
                self.word(TreeWord::GuardInstanceOf);
                self.class(class);
                self.term(term);
            }
            Guard::NotInstanceOf(term, class) => {
                self.word(TreeWord::GuardNotInstanceOf);
                self.class(class);
                self.term(term);
            }
            Guard::Same(one, other) => {
                self.word(TreeWord::GuardSame);
                self.term(one);
                self.term(other);
            }
            Guard::NotSame(one, other) => {
                self.word(TreeWord::GuardNotSame);
                self.term(one);
                self.term(other);
            }
            Guard::Compare(one, condition, other) => {
                self.word(TreeWord::GuardCompare);
                self.word(match condition {
                    Condition::Eq => TreeWord::ConditionEq,
                    Condition::Ne => TreeWord::ConditionNe,
                    Condition::Lt => TreeWord::ConditionLt,
                    Condition::Ge => TreeWord::ConditionGe,
                    Condition::Gt => TreeWord::ConditionGt,
                    Condition::Le => TreeWord::ConditionLe,
                });
                self.term(one);
                self.term(other);
            }
            Guard::OneOf(term, numbers) => {
                self.word(TreeWord::GuardOneOf);
                self.term(term);
                self.numbers(numbers);
            }
            Guard::NoneOf(term, numbers) => {
                self.word(TreeWord::GuardNoneOf);
                self.term(term);
                self.numbers(numbers);
            }
        }
    }

    fn numbers(&mut self, numbers: &[i32]) {
        self.count(numbers.len());
        self.words.extend(numbers);
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Register(register) => {
                self.word(TreeWord::TermRegister);
                self.register(*register);
            }
            Term::Constant(number) => {
                self.word(TreeWord::TermConstant);
                self.number(*number);
            }
            Term::Path { base, fields } => {
                self.word(TreeWord::TermPath);
                self.optional_register(*base);
                self.count(fields.len());
                for field in fields {
                    let site = self.names.site_of_field(field);
                    self.number(site);
                }
            }
        }
    }
}

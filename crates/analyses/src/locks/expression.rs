//! Locking expressions: how the code names a lock (paper, 4.1).
//!
//! Two locks count as equal when they are written the same way: `this`, a parameter, a local
//! variable, a static field or a class literal, followed by at most [`MOST_STEPS`] fields and array
//! elements. An expression that is longer, or that cannot be rebuilt from the bytecode, has no
//! value here and stands for the paper's `*`: a lock unequal to every other.
//!
//! Beyond the paper: a getter that returns such an expression is looked through; the value that a
//! lambda captured is a step; the views of a collection (iterators, key sets) lead back to it; and
//! the read and write halves of a lock are that lock.

use std::cell::RefCell;

use classes::bytecode::Literal;
use classes::descriptor::parse_method;
use program::callgraph::{CallGraph, CallKind, Target, created_lambda};
use program::ids::{ClassId, FieldId, LambdaId, MethodId, TypedVec, ValueId};
use program::ir::{Body, Call, Constant, DeclaredType, Definition, Operation, Terminator};
use program::models::{Effect, Operand};
use program::{Method, Program, summaries};
use rustc_hash::FxHashMap;

use crate::source_names::{captured_name, class_name, field_name};

/// Fields and array elements in an expression, at most.
pub const MOST_STEPS: usize = 4;

/// A getter worth looking through is short.
const GETTER_BLOCKS: usize = 8;

/// Definitions are followed back through at most this many others.
const MOST_DEPTH: usize = 16;

/// Where a locking expression starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionRoot {
    /// A parameter, the receiver being 0.
    Parameter(u16),
    /// A static field.
    Static(FieldId),
    /// A class literal.
    Class(ClassId),
    /// A value of the method at hand; it means nothing outside.
    Local(ValueId),
}

/// One step from an object to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathElement {
    /// Not used.
    None,
    /// A field.
    Field(FieldId),
    /// An array element.
    Element(ElementIndex),
    /// A view of a collection, such as its iterator.
    View,
    /// What a lambda captured, by position.
    Captured(LambdaId, u16),
}

/// The index of an array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementIndex {
    /// A constant.
    Constant(i32),
    /// A parameter.
    Parameter(u16),
    /// A value of the method at hand.
    Local(ValueId),
}

/// A locking expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockExpression {
    /// Where it starts.
    pub root: ExpressionRoot,
    steps: [PathElement; MOST_STEPS],
    length: u8,
}

impl LockExpression {
    /// The expression that is only a root.
    #[must_use]
    pub fn new(root: ExpressionRoot) -> LockExpression {
        LockExpression { root, steps: [PathElement::None; MOST_STEPS], length: 0 }
    }

    /// The steps after the root.
    #[must_use]
    pub fn steps(&self) -> &[PathElement] {
        &self.steps[..usize::from(self.length)]
    }

    /// With one more step; `None` when it gets too long.
    #[must_use]
    pub fn then(mut self, step: PathElement) -> Option<LockExpression> {
        *self.steps.get_mut(usize::from(self.length))? = step;
        self.length += 1;
        Some(self)
    }

    /// Without its last step.
    fn shortened(mut self) -> LockExpression {
        self.length -= 1;
        self.steps[usize::from(self.length)] = PathElement::None;
        self
    }

    /// Whether the lock is another one once `value` has been defined anew (the paper's DEPENDS).
    #[must_use]
    pub fn depends_on_value(&self, value: ValueId) -> bool {
        self.root == ExpressionRoot::Local(value)
            || self.steps().contains(&PathElement::Element(ElementIndex::Local(value)))
    }

    /// Whether the lock may be another one once this field has been assigned, in any object.
    #[must_use]
    pub fn depends_on_field(&self, field: FieldId) -> bool {
        self.root == ExpressionRoot::Static(field)
            || self.steps().contains(&PathElement::Field(field))
    }

    /// Whether the lock may be another one once an array element has been assigned.
    #[must_use]
    pub fn depends_on_elements(&self) -> bool {
        self.steps().iter().any(|step| matches!(step, PathElement::Element(_)))
    }

    /// Whether it means the same in every method.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.root, ExpressionRoot::Local(_)) || self.steps().iter().any(is_local_element)
    }

    /// Without its last step, and that step; `None` when it is only a root.
    #[must_use]
    pub fn split_last(self) -> Option<(LockExpression, PathElement)> {
        let last = *self.steps().last()?;
        Some((self.shortened(), last))
    }
}

fn is_local_element(step: &PathElement) -> bool {
    matches!(step, PathElement::Element(ElementIndex::Local(_)))
}

/// Adds a step, undoing what the expression has just done: the outer object of a view's inner class
/// is what it is a view of.
fn append(program: &Program, to: LockExpression, step: PathElement) -> Option<LockExpression> {
    match (to.steps().last(), step) {
        (Some(PathElement::View), PathElement::Field(field))
            if program.fields[field].name.starts_with("this$") =>
        {
            Some(to.shortened())
        }
        _ => to.then(step),
    }
}

/// What translation needs to know of one argument.
#[derive(Clone, Debug)]
struct ArgumentTerm {
    expression: Option<LockExpression>,
    declared: DeclaredType,
    /// What is declared of the object that the argument is a view of, when it is one.
    viewed: DeclaredType,
    /// The argument as an array index.
    index: ElementIndex,
    /// The lambda that the argument is, and what it captured, when it is created right here.
    captured: Option<(LambdaId, Vec<Option<LockExpression>>)>,
}

/// A lock of a callee in the terms of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Translated {
    /// How the caller names it.
    pub expression: LockExpression,
    /// What the object must be, when a view led back to it: only a `Vector` has iterators that lock
    /// a `Vector`.
    pub outer: Option<ClassId>,
}

/// A call: its arguments as locking expressions.
#[derive(Clone, Debug)]
pub struct CallTerms {
    /// Bytecode offset of the call.
    pub offset: u32,
    /// Whether control can get from the call to the end of the method.
    pub returns: bool,
    arguments: Vec<ArgumentTerm>,
}

impl CallTerms {
    /// The expressions of the arguments, where they have one.
    pub fn expressions(&self) -> impl Iterator<Item = &LockExpression> {
        self.arguments.iter().filter_map(|argument| argument.expression.as_ref())
    }

    /// The expression that stands for a parameter of the target, when it is just an argument.
    #[must_use]
    pub fn argument(&self, parameter: u16) -> Option<&LockExpression> {
        self.arguments.get(usize::from(parameter))?.expression.as_ref()
    }

    /// The expression for an operand of a modelled call.
    #[must_use]
    pub fn operand(&self, operand: &Operand, is_static: bool) -> Option<LockExpression> {
        let position = match operand {
            Operand::Receiver => 0,
            Operand::Argument(number) => usize::from(*number) + usize::from(!is_static),
            _ => return None,
        };
        self.arguments.get(position)?.expression
    }

    /// An expression of the call's target in the terms of the caller (the paper's TRANSLATELOCK).
    #[must_use]
    pub fn translate(
        &self,
        program: &Program,
        expression: LockExpression,
        target: &Target,
    ) -> Option<Translated> {
        let mut outer = None;
        let mut translated = match expression.root {
            ExpressionRoot::Parameter(number) => self.parameter(program, number, target)?,
            ExpressionRoot::Static(_) | ExpressionRoot::Class(_) => {
                LockExpression::new(expression.root)
            }
            ExpressionRoot::Local(_) => return None,
        };
        for (position, step) in expression.steps().iter().enumerate() {
            if let (0, ExpressionRoot::Parameter(number), PathElement::Field(field)) =
                (position, expression.root, step)
                && !self.can_be(program, number, target, program.fields[*field].class)
            {
                return None;
            }
            if let (0, ExpressionRoot::Parameter(number), PathElement::Captured(lambda, captured)) =
                (position, expression.root, step)
                && let Some(given) = self.captured_by(number, target, *lambda, *captured)
            {
                translated = given?;
                continue;
            }
            let step = match *step {
                PathElement::Element(ElementIndex::Parameter(number)) => {
                    if target.call_kind != CallKind::Direct {
                        return None;
                    }
                    PathElement::Element(self.arguments.get(usize::from(number))?.index)
                }
                PathElement::Element(ElementIndex::Local(_)) => return None,
                step => step,
            };
            if let (Some(PathElement::View), PathElement::Field(field)) =
                (translated.steps().last(), step)
            {
                let class = program.class_of_field(field)?;
                if !self.can_be_viewed(program, expression.root, target, class) {
                    return None;
                }
                outer = Some(class);
            }
            translated = append(program, translated, step)?;
        }
        // Nobody hands an iterator to another thread; only what it leads back to can be contended.
        if translated.steps().contains(&PathElement::View) {
            return None;
        }
        if outer.is_some() && !translated.steps().is_empty() {
            outer = None;
        }
        Some(Translated { expression: translated, outer })
    }

    /// A lock of the caller in the terms of the call's target, if the target can name it: through
    /// one of its parameters, or because the name means the same everywhere.
    #[must_use]
    pub fn in_callee(
        &self,
        program: &Program,
        lock: &LockExpression,
        target: &Target,
    ) -> Option<LockExpression> {
        if matches!(lock.root, ExpressionRoot::Static(_) | ExpressionRoot::Class(_)) {
            return Some(*lock);
        }
        let count = program.body(target.method)?.parameters.len();
        (0..count as u16)
            .filter_map(|number| {
                let argument = self.parameter(program, number, target)?;
                let rest = lock.steps().strip_prefix(argument.steps())?;
                if argument.root != lock.root || rest.iter().any(is_local_element) {
                    return None;
                }
                let start = LockExpression::new(ExpressionRoot::Parameter(number));
                rest.iter().try_fold(start, |expression, step| expression.then(*step))
            })
            .min_by_key(|expression| (expression.steps().len(), *expression))
    }

    /// Whether the argument for a parameter of the target can be of a class, as far as is declared.
    #[must_use]
    pub fn can_be(
        &self,
        program: &Program,
        parameter: u16,
        target: &Target,
        class: ClassId,
    ) -> bool {
        let position = match target.call_kind {
            CallKind::Direct => usize::from(parameter),
            CallKind::Lambda(lambda) => {
                match usize::from(parameter).checked_sub(program.lambdas[lambda].captured) {
                    Some(position) => position + 1,
                    None => return true,
                }
            }
            CallKind::Callback { .. } | CallKind::CalledBack { .. } => return true,
        };
        match self.arguments.get(position).map(|argument| argument.declared) {
            Some(DeclaredType::Class(declared)) => program.hierarchy.can_be_both(declared, class),
            Some(DeclaredType::Array) => false,
            Some(DeclaredType::Unknown) | None => true,
        }
    }

    /// Whether the object behind a view can be of the class that the view's own class belongs to.
    fn can_be_viewed(
        &self,
        program: &Program,
        root: ExpressionRoot,
        target: &Target,
        class: ClassId,
    ) -> bool {
        let ExpressionRoot::Parameter(number) = root else { return true };
        if target.call_kind != CallKind::Direct {
            return true;
        }
        match self.arguments.get(usize::from(number)).map(|argument| argument.viewed) {
            Some(DeclaredType::Class(viewed)) => program.hierarchy.can_be_both(viewed, class),
            Some(DeclaredType::Array) => false,
            Some(DeclaredType::Unknown) | None => true,
        }
    }

    /// A parameter of the target.
    fn parameter(&self, program: &Program, number: u16, target: &Target) -> Option<LockExpression> {
        let position = usize::from(number);
        let argument = |position: usize| self.arguments.get(position);
        match target.call_kind {
            CallKind::Direct => argument(position)?.expression,
            CallKind::Lambda(lambda) => {
                match position.checked_sub(program.lambdas[lambda].captured) {
                    None => self.captured_value(argument(0)?, lambda, number),
                    // The arguments of the call follow, without the lambda itself.
                    Some(position) => argument(position + 1)?.expression,
                }
            }
            CallKind::Callback { lambda, argument: at, .. } => {
                if position >= program.lambdas[lambda].captured {
                    return None;
                }
                self.captured_value(argument(usize::from(at))?, lambda, number)
            }
            CallKind::CalledBack { argument: at, is_kept } => {
                let is_argument = position == 0 && !is_kept;
                argument(usize::from(at)).filter(|_| is_argument)?.expression
            }
        }
    }

    /// What a lambda captured: what it was given, when it is created here; else a step from it.
    fn captured_value(
        &self,
        argument: &ArgumentTerm,
        lambda: LambdaId,
        number: u16,
    ) -> Option<LockExpression> {
        match &argument.captured {
            Some((created, values)) if *created == lambda => *values.get(usize::from(number))?,
            _ => argument.expression?.then(PathElement::Captured(lambda, number)),
        }
    }

    /// What the lambda that is handed on as a parameter captured, when it is created here; the
    /// outer `None` means that it is not.
    #[allow(clippy::option_option, reason = "not created here, and created here but not nameable")]
    fn captured_by(
        &self,
        parameter: u16,
        target: &Target,
        lambda: LambdaId,
        number: u16,
    ) -> Option<Option<LockExpression>> {
        if target.call_kind != CallKind::Direct {
            return None;
        }
        match &self.arguments.get(usize::from(parameter))?.captured {
            Some((created, values)) if *created == lambda => {
                Some(values.get(usize::from(number)).copied().flatten())
            }
            _ => None,
        }
    }
}

/// What local variables and parameters are called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LocalNaming {
    /// As in the source, where the class file has the names.
    AsWritten,
    /// Parameters by their position, locals by how they come about.
    ByPosition,
}

/// A local variable of which nothing more is known.
const LOCAL_VARIABLE: &str = "a local variable";

/// The positions of parameters in words.
const ORDINALS: [&str; 8] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

impl LocalNaming {
    fn of(self, body: &Body, value: ValueId) -> Option<String> {
        match self {
            LocalNaming::AsWritten => body.names.get(&value).map(ToString::to_string),
            LocalNaming::ByPosition => None,
        }
    }
}

/// Rebuilds the locking expressions of one body.
pub struct Expressions<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    /// The body.
    pub body: &'a Body,
    /// What was asked for before; most values never are.
    known: RefCell<FxHashMap<ValueId, Option<LockExpression>>>,
    /// What a getter returns, by method.
    returned: &'a (dyn Fn(MethodId) -> Option<LockExpression> + 'a),
}

impl<'a> Expressions<'a> {
    /// The expressions of a body; `returned` gives what getters return.
    #[must_use]
    pub fn new(
        program: &'a Program,
        graph: &'a CallGraph,
        body: &'a Body,
        returned: &'a (dyn Fn(MethodId) -> Option<LockExpression> + 'a),
    ) -> Expressions<'a> {
        let known = RefCell::new(FxHashMap::default());
        Expressions { program, graph, body, known, returned }
    }

    /// The expression for a value; `None` stands for `*`.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Option<LockExpression> {
        self.of_bounded(value, MOST_DEPTH)
    }

    fn of_bounded(&self, value: ValueId, depth: usize) -> Option<LockExpression> {
        let value = self.body.without_casts(value);
        if depth == 0 {
            return None;
        }
        if let Some(known) = self.known.borrow().get(&value) {
            return *known;
        }
        let rebuilt = self.rebuild(value, depth - 1);
        self.known.borrow_mut().insert(value, rebuilt);
        rebuilt
    }

    fn rebuild(&self, value: ValueId, depth: usize) -> Option<LockExpression> {
        let local = LockExpression::new(ExpressionRoot::Local(value));
        match self.body.definitions[value] {
            Definition::Parameter(number) => {
                Some(LockExpression::new(ExpressionRoot::Parameter(number)))
            }
            Definition::Phi(_) | Definition::Caught(_) | Definition::Removed => Some(local),
            Definition::Instruction(..) => {
                let instruction = self.body.defining_instruction(value)?;
                match &instruction.operation {
                    Operation::GetField { object, field } => append(
                        self.program,
                        self.of_bounded(*object, depth)?,
                        PathElement::Field(*field),
                    ),
                    Operation::GetStatic(field) => {
                        Some(LockExpression::new(ExpressionRoot::Static(*field)))
                    }
                    Operation::Constant(Constant::Class(class)) => {
                        Some(LockExpression::new(ExpressionRoot::Class(*class)))
                    }
                    Operation::ArrayLoad { array, index, .. } => {
                        let array = self.of_bounded(*array, depth)?;
                        array.then(PathElement::Element(self.index(*index)))
                    }
                    Operation::Call(call) => {
                        Some(self.of_call(call, instruction.offset, depth).unwrap_or(local))
                    }
                    _ => Some(local),
                }
            }
        }
    }

    fn index(&self, value: ValueId) -> ElementIndex {
        match self.body.definitions[value] {
            Definition::Parameter(number) => return ElementIndex::Parameter(number),
            Definition::Phi(_) | Definition::Caught(_) | Definition::Removed => {}
            Definition::Instruction(..) => {
                if let Some(instruction) = self.body.defining_instruction(value)
                    && let Operation::Constant(Constant::Literal(Literal::Int(constant))) =
                        instruction.operation
                {
                    return ElementIndex::Constant(constant);
                }
            }
        }
        ElementIndex::Local(value)
    }

    /// What is declared of the object that a value is a view of.
    fn viewed_type(&self, value: ValueId) -> DeclaredType {
        let call = match self.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Call(call)) => call,
            _ => return DeclaredType::Unknown,
        };
        let is_view = |effect: &Effect| matches!(effect, Effect::View { of: Operand::Receiver });
        match call.arguments.first() {
            Some(receiver) if self.program.effects_of(call.method).iter().any(is_view) => {
                self.body.declared_type(self.program, *receiver)
            }
            _ => DeclaredType::Unknown,
        }
    }

    /// What a call returns, where that is known: a view of the receiver's lock, a view of the
    /// receiver, or what the only method that can run returns.
    fn of_call(&self, call: &Call, offset: u32, depth: usize) -> Option<LockExpression> {
        for effect in self.program.effects_of(call.method) {
            let (operand, step) = match effect {
                Effect::LockView { of, .. } | Effect::ConditionOf { lock: of } => (of, None),
                Effect::View { of } => (of, Some(PathElement::View)),
                _ => continue,
            };
            let position = match operand {
                Operand::Receiver => 0,
                Operand::Argument(number) => {
                    let has_receiver = !self.program.methods[call.method].is_static();
                    usize::from(*number) + usize::from(has_receiver)
                }
                _ => continue,
            };
            let of = self.of_bounded(*call.arguments.get(position)?, depth)?;
            return match step {
                Some(step) => append(self.program, of, step),
                None => Some(of),
            };
        }
        let targets = self.graph.targets(self.body.method, offset);
        let [target @ Target { call_kind: CallKind::Direct, .. }] = targets else { return None };
        let returned = (self.returned)(target.method)?;
        let terms = self.terms_bounded(call, offset, depth);
        Some(terms.translate(self.program, returned, target)?.expression)
    }

    /// A call in the terms that translation needs.
    #[must_use]
    pub fn terms(&self, call: &Call, offset: u32, returns: bool) -> CallTerms {
        CallTerms { returns, ..self.terms_bounded(call, offset, MOST_DEPTH) }
    }

    fn terms_bounded(&self, call: &Call, offset: u32, depth: usize) -> CallTerms {
        let term = |value: &ValueId| {
            let declared = self.body.declared_type(self.program, *value);
            let value = self.body.without_casts(*value);
            let captured = created_lambda(self.body, value).and_then(|lambda| {
                let created = self.body.defining_instruction(value)?;
                let Operation::DynamicCall(call) = &created.operation else { return None };
                let captured = call.arguments.iter();
                Some((lambda, captured.map(|value| self.of_bounded(*value, depth)).collect()))
            });
            ArgumentTerm {
                expression: self.of_bounded(value, depth),
                declared,
                viewed: self.viewed_type(value),
                index: self.index(value),
                captured,
            }
        };
        CallTerms { offset, returns: true, arguments: call.arguments.iter().map(term).collect() }
    }

    /// The expression that the method returns on every path, if there is one that callers can use.
    #[must_use]
    pub fn returned_expression(&self) -> Option<LockExpression> {
        let mut only = None;
        for block in self.body.blocks.iter() {
            let Terminator::Return(value) = &block.terminator else { continue };
            let expression = self.of((*value)?)?;
            if expression.is_local() || only.is_some_and(|only| only != expression) {
                return None;
            }
            only = Some(expression);
        }
        only
    }

    /// The expression as the source would write it.
    #[must_use]
    pub fn describe(&self, expression: LockExpression) -> String {
        self.describe_with(expression, LocalNaming::AsWritten)
    }

    /// The same without the names of local variables and parameters: it stays what it is when they
    /// are renamed, and when the class is compiled without them.
    #[must_use]
    pub fn describe_stable(&self, expression: LockExpression) -> String {
        self.describe_with(expression, LocalNaming::ByPosition)
    }

    fn describe_with(&self, expression: LockExpression, names: LocalNaming) -> String {
        let method = &self.program.methods[self.body.method];
        let unnamed = self.unnamed_root(method, expression.root, names);
        let is_first_field = |at: usize| at == 0 && unnamed.is_some();
        let mut text = match expression.root {
            ExpressionRoot::Parameter(number) => self.parameter_name(method, number, names),
            ExpressionRoot::Static(field) => {
                let field = &self.program.fields[field];
                format!("{}.{}", self.simple_name(field.class), field.name)
            }
            ExpressionRoot::Class(class) => format!("{}.class", self.simple_name(class)),
            ExpressionRoot::Local(value) => self.local_name(value, names),
        };
        for (at, step) in expression.steps().iter().enumerate() {
            match *step {
                PathElement::None | PathElement::View => {}
                PathElement::Field(field)
                    if names == LocalNaming::ByPosition && self.is_capture(field) =>
                {
                    text = format!("{text} captured {}", self.position_in_class(field));
                }
                PathElement::Field(field) if is_first_field(at) => {
                    text = field_name(self.program, field);
                }
                PathElement::Field(field) => {
                    let field = &self.program.fields[field];
                    if field.name.starts_with("this$") && text == "this" {
                        let outer = field.descriptor.trim_end_matches(';');
                        let outer = outer.strip_prefix('L').unwrap_or(outer);
                        let outer = outer.rsplit(['/', '$']).next().unwrap_or(outer);
                        text = format!("{outer}.this");
                    } else if text == "this" {
                        text = captured_name(&field.name).unwrap_or(&field.name).to_string();
                    } else {
                        let name = captured_name(&field.name).unwrap_or(&field.name);
                        text = format!("{text}.{name}");
                    }
                }
                PathElement::Element(ElementIndex::Constant(index)) => {
                    text = format!("{text}[{index}]")
                }
                PathElement::Element(ElementIndex::Parameter(number)) => {
                    let index = self.parameter_name(method, number, names);
                    text = format!("{text}[{}]", index_name(index, names));
                }
                PathElement::Element(ElementIndex::Local(value)) => {
                    let index = self.local_name(value, names);
                    text = format!("{text}[{}]", index_name(index, names));
                }
                PathElement::Captured(lambda, number) => {
                    text = self.captured_name(lambda, number, &text, names);
                }
            }
        }
        match (unnamed, expression.steps().first()) {
            (Some(root), Some(PathElement::Field(_))) => format!("{text} of {root}"),
            _ => text,
        }
    }

    /// What a root is in words, where the class file does not say what the source calls it.
    fn unnamed_root(
        &self,
        method: &Method,
        root: ExpressionRoot,
        names: LocalNaming,
    ) -> Option<String> {
        if names == LocalNaming::ByPosition {
            return None;
        }
        let is_this = |number: u16| number == 0 && !method.is_static();
        match root {
            ExpressionRoot::Parameter(number) if !is_this(number) => {
                let value = self.body.parameters.get(usize::from(number));
                let is_named = value.is_some_and(|value| names.of(self.body, *value).is_some());
                (!is_named).then(|| self.parameter_name(method, number, names))
            }
            ExpressionRoot::Local(value) => {
                let name = self.local_name(value, names);
                name.starts_with(LOCAL_VARIABLE).then_some(name)
            }
            ExpressionRoot::Parameter(_) | ExpressionRoot::Static(_) | ExpressionRoot::Class(_) => {
                None
            }
        }
    }

    fn simple_name(&self, class: ClassId) -> String {
        class_name(self.program, class)
    }

    /// What is declared of a value, as source code has it: `Gauge`, `Gauge[]`.
    fn type_name(&self, value: ValueId) -> Option<String> {
        if let Definition::Parameter(number) = self.body.definitions[value] {
            let method = &self.program.methods[self.body.method];
            let number = number.checked_sub(u16::from(!method.is_static()))?;
            let parsed = parse_method(&method.descriptor).ok()?;
            let written = parsed.params.get(usize::from(number))?.to_string();
            let simple = written.rsplit_once('.').map_or(&*written, |(_, simple)| simple);
            return Some(simple.replace('$', "."));
        }
        match self.body.declared_type(self.program, value) {
            DeclaredType::Class(class) => Some(self.simple_name(class)),
            DeclaredType::Array | DeclaredType::Unknown => None,
        }
    }

    /// Whether a field holds a local variable that a local or anonymous class captured, under its
    /// name.
    fn is_capture(&self, field: FieldId) -> bool {
        self.program.fields[field].name.starts_with("val$")
    }

    fn position_in_class(&self, field: FieldId) -> usize {
        let class = &self.program.classes[self.program.fields[field].class];
        class.fields.iter().position(|declared| *declared == field).unwrap_or_default()
    }

    fn parameter_name(&self, method: &Method, number: u16, names: LocalNaming) -> String {
        if number == 0 && !method.is_static() {
            return "this".to_string();
        }
        let value = self.body.parameters.get(usize::from(number));
        let position = number + u16::from(method.is_static());
        match (value.and_then(|value| names.of(self.body, *value)), names) {
            (Some(name), _) => name,
            (None, LocalNaming::ByPosition) => format!("parameter {position}"),
            (None, LocalNaming::AsWritten) => {
                let ordinal = ORDINALS.get(usize::from(position.saturating_sub(1)));
                let which = match ordinal {
                    Some(ordinal) => format!("the {ordinal} parameter"),
                    None => format!("parameter {position}"),
                };
                match value.and_then(|value| self.type_name(*value)) {
                    Some(declared) => format!("{which} (of type {declared})"),
                    None => which,
                }
            }
        }
    }

    fn local_name(&self, value: ValueId, names: LocalNaming) -> String {
        if let Some(name) = names.of(self.body, value) {
            return name;
        }
        match self.body.defining_instruction(value).map(|defined| &defined.operation) {
            Some(Operation::Call(call)) => {
                format!("{}()", self.program.methods[call.method].name)
            }
            Some(Operation::New(class)) => format!("new {}", self.simple_name(*class)),
            _ => match self.type_name(value).filter(|_| names == LocalNaming::AsWritten) {
                Some(declared) => format!("{LOCAL_VARIABLE} (of type {declared})"),
                None => LOCAL_VARIABLE.to_string(),
            },
        }
    }

    fn captured_name(
        &self,
        lambda: LambdaId,
        number: u16,
        text: &str,
        names: LocalNaming,
    ) -> String {
        let implementation = self.program.lambdas[lambda].implementation;
        let is_static = self.program.methods[implementation].is_static();
        let body = self.program.body(implementation);
        let named = body.and_then(|body| {
            let value = body.parameters.get(usize::from(number))?;
            names.of(body, *value)
        });
        match named {
            Some(name) => name,
            None if number == 0 && !is_static => format!("the outer object of {text}"),
            None => format!("what {text} captured"),
        }
    }
}

/// An index as the source writes it; three dots where that takes words.
fn index_name(index: String, names: LocalNaming) -> String {
    match names {
        LocalNaming::AsWritten if index.contains(' ') => "…".to_string(),
        LocalNaming::AsWritten | LocalNaming::ByPosition => index,
    }
}

/// What each method returns on every path, where callers can use that.
#[must_use]
pub fn returned_expressions(
    program: &Program,
    graph: &CallGraph,
) -> TypedVec<MethodId, Option<LockExpression>> {
    summaries::solve(graph, program.methods.len(), |method, known| {
        let body = program.body(method)?;
        if body.blocks.len() > GETTER_BLOCKS {
            return None;
        }
        let returned = |callee: MethodId| *known.of(callee);
        Expressions::new(program, graph, body, &returned).returned_expression()
    })
}

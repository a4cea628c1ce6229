//! Trees as text, for expectations that people read.

use std::fmt::Write;

use summary_trees::{
    BranchSummary, Guard, Index, LeaveReason, Operand, Register, Side, Step, StepKind, Term, Way,
};

/// The sides of a branch: `taken: …`, each step in a line of its own, nested ones indented.
pub(crate) fn branch_text(branch: &BranchSummary) -> String {
    let roots: Vec<String> = branch.roots.iter().map(|root| format!("{}", root.slot)).collect();
    let mut text = match &roots[..] {
        [] => "no roots\n".to_owned(),
        roots => format!("roots {}\n", roots.join(" ")),
    };
    branch.sides.iter().for_each(|side| write_side(&mut text, side, 0));
    text
}

pub(crate) fn steps_text(steps: &[Step]) -> String {
    let mut text = String::new();
    write_steps(&mut text, steps, 0);
    text
}

fn register(register: Register) -> String {
    format!("r{}", register.0)
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Register(it) => register(it),
        Operand::Null => "null".to_owned(),
        Operand::Int(number) => number.to_string(),
        Operand::Unknown => "?".to_owned(),
    }
}

fn index(index: Index) -> String {
    match index {
        Index::Constant(number) => number.to_string(),
        Index::Root(it) => register(it),
    }
}

fn term(term: &Term) -> String {
    match term {
        Term::Register(it) => register(*it),
        Term::Constant(number) => number.to_string(),
        Term::Path { base, fields } => {
            let names = fields.iter().map(|field| field.name.to_string());
            let base = base.map_or("static".to_owned(), register);
            [base].into_iter().chain(names).collect::<Vec<_>>().join(".")
        }
    }
}

fn guard(guard: &Guard) -> String {
    match guard {
        Guard::IsNull(it) => format!("{} == null", term(it)),
        Guard::NotNull(it) => format!("{} != null", term(it)),
        Guard::InstanceOf(it, class) => format!("{} is {class}", term(it)),
        Guard::NotInstanceOf(it, class) => format!("{} is not {class}", term(it)),
        Guard::Same(one, other) => format!("{} same {}", term(one), term(other)),
        Guard::NotSame(one, other) => format!("{} not same {}", term(one), term(other)),
        Guard::Compare(one, condition, other) => {
            format!("{} {condition:?} {}", term(one), term(other))
        }
        Guard::OneOf(it, numbers) => format!("{} in {numbers:?}", term(it)),
        Guard::NoneOf(it, numbers) => format!("{} not in {numbers:?}", term(it)),
    }
}

fn write_side(text: &mut String, side: &Side, indent: usize) {
    let ways: Vec<String> = side
        .ways
        .iter()
        .map(|way| match way {
            Way::Taken => "taken".to_owned(),
            Way::NotTaken => "not taken".to_owned(),
            Way::Case(number) => format!("case {number}"),
            Way::Default => "default".to_owned(),
        })
        .collect();
    let condition = side.guard.as_ref().map_or(String::new(), |it| format!(" if {}", guard(it)));
    writeln!(text, "{:indent$}{}{condition}:", "", ways.join(", ")).unwrap();
    write_steps(text, &side.steps, indent + 2);
}

fn write_steps(text: &mut String, steps: &[Step], indent: usize) {
    for step in steps {
        let line = match &step.kind {
            StepKind::Read { base, field } => format!("read {}.{}", register(*base), field.name),
            StepKind::Write { base, field } => format!("write {}.{}", register(*base), field.name),
            StepKind::ReadStatic { field } => format!("read {}", field.name),
            StepKind::WriteStatic { field } => format!("write {}", field.name),
            StepKind::ReadElement { array, index: at } => {
                format!("read {}[{}]", register(*array), index(*at))
            }
            StepKind::WriteElement { array, index: at } => {
                format!("write {}[{}]", register(*array), index(*at))
            }
            StepKind::Load { into, base, field } => {
                format!("{} = {}.{}", register(*into), register(*base), field.name)
            }
            StepKind::LoadStatic { into, field } => format!("{} = {}", register(*into), field.name),
            StepKind::LoadElement { into, array, index: at } => {
                format!("{} = {}[{}]", register(*into), register(*array), index(*at))
            }
            StepKind::Store { base, field, value } => {
                format!("{}.{} = {}", register(*base), field.name, operand(*value))
            }
            StepKind::StoreStatic { field, value } => {
                format!("{} = {}", field.name, operand(*value))
            }
            StepKind::StoreElement { array, index: at, value } => {
                format!("{}[{}] = {}", register(*array), index(*at), operand(*value))
            }
            StepKind::Fresh { into } => format!("{} = new", register(*into)),
            StepKind::ClassObject { into, class } => format!("{} = {class}.class", register(*into)),
            StepKind::Set { into, value } => format!("{} = {}", register(*into), operand(*value)),
            StepKind::Enter { lock } => format!("enter {}", operand(*lock)),
            StepKind::Exit { lock } => format!("exit {}", operand(*lock)),
            StepKind::Call { method, arguments, result, .. } => {
                let arguments: Vec<String> = arguments.iter().map(|it| operand(*it)).collect();
                let result = result.map_or(String::new(), |it| format!("{} = ", register(it)));
                format!("{result}call {}({})", method.name, arguments.join(", "))
            }
            StepKind::Leave { levels, reason } => {
                let reason = match reason {
                    LeaveReason::Jump => "jump",
                    LeaveReason::Return => "return",
                    LeaveReason::Throw => "throw",
                    LeaveReason::Monitor => "monitor",
                };
                format!("leave {levels} {reason}")
            }
            StepKind::Choice { sides } => {
                writeln!(text, "{:indent$}choice", "").unwrap();
                sides.iter().for_each(|side| write_side(text, side, indent + 2));
                continue;
            }
            StepKind::Twice { body } => {
                writeln!(text, "{:indent$}twice", "").unwrap();
                write_steps(text, body, indent + 2);
                continue;
            }
        };
        writeln!(text, "{:indent$}{line}", "").unwrap();
    }
}

//! Bodies as text and as graphs, for people.

use std::fmt::Write;

use findings::{EdgeStyle, Graph, GraphEdge, GraphFont, GraphItem, GraphNode, Outline};

use super::{Body, Constant, DynamicTarget, Operation, Terminator, monitor_regions};
use crate::ids::{BlockId, ValueId};
use crate::symbols::Program;

/// A body as text: one line for each instruction, with its offset and source line.
#[must_use]
pub fn print_body(program: &Program, body: &Body) -> String {
    let mut text = String::new();
    let method = &program.methods[body.method];
    let flags = match (method.is_static(), method.is_synchronized()) {
        (false, false) => "",
        (true, false) => " static",
        (false, true) => " synchronized",
        (true, true) => " static synchronized",
    };
    let _ = writeln!(text, "{}{flags}", program.method_label(body.method));
    let parameters: Vec<String> = body.parameters.iter().map(|value| named(body, *value)).collect();
    let _ = writeln!(text, "  parameters: {}", parameters.join(", "));
    let regions = monitor_regions(body);
    for (id, block) in body.blocks.iter_with_ids() {
        let from: Vec<String> = block.predecessors.iter().map(ToString::to_string).collect();
        let _ = write!(text, "{id}:");
        if !from.is_empty() {
            let _ = write!(text, "  ; from {}", from.join(", "));
        }
        if let Some(held) = &regions.held_at_start[id]
            && !held.is_empty()
        {
            let held: Vec<String> =
                held.iter().map(|monitor| named(body, monitor.object)).collect();
            let _ = write!(text, "  ; holding {}", held.join(", "));
        }
        text.push('\n');
        for line in block_lines(program, body, id) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// The control flow of a body; exception edges are dashed.
#[must_use]
pub fn control_flow_graph(program: &Program, body: &Body) -> Graph {
    let mut items = Vec::new();
    let edge = |from: BlockId, to: BlockId, style: EdgeStyle| {
        let (from, to) = (from.to_string(), to.to_string());
        GraphItem::Edge(GraphEdge { from, to, lines: Vec::new(), style })
    };
    for (id, block) in body.blocks.iter_with_ids() {
        let lines = [id.to_string()].into_iter().chain(block_lines(program, body, id)).collect();
        let outline = Outline::Single;
        items.push(GraphItem::Node(GraphNode { id: id.to_string(), lines, outline }));
        items.extend(block.terminator.successors().map(|to| edge(id, to, EdgeStyle::Solid)));
        let handlers = block.handlers.iter();
        items.extend(handlers.map(|handler| edge(id, handler.target, EdgeStyle::Dashed)));
    }
    Graph {
        name: "body".to_string(),
        caption: Some(program.method_label(body.method)),
        font: GraphFont::Monospace,
        items,
    }
}

fn named(body: &Body, value: ValueId) -> String {
    match body.names.get(&value) {
        Some(name) => format!("{value}({name})"),
        None => value.to_string(),
    }
}

fn block_lines(program: &Program, body: &Body, id: BlockId) -> Vec<String> {
    let block = &body.blocks[id];
    let name = |value: ValueId| named(body, value);
    let mut lines = Vec::new();
    for phi in &block.phis {
        let inputs: Vec<String> = phi
            .inputs
            .iter()
            .map(|input| input.map_or_else(|| "unset".to_string(), |value| value.to_string()))
            .collect();
        lines.push(format!("{} = phi({})", name(phi.result), inputs.join(", ")));
    }
    if let Some(caught) = block.caught {
        lines.push(format!("{} = caught exception", name(caught)));
    }
    let mut shown_line = None;
    for instruction in &block.instructions {
        let result =
            instruction.result.map_or(String::new(), |value| format!("{} = ", name(value)));
        let line = program.site(body.method, instruction.offset).line;
        let place = match line {
            Some(number) if line != shown_line => {
                format!("; {}, line {number}", instruction.offset)
            }
            _ => format!("; {}", instruction.offset),
        };
        shown_line = line;
        let what = format!("{result}{}", operation(program, body, &instruction.operation));
        lines.push(format!("{what:<60} {place}"));
    }
    lines.push(match &block.terminator {
        Terminator::Goto(to) => format!("goto {to}"),
        Terminator::Branch { condition, left, right, then, otherwise, against } => {
            let right = right.map_or_else(|| format!("{against:?}").to_lowercase(), name);
            let condition = format!("{condition:?}").to_lowercase();
            format!("if {} {condition} {right} then {then} else {otherwise}", name(*left))
        }
        Terminator::Switch { value, cases, default } => {
            let cases: Vec<String> =
                cases.iter().map(|(case, to)| format!("{case} -> {to}")).collect();
            format!("switch {} [{}] else {default}", name(*value), cases.join(", "))
        }
        Terminator::Return(None) => "return".to_string(),
        Terminator::Return(Some(value)) => format!("return {}", name(*value)),
        Terminator::Throw(value) => format!("throw {}", name(*value)),
    });
    for handler in &block.handlers {
        let class = handler
            .catches
            .map_or_else(|| "anything".to_string(), |class| program.classes[class].dotted_name());
        lines.push(format!("on {class} -> {}", handler.target));
    }
    lines
}

fn operation(program: &Program, body: &Body, operation: &Operation) -> String {
    let name = |value: &ValueId| named(body, *value);
    let list = |values: &[ValueId]| values.iter().map(name).collect::<Vec<_>>().join(", ");
    let field = |id| {
        let field = &program.fields[id];
        format!("{}.{}", program.classes[field.class].dotted_name(), field.name)
    };
    let class = |class: &Option<crate::ClassId>| {
        class.map_or_else(|| "an array".to_string(), |class| program.classes[class].dotted_name())
    };
    match operation {
        Operation::Constant(Constant::Literal(literal)) => format!("{literal:?}").to_lowercase(),
        Operation::Constant(Constant::String(text)) => format!("{text:?}"),
        Operation::Constant(Constant::Class(class)) => {
            format!("{}.class", program.classes[*class].dotted_name())
        }
        Operation::Constant(Constant::Other) => "a constant made at run time".to_string(),
        Operation::GetField { object, field: id } => {
            format!("get {} of {}", field(*id), name(object))
        }
        Operation::PutField { object, field: id, value } => {
            format!("put {} of {} := {}", field(*id), name(object), name(value))
        }
        Operation::GetStatic(id) => format!("get static {}", field(*id)),
        Operation::PutStatic { field: id, value } => {
            format!("put static {} := {}", field(*id), name(value))
        }
        Operation::ArrayLoad { array, index, .. } => format!("{}[{}]", name(array), name(index)),
        Operation::ArrayStore { array, index, value } => {
            format!("{}[{}] := {}", name(array), name(index), name(value))
        }
        Operation::ArrayLength(array) => format!("length of {}", name(array)),
        Operation::New(class) => format!("new {}", program.classes[*class].dotted_name()),
        Operation::NewArray { element, lengths } => {
            let of = element
                .map_or_else(String::new, |class| program.classes[class].dotted_name() + " ");
            format!("new {of}array [{}]", list(lengths))
        }
        Operation::Cast { value, class: to } => format!("cast {} to {}", name(value), class(to)),
        Operation::InstanceOf { value, class: of } => {
            format!("{} instance of {}", name(value), class(of))
        }
        Operation::Binary { op, left, right } => {
            format!("{} {} {}", format!("{op:?}").to_lowercase(), name(left), name(right))
        }
        Operation::Unary(value) => format!("convert {}", name(value)),
        Operation::Compare(left, right) => format!("compare {} {}", name(left), name(right)),
        Operation::Call(call) => format!(
            "call {} {}({})",
            format!("{:?}", call.kind).to_lowercase(),
            program.method_label(call.method),
            list(&call.arguments)
        ),
        Operation::DynamicCall(call) => {
            let what = match &call.target {
                DynamicTarget::Lambda(lambda) => {
                    let implementation = program.lambdas[*lambda].implementation;
                    format!("lambda {}", program.method_label(implementation))
                }
                DynamicTarget::StringConcatenation => "concatenate".to_string(),
                DynamicTarget::RecordMethod => "record method".to_string(),
                DynamicTarget::PatternSwitch => "pattern switch".to_string(),
                DynamicTarget::Unknown(bootstrap) => format!("dynamic {bootstrap}"),
            };
            format!("{what}({})", list(&call.arguments))
        }
        Operation::MonitorEnter(object) => format!("monitor enter {}", name(object)),
        Operation::MonitorExit(object) => format!("monitor exit {}", name(object)),
    }
}

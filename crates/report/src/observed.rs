//! Notes of the text report on an observed run: the operations of each thread, their stacks, and the edges
//! of a cycle.

use findings::{Cycle, CycleEdge, Operation, Site, Stack, Step, Transaction, Witness};

use crate::{Detail, words};

/// How many calls of a stack are shown when not all are.
const FRAMES_SHOWN: usize = 4;

/// The notes on a witness that a checker made; none for others.
pub(crate) fn notes(witness: &Witness, detail: Detail) -> Vec<String> {
    match &witness.cycle {
        Some(cycle) => cycle_notes(cycle, detail),
        None => witness.steps.iter().filter_map(|step| step_note(step, detail)).collect(),
    }
}

/// The operation of a step and its stack; nothing when only the place is known.
fn step_note(step: &Step, detail: Detail) -> Option<String> {
    let (thread, action) = (step.thread.as_ref()?, step.action.as_ref()?);
    let stack = step.stack.as_ref().filter(|stack| stack.frames.len() > 1)?;
    if detail != Detail::Verbose && !stack.frames[1..].iter().any(words::is_of_program) {
        return None;
    }
    let said = format!("`{thread}` {} `{}`", action.verb, action.subject);
    Some(with_stack(said, &step.site, Some(stack), None, detail))
}

fn cycle_notes(cycle: &Cycle, detail: Detail) -> Vec<String> {
    let mut notes = Vec::new();
    let mut told: Vec<(usize, &str, &Operation)> = Vec::new();
    let last = cycle.edges.len().saturating_sub(1);
    for (at, edge) in cycle.edges.iter().enumerate() {
        let target = words::target_of_edge(cycle, at);
        let (Some(from), Some(to)) = (transaction(cycle, at), transaction(cycle, target)) else {
            continue;
        };
        let closes = if at == last { ", which closes the cycle" } else { "" };
        let mut note = format!("{from} comes before {to}{closes}:");
        if let Some(reason) = words::why_without_operations(edge) {
            notes.push(format!("{note} {reason}"));
            continue;
        }
        for (number, end) in [(at, &edge.from), (target, &edge.to)] {
            let what = (number, edge.subject.as_str(), end);
            note.push('\n');
            let block = cycle.transactions.get(number).and_then(|it| it.block.as_ref());
            let is_told = told.contains(&what);
            note.push_str(&operation(number, edge, end, block, is_told, detail));
            told.push(what);
        }
        if edge.is_race {
            note.push_str(
                "\nthe two race: they were observed in this order, and nothing enforces it",
            );
        }
        notes.push(note);
    }
    if !cycle.transactions.iter().any(|transaction| transaction.is_blamed) {
        notes.push(
            "no single block is to blame: each of these blocks alone could have been atomic, but not \
             all of them"
                .to_string(),
        );
    }
    if !cycle.outer_blocks.is_empty() {
        let blocks: Vec<String> = cycle.outer_blocks.iter().map(call).collect();
        notes.push(format!("enclosing blocks were split too: {}", blocks.join(", ")));
    }
    notes.extend(cycle.benign.map(|benign| words::why_benign(benign, cycle)));
    if cycle.count > 1 {
        notes.push(format!("observed {} times", words::with_separators(cycle.count)));
    }
    notes
}

/// `T1 "worker-1" in Account.deposit`, by its number from 0.
fn transaction(cycle: &Cycle, number: usize) -> Option<String> {
    let Transaction { thread, block, .. } = cycle.transactions.get(number)?;
    let block = block.as_ref().map(|block| format!(" in `{}`", block.method_name()));
    Some(format!("T{} \"{thread}\"{}", number + 1, block.unwrap_or_default()))
}

/// The operation at one end of an edge, with its stack unless an earlier note has it.
fn operation(
    number: usize,
    edge: &CycleEdge,
    operation: &Operation,
    block: Option<&Site>,
    is_told: bool,
    detail: Detail,
) -> String {
    let Operation { verb, site, stack } = operation;
    let said = format!("T{} {verb} `{}`", number + 1, edge.subject);
    match site {
        Some(site) if is_told => format!("{said} at {}, as above", words::place(site)),
        Some(site) => with_stack(said, site, stack.as_ref(), block, detail),
        None => said,
    }
}

/// A sentence with a stack: below it in the format of Java where everything is shown, else behind it and without calls of
/// libraries. The site replaces the innermost frame, because it is more precise.
///
/// A stack of another visit may be that of another thread: what is outside of the block is left out then.
fn with_stack(
    said: String,
    site: &Site,
    stack: Option<&Stack>,
    block: Option<&Site>,
    detail: Detail,
) -> String {
    let callers = stack.map_or(&[][..], |stack| stack.frames.get(1..).unwrap_or_default());
    let is_other_visit = matches!(stack, Some(Stack { is_same_context: false, .. }));
    match detail {
        Detail::Verbose => {
            let of_another =
                if is_other_visit { "; the stack is of another visit of this place" } else { "" };
            let frames = [site].into_iter().chain(callers);
            let frames: Vec<String> =
                frames.map(|site| format!("\n  at {}", frame(site))).collect();
            format!("{said}{of_another}{}", frames.concat())
        }
        Detail::Quiet | Detail::Normal => {
            let is_block = |frame: &Site| {
                block.is_some_and(|it| (&frame.class, &frame.method) == (&it.class, &it.method))
            };
            let is_in_block = is_block(site);
            let until = callers.iter().position(is_block).map_or(0, |at| at + 1);
            let (callers, is_other_visit) = match (is_other_visit, is_in_block, until) {
                (true, true, _) => (&[][..], false),
                (true, false, 1..) => (&callers[..until], false),
                (is_other_visit, ..) => (callers, is_other_visit),
            };
            let own: Vec<String> =
                callers.iter().filter(|it| words::is_of_program(it)).map(caller).collect();
            let shown = &own[..own.len().min(FRAMES_SHOWN)];
            let more = if own.len() > shown.len() { ", …" } else { "" };
            let from = match (shown.is_empty(), is_other_visit) {
                (true, _) => String::new(),
                (false, false) => format!("\n  called by {}{more}", shown.join(", ")),
                (false, true) => {
                    format!("\n  called, at another visit, by {}{more}", shown.join(", "))
                }
            };
            format!("{said} at {}{from}", frame(site))
        }
    }
}

/// `Teller.audit (Teller.java:34)`.
fn caller(site: &Site) -> String {
    match site.line {
        Some(_) => format!("{} ({})", words::short_method(site), words::short_place(site)),
        None => words::short_method(site),
    }
}

/// `java.util.Vector.toArray (java/util/Vector.java:700)`.
fn frame(site: &Site) -> String {
    match (words::file(site), site.line) {
        // A trace of another tool knows lines and no methods.
        (Some(_), Some(_)) if site.method.is_empty() => words::place(site),
        (Some(_), Some(_)) => format!("{} ({})", site.method_name(), words::place(site)),
        _ => site.method_name(),
    }
}

/// The same, with the name set apart from a sentence.
pub(crate) fn call(site: &Site) -> String {
    match (words::file(site), site.line) {
        (Some(_), Some(_)) => format!("`{}` ({})", site.method_name(), words::place(site)),
        _ => format!("`{}`", site.method_name()),
    }
}

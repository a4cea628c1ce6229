//! The whole-program analysis: one heap shape graph and one symbolic execution, and the clients that listen to it.
//! A further client is one file and one line in [`CLIENTS`].

use findings::{Gap, GapKind};
use program::Program;

use crate::execution::{self, Client, ExecutionResult, Listener};
use crate::heap::{self, Heap};
use crate::{Analysis, Context, Outcome, deadlock, method_consistency, races};

/// Every client, in the order in which their findings are made.
pub static CLIENTS: &[&Client] = &[&races::CLIENT, &method_consistency::CLIENT, &deadlock::CLIENT];

/// The analysis.
pub const ANALYSIS: Analysis = Analysis {
    name: "whole-program",
    time_counter: "whole_program_ms",
    rules: &RULES,
    makes_watch_list: true,
    run,
};

/// The rules of all clients, in their order. Counted loops, because a constant cannot use iterators.
const RULES: [&str; rule_count()] = {
    let mut rules = [""; rule_count()];
    let (mut client, mut filled) = (0, 0);
    while client < CLIENTS.len() {
        let mut rule = 0;
        while rule < CLIENTS[client].rules.len() {
            rules[filled] = CLIENTS[client].rules[rule];
            filled += 1;
            rule += 1;
        }
        client += 1;
    }
    rules
};

const fn rule_count() -> usize {
    let (mut client, mut count) = (0, 0);
    while client < CLIENTS.len() {
        count += CLIENTS[client].rules.len();
        client += 1;
    }
    count
}

/// The heap shape graph and the symbolic execution of a program, with some listeners.
pub struct Analysed {
    /// The heap, with everything that the execution has found out about it.
    pub heap: Heap,
    /// The execution.
    pub executed: ExecutionResult,
}

/// Analyses a program for some listeners, and passes each the facts of the execution when it is over.
#[must_use]
pub fn analyse<'a>(
    context: &Context<'_>,
    listen: impl FnOnce(&Heap) -> Vec<Box<dyn Listener + 'a>>,
) -> (Analysed, Vec<Outcome>) {
    let (of_heap, limits) = match is_huge(context.program) {
        true => (heap::HeapLimits::COARSE, execution::ExecutionLimits::COARSE),
        false => (heap::HeapLimits::default(), execution::ExecutionLimits::of(context.program)),
    };
    let mut heap = Heap::build(context, &of_heap);
    let mut listeners = listen(&heap);
    let executed = execution::execute(context, &heap, &mut listeners, &limits);
    executed.mark_unique_objects(&mut heap);
    let execution = executed.facts(context, &heap);
    let outcomes = listeners.into_iter().map(|listener| listener.finish(&execution)).collect();
    (Analysed { heap, executed }, outcomes)
}

/// Methods with bodies from which on a program is looked at with as little context as when the budget is used up: more
/// would take more time than anybody waits for.
const HUGE_PROGRAM: usize = 40_000;

fn is_huge(program: &Program) -> bool {
    program.methods_with_bodies().nth(HUGE_PROGRAM).is_some()
}

fn run(context: &Context<'_>) -> Outcome {
    let is_wanted = |client: &&&Client| {
        client.rules.iter().any(|rule| context.config.wants(rule))
            || (context.config.watch_list.is_some() && client.makes_watch_list)
    };
    let clients: Vec<&Client> = CLIENTS.iter().filter(is_wanted).copied().collect();
    let (analysed, outcomes) = analyse(context, |heap| {
        clients.iter().map(|client| (client.listen)(context, heap)).collect()
    });
    let mut all = Outcome::default();
    for outcome in outcomes {
        all.findings.extend(outcome.findings);
        all.gaps.extend(outcome.gaps);
        all.watch.extend(outcome.watch);
    }
    all.findings.retain(|finding| context.config.wants(finding.rule));
    all.gaps.extend(gaps(context, &analysed));
    all.threads = analysed.heap.summary(context.program, &context.config.entry_points);
    all
}

/// What the analysis could not look at, or not as closely as it would have liked.
fn gaps(context: &Context<'_>, analysed: &Analysed) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if let Some(detail) = analysed.heap.without_threads() {
        gaps.push(Gap::new(GapKind::NoThread, "the program", detail));
    }
    for class in analysed.heap.unreached_classes(context.program) {
        let name = context.program.classes[class].dotted_name();
        let detail = "its code takes locks or has volatile fields, and no thread is seen to get to it; \
                      `--entry-point` names what threads call";
        gaps.push(Gap::new(GapKind::UnreachedCode, name, detail));
    }
    for method in &analysed.executed.lost_context {
        let label = context.program.method_label(*method);
        let detail = "called in more contexts than the limit allows; some were left out";
        gaps.push(Gap::new(GapKind::Limit, label, detail));
    }
    if is_huge(context.program) {
        let detail = "the program has so many methods that they were analysed with less context; check parts of it to find more";
        gaps.push(Gap::new(GapKind::Limit, "the whole-program analysis", detail));
    }
    if analysed.executed.counters.is_cut_short {
        let detail = "the budget was used up; the rest was analysed with less context";
        gaps.push(Gap::new(GapKind::Limit, "the whole-program analysis", detail));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_of_the_clients() {
        let of_clients: Vec<&str> =
            CLIENTS.iter().flat_map(|client| client.rules).copied().collect();
        assert_eq!(ANALYSIS.rules, of_clients);
        let lists = CLIENTS.iter().any(|client| client.makes_watch_list);
        assert_eq!(ANALYSIS.makes_watch_list, lists);
    }
}

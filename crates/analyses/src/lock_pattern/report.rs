//! From patterns to findings: which to show, and the steps that prove them (paper, 4.5 and 5.2).

use std::collections::BTreeMap;

use findings::{Evidence, Finding, HeldLock, Severity, Site, Step, Witness};
use program::ids::{ClassId, FieldId, MethodId};
use program::pattern::Pattern as NamePattern;
use program::{Origin, Program};

use super::expression::{Expressions, LockExpression, Root, Step as ExpressionStep};
use super::flow::{Acquisition, Pattern, Twice};
use super::summary::{Lock, Way};
use super::{ANALYSIS, REACQUIRED_LOCK, Solved, unstructured};
use crate::{Context, Outcome};

/// Chains longer than this are cut; they only occur when something is wrong.
const LONGEST_CHAIN: usize = 32;

/// A pattern, and the method that holds its context lock.
type Candidate<'a> = (&'a Pattern, MethodId);

/// One finding for each rule and place of the second acquisition, with the closest context.
pub(super) fn outcome(context: &Context<'_>, solved: &Solved) -> Outcome {
    let program = context.program;
    let restrictions = restrictions(context);
    let mut best: BTreeMap<(&'static str, MethodId, u32), Candidate<'_>> = BTreeMap::new();
    for method in program.methods_with_bodies() {
        if solved.patterns(method).is_empty() || !program.is_application(method) {
            continue;
        }
        let name = program.site(method, 0).method_name();
        let is_covered = context.config.covers(&name)
            && (restrictions.is_empty()
                || restrictions.iter().any(|pattern| pattern.matches(&name)));
        if !is_covered {
            continue;
        }
        for pattern in solved.patterns(method) {
            let rule = pattern.twice.rule();
            if !context.config.wants(rule) || is_left_out(context, solved, &pattern.twice) {
                continue;
            }
            // Compilers copy `finally` blocks: what counts as one place is the line, where known.
            let place = &pattern.twice.place;
            let second = program.site(place.method, place.second.offset);
            let key = (rule, place.method, second.line.unwrap_or(place.second.offset));
            let candidate = (pattern, method);
            let known = best.entry(key).or_insert(candidate);
            *known = (*known).min(candidate);
        }
    }
    let findings = best
        .into_values()
        .filter_map(|(pattern, method)| finding(program, context, solved, pattern, method))
        .collect();
    Outcome { findings, gaps: unstructured(context) }
}

/// The `--include` patterns that name code of the application, and so restrict where findings may
/// be; the others bring back lock classes.
fn restrictions<'a>(context: &Context<'a>) -> Vec<&'a NamePattern> {
    let names: Vec<String> = context
        .program
        .classes
        .iter()
        .filter(|class| class.origin == Origin::Application)
        .map(program::Class::dotted_name)
        .collect();
    let names_code = |pattern: &&NamePattern| {
        names.iter().any(|name| pattern.matches(name) || pattern.is_below(name))
    };
    context.config.include.iter().filter(names_code).collect()
}

/// Whether the witness is a library object that is often used by one thread alone (paper, 5.2).
fn is_left_out(context: &Context<'_>, solved: &Solved, twice: &Twice) -> bool {
    [&twice.first, &twice.second].into_iter().any(|lock| {
        let program = context.program;
        let Some(class) = lock_class(program, twice.place.method, lock) else { return false };
        is_often_encapsulated(&class)
            && is_encapsulated(program, solved, lock.expression)
            && !context.config.include.iter().any(|pattern| {
                pattern.matches(&class.replace('/', "."))
            })
    })
}

/// Held in a private field that no getter gives away, or known by a local variable only.
fn is_encapsulated(program: &Program, solved: &Solved, expression: LockExpression) -> bool {
    let is_inside = |field: FieldId| {
        program.fields[field].is_private() && !solved.published.contains(&field)
    };
    match (expression.steps().last(), expression.root) {
        (Some(ExpressionStep::Field(field)), _) => is_inside(*field),
        (Some(_), _) => false,
        (None, Root::Static(field)) => is_inside(field),
        (None, Root::Local(_)) => true,
        (None, Root::Parameter(_) | Root::Class(_)) => false,
    }
}

/// The synchronized classes of the library that programs use as if they were not.
fn is_often_encapsulated(class: &str) -> bool {
    matches!(
        class,
        "java/util/Vector"
            | "java/util/Stack"
            | "java/util/Hashtable"
            | "java/util/Properties"
            | "java/lang/StringBuffer"
    ) || class.starts_with("java/util/Collections$Synchronized")
        || class.starts_with("java/io/")
}

/// The class of a lock's object, as far as it is known: what it must be, else its declared type.
fn lock_class(program: &Program, method: MethodId, lock: &Lock) -> Option<String> {
    match lock.guard {
        Some(class) => Some(program.classes[class].name.to_string()),
        None => declared_type(program, method, lock.expression),
    }
}

/// The declared type of an expression: of its last field, or of the parameter it is.
fn declared_type(
    program: &Program,
    method: MethodId,
    expression: LockExpression,
) -> Option<String> {
    let class_of = |descriptor: &str| {
        Some(descriptor.strip_prefix('L')?.strip_suffix(';')?.to_string())
    };
    match (expression.steps().last(), expression.root) {
        (Some(ExpressionStep::Field(field)), _) => class_of(&program.fields[*field].descriptor),
        (None, Root::Static(field)) => class_of(&program.fields[field].descriptor),
        (None, Root::Parameter(number)) => {
            let declared = &program.methods[method];
            let Some(number) = number.checked_sub(u16::from(!declared.is_static())) else {
                return Some(program.classes[declared.class].name.to_string());
            };
            let parsed = classes::descriptor::parse_method(&declared.descriptor).ok()?;
            match parsed.params.get(usize::from(number))? {
                classes::descriptor::Type::Object(name) => Some((*name).to_string()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn finding(
    program: &Program,
    context: &Context<'_>,
    solved: &Solved,
    pattern: &Pattern,
    method: MethodId,
) -> Option<Finding> {
    let body = program.body(method)?;
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(program, context.graph, body, &no_getters);
    let twice = &pattern.twice;
    let context_name = match pattern.context {
        Some(expression) => expressions.describe(expression),
        None => "a lock".to_string(),
    };
    let describe = |lock: &Lock| {
        let name = expressions.describe(lock.expression);
        match lock.guard {
            Some(class) if says_more(program, method, lock, class) => {
                format!("{name} (a {})", program.classes[class].dotted_name())
            }
            _ => name,
        }
    };
    let mut subjects = BTreeMap::from([("context", context_name.clone())]);
    if twice.rule() == REACQUIRED_LOCK {
        subjects.insert("witness", describe(&twice.first));
    } else {
        subjects.insert("first", describe(&twice.first));
        subjects.insert("second", describe(&twice.second));
    }
    let context_site = program.site(method, pattern.context_offset);
    let held = vec![HeldLock { lock: context_name, taken_at: context_site.clone() }];
    let step = |role, acquisition: &Acquisition| Step {
        role,
        site: program.site(twice.place.method, acquisition.offset),
        call_chain: acquisition_chain(program, solved, acquisition),
        held_locks: held.clone(),
    };
    let steps = vec![
        Step {
            role: "context",
            site: context_site.clone(),
            call_chain: context_chain(program, solved, twice),
            held_locks: Vec::new(),
        },
        step("first", &twice.place.first),
        step("second", &twice.place.second),
    ];
    let guessed = [&twice.first, &twice.second].into_iter().any(|lock| {
        lock.guard.is_some_and(|class| says_more(program, method, lock, class))
    });
    Some(Finding {
        rule: twice.rule(),
        evidence: Evidence::Possible,
        severity: if guessed || twice.rule() != REACQUIRED_LOCK {
            Severity::Low
        } else {
            Severity::Medium
        },
        blame: context_site,
        subjects,
        witnesses: vec![Witness { analysis: ANALYSIS.name, steps }],
        fingerprint: None,
    })
}

/// Whether the class a lock's object must have is more than its declared type tells.
fn says_more(program: &Program, method: MethodId, lock: &Lock, class: ClassId) -> bool {
    let declared = declared_type(program, method, lock.expression)
        .and_then(|name| program.class_named(&name));
    match declared {
        Some(declared) => !program.hierarchy.is_subtype(declared, class),
        None => false,
    }
}

/// The calls from the method that holds the context to the place where the witness is locked.
fn context_chain(program: &Program, solved: &Solved, twice: &Twice) -> Vec<Site> {
    let mut chain = Vec::new();
    let mut at = twice.through.map(|(_, target)| target);
    while let Some(method) = at
        && method != twice.place.method
        && chain.len() < LONGEST_CHAIN
    {
        let next = solved.potential[method].iter().find(|next| {
            next.place.method == twice.place.method
                && next.place.second.offset == twice.place.second.offset
        });
        let Some((offset, target)) = next.and_then(|next| next.through) else { break };
        chain.push(program.site(method, offset));
        at = Some(target);
    }
    chain
}

/// The calls inside an acquisition, down to the instruction that takes the lock.
fn acquisition_chain(program: &Program, solved: &Solved, acquisition: &Acquisition) -> Vec<Site> {
    let mut chain = Vec::new();
    let mut at = acquisition.inside;
    while let Some((method, lock)) = at
        && chain.len() < LONGEST_CHAIN
    {
        at = match solved.acquired[method].way_to(&lock).map(|acquired| acquired.way) {
            Some(Way::Here(offset)) => {
                chain.push(program.site(method, offset));
                None
            }
            Some(Way::Call(offset, target, lock)) => {
                chain.push(program.site(method, offset));
                Some((target, lock))
            }
            None => None,
        };
    }
    chain
}

//! From patterns to findings: which to show, and the steps that prove them (paper, 4.5 and 5.2).

use std::collections::BTreeMap;

use findings::{Evidence, Finding, Gap, GapKind, HeldLock, Site, Step, Witness, grade};
use program::Program;
use program::ids::{ClassId, FieldId, MethodId};
use program::models::ClassProperty;

use super::config::{MOST_ACQUIRED, MOST_REACQUISITIONS};
use super::flow::{Acquisition, PatternInstance, Reacquisition};
use super::summary::{AcquiredAt, Lock};
use super::{ANALYSIS, LockPatterns, REACQUIRED_LOCK, REACQUIRED_LOCK_PAIR, unstructured};
use crate::alone::MainMethod;
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};
use crate::{Context, Outcome, Scope};

/// Chains longer than this are cut; they only occur when something is wrong.
const LONGEST_CHAIN: usize = 32;

/// Findings with more calls than this between the blamed code and the locks are of low severity: in
/// the programs we looked at by hand, more than every fourth of them rests on an impossible path.
const FAR: u32 = 3;

/// A pattern, and the method that holds its context lock; the least hypothetical one sorts first.
type Candidate<'a> = (Hypothesis, &'a PatternInstance, MethodId);

/// What must be so for a pattern to be real, from nothing to far-fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hypothesis {
    /// The declared types alone make the locks happen.
    Nothing,
    /// An object must be of some class below its declared type.
    Class,
    /// A lambda made elsewhere must arrive here.
    Lambda,
}

/// Which findings are one: those of a rule with one place of the second acquisition; of the variant with two witnesses,
/// with one place of each.
type FindingKey = (&'static str, MethodId, u32, Option<u32>);

/// One finding for each rule and place of the second acquisition, with the closest context; the variant with two
/// witnesses has one for each pair of places.
pub(super) fn outcome(context: &Context<'_>, lock_patterns: &LockPatterns) -> Outcome {
    let program = context.program;
    let scope = Scope::of(context);
    let main_method = MainMethod::of(context);
    let mut best: BTreeMap<FindingKey, Candidate<'_>> = BTreeMap::new();
    for method in program.methods_with_bodies() {
        if lock_patterns.patterns(method).is_empty() || !program.is_application(method) {
            continue;
        }
        let name = program.site(method, 0).method_name();
        if !scope.covers(&name) {
            continue;
        }
        for pattern in lock_patterns.patterns(method) {
            let rule = pattern.reacquisition.rule();
            if !context.config.wants(rule)
                || is_left_out(context, lock_patterns, &pattern.reacquisition)
                || (!context.config.strict && is_alone(context, &main_method, method, pattern))
            {
                continue;
            }
            // Compilers copy `finally` blocks: what counts as one place is the line, where known.
            let place = &pattern.reacquisition.pair;
            let line = |offset| program.site(place.method, offset).line.unwrap_or(offset);
            let first = (rule == REACQUIRED_LOCK_PAIR).then(|| line(place.first.offset));
            let key = (rule, place.method, line(place.second.offset), first);
            let candidate = (hypothesis(program, pattern, method), pattern, method);
            let known = best.entry(key).or_insert(candidate);
            *known = (*known).min(candidate);
        }
    }
    let findings = best
        .into_values()
        .filter_map(|(hypothesis, pattern, method)| {
            finding(context, lock_patterns, hypothesis, pattern, method)
        })
        .collect();
    let mut gaps = unstructured(context);
    gaps.extend(beyond_bounds(program, lock_patterns));
    Outcome { findings, gaps, ..Outcome::default() }
}

/// What methods do to locks that their callers were not told, because it is too much.
fn beyond_bounds(program: &Program, lock_patterns: &LockPatterns) -> Option<Gap> {
    let is_full = |method: &MethodId| {
        lock_patterns.acquired[*method].is_full()
            || lock_patterns.potential[*method].len() >= MOST_REACQUISITIONS
    };
    let methods = program.methods_with_bodies().filter(|method| program.is_application(*method));
    let full = methods.filter(is_full).count();
    let detail = format!(
        "a method acquires {MOST_ACQUIRED} locks or more, or {MOST_REACQUISITIONS} pairs of them; those that are closest \
         were followed"
    );
    let gap = Gap::new(GapKind::Limit, REACQUIRED_LOCK, detail);
    (full > 0).then_some(Gap { count: full as u32, ..gap })
}

/// Whether the main thread is alone from where the context is taken to where the witness is locked again.
fn is_alone(
    context: &Context<'_>,
    main_method: &MainMethod,
    method: MethodId,
    pattern: &PatternInstance,
) -> bool {
    let reacquisition = &pattern.reacquisition;
    let last = reacquisition.through.map_or(reacquisition.pair.second.offset, |(call, _)| call);
    main_method.is_alone(context, method, pattern.context_offset, last)
}

/// Whether the witness is a library object that is often used by one thread alone (paper, 5.2), or
/// a stream: what is written to it in two pieces is rarely meant to be atomic.
fn is_left_out(
    context: &Context<'_>,
    lock_patterns: &LockPatterns,
    reacquisition: &Reacquisition,
) -> bool {
    let program = context.program;
    [&reacquisition.first, &reacquisition.second].into_iter().any(|lock| {
        let Some(class) = lock_class(program, reacquisition.pair.method, lock) else {
            return false;
        };
        let is_out = program.models().is(&class, ClassProperty::Stream)
            || (program.models().is(&class, ClassProperty::OftenConfined)
                && is_encapsulated(program, lock_patterns, lock.expression));
        let class = class.replace('/', ".");
        is_out && !context.config.include.iter().any(|pattern| pattern.matches(&class))
    })
}

/// Held in a private field that no getter gives away, or known by a local variable only.
fn is_encapsulated(
    program: &Program,
    lock_patterns: &LockPatterns,
    expression: LockExpression,
) -> bool {
    let is_inside = |field: FieldId| {
        program.fields[field].is_private() && !lock_patterns.published.contains(&field)
    };
    match (expression.steps().last(), expression.root) {
        (Some(PathElement::Field(field)), _) => is_inside(*field),
        (Some(_), _) => false,
        (None, ExpressionRoot::Static(field)) => is_inside(field),
        (None, ExpressionRoot::Local(_)) => true,
        (None, ExpressionRoot::Parameter(_) | ExpressionRoot::Class(_)) => false,
    }
}

/// The class of a lock's object, as far as it is known: what it must be, else its declared type.
fn lock_class(program: &Program, method: MethodId, lock: &Lock) -> Option<String> {
    if let Some(class) = lock.guard {
        return Some(program.classes[class].name.to_string());
    }
    // The `lock` of a reader or writer stands for the stream.
    if let Some(PathElement::Field(field)) = lock.expression.steps().last()
        && let class = program.fields[*field].class
        && program.models().is(&program.classes[class].name, ClassProperty::Stream)
    {
        return Some(program.classes[class].name.to_string());
    }
    declared_type(program, method, lock.expression)
}

/// The declared type of an expression: of its last field, or of the parameter it is.
fn declared_type(
    program: &Program,
    method: MethodId,
    expression: LockExpression,
) -> Option<String> {
    let class_of =
        |descriptor: &str| Some(descriptor.strip_prefix('L')?.strip_suffix(';')?.to_string());
    match (expression.steps().last(), expression.root) {
        (Some(PathElement::Field(field)), _) => class_of(&program.fields[*field].descriptor),
        (None, ExpressionRoot::Static(field)) => class_of(&program.fields[field].descriptor),
        (None, ExpressionRoot::Parameter(number)) => {
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

fn hypothesis(program: &Program, pattern: &PatternInstance, method: MethodId) -> Hypothesis {
    let reacquisition = &pattern.reacquisition;
    let locks = [&reacquisition.first, &reacquisition.second];
    let made_elsewhere = |step: &PathElement| match step {
        PathElement::Captured(lambda, _) => {
            program.lambdas[*lambda].host != program.methods[method].class
        }
        _ => false,
    };
    if locks.iter().any(|lock| lock.expression.steps().iter().any(made_elsewhere)) {
        return Hypothesis::Lambda;
    }
    let is_certain = |lock: &Lock| follows_from_declarations(program, method, lock);
    let guesses = reacquisition.pair.first.guesses + reacquisition.pair.second.guesses;
    if guesses == 0 || locks.into_iter().all(is_certain) {
        Hypothesis::Nothing
    } else {
        Hypothesis::Class
    }
}

/// Whether declared types alone say that the lock is taken: every object on the way is declared to
/// have the field that is read from it, and the last one to have the method that locks it.
fn follows_from_declarations(program: &Program, method: MethodId, lock: &Lock) -> bool {
    let declared_class = |expression: LockExpression| {
        declared_type(program, method, expression).and_then(|name| program.class_named(&name))
    };
    let mut so_far = LockExpression::new(lock.expression.root);
    for step in lock.expression.steps() {
        let PathElement::Field(field) = step else { return false };
        let holds = declared_class(so_far).is_some_and(|declared| {
            program.hierarchy.is_subtype(declared, program.fields[*field].class)
        });
        match so_far.then(*step) {
            Some(longer) if holds => so_far = longer,
            _ => return false,
        }
    }
    lock.guard.is_none_or(|class| {
        declared_class(so_far).is_some_and(|declared| program.hierarchy.is_subtype(declared, class))
    })
}

fn finding(
    context: &Context<'_>,
    lock_patterns: &LockPatterns,
    hypothesis: Hypothesis,
    pattern: &PatternInstance,
    method: MethodId,
) -> Option<Finding> {
    let program = context.program;
    let body = program.body(method)?;
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(program, context.graph, body, &no_getters);
    let reacquisition = &pattern.reacquisition;
    let subjects = |describe: &dyn Fn(LockExpression) -> String| {
        let describe_lock = |lock: &Lock| {
            let name = describe(lock.expression);
            match lock.guard {
                Some(class) if narrows_declared_type(program, method, lock, class) => {
                    format!("{name} (a {})", program.classes[class].dotted_name())
                }
                _ => name,
            }
        };
        let context_name = pattern.context.map_or_else(|| "a lock".to_string(), describe);
        let mut subjects = BTreeMap::from([("context", context_name)]);
        if reacquisition.rule() == REACQUIRED_LOCK {
            subjects.insert("witness", describe_lock(&reacquisition.first));
        } else {
            subjects.insert("first", describe_lock(&reacquisition.first));
            subjects.insert("second", describe_lock(&reacquisition.second));
        }
        subjects
    };
    let stable_subjects = subjects(&|expression| expressions.describe_stable(expression));
    let mut subjects = subjects(&|expression| expressions.describe(expression));
    let context_site = program.site(method, pattern.context_offset);
    let held = vec![HeldLock { lock: subjects["context"].clone(), taken_at: context_site.clone() }];
    let step = |role, acquisition: &Acquisition| Step {
        call_chain: acquisition_chain(program, lock_patterns, acquisition),
        held_locks: held.clone(),
        ..Step::at(role, program.site(reacquisition.pair.method, acquisition.offset))
    };
    let steps = vec![
        Step {
            call_chain: context_chain(program, lock_patterns, reacquisition),
            ..Step::at("context", context_site.clone())
        },
        step("first", &reacquisition.pair.first),
        step("second", &reacquisition.pair.second),
    ];
    let through = u32::from(reacquisition.depth);
    let distance = through + steps.iter().map(|step| step.call_chain.len() as u32).sum::<u32>();
    let grade = match hypothesis {
        _ if reacquisition.rule() == REACQUIRED_LOCK_PAIR => grade::TWO_LOCKS,
        Hypothesis::Class | Hypothesis::Lambda => grade::GUESSED_TARGET,
        Hypothesis::Nothing if distance > FAR => grade::FAR_LOCKS,
        Hypothesis::Nothing => grade::LOCK_GIVEN_BACK,
    };
    grade.note_in(&mut subjects);
    Some(Finding {
        rule: reacquisition.rule(),
        evidence: Evidence::Possible,
        severity: grade.at_most,
        blame: context_site,
        subjects,
        stable_subjects,
        witnesses: vec![Witness::new(ANALYSIS.name, steps)],
        distance,
        fingerprint: None,
        also: Vec::new(),
    })
}

/// Whether the class a lock's object must have is narrower than its declared type.
fn narrows_declared_type(program: &Program, method: MethodId, lock: &Lock, class: ClassId) -> bool {
    let declared =
        declared_type(program, method, lock.expression).and_then(|name| program.class_named(&name));
    match declared {
        Some(declared) => !program.hierarchy.is_subtype(declared, class),
        None => false,
    }
}

/// The calls from the method that holds the context to the place where the witness is locked.
fn context_chain(
    program: &Program,
    lock_patterns: &LockPatterns,
    reacquisition: &Reacquisition,
) -> Vec<Site> {
    let mut chain = Vec::new();
    let mut at = reacquisition.through.map(|(_, target)| target);
    while let Some(method) = at
        && method != reacquisition.pair.method
        && chain.len() < LONGEST_CHAIN
    {
        let next = lock_patterns.potential[method].iter().find(|next| {
            next.pair.method == reacquisition.pair.method
                && next.pair.second.offset == reacquisition.pair.second.offset
        });
        let Some((offset, target)) = next.and_then(|next| next.through) else { break };
        chain.push(program.site(method, offset));
        at = Some(target);
    }
    chain
}

/// The calls inside an acquisition, down to the instruction that takes the lock.
fn acquisition_chain(
    program: &Program,
    lock_patterns: &LockPatterns,
    acquisition: &Acquisition,
) -> Vec<Site> {
    let mut chain = Vec::new();
    let mut at = acquisition.inside;
    while let Some((method, lock)) = at
        && chain.len() < LONGEST_CHAIN
    {
        at = match lock_patterns.acquired[method].acquisition_of(&lock).map(|acquired| acquired.way)
        {
            Some(AcquiredAt::Here(offset)) => {
                chain.push(program.site(method, offset));
                None
            }
            Some(AcquiredAt::Call(offset, target, lock)) => {
                chain.push(program.site(method, offset));
                Some((target, lock))
            }
            None => None,
        };
    }
    chain
}

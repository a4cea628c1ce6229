//! A call as its caller sees it: what the summaries of its targets say, in the caller's terms.

use classes::bytecode::InvokeKind;
use program::Program;
use program::callgraph::{CallGraph, CallKind, Target};
use program::ids::{MethodId, ValueId};
use program::ir::{Body, Call, DynamicTarget, Operation};
use program::summaries::Summaries;

use super::config::MANY_TARGETS;
use super::domain::{Variable, container_field};
use super::summary::{ParameterEffect, ReadLock, Summary, WriteTarget};
use crate::locks::expression::{CallTerms, ExpressionRoot, Expressions, LockExpression};

/// What a call does.
pub(super) struct CallFacts {
    /// The writes.
    pub writes: Vec<CalleeWrite>,
    /// What the result was read from.
    pub returned: Vec<CalleeRead>,
    /// The values that the result carries.
    pub passed: Vec<ValueId>,
    /// What becomes of arguments, and of what lambdas among them captured.
    pub uses: Vec<CalleeUse>,
    /// Whether some target's result was read from somewhere.
    pub reads: bool,
}

/// A write that a call leads to.
pub(super) struct CalleeWrite {
    /// The write.
    pub target: WriteTarget,
    /// The argument whose object is changed, if it is one.
    pub properties: Option<ValueId>,
    /// Calls on the way.
    pub depth: u8,
    /// The method called.
    pub method: MethodId,
}

/// A variable that the result of a call was read from.
pub(super) struct CalleeRead {
    /// The variable.
    pub variable: Variable,
    /// The locks that were held and given back.
    pub locks: Vec<ReadLock>,
    /// Whether the callee took the value.
    pub is_taken: bool,
    /// Calls on the way.
    pub depth: u8,
    /// The method called.
    pub method: MethodId,
}

/// What becomes of a value inside a call.
pub(super) struct CalleeUse {
    /// The value.
    pub value: ValueId,
    /// What becomes of it.
    pub effect: ParameterEffect,
    /// Calls on the way.
    pub depth: u8,
    /// The method called.
    pub method: MethodId,
}

/// One target of a call, and how its terms become those of the caller.
struct Translation<'a> {
    program: &'a Program,
    body: &'a Body,
    call: &'a Call,
    terms: &'a CallTerms,
    target: &'a Target,
}

impl CallFacts {
    /// Puts together what is known of the targets of a call.
    pub(super) fn of(
        program: &Program,
        graph: &CallGraph,
        expressions: &Expressions<'_>,
        known: &Summaries<'_, Summary>,
        call: &Call,
        offset: u32,
    ) -> CallFacts {
        let body = expressions.body;
        let targets = graph.targets(body.method, offset);
        let named = [Target { method: call.method, call_kind: CallKind::Direct }];
        let targets = match targets.len() {
            1..=MANY_TARGETS => targets,
            _ => &named[..],
        };
        let mut facts = CallFacts {
            writes: Vec::new(),
            returned: Vec::new(),
            passed: Vec::new(),
            uses: Vec::new(),
            reads: false,
        };
        let is_silent = |target: &Target| known.of(target.method).is_empty();
        if targets.iter().all(is_silent) {
            return facts;
        }
        let terms = expressions.terms(call, offset, true);
        for target in targets {
            let summary = known.of(target.method);
            facts.reads |= !summary.returned.is_empty();
            let translation = Translation { program, body, call, terms: &terms, target };
            // Which of several methods runs is a guess, unless all of them take a lock.
            let takes_lock = |target: &Target| {
                known.of(target.method).returned.iter().any(|returned| !returned.locks.is_empty())
            };
            let is_guess = targets.len() > 1 && !targets.iter().all(takes_lock);
            facts.add(summary, &translation, is_guess);
        }
        facts
    }

    fn add(&mut self, summary: &Summary, translation: &Translation<'_>, is_guess: bool) {
        let method = translation.target.method;
        let is_constructor = translation.call.kind == InvokeKind::Special
            && &*translation.program.methods[translation.call.method].name == "<init>";
        for write in &summary.writes {
            let path = write.target.variable.path;
            // What a constructor does to its own object nobody else can see.
            let is_own = path.is_some_and(|path| path.root == ExpressionRoot::Parameter(0));
            if is_constructor && is_own {
                continue;
            }
            let properties = match path {
                Some(LockExpression { root: ExpressionRoot::Parameter(parameter), .. })
                    if path.is_some_and(|path| !path.steps().is_empty()) =>
                {
                    translation.argument(parameter)
                }
                _ => None,
            };
            self.writes.push(CalleeWrite {
                target: translation.write(&write.target),
                properties,
                depth: write.depth + 1,
                method,
            });
        }
        // What a method returns to the library, the library need not return.
        let is_returned = !matches!(translation.target.call_kind, CallKind::CalledBack { .. });
        for returned in summary.returned.iter().filter(|_| is_returned) {
            if is_guess && !returned.locks.is_empty() {
                continue;
            }
            let lock = |held: &ReadLock| ReadLock { lock: translation.path(held.lock), ..*held };
            self.returned.push(CalleeRead {
                variable: translation.variable(&returned.variable),
                locks: returned.locks.iter().map(lock).collect(),
                is_taken: returned.is_taken,
                depth: returned.depth + 1,
                method,
            });
        }
        let passed = summary.passed.iter().filter_map(|number| translation.argument(*number));
        self.passed.extend(passed);
        for used in &summary.uses {
            let Some(value) = translation.argument(used.parameter) else { continue };
            let effect = match &used.effect {
                ParameterEffect::Written(target) => {
                    ParameterEffect::Written(translation.write(target))
                }
                ParameterEffect::Decides(target) => {
                    ParameterEffect::Decides(translation.write(target))
                }
                ParameterEffect::Branches(against) => ParameterEffect::Branches(
                    against.iter().map(|variable| translation.variable(variable)).collect(),
                ),
                ParameterEffect::Passed => ParameterEffect::Passed,
            };
            let depth = used.depth + 1;
            self.uses.push(CalleeUse { value, effect, depth, method });
        }
    }
}

impl Translation<'_> {
    fn path(&self, path: Option<LockExpression>) -> Option<LockExpression> {
        Some(self.terms.translate(self.program, path?, self.target)?.expression)
    }

    fn variable(&self, variable: &Variable) -> Variable {
        let path = self.path(variable.path);
        // What a collection is called is known to the caller alone.
        let field = variable.field.or_else(|| container_field(path));
        Variable { path, field, ..*variable }
    }

    fn write(&self, write: &WriteTarget) -> WriteTarget {
        WriteTarget {
            variable: self.variable(&write.variable),
            locks: write.locks.iter().map(|lock| self.path(*lock)).collect(),
            checked: write.checked.iter().map(|variable| self.variable(variable)).collect(),
            is_update: write.is_update,
            removal: write.removal,
        }
    }

    /// The value that a parameter of the target stands for.
    fn argument(&self, parameter: u16) -> Option<ValueId> {
        let position = usize::from(parameter);
        let arguments = &self.call.arguments;
        let (lambda, at) = match self.target.call_kind {
            CallKind::Direct => return arguments.get(position).copied(),
            CallKind::Lambda(lambda) => (lambda, 0),
            CallKind::Callback { lambda, argument, .. } => (lambda, usize::from(argument)),
            CallKind::CalledBack { argument, is_kept } => {
                let is_argument = position == 0 && !is_kept;
                return arguments.get(usize::from(argument)).copied().filter(|_| is_argument);
            }
        };
        match position.checked_sub(self.program.lambdas[lambda].captured) {
            None => {
                // What the lambda captured is known where it is made.
                let made = self.body.without_casts(*arguments.get(at)?);
                match &self.body.defining_instruction(made)?.operation {
                    Operation::DynamicCall(made)
                        if made.target == DynamicTarget::Lambda(lambda) =>
                    {
                        made.arguments.get(position).copied()
                    }
                    _ => None,
                }
            }
            Some(position) if matches!(self.target.call_kind, CallKind::Lambda(_)) => {
                arguments.get(position + 1).copied()
            }
            Some(_) => None,
        }
    }
}

//! Tasks: methods that other threads run, and lambdas.

use classes::bytecode::{Instruction, InvokeKind, Kind};
use classes::descriptor::{MethodType, Type, parse_method};
use classes::{Constant, DynamicRef, MemberRef, MethodInfo, PoolIndex, access};
use events::SiteEntry;
use findings::Site;
use models::{Effect, MethodProperty, Models, language};
use rustc_hash::FxHashMap;

use crate::error::InstrumentError;
use crate::plan::calls::{call_target, is_pure};
use crate::plan::{MethodPlan, Planner};
use crate::sites::{NewSite, SiteTarget};
use crate::surgery::Snippet;
use agent_protocol::Hook;

/// The handles that call a method; a constructor is none.
const CALLING_HANDLES: [u8; 4] = [5, 6, 7, 9];

/// The methods of the class that are implementations of lambdas which other threads may run, by their
/// position, each with its key.
#[derive(Debug, Default)]
pub(super) struct Lambdas {
    keys: FxHashMap<usize, i32>,
    /// Whether the class makes a stream parallel.
    has_parallel_streams: bool,
}

/// Whether a method makes a stream parallel.
fn makes_parallel(models: &Models, method: &MemberRef<'_>) -> bool {
    models
        .find(method.class, method.name, method.descriptor)
        .is_some_and(|model| model.effects.contains(&Effect::Parallel))
}

impl<'a> Planner<'a> {
    /// Looks through all dynamic call sites, so that an implementation has its key whichever method comes
    /// first.
    pub(super) fn find_lambdas(&mut self) {
        let file = self.file;
        if file.bootstrap_methods.is_empty() {
            return;
        }
        let models = &self.config.models;
        self.lambdas.has_parallel_streams = file.pool.indices().any(|index| {
            matches!(
                file.pool.get(index),
                Ok(Constant::Member(member)) if makes_parallel(models, &member)
            )
        });
        let mut implementations: Vec<usize> = file
            .pool
            .indices()
            .filter_map(|index| match file.pool.get(index) {
                Ok(Constant::InvokeDynamic(call)) => self.task_implementation(&call),
                _ => None,
            })
            .collect();
        implementations.sort_unstable();
        implementations.dedup();
        for index in implementations {
            let method = &file.methods[index];
            let site = Site {
                class: self.class.clone(),
                method: method.name.to_string(),
                descriptor: method.descriptor.to_string(),
                offset: None,
                file: self.source.clone(),
                line: method.code.as_ref().and_then(|code| code.line_at(0)),
            };
            let entry = SiteEntry { site, ..SiteEntry::unknown() };
            match self.sites.add(NewSite { entry, target: SiteTarget::None }) {
                Some(key) => {
                    self.lambdas.keys.extend(i32::try_from(key.0).ok().map(|key| (index, key)));
                }
                None => self.hooks_left_out += 1,
            }
        }
    }

    /// Whether a call site makes a lambda or a method reference, and does nothing else.
    pub(super) fn makes_lambda(&self, call: &DynamicRef<'_>) -> bool {
        self.lambda_handle(call).is_some()
    }

    /// What a lambda or method reference calls.
    fn lambda_handle(&self, call: &DynamicRef<'_>) -> Option<(u8, MemberRef<'a>)> {
        let bootstrap = self.file.bootstrap_methods.get(usize::from(call.bootstrap))?;
        let Ok(Constant::MethodHandle { member, .. }) = self.file.pool.get(bootstrap.method) else {
            return None;
        };
        if &**member.class != language::LAMBDA_METAFACTORY {
            return None;
        }
        match self.file.pool.get(*bootstrap.arguments.get(1)?) {
            Ok(Constant::MethodHandle { kind, member }) => Some((kind, member)),
            _ => None,
        }
    }

    /// The position of the method that a lambda calls, when it is one of this class and other threads
    /// may run the lambda.
    fn task_implementation(&self, call: &DynamicRef<'_>) -> Option<usize> {
        let (kind, member) = self.lambda_handle(call)?;
        let Some(Type::Object(interface)) = parse_method(call.descriptor).ok()?.ret else {
            return None;
        };
        if !CALLING_HANDLES.contains(&kind)
            || *member.class != self.file.name
            || !self.may_run_elsewhere(interface)
        {
            return None;
        }
        self.file.methods.iter().position(|method| {
            method.name == *member.name
                && method.descriptor == *member.descriptor
                && method.code.is_some()
        })
    }

    /// The method that a method reference names, when it is one of another class and other threads may run it.
    fn task_reference(&self, call: &DynamicRef<'_>) -> Option<MemberRef<'a>> {
        let (kind, member) = self.lambda_handle(call)?;
        let Some(Type::Object(interface)) = parse_method(call.descriptor).ok()?.ret else {
            return None;
        };
        let is_meant = CALLING_HANDLES.contains(&kind)
            && *member.class != self.file.name
            && self.watches(member.class)
            && self.may_run_elsewhere(interface);
        is_meant.then_some(member)
    }

    /// Whether lambdas of this type may be run by other threads. Functions that only streams call are, where there are
    /// parallel streams.
    fn may_run_elsewhere(&self, interface: &str) -> bool {
        let models = &self.config.models;
        models.is_run_elsewhere(interface)
            || (models.task_methods(interface).next().is_some()
                && self.lambdas.has_parallel_streams)
    }

    /// Whether a method is, or may be, run as the body of a task. `elsewhere` asks only for tasks that
    /// other threads may run.
    pub(super) fn is_task_body(&self, method: &MethodInfo, elsewhere: bool) -> bool {
        if method.has_access(access::STATIC | access::BRIDGE | access::SYNTHETIC)
            || method.has_access(access::PRIVATE)
            || method.name.starts_with('<')
        {
            return false;
        }
        let Ok(parsed) = parse_method(&method.descriptor) else { return false };
        let models = &self.config.models;
        let supertypes = || self.file.super_name.iter().chain(&self.file.interfaces);
        let is_body_of = |class: &str| {
            (!elsewhere || models.is_run_elsewhere(class))
                && models.task_methods(class).any(|row| {
                    *row.method == *method.name
                        && parse_method(row.descriptor)
                            .is_ok_and(|declared| may_implement(&parsed, &declared))
                })
        };
        let is_known = supertypes().any(|name| {
            is_body_of(name) || models.supertypes(name).iter().any(|it| is_body_of(it))
        });
        // Of a class of the application it cannot be told from here whether it is a task.
        let may_be_known_elsewhere = supertypes().any(|name| self.is_application(name));
        let looks_like_a_task = looks_like_a_task(&method.name, &parsed);
        is_known || (looks_like_a_task && (&*method.name == "run" || may_be_known_elsewhere))
    }

    /// Whether the models say that a method is the body of a program, a task or a closure.
    pub(super) fn is_body_by_model(&self, method: &MethodInfo) -> bool {
        let supertypes = self.supertypes();
        self.config.models.is_body(self.context(&supertypes), &method.name, &method.descriptor)
    }
    /// Whether a method may be run by other threads: it is the body of a task, or a lambda or method reference names it.
    pub(super) fn may_be_body(&self, index: usize) -> bool {
        self.lambdas.keys.contains_key(&index) || self.is_task_body(&self.file.methods[index], true)
    }

    /// Whether a call may run the body of a task as an ordinary method. A call of the inherited method belongs to the
    /// body that makes it.
    pub(super) fn calls_task(
        &self,
        kind: InvokeKind,
        method: &MemberRef<'_>,
        types: &MethodType<'_>,
    ) -> bool {
        if matches!(kind, InvokeKind::Static | InvokeKind::Special) {
            return false;
        }
        if self.is_application(method.class) {
            return looks_like_a_task(method.name, types);
        }
        let models = &self.config.models;
        let is_task_of = |class: &str| {
            models.methods_of(class).any(|row| {
                row.property == MethodProperty::Task
                    && *row.method == **method.name
                    && parse_method(row.descriptor)
                        .is_ok_and(|declared| may_implement(types, &declared))
            })
        };
        is_task_of(method.class) || models.supertypes(method.class).iter().any(|it| is_task_of(it))
    }
}

/// Whether a method that nothing is known of may be the body of a task.
fn looks_like_a_task(name: &str, types: &MethodType<'_>) -> bool {
    let returns_object = types.ret.is_some_and(Type::is_reference);
    types.params.is_empty()
        && match name {
            "run" => types.ret.is_none(),
            "call" => returns_object,
            "compute" => types.ret.is_none() || returns_object,
            _ => false,
        }
}

/// Whether a method may implement a declared one, whose types are erased.
fn may_implement(method: &MethodType<'_>, declared: &MethodType<'_>) -> bool {
    let fits = |one: Type<'_>, erased: Type<'_>| {
        one == erased || (one.is_reference() && erased.is_reference())
    };
    method.params.len() == declared.params.len()
        && method.params.iter().zip(&declared.params).all(|(one, erased)| fits(*one, *erased))
        && match (method.ret, declared.ret) {
            (None, None) => true,
            (Some(one), Some(erased)) => fits(one, erased),
            _ => false,
        }
}

impl MethodPlan<'_, '_> {
    /// The body of a task: what runs at its end.
    pub(super) fn task_begin(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        if !self.planner.is_task_body(self.method, true) {
            return Ok(None);
        }
        let Some(site) = self.site(None, String::new(), SiteTarget::None) else { return Ok(None) };
        let mut entry = Snippet::new();
        entry.load(Kind::Ref, 0);
        self.call(&mut entry, Hook::TaskBegin, &[site])?;
        self.forward(&mut entry)?;
        self.edits.entry.append(&entry);
        self.task_end(site).map(Some)
    }

    /// The implementation of a lambda: what runs at its end. The key is its site, too.
    pub(super) fn lambda_begin(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        let Some(&key) = self.planner.lambdas.keys.get(&self.index) else { return Ok(None) };
        let mut entry = Snippet::new();
        self.call(&mut entry, Hook::LambdaBegin, &[key, key])?;
        self.forward(&mut entry)?;
        self.edits.entry.append(&entry);
        self.task_end(key).map(Some)
    }

    /// A body that does nothing but call another method says so: then that method is the body.
    fn forward(&mut self, entry: &mut Snippet) -> Result<(), InstrumentError> {
        let file = self.planner.file;
        if !self.planner.config.blocks {
            return Ok(());
        }
        let Some((offset, index)) = self.only_call() else { return Ok(()) };
        let Ok(method) = file.pool.member_ref(index) else { return Ok(()) };
        if !self.planner.watches(method.class) {
            return Ok(());
        }
        let target = call_target(&method, None, false);
        let Some(site) = self.call_site(offset, &method, target) else { return Ok(()) };
        self.call(entry, Hook::Forwards, &[site])
    }

    /// Whether a jump leads back over an instruction.
    pub(super) fn is_in_loop(&self, offset: u32) -> bool {
        self.instructions.iter().any(|(at, instruction)| match instruction {
            Instruction::Branch { target, .. } | Instruction::Goto(target) => {
                *target <= offset && offset < *at
            }
            _ => false,
        })
    }

    /// The one call that the method makes when nothing is thrown, if it does nothing else: operands are read, and results
    /// are boxed.
    fn only_call(&self) -> Option<(u32, PoolIndex)> {
        let file = self.planner.file;
        let models = &self.planner.config.models;
        let mut called = None;
        let mut at = 0;
        // No path is longer than the code, unless it is a loop.
        for _ in 0..self.instructions.len() {
            let (offset, instruction) = self.instructions.get(at)?;
            match instruction {
                Instruction::Return(_) => return called,
                Instruction::Goto(target) => {
                    at = self.instructions.binary_search_by_key(target, |(at, _)| *at).ok()?;
                    continue;
                }
                Instruction::Invoke { method, .. } => {
                    let callee = file.pool.member_ref(*method).ok()?;
                    let types = parse_method(callee.descriptor).ok()?;
                    if !is_pure(models, &callee, &types) {
                        if called.is_some() || callee.name.starts_with('<') {
                            return None;
                        }
                        called = Some((*offset, *method));
                    }
                }
                Instruction::PutField(_)
                | Instruction::PutStatic(_)
                | Instruction::ArrayStore(_)
                | Instruction::InvokeDynamic(_)
                | Instruction::MonitorEnter
                | Instruction::Branch { .. }
                | Instruction::Switch { .. }
                | Instruction::Jsr(_)
                | Instruction::New(_)
                | Instruction::Throw => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn task_end(&mut self, site: i32) -> Result<Snippet, InstrumentError> {
        let mut exit = Snippet::new();
        self.call(&mut exit, Hook::TaskEnd, &[site])?;
        Ok(exit)
    }

    pub(super) fn invoke_dynamic(
        &mut self,
        offset: u32,
        index: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let file = self.planner.file;
        let Ok(call) = file.pool.dynamic(index) else { return Ok(()) };
        self.may_synchronise |= !self.planner.makes_lambda(&call);
        if self.planner.config.blocks
            && let Some(method) = self.planner.task_reference(&call)
        {
            let target = SiteTarget::Reference {
                owner: method.class.to_string(),
                name: method.name.to_string(),
            };
            self.call_site(offset, &method, target);
        }
        let implementation = self.planner.task_implementation(&call);
        let key = implementation.and_then(|index| self.planner.lambdas.keys.get(&index).copied());
        let Some(key) = key else { return Ok(()) };
        let Some(site) = self.site(Some(offset), String::new(), SiteTarget::None) else {
            return Ok(());
        };
        let mut after = Snippet::new();
        after.dup();
        self.call(&mut after, Hook::Lambda, &[key, site])?;
        self.after(offset, &after);
        Ok(())
    }
}

//! Calls of the library: what its models say of a method becomes hooks around the call.
//!
//! Library classes are not rewritten, so that what a call does to locks, threads and memory order is
//! reported where it is made. Whatever gives something away (a release, a publication, the start of a
//! thread) is reported before the call, whatever receives something after it.
//!
//! Operands that lie below others are reached by putting those into local variables above the ones of
//! the method, and back. The variables are cleared after the call, so that they keep nothing alive.
//!
//! Not reported: what only happens when a call throws, and what a call does to objects that are not at
//! hand (an element of an atomic array, the field behind a `VarHandle`).

use classes::bytecode::{Instruction, InvokeKind, Kind, StackOp};
use classes::descriptor::{MethodType, Type, parse_method};
use classes::{MemberRef, PoolIndex, access};
use models::language::{self, OBJECT, THREAD};
use models::{ClassProperty, Effect, MethodProperty, Model, Models, Operand, Sharing};

use crate::class_hierarchy::ReportedBy;
use crate::error::InstrumentError;
use crate::plan::reports::{
    Call, NOTHING_SAID, Reports, Source, When, library_shows_order, reports,
};
use crate::plan::{MethodPlan, Planner};
use crate::sites::{Relation, SiteTarget};
use crate::surgery::{MethodEdits, Snippet};
use agent_protocol::{Hook, Op};

/// What the runtime must know of a call.
pub(super) fn call_target(
    method: &MemberRef<'_>,
    relation: Option<Relation>,
    begins_block: bool,
) -> SiteTarget {
    SiteTarget::Call {
        owner: method.class.to_string(),
        name: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        relation,
        begins_block,
    }
}

impl Planner<'_> {
    /// The model of a call, as far as it can be told from here what is called.
    pub(super) fn model(&self, method: &MemberRef<'_>) -> Option<&'static Model> {
        let (name, descriptor) = (&**method.name, &**method.descriptor);
        let models = &self.config.models;
        // Waiting and notifying are final, whichever class the code names.
        if let Some(model) = models.row_by_name(MethodProperty::Final, name, descriptor) {
            return Some(model);
        }
        if let Some(model) = self.user_row(method.class, name, descriptor) {
            // A method that is watched reports itself what its row says, whichever class a call names.
            return if self.watches(method.class) { None } else { Some(model) };
        }
        if !self.is_application(method.class) {
            return models.find(method.class, name, descriptor);
        }
        if name == "<init>" {
            return None;
        }
        if method.class == &self.file.name {
            let declared = self
                .file
                .methods
                .iter()
                .any(|own| own.name == *method.name && own.descriptor == *method.descriptor);
            if declared {
                return None;
            }
            // What this class inherits from the library, it inherits with its model.
            let supertypes = self.file.super_name.iter().chain(&self.file.interfaces);
            let inherited = supertypes
                .filter(|name| !self.is_application(name) && &***name != OBJECT)
                .find_map(|supertype| models.find(supertype, name, descriptor));
            if inherited.is_some() {
                return inherited;
            }
        }
        // A library that is not part of the platform may have models of its own.
        let modelled = models.find(method.class, name, descriptor);
        modelled.or_else(|| models.row_by_name(MethodProperty::KnownByName, name, descriptor))
    }

    /// Whether a method gives a view of the lock that it is called for.
    pub(super) fn gives_view(&self, method: PoolIndex) -> bool {
        let Ok(method) = self.file.pool.member_ref(method) else { return false };
        self.model(&method).is_some_and(|model| {
            let of_receiver =
                |it: &Effect| matches!(it, Effect::LockView { of: Operand::Receiver, .. });
            model.effects.iter().any(of_receiver)
        })
    }
}

/// Whether a call runs nothing but code of the library that depends on its arguments alone.
pub(super) fn is_pure(models: &Models, method: &MemberRef<'_>, types: &MethodType<'_>) -> bool {
    let is_value = |of: &Type<'_>| match of {
        Type::Object(class) => *class == language::STRING,
        Type::Array { .. } => false,
        _ => true,
    };
    (models.is(method.class, ClassProperty::ComputesValues)
        || models.sharing(method.class) == Some(Sharing::Immutable))
        && types.params.iter().all(is_value)
}

/// The numbers of a call for the accesses to its arguments.
#[derive(Debug, Default)]
struct ArgumentSites(Vec<(Source, i32)>);

impl ArgumentSites {
    fn of(&self, op: Op, source: Source) -> Option<i32> {
        let site = self.0.iter().find(|(of, _)| *of == source).map(|(_, site)| *site);
        site.filter(|_| is_access_to_contents(op))
    }
}

fn is_access_to_contents(op: Op) -> bool {
    matches!(op, Op::CollectionRead | Op::CollectionWrite | Op::ContentsRead | Op::ContentsWrite)
}

impl MethodPlan<'_, '_> {
    pub(super) fn invoke(
        &mut self,
        offset: u32,
        kind: InvokeKind,
        index: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let file = self.planner.file;
        let Ok(method) = file.pool.member_ref(index) else { return Ok(()) };
        let Ok(types) = parse_method(method.descriptor) else { return Ok(()) };
        self.clone_call(offset, kind, &method)?;
        let models = &self.planner.config.models;
        let is_pure = is_pure(models, &method, &types);
        if !is_pure {
            let reports = self.planner.reports_of(kind, &method, &types);
            self.may_synchronise |= reports == ReportedBy::Anything;
            self.makes_new |= reports == ReportedBy::NewObjects;
        }
        // The method that a bridge leads to is called by whoever calls the bridge.
        let is_call_of_program =
            self.planner.config.blocks && !self.method.has_access(access::BRIDGE);
        if is_call_of_program && self.planner.calls_task(kind, &method, &types) {
            let mut before = Snippet::new();
            let hook = if self.is_in_loop(offset) { Hook::CallsTasks } else { Hook::CallsTask };
            self.call(&mut before, hook, &[])?;
            self.before(offset, &before);
        }
        let collections = self.planner.config.collections && self.watches_accesses;
        let is_of_collection = || {
            models.contents_access(method.class, method.name, &[]).is_some()
                || collections && models.memory_access(method.class, method.name, &[]).is_some()
        };
        let model = self.planner.model(&method);
        let Some(model) = model.or_else(|| is_of_collection().then_some(&NOTHING_SAID)) else {
            return if is_pure { Ok(()) } else { self.approach_call(offset, &method) };
        };
        let call = Call {
            models,
            has_receiver: kind != InvokeKind::Static,
            is_constructor: &**method.name == "<init>",
            is_exact: kind == InvokeKind::Special,
            method,
            types,
        };
        // The lock and the buffer of a stream order what is written to it, which nobody means.
        if models.is(model.class, ClassProperty::Stream) {
            return self.approach_call(offset, &method);
        }
        let mut reports = reports(&call, model, self.planner.config);
        if !self.watches_accesses {
            reports.leave_out_contents();
        }
        if self.result_is_not_used(offset, &call.types)
            && models.commutes(method.class, method.name, method.descriptor)
        {
            reports.specialise_updates(Op::AtomicAdd);
        }
        if models.validates(method.class, method.name, method.descriptor) {
            reports.before(Op::EndOptimistic, Source::Position(0));
        }
        if models.compares(method.class, method.name, method.descriptor) {
            reports.specialise_updates(Op::AtomicSwap);
        }
        if library_shows_order(self.planner.config, model) {
            reports.leave_out_order();
            // What orders threads inside of code that is not watched is no variable of the program.
            if !self.watches_accesses {
                reports.leave_out_variables();
            }
        }
        if !self.planner.has_class_constants() {
            reports.before.retain(|(_, source)| *source != Source::Class);
            reports.after.retain(|(_, source, _)| *source != Source::Class);
        }
        if call.is_constructor {
            reports.key = None;
            // Only what the new object wraps is reported: before the call it is no object yet.
            reports.before.retain(|(_, source)| *source != Source::Position(0));
            reports.after.clear();
            reports.aliases.retain(|(view, ..)| *view == Source::Position(0));
            reports.aliases.truncate(1);
            reports.cuts = false;
        }
        if reports.is_empty() {
            return self.approach_call(offset, &method);
        }
        let relation = reports.aliases.first().map(|(_, _, relation)| *relation);
        let begins_block = reports.acquires() && self.has_regions();
        let target = call_target(&method, relation, begins_block);
        let Some(site) = self.call_site(offset, &method, target) else { return Ok(()) };
        self.approach_call_at(offset, site)?;
        self.surround(offset, &call, reports, site)
    }

    /// Whether a call has no result, or drops it at once.
    fn result_is_not_used(&self, offset: u32, types: &MethodType<'_>) -> bool {
        let at = self.instructions.partition_point(|(at, _)| *at <= offset);
        let next = self.instructions.get(at).map(|(_, next)| next);
        types.ret.is_none()
            || matches!(next, Some(Instruction::Stack(StackOp::Pop | StackOp::Pop2)))
    }

    /// A number for a call.
    pub(super) fn call_site(
        &mut self,
        offset: u32,
        method: &MemberRef<'_>,
        target: SiteTarget,
    ) -> Option<i32> {
        let called = format!("{}.{}", classes::binary_name(method.class), method.name);
        let subject = self.with_origin(offset, &called);
        self.site(Some(offset), subject, target)
    }

    /// Where threads may be held back, the hook in front of a call that is not reported otherwise: it may
    /// run a synchronized method, which takes its lock before any hook of its own can run.
    fn approach_call(
        &mut self,
        offset: u32,
        method: &MemberRef<'_>,
    ) -> Result<(), InstrumentError> {
        if !self.planner.config.adversarial || method.name.starts_with('<') {
            return Ok(());
        }
        let target = call_target(method, None, false);
        let Some(site) = self.call_site(offset, method, target) else { return Ok(()) };
        self.approach_call_at(offset, site)
    }

    fn approach_call_at(&mut self, offset: u32, site: i32) -> Result<(), InstrumentError> {
        if self.planner.config.adversarial {
            let mut before = Snippet::new();
            self.call(&mut before, Hook::ApproachCall, &[site])?;
            self.before(offset, &before);
        }
        Ok(())
    }

    /// Puts the reports around a call.
    fn surround(
        &mut self,
        offset: u32,
        call: &Call<'_>,
        mut reports: Reports,
        site: i32,
    ) -> Result<(), InstrumentError> {
        let since = reports.join_by_class();
        let kinds = call.kinds();
        let sites = self.sites_of_arguments(offset, call, &reports);
        let position = |source: Source| match source {
            Source::Position(position) => Some(position),
            Source::Result | Source::Class | Source::CurrentThread => None,
        };
        let needed_before = reports.before.iter().filter_map(|(_, source)| position(*source));
        let needed_after = reports
            .after
            .iter()
            .map(|(_, source, _)| *source)
            .chain(reports.aliases.iter().flat_map(|(view, of, _)| [*view, *of]))
            .chain(reports.key)
            .filter_map(position);
        let deepest_after = needed_after.min();
        let deepest = needed_before.chain(deepest_after).min();

        let mut before = Snippet::new();
        let mut after = Snippet::new();
        let mut slots = vec![None; kinds.len()];
        let mut used = 0;
        match deepest {
            // What is on top can be copied where it is.
            Some(top) if top + 1 == kinds.len() && deepest_after.is_none() => {
                for (op, source) in &reports.before {
                    match position(*source) {
                        Some(_) => {
                            before.dup();
                        }
                        None => self.push(&mut before, call, *source, &slots)?,
                    }
                    self.report_before(&mut before, *op, sites.of(*op, *source).unwrap_or(site))?;
                }
            }
            Some(deepest) => {
                let mut next = self.code.max_locals;
                // A new object stays on the stack in two copies, because it must not be in a local
                // variable before it is complete.
                let is_unfinished = call.is_constructor && deepest == 0;
                let first = if is_unfinished { 1 } else { deepest };
                for position in first..kinds.len() {
                    slots[position] = Some(next);
                    next = next.saturating_add(kinds[position].words() as u16);
                }
                used = next - self.code.max_locals;
                let spilled = || {
                    (deepest + 1..kinds.len())
                        .filter_map(|position| slots[position].map(|slot| (kinds[position], slot)))
                };
                for (kind, slot) in spilled().rev() {
                    before.store(kind, slot);
                }
                // The operand itself stays where it is: if it is null, the JVM says where it came
                // from.
                before.dup();
                if let Some(slot) = slots[deepest] {
                    before.store(Kind::Ref, slot);
                }
                for (op, source) in &reports.before {
                    self.push(&mut before, call, *source, &slots)?;
                    self.report_before(&mut before, *op, sites.of(*op, *source).unwrap_or(site))?;
                }
                for (kind, slot) in spilled() {
                    before.load(kind, slot);
                }
            }
            None => {
                for (op, source) in &reports.before {
                    self.push(&mut before, call, *source, &slots)?;
                    self.report_before(&mut before, *op, sites.of(*op, *source).unwrap_or(site))?;
                }
            }
        }
        if let Some(hook) = since {
            let slot = self.code.max_locals.saturating_add(used);
            used = used.saturating_add(Kind::Long.words() as u16);
            if hook != Hook::Since {
                self.push(&mut before, call, Source::Position(0), &slots)?;
            }
            self.call(&mut before, hook, &[site])?;
            before.store(Kind::Long, slot);
            match reports.take_concurrent() {
                Some(op) => {
                    after.load(Kind::Long, slot);
                    let joined = match reports.key {
                        Some(key) => {
                            self.push(&mut after, call, key, &slots)?;
                            Hook::ConcurrentEntry
                        }
                        None => Hook::Concurrent,
                    };
                    self.push(&mut after, call, Source::Position(0), &slots)?;
                    self.call(&mut after, joined, &[op.number(), site])?;
                }
                None => {
                    after.load(Kind::Long, slot);
                    self.call(&mut after, Hook::Interval, &[])?;
                }
            }
        }
        self.edits.extra_locals = self.edits.extra_locals.max(used);
        if reports.cuts {
            self.call(&mut before, Hook::Cut, &[])?;
        }
        for (view, of, _) in &reports.aliases {
            // A new object is on the stack already.
            if !(call.is_constructor && *view == Source::Position(0)) {
                self.push(&mut after, call, *view, &slots)?;
            }
            self.push(&mut after, call, *of, &slots)?;
            self.call(&mut after, Hook::Alias, &[site])?;
        }
        self.report_after(&mut after, call, &reports, &slots, site)?;
        for (kind, slot) in kinds.iter().zip(&slots) {
            if let (Kind::Ref, Some(slot)) = (kind, slot) {
                // `aconst_null`.
                after.raw(0x01, 0, 1).store(Kind::Ref, *slot);
            }
        }
        self.before(offset, &before);
        self.after(offset, &after);
        Ok(())
    }

    /// The arguments whose contents a call accesses are other objects than its receiver, from other fields: each such access
    /// has a number of its own for the call.
    fn sites_of_arguments(
        &mut self,
        offset: u32,
        call: &Call<'_>,
        reports: &Reports,
    ) -> ArgumentSites {
        let mut sites = ArgumentSites::default();
        let mut below = 0;
        for (position, kind) in call.kinds().into_iter().enumerate() {
            let source = Source::Position(position);
            let is_accessed = |(op, of): &(Op, Source)| *of == source && is_access_to_contents(*op);
            if position > 0 && reports.before.iter().any(is_accessed) {
                let method = &call.method;
                let called = format!("{}.{}", classes::binary_name(method.class), method.name);
                let subject = self.with_origin_of(offset, below, &called);
                let target = call_target(method, None, false);
                if let Some(site) = self.site(Some(offset), subject, target) {
                    sites.0.push((source, site));
                }
            }
            below += kind.words();
        }
        sites
    }

    /// The report of an object that is on top of the stack, before a call.
    fn report_before(
        &mut self,
        before: &mut Snippet,
        op: Op,
        site: i32,
    ) -> Result<(), InstrumentError> {
        if op == Op::CollectionRead {
            self.call(before, Hook::ReadContents, &[site])
        } else if op == Op::CollectionWrite {
            self.call(before, Hook::WriteContents, &[site])
        } else {
            self.call(before, Hook::Call, &[op.number(), site])
        }
    }

    /// The reports that follow a call, or stand before the end of a method that a user describes: its
    /// result, if it has one, is on top of the stack.
    fn report_after(
        &mut self,
        after: &mut Snippet,
        call: &Call<'_>,
        reports: &Reports,
        slots: &[Option<u16>],
        site: i32,
    ) -> Result<(), InstrumentError> {
        for (op, source, when) in &reports.after {
            let key_op = match op {
                Op::AtomicRead
                | Op::AtomicWrite
                | Op::AtomicUpdate
                | Op::AtomicAdd
                | Op::AtomicSwap => Some(Op::Key),
                Op::ConcurrentRead | Op::ConcurrentUpdate => Some(Op::ConcurrentKey),
                _ => None,
            };
            let key_op = key_op.filter(|_| *source == Source::Position(0));
            if let (Some(key), Some(key_op)) = (reports.key, key_op) {
                self.push(after, call, key, slots)?;
                self.call(after, Hook::Call, &[key_op.number(), site])?;
            }
            let hook = match when {
                When::Always => Hook::Call,
                When::NotZero => {
                    after.dup();
                    Hook::CallIf
                }
                When::Zero => {
                    after.dup();
                    Hook::CallIfNot
                }
                When::NotZeroLong => {
                    // `lconst_0`, `lcmp`.
                    after.dup2().raw(0x09, 0, 2).raw(0x94, 4, 1);
                    Hook::CallIf
                }
                When::Some => {
                    after.dup();
                    Hook::CallIfSome
                }
                When::None => {
                    after.dup();
                    Hook::CallIfNone
                }
            };
            self.push(after, call, *source, slots)?;
            self.call(after, hook, &[op.number(), site])?;
        }
        Ok(())
    }

    /// A method that a user describes: what its row says is reported where it begins and where it
    /// returns, and nothing else of it is watched.
    pub(super) fn make_described(
        mut self,
        row: &'static Model,
    ) -> Result<(MethodEdits, u32), InstrumentError> {
        let (file, config, info) = (self.planner.file, self.planner.config, self.method);
        let Ok(types) = parse_method(&info.descriptor) else { return Ok((self.edits, 0)) };
        let call = Call {
            models: &config.models,
            method: MemberRef {
                class: &file.name,
                name: &info.name,
                descriptor: &info.descriptor,
                is_interface: false,
            },
            types,
            has_receiver: !info.has_access(access::STATIC),
            is_constructor: &*info.name == "<init>",
            is_exact: false,
        };
        let slots = self.parameter_slots(&call);
        let mut reports = reports(&call, row, config);
        let is_at_hand = |source: &Source| match source {
            Source::Position(position) => slots.get(*position).is_some_and(Option::is_some),
            Source::Class => self.planner.has_class_constants(),
            Source::Result | Source::CurrentThread => true,
        };
        // Before it is constructed, an object must not be handed to a hook.
        reports.before.retain(|(_, source)| is_at_hand(source) && !call.is_constructor);
        // Whether the object is a concurrent collection is asked before a call.
        reports.after.retain(|(op, source, _)| is_at_hand(source) && !op.is_of_concurrent());
        reports.aliases.retain(|(face, of, _)| is_at_hand(face) && is_at_hand(of));
        reports.key = reports.key.filter(|key| is_at_hand(key));
        if reports.is_empty() {
            return Ok((self.edits, 0));
        }
        let relation = reports.aliases.first().map(|(_, _, relation)| *relation);
        let begins_block = reports.acquires() && self.has_regions();
        let target = call_target(&call.method, relation, begins_block);
        let Some(site) = self.call_site(0, &call.method, target) else {
            return Ok((self.edits, 0));
        };
        let mut entry = Snippet::new();
        for (op, source) in &reports.before {
            self.push(&mut entry, &call, *source, &slots)?;
            self.report_before(&mut entry, *op, site)?;
        }
        if reports.cuts {
            self.call(&mut entry, Hook::Cut, &[])?;
        }
        self.edits.entry.append(&entry);
        for (offset, instruction) in self.instructions {
            if matches!(instruction, Instruction::Return(_)) {
                let mut end = Snippet::new();
                for (face, of, _) in &reports.aliases {
                    self.push(&mut end, &call, *face, &slots)?;
                    self.push(&mut end, &call, *of, &slots)?;
                    self.call(&mut end, Hook::Alias, &[site])?;
                }
                self.report_after(&mut end, &call, &reports, &slots, site)?;
                self.before(*offset, &end);
            }
        }
        Ok((self.edits, self.hooks))
    }

    /// The local variables of the receiver and the parameters of this method; none for one that the
    /// method writes itself.
    fn parameter_slots(&self, call: &Call<'_>) -> Vec<Option<u16>> {
        let is_written = |slot: u16| {
            self.instructions.iter().any(|(_, instruction)| {
                matches!(instruction, Instruction::Store { slot: written, .. } if *written == slot)
            })
        };
        let mut next = 0_u16;
        let slots = call.kinds().into_iter().map(|kind| {
            let slot = next;
            next = next.saturating_add(kind.words() as u16);
            (!is_written(slot)).then_some(slot)
        });
        slots.collect()
    }

    /// Pushes an object that takes part in a call.
    fn push(
        &mut self,
        snippet: &mut Snippet,
        call: &Call<'_>,
        source: Source,
        slots: &[Option<u16>],
    ) -> Result<(), InstrumentError> {
        match source {
            Source::Position(position) => {
                if let Some(slot) = slots.get(position).copied().flatten() {
                    snippet.load(Kind::Ref, slot);
                }
            }
            // Pushed after the call only, when the result is on top.
            Source::Result => {
                snippet.dup();
            }
            Source::Class => self.push_class(snippet, call.method.class)?,
            Source::CurrentThread => {
                let current = "()Ljava/lang/Thread;";
                let method =
                    self.planner.editor.pool().method_ref(THREAD, "currentThread", current)?;
                snippet.invokestatic(method, 0, 1);
            }
        }
        Ok(())
    }
}

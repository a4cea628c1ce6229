//! Atomic blocks: which methods and synchronized blocks are meant to be all-or-nothing.

use classes::bytecode::Instruction;
use classes::{Annotation, access};
use models::{Pattern, language};

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::regions::{self, Region};
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::Hook;

/// What of a method is an atomic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atomic {
    /// All of it.
    Method,
    /// Its outermost synchronized blocks.
    SynchronizedBlocks,
    /// Nothing.
    Nothing,
}

impl MethodPlan<'_, '_> {
    /// Marks the atomic blocks of the method. When the method as a whole is one: what runs at its end.
    pub(super) fn block_begin(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        if !self.planner.config.blocks || !self.watches_accesses {
            return Ok(None);
        }
        match self.atomic() {
            Atomic::Nothing => Ok(None),
            Atomic::SynchronizedBlocks => self.mark_synchronized_blocks().map(|()| None),
            Atomic::Method => self.mark_method(),
        }
    }

    /// What is an atomic block here: as the patterns say, else as the annotations say, else as it is
    /// by default.
    fn atomic(&self) -> Atomic {
        let method = self.method;
        let is_lambda = method.name.starts_with("lambda$");
        let is_compiler_made = method.has_access(access::BRIDGE | access::SYNTHETIC);
        if method.name.starts_with('<') || (is_compiler_made && !is_lambda) {
            return Atomic::Nothing;
        }
        let spec = &self.planner.config.atomic;
        let name = &self.full_name;
        let matches = |pattern: &&Pattern| pattern.matches(name);
        if spec.exclude.iter().any(|pattern| matches(&pattern)) {
            return Atomic::Nothing;
        }
        if is_lambda {
            return Atomic::SynchronizedBlocks;
        }
        let is_thread_body = self.planner.is_task_body(method, false)
            || self.planner.is_body_by_model(method)
            || (&*method.name == "main" && &*method.descriptor == language::MAIN_DESCRIPTOR);
        let including = spec.include.iter().find(matches);
        if let Some(pattern) = including {
            // Whoever includes a class means its methods as far as they can be meant.
            let names_class = pattern.matches(&self.planner.class);
            return if is_thread_body && names_class { Atomic::Nothing } else { Atomic::Method };
        }
        let annotated = annotation(&method.annotations)
            .or_else(|| annotation(&self.planner.file.annotations).filter(|says| !says));
        match annotated {
            Some(true) => Atomic::Method,
            Some(false) => Atomic::Nothing,
            None if !spec.include.is_empty() || is_thread_body => Atomic::Nothing,
            None => {
                let is_private = method.has_access(access::PRIVATE);
                if is_private && !method.has_access(access::SYNCHRONIZED) {
                    Atomic::SynchronizedBlocks
                } else {
                    Atomic::Method
                }
            }
        }
    }

    fn mark_method(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        let may_synchronise = self.may_synchronise || self.method.has_access(access::SYNCHRONIZED);
        // A block with one access is atomic by itself.
        if !may_synchronise && self.accesses < 2 {
            return Ok(None);
        }
        if self.only_forwards() {
            return Ok(None);
        }
        let subject = self.full_name.clone();
        let Some(site) = self.site(None, subject, SiteTarget::Block) else { return Ok(None) };
        let mut entry = Snippet::new();
        self.call(&mut entry, Hook::Begin, &[site])?;
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, Hook::End, &[site])?;
        Ok(Some(exit))
    }

    /// Whether the method does nothing but call one other method, once, that is an atomic block by
    /// itself: the two are split together, and the inner one is the one to mend.
    fn only_forwards(&self) -> bool {
        let spec = &self.planner.config.atomic;
        let is_default = spec.include.is_empty()
            && spec.exclude.is_empty()
            && annotation(&self.method.annotations).is_none();
        if !is_default || self.accesses > 0 || self.method.has_access(access::SYNCHRONIZED) {
            return false;
        }
        let mut called = None;
        for (offset, instruction) in self.instructions {
            match instruction {
                Instruction::Invoke { method, .. } if called.is_none() => called = Some(*method),
                Instruction::Invoke { .. }
                | Instruction::InvokeDynamic(_)
                | Instruction::MonitorEnter
                | Instruction::Jsr(_) => return false,
                Instruction::Goto(target) | Instruction::Branch { target, .. }
                    if target <= offset =>
                {
                    return false;
                }
                _ => {}
            }
        }
        let file = self.planner.file;
        let Some(Ok(callee)) = called.map(|method| file.pool.member_ref(method)) else {
            return false;
        };
        let is_own_private = **callee.class == *file.name
            && file.methods.iter().any(|method| {
                method.name == *callee.name
                    && method.descriptor == *callee.descriptor
                    && method.has_access(access::PRIVATE)
            });
        let mut tasks = self.planner.config.models.all_task_methods();
        let may_be_task = tasks.any(|task| *task.method == **callee.name);
        self.planner.config.watches(callee.class)
            && !callee.name.starts_with('<')
            && !is_own_private
            && !may_be_task
    }

    /// Marks the outermost synchronized blocks.
    ///
    /// The block begins when its monitor has been entered, before that is reported, and ends after it is
    /// reported that the monitor is given back, before it is: whatever goes wrong with the monitor
    /// itself, beginning and end stay a pair, and the reports come in the same order as if they stood
    /// outside.
    fn mark_synchronized_blocks(&mut self) -> Result<(), InstrumentError> {
        let Some(regions) = regions::find(self.instructions, &self.code.handlers) else {
            return Ok(());
        };
        for Region { enter, exits, .. } in regions.into_iter().filter(|it| it.is_outermost) {
            let subject = self.full_name.clone();
            let Some(site) = self.site(Some(enter), subject, SiteTarget::Block) else {
                continue;
            };
            let mut begin = Snippet::new();
            self.call(&mut begin, Hook::Begin, &[site])?;
            let after = self.edits.after(enter);
            begin.append(after);
            *after = begin;
            for exit in exits {
                let mut end = Snippet::new();
                self.call(&mut end, Hook::End, &[site])?;
                self.before(exit, &end);
            }
        }
        Ok(())
    }
}

/// Whether annotations say that something is, or is not, meant to be atomic.
fn annotation(annotations: &[Annotation]) -> Option<bool> {
    annotations.iter().find_map(|annotation| match annotation.simple_name() {
        "Atomic" => Some(true),
        "NotAtomic" => Some(false),
        _ => None,
    })
}

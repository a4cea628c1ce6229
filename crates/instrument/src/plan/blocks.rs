//! Atomic blocks: which methods, and which regions between acquiring and giving back a lock, are meant to be
//! all-or-nothing.
//!
//! - A method that is not private, or is synchronized, is a block.
//! - `main`, constructors, class initialisers, lambdas, test methods and what runs tests are none.
//! - A method that threads or executors may run as their body is a block unless one does: that is known when it is called.
//!   Where the program itself calls such a method, a hook says that it is a call as any other.
//! - Wherever a lock is acquired and no block is open, a block begins, which ends when that lock is given back. That
//!   is up to the runtime; here it is decided only where it may do so. Synchronized blocks of methods that are no blocks
//!   are marked here, so that they are known inside other blocks too.

use classes::bytecode::Instruction;
use classes::{Annotation, access};
use models::{ClassProperty, EntryThread, Matcher, Pattern, language};

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::regions::{self, Region};
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::Hook;

/// What of a method is meant to be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicPart {
    /// All of it.
    Method,
    /// All of it, unless it runs as the body of a thread or task.
    MethodUnlessBody,
    /// What it does while it holds a lock.
    Regions,
    /// Nothing.
    Nothing,
}

impl MethodPlan<'_, '_> {
    /// Marks the atomic blocks of the method. When the method as a whole is one: what runs at its end.
    pub(super) fn block_begin(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        match self.atomic {
            AtomicPart::Nothing => Ok(None),
            AtomicPart::Regions => self.mark_synchronized_blocks().map(|()| None),
            AtomicPart::Method => self.mark_method(Hook::Begin, Hook::End),
            AtomicPart::MethodUnlessBody => {
                self.mark_method(Hook::BeginUnlessBody, Hook::EndUnlessBody)
            }
        }
    }

    /// Whether a block may begin where the method acquires a lock.
    pub(super) fn has_regions(&self) -> bool {
        self.atomic != AtomicPart::Nothing
    }

    /// What is meant to be atomic here: as the patterns say, else as the annotations say, else as it is
    /// by default.
    pub(super) fn atomic_part(&self) -> AtomicPart {
        if !self.planner.config.blocks || !self.watches_accesses {
            return AtomicPart::Nothing;
        }
        let method = self.method;
        let is_lambda = method.name.starts_with("lambda$");
        let is_compiler_made = method.has_access(access::BRIDGE | access::SYNTHETIC);
        if is_compiler_made && !is_lambda {
            return AtomicPart::Nothing;
        }
        let spec = &self.planner.config.atomic;
        let name = &self.full_name;
        let matches = |pattern: &&Pattern| pattern.matches(name);
        if spec.exclude.iter().any(|pattern| matches(&pattern)) {
            return AtomicPart::Nothing;
        }
        // Whoever includes a class means its methods as far as they can be meant.
        let including = spec.include.iter().find(matches);
        let is_named = including.is_some_and(|pattern| !pattern.matches(&self.planner.class));
        let says = annotation(&method.annotations);
        let is_wanted = is_named || (including.is_none() && says == Some(true));
        let of_class = annotation(&self.planner.file.annotations).filter(|says| !says);
        let is_unwanted = including.is_none()
            && match says.or(of_class) {
                Some(says) => !says,
                None => !spec.include.is_empty(),
            };
        let can_be_block = !is_lambda && !method.name.starts_with('<');
        if is_unwanted {
            AtomicPart::Nothing
        } else if !can_be_block {
            AtomicPart::Regions
        } else if is_wanted {
            AtomicPart::Method
        } else if self.is_main()
            || self.is_of_tests()
            || self.planner.is_body_by_model(method)
            || (method.has_access(access::PRIVATE)
                && !method.has_access(access::SYNCHRONIZED)
                && including.is_none())
        {
            AtomicPart::Regions
        } else if self.planner.may_be_body(self.index) {
            AtomicPart::MethodUnlessBody
        } else {
            AtomicPart::Method
        }
    }

    /// Whether the program begins here: with or without arguments, in whichever language.
    fn is_main(&self) -> bool {
        &*self.method.name == "main"
            && [language::MAIN_DESCRIPTOR, language::SHORT_MAIN_DESCRIPTOR]
                .contains(&&*self.method.descriptor)
    }

    /// Whether the method is a test, prepares one, or belongs to what runs them.
    fn is_of_tests(&self) -> bool {
        let (planner, method) = (&self.planner, self.method);
        let models = &planner.config.models;
        if models.is(&planner.file.name, ClassProperty::TestRunner) {
            return true;
        }
        let fits = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        let annotated = |annotations: &[Annotation], wanted: &str| {
            annotations.iter().any(|annotation| annotation.is_named(wanted))
        };
        models.entry_points().filter(|entry| entry.thread == EntryThread::Test).any(|entry| {
            entry.names(&method.name)
                && fits(entry.descriptor, &method.descriptor)
                && match entry.matcher {
                    Matcher::MethodAnnotation(name) => annotated(&method.annotations, name),
                    Matcher::ClassAnnotation(name) => annotated(&planner.file.annotations, name),
                    Matcher::Subtype(name) => {
                        let above = planner.config.hierarchy.with_supertypes(&planner.file.name);
                        above.iter().any(|class| **class == *name)
                    }
                    Matcher::SubtypeOfPackage(_) | Matcher::AnyStatic => false,
                }
        })
    }

    fn mark_method(&mut self, begin: Hook, end: Hook) -> Result<Option<Snippet>, InstrumentError> {
        let may_synchronise = self.may_synchronise || self.method.has_access(access::SYNCHRONIZED);
        // A block with one access is atomic by itself. One that works on new objects alone receives nothing from other
        // threads, so that it can be put together where it began: no cycle leads through it that does not lead through its
        // accesses as well if each stands for itself.
        let is_single = self.accesses < 2 && !self.makes_new;
        if !may_synchronise && (is_single || self.accesses == self.new_accesses) {
            return Ok(None);
        }
        if self.only_forwards() {
            return Ok(None);
        }
        let subject = self.full_name.clone();
        let target = self.block_target();
        let Some(site) = self.site(None, subject, target) else { return Ok(None) };
        let mut entry = Snippet::new();
        self.call(&mut entry, begin, &[site])?;
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, end, &[site])?;
        Ok(Some(exit))
    }

    /// Whether the method does nothing but call one other method, once, that is an atomic block by
    /// itself: the two are split together, and the inner one is the one to mend.
    fn only_forwards(&self) -> bool {
        let spec = &self.planner.config.atomic;
        let is_default = spec.include.is_empty()
            && spec.exclude.is_empty()
            && annotation(&self.method.annotations).is_none();
        // Which blocks there are, and so who is blamed, does not depend on a list.
        let accesses = self.accesses + self.unlisted_accesses;
        if !is_default || accesses > 0 || self.method.has_access(access::SYNCHRONIZED) {
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

    fn block_target(&self) -> SiteTarget {
        let class = self.planner.file.name.to_string();
        SiteTarget::Block { class, method: self.method.name.to_string() }
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
            let target = self.block_target();
            let Some(site) = self.site(Some(enter), subject, target) else {
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

//! What is inserted where.
//!
//! One pass over the instructions of each method; one file for each kind of thing that is watched. Two
//! rules keep the program as it was:
//!
//! - Hooks of reads stand after the access, those of writes before it, and an operand that the
//!   instruction checks for null is duplicated where it lies and never taken through a local variable:
//!   so exceptions come from the same instructions with the same messages.
//! - What may be an object under construction is not handed to a hook.

mod arrays;
mod blocks;
mod branches;
mod calls;
mod constructors;
mod copies;
mod field_origins;
mod fields;
mod followed_methods;
mod monitors;
mod new_objects;
#[cfg(test)]
mod new_objects_oracle;
mod reporting;
mod reports;
mod sides;
mod spins;
mod stack_words;
mod tasks;
mod unseen_state;

pub(crate) use fields::{CONTENTS, IDENTITY, INJECTED_ACCESS, LAST_READ, LAST_WRITE};

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use classes::bytecode::{Instruction, decode_all};
use classes::{ClassFile, Code, MethodInfo, access};
use events::{Seen, SiteEntry};
use findings::Site;
use models::{Model, Sharing, language};
use rustc_hash::FxHashMap;

pub use reporting::report_from_library;

use crate::config::{Config, Coverage, ListedAs, WatchList};
use crate::error::{InstrumentError, LeftAlone, LeftAloneReason, UnfollowedReason};
use crate::plan::blocks::AtomicPart;
use crate::plan::constructors::Construction;
use crate::plan::field_origins::FieldOrigins;
use crate::plan::followed_methods::FollowedMethods;
use crate::plan::new_objects::ObjectFlow;
use crate::plan::tasks::Lambdas;
use crate::sites::{NewSite, SiteTable, SiteTarget};
use crate::surgery::{ClassEditor, MethodEdits, Snippet};
use crate::{Outcome, Rewritten};
use agent_protocol::{Hook, ORDER_CLASS, OrderHook, RUNTIME_CLASS};

/// Inserts hooks into a class, for everything that is watched or for what orders threads alone.
///
/// # Errors
/// When the bytes are not a class file, or the class has no room for what must be added. The class can
/// then be loaded as it is.
pub fn instrument(
    bytes: &[u8],
    config: &Config,
    coverage: Coverage,
    sites: &mut dyn SiteTable,
) -> Result<Outcome, InstrumentError> {
    // The list is about the class as it was compiled.
    let original = bytes;
    let without_lock = match &config.dropped_lock {
        Some(lock) => lock.drop_from(bytes)?,
        None => None,
    };
    let bytes = without_lock.as_deref().unwrap_or(bytes);
    let file = ClassFile::parse(Arc::from(bytes))?;
    config.hierarchy.add(&file);
    if !config.watches(&file.name)
        || file.has_access(access::MODULE)
        || file.fields.iter().any(|field| field.name.starts_with(fields::INJECTED))
    {
        return Ok(Outcome::Unchanged);
    }
    let mut planner = Planner::new(&file, bytes, config, coverage, sites)?;
    let listed_as = config.watch.as_ref().map(|list| list.listed_as(&planner.class, original));
    planner.list = config.watch.as_ref().filter(|_| listed_as == Some(ListedAs::Analysed));
    let has_new_fields = planner.inject_fields()?;
    planner.find_lambdas();
    planner.follow_methods();
    if config.speculation {
        planner.sites.keep_class(&file.name);
    }
    for index in 0..file.methods.len() {
        planner.method(index);
    }
    let Planner { editor, hooks, hooks_left_out, left_alone, unfollowed, .. } = planner;
    let has_dropped_lock = without_lock.is_some();
    let is_unchanged = !has_new_fields
        && !has_dropped_lock
        && hooks == 0
        && hooks_left_out == 0
        && left_alone.is_empty();
    if is_unchanged {
        return Ok(Outcome::Unchanged);
    }
    let bytes = editor.finish()?;
    Ok(Outcome::Rewritten(Rewritten {
        bytes,
        hooks,
        hooks_left_out,
        left_alone,
        unfollowed_branches: unfollowed,
        has_dropped_lock,
        listed_as,
    }))
}

/// The plan of one class.
struct Planner<'a> {
    file: &'a ClassFile,
    config: &'a Config,
    coverage: Coverage,
    sites: &'a mut dyn SiteTable,
    editor: ClassEditor<'a>,
    /// Which of the classes that were asked about are watched.
    watched: RefCell<FxHashMap<Arc<str>, bool>>,
    /// The name of the class, with dots.
    class: String,
    /// The path of its source below a source root.
    source: Option<String>,
    /// The only accesses to watch, where a list knows this class.
    list: Option<&'a WatchList>,
    lambdas: Lambdas,
    followed: FollowedMethods,
    /// Which methods may change state that is not watched, as far as somebody has asked.
    unseen_changes: FxHashMap<usize, bool>,
    /// The constants of the hooks that were used so far, in the order of the table.
    hook_constants: [Option<u16>; Hook::ALL.len()],
    hooks: u32,
    hooks_left_out: u32,
    left_alone: Vec<LeftAlone>,
    /// Branches whose sides are not followed.
    unfollowed: BTreeMap<UnfollowedReason, u32>,
}

impl<'a> Planner<'a> {
    fn new(
        file: &'a ClassFile,
        bytes: &'a [u8],
        config: &'a Config,
        coverage: Coverage,
        sites: &'a mut dyn SiteTable,
    ) -> Result<Planner<'a>, InstrumentError> {
        let source = file.source_file.as_ref();
        Ok(Planner {
            class: classes::binary_name(&file.name),
            source: source.map(|source| classes::source_path(&file.name, source)),
            watched: RefCell::default(),
            list: None,
            lambdas: Lambdas::default(),
            followed: FollowedMethods::default(),
            unseen_changes: FxHashMap::default(),
            file,
            config,
            coverage,
            sites,
            editor: ClassEditor::new(bytes)?,
            hook_constants: [None; Hook::ALL.len()],
            hooks: 0,
            hooks_left_out: 0,
            left_alone: Vec::new(),
            unfollowed: BTreeMap::new(),
        })
    }
}

impl Planner<'_> {
    /// Plans one method and hands the plan to the editor.
    fn method(&mut self, index: usize) {
        let file = self.file;
        let method = &file.methods[index];
        let Some(code) = &method.code else {
            if method.has_access(access::NATIVE) {
                self.keep_unknown_tree(method);
            }
            return;
        };
        let row = self.user_row(&file.name, &method.name, &method.descriptor);
        if row.is_some() {
            self.keep_unknown_tree(method);
        }
        let make = move |plan: MethodPlan<'_, '_>| match row {
            Some(row) => plan.make_described(row),
            None => plan.make(),
        };
        self.method_with(index, method, code, make);
    }

    /// The same, with a plan that is made in this way.
    fn method_with(
        &mut self,
        index: usize,
        method: &MethodInfo,
        code: &Code,
        make: impl FnOnce(MethodPlan<'_, '_>) -> Result<(MethodEdits, u32), InstrumentError>,
    ) {
        let planned = match decode_all(self.file.code_bytes(code)) {
            Ok(instructions) => self.plan(index, method, code, &instructions, make),
            Err(error) => Err(LeftAloneReason::Unreadable(error)),
        };
        let done = match planned {
            Ok((edits, hooks)) => match self.editor.edit_method(index, &edits) {
                Ok(()) => {
                    self.hooks += hooks;
                    return;
                }
                Err(left_alone) => left_alone,
            },
            Err(reason) => {
                LeftAlone { method: format!("{}{}", method.name, method.descriptor), reason }
            }
        };
        self.left_alone.push(done);
    }

    fn plan(
        &mut self,
        index: usize,
        method: &MethodInfo,
        code: &Code,
        instructions: &[(u32, Instruction)],
        make: impl FnOnce(MethodPlan<'_, '_>) -> Result<(MethodEdits, u32), InstrumentError>,
    ) -> Result<(MethodEdits, u32), LeftAloneReason> {
        let full_name = format!("{}.{}", self.class, method.name);
        let listed =
            self.list.map(|list| list.offsets(&self.class, &method.name, &method.descriptor));
        let watches_accesses =
            self.coverage == Coverage::Everything && self.config.watches_method(&full_name);
        let construction = if &*method.name == "<init>" {
            Construction::of(self.file, code, instructions)
        } else {
            Construction::Over
        };
        let objects = self.objects(index);
        let mut plan = MethodPlan {
            objects,
            origins: None,
            index,
            method,
            code,
            instructions,
            full_name,
            listed,
            watches_accesses,
            construction,
            edits: MethodEdits::new(),
            exit: Snippet::new(),
            hooks: 0,
            accesses: 0,
            unlisted_accesses: 0,
            new_accesses: 0,
            makes_new: false,
            may_synchronise: false,
            atomic: AtomicPart::Nothing,
            field_sites: FxHashMap::default(),
            planner: self,
        };
        plan.atomic = plan.atomic_part();
        make(plan).map_err(LeftAloneReason::Pool)
    }

    /// What a user says of a method of this class, or of the nearest known supertype that has a row.
    fn user_row(&self, class: &Arc<str>, name: &str, descriptor: &str) -> Option<&'static Model> {
        let models = &self.config.models;
        if !models.has_users() {
            return None;
        }
        let inherits = name != "<init>";
        let classes = self.config.hierarchy.with_supertypes(class);
        let classes = classes.iter().take(if inherits { usize::MAX } else { 1 });
        classes.into_iter().find_map(|class| models.user_row(class, name, descriptor))
    }

    /// Whether a user says that threads may share objects of this class, or never do.
    fn is_safe_by_user(&self, class: &str) -> bool {
        self.config.models.user_sharing(class).is_some_and(|sharing| match sharing {
            Sharing::Immutable | Sharing::ThreadSafe | Sharing::ThreadConfined => true,
            Sharing::NotThreadSafe => false,
        })
    }

    /// Whether a class is watched.
    fn watches(&self, internal: &Arc<str>) -> bool {
        let mut known = self.watched.borrow_mut();
        *known.entry(Arc::clone(internal)).or_insert_with(|| self.config.watches(internal))
    }

    /// Whether a class is no part of the platform, so that its methods may do anything.
    fn is_application(&self, internal: &Arc<str>) -> bool {
        !language::is_platform(internal) || self.watches(internal)
    }

    /// Whether class constants can be loaded, as versions from 49 on allow.
    fn has_class_constants(&self) -> bool {
        self.file.version.major >= 49
    }
}

/// The plan of one method.
struct MethodPlan<'p, 'a> {
    planner: &'p mut Planner<'a>,
    /// The position of the method in its class.
    index: usize,
    method: &'p MethodInfo,
    code: &'p Code,
    instructions: &'p [(u32, Instruction)],
    /// Class and method, with dots.
    full_name: String,
    /// The accesses that the watch list has for this method, when there is a list.
    listed: Option<Option<&'p BTreeSet<u32>>>,
    /// Whether the accesses of this method are watched; otherwise it gives order only.
    watches_accesses: bool,
    /// Which operands may be the object under construction.
    construction: Construction,
    /// Which objects nobody else knows.
    objects: Option<Rc<ObjectFlow>>,
    /// Which fields objects were read from, once somebody has asked.
    origins: Option<FieldOrigins>,
    edits: MethodEdits,
    /// What runs whenever the method ends.
    exit: Snippet,
    hooks: u32,
    /// How many accesses have hooks.
    accesses: u32,
    /// Accesses that would be watched if a list had them.
    unlisted_accesses: u32,
    /// How many of these are to objects that no other thread can know yet.
    new_accesses: u32,
    /// Whether the method may call code that accesses such objects, and nothing else.
    makes_new: bool,
    /// Whether the method may call watched code, take a lock, or access a volatile variable.
    may_synchronise: bool,
    /// What of it is meant to be atomic.
    atomic: AtomicPart,
    /// The sites of the accesses to fields that have hooks, by offset.
    field_sites: FxHashMap<u32, i32>,
}

impl MethodPlan<'_, '_> {
    fn make(mut self) -> Result<(MethodEdits, u32), InstrumentError> {
        for (offset, instruction) in self.instructions {
            self.instruction(*offset, instruction)?;
        }
        self.cut_at_spins()?;
        self.mark_class_initialised()?;
        // From the outside in: a task contains its atomic block, and the block its lock.
        let mut exits = Vec::new();
        exits.extend(self.task_begin()?);
        exits.extend(self.lambda_begin()?);
        exits.extend(self.block_begin()?);
        exits.extend(self.enter_method()?);
        exits.extend(self.tell_sides()?);
        for exit in exits.iter().rev() {
            self.exit.append(exit);
        }
        if !self.exit.is_empty() {
            self.edits.exit = Some(self.exit);
        }
        Ok((self.edits, self.hooks))
    }

    fn instruction(
        &mut self,
        offset: u32,
        instruction: &Instruction,
    ) -> Result<(), InstrumentError> {
        match instruction {
            Instruction::GetField(field) => self.get_field(offset, *field),
            Instruction::PutField(field) => self.put_field(offset, *field),
            Instruction::GetStatic(field) => self.get_static(offset, *field),
            Instruction::PutStatic(field) => self.put_static(offset, *field),
            Instruction::ArrayLoad(_) => self.array_load(offset),
            Instruction::ArrayStore(kind) => self.array_store(offset, *kind),
            Instruction::MonitorEnter => self.monitor_enter(offset),
            Instruction::MonitorExit => self.monitor_exit(offset),
            Instruction::Invoke { kind, method } => self.invoke(offset, *kind, *method),
            Instruction::InvokeDynamic(call) => self.invoke_dynamic(offset, *call),
            Instruction::Branch { against, .. } => self.branch(offset, *against),
            Instruction::Switch { .. } => self.switch(offset),
            Instruction::Nop
            | Instruction::Push(_)
            | Instruction::LoadConstant(_)
            | Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Increment { .. }
            | Instruction::Stack(_)
            | Instruction::Binary { .. }
            | Instruction::Negate(_)
            | Instruction::Convert { .. }
            | Instruction::Compare(_)
            | Instruction::Goto(_)
            | Instruction::Jsr(_)
            | Instruction::Ret { .. }
            | Instruction::Return(_)
            | Instruction::New(_)
            | Instruction::NewPrimitiveArray { .. }
            | Instruction::NewReferenceArray(_)
            | Instruction::NewMultiArray { .. }
            | Instruction::ArrayLength
            | Instruction::Throw
            | Instruction::CheckCast(_)
            | Instruction::InstanceOf(_) => Ok(()),
        }
    }

    /// What a place says it is about, with the field that its object was read from: `java.util.Map.get of shop.Stock.items`.
    fn with_origin(&mut self, offset: u32, said: &str) -> String {
        self.with_origin_of(offset, 0, said)
    }

    /// The same about an operand that has this many words below it.
    fn with_origin_of(&mut self, offset: u32, words_below: usize, said: &str) -> String {
        if !self.watches_accesses {
            return said.to_string();
        }
        let (file, code, instructions) = (self.planner.file, self.code, self.instructions);
        let planner = &*self.planner;
        let origins = self.origins.get_or_insert_with(|| {
            FieldOrigins::of(file, code, instructions, &|method| planner.gives_view(method))
        });
        let field = origins.at(offset, words_below);
        match field.and_then(|field| file.pool.member_ref(field).ok()) {
            Some(field) => {
                let class = classes::binary_name(field.class);
                format!("{said}{}{class}.{}", SiteEntry::ORIGIN, field.name)
            }
            None => said.to_string(),
        }
    }

    /// A number for a place in this method, or for the method as a whole; nothing when there are no
    /// more.
    fn site(&mut self, offset: Option<u32>, subject: String, target: SiteTarget) -> Option<i32> {
        let site = Site {
            class: self.planner.class.clone(),
            method: self.method.name.to_string(),
            descriptor: self.method.descriptor.to_string(),
            offset,
            file: self.planner.source.clone(),
            line: self.code.line_at(offset.unwrap_or(0)),
        };
        let is_of_lock = matches!(target, SiteTarget::Lock { .. } | SiteTarget::Call { .. });
        let seen = if !self.watches_accesses {
            Seen::Order
        } else if is_of_lock && self.planner.may_change_unseen_state(self.index) {
            Seen::NotAllState
        } else {
            Seen::Everything
        };
        let models = &self.planner.config.models;
        let gives_away = matches!(&target, SiteTarget::Call { owner, name, descriptor, .. }
            if models.gives_away(owner, name, descriptor)
                && !models.is_keyed(owner, name, descriptor)
                && !descriptor.ends_with(")Z"));
        let new = NewSite { entry: SiteEntry { site, subject, seen, gives_away }, target };
        let number = self.planner.sites.add(new).and_then(|site| i32::try_from(site.0).ok());
        if number.is_none() {
            self.planner.hooks_left_out += 1;
        }
        number
    }

    /// Whether the access at an offset is watched.
    fn watches_access(&self, offset: u32) -> bool {
        self.watches_accesses
            && match self.listed {
                None => true,
                Some(offsets) => offsets.is_some_and(|offsets| offsets.contains(&offset)),
            }
    }

    /// Calls a hook whose last operands are these numbers and whose other operands are on the stack.
    fn call(
        &mut self,
        snippet: &mut Snippet,
        hook: Hook,
        numbers: &[i32],
    ) -> Result<(), InstrumentError> {
        let pool = self.planner.editor.pool();
        for number in numbers {
            snippet.int(pool, *number)?;
        }
        let constant = &mut self.planner.hook_constants[hook as usize];
        let index = match *constant {
            Some(index) => index,
            None => {
                let made = pool.method_ref(RUNTIME_CLASS, hook.name(), hook.descriptor())?;
                *constant = Some(made);
                made
            }
        };
        snippet.invokestatic(index, hook.words(), hook.result_words());
        self.hooks += 1;
        Ok(())
    }

    /// Calls a hook of those that give order; its last operands are these numbers.
    fn call_order(
        &mut self,
        snippet: &mut Snippet,
        hook: OrderHook,
        numbers: &[i32],
    ) -> Result<(), InstrumentError> {
        let pool = self.planner.editor.pool();
        for number in numbers {
            snippet.int(pool, *number)?;
        }
        let index = pool.method_ref(ORDER_CLASS, hook.name(), hook.descriptor())?;
        let words = classes::descriptor::parameter_descriptors(hook.descriptor()).count() as u16;
        snippet.invokestatic(index, words, 0);
        self.hooks += 1;
        Ok(())
    }

    /// Where threads may be held back, the hook in front of an operation; the object that it is about is
    /// on top of the stack, and stays there.
    fn approach(&mut self, snippet: &mut Snippet, site: i32) -> Result<(), InstrumentError> {
        if self.planner.config.adversarial {
            snippet.dup();
            self.call(snippet, Hook::Approach, &[site])?;
        }
        Ok(())
    }

    /// The same in front of a static field.
    fn approach_static(&mut self, snippet: &mut Snippet, site: i32) -> Result<(), InstrumentError> {
        if self.planner.config.adversarial {
            self.call(snippet, Hook::ApproachStatic, &[site])?;
        }
        Ok(())
    }

    /// Pushes a class constant.
    fn push_class(&mut self, snippet: &mut Snippet, class: &str) -> Result<(), InstrumentError> {
        let index = self.planner.editor.pool().class(class)?;
        snippet.ldc(index);
        Ok(())
    }

    fn before(&mut self, offset: u32, snippet: &Snippet) {
        self.edits.before(offset).append(snippet);
    }

    fn after(&mut self, offset: u32, snippet: &Snippet) {
        self.edits.after(offset).append(snippet);
    }

    /// The initialiser of a class says when it is done; one that fails leaves a class that nobody can
    /// use.
    fn mark_class_initialised(&mut self) -> Result<(), InstrumentError> {
        if &*self.method.name != "<clinit>" || !self.planner.has_class_constants() {
            return Ok(());
        }
        let this_class = self.planner.editor.this_class();
        let Some(site) = self.site(None, self.planner.class.clone(), SiteTarget::None) else {
            return Ok(());
        };
        for (offset, instruction) in self.instructions {
            if matches!(instruction, Instruction::Return(_)) {
                let mut snippet = Snippet::new();
                snippet.ldc(this_class);
                self.call(&mut snippet, Hook::Initialised, &[site])?;
                self.before(*offset, &snippet);
            }
        }
        Ok(())
    }
}

//! Library code, rewritten so that the order that it makes is seen where it arises.
//!
//! The happens-before relation of a program comes from what its threads do to volatile variables, monitors and atomic
//! variables. Most of that happens inside the library, however the program came to call it: by an interface, a
//! subclass, a wrapper, a method reference or reflection. So classes that the models call `observed` get hooks at just
//! these operations. Their accesses and blocks are not watched, and nothing is added to them but code.
//!
//! What an implementation orders beyond its contract hides races. The models name the methods where that matters, and
//! how the order inside counts there: not at all, in one direction, or for exclusive holders only ([`OrderMode`]); and
//! where threads hand over what no operation shows.
//!
//! Hooks that release stand before the operation, those that acquire after it. Calls of memory operations, and of
//! `wait`, are sent to static methods with the same operands.

mod fields;

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_protocol::{
    MEMORY_OPERATIONS_CLASS, MemoryOperation, ORDER_CLASS, OrderHook, OrderMode, memory_operations,
};
use classes::bytecode::{Instruction, InvokeKind, Kind, decode_all};
use classes::descriptor::{Type, parse_method};
use classes::{ClassFile, MethodInfo, PoolIndex, access};
use models::{MethodProperty, Models, language};
use rustc_hash::FxHashMap;

pub use fields::{Declarations, FieldDeclarations};

use crate::error::{InstrumentError, LeftAlone, LeftAloneReason};
use crate::surgery::{ClassEditor, MethodEdits, Snippet};
use crate::{Outcome, Rewritten};

/// The opcode that checks the type of a reference.
const CHECKCAST: u8 = 0xc0;

/// Rewrites library classes.
#[derive(Debug)]
pub struct LibraryOrder {
    /// The memory operations, by name and descriptor.
    operations: FxHashMap<(String, String), MemoryOperation>,
}

impl Default for LibraryOrder {
    fn default() -> LibraryOrder {
        let operations = memory_operations().into_iter();
        let key = |it: &MemoryOperation| (it.name.clone(), it.descriptor.clone());
        LibraryOrder { operations: operations.map(|it| (key(&it), it)).collect() }
    }
}

/// Whether a class has anything to be rewritten for.
#[must_use]
pub fn is_observed(models: &Models, class: &str) -> bool {
    models.is_observed(class) || models.methods_of(class).any(|fact| is_about_order(fact.property))
}

/// Whether a property says how order arises in a method.
fn is_about_order(property: MethodProperty) -> bool {
    match property {
        MethodProperty::ObservedMethod
        | MethodProperty::Quiet
        | MethodProperty::Loud
        | MethodProperty::AcquireOnly
        | MethodProperty::ReleaseOnly
        | MethodProperty::SharedRelease
        | MethodProperty::AcquiresShared
        | MethodProperty::AcquiresWithheld
        | MethodProperty::ReleasesReceiver
        | MethodProperty::ReleasesArgument
        | MethodProperty::AcquiresReceiver
        | MethodProperty::AcquiresReceiverAfter
        | MethodProperty::AcquiresResult
        | MethodProperty::AcquiresInterrupt
        | MethodProperty::AcquiresAll
        | MethodProperty::StartsReceiver
        | MethodProperty::JoinsReceiver
        | MethodProperty::ReleaseFence
        | MethodProperty::AcquireFence
        | MethodProperty::ReflectiveRead
        | MethodProperty::ReflectiveWrite
        | MethodProperty::MakesAccessor => true,
        MethodProperty::Task
        | MethodProperty::Callback
        | MethodProperty::Looks
        | MethodProperty::Changes
        | MethodProperty::Takes
        | MethodProperty::GivesAway
        | MethodProperty::TolerantRemoval
        | MethodProperty::DemandingRemoval
        | MethodProperty::WritesInAccessOrder
        | MethodProperty::MakesAccessOrder
        | MethodProperty::StandsForReads
        | MethodProperty::StandsForWrites
        | MethodProperty::Commutes
        | MethodProperty::Compares
        | MethodProperty::Validates
        | MethodProperty::ReadsContents
        | MethodProperty::WritesContents
        | MethodProperty::WritesNewContents
        | MethodProperty::Final
        | MethodProperty::KnownByName
        | MethodProperty::Keyed
        | MethodProperty::AddsIfAbsent
        | MethodProperty::Body
        | MethodProperty::Reporting
        | MethodProperty::Retrying => false,
    }
}

impl LibraryOrder {
    /// Inserts the hooks into a class. `added_field` is a field that the class gets besides, with its descriptor.
    ///
    /// # Errors
    /// When the bytes are not a class file, or the class has no room for what must be added.
    pub fn rewrite(
        &self,
        bytes: &[u8],
        models: &Models,
        fields: &dyn FieldDeclarations,
        added_field: Option<(&str, &str)>,
    ) -> Result<Outcome, InstrumentError> {
        let file = ClassFile::parse(Arc::from(bytes))?;
        let mut class = ClassPlan {
            operations: &self.operations,
            is_observed: models.is_observed(&file.name),
            file: &file,
            models,
            fields,
            editor: ClassEditor::new(bytes)?,
            hooks: 0,
        };
        if let Some((name, descriptor)) = added_field {
            class.editor.add_field(access::SYNTHETIC | access::TRANSIENT, name, descriptor)?;
        }
        let mut left_alone = Vec::new();
        for index in 0..file.methods.len() {
            if let Err(method) = class.method(index) {
                left_alone.push(method);
            }
        }
        let ClassPlan { editor, hooks, .. } = class;
        if hooks == 0 && left_alone.is_empty() && added_field.is_none() {
            return Ok(Outcome::Unchanged);
        }
        Ok(Outcome::Rewritten(Rewritten {
            bytes: editor.finish()?,
            hooks,
            hooks_left_out: 0,
            left_alone,
            unfollowed_branches: BTreeMap::new(),
            has_dropped_lock: false,
            listed_as: None,
        }))
    }
}

/// The plan of one class.
struct ClassPlan<'a> {
    operations: &'a FxHashMap<(String, String), MemoryOperation>,
    /// Whether all its methods are observed.
    is_observed: bool,
    file: &'a ClassFile,
    models: &'a Models,
    fields: &'a dyn FieldDeclarations,
    editor: ClassEditor<'a>,
    hooks: u32,
}

impl ClassPlan<'_> {
    fn method(&mut self, index: usize) -> Result<(), LeftAlone> {
        let file = self.file;
        let method = &file.methods[index];
        let Some(code) = &method.code else { return Ok(()) };
        let properties: Vec<MethodProperty> =
            self.models.method_properties(&file.name, &method.name, &method.descriptor).collect();
        let is_observed = self.is_observed || properties.contains(&MethodProperty::ObservedMethod);
        if !is_observed && !properties.iter().any(|it| is_about_order(*it)) {
            return Ok(());
        }
        let left_alone =
            |reason| LeftAlone { method: format!("{}{}", method.name, method.descriptor), reason };
        let instructions = decode_all(file.code_bytes(code))
            .map_err(|error| left_alone(LeftAloneReason::Unreadable(error)))?;
        let mut plan = MethodPlan {
            method,
            instructions: &instructions,
            edits: MethodEdits::new(),
            hooks: 0,
            class: self,
        };
        plan.make(&properties, is_observed)
            .map_err(|error| left_alone(LeftAloneReason::Pool(error)))?;
        let MethodPlan { edits, hooks, .. } = plan;
        self.editor.edit_method(index, &edits)?;
        self.hooks += hooks;
        Ok(())
    }
}

/// The plan of one method.
struct MethodPlan<'p, 'a> {
    class: &'p mut ClassPlan<'a>,
    method: &'p MethodInfo,
    instructions: &'p [(u32, Instruction)],
    edits: MethodEdits,
    hooks: u32,
}

impl MethodPlan<'_, '_> {
    fn make(
        &mut self,
        properties: &[MethodProperty],
        is_observed: bool,
    ) -> Result<(), InstrumentError> {
        // Nothing may be handed to a hook before the constructor of the superclass has returned, and a monitor of an
        // object under construction orders nothing that its publication does not.
        let is_initialiser = self.method.name.starts_with('<');
        let mut exits = Vec::new();
        if let Some(mode) = properties.iter().find_map(|it| mode_of(*it))
            && &*self.method.name != "<init>"
        {
            let mut entry = Snippet::new();
            entry.int(self.class.editor.pool(), mode as i32)?;
            self.call(&mut entry, OrderHook::EnterMode, 1)?;
            self.edits.entry.append(&entry);
            let mut exit = Snippet::new();
            self.call(&mut exit, OrderHook::LeaveMode, 0)?;
            exits.push(exit);
        }
        for property in properties {
            self.property(*property)?;
        }
        if is_observed {
            for (offset, instruction) in self.instructions {
                self.instruction(*offset, instruction, is_initialiser)?;
            }
            exits.extend(self.synchronized_method()?);
        }
        let mut exit = Snippet::new();
        for part in exits.iter().rev() {
            exit.append(part);
        }
        if !exit.is_empty() {
            self.edits.exit = Some(exit);
        }
        Ok(())
    }

    fn is_static(&self) -> bool {
        self.method.has_access(access::STATIC)
    }

    /// Calls a hook whose operands are on the stack.
    fn call(
        &mut self,
        snippet: &mut Snippet,
        hook: OrderHook,
        words: u16,
    ) -> Result<(), InstrumentError> {
        let pool = self.class.editor.pool();
        let index = pool.method_ref(ORDER_CLASS, hook.name(), hook.descriptor())?;
        snippet.invokestatic(index, words, 0);
        self.hooks += 1;
        Ok(())
    }

    /// Calls a hook with a local variable.
    fn call_with_local(&mut self, hook: OrderHook, local: u16) -> Result<Snippet, InstrumentError> {
        let mut snippet = Snippet::new();
        snippet.load(Kind::Ref, local);
        self.call(&mut snippet, hook, 1)?;
        Ok(snippet)
    }

    fn on_entry(&mut self, hook: OrderHook, local: u16) -> Result<(), InstrumentError> {
        let snippet = self.call_with_local(hook, local)?;
        self.edits.entry.append(&snippet);
        Ok(())
    }

    /// Inserts before every return.
    fn on_return(&mut self, snippet: &Snippet) {
        for (offset, instruction) in self.instructions {
            if matches!(instruction, Instruction::Return(_)) {
                self.edits.before(*offset).append(snippet);
            }
        }
    }

    /// What a property asks for, besides a mode.
    fn property(&mut self, property: MethodProperty) -> Result<(), InstrumentError> {
        // A row may be for another release, in which a method of this name has other parameters.
        let Ok(types) = parse_method(&self.method.descriptor) else { return Ok(()) };
        let has_argument = types.params.first().is_some_and(|it| it.is_reference());
        let gives_reference = types.ret.is_some_and(Type::is_reference);
        let first_argument = u16::from(!self.is_static());
        match property {
            MethodProperty::ReleasesReceiver if !self.is_static() => {
                self.on_entry(OrderHook::ReleaseTask, 0)
            }
            MethodProperty::ReleasesArgument if has_argument => {
                self.on_entry(OrderHook::ReleaseTask, first_argument)
            }
            MethodProperty::AcquiresReceiver if !self.is_static() => {
                self.on_entry(OrderHook::AcquireTask, 0)
            }
            MethodProperty::StartsReceiver if !self.is_static() => {
                self.on_entry(OrderHook::Start, 0)
            }
            MethodProperty::AcquiresReceiverAfter | MethodProperty::AcquiresShared
                if !self.is_static() =>
            {
                let hook = if property == MethodProperty::AcquiresShared {
                    OrderHook::AcquireShared
                } else {
                    OrderHook::AcquireTask
                };
                let snippet = self.call_with_local(hook, 0)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::JoinsReceiver if !self.is_static() => {
                let snippet = self.call_with_local(OrderHook::Join, 0)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::AcquiresResult if gives_reference => {
                let mut snippet = Snippet::new();
                snippet.dup();
                self.call(&mut snippet, OrderHook::AcquireTask, 1)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::AcquiresInterrupt => {
                let mut snippet = Snippet::new();
                self.call(&mut snippet, OrderHook::AcquireInterrupt, 0)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::AcquireFence => {
                let mut snippet = Snippet::new();
                self.call(&mut snippet, OrderHook::AcquireFence, 0)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::AcquiresAll => {
                let mut snippet = Snippet::new();
                self.call(&mut snippet, OrderHook::AcquireAll, 0)?;
                self.edits.entry.append(&snippet);
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::ReleaseFence => {
                let mut snippet = Snippet::new();
                self.call(&mut snippet, OrderHook::ReleaseFence, 0)?;
                self.edits.entry.append(&snippet);
                Ok(())
            }
            MethodProperty::ReflectiveRead if has_argument && !self.is_static() => {
                let mut snippet = Snippet::new();
                snippet.load(Kind::Ref, 0).load(Kind::Ref, 1);
                self.call(&mut snippet, OrderHook::AcquireReflective, 2)?;
                self.on_return(&snippet);
                Ok(())
            }
            MethodProperty::ReflectiveWrite if has_argument && !self.is_static() => {
                let mut snippet = Snippet::new();
                snippet.load(Kind::Ref, 0).load(Kind::Ref, 1);
                self.call(&mut snippet, OrderHook::ReleaseReflective, 2)?;
                self.edits.entry.append(&snippet);
                Ok(())
            }
            MethodProperty::MakesAccessor if gives_reference && !self.is_static() => {
                let pool = self.class.editor.pool();
                let handle = pool.class(language::METHOD_HANDLE)?;
                let [high, low] = handle.to_be_bytes();
                let hook = OrderHook::Accessor;
                let hook = pool.method_ref(ORDER_CLASS, hook.name(), hook.descriptor())?;
                let mut snippet = Snippet::new();
                // The handle is on the stack; what comes back has the type of any object.
                snippet.load(Kind::Ref, 0).invokestatic(hook, 2, 1);
                snippet.bytes(&[CHECKCAST, high, low], 1, 1);
                self.hooks += 1;
                self.on_return(&snippet);
                Ok(())
            }
            // Modes, what is said of callers, and what has nothing to do with order.
            _ => Ok(()),
        }
    }

    fn instruction(
        &mut self,
        offset: u32,
        instruction: &Instruction,
        is_initialiser: bool,
    ) -> Result<(), InstrumentError> {
        match instruction {
            Instruction::GetField(field) => self.get_field(offset, *field),
            Instruction::GetStatic(field) => self.get_static(offset, *field),
            Instruction::PutField(field) if !is_initialiser => self.put_field(offset, *field),
            Instruction::PutStatic(field) if !is_initialiser => self.put_static(offset, *field),
            Instruction::MonitorEnter => self.monitor_enter(offset),
            Instruction::MonitorExit => self.monitor_exit(offset),
            Instruction::Invoke { kind, method } => self.invoke(offset, *kind, *method),
            // Nothing else orders anything.
            _ => Ok(()),
        }
    }

    /// The volatile field that an instruction names: the class that declares it, its name, and whether it takes two words.
    fn volatile_field(&self, field: PoolIndex) -> Option<(Arc<str>, Arc<str>, bool)> {
        let target = self.class.file.pool.member_ref(field).ok()?;
        let is_wide = matches!(&**target.descriptor, "J" | "D");
        let owner = if self.class.models.is_ordering_field(target.class, target.name) {
            Arc::clone(target.class)
        } else {
            self.class.fields.volatile_owner(self.class.file, target.class, target.name)?
        };
        Some((owner, Arc::clone(target.name), is_wide))
    }

    fn get_field(&mut self, offset: u32, field: PoolIndex) -> Result<(), InstrumentError> {
        let Some((owner, name, is_wide)) = self.volatile_field(field) else { return Ok(()) };
        let Some(number) = self.class.fields.number(&owner, &name) else { return Ok(()) };
        let mut before = Snippet::new();
        before.dup();
        let mut after = Snippet::new();
        if is_wide {
            after.dup2_x1().pop2();
        } else {
            after.swap();
        }
        after.int(self.class.editor.pool(), number)?;
        self.call(&mut after, OrderHook::AcquireField, 2)?;
        self.edits.before(offset).append(&before);
        self.edits.after(offset).append(&after);
        Ok(())
    }

    fn put_field(&mut self, offset: u32, field: PoolIndex) -> Result<(), InstrumentError> {
        let Some((owner, name, is_wide)) = self.volatile_field(field) else { return Ok(()) };
        let Some(number) = self.class.fields.number(&owner, &name) else { return Ok(()) };
        let mut before = Snippet::new();
        if is_wide {
            before.dup2_x1().pop2().dup_x2();
        } else {
            before.dup2().pop();
        }
        before.int(self.class.editor.pool(), number)?;
        self.call(&mut before, OrderHook::ReleaseField, 2)?;
        self.edits.before(offset).append(&before);
        Ok(())
    }

    fn push_class(&mut self, snippet: &mut Snippet, class: &str) -> Result<(), InstrumentError> {
        let index = self.class.editor.pool().class(class)?;
        snippet.ldc(index);
        Ok(())
    }

    fn get_static(&mut self, offset: u32, field: PoolIndex) -> Result<(), InstrumentError> {
        let Some((owner, ..)) = self.volatile_field(field) else { return Ok(()) };
        let mut after = Snippet::new();
        self.push_class(&mut after, &owner)?;
        self.call(&mut after, OrderHook::AcquireStatic, 1)?;
        self.edits.after(offset).append(&after);
        Ok(())
    }

    fn put_static(&mut self, offset: u32, field: PoolIndex) -> Result<(), InstrumentError> {
        let Some((owner, ..)) = self.volatile_field(field) else { return Ok(()) };
        let mut before = Snippet::new();
        self.push_class(&mut before, &owner)?;
        self.call(&mut before, OrderHook::ReleaseStatic, 1)?;
        self.edits.before(offset).append(&before);
        Ok(())
    }

    fn monitor_enter(&mut self, offset: u32) -> Result<(), InstrumentError> {
        let mut before = Snippet::new();
        before.dup().dup();
        self.call(&mut before, OrderHook::PrepareMonitor, 1)?;
        self.edits.before(offset).append(&before);
        let mut after = Snippet::new();
        self.call(&mut after, OrderHook::AcquireMonitor, 1)?;
        self.edits.after(offset).append(&after);
        Ok(())
    }

    fn monitor_exit(&mut self, offset: u32) -> Result<(), InstrumentError> {
        let mut before = Snippet::new();
        before.dup();
        self.call(&mut before, OrderHook::ReleaseMonitor, 1)?;
        self.edits.before(offset).append(&before);
        Ok(())
    }

    /// The lock of a synchronized method: what runs at its end.
    fn synchronized_method(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        if !self.method.has_access(access::SYNCHRONIZED) || self.method.name.starts_with('<') {
            return Ok(None);
        }
        let mut entry = Snippet::new();
        if self.is_static() {
            let this_class = self.class.editor.this_class();
            entry.ldc(this_class);
        } else {
            entry.load(Kind::Ref, 0);
        }
        self.call(&mut entry, OrderHook::EnterMethod, 1)?;
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, OrderHook::LeaveMethod, 0)?;
        Ok(Some(exit))
    }

    fn invoke(
        &mut self,
        offset: u32,
        kind: InvokeKind,
        method: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let Ok(target) = self.class.file.pool.member_ref(method) else { return Ok(()) };
        let (class, name, descriptor) = (target.class, target.name, target.descriptor);
        if self
            .class
            .models
            .method_properties(class, name, descriptor)
            .any(|it| it == MethodProperty::AcquiresWithheld)
        {
            let mut before = Snippet::new();
            self.call(&mut before, OrderHook::AcquireWithheld, 0)?;
            self.edits.before(offset).append(&before);
        }
        if kind != InvokeKind::Virtual {
            return Ok(());
        }
        let (owner, name, descriptor) = if &**class == language::UNSAFE {
            let key = (name.to_string(), descriptor.to_string());
            let Some(operation) = self.class.operations.get(&key) else { return Ok(()) };
            (
                MEMORY_OPERATIONS_CLASS,
                &*operation.name,
                operation.static_descriptor(language::UNSAFE),
            )
        } else if &**name == "wait" {
            let with_receiver = descriptor.replacen('(', "(Ljava/lang/Object;", 1);
            let hooks = [OrderHook::Wait, OrderHook::WaitMillis, OrderHook::WaitNanos];
            let Some(hook) = hooks.iter().find(|hook| hook.descriptor() == with_receiver) else {
                return Ok(());
            };
            (ORDER_CLASS, hook.name(), with_receiver)
        } else {
            return Ok(());
        };
        let index = self.class.editor.pool().method_ref(owner, name, &descriptor)?;
        self.edits.static_calls.insert(offset, index);
        self.hooks += 1;
        Ok(())
    }
}

/// The mode that a property puts a method in.
fn mode_of(property: MethodProperty) -> Option<OrderMode> {
    const MODES: [(MethodProperty, OrderMode); 5] = [
        (MethodProperty::Quiet, OrderMode::Quiet),
        (MethodProperty::Loud, OrderMode::Loud),
        (MethodProperty::AcquireOnly, OrderMode::AcquireOnly),
        (MethodProperty::ReleaseOnly, OrderMode::ReleaseOnly),
        (MethodProperty::SharedRelease, OrderMode::SharedRelease),
    ];
    MODES.iter().find(|it| it.0 == property).map(|it| it.1)
}

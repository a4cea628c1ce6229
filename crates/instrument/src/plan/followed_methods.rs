//! The methods of a class as callers know them: which of their parameters they keep, and what they may report.
//!
//! Only methods count that a call can mean without any other being meant: constructors, static, private and final ones. A
//! class is followed when it is loaded; of the classes that it uses those are known that were seen before.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use classes::bytecode::{Instruction, InvokeKind, decode_all};
use classes::descriptor::{MethodType, parse_method};
use classes::{ClassFile, MemberRef, MethodInfo, access};
use models::language::OBJECT;

use crate::class_hierarchy::{MethodFacts, Parameters, ReportedBy, SeenMethod};
use crate::plan::Planner;
use crate::plan::calls::is_pure;
use crate::plan::new_objects::{Entry, Known, ObjectFlow, Surroundings};

/// How many calls within the class are followed from one method into the next.
const DEEPEST: u32 = 16;

/// The methods of the class that were followed so far.
#[derive(Default)]
pub(super) struct FollowedMethods {
    methods: RefCell<Vec<Option<Followed>>>,
    depth: Cell<u32>,
}

#[derive(Clone)]
struct Followed {
    facts: MethodFacts,
    objects: Option<Rc<ObjectFlow>>,
}

const UNKNOWN: Followed = Followed { facts: MethodFacts::UNKNOWN, objects: None };

/// Whether a call of this method can mean no other.
fn is_exact(file: &ClassFile, method: &MethodInfo) -> bool {
    let flags = access::STATIC | access::PRIVATE | access::FINAL;
    &*method.name == "<init>"
        || (&*method.name != "<clinit>"
            && (method.has_access(flags) || file.has_access(access::FINAL)))
}

/// Whether a method is the constructor that all others call in the end, and that does nothing.
fn is_root_constructor(method: &MemberRef<'_>) -> bool {
    &**method.name == "<init>" && **method.class == *OBJECT
}

impl Planner<'_> {
    /// Follows all methods, and keeps for other classes what they may ask.
    pub(super) fn follow_methods(&mut self) {
        let file = self.file;
        self.followed.methods.borrow_mut().resize(file.methods.len(), None);
        let exact = (0..file.methods.len()).filter(|index| is_exact(file, &file.methods[*index]));
        let seen = exact.map(|index| {
            let method = &file.methods[index];
            let (name, descriptor) = (Arc::clone(&method.name), Arc::clone(&method.descriptor));
            SeenMethod { name, descriptor, facts: self.follow(index).facts }
        });
        self.config.hierarchy.add_methods(&file.name, seen.collect());
    }

    /// Which objects nobody knows but the method or its thread, where that could be found out.
    pub(super) fn objects(&self, index: usize) -> Option<Rc<ObjectFlow>> {
        self.follow(index).objects
    }

    /// Whether accesses to what only one method knows are left out. Where branches are watched, what they decide about stays
    /// watched; and threads are held back where they were.
    pub(super) fn leaves_out(&self) -> bool {
        let config = self.config;
        !config.branches && !config.speculation && !config.adversarial
    }

    /// What a call may report, the callee and the first use of its class included.
    pub(super) fn reports_of(
        &self,
        kind: InvokeKind,
        method: &MemberRef<'_>,
        types: &MethodType<'_>,
    ) -> ReportedBy {
        if !self.leaves_out() {
            return ReportedBy::Anything;
        }
        if is_root_constructor(method) {
            return ReportedBy::Nothing;
        }
        if self.calls_task(kind, method, types) || self.model(method).is_some() {
            return ReportedBy::Anything;
        }
        let Some(facts) = self.callee(kind, method) else { return ReportedBy::Anything };
        let may_initialise = || {
            let uses_class = kind == InvokeKind::Static || &**method.name == "<init>";
            uses_class && self.may_initialise(method.class)
        };
        if facts.reports != ReportedBy::Anything && may_initialise() {
            return ReportedBy::Anything;
        }
        facts.reports
    }

    /// Whether the use of another class may run an initialiser.
    fn may_initialise(&self, class: &Arc<str>) -> bool {
        *class != self.file.name
            && self.config.hierarchy.may_initialise(class, |name| self.watches(name))
    }

    /// What is known of the method that a call means.
    fn callee(&self, kind: InvokeKind, method: &MemberRef<'_>) -> Option<MethodFacts> {
        if is_root_constructor(method) {
            return Some(MethodFacts::HARMLESS);
        }
        let is_constructor = &**method.name == "<init>";
        let is_own = *method.class == self.file.name;
        let is_meant = match kind {
            InvokeKind::Static | InvokeKind::Virtual => true,
            InvokeKind::Special => is_constructor || is_own,
            InvokeKind::Interface => false,
        };
        if !is_meant || self.user_row(method.class, method.name, method.descriptor).is_some() {
            return None;
        }
        if !is_own {
            return self.config.hierarchy.method(method.class, method.name, method.descriptor);
        }
        let file = self.file;
        let index = file.methods.iter().position(|own| {
            own.name == *method.name && own.descriptor == *method.descriptor && is_exact(file, own)
        })?;
        Some(self.follow(index).facts)
    }

    fn follow(&self, index: usize) -> Followed {
        let followed = &self.followed;
        if let Some(Some(known)) = followed.methods.borrow().get(index) {
            return known.clone();
        }
        if followed.depth.get() == DEEPEST {
            return UNKNOWN;
        }
        // A method that calls itself is not known to itself.
        self.keep(index, UNKNOWN);
        followed.depth.set(followed.depth.get() + 1);
        let found = self.follow_anew(index).unwrap_or(UNKNOWN);
        followed.depth.set(followed.depth.get() - 1);
        self.keep(index, found.clone());
        found
    }

    fn keep(&self, index: usize, found: Followed) {
        if let Some(place) = self.followed.methods.borrow_mut().get_mut(index) {
            *place = Some(found);
        }
    }

    fn follow_anew(&self, index: usize) -> Option<Followed> {
        let file = self.file;
        let method = &file.methods[index];
        let code = method.code.as_ref()?;
        if self.user_row(&file.name, &method.name, &method.descriptor).is_some() {
            return None;
        }
        let instructions = decode_all(file.code_bytes(code)).ok()?;
        let is_constructor = &*method.name == "<init>";
        let makes_objects = instructions.iter().any(|(_, it)| matches!(it, Instruction::New(_)));
        if !makes_objects && !is_exact(file, method) {
            return None;
        }
        let entry =
            Entry::new(&method.descriptor, method.has_access(access::STATIC), is_constructor)?;
        let objects = ObjectFlow::of(file, code, &instructions, &entry, self)?;
        let reports = if is_exact(file, method) {
            self.reports_from(index, &instructions, &objects)
        } else {
            ReportedBy::Anything
        };
        // The thread that runs finalizers gets to know every object.
        let is_finalized = is_constructor
            && file.methods.iter().any(|it| &*it.name == "finalize" && &*it.descriptor == "()V");
        let facts = MethodFacts { kept: objects.kept() | Parameters::from(is_finalized), reports };
        Some(Followed { facts, objects: Some(Rc::new(objects)) })
    }

    /// What a method of this class may report.
    fn reports_from(
        &self,
        index: usize,
        instructions: &[(u32, Instruction)],
        objects: &ObjectFlow,
    ) -> ReportedBy {
        let method = &self.file.methods[index];
        if method.has_access(access::SYNCHRONIZED)
            || self.may_be_body(index)
            || self.is_body_by_model(method)
        {
            return ReportedBy::Anything;
        }
        let mut most = ReportedBy::Nothing;
        for (offset, instruction) in instructions {
            most = most.max(self.reports_at(*offset, instruction, objects));
            if most == ReportedBy::Anything {
                break;
            }
        }
        most
    }

    fn reports_at(
        &self,
        offset: u32,
        instruction: &Instruction,
        objects: &ObjectFlow,
    ) -> ReportedBy {
        match instruction {
            Instruction::GetField(field)
            | Instruction::PutField(field)
            | Instruction::GetStatic(field)
            | Instruction::PutStatic(field) => {
                let Ok(field) = self.file.pool.member_ref(*field) else {
                    return ReportedBy::Anything;
                };
                let is_static =
                    matches!(instruction, Instruction::GetStatic(_) | Instruction::PutStatic(_));
                let flags = self.flags(&field);
                if !self.watches_field(&field, flags, is_static) {
                    let is_used_first = is_static && self.may_initialise(field.class);
                    return if is_used_first { ReportedBy::Anything } else { ReportedBy::Nothing };
                }
                let may_be_volatile = flags.is_none_or(|flags| flags.is_volatile);
                match objects.known(offset) {
                    Some(Known::ToMethod) => ReportedBy::Nothing,
                    Some(Known::ToThread) if !may_be_volatile => ReportedBy::NewObjects,
                    Some(Known::ToThread) | None => ReportedBy::Anything,
                }
            }
            Instruction::ArrayLoad(_) | Instruction::ArrayStore(_) if self.config.arrays => {
                ReportedBy::Anything
            }
            Instruction::MonitorEnter
            | Instruction::MonitorExit
            | Instruction::InvokeDynamic(_)
            | Instruction::Jsr(_)
            | Instruction::Ret { .. } => ReportedBy::Anything,
            Instruction::Invoke { kind, method: called } => {
                let Ok(called) = self.file.pool.member_ref(*called) else {
                    return ReportedBy::Anything;
                };
                let Ok(types) = parse_method(called.descriptor) else {
                    return ReportedBy::Anything;
                };
                if is_pure(&self.config.models, &called, &types) {
                    ReportedBy::Nothing
                } else {
                    self.reports_of(*kind, &called, &types)
                }
            }
            Instruction::Nop
            | Instruction::Push(_)
            | Instruction::LoadConstant(_)
            | Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Increment { .. }
            | Instruction::ArrayLoad(_)
            | Instruction::ArrayStore(_)
            | Instruction::Stack(_)
            | Instruction::Binary { .. }
            | Instruction::Negate(_)
            | Instruction::Convert { .. }
            | Instruction::Compare(_)
            | Instruction::Branch { .. }
            | Instruction::Goto(_)
            | Instruction::Switch { .. }
            | Instruction::Return(_)
            | Instruction::New(_)
            | Instruction::NewPrimitiveArray { .. }
            | Instruction::NewReferenceArray(_)
            | Instruction::NewMultiArray { .. }
            | Instruction::ArrayLength
            | Instruction::Throw
            | Instruction::CheckCast(_)
            | Instruction::InstanceOf(_) => ReportedBy::Nothing,
        }
    }
}

impl Surroundings for Planner<'_> {
    fn kept(&self, instruction: &Instruction, method: &MemberRef<'_>) -> Parameters {
        let facts = match instruction {
            Instruction::Invoke { kind, .. } => self.callee(*kind, method),
            _ => None,
        };
        facts.unwrap_or(MethodFacts::UNKNOWN).kept
    }

    fn follows(&self, class: &Arc<str>) -> bool {
        self.watches(class)
    }
}

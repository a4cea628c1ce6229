//! The sides of branches that are not taken: what they would do is told where the branch is decided.
//!
//! A branch with something to see on a side has a tree, made by the crate `summary_trees` and kept beside the
//! site of the branch. A hook in front of the branch gets the locals that the tree starts from; where sides
//! meet, another one ends the choices that are over. Methods have trees too, so that calls on a side can be followed;
//! and constructors have, whose own branches are not told.

use agent_protocol::{Hook, TreeOperation};
use classes::bytecode::{Against, Instruction, Kind};
use classes::{ClassFile, MemberRef, MethodInfo, access};
use events::SiteId;
use models::{Effect, Mode, Operand};
use rustc_hash::FxHashMap;
use summary_trees::{
    BranchSummary, Config, FieldFacts, FieldRef, Fields, MethodRef, Names, RepeatedCondition,
    RootKind, Step, StepKind, TreeWord, encode, encode_operand, repeated_conditions,
    summarize_method, summarize_some_branches,
};

use crate::class_hierarchy::ClassHierarchy;
use crate::error::{InstrumentError, UnfollowedReason};
use crate::plan::{MethodPlan, Planner};
use crate::sites::{SiteTarget, TreeMethod};
use crate::surgery::Snippet;

/// How many references the hook of a branch takes as operands; the others are given before.
const REFERENCES: usize = 3;

/// The fields of the class itself and of those that were seen before: what a side reads of final fields is nothing to tell.
struct KnownFields<'a> {
    file: &'a ClassFile,
    hierarchy: &'a ClassHierarchy,
}

impl Fields for KnownFields<'_> {
    fn facts(&self, field: &FieldRef) -> Option<FieldFacts> {
        self.file.facts(field).or_else(|| {
            let flags = self.hierarchy.field(&field.owner, &field.name, &field.descriptor)?;
            Some(FieldFacts { is_final: flags.is_final, is_volatile: flags.is_volatile })
        })
    }
}

/// Gives the numbers of a tree.
struct TreeNames<'n, 'p, 'a> {
    plan: &'n mut MethodPlan<'p, 'a>,
    sites: &'n mut FxHashMap<u32, i32>,
    conditions: &'n FxHashMap<u32, RepeatedCondition>,
}

impl Names for TreeNames<'_, '_, '_> {
    /// The site of an access names its field.
    fn field(&mut self, _: &FieldRef) -> i32 {
        0
    }

    fn method(&mut self, method: &MethodRef) -> i32 {
        match self.plan.operation_in_tree(method) {
            Some(operation) => operation.in_tree(),
            None => self.plan.planner.sites.number_in_tree(TreeMethod {
                class: method.owner.to_string(),
                name: method.name.to_string(),
                descriptor: method.descriptor.to_string(),
            }),
        }
    }

    fn class(&mut self, class: &str) -> i32 {
        self.plan.planner.sites.number_in_tree(TreeMethod {
            class: class.to_owned(),
            name: String::new(),
            descriptor: String::new(),
        })
    }

    fn site(&mut self, offset: u32) -> i32 {
        if let Some(known) = self.sites.get(&offset) {
            return *known;
        }
        let site = self.plan.site_in_tree(offset).unwrap_or(0);
        self.sites.insert(offset, site);
        site
    }

    fn site_of_field(&mut self, field: &FieldRef) -> i32 {
        let pool = &self.plan.planner.file.pool;
        let read = self.plan.instructions.iter().find(|(_, instruction)| match instruction {
            Instruction::GetField(index) | Instruction::GetStatic(index) => {
                pool.member_ref(*index).is_ok_and(|it| {
                    (it.class, it.name, it.descriptor)
                        == (&field.owner, &field.name, &field.descriptor)
                })
            }
            _ => false,
        });
        read.map(|(offset, _)| *offset).map_or(0, |offset| self.site(offset))
    }

    fn condition(&self, offset: u32) -> Option<RepeatedCondition> {
        self.conditions.get(&offset).copied()
    }
}

fn named_in_trees(file: &ClassFile, method: &MethodInfo) -> TreeMethod {
    TreeMethod {
        class: file.name.to_string(),
        name: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
    }
}

impl Planner<'_> {
    /// Says that nobody knows what a method does, so that a call of it is not taken for one of the method that it overrides.
    pub(super) fn keep_unknown_tree(&mut self, method: &MethodInfo) {
        if self.config.speculation {
            self.sites.keep_method(named_in_trees(self.file, method), vec![0]);
        }
    }

    /// The sides of a branch are not followed.
    fn unfollow(&mut self, reason: UnfollowedReason) {
        *self.unfollowed.entry(reason).or_default() += 1;
    }
}

impl<'p, 'a> MethodPlan<'p, 'a> {
    /// Tells what sides would do. Returns what runs at the end of the method, if its branches have trees.
    pub(super) fn tell_sides(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        if !self.planner.config.speculation {
            return Ok(None);
        }
        let (file, method) = (self.planner.file, self.method);
        if !self.watches_accesses {
            self.planner.keep_unknown_tree(method);
            return Ok(None);
        }
        let mut sites = std::mem::take(&mut self.field_sites);
        let fields = KnownFields { file, hierarchy: &self.planner.config.hierarchy };
        let summaries =
            summarize_some_branches(file, method, &fields, &Config::default(), &mut |branch| {
                for side in &mut branch.sides {
                    self.drop_unshared(&mut side.steps);
                    if !self.tells(&side.steps) {
                        side.steps.clear();
                    }
                }
                branch.sides.iter().any(|side| !side.steps.is_empty())
            });
        for gap in &summaries.gaps {
            self.planner.unfollow(UnfollowedReason::Summary(gap.reason));
        }
        // What constructors and initialisers of classes work on is nobody else's yet, for the most part.
        if method.name.starts_with('<') {
            for _ in &summaries.branches {
                self.planner.unfollow(UnfollowedReason::Initialisation);
            }
            if &*method.name == "<init>" {
                self.keep_method_tree(&mut sites, &FxHashMap::default());
            }
            return Ok(None);
        }
        let offsets: Vec<u32> = summaries.branches.iter().map(|branch| branch.offset).collect();
        let conditions = repeated_conditions(file, method, &fields, &offsets);
        self.keep_method_tree(&mut sites, &conditions);
        let mut trees = Vec::new();
        for branch in &summaries.branches {
            trees.extend(self.tell_sides_of(branch, &mut sites, &conditions)?);
        }
        let Some((first, _)) = trees.first() else { return Ok(None) };
        let first = *first;
        for (site, mut tree) in trees {
            tree.insert(0, first);
            self.planner.sites.keep_branch(SiteId(site.cast_unsigned()), tree);
        }
        for landing in &summaries.landings {
            let mut rejoin = Snippet::new();
            let depth = i32::try_from(landing.depth).unwrap_or(i32::MAX);
            self.call(&mut rejoin, Hook::Rejoin, &[depth, first])?;
            self.before(landing.offset, &rejoin);
        }
        let mut entry = Snippet::new();
        self.call(&mut entry, Hook::EnterSides, &[first])?;
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, Hook::LeaveSides, &[first])?;
        Ok(Some(exit))
    }

    /// Drops the accesses to fields that threads do not share, by the list of those that they do.
    fn drop_unshared(&self, steps: &mut Vec<Step>) {
        if self.planner.config.shared_fields.is_none() {
            return;
        }
        steps.retain_mut(|step| match &mut step.kind {
            StepKind::Read { field, .. }
            | StepKind::Write { field, .. }
            | StepKind::ReadStatic { field }
            | StepKind::WriteStatic { field } => {
                self.planner.may_be_shared(&field.owner, &field.name, &field.descriptor)
            }
            StepKind::Choice { sides } => {
                for side in sides {
                    self.drop_unshared(&mut side.steps);
                }
                true
            }
            StepKind::Twice { body } => {
                self.drop_unshared(body);
                true
            }
            _ => true,
        });
    }

    /// Whether a list has a step that is reported.
    fn tells(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match &step.kind {
            StepKind::ReadElement { .. } | StepKind::WriteElement { .. } => {
                self.planner.config.arrays
            }
            StepKind::Call { method, .. } => {
                self.operation_in_tree(method).is_none_or(|operation| match operation {
                    TreeOperation::Nothing
                    | TreeOperation::ExclusiveView
                    | TreeOperation::SharedView => false,
                    TreeOperation::Acquires
                    | TreeOperation::AcquiresShared
                    | TreeOperation::AcquiresOther
                    | TreeOperation::Releases
                    | TreeOperation::Reads
                    | TreeOperation::Writes => true,
                })
            }
            StepKind::Choice { sides } => sides.iter().any(|side| self.tells(&side.steps)),
            StepKind::Twice { body } => self.tells(body),
            other => other.is_visible(),
        })
    }

    /// Keeps what the method does, for calls of it on sides that are not taken. An empty tree says that nobody knows.
    fn keep_method_tree(
        &mut self,
        sites: &mut FxHashMap<u32, i32>,
        conditions: &FxHashMap<u32, RepeatedCondition>,
    ) {
        let (file, method) = (self.planner.file, self.method);
        let fields = KnownFields { file, hierarchy: &self.planner.config.hierarchy };
        let summary = summarize_method(file, method, &fields, &Config::default());
        let Ok(Some(mut summary)) = summary else {
            return self.planner.keep_unknown_tree(method);
        };
        self.drop_unshared(&mut summary.steps);
        let parameters = i32::try_from(summary.parameter_count).unwrap_or(i32::MAX);
        let flags = [
            (summary.is_synchronized, TreeWord::MethodIsSynchronized),
            (method.has_access(access::PRIVATE), TreeWord::MethodIsPrivate),
            (method.has_access(access::STATIC), TreeWord::MethodIsStatic),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let flags = flags.fold(0, |all, (_, flag)| all | flag.number());
        let mut tree = vec![summary.register_count.cast_signed(), parameters, flags];
        tree.extend(encode_operand(summary.result));
        tree.extend(encode(&summary.steps, &mut TreeNames { plan: self, sites, conditions }));
        self.planner.sites.keep_method(named_in_trees(file, method), tree);
    }

    /// Tells the sides of one branch. Returns its site and its tree, if it has one.
    fn tell_sides_of(
        &mut self,
        branch: &BranchSummary,
        sites: &mut FxHashMap<u32, i32>,
        conditions: &FxHashMap<u32, RepeatedCondition>,
    ) -> Result<Option<(i32, Vec<i32>)>, InstrumentError> {
        let Ok(at) = self.instructions.binary_search_by_key(&branch.offset, |(offset, _)| *offset)
        else {
            return Ok(None);
        };
        let code = self.planner.file.code_bytes(self.code);
        let Some(&opcode) = code.get(branch.offset as usize) else { return Ok(None) };
        let Some(site) = self.site(Some(branch.offset), String::new(), SiteTarget::None) else {
            return Ok(None);
        };
        let mut before = Snippet::new();
        let mut references = Vec::new();
        for (register, root) in (0..).zip(&branch.roots) {
            match root.kind {
                RootKind::Reference if (register as usize) < REFERENCES => {
                    references.push((register as usize, root.slot));
                }
                RootKind::Reference => {
                    before.load(Kind::Ref, root.slot);
                    self.call(&mut before, Hook::RootRef, &[register, site])?;
                }
                RootKind::Int => {
                    before.load(Kind::Int, root.slot);
                    self.call(&mut before, Hook::RootInt, &[register, site])?;
                }
            }
        }
        let decide = match &self.instructions[at].1 {
            Instruction::Switch { .. } => {
                before.dup();
                Hook::DecideSwitch
            }
            Instruction::Branch { against, .. } => {
                let hook = match against {
                    Against::Zero => Hook::WayInt,
                    Against::Null => Hook::WayRef,
                    Against::Int => Hook::WayInts,
                    Against::Ref => Hook::WayRefs,
                };
                match hook.words() {
                    2 => before.dup(),
                    _ => before.dup2(),
                };
                self.call(&mut before, hook, &[i32::from(opcode)])?;
                Hook::Decide
            }
            _ => return Ok(None),
        };
        if self.planner.has_class_constants() {
            let this_class = self.planner.editor.this_class();
            before.ldc(this_class);
        } else {
            before.raw(ACONST_NULL, 0, 1);
        }
        for register in 0..REFERENCES {
            match references.iter().find(|(known, _)| *known == register) {
                Some((_, slot)) => before.load(Kind::Ref, *slot),
                None => before.raw(ACONST_NULL, 0, 1),
            };
        }
        self.call(&mut before, decide, &[site])?;
        self.before(branch.offset, &before);

        let sides =
            Step { offset: branch.offset, kind: StepKind::Choice { sides: branch.sides.clone() } };
        let iterates =
            branch.loop_branch.as_ref().map_or(-1, |it| i32::try_from(it.iterates).unwrap_or(-1));
        let mut tree = vec![
            branch.register_count.cast_signed(),
            i32::try_from(branch.depth).unwrap_or(i32::MAX),
            iterates,
        ];
        // Without its opcode and its site, the step is the sides.
        sites.insert(branch.offset, site);
        let mut names = TreeNames { plan: self, sites, conditions };
        let fields = branch.fixed_if_final.as_ref();
        tree.push(fields.map_or(-1, |fields| i32::try_from(fields.len()).unwrap_or(-1)));
        tree.extend(fields.into_iter().flatten().map(|offset| names.site(*offset)));
        let steps = encode(std::slice::from_ref(&sides), &mut names);
        tree.extend(steps.into_iter().skip(2));
        Ok(Some((site, tree)))
    }

    /// The place of a step of a tree, with the field that it names.
    fn site_in_tree(&mut self, offset: u32) -> Option<i32> {
        let at = self.instructions.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        let pool = &self.planner.file.pool;
        let (field, is_static) = match &self.instructions[at].1 {
            Instruction::GetField(field) | Instruction::PutField(field) => (*field, false),
            Instruction::GetStatic(field) | Instruction::PutStatic(field) => (*field, true),
            _ => return self.site(Some(offset), String::new(), SiteTarget::None),
        };
        let field: MemberRef<'a> = pool.member_ref(field).ok()?;
        self.field_site(offset, &field, is_static)
    }

    /// What a call of the library does to its receiver; nothing for methods that may have trees of their own.
    fn operation_in_tree(&self, method: &MethodRef) -> Option<TreeOperation> {
        let models = &self.planner.config.models;
        let Some(model) = models.find(&method.owner, &method.name, &method.descriptor) else {
            let is_watched = self.planner.watches(&method.owner);
            return (!is_watched).then_some(TreeOperation::Nothing);
        };
        let is_keyed = models.is_keyed(&method.owner, &method.name, &method.descriptor);
        let any = |is: fn(&Effect) -> bool| model.effects.iter().any(is);
        if any(|it| matches!(it, Effect::Acquire { .. }))
            && any(|it| matches!(it, Effect::Release { .. }))
        {
            // A lock for another: which one is held afterwards depends on which one was.
            return Some(TreeOperation::AcquiresOther);
        }
        let operation = model
            .effects
            .iter()
            .find_map(|effect| of_lock(effect).or_else(|| of_atomic(effect).filter(|_| !is_keyed)));
        Some(operation.unwrap_or(TreeOperation::Nothing))
    }
}

/// What a call does to a lock.
fn of_lock(effect: &Effect) -> Option<TreeOperation> {
    match effect {
        // What is done without a lock that was tried in vain is rarely more than to give up.
        Effect::Acquire { lock: Operand::Receiver, mode: Mode::Shared, .. } => {
            Some(TreeOperation::AcquiresShared)
        }
        Effect::Acquire { lock: Operand::Receiver, .. } => Some(TreeOperation::Acquires),
        Effect::Acquire { .. } => Some(TreeOperation::AcquiresOther),
        Effect::LockView { of: Operand::Receiver, mode: Mode::Exclusive } => {
            Some(TreeOperation::ExclusiveView)
        }
        Effect::LockView { of: Operand::Receiver, mode: Mode::Shared } => {
            Some(TreeOperation::SharedView)
        }
        Effect::Release { lock: Operand::Receiver, .. } => Some(TreeOperation::Releases),
        _ => None,
    }
}

/// What a call does to an atomic variable.
fn of_atomic(effect: &Effect) -> Option<TreeOperation> {
    match effect {
        Effect::AtomicRead { of: Operand::Receiver, .. } => Some(TreeOperation::Reads),
        Effect::AtomicWrite { of: Operand::Receiver, .. }
        | Effect::AtomicUpdate { of: Operand::Receiver, .. } => Some(TreeOperation::Writes),
        _ => None,
    }
}

const ACONST_NULL: u8 = 0x01;

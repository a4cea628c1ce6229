//! The sides of branches that are not taken: what they would do is told where the branch is decided.
//!
//! A branch with something to see on a side has a tree, made by the crate `summary_trees` and kept beside the
//! site of the branch. A hook in front of the branch gets the locals that the tree starts from; where sides
//! meet, another one ends the choices that are over. Methods have trees too, so that calls on a side can be followed.

use agent_protocol::{Hook, TreeOperation};
use classes::MemberRef;
use classes::bytecode::{Against, Instruction, Kind};
use events::SiteId;
use models::{Effect, Mode, Operand, Outcome};
use rustc_hash::FxHashMap;
use summary_trees::{
    BranchSummary, Config, FieldRef, MethodRef, Names, RootKind, Step, StepKind, encode,
    encode_operand, summarize_branches, summarize_method,
};

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::sites::{SiteTarget, TreeMethod};
use crate::surgery::Snippet;

/// How many references the hook of a branch takes as operands; the others are given before.
const REFERENCES: usize = 3;

/// Gives the numbers of a tree.
struct TreeNames<'n, 'p, 'a> {
    plan: &'n mut MethodPlan<'p, 'a>,
    sites: &'n mut FxHashMap<u32, i32>,
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
}

impl<'p, 'a> MethodPlan<'p, 'a> {
    /// Tells what sides would do. Returns what runs at the end of the method, if its branches have trees.
    pub(super) fn tell_sides(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        // What constructors and initialisers of classes work on is nobody else's yet.
        if !self.planner.config.speculation
            || !self.watches_accesses
            || self.method.name.starts_with('<')
        {
            return Ok(None);
        }
        let mut sites = std::mem::take(&mut self.field_sites);
        self.keep_method_tree(&mut sites);
        let (file, method) = (self.planner.file, self.method);
        let summaries = summarize_branches(file, method, file, &Config::default());
        let mut has_trees = false;
        for mut branch in summaries.branches {
            for side in &mut branch.sides {
                self.drop_unshared(&mut side.steps);
            }
            for side in branch.sides.iter_mut().filter(|side| !self.tells(&side.steps)) {
                side.steps.clear();
            }
            if branch.sides.iter().any(|side| !side.steps.is_empty()) {
                has_trees |= self.tell_sides_of(&branch, &mut sites)?;
            }
        }
        if !has_trees {
            return Ok(None);
        }
        for landing in &summaries.landings {
            let mut rejoin = Snippet::new();
            let depth = i32::try_from(landing.depth).unwrap_or(i32::MAX);
            self.call(&mut rejoin, Hook::Rejoin, &[depth])?;
            self.before(landing.offset, &rejoin);
        }
        let mut entry = Snippet::new();
        self.call(&mut entry, Hook::EnterSides, &[])?;
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, Hook::LeaveSides, &[])?;
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
                self.operation_in_tree(method) != Some(TreeOperation::Nothing)
            }
            StepKind::Choice { sides } => sides.iter().any(|side| self.tells(&side.steps)),
            StepKind::Twice { body } => self.tells(body),
            other => other.is_visible(),
        })
    }

    /// Keeps what the method does, for calls of it on sides that are not taken. An empty tree says that nobody knows.
    fn keep_method_tree(&mut self, sites: &mut FxHashMap<u32, i32>) {
        let (file, method) = (self.planner.file, self.method);
        let summary = summarize_method(file, method, file, &Config::default());
        let mut tree = Vec::new();
        if let Ok(Some(mut summary)) = summary {
            self.drop_unshared(&mut summary.steps);
            let parameters = i32::try_from(summary.parameter_count).unwrap_or(i32::MAX);
            let is_synchronized = i32::from(summary.is_synchronized);
            tree.extend([summary.register_count.cast_signed(), parameters, is_synchronized]);
            tree.extend(encode_operand(summary.result));
            tree.extend(encode(&summary.steps, &mut TreeNames { plan: self, sites }));
        } else {
            tree.push(0);
        }
        let named = TreeMethod {
            class: file.name.to_string(),
            name: method.name.to_string(),
            descriptor: method.descriptor.to_string(),
        };
        self.planner.sites.keep_method(named, tree);
    }

    /// Tells the sides of one branch. Says whether it has a tree.
    fn tell_sides_of(
        &mut self,
        branch: &BranchSummary,
        sites: &mut FxHashMap<u32, i32>,
    ) -> Result<bool, InstrumentError> {
        let Ok(at) = self.instructions.binary_search_by_key(&branch.offset, |(offset, _)| *offset)
        else {
            return Ok(false);
        };
        let code = self.planner.file.code_bytes(self.code);
        let Some(&opcode) = code.get(branch.offset as usize) else { return Ok(false) };
        let Some(site) = self.site(Some(branch.offset), String::new(), SiteTarget::None) else {
            return Ok(false);
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
                    self.call(&mut before, Hook::RootRef, &[register])?;
                }
                RootKind::Int => {
                    before.load(Kind::Int, root.slot);
                    self.call(&mut before, Hook::RootInt, &[register])?;
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
            _ => return Ok(false),
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
        let steps = encode(std::slice::from_ref(&sides), &mut TreeNames { plan: self, sites });
        tree.extend(steps.into_iter().skip(2));
        self.planner.sites.keep_branch(SiteId(site.cast_unsigned()), tree);
        Ok(true)
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
        let operation = model.effects.iter().find_map(|effect| match effect {
            Effect::Acquire {
                lock: Operand::Receiver,
                mode: Mode::Exclusive,
                outcome: Outcome::Always,
                ..
            } => Some(TreeOperation::Acquires),
            Effect::Release { lock: Operand::Receiver, .. } => Some(TreeOperation::Releases),
            Effect::AtomicRead { of: Operand::Receiver, .. } if !is_keyed => {
                Some(TreeOperation::Reads)
            }
            Effect::AtomicWrite { of: Operand::Receiver, .. }
            | Effect::AtomicUpdate { of: Operand::Receiver, .. }
                if !is_keyed =>
            {
                Some(TreeOperation::Writes)
            }
            _ => None,
        });
        Some(operation.unwrap_or(TreeOperation::Nothing))
    }
}

const ACONST_NULL: u8 = 0x01;

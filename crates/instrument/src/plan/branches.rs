//! Branches and switches: what decides them, for analyses that ask what the other side would have
//! done.

use classes::bytecode::Against;

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::Hook;

impl MethodPlan<'_, '_> {
    pub(super) fn branch(&mut self, offset: u32, against: Against) -> Result<(), InstrumentError> {
        let hook = match against {
            Against::Zero => Hook::BranchInt,
            Against::Null => Hook::BranchRef,
            Against::Int => Hook::BranchInts,
            Against::Ref => Hook::BranchRefs,
        };
        self.decision(offset, hook)
    }

    pub(super) fn switch(&mut self, offset: u32) -> Result<(), InstrumentError> {
        self.decision(offset, Hook::BranchInt)
    }

    fn decision(&mut self, offset: u32, hook: Hook) -> Result<(), InstrumentError> {
        if !self.planner.config.branches
            || !self.watches_accesses
            || self.construction.may_use_unfinished(offset)
        {
            return Ok(());
        }
        let code = self.planner.file.code_bytes(self.code);
        let Some(&opcode) = code.get(offset as usize) else { return Ok(()) };
        let Some(site) = self.site(Some(offset), String::new(), SiteTarget::None) else {
            return Ok(());
        };
        let mut before = Snippet::new();
        // Two numbers follow the operands.
        match hook.words() {
            3 => before.dup(),
            _ => before.dup2(),
        };
        self.call(&mut before, hook, &[i32::from(opcode), site])?;
        self.before(offset, &before);
        Ok(())
    }
}

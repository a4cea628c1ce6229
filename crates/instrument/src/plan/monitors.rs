//! Monitors: synchronized blocks and synchronized methods.

use classes::access;

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::Hook;

impl MethodPlan<'_, '_> {
    pub(super) fn monitor_enter(&mut self, offset: u32) -> Result<(), InstrumentError> {
        self.may_synchronise = true;
        if self.construction.may_use_unfinished(offset) {
            return Ok(());
        }
        let target = SiteTarget::Lock { begins_block: self.has_regions() };
        let subject = self.with_origin(offset, "");
        let Some(site) = self.site(Some(offset), subject, target) else {
            return Ok(());
        };
        let mut before = Snippet::new();
        self.approach(&mut before, site)?;
        before.dup();
        self.call(&mut before, Hook::Prepare, &[])?;
        self.before(offset, &before);
        let mut after = Snippet::new();
        self.call(&mut after, Hook::Entered, &[site])?;
        self.after(offset, &after);
        Ok(())
    }

    pub(super) fn monitor_exit(&mut self, offset: u32) -> Result<(), InstrumentError> {
        if self.construction.may_use_unfinished(offset) {
            return Ok(());
        }
        let target = SiteTarget::Lock { begins_block: false };
        let subject = self.with_origin(offset, "");
        let Some(site) = self.site(Some(offset), subject, target) else {
            return Ok(());
        };
        let mut before = Snippet::new();
        before.dup();
        self.call(&mut before, Hook::Exit, &[site])?;
        self.before(offset, &before);
        Ok(())
    }

    /// The lock of a synchronized method: what runs at its end.
    pub(super) fn enter_method(&mut self) -> Result<Option<Snippet>, InstrumentError> {
        if !self.method.has_access(access::SYNCHRONIZED) || self.method.name.starts_with('<') {
            return Ok(None);
        }
        // The object that is locked has no name in the code; its class says more than nothing.
        let target = SiteTarget::Lock { begins_block: self.has_regions() };
        let Some(site) = self.site(None, self.planner.class.clone(), target) else {
            return Ok(None);
        };
        let mut entry = Snippet::new();
        if !self.method.has_access(access::STATIC) {
            entry.load(classes::bytecode::Kind::Ref, 0);
            self.call(&mut entry, Hook::EnterMethod, &[site])?;
        } else if self.planner.has_class_constants() {
            let this_class = self.planner.editor.this_class();
            entry.ldc(this_class);
            self.call(&mut entry, Hook::EnterMethod, &[site])?;
        } else {
            self.call(&mut entry, Hook::EnterMethodUnnamed, &[site])?;
        }
        self.edits.entry.append(&entry);
        let mut exit = Snippet::new();
        self.call(&mut exit, Hook::LeaveMethod, &[site])?;
        Ok(Some(exit))
    }
}

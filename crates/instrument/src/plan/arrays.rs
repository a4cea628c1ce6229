//! Array elements.

use classes::bytecode::Kind;

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::Hook;

impl MethodPlan<'_, '_> {
    pub(super) fn array_load(&mut self, offset: u32) -> Result<(), InstrumentError> {
        let Some(site) = self.array_site(offset) else { return Ok(()) };
        let mut before = Snippet::new();
        before.dup2();
        self.approach_element(&mut before, site)?;
        self.call(&mut before, Hook::ReadElement, &[site])?;
        self.before(offset, &before);
        Ok(())
    }

    pub(super) fn array_store(&mut self, offset: u32, kind: Kind) -> Result<(), InstrumentError> {
        let Some(site) = self.array_site(offset) else { return Ok(()) };
        // The value goes below array and index, and copies of these below the value.
        let mut before = Snippet::new();
        match kind.words() {
            1 => before.dup_x2().pop().dup2_x1(),
            _ => before.dup2_x2().pop2().dup2_x2(),
        };
        self.approach_element(&mut before, site)?;
        self.call(&mut before, Hook::WriteElement, &[site])?;
        self.before(offset, &before);
        Ok(())
    }

    /// Where threads may be held back, the hook in front of an access; array and index are on top of the
    /// stack, and stay there.
    fn approach_element(
        &mut self,
        snippet: &mut Snippet,
        site: i32,
    ) -> Result<(), InstrumentError> {
        if self.planner.config.adversarial {
            snippet.dup2().pop();
            self.call(snippet, Hook::Approach, &[site])?;
        }
        Ok(())
    }

    fn array_site(&mut self, offset: u32) -> Option<i32> {
        if !self.planner.config.arrays {
            return None;
        }
        if !self.watches_access(offset) {
            self.unlisted_accesses += 1;
            return None;
        }
        self.accesses += 1;
        let subject = self.with_origin(offset, "");
        self.site(Some(offset), subject, SiteTarget::Array)
    }
}

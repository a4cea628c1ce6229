//! Copies of objects: `Object.clone` copies the fields that were added, too, and a copy must not inherit what was
//! noted of the original.
//!
//! The copy is made by `super.clone()` in a class of the program that extends one of the library, and by library
//! code that is called with an object of the program. Other ways of copying, constructors and serialisation among
//! them, leave out added fields. Not seen: copies that library code makes of objects of the program for itself.

use classes::MemberRef;
use classes::bytecode::InvokeKind;

use crate::error::InstrumentError;
use crate::plan::MethodPlan;
use crate::surgery::Snippet;
use agent_protocol::Hook;

impl MethodPlan<'_, '_> {
    pub(super) fn clone_call(
        &mut self,
        offset: u32,
        kind: InvokeKind,
        method: &MemberRef<'_>,
    ) -> Result<(), InstrumentError> {
        // Arrays have no added fields.
        if &**method.name != "clone"
            || !method.descriptor.starts_with("()L")
            || method.class.starts_with('[')
        {
            return Ok(());
        }
        match kind {
            InvokeKind::Static => Ok(()),
            // The method of a watched class calls another one in turn.
            InvokeKind::Special if self.planner.watches(method.class) => Ok(()),
            InvokeKind::Special => {
                let mut after = Snippet::new();
                after.dup();
                self.call(&mut after, Hook::Cloned, &[])?;
                self.after(offset, &after);
                Ok(())
            }
            InvokeKind::Virtual | InvokeKind::Interface => {
                // The original waits below the copy.
                let mut before = Snippet::new();
                before.dup();
                self.before(offset, &before);
                let mut after = Snippet::new();
                after.dup_x1();
                self.call(&mut after, Hook::Copied, &[])?;
                self.after(offset, &after);
                Ok(())
            }
        }
    }
}

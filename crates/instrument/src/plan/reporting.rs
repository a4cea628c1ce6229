//! Calls inside a library that have rows, where programs come by them in ways that do not show what is called: through
//! variables that hold functions, or through call sites that are linked at run time.

use std::collections::BTreeMap;
use std::sync::Arc;

use classes::ClassFile;
use classes::bytecode::Instruction;
use models::MethodProperty;

use crate::config::{Config, Coverage};
use crate::error::InstrumentError;
use crate::plan::{MethodPlan, Planner};
use crate::sites::SiteTable;
use crate::surgery::{MethodEdits, Snippet};
use crate::{Outcome, Rewritten};
use agent_protocol::OrderHook;

/// Puts hooks around the calls of those methods of a library class of which the models say that they report.
///
/// # Errors
/// When the bytes are not a class file, or the class has no room for what must be added.
pub fn report_from_library(
    bytes: &[u8],
    name: &str,
    config: &Config,
    sites: &mut dyn SiteTable,
) -> Result<Outcome, InstrumentError> {
    let reports =
        |property| matches!(property, MethodProperty::Reporting | MethodProperty::Retrying);
    if !config.models.methods_of(name).any(|fact| reports(fact.property)) {
        return Ok(Outcome::Unchanged);
    }
    let file = ClassFile::parse(Arc::from(bytes))?;
    let mut planner = Planner::new(&file, bytes, config, Coverage::Everything, sites)?;
    for (index, method) in file.methods.iter().enumerate() {
        let Some(code) = &method.code else { continue };
        let properties: Vec<MethodProperty> = config
            .models
            .method_properties(name, &method.name, &method.descriptor)
            .filter(|property| reports(*property))
            .collect();
        if !properties.is_empty() {
            let is_retrying = properties.contains(&MethodProperty::Retrying);
            planner.method_with(index, method, code, |plan| plan.make_reporting(is_retrying));
        }
    }
    let Planner { editor, hooks, hooks_left_out, left_alone, .. } = planner;
    if hooks == 0 && hooks_left_out == 0 && left_alone.is_empty() {
        return Ok(Outcome::Unchanged);
    }
    Ok(Outcome::Rewritten(Rewritten {
        bytes: editor.finish()?,
        hooks,
        hooks_left_out,
        left_alone,
        unfollowed_branches: BTreeMap::new(),
        has_dropped_lock: false,
        listed_as: None,
    }))
}

impl MethodPlan<'_, '_> {
    fn make_reporting(mut self, is_retrying: bool) -> Result<(MethodEdits, u32), InstrumentError> {
        let file = self.planner.file;
        for (offset, instruction) in self.instructions {
            let Instruction::Invoke { kind, method } = instruction else { continue };
            let Ok(callee) = file.pool.member_ref(*method) else { continue };
            let models = &self.planner.config.models;
            let has_row = models.is_library(callee.class)
                && models.find(callee.class, callee.name, callee.descriptor).is_some();
            if !has_row {
                continue;
            }
            let (mut before, mut after) = (Snippet::new(), Snippet::new());
            if is_retrying {
                self.call_order(&mut before, OrderHook::Unmute, &[])?;
                self.call_order(&mut after, OrderHook::Mute, &[])?;
            }
            self.before(*offset, &before);
            self.invoke(*offset, *kind, *method)?;
            self.after(*offset, &after);
        }
        if is_retrying {
            let mut entry = Snippet::new();
            self.call_order(&mut entry, OrderHook::Mute, &[])?;
            self.edits.entry.append(&entry);
            let mut exit = Snippet::new();
            self.call_order(&mut exit, OrderHook::Unmute, &[])?;
            self.edits.exit = Some(exit);
        }
        Ok((self.edits, self.hooks))
    }
}

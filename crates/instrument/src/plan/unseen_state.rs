//! Whether a method may change state that is not watched: elements of arrays, unless these are watched, values in maps
//! and lists that are replaced, objects of libraries that no model describes as collections, and what a watch list leaves
//! out because a lock guards it.
//!
//! A checker that sees no change under a lock wants to know whether it would have seen one. What the methods of other
//! classes of the program do is left out: their fields are watched, and whose elements they change is their own state.

use std::sync::Arc;

use classes::MemberRef;
use classes::bytecode::{Instruction, InvokeKind, decode_all};
use models::{ContentsAccess, MemoryAccess, language};

use crate::plan::Planner;

impl Planner<'_> {
    /// Whether a method may change such state, by itself or in the methods of this class that it calls.
    pub(super) fn may_change_unseen_state(&mut self, index: usize) -> bool {
        if let Some(known) = self.unseen_changes.get(&index) {
            return *known;
        }
        let (mut pending, mut visited) = (vec![index], vec![index]);
        let mut may_change = false;
        while let Some(next) = pending.pop()
            && !may_change
        {
            may_change = self.changes_unseen_state_itself(next, &mut |callee| {
                if !visited.contains(&callee) {
                    visited.push(callee);
                    pending.push(callee);
                }
            });
        }
        self.unseen_changes.insert(index, may_change);
        may_change
    }

    /// Whether an instruction of a method changes such state. The methods of the class that it calls are handed on.
    fn changes_unseen_state_itself(&self, index: usize, calls: &mut dyn FnMut(usize)) -> bool {
        let file = self.file;
        let Some(code) = &file.methods[index].code else { return false };
        let Ok(instructions) = decode_all(file.code_bytes(code)) else { return true };
        let is_sparse = self.list.is_some();
        instructions.iter().any(|(_, instruction)| match instruction {
            Instruction::ArrayStore(_) => is_sparse || !self.config.arrays,
            Instruction::PutField(_) | Instruction::PutStatic(_) => is_sparse,
            Instruction::Invoke { kind, method } => {
                let Ok(method) = file.pool.member_ref(*method) else { return true };
                if **method.class == *file.name {
                    let is_callee = |it: &classes::MethodInfo| {
                        (&it.name, &it.descriptor) == (method.name, method.descriptor)
                    };
                    if let Some(callee) = file.methods.iter().position(is_callee) {
                        calls(callee);
                    }
                    return false;
                }
                if is_sparse && !language::is_platform(method.class) {
                    return true;
                }
                *kind != InvokeKind::Static
                    && &**method.name != "<init>"
                    && (self.is_of_library(&method) || self.replaces(&method))
            }
            _ => false,
        })
    }

    /// Whether a method belongs to a library, as far as names tell, and no model says what it does to its object.
    fn is_of_library(&self, method: &MemberRef<'_>) -> bool {
        let models = &self.config.models;
        let collections = self.config.collections;
        !language::is_platform(method.class)
            && root_package(method.class) != root_package(&self.file.name)
            && !(collections && models.memory_access(method.class, method.name, &[]).is_some())
    }

    /// Whether a call may replace something in a collection without being reported as a write: the value of a key that is
    /// there, which several threads may do at once.
    fn replaces(&self, method: &MemberRef<'_>) -> bool {
        let models = &self.config.models;
        let effects = self.model(method).map_or(&[][..], |model| model.effects);
        let is_change = || {
            matches!(
                models.contents_access(method.class, method.name, effects),
                Some(ContentsAccess::Changes | ContentsAccess::Takes)
            )
        };
        match models.memory_access(method.class, method.name, effects) {
            Some(MemoryAccess::WritesIfNew) => !method.descriptor.ends_with(")Z"),
            Some(MemoryAccess::Reads) => is_change(),
            Some(MemoryAccess::Writes) => self.list.is_some() || !self.config.collections,
            None => false,
        }
    }
}

/// The first two parts of the package of a class, in internal form: whose code it is, as far as names tell.
fn root_package(class: &Arc<str>) -> &str {
    let package = class.rfind('/').map_or("", |end| &class[..end]);
    package.match_indices('/').nth(1).map_or(package, |(end, _)| &package[..end])
}

//! The fields that more than one thread uses, for `--shared-fields`: the dynamic sharing analysis of HAVE, section 5.
//!
//! Hooks report a variable only from the moment on when a second thread uses it, and then also what the first one
//! did. So what is reported is nearly the answer; it is still asked for each variable who used it, because some events
//! are reported in any case. What a thread would have used counts too, since predictions rest on it.

use std::collections::BTreeSet;

use agent_protocol::SharedField;
use events::{Event, FieldId, Operand, Tables, ThreadId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of more variables than this, that nobody else has used yet, the users are not kept: their fields count as shared.
const MOST_VARIABLES: usize = 1 << 20;

/// Who used which variable.
#[derive(Debug, Default)]
pub(crate) struct SharedFields {
    shared: FxHashSet<FieldId>,
    /// The one thread that has used a variable so far.
    users: FxHashMap<Variable, ThreadId>,
}

impl SharedFields {
    /// Takes note of an event.
    pub(crate) fn note(&mut self, event: &Event) {
        let (_, Operand::Variable(variable)) = event.action.parts() else { return };
        let (Variable::Field(_, field) | Variable::Static(field)) = variable else { return };
        if self.shared.contains(&field) {
            return;
        }
        let is_other = match self.users.get(&variable) {
            Some(user) => *user != event.thread,
            None if self.users.len() >= MOST_VARIABLES => true,
            None => {
                self.users.insert(variable, event.thread);
                false
            }
        };
        if is_other {
            self.shared.insert(field);
            self.users.remove(&variable);
        }
    }

    /// The fields by name.
    pub(crate) fn named(&self, tables: &Tables) -> BTreeSet<SharedField> {
        let entries = self.shared.iter().filter_map(|field| tables.fields.get(field.0 as usize));
        entries
            .map(|entry| SharedField { class: entry.class.clone(), name: entry.name.clone() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use events::{Action, Epoch, FieldEntry, ObjectId, SiteId};

    use super::*;

    #[test]
    fn a_field_is_shared_when_two_threads_use_one_variable_of_it() {
        let mut tables = Tables::default();
        for name in ["alone", "shared", "would", "apart"] {
            tables.fields.push(FieldEntry { class: "p.A".into(), name: name.into() });
        }
        let field = |object, field| Variable::Field(ObjectId(object), FieldId(field));
        let mut fields = SharedFields::default();
        for (thread, action) in [
            (1, Action::Read(field(1, 0))),
            (1, Action::Write(field(1, 0))),
            (1, Action::EarlierWrite(field(1, 1))),
            (2, Action::Read(field(1, 1))),
            (1, Action::Read(Variable::Static(FieldId(2)))),
            (2, Action::WouldWrite(Variable::Static(FieldId(2)))),
            (1, Action::Read(field(1, 3))),
            (2, Action::Read(field(2, 3))),
        ] {
            let (thread, site) = (ThreadId(thread), SiteId(0));
            fields.note(&Event { thread, site, epoch: Epoch(0), action, overlaps: 0 });
        }
        let names: Vec<String> = fields.named(&tables).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["p.A.shared", "p.A.would"]);
    }
}

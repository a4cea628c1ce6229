//! What an edge or a race is about, and what it is called in findings.

use events::{ClassId, ObjectId, SiteId, Tables, Variable};
use findings::Site;

/// What two steps have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Subject {
    /// They are of one thread.
    Order,
    /// A variable.
    Variable(Variable),
    /// A lock.
    Lock(ObjectId),
    /// A thread that begins or has ended.
    Thread,
    /// An object that one thread publishes to and another receives from.
    Object(ObjectId),
    /// A class and its initialisation.
    Class(ClassId),
}

impl Subject {
    /// What it is called. Numbers of objects differ from run to run and are left out.
    pub(crate) fn name(self, tables: &Tables, site: SiteId) -> String {
        let said = || tables.sites.get(site.0 as usize).map_or("", |entry| entry.subject.as_str());
        let or = |kind: &str| {
            let said = said();
            if said.is_empty() { kind.to_string() } else { said.to_string() }
        };
        match self {
            Subject::Order => or("the thread"),
            Subject::Thread => or("a thread"),
            Subject::Variable(Variable::Field(_, field) | Variable::Static(field)) => {
                match tables.fields.get(field.0 as usize) {
                    Some(entry) => format!("{}.{}", entry.class, entry.name),
                    None => or("a field"),
                }
            }
            Subject::Variable(Variable::Element(..)) => or("an array element"),
            Subject::Variable(Variable::Contents(_)) => or("a collection"),
            Subject::Lock(_) => or("a lock"),
            Subject::Object(_) => or("a shared object"),
            Subject::Class(class) => match tables.classes.get(class.0 as usize) {
                Some(entry) => entry.name.clone(),
                None => or("a class"),
            },
        }
    }
}

/// The place with this number; a place that says so where it is not known.
pub(crate) fn place(tables: &Tables, site: SiteId) -> Site {
    match tables.sites.get(site.0 as usize) {
        Some(entry) => entry.site.clone(),
        None => Site {
            class: "unknown".to_string(),
            method: "unknown".to_string(),
            descriptor: "()V".to_string(),
            offset: Some(site.0),
            file: None,
            line: None,
        },
    }
}

//! Which field each object was read from: what people call a lock or a collection that has no name of its own.
//!
//! An object may be in several fields, and which of them a run uses first is chance. It is called after the least of those
//! that were seen, so that runs that do the same call it the same.

use rustc_hash::FxHashMap;

use crate::{Action, Event, ObjectId, SiteEntry, SiteId, Variable};

/// The objects by the fields that they were read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectFields {
    /// Each field once, and how many objects are called after it.
    fields: Vec<Field>,
    by_name: FxHashMap<String, u32>,
    /// What is known of each site.
    of_sites: Vec<SiteField>,
    /// By object; [`Named::NOT_YET`] for those that are called after none.
    of_objects: Vec<Named>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    /// How many objects are called after it now.
    objects: u32,
    /// How many ever were.
    numbered: u32,
}

/// What the object that a site uses was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SiteField {
    NotAsked,
    None,
    Field(u32),
}

/// The field that an object is called after, and its number among the objects of this field, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    field: u32,
    number: u32,
}

impl Named {
    const NOT_YET: Named = Named { field: u32::MAX, number: 0 };
}

impl ObjectFields {
    /// Notes the field that the object of an event was read from. The object must be one that is remembered.
    pub(crate) fn note(&mut self, object: ObjectId, site: SiteId, sites: &[SiteEntry]) {
        let Some(field) = self.of_site(site, sites) else { return };
        let Ok(at) = usize::try_from(object.0) else { return };
        if self.of_objects.len() <= at {
            self.of_objects.resize(at + 1, Named::NOT_YET);
        }
        let known = self.of_objects[at];
        if known.field == field {
            return;
        }
        if known != Named::NOT_YET {
            let name = |field: u32| &self.fields[field as usize].name;
            if name(known.field) <= name(field) {
                return;
            }
            self.fields[known.field as usize].objects -= 1;
        }
        let entry = &mut self.fields[field as usize];
        entry.objects = entry.objects.saturating_add(1);
        entry.numbered = entry.numbered.saturating_add(1);
        self.of_objects[at] = Named { field, number: entry.numbered };
    }

    /// The field that an object is called after; with the number of the object, if there are others of this field.
    pub(crate) fn get(&self, object: ObjectId) -> Option<(&str, Option<u32>)> {
        let named = self.of_objects.get(usize::try_from(object.0).ok()?)?;
        let field = self.fields.get(named.field as usize)?;
        Some((field.name.as_str(), (field.objects > 1).then_some(named.number)))
    }

    fn of_site(&mut self, site: SiteId, sites: &[SiteEntry]) -> Option<u32> {
        let at = site.0 as usize;
        let entry = sites.get(at)?;
        if self.of_sites.len() <= at {
            self.of_sites.resize(sites.len(), SiteField::NotAsked);
        }
        if self.of_sites[at] == SiteField::NotAsked {
            self.of_sites[at] = match entry.origin() {
                Some(name) => SiteField::Field(self.number(name)),
                None => SiteField::None,
            };
        }
        match self.of_sites[at] {
            SiteField::Field(field) => Some(field),
            SiteField::None | SiteField::NotAsked => None,
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let number = self.fields.len() as u32;
        self.fields.push(Field { name: name.to_string(), objects: 0, numbered: 0 });
        self.by_name.insert(name.to_string(), number);
        number
    }
}

/// The object that an event uses and that the place of the event read from a field, if it read it from one. Who waits for a
/// condition uses its lock, which is in another field.
#[inline]
pub(crate) fn used_object(event: &Event) -> Option<ObjectId> {
    match event.action {
        Action::Read(variable)
        | Action::Write(variable)
        | Action::EarlierRead(variable)
        | Action::EarlierWrite(variable)
        | Action::VolatileRead(variable)
        | Action::VolatileWrite(variable)
        | Action::AtomicUpdate(variable)
        | Action::AtomicAdd(variable)
        | Action::AtomicSwap(variable) => match variable {
            Variable::Element(object, _) | Variable::Contents(object) => Some(object),
            Variable::Field(..) | Variable::Static(_) => None,
        },
        Action::Acquire(object)
        | Action::AcquireShared(object)
        | Action::LatchDown(object)
        | Action::LatchPass(object)
        | Action::BarrierArrive(object)
        | Action::BarrierPass(object) => Some(object),
        Action::Release(_)
        | Action::ReleaseShared(_)
        | Action::Wait(_)
        | Action::Woken(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::ThreadBegin
        | Action::ThreadEnd
        | Action::Fork(_)
        | Action::Join(_)
        | Action::Begin
        | Action::End
        | Action::Submit(_)
        | Action::TaskBegin(_)
        | Action::TaskEnd(_)
        | Action::TaskJoin(_)
        | Action::Publish(_)
        | Action::Receive(_)
        | Action::Escape(..)
        | Action::ClassInitialised(_)
        | Action::ClassUsed(_)
        | Action::Branch(_)
        | Action::Missed
        | Action::OrderRelease(_)
        | Action::OrderAcquire(_)
        | Action::EarlierOrderRelease(_)
        | Action::OrderAcquireAll
        | Action::LibraryOrder
        | Action::Choice
        | Action::Untaken(_)
        | Action::UntakenEnd
        | Action::Rejoin
        | Action::WouldRead(_)
        | Action::WouldWrite(_)
        | Action::WouldAcquire(_)
        | Action::WouldAcquireShared(_)
        | Action::WouldRelease(_)
        | Action::WouldReleaseShared(_)
        | Action::Given(_)
        | Action::Tried(_)
        | Action::Holds(_)
        | Action::Blocked(_)
        | Action::BlockedByThread(_)
        | Action::Stalled(..)
        | Action::Hung
        | Action::Starved(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_called_after_the_least_field_and_counted_where_there_are_several() {
        let sites: Vec<SiteEntry> =
            ["", " of b.Page.lock", "call of a.Page.mutex", " of b.Page.lock"]
                .map(|subject| SiteEntry { subject: subject.into(), ..SiteEntry::unknown() })
                .to_vec();
        let mut fields = ObjectFields::default();
        let (one, other) = (ObjectId(4), ObjectId(9));
        fields.note(one, SiteId(0), &sites);
        assert_eq!(fields.get(one), None);
        fields.note(one, SiteId(1), &sites);
        assert_eq!(fields.get(one), Some(("b.Page.lock", None)));
        fields.note(other, SiteId(3), &sites);
        assert_eq!(fields.get(one), Some(("b.Page.lock", Some(1))));
        assert_eq!(fields.get(other), Some(("b.Page.lock", Some(2))));
        fields.note(other, SiteId(2), &sites);
        fields.note(other, SiteId(1), &sites);
        assert_eq!(fields.get(other), Some(("a.Page.mutex", None)));
        assert_eq!(fields.get(one), Some(("b.Page.lock", None)));
        assert_eq!(fields.get(ObjectId(5)), None);
    }
}

//! What names say about accesses: the class of a static field, and whether the code of a class accesses its own fields.

use events::{FieldId, SiteId, Tables};
use rustc_hash::FxHashMap;

/// The class that declares each field, as a number.
#[derive(Debug, Default)]
pub(crate) struct FieldClasses {
    numbers: FxHashMap<String, u32>,
    by_field: Vec<u32>,
}

impl FieldClasses {
    pub(crate) fn learn(&mut self, tables: &Tables) {
        for entry in &tables.fields[self.by_field.len().min(tables.fields.len())..] {
            let next = self.numbers.len() as u32;
            self.by_field.push(*self.numbers.entry(entry.class.clone()).or_insert(next));
        }
    }

    /// The class of a field; none if it was not learned.
    pub(crate) fn class_of(&self, field: FieldId) -> Option<u32> {
        self.by_field.get(field.0 as usize).copied()
    }
}

/// What is known of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The class whose code it is; 0 if that is not known.
    pub(crate) class: u32,
    /// Whether it accesses a field that the code names as one of this class: mostly one of `this`.
    pub(crate) is_of_own_class: bool,
}

/// The class of the code at each place.
#[derive(Debug, Default)]
pub(crate) struct Places {
    numbers: FxHashMap<String, u32>,
    by_site: Vec<Place>,
}

impl Places {
    const UNKNOWN: Place = Place { class: 0, is_of_own_class: false };

    pub(crate) fn learn(&mut self, tables: &Tables) {
        for entry in &tables.sites[self.by_site.len().min(tables.sites.len())..] {
            let class = &entry.site.class;
            let place = if class.is_empty() {
                Places::UNKNOWN
            } else {
                let next = self.numbers.len() as u32 + 1;
                // The subject of an access is the class that the code names and the field.
                let owner = entry.about().rsplit_once('.').map(|(owner, _)| owner);
                Place {
                    class: *self.numbers.entry(class.clone()).or_insert(next),
                    is_of_own_class: owner == Some(class),
                }
            };
            self.by_site.push(place);
        }
    }

    pub(crate) fn of(&self, site: SiteId) -> Place {
        self.by_site.get(site.0 as usize).copied().unwrap_or(Places::UNKNOWN)
    }
}

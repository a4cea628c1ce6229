//! Which fields of library classes are volatile.

use std::sync::Arc;

use classes::{ClassFile, access};

/// What a class declares, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// The fields, each with whether it is volatile.
    pub fields: Vec<(Arc<str>, bool)>,
    /// The superclass.
    pub super_name: Option<Arc<str>>,
}

impl Declarations {
    /// What a class file declares.
    #[must_use]
    pub fn of(file: &ClassFile) -> Declarations {
        let fields = file.fields.iter();
        Declarations {
            fields: fields
                .map(|field| (Arc::clone(&field.name), field.has_access(access::VOLATILE)))
                .collect(),
            super_name: file.super_name.clone(),
        }
    }
}

/// Who knows what classes declare. Names of volatile fields differ from release to release, so that they are read from
/// the library that is running.
pub trait FieldDeclarations {
    /// What a class declares; nothing when it cannot be had.
    fn declarations(&self, class: &str) -> Option<Arc<Declarations>>;

    /// The number by which hooks name a field that a class declares; nothing when there are no more.
    fn number(&self, class: &str, field: &str) -> Option<i32>;

    /// The class that declares a field which code of `file` names, if the field is volatile. A field of a class that
    /// cannot be had counts as volatile: where it is not known whether something orders, it does.
    fn volatile_owner(&self, file: &ClassFile, class: &Arc<str>, field: &str) -> Option<Arc<str>> {
        let mut owner = Arc::clone(class);
        loop {
            let declared = if *owner == *file.name {
                Arc::new(Declarations::of(file))
            } else {
                match self.declarations(&owner) {
                    Some(declared) => declared,
                    None => return Some(owner),
                }
            };
            if let Some((_, is_volatile)) =
                declared.fields.iter().find(|(name, _)| **name == *field)
            {
                return is_volatile.then_some(owner);
            }
            // Fields of interfaces are final.
            owner = Arc::clone(declared.super_name.as_ref()?);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Known(BTreeMap<&'static str, Declarations>);

    impl FieldDeclarations for Known {
        fn declarations(&self, class: &str) -> Option<Arc<Declarations>> {
            self.0.get(class).cloned().map(Arc::new)
        }

        fn number(&self, _: &str, _: &str) -> Option<i32> {
            None
        }
    }

    fn class(name: &str) -> ClassFile {
        // A class without members that extends `Base`.
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5];
        for text in [name, "Base"] {
            bytes.extend([1, 0, text.len() as u8]);
            bytes.extend(text.bytes());
        }
        bytes.extend([7, 0, 1, 7, 0, 2, 0, 0x21, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
        ClassFile::parse(Arc::from(bytes)).unwrap()
    }

    #[test]
    fn fields_are_looked_for_in_superclasses() {
        let base = Declarations {
            fields: vec![("state".into(), true), ("count".into(), false)],
            ..Declarations::default()
        };
        let known = Known(BTreeMap::from([("Base", base)]));
        let file = class("Sub");
        let owner = |field: &str| known.volatile_owner(&file, &"Sub".into(), field);
        assert_eq!(owner("state").as_deref(), Some("Base"));
        assert_eq!(owner("count"), None);
        assert_eq!(owner("missing"), None);
        assert_eq!(known.volatile_owner(&file, &"Other".into(), "x").as_deref(), Some("Other"));
    }
}

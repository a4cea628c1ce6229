//! The library of the JVM that is running, as far as somebody must know what its classes declare.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use agent_protocol::layout::LIBRARY_FIELDS;
use classes::{ClassFile, JdkLookup};
use instrument::library_order::{Declarations, FieldDeclarations};
use models::language;

/// The classes of the base module, read from its image when they are asked for.
#[derive(Debug)]
pub(crate) struct RunningLibrary {
    image: Option<JdkLookup>,
    known: Mutex<HashMap<String, Option<Arc<Declarations>>>>,
    /// The fields that hooks name by number, each with the class that declares it.
    numbered: Mutex<NumberedFields>,
}

#[derive(Debug, Default)]
struct NumberedFields {
    numbers: HashMap<(String, String), i32>,
    names: Vec<(String, String)>,
}

impl RunningLibrary {
    /// The library of the JVM at this home. Without an image nothing is known.
    pub(crate) fn new(home: &Path) -> RunningLibrary {
        RunningLibrary {
            image: JdkLookup::open(home).ok(),
            known: Mutex::default(),
            numbered: Mutex::default(),
        }
    }

    /// The class, in internal form, and the name of the field with a number.
    pub(crate) fn field(&self, number: usize) -> Option<(String, String)> {
        let numbered = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        numbered.names.get(number).cloned()
    }

    fn read(&self, class: &str) -> Option<Arc<Declarations>> {
        let bytes = self.image.as_ref()?.read(language::BASE_MODULE, class).ok()??;
        let file = ClassFile::parse(Arc::from(bytes)).ok()?;
        Some(Arc::new(Declarations::of(&file)))
    }
}

impl FieldDeclarations for RunningLibrary {
    fn declarations(&self, class: &str) -> Option<Arc<Declarations>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(declarations) = known.get(class) {
            return declarations.clone();
        }
        let declarations = self.read(class);
        known.insert(class.to_owned(), declarations.clone());
        declarations
    }

    fn number(&self, class: &str, field: &str) -> Option<i32> {
        let mut numbered = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (class.to_owned(), field.to_owned());
        if let Some(number) = numbered.numbers.get(&key) {
            return Some(*number);
        }
        let number = numbered.names.len();
        if number >= LIBRARY_FIELDS {
            return None;
        }
        let number = i32::try_from(number).ok()?;
        numbered.names.push(key.clone());
        numbered.numbers.insert(key, number);
        Some(number)
    }
}

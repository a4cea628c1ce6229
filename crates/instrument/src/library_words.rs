//! Room for the words of library objects that several threads may use: classes that leave it to others to order the calls
//! to their objects get the fields that classes of the program get, for their contents as a whole.
//!
//! The fields must be there when the class is loaded, and whenever it is rewritten later.

use std::sync::Arc;

use classes::ClassFile;
use models::{Models, Sharing};

use crate::plan::{CONTENTS, IDENTITY, INJECTED_ACCESS, LAST_READ, LAST_WRITE};
use crate::surgery::ClassEditor;

/// Whether objects of a class are asked for their words. Those of a view are in the collection that it is a view of.
fn keeps_words(models: &Models, class: &str) -> bool {
    models.sharing(class) == Some(Sharing::NotThreadSafe)
        && models.viewed_field(class).is_none()
        && (models.memory_access(class, "size", &[]).is_some()
            || models.rows().any(|row| row.class == class))
}

/// The class with room for the words of its contents; none if its objects need none, or inherit it.
#[must_use]
pub fn add_words_of_contents(models: &Models, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    if !keeps_words(models, name) {
        return None;
    }
    let file = ClassFile::parse(Arc::from(bytes)).ok()?;
    let inherits = file
        .super_name
        .as_ref()
        .is_some_and(|above| keeps_words(models, above) || models.viewed_field(above).is_some());
    if inherits {
        return None;
    }
    let mut editor = ClassEditor::new(bytes).ok()?;
    editor.add_field(INJECTED_ACCESS, IDENTITY, "J").ok()?;
    for prefix in [LAST_READ, LAST_WRITE] {
        editor.add_field(INJECTED_ACCESS, &format!("{prefix}{CONTENTS}"), "J").ok()?;
    }
    editor.finish().ok()
}

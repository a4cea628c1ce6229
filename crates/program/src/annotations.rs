//! The annotations of classes, methods and fields, as their class files carry them.
//!
//! Only annotations that the compiler keeps are there: those with source retention, such as
//! `@SuppressWarnings`, never reach a class file.

use classes::Annotation;

use crate::Program;
use crate::ids::{ClassId, FieldId, MethodId};

impl Program {
    /// The annotations of a class; none for a missing one.
    #[must_use]
    pub fn annotations_of_class(&self, class: ClassId) -> &[Annotation] {
        self.classes[class].file.as_ref().map_or(&[], |file| &file.annotations)
    }

    /// The annotations of a method; none for one that is only assumed to exist.
    #[must_use]
    pub fn annotations_of_method(&self, method: MethodId) -> &[Annotation] {
        let position = self.methods[method].position;
        match self.class_of(method).file.as_ref().zip(position) {
            Some((file, position)) => &file.methods[position as usize].annotations,
            None => &[],
        }
    }

    /// The annotations of a field; none for one that is only assumed to exist.
    #[must_use]
    pub fn annotations_of_field(&self, field: FieldId) -> &[Annotation] {
        let wanted = &self.fields[field];
        let file = self.classes[wanted.class].file.as_ref();
        let declared = file.and_then(|file| {
            file.fields.iter().find(|declared| {
                declared.name == wanted.name && declared.descriptor == wanted.descriptor
            })
        });
        declared.map_or(&[], |declared| &declared.annotations)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use classes::{AnnotationValue, LoadConfig};

    use crate::{BuildConfig, Library, build};

    #[test]
    fn classes_methods_and_fields_have_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let source = "
            @interface Note { String value(); }
            @Note(\"class\") class Annotated {
                int plain;
                @Note(\"field\") int field;
                void plain() { }
                @Note(\"method\") void method() { }
            }";
        std::fs::write(directory.path().join("Annotated.java"), source).unwrap();
        let javac = Command::new("javac")
            .args(["-d", ".", "Annotated.java"])
            .current_dir(directory.path())
            .status()
            .expect("javac of a JDK is needed on the path");
        assert!(javac.success());
        let paths = [directory.path().join("Annotated.class")];
        let loaded = classes::load(&paths, &LoadConfig::default(), &()).unwrap();
        let program =
            build(loaded, None, &BuildConfig { library: Library::Model, ..BuildConfig::default() });
        let class = program.class_named("Annotated").unwrap();
        let note = |annotations: &[classes::Annotation]| match annotations {
            [] => None,
            [only] => match only.element("value") {
                Some(AnnotationValue::String(text)) => Some(text.to_string()),
                other => panic!("{other:?} is no note"),
            },
            more => panic!("{more:?} is too much"),
        };
        assert_eq!(note(program.annotations_of_class(class)).as_deref(), Some("class"));
        for &method in &program.classes[class].methods {
            let expected = (*program.methods[method].name == *"method").then_some("method");
            assert_eq!(note(program.annotations_of_method(method)).as_deref(), expected);
        }
        for &field in &program.classes[class].fields {
            let expected = (*program.fields[field].name == *"field").then_some("field");
            assert_eq!(note(program.annotations_of_field(field)).as_deref(), expected);
        }
        let missing = program.class_named("java/lang/Object").unwrap();
        assert_eq!(program.annotations_of_class(missing), []);
    }
}

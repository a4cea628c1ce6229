//! A class that nothing is inserted into comes out as it went in.

use std::time::{Duration, Instant};

use instrument::surgery::{ClassEditor, MethodEdits};

use crate::jdks::jdks;

#[test]
fn every_class_of_the_jdks_is_relocated_onto_itself() {
    for jdk in jdks() {
        let image = jdk.open().unwrap();
        let nothing = MethodEdits::new();
        let (mut classes, mut methods, mut time) = (0_u32, 0_u32, Duration::ZERO);
        for (module, name) in image.class_names(None) {
            let bytes = image.read_in_module(module, name).unwrap().unwrap();
            let untouched = ClassEditor::new(&bytes).unwrap().finish().unwrap();
            assert!(untouched[..] == bytes[..], "{name} changes when nothing is asked for");

            let start = Instant::now();
            let mut editor = ClassEditor::new(&bytes).unwrap();
            let mut relocated = 0;
            for index in 0..editor.method_count() {
                editor.edit_method(index, &nothing).unwrap();
                if editor.has_code(index) {
                    let done = editor.relocate_method(index, &nothing);
                    done.unwrap_or_else(|left| panic!("{name}: {left}"));
                    relocated += 1;
                }
            }
            let finished = editor.finish().unwrap();
            time += start.elapsed();
            assert!(finished[..] == bytes[..], "{name} changes when it is relocated");
            classes += 1;
            methods += relocated;
        }
        assert!(classes > 1_000 && methods > 10_000, "{classes} classes, {methods} methods");
        println!(
            "JDK {}: {classes} classes, {methods} methods, {:?} a class",
            jdk.release,
            time / classes
        );
    }
}

#[test]
fn an_added_field_is_all_that_changes() {
    let image = jdks()[0].open().unwrap();
    let bytes = image.read("java/lang/Thread").unwrap().unwrap();
    let added = instrument::add_field(&bytes, 0x1080, "$added", "J").unwrap();
    let before = classes::ClassFile::parse(bytes.clone()).unwrap();
    let after = classes::ClassFile::parse(added.as_slice().into()).unwrap();
    assert_eq!(after.fields.len(), before.fields.len() + 1);
    let field = after.fields.last().unwrap();
    assert_eq!((field.access, &*field.name, &*field.descriptor), (0x1080, "$added", "J"));
    for (old, new) in before.methods.iter().zip(&after.methods) {
        assert_eq!((&old.name, &old.descriptor), (&new.name, &new.descriptor));
        let code = |class: &classes::ClassFile, method: &classes::MethodInfo| {
            method.code.as_ref().map(|code| class.code_bytes(code).to_vec())
        };
        assert_eq!(code(&before, old), code(&after, new));
    }
    assert_eq!(
        instrument::add_field(&added, 0, "$added", "J"),
        Err(instrument::InstrumentError::FieldExists("$added".to_owned()))
    );
    assert!(instrument::add_field(&added, 0, "$added", "I").is_ok());
    assert!(instrument::add_field(&bytes[..100], 0, "x", "I").is_err());
}

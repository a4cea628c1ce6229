//! Single class files: what the parser gives, refuses, and leaves out.

use std::process::Command;

use classes::{AnnotationValue, Constant, ReadErrorKind, access};

use crate::tiny_class::{TinyClass, attribute, empty_class, parse};

/// A class with one static method `f()I` that returns 3, with the given `Code` header.
fn with_method(version: (u16, u16), header: &[u8]) -> Vec<u8> {
    let mut class = TinyClass::new();
    let code_name = class.text("Code");
    let name = class.text("f");
    let descriptor = class.text("()I");
    let iconst_3_ireturn = [0x06, 0xac];
    let no_handlers_no_attributes = [0, 0, 0, 0];
    let code =
        attribute(code_name, &[header, &iconst_3_ireturn, &no_handlers_no_attributes].concat());
    let head = [0x0009, name, descriptor, 1].map(u16::to_be_bytes).concat();
    class.finish("p/A", version, &[[head, code].concat()], &[])
}

#[test]
fn the_first_compilers_wrote_a_narrow_code_header() {
    for minor in 0..3 {
        let class = parse(&with_method((45, minor), &[1, 0, 0, 2])).unwrap();
        let code = class.methods[0].code.as_ref().unwrap();
        assert_eq!((code.max_stack, code.max_locals), (1, 0));
        assert_eq!(class.code_bytes(code), [0x06, 0xac]);
    }
    for version in [(45, 3), (46, 0), (69, 0)] {
        let class = parse(&with_method(version, &[0, 1, 0, 0, 0, 0, 0, 2])).unwrap();
        assert_eq!(class.code_bytes(class.methods[0].code.as_ref().unwrap()), [0x06, 0xac]);
    }
}

#[test]
fn errors_name_the_byte_and_what_is_around_it() {
    let bytes = with_method((52, 0), &[0, 1, 0, 0, 0, 0, 0, 200]);
    let error = parse(&bytes).unwrap_err();
    assert!(matches!(error.kind, ReadErrorKind::Truncated { .. }), "{error}");
    assert_eq!(error.context, "Code of `f()I` of method 0 of 1");
    assert!(bytes.get(error.offset..).unwrap().starts_with(&[0x06, 0xac]), "{error}");

    let error = parse(b"PK\x03\x04").unwrap_err();
    assert_eq!(error.to_string(), "0x504b0304 is not the magic number of a class file at byte 0");
    let error = parse(&[]).unwrap_err();
    assert_eq!(error.to_string(), "truncated: 4 more bytes needed at byte 0");
}

#[test]
fn every_truncation_is_an_error_and_so_is_every_extra_byte() {
    let bytes = with_method((52, 0), &[0, 1, 0, 0, 0, 0, 0, 2]);
    for length in 0..bytes.len() {
        assert!(parse(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(parse(&longer).unwrap_err().kind, ReadErrorKind::TrailingBytes(1));
}

#[test]
fn versions() {
    let version = |major, minor| parse(&empty_class("A", (major, minor))).unwrap().version;
    assert!(version(45, 0).is_known() && version(69, 0).is_known());
    assert!(!version(44, 0).is_known() && !version(99, 0).is_known());
    assert!(version(61, 0xffff).is_preview() && !version(61, 0).is_preview());
    assert_eq!(version(61, 0).to_string(), "61.0");
}

#[test]
fn broken_annotations_do_not_cost_the_class() {
    let mut class = TinyClass::new();
    let name = class.text("RuntimeVisibleAnnotations");
    let bytes = class.finish("p/A", (52, 0), &[], &[attribute(name, &[0xff, 0xff, 0, 1])]);
    let class = parse(&bytes).unwrap();
    assert!(class.annotations.is_empty());
    assert_eq!(class.skipped.len(), 1);
    assert_eq!(class.skipped[0].context, "RuntimeVisibleAnnotations of the class");
}

#[test]
fn deeply_nested_annotations_do_not_exhaust_the_stack() {
    let mut class = TinyClass::new();
    let name = class.text("RuntimeVisibleAnnotations");
    let text = class.text("Lp/X;");
    // One annotation with one element that is an array of one array of one array, and so on.
    let mut content = [1, text, 1, text].map(u16::to_be_bytes).concat();
    (0..100_000).for_each(|_| content.extend([b'[', 0, 1]));
    let bytes = class.finish("p/A", (52, 0), &[], &[attribute(name, &content)]);
    assert_eq!(parse(&bytes).unwrap().skipped.len(), 1);
}

#[test]
fn what_a_compiler_writes_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("Shop.java");
    std::fs::write(
        &source,
        r#"
        package p;
        import java.lang.annotation.*;
        @interface Guard { String value(); int n() default 1; Class<?> c() default Object.class;
            String[] names() default {}; RetentionPolicy policy() default RetentionPolicy.CLASS; }
        public sealed class Shop permits Shop.Sub {
            @Guard(value = "this", n = 7, c = String.class, names = {"a", "b"},
                   policy = RetentionPolicy.SOURCE)
            private volatile long stock;
            static final class Sub extends Shop { }
            record Point(int x, int y) { }
            synchronized long take(int amount, String who) throws java.io.IOException {
                try { stock -= amount; } catch (RuntimeException e) { stock = 0; }
                Runnable hello = () -> System.out.println(who + amount);
                hello.run();
                return stock;
            }
            Object local() { return new Object() { }; }
        }
        "#,
    )
    .unwrap();
    let status = Command::new("javac")
        .args(["-g", "-parameters", "-d"])
        .arg(directory.path())
        .arg(&source)
        .status()
        .expect("these tests need a JDK with `javac` on the PATH");
    assert!(status.success());
    let read = |name: &str| {
        let bytes = std::fs::read(directory.path().join("p").join(name)).unwrap();
        let class = parse(&bytes).unwrap();
        assert!(class.skipped.is_empty(), "{:?}", class.skipped);
        class
    };

    let shop = read("Shop.class");
    assert_eq!(&*shop.name, "p/Shop");
    assert_eq!(shop.super_name.as_deref(), Some("java/lang/Object"));
    assert_eq!(shop.source_file.as_deref(), Some("Shop.java"));
    assert_eq!(shop.permitted_subclasses.iter().map(|n| &**n).collect::<Vec<_>>(), ["p/Shop$Sub"]);
    assert!(shop.nest_members.iter().any(|name| &**name == "p/Shop$1"));
    assert!(shop.inner_classes.iter().any(|row| row.name.as_deref() == Some("Sub")
        && row.outer.as_deref() == Some("p/Shop")
        && row.access & access::STATIC != 0));

    let stock = &shop.fields[0];
    assert!(stock.has_access(access::VOLATILE) && stock.has_access(access::PRIVATE));
    assert_eq!((&*stock.name, &*stock.descriptor), ("stock", "J"));
    let guard = &stock.annotations[0];
    assert_eq!((&*guard.type_name, guard.simple_name()), ("p/Guard", "Guard"));
    assert_eq!(guard.element("value"), Some(&AnnotationValue::String("this".into())));
    assert_eq!(guard.element("n"), Some(&AnnotationValue::Int(7)));
    assert_eq!(guard.element("c"), Some(&AnnotationValue::Class("Ljava/lang/String;".into())));
    assert_eq!(
        guard.element("names"),
        Some(&AnnotationValue::Array(vec![
            AnnotationValue::String("a".into()),
            AnnotationValue::String("b".into())
        ]))
    );
    assert_eq!(
        guard.element("policy"),
        Some(&AnnotationValue::Enum {
            type_name: "java/lang/annotation/RetentionPolicy".into(),
            constant: "SOURCE".into()
        })
    );

    let take = shop.methods.iter().find(|method| &*method.name == "take").unwrap();
    assert!(take.has_access(access::SYNCHRONIZED));
    assert_eq!(&*take.descriptor, "(ILjava/lang/String;)J");
    assert_eq!(take.exceptions.iter().map(|n| &**n).collect::<Vec<_>>(), ["java/io/IOException"]);
    let names: Vec<_> = take.parameter_names.iter().map(|name| name.as_deref()).collect();
    assert_eq!(names, [Some("amount"), Some("who")]);
    let code = take.code.as_ref().unwrap();
    assert_eq!(code.handlers.len(), 1);
    assert_eq!(code.handlers[0].catch_type.as_deref(), Some("java/lang/RuntimeException"));
    assert_eq!(code.line_at(0), Some(13));
    assert!(code.line_at(u32::MAX).is_some());
    assert_eq!(code.local_at(1, 0).map(|local| &*local.name), Some("amount"));

    let bootstrap = &shop.bootstrap_methods[0];
    let Ok(Constant::MethodHandle { kind: 6, member }) = shop.pool.get(bootstrap.method) else {
        panic!("the bootstrap method is not a static method");
    };
    assert!(matches!(&**member.name, "metafactory" | "makeConcatWithConstants"));
    for index in shop.pool.indices() {
        shop.pool.get(index).unwrap();
    }

    assert!(read("Shop$Point.class").is_record);
    let anonymous = read("Shop$1.class");
    assert_eq!(anonymous.nest_host.as_deref(), Some("p/Shop"));
    let enclosing = anonymous.enclosing_method.unwrap();
    assert_eq!(&*enclosing.class, "p/Shop");
    let (name, descriptor) = enclosing.method.unwrap();
    assert_eq!((&*name, &*descriptor), ("local", "()Ljava/lang/Object;"));
}

//! The JDK's own classes, all of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use classes::{ClassFile, Jdk, JdkImage, LoadConfig, LoadError, bytecode, descriptor, load};

pub(crate) fn this_jdk() -> Jdk {
    Jdk::find(None)
        .expect("looking for a JDK does not fail")
        .expect("these tests need a JDK: set JAVA_HOME or put `java` on the PATH")
}

/// Reads every class, and everything in it that is only read on demand.
fn read_all(image: &JdkImage) -> usize {
    let mut count = 0;
    for (module, name) in image.class_names(None) {
        let bytes = image.read_in_module(module, name).unwrap().unwrap();
        let class = ClassFile::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&*class.name, name);
        assert!(class.version.is_known(), "{name}: {}", class.version);
        assert!(class.skipped.is_empty(), "{name}: {:?}", class.skipped);
        for index in class.pool.indices() {
            class.pool.get(index).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        for method in &class.methods {
            descriptor::parse_method(&method.descriptor).unwrap();
            if let Some(code) = &method.code {
                bytecode::decode_all(class.code_bytes(code))
                    .unwrap_or_else(|error| panic!("{name}.{}: {error}", method.name));
            }
        }
        for field in &class.fields {
            descriptor::parse_field(&field.descriptor).unwrap();
        }
        count += 1;
    }
    count
}

#[test]
fn every_class_of_this_jdk_is_read() {
    assert!(read_all(&this_jdk().open().unwrap()) > 1_000);
}

#[test]
fn every_class_of_the_other_jdks_here_is_read() {
    for home in ["/usr/lib/jvm/temurin-25-jdk-amd64"] {
        if let Some(jdk) = Jdk::at(Path::new(home)) {
            assert!(read_all(&jdk.open().unwrap()) > 1_000);
        }
    }
}

#[test]
fn classes_are_found_by_name() {
    let jdk = this_jdk();
    assert!(jdk.release >= 17, "{jdk:?}");
    let image = jdk.open().unwrap();
    let object = image.read("java/lang/Object").unwrap().unwrap();
    assert_eq!(image.read_in_module("java.base", "java/lang/Object").unwrap().unwrap(), object);
    assert_eq!(image.read("java/lang/Objec").unwrap(), None);
    assert_eq!(image.read_in_module("java.sql", "java/lang/Object").unwrap(), None);
    let names: Vec<_> = image.class_names(Some("java.base")).collect();
    assert!(names.is_sorted() && names.contains(&("java.base", "java/util/Vector")));
    assert!(image.has_module("java.base") && !image.has_module("java.bas"));
    assert!(image.class_names(None).is_sorted());
}

#[test]
fn a_directory_that_is_not_a_jdk_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = Jdk::find(Some(directory.path())).unwrap_err();
    assert!(matches!(error, LoadError::NotAJdk { .. }));
    assert!(error.to_string().ends_with("is not a JDK: it has neither lib/modules nor lib/rt.jar"));
}

#[test]
fn a_module_can_be_an_input() {
    let config = LoadConfig { jdk: Some(this_jdk()), ..LoadConfig::default() };
    let loaded = load(&[PathBuf::from("jrt:java.logging")], &config, &()).unwrap();
    assert!(loaded.gaps.is_empty(), "{:?}", loaded.gaps);
    let logger = loaded
        .classes
        .iter()
        .find(|found| &*found.class.name == "java/util/logging/Logger")
        .unwrap();
    assert_eq!(logger.origin.as_str(), "jrt:java.logging/java/util/logging/Logger.class");
    assert!(logger.is_application);
    let error = load(&[PathBuf::from("jrt:no.such")], &config, &()).unwrap_err();
    assert!(error.to_string().ends_with("has no module `no.such`"), "{error}");
}

/// A runtime with `java.base` alone, compressed; nothing when this JDK cannot make any, in which
/// case there is nothing to test.
fn small_runtime(jdk: &Jdk, home: &Path, compression: &str) -> Option<Jdk> {
    let made = Command::new(jdk.home.join("bin/jlink"))
        .args(["--add-modules", "java.base", "--compress", compression, "--output"])
        .arg(home)
        .output();
    made.is_ok_and(|output| output.status.success()).then(|| Jdk::at(home).unwrap())
}

#[test]
fn a_compressed_image_is_read() {
    let jdk = this_jdk();
    let directory = tempfile::tempdir().unwrap();
    if let Some(small) = small_runtime(&jdk, &directory.path().join("small"), "2") {
        assert_eq!(small.release, jdk.release);
        let image = small.open().unwrap();
        assert!(read_all(&image) > 1_000);
        let original = jdk.open().unwrap().read("java/util/Vector").unwrap();
        assert_eq!(image.read("java/util/Vector").unwrap(), original);

        std::fs::remove_file(small.home.join("release")).unwrap();
        let nameless = Jdk::at(&small.home).unwrap();
        assert_eq!(nameless.release, jdk.release, "the version of java/lang/Object tells");
    }
}

#[test]
fn a_compression_that_is_not_supported_is_named() {
    let jdk = this_jdk();
    let directory = tempfile::tempdir().unwrap();
    if let Some(small) = small_runtime(&jdk, &directory.path().join("small"), "1")
        && let Err(error) = small.open().unwrap().read("java/util/Vector")
    {
        let message = error.to_string();
        assert!(message.starts_with("the compression `compact-cp` is not supported at byte "));
        assert!(message.ends_with(", in `java/util/Vector`"), "{message}");
    }
}

#[test]
fn a_truncated_image_is_an_error_and_not_a_panic() {
    let jdk = this_jdk();
    let bytes = std::fs::read(jdk.home.join("lib/modules")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("modules");
    for length in [0, 3, 4, 27, 28, 1_000, 100_000] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let error = JdkImage::open_image(&path).unwrap_err();
        assert!(error.to_string().contains(" at byte "), "{error}");
    }
    // The list of classes is whole and their bytes are not.
    std::fs::write(&path, &bytes[..8 << 20]).unwrap();
    if let Ok(image) = JdkImage::open_image(&path) {
        let failed = image.class_names(None).filter(|(_, name)| image.read(name).is_err()).count();
        assert!(failed > 0);
        let loaded = load(&[path], &LoadConfig::default(), &()).unwrap();
        assert_eq!(loaded.gaps.len(), failed);
    }
}

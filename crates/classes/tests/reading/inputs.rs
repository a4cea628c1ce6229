//! What a user may name on the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use classes::{LoadConfig, LoadError, Loaded, Progress, load};
use findings::GapKind;

use crate::archives::jar;
use crate::tiny_class::empty_class;

const JAVA_17: (u16, u16) = (61, 0);

fn write(path: impl AsRef<Path>, bytes: &[u8]) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn class_jar(name: &str) -> Vec<u8> {
    jar(&[(&format!("{name}.class"), &empty_class(name, JAVA_17))])
}

/// Name, and whether it belongs to the application.
fn names(loaded: &Loaded) -> Vec<(&str, bool)> {
    loaded.classes.iter().map(|found| (&*found.class.name, found.is_application)).collect()
}

#[test]
fn directories_class_files_and_lists() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root.join("classes/p/B.class"), &empty_class("p/B", JAVA_17));
    write(root.join("classes/p/A.class"), &empty_class("p/A", JAVA_17));
    write(root.join("classes/notes.txt"), b"nothing");
    write(root.join("classes/lib/c.jar"), &class_jar("p/C"));
    write(root.join("One.class"), &empty_class("One", JAVA_17));
    write(root.join("jars/x.jar"), &class_jar("p/X"));
    write(root.join("jars/y.jar"), &class_jar("p/Y"));
    std::os::unix::fs::symlink(root.join("classes"), root.join("classes/p/loop")).unwrap();

    let load = |paths: &[PathBuf]| load(paths, &LoadConfig::default(), &()).unwrap();
    let loaded = load(&[root.join("classes"), root.join("One.class")]);
    assert_eq!(names(&loaded), [("p/C", true), ("p/A", true), ("p/B", true), ("One", true)]);
    assert!(loaded.gaps.is_empty(), "{:?}", loaded.gaps);
    let origin = loaded.classes[1].origin.as_str();
    assert_eq!(origin, root.join("classes/p/A.class").display().to_string());

    let list = format!("{}:{}/jars/*", root.join("One.class").display(), root.display());
    assert_eq!(names(&load(&[list.into()])), [("One", true), ("p/X", true), ("p/Y", true)]);
    let twice = root.join("jars/x.jar");
    assert_eq!(names(&load(&[twice.clone(), twice])), [("p/X", true)]);
}

#[test]
fn the_class_path_of_a_manifest_names_libraries() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let manifest = b"Manifest-Version: 1.0\nClass-Path: lib/a.jar lib/absent.jar lib/b%20b.jar\n";
    let app =
        jar(&[("META-INF/MANIFEST.MF", manifest), ("p/App.class", &empty_class("p/App", JAVA_17))]);
    write(root.join("app.jar"), &app);
    let a = jar(&[
        ("META-INF/MANIFEST.MF", b"Class-Path: ../app.jar classes/\n"),
        ("p/A.class", &empty_class("p/A", JAVA_17)),
    ]);
    write(root.join("lib/a.jar"), &a);
    write(root.join("lib/b b.jar"), &class_jar("p/B"));
    write(root.join("lib/classes/p/D.class"), &empty_class("p/D", JAVA_17));
    write(root.join("lib/classes/e.jar"), &class_jar("p/E"));
    write(root.join("lib/c.jar"), &class_jar("p/C"));

    let mut config =
        LoadConfig { libraries: vec![root.join("lib/c.jar")], ..LoadConfig::default() };
    let loaded = load(&[root.join("app.jar")], &config, &()).unwrap();
    assert_eq!(
        names(&loaded),
        [("p/App", true), ("p/C", false), ("p/A", false), ("p/B", false), ("p/D", false)]
    );
    assert!(loaded.gaps.is_empty());

    config.follow_class_path = false;
    let loaded = load(&[root.join("app.jar")], &config, &()).unwrap();
    assert_eq!(names(&loaded), [("p/App", true), ("p/C", false)]);
}

#[test]
fn what_cannot_be_an_input_is_said_in_one_sentence() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root.join("notes.txt"), b"nothing");
    write(root.join("broken.jar"), b"PK\x03\x04");
    write(root.join("empty"), b"");
    let message = |name: &str| {
        let error = load(&[root.join(name)], &LoadConfig::default(), &()).unwrap_err();
        error.to_string().replace(&root.display().to_string(), "")
    };
    assert_eq!(message("absent.jar"), "there is no file or directory `/absent.jar`");
    let not_a_program = "is not a class file, a jar, a JDK image or a directory";
    assert_eq!(message("notes.txt"), format!("`/notes.txt` {not_a_program}"));
    assert_eq!(message("empty"), format!("`/empty` {not_a_program}"));
    assert_eq!(
        message("broken.jar"),
        "cannot read `/broken.jar`: there is no end-of-central-directory record at byte 4"
    );
}

#[test]
fn a_malformed_file_is_a_gap() {
    let root = tempfile::tempdir().unwrap();
    write(root.path().join("A.class"), b"\xca\xfe\xba\xbe\0");
    let loaded = load(&[root.path().join("A.class")], &LoadConfig::default(), &()).unwrap();
    assert_eq!(loaded.gaps[0].kind, GapKind::MalformedClass);
    assert_eq!(loaded.gaps[0].detail, "truncated: 1 more byte needed at byte 4");
}

#[test]
fn progress_is_reported_and_may_cancel() {
    struct Counter {
        last: AtomicUsize,
        limit: usize,
    }
    impl Progress for Counter {
        fn classes_read(&self, total: usize) {
            self.last.store(total, Ordering::Relaxed);
        }
        fn cancelled(&self) -> bool {
            self.last.load(Ordering::Relaxed) >= self.limit
        }
    }
    let module = [PathBuf::from("jrt:java.logging")];
    let config = LoadConfig { jdk: Some(crate::jdk::this_jdk()), ..LoadConfig::default() };
    let counter = Counter { last: AtomicUsize::new(0), limit: usize::MAX };
    let loaded = load(&module, &config, &counter).unwrap();
    assert_eq!(counter.last.into_inner(), loaded.classes.len());
    let counter = Counter { last: AtomicUsize::new(0), limit: 0 };
    assert!(matches!(load(&module, &config, &counter), Err(LoadError::Cancelled)));
}

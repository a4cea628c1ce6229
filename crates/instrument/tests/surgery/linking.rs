//! Real classes are verified with something inserted everywhere.

use std::path::{Path, PathBuf};

use classes::{Jdk, LoadConfig, load};

use crate::java::{compile, java};
use crate::jdks::{jdks, this_jdk};
use crate::stress::{Counts, Stress, stress};

/// The class that links all others, and the hook that they call, compiled.
fn link_all(into: &Path) {
    let sources = [
        ("LinkAll.java", include_str!("java_sources/LinkAll.java")),
        ("Hook.java", include_str!("java_sources/Hook.java")),
    ];
    compile(&this_jdk(), &sources, into, &["--release", "11"]);
}

/// The classes that could not be linked, and how many could.
fn linked(jdk: &Jdk, arguments: &[&str]) -> (Vec<String>, u32) {
    let run = java(jdk, &[&["-Xverify:all"], arguments].concat());
    assert!(run.succeeded, "{}", run.errors);
    let mut lines: Vec<String> = run.output.lines().map(str::to_owned).collect();
    let summary = lines.pop().unwrap();
    let count = summary.split(' ').nth(1).unwrap().parse().unwrap();
    (lines, count)
}

fn write_class(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(format!("{name}.class"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Links classes with something inserted everywhere. What cannot be linked must be what cannot be
/// linked as it was either: classes that need others which are not there.
fn link_stressed(
    jdk: &Jdk,
    classes: &[(String, Vec<u8>)],
    what: Stress,
    arguments: &dyn Fn(&str) -> Vec<String>,
) -> u32 {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("classes");
    let arguments = arguments(root.to_str().unwrap());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut counts = Counts::default();
    for (name, bytes) in classes {
        write_class(&root, name, &stress(bytes, what, &mut counts));
    }
    let (failed, count) = linked(jdk, &arguments);
    if !failed.is_empty() {
        classes.iter().for_each(|(name, bytes)| write_class(&root, name, bytes));
        assert_eq!(linked(jdk, &arguments), (failed, count));
    }
    println!("JDK {}: {count} of {} classes verified, {counts:?}", jdk.release, classes.len());
    assert!(counts.left_alone * 20 < counts.methods, "{counts:?}");
    count
}

#[test]
fn jars_of_this_machine_are_verified() {
    let tools = tempfile::tempdir().unwrap();
    link_all(tools.path());
    let tools = tools.path().to_str().unwrap();
    let folder = Path::new("/usr/share/java");
    let mut verified = 0;
    let jars = ["derby.jar", "commons-lang3.jar", "concurrent.jar", "scala-reflect.jar"];
    for jar in jars.iter().map(|jar| folder.join(jar)).filter(|jar| jar.exists()) {
        let loaded = load(std::slice::from_ref(&jar), &LoadConfig::default(), &()).unwrap();
        let classes: Vec<(String, Vec<u8>)> = loaded
            .classes
            .iter()
            .map(|found| (found.class.name.to_string(), found.class.bytes.to_vec()))
            .filter(|(name, _)| !name.ends_with("-info"))
            .collect();
        let class_path = format!("{tools}:{}", all_jars(folder));
        print!("{}: ", jar.display());
        verified += link_stressed(&this_jdk(), &classes, Stress::Calls, &|root| {
            ["-cp", &class_path, "LinkAll", root, "loader"].map(str::to_owned).to_vec()
        });
    }
    if verified == 0 {
        println!("skipped: none of {jars:?} was found in {}", folder.display());
    }
}

fn all_jars(folder: &Path) -> String {
    let mut jars: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    jars.retain(|jar| jar.extension().is_some_and(|extension| extension == "jar"));
    jars.sort();
    jars.iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>().join(":")
}

/// HotSpot takes a class to have a finalizer unless the `finalize` that it inherits is empty, so with
/// something inserted here every object of the virtual machine would get one.
const UNTOUCHED: &str = "java/lang/Object";

#[test]
fn modules_of_the_jdks_are_verified() {
    let tools = tempfile::tempdir().unwrap();
    link_all(tools.path());
    let tools = tools.path().to_str().unwrap();
    for jdk in jdks() {
        let image = jdk.open().unwrap();
        let mut verified = 0;
        for module in ["java.base", "jdk.compiler"] {
            let names: Vec<&str> = image.class_names(Some(module)).map(|(_, name)| name).collect();
            let classes: Vec<(String, Vec<u8>)> = names
                .iter()
                .filter(|name| !name.ends_with("-info") && **name != UNTOUCHED)
                .map(|name| ((*name).to_owned(), image.read(name).unwrap().unwrap().to_vec()))
                .collect();
            if classes.is_empty() {
                println!("skipped: JDK {} has no {module}", jdk.release);
                continue;
            }
            print!("{module}: ");
            verified += link_stressed(&jdk, &classes, Stress::Pushes, &|root| {
                let patch = format!("{module}={root}");
                ["--patch-module", &patch, "-cp", tools, "LinkAll", root, "modules"]
                    .map(str::to_owned)
                    .to_vec()
            });
        }
        assert!(verified > 1_000, "{verified}");
    }
}

/// The other tests mean nothing unless a class that does not verify is seen.
#[test]
fn a_class_that_does_not_verify_is_seen() {
    let tools = tempfile::tempdir().unwrap();
    link_all(tools.path());
    let bytes = std::fs::read(tools.path().join("Hook.class")).unwrap();
    let class = classes::ClassFile::parse(bytes.as_slice().into()).unwrap();
    let method = class.methods.iter().find(|method| &*method.name == "hit").unwrap();
    let code = method.code.as_ref().unwrap().range.clone();
    let mut damaged = bytes.clone();
    // `return` becomes `pop`: the stack is empty, and the code runs over its end.
    damaged[code.end - 1] = 0x57;
    for jdk in jdks() {
        let root = tempfile::tempdir().unwrap();
        write_class(root.path(), "Hook", &damaged);
        let root = root.path().to_str().unwrap();
        let (failed, count) =
            linked(&jdk, &["-cp", tools.path().to_str().unwrap(), "LinkAll", root, "loader"]);
        assert_eq!(count, 0);
        assert!(failed[0].starts_with("Hook: VerifyError"), "{failed:?}");
    }
}

//! Real classes with hooks: the JVM verifies them, and javac compiles with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use classes::{Jdk, LoadConfig, load};
use instrument::{Config, Coverage, Outcome, instrument};
use models::Pattern;

use crate::running::{Sites, stub, succeed};

/// Everything that can be watched.
fn everything() -> Config {
    Config { arrays: true, branches: true, collections: true, ..Config::default() }
}

/// Where Debian puts the jars of its Java libraries.
const JARS: &str = "/usr/share/java";

/// What became of many classes.
#[derive(Debug, Default)]
struct Counts {
    classes: u32,
    rewritten: u32,
    hooks: u32,
    left_alone: u32,
}

/// Instruments a class and counts what became of it.
fn hooked(bytes: &[u8], config: &Config, counts: &mut Counts) -> Vec<u8> {
    counts.classes += 1;
    match instrument(bytes, config, Coverage::Everything, &mut Sites::default()).unwrap() {
        Outcome::Unchanged => bytes.to_vec(),
        Outcome::Rewritten(rewritten) => {
            counts.rewritten += 1;
            counts.hooks += rewritten.hooks;
            counts.left_alone += rewritten.left_alone.len() as u32;
            for method in &rewritten.left_alone {
                println!("{method}");
            }
            rewritten.bytes
        }
    }
}

fn write_class(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(format!("{name}.class"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The classes of a jar, by name.
fn classes_of(jar: &Path) -> Vec<(String, Vec<u8>)> {
    let loaded = load(&[jar.to_owned()], &LoadConfig::default(), &()).unwrap();
    let classes = loaded.classes.iter();
    classes
        .map(|found| (found.class.name.to_string(), found.class.bytes.to_vec()))
        .filter(|(name, _)| !name.ends_with("-info"))
        .collect()
}

/// All jars of the machine as a class path.
fn class_path(tools: &Path) -> String {
    let entries = fs::read_dir(JARS).into_iter().flatten().flatten();
    let mut jars: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    jars.retain(|jar| jar.extension().is_some_and(|extension| extension == "jar"));
    jars.sort();
    jars.insert(0, tools.to_owned());
    jars.iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Links all classes of a folder, and says what could not be linked and how much could.
fn link(root: &Path, class_path: &str) -> String {
    let patch = format!("java.base={}", stub().display());
    let output = Command::new("java")
        .args(["-Xverify:all", "--patch-module", &patch, "-cp", class_path, "LinkAll"])
        .arg(root)
        .arg("loader")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    print!("{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn jars_of_this_machine_are_verified() {
    let tools = tempfile::tempdir().unwrap();
    let linker =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/surgery/java_sources/LinkAll.java");
    succeed(Command::new("javac").arg("-d").arg(tools.path()).arg(linker));
    let class_path = class_path(tools.path());
    let mut found = false;
    for name in
        ["derby.jar", "guava.jar", "concurrent.jar", "lucene-core-4.10.4.jar", "scala-library.jar"]
    {
        let jar = Path::new(JARS).join(name);
        if !jar.exists() {
            continue;
        }
        found = true;
        let classes = classes_of(&jar);
        let folder = tempfile::tempdir().unwrap();
        let mut counts = Counts::default();
        for (name, bytes) in &classes {
            write_class(&folder.path().join("plain"), name, bytes);
            let bytes = hooked(bytes, &everything(), &mut counts);
            write_class(&folder.path().join("hooked"), name, &bytes);
        }
        let plain = link(&folder.path().join("plain"), &class_path);
        let hooked = link(&folder.path().join("hooked"), &class_path);
        println!("{name}: {counts:?}, {}", hooked.lines().last().unwrap_or_default());
        assert_eq!(plain, hooked, "{name}");
    }
    if !found {
        println!("skipped: there are no jars in {JARS}");
    }
}

#[test]
fn javac_compiles_with_hooks() {
    let Some(jdk) = Jdk::find(None).unwrap() else { return };
    let image = jdk.open().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let patched = folder.path().join("patched");
    let config = Config {
        include: vec![Pattern::new("com.sun.tools.javac"), Pattern::new("com.sun.source")],
        ..everything()
    };
    let mut counts = Counts::default();
    let names = image.class_names(Some("jdk.compiler"));
    for (module, name) in names.filter(|(_, name)| !name.ends_with("-info")) {
        let bytes = image.read_in_module(module, name).unwrap().unwrap();
        write_class(&patched, name, &hooked(&bytes, &config, &mut counts));
    }
    println!("jdk.compiler: {counts:?}");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/programs");
    let mut sources: Vec<PathBuf> =
        fs::read_dir(programs).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "java"));
    sources.sort();
    let compile = |flags: &[String], into: &Path| {
        succeed(
            Command::new("javac")
                .args(flags)
                .args(["-g", "-nowarn", "-d"])
                .arg(into)
                .args(&sources),
        );
        crate::running::class_files(into)
            .iter()
            .map(|path| (path.strip_prefix(into).unwrap().to_owned(), fs::read(path).unwrap()))
            .collect::<Vec<_>>()
    };
    let plain = compile(&[], &folder.path().join("by-plain"));
    let runtime = format!("-J--patch-module=java.base={}", stub().display());
    let compiler = format!("-J--patch-module=jdk.compiler={}", patched.display());
    let flags =
        ["-J-Xverify:all", "-J-Dscission.quiet=true", &runtime, &compiler].map(str::to_owned);
    assert_eq!(plain, compile(&flags, &folder.path().join("by-hooked")));
}

/// How long it takes is printed, and no more.
#[test]
fn time_for_a_class() {
    let jar = Path::new(JARS).join("derby.jar");
    if !jar.exists() {
        println!("skipped: there is no {}", jar.display());
        return;
    }
    let classes = classes_of(&jar);
    for (what, config) in [("by default", Config::default()), ("with everything", everything())] {
        let start = Instant::now();
        let mut counts = Counts::default();
        for (_, bytes) in &classes {
            hooked(bytes, &config, &mut counts);
        }
        let each = start.elapsed().as_micros() / classes.len().max(1) as u128;
        println!("{what}: {each} µs a class, {counts:?}");
    }
}

//! Java sources, compiled, run and read into a program.

#![allow(dead_code, reason = "each test uses the part it needs")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use classes::{Jdk, JdkImage, LoadConfig, load};
use program::{BuildConfig, Library, Program};
use tempfile::TempDir;

/// Compiled classes in a directory that is removed at the end.
pub(crate) struct JavaProgram {
    directory: TempDir,
}

pub(crate) fn this_jdk() -> Jdk {
    Jdk::find(None)
        .expect("looking for a JDK does not fail")
        .expect("these tests need a JDK: set JAVA_HOME or put `java` on the PATH")
}

impl JavaProgram {
    /// Compiles sources, given with their paths: one compiler for all of them, since starting it is
    /// what takes the time.
    pub(crate) fn compile(sources: &[(&str, &str)]) -> JavaProgram {
        JavaProgram::compile_with(sources, &["-Xlint:none", "-g"])
    }

    pub(crate) fn compile_with(sources: &[(&str, &str)], options: &[&str]) -> JavaProgram {
        let program = JavaProgram { directory: tempfile::tempdir().unwrap() };
        program.add(sources, options);
        program
    }

    /// Compiles more sources, which may use the classes that are there.
    pub(crate) fn add(&self, sources: &[(&str, &str)], options: &[&str]) {
        let mut paths = Vec::new();
        for (name, text) in sources {
            let path = self.directory.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            paths.push(path);
        }
        std::fs::create_dir_all(self.classes()).unwrap();
        let output = Command::new(this_jdk().home.join("bin/javac"))
            .args(["-nowarn", "-proc:none", "-d"])
            .arg(self.classes())
            .arg("-cp")
            .arg(self.classes())
            .args(options)
            .args(paths)
            .output()
            .expect("javac starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "javac: {errors}");
    }

    /// Classes that were not compiled here.
    pub(crate) fn of_classes(classes: &[(&str, Vec<u8>)]) -> JavaProgram {
        let program = JavaProgram { directory: tempfile::tempdir().unwrap() };
        for (name, bytes) in classes {
            let path = program.class_file(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        program
    }

    pub(crate) fn classes(&self) -> PathBuf {
        self.directory.path().join("classes")
    }

    /// Where the class with this internal name is.
    pub(crate) fn class_file(&self, internal_name: &str) -> PathBuf {
        self.classes().join(format!("{internal_name}.class"))
    }

    /// What the program prints.
    pub(crate) fn run(&self, main_class: &str) -> String {
        self.run_with(main_class, &[])
    }

    pub(crate) fn run_with(&self, main_class: &str, options: &[&str]) -> String {
        let output = Command::new(this_jdk().home.join("bin/java"))
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1"])
            .args(options)
            .arg("-cp")
            .arg(self.classes())
            .arg(main_class)
            .stdin(Stdio::null())
            .output()
            .expect("java starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "java {main_class}: {errors}");
        String::from_utf8(output.stdout).expect("tests print ASCII")
    }

    /// The program with its bodies.
    pub(crate) fn read(&self) -> Program {
        read_program(&[self.classes()], Library::Model)
    }

    /// The part of the program that is in these packages.
    pub(crate) fn read_packages(&self, packages: &[&str]) -> Program {
        let directories: Vec<PathBuf> =
            packages.iter().map(|package| self.classes().join(package)).collect();
        read_program(&directories, Library::Model)
    }
}

/// Reads a program all of whose methods must be readable.
pub(crate) fn read_program(inputs: &[PathBuf], library: Library) -> Program {
    let jdk = this_jdk();
    let image: JdkImage = jdk.open().unwrap();
    let config = LoadConfig { jdk: Some(jdk), ..LoadConfig::default() };
    let loaded = load(inputs, &config, &()).unwrap();
    let mut program =
        program::build(loaded, Some(&image), &BuildConfig { library, ..BuildConfig::default() });
    program.lower_bodies(&|| false);
    let unreadable: Vec<_> =
        program.gaps.iter().filter(|gap| gap.kind == findings::GapKind::UnreadableMethod).collect();
    assert!(unreadable.is_empty(), "{unreadable:?}");
    program
}

//! Java sources, compiled.

use std::process::Command;
use std::sync::Arc;

use classes::{ClassFile, Jdk, MethodInfo};
use summary_trees::{BranchSummaries, Config, FieldFacts, FieldRef, Fields};

/// Compiled classes.
pub(crate) struct Compiled {
    pub(crate) classes: Vec<ClassFile>,
}

pub(crate) fn this_jdk() -> Jdk {
    Jdk::find(None)
        .expect("looking for a JDK does not fail")
        .expect("these tests need a JDK: set JAVA_HOME or put `java` on the PATH")
}

impl Compiled {
    pub(crate) fn new(file: &str, source: &str) -> Compiled {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(file);
        std::fs::write(&path, source).unwrap();
        let output = Command::new(this_jdk().home.join("bin/javac"))
            .args(["-nowarn", "-proc:none", "-Xlint:none", "-g", "-d"])
            .arg(directory.path())
            .arg(path)
            .output()
            .expect("javac starts");
        assert!(output.status.success(), "javac: {}", String::from_utf8_lossy(&output.stderr));
        let mut paths: Vec<_> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "class"))
            .collect();
        paths.sort();
        let classes = paths
            .into_iter()
            .map(|path| ClassFile::parse(Arc::from(std::fs::read(path).unwrap())).unwrap())
            .collect();
        Compiled { classes }
    }

    pub(crate) fn class(&self, name: &str) -> &ClassFile {
        self.classes.iter().find(|class| &*class.name == name).unwrap()
    }

    pub(crate) fn branches(&self, class: &str, method: &str) -> BranchSummaries {
        let class = self.class(class);
        let method = method_named(class, method);
        summary_trees::summarize_branches(class, method, self, &Config::default())
    }
}

impl Fields for Compiled {
    fn facts(&self, field: &FieldRef) -> Option<FieldFacts> {
        self.classes.iter().find_map(|class| class.facts(field))
    }
}

pub(crate) fn method_named<'a>(class: &'a ClassFile, name: &str) -> &'a MethodInfo {
    class.methods.iter().find(|method| &*method.name == name).unwrap()
}

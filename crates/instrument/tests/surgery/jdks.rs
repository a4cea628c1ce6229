//! The JDKs of this machine.

use std::path::PathBuf;

use classes::Jdk;

/// The JDK that compiles the Java programs of these tests.
pub(crate) fn this_jdk() -> Jdk {
    Jdk::find(None)
        .expect("looking for a JDK does not fail")
        .expect("these tests need a JDK: set JAVA_HOME or put `java` on the PATH")
}

/// This JDK, and one of every newer release that is installed.
pub(crate) fn jdks() -> Vec<Jdk> {
    let this = this_jdk();
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let homes: Vec<PathBuf> = installed.map(|entry| entry.path()).collect();
    let mut others: Vec<Jdk> = homes
        .iter()
        .filter_map(|home| Jdk::at(&home.canonicalize().ok()?))
        .filter(|jdk| jdk.release > this.release && jdk.home.join("bin/java").is_file())
        .collect();
    others.sort_by(|a, b| (a.release, &a.home).cmp(&(b.release, &b.home)));
    others.dedup_by_key(|jdk| jdk.release);
    if others.is_empty() {
        println!("skipped: no JDK newer than {} was found under /usr/lib/jvm", this.release);
    }
    let mut all = vec![this];
    all.append(&mut others);
    all
}

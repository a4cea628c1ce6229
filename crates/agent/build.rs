//! Compiles the Java half of the agent, `runtime/`, into the library, together with the constants that the tables of
//! `agent_protocol` give both halves.
//!
//! It lives in `java.lang` and uses a field that the agent adds to `Thread`. So it is compiled against
//! the JDK's own `Thread` with that field added, in the same way as the agent does it at run time.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use classes::Jdk;
use summary_trees::TreeWord;

/// The class of constants. The compiler puts their values where they are used: the JVM does not need it.
const CONSTANTS: &str = "ScissionProtocol";
/// The same, of what the numbers of a tree mean.
const TREES: &str = "ScissionTrees";

fn main() -> Result<(), Box<dyn Error>> {
    let sources = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../runtime");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=JAVA_HOME");

    let jdk = Jdk::find(None)?.ok_or(
        "the agent has a Java half, and there is no JDK to compile it: set JAVA_HOME, or run \
         `cargo xtask test`, which installs one",
    )?;
    let patch = out.join("patch");
    let thread = jdk.open()?.read("java/lang/Thread")?.ok_or("the JDK has no java.lang.Thread")?;
    let thread = instrument::add_field(&thread, 0x80, "$scission", "Ljava/lang/ScissionThread;")?;
    fs::create_dir_all(patch.join("java/lang"))?;
    fs::write(patch.join("java/lang/Thread.class"), thread)?;

    let compiled = out.join("runtime");
    if compiled.exists() {
        fs::remove_dir_all(&compiled)?;
    }
    let mut names: Vec<PathBuf> = fs::read_dir(sources.join("java/lang"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.sort();
    let constants = out.join(format!("{CONSTANTS}.java"));
    fs::write(&constants, agent_protocol::java_constants())?;
    names.push(constants);
    let trees = out.join(format!("{TREES}.java"));
    fs::write(&trees, tree_constants())?;
    names.push(trees);
    let operations = out.join("ScissionUnsafe.java");
    fs::write(&operations, agent_protocol::java_memory_operations())?;
    names.push(operations);
    let output = Command::new(compiler()?)
        .args(["-source", "11", "-target", "11", "-g:source,lines", "-Xlint:all,-options"])
        .arg("-XDenforceUniqueSourceOutput")
        .arg("--patch-module")
        .arg(format!("java.base={}:{}", sources.display(), patch.display()))
        .arg("-d")
        .arg(&compiled)
        .args(&names)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    fs::write(out.join("runtime.rs"), table(&compiled)?)?;
    Ok(())
}

/// The source of the class of what the numbers of a tree mean.
fn tree_constants() -> String {
    let rows: Vec<String> = TreeWord::ALL
        .iter()
        .map(|word| {
            let name = agent_protocol::constant_name(word.name());
            let meaning = word.meaning().trim();
            format!("    /** {meaning} */\n    static final int {name} = {};\n", word.number())
        })
        .collect();
    format!(
        "package java.lang;\n\n/** Generated from the table of the crate `summary_trees`. */\n\
         final class {TREES} {{\n    private {TREES}() {{}}\n\n{}}}\n",
        rows.join("\n")
    )
}

/// The compiler of the JDK that the environment names, else the one on the path.
fn compiler() -> Result<PathBuf, Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=PATH");
    let of_home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/javac"));
    match of_home {
        Some(compiler) if compiler.is_file() => Ok(compiler),
        _ => Ok(PathBuf::from("javac")),
    }
}

/// The compiled classes as a Rust table of names and bytes.
fn table(compiled: &Path) -> Result<String, Box<dyn Error>> {
    let folder = compiled.join("java/lang");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("an odd class name")?;
        if [CONSTANTS, TREES].contains(&name) {
            continue;
        }
        writeln!(table, "    (c\"java/lang/{name}\", include_bytes!({file:?})),")?;
    }
    table.push(']');
    Ok(table)
}

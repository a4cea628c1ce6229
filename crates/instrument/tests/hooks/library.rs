//! Library classes that show the order that they make, on a real JVM: every one of them passes the verifier, and a program
//! that uses them says which places it released to and acquired from.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use agent_protocol::{OrderHook, java_memory_operations};
use classes::{ClassFile, Jdk, JdkImage};
use instrument::Outcome;
use instrument::library_order::{Declarations, FieldDeclarations, LibraryOrder, is_observed};
use models::Models;

use crate::running::succeed;

/// The fields of the JDK that runs the tests.
struct Library {
    image: JdkImage,
    numbered: RefCell<Vec<String>>,
}

impl FieldDeclarations for Library {
    fn declarations(&self, class: &str) -> Option<Arc<Declarations>> {
        let file = ClassFile::parse(self.image.read(class).ok()??).ok()?;
        Some(Arc::new(Declarations::of(&file)))
    }

    fn number(&self, class: &str, field: &str) -> Option<i32> {
        let mut numbered = self.numbered.borrow_mut();
        numbered.push(format!("{class}.{field}"));
        i32::try_from(numbered.len()).ok()
    }
}

/// A runtime that does nothing but count, and `wait` where that is asked for.
fn stub_source() -> String {
    let mut source = String::from(
        "package java.lang;\npublic final class ScissionOrder {\n\
         public static int acquired, released, waited;\n\
         public static boolean listens;\n\
         static void acquire(Object base, long offset) { if (listens) acquired++; }\n\
         static void release(Object base, long offset) { if (listens) released++; }\n\
         static void acquireFinal(Object base, long offset, Object value) {}\n\
         static void releaseFinal(Object base, long offset, Object value) {}\n    \
         static void releaseAfterFence(Object base, long offset) {}\n",
    );
    for hook in OrderHook::ALL {
        let (parameters, result) = hook.descriptor()[1..].split_once(')').unwrap();
        let types = parameters.replace("Ljava/lang/Object;", "O");
        let list: Vec<String> = types
            .chars()
            .enumerate()
            .map(|(at, kind)| {
                let kind = match kind {
                    'O' => "Object",
                    'I' => "int",
                    'J' => "long",
                    other => panic!("a hook takes {other}"),
                };
                format!("{kind} p{at}")
            })
            .collect();
        let name = hook.name();
        let (body, throws) = match (name, list.len()) {
            ("waitOn", 1) => ("waited++; p0.wait();", "throws InterruptedException"),
            ("waitOn", 2) => ("waited++; p0.wait(p1);", "throws InterruptedException"),
            ("waitOn", _) => ("waited++; p0.wait(p1, p2);", "throws InterruptedException"),
            ("accessor", _) => ("return p0;", ""),
            (name, _) if name.starts_with("acquire") => ("if (listens) acquired++;", ""),
            (name, _) if name.starts_with("release") => ("if (listens) released++;", ""),
            ("enterMethod", _) => ("if (listens) acquired++;", ""),
            ("leaveMethod", _) => ("if (listens) released++;", ""),
            _ => ("", ""),
        };
        let result = if result == "V" { "void" } else { "Object" };
        writeln!(
            source,
            "public static {result} {name}({}) {throws} {{ {body} }}",
            list.join(", ")
        )
        .unwrap();
    }
    source.push_str("}\n");
    source
}

/// Links every class that it is told, and then does a little that orders threads.
const MAIN: &str = r#"
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
public class Main {
    static void count(String what, Callable<?> action) throws Exception {
        action.call();
        ScissionOrder.acquired = ScissionOrder.released = 0;
        ScissionOrder.listens = true;
        action.call();
        ScissionOrder.listens = false;
        System.out.println(what + " " + ScissionOrder.acquired + " " + ScissionOrder.released);
    }
    public static void main(String[] args) throws Exception {
        int linked = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            Class.forName(name, false, null).getDeclaredConstructors();
            linked++;
        }
        System.out.println("linked " + linked);
        AtomicInteger number = new AtomicInteger();
        count("get", number::get);
        count("increment", number::incrementAndGet);
        count("failing", () -> number.compareAndSet(-1, 5));
        Vector<String> vector = new Vector<>();
        count("vector", () -> vector.add("x"));
        Map<String, String> map = new ConcurrentHashMap<>(Map.of("k", "v"));
        count("map", () -> map.get("k"));
        FutureTask<String> task = new FutureTask<>(() -> "done");
        task.run();
        count("future", task::get);
    }
}
"#;

#[test]
fn observed_classes_pass_the_verifier_and_show_their_order() {
    let jdk = Jdk::find(None).unwrap().expect("there is a JDK");
    let library = Library { image: jdk.open().unwrap(), numbered: RefCell::default() };
    let models = Models::built_in();
    let folder = tempfile::tempdir().unwrap();
    let patch = folder.path().join("patch");
    let order = LibraryOrder::default();
    let mut names = Vec::new();
    for (module, name) in library.image.class_names(Some("java.base")) {
        if !is_observed(&models, name) {
            continue;
        }
        let bytes = library.image.read_in_module(module, name).unwrap().unwrap();
        match order.rewrite(&bytes, &models, &library, None).unwrap() {
            Outcome::Unchanged => {}
            Outcome::Rewritten(rewritten) => {
                assert!(rewritten.left_alone.is_empty(), "{name}: {:?}", rewritten.left_alone);
                let path = patch.join(format!("{name}.class"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, rewritten.bytes).unwrap();
                names.push(name.replace('/', "."));
            }
        }
    }
    assert!(names.len() > 100, "only {} classes of the library make order", names.len());
    let run = |command: &mut Command| succeed(command);
    let sources = folder.path().join("sources/java/lang");
    fs::create_dir_all(&sources).unwrap();
    fs::write(sources.join("ScissionOrder.java"), stub_source()).unwrap();
    fs::write(sources.join("ScissionUnsafe.java"), java_memory_operations()).unwrap();
    let module = format!("java.base={}", folder.path().join("sources").display());
    run(Command::new("javac")
        .args(["-nowarn", "--patch-module", &module, "-d"])
        .arg(&patch)
        .args([sources.join("ScissionOrder.java"), sources.join("ScissionUnsafe.java")]));
    let main = folder.path().join("Main.java");
    fs::write(&main, MAIN).unwrap();
    let module = format!("java.base={}", patch.display());
    run(Command::new("javac")
        .args(["--patch-module", &module, "-d"])
        .arg(folder.path())
        .arg(&main));
    let list = folder.path().join("names");
    fs::write(&list, names.join("\n")).unwrap();
    let output = run(Command::new("java")
        .arg("-Xverify:all")
        .arg(format!("--patch-module=java.base={}", patch.display()))
        .arg("-cp")
        .arg(folder.path())
        .arg("Main")
        .arg::<&Path>(&list));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], format!("linked {}", names.len()));
    // What acquires, and what releases. An attempt that cannot succeed releases nothing.
    assert_eq!(
        lines[1..],
        ["get 1 0", "increment 1 1", "failing 1 0", "vector 1 1", "map 3 0", "future 1 0"],
        "{said}"
    );
}

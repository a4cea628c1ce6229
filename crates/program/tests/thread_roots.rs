//! Where threads begin, for every way to begin one.

mod java_program;

use std::sync::OnceLock;

use java_program::JavaProgram;
use program::Program;
use program::callgraph::{self, CallGraphConfig};
use program::models::EntryThread;
use program::models::Pattern;
use program::threads::{RootKind, ThreadRoot, roots};

const SERVLET: &str = r"
package jakarta.servlet.http;
public abstract class HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) { }
}
";
const REQUEST: &str = "package jakarta.servlet.http; public interface HttpServletRequest { }";
const RESPONSE: &str = "package jakarta.servlet.http; public interface HttpServletResponse { }";

const PROGRAM: &str = r#"
package app;

import jakarta.servlet.http.*;
import java.util.*;
import java.util.concurrent.*;

public class Program {
    public static void main(String[] arguments) { }

    void startsSubclass() { new Worker().start(); }
    void startsTwice() { new Busy().start(); new Busy().start(); }
    void startsLambda() { new Thread(() -> ranByThread()).start(); }
    void startsReference() { new Thread(this::referenced).start(); }
    void startsObject() { new Thread(new Task()).start(); }
    void startsOneOfTwo(boolean one) {
        Runnable task = one ? new Left() : new Right();
        new Thread(task).start();
    }
    void executes(ExecutorService pool) { pool.execute(() -> executed()); }
    void submits(ExecutorService pool) {
        pool.submit(() -> submitted());
        Callable<Integer> task = () -> 1;
        pool.submit(task);
        pool.submit(new Job());
    }
    void schedules(ScheduledExecutorService pool) {
        pool.scheduleAtFixedRate(() -> scheduled(), 1, 1, TimeUnit.SECONDS);
    }
    void supplies() { CompletableFuture.supplyAsync(() -> supplied()); }
    void runsAsync() { CompletableFuture.runAsync(Program::asynchronous); }
    void timer() {
        new Timer().schedule(new TimerTask() { @Override public void run() { executed(); } }, 1);
    }
    void forks() { new ForkJoinPool().invoke(new Sum()); }
    void streams(List<Integer> list) { list.parallelStream().forEach(x -> streamed(x)); }
    void sequential(List<Integer> list) { list.stream().forEach(x -> plain(x)); }

    static void ranByThread() { }
    void referenced() { }
    static void executed() { }
    static Integer submitted() { return 1; }
    static void scheduled() { }
    static Integer supplied() { return 1; }
    static void asynchronous() { }
    static void streamed(int x) { }
    static void plain(int x) { }
    static void ordinary() { }
    void named() { }
}

class Worker extends Thread { @Override public void run() { } }
class Busy extends Thread { @Override public void run() { } }
class Task implements Runnable { public void run() { } }
class Left implements Runnable { public void run() { } }
class Right implements Runnable { public void run() { } }
class Job implements Callable<String> { public String call() { return ""; } }
class NeverStartedHere implements Runnable { public void run() { } }
class Sum extends RecursiveTask<Integer> { @Override protected Integer compute() { return 1; } }
class Page extends HttpServlet {
    @Override protected void doGet(HttpServletRequest request, HttpServletResponse response) { }
}
"#;

struct Found {
    program: Program,
    roots: Vec<ThreadRoot>,
}

impl Found {
    /// Compiling takes longer than all tests together, so they share what was found.
    fn once() -> &'static Found {
        static FOUND: OnceLock<Found> = OnceLock::new();
        FOUND.get_or_init(Found::new)
    }

    fn new() -> Found {
        let program = JavaProgram::compile(&[
            ("jakarta/servlet/http/HttpServlet.java", SERVLET),
            ("jakarta/servlet/http/HttpServletRequest.java", REQUEST),
            ("jakarta/servlet/http/HttpServletResponse.java", RESPONSE),
            ("app/Program.java", PROGRAM),
        ])
        .read();
        let graph = callgraph::build(&program, &CallGraphConfig::default());
        let roots = roots(&program, &graph, &[Pattern::new("app.Program.named")]);
        Found { program, roots }
    }

    /// The roots among the methods of a class whose names start like this.
    fn of(&self, class: &str, name: &str) -> Vec<&ThreadRoot> {
        self.roots
            .iter()
            .filter(|root| {
                *self.program.class_of(root.method).name == *class
                    && self.program.methods[root.method].name.starts_with(name)
            })
            .collect()
    }

    fn check(&self, class: &str, name: &str, kind: RootKind, may_overlap: bool) {
        let found = self.of(class, name);
        let kinds: Vec<RootKind> = found.iter().map(|root| root.kind).collect();
        assert!(kinds.contains(&kind), "{class}.{name}: {kinds:?}");
        for root in found.iter().filter(|root| root.kind == kind) {
            assert_eq!(root.may_overlap, may_overlap, "{class}.{name}: {root:?}");
        }
    }

    /// Where the only root of this kind is started: names of methods.
    fn started_in(&self, class: &str, name: &str, kind: RootKind) -> Vec<&str> {
        let roots = self.of(class, name).into_iter().filter(|root| root.kind == kind);
        roots.flat_map(|root| root.started_at.iter().map(|site| site.method.as_str())).collect()
    }
}

#[test]
fn every_way_to_begin_a_thread_is_found() {
    let found = Found::once();
    let program = "app/Program";
    found.check(program, "main", RootKind::Entry(EntryThread::Main), false);
    found.check("app/Worker", "run", RootKind::Started, false);
    found.check("app/Busy", "run", RootKind::Started, true);
    found.check(program, "lambda$startsLambda$", RootKind::Started, false);
    found.check(program, "referenced", RootKind::Started, false);
    found.check("app/Task", "run", RootKind::Started, false);
    found.check("app/Left", "run", RootKind::Started, false);
    found.check("app/Right", "run", RootKind::Started, false);
    found.check(program, "lambda$executes$", RootKind::Submitted, true);
    found.check(program, "lambda$submits$", RootKind::Submitted, true);
    assert_eq!(found.of(program, "lambda$submits$").len(), 2);
    found.check("app/Job", "call", RootKind::Submitted, true);
    found.check(program, "lambda$schedules$", RootKind::Submitted, true);
    found.check(program, "lambda$supplies$", RootKind::Submitted, true);
    found.check(program, "asynchronous", RootKind::Submitted, true);
    found.check("app/Program$1", "run", RootKind::Submitted, false);
    found.check("app/Sum", "compute", RootKind::Submitted, true);
    found.check(program, "lambda$streams$", RootKind::ParallelStream, true);
    found.check("app/Page", "doGet", RootKind::Entry(EntryThread::Request), true);
    found.check(program, "named", RootKind::Named, true);
}

#[test]
fn starts_are_placed() {
    let found = Found::once();
    let program = "app/Program";
    let started = RootKind::Started;
    assert_eq!(found.started_in("app/Worker", "run", started), ["startsSubclass"]);
    assert_eq!(found.started_in("app/Busy", "run", started), ["startsTwice", "startsTwice"]);
    assert_eq!(found.started_in("app/Task", "run", started), ["startsObject"]);
    assert_eq!(found.started_in("app/Left", "run", started), ["startsOneOfTwo"]);
    assert_eq!(found.started_in(program, "referenced", started), ["startsReference"]);
    assert_eq!(
        found.started_in("app/Program$1", "run", RootKind::Submitted),
        ["timer"],
        "where the timer gets its task"
    );
}

#[test]
fn a_task_that_nobody_starts_is_an_entry_point_by_its_type() {
    let found = Found::once();
    let kinds: Vec<RootKind> =
        found.of("app/NeverStartedHere", "run").iter().map(|root| root.kind).collect();
    assert!(matches!(kinds.as_slice(), [RootKind::Entry(_)]), "{kinds:?}");
}

#[test]
fn ordinary_methods_are_no_roots() {
    let found = Found::once();
    for name in ["ordinary", "ranByThread", "executed", "plain", "lambda$sequential$", "starts"] {
        assert!(found.of("app/Program", name).is_empty(), "{name}");
    }
}

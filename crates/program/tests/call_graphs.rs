//! Who calls whom, compared with what is written and with what really runs.

mod java_program;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::OnceLock;

use classes::bytecode::Literal;
use java_program::JavaProgram;
use program::callgraph::{self, Algorithm, CallGraph, CallGraphConfig, CallKind};
use program::ir::{Constant, Operation};
use program::models::Pattern;
use program::{MethodId, Program};
use random::{Random, count_from_environment};

const ALGORITHMS: [Algorithm; 3] =
    [Algorithm::ClassHierarchy, Algorithm::RapidType, Algorithm::VariableType];

/// The graph of an open world or, with entry points, of a closed one.
fn graph(program: &Program, algorithm: Algorithm, entry_points: &[&str]) -> CallGraph {
    let entry_points = entry_points.iter().map(|text| Pattern::new(text)).collect();
    callgraph::build(program, &CallGraphConfig { algorithm, entry_points })
}

fn method(program: &Program, class: &str, name: &str) -> MethodId {
    let class = program.class_named(class).unwrap_or_else(|| panic!("no class {class}"));
    let methods = &program.classes[class].methods;
    let found = methods.iter().find(|method| &*program.methods[**method].name == name);
    *found.unwrap_or_else(|| panic!("no method {name}"))
}

/// `Class.method` for the methods that a method may call, constructors left out.
fn callees(program: &Program, graph: &CallGraph, caller: MethodId) -> Vec<String> {
    let mut names: Vec<String> = graph
        .callees(caller)
        .into_iter()
        .filter(|callee| !program.methods[*callee].is_initializer())
        .map(|callee| {
            format!("{}.{}", program.class_of(callee).dotted_name(), program.methods[callee].name)
        })
        .collect();
    names.sort();
    names
}

const SHAPES: &str = r#"
import java.util.function.*;

interface Shape { int area(); default int twice() { return area() * 2; } }
class Square implements Shape { public int area() { return 1; } }
class Circle implements Shape { public int area() { return 2; } public int twice() { return 5; } }
class Never implements Shape { public int area() { return 3; } }
class Unused { static Shape make() { return new Never(); } }

class Base {
    void hook() { }
    private void secret() { }
    void callSecret() { secret(); }
}
class Derived extends Base {
    void hook() { super.hook(); }
    private void secret() { }
}

class Calls {
    private Shape square = new Square();
    private Shape either;
    private static Shape constant;

    Calls(boolean flag) { either = flag ? new Square() : new Circle(); }

    static int anyShape(Shape shape) { return shape.area(); }
    int fieldOfOneType() { return square.area(); }
    int fieldOfTwoTypes() { return either.area(); }
    int createdHere() { Shape shape = new Circle(); return shape.area(); }
    int defaultMethod() { return square.twice(); }
    int[] cloned(int[] array) { return array.clone(); }
    String concatenated(int number, Object object) { return "a" + number + object; }

    static int supplied(int number) { return number; }
    int bound(int number) { return number; }

    private int run(IntUnaryOperator operator) { return operator.applyAsInt(1); }
    int lambda() { return run(x -> x + 1); }
    int staticReference() { return run(Calls::supplied); }
    int boundReference() { return run(this::bound); }

    int lambdaHere() { IntSupplier supplier = () -> 1; return supplier.getAsInt(); }
    int unboundHere(Shape shape) {
        ToIntFunction<Shape> function = Shape::area;
        return function.applyAsInt(shape);
    }
    Square constructorHere() { Supplier<Square> make = Square::new; return make.get(); }
    int staticHere() { IntUnaryOperator operator = Calls::supplied; return operator.applyAsInt(1); }
    int boundHere() { IntUnaryOperator operator = this::bound; return operator.applyAsInt(1); }
    int referenceToLambda() {
        IntSupplier first = () -> 7;
        Supplier<Integer> second = first::getAsInt;
        return second.get();
    }
    Object otherwise(Object object) {
        return java.util.Objects.requireNonNullElseGet(object, () -> "x");
    }
    Object privileged() {
        return java.security.AccessController.doPrivileged(
            (java.security.PrivilegedAction<Object>) () -> "x");
    }
    void eachOf(java.util.List<Integer> list) { list.forEach(x -> supplied(x)); }

    int areaOfMade(boolean flag) {
        Supplier<Shape> make = flag ? Square::new : () -> new Circle();
        return make.get().area();
    }

    public static void main(String[] arguments) {
        Calls calls = new Calls(arguments.length == 0);
        calls.fieldOfOneType();
        calls.fieldOfTwoTypes();
        calls.createdHere();
        calls.defaultMethod();
        anyShape(calls.square);
        new Derived().hook();
        new Derived().callSecret();
        calls.lambda(); calls.staticReference(); calls.boundReference();
    }
}
"#;

fn shapes() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| JavaProgram::compile(&[("Calls.java", SHAPES)]).read())
}

/// Callees by class hierarchy, rapid types and variable types.
fn by_algorithm(
    program: &Program,
    entry_points: &[&str],
    class: &str,
    name: &str,
) -> [Vec<String>; 3] {
    let caller = method(program, class, name);
    ALGORITHMS.map(|algorithm| callees(program, &graph(program, algorithm, entry_points), caller))
}

#[test]
fn receivers_are_as_precise_as_promised() {
    let program = shapes();
    let main = ["Calls.main"];
    let closed = |name: &str| by_algorithm(program, &main, "Calls", name);
    let open = |name: &str| by_algorithm(program, &[], "Calls", name);
    let all = ["Circle.area", "Never.area", "Square.area"].as_slice();
    let created = ["Circle.area", "Square.area"].as_slice();
    assert_eq!(closed("anyShape"), [all, created, &["Square.area"]]);
    assert_eq!(closed("fieldOfOneType"), [all, created, &["Square.area"]]);
    assert_eq!(closed("fieldOfTwoTypes"), [all, created, created]);
    // The object is created in the same method, so that every algorithm knows its class.
    let one = ["Circle.area"].as_slice();
    assert_eq!(closed("createdHere"), [one, one, one]);
    // What a constructor reference makes is an object of its class.
    assert!(closed("areaOfMade")[2].iter().any(|found| found == "Square.area"));
    let twice = ["Circle.twice", "Shape.twice"].as_slice();
    assert_eq!(closed("defaultMethod"), [twice, twice, &["Shape.twice"]]);
    // In an open world anything may be handed in; a class that is not public is created only here.
    assert_eq!(open("anyShape"), [all, all, all]);
    assert_eq!(open("fieldOfOneType"), [all, all, &["Square.area"]]);
}

#[test]
fn calls_that_are_not_dispatched_have_one_target() {
    let program = shapes();
    let same = |class: &str, name: &str, expected: &[&str]| {
        for found in by_algorithm(program, &[], class, name) {
            assert_eq!(found, expected, "{class}.{name}");
        }
    };
    same("Derived", "hook", &["Base.hook"]);
    same("Base", "callSecret", &["Base.secret"]);
    same("Calls", "cloned", &["java.lang.Object.clone"]);
    // The parts are turned into strings first; the concatenation itself calls nothing.
    same("Calls", "concatenated", &["java.lang.String.valueOf"]);
}

#[test]
fn lambdas_and_method_references_are_called_where_they_are_invoked() {
    let program = shapes();
    let lambda_in = |name: &str| {
        let class = program.class_named("Calls").unwrap();
        let prefix = format!("lambda${name}$");
        let methods = program.classes[class].methods.iter();
        let mut names = methods.map(|method| &*program.methods[*method].name);
        format!("Calls.{}", names.find(|found| found.starts_with(&prefix)).unwrap())
    };
    for algorithm in ALGORITHMS {
        let graph = graph(program, algorithm, &[]);
        let called = |name: &str| callees(program, &graph, method(program, "Calls", name));
        let calls = |name: &str, callee: &str| {
            let called = called(name);
            assert!(called.iter().any(|found| found == callee), "{algorithm:?} {name}: {called:?}");
        };
        calls("lambdaHere", &lambda_in("lambdaHere"));
        calls("unboundHere", "Square.area");
        calls("unboundHere", "Circle.area");
        calls("staticHere", "Calls.supplied");
        calls("boundHere", "Calls.bound");
        calls("run", &lambda_in("lambda"));
        calls("run", "Calls.supplied");
        calls("run", "Calls.bound");
        // The lambda runs inside the library method that takes it, as the models say.
        calls("eachOf", &lambda_in("eachOf"));
        calls("otherwise", &lambda_in("otherwise"));
        calls("privileged", &lambda_in("privileged"));
        // A reference to a method of a functional interface may be a reference to a lambda.
        calls("referenceToLambda", &lambda_in("referenceToLambda"));
        let constructor = method(program, "Square", "<init>");
        let make = method(program, "Calls", "constructorHere");
        let made = graph.sites(make).iter().flat_map(|site| site.targets.iter());
        assert!(made.into_iter().any(|target| {
            target.method == constructor && matches!(target.call_kind, CallKind::Lambda(_))
        }));
    }
}

#[test]
fn objects_that_class_initialisers_create_are_seen() {
    let source = r"
        interface Step { void go(); }
        class First implements Step { public void go() { } }
        class Second implements Step { public void go() { } }
        class Holder { static final Step STEP = new First(); }
        enum Kind implements Step {
            ONE { public void go() { } }, TWO { public void go() { } }
        }
        class Start {
            public static void main(String[] arguments) {
                Holder.STEP.go();
                Kind.ONE.go();
                helper();
            }
            static void helper() { Eager.use(); }
        }
        class Eager {
            static Step step;
            static { step = new Second(); }
            static void use() { step.go(); }
        }";
    let program = JavaProgram::compile(&[("Start.java", source)]).read();
    for algorithm in ALGORITHMS {
        let graph = graph(&program, algorithm, &["Start.main"]);
        let called = callees(&program, &graph, method(&program, "Start", "main"));
        for expected in ["First.go", "Kind$1.go"] {
            assert!(called.iter().any(|found| found == expected), "{algorithm:?}: {called:?}");
        }
        let called = callees(&program, &graph, method(&program, "Eager", "use"));
        assert!(called.iter().any(|found| found == "Second.go"), "{algorithm:?}: {called:?}");
        for class in ["Holder", "Kind", "Eager"] {
            let initialiser = method(&program, class, "<clinit>");
            assert!(graph.is_reachable(initialiser), "{algorithm:?}: {class} is initialised");
        }
    }
}

#[test]
fn methods_that_only_the_library_calls_are_reached() {
    let source = r"
        class Start {
            public static void main(String[] arguments) {
                new Thread(new Work()).start();
            }
        }
        interface Step { void go(); }
        class First implements Step { public void go() { } }
        class Second implements Step { public void go() { } }
        class Work implements Runnable {
            private Step step = new First();
            public void run() { step = new Second(); other(); }
            void other() { step.go(); }
        }";
    let program = JavaProgram::compile(&[("Start.java", source)]).read();
    for algorithm in ALGORITHMS {
        let graph = graph(&program, algorithm, &["Start.main"]);
        assert!(graph.is_reachable(method(&program, "Work", "run")), "{algorithm:?}");
        let called = callees(&program, &graph, method(&program, "Work", "other"));
        assert_eq!(called, ["First.go", "Second.go"], "{algorithm:?}");
    }
}

#[test]
fn package_private_methods_are_called_within_their_package() {
    let program = JavaProgram::compile(&[
        (
            "p/A.java",
            "package p; public class A { int m() { return 1; } public static int call(A a) { return a.m(); } }",
        ),
        ("p/C.java", "package p; public class C extends A { int m() { return 3; } }"),
        ("q/B.java", "package q; public class B extends p.A { public int m() { return 2; } }"),
    ])
    .read();
    let a = method(&program, "p/A", "m");
    for algorithm in ALGORITHMS {
        let graph = graph(&program, algorithm, &[]);
        // B.m is another method that happens to look the same, so that an object of class B runs
        // A.m here. That q.B.m is listed as well is imprecise.
        let call = callees(&program, &graph, method(&program, "p/A", "call"));
        assert!(call.iter().any(|found| found == "p.A.m"), "{algorithm:?}: {call:?}");
        assert!(call.iter().any(|found| found == "p.C.m"), "{algorithm:?}: {call:?}");
        assert!(!graph.callers(a).is_empty());
    }
}

#[test]
fn a_missing_superclass_is_tolerated() {
    let java = JavaProgram::compile(&[(
        "Main.java",
        r"
        class Gone { void hook() { } int inherited() { return 1; } int field; }
        class Here extends Gone { void hook() { } void other() { hook(); inherited(); field++; } }
        class Lower extends Here { void hook() { super.hook(); } }
        class Main {
            static Gone make(boolean low) { return low ? new Lower() : new Here(); }
            static void call(Here here) { here.hook(); here.inherited(); }
            static void callGone(Gone gone) { gone.hook(); }
        }",
    )]);
    std::fs::remove_file(java.class_file("Gone")).unwrap();
    let program = java.read();
    assert!(program.gaps.iter().any(|gap| gap.place == "Gone"), "{:?}", program.gaps);
    let here = program.class_named("Here").unwrap();
    let gone = program.class_named("Gone").unwrap();
    assert!(program.hierarchy.is_subtype(here, gone));
    for found in by_algorithm(&program, &[], "Main", "call") {
        assert_eq!(found, ["Here.hook", "Here.inherited", "Lower.hook"]);
    }
    for found in by_algorithm(&program, &[], "Main", "callGone") {
        assert_eq!(found, ["Here.hook", "Lower.hook"]);
    }
}

/// A random hierarchy of types that compiles: each type declares what Java forces it to, and more.
struct TypeHierarchy {
    text: String,
    types: Vec<TypeDeclaration>,
}

struct TypeDeclaration {
    name: String,
    kind: TypeKind,
    superclass: Option<usize>,
    interfaces: Vec<usize>,
    /// What is declared of each method.
    methods: [Declared; METHODS],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeKind {
    Interface,
    Abstract,
    Concrete,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    No,
    Abstract,
    Implemented,
}

const METHODS: usize = 3;

impl TypeHierarchy {
    fn new(package: &str, random: &mut Random) -> TypeHierarchy {
        let mut hierarchy =
            TypeHierarchy { text: format!("package {package};\n"), types: Vec::new() };
        for number in 0..4 + random.below(8) {
            hierarchy.add(number, random);
        }
        hierarchy.text.push_str("public class World { public static void run() {\n");
        for (at, class) in hierarchy.types.iter().enumerate() {
            if class.kind != TypeKind::Concrete {
                continue;
            }
            for seen_as in hierarchy.supertypes(at) {
                for number in 0..METHODS {
                    if !hierarchy.has_method(seen_as, number) {
                        continue;
                    }
                    let (class, seen_as) = (&class.name, &hierarchy.types[seen_as].name);
                    let _ = writeln!(
                        hierarchy.text,
                        "System.out.print(\"{package}/{class} m{number} \"); \
                         {{ {seen_as} o = new {class}(); o.m{number}(); }}"
                    );
                }
            }
        }
        hierarchy.text.push_str("} }\n");
        hierarchy
    }

    fn supertypes(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([at]);
        let of = &self.types[at];
        for parent in of.superclass.iter().chain(&of.interfaces) {
            found.extend(self.supertypes(*parent));
        }
        found
    }

    fn has_method(&self, at: usize, number: usize) -> bool {
        self.supertypes(at).iter().any(|of| self.types[*of].methods[number] != Declared::No)
    }

    fn add(&mut self, number: usize, random: &mut Random) {
        let kind = match random.below(5) {
            0 | 1 => TypeKind::Interface,
            2 => TypeKind::Abstract,
            _ => TypeKind::Concrete,
        };
        let choose = |random: &mut Random, wanted: bool| {
            let fitting: Vec<usize> = (0..self.types.len())
                .filter(|at| (self.types[*at].kind == TypeKind::Interface) == wanted)
                .collect();
            if fitting.is_empty() { None } else { Some(*random.choose(&fitting)) }
        };
        let superclass = if kind == TypeKind::Interface || random.one_in(3) {
            None
        } else {
            choose(random, false)
        };
        let mut interfaces: Vec<usize> =
            (0..random.below(3)).filter_map(|_| choose(random, true)).collect();
        interfaces.sort_unstable();
        interfaces.dedup();
        let declaration = TypeDeclaration {
            name: format!("T{number}"),
            kind,
            superclass,
            interfaces,
            methods: [Declared::No; METHODS],
        };
        self.types.push(declaration);
        let at = self.types.len() - 1;
        for number in 0..METHODS {
            let must = self.must_declare(at, number);
            self.types[at].methods[number] = match kind {
                TypeKind::Concrete if must || random.one_in(3) => Declared::Implemented,
                TypeKind::Interface | TypeKind::Abstract if must || random.one_in(3) => {
                    if random.one_in(2) { Declared::Abstract } else { Declared::Implemented }
                }
                _ => Declared::No,
            };
        }
        self.print(at);
    }

    /// Whether Java wants a declaration here: several inherited ones compete, or the inherited one is
    /// abstract.
    fn must_declare(&self, at: usize, number: usize) -> bool {
        let mut class = self.types[at].superclass;
        while let Some(parent) = class {
            match self.types[parent].methods[number] {
                Declared::Implemented => return false,
                Declared::Abstract => return true,
                Declared::No => class = self.types[parent].superclass,
            }
        }
        let declaring: Vec<usize> = self
            .supertypes(at)
            .into_iter()
            .filter(|of| self.types[*of].methods[number] != Declared::No)
            .collect();
        let most_specific: Vec<usize> = declaring
            .iter()
            .copied()
            .filter(|of| {
                !declaring.iter().any(|other| other != of && self.supertypes(*other).contains(of))
            })
            .collect();
        match most_specific.as_slice() {
            [] => false,
            [one] => self.types[*one].methods[number] == Declared::Abstract,
            _ => true,
        }
    }

    fn print(&mut self, at: usize) {
        let of = &self.types[at];
        let names = |types: &[usize]| {
            types.iter().map(|at| self.types[*at].name.clone()).collect::<Vec<_>>().join(", ")
        };
        let mut text = match of.kind {
            TypeKind::Interface => format!("interface {}", of.name),
            TypeKind::Abstract => format!("abstract class {}", of.name),
            TypeKind::Concrete => format!("class {}", of.name),
        };
        if let Some(superclass) = of.superclass {
            let _ = write!(text, " extends {}", self.types[superclass].name);
        }
        if !of.interfaces.is_empty() {
            let word = if of.kind == TypeKind::Interface { "extends" } else { "implements" };
            let _ = write!(text, " {word} {}", names(&of.interfaces));
        }
        text.push_str(" {\n");
        for (number, declared) in of.methods.iter().enumerate() {
            let is_interface = of.kind == TypeKind::Interface;
            let _ = match declared {
                Declared::No => Ok(()),
                Declared::Abstract if is_interface => writeln!(text, "void m{number}();"),
                Declared::Abstract => writeln!(text, "public abstract void m{number}();"),
                Declared::Implemented => {
                    let word = if is_interface { "default" } else { "public" };
                    writeln!(
                        text,
                        "{word} void m{number}() {{ System.out.println(\"{}\"); }}",
                        of.name
                    )
                }
            };
        }
        text.push_str("}\n");
        self.text.push_str(&text);
    }
}

#[test]
fn dispatch_is_what_the_virtual_machine_does() {
    let count = count_from_environment("SCISSION_RANDOM_HIERARCHIES", 150);
    let mut random = Random::new(7);
    let worlds: Vec<(String, TypeHierarchy)> = (0..count)
        .map(|number| {
            let package = format!("w{number}");
            let hierarchy = TypeHierarchy::new(&package, &mut random);
            (package, hierarchy)
        })
        .collect();
    let runs: String =
        worlds.iter().map(|(package, _)| format!("{package}.World.run();\n")).collect();
    let main = format!("class Main {{ public static void main(String[] a) {{\n{runs}}} }}");
    let files: Vec<(String, &str)> = worlds
        .iter()
        .map(|(package, hierarchy)| (format!("{package}/World.java"), hierarchy.text.as_str()))
        .collect();
    let mut sources: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    sources.push(("Main.java", &main));
    let java = JavaProgram::compile(&sources);
    let printed = java.run("Main");
    let program = java.read();
    let mut checked = 0;
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [class, name, ran] = words.as_slice() else { panic!("{line}") };
        let package = class.split('/').next().unwrap();
        let selector = program.selector(name, "()V").unwrap();
        let found = program.hierarchy.dispatch(program.class_named(class).unwrap(), selector);
        let found = program.class_of(found.unwrap()).dotted_name();
        assert_eq!(found, format!("{package}.{ran}"), "{line}");
        checked += 1;
    }
    println!("{checked} dispatches");
    assert!(checked > count);
    check_inclusion(&program, &[]);
}

/// The targets of the finer algorithms are among those of the class hierarchy, at every site.
fn check_inclusion(program: &Program, entry_points: &[&str]) {
    let [hierarchy, rapid, variable] =
        ALGORITHMS.map(|algorithm| graph(program, algorithm, entry_points));
    for method in program.methods_with_bodies() {
        for (finer, name) in [(&rapid, "rapid types"), (&variable, "variable types")] {
            for site in finer.sites(method) {
                let all = hierarchy.targets(method, site.offset);
                for target in site.targets.iter() {
                    assert!(
                        all.contains(target),
                        "{name}, {} at {}: {} is not among the targets by hierarchy",
                        program.method_label(method),
                        site.offset,
                        program.method_label(target.method)
                    );
                }
            }
        }
    }
}

#[test]
fn finer_algorithms_find_fewer_targets() {
    check_inclusion(shapes(), &[]);
    check_inclusion(shapes(), &["Calls.main"]);
}

/// A program whose methods say when they start and end, so that the calls that happen are known.
struct RunGenerator {
    random: Random,
    text: String,
    next_label: usize,
    classes: usize,
}

impl RunGenerator {
    fn label(&mut self) -> usize {
        self.next_label += 1;
        self.next_label
    }

    /// Code that gives some node.
    fn node(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("new C{}()", self.random.below(self.classes));
        }
        let depth = depth - 1;
        match self.random.below(9) {
            0 => "field".to_string(),
            1 => "argument".to_string(),
            2 => "shared".to_string(),
            3 => format!("array[{}]", self.random.below(3)),
            4 => format!("{}.itself({})", self.node(depth), self.node(depth)),
            5 => format!("(budget() ? {} : {})", self.node(depth), self.node(depth)),
            6 => format!("list.get({})", self.random.below(3)),
            7 => format!("{}.get()", self.supplier(depth)),
            _ => self.node(0),
        }
    }

    fn supplier(&mut self, depth: usize) -> String {
        let class = self.random.below(self.classes);
        match self.random.below(6) {
            0 => format!("((Supplier<Node>) C{class}::new)"),
            1 => "((Supplier<Node>) Main::fresh)".to_string(),
            2 => format!("((Supplier<Node>) {}::made)", self.node(depth)),
            3 => "supplier".to_string(),
            4 => "((Supplier<Node>) supplier::get)".to_string(),
            _ => {
                let label = self.label();
                let node = format!("new C{class}()");
                format!(
                    "((Supplier<Node>) () -> {{ enter({label}); Node n = {node}; leave(); return n; }})"
                )
            }
        }
    }

    fn statement(&mut self) {
        let line = match self.random.below(8) {
            0 => format!("field = {};", self.node(2)),
            1 => format!("shared = {};", self.node(2)),
            2 => format!("array[{}] = {};", self.random.below(3), self.node(2)),
            3 => format!("supplier = {};", self.supplier(1)),
            4 => format!("list.set({}, {});", self.random.below(3), self.node(2)),
            5 => format!("{}.get();", self.supplier(2)),
            _ => {
                let name = *self.random.choose(&["act", "visit"]);
                format!("{}.{name}({});", self.node(2), self.node(2))
            }
        };
        self.text.push_str("if (budget()) ");
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn method(&mut self, head: &str, result: Option<&str>) {
        let label = self.label();
        let _ = writeln!(self.text, "{head} {{ enter({label});");
        for _ in 0..self.random.below(4) + 1 {
            self.statement();
        }
        match result {
            Some(kind) => {
                let value = if kind == "argument" {
                    kind.to_string()
                } else {
                    format!("budget() ? {} : new C0()", self.node(2))
                };
                let _ = writeln!(self.text, "Node result = {value}; leave(); return result; }}");
            }
            None => self.text.push_str("leave(); }\n"),
        }
    }

    fn program(mut self) -> String {
        self.text.push_str(
            "import java.util.*; import java.util.function.*; import static p.Log.*;\n\
             abstract class Node {\n\
             static Node shared = new C0(); static Node[] array = {new C0(), new C1(), new C0()};\n\
             static List<Node> list = new ArrayList<>(List.of(new C1(), new C0(), new C1()));\n\
             static Supplier<Node> supplier = C1::new; Node field = this; Node argument = this;\n\
             abstract void act(Node argument);\n",
        );
        self.method("void visit(Node argument)", None);
        self.method("Node itself(Node argument)", Some("argument"));
        self.method("Node made()", Some("any"));
        self.text.push_str("}\n");
        for class in 0..self.classes {
            let parent = if class < 2 || self.random.one_in(2) {
                "Node".to_string()
            } else {
                format!("C{}", self.random.below(2))
            };
            let _ = writeln!(self.text, "class C{class} extends {parent} {{");
            // Constructors run too. One that is called by another would run before the other can say
            // that it has started, so only those of classes without subclasses count.
            if class >= 2 {
                let label = self.label();
                let _ = writeln!(self.text, "C{class}() {{ super(); enter({label}); leave(); }}");
            }
            self.method("void act(Node argument)", None);
            if self.random.one_in(2) {
                self.method("void visit(Node argument)", None);
            }
            if self.random.one_in(3) {
                self.method("Node itself(Node argument)", Some("any"));
            }
            if self.random.one_in(3) {
                self.method("Node made()", Some("any"));
            }
            self.text.push_str("}\n");
        }
        self.text.push_str(
            "public class Main {\n\
             static Node shared = Node.shared; static Node[] array = Node.array;\n\
             static List<Node> list = Node.list; static Supplier<Node> supplier = Node.supplier;\n\
             static Node field = new C0(); static Node argument = new C1();\n",
        );
        self.method("static Node fresh()", Some("any"));
        let label = self.label();
        let _ =
            writeln!(self.text, "public static void main(String[] arguments) {{ enter({label});");
        for _ in 0..30 {
            self.statement();
        }
        self.text.push_str("leave(); } }\n");
        self.text
    }
}

const LOG: &str = r#"
package p;
import java.util.*;
public class Log {
    private static final ArrayDeque<Integer> stack = new ArrayDeque<>();
    private static final TreeSet<String> calls = new TreeSet<>();
    private static int left;
    public static void begin() { stack.clear(); calls.clear(); left = 20_000; }
    public static boolean budget() { return stack.size() < 7 && --left > 0; }
    public static void enter(int label) {
        if (!stack.isEmpty()) calls.add(stack.peek() + " " + label);
        stack.push(label);
    }
    public static void leave() { stack.pop(); }
    public static void print(String run) {
        for (String call : calls) System.out.println(run + " " + call);
    }
}"#;

/// Which method says which label: it hands the number to `enter`.
fn methods_by_label(program: &Program) -> BTreeMap<i32, MethodId> {
    let mut labels = BTreeMap::new();
    for method in program.methods_with_bodies() {
        let body = program.body(method).unwrap();
        for instruction in body.instructions() {
            let Operation::Call(call) = &instruction.operation else { continue };
            if &*program.methods[call.method].name != "enter" {
                continue;
            }
            let number = body.defining_instruction(call.arguments[0]).unwrap();
            let Operation::Constant(Constant::Literal(Literal::Int(number))) = number.operation
            else {
                panic!("a label is a constant")
            };
            labels.insert(number, method);
        }
    }
    labels
}

#[test]
fn calls_that_happen_are_in_every_graph() {
    let count = count_from_environment("SCISSION_RANDOM_RUNS", 25);
    let mut sources = vec![("p/Log.java".to_string(), LOG.to_string())];
    let mut driver = String::from("class Driver { public static void main(String[] arguments) {\n");
    for seed in 0..count {
        let generator = RunGenerator {
            random: Random::new(seed as u64),
            text: format!("package r{seed};\n"),
            next_label: 0,
            classes: 5,
        };
        sources.push((format!("r{seed}/Main.java"), generator.program()));
        let _ = writeln!(
            driver,
            "p.Log.begin(); r{seed}.Main.main(arguments); p.Log.print(\"r{seed}\");"
        );
    }
    driver.push_str("} }");
    sources.push(("Driver.java".to_string(), driver));
    let sources: Vec<(&str, &str)> =
        sources.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let java = JavaProgram::compile(&sources);
    let printed = java.run("Driver");
    let mut happened = 0;
    for seed in 0..count {
        let package = format!("r{seed}");
        let program = java.read_packages(&[&package, "p"]);
        let entry_point = format!("{package}.Main.main");
        let calls: Vec<&str> = printed
            .lines()
            .filter_map(|line| line.strip_prefix(&package)?.strip_prefix(' '))
            .collect();
        let labels = methods_by_label(&program);
        for entry_points in [[].as_slice(), &[entry_point.as_str()]] {
            check_inclusion(&program, entry_points);
            for algorithm in ALGORITHMS {
                let graph = graph(&program, algorithm, entry_points);
                for line in &calls {
                    let (caller, callee) = line.split_once(' ').unwrap();
                    let caller = labels[&caller.parse::<i32>().unwrap()];
                    let callee = labels[&callee.parse::<i32>().unwrap()];
                    assert!(
                        graph.callees(caller).binary_search(&callee).is_ok(),
                        "{algorithm:?} from {entry_points:?}, seed {seed}: {} calls {}",
                        program.method_label(caller),
                        program.method_label(callee)
                    );
                    assert!(graph.is_reachable(callee) && graph.callers(callee).contains(&caller));
                    happened += 1;
                }
            }
        }
    }
    println!("{} calls happened", happened / 6);
    assert!(happened > 6 * 20 * count);
}

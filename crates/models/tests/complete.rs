//! The models table against the library it describes.
//!
//! Every JDK that is found (the one whose `javap` is on the path, and those under `/usr/lib/jvm`)
//! is asked for its classes, and the table is checked in both directions: what the library has must
//! have a row, and what a row names must be in the library. Java 17 is the base; a newer JDK also
//! checks the rows of newer releases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use models::{ClassScope, Effect, Model, Models, Operand, Runner};

static MODELS: Models = Models::built_in();

/// Packages of which every public method must have a row.
const COMPLETE_PACKAGES: [&str; 3] =
    ["java/util/concurrent/", "java/util/concurrent/atomic/", "java/util/concurrent/locks/"];

/// Classes of which every public method must have a row, beside those packages.
const COMPLETE_CLASSES: [&str; 2] = ["java/lang/Object", "java/lang/Thread"];

/// Collections of which every synchronized method must be known to lock its receiver.
const LEGACY: [&str; 5] = [
    "java/util/Vector",
    "java/util/Stack",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/lang/StringBuffer",
];

/// Classes that only Java 11 has under this name.
const OLDER_CLASSES: &str = "java/lang/invoke/VarHandleObjects$";

/// Task types that only Java 25 has.
const NEWER_TASKS: [&str; 1] = ["java/lang/ScopedValue$CallableOp"];

/// A method as `javap` prints it.
#[derive(Clone, Debug)]
struct Method {
    name: String,
    descriptor: String,
    modifiers: Vec<String>,
    throws_interrupted: bool,
}

impl Method {
    fn is(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|own| own == modifier)
    }

    fn parameters(&self) -> &str {
        &self.descriptor[..=self.descriptor.rfind(')').unwrap()]
    }
}

/// A class as `javap` prints it.
#[derive(Debug, Default)]
struct Class {
    public: bool,
    interface: bool,
    superclass: Option<String>,
    interfaces: Vec<String>,
    methods: Vec<Method>,
}

/// A JDK, with the classes that the table mentions and all their supertypes.
struct Jdk {
    release: u32,
    classes: BTreeMap<String, Class>,
}

impl Jdk {
    /// The supertypes of a class in the order of lookup, `java/lang/Object` last.
    fn supertypes(&self, class: &str) -> Vec<String> {
        let mut chain = vec![class.to_owned()];
        while let Some(parent) = self.classes[chain.last().unwrap()].superclass.clone() {
            chain.push(parent);
        }
        chain.retain(|ancestor| ancestor != "java/lang/Object");
        let mut wave: Vec<String> =
            chain.iter().flat_map(|ancestor| self.classes[ancestor].interfaces.clone()).collect();
        let mut found: Vec<String> = chain.into_iter().skip(1).collect();
        while !wave.is_empty() {
            let mut next = Vec::new();
            for interface in wave {
                if !found.contains(&interface) {
                    next.extend(self.classes[&interface].interfaces.iter().cloned());
                    found.push(interface);
                }
            }
            wave = next;
        }
        found.push("java/lang/Object".to_owned());
        found
    }

    /// The methods of a class and those it inherits, with the class that declares them.
    fn methods_of(&self, class: &str) -> Vec<(String, Method)> {
        let mut methods: Vec<(String, Method)> = Vec::new();
        for (depth, declaring) in
            std::iter::once(class.to_owned()).chain(self.supertypes(class)).enumerate()
        {
            let declared = &self.classes[&declaring];
            for method in &declared.methods {
                let inheritable =
                    method.name != "<init>" && !(declared.interface && method.is("static"));
                let overridden = methods.iter().any(|(_, known)| {
                    known.name == method.name && known.descriptor == method.descriptor
                });
                if (depth == 0 || inheritable) && !overridden {
                    methods.push((declaring.clone(), method.clone()));
                }
            }
        }
        methods
    }

    /// Whether all public methods of this class must have rows.
    fn must_be_complete(&self, class: &str) -> bool {
        let package = &class[..=class.rfind('/').unwrap()];
        let enclosing_is_public = class.match_indices('$').all(|(end, _)| {
            self.classes.get(&class[..end]).is_none_or(|enclosing| enclosing.public)
        });
        COMPLETE_CLASSES.contains(&class)
            || (COMPLETE_PACKAGES.contains(&package)
                && self.classes[class].public
                && enclosing_is_public)
    }
}

/// The JDKs of this machine from release 17 on, oldest first; release 17 must be there.
fn jdks() -> &'static [Jdk] {
    static JDKS: OnceLock<Vec<Jdk>> = OnceLock::new();
    JDKS.get_or_init(|| {
        let mut homes: BTreeSet<PathBuf> = BTreeSet::new();
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
        for bin in
            std::env::split_paths(&on_path).chain(installed.map(|home| home.path().join("bin")))
        {
            let Ok(javap) = bin.join("javap").canonicalize() else { continue };
            let home = javap.parent().and_then(Path::parent).unwrap();
            if home.join("lib/modules").exists() && home.join("bin/jimage").exists() {
                homes.insert(home.to_owned());
            }
        }
        let mut jdks: Vec<Jdk> = homes.iter().filter_map(|home| read_jdk(home)).collect();
        jdks.sort_by_key(|jdk| jdk.release);
        jdks.dedup_by_key(|jdk| jdk.release);
        assert!(
            jdks.iter().any(|jdk| jdk.release == 17),
            "these tests need a JDK 17, with javap and jimage, on the path or under /usr/lib/jvm"
        );
        jdks
    })
}

fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", program.display()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn read_jdk(home: &Path) -> Option<Jdk> {
    let javap = home.join("bin/javap");
    let version = run(&javap, &["-version"]);
    let release: u32 = version.trim().split(['.', '-', '+']).next()?.parse().ok()?;
    if release < 17 {
        return None;
    }

    let modules = home.join("lib/modules");
    let listing = run(
        &home.join("bin/jimage"),
        &["list", "--include", "regex:/java.base/java/util/concurrent/.*", modules.to_str()?],
    );
    let mut wanted: BTreeSet<String> = listing
        .lines()
        .filter_map(|line| line.trim().strip_suffix(".class"))
        .map(str::to_owned)
        .collect();
    assert!(wanted.len() > 100, "jimage lists too few classes: {listing}");
    wanted.extend(COMPLETE_CLASSES.map(str::to_owned));
    wanted.extend(MODELS.rows().map(|model| model.class.to_owned()));
    wanted.extend(Models::built_in_supertypes().iter().map(|row| row.class.to_owned()));
    wanted.extend(MODELS.all_task_methods().map(|row| row.class.to_owned()));
    wanted.extend(classes_with_properties().map(str::to_owned));
    wanted.extend(MODELS.rows().flat_map(returned_types));
    wanted.retain(|class| is_of_the_jdk(class));

    let mut jdk = Jdk { release, classes: BTreeMap::new() };
    while !wanted.is_empty() {
        let mut arguments = vec!["-s".to_owned(), "-protected".to_owned()];
        arguments.extend(wanted.iter().map(|class| class.replace('/', ".")));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let read = parse(&run(&javap, &arguments));
        let asked = std::mem::take(&mut wanted);
        for class in read.values() {
            wanted.extend(class.superclass.iter().chain(&class.interfaces).cloned());
        }
        jdk.classes.extend(read);
        wanted.retain(|class| !jdk.classes.contains_key(class));
        assert!(wanted.is_disjoint(&asked), "javap did not print {wanted:?}");
    }
    Some(jdk)
}

/// The classes of the JDK that something is said of.
fn classes_with_properties() -> impl Iterator<Item = &'static str> {
    MODELS
        .all_class_facts()
        .filter_map(|fact| match fact.scope {
            ClassScope::Class(class) => Some(class),
            ClassScope::Package(_) => None,
        })
        .filter(|class| is_of_the_jdk(class))
}

fn is_of_the_jdk(class: &str) -> bool {
    ["java/", "javax/", "sun/", "com/sun/"].iter().any(|prefix| class.starts_with(prefix))
}

fn returned_types(model: &Model) -> impl Iterator<Item = String> {
    model.effects.iter().filter_map(|effect| match effect {
        Effect::ReturnsType { class } => Some((*class).to_owned()),
        _ => None,
    })
}

/// Reads what `javap -s` prints.
fn parse(printed: &str) -> BTreeMap<String, Class> {
    let mut classes = BTreeMap::new();
    let mut current = String::new();
    let mut declaration = "";
    for line in printed.lines() {
        if !line.starts_with(' ') && line.ends_with('{') {
            let (name, class) = parse_header(line);
            current.clone_from(&name);
            classes.insert(name, class);
        } else if let Some(descriptor) = line.trim().strip_prefix("descriptor: ") {
            if descriptor.starts_with('(') && declaration.contains('(') {
                let class: &mut Class = classes.get_mut(&current).unwrap();
                class.methods.push(parse_method(&current, declaration, descriptor));
            }
        } else if !line.trim().is_empty() {
            declaration = line.trim();
        }
    }
    classes
}

/// A declaration without its type arguments.
fn without_type_arguments(declaration: &str) -> String {
    let mut depth = 0;
    let mut kept = String::new();
    for character in declaration.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

fn parse_header(line: &str) -> (String, Class) {
    let line = without_type_arguments(line).replace(['{', ','], " ").replace('.', "/");
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = words.iter().position(|word| ["class", "interface"].contains(word)).unwrap();
    let name = words[kind + 1].to_owned();
    let mut class = Class {
        public: words[..kind].contains(&"public"),
        interface: words[kind] == "interface",
        ..Class::default()
    };
    let mut clause = "";
    for word in &words[kind + 2..] {
        match (*word, clause) {
            ("extends" | "implements" | "permits", _) => clause = word,
            (_, "extends") if !class.interface => class.superclass = Some((*word).to_owned()),
            (_, "extends" | "implements") => class.interfaces.push((*word).to_owned()),
            _ => {}
        }
    }
    if !class.interface && class.superclass.is_none() && name != "java/lang/Object" {
        class.superclass = Some("java/lang/Object".to_owned());
    }
    (name, class)
}

fn parse_method(class: &str, declaration: &str, descriptor: &str) -> Method {
    let declaration = without_type_arguments(declaration);
    let (before, after) = declaration.split_once('(').unwrap();
    let mut words: Vec<&str> = before.split_whitespace().collect();
    let name = words.pop().unwrap();
    let is_constructor = name.replace('.', "/") == class;
    Method {
        name: if is_constructor { "<init>".to_owned() } else { name.to_owned() },
        descriptor: descriptor.to_owned(),
        modifiers: words.into_iter().map(str::to_owned).collect(),
        throws_interrupted: after.contains("java.lang.InterruptedException"),
    }
}

/// Fails with all complaints at once.
fn report(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// The row that a call on an object of this class resolves to in the JDK's own hierarchy.
fn resolve(jdk: &Jdk, class: &str, method: &Method) -> Option<&'static Model> {
    MODELS.lookup(class, &method.name, &method.descriptor).or_else(|| {
        if method.name == "<init>" {
            return None;
        }
        jdk.supertypes(class)
            .iter()
            .find_map(|ancestor| MODELS.lookup(ancestor, &method.name, &method.descriptor))
    })
}

/// The rows that this JDK must know: those of the base release, or those that are newer.
fn rows_to_check(jdk: &Jdk) -> impl Iterator<Item = &'static Model> {
    let release = jdk.release;
    MODELS.rows().filter(move |row| {
        let since = u32::from(row.since);
        if release == 17 { since == 17 } else { since > 17 && since <= release }
    })
}

/// The methods that a row is the row of.
fn methods_of_row(jdk: &Jdk, model: &'static Model) -> Vec<Method> {
    if !jdk.classes.contains_key(model.class) {
        return Vec::new();
    }
    // The static methods of `Arrays` hide those of `Object`, which nobody can call on it.
    let declared_static = jdk.classes[model.class]
        .methods
        .iter()
        .any(|method| method.name == model.method && method.is("static"));
    jdk.methods_of(model.class)
        .into_iter()
        .filter(|(declaring, _)| !(declared_static && declaring == "java/lang/Object"))
        .map(|(_, method)| method)
        .filter(|method| method.name == model.method)
        .filter(|method| {
            MODELS
                .lookup(model.class, &method.name, &method.descriptor)
                .is_some_and(|found| std::ptr::eq(found, model))
        })
        .collect()
}

#[test]
fn every_public_method_of_the_concurrency_library_has_a_row() {
    let mut complaints = Vec::new();
    let mut methods = 0;
    for jdk in jdks() {
        for class in jdk.classes.keys().filter(|class| jdk.must_be_complete(class)) {
            for (declaring, method) in jdk.methods_of(class) {
                let is_public = method.is("public");
                // What a collection inherits must not fall through to the rows of ordinary
                // collections; what it inherits from elsewhere is not about concurrency.
                let concerns_us = jdk.must_be_complete(&declaring)
                    || declaring.starts_with("java/util/") && !declaring.ends_with("Exception");
                if !is_public || !concerns_us {
                    continue;
                }
                methods += 1;
                let found = resolve(jdk, class, &method);
                if jdk.release == 17
                    && MODELS.find(class, &method.name, &method.descriptor) != found
                {
                    complaints.push(format!("{class}.{} is found elsewhere", method.name));
                }
                if !found.is_some_and(|model| jdk.must_be_complete(model.class)) {
                    complaints.push(format!(
                        "Java {}: {class}.{}{} (declared in {declaring}) resolves to {}",
                        jdk.release,
                        method.name,
                        method.descriptor,
                        found.map_or("nothing", |model| model.class),
                    ));
                }
            }
        }
    }
    assert!(methods > 1500, "only {methods} methods were looked at");
    report(complaints);
}

#[test]
fn every_row_names_a_method_that_exists() {
    let mut complaints = Vec::new();
    for jdk in jdks() {
        for model in rows_to_check(jdk) {
            if methods_of_row(jdk, model).is_empty() {
                complaints.push(format!(
                    "Java {}: {}.{}{} is the row of no method",
                    jdk.release, model.class, model.method, model.descriptor
                ));
            }
        }
    }
    report(complaints);
}

/// The declared parameters of a descriptor.
fn parameters(descriptor: &str) -> Vec<String> {
    let mut parameters = Vec::new();
    let mut rest = &descriptor[1..descriptor.find(')').unwrap()];
    while !rest.is_empty() {
        let dimensions = rest.len() - rest.trim_start_matches('[').len();
        let length = match rest.as_bytes()[dimensions] {
            b'L' => rest.find(';').unwrap() + 1,
            _ => dimensions + 1,
        };
        parameters.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    parameters
}

/// The operands of an effect.
fn operands(effect: Effect) -> Vec<Operand> {
    match effect {
        Effect::Acquire { lock, .. }
        | Effect::Release { lock, .. }
        | Effect::Synchronized { lock }
        | Effect::ConditionOf { lock } => vec![lock],
        Effect::LockView { of, .. }
        | Effect::View { of }
        | Effect::Handle { of }
        | Effect::AtomicRead { of, .. }
        | Effect::AtomicWrite { of, .. }
        | Effect::AtomicUpdate { of, .. }
        | Effect::Read { of }
        | Effect::Write { of }
        | Effect::ThreadLocalAccess { of } => vec![of],
        Effect::Wait { on, .. } | Effect::Notify { on, .. } => vec![on],
        Effect::Store { value, into } => vec![value, into],
        Effect::Load { from } => vec![from, Operand::Result],
        Effect::Receive { from, .. } => vec![from],
        Effect::Publish { to } => vec![to],
        Effect::Wraps { task, by } => vec![task, by],
        Effect::Feeds { task, from } => vec![task, from],
        Effect::Fork { task } | Effect::Join { task, .. } | Effect::RunsTask { task, .. } => {
            vec![task]
        }
        Effect::Submit { task, to, .. } => match to {
            Runner::Executor(operand) | Runner::Timer(operand) => {
                vec![task, operand]
            }
            _ => vec![task],
        },
        Effect::After { task, stage } => vec![task, stage],
        Effect::Interrupt { thread }
        | Effect::ObservesInterrupt { thread, .. }
        | Effect::Controls { thread } => vec![thread],
        Effect::Escapes { operand } => vec![operand],
        Effect::ReturnsFresh
        | Effect::ReturnsType { .. }
        | Effect::SingleWorker
        | Effect::Parallel
        | Effect::Sequential => vec![Operand::Result],
        Effect::Terminates
        | Effect::Fence { .. }
        | Effect::Blocks { .. }
        | Effect::Sleeps
        | Effect::Reflective => vec![],
    }
}

#[test]
fn every_operand_makes_sense_for_its_method() {
    let mut checked = 0;
    let mut complaints = Vec::new();
    for jdk in jdks() {
        for model in rows_to_check(jdk) {
            for method in methods_of_row(jdk, model) {
                let parameters = parameters(&method.descriptor);
                let is_reference = |index: u8| {
                    parameters
                        .get(usize::from(index))
                        .is_some_and(|parameter| parameter.starts_with(['L', '[']))
                };
                for operand in model.effects.iter().flat_map(|effect| operands(*effect)) {
                    checked += 1;
                    let fits = match operand {
                        Operand::Receiver
                        | Operand::Contents
                        | Operand::Wrapped
                        | Operand::Field(_)
                        | Operand::Designated => !method.is("static"),
                        Operand::Argument(index) | Operand::Elements(index) => is_reference(index),
                        Operand::Callbacks => {
                            !MODELS.task_arguments(method.parameters()).is_empty()
                        }
                        Operand::CallbackResult => {
                            !MODELS.task_arguments(method.parameters()).is_empty()
                                || model
                                    .effects
                                    .iter()
                                    .any(|effect| operands(*effect).contains(&Operand::Wrapped))
                        }
                        Operand::Result => !method.descriptor.ends_with(")V"),
                        Operand::Class => method.is("static"),
                        Operand::CurrentThread => true,
                    };
                    if !fits {
                        complaints.push(format!(
                            "Java {}: {operand:?} does not fit {}.{}{}",
                            jdk.release, model.class, method.name, method.descriptor
                        ));
                    }
                }
            }
        }
    }
    assert!(checked > 3000, "only {checked} operands were looked at");
    report(complaints);
}

#[test]
fn every_synchronized_method_of_a_legacy_collection_locks_its_receiver() {
    let locks = Effect::Synchronized { lock: Operand::Receiver };
    let mut complaints = Vec::new();
    let mut methods = 0;
    for jdk in jdks() {
        for class in LEGACY {
            for method in &jdk.classes[class].methods {
                if !method.is("public") || !method.is("synchronized") {
                    continue;
                }
                methods += 1;
                let found = MODELS.find(class, &method.name, &method.descriptor);
                if !found.is_some_and(|model| model.effects.contains(&locks)) {
                    complaints.push(format!("{class}.{}{}", method.name, method.descriptor));
                }
            }
        }
    }
    assert!(methods > 150, "only {methods} methods were looked at");
    report(complaints);
}

#[test]
fn every_row_of_a_synchronized_method_says_so() {
    let mut complaints = Vec::new();
    // Later releases replaced many of these monitors by internal locks.
    for jdk in jdks().iter().filter(|jdk| jdk.release == 17) {
        for model in rows_to_check(jdk).filter(|model| model.class != "java/lang/Thread") {
            for method in methods_of_row(jdk, model) {
                let lock = if method.is("static") { Operand::Class } else { Operand::Receiver };
                let says_so = model.effects.contains(&Effect::Synchronized { lock });
                if method.is("synchronized") && !says_so {
                    complaints
                        .push(format!("{}.{}{}", model.class, method.name, method.descriptor));
                }
            }
        }
    }
    report(complaints);
}

#[test]
fn every_interruptible_method_blocks() {
    let mut complaints = Vec::new();
    let mut methods = 0;
    for jdk in jdks() {
        for class in jdk.classes.keys().filter(|class| jdk.must_be_complete(class)) {
            for method in &jdk.classes[class].methods {
                // A bridge repeats the clause of the method it overrides; what counts is the method
                // it leads to.
                let arity = |method: &Method| parameters(&method.descriptor).len();
                let is_bridge = jdk.classes[class].methods.iter().any(|other| {
                    other.name == method.name
                        && arity(other) == arity(method)
                        && !other.throws_interrupted
                });
                if !method.throws_interrupted || !method.is("public") || is_bridge {
                    continue;
                }
                methods += 1;
                let Some(model) = resolve(jdk, class, method) else { continue };
                let blocks = model.effects.iter().any(|effect| {
                    matches!(effect, Effect::Blocks { interruptible: true, .. } | Effect::Sleeps)
                });
                if !blocks {
                    complaints.push(format!(
                        "Java {}: {class}.{}{}",
                        jdk.release, method.name, method.descriptor
                    ));
                }
            }
        }
    }
    assert!(methods > 60, "only {methods} methods were looked at");
    report(complaints);
}

#[test]
fn the_stored_hierarchy_is_that_of_the_library() {
    let modelled: BTreeSet<&str> = MODELS.rows().map(|model| model.class).collect();
    let mut complaints = Vec::new();
    for jdk in jdks() {
        for row in Models::built_in_supertypes() {
            if !jdk.classes.contains_key(row.class) {
                continue;
            }
            let mut real = jdk.supertypes(row.class);
            real.retain(|class| modelled.contains(class.as_str()));
            // A newer release may have put new interfaces in between.
            if jdk.release > 17 {
                real.retain(|class| row.supertypes.contains(&class.as_str()));
            }
            let in_order = row.supertypes.iter().eq(real.iter());
            let all_there =
                row.supertypes.iter().all(|class| real.iter().any(|known| known == class));
            if !(in_order || jdk.release > 17 && all_there) {
                complaints.push(format!(
                    "Java {}: {} has {real:?}, not {:?}",
                    jdk.release, row.class, row.supertypes
                ));
            }
        }
        let base = jdk.release == 17;
        for class in jdk.classes.keys().filter(|class| base && jdk.must_be_complete(class)) {
            if class != "java/lang/Object" && MODELS.supertypes(class).is_empty() {
                complaints.push(format!("{class} has no row in the hierarchy"));
            }
        }
    }
    report(complaints);
}

#[test]
fn tasks_and_class_names_exist() {
    let mut complaints = Vec::new();
    let newest = jdks().last().unwrap().release;
    for row in MODELS.all_task_methods().filter(|row| is_of_the_jdk(row.class)) {
        let exists = jdks().iter().any(|jdk| {
            jdk.classes.contains_key(row.class)
                && jdk.methods_of(row.class).iter().any(|(_, method)| {
                    method.name == row.method && method.descriptor == row.descriptor
                })
        });
        let too_new = newest < 25 && NEWER_TASKS.contains(&row.class);
        if !exists && !too_new {
            complaints.push(format!("{}.{}{}", row.class, row.method, row.descriptor));
        }
    }
    for class in classes_with_properties() {
        let is_old = class.starts_with(OLDER_CLASSES);
        if !is_old && !jdks().iter().any(|jdk| jdk.classes.contains_key(class)) {
            complaints.push(format!("{class} is not in the library"));
        }
    }
    for jdk in jdks() {
        for class in rows_to_check(jdk).flat_map(returned_types) {
            if !jdk.classes.contains_key(&class) {
                complaints.push(format!("{class} is not in the library"));
            } else if MODELS.supertypes(&class).is_empty() {
                complaints.push(format!("{class} is returned and has no row in the hierarchy"));
            }
        }
    }
    report(complaints);
}

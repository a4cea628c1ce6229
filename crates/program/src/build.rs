//! From class files to a linked program.
//!
//! Application classes come from the user. Of the JDK only what they refer to is read, with its
//! supertypes; with [`Library::Full`] what the library refers to as well, until nothing is missing.
//! What is named and cannot be found stays in the program as a missing class.

use std::sync::{Arc, OnceLock};

use classes::{ClassFile, Constant, JdkImage, Loaded, PoolIndex, access};
use findings::{Gap, GapKind};
use models::language::{self, OBJECT};
use models::{Effect, Model, Models};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hierarchy::Hierarchy;
use crate::ids::{ClassId, FieldId, Id, LambdaId, MethodId, SelectorId, TypedVec};
use crate::ir;
use crate::library;
use crate::symbols::{Class, Field, Lambda, LambdaKind, Link, Method, Origin, Program};

/// How much of the library is analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// Library methods are known by their flags and by the models table.
    #[default]
    Model,
    /// The bodies of library methods are followed like the application's own.
    Full,
}

/// How a program is built.
#[derive(Clone, Debug, Default)]
pub struct BuildConfig {
    /// How much of the library is analysed.
    pub library: Library,
    /// What is known of library code.
    pub models: Models,
}

/// Links classes into a program; bodies are made by [`Program::lower_bodies`].
#[must_use]
pub fn build(loaded: Loaded, jdk: Option<&JdkImage>, config: &BuildConfig) -> Program {
    let mut gaps = loaded.gaps;
    let mut files: Vec<(Arc<ClassFile>, Origin)> = Vec::with_capacity(loaded.classes.len());
    for class in loaded.classes {
        let origin = if class.is_application { Origin::Application } else { Origin::Library };
        files.push((Arc::new(class.class), origin));
    }
    let missing = complete(&mut files, jdk, config, &mut gaps);
    report_missing(&missing, jdk.is_some(), &mut gaps);
    let with_links = |class: &Class| match class.origin {
        Origin::Application => true,
        Origin::Library => config.library == Library::Full,
        Origin::Missing => false,
    };
    link(files, missing, gaps, config.models.clone(), &with_links)
}

/// Makes a program of classes, and resolves what the constants of some of them refer to.
pub(crate) fn link(
    files: Vec<(Arc<ClassFile>, Origin)>,
    missing: Vec<Arc<str>>,
    gaps: Vec<Gap>,
    models: Models,
    with_links: &(dyn Fn(&Class) -> bool + Sync),
) -> Program {
    let mut linker = Linker::new(files, missing);
    let hierarchy = Hierarchy::new(&linker.classes, &linker.methods);
    let links: Vec<Vec<RawLink>> = linker
        .classes
        .as_slice()
        .par_iter()
        .map(|class| match &class.file {
            Some(file) if with_links(class) => linker.raw_links(&hierarchy, file),
            _ => Vec::new(),
        })
        .collect();
    for (class, raw) in links.into_iter().enumerate() {
        let linked = raw.into_iter().map(|raw| linker.link(ClassId::new(class), raw)).collect();
        linker.classes[ClassId::new(class)].links = linked;
    }
    let rows = linker
        .methods
        .as_slice()
        .par_iter()
        .map(|method| modelled_row(&models, &linker.classes, &hierarchy, method))
        .collect::<Vec<_>>();
    let mut rows: TypedVec<MethodId, Option<&'static Model>> = TypedVec::from(rows);
    if models.has_users() {
        rows_of_implementers(&linker.classes, &linker.methods, &hierarchy, &mut rows);
    }
    Program {
        models,
        rows,
        derived: FxHashMap::default(),
        bodies: linker.methods.iter().map(|_| OnceLock::new()).collect(),
        classes: linker.classes,
        methods: linker.methods,
        fields: linker.fields,
        lambdas: linker.lambdas,
        hierarchy,
        gaps,
        class_ids: linker.class_ids,
        selectors: linker.selectors,
    }
}

/// What the models table says of a method: the row of its own class, or of the nearest supertype
/// that has one.
fn modelled_row(
    models: &Models,
    classes: &TypedVec<ClassId, Class>,
    hierarchy: &Hierarchy,
    method: &Method,
) -> Option<&'static Model> {
    let own = &classes[method.class].name;
    let (name, descriptor) = (&method.name, &method.descriptor);
    models.find(own, name, descriptor).or_else(|| {
        if method.is_static() || method.is_initializer() || method.is_private() {
            return None;
        }
        let supertypes = hierarchy.supertypes(method.class).into_iter().skip(1);
        supertypes.into_iter().find_map(|class| models.find(&classes[class].name, name, descriptor))
    })
}

/// A method that the application declares without a body, and that all its implementations have rows of
/// a user for which say the same, does what these say: a call that names an interface does what the
/// classes behind it do.
fn rows_of_implementers(
    classes: &TypedVec<ClassId, Class>,
    methods: &TypedVec<MethodId, Method>,
    hierarchy: &Hierarchy,
    rows: &mut TypedVec<MethodId, Option<&'static Model>>,
) {
    let mut found = Vec::new();
    for (method, declared) in methods.iter_with_ids() {
        let is_open = declared.is_abstract()
            && rows[method].is_none()
            && classes[declared.class].origin == Origin::Application;
        if !is_open {
            continue;
        }
        let mut behind = hierarchy
            .concrete_subtypes(declared.class)
            .filter_map(|class| hierarchy.dispatch(class, declared.selector))
            .map(|target| rows[target].filter(|row| row.source.is_user));
        if let Some(Some(first)) = behind.next()
            && behind.all(|row| row.is_some_and(|row| row.effects == first.effects))
        {
            found.push((method, first));
        }
    }
    for (method, row) in found {
        rows[method] = Some(row);
    }
}

/// Reads from the JDK what the classes refer to, and returns the names that were not found.
fn complete(
    files: &mut Vec<(Arc<ClassFile>, Origin)>,
    jdk: Option<&JdkImage>,
    config: &BuildConfig,
    gaps: &mut Vec<Gap>,
) -> Vec<Arc<str>> {
    let mut known: FxHashSet<Arc<str>> = files.iter().map(|(file, _)| file.name.clone()).collect();
    let mut missing = Vec::new();
    let mut wave: Vec<Arc<str>> = vec![Arc::from(OBJECT)];
    let mut scanned = 0;
    loop {
        let named: Vec<Vec<Arc<str>>> = files[scanned..]
            .par_iter()
            .map(|(file, origin)| {
                let whole = *origin == Origin::Application || config.library == Library::Full;
                referred_classes(&config.models, file, whole)
            })
            .collect();
        scanned = files.len();
        wave.extend(named.into_iter().flatten());
        wave.retain(|name| known.insert(name.clone()));
        if wave.is_empty() {
            return missing;
        }
        wave.sort_unstable();
        let read: Vec<Result<Option<ClassFile>, Gap>> =
            wave.par_iter().map(|name| read_library_class(jdk, name)).collect();
        for (name, read) in wave.drain(..).zip(read) {
            match read {
                Ok(Some(file)) => files.push((Arc::new(file), Origin::Library)),
                Ok(None) => missing.push(name),
                Err(gap) => {
                    gaps.push(gap);
                    missing.push(name);
                }
            }
        }
    }
}

pub(crate) fn read_library_class(
    jdk: Option<&JdkImage>,
    name: &str,
) -> Result<Option<ClassFile>, Gap> {
    let Some(jdk) = jdk else { return Ok(None) };
    let unreadable = |error: classes::ReadError| {
        Gap::new(GapKind::MalformedClass, format!("jdk!/{name}.class"), error.to_string())
    };
    match jdk.read(name).map_err(unreadable)? {
        Some(bytes) => ClassFile::parse(bytes).map(Some).map_err(unreadable),
        None => Ok(None),
    }
}

/// Names of the classes a class refers to: its supertypes, or with `whole` everything it names.
pub(crate) fn referred_classes(models: &Models, file: &ClassFile, whole: bool) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> =
        file.super_name.iter().chain(&file.interfaces).cloned().collect();
    if whole {
        for index in 1..file.pool.count() {
            match file.pool.get(PoolIndex(index as u16)) {
                Ok(Constant::Class(name)) => match name.strip_prefix('[') {
                    None => names.push(name.clone()),
                    Some(rest) => {
                        let element = rest.trim_start_matches('[');
                        if let Some(class) =
                            element.strip_prefix('L').and_then(|class| class.strip_suffix(';'))
                        {
                            names.push(Arc::from(class));
                        }
                    }
                },
                // What a library method is known to return may be named nowhere else.
                Ok(Constant::Member(member)) if member.descriptor.starts_with('(') => {
                    let row = models.find(member.class, member.name, member.descriptor);
                    let effects = row.map_or(&[][..], |row| row.effects);
                    names.extend(effects.iter().filter_map(|effect| match effect {
                        Effect::ReturnsType { class } => Some(Arc::from(*class)),
                        _ => None,
                    }));
                }
                // The functional interface of a lambda that is only handed on is named nowhere else.
                Ok(Constant::InvokeDynamic(dynamic)) => {
                    let created = classes::descriptor::parse_method(dynamic.descriptor);
                    if let Ok(Some(classes::descriptor::Type::Object(name))) =
                        created.map(|created| created.ret)
                    {
                        names.push(Arc::from(name));
                    }
                }
                _ => {}
            }
        }
    }
    names
}

fn report_missing(missing: &[Arc<str>], has_jdk: bool, gaps: &mut Vec<Gap>) {
    let mut platform = 0;
    for name in missing {
        if !has_jdk && language::is_of_java(name) {
            platform += 1;
        } else {
            gaps.push(Gap::new(
                GapKind::MissingClass,
                name.replace('/', "."),
                "not among the classes given; add its jar with --class-path to complete the \
                 hierarchy",
            ));
        }
    }
    if platform > 0 {
        let mut gap = Gap::new(
            GapKind::MissingClass,
            "the JDK",
            "no JDK was found, so its classes are known only through the models; name one with \
             --jdk",
        );
        gap.count = platform;
        gaps.push(gap);
    }
}

/// A link before the things it may have to create exist.
enum RawLink {
    Ready(Link),
    /// A method that no class declares; it is assumed to exist.
    UnknownMethod {
        class: ClassId,
        name: Arc<str>,
        descriptor: Arc<str>,
    },
    /// A field that no class declares; it is assumed to exist.
    UnknownField {
        class: ClassId,
        name: Arc<str>,
        descriptor: Arc<str>,
    },
    Lambda(Box<RawLambda>),
}

struct RawLambda {
    interface: ClassId,
    name: Arc<str>,
    descriptor: Arc<str>,
    implementation: RawLink,
    handle_kind: u8,
    captured: usize,
}

struct Linker {
    classes: TypedVec<ClassId, Class>,
    methods: TypedVec<MethodId, Method>,
    fields: TypedVec<FieldId, Field>,
    lambdas: TypedVec<LambdaId, Lambda>,
    class_ids: FxHashMap<Arc<str>, ClassId>,
    selectors: FxHashMap<(Arc<str>, Arc<str>), SelectorId>,
    declared_fields: FxHashMap<(ClassId, Arc<str>, Arc<str>), FieldId>,
    assumed_methods: FxHashMap<(ClassId, SelectorId), MethodId>,
}

impl Linker {
    fn new(files: Vec<(Arc<ClassFile>, Origin)>, missing: Vec<Arc<str>>) -> Linker {
        let mut linker = Linker {
            classes: TypedVec::new(),
            methods: TypedVec::new(),
            fields: TypedVec::new(),
            lambdas: TypedVec::new(),
            class_ids: FxHashMap::default(),
            selectors: FxHashMap::default(),
            declared_fields: FxHashMap::default(),
            assumed_methods: FxHashMap::default(),
        };
        for (index, (file, _)) in files.iter().enumerate() {
            linker.class_ids.insert(file.name.clone(), ClassId::new(index));
        }
        for (index, name) in missing.iter().enumerate() {
            linker.class_ids.insert(name.clone(), ClassId::new(files.len() + index));
        }
        for (file, origin) in files {
            linker.add_class(file, origin);
        }
        let object = linker.class_ids.get(OBJECT).copied();
        for name in missing {
            let superclass = object.filter(|_| &*name != OBJECT);
            linker.classes.push(Class {
                name,
                origin: Origin::Missing,
                access: 0,
                superclass,
                interfaces: Vec::new(),
                methods: Vec::new(),
                fields: Vec::new(),
                file: None,
                links: Vec::new(),
            });
        }
        linker
    }

    fn add_class(&mut self, file: Arc<ClassFile>, origin: Origin) {
        let id = self.classes.next_id();
        let class_id = |name: &Arc<str>| self.class_ids.get(name).copied();
        // A class that extends itself is malformed; it is treated as having no superclass.
        let superclass = file.super_name.as_ref().and_then(class_id).filter(|parent| *parent != id);
        let interfaces = file.interfaces.iter().filter_map(class_id).collect();
        let mut methods = Vec::with_capacity(file.methods.len());
        for (position, method) in file.methods.iter().enumerate() {
            let selector = self.selector(&method.name, &method.descriptor);
            methods.push(self.methods.push(Method {
                class: id,
                selector,
                name: method.name.clone(),
                descriptor: method.descriptor.clone(),
                access: method.access,
                position: Some(position as u32),
            }));
        }
        let mut fields = Vec::with_capacity(file.fields.len());
        for field in &file.fields {
            fields.push(self.field(id, &field.name, &field.descriptor, field.access));
        }
        self.classes.push(Class {
            name: file.name.clone(),
            origin,
            access: file.access,
            superclass,
            interfaces,
            methods,
            fields,
            file: Some(file),
            links: Vec::new(),
        });
    }

    fn selector(&mut self, name: &Arc<str>, descriptor: &Arc<str>) -> SelectorId {
        let next = SelectorId::new(self.selectors.len());
        *self.selectors.entry((name.clone(), descriptor.clone())).or_insert(next)
    }

    fn field(
        &mut self,
        class: ClassId,
        name: &Arc<str>,
        descriptor: &Arc<str>,
        access: u16,
    ) -> FieldId {
        let key = (class, name.clone(), descriptor.clone());
        if let Some(known) = self.declared_fields.get(&key) {
            return *known;
        }
        let field = self.fields.push(Field {
            class,
            name: name.clone(),
            descriptor: descriptor.clone(),
            access,
        });
        self.declared_fields.insert(key, field);
        field
    }

    fn raw_links(&self, hierarchy: &Hierarchy, file: &ClassFile) -> Vec<RawLink> {
        let mut links = Vec::with_capacity(file.pool.count());
        for index in 0..file.pool.count() {
            let link = match file.pool.get(PoolIndex(index as u16)) {
                Ok(Constant::Class(name)) => {
                    self.class_ids.get(name).map(|class| RawLink::Ready(Link::Class(*class)))
                }
                Ok(Constant::Member(member)) => {
                    self.member(hierarchy, member.class, member.name, member.descriptor)
                }
                Ok(Constant::InvokeDynamic(dynamic)) => self.lambda(hierarchy, file, &dynamic),
                _ => None,
            };
            links.push(link.unwrap_or(RawLink::Ready(Link::None)));
        }
        links
    }

    fn member(
        &self,
        hierarchy: &Hierarchy,
        class: &Arc<str>,
        name: &Arc<str>,
        descriptor: &Arc<str>,
    ) -> Option<RawLink> {
        // Arrays have the methods of Object.
        let owner = if class.starts_with('[') { OBJECT } else { &**class };
        let class = *self.class_ids.get(owner)?;
        let (name, descriptor) = (name.clone(), descriptor.clone());
        if descriptor.starts_with('(') {
            let resolved = self
                .selectors
                .get(&(name.clone(), descriptor.clone()))
                .and_then(|selector| hierarchy.resolve(class, *selector));
            return Some(match resolved {
                Some(method) => RawLink::Ready(Link::Method(class, method)),
                None => RawLink::UnknownMethod { class, name, descriptor },
            });
        }
        let found = hierarchy.supertypes(class).into_iter().find_map(|class| {
            self.declared_fields.get(&(class, name.clone(), descriptor.clone())).copied()
        });
        Some(match found {
            Some(field) => RawLink::Ready(Link::Field(field)),
            None => RawLink::UnknownField { class, name, descriptor },
        })
    }

    /// The lambda that an `invokedynamic` creates, if its bootstrap method is the one that makes
    /// lambdas.
    fn lambda(
        &self,
        hierarchy: &Hierarchy,
        file: &ClassFile,
        dynamic: &classes::DynamicRef<'_>,
    ) -> Option<RawLink> {
        let bootstrap = file.bootstrap_methods.get(usize::from(dynamic.bootstrap))?;
        let Ok(Constant::MethodHandle { member: factory, .. }) = file.pool.get(bootstrap.method)
        else {
            return None;
        };
        if &**factory.class != language::LAMBDA_METAFACTORY {
            return None;
        }
        let [erased, implementation, ..] = bootstrap.arguments.as_slice() else { return None };
        let Ok(Constant::MethodType(descriptor)) = file.pool.get(*erased) else { return None };
        let Ok(Constant::MethodHandle { kind, member }) = file.pool.get(*implementation) else {
            return None;
        };
        let created = classes::descriptor::parse_method(dynamic.descriptor).ok()?;
        let Some(classes::descriptor::Type::Object(interface)) = created.ret else { return None };
        let interface = *self.class_ids.get(interface)?;
        Some(RawLink::Lambda(Box::new(RawLambda {
            interface,
            name: dynamic.name.clone(),
            descriptor: descriptor.clone(),
            implementation: self.member(hierarchy, member.class, member.name, member.descriptor)?,
            handle_kind: kind,
            captured: created.params.len(),
        })))
    }

    fn link(&mut self, host: ClassId, raw: RawLink) -> Link {
        match raw {
            RawLink::Ready(link) => link,
            RawLink::UnknownMethod { class, name, descriptor } => {
                let selector = self.selector(&name, &descriptor);
                let next = self.methods.next_id();
                let method = *self.assumed_methods.entry((class, selector)).or_insert(next);
                if method == next {
                    self.methods.push(Method {
                        class,
                        selector,
                        name,
                        descriptor,
                        access: access::PUBLIC,
                        position: None,
                    });
                }
                Link::Method(class, method)
            }
            RawLink::UnknownField { class, name, descriptor } => {
                Link::Field(self.field(class, &name, &descriptor, access::PUBLIC))
            }
            RawLink::Lambda(raw) => {
                let RawLambda {
                    interface,
                    name,
                    descriptor,
                    implementation,
                    handle_kind,
                    captured,
                } = *raw;
                let selector = self.selector(&name, &descriptor);
                let Link::Method(receiver_class, implementation) = self.link(host, implementation)
                else {
                    return Link::None;
                };
                let kind = match handle_kind {
                    6 => LambdaKind::Static,
                    8 => LambdaKind::Constructor,
                    5 | 9 if !self.methods[implementation].is_private() => LambdaKind::Virtual,
                    _ => LambdaKind::Special,
                };
                Link::Lambda(self.lambdas.push(Lambda {
                    host,
                    interface,
                    selector,
                    implementation,
                    receiver_class,
                    kind,
                    captured,
                }))
            }
        }
    }
}

impl Program {
    /// Finds out what library methods without a model do, from their code, where the application calls them. Not for
    /// programs in which the library is followed like the application.
    pub fn summarise_library(
        &mut self,
        jdk: Option<&JdkImage>,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) {
        self.derived = library::derive(self, jdk, cancelled);
    }

    /// Makes the bodies of all methods whose classes were linked, in parallel. Methods that cannot
    /// be lowered become gaps; so do native methods of the application.
    pub fn lower_bodies(&mut self, cancelled: &(dyn Fn() -> bool + Sync)) {
        let program = &*self;
        let found: Vec<Gap> = (0..program.methods.len())
            .into_par_iter()
            .map(MethodId::new)
            .filter(|method| !program.class_of(*method).links.is_empty())
            // What a user says of a method stands instead of its body.
            .filter(|method| !program.is_described_by_user(*method))
            .filter_map(|method| {
                if cancelled() {
                    return None;
                }
                match ir::lower(program, method) {
                    Ok(Some(body)) => {
                        // Each method is visited once, so its cell is empty.
                        let _ = program.bodies[method].set(body);
                        None
                    }
                    Ok(None) if program.methods[method].is_native() => Some(Gap::new(
                        GapKind::NativeMethod,
                        program.method_label(method),
                        "native code is not analysed",
                    )),
                    Ok(None) => None,
                    Err(error) => Some(Gap::new(
                        GapKind::UnreadableMethod,
                        program.method_label(method),
                        error.to_string(),
                    )),
                }
            })
            .collect();
        self.gaps.extend(found);
    }
}

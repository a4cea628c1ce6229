//! Which library code is read: the methods that are asked for, and what they call, up to a depth.

use std::sync::Arc;

use classes::bytecode::{self, Instruction};
use classes::{ClassFile, Constant, JdkImage, MethodInfo, access};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build;
use crate::ids::MethodId;
use crate::symbols::{Method, Origin, Program};
use models::{Models, Sharing};

/// How deep calls are followed.
const DEPTH: usize = 8;
/// No further calls are followed once so many bodies have been asked for.
const MOST_BODIES: usize = 40_000;
/// The overriding methods of a call are followed if they are no more than this.
pub(super) const MOST_TARGETS: usize = 6;

/// The library code that was read.
pub(super) struct Collected {
    files: Vec<Arc<ClassFile>>,
    missing: Vec<Arc<str>>,
    /// The bodies that were asked for: a class and a position among its methods. Sorted.
    pub(super) bodies: Vec<(Arc<str>, usize)>,
}

impl Collected {
    /// A program of the library classes alone.
    pub(super) fn link(&self, models: &Models) -> Program {
        let files = self.files.iter().map(|file| (file.clone(), Origin::Library)).collect();
        let with_bodies: FxHashSet<&str> = self.bodies.iter().map(|(class, _)| &**class).collect();
        let with_links = |class: &crate::Class| with_bodies.contains(&*class.name);
        build::link(files, self.missing.clone(), Vec::new(), models.clone(), &with_links)
    }
}

/// A method, by what calls name it by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Member {
    class: Arc<str>,
    name: Arc<str>,
    descriptor: Arc<str>,
}

struct Collector<'a> {
    jdk: Option<&'a JdkImage>,
    files: Vec<Arc<ClassFile>>,
    /// Where a class is in `files`; none for classes that cannot be read, or that are the application's.
    positions: FxHashMap<Arc<str>, Option<usize>>,
    /// The direct subtypes of each class.
    subtypes: FxHashMap<Arc<str>, Vec<usize>>,
}

/// Reads the code of methods, and of what they call.
pub(super) fn collect(
    program: &Program,
    jdk: Option<&JdkImage>,
    wanted: &[MethodId],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Collected {
    let mut collector = Collector {
        jdk,
        files: Vec::new(),
        positions: FxHashMap::default(),
        subtypes: FxHashMap::default(),
    };
    for class in program.classes.iter() {
        match (class.origin, &class.file) {
            (Origin::Library, Some(file)) => collector.add(file.clone()),
            _ => {
                collector.positions.insert(class.name.clone(), None);
            }
        }
    }
    let mut wave: Vec<Member> = wanted
        .iter()
        .map(|method| {
            let Method { class, name, descriptor, .. } = &program.methods[*method];
            let class = program.classes[*class].name.clone();
            Member { class, name: name.clone(), descriptor: descriptor.clone() }
        })
        .collect();
    let mut seen: FxHashSet<Member> = FxHashSet::default();
    let mut bodies: FxHashSet<(usize, usize)> = FxHashSet::default();
    for _ in 0..DEPTH {
        wave.sort_unstable();
        wave.retain(|member| seen.insert(member.clone()));
        if wave.is_empty() || bodies.len() > MOST_BODIES || cancelled() {
            break;
        }
        collector.read(wave.iter().map(|member| member.class.clone()).collect());
        let mut found: Vec<(usize, usize)> =
            wave.iter().flat_map(|member| collector.implementations(member)).collect();
        found.retain(|body| bodies.insert(*body));
        let called: Vec<Vec<Member>> = found
            .par_iter()
            .map(|(file, method)| calls(program.models(), &collector.files[*file], *method))
            .collect();
        wave = called.into_iter().flatten().collect();
    }
    collector.finish(program.models(), bodies)
}

impl Collector<'_> {
    fn add(&mut self, file: Arc<ClassFile>) {
        let position = self.files.len();
        for supertype in file.super_name.iter().chain(&file.interfaces) {
            self.subtypes.entry(supertype.clone()).or_default().push(position);
        }
        self.positions.insert(file.name.clone(), Some(position));
        self.files.push(file);
    }

    /// Reads classes that are not known yet, and their supertypes.
    fn read(&mut self, mut names: Vec<Arc<str>>) {
        loop {
            names.sort_unstable();
            names.dedup();
            names.retain(|name| !self.positions.contains_key(name));
            if names.is_empty() {
                return;
            }
            let read: Vec<Option<ClassFile>> = names
                .par_iter()
                .map(|name| build::read_library_class(self.jdk, name).ok().flatten())
                .collect();
            let mut supertypes = Vec::new();
            for (name, file) in names.drain(..).zip(read) {
                match file {
                    Some(file) => {
                        supertypes.extend(file.super_name.iter().chain(&file.interfaces).cloned());
                        self.add(Arc::new(file));
                    }
                    None => {
                        self.positions.insert(name, None);
                    }
                }
            }
            names = supertypes;
        }
    }

    fn file(&self, name: &str) -> Option<(usize, &Arc<ClassFile>)> {
        let position = (*self.positions.get(name)?)?;
        Some((position, &self.files[position]))
    }

    /// The method that a name stands for, and those that override it, as far as they have code.
    fn implementations(&self, member: &Member) -> Vec<(usize, usize)> {
        let Some((file, position)) = self.declared(member) else { return Vec::new() };
        let resolved = &self.files[file].methods[position];
        let mut found = Vec::new();
        if resolved.access & (access::STATIC | access::PRIVATE) == 0 && &*member.name != "<init>" {
            let mut todo: Vec<usize> = self.direct_subtypes(&member.class).collect();
            let mut seen: FxHashSet<usize> = todo.iter().copied().collect();
            while let Some(subtype) = todo.pop() {
                let below = &self.files[subtype];
                let own = position_of(below, member).filter(|at| below.methods[*at].code.is_some());
                found.extend(own.map(|at| (subtype, at)));
                if found.len() > MOST_TARGETS {
                    found.clear();
                    break;
                }
                todo.extend(self.direct_subtypes(&below.name).filter(|it| seen.insert(*it)));
            }
        }
        if resolved.code.is_some() {
            found.push((file, position));
        }
        found
    }

    fn direct_subtypes(&self, class: &str) -> impl Iterator<Item = usize> + '_ {
        self.subtypes.get(class).into_iter().flatten().copied()
    }

    /// Where a method is declared: in the class, its superclasses or their interfaces.
    fn declared(&self, member: &Member) -> Option<(usize, usize)> {
        let mut todo = vec![member.class.clone()];
        let mut next = 0;
        while let Some(class) = todo.get(next).cloned() {
            next += 1;
            let Some((position, file)) = self.file(&class) else { continue };
            if let Some(at) = position_of(file, member) {
                return Some((position, at));
            }
            for supertype in file.super_name.iter().chain(&file.interfaces) {
                if !todo.contains(supertype) {
                    todo.push(supertype.clone());
                }
            }
        }
        None
    }

    fn finish(mut self, models: &Models, bodies: FxHashSet<(usize, usize)>) -> Collected {
        let mut named: Vec<Arc<str>> = Vec::new();
        let with_bodies: FxHashSet<usize> = bodies.iter().map(|(file, _)| *file).collect();
        for (position, file) in self.files.iter().enumerate() {
            named.extend(build::referred_classes(models, file, with_bodies.contains(&position)));
        }
        named.sort_unstable();
        named.dedup();
        named.retain(|name| self.file(name).is_none());
        let mut bodies: Vec<(Arc<str>, usize)> = bodies
            .into_iter()
            .map(|(file, method)| (self.files[file].name.clone(), method))
            .collect();
        bodies.sort_unstable();
        self.files.sort_by(|one, other| one.name.cmp(&other.name));
        Collected { files: self.files, missing: named, bodies }
    }
}

fn position_of(file: &ClassFile, member: &Member) -> Option<usize> {
    file.methods.iter().position(|MethodInfo { name, descriptor, .. }| {
        *name == member.name && *descriptor == member.descriptor
    })
}

/// What a method calls, without what the models know.
fn calls(models: &Models, file: &ClassFile, method: usize) -> Vec<Member> {
    let Some(code) = &file.methods[method].code else { return Vec::new() };
    let Ok(instructions) = bytecode::decode_all(&file.bytes[code.range.clone()]) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (_, instruction) in instructions {
        match instruction {
            Instruction::Invoke { method, .. } => {
                found.extend(file.pool.member_ref(method).ok());
            }
            Instruction::InvokeDynamic(index) => {
                let bootstrap =
                    file.pool.dynamic(index).ok().and_then(|dynamic| {
                        file.bootstrap_methods.get(usize::from(dynamic.bootstrap))
                    });
                for argument in bootstrap.into_iter().flat_map(|it| &it.arguments) {
                    if let Ok(Constant::MethodHandle { member, .. }) = file.pool.get(*argument) {
                        found.push(member);
                    }
                }
            }
            _ => {}
        }
    }
    found
        .into_iter()
        .filter(|member| {
            !member.class.starts_with('[')
                && models.sharing(member.class) != Some(Sharing::Immutable)
                && models.find(member.class, member.name, member.descriptor).is_none()
        })
        .map(|member| Member {
            class: member.class.clone(),
            name: member.name.clone(),
            descriptor: member.descriptor.clone(),
        })
        .collect()
}

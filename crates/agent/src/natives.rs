//! The native methods of the Java half, and how it gets into the JVM.
//!
//! The JVM finds the methods by their exported names, since it looks for those of the boot loader in its
//! agents too. Registering them would make it warn that somebody meddles with the platform.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use events::{Context, SiteId, StackEntry, ThreadId};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jstring};

use models::Sharing;

use crate::jvm::Jni;
use crate::watcher::Watcher;
use crate::{watcher, when_watching};

/// The classes of the Java half, compiled when this library was built.
const RUNTIME: &[(&CStr, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtime.rs"));

/// How long a hook waits before it looks again whether the ring has room.
const PAUSE: Duration = Duration::from_micros(50);

/// What a hold is made of, and how many make a second.
const SLICE: Duration = Duration::from_millis(1);
const SLICES_PER_SECOND: jlong = 1000;

/// Brings the Java half into the JVM, and says whether that worked.
pub(crate) fn install(jni: Jni) -> Result<(), String> {
    for (name, bytes) in RUNTIME {
        jni.define(name, bytes).ok_or_else(|| {
            format!("this JVM does not take the class {} of the agent", name.to_string_lossy())
        })?;
    }
    Ok(())
}

/// Hides the fields that the agent adds from reflection.
pub(crate) fn hide_added_fields(jni: Jni) {
    let map = c"Ljava/util/Map;";
    let field = c"fieldFilterMap";
    let installed = jni.find(c"jdk/internal/reflect/Reflection").and_then(|reflection| {
        let filter = jni.find(c"java/lang/ScissionFieldFilter")?;
        jni.call_static(filter, c"letOthersAdd", c"()V", None);
        let original = jni.static_object(reflection, field, map)?;
        let replacement = jni.construct(filter, c"(Ljava/util/Map;)V", original)?;
        jni.set_static_object(reflection, field, map, replacement);
        Some(())
    });
    if installed.is_none() {
        when_watching(|watcher| {
            watcher.note("programs that look can see the fields that the agent adds".to_owned());
        });
    }
}

/// Tells the Java half that a thread has ended.
pub(crate) fn thread_ended(jni: Jni, thread: jvmti_bindings::sys::jni::jobject) {
    if let Some(class) = jni.find(c"java/lang/Scission") {
        jni.call_static(class, c"threadEnd", c"(Ljava/lang/Thread;)V", Some(thread));
    }
}

/// Answers a native method. No panic leaves for the JVM.
fn answer<T>(otherwise: T, ask: impl FnOnce(&'static Watcher) -> T) -> T {
    let answered = catch_unwind(AssertUnwindSafe(|| watcher::current().map(ask)));
    answered.ok().flatten().unwrap_or(otherwise)
}

#[unsafe(export_name = "Java_java_lang_Scission_configuration")]
extern "system" fn configuration(_: *mut JNIEnv, _: jclass, what: jint) -> jlong {
    answer(0, |watcher| match what {
        4 => watcher.emits().into(),
        5 => watcher.options.ownership_filter.into(),
        6 => watcher.options.epoch_filter.into(),
        15 => watcher.looks_at_locksets().into(),
        40 => watcher.is_adversarial().into(),
        44 => watcher.options.seed as jlong,
        45 => watcher.options.hold_for.max(1).into(),
        46 => watcher.options.holds_per_site.into(),
        47 => jlong::from(watcher.options.hold_budget) * SLICES_PER_SECOND,
        _ => watcher.memory.answer(what),
    })
}

#[unsafe(export_name = "Java_java_lang_Scission_target")]
extern "system" fn target(env: *mut JNIEnv, _: jclass, site: jint) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    answer(std::ptr::null_mut(), |watcher| jni.string(watcher.names.target(site as u32)))
}

#[unsafe(export_name = "Java_java_lang_Scission_classNumber")]
extern "system" fn class_number(env: *mut JNIEnv, _: jclass, name: jstring) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    answer(0, |watcher| watcher.names.add_class(jni.text(name)) as jint)
}

#[unsafe(export_name = "Java_java_lang_Scission_isUnordered")]
extern "system" fn is_unordered(env: *mut JNIEnv, _: jclass, name: jstring) -> jboolean {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    let is_unordered = answer(false, |watcher| {
        let name = jni.text(name).replace('.', "/");
        watcher.models().sharing(&name) == Some(Sharing::NotThreadSafe)
    });
    is_unordered.into()
}

#[unsafe(export_name = "Java_java_lang_Scission_classOfSite")]
extern "system" fn class_of_site(_: *mut JNIEnv, _: jclass, site: jint) -> jint {
    answer(0, |watcher| watcher.names.class_of_site(site as u32) as jint)
}

#[unsafe(export_name = "Java_java_lang_Scission_fieldNumber")]
extern "system" fn field_number(env: *mut JNIEnv, _: jclass, class: jint, name: jstring) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    answer(0, |watcher| watcher.names.field(class as u32, jni.text(name)) as jint)
}

#[unsafe(export_name = "Java_java_lang_Scission_threadNumber")]
extern "system" fn thread_number(
    env: *mut JNIEnv,
    _: jclass,
    name: jstring,
    is_virtual: jboolean,
) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    answer(0, |watcher| watcher.names.add_thread(jni.text(name), is_virtual != 0) as jint)
}

#[unsafe(export_name = "Java_java_lang_Scission_addStack")]
extern "system" fn add_stack(
    _: *mut JNIEnv,
    _: jclass,
    thread: jint,
    site: jint,
    first: jint,
    second: jint,
    third: jint,
    fourth: jint,
) {
    answer((), |watcher| {
        let frames = watcher.stacks.take(watcher.jvmti);
        if !frames.is_empty() {
            watcher.names.add_stack(StackEntry {
                site: SiteId(site as u32),
                thread: ThreadId(thread as u32),
                context: Context([first, second, third, fourth].map(|block| SiteId(block as u32))),
                frames,
            });
        }
    });
}

#[unsafe(export_name = "Java_java_lang_Scission_pause")]
extern "system" fn pause(_: *mut JNIEnv, _: jclass) {
    std::thread::sleep(PAUSE);
}

#[unsafe(export_name = "Java_java_lang_ScissionAdversary_slice")]
extern "system" fn slice(_: *mut JNIEnv, _: jclass) {
    std::thread::sleep(SLICE);
}

#[unsafe(export_name = "Java_java_lang_Scission_declaredFields")]
extern "system" fn declared_fields(env: *mut JNIEnv, _: jclass, class: jclass) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    answer(std::ptr::null_mut(), |watcher| {
        let fields = watcher.jvmti.fields(class);
        let words: Vec<String> =
            fields.iter().map(|(name, modifiers)| format!("{name} {modifiers}")).collect();
        jni.string(words.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use instrument::{Hook, Op};

    const SOURCE: &str = include_str!("../../../runtime/java/lang/Scission.java");

    /// The declaration of a hook in Java, but for the names of its parameters.
    fn parameters(descriptor: &str) -> Vec<&'static str> {
        let mut rest = descriptor.trim_start_matches('(').trim_end_matches(")V");
        let mut types = Vec::new();
        while let Some(first) = rest.chars().next() {
            let (java, length) = match first {
                'I' => ("int", 1),
                _ if rest.starts_with("Ljava/lang/Class;") => ("Class<?>", 17),
                _ if rest.starts_with("Ljava/lang/Object;") => ("Object", 18),
                _ => panic!("no hook takes {rest}"),
            };
            types.push(java);
            rest = &rest[length..];
        }
        types
    }

    #[test]
    fn the_java_half_has_every_hook() {
        let declared: Vec<String> = SOURCE
            .lines()
            .filter_map(|line| line.trim().strip_prefix("public static void "))
            .filter_map(|line| line.strip_suffix(") {"))
            .map(|declaration| {
                let (name, parameters) = declaration.split_once('(').expect("a method");
                let types = parameters.split(", ").filter_map(|p| p.split(' ').next());
                format!("{name}({})", types.collect::<Vec<_>>().join(","))
            })
            .collect();
        for hook in Hook::ALL {
            let wanted = format!("{}({})", hook.name(), parameters(hook.descriptor()).join(","));
            assert!(declared.contains(&wanted), "{wanted} is missing");
        }
        assert_eq!(declared.len(), Hook::ALL.len());
    }

    #[test]
    fn the_java_half_knows_every_operation_of_the_library() {
        for op in Op::ALL {
            let case = format!("case {}: ", op.number());
            let line = SOURCE.lines().find(|line| line.trim().starts_with(&case));
            let line = line.unwrap_or_else(|| panic!("{} is missing", op.name()));
            assert!(line.ends_with(&format!("// {}", op.name())), "{line}");
        }
    }
}

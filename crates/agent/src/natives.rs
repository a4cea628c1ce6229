//! The native methods of the Java half, and how it gets into the JVM.
//!
//! The JVM finds the methods by their exported names, since it looks for those of the boot loader in its
//! agents too. Registering them would make it warn that somebody meddles with the platform.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use agent_protocol::ConfigurationWord;
use events::{Context, SiteId, StackEntry, ThreadId};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject, jstring};

use crate::agent_state::AgentState;
use crate::jvm::Jni;
use crate::memory::{Counter, Part};
use crate::{agent_state, with_agent};

/// The classes of the Java half, compiled when this library was built.
const RUNTIME: &[(&CStr, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtime.rs"));

/// How long a hook waits before it looks again whether the ring has room: at first, and how often that is doubled. A full
/// ring keeps the consumer busy for several milliseconds, so that the longest pause costs nobody anything; that of all threads
/// which wait costs as many switches as there is time in a pause.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const MOST_DOUBLINGS: i32 = 5;

/// What a hold is made of, and how many make a second.
const SLICE: Duration = Duration::from_millis(1);
const SLICES_PER_SECOND: jlong = 1000;

/// The time between two looks for deadlocks: a deadlock is seen stuck in the second look at the latest, and reported in the
/// fourth.
const LOOK_INTERVAL: Duration = Duration::from_millis(400);

/// How long nothing moves before a hang is reported, unless the user says it.
const USUAL_HANG_TIME: Duration = Duration::from_secs(30);

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
        with_agent(|agent| {
            agent.note("programs that look can see the fields that the agent adds".to_owned());
        });
    }
}

/// Starts the thread that looks for threads which wait for each other.
pub(crate) fn start_watchdog(jni: Jni) {
    if let Some(class) = jni.find(c"java/lang/ScissionWatchdog") {
        jni.call_static(class, c"start", c"()V", None);
    }
}

/// From now on hooks in library code report the order that it makes.
pub(crate) fn observe_order(jni: Jni) {
    if let Some(class) = jni.find(c"java/lang/ScissionOrder") {
        jni.call_static(class, c"turnOn", c"()V", None);
    }
}

/// The location of the code source of a class, empty where there is none.
///
/// # Safety
///
/// Both are what the JVM gave to a callback about the class; before it has started, they may be null.
pub(crate) unsafe fn location(env: *mut JNIEnv, protection_domain: jobject) -> String {
    if env.is_null() || protection_domain.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let jni = unsafe { Jni::from_callback(env) };
    let signature = c"(Ljava/security/ProtectionDomain;)Ljava/lang/String;";
    jni.find(c"java/lang/ScissionOrigins")
        .and_then(|class| jni.call_for_object(class, c"location", signature, protection_domain))
        .map_or_else(String::new, |text| jni.text(text))
}

/// What hooks could not do, because they had no memory or stack left: how many were cut short, and how many accesses
/// to elements of arrays were not watched.
pub(crate) fn failures(jni: Jni) -> (u32, u32) {
    let count = |class, name| jni.static_int(class, name).map_or(0, i32::cast_unsigned);
    let class = jni.find(c"java/lang/ScissionFailures");
    class.map_or((0, 0), |class| (count(class, c"hooks"), count(class, c"elements")))
}

/// What was left out of what the sides of branches would have done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOutOfSides {
    /// Sides that cannot be taken.
    pub(crate) infeasible_sides: u32,
    /// What would be done with null: it cannot be done.
    pub(crate) impossible_steps: u32,
    /// What would be done with values that are not known.
    pub(crate) unknown_steps: u32,
    /// Sides with too many steps.
    pub(crate) ended_walks: u32,
    /// Calls whose code is not known, or that are nested too deeply.
    pub(crate) ignored_calls: u32,
    /// Branches that were decided too often.
    pub(crate) silent_branches: u32,
}

/// What was left out of what the sides of branches would have done, so far.
pub(crate) fn left_out_of_sides(jni: Jni) -> LeftOutOfSides {
    let Some(class) = jni.find(c"java/lang/ScissionSides") else {
        return LeftOutOfSides::default();
    };
    let count = |name| jni.static_int(class, name).map_or(0, i32::cast_unsigned);
    LeftOutOfSides {
        infeasible_sides: count(c"infeasibleSides"),
        impossible_steps: count(c"impossibleSteps"),
        unknown_steps: count(c"unknownSteps"),
        ended_walks: count(c"endedWalks"),
        ignored_calls: count(c"ignoredCalls"),
        silent_branches: count(c"silentBranches"),
    }
}

/// How many executions of blocks were left out so far.
pub(crate) fn left_out_blocks(jni: Jni) -> u32 {
    let class = jni.find(c"java/lang/ScissionBlocks");
    let count = class.and_then(|class| jni.static_int(class, c"leftOut"));
    count.map_or(0, i32::cast_unsigned)
}

/// Tells the Java half that a thread has ended.
pub(crate) fn thread_ended(jni: Jni, thread: jobject) {
    if let Some(class) = jni.find(c"java/lang/ScissionEpochs") {
        jni.call_static(class, c"threadEnd", c"(Ljava/lang/Thread;)V", Some(thread));
    }
}

/// Does the work of a native method. No panic leaves for the JVM; where there is one, or no agent, `otherwise` is the
/// result.
fn with_state<T>(otherwise: T, work: impl FnOnce(&'static AgentState) -> T) -> T {
    let result = catch_unwind(AssertUnwindSafe(|| agent_state::current().map(work)));
    result.ok().flatten().unwrap_or(otherwise)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_configuration")]
extern "system" fn configuration(_: *mut JNIEnv, _: jclass, number: jint) -> jlong {
    with_state(0, |agent| {
        let word = usize::try_from(number).ok().and_then(ConfigurationWord::numbered);
        word.map_or(0, |word| configuration_word(agent, word))
    })
}

/// What the agent decided, as the Java half asks for it.
fn configuration_word(agent: &AgentState, word: ConfigurationWord) -> jlong {
    let options = &agent.options;
    let address = |part| agent.memory.address(part);
    match word {
        ConfigurationWord::Ring => address(Part::Ring),
        ConfigurationWord::Tail => address(Part::Counter(Counter::Tail)),
        ConfigurationWord::Head => address(Part::Counter(Counter::Head)),
        ConfigurationWord::Emits => agent.emits().into(),
        ConfigurationWord::OwnershipFilter => options.ownership_filter.into(),
        ConfigurationWord::EpochFilter => options.epoch_filter.into(),
        ConfigurationWord::Accesses => agent.accesses() as jlong,
        ConfigurationWord::NestedBlocks => agent.looks_at_nested_blocks().into(),
        ConfigurationWord::AllBranches => options.all_branches.into(),
        ConfigurationWord::Owners => address(Part::Owners),
        ConfigurationWord::Sites => address(Part::Sites),
        ConfigurationWord::Statics => address(Part::Statics),
        ConfigurationWord::NoNotes => address(Part::NoNotes),
        ConfigurationWord::Noters => address(Part::Noters),
        ConfigurationWord::OrderWords => address(Part::OrderWords),
        ConfigurationWord::NextBlock => address(Part::Counter(Counter::NextBlock)),
        ConfigurationWord::NextObject => address(Part::Counter(Counter::NextObject)),
        ConfigurationWord::Adversarial => agent.is_adversarial().into(),
        ConfigurationWord::Suspects => address(Part::Suspects),
        ConfigurationWord::ToldBranches => address(Part::ToldBranches),
        ConfigurationWord::Holds => address(Part::Counter(Counter::Holds)),
        ConfigurationWord::Slices => address(Part::Counter(Counter::Slices)),
        ConfigurationWord::Seed => options.seed as jlong,
        ConfigurationWord::HoldFor => options.hold_for.max(1).into(),
        ConfigurationWord::HoldsPerSite => options.holds_per_site.into(),
        ConfigurationWord::HoldBudget => jlong::from(options.hold_budget) * SLICES_PER_SECOND,
        ConfigurationWord::Watchdog => agent.looks_for_deadlocks().into(),
        ConfigurationWord::ExitsOnDeadlock => options.exits_on_deadlock.into(),
        ConfigurationWord::HangAfter => match options.hang_after {
            0 => USUAL_HANG_TIME.as_millis() as jlong,
            seconds => jlong::from(seconds) * 1000,
        },
        ConfigurationWord::IsHangTimeChosen => (options.hang_after != 0).into(),
    }
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_target")]
extern "system" fn target(env: *mut JNIEnv, _: jclass, site: jint) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| jni.string(agent.names.target(site as u32)))
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_classNumber")]
extern "system" fn class_number(env: *mut JNIEnv, _: jclass, name: jstring) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| agent.names.add_class(jni.text(name)) as jint)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_treeOfBranch")]
extern "system" fn tree_of_branch(_: *mut JNIEnv, _: jclass, site: jint) -> jlong {
    with_state(0, |agent| agent.names.tree_of_branch(site as u32) as jlong)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_treeOfMethod")]
extern "system" fn tree_of_method(
    env: *mut JNIEnv,
    _: jclass,
    class: jstring,
    number: jint,
) -> jlong {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| {
        let class = jni.text(class).replace('.', "/");
        agent.names.tree_of_method(class, number as usize).map_or(-1, |tree| tree as jlong)
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_classInTree")]
extern "system" fn class_in_tree(env: *mut JNIEnv, _: jclass, number: jint) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| {
        jni.string(agent.names.class_in_tree(number as usize).replace('/', "."))
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_classFacts")]
extern "system" fn class_facts(env: *mut JNIEnv, _: jclass, name: jstring) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| agent.library_facts(&jni.text(name).replace('.', "/")))
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_wrappedField")]
extern "system" fn wrapped_field(env: *mut JNIEnv, _: jclass, name: jstring) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| {
        let field = agent.models().viewed_field(&jni.text(name).replace('.', "/"));
        field.map_or(std::ptr::null_mut(), |field| jni.string(field.to_owned()))
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_redefinesContents")]
extern "system" fn redefines_contents(
    env: *mut JNIEnv,
    _: jclass,
    class: jclass,
    of: jstring,
) -> jboolean {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| {
        let of = jni.text(of).replace('.', "/");
        let models = agent.models();
        let is_access = |method: &str| models.memory_access(&of, method, &[]).is_some();
        jboolean::from(agent.jvmti.declares_method(class, is_access))
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_libraryField")]
extern "system" fn library_field(env: *mut JNIEnv, _: jclass, number: jint) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| {
        let field = usize::try_from(number).ok().and_then(|it| agent.running_library().field(it));
        field.map_or(std::ptr::null_mut(), |(class, name)| {
            jni.string(format!("{} {name}", class.replace('/', ".")))
        })
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_classOfSite")]
extern "system" fn class_of_site(_: *mut JNIEnv, _: jclass, site: jint) -> jint {
    with_state(0, |agent| agent.names.class_of_site(site as u32) as jint)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_fieldNumber")]
extern "system" fn field_number(env: *mut JNIEnv, _: jclass, class: jint, name: jstring) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| agent.names.field(class as u32, jni.text(name)) as jint)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_threadNumber")]
extern "system" fn thread_number(
    env: *mut JNIEnv,
    _: jclass,
    name: jstring,
    is_virtual: jboolean,
) -> jint {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(0, |agent| agent.names.add_thread(jni.text(name), is_virtual != 0) as jint)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_addStack")]
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
    with_state((), |agent| {
        let frames = agent.stacks.take(agent.jvmti);
        if !frames.is_empty() {
            agent.names.add_stack(StackEntry {
                site: SiteId(site as u32),
                thread: ThreadId(thread as u32),
                context: Context([first, second, third, fourth].map(|block| SiteId(block as u32))),
                frames,
            });
        }
    });
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_notes")]
extern "system" fn notes(_: *mut JNIEnv, _: jclass, region: jint) -> jlong {
    with_state(0, |agent| agent.memory.reserve_notes(region as usize))
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_openNotes")]
extern "system" fn open_notes(_: *mut JNIEnv, _: jclass, region: jint, step: jint) -> jboolean {
    with_state(false, |agent| agent.memory.open_notes(region as usize, step as usize)).into()
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_waitForRoom")]
extern "system" fn wait_for_room(_: *mut JNIEnv, _: jclass, waits: jint) {
    if waits >= 0 {
        let began = Instant::now();
        std::thread::sleep(FIRST_PAUSE * (1 << waits.min(MOST_DOUBLINGS)));
        with_state((), |agent| agent.memory.waited(began.elapsed()));
    }
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_canRun")]
extern "system" fn can_run(_: *mut JNIEnv, _: jclass, thread: jobject) -> jboolean {
    with_state(false, |agent| agent.jvmti.can_run(thread)).into()
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_threadState")]
extern "system" fn thread_state(_: *mut JNIEnv, _: jclass, thread: jobject) -> jint {
    with_state(0, |agent| agent.jvmti.thread_state(thread).unwrap_or(0))
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_slice")]
extern "system" fn slice(_: *mut JNIEnv, _: jclass) {
    std::thread::sleep(SLICE);
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_pauseWatchdog")]
extern "system" fn pause_watchdog(_: *mut JNIEnv, _: jclass) {
    std::thread::sleep(LOOK_INTERVAL);
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_contendedMonitor")]
extern "system" fn contended_monitor(_: *mut JNIEnv, _: jclass, thread: jobject) -> jobject {
    with_state(std::ptr::null_mut(), |agent| {
        agent.jvmti.contended_monitor(thread).unwrap_or(std::ptr::null_mut())
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_monitorOwner")]
extern "system" fn monitor_owner(_: *mut JNIEnv, _: jclass, object: jobject) -> jobject {
    with_state(std::ptr::null_mut(), |agent| {
        agent.jvmti.monitor_owner(object).unwrap_or(std::ptr::null_mut())
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_currentSite")]
extern "system" fn current_site(_: *mut JNIEnv, _: jclass, thread: jobject, number: jint) -> jint {
    with_state(0, |agent| agent.current_site(thread, ThreadId(number as u32)).0 as jint)
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_lookInterval")]
extern "system" fn look_interval(_: *mut JNIEnv, _: jclass) -> jint {
    LOOK_INTERVAL.as_millis() as jint
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_awaitedClass")]
extern "system" fn awaited_class(env: *mut JNIEnv, _: jclass, thread: jobject) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| match agent.jvmti.awaited_class(thread) {
        Some((_, name)) => jni.string(name.replace('/', ".")),
        None => std::ptr::null_mut(),
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_innermostClass")]
extern "system" fn innermost_class(_: *mut JNIEnv, _: jclass, thread: jobject) -> jclass {
    with_state(std::ptr::null_mut(), |agent| {
        agent.jvmti.awaited_class(thread).map_or(std::ptr::null_mut(), |(class, _)| class)
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_waitsOn")]
extern "system" fn waits_on(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    object: jobject,
) -> jboolean {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(false, |agent| agent.jvmti.waits_on(jni, thread, object)).into()
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_calls")]
extern "system" fn calls(env: *mut JNIEnv, _: jclass, thread: jobject) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| jni.string(agent.calls(thread)))
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_isReported")]
extern "system" fn is_reported(_: *mut JNIEnv, _: jclass) -> jboolean {
    with_state(false, AgentState::has_reported_urgently).into()
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_findingsSoFar")]
extern "system" fn findings_so_far(env: *mut JNIEnv, _: jclass) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| {
        agent.findings_so_far().map_or(std::ptr::null_mut(), |text| jni.string(text))
    })
}

#[unsafe(export_name = "Java_java_lang_ScissionNatives_declaredFields")]
extern "system" fn declared_fields(env: *mut JNIEnv, _: jclass, class: jclass) -> jstring {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_state(std::ptr::null_mut(), |agent| {
        let Some(fields) = agent.jvmti.fields(class) else { return std::ptr::null_mut() };
        let words: Vec<String> =
            fields.iter().map(|(name, modifiers)| format!("{name} {modifiers}")).collect();
        jni.string(words.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use agent_protocol::{Hook, Op, constant_name};

    const HOOKS: &str = include_str!("../../../runtime/java/lang/Scission.java");
    const CALLS: &str = include_str!("../../../runtime/java/lang/ScissionCalls.java");

    #[test]
    fn the_java_half_has_every_hook() {
        let declared: Vec<&str> = HOOKS
            .lines()
            .filter_map(|line| line.trim().strip_suffix(" {"))
            .filter(|line| line.starts_with("public static "))
            .collect();
        for hook in Hook::ALL {
            let wanted = hook.java_declaration();
            assert!(declared.contains(&wanted.as_str()), "{wanted} is missing");
        }
        assert_eq!(declared.len(), Hook::ALL.len());
    }

    #[test]
    fn the_java_half_knows_every_operation_of_the_library() {
        for op in Op::ALL {
            let case = format!("case OP_{}:", constant_name(op.name()));
            assert!(CALLS.contains(&case), "{case} is missing");
        }
    }
}

//! The JVMTI agent: it gives the classes of a program hooks as they are loaded, and takes the events that
//! the hooks report.
//!
//! **Who runs what.** `Agent_OnLoad` runs before the JVM; the callbacks below on threads of the JVM, any
//! number at a time; the consumer on a thread of its own that the JVM does not know. What they share is
//! `agent_state::AgentState`: its parts say who may touch them.
//!
//! **What never happens.** No panic leaves for the JVM, no exception stays pending, and a class that cannot
//! be rewritten is loaded as it is and listed. When the agent cannot work, it says so in one sentence and the
//! program runs unwatched, unless the options require the agent.

mod agent_state;
mod awaited_class;
mod consumer;
mod jvm;
mod library_facts;
mod memory;
mod names;
mod natives;
mod own_code;
mod record;
mod running_library;
mod shared_fields;
mod stacks;
mod suspects;

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use agent_protocol::Options;
use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jclass, jint, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VIRTUAL_THREAD_END,
    JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_START, jvmtiCapabilities, jvmtiEnv,
    jvmtiEventCallbacks,
};

use crate::agent_state::{AgentState, say};
use crate::jvm::{Jni, Jvmti};

/// The version of this library, which `scission` reads from its file.
#[unsafe(no_mangle)]
pub static SCISSION_AGENT_VERSION: &str =
    concat!("scission-agent-version:", env!("CARGO_PKG_VERSION"), "\n");

/// Called by the JVM before it starts.
///
/// # Safety
///
/// The JVM calls it, with its own interface and a text that ends with zero, or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    let text = if options.is_null() {
        String::new()
    } else {
        // SAFETY: the JVM gave a text that ends with zero.
        unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
    };
    let is_required = text.split(',').any(|word| word == "require-agent=true");
    // SAFETY: the JVM gave its interface.
    let loaded = catch_unwind(|| unsafe { load(vm, &text) });
    let problem = match loaded {
        Ok(Ok(())) => return 0,
        Ok(Err(sentence)) => sentence,
        Err(_) => "the agent has a defect and could not be loaded".to_owned(),
    };
    if is_required {
        say(&format!("{problem}; the program is not started"));
        1
    } else {
        say(&format!("{problem}; the program runs unwatched"));
        0
    }
}

/// # Safety
///
/// `vm` is the interface of the JVM.
unsafe fn load(vm: *mut JavaVM, text: &str) -> Result<(), String> {
    let options: Options =
        text.parse().map_err(|error| format!("the agent's options cannot be read: {error}"))?;
    // SAFETY: the caller's promise.
    let jvmti = unsafe { Jvmti::of(vm) }?;
    let mut has_virtual_threads = false;
    jvmti.add_capabilities(|potential| {
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_generate_all_class_hook_events(true);
        wanted.set_can_generate_early_class_hook_events(true);
        wanted.set_can_get_source_file_name(potential.can_get_source_file_name());
        wanted.set_can_get_line_numbers(potential.can_get_line_numbers());
        wanted.set_can_retransform_classes(potential.can_retransform_classes());
        has_virtual_threads = potential.can_support_virtual_threads();
        wanted.set_can_support_virtual_threads(has_virtual_threads);
        wanted.set_can_get_bytecodes(potential.can_get_bytecodes());
        wanted.set_can_get_constant_pool(potential.can_get_constant_pool());
        wanted.set_can_get_monitor_info(potential.can_get_monitor_info());
        wanted.set_can_get_current_contended_monitor(potential.can_get_current_contended_monitor());
        wanted
    })?;
    let agent = AgentState::new(jvmti, options)?;
    agent.pass_on();
    agent_state::set(agent)?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMStart = Some(vm_start);
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ClassFileLoadHook = Some(class_file_load_hook);
    callbacks.ThreadEnd = Some(thread_end);
    callbacks.VirtualThreadEnd = Some(virtual_thread_end);
    let mut events = vec![
        JVMTI_EVENT_VM_START,
        JVMTI_EVENT_VM_INIT,
        JVMTI_EVENT_VM_DEATH,
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        JVMTI_EVENT_THREAD_END,
    ];
    if has_virtual_threads {
        events.push(JVMTI_EVENT_VIRTUAL_THREAD_END);
    }
    jvmti.listen(&callbacks, &events)
}

/// Does something with the agent, if there is one; no panic comes out.
pub(crate) fn with_agent(act: impl FnOnce(&'static AgentState)) {
    if let Some(agent) = agent_state::current() {
        // The parts that are shared are whole between any two statements.
        let _ = catch_unwind(AssertUnwindSafe(|| act(agent)));
    }
}

unsafe extern "system" fn vm_start(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_agent(|agent| match natives::install(jni) {
        Ok(()) => agent.set_ready(),
        Err(sentence) => agent.give_up(sentence),
    });
}

unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jobject) {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_agent(|agent| {
        natives::hide_added_fields(jni);
        agent.start();
        natives::start_watchdog(jni);
        agent.observe_order(jni);
    });
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_agent(|agent| {
        if agent.is_ready() {
            let (hooks, elements) = natives::failures(jni);
            agent.missed("hooks", "a hook had no memory or stack left for its work", hooks);
            agent.missed("array elements", "there was no memory left to watch them", elements);
            let often = "they were executed so often that most executions were not looked at";
            agent.missed("executions of blocks", often, natives::left_out_blocks(jni));
            agent.say_what_sides_lack(jni);
        }
        agent.finish();
    });
}

unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    // SAFETY: the JVM gave it.
    let jni = unsafe { Jni::from_callback(env) };
    with_agent(|agent| {
        if agent.is_ready() {
            natives::thread_ended(jni, thread);
        }
    });
}

unsafe extern "system" fn virtual_thread_end(
    env: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
) {
    // SAFETY: as the JVM called us.
    unsafe { thread_end(env, jni, thread) };
}

#[allow(clippy::too_many_arguments, reason = "the JVM decides what it tells")]
unsafe extern "system" fn class_file_load_hook(
    env: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    if name.is_null() {
        // Hidden classes have no name of their own, and no code of the program.
        return;
    }
    // SAFETY: the JVM gave a name that ends with zero, and as many bytes as it says.
    let (name, bytes) = unsafe {
        (CStr::from_ptr(name), std::slice::from_raw_parts(bytes, length.max(0) as usize))
    };
    let Ok(name) = name.to_str() else { return };
    with_agent(|agent| {
        let rewritten = catch_unwind(AssertUnwindSafe(|| {
            if name == models::language::THREAD {
                agent.rewrite_thread(bytes)
            } else {
                // SAFETY: the JVM gave it.
                let location = || unsafe { natives::location(jni, protection_domain) };
                agent.rewrite(name, bytes, location)
            }
        }));
        let Ok(rewritten) = rewritten else {
            agent.panicked(name);
            return;
        };
        // SAFETY: the JVM gave its interface and two places to write to.
        unsafe {
            if let Some(rewritten) = rewritten
                && let Some(address) = Jvmti::from_callback(env).give(&rewritten)
            {
                *new_length = rewritten.len() as jint;
                *new_bytes = address;
            }
        }
    });
}

//! The JVM's interfaces, as far as the agent needs them: every call into the JVM is made here.
//!
//! A call that fails says so by returning nothing. No exception is left pending.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use jvmti_bindings::sys::jni::{
    JNIEnv, JavaVM, jbyte, jclass, jint, jmethodID, jobject, jstring, jvalue,
};
use jvmti_bindings::sys::jvmti::{
    JVMTI_ENABLE, JVMTI_VERSION_11, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent,
    jvmtiEventCallbacks, jvmtiFrameInfo, jvmtiInterface_1_, jvmtiMonitorUsage, jvmtiThreadInfo,
};

use crate::awaited_class::awaited_class;

/// The tool interface. It may be used from every thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jvmti(*mut jvmtiEnv);

// SAFETY: the specification allows calls from any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

impl Jvmti {
    /// The interface of a JVM, or why there is none.
    ///
    /// # Safety
    ///
    /// `vm` is what the JVM gave to the agent.
    pub(crate) unsafe fn of(vm: *mut JavaVM) -> Result<Jvmti, String> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: the caller's promise.
        let code = unsafe { ((**vm).GetEnv)(vm, &raw mut env, JVMTI_VERSION_11) };
        if code == 0 && !env.is_null() {
            Ok(Jvmti(env.cast()))
        } else {
            Err("this JVM does not offer the tool interface of Java 11".to_owned())
        }
    }

    /// The interface that a callback was given.
    ///
    /// # Safety
    ///
    /// `env` is what the JVM gave to the callback.
    pub(crate) unsafe fn from_callback(env: *mut jvmtiEnv) -> Jvmti {
        Jvmti(env)
    }

    fn functions(self) -> &'static jvmtiInterface_1_ {
        // SAFETY: the table lives as long as the JVM.
        unsafe { &*(*self.0).functions }
    }

    /// Asks for the abilities that `wanted` chooses among those that the JVM has.
    pub(crate) fn add_capabilities(
        self,
        wanted: impl FnOnce(&jvmtiCapabilities) -> jvmtiCapabilities,
    ) -> Result<(), String> {
        let functions = self.functions();
        let mut potential = jvmtiCapabilities::default();
        if let Some(get) = functions.GetPotentialCapabilities {
            // SAFETY: an environment and a place to write to.
            unsafe { get(self.0, &raw mut potential) };
        }
        let capabilities = wanted(&potential);
        let add = functions.AddCapabilities.ok_or("this JVM grants no capabilities")?;
        // SAFETY: an environment and capabilities to read.
        match unsafe { add(self.0, &raw const capabilities) } {
            jvmtiError::NONE => Ok(()),
            error => Err(format!("this JVM refuses what the agent needs ({error:?})")),
        }
    }

    /// Says which functions the JVM is to call, and for which events.
    pub(crate) fn listen(
        self,
        callbacks: &jvmtiEventCallbacks,
        events: &[jvmtiEvent],
    ) -> Result<(), String> {
        let functions = self.functions();
        let size = size_of::<jvmtiEventCallbacks>() as jint;
        let set = functions.SetEventCallbacks.ok_or("this JVM has no events")?;
        // SAFETY: the JVM copies the table.
        let mut error = unsafe { set(self.0, callbacks, size) };
        let mode = functions.SetEventNotificationMode.ok_or("this JVM has no events")?;
        for event in events {
            if error == jvmtiError::NONE {
                // SAFETY: for all threads, as null says.
                error = unsafe { mode(self.0, JVMTI_ENABLE, *event, ptr::null_mut()) };
            }
        }
        match error {
            jvmtiError::NONE => Ok(()),
            error => Err(format!("this JVM does not report what the agent needs ({error:?})")),
        }
    }

    /// Copies bytes to memory that the JVM will free.
    pub(crate) fn give(self, bytes: &[u8]) -> Option<*mut u8> {
        let mut address: *mut u8 = ptr::null_mut();
        let allocate = self.functions().Allocate?;
        // SAFETY: an environment and a place to write to.
        let error = unsafe { allocate(self.0, bytes.len() as i64, &raw mut address) };
        if error != jvmtiError::NONE || address.is_null() {
            return None;
        }
        // SAFETY: the JVM has just made room for as many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), address, bytes.len()) };
        Some(address)
    }

    fn deallocate<T>(self, address: *mut T) {
        if let Some(deallocate) = self.functions().Deallocate {
            // SAFETY: it came from the JVM, and nobody else has it.
            unsafe { deallocate(self.0, address.cast()) };
        }
    }

    /// A property of the system, such as `java.version`.
    pub(crate) fn property(self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = ptr::null_mut();
        let get = self.functions().GetSystemProperty?;
        // SAFETY: a name that ends with zero, and a place to write to.
        let error = unsafe { get(self.0, name.as_ptr(), &raw mut value) };
        self.given_text(error, value)
    }

    /// A text that the JVM has made for us, if it could.
    fn given_text(self, error: jvmtiError, text: *mut c_char) -> Option<String> {
        if error != jvmtiError::NONE || text.is_null() {
            return None;
        }
        // SAFETY: the JVM gave a string that ends with zero.
        let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.deallocate(text);
        Some(owned)
    }

    /// The name of the thread that calls.
    pub(crate) fn name_of_current_thread(self) -> Option<String> {
        let get = self.functions().GetThreadInfo?;
        let mut info = jvmtiThreadInfo {
            name: ptr::null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: ptr::null_mut(),
            context_class_loader: ptr::null_mut(),
        };
        // SAFETY: null is the thread that calls, and there is a place to write to.
        let error = unsafe { get(self.0, ptr::null_mut(), &raw mut info) };
        self.given_text(error, info.name)
    }

    /// The innermost calls of a thread, or of this one for null, at most as many as there is room for: method and place
    /// in it. None while the JVM is not up.
    pub(crate) fn stack(self, thread: jobject, room: &mut [jvmtiFrameInfo]) -> usize {
        let Some(get) = self.functions().GetStackTrace else { return 0 };
        let mut count = 0;
        let most = room.len() as jint;
        // SAFETY: the JVM writes as many frames as it is told, and their number.
        let error = unsafe { get(self.0, thread, 0, most, room.as_mut_ptr(), &raw mut count) };
        if error == jvmtiError::NONE { (count.max(0) as usize).min(room.len()) } else { 0 }
    }

    /// Whether a thread runs, or waits for a limited time.
    pub(crate) fn can_run(self, thread: jobject) -> bool {
        const RUNNABLE: jint = 0x4;
        const WAITING_WITH_TIMEOUT: jint = 0x20;
        let state = self.thread_state(thread);
        state.is_some_and(|state| state & (RUNNABLE | WAITING_WITH_TIMEOUT) != 0)
    }

    /// What the JVM says of a thread.
    pub(crate) fn thread_state(self, thread: jobject) -> Option<jint> {
        let get = self.functions().GetThreadState?;
        let mut state = 0;
        // SAFETY: a thread that the JVM gave us, and a place to write to.
        let error = unsafe { get(self.0, thread, &raw mut state) };
        (error == jvmtiError::NONE).then_some(state)
    }

    /// The object whose monitor a thread waits to enter, or waits on.
    pub(crate) fn contended_monitor(self, thread: jobject) -> Option<jobject> {
        let get = self.functions().GetCurrentContendedMonitor?;
        let mut object = ptr::null_mut();
        // SAFETY: a thread that the JVM gave us, and a place to write to.
        let error = unsafe { get(self.0, thread, &raw mut object) };
        (error == jvmtiError::NONE && !object.is_null()).then_some(object)
    }

    /// The thread that owns the monitor of an object. The JVM does not name virtual threads here.
    pub(crate) fn monitor_owner(self, object: jobject) -> Option<jobject> {
        let get = self.functions().GetObjectMonitorUsage?;
        let mut usage = no_usage();
        // SAFETY: an object that the JVM gave us, and a place to write to.
        if unsafe { get(self.0, object, &raw mut usage) } != jvmtiError::NONE {
            return None;
        }
        self.deallocate(usage.waiters);
        self.deallocate(usage.notify_waiters);
        (!usage.owner.is_null()).then_some(usage.owner)
    }

    /// The class that the innermost method of a thread belongs to, and the class that its current instruction needs to be
    /// initialised, by internal name. Nothing if it needs none.
    pub(crate) fn awaited_class(self, thread: jobject) -> Option<(jclass, String)> {
        let functions = self.functions();
        let mut frame = [jvmtiFrameInfo { method: ptr::null_mut(), location: 0 }];
        if self.stack(thread, &mut frame) == 0 {
            return None;
        }
        let [jvmtiFrameInfo { method, location }] = frame;
        let at = usize::try_from(location).ok()?;
        let (get_code, get_class) = (functions.GetBytecodes?, functions.GetMethodDeclaringClass?);
        let get_constants = functions.GetConstantPool?;
        let mut class = ptr::null_mut();
        // SAFETY: a method that the JVM gave us, and a place to write to.
        if unsafe { get_class(self.0, method, &raw mut class) } != jvmtiError::NONE {
            return None;
        }
        let (mut length, mut code) = (0, ptr::null_mut());
        // SAFETY: as above.
        let error = unsafe { get_code(self.0, method, &raw mut length, &raw mut code) };
        let code = self.given_bytes(error, length, code)?;
        let (mut count, mut length, mut bytes) = (0, 0, ptr::null_mut());
        let error =
            // SAFETY: a class that the JVM gave us, and places to write to.
            unsafe { get_constants(self.0, class, &raw mut count, &raw mut length, &raw mut bytes) };
        let constants = self.given_bytes(error, length, bytes)?;
        Some((class, awaited_class(&code, at, &constants)?))
    }

    /// Bytes that the JVM has allocated for us.
    fn given_bytes(self, error: jvmtiError, length: jint, bytes: *mut u8) -> Option<Vec<u8>> {
        if error != jvmtiError::NONE || bytes.is_null() {
            return None;
        }
        let length = usize::try_from(length).unwrap_or(0);
        // SAFETY: the JVM has written so many bytes there.
        let copy = unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec();
        self.deallocate(bytes);
        Some(copy)
    }

    /// Whether a thread waits on an object to be notified.
    pub(crate) fn waits_on(self, jni: Jni, thread: jobject, object: jobject) -> bool {
        let Some(get) = self.functions().GetObjectMonitorUsage else { return false };
        let mut usage = no_usage();
        // SAFETY: an object that the JVM gave us, and a place to write to.
        if unsafe { get(self.0, object, &raw mut usage) } != jvmtiError::NONE {
            return false;
        }
        let count = usize::try_from(usage.notify_waiter_count).unwrap_or(0);
        let is_there = !usage.notify_waiters.is_null()
            && (0..count).any(|at| {
                // SAFETY: the JVM has written so many threads there.
                let waiter = unsafe { *usage.notify_waiters.add(at) };
                jni.is_same(waiter, thread)
            });
        self.deallocate(usage.waiters);
        self.deallocate(usage.notify_waiters);
        is_there
    }

    /// What a method is called. The caller is on a thread of the JVM, in a native method.
    pub(crate) fn method(self, method: jmethodID) -> Option<Method> {
        let functions = self.functions();
        let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
        let generic = ptr::null_mut();
        let get_name = functions.GetMethodName?;
        // SAFETY: a method that the JVM gave us, and places to write to.
        let error =
            unsafe { get_name(self.0, method, &raw mut name, &raw mut descriptor, generic) };
        let name = self.given_text(error, name);
        let descriptor = self.given_text(error, descriptor);
        let mut class = ptr::null_mut();
        let get_class = functions.GetMethodDeclaringClass?;
        // SAFETY: as above.
        if unsafe { get_class(self.0, method, &raw mut class) } != jvmtiError::NONE {
            return None;
        }
        let mut signature = ptr::null_mut();
        let get_signature = functions.GetClassSignature?;
        // SAFETY: a class that the JVM gave us; its reference ends with the native method.
        let error = unsafe { get_signature(self.0, class, &raw mut signature, generic) };
        let signature = self.given_text(error, signature);
        let mut source = ptr::null_mut();
        let get_source = functions.GetSourceFileName?;
        // SAFETY: as above.
        let error = unsafe { get_source(self.0, class, &raw mut source) };
        let source = self.given_text(error, source);
        let (mut count, mut table) = (0, ptr::null_mut());
        let get_lines = functions.GetLineNumberTable?;
        // SAFETY: as above.
        let error = unsafe { get_lines(self.0, method, &raw mut count, &raw mut table) };
        let mut lines = Vec::new();
        if error == jvmtiError::NONE && !table.is_null() {
            // SAFETY: the JVM gave as many entries as it counted.
            let entries = unsafe { std::slice::from_raw_parts(table, count.max(0) as usize) };
            lines.extend(entries.iter().map(|entry| (entry.start_location, entry.line_number)));
            self.deallocate(table);
        }
        Some(Method { class: signature?, name: name?, descriptor: descriptor?, source, lines })
    }

    /// Has classes that are loaded already rewritten: those whose names, in internal form, are wanted. Returns the names
    /// of those that the JVM refused.
    pub(crate) fn retransform(self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let functions = self.functions();
        let (Some(get_classes), Some(get_signature), Some(retransform)) =
            (functions.GetLoadedClasses, functions.GetClassSignature, functions.RetransformClasses)
        else {
            return Vec::new();
        };
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: an environment and places to write to.
        let error = unsafe { get_classes(self.0, &raw mut count, &raw mut classes) };
        if error != jvmtiError::NONE || classes.is_null() {
            return Vec::new();
        }
        // SAFETY: the JVM gave as many classes as it counted.
        let loaded = unsafe { std::slice::from_raw_parts(classes, count.max(0) as usize) };
        let wanted: Vec<(jclass, String)> = loaded
            .iter()
            .filter_map(|class| {
                let (mut signature, generic) = (ptr::null_mut(), ptr::null_mut());
                // SAFETY: a class that the JVM gave us, and a place to write to.
                let error = unsafe { get_signature(self.0, *class, &raw mut signature, generic) };
                let signature = self.given_text(error, signature)?;
                let name = signature.strip_prefix('L')?.strip_suffix(';')?;
                is_wanted(name).then(|| (*class, name.to_owned()))
            })
            .collect();
        self.deallocate(classes);
        let all: Vec<jclass> = wanted.iter().map(|(class, _)| *class).collect();
        let change = |classes: &[jclass]| {
            let count = jint::try_from(classes.len()).unwrap_or(0);
            // SAFETY: so many classes that the JVM gave us.
            unsafe { retransform(self.0, count, classes.as_ptr()) }
        };
        if all.is_empty() || change(&all) == jvmtiError::NONE {
            return Vec::new();
        }
        // One that is refused keeps all others from being rewritten.
        let refused = |class: &jclass| change(std::slice::from_ref(class)) != jvmtiError::NONE;
        wanted.into_iter().filter(|(class, _)| refused(class)).map(|(_, name)| name).collect()
    }

    /// Whether a class itself declares a method with a name that is wanted.
    pub(crate) fn declares_method(self, class: jclass, is_wanted: impl Fn(&str) -> bool) -> bool {
        let functions = self.functions();
        let (Some(get_methods), Some(get_name)) =
            (functions.GetClassMethods, functions.GetMethodName)
        else {
            return false;
        };
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: a class that the JVM gave us, and places to write to.
        let error = unsafe { get_methods(self.0, class, &raw mut count, &raw mut methods) };
        if error != jvmtiError::NONE || methods.is_null() {
            return false;
        }
        let nothing = ptr::null_mut();
        let declares = (0..usize::try_from(count).unwrap_or(0)).any(|index| {
            let mut name = ptr::null_mut();
            // SAFETY: the JVM gave as many methods as it counted, and there is a place to write to.
            let error = unsafe {
                get_name(self.0, *methods.add(index), &raw mut name, nothing, ptr::null_mut())
            };
            self.given_text(error, name).is_some_and(|name| is_wanted(&name))
        });
        self.deallocate(methods);
        declares
    }

    /// The fields that a class itself declares, with their modifiers. Nothing while the class is not prepared.
    pub(crate) fn fields(self, class: jclass) -> Option<Vec<(String, i32)>> {
        let functions = self.functions();
        let (Some(get_fields), Some(get_name), Some(get_modifiers)) =
            (functions.GetClassFields, functions.GetFieldName, functions.GetFieldModifiers)
        else {
            return Some(Vec::new());
        };
        let mut count = 0;
        let mut fields = ptr::null_mut();
        // SAFETY: a class that the JVM gave us, and places to write to.
        let error = unsafe { get_fields(self.0, class, &raw mut count, &raw mut fields) };
        if error == jvmtiError::CLASS_NOT_PREPARED {
            return None;
        }
        if error != jvmtiError::NONE {
            return Some(Vec::new());
        }
        let mut found = Vec::new();
        for index in 0..count as usize {
            let mut name: *mut c_char = ptr::null_mut();
            let mut modifiers = 0;
            // SAFETY: the JVM gave as many fields as it counted.
            let field = unsafe { *fields.add(index) };
            // SAFETY: a field of this class, and a place to write to; the rest is not wanted.
            let error = unsafe {
                get_name(self.0, class, field, &raw mut name, ptr::null_mut(), ptr::null_mut())
            };
            let Some(text) = self.given_text(error, name) else { continue };
            // SAFETY: as above.
            unsafe { get_modifiers(self.0, class, field, &raw mut modifiers) };
            found.push((text, modifiers));
        }
        self.deallocate(fields);
        Some(found)
    }
}

/// What the JVM knows of a method.
#[derive(Debug)]
pub(crate) struct Method {
    /// The class, as a descriptor: `Ljava/lang/String;`.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    pub(crate) source: Option<String>,
    /// Where the code of each line begins, and the line; in no order.
    pub(crate) lines: Vec<(i64, i32)>,
}

/// The native interface of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jni(*mut JNIEnv);

impl Jni {
    /// The interface that a callback or a native method was given.
    ///
    /// # Safety
    ///
    /// `env` is what the JVM gave to the callback or method, on this thread.
    pub(crate) unsafe fn from_callback(env: *mut JNIEnv) -> Jni {
        Jni(env)
    }

    /// Whether two references are to one object.
    pub(crate) fn is_same(self, one: jobject, other: jobject) -> bool {
        // SAFETY: references that the JVM gave us on this thread.
        unsafe { ((**self.0).IsSameObject)(self.0, one, other) != 0 }
    }

    /// Forgets an exception that a call has thrown.
    fn clear(self) -> bool {
        // SAFETY: the interface of this thread.
        unsafe {
            let pending = ((**self.0).ExceptionCheck)(self.0) != 0;
            if pending {
                ((**self.0).ExceptionClear)(self.0);
            }
            pending
        }
    }

    /// Defines a class in the boot loader.
    pub(crate) fn define(self, name: &CStr, bytes: &[u8]) -> Option<jclass> {
        let length = bytes.len() as jint;
        let start = bytes.as_ptr().cast::<jbyte>();
        // SAFETY: a name and as many bytes as are said.
        let class = unsafe {
            ((**self.0).DefineClass)(self.0, name.as_ptr(), ptr::null_mut(), start, length)
        };
        (!self.clear() && !class.is_null()).then_some(class)
    }

    /// A class of the boot loader.
    pub(crate) fn find(self, name: &CStr) -> Option<jclass> {
        // SAFETY: a name that ends with zero.
        let class = unsafe { ((**self.0).FindClass)(self.0, name.as_ptr()) };
        (!self.clear() && !class.is_null()).then_some(class)
    }

    /// The object in a static field.
    pub(crate) fn static_object(self, class: jclass, name: &CStr, kind: &CStr) -> Option<jobject> {
        // SAFETY: a class of this JVM and names that end with zero.
        let field =
            unsafe { ((**self.0).GetStaticFieldID)(self.0, class, name.as_ptr(), kind.as_ptr()) };
        if self.clear() || field.is_null() {
            return None;
        }
        // SAFETY: the field is one of this class.
        Some(unsafe { ((**self.0).GetStaticObjectField)(self.0, class, field) })
    }

    /// The number in a static field.
    pub(crate) fn static_int(self, class: jclass, name: &CStr) -> Option<jint> {
        // SAFETY: a class of this JVM and names that end with zero.
        let field =
            unsafe { ((**self.0).GetStaticFieldID)(self.0, class, name.as_ptr(), c"I".as_ptr()) };
        if self.clear() || field.is_null() {
            return None;
        }
        // SAFETY: the field is one of this class, and holds such a number.
        Some(unsafe { ((**self.0).GetStaticIntField)(self.0, class, field) })
    }

    /// Puts an object into a static field, whatever its visibility.
    pub(crate) fn set_static_object(
        self,
        class: jclass,
        name: &CStr,
        kind: &CStr,
        object: jobject,
    ) {
        // SAFETY: as above.
        unsafe {
            let field = ((**self.0).GetStaticFieldID)(self.0, class, name.as_ptr(), kind.as_ptr());
            if !self.clear() && !field.is_null() {
                ((**self.0).SetStaticObjectField)(self.0, class, field, object);
            }
        }
    }

    /// Makes an object with the constructor that takes one reference.
    pub(crate) fn construct(
        self,
        class: jclass,
        signature: &CStr,
        argument: jobject,
    ) -> Option<jobject> {
        // SAFETY: a class of this JVM and names that end with zero.
        let constructor = unsafe {
            ((**self.0).GetMethodID)(self.0, class, c"<init>".as_ptr(), signature.as_ptr())
        };
        if self.clear() || constructor.is_null() {
            return None;
        }
        let arguments = [jvalue { l: argument }];
        // SAFETY: the constructor takes one reference.
        let object =
            unsafe { ((**self.0).NewObjectA)(self.0, class, constructor, arguments.as_ptr()) };
        (!self.clear() && !object.is_null()).then_some(object)
    }

    /// Calls a static method that takes one reference, or nothing, and returns nothing.
    pub(crate) fn call_static(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
        argument: Option<jobject>,
    ) {
        // SAFETY: a class of this JVM and names that end with zero.
        let method = unsafe {
            ((**self.0).GetStaticMethodID)(self.0, class, name.as_ptr(), signature.as_ptr())
        };
        if !self.clear() && !method.is_null() {
            let arguments = [jvalue { l: argument.unwrap_or(ptr::null_mut()) }];
            // SAFETY: the method takes one reference, or looks at none.
            unsafe {
                ((**self.0).CallStaticVoidMethodA)(self.0, class, method, arguments.as_ptr());
            }
            self.clear();
        }
    }

    /// Calls a static method that takes one reference and returns one; nothing when that is null.
    pub(crate) fn call_for_object(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
        argument: jobject,
    ) -> Option<jobject> {
        // SAFETY: a class of this JVM and names that end with zero.
        let method = unsafe {
            ((**self.0).GetStaticMethodID)(self.0, class, name.as_ptr(), signature.as_ptr())
        };
        if self.clear() || method.is_null() {
            return None;
        }
        let arguments = [jvalue { l: argument }];
        // SAFETY: the method takes one reference and returns one.
        let result = unsafe {
            ((**self.0).CallStaticObjectMethodA)(self.0, class, method, arguments.as_ptr())
        };
        (!self.clear() && !result.is_null()).then_some(result)
    }

    /// The text of a string.
    pub(crate) fn text(self, string: jstring) -> String {
        if string.is_null() {
            return String::new();
        }
        // SAFETY: a string of this thread; its characters are given back at once.
        unsafe {
            let characters = ((**self.0).GetStringUTFChars)(self.0, string, ptr::null_mut());
            if characters.is_null() {
                self.clear();
                return String::new();
            }
            let text = CStr::from_ptr(characters).to_string_lossy().into_owned();
            ((**self.0).ReleaseStringUTFChars)(self.0, string, characters);
            text
        }
    }

    /// A string for the Java half. What has a zero in it becomes empty.
    pub(crate) fn string(self, text: String) -> jstring {
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: a text that ends with zero.
        unsafe { ((**self.0).NewStringUTF)(self.0, text.as_ptr()) }
    }
}

/// What is known of a monitor that nobody was asked about yet.
fn no_usage() -> jvmtiMonitorUsage {
    jvmtiMonitorUsage {
        owner: ptr::null_mut(),
        entry_count: 0,
        waiter_count: 0,
        waiters: ptr::null_mut(),
        notify_waiter_count: 0,
        notify_waiters: ptr::null_mut(),
    }
}

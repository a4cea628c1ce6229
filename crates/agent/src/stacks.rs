//! How the threads of the program got to where they are.
//!
//! The stack is asked of the JVM, not of Java: no code of the program's thread runs for it, so that nothing
//! is thrown where little stack or memory is left, and deep recursions cost no more than flat code.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use events::MAX_FRAMES;
use findings::Site;
use jvmti_bindings::sys::jni::jobject;
use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;

use crate::jvm::{Jvmti, Method};

/// The calls of a stack that may belong to the hook that asks for it.
const OWN_FRAMES: usize = 16;

/// The methods that stacks have named so far. A JVM never gives the number of a method to another one,
/// also when its class is gone.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    methods: Mutex<HashMap<usize, Arc<Known>>>,
}

/// A method, and its places that stacks have named, by line.
#[derive(Debug)]
struct Known {
    method: Method,
    /// Whether people never see it: it belongs to the agent, or the JVM has made it up.
    is_hidden: bool,
    places: Mutex<HashMap<Option<u32>, Arc<Site>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these locks guard is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stacks {
    /// The calls of this thread, innermost first, without those of the agent. The caller is a native method.
    pub(crate) fn take(&self, jvmti: Jvmti) -> Vec<Arc<Site>> {
        self.take_of(jvmti, std::ptr::null_mut())
    }

    /// The same of any thread, which is this one for null.
    pub(crate) fn take_of(&self, jvmti: Jvmti, thread: jobject) -> Vec<Arc<Site>> {
        let none = jvmtiFrameInfo { method: std::ptr::null_mut(), location: 0 };
        let mut room = [none; MAX_FRAMES + OWN_FRAMES];
        let count = jvmti.stack(thread, &mut room);
        let known = room[..count].iter().filter_map(|frame| {
            let known = self.method(jvmti, frame)?;
            (!known.is_hidden).then(|| known.place(frame.location))
        });
        known.take(MAX_FRAMES).collect()
    }

    fn method(&self, jvmti: Jvmti, frame: &jvmtiFrameInfo) -> Option<Arc<Known>> {
        let key = frame.method as usize;
        if let Some(known) = lock(&self.methods).get(&key) {
            return Some(Arc::clone(known));
        }
        // No lock is held while the JVM is asked.
        let known = Arc::new(Known::new(jvmti.method(frame.method)?));
        lock(&self.methods).insert(key, Arc::clone(&known));
        Some(known)
    }
}

impl Known {
    fn new(method: Method) -> Known {
        let is_hidden = is_hidden(&method.class);
        Known { method, is_hidden, places: Mutex::default() }
    }

    fn place(&self, location: i64) -> Arc<Site> {
        let line = line(&self.method.lines, location);
        let mut places = lock(&self.places);
        Arc::clone(places.entry(line).or_insert_with(|| Arc::new(site(&self.method, line))))
    }
}

/// The code of the agent, and classes that the JVM makes up for lambdas and method handles: the latter are
/// called otherwise in each run.
fn is_hidden(class: &str) -> bool {
    class.starts_with("Ljava/lang/Scission")
        || class.starts_with("Ljava/lang/invoke/LambdaForm$")
        || class.contains("$$Lambda")
        || class.contains('.')
}

/// The line of a place: that of the last entry which begins at or before it.
fn line(lines: &[(i64, i32)], location: i64) -> Option<u32> {
    let before = lines.iter().filter(|(start, _)| *start <= location);
    before.max_by_key(|(start, _)| *start).and_then(|(_, line)| u32::try_from(*line).ok())
}

fn site(method: &Method, line: Option<u32>) -> Site {
    let internal = method.class.strip_suffix(';').and_then(|it| it.strip_prefix('L'));
    let internal = internal.unwrap_or(&method.class);
    let package = internal.rsplit_once('/').map(|(package, _)| package);
    let in_package = |file: &String| match package {
        Some(package) => format!("{package}/{file}"),
        None => file.clone(),
    };
    Site {
        class: internal.replace('/', "."),
        method: method.name.clone(),
        descriptor: method.descriptor.clone(),
        // Hooks have moved the code.
        offset: None,
        file: method.source.as_ref().map(in_package),
        line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_as_in_the_table_of_sites() {
        let method = Method {
            class: "Lp/Account$Entry;".to_owned(),
            name: "add".to_owned(),
            descriptor: "(I)V".to_owned(),
            source: Some("Account.java".to_owned()),
            lines: vec![(9, 14), (0, 12), (4, 13)],
        };
        let known = Known::new(method);
        assert!(!known.is_hidden);
        let place = known.place(8);
        assert_eq!(place.class, "p.Account$Entry");
        assert_eq!(place.file.as_deref(), Some("p/Account.java"));
        assert_eq!(place.line, Some(13));
        assert!(Arc::ptr_eq(&place, &known.place(5)));
        assert_eq!(known.place(-1).line, None);
    }

    #[test]
    fn what_the_jvm_makes_up_is_hidden() {
        assert!(is_hidden("Ljava/lang/Scission;"));
        assert!(is_hidden("Ljava/lang/invoke/LambdaForm$MH;"));
        assert!(is_hidden("Lp/Main$$Lambda$14/0x0000000800c03000;"));
        assert!(is_hidden("Lp/Main$$Lambda.0x00007f0001000a00;"));
        assert!(!is_hidden("Lp/Main;"));
    }
}

//! The classes that the language and the virtual machine themselves give a meaning to.
//!
//! These are the only classes that code outside the data files may name.

/// The root of all classes.
pub const OBJECT: &str = "java/lang/Object";
/// Class literals, and the locks of static synchronized methods.
pub const CLASS: &str = "java/lang/Class";
/// String literals.
pub const STRING: &str = "java/lang/String";
/// Threads.
pub const THREAD: &str = "java/lang/Thread";
/// What can be thrown.
pub const THROWABLE: &str = "java/lang/Throwable";
/// The checked exceptions, together with the unchecked ones below it.
pub const EXCEPTION: &str = "java/lang/Exception";
/// The unchecked exceptions.
pub const RUNTIME_EXCEPTION: &str = "java/lang/RuntimeException";
/// What makes lambdas and method references.
pub const LAMBDA_METAFACTORY: &str = "java/lang/invoke/LambdaMetafactory";
/// A reference to something that can be called.
pub const METHOD_HANDLE: &str = "java/lang/invoke/MethodHandle";
/// What makes concatenated strings.
pub const STRING_CONCAT_FACTORY: &str = "java/lang/invoke/StringConcatFactory";
/// What makes the methods of records.
pub const OBJECT_METHODS: &str = "java/lang/runtime/ObjectMethods";
/// What makes switches over patterns.
pub const SWITCH_BOOTSTRAPS: &str = "java/lang/runtime/SwitchBootstraps";
/// Where the library makes its atomic operations.
pub const UNSAFE: &str = "jdk/internal/misc/Unsafe";
/// The module that every other one rests on.
pub const BASE_MODULE: &str = "java.base";
/// The parameters of `main`.
pub const MAIN_DESCRIPTOR: &str = "([Ljava/lang/String;)V";
/// The same of a `main` that asks for no arguments.
pub const SHORT_MAIN_DESCRIPTOR: &str = "()V";

/// Where the classes of the platform are.
const PLATFORM: &[&str] = &[
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "org/w3c/",
    "org/xml/",
    "org/ietf/",
    "netscape/",
];

/// Where the classes are that the JVM itself rests on.
const FOUNDATION: &[&str] = &["java/", "jdk/internal/", "sun/"];

/// Whether a class is one that every implementation of Java has by its name.
#[must_use]
pub fn is_of_java(class: &str) -> bool {
    class.starts_with("java/") || class.starts_with("javax/")
}

/// Whether a class belongs to the platform: it has models, and is not rewritten unless asked for.
#[must_use]
pub fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package))
}

/// Whether the JVM, or our own code in it, rests on a class: it is never rewritten.
#[must_use]
pub fn is_foundation(class: &str) -> bool {
    FOUNDATION.iter().any(|package| class.starts_with(package))
}

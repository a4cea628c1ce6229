//! Reading JVM programs: class files, the jars and directories they come in, and the JDK's own
//! classes.
//!
//! [`load`] reads everything a user names, in parallel and in a deterministic order, and says as
//! gaps what could not be read. [`Jdk`] finds a JDK and [`JdkImage`] hands out its classes one by
//! one. [`ClassFile`] is one parsed class; [`bytecode`] decodes the bodies of its methods.
//!
//! No input makes this crate panic, and none makes it allocate more than the bytes that are there
//! and the limits of [`LoadConfig`] justify.

pub mod access;
mod annotation;
mod archive;
pub mod bytecode;
mod classfile;
pub mod descriptor;
mod error;
mod inflate;
mod jar;
mod jdk;
mod jimage;
mod loader;
pub mod names;
mod pool;
mod reader;
mod source;
mod storage;

pub use annotation::{Annotation, AnnotationValue};
pub use classfile::{
    BootstrapMethod, ClassFile, Code, EnclosingMethod, FieldInfo, Handler, InnerClass,
    LocalVariable, MethodInfo, Version,
};
pub use error::{ReadError, ReadErrorKind};
pub use jdk::{Jdk, JdkImage, JdkLookup};
pub use loader::with_manifest_class_paths;
pub use names::{binary_name, internal_name, package_of, source_path};
pub use pool::{Constant, ConstantPool, DynamicRef, MemberRef, PoolIndex};
pub use source::{
    ClassPath, Input, InputKind, LoadConfig, LoadError, Loaded, LoadedClass, Origin, Progress,
    is_archive, load, load_bytes,
};

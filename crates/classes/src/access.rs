//! Access flags, as the class file writes them.
//!
//! Some bits mean one thing on a class, another on a method and a third on a field; the constants
//! keep the names of the Java Virtual Machine Specification (tables 4.1-B, 4.5-A and 4.6-A).

/// Visible everywhere.
pub const PUBLIC: u16 = 0x0001;
/// Visible in its own class and nest only.
pub const PRIVATE: u16 = 0x0002;
/// Visible in its package and in subclasses.
pub const PROTECTED: u16 = 0x0004;
/// A member of the class and not of its instances.
pub const STATIC: u16 = 0x0008;
/// Not to be extended, overridden or assigned again.
pub const FINAL: u16 = 0x0010;
/// On a method: the monitor of the receiver or class is held during the call.
pub const SYNCHRONIZED: u16 = 0x0020;
/// On a class: set by every modern compiler and without meaning; shares its bit with
/// [`SYNCHRONIZED`].
pub const SUPER: u16 = 0x0020;
/// On a field: every read sees the latest write.
pub const VOLATILE: u16 = 0x0040;
/// On a method: made by the compiler to bridge two erased signatures; shares its bit with
/// [`VOLATILE`].
pub const BRIDGE: u16 = 0x0040;
/// On a method: its last parameter takes a variable number of arguments.
pub const VARARGS: u16 = 0x0080;
/// On a field: not serialised; shares its bit with [`VARARGS`].
pub const TRANSIENT: u16 = 0x0080;
/// On a method: its body is outside the JVM.
pub const NATIVE: u16 = 0x0100;
/// On a class: it is an interface.
pub const INTERFACE: u16 = 0x0200;
/// Without a body, or with methods without one.
pub const ABSTRACT: u16 = 0x0400;
/// On a method: floating-point arithmetic is strict.
pub const STRICT: u16 = 0x0800;
/// Made by the compiler; absent from the source.
pub const SYNTHETIC: u16 = 0x1000;
/// On a class: it is an annotation interface.
pub const ANNOTATION: u16 = 0x2000;
/// An enum class or one of its constants.
pub const ENUM: u16 = 0x4000;
/// On a class: it is a module descriptor and holds no code.
pub const MODULE: u16 = 0x8000;

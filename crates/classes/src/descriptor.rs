//! Field and method descriptors: the types of members, as text.

use std::fmt;

use crate::error::{ReadError, ReadErrorKind};
use crate::names::binary_name;

/// The type of a field, parameter, return value or array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type<'a> {
    /// `Z`
    Boolean,
    /// `B`
    Byte,
    /// `C`
    Char,
    /// `S`
    Short,
    /// `I`
    Int,
    /// `J`
    Long,
    /// `F`
    Float,
    /// `D`
    Double,
    /// A class or interface, in internal form.
    Object(&'a str),
    /// An array.
    Array {
        /// How many dimensions it has, at least 1.
        dimensions: u8,
        /// The innermost element type, as a descriptor: `I` or `Ljava/lang/String;`.
        element: &'a str,
    },
}

impl<'a> Type<'a> {
    /// How many local variable or operand stack slots a value takes.
    #[must_use]
    pub fn slots(self) -> u16 {
        match self {
            Type::Long | Type::Double => 2,
            Type::Boolean
            | Type::Byte
            | Type::Char
            | Type::Short
            | Type::Int
            | Type::Float
            | Type::Object(_)
            | Type::Array { .. } => 1,
        }
    }

    /// Whether values are references, and so may be locked, shared or null.
    #[must_use]
    pub fn is_reference(self) -> bool {
        matches!(self, Type::Object(_) | Type::Array { .. })
    }

    /// The innermost element type of an array; the type itself otherwise.
    #[must_use]
    pub fn innermost(self) -> Type<'a> {
        match self {
            // The element was a valid descriptor when the array was parsed.
            Type::Array { element, .. } => parse_field(element).unwrap_or(self),
            other => other,
        }
    }
}

/// As the source writes it, classes with their binary names: `int[]`, `java.util.Map`.
impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Boolean => "boolean",
            Type::Byte => "byte",
            Type::Char => "char",
            Type::Short => "short",
            Type::Int => "int",
            Type::Long => "long",
            Type::Float => "float",
            Type::Double => "double",
            Type::Object(name) => return f.write_str(&binary_name(name)),
            Type::Array { dimensions, .. } => {
                let innermost = self.innermost();
                return write!(f, "{innermost}{}", "[]".repeat(usize::from(*dimensions)));
            }
        })
    }
}

/// The types of a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MethodType<'a> {
    /// The parameters, without the receiver.
    pub params: Vec<Type<'a>>,
    /// The return type; absent for `void`.
    pub ret: Option<Type<'a>>,
}

impl MethodType<'_> {
    /// How many slots the parameters take, without the receiver.
    #[must_use]
    pub fn param_slots(&self) -> u32 {
        self.params.iter().map(|param| u32::from(param.slots())).sum()
    }
}

/// Parses a field descriptor such as `[Ljava/lang/String;`.
///
/// # Errors
/// When the text does not follow the grammar of the specification, section 4.3.2.
pub fn parse_field(descriptor: &str) -> Result<Type<'_>, ReadError> {
    match next_type(descriptor, 0) {
        Ok((found, end)) if end == descriptor.len() => Ok(found),
        Ok((_, end)) | Err(end) => Err(bad(descriptor, end)),
    }
}

/// Parses a method descriptor such as `(IJ)V`.
///
/// # Errors
/// When the text does not follow the grammar of the specification, section 4.3.3.
pub fn parse_method(descriptor: &str) -> Result<MethodType<'_>, ReadError> {
    let bytes = descriptor.as_bytes();
    if bytes.first() != Some(&b'(') {
        return Err(bad(descriptor, 0));
    }
    let mut params = Vec::new();
    let mut position = 1;
    while bytes.get(position) != Some(&b')') {
        let (param, end) = next_type(descriptor, position).map_err(|at| bad(descriptor, at))?;
        params.push(param);
        position = end;
    }
    let ret = match &bytes[position + 1..] {
        b"V" => None,
        _ => match next_type(descriptor, position + 1) {
            Ok((found, end)) if end == descriptor.len() => Some(found),
            Ok((_, end)) | Err(end) => return Err(bad(descriptor, end)),
        },
    };
    Ok(MethodType { params, ret })
}

/// The descriptors of a method's parameters, without the receiver. A method descriptor that makes no sense gives those
/// that were read until then.
pub fn parameter_descriptors(method: &str) -> impl Iterator<Item = &str> {
    let parameters = method.strip_prefix('(').unwrap_or_default();
    let mut position = 0;
    std::iter::from_fn(move || {
        let (_, end) = next_type(parameters, position).ok()?;
        let start = std::mem::replace(&mut position, end);
        Some(&parameters[start..end])
    })
}

fn bad(descriptor: &str, offset: usize) -> ReadError {
    ReadError::at(ReadErrorKind::BadDescriptor(descriptor.to_owned()), offset)
}

/// The type that starts at a byte and the byte behind it; or the byte that makes no sense.
///
/// Only ASCII bytes are used as boundaries, so the slices are at character boundaries.
fn next_type(descriptor: &str, start: usize) -> Result<(Type<'_>, usize), usize> {
    let bytes = descriptor.as_bytes();
    let single = |found| Ok((found, start + 1));
    match bytes.get(start) {
        Some(b'Z') => single(Type::Boolean),
        Some(b'B') => single(Type::Byte),
        Some(b'C') => single(Type::Char),
        Some(b'S') => single(Type::Short),
        Some(b'I') => single(Type::Int),
        Some(b'J') => single(Type::Long),
        Some(b'F') => single(Type::Float),
        Some(b'D') => single(Type::Double),
        Some(b'L') => {
            let rest = &descriptor[start + 1..];
            match rest.find(';') {
                Some(length) if length > 0 => {
                    Ok((Type::Object(&rest[..length]), start + 1 + length + 1))
                }
                _ => Err(start),
            }
        }
        Some(b'[') => {
            let count = bytes[start..].iter().take_while(|byte| **byte == b'[').count();
            let dimensions = u8::try_from(count).map_err(|_| start)?;
            let (_, end) = next_type(descriptor, start + count)?;
            Ok((Type::Array { dimensions, element: &descriptor[start + count..end] }, end))
        }
        _ => Err(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods() {
        let parsed = parse_method("(I[[JLjava/lang/String;D)[Ljava/util/List;").unwrap();
        assert_eq!(
            parsed.params,
            [
                Type::Int,
                Type::Array { dimensions: 2, element: "J" },
                Type::Object("java/lang/String"),
                Type::Double
            ]
        );
        assert_eq!(parsed.ret, Some(Type::Array { dimensions: 1, element: "Ljava/util/List;" }));
        assert_eq!(parsed.ret.unwrap().innermost(), Type::Object("java/util/List"));
        assert_eq!(parsed.param_slots(), 5);
        assert_eq!(parse_method("()V").unwrap().ret, None);
    }

    #[test]
    fn parameters_as_text() {
        let parameters = |method| parameter_descriptors(method).collect::<Vec<_>>();
        assert_eq!(
            parameters("(I[[JLjava/lang/String;[Lp/A;)[I"),
            ["I", "[[J", "Ljava/lang/String;", "[Lp/A;"]
        );
        assert_eq!(parameters("(Jé)V"), ["J"]);
        for method in ["()I", "(", "", "é", "Ljava/lang/String;", "([", "(Lp/A"] {
            assert!(parameters(method).is_empty(), "{method}");
        }
    }

    #[test]
    fn what_is_not_a_descriptor() {
        for text in ["", "(", "()", "()VV", "(V)V", "(L;)V", "(Lp/A)V", "(I", "é", "(é)V", "([)V"]
        {
            assert!(parse_method(text).is_err(), "{text}");
        }
        for text in ["", "V", "II", "[", "Lé", &"[".repeat(300)] {
            assert!(parse_field(text).is_err(), "{text}");
        }
        assert!(parse_field(&format!("{}I", "[".repeat(255))).is_ok());
        assert!(parse_field(&format!("{}I", "[".repeat(256))).is_err());
    }
}

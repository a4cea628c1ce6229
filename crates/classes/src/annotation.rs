//! Annotations, of which the atomicity specification and the guards of fields are read.

use std::sync::Arc;

use crate::classfile::{located, read_text};
use crate::error::{ReadError, ReadErrorKind};
use crate::pool::{Constant, ConstantPool, PoolIndex};
use crate::reader::Reader;

/// How deep annotations and arrays in annotations may nest. Compilers produce two or three levels;
/// hostile input must not exhaust the stack.
const MAX_DEPTH: u8 = 32;

/// An annotation of a class, field or method.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The annotation interface, in internal form.
    pub type_name: Arc<str>,
    /// The elements that are given, by name; those left to their default are absent.
    pub elements: Vec<(String, AnnotationValue)>,
}

impl Annotation {
    /// The value of an element, when it is given.
    #[must_use]
    pub fn element(&self, name: &str) -> Option<&AnnotationValue> {
        self.elements.iter().find(|(element, _)| element == name).map(|(_, value)| value)
    }

    /// The name of the annotation interface without package and enclosing classes, by which
    /// annotations such as `@GuardedBy` are recognised whichever library they come from.
    #[must_use]
    pub fn simple_name(&self) -> &str {
        self.type_name.rsplit(['/', '$']).next().unwrap_or(&self.type_name)
    }

    /// Whether this is its simple name, or its full one if that is what is asked for.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        match name.contains('.') {
            true => crate::binary_name(&self.type_name) == name,
            false => self.simple_name() == name,
        }
    }
}

/// The value of an element of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string.
    String(Arc<str>),
    /// A constant of an enum.
    Enum {
        /// The enum, in internal form.
        type_name: Arc<str>,
        /// The name of the constant.
        constant: Arc<str>,
    },
    /// A class literal, as a return descriptor.
    Class(Arc<str>),
    /// An array of values.
    Array(Vec<AnnotationValue>),
    /// An annotation within the annotation.
    Nested(Box<Annotation>),
}

/// Whether an attribute of this name holds annotations of its owner.
pub(crate) fn is_annotations(attribute: &str) -> bool {
    matches!(attribute, "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations")
}

/// Reads the content of an annotations attribute.
pub(crate) fn parse(
    reader: &mut Reader<'_>,
    pool: &ConstantPool,
) -> Result<Vec<Annotation>, ReadError> {
    let count = reader.u16()?;
    let mut annotations = Vec::with_capacity(reader.capacity(count, 4));
    for _ in 0..count {
        annotations.push(annotation(reader, pool, 0)?);
    }
    Ok(annotations)
}

fn annotation(
    reader: &mut Reader<'_>,
    pool: &ConstantPool,
    depth: u8,
) -> Result<Annotation, ReadError> {
    if depth > MAX_DEPTH {
        let what = format!("annotations nest deeper than {MAX_DEPTH} levels");
        return Err(reader.fail(ReadErrorKind::Invalid(what)));
    }
    let type_name = internal_name(&read_text(pool, reader)?);
    let count = reader.u16()?;
    let mut elements = Vec::with_capacity(reader.capacity(count, 5));
    for _ in 0..count {
        let name = read_text(pool, reader)?;
        elements.push((name.to_string(), value(reader, pool, depth)?));
    }
    Ok(Annotation { type_name, elements })
}

fn value(
    reader: &mut Reader<'_>,
    pool: &ConstantPool,
    depth: u8,
) -> Result<AnnotationValue, ReadError> {
    let place = reader.clone();
    Ok(match reader.u8()? {
        b'B' | b'C' | b'I' | b'S' | b'Z' | b'J' | b'F' | b'D' => {
            let index = PoolIndex(reader.u16()?);
            match located(&place, pool.get(index))? {
                Constant::Integer(value) => AnnotationValue::Int(value),
                Constant::Long(value) => AnnotationValue::Long(value),
                Constant::Float(value) => AnnotationValue::Float(value),
                Constant::Double(value) => AnnotationValue::Double(value),
                _ => {
                    let what = format!("constant #{} is not a number", index.0);
                    return Err(place.fail(ReadErrorKind::Invalid(what)));
                }
            }
        }
        b's' => AnnotationValue::String(read_text(pool, reader)?),
        b'e' => AnnotationValue::Enum {
            type_name: internal_name(&read_text(pool, reader)?),
            constant: read_text(pool, reader)?,
        },
        b'c' => AnnotationValue::Class(read_text(pool, reader)?),
        b'@' => AnnotationValue::Nested(Box::new(annotation(reader, pool, depth + 1)?)),
        b'[' => {
            if depth >= MAX_DEPTH {
                let what = format!("arrays nest deeper than {MAX_DEPTH} levels");
                return Err(place.fail(ReadErrorKind::Invalid(what)));
            }
            let count = reader.u16()?;
            let mut values = Vec::with_capacity(reader.capacity(count, 3));
            for _ in 0..count {
                values.push(value(reader, pool, depth + 1)?);
            }
            AnnotationValue::Array(values)
        }
        tag => {
            let what = format!("unknown kind of annotation value {tag:#04x}");
            return Err(place.fail(ReadErrorKind::Invalid(what)));
        }
    })
}

/// The internal name in a class descriptor: `Lp/A;` names `p/A`.
fn internal_name(descriptor: &Arc<str>) -> Arc<str> {
    match descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) {
        Some(name) => Arc::from(name),
        None => Arc::clone(descriptor),
    }
}

//! Parameters as people write them, and as class files do.
//!
//! `tryLock(long, java.util.concurrent.TimeUnit) boolean` is Java; a result that follows the
//! parenthesis at once, as in `tryLock(JLjava/util/concurrent/TimeUnit;)Z`, makes it a descriptor of
//! class files. A simple name is an imported class, else a class of `java.lang`, else a class
//! without package: what a simple name means never depends on the program.

use crate::keep;
use crate::words::Problem;

const PRIMITIVES: &[(&str, &str)] = &[
    ("boolean", "Z"),
    ("byte", "B"),
    ("char", "C"),
    ("double", "D"),
    ("float", "F"),
    ("int", "I"),
    ("long", "J"),
    ("short", "S"),
    ("void", "V"),
];

/// The types of `java.lang` that parameters have.
const JAVA_LANG: &[&str] = &[
    "Appendable",
    "AutoCloseable",
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "ClassLoader",
    "Cloneable",
    "Comparable",
    "Double",
    "Enum",
    "Error",
    "Exception",
    "Float",
    "Integer",
    "Iterable",
    "Long",
    "Number",
    "Object",
    "Process",
    "Record",
    "Runnable",
    "Runtime",
    "RuntimeException",
    "Short",
    "StackTraceElement",
    "String",
    "StringBuffer",
    "StringBuilder",
    "Thread",
    "ThreadGroup",
    "ThreadLocal",
    "Throwable",
    "Void",
];

/// A method as a file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedMethod {
    pub(crate) name: &'static str,
    pub(crate) descriptor: &'static str,
}

/// Reads a method: its name, its parameters if one overload is meant, and its result if only that one
/// is.
pub(crate) fn read_method(
    text: &str,
    imports: &[(&str, &'static str)],
) -> Result<NamedMethod, Problem> {
    let text = text.trim();
    let (name, rest) = match text.find('(') {
        Some(at) => (text[..at].trim(), &text[at..]),
        None => (text, ""),
    };
    let name = match name {
        "new" => "<init>",
        "" => return Err(Problem::new("the name of a method is missing")),
        _ if name.contains(char::is_whitespace) => {
            return Err(Problem::with_help(
                format!("`{name}` is no name of a method"),
                "several methods are separated by commas, a method and its effects by a colon",
            ));
        }
        _ => name,
    };
    let descriptor = match rest {
        "" | "(*)" => "*",
        _ => {
            let end = rest
                .rfind(')')
                .ok_or_else(|| Problem::new(format!("`)` is missing after `{text}`")))?;
            let (parameters, result) = (&rest[1..end], &rest[end + 1..]);
            if result.is_empty() || result.starts_with(char::is_whitespace) {
                keep(&java_descriptor(parameters, result.trim(), imports)?)
            } else if is_descriptor(parameters, result) {
                keep(rest)
            } else {
                return Err(Problem::with_help(
                    format!("`{rest}` is no descriptor of a class file"),
                    "a result in Java's words stands after a space, as in `get(int) Object`",
                ));
            }
        }
    };
    Ok(NamedMethod { name: keep(name), descriptor })
}

fn java_descriptor(
    parameters: &str,
    result: &str,
    imports: &[(&str, &'static str)],
) -> Result<String, Problem> {
    let mut descriptor = String::from("(");
    if !parameters.trim().is_empty() {
        for parameter in parameters.split(',') {
            let parameter = type_descriptor(parameter.trim(), imports)?;
            if parameter == "V" {
                return Err(Problem::new("`void` is no type of a parameter"));
            }
            descriptor.push_str(&parameter);
        }
    }
    descriptor.push(')');
    match result {
        "" => descriptor.push('*'),
        _ => descriptor.push_str(&type_descriptor(result, imports)?),
    }
    Ok(descriptor)
}

fn type_descriptor(text: &str, imports: &[(&str, &'static str)]) -> Result<String, Problem> {
    let (element, dimensions) = match text.strip_suffix("...") {
        Some(element) => (element, 1),
        None => (text, 0),
    };
    let mut element = element.trim();
    let mut dimensions = dimensions;
    while let Some(inner) = element.strip_suffix("[]") {
        element = inner.trim();
        dimensions += 1;
    }
    if element.is_empty() || element.contains(|c: char| c.is_whitespace() || "<>[];()".contains(c))
    {
        return Err(Problem::with_help(
            format!("`{text}` is no type"),
            "types are written without type arguments and without names of parameters",
        ));
    }
    let name = match PRIMITIVES.iter().find(|(name, _)| *name == element) {
        Some((_, descriptor)) => (*descriptor).to_owned(),
        None => format!("L{};", class_name(element, imports)),
    };
    Ok("[".repeat(dimensions) + &name)
}

fn class_name(name: &str, imports: &[(&str, &'static str)]) -> String {
    if name.contains('.') || name.contains('/') {
        return name.replace('.', "/");
    }
    if let Some((_, class)) = imports.iter().find(|(simple, _)| *simple == name) {
        return (*class).to_owned();
    }
    if JAVA_LANG.contains(&name) { format!("java/lang/{name}") } else { name.to_owned() }
}

/// Whether these are the parameters and the result of a descriptor, whose result may be any.
fn is_descriptor(parameters: &str, result: &str) -> bool {
    let mut rest = parameters;
    while !rest.is_empty() {
        match split_type(rest) {
            Some((parameter, after)) if parameter != "V" => rest = after,
            _ => return false,
        }
    }
    result == "*" || split_type(result).is_some_and(|(_, after)| after.is_empty())
}

/// The first type of a list of descriptors, and the rest.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let dimensions = text.len() - text.trim_start_matches('[').len();
    let length = match text.as_bytes().get(dimensions)? {
        b'L' => text[dimensions..].find(';')? + 1,
        b'Z' | b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'V' => 1,
        _ => return None,
    };
    Some(text.split_at(dimensions + length))
}

/// A type of a class file in Java's words.
#[must_use]
pub fn type_text(descriptor: &str) -> String {
    let dimensions = descriptor.len() - descriptor.trim_start_matches('[').len();
    let element = &descriptor[dimensions..];
    let name = match element.strip_prefix('L').and_then(|name| name.strip_suffix(';')) {
        Some(class) => match class.strip_prefix("java/lang/") {
            Some(simple) if JAVA_LANG.contains(&simple) => simple.to_owned(),
            _ => class.replace('/', "."),
        },
        None => PRIMITIVES
            .iter()
            .find(|(_, code)| *code == element)
            .map_or_else(|| element.to_owned(), |(name, _)| (*name).to_owned()),
    };
    name + &"[]".repeat(dimensions)
}

/// A method with its descriptor or pattern, as a file names it.
#[must_use]
pub fn method_text(method: &str, descriptor: &str) -> String {
    let name = if method == "<init>" { "new" } else { method };
    let Some((parameters, result)) =
        descriptor.strip_prefix('(').and_then(|rest| rest.split_once(')'))
    else {
        return name.to_owned();
    };
    let mut types = Vec::new();
    let mut rest = parameters;
    while let Some((parameter, after)) = split_type(rest) {
        types.push(type_text(parameter));
        rest = after;
    }
    let parameters = types.join(", ");
    match result {
        "*" => format!("{name}({parameters})"),
        // A constructor has no other result.
        "V" if method == "<init>" => format!("{name}({parameters}) void"),
        _ => format!("{name}({parameters}) {}", type_text(result)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(text: &str) -> Result<&'static str, String> {
        let imports = [("TimeUnit", "java/util/concurrent/TimeUnit")];
        read_method(text, &imports)
            .map(|method| method.descriptor)
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn parameters_are_java_or_descriptors() {
        assert_eq!(descriptor("lock"), Ok("*"));
        assert_eq!(descriptor("lock(*)"), Ok("*"));
        assert_eq!(descriptor("lock()"), Ok("()*"));
        assert_eq!(descriptor("lock() void"), Ok("()V"));
        assert_eq!(descriptor("lock()V"), Ok("()V"));
        assert_eq!(descriptor("lock (I)*"), Ok("(I)*"));
        assert_eq!(
            descriptor("tryLock(long, TimeUnit) boolean"),
            Ok("(JLjava/util/concurrent/TimeUnit;)Z")
        );
        assert_eq!(descriptor("f(Object[][], I, int...)"), Ok("([[Ljava/lang/Object;LI;[I)*"));
        assert_eq!(descriptor("f(a.B$C) a.B"), Ok("(La/B$C;)La/B;"));
    }

    #[test]
    fn what_is_no_type_is_said_to_be_none() {
        assert!(descriptor("f(List<String>)").is_err());
        assert!(descriptor("f(int x)").is_err());
        assert!(descriptor("f(void)").is_err());
        assert!(descriptor("f(I)Q").is_err());
        assert!(descriptor("f(").is_err());
        assert!(descriptor("f g").is_err());
    }

    #[test]
    fn methods_are_written_as_they_are_read() {
        for text in ["lock", "lock()", "lock() void", "new(int) void", "f(a.B[], long, Object) int"]
        {
            let method = read_method(text, &[]).unwrap();
            assert_eq!(method_text(method.name, method.descriptor), text);
        }
    }
}

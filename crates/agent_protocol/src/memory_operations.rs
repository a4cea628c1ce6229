//! The operations of `jdk.internal.misc.Unsafe` that order threads, as families of methods.
//!
//! The code of the library makes all its volatile accesses by name of a place in memory, and all its atomic
//! operations, through these methods; so do `VarHandle`s, field updaters and the classes of
//! `java.util.concurrent.atomic`. Where the library is rewritten, a call of one becomes a call of a static method of the
//! Java half with the same operands, which is generated from this table: it does the same, and says what that orders.

/// The class of the Java half that has the static methods.
pub const MEMORY_OPERATIONS_CLASS: &str = "java/lang/ScissionUnsafe";

/// What an operation orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// What follows comes after what was released to the place.
    Acquire,
    /// What came before is released to the place.
    Release,
    /// Both.
    Both,
    /// What the object, whose reference is written or was read, had in its final fields when it was constructed: an access
    /// in plain or opaque mode orders nothing else.
    FinalFields,
    /// What came before the last fence of the thread is released to the place: a write in opaque mode orders nothing else.
    AfterFence,
}

/// What an operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Get,
    Put,
    /// Writes if the place holds what is expected, and says whether it did.
    CompareAndSet,
    /// Writes if the place holds what is expected, and gives what it held.
    CompareAndExchange,
    /// Always writes, and gives what the place held.
    Update,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOperation {
    /// The name of the method, as in `Unsafe`.
    pub name: String,
    /// Its descriptor in `Unsafe`.
    pub descriptor: String,
    /// What it orders.
    pub orders: Orders,
    shape: Shape,
    /// The type of the place, in Java.
    java_type: &'static str,
    /// The word for that type in names of methods.
    type_word: &'static str,
}

impl MemoryOperation {
    /// The descriptor of the static method, whose first operand is the object of this class that has the operation.
    #[must_use]
    pub fn static_descriptor(&self, class: &str) -> String {
        self.descriptor.replacen('(', &format!("(L{class};"), 1)
    }
}

/// The types of places: the word in names of methods, the type in Java, and in descriptors. `Object` is what releases
/// before 12 call `Reference`.
const TYPES: [(&str, &str, &str); 10] = [
    ("Boolean", "boolean", "Z"),
    ("Byte", "byte", "B"),
    ("Char", "char", "C"),
    ("Short", "short", "S"),
    ("Int", "int", "I"),
    ("Long", "long", "J"),
    ("Float", "float", "F"),
    ("Double", "double", "D"),
    ("Reference", "Object", "Ljava/lang/Object;"),
    ("Object", "Object", "Ljava/lang/Object;"),
];

/// The endings of names, and what they order.
const ACCESSES: [(&str, Orders); 3] =
    [("", Orders::Both), ("Acquire", Orders::Acquire), ("Release", Orders::Release)];

/// Every operation, in a fixed order. Plain ones and reads in opaque mode order nothing, and are not among them.
#[must_use]
pub fn memory_operations() -> Vec<MemoryOperation> {
    let mut operations = Vec::new();
    for (type_word, java_type, descriptor) in TYPES {
        let mut add = |name: String, shape: Shape, orders: Orders| {
            let parameters = match shape {
                Shape::Get => String::new(),
                Shape::Put | Shape::Update => descriptor.to_owned(),
                Shape::CompareAndSet | Shape::CompareAndExchange => descriptor.repeat(2),
            };
            let result = match shape {
                Shape::Get | Shape::Update | Shape::CompareAndExchange => descriptor,
                Shape::Put => "V",
                Shape::CompareAndSet => "Z",
            };
            let descriptor = format!("(Ljava/lang/Object;J{parameters}){result}");
            operations.push(MemoryOperation {
                name,
                descriptor,
                orders,
                shape,
                java_type,
                type_word,
            });
        };
        let is_reference = java_type == "Object";
        let is_floating = matches!(java_type, "float" | "double");
        if is_reference {
            for ending in ["", "Opaque"] {
                add(format!("get{type_word}{ending}"), Shape::Get, Orders::FinalFields);
                add(format!("put{type_word}{ending}"), Shape::Put, Orders::FinalFields);
            }
        }
        if !is_reference {
            add(format!("put{type_word}Opaque"), Shape::Put, Orders::AfterFence);
        }
        for ending in ["Volatile", "Acquire"] {
            add(format!("get{type_word}{ending}"), Shape::Get, Orders::Acquire);
        }
        for ending in ["Volatile", "Release"] {
            add(format!("put{type_word}{ending}"), Shape::Put, Orders::Release);
        }
        add(format!("compareAndSet{type_word}"), Shape::CompareAndSet, Orders::Both);
        for (ending, orders) in ACCESSES {
            add(format!("weakCompareAndSet{type_word}{ending}"), Shape::CompareAndSet, orders);
            let exchange = format!("compareAndExchange{type_word}{ending}");
            add(exchange, Shape::CompareAndExchange, orders);
            add(format!("getAndSet{type_word}{ending}"), Shape::Update, orders);
            if !is_reference && java_type != "boolean" {
                add(format!("getAndAdd{type_word}{ending}"), Shape::Update, orders);
            }
            if !is_reference && !is_floating {
                for operator in ["Or", "And", "Xor"] {
                    let name = format!("getAndBitwise{operator}{type_word}{ending}");
                    add(name, Shape::Update, orders);
                }
            }
        }
    }
    operations
}

/// The source of the class of the Java half.
#[must_use]
pub fn java_memory_operations() -> String {
    let mut source = String::from(
        "package java.lang;\n\n\
         import jdk.internal.misc.Unsafe;\n\
         import jdk.internal.vm.annotation.ForceInline;\n\n\
         /** What the library does to memory, with the order that it makes; generated from a table of `agent_protocol`. */\n\
         @SuppressWarnings({\"deprecation\", \"removal\"})\n\
         public final class ScissionUnsafe {\n    private ScissionUnsafe() {}\n",
    );
    for operation in memory_operations() {
        source.push_str(&java_method(&operation));
    }
    source.push_str("}\n");
    source
}

fn java_method(operation: &MemoryOperation) -> String {
    const ACQUIRE: &str = "        ScissionOrder.acquire(base, offset);\n";
    const RELEASE: &str = "        ScissionOrder.release(base, offset);\n";
    let MemoryOperation { name, orders, shape, java_type, type_word, .. } = operation;
    let (parameters, arguments, result) = match shape {
        Shape::Get => (String::new(), "", *java_type),
        Shape::Put => (format!(", {java_type} value"), ", value", "void"),
        Shape::Update => (format!(", {java_type} value"), ", value", *java_type),
        Shape::CompareAndSet => {
            (format!(", {java_type} expected, {java_type} value"), ", expected, value", "boolean")
        }
        Shape::CompareAndExchange => {
            (format!(", {java_type} expected, {java_type} value"), ", expected, value", *java_type)
        }
    };
    let releases = matches!(orders, Orders::Release | Orders::Both);
    let acquires = matches!(orders, Orders::Acquire | Orders::Both);
    let is_of_final_fields = *orders == Orders::FinalFields;
    let mut body = String::new();
    // An attempt that fails releases nothing. Whether one can succeed is asked first: to answer that it did not, because
    // the place was seen to hold something else, is what the operation itself would do.
    let compares = matches!(shape, Shape::CompareAndSet | Shape::CompareAndExchange);
    if releases && compares && !matches!(*java_type, "float" | "double") {
        let found = if *shape == Shape::CompareAndSet { "false" } else { "found" };
        body.push_str(&format!(
            "        {java_type} found = unsafe.get{type_word}Volatile(base, offset);\n        \
             if (found != expected) {{\n"
        ));
        if acquires {
            body.push_str("            ScissionOrder.acquire(base, offset);\n");
        }
        body.push_str(&format!("            return {found};\n        }}\n"));
    }
    if releases {
        body.push_str(RELEASE);
    } else if *orders == Orders::AfterFence {
        body.push_str("        ScissionOrder.releaseAfterFence(base, offset);\n");
    } else if is_of_final_fields && *shape == Shape::Put {
        body.push_str("        ScissionOrder.releaseFinal(base, offset, value);\n");
    }
    let call = format!("unsafe.{name}(base, offset{arguments})");
    if result == "void" {
        body.push_str(&format!("        {call};\n"));
    } else {
        body.push_str(&format!("        {result} result = {call};\n"));
    }
    if acquires {
        body.push_str(ACQUIRE);
    } else if is_of_final_fields && *shape == Shape::Get {
        body.push_str("        ScissionOrder.acquireFinal(base, offset, result);\n");
    }
    if result != "void" {
        body.push_str("        return result;\n");
    }
    format!(
        "\n    @ForceInline\n    public static {result} {name}(Unsafe unsafe, Object base, long offset{parameters}) {{\n{body}    }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_once() {
        let operations = memory_operations();
        let names: std::collections::BTreeSet<_> =
            operations.iter().map(|it| (&it.name, &it.descriptor)).collect();
        assert_eq!(names.len(), operations.len());
    }

    #[test]
    fn an_attempt_that_cannot_succeed_releases_nothing() {
        let operations = memory_operations();
        let set = operations.iter().find(|it| it.name == "compareAndSetInt").unwrap();
        assert_eq!(set.descriptor, "(Ljava/lang/Object;JII)Z");
        let source = java_method(set);
        let (asked, released) = (source.find("found != expected"), source.find("release("));
        assert!(asked.is_some() && asked < released, "{source}");
    }
}

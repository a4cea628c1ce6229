//! The forms in which a class is named.
//!
//! Class files write `java/util/Map$Entry` (the internal form), users and reports write
//! `java.util.Map$Entry` (the binary name). Inside Scission classes are always named in internal
//! form; binary names appear in findings and in what the user types.

/// The binary name of an internal name: `java.lang.Object` for `java/lang/Object`.
#[must_use]
pub fn binary_name(internal: &str) -> String {
    internal.replace('/', ".")
}

/// The internal name of a binary name: `java/lang/Object` for `java.lang.Object`.
#[must_use]
pub fn internal_name(binary: &str) -> String {
    binary.replace('.', "/")
}

/// The package of an internal name, in internal form; empty for the unnamed package.
#[must_use]
pub fn package_of(internal: &str) -> &str {
    internal.rsplit_once('/').map_or("", |(package, _)| package)
}

/// The path of the source file below a source root: the package of the class is its directory.
#[must_use]
pub fn source_path(internal: &str, source_file: &str) -> String {
    match package_of(internal) {
        "" => source_file.to_owned(),
        package => format!("{package}/{source_file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(binary_name("java/util/Map$Entry"), "java.util.Map$Entry");
        assert_eq!(internal_name("java.util.Map$Entry"), "java/util/Map$Entry");
        assert_eq!(package_of("java/util/Map$Entry"), "java/util");
        assert_eq!(package_of("Main"), "");
        assert_eq!(source_path("java/util/Map$Entry", "Map.java"), "java/util/Map.java");
        assert_eq!(source_path("Main", "Main.java"), "Main.java");
    }
}

//! Checks the files in `data` and packs them into tables, so that nothing of ours is parsed when
//! Scission starts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use model_format::{Model, ModelFile, parse, row_hash, rust_source};

fn main() {
    println!("cargo::rerun-if-changed=data");
    let mut paths = Vec::new();
    collect(Path::new("data"), &mut paths)
        .unwrap_or_else(|error| fail(&[format!("data: {error}")]));
    paths.sort();

    let mut all = ModelFile::default();
    let mut files = String::new();
    let mut problems = Vec::new();
    for path in &paths {
        let below = path.strip_prefix("data").unwrap_or(path);
        let name = below.to_string_lossy().replace('\\', "/");
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| fail(&[format!("{name}: {error}")]));
        match parse(&name, &text, false) {
            Ok(file) => {
                let _ = writeln!(files, "    {name:?},");
                all.rows.extend(file.rows);
                all.classes.extend(file.classes);
                all.methods.extend(file.methods);
                all.fields.extend(file.fields);
                all.entry_points.extend(file.entry_points);
                all.components.extend(file.components);
                all.supertypes.extend(file.supertypes);
            }
            Err(found) => problems.extend(found.iter().map(|problem| format!("data/{problem}"))),
        }
    }
    problems.extend(said_twice(&all));
    if !problems.is_empty() {
        fail(&problems);
    }

    let mut source = rust_source(&all);
    let _ = writeln!(source, "pub(crate) static FILES: &[&str] = &[\n{files}];");
    source.push_str(&index(&all));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    fs::write(out.join("tables.rs"), source)
        .unwrap_or_else(|error| fail(&[format!("tables.rs: {error}")]));
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "models") {
            found.push(path);
        }
    }
    Ok(())
}

/// Statements that two files, or two lines, make about the same thing.
fn said_twice(all: &ModelFile) -> Vec<String> {
    let mut first: BTreeMap<String, (&str, u32)> = BTreeMap::new();
    let statements = all
        .rows
        .iter()
        .map(|row| (format!("{}.{}{}", row.class, row.method, row.descriptor), row.source))
        .chain(
            all.supertypes.iter().map(|row| (format!("supertypes of {}", row.class), row.source)),
        )
        .chain(
            all.classes
                .iter()
                .map(|row| (format!("{:?} {:?}", row.scope, row.property), row.source)),
        )
        .chain(all.methods.iter().map(|row| {
            (
                format!("{}.{}{} {:?}", row.class, row.method, row.descriptor, row.property),
                row.source,
            )
        }))
        .chain(all.entry_points.iter().map(|row| {
            (format!("entry {:?} {}{}", row.matcher, row.method, row.descriptor), row.source)
        }));
    let mut problems = Vec::new();
    for (what, source) in statements {
        let (file, line) = (source.file, source.line);
        if let Some((before, at)) = first.insert(what.clone(), (file, line)) {
            problems.push(format!("data/{file}:{line}: {what} is said in {before}:{at} already"));
        }
    }
    problems
}

/// A hash table from class and method to the first row of that method, with linear probing; 0 is an
/// empty slot, and a position is stored plus 1.
fn index(all: &ModelFile) -> String {
    let mut rows: Vec<&Model> = all.rows.iter().collect();
    rows.sort_by_key(|row| (row.class, row.method, row.descriptor));
    let size = (rows.len() * 2).next_power_of_two();
    let mut slots = vec![0_u16; size];
    for (position, row) in rows.iter().enumerate() {
        let is_first = position == 0
            || (rows[position - 1].class, rows[position - 1].method) != (row.class, row.method);
        if is_first {
            let mut slot = row_hash(row.class, row.method) as usize % size;
            while slots[slot] != 0 {
                slot = (slot + 1) % size;
            }
            slots[slot] = u16::try_from(position + 1).expect("fewer than 65,535 rows");
        }
    }
    format!("pub(crate) static ROW_INDEX: [u16; {size}] = {slots:?};\n")
}

/// Ends the build with these messages.
fn fail(problems: &[String]) -> ! {
    for problem in problems {
        println!("cargo::error={problem}");
    }
    std::process::exit(1)
}

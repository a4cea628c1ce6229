//! Jars, good and bad.

use std::io::{Cursor, Write};
use std::sync::Arc;

use classes::{LoadConfig, LoadError, Loaded, load_bytes};
use findings::GapKind;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::tiny_class::empty_class;

const JAVA_17: (u16, u16) = (61, 0);

pub(crate) fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    jar_with(CompressionMethod::Deflated, entries)
}

fn jar_with(method: CompressionMethod, entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read_with(bytes: &[u8], config: &LoadConfig) -> Loaded {
    load_bytes("app.jar", Arc::from(bytes), config, &()).unwrap()
}

fn read(bytes: &[u8]) -> Loaded {
    read_with(bytes, &LoadConfig::default())
}

fn origins(loaded: &Loaded) -> Vec<&str> {
    loaded.classes.iter().map(|found| found.origin.as_str()).collect()
}

fn gaps(loaded: &Loaded) -> Vec<(GapKind, &str)> {
    loaded.gaps.iter().map(|gap| (gap.kind, gap.place.as_str())).collect()
}

#[test]
fn entries_come_in_order_of_name_and_other_files_do_not_matter() {
    for method in [CompressionMethod::Deflated, CompressionMethod::Stored] {
        let loaded = read(&jar_with(
            method,
            &[
                ("p/B.class", &empty_class("p/B", JAVA_17)),
                ("README", b"not a class"),
                ("META-INF/SIGNER.RSA", b"\0\x01"),
                ("p/A.class", &empty_class("p/A", JAVA_17)),
            ],
        ));
        assert_eq!(origins(&loaded), ["app.jar!/p/A.class", "app.jar!/p/B.class"]);
        assert!(loaded.classes.iter().all(|found| found.is_application));
        assert!(loaded.gaps.is_empty());
    }
}

#[test]
fn a_shell_script_may_precede_the_jar() {
    let mut bytes = b"#!/bin/sh\nexec java -jar $0\n".to_vec();
    bytes.extend(jar(&[("p/A.class", &empty_class("p/A", JAVA_17))]));
    assert_eq!(origins(&read(&bytes)), ["app.jar!/p/A.class"]);
}

#[test]
fn a_release_sees_its_own_version_of_a_class() {
    let [base, nine, seventeen, only_new] = [("p/A", 52), ("p/A", 53), ("p/A", 61), ("p/New", 61)]
        .map(|(name, major)| empty_class(name, (major, 0)));
    let entries: Vec<(&str, &[u8])> = vec![
        ("p/A.class", &base),
        ("META-INF/versions/9/p/A.class", &nine),
        ("META-INF/versions/17/p/A.class", &seventeen),
        ("META-INF/versions/17/p/New.class", &only_new),
    ];
    let manifest: &[u8] = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n";
    let with_manifest = [&entries[..], &[("META-INF/MANIFEST.MF", manifest)]].concat();
    let multi_release = jar(&with_manifest);
    let majors = |release| {
        let config = LoadConfig { release, ..LoadConfig::default() };
        let loaded = read_with(&multi_release, &config);
        assert!(loaded.gaps.is_empty(), "{:?}", loaded.gaps);
        loaded.classes.iter().map(|found| found.class.version.major).collect::<Vec<_>>()
    };
    assert_eq!(majors(8), [52]);
    assert_eq!(majors(9), [53]);
    assert_eq!(majors(16), [53]);
    assert_eq!(majors(21), [61, 61]);

    let loaded = read(&jar(&entries));
    assert_eq!(origins(&loaded), ["app.jar!/p/A.class"], "without the manifest's permission");
}

#[test]
fn jars_in_jars_are_read_and_the_class_says_its_own_name() {
    let library = jar(&[("p/Lib.class", &empty_class("p/Lib", JAVA_17))]);
    let app = empty_class("p/App", JAVA_17);
    let boot = jar(&[("BOOT-INF/classes/p/App.class", &app), ("BOOT-INF/lib/x.jar", &library)]);
    let loaded = read(&boot);
    assert_eq!(
        origins(&loaded),
        ["app.jar!/BOOT-INF/classes/p/App.class", "app.jar!/BOOT-INF/lib/x.jar!/p/Lib.class"]
    );
    assert_eq!(&*loaded.classes[0].class.name, "p/App");
    assert!(loaded.classes[1].is_application);

    let mut nested = boot;
    for _ in 0..3 {
        nested = jar(&[("inner.jar", &nested)]);
    }
    let loaded = read(&nested);
    assert_eq!(loaded.classes.len(), 1, "the fourth level is left out");
    let place = "app.jar!/inner.jar!/inner.jar!/inner.jar!/BOOT-INF/lib/x.jar";
    assert_eq!(gaps(&loaded), [(GapKind::Limit, place)]);
}

#[test]
fn a_broken_inner_jar_is_a_gap() {
    let loaded = read(&jar(&[
        ("lib/broken.jar", b"PK\x03\x04 and nothing more"),
        ("p/A.class", &empty_class("p/A", JAVA_17)),
    ]));
    assert_eq!(origins(&loaded), ["app.jar!/p/A.class"]);
    assert_eq!(gaps(&loaded), [(GapKind::Unreadable, "app.jar!/lib/broken.jar")]);
}

#[test]
fn the_first_of_two_copies_counts() {
    let loaded = read(&jar(&[
        ("a/A.class", &empty_class("p/A", (52, 0))),
        ("b/A.class", &empty_class("p/A", JAVA_17)),
        ("c/A.class", &empty_class("p/A", (52, 0))),
    ]));
    assert_eq!(origins(&loaded), ["app.jar!/a/A.class"]);
    assert_eq!(gaps(&loaded), [(GapKind::DuplicateClass, "app.jar!/b/A.class")]);
    assert_eq!(
        loaded.gaps[0].detail,
        "`p/A` is already known from app.jar!/a/A.class, in another form"
    );
}

#[test]
fn a_library_in_two_versions_is_one_gap() {
    let version = |major| {
        let [a, b] = ["p/A", "p/B"].map(|name| empty_class(name, (major, 0)));
        jar(&[("p/A.class", &a), ("p/B.class", &b)])
    };
    let loaded = read(&jar(&[("lib-1.jar", &version(52)), ("lib-2.jar", &version(61))]));
    assert_eq!(loaded.classes.len(), 2);
    assert_eq!(gaps(&loaded), [(GapKind::DuplicateClass, "app.jar!/lib-2.jar")]);
    assert_eq!(loaded.gaps[0].count, 2);
    assert_eq!(
        loaded.gaps[0].detail,
        "2 classes are already known from app.jar!/lib-1.jar, in another form"
    );
}

#[test]
fn a_malformed_class_is_a_gap_with_byte_and_context() {
    let mut broken = empty_class("p/Broken", JAVA_17);
    broken.truncate(broken.len() - 1);
    let loaded = read(&jar(&[
        ("p/A.class", &empty_class("p/A", JAVA_17)),
        ("p/Broken.class", &broken),
        ("p/Empty.class", b""),
        ("p/Future.class", &empty_class("p/Future", (99, 0))),
    ]));
    assert_eq!(loaded.classes.len(), 2);
    assert_eq!(
        gaps(&loaded),
        [
            (GapKind::MalformedClass, "app.jar!/p/Broken.class"),
            (GapKind::MalformedClass, "app.jar!/p/Empty.class"),
            (GapKind::UnknownVersion, "app.jar!/p/Future.class"),
        ]
    );
    let detail = &loaded.gaps[0].detail;
    assert!(detail.starts_with("truncated: 1 more byte needed at byte "), "{detail}");
    assert!(detail.ends_with(", in the attribute count of the class"), "{detail}");
}

#[test]
fn names_that_climb_are_names() {
    let loaded = read(&jar(&[
        ("../../p/A.class", &empty_class("p/A", JAVA_17)),
        ("/etc/p/B.class", &empty_class("p/B", JAVA_17)),
        ("..\\p\\C.class", &empty_class("p/C", JAVA_17)),
        (
            "META-INF/MANIFEST.MF",
            b"Class-Path: ../../../etc/passwd /etc/ file:///etc/hosts app.jar\n",
        ),
    ]));
    // Nothing is unpacked: an entry has a class or none, whatever it is called.
    for found in &loaded.classes {
        assert!(found.origin.as_str().starts_with("app.jar!/"), "{}", found.origin.as_str());
    }
    assert!(loaded.gaps.iter().all(|gap| gap.place.starts_with("app.jar")), "{:?}", loaded.gaps);
}

#[test]
fn a_jar_in_a_jar_in_a_jar_ends_somewhere() {
    let mut bytes = jar(&[("p/A.class", &empty_class("p/A", JAVA_17))]);
    for _ in 0..200 {
        bytes = jar(&[("lib/inner.jar", &bytes)]);
    }
    let loaded = read(&bytes);
    assert!(loaded.classes.len() <= 1);
    assert!(loaded.classes.len() == 1 || !loaded.gaps.is_empty(), "{:?}", loaded.gaps);
}

#[test]
fn a_decompression_bomb_is_bounded() {
    let bomb = vec![0; 70 << 20];
    let loaded =
        read(&jar(&[("p/A.class", &empty_class("p/A", JAVA_17)), ("p/Bomb.class", &bomb)]));
    assert_eq!(loaded.classes.len(), 1);
    assert_eq!(gaps(&loaded), [(GapKind::Unreadable, "app.jar!/p/Bomb.class")]);
    assert!(loaded.gaps[0].detail.starts_with("larger than the limit of 67108864 bytes"));
}

#[test]
fn the_limit_on_the_total_cuts_in_order() {
    let class = empty_class("p/A", JAVA_17);
    let names: Vec<String> = (0..300).map(|index| format!("p/A{index:03}")).collect();
    let contents: Vec<Vec<u8>> = names.iter().map(|name| empty_class(name, JAVA_17)).collect();
    let files: Vec<String> = names.iter().map(|name| format!("{name}.class")).collect();
    let entries: Vec<(&str, &[u8])> =
        files.iter().map(String::as_str).zip(contents.iter().map(Vec::as_slice)).collect();
    let config =
        LoadConfig { max_total_bytes: 200 * (class.len() as u64 + 3), ..LoadConfig::default() };
    let loaded = read_with(&jar(&entries), &config);
    assert_eq!(loaded.classes.len(), 200);
    assert_eq!(gaps(&loaded), [(GapKind::Limit, "app.jar!/p/A200.class")]);
}

#[test]
fn a_declared_size_is_checked() {
    let mut bytes = jar(&[("p/A.class", &empty_class("p/A", JAVA_17))]);
    let central = find(&bytes, b"PK\x01\x02");
    bytes[central + 24..central + 28].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let local = find(&bytes, b"PK\x03\x04");
    bytes[local + 22..local + 26].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let loaded = read(&bytes);
    assert_eq!(origins(&loaded), ["app.jar!/p/A.class"]);
    assert!(loaded.gaps.is_empty());

    bytes[central + 20..central + 24].copy_from_slice(&0x7fff_fff0_u32.to_le_bytes());
    let loaded = read(&bytes);
    assert_eq!(gaps(&loaded), [(GapKind::Unreadable, "app.jar!/p/A.class")]);
}

#[test]
fn encrypted_and_exotic_entries_are_gaps() {
    let good = jar(&[("p/A.class", &empty_class("p/A", JAVA_17))]);
    let central = find(&good, b"PK\x01\x02");

    let mut encrypted = good.clone();
    encrypted[central + 8] |= 1;
    let loaded = read(&encrypted);
    assert_eq!(gaps(&loaded), [(GapKind::Unreadable, "app.jar!/p/A.class")]);
    assert!(loaded.gaps[0].detail.starts_with("encryption is not supported at byte "));

    let mut exotic = good;
    exotic[central + 10] = 93;
    let loaded = read(&exotic);
    assert!(loaded.gaps[0].detail.starts_with("compression method 93 is not supported"));
}

#[test]
fn a_truncated_jar_gives_what_can_be_saved() {
    let names = ["p/A", "p/B", "p/C"].map(|name| (name, empty_class(name, JAVA_17)));
    let files = names.each_ref().map(|(name, _)| format!("{name}.class"));
    let entries: Vec<(&str, &[u8])> =
        files.iter().map(String::as_str).zip(names.iter().map(|(_, bytes)| &**bytes)).collect();
    let sized = jar(&entries);
    let streamed = {
        let mut writer = ZipWriter::new_stream(Vec::new());
        for (name, content) in &entries {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    for whole in [sized, streamed] {
        let central = find(&whole, b"PK\x01\x02");
        let loaded = read(&whole[..central + 20]);
        assert_eq!(loaded.classes.len(), 3);
        assert_eq!(gaps(&loaded), [(GapKind::Unreadable, "app.jar")]);
        let detail = &loaded.gaps[0].detail;
        assert!(detail.starts_with("there is no end-of-central-directory record at byte "));
        assert!(detail.contains("3 entries were recovered"), "{detail}");

        let third = find_last(&whole, b"PK\x03\x04");
        let loaded = read(&whole[..third + 60]);
        assert_eq!(origins(&loaded), ["app.jar!/p/A.class", "app.jar!/p/B.class"]);
        let detail = &loaded.gaps[0].detail;
        assert!(detail.ends_with("others may be lost (among them `p/C.class`)"), "{detail}");
    }
}

#[test]
fn a_jar_without_anything_to_save_is_an_error() {
    let whole = jar(&[("p/A.class", &empty_class("p/A", JAVA_17))]);
    for length in [0, 4, 30, 45] {
        let error = load_bytes("app.jar", Arc::from(&whole[..length]), &LoadConfig::default(), &())
            .unwrap_err();
        assert!(matches!(error, LoadError::Damaged { .. }));
        assert!(error.to_string().starts_with("cannot read `app.jar`: "), "{error}");
    }
}

#[test]
fn no_truncation_and_no_flipped_byte_panics() {
    let inner = jar(&[("p/B.class", &empty_class("p/B", JAVA_17))]);
    let (a, older_a) = (empty_class("p/A", JAVA_17), empty_class("p/A", (52, 0)));
    let entries: Vec<(&str, &[u8])> = vec![
        ("META-INF/MANIFEST.MF", b"Multi-Release: true\n"),
        ("META-INF/versions/9/p/A.class", &a),
        ("lib/b.jar", &inner),
        ("p/A.class", &older_a),
        ("p/Empty.class", b""),
    ];
    let config = LoadConfig { max_archive_bytes: 1 << 20, ..LoadConfig::default() };
    for method in [CompressionMethod::Deflated, CompressionMethod::Stored] {
        let whole = jar_with(method, &entries);
        for index in 0..whole.len() {
            let _ = load_bytes("app.jar", Arc::from(&whole[..index]), &config, &());
            for pattern in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[index] ^= pattern;
                let _ = load_bytes("app.jar", Arc::from(damaged), &config, &());
            }
        }
    }
}

#[test]
fn a_zip64_archive_is_read() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("p/A.class", SimpleFileOptions::default().large_file(true)).unwrap();
    writer.write_all(&empty_class("p/A", JAVA_17)).unwrap();
    let mut bytes = writer.finish().unwrap().into_inner();
    assert_eq!(origins(&read(&bytes)), ["app.jar!/p/A.class"]);

    // The directory itself in Zip64 form, as archives with more than 65535 entries have it.
    let end = find_last(&bytes, b"PK\x05\x06");
    let record: Vec<u8> = bytes.drain(end..).collect();
    let wide = |at: usize| {
        let four: [u8; 4] = record[at..at + 4].try_into().unwrap();
        u64::from(u32::from_le_bytes(four)).to_le_bytes()
    };
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44_u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(wide(12));
    bytes.extend(wide(16));
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend((end as u64).to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    assert_eq!(origins(&read(&bytes)), ["app.jar!/p/A.class"]);
    let prefixed = [b"#!/bin/sh\n", &bytes[..]].concat();
    assert_eq!(origins(&read(&prefixed)), ["app.jar!/p/A.class"]);
}

fn find(bytes: &[u8], signature: &[u8; 4]) -> usize {
    bytes.windows(4).position(|window| window == signature).unwrap()
}

fn find_last(bytes: &[u8], signature: &[u8; 4]) -> usize {
    bytes.windows(4).rposition(|window| window == signature).unwrap()
}

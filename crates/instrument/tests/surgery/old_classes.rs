//! Code that no compiler of today writes: subroutines, and class files older than stack maps.

use std::path::Path;

use crate::java::{compile, java};
use crate::jdks::{jdks, this_jdk};
use crate::stress::{Counts, Stress, stress};

/// A class file under construction.
#[derive(Default)]
struct Assembler {
    constants: Vec<Vec<u8>>,
}

impl Assembler {
    fn constant(&mut self, bytes: Vec<u8>) -> u16 {
        self.constants.push(bytes);
        self.constants.len() as u16
    }

    fn text(&mut self, text: &str) -> u16 {
        let length = (text.len() as u16).to_be_bytes();
        self.constant([&[1], &length[..], text.as_bytes()].concat())
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant([&[7], &name.to_be_bytes()[..]].concat())
    }

    /// A class with one static method `run(I)I`.
    fn finish(mut self, version: (u16, u16), code: &[u8], handlers: &[[u16; 4]]) -> Vec<u8> {
        let (this, parent) = (self.class("Old"), self.class("java/lang/Object"));
        let (name, descriptor, attribute) =
            (self.text("run"), self.text("(I)I"), self.text("Code"));
        let mut content = if version < (45, 3) {
            let mut header = vec![4, 4];
            header.extend((code.len() as u16).to_be_bytes());
            header
        } else {
            let mut header = vec![0, 4, 0, 4];
            header.extend((code.len() as u32).to_be_bytes());
            header
        };
        content.extend_from_slice(code);
        content.extend((handlers.len() as u16).to_be_bytes());
        content.extend(handlers.iter().flatten().flat_map(|number| number.to_be_bytes()));
        content.extend([0, 0]);

        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        let count = self.constants.len() as u16 + 1;
        bytes.extend([version.1, version.0, count].iter().flat_map(|n| n.to_be_bytes()));
        self.constants.iter().for_each(|constant| bytes.extend(constant));
        let header = [0x21, this, parent, 0, 0, 1, 9, name, descriptor, 1, attribute];
        bytes.extend(header.iter().flat_map(|number| number.to_be_bytes()));
        bytes.extend((content.len() as u32).to_be_bytes());
        bytes.extend(content);
        bytes.extend([0, 0]);
        bytes
    }
}

/// `try { return x / (x - 3); } catch (all) { return -1; } finally { x += 10; ... }` with subroutines,
/// as compilers before Java 6 wrote it: two calls of one subroutine, which has a branch.
const SUBROUTINES: &[u8] = &[
    0x1a, 0x1a, 0x06, 0x64, 0x6c, // 0: iload_0, iload_0, iconst_3, isub, idiv
    0x3c, // 5: istore_1
    0xa8, 0, 13, // 6: jsr 19
    0x1b, 0xac, // 9: iload_1, ireturn
    0x57, // 11: pop, the handler
    0xc9, 0, 0, 0, 7, // 12: jsr_w 19
    0x1a, 0xac, // 17: iload_0, ireturn
    0x4d, // 19: astore_2, the subroutine
    0x84, 0, 10, // 20: iinc 0 by 10
    0x1a, 0x9e, 0, 6, // 23: iload_0, ifle 30
    0x84, 1, 1, // 27: iinc 1 by 1
    0xa9, 2, // 30: ret 2
];

const MAIN: &str = "public class Main {
    public static void main(String[] args) throws Exception {
        java.lang.reflect.Method run = Class.forName(\"Old\").getMethod(\"run\", int.class);
        for (int i = -30; i < 10; i++) System.out.print(run.invoke(null, i) + \" \");
        System.out.println();
    }
}";

fn output(class: &[u8], directory: &Path) -> Vec<String> {
    std::fs::write(directory.join("Old.class"), class).unwrap();
    let path = directory.to_str().unwrap();
    let mut outputs = Vec::new();
    for jdk in jdks() {
        let run = java(&jdk, &["-Xverify:all", "-cp", path, "Main"]);
        assert!(run.succeeded, "{}", run.errors);
        outputs.push(run.output);
    }
    outputs
}

/// The code of the class, and its handlers.
fn subroutines() -> (Vec<u8>, [[u16; 4]; 1]) {
    // The subroutine changes local 1, which must have a value on every path.
    let mut code = vec![0x03, 0x3c, 0x00, 0x00];
    code.extend_from_slice(SUBROUTINES);
    (code, [[4, 10, 15, 0]])
}

#[test]
fn subroutines_run_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let hook = ("Hook.java", include_str!("java_sources/Hook.java"));
    compile(&this_jdk(), &[("Main.java", MAIN), hook], directory.path(), &[]);
    let (code, handlers) = subroutines();
    for version in [(45, 3), (48, 0), (49, 0)] {
        let plain = Assembler::default().finish(version, &code, &handlers);
        let expected = output(&plain, directory.path());
        assert!(expected[0].split(' ').count() > 30, "{expected:?}");
        let mut counts = Counts::default();
        let stressed = stress(&plain, Stress::Calls, &mut counts);
        assert_eq!((counts.methods, counts.left_alone), (1, 0), "{version:?}");
        assert!(stressed.len() > plain.len() * 2);
        assert_eq!(output(&stressed, directory.path()), expected, "{version:?}");
    }
}

/// HotSpot of today reads the header as if it were a wide one, so that no virtual machine can tell.
#[test]
fn narrow_headers_stay_narrow() {
    let (code, handlers) = subroutines();
    let plain = Assembler::default().finish((45, 2), &code, &handlers);
    let wide = Assembler::default().finish((45, 3), &code, &handlers);
    let code_of = |bytes: &[u8]| {
        let class = classes::ClassFile::parse(bytes.into()).unwrap();
        let code = class.methods[0].code.clone().unwrap();
        (class.code_bytes(&code).to_vec(), code.max_stack, code.max_locals, code.handlers)
    };
    let narrow = stress(&plain, Stress::Calls, &mut Counts::default());
    let wide = stress(&wide, Stress::Calls, &mut Counts::default());
    assert_eq!(code_of(&narrow), code_of(&wide));
    assert_eq!(narrow.len() + 4, wide.len());
}

//! Random Java methods over a small class of objects that refer to each other.

use std::fmt::Write;

/// SplitMix64: small, and any seed is a good seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn choose<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

/// The class `Node` with this many methods `m0`, `m1`, …, all `(Node p, Node q, int x, int k)`.
pub(crate) fn class_source(random: &mut Random, methods: usize) -> String {
    let mut source = String::from(
        "class Node {\n  int a, b; volatile int v; static int s; static Node g;\n  Node next, other;\n  \
         final Node fixed; final int number;\n  Node[] items; int[] numbers;\n  \
         Node() { fixed = this; number = 0; }\n  Node call(Node n, int i) { return n; }\n  \
         static void helper(Node n) { }\n",
    );
    for number in 0..methods {
        let mut method =
            Method { random, text: String::new(), loops: Vec::new(), labels: 0, left: 14 };
        method.block(0);
        let last = method.reference();
        let text = method.text;
        let modifier = ["", "synchronized ", "static "][[0, 0, 0, 0, 1, 2][random.below(6)]];
        // A static method has no receiver; its code calls a parameter so.
        let text = if modifier == "static " { text.replace("this", "q") } else { text };
        let last = if modifier == "static " { last.replace("this", "q") } else { last };
        writeln!(
            source,
            "  {modifier}Node m{number}(Node p, Node q, int x, int k) {{\n    Node l = p, c = q;\n{text}    return {last};\n  }}"
        )
        .unwrap();
    }
    source.push_str("}\n");
    source
}

struct Method<'r> {
    random: &'r mut Random,
    text: String,
    /// The labels of the enclosing loops.
    loops: Vec<usize>,
    labels: usize,
    /// How many statements may still be written.
    left: usize,
}

impl Method<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 4 + 2 * depth).unwrap();
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.statement(depth);
        }
    }

    fn reference(&mut self) -> String {
        let mut text = match self.random.below(12) {
            0 => "g".to_owned(),
            1 => format!("{}.items[{}]", self.local(), self.index()),
            2 => "new Node()".to_owned(),
            3 => return format!("{}.call({}, x)", self.local(), self.local()),
            4 => return format!("({} ? {} : {})", self.condition(), self.local(), self.local()),
            _ => self.local().to_owned(),
        };
        for _ in 0..self.random.below(3) {
            text.push_str(self.random.choose(&[".next", ".other", ".fixed"]));
        }
        text
    }

    fn local(&mut self) -> &'static str {
        self.random.choose(&["this", "p", "q", "l", "c"])
    }

    fn index(&mut self) -> &'static str {
        self.random.choose(&["0", "1", "2", "x & 3"])
    }

    fn number(&mut self) -> String {
        match self.random.below(8) {
            0 => format!("{}.a", self.reference()),
            1 => format!("{}.b + 1", self.reference()),
            2 => format!("{}.numbers[{}]", self.local(), self.index()),
            3 => "s".to_owned(),
            4 => format!("{}.number", self.local()),
            5 => format!("{}.v", self.local()),
            6 => "x".to_owned(),
            _ => self.random.below(4).to_string(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(9) {
            0 => format!("{} == null", self.reference()),
            1 => format!("{} != null", self.local()),
            2 => format!("{} == {}", self.reference(), self.local()),
            3 => format!("{} > {}", self.number(), self.number()),
            4 => format!("({} && {})", self.condition(), self.condition()),
            5 => format!("({} || {})", self.condition(), self.condition()),
            6 => format!("{} == {}", self.number(), self.number()),
            7 => "x > 1".to_owned(),
            _ => format!("!({})", self.condition()),
        }
    }

    fn statement(&mut self, depth: usize) {
        let deep = depth > 3;
        match self.random.below(if deep { 12 } else { 24 }) {
            0 | 1 => {
                let line = format!("{}.a = {};", self.reference(), self.number());
                self.line(depth, &line);
            }
            2 => {
                let line = format!("{}.b++;", self.reference());
                self.line(depth, &line);
            }
            3 => {
                let line = format!("s = {};", self.number());
                self.line(depth, &line);
            }
            4 => {
                let line = format!("g = {};", self.reference());
                self.line(depth, &line);
            }
            5 | 6 => {
                let target = self.random.choose(&["p", "l", "c"]);
                let line = format!("{target} = {};", self.reference());
                self.line(depth, &line);
            }
            7 => {
                let field = self.random.choose(&["next", "other"]);
                let value =
                    if self.random.below(12) == 0 { "null".to_owned() } else { self.reference() };
                let line = format!("{}.{field} = {value};", self.reference());
                self.line(depth, &line);
            }
            8 => {
                let (local, index) = (self.local(), self.index());
                let line = format!("{local}.items[{index}] = {};", self.reference());
                self.line(depth, &line);
            }
            9 => {
                let (local, index) = (self.local(), self.index());
                let line = format!("{local}.numbers[{index}] = {};", self.number());
                self.line(depth, &line);
            }
            10 => {
                let line = match self.random.below(3) {
                    0 => "x++;".to_owned(),
                    1 => format!("x = {};", self.number()),
                    _ => format!("helper({});", self.reference()),
                };
                self.line(depth, &line);
            }
            11 => self.jump(depth),
            12..=15 => {
                let line = format!("if ({}) {{", self.condition());
                self.line(depth, &line);
                self.block(depth + 1);
                if self.random.below(2) == 0 {
                    self.line(depth, "} else {");
                    self.block(depth + 1);
                }
                self.line(depth, "}");
            }
            16..=18 => self.iteration(depth),
            19 => {
                self.line(depth, "switch (x & 3) {");
                for case in 0..3 {
                    self.line(depth, &format!("case {case}:"));
                    self.block(depth + 1);
                    if self.random.below(3) > 0 {
                        self.line(depth, "  if (x < 100) break;");
                    }
                }
                self.line(depth, "default:");
                self.block(depth + 1);
                self.line(depth, "}");
            }
            20..=22 => {
                let line = format!("synchronized ({}) {{", self.reference());
                self.line(depth, &line);
                self.block(depth + 1);
                self.line(depth, "}");
            }
            _ => {
                self.line(depth, "try {");
                self.block(depth + 1);
                let end = match self.random.below(2) {
                    0 => "} finally {".to_owned(),
                    _ => format!("}} catch (RuntimeException e{depth}) {{"),
                };
                self.line(depth, &end);
                self.block(depth + 1);
                self.line(depth, "}");
            }
        }
    }

    /// A way out, under a condition that the compiler cannot decide.
    fn jump(&mut self, depth: usize) {
        let jump = match (self.random.below(5), self.loops.last().copied()) {
            (0 | 1, Some(label)) => format!("break o{label};"),
            (2, Some(label)) => format!("continue o{label};"),
            (3, Some(_)) => {
                let label = self.loops[self.random.below(self.loops.len())];
                format!("{} o{label};", self.random.choose(&["break", "continue"]))
            }
            (0, None) => "throw new RuntimeException();".to_owned(),
            _ => format!("return {};", self.local()),
        };
        let before = if self.random.below(2) == 0 {
            format!("{}.a = 7; ", self.local())
        } else {
            String::new()
        };
        let line = format!("if ({}) {{ {before}{jump} }}", self.condition());
        self.line(depth, &line);
    }

    fn iteration(&mut self, depth: usize) {
        let label = self.labels;
        self.labels += 1;
        self.loops.push(label);
        let (start, end) = match self.random.below(4) {
            0 => (format!("o{label}: do {{"), "} while (--k > 0);".to_owned()),
            1 => {
                let start = format!(
                    "o{label}: for (int i{label} = 0; i{label} < 2 && --k > 0; i{label}++) {{"
                );
                (start, "}".to_owned())
            }
            2 => (format!("o{label}: while (--k > 0 && {}) {{", self.condition()), "}".to_owned()),
            _ => (format!("o{label}: while (true) {{ if (--k <= 0) break;"), "}".to_owned()),
        };
        self.line(depth, &start);
        self.block(depth + 1);
        self.line(depth, &end);
        self.loops.pop();
    }
}

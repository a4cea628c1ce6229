//! The page of `--html`, in a real browser: what is listed, what is drawn and where, that nothing of a hostile program
//! becomes part of the page, and that the browser has nothing to complain about.

mod browser;
mod sample_findings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use findings::{Evidence, Finding, Results, merge_and_rank};
use report::Sources;
use serde_json::{Value, json};

use browser::{Browser, decoded};
use sample_findings::{ACCOUNT_JAVA, deadlock, possible, results, split_block};

const ARROW_DOWN: &str = "\u{e015}";
const END: &str = "\u{e010}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

fn sources() -> Sources {
    Sources::in_memory([("bank/Account.java", ACCOUNT_JAVA)])
}

/// Writes a page below the target directory, where it can be looked at.
fn written(name: &str, results: &Results) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.html"));
    let mut bytes = Vec::new();
    report::render_page(results, &sources(), &mut bytes).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn of(findings: Vec<Finding>) -> Results {
    Results { findings: merge_and_rank(findings), ..Results::default() }
}

fn listed(browser: &Browser) -> Vec<String> {
    let items = browser.script(
        "return [...document.querySelectorAll('#list li .place')].map((item) => item.textContent.trim())",
    );
    items.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_string()).collect()
}

/// Gives a form element a value, as a user would.
fn choose(browser: &Browser, id: &str, option: &str) {
    let script = "const select = document.getElementById(arguments[0]);
        const option = [...select.options].find((one) => one.text.startsWith(arguments[1]));
        select.value = option.value;
        select.dispatchEvent(new Event('input', { bubbles: true }))";
    browser.script_with(script, json!([id, option]));
}

fn set_checked(browser: &Browser, word: &str, is_checked: bool) {
    let script = "const box = document.querySelector(`input[value=${arguments[0]}]`);
        if (box.checked !== arguments[1]) box.click()";
    browser.script_with(script, json!([word, is_checked]));
}

fn search(browser: &Browser, text: &str) {
    let script = "const search = document.getElementById('search');
        search.value = arguments[0];
        search.dispatchEvent(new Event('input', { bubbles: true }))";
    browser.script_with(script, json!([text]));
}

#[test]
fn every_filter_lists_what_it_says() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&written("filters", &results()), "");
    let all = [
        "not-serializable, Account.java:10",
        "deadlock, Pool.java:12",
        "reacquired-lock, Line0.java:8",
        "reacquired-lock, Line2.java:8",
        "reacquired-lock, Line1.java:8",
    ];
    assert_eq!(listed(&browser), all);
    assert_eq!(browser.text("#count"), "5 findings");
    assert_eq!(browser.text("#summary"), "5 new findings: 2 observed, 3 possible");

    choose(&browser, "rule", "reacquired-lock");
    assert_eq!(listed(&browser), all[2..]);
    assert_eq!(browser.text("#count"), "3 of 5 findings");
    // A rule under a finding of another one counts.
    choose(&browser, "rule", "breakable-block");
    assert_eq!(listed(&browser), all[..1]);
    choose(&browser, "rule", "All rules");

    choose(&browser, "package", "geometry (");
    assert_eq!(listed(&browser), all[2..]);
    choose(&browser, "package", "geometry.plane");
    assert_eq!(listed(&browser), all[3..4]);
    choose(&browser, "package", "bank (");
    assert_eq!(listed(&browser), all[..2]);
    choose(&browser, "package", "bank.pool");
    assert_eq!(listed(&browser), all[1..2]);
    choose(&browser, "package", "All packages");

    set_checked(&browser, "observed", false);
    assert_eq!(listed(&browser), all[2..]);
    set_checked(&browser, "medium", false);
    assert_eq!(listed(&browser), all[4..]);
    set_checked(&browser, "possible", false);
    assert_eq!(browser.text("#finding"), "No finding matches these filters.");
    browser.point_at("#clear", true);
    assert_eq!(listed(&browser), all);

    choose(&browser, "status", "Known");
    assert_eq!(listed(&browser), ["reacquired-lock, Line10.java:8"]);
    choose(&browser, "status", "Suppressed");
    assert_eq!(listed(&browser), ["reacquired-lock, Line12.java:8"]);
    assert!(browser.text("#finding").contains("callers hold the lock"));
    choose(&browser, "status", "All");
    assert_eq!(listed(&browser).len(), 7);
    choose(&browser, "status", "New");

    search(&browser, "POOL deadlock");
    assert_eq!(listed(&browser), all[1..2]);
    search(&browser, "line2.java");
    assert_eq!(listed(&browser), all[3..4]);
    search(&browser, "no such thing");
    assert!(listed(&browser).is_empty());
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_finding_has_an_address_and_the_keyboard_reaches_everything() {
    let Some(browser) = Browser::start() else { return };
    let results = results();
    let page = written("keyboard", &results);
    let fingerprints: Vec<String> =
        results.findings.iter().map(|it| it.fingerprint.unwrap().to_string()).collect();
    browser.open(&page, &fingerprints[3]);
    assert_eq!(browser.text("#finding .fingerprint"), format!("#{}", fingerprints[3]));
    assert_eq!(browser.number_of("#list [aria-selected=true]"), 1);
    // The address of a finding that stands under another one opens both.
    let also = results.findings.iter().find_map(|finding| finding.also.first()).unwrap();
    browser.open(&page, &also.fingerprint.unwrap().to_string());
    assert!(browser.text("#finding details[open]").contains("can be split"));
    // One that is not listed is listed then.
    let known = &results.baseline.as_ref().unwrap().known[0];
    browser.open(&page, &known.fingerprint.unwrap().to_string());
    assert!(browser.text("#finding h2").contains("geometry.Line10"));
    browser.open(&page, "0123456789abcdef");
    assert!(browser.text("#count").contains("not in this report"));

    browser.open(&page, "");
    browser.script("document.getElementById('list').focus()");
    browser.press(ARROW_DOWN);
    assert_eq!(browser.script("return location.hash"), format!("#{}", fingerprints[1]));
    browser.press("j");
    assert_eq!(browser.script("return location.hash"), format!("#{}", fingerprints[2]));
    browser.press("k");
    browser.press(END);
    assert_eq!(browser.script("return location.hash"), format!("#{}", fingerprints[4]));
    let active = browser
        .script("return document.getElementById('list').getAttribute('aria-activedescendant')");
    assert_eq!(active, "item-4");
    browser.press(ENTER);
    assert_eq!(browser.script("return document.activeElement.id"), "finding");
    browser.press("/");
    assert_eq!(browser.script("return document.activeElement.id"), "search");
    browser.press("dead");
    assert_eq!(listed(&browser).len(), 1);
    browser.press(ESCAPE);
    assert_eq!(browser.script("return document.activeElement.id"), "list");
    // Operations of the picture are buttons; the first one is reached with the tabulator and shows its stack.
    browser.script("document.querySelector('.operation').focus()");
    assert!(browser.text("#tip").contains("bank.Teller.work (Teller.java:30)"));
    browser.press(ESCAPE);
    assert_eq!(browser.script("return document.getElementById('tip').hidden"), true);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn screen_readers_get_roles_names_and_contrast() {
    let Some(browser) = Browser::start() else { return };
    let results = results();
    let page = written("contrast", &results);
    let unnamed = "return [...document.querySelectorAll('input, select, button, [role=button], [role=listbox]')]
        .filter((node) => !(node.labels?.length > 0 || node.getAttribute('aria-label') || node.innerText?.trim()))
        .map((node) => node.outerHTML)";
    for theme in ["light", "dark"] {
        browser.emulate("screen", theme);
        for finding in &results.findings {
            browser.open(&page, &finding.fingerprint.unwrap().to_string());
            assert_eq!(browser.script(unnamed), json!([]));
            assert_eq!(browser.script(CONTRAST), json!([]), "{theme}");
            let ids = "const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
                return ids.length - new Set(ids).size";
            assert_eq!(browser.script(ids), 0);
        }
        let landmarks = ["header", "nav[aria-label]", "main", "[role=search]", "h1", "#finding h2"];
        for landmark in landmarks {
            assert_eq!(browser.number_of(landmark), 1, "{landmark}");
        }
    }
    // Whoever does not follow the system chooses.
    browser.emulate("screen", "light");
    let background = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.script(background);
    browser.point_at("#theme", true);
    assert_eq!(browser.text("#theme"), "Theme: light");
    browser.point_at("#theme", true);
    assert_eq!(browser.text("#theme"), "Theme: dark");
    assert_ne!(browser.script(background), light);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Texts whose contrast with what is behind them is less than 4.5, as WCAG 2 computes it.
const CONTRAST: &str = "
    const channels = (color) => {
        const numbers = color.match(/[\\d.]+/g).map(Number);
        return numbers.length === 4 && numbers[3] === 0 ? null : numbers.slice(0, 3);
    };
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map((it) => it / 255).map((it) => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (node) => {
        if (node instanceof SVGElement && node.closest('.operation')) {
            return channels(getComputedStyle(node.closest('.operation').querySelector('rect')).fill);
        }
        for (let one = node; one !== null; one = one.parentElement) {
            const found = channels(getComputedStyle(one).backgroundColor);
            if (found !== null) return found;
        }
        return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const poor = [];
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (walker.currentNode.data.trim() === '' || node.closest('script, noscript, title, [hidden], .skip')) continue;
        const style = getComputedStyle(node);
        if (node.getClientRects().length === 0) continue;
        const text = channels(node instanceof SVGElement ? style.fill : style.color);
        const [one, other] = [luminance(text), luminance(behind(node))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) poor.push(`${walker.currentNode.data.trim()}: ${contrast.toFixed(2)}`);
    }
    return [...new Set(poor)]";

/// A rectangle on the screen.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn of(value: &Value) -> Area {
        let part = |name: &str| value[name].as_f64().unwrap();
        Area { left: part("left"), top: part("top"), right: part("right"), bottom: part("bottom") }
    }

    fn contains(&self, other: &Area) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }

    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a point is on the edge.
    fn touches(&self, (x, y): (f64, f64)) -> bool {
        let near = |one: f64, other: f64| (one - other).abs() < 2.0;
        (near(x, self.left) || near(x, self.right)) && y > self.top && y < self.bottom
    }
}

/// From which operation to which, and between which points.
type Arrow = (usize, usize, (f64, f64), (f64, f64));

/// What a picture looks like.
struct Geometry {
    operations: Vec<Area>,
    /// Their texts, without what stands inside of its box.
    too_long: Vec<String>,
    blamed: Vec<Area>,
    bars: Vec<Area>,
    /// From which operation to which one, and where each arrow begins and ends.
    arrows: Vec<Arrow>,
    headings: Vec<Area>,
    fills: Vec<String>,
    dashes: Vec<String>,
}

fn geometry(browser: &Browser) -> Geometry {
    let value = browser.script(
        "const svg = document.querySelector('#finding svg');
        const box = (node) => { const { left, top, right, bottom } = node.getBoundingClientRect(); return { left, top, right, bottom }; };
        const all = (selector) => [...svg.querySelectorAll(selector)];
        const point = (path, at) => {
            const point = path.getPointAtLength(at * path.getTotalLength()).matrixTransform(path.getScreenCTM());
            return [point.x, point.y];
        };
        return {
            operations: all('.operation > rect').map(box),
            tooLong: all('.operation').flatMap((group) => [...group.querySelectorAll('text')]
                .filter((text) => box(text).right > box(group.querySelector('rect')).right)
                .map((text) => text.textContent)),
            blamed: all('.block.blamed rect').map(box),
            bars: all('.lock rect').map(box),
            arrows: all('.arrow').map((path) =>
                [Number(path.dataset.from), Number(path.dataset.to), point(path, 0), point(path, 1)]),
            headings: all('.heading').map(box),
            fills: all('.operation > rect').map((node) => getComputedStyle(node).fill),
            dashes: all('.operation > rect').map((node) => getComputedStyle(node).strokeDasharray),
        }",
    );
    let boxes = |name: &str| value[name].as_array().unwrap().iter().map(Area::of).collect();
    let texts = |name: &str| -> Vec<String> {
        value[name].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_string()).collect()
    };
    let point = |value: &Value| (value[0].as_f64().unwrap(), value[1].as_f64().unwrap());
    let arrows = value["arrows"].as_array().unwrap().iter().map(|arrow| {
        let row = |at: usize| arrow[at].as_u64().unwrap() as usize;
        (row(0), row(1), point(&arrow[2]), point(&arrow[3]))
    });
    Geometry {
        operations: boxes("operations"),
        too_long: texts("tooLong"),
        blamed: boxes("blamed"),
        bars: boxes("bars"),
        arrows: arrows.collect(),
        headings: boxes("headings"),
        fills: texts("fills"),
        dashes: texts("dashes"),
    }
}

impl Geometry {
    /// What holds for every picture: time runs downward, columns do not overlap, arrows lead from box to box, bars
    /// stand beside the boxes, and texts stay inside.
    fn assert_sound(&self) {
        for pair in self.operations.windows(2) {
            assert!(pair[1].top >= pair[0].bottom, "{pair:?}");
        }
        let mut columns: BTreeMap<i64, Area> = BTreeMap::new();
        for operation in &self.operations {
            columns.insert(operation.left.round() as i64, *operation);
        }
        let columns: Vec<Area> = columns.into_values().collect();
        for pair in columns.windows(2) {
            assert!(pair[0].right < pair[1].left, "{pair:?}");
        }
        assert_eq!(self.headings.len(), columns.len());
        for (heading, column) in self.headings.iter().zip(&columns) {
            assert!(heading.left >= column.left && heading.right <= column.right);
        }
        for (from, to, start, end) in &self.arrows {
            assert!(self.operations[*from].touches(*start), "{from}: {start:?}");
            assert!(self.operations[*to].touches(*end), "{to}: {end:?}");
        }
        for bar in &self.bars {
            assert!(self.operations.iter().all(|operation| !operation.overlaps(bar)), "{bar:?}");
        }
        for (at, bar) in self.bars.iter().enumerate() {
            assert!(self.bars[at + 1..].iter().all(|other| !other.overlaps(bar)), "{bar:?}");
        }
        assert!(self.too_long.is_empty(), "{:?}", self.too_long);
    }
}

#[test]
fn the_picture_shows_who_comes_in_between() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&written("observed", &of(vec![split_block(Evidence::Observed)])), "");
    let observed = geometry(&browser);
    observed.assert_sound();
    assert_eq!(observed.operations.len(), 3);
    // The block around the first and the last operation, and not around what comes in between.
    let [block] = observed.blamed[..] else { panic!("{:?}", observed.blamed) };
    assert!(block.contains(&observed.operations[0]) && block.contains(&observed.operations[2]));
    assert!(!block.overlaps(&observed.operations[1]));
    // Each acquired the lock for itself: it was not held in between.
    assert_eq!(observed.bars.len(), 3);
    for (bar, operation) in observed.bars.iter().zip([0, 2, 1]) {
        let operation = &observed.operations[operation];
        assert!(bar.top <= operation.top + 12.0 && bar.bottom >= operation.bottom);
    }
    let ends: Vec<_> = observed.arrows.iter().map(|(from, to, ..)| (*from, *to)).collect();
    assert_eq!(ends, [(0, 1), (1, 2)]);
    assert_eq!(observed.fills[0], observed.fills[2]);
    assert_ne!(observed.fills[0], observed.fills[1]);
    assert!(observed.dashes.iter().all(|dash| dash == "none"));

    // The pointer shows the stack, a click the source.
    browser.point_at(".operation:nth-of-type(1), .operation", false);
    let tip = browser.text("#tip");
    assert!(tip.contains("bank.Account.balance (Account.java:7)"), "{tip}");
    browser.point_at(".operation[data-row='1']", true);
    let shown = browser.text(".line.shown");
    assert!(shown.starts_with("19") && shown.contains("balance = amount;"), "{shown}");
    assert_eq!(browser.number_of(".line.shown"), 1);
    assert!(browser.number_of(".source .keyword") > 0 && browser.number_of(".source .comment") > 0);

    browser.open(&written("predicted", &of(vec![split_block(Evidence::Predicted)])), "");
    let predicted = geometry(&browser);
    predicted.assert_sound();
    // Read, branch not taken, write that would have been, write: what did not happen is dashed.
    let dashed: Vec<bool> = predicted.dashes.iter().map(|dash| dash != "none").collect();
    assert_eq!(dashed, [false, true, true, false]);

    browser.open(&written("deadlock", &of(vec![deadlock()])), "");
    let deadlock = geometry(&browser);
    deadlock.assert_sound();
    let ends: Vec<_> = deadlock.arrows.iter().map(|(from, to, ..)| (*from, *to)).collect();
    assert_eq!(ends, [(2, 1), (3, 0)]);
    // Both locks are held to the end.
    assert_eq!(deadlock.bars.len(), 2);
    for bar in &deadlock.bars {
        assert!(bar.bottom >= deadlock.operations[3].bottom);
    }

    browser.open(&written("possible", &of(vec![possible("geometry", 0)])), "");
    let possible = geometry(&browser);
    possible.assert_sound();
    assert_eq!(browser.number_of(".chain"), 2);
    let chain = browser.text(".chain");
    for text in ["Line0.contains", "Location.distanceTo", "Holding this (acquired at Line0.java:6)"]
    {
        assert!(chain.contains(text), "{chain}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn thousands_of_findings_are_made_as_they_are_looked_at() {
    let Some(browser) = Browser::start() else { return };
    let page = written("many", &of((0..2000).map(|number| possible("p", number)).collect()));
    browser.open(&page, "");
    assert_eq!(browser.text("#count"), "2,000 findings");
    assert_eq!(browser.number_of("#list li"), 100);
    assert!(browser.number_of("*") < 2500);
    browser.script("document.getElementById('list').focus()");
    browser.press(END);
    assert_eq!(browser.number_of("#list li"), 2000);
    assert_eq!(
        browser.text("#list [aria-selected=true] .place"),
        "reacquired-lock, Line999.java:8"
    );
    search(&browser, "Line1234.java");
    assert_eq!(listed(&browser).len(), 1);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn all_that_is_listed_is_printed() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&written("print", &results()), "");
    let all = browser.printed_sheets();
    assert!(all >= 5, "{all}");
    choose(&browser, "rule", "deadlock");
    assert!((1..all).contains(&browser.printed_sheets()));
    assert_eq!(browser.number_of("#print article"), 0);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Compiles a program into a folder; its files are given by name and text.
fn compiled(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
    let classes = folder.join("classes");
    let mut javac = Command::new("javac");
    javac.arg("-g").arg("-d").arg(&classes);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        javac.arg(path);
    }
    assert!(javac.status().expect("these tests need `javac`").success());
    classes
}

fn scission(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

const SHOP: &str = "
    class PLACEHOLDER_FOR_A_HOSTILE_NAME_OF_A_CLASS {
        int PLACEHOLDER_FOR_A_FIELD;
        synchronized int amount() { return PLACEHOLDER_FOR_A_FIELD; }
        synchronized void take(int n) { PLACEHOLDER_FOR_A_FIELD -= n; }
    }
    class Shop {
        synchronized boolean PLACEHOLDER_FOR_A_METHOD_THAT_SELLS(PLACEHOLDER_FOR_A_HOSTILE_NAME_OF_A_CLASS stock, int n) {
            if (stock.amount() < n) {
                return false;
            }
            stock.take(n);
            return true;
        }
    }
";

/// What a hostile program calls its classes, methods, fields and sources, each as long as what stands there now.
const HOSTILE_NAMES: &[(&str, &str)] = &[
    ("PLACEHOLDER_FOR_A_HOSTILE_NAME_OF_A_CLASS", "<img src=x onerror=window.hostile=1>"),
    ("PLACEHOLDER_FOR_A_METHOD_THAT_SELLS", "<script>window.hostile=1<\\script>"),
    ("PLACEHOLDER_FOR_A_FIELD", "\u{1b}]0;owned\u{7}\u{1b}[31m"),
    ("PLACEHOLDER_FOR_A_SOURCE.java", "\u{1b}[2J</script><svg onload=a>"),
];

#[test]
fn nothing_of_a_hostile_jar_becomes_part_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let classes = compiled(folder.path(), &[("PLACEHOLDER_FOR_A_SOURCE.java", SHOP)]);
    for entry in fs::read_dir(&classes).unwrap().flatten() {
        let mut bytes = fs::read(entry.path()).unwrap();
        for (name, hostile) in HOSTILE_NAMES {
            let padded = format!("{hostile:~<width$}", width = name.len());
            assert_eq!(padded.len(), name.len());
            let mut at = 0;
            while let Some(found) =
                bytes[at..].windows(name.len()).position(|it| it == name.as_bytes())
            {
                at += found;
                bytes[at..at + name.len()].copy_from_slice(padded.as_bytes());
            }
        }
        fs::write(entry.path(), bytes).unwrap();
    }
    let jar =
        Command::new("jar").current_dir(&classes).args(["cf", "../hostile.jar", "."]).status();
    assert!(jar.unwrap().success());
    let arguments =
        ["check", "hostile.jar", "--no-config", "--html", "page.html", "--level", "low"];
    let output = scission(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    // Not even to a terminal that shows colours.
    let colored = scission(
        folder.path(),
        &["check", "hostile.jar", "--no-config", "--color", "always", "-v"],
    );
    for text in [&output.stdout, &output.stderr, &colored.stdout, &colored.stderr] {
        let text = String::from_utf8_lossy(text);
        for hostile in ["\u{1b}]0;", "\u{1b}[2J", "\u{7}"] {
            assert!(!text.contains(hostile), "{text:?}");
        }
    }
    let page = folder.path().join("page.html");
    let json = scission(
        folder.path(),
        &["check", "hostile.jar", "--no-config", "--format", "json", "--output", "a.json"],
    );
    assert_eq!(json.status.code(), Some(1));
    let again =
        scission(folder.path(), &["report", "a.json", "--no-config", "--html", "again.html"]);
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    let Some(browser) = Browser::start() else { return };
    for page in [page, folder.path().join("again.html")] {
        browser.open(&page, "");
        assert!(browser.number_of("#list li") > 0);
        browser
            .script("document.querySelectorAll('details').forEach((one) => { one.open = true })");
        assert_eq!(browser.script("return window.hostile ?? null"), Value::Null);
        assert_eq!(browser.number_of("img, iframe, object, embed, base, #finding script"), 0);
        assert_eq!(browser.number_of("script"), 2);
        let text = browser.text("body");
        assert!(text.contains("<script>window.hostile=1"), "{text}");
        assert!(text.chars().all(|it| !it.is_control() || it == '\n' || it == '\t'), "{text:?}");
        assert_eq!(browser.complaints(), [""; 0]);
        // The policy holds: what a script inserts is not executed either.
        browser.script(
            "const script = document.createElement('script');
            script.textContent = 'window.hostile = 2';
            document.body.append(script)",
        );
        assert_eq!(browser.script("return window.hostile ?? null"), Value::Null);
        assert!(browser.complaints().concat().contains("Content Security Policy"));
    }
}

/// How bright the window is, in a coarse grid: fonts differ a little from machine to machine.
const BRIGHTNESS: &str = "
    const [png, done] = arguments;
    const image = new Image();
    image.onload = () => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [14, 10];
        const context = canvas.getContext('2d');
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, 0, 0, 14, 10);
        const pixels = [...context.getImageData(0, 0, 14, 10).data];
        const grid = [];
        for (let at = 0; at < pixels.length; at += 4) grid.push(Math.round((pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3));
        done(grid);
    };
    image.src = 'data:image/png;base64,' + png";

/// How much a part of the grid may differ.
const TOLERANCE: i64 = 24;

#[test]
fn the_page_of_the_demo_looks_as_it_did() {
    let Some(browser) = Browser::start() else { return };
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(top.join("demo/bank")).unwrap().flatten() {
        let name = format!("bank/{}", entry.file_name().into_string().unwrap());
        files.push((name, fs::read_to_string(entry.path()).unwrap()));
    }
    files.sort();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    compiled(folder.path(), &files);
    let arguments = ["check", "classes", "--no-config", "--source", ".", "--html", "page.html"];
    assert_eq!(scission(folder.path(), &arguments).status.code(), Some(1));
    for theme in ["light", "dark"] {
        browser.emulate("screen", theme);
        browser.open(&folder.path().join("page.html"), "");
        let png = browser.screenshot();
        let shown = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        fs::create_dir_all(&shown).unwrap();
        fs::write(shown.join(format!("demo-{theme}.png")), decoded(&png)).unwrap();
        assert_eq!(browser.complaints(), [""; 0]);
        browser.leave();
        let grid = browser.script_later(BRIGHTNESS, json!([png]));
        let grid: Vec<i64> =
            grid.as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).collect();
        let lines: Vec<String> = grid
            .chunks(14)
            .map(|row| row.iter().map(|it| format!("{it:3}")).collect::<Vec<_>>().join(" "))
            .collect();
        let expected =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/page/demo-{theme}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, lines.join("\n") + "\n").unwrap();
        }
        let text = fs::read_to_string(&expected).unwrap();
        let expected: Vec<i64> = text.split_whitespace().map(|it| it.parse().unwrap()).collect();
        assert_eq!(grid.len(), expected.len());
        let differs =
            grid.iter().zip(&expected).any(|(one, other)| (one - other).abs() > TOLERANCE);
        assert!(!differs, "{theme}:\n{}\ninstead of\n{text}", lines.join("\n"));
    }
}

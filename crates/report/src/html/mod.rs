//! A page for browsers: one file that needs no network, with the findings as data and a script that shows them.
//!
//! Nothing that was read from a program becomes markup or script: all of it is JSON in an element that browsers do
//! not execute, written without the characters that could end the element, and the script puts it into the page as
//! text. The content-security policy allows this one script and this one style, by their hashes, and nothing else.

mod content_hash;
mod data;
mod excerpts;
mod picture;
mod shown_text;
mod tables;

use std::io::{self, Write};

use findings::Results;

use crate::{Sources, words};

const SKELETON: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
/// In the order in which they are executed, as one script.
const SCRIPTS: [&str; 5] = [
    include_str!("../../assets/elements.js"),
    include_str!("../../assets/source.js"),
    include_str!("../../assets/picture.js"),
    include_str!("../../assets/finding.js"),
    include_str!("../../assets/page.js"),
];

/// Writes a page with everything that was found. Excerpts come from these sources; what they do not have is shown
/// without.
///
/// # Errors
/// Only those of the writer.
pub fn render_page(results: &Results, sources: &Sources, writer: &mut dyn Write) -> io::Result<()> {
    let script = format!("\"use strict\";\n{{\n{}}}\n", SCRIPTS.concat());
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        content_hash::source(&script),
        content_hash::source(STYLE)
    );
    let shown = results.findings.len();
    let title = match shown {
        1 => "Scission: 1 finding".to_string(),
        _ => format!("Scission: {} findings", words::with_separators(shown as u64)),
    };
    let data = in_script_element(&serde_json::to_string(&data::page(results, sources))?);
    let parts = [
        ("policy", policy.as_str()),
        ("title", &title),
        ("style", STYLE),
        ("data", &data),
        ("script", &script),
    ];
    let mut rest = SKELETON;
    for (name, text) in parts {
        let (before, after) =
            rest.split_once(&format!("{{{{{name}}}}}")).expect("the skeleton has all places");
        writer.write_all(before.as_bytes())?;
        writer.write_all(text.as_bytes())?;
        rest = after;
    }
    writer.write_all(rest.as_bytes())
}

/// JSON that cannot end the script element that it is in, nor begin a comment there.
fn in_script_element(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use findings::merge_and_rank;
    use serde_json::Value;

    use super::*;
    use crate::samples;

    fn page(results: &Results, sources: &Sources) -> String {
        let mut bytes = Vec::new();
        render_page(results, sources, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// What the script finds in the page.
    fn data_of(page: &str) -> Value {
        let start = "<script type=\"application/json\" id=\"data\">";
        let (_, rest) = page.split_once(start).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn a_page_needs_nothing_but_itself() {
        let page = page(&samples::results(), &Sources::default());
        for outside in ["src=", "@import", "innerHTML", "outerHTML", "insertAdjacent"] {
            assert!(!page.contains(outside), "{outside}");
        }
        // Only arrow heads of the picture itself are referred to.
        assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
        // The name of SVG's elements is the only address, and nobody goes there.
        let addresses: Vec<_> = page.match_indices("://").collect();
        assert_eq!(addresses.len(), page.matches("http://www.w3.org/2000/svg").count());
    }

    #[test]
    fn names_cannot_become_markup() {
        let mut finding = samples::line_contains();
        finding.blame.class = "p.</script><script>alert(1)</script><!--".into();
        finding.blame.method = "a\u{1b}[31m\u{202e}\u{2028}".into();
        let results = Results { findings: vec![finding], ..Results::default() };
        let page = page(&results, &Sources::default());
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<!--") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
        let data = data_of(&page);
        let class = data["classes"].as_array().unwrap();
        assert!(class.contains(&"p.</script><script>alert(1)</script><!--".into()));
    }

    #[test]
    fn two_hundred_findings_take_less_than_two_megabytes() {
        let sources = Sources::in_memory([("bank/Account.java", samples::ACCOUNT_JAVA)]);
        let findings = (0..200).map(|number| {
            let mut finding = samples::account_deposit();
            finding.blame.method = format!("deposit{number}");
            for step in &mut finding.witnesses[0].steps {
                step.site.method = format!("deposit{number}");
                for frame in step.stack.iter_mut().flat_map(|stack| &mut stack.frames) {
                    frame.class = format!("com.example.bank.accounts.Service{number}");
                }
            }
            finding.fingerprint = None;
            finding
        });
        let findings = merge_and_rank(findings.collect());
        assert_eq!(findings.len(), 200);
        let page = page(&Results { findings, ..Results::default() }, &sources);
        assert!(page.len() < 1_000_000, "{}", page.len());
    }

    #[test]
    fn everything_that_was_decided_about_findings_is_in_the_page() {
        let data = data_of(&page(&samples::triaged(), &Sources::default()));
        let status: Vec<_> =
            data["findings"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
        assert_eq!(status, ["known", "suppressed"]);
        assert_eq!(data["findings"][1]["reason"], "callers hold the lock");
        assert_eq!(data["gone"][0]["rule"], "reacquired-lock");
        assert_eq!(data["has_baseline"], true);
    }
}

//! The cycle of a finding as a graph for `dot`, in the manner of the Velodrome paper: a box for each
//! transaction, the blamed one outlined, and the edge that closed the cycle dashed.

use std::io::{self, Write};

use findings::{Cycle, CycleEdge, Finding, Operation, Site};

use crate::words;

/// The name of the file for the graph of a finding; none for findings that are no cycles.
#[must_use]
pub fn graph_name(finding: &Finding) -> Option<String> {
    cycle(finding)?;
    Some(format!("{}-{}.dot", finding.rule, words::fingerprint(finding)))
}

/// Writes the graph of a finding; nothing for findings that are no cycles.
///
/// # Errors
/// Only those of the writer.
pub fn render_graph(finding: &Finding, writer: &mut dyn Write) -> io::Result<()> {
    let Some(cycle) = cycle(finding) else { return Ok(()) };
    writeln!(writer, "digraph {} {{", quoted(&[&words::message(finding)]))?;
    writeln!(writer, "  node [shape=box, fontname=\"Helvetica\"];")?;
    writeln!(writer, "  edge [fontname=\"Helvetica\", fontsize=10];")?;
    for (at, transaction) in cycle.transactions.iter().enumerate() {
        let mut lines = vec![format!("T{} \"{}\"", at + 1, transaction.thread)];
        if let Some(block) = &transaction.block {
            lines.extend([block.method_name(), words::place(block)]);
        }
        let outline = if transaction.is_blamed { ", peripheries=2, penwidth=2" } else { "" };
        writeln!(writer, "  T{} [label={}{outline}];", at + 1, quoted(&lines))?;
    }
    let last = cycle.edges.len().saturating_sub(1);
    for (at, edge) in cycle.edges.iter().enumerate() {
        let (from, to) = (at + 1, words::target_of_edge(cycle, at) + 1);
        let style = if at == last { ", style=dashed" } else { "" };
        let label = quoted(&edge_lines(edge, from, to));
        writeln!(writer, "  T{from} -> T{to} [label={label}{style}];")?;
    }
    writeln!(writer, "}}")
}

fn cycle(finding: &Finding) -> Option<&Cycle> {
    finding.witnesses.first()?.cycle.as_ref()
}

fn edge_lines(edge: &CycleEdge, from: usize, to: usize) -> Vec<String> {
    match words::why_without_operations(edge) {
        None => {
            vec![operation_line(edge, &edge.from, from), operation_line(edge, &edge.to, to)]
        }
        Some(reason) => vec![reason.to_string()],
    }
}

/// `T1 reads Account#3.balance (Account.java:12)`.
fn operation_line(edge: &CycleEdge, operation: &Operation, number: usize) -> String {
    let place = |site: &Site| format!(" ({})", words::place(site));
    let place = operation.site.as_ref().map(place).unwrap_or_default();
    format!("T{number} {} {}{place}", operation.verb, edge.subject)
}

/// Lines as one string of `dot`, each ended so that it is set to the left. A name may hold anything,
/// quotes, backslashes and line breaks included, and must not end the string.
fn quoted(lines: &[impl AsRef<str>]) -> String {
    let mut text = String::from("\"");
    for (at, line) in lines.iter().enumerate() {
        for character in line.as_ref().chars() {
            match character {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                character if character.is_control() => text.push(' '),
                character => text.push(character),
            }
        }
        if lines.len() > 1 || at > 0 {
            text.push_str("\\l");
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn graph(finding: &Finding) -> String {
        let mut bytes = Vec::new();
        render_graph(finding, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The tokens of a graph as the grammar of `dot` has them; panics at what is none.
    fn tokens(graph: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut rest = graph.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => {
                    let mut escaped = false;
                    let end = rest[1..].find(|character| match character {
                        '"' if !escaped => true,
                        '\\' => {
                            escaped = !escaped;
                            false
                        }
                        '\n' => panic!("a string is not closed: {rest}"),
                        _ => {
                            escaped = false;
                            false
                        }
                    });
                    end.expect("a string is not closed") + 2
                }
                '-' if rest.starts_with("->") => 2,
                '{' | '}' | '[' | ']' | ';' | ',' | '=' => 1,
                _ => {
                    let end = rest.find(|character: char| !character.is_alphanumeric());
                    let length = end.unwrap_or(rest.len());
                    assert!(length > 0, "no token: {rest}");
                    length
                }
            };
            found.push(rest[..length].to_string());
            rest = rest[length..].trim_start();
        }
        found
    }

    #[test]
    fn a_cycle_is_a_graph_with_the_blamed_one_outlined_and_the_closing_edge_dashed() {
        assert_eq!(
            graph(&samples::account_deposit()),
            r#"digraph "`bank.Account.deposit` is not atomic: another thread ran between its use of `Account#3.balance` and its use of `Account#3.balance`" {
  node [shape=box, fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=10];
  T1 [label="T1 \"worker-1\"\lbank.Account.deposit\lbank/Account.java:9\l", peripheries=2, penwidth=2];
  T2 [label="T2 \"main\""];
  T1 -> T2 [label="T1 reads Account#3.balance (bank/Account.java:10)\lT2 writes Account#3.balance (bank/Account.java:14)\l"];
  T2 -> T1 [label="T2 writes Account#3.balance (bank/Account.java:14)\lT1 writes Account#3.balance (bank/Account.java:11)\l", style=dashed];
}
"#
        );
        assert_eq!(
            graph_name(&samples::account_deposit()).unwrap(),
            format!("not-serializable-{}.dot", samples::account_deposit().fingerprint.unwrap())
        );
    }

    #[test]
    fn odd_names_stay_inside_their_strings() {
        let mut finding = samples::account_deposit();
        let cycle = finding.witnesses[0].cycle.as_mut().unwrap();
        cycle.transactions[0].thread = "a\"] ; evil -> [\\".into();
        cycle.transactions[1].thread = "line\nbreak \\\" \u{1b}".into();
        cycle.edges[0].subject = "}\\".into();
        let odd = graph(&finding);
        let shape = |graph: &str| {
            let tokens = tokens(graph);
            let kind = |token: String| if token.starts_with('"') { "\"".into() } else { token };
            tokens.into_iter().map(kind).collect::<Vec<String>>()
        };
        assert_eq!(shape(&odd), shape(&graph(&samples::account_deposit())));
        assert!(!odd.contains('\u{1b}'));
    }

    #[test]
    fn what_is_no_cycle_has_no_graph() {
        assert_eq!(graph(&samples::line_contains()), "");
        assert_eq!(graph_name(&samples::line_contains()), None);
    }
}

//! Graphs in the language of Graphviz: those that analyses describe, and the cycle of a finding in the manner of
//! the Velodrome paper: a box for each transaction, the blamed one outlined, and the edge that closed the
//! cycle dashed.

use std::io::{self, Write};

use findings::{
    Cycle, CycleEdge, EdgeStyle, Finding, Graph, GraphEdge, GraphFont, GraphItem, GraphNode,
    Operation, Outline, Site,
};

use crate::words;

/// A graph in the language of Graphviz.
#[must_use]
pub fn dot(graph: &Graph) -> String {
    let mut text = format!("digraph {} {{\n", id(&graph.name));
    text.push_str(match graph.font {
        GraphFont::Default => "  node [shape=box];\n",
        GraphFont::Monospace => "  node [shape=box, fontname=monospace];\n",
        GraphFont::Proportional => {
            "  node [shape=box, fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=10];\n"
        }
    });
    if let Some(caption) = &graph.caption {
        text.push_str(&format!("  label={};\n", quoted(&[caption])));
    }
    for item in &graph.items {
        match item {
            GraphItem::Node(node) => text.push_str(&format!("  {};\n", node_statement(node))),
            GraphItem::Edge(edge) => text.push_str(&format!("  {};\n", edge_statement(edge))),
            GraphItem::Group { id, label, nodes } => {
                // Only subgraphs whose name begins like this are drawn as a box.
                let name = quoted(&[format!("cluster_{id}")]);
                text.push_str(&format!("  subgraph {name} {{\n    label={};\n", quoted(&[label])));
                for node in nodes {
                    text.push_str(&format!("    {};\n", node_statement(node)));
                }
                text.push_str("  }\n");
            }
        }
    }
    text.push_str("}\n");
    text
}

fn node_statement(node: &GraphNode) -> String {
    let outline = match node.outline {
        Outline::Single => "",
        Outline::Double => ", peripheries=2",
        Outline::DoubleBold => ", peripheries=2, penwidth=2",
    };
    format!("{} [label={}{outline}]", id(&node.id), quoted(&node.lines))
}

fn edge_statement(edge: &GraphEdge) -> String {
    let label = (!edge.lines.is_empty()).then(|| format!("label={}", quoted(&edge.lines)));
    let style = match edge.style {
        EdgeStyle::Solid => None,
        EdgeStyle::Dashed => Some("style=dashed".to_string()),
        EdgeStyle::Conflict => Some("dir=none, color=red".to_string()),
    };
    let attributes: Vec<String> = label.into_iter().chain(style).collect();
    let ends = format!("{} -> {}", id(&edge.from), id(&edge.to));
    if attributes.is_empty() { ends } else { format!("{ends} [{}]", attributes.join(", ")) }
}

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
    writer.write_all(dot(&cycle_graph(finding, cycle)).as_bytes())
}

fn cycle_graph(finding: &Finding, cycle: &Cycle) -> Graph {
    let mut items = Vec::new();
    for (at, transaction) in cycle.transactions.iter().enumerate() {
        let mut lines = vec![format!("T{} \"{}\"", at + 1, transaction.thread)];
        if let Some(block) = &transaction.block {
            lines.extend([block.method_name(), words::place(block)]);
        }
        let outline = if transaction.is_blamed { Outline::DoubleBold } else { Outline::Single };
        items.push(GraphItem::Node(GraphNode { id: format!("T{}", at + 1), lines, outline }));
    }
    let last = cycle.edges.len().saturating_sub(1);
    for (at, edge) in cycle.edges.iter().enumerate() {
        let (from, to) = (at + 1, words::target_of_edge(cycle, at) + 1);
        items.push(GraphItem::Edge(GraphEdge {
            lines: edge_lines(edge, from, to),
            from: format!("T{from}"),
            to: format!("T{to}"),
            style: if at == last { EdgeStyle::Dashed } else { EdgeStyle::Solid },
        }));
    }
    let name = words::message(finding);
    Graph { name, caption: None, font: GraphFont::Proportional, items }
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

/// A name in the graph; quoted unless it is a word of Graphviz as it is.
fn id(name: &str) -> String {
    let is_word = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let is_keyword = ["node", "edge", "graph", "digraph", "subgraph", "strict"]
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(name));
    if is_word && !is_keyword { name.to_string() } else { quoted(&[name]) }
}

/// Lines as one string of Graphviz, each ended so that it is set to the left; a single line is not ended. A name may hold anything,
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
            r#"digraph "`bank.Account.deposit` is not atomic: between its read of `Account#3.balance` (Account.java:10) and its write of `Account#3.balance` (Account.java:11) in `worker-1`, `main` wrote it (Account.java:14)" {
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

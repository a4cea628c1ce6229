//! Graphs for people as plain data: what analyses can show. The `report` crate writes them.

/// A graph with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What the graph is called.
    pub name: String,
    /// A line below the graph.
    pub caption: Option<String>,
    /// The font of its labels.
    pub font: GraphFont,
    /// Nodes, groups of nodes and edges, in the order in which they are written.
    pub items: Vec<GraphItem>,
}

/// The font of the labels of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphFont {
    /// Whatever the viewer uses.
    #[default]
    Default,
    /// For sentences and names.
    Proportional,
    /// For code.
    Monospace,
}

/// A part of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphItem {
    /// A node.
    Node(GraphNode),
    /// An edge.
    Edge(GraphEdge),
    /// Nodes that are drawn together.
    Group {
        /// Names the group in the graph.
        id: String,
        /// What stands above the nodes.
        label: String,
        /// The nodes.
        nodes: Vec<GraphNode>,
    },
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Names the node in the graph.
    pub id: String,
    /// What stands in the node, line by line.
    pub lines: Vec<String>,
    /// How it is drawn.
    pub outline: Outline,
}

/// The outline of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// A line.
    Single,
    /// Two lines.
    Double,
    /// Two bold lines.
    DoubleBold,
}

/// An edge of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The node that it leads from.
    pub from: String,
    /// The node that it leads to.
    pub to: String,
    /// What stands at the edge, line by line.
    pub lines: Vec<String>,
    /// How it is drawn.
    pub style: EdgeStyle,
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeStyle {
    /// An arrow.
    Solid,
    /// A dashed arrow.
    Dashed,
    /// A red line without a direction.
    Conflict,
}

/// What can be shown of a program: as text or as a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Description {
    /// Whole lines of text.
    Text(String),
    /// A graph.
    Graph(Graph),
}

/// Whether a description is to be text or a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionForm {
    /// Text.
    Text,
    /// A graph.
    Graph,
}

//! A parsed C text and the questions that the extractors ask of its nodes.

use std::ops::Range;

use tree_sitter::{Node, Parser, Point, Tree};

/// A C text with its syntax tree.
pub(super) struct Syntax<'t> {
    text: &'t str,
    tree: Tree,
}

impl<'t> Syntax<'t> {
    /// Parses `text`; `None` only if tree-sitter itself refuses to work.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        Self::parse_only(text, &[])
    }

    /// Parses the stretches `wanted` of `text`; none stands for all.
    pub(super) fn parse_only(text: &'t str, wanted: &[Range<usize>]) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
        // Rows and columns are asked of the source map, never of the tree.
        let point = |column| Point { row: 0, column };
        let range = |range: &Range<usize>| tree_sitter::Range {
            start_byte: range.start,
            end_byte: range.end,
            start_point: point(range.start),
            end_point: point(range.end),
        };
        let ranges: Vec<_> = wanted.iter().map(range).collect();
        parser.set_included_ranges(&ranges).ok()?;
        Some(Self { text, tree: parser.parse(text, None)? })
    }

    /// The root of the tree.
    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text under a node.
    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a node's field, or nothing.
    pub(super) fn field(&self, node: Node<'_>, field: &str) -> &'t str {
        node.child_by_field_name(field).map_or("", |child| self.text(child))
    }
}

/// The named children of a node, comments left out.
pub(super) fn children<'n>(node: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    // By cursor: asking for the nth child walks over all before it.
    let mut cursor = node.walk();
    let children: Vec<Node<'n>> = node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect();
    children.into_iter()
}

/// Calls `visit` on every node in source order; `visit` says whether to go below it.
pub(super) fn walk<'n>(root: Node<'n>, visit: &mut dyn FnMut(Node<'n>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let below = visit(cursor.node());
        if below && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node() == root {
                return;
            }
        }
    }
}

/// Every node of one of the given kinds, in source order, nested ones included.
pub(super) fn find<'n>(root: Node<'n>, kinds: &[&str]) -> Vec<Node<'n>> {
    let mut found = Vec::new();
    walk(root, &mut |node| {
        if kinds.contains(&node.kind()) {
            found.push(node);
        }
        true
    });
    found
}

/// The identifier that a declarator declares.
pub(super) fn declared(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    loop {
        match node.kind() {
            "identifier" | "type_identifier" | "field_identifier" => return Some(node),
            _ => node = node.child_by_field_name("declarator").or_else(|| children(node).next())?,
        }
    }
}

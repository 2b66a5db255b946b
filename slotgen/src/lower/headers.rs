//! Reads what a text declares at its top level.

use tree_sitter::Node;

use super::ctype::{CType, Known, integer};
use super::declarations::Declarations;
use super::text::{Text, children, parse};

/// Reads the declarations of a text into `into`; run twice, so that uses before definitions are known.
pub fn declarations(text: &str, into: &mut Declarations) {
    let Some(tree) = parse(text) else { return };
    let mut found = Declarations::default();
    {
        let mut reader = Text::new(text, into);
        for node in flat(tree.root_node()) {
            match node.kind() {
                "type_definition" => reader.typedef(node, &mut found),
                "declaration" => reader.prototype(node, &mut found),
                "function_definition" => {
                    if let Some(head) = node.child_by_field_name("declarator") {
                        reader.head(node, head, &mut found);
                    }
                }
                "struct_specifier" => reader.structure(node, reader.field(node, "name"), &mut found),
                "enum_specifier" => reader.enumeration(node, &mut found),
                _ => {}
            }
        }
    }
    into.objects.extend(found.objects);
    into.functions.extend(found.functions);
    into.prototypes.extend(found.prototypes);
    into.members.extend(found.members);
    into.structs.extend(found.structs);
    into.constants.extend(found.constants);
    into.integers.extend(found.integers);
    into.globals.extend(found.globals);
    into.shapes.members.extend(found.shapes.members);
    into.shapes.unions.extend(found.shapes.unions);
}

/// Top-level nodes, those inside `extern "C" { }` included.
fn flat(root: Node<'_>) -> Vec<Node<'_>> {
    let mut out = Vec::new();
    for node in children(root) {
        match node.kind() {
            "linkage_specification" | "declaration_list" => out.extend(
                children(node).flat_map(
                    |child| {
                        if child.kind() == "declaration_list" { flat(child) } else { vec![child] }
                    },
                ),
            ),
            _ => out.push(node),
        }
    }
    out
}

impl Text<'_> {
    fn typedef(&mut self, node: Node<'_>, found: &mut Declarations) {
        let Some(declarator) = node.child_by_field_name("declarator").map(|child| self.declarator(child)) else {
            return;
        };
        let Some(name) = declarator.name.map(|name| self.of(name).to_owned()) else { return };
        if let Some(params) = declarator.params {
            let signature = self.signature(node, declarator.stars, params);
            found.functions.insert(name, signature);
            return;
        }
        if let Some(body) = node.child_by_field_name("type") {
            match body.kind() {
                "struct_specifier" => {
                    let tag = self.field(body, "name").to_owned();
                    if found.objects.contains(&format!("struct {tag}"))
                        || self.known.objects.contains(&format!("struct {tag}"))
                    {
                        found.objects.insert(name.clone());
                    }
                    self.structure(body, &name, found);
                    if let Some(order) = self.known.structs.get(&tag).cloned() {
                        for member in &order {
                            if let Some(ctype) = self.known.members.get(&(tag.clone(), member.clone())) {
                                found.members.insert((name.clone(), member.clone()), ctype.clone());
                            }
                        }
                        found.structs.insert(name.clone(), order);
                    }
                    if let Some(shapes) = self.known.shapes.members.get(&tag).cloned() {
                        found.shapes.members.insert(name, shapes);
                    }
                }
                "enum_specifier" => {
                    if declarator.stars == 0 {
                        found.integers.insert(name, "i32");
                    }
                    self.enumeration(body, found);
                }
                "primitive_type" | "sized_type_specifier" | "type_identifier"
                    if declarator.stars == 0
                        && declarator.array.is_none()
                        && integer(self.of(body)).or_else(|| self.known.integer(self.of(body))).is_some() =>
                {
                    if let Some(int) = integer(self.of(body)).or_else(|| self.known.integer(self.of(body))) {
                        found.integers.insert(name, int);
                    }
                }
                "type_identifier" if self.known.objects.contains(self.of(body)) && declarator.stars == 0 => {
                    found.objects.insert(name);
                }
                _ => {}
            }
        }
    }

    fn prototype(&mut self, node: Node<'_>, found: &mut Declarations) {
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for child in declarators {
            self.head(node, child, found);
        }
        if let Some(body) = node.child_by_field_name("type").filter(|body| body.kind() == "struct_specifier") {
            let name = self.field(body, "name").to_owned();
            self.structure(body, &name, found);
        }
    }

    fn head(&mut self, node: Node<'_>, head: Node<'_>, found: &mut Declarations) {
        let declarator = self.declarator(head);
        let Some(name) = declarator.name.map(|name| self.of(name).to_owned()) else { return };
        match declarator.params {
            Some(params) if !declarator.pointer_to_function => {
                let signature = self.signature(node, declarator.stars, params);
                found.prototypes.insert(name, signature);
            }
            Some(_) => {}
            None => {
                let stars = declarator.stars + usize::from(declarator.array.is_some());
                let base = self.type_name(node);
                found.globals.insert(name, CType::of(&base, stars, self.known));
            }
        }
    }
}

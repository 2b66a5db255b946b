//! Lowers the members of structs and the constants of enumerations.

use tree_sitter::Node;

use super::ctype::CType;
use super::declarations::{Declarations, Shape};
use super::text::{Declarator, Text, children};

impl Text<'_> {
    pub(crate) fn structure(&mut self, node: Node<'_>, name: &str, found: &mut Declarations) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let (mut order, mut shapes) = (Vec::new(), Vec::new());
        if node.kind() == "union_specifier" {
            found.shapes.unions.insert(name.to_owned());
        }
        for field in children(body).filter(|field| field.kind() == "field_declaration") {
            let mut base = self.type_name(field);
            let bits = children(field).any(|child| child.kind() == "bitfield_clause");
            let inner = field
                .child_by_field_name("type")
                .filter(|ty| matches!(ty.kind(), "struct_specifier" | "union_specifier") && base.trim() == "struct");
            let mut cursor = field.walk();
            let declarators: Vec<_> = field.children_by_field_name("declarator", &mut cursor).collect();
            if declarators.is_empty() {
                shapes.push(self.shape(&base, &Declarator::default(), None, bits));
            }
            for child in declarators {
                let declarator = self.declarator(child);
                let Some(member) = declarator.name.map(|member| self.of(member).to_owned()) else { continue };
                let own = if inner.is_some() { format!("{name}_{member}") } else { base.clone() };
                shapes.push(self.shape(&own, &declarator, Some(member.clone()), bits));
                if let Some(inner) = inner {
                    // A struct without a name is called after the member.
                    base = format!("{name}_{member}");
                    self.structure(inner, &base.clone(), found);
                }
                let stars = declarator.stars + usize::from(declarator.array.is_some());
                let ctype = CType::of(&base, stars, self.known);
                if order.is_empty()
                    && stars == 0
                    && (matches!(base.as_str(), "PyObject" | "PyVarObject") || self.known.objects.contains(&base))
                {
                    found.objects.insert(name.to_owned());
                    let tag = self.field(node, "name");
                    found.objects.insert(format!("struct {tag}"));
                }
                order.push(member.clone());
                found.members.insert((name.to_owned(), member), ctype);
            }
        }
        found.structs.insert(name.to_owned(), order);
        found.shapes.members.insert(name.to_owned(), shapes);
    }

    fn shape(&self, base: &str, declarator: &Declarator<'_>, name: Option<String>, bits: bool) -> Shape {
        Shape {
            name,
            base: base.to_owned(),
            stars: declarator.stars,
            array: declarator.array.map(|size| size.map(|size| self.of(size).to_owned())),
            function: declarator.pointer_to_function,
            bits,
        }
    }

    pub(crate) fn enumeration(&mut self, node: Node<'_>, found: &mut Declarations) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let mut next = 0i128;
        for item in children(body).filter(|item| item.kind() == "enumerator") {
            if let Some(value) = item.child_by_field_name("value") {
                let text = self.of(value).trim();
                match super::expression::integer_of(text) {
                    Some(value) => next = value,
                    None => match text.strip_prefix('-').and_then(super::expression::integer_of) {
                        Some(value) => next = -value,
                        None => return,
                    },
                }
            }
            found.constants.insert(self.field(item, "name").to_owned(), next);
            next += 1;
        }
    }
}

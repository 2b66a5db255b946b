//! Declarations: what a declarator declares, and of which type.

use tree_sitter::Node;

use super::ctype::{Aggregate, CType, Field, Parameter};
use super::syntax::{Syntax, children};

/// Deepest declarator that is followed.
const MAX_DEPTH: u32 = 32;

/// The type that the specifiers of a declaration, field, parameter or function name.
pub(super) fn specified(syntax: &Syntax<'_>, node: Node<'_>) -> CType {
    let Some(specifier) = node.child_by_field_name("type") else { return CType::named("int") };
    let base = match specifier.kind() {
        "struct_specifier" | "union_specifier" if specifier.child_by_field_name("body").is_some() => {
            let tag = syntax.field(specifier, "name");
            if tag.is_empty() {
                CType::Aggregate(Box::new(aggregate(syntax, specifier)))
            } else {
                CType::named(&format!("{} {tag}", keyword(specifier)))
            }
        }
        "enum_specifier" => CType::named(&format!("enum {}", syntax.field(specifier, "name"))),
        _ => CType::named(syntax.text(specifier)),
    };
    let constant = children(node).any(|child| child.kind() == "type_qualifier" && syntax.text(child) == "const");
    if constant { CType::Const(Box::new(base)) } else { base }
}

fn keyword(specifier: Node<'_>) -> &'static str {
    if specifier.kind() == "union_specifier" { "union" } else { "struct" }
}

/// The fields of a struct or union with a body.
pub(super) fn aggregate(syntax: &Syntax<'_>, specifier: Node<'_>) -> Aggregate {
    let mut fields = Vec::new();
    if let Some(body) = specifier.child_by_field_name("body") {
        for declaration in children(body).filter(|child| child.kind() == "field_declaration") {
            add_fields(syntax, declaration, &mut fields);
        }
    }
    Aggregate { is_union: specifier.kind() == "union_specifier", fields }
}

fn add_fields(syntax: &Syntax<'_>, declaration: Node<'_>, fields: &mut Vec<Field>) {
    let base = specified(syntax, declaration);
    let bits: Vec<_> = children(declaration).filter(|child| child.kind() == "bitfield_clause").collect();
    let width = |clause: &Node<'_>| syntax.text(*clause).trim_start_matches(':').trim().to_owned();
    let mut cursor = declaration.walk();
    let declarators: Vec<_> = declaration.children_by_field_name("declarator", &mut cursor).collect();
    if declarators.is_empty() {
        let unnamed = syntax.text(declaration).split_once(':').map(|(_, bits)| bits.trim_end_matches(';').trim());
        fields.push(Field { name: None, ty: base, bits: unnamed.map(str::to_owned) });
        return;
    }
    for (i, declarator) in declarators.iter().enumerate() {
        let (name, ty) = declared(syntax, base.clone(), Some(*declarator));
        let name = name.filter(|name| !name.is_empty());
        let end = declarators.get(i + 1).map_or(usize::MAX, Node::start_byte);
        let own = bits.iter().find(|clause| (declarator.end_byte()..end).contains(&clause.start_byte()));
        fields.push(Field { name, ty, bits: own.map(width) });
    }
}

/// The name and type that `declarator` makes of `base`.
pub(super) fn declared(syntax: &Syntax<'_>, base: CType, declarator: Option<Node<'_>>) -> (Option<String>, CType) {
    let mut ty = base;
    let mut next = declarator;
    for _ in 0..MAX_DEPTH {
        let Some(node) = next else { return (None, ty) };
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" => {
                return (Some(syntax.text(node).to_owned()), ty);
            }
            "pointer_declarator" | "abstract_pointer_declarator" => {
                ty = CType::Pointer(Box::new(ty));
                if children(node).any(|child| child.kind() == "type_qualifier" && syntax.text(child) == "const") {
                    ty = CType::Const(Box::new(ty));
                }
            }
            "array_declarator" | "abstract_array_declarator" => {
                ty = CType::Array(Box::new(ty), syntax.field(node, "size").to_owned());
            }
            "function_declarator" | "abstract_function_declarator" => {
                ty = CType::Function(Box::new(ty), parameters(syntax, node));
            }
            _ => {}
        }
        next = node.child_by_field_name("declarator").or_else(|| inner(node));
    }
    (None, ty)
}

/// The declarator inside parentheses and attributes.
fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let wraps = matches!(
        node.kind(),
        "parenthesized_declarator" | "abstract_parenthesized_declarator" | "attributed_declarator" | "init_declarator"
    );
    wraps.then(|| children(node).next()).flatten()
}

/// The parameters of a function declarator; `(void)` has none.
pub(super) fn parameters(syntax: &Syntax<'_>, declarator: Node<'_>) -> Vec<Parameter> {
    let Some(list) = declarator.child_by_field_name("parameters") else { return Vec::new() };
    let mut found = Vec::new();
    for child in children(list) {
        match child.kind() {
            "parameter_declaration" => {
                let base = specified(syntax, child);
                let (name, ty) = declared(syntax, base, child.child_by_field_name("declarator"));
                found.push(Parameter { ty, name });
            }
            "variadic_parameter" => found.push(Parameter { ty: CType::named("..."), name: None }),
            _ => {}
        }
    }
    if let [Parameter { ty: CType::Named(only), name: None }] = found.as_slice()
        && only == "void"
    {
        found.clear();
    }
    found
}

//! Reads one text: names in scope, types and declarators; nodes of tree-sitter do not leave this room.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::{Node, Parser};

use super::ctype::{CType, Known};
use super::declarations::Declarations;
use super::ir::{Expr, Kind, Param, Signature};
use super::references;

/// A parsed text.
pub struct Text<'t> {
    pub(crate) text: &'t str,
    pub(crate) known: &'t Declarations,
    /// Names in scope and what they are called in the tree (shadowing names are made unique).
    pub(super) scopes: Vec<BTreeMap<String, String>>,
    pub(super) taken: BTreeMap<String, usize>,
    /// Variables that are structs of references to the evaluation stack.
    pub(super) references: BTreeSet<String>,
    /// Whether local variables that are function pointers are declared; otherwise they are unknown statements. Then variables of blocks
    /// beside each other have names of their own, too.
    pub(crate) pointers: bool,
}

pub(crate) fn parse(text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

pub(crate) fn children<'n>(node: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let count = u32::try_from(node.named_child_count()).unwrap_or(u32::MAX);
    (0..count).filter_map(move |i| node.named_child(i)).filter(|child| child.kind() != "comment")
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, known: &'t Declarations) -> Self {
        Self {
            text,
            known,
            scopes: vec![BTreeMap::new()],
            taken: BTreeMap::new(),
            references: BTreeSet::new(),
            pointers: false,
        }
    }

    /// The same reader, for which a local pointer to a function is a variable like any other, `(T)(x)` a cast, and `(T){x}` a list;
    /// no name stands for two variables of a function.
    pub(crate) fn with_pointers(self) -> Self {
        Self { pointers: true, ..self }
    }

    pub(crate) fn of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(crate) fn field(&self, node: Node<'_>, field: &str) -> &'t str {
        node.child_by_field_name(field).map_or("", |child| self.of(child))
    }

    /// The name by which the tree knows a variable.
    pub(crate) fn resolve(&self, name: &str) -> String {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Whether a name is a variable in scope.
    pub(crate) fn is_variable(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
    }

    pub(super) fn declare(&mut self, name: &str) -> String {
        let inner_scope = self.scopes.iter().any(|scope| scope.contains_key(name));
        let count = self.taken.entry(name.to_owned()).or_default();
        *count += 1;
        let unique =
            if inner_scope || (self.pointers && *count > 1) { format!("{name}.{count}") } else { name.to_owned() };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), unique.clone());
        }
        unique
    }

    /// The base type name of a declaration, qualifiers left out.
    pub(crate) fn type_name(&self, node: Node<'_>) -> String {
        match node.child_by_field_name("type") {
            Some(node) if matches!(node.kind(), "struct_specifier" | "enum_specifier" | "union_specifier") => {
                let tag = self.field(node, "name");
                match tag {
                    "_object" => "PyObject".to_owned(),
                    "_typeobject" => "PyTypeObject".to_owned(),
                    _ if node.kind() == "enum_specifier" => "int".to_owned(),
                    _ => format!("struct {tag}"),
                }
            }
            Some(node) => self.of(node).split_whitespace().collect::<Vec<_>>().join(" "),
            None => String::new(),
        }
    }

    /// Walks a declarator down to its name: the name, pointers, array size, and a function's parameter list if it has one.
    pub(crate) fn declarator<'n>(&self, mut node: Node<'n>) -> Declarator<'n> {
        let mut found = Declarator::default();
        loop {
            match node.kind() {
                "pointer_declarator" | "abstract_pointer_declarator" => {
                    if found.params.is_some() {
                        found.pointer_to_function = true;
                    } else {
                        found.stars += 1;
                    }
                }
                "array_declarator" | "abstract_array_declarator" => {
                    found.array = Some(node.child_by_field_name("size"))
                }
                "function_declarator" | "abstract_function_declarator" => {
                    if found.params.is_none() {
                        found.params = node.child_by_field_name("parameters");
                    }
                }
                "parenthesized_declarator" | "abstract_parenthesized_declarator" => {
                    match children(node)
                        .find(|child| child.kind().ends_with("declarator") || child.kind().ends_with("identifier"))
                    {
                        Some(child) => {
                            node = child;
                            continue;
                        }
                        None => return found,
                    }
                }
                "init_declarator" => {
                    found.init = node.child_by_field_name("value");
                }
                _ => {
                    found.name = Some(node);
                    return found;
                }
            }
            match node.child_by_field_name("declarator") {
                Some(child) => node = child,
                None => return found,
            }
        }
    }

    /// The type of a `type_descriptor` (casts, `sizeof`).
    pub(crate) fn type_descriptor(&self, node: Node<'_>) -> (CType, String) {
        let name = self.type_name(node);
        (self.described(node), name)
    }

    fn described(&self, node: Node<'_>) -> CType {
        let name = self.type_name(node);
        let Some(child) = node.child_by_field_name("declarator") else { return CType::of(&name, 0, self.known) };
        let declarator = self.declarator(child);
        if declarator.params.is_some() {
            return CType::Opaque(self.of(node).to_owned());
        }
        if self.known.is_function(&name) && declarator.stars == 1 {
            return CType::Function(format!("{name}*"));
        }
        CType::of(&name, declarator.stars, self.known)
    }

    pub(super) fn signature(&mut self, node: Node<'_>, stars: usize, params: Node<'_>) -> Signature {
        let returns = CType::of(&self.type_name(node), stars, self.known);
        let mut signature = Signature { params: Vec::new(), returns, variadic: false };
        for param in children(params) {
            match param.kind() {
                "variadic_parameter" => signature.variadic = true,
                "parameter_declaration" => {
                    let name = self.type_name(param);
                    let declarator =
                        param.child_by_field_name("declarator").map(|child| self.declarator(child)).unwrap_or_default();
                    if name == "void" && declarator.stars == 0 {
                        continue;
                    }
                    let stars = declarator.stars + usize::from(declarator.array.is_some());
                    let mut ctype = CType::of(&name, stars, self.known);
                    if declarator.params.is_some() {
                        ctype = CType::Opaque(self.of(param).to_owned());
                    }
                    signature.params.push(Param {
                        name: declarator.name.map_or("", |name| self.of(name)).to_owned(),
                        ctype,
                        structure: references::structure(name),
                        array: declarator.stars == 2 && {
                            let text: String = self.of(param).split_whitespace().collect();
                            text.contains("*const*")
                        },
                    });
                }
                _ => signature.variadic = true,
            }
        }
        signature
    }
}

/// What a declarator says.
#[derive(Default)]
pub(crate) struct Declarator<'n> {
    pub(crate) name: Option<Node<'n>>,
    pub(crate) stars: usize,
    pub(crate) array: Option<Option<Node<'n>>>,
    pub(super) params: Option<Node<'n>>,
    pub(crate) pointer_to_function: bool,
    pub(super) init: Option<Node<'n>>,
}

/// An expression that the lowering does not understand.
pub(crate) fn unknown(what: &str, at: usize) -> Expr {
    Expr { kind: Kind::Call(Box::new(Expr { kind: Kind::Name(format!("?{what}")), at }), Vec::new()), at }
}

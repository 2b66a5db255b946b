//! Lowers tree-sitter nodes to the tree of [`super::ir`]; nodes do not leave this module.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tree_sitter::{Node, Parser};

use super::ctype::{CType, Known};
use super::expression::expression;
use super::ir::{Expr, Function, Kind, Param, Signature, Stmt};

/// What a text declares at its top level.
#[derive(Debug, Default)]
pub struct Declarations {
    /// Struct typedefs that begin with an object head.
    pub objects: BTreeSet<String>,
    /// Typedefs of function pointers with their heads.
    pub functions: BTreeMap<String, Signature>,
    /// Function prototypes and definitions by name.
    pub prototypes: BTreeMap<String, Signature>,
    /// Members of structs: `(struct, member)` to its type.
    pub members: BTreeMap<(String, String), CType>,
    /// Members in order, by struct.
    pub structs: BTreeMap<String, Vec<String>>,
    /// Enumeration constants.
    pub constants: BTreeMap<String, i128>,
    /// Typedefs of integers and enumerations, by their Rust type.
    pub integers: BTreeMap<String, &'static str>,
    /// File-level variables with their types.
    pub globals: BTreeMap<String, CType>,
    /// Members as they are declared, for their places in memory.
    pub shapes: super::layout::Shapes,
}

impl Known for Declarations {
    fn is_object(&self, name: &str) -> bool {
        matches!(name, "PyObject" | "PyVarObject" | "PyTypeObject") || self.objects.contains(name)
    }
    fn is_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }
    fn integer(&self, name: &str) -> Option<&'static str> {
        self.integers.get(name).copied()
    }
}

/// A parsed text.
pub struct Text<'t> {
    pub(crate) text: &'t str,
    pub(crate) known: &'t Declarations,
    /// Names in scope and what they are called in the tree (shadowing names are made unique).
    scopes: Vec<BTreeMap<String, String>>,
    taken: BTreeMap<String, usize>,
    /// Whether local variables that are function pointers are declared; otherwise they are unknown statements.
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
        Self { text, known, scopes: vec![BTreeMap::new()], taken: BTreeMap::new(), pointers: false }
    }

    /// The same reader, for which a local pointer to a function is a variable like any other, `(T)(x)` a cast, and `(T){x}` a list.
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

    fn declare(&mut self, name: &str) -> String {
        let inner_scope = self.scopes.iter().any(|scope| scope.contains_key(name));
        let count = self.taken.entry(name.to_owned()).or_default();
        *count += 1;
        let unique = if inner_scope { format!("{name}.{count}") } else { name.to_owned() };
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

    fn signature(&mut self, node: Node<'_>, stars: usize, params: Node<'_>) -> Signature {
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
                        structure: name,
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

    pub(crate) fn statements(&mut self, node: Node<'_>) -> Rc<[Stmt]> {
        self.scopes.push(BTreeMap::new());
        let mut out = Vec::new();
        for child in children(node) {
            self.statement(child, &mut out);
        }
        self.scopes.pop();
        out.into()
    }

    fn one(&mut self, node: Node<'_>) -> Rc<Stmt> {
        self.scopes.push(BTreeMap::new());
        let mut out = Vec::new();
        self.statement(node, &mut out);
        self.scopes.pop();
        Rc::new(if out.len() == 1 { out.remove(0) } else { Stmt::Block(out.into()) })
    }

    fn statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let at = node.start_byte();
        match node.kind() {
            "compound_statement" => out.push(Stmt::Block(self.statements(node))),
            "expression_statement" => {
                if let Some(child) = node.named_child(0) {
                    out.push(Stmt::Expr(expression(self, child)));
                }
            }
            "declaration" => self.declaration(node, out),
            "if_statement" => {
                let Some(condition) = node.child_by_field_name("condition") else { return };
                let condition = expression(self, condition);
                let yes = node.child_by_field_name("consequence").map(|child| self.one(child));
                let no = node
                    .child_by_field_name("alternative")
                    .and_then(|child| child.named_child(0))
                    .map(|child| self.one(child));
                out.push(Stmt::If(condition, yes.unwrap_or_else(|| Rc::new(Stmt::Block(Rc::from([])))), no));
            }
            "while_statement" => {
                let condition = node.child_by_field_name("condition").map(|child| expression(self, child));
                let Some(body) = node.child_by_field_name("body") else { return };
                let body = self.one(body);
                out.push(Stmt::While { condition, step: None, body, at });
            }
            "do_statement" => {
                let (Some(body), Some(condition)) =
                    (node.child_by_field_name("body"), node.child_by_field_name("condition"))
                else {
                    return;
                };
                let body = self.one(body);
                out.push(Stmt::DoWhile(body, expression(self, condition)));
            }
            "for_statement" => {
                self.scopes.push(BTreeMap::new());
                let mut inner = Vec::new();
                if let Some(first) = node.child_by_field_name("initializer") {
                    if first.kind() == "declaration" {
                        self.declaration(first, &mut inner);
                    } else {
                        inner.push(Stmt::Expr(expression(self, first)));
                    }
                }
                let condition = node.child_by_field_name("condition").map(|child| expression(self, child));
                let step = node.child_by_field_name("update").map(|child| expression(self, child));
                if let Some(body) = node.child_by_field_name("body") {
                    let body = self.one(body);
                    inner.push(Stmt::While { condition, step, body, at });
                }
                self.scopes.pop();
                out.push(Stmt::Block(inner.into()));
            }
            "return_statement" => out.push(Stmt::Return(node.named_child(0).map(|child| expression(self, child)), at)),
            "goto_statement" => out.push(Stmt::Goto(self.field(node, "label").to_owned(), at)),
            "labeled_statement" => {
                out.push(Stmt::Label(self.field(node, "label").to_owned()));
                for child in children(node).skip(1) {
                    self.statement(child, out);
                }
            }
            "break_statement" => out.push(Stmt::Break),
            "continue_statement" => out.push(Stmt::Continue),
            "switch_statement" => {
                let (Some(value), Some(body)) =
                    (node.child_by_field_name("condition"), node.child_by_field_name("body"))
                else {
                    return;
                };
                let value = expression(self, value);
                out.push(Stmt::Switch(value, self.statements(body)));
            }
            "case_statement" => {
                let value = node.child_by_field_name("value");
                out.push(Stmt::Case(value.map(|child| expression(self, child))));
                for child in children(node).filter(|child| Some(*child) != value) {
                    self.statement(child, out);
                }
            }
            "empty_statement" => {}
            other => out.push(Stmt::Unknown(other.to_owned(), at)),
        }
    }

    fn declaration(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let name = self.type_name(node);
        let structure = name.clone();
        let at = node.start_byte();
        let is_static =
            children(node).any(|child| child.kind() == "storage_class_specifier" && self.of(child) == "static");
        // What never changes may as well be made anew by every call.
        let is_static = is_static && !self.of(node).contains("const ") && !self.of(node).contains("char *");
        if is_static && node.child_by_field_name("type").is_some_and(|ty| ty.child_by_field_name("body").is_some()) {
            // A struct of its own kind is memory: whoever names it is not understood.
            return;
        }
        let is_static = is_static && !super::usage::is_parser(&name);
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for child in declarators {
            let declarator = self.declarator(child);
            let Some(identifier) = declarator.name else { continue };
            let pointer = self.pointers && declarator.pointer_to_function && !is_static;
            if is_static && declarator.params.is_none() && declarator.init.is_none_or(is_null) {
                let ctype = CType::of(&name, declarator.stars, self.known);
                let array = declarator.array.map(|size| size.map(|size| expression(self, size)));
                let name = self.declare(self.of(identifier));
                out.push(Stmt::Static { name, ctype, structure: structure.clone(), array, at });
                continue;
            }
            if (declarator.params.is_some() && !pointer) || is_static {
                out.push(Stmt::Unknown(
                    if is_static { "static variable".to_owned() } else { "local function declarator".to_owned() },
                    at,
                ));
                continue;
            }
            let ctype = match pointer {
                true => CType::Function(self.of(child).to_owned()),
                false => CType::of(&name, declarator.stars, self.known),
            };
            let init = declarator.init.map(|init| expression(self, init));
            let array = declarator.array.map(|size| size.map(|size| expression(self, size)));
            let name = self.declare(self.of(identifier));
            out.push(Stmt::Declare { name, ctype, structure: structure.clone(), array, init, at });
        }
    }

    /// Every function defined at the top level of the text.
    pub(crate) fn functions(&mut self, root: Node<'_>, file: &str) -> Vec<Function> {
        let mut out = Vec::new();
        for node in children(root).filter(|node| node.kind() == "function_definition") {
            let (Some(head), Some(body)) = (node.child_by_field_name("declarator"), node.child_by_field_name("body"))
            else {
                continue;
            };
            let declarator = self.declarator(head);
            let (Some(name), Some(params)) = (declarator.name, declarator.params) else { continue };
            let name = self.of(name).to_owned();
            self.taken.clear();
            let signature = self.signature(node, declarator.stars, params);
            self.scopes.push(BTreeMap::new());
            for param in &signature.params {
                self.declare(&param.name);
            }
            let statements = self.statements(body);
            self.scopes.pop();
            let is_static =
                children(node).any(|child| child.kind() == "storage_class_specifier" && self.of(child) == "static");
            out.push(Function {
                name,
                file: file.to_owned(),
                is_static,
                signature,
                body: statements,
                range: node.byte_range(),
            });
        }
        out
    }
}

/// What a declarator says.
#[derive(Default)]
pub(crate) struct Declarator<'n> {
    pub(crate) name: Option<Node<'n>>,
    pub(crate) stars: usize,
    pub(crate) array: Option<Option<Node<'n>>>,
    params: Option<Node<'n>>,
    pub(crate) pointer_to_function: bool,
    init: Option<Node<'n>>,
}

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
                        && super::ctype::integer(self.of(body))
                            .or_else(|| self.known.integer(self.of(body)))
                            .is_some() =>
                {
                    if let Some(int) =
                        super::ctype::integer(self.of(body)).or_else(|| self.known.integer(self.of(body)))
                    {
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

/// Whether an initialiser is `NULL`, which static variables are anyway.
fn is_null(node: Node<'_>) -> bool {
    node.kind() == "null"
}

/// An expression that the lowering does not understand.
pub(crate) fn unknown(what: &str, at: usize) -> Expr {
    Expr { kind: Kind::Call(Box::new(Expr { kind: Kind::Name(format!("?{what}")), at }), Vec::new()), at }
}

//! Lowers the nodes of statements and functions.

use std::collections::BTreeMap;
use std::rc::Rc;

use tree_sitter::Node;

use super::ctype::CType;
use super::expression::expression;
use super::ir::{Function, Stmt};
use super::references;
use super::text::{Text, children};
use super::usage::is_parser;

impl Text<'_> {
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
                    let expr = expression(self, child);
                    out.push(Stmt::Expr(references::given_by_place(expr)));
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
        let structure = references::structure(name.clone());
        let at = node.start_byte();
        let is_static =
            children(node).any(|child| child.kind() == "storage_class_specifier" && self.of(child) == "static");
        // What never changes may as well be made anew by every call.
        let is_static = is_static && !self.of(node).contains("const ") && !self.of(node).contains("char *");
        if is_static && node.child_by_field_name("type").is_some_and(|ty| ty.child_by_field_name("body").is_some()) {
            // A struct of its own kind is memory: whoever names it is not understood.
            return;
        }
        let is_static = is_static && !is_parser(&name);
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
            let is_reference = name == "_PyCStackRef";
            let name = self.declare(self.of(identifier));
            if is_reference {
                self.references.insert(name.clone());
            }
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
            self.references.clear();
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

/// Whether an initialiser is `NULL`, which static variables are anyway.
fn is_null(node: Node<'_>) -> bool {
    node.kind() == "null"
}

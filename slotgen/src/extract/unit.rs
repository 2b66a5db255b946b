//! One preprocessed file: its functions, prototypes, types, constants and initialised variables.

use tree_sitter::Node;

use super::ctype::CType;
use super::declare::{aggregate, declared, specified};
use super::digest::digest;
use super::syntax::{Syntax, children, find};
use super::unit_facts::{Tagged, Typedef, UnitFacts, Variable};
use super::value::value;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Function, Parameter, Prototype, Signature};
use crate::preprocess::Unit;

/// Types of the variables that are read, `[]` for arrays.
const TABLES: &[&str] = &[
    "PyTypeObject",
    "PyNumberMethods",
    "PySequenceMethods",
    "PyMappingMethods",
    "PyAsyncMethods",
    "PyBufferProcs",
    "PyMethodDef",
    "PyMethodDef[]",
    "PyGetSetDef[]",
    "PyMemberDef[]",
    "PyType_Slot[]",
    "PyType_Spec",
    "PyStructSequence_Desc",
    "PyStructSequence_Field[]",
    "PyModuleDef",
    "PyModuleDef_Slot[]",
    "pytype_slotdef[]",
    "slotdef[]",
    "wrapperbase[]",
    "char[]",
    "char *",
];

/// Reads a unit.
pub(super) fn read(unit: &Unit) -> UnitFacts {
    let plain = unit.macros.iter().filter(|made| made.parameters.is_none());
    let macros = plain.map(|made| (made.name.clone(), made.body.clone())).collect();
    let mut reader = Reader { unit, facts: UnitFacts { path: unit.path.clone(), macros, ..UnitFacts::default() } };
    let wanted = super::body_filter::wanted(&unit.text, &unit.bodies);
    match Syntax::parse_only(&unit.text, &wanted) {
        Some(syntax) => reader.file(&syntax),
        None => reader.report(0, "extract/parser", "tree-sitter gave no tree".to_owned(), "report this file"),
    }
    reader.facts
}

/// What the parser does not understand of a unit, of which nothing is left out.
pub(super) fn faults(unit: &Unit) -> Diagnostics {
    let mut reader = Reader { unit, facts: UnitFacts::default() };
    match Syntax::parse(&unit.text) {
        Some(syntax) if syntax.root().has_error() => reader.syntax_errors(&syntax),
        Some(_) => {}
        None => reader.report(0, "extract/parser", "tree-sitter gave no tree".to_owned(), "report this file"),
    }
    reader.facts.diagnostics
}

pub(super) struct Reader<'u> {
    pub(super) unit: &'u Unit,
    pub(super) facts: UnitFacts,
}

/// How many syntax errors of one file are told.
const MAX_SYNTAX_ERRORS: usize = 20;

impl Reader<'_> {
    fn report(&mut self, at: usize, code: &'static str, message: String, help: &str) {
        let origin = self.unit.map.origin(at);
        let (file, line, column) = (origin.file.to_owned(), origin.line, origin.column);
        let help = help.to_owned();
        self.facts.diagnostics.push(Diagnostic { severity: Severity::Gap, code, file, line, column, message, help });
    }

    fn place(&self, node: Node<'_>) -> (String, u32) {
        let origin = self.unit.map.origin(node.start_byte());
        (origin.file.to_owned(), origin.line)
    }

    fn file(&mut self, syntax: &Syntax<'_>) {
        if syntax.root().has_error() {
            self.syntax_errors(syntax);
        }
        self.items(syntax, syntax.root());
    }

    fn items(&mut self, syntax: &Syntax<'_>, parent: Node<'_>) {
        for node in children(parent) {
            match node.kind() {
                "function_definition" => self.function(syntax, node),
                "declaration" => self.declaration(syntax, node),
                "type_definition" => self.typedef(syntax, node),
                "struct_specifier" | "union_specifier" | "enum_specifier" => self.tags(syntax, node),
                "expression_statement" => self.doc_string(syntax, node),
                "linkage_specification" | "declaration_list" => self.items(syntax, node),
                _ => {}
            }
        }
    }

    fn syntax_errors(&mut self, syntax: &Syntax<'_>) {
        let mut broken = Vec::new();
        super::syntax::walk(syntax.root(), &mut |node| {
            // `unsigned int :23;` has no declarator, and the grammar wants one.
            let unnamed_bits =
                node.is_missing() && node.next_sibling().is_some_and(|next| next.kind() == "bitfield_clause");
            if (node.is_error() || node.is_missing()) && !unnamed_bits {
                broken.push((node.start_byte(), syntax.text(node).chars().take(60).collect::<String>()));
            }
            node.has_error() && !node.is_error()
        });
        for (at, excerpt) in broken.into_iter().take(MAX_SYNTAX_ERRORS) {
            let message = format!("this is no C that the parser understands: `{excerpt}`");
            self.report(
                at,
                "extract/syntax",
                message,
                "check the file; if a compiler accepts it, the preprocessor must learn the construct",
            );
        }
    }

    fn function(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        let base = specified(syntax, node);
        let (name, ty) = declared(syntax, base, node.child_by_field_name("declarator"));
        let (Some(name), CType::Function(..)) = (name, &ty) else {
            let message = format!("not understood as a function: `{}`", syntax.text(node).lines().next().unwrap_or(""));
            return self.report(
                node.start_byte(),
                "extract/function",
                message,
                "teach slotgen/src/extract/declare.rs this declarator",
            );
        };
        let Some(signature) = signature(&ty) else { return };
        let at = node.child_by_field_name("declarator").and_then(super::syntax::declared).unwrap_or(node);
        let origin = self.unit.map.origin(at.start_byte());
        let through_macro = origin.through_macro.map(str::to_owned);
        let (file, line) = (origin.file.to_owned(), origin.line);
        let unit = (file != self.unit.path).then(|| self.unit.path.clone());
        let (is_static, digest) = (is_static(syntax, node), digest(syntax.text(node)));
        let text = node.child_by_field_name("body").map_or("", |body| syntax.text(body));
        let (calls, strings) = super::body::scan(text);
        if let Some(body) = node.child_by_field_name("body") {
            self.assignments(syntax, body);
            self.creations(syntax, body);
            if name == "inherit_slots" {
                self.copies(syntax, body);
            }
            self.local_tables(syntax, body);
        }
        self.facts.functions.push(Function {
            name,
            file,
            line,
            unit,
            through_macro,
            is_static,
            digest,
            signature,
            calls,
            strings,
        });
    }

    fn declaration(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        if let Some(specifier) = node.child_by_field_name("type") {
            self.tags(syntax, specifier);
        }
        let base = specified(syntax, node);
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            if declarator.kind() == "init_declarator" {
                continue;
            }
            let (name, ty) = declared(syntax, base.clone(), Some(declarator));
            if let (Some(name), Some(signature)) = (name, signature(&ty)) {
                let (file, line) = self.place(super::syntax::declared(declarator).unwrap_or(declarator));
                self.facts.prototypes.push(Prototype { name, file, line, signature });
            }
        }
        self.variables(syntax, node);
    }

    pub(super) fn variables(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        let base = specified(syntax, node);
        let base = if let CType::Const(inner) = base { *inner } else { base };
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            // Of an initialiser that is not understood no row is believed.
            let Some(held) = declarator.child_by_field_name("value").filter(|held| !held.has_error()) else { continue };
            let inner = declarator.child_by_field_name("declarator");
            let (name, ty) = declared(syntax, base.clone(), inner);
            let ty = if let CType::Array(element, _) = &ty { format!("{element}[]") } else { ty.to_string() };
            let ty = ty.strip_prefix("struct ").unwrap_or(&ty).to_owned();
            let Some(name) = name.filter(|_| TABLES.contains(&ty.as_str())) else { continue };
            let at = inner.and_then(super::syntax::declared).unwrap_or(declarator);
            let origin = self.unit.map.origin(at.start_byte());
            let (file, line, column) = (origin.file.to_owned(), origin.line, origin.column);
            self.facts.variables.push(Variable { name, ty, value: value(syntax, held), file, line, column });
        }
    }

    /// `PyDoc_STRVAR(name, "text");`
    fn doc_string(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        let Some(call) = children(node).next().filter(|call| syntax.field(*call, "function") == "PyDoc_STRVAR") else {
            return;
        };
        let Some(arguments) = call.child_by_field_name("arguments") else { return };
        let mut arguments = children(arguments);
        let (Some(name), Some(text)) = (arguments.next(), arguments.next()) else { return };
        let origin = self.unit.map.origin(name.start_byte());
        let (file, line, column) = (origin.file.to_owned(), origin.line, origin.column);
        let (name, ty) = (syntax.text(name).to_owned(), "char[]".to_owned());
        self.facts.variables.push(Variable { name, ty, value: value(syntax, text), file, line, column });
    }

    fn typedef(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        if let Some(specifier) = node.child_by_field_name("type") {
            self.tags(syntax, specifier);
        }
        let base = specified(syntax, node);
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let (name, ty) = declared(syntax, base.clone(), Some(declarator));
            if let Some(name) = name {
                let (file, line) = self.place(super::syntax::declared(declarator).unwrap_or(declarator));
                self.facts.typedefs.push(Typedef { name, ty, file, line });
            }
        }
    }

    /// Tagged structs and enumerators, nested ones included.
    fn tags(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        if node.child_by_field_name("body").is_none() {
            return;
        }
        for specifier in find(node, &["struct_specifier", "union_specifier", "enum_specifier"]) {
            let name = syntax.field(specifier, "name");
            if specifier.kind() == "enum_specifier" {
                self.enumerators(syntax, specifier);
            } else if !name.is_empty() && specifier.child_by_field_name("body").is_some() {
                let (file, line) = self.place(specifier);
                let name = format!("{} {name}", if specifier.kind() == "union_specifier" { "union" } else { "struct" });
                self.facts.tagged.push(Tagged { name, aggregate: aggregate(syntax, specifier), file, line });
            }
        }
    }

    fn enumerators(&mut self, syntax: &Syntax<'_>, specifier: Node<'_>) {
        let Some(body) = specifier.child_by_field_name("body") else { return };
        let mut next = Some(0);
        for enumerator in children(body).filter(|child| child.kind() == "enumerator") {
            if let Some(held) = enumerator.child_by_field_name("value") {
                let expression = syntax.text(held).parse::<crate::facts::Expression>().ok();
                next = expression.and_then(|held| held.evaluate(&|name| self.facts.constants.get(name).copied()));
            }
            let Some(number) = next else { continue };
            self.facts.constants.insert(syntax.field(enumerator, "name").to_owned(), number);
            next = number.checked_add(1);
        }
    }
}

/// The last identifier of `state->field` or `*name`.
pub(super) fn last_word(text: &str) -> Option<String> {
    let word = text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| !word.is_empty())?;
    Some(word.to_owned())
}

pub(super) fn is_static(syntax: &Syntax<'_>, node: Node<'_>) -> bool {
    children(node).any(|child| child.kind() == "storage_class_specifier" && syntax.text(child) == "static")
}

/// The signature of a function type, or of a pointer to one.
pub(super) fn signature(ty: &CType) -> Option<Signature> {
    let CType::Function(returns, parameters) = ty else { return None };
    let parameters =
        parameters.iter().map(|parameter| Parameter { ty: parameter.ty.to_string(), name: parameter.name.clone() });
    Some(Signature { returns: returns.to_string(), parameters: parameters.collect() })
}

//! One preprocessed file: its functions, prototypes, types, constants and initialised variables.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::ctype::{Aggregate, CType};
use super::declare::{aggregate, declared, specified};
use super::digest::digest;
use super::syntax::{Syntax, children, find};
use super::value::{Value, value};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Function, Parameter, Prototype, Signature};
use crate::preprocess::Unit;

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct UnitFacts {
    pub path: String,
    pub functions: Vec<Function>,
    pub prototypes: Vec<Prototype>,
    pub typedefs: Vec<Typedef>,
    pub tagged: Vec<Tagged>,
    pub constants: FxHashMap<String, i64>,
    /// Bodies of the object-like macros that it defines.
    pub macros: FxHashMap<String, String>,
    pub variables: Vec<Variable>,
    pub assignments: Vec<Assignment>,
    pub creations: Vec<Creation>,
    /// Slots that `inherit_slots` copies.
    pub inherits: Vec<String>,
    pub diagnostics: Diagnostics,
}

/// `typedef TYPE NAME;`
#[derive(Debug)]
pub(super) struct Typedef {
    pub name: String,
    pub ty: CType,
    pub file: String,
    pub line: u32,
}

/// `struct TAG { … };`
#[derive(Debug)]
pub(super) struct Tagged {
    pub name: String,
    pub aggregate: Aggregate,
    pub file: String,
    pub line: u32,
}

/// A variable with an initialiser, of a type that the tables are made of.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub ty: String,
    pub value: Value,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// `NAME.field = value;` in a function body, for fields of types.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub object: String,
    pub field: String,
    pub value: Value,
}

/// `TARGET = PyType_FromModuleAndSpec(module, &SPEC, BASES)` and its relatives.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    pub spec: Value,
    /// What stands for the bases: a name, `state->field`, or the arguments of `PyTuple_Pack`.
    pub bases: Vec<Value>,
    /// The metatype, if one is given.
    pub metatype: Option<Value>,
    /// Type flags that the call adds.
    pub flags: Vec<String>,
    /// The variable or last field that takes the result in the end.
    pub target: Option<String>,
    /// The variable that takes it first.
    pub variable: Option<String>,
}

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
    let wanted = super::skim::wanted(&unit.text, &unit.bodies);
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

struct Reader<'u> {
    unit: &'u Unit,
    facts: UnitFacts,
}

/// How many syntax errors of one file are told.
const MAX_SYNTAX_ERRORS: usize = 20;

impl Reader<'_> {
    fn report(&mut self, at: usize, code: &'static str, message: String, help: &str) {
        let origin = self.unit.map.origin(at);
        let (file, line, column) = (origin.file.to_owned(), origin.line, origin.column);
        let help = help.to_owned();
        self.facts.diagnostics.push(Diagnostic { severity: Severity::Error, code, file, line, column, message, help });
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

    /// Static tables inside a function.
    fn local_tables(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
        for node in find(body, &["declaration"]) {
            if is_static(syntax, node) {
                self.variables(syntax, node);
            }
        }
    }

    /// Assignments to fields; on the way down it keeps what each open block declares, so that deep nesting costs no more.
    fn assignments(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
        let mut scopes: Vec<Vec<(String, String)>> = Vec::new();
        let mut work = vec![Some(body)];
        while let Some(visit) = work.pop() {
            let Some(node) = visit else {
                scopes.pop();
                continue;
            };
            match node.kind() {
                "compound_statement" => {
                    scopes.push(pointers(syntax, node));
                    work.push(None);
                }
                "assignment_expression" => self.assignment(syntax, body, node, &scopes),
                _ => {}
            }
            let inner: Vec<_> = children(node).map(Some).collect();
            work.extend(inner.into_iter().rev());
        }
    }

    fn assignment(&mut self, syntax: &Syntax<'_>, body: Node<'_>, node: Node<'_>, scopes: &[Vec<(String, String)>]) {
        let Some(left) = node.child_by_field_name("left").filter(|left| left.kind() == "field_expression") else {
            return;
        };
        let (object, field) = (syntax.field(left, "argument"), syntax.field(left, "field"));
        if !field.starts_with("tp_") && !matches!(field, "name" | "pfunc") {
            return;
        }
        let mut held = node.child_by_field_name("right").map_or(Value::Null, |right| value(syntax, right));
        if field == "tp_base"
            && let Value::Name(name) = &held
        {
            held = initialised(syntax, body, name).unwrap_or(held);
        }
        // `PyTypeObject *type = &X; type->tp_base = …;` sets a field of X.
        let declared = scopes.iter().rev().flatten().find(|(name, _)| name == object);
        let object = declared.map_or_else(|| object.to_owned(), |(_, pointed)| pointed.clone());
        self.facts.assignments.push(Assignment { object, field: field.to_owned(), value: held });
    }

    /// `type->SLOT = base->SLOT` in `inherit_slots`.
    fn copies(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
        for node in find(body, &["assignment_expression"]) {
            let (left, right) = (node.child_by_field_name("left"), node.child_by_field_name("right"));
            let (Some(left), Some(right)) = (left, right) else { continue };
            let (left, right) = (syntax.text(left), syntax.text(right));
            let copied = left.strip_prefix("type->").filter(|path| right.strip_prefix("base->") == Some(path));
            if let Some(slot) = copied.and_then(|path| path.rsplit("->").next()).map(str::to_owned)
                && !self.facts.inherits.contains(&slot)
            {
                self.facts.inherits.push(slot);
            }
        }
    }

    fn creations(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
        for call in find(body, &["call_expression"]) {
            let callee = syntax.field(call, "function");
            let Some(arguments) = call.child_by_field_name("arguments") else { continue };
            let arguments: Vec<_> = children(arguments).collect();
            let made = if callee.contains("PyStructSequence_") {
                sequence(syntax, callee, &arguments, call, body)
            } else if callee.starts_with("PyType_From") {
                from_spec(syntax, callee, &arguments, call, body)
            } else {
                None
            };
            self.facts.creations.extend(made);
        }
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

    fn variables(&mut self, syntax: &Syntax<'_>, node: Node<'_>) {
        let base = specified(syntax, node);
        let base = if let CType::Const(inner) = base { *inner } else { base };
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(held) = declarator.child_by_field_name("value") else { continue };
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

/// `PyType_FromModuleAndSpec(module, &spec, bases)` and its relatives.
fn from_spec(
    syntax: &Syntax<'_>,
    callee: &str,
    arguments: &[Node<'_>],
    call: Node<'_>,
    body: Node<'_>,
) -> Option<Creation> {
    let (metatype, spec, bases) = match (callee, arguments) {
        ("PyType_FromSpec", [spec]) => (None, spec, None),
        ("PyType_FromSpecWithBases", [spec, bases]) => (None, spec, Some(bases)),
        ("PyType_FromModuleAndSpec", [_, spec, bases]) => (None, spec, Some(bases)),
        ("PyType_FromMetaclass", [metatype, _, spec, bases]) => (Some(metatype), spec, Some(bases)),
        _ => return None,
    };
    let bases = bases.map_or(Vec::new(), |bases| base_values(syntax, body, *bases));
    let metatype = metatype.map(|node| value(syntax, *node)).filter(|value| *value != Value::Null);
    let (variable, target) = target(syntax, call, body).unzip();
    Some(Creation { spec: value(syntax, *spec), bases, metatype, flags: Vec::new(), target, variable })
}

/// `PyStructSequence_InitType(&type, &description)`, `PyStructSequence_NewType(&description)` and their relatives.
fn sequence(
    syntax: &Syntax<'_>,
    callee: &str,
    arguments: &[Node<'_>],
    call: Node<'_>,
    body: Node<'_>,
) -> Option<Creation> {
    let values: Vec<Value> = arguments.iter().map(|node| value(syntax, *node)).collect();
    let is_flag = |value: &Value| super::fields::text(value).contains("Py_TPFLAGS_");
    let flags = values.iter().filter(|value| is_flag(value)).flat_map(super::fields::flags).collect();
    let mut names = values.iter().filter(|value| value.name().is_some() && !is_flag(value)).rev();
    let spec = names.next()?.clone();
    let given = names.next().and_then(Value::name).filter(|_| callee.contains("_Init")).map(str::to_owned);
    let (variable, taken) = target(syntax, call, body).unzip();
    let target = given.or(taken);
    Some(Creation { spec, bases: Vec::new(), metatype: None, flags, target, variable })
}

/// What a call's result is assigned to, first and in the end: a variable, or the last field of `state->field`.
fn target(syntax: &Syntax<'_>, call: Node<'_>, body: Node<'_>) -> Option<(String, String)> {
    let mut node = call;
    let (direct, is_local) = loop {
        node = node.parent()?;
        match node.kind() {
            "cast_expression" | "parenthesized_expression" => {}
            "assignment_expression" => {
                break (last_word(syntax.field(node, "left"))?, !syntax.field(node, "left").contains("->"));
            }
            "init_declarator" => break (last_word(syntax.field(node, "declarator"))?, true),
            _ => return None,
        }
    };
    // `type = PyType_From…(…); state->T = type;`: the next one to take the local variable counts.
    let passed = find(body, &["assignment_expression"]).into_iter().find(|next| {
        let right = next.child_by_field_name("right").map(|right| value(syntax, right));
        is_local && next.start_byte() > call.end_byte() && right.as_ref().and_then(Value::name) == Some(direct.as_str())
    });
    let last = passed.and_then(|next| last_word(syntax.field(next, "left"))).unwrap_or_else(|| direct.clone());
    Some((direct, last))
}

/// The last identifier of `state->field` or `*name`.
pub(super) fn last_word(text: &str) -> Option<String> {
    let word = text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| !word.is_empty())?;
    Some(word.to_owned())
}

/// Variables that a block's own declarations initialise with another's name or address, and that other.
fn pointers(syntax: &Syntax<'_>, block: Node<'_>) -> Vec<(String, String)> {
    let declarations = children(block).filter(|child| child.kind() == "declaration");
    let declarators = declarations.flat_map(|declaration| find(declaration, &["init_declarator"]));
    let pairs = declarators.filter_map(|node| {
        let name = last_word(syntax.field(node, "declarator"))?;
        match value(syntax, node.child_by_field_name("value")?) {
            Value::Name(pointed) => Some((name, pointed)),
            _ => None,
        }
    });
    pairs.collect()
}

/// The value that a local variable is initialised with.
fn initialised(syntax: &Syntax<'_>, body: Node<'_>, name: &str) -> Option<Value> {
    let nodes = find(body, &["init_declarator"]);
    let node = nodes.into_iter().find(|node| last_word(syntax.field(*node, "declarator")).as_deref() == Some(name))?;
    Some(value(syntax, node.child_by_field_name("value")?))
}

/// The bases that an argument stands for: `PyTuple_Pack(…)`, in place or assigned to the variable before, or one base.
fn base_values(syntax: &Syntax<'_>, body: Node<'_>, bases: Node<'_>) -> Vec<Value> {
    let direct = value(syntax, bases);
    if let Some(packed) = packed(syntax, bases) {
        return packed;
    }
    if let Value::Name(name) = &direct {
        for node in find(body, &["assignment_expression", "init_declarator"]) {
            let left = if node.kind() == "init_declarator" { "declarator" } else { "left" };
            let right = if node.kind() == "init_declarator" { "value" } else { "right" };
            let same = last_word(syntax.field(node, left)).as_ref() == Some(name);
            if let Some(right) = node.child_by_field_name(right).filter(|_| same) {
                return packed(syntax, right).unwrap_or_else(|| vec![value(syntax, right)]);
            }
        }
    }
    if direct == Value::Null { Vec::new() } else { vec![direct] }
}

fn packed(syntax: &Syntax<'_>, node: Node<'_>) -> Option<Vec<Value>> {
    let call = if node.kind() == "cast_expression" { node.child_by_field_name("value")? } else { node };
    if call.kind() != "call_expression" || syntax.field(call, "function") != "PyTuple_Pack" {
        return None;
    }
    let arguments = call.child_by_field_name("arguments")?;
    Some(children(arguments).skip(1).map(|argument| value(syntax, argument)).collect())
}

fn is_static(syntax: &Syntax<'_>, node: Node<'_>) -> bool {
    children(node).any(|child| child.kind() == "storage_class_specifier" && syntax.text(child) == "static")
}

/// The signature of a function type, or of a pointer to one.
pub(super) fn signature(ty: &CType) -> Option<Signature> {
    let CType::Function(returns, parameters) = ty else { return None };
    let parameters =
        parameters.iter().map(|parameter| Parameter { ty: parameter.ty.to_string(), name: parameter.name.clone() });
    Some(Signature { returns: returns.to_string(), parameters: parameters.collect() })
}

//! What function bodies set: fields of types, and types that are made from specs.

use tree_sitter::Node;

use super::syntax::{Syntax, children, find};
use super::unit::{Reader, is_static, last_word};
use super::unit_facts::{Assignment, Creation};
use super::value::{Value, value};

impl Reader<'_> {
    /// Static tables inside a function.
    pub(super) fn local_tables(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
        for node in find(body, &["declaration"]) {
            if is_static(syntax, node) {
                self.variables(syntax, node);
            }
        }
    }

    /// Assignments to fields; on the way down it keeps what each open block declares, so that deep nesting costs no more.
    pub(super) fn assignments(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
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
    pub(super) fn copies(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
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

    pub(super) fn creations(&mut self, syntax: &Syntax<'_>, body: Node<'_>) {
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

//! Lowers the nodes of expressions.

use tree_sitter::Node;

use super::ctype::{CType, Known, integer};
use super::ir::{Expr, Kind};
use super::references;
use super::text::{Text, children, unknown};

/// Lowers one expression.
pub(crate) fn expression(text: &mut Text<'_>, node: Node<'_>) -> Expr {
    let at = node.start_byte();
    let kind = kind(text, node).unwrap_or_else(|what| unknown(&what, at).kind);
    Expr { kind, at }
}

fn child(text: &mut Text<'_>, node: Node<'_>, field: &str) -> Result<Box<Expr>, String> {
    match node.child_by_field_name(field) {
        Some(child) => Ok(Box::new(expression(text, child))),
        None => Err(format!("{} without {field}", node.kind())),
    }
}

fn kind(text: &mut Text<'_>, node: Node<'_>) -> Result<Kind, String> {
    Ok(match node.kind() {
        "parenthesized_expression" => {
            let inner = children(node).next().ok_or("()")?;
            expression(text, inner).kind
        }
        "identifier" => match text.of(node) {
            "NULL" => Kind::Null,
            "true" => Kind::Int(1),
            "false" => Kind::Int(0),
            name => references::constant(name).unwrap_or_else(|| Kind::Name(text.resolve(name))),
        },
        "null" => Kind::Null,
        "true" => Kind::Int(1),
        "false" => Kind::Int(0),
        "number_literal" => match integer_of(text.of(node)) {
            Some(value) => Kind::Int(value),
            None => Kind::Float(text.of(node).to_owned()),
        },
        "char_literal" => {
            let value = unescape(
                text.of(node)
                    .trim_start_matches(['u', 'U', 'L'])
                    .strip_prefix('\'')
                    .and_then(|text| text.strip_suffix('\''))
                    .ok_or("char_literal")?,
            )
            .chars()
            .next()
            .ok_or("char_literal")?;
            Kind::Int(i128::from(u32::from(value)))
        }
        "string_literal" | "concatenated_string" => {
            Kind::Str(string_of(text, node).ok_or("string with a macro in it")?)
        }
        "call_expression" if cast_of(text, node, "function").is_some() => {
            // `(type)(x)` looks like a call.
            let int = cast_of(text, node, "function").ok_or("cast")?;
            let args = node.child_by_field_name("arguments").ok_or("call")?;
            let inner = children(args).next().ok_or("cast of nothing")?;
            Kind::Cast(CType::Int(int), String::new(), Box::new(expression(text, inner)))
        }
        "binary_expression"
            if cast_of(text, node, "left").is_some() && matches!(text.field(node, "operator"), "-" | "+") =>
        {
            // `(type)-1` looks like a subtraction.
            let int = cast_of(text, node, "left").ok_or("cast")?;
            let operand = child(text, node, "right")?;
            let at = operand.at;
            let signed = Kind::Unary(text.field(node, "operator").to_owned(), operand);
            Kind::Cast(CType::Int(int), String::new(), Box::new(Expr { kind: signed, at }))
        }
        "call_expression" if is_function_cast(text, node) => {
            // So does `(function type)(x)->y`: what it holds is a function by its own type.
            let args = node.child_by_field_name("arguments").ok_or("call")?;
            expression(text, children(args).next().ok_or("cast of nothing")?).kind
        }
        "call_expression" if text.pointers && cast_to(text, node).is_some() => {
            let ty = cast_to(text, node).ok_or("cast")?;
            let args = node.child_by_field_name("arguments").ok_or("cast")?;
            let operand = children(args).next().ok_or("cast")?;
            let ctype = CType::of(&ty, 0, text.known);
            Kind::Cast(ctype, ty, Box::new(expression(text, operand)))
        }
        "offsetof_expression" if text.pointers => Kind::SizeOf(text.of(node).to_owned()),
        "compound_literal_expression" if text.pointers => {
            expression(text, node.child_by_field_name("value").ok_or("literal")?).kind
        }
        "initializer_pair" if text.pointers => expression(text, node.child_by_field_name("value").ok_or("pair")?).kind,
        "call_expression" => {
            let callee = child(text, node, "function")?;
            let args = node.child_by_field_name("arguments").ok_or("call")?;
            let args: Vec<_> = children(args).collect();
            let args: Vec<_> = args.into_iter().map(|arg| expression(text, arg)).collect();
            let of_reference = match &callee.kind {
                Kind::Name(name) => references::call(name, &args),
                _ => None,
            };
            of_reference.unwrap_or(Kind::Call(callee, args))
        }
        "field_expression" => {
            let (base, field) = (child(text, node, "argument")?, text.field(node, "field"));
            let arrow = text.field(node, "operator") == "->";
            let of_reference = references::member(&text.references, &base, arrow, field);
            of_reference.unwrap_or_else(|| Kind::Member(base, field.to_owned()))
        }
        "subscript_expression" => Kind::Index(child(text, node, "argument")?, child(text, node, "index")?),
        "pointer_expression" => {
            let operand = child(text, node, "argument")?;
            if text.field(node, "operator") == "*" { Kind::Deref(operand) } else { Kind::AddressOf(operand) }
        }
        "unary_expression" => {
            let operand = child(text, node, "argument")?;
            match text.field(node, "operator") {
                "!" => Kind::Not(operand),
                operator => Kind::Unary(operator.to_owned(), operand),
            }
        }
        "binary_expression" => {
            let (left, right) = (child(text, node, "left")?, child(text, node, "right")?);
            match text.field(node, "operator") {
                "&&" => Kind::And(left, right),
                "||" => Kind::Or(left, right),
                operator => Kind::Binary(operator.to_owned(), left, right),
            }
        }
        "assignment_expression" => {
            let (left, right) = (child(text, node, "left")?, child(text, node, "right")?);
            match text.field(node, "operator") {
                "=" => Kind::Assign(left, right),
                operator => Kind::AssignOp(operator.trim_end_matches('=').to_owned(), left, right),
            }
        }
        "update_expression" => {
            let by = if text.field(node, "operator") == "++" { 1 } else { -1 };
            let operand = node.child_by_field_name("argument").ok_or("update")?;
            Kind::Update(by, operand.start_byte() == node.start_byte(), Box::new(expression(text, operand)))
        }
        "conditional_expression" => Kind::Conditional(
            child(text, node, "condition")?,
            child(text, node, "consequence")?,
            child(text, node, "alternative")?,
        ),
        "cast_expression" => {
            let (ctype, name) = node.child_by_field_name("type").map(|ty| text.type_descriptor(ty)).ok_or("cast")?;
            Kind::Cast(ctype, name, child(text, node, "value")?)
        }
        "comma_expression" => Kind::Comma(child(text, node, "left")?, child(text, node, "right")?),
        "sizeof_expression" => {
            Kind::SizeOf(node.named_child(0).map_or("", |child| text.of(child)).trim_matches(['(', ')']).to_owned())
        }
        "initializer_pair" => {
            let field = children(node).find(|child| child.kind() == "field_designator").ok_or("initialiser")?;
            let name = text.of(field).trim_start_matches('.').trim().to_owned();
            let target = Expr { kind: Kind::Name(name), at: field.start_byte() };
            Kind::Assign(Box::new(target), child(text, node, "value")?)
        }
        "initializer_list" => {
            let items: Vec<_> = children(node).collect();
            Kind::List(items.into_iter().map(|item| expression(text, item)).collect())
        }
        other => return Err(other.to_owned()),
    })
}

/// Whether the callee is the name of a function type in parentheses.
fn is_function_cast(text: &Text<'_>, node: Node<'_>) -> bool {
    let name = text.field(node, "function").trim();
    let inner = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name).trim();
    text.known.is_function(inner)
}

/// The integer type that a parenthesised name, read as a value, really is.
fn cast_of(text: &Text<'_>, node: Node<'_>, field: &str) -> Option<&'static str> {
    let name = text.field(node, field).trim();
    let inner = if field == "function" && !name.starts_with('(') {
        name
    } else {
        name.strip_prefix('(')?.strip_suffix(')')?.trim()
    };
    integer(inner).or_else(|| text.known.integer(inner))
}

/// The type in `(T)(x)`, which parses as a call: a name in parentheses that is no variable and no function.
fn cast_to(text: &Text<'_>, call: Node<'_>) -> Option<String> {
    let callee = call.child_by_field_name("function").filter(|node| node.kind() == "parenthesized_expression")?;
    let name = children(callee).next().filter(|node| node.kind() == "identifier").map(|node| text.of(node))?;
    let one = children(call.child_by_field_name("arguments")?).count() == 1;
    let variable = text.is_variable(name) || text.known.globals.contains_key(name);
    (one && !variable && !text.known.prototypes.contains_key(name)).then(|| name.to_owned())
}

/// The value of a C integer constant.
pub(crate) fn integer_of(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i128::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()) {
        return i128::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

/// The text of a string literal or of adjacent ones.
pub(crate) fn string_of(text: &Text<'_>, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "string_literal" => {
            let inner = text.of(node).strip_prefix('"')?.strip_suffix('"')?;
            Some(unescape(inner))
        }
        "concatenated_string" => {
            children(node).map(|part| string_of(text, part)).collect::<Option<Vec<_>>>().map(|parts| parts.concat())
        }
        _ => None,
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('\n') => {}
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('x') => {
                let mut value = 0;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = value * 16 + digit;
                    chars.next();
                }
                out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

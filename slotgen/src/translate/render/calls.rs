//! Renders a translated function's prototype, and its call with arguments that only the run knows.

use crate::lower::CType;
use crate::translate::driver::Translated;
use crate::translate::world::{ParamKind, Returns, module};

/// What the caller of a parameter's function must give, in words.
fn kind(kind: &ParamKind, ctype: &CType) -> String {
    let pointer = matches!(ctype, CType::Opaque(_));
    match kind {
        ParamKind::Object(nullable) if pointer => format!("pointer{}", if *nullable { "?" } else { "" }),
        ParamKind::Object(nullable) => format!("object{}", if *nullable { "?" } else { "" }),
        ParamKind::Int(int) => (*int).to_owned(),
        ParamKind::Double => "f64".to_owned(),
        ParamKind::Str(nullable) => format!("str{}", if *nullable { "?" } else { "" }),
        ParamKind::Slice => "objects".to_owned(),
        ParamKind::OutObject(nullable) => format!("out object{}", if *nullable { "?" } else { "" }),
        ParamKind::OutInt(int, nullable) => format!("out {int}{}", if *nullable { "?" } else { "" }),
        ParamKind::Nothing if *ctype == CType::Thread => "thread".to_owned(),
        ParamKind::Nothing => "nothing".to_owned(),
        _ => "other".to_owned(),
    }
}

fn result(returns: &Returns, ctype: &CType) -> String {
    let pointer = matches!(ctype, CType::Opaque(_));
    match returns {
        Returns::Object | Returns::Optional if pointer => "pointer".to_owned(),
        Returns::Object | Returns::Optional => "object".to_owned(),
        Returns::Int(int, _) => (*int).to_owned(),
        Returns::Bool => "i32".to_owned(),
        Returns::Double => "f64".to_owned(),
        Returns::Str => "str".to_owned(),
        Returns::Unit => "nothing".to_owned(),
        // What always raises gives C's error value.
        Returns::Error => match ctype {
            CType::Object => "object".to_owned(),
            CType::Int(int) => (*int).to_owned(),
            _ => "nothing".to_owned(),
        },
        _ => "other".to_owned(),
    }
}

/// A row of the table: the identity and the prototype, in words.
pub(super) fn row(one: &Translated, id: &str) -> String {
    let signature = &one.function.signature;
    let parameters = one.convention.params.iter().zip(&signature.params).map(|(param, c)| {
        let kind = kind(param, &c.ctype);
        if c.structure.is_empty() { kind } else { format!("{kind}:{}", c.structure.replace(' ', "")) }
    });
    let mut parameters: Vec<_> = parameters.collect();
    if signature.variadic {
        parameters.push("...".to_owned());
    }
    let returns = result(&one.convention.returns, &signature.returns);
    let storage = if one.function.is_static { "static " } else { "" };
    let prototype = format!("{storage}({}) -> {returns}", parameters.join(", "));
    format!("Function {{ id: FunctionId::{id}, prototype: {prototype:?} }}")
}

/// The call of one function; nothing for one whose parameters or result only C can hold.
pub(super) fn arm(one: &Translated, id: &str) -> Option<String> {
    let (mut before, mut args, mut outs) = (Vec::new(), String::new(), String::new());
    for (index, kind) in one.convention.params.iter().enumerate() {
        if *kind == ParamKind::Nothing {
            continue;
        }
        let (lets, given, out) = argument(kind, index)?;
        before.push(lets);
        args += &format!(", {given}");
        outs += &out.map(|out| format!(", {out}")).unwrap_or_default();
    }
    let call = format!("super::{}::{}(c{args})?", module(&one.function.file), one.function.name);
    let value = match &one.convention.returns {
        Returns::Unit => {
            before.push(format!("{call};"));
            "Value::Nothing".to_owned()
        }
        Returns::Object => format!("Value::Object({call})"),
        Returns::Optional => format!("Value::from({call})"),
        Returns::Int(..) => format!("Value::number({call})"),
        Returns::Bool => format!("Value::Int(i128::from({call}))"),
        Returns::Objects => format!("Value::Objects({call})"),
        Returns::Double => format!("Value::Double({call})"),
        Returns::Str => format!("Value::Str({call})"),
        Returns::Error => format!("return Err({call})"),
        _ => return None,
    };
    if !outs.is_empty() && one.convention.returns != Returns::Error {
        before.push(format!("let result = {value};"));
        before.push(format!("Value::Several(vec![result{outs}])"));
    } else {
        before.push(value);
    }
    Some(laid_out(id, &before))
}

/// How wide a line may be.
const COLUMNS: usize = 120;

/// An arm on one line where it fits, and on several otherwise.
fn laid_out(id: &str, steps: &[String]) -> String {
    let one_line = match steps {
        [value] => format!("        FunctionId::{id} => {value},\n"),
        steps => format!("        FunctionId::{id} => {{ {} }}\n", steps.join(" ")),
    };
    if one_line.len() <= COLUMNS {
        return one_line;
    }
    let mut lines: Vec<String> = Vec::new();
    for step in steps {
        match lines.last_mut().filter(|line| line.len() + step.len() < COLUMNS) {
            Some(line) => *line += &format!(" {step}"),
            None => lines.push(format!("            {step}")),
        }
    }
    format!("        FunctionId::{id} => {{\n{}\n        }}\n", lines.join("\n"))
}

/// How an argument is taken, how it is given, and what is told of it afterwards.
fn argument(kind: &ParamKind, index: usize) -> Option<(String, String, Option<String>)> {
    let arg = format!("a{index}");
    let plain = |how: &str| (format!("let {arg} = Value::{how}(c, args, {index})?;"), arg.clone(), None);
    Some(match kind {
        ParamKind::Object(false) => plain("object"),
        ParamKind::Object(true) => plain("nullable"),
        ParamKind::Int(_) => plain("int"),
        ParamKind::Double => plain("double"),
        ParamKind::Str(false) => plain("text"),
        ParamKind::Str(true) => plain("nullable_text"),
        ParamKind::Slice => plain("objects"),
        ParamKind::OutObject(false) => (
            format!("let mut {arg} = Value::nullable(c, args, {index})?.cloned();"),
            format!("&mut {arg}"),
            Some(format!("Value::from({arg})")),
        ),
        ParamKind::OutObject(true) => (
            format!("let mut {arg} = Value::variable(c, args, {index})?;"),
            format!("{arg}.as_mut()"),
            Some(format!("Value::set({arg})")),
        ),
        ParamKind::OutInt(int, true) => (
            format!("let mut {arg}: Option<{int}> = Value::int_variable(c, args, {index})?;"),
            format!("{arg}.as_mut()"),
            Some(format!("Value::set_number({arg})")),
        ),
        ParamKind::OutInt(int, false) => (
            format!("let mut {arg}: {int} = Value::int(c, args, {index})?;"),
            format!("&mut {arg}"),
            Some(format!("Value::number({arg})")),
        ),
        _ => return None,
    })
}

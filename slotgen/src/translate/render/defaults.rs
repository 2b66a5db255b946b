//! The default bodies of the vocabulary: what any world can pass on is asked of it by name, all else is unsupported.

use crate::lower::{CType, Signature, is_pointer};
use crate::translate::world::{Convention, Method, ParamKind, Returns};

/// Whether the parameters that are left are those of C, and no parameter or result is a pointer to what is no object.
///
/// Without a prototype it is a macro, a member of a struct, or a function that C hides in its file.
pub(crate) fn can_be_asked(convention: &Convention, prototype: Option<&Signature>) -> bool {
    if convention.params.contains(&ParamKind::Nothing) {
        return false;
    }
    let Some(head) = prototype else { return true };
    let opaque = |ctype: &CType| matches!(ctype, CType::Opaque(text) if text == "void*" || is_pointer(text));
    let objects = matches!(convention.returns, Returns::Object | Returns::Optional);
    !head.variadic
        && head.params.len() == convention.params.len()
        && !head.params.iter().any(|param| opaque(&param.ctype))
        && (!objects || head.returns == CType::Object)
}

/// The body of a method that asks the world by name; nothing where a parameter or the result is of another kind.
pub(super) fn body(name: &str, method: &Method) -> Option<String> {
    if let Some(body) = of_member(name, method) {
        return Some(body);
    }
    if !method.asked {
        return None;
    }
    let args = method.params.iter().map(|(name, kind)| argument(name, kind)).collect::<Option<Vec<_>>>()?;
    let how = match method.returns.as_str() {
        "object" => "object",
        "object?" => "optional",
        "i32" => "int",
        "u8" | "u16" | "u32" | "i64" | "u64" | "isize" | "usize" => "size",
        "bool" => "truth",
        "nothing" => "nothing",
        _ => return None,
    };
    Some(format!("calls::{how}(self, {:?}, &mut [{}])", c_name(name), args.join(", ")))
}

/// How an argument is passed on.
fn argument(name: &str, kind: &str) -> Option<String> {
    let variable = |how: &str| {
        format!("match {name} {{ Some(out) => CallArgument::{how}(out), None => CallArgument::Object(None) }}")
    };
    Some(match kind {
        "object" => format!("CallArgument::Object(Some({name}))"),
        "object?" => format!("CallArgument::Object({name})"),
        "str" => format!("CallArgument::Str(Some({name}))"),
        "str?" => format!("CallArgument::Str({name})"),
        "[object]" => format!("CallArgument::Objects({name})"),
        "&object" => format!("CallArgument::Out({name})"),
        // A pointer that is NULL is passed on as that.
        "&object?" => variable("Out"),
        "&i32?" => variable("OutInt"),
        "&isize?" => variable("OutSize"),
        "&i32" => format!("CallArgument::OutInt({name})"),
        "&isize" => format!("CallArgument::OutSize({name})"),
        "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "isize" | "usize" => {
            format!("CallArgument::Int({name} as i64)")
        }
        _ => return None,
    })
}

/// The name of C behind a method's, which may end in the release that calls it so: `PyList_Append_3_11`.
fn c_name(method: &str) -> &str {
    let Some((name, release)) = method.rsplit_once("_3_") else { return method };
    if release.chars().all(|c| c.is_ascii_digit()) { name } else { method }
}

/// The body of a method that reads or sets a member of a struct that `ask` has no value for: a function, a string.
fn of_member(name: &str, method: &Method) -> Option<String> {
    if !method.member {
        return None;
    }
    let (object, object_kind) = method.params.first()?;
    if object_kind != "object" {
        return None;
    }
    match (method.returns.as_str(), method.params.get(1)) {
        ("function?", None) => Some(format!("self.function_at({name:?}, {object})")),
        ("str", None) => Some(format!("self.text_at({name:?}, {object})")),
        ("nothing", Some((value, kind))) if kind.starts_with("function") => {
            let member = name.strip_prefix("set_")?;
            let value = if kind.ends_with('?') { value.clone() } else { format!("Some({value})") };
            Some(format!("self.set_function_at({member:?}, {object}, {value})"))
        }
        _ => None,
    }
}

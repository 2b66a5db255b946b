//! Guards, sources, values and effects in words.
use crate::bytecode::Code;
use crate::graph::text::short;
use crate::guard::source::{Side, Source};
use crate::guard::{Check, Guard};
use crate::trace::state::outcome::{Effect, Outcome};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// A guard as source, check and reason.
pub fn guard(py: Python<'_>, guard: &Guard, code: &Code) -> PyResult<[String; 3]> {
    Ok([source(py, &guard.source, code), check(py, &guard.check, code)?, guard.reason.to_string()])
}

/// The path to a value as the program would write it.
pub fn source(py: Python<'_>, path: &Source, code: &Code) -> String {
    let of = |base: &Source| source(py, base, code);
    match path {
        Source::Local(slot) => local(code, *slot as usize),
        Source::Free(index) => local(code, code.first_free() + *index as usize),
        Source::FreeCell(index) => format!("cell of {}", local(code, code.first_free() + *index as usize)),
        Source::Cell(base) => format!("content of {}", of(base)),
        Source::ContextValue(base) => format!("{}.get()", of(base)),
        Source::ThreadDict(base) => format!("{}.__dict__", of(base)),
        Source::Dict(base) => format!("{}.__dict__", of(base)),
        Source::Global(name) => format!("global {name}"),
        Source::Builtin(name) => format!("builtin {name}"),
        Source::DictItem(base, key) | Source::OwnEntry(base, key) => format!("{}[{}]", of(base), text(key.0.bind(py))),
        Source::Attr(base, name) | Source::OwnAttr(base, name) => format!("{}.{name}", of(base)),
        Source::Item(base, index) | Source::OwnItem(base, _, index) => format!("{}[{index}]", of(base)),
        Source::ItemFromEnd(base, index) => format!("{}[-{index}]", of(base)),
        Source::Length(base) => format!("len({})", of(base)),
        Source::EntryFor(base, key) => format!("{}[{}]", of(base), of(key)),
        Source::HasKey(base, _, key) => format!("{} in {}", of(key), of(base)),
        Source::Referent(base) => format!("what {} is a view of", of(base)),
        Source::WeakReferent(base) => format!("what {} refers to", of(base)),
        Source::WeakReference(base) => format!("ref({})", of(base)),
        Source::Values(base) => format!("values of {}", of(base)),
        Source::Keys(base) => format!("keys of {}", of(base)),
        Source::WithHash(base, hash, Side::Keys) => format!("keys of {} with the hash {hash}", of(base)),
        Source::WithHash(base, hash, Side::Values) => format!("values of {} for the hash {hash}", of(base)),
        Source::Ahead(base, count) => format!("next {count} of {}", of(base)),
        Source::Drawn(base, _) => format!("a number drawn from {}", of(base)),
        Source::Contents(base) => format!("{}.item()", of(base)),
        Source::Address(base) => format!("{}.data_ptr()", of(base)),
        Source::Size(base, index) => format!("{}.shape[{index}]", of(base)),
        Source::TypeOf(base) => format!("type({})", of(base)),
        Source::Together(parts) => parts.iter().map(of).collect::<Vec<_>>().join(", "),
        Source::Constant(object) => match namespace(py, path) {
            Some(module) => format!("{module}.__dict__"),
            None => text(object.0.bind(py)),
        },
    }
}

/// The name of the module whose namespace a constant dict is.
fn namespace(py: Python<'_>, path: &Source) -> Option<String> {
    let Source::Constant(object) = path else { return None };
    let name = object.0.bind(py).cast::<PyDict>().ok()?.get_item("__name__").ok()??;
    Some(name.cast::<PyString>().ok()?.to_string_lossy().into_owned())
}

fn local(code: &Code, slot: usize) -> String {
    code.locals.get(slot).map_or_else(|| format!("slot {slot}"), |local| local.name.clone())
}

fn check(py: Python<'_>, check: &Check, code: &Code) -> PyResult<String> {
    Ok(match check {
        Check::TypeIs(kind) => format!("type is {}", type_name(kind.bind(py))),
        Check::Is(object) => format!("is {}", text(object.bind(py))),
        Check::Equals(constant) => format!("== {}", text(constant.bind(py))),
        Check::Truth(truth) => format!("is {}", if *truth { "true" } else { "false" }),
        Check::Length(length) => format!("has length {length}"),
        Check::Exists => "exists".to_owned(),
        Check::NothingHandled => "the caller handles no exception".to_owned(),
        Check::Absent(key) => format!("has no entry {}", text(key.bind(py))),
        Check::SameAs(other) => format!("is {}", source(py, other, code)),
        Check::NotSameAs(other) => format!("is not {}", source(py, other, code)),
        Check::TypeUnchanged(kind, _) => format!("{} and its bases are unchanged", type_name(kind.bind(py))),
        Check::FunctionUnchanged(function) => {
            format!("is {} with the same code and defaults", type_name(function.bind(py)))
        }
        Check::FunctionLike(function) => format!("is made of the code of {}", type_name(function.bind(py))),
        Check::Keys(keys) => format!("has the keys {}", text(keys.bind(py))),
        Check::CellEmpty => "is an empty cell".into(),
        Check::Domain(check) => check.describe(),
        Check::Call(check) => format!("{} says so", text(check.bind(py))),
    })
}

/// A side effect as the statement that would have it.
pub fn effect(py: Python<'_>, effect: &Effect, outcome: &Outcome, code: &Code) -> String {
    let of = |id: &ValueId| value(py, *id, outcome, code);
    match effect {
        Effect::SetAttr { object, name, value } => format!("{}.{name} = {}", of(object), of(value)),
        Effect::DelAttr { object, name } => format!("del {}.{name}", of(object)),
        Effect::SetItem { object, key, value } => format!("{}[{}] = {}", of(object), of(key), of(value)),
        Effect::DelItem { object, key } => format!("del {}[{}]", of(object), of(key)),
        Effect::ReplaceList { list, values } => format!("{}[:] = {} items", of(list), values.len()),
        Effect::SetGlobal { name, value, .. } => format!("global {name} = {}", of(value)),
        Effect::DelGlobal { name, .. } => format!("del global {name}"),
        Effect::Call { callable, args } => {
            format!("{}({})", of(callable), args.iter().map(of).collect::<Vec<_>>().join(", "))
        }
        Effect::SetCell { cell, value: Some(value) } => format!("{} = {}", of(cell), of(value)),
        Effect::SetCell { cell, value: None } => format!("del {}", of(cell)),
    }
}

/// A value in a few words; containers are named, not unfolded.
fn value(py: Python<'_>, id: ValueId, outcome: &Outcome, code: &Code) -> String {
    match outcome.values.get(id.0 as usize) {
        Some(Value::Real { source: Some(path), .. }) => source(py, path, code),
        Some(Value::Real { object, .. }) => text(object.bind(py)),
        Some(Value::Node { node, .. }) => {
            outcome.graph.nodes.get(node.0 as usize).map_or_else(|| "?".into(), |node| node.name.clone())
        }
        Some(Value::New(made)) => new(made).into(),
        None => "?".into(),
    }
}

fn new(made: &New) -> &'static str {
    match made {
        New::Tuple(_) => "new tuple",
        New::List(_) => "new list",
        New::Dict(_) | New::HashedDict(_) => "new dict",
        New::Set(_) => "new set",
        New::Slice(_) => "new slice",
        New::Cell(_) => "new cell",
        New::Function { .. } => "new function",
        New::Method { .. } => "new method",
        New::Instance { .. } => "new instance",
        New::Exception { .. } => "new exception",
        New::Computed(_) => "computed number",
        New::Opaque(what) => what,
        New::SequenceIterator { .. } => "new iterator",
        New::Call { .. } | New::Owned(_) => "new object",
    }
}

fn type_name(kind: &Bound<'_, PyAny>) -> String {
    crate::graph::text::target(kind)
        .map_or_else(|_| "a type".into(), |name| name.trim_start_matches("builtins.").into())
}

/// A real object: types by name, plain values by `repr`, the rest by its type, so that no user code runs.
pub fn text(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type();
    let plain = kind.module().is_ok_and(|module| module == "builtins");
    match plain.then(|| short(object)) {
        Some(Ok(text)) => text,
        _ => format!("<{}>", type_name(kind.as_any())),
    }
}

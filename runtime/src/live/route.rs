//! Which C functions run as their translations, and which the interpreter runs.
//!
//! The interpreter runs the functions of files that lay out objects in memory (`dictobject.c`…) where other files call them. All else that is
//! translated runs as the translation.
use super::function::Function;
use super::internals::ADAPTED;
use super::object_memory::ALLOCATORS;
use super::world::{Live, Stop};
use crate::ffi::exported;
use crate::semantics::calls::{MEMORY, call};
use crate::semantics::functions::FUNCTIONS;
use generated::calls::{CallArgument, Gives, Value};
use generated::capi::FunctionId;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

type Object<'py> = Bound<'py, PyAny>;

/// Whether the interpreter answers for the functions of a file.
fn memory(file: &str) -> bool {
    MEMORY.contains(&file)
}

/// The translation of a function that C does not hide in its file.
fn translation(name: &str) -> Option<FunctionId> {
    static PUBLIC: OnceLock<FxHashMap<&'static str, FunctionId>> = OnceLock::new();
    let public = PUBLIC.get_or_init(|| {
        let public = FUNCTIONS.iter().filter(|function| !function.prototype.starts_with("static"));
        public.map(|function| (function.id.name(), function.id)).filter(|(_, id)| !memory(id.file())).collect()
    });
    public.get(name).copied()
}

impl<'py> Live<'py> {
    /// What a C function, macro or member gives: its translation, the interpreter, or what this world knows of the headers.
    pub(super) fn call_c(
        &mut self,
        name: &'static str,
        args: &mut [CallArgument<'_, Object<'py>>],
        gives: Gives,
    ) -> Result<Value<Object<'py>>, Stop> {
        if let Some(answer) = self.translated(name, args, gives) {
            return answer;
        }
        let own = self.root.is_some_and(|root| root.name() == name);
        if let Some(answer) = if own || ADAPTED.contains(&name) || ALLOCATORS.contains(&name) {
            None
        } else {
            exported::call(self.py, name, args, gives)
        } {
            self.note("native", name);
            return Ok(answer?);
        }
        self.inline(name, args, gives).unwrap_or(Err(Stop::Unsupported(name)))
    }

    /// Notes that the interpreter runs a slot function.
    pub(super) fn note_slot(&self, function: &Function) {
        self.note("native", function.id.map_or("a slot function", FunctionId::name));
    }

    /// The identity by which the translation of a slot function runs.
    pub(super) fn generated(&self, function: &Function) -> Option<FunctionId> {
        function.id.filter(|id| !memory(id.file()))
    }

    /// Runs the translation of a function that is asked for by name; nothing if there is none.
    pub(super) fn translated(
        &mut self,
        name: &'static str,
        args: &mut [CallArgument<'_, Object<'py>>],
        gives: Gives,
    ) -> Option<Result<Value<Object<'py>>, Stop>> {
        let id = translation(name)?;
        let values: Vec<Value<Object<'py>>> = args.iter().map(value).collect();
        Some(call(self, id, &values).map(|value| settle(value, args, gives)))
    }
}

fn value<'py>(arg: &CallArgument<'_, Object<'py>>) -> Value<Object<'py>> {
    match arg {
        CallArgument::Object(object) => object.cloned().into(),
        CallArgument::Int(int) => Value::Int(i128::from(*int)),
        CallArgument::Str(text) => text.map_or(Value::Null, |text| Value::Str(text.to_owned())),
        CallArgument::Objects(objects) => Value::Objects(objects.to_vec()),
        CallArgument::Out(object) => Option::clone(object).into(),
        CallArgument::OutInt(int) => Value::Int(i128::from(**int)),
        CallArgument::OutSize(int) => Value::number(**int),
    }
}

/// The result alone; what was set through pointers goes where the pointers lead.
fn settle<'py>(
    value: Value<Object<'py>>,
    args: &mut [CallArgument<'_, Object<'py>>],
    gives: Gives,
) -> Value<Object<'py>> {
    let Value::Several(values) = value else { return value };
    let mut values = values.into_iter();
    let result = values.next().unwrap_or(Value::Nothing);
    let outs = args
        .iter_mut()
        .filter(|arg| matches!(arg, CallArgument::Out(_) | CallArgument::OutInt(_) | CallArgument::OutSize(_)));
    for (arg, value) in outs.zip(values) {
        match (arg, value) {
            (CallArgument::Out(variable), Value::Object(object)) => **variable = Some(object),
            (CallArgument::Out(variable), _) => **variable = None,
            (CallArgument::OutInt(variable), Value::Int(int)) => **variable = i32::try_from(int).unwrap_or(-1),
            (CallArgument::OutSize(variable), Value::Int(int)) => **variable = isize::try_from(int).unwrap_or(-1),
            _ => {}
        }
    }
    if gives == Gives::Nothing { Value::Nothing } else { result }
}

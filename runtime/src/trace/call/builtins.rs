//! Models of builtins that look at symbolic values; a table registers them by name for the audit.
use crate::domain::Callee;
use crate::ffi::types::is_c_type;
use crate::ffi::{flag, types};
use crate::guard::is_number;
use crate::stored::ProcessBound;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, hints, stop, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Functions of `builtins` with a hand-written model, by C function.
pub const MODELLED: &[(&str, &str)] = &[
    ("len", "builtin_len"),
    ("isinstance", "builtin_isinstance"),
    ("issubclass", "builtin_issubclass"),
    ("getattr", "builtin_getattr"),
    ("setattr", "builtin_setattr"),
    ("delattr", "builtin_delattr"),
    ("hasattr", "builtin_hasattr"),
    ("iter", "builtin_iter"),
    ("next", "builtin_next"),
    ("callable", "builtin_callable"),
    ("repr", "builtin_repr"),
    ("format", "builtin_format"),
    ("hash", "builtin_hash"),
    ("abs", "builtin_abs"),
    ("min", "builtin_min"),
    ("max", "builtin_max"),
    ("sum", "builtin_sum"),
];

/// Functions of `builtins` that read or write the world outside, or the frame that calls them.
const EFFECTS: &[&str] =
    &["print", "input", "open", "breakpoint", "exec", "eval", "compile", "locals", "__build_class__", "memoryview"];

impl<'py> Tracer<'py> {
    /// `None`: no model, run it natively.
    pub(crate) fn call_modelled(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        if name == "__build_class__" {
            return self.build_class(args).map(Some);
        }
        if name == "__import__" {
            return self.model_import(args).map(Some);
        }
        if name == "compile" {
            return self.model_compile(args).map(Some);
        }
        if EFFECTS.contains(&name) {
            return match name {
                "open" => return Ok(None),
                "print" => self.model_print(args).map(Some),
                "breakpoint" => self.model_breakpoint(args).map(Some),
                "input" => stop("input or output", name, format!("{name}() acts on the world outside"), hints::MOVE_IO),
                _ => unsupported("builtin that depends on the interpreter's state", name),
            };
        }
        if name == "sum" {
            return self.model_sum(args);
        }
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        match (name, args.positional.as_slice()) {
            ("len", [value]) => self.model_len(*value),
            ("isinstance", [value, class]) => self.model_isinstance(*value, *class).map(Some),
            ("issubclass", [class, of]) => self.model_issubclass(*class, *of).map(Some),
            ("getattr", [object, name]) => self.model_getattr(*object, *name, None).map(Some),
            ("getattr", [object, name, default]) => self.model_getattr(*object, *name, Some(*default)).map(Some),
            ("hasattr", [object, name]) => self.model_hasattr(*object, *name).map(Some),
            ("setattr", [object, name, value]) => self.model_setattr(*object, *name, Some(*value)).map(Some),
            ("delattr", [object, name]) => self.model_setattr(*object, *name, None).map(Some),
            ("iter", [value]) => self.get_iter(*value).map(Some),
            ("next", [iterator]) => self.model_next(*iterator, None).map(Some),
            ("next", [iterator, default]) => self.model_next(*iterator, Some(*default)).map(Some),
            ("callable", [value]) => self.model_callable(*value).map(Some),
            ("repr", [value]) => self.model_text(*value, "__repr__", &[]),
            ("format", [value]) => {
                let empty = pyo3::types::PyString::new(self.py, "").into_any();
                let empty = self.constant(empty);
                self.model_text(*value, "__format__", &[empty])
            }
            ("format", [value, spec]) => self.model_text(*value, "__format__", &[*spec]),
            ("hash", [value]) if self.is_id(*value) => self.hash_of_id(*value).map(|_| None),
            ("hash", [value]) => {
                let hash = self.hash(*value)?;
                self.note_told_hash(*value);
                if !self.known(*value).is_some_and(|object| is_number(&object)) {
                    self.note_bound(ProcessBound::Process);
                }
                let hash = pyo3::types::PyInt::new(self.py, hash).into_any();
                Ok(Some(self.constant(hash)))
            }
            ("globals", []) => self.current_globals().map(Some),
            ("vars", [object]) => self.model_vars(*object).map(Some),
            ("vars" | "globals", _) => unsupported("builtin that depends on the interpreter's state", name),
            ("dir", [value]) => self.model_dir(*value).map(Some),
            ("dir", _) => unsupported("builtin that depends on the interpreter's state", name),
            ("id", [value]) => self.id_of(*value).map(Some),
            ("min" | "max" | "divmod" | "pow", args) => self.number_function(name, args),
            ("round", args @ ([_] | [_, _])) => self.number_function(name, args),
            ("abs", [value]) => self.operator("abs", &[*value]).map(Some),
            _ => Ok(None),
        }
    }

    fn model_len(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        let value = self.behind_view(value).unwrap_or(value);
        let value = self.behind_proxy(value)?.unwrap_or(value);
        if let Some(length) = self.length_of_growing(value)? {
            return Ok(Some(length));
        }
        let viewed = self.length_of_view(value)?;
        if let Some(length) = viewed.map_or_else(|| self.unread_length(value), |length| Ok(Some(length)))? {
            let length = pyo3::types::PyInt::new(self.py, length).into_any();
            return Ok(Some(self.constant(length)));
        }
        let class = self.class_of(value)?;
        if let Some(domain) = self.domain_of(&class) {
            return self.call_domain(&domain, Callee::Slot("mp_length"), &[value], &[]).map(Some);
        }
        if let Some(context) = self.context_for_c(value)? {
            let length = context.len().or_else(|error| self.raise_error(error))?;
            return Ok(Some(self.integer(length as isize)));
        }
        if is_c_type(&class) && self.lookup(&class, "__len__").is_some() {
            if let Some(length) = self.read_container("len", &[value])? {
                return Ok(Some(length));
            }
            let native = self.receiver(value)?;
            if native.is_instance_of::<crate::trace::state::proxy::Proxy>() {
                return unsupported("length of an object from outside", types::name(&class));
            }
            return Ok(None);
        }
        let length = crate::semantics::abstract_::PyObject_Size(self, &value)?;
        let length = pyo3::types::PyInt::new(self.py, length).into_any();
        Ok(Some(self.constant(length)))
    }

    fn attribute_name(&mut self, name: ValueId) -> Traced<String> {
        match self.known_str(name) {
            Some(name) => Ok(name),
            None => {
                let class = self.class_of(name)?;
                if types::is_subtype(&class, &self.py.get_type::<pyo3::types::PyString>()) {
                    return unsupported("attribute name that is not known", types::name(&class));
                }
                let name = types::name(&class);
                self.raise("TypeError", format!("attribute name must be string, not '{name}'"))
            }
        }
    }

    fn model_getattr(&mut self, object: ValueId, name: ValueId, default: Option<ValueId>) -> Traced<ValueId> {
        let name = self.attribute_name(name)?;
        match default {
            None => self.get_attr(object, &name),
            Some(default) => Ok(self.optional_attr(object, &name)?.unwrap_or(default)),
        }
    }

    fn model_hasattr(&mut self, object: ValueId, name: ValueId) -> Traced<ValueId> {
        let name = self.attribute_name(name)?;
        let found = self.optional_attr(object, &name)?.is_some();
        Ok(self.boolean(found))
    }

    fn model_setattr(&mut self, object: ValueId, name: ValueId, value: Option<ValueId>) -> Traced<ValueId> {
        let name = self.attribute_name(name)?;
        self.set_attr(object, &name, value)?;
        Ok(self.none())
    }

    pub(crate) fn model_next(&mut self, iterator: ValueId, default: Option<ValueId>) -> Traced<ValueId> {
        if default.is_none() && self.is_stepped(iterator) {
            return self.generator_method(iterator, "__next__", &[]);
        }
        let class = self.class_of(iterator)?;
        if default.is_none() && !is_c_type(&class) {
            return match self.special(iterator, "__next__")? {
                Some(method) => self.call(method, Arguments::default()),
                None => {
                    let name = types::name(&class);
                    self.raise("TypeError", format!("'{name}' object is not an iterator"))
                }
            };
        }
        if default.is_none()
            && let Some(object) = self.owned(iterator)
        {
            let next = self.import("builtins", "next")?;
            return self.run_native(&next, &[object], &[]);
        }
        if default.is_none() && self.is_outside_iterator(iterator) {
            return self.next_of_outside(iterator);
        }
        self.require_iterator(iterator)?;
        match (self.next(iterator)?, default) {
            (Some(item), _) => Ok(item),
            (None, Some(default)) => Ok(default),
            (None, None) => self.raise_plain("StopIteration"),
        }
    }

    pub(crate) fn raise_plain<T>(&mut self, class: &str) -> Traced<T> {
        let exception = self.new_exception(class)?;
        self.raise_value(exception)
    }

    /// `vars(object)`. CPython: `builtin_vars`.
    fn model_vars(&mut self, object: ValueId) -> Traced<ValueId> {
        match self.optional_attr(object, "__dict__")? {
            Some(dict) => Ok(dict),
            None => self.raise("TypeError", "vars() argument must have __dict__ attribute"),
        }
    }

    /// `print()` to a file that is the trace's own, or of Python code. CPython: `builtin_print_impl`.
    fn model_print(&mut self, args: &Arguments) -> Traced<ValueId> {
        let given = args.keywords.iter().find(|(keyword, _)| keyword == "file").map(|(_, file)| *file);
        let file = match given {
            Some(file) if !self.is_none(file)? => Some(file),
            _ => {
                let sys = match crate::ffi::modules::imported(intern!(self.py, "sys")).map(Bound::cast_into::<PyModule>)
                {
                    Some(Ok(sys)) => sys,
                    _ => crate::ffi::modules::import(self.py, "sys").or_else(|error| self.raise_error(error))?,
                };
                self.in_globals(&sys.dict(), "stdout")
            }
        };
        let class = file.map(|file| self.class_of(file)).transpose()?;
        if let (Some(file), Some(class)) = (file, class)
            && (self.owned(file).is_some() || !is_c_type(&class) && self.domain_of(&class).is_none())
        {
            let mut args = args.clone();
            args.keywords.retain(|(keyword, _)| keyword != "file");
            args.keywords.push(("file".into(), file));
            let print = self.import("builtins", "print")?;
            return self.call_c_on(&print, &args, false);
        }
        stop("input or output", "print", "print() acts on the world outside", hints::MOVE_IO)
    }

    pub(super) fn model_callable(&mut self, value: ValueId) -> Traced<ValueId> {
        let class = self.class_of(value)?;
        let truth = self.lookup(&class, "__call__").is_some();
        Ok(self.boolean(truth))
    }

    /// `repr`, `str`, `format` of an instance of a Python class: its method, whose result must be a string.
    pub(crate) fn model_text(&mut self, value: ValueId, method: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        if (method != "__repr__" || !self.is_unread_text(value))
            && let Some(text) = self.format_unread(value, args)?
        {
            return Ok(Some(text));
        }
        if self.is_computed_text(value)
            && method != "__repr__"
            && args.iter().all(|spec| self.known_str(*spec).is_some_and(|spec| spec.is_empty()))
        {
            return Ok(Some(value));
        }
        if let Some(text) = self.text_of_number(value, args)? {
            return Ok(Some(text));
        }
        if let Some(object) = self.owned(value)
            && self.referent(&object).is_some()
        {
            return unsupported("text of a weak reference", "it says what it refers to, and whether that lives");
        }
        let class = self.class_of(value)?;
        let of_class = self.known(value).is_some_and(|value| value.is_instance_of::<PyType>());
        if is_c_type(&class) && !of_class {
            match method {
                "__repr__" => return self.text_of_token(value, Slot::tp_repr),
                "__str__" => return self.text_of_token(value, Slot::tp_str),
                _ if let Some(own) = self.owned(value).filter(|own| self.runs_python(own)) => {
                    let format = self.import("builtins", "format")?;
                    let mut given = vec![own];
                    for arg in args {
                        given.push(self.native(*arg)?);
                    }
                    return self.run_native(&format, &given, &[]).map(Some);
                }
                _ if self.domain_of(&class).is_some() || !self.receiver(value)?.is_instance_of::<Proxy>() => {
                    return Ok(None);
                }
                _ => {}
            }
        }
        let Some(bound) = self.special(value, method)? else { return Ok(None) };
        let result = match self.call(bound, Arguments::positional(args.to_vec())) {
            Ok(result) => result,
            Err(Unwind::Raised(value)) => return Err(Unwind::Raised(value)),
            Err(other) => return Err(other),
        };
        let class = self.class_of(result)?;
        if !types::has(&class, flag::UNICODE_SUBCLASS) {
            // CPython: Objects/abstract.c, `PyObject_Format`; Objects/object.c, `PyObject_Str`.
            return self.raise_wrong_result((value, method), "a str", result, |name| match method {
                "__format__" => format!("__format__ must return a str, not {name}"),
                _ => format!("{method} returned non-string (type {name})"),
            });
        }
        Ok(Some(result))
    }
}

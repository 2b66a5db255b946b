//! Fingerprints: what a trace may know of an object without a guard that looks again. An object that is found on the same way in another
//! process stands for the one that was traced if it has the same fingerprint.
//!
//! What can change is not part of it: guards look at that. What never changes is: code and defaults of a function, the items of a tuple.
use super::digest::{Digest, add_constant, code_digest};
use super::misfit::Misfit;
use crate::ffi::{inspect, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFrozenSet, PyFunction, PyModule, PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;

/// How deep tuples and the like may lie in each other.
const DEEPEST: usize = 20;

/// Names in classes that say nothing of what instances do.
const SILENT: &[&str] = &[
    "__doc__",
    "__dict__",
    "__weakref__",
    "__module__",
    "__annotations__",
    "__annotations_cache__",
    "__annotate__",
    "__annotate_func__",
    "__orig_bases__",
    "__parameters__",
    "__type_params__",
    "__abstractmethods__",
    "_abc_impl",
];

/// Classes of C whose objects are what they were made as and have no content, or one that guards look at.
const BY_CLASS: &[&str] = &[
    "dict",
    "list",
    "set",
    "bytearray",
    "object",
    "cell",
    "mappingproxy",
    "collections.OrderedDict",
    "collections.deque",
    "collections.defaultdict",
    "weakref.ReferenceType",
    "_thread.lock",
    "_thread.RLock",
    "_thread._local",
    "_contextvars.ContextVar",
    "numpy.ndarray",
    "PyCapsule",
];

/// The same that have a name, which says all.
const BY_NAME: &[&str] = &[
    "builtin_function_or_method",
    "builtin_method",
    "method_descriptor",
    "wrapper_descriptor",
    "classmethod_descriptor",
    "getset_descriptor",
    "member_descriptor",
    "numpy.ufunc",
];

/// The same whose text says all.
const BY_TEXT: &[&str] = &[
    "types.GenericAlias",
    "types.UnionType",
    "typing.TypeVar",
    "typing.ParamSpec",
    "torch.dtype",
    "torch.layout",
    "torch.memory_format",
    "torch.device",
    "torch.qscheme",
    "range",
    "slice",
];

/// Classes of C, and the attributes that are all there is to their objects.
const BY_PARTS: &[(&str, &[&str])] = &[
    ("slotrt.CompiledFunction", &["__wrapped__"]),
    ("staticmethod", &["__func__"]),
    ("classmethod", &["__func__"]),
    ("property", &["fget", "fset", "fdel"]),
    ("method", &["__func__", "__self__"]),
    ("re.Pattern", &["pattern", "flags"]),
    ("functools.partial", &["func", "args"]),
    ("functools._lru_cache_wrapper", &["__wrapped__"]),
    ("instancemethod", &["__func__"]),
    ("numpy._ArrayFunctionDispatcher", &["__name__", "_implementation"]),
];

/// Classes of C whose `__reduce__` says all.
const BY_REDUCTION: &[&str] = &["collections._tuplegetter", "datetime.timedelta", "torch.Size"];

/// Classes of C that classes of Python code are derived from, and whose objects are what their attributes are, or have a content that
/// guards look at.
const BASES: &[&str] =
    &["object", "dict", "list", "set", "type", "module", "collections.OrderedDict", "torch._C.TensorBase"];

/// The same whose objects have a value that never changes.
const VALUES: &[&str] = &["str", "int", "float", "bytes", "tuple", "property", "types.GenericAlias"];

/// Takes fingerprints; remembers those of code objects, which never change.
#[derive(Debug, Default)]
pub struct Fingerprints {
    codes: FxHashMap<usize, (Py<PyAny>, u128)>,
}

impl Fingerprints {
    /// Of an object.
    ///
    /// # Errors
    /// Why nothing of its kind has one.
    pub fn of(&mut self, object: &Bound<'_, PyAny>) -> Result<u128, Misfit> {
        let mut digest = Digest::new();
        self.add(&mut digest, object, 0)?;
        Ok(digest.finish())
    }

    /// Of a code object.
    ///
    /// # Errors
    /// Where it is none.
    pub fn of_code(&mut self, code: &Bound<'_, PyAny>) -> Result<u128, Misfit> {
        let address = code.as_ptr() as usize;
        if let Some((_, known)) = self.codes.get(&address) {
            return Ok(*known);
        }
        let digest = code_digest(code)?;
        self.codes.insert(address, (code.clone().unbind(), digest));
        Ok(digest)
    }

    /// Of what a class itself defines, and of the classes that it is derived from by name.
    ///
    /// # Errors
    /// Which attribute has no fingerprint.
    pub fn of_class(&mut self, class: &Bound<'_, PyType>) -> Result<u128, Misfit> {
        let mut digest = Digest::new();
        for base in types::mro(class).into_iter().flatten() {
            self.add(&mut digest, &base, 0)?;
        }
        let Some(namespace) = types::namespace(class).filter(|_| !types::is_immutable(class)) else {
            return Ok(digest.finish());
        };
        let mut entries = Vec::with_capacity(namespace.len());
        for (key, value) in &namespace {
            let Ok(key) = key.cast_exact::<PyString>() else { continue };
            let key = key.to_string_lossy().into_owned();
            if SILENT.contains(&&*key) {
                continue;
            }
            let value = self.of(&value).map_err(|Misfit(why)| {
                Misfit(format!("the class {} has an attribute {key} that is {why}", types::name(class)))
            })?;
            entries.push((key, value));
        }
        entries.sort_unstable();
        for (key, value) in entries {
            digest.text(&key);
            digest.digest(value);
        }
        Ok(digest.finish())
    }

    fn add(&mut self, digest: &mut Digest, object: &Bound<'_, PyAny>, depth: usize) -> Result<(), Misfit> {
        if depth > DEEPEST {
            return Err(Misfit::new("nested too deeply"));
        }
        if let Ok(class) = object.cast::<PyType>() {
            digest.text("class");
            return named(digest, class.as_any());
        }
        if object.is_instance_of::<PyCode>() {
            let code = self.of_code(object)?;
            digest.digest(code);
            return Ok(());
        }
        if let Ok(function) = object.cast_exact::<PyFunction>() {
            return self.add_function(digest, function.as_any(), depth);
        }
        if is_plain(object) {
            return Ok(add_constant(digest, object)?);
        }
        let class = object.get_type();
        let kind = types::c_name(&class);
        digest.text(&kind);
        if let Ok(items) = object.cast_exact::<PyTuple>() {
            digest.number(items.len() as u64);
            return items.iter().try_for_each(|item| self.add(digest, &item, depth + 1));
        }
        if object.is_exact_instance_of::<PyFrozenSet>() {
            return Ok(add_constant(digest, object)?);
        }
        if object.is_instance_of::<PyModule>() {
            return named(digest, object);
        }
        if let Some((_, parts)) = BY_PARTS.iter().find(|(name, _)| *name == kind) {
            parts.iter().try_for_each(|part| self.add(digest, &object.getattr(*part)?, depth + 1))?;
            let keywords = if kind == "functools.partial" { object.getattr(name!("keywords")).ok() } else { None };
            for (key, value) in keywords.iter().filter_map(|keywords| keywords.cast::<PyDict>().ok()).flatten() {
                self.add(digest, &key, depth + 1)?;
                self.add(digest, &value, depth + 1)?;
            }
            return Ok(());
        }
        if BY_NAME.contains(&&*kind) {
            return named(digest, object);
        }
        if BY_TEXT.contains(&&*kind) {
            digest.text(&object.repr()?.to_string_lossy());
            return Ok(());
        }
        if BY_CLASS.contains(&&*kind) {
            return Ok(());
        }
        if BY_REDUCTION.contains(&&*kind) {
            return self.add(digest, &object.call_method0(name!("__reduce__"))?, depth + 1);
        }
        if kind.is_empty() {
            return self.add_instance(digest, object, &class, depth);
        }
        Err(unknown(&class))
    }

    /// An instance of a class of Python code: its attributes are guarded, its value as a number, text or tuple is not.
    fn add_instance(
        &mut self,
        digest: &mut Digest,
        object: &Bound<'_, PyAny>,
        class: &Bound<'_, PyType>,
        depth: usize,
    ) -> Result<(), Misfit> {
        digest.text("instance");
        named(digest, class.as_any())?;
        for base in types::mro(class).into_iter().flatten() {
            let base = base.cast_into::<PyType>().map_err(PyErr::from)?;
            let name = types::c_name(&base);
            if name.is_empty() || BASES.contains(&&*name) {
                continue;
            }
            match &*name {
                _ if !VALUES.contains(&&*name) => return Err(unknown(class)),
                "tuple" => {
                    let items = object.cast::<PyTuple>().map_err(PyErr::from)?;
                    items.iter().try_for_each(|item| self.add(digest, &item, depth + 1))?;
                }
                "property" => ["fget", "fset", "fdel"]
                    .iter()
                    .try_for_each(|part| self.add(digest, &object.getattr(*part)?, depth + 1))?,
                _ => digest.text(&base.getattr(name!("__repr__"))?.call1((object,))?.to_string()),
            }
        }
        Ok(())
    }

    fn add_function(&mut self, digest: &mut Digest, function: &Bound<'_, PyAny>, depth: usize) -> Result<(), Misfit> {
        digest.text("function");
        let code = inspect::function_code(function).ok_or_else(|| Misfit::new("a function without code"))?;
        let code = self.of_code(&code)?;
        digest.digest(code);
        let mut values: Vec<Bound<'_, PyAny>> = Vec::new();
        if let Some(defaults) = inspect::function_defaults(function) {
            digest.text("defaults");
            values.extend(defaults.cast::<PyTuple>().map_err(PyErr::from)?.iter());
        }
        if let Some(defaults) = inspect::function_kwdefaults(function) {
            digest.text("keyword defaults");
            for (key, value) in defaults.cast::<PyDict>().map_err(PyErr::from)? {
                values.extend([key, value]);
            }
        }
        digest.number(values.len() as u64);
        values.iter().try_for_each(|value| self.add(digest, value, depth + 1))
    }
}

/// Adds the names that an object goes by.
fn named(digest: &mut Digest, object: &Bound<'_, PyAny>) -> Result<(), Misfit> {
    for name in [name!("__module__"), name!("__qualname__"), name!("__name__")] {
        if let Ok(found) = object.getattr(name)
            && let Ok(text) = found.cast::<PyString>()
        {
            digest.text(&text.to_string_lossy());
        }
    }
    Ok(())
}

/// Whether it is a constant that code objects hold, other than a tuple.
#[must_use]
pub fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    use pyo3::types::{PyBool, PyBytes, PyComplex, PyEllipsis, PyFloat, PyInt, PyNotImplemented};
    object.is_none()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyComplex>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyBytes>()
        || object.is_exact_instance_of::<PyEllipsis>()
        || object.is_exact_instance_of::<PyNotImplemented>()
}

fn unknown(class: &Bound<'_, PyType>) -> Misfit {
    Misfit(format!("an object of {}, whose content nothing compares", types::name(class)))
}

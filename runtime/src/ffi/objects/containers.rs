//! Containers of C, and instances of classes that derive from them: what they hold, read and made by functions of the C class alone.
use super::ordered_dict;
use crate::ffi::referents;
use crate::ffi::types;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};

/// How C keeps the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `list`.
    List,
    /// A `tuple`.
    Tuple,
    /// A `dict`, or a C class that adds members to it, as `defaultdict` does.
    Dict,
    /// A `collections.OrderedDict`.
    OrderedDict,
    /// A `set`.
    Set,
    /// A `frozenset`.
    FrozenSet,
    /// A `collections.deque`.
    Deque,
}

/// The C class that lays out the instances of a class.
#[derive(Clone, Debug)]
pub struct Container<'py> {
    /// The class.
    pub base: Bound<'py, PyType>,
    /// How it keeps the items.
    pub kind: Kind,
}

/// The container of C that instances of the class are; `None`: they are none, or of a kind that is not known.
#[must_use]
pub fn of<'py>(class: &Bound<'py, PyType>) -> Option<Container<'py>> {
    let mro = types::mro(class)?;
    let bases = mro.iter().filter_map(|base| base.cast_into::<PyType>().ok());
    let mut laid_out = bases.filter(|base| types::is_c_type(base) && types::has_own_fields(base));
    let base = laid_out.next()?;
    let kind = kind(&base)?;
    laid_out.all(|other| types::is_subtype(&base, &other)).then_some(Container { base, kind })
}

fn kind(base: &Bound<'_, PyType>) -> Option<Kind> {
    let py = base.py();
    let builtin = [
        (py.get_type::<PyList>(), Kind::List),
        (py.get_type::<PyTuple>(), Kind::Tuple),
        (py.get_type::<PyDict>(), Kind::Dict),
        (py.get_type::<PySet>(), Kind::Set),
        (py.get_type::<PyFrozenSet>(), Kind::FrozenSet),
    ];
    let found = builtin.into_iter().find(|(class, _)| base.is(class)).map(|(_, kind)| kind);
    if found.is_some() || base.is(py.get_type::<PyAny>()) {
        return found;
    }
    if ordered_dict::class(py).is_some_and(|class| base.is(&class)) {
        return Some(Kind::OrderedDict);
    }
    if types::is_c_class(base, "collections.deque") {
        return Some(Kind::Deque);
    }
    let adds_members = || {
        let word = size_of::<usize>();
        types::basicsize(base) == types::basicsize(&py.get_type::<PyDict>()) + word * members(base).len()
    };
    (types::is_subtype(base, &py.get_type::<PyDict>()) && adds_members()).then_some(Kind::Dict)
}

/// What a view of C is a view of, and the callable that makes such a view; `None`: the object is none.
#[must_use]
pub fn viewed<'py>(object: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let class = object.get_type();
    let inner = |object| referents::direct(object, 1).pop();
    match &*types::c_name(&class) {
        name @ ("dict_keys" | "dict_values" | "dict_items" | "odict_keys" | "odict_values" | "odict_items") => {
            let dict = inner(object)?;
            let method = of(&dict.get_type())?.method(name.rsplit('_').next()?).ok()?;
            Some((dict, method))
        }
        "mappingproxy" => Some((inner(object)?, class.into_any())),
        _ => None,
    }
}

/// The members that a C class adds to its base: descriptors, by their names.
#[must_use]
pub fn members<'py>(base: &Bound<'py, PyType>) -> Vec<(String, Bound<'py, PyAny>)> {
    let own = types::namespace(base);
    let items = own.iter().flatten().filter(|(_, found)| types::is_c_class(&found.get_type(), "member_descriptor"));
    items
        .filter_map(|(name, found)| Some((name.cast_into::<PyString>().ok()?.to_string_lossy().into_owned(), found)))
        .collect()
}

impl<'py> Container<'py> {
    /// A method of the C class, whatever a derived class has under its name.
    ///
    /// # Errors
    /// Where the class has none.
    pub fn method(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.base.getattr(name)
    }

    /// The items of a sequence, the keys of an `OrderedDict` in its order.
    ///
    /// # Errors
    /// What C raises.
    pub fn items(&self, object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.method("__iter__")?.call1((object,))?.try_iter()?.collect()
    }

    /// An instance of a class that has the layout, as the C class makes it; no method of the class runs.
    ///
    /// # Errors
    /// What C raises.
    pub fn make(&self, class: &Bound<'py, PyType>, items: Option<&Bound<'py, PyTuple>>) -> PyResult<Bound<'py, PyAny>> {
        let new = self.method("__new__")?;
        items.map_or_else(|| new.call1((class,)), |items| new.call1((class, items)))
    }

    /// The most items that a deque holds, or `None`.
    ///
    /// # Errors
    /// Where it is no deque.
    pub fn limit(&self, deque: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        types::read(&self.method("maxlen")?, deque)
    }

    /// How many items there are.
    ///
    /// # Errors
    /// Where it is no such container.
    pub fn length(&self, object: &Bound<'py, PyAny>) -> PyResult<usize> {
        self.method("__len__")?.call1((object,))?.extract()
    }
}

/// The keys of a dict, or the items of a set, in their order; no method of a derived class is asked. Called by compiled code, too.
///
/// # Errors
/// Where the object is neither.
#[pyfunction]
pub fn keys<'py>(container: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let hashed = container.is_instance_of::<PyDict>()
        || container.is_instance_of::<PySet>()
        || container.is_instance_of::<PyFrozenSet>();
    let of = of(&container.get_type()).filter(|_| hashed);
    PyTuple::new(container.py(), of.ok_or_else(|| PyTypeError::new_err("no dict and no set"))?.items(container)?)
}

/// The values of a dict in the order of its keys; no key is hashed in Python. Called by compiled code, too.
///
/// # Errors
/// Where the object is none, or an `OrderedDict` with keys that are no integers.
#[pyfunction]
pub fn values<'py>(dict: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let of = of(&dict.get_type()).filter(|of| matches!(of.kind, Kind::Dict | Kind::OrderedDict));
    let of = of.ok_or_else(|| PyTypeError::new_err("no dict"))?;
    let held = dict.cast::<PyDict>()?;
    if of.kind == Kind::Dict {
        return PyTuple::new(dict.py(), held.values());
    }
    let keys = of.items(dict)?;
    if !keys.iter().all(|key| key.is_exact_instance_of::<PyInt>()) {
        return Err(PyTypeError::new_err("an OrderedDict with keys that are no integers"));
    }
    let value = |key| held.get_item(key)?.ok_or_else(|| PyTypeError::new_err("a key that is gone"));
    PyTuple::new(dict.py(), keys.into_iter().map(value).collect::<PyResult<Vec<_>>>()?)
}

/// A dict with these keys and values that is only gone through: where it keeps them says nothing, and no key is hashed or compared.
///
/// # Errors
/// Where memory is short.
pub fn dict_in_order<'py>(keys: &Bound<'py, PyTuple>, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyDict>> {
    unsafe extern "C" {
        fn _PyDict_SetItem_KnownHash(
            dict: *mut ffi::PyObject,
            key: *mut ffi::PyObject,
            value: *mut ffi::PyObject,
            hash: ffi::Py_hash_t,
        ) -> std::ffi::c_int;
    }
    let dict = PyDict::new(keys.py());
    for (index, (key, value)) in keys.iter().zip(values).enumerate() {
        // SAFETY: live objects, a dict of ours; no two keys have one hash, so that none is compared.
        let set =
            unsafe { _PyDict_SetItem_KnownHash(dict.as_ptr(), key.as_ptr(), value.as_ptr(), index as ffi::Py_hash_t) };
        if set != 0 {
            return Err(PyErr::fetch(keys.py()));
        }
    }
    Ok(dict)
}

/// Whether the object is a `list`, `tuple`, `dict`, `set` or `bytearray`, and of no derived class: it has no attributes.
#[must_use]
pub fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyDict>()
        || object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyTuple>()
        || object.is_exact_instance_of::<PySet>()
        || object.is_exact_instance_of::<PyByteArray>()
}

/// Whether a dict or set, or an instance of a derived class, whose `__contains__` is not asked, has a key.
///
/// # Errors
/// Where it is neither, or the key cannot be hashed.
pub fn has_key(container: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(dict) = container.cast::<PyDict>() {
        return dict.contains(key);
    }
    match container.cast::<PySet>() {
        Ok(set) => set.contains(key),
        Err(_) => container.cast::<PyFrozenSet>()?.contains(key),
    }
}

/// The number of items of a `list`, `tuple`, `dict` or set, or of an instance of a derived class, whose `__len__` is not asked.
#[must_use]
pub fn builtin_length(object: &Bound<'_, PyAny>) -> Option<usize> {
    if let Ok(list) = object.cast::<PyList>() {
        return Some(list.len());
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Some(tuple.len());
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Some(dict.len());
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Some(bytes.len());
    }
    let set = object.cast::<PySet>().ok().map(|set| set.len());
    set.or_else(|| object.cast::<PyFrozenSet>().ok().map(|set| set.len()))
}

//! Kinds of real objects, asked without a trace: constants, keys, definitions.
use crate::ffi::{flag, referents, types};
use crate::names::{interned, name};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyCode, PyComplex, PyEllipsis, PyFloat, PyFrozenSet, PyFunction, PyInt, PyModule,
    PyNone, PyNotImplemented, PyRange, PySet, PyString, PyTuple, PyType,
};

/// Tuples within tuples that are looked into.
pub(crate) const MAX_NESTED: usize = 100;

/// Whether the object is an immutable value that guards compare by `==` and type: numbers, strings, singletons, tuples of these. Tuples
/// within tuples beyond [`MAX_NESTED`] are none: looking into them takes C's stack.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> bool {
    is_scalar_within(object, MAX_NESTED)
}

pub(crate) fn is_scalar_within(object: &Bound<'_, PyAny>, levels: usize) -> bool {
    object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyNone>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBytes>()
        || object.is_exact_instance_of::<PyComplex>()
        || object.is_exact_instance_of::<PyEllipsis>()
        || object.is_exact_instance_of::<PyNotImplemented>()
        || object
            .cast_exact::<PyTuple>()
            .is_ok_and(|tuple| levels > 0 && all_items(tuple, |item| is_scalar_within(item, levels - 1)))
}

/// Whether this holds of all items of a tuple; not where C has left one out, as in what iterators hold for themselves.
fn all_items<'py>(tuple: &Bound<'py, PyTuple>, holds: impl Fn(&Bound<'py, PyAny>) -> bool) -> bool {
    (0..tuple.len()).all(|index| referents::item(tuple, index).is_some_and(|item| holds(&item)))
}

/// Whether C never changes the object and all that it holds is known with it: frozen sets, ranges, named tuples of C (`sys.flags`).
pub(crate) fn is_fixed(object: &Bound<'_, PyAny>) -> bool {
    if object.is_exact_instance_of::<PyFrozenSet>() {
        return is_fixed_set(object, true);
    }
    object.is_exact_instance_of::<PyRange>()
        || object.cast::<PyTuple>().is_ok_and(|tuple| {
            !tuple.is_exact_instance_of::<PyTuple>()
                && crate::ffi::types::is_c_type(&object.get_type())
                && all_items(tuple, is_scalar)
        })
}

/// Whether a frozen set holds scalars and classes of C alone, or, where `nested`, frozen sets of these: deeper nesting would take too long to
/// look into. Proxies stand for classes and functions of Python code: their hash is another.
pub(crate) fn is_fixed_set(set: &Bound<'_, PyAny>, nested: bool) -> bool {
    let of_c = |item: &Bound<'_, PyAny>| item.cast::<PyType>().is_ok_and(crate::ffi::types::is_c_type);
    let inner =
        |item: &Bound<'_, PyAny>| nested && item.is_exact_instance_of::<PyFrozenSet>() && is_fixed_set(item, false);
    let known = |item: &Bound<'_, PyAny>| is_scalar(item) || of_c(item) || inner(item);
    set.try_iter().is_ok_and(|mut items| items.all(|item| item.is_ok_and(|item| known(&item))))
}

/// Whether the object is a mark of C that holds nothing, and that C tells by its address: `functools.Placeholder`.
pub(crate) fn is_mark(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    types::is_immutable(&class)
        && types::basicsize(&class) == size_of::<pyo3::ffi::PyObject>()
        && !class.is(object.py().get_type::<PyAny>())
}

/// Whether the object may be a key of a dict from outside: it is known once it is guarded, and comparing it runs C alone.
pub(crate) fn is_key(object: &Bound<'_, PyAny>) -> bool {
    is_scalar(object)
        || is_definition(object)
        || crate::ffi::types::is_c_type(&object.get_type()) && fixed_base(&object.get_type()).is_some()
        || is_held_by_class(object)
        || object.cast_exact::<PyTuple>().is_ok_and(|tuple| tuple.iter().all(|item| is_key(&item)))
}

/// Whether the class of the object has it as an attribute, as that of an enumeration has its members: then it lives as long as the class, its
/// identity says which it is, and C finds it in a container without code of the program.
pub(crate) fn is_held_by_class(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    !types::is_c_type(&class)
        && types::lookup(&class, &interned(object.py(), "__eq__")).is_some_and(|eq| !is_python(&eq))
        && types::lookup(&class, &interned(object.py(), "__hash__"))
            .is_some_and(|hash| !is_python(&hash) || is_hash_of_name(&hash))
        && types::namespace(&class).is_some_and(|held| held.iter().any(|(_, held)| held.is(object)))
}

/// Whether it is the `__hash__` that the library gives to enumerations: that of the member's name.
pub(crate) fn is_hash_of_name(found: &Bound<'_, PyAny>) -> bool {
    let modules = crate::ffi::modules::import(found.py(), "sys").and_then(|sys| sys.getattr("modules"));
    let own = modules.and_then(|modules| modules.get_item("enum")?.getattr("Enum")?.getattr("__hash__"));
    own.is_ok_and(|own| own.is(found))
}

fn is_python(found: &Bound<'_, PyAny>) -> bool {
    found.is_exact_instance_of::<PyFunction>()
}

/// Whether the object is known once its identity is: classes, functions, modules, C callables and descriptors, code.
pub(crate) fn is_definition(object: &Bound<'_, PyAny>) -> bool {
    // Tuples of C may be fixed.
    const NEVER: u64 = flag::DATA_SUBCLASS & !flag::TUPLE_SUBCLASS | flag::BASE_EXC_SUBCLASS;
    let class = object.get_type();
    if types::has(&class, NEVER) || is_plain(&class) {
        return false;
    }
    if object.is_instance_of::<PyType>()
        || object.is_exact_instance_of::<PyFunction>()
        || object.is_exact_instance_of::<PyCFunction>()
        || object.is_exact_instance_of::<PyModule>()
        || object.is_exact_instance_of::<PyCode>()
        || is_fixed(object)
    {
        return true;
    }
    const NAMES: &[&str] = &[
        "builtin_method",
        "method_descriptor",
        "wrapper_descriptor",
        "getset_descriptor",
        "member_descriptor",
        "classmethod_descriptor",
        "classmethod",
        "staticmethod",
        "property",
        "method-wrapper",
        "re.Pattern",
        "_multibytecodec.MultibyteCodec",
        "collections._tuplegetter",
        "_collections._tuplegetter",
        "typing.TypeVar",
        "typing.ParamSpec",
        "typing.TypeVarTuple",
        "torch._C.DisableTorchFunction",
        "torch._C.DisableTorchFunctionSubclass",
        "torch._C._EnableTorchFunction",
        "torch.dtype",
        "torch.layout",
        "torch.memory_format",
        "numpy.ufunc",
        "numpy._ArrayFunctionDispatcher",
    ];
    match &*types::c_name(&class) {
        "operator.itemgetter" | "operator.attrgetter" | "operator.methodcaller" => says_scalars(object),
        name => NAMES.contains(&name),
    }
}

/// Whether an object is made of scalars alone, as its `__reduce__` says.
pub(crate) fn says_scalars(object: &Bound<'_, PyAny>) -> bool {
    let parts = object.call_method0(name!("__reduce__")).and_then(|reduced| reduced.get_item(1));
    parts.is_ok_and(|parts| is_scalar(&parts))
}

/// Whether a definition belongs to one object: a C method bound to something that can change, a descriptor around a function. Such an object,
/// made by C during a trace, is new on every run.
pub(crate) fn is_of_one_object(object: &Bound<'_, PyAny>) -> bool {
    match &*types::c_name(&object.get_type()) {
        "property" | "staticmethod" | "classmethod" => true,
        "typing.TypeVar" | "typing.ParamSpec" | "typing.TypeVarTuple" => true,
        "operator.itemgetter" | "operator.attrgetter" | "operator.methodcaller" => true,
        "builtin_function_or_method" | "builtin_method" | "method-wrapper" => object
            .getattr(name!("__self__"))
            .is_ok_and(|bound| !is_scalar(&bound) && (!is_definition(&bound) || is_of_one_object(&bound))),
        _ => false,
    }
}

/// Whether instances of a class are numbers, text and the like, which nothing changes and which hold nothing.
pub(crate) fn is_plain(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    let plain = [
        PyInt::type_object_raw(py),
        PyBool::type_object_raw(py),
        PyFloat::type_object_raw(py),
        PyComplex::type_object_raw(py),
        PyString::type_object_raw(py),
        PyBytes::type_object_raw(py),
        PyNone::type_object_raw(py),
    ];
    plain.contains(&class.as_type_ptr())
}

/// The class of immutable values, which hold nothing else, from which the class derives.
pub(crate) fn scalar_base<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let py = class.py();
    let scalars = [
        py.get_type::<PyInt>(),
        py.get_type::<PyFloat>(),
        py.get_type::<PyComplex>(),
        py.get_type::<PyString>(),
        py.get_type::<PyBytes>(),
    ];
    scalars.into_iter().find(|scalar| types::is_subtype(class, scalar)).or_else(|| fixed_base(class))
}

/// The same for classes of C extensions: nothing changes a date, a span of time or a decimal number.
pub(crate) fn fixed_base<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    const FIXED: [&str; 3] = ["datetime.date", "datetime.timedelta", "decimal.Decimal"];
    let mro = types::mro(class)?;
    let bases = mro.iter().filter_map(|base| base.cast_into::<PyType>().ok());
    let base = bases.into_iter().find(crate::ffi::types::is_c_type)?;
    FIXED.contains(&&*types::c_name(&base)).then_some(base)
}

/// Whether C lays out instances of the class, or of a base of it other than `object`.
pub(crate) fn has_c_base(class: &Bound<'_, PyType>) -> bool {
    const EMPTY: [&str; 3] = ["object", "Generic", "Protocol"];
    types::mro(class).is_none_or(|mro| {
        mro.iter().any(|base| {
            base.cast_into::<PyType>()
                .is_ok_and(|base| types::is_c_type(&base) && !EMPTY.contains(&&*types::c_name(&base)))
        })
    })
}

/// A `set` or a `frozenset`, also of a derived class.
pub(crate) fn is_set(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>()
}

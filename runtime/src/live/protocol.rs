//! `slotrt.protocol`: translated functions on real objects, under their C names.
#![allow(non_snake_case)]
// Whether C lets a parameter be NULL differs from release to release.
#![allow(clippy::useless_conversion)]

use super::{Live, Stop};
use generated::v3_13::{abstract_, object};
use pyo3::prelude::*;

type Object<'py> = Bound<'py, PyAny>;

/// An error of a generated function as Python sees it.
fn python(stop: Stop) -> PyErr {
    match stop {
        Stop::Exception(error) => error,
        Stop::Unsupported(name) => {
            pyo3::exceptions::PyNotImplementedError::new_err(format!("slotrt.protocol: unsupported: {name}"))
        }
    }
}

/// A result that may be typed as nullable.
trait Given<'py> {
    /// The object.
    fn given(self) -> PyResult<Object<'py>>;
}

impl<'py> Given<'py> for Object<'py> {
    fn given(self) -> PyResult<Object<'py>> {
        Ok(self)
    }
}

impl<'py> Given<'py> for Option<Object<'py>> {
    fn given(self) -> PyResult<Object<'py>> {
        self.ok_or_else(|| pyo3::exceptions::PySystemError::new_err("NULL without an exception"))
    }
}

macro_rules! objects {
    ($module:ident: $($name:ident($($arg:ident),+)),+ $(,)?) => {
        $(
            #[pyfunction]
            fn $name<'py>($($arg: Object<'py>),+) -> PyResult<Object<'py>> {
                let mut live = Live::new(first!($($arg),+).py());
                $module::$name(&mut live, $((&$arg).into()),+).map_err(python).and_then(Given::given)
            }
        )+
        fn $module(into: &Bound<'_, PyModule>) -> PyResult<()> {
            $(into.add_function(wrap_pyfunction!($name, into)?)?;)+
            Ok(())
        }
    };
}

macro_rules! first {
    ($first:ident $(, $rest:ident)*) => {
        $first
    };
}

objects! { abstract_:
    PyNumber_Or(v, w), PyNumber_Xor(v, w), PyNumber_And(v, w), PyNumber_Lshift(v, w), PyNumber_Rshift(v, w), PyNumber_Subtract(v, w),
    PyNumber_Divmod(v, w), PyNumber_Add(v, w), PyNumber_Multiply(v, w), PyNumber_MatrixMultiply(v, w), PyNumber_FloorDivide(v, w),
    PyNumber_TrueDivide(v, w), PyNumber_Remainder(v, w), PyNumber_Power(v, w, z),
    PyNumber_InPlaceOr(v, w), PyNumber_InPlaceXor(v, w), PyNumber_InPlaceAnd(v, w), PyNumber_InPlaceLshift(v, w),
    PyNumber_InPlaceRshift(v, w), PyNumber_InPlaceSubtract(v, w), PyNumber_InPlaceMatrixMultiply(v, w), PyNumber_InPlaceFloorDivide(v, w),
    PyNumber_InPlaceTrueDivide(v, w), PyNumber_InPlaceRemainder(v, w), PyNumber_InPlaceAdd(v, w), PyNumber_InPlaceMultiply(v, w),
    PyNumber_InPlacePower(v, w, z),
    PyNumber_Negative(o), PyNumber_Positive(o), PyNumber_Invert(o), PyNumber_Absolute(o), PyNumber_Index(item), PyNumber_Float(o),
    PyObject_GetItem(o, key), PyObject_GetIter(o),
}

#[pyfunction]
fn PyObject_RichCompare<'py>(v: Object<'py>, w: Object<'py>, op: i32) -> PyResult<Object<'py>> {
    object::PyObject_RichCompare(&mut Live::new(v.py()), (&v).into(), (&w).into(), op)
        .map_err(python)
        .and_then(Given::given)
}

#[pyfunction]
fn PyObject_IsTrue(v: Object<'_>) -> PyResult<i32> {
    object::PyObject_IsTrue(&mut Live::new(v.py()), (&v).into()).map_err(python)
}

#[pyfunction]
fn PyObject_Size(o: Object<'_>) -> PyResult<isize> {
    abstract_::PyObject_Size(&mut Live::new(o.py()), (&o).into()).map_err(python)
}

/// The submodule.
///
/// # Errors
/// What making it raises.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "protocol")?;
    abstract_(&module)?;
    module.add_function(wrap_pyfunction!(PyObject_RichCompare, &module)?)?;
    module.add_function(wrap_pyfunction!(PyObject_IsTrue, &module)?)?;
    module.add_function(wrap_pyfunction!(PyObject_Size, &module)?)?;
    Ok(module)
}

//! Members of C structs of live objects, at the offsets that the generated tables give.
use super::exported;
use crate::ffi::types;
use generated::calls::{CallArgument, Value};
use generated::members::{Field, Kind};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

type Object = *mut ffi::PyObject;

/// The structs of exceptions, and the classes whose instances have them.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("PyAttributeErrorObject_", "PyExc_AttributeError"),
    ("PyBaseExceptionGroupObject_", "PyExc_BaseExceptionGroup"),
    ("PyBaseExceptionObject_", "PyExc_BaseException"),
    ("PyImportErrorObject_", "PyExc_ImportError"),
    ("PyNameErrorObject_", "PyExc_NameError"),
    ("PyOSErrorObject_", "PyExc_OSError"),
    ("PyStopIterationObject_", "PyExc_StopIteration"),
    ("PySyntaxErrorObject_", "PyExc_SyntaxError"),
    ("PySystemExitObject_", "PyExc_SystemExit"),
    ("PyUnicodeErrorObject_", "PyExc_UnicodeError"),
];

/// The class whose instances have a member, if it is an exception.
fn exception_of(member: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(prefix, _)| member.starts_with(prefix)).map(|(_, class)| *class)
}

/// Bytes of what is read or set; nothing for what is neither.
fn width(kind: Kind) -> Option<usize> {
    Some(match kind {
        Kind::Object | Kind::I64 | Kind::U64 | Kind::F64 | Kind::Pointer | Kind::Function | Kind::Text => 8,
        // What is read is the address.
        Kind::Struct => 0,
        Kind::I32 | Kind::U32 => 4,
        Kind::I16 | Kind::U16 => 2,
        Kind::I8 | Kind::U8 => 1,
        _ => return None,
    })
}

/// Where a member lies; nothing if the object's struct does not reach so far, or a pointer on the way is NULL.
fn place(object: &Bound<'_, PyAny>, field: &Field) -> Option<*mut u8> {
    let width = width(field.kind)?;
    let (first, rest) = field.path.split_first()?;
    if let Some(address) = super::pointer::target(object) {
        // SAFETY: `Live` gave the pointer out as one to the struct that has this member.
        return unsafe { follow((address as *mut u8).add(*first), rest) };
    }
    let kind = object.get_type();
    // SAFETY: a live type object.
    let size = unsafe { (*kind.as_type_ptr()).tp_basicsize };
    let end = first + if rest.is_empty() { width } else { size_of::<usize>() };
    if usize::try_from(size).is_ok_and(|size| end > size) || !whole(object, field) {
        return None;
    }
    // SAFETY: the first place lies inside the object, as its type's size says; the others behind pointers that the struct of this name has.
    unsafe { follow(object.as_ptr().cast::<u8>().add(*first), rest) }
}

/// Follows pointers to the place of a member; nothing if one is NULL.
///
/// # Safety
/// A pointer to a struct lies at `at`, and at each offset in the structs that follow but the last.
unsafe fn follow(mut at: *mut u8, rest: &[usize]) -> Option<*mut u8> {
    for next in rest {
        // SAFETY: as the caller promises.
        unsafe {
            at = *at.cast::<*mut u8>();
            if at.is_null() {
                return None;
            }
            at = at.add(*next);
        }
    }
    Some(at)
}

/// The word that a member holds.
fn word(object: &Bound<'_, PyAny>, field: &Field, kind: Kind) -> Option<usize> {
    let at = place(object, field).filter(|_| field.kind == kind)?;
    // SAFETY: a pointer lies there.
    Some(unsafe { *at.cast::<usize>() })
}

/// The address of the function that a member holds, 0 for NULL; nothing for members of other kinds.
pub(crate) fn function(object: &Bound<'_, PyAny>, field: &Field) -> Option<usize> {
    // `void *` may be declared for what holds a function.
    word(object, field, Kind::Function).or_else(|| word(object, field, Kind::Pointer))
}

/// Sets a member that holds a function.
pub(crate) fn set_function(object: &Bound<'_, PyAny>, field: &Field, pointer: usize) -> Option<()> {
    let at = place(object, field).filter(|_| matches!(field.kind, Kind::Function | Kind::Pointer))?;
    // SAFETY: a pointer to a function lies there, and the object is the caller's to change.
    unsafe { *at.cast::<usize>() = pointer };
    Some(())
}

/// Whether the C string that a member points to is there.
pub(crate) fn is_set(object: &Bound<'_, PyAny>, field: &Field) -> Option<bool> {
    word(object, field, Kind::Text).map(|word| word != 0)
}

/// The C string that a member points to; nothing for NULL and for what is no UTF-8.
pub(crate) fn text(object: &Bound<'_, PyAny>, field: &Field) -> Option<String> {
    let word = word(object, field, Kind::Text).filter(|word| *word != 0)?;
    // SAFETY: a C string lies there.
    unsafe { std::ffi::CStr::from_ptr(word as *const std::ffi::c_char) }.to_str().ok().map(str::to_owned)
}

/// Whether the object has the struct that the field is one of, where its size does not tell. Static types are shorter than what the size of
/// `type` says; exceptions of one size have structs of their own.
fn whole(object: &Bound<'_, PyAny>, field: &Field) -> bool {
    if let Some(exception) = exception_of(field.name) {
        return exported::global(object.py(), exception)
            .and_then(|class| class.cast_into::<PyType>().ok())
            .is_some_and(|class| types::is_subtype(&object.get_type(), &class));
    }
    match object.cast::<PyType>() {
        Ok(class) => !field.name.starts_with("PyHeapTypeObject") || types::is_heap(class),
        Err(_) => true,
    }
}

/// What a member holds.
pub(crate) fn get<'py>(object: &Bound<'py, PyAny>, field: &Field) -> Option<Value<Bound<'py, PyAny>>> {
    let at = place(object, field)?;
    if field.kind == Kind::Struct {
        return super::pointer::to(object.py(), at as usize).map(Value::Object);
    }
    // SAFETY: the member of this kind lies there; a pointer to an object is NULL or live.
    unsafe {
        Some(match field.kind {
            Kind::Pointer => match *at.cast::<usize>() {
                0 => Value::Null,
                target => Value::Object(super::pointer::to(object.py(), target)?),
            },
            Kind::Object => Bound::from_borrowed_ptr_or_opt(object.py(), *at.cast::<Object>()).into(),
            Kind::F64 => Value::Double(*at.cast::<f64>()),
            Kind::I64 => Value::Int(i128::from(*at.cast::<i64>())),
            Kind::U64 => Value::Int(i128::from(*at.cast::<u64>())),
            Kind::I32 => Value::Int(i128::from(*at.cast::<i32>())),
            Kind::U32 => Value::Int(i128::from(*at.cast::<u32>())),
            Kind::I16 => Value::Int(i128::from(*at.cast::<i16>())),
            Kind::U16 => Value::Int(i128::from(*at.cast::<u16>())),
            Kind::I8 => Value::Int(i128::from(*at.cast::<i8>())),
            Kind::U8 => Value::Int(i128::from(*at)),
            _ => return None,
        })
    }
}

/// Sets a member; nothing if it cannot be, or the value is of another kind.
pub(crate) fn set(object: &Bound<'_, PyAny>, field: &Field, value: &CallArgument<'_, Bound<'_, PyAny>>) -> Option<()> {
    let at = place(object, field)?;
    // SAFETY: the member of this kind lies there, and the object is the caller's to change; the old reference is given up after the new one
    // is there.
    unsafe {
        match (field.kind, value) {
            (Kind::Object, CallArgument::Object(value)) => {
                let new = value.map_or(std::ptr::null_mut(), |value| value.clone().into_ptr());
                drop(Bound::from_owned_ptr_or_opt(object.py(), std::mem::replace(&mut *at.cast::<Object>(), new)));
            }
            (Kind::Pointer, CallArgument::Object(None)) => *at.cast::<usize>() = 0,
            (Kind::Pointer, CallArgument::Object(Some(value))) => *at.cast::<usize>() = super::pointer::target(value)?,
            (Kind::I64, CallArgument::Int(value)) => *at.cast::<i64>() = *value,
            (Kind::U64, CallArgument::Int(value)) => *at.cast::<u64>() = *value as u64,
            (Kind::I32, CallArgument::Int(value)) => *at.cast::<i32>() = i32::try_from(*value).ok()?,
            (Kind::U32, CallArgument::Int(value)) => *at.cast::<u32>() = u32::try_from(*value).ok()?,
            (Kind::I16, CallArgument::Int(value)) => *at.cast::<i16>() = i16::try_from(*value).ok()?,
            (Kind::U16, CallArgument::Int(value)) => *at.cast::<u16>() = u16::try_from(*value).ok()?,
            (Kind::I8, CallArgument::Int(value)) => *at.cast::<i8>() = i8::try_from(*value).ok()?,
            (Kind::U8, CallArgument::Int(value)) => *at = u8::try_from(*value).ok()?,
            _ => return None,
        }
    }
    Some(())
}

/// Sets a `double`; nothing if the member is none.
pub(crate) fn set_double(object: &Bound<'_, PyAny>, field: &Field, value: f64) -> Option<()> {
    if field.kind != Kind::F64 {
        return None;
    }
    let at = place(object, field)?;
    // SAFETY: a `double` of the object lies there.
    unsafe { *at.cast::<f64>() = value };
    Some(())
}

/// Gives up an object that was not finished: nothing looks into it, and it is never freed.
pub(crate) fn abandon(object: Bound<'_, PyAny>) {
    // SAFETY: a live object; one that the collector does not know is left as it is.
    unsafe {
        if ffi::PyObject_IS_GC(object.as_ptr()) != 0 && ffi::PyObject_GC_IsTracked(object.as_ptr()) != 0 {
            ffi::PyObject_GC_UnTrack(object.as_ptr().cast());
        }
    }
    std::mem::forget(object);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_struct_of_an_exception_has_its_class() {
        let members = crate::semantics::FIELDS.iter().flat_map(|fields| fields.iter());
        let structs = members.filter_map(|field| field.name.split_once("Object_").map(|(name, _)| (field.name, name)));
        for (member, name) in structs
            .filter(|(_, name)| ["Error", "Exception", "ExceptionGroup", "Exit"].iter().any(|end| name.ends_with(end)))
        {
            let class = exception_of(member).map(|class| class.trim_start_matches("PyExc_"));
            assert_eq!(class, name.strip_prefix("Py"), "{member}");
        }
    }
}

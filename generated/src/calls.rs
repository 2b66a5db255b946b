//! Hand-written: arguments and results of translated functions that are called by identity.

use crate::capi::{CApi, FunctionId};
use crate::tables::Row;

/// A translated function and its C prototype.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Its identity.
    pub id: FunctionId,
    /// `static`, if C hides it in its file; then what each parameter takes, with the C struct that it points to, and what it gives.
    ///
    /// The words are `object` (with `?`: or NULL), `pointer` (to what is no object), an integer's Rust name, `f64`, `str`, `objects` (an
    /// array), `out object`, `out i32`… (with `?`: or NULL), `thread`, `nothing` (not used), `...`, and `other` for what only C can hold.
    pub prototype: &'static str,
}

impl Row for Function {
    type Key = (&'static str, &'static str);
    fn key(&self) -> Self::Key {
        (self.id.file(), self.id.name())
    }
}

/// An argument or a result.
#[derive(Debug, Clone)]
pub enum Value<O> {
    /// NULL.
    Null,
    /// No value: what a `void` function gives, what stands for a parameter that is not used, and NULL where a variable to set may be given.
    Nothing,
    /// An object.
    Object(O),
    /// Any C integer.
    Int(i128),
    /// A `double`.
    Double(f64),
    /// A C string.
    Str(String),
    /// An array of objects.
    Objects(Vec<O>),
    /// The result, then what was set through pointers.
    Several(Vec<Value<O>>),
}

impl<O> From<Option<O>> for Value<O> {
    fn from(object: Option<O>) -> Self {
        object.map_or(Value::Null, Value::Object)
    }
}

/// A C number.
pub trait Number: Sized {
    /// It, if the value is one that the type holds.
    fn take<O>(value: &Value<O>) -> Option<Self>;
    /// It as a value.
    fn give<O>(self) -> Value<O>;
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl Number for $int {
            fn take<O>(value: &Value<O>) -> Option<Self> {
                if let Value::Int(int) = value { Self::try_from(*int).ok() } else { None }
            }
            fn give<O>(self) -> Value<O> {
                Value::Int(self as i128)
            }
        }
    )*};
}
integers!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize);

impl Number for f64 {
    fn take<O>(value: &Value<O>) -> Option<Self> {
        if let Value::Double(double) = value { Some(*double) } else { None }
    }
    fn give<O>(self) -> Value<O> {
        Value::Double(self)
    }
}

/// The reason why an argument was refused.
const REFUSED: &str = "argument of another kind than the function's prototype says";

impl<O> Value<O> {
    /// A result that is a number.
    pub fn number<T: Number>(number: T) -> Self {
        number.give()
    }
    /// An argument that is an object.
    pub fn object<'a, C: CApi<Object = O>>(c: &mut C, args: &'a [Self], index: usize) -> Result<&'a O, C::Error> {
        match args.get(index) {
            Some(Value::Object(object)) => Ok(object),
            Some(Value::Null) => Err(c.unsupported("NULL where an object must be")),
            _ => Err(c.unsupported(REFUSED)),
        }
    }
    /// An argument that is an object or NULL.
    pub fn nullable<'a, C: CApi<Object = O>>(
        c: &mut C,
        args: &'a [Self],
        index: usize,
    ) -> Result<Option<&'a O>, C::Error> {
        match args.get(index) {
            Some(Value::Null) => Ok(None),
            _ => Self::object(c, args, index).map(Some),
        }
    }
    /// An argument that is a number.
    pub fn int<C: CApi<Object = O>, T: Number>(c: &mut C, args: &[Self], index: usize) -> Result<T, C::Error> {
        match args.get(index) {
            Some(value @ (Value::Int(_) | Value::Double(_))) => {
                T::take(value).ok_or_else(|| c.unsupported("number beyond what the prototype's type holds"))
            }
            _ => Err(c.unsupported(REFUSED)),
        }
    }
    /// An argument that is a variable for an object; nothing for a NULL in its place.
    pub fn variable<C: CApi<Object = O>>(c: &mut C, args: &[Self], index: usize) -> Result<Option<Option<O>>, C::Error>
    where
        O: Clone,
    {
        match args.get(index) {
            Some(Value::Nothing) => Ok(None),
            _ => Self::nullable(c, args, index).map(|object| Some(object.cloned())),
        }
    }
    /// An argument that is a variable for a number; nothing for a NULL in its place.
    pub fn int_variable<C: CApi<Object = O>, T: Number>(
        c: &mut C,
        args: &[Self],
        index: usize,
    ) -> Result<Option<T>, C::Error> {
        match args.get(index) {
            Some(Value::Nothing) => Ok(None),
            _ => Self::int(c, args, index).map(Some),
        }
    }
    /// What a variable for an object was set to, if there was one.
    pub fn set(variable: Option<Option<O>>) -> Self {
        variable.map_or(Value::Nothing, Value::from)
    }
    /// What a variable for a number was set to, if there was one.
    pub fn set_number<T: Number>(variable: Option<T>) -> Self {
        variable.map_or(Value::Nothing, Value::number)
    }
    /// An argument that is a `double`.
    pub fn double<C: CApi<Object = O>>(c: &mut C, args: &[Self], index: usize) -> Result<f64, C::Error> {
        match args.get(index) {
            Some(Value::Double(double)) => Ok(*double),
            _ => Err(c.unsupported(REFUSED)),
        }
    }
    /// An argument that is a C string.
    pub fn text<'a, C: CApi<Object = O>>(c: &mut C, args: &'a [Self], index: usize) -> Result<&'a str, C::Error> {
        match args.get(index) {
            Some(Value::Str(text)) => Ok(text),
            _ => Err(c.unsupported(REFUSED)),
        }
    }
    /// An argument that is a C string or NULL.
    pub fn nullable_text<'a, C: CApi<Object = O>>(
        c: &mut C,
        args: &'a [Self],
        index: usize,
    ) -> Result<Option<&'a str>, C::Error> {
        match args.get(index) {
            Some(Value::Null) => Ok(None),
            _ => Self::text(c, args, index).map(Some),
        }
    }
    /// An argument that is an array of objects.
    pub fn objects<'a, C: CApi<Object = O>>(c: &mut C, args: &'a [Self], index: usize) -> Result<&'a [O], C::Error> {
        match args.get(index) {
            Some(Value::Objects(objects)) => Ok(objects),
            Some(Value::Null) => Ok(&[]),
            _ => Err(c.unsupported(REFUSED)),
        }
    }
}

/// An argument of a C function that the world is asked for by name.
#[derive(Debug)]
pub enum CallArgument<'a, O> {
    /// An object or NULL.
    Object(Option<&'a O>),
    /// Any C integer.
    Int(i64),
    /// A C string or NULL.
    Str(Option<&'a str>),
    /// An array of objects.
    Objects(&'a [O]),
    /// A variable that holds an object or NULL.
    Out(&'a mut Option<O>),
    /// An `int` variable.
    OutInt(&'a mut i32),
    /// A `Py_ssize_t` variable.
    OutSize(&'a mut isize),
}

/// What a C function that the world is asked for gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// An object; NULL comes with an exception.
    Object,
    /// An object, or NULL.
    Optional,
    /// An `int`; -1 may come with an exception.
    Int,
    /// A wider integer; -1 may come with an exception.
    Size,
    /// Nothing.
    Nothing,
}

/// Asks for an object.
pub fn object<C: CApi>(
    c: &mut C,
    name: &'static str,
    args: &mut [CallArgument<'_, C::Object>],
) -> Result<C::Object, C::Error> {
    match c.ask(name, args, Gives::Object)? {
        Value::Object(object) => Ok(object),
        _ => Err(c.unsupported(name)),
    }
}

/// Asks for an object or NULL.
pub fn optional<C: CApi>(
    c: &mut C,
    name: &'static str,
    args: &mut [CallArgument<'_, C::Object>],
) -> Result<Option<C::Object>, C::Error> {
    match c.ask(name, args, Gives::Optional)? {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        _ => Err(c.unsupported(name)),
    }
}

/// Asks for an `int`.
pub fn int<C: CApi>(c: &mut C, name: &'static str, args: &mut [CallArgument<'_, C::Object>]) -> Result<i32, C::Error> {
    let value = c.ask(name, args, Gives::Int)?;
    number(c, name, value)
}

/// Asks for a wider integer.
pub fn size<C: CApi, T: TryFrom<i128>>(
    c: &mut C,
    name: &'static str,
    args: &mut [CallArgument<'_, C::Object>],
) -> Result<T, C::Error> {
    let value = c.ask(name, args, Gives::Size)?;
    number(c, name, value)
}

/// Asks for an `int` that is a truth.
pub fn truth<C: CApi>(
    c: &mut C,
    name: &'static str,
    args: &mut [CallArgument<'_, C::Object>],
) -> Result<bool, C::Error> {
    int(c, name, args).map(|int| int != 0)
}

/// Asks for nothing but that it is done.
pub fn nothing<C: CApi>(
    c: &mut C,
    name: &'static str,
    args: &mut [CallArgument<'_, C::Object>],
) -> Result<(), C::Error> {
    c.ask(name, args, Gives::Nothing).map(drop)
}

fn number<C: CApi, T: TryFrom<i128>>(c: &mut C, name: &'static str, value: Value<C::Object>) -> Result<T, C::Error> {
    match value {
        Value::Int(int) => T::try_from(int).map_err(|_| c.unsupported(name)),
        _ => Err(c.unsupported(name)),
    }
}

/// What a function gives that always raises, where C's pointer to it gives more.
pub fn raised<T, E>(result: Result<E, E>) -> Result<T, E> {
    match result {
        Ok(error) | Err(error) => Err(error),
    }
}

/// An object that must be there.
pub fn required<C: CApi>(result: Result<Option<C::Object>, C::Error>, c: &mut C) -> Result<C::Object, C::Error> {
    match result? {
        Some(object) => Ok(object),
        None => Err(c.unsupported("NULL without an exception")),
    }
}

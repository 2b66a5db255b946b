//! `PyUnicode_FromFormat`, as far as messages use it.
use super::world::{Live, Stop};
use generated::calls::{CallArgument, Gives, Value};
use generated::capi::Argument;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyString};

/// A text that grows: what Rust's strings can hold, and strings with halves of surrogate pairs.
struct Text<'py> {
    done: Vec<Bound<'py, PyString>>,
    last: String,
}

impl<'py> Text<'py> {
    fn push(&mut self, part: &Bound<'py, PyString>, precision: Option<usize>) -> PyResult<()> {
        let Ok(text) = part.to_str() else {
            let py = part.py();
            self.done.push(PyString::new(py, &std::mem::take(&mut self.last)));
            let most = precision.unwrap_or_else(|| part.len().unwrap_or(usize::MAX));
            let cut = part.get_item(PySlice::new(py, 0, isize::try_from(most).unwrap_or(isize::MAX), 1))?;
            self.done.push(cut.cast_into().map_err(PyErr::from)?);
            return Ok(());
        };
        self.push_str(text, precision);
        Ok(())
    }

    fn push_str(&mut self, text: &str, precision: Option<usize>) {
        match precision {
            Some(most) => self.last.extend(text.chars().take(most)),
            None => self.last.push_str(text),
        }
    }

    fn end(mut self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let last = PyString::new(py, &self.last);
        if self.done.is_empty() {
            return Ok(last);
        }
        self.done.push(last);
        Ok(PyString::new(py, "").call_method1("join", (PyList::new(py, self.done)?,))?.cast_into()?)
    }
}

/// The text that a format and its arguments give.
pub(super) fn text<'py>(
    live: &mut Live<'py>,
    format: &str,
    args: &[Argument<Bound<'py, PyAny>>],
) -> Result<Bound<'py, PyString>, Stop> {
    let format = live.own_words(format)?;
    let mut out = Text { done: Vec::new(), last: String::new() };
    let mut args = args.iter();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.last.push(c);
            continue;
        }
        let mut precision: Option<usize> = None;
        let conversion = loop {
            match rest.next() {
                Some('.') => precision = Some(0),
                Some(digit @ '0'..='9') => {
                    let digit = digit.to_digit(10).unwrap_or(0) as usize;
                    precision = precision.map(|precision| precision * 10 + digit);
                }
                Some('l' | 'z' | 'j' | 't' | 'h' | '-' | '+') => {}
                other => break other,
            }
        };
        if conversion == Some('%') {
            out.last.push('%');
            continue;
        }
        let given = args.next();
        if conversion == Some('V') {
            // An object, and a C string for where it is NULL.
            args.next();
        }
        if let (Some(kind), Some(Argument::Object(object))) = (conversion, given)
            && kind != 'p'
        {
            let function = match kind {
                'R' => "PyObject_Repr",
                'A' => "PyObject_ASCII",
                _ => "PyObject_Str",
            };
            let part = match kind {
                'T' => shown(live, "PyType_GetFullyQualifiedName", object.get_type().as_any())?,
                'N' => shown(live, "PyType_GetFullyQualifiedName", object)?,
                _ => shown(live, function, object)?,
            };
            out.push(&part, precision)?;
            continue;
        }
        let part = match (conversion, given) {
            (Some('c'), Some(Argument::Int(number))) => {
                u32::try_from(*number).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
            }
            (Some('x'), Some(Argument::Int(number))) => format!("{number:x}"),
            (_, Some(Argument::Int(number))) => number.to_string(),
            (_, Some(Argument::Str(text))) => text.clone(),
            // `%p`.
            (_, Some(Argument::Object(object))) => format!("{:p}", object.as_ptr()),
            (_, None) => String::new(),
        };
        out.push_str(&part, precision);
    }
    Ok(out.end(live.py)?)
}

/// The text that a function of one object gives.
fn shown<'py>(
    live: &mut Live<'py>,
    function: &'static str,
    object: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyString>, Stop> {
    match live.call_c(function, &mut [CallArgument::Object(Some(object))], Gives::Object)? {
        Value::Object(text) => Ok(text.cast_into().map_err(PyErr::from)?),
        _ => Err(Stop::Unsupported(function)),
    }
}

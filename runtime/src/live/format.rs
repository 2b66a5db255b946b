//! `PyUnicode_FromFormat` as far as messages use it.
use super::{Live, Stop};
use generated::calls::{Asked, Gives, Value};
use generated::capi::Argument;
use pyo3::prelude::*;

/// The text that a format and its arguments give.
pub(super) fn text<'py>(
    live: &mut Live<'py>,
    format: &str,
    args: &[Argument<Bound<'py, PyAny>>],
) -> Result<String, Stop> {
    let mut out = String::new();
    let mut args = args.iter();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
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
            out.push('%');
            continue;
        }
        let given = args.next();
        if conversion == Some('V') {
            // An object, and a C string for where it is NULL.
            args.next();
        }
        let part = match (conversion, given) {
            (Some('c'), Some(Argument::Int(number))) => {
                u32::try_from(*number).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
            }
            (Some('x'), Some(Argument::Int(number))) => format!("{number:x}"),
            (_, Some(Argument::Int(number))) => number.to_string(),
            (_, Some(Argument::Str(text))) => text.clone(),
            (Some('R'), Some(Argument::Object(object))) => shown(live, "PyObject_Repr", object)?,
            (Some('A'), Some(Argument::Object(object))) => shown(live, "PyObject_ASCII", object)?,
            (Some('p'), Some(Argument::Object(object))) => format!("{:p}", object.as_ptr()),
            (_, Some(Argument::Object(object))) => shown(live, "PyObject_Str", object)?,
            (_, None) => String::new(),
        };
        match precision {
            Some(most) => out.extend(part.chars().take(most)),
            None => out.push_str(&part),
        }
    }
    Ok(out)
}

/// The text that a function of one object gives.
fn shown<'py>(live: &mut Live<'py>, function: &'static str, object: &Bound<'py, PyAny>) -> Result<String, Stop> {
    match live.asked(function, &mut [Asked::Object(Some(object))], Gives::Object)? {
        Value::Object(text) => {
            Ok(text.cast::<pyo3::types::PyString>().map_err(PyErr::from)?.to_string_lossy().into_owned())
        }
        _ => Err(Stop::Unsupported(function)),
    }
}

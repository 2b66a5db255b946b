//! Objects that traces put into code and guards, on disk: functions of the package that no module names, and what these work with.
use crate::ffi::set_table::SetLayout;
use crate::ffi::{
    callee, containers, contexts, iterator_parts, iterators, random_numbers, referents, thread_locals, traceback,
    weak_references,
};
use crate::stored::{Damaged, In, Misfit, Out, ProcessBound};
use crate::trace::generator::materialise::{read_begin, write_begin};
use crate::trace::lifetime::pending_ends::collects_silently;
use crate::trace::process::outside_reads::{read_answer, write_answer};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use pyo3::wrap_pyfunction;

const ANSWER: u8 = 0;
const BEGIN: u8 = 1;
const FUNCTION: u8 = 2;
const SET_LAYOUT: u8 = 3;
const METHOD: u8 = 4;

/// Functions that no module names, in an order that does not change.
fn functions(py: Python<'_>) -> PyResult<[Bound<'_, PyAny>; 18]> {
    Ok([
        wrap_pyfunction!(traceback::add_traceback, py)?.into_any(),
        wrap_pyfunction!(referents::first, py)?.into_any(),
        wrap_pyfunction!(weak_references::follow, py)?.into_any(),
        wrap_pyfunction!(weak_references::refer, py)?.into_any(),
        wrap_pyfunction!(thread_locals::thread_dict, py)?.into_any(),
        wrap_pyfunction!(containers::values, py)?.into_any(),
        wrap_pyfunction!(containers::keys, py)?.into_any(),
        wrap_pyfunction!(iterators::look_ahead, py)?.into_any(),
        wrap_pyfunction!(iterators::advance, py)?.into_any(),
        wrap_pyfunction!(iterator_parts::parts_from, py)?.into_any(),
        wrap_pyfunction!(random_numbers::look_ahead, py)?.into_any(),
        wrap_pyfunction!(random_numbers::go_on_from, py)?.into_any(),
        wrap_pyfunction!(contexts::make_token, py)?.into_any(),
        wrap_pyfunction!(contexts::make_token_in, py)?.into_any(),
        wrap_pyfunction!(contexts::set_variable, py)?.into_any(),
        wrap_pyfunction!(contexts::set_in_context, py)?.into_any(),
        wrap_pyfunction!(contexts::make_context, py)?.into_any(),
        wrap_pyfunction!(collects_silently, py)?.into_any(),
    ])
}

/// Which of these functions an object is.
fn function_index(object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let Some(definition) = callee::definition_of(object) else { return Ok(None) };
    let known = functions(object.py())?;
    Ok(known.iter().position(|known| callee::definition_of(known) == Some(definition)))
}

/// Writes an object of these kinds; `false`: it is none.
///
/// # Errors
/// What of it cannot be written.
pub fn write_own<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
    let at = out.bytes.0.len();
    out.bytes.0.push(ANSWER);
    if write_answer(object, out)? {
        return Ok(true);
    }
    out.bytes.0[at] = BEGIN;
    if write_begin(object, out)? {
        return Ok(true);
    }
    if let Ok(layout) = object.cast_exact::<SetLayout>() {
        out.bytes.0[at] = SET_LAYOUT;
        return write_layout(layout.get(), out).map(|()| true);
    }
    if let Some(layout) = callee::receiver_of(object).filter(|receiver| receiver.is_exact_instance_of::<SetLayout>()) {
        out.bytes.0[at] = METHOD;
        out.bytes.text(&callee::name_of(object));
        return out.object(&layout).map(|()| true);
    }
    if let Some(index) = function_index(object)? {
        out.bytes.0[at] = FUNCTION;
        out.bytes.0.push(index as u8);
        return Ok(true);
    }
    out.bytes.0.truncate(at);
    Ok(false)
}

/// Reads what [`write_own`] has written.
///
/// # Errors
/// What of it is not in this process.
pub fn read_own<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    match from.bytes.byte()? {
        ANSWER => read_answer(from),
        BEGIN => read_begin(from),
        SET_LAYOUT => read_layout(from),
        METHOD => {
            let name = from.bytes.text()?.to_owned();
            let layout = from.object()?.cast_into_exact::<SetLayout>().map_err(|_| Damaged)?;
            Ok(layout.getattr(name)?)
        }
        FUNCTION => {
            let index = usize::from(from.bytes.byte()?);
            Ok(functions(from.py())?.get(index).ok_or(Damaged)?.clone())
        }
        _ => Err(Damaged.into()),
    }
}

/// Where keys lie follows from their hashes, which texts have others of in another process.
fn write_layout<'py>(layout: &SetLayout, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let (mask, finger, places) = layout.parts();
    out.bytes.number(mask as u64);
    out.bytes.signed(finger as i64);
    out.bytes.number(places.len() as u64);
    for (at, hash, dummy) in places {
        out.bytes.number(at as u64);
        out.bytes.signed(hash as i64);
        out.bytes.0.push(u8::from(dummy));
    }
    let keys = layout.keys(out.py());
    if !keys.iter().all(|key| key.is_exact_instance_of::<PyInt>()) {
        out.bound = out.bound.max(ProcessBound::Hashes);
    }
    out.object(keys.as_any())
}

fn read_layout<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    let mask = from.bytes.index()?;
    let finger = isize::try_from(from.bytes.signed()?).map_err(|_| Damaged)?;
    let mut places = Vec::new();
    for _ in 0..from.bytes.count()? {
        let at = from.bytes.index()?;
        let hash = isize::try_from(from.bytes.signed()?).map_err(|_| Damaged)?;
        places.push((at, hash, from.bytes.byte()? != 0));
    }
    let keys = from.object()?.cast_into::<PyTuple>().map_err(|_| Damaged)?;
    let layout = SetLayout::of_parts(mask, finger, &places, &keys).ok_or(Damaged)?;
    Ok(Bound::new(from.py(), layout)?.into_any())
}

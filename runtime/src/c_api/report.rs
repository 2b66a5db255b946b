//! Walks what `slotrt_explain` gives: frames, guards, reasons of breaks.
use super::entry::{enter, fill, object};
use super::error::{Failure, Outcome};
use super::status::slotrt_status::{self, *};
use super::text;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ffi::c_char;

/// A frame that was traced, or left alone. Texts are borrowed from the report, and NULL where there are none.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct slotrt_frame_report {
    /// The qualified name of the function.
    pub name: *const c_char,
    /// Its file.
    pub file: *const c_char,
    /// Its first line.
    pub line: i32,
    /// Nodes of the graph that are operations.
    pub operations: u32,
    /// Rows of `slotrt_report_guard_at`.
    pub guards: u32,
    /// Why it was left alone, if it was.
    pub skipped: *const c_char,
    /// The kind of the graph break that ended it, if one did: `call to unknown C function`.
    pub break_kind: *const c_char,
    /// The particulars of the break.
    pub break_context: *const c_char,
    /// What it means.
    pub break_explanation: *const c_char,
    /// The file in which the break is.
    pub break_file: *const c_char,
    /// The line there, or 0.
    pub break_line: i32,
}

/// A guard. Texts are borrowed from the report, and NULL where there are none.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct slotrt_guard {
    /// How compiled code gets the value: `x`, `globals()['n']`.
    pub source: *const c_char,
    /// What must hold of it.
    pub check: *const c_char,
    /// Why the trace relied on it.
    pub reason: *const c_char,
    /// `watched` or `checked`.
    pub how: *const c_char,
}

fn frames<'py>(report: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyList>> {
    let frames = report.getattr_opt("frames")?.and_then(|frames| frames.cast_into::<PyList>().ok());
    let text = || format!("a {} is no slotrt.Explanation", report.get_type());
    frames.ok_or_else(|| Failure::new(SLOTRT_BAD_ARGUMENT, text()))
}

fn item<'py>(list: &Bound<'py, PyList>, index: u32) -> Outcome<Bound<'py, PyDict>> {
    if index as usize >= list.len() {
        return Err(Failure::new(SLOTRT_OUT_OF_RANGE, format!("row {index} of {}", list.len())));
    }
    list.get_item(index as usize)?.cast_into().map_err(|error| PyErr::from(error).into())
}

fn list<'py>(dict: &Bound<'py, PyDict>, key: &str) -> Outcome<Bound<'py, PyList>> {
    let found = dict.get_item(key)?.and_then(|list| list.cast_into::<PyList>().ok());
    Ok(found.unwrap_or_else(|| PyList::empty(dict.py())))
}

fn number<T: for<'a, 'py> FromPyObject<'a, 'py> + Default>(dict: &Bound<'_, PyDict>, key: &str) -> T {
    dict.get_item(key).ok().flatten().and_then(|value| value.extract().ok()).unwrap_or_default()
}

/// How many frames a report has. The GIL must be held.
///
/// # Safety
/// `report` is NULL or a live object; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_report_frame_count(report: *mut PyObject, out: *mut u32) -> slotrt_status {
    enter(|py, _| {
        // SAFETY: as above.
        unsafe {
            let report = object(py, report, "report")?;
            fill(out, "out", || Ok(frames(&report)?.len() as u32))
        }
    })
}

/// A frame of a report, in the order in which they were traced. The GIL must be held.
///
/// # Safety
/// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_report_frame_at(
    report: *mut PyObject,
    index: u32,
    out: *mut slotrt_frame_report,
) -> slotrt_status {
    enter(|py, _| {
        // SAFETY: as above.
        unsafe {
            let report = object(py, report, "report")?;
            fill(out, "out", || {
                let frame = item(&frames(&report)?, index)?;
                let stop = frame.get_item("break")?.and_then(|stop| stop.cast_into::<PyDict>().ok());
                let of_break = |key: &str| stop.as_ref().map_or(std::ptr::null(), |stop| text::item(stop, key));
                Ok(slotrt_frame_report {
                    name: text::item(&frame, "name"),
                    file: text::item(&frame, "file"),
                    line: number(&frame, "line"),
                    operations: number(&frame, "ops"),
                    guards: list(&frame, "guards")?.len() as u32,
                    skipped: text::item(&frame, "skipped"),
                    break_kind: of_break("kind"),
                    break_context: of_break("context"),
                    break_explanation: of_break("explanation"),
                    break_file: of_break("file"),
                    break_line: stop.as_ref().map_or(0, |stop| number(stop, "line")),
                })
            })
        }
    })
}

/// A guard of a frame. The GIL must be held.
///
/// # Safety
/// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_report_guard_at(
    report: *mut PyObject,
    frame: u32,
    index: u32,
    out: *mut slotrt_guard,
) -> slotrt_status {
    enter(|py, _| {
        // SAFETY: as above.
        unsafe {
            let report = object(py, report, "report")?;
            fill(out, "out", || {
                let guard = item(&list(&item(&frames(&report)?, frame)?, "guards")?, index)?;
                let [source, check, reason, how] =
                    ["source", "check", "reason", "how"].map(|key| text::item(&guard, key));
                Ok(slotrt_guard { source, check, reason, how })
            })
        }
    })
}

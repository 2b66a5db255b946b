//! Continuations that compiled code goes on with: on disk they are what they are made from, and are made again.
use crate::ffi::{callable, function, inspect};
use crate::python::compiled::Compiled;
use crate::python::emit_host::UnitHost;
use crate::python::unit::CompilationUnit;
use crate::split::{Continuation, Key, metadata_in, root_code, root_of};
use crate::stored::{Damaged, In, Misfit, Out};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};
use std::any::Any;
use std::sync::Arc;

/// Of the frame that was traced.
const OWN: u8 = 0;
/// Of a frame that it has entered.
const ENTERED: u8 = 1;

/// Writes a continuation, after this tag, that a trace of the unit at this address goes on with; `None`, and nothing is written: the object is
/// none.
pub fn write<'py>(
    object: &Bound<'py, PyAny>,
    unit: usize,
    tag: u8,
    out: &mut Out<'_, 'py>,
) -> Option<Result<(), Misfit>> {
    let continues = callable::with_dispatch(object, |dispatch| {
        let dispatch: &dyn Any = dispatch;
        dispatch.downcast_ref::<Compiled>()?.continues()
    });
    let (of, entered) = continues??;
    out.bytes.0.extend([tag, if of == unit { OWN } else { ENTERED }, u8::from(entered)]);
    Some(write_parts(object, of != unit, out))
}

fn write_parts<'py>(object: &Bound<'py, PyAny>, of_other: bool, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let plain = callable::wrapped(object).ok_or_else(gone)?;
    let code = inspect::function_code(&plain).ok_or_else(gone)?;
    let continuation = metadata_in(&code)?.ok_or_else(gone)?.get().continuation();
    if of_other {
        out.identity(continuation.root().bind(object.py()))?;
        out.identity(&inspect::globals(&plain).ok_or_else(gone)?)?;
    }
    continuation.key.write(&mut out.bytes);
    Ok(())
}

fn gone() -> Misfit {
    Misfit::new("a continuation that is gone")
}

/// Reads what [`write`] has written after the tag: the continuation of this unit, or of one whose frame it has entered.
pub fn read<'py>(from: &mut In<'_, 'py>, unit: &Arc<CompilationUnit>) -> Result<Bound<'py, PyAny>, Misfit> {
    let py = from.py();
    let (of, entered) = (from.bytes.byte()?, from.bytes.byte()? != 0);
    let (code, unit) = match of {
        OWN => (root_of(&from.traced()), Arc::clone(unit)),
        ENTERED => {
            let (code, globals) = (from.object()?, from.object()?);
            if !code.is_instance_of::<PyCode>() || metadata_in(&code)?.is_some() {
                return Err(Damaged.into());
            }
            let like = function::new(&code, globals.cast::<PyDict>().map_err(|_| Damaged)?)?;
            let entered = unit.entered_unit(&code, &like)?;
            (code, entered)
        }
        _ => return Err(Damaged.into()),
    };
    let key = Key::read(&mut from.bytes)?;
    if let Some(known) = unit.known(py, &key) {
        return Ok(known.into_bound(py));
    }
    let root = match metadata_in(&from.traced())? {
        Some(metadata) if of == OWN => metadata.get().root(),
        _ => unit.root_code(&code, root_code).map_err(|error| Misfit(error.to_string()))?,
    };
    let continuation = Continuation::of_root(&root, key)?;
    Ok(UnitHost(unit).callable_of(py, &continuation, entered)?.into_bound(py))
}

//! Functions of the program whose calls it says are nodes: what they give is asked on the `meta` device.
use crate::domain::torch::graph_break::{fault, stop};
use crate::domain::torch::meta::{Meta, fails, name_of};
use crate::domain::torch::stand_ins::StandIns;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

impl<'py> Meta<'_, 'py> {
    /// What such a function gives for these operands. It breaks the graph where it changes one: nobody would put that back.
    pub(in crate::domain::torch) fn call_allowed(
        &self,
        function: &Bound<'py, PyAny>,
        operands: &StandIns<'py>,
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let versions = || {
            let mut found = Vec::new();
            operands.all().try_for_each(|operand| versions_in(self, &operand, &mut found)).map(|()| found)
        };
        let before = versions().map_err(|error| fault(&error))?;
        let given = self.keeping_random(|| operands.run(function)).map_err(|error| fails(function, &error))?;
        match versions().map_err(|error| fault(&error))? == before {
            true => Ok(given),
            false => {
                let why = "It runs natively: its changes could not be taken back.";
                Err(stop("function of the program that changes its operands", name_of(function), why))
            }
        }
    }
}

/// Breaks where a function that `torch.jit.script` has made does more than compute: nobody may ask it what it gives.
pub(in crate::domain::torch) fn refuse_loud_script(function: &Bound<'_, PyAny>) -> Result<(), Box<Break>> {
    const LOUD: &[&str] = &["prim::Print", "aten::warn", "prim::PythonOp", "prim::GetAttr", " = ^", "aten::save"];
    let graph = function.getattr(name!("inlined_graph")).and_then(|graph| graph.str());
    let text = graph.map_err(|error| fault(&error))?;
    let text = text.to_string_lossy();
    match LOUD.iter().find(|loud| text.contains(**loud)) {
        Some(loud) => Err(stop("script that does more than compute", *loud, "It runs natively.")),
        None => Ok(()),
    }
}

/// How often each tensor of an operand was changed.
fn versions_in(meta: &Meta<'_, '_>, operand: &Bound<'_, PyAny>, found: &mut Vec<u64>) -> PyResult<()> {
    let _quiet = Quiet::about([operand]);
    if meta.torch.is_tensor(operand) {
        found.push(operand.getattr(name!("_version"))?.extract()?);
    } else if operand.is_exact_instance_of::<PyTuple>() || operand.is_exact_instance_of::<PyList>() {
        operand.try_iter()?.try_for_each(|item| versions_in(meta, &item?, found))?;
    }
    Ok(())
}

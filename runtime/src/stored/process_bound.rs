//! Instructions whose trace may hold what is so in one process alone: hashes, addresses, the order of sets.
use crate::bytecode::{Code, Op};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyInt, PyTuple};

/// How far what a trace has seen is so elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// In every process.
    #[default]
    Nowhere,
    /// Where texts have the same hashes: it may have seen the order of a set.
    Hashes,
    /// In this process: it may have seen an address.
    Process,
}

/// Builtins that give hashes or addresses.
const OF_PROCESS: &[&str] = &["id", "hash"];

/// Builtins that give sets.
const OF_HASHES: &[&str] = &["set", "frozenset"];

/// Whether a trace that executes this instruction of the code may be right in this process alone.
#[must_use]
pub fn bound_to_process(py: Python<'_>, code: &Code, index: usize) -> Bound {
    let Some(instr) = code.instrs.get(index) else { return Bound::Nowhere };
    match instr.op {
        Op::BUILD_SET | Op::SET_ADD | Op::SET_UPDATE => Bound::Hashes,
        Op::LOAD_GLOBAL | Op::LOAD_NAME => {
            let name = code.names.get((instr.arg >> code.isa().name_shift(instr.op)) as usize);
            let named = |names: &[&str]| name.is_some_and(|name| names.contains(&&**name));
            match () {
                () if named(OF_PROCESS) => Bound::Process,
                () if named(OF_HASHES) => Bound::Hashes,
                () => Bound::Nowhere,
            }
        }
        Op::LOAD_CONST => {
            let constant = code.consts.get(instr.arg as usize).map(|constant| constant.bind(py));
            let ordered = constant.is_some_and(|constant| is_ordered_by_hash(constant));
            let asked = code.instrs.get(index + 1).is_some_and(|next| next.op == Op::CONTAINS_OP);
            if ordered && !asked { Bound::Hashes } else { Bound::Nowhere }
        }
        _ => Bound::Nowhere,
    }
}

/// Whether it is a set, or has one in it, of other things than numbers.
fn is_ordered_by_hash(constant: &pyo3::Bound<'_, PyAny>) -> bool {
    if let Ok(tuple) = constant.cast_exact::<PyTuple>() {
        return tuple.iter().any(|item| is_ordered_by_hash(&item));
    }
    let set = constant.cast_exact::<PyFrozenSet>();
    set.is_ok_and(|set| set.iter().any(|item| !item.is_exact_instance_of::<PyInt>()))
}

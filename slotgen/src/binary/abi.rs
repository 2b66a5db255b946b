//! What the headers of a release say about the memory of its types: layouts, slot ids, flag bits.

use crate::extract::{all_macros, macro_value};
use crate::facts::{self, Field, FunctionType, Slot, Struct};
use crate::preprocess::{MacroDefinition, Preprocessor};
use std::collections::{BTreeMap, BTreeSet};

/// Structs of the tables that a type leads to.
const TABLES: [&str; 9] = [
    "PyObject",
    "wrapperbase",
    "PyMethodDef",
    "PyGetSetDef",
    "PyMemberDef",
    "PyType_Spec",
    "PyType_Slot",
    "PyStructSequence_Desc",
    "PyStructSequence_Field",
];

/// The structs that are read.
pub(super) fn structs() -> Vec<&'static str> {
    [&facts::SLOT_STRUCTS[..], &TABLES[..]].concat()
}

/// Beginnings of the names of `PyType_Slot` ids.
const SLOT_IDS: [&str; 6] = ["Py_tp_", "Py_nb_", "Py_sq_", "Py_mp_", "Py_am_", "Py_bf_"];

/// The macro that chooses, from 3.15 on, between the number of a slot id before and now.
const COMPATIBLE_ID: &str = "_Py_SLOT_COMPAT_VALUE";

/// Layouts and constants of a release.
#[derive(Debug)]
pub(super) struct Abi {
    pub structs: Vec<Struct>,
    /// Typedefs that are pointers to functions.
    function_types: BTreeSet<String>,
    slot_ids: BTreeMap<i64, String>,
    type_flags: Vec<(u64, String)>,
    method_flags: Vec<(u64, String)>,
    member_flags: Vec<(u64, String)>,
    member_types: BTreeMap<i64, String>,
}

impl Abi {
    /// Collects what the headers define.
    pub fn new(structs: Vec<Struct>, function_types: &[FunctionType], preprocessor: &Preprocessor) -> Abi {
        let macros = all_macros(preprocessor);
        let with = |prefixes: &[&str]| numbers(&macros, prefixes);
        let single = |mut flags: Vec<(u64, String)>| {
            flags.retain(|(bits, _)| bits.is_power_of_two());
            flags.sort();
            flags.dedup_by_key(|(bits, _)| *bits);
            flags
        };
        // Modules built for the limited API of an older release hold older numbers; today's come last and win.
        let older: Vec<MacroDefinition> = macros.iter().cloned().map(as_before).collect();
        let ids = [numbers(&older, &SLOT_IDS), with(&SLOT_IDS)].concat();
        let member_types = with(&["T_", "Py_T_", "_Py_T_"]);
        Abi {
            structs,
            function_types: function_types.iter().map(|ty| ty.name.clone()).collect(),
            slot_ids: ids
                .into_iter()
                .map(|(id, name)| (id as i64, name.trim_start_matches("Py_").to_owned()))
                .collect(),
            type_flags: single(with(&["Py_TPFLAGS_", "_Py_TPFLAGS_"])),
            method_flags: single(with(&["METH_"])),
            member_flags: single(with(&[
                "Py_READONLY",
                "Py_AUDIT_READ",
                "_Py_WRITE_RESTRICTED",
                "Py_RELATIVE_OFFSET",
                "READONLY",
                "READ_RESTRICTED",
                "PY_AUDIT_READ",
                "PY_WRITE_RESTRICTED",
            ])),
            member_types: member_types.into_iter().map(|(id, name)| (id as i64, name)).collect(),
        }
    }

    fn structure(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|layout| layout.name == name)
    }

    /// The size of a struct.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.structure(name).map(|layout| layout.size.into()).filter(|&size| size > 0)
    }

    /// A field of a struct.
    pub fn field(&self, owner: &str, name: &str) -> Option<&Field> {
        self.structure(owner)?.fields.iter().find(|field| field.name == name)
    }

    /// The slots, by the rule that holds for sources too.
    pub fn slots(&self) -> Vec<Slot<'_>> {
        facts::slots(&self.structs, &|ty| self.function_types.contains(ty))
    }

    /// The slot of a `PyType_Slot` id.
    pub fn slot_id(&self, id: i64) -> Option<&str> {
        self.slot_ids.get(&id).map(String::as_str)
    }

    /// Names of the bits of `tp_flags`.
    pub fn type_flags(&self, flags: u64) -> Vec<String> {
        names(&self.type_flags, flags)
    }

    /// Names of the bits of `ml_flags`.
    pub fn method_flags(&self, flags: u64) -> Vec<String> {
        names(&self.method_flags, flags)
    }

    /// Names of the bits of a member's flags.
    pub fn member_flags(&self, flags: u64) -> Vec<String> {
        names(&self.member_flags, flags)
    }

    /// The name of a member's type.
    pub fn member_type(&self, number: i64) -> String {
        self.member_types.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// The numbers of macros whose names have one of these beginnings.
fn numbers(macros: &[MacroDefinition], prefixes: &[&str]) -> Vec<(u64, String)> {
    let named = macros
        .iter()
        .filter(|made| made.parameters.is_none() && prefixes.iter().any(|start| made.name.starts_with(start)));
    named.filter_map(|made| Some((macro_value(&made.body, macros)? as u64, made.name.clone()))).collect()
}

/// The macro as the limited API of older releases has it.
fn as_before(made: MacroDefinition) -> MacroDefinition {
    match made.parameters.as_ref().and_then(|names| names.first()).filter(|_| made.name == COMPATIBLE_ID) {
        Some(older) => MacroDefinition { body: older.clone(), ..made },
        None => made,
    }
}

/// The bits that have names, lowest first, and the rest as a number.
fn names(known: &[(u64, String)], flags: u64) -> Vec<String> {
    let mut rest = flags;
    let mut found = Vec::new();
    for (bit, name) in known {
        if rest & bit != 0 {
            rest &= !bit;
            found.push(name.clone());
        }
    }
    if rest != 0 {
        found.push(format!("{rest:#x}"));
    }
    found
}

//! The instruction set, from `opcode_ids.h`, `pycore_opcode_metadata.h` and `instrumentation.c`.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::before_3_13;
use super::opcode_source::{Source, gap, problem};
use crate::diagnostics::Diagnostics;
use crate::facts::{Opcode, OpcodeKind, Opcodes};
use crate::source::Tree;

const IDS: &str = "Include/opcode_ids.h";
const METADATA: &str = "Include/internal/pycore_opcode_metadata.h";
const INSTRUMENTATION: &str = "Python/instrumentation.c";

/// Reads the instruction set of a tree; `number` gives the value of a macro of the headers.
pub(super) fn extract(
    tree: &Tree,
    number: &dyn Fn(&str) -> Option<i64>,
    diagnostics: &mut Diagnostics,
) -> Option<Opcodes> {
    if tree.locate(IDS).is_some() {
        from_metadata(tree, diagnostics)
    } else {
        before_3_13::extract(tree, number, diagnostics)
    }
}

/// 3.13 and later, where the metadata is generated.
fn from_metadata(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Opcodes> {
    let [Some(ids), Some(metadata)] = &mut [IDS, METADATA].map(|path| Source::open(tree, path, diagnostics)) else {
        return None;
    };
    let defined = ids.definitions();
    let mut popped = metadata.returns("_PyOpcode_num_popped", diagnostics);
    let mut pushed = metadata.returns("_PyOpcode_num_pushed", diagnostics);
    let mut flags = metadata.flags(diagnostics);
    let caches = metadata.names("_PyOpcode_Caches", diagnostics);
    let deopt = metadata.names("_PyOpcode_Deopt", diagnostics);
    let mut instrumented = IndexMap::new();
    // The headers of an installation do not say it.
    if let Some(source) = tree.locate(INSTRUMENTATION).and_then(|_| Source::open(tree, INSTRUMENTATION, diagnostics)) {
        instrumented = source.names("DE_INSTRUMENT", diagnostics);
    } else if tree.file("Python/ceval.c").is_some() {
        let message = "the tree has no such file: what instrumented instructions stand for is not known".to_owned();
        diagnostics.push(gap(INSTRUMENTATION, 0, 0, "extract/file-missing", message));
    }
    let limit = |name: &str| defined.get(name).copied();
    let (Some(have_argument), Some(first_instrumented)) = (limit("HAVE_ARGUMENT"), limit("MIN_INSTRUMENTED_OPCODE"))
    else {
        let message = "HAVE_ARGUMENT or MIN_INSTRUMENTED_OPCODE is not defined".to_owned();
        diagnostics.push(problem(IDS, 0, 0, "extract/opcode-limits", message));
        return None;
    };
    let mut opcodes = Vec::new();
    for (name, &number) in defined.iter().filter(|(name, _)| !LIMITS.contains(&name.as_str())) {
        let stands_for = |table: &IndexMap<String, String>| table.get(name).filter(|base| *base != name).cloned();
        let (kind, base) = match number {
            256.. => (OpcodeKind::Pseudo, None),
            _ if number >= first_instrumented => (OpcodeKind::Instrumented, stands_for(&instrumented)),
            _ => match stands_for(&deopt) {
                Some(base) => (OpcodeKind::Specialised, Some(base)),
                None => (OpcodeKind::Real, None),
            },
        };
        let counted = base.as_ref().unwrap_or(name);
        let caches = caches.get(counted).and_then(|text| text.parse().ok()).unwrap_or(0);
        let (popped, pushed) = (popped.swap_remove(name), pushed.swap_remove(name));
        let flags = flags.swap_remove(name);
        if kind == OpcodeKind::Real && (flags.is_none() || popped.is_none() || pushed.is_none()) {
            let message = format!("`{name}` has a number and no complete metadata");
            diagnostics.push(gap(METADATA, 0, 0, "extract/opcode-metadata", message));
        }
        let flags = flags.unwrap_or_default();
        opcodes.push(Opcode { name: name.clone(), number, kind, base, caches, flags, popped, pushed, effect: None });
    }
    // Micro-operations, which begin with an underscore, are no instructions of a code object.
    let unnumbered: BTreeSet<&String> =
        popped.keys().chain(pushed.keys()).filter(|name| !name.starts_with('_')).collect();
    for name in unnumbered {
        let message = format!("a stack effect is given for `{name}`, which has no number");
        diagnostics.push(gap(METADATA, 0, 0, "extract/opcode-unnumbered", message));
    }
    opcodes.sort_by_key(|opcode| opcode.number);
    Some(Opcodes { have_argument, opcodes })
}

/// Definitions of the header that are no opcodes.
const LIMITS: &[&str] =
    &["HAVE_ARGUMENT", "MIN_SPECIALIZED_OPCODE", "MIN_INSTRUMENTED_OPCODE", "MIN_PSEUDO_OPCODE", "MAX_PSEUDO_OPCODE"];

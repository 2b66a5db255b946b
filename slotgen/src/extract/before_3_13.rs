//! The instruction set of releases before 3.13, from `opcode.h`, `pycore_opcode.h`, `compile.c` and `Lib/opcode.py`.

use indexmap::{IndexMap, IndexSet};

use super::opcode_source::{Source, gap, problem};
use super::reviewed;
use crate::diagnostics::Diagnostics;
use crate::facts::{Opcode, OpcodeKind, Opcodes};
use crate::source::Tree;

const NUMBERS: &str = "Include/opcode.h";
const TABLES: &str = "Include/internal/pycore_opcode.h";
const COMPILER: &str = "Python/compile.c";
/// Where 3.12 has what its compiler knew before.
const METADATA: [&str; 2] = ["Python/opcode_metadata.h", "Include/internal/pycore_opcode_metadata.h"];
const KINDS: &str = "Lib/opcode.py";

/// Reads the instruction set of a release before 3.13.
pub(super) fn extract(
    tree: &Tree,
    number: &dyn Fn(&str) -> Option<i64>,
    diagnostics: &mut Diagnostics,
) -> Option<Opcodes> {
    let numbers = Source::open(tree, NUMBERS, diagnostics)?.definitions();
    let kinds = Kinds::read(tree, diagnostics)?;
    let series = tree.release().series();
    let reviewed = match reviewed::table(&series).transpose() {
        Ok(table) => table.unwrap_or_default(),
        Err(error) => {
            diagnostics.push(problem(COMPILER, 0, 0, "extract/opcode-reviewed", error.to_string()));
            return None;
        }
    };
    // An installation has no compile.c; from the first betas of 3.12 on it says nothing.
    let in_compiler = tree.file(COMPILER).is_some() && METADATA.iter().all(|path| tree.file(path).is_none());
    let mut effects = IndexMap::new();
    if in_compiler {
        effects = Source::open(tree, COMPILER, diagnostics)?.returns("stack_effect", diagnostics);
    }
    // Inline caches and specialisation came with 3.11.
    let (mut caches, mut deopt) = (IndexMap::new(), IndexMap::new());
    if tree.file(TABLES).is_some() {
        let tables = Source::open(tree, TABLES, diagnostics)?;
        caches = tables.names("_PyOpcode_Caches", diagnostics);
        deopt = tables.names("_PyOpcode_Deopt", diagnostics);
    }
    let Some(&have_argument) = numbers.get("HAVE_ARGUMENT") else {
        let message = "HAVE_ARGUMENT is not defined".to_owned();
        diagnostics.push(problem(NUMBERS, 0, 0, "extract/opcode-limits", message));
        return None;
    };
    let mut opcodes = Vec::new();
    for (name, &value) in &numbers {
        let base = deopt.get(name).filter(|base| *base != name).cloned();
        let kind = match (kinds.real.get(name), value) {
            (Some(_), _) if name.starts_with("INSTRUMENTED_") => OpcodeKind::Instrumented,
            (Some(&listed), _) if listed == value => OpcodeKind::Real,
            (None, 256..) if !name.ends_with("_PSEUDO_OPCODE") => OpcodeKind::Pseudo,
            (None, _) if base.is_some() => OpcodeKind::Specialised,
            (None, _) if name == "DO_TRACING" => OpcodeKind::Instrumented,
            // `HAVE_ARGUMENT`, `NB_ADD` and the like share the header.
            _ => continue,
        };
        let counted = base.as_ref().unwrap_or(name);
        let counted_here = caches.get(counted).and_then(|text| text.parse().ok());
        let caches = counted_here.or_else(|| kinds.caches.get(counted).copied()).unwrap_or(0);
        let row = reviewed.get(name.as_str()).filter(|_| !in_compiler && kind == OpcodeKind::Real);
        let mut effect = effects.swap_remove(name).map(|effect| effect.resolve(number));
        if let Some(row) = row {
            effect.clone_from(&row.effect);
        }
        if kind == OpcodeKind::Real && effect.is_none() && row.is_none() {
            let message = format!("`stack_effect` says nothing about `{name}`");
            diagnostics.push(gap(COMPILER, 0, 0, "extract/opcode-effect", message));
        }
        let flags = if kind == OpcodeKind::Real { kinds.flags(value, have_argument) } else { Vec::new() };
        let (popped, pushed) = row.map_or((None, None), |row| (row.popped.clone(), row.pushed.clone()));
        opcodes.push(Opcode { name: name.clone(), number: value, kind, base, caches, flags, popped, pushed, effect });
    }
    for name in kinds.real.keys().filter(|name| !numbers.contains_key(*name)) {
        let message = format!("`{name}` is no opcode of Include/opcode.h");
        diagnostics.push(gap(KINDS, 0, 0, "extract/opcode-unnumbered", message));
    }
    opcodes.sort_by_key(|opcode| opcode.number);
    Some(Opcodes { have_argument, opcodes })
}

/// What `Lib/opcode.py` says: which opcodes the compiler emits, and what their argument is.
#[derive(Default)]
struct Kinds {
    real: IndexMap<String, u16>,
    caches: IndexMap<String, u8>,
    lists: IndexMap<&'static str, IndexSet<u16>>,
}

/// Statements of `opcode.py` that define an opcode, and the flag that they give it.
const DEFINE: &[(&str, &str)] = &[("def_op(", ""), ("name_op(", "NAME"), ("jrel_op(", "JUMP"), ("jabs_op(", "JUMP")];

/// Statements of `opcode.py` that only give a flag.
const APPEND: &[(&str, &str)] =
    &[("hasconst.append(", "CONST"), ("hasfree.append(", "FREE"), ("haslocal.append(", "LOCAL")];

impl Kinds {
    fn read(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Some(file) = tree.file(KINDS) else {
            diagnostics.push(problem(KINDS, 0, 0, "extract/file-missing", "the tree has no such file".to_owned()));
            return None;
        };
        let mut kinds = Self::default();
        for (index, line) in file.text().lines().enumerate() {
            if !kinds.line(line) {
                let message = format!("not understood: `{line}`");
                diagnostics.push(gap(KINDS, index as u32 + 1, 1, "extract/opcode-kind", message));
            }
        }
        Some(kinds)
    }

    /// Reads one line; false if it should say something and does not.
    fn line(&mut self, line: &str) -> bool {
        let arguments =
            |start: &str| line.strip_prefix(start).and_then(|rest| rest.split_once(')')).map(|(inner, _)| inner);
        for (start, flag) in DEFINE {
            let Some(inner) = arguments(start) else { continue };
            // A third argument is the number of cache entries.
            let mut words = inner.split(',').map(str::trim);
            let (Some(name), Some(number)) = (words.next(), words.next()) else { return false };
            let Ok(number) = number.parse() else { return false };
            let name = name.trim_matches(['\'', '"']);
            if let Some(caches) = words.next().and_then(|count| count.parse().ok()) {
                self.caches.insert(name.to_owned(), caches);
            }
            self.real.insert(name.to_owned(), number);
            self.lists.entry(flag).or_default().insert(number);
            return true;
        }
        for (start, flag) in APPEND {
            let Some(inner) = arguments(start) else { continue };
            let Ok(number) = inner.trim().parse() else { return false };
            self.lists.entry(flag).or_default().insert(number);
        }
        true
    }

    fn flags(&self, number: u16, have_argument: u16) -> Vec<String> {
        let mut flags = Vec::new();
        if number >= have_argument {
            flags.push("ARG".to_owned());
        }
        for flag in ["CONST", "NAME", "JUMP", "FREE", "LOCAL"] {
            if self.lists.get(flag).is_some_and(|list| list.contains(&number)) {
                flags.push(flag.to_owned());
            }
        }
        flags
    }
}

//! Instructions as text, in the manner of `dis`.
use super::code::Code;
use super::instr::Instr;
use generated::opcodes::{Op, OpFlags};
use pyo3::prelude::*;
use std::fmt::Write;

impl Code {
    /// One line per instruction: line number where it changes, jump mark, index, operation, argument and its meaning.
    #[must_use]
    pub fn listing(&self, py: Python<'_>) -> String {
        let indices = self.indices();
        let targets: std::collections::HashSet<_> = self.instrs.iter().filter_map(|instr| instr.target).collect();
        let mut text = String::new();
        let mut line = -1;
        for (index, instr) in self.instrs.iter().enumerate() {
            let shown = if instr.position.line != line && instr.position.line != -1 {
                instr.position.line.to_string()
            } else {
                String::new()
            };
            line = instr.position.line;
            let mark = if targets.contains(&instr.id) { ">>" } else { "  " };
            let meaning = match instr.target {
                Some(target) => {
                    let way = if self.isa().branches(instr.op) { "to" } else { "from" };
                    format!("{way} {}", indices.get(target).unwrap_or(usize::MAX))
                }
                None => self.meaning(py, instr),
            };
            let _ = write!(text, "{shown:>5} {mark} {index:>5} {:<26}", instr.op.name());
            if self.isa().has(instr.op, OpFlags::ARG) && instr.target.is_none() {
                let _ = write!(text, " {:>4}", instr.arg);
            }
            if !meaning.is_empty() {
                let _ = write!(text, " ({meaning})");
            }
            if let Some(handler) = instr.handler {
                let lasti = if handler.lasti { " lasti" } else { "" };
                let _ = write!(
                    text,
                    "  ! to {} [{}]{lasti}",
                    indices.get(handler.target).unwrap_or(usize::MAX),
                    handler.depth
                );
            }
            let _ = writeln!(text);
        }
        text
    }

    /// What the argument stands for, as `dis` says it: a constant's `repr`, a name, a variable, an operator; empty where it
    /// stands for itself.
    #[must_use]
    pub fn meaning(&self, py: Python<'_>, instr: &Instr) -> String {
        let isa = self.isa();
        let slot = |slot: u32| self.locals.get(slot as usize).map_or("?", |local| local.name.as_str());
        if isa.has(instr.op, OpFlags::CONST) {
            let constant = self.consts.get(instr.arg as usize);
            return constant
                .and_then(|constant| constant.bind(py).repr().ok())
                .map_or_else(|| "?".to_owned(), |text| text.to_string());
        }
        if isa.has(instr.op, OpFlags::NAME) {
            let name = self.names.get((instr.arg >> isa.name_shift(instr.op)) as usize);
            return with_extra(instr, isa.minor(), name.map_or("?", String::as_str));
        }
        if super::edit::fused(instr.op).is_some() {
            return format!("{}, {}", slot(instr.arg >> 4), slot(instr.arg & 15));
        }
        if isa.has(instr.op, OpFlags::LOCAL) || isa.has(instr.op, OpFlags::FREE) {
            return slot(instr.arg).to_owned();
        }
        enumerated(py, instr, isa.minor()).unwrap_or_default()
    }
}

/// A name, and what else the instruction pushes (or how it imports), in the release's order.
fn with_extra(instr: &Instr, minor: u8, name: &str) -> String {
    let extra = match (instr.op, instr.arg & 3) {
        (Op::LOAD_GLOBAL, 1 | 3) => "NULL",
        (Op::LOAD_ATTR, 1 | 3) if minor >= 12 => "NULL|self",
        (Op::LOAD_SUPER_ATTR, 1 | 3) => "NULL|self",
        (Op::IMPORT_NAME, 1 | 3) if minor >= 15 => "lazy",
        (Op::IMPORT_NAME, 2) if minor >= 15 => "eager",
        _ => return name.to_owned(),
    };
    // A relative import may have no name: `dis` then says nothing more.
    if name.is_empty() {
        return String::new();
    }
    if minor >= 13 { format!("{name} + {extra}") } else { format!("{extra} + {name}") }
}

/// Arguments that count through something: the interpreter's own module `opcode` has the words.
fn enumerated(py: Python<'_>, instr: &Instr, minor: u8) -> Option<String> {
    let arg = instr.arg as usize;
    let word = |table: &str| py.import("opcode").ok()?.getattr(table).ok()?.get_item(arg).ok();
    let conversion = |arg: usize| ["", "str", "repr", "ascii"].get(arg).map(|word| (*word).to_owned());
    match instr.op {
        Op::BINARY_OP => word("_nb_ops")?.get_item(1).ok()?.extract().ok(),
        Op::CALL_INTRINSIC_1 => word("_intrinsic_1_descs")?.extract().ok(),
        Op::CALL_INTRINSIC_2 => word("_intrinsic_2_descs")?.extract().ok(),
        Op::LOAD_SPECIAL => word("_special_method_names")?.extract().ok(),
        Op::LOAD_COMMON_CONSTANT => {
            let constant = word("_common_constants")?;
            let name = constant.cast::<pyo3::types::PyType>().ok().and_then(|ty| ty.name().ok());
            name.or_else(|| constant.repr().ok()).map(|text| text.to_string())
        }
        Op::COMPARE_OP => compared(py, arg, minor),
        Op::CONVERT_VALUE => conversion(arg),
        Op::FORMAT_VALUE => {
            let parts = [conversion(arg & 3)?, if arg & 4 == 4 { "with format".to_owned() } else { String::new() }];
            Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "))
        }
        Op::MAKE_FUNCTION if minor < 13 => Some(attributes(arg)),
        Op::SET_FUNCTION_ATTRIBUTE => Some(attributes(arg)),
        Op::IS_OP if minor >= 14 => Some(if arg == 0 { "is" } else { "is not" }.to_owned()),
        Op::CONTAINS_OP if minor >= 14 => Some(if arg == 0 { "in" } else { "not in" }.to_owned()),
        _ => None,
    }
}

fn compared(py: Python<'_>, arg: usize, minor: u8) -> Option<String> {
    let shift = [0, 4, 5][usize::from(minor.clamp(11, 13) - 11)];
    let word = py.import("opcode").ok()?.getattr("cmp_op").ok()?.get_item(arg >> shift).ok()?;
    let word: String = word.extract().ok()?;
    Some(if minor >= 13 && arg & 16 != 0 { format!("bool({word})") } else { word })
}

/// The names of a function's parts whose bits are set.
fn attributes(arg: usize) -> String {
    let words = ["defaults", "kwdefaults", "annotations", "closure", "annotate"];
    let set = words.iter().enumerate().filter(|(bit, _)| arg >> bit & 1 == 1);
    set.map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

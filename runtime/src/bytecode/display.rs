//! Instructions as text, in the manner of `dis`.
use super::code::Code;
use super::instr::Instr;
use super::object::name_shift;
use generated::opcodes::OpFlags;
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
                Some(target) => format!("to {}", indices.get(&target).copied().unwrap_or(usize::MAX)),
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
                    indices.get(&handler.target).copied().unwrap_or(usize::MAX),
                    handler.depth
                );
            }
            let _ = writeln!(text);
        }
        text
    }

    /// What the argument stands for: a constant's `repr`, a name, a variable; empty where it stands for itself.
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
            return self.names.get((instr.arg >> name_shift(instr.op)) as usize).cloned().unwrap_or_default();
        }
        if super::edit::fused(instr.op).is_some() {
            return format!("{}, {}", slot(instr.arg >> 4), slot(instr.arg & 15));
        }
        if isa.has(instr.op, OpFlags::LOCAL) || isa.has(instr.op, OpFlags::FREE) {
            return slot(instr.arg).to_owned();
        }
        String::new()
    }
}

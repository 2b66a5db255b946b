//! A decoded code object.
use super::instr::{Instr, Label};
use super::isa::Isa;
use generated::opcodes::Op;
use pyo3::prelude::*;
use std::sync::Arc;

bitflags::bitflags! {
    /// What an entry of localsplus is (CPython's `CO_FAST_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LocalKind: u8 {
        /// Not shown by `locals()`: the variables of an inlined comprehension (from 3.12 on), and slots of our own.
        const HIDDEN = 0x10;
        /// A local variable or argument.
        const LOCAL = 0x20;
        /// Holds a cell that this function makes.
        const CELL = 0x40;
        /// Holds a cell of the closure.
        const FREE = 0x80;
    }
}

/// One entry of localsplus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Variable name.
    pub name: String,
    /// What it is.
    pub kind: LocalKind,
}

/// A code object as data. Editing keeps labels; [`Code::assemble`] makes a code object again.
#[derive(Debug)]
pub struct Code {
    /// Instructions in order.
    pub instrs: Vec<Instr>,
    /// `co_consts`; instructions refer to them by index.
    pub consts: Vec<Py<PyAny>>,
    /// `co_names`.
    pub names: Vec<String>,
    /// Locals, then cells that are no locals, then free variables.
    pub locals: Vec<Local>,
    /// `co_argcount`.
    pub argcount: u32,
    /// `co_posonlyargcount`.
    pub posonlyargcount: u32,
    /// `co_kwonlyargcount`.
    pub kwonlyargcount: u32,
    /// `co_flags`.
    pub flags: u32,
    /// Declared `co_stacksize`; assembling never goes below it.
    pub stacksize: u32,
    /// `co_firstlineno`.
    pub firstlineno: i32,
    /// `co_filename`.
    pub file: Arc<str>,
    /// `co_name`.
    pub name: String,
    /// `co_qualname`.
    pub qualname: String,
    /// The code object decoded from: `replace` is called on it, so what is not edited stays.
    pub original: Py<PyAny>,
    pub(crate) next_label: u32,
}

/// Index of the instruction with each label.
#[derive(Clone, Debug)]
pub struct Indices(Vec<u32>);

impl Indices {
    /// The index; `None` where no instruction has the label.
    #[must_use]
    pub fn get(&self, label: Label) -> Option<usize> {
        self.0.get(label.0 as usize).filter(|index| **index != u32::MAX).map(|index| *index as usize)
    }
}

impl Code {
    /// The instruction set this code is in.
    #[must_use]
    pub fn isa(&self) -> Isa {
        Isa::running()
    }

    /// Index of the instruction with this label; linear, use [`Code::indices`] for many.
    #[must_use]
    pub fn index(&self, label: Label) -> Option<usize> {
        let guess = label.0 as usize;
        if self.instrs.get(guess).is_some_and(|instr| instr.id == label) {
            return Some(guess);
        }
        self.instrs.iter().position(|instr| instr.id == label)
    }

    /// The `RESUME` at which the body begins: that of a generator stands behind `RETURN_GENERATOR`. From 3.15 on the code of a generator
    /// expression asks its iterable for an iterator before that, in a frame of its own.
    #[must_use]
    pub fn start(&self) -> Option<usize> {
        let made = self.instrs.iter().position(|instr| instr.op == Op::RETURN_GENERATOR).unwrap_or(0);
        (made..self.instrs.len()).find(|index| self.instrs[*index].op == Op::RESUME)
    }

    /// Whether it asks its first argument for an iterator before it makes its generator.
    #[must_use]
    pub fn iterates_first(&self) -> bool {
        let made = self.instrs.iter().position(|instr| instr.op == Op::RETURN_GENERATOR).unwrap_or(0);
        self.instrs[..made].iter().any(|instr| instr.op == Op::GET_ITER)
    }

    /// Index of every label.
    #[must_use]
    pub fn indices(&self) -> Indices {
        let mut indices = vec![u32::MAX; self.next_label as usize];
        for (index, instr) in self.instrs.iter().enumerate() {
            if let Some(entry) = indices.get_mut(instr.id.0 as usize) {
                *entry = index as u32;
            }
        }
        Indices(indices)
    }

    /// Index of the instruction whose operation stands at this byte offset of the original.
    #[must_use]
    pub fn index_at(&self, offset: u32) -> Option<usize> {
        self.instrs.iter().position(|instr| instr.offset == Some(offset))
    }

    /// Number of plain locals (arguments included): `co_nlocals`.
    #[must_use]
    pub fn nlocals(&self) -> usize {
        self.locals.iter().filter(|local| local.kind.contains(LocalKind::LOCAL)).count()
    }

    /// Slot of the first free variable: they are the last.
    #[must_use]
    pub fn first_free(&self) -> usize {
        self.locals.len() - self.locals.iter().filter(|local| local.kind.contains(LocalKind::FREE)).count()
    }

    /// Line of the instruction at `index`; -1 where it has none.
    #[must_use]
    pub fn line(&self, index: usize) -> i32 {
        self.instrs.get(index).map_or(-1, |instr| instr.position.line)
    }

    /// A copy that shares constants.
    #[must_use]
    pub fn duplicate(&self, py: Python<'_>) -> Self {
        self.with(py, self.instrs.clone())
    }

    /// The same with other instructions, whose labels are its own.
    pub(crate) fn with(&self, py: Python<'_>, instrs: Vec<Instr>) -> Self {
        Self {
            instrs,
            consts: self.consts.iter().map(|constant| constant.clone_ref(py)).collect(),
            names: self.names.clone(),
            locals: self.locals.clone(),
            argcount: self.argcount,
            posonlyargcount: self.posonlyargcount,
            kwonlyargcount: self.kwonlyargcount,
            flags: self.flags,
            stacksize: self.stacksize,
            firstlineno: self.firstlineno,
            file: Arc::clone(&self.file),
            name: self.name.clone(),
            qualname: self.qualname.clone(),
            original: self.original.clone_ref(py),
            next_label: self.next_label,
        }
    }
}

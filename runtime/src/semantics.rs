//! The generated object model of the interpreter's release.
//!
//! Where there is no Rust of a release, the next one's bodies and tables stand in for it (3.13's for 3.12), but for those that are known
//! to do otherwise: data, in `stand_in/3.X.txt`. `build.rs` finds out which, and reads them.
include!(concat!(env!("OUT_DIR"), "/bodies.rs"));

use crate::ffi::{snapshot, types as live};
use generated::capi::FunctionId;
use generated::members::Field;
use generated::slots::Slot;
use generated::tables::Held;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Where the running release has a member of a struct. If no sources say it, what lies at one place both before and after it lies there in between.
#[must_use]
pub fn struct_member(name: &str) -> Option<&'static Field> {
    let (first, others) = FIELDS.split_first()?;
    let found = generated::members::field(**first, name)?;
    others.iter().all(|fields| generated::members::field(**fields, name) == Some(found)).then_some(found)
}

/// The name by which the tables know a module of C functions.
#[must_use]
pub fn module_in_tables(name: &str) -> &str {
    MODULES.iter().find(|row| row.0 == name).map_or(name, |row| row.1)
}

/// What a slot of a C type holds.
#[derive(Debug, Clone, Copy)]
pub struct Filled {
    /// The slot.
    pub slot: Slot,
    /// The function's address.
    pub pointer: usize,
    /// Its C name.
    pub function: &'static str,
    /// The C file that defines it.
    pub file: &'static str,
}

/// The functions in the slots of a C type, named by its row in the table. Where the row says that a slot is inherited and it does not hold
/// what the base has, the running release has a function of its own there: nothing names it.
pub fn filled<'py>(class: &Bound<'py, PyType>) -> impl Iterator<Item = Filled> + use<'py> {
    let name = live::c_name(class);
    let row = types::TYPES.iter().find(|row| row.tp_name == name && !row.heap);
    let functions = row.into_iter().flat_map(|row| types::TYPES.functions(row).map(move |found| (row, found)));
    let (class, base) = (class.clone(), live::base(class));
    functions.filter_map(move |(row, (slot, function, file))| {
        let pointer = live::slot(&class, slot)?;
        let is_other = matches!(row.slot(slot), Some(Held::Inherited(_)))
            && base.as_ref().is_some_and(|base| live::slot(base, slot) != Some(pointer));
        (!is_other).then_some(Filled { slot, pointer, function, file })
    })
}

/// A part of another release's bodies that does not stand in for this release's.
#[derive(Debug)]
pub struct Row {
    /// What a call comes to.
    pub what: What,
    /// Counts only where this function began before, in the same instruction.
    pub within: Option<FunctionId>,
    /// Does not count where the function goes on with this one at once.
    pub but: Option<FunctionId>,
    /// What this release does otherwise.
    pub why: &'static str,
}

/// What a call comes to where another release's body is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// A function.
    Function(FunctionId),
    /// A function, where the call raises or warns.
    Error(FunctionId),
    /// A special method that a class has, and the body asks for.
    Identifier(&'static str),
    #[allow(dead_code, reason = "a release with bodies of its own has no such row")]
    /// A special method that the body asks for, where the class has `None` under its name.
    NoMethod(&'static str),
    #[allow(dead_code, reason = "a release with bodies of its own has no such row")]
    /// A test of an object, such as `PyDict_Check`, which instances of this builtin class do not pass in another release's bodies.
    Test(&'static str, &'static str),
}

/// A message in another release's bodies that this release words otherwise.
#[derive(Debug)]
pub struct Message {
    /// As it stands in C.
    pub format: &'static str,
    /// How this release words it, where that takes the same arguments, or the first of them.
    pub own: Option<&'static str>,
    /// What this release does otherwise.
    pub why: &'static str,
}

impl Message {
    /// The row of a message.
    #[must_use]
    pub fn of(format: &str) -> Option<&'static Self> {
        MESSAGES.iter().find(|message| message.format == format)
    }

    /// This release's words for a message that a body is about to make.
    ///
    /// # Errors
    /// The row, where they are not known.
    pub fn own_words(format: &str) -> Result<&str, &'static Self> {
        Self::of(format).map_or(Ok(format), |message| message.own.ok_or(message))
    }
}

/// Sets of rows are bits.
const _: () = assert!(ROWS.len() <= 64, "a set of rows is a u64");

/// The rows that a call came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoodIn {
    rows: u64,
    /// Whose `within` began.
    within: u64,
    /// Whose function began last, and has a `but`.
    begun: Option<usize>,
    /// Whose identifier was asked for last.
    asked: Option<usize>,
}

impl StoodIn {
    /// A translated function begins.
    pub fn enter(&mut self, function: FunctionId) {
        if let Some(index) = self.begun.take().filter(|index| ROWS[*index].but != Some(function)) {
            self.rows |= 1 << index;
        }
        for (index, row) in ROWS.iter().enumerate() {
            if row.within == Some(function) {
                self.within |= 1 << index;
            }
            if ![What::Function(function), What::Error(function)].contains(&row.what) || !self.counts(index) {
                continue;
            }
            match row.but {
                Some(_) => self.begun = Some(index),
                None => self.rows |= 1 << index,
            }
        }
    }

    /// A body names an identifier.
    pub fn ask(&mut self, identifier: &'static str) {
        let asked = [What::Identifier(identifier), What::NoMethod(identifier)];
        let named = |(index, row): &(usize, &Row)| asked.contains(&row.what) && self.counts(*index);
        if let Some((index, _)) = ROWS.iter().enumerate().find(named) {
            self.asked = Some(index);
        }
    }

    /// A class has what was looked for.
    pub fn find(&mut self, name: &str, found: &Bound<'_, PyAny>) {
        let same = |index: &usize| match ROWS[*index].what {
            What::Identifier(asked) => asked == name,
            What::NoMethod(asked) => asked == name && found.is_none(),
            _ => false,
        };
        if let Some(index) = self.asked.filter(same) {
            self.rows |= 1 << index;
        }
    }

    /// A body makes a test of an object of that class.
    pub fn test(&mut self, name: &str, class: &Bound<'_, PyType>) {
        for (index, row) in ROWS.iter().enumerate() {
            if let What::Test(tested, of) = row.what
                && tested == name
                && is_subtype_of_builtin(class, of)
            {
                self.rows |= 1 << index;
            }
        }
    }

    fn counts(self, index: usize) -> bool {
        ROWS[index].within.is_none() || self.within & 1 << index != 0
    }

    /// The row that makes the outcome of the call another release's; `raised`: or a warning.
    #[must_use]
    pub fn difference(self, raised: bool) -> Option<&'static Row> {
        let rows = self.begun.map_or(self.rows, |index| self.rows | 1 << index);
        let differs = |row: &Row| raised || !matches!(row.what, What::Error(_));
        ROWS.iter().enumerate().find(|(index, row)| rows & 1 << index != 0 && differs(row)).map(|(_, row)| row)
    }
}

fn is_subtype_of_builtin(class: &Bound<'_, PyType>, name: &str) -> bool {
    let of = snapshot::original(class.py(), "builtins", name).ok().and_then(|of| of.cast_into::<PyType>().ok());
    of.is_some_and(|of| crate::ffi::types::is_subtype(class, &of))
}

impl Row {
    /// The name of what a call comes to.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.what {
            What::Function(function) | What::Error(function) => function.name(),
            What::Identifier(name) | What::NoMethod(name) | What::Test(name, _) => name,
        }
    }
}

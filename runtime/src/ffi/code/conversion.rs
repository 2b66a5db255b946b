//! Between Python's code objects and [`Code`]: decoding and assembling.
#[cfg(slotrt_hooks)]
use crate::bytecode::flag;
use crate::bytecode::{Assembled, Bytes, Code, Error, Instr, Isa, Local, LocalKind, Problem, decode, fused};
use generated::opcodes::OpFlags;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyDict, PyInt, PyString, PyTuple};
use std::fmt::Write;

/// What no variable of a program is: both local and free.
#[cfg(slotrt_hooks)]
const LOOKS_FREE: LocalKind = LocalKind::LOCAL.union(LocalKind::FREE);

/// Which variables stand in which list.
#[cfg(not(slotrt_hooks))]
const LISTS: [(LocalKind, &str); 3] =
    [(LocalKind::LOCAL, "co_varnames"), (LocalKind::CELL, "co_cellvars"), (LocalKind::FREE, "co_freevars")];

/// In words, as far as there is memory for them.
fn object_error(error: PyErr) -> Error {
    let mut words = String::new();
    if write!(words, "{error}").is_err() {
        words.push_str("an exception that cannot be described");
    }
    Error::new(0, Problem::Object(words))
}

/// A string, also one that UTF-8 cannot say. Nothing runs here that a program could notice.
fn string(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.cast::<PyString>()?.to_string_lossy().into_owned())
}

fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.cast::<PyString>()?.to_str()?.to_owned())
}

fn texts(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    names.cast::<PyTuple>()?.iter_borrowed().map(|name| text(&name)).collect()
}

impl Code {
    /// Decodes a code object whose control flow fits together within the stack that it declares.
    pub fn decode(code: &Bound<'_, PyAny>) -> Result<Self, Error> {
        let decoded = Self::read(code)?;
        decoded.check_stack()?;
        Ok(decoded)
    }

    /// Decodes a code object; its control flow need not fit together.
    pub fn read(code: &Bound<'_, PyAny>) -> Result<Self, Error> {
        if !code.is_instance_of::<PyCode>() {
            let name = code.get_type().name().map_err(object_error)?;
            return Err(Error::new(0, Problem::Object(format!("expected a code object, not {name}"))));
        }
        let decoded = Self::of_fields(code)?;
        decoded.check_arguments()?;
        Ok(decoded)
    }

    fn of_fields(code: &Bound<'_, PyAny>) -> Result<Self, Error> {
        let [consts, names, file, name, qualname, lines, handlers] = objects(code).map_err(object_error)?;
        let [argcount, posonlyargcount, kwonlyargcount, flags, stacksize, firstlineno] =
            numbers(code).map_err(object_error)?;
        let bytes = || {
            let code = code.getattr(intern!(code.py(), "co_code"))?.cast_into::<PyBytes>()?;
            Ok((code, lines.cast::<PyBytes>()?, handlers.cast::<PyBytes>()?))
        };
        let (instructions, lines, handlers) = bytes().map_err(object_error)?;
        let raw = Bytes {
            code: instructions.as_bytes(),
            line_table: lines.as_bytes(),
            exception_table: handlers.as_bytes(),
            first_line: firstlineno,
        };
        let instrs = decode(raw, Isa::running())?;
        let locals = locals(code)?;
        let of_objects = || {
            Ok(Self {
                next_label: instrs.len() as u32,
                instrs,
                consts: consts.cast::<PyTuple>()?.iter().map(Bound::unbind).collect(),
                names: texts(&names)?,
                locals,
                argcount: argcount.cast_unsigned(),
                posonlyargcount: posonlyargcount.cast_unsigned(),
                kwonlyargcount: kwonlyargcount.cast_unsigned(),
                flags: flags.cast_unsigned(),
                stacksize: stacksize.cast_unsigned(),
                firstlineno,
                file: string(&file)?.into(),
                name: text(&name)?,
                qualname: text(&qualname)?,
                original: code.clone().unbind(),
            })
        };
        of_objects().map_err(object_error)
    }

    /// A code object of the instructions as they are now.
    pub fn assemble<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Error> {
        self.check_arguments()?;
        let bytes = self.assemble_bytes()?;
        self.build(py, &bytes).map_err(object_error)
    }

    fn build<'py>(&self, py: Python<'py>, bytes: &Assembled) -> PyResult<Bound<'py, PyAny>> {
        let kw = PyDict::new(py);
        let of_kind = |kind: LocalKind| {
            let named = self.locals.iter().filter(|local| local.kind.contains(kind));
            PyTuple::new(py, named.map(|local| local.name.as_str()).collect::<Vec<_>>())
        };
        let consts = super::constants::tuple(py, &self.consts)?;
        let names = self.names(py)?;
        let number = |number: u32| PyInt::new(py, number).into_any();
        let changes = [
            (intern!(py, "co_code"), PyBytes::new(py, &bytes.code).into_any()),
            (intern!(py, "co_linetable"), PyBytes::new(py, &bytes.line_table).into_any()),
            (intern!(py, "co_exceptiontable"), PyBytes::new(py, &bytes.exception_table).into_any()),
            (intern!(py, "co_stacksize"), number(bytes.stacksize)),
            (intern!(py, "co_consts"), consts.into_any()),
            (intern!(py, "co_names"), names.into_any()),
            (intern!(py, "co_varnames"), of_kind(LocalKind::LOCAL)?.into_any()),
            (intern!(py, "co_cellvars"), of_kind(LocalKind::CELL)?.into_any()),
            (intern!(py, "co_freevars"), of_kind(LocalKind::FREE)?.into_any()),
            (intern!(py, "co_nlocals"), PyInt::new(py, self.nlocals()).into_any()),
            (intern!(py, "co_argcount"), number(self.argcount)),
            (intern!(py, "co_posonlyargcount"), number(self.posonlyargcount)),
            (intern!(py, "co_kwonlyargcount"), number(self.kwonlyargcount)),
            (intern!(py, "co_flags"), number(self.flags)),
            (intern!(py, "co_firstlineno"), PyInt::new(py, self.firstlineno).into_any()),
            (intern!(py, "co_name"), PyString::new(py, &self.name).into_any()),
            (intern!(py, "co_qualname"), PyString::new(py, &self.qualname).into_any()),
        ];
        for (field, value) in changes {
            kw.set_item(field, value)?;
        }
        let made = self.original.bind(py).call_method(intern!(py, "replace"), (), Some(&kw))?;
        self.hide(&made)?;
        Ok(made)
    }

    /// `co_names`: editing adds to what the original has.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let original = self.original.bind(py).getattr(intern!(py, "co_names"))?.cast_into::<PyTuple>()?;
        if original.len() == self.names.len() {
            return Ok(original);
        }
        let added = self.names.iter().skip(original.len()).map(|name| PyString::intern(py, name).into_any());
        PyTuple::new(py, original.iter().chain(added).collect::<Vec<_>>())
    }

    /// Says which slots are hidden: `code.replace()` hides those at the places where the original's are. Before 3.12 none can be;
    /// but there the variables of a module's or class's body, which lie in a namespace, are never brought up to date with what is
    /// marked as free.
    #[cfg(slotrt_hooks)]
    fn hide(&self, made: &Bound<'_, PyAny>) -> PyResult<()> {
        let hides = self.isa().minor() >= 12;
        let hidden = |local: &Local| local.kind.contains(LocalKind::HIDDEN);
        if !self.locals.iter().any(hidden) || !hides && self.flags & flag::OPTIMIZED != 0 {
            return Ok(());
        }
        let kind = |local: &Local| if hides || !hidden(local) { local.kind } else { LOOKS_FREE };
        let kinds: Vec<u8> = self.locals.iter().map(|local| kind(local).bits()).collect();
        super::fields::set_kinds(made, &kinds)
    }

    #[cfg(not(slotrt_hooks))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other release's signature")]
    fn hide(&self, _made: &Bound<'_, PyAny>) -> PyResult<()> {
        Ok(())
    }

    /// Every argument that indexes a table must be inside it: the interpreter does not check.
    fn check_arguments(&self) -> Result<(), Error> {
        for (index, instr) in self.instrs.iter().enumerate() {
            let Some((largest, count, what)) = self.indexed(instr) else { continue };
            if largest as usize >= count {
                let problem = Problem::BadArgument { op: instr.op, arg: instr.arg, count, what };
                return Err(Error::new(self.offset_of(index), problem));
            }
        }
        Ok(())
    }

    fn indexed(&self, instr: &Instr) -> Option<(u32, usize, &'static str)> {
        let isa = self.isa();
        if isa.has(instr.op, OpFlags::CONST) {
            return Some((instr.arg, self.consts.len(), "constants"));
        }
        if isa.has(instr.op, OpFlags::NAME) {
            return Some((instr.arg >> isa.name_shift(instr.op), self.names.len(), "names"));
        }
        if isa.has(instr.op, OpFlags::LOCAL) || isa.has(instr.op, OpFlags::FREE) {
            let slots = fused(instr.op).map_or(instr.arg, |_| (instr.arg >> 4).max(instr.arg & 15));
            return Some((slots, self.locals.len(), "local, cell and free variables"));
        }
        None
    }
}

#[cfg(slotrt_hooks)]
use super::fields::{numbers, objects};

/// Counts of parameters, flags, the size of the stack, the first line.
#[cfg(not(slotrt_hooks))]
fn numbers(code: &Bound<'_, PyAny>) -> PyResult<[i32; 6]> {
    const NUMBERS: [&str; 6] =
        ["co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_stacksize", "co_firstlineno"];
    let mut numbers = [0; 6];
    for (number, name) in numbers.iter_mut().zip(NUMBERS) {
        *number = code.getattr(name)?.extract()?;
    }
    Ok(numbers)
}

/// Constants, names, the names of file, code and where it stands, tables of lines and handlers.
#[cfg(not(slotrt_hooks))]
fn objects<'py>(code: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 7]> {
    let get = |name: &str| code.getattr(name);
    Ok([
        get("co_consts")?,
        get("co_names")?,
        get("co_filename")?,
        get("co_name")?,
        get("co_qualname")?,
        get("co_linetable")?,
        get("co_exceptiontable")?,
    ])
}

/// The entries of localsplus.
#[cfg(slotrt_hooks)]
fn locals(code: &Bound<'_, PyAny>) -> Result<Vec<Local>, Error> {
    let names = super::fields::names(code).and_then(|names| texts(&names)).map_err(object_error)?;
    let kinds = super::fields::kinds(code).map_err(object_error)?;
    if names.len() != kinds.len() {
        return Err(Error::new(0, Problem::Object("the kinds of its variables do not fit their names".into())));
    }
    let local = |(name, bits)| {
        let kind = LocalKind::from_bits_truncate(bits);
        Local { name, kind: if kind == LOOKS_FREE { LocalKind::LOCAL | LocalKind::HIDDEN } else { kind } }
    };
    Ok(names.into_iter().zip(kinds).map(local).collect())
}

/// The entries of localsplus: a cell with the name of a local is that local.
#[cfg(not(slotrt_hooks))]
fn locals(code: &Bound<'_, PyAny>) -> Result<Vec<Local>, Error> {
    let mut locals: Vec<Local> = Vec::new();
    for (kind, list) in LISTS {
        for name in code.getattr(list).and_then(|names| texts(&names)).map_err(object_error)? {
            match locals.iter_mut().find(|local| kind == LocalKind::CELL && local.name == name) {
                Some(local) => local.kind |= kind,
                None => locals.push(Local { name, kind }),
            }
        }
    }
    Ok(locals)
}

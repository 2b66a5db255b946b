//! Allocates objects that are materialised, empty where they are filled later.
use super::failure::{Failure, fault};
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::ffi::snapshot::original;
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Writer<'_, 'py> {
    /// Makes the object and gives it its home.
    pub(super) fn allocate(&mut self, id: ValueId, made: &New) -> Result<(), Failure> {
        let py = self.py;
        match made {
            New::Tuple(items) => {
                items.iter().try_for_each(|item| self.load(*item))?;
                self.build_tuple(items.len() as u32);
            }
            New::Slice(slice) => {
                slice.iter().try_for_each(|part| self.load(*part))?;
                self.plain(Op::BUILD_SLICE, 3);
            }
            New::List(_) => self.plain(Op::BUILD_LIST, 0),
            New::Dict(_) | New::HashedDict(_) => self.plain(Op::BUILD_MAP, 0),
            New::Set(_) => self.plain(Op::BUILD_SET, 0),
            New::Cell(_) => {
                self.callee(original(py, "types", "CellType")?);
                self.call(0);
            }
            New::Function { code, globals, closure, .. } => self.function(code, globals, closure)?,
            New::Method { function, receiver } => {
                self.callee(original(py, "types", "MethodType")?);
                self.load(*function)?;
                self.load(*receiver)?;
                self.call(2);
            }
            New::Instance { class, args, .. } => {
                self.callee(self.base_of(*class)?.getattr(name!("__new__"))?);
                self.load(*class)?;
                args.iter().try_for_each(|arg| self.load(*arg))?;
                self.call(1 + args.len() as u32);
            }
            New::Exception { class, args, .. } => self.exception(*class, *args)?,
            New::Call { callable, args, .. } => {
                self.begin_callee();
                self.load(*callable)?;
                args.iter().try_for_each(|arg| self.load(*arg))?;
                self.call(args.len() as u32);
            }
            New::Computed(number) => self.compute(number)?,
            New::Opaque(what) => return Err(Failure::Refused(format!("{what} cannot be rebuilt"))),
            New::SequenceIterator { sequence, next, reversed } => {
                self.callee(original(py, "builtins", if *reversed { "reversed" } else { "iter" })?);
                self.load(*sequence)?;
                self.call(1);
                if *reversed || *next > 0 {
                    self.iterators.push((id, *next));
                }
            }
            New::Owned(object) => self.constant(object.bind(py).clone()),
        }
        self.store_home(id);
        Ok(())
    }

    /// A tuple of so many items from the stack. The empty one is a constant, as for CPython's compiler: the instruction makes objects that end.
    pub(super) fn build_tuple(&mut self, count: u32) {
        match count {
            0 => self.constant(PyTuple::empty(self.py).into_any()),
            _ => self.plain(Op::BUILD_TUPLE, count),
        }
    }

    /// `base.__new__(class, *args)` and `base.__init__(it, *args)` for the nearest base written in C: what the user's own
    /// methods did is in the attributes.
    fn exception(&mut self, class: ValueId, args: ValueId) -> Result<(), Failure> {
        let Value::Real { object, .. } = self.value(class)? else {
            return Err(Failure::Refused("an exception of a class made during the trace".into()));
        };
        let base = c_base(object.bind(self.py))?;
        self.callee(base.getattr(name!("__new__"))?);
        self.load(class)?;
        let count = self.unpack(args)?;
        self.call(count + 1);
        self.plain(Op::COPY, 1);
        let temporary = self.temporary();
        self.op(Op::STORE_FAST, Arg::Temporary(temporary));
        self.callee(base.getattr(name!("__init__"))?);
        self.op(Op::LOAD_FAST, Arg::Temporary(temporary));
        let count = self.unpack(args)?;
        self.call(count + 1);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    fn unpack(&mut self, args: ValueId) -> Result<u32, Failure> {
        let items = match self.value(args)? {
            Value::New(New::Tuple(items)) => items.clone(),
            Value::Real { object, .. } => {
                let items = object.bind(self.py).cast::<PyTuple>().map_err(PyErr::from)?;
                items.iter().for_each(|item| self.constant(item));
                return Ok(items.len() as u32);
            }
            _ => return Err(Failure::Refused("an exception's arguments are not known one by one".into())),
        };
        items.iter().try_for_each(|item| self.load(*item))?;
        Ok(items.len() as u32)
    }

    /// `iterator.__setstate__(next)`: when the sequences are as the trace leaves them, for it goes no further than to their end.
    pub(super) fn advance_iterators(&mut self) -> Result<(), Failure> {
        for (iterator, next) in std::mem::take(&mut self.iterators) {
            self.begin_callee();
            self.load(iterator)?;
            self.op(Op::LOAD_ATTR, Arg::Name("__setstate__".into()));
            self.constant(next.into_pyobject(self.py).map_err(PyErr::from)?.into_any());
            self.call(1);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    fn function(&mut self, code: &Py<PyAny>, globals: &Py<PyAny>, closure: &[ValueId]) -> Result<(), Failure> {
        let py = self.py;
        self.callee(original(py, "types", "FunctionType")?);
        self.constant(code.bind(py).clone());
        self.constant(globals.bind(py).clone());
        if closure.is_empty() {
            self.call(2);
            return Ok(());
        }
        self.constant(code.bind(py).getattr(name!("co_name"))?);
        self.constant(py.None().into_bound(py));
        closure.iter().try_for_each(|cell| self.load(*cell))?;
        self.build_tuple(closure.len() as u32);
        self.call(5);
        Ok(())
    }

    /// The nearest class written in C that instances of a class of the user are laid out by.
    pub(super) fn base_of(&self, class: ValueId) -> Result<Bound<'py, PyAny>, Failure> {
        match self.value(class)? {
            Value::Real { object, .. } => c_base(object.bind(self.py)),
            _ => Ok(original(self.py, "builtins", "object")?),
        }
    }
}

/// The nearest class in the resolution order that is written in C.
fn c_base<'py>(class: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
    let class = class.cast::<PyType>().map_err(PyErr::from)?;
    let mro = class.mro();
    let found = mro.iter().find(|base| base.cast::<PyType>().is_ok_and(types::is_c_type));
    found.ok_or_else(|| fault("a class without a base written in C".into()))
}

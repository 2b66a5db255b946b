//! Rebuilding objects made during the trace: mutable ones empty first, then filled, so that cycles close.
use super::Failure;
use super::need::{Needed, children};
use super::writer::{Arg, Writer, fault};
use crate::bytecode::Op;
use crate::ffi::snapshot::original;
use crate::ffi::{traceback, types};
use crate::names::name;
use crate::trace::value::{Held, Inlined, New, Passed, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rustc_hash::FxHashSet;

/// Why some objects that hold each other are left alone.
const CYCLE: &str = "an object whose construction looks into what holds it cannot be made again";

/// A step of building.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Gives a value its home, with all that it must be made of; if `true`, unless a cycle forbids it as yet.
    Allocate(ValueId, bool),
    /// The same once its parts exist.
    Make(ValueId, bool),
    /// Allocates and fills, and all that it holds, as far as no cycle forbids it.
    Complete(ValueId),
    /// Fills when everything that it holds exists.
    FillIfPossible(ValueId),
    /// Fills.
    Fill(ValueId),
}

impl Task {
    fn value(self) -> ValueId {
        match self {
            Self::Allocate(id, _)
            | Self::Make(id, _)
            | Self::Complete(id)
            | Self::FillIfPossible(id)
            | Self::Fill(id) => id,
        }
    }
}

/// How far building is.
#[derive(Debug, Default)]
struct Progress {
    opened: FxHashSet<ValueId>,
    completed: FxHashSet<ValueId>,
    filled: FxHashSet<ValueId>,
    unfilled: Vec<ValueId>,
}

impl<'py> Writer<'_, 'py> {
    /// Builds every needed object; afterwards each has its home.
    pub fn build(&mut self, needed: &Needed) -> Result<(), Failure> {
        let mut progress = Progress::default();
        for id in &needed.values {
            self.work(Task::Allocate(*id, false), &mut progress)?;
        }
        while let Some(id) = progress.unfilled.pop() {
            self.work(Task::Fill(id), &mut progress)?;
        }
        Ok(())
    }

    /// Does a task and all that must come before it; without recursion, for nesting can be deep.
    fn work(&mut self, task: Task, progress: &mut Progress) -> Result<(), Failure> {
        let mut tasks = vec![task];
        while let Some(task) = tasks.pop() {
            let id = task.value();
            let Value::New(made) = self.value(id)? else { continue };
            match task {
                Task::Allocate(_, soft) => {
                    if !self.has_home(id) && progress.opened.insert(id) {
                        tasks.push(Task::Make(id, soft));
                        tasks.extend(parts(made).into_iter().rev().map(|part| Task::Allocate(part, soft)));
                        tasks.extend(looked_into(made).into_iter().rev().map(Task::Complete));
                    }
                }
                Task::Make(..) if self.has_home(id) => {}
                Task::Make(_, true) if parts(made).into_iter().any(|part| !self.is_ready(part)) => {
                    progress.opened.remove(&id);
                }
                Task::Make(..) => {
                    self.check_contents(made, progress)?;
                    self.allocate(id, made)?;
                    if is_filled_later(made) {
                        progress.unfilled.push(id);
                    }
                }
                Task::Complete(_) if progress.completed.insert(id) => {
                    tasks.push(Task::FillIfPossible(id));
                    tasks.extend(children(made).into_iter().rev().map(Task::Complete));
                    tasks.push(Task::Allocate(id, true));
                }
                Task::Complete(_) => {}
                Task::FillIfPossible(_) => {
                    if children(made).into_iter().chain([id]).all(|part| self.is_ready(part)) {
                        tasks.push(Task::Fill(id));
                    }
                }
                Task::Fill(_) if is_filled_later(made) && !progress.filled.contains(&id) => {
                    let missing: Vec<_> =
                        children(made).into_iter().chain([id]).filter(|part| !self.is_ready(*part)).collect();
                    if missing.is_empty() {
                        progress.filled.insert(id);
                        self.fill(id, made)?;
                    } else if missing.iter().any(|part| progress.opened.contains(part)) {
                        return Err(Failure::Refused(CYCLE.into()));
                    } else {
                        tasks.push(Task::Fill(id));
                        tasks.extend(missing.into_iter().rev().map(|part| Task::Allocate(part, false)));
                    }
                }
                Task::Fill(_) => {}
            }
        }
        Ok(())
    }

    /// What an object is made of exists, and what its construction looks into is complete.
    fn check_contents(&self, made: &New, progress: &Progress) -> Result<(), Failure> {
        let empty = |part: &ValueId| {
            matches!(self.value(*part), Ok(Value::New(made)) if is_filled_later(made))
                && !progress.filled.contains(part)
        };
        let hollow = !matches!(made, New::Exception { .. }) && looked_into(made).iter().any(empty);
        if hollow || parts(made).into_iter().any(|part| !self.is_ready(part)) {
            return Err(Failure::Refused(CYCLE.into()));
        }
        Ok(())
    }

    fn is_ready(&self, id: ValueId) -> bool {
        self.has_home(id) || !matches!(self.value(id), Ok(Value::New(_)))
    }

    fn allocate(&mut self, id: ValueId, made: &New) -> Result<(), Failure> {
        let py = self.py;
        match made {
            New::Tuple(items) => {
                items.iter().try_for_each(|item| self.load(*item))?;
                self.plain(Op::BUILD_TUPLE, items.len() as u32);
            }
            New::Slice(slice) => {
                slice.iter().try_for_each(|part| self.load(*part))?;
                self.plain(Op::BUILD_SLICE, 3);
            }
            New::List(_) => self.plain(Op::BUILD_LIST, 0),
            New::Dict(_) => self.plain(Op::BUILD_MAP, 0),
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
            New::Instance { class, value, .. } => {
                self.callee(self.base_of(*class)?.getattr(name!("__new__"))?);
                self.load(*class)?;
                value.map_or(Ok(()), |value| self.load(value))?;
                self.call(1 + u32::from(value.is_some()));
            }
            New::Exception { class, args, .. } => self.exception(*class, *args)?,
            New::Call { callable, args, .. } => {
                self.begin_callee();
                self.load(*callable)?;
                args.iter().try_for_each(|arg| self.load(*arg))?;
                self.call(args.len() as u32);
            }
            New::Opaque(what) => return Err(Failure::Refused(format!("{what} cannot be rebuilt"))),
            New::SequenceIterator { sequence, next } => {
                self.load(*sequence)?;
                self.plain(Op::GET_ITER, 0);
                self.advance(*next)?;
            }
            New::Owned(object) => self.constant(object.bind(py).clone()),
        }
        self.keep(id);
        Ok(())
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

    /// `iterator.__setstate__(next)` on the iterator at the top.
    fn advance(&mut self, next: usize) -> Result<(), Failure> {
        if next > 0 {
            self.begin_callee();
            self.plain(Op::COPY, 2);
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
        self.plain(Op::BUILD_TUPLE, closure.len() as u32);
        self.call(5);
        Ok(())
    }

    /// The nearest class written in C that instances of a class of the user are laid out by.
    fn base_of(&self, class: ValueId) -> Result<Bound<'py, PyAny>, Failure> {
        match self.value(class)? {
            Value::Real { object, .. } => c_base(object.bind(self.py)),
            _ => Ok(original(self.py, "builtins", "object")?),
        }
    }

    /// Fills an instance of a class derived from `list` or of a kind of dict, past methods of the user.
    fn content(&mut self, id: ValueId, class: ValueId, content: &[ValueId]) -> Result<(), Failure> {
        if content.is_empty() {
            return Ok(());
        }
        let base = self.base_of(class)?;
        let dict = self.py.get_type::<PyDict>();
        let is_dict = base.cast::<PyType>().is_ok_and(|base| base.is_subclass(&dict).unwrap_or(false));
        let (method, size) = if is_dict { ("__setitem__", 2) } else { ("append", 1) };
        let method = base.getattr(method)?;
        for parts in content.chunks(size) {
            self.callee(method.clone());
            self.load(id)?;
            parts.iter().try_for_each(|part| self.load(*part))?;
            self.call(1 + parts.len() as u32);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    /// Moves the keys of an `OrderedDict` to its end, one after the other.
    fn order(&mut self, id: ValueId, class: ValueId, keys: &[ValueId]) -> Result<(), Failure> {
        for key in keys {
            self.callee(self.base_of(class)?.getattr(name!("move_to_end"))?);
            self.load(id)?;
            self.load(*key)?;
            self.call(2);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    fn fill(&mut self, id: ValueId, made: &New) -> Result<(), Failure> {
        match made {
            New::List(items) => self.append(id, items, Op::LIST_APPEND),
            New::Set(items) => self.append(id, items, Op::SET_ADD),
            New::Dict(entries) => {
                self.load(id)?;
                for (key, value) in entries {
                    self.load(*key)?;
                    self.load(*value)?;
                    self.plain(Op::MAP_ADD, 1);
                }
                self.plain(Op::POP_TOP, 0);
                Ok(())
            }
            New::Cell(Some(content)) => self.store(*content, id, "cell_contents"),
            New::Function { defaults, kwdefaults, attributes, .. } => {
                let parts = [(defaults, "__defaults__"), (kwdefaults, "__kwdefaults__")];
                parts
                    .into_iter()
                    .try_for_each(|(part, name)| part.map_or(Ok(()), |part| self.store(part, id, name)))?;
                self.attributes(id, attributes)
            }
            New::Instance { class, content, order, attributes, .. } => {
                self.content(id, *class, content)?;
                self.order(id, *class, order)?;
                self.attributes(id, attributes)
            }
            New::Exception { attributes, context, cause, passed, .. } => {
                cause.map_or(Ok(()), |cause| self.set_attribute(id, "__cause__", cause))?;
                context.map_or(Ok(()), |context| self.set_attribute(id, "__context__", context))?;
                self.attributes(id, attributes)?;
                self.traceback(id, passed)
            }
            New::Call { state: Some(state), .. } => {
                self.begin_callee();
                self.load(id)?;
                self.op(Op::LOAD_ATTR, Arg::Name("__setstate__".into()));
                self.load(*state)?;
                self.call(1);
                self.plain(Op::POP_TOP, 0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Gives an exception the traceback that it got while it was traced.
    fn traceback(&mut self, exception: ValueId, passed: &[Passed]) -> Result<(), Failure> {
        if passed.is_empty() {
            return Ok(());
        }
        let py = self.py;
        let (entries, mut held) = (PyList::empty(py), Vec::new());
        for Passed { inlined, line } in passed {
            match inlined {
                Some(inlined) => {
                    let Inlined { code, globals, lasti, rest, variables, namespace } = inlined;
                    let slots: Vec<usize> = variables.iter().map(|(slot, _)| *slot).collect();
                    held.extend(inlined.held());
                    let slots = (PyTuple::new(py, slots)?, namespace.is_some());
                    entries.append((code.bind(py), globals.bind(py), (lasti, rest), line, slots))?;
                }
                None => entries.append(line)?,
            }
        }
        self.callee(pyo3::wrap_pyfunction!(traceback::add_traceback, py)?.into_any());
        self.load(exception)?;
        self.constant(entries.to_tuple().into_any());
        held.iter().try_for_each(|value| self.load(*value))?;
        self.plain(Op::BUILD_TUPLE, held.len() as u32);
        self.call(3);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    fn append(&mut self, id: ValueId, items: &[ValueId], op: Op) -> Result<(), Failure> {
        self.load(id)?;
        for item in items {
            self.load(*item)?;
            self.plain(op, 1);
        }
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// `object.name = value` where no code of the user can run.
    pub(super) fn store(&mut self, value: ValueId, object: ValueId, name: &str) -> Result<(), Failure> {
        self.load(value)?;
        self.load(object)?;
        self.op(Op::STORE_ATTR, Arg::Name(name.into()));
        Ok(())
    }

    /// Gives an object the parts of its state that its constructor does not set.
    fn attributes(&mut self, object: ValueId, attributes: &[(Held, ValueId)]) -> Result<(), Failure> {
        for (held, value) in attributes {
            match held {
                Held::Attribute(name) => self.set_attribute(object, name, *value)?,
                Held::Entry(key) => {
                    self.load(*value)?;
                    self.callee(self.py.get_type::<PyAny>().getattr(name!("__getattribute__"))?);
                    self.load(object)?;
                    self.constant(pyo3::types::PyString::intern(self.py, "__dict__").into_any());
                    self.call(2);
                    self.constant(key.bind(self.py).clone());
                    self.plain(Op::STORE_SUBSCR, 0);
                }
                Held::Descriptor(descriptor) => {
                    self.callee(descriptor.bind(self.py).getattr(name!("__set__"))?);
                    self.load(object)?;
                    self.load(*value)?;
                    self.call(2);
                    self.plain(Op::POP_TOP, 0);
                }
            }
        }
        Ok(())
    }

    /// `object.__setattr__(object, name, value)`: past a `__setattr__` of the user.
    fn set_attribute(&mut self, object: ValueId, name: &str, value: ValueId) -> Result<(), Failure> {
        self.callee(original(self.py, "builtins", "object")?.getattr(name!("__setattr__"))?);
        self.load(object)?;
        self.constant(pyo3::types::PyString::intern(self.py, name).into_any());
        self.load(value)?;
        self.call(3);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }
}

/// What must exist before the object can be allocated.
fn parts(made: &New) -> Vec<ValueId> {
    match made {
        New::Instance { class, value, .. } => std::iter::once(*class).chain(*value).collect(),
        New::Function { closure, .. } => closure.clone(),
        New::Exception { class, args, .. } => vec![*class, *args],
        New::Call { callable, args, .. } => std::iter::once(*callable).chain(args.iter().copied()).collect(),
        made if is_filled_later(made) => Vec::new(),
        made => children(made),
    }
}

/// What the construction itself looks into, so that it must be filled before: arguments of a callable, a sequence that is
/// iterated, keys that are hashed.
fn looked_into(made: &New) -> Vec<ValueId> {
    match made {
        New::Call { args, .. } => args.clone(),
        New::Exception { args, .. } => vec![*args],
        New::Instance { value, .. } => value.iter().copied().collect(),
        New::SequenceIterator { sequence, .. } => vec![*sequence],
        _ => Vec::new(),
    }
}

fn is_filled_later(made: &New) -> bool {
    matches!(
        made,
        New::Exception { .. }
            | New::Call { .. }
            | New::List(_)
            | New::Dict(_)
            | New::Set(_)
            | New::Cell(_)
            | New::Function { .. }
            | New::Instance { .. }
    )
}

/// The nearest class in the resolution order that is written in C.
fn c_base<'py>(class: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
    let class = class.cast::<PyType>().map_err(PyErr::from)?;
    let mro = class.mro();
    let found = mro.iter().find(|base| base.cast::<PyType>().is_ok_and(types::is_c_type));
    found.ok_or_else(|| fault("a class without a base written in C".into()))
}

//! Weak references to objects that the trace made: they answer by whether plain Python would still hold the object.
//!
//! The trace itself keeps every object. An object counts as alive if a running frame, a variable that outlives the trace, or a container from
//! outside leads to it by strong references that the trace sees. Where none does, the trace ends before the question.
use crate::bytecode::{Instr, Op};
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::generator::GeneratorObject;
use crate::trace::state::outcome::{End, StackEntry};
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyType, PyWeakrefReference};
use rustc_hash::FxHashSet;

/// Objects that a search for a path looks at before it gives up.
const MAX_VISITED: usize = 20_000;

/// The same, all searches of a trace together.
const MAX_SEARCHED: usize = 100_000;

/// Stands for the callback of a weak reference: the objects of a trace outlive it, so it never has anything to do.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Callback;

#[pymethods]
impl Callback {
    fn __call__(&self, reference: &Bound<'_, PyAny>) {
        let _ = reference;
    }
}

/// Entries at the top of the stack that an instruction may give away before it is done.
fn consumed(instr: &Instr) -> usize {
    let arg = instr.arg as usize;
    match instr.op {
        Op::CALL => arg + 2,
        Op::CALL_KW => arg + 3,
        Op::CALL_FUNCTION_EX => 4,
        Op::FOR_ITER | Op::SEND | Op::WITH_EXCEPT_START => 0,
        Op::BUILD_TUPLE | Op::BUILD_LIST | Op::BUILD_SET | Op::BUILD_STRING => arg,
        Op::BUILD_MAP => arg * 2,
        _ => 4,
    }
}

impl<'py> Tracer<'py> {
    /// CPython: `weakref___init__`, which only counts what it gets.
    pub(crate) fn init_weak(&mut self, init: &Bound<'py, PyAny>, args: &Arguments) -> Traced<ValueId> {
        if matches!(args.positional.len(), 2 | 3) {
            return Ok(self.none());
        }
        let class = self.py.get_type::<PyType>();
        let reference = self.import("_weakref", "ref")?.call1((class,)).or_else(|error| self.raise_error(error))?;
        let given = std::iter::repeat_n(reference, args.positional.len().max(1)).collect::<Vec<_>>();
        let given = pyo3::types::PyTuple::new(self.py, given).or_else(|error| self.raise_error(error))?;
        match init.call1(given) {
            Ok(_) => Ok(self.none()),
            Err(error) => self.raise_error(error),
        }
    }
}

impl<'py> Tracer<'py> {
    /// Notes what a frame holds while the instruction runs.
    pub(crate) fn hold(&mut self, frame: &crate::trace::state::frame::Frame, instr: &Instr) {
        let kept = frame.stack.len().saturating_sub(consumed(instr));
        if let Some(held) = self.state.held.last_mut() {
            held.locals.clone_from(&frame.locals);
            held.locals.extend(frame.closure.iter().copied().chain(frame.namespace).map(Some));
            held.stack = frame.stack[..kept].to_vec();
        }
    }

    /// Whether the class is one of weak references, or derives from one.
    pub(crate) fn is_weak_class(&self, class: &Bound<'py, PyType>) -> Traced<bool> {
        Ok(types::is_subtype(class, &self.py.get_type::<PyWeakrefReference>()))
    }

    /// `weakref.ref(object, callback)` and `weakref.proxy(object, callback)`; `class` is the class that `__new__` got.
    pub(crate) fn make_weak(
        &mut self,
        callable: &Bound<'py, PyAny>,
        class: Option<ValueId>,
        args: &Arguments,
    ) -> Traced<ValueId> {
        if !self.state.track {
            return Err(Unwind::Track);
        }
        let (referent, callback) = match args.positional.as_slice() {
            [referent] => (*referent, None),
            [referent, callback] => (*referent, Some(*callback)),
            _ => return unsupported("weak reference with other arguments", "weakref"),
        };
        if !args.keywords.is_empty() {
            return unsupported("weak reference with other arguments", "weakref");
        }
        let callback = match callback {
            Some(callback) if !self.is_none(callback)? => Some(callback),
            _ => None,
        };
        let of = self.class_of(referent)?;
        if types::weaklistoffset(&of) == 0 {
            return self.raise("TypeError", format!("cannot create weak reference to '{}' object", types::name(&of)));
        }
        let target = self.target(referent, &of)?;
        let mut given = Vec::new();
        if let Some(class) = class {
            match self.known(class) {
                Some(class) => given.push(class),
                None => return unsupported("weak reference of a class made during the trace", "weakref"),
            }
        }
        given.push(target);
        if callback.is_some() {
            let stand_in = Bound::new(self.py, Callback).map(Bound::into_any);
            given.push(stand_in.or_else(|error| self.raise_error(error))?);
            self.state.finalisable.push(referent);
        }
        let made = pyo3::types::PyTuple::new(self.py, given).and_then(|given| callable.call1(given));
        let made = made.or_else(|error| self.raise_error(error))?;
        self.state.weak.insert(made.as_ptr() as usize, (referent, callback));
        self.state.weakly.insert(referent);
        Ok(match self.state.identity.get(&(made.as_ptr() as usize)) {
            Some(id) => *id,
            None => self.own(made),
        })
    }

    /// What the real weak reference refers to: the object itself where guards know it by identity, the proxy of one that the trace made.
    fn target(&mut self, referent: ValueId, class: &Bound<'py, PyType>) -> Traced<Bound<'py, PyAny>> {
        if self.real(referent).is_some() {
            return match self.known(referent) {
                Some(object) => Ok(object),
                None if !is_c_type(class) => self.proxy(referent),
                None => self
                    .same_object(referent)
                    .map_or_else(|| unsupported("weak reference to an object from outside", types::name(class)), Ok),
            };
        }
        let native = self.native(referent)?;
        if native.is_instance_of::<Proxy>() && !is_c_type(class) {
            return Ok(native);
        }
        // Also where C gets the object itself elsewhere: one that asks through the reference asks whether the object still lives.
        if self.owned(referent).is_some() {
            return self.proxy(referent);
        }
        unsupported("weak reference to an object of a C class", types::name(class))
    }

    /// The object that a weak reference of the trace's own refers to, and its callback.
    pub(crate) fn referent(&self, reference: &Bound<'py, PyAny>) -> Option<(ValueId, Option<ValueId>)> {
        self.state.weak.get(&(reference.as_ptr() as usize)).copied()
    }

    /// Whether a weak reference with a callback leaves the trace already that refers to the same object.
    pub(crate) fn leaves_with_callback(&self, reference: &Bound<'py, PyAny>, referent: ValueId) -> bool {
        let address = reference.as_ptr() as usize;
        self.state.weak.iter().any(|(other, (to, callback))| {
            let made = || {
                self.state.identity.get(other).is_some_and(|id| !matches!(self.value(*id), Value::New(New::Owned(_))))
            };
            *other != address && *to == referent && callback.is_some() && made()
        })
    }

    /// The same for a plain weak reference, which C hashes and compares as what it refers to.
    pub(crate) fn referent_of_key(&self, key: ValueId) -> Option<ValueId> {
        let reference = self.owned(key).filter(|object| object.is_exact_instance_of::<PyWeakrefReference>())?;
        self.referent(&reference).map(|(referent, _)| referent)
    }

    /// Whether one of them is a weak reference or proxy made here: C compares what it refers to, which is a proxy.
    pub(crate) fn any_weak(&self, values: &[ValueId]) -> bool {
        !self.state.weak.is_empty()
            && values.iter().any(|value| self.owned(*value).is_some_and(|object| self.referent(&object).is_some()))
    }

    /// The same for an object whose number the program keeps.
    pub(crate) fn rely_on_life(&mut self, object: ValueId) -> Traced<()> {
        if !self.state.track {
            return Err(Unwind::Track);
        }
        self.state.weakly.insert(object);
        self.check_alive(object)
    }

    /// Goes on only if plain Python would still have the object.
    pub(crate) fn check_alive(&mut self, referent: ValueId) -> Traced<()> {
        if !self.state.weakly.contains(&referent) || self.is_lasting(referent) {
            return Ok(());
        }
        if let Value::Real { object, source: Some(_) } = self.value(referent) {
            let object = object.bind(self.py).clone();
            return self.refuse_ended(&object);
        }
        if self.state.searched > MAX_SEARCHED {
            return unsupported(
                "weak references into many objects",
                "too many objects lie on the way to what is referred to",
            );
        }
        let mut roots = self.lasting_owners();
        for held in &self.state.held {
            roots.extend(held.locals.iter().flatten());
            roots.extend(objects(&held.stack));
        }
        roots.extend(*self.state.exc_info);
        roots.extend(self.state.exc_below.iter().flatten());
        if self.reachable(roots, Some(referent)).contains(&referent) {
            return Ok(());
        }
        unsupported(
            "weak reference to an object that may be gone",
            "nothing that the trace follows holds the object any more",
        )
    }

    /// Classes and modules from outside: what names them outlives the trace.
    fn is_lasting(&self, referent: ValueId) -> bool {
        self.real(referent)
            .is_some_and(|object| object.is_instance_of::<PyType>() || object.is_instance_of::<pyo3::types::PyModule>())
    }

    /// An object whose end would run code is no longer held when the trace ends.
    pub(crate) fn ended(&mut self, end: &End) -> Traced<Option<ValueId>> {
        let watched: Vec<_> =
            self.state.finalisable.iter().copied().filter(|referent| !self.is_lasting(*referent)).collect();
        if watched.is_empty() {
            return Ok(None);
        }
        let alive = self.reachable([end.values(), self.lasting_owners()].concat(), None);
        let stays = |referent: &ValueId| match end {
            End::Return { kept: locals, .. } | End::Break { locals, .. } => locals.contains(&Some(*referent)),
            _ => false,
        };
        for referent in watched.into_iter().filter(|referent| !alive.contains(referent) && !stays(referent)) {
            match self.value(referent) {
                // Somebody outside holds it, whom the trace has not made let it go.
                Value::Real { object, source: Some(_) } => {
                    let object = object.bind(self.py).clone();
                    if !self.outlives(&object)? {
                        return Ok(Some(referent));
                    }
                }
                _ => return Ok(Some(referent)),
            }
        }
        Ok(None)
    }

    /// Objects from outside with attributes that the trace knows, but those that nobody holds any more.
    fn lasting_owners(&self) -> Vec<ValueId> {
        let owners: FxHashSet<_> = self.state.attributes.keys().map(|(owner, _)| *owner).collect();
        if owners.is_empty() {
            return Vec::new();
        }
        let Some(ending) = self.ending() else { return Vec::new() };
        let ending: FxHashSet<_> = ending.iter().map(|ending| ending.as_ptr() as usize).collect();
        let lasts =
            |owner: &ValueId| self.real(*owner).is_some_and(|object| !ending.contains(&(object.as_ptr() as usize)));
        owners.into_iter().filter(lasts).collect()
    }

    /// What strong references lead to from the roots and from what outlives the trace; stops early at `wanted`.
    fn reachable(&mut self, mut work: Vec<ValueId>, wanted: Option<ValueId>) -> FxHashSet<ValueId> {
        let attributes = self.attributes_by_owner();
        work.extend(self.state.cells.values().flatten());
        work.extend(self.state.globals.values().flatten());
        let mut seen = FxHashSet::default();
        let mut objects: Vec<Bound<'py, PyAny>> =
            self.state.private_copies.iter().map(|private_copy| private_copy.object.bind(self.py).clone()).collect();
        let mut visited = FxHashSet::default();
        let Ok(referents) =
            crate::ffi::modules::import(self.py, "gc").and_then(|gc| gc.getattr(name!("get_referents")))
        else {
            return seen;
        };
        loop {
            if let Some(object) = objects.pop() {
                if let Some(value) = self
                    .value_of_proxy(&object)
                    .or_else(|| self.state.identity.get(&(object.as_ptr() as usize)).copied())
                {
                    work.push(value);
                }
                continue;
            }
            let Some(value) = work.pop() else { return seen };
            self.state.searched += 1;
            if !seen.insert(value) {
                continue;
            }
            if wanted == Some(value) || seen.len() > MAX_VISITED {
                return seen;
            }
            work.extend(attributes.get(&value).into_iter().flatten());
            match self.value(value) {
                Value::New(New::Method { function, receiver }) => work.extend([*function, *receiver]),
                Value::New(New::Owned(object)) => {
                    let object = object.bind(self.py).clone();
                    work.extend(self.referent(&object).and_then(|(_, callback)| callback));
                    self.follow(&referents, &object, &mut visited, &mut objects);
                }
                Value::New(new) => work.extend(new.items()),
                _ => {}
            }
            match self.state.generators.get(&value) {
                Some(GeneratorObject::Frame(generator)) => {
                    if let Some(frame) = &generator.frame {
                        work.extend(frame.locals.iter().flatten());
                        work.extend(frame.closure.iter());
                        work.extend(self::objects(&frame.stack));
                    }
                }
                Some(GeneratorObject::Wrapper(held) | GeneratorObject::Wrapped(held)) => work.push(*held),
                Some(GeneratorObject::Send { generator, .. } | GeneratorObject::Throw { generator, .. }) => {
                    work.push(*generator)
                }
                None => {}
            }
        }
    }

    /// The objects that an object made by the trace holds, through those that are no values themselves (`__dict__`, iterators…).
    fn follow(
        &self,
        referents: &Bound<'py, PyAny>,
        object: &Bound<'py, PyAny>,
        visited: &mut FxHashSet<usize>,
        found: &mut Vec<Bound<'py, PyAny>>,
    ) {
        let mut work = vec![object.clone()];
        while let Some(object) = work.pop() {
            if !visited.insert(object.as_ptr() as usize) || visited.len() > MAX_VISITED {
                continue;
            }
            let Ok(held) = referents.call1((object,)).and_then(|held| held.try_iter()) else { continue };
            for held in held.flatten() {
                if held.is_instance_of::<Proxy>() || self.state.identity.contains_key(&(held.as_ptr() as usize)) {
                    found.push(held);
                } else if is_plain_container(&held) {
                    work.push(held);
                }
            }
        }
    }
}

fn objects(stack: &[StackEntry]) -> impl Iterator<Item = ValueId> + '_ {
    stack.iter().filter_map(|entry| match entry {
        StackEntry::Object(value) => Some(*value),
        StackEntry::Null | StackEntry::Callee => None,
    })
}

/// Whether an object that is no value can stand between two that are.
fn is_plain_container(object: &Bound<'_, PyAny>) -> bool {
    matches!(&*types::c_name(&object.get_type()), "dict" | "list" | "tuple" | "cell" | "set" | "frozenset")
}

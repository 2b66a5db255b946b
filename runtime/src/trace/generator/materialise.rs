//! Materialises generators and coroutines that have not begun or have ended: compiled code calls their functions again.
use crate::bytecode::{Code, LocalKind, flag};
use crate::stored::{In, Misfit, Out};
use crate::trace::state::frame::Frame;
use crate::trace::state::generator::{Generator, GeneratorKind, GeneratorObject, GeneratorState};
use crate::trace::state::materialised::Materialised;
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyRange, PyString, PyTuple};
use std::sync::Arc;

/// Makes a generator: `begin(function, positional, rest, keywords, more)`; the last two but one, and the last, `None` where the
/// function has no such parameter.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Begin {
    /// Whether it has ended already.
    ended: bool,
}

#[pymethods]
impl Begin {
    fn __call__<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        positional: &Bound<'py, PyTuple>,
        rest: Option<&Bound<'py, PyTuple>>,
        keywords: &Bound<'py, PyDict>,
        more: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<_> = positional.iter().chain(rest.into_iter().flatten()).collect();
        let named = keywords.copy()?;
        more.map_or(Ok(()), |more| named.update(more.as_mapping()))?;
        let made = function.call(PyTuple::new(function.py(), all)?, Some(&named))?;
        if self.ended {
            made.call_method0(intern!(function.py(), "close"))?;
        }
        Ok(made)
    }
}

/// Writes what makes a generator; `false`: the object is another.
///
/// # Errors
/// None.
pub(crate) fn write_begin<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
    let Ok(begin) = object.cast_exact::<Begin>() else { return Ok(false) };
    out.bytes.0.push(u8::from(begin.get().ended));
    Ok(true)
}

/// Reads what [`write_begin`] has written.
///
/// # Errors
/// Where the bytes end.
pub(crate) fn read_begin<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    let ended = from.bytes.byte()? != 0;
    Ok(Bound::new(from.py(), Begin { ended })?.into_any())
}

/// What a parameter is bound to.
enum Bind<'a> {
    /// What it was called with.
    Given(&'a Frame),
    /// Anything: nobody will see it.
    Nothing,
}

impl<'py> Tracer<'py> {
    /// How emitted code makes such a generator again; `None` for other values.
    pub(crate) fn describe_generator(&mut self, id: ValueId) -> Traced<Option<Materialised<Vec<ValueId>>>> {
        let Some(GeneratorObject::Frame(generator)) = self.state.generators.get(&id) else { return Ok(None) };
        let ended = match generator {
            Generator { progress: GeneratorState::Created, frame: Some(_), .. } => false,
            Generator {
                kind: GeneratorKind::Generator | GeneratorKind::Coroutine,
                progress: GeneratorState::Completed,
                ..
            } => true,
            _ => return Ok(None),
        };
        let is_coroutine = generator.kind == GeneratorKind::Coroutine;
        let function = generator.function.bind(self.py).clone();
        let same = function.getattr(intern!(self.py, "__code__")).is_ok_and(|code| code.is(&generator.code));
        if !same || is_coroutine && self.tracks_origins()? {
            return Ok(None);
        }
        let Some(args) = self.begun_with(id)? else { return Ok(None) };
        let begin = Bound::new(self.py, Begin { ended }).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(begin.into_any());
        let function = self.absorb(function);
        let args: Vec<_> = std::iter::once(function).chain(args).collect();
        let mut children = args.clone();
        children.push(callable);
        children.extend(args.iter().flat_map(|value| self.made_of(*value)));
        Ok(Some(self.set(id, New::Call { callable, args, state: None }, children)))
    }

    /// Whether a coroutine tells where it was made (`cr_origin`); guarded.
    fn tracks_origins(&mut self) -> Traced<bool> {
        let depth = self.import("sys", "get_coroutine_origin_tracking_depth")?;
        let Some(depth) = self.call_and_guard(&depth, &PyTuple::empty(self.py))? else { return Ok(true) };
        Ok(self.known(depth).is_none_or(|depth| depth.is_truthy().unwrap_or(true)))
    }

    /// The parts of a tuple or dict that was made just now.
    fn made_of(&self, value: ValueId) -> Vec<ValueId> {
        match self.value(value) {
            Value::New(New::Tuple(items)) => items.clone(),
            Value::New(New::Dict(pairs)) => pairs.iter().flat_map(|(key, value)| [*key, *value]).collect(),
            _ => Vec::new(),
        }
    }

    /// Positional arguments, the rest of them, keyword arguments, and more of them.
    fn begun_with(&mut self, id: ValueId) -> Traced<Option<[ValueId; 4]>> {
        let Some(GeneratorObject::Frame(generator)) = self.state.generators.get_mut(&id) else { return Ok(None) };
        let code = generator.code.bind(self.py).clone();
        let frame = generator.frame.take();
        let decoded = match &frame {
            Some(frame) => Arc::clone(&frame.code),
            None => self.decode(&code)?,
        };
        let bind = frame.as_deref().map_or(Bind::Nothing, Bind::Given);
        let args = self.arguments_of(&decoded, &bind);
        if let Some(GeneratorObject::Frame(generator)) = self.state.generators.get_mut(&id) {
            generator.frame = frame;
        }
        args
    }

    fn arguments_of(&mut self, code: &Code, bind: &Bind<'_>) -> Traced<Option<[ValueId; 4]>> {
        let (positional, keywords) = (code.argcount as usize, code.kwonlyargcount as usize);
        let named = positional + keywords;
        let mut values = Vec::with_capacity(named);
        for slot in 0..named {
            let Some(value) = self.bound_to(code, slot, bind)? else { return Ok(None) };
            values.push(value);
        }
        let names = code.locals[positional..named].iter();
        let names: Vec<_> = names.map(|local| PyString::new(self.py, &local.name).into_any()).collect();
        let names: Vec<_> = names.into_iter().map(|name| self.constant(name)).collect();
        let pairs = names.into_iter().zip(values.split_off(positional)).collect();
        let mut extra = named;
        let mut others = [self.none(); 2];
        for (takes, other) in [flag::VARARGS, flag::VARKEYWORDS].into_iter().zip(&mut others) {
            if code.flags & takes != 0 {
                if let Bind::Given(_) = bind {
                    let Some(value) = self.bound_to(code, extra, bind)? else { return Ok(None) };
                    *other = value;
                }
                extra += 1;
            }
        }
        let positional = self.push(Value::New(New::Tuple(values)));
        let keywords = self.push(Value::New(New::Dict(pairs)));
        Ok(Some([positional, others[0], keywords, others[1]]))
    }

    /// Whether what a generator expression goes through may be asked for an iterator again, and nobody sees that.
    fn iterates_alike(&mut self, frame: &Frame) -> Traced<bool> {
        let Some(iterable) = frame.locals.first().copied().flatten() else { return Ok(false) };
        if frame.stack.first() == Some(&StackEntry::Object(iterable)) {
            return Ok(true);
        }
        // It leaves the trace, too, and was taken apart before.
        if matches!(self.value(iterable), Value::New(New::List(_) | New::Tuple(_))) {
            return Ok(true);
        }
        let class = match self.class_of(iterable) {
            Err(Unwind::Break(_)) => return Ok(false),
            class => class?,
        };
        let py = self.py;
        let plain = [
            py.get_type::<PyList>(),
            py.get_type::<PyTuple>(),
            py.get_type::<PyString>(),
            py.get_type::<PyBytes>(),
            py.get_type::<PyRange>(),
        ];
        Ok(plain.iter().any(|plain| class.is(plain)))
    }

    /// What the parameter in a slot was bound to when the frame was made.
    fn bound_to(&mut self, code: &Code, slot: usize, bind: &Bind<'_>) -> Traced<Option<ValueId>> {
        let iterates = slot == 0 && code.iterates_first();
        let Bind::Given(frame) = bind else {
            return Ok(Some(if iterates { self.constant(PyTuple::empty(self.py).into_any()) } else { self.none() }));
        };
        if iterates && !self.iterates_alike(frame)? {
            return Ok(None);
        }
        let Some(value) = frame.locals.get(slot).copied().flatten() else { return Ok(None) };
        match code.locals.get(slot) {
            Some(local) if local.kind.contains(LocalKind::CELL) => self.cell_contents(value),
            _ => Ok(Some(value)),
        }
    }
}

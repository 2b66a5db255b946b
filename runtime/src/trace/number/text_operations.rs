//! Texts made of others, some of which contents of arrays decide: `"loss %.3f" % loss.item()`, `", ".join(parts)`, `text + "\n"`.
use crate::domain::Operand;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

/// How many values that differ a function is tried with, so that it is known to raise for none.
const TRIES: usize = 3;

/// Conversions that take a width from an operand, or read the locale.
const REFUSED: [char; 2] = ['*', 'n'];

/// A part of a text: what the graph gets, and what it may be.
struct Part<'py> {
    operand: Operand<'py>,
    tried: [Bound<'py, PyAny>; TRIES],
}

impl<'py> Tracer<'py> {
    /// `left + right` and `left % right`, where one is, or holds, a text or a number that contents decide; `None`: none does, or it may raise.
    pub(crate) fn text_operation(&mut self, name: &str, left: ValueId, right: ValueId) -> Traced<Option<ValueId>> {
        match name {
            "add" | "iadd" => match self.join_unread(&[left, right])? {
                Some(joined) => Ok(Some(joined)),
                None => self.join_computed(&[left, right]),
            },
            "mod" | "imod" => {
                let held = match self.held_items(right) {
                    Some(_) if self.owned(right).is_some_and(|right| right.is_instance_of::<PyList>()) => {
                        return Ok(None);
                    }
                    held => held.unwrap_or_else(|| vec![right]),
                };
                if !held.iter().any(|value| self.is_unread(*value) || self.is_unread_text(*value)) {
                    let of_text = self.class_of(left)?.is(self.py.get_type::<PyString>());
                    return if of_text { self.fill_computed("filled", left, &held) } else { Ok(None) };
                }
                match self.known_str(left) {
                    Some(format) => self.filled("filled", &format, &held),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// `text.join(parts)` and `text.format(…)`, in the same way.
    pub(crate) fn text_method(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some((text, rest)) = args.split_first() else { return Ok(None) };
        match (name, rest) {
            ("join", [parts]) if self.state.numbers.texts_in_containers || self.state.numbers.in_containers => {
                let Some(parts) = self.held_items(*parts) else { return Ok(None) };
                let mut all = Vec::with_capacity(parts.len() * 2);
                for (index, part) in parts.into_iter().enumerate() {
                    all.extend((index > 0).then_some(*text));
                    all.push(part);
                }
                match self.join_unread(&all)? {
                    Some(joined) => Ok(Some(joined)),
                    None => self.join_computed(&all),
                }
            }
            ("format", [_, ..]) if rest.iter().any(|part| self.is_unread(*part) || self.is_unread_text(*part)) => {
                match self.known_str(*text) {
                    Some(format) => self.filled("formatted", &format, rest),
                    None => Ok(None),
                }
            }
            ("format", [_, ..]) => self.fill_computed("formatted", *text, rest),
            _ => Ok(None),
        }
    }

    /// What a list or tuple of the trace's own holds.
    fn held_items(&mut self, value: ValueId) -> Option<Vec<ValueId>> {
        let object = self.owned(value)?;
        let items: Vec<_> = match (object.cast_exact::<PyList>(), object.cast_exact::<PyTuple>()) {
            (Ok(list), _) => list.iter().collect(),
            (_, Ok(tuple)) => tuple.iter().collect(),
            _ => return None,
        };
        Some(items.into_iter().map(|item| self.absorb(item)).collect())
    }

    /// A text with values in it, where nothing that these may be makes that raise.
    fn filled(&mut self, function: &str, format: &str, values: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(of) = values.iter().copied().find(|value| matches!(self.value(*value), Value::Node { .. })) else {
            return Ok(None);
        };
        if format.contains(REFUSED) {
            return Ok(None);
        }
        let mut parts = Vec::with_capacity(values.len());
        for value in values {
            let Some(part) = self.part_of_text(*value)? else { return Ok(None) };
            parts.push(part);
        }
        let format = PyString::new(self.py, format).into_any();
        let target = crate::ffi::modules::import(self.py, super::texts::MODULE).and_then(|room| room.getattr(function));
        let target = target.or_else(|error| self.raise_error(error))?;
        for index in 0..TRIES {
            let mut given = vec![format.clone()];
            given.extend(parts.iter().map(|part| part.tried[index].clone()));
            let args = PyTuple::new(self.py, given);
            if args.and_then(|args| target.call1(args)).is_err() {
                return Ok(None);
            }
        }
        let operands: Vec<_> =
            std::iter::once(Operand::Known(format)).chain(parts.into_iter().map(|part| part.operand)).collect();
        self.record_of_numbers(function, &operands, of, &self.py.get_type::<PyString>())
    }

    /// `format(number, spec)` of a symbolic number, made by the graph; `None`: there is none, or it may raise.
    pub(crate) fn text_of_symbolic(&mut self, number: ValueId, spec: Option<ValueId>) -> Traced<Option<ValueId>> {
        let class = self.py.get_type::<PyString>();
        let Some(part) = self.part_of_text(number)? else { return Ok(None) };
        let spec = match spec {
            Some(spec) => self.known_str(spec),
            None => Some(String::new()),
        };
        let room = self.state.graph.nodes.iter().rev().find(|node| !node.domain.is_empty()).map(|node| node.domain);
        let domain = self.state.domains.iter().find(|domain| Some(domain.name()) == room).cloned();
        let (Some(spec), Some(domain)) = (spec.filter(|spec| !spec.ends_with(['n', 'c'])), domain) else {
            return Ok(None);
        };
        let Some(example) = domain.unread(&class) else { return Ok(None) };
        let formats =
            |tried: &Bound<'py, PyAny>| tried.call_method1(crate::names::name!("__format__"), (&spec,)).is_ok();
        if !part.tried.iter().all(formats) {
            return Ok(None);
        }
        let target =
            crate::ffi::modules::import(self.py, super::texts::MODULE).and_then(|room| room.getattr("text_of"));
        let target = target.or_else(|error| self.raise_error(error))?;
        let spec = Operand::Known(PyString::new(self.py, &spec).into_any());
        let text = self.record(&domain, target, &[part.operand, spec], &[], example)?;
        self.state.numbers.texts.insert(text, number);
        Ok(Some(text))
    }

    /// The trace is made again, and knows the numbers in a text after all, where no part of the text needs the graph but theirs.
    pub(crate) fn fix_numbers_of_texts(&mut self, parts: &[ValueId]) -> Traced<()> {
        let texts: Vec<_> = parts.iter().copied().filter(|part| self.is_unread_text(*part)).collect();
        let number_of = |text: &ValueId| self.state.numbers.texts.get(text).copied();
        match texts.iter().map(number_of).collect::<Option<Vec<_>>>() {
            Some(numbers) if !numbers.is_empty() => self.fix_numbers(numbers),
            _ => Ok(()),
        }
    }

    /// A value as a part of a text; `None`: it is neither a number nor a text.
    fn part_of_text(&mut self, value: ValueId) -> Traced<Option<Part<'py>>> {
        if self.is_symbolic(value) || self.is_unread_text(value) {
            let class = self.class_of(value)?;
            let operand = match self.is_unread(value) || self.is_unread_text(value) {
                true => self.unread_as_operand(value),
                false => self.number_operand(value, TakenNumbers::All)?,
            };
            let tried = tried(&class);
            return Ok(operand.zip(tried).map(|(operand, tried)| Part { operand, tried }));
        }
        let Some(known) = self.known(value).filter(crate::trace::value::kinds::is_scalar) else { return Ok(None) };
        let tried = [known.clone(), known.clone(), known.clone()];
        Ok(Some(Part { operand: Operand::Known(known), tried }))
    }
}

/// What instances of a class may be, as far as formats look at them.
pub(super) fn tried<'py>(class: &Bound<'py, PyType>) -> Option<[Bound<'py, PyAny>; TRIES]> {
    let py = class.py();
    let made = if class.is(py.get_type::<PyBool>()) {
        [true.into_bound_py_any(py), false.into_bound_py_any(py), true.into_bound_py_any(py)]
    } else if class.is(py.get_type::<PyInt>()) {
        [1.into_bound_py_any(py), i64::MIN.into_bound_py_any(py), i64::MAX.into_bound_py_any(py)]
    } else if class.is(py.get_type::<PyFloat>()) {
        [1.0.into_bound_py_any(py), f64::NEG_INFINITY.into_bound_py_any(py), f64::NAN.into_bound_py_any(py)]
    } else if class.is(py.get_type::<PyComplex>()) {
        let number = |real, imaginary| Ok(PyComplex::from_doubles(py, real, imaginary).into_any());
        [number(1.0, 2.0), number(f64::INFINITY, -1.0), number(f64::NAN, f64::NAN)]
    } else if class.is(py.get_type::<PyString>()) {
        ["text".into_bound_py_any(py), "".into_bound_py_any(py), "%s{}".into_bound_py_any(py)]
    } else {
        return None;
    };
    let [first, second, third] = made;
    Some([first.ok()?, second.ok()?, third.ok()?])
}

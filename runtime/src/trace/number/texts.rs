//! Texts of numbers that contents of arrays decide: the graph makes them, and nobody knows them before it has run.
use crate::domain::Operand;
use crate::names::name;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyString, PyType};

/// Where the functions are that the graph calls.
pub(super) const MODULE: &str = "slotrt._numbers";

/// Types of formats that read the locale, or refuse some numbers.
const REFUSED: [char; 2] = ['n', 'c'];

impl<'py> Tracer<'py> {
    /// Whether a value is such a text. It may be kept, given back and joined with others.
    pub(crate) fn is_unread_text(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::Node { kind, .. } if kind.bind(self.py).is(self.py.get_type::<PyString>()))
    }

    /// `format(number, spec)` of a number that contents decide, and the same of such a text; `None`: it is neither, or may raise.
    pub(crate) fn format_unread(&mut self, value: ValueId, spec: &[ValueId]) -> Traced<Option<ValueId>> {
        let (is_text, is_number) = (self.is_unread_text(value), self.is_unread(value));
        if !is_text && !is_number {
            return Ok(None);
        }
        let spec = match spec {
            [] => Some(String::new()),
            [spec, ..] => self.known_str(*spec),
        };
        let Some(spec) = spec.filter(|spec| !spec.ends_with(REFUSED)) else { return Ok(None) };
        if is_text {
            return Ok(spec.is_empty().then_some(value));
        }
        let class = self.class_of(value)?;
        let tried = class.call1((1,)).and_then(|one| one.call_method1(name!("__format__"), (&spec,)));
        if tried.is_err() {
            return Ok(None);
        }
        let spec = Operand::Known(PyString::new(self.py, &spec).into_any());
        let operand = self.unread_as_operand(value);
        let text = self.py.get_type::<PyString>();
        self.record_of_numbers("text_of", &operand.into_iter().chain([spec]).collect::<Vec<_>>(), value, &text)
    }

    /// The parts of a text one after the other, where some of them are such texts; `None`: all are known, or one is another object.
    pub(crate) fn join_unread(&mut self, parts: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(first) = parts.iter().copied().find(|part| self.is_unread_text(*part)) else { return Ok(None) };
        let mut operands = Vec::with_capacity(parts.len());
        for part in parts {
            match (self.known_str(*part), self.unread_as_operand(*part)) {
                (Some(text), _) => operands.push(Operand::Known(PyString::new(self.py, &text).into_any())),
                (None, Some(operand)) if self.is_unread_text(*part) => operands.push(operand),
                _ => return Ok(None),
            }
        }
        let text = self.py.get_type::<PyString>();
        self.record_of_numbers("joined", &operands, first, &text)
    }

    /// A value that the graph gives, as an operand.
    pub(super) fn unread_as_operand(&self, value: ValueId) -> Option<Operand<'py>> {
        match self.value(value) {
            Value::Node { example, .. } => {
                Some(Operand::Graph { value, example: example.bind(self.py).clone(), layout: None })
            }
            _ => None,
        }
    }

    /// Records a call of one of the functions, which gives an object of this class, in the domain of a value.
    pub(super) fn record_of_numbers(
        &mut self,
        function: &str,
        args: &[Operand<'py>],
        of: ValueId,
        class: &Bound<'py, PyType>,
    ) -> Traced<Option<ValueId>> {
        let Value::Node { node, .. } = self.value(of) else { return Ok(None) };
        let room = self.state.graph.nodes.get(node.0 as usize).map_or("", |node| node.domain);
        let domain = self.state.domains.iter().find(|domain| domain.name() == room).cloned();
        let Some((domain, example)) = domain.and_then(|domain| domain.unread(class).map(|example| (domain, example)))
        else {
            return Ok(None);
        };
        let target = crate::ffi::modules::import(self.py, MODULE).and_then(|room| room.getattr(function));
        let target = target.or_else(|error| self.raise_error(error))?;
        self.record(&domain, target, args, &[], example).map(Some)
    }

    /// Whether it is one of these functions: nothing that they get makes them raise.
    pub(crate) fn works_on_numbers(&self, target: &Bound<'py, PyAny>) -> bool {
        let module = || target.getattr_opt(name!("__module__")).ok().flatten();
        target.is_exact_instance_of::<PyFunction>() && module().is_some_and(|module| module.eq(MODULE).unwrap_or(false))
    }
}

//! Puts calls into the graph.
use crate::domain::{Domain, Operand};
use crate::ffi::callee;
use crate::graph::{ForBackend, Node, NodeId, NodeOp, Origin};
use crate::symbol::SymbolicLayout;
use crate::trace::state::numbers::{Open, OpenCall};
use crate::trace::state::tracer::{FramePosition, Tracer};
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// What a backend that gets the graph does with a call. It leaves alone what works on values of two libraries.
    fn for_backend(
        &mut self,
        domain: &Arc<dyn Domain>,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        keywords: &[(String, Operand<'py>)],
        (open, example): (OpenCall, &Bound<'py, PyAny>),
    ) -> Traced<ForBackend> {
        if !self.state.backend {
            return Ok(ForBackend::Compiles);
        }
        let mut values = Vec::new();
        args.iter().chain(keywords.iter().map(|(_, value)| value)).for_each(|operand| operand.values(&mut values));
        // Numbers that contents decide are Python's.
        let has_numbers = || self.gives_unread(domain, example) || values.iter().any(|value| self.is_unread(*value));
        let mut found = match open {
            _ if self.runs_as_recorded() => ForBackend::LeavesAlone,
            OpenCall::Begins => ForBackend::LeavesAlone,
            OpenCall::Works if has_numbers() => ForBackend::LeavesAlone,
            OpenCall::None if !self.state.numbers.becomes_tensor && holds_float(args, keywords) => {
                ForBackend::LeavesAlone
            }
            OpenCall::Works | OpenCall::None => domain.for_backend(target, args, keywords),
        };
        for value in values {
            let class = self.class_of(value)?;
            if self.domain_of(&class).is_some_and(|other| other.name() != domain.name()) {
                found = ForBackend::LeavesAlone;
            }
        }
        match found == ForBackend::LeavesAlone && domain.belongs_together(self.py) {
            true => unsupported("call that compiled code would not make", callee::name_of(target)),
            false => Ok(found),
        }
    }

    /// Whether a function is being called whose numbers a backend would compute otherwise.
    pub(crate) fn runs_as_recorded(&self) -> bool {
        let runs = |place: &FramePosition| {
            let function = place.function.bind(self.py);
            self.state.domains.iter().any(|domain| domain.runs_as_recorded(function))
        };
        self.state.places.iter().any(runs)
    }

    /// Whether contents decide sizes, or numbers, that a call works on, or that it gives: of the latter, whether they do so first here. A
    /// call that works on such may raise.
    fn open_call(
        &mut self,
        domain: &Arc<dyn Domain>,
        args: &[Operand<'py>],
        keywords: &[(String, Operand<'py>)],
        example: &Bound<'py, PyAny>,
        (target, is_there): (&Bound<'py, PyAny>, bool),
    ) -> Traced<OpenCall> {
        if self.works_on_numbers(target) {
            return Ok(OpenCall::Works);
        }
        let all = || args.iter().chain(keywords.iter().map(|(_, value)| value));
        match self.are_open(all()) {
            true if !self.state.final_changes.is_empty() && !is_there && self.have_open_sizes(all()) => {
                self.break_after_final_changes()
            }
            true => Ok(OpenCall::Works),
            false if domain.is_open(example) => Ok(OpenCall::Begins),
            false => Ok(OpenCall::None),
        }
    }

    pub(crate) fn record(
        &mut self,
        domain: &Arc<dyn Domain>,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        keywords: &[(String, Operand<'py>)],
        example: Bound<'py, PyAny>,
    ) -> Traced<ValueId> {
        if self.has_set_for("_warnings") && !domain.never_warns(&target, args) {
            // The graph runs before the effects.
            return unsupported("operation that may warn", "after a change of the filters of warnings");
        }
        if domain.context_variable().is_some_and(|variable| self.has_set_variable(variable.bind(self.py))) {
            return unsupported("operation that reads a context variable", "which the trace has set");
        }
        self.note_history_below(domain, args.iter().chain(keywords.iter().map(|(_, value)| value)));
        self.refuse_program_after_draw(domain, &target)?;
        let has_kernel = self.state.final_changes.is_empty() || domain.has_kernel(&target, args, keywords);
        let is_there = !self.state.final_changes.is_empty()
            && has_kernel
            && self.chooses_what_is_there(domain, &target, args, keywords)?;
        let open = self.open_call(domain, args, keywords, &example, (&target, is_there))?;
        self.refuse_open(open)?;
        let backend = self.for_backend(domain, &target, args, keywords, (open, &example))?;
        let mut arguments = Vec::with_capacity(args.len());
        for arg in args {
            arguments.push(self.argument(arg)?);
        }
        let mut kwargs = Vec::with_capacity(keywords.len());
        for (name, arg) in keywords {
            kwargs.push((name.clone(), self.argument(arg)?));
        }
        let effects = domain.call_effects(&target, args);
        // Whatever an integer chooses is as large.
        let is_chosen = open != OpenCall::None && domain.chosen_among(&target, args).is_some();
        let base = match callee::name_of(&target) {
            name if name.is_empty() => "call".to_owned(),
            name => name.into_owned(),
        };
        let is_absent = |(_, value): &(String, Operand<'py>)| matches!(value, Operand::Known(value) if value.is_none());
        let is_sure =
            (effects.is_sure && keywords.iter().all(is_absent) || is_there) && self.state.numbers.layouts.is_empty();
        let node = Node {
            name: base,
            op: NodeOp::CallFunction,
            target: Some(target.unbind()),
            args: arguments,
            kwargs,
            meta: domain.describe(&example),
            domain: domain.name(),
            sizes: None,
            origin: self.origin(),
            backend,
        };
        self.refuse_fragile(domain, &node)?;
        if !is_sure {
            self.refuse_late_failure(&node, has_kernel)?;
        }
        self.refuse_waiting(&node)?;
        let node = self.node(node);
        let kind = domain.class_of(&example);
        if open != OpenCall::None {
            let has_open_sizes = || self.have_open_sizes(args.iter().chain(keywords.iter().map(|(_, value)| value)));
            let of = match domain.is_open(&example) {
                true if kind.is(self.py.get_type::<PyFloat>()) => Open::Float,
                true => Open::All,
                false if !is_chosen && has_open_sizes() => Open::All,
                false => Open::Contents,
            };
            self.note_open(node, open, of);
        }
        if is_sure {
            self.state.sure_nodes.insert(node);
        }
        if effects.copies {
            self.state.copies.insert(node);
        }
        Ok(self.push(Value::Node { node, kind: kind.into_any().unbind(), example: example.unbind() }))
    }

    /// A sequence of the same class as the example, of the items of what a node gives, some of which may be operands themselves.
    pub(crate) fn record_parts(
        &mut self,
        domain: &Arc<dyn Domain>,
        whole: ValueId,
        example: &Bound<'py, PyAny>,
        (getitem, itself): (&Bound<'py, PyAny>, &[Option<ValueId>]),
        mut layouts: std::vec::IntoIter<SymbolicLayout>,
    ) -> Traced<ValueId> {
        let mut natives = Vec::new();
        for (index, part) in example.try_iter().into_iter().flatten().flatten().enumerate() {
            if part.is_none() || part.is_exact_instance_of::<PyInt>() {
                natives.push(part);
                continue;
            }
            if let Some(Some(operand)) = itself.get(index) {
                layouts.next();
                natives.push(self.stored(*operand)?);
                continue;
            }
            let index = index.into_pyobject(self.py).map(Bound::into_any).unwrap_or_else(|never| match never {});
            let args = [Operand::Graph { value: whole, example: example.clone(), layout: None }, Operand::Known(index)];
            let item = self.record(domain, getitem.clone(), &args, &[], part.clone())?;
            if part.is_exact_instance_of::<PyList>() {
                let items = self.record_parts(domain, item, &part, (getitem, &[]), Vec::new().into_iter())?;
                natives.push(self.stored(items)?);
                continue;
            }
            self.keep_layout(item, layouts.next());
            natives.push(self.stored(item)?);
        }
        if self.is_size_tuple(example) {
            return self.sequence_like(example, natives);
        }
        let items = PyTuple::new(self.py, natives);
        let made = items.and_then(|items| match example.is_exact_instance_of::<PyTuple>() {
            true => Ok(items.into_any()),
            false => example.get_type().call1((items,)),
        });
        let made = made.or_else(|error| self.raise_error(error))?;
        Ok(self.own(made))
    }

    pub(crate) fn origin(&self) -> Origin {
        let place = self.state.places.last();
        Origin {
            file: place.map_or_else(|| "".into(), |place| Arc::clone(&place.file)),
            line: place.map_or(0, |place| place.line),
            outer: self.state.places.first().map_or(0, |place| place.line),
            route: self.state.route.clone(),
            modules: self.state.called_modules.iter().map(|(module, _)| Arc::clone(module)).collect(),
        }
    }

    pub(crate) fn node(&mut self, mut node: Node) -> NodeId {
        let count = self.state.names.entry(node.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            node.name = format!("{}_{}", node.name, *count - 1);
        }
        let id = NodeId(self.state.graph.nodes.len() as u32);
        self.state.graph.nodes.push(node);
        id
    }
}

/// Whether an operand is a float that may be another one at another call.
fn holds_float(args: &[Operand<'_>], keywords: &[(String, Operand<'_>)]) -> bool {
    fn is(operand: &Operand<'_>) -> bool {
        match operand {
            Operand::Number { hint, .. } => hint.is_exact_instance_of::<PyFloat>(),
            Operand::Tuple(items) | Operand::List(items) => items.iter().any(is),
            _ => false,
        }
    }
    args.iter().chain(keywords.iter().map(|(_, value)| value)).any(is)
}

//! Calls that the graph makes as a whole, of functions that call others: the trace goes through those others to learn what they read, and
//! that they change nothing outside; what it records on the way is dropped, and the graph calls the function itself.
use crate::domain::{Callee, Domain, ModeChange, Operand, Rehearsal};
use crate::graph::{NodeId, NodeOp};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

const WHOLE: &str = "function that calls others and is no node of the graph";

impl<'py> Tracer<'py> {
    /// The result of a call that the graph makes as a whole; `None`: it is another call.
    pub(crate) fn call_rehearsed(&mut self, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some(object) = self.real(callable) else { return Ok(None) };
        let found = self.state.domains.iter().find_map(|domain| Some((Arc::clone(domain), domain.rehearsal(&object)?)));
        let Some((domain, rehearsal)) = found else { return Ok(None) };
        let Some(object) = self.known(callable).or_else(|| self.same_object(callable)) else {
            return unsupported(WHOLE, "it is not known");
        };
        match rehearsal {
            Rehearsal::Gradient { forward, set_up, context, off, back } => {
                self.call_gradient(&domain, object, (forward, set_up, context), (off, back), args).map(Some)
            }
            Rehearsal::Call { caller, options } => self.call_caller(&domain, object, &caller, options, args).map(Some),
        }
    }

    /// `forward(ctx, *args)`, or `forward(*args)` and `setup_context(ctx, args, result)`, without gradients.
    fn call_gradient(
        &mut self,
        domain: &Arc<dyn Domain>,
        apply: Bound<'py, PyAny>,
        (forward, set_up, context): (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Bound<'py, PyAny>),
        (off, back): (Box<ModeChange<'py>>, Box<ModeChange<'py>>),
        args: &Arguments,
    ) -> Traced<ValueId> {
        self.refuse_containers(args)?;
        let (context, forward) = (self.absorb_static(context), self.absorb_static(forward));
        let set_up = set_up.map(|set_up| self.absorb_static(set_up));
        self.rehearse(|tracer| {
            let mut needs = Vec::new();
            for arg in &args.positional {
                needs.push(tracer.needs_gradients(*arg)?);
            }
            let needs = PyTuple::new(tracer.py, needs).or_else(|error| internal(error.to_string()))?;
            let needs = tracer.constant(needs.into_any());
            tracer.switch(domain, *off)?;
            let context = tracer.call(context, Arguments::positional(vec![needs]))?;
            let mut given = args.clone();
            if set_up.is_none() {
                given.positional.insert(0, context);
            }
            let result = tracer.call(forward, given)?;
            if let Some(set_up) = set_up {
                let inputs = tracer.tuple(&args.positional)?;
                tracer.call(set_up, Arguments::positional(vec![context, inputs, result]))?;
            }
            tracer.switch(domain, *back)
        })?;
        self.call_domain(domain, Callee::Function(apply), &args.positional, &args.keywords)
    }

    /// `function(called, *args, **options)`, which gives what `called(*args)` gives.
    fn call_caller(
        &mut self,
        domain: &Arc<dyn Domain>,
        function: Bound<'py, PyAny>,
        caller: &Bound<'py, PyAny>,
        options: &[&str],
        args: &Arguments,
    ) -> Traced<ValueId> {
        let Some((called, rest)) = args.positional.split_first() else { return unsupported(WHOLE, "it calls nothing") };
        if args.keywords.iter().any(|(name, _)| !options.contains(&name.as_str())) {
            return unsupported(WHOLE, "it is called with an option that changes what it calls");
        }
        let given = Arguments::positional(rest.to_vec());
        self.refuse_containers(&given)?;
        let Some(object) = self.callee_outside(*called) else {
            return unsupported(WHOLE, "what it calls was made during the trace");
        };
        let result = self.rehearse(|tracer| tracer.call(*called, given))?;
        let Some(example) = self.example_of(result) else {
            return unsupported(WHOLE, "it gives other things than new tensors");
        };
        let target = caller.call1((function, object)).or_else(|error| internal(error.to_string()))?;
        let (operands, named) = (self.operands_of(rest, false)?, self.named_operands(&args.keywords, false)?);
        let Some(answer) = domain.rehearsed(target, &operands, &named, example) else {
            return unsupported(WHOLE, "what it gives depends on how it is called");
        };
        if !self.state.numbers.shapes.is_empty() {
            return self.fix_sizes(self.state.numbers.shapes.keys().copied().collect());
        }
        self.take_answer(domain, answer, Vec::new())
    }

    /// Goes through calls, and drops what they have recorded; breaks where they, or the trace before, have changed something outside.
    fn rehearse<T>(&mut self, run: impl FnOnce(&mut Self) -> Traced<T>) -> Traced<T> {
        let before = self.state.graph.nodes.len();
        self.refuse_changes()?;
        let result = run(self).inspect_err(|signal| {
            // It runs natively as a whole.
            if matches!(signal, Unwind::Break(_)) {
                self.state.broken_frames.clear();
            }
        });
        let result = result?;
        self.refuse_changes()?;
        let recorded = self.state.graph.nodes.iter().enumerate().skip(before);
        let dropped = recorded.filter(|(_, node)| node.op == NodeOp::CallFunction);
        let dropped: Vec<_> = dropped.map(|(index, _)| NodeId(index as u32)).collect();
        self.state.dropped_nodes.extend(dropped);
        let state = &mut *self.state;
        state.numbers.nodes.retain(|_, node| !state.dropped_nodes.contains(node));
        state.numbers.nodes_of.retain(|_, node| !state.dropped_nodes.contains(node));
        state.changed_nodes.retain(|_, node| !state.dropped_nodes.contains(node));
        state.changed_by_graph.retain(|node| !state.dropped_nodes.contains(node));
        Ok(result)
    }

    /// What runs natively within the graph runs before the changes that compiled code replays.
    fn refuse_changes(&self) -> Traced<()> {
        let copies = || self.state.private_copies.iter().any(|copy| copy.is_changed(self.py));
        match self.state.effects.is_empty() && !copies() {
            true => Ok(()),
            false => unsupported(WHOLE, "what it calls may see changes that compiled code makes later"),
        }
    }

    /// Containers that the called function could change are other ones at each call.
    fn refuse_containers(&mut self, args: &Arguments) -> Traced<()> {
        for value in args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)) {
            match self.operand_of(*value, false)? {
                Operand::Graph { .. } | Operand::Known(_) => {}
                _ => return unsupported(WHOLE, "an argument is neither a tensor nor a plain value"),
            }
        }
        Ok(())
    }

    fn needs_gradients(&mut self, value: ValueId) -> Traced<bool> {
        let Operand::Graph { example, .. } = self.operand_of(value, false)? else { return Ok(false) };
        Ok(example.getattr("requires_grad").and_then(|needs| needs.is_truthy()).unwrap_or(false))
    }

    /// A function, a method or an object from outside, which calls at each call.
    fn callee_outside(&mut self, called: ValueId) -> Option<Bound<'py, PyAny>> {
        if let Value::New(New::Method { function, receiver }) = self.value(called) {
            let (function, receiver) = (*function, *receiver);
            self.real(function).and(self.real(receiver))?;
            let (function, receiver) = (self.known(function)?, self.same_object(receiver)?);
            return function.call_method1("__get__", (receiver,)).ok();
        }
        self.real(called)?;
        self.known(called).or_else(|| self.same_object(called))
    }

    /// What stands for a result: a tensor, or a tuple of such, that the calls have made.
    fn example_of(&mut self, result: ValueId) -> Option<Bound<'py, PyAny>> {
        let dropped = |tracer: &Self, value: ValueId| match tracer.value(value) {
            Value::Node { node, example, .. } if tracer.state.dropped_nodes.contains(node) => {
                Some(example.bind(tracer.py).clone())
            }
            _ => None,
        };
        if let Some(example) = dropped(self, result) {
            return Some(example);
        }
        let items = self.owned(result)?.cast_into_exact::<PyTuple>().ok()?;
        let mut examples = Vec::new();
        for item in items {
            let value = self.absorb(item);
            examples.push(dropped(self, value)?);
        }
        PyTuple::new(self.py, examples).ok().map(Bound::into_any)
    }
}

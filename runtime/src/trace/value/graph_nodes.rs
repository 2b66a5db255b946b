//! Records operations of a domain as nodes of the graph.
use crate::domain::{
    Answer, AnsweredOperation, Callee, Domain, Gives, GlobalStateGuard, HistoryUse, NumberUse, Operand,
};
use crate::ffi::types;
use crate::graph::{Argument, ForBackend, Node, NodeId, NodeOp};
use crate::graph_break::GETS_READY;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::symbol::SymbolicLayout;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::reasons::SURROUNDINGS;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Lets a domain perform an operation.
    pub(crate) fn call_domain(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: Callee<'py>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<ValueId> {
        let (positional, named);
        let (mut args, mut keywords) = (args, keywords);
        if domain.use_of_history(&callee, &[], &[]) != HistoryUse::None {
            if let Some(result) = self.call_by_name(domain, &callee, args, keywords)? {
                return Ok(result);
            }
            (positional, named) = self.listed(args, keywords)?;
            (args, keywords) = (&positional, &named);
        }
        for arg in args.iter().chain(keywords.iter().map(|(_, value)| value)) {
            // What is symbolic of an array is known with its guard.
            self.class_of(*arg)?;
        }
        if keywords.is_empty()
            && let Some(function) = self.function_of(&callee, args)?
            && let Some(result) = self.call_after_graph(&function, &Arguments::positional(args.to_vec()))?
        {
            return Ok(result);
        }
        if let Some(result) = self.step_modes(domain, &callee, args)? {
            return Ok(result);
        }
        if let Some(result) = self.call_of_mode(domain, &callee, args, keywords)? {
            return Ok(result);
        }
        if let Some(result) = self.call_taken_over(domain, &callee, args, keywords)? {
            return Ok(result);
        }
        if let Some(result) = self.call_dispatched(domain, &callee, args, keywords)? {
            return Ok(result);
        }
        if keywords.is_empty()
            && let Some(known) = self.call_on_whole_choice(domain, &callee, args, true)?
        {
            return Ok(known);
        }
        if let Some(answer) = self.size_question(&callee, args)? {
            return Ok(answer);
        }
        if keywords.is_empty()
            && let Some(answer) = self.function_of_sizes(&**domain, &callee, args)?
        {
            return Ok(answer);
        }
        let with_tensor = if keywords.is_empty() { self.with_scalar_tensors(domain, &callee, args)? } else { None };
        let args = with_tensor.as_deref().unwrap_or(args);
        let use_of_numbers = domain.use_of_numbers(&callee);
        let in_contents = use_of_numbers != NumberUse::Other;
        let takes_sizes = domain.takes_sizes(&callee);
        // The graph so far is asked with floats as they are in this call.
        let by_graph = || domain.asks_graph_for_sizes(self.py, &callee);
        let numbers = match (in_contents, takes_sizes) {
            (true, _) if use_of_numbers == NumberUse::Classes => TakenNumbers::Classes,
            (true, _) if use_of_numbers == NumberUse::Floats => TakenNumbers::Floats,
            (true, _) => TakenNumbers::All,
            (false, true) if !by_graph() => TakenNumbers::Ruled,
            (false, true) => TakenNumbers::OpenIntegers,
            (false, false) if domain.takes_open_sizes(&callee) => TakenNumbers::OpenIntegers,
            (false, false) if domain.may_take_sizes(&callee) && !by_graph() => TakenNumbers::Asked,
            (false, false) if domain.may_take_sizes(&callee) => TakenNumbers::Integers,
            (false, _) => TakenNumbers::None,
        };
        let is_early = use_of_numbers == NumberUse::Array && self.is_made_early(domain, args, keywords);
        let mut operands = self.operands_made_early(args, numbers, is_early)?;
        let mut named = self.named_operands(keywords, numbers)?;
        // Before the trace itself changes some.
        self.rely_on_surroundings(domain)?;
        self.state.dispatched.takes_wrappers = false;
        let uses = domain.use_of_history(&callee, &operands, &named);
        let looked_at = operands.iter_mut().chain(named.iter_mut().map(|(_, value)| value));
        self.recall_history(domain, uses, looked_at)?;
        let all = || operands.iter().chain(named.iter().map(|(_, value)| value));
        let py = self.py;
        let (answer, heard) = self.hearing_warnings(|| domain.call(py, &callee, &operands, &named));
        let answer = match answer {
            Ok(answer) => answer,
            // It may take numbers that are known.
            Err(_) if !takes_sizes && !in_contents && all().any(Operand::has_numbers) => {
                return self.fix_operands(&callee, &operands, &named);
            }
            Err(reason) if reason.kind == GETS_READY => return self.wait_until_ready(Err(Unwind::Break(reason))),
            Err(reason) => {
                if keywords.is_empty()
                    && let Some(known) = self.call_on_whole_choice(domain, &callee, args, false)?
                {
                    return Ok(known);
                }
                return Err(self.break_at_open(reason, &all().collect::<Vec<_>>()));
            }
        };
        self.settle_warnings(&**domain, &answer, &heard)?;
        if let Some(known) = self.known_address(domain, &answer)? {
            return Ok(known);
        }
        let answer = self.with_layout_asked(&**domain, answer);
        let symbolic = all().any(Operand::has_symbolic_sizes)
            || !in_contents && all().any(Operand::has_numbers)
            || self.hides_sizes(&**domain, &callee, &answer);
        let layouts = match symbolic {
            true => {
                let (py, args, kwargs) = (self.py, &operands[..], &named[..]);
                let changing = &self.state.numbers.changing;
                let is_worthwhile = self.state.backend || changing.arguments || changing.again;
                let (callee, answer, graph) = (&callee, &answer, None);
                let operation = AnsweredOperation { py, callee, args, kwargs, answer, is_worthwhile, graph };
                self.layouts_of(domain, operation)?
            }
            false => Vec::new(),
        };
        let argument = match &answer {
            Answer::Change { gives: Gives::Argument(place), .. } => args.get(*place).copied(),
            _ => None,
        };
        let taken = self.take_answer(domain, answer, layouts)?;
        if is_early {
            self.make_early(taken)?;
        }
        Ok(argument.unwrap_or(taken))
    }

    /// The answer, with the layout that the code says which will run, where it alone knows it. What that warns of it says when it runs.
    fn with_layout_asked(&mut self, domain: &dyn Domain, mut answer: Answer<'py>) -> Answer<'py> {
        let Some(question) = domain.layout_question(self.py, &answer) else { return answer };
        let (asked, _) = self.hearing_warnings(question);
        if let (Some(asked), Answer::Node { example, .. } | Answer::Parts { example, .. }) = (asked, &mut answer) {
            *example = asked;
        }
        answer
    }

    /// The callable that is called.
    fn function_of(&mut self, callee: &Callee<'py>, args: &[ValueId]) -> Traced<Option<Bound<'py, PyAny>>> {
        match (callee, args.first()) {
            (Callee::Function(function), _) => Ok(Some(function.clone())),
            (Callee::Method(name), Some(receiver)) => {
                let class = self.class_of(*receiver)?;
                Ok(self.lookup(&class, name))
            }
            _ => Ok(None),
        }
    }

    /// The operands that values are; `numbers`: symbolic ones are taken as such.
    pub(crate) fn operands_of(&mut self, values: &[ValueId], numbers: TakenNumbers) -> Traced<Vec<Operand<'py>>> {
        let mut operands = Vec::with_capacity(values.len());
        for value in values {
            operands.push(self.operand_of(*value, numbers)?);
        }
        Ok(operands)
    }

    /// The same with names.
    pub(crate) fn named_operands(
        &mut self,
        values: &[(String, ValueId)],
        numbers: TakenNumbers,
    ) -> Traced<Vec<(String, Operand<'py>)>> {
        let mut operands = Vec::with_capacity(values.len());
        for (name, value) in values {
            operands.push((name.clone(), self.operand_of(*value, numbers)?));
        }
        Ok(operands)
    }

    /// What an operation gives, as its domain says; `layouts`: of what it gives, where sizes are symbolic.
    pub(crate) fn take_answer(
        &mut self,
        domain: &Arc<dyn Domain>,
        answer: Answer<'py>,
        layouts: Vec<SymbolicLayout>,
    ) -> Traced<ValueId> {
        let mut layouts = layouts.into_iter();
        match answer {
            Answer::Node { target, args, kwargs, example } => {
                let made = self.record(domain, target.clone(), &args, &kwargs, example)?;
                self.note_held(domain, (&target, &args, &kwargs), made);
                self.keep_layout(made, layouts.next());
                Ok(made)
            }
            Answer::Parts { target, args, kwargs, example, getitem, itself } => {
                let whole = self.record(domain, target, &args, &kwargs, example.clone())?;
                self.record_parts(domain, whole, &example, (&getitem, &itself), layouts)
            }
            change @ Answer::Change { gives, .. } => {
                let given = self.record_change(domain, change, None)?;
                if let Gives::Relaid(value) = gives {
                    self.state.numbers.layouts.remove(&value);
                    self.keep_layout(value, layouts.next());
                }
                Ok(given)
            }
            Answer::Both(change, made) => self.record_both(domain, *change, *made),
            Answer::Backward { target, args, kwargs } => self.record_backward(domain, target, &args, &kwargs),
            Answer::ModeChange(switch) => self.switch(domain, *switch),
            Answer::Same(value) => Ok(value),
            Answer::Constant(object) => Ok(self.told_by_library(object)),
            Answer::Guarded(function, args) => {
                let args = PyTuple::new(self.py, args).or_else(|error| self.raise_error(error))?;
                if self.is_switched(&function, &args) {
                    // What the trace itself has set is no state of the outside.
                    let answer = function.call1(&args).or_else(|error| self.raise_error(error))?;
                    return Ok(self.constant(answer));
                }
                match self.call_and_guard(&function, &args)? {
                    Some(answer) => Ok(answer),
                    None => unsupported("state of a library that is no plain value", domain.name()),
                }
            }
            Answer::NotImplemented => {
                let object = self.py.NotImplemented().into_bound(self.py);
                Ok(self.constant(object))
            }
            Answer::Raised(error) => self.raise_error(error),
        }
    }

    /// Guards, once, the modes under which a domain answers as it does.
    pub(crate) fn rely_on_surroundings(&mut self, domain: &Arc<dyn Domain>) -> Traced<()> {
        if self.state.guarded_domains.insert(domain.name()) {
            let GlobalStateGuard { object, check } = domain.global_state_guard(self.py).map_err(Unwind::Break)?;
            let source = Source::constant(object.bind(self.py));
            self.guard(source, Check::Domain(check), SURROUNDINGS);
            // What a backend makes of a graph may refuse tensors with tangents; the graph itself takes them.
            let levels = if self.state.backend { domain.variable_of_levels(self.py) } else { None };
            if let Some((namespace, name)) = levels
                && let Some(level) = self.in_globals(&namespace, name)
            {
                self.known(level);
            }
        }
        Ok(())
    }

    /// How a domain sees a value; `numbers`: it takes symbolic ones.
    pub(crate) fn operand_of(&mut self, id: ValueId, numbers: TakenNumbers) -> Traced<Operand<'py>> {
        let class = self.class_of(id)?;
        if let Some(number) = self.unread_operand(id, numbers)? {
            return Ok(number);
        }
        if let Some(number) = self.number_operand(id, numbers)? {
            return Ok(number);
        }
        if let Some(domain) = self.domain_of(&class) {
            self.refuse_wrapper(&domain, &class)?;
            let example = self.example(&domain, id)?;
            let layout = self.state.numbers.layouts.get(&id).cloned();
            return Ok(Operand::Graph { value: id, example, layout });
        }
        if let Some(object) = self.known(id) {
            return Ok(Operand::Known(object));
        }
        if let Some(object) = self.unchanging(id)? {
            return Ok(Operand::Known(object));
        }
        let native = match self.owned(id) {
            Some(object) => Some(object),
            None => self.private_copy(id)?,
        };
        let Some(native) = native else { return Ok(Operand::Foreign(class)) };
        if let Ok(tuple) = native.cast::<PyTuple>()
            && (native.is_exact_instance_of::<PyTuple>() || numbers != TakenNumbers::None && types::is_c_type(&class))
        {
            return self.operands(tuple.iter(), numbers).map(Operand::Tuple);
        }
        if let Ok(list) = native.cast_exact::<PyList>() {
            return self.operands(list.iter(), numbers).map(Operand::List);
        }
        if native.is_exact_instance_of::<PySlice>() {
            let mut bounds = Vec::new();
            for name in ["start", "stop", "step"] {
                let bound = native.getattr(name).or_else(|error| self.raise_error(error))?;
                let bound = self.absorb(bound);
                bounds.push(self.operand_of(bound, numbers)?);
            }
            if let Ok(bounds) = <[Operand<'py>; 3]>::try_from(bounds) {
                return Ok(Operand::Slice(Box::new(bounds)));
            }
        }
        Ok(Operand::Foreign(class))
    }

    fn operands(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        numbers: TakenNumbers,
    ) -> Traced<Vec<Operand<'py>>> {
        let mut operands = Vec::new();
        for item in items {
            let item = self.absorb(item);
            operands.push(self.operand_of(item, numbers)?);
        }
        Ok(operands)
    }

    pub(crate) fn argument(&mut self, operand: &Operand<'py>) -> Traced<Argument> {
        Ok(match operand {
            Operand::Graph { value, .. } | Operand::Number { value, .. } => Argument::Node(self.graph_node(*value)?),
            Operand::Known(object) => Argument::Constant(object.clone().unbind()),
            Operand::Tuple(items) => {
                Argument::Tuple(items.iter().map(|item| self.argument(item)).collect::<Traced<_>>()?)
            }
            Operand::List(items) => {
                Argument::List(items.iter().map(|item| self.argument(item)).collect::<Traced<_>>()?)
            }
            Operand::Slice(bounds) => {
                let mut parts = Vec::new();
                for bound in bounds.iter() {
                    match bound {
                        Operand::Known(_) | Operand::Number { .. } | Operand::Graph { .. } => {
                            parts.push(self.argument(bound)?);
                        }
                        _ => return unsupported("slice of unknown bounds", "graph argument"),
                    }
                }
                Argument::slice(self.py, parts).or_else(|error| self.raise_error(error))?
            }
            Operand::Foreign(class) => return unsupported("graph argument", types::name(class)),
        })
    }

    /// The node that computes a value of the domain; inputs become placeholders when first used.
    pub(crate) fn graph_node(&mut self, value: ValueId) -> Traced<NodeId> {
        if let Some(node) = self.state.changed_nodes.get(&value) {
            return Ok(*node);
        }
        match self.value(value) {
            Value::Node { node, .. } if self.state.dropped_nodes.contains(node) => {
                return unsupported(
                    "graph value made outside the graph",
                    "a result of what the graph calls as a whole",
                );
            }
            Value::Node { node, .. } => return Ok(*node),
            Value::Real { .. } => {}
            Value::New(New::Computed(_)) => return self.number_node(value),
            Value::New(New::Owned(_)) | Value::New(_) => {
                return unsupported("graph value made outside the graph", "argument");
            }
        }
        if let Some((node, _)) = self.state.inputs.iter().find(|(_, input)| *input == value) {
            return Ok(*node);
        }
        if self.is_symbolic(value)
            && let Some(node) = self.input_with_source(value)
        {
            return Ok(node);
        }
        let Some(object) = self.real(value) else { return unsupported("graph input", "no object") };
        let domain = self.domain_of(&object.get_type());
        let of_number = || types::name(&object.get_type());
        let meta = domain.as_ref().map_or_else(of_number, |domain| domain.describe(&object));
        let name = self.input_name(value);
        let node = self.node(Node {
            name,
            op: NodeOp::Placeholder,
            target: None,
            args: Vec::new(),
            kwargs: Vec::new(),
            meta,
            domain: domain.map_or("", |domain| domain.name()),
            sizes: self.sizes_of_input(value),
            origin: self.origin(),
            backend: ForBackend::default(),
        });
        self.state.inputs.push((node, value));
        Ok(node)
    }

    fn input_name(&self, value: ValueId) -> String {
        use crate::guard::source::Source;
        match self.source(value) {
            Some(Source::Local(slot)) => self
                .state
                .outer_code
                .as_ref()
                .and_then(|code| code.locals.get(slot as usize))
                .map(|local| local.name.clone())
                .unwrap_or_else(|| format!("arg{slot}")),
            Some(source @ Source::Size(..)) => match self.state.numbers.symbols.get(&source) {
                Some(symbol) => format!("s{}", symbol.0),
                None => "size".to_owned(),
            },
            Some(Source::Global(name)) => format!("g_{name}"),
            Some(Source::Attr(_, name) | Source::OwnAttr(_, name)) => name.to_string(),
            _ => "input".to_owned(),
        }
    }
}

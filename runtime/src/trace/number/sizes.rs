//! Arrays whose sizes are symbolic: which sizes are, what programs ask of them, what operations make of them.
use crate::domain::{Answer, AnsweredOperation, Callee, Domain, Gives, Operand, SizeMark};
use crate::ffi::libtorch::Quiet;
use crate::ffi::slot_call::{Signature, call};
use crate::ffi::{callee, types};
use crate::guard::DomainCheck;
use crate::guard::source::Source;
use crate::names::{Name, name};
use crate::symbol::{Comparison, ExpressionId, Number, Operation, Relation, SizeArithmetic, Split, SymbolicLayout};
use crate::trace::state::computed_number::{Computation, ComputedNumber};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal};
use crate::trace::state::value::{New, Value, ValueId};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple, PyType};
use std::sync::Arc;

/// Whether a function of C counts elements, as the method does.
fn is_numel(function: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&function.get_type(), "builtin_function_or_method") && callee::name_of(function) == "numel"
}

/// A size of an object from outside.
struct SizeFromOutside {
    /// Where it is symbolic: its path.
    path: Option<Source>,
    /// What it is in this call.
    now: i64,
    /// What the program says of it.
    mark: Option<SizeMark>,
}

impl<'py> Tracer<'py> {
    /// The guard on an object of a domain; sizes that have changed are left open by it, and are symbolic.
    pub(crate) fn domain_check(
        &mut self,
        domain: &Arc<dyn Domain>,
        value: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Traced<Box<dyn DomainCheck>> {
        if let Some(source) = self.source(value)
            && let Some(open) = self.open_sizes(domain, object, source)
            && let Some(known) = domain.layout_of(object)
            && let plan = known.plan()
            && let Some(check) =
                domain.guard_sizes(object, &open.iter().map(|size| size.path.is_some()).collect::<Vec<_>>(), &plan)
        {
            let mut sizes = Vec::new();
            for size in open {
                sizes.push(match size.path {
                    Some(path) => self.size_input(path, size.now, size.mark)?,
                    None => self.size_constant(size.now),
                });
            }
            if let Some(strides) = self.state.numbers.expressions.planned_strides(&known, &sizes) {
                let layout = SymbolicLayout { sizes: sizes.into(), strides };
                self.state.numbers.layouts.insert(value, Arc::new(layout));
                return Ok(check);
            }
        }
        domain.guard(object).map_err(Unwind::Break)
    }

    fn size_constant(&mut self, size: i64) -> ExpressionId {
        self.state.numbers.expressions.constant(Number::Integer(size))
    }

    /// The sizes of an object from outside, where some are symbolic: marked so, or seen to change.
    fn open_sizes(
        &self,
        domain: &Arc<dyn Domain>,
        object: &Bound<'py, PyAny>,
        source: Source,
    ) -> Option<Vec<SizeFromOutside>> {
        let marks = domain.size_marks(object);
        if self.state.numbers.all_known || marks.is_empty() && !self.state.numbers.any_changes() {
            return None;
        }
        let base = Arc::new(source);
        let sizes = domain.layout_of(object)?.sizes.into_iter().enumerate().map(|(index, now)| {
            let path = Source::Size(Arc::clone(&base), index);
            let mut own = marks.iter().filter(|(marked, _)| *marked == index).map(|(_, mark)| *mark);
            let mark = own.clone().find(|mark| *mark == SizeMark::Constant).or_else(|| own.next());
            let open = match mark {
                Some(mark) => mark.admits(now) && !self.state.numbers.fixed.contains_key(&path.key()),
                None => self.state.numbers.is_changing_size(&path),
            };
            SizeFromOutside { path: (open && now >= 2).then_some(path), now, mark }
        });
        let sizes: Vec<_> = sizes.collect();
        sizes.iter().any(|size| size.path.is_some()).then_some(sizes)
    }

    fn size_input(&mut self, path: Source, size: i64, mark: Option<SizeMark>) -> Traced<ExpressionId> {
        let object = PyInt::new(self.py, size).into_any();
        let Some(input) = self.input_of(path, &object)? else { return internal("a size that is no number") };
        if let Some(symbol) = self.state.numbers.expressions.inputs(input).first() {
            self.state.numbers.expressions.bound(*symbol, 2);
        }
        if let Some(SizeMark::Symbolic { least, most }) = mark {
            for (comparison, bound) in [(Comparison::GreaterOrEqual, least), (Comparison::LessOrEqual, most)] {
                let Some(bound) = bound else { continue };
                let right = self.state.numbers.expressions.constant(Number::Integer(bound));
                self.relation_truth(Relation { comparison, left: input, right }, "the program marks the size so");
            }
        }
        Ok(input)
    }

    /// The value of an expression, computed from what comes in.
    pub(crate) fn number_value(&mut self, expression: ExpressionId) -> Traced<ValueId> {
        match self.state.numbers.expressions.split(expression) {
            Split::Constant(number) => {
                let number = self.number_object(number);
                Ok(self.constant(number))
            }
            Split::Input(symbol) => {
                let Some((source, hint)) = self.state.numbers.inputs.get(symbol.0 as usize).cloned() else {
                    return internal("a size that does not come in");
                };
                let object = self.number_object(hint).unbind();
                let value = self.push(Value::Real { object, source: Some(source) });
                // The guard on the array says so.
                self.state.guard_requests.insert(value, GuardRequest::TYPE | GuardRequest::CLASS);
                Ok(value)
            }
            Split::Applied(operation, parts) => {
                let mut operands = Vec::with_capacity(parts.len());
                for part in parts {
                    operands.push(self.number_value(part)?);
                }
                self.computed_number(operation, operands, expression)
            }
        }
    }

    fn number_object(&self, number: Number) -> Bound<'py, PyAny> {
        match number {
            Number::Integer(number) => PyInt::new(self.py, number).into_any(),
            Number::Float(number) => PyFloat::new(self.py, number).into_any(),
        }
    }

    fn computed_number(
        &mut self,
        operation: Operation,
        operands: Vec<ValueId>,
        expression: ExpressionId,
    ) -> Traced<ValueId> {
        let Some(hint) = self.state.numbers.hint(expression) else {
            return internal("a size without a number");
        };
        let hint = self.number_object(hint).unbind();
        let computation = Computation::Operation(operation);
        let computed = ComputedNumber { computation, operands: operands.into(), hint, expression: Some(expression) };
        Ok(self.push(Value::New(New::Computed(computed))))
    }

    /// What a program asks of an array whose sizes are symbolic, where the answer says them; `None`: it does not, or another array.
    pub(crate) fn size_question(&mut self, callee: &Callee<'py>, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some((first, rest)) = args.split_first() else { return Ok(None) };
        let Some(layout) = self.state.numbers.layouts.get(first).cloned() else { return Ok(None) };
        let name = match callee {
            Callee::GetAttr(name) | Callee::Method(name) => name.as_str(),
            Callee::Slot("mp_length" | "sq_length") => "__len__",
            Callee::Function(function) if is_numel(function) => "numel",
            _ => return Ok(None),
        };
        match (name, rest) {
            ("shape" | "size", []) => self.size_tuple(*first, &layout.sizes).map(Some),
            ("stride", []) => {
                let strides = self.size_objects(&layout.strides)?;
                let made = PyTuple::new(self.py, strides).or_else(|error| internal(error.to_string()))?;
                Ok(Some(self.own(made.into_any())))
            }
            ("size", [index]) => self.size_at(&layout.sizes, *index),
            ("stride", [index]) => self.size_at(&layout.strides, *index),
            ("__len__", []) => layout.sizes.first().map(|size| self.number_value(*size)).transpose(),
            ("numel" | "nelement", []) => self.elements(1, &layout),
            ("nbytes", []) => {
                let dtype = self.told_by_example(*first, name!("dtype"))?;
                match dtype.getattr(name!("itemsize")).and_then(|length| length.extract()) {
                    Ok(length) => self.elements(length, &layout),
                    Err(_) => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// The number of elements, each of which counts so much; `None`: there may be more than a number can say.
    fn elements(&mut self, each: i64, layout: &SymbolicLayout) -> Traced<Option<ValueId>> {
        let each = self.size_constant(each);
        let product = layout.sizes.iter().try_fold(each, |product, size| {
            self.state.numbers.expressions.apply(Operation::Multiply, &[product, *size])
        });
        product.map(|product| self.number_value(product)).transpose()
    }

    /// The size, or stride, of a dimension that a known index names.
    fn size_at(&mut self, sizes: &[ExpressionId], index: ValueId) -> Traced<Option<ValueId>> {
        let index = self.known(index).and_then(|index| index.extract::<isize>().ok());
        let wrapped = index.map(|index| if index < 0 { index + sizes.len() as isize } else { index });
        let size = wrapped.and_then(|index| usize::try_from(index).ok()).and_then(|index| sizes.get(index));
        size.map(|size| self.number_value(*size)).transpose()
    }

    fn size_objects(&mut self, sizes: &[ExpressionId]) -> Traced<Vec<Bound<'py, PyAny>>> {
        let mut items = Vec::with_capacity(sizes.len());
        for size in sizes {
            let value = self.number_value(*size)?;
            items.push(self.stored(value)?);
        }
        Ok(items)
    }

    /// All sizes, as an object of the class that the library has for them.
    fn size_tuple(&mut self, array: ValueId, sizes: &[ExpressionId]) -> Traced<ValueId> {
        let items = self.size_objects(sizes)?;
        let sizes = self.told_by_example(array, name!("shape"))?;
        self.sequence_like(&sizes, items)
    }

    /// What a slot gives on a tuple of sizes of which some are symbolic: what `tuple` gives, as an object of the same class, whose own
    /// function wants numbers that are known.
    pub(crate) fn part_of_sizes(&mut self, slot: Slot, natives: &[Bound<'py, PyAny>]) -> Traced<Option<ValueId>> {
        let plain = match slot {
            Slot::mp_subscript => slot,
            Slot::nb_add | Slot::sq_concat => Slot::sq_concat,
            _ => return Ok(None),
        };
        let [left, right] = natives else { return Ok(None) };
        if !self.state.numbers.in_containers {
            return Ok(None);
        }
        let sizes = [left, right].into_iter().find(|native| self.is_size_tuple(native)).cloned();
        let Some(sizes) = sizes else { return Ok(None) };
        let fits = match plain {
            Slot::mp_subscript => sizes.is(left) && self.holds_number(left, 1),
            _ => self.are_sizes(left) && self.are_sizes(right) && natives.iter().any(|one| self.holds_number(one, 1)),
        };
        if !fits {
            return Ok(None);
        }
        let tuple = self.py.get_type::<PyTuple>();
        let pointer = types::slot_pointer(&tuple, plain.suite(), plain.offset()).unwrap_or(0);
        let result = self.with_callbacks(|| call(pointer, natives, Signature::Binary));
        let part = self.after_native(result, natives)?;
        // A part that holds no symbolic size is a constant.
        let made = match self.value(part) {
            Value::Real { object, source: None } => Some(object.bind(self.py).clone()),
            _ => self.owned(part),
        };
        match made.and_then(|part| part.cast_into_exact::<PyTuple>().ok()) {
            Some(items) => self.sequence_like(&sizes, items.iter().collect()).map(Some),
            None => Ok(Some(part)),
        }
    }

    pub(crate) fn is_size_tuple(&self, object: &Bound<'py, PyAny>) -> bool {
        let class = object.get_type();
        self.state.domains.iter().any(|domain| domain.is_size_tuple(&class))
    }

    /// Whether a tuple holds integers alone, some of which may be symbolic: what becomes sizes as it is.
    fn are_sizes(&self, object: &Bound<'py, PyAny>) -> bool {
        let plain = object.is_exact_instance_of::<PyTuple>() || self.is_size_tuple(object);
        plain && object.cast::<PyTuple>().is_ok_and(|items| items.iter().all(|item| self.is_size(&item)))
    }

    pub(super) fn is_size(&self, item: &Bound<'py, PyAny>) -> bool {
        item.is_exact_instance_of::<PyInt>() || self.is_symbolic_integer(item)
    }

    fn is_symbolic_integer(&self, object: &Bound<'py, PyAny>) -> bool {
        let value = self.value_of_proxy(object).filter(|value| self.is_symbolic(*value));
        value.is_some_and(|value| match self.value(value) {
            Value::New(New::Computed(computed)) => computed.hint.bind(self.py).is_exact_instance_of::<PyInt>(),
            Value::Real { object, .. } => object.bind(self.py).is_exact_instance_of::<PyInt>(),
            _ => false,
        })
    }

    /// A tuple of a derived class, past a constructor that wants numbers that are known.
    pub(crate) fn sequence_like(&mut self, like: &Bound<'py, PyAny>, items: Vec<Bound<'py, PyAny>>) -> Traced<ValueId> {
        self.sequence_of(&like.get_type(), items)
    }

    pub(super) fn sequence_of(&mut self, class: &Bound<'py, PyType>, items: Vec<Bound<'py, PyAny>>) -> Traced<ValueId> {
        let made = types::tuple_of(class, items);
        let made = made.or_else(|error| internal(error.to_string()))?;
        Ok(self.own(made))
    }

    /// What an array says of itself, in this call.
    fn told_by_example(&self, array: ValueId, attribute: &'static Name) -> Traced<Bound<'py, PyAny>> {
        let object = match self.value(array) {
            Value::Node { example, .. } => Some(example.bind(self.py).clone()),
            _ => self.real(array),
        };
        let _quiet = Quiet::about(&object);
        let told = object.as_ref().and_then(|object| object.getattr(attribute).ok());
        told.map_or_else(|| internal("an array that says nothing of itself"), Ok)
    }

    /// The layouts of what an operation gives; where no rule knows them, the trace is made again with known sizes.
    pub(crate) fn layouts_of(
        &mut self,
        domain: &Arc<dyn Domain>,
        mut operation: AnsweredOperation<'_, 'py>,
    ) -> Traced<Vec<SymbolicLayout>> {
        match operation.answer {
            Answer::NotImplemented | Answer::Backward { .. } => return Ok(Vec::new()),
            Answer::ModeChange(change) if !change.numbers.is_empty() => return Ok(Vec::new()),
            Answer::Guarded(..) | Answer::ModeChange(_) if !operation.has_numbers() => return Ok(Vec::new()),
            Answer::Constant(_) if domain.answers_for_all_sizes(operation.callee) => return Ok(Vec::new()),
            // A tensor that becomes another leaf to gradients is as large as before. A backend wants to know its size.
            Answer::Change { gives: Gives::Became(_), .. } if !self.state.backend => return Ok(Vec::new()),
            // Sizes that do not fit show when the graph runs.
            Answer::Change { args, .. } if self.are_open(args.iter()) => return Ok(Vec::new()),
            // Contents decide them.
            Answer::Node { example, .. } | Answer::Parts { example, .. } if domain.is_open(example) => {
                return Ok(Vec::new());
            }
            _ => {}
        }
        operation.graph = self.graph_of_sizes(&**domain, &operation)?;
        let numbers = &mut self.state.numbers;
        let inputs = numbers.inputs.iter().map(|(_, hint)| *hint).collect();
        let arithmetic = SizeArithmetic::new(std::mem::take(&mut numbers.expressions), inputs);
        // The operation itself has warned of what there is to warn of.
        let (layouts, _) = self.hearing_warnings(|| domain.layouts(&operation, &arithmetic));
        let is_hidden = operation.graph.is_some();
        if let Some(graph) = operation.graph.take() {
            self.state.numbers.graph = graph.kept.into_inner();
        }
        let relied;
        (self.state.numbers.expressions, relied) = arithmetic.finish();
        if let Some(layouts) = layouts
            && self.layouts_fit(domain, &layouts, operation.answer)
            && relied.into_iter().all(|relation| self.relies_on(relation, operation.callee))
        {
            return Ok(layouts);
        }
        if is_hidden {
            // Sizes may be decisive that no operand shows.
            self.state.numbers.fixing = Some(operation.callee.name());
            return self.fix_all_numbers();
        }
        self.fix_operands(operation.callee, operation.args, operation.kwargs)
    }

    /// The trace is made again with the operands of an operation known.
    pub(crate) fn fix_operands<T>(
        &mut self,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Traced<T> {
        let mut values = Vec::new();
        let operands = args.iter().chain(kwargs.iter().map(|(_, value)| value));
        operands.for_each(|operand| operand.values(&mut values));
        self.state.numbers.fixing = Some(callee.name());
        self.fix_sizes(values)
    }

    fn relies_on(&mut self, relation: Relation, callee: &Callee<'py>) -> bool {
        self.relation_truth_for(relation, "sizes decide what the operation gives", Some(callee)) == Some(true)
    }

    /// Whether layouts are, in this call, those of the examples.
    fn layouts_fit(&self, domain: &Arc<dyn Domain>, layouts: &[SymbolicLayout], answer: &Answer<'py>) -> bool {
        let hints = |sizes: &[ExpressionId]| sizes.iter().map(|size| self.state.numbers.integer_hint(*size)).collect();
        let fits = |layout: &SymbolicLayout, example: &Bound<'py, PyAny>| {
            let hints: [Option<Box<[i64]>>; 2] = [hints(&layout.sizes), hints(&layout.strides)];
            domain.layout_of(example).is_some_and(|known| hints == [Some(known.sizes), Some(known.strides)])
        };
        match answer {
            Answer::Node { example, .. } | Answer::Change { example, gives: Gives::Relaid(_), .. } => {
                layouts.len() == 1 && fits(&layouts[0], example)
            }
            Answer::Parts { example, .. } => {
                let parts: Vec<_> = example.try_iter().into_iter().flatten().flatten().collect();
                layouts.len() == parts.len() && layouts.iter().zip(&parts).all(|(layout, part)| fits(layout, part))
            }
            _ => layouts.is_empty(),
        }
    }

    /// The trace is made again with these numbers, and the sizes of these arrays, known.
    pub(crate) fn fix_sizes<T>(&mut self, values: Vec<ValueId>) -> Traced<T> {
        for value in &values {
            let layout = self.state.numbers.layouts.get(value).cloned();
            for size in layout.iter().flat_map(|layout| layout.sizes.iter().chain(&layout.strides)) {
                for symbol in self.state.numbers.expressions.inputs(*size) {
                    let key = self.state.numbers.inputs.get(symbol.0 as usize).map(|(source, _)| source.key());
                    self.state.numbers.to_fix.extend(key);
                }
            }
        }
        self.fix_numbers(values)
    }
}
